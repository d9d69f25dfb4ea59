/* Units that join a transaction while it is open, on both engines: one commit for all, and each its
   own fate. And units that are sent behind a COMMIT before it is answered, where the engine can; on
   the other they get a transaction after it, and the same fate. */
#include "commit/batch.h"

#include "base/fault.h"
#include "lib/engine.h"
#include "lib/world.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

enum { RUNS = 4 };

/* A world whose writer rests, a batch on its store, and who joins, one each time it is asked. */
typedef struct meeting {
    hf_test_place *place;
    hf_world world;
    hf_world_run runs[RUNS];
    hf_batch batch;
    hf_unit *joins[RUNS];
    size_t join_count;
    size_t asked;
    size_t wanted; /* as the batch said when it asked ahead */
} meeting;

static hf_unit *join_next(void *ctx)
{
    meeting *m = ctx;

    return m->asked < m->join_count ? m->joins[m->asked++] : NULL;
}

static hf_unit *ahead_next(void *ctx, size_t wanted)
{
    meeting *m = ctx;

    m->wanted = wanted;
    return join_next(ctx);
}

static bool never_stopped(void *ctx)
{
    (void)ctx;
    return false;
}

static void meeting_begin(meeting *m, hf_engine_kind kind)
{
    static const char *const ids[RUNS] = {"a", "b", "c", "d"};
    const hf_world_options options = {.manual = true};

    *m = (meeting){.place = hf_test_place_new(kind)};
    ok(hf_world_open(&m->world, hf_test_place_address(m->place), &options, &err), "open the world");
    for (size_t i = 0; i < RUNS; i++)
        ok(hf_world_start(&m->world, ids[i], &m->runs[i], &err), "start");
    ok(hf_batch_init(&m->batch, m->world.store, 64, &err), "begin a batch");
    m->batch.more = join_next;
    m->batch.ahead = ahead_next;
    m->batch.stopped = never_stopped;
    m->batch.sync_us = INT64_MAX; /* however short it is here */
    m->batch.ctx = m;
}

static void meeting_end(meeting *m)
{
    hf_batch_fini(&m->batch);
    hf_world_close(&m->world);
    hf_test_place_free(m->place);
}

/* A note for the run, unlike all others; with poison the database refuses it. */
static hf_unit *note(meeting *m, size_t run, hf_rebase rebase, bool poison)
{
    static int64_t later_us;
    const hf_timer_row twice = {
        .key = 1, .run = 1, .step = 1, .status = HF_TIMER_STATUS_PENDING, .closed_us = HF_NONE};
    hf_unit *unit = hf_unit_new(NULL, NULL);

    hf_unit_append(unit, &m->runs[run].base, HF_NONE, rebase);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_NOTE_RECORDED,
                   m->runs[run].base.last_us + ++later_us, 0);
    for (int i = 0; poison && i < 2; i++) /* the same primary key twice */
        hf_unit_row(unit, 0, hf_row_timer_new(hf_unit_mem(unit), &twice));
    ok(hf_unit_seal(unit, &m->world.stager, &err), "seal");
    return unit;
}

/* Runs the batch with this unit first; how many ended. */
static size_t batch_go(meeting *m, hf_unit *first, hf_unit **out_ended)
{
    hf_status fatal = HF_OK;
    hf_unit *rest = NULL;
    size_t count = 0;

    for (hf_unit *unit = hf_batch_run(&m->batch, first, &rest, &fatal, &err); unit;
         unit = unit->next)
        out_ended[count++] = unit;
    ck_assert_int_eq(fatal, HF_OK);
    ck_assert_ptr_null(rest);
    return count;
}

static int64_t last_seq(meeting *m, size_t run)
{
    ok(hf_world_reload(&m->world, &m->runs[run], &err), "reload");
    return m->runs[run].base.last_seq;
}

HF_BOTH_ENGINES(units_join_the_open_transaction)
{
    meeting m;
    hf_unit *ended[RUNS];
    int64_t before[RUNS];

    meeting_begin(&m, kind);
    for (size_t i = 0; i < RUNS; i++)
        before[i] = m.runs[i].base.last_seq;
    m.joins[0] = note(&m, 1, HF_REBASE_NEVER, false);
    m.joins[1] = note(&m, 2, HF_REBASE_NEVER, false);
    m.joins[2] = note(&m, 3, HF_REBASE_NEVER, false);
    m.join_count = 3;
    m.batch.expected = 3; /* so the last one is not asked for */
    ck_assert_uint_eq(batch_go(&m, note(&m, 0, HF_REBASE_NEVER, false), ended), 3);
    ck_assert_uint_eq(m.asked, 2);
    ck_assert_uint_eq(m.batch.stats.batches, 1);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(hf_unit_outcome(ended[i], NULL), HF_OK);
        ck_assert_int_eq(last_seq(&m, i), before[i] + 1);
        hf_unit_free(ended[i]);
    }
    ck_assert_int_eq(last_seq(&m, 3), before[3]);
    hf_unit_free(m.joins[2]);
    meeting_end(&m);
}

/* The next transaction is theirs: it is written while the first make their next units. */
HF_BOTH_ENGINES(where_a_sync_is_short_nobody_joins)
{
    meeting m;
    hf_unit *ended[RUNS];

    meeting_begin(&m, kind);
    m.batch.sync_us = 100;
    m.batch.ahead = NULL;
    m.joins[0] = note(&m, 1, HF_REBASE_NEVER, false);
    m.join_count = 1;
    m.batch.expected = 2;
    ck_assert_uint_eq(batch_go(&m, note(&m, 0, HF_REBASE_NEVER, false), ended), 1);
    ck_assert_uint_eq(m.asked, 0);
    hf_unit_free(ended[0]);
    hf_unit_free(m.joins[0]);
    meeting_end(&m);
}

/* Who comes for a run that is being written has its turn after it. */
HF_BOTH_ENGINES(who_joins_for_a_run_that_is_written_waits)
{
    meeting m;
    hf_unit *ended[RUNS];
    int64_t before;

    meeting_begin(&m, kind);
    before = m.runs[0].base.last_seq;
    m.joins[0] = note(&m, 0, HF_REBASE_WHILE_OPEN, false);
    m.joins[1] = note(&m, 1, HF_REBASE_NEVER, false);
    m.join_count = 2;
    m.batch.expected = 8;
    ck_assert_uint_eq(batch_go(&m, note(&m, 0, HF_REBASE_NEVER, false), ended), 2);
    ck_assert(hf_batch_waiting(&m.batch));
    ck_assert_int_eq(last_seq(&m, 0), before + 1);
    hf_unit_free(ended[0]);
    hf_unit_free(ended[1]);
    while (batch_go(&m, NULL, ended) == 0) /* it is based anew on the run as it is */
        ck_assert(hf_batch_waiting(&m.batch));
    ck_assert_int_eq(hf_unit_outcome(ended[0], NULL), HF_OK);
    ck_assert_int_eq(last_seq(&m, 0), before + 2);
    hf_unit_free(ended[0]);
    meeting_end(&m);
}

/* The unit joins that of another run and falls; the other stands. */
static void falls_alone(meeting *m, hf_unit *unit, hf_status why)
{
    hf_unit *ended[RUNS];
    int64_t first = last_seq(m, 0);
    int64_t second = last_seq(m, 1);

    m->joins[0] = unit;
    m->join_count = 1;
    m->batch.expected = 2;
    ck_assert_uint_eq(batch_go(m, note(m, 0, HF_REBASE_NEVER, false), ended), 2);
    ck_assert_uint_eq(m->asked, 1);
    ck_assert_int_eq(hf_unit_outcome(ended[0], NULL), HF_OK);
    ck_assert_ptr_eq(ended[1], unit);
    ck_assert_int_eq(hf_unit_outcome(ended[1], NULL), why);
    ck_assert_int_eq(last_seq(m, 0), first + 1);
    ck_assert_int_eq(last_seq(m, 1), second);
    hf_unit_free(ended[0]);
    hf_unit_free(ended[1]);
}

HF_BOTH_ENGINES(who_joins_too_late_falls_alone)
{
    meeting m;
    hf_unit *stale;

    meeting_begin(&m, kind);
    stale = note(&m, 1, HF_REBASE_NEVER, false);
    ok(hf_world_activity(&m.world, &m.runs[1], &err), "move on");
    falls_alone(&m, stale, HF_CONFLICT);
    meeting_end(&m);
}

HF_BOTH_ENGINES(who_joins_with_poison_falls_alone)
{
    meeting m;

    meeting_begin(&m, kind);
    falls_alone(&m, note(&m, 1, HF_REBASE_NEVER, true), HF_CONSTRAINT);
    meeting_end(&m);
}

/* Frees the units, which were committed, or told why not; counts the former. */
static int64_t units_end(hf_unit *unit)
{
    int64_t in = 0;

    while (unit) {
        hf_unit *next = unit->next;
        hf_status st = hf_unit_outcome(unit, NULL);

        ck_assert(st == HF_OK || st == HF_NOMEM || st == HF_STOPPED);
        in += st == HF_OK;
        hf_unit_free(unit);
        unit = next;
    }
    return in;
}

/* One round in which that allocation fails: each run has what its unit was told. False: there are
   not so many. */
static bool round_without(meeting *m, int64_t nth)
{
    hf_unit *first = note(m, 0, HF_REBASE_NEVER, false);
    hf_status fatal = HF_OK;
    hf_unit *rest = NULL;
    hf_unit *unit;
    int64_t before[3];
    int64_t applied;
    int64_t after = 0;
    bool hit;

    for (size_t i = 0; i < 3; i++)
        before[i] = last_seq(m, i);
    m->joins[0] = note(m, 1, HF_REBASE_NEVER, false);
    m->joins[1] = note(m, 2, HF_REBASE_NEVER, false);
    m->join_count = 2;
    m->asked = 0;
    m->batch.expected = 3;
    hf_fault_arm(HF_FAULT_ALLOC, nth, false);
    unit = hf_batch_run(&m->batch, first, &rest, &fatal, &err);
    hit = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_eq(fatal, HF_OK);
    ck_assert(!hf_batch_waiting(&m->batch));
    applied = units_end(unit);
    while ((unit = rest)) {
        rest = unit->next;
        hf_unit_free(unit);
    }
    while (m->asked < m->join_count)
        hf_unit_free(m->joins[m->asked++]);
    for (size_t i = 0; i < 3; i++)
        after += last_seq(m, i) - before[i];
    ck_assert_int_eq(after, applied);
    ck_assert(hit || applied == 3);
    return hit;
}

HF_BOTH_ENGINES(memory_may_end_while_they_join)
{
    meeting m;

    meeting_begin(&m, kind);
    for (int64_t nth = 1; round_without(&m, nth); nth++)
        ck_assert_int_lt(nth, 1000);
    meeting_end(&m);
}

/* ---- behind a COMMIT */

static void ahead_begin(meeting *m, hf_engine_kind kind)
{
    meeting_begin(m, kind);
    m->batch.sync_us = 100;
}

/* The first are committed, and the others sent behind them. How many of the first ended. */
static size_t ahead_go(meeting *m, hf_unit *first, hf_unit *others, hf_unit **out_ended)
{
    size_t ended;

    m->joins[0] = others;
    m->join_count = 1;
    m->asked = 0;
    m->batch.expected = 3;
    ended = batch_go(m, first, out_ended);
    m->batch.expected = 0;
    ck_assert_uint_eq(m->asked, hf_test_place_kind(m->place) == HF_ENGINE_POSTGRES ? 1 : 0);
    return ended;
}

/* The others have their turn, and whoever came meanwhile joins them. */
static size_t others_go(meeting *m, hf_unit *late, hf_unit **out_ended)
{
    hf_unit *units = m->asked ? late : m->joins[0];

    if (!m->asked) { /* the engine cannot: they wait in the queue */
        hf_unit **end = &units;

        while (*end)
            end = &(*end)->next;
        *end = late;
    }
    return batch_go(m, units, out_ended);
}

static hf_unit *two(hf_unit *first, hf_unit *second)
{
    first->next = second;
    return first;
}

/* So many ended, all committed. */
static void all_in(hf_unit **ended, size_t count, size_t wanted)
{
    ck_assert_uint_eq(count, wanted);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(hf_unit_outcome(ended[i], NULL), HF_OK);
        hf_unit_free(ended[i]);
    }
}

HF_BOTH_ENGINES(the_next_are_sent_behind_the_commit)
{
    meeting m;
    hf_unit *ended[RUNS];
    int64_t before[RUNS];

    ahead_begin(&m, kind);
    for (size_t i = 0; i < RUNS; i++)
        before[i] = m.runs[i].base.last_seq;
    all_in(ended,
           ahead_go(&m, note(&m, 0, HF_REBASE_NEVER, false),
                    two(note(&m, 1, HF_REBASE_NEVER, false), note(&m, 2, HF_REBASE_NEVER, false)),
                    ended),
           1);
    ck_assert_int_eq(last_seq(&m, 0), before[0] + 1);
    if (m.asked) {
        ck_assert(hf_batch_waiting(&m.batch));
        ck_assert_uint_eq(m.wanted, 2);
    }
    all_in(ended, others_go(&m, note(&m, 3, HF_REBASE_NEVER, false), ended), 3);
    ck_assert(!hf_batch_waiting(&m.batch));
    ck_assert_uint_eq(m.batch.stats.batches, 2);
    for (size_t i = 0; i < RUNS; i++)
        ck_assert_int_eq(last_seq(&m, i), before[i] + 1);
    meeting_end(&m);
}

/* What happens to a run is decided one after the other. */
HF_BOTH_ENGINES(who_is_sent_for_a_run_under_way_waits)
{
    meeting m;
    hf_unit *ended[RUNS];
    int64_t before;

    ahead_begin(&m, kind);
    before = m.runs[0].base.last_seq;
    all_in(
        ended,
        ahead_go(&m, note(&m, 0, HF_REBASE_NEVER, false),
                 two(note(&m, 0, HF_REBASE_WHILE_OPEN, false), note(&m, 1, HF_REBASE_NEVER, false)),
                 ended),
        1);
    all_in(ended, others_go(&m, NULL, ended), 1);
    while (batch_go(&m, NULL, ended) == 0)
        ck_assert(hf_batch_waiting(&m.batch));
    all_in(ended, 1, 1);
    ck_assert_int_eq(last_seq(&m, 0), before + 2);
    meeting_end(&m);
}

/* One unit falls, among the first or the others, and none beside it. */
static void one_falls(hf_engine_kind kind, bool first, bool poison)
{
    hf_status why = poison ? HF_CONSTRAINT : HF_CONFLICT;
    hf_unit *ended[RUNS];
    int64_t before[3];
    hf_unit *bad;
    meeting m;
    size_t count;

    ahead_begin(&m, kind);
    bad = note(&m, 1, HF_REBASE_NEVER, poison);
    if (!poison)
        ok(hf_world_activity(&m.world, &m.runs[1], &err), "move on");
    for (size_t i = 0; i < 3; i++)
        before[i] = last_seq(&m, i);
    if (first) {
        count = ahead_go(&m, two(note(&m, 0, HF_REBASE_NEVER, false), bad),
                         note(&m, 2, HF_REBASE_NEVER, false), ended);
        ck_assert_uint_eq(count, 2);
        ck_assert_int_eq(hf_unit_outcome(ended[0], NULL), HF_OK);
        ck_assert_int_eq(hf_unit_outcome(ended[1], NULL), why);
        hf_unit_free(ended[0]);
        all_in(ended, others_go(&m, NULL, ended), 1);
    } else {
        all_in(ended,
               ahead_go(&m, note(&m, 0, HF_REBASE_NEVER, false),
                        two(note(&m, 2, HF_REBASE_NEVER, false), bad), ended),
               1);
        ck_assert_uint_eq(others_go(&m, NULL, ended), 2);
        ck_assert_int_eq(hf_unit_outcome(ended[0], NULL), HF_OK);
        ck_assert_int_eq(hf_unit_outcome(ended[1], NULL), why);
        hf_unit_free(ended[0]);
    }
    hf_unit_free(bad);
    ck_assert(!hf_batch_waiting(&m.batch));
    ck_assert_int_eq(last_seq(&m, 0), before[0] + 1);
    ck_assert_int_eq(last_seq(&m, 1), before[1]);
    ck_assert_int_eq(last_seq(&m, 2), before[2] + 1);
    meeting_end(&m);
}

HF_BOTH_ENGINES(who_falls_takes_nobody_along)
{
    for (int i = 0; i < 4; i++)
        one_falls(kind, i & 1, i & 2);
}

/* The others were sent behind a COMMIT whose answer is lost: it is read back, and they go again. */
HF_BOTH_ENGINES(a_lost_answer_sends_the_next_again)
{
    meeting m;
    hf_unit *ended[RUNS];
    int64_t before[2];
    size_t count;

    ahead_begin(&m, kind);
    for (size_t i = 0; i < 2; i++)
        before[i] = m.runs[i].base.last_seq;
    hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
    count = ahead_go(&m, note(&m, 0, HF_REBASE_NEVER, false), note(&m, 1, HF_REBASE_NEVER, false),
                     ended);
    hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
    all_in(ended, count, 1);
    ck_assert_uint_eq(m.batch.stats.unknown, 1);
    all_in(ended, others_go(&m, NULL, ended), 1);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(last_seq(&m, i), before[i] + 1);
    meeting_end(&m);
}

/* Two rounds, the second behind the first, in which that step fails: what is there is what the
   units were told. False: there are not so many. */
static bool ahead_without(meeting *m, hf_fault_kind what, int64_t nth)
{
    hf_unit *units = note(m, 0, HF_REBASE_NEVER, false);
    int64_t before = 0;
    int64_t after = 0;
    int64_t in = 0;
    bool hit;

    for (size_t i = 0; i < 3; i++)
        before += last_seq(m, i);
    m->joins[0] = two(note(m, 1, HF_REBASE_NEVER, false), note(m, 2, HF_REBASE_NEVER, false));
    m->join_count = 1;
    m->asked = 0;
    hf_fault_arm(what, nth, false);
    do {
        hf_status fatal = HF_OK;
        hf_unit *rest = NULL;

        m->batch.expected = m->asked ? 0 : 3;
        in += units_end(hf_batch_run(&m->batch, units, &rest, &fatal, &err));
        if (fatal)
            in += units_end(hf_batch_abandon(&m->batch, &err));
        units = rest;
        if (!units && !m->asked)
            units = join_next(m);
    } while (units || hf_batch_waiting(&m->batch));
    hit = hf_fault_seen(what) >= nth;
    hf_fault_arm(what, 0, false);
    for (size_t i = 0; i < 3; i++)
        after += last_seq(m, i);
    ck_assert_int_eq(after - before, in);
    ck_assert(hit || in == 3);
    return hit;
}

HF_BOTH_ENGINES(every_step_may_fail_while_the_next_are_sent)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB, HF_FAULT_DB_LOST};
    meeting m;

    ahead_begin(&m, kind);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (int64_t nth = 1; ahead_without(&m, kinds[i], nth); nth++)
            ck_assert_int_lt(nth, 1000);
    meeting_end(&m);
}

HF_PG_SUITE_MAIN("commit/batch", HF_BOTH(units_join_the_open_transaction),
                 HF_BOTH(where_a_sync_is_short_nobody_joins),
                 HF_BOTH(who_joins_for_a_run_that_is_written_waits),
                 HF_BOTH(who_joins_too_late_falls_alone),
                 HF_BOTH(who_joins_with_poison_falls_alone),
                 HF_BOTH(memory_may_end_while_they_join),
                 HF_BOTH(the_next_are_sent_behind_the_commit),
                 HF_BOTH(who_is_sent_for_a_run_under_way_waits),
                 HF_BOTH(who_falls_takes_nobody_along), HF_BOTH(a_lost_answer_sends_the_next_again),
                 HF_BOTH(every_step_may_fail_while_the_next_are_sent))
