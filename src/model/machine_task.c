/* machine_task.c: the life of a task. A task is held by one claim at a time. Only repair brings one
   back: the failed task of a run whose replay was blocked. */
#include "model/machine.h"

static const hf_machine_row task_rows[] = {
    {0, HF_TASK_ON_CREATE, HF_TASK_STATUS_READY,
     "It is committed with the events that call for it."},
    {HF_TASK_STATUS_READY, HF_TASK_ON_CLAIM, HF_TASK_STATUS_LEASED,
     "One worker holds it; the claim is counted and fences all earlier ones."},
    {HF_TASK_STATUS_READY, HF_TASK_ON_REDISPATCH, HF_TASK_STATUS_READY,
     "Handing it out is only a hint and can be repeated."},
    {HF_TASK_STATUS_READY, HF_TASK_ON_CANCEL, HF_TASK_STATUS_CANCELLED,
     "Nobody began it and nobody will."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_RENEW, HF_TASK_STATUS_LEASED,
     "The lease is moved on, never back."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_RELEASE, HF_TASK_STATUS_READY,
     "The worker stops and never began it."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_EXPIRE, HF_TASK_STATUS_READY,
     "The worker is taken for lost; its late report is refused."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_COMPLETE, HF_TASK_STATUS_COMPLETED,
     "What it led to is committed with it."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_FAIL, HF_TASK_STATUS_FAILED,
     "It was given up; what follows is other work."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_BLOCK, HF_TASK_STATUS_FAILED,
     "Kept as it is, so that repair can dispatch it again."},
    {HF_TASK_STATUS_LEASED, HF_TASK_ON_CANCEL, HF_TASK_STATUS_CANCELLED,
     "The worker learns of it at its next call."},
    {HF_TASK_STATUS_FAILED, HF_TASK_ON_REPAIR, HF_TASK_STATUS_READY,
     "The code may fit now; the claim count goes on."},
};

const hf_machine hf_machine_task = {"task", &hf_task_status_list, &hf_task_on_list, task_rows,
                                    sizeof(task_rows) / sizeof(task_rows[0])};

hf_status hf_task_check(const hf_task_facts *facts, hf_err *err)
{
    bool leased = facts->status == HF_TASK_STATUS_LEASED;
    hf_task_status known;
    const char *fault = NULL;

    if (!hf_task_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (leased != facts->has_owner)
        fault = "a task has an owner if and only if it is leased";
    else if (leased != (facts->lease_expires_us > 0))
        fault = "a task has an end of lease if and only if it is leased";
    else if (facts->claims < (leased || facts->status == HF_TASK_STATUS_COMPLETED ? 1 : 0))
        fault = "a task that is or was held was claimed";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "task in status \"%s\": %s",
                          hf_task_status_text(facts->status), fault);
    return HF_OK;
}
