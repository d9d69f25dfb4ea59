/* Numbers over all runs of a store: the published metrics, health and what is wrong with it, the
   statistics of the dashboard; on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "base/value.h"
#include "engine/view_order.h"
#include "holdfast/view.h"

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

HF_PG_SUITE_MAIN("engine/metrics", HF_BOTH(b192_metrics_and_health),
                 HF_BOTH(b192_metrics_have_every_number), HF_BOTH(b192_repair_is_counted),
                 HF_BOTH(b192_statistics_name_record_holders))
