/* machine_run.c: the life of a run. Open runs move between pending, running and waiting; a
   closed run stays what it is. Pausing and archiving are marks on a run, not states of it: their
   rows say when the marks may change. */
#include "model/machine.h"

static const hf_machine_row run_rows[] = {
    {0, HF_RUN_ON_START, HF_RUN_STATUS_PENDING,
     "The run, its first events and its first task are committed together."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_CLAIM, HF_RUN_STATUS_RUNNING,
     "A worker took its first task."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_CLAIM, HF_RUN_STATUS_RUNNING,
     "Something woke it and a worker took the task."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_CLAIM, HF_RUN_STATUS_RUNNING,
     "The worker before was lost, or an update shares the turn."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_PARK, HF_RUN_STATUS_WAITING,
     "The turn is recorded and a durable source will wake it."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_BLOCK, HF_RUN_STATUS_WAITING,
     "Code and history disagree; it stays open until repair or other code."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_LOSE, HF_RUN_STATUS_WAITING,
     "The worker is gone; nothing of its turn was recorded."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_COMPLETE, HF_RUN_STATUS_COMPLETED, "The workflow returned."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_FAIL, HF_RUN_STATUS_FAILED, "A failure left the workflow."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_CONTINUE, HF_RUN_STATUS_COMPLETED,
     "Its successor is committed with it."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_TIME_OUT, HF_RUN_STATUS_FAILED,
     "The deadline passed before it began."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_TIME_OUT, HF_RUN_STATUS_FAILED,
     "The deadline passed in a turn."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_TIME_OUT, HF_RUN_STATUS_FAILED,
     "The deadline passed while it was parked."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_CANCEL, HF_RUN_STATUS_CANCELLED,
     "Cancelled before it began."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_CANCEL, HF_RUN_STATUS_CANCELLED,
     "Cancelled in a turn, which is then worthless."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_CANCEL, HF_RUN_STATUS_CANCELLED,
     "Cancelled while it was parked."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_TERMINATE, HF_RUN_STATUS_TERMINATED,
     "Terminated before it began."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_TERMINATE, HF_RUN_STATUS_TERMINATED,
     "Terminated in a turn, which is then worthless."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_TERMINATE, HF_RUN_STATUS_TERMINATED,
     "Terminated while it was parked."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_PAUSE, HF_RUN_STATUS_PENDING, "Its first task is held back."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_PAUSE, HF_RUN_STATUS_RUNNING,
     "The turn under way ends; the next is held back."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_PAUSE, HF_RUN_STATUS_WAITING,
     "It may be woken, but no turn begins."},
    {HF_RUN_STATUS_PENDING, HF_RUN_ON_RESUME, HF_RUN_STATUS_PENDING,
     "Its first task is handed out."},
    {HF_RUN_STATUS_RUNNING, HF_RUN_ON_RESUME, HF_RUN_STATUS_RUNNING,
     "The turn under way goes on as any other."},
    {HF_RUN_STATUS_WAITING, HF_RUN_ON_RESUME, HF_RUN_STATUS_WAITING,
     "What woke it meanwhile is handed out."},
    {HF_RUN_STATUS_COMPLETED, HF_RUN_ON_ARCHIVE, HF_RUN_STATUS_COMPLETED,
     "Archiving marks a closed run."},
    {HF_RUN_STATUS_FAILED, HF_RUN_ON_ARCHIVE, HF_RUN_STATUS_FAILED,
     "Archiving marks a closed run."},
    {HF_RUN_STATUS_CANCELLED, HF_RUN_ON_ARCHIVE, HF_RUN_STATUS_CANCELLED,
     "Archiving marks a closed run."},
    {HF_RUN_STATUS_TERMINATED, HF_RUN_ON_ARCHIVE, HF_RUN_STATUS_TERMINATED,
     "Archiving marks a closed run."},
};

const hf_machine hf_machine_run = {"run", &hf_run_status_list, &hf_run_on_list, run_rows,
                                   sizeof(run_rows) / sizeof(run_rows[0])};

/* Which reasons a status can have closed for. */
static bool reason_fits(hf_run_status status, hf_closed_reason reason)
{
    switch (reason) {
    case HF_CLOSED_REASON_COMPLETED:
    case HF_CLOSED_REASON_CONTINUED:
        return status == HF_RUN_STATUS_COMPLETED;
    case HF_CLOSED_REASON_FAILED:
    case HF_CLOSED_REASON_TIMED_OUT:
        return status == HF_RUN_STATUS_FAILED;
    case HF_CLOSED_REASON_CANCELLED:
        return status == HF_RUN_STATUS_CANCELLED;
    case HF_CLOSED_REASON_TERMINATED:
        return status == HF_RUN_STATUS_TERMINATED;
    case HF_CLOSED_REASON_ABANDONED:
        break;
    }
    return false;
}

hf_status hf_run_check(const hf_run_facts *facts, hf_err *err)
{
    bool closed = hf_run_status_closed(facts->status);
    const char *fault = NULL;

    if (!hf_run_status_bucket(facts->status))
        fault = "a run has a status of its own";
    else if (facts->started_at_us <= 0)
        fault = "a run has a start";
    else if (closed != (facts->closed_at_us > 0))
        fault = "a run has a time of closing if and only if it is closed";
    else if (closed && facts->closed_at_us < facts->started_at_us)
        fault = "a run closes after its start";
    else if (closed ? !reason_fits(facts->status, facts->closed_reason) : facts->closed_reason != 0)
        fault = "a run has a closed reason that fits its status if and only if it is closed";
    else if (facts->archived_at_us > 0 && !closed)
        fault = "only a closed run is archived";
    else if (facts->paused && closed)
        fault = "only an open run is paused";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "run in status \"%s\": %s",
                          hf_run_status_text(facts->status), fault);
    return HF_OK;
}
