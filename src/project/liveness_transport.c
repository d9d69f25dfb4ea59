/* liveness_transport.c: see liveness.h. A task's state as operators see it, and when one that was
   repaired may be tried again. */
#include <string.h>

#include "model/limit.h"
#include "model/retry.h"
#include "project/liveness.h"

int64_t hf_liveness_backoff_us(int64_t count, int64_t now_us)
{
    int64_t wait_s = hf_retry_repair_backoff_s(
        hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard, count - 1,
        hf_limit_get(HF_LIMIT_REPAIR_BACKOFF_MAX_SECONDS)->standard);

    return now_us + wait_s * 1000000;
}

static bool body_says_blocked(const hf_dossier_task *task)
{
    static const char word[] = "\"replay_blocked\":true";
    size_t len = sizeof(word) - 1;

    for (size_t i = 0; task->body.ptr && i + len <= task->body.len; i++)
        if (memcmp(task->body.ptr + i, word, len) == 0)
            return true;
    return false;
}

static hf_transport_state ready_state(const hf_dossier_task *task, int64_t now_us)
{
    bool later = task->repair_us != HF_NONE && task->repair_us > now_us;
    int64_t due_us = task->trouble == HF_TASK_TROUBLE_WORKER && task->repair_us > task->available_us
                         ? task->repair_us
                         : task->available_us;

    if (task->trouble != HF_TASK_TROUBLE_NONE && later)
        return HF_TRANSPORT_STATE_REPAIR_BACKOFF;
    if (task->trouble == HF_TASK_TROUBLE_DISPATCH)
        return HF_TRANSPORT_STATE_DISPATCH_FAILED;
    if (task->available_us > now_us)
        return HF_TRANSPORT_STATE_SCHEDULED;
    if (task->trouble == HF_TASK_TROUBLE_CLAIM)
        return HF_TRANSPORT_STATE_CLAIM_FAILED;
    if (due_us + hf_limit_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS) <= now_us)
        return HF_TRANSPORT_STATE_DISPATCH_OVERDUE;
    return HF_TRANSPORT_STATE_READY;
}

hf_transport_state hf_liveness_transport(const hf_dossier_task *task, int64_t now_us)
{
    switch ((hf_task_status)task->status) {
    case HF_TASK_STATUS_READY:
        return ready_state(task, now_us);
    case HF_TASK_STATUS_LEASED:
        return task->lease_until_us != HF_NONE && task->lease_until_us <= now_us
                   ? HF_TRANSPORT_STATE_LEASE_EXPIRED
                   : HF_TRANSPORT_STATE_LEASED;
    case HF_TASK_STATUS_CANCELLED:
        return HF_TRANSPORT_STATE_CANCELLED;
    case HF_TASK_STATUS_COMPLETED:
        return HF_TRANSPORT_STATE_COMPLETED;
    case HF_TASK_STATUS_FAILED:
        return body_says_blocked(task) ? HF_TRANSPORT_STATE_REPLAY_BLOCKED
                                       : HF_TRANSPORT_STATE_FAILED;
    }
    return HF_TRANSPORT_STATE_FAILED;
}
