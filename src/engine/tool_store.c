/* tool_store.c: see tool_store.h. */
#include "engine/tool_store.h"

void hf_tool_store_close(hf_tool_store *tool)
{
    hf_db_close(tool->db);
    hf_store_close(tool->store);
    *tool = (hf_tool_store){0};
}

hf_status hf_tool_store_open(hf_tool_store *tool, const char *address, const char *schema,
                             const char *namespace_name, hf_err *err)
{
    const hf_store_options reader = {
        .size = sizeof(reader), .role = HF_STORE_READER, .schema = schema};
    hf_status st;

    *tool = (hf_tool_store){0};
    st = hf_store_open(address, &reader, &tool->store, err);
    if (!st)
        st = hf_store_connect(tool->store, HF_DB_READ, &tool->db, err);
    if (!st)
        st = hf_namespace_get(tool->db, hf_slice_of(namespace_name ? namespace_name : "default"),
                              &tool->namespace_key, err);
    if (st)
        hf_tool_store_close(tool);
    return st;
}

hf_status hf_tool_name_split(hf_mem *mem, const char *name, const char **out_id,
                             int64_t *out_number, hf_err *err)
{
    hf_slice rest = hf_slice_of(name);
    hf_slice id;

    *out_number = 0;
    if (!hf_slice_split(&rest, '#', &id))
        return hf_err_set(err, HF_INVALID, "an instance id is needed");
    *out_id = hf_mem_text(mem, id);
    if (!*out_id)
        return hf_err_nomem(err, "an id");
    if (id.len < hf_slice_of(name).len && (!hf_slice_int(rest, out_number) || *out_number < 1))
        return hf_err_set(err, HF_INVALID, "after # comes the number of a run, from 1");
    return HF_OK;
}

hf_status hf_tool_run_pick(hf_db *db, const hf_intake_target *target, int64_t number,
                           int64_t *out_run, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(target->base.instance), hf_db_int(number)};
    bool found = true;
    hf_status st = HF_OK;

    *out_run = target->base.run;
    if (number)
        st = hf_db_number(db, HF_STMT_RUN_NUMBERED, params, 2, &found, out_run, err);
    return st || found
               ? st
               : hf_err_set(err, HF_NOTFOUND, "%.*s has no run %lld", (int)target->instance.id.len,
                            target->instance.id.ptr, (long long)number);
}
