/* test_console_run.c: the page of one run over real HTTP, part by part: its head with what can be
   done and by whom, its events in windows, its waits, commands and steps; as it was after an event;
   and what cannot be asked. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "lib/site.h"
#include "run_app.h"

static hf_site_answer get(hf_site *site, const char *path, int status)
{
    char whole[512];
    hf_site_answer answer;

    (void)snprintf(whole, sizeof(whole), "/console/api/runs/%s", path);
    answer = hf_site_ask(site, "GET", whole, NULL, NULL);
    ck_assert_msg(answer.status == status, "%s: %d instead of %d: %.600s", path, answer.status,
                  status, answer.text);
    return answer;
}

static void start(hf_site *site, const char *type, const char *id, const char *more)
{
    char body[512];

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s\"%s}", type,
                   id, more);
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* Waits until the head has this text there. */
static hf_value await(hf_site *site, const char *id, const char *path, const char *text)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    hf_value head;

    do {
        head = get(site, id, 200).body;
    } while (strcmp(hf_str(head, path, ""), text) != 0 &&
             hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_msg(strcmp(hf_str(head, path, ""), text) == 0, "%s: %s", path,
                  hf_str(head, path, ""));
    return head;
}

static void open_with(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &run_app, (hf_server_options){0});
}

static void order_open(hf_site *site, hf_engine_kind kind)
{
    open_with(site, kind);
    start(site, "order", "o-1", ",\"input\":{\"limit\":5},\"labels\":{\"region\":\"eu\"}");
    (void)await(site, "o-1", "liveness_state", "waiting_for_signal");
}

/* The head says what the run is and came from, how it stands, what can be done, and how in a shell;
   it has no list that grows with the run. */
HF_BOTH_ENGINES(head_has_all_but_the_lists)
{
    static const char *const lists[] = {"commands", "signals",    "updates", "exceptions",
                                        "waits",    "activities", "timers",  "tasks",
                                        "timeline", "logs",       "links",   "children"};
    static const char *const names[] = {"namespace",
                                        "workflow_id",
                                        "run_id",
                                        "run_number",
                                        "workflow_type",
                                        "business_key",
                                        "queue",
                                        "task_queue",
                                        "compatibility",
                                        "memo",
                                        "visibility_labels",
                                        "search_attributes",
                                        "status",
                                        "status_bucket",
                                        "glyph",
                                        "closed_reason",
                                        "liveness_state",
                                        "wait_kind",
                                        "why",
                                        "arguments",
                                        "output",
                                        "declared_signals",
                                        "declared_signal_targets",
                                        "declared_updates",
                                        "declared_queries",
                                        "workflow_determinism_status",
                                        "workflow_definition_fingerprint",
                                        "history_event_count",
                                        "history_size_bytes",
                                        "history_event_threshold",
                                        "run_navigation",
                                        "as_of_event",
                                        "is_now",
                                        "actions",
                                        "counts",
                                        "parent",
                                        "started_by",
                                        "shell",
                                        "execution_deadline_at",
                                        "run_timeout_seconds"};
    hf_site site;
    hf_value head;

    order_open(&site, kind);
    head = get(&site, "o-1", 200).body;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_msg(hf_value_find(head, hf_slice_of(names[i])) != NULL, "%s is missing",
                      names[i]);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        ck_assert_msg(!hf_value_find(head, hf_slice_of(lists[i])), "%s is there", lists[i]);
    ck_assert_str_eq(hf_str(head, "glyph", ""), "waiting");
    ck_assert_str_eq(hf_str(head, "visibility_labels.region", ""), "eu");
    ck_assert_str_eq(hf_str(head, "memo.shop", ""), "south");
    ck_assert_str_eq(hf_str(head, "arguments.text", ""), "{\"limit\":5}");
    ck_assert_str_eq(hf_str(head, "why.code", ""), "waiting_for_signal");
    ck_assert(hf_bool(head, "actions.signal.allowed", false));
    ck_assert(!hf_bool(head, "actions.resume.allowed", true));
    ck_assert_str_eq(hf_str(head, "actions.resume.reason", ""), "run_not_paused");
    ck_assert_str_eq(hf_str(head, "actions.resume.text", ""), "The run is not paused.");
    ck_assert_str_eq(hf_str(head, "actions.archive.text", ""), "The run is still open.");
    ck_assert_str_eq(hf_str(head, "actions.repair.text", ""), "The run is healthy.");
    ck_assert_int_eq(hf_int(head, "counts.activities", 0), 4);
    ck_assert_int_eq(hf_int(head, "counts.children", 0), 1);
    ck_assert_int_eq(hf_int(head, "counts.children_open", -1), 0);
    ck_assert_int_eq(hf_int(head, "counts.timers", 0), 1);
    ck_assert_int_eq(hf_int(head, "counts.waits_open", 0), 1);
    ck_assert_int_eq(hf_int(head, "counts.commands", 0), 1);
    ck_assert_str_eq(hf_str(head, "started_by.ip", ""), "127.0.0.1");
    ck_assert_str_eq(hf_str(head, "shell.cancel", ""), "holdfast cancel o-1");
    ck_assert_str_eq(hf_str(head, "shell.signal", ""), "holdfast signal o-1 NAME");
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/pause", "{}", 202);
    head = await(&site, "o-1", "glyph", "paused");
    ck_assert(hf_bool(head, "actions.resume.allowed", false));
    ck_assert_str_eq(hf_str(head, "actions.pause.text", ""), "The run is paused already.");
    head = get(&site, "parcel-none", 404).body;
    ck_assert_str_eq(hf_str(head, "reason", ""), "instance_not_found");
    hf_site_close(&site);
}

/* A child says whose it is, and closed runs what they came to. */
HF_BOTH_ENGINES(head_of_a_child)
{
    char path[256];
    hf_site site;
    hf_value step;
    hf_value head;
    int64_t number;

    order_open(&site, kind);
    for (int n = 1;; n++) {
        (void)snprintf(path, sizeof(path), "o-1/steps/%d", n);
        step = get(&site, path, 200).body;
        if (hf_value_kind_of(hf_get(step, "child")) == HF_VALUE_OBJECT)
            break;
    }
    ck_assert_str_eq(hf_str(step, "bar.name", ""), "parcel");
    number = hf_int(step, "step", 0);
    (void)snprintf(path, sizeof(path), "%s", hf_str(step, "child.workflow_instance_id", ""));
    head = get(&site, path, 200).body;
    ck_assert_str_eq(hf_str(head, "parent.workflow_id", ""), "o-1");
    ck_assert_str_eq(hf_str(head, "parent.workflow_type", ""), "order");
    ck_assert_int_eq(hf_int(head, "parent.step", 0), number);
    ck_assert_str_eq(hf_str(head, "glyph", ""), "completed");
    ck_assert(!hf_bool(head, "actions.signal.allowed", true));
    ck_assert_str_eq(hf_str(head, "actions.signal.text", ""), "The run is over.");
    ck_assert(hf_bool(head, "actions.archive.allowed", false));
    hf_site_close(&site);
}

/* A reader may look and ask; nobody sees the runs of another namespace. */
HF_BOTH_ENGINES(roles_and_namespaces)
{
    static const char *const parts[] = {"",          "/events",     "/spans",  "/waits",
                                        "/commands", "/activities", "/timers", "/failures",
                                        "/tasks",    "/steps/1",    "/why"};
    char path[256];
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &run_app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/workflows", "Authorization: Bearer tok-operator\r\n",
                         "{\"workflow_type\":\"parcel\",\"workflow_id\":\"p\"}");
    ck_assert_msg(answer.status == 201, "%s", answer.text);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/namespaces",
                                 "Authorization: Bearer tok-admin\r\n", "{\"name\":\"elsewhere\"}")
                         .status,
                     201);
    hf_site_tokens(&site); /* they were read again */
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        (void)snprintf(path, sizeof(path), "/console/api/runs/p%s", parts[i]);
        answer = hf_site_ask(&site, "GET", path, "Authorization: Bearer tok-read\r\n", NULL);
        ck_assert_msg(answer.status == (strcmp(parts[i], "/steps/1") == 0 ? 404 : 200), "%s %s",
                      path, answer.text);
        answer = hf_site_ask(&site, "GET", path, "Authorization: Bearer tok-worker\r\n", NULL);
        ck_assert_int_eq(answer.status, 403);
        answer = hf_site_ask(&site, "GET", path, NULL, NULL);
        ck_assert_int_eq(answer.status, 401);
        answer =
            hf_site_ask(&site, "GET", path,
                        "Authorization: Bearer tok-elsewhere\r\nX-Namespace: elsewhere\r\n", NULL);
        ck_assert_msg(answer.status == 404, "%s %s", path, answer.text);
        answer = hf_site_ask(&site, "GET", path, "Authorization: Bearer tok-elsewhere\r\n", NULL);
        ck_assert_msg(answer.status == 404, "%s %s", path, answer.text);
        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "namespace_not_found");
    }
    answer = hf_site_ask(&site, "GET", "/console/api/runs/p", "Authorization: Bearer tok-read\r\n",
                         NULL);
    ck_assert_str_eq(hf_str(answer.body, "actions.archive.reason", ""), "role_forbids");
    ck_assert_str_eq(hf_str(answer.body, "actions.archive.text", ""),
                     "The role read may look and ask, nothing more.");
    ck_assert(hf_bool(answer.body, "actions.query.allowed", true));
    answer = hf_site_ask(&site, "GET", "/console/api/runs/p",
                         "Authorization: Bearer tok-operator\r\n", NULL);
    ck_assert(hf_bool(answer.body, "actions.archive.allowed", false));
    hf_site_close(&site);
}

/* ---- events */

static int64_t sequence_at(hf_value events, size_t i)
{
    return hf_int(hf_at(events, i), "sequence", 0);
}

/* All pages of a query, forwards: every event once, in order. Returns how many. */
static int64_t pages_walk(hf_site *site, const char *id, const char *query, int64_t expect_gapless)
{
    int64_t after = 0;
    int64_t last = 0;
    int64_t seen = 0;
    char path[256];

    for (;;) {
        hf_value page;
        hf_value events;

        (void)snprintf(path, sizeof(path), "%s/events?after=%lld&%s", id, (long long)after, query);
        page = get(site, path, 200).body;
        events = hf_get(page, "events");
        for (size_t i = 0; i < hf_len(events); i++) {
            ck_assert(sequence_at(events, i) > last);
            if (expect_gapless)
                ck_assert_int_eq(sequence_at(events, i), last + 1);
            last = sequence_at(events, i);
            seen++;
        }
        if (hf_value_kind_of(hf_get(page, "next_after")) == HF_VALUE_NULL)
            return seen;
        ck_assert(hf_int(page, "next_after", 0) > after);
        after = hf_int(page, "next_after", 0);
    }
}

/* 5,000 events page by page, from the first and from the last: none twice, none left out; and with
   a kind or a text that only some have. */
HF_BOTH_ENGINES(events_are_paged_without_gap)
{
    int64_t before = INT64_MAX;
    int64_t seen = 0;
    int64_t total;
    char path[256];
    hf_site site;
    hf_value page;

    open_with(&site, kind);
    start(&site, "long", "l", "");
    page = await(&site, "l", "liveness_state", "waiting_for_signal");
    total = hf_int(page, "history_event_count", 0);
    ck_assert_int_gt(total, RUN_APP_LONG);
    ck_assert_int_eq(pages_walk(&site, "l", "limit=1000", 1), total);
    ck_assert_int_eq(pages_walk(&site, "l", "limit=333", 1), total);
    ck_assert_int_eq(pages_walk(&site, "l", "kinds=side_effect", 0), RUN_APP_LONG);
    ck_assert_int_eq(pages_walk(&site, "l", "kinds=timer&limit=3", 0), 10);
    ck_assert_int_eq(pages_walk(&site, "l", "q=TIMERSCHED&limit=1", 0), 5);
    ck_assert_int_eq(pages_walk(&site, "l", "q=no%20such%20text", 0), 0);
    while (before > 0) {
        hf_value events;

        (void)snprintf(path, sizeof(path), "l/events?order=desc&limit=999&before=%lld",
                       (long long)before);
        page = get(&site, path, 200).body;
        events = hf_get(page, "events");
        for (size_t i = 0; i < hf_len(events); i++, seen++)
            ck_assert_int_eq(sequence_at(events, i), total - seen);
        before = hf_int(page, "previous_before", 0);
    }
    ck_assert_int_eq(seen, total);
    page = get(&site, "l/events?order=desc&kinds=timer&limit=4", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(page, "events")), 4);
    ck_assert_str_eq(hf_str(page, "events.0.type", ""), "TimerFired");
    (void)snprintf(path, sizeof(path), "l/events?order=desc&kinds=timer&limit=100&before=%lld",
                   (long long)hf_int(page, "previous_before", 0));
    page = get(&site, path, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(page, "events")), 6);
    ck_assert_int_eq(hf_value_kind_of(hf_get(page, "previous_before")), HF_VALUE_NULL);
    (void)snprintf(path, sizeof(path), "l/events?after=%lld", (long long)total + 7);
    page = get(&site, path, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(page, "events")), 0);
    ck_assert_int_eq(hf_int(page, "last_sequence", 0), total);
    hf_site_close(&site);
}

/* Big values are found and shown, cut; 64-bit numbers stay whole; what people wrote is text. */
HF_BOTH_ENGINES(events_show_payloads)
{
    hf_site site;
    hf_value page;
    hf_value result;
    hf_site_answer answer;

    order_open(&site, kind);
    page = get(&site, "o-1/events?q=needle&kinds=activity", 200).body;
    ck_assert_uint_ge(hf_len(hf_get(page, "events")), 1);
    ck_assert_str_eq(hf_str(page, "events.0.type", ""), "ActivityCompleted");
    result = hf_get(page, "events.0.payload.result");
    ck_assert_str_eq(hf_str(result, "codec", ""), "json");
    ck_assert_int_gt(hf_int(result, "bytes", 0), RUN_APP_BIG - 10);
    ck_assert(hf_bool(result, "cut", false));
    ck_assert_uint_eq(strlen(hf_str(result, "text", "")), 16 * 1024);
    page = get(&site, "o-1/events?q=%3Cb%3Eagain", 200).body;
    ck_assert_uint_ge(hf_len(hf_get(page, "events")), 1);
    ck_assert_str_eq(hf_str(page, "events.0.type", ""), "ActivityRetryScheduled");
    page = get(&site, "o-1/events?limit=1", 200).body;
    ck_assert_int_eq(hf_int(page, "next_after", 0), 1);
    answer = get(&site, "o-1/events?kinds=strange", 422);
    ck_assert_ptr_nonnull(strstr(answer.text, "strange"));
    hf_site_close(&site);
}

/* ---- lists and steps */

/* Waits, open ones first; commands with who sent them, messages with what they brought; refused
   ones too. */
HF_BOTH_ENGINES(waits_and_commands)
{
    hf_site site;
    hf_value out;
    size_t all;

    order_open(&site, kind);
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/update/add", "{\"input\":[7]}", 200);
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/signal/strange", "{}", 404);
    out = get(&site, "o-1/waits", 200).body;
    all = hf_len(hf_get(out, "waits"));
    ck_assert_int_eq(hf_int(out, "left_out", -1), 0);
    ck_assert_str_eq(hf_str(out, "waits.0.status", ""), "open");
    ck_assert_str_eq(hf_str(out, "waits.0.kind", ""), "signal");
    ck_assert_str_eq(hf_str(out, "waits.0.target_name", ""), "paid");
    ck_assert(hf_bool(out, "waits.0.external_only", false));
    ck_assert_str_ne(hf_str(out, "waits.1.status", "open"), "open");
    out = get(&site, "o-1/waits?limit=1", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "waits")), 1);
    ck_assert_int_eq(hf_int(out, "left_out", -1), (int64_t)all - 1);
    ck_assert_str_eq(hf_str(out, "waits.0.status", ""), "open");
    out = get(&site, "o-1/commands", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "commands")), 3);
    ck_assert_str_eq(hf_str(out, "commands.0.type", ""), "start");
    ck_assert_str_eq(hf_str(out, "commands.0.context.request.ip", ""), "127.0.0.1");
    ck_assert_str_eq(hf_str(out, "commands.1.type", ""), "update");
    ck_assert_str_eq(hf_str(out, "commands.1.update_status", ""), "completed");
    ck_assert_str_eq(hf_str(out, "commands.2.rejection_reason", ""), "unknown_signal");
    ck_assert_str_eq(hf_str(out, "commands.2.signal_status", ""), "rejected");
    ck_assert_uint_eq(hf_len(hf_get(out, "updates")), 1);
    ck_assert_str_eq(hf_str(out, "updates.0.arguments.text", ""), "[7]");
    ck_assert_str_eq(hf_str(out, "updates.0.result.text", ""), "[7]");
    out = get(&site, "o-1/activities", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "activities")), 4);
    ck_assert_uint_eq(hf_len(hf_get(out, "activities.0.attempts")), 2);
    out = get(&site, "o-1/timers", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "timers")), 1);
    ck_assert_str_eq(hf_str(out, "timers.0.status", ""), "fired");
    out = get(&site, "o-1/failures", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "failures")), 0);
    out = get(&site, "o-1/tasks", 200).body;
    ck_assert_ptr_nonnull(hf_value_find(out, HF_SLICE("tasks")));
    hf_site_close(&site);
}

/* A step has its bar, what it was, its events with whole payloads; one that is not there is not. */
HF_BOTH_ENGINES(one_step)
{
    hf_site site;
    hf_value out;

    order_open(&site, kind);
    out = get(&site, "o-1/activities", 200).body;
    ck_assert_str_eq(hf_str(out, "activities.2.type", ""), "big");
    out = get(&site,
              hf_mem_format(site.mem, "o-1/steps/%lld",
                            (long long)hf_int(out, "activities.2.sequence", 0)),
              200)
              .body;
    ck_assert_str_eq(hf_str(out, "bar.name", ""), "big");
    ck_assert_str_eq(hf_str(out, "activity.type", ""), "big");
    ck_assert_uint_eq(strlen(hf_str(out, "activity.result.text", "")), 16 * 1024);
    ck_assert_uint_ge(hf_len(hf_get(out, "events")), 3);
    ck_assert_str_eq(hf_str(out, "events.0.type", ""), "ActivityScheduled");
    ck_assert_str_eq(hf_str(out, "wait.kind", ""), "activity");
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "child")), HF_VALUE_NULL);
    ck_assert_str_eq(hf_str(get(&site, "o-1/steps/999", 404).body, "reason", ""), "step_not_found");
    ck_assert_str_eq(hf_str(get(&site, "o-1/steps/x", 404).body, "reason", ""), "step_not_found");
    (void)get(&site, "o-1/steps/0", 404);
    hf_site_close(&site);
}

/* ---- earlier, hostile, broken */

/* Everything as it was after an event: at= beyond the end is now. */
HF_BOTH_ENGINES(earlier_moments)
{
    static const char *const lists[][2] = {{"waits", "waits"},       {"activities", "activities"},
                                           {"timers", "timers"},     {"commands", "commands"},
                                           {"failures", "failures"}, {"tasks", "tasks"}};
    char path[256];
    hf_site site;
    hf_value head;
    int64_t total;

    order_open(&site, kind);
    total = hf_int(get(&site, "o-1", 200).body, "history_event_count", 0);
    for (int64_t at = 1; at <= total; at++) {
        (void)snprintf(path, sizeof(path), "o-1?at=%lld", (long long)at);
        head = get(&site, path, 200).body;
        ck_assert_int_eq(hf_int(head, "as_of_event", 0), at);
        ck_assert(hf_bool(head, "is_now", false) == (at == total));
        ck_assert_int_eq(hf_int(head, "counts.events", 0), at);
        if (at < total) {
            ck_assert_str_eq(hf_str(head, "actions.cancel.reason", ""), "not_now");
            ck_assert_str_eq(hf_str(head, "actions.repair.reason", ""), "not_now");
        }
        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
            (void)snprintf(path, sizeof(path), "o-1/%s?at=%lld", lists[i][0], (long long)at);
            ck_assert_ptr_nonnull(
                hf_value_find(get(&site, path, 200).body, hf_slice_of(lists[i][1])));
        }
        (void)snprintf(path, sizeof(path), "o-1/events?at=%lld&limit=1000", (long long)at);
        ck_assert_uint_eq(hf_len(hf_get(get(&site, path, 200).body, "events")), (size_t)at);
        (void)snprintf(path, sizeof(path), "o-1/spans?at=%lld", (long long)at);
        ck_assert_int_eq(hf_int(get(&site, path, 200).body, "spans.events", 0), at);
    }
    head = get(&site, "o-1?at=1000000", 200).body;
    ck_assert(hf_bool(head, "is_now", false));
    ck_assert_int_eq(hf_int(head, "as_of_event", 0), total);
    (void)get(&site, "o-1?at=0", 422);
    (void)get(&site, "o-1?at=x", 422);
    hf_site_close(&site);
}

/* Ids that are none, parameters that nobody reads, runs of somebody else's instance. */
HF_BOTH_ENGINES(what_cannot_be_asked)
{
    static const char *const bad[] = {"o-1?limit=5",
                                      "o-1/events?after=-1",
                                      "o-1/events?limit=0",
                                      "o-1/events?limit=1001",
                                      "o-1/events?order=sideways",
                                      "o-1/events?after=1&after=2",
                                      "o-1/waits?limit=100000",
                                      "o-1/waits?q=x",
                                      "o-1/steps/1?limit=3",
                                      "o-1/why?limit=3"};
    static const char *const unknown[] = {"nobody",
                                          "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
                                          "%27%3B%20DROP%20TABLE%20run%3B--",
                                          "%E2%80%AE",
                                          "o-1?run_id=01BX5ZZKBKACTAV9WEVGEMMVRZ",
                                          "o-1?run_id=%00",
                                          "o-1?run_id=%22"};
    hf_site site;

    order_open(&site, kind);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_str_eq(hf_str(get(&site, bad[i], 422).body, "reason", ""), "validation_failed");
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        char whole[512];
        hf_site_answer answer;

        (void)snprintf(whole, sizeof(whole), "/console/api/runs/%s", unknown[i]);
        answer = hf_site_ask(&site, "GET", whole, NULL, NULL);
        ck_assert_msg(answer.status == 404 || answer.status == 422 || answer.status == 400,
                      "%s: %d %s", unknown[i], answer.status, answer.text);
        ck_assert_ptr_nonnull(hf_str(answer.body, "reason", NULL));
    }
    hf_site_close(&site);
}

/* Does something to the store while nobody has it open, and serves it again. */
static void harm(hf_site *site, const char *sql)
{
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_db *db = NULL;
    hf_err err = {0};

    hf_server_drain(site->server, 5000);
    hf_server_wait(site->server);
    hf_server_close(site->server);
    hf_close(site->engine);
    hf_test_ok(hf_test_place_dial(site->place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "connect");
    hf_test_ok(hf_db_script(db, sql, &err), &err, sql);
    hf_db_close(db);
    ck_assert_int_eq(hf_open(hf_test_place_address(site->place), &run_app, &site->engine), HF_OK);
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

/* A history that is gone is said to be unreadable, by every part. */
HF_BOTH_ENGINES(a_history_that_cannot_be_read)
{
    static const char *const parts[] = {"",          "/events",     "/spans",  "/waits",
                                        "/commands", "/activities", "/timers", "/failures",
                                        "/tasks",    "/steps/1",    "/why"};
    hf_site_answer said;
    char path[64];
    hf_site site;

    order_open(&site, kind);
    harm(&site, "DELETE FROM run_projection; UPDATE history SET run = run + 1000000");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        (void)snprintf(path, sizeof(path), "o-1%s", parts[i]);
        ck_assert_str_eq(hf_str(get(&site, path, 500).body, "reason", ""), "history_unreadable");
    }
    /* Lists have it among the others, and say so. */
    said = hf_site_expect(&site, "GET", "/console/api/runs?q=id:o-1", NULL, 200);
    ck_assert_str_eq(hf_str(said.body, "items.0.why.code", ""), "history_unreadable");
    ck_assert_str_eq(hf_str(said.body, "items.0.glyph", ""), "blocked");
    said = hf_site_expect(&site, "GET", "/console/api/attention", NULL, 200);
    ck_assert_str_eq(hf_str(said.body, "groups.0.code", ""), "history_unreadable");
    harm(&site, "UPDATE history SET run = run - 1000000");
    (void)get(&site, "o-1", 200);
    hf_site_close(&site);
}

/* Bars are drawn from what happened: two attempts with the pause between them, a barrier, a child;
   nothing goes on in a run that is over. */
HF_BOTH_ENGINES(bars_of_a_run)
{
    hf_site site;
    hf_value out;
    size_t all;

    order_open(&site, kind);
    out = hf_get(get(&site, "o-1/spans", 200).body, "spans");
    all = hf_len(hf_get(out, "bars"));
    ck_assert_int_eq(hf_int(out, "left_out", -1), 0);
    ck_assert_uint_eq(hf_len(hf_get(out, "barriers")), 1);
    ck_assert_str_eq(hf_str(out, "bars.1.name", ""), "flaky");
    ck_assert_uint_eq(hf_len(hf_get(out, "bars.1.attempts")), 2);
    ck_assert_str_eq(hf_str(out, "bars.1.segments.0.kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bars.1.segments.1.kind", ""), "backoff");
    ck_assert_str_eq(hf_str(out, "bars.1.segments.2.kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bars.1.attempts.1.progress.message", ""), "half");
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/terminate", "{}", 202);
    out = hf_get(get(&site, "o-1/spans?limit=1", 200).body, "spans");
    ck_assert_int_eq(hf_int(out, "left_out", -1), (int64_t)all - 1);
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 1);
    out = hf_get(get(&site, "o-1/spans", 200).body, "spans");
    for (size_t i = 0; i < hf_len(hf_get(out, "bars")); i++) {
        hf_value bar = hf_at(hf_get(out, "bars"), i);
        hf_value segments = hf_get(bar, "segments");

        ck_assert(!hf_bool(bar, "open", true));
        ck_assert_ptr_nonnull(hf_str(bar, "to", NULL));
        for (size_t j = 0; j < hf_len(segments); j++)
            ck_assert_ptr_nonnull(hf_str(hf_at(segments, j), "to", NULL));
    }
    hf_site_close(&site);
}

/* What the code says of itself, then and now. */
HF_BOTH_ENGINES(state_of_a_run)
{
    hf_site site;
    hf_value out;
    hf_site_answer answer;

    order_open(&site, kind);
    answer = get(&site, "o-1/state", 200);
    out = answer.body;
    ck_assert_str_eq(hf_str(out, "memo.shop", ""), "south");
    ck_assert_str_eq(hf_str(out, "visibility_labels.region", ""), "eu");
    ck_assert_msg(strcmp(hf_str(out, "notes.0.text", ""), "checking the stock") == 0, "%s",
                  answer.text);
    ck_assert_str_eq(hf_str(out, "queries.0", ""), "state");
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "machine")), HF_VALUE_NULL);
    out = get(&site, "o-1/state?at=2", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "notes")), 0);
    ck_assert_ptr_null(hf_str(out, "memo.shop", NULL));
    hf_site_close(&site);
}

/* The graph of a run: its child below it, and from there its parent above it. */
HF_BOTH_ENGINES(lineage_of_a_run)
{
    char child[256];
    char path[300];
    hf_site site;
    hf_value out;

    order_open(&site, kind);
    out = get(&site, "o-1/lineage", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(out, "nodes")), 2);
    ck_assert_str_eq(hf_str(out, "nodes.0.relation", ""), "self");
    ck_assert_str_eq(hf_str(out, "nodes.0.glyph", ""), "waiting");
    ck_assert_str_eq(hf_str(out, "nodes.1.relation", ""), "child");
    ck_assert_str_eq(hf_str(out, "nodes.1.glyph", ""), "completed");
    ck_assert_int_eq(hf_int(out, "nodes.1.depth", 0), 1);
    ck_assert_str_eq(hf_str(out, "edges.0.kind", ""), "child");
    ck_assert_str_eq(hf_str(out, "edges.0.from", ""), hf_str(out, "root", "?"));
    ck_assert_int_eq(hf_int(out, "cut", -1), 0);
    (void)snprintf(child, sizeof(child), "%s", hf_str(out, "nodes.1.workflow_id", ""));
    (void)snprintf(path, sizeof(path), "%s/lineage", child);
    out = get(&site, path, 200).body;
    ck_assert_str_eq(hf_str(out, "nodes.1.relation", ""), "parent");
    ck_assert_str_eq(hf_str(out, "nodes.1.workflow_id", ""), "o-1");
    ck_assert_int_eq(hf_int(out, "nodes.1.depth", 0), -1);
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/reset", "{\"step\":0}", 202);
    out = get(&site, "o-1/lineage?depth=1", 200).body;
    ck_assert_str_eq(hf_str(out, "nodes.1.relation", ""), "continued");
    ck_assert_int_eq(hf_int(out, "nodes.0.run_number", 0), 2);
    ck_assert_int_eq(hf_int(out, "nodes.1.run_number", 0), 1);
    ck_assert_str_eq(hf_str(out, "edges.0.kind", ""), "continued");
    hf_site_close(&site);
}

/* A step machine is a run like any other: where it stands, what it waits for, its steps. */
HF_BOTH_ENGINES(machines_have_the_same_page)
{
    hf_site site;
    hf_value out;

    open_with(&site, kind);
    start(&site, "asker", "m", "");
    out = await(&site, "m", "liveness_state", "waiting_for_signal");
    ck_assert_str_eq(hf_str(out, "glyph", ""), "waiting");
    out = get(&site, "m/waits", 200).body;
    ck_assert_str_eq(hf_str(out, "waits.0.target_name", ""), "answer");
    out = get(&site, "m/steps/1", 200).body;
    ck_assert_str_eq(hf_str(out, "bar.name", ""), "begin");
    ck_assert_str_eq(hf_str(out, "events.0.payload.state.text", ""), "{\"asked\":1}");
    ck_assert_str_eq(hf_str(out, "bar.segments.0.kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bar.segments.1.kind", ""), "waiting");
    ck_assert(hf_bool(out, "bar.open", false));
    out = get(&site, "m/state", 200).body;
    ck_assert_str_eq(hf_str(out, "machine.step", ""), "end");
    ck_assert_str_eq(hf_str(out, "machine.awaits", ""), "answer");
    ck_assert_str_eq(hf_str(out, "machine.state.text", ""), "{\"asked\":1}");
    ck_assert_uint_eq(hf_len(hf_get(out, "machine.inbox")), 0);
    (void)hf_site_expect(&site, "POST", "/api/workflows/m/signal/answer", "{\"input\":[42]}", 202);
    out = await(&site, "m", "glyph", "completed");
    ck_assert_str_eq(hf_str(out, "output.text", ""), "42");
    out = hf_get(get(&site, "m/spans", 200).body, "spans");
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 2);
    ck_assert(!hf_bool(out, "bars.0.open", true));
    ck_assert_str_eq(hf_str(out, "bars.0.to", ""), hf_str(out, "bars.1.from", "?"));
    hf_site_close(&site);
}

/* What was sent before, each value once, the newest first. */
HF_BOTH_ENGINES(payloads_that_were_sent)
{
    hf_site site;
    hf_value body;

    order_open(&site, kind);
    start(&site, "order", "o-2", ",\"input\":{\"limit\":5}");
    start(&site, "order", "o-3", ",\"input\":{\"limit\":6}");
    (void)await(&site, "o-2", "liveness_state", "waiting_for_signal");
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-2/signal/paid", "{\"input\":[3]}", 202);
    body = hf_site_expect(&site, "GET", "/console/api/types/order/payloads", NULL, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(body, "payloads")), 2);
    ck_assert_str_eq(hf_str(body, "payloads.0.value.text", ""), "{\"limit\":6}");
    ck_assert_str_eq(hf_str(body, "payloads.0.workflow_id", ""), "o-3");
    ck_assert_str_eq(hf_str(body, "payloads.1.workflow_id", ""), "o-2");
    body = hf_site_expect(&site, "GET", "/console/api/types/order/payloads?target=signal:paid",
                          NULL, 200)
               .body;
    ck_assert_uint_eq(hf_len(hf_get(body, "payloads")), 1);
    ck_assert_str_eq(hf_str(body, "payloads.0.workflow_id", ""), "o-2");
    body = hf_site_expect(&site, "GET", "/console/api/types/none/payloads?target=update:add", NULL,
                          200)
               .body;
    ck_assert_uint_eq(hf_len(hf_get(body, "payloads")), 0);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_run", HF_BOTH(head_has_all_but_the_lists),
                 HF_BOTH(head_of_a_child), HF_BOTH(roles_and_namespaces),
                 HF_BOTH_SLOW(events_are_paged_without_gap, 120), HF_BOTH(events_show_payloads),
                 HF_BOTH(waits_and_commands), HF_BOTH(one_step), HF_BOTH_SLOW(earlier_moments, 120),
                 HF_BOTH(what_cannot_be_asked), HF_BOTH(a_history_that_cannot_be_read),
                 HF_BOTH(bars_of_a_run), HF_BOTH(state_of_a_run), HF_BOTH(lineage_of_a_run),
                 HF_BOTH(machines_have_the_same_page), HF_BOTH_SLOW(payloads_that_were_sent, 60))
