/* held.c: which tasks workers of other processes hold, as the core of this process knows it. */
#include "base/value.h"
#include "engine/call.h"
#include "engine/errand.h"
#include "holdfast/worker.h"

/* A look at the core, by its own thread; whoever asked waits and lends the arena. */
typedef struct held_call {
    hf_core_call call;
    hf_engine *engine;
    hf_mem *mem;
    hf_value_list *list;
    int64_t namespace_key;
    hf_slice queue; /* ptr NULL: all */
    bool done;
} held_call;

static void text_set(hf_value_list *object, hf_mem *mem, const char *key, hf_slice text)
{
    hf_value_set(object, hf_slice_of(key), text.ptr ? hf_value_string(mem, text) : hf_value_null());
}

/* What both kinds have. */
static void lease_add(held_call *h, const live_run *run, hf_slice task_id, hf_task_kind kind,
                      hf_slice type, hf_slice queue, hf_slice owner, int64_t until_us,
                      int64_t attempt)
{
    hf_value_list *lease = hf_value_object(h->mem);

    if (h->queue.ptr && !hf_slice_equal(h->queue, queue))
        return;
    text_set(lease, h->mem, "task_id", task_id);
    text_set(lease, h->mem, "kind",
             kind == HF_TASK_WORKFLOW ? HF_SLICE("workflow") : HF_SLICE("activity"));
    text_set(lease, h->mem, "workflow_id", run->info.instance_id);
    text_set(lease, h->mem, "run_id", hf_slice_of(run->run_id));
    text_set(lease, h->mem, "type", type);
    text_set(lease, h->mem, "task_queue", queue);
    text_set(lease, h->mem, "lease_owner", owner);
    hf_value_set(lease, HF_SLICE("lease_expires_at"), hf_value_int(h->mem, until_us));
    hf_value_set(lease, HF_SLICE("attempt"), hf_value_int(h->mem, attempt));
    hf_value_append(h->list, hf_value_finish(lease));
}

/* Texts of a run are there while its history is. */
static bool run_fits(const held_call *h, const live_run *run)
{
    return run && run->replay && run->info.namespace_key == h->namespace_key;
}

static void runs_look(held_call *h, hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    while (hf_map_int_next(core->runs, &at, &key, &item)) {
        const live_run *run = item;
        char text[HF_ULID_TEXT_SIZE];
        hf_ulid id;

        if (!run_fits(h, run) || !run->far || !run->far->lease.held)
            continue;
        id = hf_ulid_form(run->info.created_us, run->key, 1);
        hf_ulid_print(&id, text);
        lease_add(h, run, hf_slice_of(text), HF_TASK_WORKFLOW, run->info.type, run->info.queue,
                  hf_slice_of(run->far->lease.owner), run->far->lease.until_us,
                  run->far->lease.attempt);
    }
}

static void jobs_look(held_call *h, hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    while (hf_map_int_next(core->jobs, &at, &key, &item)) {
        const hf_job *job = item;
        const live_run *run = job->far ? hf_map_int_get(core->runs, (uint64_t)job->run) : NULL;

        if (run_fits(h, run))
            lease_add(h, run, hf_slice_of(job->idempotency_key), HF_TASK_ACTIVITY, job->name,
                      job->queue.ptr ? job->queue : run->info.queue, job->owner,
                      job->lease_until_us, job->count.attempt);
    }
}

static void held_look(hf_core *core, hf_core_call *call)
{
    held_call *h = (held_call *)call;

    if (core) {
        runs_look(h, core);
        jobs_look(h, core);
    }
    hf_mutex_lock(&h->engine->lock);
    h->done = true;
    hf_cond_broadcast(&h->engine->changed);
    hf_mutex_unlock(&h->engine->lock);
}

hf_status hf_tasks_held(hf_engine *engine, const char *queue, hf_mem *mem, hf_value *out)
{
    held_call h = {.call = {.run = held_look}, .engine = engine, .mem = mem};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_INVALID, "memory and a place for the answer are needed");
    if (!engine->desk)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    h.list = hf_value_array(mem);
    h.namespace_key = c.in.namespace_key;
    h.queue = queue ? hf_slice_of(queue) : (hf_slice){0};
    st = hf_core_call_post(engine->core, &h.call, &c.slot->err);
    if (st)
        return st;
    if (engine->mode != ENGINE_THREADS)
        while (!h.done)
            (void)hf_engine_pump(engine);
    hf_mutex_lock(&engine->lock);
    while (!h.done)
        hf_cond_wait(&engine->changed, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    *out = hf_value_finish(h.list);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "leases");
}
