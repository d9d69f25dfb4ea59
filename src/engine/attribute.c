/* attribute.c: which search attributes a namespace knows, and of which type. A definition is for
   people and for those who build forms, and bounds the length of keywords: what runs carry is
   checked when they carry it. */
#include <string.h>

#include "base/value.h"
#include "engine/call.h"
#include "engine/remote.h"
#include "holdfast/host.h"
#include "model/limit.h"
#include "model/name.h"
#include "model/vocab.h"
#include "store/stmt.h"

/* Fields of every run, by the names that queries use. */
static const struct {
    const char *name;
    const char *type;
} system_attributes[] = {{"WorkflowId", "keyword"},    {"RunId", "keyword"},
                         {"WorkflowType", "keyword"},  {"Status", "keyword"},
                         {"TaskQueue", "keyword"},     {"BusinessKey", "keyword"},
                         {"StartTime", "datetime"},    {"CloseTime", "datetime"},
                         {"Compatibility", "keyword"}, {"Namespace", "keyword"}};

static bool is_system(const char *name)
{
    for (size_t i = 0; i < sizeof(system_attributes) / sizeof(system_attributes[0]); i++)
        if (strcmp(system_attributes[i].name, name) == 0)
            return true;
    return false;
}

static hf_value attribute_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *object = hf_value_object(mem);
    hf_search_attribute_type type = (hf_search_attribute_type)hf_db_column_int(row, 1);

    (void)ctx;
    hf_value_set(object, HF_SLICE("name"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(object, HF_SLICE("type"),
                 hf_value_string(mem, hf_slice_of(hf_search_attribute_type_text(type))));
    return hf_value_finish(object);
}

static hf_status attributes_read(hf_call *c, hf_mem *mem, hf_value *out)
{
    const hf_db_value param = hf_db_int(c->in.namespace_key);

    return hf_call_rows(c, HF_STMT_ATTRIBUTE_DEF_LIST, &param, 1, mem, attribute_value, NULL, out);
}

hf_status hf_attributes(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_value_list *fixed;
    hf_value_list *custom;
    hf_value rows = NULL;
    engine_slot *slot;
    hf_call c;
    hf_status st;

    if (out && hf_call_remote(engine, &slot))
        return slot ? hf_remote_attributes(engine->remote, mem, out, &slot->err) : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (!st && !out)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "a place for the answer is needed");
    if (!st)
        st = attributes_read(&c, mem, &rows);
    if (st)
        return st;
    fixed = hf_value_object(mem);
    custom = hf_value_object(mem);
    for (size_t i = 0; i < sizeof(system_attributes) / sizeof(system_attributes[0]); i++)
        hf_value_set(fixed, hf_slice_of(system_attributes[i].name),
                     hf_value_string(mem, hf_slice_of(system_attributes[i].type)));
    for (size_t i = 0; i < hf_len(rows); i++)
        hf_value_set(custom, hf_value_slice(hf_get(hf_at(rows, i), "name")),
                     hf_get(hf_at(rows, i), "type"));
    *out = hf_json_(mem, "{'system_attributes': %p, 'custom_attributes': %p}",
                    (const void *)hf_value_finish(fixed), (const void *)hf_value_finish(custom));
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "search attributes");
}

hf_status hf_attribute_create(hf_engine *engine, const char *name, const char *type)
{
    hf_search_attribute_type number;
    hf_value rows = NULL;
    bool applied = false;
    engine_slot *slot;
    hf_err *err;
    hf_call c;
    hf_status st;

    if (name && type && hf_call_remote(engine, &slot))
        return slot ? hf_remote_attribute_create(engine->remote, name, type, slot->mem, &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    err = &c.slot->err;
    if (!name || !type)
        return hf_err_set(err, HF_MISUSE, "a search attribute has a name and a type");
    st = hf_name_check(HF_NAME_SEARCH_ATTRIBUTE_KEY, hf_slice_of(name), err);
    if (st)
        return st;
    if (is_system(name))
        return hf_err_set(err, HF_DENIED, "name_reserved: %s is a field of every run", name);
    if (!hf_search_attribute_type_parse(hf_slice_of(type), &number))
        return hf_err_set(err, HF_INVALID, "there is no search attribute type %s", type);
    hf_mem_reset(c.slot->scratch);
    st = attributes_read(&c, c.slot->scratch, &rows);
    if (!st && (int64_t)hf_len(rows) >= hf_limit_get(HF_LIMIT_SEARCH_ATTRIBUTE_KEYS)->standard)
        st = hf_err_set(err, HF_TOOBIG, "search_attribute_limit_reached: there are %zu already",
                        hf_len(rows));
    if (!st) {
        const hf_db_value cells[] = {hf_db_int(c.in.namespace_key), hf_db_text(hf_slice_of(name)),
                                     hf_db_int(number), hf_db_int(c.in.now_us)};

        st = hf_call_row(&c, HF_OP_ATTRIBUTE_DEF_NEW, cells, 4, &applied, err);
    }
    if (!st && !applied)
        st = hf_err_set(err, HF_EXISTS, "the search attribute %s exists already", name);
    return st;
}

hf_status hf_attribute_delete(hf_engine *engine, const char *name)
{
    bool applied = false;
    engine_slot *slot;
    hf_call c;
    hf_status st;

    if (name && hf_call_remote(engine, &slot))
        return slot ? hf_remote_attribute_delete(engine->remote, name, slot->mem, &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    if (!name)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a search attribute has a name");
    if (is_system(name))
        return hf_err_set(&c.slot->err, HF_DENIED, "system_attribute: %s is a field of every run",
                          name);
    {
        const hf_db_value cells[] = {hf_db_int(c.in.namespace_key), hf_db_text(hf_slice_of(name))};

        st = hf_call_row(&c, HF_OP_ATTRIBUTE_DEF_DELETE, cells, 2, &applied, &c.slot->err);
    }
    if (!st && !applied)
        st = hf_err_set(&c.slot->err, HF_NOTFOUND, "there is no search attribute %s", name);
    return st;
}
