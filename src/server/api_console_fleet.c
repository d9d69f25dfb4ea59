/* api_console_fleet.c: queues, limits, workers and builds as the console shows them: the same facts
   as the published routes have, and for each worker and build one sentence on whether it can be
   shut down. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "server/api_queue.h"
#include "server/api_worker.h"
#include "server/fleet.h"
#include "server/handlers.h"
#include "server/server_impl.h"

/* What the questions below are answered from. */
typedef struct fleet_look {
    hf_api *api;
    hf_value workers;
    hf_value queues;
    hf_value held;
    hf_value builds;
    hf_value needed; /* builds that open runs carry */
    bool exact;
} fleet_look;

static bool look(hf_api *api, fleet_look *f)
{
    hf_status st;

    *f = (fleet_look){.api = api, .workers = hf_queue_workers(api)};
    if (!hf_queue_look(api, &f->queues, &f->held) || !hf_queue_builds(api, &f->builds))
        return false;
    st = hf_builds_needed(api->server->engine, api->mem, &f->needed, &f->exact);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

static bool text_is(hf_value object, const char *key, const char *text)
{
    return strcmp(hf_str(object, key, ""), text) == 0;
}

/* How many of a list have the text under the key. */
static int64_t count_where(hf_value list, const char *key, const char *text)
{
    int64_t count = 0;

    for (size_t i = 0; i < hf_len(list); i++)
        count += text_is(hf_at(list, i), key, text);
    return count;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static hf_value verdict(hf_api *api, bool safe, const char *reason)
{
    return reason ? hf_json_(api->mem, "{'safe': %p, 'reason': %s}",
                             (const void *)hf_value_bool(safe), reason)
                  : NULL;
}

/* ---- open runs of a queue */

/* How many runs are open at a queue, counted up to 10,000; false: answered already. */
static bool queue_open_runs(hf_api *api, const char *queue, int64_t *out_count)
{
    hf_value page = NULL;
    hf_status st = hf_list_runs(
        api->server->engine,
        hf_json_(api->mem,
                 "{'filters': {'queue': %s}, 'bucket': 'running', 'limit': 1, 'total': true}",
                 queue),
        api->mem, &page);

    *out_count = hf_int(page, "total.n", 0);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

/* Active workers of a queue, or (queue NULL) of all; of a build (NULL: any), or of all others. */
static int64_t workers_active(const fleet_look *f, const char *queue, const char *build,
                              bool others)
{
    int64_t count = 0;

    for (size_t i = 0; i < hf_len(f->workers); i++) {
        hf_value worker = hf_at(f->workers, i);

        count += hf_queue_worker_is(worker, "active") &&
                 (!queue || hf_queue_served_by(worker, queue)) &&
                 (!build || text_is(worker, "build_id", build) != others);
    }
    return count;
}

/* The queues that a worker serves. */
static hf_value queues_of(hf_mem *mem, hf_value worker)
{
    hf_value queues = hf_get(worker, "task_queues");

    return hf_len(queues) ? queues
                          : hf_json_(mem, "[%p]", (const void *)hf_get(worker, "task_queue"));
}

/* ---- workers */

/* Why the last worker of a queue has to stay, if it has; false: answered already. */
static bool worker_alone(const fleet_look *f, hf_value worker, const char **out_reason)
{
    hf_api *api = f->api;
    hf_value queues = queues_of(api->mem, worker);

    for (size_t i = 0; !*out_reason && i < hf_len(queues); i++) {
        const char *queue = hf_str(hf_at(queues, i), "", "");
        int64_t runs = 0;

        if (workers_active(f, queue, NULL, false) > 1)
            continue;
        if (!queue_open_runs(api, queue, &runs))
            return false;
        if (runs)
            *out_reason =
                hf_mem_format(api->mem, "It is the only worker of queue %s, where %lld run%s open.",
                              queue, (long long)runs, runs == 1 ? " is" : "s are");
    }
    return true;
}

/* How many open runs carry a build. */
static int64_t build_runs(const fleet_look *f, const char *build)
{
    for (size_t i = 0; i < hf_len(f->needed); i++)
        if (text_is(hf_at(f->needed, i), "build_id", build))
            return hf_int(hf_at(f->needed, i), "open_runs", 0);
    return 0;
}

/* NULL: answered already. */
static hf_value worker_verdict(const fleet_look *f, hf_value worker, int64_t leases)
{
    hf_api *api = f->api;
    const char *build = hf_str(worker, "build_id", "");
    const char *reason = NULL;
    int64_t runs = build_runs(f, build);

    if (hf_queue_worker_is(worker, "stale"))
        return verdict(api, true, "It has not been heard of for a while; others get what it held.");
    if (leases)
        return verdict(api, false,
                       hf_mem_format(api->mem,
                                     "It holds %lld task%s. Tell its process to stop, and wait "
                                     "until they are done: what it leaves behind is done again.",
                                     (long long)leases, plural(leases)));
    if (hf_queue_worker_is(worker, "active") && !worker_alone(f, worker, &reason))
        return NULL;
    if (!reason && *build && runs && hf_queue_worker_is(worker, "active") &&
        workers_active(f, NULL, build, false) == 1)
        reason =
            hf_mem_format(api->mem, "It is the only worker of build %s, which %lld open run%s.",
                          build, (long long)runs, runs == 1 ? " needs" : "s need");
    return reason ? verdict(api, false, reason)
                  : verdict(api, true, "It holds no task, and nothing waits for it alone.");
}

void hf_api_console_workers(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    fleet_look f;

    if (!look(api, &f))
        return;
    for (size_t i = 0; i < hf_len(f.workers); i++) {
        hf_value worker = hf_at(f.workers, i);
        int64_t leases = count_where(f.held, "lease_owner", hf_str(worker, "worker_id", ""));
        hf_value safe = worker_verdict(&f, worker, leases);

        if (!safe)
            return;
        hf_value_append(list,
                        hf_value_merge(api->mem, worker,
                                       hf_json_(api->mem, "{'leases': %lld, 'safe_to_stop': %p}",
                                                (long long)leases, (const void *)safe)));
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'workers': %p, 'stale_after_seconds': %d}",
                         api->namespace, (const void *)hf_value_finish(list),
                         (int)HF_WORKER_STALE_SECONDS));
}

/* ---- queues */

static hf_value queue_show(const fleet_look *f, const char *name)
{
    hf_api *api = f->api;
    hf_value queue = hf_queue_named(f->queues, name);
    hf_value tasks = hf_get(queue, "tasks");
    static const char *const kinds[] = {"workflow", "activity", "query", "update_validation"};
    int64_t now_us = hf_clock_wall_us(api->server->clock);
    int64_t oldest_us = hf_int(queue, "oldest_at", now_us);
    int64_t held = count_where(f->held, "task_queue", name);
    int64_t backlog = hf_int(tasks, "workflow.ready", 0) + hf_int(tasks, "activity.ready", 0);
    int64_t paused_us = 0;
    hf_value_list *ready = hf_value_object(api->mem);
    int64_t pollers = 0;

    (void)hf_fleet_drained(api->server->fleet, hf_slice_of(api->namespace), hf_slice_of(name),
                           HF_FLEET_ALL_BUILDS, &paused_us);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        hf_value numbers = hf_get(tasks, kinds[i]);

        hf_value_set(ready, hf_slice_of(kinds[i]),
                     hf_value_int(api->mem, hf_int(numbers, "ready", 0)));
        pollers += hf_int(numbers, "polls", 0);
    }
    return hf_json_(api->mem,
                    "{'name': %s, 'paused_at': %p, 'demand': %lld, 'backlog': %lld, 'in_flight': "
                    "%lld, 'ready': %p, 'pollers': %lld, 'workers': %lld, 'oldest_age_ms': %lld}",
                    name, (const void *)hf_queue_time(api->mem, paused_us),
                    (long long)(backlog + held), (long long)backlog, (long long)held,
                    (const void *)hf_value_finish(ready), (long long)pollers,
                    (long long)workers_active(f, name, NULL, false),
                    (long long)(now_us > oldest_us ? (now_us - oldest_us) / 1000 : 0));
}

/* Queues that somebody came to since this process began, and those of workers, each once. */
static hf_value queue_names(const fleet_look *f)
{
    hf_mem *mem = f->api->mem;
    hf_value_list *names = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(f->queues); i++)
        hf_value_append(names, hf_at(f->queues, i));
    for (size_t i = 0; i < hf_len(f->workers); i++) {
        hf_value queues = queues_of(mem, hf_at(f->workers, i));

        for (size_t k = 0; k < hf_len(queues); k++)
            hf_value_append(names, hf_json_(mem, "{'name': %p}", (const void *)hf_at(queues, k)));
    }
    return hf_queue_texts(mem, hf_value_finish(names), "name");
}

void hf_api_console_queues(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value names;
    fleet_look f;

    if (!look(api, &f))
        return;
    names = queue_names(&f);
    for (size_t i = 0; i < hf_len(names); i++)
        hf_value_append(list, queue_show(&f, hf_str(hf_at(names, i), "", "")));
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'queues': %p}", api->namespace,
                         (const void *)hf_value_finish(list)));
}

void hf_api_console_limits(hf_api *api)
{
    hf_value state = NULL;
    hf_status st = hf_limits_state(api->server->engine, api->mem, &state);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_value_merge(api->mem,
                                   hf_json_(api->mem, "{'namespace': %s}", api->namespace), state));
}

/* ---- builds */

/* Every build that a worker or an open run has or of which something was said, each once. */
static hf_value build_names(const fleet_look *f)
{
    const hf_value lists[] = {f->workers, f->builds, f->needed};
    hf_mem *mem = f->api->mem;
    hf_value_list *names = hf_value_array(mem);

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < hf_len(lists[i]); k++) {
            const char *build = hf_str(hf_at(lists[i], k), "build_id", "");

            if (*build && strcmp(build, HF_FLEET_ALL_BUILDS) != 0)
                hf_value_append(names, hf_at(lists[i], k));
        }
    return hf_queue_texts(mem, hf_value_finish(names), "build_id");
}

/* A build and what is known of it. */
typedef struct build_look {
    const char *id;
    hf_value queues;
    int64_t workers;
    int64_t active;
    int64_t leases;
    int64_t runs;
    int64_t oldest_us;
    int64_t promoted_us;
    int64_t drained_us;
    const char *chosen; /* queue whose new runs begin with it; NULL: none */
} build_look;

static void build_workers(const fleet_look *f, build_look *b)
{
    hf_mem *mem = f->api->mem;
    hf_value_list *names = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(f->workers); i++) {
        hf_value worker = hf_at(f->workers, i);
        hf_value queues = queues_of(mem, worker);

        if (!text_is(worker, "build_id", b->id))
            continue;
        b->workers++;
        b->active += hf_queue_worker_is(worker, "active");
        b->leases += count_where(f->held, "lease_owner", hf_str(worker, "worker_id", ""));
        for (size_t k = 0; k < hf_len(queues); k++)
            hf_value_append(names, hf_json_(mem, "{'q': %p}", (const void *)hf_at(queues, k)));
    }
    for (size_t i = 0; i < hf_len(f->builds); i++) {
        hf_value one = hf_at(f->builds, i);
        const char *queue = hf_str(one, "task_queue", "");
        int64_t promoted_us;

        if (!text_is(one, "build_id", b->id))
            continue;
        promoted_us = hf_queue_promoted(f->builds, queue, b->id);
        b->promoted_us = promoted_us > b->promoted_us ? promoted_us : b->promoted_us;
        b->drained_us = hf_int(one, "drained_at", b->drained_us);
        b->chosen = promoted_us ? queue : b->chosen;
        hf_value_append(names, hf_json_(mem, "{'q': %s}", queue));
    }
    b->queues = hf_queue_texts(mem, hf_value_finish(names), "q");
}

/* Why its workers have to stay for runs that carry no build; false: answered already. */
static bool build_alone(const fleet_look *f, const build_look *b, const char **out_reason)
{
    for (size_t i = 0; b->active && !*out_reason && i < hf_len(b->queues); i++) {
        const char *queue = hf_str(hf_at(b->queues, i), "", "");
        int64_t runs = 0;

        if (workers_active(f, queue, b->id, true))
            continue;
        if (!queue_open_runs(f->api, queue, &runs))
            return false;
        if (runs)
            *out_reason = hf_mem_format(f->api->mem,
                                        "Only its workers serve queue %s, where %lld run%s open.",
                                        queue, (long long)runs, runs == 1 ? " is" : "s are");
    }
    return true;
}

/* NULL: answered already. */
static hf_value build_verdict(const fleet_look *f, const build_look *b)
{
    hf_api *api = f->api;
    const char *reason = NULL;

    if (b->runs)
        reason = hf_mem_format(api->mem, "%s%lld open run%s still need%s %s.",
                               f->exact ? "" : "At least ", (long long)b->runs, plural(b->runs),
                               b->runs == 1 ? "s" : "", b->id);
    else if (b->chosen)
        reason = hf_mem_format(api->mem, "New runs of queue %s begin with %s.", b->chosen, b->id);
    else if (b->leases)
        reason = hf_mem_format(api->mem, "Its workers hold %lld task%s.", (long long)b->leases,
                               plural(b->leases));
    else if (!build_alone(f, b, &reason))
        return NULL;
    if (reason)
        return verdict(api, false, reason);
    return verdict(api, true,
                   b->active ? "No open run needs it."
                             : "No open run needs it, and no worker has it.");
}

/* NULL: answered already. */
static hf_value build_show(const fleet_look *f, const char *id)
{
    hf_api *api = f->api;
    build_look b = {.id = id, .runs = build_runs(f, id)};
    hf_value safe;

    for (size_t i = 0; i < hf_len(f->needed); i++)
        if (text_is(hf_at(f->needed, i), "build_id", id))
            b.oldest_us = hf_int(hf_at(f->needed, i), "oldest_open_at", 0);
    build_workers(f, &b);
    safe = build_verdict(f, &b);
    if (!safe)
        return NULL;
    return hf_json_(api->mem,
                    "{'build_id': %s, 'queues': %p, 'workers': %lld, 'active_workers': %lld, "
                    "'promoted_at': %p, 'drained_at': %p, 'open_runs': {'n': %lld, 'exact': %p}, "
                    "'oldest_open_at': %p, 'safe_to_stop': %p}",
                    id, (const void *)b.queues, (long long)b.workers, (long long)b.active,
                    (const void *)hf_queue_time(api->mem, b.promoted_us),
                    (const void *)hf_queue_time(api->mem, b.drained_us), (long long)b.runs,
                    (const void *)hf_value_bool(f->exact),
                    (const void *)hf_queue_time(api->mem, b.oldest_us), (const void *)safe);
}

void hf_api_console_builds(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value names;
    fleet_look f;

    if (!look(api, &f))
        return;
    names = build_names(&f);
    for (size_t i = 0; i < hf_len(names); i++) {
        hf_value shown = build_show(&f, hf_str(hf_at(names, i), "", ""));

        if (!shown)
            return;
        hf_value_append(list, shown);
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'builds': %p}", api->namespace,
                         (const void *)hf_value_finish(list)));
}
