/* alarm.c: what the core must do at a time: armed, moved, taken back, and fired when it is due. */
#include <stdlib.h>

#include "base/alloc.h"
#include "engine/attempt.h"
#include "engine/errand.h"
#include "engine/schedule.h"
#include "engine/turnstile.h"
#include "engine/watchdog.h"
#include "engine/window.h"

enum { GROUP_MAX = 2048, GROUP_MIN = 256, LATE_US = 200000 };

/* Whether there is one of it at most. */
static bool alarm_keyed(const core_alarm *alarm)
{
    return alarm->kind != CORE_ALARM_TURN && alarm->kind != CORE_ALARM_SWEEP &&
           alarm->kind != CORE_ALARM_HORIZON;
}

bool hf_core_alarm_arm(hf_core *core, const core_alarm *alarm, int64_t due_us)
{
    bool keyed = alarm_keyed(alarm);
    core_alarm *copy;
    hf_err err;
    hf_status st;

    if (keyed && hf_map_int_get(core->timers, (uint64_t)alarm->key))
        return true;
    copy = hf_alloc(sizeof(*copy));
    st = copy ? HF_OK : hf_err_nomem(&err, "a deadline");
    if (!st) {
        *copy = *alarm;
        copy->due_us = due_us;
        copy->deadline = (hf_deadline){.due_us = due_us, .key = (uint64_t)alarm->key, .ref = copy};
        st = hf_deadlines_push(core->alarms, &copy->deadline, &err);
        if (st)
            hf_alloc_free(copy);
    }
    if (!st && keyed)
        st = hf_map_int_put(core->timers, (uint64_t)alarm->key, copy, NULL, &err);
    if (st)
        hf_core_fail(core, st, &err);
    return st == HF_OK;
}

bool hf_core_alarm_set(hf_core *core, const core_alarm *alarm, int64_t due_us)
{
    return !hf_window_takes(core, alarm, due_us) || hf_core_alarm_arm(core, alarm, due_us);
}

bool hf_core_alarm_move(hf_core *core, const core_alarm *alarm, int64_t due_us)
{
    core_alarm *armed = hf_map_int_get(core->timers, (uint64_t)alarm->key);

    if (!armed)
        return hf_core_alarm_set(core, alarm, due_us);
    hf_deadlines_move(core->alarms, &armed->deadline, due_us);
    armed->due_us = due_us;
    armed->grouped = false;
    armed->retry = alarm->retry;
    return true;
}

void hf_core_disarm(hf_core *core, int64_t key)
{
    core_alarm *armed = hf_map_int_remove(core->timers, (uint64_t)key);

    if (!armed)
        return;
    hf_deadlines_remove(core->alarms, &armed->deadline);
    hf_alloc_free(armed);
}

static void alarm_fire(hf_core *core, core_alarm *alarm)
{
    live_run *run;
    core_due *due;

    if (alarm->kind == CORE_ALARM_SWEEP) {
        hf_watchdog_pass(core);
        return;
    }
    if (alarm->kind == CORE_ALARM_HORIZON) {
        hf_window_reached(core);
        return;
    }
    if (alarm->kind != CORE_ALARM_TURN)
        (void)hf_map_int_remove(core->timers, (uint64_t)alarm->key);
    if (alarm->kind == CORE_ALARM_SCHEDULE) {
        hf_schedule_due(core, alarm->key);
        return;
    }
    if (alarm->kind == CORE_ALARM_RETENTION) {
        hf_retention_look(core);
        return;
    }
    if (alarm->kind == CORE_ALARM_ATTEMPT && !hf_attempt_alarm(core, alarm->key))
        return;
    if (alarm->kind == CORE_ALARM_GATE) {
        hf_turnstile_alarm(core, alarm->key);
        return;
    }
    run = hf_core_live(core, alarm->run);
    if (!run)
        return;
    run->look |= alarm->kind == CORE_ALARM_STEP; /* its task stands for it */
    if (alarm->kind == CORE_ALARM_ERRAND)
        hf_errand_run_alarm(core, run);
    if (alarm->kind == CORE_ALARM_TIMER || alarm->kind == CORE_ALARM_ATTEMPT) {
        due = hf_alloc(sizeof(*due));
        if (!due) {
            hf_err err;

            hf_core_fail(core, hf_err_nomem(&err, "a timer"), &err);
            return;
        }
        *due = (core_due){.timer = alarm->key,
                          .activity = alarm->kind == CORE_ALARM_ATTEMPT,
                          .step = alarm->step,
                          .kind = alarm->timer_kind,
                          .due_us = alarm->due_us,
                          .next = run->due};
        run->due = due;
    }
    run->alarmed = true;
    run->roused = true;
    hf_core_ready(core, run);
}

/* How many alarms the share of due ones has room for. */
static size_t alarms_room(const hf_core *core)
{
    size_t times = core->due_alone >= HF_CORE_DUE_ALONE ? HF_CORE_DUE_ROOM : 1;
    size_t most = times * HF_CORE_DUE_FLYING;
    size_t share = times * HF_CORE_DUE_SHARE;
    size_t room = core->flying_due < most ? most - core->flying_due : 0;

    if (core->flying >= HF_CORE_FLYING_MAX)
        return 0;
    return room < share ? room : share;
}

static int group_order(const void *a, const void *b)
{
    const core_alarm *left = *(core_alarm *const *)a;
    const core_alarm *right = *(core_alarm *const *)b;

    if (left->run != right->run)
        return left->run < right->run ? -1 : 1;
    if (left->due_us != right->due_us)
        return left->due_us < right->due_us ? -1 : 1;
    return left->key < right->key ? -1 : left->key > right->key;
}

/* When many are late they fire a group at a time, in the order of their runs: what lies together in
   the store is written together then, and not each page once for each of its runs. A run's own stay
   in their order. */
static void alarms_group(hf_core *core)
{
    int64_t now_us = hf_core_now(core);
    hf_deadline *next = hf_deadlines_peek(core->alarms);
    core_alarm **group;
    int64_t first_us;
    size_t count = 0;
    hf_err err;

    if (!next || hf_deadlines_count(core->alarms) < GROUP_MIN || next->due_us > now_us - LATE_US ||
        ((const core_alarm *)next->ref)->grouped)
        return;
    group = hf_alloc(GROUP_MAX * sizeof(*group));
    if (!group)
        return; /* it goes without */
    first_us = next->due_us;
    while (count < GROUP_MAX && (next = hf_deadlines_peek(core->alarms)) && next->due_us <= now_us)
        group[count++] = hf_deadlines_pop(core->alarms)->ref;
    qsort(group, count, sizeof(*group), group_order);
    for (size_t i = 0; i < count; i++) {
        group[i]->grouped = true;
        group[i]->deadline.due_us = first_us - (int64_t)(count - i);
        if (hf_deadlines_push(core->alarms, &group[i]->deadline, &err)) /* there was room for it */
            hf_core_fail(core, HF_NOMEM, &err);
    }
    hf_alloc_free(group);
}

/* Their share of those that are due: a burst waits here and not in front of other work, which finds
   at most one share before its turn and so many units before its commit. Other work in turn does
   not use up the share, so that alarms go on beside much of it. */
bool hf_core_alarms_fire(hf_core *core)
{
    size_t most = alarms_room(core);
    hf_deadline *next;
    size_t fired = 0;

    if (most)
        alarms_group(core);
    while (fired < most && (next = hf_deadlines_peek(core->alarms)) &&
           next->due_us <= hf_core_now(core)) {
        core_alarm *alarm = hf_deadlines_pop(core->alarms)->ref;
        bool scanned = alarm->kind == CORE_ALARM_HORIZON || alarm->kind == CORE_ALARM_SWEEP;

        alarm_fire(core, alarm);
        hf_alloc_free(alarm);
        fired = scanned ? most : fired + 1; /* reading many rows is a share of its own */
    }
    return fired > 0;
}

int64_t hf_core_next_us(const hf_core *core)
{
    const hf_deadline *next = hf_deadlines_peek(core->alarms);

    if (!alarms_room(core))
        return INT64_MAX; /* the first unit that comes back wakes the core */
    return next ? next->due_us : INT64_MAX;
}
