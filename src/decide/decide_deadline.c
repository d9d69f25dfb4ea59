/* decide_deadline.c: what happens to a run without its code having a say: its deadline passes, or
   it is put aside because its code kills the process. */
#include "decide/decide_impl.h"

void hf_decide_deadline(hf_decide *decide, hf_timeout_kind kind)
{
    const hf_decide_run *run = decide->run;
    hf_event_builder *events;

    hf_decide_cancel_open(decide);
    events = hf_decide_event(decide, HF_EVENT_WORKFLOW_TIMED_OUT, 0);
    hf_event_put_text(events, HF_KEY_TIMEOUT_KIND, hf_slice_of(hf_timeout_kind_text(kind)));
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_TIMEOUT)));
    hf_event_put_text(events, HF_KEY_MESSAGE,
                      kind == HF_TIMEOUT_KIND_EXECUTION_TIMEOUT
                          ? HF_SLICE("the execution deadline passed")
                          : HF_SLICE("the run deadline passed"));
    if (run->execution_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_EXECUTION_DEADLINE_AT, run->execution_deadline_us);
    if (run->run_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_RUN_DEADLINE_AT, run->run_deadline_us);
    hf_decide_closed(decide, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_TIMED_OUT);
}

void hf_decide_quarantine(hf_decide *decide, int64_t crashes)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_RUN_QUARANTINED, 0);

    hf_event_put_int(events, HF_KEY_CRASH_COUNT, crashes);
    hf_event_put_text(events, HF_KEY_REASON, HF_SLICE("crash_limit"));
    hf_event_put_text(events, HF_KEY_MESSAGE,
                      HF_SLICE("the process died each time it ran this run's code"));
    hf_decide_row(decide, hf_row_run_mark(hf_unit_mem(decide->unit), decide->run->base->run,
                                          HF_RUN_BLOCKED_QUARANTINE, crashes));
}
