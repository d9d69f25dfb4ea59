/* machine_timer.c: the life of a timer. It fires once, never early, or it is cancelled. */
#include "model/machine.h"

static const hf_machine_row timer_rows[] = {
    {0, HF_TIMER_ON_SCHEDULE, HF_TIMER_STATUS_PENDING,
     "TimerScheduled and the row are committed together."},
    {0, HF_TIMER_ON_FIRE_INLINE, HF_TIMER_STATUS_FIRED,
     "There is nothing to wait for, so both events are in one unit."},
    {HF_TIMER_STATUS_PENDING, HF_TIMER_ON_FIRE, HF_TIMER_STATUS_FIRED,
     "Its time has come by the clock that counts."},
    {HF_TIMER_STATUS_PENDING, HF_TIMER_ON_CANCEL, HF_TIMER_STATUS_CANCELLED,
     "Nobody waits for it any more."},
};

const hf_machine hf_machine_timer = {"timer", &hf_timer_status_list, &hf_timer_on_list, timer_rows,
                                     sizeof(timer_rows) / sizeof(timer_rows[0])};

hf_status hf_timer_check(const hf_timer_facts *facts, hf_err *err)
{
    bool fired = facts->status == HF_TIMER_STATUS_FIRED;
    hf_timer_status known;
    const char *fault = NULL;

    if (!hf_timer_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (facts->fire_at_us <= 0)
        fault = "a timer has a time it is due";
    else if (fired != (facts->fired_at_us > 0))
        fault = "a timer has a time of firing if and only if it fired";
    else if (fired && facts->fired_at_us < facts->fire_at_us)
        fault = "a timer never fires early";
    else if ((facts->status == HF_TIMER_STATUS_CANCELLED) != (facts->cancelled_at_us > 0))
        fault = "a timer has a time of cancelling if and only if it was cancelled";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "timer in status \"%s\": %s",
                          hf_timer_status_text(facts->status), fault);
    return HF_OK;
}
