/* api_console_types.c: the types of workflows, machines and activities that a namespace has: those
   of this program, of its registered workers, and of its runs. What other namespaces' workers
   declare is not shown here. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/api_queue.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shape.h"

enum { RECENT = 10, BUCKETS = 5 };

static const char *const buckets[BUCKETS] = {"running", "completed", "failed", "cancelled",
                                             "terminated"};

/* What types are told from. */
typedef struct type_look {
    hf_api *api;
    hf_value workers;
    hf_value known;           /* hf_types */
    hf_value counts[BUCKETS]; /* {"values": [{"value", "n"}], "exact"} */
    bool exact;
} type_look;

static bool engine_failed(hf_api *api, hf_status st)
{
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return st != HF_OK;
}

static bool look(hf_api *api, type_look *t)
{
    hf_engine *engine = api->server->engine;

    *t = (type_look){.api = api, .workers = hf_queue_workers(api), .exact = true};
    if (engine_failed(api, hf_types(engine, api->mem, &t->known)))
        return false;
    for (size_t i = 0; i < BUCKETS; i++) {
        hf_value page = NULL;

        if (engine_failed(
                api,
                hf_list_runs(engine,
                             hf_json_(api->mem,
                                      "{'bucket': %s, 'limit': 1, 'facets': ['workflow_type']}",
                                      buckets[i]),
                             api->mem, &page)))
            return false;
        t->counts[i] = hf_get(page, "facets.workflow_type");
        t->exact = t->exact && hf_bool(t->counts[i], "exact", false);
    }
    return true;
}

static int64_t count_of(const type_look *t, size_t bucket, const char *type)
{
    hf_value values = hf_get(t->counts[bucket], "values");

    for (size_t i = 0; i < hf_len(values); i++)
        if (strcmp(hf_str(hf_at(values, i), "value", ""), type) == 0)
            return hf_int(hf_at(values, i), "n", 0);
    return 0;
}

/* One of hf_types; NULL: it is not recorded. */
static hf_value known_find(const type_look *t, const char *type, bool activity)
{
    for (size_t i = 0; i < hf_len(t->known); i++) {
        hf_value one = hf_at(t->known, i);

        if (strcmp(hf_str(one, "type", ""), type) == 0 &&
            (strcmp(hf_str(one, "kind", ""), "activity") == 0) == activity)
            return one;
    }
    return NULL;
}

static hf_value workers_of(const type_look *t, const char *type, bool activity)
{
    return hf_queue_workers_of(t->api->mem, t->workers, type, activity);
}

/* Whether the namespace has runs of it, in whatever state. */
static bool has_runs(const type_look *t, const char *type)
{
    for (size_t i = 0; i < BUCKETS; i++)
        if (count_of(t, i, type))
            return true;
    return false;
}

static hf_value names_of(hf_mem *mem, hf_value contract, const char *kind)
{
    return hf_queue_texts(mem, hf_get(contract, kind), "name");
}

static hf_value numbers_show(const type_look *t, const char *type, bool activity)
{
    int64_t n[BUCKETS];

    if (activity)
        return hf_json_(t->api->mem,
                        "{'open': null, 'closed': null, 'completed': null, 'failed': null}");
    for (size_t i = 0; i < BUCKETS; i++)
        n[i] = count_of(t, i, type);
    return hf_json_(
        t->api->mem, "{'open': %lld, 'closed': %lld, 'completed': %lld, 'failed': %lld}",
        (long long)n[0], (long long)(n[1] + n[2] + n[3] + n[4]), (long long)n[1], (long long)n[2]);
}

static hf_value type_show(const type_look *t, const char *type, bool activity)
{
    hf_mem *mem = t->api->mem;
    hf_value known = known_find(t, type, activity);
    hf_value contract = hf_get(known, "contract");
    hf_value workers = workers_of(t, type, activity);

    return hf_value_merge(
        mem,
        hf_json_(mem,
                 "{'type': %s, 'kind': %s, 'here': %p, 'queues': %p, 'builds': %p, 'workers': "
                 "%zu, 'signals': %p, 'updates': %p, 'queries': %p}",
                 type, activity ? "activity" : hf_str(known, "kind", "workflow"),
                 (const void *)hf_value_bool(hf_bool(known, "here", false)),
                 (const void *)hf_queue_texts(mem, workers, "task_queue"),
                 (const void *)hf_queue_texts(mem, workers, "build_id"), hf_len(workers),
                 (const void *)names_of(mem, contract, "signals"),
                 (const void *)names_of(mem, contract, "updates"),
                 (const void *)names_of(mem, contract, "queries")),
        numbers_show(t, type, activity));
}

static void name_add(hf_mem *mem, hf_value_list *names, hf_value name)
{
    hf_value_append(names, hf_json_(mem, "{'t': %p}", (const void *)name));
}

/* The types of the namespace, each once. */
static hf_value names_all(const type_look *t, bool activity)
{
    hf_mem *mem = t->api->mem;
    hf_value_list *names = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(t->known); i++) {
        hf_value one = hf_at(t->known, i);

        if (hf_bool(one, "here", false) &&
            (strcmp(hf_str(one, "kind", ""), "activity") == 0) == activity)
            name_add(mem, names, hf_get(one, "type"));
    }
    for (size_t i = 0; i < hf_len(t->workers); i++) {
        hf_value types = hf_get(hf_at(t->workers, i),
                                activity ? "supported_activity_types" : "supported_workflow_types");

        for (size_t k = 0; k < hf_len(types); k++)
            name_add(mem, names, hf_at(types, k));
    }
    for (size_t i = 0; !activity && i < BUCKETS; i++) {
        hf_value values = hf_get(t->counts[i], "values");

        for (size_t k = 0; k < hf_len(values); k++)
            name_add(mem, names, hf_get(hf_at(values, k), "value"));
    }
    return hf_queue_texts(mem, hf_value_finish(names), "t");
}

void hf_api_console_types(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    type_look t;

    if (!look(api, &t))
        return;
    for (int activity = 0; activity < 2; activity++) {
        hf_value names = names_all(&t, activity);

        for (size_t i = 0; i < hf_len(names); i++)
            hf_value_append(list, type_show(&t, hf_str(hf_at(names, i), "", ""), activity));
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'types': %p, 'exact': %p}", api->namespace,
                         (const void *)hf_value_finish(list),
                         (const void *)hf_value_bool(t.exact)));
}

/* The newest runs of a type; NULL: answered already. */
static hf_value recent_runs(hf_api *api, const char *type)
{
    hf_value_list *rows = hf_value_array(api->mem);
    hf_value page = NULL;
    hf_value items;

    if (engine_failed(
            api, hf_list_runs(api->server->engine,
                              hf_json_(api->mem, "{'filters': {'workflow_type': %s}, 'limit': %d}",
                                       type, (int)RECENT),
                              api->mem, &page)))
        return NULL;
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(rows, hf_shape_run(api->mem, hf_at(items, i), api->namespace));
    return hf_value_finish(rows);
}

/* Who says what can be told to a run of the type. */
static const char *source_of(hf_value known, hf_value workers)
{
    if (hf_bool(known, "here", false))
        return "program";
    if (hf_len(workers))
        return "worker";
    return known ? "recorded" : NULL;
}

void hf_api_console_type(hf_api *api)
{
    const char *type = hf_api_param(api, 0);
    hf_value workers;
    hf_value recent;
    hf_value known;
    hf_value contract;
    bool activity;
    type_look t;

    if (!look(api, &t))
        return;
    activity = !has_runs(&t, type) && !known_find(&t, type, false) &&
               (known_find(&t, type, true) || hf_len(workers_of(&t, type, true)));
    workers = workers_of(&t, type, activity);
    known = known_find(&t, type, activity);
    if (!has_runs(&t, type) && !hf_bool(known, "here", false) && !hf_len(workers)) {
        hf_api_error(api, 404, "type_not_found", "There is no such type in this namespace.");
        return;
    }
    recent = recent_runs(api, type);
    if (!recent)
        return;
    contract = hf_get(known, "contract");
    hf_api_json(
        api, 200,
        hf_json_(api->mem,
                 "{'namespace': %s, 'type': %s, 'kind': %s, 'contract': %p, 'contract_source': "
                 "%s, 'builds': %p, 'workers': %p, 'statistics': {'open': %lld, 'completed': %lld, "
                 "'failed': %lld, 'cancelled': %lld, 'terminated': %lld, 'exact': %p}, 'recent': "
                 "%p}",
                 api->namespace, type, activity ? "activity" : hf_str(known, "kind", "workflow"),
                 (const void *)(contract ? contract : hf_value_null()), source_of(known, workers),
                 (const void *)hf_queue_texts(api->mem, workers, "build_id"), (const void *)workers,
                 (long long)count_of(&t, 0, type), (long long)count_of(&t, 1, type),
                 (long long)count_of(&t, 2, type), (long long)count_of(&t, 3, type),
                 (long long)count_of(&t, 4, type), (const void *)hf_value_bool(t.exact),
                 (const void *)recent));
}
