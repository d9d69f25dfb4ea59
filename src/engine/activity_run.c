/* activity_run.c: whose an open activity is, found by its id alone. */
#include "base/id.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/worker.h"
#include "store/stmt.h"

static hf_value row_value(hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *out = hf_value_object(mem);
    hf_ulid id = hf_ulid_form(hf_db_column_int(row, 2), hf_db_column_int(row, 1), 0);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    hf_value_set(out, HF_SLICE("id"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(out, HF_SLICE("run_id"), hf_value_string(mem, hf_slice_of(text)));
    return hf_value_finish(out);
}

hf_status hf_activity_run(hf_engine *engine, const char *activity_id, hf_mem *mem, hf_value *out)
{
    hf_db_cursor *cursor = NULL;
    hf_db_value params[2];
    bool row = false;
    hf_ulid id;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!activity_id || !mem || !out)
        return hf_err_set(&c.slot->err, HF_INVALID, "an activity has an id");
    *out = NULL;
    if (!hf_ulid_parse(hf_slice_of(activity_id), &id))
        return hf_err_set(&c.slot->err, HF_NOTFOUND, "there is no activity %s", activity_id);
    params[0] = hf_db_int(hf_ulid_key(&id));
    params[1] = hf_db_int(c.in.namespace_key);
    hf_call_read_begin(&c);
    st = hf_db_query(c.in.db, HF_STMT_ACTIVITY_RUN, params, 2, &cursor, &c.slot->err);
    if (!st)
        st = hf_db_step(cursor, &row, &c.slot->err);
    if (!st && row)
        *out = row_value(mem, cursor);
    hf_db_end(cursor);
    hf_call_read_end(&c);
    if (!st && !row)
        st = hf_err_set(&c.slot->err, HF_NOTFOUND, "there is no open activity %s", activity_id);
    return st || *out ? st : hf_err_nomem(&c.slot->err, "an activity");
}
