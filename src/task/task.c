/* task.c: see task.h. */
#include "task/task.h"

#include <stddef.h>

static const struct {
    hf_task_state from;
    hf_task_move on;
    hf_task_state to;
    const char *why;
} table[] = {
    {HF_TASK_UNKNOWN, HF_TASK_OFFER, HF_TASK_OFFERED, "the run wants a worker"},
    {HF_TASK_UNKNOWN, HF_TASK_RESUME, HF_TASK_CLAIMED, "a worker had it when the engine began"},
    {HF_TASK_OFFERED, HF_TASK_CLAIM, HF_TASK_CLAIMED, "a poll asked for it"},
    {HF_TASK_OFFERED, HF_TASK_WITHDRAW, HF_TASK_WITHDRAWN, "the run does not want it any more"},
    {HF_TASK_CLAIMED, HF_TASK_LEASE, HF_TASK_CLAIMED, "the owner confirms the claim"},
    {HF_TASK_CLAIMED, HF_TASK_RELEASE, HF_TASK_OFFERED, "the poll left before it was confirmed"},
    {HF_TASK_CLAIMED, HF_TASK_REPORT, HF_TASK_REPORTED, "the report is committed"},
    {HF_TASK_CLAIMED, HF_TASK_WITHDRAW, HF_TASK_WITHDRAWN, "the claim is stale, or its run is"},
    {HF_TASK_CLAIMED, HF_TASK_EXPIRE, HF_TASK_EXPIRED, "its worker did not report in time"},
};

bool hf_task_key_equal(const hf_task_key *a, const hf_task_key *b)
{
    return a->kind == b->kind && a->subject == b->subject && a->attempt == b->attempt &&
           a->epoch == b->epoch;
}

bool hf_task_next(hf_task_state from, hf_task_move on, hf_task_state *out_to)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (table[i].from == from && table[i].on == on) {
            *out_to = table[i].to;
            return true;
        }
    return false;
}

bool hf_task_over(hf_task_state state)
{
    return state == HF_TASK_REPORTED || state == HF_TASK_WITHDRAWN || state == HF_TASK_EXPIRED;
}
