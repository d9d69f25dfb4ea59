/* metrics_work.c: tasks, activities, what waits, and what a repair would do: see metrics_impl.h. */
#include "project/metrics_impl.h"

static hf_status tasks_read(hf_db *db, hf_mem *mem, int64_t now_us, hf_metrics_row *out_row,
                            hf_value *out_tasks, hf_err *err)
{
    const int64_t late_us = hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard * 1000000;
    const hf_db_value params[] = {hf_db_int(now_us), hf_db_int(now_us - late_us)};
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
    static const struct {
        const char *at, *age;
        size_t column;
    } ages[] = {{"oldest_ready_due_at", "max_ready_due_age_ms", 11},
                {"oldest_lease_expired_at", "max_lease_expired_age_ms", 12},
                {"oldest_dispatch_overdue_since", "max_dispatch_overdue_age_ms", 14},
                {"oldest_dispatch_failed_at", "max_dispatch_failed_age_ms", 16},
                {"oldest_claim_failed_at", "max_claim_failed_age_ms", 17},
                {"oldest_unhealthy_at", "max_unhealthy_age_ms", 19}};
    hf_value_list *o = hf_value_object(mem);
    hf_status st = hf_metrics_numbers(db, HF_STMT_METRICS_TASKS, params, 2, out_row, err);

    if (st)
        return st;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_metrics_put(o, mem, names[i], out_row->at[i]);
    hf_metrics_put(o, mem, "replay_blocked", out_row->at[15]);
    hf_metrics_put(o, mem, "unhealthy", out_row->at[18]);
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++)
        hf_metrics_age(o, mem, ages[i].at, ages[i].age, out_row->at[ages[i].column], now_us);
    *out_tasks = hf_value_finish(o);
    return HF_OK;
}

static hf_status activities_read(hf_db *db, hf_mem *mem, int64_t now_us, int64_t *out_retrying,
                                 hf_value *out_activities, hf_err *err)
{
    const hf_db_value param = hf_db_int(now_us);
    static const char *const names[] = {"open",         "pending",         "running",
                                        "retrying",     "timeout_overdue", "max_attempt_count",
                                        "lost_attempts"};
    hf_value_list *o = hf_value_object(mem);
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(db, HF_STMT_METRICS_ACTIVITIES, &param, 1, &n, err);

    if (st)
        return st;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_metrics_put(o, mem, names[i], n.at[i]);
    hf_metrics_put(o, mem, "failed_attempts", n.at[9]);
    hf_metrics_age(o, mem, "oldest_retrying_started_at", "max_retrying_age_ms", n.at[7], now_us);
    hf_metrics_age(o, mem, "oldest_timeout_overdue_at", "max_timeout_overdue_age_ms", n.at[8],
                   now_us);
    *out_retrying = n.at[3];
    *out_activities = hf_value_finish(o);
    return HF_OK;
}

static hf_value backlog_value(hf_mem *mem, const hf_metrics_row *tasks, int64_t attempts,
                              int64_t retrying, const hf_trouble *trouble, int64_t now_us)
{
    hf_value_list *o = hf_value_object(mem);

    hf_metrics_put(o, mem, "runnable_tasks", tasks->at[2]);
    hf_metrics_put(o, mem, "delayed_tasks", tasks->at[3]);
    hf_metrics_put(o, mem, "leased_tasks", tasks->at[4]);
    hf_metrics_put(o, mem, "tasks_added_last_minute", tasks->at[13]);
    hf_metrics_put(o, mem, "tasks_dispatched_last_minute", attempts);
    hf_metrics_put(o, mem, "retrying_activities", retrying);
    hf_metrics_put(o, mem, "unhealthy_tasks", tasks->at[18]);
    hf_metrics_put(o, mem, "repair_needed_runs", trouble->repair_needed.runs);
    hf_metrics_put(o, mem, "claim_failed_runs", trouble->claim_failed.runs);
    hf_metrics_put(o, mem, "compatibility_blocked_runs", trouble->unserved.runs);
    hf_metrics_age(o, mem, "oldest_compatibility_blocked_started_at",
                   "max_compatibility_blocked_age_ms", trouble->unserved.oldest_us, now_us);
    return hf_value_finish(o);
}

static hf_value repair_value(hf_mem *mem, const hf_trouble *t, int64_t now_us)
{
    const int64_t limit = hf_limit_get(HF_LIMIT_REPAIR_SCAN_LIMIT)->standard;
    hf_value_list *o = hf_value_object(mem);
    bool existing = t->existing.runs > limit;
    bool missing = t->missing.runs > limit || t->more;

    hf_metrics_put(o, mem, "existing_task_candidates", t->existing.runs);
    hf_metrics_put(o, mem, "missing_task_candidates", t->missing.runs);
    hf_metrics_put(o, mem, "total_candidates", t->existing.runs + t->missing.runs);
    hf_metrics_put(o, mem, "scan_limit", limit);
    hf_value_set(o, HF_SLICE("scan_strategy"), hf_value_string(mem, HF_SLICE("scope_fair")));
    hf_metrics_put(o, mem, "selected_existing_task_candidates", t->selected_existing);
    hf_metrics_put(o, mem, "selected_missing_task_candidates", t->selected_missing);
    hf_metrics_put(o, mem, "selected_total_candidates", t->selected_existing + t->selected_missing);
    hf_value_set(o, HF_SLICE("existing_task_scan_limit_reached"), hf_value_bool(existing));
    hf_value_set(o, HF_SLICE("missing_task_scan_limit_reached"), hf_value_bool(missing));
    hf_value_set(o, HF_SLICE("scan_pressure"), hf_value_bool(existing || missing));
    hf_metrics_age(o, mem, "oldest_task_candidate_created_at", "max_task_candidate_age_ms",
                   t->existing.oldest_us, now_us);
    hf_metrics_age(o, mem, "oldest_missing_run_started_at", "max_missing_run_age_ms",
                   t->missing.oldest_us, now_us);
    hf_value_set(o, HF_SLICE("scopes"), t->scopes);
    return hf_value_finish(o);
}

hf_status hf_metrics_work(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                          const hf_trouble *trouble, int64_t attempts, hf_value_list *into,
                          hf_err *err)
{
    const int64_t now_us = world->query->live.now_us;
    hf_value tasks = NULL;
    hf_value activities = NULL;
    int64_t retrying = 0;
    hf_metrics_row row;
    hf_status st = tasks_read(db, mem, now_us, &row, &tasks, err);

    if (!st)
        st = activities_read(db, mem, now_us, &retrying, &activities, err);
    if (st)
        return st;
    hf_value_set(into, HF_SLICE("tasks"), tasks);
    hf_value_set(into, HF_SLICE("activities"), activities);
    hf_value_set(into, HF_SLICE("backlog"),
                 backlog_value(mem, &row, attempts, retrying, trouble, now_us));
    hf_value_set(into, HF_SLICE("repair"), repair_value(mem, trouble, now_us));
    return HF_OK;
}
