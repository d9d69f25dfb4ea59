/* Signals that take the turn they cause along: what is in the store afterwards is the same, in one
   commit less, and whatever does not fit is received the plain way. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/thread.h"
#include "engine/engine_impl.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { SENDERS = 2, RUNS = 12 };

static _Atomic bool released; /* lets looping workflows go */
static _Atomic int coming;    /* that are about to wait for their signal */

static hf_value calls(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_activity(w, "echo", hf_receive(w, "go"));
}

/* The second signal is asked for after the first. */
static hf_value sorts(hf_ctx *w, hf_value in)
{
    hf_value first = hf_receive(w, "go");
    hf_value second = hf_receive(w, "other");

    (void)in;
    return hf_json(w, "[%p, %p]", (const void *)first, (const void *)second);
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_child(w, "plain", hf_receive(w, "go"));
}

static hf_value again(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);

    if (left == 0)
        return in;
    (void)hf_receive(w, "go");
    hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
}

static hf_value loops(hf_ctx *w, hf_value in)
{
    hf_value got;

    (void)in;
    (void)atomic_fetch_add(&coming, 1);
    got = hf_receive(w, "go");
    while (!atomic_load(&released))
        ;
    return got;
}

static const hf_signal_def signals[] = {{.name = "go"}, {.name = "other"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = hf_wait_go, .signals = signals},
    {.type = "calls", .run = calls, .signals = signals},
    {.type = "sorts", .run = sorts, .signals = signals},
    {.type = "parent", .run = parent, .signals = signals},
    {.type = "plain", .run = hf_end_now},
    {.type = "again", .run = again, .signals = signals},
    {.type = "loops", .run = loops, .signals = signals},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static hf_engine *kit_open(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    d->nudges = true;
    return d;
}

/* A run that is at rest in memory. */
static void park(hf_engine *d, const char *type, const char *id)
{
    hf_kit_ok(d, hf_start(d, type, hf_json(d, "{'left': 2}"), .id = id));
    hf_kit_ok(d, hf_test_drain(d));
}

static int64_t units(hf_engine *d)
{
    return (int64_t)hf_writer_stats_get(d->writer).units;
}

static int64_t tasks(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM task");
}

/* One commit takes the run to its end, and history reads as if there had been two. */
HF_BOTH_ENGINES(a_signal_and_its_turn_are_one_commit)
{
    hf_engine *d = kit_open(kind);
    const char *two;
    int64_t before;

    d->nudges = false;
    park(d, "waits", "plain");
    hf_kit_ok(d, hf_signal(d, "plain", "go", hf_json(d, "[7]")));
    ck_assert_int_eq(tasks(d), 1);
    hf_kit_ok(d, hf_test_drain(d));
    two = hf_kit_history(d, "plain");
    d->nudges = true;
    park(d, "waits", "a");
    before = units(d);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[7]")));
    ck_assert_int_eq(units(d), before + 1);
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_str_eq(hf_kit_result(d, "a"), "7");
    ck_assert_str_eq(hf_kit_history(d, "a"), two);
    ck_assert_int_eq(tasks(d), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE applied_us IS NULL"), 0);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* What the code asks for next is claimed in the same unit; a big value is no hindrance. */
HF_BOTH_ENGINES(the_next_attempt_is_claimed_with_the_signal)
{
    hf_engine *d = kit_open(kind);
    static char big[5000];
    int64_t before;

    memset(big, 'x', sizeof(big) - 1);
    park(d, "calls", "a");
    before = units(d);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[%s]", big)));
    ck_assert_int_eq(units(d), before + 1);
    ck_assert_int_eq(tasks(d), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT attempt FROM activity"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_eq(strlen(hf_kit_result(d, "a")), sizeof(big) - 1 + 2);
    hf_kit_close(d);
}

/* A signal that the code does not wait for yet is kept, and applied when it is asked for. */
HF_BOTH_ENGINES(a_signal_that_comes_early_is_kept)
{
    hf_engine *d = kit_open(kind);
    int64_t before;

    park(d, "sorts", "a");
    before = units(d);
    hf_kit_ok(d, hf_signal(d, "a", "other", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    ck_assert_int_eq(units(d), before + 2);
    ck_assert_str_eq(hf_kit_result(d, "a"), "[1,2]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT message_cursor FROM run"), 2);
    hf_kit_close(d);
}

/* Rows of other runs fit, too: children, and the run that follows. */
HF_BOTH_ENGINES(children_and_the_next_run_begin_with_the_signal)
{
    hf_engine *d = kit_open(kind);

    park(d, "parent", "p");
    hf_kit_ok(d, hf_signal(d, "p", "go", hf_json(d, "[3]")));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 2);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "p"), "3");
    park(d, "again", "c");
    for (int i = 0; i < 2; i++) {
        hf_kit_ok(d, hf_signal(d, "c", "go", NULL));
        hf_kit_ok(d, hf_test_drain(d));
    }
    ck_assert_str_eq(hf_kit_result(d, "c"), "{\"left\":0}");
    hf_kit_close(d);
}

/* A run that is not in memory, one that is paused and one whose turn is due get their task. */
HF_BOTH_ENGINES(runs_that_are_not_at_rest_are_left_alone)
{
    hf_engine *d = kit_open(kind);
    hf_command_result out;

    park(d, "waits", "away");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "away", "go", hf_json(d, "[1]")));
    ck_assert_int_eq(tasks(d), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "away"), "1");
    park(d, "waits", "paused");
    hf_kit_ok(d, hf_command(d, "pause", hf_json(d, "{'workflow_id': 'paused'}"),
                            hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "paused", "go", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "paused"), "waiting paused");
    hf_kit_ok(d, hf_command(d, "resume", hf_json(d, "{'workflow_id': 'paused'}"),
                            hf_mem_of_engine(d), &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "paused"), "2");
    park(d, "sorts", "due");
    d->nudges = false;
    hf_kit_ok(d, hf_signal(d, "due", "go", hf_json(d, "[3]")));
    d->nudges = true;
    hf_kit_ok(d, hf_signal(d, "due", "other", hf_json(d, "[4]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "due"), "[3,4]");
    hf_kit_close(d);
}

/* The process dies between the commit and the acknowledgement: all of it is there. */
HF_BOTH_ENGINES(a_crash_after_the_commit_loses_nothing)
{
    hf_engine *d = kit_open(kind);

    park(d, "calls", "a");
    hf_kit_crash_after(d, 1);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "1");
    ck_assert_int_eq(hf_test_count(d, "a", "SignalReceived"), 1);
    ck_assert_int_eq(hf_test_count(d, "a", "SignalApplied"), 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 1);
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 2);
    hf_kit_close(d);
}

static hf_status signals_lived(hf_engine *d, void *arg)
{
    static const char *const types[] = {"waits", "calls", "parent", "sorts"};
    hf_status st = HF_OK;
    char id[16];

    (void)arg;
    d->nudges = true;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        (void)snprintf(id, sizeof(id), "%s-1", types[i]);
        (void)hf_start(d, types[i], NULL, .id = id);
        (void)hf_test_drain(d);
        (void)hf_signal(d, id, "other", hf_json(d, "[1]"));
        (void)hf_signal(d, id, "go", hf_json(d, "[2]"));
        st = hf_test_drain(d);
    }
    return st;
}

/* Whatever commit is the last before a crash, the runs end alike. */
START_TEST(a_crash_anywhere_changes_nothing)
{
    char why[512];

    ck_assert_msg(hf_test_crash_everywhere(&app, signals_lived, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

/* What somebody else wrote meanwhile, as a node that does not own the shard. */
static void other_signals(void *ctx)
{
    hf_engine *other = ctx;

    hf_kit_ok(other, hf_signal(other, "a", "other", hf_json(other, "[1]")));
}

/* Another node's signal is committed first: the code's turn was taken without it, so both facts are
   recorded in their order and the turn is taken anew. */
START_TEST(a_run_that_moved_meanwhile_is_signalled_again)
{
    hf_engine *d = kit_open(HF_ENGINE_POSTGRES);
    hf_engine *other = hf_kit_join(d, &app);

    park(d, "sorts", "a");
    hf_kit_meddle(d, 1, other_signals, other);
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "a", "SignalReceived"), 2);
    ck_assert_str_eq(hf_kit_said(d, "a", "SignalReceived", 0, HF_KEY_SIGNAL_NAME), "other");
    ck_assert_str_eq(hf_kit_result(d, "a"), "[2,1]");
    hf_kit_leave(other);
    hf_kit_close(d);
}
END_TEST

static uint64_t calls_of_signal(hf_engine *d, const char *id)
{
    uint64_t before = hf_store_writer(d->store)->calls;

    hf_kit_ok(d, hf_signal(d, id, "go", NULL));
    return hf_store_writer(d->store)->calls - before;
}

/* The run is at rest: where it stands need not be read. */
HF_BOTH_ENGINES(a_run_at_rest_is_not_looked_up)
{
    hf_engine *d = kit_open(kind);

    park(d, "waits", "known");
    park(d, "waits", "read");
    hf_known_drop(d->known, d->namespace_key, HF_SLICE("read"));
    ck_assert_uint_lt(calls_of_signal(d, "known"), calls_of_signal(d, "read"));
    ck_assert_str_eq(hf_test_status(d, "known"), "completed");
    ck_assert_str_eq(hf_test_status(d, "read"), "completed");
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* What memory says may be out of date: then the store is asked, and answers. */
HF_BOTH_ENGINES(what_is_out_of_date_is_read)
{
    hf_engine *d = kit_open(kind);
    hf_intake_target old;

    park(d, "sorts", "a");
    ck_assert(hf_known_get(d->known, d->namespace_key, HF_SLICE("a"), hf_mem_of_engine(d), &old));
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_known_put(d->known, &old);
    hf_kit_ok(d, hf_signal(d, "a", "other", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "[1,2]");
    hf_known_put(d->known, &old); /* it is closed by now */
    ck_assert_int_eq(hf_signal(d, "a", "go", NULL), HF_REJECTED);
    hf_known_put(d->known, &old);
    ck_assert_int_eq(hf_signal(d, "a", "unheard-of", NULL), HF_REJECTED);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE rejection IS NOT NULL"),
                     2);
    hf_kit_close(d);
}

/* So many are kept, the oldest go first; memory that runs out only forgets. */
START_TEST(what_is_known_is_bounded)
{
    enum { RUNS_MANY = 5000 };
    hf_known *known = NULL;
    hf_intake_target target = {.instance = {.namespace_key = 1, .type = HF_SLICE("waits")},
                               .queue = HF_SLICE("default")};
    hf_mem *mem = hf_mem_new();
    hf_err err = {0};
    char id[32];

    ck_assert_int_eq(hf_known_new(&known, &err), HF_OK);
    for (int i = 0; i < RUNS_MANY; i++) {
        (void)snprintf(id, sizeof(id), "run-%d", i);
        target.instance.id = hf_slice_of(id);
        target.base.run = i;
        hf_known_put(known, &target);
    }
    ck_assert(hf_known_get(known, 1, hf_slice_of(id), mem, &target));
    ck_assert_int_eq(target.base.run, RUNS_MANY - 1);
    ck_assert(hf_slice_equal(target.queue, HF_SLICE("default")));
    ck_assert(!hf_known_get(known, 2, hf_slice_of(id), mem, &target));
    ck_assert(!hf_known_get(known, 1, HF_SLICE("run-0"), mem, &target));
    hf_known_drop(known, 1, hf_slice_of(id));
    ck_assert(!hf_known_get(known, 1, hf_slice_of(id), mem, &target));
    hf_known_free(known);
    hf_mem_free(mem);
}
END_TEST

/* Memory that runs out anywhere on the way refuses the signal or lets it pass, whole. */
HF_BOTH_ENGINES(memory_that_runs_out_leaves_no_half)
{
    hf_engine *d = kit_open(kind);
    int64_t seen = 0;

    for (int64_t nth = 1; seen >= nth - 1; nth++) {
        char id[32];
        hf_status st;

        (void)snprintf(id, sizeof(id), "a-%lld", (long long)nth);
        park(d, "waits", id);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_signal(d, id, "go", hf_json(d, "[1]"));
        seen = hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (hf_core_failure(d->core, NULL))
            hf_test_crash(d);
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_int_eq(hf_test_count(d, id, "SignalReceived"), st == HF_OK);
        if (st)
            hf_kit_ok(d, hf_signal(d, id, "go", hf_json(d, "[1]")));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, id), "1");
    }
    hf_kit_close(d);
}

/* The answer to a commit is lost, and a call into the database fails beside it, whichever: a signal
   is received once when that is said, and once at most when it is not. */
HF_BOTH_ENGINES(answers_that_are_lost_double_nothing)
{
    hf_engine *d = kit_open(kind);
    int64_t seen = 0;

    for (int64_t nth = 1; seen >= nth - 1; nth++) {
        int64_t count;
        char id[32];
        hf_status st;

        (void)snprintf(id, sizeof(id), "a-%lld", (long long)nth);
        park(d, "waits", id);
        hf_fault_arm(HF_FAULT_DB_LOST, 1, false);
        hf_fault_arm(HF_FAULT_DB, nth, false);
        st = hf_signal(d, id, "go", hf_json(d, "[1]"));
        seen = hf_fault_seen(HF_FAULT_DB);
        hf_fault_arm(HF_FAULT_DB, 0, false);
        hf_fault_arm(HF_FAULT_DB_LOST, 0, false);
        hf_test_crash(d);
        hf_kit_ok(d, hf_test_drain(d));
        count = hf_test_count(d, id, "SignalReceived");
        ck_assert_msg(count == 1 || (count == 0 && st), "call %lld: status %d, %lld signals",
                      (long long)nth, (int)st, (long long)count);
        if (count == 0)
            hf_kit_ok(d, hf_signal(d, id, "go", hf_json(d, "[1]")));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, id), "1");
    }
    ck_assert_int_gt(seen, 1);
    hf_kit_close(d);
}

static hf_engine *open_at(hf_test_place *place)
{
    hf_engine *d = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    d->nudges = true;
    return d;
}

/* Code that does not come back keeps its sender waiting no longer than it keeps the core: the
   signal is received without it, and the run goes on when the code does. */
START_TEST(code_that_loops_does_not_hold_its_signal)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *d = open_at(place);
    hf_value out = NULL;

    atomic_store(&released, false);
    hf_kit_ok(d, hf_start(d, "loops", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "b"));
    for (int i = 0; i < 6000 && !atomic_load(&coming); i++)
        hf_nap_ms(10);
    hf_nap_ms(50); /* most likely it is at rest then; the outcome is the same if it is not */
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_signal(d, "b", "go", hf_json(d, "[2]")));
    hf_kit_ok(d, hf_result(d, "b", hf_seconds(60), &out, NULL));
    atomic_store(&released, true);
    hf_kit_ok(d, hf_result(d, "a", hf_seconds(60), &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 1);
    for (int i = 0; i < 6000 && hf_core_lost(d->core, NULL); i++)
        hf_nap_ms(10);
    hf_close(d);
    hf_nap_ms(50); /* the last words of the thread that was left */
    hf_test_place_free(place);
}
END_TEST

typedef struct sender {
    hf_engine *engine;
    const char *name;
    hf_thread thread;
} sender;

static void sender_run(void *ctx)
{
    const sender *who = ctx;
    char id[32];

    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "s-%d", i);
        hf_kit_ok(who->engine,
                  hf_signal(who->engine, id, who->name, hf_json(who->engine, "['%s']", who->name)));
    }
}

/* Senders that meet at the same runs, while their turns are under way and while they are not. */
HF_BOTH_ENGINES(many_senders_lose_nothing)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);
    sender senders[SENDERS] = {{.engine = d, .name = "go"}, {.engine = d, .name = "other"}};
    char id[32];

    for (int i = 0; i < RUNS; i++) {
        (void)snprintf(id, sizeof(id), "s-%d", i);
        hf_kit_ok(d, hf_start(d, "sorts", NULL, .id = id));
    }
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(
            hf_thread_start(&senders[i].thread, "sender", sender_run, &senders[i], NULL), HF_OK);
    for (int i = 0; i < SENDERS; i++)
        hf_thread_join(&senders[i].thread);
    for (int i = 0; i < RUNS; i++) {
        hf_value out = NULL;

        (void)snprintf(id, sizeof(id), "s-%d", i);
        hf_kit_ok(d, hf_result(d, id, hf_seconds(60), &out, NULL));
        ck_assert_str_eq(hf_str(hf_at(out, 0), "", ""), "go");
        ck_assert_str_eq(hf_str(hf_at(out, 1), "", ""), "other");
    }
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/nudge", HF_BOTH(a_signal_and_its_turn_are_one_commit),
                 HF_BOTH(the_next_attempt_is_claimed_with_the_signal),
                 HF_BOTH(a_signal_that_comes_early_is_kept),
                 HF_BOTH(children_and_the_next_run_begin_with_the_signal),
                 HF_BOTH(runs_that_are_not_at_rest_are_left_alone),
                 HF_BOTH(a_crash_after_the_commit_loses_nothing),
                 {a_crash_anywhere_changes_nothing, 60},
                 {a_run_that_moved_meanwhile_is_signalled_again, 60},
                 HF_BOTH(a_run_at_rest_is_not_looked_up), HF_BOTH(what_is_out_of_date_is_read),
                 {what_is_known_is_bounded, 0},
                 HF_BOTH_SLOW(memory_that_runs_out_leaves_no_half, 120),
                 HF_BOTH_SLOW(answers_that_are_lost_double_nothing, 120),
                 {code_that_loops_does_not_hold_its_signal, 120},
                 HF_BOTH_SLOW(many_senders_lose_nothing, 120))
