/* api_queue.c: task queues, the builds of their workers, and the workers themselves. What waits at
   a queue is told by this server's engine; workers are those that registered here. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "server/api_queue.h"
#include "server/api_worker.h"
#include "server/fleet.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum { QUESTIONS_MAX = 1024 };

hf_value hf_queue_workers(hf_api *api)
{
    return hf_fleet_list(api->server->fleet, hf_slice_of(api->namespace), api->mem,
                         hf_clock_wall_us(api->server->clock));
}

bool hf_queue_served_by(hf_value worker, const char *queue)
{
    hf_value queues = hf_get(worker, "task_queues");

    for (size_t i = 0; i < hf_len(queues); i++)
        if (strcmp(hf_str(hf_at(queues, i), "", ""), queue) == 0)
            return true;
    return strcmp(hf_str(worker, "task_queue", ""), queue) == 0;
}

bool hf_queue_worker_is(hf_value worker, const char *status)
{
    return strcmp(hf_str(worker, "status", ""), status) == 0;
}

/* ---- queues */

static hf_value text_or_null(hf_mem *mem, const char *text)
{
    return text && *text ? hf_value_string(mem, hf_slice_of(text)) : hf_value_null();
}

hf_value hf_queue_time(hf_mem *mem, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    if (!us)
        return hf_value_null();
    (void)hf_clock_print(us, text);
    return hf_value_string(mem, hf_slice_of(text));
}

/* {"name", "tasks"} of the queue; NULL: nobody came there yet. */
hf_value hf_queue_named(hf_value queues, const char *name)
{
    for (size_t i = 0; i < hf_len(queues); i++)
        if (strcmp(hf_str(hf_at(queues, i), "name", ""), name) == 0)
            return hf_at(queues, i);
    return NULL;
}

/* Whether a queue can take more of a kind of task, and from whom. */
static hf_value admission_of(hf_api *api, hf_value workers, const char *queue, hf_value tasks,
                             const char *slots)
{
    int64_t active = 0;
    int64_t configured = 0;

    for (size_t i = 0; i < hf_len(workers); i++) {
        hf_value worker = hf_at(workers, i);

        if (!hf_queue_served_by(worker, queue) || !hf_queue_worker_is(worker, "active"))
            continue;
        active++;
        configured += hf_int(worker, slots, 0);
    }
    return hf_json_(api->mem,
                    "{'status': %s, 'budget_source': 'worker_slots', 'active_worker_count': %lld, "
                    "'configured_slot_count': %lld, 'ready_count': %lld, 'waiting_poll_count': "
                    "%lld}",
                    active ? "accepting" : "no_active_workers", (long long)active,
                    (long long)configured, (long long)hf_int(tasks, "ready", 0),
                    (long long)hf_int(tasks, "polls", 0));
}

static hf_value pollers_of(hf_api *api, hf_value workers, const char *queue)
{
    hf_value_list *list = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(workers); i++)
        if (hf_queue_served_by(hf_at(workers, i), queue))
            hf_value_append(list, hf_at(workers, i));
    return hf_value_finish(list);
}

/* Who holds what of the queue, and until when. */
static hf_value leases_of(hf_api *api, hf_value held, const char *queue)
{
    hf_value_list *list = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(held); i++) {
        char until[HF_CLOCK_TEXT_SIZE] = "";

        if (strcmp(hf_str(hf_at(held, i), "task_queue", ""), queue) != 0)
            continue;
        (void)hf_clock_print(hf_int(hf_at(held, i), "lease_expires_at", 0), until);
        hf_value_append(list,
                        hf_value_merge(api->mem, hf_at(held, i),
                                       hf_json_(api->mem, "{'lease_expires_at': %s}", until)));
    }
    return hf_value_finish(list);
}

static hf_value queue_show(hf_api *api, hf_value queues, hf_value held, hf_value workers,
                           const char *name)
{
    hf_value tasks = hf_get(hf_queue_named(queues, name), "tasks");
    long long questions = (long long)hf_int(tasks, "query.ready", 0);
    int64_t paused_us = 0;

    (void)hf_fleet_drained(api->server->fleet, hf_slice_of(api->namespace), hf_slice_of(name),
                           HF_FLEET_ALL_BUILDS, &paused_us);
    return hf_json_(api->mem,
                    "{'namespace': %s, 'name': %s, 'paused_at': %p, 'stats': {'tasks': %p}, "
                    "'admission': {'workflow_tasks': %p, "
                    "'activity_tasks': %p, 'query_tasks': {'status': 'accepting', 'budget_source': "
                    "'server', 'max_pending_per_queue': %d, 'approximate_pending_count': %lld, "
                    "'remaining_pending_capacity': %lld}}, 'pollers': %p, 'current_leases': %p}",
                    api->namespace, name, (const void *)hf_queue_time(api->mem, paused_us),
                    (const void *)(tasks ? tasks : hf_value_null()),
                    (const void *)admission_of(api, workers, name, hf_get(tasks, "workflow"),
                                               "max_concurrent_workflow_tasks"),
                    (const void *)admission_of(api, workers, name, hf_get(tasks, "activity"),
                                               "max_concurrent_activity_tasks"),
                    (int)QUESTIONS_MAX, questions, QUESTIONS_MAX - questions,
                    (const void *)pollers_of(api, workers, name),
                    (const void *)leases_of(api, held, name));
}

/* Reads what was said of builds anew; answers and returns false when that cannot be. */
bool hf_queue_builds(hf_api *api, hf_value *out_builds)
{
    hf_engine *engine = api->server->engine;
    hf_err err = {0};
    hf_status st = hf_builds(engine, api->mem, out_builds);

    if (st) {
        hf_api_status(api, st, hf_errmsg(engine));
        return false;
    }
    st = hf_fleet_builds(api->server->fleet, hf_slice_of(api->namespace), *out_builds, &err);
    if (st)
        hf_api_status(api, st, err.text);
    return !st;
}

/* What lies at the queues and what is held; answers and returns false when that cannot be told. */
bool hf_queue_look(hf_api *api, hf_value *out_queues, hf_value *out_held)
{
    hf_status st = hf_workers_queues(api->server->engine, api->mem, out_queues);
    hf_value drained = NULL;

    if (!st)
        st = hf_tasks_held(api->server->engine, NULL, api->mem, out_held);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st && hf_queue_builds(api, &drained);
}

void hf_api_queues(hf_api *api)
{
    hf_value workers = hf_queue_workers(api);
    hf_value_list *list = hf_value_array(api->mem);
    hf_value queues = NULL;
    hf_value held = NULL;

    if (!hf_queue_look(api, &queues, &held))
        return;
    for (size_t i = 0; i < hf_len(queues); i++)
        hf_value_append(
            list, queue_show(api, queues, held, workers, hf_str(hf_at(queues, i), "name", "")));
    for (size_t i = 0; i < hf_len(workers); i++) {
        const char *name = hf_str(hf_at(workers, i), "task_queue", "");
        bool seen = hf_queue_named(queues, name) != NULL;

        for (size_t k = 0; k < i; k++)
            seen |= strcmp(hf_str(hf_at(workers, k), "task_queue", ""), name) == 0;
        if (!seen)
            hf_value_append(list, queue_show(api, queues, held, workers, name));
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'task_queues': %p}", api->namespace,
                         (const void *)hf_value_finish(list)));
}

void hf_api_queue(hf_api *api)
{
    hf_value queues = NULL;
    hf_value held = NULL;

    if (hf_queue_look(api, &queues, &held))
        hf_api_json(api, 200,
                    queue_show(api, queues, held, hf_queue_workers(api), hf_api_param(api, 0)));
}

/* ---- builds */

static const char *build_of(hf_value worker)
{
    return hf_str(worker, "build_id", "");
}

/* The texts that workers have under a key, each once. */
hf_value hf_queue_texts(hf_mem *mem, hf_value workers, const char *key)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(workers); i++) {
        const char *text = hf_str(hf_at(workers, i), key, NULL);
        bool seen = !text;

        for (size_t k = 0; !seen && k < i; k++)
            seen = strcmp(hf_str(hf_at(workers, k), key, ""), text) == 0;
        if (!seen)
            hf_value_append(list, hf_value_string(mem, hf_slice_of(text)));
    }
    return hf_value_finish(list);
}

/* The earliest or latest of times, which are texts that sort. */
static hf_value time_pick(hf_mem *mem, hf_value workers, const char *key, bool latest)
{
    const char *found = NULL;

    for (size_t i = 0; i < hf_len(workers); i++) {
        const char *text = hf_str(hf_at(workers, i), key, NULL);

        if (text && (!found || (strcmp(text, found) > 0) == latest))
            found = text;
    }
    return text_or_null(mem, found);
}

typedef struct cohort_counts {
    int64_t active;
    int64_t draining;
    int64_t stale;
} cohort_counts;

static const char *cohort_status(const cohort_counts *counts)
{
    if (counts->active)
        return counts->draining ? "active_with_draining" : "active";
    if (counts->draining)
        return "draining";
    return counts->stale ? "stale_only" : "no_workers";
}

int64_t hf_queue_promoted(hf_value builds, const char *queue, const char *build)
{
    hf_value last = NULL;

    for (size_t i = 0; i < hf_len(builds); i++) {
        hf_value one = hf_at(builds, i);

        if (strcmp(hf_str(one, "task_queue", ""), queue) == 0 &&
            hf_int(one, "promoted_at", 0) > hf_int(last, "promoted_at", 0))
            last = one;
    }
    return last && strcmp(build_of(last), build) == 0 ? hf_int(last, "promoted_at", 0) : 0;
}

/* Workers of one build at one queue. */
static hf_value cohort_show(hf_api *api, hf_value workers, hf_value builds, const char *queue,
                            const char *build)
{
    hf_mem *mem = api->mem;
    hf_value_list *list = hf_value_array(mem);
    cohort_counts counts = {0};
    int64_t drained_us = 0;
    bool drained = hf_fleet_drained(api->server->fleet, hf_slice_of(api->namespace),
                                    hf_slice_of(queue), build, &drained_us);
    int64_t promoted_us = hf_queue_promoted(builds, queue, build);
    hf_value own;

    for (size_t i = 0; i < hf_len(workers); i++) {
        hf_value worker = hf_at(workers, i);

        if (!hf_queue_served_by(worker, queue) || strcmp(build_of(worker), build) != 0)
            continue;
        counts.active += hf_queue_worker_is(worker, "active") && !drained;
        counts.draining += !hf_queue_worker_is(worker, "stale") && drained;
        counts.stale += hf_queue_worker_is(worker, "stale");
        hf_value_append(list, worker);
    }
    own = hf_value_finish(list);
    return hf_json_(
        mem,
        "{'build_id': %p, 'rollout_status': %s, 'drain_intent': %s, 'drained_at': %p, "
        "'promoted_at': %p, 'rolled_back_at': null, 'new_start_selected': %p, "
        "'active_worker_count': %lld, 'draining_worker_count': %lld, 'stale_worker_count': %lld, "
        "'total_worker_count': %lld, 'runtimes': %p, 'sdk_versions': %p, 'last_heartbeat_at': %p, "
        "'first_seen_at': %p}",
        (const void *)text_or_null(mem, build), cohort_status(&counts),
        drained ? "draining" : "active", (const void *)hf_queue_time(mem, drained_us),
        (const void *)hf_queue_time(mem, promoted_us),
        (const void *)hf_value_bool(promoted_us != 0), (long long)counts.active,
        (long long)counts.draining, (long long)counts.stale, (long long)hf_len(own),
        (const void *)hf_queue_texts(mem, own, "runtime"),
        (const void *)hf_queue_texts(mem, own, "sdk_version"),
        (const void *)time_pick(mem, own, "last_heartbeat_at", true),
        (const void *)time_pick(mem, own, "registered_at", false));
}

/* Every build that a worker of the queue has or of which something was said, each once. */
static hf_value cohorts_show(hf_api *api, hf_value builds, const char *queue)
{
    hf_value workers = hf_queue_workers(api);
    hf_value_list *names = hf_value_array(api->mem);
    hf_value_list *list = hf_value_array(api->mem);
    hf_value all;

    for (size_t i = 0; i < hf_len(workers); i++)
        if (hf_queue_served_by(hf_at(workers, i), queue))
            hf_value_append(names, hf_json_(api->mem, "{'b': %s}", build_of(hf_at(workers, i))));
    for (size_t i = 0; i < hf_len(builds); i++)
        if (strcmp(hf_str(hf_at(builds, i), "task_queue", ""), queue) == 0 &&
            strcmp(build_of(hf_at(builds, i)), HF_FLEET_ALL_BUILDS) != 0)
            hf_value_append(names, hf_json_(api->mem, "{'b': %s}", build_of(hf_at(builds, i))));
    all = hf_queue_texts(api->mem, hf_value_finish(names), "b");
    for (size_t i = 0; i < hf_len(all); i++)
        hf_value_append(list,
                        cohort_show(api, workers, builds, queue, hf_str(hf_at(all, i), "", "")));
    return hf_value_finish(list);
}

void hf_api_builds(hf_api *api)
{
    const char *queue = hf_api_param(api, 0);
    hf_value builds = NULL;

    if (hf_queue_builds(api, &builds))
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'namespace': %s, 'task_queue': %s, 'stale_after_seconds': %d, "
                             "'build_ids': %p}",
                             api->namespace, queue, (int)HF_WORKER_STALE_SECONDS,
                             (const void *)cohorts_show(api, builds, queue)));
}

typedef enum intent { INTENT_DRAIN, INTENT_RESUME, INTENT_PROMOTE } intent;

static void build_set(hf_api *api, intent what)
{
    const char *queue = hf_api_param(api, 0);
    const char *build = hf_str(api->body, "build_id", NULL);
    int64_t drained_us = 0;
    int64_t promoted_us;
    hf_value builds = NULL;
    bool drained;
    hf_status st;

    st = what == INTENT_PROMOTE
             ? hf_builds_promote(api->server->engine, queue, build)
             : hf_builds_drain(api->server->engine, queue, build, what == INTENT_DRAIN);
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "build_not_found",
                     "No worker of the build %s has registered, and no "
                     "run carries it.",
                     build);
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    if (st || !hf_queue_builds(api, &builds))
        return;
    drained = hf_fleet_drained(api->server->fleet, hf_slice_of(api->namespace), hf_slice_of(queue),
                               build, &drained_us);
    promoted_us = hf_queue_promoted(builds, queue, build ? build : "");
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'task_queue': %s, 'build_id': %p, 'drain_intent': %s, "
                         "'drained_at': %p, 'promoted_at': %p, 'rolled_back_at': null, "
                         "'new_start_selected': %p, 'deployment': null}",
                         api->namespace, queue, (const void *)text_or_null(api->mem, build),
                         drained ? "draining" : "active",
                         (const void *)hf_queue_time(api->mem, drained_us),
                         (const void *)hf_queue_time(api->mem, promoted_us),
                         (const void *)hf_value_bool(promoted_us != 0)));
}

void hf_api_build_drain(hf_api *api)
{
    build_set(api, INTENT_DRAIN);
}

void hf_api_build_resume(hf_api *api)
{
    build_set(api, INTENT_RESUME);
}

void hf_api_build_promote(hf_api *api)
{
    build_set(api, INTENT_PROMOTE);
}

hf_value hf_worker_fleet(hf_api *api)
{
    hf_mem *mem = api->mem;
    hf_value workers = hf_queue_workers(api);
    long long active = 0;

    for (size_t i = 0; i < hf_len(workers); i++)
        active += hf_queue_worker_is(hf_at(workers, i), "active");
    return hf_json_(mem,
                    "{'namespace': %s, 'active_workers': %lld, 'queues': %p, 'build_ids': %p, "
                    "'workers': %p}",
                    api->namespace, active,
                    (const void *)hf_queue_texts(mem, workers, "task_queue"),
                    (const void *)hf_queue_texts(mem, workers, "build_id"), (const void *)workers);
}

/* ---- workers */

/* A text of the query string; NULL: it is not there. */
static const char *filter_of(hf_api *api, const char *name)
{
    hf_slice text;

    return hf_http_query_find(&api->query, name, &text) ? hf_mem_text(api->mem, text) : NULL;
}

void hf_api_workers(hf_api *api)
{
    const char *queue = filter_of(api, "task_queue");
    const char *status = filter_of(api, "status");
    hf_value workers = hf_queue_workers(api);
    hf_value_list *list = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(workers); i++)
        if ((!queue || hf_queue_served_by(hf_at(workers, i), queue)) &&
            (!status || hf_queue_worker_is(hf_at(workers, i), status)))
            hf_value_append(list, hf_at(workers, i));
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'stale_after_seconds': %d, 'workers': %p}",
                         api->namespace, (int)HF_WORKER_STALE_SECONDS,
                         (const void *)hf_value_finish(list)));
}

void hf_api_worker(hf_api *api)
{
    hf_value workers = hf_queue_workers(api);

    for (size_t i = 0; i < hf_len(workers); i++)
        if (strcmp(hf_str(hf_at(workers, i), "worker_id", ""), hf_api_param(api, 0)) == 0) {
            hf_api_json(api, 200, hf_at(workers, i));
            return;
        }
    hf_api_error(api, 404, "worker_not_found", "The worker is not registered here.");
}

void hf_api_worker_delete(hf_api *api)
{
    const char *worker = hf_api_param(api, 0);

    if (!hf_fleet_remove(api->server->fleet, hf_worker_key(api, worker))) {
        hf_api_error(api, 404, "worker_not_found", "The worker is not registered here.");
        return;
    }
    (void)!hf_workers_keep(api->server->engine, worker, NULL);
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'worker_id': %s, 'outcome': 'deregistered', "
                         "'recovered_workflow_task_count': %lld}",
                         api->namespace, worker,
                         (long long)hf_workers_release(api->server->engine, worker)));
}

/* A worker that does not say which types it knows is none of any. */
static bool worker_knows(hf_value worker, const char *type, bool activity)
{
    hf_value types =
        hf_get(worker, activity ? "supported_activity_types" : "supported_workflow_types");

    for (size_t i = 0; i < hf_len(types); i++)
        if (strcmp(hf_str(hf_at(types, i), "", ""), type) == 0)
            return true;
    return false;
}

hf_value hf_queue_workers_of(hf_mem *mem, hf_value workers, const char *type, bool activity)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(workers); i++)
        if (worker_knows(hf_at(workers, i), type, activity) &&
            !hf_queue_worker_is(hf_at(workers, i), "stale"))
            hf_value_append(list, hf_at(workers, i));
    return hf_value_finish(list);
}
