/* lease.c: tasks that workers have: who, and until when. The end of a lease is its owner's to
   notice, who has the clock. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "task/matching_impl.h"

static record_lease *lease_new(hf_slice worker, int64_t lease_us, int64_t until_us)
{
    record_lease *lease = hf_alloc(sizeof(*lease) + worker.len + 1);

    if (!lease)
        return NULL;
    lease->lease_us = lease_us;
    lease->until_us = until_us;
    if (worker.len)
        memcpy(lease->worker, worker.ptr, worker.len);
    return lease;
}

bool hf_matching_deliver(hf_matching *matching, const hf_task_key *key, int64_t lease_us,
                         int64_t until_us, hf_mem *mem, hf_value task)
{
    const matching_after after = {0};
    task_record *record;
    record_lease *lease;
    hf_poll *poll;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    poll = record ? record->poll : NULL;
    lease = poll && task ? lease_new(poll->spec.worker, lease_us, until_us) : NULL;
    if (poll) {
        record->poll = NULL;
        hf_list_remove(&record->claim);
        poll->task = NULL;
        hf_poll_calling(poll);
    }
    if (lease) {
        poll->task_mem = mem;
        record->lease = lease;
        hf_task_go(matching, record, HF_TASK_LEASE);
    } else if (record) {
        hf_task_go(matching, record, HF_TASK_WITHDRAW);
    }
    hf_matching_unlock(matching, &after);
    if (!lease)
        hf_mem_free(mem);
    if (poll && hf_poll_call(poll, lease ? task : NULL) && lease)
        return true;
    hf_matching_end(matching, key, HF_TASK_WITHDRAW);
    return false;
}

hf_status hf_matching_resume(hf_matching *matching, const hf_task_offer *offer, hf_slice worker,
                             int64_t lease_us, int64_t until_us, hf_err *err)
{
    record_lease *lease = lease_new(worker, lease_us, until_us);
    task_record *record;

    hf_mutex_lock(&matching->lock);
    record = lease ? hf_task_record_new(matching, offer) : NULL;
    if (record) {
        record->lease = lease;
        lease->unheard = true;
        hf_task_go(matching, record, HF_TASK_RESUME);
    }
    hf_mutex_unlock(&matching->lock);
    if (record)
        return HF_OK;
    hf_alloc_free(lease);
    return hf_err_nomem(err, "a lease");
}

/* Under the lock; the record may be NULL. */
static bool holder_copy(const task_record *record, hf_task_holder *out_holder)
{
    const record_lease *lease = record ? record->lease : NULL;

    if (!lease)
        return false;
    *out_holder = (hf_task_holder){
        .lease_us = lease->lease_us, .until_us = lease->until_us, .unheard = lease->unheard};
    memcpy(out_holder->worker, lease->worker, strlen(lease->worker));
    return true;
}

bool hf_matching_leased(hf_matching *matching, const hf_task_key *key, hf_task_holder *out_holder)
{
    bool leased;

    hf_mutex_lock(&matching->lock);
    leased = holder_copy(hf_task_find(matching, key), out_holder);
    hf_mutex_unlock(&matching->lock);
    return leased;
}

bool hf_matching_holder(hf_matching *matching, hf_task_kind kind, int64_t subject,
                        hf_task_holder *out_holder)
{
    bool leased;

    hf_mutex_lock(&matching->lock);
    leased = holder_copy(hf_map_int_get(matching->records[kind], (uint64_t)subject), out_holder);
    hf_mutex_unlock(&matching->lock);
    return leased;
}

const char *hf_matching_workflow_id(hf_matching *matching, const hf_task_key *key, hf_mem *mem)
{
    const task_record *record;
    const char *id;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    id = record ? hf_mem_text(mem, hf_task_text(record, TASK_WORKFLOW_ID)) : NULL;
    hf_mutex_unlock(&matching->lock);
    return id;
}

bool hf_matching_extend(hf_matching *matching, const hf_task_key *key, int64_t until_us)
{
    task_record *record;
    bool leased;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    leased = record && record->lease;
    if (leased) {
        record->lease->until_us = until_us;
        record->lease->unheard = false;
    }
    hf_mutex_unlock(&matching->lock);
    return leased;
}

void hf_matching_end(hf_matching *matching, const hf_task_key *key, hf_task_move how)
{
    task_record *record;

    HF_ASSERT(how == HF_TASK_REPORT || how == HF_TASK_EXPIRE || how == HF_TASK_WITHDRAW);
    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    if (record && record->lease)
        hf_task_go(matching, record, how);
    hf_mutex_unlock(&matching->lock);
}

hf_status hf_matching_leases_of(hf_matching *matching, unsigned kinds, int64_t namespace_key,
                                hf_slice worker, hf_task_lease **out_leases, size_t *out_count,
                                hf_err *err)
{
    size_t room = 0;
    size_t count = 0;
    hf_task_lease *leases;

    hf_mutex_lock(&matching->lock);
    for (size_t kind = 0; kind < HF_TASK_KINDS; kind++)
        room += hf_map_int_count(matching->records[kind]);
    leases = hf_alloc_array(room + 1, sizeof(*leases));
    for (size_t kind = 0; leases && kind < HF_TASK_KINDS; kind++) {
        size_t at = 0;
        uint64_t subject;
        void *item;

        while (kinds & 1U << kind &&
               hf_map_int_next(matching->records[kind], &at, &subject, &item)) {
            const task_record *record = item;

            if (record->lease && record->shelf->queue->namespace_key == namespace_key &&
                hf_slice_equal(hf_slice_of(record->lease->worker), worker))
                leases[count++] = (hf_task_lease){
                    .key = record->key, .run = record->run, .unheard = record->lease->unheard};
        }
    }
    hf_mutex_unlock(&matching->lock);
    *out_leases = leases;
    *out_count = count;
    return leases ? HF_OK : hf_err_nomem(err, "leases");
}
