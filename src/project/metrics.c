/* metrics.c: see metrics.h. */
#include "project/metrics.h"

#include <stdio.h>
#include <string.h>

#include "model/limit.h"
#include "project/edge.h"
#include "project/fold.h"
#include "store/row.h"

enum { NUMBERS_MAX = 16, FAILURES_MAX = 500 };

/* The one row of a statement. */
typedef struct numbers {
    int64_t at[NUMBERS_MAX]; /* HF_NONE: null */
    size_t count;
} numbers;

static hf_status numbers_read(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                              numbers *out, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    *out = (numbers){0};
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row) {
        out->count = hf_db_column_count(cursor);
        for (size_t i = 0; i < out->count && i < NUMBERS_MAX; i++)
            out->at[i] = hf_column_or_none(cursor, i);
    }
    hf_db_end(cursor);
    return st;
}

static int64_t plain(int64_t number)
{
    return number == HF_NONE ? 0 : number;
}

static void put(hf_value_list *o, hf_mem *mem, const char *name, int64_t number)
{
    hf_value_set(o, hf_slice_of(name), hf_value_int(mem, plain(number)));
}

/* A moment and how long ago it is. */
static void put_age(hf_value_list *o, hf_mem *mem, const char *at, const char *age, int64_t time_us,
                    int64_t now_us)
{
    hf_value_set(o, hf_slice_of(at), hf_edge_time(mem, time_us));
    put(o, mem, age, time_us == HF_NONE || time_us > now_us ? 0 : (now_us - time_us) / 1000);
}

/* ---- groups */

static hf_status runs_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w, hf_value *out_runs,
                           hf_value *out_history, hf_value *out_starts, hf_err *err)
{
    const hf_db_value param = hf_db_int(w->namespace_key);
    int64_t by_end[9] = {0};
    int64_t total = 0, archived = 0, events_max = 0, bytes_max = 0, fan_out = 0, events = 0;
    int64_t recommended = 0, near = 0;
    hf_value_list *runs = hf_value_object(mem);
    hf_value_list *history = hf_value_object(mem);
    hf_value_list *starts = hf_value_object(mem);
    hf_db_cursor *cursor = NULL;
    numbers open;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_METRICS_RUNS, &param, 1, &cursor, err);

    while (!st && row) {
        int64_t end;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        end = hf_db_column_int(cursor, 0);
        if (end >= 0 && end < 9)
            by_end[end] = hf_db_column_int(cursor, 1);
        total += hf_db_column_int(cursor, 1);
        archived += hf_db_column_int(cursor, 2);
        events_max =
            hf_db_column_int(cursor, 4) > events_max ? hf_db_column_int(cursor, 4) : events_max;
        bytes_max =
            hf_db_column_int(cursor, 5) > bytes_max ? hf_db_column_int(cursor, 5) : bytes_max;
        recommended += hf_db_column_int(cursor, 6);
        near += hf_db_column_int(cursor, 7);
        fan_out = hf_db_column_int(cursor, 8) > fan_out ? hf_db_column_int(cursor, 8) : fan_out;
        events += hf_db_column_int(cursor, 9);
    }
    hf_db_end(cursor);
    if (!st)
        st = numbers_read(db, HF_STMT_METRICS_OPEN, &param, 1, &open, err);
    if (st)
        return st;
    put(runs, mem, "total", total);
    put(runs, mem, "current", open.at[0]);
    put(runs, mem, "running", by_end[0]);
    put(runs, mem, "completed", by_end[HF_RUN_STATUS_COMPLETED]);
    put(runs, mem, "failed", by_end[HF_RUN_STATUS_FAILED]);
    put(runs, mem, "cancelled", by_end[HF_RUN_STATUS_CANCELLED]);
    put(runs, mem, "terminated", by_end[HF_RUN_STATUS_TERMINATED]);
    put(runs, mem, "archived", archived);
    put(runs, mem, "waiting", open.at[1]);
    put(runs, mem, "replay_blocked", open.at[2]);
    put(runs, mem, "quarantined", open.at[3]);
    put_age(runs, mem, "oldest_replay_blocked_at", "max_replay_blocked_age_ms", open.at[4],
            w->now_us);
    put_age(runs, mem, "oldest_wait_started_at", "max_wait_age_ms", open.at[5], w->now_us);
    put(starts, mem, "pending_runs", open.at[6]);
    put_age(starts, mem, "oldest_pending_start_at", "max_pending_ms", open.at[7], w->now_us);
    put(history, mem, "continue_as_new_recommended_runs", recommended);
    put(history, mem, "approaching_budget_runs", near);
    put(history, mem, "events", events);
    put(history, mem, "max_event_count", events_max);
    put(history, mem, "max_size_bytes", bytes_max);
    put(history, mem, "max_fan_out", fan_out);
    put(history, mem, "event_threshold", hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard);
    put(history, mem, "size_bytes_threshold",
        hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard);
    *out_runs = hf_value_finish(runs);
    *out_history = hf_value_finish(history);
    *out_starts = hf_value_finish(starts);
    return *out_runs && *out_history && *out_starts ? HF_OK : hf_err_nomem(err, "metrics");
}

static hf_status tasks_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w, hf_value *out_tasks,
                            hf_value *out_backlog, hf_err *err)
{
    const int64_t late_us = hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard * 1000000;
    const hf_db_value params[] = {hf_db_int(w->now_us), hf_db_int(w->now_us - late_us)};
    static const char *const names[] = {"open",
                                        "ready",
                                        "ready_due",
                                        "delayed",
                                        "leased",
                                        "dispatch_failed",
                                        "claim_failed",
                                        "dispatch_overdue",
                                        "lease_expired",
                                        "max_attempt_count",
                                        "max_repair_count"};
    hf_value_list *tasks = hf_value_object(mem);
    hf_value_list *backlog = hf_value_object(mem);
    int64_t unhealthy;
    numbers n;
    hf_status st = numbers_read(db, HF_STMT_METRICS_TASKS, params, 2, &n, err);

    if (st)
        return st;
    unhealthy = plain(n.at[5]) + plain(n.at[6]) + plain(n.at[7]) + plain(n.at[8]) + plain(n.at[15]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(tasks, mem, names[i], n.at[i]);
    put(tasks, mem, "replay_blocked", n.at[15]);
    put(tasks, mem, "unhealthy", unhealthy);
    put_age(tasks, mem, "oldest_ready_due_at", "max_ready_due_age_ms", n.at[11], w->now_us);
    put_age(tasks, mem, "oldest_lease_expired_at", "max_lease_expired_age_ms", n.at[12], w->now_us);
    put_age(tasks, mem, "oldest_dispatch_overdue_since", "max_dispatch_overdue_age_ms", n.at[14],
            w->now_us);
    put(backlog, mem, "runnable_tasks", n.at[2]);
    put(backlog, mem, "delayed_tasks", n.at[3]);
    put(backlog, mem, "leased_tasks", n.at[4]);
    put(backlog, mem, "tasks_added_last_minute", n.at[13]);
    put(backlog, mem, "unhealthy_tasks", unhealthy);
    *out_tasks = hf_value_finish(tasks);
    *out_backlog = hf_value_finish(backlog);
    return *out_tasks && *out_backlog ? HF_OK : hf_err_nomem(err, "metrics");
}

static hf_status activities_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w, hf_value *out,
                                 hf_err *err)
{
    const hf_db_value param = hf_db_int(w->now_us);
    static const char *const names[] = {"open",         "pending",         "running",
                                        "retrying",     "timeout_overdue", "max_attempt_count",
                                        "lost_attempts"};
    hf_value_list *o = hf_value_object(mem);
    numbers n;
    hf_status st = numbers_read(db, HF_STMT_METRICS_ACTIVITIES, &param, 1, &n, err);

    if (st)
        return st;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(o, mem, names[i], n.at[i]);
    put_age(o, mem, "oldest_retrying_started_at", "max_retrying_age_ms", n.at[7], w->now_us);
    put_age(o, mem, "oldest_timeout_overdue_at", "max_timeout_overdue_age_ms", n.at[8], w->now_us);
    *out = hf_value_finish(o);
    return *out ? HF_OK : hf_err_nomem(err, "metrics");
}

static hf_status projections_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w, hf_value *out,
                                  hf_err *err)
{
    const hf_db_value param = hf_db_int(HF_RUNFOLD_VERSION);
    numbers n;
    hf_status st = numbers_read(db, HF_STMT_METRICS_PROJECTIONS, &param, 1, &n, err);
    bool summaries;
    bool logs;

    if (st)
        return st;
    summaries = n.at[2] || n.at[3] || n.at[5];
    logs = n.at[7] || n.at[8];
    *out = hf_json_(
        mem,
        "{'run_summaries': {'runs': %lld, 'summaries': %lld, 'missing': %lld, 'orphaned': %lld, "
        "'stale': %lld, 'schema_outdated': %lld, 'needs_rebuild': %p}, "
        "'run_timeline_entries': {'projected_runs': %lld, 'schema_outdated': %lld, "
        "'missing_runs': %lld, 'needs_rebuild': %p}, "
        "'folder': {'runs': %llu, 'events': %llu, 'rebuilt_missing': %llu, 'rebuilt_stale': %llu, "
        "'failures': %llu, 'waiting': %llu}}",
        (long long)n.at[0], (long long)n.at[1], (long long)n.at[2], (long long)n.at[3],
        (long long)n.at[4], (long long)n.at[5], (const void *)hf_value_bool(summaries),
        (long long)n.at[6], (long long)n.at[7], (long long)n.at[8],
        (const void *)hf_value_bool(logs), (unsigned long long)w->folded_runs,
        (unsigned long long)w->folded_events, (unsigned long long)w->rebuilt_missing,
        (unsigned long long)w->rebuilt_stale, (unsigned long long)w->fold_failures,
        (unsigned long long)w->fold_waiting);
    return *out ? HF_OK : hf_err_nomem(err, "metrics");
}

hf_status hf_metrics_read(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                          hf_value *out_metrics, hf_err *err)
{
    hf_value_list *o = hf_value_object(mem);
    hf_value runs = NULL, history = NULL, starts = NULL, tasks = NULL, backlog = NULL;
    hf_value activities = NULL, projections = NULL;
    hf_status st = runs_read(db, mem, world, &runs, &history, &starts, err);

    if (!st)
        st = tasks_read(db, mem, world, &tasks, &backlog, err);
    if (!st)
        st = activities_read(db, mem, world, &activities, err);
    if (!st)
        st = projections_read(db, mem, world, &projections, err);
    if (st)
        return hf_err_because(err, st, "read metrics");
    hf_value_set(o, HF_SLICE("generated_at"), hf_edge_time(mem, world->now_us));
    hf_value_set(o, HF_SLICE("runs"), runs);
    hf_value_set(o, HF_SLICE("tasks"), tasks);
    hf_value_set(o, HF_SLICE("activities"), activities);
    hf_value_set(o, HF_SLICE("backlog"), backlog);
    hf_value_set(o, HF_SLICE("starts"), starts);
    hf_value_set(o, HF_SLICE("history"), history);
    hf_value_set(o, HF_SLICE("projections"), projections);
    *out_metrics = hf_value_finish(o);
    return *out_metrics ? HF_OK : hf_err_nomem(err, "metrics");
}

/* ---- health */

typedef struct health_rule {
    const char *name;
    const char *path;   /* of a number that should be 0 */
    const char *status; /* when it is not */
    const char *message;
} health_rule;

static const health_rule rules[] = {
    {"backend_capabilities", NULL, "ok", "The store answers."},
    {"run_summary_projection", "projections.run_summaries.missing", "warning",
     "Summaries of runs are missing: rebuild-projections makes them anew."},
    {"run_summary_projection", "projections.run_summaries.orphaned", "warning",
     "Summaries belong to runs that are gone: rebuild-projections --prune-stale forgets them."},
    {"run_summary_projection", "projections.run_summaries.schema_outdated", "warning",
     "Summaries were written by another version: rebuild-projections makes them anew."},
    {"selected_run_projections", "projections.run_timeline_entries.missing_runs", "warning",
     "Closed runs have no fold: pages make it while they are read."},
    {"selected_run_projections", "projections.run_timeline_entries.schema_outdated", "warning",
     "Folds were written by another version: pages make them anew."},
    {"task_transport", "tasks.unhealthy", "warning", "Tasks could not be handed over or claimed."},
    {"durable_resume_paths", "runs.replay_blocked", "warning",
     "Runs are blocked: code and history disagree."},
    {"durable_resume_paths", "runs.quarantined", "error",
     "The code of runs kept killing its process."},
    {"activity_path", "activities.timeout_overdue", "warning", "Activity timeouts are overdue."},
    {"long_poll_wake_acceleration", "projections.folder.failures", "warning",
     "Projections could not be folded; lists may be behind."}};

hf_value hf_metrics_health(hf_mem *mem, hf_value metrics, int64_t now_us)
{
    hf_value_list *checks = hf_value_array(mem);
    bool warned = false;
    bool failed = false;
    int64_t count = 0;
    hf_value list;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int64_t number = rules[i].path ? hf_int(metrics, rules[i].path, 0) : 0;
        const char *status = number ? rules[i].status : "ok";
        bool same = i && strcmp(rules[i].name, rules[i - 1].name) == 0;

        if (same && !number)
            continue; /* said once while all is well */
        warned |= strcmp(status, "warning") == 0;
        failed |= strcmp(status, "error") == 0;
        count++;
        hf_value_append(checks,
                        hf_json_(mem, "{'name': %s, 'status': %s, 'count': %lld, 'message': %s}",
                                 rules[i].name, status, (long long)number,
                                 number || !rules[i].path ? rules[i].message : NULL));
    }
    list = hf_value_finish(checks);
    return hf_json_(mem,
                    "{'generated_at': %p, 'status': %s, 'healthy': %p, 'checks': %p, 'categories': "
                    "{'correctness': {'status': %s, 'check_count': %lld}, 'acceleration': "
                    "{'status': 'ok', 'check_count': 1}}, 'operator_metrics': %p}",
                    (const void *)hf_edge_time(mem, now_us),
                    failed   ? "error"
                    : warned ? "warning"
                             : "ok",
                    (const void *)hf_value_bool(!failed), (const void *)list,
                    failed   ? "error"
                    : warned ? "warning"
                             : "ok",
                    (long long)count - 1, (const void *)metrics);
}

/* ---- statistics, failures */

hf_status hf_metrics_stats(hf_db *db, hf_mem *mem, const hf_metrics_world *world, hf_value metrics,
                           hf_value *out_stats, hf_err *err)
{
    const int64_t second = 1000000;
    const hf_db_value params[] = {
        hf_db_int(world->namespace_key), hf_db_int(world->now_us - 60 * second),
        hf_db_int(world->now_us - 3600 * second), hf_db_int(world->now_us - 7 * 86400 * second)};
    numbers n;
    hf_status st = numbers_read(db, HF_STMT_METRICS_RECENT, params, 4, &n, err);

    if (st)
        return st;
    *out_stats = hf_json_(mem,
                          "{'flows': %lld, 'flows_per_minute': %lld, 'flows_past_hour': %lld, "
                          "'exceptions_past_hour': %lld, 'failed_flows_past_week': %lld, "
                          "'operator_metrics': %p}",
                          (long long)hf_int(metrics, "runs.total", 0), (long long)plain(n.at[0]),
                          (long long)plain(n.at[1]), (long long)plain(n.at[2]),
                          (long long)plain(n.at[3]), (const void *)metrics);
    return *out_stats ? HF_OK : hf_err_nomem(err, "statistics");
}

hf_status hf_metrics_failures(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t since_us,
                              int64_t limit, hf_value *out_groups, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_int(since_us),
                                  hf_db_int(limit ? limit : 50)};
    hf_value_list *list = hf_value_array(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    if (limit < 0 || limit > FAILURES_MAX)
        return hf_err_set(err, HF_INVALID, "1 to %d groups of failures are listed", FAILURES_MAX);
    st = hf_db_query(db, HF_STMT_FAILURE_GROUPS, params, 3, &cursor, err);
    while (!st && row) {
        hf_value_list *g;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        g = hf_value_object(mem);
        hf_value_set(g, HF_SLICE("fingerprint"),
                     hf_value_string(mem, hf_db_column_bytes(cursor, 0)));
        put(g, mem, "count", hf_db_column_int(cursor, 1));
        put(g, mem, "runs", hf_db_column_int(cursor, 2));
        hf_value_set(g, HF_SLICE("first_seen_at"), hf_edge_time(mem, hf_db_column_int(cursor, 3)));
        hf_value_set(g, HF_SLICE("last_seen_at"), hf_edge_time(mem, hf_db_column_int(cursor, 4)));
        put(g, mem, "handled", hf_db_column_int(cursor, 5));
        hf_value_set(g, HF_SLICE("name"), hf_value_string(mem, hf_db_column_bytes(cursor, 6)));
        hf_value_set(g, HF_SLICE("failure_type"),
                     hf_value_string(mem, hf_db_column_bytes(cursor, 7)));
        hf_value_set(g, HF_SLICE("message"), hf_value_string(mem, hf_db_column_bytes(cursor, 8)));
        hf_value_append(list, hf_value_finish(g));
    }
    hf_db_end(cursor);
    *out_groups = hf_value_finish(list);
    return st ? st : *out_groups ? HF_OK : hf_err_nomem(err, "failures");
}

/* ---- text */

/* The names are those of the published metrics; none of them comes from a user. */
static void group_print(hf_buf *out, const char *prefix, hf_value group)
{
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(group, i, &name, &item); i++) {
        char full[160];

        (void)snprintf(full, sizeof(full), "%s_%.*s", prefix, (int)name.len, name.ptr);
        if (hf_value_kind_of(item) == HF_VALUE_OBJECT)
            group_print(out, full, item);
        else if (hf_value_kind_of(item) == HF_VALUE_INT || hf_value_kind_of(item) == HF_VALUE_BOOL)
            hf_buf_add_format(out, "# TYPE %s gauge\n%s %lld\n", full, full,
                              (long long)hf_int(item, "", hf_bool(item, "", false)));
    }
}

void hf_metrics_print(hf_buf *out, hf_value metrics)
{
    group_print(out, "holdfast", metrics);
}
