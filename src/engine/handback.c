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
    uint32_t number;
    int64_t namespace_key;
    size_t worker_len;
    char worker[];
} handback;

static void back_take(hf_core *core, hf_core_call *call)
{
    handback *back = (handback *)call;

    hf_ticket ticket = {.kind = back->kind,
                        .key = back->key,
                        .attempt = back->attempt,
                        .number = back->number,
                        .namespace_key = back->namespace_key,
                        .what = HF_TICKET_BACK,
                        .shard = HF_NONE,
                        .worker = hf_slice_from(back->worker, back->worker_len)};

    if (core && !hf_errand_back(core, &ticket))
        core->o.elsewhere(core->o.ctx, &ticket);
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
                       .number = ticket->number,
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
            if (start->claimed)
                return true;
    }
    return false;
}
