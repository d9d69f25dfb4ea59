/* decide_stop.c: what people do to a run from outside: cancel, terminate, pause, resume, archive.
   The rule: each is a fact in the run's history that names the command which asked for it;
   `command` is the key of that command's row, which the caller adds. */
#include "decide/decide_impl.h"

/* The event that accepts a command, with what all of them carry. */
static hf_event_builder *order_event(hf_decide *decide, hf_event_type type, int64_t command,
                                     hf_slice reason)
{
    hf_event_builder *events = hf_decide_event(decide, type, 0);

    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, hf_ulid_form(decide->now_us, command, 0));
    if (reason.len)
        hf_event_put_text(events, HF_KEY_REASON, reason);
    return events;
}

void hf_decide_stop(hf_decide *decide, bool terminate, int64_t command, hf_slice reason)
{
    hf_failure_category category =
        terminate ? HF_FAILURE_CATEGORY_TERMINATED : HF_FAILURE_CATEGORY_CANCELLED;
    hf_event_builder *events;

    (void)order_event(decide, terminate ? HF_EVENT_TERMINATE_REQUESTED : HF_EVENT_CANCEL_REQUESTED,
                      command, reason);
    hf_decide_cancel_open(decide);
    events =
        order_event(decide, terminate ? HF_EVENT_WORKFLOW_TERMINATED : HF_EVENT_WORKFLOW_CANCELLED,
                    command, reason);
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(category)));
    hf_decide_closed(decide, terminate ? HF_RUN_STATUS_TERMINATED : HF_RUN_STATUS_CANCELLED,
                     terminate ? HF_CLOSED_REASON_TERMINATED : HF_CLOSED_REASON_CANCELLED);
}

void hf_decide_cancel_ask(hf_decide *decide, int64_t command, hf_slice reason)
{
    (void)order_event(decide, HF_EVENT_CANCEL_REQUESTED, command, reason);
    hf_decide_wake(decide);
}

void hf_decide_pause(hf_decide *decide, int64_t command, hf_slice reason)
{
    (void)order_event(decide, HF_EVENT_RUN_PAUSED, command, reason);
    hf_decide_row(decide, hf_row_run_pause(hf_unit_mem(decide->unit), decide->run->base->run,
                                           decide->now_us));
}

void hf_decide_resume(hf_decide *decide, int64_t command, hf_slice reason)
{
    (void)order_event(decide, HF_EVENT_RUN_RESUMED, command, reason);
    hf_decide_row(decide,
                  hf_row_run_pause(hf_unit_mem(decide->unit), decide->run->base->run, HF_NONE));
    hf_decide_wake(decide);
}

void hf_decide_replace(hf_decide *decide, int64_t command, hf_slice reason, int64_t next_run)
{
    int64_t run = decide->run->base->run;
    hf_event_builder *events;

    hf_decide_cancel_open(decide);
    events = order_event(decide, HF_EVENT_WORKFLOW_TERMINATED, command, reason);
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_TERMINATED)));
    hf_decide_row(decide, hf_row_inbox_move(hf_unit_mem(decide->unit), run, next_run));
    decide->retries = true; /* the parent goes on waiting */
    hf_decide_closed(decide, HF_RUN_STATUS_TERMINATED, HF_CLOSED_REASON_TERMINATED);
    if (decide->run->parent_run != HF_NONE)
        hf_decide_relink(decide, next_run, decide->run->call.attempt, 0);
    (void)hf_decide_effect(decide, HF_EFFECT_RUN, run); /* its attempts are told to stop */
}

void hf_decide_archive(hf_decide *decide, int64_t command, hf_slice reason)
{
    hf_event_builder *events = order_event(decide, HF_EVENT_ARCHIVE_REQUESTED, command, reason);

    hf_event_put_text(events, HF_KEY_OUTCOME,
                      hf_slice_of(hf_cmd_outcome_text(HF_CMD_OUTCOME_ARCHIVED)));
    events = order_event(decide, HF_EVENT_WORKFLOW_ARCHIVED, command, reason);
    hf_event_put_id(events, HF_KEY_ARCHIVE_COMMAND_ID, hf_ulid_form(decide->now_us, command, 0));
    hf_decide_row(decide, hf_row_run_archive(hf_unit_mem(decide->unit), decide->run->base->run,
                                             decide->now_us));
}
