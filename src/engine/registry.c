/* registry.c: see registry.h. A snapshot row is one canonical JSON object; its format is written
   and read here only.
   {"params": entries, "queries": {"contracts": [...], "names": [...]}, "signals": {...}, "updates":
   {...}} */
#include "engine/registry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "base/value.h"

enum { TYPES_MAX = 16 };

struct hf_registry {
    hf_mem *mem;
    hf_map *workflows;  /* type or alias to hf_registry_workflow */
    hf_map *activities; /* name to hf_registry_activity */
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

static hf_status activity_put(hf_registry *registry, const hf_activity_def *def, hf_err *err)
{
    hf_registry_activity *activity = hf_mem_alloc(registry->mem, sizeof(*activity));
    hf_slice rest = hf_slice_of(def->no_retry_on);
    hf_slice type;

    if (!activity)
        return hf_err_nomem(err, "an activity definition");
    activity->definition = def;
    activity->policy = hf_retry_default();
    if (def->max_attempts)
        activity->policy.max_attempts = def->max_attempts < 0 ? 0 : def->max_attempts;
    activity->policy.start_to_close_ms = def->start_to_close;
    activity->policy.heartbeat_ms = def->heartbeat;
    if (rest.len) {
        hf_slice *types = hf_mem_array(registry->mem, TYPES_MAX, sizeof(*types));

        if (!types)
            return hf_err_nomem(err, "an activity definition");
        while (activity->policy.final_type_count < TYPES_MAX && hf_slice_split(&rest, ',', &type))
            if (hf_slice_trim(type).len)
                types[activity->policy.final_type_count++] = hf_slice_trim(type);
        activity->policy.final_types = types;
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
    st = registry->mem && registry->workflows && registry->activities
             ? HF_OK
             : hf_err_nomem(err, "the registry");
    if (!st && app)
        st = hf_app_check(app, err);
    for (const hf_workflow_def *def = app ? app->workflows : NULL; !st && def && def->type; def++)
        st = workflow_put(registry, def, err);
    for (const hf_activity_def *def = app ? app->activities : NULL; !st && def && def->name; def++)
        st = activity_put(registry, def, err);
    if (st)
        hf_registry_free(registry);
    else
        *out_registry = registry;
    return st;
}

void hf_registry_free(hf_registry *registry)
{
    if (!registry)
        return;
    hf_map_free(registry->workflows);
    hf_map_free(registry->activities);
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

static void targets_write(hf_buf *body, const char *name, hf_definition_targets targets)
{
    hf_buf_add_format(body, ",\"%s\":{\"contracts\":", name);
    hf_buf_add_slice(body, targets.contracts);
    hf_buf_add_text(body, ",\"names\":");
    hf_buf_add_slice(body, targets.names);
    hf_buf_add_text(body, "}");
}

static hf_status row_make(hf_db *db, hf_registry_workflow *workflow, hf_err *err)
{
    const hf_definition_snapshot *snapshot = &workflow->snapshot;
    const hf_db_value one[] = {hf_db_text(HF_SLICE("key")), hf_db_int(1)};
    hf_db_value row[4];
    hf_db_value fingerprint = hf_db_text(hf_slice_of(snapshot->fingerprint));
    hf_buf body = {0};
    bool found = false;
    hf_status st =
        hf_db_number(db, HF_STMT_DEFINITION_GET, &fingerprint, 1, &found, &workflow->key, err);

    if (st || found)
        return st;
    hf_buf_add_text(&body, "{\"params\":");
    hf_buf_add_slice(&body, snapshot->params);
    targets_write(&body, "queries", snapshot->queries);
    targets_write(&body, "signals", snapshot->signals);
    targets_write(&body, "updates", snapshot->updates);
    hf_buf_add_text(&body, "}");
    if (!hf_buf_ok(&body))
        st = hf_err_nomem(err, "a definition");
    row[0] = hf_db_int(0);
    if (!st)
        st = hf_db_number(db, HF_STMT_COUNTER_TAKE, one, 2, &found, &row[0].number, err);
    row[1] = fingerprint;
    row[2] = hf_db_text(hf_slice_of(workflow->definition->type));
    row[3] = hf_db_blob(hf_buf_slice(&body));
    if (!st)
        st = hf_db_number(db, HF_STMT_DEFINITION_NEW, row, 4, &found, &workflow->key, err);
    if (!st && !found) /* another node was faster */
        st = hf_db_number(db, HF_STMT_DEFINITION_GET, &fingerprint, 1, &found, &workflow->key, err);
    hf_buf_fini(&body);
    return hf_err_because(err, st, "record the definition of %s", workflow->definition->type);
}

hf_status hf_registry_store(hf_registry *registry, hf_db *db, hf_err *err)
{
    hf_status st = HF_OK;
    size_t at = 0;
    hf_slice type;
    void *workflow;

    while (!st && hf_map_next(registry->workflows, &at, &type, &workflow))
        if (((hf_registry_workflow *)workflow)->key == INT64_MIN)
            st = row_make(db, workflow, err);
    return st;
}

static hf_status slice_write(hf_mem *mem, hf_value value, hf_slice *out_json, hf_err *err)
{
    hf_buf text = {0};

    hf_json_write_canonical(&text, value ? value : hf_value_null());
    *out_json = (hf_slice){0};
    if (hf_buf_ok(&text))
        *out_json = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    return out_json->ptr ? HF_OK : hf_err_nomem(err, "a definition");
}

static hf_status targets_read(hf_mem *mem, hf_value body, const char *name,
                              hf_definition_targets *out, hf_err *err)
{
    hf_value targets = hf_get(body, name);
    hf_status st = slice_write(mem, hf_get(targets, "names"), &out->names, err);

    return st ? st : slice_write(mem, hf_get(targets, "contracts"), &out->contracts, err);
}

hf_status hf_registry_read(hf_db *db, hf_mem *mem, int64_t key,
                           hf_definition_snapshot *out_snapshot, hf_err *err)
{
    const hf_db_value param = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    hf_value body = NULL;
    bool found = false;
    hf_slice fingerprint;
    hf_status st = hf_db_query(db, HF_STMT_DEFINITION_READ, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no definition with key %lld", (long long)key);
    if (!st)
        st = hf_json_read(mem, hf_db_column_bytes(cursor, 2), NULL, &body, err);
    if (!st) {
        fingerprint = hf_db_column_bytes(cursor, 0);
        if (fingerprint.len >= sizeof(out_snapshot->fingerprint))
            st = hf_err_set(err, HF_CORRUPT, "the fingerprint of a definition is too long");
        else
            memcpy(out_snapshot->fingerprint, fingerprint.ptr, fingerprint.len);
        out_snapshot->fingerprint[st ? 0 : fingerprint.len] = '\0';
    }
    hf_db_end(cursor);
    if (!st)
        st = slice_write(mem, hf_get(body, "params"), &out_snapshot->params, err);
    if (!st)
        st = targets_read(mem, body, "signals", &out_snapshot->signals, err);
    if (!st)
        st = targets_read(mem, body, "updates", &out_snapshot->updates, err);
    if (!st)
        st = targets_read(mem, body, "queries", &out_snapshot->queries, err);
    return st;
}
