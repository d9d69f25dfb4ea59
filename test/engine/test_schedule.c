/* Schedules as they are made, changed, triggered by hand, listed and deleted: what is refused, what
   is shown, and what is recorded of it. What fires when is in test_schedule_fire.c. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/schedule_app.h"
#include "holdfast/host.h"

/* ---- 135 to 141, and the audit of 150 */

/* What was given is what is shown; the next time is known at once, and nothing fires before it. */
HF_BOTH_ENGINES(b135_create)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value s;

    hf_kit_ok(d, hf_schedule_create(d, "nightly", "quick", hf_json(d, "{'n': 1}"),
                                    .cron = "30 3 * * *", .timezone = "Europe/Berlin",
                                    .note = "the report", .max_runs = 7, .jitter = hf_seconds(0),
                                    .overlap = "buffer_one", .labels = "{\"team\":\"a\"}",
                                    .run_timeout = hf_minutes(10)));
    s = shown(d, "nightly");
    ck_assert_str_eq(hf_str(s, "status", ""), "active");
    ck_assert_str_eq(hf_str(s, "next_fire_at", ""), "2026-01-01T02:30:00.000000Z");
    ck_assert_str_eq(hf_str(s, "workflow_type", ""), "quick");
    ck_assert_str_eq(hf_str(s, "overlap_policy", ""), "buffer_one");
    ck_assert_str_eq(hf_str(s, "spec.timezone", ""), "Europe/Berlin");
    ck_assert_str_eq(hf_str(s, "spec.cron_expressions.0", ""), "30 3 * * *");
    ck_assert_str_eq(hf_str(s, "note", ""), "the report");
    ck_assert_int_eq(hf_int(s, "remaining_actions", 0), 7);
    ck_assert_int_eq(hf_int(s, "action.run_timeout_seconds", 0), 600);
    ck_assert_str_eq(audit(d, "nightly"), "Created");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(2) + hf_minutes(30) - 1));
    ck_assert_int_eq(runs(d), 0);
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "schedule:nightly:20260101T023000Z"), "completed");
    ck_assert_str_eq(hf_kit_result(d, "schedule:nightly:20260101T023000Z"), "{\"n\":1}");
    ck_assert_str_eq(hf_kit_history(d, "schedule:nightly:20260101T023000Z"),
                     "StartAccepted WorkflowStarted ScheduleTriggered WorkflowCompleted");
    ck_assert_str_eq(hf_kit_said(d, "schedule:nightly:20260101T023000Z", "ScheduleTriggered", 0,
                                 HF_KEY_CRON_EXPRESSION),
                     "30 3 * * *");
    ck_assert_str_eq(hf_kit_said(d, "schedule:nightly:20260101T023000Z", "ScheduleTriggered", 0,
                                 HF_KEY_TIMEZONE),
                     "Europe/Berlin");
    ck_assert_str_eq(field(d, "nightly", "next_fire_at"), "2026-01-02T02:30:00.000000Z");
    hf_kit_close(d);
}

/* What cannot be a schedule is refused by name, and nothing is stored. */
HF_BOTH_ENGINES(b136_bad_specifications)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value in = hf_json(d, "1");
    char longer[200];
    static const struct {
        const char *spec;
        const char *said;
    } bad[] = {
        {"{\"cron_expressions\":[\"60 * * * *\"]}", "minute"},
        {"{\"cron_expressions\":[\"* * * *\"]}", "five or six"},
        {"{\"cron_expressions\":[5]}", "must be a text"},
        {"{\"cron_expressions\":\"* * * * *\"}", "must be an array"},
        {"{\"cron_expressions\":[\"0 0 30 2 *\"]}", "never fires"},
        {"{\"cron_expressions\":[\"* * * * *\"],\"timezone\":\"Mars/Olympus\"}", "time zone"},
        {"{\"cron_expressions\":[\"* * * * *\"],\"timezone\":\"../../etc/passwd\"}", "time zone"},
        {"{\"cron_expressions\":[]}", "needs a cron expression or an interval"},
        {"{}", "needs a cron expression or an interval"},
        {"[]", "must be an object"},
        {"{\"when\":1}", "there is no when"},
        {"{\"intervals\":[{\"every\":\"PT0S\"}]}", "at least one second"},
        {"{\"intervals\":[{\"every\":\"1 hour\"}]}", "not a duration"},
        {"{\"intervals\":[{\"every\":-5}]}", "not a duration"},
        {"{\"intervals\":[{\"every\":\"PT1H\",\"offset\":\"PT1H\"}]}", "shorter than"},
        {"{\"intervals\":[{\"each\":\"PT1H\"}]}", "no each"},
        {"{\"intervals\":[7]}", "must be an object"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_value spec = parsed(d, bad[i].spec);

        ck_assert_ptr_nonnull(spec);
        ck_assert_msg(hf_schedule_create(d, "s", "quick", in, .spec = spec) == HF_INVALID, "%s",
                      bad[i].spec);
        ck_assert_msg(strstr(hf_errmsg(d), bad[i].said), "%s: %s", bad[i].spec, hf_errmsg(d));
    }
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in), HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .every = 500), HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .every = 1500), HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .cron = "@daily", .overlap = "maybe"),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .cron = "@daily", .max_runs = -2),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .cron = "@daily", .jitter = -2),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .cron = "@daily", .run_timeout = 10),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "s", "quick", in, .cron = "@daily", .labels = "[]"),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "", "quick", in, .cron = "@daily"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, "a b", "quick", in, .cron = "@daily"), HF_INVALID);
    memset(longer, 'x', sizeof(longer));
    longer[151] = '\0';
    ck_assert_int_eq(hf_schedule_create(d, longer, "quick", in, .cron = "@daily"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_create(d, NULL, "quick", in, .cron = "@daily"), HF_MISUSE);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule"), 0);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule_history"), 0);
    longer[150] = '\0'; /* the longest id still makes valid instance ids */
    hf_kit_ok(d, hf_schedule_create(d, longer, "quick", in, .cron = "@daily"));
    hf_kit_ok(d, hf_test_advance(d, hf_days(1)));
    ck_assert_int_eq(runs(d), 1);
    hf_kit_close(d);
}

/* What no start could carry is refused when it is planned, made or changed, and nothing is stored:
   the schedule stays what it was. */
HF_BOTH_ENGINES(actions_are_checked_when_they_are_planned)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value in = hf_json(d, "1");
    char longer[300];
    char attributes[320];
    static const struct {
        hf_schedule_opts o;
        const char *said;
    } bad[] = {
        {{.labels = "{\"team\":[1]}"}, "labels: the label team is no single value"},
        {{.labels = "{\"a b\":\"x\"}"}, "labels: the label key"},
        {{.labels = "{\"team\":\"\"}"}, "labels: the label value"},
        {{.attributes = "{\"team\":{}}"},
         "search attributes: the search attribute team is neither"},
        {{.attributes = "{\"teams\":[1]}"}, "search attributes: the search attribute teams is"},
        {{.attributes = "{\"\":1}"}, "search attributes: the search attribute key"},
        {{.memo = "{\"\":1}"}, "memo: the memo key"},
        {{.business_key = " "}, "business key"},
        {{.queue = ""}, "queue name"},
        {{.type = ""}, "the type"},
    };

    memset(longer, 'x', sizeof(longer));
    longer[256] = '\0';
    (void)snprintf(attributes, sizeof(attributes), "{\"code\":\"%s\"}", longer);
    hf_kit_ok(d, hf_attribute_create(d, "code", "keyword"));
    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", in, .cron = "@daily"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_schedule_opts o = bad[i].o;

        o.size_ = sizeof(o);
        ck_assert_msg(hf_schedule_update_with(d, "s", &o) == HF_INVALID, "%s", bad[i].said);
        ck_assert_msg(strstr(hf_errmsg(d), bad[i].said), "%s: %s", bad[i].said, hf_errmsg(d));
        o.cron = "@daily";
        if (!o.type)
            o.type = "quick";
        ck_assert_int_eq(hf_schedule_create_with(d, "t", &o), HF_INVALID);
    }
    ck_assert_int_eq(
        hf_schedule_create(d, "t", "quick", in, .cron = "@daily", .attributes = attributes),
        HF_INVALID);
    ck_assert_int_eq(hf_schedule_update(d, "s", .attributes = attributes), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "is limited to 255, this is 256"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule"), 1);
    ck_assert_str_eq(audit(d, "s"), "Created");
    attributes[strlen(attributes) - 3] = '"'; /* 255 */
    attributes[strlen(attributes) - 2] = '}';
    attributes[strlen(attributes) - 1] = '\0';
    hf_kit_ok(d, hf_schedule_update(d, "s", .attributes = attributes));
    ck_assert_str_eq(audit(d, "s"), "Created Updated");
    hf_kit_close(d);
}

/* An id that is in use is taken; one of a deleted schedule is free. */
HF_BOTH_ENGINES(b137_duplicate_id)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value in = hf_json(d, "1");

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", in, .cron = "@daily"));
    ck_assert_int_eq(hf_schedule_create(d, "s", "slow", in, .cron = "@hourly"), HF_EXISTS);
    ck_assert_str_eq(field(d, "s", "workflow_type"), "quick");
    ck_assert_str_eq(audit(d, "s"), "Created");
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    hf_kit_ok(d, hf_schedule_create(d, "s", "slow", in, .cron = "@hourly"));
    ck_assert_str_eq(field(d, "s", "workflow_type"), "slow");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule"), 2);
    hf_kit_close(d);
}

/* Paused it does not fire and has no next time; resumed it goes on from now: what passed meanwhile
   is not made up for. */
HF_BOTH_ENGINES(b138_pause_and_resume)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "@hourly"));
    hf_kit_ok(d, hf_schedule_pause(d, "s", "maintenance"));
    hf_kit_ok(d, hf_schedule_pause(d, "s", "again")); /* as once */
    ck_assert_str_eq(field(d, "s", "status"), "paused");
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "null");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(5)));
    ck_assert_int_eq(runs(d), 0);
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(runs(d), 0);
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T06:00:00.000000Z");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(runs(d), 1);
    ck_assert_str_eq(audit(d, "s"), "Created maintenance Resumed triggered");
    ck_assert_int_eq(hf_schedule_pause(d, "nobody", NULL), HF_NOTFOUND);
    hf_kit_ok(
        d, hf_schedule_create(d, "p", "quick", hf_json(d, "1"), .cron = "@hourly", .paused = true));
    ck_assert_str_eq(field(d, "p", "status"), "paused");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(2)));
    ck_assert_int_eq(hf_int(shown(d, "p"), "fires_count", -1), 0);
    hf_kit_close(d);
}

/* An update changes what is given, says so, and computes the next time from now. */
HF_BOTH_ENGINES(b139_update_recomputes)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value events = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "0 12 * * *"));
    hf_kit_ok(d, hf_schedule_update(d, "s", .cron = "0 6 * * *\n0 18 * * *", .note = "twice"));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T06:00:00.000000Z");
    hf_kit_ok(d, hf_schedule_update(d, "s", .timezone = "America/New_York"));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T11:00:00.000000Z");
    hf_kit_ok(d, hf_schedule_update(d, "s", .in = hf_json(d, "{'n': 2}"), .type = "strict"));
    hf_kit_ok(d, hf_schedule_update(d, "s", .note = "twice")); /* nothing changes, nothing said */
    hf_kit_ok(d, hf_schedule_history(d, "s", 0, 0, &events));
    ck_assert_int_eq((int64_t)hf_len(hf_get(events, "events")), 4);
    ck_assert_str_eq(
        hf_text(hf_mem_of_engine(d), hf_get(events, "events.1.payload.changed_fields")),
        "[\"spec\",\"note\"]");
    ck_assert_str_eq(
        hf_text(hf_mem_of_engine(d), hf_get(events, "events.3.payload.changed_fields")),
        "[\"action\"]");
    ck_assert_int_eq(hf_schedule_update(d, "s", .cron = "bad"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_update(d, "none", .note = "x"), HF_NOTFOUND);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(12)));
    ck_assert_str_eq(hf_kit_result(d, "schedule:s:20260101T110000Z"), "{\"n\":2}");
    ck_assert_int_eq(runs(d), 1);
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    ck_assert_int_eq(hf_schedule_update(d, "s", .note = "late"), HF_REJECTED);
    hf_kit_close(d);
}

/* Deleted it stays to be looked at, fires no more, and can be deleted again. */
HF_BOTH_ENGINES(b140_delete_is_soft)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value list = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "@hourly"));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(5)));
    ck_assert_int_eq(runs(d), 1);
    ck_assert_str_eq(field(d, "s", "status"), "deleted");
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "null");
    ck_assert_str_eq(audit(d, "s"), "Created triggered deleted");
    ck_assert_int_eq(hf_schedule_pause(d, "s", NULL), HF_REJECTED);
    ck_assert_int_eq(hf_schedule_resume(d, "s"), HF_REJECTED);
    ck_assert_int_eq(hf_schedule_backfill(d, "s", EPOCH_MS, EPOCH_MS + 3600000, NULL, NULL),
                     HF_REJECTED);
    ck_assert_int_eq(hf_schedule_delete(d, "never"), HF_NOTFOUND);
    hf_kit_ok(d, hf_schedule_list(d, &list, .limit = 5));
    ck_assert_int_eq(hf_int(list, "schedule_count", -1), 0);
    hf_kit_close(d);
}

/* Every event says who asked: the program, whoever it named, or the engine itself. So does the run
   that was started. */
HF_BOTH_ENGINES(b135_events_say_who_asked)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value named = hf_json(d, "{'caller': {'type': 'desk'}, 'principal': {'id': 'ann'}}");
    static const struct {
        const char *type;
        const char *caller;
        const char *principal;
    } said[] = {{"ScheduleCreated", "embedded", "none"},   {"ScheduleTriggered", "engine", "none"},
                {"ScheduleTriggered", "desk", "ann"},      {"SchedulePaused", "desk", "ann"},
                {"ScheduleTriggerSkipped", "desk", "ann"}, {"ScheduleResumed", "desk", "ann"},
                {"ScheduleUpdated", "desk", "ann"},        {"ScheduleDeleted", "embedded", "none"}};
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "@hourly"));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    hf_kit_ok(d, hf_schedule_context(d, named));
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 3600000, EPOCH_MS + 3600000, NULL, NULL));
    hf_kit_ok(d, hf_schedule_pause(d, "s", NULL));
    ck_assert_str_eq(triggered(d, "s", NULL), "skipped");
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_schedule_update(d, "s", .note = "x"));
    ck_assert_int_eq(hf_schedule_context(d, hf_json(d, "'ann'")), HF_INVALID);
    hf_kit_ok(d, hf_schedule_context(d, NULL));
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    hf_kit_ok(d, hf_schedule_history(d, "s", 0, 0, &out));
    out = hf_get(out, "events");
    ck_assert_uint_eq(hf_len(out), sizeof(said) / sizeof(said[0]));
    for (size_t i = 0; i < hf_len(out); i++) {
        hf_value event = hf_at(out, i);

        ck_assert_str_eq(hf_str(event, "event_type", ""), said[i].type);
        ck_assert_str_eq(hf_str(event, "payload.command_context.caller.type", ""), said[i].caller);
        ck_assert_str_eq(hf_str(event, "payload.command_context.principal.id", "none"),
                         said[i].principal);
    }
    ck_assert_ptr_nonnull(strstr(hf_kit_said(d, "schedule:s:backfill:20260101T010000Z",
                                             "ScheduleTriggered", 0, HF_KEY_COMMAND_CONTEXT),
                                 "\"ann\""));
    ck_assert_ptr_nonnull(strstr(hf_kit_said(d, "schedule:s:20260101T010000Z", "ScheduleTriggered",
                                             0, HF_KEY_COMMAND_CONTEXT),
                                 "\"engine\""));
    hf_kit_close(d);
}

/* A trigger that starts nothing says why, and counts. */
HF_BOTH_ENGINES(b141_trigger_and_its_skips)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .cron = "@daily"));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", NULL, &out));
    ck_assert_str_eq(hf_str(out, "outcome", ""), "triggered");
    ck_assert_str_eq(hf_str(out, "workflow_id", ""), "schedule:s:20260101T000000Z");
    ck_assert_int_eq((int)strlen(hf_str(out, "run_id", "")), 26);
    hf_kit_ok(d, hf_schedule_trigger(d, "s", NULL, &out));
    ck_assert_str_eq(hf_str(out, "outcome", ""), "skipped");
    ck_assert_str_eq(hf_str(out, "reason", ""), "overlap_policy_skip");
    ck_assert_ptr_null(hf_str(out, "workflow_id", NULL));
    ck_assert_str_eq(triggered(d, "s", "allow_all"), "triggered"); /* in the same microsecond */
    ck_assert_int_eq(open_runs(d), 2);
    hf_kit_ok(d, hf_schedule_pause(d, "s", NULL));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", "allow_all", &out));
    ck_assert_str_eq(hf_str(out, "reason", ""), "status_not_triggerable");
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_schedule_update(d, "s", .max_runs = 2));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", "allow_all", &out));
    ck_assert_str_eq(hf_str(out, "reason", ""), "remaining_actions_exhausted");
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "null");
    hf_kit_ok(d, hf_schedule_delete(d, "s"));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", NULL, &out));
    ck_assert_str_eq(hf_str(out, "reason", ""), "status_not_triggerable");
    ck_assert_int_eq(hf_int(shown(d, "s"), "skipped_trigger_count", 0), 4);
    ck_assert_str_eq(field(d, "s", "last_skip_reason"), "status_not_triggerable");
    ck_assert_int_eq(hf_schedule_trigger(d, "none", NULL, &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_schedule_trigger(d, "s", "sometimes", &out), HF_INVALID);
    hf_kit_close(d);
}

/* The audit is numbered from 1 without a gap, whatever races: changes read and written by turns
   from two sides are each recorded once. */
HF_BOTH_ENGINES(b150_audit_sequence)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "* * * * *"));
    for (int i = 0; i < 20; i++) {
        hf_kit_skip(d, hf_minutes(1)); /* due, and not yet seen by the core */
        hf_kit_ok(d, i % 2 ? hf_schedule_pause(d, "s", "p") : hf_schedule_resume(d, "s"));
        (void)triggered(d, "s", "allow_all");
        hf_kit_ok(d, hf_test_drain(d));
    }
    hf_kit_ok(d, hf_schedule_history(d, "s", 0, 1000, &out));
    ck_assert_int_eq((int64_t)hf_len(hf_get(out, "events")),
                     hf_kit_number(d, "SELECT events FROM schedule"));
    (void)audit(d, "s"); /* numbers */
    hf_kit_ok(d, hf_schedule_history(d, "s", 2, 3, &out));
    ck_assert_int_eq(hf_int(out, "events.0.sequence", 0), 3);
    ck_assert_int_eq(hf_int(out, "next_cursor", 0), 5);
    hf_kit_close(d);
}

/* ---- beyond the contract's numbers */

/* Lists are pages, newest first; bad questions are refused. */
HF_BOTH_ENGINES(lists_come_in_pages)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value page = NULL;
    char id[16];
    size_t seen = 0;

    for (int i = 0; i < 25; i++) {
        (void)snprintf(id, sizeof(id), "s%02d", i);
        hf_kit_ok(d, hf_schedule_create(d, id, i % 5 ? "quick" : "slow", hf_json(d, "1"),
                                        .cron = "@daily", .paused = i % 2));
        hf_kit_skip(d, i % 3 * 1000);
    }
    hf_kit_ok(d, hf_schedule_list(d, &page, .limit = 10));
    while (hf_len(hf_get(page, "schedules"))) {
        seen += hf_len(hf_get(page, "schedules"));
        if (!hf_str(page, "next_page_token", NULL))
            break;
        hf_kit_ok(d, hf_schedule_list(d, &page, .limit = 10,
                                      .after = hf_str(page, "next_page_token", NULL)));
    }
    ck_assert_uint_eq(seen, 25);
    hf_kit_ok(d, hf_schedule_list(d, &page, .type = "slow"));
    ck_assert_int_eq(hf_int(page, "schedule_count", 0), 5);
    hf_kit_ok(d, hf_schedule_list(d, &page, .status = "paused"));
    ck_assert_int_eq(hf_int(page, "schedule_count", 0), 12);
    ck_assert_int_eq(hf_schedule_list(d, &page, .status = "asleep"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_list(d, &page, .limit = 201), HF_INVALID);
    ck_assert_int_eq(hf_schedule_list(d, &page, .after = "nonsense"), HF_INVALID);
    ck_assert_int_eq(hf_schedule_show(d, "none", &page), HF_NOTFOUND);
    ck_assert_int_eq(hf_schedule_history(d, "none", 0, 0, &page), HF_NOTFOUND);
    hf_kit_close(d);
}

/* Each allocation that fails leaves the schedule as it was or changed, and the store whole. */
HF_BOTH_ENGINES(failed_allocations_change_nothing)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_status st = HF_NOMEM;
    int64_t nth;

    for (nth = 1; st; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_schedule_create(d, "s", "quick", NULL, .cron = "* * * * *",
                                .timezone = "Europe/Berlin", .overlap = "allow_all");
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
        ck_assert_int_lt(nth, 2000);
    }
    st = HF_NOMEM;
    for (nth = 1; st; nth++) {
        hf_value out = NULL;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_schedule_trigger(d, "s", "allow_all", &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
        ck_assert_int_lt(nth, 2000);
    }
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_ge(runs(d), 2);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/schedule", HF_BOTH(b135_create), HF_BOTH(b136_bad_specifications),
                 HF_BOTH(actions_are_checked_when_they_are_planned), HF_BOTH(b137_duplicate_id),
                 HF_BOTH(b138_pause_and_resume), HF_BOTH(b139_update_recomputes),
                 HF_BOTH(b140_delete_is_soft), HF_BOTH(b135_events_say_who_asked),
                 HF_BOTH(b141_trigger_and_its_skips), HF_BOTH(b150_audit_sequence),
                 HF_BOTH(lists_come_in_pages), HF_BOTH_SLOW(failed_allocations_change_nothing, 300))
