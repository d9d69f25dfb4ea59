/* metrics.c: see metrics.h. */
#include "project/metrics.h"

#include <stdio.h>

#include "project/edge.h"
#include "project/fold.h"
#include "project/metrics_impl.h"

enum { ORPHANS_LOOKED = 10000 }; /* chunks of history, the oldest: where retention works */

hf_status hf_metrics_numbers(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                             hf_metrics_row *out_row, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    *out_row = (hf_metrics_row){0};
    if (!st)
        st = hf_db_step(cursor, &row, err);
    for (size_t i = 0; !st && row && i < hf_db_column_count(cursor) && i < HF_METRICS_NUMBERS; i++)
        out_row->at[i] = hf_column_or_none(cursor, i);
    hf_db_end(cursor);
    return st;
}

void hf_metrics_put(hf_value_list *o, hf_mem *mem, const char *name, int64_t number)
{
    hf_value_set(o, hf_slice_of(name), hf_value_int(mem, number == HF_NONE ? 0 : number));
}

void hf_metrics_age(hf_value_list *o, hf_mem *mem, const char *at, const char *age, int64_t time_us,
                    int64_t now_us)
{
    hf_value_set(o, hf_slice_of(at), hf_edge_time(mem, time_us));
    hf_metrics_put(o, mem, age,
                   time_us == HF_NONE || time_us > now_us ? 0 : (now_us - time_us) / 1000);
}

/* ---- runs, starts, history */

/* What the summaries of all runs say together. */
typedef struct summed {
    int64_t by_end[9]; /* by the status that closed them; 0: open */
    int64_t total, archived, recommended, near, events;
    int64_t events_max, bytes_max, fan_out_max;
} summed;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static hf_status summaries_sum(hf_db *db, int64_t namespace_key, summed *out, hf_err *err)
{
    const hf_db_value param = hf_db_int(namespace_key);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_METRICS_RUNS, &param, 1, &cursor, err);

    *out = (summed){0};
    while (!st && row) {
        int64_t end;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        end = hf_db_column_int(cursor, 0);
        if (end >= 0 && end < 9)
            out->by_end[end] = hf_db_column_int(cursor, 1);
        out->total += hf_db_column_int(cursor, 1);
        out->archived += hf_db_column_int(cursor, 2);
        out->events_max = larger(hf_db_column_int(cursor, 4), out->events_max);
        out->bytes_max = larger(hf_db_column_int(cursor, 5), out->bytes_max);
        out->recommended += hf_db_column_int(cursor, 6);
        out->near += hf_db_column_int(cursor, 7);
        out->fan_out_max = larger(hf_db_column_int(cursor, 8), out->fan_out_max);
        out->events += hf_db_column_int(cursor, 9);
    }
    hf_db_end(cursor);
    return st;
}

static hf_value runs_value(hf_mem *mem, const summed *sum, const hf_metrics_row *open,
                           const hf_trouble *trouble, int64_t now_us)
{
    hf_value_list *o = hf_value_object(mem);

    hf_metrics_put(o, mem, "total", sum->total);
    hf_metrics_put(o, mem, "current", open->at[0]);
    hf_metrics_put(o, mem, "running", sum->by_end[0]);
    hf_metrics_put(o, mem, "completed", sum->by_end[HF_RUN_STATUS_COMPLETED]);
    hf_metrics_put(o, mem, "failed", sum->by_end[HF_RUN_STATUS_FAILED]);
    hf_metrics_put(o, mem, "cancelled", sum->by_end[HF_RUN_STATUS_CANCELLED]);
    hf_metrics_put(o, mem, "terminated", sum->by_end[HF_RUN_STATUS_TERMINATED]);
    hf_metrics_put(o, mem, "archived", sum->archived);
    hf_metrics_put(o, mem, "repair_needed", trouble->repair_needed.runs);
    hf_metrics_age(o, mem, "oldest_repair_needed_at", "max_repair_needed_age_ms",
                   trouble->repair_needed.oldest_us, now_us);
    hf_metrics_put(o, mem, "claim_failed", trouble->claim_failed.runs);
    hf_metrics_put(o, mem, "compatibility_blocked", trouble->unserved.runs);
    hf_metrics_put(o, mem, "replay_blocked", open->at[2]);
    hf_metrics_age(o, mem, "oldest_replay_blocked_at", "max_replay_blocked_age_ms", open->at[4],
                   now_us);
    hf_metrics_put(o, mem, "quarantined", open->at[3]);
    hf_metrics_put(o, mem, "waiting", open->at[1]);
    hf_metrics_age(o, mem, "oldest_wait_started_at", "max_wait_age_ms", open->at[5], now_us);
    return hf_value_finish(o);
}

static hf_value history_value(hf_mem *mem, const summed *sum, int64_t orphans)
{
    hf_value_list *o = hf_value_object(mem);

    hf_metrics_put(o, mem, "continue_as_new_recommended_runs", sum->recommended);
    hf_metrics_put(o, mem, "approaching_budget_runs", sum->near);
    hf_metrics_put(o, mem, "events", sum->events);
    hf_metrics_put(o, mem, "history_orphan_total", orphans);
    hf_metrics_put(o, mem, "max_event_count", sum->events_max);
    hf_metrics_put(o, mem, "max_size_bytes", sum->bytes_max);
    hf_metrics_put(o, mem, "max_fan_out", sum->fan_out_max);
    hf_metrics_put(o, mem, "event_threshold",
                   hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard);
    hf_metrics_put(o, mem, "size_bytes_threshold",
                   hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard);
    hf_metrics_put(o, mem, "fan_out_threshold",
                   hf_limit_get(HF_LIMIT_BUDGET_FAN_OUT_THRESHOLD)->standard);
    return hf_value_finish(o);
}

/* What a run recorded of its contract when it started is all there ever is: nothing is filled in
   later from the code of today, so that what would be needed is not available. */
static hf_value contracts_value(hf_mem *mem, int64_t without)
{
    hf_value_list *o = hf_value_object(mem);

    hf_metrics_put(o, mem, "backfill_needed_runs", without);
    hf_metrics_put(o, mem, "backfill_available_runs", 0);
    hf_metrics_put(o, mem, "backfill_unavailable_runs", without);
    return hf_value_finish(o);
}

static hf_status runs_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w,
                           const hf_trouble *trouble, int64_t *out_attempts, hf_value_list *into,
                           hf_err *err)
{
    const int64_t now_us = w->query->live.now_us;
    const hf_db_value params[] = {hf_db_int(w->query->namespace_key), hf_db_int(ORPHANS_LOOKED),
                                  hf_db_int(now_us)};
    hf_value_list *starts = hf_value_object(mem);
    hf_metrics_row open;
    hf_metrics_row first;
    summed sum;
    hf_status st = summaries_sum(db, w->query->namespace_key, &sum, err);

    if (!st)
        st = hf_metrics_numbers(db, HF_STMT_METRICS_OPEN, params, 1, &open, err);
    if (!st)
        st = hf_metrics_numbers(db, HF_STMT_METRICS_STARTS, params, 3, &first, err);
    if (st)
        return st;
    hf_value_set(into, HF_SLICE("runs"), runs_value(mem, &sum, &open, trouble, now_us));
    hf_metrics_put(starts, mem, "pending_runs", open.at[6]);
    hf_metrics_put(starts, mem, "pending_commands", open.at[6]); /* an accepted start is a run */
    hf_metrics_put(starts, mem, "ready_tasks", first.at[0]);
    hf_metrics_age(starts, mem, "oldest_pending_start_at", "max_pending_ms", open.at[7], now_us);
    hf_value_set(into, HF_SLICE("starts"), hf_value_finish(starts));
    hf_value_set(into, HF_SLICE("history"), history_value(mem, &sum, first.at[1]));
    hf_value_set(into, HF_SLICE("command_contracts"), contracts_value(mem, open.at[8]));
    *out_attempts = first.at[2];
    return HF_OK;
}

/* ---- projections */

/* Waits, timeline, timers and lineage of a run lie in one row, so that their numbers are the same.
 */
static hf_value logs_value(hf_mem *mem, const hf_metrics_row *n)
{
    return hf_json_(mem,
                    "{'projected_runs': %lld, 'schema_outdated': %lld, 'missing_runs': %lld, "
                    "'stale_projected_runs': %lld, 'orphaned': %lld, 'needs_rebuild': %p}",
                    (long long)n->at[6], (long long)n->at[7], (long long)n->at[8],
                    (long long)n->at[10], (long long)n->at[11],
                    (const void *)hf_value_bool(n->at[7] || n->at[8] || n->at[10] || n->at[11]));
}

static hf_status projections_read(hf_db *db, hf_mem *mem, const hf_metrics_world *w,
                                  hf_value_list *into, hf_err *err)
{
    static const char *const names[] = {"run_waits", "run_timeline_entries", "run_timer_entries",
                                        "run_lineage_entries"};
    const hf_db_value param = hf_db_int(HF_RUNFOLD_VERSION);
    hf_value_list *o = hf_value_object(mem);
    hf_value_list *summaries = hf_value_object(mem);
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(db, HF_STMT_METRICS_PROJECTIONS, &param, 1, &n, err);

    if (st)
        return st;
    hf_metrics_put(summaries, mem, "runs", n.at[0]);
    hf_metrics_put(summaries, mem, "summaries", n.at[1]);
    hf_metrics_put(summaries, mem, "missing", n.at[2]);
    hf_metrics_put(summaries, mem, "orphaned", n.at[3]);
    hf_metrics_put(summaries, mem, "stale", n.at[4]);
    hf_metrics_put(summaries, mem, "schema_outdated", n.at[5]);
    hf_metrics_put(summaries, mem, "with_open_waits", n.at[12]);
    hf_metrics_age(summaries, mem, "oldest_missing_run_started_at", "max_missing_run_age_ms",
                   n.at[9], w->query->live.now_us);
    hf_value_set(summaries, HF_SLICE("needs_rebuild"),
                 hf_value_bool(n.at[2] || n.at[3] || n.at[5]));
    hf_value_set(o, HF_SLICE("run_summaries"), hf_value_finish(summaries));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_value_set(o, hf_slice_of(names[i]), logs_value(mem, &n));
    hf_value_set(
        o, HF_SLICE("folder"),
        hf_json_(mem,
                 "{'runs': %llu, 'events': %llu, 'rebuilt_missing': %llu, 'rebuilt_stale': %llu, "
                 "'failures': %llu, 'set_aside_runs': %llu, 'waiting': %llu}",
                 (unsigned long long)w->folded_runs, (unsigned long long)w->folded_events,
                 (unsigned long long)w->rebuilt_missing, (unsigned long long)w->rebuilt_stale,
                 (unsigned long long)w->fold_failures, (unsigned long long)w->fold_aside,
                 (unsigned long long)w->fold_waiting));
    hf_value_set(into, HF_SLICE("projections"), hf_value_finish(o));
    return HF_OK;
}

hf_status hf_metrics_read(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                          hf_value *out_metrics, hf_err *err)
{
    hf_value_list *o = hf_value_object(mem);
    hf_trouble trouble;
    int64_t attempts = 0;
    hf_status st = hf_trouble_read(db, mem, world->query, &trouble, err);

    hf_value_set(o, HF_SLICE("generated_at"), hf_edge_time(mem, world->query->live.now_us));
    if (!st)
        st = runs_read(db, mem, world, &trouble, &attempts, o, err);
    if (!st)
        st = hf_metrics_work(db, mem, world, &trouble, attempts, o, err);
    if (!st)
        st = projections_read(db, mem, world, o, err);
    if (!st)
        st = hf_metrics_fleet(db, mem, world, o, err);
    hf_value_set(o, HF_SLICE("machines"),
                 hf_json_(mem, "{'stale_steps': %lld}", (long long)world->stale_steps));
    *out_metrics = hf_value_finish(o);
    if (!st && !*out_metrics)
        st = hf_err_nomem(err, "metrics");
    return hf_err_because(err, st, "read metrics");
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
