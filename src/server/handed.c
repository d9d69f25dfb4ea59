/* handed.c: see handed.h. */
#include "server/handed.h"

#include <string.h>

#include "base/mem.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "server/recall.h"
#include "server/server_impl.h"

#define AGAIN_US INT64_C(600000000) /* longer than a connection takes to break */

typedef struct handed_task {
    hf_task_kind kind;
    hf_task_claim claim;
} handed_task;

/* With its texts, in an arena of its own: the request is over when it is needed. */
typedef struct handed {
    hf_mem *mem;
    hf_server *server;
    const char *namespace;
    hf_slice key;
    size_t count;
    handed_task tasks[];
} handed;

static hf_task_kind kind_of(hf_value task)
{
    const char *kind = hf_str(task, "kind", "");

    if (strcmp(kind, "workflow") == 0 || strcmp(kind, "step") == 0)
        return HF_TASK_WORKFLOW; /* a step is spoken of as a workflow task */
    if (strcmp(kind, "activity") == 0)
        return HF_TASK_ACTIVITY;
    return strcmp(kind, "query") == 0 ? HF_TASK_QUERY : HF_TASK_VALIDATION;
}

static hf_task_claim claim_of(hf_value task)
{
    static const char *const attempts[] = {[HF_TASK_WORKFLOW] = "workflow_task_attempt",
                                           [HF_TASK_ACTIVITY] = "attempt_number",
                                           [HF_TASK_QUERY] = "query_task_attempt",
                                           [HF_TASK_VALIDATION] = "update_validation_attempt"};

    return (hf_task_claim){.size_ = sizeof(hf_task_claim),
                           .task_id = hf_str(task, "task_id", ""),
                           .worker = hf_str(task, "lease_owner", ""),
                           .attempt = hf_int(task, attempts[kind_of(task)], 0)};
}

static bool task_keep(hf_mem *mem, hf_value task, handed_task *out)
{
    *out = (handed_task){.kind = kind_of(task), .claim = claim_of(task)};
    out->claim.task_id = hf_mem_text(mem, hf_slice_of(out->claim.task_id));
    out->claim.worker = hf_mem_text(mem, hf_slice_of(out->claim.worker));
    return out->claim.task_id && out->claim.worker;
}

static handed *handed_new(hf_api *api, const hf_value *tasks, size_t count, hf_slice key)
{
    hf_mem *mem = hf_mem_new_small();
    handed *h = mem ? hf_mem_alloc(mem, sizeof(*h) + count * sizeof(h->tasks[0])) : NULL;
    bool good = h != NULL;

    if (h) {
        *h = (handed){.mem = mem, .server = api->server, .count = count};
        h->namespace = hf_mem_text(mem, hf_slice_of(api->namespace));
        if (key.ptr)
            h->key = hf_slice_from(hf_mem_text(mem, key), key.len);
        good = h->namespace && !(key.ptr && !h->key.ptr);
    }
    for (size_t i = 0; good && i < count; i++)
        good = task_keep(mem, tasks[i], &h->tasks[i]);
    if (good)
        return h;
    hf_mem_free(mem);
    return NULL;
}

/* What is remembered when the answer under the key is asked for again. */
static hf_slice again_key(hf_mem *mem, hf_slice key)
{
    return hf_slice_of(hf_mem_format(mem, "again\n%.*s", (int)key.len, key.ptr));
}

static bool asked_again(const handed *h)
{
    hf_slice again = h->key.ptr ? again_key(h->mem, h->key) : (hf_slice){0};

    return again.ptr && hf_recall_get(h->server->recall, again, h->mem,
                                      hf_clock_wall_us(h->server->clock)) != NULL;
}

/* The loop's thread. */
static void on_sent(void *ctx, bool delivered)
{
    handed *h = ctx;
    hf_engine *engine = h->server->engine;

    if (!delivered && !asked_again(h) && !hf_namespace_use(engine, h->namespace))
        for (size_t i = 0; i < h->count; i++)
            (void)!hf_task_release(engine, h->tasks[i].kind, &h->tasks[i].claim);
    hf_mem_free(h->mem);
}

void hf_handed_watch(hf_api *api, const hf_value *tasks, size_t count, hf_slice key)
{
    handed *h = count ? handed_new(api, tasks, count, key) : NULL;

    if (!h)
        return; /* without memory: leases end when nobody reports */
    api->reply.sent = on_sent;
    api->reply.sent_ctx = h;
}

void hf_handed_again(hf_api *api, hf_slice key)
{
    hf_slice again = again_key(api->mem, key);

    if (again.ptr)
        hf_recall_put(api->server->recall, again, hf_value_bool(true),
                      hf_clock_wall_us(api->server->clock) + AGAIN_US);
}

bool hf_handed_held(hf_api *api, hf_value task)
{
    const hf_task_claim claim = claim_of(task);
    hf_engine *engine = api->server->engine;

    switch (kind_of(task)) {
    case HF_TASK_WORKFLOW:
        return hf_task_extend(engine, &claim, NULL, NULL) == HF_OK;
    case HF_TASK_ACTIVITY:
        return hf_task_beat(engine, &claim, NULL) == HF_OK;
    case HF_TASK_QUERY:
    case HF_TASK_VALIDATION:
    case HF_TASK_STEP:
        break;
    }
    return true; /* a question: whoever asked refuses what comes too late */
}

void hf_handed_back(hf_api *api, hf_value task)
{
    const hf_task_claim claim = claim_of(task);

    (void)!hf_task_release(api->server->engine, kind_of(task), &claim);
}
