/* error_rows.h: which errors each route can answer, and what leads to them: the tables of
   test_error.c and the application that they are about. Statuses that any route answers are not
   here. How rows are written is said in lib/play.h. */
#ifndef HF_TEST_SERVER_ERROR_ROWS_H
#define HF_TEST_SERVER_ERROR_ROWS_H

#include "lib/handlers.h"
#include "lib/play.h"

/* ---- an application whose messages have contracts */

static hf_value order(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "paid");
}

static const hf_app app = {
    .name = "orders",
    .workflows = (const hf_workflow_def[]){
        {.type = "order",
         .run = order,
         .signals = (const hf_signal_def[]){{"paid", "amount:int"}, {"note", NULL}, {0}},
         .updates = (const hf_update_def[]){{"add", "n:int", hf_update_echo, NULL},
                                            {"keep", NULL, hf_update_echo, NULL},
                                            {0}},
         .queries = (const hf_query_def[]){{"state", "depth:int?=1", hf_query_open}, {0}}},
        {0}}};

/* ---- the tables */

typedef struct row {
    hf_route_id route;
    const char *path;
    const char *body; /* NULL: none */
    int status;
    const char *reason;
    const char *field; /* that the answer finds at fault; NULL: none */
} row;

#define NO_ID     "01ARZ3NDEKTSV4RRFFQ69G5FAV"
#define WORKFLOWS "/api/workflows/"
#define HOOKS     "/webhooks/instances/"

/* What belongs to no run. */
static const hf_play_row plain_setup[] = {
    {HF_ROUTE_VIEW_SAVE, "/api/views", "{'name':'mine','bucket':'running','shared':true}", 201,
     NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_ATTRIBUTE_CREATE, "/api/search-attributes", "{'name':'team','type':'keyword'}", 201,
     NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules",
     "{'schedule_id':'s','spec':{'cron_expressions':['0 3 * * *']},'action':{'workflow_type':"
     "'order'}}",
     201, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules",
     "{'schedule_id':'t','spec':{'cron_expressions':['0 3 * * *']},'action':{'workflow_type':"
     "'order'}}",
     201, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_SCHEDULES, "/api/schedules?page_size=1", NULL, 200, NULL, NULL,
     "page=next_page_token", HF_PLAY_ASKS},
    {HF_ROUTE_ACTIVITY_START, "/api/activities",
     "{'activity_type':'far','task_queue':'far','activity_id':'a-1'}", 201, NULL, NULL, NULL,
     HF_PLAY_ASKS},
};

#define BUNDLE_RUN(id, part, parameter)                                                            \
    {id, "/console/api/bundles/none/run" part, NULL, 404, "bundle_not_found", NULL},               \
    {                                                                                              \
        id, "/console/api/bundles/none/run" part "?" parameter "=0", NULL, 422,                    \
            "validation_failed", parameter                                                         \
    }
static const row plain_rows[] = {
    {HF_ROUTE_DIFF, "/console/api/diff?left=none&right=none", NULL, 404, "instance_not_found",
     NULL},
    {HF_ROUTE_DIFF, "/console/api/diff?left=none", NULL, 422, "validation_failed", "right"},
    {HF_ROUTE_TYPE_PAYLOADS, "/console/api/types/order/payloads?target=query:x", NULL, 422,
     "validation_failed", "target"},
    {HF_ROUTE_SNOOZE, "/console/api/attention/no-group/snooze", "{'seconds':1,'reason':'x'}", 404,
     "group_not_found", NULL},
    {HF_ROUTE_SNOOZE, "/console/api/attention/00ff/snooze", "{'seconds':0,'reason':'x'}", 422,
     "validation_failed", "seconds"},
    {HF_ROUTE_UNSNOOZE, "/console/api/attention/no-group/snooze", NULL, 404, "group_not_found",
     NULL},
    {HF_ROUTE_FAILURES, "/console/api/failures?state=gone", NULL, 422, "validation_failed",
     "state"},
    {HF_ROUTE_FAILURE, "/console/api/failures/00ff", NULL, 404, "failure_not_found", NULL},
    {HF_ROUTE_FAILURE_RESOLVE, "/console/api/failures/00ff/resolve", "{}", 404, "failure_not_found",
     NULL},
    {HF_ROUTE_FAILURE_RESOLVE, "/console/api/failures/00ff/resolve", "{'build':7}", 422,
     "validation_failed", "build"},
    {HF_ROUTE_FAILURE_IGNORE, "/console/api/failures/00ff/ignore", "{'reason':'x'}", 404,
     "failure_not_found", NULL},
    {HF_ROUTE_FAILURE_IGNORE, "/console/api/failures/00ff/ignore", "{'seconds':0,'reason':'x'}",
     422, "validation_failed", "seconds"},
    {HF_ROUTE_FAILURE_REOPEN, "/console/api/failures/00ff/reopen", "{}", 404, "failure_not_found",
     NULL},
    {HF_ROUTE_RUN_PAYLOAD, "/console/api/runs/none/payloads?event=1&key=x", NULL, 404,
     "instance_not_found", NULL},
    {HF_ROUTE_RUN_PAYLOAD, "/console/api/runs/none/payloads?event=0&key=x", NULL, 422,
     "validation_failed", "event"},
    {HF_ROUTE_RUN_PAYLOAD, "/console/api/runs/none/payloads?event=1", NULL, 422,
     "validation_failed", "key"},
    {HF_ROUTE_BUNDLE_RUN_PAYLOAD, "/console/api/bundles/none/run/payloads?event=1&key=x", NULL, 404,
     "bundle_not_found", NULL},
    {HF_ROUTE_BUNDLE_RUN_PAYLOAD, "/console/api/bundles/none/run/payloads?event=0&key=x", NULL, 422,
     "validation_failed", "event"},
    {HF_ROUTE_RUN_REPLAY, "/console/api/runs/none/replay", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_BLOCKED, "/console/api/runs/none/blocked", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_BUNDLE_REPLAY, "/console/api/bundles/none/replay", "{}", 404, "bundle_not_found",
     NULL},
    {HF_ROUTE_BUNDLE_OPEN, "/console/api/bundles", "{}", 422, "bundle_unreadable", "bundle"},
    {HF_ROUTE_BUNDLE, "/console/api/bundles/none", NULL, 404, "bundle_not_found", NULL},
    {HF_ROUTE_BUNDLE_DROP, "/console/api/bundles/none", NULL, 404, "bundle_not_found", NULL},
    {HF_ROUTE_BUNDLE_IMPORT, "/console/api/bundles/none/import", "{}", 404, "bundle_not_found",
     NULL},
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_HEAD, "", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_WHY, "/why", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_WINDOW, "/events", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_SPANS, "/spans", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_WAITS, "/waits", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_COMMANDS, "/commands", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_ACTIVITIES, "/activities", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_TIMERS, "/timers", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_FAILURES, "/failures", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_TASKS, "/tasks", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_STEP, "/steps/1", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_STATE, "/state", "at"),
    BUNDLE_RUN(HF_ROUTE_BUNDLE_RUN_LINEAGE, "/lineage", "depth"),
    {HF_ROUTE_PAGE, "/console/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18", NULL, 404, "not_found",
     NULL},
    {HF_ROUTE_NAMESPACE, "/api/namespaces/nowhere", NULL, 404, "namespace_not_found", NULL},
    {HF_ROUTE_NAMESPACE_CREATE, "/api/namespaces", "{'name':'default'}", 422, "validation_failed",
     "name"},
    {HF_ROUTE_NAMESPACE_CREATE, "/api/namespaces", "{'name':'a','retention_days':0}", 422,
     "validation_failed", "retention_days"},
    {HF_ROUTE_NAMESPACE_SET, "/api/namespaces/nowhere", "{}", 404, "namespace_not_found", NULL},
    {HF_ROUTE_NAMESPACE_SET, "/api/namespaces/default", "{'retention_days':0}", 422,
     "validation_failed", "retention_days"},
    {HF_ROUTE_STORAGE_SET, "/api/namespaces/nowhere/external-storage", "{'driver':'local'}", 404,
     "namespace_not_found", NULL},
    {HF_ROUTE_STORAGE_SET, "/api/namespaces/default/external-storage", "{'driver':'s3'}", 422,
     "validation_failed", "driver"},
    {HF_ROUTE_STORAGE_SET, "/api/namespaces/default/external-storage",
     "{'driver':'local','threshold_bytes':0}", 422, "validation_failed", "threshold_bytes"},
    {HF_ROUTE_STORAGE_SET, "/api/namespaces/default/external-storage",
     "{'driver':'local','config':{'directory':'/etc'}}", 422, "validation_failed", "config"},
    {HF_ROUTE_STORAGE_TEST, "/api/storage/test", "{'large_payload_bytes':0}", 422,
     "validation_failed", "large_payload_bytes"},
    {HF_ROUTE_TOKEN_CREATE, "/api/tokens", "{'role':'boss'}", 422, "validation_failed", "role"},
    {HF_ROUTE_TOKEN_REVOKE, "/api/tokens/none", NULL, 404, "token_not_found", NULL},
    {HF_ROUTE_VIEW_SAVE, "/api/views", "{'name':'mine','bucket':'running'}", 409,
     "view_already_exists", NULL},
    {HF_ROUTE_VIEW_SAVE, "/api/views", "{'name':'other','bucket':'none'}", 422, "validation_failed",
     NULL},
    {HF_ROUTE_VIEW_DELETE, "/api/views/none", NULL, 404, "view_not_found", NULL},
    {HF_ROUTE_ATTRIBUTE_CREATE, "/api/search-attributes", "{'name':'team','type':'keyword'}", 409,
     "search_attribute_already_exists", NULL},
    {HF_ROUTE_ATTRIBUTE_CREATE, "/api/search-attributes", "{'name':'team','type':'colour'}", 422,
     "validation_failed", "type"},
    {HF_ROUTE_ATTRIBUTE_CREATE, "/api/search-attributes", "{'name':'not a name','type':'int'}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_ATTRIBUTE_DELETE, "/api/search-attributes/none", NULL, 404,
     "search_attribute_not_found", NULL},
    {HF_ROUTE_TIMEOUT_PASS, "/api/system/activity-timeouts/pass", "{'limit':0}", 422,
     "validation_failed", "limit"},
    {HF_ROUTE_RETENTION_PASS, "/api/system/retention/pass", "{'limit':0}", 422, "validation_failed",
     "limit"},
    {HF_ROUTE_RETENTION_PASS, "/api/system/retention/pass", "{'run_ids':['x']}", 422,
     "validation_failed", "run_ids"},
    {HF_ROUTE_SCHEDULES, "/api/schedules?next_page_token=x", NULL, 400,
     "malformed_schedule_page_token", "next_page_token"},
    {HF_ROUTE_SCHEDULES, "/api/schedules?status=paused&next_page_token=$page", NULL, 409,
     "schedule_page_token_filter_mismatch", "next_page_token"},
    {HF_ROUTE_SCHEDULES, "/api/schedules?status=sleeping", NULL, 422, "validation_failed",
     "status"},
    {HF_ROUTE_SCHEDULES, "/api/schedules?page_size=0", NULL, 422, "validation_failed", "page_size"},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules",
     "{'schedule_id':'s','spec':{'cron_expressions':['0 3 * * *']},'action':{'workflow_type':"
     "'order'}}",
     409, "schedule_already_exists", NULL},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules", "{'spec':{},'action':{}}", 422,
     "validation_failed", "action.workflow_type"},
    {HF_ROUTE_SCHEDULE_CREATE, "/api/schedules",
     "{'spec':{'cron_expressions':['never']},'action':{'workflow_type':'order'}}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_SCHEDULE, "/api/schedules/none", NULL, 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_UPDATE, "/api/schedules/none", "{}", 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_UPDATE, "/api/schedules/s", "{'spec':{'cron_expressions':['never']}}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_SCHEDULE_DELETE, "/api/schedules/none", NULL, 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_HISTORY, "/api/schedules/none/history", NULL, 404, "schedule_not_found",
     NULL},
    {HF_ROUTE_SCHEDULE_HISTORY, "/api/schedules/s/history?limit=0", NULL, 422, "validation_failed",
     "limit"},
    {HF_ROUTE_SCHEDULE_HISTORY, "/api/schedules/s/history?after_sequence=x", NULL, 422,
     "invalid_after_sequence", NULL},
    {HF_ROUTE_SCHEDULE_TIMES,
     "/api/schedules/none/times?start_time=2026-01-01T00:00:00Z&end_time=2026-01-03T00:00:00Z",
     NULL, 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_TIMES, "/api/schedules/s/times?start_time=soon", NULL, 422,
     "validation_failed", "start_time"},
    {HF_ROUTE_SCHEDULE_PAUSE, "/api/schedules/none/pause", "{}", 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_RESUME, "/api/schedules/none/resume", "{}", 404, "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_TRIGGER, "/api/schedules/none/trigger", "{}", 404, "schedule_not_found",
     NULL},
    {HF_ROUTE_SCHEDULE_TRIGGER, "/api/schedules/s/trigger", "{'overlap_policy':'perhaps'}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_SCHEDULE_BACKFILL, "/api/schedules/none/backfill",
     "{'start_time':'2026-01-01T00:00:00Z','end_time':'2026-01-03T00:00:00Z'}", 404,
     "schedule_not_found", NULL},
    {HF_ROUTE_SCHEDULE_BACKFILL, "/api/schedules/s/backfill",
     "{'start_time':'2026-01-03T00:00:00Z','end_time':'2026-01-01T00:00:00Z'}", 422,
     "invalid_time_range", NULL},
    {HF_ROUTE_SCHEDULE_BACKFILL, "/api/schedules/s/backfill",
     "{'start_time':'soon','end_time':'2026-01-01T00:00:00Z'}", 422, "validation_failed",
     "start_time"},
    {HF_ROUTE_ACTIVITIES, "/api/activities?next_page_token=x", NULL, 400, "invalid_page_token",
     NULL},
    {HF_ROUTE_ACTIVITIES, "/api/activities?page_size=0", NULL, 422, "validation_failed",
     "page_size"},
    {HF_ROUTE_ACTIVITY_START, "/api/activities",
     "{'activity_type':'far','task_queue':'far','activity_id':'a-1'}", 409, "duplicate_start",
     NULL},
    {HF_ROUTE_ACTIVITY_START, "/api/activities",
     "{'activity_type':'far','task_queue':'far','input':'#'}", 413, "payload_too_large", NULL},
    {HF_ROUTE_ACTIVITY_START, "/api/activities",
     "{'activity_type':'far','task_queue':'far','input':{'codec':'avro','blob':'?'}}", 422,
     "validation_failed", "input"},
    {HF_ROUTE_ACTIVITY, "/api/activities/none", NULL, 404, "activity_not_found", NULL},
    {HF_ROUTE_BRIDGE, "/api/bridge-adapters/webhook/shop",
     "{'action':'dance','idempotency_key':'k','target':{}}", 422, "unsupported_action", NULL},
    {HF_ROUTE_BRIDGE, "/api/bridge-adapters/webhook/shop",
     "{'action':'start_workflow','idempotency_key':'k','target':{}}", 422, "invalid_target", NULL},
    {HF_ROUTE_BRIDGE, "/api/bridge-adapters/webhook/shop",
     "{'action':'signal_workflow','idempotency_key':'k','target':{'workflow_id':'none',"
     "'signal_name':'paid'}}",
     422, "instance_not_found", NULL},
    {HF_ROUTE_LOGIN, "/console/api/login", "{'token':'x'}", 409, "login_not_needed", NULL},
    {HF_ROUTE_CONSOLE_RUNS, "/console/api/runs?view=nothing", NULL, 404, "view_not_found", NULL},
    {HF_ROUTE_SUGGEST, "/console/api/query/suggest?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views",
     "{'name':'mine','q':'is:open','bucket':'running','shared':true}", 409, "view_already_exists",
     NULL},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views",
     "{'id':'system:running','name':'x','q':'is:open'}", 403, "forbidden", NULL},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views", "{'name':'x'}", 422, "validation_failed",
     "q"},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views", "{'name':'x','q':'tpye:x'}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_CONSOLE_VIEW_PUT, "/console/api/views", "{'id':'" NO_ID "','name':'x','q':'a'}", 404,
     "view_not_found", NULL},
    {HF_ROUTE_CONSOLE_VIEW_DROP, "/console/api/views/none", NULL, 404, "view_not_found", NULL},
    {HF_ROUTE_CONSOLE_VIEW_DROP, "/console/api/views/system:running", NULL, 403, "forbidden", NULL},
    {HF_ROUTE_CONSOLE_RUNS, "/console/api/runs?limit=0", NULL, 422, "validation_failed", "limit"},
    {HF_ROUTE_STREAM, "/console/api/stream?topics=colour", NULL, 422, "validation_failed",
     "topics"},
    {HF_ROUTE_CHANGES, "/console/api/changes?topics=colour", NULL, 422, "validation_failed",
     "topics"},
    {HF_ROUTE_ATTENTION, "/console/api/attention?limit=0", NULL, 422, "validation_failed", "limit"},
    {HF_ROUTE_FAILURES, "/console/api/failures?since=soon", NULL, 422, "validation_failed",
     "since"},
    {HF_ROUTE_DURATIONS, "/console/api/metrics/durations?from=9&to=9", NULL, 422,
     "validation_failed", "to"},
    {HF_ROUTE_DURATIONS, "/console/api/metrics/durations?points=241", NULL, 422,
     "validation_failed", "points"},
    {HF_ROUTE_DEPLOYS, "/console/api/metrics/deploys?from=9&to=8", NULL, 422, "validation_failed",
     "to"},
    {HF_ROUTE_SERIES, "/console/api/metrics/series?from=soon", NULL, 422, "validation_failed",
     "from"},
    {HF_ROUTE_SERIES, "/console/api/metrics/series?step=year", NULL, 422, "validation_failed",
     NULL},
    {HF_ROUTE_IMPORTS, "/console/api/imports?limit=0", NULL, 422, "validation_failed", "limit"},
    {HF_ROUTE_IMPORT, "/console/api/imports/" NO_ID, NULL, 404, "import_not_found", NULL},
    {HF_ROUTE_CONSOLE_TYPE, "/console/api/types/none", NULL, 404, "type_not_found", NULL},
    {HF_ROUTE_PREFERENCE, "/console/api/me/preferences/A", NULL, 422, "validation_failed",
     "surface"},
    {HF_ROUTE_PREFERENCE_PUT, "/console/api/me/preferences/a", "{'value':[]}", 422,
     "validation_failed", "value"},
    {HF_ROUTE_SQL, "/console/api/sql", "{'sql':'drop table run'}", 422, "validation_failed", "sql"},
    {HF_ROUTE_APPROVALS, "/console/api/approvals?limit=0", NULL, 422, "validation_failed", "limit"},
    {HF_ROUTE_APPROVAL_LINK, "/console/api/approvals/x/link", "{'label':'A'}", 404,
     "approval_not_found", NULL},
    {HF_ROUTE_APPROVAL_LINK, "/console/api/approvals/x/link", "{}", 422, "validation_failed",
     "label"},
    {HF_ROUTE_APPROVAL_UNLINK, "/console/api/approvals/x/link", NULL, 404, "approval_not_found",
     NULL},
    {HF_ROUTE_BATCH_START, "/api/batches", "{'command':'dance','workflow_ids':['a']}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_BATCH_START, "/api/batches", "{'command':'cancel','view':'none'}", 404,
     "view_not_found", NULL},
    {HF_ROUTE_BATCHES, "/api/batches?limit=0", NULL, 422, "validation_failed", NULL},
    {HF_ROUTE_BATCH, "/api/batches/" NO_ID, NULL, 404, "batch_not_found", NULL},
    {HF_ROUTE_BATCH_TURN, "/api/batches/" NO_ID "/pause", "{}", 404, "batch_not_found", NULL},
    {HF_ROUTE_BATCH_TURN, "/api/batches/" NO_ID "/dance", "{}", 404, "not_found", NULL},
    {HF_ROUTE_WORKER_SHOW, "/api/workers/none", NULL, 404, "worker_not_found", NULL},
    {HF_ROUTE_WORKER_DELETE, "/api/workers/none", NULL, 404, "worker_not_found", NULL},
    {HF_ROUTE_BUILD_DRAIN, "/api/task-queues/far/build-ids/drain", "{'build_id':1}", 422,
     "validation_failed", "build_id"},
    {HF_ROUTE_BUILD_PROMOTE, "/api/task-queues/far/build-ids/promote", "{'build_id':1}", 422,
     "validation_failed", "build_id"},
    {HF_ROUTE_BUILD_PROMOTE, "/api/task-queues/far/build-ids/promote", "{'build_id':'none'}", 404,
     "build_not_found", NULL},
    {HF_ROUTE_BUILD_RESUME, "/api/task-queues/far/build-ids/resume", "{'build_id':1}", 422,
     "validation_failed", "build_id"},
};

/* An open run, a closed one, one whose workflow went on in another, one whose code is elsewhere. */
static const hf_play_row run_setup[] = {
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'open'}", 201, NULL,
     NULL, "open=run_id", HF_PLAY_ASKS},
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'done'}", 201, NULL,
     NULL, "done=run_id", HF_PLAY_ASKS},
    {HF_ROUTE_TERMINATE, WORKFLOWS "done/terminate", "{}", 202, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'two'}", 201, NULL,
     NULL, "old=run_id", HF_PLAY_ASKS},
    {HF_ROUTE_RESET, WORKFLOWS "two/reset", "{'step':0}", 202, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'far','queue':'far'}", 202, NULL, NULL,
     "far=workflow_run_id", HF_PLAY_ASKS},
};

/* Of a command to the newest run and to one run: unknown ones, closed ones, former ones. */
#define ORDERED(id, run_id, word)                                                                  \
    {id, WORKFLOWS "none/" word, "{}", 404, "instance_not_found", NULL},                           \
        {id, WORKFLOWS "done/" word, "{}", 409, "run_not_active", NULL},                           \
        {run_id, WORKFLOWS "open/runs/" NO_ID "/" word, "{}", 404, "run_not_found", NULL},         \
    {                                                                                              \
        run_id, WORKFLOWS "two/runs/$old/" word, "{}", 409, "historical_run_command_rejected",     \
            NULL                                                                                   \
    }
#define HOOK_ORDERED(id, run_id, word)                                                             \
    {id, HOOKS "none/" word, "{}", 404, "instance_not_found", NULL},                               \
        {id, HOOKS "done/" word, "{}", 409, "run_not_active", NULL},                               \
        {run_id, HOOKS "open/runs/" NO_ID "/" word, "{}", 404, "run_not_found", NULL},             \
    {                                                                                              \
        run_id, HOOKS "two/runs/$old/" word, "{}", 409, "historical_run_command_rejected", NULL    \
    }
static const row run_rows[] = {
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'open'}", 409,
     "duplicate_start", NULL},
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','input':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_START, "/api/workflows", "{'workflow_type':'order','workflow_id':'not an id'}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_START, "/api/workflows",
     "{'workflow_type':'order','input':{'codec':'avro','blob':'?'}}", 422, "validation_failed",
     "input"},
    {HF_ROUTE_SIGNAL_WITH_START, "/api/workflows/signal-with-start",
     "{'workflow_type':'order','workflow_id':'new','signal_name':'none'}", 404, "unknown_signal",
     NULL},
    {HF_ROUTE_SIGNAL_WITH_START, "/api/workflows/signal-with-start",
     "{'workflow_type':'none','workflow_id':'new','signal_name':'paid'}", 409,
     "workflow_definition_unavailable", NULL},
    {HF_ROUTE_SIGNAL_WITH_START, "/api/workflows/signal-with-start",
     "{'workflow_type':'order','workflow_id':'new','signal_name':'note','signal_input':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_SIGNAL_WITH_START, "/api/workflows/signal-with-start",
     "{'workflow_type':'order','workflow_id':'new','signal_name':'paid','signal_input':['much']}",
     422, "invalid_signal_arguments", NULL},
    {HF_ROUTE_SIGNAL, WORKFLOWS "none/signal/paid", "{'input':[1]}", 404, "instance_not_found",
     NULL},
    {HF_ROUTE_SIGNAL, WORKFLOWS "open/signal/none", "{}", 404, "unknown_signal", NULL},
    {HF_ROUTE_SIGNAL, WORKFLOWS "done/signal/paid", "{'input':[1]}", 409, "run_not_active", NULL},
    {HF_ROUTE_SIGNAL, WORKFLOWS "open/signal/note", "{'input':['#']}", 413, "payload_too_large",
     NULL},
    {HF_ROUTE_SIGNAL, WORKFLOWS "open/signal/paid", "{'input':['much']}", 422,
     "invalid_signal_arguments", "amount"},
    {HF_ROUTE_RUN_SIGNAL, WORKFLOWS "open/runs/" NO_ID "/signal/paid", "{'input':[1]}", 404,
     "run_not_found", NULL},
    {HF_ROUTE_RUN_SIGNAL, WORKFLOWS "two/runs/$old/signal/paid", "{'input':[1]}", 409,
     "historical_run_command_rejected", NULL},
    {HF_ROUTE_RUN_SIGNAL, WORKFLOWS "open/runs/$open/signal/note", "{'input':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_RUN_SIGNAL, WORKFLOWS "open/runs/$open/signal/paid", "{'input':['much']}", 422,
     "invalid_signal_arguments", "amount"},
    {HF_ROUTE_UPDATE, WORKFLOWS "none/update/add", "{'input':[1]}", 404, "instance_not_found",
     NULL},
    {HF_ROUTE_UPDATE, WORKFLOWS "open/update/none", "{}", 404, "unknown_update", NULL},
    {HF_ROUTE_UPDATE, WORKFLOWS "done/update/add", "{'input':[1]}", 409, "run_not_active", NULL},
    {HF_ROUTE_UPDATE, WORKFLOWS "open/update/keep", "{'input':['#']}", 413, "payload_too_large",
     NULL},
    {HF_ROUTE_UPDATE, WORKFLOWS "open/update/add", "{'input':['much']}", 422,
     "invalid_update_arguments", "n"},
    {HF_ROUTE_UPDATE, WORKFLOWS "open/update/add", "{'input':[1],'wait_timeout_seconds':0}", 422,
     "validation_failed", "wait_timeout_seconds"},
    {HF_ROUTE_RUN_UPDATE, WORKFLOWS "open/runs/" NO_ID "/update/add", "{'input':[1]}", 404,
     "run_not_found", NULL},
    {HF_ROUTE_RUN_UPDATE, WORKFLOWS "two/runs/$old/update/add", "{'input':[1]}", 409,
     "historical_run_command_rejected", NULL},
    {HF_ROUTE_RUN_UPDATE, WORKFLOWS "open/runs/$open/update/keep", "{'input':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_RUN_UPDATE, WORKFLOWS "open/runs/$open/update/add", "{'input':['much']}", 422,
     "invalid_update_arguments", "n"},
    {HF_ROUTE_UPDATE_SHOW, WORKFLOWS "open/updates/" NO_ID, NULL, 404, "update_not_found", NULL},
    {HF_ROUTE_RUN_UPDATE_SHOW, WORKFLOWS "open/runs/$open/updates/" NO_ID, NULL, 404,
     "update_not_found", NULL},
    {HF_ROUTE_QUERY, WORKFLOWS "none/query/state", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_QUERY, WORKFLOWS "open/query/none", "{}", 404, "query_not_found", NULL},
    {HF_ROUTE_QUERY, WORKFLOWS "far/query/state", "{}", 409, "workflow_definition_unavailable",
     NULL},
    {HF_ROUTE_QUERY, WORKFLOWS "open/query/state", "{'input':['deep']}", 422,
     "invalid_query_arguments", "depth"},
    {HF_ROUTE_RUN_QUERY, WORKFLOWS "open/runs/" NO_ID "/query/state", "{}", 404, "run_not_found",
     NULL},
    {HF_ROUTE_RUN_QUERY, WORKFLOWS "far/runs/$far/query/state", "{}", 409,
     "workflow_definition_unavailable", NULL},
    {HF_ROUTE_RUN_QUERY, WORKFLOWS "open/runs/$open/query/state", "{'input':['deep']}", 422,
     "invalid_query_arguments", "depth"},
    ORDERED(HF_ROUTE_CANCEL, HF_ROUTE_RUN_CANCEL, "cancel"),
    ORDERED(HF_ROUTE_TERMINATE, HF_ROUTE_RUN_TERMINATE, "terminate"),
    ORDERED(HF_ROUTE_REPAIR, HF_ROUTE_RUN_REPAIR, "repair"),
    {HF_ROUTE_ARCHIVE, WORKFLOWS "none/archive", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_ARCHIVE, WORKFLOWS "open/archive", "{}", 409, "run_not_closed", NULL},
    {HF_ROUTE_RUN_ARCHIVE, WORKFLOWS "open/runs/" NO_ID "/archive", "{}", 404, "run_not_found",
     NULL},
    {HF_ROUTE_RUN_ARCHIVE, WORKFLOWS "open/runs/$open/archive", "{}", 409, "run_not_closed", NULL},
    {HF_ROUTE_PAUSE, WORKFLOWS "none/pause", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_PAUSE, WORKFLOWS "done/pause", "{}", 409, "run_not_active", NULL},
    {HF_ROUTE_RESUME, WORKFLOWS "none/resume", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_RESUME, WORKFLOWS "done/resume", "{}", 409, "run_not_active", NULL},
    {HF_ROUTE_FORK, WORKFLOWS "none/fork", "{'step':0}", 404, "instance_not_found", NULL},
    {HF_ROUTE_FORK, WORKFLOWS "open/fork", "{'step':0,'new_workflow_id':'done'}", 409,
     "duplicate_start", NULL},
    {HF_ROUTE_FORK, WORKFLOWS "open/fork", "{'step':0,'new_workflow_id':'not an id'}", 422,
     "validation_failed", NULL},
    {HF_ROUTE_RUN_FORK, WORKFLOWS "open/runs/" NO_ID "/fork", "{'step':0}", 404, "run_not_found",
     NULL},
    {HF_ROUTE_RUN_FORK, WORKFLOWS "open/runs/$open/fork", "{'step':0,'new_workflow_id':'done'}",
     409, "duplicate_start", NULL},
    {HF_ROUTE_RUN_FORK, WORKFLOWS "open/runs/$open/fork",
     "{'step':0,'new_workflow_id':'not an id'}", 422, "validation_failed", NULL},
    {HF_ROUTE_RESET, WORKFLOWS "none/reset", "{'step':0}", 404, "instance_not_found", NULL},
    {HF_ROUTE_RESET, WORKFLOWS "open/reset", "{'step':99}", 409, "no_step_boundary", NULL},
    {HF_ROUTE_RESET, WORKFLOWS "open/reset", "{'step':'first'}", 422, "validation_failed", "step"},
    {HF_ROUTE_HISTORY, WORKFLOWS "open/runs/" NO_ID "/history", NULL, 404, "run_not_found", NULL},
    {HF_ROUTE_HISTORY, WORKFLOWS "open/runs/$open/history?next_page_token=x", NULL, 400,
     "invalid_page_token", NULL},
    {HF_ROUTE_HISTORY, WORKFLOWS "open/runs/$open/history?page_size=0", NULL, 422,
     "validation_failed", "page_size"},
    {HF_ROUTE_EXPORT, WORKFLOWS "open/runs/" NO_ID "/history/export", NULL, 404, "run_not_found",
     NULL},
    {HF_ROUTE_LIST, "/api/workflows?next_page_token=x", NULL, 400, "invalid_page_token", NULL},
    {HF_ROUTE_LIST, "/api/workflows?page_size=0", NULL, 422, "validation_failed", "page_size"},
    {HF_ROUTE_LIST, "/api/workflows?status=sleeping", NULL, 422, "validation_failed", NULL},
    {HF_ROUTE_LIST, "/api/workflows?view=none", NULL, 404, "view_not_found", NULL},
    {HF_ROUTE_DESCRIBE, WORKFLOWS "none", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_DESCRIBE, WORKFLOWS "open?at=0", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_DESCRIBE_RUN, WORKFLOWS "open/runs/" NO_ID, NULL, 404, "run_not_found", NULL},
    {HF_ROUTE_DESCRIBE_RUN, WORKFLOWS "open/runs/$open?at=0", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_RESULT, WORKFLOWS "none/result", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RESULT, WORKFLOWS "open/result?wait_ms=60001", NULL, 422, "validation_failed",
     "wait_ms"},
    {HF_ROUTE_SETTLED, WORKFLOWS "open/settled?wait_ms=60001", NULL, 422, "validation_failed",
     "wait_ms"},
    {HF_ROUTE_START_ALL, "/api/workflows/start-all", "{'starts':{}}", 422, "validation_failed",
     "starts"},
    {HF_ROUTE_RESERVE, "/api/workflows/reserve", "{'workflow_type':'other','workflow_id':'open'}",
     409, "duplicate_start", NULL},
    {HF_ROUTE_RESERVE, "/api/workflows/reserve",
     "{'workflow_type':'order','workflow_id':'not an id'}", 422, "validation_failed", NULL},
    {HF_ROUTE_RUNS, WORKFLOWS "open/runs?next_page_token=x", NULL, 400, "invalid_page_token", NULL},
    {HF_ROUTE_RUNS, WORKFLOWS "open/runs?page_size=0", NULL, 422, "validation_failed", "page_size"},
    {HF_ROUTE_DEBUG, WORKFLOWS "none/debug", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_DEBUG, WORKFLOWS "open/runs/" NO_ID "/debug", NULL, 404, "run_not_found", NULL},
    {HF_ROUTE_EVENTS, WORKFLOWS "open/events?after=x", NULL, 422, "validation_failed", "after"},
    {HF_ROUTE_RUN_EVENTS, WORKFLOWS "open/runs/$open/events?after=x", NULL, 422,
     "validation_failed", "after"},
    {HF_ROUTE_RUN_HEAD, "/console/api/runs/none", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_HEAD, "/console/api/runs/open?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_RUN_WINDOW, "/console/api/runs/none/events", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_WINDOW, "/console/api/runs/open/events?at=x", NULL, 422, "validation_failed",
     "at"},
    {HF_ROUTE_RUN_WAITS, "/console/api/runs/none/waits", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_WAITS, "/console/api/runs/open/waits?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_RUN_COMMANDS, "/console/api/runs/none/commands", NULL, 404, "instance_not_found",
     NULL},
    {HF_ROUTE_RUN_COMMANDS, "/console/api/runs/open/commands?at=x", NULL, 422, "validation_failed",
     "at"},
    {HF_ROUTE_RUN_ACTIVITIES, "/console/api/runs/none/activities", NULL, 404, "instance_not_found",
     NULL},
    {HF_ROUTE_RUN_ACTIVITIES, "/console/api/runs/open/activities?at=x", NULL, 422,
     "validation_failed", "at"},
    {HF_ROUTE_RUN_TIMERS, "/console/api/runs/none/timers", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_TIMERS, "/console/api/runs/open/timers?at=x", NULL, 422, "validation_failed",
     "at"},
    {HF_ROUTE_RUN_FAILURES, "/console/api/runs/none/failures", NULL, 404, "instance_not_found",
     NULL},
    {HF_ROUTE_RUN_FAILURES, "/console/api/runs/open/failures?at=x", NULL, 422, "validation_failed",
     "at"},
    {HF_ROUTE_RUN_TASKS, "/console/api/runs/none/tasks", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_TASKS, "/console/api/runs/open/tasks?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_RUN_STEP, "/console/api/runs/none/steps/1", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_STEP, "/console/api/runs/open/steps/1?at=x", NULL, 422, "validation_failed",
     "at"},
    {HF_ROUTE_RUN_STATE, "/console/api/runs/none/state", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_STATE, "/console/api/runs/open/state?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_RUN_LINEAGE, "/console/api/runs/none/lineage", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_RUN_LINEAGE, "/console/api/runs/open/lineage?depth=9", NULL, 422, "validation_failed",
     "depth"},
    {HF_ROUTE_WHY, "/console/api/runs/none/why", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_WHY, "/console/api/runs/open/why?at=x", NULL, 422, "validation_failed", "at"},
    {HF_ROUTE_SPANS, "/console/api/runs/none/spans", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_SPANS, "/console/api/runs/open/spans?limit=0", NULL, 422, "validation_failed",
     "limit"},
};

/* The same over webhooks. */
static const row hook_rows[] = {
    {HF_ROUTE_HOOK_START, "/webhooks/start/none", "{}", 404, "unknown_alias", NULL},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'workflow_id':'open'}", 409, "duplicate_start",
     NULL},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'amount':'#'}", 413, "payload_too_large",
     NULL},
    {HF_ROUTE_HOOK_START, "/webhooks/start/order", "{'on_duplicate':'perhaps'}", 422,
     "validation_failed", "on_duplicate"},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/none/signals/paid",
     "{'workflow_id':'new','signal_arguments':[1]}", 404, "unknown_alias", NULL},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/order/signals/none", "{'workflow_id':'new'}", 404,
     "unknown_signal", NULL},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/order/signals/paid",
     "{'workflow_id':'far','signal_arguments':[1]}", 409, "workflow_definition_unavailable", NULL},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/order/signals/note",
     "{'workflow_id':'new','signal_arguments':['#']}", 413, "payload_too_large", NULL},
    {HF_ROUTE_HOOK_START_SIGNAL, "/webhooks/start/order/signals/paid",
     "{'workflow_id':'new','on_duplicate':'reject_duplicate'}", 422, "validation_failed",
     "on_duplicate"},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'far'}", 409, "duplicate_start", NULL},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','arguments':['#']}", 413, "payload_too_large", NULL},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'not an id'}", 422, "validation_failed", NULL},
    {HF_ROUTE_HOOK_SIGNAL, HOOKS "none/signals/paid", "{'arguments':[1]}", 404,
     "instance_not_found", NULL},
    {HF_ROUTE_HOOK_SIGNAL, HOOKS "done/signals/paid", "{'arguments':[1]}", 409, "run_not_active",
     NULL},
    {HF_ROUTE_HOOK_SIGNAL, HOOKS "open/signals/note", "{'arguments':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_HOOK_SIGNAL, HOOKS "open/signals/paid", "{'arguments':['much']}", 422,
     "invalid_signal_arguments", "amount"},
    {HF_ROUTE_HOOK_RUN_SIGNAL, HOOKS "open/runs/" NO_ID "/signals/paid", "{'arguments':[1]}", 404,
     "run_not_found", NULL},
    {HF_ROUTE_HOOK_RUN_SIGNAL, HOOKS "two/runs/$old/signals/paid", "{'arguments':[1]}", 409,
     "historical_run_command_rejected", NULL},
    {HF_ROUTE_HOOK_RUN_SIGNAL, HOOKS "open/runs/$open/signals/note", "{'arguments':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_HOOK_RUN_SIGNAL, HOOKS "open/runs/$open/signals/paid", "{'arguments':['much']}", 422,
     "invalid_signal_arguments", "amount"},
    {HF_ROUTE_HOOK_UPDATE, HOOKS "none/updates/add", "{'arguments':[1]}", 404, "instance_not_found",
     NULL},
    {HF_ROUTE_HOOK_UPDATE, HOOKS "done/updates/add", "{'arguments':[1]}", 409, "run_not_active",
     NULL},
    {HF_ROUTE_HOOK_UPDATE, HOOKS "open/updates/keep", "{'arguments':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_HOOK_UPDATE, HOOKS "open/updates/add", "{'arguments':['much']}", 422,
     "invalid_update_arguments", "n"},
    {HF_ROUTE_HOOK_RUN_UPDATE, HOOKS "open/runs/" NO_ID "/updates/add", "{'arguments':[1]}", 404,
     "run_not_found", NULL},
    {HF_ROUTE_HOOK_RUN_UPDATE, HOOKS "two/runs/$old/updates/add", "{'arguments':[1]}", 409,
     "historical_run_command_rejected", NULL},
    {HF_ROUTE_HOOK_RUN_UPDATE, HOOKS "open/runs/$open/updates/keep", "{'arguments':['#']}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_HOOK_RUN_UPDATE, HOOKS "open/runs/$open/updates/add", "{'arguments':['much']}", 422,
     "invalid_update_arguments", "n"},
    {HF_ROUTE_HOOK_UPDATE_SHOW, HOOKS "open/updates/" NO_ID, NULL, 404, "update_not_found", NULL},
    {HF_ROUTE_HOOK_RUN_UPDATE_SHOW, HOOKS "open/runs/$open/updates/" NO_ID, NULL, 404,
     "update_not_found", NULL},
    {HF_ROUTE_HOOK_QUERY, HOOKS "none/queries/state", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_HOOK_QUERY, HOOKS "far/queries/state", "{}", 409, "workflow_definition_unavailable",
     NULL},
    {HF_ROUTE_HOOK_QUERY, HOOKS "open/queries/state", "{'arguments':['deep']}", 422,
     "invalid_query_arguments", "depth"},
    {HF_ROUTE_HOOK_RUN_QUERY, HOOKS "open/runs/" NO_ID "/queries/state", "{}", 404, "run_not_found",
     NULL},
    {HF_ROUTE_HOOK_RUN_QUERY, HOOKS "far/runs/$far/queries/state", "{}", 409,
     "workflow_definition_unavailable", NULL},
    {HF_ROUTE_HOOK_RUN_QUERY, HOOKS "open/runs/$open/queries/state", "{'arguments':['deep']}", 422,
     "invalid_query_arguments", "depth"},
    HOOK_ORDERED(HF_ROUTE_HOOK_CANCEL, HF_ROUTE_HOOK_RUN_CANCEL, "cancel"),
    HOOK_ORDERED(HF_ROUTE_HOOK_TERMINATE, HF_ROUTE_HOOK_RUN_TERMINATE, "terminate"),
    HOOK_ORDERED(HF_ROUTE_HOOK_REPAIR, HF_ROUTE_HOOK_RUN_REPAIR, "repair"),
    {HF_ROUTE_HOOK_ARCHIVE, HOOKS "none/archive", "{}", 404, "instance_not_found", NULL},
    {HF_ROUTE_HOOK_ARCHIVE, HOOKS "open/archive", "{}", 409, "run_not_closed", NULL},
    {HF_ROUTE_HOOK_RUN_ARCHIVE, HOOKS "open/runs/" NO_ID "/archive", "{}", 404, "run_not_found",
     NULL},
    {HF_ROUTE_HOOK_RUN_ARCHIVE, HOOKS "open/runs/$open/archive", "{}", 409, "run_not_closed", NULL},
    {HF_ROUTE_HOOK_DESCRIBE, HOOKS "none/describe", NULL, 404, "instance_not_found", NULL},
    {HF_ROUTE_HOOK_RUN_DESCRIBE, HOOKS "none/runs/" NO_ID "/describe", NULL, 404,
     "instance_not_found", NULL},
};

/* A worker that holds a task of each kind, and one that is over. */
#define POLL "{'worker_id':'w1','task_queue':'far','timeout_seconds':20}"
#define FAR(id)                                                                                    \
    {                                                                                              \
        HF_ROUTE_START, "/api/workflows",                                                          \
            "{'workflow_type':'remote','workflow_id':'" id "','task_queue':'far'}", 201, NULL,     \
            NULL, NULL, HF_PLAY_ASKS                                                               \
    }
#define WORKFLOW_POLL(keep)                                                                        \
    {                                                                                              \
        HF_ROUTE_POLL_WORKFLOW, "/api/worker/workflow-tasks/poll", POLL, 200, NULL, "task", keep,  \
            HF_PLAY_ASKS                                                                           \
    }
#define ACTIVITY "'commands':[{'type':'schedule_activity','activity_type':'act','queue':'far'}]"
static const hf_play_row worker_setup[] = {
    {HF_ROUTE_WORKER_REGISTER, "/api/worker/register",
     "{'worker_id':'w1','task_queue':'far','supported_workflow_types':['remote'],"
     "'supported_activity_types':['act'],'workflow_definition_fingerprints':{'remote':'one'},"
     "'workflow_command_contracts':{'remote':{'queries':['total'],'updates':['set'],"
     "'update_validators':['set']}}}",
     200, NULL, NULL, NULL, HF_PLAY_ASKS},
    FAR("r-1"),
    WORKFLOW_POLL("over=task.task_id"),
    {HF_ROUTE_TASK_COMPLETE, "/api/worker/workflow-tasks/$over/complete",
     "{'lease_owner':'w1','workflow_task_attempt':1," ACTIVITY "}", 200, NULL, NULL, NULL,
     HF_PLAY_ASKS},
    {HF_ROUTE_POLL_ACTIVITY, "/api/worker/activity-tasks/poll", POLL, 200, NULL, "task",
     "act=task.task_id attempt=task.activity_attempt_id", HF_PLAY_ASKS},
    FAR("r-2"),
    WORKFLOW_POLL("task=task.task_id n=task.workflow_task_attempt"),
    {HF_ROUTE_POLL_QUERY, "/api/worker/query-tasks/poll",
     "{'worker_id':'w1','task_queue':'far','timeout_seconds':0}", 200, NULL, NULL, NULL,
     HF_PLAY_ASKS},
    {HF_ROUTE_QUERY, "/api/workflows/r-2/query/total", "{}", 0, NULL, NULL, NULL, HF_PLAY_SENDS},
    {HF_ROUTE_POLL_QUERY, "/api/worker/query-tasks/poll", POLL, 200, NULL, "task",
     "query=task.query_task_id", HF_PLAY_ASKS},
    {HF_ROUTE_POLL_VALIDATION, "/api/worker/update-validation-tasks/poll",
     "{'worker_id':'w1','task_queue':'far','timeout_seconds':0}", 200, NULL, NULL, NULL,
     HF_PLAY_ASKS},
    {HF_ROUTE_UPDATE, "/api/workflows/r-2/update/set", "{'input':[1],'wait_for':'accepted'}", 0,
     NULL, NULL, NULL, HF_PLAY_SENDS},
    {HF_ROUTE_POLL_VALIDATION, "/api/worker/update-validation-tasks/poll", POLL, 200, NULL, "task",
     "update=task.update_validation_task_id", HF_PLAY_ASKS},
};

#define TASKS "/api/worker/workflow-tasks/"
#define ACTS  "/api/worker/activity-tasks/"
/* Of a report on a workflow task: no id of one, nobody's, somebody else's, another attempt's. */
#define REPORTED(id, word, more)                                                                   \
    {id,  TASKS "none/" word, "{'lease_owner':'w1','workflow_task_attempt':1" more "}",            \
     404, "task_not_found",   NULL},                                                               \
        {id,  TASKS NO_ID "/" word, "{'lease_owner':'w1','workflow_task_attempt':1" more "}",      \
         409, "task_not_leased",    NULL},                                                         \
        {id,  TASKS "$task/" word,    "{'lease_owner':'w2','workflow_task_attempt':$n" more "}",   \
         409, "lease_owner_mismatch", NULL},                                                       \
        {id,                                                                                       \
         TASKS "$task/" word,                                                                      \
         "{'lease_owner':'w1','workflow_task_attempt':77" more "}",                                \
         409,                                                                                      \
         "workflow_task_attempt_mismatch",                                                         \
         NULL},                                                                                    \
    {                                                                                              \
        id, TASKS "$task/" word, "{'workflow_task_attempt':$n" more "}", 422, "validation_failed", \
            "worker_id"                                                                            \
    }
/* Of a report on an attempt: no id of one, nobody says so, no attempt. */
#define ATTEMPTED(id, word)                                                                        \
    {id,  ACTS "$act/" word,   "{'lease_owner':'w1','activity_attempt_id':'none'}",                \
     404, "attempt_not_found", NULL},                                                              \
        {id,  ACTS "$act/" word,   "{'activity_attempt_id':'$attempt'}",                           \
         422, "validation_failed", "worker_id"},                                                   \
    {                                                                                              \
        id, ACTS "$act/" word, "{'lease_owner':'w1'}", 422, "validation_failed",                   \
            "activity_attempt_id"                                                                  \
    }
/* Of its end too: no task, somebody else's, one that is over. */
#define ATTEMPT_FENCED(id, word)                                                                   \
    {id,  ACTS "none/" word, "{'lease_owner':'w1','activity_attempt_id':'" NO_ID "'}",             \
     404, "task_not_found",  NULL},                                                                \
        {id,  ACTS "$act/" word, "{'lease_owner':'w2','activity_attempt_id':'$attempt'}",          \
         409, "stale_attempt",   NULL},                                                            \
    {                                                                                              \
        id, ACTS NO_ID "/" word, "{'lease_owner':'w1','activity_attempt_id':'" NO_ID "'}", 409,    \
            "attempt_closed", NULL                                                                 \
    }
/* Of a poll: nobody's, of a queue that is none. */
#define POLLED(id, kind)                                                                           \
    {id, "/api/worker/" kind "/poll", "{}", 422, "validation_failed", "worker_id"},                \
    {                                                                                              \
        id, "/api/worker/" kind "/poll", "{'worker_id':'w1','task_queue':1}", 422,                 \
            "validation_failed", "task_queue"                                                      \
    }
/* Of an answer to a question: none, somebody else's, nobody's name. */
#define ANSWERED(id, kind, at, word, other)                                                        \
    {id, "/api/worker/" kind "/" NO_ID "/" word, "{'lease_owner':'w1'}", 404, NULL, NULL},         \
        {id, "/api/worker/" kind "/" at "/" word, "{'lease_owner':'w2'}", 409, other, NULL},       \
    {                                                                                              \
        id, "/api/worker/" kind "/" at "/" word, "{}", 422, "validation_failed", "worker_id"       \
    }
#define QUERY_ANSWERED(id, word) ANSWERED(id, "query-tasks", "$query", word, "lease_owner_mismatch")
#define UPDATE_JUDGED(id, word)                                                                    \
    ANSWERED(id, "update-validation-tasks", "$update", word, "stale_update_validation_completion")

static const row worker_rows[] = {
    {HF_ROUTE_WORKER_REGISTER, "/api/worker/register",
     "{'worker_id':'w1','task_queue':'far','supported_workflow_types':['remote'],"
     "'workflow_definition_fingerprints':{'remote':'two'}}",
     409, "workflow_definition_changed", NULL},
    {HF_ROUTE_WORKER_REGISTER, "/api/worker/register", "{}", 422, "validation_failed", "worker_id"},
    {HF_ROUTE_WORKER_HEARTBEAT, "/api/worker/heartbeat", "{'worker_id':'none'}", 404,
     "worker_not_found", NULL},
    {HF_ROUTE_WORKER_HEARTBEAT, "/api/worker/heartbeat", "{}", 422, "validation_failed",
     "worker_id"},
    {HF_ROUTE_POLL_WORKFLOW, "/api/worker/workflow-tasks/poll",
     "{'worker_id':'stranger','task_kinds':['step']}", 404, "worker_not_found", NULL},
    {HF_ROUTE_WORKER_DEREGISTER, "/api/worker/registrations/none", NULL, 404, "worker_not_found",
     NULL},
    POLLED(HF_ROUTE_POLL_WORKFLOW, "workflow-tasks"),
    POLLED(HF_ROUTE_POLL_ACTIVITY, "activity-tasks"),
    POLLED(HF_ROUTE_POLL_QUERY, "query-tasks"),
    POLLED(HF_ROUTE_POLL_VALIDATION, "update-validation-tasks"),
    REPORTED(HF_ROUTE_TASK_HISTORY, "history", ""),
    {HF_ROUTE_TASK_HISTORY, TASKS "$task/history",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'page_token':'x'}", 400, "invalid_page_token",
     NULL},
    REPORTED(HF_ROUTE_TASK_HEARTBEAT, "heartbeat", ""),
    REPORTED(HF_ROUTE_TASK_COMPLETE, "complete", "," ACTIVITY),
    {HF_ROUTE_TASK_COMPLETE, TASKS "$task/complete",
     "{'lease_owner':'w1','workflow_task_attempt':$n,'commands':[{'type':'dance'}]}", 422,
     "invalid_commands", "commands.0.type"},
    REPORTED(HF_ROUTE_TASK_DECIDE, "decisions", ",'decisions':[]"),
    {HF_ROUTE_TASK_DECIDE, TASKS "$task/decisions",
     "{'lease_owner':'w1','workflow_task_attempt':$n}", 422, "validation_failed", "decisions"},
    {HF_ROUTE_EXCHANGE, "/api/worker/exchange", "{'worker_id':'w1'}", 422, "validation_failed",
     "exchange_id"},
    REPORTED(HF_ROUTE_TASK_MESSAGES, "messages", ",'stream':'mail'"),
    {HF_ROUTE_TASK_MESSAGES, TASKS "$task/messages",
     "{'lease_owner':'w1','workflow_task_attempt':$n}", 422, "validation_failed", "stream"},
    REPORTED(HF_ROUTE_TASK_FAIL, "fail", ""),
    ATTEMPTED(HF_ROUTE_ATTEMPT_HEARTBEAT, "heartbeat"),
    ATTEMPTED(HF_ROUTE_ATTEMPT_COMPLETE, "complete"),
    ATTEMPT_FENCED(HF_ROUTE_ATTEMPT_COMPLETE, "complete"),
    ATTEMPTED(HF_ROUTE_ATTEMPT_FAIL, "fail"),
    ATTEMPT_FENCED(HF_ROUTE_ATTEMPT_FAIL, "fail"),
    QUERY_ANSWERED(HF_ROUTE_QUERY_COMPLETE, "complete"),
    QUERY_ANSWERED(HF_ROUTE_QUERY_FAIL, "fail"),
    UPDATE_JUDGED(HF_ROUTE_VALIDATION_APPROVE, "approve"),
    UPDATE_JUDGED(HF_ROUTE_VALIDATION_REJECT, "reject"),
};

/* Tasks over webhooks: one of each kind is claimed, and one that is over. */
static const hf_play_row task_setup[] = {
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'e-1','queue':'hooked'}", 202, NULL, NULL, NULL,
     HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_POLL, "/webhooks/workflow-tasks/poll?queue=hooked", NULL, 200, NULL,
     NULL, "ready=tasks.0.task_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, "/webhooks/workflow-tasks/$ready/claim", "{}", 200, NULL, NULL,
     "over=task_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_COMPLETE, "/webhooks/workflow-tasks/$over/complete",
     "{'commands':[{'type':'schedule_activity','activity_type':'far','retry_policy':{"
     "'max_attempts':2,'backoff_seconds':[0]}}]}",
     200, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_POLL, "/webhooks/activity-tasks/poll?queue=hooked", NULL, 200, NULL,
     NULL, "act=tasks.0.task_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$act/claim", "{}", 200, NULL, NULL,
     "former=activity_attempt_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_ATTEMPT_FAIL, "/webhooks/activity-attempts/$former/fail", "{'failure':'no'}",
     200, NULL, NULL, NULL, HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_POLL, "/webhooks/activity-tasks/poll?queue=hooked", NULL, 200, NULL,
     NULL, "act=tasks.0.task_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$act/claim", "{}", 200, NULL, NULL,
     "attempt=activity_attempt_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_PLAIN_START, "/webhooks/control-plane/start",
     "{'workflow_type':'elsewhere','instance_id':'e-2','queue':'hooked'}", 202, NULL, NULL, NULL,
     HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_POLL, "/webhooks/workflow-tasks/poll?queue=hooked", NULL, 200, NULL,
     NULL, "ready=tasks.0.task_id", HF_PLAY_ASKS},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, "/webhooks/workflow-tasks/$ready/claim", "{}", 200, NULL, NULL,
     "task=task_id", HF_PLAY_ASKS},
};

#define HOOK_TASKS    "/webhooks/workflow-tasks/"
#define HOOK_ATTEMPTS "/webhooks/activity-attempts/"
static const row task_rows[] = {
    {HF_ROUTE_HOOK_WORKFLOW_POLL, HOOK_TASKS "poll?limit=0", NULL, 422, "validation_failed",
     "limit"},
    {HF_ROUTE_HOOK_ACTIVITY_POLL, "/webhooks/activity-tasks/poll?limit=0", NULL, 422,
     "validation_failed", "limit"},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, HOOK_TASKS NO_ID "/claim", "{}", 404, "task_not_found", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, HOOK_TASKS "$ready/claim", "{}", 409, "task_not_claimable",
     NULL},
    {HF_ROUTE_HOOK_WORKFLOW_CLAIM, HOOK_TASKS "$ready/claim", "{'lease_owner':''}", 422,
     "validation_failed", "lease_owner"},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/" NO_ID "/claim", "{}", 404,
     "task_not_found", NULL},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$act/claim", "{}", 409,
     "task_not_claimable", NULL},
    {HF_ROUTE_HOOK_ACTIVITY_CLAIM, "/webhooks/activity-tasks/$act/claim", "{'lease_owner':''}", 422,
     "validation_failed", "lease_owner"},
    {HF_ROUTE_HOOK_WORKFLOW_HISTORY, HOOK_TASKS "none/history", NULL, 404, "task_not_found", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_HISTORY, HOOK_TASKS "$ready/history", NULL, 409,
     "workflow_task_attempt_mismatch", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_HISTORY, HOOK_TASKS "$task/history?page_token=x", NULL, 400,
     "invalid_page_token", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_HISTORY, HOOK_TASKS "$task/history?page_size=0", NULL, 422,
     "validation_failed", "page_size"},
    {HF_ROUTE_HOOK_WORKFLOW_HEARTBEAT, HOOK_TASKS "none/heartbeat", "{}", 404, "task_not_found",
     NULL},
    {HF_ROUTE_HOOK_WORKFLOW_HEARTBEAT, HOOK_TASKS "$task/heartbeat", "{'workflow_task_attempt':77}",
     409, "workflow_task_attempt_mismatch", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_COMPLETE, HOOK_TASKS "none/complete", "{" ACTIVITY "}", 404,
     "task_not_found", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_COMPLETE, HOOK_TASKS "$over/complete", "{" ACTIVITY "}", 409,
     "task_not_leased", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_COMPLETE, HOOK_TASKS "$task/complete",
     "{'commands':[{'type':'dance'}]}", 422, "invalid_commands", "commands.0.type"},
    {HF_ROUTE_HOOK_WORKFLOW_FAIL, HOOK_TASKS "none/fail", "{'failure':'no'}", 404, "task_not_found",
     NULL},
    {HF_ROUTE_HOOK_WORKFLOW_FAIL, HOOK_TASKS "$task/fail",
     "{'failure':'no','workflow_task_attempt':77}", 409, "workflow_task_attempt_mismatch", NULL},
    {HF_ROUTE_HOOK_WORKFLOW_FAIL, HOOK_TASKS "$task/fail", "{}", 422, "validation_failed",
     "failure"},
    {HF_ROUTE_HOOK_ATTEMPT, HOOK_ATTEMPTS NO_ID, NULL, 404, "attempt_not_found", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_HEARTBEAT, HOOK_ATTEMPTS NO_ID "/heartbeat", "{}", 404,
     "attempt_not_found", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_HEARTBEAT, HOOK_ATTEMPTS "$attempt/heartbeat", "{'lease_owner':1}", 422,
     "validation_failed", "lease_owner"},
    {HF_ROUTE_HOOK_ATTEMPT_COMPLETE, HOOK_ATTEMPTS NO_ID "/complete", "{}", 404,
     "attempt_not_found", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_COMPLETE, HOOK_ATTEMPTS "$former/complete", "{}", 409, "stale_attempt",
     NULL},
    {HF_ROUTE_HOOK_ATTEMPT_COMPLETE, HOOK_ATTEMPTS "$attempt/complete", "{'result':'#'}", 413,
     "payload_too_large", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_COMPLETE, HOOK_ATTEMPTS "$attempt/complete", "{'lease_owner':1}", 422,
     "validation_failed", "lease_owner"},
    {HF_ROUTE_HOOK_ATTEMPT_FAIL, HOOK_ATTEMPTS NO_ID "/fail", "{'failure':'no'}", 404,
     "attempt_not_found", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_FAIL, HOOK_ATTEMPTS "$former/fail", "{'failure':'no'}", 409,
     "stale_attempt", NULL},
    {HF_ROUTE_HOOK_ATTEMPT_FAIL, HOOK_ATTEMPTS "$attempt/fail", "{'failure':1}", 422,
     "validation_failed", "failure"},
};

#endif
