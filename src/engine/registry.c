/* registry.c: see registry.h. */
#include "engine/registry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "engine/limit_table.h"
#include "model/contract.h"
#include "model/name.h"
#include "store/snapshot.h"

struct hf_registry {
    hf_mem *mem;
    hf_map *workflows;  /* type or alias to hf_registry_workflow */
    hf_map *activities; /* name to hf_registry_activity */
    hf_map *limits;     /* name to hf_limit_def, with its burst filled in */
    hf_limit_table *far_limits;
};

static hf_status alias_put(hf_registry *registry, const char *aliases,
                           hf_registry_workflow *workflow, hf_err *err)
{
    hf_slice rest = hf_slice_of(aliases);
    hf_slice alias;
    hf_status st = HF_OK;

    while (!st && hf_slice_split(&rest, ',', &alias)) {
        alias = hf_slice_trim(alias);
        if (alias.len)
            st = hf_map_put(registry->workflows, alias, workflow, NULL, err);
    }
    return st;
}

static hf_status workflow_put(hf_registry *registry, const hf_workflow_def *def, hf_err *err)
{
    hf_registry_workflow *workflow = hf_mem_alloc(registry->mem, sizeof(*workflow));
    hf_status st;

    if (!workflow)
        return hf_err_nomem(err, "a definition");
    workflow->definition = def;
    workflow->key = INT64_MIN;
    st = hf_definition_snap(def, registry->mem, &workflow->snapshot, err);
    if (!st)
        st = hf_map_put(registry->workflows, hf_slice_of(def->type), workflow, NULL, err);
    return st ? st : alias_put(registry, def->aliases, workflow, err);
}

/* A machine is found like a workflow: commands, children and contracts do not tell them apart. */
static hf_status machine_put(hf_registry *registry, const hf_machine_def *def, hf_err *err)
{
    hf_registry_workflow *workflow = hf_mem_alloc(registry->mem, sizeof(*workflow));
    hf_workflow_def *same = hf_mem_alloc(registry->mem, sizeof(*same));
    hf_status st;

    if (!workflow || !same)
        return hf_err_nomem(err, "a definition");
    *same = (hf_workflow_def){
        .type = def->type, .params = def->params, .doc = def->doc, .signals = def->signals};
    workflow->definition = same;
    workflow->machine = def;
    workflow->key = INT64_MIN;
    st = hf_definition_snap_machine(def, registry->mem, &workflow->snapshot, err);
    return st ? st : hf_map_put(registry->workflows, hf_slice_of(def->type), workflow, NULL, err);
}

static hf_status limit_put(hf_registry *registry, const hf_limit_def *def, hf_err *err)
{
    hf_limit_def *limit = hf_mem_alloc(registry->mem, sizeof(*limit));

    if (!limit)
        return hf_err_nomem(err, "a limit");
    *limit = *def;
    if (!limit->burst)
        limit->burst = limit->allowed;
    return hf_map_put(registry->limits, hf_slice_of(def->name), limit, NULL, err);
}

static hf_status activity_put(hf_registry *registry, const hf_activity_def *def, hf_err *err)
{
    hf_registry_activity *activity = hf_mem_alloc(registry->mem, sizeof(*activity));

    if (!activity)
        return hf_err_nomem(err, "an activity definition");
    activity->definition = def;
    activity->policy = hf_retry_default();
    if (def->max_attempts)
        activity->policy.max_attempts = def->max_attempts < 0 ? 0 : def->max_attempts;
    activity->policy.start_to_close_ms = def->start_to_close;
    activity->policy.heartbeat_ms = def->heartbeat;
    if (def->no_retry_on) {
        hf_status st =
            hf_retry_types(registry->mem, hf_slice_of(def->no_retry_on),
                           &activity->policy.final_types, &activity->policy.final_type_count, err);

        if (st)
            return hf_err_because(err, st, "activity %s: no_retry_on", def->name);
    }
    return hf_map_put(registry->activities, hf_slice_of(def->name), activity, NULL, err);
}

hf_status hf_registry_new(const hf_app *app, hf_registry **out_registry, hf_err *err)
{
    hf_registry *registry = hf_alloc(sizeof(*registry));
    hf_status st;

    if (!registry)
        return hf_err_nomem(err, "the registry");
    registry->mem = hf_mem_new();
    registry->workflows = hf_map_new((hf_map_seed){0});
    registry->activities = hf_map_new((hf_map_seed){0});
    registry->limits = hf_map_new((hf_map_seed){0});
    st = registry->mem && registry->workflows && registry->activities && registry->limits
             ? HF_OK
             : hf_err_nomem(err, "the registry");
    if (!st)
        st = hf_limit_table_open(&registry->far_limits, err);
    if (!st && app)
        st = hf_app_check(app, err);
    for (const hf_workflow_def *def = app ? app->workflows : NULL; !st && def && def->type; def++)
        st = workflow_put(registry, def, err);
    for (const hf_machine_def *def = app ? app->machines : NULL; !st && def && def->type; def++)
        st = machine_put(registry, def, err);
    for (const hf_limit_def *def = app ? app->limits : NULL; !st && def && def->name; def++)
        st = limit_put(registry, def, err);
    for (const hf_activity_def *def = app ? app->activities : NULL; !st && def && def->name; def++)
        st = activity_put(registry, def, err);
    if (st)
        hf_registry_free(registry);
    else
        *out_registry = registry;
    return st;
}

hf_status hf_registry_add(hf_registry *registry, const hf_workflow_def *def, hf_err *err)
{
    return hf_map_get(registry->workflows, hf_slice_of(def->type))
               ? HF_OK
               : workflow_put(registry, def, err);
}

void hf_registry_free(hf_registry *registry)
{
    if (!registry)
        return;
    hf_map_free(registry->workflows);
    hf_map_free(registry->activities);
    hf_map_free(registry->limits);
    hf_limit_table_close(registry->far_limits);
    hf_mem_free(registry->mem);
    hf_alloc_free(registry);
}

const hf_registry_workflow *hf_registry_find_workflow(const hf_registry *registry, hf_slice type)
{
    return hf_map_get(registry->workflows, type);
}

const hf_registry_activity *hf_registry_find_activity(const hf_registry *registry, hf_slice name)
{
    return hf_map_get(registry->activities, name);
}

bool hf_registry_find_limit(const hf_registry *registry, int64_t namespace_key, hf_slice key,
                            bool rate, hf_limit_def *out_limit)
{
    hf_slice rest = key;
    hf_slice name = key;
    const hf_limit_def *own;

    (void)hf_slice_split(&rest, ':', &name);
    own = hf_map_get(registry->limits, name);
    if (own)
        *out_limit = *own;
    return (own || hf_limit_table_get(registry->far_limits, namespace_key, name, out_limit)) &&
           (out_limit->allowed > 0) == rate;
}

hf_status hf_registry_limits(const hf_registry *registry, int64_t namespace_key, hf_mem *mem,
                             hf_slice **out_names, size_t *out_count, hf_err *err)
{
    size_t own = hf_map_count(registry->limits);
    hf_slice *far = NULL;
    size_t count = 0;
    size_t at = 0;
    hf_slice name;
    void *item;
    hf_status st =
        hf_limit_table_names(registry->far_limits, namespace_key, mem, &far, &count, err);

    if (st)
        return st;
    *out_count = 0;
    *out_names = hf_mem_array(mem, own + count + 1, sizeof(**out_names));
    if (!*out_names)
        return hf_err_nomem(err, "limits");
    while (hf_map_next(registry->limits, &at, &name, &item))
        (*out_names)[(*out_count)++] = name;
    for (size_t i = 0; i < count; i++)
        if (!hf_map_get(registry->limits, far[i]))
            (*out_names)[(*out_count)++] = far[i];
    return HF_OK;
}

hf_status hf_registry_declare_limit(const hf_registry *registry, int64_t namespace_key,
                                    const hf_limit_def *def, int64_t at_us, hf_err *err)
{
    hf_limit_def limit = *def;
    hf_status st = hf_limit_check(def, err);

    if (st || hf_map_get(registry->limits, hf_slice_of(def->name)))
        return st;
    if (!limit.burst)
        limit.burst = limit.allowed;
    return hf_limit_table_put(registry->far_limits, namespace_key, &limit, at_us, err);
}

hf_status hf_registry_check_limits(const hf_registry *registry, int64_t namespace_key,
                                   hf_slice concurrency_key, hf_slice rate_limit, int64_t weight,
                                   hf_err *err)
{
    hf_limit_def limit;
    hf_limit_def rate;
    bool rated = hf_registry_find_limit(registry, namespace_key, rate_limit, true, &rate);
    hf_status st = hf_name_check_text("concurrency key", concurrency_key, err);
    /* Also a rate limit's name alone: it was meant, and would be a key of its own. */
    bool named = concurrency_key.len &&
                 (memchr(concurrency_key.ptr, ':', concurrency_key.len) ||
                  hf_registry_find_limit(registry, namespace_key, concurrency_key, true, &limit));

    if (!st)
        st = hf_name_check_text("rate limit", rate_limit, err);
    if (st)
        return st;
    if (rate_limit.len && !rated)
        return hf_err_set(err, HF_INVALID, "no rate limit is declared for %.*s",
                          (int)rate_limit.len, rate_limit.ptr);
    if (rated && (weight < 1 || weight > rate.burst))
        return hf_err_set(err, HF_INVALID, "a weight of %lld never fits into the bucket %s",
                          (long long)weight, rate.name);
    if (named && !hf_registry_find_limit(registry, namespace_key, concurrency_key, false, &limit))
        return hf_err_set(err, HF_INVALID, "no concurrency limit is declared for %.*s",
                          (int)concurrency_key.len, concurrency_key.ptr);
    return HF_OK;
}

hf_status hf_registry_store(hf_registry *registry, hf_db *db, hf_err *err)
{
    hf_status st = HF_OK;
    size_t at = 0;
    hf_slice type;
    void *workflow;

    while (!st && hf_map_next(registry->workflows, &at, &type, &workflow))
        if (((hf_registry_workflow *)workflow)->key == INT64_MIN)
            st = hf_snapshot_make(db, ((hf_registry_workflow *)workflow)->definition->type,
                                  &((hf_registry_workflow *)workflow)->snapshot,
                                  &((hf_registry_workflow *)workflow)->key, err);
    return st;
}

const hf_definition_snapshot *hf_registry_snapshot(const void *registry, int64_t key)
{
    const hf_registry *mine = registry;
    size_t at = 0;
    hf_slice type;
    void *workflow;

    while (hf_map_next(mine->workflows, &at, &type, &workflow))
        if (((hf_registry_workflow *)workflow)->key == key)
            return &((hf_registry_workflow *)workflow)->snapshot;
    return NULL;
}

bool hf_registry_has(const hf_registry *registry, int64_t key)
{
    return hf_registry_snapshot(registry, key) != NULL;
}

hf_status hf_registry_define(const hf_registry *registry, hf_mem *mem, hf_intake_start *start,
                             hf_err *err)
{
    const hf_registry_workflow *workflow = hf_registry_find_workflow(registry, start->type);

    start->definition = HF_NONE;
    if (!workflow)
        return HF_OK;
    start->type = hf_slice_of(workflow->definition->type);
    start->definition = workflow->key;
    start->fingerprint = hf_slice_of(workflow->snapshot.fingerprint);
    if (!start->execution_timeout_us)
        start->execution_timeout_us = workflow->definition->execution_timeout * 1000;
    if (!start->run_timeout_us)
        start->run_timeout_us = workflow->definition->run_timeout * 1000;
    return hf_contract_parse(mem, workflow->definition->params, &start->params, err);
}
