/* stream.c: see stream.h. Reads what is committed; that it was read is recorded by decide/. */
#include "engine/stream.h"

#include "base/value.h"
#include "engine/core_impl.h"

enum { AT_ONCE = 100, AT_ONCE_MAX = 1000 };

static hf_value message_make(hf_mem *mem, hf_db_cursor *cursor)
{
    hf_value_list *message = hf_value_object(mem);

    hf_value_set(message, HF_SLICE("position"), hf_value_int(mem, hf_db_column_int(cursor, 0)));
    hf_value_set(message, HF_SLICE("from"), hf_value_string(mem, hf_db_column_bytes(cursor, 1)));
    hf_value_set(message, HF_SLICE("payload_ref"),
                 hf_value_string(mem, hf_db_column_bytes(cursor, 2)));
    return hf_value_finish(message);
}

hf_status hf_stream_messages(hf_db *db, int64_t instance, hf_mem *mem, hf_slice stream,
                             int64_t after, size_t max, hf_value *out_messages, hf_err *err)
{
    size_t most = max == 0 ? AT_ONCE : max < AT_ONCE_MAX ? max : AT_ONCE_MAX;
    const hf_db_value params[] = {hf_db_int(instance), hf_db_text(stream), hf_db_int(after),
                                  hf_db_int((int64_t)most)};
    hf_value_list *messages = hf_value_array(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_MESSAGE_READ, params, 4, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            hf_value_append(messages, message_make(mem, cursor));
    }
    hf_db_end(cursor);
    if (st)
        return st;
    *out_messages = hf_value_finish(messages);
    return *out_messages ? HF_OK : hf_err_nomem(err, "messages");
}

hf_status hf_stream_read(void *ctx, hf_mem *mem, hf_slice stream, int64_t after, size_t max,
                         hf_value *out_messages, hf_err *err)
{
    live_run *run = ctx;
    bool inside = false;
    hf_status st;

    if (run->seat && !hf_seat_pause(run->seat, &inside))
        return hf_err_set(err, HF_STOPPED, "the code took too long and was given up");
    st = hf_stream_messages(run->core->db, run->base.instance, mem, stream, after, max,
                            out_messages, err);
    if (run->seat)
        hf_seat_resume(run->seat, inside);
    return st;
}
