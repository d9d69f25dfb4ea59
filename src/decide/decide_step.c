/* decide_step.c: the end of a machine's step: one StepCompleted with outcome and new state, the
   timer of a park, and the signals that were used up. What follows from the outcome (children, the
   end of the run) are decisions of their own behind it. */
#include "decide/decide_impl.h"

hf_status hf_decide_step(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_decision_step *step = &row->machine;
    const hf_decision_row timer = {.step = row->step};
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_STEP_COMPLETED, row->step);
    hf_status st = HF_OK;

    hf_event_put_text(events, HF_KEY_STEP_NAME, row->name);
    hf_event_put_text(events, HF_KEY_OUTCOME, hf_slice_of(hf_step_outcome_text(step->outcome)));
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, step->attempt);
    if (step->next.ptr)
        hf_event_put_text(events, HF_KEY_NEXT_STEP, step->next);
    if (step->outcome == HF_STEP_OUTCOME_AGAIN)
        hf_event_put_time(events, HF_KEY_RETRY_AVAILABLE_AT, decide->now_us + step->delay_us);
    if (step->awaited.ptr)
        hf_event_put_json(events, HF_KEY_AWAITED_NAMES, step->awaited);
    if (step->timeout_us != HF_DECISION_NO_TIMEOUT)
        hf_event_put_int(events, HF_KEY_TIMEOUT_SECONDS, (step->timeout_us + 999999) / 1000000);
    if (step->consumed.ptr)
        hf_event_put_json(events, HF_KEY_CONSUMED_SIGNALS, step->consumed);
    if (step->presented.ptr)
        hf_event_put_json(events, HF_KEY_PRESENTED_SIGNALS, step->presented);
    hf_decide_words(decide, step->failure_type, step->message);
    if (step->concurrency_key.ptr)
        hf_event_put_text(events, HF_KEY_CONCURRENCY_KEY, step->concurrency_key);
    if (step->rate_limit.ptr) {
        hf_event_put_text(events, HF_KEY_RATE_LIMIT, step->rate_limit);
        hf_event_put_int(events, HF_KEY_WEIGHT, step->weight);
    }
    hf_decide_payload(decide, HF_KEY_STATE, &row->value);
    if (step->outcome == HF_STEP_OUTCOME_DONE || step->outcome == HF_STEP_OUTCOME_STOP)
        decide->last_step = step;
    for (size_t i = 0; !st && i < step->seq_count; i++)
        st = hf_decide_use_up(decide, step->seqs[i], err);
    if (!st && step->timeout_us != HF_DECISION_NO_TIMEOUT)
        st = hf_decide_timer_start(decide, &timer, step->timeout_us, HF_TIMER_KIND_SIGNAL_TIMEOUT,
                                   err);
    return st;
}
