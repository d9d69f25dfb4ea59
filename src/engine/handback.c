/* handback.c: see handback.h. */
#include "engine/handback.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/attempt.h"

typedef struct handback {
    hf_core_call call;
    hf_core *core;
    hf_task_kind kind;
    int64_t key;
    int64_t attempt;
    int64_t namespace_key;
    size_t worker_len;
    char worker[];
} handback;

static bool owner_is(const handback *back, hf_slice owner)
{
    return hf_slice_equal(owner, hf_slice_from(back->worker, back->worker_len));
}

static void run_back(hf_core *core, const handback *back)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)back->key);

    if (!run || !run->far || run->info.namespace_key != back->namespace_key ||
        !run->far->lease.held || run->far->answer || run->far->lease.attempt != back->attempt ||
        !owner_is(back, hf_slice_of(run->far->lease.owner)))
        return;
    run->far->lease.held = false;
    run->far->lease.taken_us = 0; /* it has not seen what it was handed */
    hf_core_disarm(core, -run->key);
    hf_core_ready(core, run);
}

static void attempt_back(hf_core *core, const handback *back)
{
    hf_job *job = hf_map_int_get(core->jobs, (uint64_t)back->key);
    live_run *run = job && job->far && !job->ticket && job->count.attempt == back->attempt &&
                            owner_is(back, job->owner)
                        ? hf_core_live(core, job->run)
                        : NULL;

    if (run && run->info.namespace_key == back->namespace_key)
        hf_attempt_lost(core, job);
}

static void back_take(hf_core *core, hf_core_call *call)
{
    handback *back = (handback *)call;

    if (core && back->kind == HF_TASK_WORKFLOW)
        run_back(core, back);
    else if (core)
        attempt_back(core, back);
    atomic_fetch_sub(&back->core->handbacks, 1);
    hf_alloc_free(back);
}

hf_status hf_handback_post(hf_core *core, const hf_ticket *ticket, hf_err *err)
{
    handback *back = hf_alloc(sizeof(*back) + ticket->worker.len);
    hf_status st;

    if (!back)
        return hf_err_nomem(err, "a task that comes back");
    *back = (handback){.call = {.run = back_take},
                       .core = core,
                       .kind = ticket->kind,
                       .key = ticket->key,
                       .attempt = ticket->attempt,
                       .namespace_key = ticket->namespace_key,
                       .worker_len = ticket->worker.len};
    memcpy(back->worker, ticket->worker.ptr, ticket->worker.len);
    atomic_fetch_add(&core->handbacks, 1);
    st = hf_core_call_post(core, &back->call, err);
    if (st) {
        atomic_fetch_sub(&core->handbacks, 1);
        hf_alloc_free(back);
    }
    return st;
}

bool hf_handback_waits(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    if (atomic_load(&core->handbacks))
        return true;
    while (hf_map_int_next(core->runs, &at, &key, &item)) {
        const live_run *run = item;

        for (const core_start *start = run->dirty ? run->staged_starts : NULL; start;
             start = start->next)
            if (start->waiter)
                return true;
    }
    return false;
}
