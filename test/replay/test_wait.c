/* test_wait.c: signals, conditions and the updates that meet them; what blocks a wait. */
#include "replay/one_run.h"

/* ---- signals */

static hf_value receives(hf_ctx *w, hf_value in)
{
    hf_value a = hf_receive(w, "go", .timeout = hf_hours(8));
    hf_value b = hf_int(in, "", 0) ? hf_receive(w, "go", .timeout = -1) : NULL;

    return hf_json(w, "[%s, %p, %p, %lld]", a ? "got" : "timeout", (const void *)a, (const void *)b,
                   (long long)hf_now(w));
}

/* No argument gives true, one gives itself, several an array, named ones their object. */
START_TEST(signal_values)
{
    static const char *const cases[][2] = {{"[]", "true"},
                                           {"[5]", "5"},
                                           {"[null]", "null"},
                                           {"[1,2]", "[1,2]"},
                                           {"{\"by\":\"Ada\"}", "{\"by\":\"Ada\"}"},
                                           {NULL, "true"}};
    char expected[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(receives, "0");
        ck_assert_str_eq(turn(), "open_signal_wait@1 go  timeout 28800000000 ");
        ck_assert_str_eq(hf_replay_waiting(S.replay), "signal:go");
        sim_signal(&S, "other", "[]");
        ck_assert_str_eq(turn(), "");
        sim_signal(&S, "go", cases[i][0]);
        (void)snprintf(expected, sizeof(expected),
                       "cancel_timer@1  \napply_signal@1 go %s of 6\n"
                       "complete_workflow@0  [\"got\",%s,null,1700000000004]",
                       cases[i][1], cases[i][1]);
        ck_assert_str_eq(turn(), expected);
        finish();
    }
}
END_TEST

static hf_value receives_one(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

/* A server that ends a wait for its worker records the arguments as they were sent. */
START_TEST(signal_recorded_as_sent)
{
    static const char *const cases[][2] = {
        {"[]", "true"}, {"[5]", "5"}, {"[1,2]", "[1,2]"}, {"{\"by\":\"Ada\"}", "{\"by\":\"Ada\"}"}};
    char expected[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(receives_one, "0");
        (void)turn();
        sim_signal(&S, "go", cases[i][0]);
        sim_applied_as_sent(&S, 1);
        sim_evict(&S);
        (void)snprintf(expected, sizeof(expected), "complete_workflow@0  %s", cases[i][1]);
        ck_assert_str_eq(turn(), expected);
        sim_end(&S);
    }
}
END_TEST

/* What history has first wins: the signal, although it is looked at after the timeout. */
START_TEST(signal_before_timeout_wins)
{
    begin(receives, "0");
    (void)turn();
    sim_signal(&S, "go", "[1]");
    sim_fire(&S, 1);
    ck_assert(strstr(turn(), "apply_signal@1 go 1 of 5") != NULL);
    finish();
}
END_TEST

/* And the timeout, although a signal is there by then. A timeout gives NULL. */
START_TEST(timeout_before_signal_wins)
{
    begin(receives, "1");
    (void)turn();
    sim_fire(&S, 1);
    sim_signal(&S, "go", "[1]");
    ck_assert_str_eq(turn(), "open_signal_wait@2 go  timeout -1 \napply_signal@2 go 1 of 6\n"
                             "complete_workflow@0  [\"timeout\",null,1,1700000000003]");
    finish();
}
END_TEST

/* A wait that does not wait takes what is buffered, in order, or nothing. */
START_TEST(zero_timeout_fires_inline)
{
    begin(receives, "1");
    sim_signal(&S, "go", "[1]");
    ck_assert_str_eq(turn(), "open_signal_wait@1 go  timeout -1 \n"
                             "apply_signal@1 go 1 of 3\n"
                             "open_signal_wait@2 go  timeout 0 \n"
                             "complete_workflow@0  [\"got\",1,null,1700000000001]");
    finish();
}
END_TEST

/* ---- conditions */

static const char *check_ready(const void *state, hf_value args)
{
    (void)args;
    return *(const int *)state ? "already" : NULL;
}

static hf_value read_ready(hf_mem *m, const void *state, hf_value args)
{
    return hf_json_(m, "[%d, %p]", *(const int *)state, (const void *)args);
}

static const char *condition_key = "approval.ready";
static const char *condition_revision = "r1";

static hf_value waits(hf_ctx *w, hf_value in)
{
    hf_wait_opts o = {.size_ = sizeof(o),
                      .at_ = "waits.c:5",
                      .timeout = hf_int(in, "", 0),
                      .revision = condition_revision};
    bool held = hf_wait_with(w, condition_key, is_ready, &o);

    hf_activity(w, held ? "approved" : "late", hf_json(w, "%lld", (long long)hf_now(w)));
    return NULL;
}

static const hf_workflow_def waiting = {
    .type = "waiting",
    .run = waits,
    .state_size = sizeof(int),
    .updates = (const hf_update_def[]){{"set", "to:int=1", set_ready, check_ready}, {0}},
    .queries = (const hf_query_def[]){{"ready", "", read_ready}, {0}}};

/* An update makes the condition true: the timer is cancelled first, then it is satisfied. */
START_TEST(condition_satisfied_by_update)
{
    sim_begin(&S, &waiting, "60000");
    ck_assert(strstr(turn(), "open_condition_wait@1 approval.ready  timeout 60000000 sha256:"));
    ck_assert_str_eq(hf_replay_waiting(S.replay), "condition:approval.ready");
    sim_update(&S, "set", "{\"to\":0}");
    ck_assert_str_eq(turn(), "apply_update@1 set 0 of 5");
    sim_update(&S, "set", "{\"to\":2}");
    ck_assert_str_eq(turn(), "apply_update@1 set 2 of 8\ncancel_timer@1  \n"
                             "satisfy_condition@1  \nschedule_activity@2 approved 1700000000004");
    finish();
}
END_TEST

/* A fired timeout comes before the predicate, whatever an update did meanwhile. */
START_TEST(condition_timeout_first)
{
    sim_begin(&S, &waiting, "60000");
    (void)turn();
    sim_update(&S, "set", "{\"to\":2}");
    sim_fire(&S, 1);
    ck_assert_str_eq(turn(), "time_out_condition@1  \napply_update@2 set 2 of 5\n"
                             "schedule_activity@2 late 1700000000003");
    finish();
}
END_TEST

/* A condition that holds at once is opened and satisfied, without a timer; one that may not wait
   times out in the same turn. */
START_TEST(condition_at_once)
{
    sim_begin(&S, &waiting, "60000");
    sim_update(&S, "set", "{\"to\":2}");
    ck_assert(strstr(turn(), "apply_update@1 set 2 of 3\nopen_condition_wait@1"));
    ck_assert(strstr(sim_last(&S), "satisfy_condition@1"));
    ck_assert(!strstr(sim_last(&S), "cancel_timer"));
    finish();
    sim_begin(&S, &waiting, "-1");
    ck_assert(strstr(turn(), "time_out_condition@1  \nschedule_activity@2 late"));
    finish();
}
END_TEST

static hf_value sleeps(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_days(2));
    return in;
}

/* Another key, a key where none was, another predicate, another kind of step: each blocks with
   everything an operator needs; the right code goes on. */
START_TEST(condition_mismatches)
{
    static const hf_workflow_def sleeping = {.type = "waiting", .run = sleeps, .state_size = 4};
    const hf_replay_mismatch *m;

    condition_key = "old.key";
    sim_begin(&S, &waiting, "60000");
    (void)turn();
    condition_key = "new.key";
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH);
    ck_assert_int_eq(m->step, 1);
    ck_assert_str_eq(m->at, "waits.c:5");
    ck_assert_str_eq(m->recorded_key, "old.key");
    ck_assert_str_eq(m->current_key, "new.key");
    ck_assert_str_eq(m->expected_shape, "condition wait");
    ck_assert_str_eq(m->recorded_events, "ConditionWaitOpened, TimerScheduled");
    ck_assert_str_eq(m->recorded_fingerprint, m->current_fingerprint);
    ck_assert_uint_eq(strlen(m->condition_wait_id), HF_ULID_TEXT_LEN);
    condition_key = "old.key";
    condition_revision = "r2";
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH);
    ck_assert_str_ne(m->recorded_fingerprint, m->current_fingerprint);
    condition_revision = NULL; /* compared only when both are there */
    sim_evict(&S);
    ck_assert_str_eq(turn(), "");
    S.info.definition = &sleeping;
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH);
    ck_assert_str_eq(m->expected_shape, "timer");
    ck_assert_str_eq(m->recorded_events, "ConditionWaitOpened, TimerScheduled");
    sim_end(&S);
    condition_key = NULL;
    sim_begin(&S, &waiting, "0");
    (void)turn();
    condition_key = "new.key";
    m = blocked();
    ck_assert_str_eq(m->recorded_key, "none");
    ck_assert_str_eq(m->current_key, "new.key");
    ck_assert_ptr_null(m->recorded_fingerprint);
    sim_end(&S);
    sim_begin(&S, &sleeping, "0");
    (void)turn();
    S.info.definition = &waiting;
    m = blocked();
    ck_assert_int_eq(m->reason, HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH);
    ck_assert_str_eq(m->expected_shape, "condition wait");
    ck_assert_str_eq(m->recorded_events, "TimerScheduled");
    ck_assert_str_eq(m->sentence, "step 1: history has timer (TimerScheduled), code wants "
                                  "condition wait at waits.c:5");
    S.info.definition = &sleeping; /* the right code goes on */
    sim_evict(&S);
    sim_fire(&S, 1);
    ck_assert_str_eq(turn(), "complete_workflow@0  0");
    finish();
}
END_TEST

/* ---- updates and queries */

/* An update that fails ends the turn; the next replay does not see what it did. Steps are not for
   updates. Checks and queries look at the state. */
START_TEST(updates_and_queries)
{
    hf_mem *mem = hf_mem_new();
    const char *reason = NULL;
    hf_value value = NULL;

    condition_key = "k";
    sim_begin(&S, &waiting, "0");
    (void)turn();
    ck_assert_int_eq(hf_replay_check_update(S.replay, HF_SLICE("set"), NULL, &reason, &S.err),
                     HF_OK);
    ck_assert_ptr_null(reason);
    sim_update(&S, "set", "{\"to\":-1}");
    sim_update(&S, "set", "{\"to\":9}");
    ck_assert_str_eq(turn(), "fail_update@1 set  of 4 application negative no");
    ck_assert(S.turns[S.turn_count - 1].spoiled);
    ck_assert_str_eq(turn(), "fail_update@1 set  of 5 task_failure step_not_allowed "
                             "an update cannot take a step");
    ck_assert_str_eq(turn(), "");
    ck_assert_int_eq(
        hf_replay_query(S.replay, HF_SLICE("ready"), hf_value_bool(true), mem, &value, &S.err),
        HF_OK);
    ck_assert_str_eq(hf_text(mem, value), "[0,true]");
    sim_update(&S, "unknown", NULL);
    ck_assert(strstr(turn(), "fail_update@1 unknown  of 8 task_failure unknown_update") != NULL);
    (void)turn();
    sim_update(&S, "set", "{}");
    (void)turn();
    ck_assert_int_eq(hf_replay_check_update(S.replay, HF_SLICE("set"), NULL, &reason, &S.err),
                     HF_OK);
    ck_assert_str_eq(reason, "already");
    ck_assert_int_eq(hf_replay_check_update(S.replay, HF_SLICE("no"), NULL, &reason, &S.err),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_replay_query(S.replay, HF_SLICE("no"), NULL, mem, &value, &S.err),
                     HF_NOTFOUND);
    hf_mem_free(mem);
    finish();
}
END_TEST

/* A replay whose update failed takes no further turn. */
START_TEST(spoiled_takes_no_turn)
{
    hf_turn out;

    sim_begin(&S, &waiting, "0");
    (void)turn();
    sim_update(&S, "set", "{\"to\":-1}");
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    ck_assert_int_eq(out, HF_TURN_PARKED);
    ck_assert(hf_replay_spoiled(S.replay));
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_ABANDONED);
    sim_end(&S);
}
END_TEST

HF_SUITE_MAIN("replay/wait", {signal_values, 0}, {signal_recorded_as_sent, 0},
              {signal_before_timeout_wins, 0}, {timeout_before_signal_wins, 0},
              {zero_timeout_fires_inline, 0}, {condition_satisfied_by_update, 0},
              {condition_timeout_first, 0}, {condition_at_once, 0}, {condition_mismatches, 0},
              {updates_and_queries, 0}, {spoiled_takes_no_turn, 0})
