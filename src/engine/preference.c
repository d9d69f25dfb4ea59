/* preference.c: small values that pages keep for whoever uses them. */
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "project/edge.h"
#include "store/stmt.h"

enum {
    VALUE_BYTES_MAX = 16 * 1024,
    SURFACES_MAX = 32,
    SURFACE_BYTES_MAX = 64,
    WHO_BYTES_MAX = 255
};

static hf_status names_check(const char *principal, const char *surface, hf_err *err)
{
    hf_slice name = hf_slice_of(surface);
    bool good = name.len >= 1 && name.len <= SURFACE_BYTES_MAX;

    for (size_t i = 0; good && i < name.len; i++)
        good = (name.ptr[i] >= 'a' && name.ptr[i] <= 'z') ||
               (name.ptr[i] >= '0' && name.ptr[i] <= '9') || name.ptr[i] == '.' ||
               name.ptr[i] == '_' || name.ptr[i] == '-';
    if (!good)
        return hf_err_set(err, HF_INVALID, "a surface is 1 to %d of a-z, 0-9, '.', '_' and '-'",
                          SURFACE_BYTES_MAX);
    if (!principal || !*principal || hf_slice_of(principal).len > WHO_BYTES_MAX)
        return hf_err_set(err, HF_INVALID, "whose preference it is has 1 to %d bytes",
                          WHO_BYTES_MAX);
    return HF_OK;
}

static hf_value preference_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value value = NULL;
    hf_err err;

    if (hf_edge_json(mem, hf_db_column_bytes(row, 0), &value, &err))
        value = hf_value_null();
    return hf_json_(mem, "{'surface': %s, 'value': %p, 'updated_at': %p}", (const char *)ctx,
                    (const void *)value, (const void *)hf_edge_time(mem, hf_db_column_int(row, 1)));
}

hf_status hf_preference(hf_engine *engine, const char *principal, const char *surface, hf_mem *mem,
                        hf_value *out)
{
    hf_db_value params[2];
    hf_value rows = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = names_check(principal, surface, &c.slot->err);
    if (st)
        return st;
    params[0] = hf_db_text(hf_slice_of(principal));
    params[1] = hf_db_text(hf_slice_of(surface));
    st = hf_call_rows(&c, HF_STMT_PREFERENCE_GET, params, 2, mem, preference_value,
                      (void *)(uintptr_t)surface, &rows);
    if (st)
        return st;
    *out = hf_len(rows)
               ? hf_at(rows, 0)
               : hf_json_(mem, "{'surface': %s, 'value': null, 'updated_at': null}", surface);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "a preference");
}

static hf_status value_put(hf_call *c, const char *principal, const char *surface, hf_value value)
{
    hf_buf body = {0};
    bool applied = false;
    hf_status st = HF_OK;

    hf_json_write(&body, value);
    if (!hf_buf_ok(&body))
        st = hf_err_nomem(&c->slot->err, "a preference");
    else if (body.len > VALUE_BYTES_MAX)
        st = hf_err_set(&c->slot->err, HF_TOOBIG, "a preference has at most %d bytes",
                        VALUE_BYTES_MAX);
    if (!st) {
        const hf_db_value cells[] = {
            hf_db_text(hf_slice_of(principal)), hf_db_text(hf_slice_of(surface)),
            hf_db_text(hf_buf_slice(&body)), hf_db_int(c->in.now_us), hf_db_int(SURFACES_MAX)};

        st = hf_call_row(c, HF_OP_PREFERENCE_PUT, cells, 5, &applied, &c->slot->err);
    }
    hf_buf_fini(&body);
    if (!st && !applied)
        st =
            hf_err_set(&c->slot->err, HF_EXISTS, "nobody keeps more than %d of them", SURFACES_MAX);
    return st;
}

hf_status hf_preference_put(hf_engine *engine, const char *principal, const char *surface,
                            hf_value value)
{
    bool applied;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = names_check(principal, surface, &c.slot->err);
    if (st)
        return st;
    if (value && hf_value_kind_of(value) != HF_VALUE_NULL)
        return value_put(&c, principal, surface, value);
    {
        const hf_db_value cells[] = {hf_db_text(hf_slice_of(principal)),
                                     hf_db_text(hf_slice_of(surface))};

        return hf_call_row(&c, HF_OP_PREFERENCE_DROP, cells, 2, &applied, &c.slot->err);
    }
}
