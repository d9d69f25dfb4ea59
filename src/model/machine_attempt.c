/* machine_attempt.c: the life of one attempt of an activity. It ends once; whatever comes later
   is refused. */
#include "model/machine.h"

static const hf_machine_row attempt_rows[] = {
    {0, HF_ATTEMPT_ON_START, HF_ATTEMPT_STATUS_RUNNING,
     "A claim began it, numbered one higher than the last."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_HEARTBEAT, HF_ATTEMPT_STATUS_RUNNING,
     "The lease is moved on, never back."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_COMPLETE, HF_ATTEMPT_STATUS_COMPLETED,
     "Its result is the activity's."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_FAIL, HF_ATTEMPT_STATUS_FAILED,
     "Its failure is recorded, with or without a retry."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_TIME_OUT, HF_ATTEMPT_STATUS_FAILED,
     "It took too long or was silent too long."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_CANCEL, HF_ATTEMPT_STATUS_CANCELLED,
     "Its activity was withdrawn."},
    {HF_ATTEMPT_STATUS_RUNNING, HF_ATTEMPT_ON_EXPIRE, HF_ATTEMPT_STATUS_EXPIRED,
     "Its worker was lost; a later report is refused as stale."},
};

const hf_machine hf_machine_attempt = {"attempt", &hf_attempt_status_list, &hf_attempt_on_list,
                                       attempt_rows,
                                       sizeof(attempt_rows) / sizeof(attempt_rows[0])};

hf_status hf_attempt_check(const hf_attempt_facts *facts, hf_err *err)
{
    bool running = facts->status == HF_ATTEMPT_STATUS_RUNNING;
    hf_attempt_status known;
    const char *fault = NULL;

    if (!hf_attempt_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (facts->number < 1)
        fault = "attempts are numbered from 1";
    else if (facts->started_at_us <= 0)
        fault = "an attempt has a start";
    else if (running && (!facts->has_owner || facts->lease_expires_us <= 0))
        fault = "a running attempt has an owner and an end of lease";
    else if (running == (facts->closed_at_us > 0))
        fault = "an attempt has a time of closing if and only if it is over";
    else if (!running && facts->closed_at_us < facts->started_at_us)
        fault = "an attempt ends after its start";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "attempt in status \"%s\": %s",
                          hf_attempt_status_text(facts->status), fault);
    return HF_OK;
}
