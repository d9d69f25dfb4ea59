/* test_far.c: what the answers of remote workers mean, given the history that they replayed.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "decide/worker_command.h"
#include "replay/far.h"
#include "lib/suite.h"

/* A history in the making and the code that knows it. */
static hf_far *code;
static hf_mem *mem;
static hf_event_builder history;
static size_t fed;
static hf_decision_row *rows;
static size_t count;
static hf_err err;

static void begin(void)
{
    mem = hf_mem_new();
    code = hf_far_new();
    ck_assert(mem && code);
    hf_event_builder_init(&history, mem);
    fed = 0;
}

static void end(void)
{
    hf_far_free(code);
    hf_mem_free(mem);
}

static void event(hf_event_type type, int64_t step)
{
    hf_event_begin(&history, type, 1000, step);
}

static void feed(void)
{
    ck_assert_msg(
        !hf_far_feed(code, history.events + fed, history.count - fed, (int64_t)fed + 1, &err), "%s",
        err.text);
    fed = history.count;
}

static hf_status answer(const char *commands, int64_t seen)
{
    hf_worker_command *read = NULL;
    hf_value value = NULL;
    hf_value errors = NULL;
    hf_worker_answer a = {.seen_seq = seen};

    ck_assert(!hf_json_read(mem, hf_slice_of(commands), NULL, &value, &err));
    ck_assert(!hf_worker_commands_read(mem, value, &read, &a.count, &errors, &err));
    ck_assert_msg(!errors, "%s", hf_text(mem, errors));
    a.commands = read;
    return hf_far_turn(code, &a, &rows, &count, &err);
}

static void decided(const char *expected)
{
    char text[512] = "";

    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(text);

        (void)snprintf(text + len, sizeof(text) - len, "%s%s:%lld", i ? " " : "",
                       hf_decision_text(rows[i].kind), (long long)rows[i].step);
    }
    ck_assert_str_eq(text, expected);
}

static void signal_came(const char *name, int64_t key)
{
    event(HF_EVENT_SIGNAL_RECEIVED, 0);
    hf_event_put_id(&history, HF_KEY_SIGNAL_ID, hf_ulid_form(1000, key, 0));
    hf_event_put_text(&history, HF_KEY_SIGNAL_NAME, hf_slice_of(name));
}

#define ACTIVITY  "{\"type\":\"schedule_activity\",\"activity_type\":\"a\"}"
#define TIMER     "{\"type\":\"start_timer\",\"delay_seconds\":5}"
#define CONDITION "{\"type\":\"open_condition_wait\",\"condition_key\":\"k\"}"
#define COMPLETE  "{\"type\":\"complete_workflow\",\"result\":1}"

/* New commands become the next steps; what is open on the record is not scheduled twice. */
START_TEST(what_is_recorded_is_not_decided_again)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    feed();
    ck_assert_int_eq(hf_far_news(code), 1);
    ck_assert(!answer("[{\"type\":\"record_side_effect\",\"result\":1}," ACTIVITY "]", 1));
    decided("record_side_effect:1 schedule_activity:2");
    event(HF_EVENT_SIDE_EFFECT_RECORDED, 1);
    event(HF_EVENT_ACTIVITY_SCHEDULED, 2);
    feed();
    ck_assert(!answer("[" ACTIVITY "]", 1));
    decided("");
    event(HF_EVENT_ACTIVITY_COMPLETED, 2);
    feed();
    ck_assert_int_eq(hf_far_news(code), 4);
    ck_assert(!answer("[" TIMER "]", 4));
    decided("start_timer:3");
    end();
}
END_TEST

/* What was resolved while the worker had the run is on the record too: it is not begun again, and
   comes as news with the next task. */
START_TEST(what_ended_behind_the_workers_back)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    feed();
    ck_assert(!answer("[" ACTIVITY "]", 1));
    event(HF_EVENT_ACTIVITY_SCHEDULED, 1);
    feed();
    hf_far_handed(code, 2);
    event(HF_EVENT_ACTIVITY_COMPLETED, 1);
    feed();
    ck_assert(!answer("[" ACTIVITY "]", 2));
    decided("");
    ck_assert_int_eq(hf_far_news(code), 3);
    hf_far_handed(code, 3);
    ck_assert(!answer("[" ACTIVITY "]", 3));
    decided("schedule_activity:2");
    ck_assert(!answer("[" CONDITION "]", 3));
    decided("open_condition_wait:2");
    event(HF_EVENT_CONDITION_WAIT_OPENED, 2);
    hf_event_put_text(&history, HF_KEY_CONDITION_KEY, HF_SLICE("k"));
    feed();
    hf_far_handed(code, 4);
    signal_came("s", 9);
    feed();
    ck_assert(!answer("[" CONDITION "]", 4)); /* it cannot have been left because of the signal */
    decided("");
    hf_far_handed(code, 5);
    ck_assert(!answer("[" CONDITION "]", 5));
    decided("satisfy_condition:2 open_condition_wait:3 apply_signal:0");
    end();
}
END_TEST

/* The members of a barrier know their steps: those on the record are passed over, also resolved
   ones, and code has news only with the last success or the first failure. */
START_TEST(barriers_wake_once)
{
#define MEMBER(i)                                                                                  \
    "{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_id\":\"parallel-timers:1:2\"," \
    "\"parallel_group_kind\":\"timer\",\"parallel_group_base_sequence\":1,"                        \
    "\"parallel_group_size\":2,\"parallel_group_index\":" #i "}"
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    feed();
    ck_assert(!answer("[" MEMBER(0) "," MEMBER(1) "]", 1));
    decided("start_timer:1 start_timer:2");
    for (int64_t step = 1; step <= 2; step++) {
        event(HF_EVENT_TIMER_SCHEDULED, step);
        hf_event_put_int(&history, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, 1);
    }
    event(HF_EVENT_TIMER_FIRED, 2);
    feed();
    ck_assert_int_eq(hf_far_news(code), 1);
    ck_assert(!answer("[" MEMBER(0) "," MEMBER(1) "]", 1));
    decided("");
    event(HF_EVENT_TIMER_FIRED, 1);
    feed();
    ck_assert_int_eq(hf_far_news(code), 5);
    ck_assert_int_eq(answer("[" ACTIVITY "," MEMBER(0) "]", 5), HF_OK); /* recorded: passed over */
    decided("schedule_activity:3");
    end();
}
END_TEST

#define IN_GROUP(type, rest, base, size, index)                                                    \
    "{\"type\":\"" type "\"," rest ",\"parallel_group_id\":\"parallel-calls:" #base ":" #size      \
    "\",\"parallel_group_kind\":\"mixed\",\"parallel_group_base_sequence\":" #base                 \
    ",\"parallel_group_size\":" #size ",\"parallel_group_index\":" #index "}"
#define ACTIVITY_IN(base, size, index)                                                             \
    IN_GROUP("schedule_activity", "\"activity_type\":\"a\"", base, size, index)
#define TIMER_OF(base, size, index)                                                                \
    IN_GROUP("start_timer", "\"delay_seconds\":1", base, size, index)

/* A barrier has all its members, each once and in its place; a member that is on the record is what
   it was. */
START_TEST(n48_barriers_are_whole)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    feed();
    ck_assert_int_eq(answer("[" ACTIVITY_IN(1, 2, 0) "]", 1), HF_INVALID);
    ck_assert_int_eq(answer("[" ACTIVITY_IN(1, 2, 0) "," ACTIVITY_IN(1, 2, 0) "]", 1), HF_INVALID);
    ck_assert_int_eq(answer("[" ACTIVITY_IN(1, 2, 1) "," ACTIVITY_IN(1, 2, 0) "]", 1), HF_INVALID);
    ck_assert(!answer("[" ACTIVITY_IN(1, 2, 0) "," TIMER_OF(1, 2, 1) "]", 1));
    decided("schedule_activity:1 start_timer:2");
    event(HF_EVENT_ACTIVITY_SCHEDULED, 1);
    hf_event_put_int(&history, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, 1);
    event(HF_EVENT_TIMER_SCHEDULED, 2);
    hf_event_put_int(&history, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, 1);
    feed();
    ck_assert_int_eq(answer("[" TIMER_OF(1, 2, 0) "," ACTIVITY_IN(1, 2, 1) "]", 1), HF_INVALID);
    event(HF_EVENT_ACTIVITY_COMPLETED, 1);
    feed();
    ck_assert_int_eq(hf_far_news(code), 1); /* the timer is open */
    event(HF_EVENT_TIMER_FIRED, 2);
    feed();
    ck_assert_int_eq(hf_far_news(code), 5);
    ck_assert_int_eq(answer("[" TIMER_OF(2, 2, 1) "]", 5), HF_INVALID); /* begins in the past */
    end();
}
END_TEST

/* A worker whose code went on has left the condition that was open. */
START_TEST(going_on_satisfies_a_condition)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    event(HF_EVENT_CONDITION_WAIT_OPENED, 1);
    hf_event_put_text(&history, HF_KEY_CONDITION_KEY, HF_SLICE("k"));
    event(HF_EVENT_TIMER_SCHEDULED, 1);
    feed();
    ck_assert(!answer("[" CONDITION "]", 1)); /* nothing came: it is the same */
    decided("");
    signal_came("s", 7);
    feed();
    ck_assert(!answer("[" ACTIVITY "]", 4));
    decided("cancel_timer:1 satisfy_condition:1 schedule_activity:2 apply_signal:0");
    ck_assert(!answer("[" CONDITION "]", 4)); /* perhaps the next one: opened anew */
    decided("cancel_timer:1 satisfy_condition:1 open_condition_wait:2 apply_signal:0");
    ck_assert(!answer("[" COMPLETE "]", 4)); /* nothing may follow the end */
    decided("cancel_timer:1 satisfy_condition:1 apply_signal:0 complete_workflow:0");
    ck_assert(!answer("[" COMPLETE "]", 3)); /* the signal was not seen yet */
    decided("cancel_timer:1 satisfy_condition:1 complete_workflow:0");
    event(HF_EVENT_TIMER_FIRED, 1);
    feed();
    ck_assert(!hf_far_turn(code, NULL, &rows, &count, &err));
    decided("time_out_condition:1");
    end();
}
END_TEST

/* A signal resolves the wait that names it, whichever came first, without the worker. */
START_TEST(named_waits_need_no_worker)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    signal_came("go", 7);
    signal_came("go", 8);
    event(HF_EVENT_SIGNAL_WAIT_OPENED, 1);
    hf_event_put_text(&history, HF_KEY_SIGNAL_NAME, HF_SLICE("go"));
    feed();
    ck_assert(!hf_far_turn(code, NULL, &rows, &count, &err));
    decided("apply_signal:1");
    ck_assert_int_eq(rows[0].fact.seq, 2);
    end();
}
END_TEST

/* Updates are answered by id; one that is not open is refused, and so is a step out of order. */
START_TEST(contradictions_are_refused)
{
    char text[256];
    char id_text[HF_ULID_TEXT_SIZE];
    hf_ulid id;

    begin();
    id = hf_ulid_form(1000, 9, 0);
    hf_ulid_print(&id, id_text);
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    event(HF_EVENT_UPDATE_ACCEPTED, 0);
    hf_event_put_id(&history, HF_KEY_UPDATE_ID, id);
    hf_event_put_text(&history, HF_KEY_UPDATE_NAME, HF_SLICE("raise"));
    feed();
    ck_assert_int_eq(hf_far_update(code), 2);
    (void)snprintf(text, sizeof(text),
                   "[{\"type\":\"complete_update\",\"update_id\":\"%s\",\"result\":1}]", id_text);
    ck_assert(!answer(text, 2));
    decided("apply_update:0");
    ck_assert_int_eq(rows[0].fact.seq, 2);
    ck_assert_int_eq(
        answer("[{\"type\":\"fail_update\",\"update_id\":\"nobody\",\"message\":\"x\"}]", 2),
        HF_INVALID);
    ck_assert_int_eq(answer("[{\"type\":\"start_timer\",\"delay_seconds\":1,"
                            "\"parallel_group_id\":\"parallel-timers:5:1\","
                            "\"parallel_group_kind\":\"timer\",\"parallel_group_base_sequence\":5,"
                            "\"parallel_group_size\":1,\"parallel_group_index\":0}]",
                            2),
                     HF_INVALID);
    end();
}
END_TEST

enum { SIGNALS_MANY = 5000, TRIES = 5 };

/* Processor time of a turn that ends the run with so many signals that nobody applied, of which
   every second has a name of its own, and of the events that follow from it; in seconds. */
static double end_with_signals(int signals)
{
    struct timespec from;
    struct timespec to;

    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    for (int i = 0; i < signals; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), i % 2 ? "s" : "s-%d", i);
        signal_came(name, 1 + i);
    }
    feed();
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    ck_assert(!answer("[" COMPLETE "]", signals + 1));
    ck_assert_uint_eq(count, (size_t)signals + 1);
    for (int i = 0; i < signals; i++) {
        ck_assert_int_eq(rows[i].kind, HF_DECISION_APPLY_SIGNAL);
        ck_assert_int_eq(rows[i].fact.seq, i + 2);
        event(HF_EVENT_SIGNAL_APPLIED, 0);
        hf_event_put_id(&history, HF_KEY_SIGNAL_ID, hf_ulid_form(1000, 1 + i, 0));
    }
    feed();
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    ck_assert(!answer("[" COMPLETE "]", 2 * signals + 1)); /* none is left */
    ck_assert_uint_eq(count, 1);
    end();
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Five times as many signals are five times the work, and not 25 or 125 times: with 5,000, which
   are allowed, a turn took longer than the core waits for code. */
START_TEST(n45_signals_cost_what_they_are)
{
    double few = 1e9;
    double many = 1e9;

    for (int i = 0; i < TRIES; i++) {
        double a = end_with_signals(SIGNALS_MANY / 5);
        double b = end_with_signals(SIGNALS_MANY);

        few = a < few ? a : few;
        many = b < many ? b : many;
    }
    (void)fprintf(stderr, "%d signals: %.2f ms, %d: %.2f ms\n", SIGNALS_MANY / 5, few * 1e3,
                  SIGNALS_MANY, many * 1e3);
    ck_assert_double_lt(many, 12 * few);
}
END_TEST

/* Signals that are applied out of order leave the others as they were. */
START_TEST(signals_go_in_any_order)
{
    begin();
    event(HF_EVENT_WORKFLOW_STARTED, 0);
    for (int i = 0; i < 6; i++)
        signal_came(i % 2 ? "odd" : "even", 1 + i);
    feed();
    for (int i = 5; i >= 0; i -= 2) {
        event(HF_EVENT_SIGNAL_APPLIED, 0);
        hf_event_put_id(&history, HF_KEY_SIGNAL_ID, hf_ulid_form(1000, 1 + i, 0));
    }
    feed();
    ck_assert(!answer("[" COMPLETE "]", 10));
    decided("apply_signal:0 apply_signal:0 apply_signal:0 complete_workflow:0");
    ck_assert_int_eq(rows[0].fact.seq, 2);
    ck_assert_int_eq(rows[1].fact.seq, 4);
    ck_assert_int_eq(rows[2].fact.seq, 6);
    end();
}
END_TEST

HF_SUITE_MAIN("replay/far", {what_is_recorded_is_not_decided_again, 0},
              {what_ended_behind_the_workers_back, 0}, {barriers_wake_once, 0},
              {n48_barriers_are_whole, 0}, {going_on_satisfies_a_condition, 0},
              {named_waits_need_no_worker, 0}, {contradictions_are_refused, 0},
              {n45_signals_cost_what_they_are, 0}, {signals_go_in_any_order, 0})
