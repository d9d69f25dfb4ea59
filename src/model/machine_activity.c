/* machine_activity.c: the life of an activity. It is resolved once; attempts may be many. */
#include "model/machine.h"

static const hf_machine_row activity_rows[] = {
    {0, HF_ACTIVITY_ON_SCHEDULE, HF_ACTIVITY_STATUS_PENDING,
     "ActivityScheduled and its task are committed together."},
    {HF_ACTIVITY_STATUS_PENDING, HF_ACTIVITY_ON_START, HF_ACTIVITY_STATUS_RUNNING,
     "An attempt with its own number and claim began."},
    {HF_ACTIVITY_STATUS_PENDING, HF_ACTIVITY_ON_RETRY, HF_ACTIVITY_STATUS_PENDING,
     "It was not started in time and may wait again."},
    {HF_ACTIVITY_STATUS_PENDING, HF_ACTIVITY_ON_TIME_OUT, HF_ACTIVITY_STATUS_FAILED,
     "It was not started in time, or its whole time is over."},
    {HF_ACTIVITY_STATUS_PENDING, HF_ACTIVITY_ON_CANCEL, HF_ACTIVITY_STATUS_CANCELLED,
     "No attempt was under way."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_HEARTBEAT, HF_ACTIVITY_STATUS_RUNNING,
     "The heartbeat deadline moves on."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_RETRY, HF_ACTIVITY_STATUS_PENDING,
     "The attempt ended badly and the policy allows another."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_LOSE, HF_ACTIVITY_STATUS_PENDING,
     "The attempt expired with its worker; it does not count as one that failed."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_COMPLETE, HF_ACTIVITY_STATUS_COMPLETED,
     "The current attempt reported a result."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_FAIL, HF_ACTIVITY_STATUS_FAILED,
     "The current attempt failed and no other is allowed."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_TIME_OUT, HF_ACTIVITY_STATUS_FAILED,
     "A deadline passed and no other attempt is allowed."},
    {HF_ACTIVITY_STATUS_RUNNING, HF_ACTIVITY_ON_CANCEL, HF_ACTIVITY_STATUS_CANCELLED,
     "The attempt learns of it at its next heartbeat."},
};

const hf_machine hf_machine_activity = {"activity", &hf_activity_status_list, &hf_activity_on_list,
                                        activity_rows,
                                        sizeof(activity_rows) / sizeof(activity_rows[0])};

hf_status hf_activity_check(const hf_activity_facts *facts, hf_err *err)
{
    bool running = facts->status == HF_ACTIVITY_STATUS_RUNNING;
    bool open = running || facts->status == HF_ACTIVITY_STATUS_PENDING;
    hf_activity_status known;
    const char *fault = NULL;

    if (!hf_activity_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (running != facts->attempt_running)
        fault = "an attempt is running if and only if the activity is";
    else if (facts->attempts < (running || facts->has_result ? 1 : 0))
        fault = "an activity that runs or has a result had an attempt";
    else if (facts->has_result != (facts->status == HF_ACTIVITY_STATUS_COMPLETED))
        fault = "an activity has a result if and only if it is completed";
    else if (facts->has_failure != (facts->status == HF_ACTIVITY_STATUS_FAILED))
        fault = "an activity has a failure if and only if it is failed";
    else if (open == (facts->closed_at_us > 0))
        fault = "an activity has a time of closing if and only if it is closed";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "activity in status \"%s\": %s",
                          hf_activity_status_text(facts->status), fault);
    return HF_OK;
}
