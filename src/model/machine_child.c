/* machine_child.c: the life of a parent's call of a child. It is resolved once, however many
   runs the child has. */
#include "model/machine.h"

static const hf_machine_row child_rows[] = {
    {0, HF_CHILD_ON_SCHEDULE, HF_CHILD_CALL_STATUS_SCHEDULED,
     "ChildWorkflowScheduled is committed with the intent to start it."},
    {HF_CHILD_CALL_STATUS_SCHEDULED, HF_CHILD_ON_START, HF_CHILD_CALL_STATUS_STARTED,
     "The child's first run is linked."},
    {HF_CHILD_CALL_STATUS_SCHEDULED, HF_CHILD_ON_START_FAIL, HF_CHILD_CALL_STATUS_FAILED,
     "No run came to be, so nothing else will resolve it."},
    {HF_CHILD_CALL_STATUS_SCHEDULED, HF_CHILD_ON_ABANDON, HF_CHILD_CALL_STATUS_ABANDONED,
     "The parent closed before the child had a run."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_CONTINUE, HF_CHILD_CALL_STATUS_STARTED,
     "The call follows the child to its next run."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_RETRY, HF_CHILD_CALL_STATUS_STARTED,
     "The parent is not woken by a failure that is retried."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_COMPLETE, HF_CHILD_CALL_STATUS_COMPLETED,
     "The parent's event is written before the parent is woken."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_FAIL, HF_CHILD_CALL_STATUS_FAILED,
     "The parent's event is written before the parent is woken."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_CANCEL, HF_CHILD_CALL_STATUS_CANCELLED,
     "The parent's event is written before the parent is woken."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_TERMINATE, HF_CHILD_CALL_STATUS_TERMINATED,
     "The parent's event is written before the parent is woken."},
    {HF_CHILD_CALL_STATUS_STARTED, HF_CHILD_ON_ABANDON, HF_CHILD_CALL_STATUS_ABANDONED,
     "The parent closed first and nobody waits for the child."},
};

const hf_machine hf_machine_child = {"child call", &hf_child_call_status_list, &hf_child_on_list,
                                     child_rows, sizeof(child_rows) / sizeof(child_rows[0])};

hf_status hf_child_check(const hf_child_facts *facts, hf_err *err)
{
    bool open = facts->status == HF_CHILD_CALL_STATUS_SCHEDULED ||
                facts->status == HF_CHILD_CALL_STATUS_STARTED;
    bool needs_run = facts->status == HF_CHILD_CALL_STATUS_STARTED ||
                     facts->status == HF_CHILD_CALL_STATUS_COMPLETED ||
                     facts->status == HF_CHILD_CALL_STATUS_CANCELLED ||
                     facts->status == HF_CHILD_CALL_STATUS_TERMINATED;
    hf_child_call_status known;
    const char *fault = NULL;

    if (!hf_child_call_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (needs_run && !facts->has_run)
        fault = "a child call past its start has a run";
    else if (facts->status == HF_CHILD_CALL_STATUS_SCHEDULED && facts->has_run)
        fault = "a child call that is only scheduled has no run";
    else if (open == (facts->closed_at_us > 0))
        fault = "a child call has a time of closing if and only if it is over";
    else if (open == (facts->closed_reason != 0))
        fault = "a child call has a closed reason if and only if it is over";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "child call in status \"%s\": %s",
                          hf_child_call_status_text(facts->status), fault);
    return HF_OK;
}
