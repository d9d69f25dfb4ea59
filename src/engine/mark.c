/* mark.c: what people decide about groups that come and go by themselves: an attention that is
   snoozed, a failure that is resolved. It stands where preferences do, under a name that no
   credential has: it is the team's. */
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "project/edge.h"
#include "store/stmt.h"

enum { MARKS_MAX = 10000, KEY_BYTES_MAX = 64, BODY_BYTES_MAX = 4096 };

/* Whose they are: a credential's id has no spaces. NULL: no memory. */
static const char *owner_of(const hf_call *c, const char *kind)
{
    return hf_mem_format(c->slot->scratch, "marks %s %lld", kind, (long long)c->in.namespace_key);
}

static hf_status key_check(const char *key, hf_err *err)
{
    hf_slice text = hf_slice_of(key);
    bool good = text.len >= 1 && text.len <= KEY_BYTES_MAX;

    for (size_t i = 0; good && i < text.len; i++)
        good = (text.ptr[i] >= '0' && text.ptr[i] <= '9') ||
               (text.ptr[i] >= 'a' && text.ptr[i] <= 'f');
    return good ? HF_OK : hf_err_set(err, HF_NOTFOUND, "there is no such group");
}

hf_status hf_mark_put(hf_engine *engine, const char *kind, const char *key, hf_value value)
{
    hf_buf body = {0};
    bool applied = false;
    const char *owner;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = key_check(key, &c.slot->err);
    if (st)
        return st;
    hf_mem_reset(c.slot->scratch);
    owner = owner_of(&c, kind);
    hf_json_write(&body, value);
    if (!owner || !hf_buf_ok(&body))
        st = hf_err_nomem(&c.slot->err, "a mark");
    else if (body.len > BODY_BYTES_MAX)
        st = hf_err_set(&c.slot->err, HF_TOOBIG, "a mark has at most %d bytes", BODY_BYTES_MAX);
    else if (!value || hf_value_kind_of(value) == HF_VALUE_NULL) {
        const hf_db_value cells[] = {hf_db_text(hf_slice_of(owner)), hf_db_text(hf_slice_of(key))};

        st = hf_call_row(&c, HF_OP_PREFERENCE_DROP, cells, 2, &applied, &c.slot->err);
    } else {
        const hf_db_value cells[] = {hf_db_text(hf_slice_of(owner)), hf_db_text(hf_slice_of(key)),
                                     hf_db_text(hf_buf_slice(&body)), hf_db_int(c.in.now_us),
                                     hf_db_int(MARKS_MAX)};

        st = hf_call_row(&c, HF_OP_PREFERENCE_PUT, cells, 5, &applied, &c.slot->err);
        if (!st && !applied)
            st = hf_err_set(&c.slot->err, HF_EXISTS, "there are %d marks already", MARKS_MAX);
    }
    hf_buf_fini(&body);
    return st;
}

/* hf_call_make */
static hf_value mark_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value value = NULL;
    hf_err err;

    (void)ctx;
    if (hf_edge_json(mem, hf_db_column_bytes(row, 1), &value, &err))
        value = hf_value_null();
    return hf_json_(mem, "{'key': %p, 'value': %p, 'at': %p}",
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 0)),
                    (const void *)value, (const void *)hf_edge_time(mem, hf_db_column_int(row, 2)));
}

hf_status hf_marks(hf_engine *engine, const char *kind, hf_mem *mem, hf_value *out)
{
    hf_db_value params[2];
    const char *owner;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    hf_mem_reset(c.slot->scratch);
    owner = owner_of(&c, kind);
    if (!owner)
        return hf_err_nomem(&c.slot->err, "marks");
    params[0] = hf_db_text(hf_slice_of(owner));
    params[1] = hf_db_int(MARKS_MAX);
    return hf_call_rows(&c, HF_STMT_PREFERENCE_LIST, params, 2, mem, mark_value, NULL, out);
}
