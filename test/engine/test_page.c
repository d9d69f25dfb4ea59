/* The page of a run, name by name: every field of the published run detail and list row, what can
   be done and why not, an earlier moment, bars with heartbeats and barriers; on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "lib/kit.h"

static hf_value charge(hf_act *a, hf_value in)
{
    if (hf_bool(in, "bad", false) && hf_attempt(a) == 1)
        return hf_retry(a, "busy", "call again later");
    if (!hf_heartbeat(a, .message = "half", .current = 1, .total = 2))
        return hf_json(a, "{'paid': false}");
    return hf_json(a, "{'paid': true}");
}

static hf_value order_run(hf_ctx *w, hf_value in)
{
    hf_all(w, HF_ACTIVITY("charge", in, .max_attempts = 3), HF_ACTIVITY("charge", NULL));
    (void)hf_receive(w, "go", .timeout = hf_days(1));
    return in;
}

static const hf_signal_def signals[] = {{"go", "note:string"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order", .run = order_run, .signals = signals},
                                            {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {0}};
static const hf_app app = {.name = "page", .workflows = workflows, .activities = activities};

static void order_start(hf_engine *d, const char *id)
{
    hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'bad': true}"), .id = id));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 5000));
    hf_kit_ok(d, hf_test_drain(d));
}

static hf_value page_at(hf_engine *d, hf_mem *mem, const char *id, int64_t at)
{
    hf_value out = NULL;

    hf_kit_ok(
        d, hf_describe(d, hf_json_(mem, "{'id': %s, 'at': %lld}", id, (long long)at), mem, &out));
    return out;
}

static hf_value page(hf_engine *d, hf_mem *mem, const char *id)
{
    return page_at(d, mem, id, INT64_MAX);
}

static void has(hf_value object, const char *const *names)
{
    for (; *names; names++)
        ck_assert_msg(hf_value_find(object, hf_slice_of(*names)) != NULL, "%s is missing", *names);
}

/* Nothing of the published payload is left out, whether it has a value or not. */
HF_BOTH_ENGINES(a_page_has_every_published_field)
{
    static const char *const head[] = {"id",
                                       "instance_id",
                                       "selected_run_id",
                                       "run_id",
                                       "is_current_run",
                                       "current_run_id",
                                       "current_run_source",
                                       "current_run_status",
                                       "current_run_status_bucket",
                                       "current_run_closed_reason",
                                       "engine_source",
                                       "class",
                                       "workflow_type",
                                       "namespace",
                                       "business_key",
                                       "visibility_labels",
                                       "memo",
                                       "search_attributes",
                                       "workflow_definition_fingerprint",
                                       "workflow_definition_current_fingerprint",
                                       "workflow_definition_matches_current",
                                       "workflow_determinism_status",
                                       "workflow_determinism_source",
                                       "workflow_determinism_findings",
                                       "compatibility",
                                       "compatibility_namespace",
                                       "compatibility_supported",
                                       "compatibility_reason",
                                       "compatibility_supported_in_fleet",
                                       "compatibility_fleet_reason",
                                       "compatibility_fleet",
                                       "arguments",
                                       "connection",
                                       "queue",
                                       "execution_timeout_seconds",
                                       "run_timeout_seconds",
                                       "execution_deadline_at",
                                       "run_deadline_at",
                                       "output",
                                       "status",
                                       "is_terminal",
                                       "declared_queries",
                                       "declared_query_contracts",
                                       "declared_query_targets",
                                       "declared_signals",
                                       "declared_signal_contracts",
                                       "declared_signal_targets",
                                       "declared_updates",
                                       "declared_update_contracts",
                                       "declared_update_targets",
                                       "declared_entry_mode",
                                       "declared_contract_source",
                                       "status_bucket",
                                       "closed_reason",
                                       "closed_at",
                                       "archived_at",
                                       "archive_command_id",
                                       "archive_reason",
                                       "duration_ms",
                                       "sort_timestamp",
                                       "sort_key",
                                       "projection_schema_version",
                                       NULL};
    static const char *const state[] = {"wait_kind",
                                        "wait_reason",
                                        "wait_started_at",
                                        "wait_deadline_at",
                                        "open_wait_id",
                                        "open_wait_count",
                                        "resume_source_kind",
                                        "resume_source_id",
                                        "next_task_id",
                                        "next_task_type",
                                        "next_task_status",
                                        "next_task_at",
                                        "next_task_lease_expires_at",
                                        "liveness_state",
                                        "liveness_reason",
                                        "task_problem",
                                        "task_problem_badge",
                                        "exception_count",
                                        "history_event_count",
                                        "history_size_bytes",
                                        "history_fan_out",
                                        "history_event_threshold",
                                        "history_size_bytes_threshold",
                                        "history_budget_pressure",
                                        "continue_as_new_recommended",
                                        "can_issue_terminal_commands",
                                        "can_query",
                                        "query_blocked_reason",
                                        "can_cancel",
                                        "cancel_blocked_reason",
                                        "can_terminate",
                                        "terminate_blocked_reason",
                                        "can_signal",
                                        "signal_blocked_reason",
                                        "can_update",
                                        "update_blocked_reason",
                                        "can_repair",
                                        "repair_blocked_reason",
                                        "repair_blocked",
                                        "repair_attention",
                                        "can_archive",
                                        "archive_blocked_reason",
                                        "can_pause",
                                        "pause_blocked_reason",
                                        "can_resume",
                                        "resume_blocked_reason",
                                        "can_fork",
                                        "can_reset",
                                        "reset_blocked_reason",
                                        "read_only_reason",
                                        "run_navigation",
                                        "why",
                                        NULL};
    static const char *const lists[] = {
        "activities", "linked_intakes", "commands",   "signals", "updates", "waits", "tasks",
        "timeline",   "timers",         "exceptions", "links",   "logs",    NULL};
    static const char *const row[] = {"id",
                                      "workflow_instance_id",
                                      "instance_id",
                                      "selected_run_id",
                                      "run_id",
                                      "run_number",
                                      "is_current_run",
                                      "engine_source",
                                      "class",
                                      "workflow_type",
                                      "namespace",
                                      "business_key",
                                      "compatibility",
                                      "status",
                                      "status_bucket",
                                      "is_terminal",
                                      "closed_reason",
                                      "started_at",
                                      "closed_at",
                                      "created_at",
                                      "updated_at",
                                      "sort_timestamp",
                                      "sort_key",
                                      "duration_ms",
                                      "archived_at",
                                      "archive_reason",
                                      "wait_kind",
                                      "wait_reason",
                                      "liveness_state",
                                      "visibility_labels",
                                      "search_attributes",
                                      "repair_attention",
                                      "repair_blocked_reason",
                                      "repair_blocked",
                                      "task_problem",
                                      "task_problem_badge",
                                      "declared_entry_mode",
                                      "declared_contract_source",
                                      "exception_count",
                                      "history_event_count",
                                      "history_size_bytes",
                                      "history_fan_out",
                                      "continue_as_new_recommended",
                                      "history_budget_pressure",
                                      "connection",
                                      "queue",
                                      NULL};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    char scope[32];

    order_start(d, "o");
    out = page(d, mem, "o");
    has(out, head);
    has(out, state);
    has(out, lists);
    for (size_t i = 0; lists[i]; i++) {
        (void)snprintf(scope, sizeof(scope), "%s_scope", lists[i]);
        ck_assert_str_eq(hf_str(out, scope, ""), "selected_run");
    }
    ck_assert_str_eq(hf_str(out, "namespace", ""), "default");
    ck_assert_str_eq(hf_str(out, "current_run_status", ""), "waiting");
    ck_assert_str_eq(hf_str(out, "workflow_determinism_status", ""), "clean");
    ck_assert_int_eq(hf_int(out, "history_fan_out", 0), 2);
    hf_kit_ok(d, hf_list_runs(d, NULL, mem, &out));
    has(hf_get(out, "items.0"), row);
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "visibility_filters.definition")), HF_VALUE_NULL);
    hf_kit_ok(d, hf_list_runs(d, hf_json_(mem, "{'definition': true}"), mem, &out));
    out = hf_get(out, "visibility_filters.definition.fields");
    ck_assert_int_eq(hf_int(out, "status.order", 0), 11);
    ck_assert_str_eq(hf_str(out, "repair_blocked_reason.options.0.tone", ""), "dark");
    ck_assert(hf_bool(out, "repair_blocked_reason.options.0.badge_visible", false));
    ck_assert_uint_eq(hf_len(hf_get(out, "archived.options")), 2);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Why and when a run was put away is in its page and in lists; a page of a moment before says
   nothing of it. */
HF_BOTH_ENGINES(archived_runs_say_why)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    const char *command;

    order_start(d, "o");
    hf_kit_ok(d, hf_cancel(d, "o", "no longer wanted"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_list_runs(d, NULL, mem, &out));
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "items.0.archive_reason")), HF_VALUE_NULL);
    hf_kit_ok(d, hf_archive(d, "o", .reason = "season is over"));
    hf_kit_ok(d, hf_list_runs(d, NULL, mem, &out));
    ck_assert_str_eq(hf_str(out, "items.0.archive_reason", ""), "season is over");
    out = page(d, mem, "o");
    ck_assert_str_eq(hf_str(out, "archive_reason", ""), "season is over");
    ck_assert_str_eq(hf_str(out, "archive_blocked_reason", ""), "run_archived");
    command = hf_str(out, "archive_command_id", "");
    ck_assert_str_eq(
        command,
        hf_str(hf_at(hf_get(out, "commands"), hf_len(hf_get(out, "commands")) - 1), "id", "?"));
    out = page_at(d, mem, "o", 3);
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "archived_at")), HF_VALUE_NULL);
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "archive_reason")), HF_VALUE_NULL);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Each action is available or says why not, and that changes with the run. */
HF_BOTH_ENGINES(actions_are_available_or_explained)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out;

    order_start(d, "o");
    out = page(d, mem, "o");
    ck_assert(hf_bool(out, "can_pause", false));
    ck_assert_str_eq(hf_str(out, "resume_blocked_reason", ""), "run_not_paused");
    ck_assert_str_eq(hf_str(out, "archive_blocked_reason", ""), "run_not_closed");
    hf_kit_ok(d, hf_pause(d, "o", .reason = "a look"));
    hf_kit_ok(d, hf_test_drain(d));
    out = page(d, mem, "o");
    ck_assert(hf_bool(out, "can_resume", false));
    ck_assert_str_eq(hf_str(out, "pause_blocked_reason", ""), "run_paused");
    hf_kit_ok(d, hf_terminate(d, "o", "enough"));
    hf_kit_ok(d, hf_test_drain(d));
    out = page(d, mem, "o");
    ck_assert_str_eq(hf_str(out, "resume_blocked_reason", ""), "run_closed");
    ck_assert_str_eq(hf_str(out, "repair_blocked_reason", ""), "run_closed");
    ck_assert(hf_bool(out, "can_reset", false));
    out = page_at(d, mem, "o", 2);
    ck_assert_str_eq(hf_str(out, "repair_blocked_reason", ""), "not_now");
    ck_assert(hf_bool(out, "can_fork", false));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A page of an earlier moment has the waits that were open then, and not what was asked later. */
HF_BOTH_ENGINES(an_earlier_moment_has_its_waits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out;

    order_start(d, "o");
    hf_kit_ok(d, hf_test_advance(d, 1000));
    hf_kit_ok(d, hf_signal(d, "o", "go", hf_json(d, "{'note': 'now'}")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(hf_bool(page(d, mem, "o"), "is_terminal", false));
    out = page_at(d, mem, "o", 5);
    ck_assert(!hf_bool(out, "is_terminal", true));
    ck_assert_str_eq(hf_str(out, "wait_kind", ""), "activity");
    ck_assert_int_eq(hf_int(out, "open_wait_count", 0), 2);
    ck_assert_str_eq(hf_str(out, "open_wait_id", ""), hf_str(out, "waits.0.id", "?"));
    ck_assert_uint_eq(hf_len(hf_get(out, "commands")), 1);
    ck_assert_uint_eq(hf_len(hf_get(page(d, mem, "o"), "commands")), 2);
    hf_kit_ok(d, hf_history(d, mem, &out, "o", .at = 5, .after = 2));
    ck_assert_uint_eq(hf_len(hf_get(out, "events")), 3);
    ck_assert_int_eq(hf_int(out, "last_sequence", 0), 5);
    ck_assert(!hf_bool(out, "closed", true));
    hf_kit_ok(d, hf_history(d, mem, &out, "o"));
    ck_assert(hf_bool(out, "closed", false));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Commands name what they brought, and signals that were refused are among the signals with the
   reason. */
HF_BOTH_ENGINES(refused_signals_are_shown)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out;

    order_start(d, "o");
    ck_assert_int_ne(hf_signal(d, "o", "go", hf_json(d, "{'note': 7}")), HF_OK);
    hf_kit_ok(d, hf_signal(d, "o", "go", hf_json(d, "{'note': 'yes'}")));
    hf_kit_ok(d, hf_test_drain(d));
    out = page(d, mem, "o");
    ck_assert_uint_eq(hf_len(hf_get(out, "commands")), 3);
    ck_assert_str_eq(hf_str(out, "commands.1.signal_status", ""), "rejected");
    ck_assert_ptr_nonnull(hf_get(out, "commands.1.validation_errors.note"));
    ck_assert_str_eq(hf_str(out, "commands.2.signal_status", ""), "applied");
    ck_assert_uint_eq(hf_len(hf_get(out, "signals")), 2);
    ck_assert_str_eq(hf_str(out, "signals.0.id", ""), hf_str(out, "commands.2.signal_id", "?"));
    ck_assert_int_eq(hf_int(out, "signals.0.command_sequence", 0), 3);
    ck_assert_str_eq(hf_str(out, "signals.1.rejection_reason", ""), "invalid_signal_arguments");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Waits name the row of open work behind them. A row that no event speaks of is a diagnostic
   without a source that could resume the run. */
HF_BOTH_ENGINES(waits_name_what_stands_behind_them)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out;
    hf_value last;

    hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'bad': true}"), .id = "o"));
    hf_kit_ok(d, hf_test_advance(d, 0)); /* between two attempts */
    out = page(d, mem, "o");
    ck_assert_str_eq(hf_str(out, "waits.0.summary", ""), "Waiting for activity charge");
    ck_assert(hf_bool(out, "waits.0.task_backed", false));
    ck_assert_str_eq(hf_str(out, "waits.0.task_type", ""), "activity");
    ck_assert_str_eq(hf_str(out, "waits.0.task_status", ""), "ready");
    ck_assert_str_eq(hf_str(out, "waits.0.parallel_group_kind", ""), "activity");
    ck_assert_str_eq(hf_str(out, "waits.1.summary", ""), "Waited for activity charge");
    ck_assert(!hf_bool(out, "waits.1.task_backed", true));
    hf_kit_sql(d, "UPDATE activity SET step = 77 WHERE closed_us IS NULL");
    out = page(d, mem, "o");
    ck_assert(!hf_bool(out, "waits.0.task_backed", true));
    last = hf_at(hf_get(out, "waits"), hf_len(hf_get(out, "waits")) - 1);
    ck_assert_int_eq(hf_int(last, "sequence", 0), 77);
    ck_assert(hf_bool(last, "diagnostic_only", false));
    ck_assert_str_eq(hf_str(last, "history_authority", ""), "mutable_open_fallback");
    ck_assert_int_eq(hf_value_kind_of(hf_get(last, "resume_source_kind")), HF_VALUE_NULL);
    hf_kit_sql(d, "UPDATE activity SET step = 1 WHERE step = 77");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Bars have attempts with their heartbeats, progress and failure, and barriers count their leaves.
 */
HF_BOTH_ENGINES(bars_have_heartbeats_and_barriers)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;

    order_start(d, "o");
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'o'}"), mem, &out));
    ck_assert_uint_eq(hf_len(hf_get(out, "bars")), 3);
    ck_assert_uint_eq(hf_len(hf_get(out, "bars.0.attempts")), 2);
    ck_assert_str_eq(hf_str(out, "bars.0.attempts.0.failure_type", ""), "busy");
    ck_assert_str_eq(hf_str(out, "bars.0.attempts.0.message", ""), "call again later");
    ck_assert_uint_eq(hf_len(hf_get(out, "bars.0.attempts.0.heartbeats")), 0);
    ck_assert_uint_eq(hf_len(hf_get(out, "bars.0.attempts.1.heartbeats")), 1);
    ck_assert_str_eq(hf_str(out, "bars.0.attempts.1.progress.message", ""), "half");
    ck_assert_str_eq(hf_str(out, "bars.0.segments.1.kind", ""), "backoff");
    ck_assert_str_eq(hf_str(out, "bars.2.segments.0.kind", ""), "waiting");
    ck_assert_uint_eq(hf_len(hf_get(out, "barriers")), 1);
    ck_assert_str_eq(hf_str(out, "barriers.0.kind", ""), "activity");
    ck_assert_int_eq(hf_int(out, "barriers.0.size", 0), 2);
    ck_assert_int_eq(hf_int(out, "barriers.0.done", 0), 2);
    ck_assert_str_eq(hf_str(out, "barriers.0.id", ""),
                     hf_str(out, "bars.1.group.0.parallel_group_id", "?"));
    ck_assert_str_eq(hf_str(out, "barriers.0.to", ""), hf_str(out, "bars.0.to", "?"));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'o', 'at': 4}"), mem, &out));
    ck_assert(!hf_bool(out, "is_now", true));
    ck_assert_int_eq(hf_int(out, "barriers.0.done", -1), 0);
    out = page(d, mem, "o");
    ck_assert_str_eq(hf_str(out, "activities.0.last_heartbeat_progress.message", ""), "half");
    ck_assert_str_eq(hf_str(out, "activities.0.attempts.0.exception_type", ""), "busy");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* An attempt that was lost with its process is a gap of its own, and the next one follows it. */
HF_BOTH_ENGINES(bars_show_what_was_lost)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    hf_value segments;

    hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{}"), .id = "o"));
    hf_kit_crash_after(d, 1); /* the attempts are on the record and do not run */
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, 5000));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_spans(d, hf_json_(mem, "{'id': 'o'}"), mem, &out));
    segments = hf_get(out, "bars.0.segments");
    ck_assert_str_eq(hf_str(segments, "0.kind", ""), "lost");
    ck_assert_str_eq(hf_str(hf_at(segments, hf_len(segments) - 1), "kind", ""), "running");
    ck_assert_str_eq(hf_str(out, "bars.0.attempts.0.status", ""), "expired");
    ck_assert_str_eq(hf_str(out, "bars.0.attempts.1.status", ""), "completed");
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/page", HF_BOTH(a_page_has_every_published_field),
                 HF_BOTH(archived_runs_say_why), HF_BOTH(actions_are_available_or_explained),
                 HF_BOTH(an_earlier_moment_has_its_waits), HF_BOTH(refused_signals_are_shown),
                 HF_BOTH(waits_name_what_stands_behind_them),
                 HF_BOTH(bars_have_heartbeats_and_barriers), HF_BOTH(bars_show_what_was_lost))
