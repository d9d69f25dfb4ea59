/* test_call.c: activities and children, alone and together: decided once, replayed ever after, and
   what becomes of their failures. */
#include "replay/one_run.h"

/* ---- activities */

/* An activity is decided once with all its options, and its result completes the run. */
START_TEST(activity_runs_once)
{
    const hf_decision_row *row;
    hf_turn out;
    size_t count;

    begin(one_activity, "{\"amount\":90}");
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    row = hf_replay_decisions(S.replay, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(row->activity.retry.max_attempts, 5);
    ck_assert_int_eq(row->activity.start_to_close_us, 1000000);
    ck_assert_int_eq(row->activity.schedule_to_start_us, 2000);
    ck_assert_int_eq(row->activity.schedule_to_close_us, 3000);
    ck_assert_int_eq(row->activity.heartbeat_us, 4000);
    ck_assert_uint_eq(row->activity.retry.backoff_count, 2);
    ck_assert_int_eq(row->activity.retry.backoff_us[1], 200000);
    ck_assert(hf_slice_equal(row->activity.queue, HF_SLICE("q")));
    ck_assert(hf_slice_equal(row->activity.summary, HF_SLICE("Ada")));
    ck_assert(strstr(row->at, "one_run.h:") != NULL);
    sim_evict(&S);
    ck_assert_str_eq(turn(), "schedule_activity@1 charge {\"amount\":90}");
    ck_assert_str_eq(hf_replay_waiting(S.replay), "activity:charge");
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 1, "{\"id\":7}");
    ck_assert_str_eq(turn(), "complete_workflow@0  {\"id\":7}");
    ck_assert_uint_gt(hf_replay_held(S.replay), 0);
    finish();
}
END_TEST

static hf_value unset_attempts(hf_ctx *w, hf_value in)
{
    hf_activity(w, "a", in);
    hf_activity(w, "b", in, .max_attempts = -1);
    return NULL;
}

/* Attempts that code does not speak of are left to the definition; -1 means no limit. */
START_TEST(attempts_may_be_left_open)
{
    const hf_decision_row *row;
    hf_turn out;
    size_t count;

    begin(unset_attempts, "1");
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    row = hf_replay_decisions(S.replay, &count);
    ck_assert_int_eq(row->activity.retry.max_attempts, 0);
    sim_evict(&S);
    (void)turn();
    sim_complete(&S, 1, "1");
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    row = hf_replay_decisions(S.replay, &count);
    ck_assert_int_eq(row->activity.retry.max_attempts, -1);
    sim_evict(&S);
    (void)turn();
    sim_complete(&S, 2, "1");
    ck_assert_str_eq(turn(), "complete_workflow@0  null");
    finish();
}
END_TEST

static hf_value handles_failure(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    if (!hf_activity(w, "bill", in, .err = &e)) {
        ck_assert_str_eq(e->type, "card_expired");
        ck_assert_str_eq(e->message, "it failed");
        ck_assert(e->retryable);
        ck_assert_int_eq(e->status, HF_ERROR);
    }
    hf_activity(w, "tell", in);
    return in;
}

/* A failure that is handed back is told to history once, before the next step. */
START_TEST(failures_are_handed_back)
{
    begin(handles_failure, "1");
    (void)turn();
    sim_fail(&S, 1, "card_expired");
    ck_assert_str_eq(turn(), "handle_failure@1   activity card_expired it failed\n"
                             "schedule_activity@2 tell 1");
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 2, "null");
    ck_assert_str_eq(turn(), "complete_workflow@0  1");
    finish();
}
END_TEST

static int cleaned; /* digits of who was, in order */

static void clean(void *arg)
{
    cleaned = (cleaned * 10 + *(int *)arg) % 1000;
}

static hf_value saga(hf_ctx *w, hf_value in)
{
    static int one = 1;
    static int two = 2;

    hf_defer(w, clean, &one);
    hf_defer(w, clean, &two);
    hf_compensate(w, "release", hf_activity(w, "reserve", in));
    hf_compensate(w, "refund", hf_activity(w, "charge", in));
    hf_activity(w, "ship", in);
    hf_compensated(w);
    hf_activity(w, "mail", in);
    return NULL;
}

static void saga_to_ship(void)
{
    begin(saga, "1");
    (void)turn();
    sim_complete(&S, 1, "\"R\"");
    (void)turn();
    sim_complete(&S, 2, "\"P\"");
    (void)turn();
    cleaned = 0;
}

/* A failed run undoes what was done, newest first, and reports the first failure. */
START_TEST(compensates_in_reverse)
{
    saga_to_ship();
    sim_fail(&S, 3, "no_stock");
    ck_assert_str_eq(turn(), "schedule_activity@4 refund \"P\"");
    ck_assert_int_eq(cleaned, 21);
    sim_complete(&S, 4, "null");
    ck_assert_str_eq(turn(), "schedule_activity@5 release \"R\"");
    sim_complete(&S, 5, "null");
    ck_assert_str_eq(turn(), "fail_workflow@0   activity no_stock it failed");
    finish();
}
END_TEST

/* The first compensation that fails is the last, and the original failure stays. */
START_TEST(stops_at_a_failed_compensation)
{
    saga_to_ship();
    sim_fail(&S, 3, "no_stock");
    (void)turn();
    sim_fail(&S, 4, "bank_down");
    ck_assert_str_eq(turn(), "fail_workflow@0   activity no_stock it failed");
    finish();
}
END_TEST

/* Past the point of no return nothing is undone. */
START_TEST(forgets_compensations)
{
    saga_to_ship();
    sim_complete(&S, 3, "1");
    (void)turn();
    sim_fail(&S, 4, "mail_down");
    ck_assert_str_eq(turn(), "fail_workflow@0   activity mail_down it failed");
    finish();
}
END_TEST

/* What is being undone is undone to its end, whoever cancels the run meanwhile. */
START_TEST(cancel_does_not_end_compensations)
{
    saga_to_ship();
    sim_fail(&S, 3, "no_stock");
    ck_assert_str_eq(turn(), "schedule_activity@4 refund \"P\"");
    sim_cancel(&S, "customer left");
    ck_assert_str_eq(turn(), "");
    sim_evict(&S);
    sim_complete(&S, 4, "null");
    ck_assert_str_eq(turn(), "schedule_activity@5 release \"R\"");
    sim_complete(&S, 5, "null");
    ck_assert_str_eq(turn(), "fail_workflow@0   activity no_stock it failed");
    finish();
}
END_TEST

/* A cooperative cancel is heard where the code waits and undoes like a failure. */
START_TEST(cancel_compensates)
{
    saga_to_ship();
    sim_cancel(&S, "customer left");
    ck_assert_str_eq(turn(), "schedule_activity@4 refund \"P\"");
    sim_complete(&S, 4, "null");
    (void)turn();
    sim_complete(&S, 5, "null");
    ck_assert_str_eq(turn(), "complete_cancelled@0   cancelled cancelled customer left");
    finish();
}
END_TEST

/* A replay that is given up runs what was deferred, once. */
START_TEST(abandon_runs_deferred)
{
    saga_to_ship();
    sim_end(&S);
    ck_assert_int_eq(cleaned, 21);
}
END_TEST

/* ---- protect */

static hf_value inner(hf_ctx *w, hf_value in)
{
    hf_activity(w, "risky", in);
    return in;
}

static hf_value protects(hf_ctx *w, hf_value in)
{
    hf_value out = in;
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_protect(w, inner, in, &out, &e), HF_TIMEOUT);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(e->type, "timeout");
    if (hf_int(in, "", 0) == 2)
        hf_refail(w, e);
    hf_sleep(w, 0);
    return hf_json(w, "%s", e->type);
}

/* hf_protect catches what its function could not; history learns that code went on. */
START_TEST(protect_catches)
{
    begin(protects, "1");
    (void)turn();
    sim_end_step(&S, 1, HF_EVENT_ACTIVITY_TIMED_OUT, NULL, "x");
    ck_assert_str_eq(turn(), "handle_failure@1   timeout timeout it failed\n"
                             "start_timer@2   delay 0\n"
                             "complete_workflow@0  \"timeout\"");
    finish();
}
END_TEST

/* A failure that is raised again was not handled. */
START_TEST(refail_is_not_handled)
{
    begin(protects, "2");
    (void)turn();
    sim_end_step(&S, 1, HF_EVENT_ACTIVITY_TIMED_OUT, NULL, "x");
    ck_assert_str_eq(turn(), "fail_workflow@0   timeout timeout it failed");
    finish();
}
END_TEST

/* ---- groups */

static hf_value barrier(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("a", in), HF_ALL(HF_CHILD("c", in), HF_ACTIVITY("b", in)),
                  HF_ALL(HF_ACTIVITY("d", in)));
}

static hf_value barrier_other(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("a", in), HF_CHILD("c", in), HF_ACTIVITY("b", in),
                  HF_ALL(HF_ACTIVITY("d", in)));
}

static hf_value barrier_empty(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_all_of(w, (const hf_leaf[]){{.kind = HF_LEAF_END}});
}

/* Results keep the shape of the barrier, whoever ends first; an empty one takes no step. */
START_TEST(barrier_keeps_its_shape)
{
    begin(barrier, "0");
    (void)turn();
    sim_complete(&S, 4, "4");
    sim_complete(&S, 3, "3");
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 1, "1");
    sim_complete(&S, 2, "2");
    ck_assert_str_eq(turn(), "complete_workflow@0  [1,[2,3],[4]]");
    finish();
    begin(barrier_empty, "0");
    ck_assert_str_eq(turn(), "complete_workflow@0  []");
    finish();
}
END_TEST

/* A barrier wakes at the first failure; the earliest recorded wins, then the lowest place. */
START_TEST(barrier_picks_a_failure)
{
    begin(barrier, "0");
    (void)turn();
    sim_fail(&S, 3, "third");
    ck_assert_str_eq(turn(), "fail_workflow@0   activity third it failed");
    finish();
    begin(barrier, "0");
    (void)turn();
    sim_fail(&S, 3, "third");
    S.now_us -= 1000; /* recorded at the same time */
    sim_end_step(&S, 2, HF_EVENT_CHILD_RUN_TERMINATED, NULL, "x");
    sim_fail(&S, 1, "first");
    ck_assert_str_eq(turn(), "fail_workflow@0   child_workflow child_terminated it failed");
    finish();
}
END_TEST

/* Another nesting is another barrier, also when the leaves are the same. */
START_TEST(barrier_topology_is_guarded)
{
    static const hf_workflow_def other = {.type = "t", .run = barrier_other};
    static const hf_workflow_def plain = {.type = "t", .run = one_activity};
    const hf_replay_mismatch *m;

    begin(barrier, "0");
    (void)turn();
    S.info.definition = &other;
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH);
    ck_assert_int_eq(m->step, 2);
    ck_assert_str_eq(m->expected_shape, "parallel all barrier matching current topology");
    ck_assert_str_eq(m->recorded_events, "ChildWorkflowScheduled");
    ck_assert(strstr(m->at, "test_call.c:") != NULL);
    S.info.definition = &plain;
    m = blocked();
    ck_assert_str_eq(m->expected_shape, "activity:charge");
    sim_end(&S);
    begin(one_activity, "0");
    (void)turn();
    S.info.definition = &other;
    m = blocked();
    ck_assert_str_eq(m->expected_shape, "parallel all barrier matching current topology");
    sim_end(&S);
}
END_TEST

static hf_value maps(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;
    hf_value out = hf_map_with(w, "m", in, 2,
                               &(hf_activity_opts){.size_ = sizeof(hf_activity_opts), .err = &e});

    hf_activity(w, "m", hf_json(w, "%s", e ? e->type : "ok")); /* the same type, another step */
    return out;
}

/* A map has as many open as it may, opens the next when one ends, and keeps the order. */
START_TEST(map_is_bounded)
{
    begin(maps, "[10,11,12]");
    (void)turn();
    ck_assert_uint_eq(S.turns[0].count, 2);
    sim_complete(&S, 2, "\"b\"");
    (void)turn();
    ck_assert_uint_eq(S.turns[1].count, 1);
    sim_complete(&S, 3, "\"c\"");
    ck_assert_str_eq(turn(), "");
    sim_complete(&S, 1, "\"a\"");
    ck_assert_str_eq(turn(), "schedule_activity@4 m \"ok\"");
    sim_complete(&S, 4, "1");
    ck_assert_str_eq(turn(), "complete_workflow@0  [\"a\",\"b\",\"c\"]");
    finish();
    begin(maps, "[]");
    ck_assert_str_eq(turn(), "schedule_activity@1 m \"ok\"");
    finish();
}
END_TEST

/* After a failure no item is opened, and the next step follows without a gap. */
START_TEST(map_stops_at_a_failure)
{
    begin(maps, "[10,11,12,13]");
    (void)turn();
    sim_fail(&S, 2, "bad");
    ck_assert_str_eq(turn(), "handle_failure@2   activity bad it failed\n"
                             "schedule_activity@3 m \"bad\"");
    sim_complete(&S, 1, "1");
    sim_complete(&S, 3, "1");
    ck_assert_str_eq(turn(), "complete_workflow@0  null");
    finish();
}
END_TEST

HF_SUITE_MAIN("replay/call", {activity_runs_once, 0}, {attempts_may_be_left_open, 0},
              {failures_are_handed_back, 0}, {compensates_in_reverse, 0},
              {stops_at_a_failed_compensation, 0}, {forgets_compensations, 0},
              {cancel_compensates, 0}, {cancel_does_not_end_compensations, 0},
              {abandon_runs_deferred, 0}, {protect_catches, 0}, {refail_is_not_handled, 0},
              {barrier_keeps_its_shape, 0}, {barrier_picks_a_failure, 0},
              {barrier_topology_is_guarded, 0}, {map_is_bounded, 0}, {map_stops_at_a_failure, 0})
