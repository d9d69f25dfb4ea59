/* What operators read: lists, one run, its history and bars, views that are kept, projections made
   anew; on both databases. */
#include "holdfast/view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/tool.h"
#include "lib/kit.h"

/* ---- a program with something of everything */

static hf_value charge(hf_act *a, hf_value in)
{
    if (hf_bool(in, "bad", false))
        return hf_reject(a, "card_declined", "card %lld was declined",
                         (long long)hf_int(in, "n", 0));
    return hf_json(a, "{'paid': %lld}", (long long)hf_int(in, "n", 0));
}

static hf_value order_run(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    (void)hf_activity(w, "charge", in, .err = &failed);
    hf_sleep(w, 1000);
    if (hf_bool(in, "wait", false))
        (void)hf_receive(w, "go");
    return hf_json(w, "{'done': true}");
}

static const hf_signal_def order_signals[] = {{"go", "note:string?"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order_run, .signals = order_signals}, {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {0}};
static const hf_app app = {.name = "view", .workflows = workflows, .activities = activities};

static void order_start(hf_engine *d, const char *id, bool wait, bool bad)
{
    hf_kit_ok(d,
              hf_start(d, "order",
                       hf_json(d, "{'n': 17, 'wait': %p, 'bad': %p}",
                               (const void *)hf_value_bool(wait), (const void *)hf_value_bool(bad)),
                       .id = id, .labels = "{\"region\":\"eu\"}", .business_key = "b-1"));
    hf_kit_ok(d, hf_test_drain(d));
}

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

static hf_value listed(hf_engine *d, hf_mem *mem, hf_value request)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_list_runs(d, request, mem, &out));
    return hf_get(out, "items");
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
                                                "'owner': 'bob', 'filters': {}}"),
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

/* A name is taken once in a bucket of a scope; another scope does not see it, shared or not; a view
   of an early version works and says that it is old. */
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

static hf_rebuild_report rebuilt(const char *address, hf_rebuild_options options)
{
    hf_rebuild_report report = {.size = sizeof(report)};
    hf_err err = {0};

    options.size = sizeof(options);
    hf_test_ok(hf_rebuild(address, &options, &report, &err), &err, "rebuild");
    return report;
}

/* The same in a copy that nobody owns, one flag after the other: each does its own part and no
   more. */
static void copy_rebuilt(const char *address)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock"};
    hf_rebuild_report report;
    char path[512];
    char gone[520];
    hf_err err = {0};

    (void)snprintf(path, sizeof(path), "%s.copy", address);
    hf_test_ok(hf_tool_backup(address, path, NULL, NULL, &err), &err, "copy");
    report = rebuilt(path, (hf_rebuild_options){.missing = true});
    ck_assert_int_eq(report.rebuilt, 1);
    ck_assert_int_eq(report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
    ck_assert_int_eq(report.missing, 0);
    ck_assert_int_eq(report.stale, 1);
    report = rebuilt(path, (hf_rebuild_options){.needs_rebuild = true});
    ck_assert_int_eq(report.rebuilt, 1);
    ck_assert_int_eq(report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){.needs_rebuild = true, .prune_stale = true});
    ck_assert_int_eq(report.rebuilt, 0);
    ck_assert_int_eq(report.pruned, 1);
    report = rebuilt(path, (hf_rebuild_options){.dry_run = true});
    ck_assert_int_eq(report.missing + report.stale + report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){0});
    ck_assert_int_eq(report.rebuilt, 2);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        (void)snprintf(gone, sizeof(gone), "%s%s", path, suffixes[i]);
        (void)unlink(gone);
    }
}

/* The tool tells what is missing, behind and stale, changes nothing in a dry run, makes anew what
   needs it and forgets what belongs to nobody. */
HF_BOTH_ENGINES(b191_rebuild_projections)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *address = hf_test_place_address(hf_kit_place(d));
    hf_rebuild_report report;

    order_start(d, "a", true, false);
    order_start(d, "b", true, true);
    report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
    ck_assert_int_eq(report.runs, 2);
    ck_assert_int_eq(report.rebuilt, 0);
    hf_kit_sql(d, "UPDATE run_summary SET exception_count = 9 WHERE exception_count = 1");
    hf_kit_sql(d, "DELETE FROM run_projection WHERE run = (SELECT min(key) FROM run)");
    hf_kit_sql(d, "INSERT INTO run_label (run, name, value) VALUES (999999, 'lost', 'x')");
    report = rebuilt(
        address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true, .prune_stale = true});
    ck_assert_int_eq(report.missing, 1);
    ck_assert_int_eq(report.stale, 1);
    ck_assert_int_eq(report.rebuilt, 2);
    ck_assert_int_eq(report.pruned, 1);
    report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .missing = true});
    ck_assert_int_eq(report.rebuilt, 1);
    d = hf_kit_reopen(d, NULL); /* the tool may write while no engine works: the kit is idle now */
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_label WHERE run = 999999"), 1);
    hf_engine_end(d);
    if (kind == HF_ENGINE_POSTGRES) {
        report = rebuilt(address, (hf_rebuild_options){.needs_rebuild = true, .prune_stale = true});
        ck_assert_int_eq(report.rebuilt, 2);
        report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
        ck_assert_int_eq(report.rebuilt, 0);
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_label WHERE run = 999999"), 0);
        ck_assert_int_eq(hf_kit_number(d, "SELECT max(exception_count) FROM run_summary"), 1);
    } else {
        hf_err err = {0};

        ck_assert_int_eq(hf_rebuild(address, NULL, NULL, &err), HF_OWNED);
        copy_rebuilt(address);
        hf_kit_sql(d, "UPDATE run_summary SET exception_count = 1 WHERE exception_count = 9");
        hf_kit_sql(d, "DELETE FROM run_label WHERE run = 999999");
    }
    hf_kit_close(d);
}

typedef struct sql_seen {
    int rows;
    char first[256];
} sql_seen;

static bool sql_row(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    sql_seen *seen = ctx;

    ck_assert_uint_ge(count, 1);
    ck_assert_ptr_nonnull(names[0]);
    if (cells && !seen->rows++)
        (void)snprintf(seen->first, sizeof(seen->first), "%s", cells[0] ? cells[0] : "NULL");
    return true;
}

/* The names of a row's columns, as the document has them. */
static bool sql_names(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    char *text = ctx;
    size_t len = 0;

    (void)cells;
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, 512 - len, "%s%s", i ? ", " : "", names[i]);
    return true;
}

/* Columns are public interface: the document names those that there are, in their order. */
static void columns_check(const char *address, const char *view)
{
    char sql[96];
    char names[512] = "";
    char row[600];
    char line[1024];
    FILE *page = fopen(HF_TEST_DIR "/../docs/operate/sql.md", "rb");
    hf_err err = {0};
    bool found = false;

    ck_assert_ptr_nonnull(page);
    (void)snprintf(sql, sizeof(sql),
                   "select v.* from (select 1 as one) o left join %s v on 1 = 1 limit 1", view);
    hf_test_ok(hf_sql(address, NULL, sql, sql_names, names, &err), &err, sql);
    (void)snprintf(row, sizeof(row), "| `%s` |", names);
    while (fgets(line, sizeof(line), page))
        found |= strstr(line, view) && strstr(line, row);
    (void)fclose(page);
    ck_assert_msg(found, "the document does not name the columns of %s: %s", view, names);
}

/* The documented views answer the same on both databases; what writes, attaches, loops or never
   ends is refused or cut off. */
HF_BOTH_ENGINES(sql_reads_and_does_nothing_else)
{
    static const char *const views[] = {"v_runs",       "v_events",   "v_waits",
                                        "v_activities", "v_failures", "v_tasks"};
    static const char *const bad[] = {
        "DELETE FROM run",
        "UPDATE run SET status = 6",
        "select 1; delete from run",
        "select 1) q; delete from run; select (1",
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "with x as (delete from run returning key) select * from x",
        "select '",
        "select 1 -- comment",
        "select 1;; ",
        "VACUUM INTO 'x.db'",
        "explain select 1",
        "select load_extension('x')",
        "selection",
        "  ;",
        "",
    };
    hf_engine *d = hf_kit_open(kind, &app);
    const char *address = hf_test_place_address(hf_kit_place(d));
    hf_sql_options tight = {.size = sizeof(tight), .timeout_ms = 200};
    sql_seen seen = {0};
    hf_err err = {0};
    char text[128];

    order_start(d, "o", true, true);
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(text, sizeof(text), "select count(*) as n from %s", views[i]);
        seen = (sql_seen){0};
        hf_test_ok(hf_sql(address, NULL, text, sql_row, &seen, &err), &err, text);
        ck_assert_int_eq(seen.rows, 1);
    }
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select status from v_runs where instance_id = 'o'", sql_row,
                      &seen, &err),
               &err, "ask");
    ck_assert_str_eq(seen.first, "waiting");
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select failure_type from v_failures", sql_row, &seen, &err),
               &err, "ask");
    ck_assert_str_eq(seen.first, "card_declined");
    for (size_t i = 0; i < 6; i++)
        columns_check(address, views[i]);
    hf_kit_ok(d, hf_test_advance(d, 2000));
    hf_kit_ok(d, hf_test_drain(d));
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select kind from v_waits", sql_row, &seen, &err), &err,
               "ask");
    ck_assert_int_eq(seen.rows, 1);
    ck_assert_str_eq(seen.first, "signal");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_sql(address, NULL, bad[i], sql_row, &seen, &err) == HF_INVALID, "%s: %s",
                      bad[i], err.text);
    if (kind == HF_ENGINE_POSTGRES) {
        ck_assert_int_eq(
            hf_sql(address, NULL, "select * from run for update", sql_row, &seen, &err),
            HF_INVALID);
        ck_assert_int_eq(hf_sql(address, NULL, "select 1 as a, 2 as a", sql_row, &seen, &err),
                         HF_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "a name of its own"));
    }
    ck_assert_int_eq(hf_sql(address, NULL, "Drop table run", sql_row, &seen, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "begins with SELECT"));
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, " Values (7) ; ", sql_row, &seen, &err), &err, "ask");
    ck_assert_str_eq(seen.first, "7");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 1);
    ck_assert_int_eq(
        hf_sql(address, &tight,
               "with recursive n(x) as (select 1 union all select x + 1 from n) select count(x) "
               "from n",
               sql_row, &seen, &err),
        HF_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(err.text, "took longer than 200 ms"));
    tight = (hf_sql_options){.size = sizeof(tight), .rows_max = 10};
    seen = (sql_seen){0};
    ck_assert_int_eq(
        hf_sql(address, &tight,
               "with recursive n(x) as (select 1 union all select x + 1 from n where x "
               "< 1000) select x from n",
               sql_row, &seen, &err),
        HF_TOOBIG);
    ck_assert_int_eq(seen.rows, 10);
    seen = (sql_seen){0};
    ck_assert_int_eq(hf_sql(address, NULL,
                            kind == HF_ENGINE_SQLITE ? "select hex(zeroblob(100000000)) as x"
                                                     : "select repeat('x', 100000000) as x",
                            sql_row, &seen, &err),
                     HF_TOOBIG);
    ck_assert_int_eq(seen.rows, 0);
    hf_kit_close(d);
}

static void metrics_have(hf_value metrics, const char *group, const char *names)
{
    char path[96];
    hf_slice rest = hf_slice_of(names);
    hf_slice name;

    while (hf_slice_split(&rest, ' ', &name)) {
        (void)snprintf(path, sizeof(path), "%s.%.*s", group, (int)name.len, name.ptr);
        ck_assert_msg(hf_get(metrics, path) != NULL, "%s is missing", path);
    }
}

/* Every group of the published operator metrics has every number of it. */
HF_BOTH_ENGINES(b192_metrics_have_every_number)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value m = NULL;

    order_start(d, "a", true, false);
    hf_kit_ok(d, hf_metrics(d, mem, &m));
    metrics_have(m, "runs",
                 "total current running completed failed cancelled terminated archived "
                 "repair_needed oldest_repair_needed_at max_repair_needed_age_ms claim_failed "
                 "compatibility_blocked waiting oldest_wait_started_at max_wait_age_ms");
    metrics_have(m, "tasks",
                 "open ready ready_due delayed leased dispatch_failed claim_failed "
                 "dispatch_overdue lease_expired unhealthy max_attempt_count max_repair_count "
                 "oldest_lease_expired_at max_lease_expired_age_ms oldest_ready_due_at "
                 "max_ready_due_age_ms max_dispatch_overdue_age_ms oldest_claim_failed_at "
                 "max_claim_failed_age_ms oldest_dispatch_failed_at max_dispatch_failed_age_ms "
                 "oldest_unhealthy_at max_unhealthy_age_ms");
    metrics_have(m, "activities",
                 "open pending running retrying oldest_retrying_started_at max_retrying_age_ms "
                 "timeout_overdue oldest_timeout_overdue_at max_timeout_overdue_age_ms "
                 "failed_attempts max_attempt_count");
    metrics_have(m, "backlog",
                 "runnable_tasks delayed_tasks leased_tasks tasks_added_last_minute "
                 "tasks_dispatched_last_minute "
                 "retrying_activities unhealthy_tasks repair_needed_runs claim_failed_runs "
                 "compatibility_blocked_runs");
    metrics_have(m, "repair",
                 "existing_task_candidates missing_task_candidates total_candidates scan_limit "
                 "scan_strategy selected_total_candidates existing_task_scan_limit_reached "
                 "missing_task_scan_limit_reached scan_pressure oldest_task_candidate_created_at "
                 "oldest_missing_run_started_at scopes");
    metrics_have(m, "starts",
                 "pending_runs pending_commands ready_tasks oldest_pending_start_at "
                 "max_pending_ms");
    metrics_have(m, "history",
                 "continue_as_new_recommended_runs events history_orphan_total max_event_count "
                 "max_size_bytes max_fan_out event_threshold size_bytes_threshold");
    metrics_have(m, "command_contracts",
                 "backfill_needed_runs backfill_available_runs backfill_unavailable_runs");
    metrics_have(m, "projections",
                 "run_summaries run_waits run_timeline_entries run_timer_entries "
                 "run_lineage_entries");
    metrics_have(m, "schedules",
                 "active paused missed oldest_overdue_at max_overdue_ms fires_total "
                 "failures_total");
    metrics_have(m, "workers",
                 "compatibility_namespace required_compatibility active_workers "
                 "active_worker_scopes active_workers_supporting_required fleet");
    metrics_have(m, "matching_role",
                 "queue_wake_enabled shape wake_owner task_dispatch_mode partition_primitives "
                 "backpressure_model");
    ck_assert_int_eq(hf_int(m, "structural_limits.pending_activity_count", 0), 2000);
    ck_assert_int_eq(hf_int(m, "repair_policy.scan_limit", 0), 25);
    ck_assert_int_eq(hf_int(m, "update_wait.completion_timeout_seconds", 0), 10);
    ck_assert_str_eq(hf_str(m, "backend.database.driver", ""),
                     kind == HF_ENGINE_SQLITE ? "sqlite" : "postgres");
    hf_mem_free(mem);
    hf_kit_close(d);
}

static const char *check_status(hf_value health, const char *name)
{
    hf_value checks = hf_get(health, "checks");

    for (size_t i = 0; i < hf_len(checks); i++)
        if (strcmp(hf_str(hf_at(checks, i), "name", ""), name) == 0)
            return hf_str(hf_at(checks, i), "status", "");
    return "none";
}

/* A run that lost a row and a task that nobody takes are counted by what a repair would do, queue
   by queue; history without a run is an error of health. */
HF_BOTH_ENGINES(b192_repair_is_counted)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value m = NULL;
    hf_value health = NULL;

    order_start(d, "a", true, false);
    order_start(d, "b", true, false);
    hf_kit_sql(d, "UPDATE timer SET run = run + 1000000 WHERE run = (SELECT min(key) FROM run)");
    hf_kit_ok(d, hf_metrics(d, mem, &m));
    ck_assert_int_eq(hf_int(m, "runs.repair_needed", -1), 1);
    ck_assert_int_eq(hf_int(m, "backlog.repair_needed_runs", -1), 1);
    ck_assert_int_eq(hf_int(m, "repair.missing_task_candidates", -1), 1);
    ck_assert_int_eq(hf_int(m, "repair.existing_task_candidates", -1), 0);
    ck_assert_int_eq(hf_int(m, "repair.selected_missing_task_candidates", -1), 1);
    ck_assert_uint_eq(hf_len(hf_get(m, "repair.scopes")), 1);
    ck_assert_str_eq(hf_str(m, "repair.scopes.0.queue", ""), "default");
    ck_assert(!hf_bool(m, "repair.scan_pressure", true));
    hf_kit_ok(d, hf_health(d, mem, &health));
    ck_assert_str_eq(check_status(health, "durable_resume_paths"), "warning");
    ck_assert_str_eq(check_status(health, "scheduler_role"), "ok");
    hf_kit_sql(d, "UPDATE timer SET run = run - 1000000 WHERE run > 1000000");
    hf_kit_sql(d, "UPDATE history SET run = run + 1000000 WHERE position = "
                  "(SELECT max(position) FROM history)");
    hf_kit_ok(d, hf_health(d, mem, &health));
    ck_assert_str_eq(check_status(health, "history_retention_invariant"), "error");
    ck_assert_str_eq(hf_str(health, "status", ""), "error");
    ck_assert(!hf_bool(health, "healthy", true));
    ck_assert_str_eq(hf_str(health, "categories.acceleration.status", ""), "ok");
    ck_assert_int_eq(hf_int(health, "structural_limits.pending_timer_count", 0), 2000);
    hf_kit_sql(d, "UPDATE history SET run = run - 1000000 WHERE run > 1000000");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* The dashboard names who waits longest, lived longest and failed most. */
HF_BOTH_ENGINES(b192_statistics_name_record_holders)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value stats = NULL;

    hf_kit_ok(d, hf_stats(d, mem, &stats));
    ck_assert_int_eq(hf_value_kind_of(hf_get(stats, "max_duration_workflow")), HF_VALUE_NULL);
    order_start(d, "waits", true, false);
    order_start(d, "ends", false, true);
    hf_kit_ok(d, hf_test_advance(d, 3000));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_stats(d, mem, &stats));
    ck_assert_str_eq(hf_str(stats, "max_wait_time_workflow.instance_id", ""), "waits");
    ck_assert_str_eq(hf_str(stats, "max_duration_workflow.instance_id", ""), "ends");
    ck_assert_int_ge(hf_int(stats, "max_duration_workflow.duration_ms", 0), 1000);
    ck_assert_str_eq(hf_str(stats, "max_exceptions_workflow.instance_id", ""), "ends");
    ck_assert_int_eq(hf_int(stats, "max_exceptions_workflow.exception_count", 0), 1);
    ck_assert_int_eq(hf_int(stats, "flows", -1), 2);
    ck_assert_int_eq(hf_int(stats, "flows_past_hour", -1), 2);
    ck_assert_int_eq(hf_int(stats, "failed_flows_past_week", -1), 0);
    ck_assert_ptr_nonnull(hf_get(stats, "flows_per_minute"));
    ck_assert_int_eq(hf_int(stats, "operator_metrics.runs.total", -1), 2);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Metrics count runs, backlog and drift, and health says what is wrong with them. */
HF_BOTH_ENGINES(b192_metrics_and_health)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value metrics = NULL;
    hf_value health = NULL;
    hf_value stats = NULL;
    hf_value groups = NULL;
    const char *text = NULL;

    order_start(d, "a", true, false);
    order_start(d, "b", true, true);
    hf_kit_ok(d, hf_metrics(d, mem, &metrics));
    ck_assert_int_eq(hf_int(metrics, "runs.total", -1), 2);
    ck_assert_int_eq(hf_int(metrics, "runs.running", -1), 2);
    ck_assert_int_eq(hf_int(metrics, "projections.run_summaries.missing", -1), 0);
    ck_assert(!hf_bool(metrics, "projections.run_summaries.needs_rebuild", true));
    hf_kit_ok(d, hf_health(d, mem, &health));
    ck_assert_str_eq(hf_str(health, "status", ""), "ok");
    hf_kit_sql(d, "UPDATE run_summary SET run = run + 1000000 WHERE exception_count = 1");
    hf_kit_sql(d, "UPDATE run SET blocked = 1 WHERE key = (SELECT max(key) FROM run)");
    hf_kit_ok(d, hf_metrics(d, mem, &metrics));
    ck_assert_int_eq(hf_int(metrics, "projections.run_summaries.missing", -1), 1);
    ck_assert_int_eq(hf_int(metrics, "projections.run_summaries.orphaned", -1), 1);
    hf_kit_ok(d, hf_health(d, mem, &health));
    ck_assert_str_eq(hf_str(health, "status", ""), "warning");
    hf_kit_sql(d, "UPDATE run_summary SET run = run - 1000000 WHERE exception_count = 1");
    hf_kit_sql(d, "UPDATE run SET blocked = 0");
    hf_kit_ok(d, hf_stats(d, mem, &stats));
    ck_assert_int_eq(hf_int(stats, "flows_past_hour", -1), 2);
    ck_assert_int_eq(hf_int(stats, "exceptions_past_hour", -1), 1);
    hf_kit_ok(d, hf_failure_groups(d, NULL, mem, &groups));
    ck_assert_uint_eq(hf_len(groups), 1);
    ck_assert_str_eq(hf_str(groups, "0.name", ""), "charge");
    ck_assert_uint_eq(hf_len(listed(d, mem,
                                    hf_json_(mem, "{'filters': {'failure': %s}}",
                                             hf_str(groups, "0.fingerprint", "")))),
                      1);
    hf_kit_ok(d, hf_metrics_text(d, mem, &text));
    ck_assert_ptr_nonnull(strstr(text, "\nholdfast_runs_running 2\n"));
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN(
    "engine/view", HF_BOTH(b192_metrics_and_health), HF_BOTH(b192_metrics_have_every_number),
    HF_BOTH(b192_repair_is_counted), HF_BOTH(b192_statistics_name_record_holders),
    HF_BOTH(b185_detail_rebuilds_and_says_so), HF_BOTH(b186_timeline_keeps_what_events_said),
    HF_BOTH(b187_missing_tasks_are_shown), HF_BOTH(lists_follow_commits),
    HF_BOTH(b190_system_views), HF_BOTH(b189_saved_views), HF_BOTH(b189_views_have_a_scope),
    HF_BOTH(a_run_as_it_was), HF_BOTH(big_inputs_are_shown), HF_BOTH(contracts_are_normalised),
    HF_BOTH(b191_rebuild_projections), HF_BOTH_SLOW(sql_reads_and_does_nothing_else, 60))
