/* retry.c: backoff arithmetic. No jitter here: a policy is a list the user wrote down, and the next
   attempt's time is recorded in history, so it must be the same for whoever computes it. */
#include "model/retry.h"

#include "base/assert.h"
#include "model/name.h"

static const int64_t retry_default_ms[] = {1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000};

static hf_status number_check(const char *name, int64_t number, int64_t most, hf_err *err)
{
    if (number < 0 || number > most)
        return hf_err_set(err, HF_INVALID, "retry policy: %s is %lld; allowed is 0 to %lld", name,
                          (long long)number, (long long)most);
    return HF_OK;
}

hf_retry_policy hf_retry_default(void)
{
    return (hf_retry_policy){.max_attempts = 1};
}

hf_status hf_retry_check(const hf_retry_policy *policy, hf_err *err)
{
    const struct {
        const char *name;
        int64_t number;
        int64_t most;
    } numbers[] = {
        {"max_attempts", policy->max_attempts, INT32_MAX},
        {"start_to_close_timeout", policy->start_to_close_ms, HF_RETRY_MS_MAX},
        {"schedule_to_start_timeout", policy->schedule_to_start_ms, HF_RETRY_MS_MAX},
        {"schedule_to_close_timeout", policy->schedule_to_close_ms, HF_RETRY_MS_MAX},
        {"heartbeat_timeout", policy->heartbeat_ms, HF_RETRY_MS_MAX},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        hf_status st = number_check(numbers[i].name, numbers[i].number, numbers[i].most, err);

        if (st)
            return st;
    }
    if (policy->backoff_count > HF_RETRY_BACKOFFS_MAX)
        return hf_err_set(err, HF_INVALID, "retry policy: %zu pauses; at most %d are allowed",
                          policy->backoff_count, HF_RETRY_BACKOFFS_MAX);
    if (policy->backoff_count && !policy->backoff_ms)
        return hf_err_set(err, HF_INVALID, "retry policy: %zu pauses are announced and none given",
                          policy->backoff_count);
    for (size_t i = 0; i < policy->backoff_count; i++) {
        hf_status st = number_check("a pause", policy->backoff_ms[i], HF_RETRY_MS_MAX, err);

        if (st)
            return st;
    }
    for (size_t i = 0; i < policy->final_type_count; i++) {
        if (policy->final_types[i].len == 0)
            return hf_err_set(err, HF_INVALID,
                              "retry policy: failure type %zu of those never retried is empty",
                              i + 1);
    }
    return HF_OK;
}

hf_status hf_retry_types(hf_mem *mem, hf_slice list, const hf_slice **out_types, size_t *out_count,
                         hf_err *err)
{
    hf_slice *types = hf_mem_array(mem, HF_RETRY_TYPES_MAX, sizeof(*types));
    size_t count = 0;
    hf_slice type;

    if (!types)
        return hf_err_nomem(err, "a list of failure types");
    while (hf_slice_split(&list, ',', &type)) {
        hf_status st;

        type = hf_slice_trim(type);
        if (type.len == 0)
            continue;
        if (count == HF_RETRY_TYPES_MAX)
            return hf_err_set(err, HF_INVALID, "more than %d failure types are listed",
                              HF_RETRY_TYPES_MAX);
        st = hf_name_check(HF_NAME_TYPE, type, err);
        if (st)
            return st;
        types[count++] = type;
    }
    *out_types = types;
    *out_count = count;
    return HF_OK;
}

bool hf_retry_allowed(const hf_retry_policy *policy, const hf_retry_end *end)
{
    if (end->non_retryable || end->timed_out == HF_TIMEOUT_KIND_SCHEDULE_TO_CLOSE)
        return false;
    if (policy->max_attempts > 0 && end->reported >= policy->max_attempts)
        return false;
    for (size_t i = 0; end->failure_type.len && i < policy->final_type_count; i++) {
        if (hf_slice_equal(policy->final_types[i], end->failure_type))
            return false;
    }
    return true;
}

int64_t hf_retry_backoff_ms(const hf_retry_policy *policy, int64_t attempt)
{
    const int64_t *list = policy->backoff_count ? policy->backoff_ms : retry_default_ms;
    size_t count = policy->backoff_count ? policy->backoff_count
                                         : sizeof(retry_default_ms) / sizeof(retry_default_ms[0]);

    HF_ASSERT(attempt >= 1);
    return (uint64_t)attempt > count ? list[count - 1] : list[attempt - 1];
}

int64_t hf_retry_repair_backoff_s(int64_t redispatch_s, int64_t repair_count, int64_t max_s)
{
    int64_t pause = redispatch_s;

    HF_ASSERT(redispatch_s >= 0 && max_s >= 0);
    if (repair_count < 1)
        return 0;
    /* Doubling stops at the cap, so that no count can overflow. */
    for (int64_t i = 1; i < repair_count && pause > 0 && pause < max_s; i++)
        pause = pause > max_s / 2 ? max_s : pause * 2;
    return pause < max_s ? pause : max_s;
}
