/* lease.c: tasks that workers have: who, and until when. The end of a lease is its owner's to
   notice, who has the clock. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "task/matching_impl.h"

static char *worker_copy(hf_slice worker)
{
    char *copy = hf_alloc(worker.len + 1);

    if (copy && worker.len)
        memcpy(copy, worker.ptr, worker.len);
    return copy;
}

/* The record is the worker's. */
static void lease_begin(task_record *record, char *worker, int64_t lease_us, int64_t until_us)
{
    record->worker = worker;
    record->lease_us = lease_us;
    record->until_us = until_us;
}

bool hf_matching_deliver(hf_matching *matching, const hf_task_key *key, int64_t lease_us,
                         int64_t until_us, hf_mem *mem, hf_value task)
{
    const matching_after after = {0};
    task_record *record;
    hf_poll *poll;
    char *worker;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    poll = record ? record->poll : NULL;
    worker = poll && task ? worker_copy(poll->spec.worker) : NULL;
    if (poll) {
        record->poll = NULL;
        hf_list_remove(&record->claim);
        poll->task = NULL;
        hf_poll_calling(poll);
    }
    if (worker) {
        poll->task_mem = mem;
        lease_begin(record, worker, lease_us, until_us);
        hf_task_go(matching, record, HF_TASK_LEASE);
    } else if (record) {
        hf_task_go(matching, record, HF_TASK_WITHDRAW);
    }
    hf_matching_unlock(matching, &after);
    if (!worker)
        hf_mem_free(mem);
    if (poll && hf_poll_call(poll, worker ? task : NULL) && worker)
        return true;
    hf_matching_end(matching, key, HF_TASK_WITHDRAW);
    return false;
}

hf_status hf_matching_resume(hf_matching *matching, const hf_task_offer *offer, hf_slice worker,
                             int64_t lease_us, int64_t until_us, hf_err *err)
{
    char *copy = worker_copy(worker);
    task_record *record;

    hf_mutex_lock(&matching->lock);
    record = copy ? hf_task_record_new(matching, offer) : NULL;
    if (record) {
        lease_begin(record, copy, lease_us, until_us);
        record->unheard = true;
        hf_task_go(matching, record, HF_TASK_RESUME);
    }
    hf_mutex_unlock(&matching->lock);
    if (record)
        return HF_OK;
    hf_alloc_free(copy);
    return hf_err_nomem(err, "a lease");
}

/* Under the lock; the record may be NULL. */
static bool holder_copy(const task_record *record, hf_task_holder *out_holder)
{
    if (!record || !record->worker)
        return false;
    *out_holder = (hf_task_holder){
        .lease_us = record->lease_us, .until_us = record->until_us, .unheard = record->unheard};
    memcpy(out_holder->worker, record->worker, strlen(record->worker));
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
    id = record ? hf_mem_text(mem, record->workflow_id) : NULL;
    hf_mutex_unlock(&matching->lock);
    return id;
}

bool hf_matching_extend(hf_matching *matching, const hf_task_key *key, int64_t until_us)
{
    task_record *record;
    bool leased;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    leased = record && record->worker;
    if (leased) {
        record->until_us = until_us;
        record->unheard = false;
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
    if (record && record->worker)
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

            if (record->worker && record->shelf->queue->namespace_key == namespace_key &&
                hf_slice_equal(hf_slice_of(record->worker), worker))
                leases[count++] = (hf_task_lease){
                    .key = record->key, .run = record->run, .unheard = record->unheard};
        }
    }
    hf_mutex_unlock(&matching->lock);
    *out_leases = leases;
    *out_count = count;
    return leases ? HF_OK : hf_err_nomem(err, "leases");
}
