/* command_stop.c: cancel and terminate: the run closes with everything that is open in it, in the
   same transaction. */
#include "engine/command_impl.h"
#include "engine/open_work.h"

/* What is open in the run, read into the unit's arena. */
static hf_status open_read(hf_handling *h, hf_decide_run *run, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(h->unit);
    int64_t key = h->target.base.run;
    hf_open_work *open = NULL;
    hf_open_child *children = NULL;
    hf_open_message *updates = NULL;
    hf_status st;

    hf_call_read_begin(h->call);
    st =
        hf_open_work_read(h->call->in.db, mem, key, &open, &run->open_count, &run->parent_run, err);
    if (!st)
        st = hf_open_children_read(h->call->in.db, mem, key, &children, &run->child_count, err);
    if (!st)
        st = hf_open_updates_read(h->call->in.db, mem, key, &updates, &run->message_count, err);
    hf_call_read_end(h->call);
    run->open = open;
    run->children = children;
    run->messages = updates;
    return st;
}

hf_status hf_command_stop(hf_handling *h, hf_err *err)
{
    bool terminate = h->request->type == HF_COMMAND_TYPE_TERMINATE;
    const hf_intake_target *target = &h->target;
    hf_decide_run run = {.base = &target->base, .queue = target->queue, .parent_run = HF_NONE};
    hf_decide decide = {.unit = h->unit,
                        .stager = h->call->in.stager,
                        .keys = h->call->in.keys,
                        .run = &run,
                        .now_us = h->call->in.now_us};
    hf_command_row row = hf_handling_row(h);
    hf_status st;

    if (hf_handling_inactive(h))
        return HF_OK;
    st = hf_keys_take(decide.keys, 1, &row.key, err);
    if (!st)
        st = open_read(h, &run, err);
    if (st)
        return st;
    row.outcome = terminate ? HF_CMD_OUTCOME_TERMINATED : HF_CMD_OUTCOME_CANCELLED;
    row.applied_us = row.closed_us = decide.now_us;
    hf_unit_append(h->unit, &target->base, HF_NONE, HF_REBASE_NEVER);
    hf_unit_row(h->unit, 0, hf_row_command_new(hf_unit_mem(h->unit), &row));
    hf_decide_stop(&decide, terminate, row.key, h->request->reason);
    if (decide.failure.status)
        return hf_err_set(err, decide.failure.status, "%s", decide.failure.text);
    h->effects = decide.effects;
    h->closes = true;
    hf_handling_accept(h, row.key, row.outcome);
    return HF_OK;
}
