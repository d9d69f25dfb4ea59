/* loss.c: a worker of another process that is held for lost. It may have shown itself at another
   node of the store: the rows of workers say so. */
#include "engine/call.h"
#include "holdfast/worker.h"

#define SLACK_US INT64_C(2000000) /* a heartbeat is recorded a little after it was heard */

hf_status hf_workers_lost(hf_engine *engine, const char *worker, int64_t silent_us,
                          int64_t *out_count)
{
    hf_db_cursor *cursor = NULL;
    hf_db_value name;
    int64_t heard_us = HF_NONE;
    bool row = false;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!worker || !*worker || silent_us < 0 || !out_count)
        return hf_err_set(&c.slot->err, HF_INVALID, "a worker has a name and was silent");
    *out_count = 0;
    name = hf_db_text(hf_slice_of(worker));
    hf_call_read_begin(&c);
    st = hf_db_query(c.in.db, HF_STMT_WORKER_HEARD, &name, 1, &cursor, &c.slot->err);
    if (!st)
        st = hf_db_step(cursor, &row, &c.slot->err);
    if (!st && row)
        heard_us = hf_column_or_none(cursor, 0);
    hf_db_end(cursor);
    hf_call_read_end(&c);
    if (st)
        return st;
    if (heard_us != HF_NONE && heard_us > hf_clock_wall_us(engine->clock) - silent_us + SLACK_US)
        return hf_err_set(&c.slot->err, HF_CONFLICT, "%s was heard at another node", worker);
    *out_count = hf_workers_release(engine, worker);
    return HF_OK;
}
