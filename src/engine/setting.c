/* setting.c: see setting.h. */
#include "engine/setting.h"

#include <string.h>

#include "base/json.h"
#include "base/slice.h"

enum {
    PERCENT_MAX = 100,
    NODE_LEASE_MS = 10000,
    LEASE_MS_MIN = 200, /* below that a busy machine renews too late */
    NODE_LEASE_MS_MAX = 600000,
    TASK_LEASE_MS_MAX = 86400000
};

/* Limits that a program may move. What metadata may hold is the same everywhere: it is searched. */
static const hf_limit limits[] = {
    HF_LIMIT_PENDING_ACTIVITY_COUNT, HF_LIMIT_PENDING_CHILD_COUNT,
    HF_LIMIT_PENDING_TIMER_COUNT,    HF_LIMIT_PENDING_SIGNAL_COUNT,
    HF_LIMIT_PENDING_UPDATE_COUNT,   HF_LIMIT_COMMAND_BATCH_SIZE,
    HF_LIMIT_PAYLOAD_SIZE_BYTES,     HF_LIMIT_HISTORY_TRANSACTION_SIZE,
    HF_LIMIT_MAX_EVENTS_PER_RUN,     HF_LIMIT_WARNING_THRESHOLD_PERCENT};

hf_settings hf_settings_standard(void)
{
    hf_settings settings = {
        .update_wait_ms = hf_limit_us(HF_LIMIT_UPDATE_COMPLETION_TIMEOUT_SECONDS) / 1000,
        .task_lease_ms = hf_limit_us(HF_LIMIT_PROTOCOL_TASK_LEASE_SECONDS) / 1000,
        .activity_lease_ms = hf_limit_us(HF_LIMIT_ACTIVITY_LEASE_SECONDS) / 1000,
        .node_lease_ms = NODE_LEASE_MS,
        .limits = hf_limits_standard()};

    settings.limits.of[HF_LIMIT_MAX_EVENTS_PER_RUN] = 0; /* a server's: hf_settings_for_workers */
    return settings;
}

void hf_settings_for_workers(hf_settings *settings)
{
    settings->limits.of[HF_LIMIT_MAX_EVENTS_PER_RUN] =
        hf_limit_get(HF_LIMIT_MAX_EVENTS_PER_RUN)->standard;
}

static hf_status number_read(const char *name, const char *value, int64_t most, int64_t *out_number,
                             hf_err *err)
{
    if (!hf_slice_int(hf_slice_of(value), out_number) || *out_number < 0 || *out_number > most)
        return hf_err_set(err, HF_INVALID, "%s takes a whole number, not %s", name, value);
    return HF_OK;
}

static hf_status lease_read(const char *name, const char *value, int64_t most, int64_t *out_ms,
                            hf_err *err)
{
    int64_t number = 0;
    hf_status st = number_read(name, value, most, &number, err);

    if (st)
        return st;
    if (number < LEASE_MS_MIN)
        return hf_err_set(err, HF_INVALID, "%s is at least %d", name, (int)LEASE_MS_MIN);
    *out_ms = number;
    return HF_OK;
}

hf_status hf_settings_set(hf_settings *settings, const char *name, const char *value, hf_err *err)
{
    int64_t number = 0;
    hf_status st;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (strcmp(hf_limit_text(limits[i]), name) == 0) {
            st = number_read(name, value,
                             limits[i] == HF_LIMIT_WARNING_THRESHOLD_PERCENT ? PERCENT_MAX
                                                                             : INT64_MAX,
                             &number, err);
            if (!st && limits[i] == HF_LIMIT_PAYLOAD_SIZE_BYTES &&
                (!number || number > HF_JSON_BYTES_MAX)) /* what is longer is not read back */
                st = hf_err_set(err, HF_INVALID, "%s is from 1 to %d, not %s", name,
                                (int)HF_JSON_BYTES_MAX, value);
            if (!st)
                settings->limits.of[limits[i]] = number;
            return st;
        }
    if (strcmp(name, "update_wait_seconds") == 0) {
        st = number_read(name, value, INT64_MAX / 1000, &number, err);
        if (!st)
            settings->update_wait_ms = number * 1000;
        return st;
    }
    if (strcmp(name, "node_lease_ms") == 0)
        return lease_read(name, value, NODE_LEASE_MS_MAX, &settings->node_lease_ms, err);
    if (strcmp(name, "workflow_task_lease_ms") == 0)
        return lease_read(name, value, TASK_LEASE_MS_MAX, &settings->task_lease_ms, err);
    if (strcmp(name, "activity_lease_ms") == 0)
        return lease_read(name, value, TASK_LEASE_MS_MAX, &settings->activity_lease_ms, err);
    if (strcmp(name, "fleet_validation_mode") == 0) {
        if (strcmp(value, "warn") != 0 && strcmp(value, "fail") != 0)
            return hf_err_set(err, HF_INVALID, "%s is warn or fail, not %s", name, value);
        settings->fleet_fails = value[0] == 'f';
        return HF_OK;
    }
    if (strcmp(name, "update_behind_signal") != 0)
        return hf_err_set(err, HF_INVALID, "there is no setting %s", name);
    if (strcmp(value, "queue") != 0 && strcmp(value, "reject") != 0)
        return hf_err_set(err, HF_INVALID, "%s is reject or queue, not %s", name, value);
    settings->updates_queue = value[0] == 'q';
    return HF_OK;
}
