/* metrics_fleet.c: schedules, workers, and what the engine is set to: see metrics_impl.h. */
#include "project/edge.h"
#include "project/metrics_impl.h"

enum { SCHEDULES_MAX = 10000, WORKERS_MAX = 200 };

/* A schedule that should have fired so long ago is missed. */
#define MISSED_US INT64_C(60000000)

static hf_status schedules_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w,
                                hf_value *out_schedules, hf_err *err)
{
    const int64_t now_us = w->query->live.now_us;
    const hf_db_value params[] = {hf_db_int(w->query->namespace_key), hf_db_int(SCHEDULES_MAX)};
    int64_t active = 0, paused = 0, missed = 0, fires = 0, failures = 0, oldest_us = HF_NONE;
    hf_value_list *o = hf_value_object(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_METRICS_SCHEDULES, params, 2, &cursor, err);

    while (!st && row) {
        hf_value body = NULL;
        int64_t next_us;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        st = hf_edge_json(mem, hf_db_column_bytes(cursor, 3), &body, err);
        fires += hf_db_column_int(cursor, 2);
        failures += hf_int(body, "failures", 0);
        paused += hf_db_column_int(cursor, 0) == HF_SCHEDULE_STATUS_PAUSED;
        if (hf_db_column_int(cursor, 0) != HF_SCHEDULE_STATUS_ACTIVE)
            continue;
        active++;
        next_us = hf_db_column_null(cursor, 1) ? now_us : hf_db_column_int(cursor, 1);
        if (next_us > now_us - MISSED_US)
            continue;
        missed++;
        if (oldest_us == HF_NONE || next_us < oldest_us)
            oldest_us = next_us;
    }
    hf_db_end(cursor);
    if (st)
        return st;
    hf_metrics_put(o, mem, "active", active);
    hf_metrics_put(o, mem, "paused", paused);
    hf_metrics_put(o, mem, "missed", missed);
    hf_metrics_age(o, mem, "oldest_overdue_at", "max_overdue_ms", oldest_us, now_us);
    hf_metrics_put(o, mem, "fires_total", fires);
    hf_metrics_put(o, mem, "failures_total", failures);
    *out_schedules = hf_value_finish(o);
    return HF_OK;
}

/* Workers serve one queue per row. */
static hf_value workers_value(hf_mem *mem, const hf_metrics_world *w)
{
    const hf_fleet few = {.workers = w->fleet->workers,
                          .count = w->fleet->count > WORKERS_MAX ? WORKERS_MAX : w->fleet->count};
    hf_slice scope = w->query->scope;
    int64_t names = 0;
    int64_t supporting = 0;

    for (size_t i = 0; i < w->fleet->count; i++) {
        const hf_worker_row *worker = &w->fleet->workers[i];
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++)
            seen = hf_slice_equal(w->fleet->workers[j].name, worker->name);
        names += !seen;
        supporting += !seen && hf_fleet_supports(worker->supported, w->required);
    }
    return hf_json_(mem,
                    "{'compatibility_namespace': %p, 'required_compatibility': %p, "
                    "'active_workers': %lld, 'active_worker_scopes': %zu, "
                    "'active_workers_supporting_required': %lld, 'fleet': %p}",
                    (const void *)hf_edge_text(mem, scope.len ? scope : (hf_slice){0}),
                    (const void *)hf_edge_text(mem, w->required), (long long)names, w->fleet->count,
                    (long long)supporting, (const void *)hf_fleet_value(&few, w->required, mem));
}

/* ---- what the engine is set to */

static int64_t standard(hf_limit limit)
{
    return hf_limit_get(limit)->standard;
}

static hf_value limits_value(hf_mem *mem, const hf_limits *limits)
{
    hf_value_list *o = hf_value_object(mem);

    for (int64_t i = HF_LIMIT_PENDING_ACTIVITY_COUNT; i <= HF_LIMIT_WARNING_THRESHOLD_PERCENT; i++)
        hf_metrics_put(o, mem, hf_vocab_by_number(&hf_limit_list, i)->text,
                       hf_limits_get(limits, (hf_limit)i));
    return hf_value_finish(o);
}

static hf_value backend_value(hf_mem *mem, const hf_db *db)
{
    bool sqlite = hf_slice_equal(hf_slice_of(db->driver->name), HF_SLICE("sqlite"));

    return hf_json_(
        mem, "{'supported': true, 'database': {'driver': %s, 'supported': true}, 'issues': %p}",
        db->driver->name,
        (const void *)(sqlite ? hf_json_(mem, "[{'code': 'sqlite_concurrency_note', 'severity': "
                                              "'info', 'message': 'One process writes a SQLite "
                                              "store at a time.'}]")
                              : hf_json_(mem, "[]")));
}

static void settings_put(hf_value_list *into, hf_mem *mem, const hf_metrics_world *w,
                         const hf_db *db)
{
    hf_value_set(into, HF_SLICE("backend"), backend_value(mem, db));
    hf_value_set(into, HF_SLICE("structural_limits"), limits_value(mem, w->limits));
    hf_value_set(into, HF_SLICE("update_wait"),
                 hf_json_(mem,
                          "{'completion_timeout_seconds': %lld, 'poll_interval_milliseconds': "
                          "%lld}",
                          (long long)(w->update_wait_ms / 1000),
                          (long long)standard(HF_LIMIT_UPDATE_POLL_INTERVAL_MS)));
    hf_value_set(into, HF_SLICE("repair_policy"),
                 hf_json_(mem,
                          "{'redispatch_after_seconds': %lld, 'loop_throttle_seconds': %lld, "
                          "'scan_limit': %lld, 'scan_strategy': 'scope_fair', "
                          "'failure_backoff_max_seconds': %lld}",
                          (long long)standard(HF_LIMIT_REPAIR_REDISPATCH_SECONDS),
                          (long long)standard(HF_LIMIT_REPAIR_THROTTLE_SECONDS),
                          (long long)standard(HF_LIMIT_REPAIR_SCAN_LIMIT),
                          (long long)standard(HF_LIMIT_REPAIR_BACKOFF_MAX_SECONDS)));
    hf_value_set(into, HF_SLICE("matching_role"),
                 hf_json_(mem, "{'queue_wake_enabled': true, 'shape': 'in_worker', 'wake_owner': "
                               "'writer', 'task_dispatch_mode': 'push_and_poll', "
                               "'partition_primitives': ['connection', 'queue', 'compatibility', "
                               "'namespace'], 'backpressure_model': 'lease_ownership'}"));
    hf_value_set(into, HF_SLICE("sticky_execution"),
                 hf_json_(mem, "{'enabled': true, 'ttl_seconds': %lld}",
                          (long long)standard(HF_LIMIT_STICKY_TTL_SECONDS)));
}

hf_status hf_metrics_fleet(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                           hf_value_list *into, hf_err *err)
{
    hf_value schedules = NULL;
    hf_status st = schedules_read(db, mem, world, &schedules, err);

    if (st)
        return st;
    hf_value_set(into, HF_SLICE("schedules"), schedules);
    hf_value_set(into, HF_SLICE("workers"), workers_value(mem, world));
    settings_put(into, mem, world, db);
    return HF_OK;
}
