/* schedule.c: see schedule.h. */
#include "model/schedule.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/value.h"

enum { BODY_VERSION = 1 };

static void int_set(hf_mem *mem, hf_value_list *body, const char *key, int64_t number)
{
    if (number)
        hf_value_set(body, hf_slice_of(key), hf_value_int(mem, number));
}

static void value_set(hf_value_list *body, const char *key, hf_value value)
{
    if (value)
        hf_value_set(body, hf_slice_of(key), value);
}

static hf_value buffered_value(hf_mem *mem, const hf_schedule *schedule)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < schedule->buffered_count; i++)
        hf_value_append(list, hf_value_int(mem, schedule->buffered[i]));
    return hf_value_finish(list);
}

hf_slice hf_schedule_encode(hf_mem *mem, const hf_schedule *s)
{
    hf_value_list *body = hf_value_object(mem);
    hf_slice text = {0};
    hf_buf buf = {0};
    hf_value value;

    int_set(mem, body, "v", BODY_VERSION);
    int_set(mem, body, "overlap", s->overlap);
    value_set(body, "spec", s->spec);
    value_set(body, "action", s->action);
    if (s->note.ptr)
        hf_value_set(body, HF_SLICE("note"), hf_value_string(mem, s->note));
    int_set(mem, body, "jitter_s", s->jitter_s);
    int_set(mem, body, "max_runs", s->max_runs);
    int_set(mem, body, "failures", s->failures);
    int_set(mem, body, "skipped", s->skipped);
    int_set(mem, body, "updated_us", s->updated_us);
    int_set(mem, body, "last_fired_us", s->last_fired_us);
    int_set(mem, body, "slot_us", s->slot_us);
    int_set(mem, body, "last_slot_us", s->last_slot_us);
    int_set(mem, body, "paused_us", s->paused_us);
    int_set(mem, body, "deleted_us", s->deleted_us);
    int_set(mem, body, "last_skipped_us", s->last_skipped_us);
    int_set(mem, body, "last_skip", s->last_skip);
    value_set(body, "recent", s->recent);
    if (s->buffered_count)
        value_set(body, "buffered", buffered_value(mem, s));
    value = hf_value_finish(body);
    if (!value)
        return text;
    hf_json_write_canonical(&buf, value);
    if (hf_buf_ok(&buf))
        text = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&buf)), buf.len);
    hf_buf_fini(&buf);
    return text;
}

static hf_status buffered_read(hf_mem *mem, hf_value list, hf_schedule *schedule, hf_err *err)
{
    schedule->buffered_count = hf_len(list);
    schedule->buffered = hf_mem_array(mem, schedule->buffered_count + 1, sizeof(int64_t));
    if (!schedule->buffered)
        return hf_err_nomem(err, "a schedule");
    for (size_t i = 0; i < schedule->buffered_count; i++)
        schedule->buffered[i] = hf_int(hf_at(list, i), "", 0);
    return HF_OK;
}

hf_status hf_schedule_decode(hf_mem *mem, hf_slice body, hf_schedule *s, hf_err *err)
{
    hf_value value = NULL;
    hf_status st = hf_json_read(mem, body, NULL, &value, err);

    if (st == HF_INVALID || (!st && hf_int(value, "v", 0) != BODY_VERSION))
        return hf_err_set(err, HF_CORRUPT, "the body of schedule %lld cannot be read",
                          (long long)s->key);
    if (st)
        return st;
    s->overlap = (hf_overlap_policy)hf_int(value, "overlap", HF_OVERLAP_POLICY_SKIP);
    s->spec = hf_get(value, "spec");
    s->action = hf_get(value, "action");
    s->note = hf_value_slice(hf_get(value, "note"));
    s->jitter_s = hf_int(value, "jitter_s", 0);
    s->max_runs = hf_int(value, "max_runs", 0);
    s->failures = hf_int(value, "failures", 0);
    s->skipped = hf_int(value, "skipped", 0);
    s->updated_us = hf_int(value, "updated_us", 0);
    s->last_fired_us = hf_int(value, "last_fired_us", 0);
    s->slot_us = hf_int(value, "slot_us", 0);
    s->last_slot_us = hf_int(value, "last_slot_us", 0);
    s->paused_us = hf_int(value, "paused_us", 0);
    s->deleted_us = hf_int(value, "deleted_us", 0);
    s->last_skipped_us = hf_int(value, "last_skipped_us", 0);
    s->last_skip = hf_int(value, "last_skip", 0);
    s->recent = hf_get(value, "recent");
    return buffered_read(mem, hf_get(value, "buffered"), s, err);
}

int64_t hf_schedule_remaining(const hf_schedule *schedule)
{
    if (!schedule->max_runs)
        return INT64_MAX;
    return schedule->fires < schedule->max_runs ? schedule->max_runs - schedule->fires : 0;
}

void hf_schedule_plan(hf_schedule *schedule, const hf_schedule_spec *spec, int64_t after_us,
                      uint64_t seed)
{
    hf_schedule_slot slot;
    hf_rng rng;

    schedule->next_us = 0;
    schedule->slot_us = 0;
    if (after_us < schedule->last_slot_us)
        after_us = schedule->last_slot_us; /* the clock went back */
    if (schedule->status != HF_SCHEDULE_STATUS_ACTIVE || !hf_schedule_remaining(schedule) ||
        !hf_schedule_spec_next(spec, after_us, &slot))
        return;
    schedule->slot_us = slot.at_us;
    schedule->next_us = slot.at_us;
    if (!schedule->jitter_s)
        return;
    hf_rng_init_seeded(&rng, seed);
    schedule->next_us +=
        (int64_t)hf_rng_below(&rng, (uint64_t)schedule->jitter_s * 1000 + 1) * 1000;
}

bool hf_schedule_buffer(hf_mem *mem, hf_schedule *schedule, int64_t occurrence_us)
{
    int64_t *grown = hf_mem_array(mem, schedule->buffered_count + 1, sizeof(*grown));

    if (!grown)
        return false;
    if (schedule->buffered_count)
        memcpy(grown, schedule->buffered, schedule->buffered_count * sizeof(*grown));
    grown[schedule->buffered_count++] = occurrence_us;
    schedule->buffered = grown;
    return true;
}

void hf_schedule_unbuffer(hf_schedule *schedule)
{
    if (!schedule->buffered_count)
        return;
    schedule->buffered++;
    schedule->buffered_count--;
}

static hf_verdict verdict_skip(hf_skip_reason reason, hf_overlap_policy policy)
{
    bool full = reason == HF_SKIP_REASON_BUFFER_FULL;

    return (hf_verdict){.outcome =
                            full ? HF_TRIGGER_OUTCOME_BUFFER_FULL : HF_TRIGGER_OUTCOME_SKIPPED,
                        .reason = reason,
                        .effective = policy};
}

/* What the overlap policy makes of it. */
static hf_verdict overlap_judge(const hf_schedule *schedule, const hf_fire *fire, bool latest_open)
{
    hf_overlap_policy policy = fire->overlap ? fire->overlap : schedule->overlap;
    hf_verdict start = {.outcome = fire->kind == HF_FIRE_DRAIN ? HF_TRIGGER_OUTCOME_DRAINED
                                                               : HF_TRIGGER_OUTCOME_TRIGGERED,
                        .starts = true};
    size_t room = 1;

    if (fire->kind == HF_FIRE_BACKFILL &&
        (policy == HF_OVERLAP_POLICY_BUFFER_ONE || policy == HF_OVERLAP_POLICY_BUFFER_ALL))
        policy = HF_OVERLAP_POLICY_ALLOW_ALL;
    start.effective = policy;
    if (schedule->status == HF_SCHEDULE_STATUS_DELETED ||
        (schedule->status == HF_SCHEDULE_STATUS_PAUSED && fire->kind != HF_FIRE_BACKFILL))
        return verdict_skip(HF_SKIP_REASON_STATUS_NOT_TRIGGERABLE, policy);
    if (!hf_schedule_remaining(schedule))
        return verdict_skip(HF_SKIP_REASON_REMAINING_ACTIONS_EXHAUSTED, policy);
    if (!latest_open || fire->kind == HF_FIRE_DRAIN)
        return start;
    switch (policy) {
    case HF_OVERLAP_POLICY_SKIP:
        return verdict_skip(HF_SKIP_REASON_OVERLAP_POLICY_SKIP, policy);
    case HF_OVERLAP_POLICY_BUFFER_ALL:
        room = HF_SCHEDULE_BUFFER_MAX;
        break;
    case HF_OVERLAP_POLICY_BUFFER_ONE:
        break;
    case HF_OVERLAP_POLICY_ALLOW_ALL:
        return start;
    case HF_OVERLAP_POLICY_CANCEL_OTHER:
    case HF_OVERLAP_POLICY_TERMINATE_OTHER:
        start.stops_other = true;
        return start;
    }
    if (schedule->buffered_count >= room)
        return verdict_skip(HF_SKIP_REASON_BUFFER_FULL, policy);
    return (hf_verdict){.outcome = HF_TRIGGER_OUTCOME_BUFFERED, .effective = policy};
}

hf_verdict hf_schedule_judge(const hf_schedule *schedule, const hf_fire *fire, bool latest_open)
{
    hf_verdict verdict = overlap_judge(schedule, fire, latest_open);

    if (verdict.starts && fire->blocked)
        return verdict_skip(HF_SKIP_REASON_COMPATIBILITY_BLOCKED, verdict.effective);
    return verdict;
}

void hf_schedule_stamp(int64_t at_us, char out_text[HF_SCHEDULE_STAMP_SIZE])
{
    char text[HF_CLOCK_TEXT_SIZE];
    size_t used = 0;
    bool whole = at_us % 1000000 == 0;

    (void)hf_clock_print(at_us, text);
    for (const char *at = text; *at && used < HF_SCHEDULE_STAMP_SIZE - 1; at++) {
        if (*at == '-' || *at == ':')
            continue;
        if (*at == '.' && whole)
            break;
        out_text[used++] = *at;
    }
    if (whole && used < HF_SCHEDULE_STAMP_SIZE - 1)
        out_text[used++] = 'Z';
    out_text[used] = '\0';
}
