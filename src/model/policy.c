/* policy.c: see policy.h. Reading is strict about kinds and generous about absent keys: absent
 * means none. */
#include "model/policy.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"

/* A duration under `name` in whole seconds, rounded up, and under name_ms when that is not exact.
 */
static void duration_set(hf_mem *mem, hf_value_list *object, const char *name, int64_t ms)
{
    const char *exact = hf_mem_format(mem, "%s_ms", name);

    if (ms == 0 || !exact)
        return;
    hf_value_set(object, hf_slice_of(name), hf_value_int(mem, (ms + 999) / 1000));
    if (ms % 1000)
        hf_value_set(object, hf_slice_of(exact), hf_value_int(mem, ms));
}

static int64_t duration_get(hf_mem *mem, hf_value object, const char *name)
{
    const char *exact = hf_mem_format(mem, "%s_ms", name);
    int64_t ms = exact ? hf_int(object, exact, 0) : 0;

    return ms ? ms : hf_int(object, name, 0) * 1000;
}

static hf_value numbers(hf_mem *mem, const int64_t *ms, size_t count, int64_t unit)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < count; i++)
        hf_value_append(list, hf_value_int(mem, (ms[i] + unit - 1) / unit));
    return hf_value_finish(list);
}

static bool backoff_is_whole(const hf_retry_policy *policy)
{
    for (size_t i = 0; i < policy->backoff_count; i++)
        if (policy->backoff_ms[i] % 1000)
            return false;
    return true;
}

hf_status hf_policy_write(hf_mem *mem, const hf_retry_policy *policy, hf_slice *out_json,
                          hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_value_list *types = hf_value_array(mem);
    hf_buf text = {0};
    hf_value value;

    hf_value_set(object, HF_SLICE("snapshot_version"),
                 hf_value_int(mem, HF_RETRY_SNAPSHOT_VERSION));
    hf_value_set(object, HF_SLICE("max_attempts"),
                 policy->max_attempts ? hf_value_int(mem, policy->max_attempts) : hf_value_null());
    if (policy->backoff_count) {
        hf_value_set(object, HF_SLICE("backoff_seconds"),
                     numbers(mem, policy->backoff_ms, policy->backoff_count, 1000));
        if (!backoff_is_whole(policy))
            hf_value_set(object, HF_SLICE("backoff_ms"),
                         numbers(mem, policy->backoff_ms, policy->backoff_count, 1));
    }
    duration_set(mem, object, "start_to_close_timeout", policy->start_to_close_ms);
    duration_set(mem, object, "schedule_to_start_timeout", policy->schedule_to_start_ms);
    duration_set(mem, object, "schedule_to_close_timeout", policy->schedule_to_close_ms);
    duration_set(mem, object, "heartbeat_timeout", policy->heartbeat_ms);
    for (size_t i = 0; i < policy->final_type_count; i++)
        hf_value_append(types, hf_value_string(mem, policy->final_types[i]));
    if (policy->final_type_count)
        hf_value_set(object, HF_SLICE("non_retryable_error_types"), hf_value_finish(types));
    value = hf_value_finish(object);
    if (value)
        hf_json_write_canonical(&text, value);
    *out_json = (hf_slice){0};
    if (value && hf_buf_ok(&text))
        *out_json = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    return out_json->ptr ? HF_OK : hf_err_nomem(err, "a retry policy");
}

static hf_status backoff_read(hf_mem *mem, hf_value object, hf_retry_policy *policy, hf_err *err)
{
    hf_value list = hf_get(object, "backoff_ms");
    int64_t unit = list ? 1 : 1000;
    int64_t *ms;

    if (!list)
        list = hf_get(object, "backoff_seconds");
    if (!list)
        return HF_OK;
    ms = hf_mem_array(mem, hf_len(list), sizeof(*ms));
    if (!ms)
        return hf_err_nomem(err, "a retry policy");
    for (size_t i = 0; i < hf_len(list); i++)
        ms[i] = hf_int(hf_at(list, i), "", 0) * unit;
    policy->backoff_ms = hf_len(list) ? ms : NULL;
    policy->backoff_count = hf_len(list);
    return HF_OK;
}

static hf_status types_read(hf_mem *mem, hf_value object, hf_retry_policy *policy, hf_err *err)
{
    hf_value list = hf_get(object, "non_retryable_error_types");
    hf_slice *types = hf_mem_array(mem, hf_len(list), sizeof(*types));

    if (!types)
        return hf_err_nomem(err, "a retry policy");
    for (size_t i = 0; i < hf_len(list); i++)
        types[i] = hf_value_slice(hf_at(list, i));
    policy->final_types = types;
    policy->final_type_count = hf_len(list);
    return HF_OK;
}

hf_status hf_policy_read(hf_mem *mem, hf_slice json, hf_retry_policy *out_policy, hf_err *err)
{
    hf_value object = NULL;
    hf_status st;

    *out_policy = hf_retry_default();
    if (json.len == 0)
        return HF_OK;
    st = hf_json_read(mem, json, NULL, &object, err);
    if (!st && hf_value_kind_of(object) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_CORRUPT, "a retry policy is not an object");
    if (!st && hf_int(object, "snapshot_version", 0) != HF_RETRY_SNAPSHOT_VERSION)
        st = hf_err_set(err, HF_CORRUPT, "a retry policy has an unknown snapshot version");
    if (st)
        return st;
    out_policy->max_attempts = hf_int(object, "max_attempts", 0);
    out_policy->start_to_close_ms = duration_get(mem, object, "start_to_close_timeout");
    out_policy->schedule_to_start_ms = duration_get(mem, object, "schedule_to_start_timeout");
    out_policy->schedule_to_close_ms = duration_get(mem, object, "schedule_to_close_timeout");
    out_policy->heartbeat_ms = duration_get(mem, object, "heartbeat_timeout");
    st = backoff_read(mem, object, out_policy, err);
    if (!st)
        st = types_read(mem, object, out_policy, err);
    return st ? st : hf_retry_check(out_policy, err);
}
