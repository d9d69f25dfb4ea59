/* loss.c: a worker of another process that is held for lost. It may have shown itself at another
   node of the store: the rows of workers say so when it sent a heartbeat, and the nodes when it
   asked, reported, or waits for a task there. */
#include <string.h>

#include "base/value.h"
#include "engine/call.h"
#include "engine/remote_impl.h"
#include "engine/report.h"
#include "holdfast/worker.h"
#include "task/matching.h"

#define SLACK_US INT64_C(2000000) /* a heartbeat is recorded a little after it was heard */

hf_status hf_workers_lost(hf_engine *engine, const char *worker, int64_t silent_us,
                          int64_t *out_count)
{
    hf_db_cursor *cursor = NULL;
    hf_db_value name;
    int64_t heard_us = HF_NONE;
    bool row = false;
    bool heard;
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
    heard =
        heard_us != HF_NONE && heard_us > hf_clock_wall_us(engine->clock) - silent_us + SLACK_US;
    if (!heard)
        st = hf_report_heard(&c, hf_slice_of(worker), silent_us, &heard);
    if (st)
        return st;
    if (heard)
        return hf_err_set(&c.slot->err, HF_CONFLICT, "%s was heard at another node", worker);
    *out_count = hf_workers_release(engine, worker);
    return HF_OK;
}

void hf_workers_watch(hf_engine *engine, hf_workers_heard_fn *heard, void *ctx)
{
    hf_mutex_lock(&engine->local_lock);
    engine->heard = heard;
    engine->heard_ctx = ctx;
    hf_mutex_unlock(&engine->local_lock);
}

bool hf_engine_hears(hf_engine *engine, const char *space, const char *worker, int64_t within_us)
{
    bool heard;

    hf_mutex_lock(&engine->local_lock);
    heard = engine->local && strcmp(engine->local->worker, worker) == 0;
    heard = heard || (engine->heard && engine->heard(engine->heard_ctx, space, worker, within_us));
    hf_mutex_unlock(&engine->local_lock);
    return heard;
}

hf_status hf_workers_holding(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_value_list *list = hf_value_array(mem);
    hf_value holders;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    holders = engine->matching ? hf_matching_holders(engine->matching, mem) : hf_json_(mem, "[]");
    for (size_t i = 0; i < hf_len(holders); i++) {
        hf_value one = hf_at(holders, i);
        const char *space = hf_engine_space_name(engine, hf_int(one, "namespace", 0));

        if (space) /* else nobody has asked for one of its tasks here */
            hf_value_append(list, hf_json_(mem, "{'namespace': %s, 'worker_id': %p}", space,
                                           (const void *)hf_get(one, "worker")));
    }
    *out = holders ? hf_value_finish(list) : NULL;
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "workers");
}
