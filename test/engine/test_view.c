/* What operators read: lists, one run, its history and bars, views that are kept; on both
   databases. Numbers over all runs are in test_metrics.c, projections made anew and SQL in
   test_view_tool.c. */
#include "holdfast/view.h"

#include <string.h>

#include "base/value.h"
#include "engine/view_order.h"
#include "lib/handlers.h"

static hf_value described(hf_engine *d, hf_mem *mem, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_describe(d, hf_json_(mem, "{'id': %s}", id), mem, &out));
    return out;
}

/* A page comes from the stored fold; when that is missing, of another version or damaged, it is
   made anew, says so, and is stored again. */
HF_BOTH_ENGINES(b185_detail_rebuilds_and_says_so)
{
    static const char *const harms[] = {
        "DELETE FROM run_projection", "UPDATE run_projection SET version = 99",
        "UPDATE run_projection SET seq = seq + 100", "UPDATE run_projection SET head = body"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value metrics = NULL;
    hf_value before;

    order_start(d, "o", true, false);
    before = described(d, mem, "o");
    ck_assert_str_eq(hf_str(before, "timeline_projection_source", ""),
                     "workflow_run_timeline_entries");
    for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
        hf_value after;

        hf_kit_sql(d, harms[i]);
        after = described(d, mem, "o");
        ck_assert_msg(
            strcmp(hf_str(after, "waits_projection_source", ""), "workflow_run_waits_rebuilt") == 0,
            "%s: %s", harms[i], hf_str(after, "waits_projection_source", ""));
        ck_assert(hf_value_equal(hf_get(before, "timeline"), hf_get(after, "timeline")));
        ck_assert(hf_value_equal(hf_get(before, "waits"), hf_get(after, "waits")));
        hf_kit_ok(d, hf_test_drain(d));
        after = described(d, mem, "o");
        ck_assert_str_eq(hf_str(after, "timers_projection_source", ""),
                         "workflow_run_timer_entries");
    }
    hf_kit_ok(d, hf_metrics(d, mem, &metrics)); /* those that were there and did not fit */
    ck_assert_int_eq(hf_int(metrics, "projections.folder.rebuilt_stale", -1), 3);
    hf_kit_sql(d, harms[0]); /* nothing is made of a history that is gone */
    hf_kit_sql(d, "UPDATE history SET run = run + 1000000");
    ck_assert_int_eq(hf_describe(d, hf_json_(mem, "{'id': 'o'}"), mem, &metrics), HF_CORRUPT);
    hf_kit_sql(d, "UPDATE history SET run = run - 1000000");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* What the timeline says comes from events: rows that change behind the engine's back change
   nothing in it, and a row without history is a diagnostic. */
HF_BOTH_ENGINES(b186_timeline_keeps_what_events_said)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value before;
    hf_value after;
    hf_value timer;

    order_start(d, "o", true, false);
    before = described(d, mem, "o");
    hf_kit_sql(d, "UPDATE timer SET step = 77, status = 3, closed_us = 5");
    after = described(d, mem, "o");
    ck_assert(hf_value_equal(hf_get(before, "timeline"), hf_get(after, "timeline")));
    ck_assert_str_eq(hf_str(after, "timers.0.status", ""), "pending");
    timer = hf_at(hf_get(after, "timers"), 1);
    ck_assert_str_eq(hf_str(timer, "status", ""), "unsupported");
    ck_assert(hf_bool(timer, "diagnostic_only", false));
    ck_assert_str_eq(hf_str(timer, "history_unsupported_reason", ""),
                     "terminal_timer_row_without_typed_history");
    hf_kit_sql(d, "UPDATE timer SET step = 2, status = 1, closed_us = NULL");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A row that is lost is shown as a task that is missing. */
HF_BOTH_ENGINES(b187_missing_tasks_are_shown)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value tasks;
    bool found = false;

    order_start(d, "o", true, false);
    hf_kit_sql(d, "UPDATE timer SET run = run + 1000000");
    tasks = hf_get(described(d, mem, "o"), "tasks");
    for (size_t i = 0; i < hf_len(tasks); i++)
        found |= hf_bool(hf_at(tasks, i), "task_missing", false) &&
                 strcmp(hf_str(hf_at(tasks, i), "transport_state", ""), "missing") == 0 &&
                 strncmp(hf_str(hf_at(tasks, i), "id", ""), "missing:timer:", 14) == 0;
    ck_assert(found);
    hf_kit_sql(d, "UPDATE timer SET run = run - 1000000");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Lists know labels, counts and failures of what was just committed, and the page agrees. */
HF_BOTH_ENGINES(lists_follow_commits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value rows;
    hf_value detail;

    order_start(d, "good", true, false);
    order_start(d, "bad", true, true);
    rows = listed(d, mem, hf_json_(mem, "{'filters': {'labels': {'region': 'eu'}}}"));
    ck_assert_uint_eq(hf_len(rows), 2);
    ck_assert_str_eq(hf_str(rows, "0.instance_id", ""), "bad");
    ck_assert_int_eq(hf_int(rows, "0.exception_count", -1), 1);
    ck_assert_int_eq(hf_int(rows, "1.exception_count", -1), 0);
    ck_assert_str_eq(hf_str(rows, "0.wait_kind", ""), "timer");
    detail = described(d, mem, "bad");
    ck_assert_int_eq(hf_int(detail, "exception_count", -1), 1);
    ck_assert_int_eq(hf_int(detail, "history_event_count", -1),
                     hf_int(rows, "0.history_event_count", -2));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM failure WHERE handled = 1"), 1);
    hf_kit_ok(d, hf_test_advance(d, 2000));
    hf_kit_ok(d, hf_test_drain(d));
    rows = listed(d, mem, hf_json_(mem, "{'filters': {'wait_kind': 'signal'}}"));
    ck_assert_uint_eq(hf_len(rows), 2);
    hf_kit_ok(d, hf_signal(d, "good", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_eq(hf_len(listed(d, mem, hf_json_(mem, "{'bucket': 'completed'}"))), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_summary WHERE settled = 1"), 1);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* The program's own views are there, select what they say and cannot be changed. */
HF_BOTH_ENGINES(b190_system_views)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value views = NULL;
    hf_value out = NULL;

    order_start(d, "o", true, false);
    hf_kit_ok(d, hf_view_list(d, NULL, mem, &views));
    ck_assert_uint_eq(hf_len(views), 7);
    ck_assert_str_eq(hf_str(views, "0.id", ""), "system:running");
    ck_assert_uint_eq(hf_len(listed(d, mem, hf_json_(mem, "{'view': 'system:running'}"))), 1);
    ck_assert_uint_eq(
        hf_len(listed(d, mem, hf_json_(mem, "{'view': 'system:running-task-problems'}"))), 0);
    ck_assert_uint_eq(
        hf_len(listed(d, mem, hf_json_(mem, "{'view': 'system:running-repair-blocked'}"))), 0);
    ck_assert_uint_eq(hf_len(listed(d, mem, hf_json_(mem, "{'view': 'system:failed'}"))), 0);
    hf_kit_sql(d, "UPDATE run SET blocked = 1");
    ck_assert_uint_eq(
        hf_len(listed(d, mem, hf_json_(mem, "{'view': 'system:running-task-problems'}"))), 1);
    hf_kit_sql(d, "UPDATE run SET blocked = 0");
    ck_assert_int_eq(hf_view_delete(d, hf_json_(mem, "{'id': 'system:running'}")), HF_DENIED);
    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'view': 'system:none'}"), mem, &out),
                     HF_NOTFOUND);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A saved view is its owner's to change, seen by others when shared, merged with the filters of a
   list, and refused when a newer program wrote it. */
HF_BOTH_ENGINES(b189_saved_views)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value view = NULL;
    hf_value out = NULL;
    const char *id;

    order_start(d, "o", true, false);
    hf_kit_ok(d, hf_view_save(d,
                              hf_json_(mem, "{'name': 'eu', 'bucket': 'running', 'owner': 'mia', "
                                            "'filters': {'labels': {'region': 'eu'}}}"),
                              mem, &view));
    id = hf_str(view, "id", "");
    ck_assert_str_eq(hf_str(view, "filter_version_status", ""), "supported");
    ck_assert_uint_eq(hf_len(listed(d, mem, hf_json_(mem, "{'view': %s, 'owner': 'mia'}", id))), 1);
    ck_assert_uint_eq(hf_len(listed(d, mem,
                                    hf_json_(mem,
                                             "{'view': %s, 'owner': 'mia', "
                                             "'filters': {'labels': {'region': 'us'}}}",
                                             id))),
                      0);
    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'view': %s, 'owner': 'bob'}", id), mem, &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_view_save(d,
                                  hf_json_(mem, "{'name': 'eu', 'bucket': 'running', "
                                                "'owner': 'mia', 'filters': {}}"),
                                  mem, &out),
                     HF_EXISTS);
    hf_kit_ok(d, hf_view_save(d,
                              hf_json_(mem,
                                       "{'id': %s, 'name': 'eu', 'bucket': 'running', "
                                       "'owner': 'mia', 'shared': true, 'filters': {}}",
                                       id),
                              mem, &view));
    ck_assert_uint_eq(hf_len(listed(d, mem, hf_json_(mem, "{'view': %s, 'owner': 'bob'}", id))), 1);
    ck_assert_int_eq(hf_view_save(d,
                                  hf_json_(mem,
                                           "{'id': %s, 'name': 'x', 'bucket': 'running', "
                                           "'owner': 'bob', 'filters': {}}",
                                           id),
                                  mem, &out),
                     HF_DENIED);
    ck_assert_int_eq(hf_view_save(d,
                                  hf_json_(mem, "{'name': 'n', 'bucket': 'running', 'owner': "
                                                "'mia', 'filter_version': 7, 'filters': {}}"),
                                  mem, &out),
                     HF_NEWER);
    hf_kit_sql(d, "UPDATE saved_view SET filter_version = 7");
    hf_kit_ok(d, hf_view_get(d, hf_json_(mem, "{'id': %s, 'owner': 'mia'}", id), mem, &view));
    ck_assert_str_eq(hf_str(view, "filter_version_status", ""), "unsupported");
    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'view': %s, 'owner': 'mia'}", id), mem, &out),
                     HF_NEWER);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "version 7 of the filters"));
    ck_assert_int_eq(hf_view_delete(d, hf_json_(mem, "{'id': %s, 'owner': 'bob'}", id)),
                     HF_NOTFOUND);
    hf_kit_ok(d, hf_view_delete(d, hf_json_(mem, "{'id': %s, 'owner': 'mia'}", id)));
    ck_assert_int_eq(hf_view_get(d, hf_json_(mem, "{'id': %s, 'owner': 'mia'}", id), mem, &view),
                     HF_NOTFOUND);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Keeps a view of the name "mine" for bob; `id` null: a new one. */
static hf_status bobs_saved(hf_engine *d, hf_mem *mem, hf_value id, bool shared, hf_value *out)
{
    return hf_view_save(d,
                        hf_json_(mem,
                                 "{'id': %p, 'name': 'mine', 'bucket': 'running', 'scope': 'ops', "
                                 "'owner': 'bob', 'shared': %p}",
                                 (const void *)id, (const void *)hf_value_bool(shared)),
                        mem, out);
}

static hf_status view_saved(hf_engine *d, hf_mem *mem, const char *scope, const char *bucket,
                            int version, hf_value *out)
{
    return hf_view_save(d,
                        hf_json_(mem,
                                 "{'name': 'mine', 'bucket': %s, 'scope': %s, 'owner': 'mia', "
                                 "'shared': true, 'filter_version': %d, 'filters': {}}",
                                 bucket, scope, version),
                        mem, out);
}

/* A name is there once among what is shared in a bucket of a scope; another scope does not see it,
   shared or not; a view of an early version works and says that it is old. */
HF_BOTH_ENGINES(b189_views_have_a_scope)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value view = NULL;
    hf_value out = NULL;
    const char *id;
    size_t system_views;

    hf_kit_ok(d, hf_view_list(d, hf_json_(mem, "{'owner': 'mia'}"), mem, &out));
    system_views = hf_len(out);
    hf_kit_ok(d, view_saved(d, mem, "ops", "running", 6, &view));
    id = hf_str(view, "id", "");
    ck_assert_int_eq(view_saved(d, mem, "ops", "running", 6, &out), HF_EXISTS);
    hf_kit_ok(d, view_saved(d, mem, "ops", "failed", 6, &out));
    hf_kit_ok(d, hf_view_list(d, hf_json_(mem, "{'owner': 'mia'}"), mem, &out));
    ck_assert_uint_eq(hf_len(out), system_views);
    hf_kit_ok(d, hf_view_list(d, hf_json_(mem, "{'owner': 'bob', 'scope': 'ops'}"), mem, &out));
    ck_assert_uint_eq(hf_len(out), system_views + 2);
    ck_assert_int_eq(hf_view_get(d, hf_json_(mem, "{'id': %s, 'owner': 'mia'}", id), mem, &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'view': %s, 'owner': 'mia'}", id), mem, &out),
                     HF_NOTFOUND);
    hf_kit_ok(d, hf_view_get(d, hf_json_(mem, "{'id': %s, 'scope': 'ops'}", id), mem, &view));
    ck_assert_str_eq(hf_str(view, "scope", ""), "ops");
    ck_assert_int_eq(bobs_saved(d, mem, hf_value_null(), true, &out), HF_EXISTS);
    hf_kit_ok(d, bobs_saved(d, mem, hf_value_null(), false, &out));
    view = hf_get(out, "id");
    ck_assert_int_eq(bobs_saved(d, mem, hf_value_null(), false, &out),
                     HF_EXISTS); /* twice among his own */
    ck_assert_int_eq(bobs_saved(d, mem, view, true, &out), HF_EXISTS);
    hf_kit_ok(d, bobs_saved(d, mem, view, false, &out));
    hf_kit_ok(d, view_saved(d, mem, "default", "running", 2, &view));
    ck_assert_str_eq(hf_str(view, "filter_version_status", ""), "deprecated");
    ck_assert_str_ne(hf_str(view, "filter_version_message", ""), "");
    hf_kit_ok(d, hf_list_runs(d, hf_json_(mem, "{'view': %s}", hf_str(view, "id", "")), mem, &out));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A page of an earlier moment shows the run as it was then. */
HF_BOTH_ENGINES(a_run_as_it_was)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value then = NULL;
    hf_value bars = NULL;

    order_start(d, "o", false, false);
    hf_kit_ok(d, hf_test_advance(d, 2000));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_describe(d, hf_json_(mem, "{'id': 'o', 'at': 3}"), mem, &then));
    ck_assert(!hf_bool(then, "is_terminal", true));
    ck_assert(!hf_bool(then, "is_now", true));
    ck_assert_uint_eq(hf_len(hf_get(then, "timeline")), 3);
    ck_assert_str_eq(hf_str(then, "cancel_blocked_reason", ""), "not_now");
    ck_assert(hf_bool(described(d, mem, "o"), "can_archive", false));
    ck_assert_str_eq(hf_str(described(d, mem, "o"), "signal_blocked_reason", ""), "run_closed");
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'o'}"), mem, &bars));
    ck_assert_uint_eq(hf_len(hf_get(bars, "bars")), 2);
    ck_assert_str_eq(hf_str(bars, "bars.0.name", ""), "charge");
    ck_assert_str_eq(hf_str(bars, "bars.1.segments.0.kind", ""), "timer");
    ck_assert_int_eq(hf_describe(d, hf_json_(mem, "{'id': 'nobody'}"), mem, &then), HF_NOTFOUND);
    ck_assert_int_eq(hf_describe(d, hf_json_(mem, "{'id': 'o', 'at': 0}"), mem, &then), HF_INVALID);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* What went in is shown whole, also when it is kept apart from the history. */
HF_BOTH_ENGINES(big_inputs_are_shown)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    char text[5000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_kit_ok(
        d, hf_start(d, "order", hf_json(d, "{'n': 1, 'wait': true, 'more': %s}", text), .id = "o"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_gt(strlen(hf_str(described(d, mem, "o"), "arguments.blob", "")), 5000);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Contracts are shown normalised, with every target. */
HF_BOTH_ENGINES(contracts_are_normalised)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value detail;

    order_start(d, "o", true, false);
    detail = described(d, mem, "o");
    ck_assert_str_eq(hf_str(detail, "declared_signal_targets.0.name", ""), "go");
    ck_assert(hf_bool(detail, "declared_signal_targets.0.has_contract", false));
    ck_assert_str_eq(hf_str(detail, "declared_signal_targets.0.parameters.0.name", ""), "note");
    ck_assert_uint_eq(hf_len(hf_get(detail, "declared_query_targets")), 0);
    ck_assert_str_eq(hf_str(detail, "declared_contract_source", ""), "durable_history");
    ck_assert(hf_bool(detail, "can_signal", false));
    ck_assert_str_eq(hf_str(detail, "liveness_state", ""), "timer_scheduled");
    ck_assert_ptr_nonnull(hf_get(detail, "why.text"));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* ---- an instance that goes on as a new run while it is read */

static hf_value relay(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);

    (void)hf_activity(w, "echo", in);
    if (left > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return hf_json(w, "'the end'");
}

static const hf_app relays = {
    .name = "relays",
    .workflows = (const hf_workflow_def[]){{.type = "relay", .run = relay}, {0}},
    .activities = (const hf_activity_def[]){{.name = "echo", .run = hf_echo}, {0}}};

enum { RELAY_RUNS = 200 };

/* Whoever names the instance reads its newest run: never one that has been continued, whose end is
   not that of the instance. */
HF_BOTH_ENGINES(n09_reads_find_the_run_in_their_snapshot)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_mem *mem = hf_mem_new();
    hf_engine *d = NULL;
    hf_value out = NULL;
    const char *text = NULL;
    bool over = false;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &relays, &d));
    hf_kit_ok(d, hf_start(d, "relay", hf_json(d, "{'left': %d}", RELAY_RUNS), .id = "r"));
    while (!over) {
        hf_value detail = described(d, mem, "r");
        hf_value history = NULL;
        hf_value events;

        ck_assert_msg(hf_bool(detail, "is_current_run", false),
                      "a run that was continued is shown: %s", hf_str(detail, "status", ""));
        over = strcmp(hf_str(detail, "status", ""), "completed") == 0;
        hf_kit_ok(d, hf_history(d, mem, &history, "r"));
        events = hf_get(history, "events");
        ck_assert_str_ne(hf_str(hf_at(events, hf_len(events) - 1), "event_type", ""),
                         "WorkflowContinuedAsNew");
        hf_kit_ok(d, hf_export(d, mem, &text, "r"));
        ck_assert_ptr_null(strstr(text, "WorkflowContinuedAsNew"));
        hf_mem_reset(mem);
    }
    hf_kit_ok(d, hf_result(d, "r", hf_seconds(60), &out, NULL));
    ck_assert_str_eq(hf_str(out, "", ""), "the end");
    hf_close(d);
    hf_mem_free(mem);
    hf_test_place_free(place);
}

/* A member of a request that nobody reads is refused, and those that there are are named. */
HF_BOTH_ENGINES(n08_requests_have_known_members)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_command_result result;
    hf_value out = NULL;

    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'filter': {'queue': 'x'}}"), mem, &out),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "filters"));
    ck_assert_int_eq(
        hf_list_runs(d, hf_json_(mem, "{'filters': {'workflow_typ': 'x'}}"), mem, &out),
        HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "workflow_type"));
    ck_assert_int_eq(hf_list_runs(d,
                                  hf_json_(mem, "{'filters': {'label': {'a': 'b'}, 'labels': {}}}"),
                                  mem, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_describe(d, hf_json_(mem, "{'id': 'o', 'run': 'x'}"), mem, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_spans(d, hf_json_(mem, "{'id': 'o', 'run': 'x'}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_view_delete(d, hf_json_(mem, "{'id': 'o', 'force': true}")), HF_INVALID);
    ck_assert_int_eq(hf_attention(d, hf_json_(mem, "{'limits': 1}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_failure_groups(d, hf_json_(mem, "{'since': 1}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_metrics_points(d, hf_json_(mem, "{'step': 'hour'}"), mem, &out),
                     HF_INVALID);
    ck_assert_int_eq(hf_imports(d, hf_json_(mem, "{'page': 1}"), mem, &out), HF_INVALID);
    ck_assert_int_eq(hf_command(d, "start", hf_json_(mem, "{'workflow_type': 'order', 'ids': 'o'}"),
                                mem, &result),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "workflow_id"));
    ck_assert_int_eq(hf_command(d, "cancel",
                                hf_json_(mem, "{'workflow_id': 'o', 'wait_for': 'completed'}"), mem,
                                &result),
                     HF_INVALID);
    ck_assert_int_eq(hf_list_runs(d, hf_json_(mem, "{'view': null, 'page': null}"), mem, &out),
                     HF_OK);
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/view", HF_BOTH(n09_reads_find_the_run_in_their_snapshot),
                 HF_BOTH(n08_requests_have_known_members),
                 HF_BOTH(b185_detail_rebuilds_and_says_so),
                 HF_BOTH(b186_timeline_keeps_what_events_said),
                 HF_BOTH(b187_missing_tasks_are_shown), HF_BOTH(lists_follow_commits),
                 HF_BOTH(b190_system_views), HF_BOTH(b189_saved_views),
                 HF_BOTH(b189_views_have_a_scope), HF_BOTH(a_run_as_it_was),
                 HF_BOTH(big_inputs_are_shown), HF_BOTH(contracts_are_normalised))
