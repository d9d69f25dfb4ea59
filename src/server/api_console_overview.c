/* api_console_overview.c: the first page of the console: the numbers of hf_overview, beside them
   who needs a person, which workers are there, and whether all is well. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/api_queue.h"
#include "server/console_mark.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum {
    LOOK_MS = 100, /* for who needs a person */
    GROUPS_LOOKED = 100,
    GROUPS_SHOWN = 3,
    LATE_MS = 60000, /* work that waits longer is worth a look */
    FOLD_LATE = 1000 /* so are so many runs that lists are behind with */
};

/* What the page is made of. */
typedef struct overview {
    hf_value numbers;
    hf_value attention;
    int64_t attention_runs;
    int64_t workers;
    int64_t queues;
} overview;

static bool workers_count(hf_api *api, overview *o)
{
    hf_value workers = hf_queue_workers(api);
    hf_value queues = NULL;
    hf_value held = NULL;

    for (size_t i = 0; i < hf_len(workers); i++)
        o->workers += hf_queue_worker_is(hf_at(workers, i), "active");
    if (!hf_queue_look(api, &queues, &held))
        return false;
    o->queues = (int64_t)hf_len(queues);
    return true;
}

/* False: answered already. */
static bool overview_read(hf_api *api, overview *o)
{
    hf_engine *engine = api->server->engine;
    hf_value groups;
    hf_status st = hf_overview(engine, api->mem, &o->numbers);

    if (!st)
        st = hf_attention(
            engine, hf_json_(api->mem, "{'limit': %d, 'budget_ms': %d}", GROUPS_LOOKED, LOOK_MS),
            api->mem, &o->attention);
    if (st) {
        hf_api_status(api, st, hf_errmsg(engine));
        return false;
    }
    groups = hf_api_groups_snoozed(api, hf_get(o->attention, "groups"), GROUPS_LOOKED, true);
    if (!groups)
        return false;
    o->attention = hf_value_merge(api->mem, o->attention,
                                  hf_json_(api->mem, "{'groups': %p}", (const void *)groups));
    for (size_t i = 0; i < hf_len(groups); i++)
        o->attention_runs += hf_int(hf_at(groups, i), "count", 0);
    return workers_count(api, o);
}

static hf_value attention_value(hf_api *api, const overview *o)
{
    hf_value groups = hf_get(o->attention, "groups");
    hf_value_list *top = hf_value_array(api->mem);

    for (size_t i = 0; i < hf_len(groups) && i < GROUPS_SHOWN; i++)
        hf_value_append(top, hf_at(groups, i));
    return hf_json_(api->mem, "{'groups': %zu, 'runs': %lld, 'exact': %p, 'top': %p}",
                    hf_len(groups), (long long)o->attention_runs,
                    (const void *)hf_get(o->attention, "exact"),
                    (const void *)hf_value_finish(top));
}

static hf_value counts_value(hf_api *api, const overview *o)
{
    static const char *const parts[] = {"open", "completed", "failed", "cancelled", "terminated"};
    hf_value runs = hf_get(o->numbers, "runs");
    hf_value schedules = hf_get(o->numbers, "schedules");
    int64_t n = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        n += hf_int(runs, parts[i], 0);
    return hf_json_(
        api->mem,
        "{'runs': {'n': %lld, 'exact': %p}, 'attention': %zu, 'failures': %p, "
        "'schedules': %lld, 'workers': %lld, 'queues': %lld, 'types': %zu}",
        (long long)n, (const void *)hf_get(runs, "exact"), hf_len(hf_get(o->attention, "groups")),
        (const void *)hf_get(o->numbers, "failures"),
        (long long)(hf_int(schedules, "active", 0) + hf_int(schedules, "paused", 0)),
        (long long)o->workers, (long long)o->queues, hf_len(hf_get(o->numbers, "types")));
}

/* ---- is all well? */

typedef struct check {
    const char *name;
    bool bad;
    bool error;       /* else a warning */
    const char *text; /* when it is bad */
} check;

static hf_value health_value(hf_api *api, const overview *o)
{
    hf_status working = hf_working(api->server->engine);
    const char *why = working ? hf_mem_format(api->mem, "%s", hf_errmsg(api->server->engine)) : "";
    const check checks[] = {
        {"store", working != HF_OK, true, why},
        {"draining", atomic_load(&api->server->draining), false, "The server is about to stop."},
        {"attention", hf_len(hf_get(o->attention, "groups")) > 0, false,
         "Runs are open that need a person."},
        {"backlog", hf_int(o->numbers, "backlog.oldest_ready_age_ms", 0) > LATE_MS, false,
         "Work has been ready for more than a minute."},
        {"schedules", hf_int(o->numbers, "schedules.missed", 0) > 0, false,
         "A schedule should have fired more than a minute ago."},
        {"projections",
         hf_bool(o->numbers, "projections.needs_rebuild", false) ||
             hf_int(o->numbers, "projections.stale", 0) > FOLD_LATE,
         false,
         "Lists are behind histories; if that stays, rebuild them: holdfast rebuild-projections."}};
    hf_value_list *list = hf_value_array(api->mem);
    const char *status = "ok";

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        const check *c = &checks[i];
        const char *found = !c->bad ? "ok" : c->error ? "error" : "warning";

        if (c->bad && strcmp(status, "error") != 0)
            status = found;
        hf_value_append(list, hf_json_(api->mem, "{'name': %s, 'status': %s, 'text': %s}", c->name,
                                       found, c->bad ? c->text : NULL));
    }
    return hf_json_(api->mem, "{'status': %s, 'checks': %p}", status,
                    (const void *)hf_value_finish(list));
}

void hf_api_overview(hf_api *api)
{
    overview o = {0};
    char now[HF_CLOCK_TEXT_SIZE] = "";

    if (!overview_read(api, &o))
        return;
    (void)hf_clock_print(hf_clock_wall_us(api->server->clock), now);
    hf_api_json(
        api, 200,
        hf_value_merge(
            api->mem, o.numbers,
            hf_json_(api->mem,
                     "{'namespace': %s, 'generated_at': %s, 'attention': %p, 'workers': {'active': "
                     "%lld}, 'counts': %p, 'health': %p}",
                     api->namespace, now, (const void *)attention_value(api, &o),
                     (long long)o.workers, (const void *)counts_value(api, &o),
                     (const void *)health_value(api, &o))));
}
