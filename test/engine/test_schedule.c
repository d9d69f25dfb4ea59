/* Schedules on a virtual clock: what fires when, what overlap does, what is recorded, and that no
   time fires twice, whatever crashes, goes back or races. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "engine/engine_impl.h"
#include "engine/fleet.h"
#include "holdfast/host.h"
#include "lib/campaign.h"
#include "lib/kit.h"

#define EPOCH_MS                                                                                   \
    INT64_C(1767225600000) /* 2026-01-01 00:00, a Thursday: where the kit's clock begins */

static hf_value quick(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%p", (const void *)in);
}

/* Stays open for an hour, or until it is let go. */
static hf_value slow(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_receive(w, "go", .timeout = hf_hours(1));
    return hf_json(w, "'done'");
}

static hf_value relay(hf_ctx *w, hf_value in)
{
    if (hf_int(in, "", 2) == 0)
        return in;
    hf_sleep(w, hf_seconds(30));
    hf_continue_as_new(w, hf_json(w, "0"));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "quick", .run = quick},
                                            {.type = "slow", .run = slow, .signals = signals},
                                            {.type = "relay", .run = relay},
                                            {.type = "strict", .run = quick, .params = "n:int"},
                                            {0}};
static const hf_app app = {.name = "test", .workflows = workflows};

static hf_value parsed(hf_engine *d, const char *text)
{
    return hf_parse_(hf_mem_of_engine(d), text, strlen(text));
}

/* ---- looking */

static hf_value shown(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_show(d, id, &out));
    return out;
}

static const char *field(hf_engine *d, const char *id, const char *name)
{
    return hf_str(shown(d, id), name, "null");
}

/* The outcomes and types of its audit history, one word each. */
static const char *audit(hf_engine *d, const char *id)
{
    static char text[4096];
    hf_value out = NULL;
    size_t used = 0;

    hf_kit_ok(d, hf_schedule_history(d, id, 0, 1000, &out));
    text[0] = '\0';
    for (size_t i = 0; i < hf_len(hf_get(out, "events")); i++) {
        hf_value event = hf_at(hf_get(out, "events"), i);

        ck_assert_int_eq(hf_int(event, "sequence", 0), (int64_t)i + 1);
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%s", i ? " " : "",
            hf_str(event, "payload.outcome",
                   hf_str(event, "payload.reason", hf_str(event, "event_type", "?") + 8)));
        ck_assert_uint_lt(used, sizeof(text));
    }
    return text;
}

/* Why its first trigger failed. */
static const char *failure(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_history(d, id, 0, 1000, &out));
    return hf_str(out, "events.1.payload.error", "none");
}

static int64_t runs(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run");
}

static int64_t open_runs(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL");
}

static const char *triggered(hf_engine *d, const char *id, const char *overlap)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_trigger(d, id, overlap, &out));
    return hf_str(out, "outcome", "?");
}

/* ---- 135 to 142 */

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
        {{.attributes = "{\"\":1}"}, "search attributes: the label key"},
        {{.memo = "{\"\":1}"}, "memo: a memo key"},
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

/* What was right when it was planned is looked at again when it fires. */
HF_BOTH_ENGINES(actions_are_checked_when_they_fire)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char attributes[320];
    char longer[257];

    memset(longer, 'x', sizeof(longer));
    longer[256] = '\0';
    (void)snprintf(attributes, sizeof(attributes), "{\"code\":\"%s\"}", longer);
    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "* * * * *",
                                    .attributes = attributes));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    hf_kit_ok(d, hf_attribute_create(d, "code", "keyword"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    hf_kit_ok(d, hf_schedule_update(d, "s", .attributes = "{\"code\":\"x\"}"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered failed Updated triggered");
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

/* Workers are there and none of them supports the build: by hand and by time the start is skipped
   with that reason, nobody else is stopped for it, and what waited in the buffer is not kept. A
   start that overlaps is judged by its policy first. As soon as one worker supports it, it runs. */
HF_BOTH_ENGINES(b141_no_worker_supports_the_start)
{
    static const hf_app producer = {.name = "test", .build_id = "a", .workflows = workflows};
    hf_worker_row worker = {.name = HF_SLICE("w1"),
                            .queue = HF_SLICE("default"),
                            .scope = HF_SLICE(""),
                            .host = HF_SLICE("somewhere"),
                            .process = 7,
                            .supported = HF_SLICE("a")};
    hf_engine *d = hf_kit_open(kind, &producer);
    hf_value out = NULL;
    hf_err err = {0};

    hf_kit_ok(d, hf_set(d, "fleet_validation_mode", "fail"));
    hf_kit_ok(d, hf_schedule_create(d, "s", "elsewhere", NULL, .every = hf_seconds(10),
                                    .overlap = "buffer_all"));
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered");
    worker.supported = HF_SLICE("b");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(triggered(d, "s", NULL), "buffered");
    hf_kit_ok(d, hf_schedule_trigger(d, "s", "terminate_other", &out));
    ck_assert_str_eq(hf_str(out, "outcome", ""), "skipped");
    ck_assert_str_eq(hf_str(out, "reason", ""), "compatibility_blocked");
    ck_assert_int_eq(open_runs(d), 1);
    hf_kit_ok(d, hf_terminate(d, hf_str(shown(d, "s"), "latest_workflow_instance_id", ""), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(field(d, "s", "last_skip_reason"), "compatibility_blocked");
    ck_assert_int_eq((int64_t)hf_len(hf_get(shown(d, "s"), "buffered_actions")), 0);
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(10)));
    ck_assert_str_eq(audit(d, "s"), "Created triggered buffered compatibility_blocked "
                                    "compatibility_blocked compatibility_blocked");
    ck_assert_int_eq(hf_int(shown(d, "s"), "skipped_trigger_count", 0), 3);
    ck_assert_int_eq(runs(d), 1);
    worker.supported = HF_SLICE("b, a");
    hf_test_ok(hf_engine_worker_beat(d, &worker, &err), &err, "a heartbeat");
    ck_assert_str_eq(triggered(d, "s", NULL), "triggered");
    hf_kit_close(d);
}

/* What is due fires, what is not does not; each slot is one run, over crashes and restarts. */
HF_BOTH_ENGINES(b142_due_and_future)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "m", "quick", hf_json(d, "1"), .cron = "* * * * *"));
    hf_kit_ok(d, hf_schedule_create(d, "h", "quick", hf_json(d, "1"), .cron = "@hourly"));
    hf_kit_ok(d, hf_schedule_create(d, "d", "quick", hf_json(d, "1"), .cron = "@daily"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 30);
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 61);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(60)));
    ck_assert_int_eq(runs(d), 122);
    ck_assert_int_eq(open_runs(d), 0);
    ck_assert_int_eq(hf_int(shown(d, "d"), "fires_count", -1), 0);
    hf_kit_close(d);
}

/* ---- 143 to 146 */

/* One body for the six policies: the last run is open when the second time comes. */
HF_BOTH_ENGINES(b143_overlap_policies)
{
    static const struct {
        const char *policy;
        int64_t runs;
        int64_t open;
        const char *audit;
    } cases[] = {{"skip", 1, 1, "Created triggered overlap_policy_skip overlap_policy_skip"},
                 {"buffer_one", 1, 1, "Created triggered buffered buffer_full"},
                 {"buffer_all", 1, 1, "Created triggered buffered buffered"},
                 {"allow_all", 3, 3, "Created triggered triggered triggered"},
                 {"cancel_other", 3, 1, "Created triggered triggered triggered"},
                 {"terminate_other", 3, 1, "Created triggered triggered triggered"}};
    hf_engine *d = hf_kit_open(kind, &app);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t before = runs(d);
        int64_t before_open = open_runs(d);

        hf_kit_ok(d, hf_schedule_create(d, cases[i].policy, "slow", hf_json(d, "1"),
                                        .every = hf_minutes(1), .overlap = cases[i].policy));
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(3)));
        hf_kit_ok(d, hf_schedule_pause(d, cases[i].policy, "enough"));
        ck_assert_int_eq(runs(d) - before, cases[i].runs);
        ck_assert_int_eq(open_runs(d) - before_open, cases[i].open);
        ck_assert_msg(strncmp(audit(d, cases[i].policy), cases[i].audit, strlen(cases[i].audit)) ==
                          0,
                      "%s: %s", cases[i].policy, audit(d, cases[i].policy));
    }
    ck_assert_str_eq(hf_test_status(d, "schedule:cancel_other:20260101T001300Z"), "cancelled");
    ck_assert_str_eq(hf_test_status(d, "schedule:terminate_other:20260101T001600Z"), "terminated");
    ck_assert_int_eq(hf_test_count(d, "schedule:cancel_other:20260101T001300Z", "CancelRequested"),
                     1);
    hf_kit_close(d);
}

/* What waits starts when the run before it closes, first come first served, one at a time, without
   waiting for the next time; over a crash as well. */
HF_BOTH_ENGINES(b144_buffer_drains_in_order)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value s;

    hf_kit_ok(d, hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .every = hf_minutes(10),
                                    .overlap = "buffer_all"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(35))); /* 10 runs, 20 and 30 wait */
    ck_assert_int_eq(runs(d), 1);
    s = shown(d, "s");
    ck_assert_int_eq((int64_t)hf_len(hf_get(s, "buffered_actions")), 2);
    hf_kit_ok(d, hf_signal(d, "schedule:s:20260101T001000Z", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T001000Z"), "completed");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T002000Z"), "waiting signal:go");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T003000Z"), "not found");
    hf_test_crash(d);
    hf_kit_ok(d, hf_cancel(d, "schedule:s:20260101T002000Z", "enough")); /* any way of closing */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T003000Z"), "waiting signal:go");
    ck_assert_int_eq(open_runs(d), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10))); /* 40 waits */
    hf_kit_ok(d, hf_schedule_pause(d, "s", "hold"));  /* nothing is started while it is paused */
    hf_kit_ok(d, hf_signal(d, "schedule:s:20260101T003000Z", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(open_runs(d), 0);
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T004000Z"), "waiting signal:go");
    ck_assert_str_eq(audit(d, "s"), "Created triggered buffered buffered drained drained buffered "
                                    "hold Resumed drained");
    hf_kit_close(d);
}

/* A run that goes on as another is still the same: what waits waits for the last of them. */
HF_BOTH_ENGINES(b144_buffer_waits_for_the_successor)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "relay", hf_json(d, "1"), .every = hf_seconds(20),
                                    .overlap = "buffer_one"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(45)));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000040Z"), "not found");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(5)));
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000020Z"), "completed");
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T000040Z"), "waiting timer");
    hf_kit_close(d);
}

/* After its last run it deletes itself, in the same transaction. */
HF_BOTH_ENGINES(b145_max_runs)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "* * * * *",
                                    .max_runs = 3));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_int(shown(d, "s"), "remaining_actions", -1), 1);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_int_eq(runs(d), 3);
    ck_assert_str_eq(field(d, "s", "status"), "deleted");
    ck_assert_str_eq(audit(d, "s"), "Created triggered triggered triggered max_runs_exhausted");
    hf_kit_close(d);
}

/* A range in the past fires for each of its times, ends included, by its own ids; buffers count as
   allow_all; a policy may be given; too much, and nonsense, is refused. */
HF_BOTH_ENGINES(b146_backfill)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d,
              hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .cron = "0 * * * *",
                                 .overlap = "buffer_one", .jitter = hf_minutes(1), .paused = true));
    hf_kit_ok(d, hf_test_advance(d, hf_hours(10)));
    hf_kit_ok(d,
              hf_schedule_backfill(d, "s", EPOCH_MS + 3600000, EPOCH_MS + 3 * 3600000, NULL, &out));
    ck_assert_int_eq((int64_t)hf_len(out), 3);
    ck_assert_str_eq(hf_str(out, "0.workflow_id", ""), "schedule:s:backfill:20260101T010000Z");
    ck_assert_str_eq(hf_str(out, "2.occurrence_time", ""), "2026-01-01T03:00:00.000000Z");
    ck_assert_int_eq(open_runs(d), 3);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 4 * 3600000, EPOCH_MS + 5 * 3600000,
                                      "skip", &out));
    ck_assert_str_eq(hf_str(out, "0.outcome", ""), "skipped");
    ck_assert_str_eq(hf_str(out, "1.outcome", ""), "skipped");
    ck_assert_int_eq(open_runs(d), 3);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 3600000, EPOCH_MS + 3600000, NULL, &out));
    ck_assert_str_eq(hf_str(out, "0.outcome", ""), "failed"); /* that run exists */
    ck_assert_int_eq(hf_int(shown(d, "s"), "failures_count", 0), 1);
    hf_kit_ok(d, hf_schedule_backfill(d, "s", EPOCH_MS + 1, EPOCH_MS + 2, NULL, &out));
    ck_assert_int_eq((int64_t)hf_len(out), 0);
    ck_assert_int_eq(hf_schedule_backfill(d, "s", EPOCH_MS + 2, EPOCH_MS + 1, NULL, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_schedule_backfill(d, "s", EPOCH_MS, EPOCH_MS + 11 * 3600000, NULL, &out),
                     HF_INVALID);
    ck_assert_int_eq(
        hf_schedule_backfill(d, "s", EPOCH_MS - INT64_C(5000) * 3600000, EPOCH_MS, NULL, &out),
        HF_TOOBIG);
    hf_kit_close(d);
}

/* ---- 147 to 150 */

/* Jitter makes a time late, never early, never by more than was said, and differently each time. */
HF_BOTH_ENGINES(b147_jitter_is_bounded)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t least = INT64_MAX;
    int64_t most = 0;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .every = hf_hours(1),
                                    .jitter = hf_minutes(10)));
    for (int i = 1; i <= 24; i++) {
        int64_t slot_us = (EPOCH_MS + i * INT64_C(3600000)) * 1000;
        int64_t next_us = hf_kit_number(d, "SELECT next_us FROM schedule");
        char id[64];

        ck_assert_int_ge(next_us, slot_us);
        ck_assert_int_le(next_us, slot_us + INT64_C(600000000));
        least = next_us - slot_us < least ? next_us - slot_us : least;
        most = next_us - slot_us > most ? next_us - slot_us : most;
        hf_kit_ok(d, hf_test_advance(d, (next_us - hf_clock_wall_us(d->clock)) / 1000));
        (void)snprintf(id, sizeof(id), "schedule:s:202601%02dT%02d0000Z", i / 24 + 1, i % 24);
        ck_assert_str_eq(hf_test_status(d, id), "completed"); /* named by the time it stands for */
    }
    ck_assert_int_gt(most - least, INT64_C(60000000));
    ck_assert_int_eq(runs(d), 24);
    hf_kit_close(d);
}

/* Intervals are counted from 1970 and shifted by their offset. */
HF_BOTH_ENGINES(b148_interval_and_offset)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value times = NULL;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .every = hf_minutes(30),
                                    .offset = hf_minutes(5)));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T00:05:00.000000Z");
    hf_kit_ok(d, hf_schedule_times(d, "s", EPOCH_MS, EPOCH_MS + 3600000, 10, &times));
    ck_assert_int_eq((int64_t)hf_len(times), 2);
    ck_assert_int_eq(hf_int(times, "1", 0), EPOCH_MS + 35 * 60000);
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(runs(d), 2);
    hf_kit_ok(d,
              hf_schedule_create(d, "iso", "quick", hf_json(d, "1"),
                                 .spec = parsed(d, "{\"intervals\":[{\"every\":\"P1DT12H\"}]}")));
    hf_kit_ok(d, hf_schedule_times(d, "iso", EPOCH_MS, EPOCH_MS + 4 * 86400000, 10, &times));
    ck_assert_int_eq(hf_int(times, "1", 0) - hf_int(times, "0", 0), 36 * 3600000);
    hf_kit_close(d);
}

/* Expressions and intervals together: the earliest counts, and one that two of them name is one. */
HF_BOTH_ENGINES(b149_earliest_of_all)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value times = NULL;

    hf_kit_ok(d, hf_schedule_create(
                     d, "s", "quick", hf_json(d, "1"),
                     .spec = parsed(d, "{\"cron_expressions\":[\"0 * * * *\",\"20 * * * *\"],"
                                       "\"intervals\":[{\"every\":\"PT15M\"},{\"every\":1800,"
                                       "\"offset\":300}]}")));
    hf_kit_ok(d, hf_schedule_times(d, "s", EPOCH_MS, EPOCH_MS + 3600000, 100, &times));
    ck_assert_str_eq(hf_text(hf_mem_of_engine(d), times),
                     "[1767225600000,1767225900000,1767226500000,1767226800000,1767227400000,"
                     "1767227700000,1767228300000,1767229200000]");
    hf_kit_ok(d, hf_test_advance(d, hf_hours(1)));
    ck_assert_int_eq(runs(d), 7);
    ck_assert_str_eq(hf_kit_said(d, "schedule:s:20260101T002000Z", "ScheduleTriggered", 0,
                                 HF_KEY_CRON_EXPRESSION),
                     "20 * * * *");
    ck_assert_str_eq(hf_kit_said(d, "schedule:s:20260101T001500Z", "ScheduleTriggered", 0,
                                 HF_KEY_CRON_EXPRESSION),
                     "");
    hf_kit_close(d);
}

/* However many times were missed, one fires, the first of them, and the next is after now. */
HF_BOTH_ENGINES(b150_missed_times_fire_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "*/10 * * * *"));
    hf_kit_skip(d, hf_hours(5) + hf_minutes(3));
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(runs(d), 1);
    ck_assert_str_eq(hf_test_status(d, "schedule:s:20260101T001000Z"), "completed");
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T05:10:00.000000Z");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(7)));
    ck_assert_int_eq(runs(d), 2);
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

/* A clock that goes back fires no slot again; it goes on when the time is past the last one. */
HF_BOTH_ENGINES(clock_that_goes_back_fires_nothing_twice)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t now_us;

    hf_kit_ok(d, hf_schedule_create(d, "s", "quick", hf_json(d, "1"), .cron = "*/10 * * * *"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(30)));
    ck_assert_int_eq(runs(d), 3);
    now_us = hf_clock_wall_us(d->clock);
    hf_clock_set_wall(d->virtual_clock, now_us - INT64_C(3600000000));
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_schedule_pause(d, "s", NULL));
    hf_kit_ok(d, hf_schedule_resume(d, "s"));
    ck_assert_str_eq(field(d, "s", "next_fire_at"), "2026-01-01T00:40:00.000000Z");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(60)));
    ck_assert_int_eq(runs(d), 3);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(10)));
    ck_assert_int_eq(runs(d), 4);
    hf_kit_close(d);
}

/* A start that cannot be made is counted as a failure, and the schedule goes on. */
HF_BOTH_ENGINES(failed_starts_are_counted)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "quick", hf_json(d, "1"), .id = "schedule:taken:20260101T000100Z"));
    hf_kit_ok(d, hf_schedule_create(d, "taken", "quick", hf_json(d, "1"), .cron = "* * * * *"));
    hf_kit_ok(d, hf_schedule_create(d, "wrong", "strict", hf_json(d, "{'n': 'text'}"),
                                    .cron = "* * * * *"));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(3)));
    ck_assert_str_eq(audit(d, "taken"), "Created failed triggered triggered");
    ck_assert_str_eq(audit(d, "wrong"), "Created failed failed failed");
    ck_assert_int_eq(hf_int(shown(d, "taken"), "failures_count", 0), 1);
    ck_assert_int_eq(hf_int(shown(d, "wrong"), "failures_count", 0), 3);
    ck_assert_ptr_nonnull(strstr(failure(d, "wrong"), "The n argument must be of type int"));
    ck_assert_str_eq(failure(d, "taken"), "an instance of that id exists already");
    hf_kit_close(d);
}

/* A crash after any commit of an hour changes neither the runs nor what is recorded. */
HF_BOTH_ENGINES(crashes_after_any_commit_change_nothing)
{
    for (int64_t nth = 1; nth <= 24; nth += hf_campaign_stride(5, 3)) {
        hf_engine *d = hf_kit_open(kind, &app);

        hf_kit_ok(d, hf_schedule_create(d, "s", "slow", hf_json(d, "1"), .cron = "*/20 * * * *",
                                        .overlap = nth % 2 ? "buffer_all" : "terminate_other"));
        hf_kit_crash_after(d, nth);
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(65)));
        hf_kit_ok(d, hf_test_advance(d, hf_hours(3)));
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM schedule_history "
                                          "WHERE slot_us IS NOT NULL"),
                         12);
        hf_kit_close(d);
    }
}

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

/* Two nodes of one store, moved by hand: both want to fire every slot at the same time, one does.
 */
START_TEST(two_nodes_fire_each_slot_once)
{
    hf_engine *a = hf_kit_open(HF_ENGINE_POSTGRES, &app);
    hf_clock *clock = hf_clock_new_virtual(hf_clock_wall_us(a->clock));
    hf_engine *b = NULL;
    int64_t refused = 0;

    hf_kit_ok(a, hf_schedule_create(a, "s", "quick", hf_json(a, "1"), .cron = "* * * * *"));
    hf_kit_ok(a, hf_schedule_create(a, "all", "slow", hf_json(a, "1"), .every = hf_minutes(2),
                                    .overlap = "buffer_all"));
    hf_kit_ok(b, hf_engine_open(hf_test_place_address(hf_kit_place(a)), &app, clock, &b));
    hf_kit_ok(b, hf_engine_begin(b, ENGINE_TEST, &b->open_error));
    for (int i = 0; i < 30; i++) {
        hf_engine *first = i % 2 ? a : b;
        hf_engine *second = i % 2 ? b : a;
        bool worked = true;

        hf_clock_advance(a->virtual_clock, INT64_C(60000000));
        hf_clock_advance(b->virtual_clock, INT64_C(60000000));
        (void)hf_core_step(first->core); /* both have read the schedule before one commits */
        (void)hf_core_step(second->core);
        while (worked) {
            worked = hf_engine_pump(first);
            worked |= hf_engine_pump(second);
        }
    }
    refused =
        (int64_t)(hf_writer_stats_get(a->writer).refused + hf_writer_stats_get(b->writer).refused);
    ck_assert_int_gt(refused, 10); /* they did race */
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM instance WHERE id LIKE 'schedule:s:%'"),
                     30);
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM schedule_history h JOIN schedule s ON "
                                      "s.key = h.schedule WHERE s.id = 's' AND h.run IS NOT NULL"),
                     30);
    ck_assert_int_eq(hf_kit_number(a, "SELECT count(*) FROM schedule_history h JOIN schedule s ON "
                                      "s.key = h.schedule WHERE s.id = 'all' AND "
                                      "h.slot_us IS NOT NULL"),
                     15);
    hf_close(b);
    hf_kit_close(a);
}
END_TEST

/* Two nodes with threads and the real clock, for a few seconds: a slot each second, one run each,
   also after one of the two is gone. */
START_TEST(two_living_nodes_fire_each_slot_once)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_engine *a = NULL;
    hf_engine *b = NULL;
    hf_value list = NULL;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    int64_t fires = 0;

    hf_kit_ok(a, hf_open(hf_test_place_address(place), &app, &a));
    hf_kit_ok(a, hf_schedule_create(a, "s", "quick", hf_json(a, "1"), .cron = "* * * * * *",
                                    .overlap = "allow_all")); /* one may stay open with its node */
    hf_kit_ok(b, hf_open(hf_test_place_address(place), &app, &b));
    hf_kit_ok(b, hf_schedule_show(b, "s", &list)); /* it begins to work */
    while (fires < 4 && hf_clock_mono_us(hf_clock_system()) < until_us)
        fires = hf_int(shown(b, "s"), "fires_count", 0);
    ck_assert_int_ge(fires, 4);
    hf_close(a);
    while (fires < 7 && hf_clock_mono_us(hf_clock_system()) < until_us)
        fires = hf_int(shown(b, "s"), "fires_count", 0);
    ck_assert_int_ge(fires, 7);
    hf_kit_ok(b, hf_schedule_delete(b, "s"));
    fires = hf_int(shown(b, "s"), "fires_count", 0);
    hf_close(b);
    hf_kit_ok(b, hf_engine_open(hf_test_place_address(place), &app, hf_clock_new_virtual(1), &b));
    ck_assert_int_eq(hf_kit_number(b, "SELECT count(DISTINCT slot_us) FROM schedule_history "
                                      "WHERE run IS NOT NULL"),
                     fires);
    ck_assert_int_eq(hf_kit_number(b, "SELECT count(*) FROM instance"), fires);
    hf_close(b);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("engine/schedule", HF_BOTH(b135_create), HF_BOTH(b136_bad_specifications),
                 HF_BOTH(actions_are_checked_when_they_are_planned),
                 HF_BOTH(actions_are_checked_when_they_fire), HF_BOTH(b137_duplicate_id),
                 HF_BOTH(b138_pause_and_resume), HF_BOTH(b139_update_recomputes),
                 HF_BOTH(b140_delete_is_soft), HF_BOTH(b135_events_say_who_asked),
                 HF_BOTH(b141_trigger_and_its_skips), HF_BOTH(b141_no_worker_supports_the_start),
                 HF_BOTH(b142_due_and_future), HF_BOTH(b143_overlap_policies),
                 HF_BOTH(b144_buffer_drains_in_order), HF_BOTH(b144_buffer_waits_for_the_successor),
                 HF_BOTH(b145_max_runs), HF_BOTH(b146_backfill), HF_BOTH(b147_jitter_is_bounded),
                 HF_BOTH(b148_interval_and_offset), HF_BOTH(b149_earliest_of_all),
                 HF_BOTH(b150_missed_times_fire_once), HF_BOTH(b150_audit_sequence),
                 HF_BOTH(clock_that_goes_back_fires_nothing_twice),
                 HF_BOTH(failed_starts_are_counted),
                 HF_BOTH_SLOW(crashes_after_any_commit_change_nothing, 300),
                 HF_BOTH(lists_come_in_pages), HF_BOTH_SLOW(failed_allocations_change_nothing, 300),
                 {two_nodes_fire_each_slot_once, 0}, {two_living_nodes_fire_each_slot_once, 180})
