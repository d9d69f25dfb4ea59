/* A burst of due timers and other work share the core: each goes on beside the other. What is
   counted is how much of one is committed while the other waits, on both databases; the clock plays
   no part in it. */
#include <stdio.h>
#include <string.h>

#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { SLEEPERS = 200, OTHERS = 600, OTHERS_STEPS = 3 };

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_minutes(10));
    return in;
}

static hf_value quick(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "touch", in);
}

static const hf_workflow_def workflows[] = {
    {.type = "sleeper", .run = sleeper}, {.type = "quick", .run = quick}, {0}};
static const hf_activity_def activities[] = {{.name = "touch", .run = hf_echo}, {0}};
static const hf_app app = {.name = "fair", .workflows = workflows, .activities = activities};

static void many_start(hf_engine *d, const char *type, int count)
{
    hf_start_opts items[OTHERS] = {{0}};
    hf_status answers[OTHERS];

    for (int i = 0; i < count; i++)
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts),
                                   .id = hf_str(hf_json(d, "'%s-%d'", type, i), "", "")};
    hf_kit_ok(d, hf_start_all(d, type, items, (size_t)count, answers));
    for (int i = 0; i < count; i++)
        hf_kit_ok(d, answers[i]);
}

/* All sleep, their coroutines are gone, and all are due. */
static hf_engine *burst_open(hf_engine_kind kind, int sleepers)
{
    hf_engine *d = hf_kit_open(kind, &app);

    many_start(d, "sleeper", sleepers);
    hf_kit_ok(d, hf_test_drain(d));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_skip(d, hf_minutes(11));
    return d;
}

static int64_t fired(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run r JOIN instance i ON i.key = r.instance "
                            "WHERE i.id LIKE 'sleeper-%' AND r.closed_us IS NOT NULL");
}

/* How many sleepers woke between the first and the last commit of the run. */
static int64_t fired_beside(hf_engine *d, const char *id)
{
    char sql[1024];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM history h JOIN run r ON r.key = h.run "
                   "JOIN instance i ON i.key = r.instance WHERE i.id LIKE 'sleeper-%%' "
                   "AND h.position > (SELECT min(m.position) FROM history m JOIN run q ON q.key = "
                   "m.run JOIN instance j ON j.key = q.instance WHERE j.id = '%s') "
                   "AND h.position < (SELECT max(m.position) FROM history m JOIN run q ON q.key = "
                   "m.run JOIN instance j ON j.key = q.instance WHERE j.id = '%s')",
                   id, id);
    return hf_kit_number(d, sql);
}

/* Work that comes in the middle of a burst is done with a share of the timers beside each of its
   steps, not behind all of them. */
HF_BOTH_ENGINES(b124_a_burst_of_timers_leaves_room_for_other_work)
{
    hf_engine *d = burst_open(kind, SLEEPERS);

    for (int i = 0; i < 3; i++) {
        char id[32];

        (void)snprintf(id, sizeof(id), "other-%d", i);
        hf_kit_ok(d, hf_start(d, "quick", NULL, .id = id));
        while (strcmp(hf_test_status(d, id), "completed") != 0)
            ck_assert(hf_engine_pump(d));
        ck_assert_int_gt(fired_beside(d, id), 0);
        ck_assert_int_le(fired_beside(d, id), (int64_t)OTHERS_STEPS * HF_CORE_DUE_SHARE);
    }
    ck_assert_int_lt(fired(d), SLEEPERS);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(fired(d), SLEEPERS);
    for (int i = 0; i < SLEEPERS; i += 37) {
        const char *id = hf_str(hf_json(d, "'sleeper-%d'", i), "", "");
        const hf_event *set = hf_kit_event(d, id, "TimerScheduled", 0);
        const hf_event *rang = hf_kit_event(d, id, "TimerFired", 0);

        ck_assert_int_ge(rang->time_us, set->time_us + hf_minutes(10) * 1000);
        ck_assert_ptr_null(hf_kit_event(d, id, "TimerFired", 1));
    }
    hf_kit_close(d);
}

/* However long a commit takes, only so many timers are in front of the next one. What their runs
   are loaded from is read together. */
HF_BOTH_ENGINES(b124_only_so_many_timers_are_under_way)
{
    hf_engine *d = burst_open(kind, SLEEPERS);
    int steps = 0;
    size_t together = 0;

    while (hf_core_step(d->core)) {
        ck_assert_int_lt(++steps, SLEEPERS);
        together += d->core->ahead_count;
    }
    ck_assert_uint_eq(together, HF_CORE_DUE_FLYING);
    ck_assert_uint_eq(d->core->flying_due, HF_CORE_DUE_FLYING);
    ck_assert_uint_eq(d->core->flying, HF_CORE_DUE_FLYING);
    ck_assert_int_eq(hf_core_next_us(d->core), INT64_MAX); /* a commit wakes it */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_eq(d->core->flying_due, 0);
    ck_assert_int_eq(fired(d), SLEEPERS);
    hf_kit_close(d);
}

/* Where there is nothing else for a while they have more room, and lose it to the first other work.
 */
HF_BOTH_ENGINES(b124_timers_that_are_alone_have_more_room)
{
    hf_engine *d = burst_open(kind, SLEEPERS);

    d->core->due_alone = HF_CORE_DUE_ALONE;
    while (hf_core_step(d->core))
        ;
    ck_assert_uint_eq(d->core->flying_due, HF_CORE_DUE_ROOM * HF_CORE_DUE_FLYING);
    hf_kit_ok(d, hf_start(d, "quick", NULL, .id = "other"));
    (void)hf_core_step(d->core);
    ck_assert_uint_lt(d->core->due_alone, HF_CORE_DUE_ALONE);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_le(fired_beside(d, "other"),
                     (int64_t)(HF_CORE_DUE_ROOM + OTHERS_STEPS) * HF_CORE_DUE_SHARE);
    ck_assert_int_eq(fired(d), SLEEPERS);
    hf_kit_close(d);
}

/* A flood of other work does not hold a timer back until it is through. */
HF_BOTH_ENGINES(b124_a_flood_of_other_work_leaves_room_for_timers)
{
    hf_engine *d = burst_open(kind, 1);
    int64_t before;

    many_start(d, "quick", OTHERS);
    before = hf_kit_number(d, "SELECT max(position) FROM history");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(fired(d), 1);
    ck_assert_int_le(hf_kit_number(d, "SELECT max(h.position) FROM history h JOIN run r ON r.key = "
                                      "h.run JOIN instance i ON i.key = r.instance "
                                      "WHERE i.id = 'sleeper-0'") -
                         before,
                     OTHERS + 1); /* their first turns, not their second ones */
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/fair", HF_BOTH(b124_a_burst_of_timers_leaves_room_for_other_work),
                 HF_BOTH(b124_only_so_many_timers_are_under_way),
                 HF_BOTH(b124_timers_that_are_alone_have_more_room),
                 HF_BOTH(b124_a_flood_of_other_work_leaves_room_for_timers))
