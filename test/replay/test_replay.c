/* test_replay.c: the small steps, what blocks a replay, what a caller can do wrong, and what it
   costs. */
#include <stdlib.h>
#include <time.h>

#include "base/fault.h"
#include "replay/one_run.h"

/* ---- versions */

static int version_min = HF_VERSION_DEFAULT;
static int version_max = 3;

static hf_value versions(hf_ctx *w, hf_value in)
{
    int v = hf_int(in, "", 0) ? hf_version(w, "tax", version_min, version_max) : 77;

    hf_activity(w, "bill", hf_json(w, "%d", v));
    return NULL;
}

static void drop_fingerprint(void)
{
    static hf_event copy;

    copy = S.events[1];
    copy.count = 1; /* its arguments alone */
    S.events[1] = copy;
    sim_evict(&S);
}

/* A new run records the newest version; what is recorded stays, within the range. */
START_TEST(version_is_recorded)
{
    version_min = HF_VERSION_DEFAULT;
    version_max = 3;
    begin(versions, "1");
    ck_assert_str_eq(turn(), "record_version_marker@1 tax  3\nschedule_activity@2 bill 3");
    version_max = 4;
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    version_min = 4;
    sim_evict(&S);
    ck_assert_ptr_nonnull(strstr(turn(), "fail_workflow@0   task_failure version_not_supported"));
    sim_end(&S);
}
END_TEST

/* Old runs get the default without a marker and without a step: by fingerprint, by compatibility,
   without a fingerprint, and where history has gone on. */
START_TEST(version_of_old_runs)
{
    version_min = HF_VERSION_DEFAULT;
    version_max = 3;
    begin(versions, "1");
    S.info.fingerprint = HF_SLICE("sha256:later");
    sim_evict(&S);
    ck_assert_str_eq(turn(), "schedule_activity@1 bill -1");
    finish();
    begin(versions, "1");
    drop_fingerprint();
    ck_assert_str_eq(turn(), "schedule_activity@1 bill -1");
    finish();
    begin(versions, "1");
    S.info.fingerprint = HF_SLICE("sha256:later");
    sim_evict(&S);
    (void)turn();
    S.info.fingerprint = HF_SLICE("sha256:now");
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 1, "1");
    ck_assert_str_eq(turn(), "complete_workflow@0  null");
    sim_end(&S);
    version_min = 1;
    begin(versions, "1");
    S.info.fingerprint = HF_SLICE("sha256:later");
    sim_evict(&S);
    ck_assert(strstr(turn(), "fail_workflow@0   task_failure version_not_supported") != NULL);
    finish();
}
END_TEST

/* ---- the small steps */

static int effects;

static hf_value coupon(hf_mem *m, void *arg)
{
    (void)arg;
    effects++;
    return hf_json_(m, "'SPRING-%d'", 7);
}

static hf_value marks(hf_ctx *w, hf_value in)
{
    hf_value a = hf_side_effect(w, "coupon", coupon, NULL);

    hf_memo(w, hf_json(w, "{'a': 1, 'b': null}"));
    hf_label(w, "phase", "two");
    hf_note(w, "at %d", 3);
    hf_sleep(w, 0);
    hf_messages_send(w, "other-1", "mail", "ref:1");
    ck_assert_str_eq(hf_workflow_id(w), "order-7");
    ck_assert_str_eq(hf_run_id(w), "01HF0000000000000000000000");
    ck_assert_ptr_nonnull(hf_state(w));
    ck_assert_uint_eq(strlen(hf_uuid(w)), 36);
    hf_activity(
        w, "end",
        hf_json(w, "[%p, %llu]", (const void *)a, (unsigned long long)(hf_random(w) >> 12)));
    if (hf_int(in, "", 0))
        hf_continue_as_new(w, hf_json(w, "'next'"));
    return hf_async(w, "fn", in);
}

/* Values, metadata, notes and messages go on in the same turn and are never computed again. */
START_TEST(marks_go_on)
{
    effects = 0;
    begin(marks, "0");
    ck_assert_ptr_nonnull(strstr(turn(), "record_side_effect@1 coupon \"SPRING-7\"\n"
                                         "upsert_memo@2  {\"a\":1,\"b\":null}\n"
                                         "upsert_search_attributes@3  {\"phase\":\"two\"}\n"
                                         "record_note@3 at 3 \nstart_timer@4   delay 0\n"
                                         "send_message@0 mail \"ref:1\" number 1\n"
                                         "schedule_activity@5 end [\"SPRING-7\","));
    ck_assert_int_eq(effects, 1);
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    ck_assert_int_eq(effects, 1);
    sim_complete(&S, 5, "1");
    ck_assert_str_eq(turn(), "start_child_workflow@6 durable-workflow.async "
                             "{\"function\":\"fn\",\"arguments\":0}");
    sim_complete(&S, 6, "\"done\"");
    ck_assert_str_eq(turn(), "complete_workflow@0  \"done\"");
    finish();
    begin(marks, "1");
    (void)turn();
    sim_complete(&S, 5, "1");
    ck_assert_str_eq(turn(), "continue_as_new@6  \"next\"");
    finish();
}
END_TEST

static hf_status inbox(void *ctx, hf_mem *mem, hf_slice stream, int64_t after, size_t max,
                       hf_value *out, hf_err *err)
{
    (void)ctx;
    (void)err;
    ck_assert(hf_slice_equal(stream, HF_SLICE("mail")));
    ck_assert_uint_eq(max, 1);
    *out = after < 3 ? hf_json_(mem, "[{'position': %lld, 'ref': 'r'}]", (long long)after + 1)
                     : hf_json_(mem, "[]");
    return HF_OK;
}

static hf_value reads(hf_ctx *w, hf_value in)
{
    hf_value a = hf_messages_peek(w, "mail", 1);
    hf_value b = hf_messages_receive(w, "mail", 1);
    hf_value c = hf_messages_receive(w, "mail", 1);

    hf_activity(w, "x", in);
    return hf_json(w, "[%p,%p,%p]", (const void *)hf_get(a, "0.position"),
                   (const void *)hf_get(b, "0.position"), (const void *)hf_get(c, "0.position"));
}

/* Messages are recorded with the step that read them; receiving moves on, peeking does not. */
START_TEST(messages_are_recorded)
{
    begin(reads, "0");
    S.info.messages = inbox;
    sim_evict(&S);
    (void)turn();
    sim_complete(&S, 4, "1");
    S.info.messages = NULL; /* a replay does not ask */
    sim_evict(&S);
    ck_assert_str_eq(turn(), "complete_workflow@0  [1,1,2]");
    sim_end(&S);
}
END_TEST

static hf_value tells_children(hf_ctx *w, hf_value in)
{
    const char *ids[2] = {NULL, NULL};
    hf_future f = hf_spawn_child(w, "kid", in);

    ck_assert_uint_eq(hf_children(w, ids, 2), 0);
    hf_activity(w, "a", in);
    ck_assert_uint_eq(hf_children(w, ids, 2), 1);
    hf_signal_child(w, ids[0], "hello", in);
    hf_activity(w, "b", in);
    return hf_join(w, f);
}

/* A child has a handle once something after its call was seen; signals to it carry a number, and
   are held back once history shows them sent. */
START_TEST(children_can_be_told)
{
    begin(tells_children, "1");
    (void)turn();
    sim_complete(&S, 2, "1");
    ck_assert_str_eq(turn(), "signal_child@0 hello 1 number 1\nschedule_activity@3 b 1");
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 3, "1");
    sim_complete(&S, 1, "5");
    ck_assert_str_eq(turn(), "complete_workflow@0  5");
    finish();
}
END_TEST

static hf_value counts(hf_ctx *w, hf_value in)
{
    while (!hf_should_continue_as_new(w))
        hf_activity(w, "a", in);
    hf_continue_as_new(w, hf_json(w, "%zu", hf_history_length(w)));
}

/* The budget is measured at what the code has seen, so that every replay agrees. */
START_TEST(budget_is_deterministic)
{
    begin(counts, "1");
    S.info.continue_events = 6;
    sim_evict(&S);
    (void)turn();
    sim_complete(&S, 1, "1");
    (void)turn();
    sim_complete(&S, 2, "1");
    sim_signal(&S, "x", "[]");
    ck_assert_str_eq(turn(), "continue_as_new@3  6");
    finish();
}
END_TEST

/* ---- misuse */

static int misuse;
static hf_ctx *kept;

static hf_value misuses(hf_ctx *w, hf_value in)
{
    static char longest[400];
    hf_future f;

    kept = w;
    memset(longest, 'x', sizeof(longest) - 1);
    switch (misuse) {
    case 0:
        return hf_activity(w, NULL, in);
    case 1:
        return hf_activity(w, "bad\xff", in);
    case 2:
        return hf_child(w, longest, in);
    case 3:
        return hf_join(w, (hf_future){.id = 5});
    case 4:
        return hf_activity(w, "a", in, .start_to_close = -1);
    case 5:
        return hf_map_with(w, "a", in, 1, NULL);
    case 6:
        hf_memo(w, in);
        return NULL;
    case 7:
        hf_wait(w, "no spaces here", is_ready, .timeout = 0);
        return NULL;
    case 8:
        hf_version(w, "x", 3, 1);
        return NULL;
    case 9:
        return hf_activity_with(w, "a", &(hf_activity_opts){.in = in});
    case 10:
        f = hf_spawn_activity(w, "a", in);
        (void)hf_join(w, f);
        return hf_join(w, f);
    case 11:
        hf_signal_child(w, "nobody", "x", in);
        return NULL;
    case 12:
        hf_refail(w, NULL);
    case 13:
        return hf_side_effect(w, "k", NULL, NULL);
    case 14:
        hf_wait(w, "k", NULL, .timeout = 0);
        return NULL;
    case 15:
        hf_label(w, "k", "bad\xff");
        return NULL;
    default:
        return hf_all(w, HF_ACTIVITY(NULL, in));
    }
}

/* Every misuse fails the run with a type that says so, and decides nothing else. */
START_TEST(misuse_fails_the_run)
{
    for (misuse = 0; misuse <= 16; misuse++) {
        const char *last;

        begin(misuses, "1");
        last = turn();
        if (misuse == 10) {
            sim_complete(&S, 1, "1");
            last = turn();
        }
        ck_assert_msg(strstr(last, "fail_workflow@0   task_failure ") == last, "%d: %s", misuse,
                      last);
        finish();
    }
}
END_TEST

static hf_value keeps_handle(hf_ctx *w, hf_value in)
{
    kept = w;
    hf_activity(w, "a", in);
    return in;
}

static hf_value read_steps(hf_mem *m, const void *state, hf_value args)
{
    (void)state;
    ck_assert_ptr_null(hf_activity(kept, "x", args));
    hf_sleep(kept, 1);
    hf_note(kept, "no");
    ck_assert_uint_eq(hf_random(kept), 0);
    if (args)
        hf_fail(kept, "not_here", "a query does not fail runs");
    return hf_json_(m, "1");
}

static const hf_query_def step_queries[] = {{"q", "", read_steps}, {0}};

/* Steps from outside the body are refused and leave no trace; failing a query fails that alone. */
START_TEST(steps_elsewhere_are_refused)
{
    static const hf_workflow_def definition = {
        .type = "t", .run = keeps_handle, .queries = step_queries};
    hf_mem *mem = hf_mem_new();
    hf_value value;

    sim_begin(&S, &definition, "1");
    (void)turn();
    ck_assert_int_eq(hf_replay_query(S.replay, HF_SLICE("q"), NULL, mem, &value, &S.err), HF_OK);
    ck_assert_int_eq(
        hf_replay_query(S.replay, HF_SLICE("q"), hf_value_bool(true), mem, &value, &S.err),
        HF_MISUSE);
    ck_assert_ptr_null(hf_activity(kept, "x", NULL));
    ck_assert_ptr_null(hf_activity(NULL, "x", NULL));
    ck_assert_ptr_null(hf_activity((hf_ctx *)&(uint64_t[8]){0}, "x", NULL)); /* an activity's */
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 1, "1");
    ck_assert_str_eq(turn(), "complete_workflow@0  1");
    hf_mem_free(mem);
    finish();
}
END_TEST

static hf_value gives_up(hf_ctx *w, hf_value in)
{
    hf_activity(w, "a", in);
    hf_abandon(w);
}

/* A binding may give its coroutine up. */
START_TEST(code_may_give_up)
{
    hf_turn out;

    begin(gives_up, "1");
    (void)turn();
    sim_complete(&S, 1, "1");
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_ABANDONED);
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_ABANDONED);
    sim_end(&S);
}
END_TEST

/* ---- shapes */

static hf_value two_steps(hf_ctx *w, hf_value in)
{
    hf_activity(w, "a", in);
    hf_activity(w, "b", in);
    return in;
}

static hf_value two_other(hf_ctx *w, hf_value in)
{
    hf_activity(w, "a", in);
    hf_activity(w, "ship", in);
    return in;
}

static hf_value one_step(hf_ctx *w, hf_value in)
{
    hf_activity(w, "a", in);
    return in;
}

/* Another name, an earlier end, a local activity: each is seen. */
START_TEST(shapes_are_guarded)
{
    static const hf_workflow_def other = {.type = "t", .run = two_other};
    static const hf_workflow_def shorter = {.type = "t", .run = one_step};
    const hf_replay_mismatch *m;

    begin(two_steps, "1");
    (void)turn();
    sim_complete(&S, 1, "1");
    (void)turn();
    S.info.definition = &other;
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH);
    ck_assert_int_eq(m->step, 2);
    ck_assert_str_eq(m->expected_shape, "activity:ship");
    ck_assert_str_eq(m->recorded_events, "ActivityScheduled");
    ck_assert_ptr_null(m->recorded_key);
    S.info.definition = &shorter;
    m = blocked();
    ck_assert_int_eq(m->step, 2);
    ck_assert_str_eq(m->expected_shape, "the end of the workflow");
    sim_end(&S);
}
END_TEST

/* What is recorded otherwise than a live coroutine decided blocks it too. */
START_TEST(late_records_are_guarded)
{
    static const hf_workflow_def other = {.type = "t", .run = two_other};
    hf_turn out;

    begin(two_steps, "1");
    (void)turn();
    sim_complete(&S, 1, "1");
    S.info.definition = &other;
    sim_evict(&S);
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK); /* decides "ship" */
    {
        hf_event_builder b;

        hf_event_builder_init(&b, S.mem);
        hf_event_begin(&b, HF_EVENT_ACTIVITY_SCHEDULED, S.now_us, 2);
        hf_event_put_text(&b, HF_KEY_ACTIVITY_TYPE, HF_SLICE("b"));
        sim_append(&S, &b);
    }
    sim_feed(&S, S.count - 1);
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    ck_assert_int_eq(out, HF_TURN_BLOCKED);
    ck_assert_str_eq(hf_replay_mismatch_get(S.replay)->expected_shape, "activity:ship");
    sim_end(&S);
}
END_TEST

/* Events that contradict each other are refused. */
START_TEST(contradictions_are_refused)
{
    static const struct {
        hf_event_type type;
        int64_t step;
    } bad[] = {{HF_EVENT_ACTIVITY_COMPLETED, 1}, {HF_EVENT_ACTIVITY_SCHEDULED, 1},
               {HF_EVENT_ACTIVITY_COMPLETED, 2}, {HF_EVENT_TIMER_FIRED, 9},
               {HF_EVENT_WORKFLOW_STARTED, 0},   {HF_EVENT_SIGNAL_APPLIED, 2},
               {HF_EVENT_UPDATE_APPLIED, 2}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_event event = {.type = bad[i].type, .time_us = 1, .step = bad[i].step};
        hf_event_field id = {.key = HF_KEY_UPDATE_ID};

        if (bad[i].type == HF_EVENT_UPDATE_APPLIED) {
            event.fields = &id;
            event.count = 1;
        }
        begin(one_step, "1");
        (void)turn();
        sim_complete(&S, 1, "1");
        if (i % 2)
            sim_evict(&S);
        ck_assert_int_eq(hf_replay_feed(S.replay, &event, 1, (int64_t)S.count + 1, &S.err),
                         HF_CORRUPT);
        sim_end(&S);
    }
    begin(one_step, "1");
    ck_assert_int_eq(hf_replay_feed(S.replay, NULL, 0, 9, &S.err), HF_MISUSE);
    sim_end(&S);
}
END_TEST

/* ---- limits */

static hf_value many(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "", 0);

    for (int64_t i = 0; i < n; i++)
        (void)hf_spawn_activity(w, "a", in);
    hf_sleep(w, hf_days(1));
    return NULL;
}

static hf_value barrier_of_five(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("a", in), HF_ACTIVITY("a", in), HF_ACTIVITY("a", in),
                  HF_ACTIVITY("a", in), HF_ACTIVITY("a", in));
}

/* A batch may be full, not fuller: then the run fails, and nothing of the batch is kept. */
START_TEST(limits_end_the_turn)
{
    begin(many, "9");
    S.info.batch_max = 10;
    sim_evict(&S);
    (void)turn();
    ck_assert_uint_eq(S.turns[0].count, 10);
    finish();
    begin(many, "10");
    S.info.batch_max = 10;
    sim_evict(&S);
    ck_assert_str_eq(turn(), "fail_workflow@0   structural_limit structural_limit "
                             "command_batch_size is limited to 10, this turn needs 11");
    sim_end(&S);
    begin(barrier_of_five, "1");
    S.info.batch_max = 4;
    sim_evict(&S);
    ck_assert(strncmp(turn(), "fail_workflow@0   structural_limit", 34) == 0);
    sim_end(&S);
    begin(many, "9");
    S.info.events_max = 5;
    sim_evict(&S);
    ck_assert(strstr(turn(), "history_transaction_size") != NULL);
    sim_end(&S);
}
END_TEST

/* ---- memory and time */

static hf_value no_json(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_note(w, "begin");
    hf_compensate(w, "undo", in);
    hf_activity(w, "a", in, .err = &e);
    (void)hf_all(w, HF_ACTIVITY("b", in), HF_ALL(HF_CHILD("c", in)));
    if (hf_wait(w, "k", is_ready, .timeout = hf_days(1), .revision = "r"))
        hf_memo(w, in);
    return hf_receive(w, "go", .timeout = -1);
}

static hf_status nomem_pass(hf_replay_info *info, int64_t nth)
{
    hf_replay *replay = NULL;
    hf_turn out;
    hf_err err = {0};
    hf_status st;

    hf_fault_arm(HF_FAULT_ALLOC, nth, false);
    st = hf_replay_new(info, &replay, &err);
    if (!st)
        st = hf_replay_feed(replay, S.events, S.count, 1, &err);
    if (!st)
        st = hf_replay_turn(replay, &out, &err);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_replay_free(replay);
    return st;
}

static const hf_update_def set_updates[] = {{"set", "", set_ready, NULL}, {0}};

/* Whatever allocation fails, the turn says so and nothing leaks. */
START_TEST(memory_may_run_out)
{
    static const hf_workflow_def definition = {.type = "t",
                                               .run = no_json,
                                               .state_size = 8,
                                               .signals = go_signals,
                                               .updates = set_updates};
    hf_status st = HF_NOMEM;
    int64_t nth = 1;

    sim_begin(&S, &definition, "{\"a\":1}");
    (void)turn();
    sim_fail(&S, 1, "x");
    (void)turn();
    sim_complete(&S, 2, "{\"b\":[1,2]}");
    sim_complete(&S, 3, "\"c\"");
    (void)turn();
    sim_signal(&S, "go", "[1]");
    for (; st; nth++) {
        st = nomem_pass(&S.info, nth);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "allocation %lld: %d", (long long)nth,
                      (int)st);
    }
#ifdef HF_FAULT
    ck_assert_int_gt(nth, 30);
#endif
    finish();
}
END_TEST

static hf_value loops(hf_ctx *w, hf_value in)
{
    for (int64_t i = 0; i < hf_int(in, "", 0); i++)
        hf_activity(w, "work", in);
    return NULL;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SLOWDOWN 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SLOWDOWN 10
#endif
#endif
#ifndef TEST_SLOWDOWN
#define TEST_SLOWDOWN 1
#endif

/* 100,000 events are fed and replayed in less than half a second of processor time and 64 MB. */
START_TEST(long_histories_are_cheap)
{
    enum { STEPS = 33333 };
    hf_event *events = calloc(3 * STEPS + 2, sizeof(*events));
    hf_event_field name = {.key = HF_KEY_ACTIVITY_TYPE, .text = HF_SLICE("work")};
    hf_event_field result = {
        .key = HF_KEY_RESULT,
        .payload = {.form = HF_PAYLOAD_FORM_INLINE,
                    .codec = HF_PAYLOAD_CODEC_JSON,
                    .bytes = HF_SLICE("{\"id\":\"0123456789\",\"ok\":true,\"n\":[1,2,3]}"),
                    .size = 42}};
    hf_replay *replay = NULL;
    struct timespec from, to;
    hf_turn out = HF_TURN_PARKED;
    size_t n = 2;
    double ms;

    begin(loops, "33333");
    events[0] = S.events[0];
    events[1] = S.events[1];
    for (int64_t step = 1; step <= STEPS; step++) {
        events[n++] =
            (hf_event){HF_EVENT_ACTIVITY_SCHEDULED, 1700000000000000 + step, step, &name, 1};
        events[n++] = (hf_event){HF_EVENT_ACTIVITY_STARTED, 1700000000000000 + step, step, NULL, 0};
        events[n++] =
            (hf_event){HF_EVENT_ACTIVITY_COMPLETED, 1700000000000000 + step, step, &result, 1};
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    ck_assert_int_eq(hf_replay_new(&S.info, &replay, &S.err), HF_OK);
    ck_assert_int_eq(hf_replay_feed(replay, events, n, 1, &S.err), HF_OK);
    ck_assert_uint_lt(hf_replay_held(replay), (size_t)64 << 20);
    ck_assert_int_eq(hf_replay_turn(replay, &out, &S.err), HF_OK);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_int_eq(out, HF_TURN_CLOSED);
    ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    (void)fprintf(stderr, "replay of %zu events: %.1f ms, %zu KiB held\n", n, ms,
                  hf_replay_held(replay) / 1024);
    ck_assert_uint_lt(hf_replay_held(replay), (size_t)64 << 20);
    ck_assert_double_lt(ms, TEST_SLOWDOWN * 500.0);
    hf_replay_free(replay);
    free(events);
    sim_end(&S);
}
END_TEST

HF_SUITE_MAIN("replay/replay", {version_is_recorded, 0}, {version_of_old_runs, 0}, {marks_go_on, 0},
              {messages_are_recorded, 0}, {children_can_be_told, 0}, {budget_is_deterministic, 0},
              {misuse_fails_the_run, 0}, {steps_elsewhere_are_refused, 0}, {code_may_give_up, 0},
              {shapes_are_guarded, 0}, {late_records_are_guarded, 0},
              {contradictions_are_refused, 0}, {limits_end_the_turn, 0}, {memory_may_run_out, 0},
              {long_histories_are_cheap, 0})
