/* setting.c: see setting.h. */
#include "engine/setting.h"

#include <stddef.h>
#include <string.h>

#include "base/slice.h"
#include "model/limit.h"

/* Settings that are numbers. */
static const struct {
    const char *name;
    hf_limit limit; /* whose default it has; 0: its own */
    int64_t standard;
    int64_t unit;
    size_t offset;
} numbers[] = {
    {"update_wait_seconds", (hf_limit)0, 10, 1000, offsetof(hf_settings, update_wait_ms)},
    {"pending_signal_count", HF_LIMIT_PENDING_SIGNAL_COUNT, 0, 1,
     offsetof(hf_settings, signals_max)},
    {"pending_update_count", HF_LIMIT_PENDING_UPDATE_COUNT, 0, 1,
     offsetof(hf_settings, updates_max)},
    {"payload_size_bytes", HF_LIMIT_PAYLOAD_SIZE_BYTES, 0, 1, offsetof(hf_settings, payload_max)},
};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static int64_t *number_of(hf_settings *settings, size_t i)
{
    return (int64_t *)(void *)((char *)settings + numbers[i].offset);
}

hf_settings hf_settings_standard(void)
{
    hf_settings settings = {0};

    for (size_t i = 0; i < NUMBERS; i++)
        *number_of(&settings, i) = numbers[i].limit ? hf_limit_get(numbers[i].limit)->standard
                                                    : numbers[i].standard * numbers[i].unit;
    return settings;
}

hf_status hf_settings_set(hf_settings *settings, const char *name, const char *value, hf_err *err)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        int64_t number = 0;

        if (strcmp(numbers[i].name, name) != 0)
            continue;
        if (!hf_slice_int(hf_slice_of(value), &number) || number < 0 ||
            number > INT64_MAX / numbers[i].unit)
            return hf_err_set(err, HF_INVALID, "%s takes a whole number, not %s", name, value);
        *number_of(settings, i) = number * numbers[i].unit;
        return HF_OK;
    }
    if (strcmp(name, "update_behind_signal") != 0)
        return hf_err_set(err, HF_INVALID, "there is no setting %s", name);
    if (strcmp(value, "queue") != 0 && strcmp(value, "reject") != 0)
        return hf_err_set(err, HF_INVALID, "%s is reject or queue, not %s", name, value);
    settings->updates_queue = value[0] == 'q';
    return HF_OK;
}
