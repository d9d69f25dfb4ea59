/* type_show.c: which types there are: what this program registers, and what the store knows of
   definitions that others recorded, the newest of each type. Definitions belong to no namespace:
   who shows them to somebody leaves out what that one does not know otherwise. */
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "store/stmt.h"

enum { TYPES_MAX = 1000 };

/* [{"name", "parameters": entries, null when undeclared}] of one kind of target. */
static hf_value targets_value(hf_mem *mem, hf_value targets)
{
    hf_value names = hf_get(targets, "names");
    hf_value contracts = hf_get(targets, "contracts");
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(names); i++) {
        hf_slice name = hf_value_slice(hf_at(names, i));
        hf_value parameters = hf_value_null();
        hf_value_list *target = hf_value_object(mem);

        for (size_t k = 0; k < hf_len(contracts); k++)
            if (hf_slice_equal(hf_value_slice(hf_get(hf_at(contracts, k), "name")), name))
                parameters = hf_get(hf_at(contracts, k), "parameters");
        hf_value_set(target, HF_SLICE("name"), hf_value_string(mem, name));
        hf_value_set(target, HF_SLICE("parameters"), parameters);
        hf_value_append(list, hf_value_finish(target));
    }
    return hf_value_finish(list);
}

static hf_value type_value(hf_mem *mem, hf_slice type, const char *kind, bool here)
{
    return hf_json_(mem, "{'type': %s, 'kind': %s, 'here': %p}", hf_mem_text(mem, type), kind,
                    (const void *)hf_value_bool(here));
}

static hf_value definition_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    const hf_engine *engine = ctx;
    hf_slice type = hf_db_column_bytes(row, 0);
    const hf_registry_workflow *own = hf_registry_find_workflow(engine->registry, type);
    hf_value body = NULL;
    hf_err err;

    if (hf_json_read(mem, hf_db_column_bytes(row, 2), NULL, &body, &err))
        body = hf_value_null();
    return hf_value_merge(
        mem,
        type_value(mem, type, hf_bool(body, "machine", false) ? "machine" : "workflow",
                   own != NULL),
        hf_json_(mem,
                 "{'fingerprint': %s, 'contract': {'parameters': %p, 'signals': %p, 'updates': %p, "
                 "'queries': %p}}",
                 hf_mem_text(mem, hf_db_column_bytes(row, 1)), (const void *)hf_get(body, "params"),
                 (const void *)targets_value(mem, hf_get(body, "signals")),
                 (const void *)targets_value(mem, hf_get(body, "updates")),
                 (const void *)targets_value(mem, hf_get(body, "queries"))));
}

hf_status hf_types(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    const hf_db_value most = hf_db_int(TYPES_MAX);
    hf_value_list *list;
    hf_value recorded = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_call_rows(&c, HF_STMT_DEFINITION_LIST, &most, 1, mem, definition_value, engine,
                      &recorded);
    if (st)
        return st;
    list = hf_value_array(mem);
    for (size_t i = 0; i < hf_len(recorded); i++)
        hf_value_append(list, hf_at(recorded, i));
    for (const hf_activity_def *at = engine->app ? engine->app->activities : NULL; at && at->name;
         at++)
        hf_value_append(list, type_value(mem, hf_slice_of(at->name), "activity", true));
    *out = hf_value_finish(list);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "types");
}
