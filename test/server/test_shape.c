/* test_shape.c: what every route answers when all is well, over real HTTP on both databases: the
   status, the published schema of the command that reads it, and the members that the contract
   requires. The table below names the route that each row covers; a route of route.def without a
   row fails the last case of the program.

   How rows are written is said in lib/play.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/view.h"
#include "lib/play.h"
#include "server/order_app.h"
#include "server/route.h"

/* ---- the table */

typedef hf_play_row row;

#define ASKS  HF_PLAY_ASKS
#define SENDS HF_PLAY_SENDS
#define HEARS HF_PLAY_HEARS

/* The lists of the contract, 4.1 to 4.4. */
#define COMMAND                                                                                    \
    "outcome workflow_id run_id requested_run_id resolved_run_id command_id command_sequence "     \
    "target_scope workflow_type command_status command_source reason rejection_reason "            \
    "validation_errors"
#define STARTED                                                                                    \
    "start_command_id start_command_sequence start_outcome start_command_status intake_group_id"
#define UPDATE_LIFE                                                                                \
    "update_id update_status update_name workflow_sequence result result_envelope failure_id "     \
    "failure_message accepted_at applied_at rejected_at closed_at"
#define UPDATE UPDATE_LIFE " wait_for wait_timed_out wait_timeout_seconds"
#define QUERY  "query_name workflow_id run_id target_scope result"
#define POLLED "task poll_status"
#define LEASED "task.task_type lease.leased_at lease.lease_expires_at"
#define REPORT "recorded reason next_task_id"
#define DESCRIBED                                                                                  \
    "found workflow_instance_id workflow_type workflow_class business_key run.workflow_run_id "    \
    "run.run_number run.is_current_run run.status run.status_bucket run.closed_reason "            \
    "run.compatibility run.connection run.queue run.started_at run.closed_at "                     \
    "run.last_progress_at run.wait_kind run.wait_reason run_count actions.can_signal "             \
    "actions.can_query actions.can_update actions.can_cancel actions.can_terminate "               \
    "actions.can_repair actions.can_archive reason"
#define ATTEMPT                                                                                    \
    "can_continue cancel_requested reason heartbeat_recorded workflow_instance_id "                \
    "workflow_run_id workflow_task_id activity_execution_id activity_attempt_id attempt_number "   \
    "run_status run_closed_reason run_closed_at activity_status attempt_status task_status "       \
    "lease_owner lease_expires_at last_heartbeat_at"
#define LISTED(row)                                                                                \
    row ".id " row ".workflow_instance_id " row ".instance_id " row ".selected_run_id " row        \
        ".run_id " row ".run_number " row ".is_current_run " row ".engine_source " row             \
        ".class " row ".workflow_type " row ".namespace " row ".business_key " row                 \
        ".compatibility " row ".status " row ".status_bucket " row ".is_terminal " row             \
        ".closed_reason " row ".started_at " row ".closed_at " row ".created_at " row              \
        ".updated_at " row ".sort_timestamp " row ".sort_key " row ".duration_ms " row             \
        ".archived_at " row ".archive_reason " row ".wait_kind " row ".wait_reason " row           \
        ".liveness_state " row ".visibility_labels " row ".search_attributes " row                 \
        ".repair_attention " row ".repair_blocked_reason " row ".repair_blocked " row              \
        ".task_problem " row ".task_problem_badge " row ".declared_entry_mode " row                \
        ".declared_contract_source " row ".exception_count " row ".history_event_count " row       \
        ".history_size_bytes " row ".continue_as_new_recommended " row ".connection " row ".queue"
#define RUN                                                                                        \
    "workflow_id id instance_id selected_run_id run_id is_current_run current_run_id "             \
    "current_run_source current_run_status current_run_status_bucket "                             \
    "current_run_closed_reason engine_source class workflow_type business_key "                    \
    "visibility_labels memo search_attributes workflow_definition_fingerprint "                    \
    "workflow_definition_current_fingerprint workflow_definition_matches_current "                 \
    "workflow_determinism_status workflow_determinism_source "                                     \
    "workflow_determinism_findings compatibility compatibility_namespace "                         \
    "compatibility_supported compatibility_reason compatibility_supported_in_fleet "               \
    "compatibility_fleet_reason compatibility_fleet arguments connection queue output "            \
    "status is_terminal declared_queries declared_query_contracts "                                \
    "declared_query_targets declared_signals declared_signal_contracts "                           \
    "declared_signal_targets declared_updates declared_update_contracts "                          \
    "declared_update_targets declared_entry_mode declared_contract_source "                        \
    "status_bucket closed_reason closed_at archived_at duration_ms wait_kind "                     \
    "wait_reason open_wait_id open_wait_count resume_source_kind next_task_id "                    \
    "liveness_state task_problem task_problem_badge exception_count "                              \
    "history_event_count history_size_bytes continue_as_new_recommended "                          \
    "can_issue_terminal_commands can_query can_cancel can_terminate can_signal "                   \
    "can_update can_repair can_archive query_blocked_reason cancel_blocked_reason "                \
    "terminate_blocked_reason signal_blocked_reason update_blocked_reason "                        \
    "repair_blocked_reason archive_blocked_reason repair_attention repair_blocked "                \
    "read_only_reason run_navigation activities activities_scope linked_intakes "                  \
    "linked_intakes_scope commands commands_scope signals signals_scope updates "                  \
    "updates_scope waits waits_scope waits_projection_source tasks tasks_scope "                   \
    "timeline timeline_scope timeline_total timers timers_scope exceptions "                       \
    "exceptions_scope"

#define ORDER(id, name)                                                                            \
    {                                                                                              \
        HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'" id "'}", 201, \
            "workflow-start", "workflow_id run_id workflow_type outcome", name "=run_id", ASKS     \
    }
#define SCHEDULE                                                                                   \
    "{'schedule_id':'s','spec':{'cron_expressions':['0 3 * * *']},"                                \
    "'action':{'workflow_type':'order','task_queue':'default'}}"
#define FAR(id)                                                                                    \
    {                                                                                              \
        HF_ROUTE_START, "/api/workflows",                                                          \
            "{'workflow_type':'remote','workflow_id':'" id "','task_queue':'far'}", 201,           \
            "workflow-start", NULL, NULL, ASKS                                                     \
    }
#define POLL "{'worker_id':'w1','task_queue':'far','timeout_seconds':20}"
#define POLL_WORK                                                                                  \
    {                                                                                              \
        HF_ROUTE_POLL_WORKFLOW, "/api/worker/workflow-tasks/poll", POLL, 200,                      \
            "workflow-task-poll",                                                                  \
            POLLED " task.task_id task.workflow_task_attempt task.history_events "                 \
                   "task.lease_owner " LEASED " task.workflow_id task.run_id task.history",        \
            "task=task.task_id n=task.workflow_task_attempt", ASKS                                 \
    }

#define JUDGED                                                                                     \
    "namespace fingerprint state.status state.build state.until state.reason state.by state.at"
#define REPLAYED                                                                                   \
    "namespace workflow_id run_id workflow_type events verdict ran reason step source_line text "  \
    "rows rows_before rows_after guard who.here who.workers who.text shell"

/* The server itself, and what belongs to no run. */
static const row plain_rows[] = {
    {HF_ROUTE_HEALTH, "/api/health", NULL, 200, "server-health", "status", NULL, ASKS},
    {HF_ROUTE_READY, "/api/ready", NULL, 200, NULL, "status", NULL, ASKS},
    {HF_ROUTE_OPENAPI, "/api/openapi.json", NULL, 200, NULL, "openapi paths info", NULL, ASKS},
    {HF_ROUTE_METRICS, "/metrics", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_PAGE_ROOT, "/console", NULL, 302, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_PAGE, "/console/runs/a%2Fb/steps", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_CLUSTER, "/api/cluster/info", NULL, 200, "server-info",
     "server_id version default_namespace capabilities control_plane worker_protocol", NULL, ASKS},
    {HF_ROUTE_NAMESPACE_CREATE, "/api/namespaces", "{'name':'shop'}", 201, "namespace", "name",
     NULL, ASKS},
    {HF_ROUTE_NAMESPACES, "/api/namespaces", NULL, 200, "namespace-list", "namespaces", NULL, ASKS},
    {HF_ROUTE_NAMESPACE, "/api/namespaces/shop", NULL, 200, "namespace", "name retention_days",
     NULL, ASKS},
    {HF_ROUTE_NAMESPACE_SET, "/api/namespaces/shop", "{'retention_days':5}", 200, "namespace",
     "name retention_days", NULL, ASKS},
    {HF_ROUTE_STORAGE_SET, "/api/namespaces/shop/external-storage",
     "{'driver':'local','threshold_bytes':200}", 200, "external-storage-policy", NULL, NULL, ASKS},
    {HF_ROUTE_STORAGE_TEST, "/api/storage/test", "{}", 200, "storage-test", NULL, NULL, ASKS},
    {HF_ROUTE_TOKEN_CREATE, "/api/tokens", "{'role':'read'}", 201, NULL, "id token role",
     "token=id", ASKS},
    {HF_ROUTE_TOKENS, "/api/tokens", NULL, 200, NULL, "tokens", NULL, ASKS},
    {HF_ROUTE_TOKEN_REVOKE, "/api/tokens/$token", NULL, 200, NULL, "id", NULL, ASKS},
    {HF_ROUTE_VIEW_SAVE, "/api/views", "{'name':'mine','bucket':'running','filters':{}}", 201, NULL,
     "id name bucket filters", "view=id", ASKS},
    {HF_ROUTE_VIEWS, "/api/views", NULL, 200, NULL, "namespace views", NULL, ASKS},
    {HF_ROUTE_VIEW_DELETE, "/api/views/$view", NULL, 204, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_ATTRIBUTE_CREATE, "/api/search-attributes", "{'name':'team','type':'keyword'}", 201,
     "search-attribute", NULL, NULL, ASKS},
    {HF_ROUTE_ATTRIBUTES, "/api/search-attributes", NULL, 200, "search-attribute-list",
     "system_attributes custom_attributes", NULL, ASKS},
    {HF_ROUTE_ATTRIBUTE_DELETE, "/api/search-attributes/team", NULL, 200, "search-attribute", NULL,
     NULL, ASKS},
    {HF_ROUTE_SYSTEM_METRICS, "/api/system/metrics", NULL, 200, NULL, "metrics", NULL, ASKS},
    {HF_ROUTE_SYSTEM_METRICS_ASK, "/api/system/metrics", "{}", 200, NULL, "metrics", NULL, ASKS},
    {HF_ROUTE_OPERATOR_METRICS, "/api/system/operator-metrics", NULL, 200, "operator-metrics",
     "namespace operator_metrics.runs operator_metrics.tasks operator_metrics.activities", NULL,
     ASKS},
    {HF_ROUTE_SYSTEM_HEALTH, "/api/system/health", NULL, 200, NULL, "status checks", NULL, ASKS},
    {HF_ROUTE_REPAIR_STATUS, "/api/system/repair", NULL, 200, "repair-status", NULL, NULL, ASKS},
    {HF_ROUTE_REPAIR_PASS, "/api/system/repair/pass", "{}", 200, "repair-pass", NULL, NULL, ASKS},
    {HF_ROUTE_TIMEOUT_STATUS, "/api/system/activity-timeouts", NULL, 200, "activity-timeout-status",
     NULL, NULL, ASKS},
    {HF_ROUTE_TIMEOUT_PASS, "/api/system/activity-timeouts/pass",
     "{'execution_ids':['01ARZ3NDEKTSV4RRFFQ69G5FAV']}", 200, "activity-timeout-pass",
     "results.0.execution_id results.0.reason", NULL, ASKS},
    {HF_ROUTE_RETENTION_STATUS, "/api/system/retention", NULL, 200, "retention-status", NULL, NULL,
     ASKS},
    {HF_ROUTE_RETENTION_PASS, "/api/system/retention/pass", "{}", 200, "retention-pass", NULL, NULL,
     ASKS},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules", SCHEDULE, 201, "schedule", "schedule_id status",
     NULL, ASKS},
    {HF_ROUTE_SCHEDULES, "/api/schedules", NULL, 200, "schedule-list", "schedules next_page_token",
     NULL, ASKS},
    {HF_ROUTE_SCHEDULE, "/api/schedules/s", NULL, 200, "schedule",
     "schedule_id spec action fires_count next_fire_at latest_workflow_instance_id", NULL, ASKS},
    {HF_ROUTE_SCHEDULE_UPDATE, "/api/schedules/s", "{'note':'x'}", 200, "schedule", "note", NULL,
     ASKS},
    {HF_ROUTE_SCHEDULE_PAUSE, "/api/schedules/s/pause", "{}", 200, "schedule-operation", "status",
     NULL, ASKS},
    {HF_ROUTE_SCHEDULE_RESUME, "/api/schedules/s/resume", "{}", 200, "schedule-operation", NULL,
     NULL, ASKS},
    {HF_ROUTE_SCHEDULE_TRIGGER, "/api/schedules/s/trigger", "{}", 200, "schedule-trigger",
     "outcome", NULL, ASKS},
    {HF_ROUTE_SCHEDULE_BACKFILL, "/api/schedules/s/backfill",
     "{'start_time':'2026-01-01T00:00:00Z','end_time':'2026-01-03T00:00:00Z'}", 200,
     "schedule-operation", "fires_attempted", NULL, ASKS},
    {HF_ROUTE_SCHEDULE_HISTORY, "/api/schedules/s/history", NULL, 200, "schedule-history", "events",
     NULL, ASKS},
    {HF_ROUTE_SCHEDULE_TIMES,
     "/api/schedules/s/times?start_time=2026-01-01T00:00:00Z&end_time=2026-01-03T00:00:00Z", NULL,
     200, NULL, "schedule_id times.0.at", NULL, ASKS},
    {HF_ROUTE_SCHEDULE_DELETE, "/api/schedules/s", NULL, 204, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_ACTIVITY_START, "/api/activities",
     "{'activity_type':'reserve','task_queue':'default','activity_id':'a-1'}", 201, "activity",
     NULL, NULL, ASKS},
    {HF_ROUTE_ACTIVITIES, "/api/activities", NULL, 200, "activity-list", "activities", NULL, ASKS},
    {HF_ROUTE_ACTIVITY, "/api/activities/a-1", NULL, 200, "activity", NULL, NULL, ASKS},
    {HF_ROUTE_BRIDGE, "/api/bridge-adapters/webhook/shop",
     "{'action':'start_workflow','idempotency_key':'k','target':{'workflow_type':'order'}}", 202,
     "bridge-adapter-outcome", "outcome workflow_id", NULL, ASKS},
};

/* Runs of a workflow that is here. The schema of updates is of what the published command line
   makes of several answers: here is what it reads of this one. */
static const row run_rows[] = {
    ORDER("o-1", "run"),
    {HF_ROUTE_QUERY, "/api/workflows/o-1/query/state", "{}", 200, "workflow-query", QUERY, NULL,
     ASKS},
    {HF_ROUTE_RUN_QUERY, "/api/workflows/o-1/runs/$run/query/state", "{}", 200, "workflow-query",
     QUERY, NULL, ASKS},
    {HF_ROUTE_UPDATE, "/api/workflows/o-1/update/add", "{'input':[1]}", 200, NULL,
     COMMAND " " UPDATE, "update=update_id", ASKS},
    {HF_ROUTE_RUN_UPDATE, "/api/workflows/o-1/runs/$run/update/add", "{'input':[1]}", 200, NULL,
     COMMAND " " UPDATE, NULL, ASKS},
    {HF_ROUTE_UPDATE_SHOW, "/api/workflows/o-1/updates/$update", NULL, 200, NULL, UPDATE_LIFE, NULL,
     ASKS},
    {HF_ROUTE_RUN_UPDATE_SHOW, "/api/workflows/o-1/runs/$run/updates/$update", NULL, 200, NULL,
     UPDATE_LIFE, NULL, ASKS},
    {HF_ROUTE_LIST, "/api/workflows", NULL, 200, "workflow-list",
     "workflow_count next_page_token workflows.0.workflow_id " LISTED("workflows.0"), NULL, ASKS},
    {HF_ROUTE_DESCRIBE, "/api/workflows/o-1", NULL, 200, "workflow-run", RUN, NULL, ASKS},
    {HF_ROUTE_RUNS, "/api/workflows/o-1/runs", NULL, 200, "workflow-runs", LISTED("runs.0"), NULL,
     ASKS},
    {HF_ROUTE_DESCRIBE_RUN, "/api/workflows/o-1/runs/$run", NULL, 200, "workflow-run", RUN, NULL,
     ASKS},
    {HF_ROUTE_DEBUG, "/api/workflows/o-1/debug", NULL, 200, "workflow-debug", "why.text", NULL,
     ASKS},
    {HF_ROUTE_RUN_DEBUG, "/api/workflows/o-1/runs/$run/debug", NULL, 200, "workflow-debug",
     "why.text", NULL, ASKS},
    {HF_ROUTE_HISTORY, "/api/workflows/o-1/runs/$run/history", NULL, 200, "workflow-history",
     "events.0.sequence events.0.event_type", NULL, ASKS},
    {HF_ROUTE_EXPORT, "/api/workflows/o-1/runs/$run/history/export", NULL, 200, NULL,
     "integrity history_events workflow", NULL, ASKS},
    {HF_ROUTE_PAUSE, "/api/workflows/o-1/pause", "{}", 202, "workflow-operation", COMMAND, NULL,
     ASKS},
    {HF_ROUTE_RESUME, "/api/workflows/o-1/resume", "{}", 202, "workflow-operation", COMMAND, NULL,
     ASKS},
    {HF_ROUTE_FORK, "/api/workflows/o-1/fork", "{'step':0,'new_workflow_id':'f-1'}", 202,
     "workflow-operation", "outcome", NULL, ASKS},
    {HF_ROUTE_RUN_FORK, "/api/workflows/o-1/runs/$run/fork", "{'step':0,'new_workflow_id':'f-2'}",
     202, "workflow-operation", "outcome", NULL, ASKS},
    {HF_ROUTE_RESET, "/api/workflows/f-1/reset", "{'step':0}", 202, "workflow-operation", "outcome",
     NULL, ASKS},
    {HF_ROUTE_REPAIR, "/api/workflows/o-1/repair", "{}", 200, "workflow-operation", COMMAND, NULL,
     ASKS},
    {HF_ROUTE_RUN_REPAIR, "/api/workflows/o-1/runs/$run/repair", "{}", 200, "workflow-operation",
     COMMAND, NULL, ASKS},
    {HF_ROUTE_ME, "/console/api/me", NULL, 200, NULL,
     "principal can namespaces namespace server.version environment features", NULL, ASKS},
    {HF_ROUTE_LOGIN, "/console/api/login", "{'token':'x'}", 409, NULL, "message reason", NULL,
     ASKS}, /* with tokens: test_console_session.c */
    {HF_ROUTE_LOGIN_OPEN, "/console/login?link=x", NULL, 302, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_LOGIN_LINK, "/console/api/login-links", "{}", 201, NULL, "link url expires_at", NULL,
     ASKS},
    {HF_ROUTE_LOGOUT, "/console/api/logout", "{}", 200, NULL, "logged_out", NULL, ASKS},
    {HF_ROUTE_RUN_HEAD, "/console/api/runs/o-1", NULL, 200, NULL,
     "namespace workflow_id run_id status glyph why.text actions.signal.allowed counts.events "
     "shell.signal run_navigation.runs",
     NULL, ASKS},
    {HF_ROUTE_RUN_WINDOW, "/console/api/runs/o-1/events?limit=2", NULL, 200, NULL,
     "namespace run_id last_sequence events.0.summary next_after scanned_to", NULL, ASKS},
    {HF_ROUTE_RUN_WAITS, "/console/api/runs/o-1/waits", NULL, 200, NULL,
     "run_id waits.0.id waits.0.kind waits.0.sequence waits.0.source_line waits.0.status "
     "waits.0.source_status waits.0.summary waits.0.opened_at waits.0.deadline_at "
     "waits.0.resolved_at waits.0.target_name waits.0.target_type waits.0.external_only "
     "waits.0.resume_source_kind waits.0.task_backed waits.0.task_id "
     "waits.0.task_status",
     NULL, ASKS},
    {HF_ROUTE_RUN_COMMANDS, "/console/api/runs/o-1/commands", NULL, 200, NULL,
     "run_id commands.0.id commands.0.sequence commands.0.message_sequence commands.0.type "
     "commands.0.status commands.0.outcome commands.0.rejection_reason commands.0.target_name "
     "commands.0.source commands.0.accepted_at commands.0.applied_at commands.0.closed_at "
     "commands.0.context.principal commands.0.context.request commands.0.payload "
     "commands.0.reason commands.0.validation_errors signals updates",
     NULL, ASKS},
    {HF_ROUTE_RUN_ACTIVITIES, "/console/api/runs/o-1/activities", NULL, 200, NULL,
     "run_id activities.0.type activities.0.attempts", NULL, ASKS},
    {HF_ROUTE_RUN_TIMERS, "/console/api/runs/o-1/timers", NULL, 200, NULL, "run_id timers", NULL,
     ASKS},
    {HF_ROUTE_RUN_FAILURES, "/console/api/runs/o-1/failures", NULL, 200, NULL, "run_id failures",
     NULL, ASKS},
    {HF_ROUTE_RUN_TASKS, "/console/api/runs/o-1/tasks", NULL, 200, NULL, "run_id tasks", NULL,
     ASKS},
    {HF_ROUTE_RUN_STEP, "/console/api/runs/o-1/steps/1", NULL, 200, NULL,
     "run_id step bar.segments activity.type events.0.payload failures", NULL, ASKS},
    {HF_ROUTE_RUN_STATE, "/console/api/runs/o-1/state", NULL, 200, NULL,
     "run_id memo search_attributes notes queries", NULL, ASKS},
    {HF_ROUTE_RUN_LINEAGE, "/console/api/runs/o-1/lineage?depth=1", NULL, 200, NULL,
     "root nodes.0.run_id nodes.0.workflow_id nodes.0.workflow_type nodes.0.run_number "
     "nodes.0.status nodes.0.status_bucket nodes.0.glyph nodes.0.started_at nodes.0.closed_at "
     "nodes.0.relation nodes.0.depth nodes.0.failing nodes.0.closed_reason edges cut",
     NULL, ASKS},
    {HF_ROUTE_WHY, "/console/api/runs/o-1/why", NULL, 200, NULL,
     "workflow_id run_id status why.code why.severity why.text why.next", NULL, ASKS},
    {HF_ROUTE_TYPE_PAYLOADS, "/console/api/types/order/payloads?target=signal:paid", NULL, 200,
     NULL, "namespace type target payloads looked_at", NULL, ASKS},
    {HF_ROUTE_SNOOZE, "/console/api/attention/00ff/snooze", "{'seconds':60,'reason':'known'}", 200,
     NULL,
     "namespace signature snoozed.until snoozed.reason snoozed.by.id snoozed.by.label snoozed.at",
     NULL, ASKS},
    {HF_ROUTE_UNSNOOZE, "/console/api/attention/00ff/snooze", NULL, 200, NULL,
     "namespace signature snoozed", NULL, ASKS},
    {HF_ROUTE_RUN_PAYLOAD, "/console/api/runs/o-1/payloads?event=2&key=arguments", NULL, 200, NULL,
     "namespace run_id event key codec bytes size from to text", NULL, ASKS},
    {HF_ROUTE_RUN_REPLAY, "/console/api/runs/o-1/replay", "{}", 200, NULL, REPLAYED, NULL, ASKS},
    {HF_ROUTE_RUN_BLOCKED, "/console/api/runs/o-1/blocked", NULL, 200, NULL,
     "namespace workflow_id run_id workflow_type blocked who.here who.workers who.text shell", NULL,
     ASKS},
    {HF_ROUTE_SPANS, "/console/api/runs/o-1/spans?limit=10", NULL, 200, NULL, "namespace spans",
     NULL, ASKS},
    {HF_ROUTE_ATTENTION, "/console/api/attention", NULL, 200, NULL, "groups looked_at exact", NULL,
     ASKS},
    {HF_ROUTE_FAILURES, "/console/api/failures?since=2026-01-01T00:00:00Z", NULL, 200, NULL,
     "groups", NULL, ASKS},
    {HF_ROUTE_DURATIONS, "/console/api/metrics/durations?from=2026-01-01T00:00:00Z&points=4", NULL,
     200, NULL, "points types looked_at exact", NULL, ASKS},
    {HF_ROUTE_DEPLOYS, "/console/api/metrics/deploys?from=2026-01-01T00:00:00Z", NULL, 200, NULL,
     "deploys", NULL, ASKS},
    {HF_ROUTE_SERIES, "/console/api/metrics/series?step=hour", NULL, 200, NULL, "span points", NULL,
     ASKS},
    {HF_ROUTE_FILTERS, "/console/api/filters", NULL, 200, NULL, "version fields labels", NULL,
     ASKS},
    {HF_ROUTE_SUGGEST, "/console/api/query/suggest?q=type:ord", NULL, 200, NULL,
     "namespace start end suggestions.0.text suggestions.0.n suggestions.0.exact "
     "suggestions.0.help",
     NULL, ASKS},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views", "{'name':'kept','q':'is:open'}", 201, NULL,
     "id name q bucket filters shared owner yours count.n count.exact", "kept=id", ASKS},
    {HF_ROUTE_CONSOLE_VIEWS, "/console/api/views", NULL, 200, NULL,
     "namespace views.0.id views.0.count.n views.0.yours", NULL, ASKS},
    {HF_ROUTE_CONSOLE_VIEW_DROP, "/console/api/views/$kept", NULL, 204, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_CONSOLE_RUNS, "/console/api/runs?q=type:order&facets=status&total=true&hist=true",
     NULL, 200, NULL,
     "namespace items.0.workflow_id items.0.run_id items.0.run_number items.0.is_current_run "
     "items.0.workflow_type items.0.status items.0.status_bucket items.0.glyph "
     "items.0.closed_reason items.0.liveness_state items.0.wait_kind items.0.why.code "
     "items.0.why.severity items.0.why.text items.0.started_at items.0.closed_at "
     "items.0.updated_at items.0.duration_ms items.0.business_key items.0.queue "
     "items.0.compatibility items.0.visibility_labels items.0.search_attributes "
     "items.0.exception_count items.0.history_event_count items.0.history_size_bytes "
     "items.0.history_budget_pressure items.0.repair_attention items.0.task_problem "
     "items.0.archived_at items.0.failure_fingerprint cursor facets.status.values.0.value "
     "facets.status.values.0.n facets.status.exact total.n total.exact hist.from hist.step_seconds "
     "hist.open hist.over "
     "hist.failed hist.exact query.tokens "
     "query.errors query.filters query.view",
     NULL, ASKS},
    {HF_ROUTE_OVERVIEW, "/console/api/overview", NULL, 200, NULL,
     "generated_at attention.groups attention.runs attention.exact attention.top runs.open "
     "runs.completed runs.failed runs.exact rates.started_per_minute rates.closed_per_minute "
     "rates.failed_share rates.retries_per_minute rates.minutes backlog.ready backlog.leased "
     "backlog.oldest_ready_age_ms types.0.workflow_type types.0.open types.0.completed "
     "types.0.failed types_exact records.longest_open records.biggest_history counts.runs.n "
     "counts.workers counts.queues projections.needs_rebuild schedules.active health.status "
     "health.checks.0.name timers_next_hour.59 storage.backend storage.bytes",
     NULL, ASKS},
    {HF_ROUTE_STREAM, "/console/api/stream?topics=list", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_CHANGES, "/console/api/changes?topics=list,run:o-1", NULL, 200, NULL, "id changed",
     NULL, ASKS},
    {HF_ROUTE_CONSOLE_TYPES, "/console/api/types", NULL, 200, NULL, "types.0.type", NULL, ASKS},
    {HF_ROUTE_CONSOLE_TYPE, "/console/api/types/order", NULL, 200, NULL, "type kind", NULL, ASKS},
    {HF_ROUTE_CONSOLE_QUEUES, "/console/api/queues", NULL, 200, NULL, "queues", NULL, ASKS},
    {HF_ROUTE_CONSOLE_LIMITS, "/console/api/limits", NULL, 200, NULL, "limits exact", NULL, ASKS},
    {HF_ROUTE_CONSOLE_WORKERS, "/console/api/workers", NULL, 200, NULL, "workers", NULL, ASKS},
    {HF_ROUTE_CONSOLE_BUILDS, "/console/api/builds", NULL, 200, NULL, "builds", NULL, ASKS},
    {HF_ROUTE_PREFERENCE_PUT, "/console/api/me/preferences/runs", "{'value':{'dense':true}}", 200,
     NULL, "surface value.dense updated_at", NULL, ASKS},
    {HF_ROUTE_PREFERENCE, "/console/api/me/preferences/runs", NULL, 200, NULL,
     "surface value.dense updated_at", NULL, ASKS},
    {HF_ROUTE_SQL_SCHEMA, "/console/api/sql/schema", NULL, 200, NULL,
     "store views.0.columns limits.timeout_ms", NULL, ASKS},
    {HF_ROUTE_SQL, "/console/api/sql", "{'sql':'SELECT status FROM v_runs'}", 200, NULL,
     "columns.0 rows.0.0 elapsed_ms", NULL, ASKS},
    {HF_ROUTE_SIGNAL, "/api/workflows/o-1/signal/paid", "{}", 202, "workflow-signal", COMMAND, NULL,
     ASKS},
    {HF_ROUTE_RESULT, "/api/workflows/o-1/result?wait_timeout_seconds=60", NULL, 200, NULL,
     "status", NULL, ASKS},
    {HF_ROUTE_SETTLED, "/api/workflows/o-1/settled?wait_timeout_seconds=60&terminal=true", NULL,
     200, NULL, "state", NULL, ASKS},
    {HF_ROUTE_START_ALL, "/api/workflows/start-all",
     "{'starts':[{'workflow_type':'order','workflow_id':'all-1'},{'workflow_type':'order',"
     "'newer':1}]}",
     200, NULL, "answers.0.status answers.1.message", NULL, ASKS},
    {HF_ROUTE_RESERVE, "/api/workflows/reserve", "{'workflow_type':'order'}", 201, NULL,
     "workflow_id", NULL, ASKS},
    {HF_ROUTE_EVENTS, "/api/workflows/o-1/events", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_RUN_EVENTS, "/api/workflows/o-1/runs/$run/events", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_ARCHIVE, "/api/workflows/o-1/archive", "{}", 202, "workflow-operation", COMMAND, NULL,
     ASKS},
    ORDER("o-2", "run"),
    {HF_ROUTE_CANCEL, "/api/workflows/o-2/cancel", "{}", 202, "workflow-operation", COMMAND, NULL,
     ASKS},
    ORDER("o-3", "run"),
    {HF_ROUTE_RUN_CANCEL, "/api/workflows/o-3/runs/$run/cancel", "{}", 202, "workflow-operation",
     COMMAND, NULL, ASKS},
    ORDER("o-4", "run"),
    {HF_ROUTE_TERMINATE, "/api/workflows/o-4/terminate", "{}", 202, "workflow-operation", COMMAND,
     NULL, ASKS},
    ORDER("o-5", "run"),
    {HF_ROUTE_RUN_TERMINATE, "/api/workflows/o-5/runs/$run/terminate", "{}", 202,
     "workflow-operation", COMMAND, NULL, ASKS},
    {HF_ROUTE_RUN_ARCHIVE, "/api/workflows/o-5/runs/$run/archive", "{}", 202, "workflow-operation",
     COMMAND, NULL, ASKS},
    ORDER("o-6", "run"),
    {HF_ROUTE_RUN_SIGNAL, "/api/workflows/o-6/runs/$run/signal/paid", "{}", 202, "workflow-signal",
     COMMAND, NULL, ASKS},
    {HF_ROUTE_SIGNAL_WITH_START, "/api/workflows/signal-with-start",
     "{'workflow_type':'order','workflow_id':'o-7','signal_name':'paid'}", 202, "workflow-signal",
     COMMAND " " STARTED, NULL, ASKS},
    {HF_ROUTE_BATCH_START, "/api/batches", "{'command':'terminate','workflow_ids':['f-1','f-2']}",
     202, NULL, "batch_id", "batch=batch_id", ASKS},
    {HF_ROUTE_BATCHES, "/api/batches?limit=5", NULL, 200, NULL, "batches", NULL, ASKS},
    {HF_ROUTE_BATCH, "/api/batches/$batch", NULL, 200, NULL, "batch_id status", NULL, ASKS},
    {HF_ROUTE_BATCH_TURN, "/api/batches/$batch/abort", "{}", 200, NULL, NULL, NULL, ASKS},
    ORDER("o-9", "run"),
    {HF_ROUTE_APPROVALS, "/console/api/approvals?q=o-9", NULL, 200, NULL,
     "approvals.0.name approvals.0.summary", "approval=approvals.0.id", ASKS},
    {HF_ROUTE_APPROVAL_LINK, "/console/api/approvals/$approval/link", "{'label':'Ada'}", 201, NULL,
     "id label path url created_at expires_at", NULL, ASKS},
    {HF_ROUTE_APPROVAL_UNLINK, "/console/api/approvals/$approval/link", NULL, 200, NULL, "revoked",
     NULL, ASKS},
    {HF_ROUTE_APPROVAL_LINK, "/console/api/approvals/$approval/link", "{'label':'Ada'}", 201, NULL,
     NULL, "path=path", ASKS},
    {HF_ROUTE_ANSWER, "/$path", NULL, 200, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_ANSWER_SEND, "/$path", "value=1", 200, NULL, NULL, NULL, ASKS}};

/* A bundle that is opened and taken in; the case has it. */
#define IN_BUNDLE "/console/api/bundles/$b/run"
#define BUNDLE                                                                                     \
    "bundle.id bundle.name bundle.workflow_id bundle.run_id bundle.workflow_type bundle.events "   \
    "bundle.bytes bundle.complete bundle.ours bundle.exported_at bundle.redacted "                 \
    "bundle.verification.status bundle.verification.checksum bundle.verification.signature "       \
    "bundle.verification.findings bundle.opened_at bundle.expires_at"
static const row import_rows[] = {
    {HF_ROUTE_BUNDLES, "/console/api/bundles", NULL, 200, NULL,
     "bundles limits.bundles limits.bytes limits.memory_bytes limits.idle_seconds", NULL, ASKS},
    {HF_ROUTE_BUNDLE_OPEN, "/console/api/bundles?name=o-1.json", "@", 201, NULL, BUNDLE,
     "b=bundle.id", ASKS},
    {HF_ROUTE_BUNDLE, "/console/api/bundles/$b", NULL, 200, NULL, BUNDLE, NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_HEAD, IN_BUNDLE, NULL, 200, NULL,
     "namespace workflow_id run_id status why actions counts shell is_now bundle", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_WHY, IN_BUNDLE "/why", NULL, 200, NULL, "workflow_id run_id why", NULL,
     ASKS},
    {HF_ROUTE_BUNDLE_RUN_WINDOW, IN_BUNDLE "/events?limit=2", NULL, 200, NULL,
     "run_id last_sequence is_now events next_after previous_before scanned_to", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_SPANS, IN_BUNDLE "/spans?limit=10", NULL, 200, NULL,
     "spans.bars spans.barriers spans.left_out", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_WAITS, IN_BUNDLE "/waits", NULL, 200, NULL, "run_id waits left_out", NULL,
     ASKS},
    {HF_ROUTE_BUNDLE_RUN_COMMANDS, IN_BUNDLE "/commands", NULL, 200, NULL,
     "run_id commands signals updates", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_ACTIVITIES, IN_BUNDLE "/activities", NULL, 200, NULL, "run_id activities",
     NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_TIMERS, IN_BUNDLE "/timers", NULL, 200, NULL, "run_id timers", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_FAILURES, IN_BUNDLE "/failures", NULL, 200, NULL, "run_id failures", NULL,
     ASKS},
    {HF_ROUTE_BUNDLE_RUN_TASKS, IN_BUNDLE "/tasks", NULL, 200, NULL, "run_id tasks", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_STEP, IN_BUNDLE "/steps/1", NULL, 200, NULL,
     "run_id step bar activity wait timer child failures events", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_STATE, IN_BUNDLE "/state", NULL, 200, NULL,
     "run_id memo search_attributes visibility_labels machine notes queries", NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_LINEAGE, IN_BUNDLE "/lineage?depth=1", NULL, 200, NULL,
     "root nodes.0.run_id edges cut", NULL, ASKS},
    {HF_ROUTE_DIFF, "/console/api/diff?left_bundle=$b&right_bundle=$b&limit=2", NULL, 200, NULL,
     "namespace equal different first_difference type input output left.workflow_id left.bundle "
     "left.events left.steps left.closed_by right.run_id steps.0.step steps.0.state steps.0.first "
     "steps.0.left.kind steps.0.left.event steps.0.left.input steps.0.left.output next_after",
     NULL, ASKS},
    {HF_ROUTE_BUNDLE_RUN_PAYLOAD, IN_BUNDLE "/payloads?event=2&key=arguments", NULL, 200, NULL,
     "run_id event key codec bytes size from to text", NULL, ASKS},
    {HF_ROUTE_BUNDLE_REPLAY, "/console/api/bundles/$b/replay", "{}", 200, NULL,
     REPLAYED " ran.kind ran.build ran.elapsed_ms", NULL, ASKS},
    {HF_ROUTE_BUNDLE_IMPORT, "/console/api/bundles/$b/import", "{}", 201, NULL,
     "namespace imported run_id workflow_id workflow_type events complete", NULL, ASKS},
    {HF_ROUTE_BUNDLE_DROP, "/console/api/bundles/$b", NULL, 204, NULL, NULL, NULL, ASKS},
    {HF_ROUTE_IMPORTS, "/console/api/imports", NULL, 200, NULL,
     "imports.0.run_id imports.0.instance_id", "id=imports.0.run_id", ASKS},
    {HF_ROUTE_IMPORT, "/console/api/imports/$id", NULL, 200, NULL, "integrity history_events", NULL,
     ASKS},
};

/* A worker's life. */
static const row worker_rows[] = {
    {HF_ROUTE_WORKER_REGISTER, "/api/worker/register",
     "{'worker_id':'w1','task_queue':'far','build_id':'b1','runtime':'test','sdk_version':'1',"
     "'supported_workflow_types':['remote'],'supported_activity_types':['act'],"
     "'workflow_command_contracts':{'remote':{'queries':['total'],'updates':['set'],"
     "'update_validators':['set']}}}",
     200, NULL, "registered worker_id heartbeat_interval_seconds", NULL, ASKS},
    {HF_ROUTE_WORKER_HEARTBEAT, "/api/worker/heartbeat", "{'worker_id':'w1'}", 200, NULL,
     "acknowledged worker_id", NULL, ASKS},
    {HF_ROUTE_WORKERS, "/api/workers", NULL, 200, "worker-list", "workers.0.worker_id", NULL, ASKS},
    {HF_ROUTE_WORKER_SHOW, "/api/workers/w1", NULL, 200, "worker", "worker_id task_queue", NULL,
     ASKS},
    {HF_ROUTE_QUEUES, "/api/task-queues", NULL, 200, "task-queue-list", "task_queues", NULL, ASKS},
    {HF_ROUTE_QUEUE, "/api/task-queues/far", NULL, 200, "task-queue",
     "name stats admission pollers", NULL, ASKS},
    {HF_ROUTE_BUILDS, "/api/task-queues/far/build-ids", NULL, 200, "task-queue-build-ids",
     "build_ids.0.build_id", NULL, ASKS},
    {HF_ROUTE_BUILD_DRAIN, "/api/task-queues/far/build-ids/drain", "{'build_id':'old'}", 200,
     "task-queue-build-id-rollout", "drain_intent", NULL, ASKS},
    {HF_ROUTE_BUILD_RESUME, "/api/task-queues/far/build-ids/resume", "{'build_id':'old'}", 200,
     "task-queue-build-id-rollout", "drain_intent", NULL, ASKS},
    {HF_ROUTE_BUILD_PROMOTE, "/api/task-queues/far/build-ids/promote", "{'build_id':null}", 200,
     "task-queue-build-id-rollout", "promoted_at new_start_selected", NULL, ASKS},
    FAR("r-1"),
    POLL_WORK,
    {HF_ROUTE_TASK_HISTORY, "/api/worker/workflow-tasks/$task/history",
     "{'lease_owner':'w1','workflow_task_attempt':$n}", 200, "workflow-task-history",
     "history_events total_history_events next_history_page_token", NULL, ASKS},
    {HF_ROUTE_TASK_HEARTBEAT, "/api/worker/workflow-tasks/$task/heartbeat",
     "{'lease_owner':'w1','workflow_task_attempt':$n}", 200, NULL, "renewed can_continue", NULL,
     ASKS},
    {HF_ROUTE_QUEUE, "/api/task-queues/far", NULL, 200, "task-queue",
     "current_leases.0.task_id current_leases.0.lease_owner current_leases.0.lease_expires_at "
     "current_leases.0.workflow_id current_leases.0.attempt",
     NULL, ASKS},
    {HF_ROUTE_TASK_COMPLETE, "/api/worker/workflow-tasks/$task/complete",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'commands':[{'type':'schedule_activity',"
     "'activity_type':'act','queue':'far','retry_policy':{'max_attempts':2,'backoff_seconds':[0]}}"
     "]}",
     200, "workflow-task-result", "recorded task_id outcome", NULL, ASKS},
    {HF_ROUTE_POLL_ACTIVITY, "/api/worker/activity-tasks/poll", POLL, 200, NULL,
     POLLED " " LEASED " task.task_id task.activity_attempt_id task.arguments "
            "task.idempotency_key task.activity_type task.attempt",
     "task=task.task_id attempt=task.activity_attempt_id", ASKS},
    {HF_ROUTE_QUEUES, "/api/task-queues", NULL, 200, "task-queue-list",
     "task_queues.0.current_leases.0.type", NULL, ASKS},
    {HF_ROUTE_ATTEMPT_HEARTBEAT, "/api/worker/activity-tasks/$task/heartbeat",
     "{'lease_owner':'w1','activity_attempt_id':'$attempt','details':{'n':1}}", 200, NULL,
     "can_continue cancel_requested heartbeat_recorded", NULL, ASKS},
    {HF_ROUTE_ATTEMPT_FAIL, "/api/worker/activity-tasks/$task/fail",
     "{'lease_owner':'w1','activity_attempt_id':'$attempt','failure':{'message':'no'}}", 200,
     "activity-task-result", "recorded outcome", NULL, ASKS},
    {HF_ROUTE_POLL_ACTIVITY, "/api/worker/activity-tasks/poll", POLL, 200, NULL, POLLED,
     "task=task.task_id attempt=task.activity_attempt_id", ASKS},
    {HF_ROUTE_ATTEMPT_COMPLETE, "/api/worker/activity-tasks/$task/complete",
     "{'lease_owner':'w1','activity_attempt_id':'$attempt','result':1}", 200,
     "activity-task-result", "recorded outcome", NULL, ASKS},
    POLL_WORK,
    {HF_ROUTE_TASK_FAIL, "/api/worker/workflow-tasks/$task/fail",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'failure':{'message':'no'}}", 200,
     "workflow-task-result", "recorded outcome", NULL, ASKS},
    {HF_ROUTE_FAILURES, "/console/api/failures?state=open", NULL, 200, NULL,
     "groups.0.state.status groups.0.state.build groups.0.state.until groups.0.state.reason "
     "groups.0.state.by groups.0.state.at",
     "print=groups.0.fingerprint", ASKS},
    {HF_ROUTE_FAILURE, "/console/api/failures/$print", NULL, 200, NULL,
     "namespace group.fingerprint group.state.status samples builds", NULL, ASKS},
    {HF_ROUTE_FAILURE_RESOLVE, "/console/api/failures/$print/resolve",
     "{'build':'b2','reason':'done'}", 200, NULL, JUDGED, NULL, ASKS},
    {HF_ROUTE_FAILURE_IGNORE, "/console/api/failures/$print/ignore",
     "{'seconds':60,'reason':'known'}", 200, NULL, JUDGED, NULL, ASKS},
    {HF_ROUTE_FAILURE_REOPEN, "/console/api/failures/$print/reopen", "{}", 200, NULL, JUDGED, NULL,
     ASKS},
    FAR("r-2"),
    POLL_WORK,
    {HF_ROUTE_TASK_MESSAGES, "/api/worker/workflow-tasks/$task/messages",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'stream':'mail'}", 200, NULL, "messages", NULL,
     ASKS},
    {HF_ROUTE_TASK_DECIDE, "/api/worker/workflow-tasks/$task/decisions",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'decisions':[]}", 200, NULL,
     "recorded task_id", NULL, ASKS},
    FAR("r-3"),
    {HF_ROUTE_EXCHANGE, "/api/worker/exchange",
     "{'worker_id':'w1','exchange_id':'x1','task_queue':'far','workflow_slots':1,"
     "'history_format':'native'}",
     200, NULL, "reports tasks", NULL, ASKS},
    /* A worker shows itself, is asked something, answers, and whoever asked hears it. */
    {HF_ROUTE_POLL_QUERY, "/api/worker/query-tasks/poll",
     "{'worker_id':'w1','task_queue':'far','timeout_seconds':0}", 200, "query-task-poll", POLLED,
     NULL, ASKS},
    {HF_ROUTE_QUERY, "/api/workflows/r-2/query/total", "{}", 0, NULL, NULL, NULL, SENDS},
    {HF_ROUTE_POLL_QUERY, "/api/worker/query-tasks/poll", POLL, 200, "query-task-poll",
     POLLED " " LEASED " task.query_task_id task.query_name",
     "task=task.query_task_id n=task.query_task_attempt", ASKS},
    {HF_ROUTE_QUERY_COMPLETE, "/api/worker/query-tasks/$task/complete",
     "{'lease_owner':'w1','query_task_attempt':$n,'result':7}", 200, "query-task-result",
     "query_task_id outcome", NULL, ASKS},
    {HF_ROUTE_QUERY, NULL, NULL, 200, NULL, NULL, NULL, HEARS},
    {HF_ROUTE_QUERY, "/api/workflows/r-2/query/total", "{}", 0, NULL, NULL, NULL, SENDS},
    {HF_ROUTE_POLL_QUERY, "/api/worker/query-tasks/poll", POLL, 200, "query-task-poll", POLLED,
     "task=task.query_task_id n=task.query_task_attempt", ASKS},
    {HF_ROUTE_QUERY_FAIL, "/api/worker/query-tasks/$task/fail",
     "{'lease_owner':'w1','query_task_attempt':$n,'failure':{'message':'no','reason':"
     "'rejected_unknown_query'}}",
     200, "query-task-result", "query_task_id outcome", NULL, ASKS},
    {HF_ROUTE_QUERY, NULL, NULL, 404, NULL, NULL, NULL, HEARS},
    {HF_ROUTE_POLL_VALIDATION, "/api/worker/update-validation-tasks/poll",
     "{'worker_id':'w1','task_queue':'far','timeout_seconds':0}", 200, NULL, POLLED, NULL, ASKS},
    {HF_ROUTE_UPDATE, "/api/workflows/r-2/update/set", "{'input':[1],'wait_for':'accepted'}", 0,
     NULL, NULL, NULL, SENDS},
    {HF_ROUTE_POLL_VALIDATION, "/api/worker/update-validation-tasks/poll", POLL, 200, NULL,
     POLLED " task.update_validation_task_id task.update_name",
     "task=task.update_validation_task_id n=task.update_validation_attempt", ASKS},
    {HF_ROUTE_VALIDATION_APPROVE, "/api/worker/update-validation-tasks/$task/approve",
     "{'lease_owner':'w1','update_validation_attempt':$n}", 200, NULL,
     "update_validation_task_id outcome", NULL, ASKS},
    {HF_ROUTE_UPDATE, NULL, NULL, 202, NULL, NULL, NULL, HEARS},
    {HF_ROUTE_UPDATE, "/api/workflows/r-2/update/set", "{'input':[2],'wait_for':'accepted'}", 0,
     NULL, NULL, NULL, SENDS},
    {HF_ROUTE_POLL_VALIDATION, "/api/worker/update-validation-tasks/poll", POLL, 200, NULL, POLLED,
     "task=task.update_validation_task_id n=task.update_validation_attempt", ASKS},
    {HF_ROUTE_VALIDATION_REJECT, "/api/worker/update-validation-tasks/$task/reject",
     "{'lease_owner':'w1','update_validation_attempt':$n,'failure':{'message':'no'}}", 200, NULL,
     "update_validation_task_id outcome", NULL, ASKS},
    {HF_ROUTE_UPDATE, NULL, NULL, 422, NULL, NULL, NULL, HEARS},
    {HF_ROUTE_WORKER_DEREGISTER, "/api/worker/registrations/w1", NULL, 200, NULL,
     "worker_id outcome recovered_workflow_task_count", NULL, ASKS},
    {HF_ROUTE_WORKER_REGISTER, "/api/worker/register", "{'worker_id':'w2','task_queue':'far'}", 200,
     NULL, "registered", NULL, ASKS},
    {HF_ROUTE_WORKER_DELETE, "/api/workers/w2", NULL, 200, "worker-operation", "worker_id outcome",
     NULL, ASKS},
};

/* Webhooks; those of tasks have a case with everything that can happen to them in test_webhook.c.
 */
#define HOOK "/webhooks/instances/"
static const row hook_rows[] = {
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-1'}", 202, NULL, COMMAND,
     "run=run_id", ASKS},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/order/signals/paid", "{'workflow_id':'h-2'}", 202,
     NULL, COMMAND " " STARTED, NULL, ASKS},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'e-1','queue':'hooked'}", 202, NULL,
     "started workflow_instance_id workflow_run_id workflow_type outcome task_id reason", NULL,
     ASKS},
    {HF_ROUTE_HOOK_QUERY, HOOK "h-1/queries/state", "{}", 200, NULL, QUERY, NULL, ASKS},
    {HF_ROUTE_HOOK_RUN_QUERY, HOOK "h-1/runs/$run/queries/state", "{}", 200, NULL, QUERY, NULL,
     ASKS},
    {HF_ROUTE_HOOK_UPDATE, HOOK "h-1/updates/add", "{'arguments':[1]}", 200, NULL,
     COMMAND " " UPDATE, "update=update_id", ASKS},
    {HF_ROUTE_HOOK_RUN_UPDATE, HOOK "h-1/runs/$run/updates/add", "{'arguments':[1]}", 200, NULL,
     COMMAND " " UPDATE, NULL, ASKS},
    {HF_ROUTE_HOOK_UPDATE_SHOW, HOOK "h-1/updates/$update", NULL, 200, NULL, UPDATE_LIFE, NULL,
     ASKS},
    {HF_ROUTE_HOOK_RUN_UPDATE_SHOW, HOOK "h-1/runs/$run/updates/$update", NULL, 200, NULL,
     UPDATE_LIFE, NULL, ASKS},
    {HF_ROUTE_HOOK_DESCRIBE, HOOK "h-1/describe", NULL, 200, NULL, DESCRIBED, NULL, ASKS},
    {HF_ROUTE_HOOK_RUN_DESCRIBE, HOOK "h-1/runs/$run/describe", NULL, 200, NULL, DESCRIBED, NULL,
     ASKS},
    {HF_ROUTE_HOOK_REPAIR, HOOK "h-1/repair", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_RUN_REPAIR, HOOK "h-1/runs/$run/repair", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_SIGNAL, HOOK "h-1/signals/paid", "{}", 202, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_RESULT, "/api/workflows/h-1/result?wait_timeout_seconds=60", NULL, 200, NULL,
     "status", NULL, ASKS},
    {HF_ROUTE_HOOK_ARCHIVE, HOOK "h-1/archive", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-3'}", 202, NULL, COMMAND,
     "run=run_id", ASKS},
    {HF_ROUTE_HOOK_RUN_SIGNAL, HOOK "h-3/runs/$run/signals/paid", "{}", 202, NULL, COMMAND, NULL,
     ASKS},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-4'}", 202, NULL, COMMAND,
     NULL, ASKS},
    {HF_ROUTE_HOOK_CANCEL, HOOK "h-4/cancel", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-5'}", 202, NULL, COMMAND,
     "run=run_id", ASKS},
    {HF_ROUTE_HOOK_RUN_CANCEL, HOOK "h-5/runs/$run/cancel", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_RUN_ARCHIVE, HOOK "h-5/runs/$run/archive", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-6'}", 202, NULL, COMMAND,
     NULL, ASKS},
    {HF_ROUTE_HOOK_TERMINATE, HOOK "h-6/terminate", "{}", 200, NULL, COMMAND, NULL, ASKS},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'h-7'}", 202, NULL, COMMAND,
     "run=run_id", ASKS},
    {HF_ROUTE_HOOK_RUN_TERMINATE, HOOK "h-7/runs/$run/terminate", "{}", 200, NULL, COMMAND, NULL,
     ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_POLL, "/webhooks/workflow-tasks/poll?queue=hooked", NULL, 200, NULL,
     "tasks.0.task_id tasks.0.workflow_id tasks.0.type tasks.0.available_at",
     "task=tasks.0.task_id", ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, "/webhooks/workflow-tasks/$task/claim", "{}", 200, NULL,
     "claimed task_id workflow_instance_id workflow_run_id workflow_type history_events "
     "lease_owner "
     "lease_expires_at",
     "task=task_id", ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_HISTORY, "/webhooks/workflow-tasks/$task/history", NULL, 200, NULL,
     "history_events total_history_events", NULL, ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_HEARTBEAT, "/webhooks/workflow-tasks/$task/heartbeat", "{}", 200, NULL,
     "renewed can_continue", NULL, ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_COMPLETE, "/webhooks/workflow-tasks/$task/complete",
     "{'commands':[{'type':'schedule_activity','activity_type':'far','retry_policy':{"
     "'max_attempts':2,'backoff_seconds':[0]}}]}",
     200, NULL, REPORT, NULL, ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_POLL, "/webhooks/activity-tasks/poll?queue=hooked", NULL, 200, NULL,
     "tasks.0.task_id", "task=tasks.0.task_id", ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$task/claim", "{}", 200, NULL,
     "claimed task_id workflow_instance_id workflow_run_id activity_execution_id "
     "activity_attempt_id attempt_number activity_type activity_class idempotency_key "
     "payload_codec arguments arguments_envelope retry_policy connection queue lease_owner "
     "lease_expires_at reason reason_detail retry_after_seconds backend_error "
     "compatibility_reason",
     "attempt=activity_attempt_id", ASKS},
    {HF_ROUTE_HOOK_ATTEMPT, "/webhooks/activity-attempts/$attempt", NULL, 200, NULL, ATTEMPT, NULL,
     ASKS},
    {HF_ROUTE_HOOK_ATTEMPT_HEARTBEAT, "/webhooks/activity-attempts/$attempt/heartbeat", "{}", 200,
     NULL, ATTEMPT, NULL, ASKS},
    {HF_ROUTE_HOOK_ATTEMPT_FAIL, "/webhooks/activity-attempts/$attempt/fail", "{'failure':'no'}",
     200, NULL, REPORT, NULL, ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_POLL, "/webhooks/activity-tasks/poll?queue=hooked", NULL, 200, NULL,
     "tasks.0.task_id", "task=tasks.0.task_id", ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$task/claim", "{}", 200, NULL,
     "claimed", "attempt=activity_attempt_id", ASKS},
    {HF_ROUTE_HOOK_ATTEMPT_COMPLETE, "/webhooks/activity-attempts/$attempt/complete",
     "{'result':1}", 200, NULL, REPORT, NULL, ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_POLL, "/webhooks/workflow-tasks/poll?queue=hooked", NULL, 200, NULL,
     "tasks.0.task_id", "task=tasks.0.task_id", ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, "/webhooks/workflow-tasks/$task/claim", "{}", 200, NULL,
     "claimed", "task=task_id", ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_FAIL, "/webhooks/workflow-tasks/$task/fail", "{'failure':'no'}", 200,
     NULL, REPORT, NULL, ASKS},
};

typedef struct table {
    const row *rows;
    size_t count;
} table;

#define TABLE(rows)                                                                                \
    {                                                                                              \
        rows, sizeof(rows) / sizeof((rows)[0])                                                     \
    }
static const table tables[] = {TABLE(plain_rows), TABLE(run_rows), TABLE(import_rows),
                               TABLE(worker_rows), TABLE(hook_rows)};

/* ---- cases */

static void play_rows(hf_play *p, const table *t)
{
    for (size_t i = 0; i < t->count; i++)
        (void)hf_play_ask(p, &t->rows[i]);
}

static void play_open(hf_play *p, hf_engine_kind kind, const char *storage)
{
    hf_play_open(p, kind, &app,
                 (hf_server_options){.storage = storage, .webhook = {.mode = HF_WEBHOOK_NONE}});
}

/* The server, namespaces, schedules, passes, activities. */
HF_BOTH_ENGINES(plain_routes)
{
    char folder[] = "/tmp/hf-shape-XXXXXX";
    char command[64];
    hf_play p;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    play_open(&p, kind, folder);
    play_rows(&p, &tables[0]);
    hf_play_close(&p);
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Everything that can be asked of runs, and a bundle of one of them from another store. */
HF_BOTH_ENGINES(run_routes)
{
    hf_mem *mem = hf_mem_new();
    const char *bundle = NULL;
    hf_play p;

    play_open(&p, kind, NULL);
    play_rows(&p, &tables[1]);
    ck_assert_int_eq(
        hf_export_with(p.site.engine, mem, &bundle,
                       &(hf_export_opts){.size_ = sizeof(hf_export_opts), .id = "o-1"}),
        HF_OK);
    hf_play_close(&p);
    play_open(&p, kind, NULL);
    p.document = bundle;
    play_rows(&p, &tables[2]);
    hf_play_close(&p);
    hf_mem_free(mem);
}

/* The worker plane. */
HF_BOTH_ENGINES(worker_routes)
{
    hf_play p;

    play_open(&p, kind, NULL);
    play_rows(&p, &tables[3]);
    hf_play_close(&p);
}

HF_BOTH_ENGINES(webhook_routes)
{
    hf_play p;

    play_open(&p, kind, NULL);
    play_rows(&p, &tables[4]);
    hf_play_close(&p);
}

/* No route without a row: whoever adds one says here what it answers. */
START_TEST(every_route_has_a_shape)
{
    bool covered[HF_ROUTES] = {false};
    const hf_route *route;

    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (size_t i = 0; i < tables[t].count; i++)
            covered[tables[t].rows[i].route] |= tables[t].rows[i].how == ASKS;
    for (size_t i = 0; (route = hf_route_at(i)); i++)
        ck_assert_msg(covered[route->id], "no row covers %s %s", hf_http_method_text(route->method),
                      route->path);
}
END_TEST

HF_PG_SUITE_MAIN("server/shape", HF_BOTH(plain_routes), HF_BOTH_SLOW(run_routes, 120),
                 HF_BOTH_SLOW(worker_routes, 120), HF_BOTH_SLOW(webhook_routes, 120),
                 {every_route_has_a_shape, 0})
