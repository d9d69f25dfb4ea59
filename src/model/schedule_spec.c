/* schedule_spec.c: see schedule_spec.h. */
#include "model/schedule_spec.h"

#include "base/clock.h"
#include "base/value.h"
#include "model/cron.h"

enum { PARTS_MAX = 32 };

#define US_PER_SECOND  INT64_C(1000000)
#define DURATION_S_MAX (INT64_C(366) * 86400 * 10)

typedef struct spec_interval {
    int64_t every_s;
    int64_t offset_s;
} spec_interval;

struct hf_schedule_spec {
    hf_cron crons[PARTS_MAX];
    hf_slice texts[PARTS_MAX];
    size_t cron_count;
    spec_interval intervals[PARTS_MAX];
    size_t interval_count;
    const hf_zone *zone;
    hf_slice zone_name;
};

/* Seconds in one of a duration's letters; 0: none of them. Time letters stand behind T. */
static int64_t letter_s(char letter, bool time)
{
    switch (letter) {
    case 'W':
        return time ? 0 : INT64_C(7) * 86400;
    case 'D':
        return time ? 0 : 86400;
    case 'H':
        return time ? 3600 : 0;
    case 'M':
        return time ? 60 : 0;
    case 'S':
        return time ? 1 : 0;
    default:
        return 0;
    }
}

/* Reads "PT1H30M". Nothing below a second, no months and years, at least one part. */
static bool duration_parse(hf_slice text, int64_t *out_s)
{
    int64_t total = 0;
    int64_t last = INT64_MAX; /* letters come from large to small */
    bool time = false;
    bool any = false;
    size_t at = 1;

    if (!text.len || text.ptr[0] != 'P')
        return false;
    while (at < text.len) {
        int64_t number = 0;
        int64_t unit;
        size_t digits = 0;

        if (text.ptr[at] == 'T' && !time) {
            time = true;
            at++;
            if (at == text.len)
                return false;
            continue;
        }
        while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && digits < 9) {
            number = number * 10 + (text.ptr[at++] - '0');
            digits++;
        }
        unit = at < text.len && digits ? letter_s(text.ptr[at++], time) : 0;
        if (!unit || unit >= last)
            return false;
        total += number * unit;
        if (total > DURATION_S_MAX)
            return false;
        last = unit;
        any = true;
    }
    *out_s = total;
    return any;
}

static bool duration_read(hf_value value, int64_t *out_s)
{
    if (hf_value_kind_of(value) == HF_VALUE_STRING)
        return duration_parse(hf_value_slice(value), out_s);
    *out_s = hf_int(value, "", -1);
    return *out_s >= 0 && *out_s <= DURATION_S_MAX;
}

static hf_status cron_add(hf_mem *mem, hf_schedule_spec *spec, hf_value text, hf_err *err)
{
    hf_slice line = hf_value_slice(text);

    if (hf_value_kind_of(text) != HF_VALUE_STRING)
        return hf_err_set(err, HF_INVALID, "spec: a cron expression must be a text");
    if (spec->cron_count == PARTS_MAX)
        return hf_err_set(err, HF_INVALID, "spec: more than %d cron expressions", PARTS_MAX);
    spec->texts[spec->cron_count] = hf_slice_from(hf_mem_text(mem, line), line.len);
    if (!spec->texts[spec->cron_count].ptr)
        return hf_err_nomem(err, "a cron expression");
    return hf_cron_parse(line, &spec->crons[spec->cron_count++], err);
}

static hf_status interval_add(hf_schedule_spec *spec, hf_value item, hf_err *err)
{
    spec_interval *interval = &spec->intervals[spec->interval_count];
    hf_slice key;
    hf_value value;

    if (hf_value_kind_of(item) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "spec: an interval must be an object");
    if (spec->interval_count == PARTS_MAX)
        return hf_err_set(err, HF_INVALID, "spec: more than %d intervals", PARTS_MAX);
    for (size_t i = 0; hf_value_member(item, i, &key, &value); i++) {
        bool every = hf_slice_equal(key, HF_SLICE("every"));

        if (!every && !hf_slice_equal(key, HF_SLICE("offset")))
            return hf_err_set(err, HF_INVALID, "spec: an interval has no %.*s", (int)key.len,
                              key.ptr);
        if (hf_value_kind_of(value) != HF_VALUE_NULL &&
            !duration_read(value, every ? &interval->every_s : &interval->offset_s))
            return hf_err_set(err, HF_INVALID, "spec: %.*s is not a duration such as PT30M",
                              (int)key.len, key.ptr);
    }
    if (interval->every_s < 1)
        return hf_err_set(err, HF_INVALID, "spec: an interval must be at least one second");
    if (interval->offset_s >= interval->every_s)
        return hf_err_set(err, HF_INVALID, "spec: an offset must be shorter than its interval");
    spec->interval_count++;
    return HF_OK;
}

static hf_status zone_set(hf_mem *mem, hf_schedule_spec *spec, hf_value name, hf_err *err)
{
    hf_slice text = hf_value_slice(name);

    if (hf_value_kind_of(name) != HF_VALUE_STRING)
        return hf_err_set(err, HF_INVALID, "spec: a timezone must be a text");
    spec->zone_name = hf_slice_from(hf_mem_text(mem, text), text.len);
    return spec->zone_name.ptr ? hf_zone_load(mem, spec->zone_name, &spec->zone, err)
                               : hf_err_nomem(err, "a time zone");
}

static hf_status member_read(hf_mem *mem, hf_schedule_spec *spec, hf_slice key, hf_value value,
                             hf_err *err)
{
    bool intervals = hf_slice_equal(key, HF_SLICE("intervals"));
    hf_status st = HF_OK;

    if (hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    if (hf_slice_equal(key, HF_SLICE("timezone")))
        return zone_set(mem, spec, value, err);
    if (!intervals && !hf_slice_equal(key, HF_SLICE("cron_expressions")))
        return hf_err_set(err, HF_INVALID, "spec: there is no %.*s", (int)key.len, key.ptr);
    if (hf_value_kind_of(value) != HF_VALUE_ARRAY)
        return hf_err_set(err, HF_INVALID, "spec: %.*s must be an array", (int)key.len, key.ptr);
    for (size_t i = 0; !st && i < hf_len(value); i++)
        st = intervals ? interval_add(spec, hf_at(value, i), err)
                       : cron_add(mem, spec, hf_at(value, i), err);
    return st;
}

hf_status hf_schedule_spec_parse(hf_mem *mem, hf_value value, const hf_schedule_spec **out_spec,
                                 hf_err *err)
{
    hf_schedule_spec *spec = hf_mem_alloc(mem, sizeof(*spec));
    hf_schedule_slot slot;
    hf_slice key;
    hf_value item;
    hf_status st = spec ? HF_OK : hf_err_nomem(err, "a schedule");

    if (!st && hf_value_kind_of(value) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "spec: it must be an object");
    for (size_t i = 0; !st && hf_value_member(value, i, &key, &item); i++)
        st = member_read(mem, spec, key, item, err);
    if (!st && !spec->zone) {
        spec->zone_name = HF_SLICE("UTC");
        st = hf_zone_load(mem, spec->zone_name, &spec->zone, err);
    }
    if (!st && !spec->cron_count && !spec->interval_count)
        st = hf_err_set(err, HF_INVALID, "spec: it needs a cron expression or an interval");
    if (!st && !hf_schedule_spec_next(spec, 0, &slot))
        st = hf_err_set(err, HF_INVALID, "spec: it never fires");
    if (!st)
        *out_spec = spec;
    return st;
}

bool hf_schedule_spec_next(const hf_schedule_spec *spec, int64_t after_us,
                           hf_schedule_slot *out_slot)
{
    int64_t after_s = after_us / US_PER_SECOND;
    int64_t best_s = INT64_MAX;
    hf_slice best = {0};

    for (size_t i = 0; i < spec->cron_count; i++) {
        int64_t at_s;

        if (hf_cron_next(&spec->crons[i], spec->zone, after_s, &at_s) && at_s < best_s) {
            best_s = at_s;
            best = spec->texts[i];
        }
    }
    for (size_t i = 0; i < spec->interval_count; i++) {
        const spec_interval *interval = &spec->intervals[i];
        int64_t past = after_s - interval->offset_s;
        int64_t count = past < 0 ? 0 : past / interval->every_s + 1;
        int64_t at_s = interval->offset_s + count * interval->every_s;

        if (at_s < best_s && at_s <= HF_CLOCK_WALL_US_MAX / US_PER_SECOND) {
            best_s = at_s;
            best = (hf_slice){0};
        }
    }
    if (best_s == INT64_MAX)
        return false;
    *out_slot = (hf_schedule_slot){.at_us = best_s * US_PER_SECOND, .cron = best};
    return true;
}

hf_slice hf_schedule_spec_zone(const hf_schedule_spec *spec)
{
    return spec->zone_name;
}
