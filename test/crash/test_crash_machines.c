/* Step machines, stopped anywhere. On a simulated disk: after every write and sync of every
   scenario, killed once and left without power in several ways; on both databases: without its
   memory after every commit. The store holds what was acknowledged and verifies clean, and when the
   callers ask again, as callers do, every machine comes to the end that it has without a crash. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/engine_impl.h"
#include "lib/campaign.h"
#include "lib/kit.h"
#include "lib/recovery.h"
#include "lib/simvfs.h"

#define STORE    "/sim/store.db"
#define EPOCH_US INT64_C(1767225600000000) /* 2026-01-01 */

enum {
    SEEDS = 3, /* power losses for each operation, beside the kill */
    POINTS_SHORT = 120,
    POINTS_USUAL = 360,
    MOMENTS_MAX = 2000,
    CASE_SECONDS = 100000000 /* campaigns end by themselves */
};

/* ---- the application: how it ends does not depend on when things happen */

static const char *const pack_names[] = {"a", "b", "c", NULL};

static hf_outcome gather(hf_step *s)
{
    if (hf_len(hf_step_awaited(s)) == 3)
        return hf_done(s, hf_json(s, "['pack', %p]",
                                  (const void *)hf_get(hf_at(hf_step_awaited(s), 0), "payload")));
    return hf_park_any(s, pack_names, HF_NO_TIMEOUT, "gather", hf_step_state(s));
}

static hf_outcome nap(hf_step *s)
{
    return hf_park(s, "a", hf_int(hf_step_state(s), "ms", 1000), "up", hf_step_state(s));
}

static hf_outcome up(hf_step *s)
{
    return hf_done(s, hf_json(s, "%s", hf_step_timed_out(s) ? "late" : "in time"));
}

static hf_outcome stubborn(hf_step *s)
{
    if (hf_step_attempt(s) <= 2)
        return hf_again(s, hf_step_state(s), 100);
    return hf_next(s, "calm", hf_json(s, "'calm'"));
}

static hf_outcome calm(hf_step *s)
{
    return hf_done(s, hf_step_state(s));
}

static hf_outcome fan(hf_step *s)
{
    const hf_leaf children[] = {HF_CHILD("job", hf_json(s, "{'n': 1}"), .id = "kid-1"),
                                HF_CHILD("job", hf_json(s, "{'n': 2}"), .id = "kid-2"),
                                HF_CHILD("job", hf_json(s, "{'stop': true}"), .id = "kid-3"),
                                {0}};

    return hf_fan_out(s, children, "join", hf_step_state(s));
}

static hf_outcome join(hf_step *s)
{
    hf_value kids = hf_step_children(s);

    return hf_done(s, hf_json(s, "[%s, %s, %s]", hf_str(hf_at(kids, 0), "status", ""),
                              hf_str(hf_at(kids, 1), "status", ""),
                              hf_str(hf_at(kids, 2), "status", "")));
}

static hf_outcome job(hf_step *s)
{
    if (hf_bool(hf_step_state(s), "stop", false))
        return hf_stop(s, "unwanted", "not this one");
    if (hf_step_attempt(s) == 1)
        return hf_raise(s, "busy", "once more");
    return hf_done(s, hf_step_state(s));
}

static hf_outcome enter(hf_step *s)
{
    return hf_next_with(s, "inside",
                        &(hf_next_opts){.size_ = sizeof(hf_next_opts),
                                        .state = hf_step_state(s),
                                        .concurrency_key = "door",
                                        .rate_limit = "mail"});
}

static hf_outcome inside(hf_step *s)
{
    return hf_park(s, "a", HF_NO_TIMEOUT, "leave", hf_step_state(s));
}

static hf_outcome leave(hf_step *s)
{
    return hf_done(s, hf_json(s, "'left'"));
}

static const hf_signal_def signals[] = {{.name = "a", .params = "n:any?=0"},
                                        {.name = "b", .params = "n:any?=0"},
                                        {.name = "c", .params = "n:any?=0"},
                                        {.name = "d", .params = "n:any?=0"},
                                        {0}};
static const hf_step_def pack_steps[] = {{"gather", gather}, {0}};
static const hf_step_def nap_steps[] = {{"nap", nap}, {"up", up}, {0}};
static const hf_step_def stubborn_steps[] = {{"stubborn", stubborn}, {"calm", calm}, {0}};
static const hf_step_def parent_steps[] = {{"fan", fan}, {"join", join}, {0}};
static const hf_step_def door_steps[] = {
    {"enter", enter}, {"inside", inside}, {"leave", leave}, {0}};
static const hf_machine_def machines[] = {
    {"pack", .initial = "gather", .steps = pack_steps, .signals = signals},
    {"nap", .initial = "nap", .steps = nap_steps, .signals = signals},
    {"stubborn", .initial = "stubborn", .steps = stubborn_steps},
    {"parent", .initial = "fan", .steps = parent_steps},
    {"door", .initial = "enter", .steps = door_steps, .signals = signals},
    {"job", .job = job},
    {0}};
static const hf_limit_def limits[] = {{"mail", .allowed = 2, .per = 1000}, {0}};
static const hf_app app = {.name = "crash", .machines = machines, .limits = limits};

/* ---- a play: moves that may be made again */

/* Somebody who looks after each move. */
typedef struct play {
    hf_engine *engine;
    void (*look)(struct play *play);
    hf_simvfs *vfs;
    hf_ledger ledger;
    int64_t commit;
    struct {
        int64_t operation;
        int64_t now_us;
    } moments[MOMENTS_MAX];
    size_t moment_count;
} play;

static void look(play *p)
{
    if (p->look)
        p->look(p);
}

static void drain(play *p)
{
    hf_err err = {0};

    for (;;) {
        hf_test_ok(hf_engine_begin(p->engine, ENGINE_TEST, &err), &err, "begin");
        if (!hf_engine_pump(p->engine))
            break;
        look(p);
    }
    hf_test_ok(hf_core_failure(p->engine->core, &err), &err, "go on");
}

static void pass_time(play *p, hf_ms by)
{
    int64_t end_us = hf_clock_wall_us(p->engine->clock) + by * 1000;
    int64_t next_us;

    drain(p);
    while ((next_us = hf_core_next_us(p->engine->core)) <= end_us) {
        if (next_us > hf_clock_wall_us(p->engine->clock))
            hf_clock_advance(p->engine->virtual_clock,
                             next_us - hf_clock_wall_us(p->engine->clock));
        drain(p);
    }
    if (end_us > hf_clock_wall_us(p->engine->clock))
        hf_clock_advance(p->engine->virtual_clock, end_us - hf_clock_wall_us(p->engine->clock));
    drain(p);
}

/* Asked for again, a start finds what it made. */
static void start(play *p, const char *type, const char *id, hf_value in)
{
    hf_status st = hf_start(p->engine, type, in, .id = id, .request_id = id);

    if (st != HF_EXISTS)
        hf_kit_ok(p->engine, st);
    look(p);
}

/* A repetition is told that it is one, or that the machine has ended meanwhile. */
static void send(play *p, const char *to, const char *name, const char *key)
{
    hf_status st = hf_signal_dedup(p->engine, to, name, hf_json(p->engine, "[%s]", key), key);

    if (st != HF_REJECTED && st != HF_NOTFOUND)
        hf_kit_ok(p->engine, st);
    look(p);
}

/* Three signals make a pack; one that nobody awaits goes with the end. */
static void play_await(play *p)
{
    start(p, "pack", "p", NULL);
    send(p, "p", "d", "d1");
    send(p, "p", "a", "a1");
    drain(p);
    send(p, "p", "b", "b1");
    drain(p);
    send(p, "p", "c", "c1");
    drain(p);
    send(p, "p", "a", "a2");
    drain(p);
}

/* One in time, one late. */
static void play_timeout(play *p)
{
    start(p, "nap", "n1", hf_json(p->engine, "{'ms': 60000000}"));
    start(p, "nap", "n2", hf_json(p->engine, "{'ms': 500}"));
    drain(p);
    send(p, "n1", "a", "k");
    drain(p);
    pass_time(p, 600);
}

static void play_retry(play *p)
{
    start(p, "stubborn", "s", NULL);
    start(p, "job", "j", hf_json(p->engine, "{'n': 7}"));
    pass_time(p, 5000);
}

static void play_children(play *p)
{
    start(p, "parent", "mother", NULL);
    pass_time(p, 5000);
}

/* Many starts at once; the second of a key never is one. */
static void play_jobs(play *p)
{
    hf_start_opts items[5];
    hf_status answers[5];
    static const char *const ids[] = {"j0", "j1", "j2", "j3", "twin"};
    static const char *const keys[] = {"k0", "k1", "k2", "k3", "k0"};

    for (size_t i = 0; i < 5; i++)
        items[i] = (hf_start_opts){.size_ = sizeof(hf_start_opts),
                                   .in = hf_json(p->engine, "{'n': %d}", (int)i),
                                   .id = ids[i],
                                   .correlation_key = keys[i],
                                   .correlation_scope = "done,failed"};
    hf_kit_ok(p->engine, hf_start_all(p->engine, "job", items, 4, answers));
    look(p);
    hf_kit_ok(p->engine, hf_start_all(p->engine, "job", items + 4, 1, answers + 4));
    look(p); /* that it was refused is recorded where the key is, in a commit of its own */
    for (size_t i = 0; i < 4; i++)
        ck_assert(answers[i] == HF_OK || answers[i] == HF_EXISTS);
    ck_assert_int_eq(answers[4], HF_EXISTS);
    pass_time(p, 5000);
}

/* A signal to whoever has the key. */
static void play_key(play *p)
{
    hf_status st = hf_start(p->engine, "nap", hf_json(p->engine, "{'ms': 60000000}"), .id = "n",
                            .correlation_key = "order-7", .correlation_scope = "done");

    if (st != HF_EXISTS)
        hf_kit_ok(p->engine, st);
    look(p);
    drain(p);
    send(p, "order-7", "a", "k");
    drain(p);
}

/* One at a time through the door, two in a second. */
static void play_limits(play *p)
{
    static const char *const ids[] = {"d0", "d1", "d2"};

    for (size_t i = 0; i < 3; i++)
        start(p, "door", ids[i], NULL);
    drain(p);
    for (size_t i = 0; i < 3; i++)
        send(p, ids[i], "a", "k");
    pass_time(p, 15000); /* a slot of a process that died is free after its lease */
}

/* An end from outside clears an inbox as well. */
static void play_terminate(play *p)
{
    hf_status st;

    start(p, "pack", "p", NULL);
    send(p, "p", "d", "d1");
    drain(p);
    send(p, "p", "a", "a1");
    drain(p);
    st = hf_terminate(p->engine, "p", "enough");
    if (st != HF_REJECTED)
        hf_kit_ok(p->engine, st);
    look(p);
    drain(p);
}

static const struct {
    const char *name;
    void (*play)(play *p);
} scenarios[] = {
    {"await", play_await},       {"timeout", play_timeout},     {"retry", play_retry},
    {"children", play_children}, {"jobs", play_jobs},           {"key", play_key},
    {"limits", play_limits},     {"terminate", play_terminate},
};

enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

/* ---- how it ended */

static void end_line(hf_engine *d, hf_buf *text, const char *id)
{
    const hf_error *error = NULL;
    hf_value out = NULL;
    hf_status st = hf_result(d, id, 0, &out, &error);

    hf_buf_add_format(text, "%s %s %s steps=%d signals=%d\n", id, hf_test_status(d, id),
                      st == HF_OK ? hf_show(d, out) : (error ? error->type : ""),
                      hf_test_count(d, id, "StepCompleted"),
                      hf_test_count(d, id, "SignalReceived"));
}

/* A line for each instance, by id. */
static void end_read(hf_engine *d, hf_buf *text)
{
    hf_db_cursor *cursor = NULL;
    hf_buf ids = {0};
    hf_err err = {0};
    bool row = true;

    hf_test_ok(hf_db_query_text(hf_store_writer(d->store), "SELECT id FROM instance ORDER BY id",
                                NULL, 0, &cursor, &err),
               &err, "instances");
    for (;;) {
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "instances");
        if (!row)
            break;
        hf_buf_add_slice(&ids, hf_db_column_bytes(cursor, 0));
        hf_buf_add_byte(&ids, '\0');
    }
    hf_db_end(cursor);
    ck_assert(hf_buf_ok(&ids));
    for (const char *id = hf_buf_text(&ids); id < hf_buf_text(&ids) + ids.len; id += strlen(id) + 1)
        end_line(d, text, id);
    ck_assert(hf_buf_ok(text));
    hf_buf_fini(&ids);
}

/* ---- a simulated disk */

static hf_engine *engine_on(hf_simvfs *vfs, int64_t now_us)
{
    hf_clock *clock = hf_clock_new_virtual(now_us);
    hf_engine *d = NULL;
    hf_status st;

    ck_assert_ptr_nonnull(clock);
    st = hf_engine_open_in(STORE, hf_simvfs_name(vfs), &app, clock, &d);
    ck_assert_ptr_nonnull(d);
    if (!st)
        st = hf_engine_begin(d, ENGINE_TEST, &d->open_error);
    hf_kit_ok(d, st);
    return d;
}

/* Takes down which runs moved: they are acknowledged. */
static void look_recording(play *p)
{
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = true;

    p->commit++;
    hf_test_ok(hf_db_query_text(hf_store_writer(p->engine->store),
                                "SELECT key, last_seq, head FROM run ORDER BY key", NULL, 0,
                                &cursor, &err),
               &err, "runs");
    for (;;) {
        hf_run_base base = {0};
        bool known = false;

        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "runs");
        if (!row)
            break;
        base.run = hf_db_column_int(cursor, 0);
        base.last_seq = hf_db_column_int(cursor, 1);
        memcpy(base.head, hf_db_column_bytes(cursor, 2).ptr, sizeof(base.head));
        for (size_t i = 0; i < p->ledger.count && !known; i++)
            known =
                p->ledger.entries[i].run == base.run && p->ledger.entries[i].seq == base.last_seq;
        if (!known)
            hf_ledger_note(&p->ledger, &base, p->commit, hf_simvfs_operation(p->vfs));
    }
    hf_db_end(cursor);
    ck_assert_uint_lt(p->moment_count, MOMENTS_MAX);
    p->moments[p->moment_count].operation = hf_simvfs_operation(p->vfs);
    p->moments[p->moment_count++].now_us = hf_clock_wall_us(p->engine->clock);
}

static int64_t moment_of(const play *p, int64_t operation)
{
    int64_t now_us = EPOCH_US;

    for (size_t i = 0; i < p->moment_count && p->moments[i].operation <= operation; i++)
        now_us = p->moments[i].now_us;
    return now_us;
}

/* The scenario without a crash; returns its operations. */
static int64_t scenario_record(size_t nth, play *p, hf_buf *end)
{
    memset(p, 0, sizeof(*p));
    p->vfs = hf_simvfs_new("sim-machines");
    ck_assert_ptr_nonnull(p->vfs);
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
    p->engine = engine_on(p->vfs, EPOCH_US);
    ck_assert(hf_simvfs_record(p->vfs));
    p->look = look_recording;
    scenarios[nth].play(p);
    end_read(p->engine, end);
    hf_close(p->engine);
    p->engine = NULL;
    return hf_simvfs_operation(p->vfs);
}

static bool file_put(void *ctx, const char *name, const uint8_t *bytes, size_t len)
{
    return hf_simvfs_put(ctx, name, bytes, len);
}

static void point_check(hf_campaign *campaign, size_t nth, const play *recorded, const hf_buf *end,
                        int64_t operation, hf_simvfs *target)
{
    const hf_recovery recovery = {.ledger = &recorded->ledger,
                                  .commit = hf_ledger_commit_at(&recorded->ledger, operation),
                                  .exact = true,
                                  .known = true};
    play again = {.engine = engine_on(target, moment_of(recorded, operation))};
    hf_complaint complaint;
    hf_buf found = {0};

    if (!hf_recovery_ledger(&recovery, hf_store_writer(again.engine->store), &complaint))
        hf_campaign_fail(campaign, complaint.text);
    scenarios[nth].play(&again);
    end_read(again.engine, &found);
    if (strcmp(hf_buf_text(&found), hf_buf_text(end)) != 0) {
        (void)snprintf(complaint.text, sizeof(complaint.text),
                       "it ended as\n%.400s instead of\n%.400s", hf_buf_text(&found),
                       hf_buf_text(end));
        hf_campaign_fail(campaign, complaint.text);
    }
    hf_close(again.engine);
    if (!hf_recovery_verify(STORE, hf_simvfs_name(target), &complaint))
        hf_campaign_fail(campaign, complaint.text);
    hf_buf_fini(&found);
}

static void scenario_crash(hf_campaign *campaign, size_t nth, int64_t share, hf_simvfs *target)
{
    static play recorded;
    hf_buf end = {0};
    int64_t operations = scenario_record(nth, &recorded, &end);
    int64_t points = (operations + 1) * (SEEDS + 1);
    int64_t stride = share < points ? (points + share - 1) / share : 1;
    hf_simdisk *disk = hf_simdisk_new(hf_simvfs_log(recorded.vfs), 0);

    ck_assert_ptr_nonnull(disk);
    for (int64_t at = 0; at < points; at++) {
        int64_t operation = at / (SEEDS + 1);
        int64_t seed = at % (SEEDS + 1);

        ck_assert(hf_simdisk_forward(disk, operation));
        if (campaign->point < 0 && at % stride != 0)
            continue;
        if (!hf_campaign_takes(campaign, scenarios[nth].name, operation, seed))
            continue;
        hf_simvfs_reset(target);
        ck_assert(seed ? hf_simdisk_lose_power(disk, (uint64_t)seed, file_put, target)
                       : hf_simdisk_kill(disk, file_put, target));
        point_check(campaign, nth, &recorded, &end, operation, target);
    }
    hf_simdisk_free(disk);
    hf_buf_fini(&end);
    hf_ledger_fini(&recorded.ledger);
    hf_simvfs_free(recorded.vfs);
}

/* After any write or sync, killed or without power. */
START_TEST(machines_survive_every_crash_point)
{
    hf_simvfs *target = hf_simvfs_new("sim-machines-after");
    hf_campaign campaign;

    hf_campaign_init(&campaign, POINTS_SHORT, POINTS_USUAL, INT64_MAX - 1);
    for (size_t i = 0; i < SCENARIOS; i++)
        scenario_crash(&campaign, i, campaign.points_max / SCENARIOS, target);
    ck_assert_int_gt(campaign.points, 0);
    printf("crash_machines: %" PRId64 " points, %d scenarios\n", campaign.points, (int)SCENARIOS);
    hf_simvfs_free(target);
}
END_TEST

/* ---- commits on both databases */

/* Plays with the engine's memory lost after a commit, 0: after none; returns the commits. */
static int64_t kit_play(hf_engine_kind kind, size_t nth, int64_t crash_at, hf_buf *end)
{
    play p = {.engine = hf_kit_open(kind, &app)};
    int64_t before = p.engine->commits;
    int64_t commits;

    if (crash_at)
        hf_kit_crash_after(p.engine, crash_at);
    scenarios[nth].play(&p);
    drain(&p);
    commits = p.engine->commits - before;
    if (crash_at)
        scenarios[nth].play(&p); /* callers that heard nothing ask again */
    end_read(p.engine, end);
    hf_kit_close(p.engine);
    return commits;
}

/* After any commit, without what was only in memory. */
HF_BOTH_ENGINES(machines_survive_a_crash_at_every_commit)
{
    int stride =
        hf_campaign_stride(kind == HF_ENGINE_SQLITE ? 9 : 23, kind == HF_ENGINE_SQLITE ? 5 : 11);

    for (size_t nth = 0; nth < SCENARIOS; nth++) {
        hf_buf whole = {0};
        int64_t commits = kit_play(kind, nth, 0, &whole);

        for (int64_t at = 1 + (int64_t)nth % stride; at <= commits; at += stride) {
            hf_buf end = {0};

            (void)kit_play(kind, nth, at, &end);
            ck_assert_msg(strcmp(hf_buf_text(&end), hf_buf_text(&whole)) == 0,
                          "%s, a crash after commit %lld of %lld:\n%s instead of\n%s",
                          scenarios[nth].name, (long long)at, (long long)commits, hf_buf_text(&end),
                          hf_buf_text(&whole));
            hf_buf_fini(&end);
        }
        hf_buf_fini(&whole);
    }
}

HF_PG_SUITE_MAIN("crash/crash_machines", {machines_survive_every_crash_point, CASE_SECONDS},
                 HF_BOTH_SLOW(machines_survive_a_crash_at_every_commit, 3600))
