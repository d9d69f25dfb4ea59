/* Cancel, terminate, archive, pause and resume, through holdfast.h on both databases. */
#include <stdio.h>
#include <string.h>

#include "engine/command.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

static int undone; /* calls of the compensation */
static int worked; /* calls of an ordinary activity */

static hf_value work(hf_act *a, hf_value in)
{
    (void)a;
    worked++;
    return in;
}

static hf_value undo(hf_act *a, hf_value in)
{
    (void)a;
    undone++;
    return in;
}

/* Waits for a signal with something to undo behind it. */
static hf_value trip(hf_ctx *w, hf_value in)
{
    hf_value booked = hf_activity(w, "work", in);

    hf_compensate(w, "undo", booked);
    (void)hf_receive(w, "go", .timeout = hf_hours(1));
    return hf_activity(w, "work", in);
}

static hf_value resting(hf_ctx *w, hf_value in)
{
    hf_receive(w, "go");
    return in;
}

/* Hears of the cancellation, asks once more, and goes on in its own way. */
static hf_value stubborn(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;
    hf_value got = NULL;

    (void)hf_protect(w, resting, in, &got, &e);
    if (e && e->status == HF_CANCELLED)
        return hf_json(w, "{'heard': %s, 'got': %p}", e->message,
                       (const void *)hf_receive(w, "go"));
    return hf_json(w, "{'heard': null}");
}

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_seconds(60));
    return hf_activity(w, "work", in);
}

static hf_value retrier(hf_ctx *w, hf_value in)
{
    static const hf_ms backoff[] = {1000};

    return hf_activity(w, "work", in, .max_attempts = 3, .backoff = backoff, .backoff_n = 1);
}

static hf_value busy(hf_ctx *w, hf_value in)
{
    hf_spawn_activity(w, "nobody-has-it", in);
    hf_spawn_activity(w, "nobody-has-it", in);
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value counter(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 0);

    hf_receive(w, "go");
    if (n)
        hf_continue_as_new(w, hf_json(w, "{'n': %d}", (int)n - 1));
    return in;
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};

static const hf_workflow_def workflows[] = {
    {.type = "trip", .run = trip, .signals = signals},
    {.type = "stubborn", .run = stubborn, .signals = signals},
    {.type = "sleeper", .run = sleeper, .signals = signals},
    {.type = "retrier", .run = retrier},
    {.type = "busy", .run = busy},
    {.type = "counter", .run = counter, .signals = signals},
    {0},
};
static const hf_activity_def activities[] = {{hf_fn(work)}, {hf_fn(undo)}, {0}};
static const hf_app app = {.name = "stop", .workflows = workflows, .activities = activities};

/* ---- helpers */

/* One command through the path that all surfaces share. */
static hf_reply order(hf_engine *d, hf_command_type type, const char *id, const char *run_id,
                      const void *more)
{
    const hf_request request = {.type = type,
                                .id = hf_slice_of(id),
                                .run_id = hf_slice_of(run_id),
                                .reason = HF_SLICE("told to"),
                                .more = more};
    hf_reply reply;
    hf_err err = {0};
    hf_status st = hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err);

    ck_assert_msg(st == HF_OK, "%s: %s", hf_strstatus(st), err.text);
    return reply;
}

static const char *outcome(hf_reply reply)
{
    return hf_cmd_outcome_text((hf_cmd_outcome)reply.outcome);
}

static const char *rejection(hf_reply reply)
{
    ck_assert_int_eq(reply.status, HF_COMMAND_STATUS_REJECTED);
    return hf_rejection_reason_text((hf_rejection_reason)reply.rejection);
}

static const hf_cancel_more gently = {.cleanup = true};

/* ---- cancel with cleanup */

/* The code hears of the cancellation where it waits, what it did is undone, then the run closes as
   cancelled and says which command asked for it. */
HF_EVERY_WAY(cancel_lets_the_code_clean_up)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_error *e = NULL;
    hf_reply reply;

    undone = 0;
    hf_kit_ok(d, hf_start(d, "trip", hf_json(d, "7"), .id = "t"));
    hf_kit_ok(d, hf_test_drain(d));
    reply = order(d, HF_COMMAND_TYPE_CANCEL, "t", NULL, &gently);
    ck_assert_str_eq(outcome(reply), "cancel_requested");
    ck_assert_int_eq(undone, 0);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(undone, 1);
    ck_assert_str_eq(hf_test_status(d, "t"), "cancelled");
    ck_assert_str_eq(hf_kit_history(d, "t"),
                     "StartAccepted WorkflowStarted ActivityScheduled ActivityStarted "
                     "ActivityCompleted SignalWaitOpened TimerScheduled CancelRequested "
                     "ActivityScheduled ActivityStarted ActivityCompleted TimerCancelled "
                     "WorkflowCancelled");
    ck_assert_str_eq(hf_kit_said(d, "t", "WorkflowCancelled", 0, HF_KEY_WORKFLOW_COMMAND_ID),
                     reply.command_id);
    ck_assert_str_eq(hf_kit_said(d, "t", "WorkflowCancelled", 0, HF_KEY_REASON), "told to");
    ck_assert_int_eq(hf_result(d, "t", 0, NULL, &e), HF_CANCELLED);
    ck_assert_str_eq(e->message, "told to");
    hf_kit_close(d);
}

/* It is heard once: a second one is recorded and changes nothing, code that goes on may complete,
   and a cancel without cleanup still closes the run at once. */
HF_EVERY_WAY(cancel_with_cleanup_is_heard_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "s"));
    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "hard"));
    hf_kit_ok(d, hf_test_drain(d));
    (void)order(d, HF_COMMAND_TYPE_CANCEL, "s", NULL, &gently);
    (void)order(d, HF_COMMAND_TYPE_CANCEL, "hard", NULL, &gently);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_cancel_with(d, "s",
                                &(hf_order_opts){.size_ = sizeof(hf_order_opts),
                                                 .reason = "again",
                                                 .cleanup = true}));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "s"), "waiting signal:go");
    ck_assert_int_eq(hf_test_count(d, "s", "CancelRequested"), 2);
    hf_kit_ok(d, hf_signal(d, "s", "go", hf_json(d, "[5]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "s"), "{\"heard\":\"told to\",\"got\":5}");
    hf_kit_ok(d, hf_cancel(d, "hard", "now"));
    ck_assert_str_eq(hf_test_status(d, "hard"), "cancelled");
    hf_kit_close(d);
}

static hf_status cleanup_scenario(hf_engine *d, void *arg)
{
    hf_status st = hf_start(d, "trip", hf_json(d, "7"), .id = "t");

    (void)arg;
    if (!st)
        st = hf_test_drain(d);
    if (!st && strcmp(hf_test_status(d, "t"), "waiting signal:go") == 0)
        st = hf_cancel_with(
            d, "t", &(hf_order_opts){.size_ = sizeof(hf_order_opts), "why", .cleanup = true});
    return st ? st : hf_test_drain(d);
}

/* A crash after any commit changes nothing of it. */
START_TEST(cancel_with_cleanup_survives_every_crash)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, cleanup_scenario, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

/* ---- cancel and terminate */

/* Commands of a run in the store, and those that name the failure. */
static void stopped_check(hf_engine *d, const char *id, const char *verb, const char *closing)
{
    char wanted[512];

    (void)snprintf(wanted, sizeof(wanted),
                   "StartAccepted WorkflowStarted ActivityScheduled ActivityScheduled "
                   "TimerScheduled %s ActivityCancelled ActivityCancelled TimerCancelled %s",
                   verb, closing);
    ck_assert_str_eq(hf_kit_history(d, id), wanted);
    ck_assert_str_eq(hf_kit_said(d, id, verb, 0, HF_KEY_REASON), "told to");
    ck_assert_str_eq(hf_kit_said(d, id, closing, 0, HF_KEY_REASON), "told to");
    ck_assert_str_eq(hf_kit_said(d, id, closing, 0, HF_KEY_FAILURE_CATEGORY),
                     hf_test_status(d, id));
    ck_assert_str_eq(hf_kit_said(d, id, closing, 0, HF_KEY_WORKFLOW_COMMAND_ID),
                     hf_kit_said(d, id, verb, 0, HF_KEY_WORKFLOW_COMMAND_ID));
}

/* Both close the run with all that is open, activities before timers, and say why: in the events,
   in the failure that the bundle shows, and to whoever asks for the result. */
HF_EVERY_WAY(b177_cancel_and_terminate_say_what_and_why)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_error *e = NULL;
    const char *bundle = NULL;

    hf_kit_ok(d, hf_start(d, "busy", NULL, .id = "c"));
    hf_kit_ok(d, hf_start(d, "busy", NULL, .id = "t"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_CANCEL, "c", NULL, NULL)), "cancelled");
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_TERMINATE, "t", NULL, NULL)), "terminated");
    stopped_check(d, "c", "CancelRequested", "WorkflowCancelled");
    stopped_check(d, "t", "TerminateRequested", "WorkflowTerminated");
    ck_assert_int_eq(hf_result(d, "c", 0, NULL, &e), HF_CANCELLED);
    ck_assert_str_eq(e->type, "cancelled");
    ck_assert_int_eq(hf_result(d, "t", 0, NULL, &e), HF_CANCELLED);
    ck_assert_str_eq(e->type, "terminated");
    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &bundle, "c"));
    ck_assert(strstr(bundle, "\"propagation_kind\":\"cancelled\"") != NULL);
    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &bundle, "t"));
    ck_assert(strstr(bundle, "\"propagation_kind\":\"terminated\"") != NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(2))); /* the timers are gone */
    ck_assert_int_eq(hf_test_count(d, "c", "TimerFired"), 0);
    hf_kit_close(d);
}

/* A chosen run must be the newest and open; the answer says which it is not. */
HF_EVERY_WAY(b177_a_chosen_run_must_be_the_open_one)
{
    static const hf_command_type verbs[] = {HF_COMMAND_TYPE_CANCEL, HF_COMMAND_TYPE_TERMINATE,
                                            HF_COMMAND_TYPE_PAUSE, HF_COMMAND_TYPE_RESUME};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_reply first;
    hf_reply second;

    hf_kit_ok(d, hf_start(d, "counter", hf_json(d, "{'n': 1}"), .id = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    first = order(d, HF_COMMAND_TYPE_PAUSE, "k", NULL, NULL);
    (void)order(d, HF_COMMAND_TYPE_RESUME, "k", first.run_id, NULL);
    hf_kit_ok(d, hf_signal(d, "k", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        ck_assert_str_eq(rejection(order(d, verbs[i], "k", first.run_id, NULL)),
                         "selected_run_not_current");
    ck_assert_int_eq(
        hf_cancel_with(d, "k",
                       &(hf_order_opts){.size_ = sizeof(hf_order_opts), .run_id = first.run_id}),
        HF_REJECTED);
    ck_assert_str_eq(hf_test_status(d, "k"), "waiting signal:go");
    second = order(d, HF_COMMAND_TYPE_CANCEL, "k", NULL, NULL);
    ck_assert_str_ne(second.run_id, first.run_id);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        ck_assert_str_eq(rejection(order(d, verbs[i], "k", second.run_id, NULL)), "run_not_active");
    ck_assert_int_eq(hf_cancel(d, "nobody", NULL), HF_NOTFOUND);
    ck_assert_int_eq(
        hf_cancel_with(d, "k",
                       &(hf_order_opts){.size_ = sizeof(hf_order_opts), .run_id = "no id at all"}),
        HF_NOTFOUND);
    hf_kit_close(d);
}

/* ---- archive */

/* A closed run is archived once, historical ones too; an open one is not. */
HF_EVERY_WAY(b178_archive_marks_closed_runs)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_reply first;
    hf_reply reply;

    hf_kit_ok(d, hf_start(d, "counter", hf_json(d, "{'n': 1}"), .id = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    first = order(d, HF_COMMAND_TYPE_ARCHIVE, "k", NULL, NULL);
    ck_assert_str_eq(rejection(first), "run_not_closed");
    ck_assert_str_eq(outcome(first), "rejected_run_not_closed");
    hf_kit_ok(d, hf_signal(d, "k", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    reply = order(d, HF_COMMAND_TYPE_ARCHIVE, "k", first.run_id, NULL);
    ck_assert_str_eq(outcome(reply), "archived");
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_ARCHIVE, "k", first.run_id, NULL)),
                     "archive_not_needed");
    ck_assert_str_eq(rejection(order(d, HF_COMMAND_TYPE_ARCHIVE, "k", NULL, NULL)),
                     "run_not_closed");
    hf_kit_ok(d, hf_signal(d, "k", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_archive(d, "k", .reason = "done"));
    ck_assert_str_eq(hf_kit_said(d, "k", "WorkflowArchived", 0, HF_KEY_REASON), "done");
    ck_assert_str_eq(hf_kit_said(d, "k", "ArchiveRequested", 0, HF_KEY_OUTCOME), "archived");
    ck_assert_str_eq(hf_kit_result(d, "k"), "{\"n\":0}"); /* archived is not gone */
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE archived_us IS NOT NULL"), 2);
    hf_kit_close(d);
}

/* ---- pause and resume */

/* An activity that runs when the run is paused ends on the record; nothing follows it until the run
   is resumed. */
HF_EVERY_WAY(pause_lets_running_activities_finish)
{
    hf_engine *d = hf_kit_open(kind, &app);

    worked = 0;
    hf_kit_ok(d, hf_start(d, "trip", hf_json(d, "7"), .id = "t"));
    hf_kit_ok(d, hf_pause(d, "t", .reason = "audit")); /* before its first turn */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(worked, 0);
    ck_assert_int_eq(hf_test_count(d, "t", "ActivityScheduled"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE paused_us IS NOT NULL"), 1);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(worked, 0);
    hf_kit_ok(d, hf_resume(d, "t"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(worked, 1);
    ck_assert_str_eq(hf_test_status(d, "t"), "waiting signal:go");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE paused_us IS NOT NULL"), 0);
    hf_kit_close(d);
}

/* Signals wait and timers fire on the record; the code sees both when it goes on, also after the
   engine was opened again. */
HF_EVERY_WAY(pause_keeps_signals_and_timers_for_later)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "s"));
    hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "7"), .id = "z"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_pause(d, "s"));
    hf_kit_ok(d, hf_pause(d, "z"));
    hf_kit_ok(d, hf_signal(d, "s", "go", NULL));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_str_eq(hf_test_status(d, "s"), "waiting paused");
    ck_assert_str_eq(hf_test_status(d, "z"), "waiting paused");
    ck_assert_int_eq(hf_test_count(d, "z", "TimerFired"), 1);
    ck_assert_int_eq(hf_test_count(d, "z", "ActivityScheduled"), 0);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_test_count(d, "s", "SignalApplied"), 0);
    hf_kit_ok(d, hf_resume(d, "s"));
    hf_kit_ok(d, hf_resume(d, "z"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "s"), "completed");
    ck_assert_str_eq(hf_kit_result(d, "z"), "7");
    hf_kit_close(d);
}

/* A retry that falls due while the run is paused begins when it is resumed. */
HF_EVERY_WAY(pause_holds_new_attempts)
{
    hf_engine *d = hf_kit_open(kind, &app);

    worked = 0;
    hf_test_fail(d, "work", 1, "flaky");
    hf_kit_ok(d, hf_start(d, "retrier", hf_json(d, "7"), .id = "r"));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityRetryScheduled"), 1);
    hf_kit_ok(d, hf_pause(d, "r"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 1);
    ck_assert_int_eq(worked, 0);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 1);
    hf_kit_ok(d, hf_resume(d, "r"));
    hf_kit_ok(d, hf_test_advance(d, 0));
    ck_assert_str_eq(hf_kit_result(d, "r"), "7");
    ck_assert_int_eq(hf_test_count(d, "r", "ActivityStarted"), 2);
    hf_kit_close(d);
}

/* Deadlines do not wait for a paused run, and neither do cancel and terminate. */
HF_EVERY_WAY(pause_stops_no_deadline)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "late", .run_timeout = hf_seconds(5)));
    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "c"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_pause(d, "late"));
    hf_kit_ok(d, hf_pause(d, "c"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(6)));
    ck_assert_int_eq(hf_test_count(d, "late", "WorkflowTimedOut"), 1);
    ck_assert_int_eq(hf_resume_with(d, "late", NULL), HF_REJECTED);
    hf_kit_ok(d, hf_cancel(d, "c", NULL));
    ck_assert_str_eq(hf_test_status(d, "c"), "cancelled");
    hf_kit_close(d);
}

/* Asking twice is no mistake: the answer says that it was so before. */
HF_EVERY_WAY(pause_and_resume_may_be_asked_twice)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "stubborn", NULL, .id = "s"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_RESUME, "s", NULL, NULL)),
                     "resume_not_needed");
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_PAUSE, "s", NULL, NULL)), "paused");
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_PAUSE, "s", NULL, NULL)), "pause_not_needed");
    ck_assert_str_eq(outcome(order(d, HF_COMMAND_TYPE_RESUME, "s", NULL, NULL)), "resumed");
    ck_assert_int_eq(hf_test_count(d, "s", "RunPaused"), 1);
    ck_assert_int_eq(hf_test_count(d, "s", "RunResumed"), 1);
    hf_kit_close(d);
}

static hf_status pause_scenario(hf_engine *d, void *arg)
{
    hf_status st = hf_start(d, "trip", hf_json(d, "7"), .id = "t");

    (void)arg;
    if (!st)
        st = hf_pause(d, "t");
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_signal(d, "t", "go", NULL);
    if (!st)
        st = hf_resume(d, "t");
    return st ? st : hf_test_drain(d);
}

/* A crash after any commit changes nothing of it. */
START_TEST(pause_survives_every_crash)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, pause_scenario, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

HF_PG_SUITE_MAIN("engine/stop", HF_WAYS(cancel_lets_the_code_clean_up),
                 HF_WAYS(cancel_with_cleanup_is_heard_once),
                 {cancel_with_cleanup_survives_every_crash, 0},
                 HF_WAYS(b177_cancel_and_terminate_say_what_and_why),
                 HF_WAYS(b177_a_chosen_run_must_be_the_open_one),
                 HF_WAYS(b178_archive_marks_closed_runs),
                 HF_WAYS(pause_lets_running_activities_finish),
                 HF_WAYS(pause_keeps_signals_and_timers_for_later),
                 HF_WAYS(pause_holds_new_attempts), HF_WAYS(pause_stops_no_deadline),
                 HF_WAYS(pause_and_resume_may_be_asked_twice), {pause_survives_every_crash, 0})
