/* row_work.c: rows of open work: activities, timers, tasks, slots. See row.c. */
#include "store/row_build.h"

hf_row *hf_row_slot_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t most,
                         int64_t run, hf_slice owner, int64_t lease_until_us, int64_t now_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SLOT_TAKE);

    hf_row_put_text(&b, key);
    hf_row_put_int(&b, most);
    hf_row_put_int(&b, run);
    hf_row_put_text(&b, owner);
    hf_row_put_int(&b, lease_until_us);
    hf_row_put_int(&b, now_us);
    hf_row_put_int(&b, namespace_key);
    return hf_row_end(&b);
}

hf_row *hf_row_slot_free(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t run,
                         hf_slice owner)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SLOT_FREE);

    hf_row_put_text(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_text(&b, owner);
    hf_row_put_int(&b, namespace_key);
    return hf_row_end(&b);
}

hf_row *hf_row_slot_renew(hf_mem *mem, hf_slice owner, int64_t lease_until_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SLOT_RENEW);

    hf_row_put_text(&b, owner);
    hf_row_put_int(&b, lease_until_us);
    return hf_row_end(&b);
}

hf_row *hf_row_slot_clear(hf_mem *mem, hf_slice owner)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_SLOT_CLEAR);

    hf_row_put_text(&b, owner);
    return hf_row_end(&b);
}

hf_row *hf_row_bucket_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t weight,
                           int64_t burst, int64_t allowed, int64_t per_us, int64_t now_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_BUCKET_TAKE);

    hf_row_put_text(&b, key);
    hf_row_put_int(&b, weight);
    hf_row_put_int(&b, burst);
    hf_row_put_int(&b, allowed);
    hf_row_put_int(&b, per_us);
    hf_row_put_int(&b, now_us);
    hf_row_put_int(&b, namespace_key);
    return hf_row_end(&b);
}

hf_row *hf_row_task_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance,
                         int64_t source_kind, int64_t source_key, int64_t now_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_TELL);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, instance);
    hf_row_put_int(&b, source_kind);
    hf_row_put_int(&b, source_key);
    hf_row_put_int(&b, now_us);
    return hf_row_end(&b);
}

hf_row *hf_row_activity_new(hf_mem *mem, const hf_activity_row *row)
{
    bool begins = row->status == HF_ACTIVITY_STATUS_RUNNING && row->attempt == 1 &&
                  row->lost_attempts == 0 && row->started_us == row->scheduled_us &&
                  row->deadline_us == HF_NONE && row->close_deadline_us == HF_NONE &&
                  row->closed_us == HF_NONE && row->available_us == HF_NONE && !row->policy.ptr;
    hf_row_builder b = hf_row_begin(mem, begins ? HF_OP_ACTIVITY_BEGIN : HF_OP_ACTIVITY_NEW);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->run);
    hf_row_put_int(&b, row->step);
    hf_row_put_text(&b, row->type);
    hf_row_put_int(&b, row->max_attempts);
    hf_row_put_int(&b, row->scheduled_us);
    if (begins)
        return hf_row_end(&b);
    hf_row_put_int(&b, row->started_us);
    hf_row_put_int(&b, row->status);
    hf_row_put_int(&b, row->attempt);
    hf_row_put_int(&b, row->lost_attempts);
    hf_row_put_int(&b, row->deadline_us);
    hf_row_put_int(&b, row->close_deadline_us);
    hf_row_put_int(&b, row->closed_us);
    hf_row_put_blob(&b, row->policy);
    hf_row_put_int(&b, row->available_us);
    return hf_row_end(&b);
}

hf_row *hf_row_activity_set(hf_mem *mem, const hf_activity_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_ACTIVITY_SET);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->status);
    hf_row_put_int(&b, row->attempt);
    hf_row_put_int(&b, row->lost_attempts);
    hf_row_put_int(&b, row->deadline_us);
    hf_row_put_int(&b, row->started_us);
    hf_row_put_int(&b, row->closed_us);
    hf_row_put_int(&b, row->available_us);
    hf_row_put_int(&b, row->crash_count);
    hf_row_put_int(&b, row->missed_starts);
    hf_row_put_text(&b, row->owner);
    hf_row_put_int(&b, row->owner.len ? row->lease_until_us : (int64_t)HF_NONE);
    return hf_row_end(&b);
}

hf_row *hf_row_activity_lease(hf_mem *mem, int64_t key, int64_t attempt, int64_t lease_until_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_ACTIVITY_LEASE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, attempt);
    hf_row_put_int(&b, lease_until_us);
    return hf_row_end(&b);
}

hf_row *hf_row_activity_return(hf_mem *mem, int64_t key, int64_t attempt, int64_t lost_attempts,
                               int64_t deadline_us, int64_t available_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_ACTIVITY_RETURN);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, attempt);
    hf_row_put_int(&b, lost_attempts);
    hf_row_put_int(&b, deadline_us);
    hf_row_put_int(&b, available_us);
    return hf_row_end(&b);
}

hf_row *hf_row_timer_new(hf_mem *mem, const hf_timer_row *row)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TIMER_NEW);

    hf_row_put_int(&b, row->key);
    hf_row_put_int(&b, row->run);
    hf_row_put_int(&b, row->step);
    hf_row_put_int(&b, row->kind);
    hf_row_put_int(&b, row->status);
    hf_row_put_int(&b, row->due_us);
    hf_row_put_int(&b, row->created_us);
    hf_row_put_int(&b, row->closed_us);
    return hf_row_end(&b);
}

hf_row *hf_row_task_begin(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t priority,
                          int64_t available_us, int64_t created_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_WAKE);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, HF_TASK_TYPE_WORKFLOW);
    hf_row_put_int(&b, HF_TASK_STATUS_READY);
    hf_row_put_text(&b, queue);
    hf_row_put_int(&b, priority ? priority : HF_TASK_PRIORITY);
    hf_row_put_int(&b, available_us);
    hf_row_put_int(&b, created_us);
    return hf_row_end(&b);
}

hf_row *hf_row_task_wake(hf_mem *mem, int64_t key, int64_t run, hf_slice queue,
                         int64_t available_us, int64_t created_us)
{
    return hf_row_task_begin(mem, key, run, queue, 0, available_us, created_us);
}

hf_row *hf_row_task_done(hf_mem *mem, int64_t run, int64_t messages_seen)
{
    return hf_row_pair(mem, HF_OP_TASK_DONE, run, messages_seen);
}

hf_row *hf_row_task_drop(hf_mem *mem, int64_t run, int64_t seen)
{
    return hf_row_pair(mem, HF_OP_TASK_DROP, run, seen);
}

hf_row *hf_row_timer_reset(hf_mem *mem, int64_t key, int64_t due_us)
{
    return hf_row_pair(mem, HF_OP_TIMER_RESET, key, due_us);
}

hf_row *hf_row_timer_cancel(hf_mem *mem, int64_t run, int64_t step)
{
    return hf_row_pair(mem, HF_OP_TIMER_CANCEL, run, step);
}

hf_row *hf_row_task_block(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t now_us,
                          hf_slice body)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_BLOCK);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_int(&b, HF_TASK_STATUS_FAILED);
    hf_row_put_text(&b, queue);
    hf_row_put_int(&b, now_us);
    hf_row_put_blob(&b, body);
    return hf_row_end(&b);
}

hf_row *hf_row_task_repair(hf_mem *mem, int64_t key, int64_t available_us)
{
    return hf_row_pair(mem, HF_OP_TASK_REPAIR, key, available_us);
}

hf_row *hf_row_task_trouble(hf_mem *mem, int64_t run, hf_task_trouble trouble, int64_t repair_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_TROUBLE);

    hf_row_put_int(&b, run);
    hf_row_put_int(&b, trouble);
    hf_row_put_int(&b, repair_us);
    return hf_row_end(&b);
}

hf_row *hf_row_task_fault(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t now_us,
                          hf_slice body, int64_t repair_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_FAULT);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, run);
    hf_row_put_text(&b, queue);
    hf_row_put_int(&b, now_us);
    hf_row_put_blob(&b, body);
    hf_row_put_int(&b, repair_us);
    return hf_row_end(&b);
}

hf_row *hf_row_task_calm(hf_mem *mem, int64_t run)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_CALM);

    hf_row_put_int(&b, run);
    return hf_row_end(&b);
}

hf_row *hf_row_task_redo(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t available_us,
                         int64_t repair_us)
{
    hf_row_builder b = hf_row_begin(mem, HF_OP_TASK_REDO);

    hf_row_put_int(&b, key);
    hf_row_put_int(&b, expected_epoch);
    hf_row_put_int(&b, available_us);
    hf_row_put_int(&b, repair_us);
    return hf_row_end(&b);
}
