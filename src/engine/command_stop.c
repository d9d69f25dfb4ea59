/* command_stop.c: cancel, terminate, pause, resume and archive. A cancel closes the run with
   everything that is open in it, in the same transaction, or asks its code to clean up and end. */
#include "engine/command_impl.h"
#include "engine/open_work.h"

/* What people did to the run. */
typedef struct run_marks {
    bool paused;
    bool archived;
} run_marks;

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

static hf_status marks_read(hf_handling *h, run_marks *out_marks, hf_err *err)
{
    const hf_db_value run = hf_db_int(h->target.base.run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st;

    hf_call_read_begin(h->call);
    st = hf_db_query(h->call->in.db, HF_STMT_RUN_MARKS, &run, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found)
        *out_marks = (run_marks){.paused = !hf_db_column_null(cursor, 0),
                                 .archived = !hf_db_column_null(cursor, 1)};
    hf_db_end(cursor);
    hf_call_read_end(h->call);
    return !st && !found ? hf_err_set(err, HF_CONFLICT, "the run is gone") : st;
}

static hf_decide decide_begin(hf_handling *h, const hf_decide_run *run)
{
    return (hf_decide){.unit = h->unit,
                       .stager = h->call->in.stager,
                       .keys = h->call->in.keys,
                       .run = run,
                       .now_us = h->call->in.now_us};
}

/* The command's row, and the unit begun. */
static hf_status row_add(hf_handling *h, hf_cmd_outcome outcome, hf_rebase rebase,
                         int64_t *out_command, hf_err *err)
{
    hf_command_row row = hf_handling_row(h);
    hf_status st = hf_keys_take(h->call->in.keys, 1, &row.key, err);

    if (st)
        return st;
    row.outcome = outcome;
    row.applied_us = row.closed_us = h->call->in.now_us;
    hf_unit_append(h->unit, &h->target.base, HF_NONE, rebase);
    hf_unit_row(h->unit, 0, hf_row_command_new(hf_unit_mem(h->unit), &row));
    hf_handling_accept(h, row.key, outcome);
    *out_command = row.key;
    return HF_OK;
}

static hf_status decide_end(hf_handling *h, const hf_decide *decide, hf_err *err)
{
    h->effects = decide->effects;
    return decide->failure.status
               ? hf_err_set(err, decide->failure.status, "%s", decide->failure.text)
               : HF_OK;
}

static hf_status cancel_ask(hf_handling *h, hf_err *err)
{
    const hf_decide_run run = {.base = &h->target.base, .parent_run = HF_NONE};
    hf_decide decide = decide_begin(h, &run);
    int64_t command = 0;
    hf_status st = row_add(h, HF_CMD_OUTCOME_CANCEL_REQUESTED, HF_REBASE_WHILE_OPEN, &command, err);

    if (st)
        return st;
    hf_decide_cancel_ask(&decide, command, h->request->reason);
    return decide_end(h, &decide, err);
}

hf_status hf_command_stop(hf_handling *h, hf_err *err)
{
    bool terminate = h->request->type == HF_COMMAND_TYPE_TERMINATE;
    const hf_cancel_more *more = terminate ? NULL : h->request->more;
    hf_decide_run run = {.base = &h->target.base, .queue = h->target.queue, .parent_run = HF_NONE};
    hf_decide decide = decide_begin(h, &run);
    int64_t command = 0;
    hf_status st;

    if (hf_handling_inactive(h))
        return HF_OK;
    if (more && more->cleanup)
        return cancel_ask(h, err);
    st = open_read(h, &run, err);
    if (!st)
        st = row_add(h, terminate ? HF_CMD_OUTCOME_TERMINATED : HF_CMD_OUTCOME_CANCELLED,
                     HF_REBASE_NEVER, &command, err);
    if (st)
        return st;
    hf_decide_stop(&decide, terminate, command, h->request->reason);
    h->closes = true;
    return decide_end(h, &decide, err);
}

hf_status hf_command_pause(hf_handling *h, hf_err *err)
{
    bool resume = h->request->type == HF_COMMAND_TYPE_RESUME;
    const hf_decide_run run = {.base = &h->target.base, .parent_run = HF_NONE};
    hf_decide decide = decide_begin(h, &run);
    run_marks marks = {0};
    int64_t command = 0;
    hf_status st;

    if (hf_handling_inactive(h))
        return HF_OK;
    st = marks_read(h, &marks, err);
    if (st)
        return st;
    if (marks.paused != resume)
        return hf_handling_record(h, resume ? HF_CMD_OUTCOME_RESUME_NOT_NEEDED
                                            : HF_CMD_OUTCOME_PAUSE_NOT_NEEDED);
    st = row_add(h, resume ? HF_CMD_OUTCOME_RESUMED : HF_CMD_OUTCOME_PAUSED, HF_REBASE_NEVER,
                 &command, err);
    if (st)
        return st;
    if (resume)
        hf_decide_resume(&decide, command, h->request->reason);
    else
        hf_decide_pause(&decide, command, h->request->reason);
    return decide_end(h, &decide, err);
}

hf_status hf_command_archive(hf_handling *h, hf_err *err)
{
    const hf_decide_run run = {.base = &h->target.base, .parent_run = HF_NONE};
    hf_decide decide = decide_begin(h, &run);
    run_marks marks = {0};
    int64_t command = 0;
    hf_status st;

    if (h->target.base.run == HF_NONE)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_STARTED,
                                  HF_REJECTION_INSTANCE_NOT_STARTED,
                                  "the instance was never started");
    if (h->target.base.closed_us == HF_NONE)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_RUN_NOT_CLOSED,
                                  HF_REJECTION_RUN_NOT_CLOSED, "the run is open");
    st = marks_read(h, &marks, err);
    if (st)
        return st;
    if (marks.archived)
        return hf_handling_record(h, HF_CMD_OUTCOME_ARCHIVE_NOT_NEEDED);
    st = row_add(h, HF_CMD_OUTCOME_ARCHIVED, HF_REBASE_NEVER, &command, err);
    if (st)
        return st;
    hf_decide_archive(&decide, command, h->request->reason);
    return decide_end(h, &decide, err);
}
