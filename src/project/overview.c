/* overview.c: see overview.h. */
#include "project/overview.h"

#include "base/id.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "project/flow.h"
#include "project/metrics_impl.h"

/* Whose numbers are read, and into what. */
typedef struct look {
    hf_db *db;
    hf_mem *mem;
    int64_t namespace_key;
    int64_t now_us;
    hf_value_list *into;
    hf_err *err;
} look;

static void put(look *l, const char *name, hf_value value)
{
    hf_value_set(l->into, hf_slice_of(name), value);
}

/* ---- rows */

typedef void row_fn(look *l, hf_db_cursor *row, void *ctx);

static hf_status rows_each(look *l, hf_stmt stmt, const hf_db_value *params, size_t count,
                           row_fn *each, void *ctx)
{
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(l->db, stmt, params, count, &cursor, l->err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, l->err);
        if (!st && row)
            each(l, cursor, ctx);
    }
    hf_db_end(cursor);
    return st;
}

/* ---- runs */

static void run_add(look *l, hf_db_cursor *row, void *ctx)
{
    int64_t *by_status = ctx;
    int64_t status = hf_db_column_int(row, 0);

    (void)l;
    if (status > 0 && status <= HF_RUN_STATUS_RESERVED)
        by_status[status] = hf_db_column_int(row, 1);
}

static int64_t capped(int64_t n, bool *io_exact)
{
    if (n <= HF_OVERVIEW_ROWS)
        return n;
    *io_exact = false;
    return HF_OVERVIEW_ROWS;
}

static hf_status runs_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(HF_OVERVIEW_ROWS + 1)};
    int64_t n[HF_RUN_STATUS_RESERVED + 1] = {0};
    bool exact = true;
    hf_status st = rows_each(l, HF_STMT_OVERVIEW_RUNS, params, 2, run_add, n);
    int64_t open = capped(
        n[HF_RUN_STATUS_PENDING] + n[HF_RUN_STATUS_RUNNING] + n[HF_RUN_STATUS_WAITING], &exact);

    for (size_t i = HF_RUN_STATUS_CANCELLED; i <= HF_RUN_STATUS_FAILED; i++)
        n[i] = capped(n[i], &exact);
    put(l, "runs",
        hf_json_(l->mem,
                 "{'open': %lld, 'pending': %lld, 'running': %lld, 'waiting': %lld, 'completed': "
                 "%lld, 'failed': %lld, 'cancelled': %lld, 'terminated': %lld, 'exact': %p}",
                 (long long)open, (long long)n[HF_RUN_STATUS_PENDING],
                 (long long)n[HF_RUN_STATUS_RUNNING], (long long)n[HF_RUN_STATUS_WAITING],
                 (long long)n[HF_RUN_STATUS_COMPLETED], (long long)n[HF_RUN_STATUS_FAILED],
                 (long long)n[HF_RUN_STATUS_CANCELLED], (long long)n[HF_RUN_STATUS_TERMINATED],
                 (const void *)hf_value_bool(exact)));
    return st;
}

typedef struct type_list {
    hf_value_list *list;
    int64_t runs;
} type_list;

static void type_add(look *l, hf_db_cursor *row, void *ctx)
{
    type_list *types = ctx;

    types->runs += hf_db_column_int(row, 4);
    hf_value_append(
        types->list,
        hf_json_(l->mem, "{'workflow_type': %p, 'open': %lld, 'completed': %lld, 'failed': %lld}",
                 (const void *)hf_value_string(l->mem, hf_db_column_bytes(row, 0)),
                 (long long)hf_db_column_int(row, 1), (long long)hf_db_column_int(row, 2),
                 (long long)hf_db_column_int(row, 3)));
}

static hf_status types_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(HF_OVERVIEW_ROWS),
                                  hf_db_int(HF_OVERVIEW_TYPES)};
    type_list types = {.list = hf_value_array(l->mem)};
    hf_status st = rows_each(l, HF_STMT_OVERVIEW_TYPES, params, 3, type_add, &types);

    put(l, "types", hf_value_finish(types.list));
    put(l, "types_exact", hf_value_bool(types.runs < HF_OVERVIEW_ROWS));
    return st;
}

/* ---- records */

static void record_add(look *l, hf_db_cursor *row, void *ctx)
{
    hf_value *records = ctx;
    static const char *const names[] = {"open_ms", "failures", "events"};
    int64_t kind = hf_db_column_int(row, 0);
    int64_t value = hf_db_column_int(row, 5);
    hf_ulid id = hf_ulid_form(hf_db_column_int(row, 2), hf_db_column_int(row, 1), 0);
    hf_value_list *o = hf_value_object(l->mem);

    hf_value_put(o, "workflow_id", hf_value_string(l->mem, hf_db_column_bytes(row, 3)));
    hf_value_put(o, "run_id", hf_edge_id(l->mem, &id));
    hf_value_put(o, "workflow_type", hf_value_string(l->mem, hf_db_column_bytes(row, 4)));
    hf_value_put(o, "started_at", hf_edge_time(l->mem, hf_db_column_int(row, 2)));
    hf_metrics_put(o, l->mem, names[kind - 1], kind == 1 ? (l->now_us - value) / 1000 : value);
    records[kind - 1] = hf_value_finish(o);
}

static hf_status records_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(HF_OVERVIEW_ROWS)};
    hf_value records[3] = {hf_value_null(), hf_value_null(), hf_value_null()};
    hf_status st = rows_each(l, HF_STMT_OVERVIEW_RECORDS, params, 2, record_add, records);

    put(l, "records",
        hf_json_(l->mem, "{'longest_open': %p, 'most_retries': %p, 'biggest_history': %p}",
                 (const void *)records[0], (const void *)records[1], (const void *)records[2]));
    return st;
}

/* ---- rates */

static hf_status rates_read(look *l)
{
    static const char *const closing[] = {"completed", "failed", "cancelled", "terminated",
                                          "continued"};
    int64_t to_us = l->now_us - l->now_us % HF_FLOW_MINUTE_US;
    hf_value points = NULL;
    int64_t started = 0;
    int64_t closed = 0;
    int64_t failed = 0;
    int64_t retries = 0;
    hf_status st = hf_flow_read(l->db, l->mem, l->namespace_key, HF_FLOW_MINUTE_US,
                                to_us - HF_OVERVIEW_MINUTES * HF_FLOW_MINUTE_US, to_us,
                                HF_OVERVIEW_MINUTES, &points, l->err);

    for (size_t i = 0; i < hf_len(points); i++) {
        hf_value point = hf_at(points, i);

        started += hf_int(point, "started", 0);
        failed += hf_int(point, "failed", 0);
        retries += hf_int(point, "retries", 0);
        for (size_t j = 0; j < sizeof(closing) / sizeof(closing[0]); j++)
            closed += hf_int(point, closing[j], 0);
    }
    put(l, "rates",
        hf_json_(l->mem,
                 "{'started_per_minute': %f, 'closed_per_minute': %f, 'failed_share': %f, "
                 "'retries_per_minute': %f, 'minutes': %d}",
                 (double)started / HF_OVERVIEW_MINUTES, (double)closed / HF_OVERVIEW_MINUTES,
                 closed ? (double)failed / (double)closed : 0.0,
                 (double)retries / HF_OVERVIEW_MINUTES, HF_OVERVIEW_MINUTES));
    return st;
}

/* ---- work */

static hf_status backlog_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(l->now_us),
                                  hf_db_int(HF_OVERVIEW_ROWS)};
    static const char *const names[] = {"ready", "delayed", "leased"};
    hf_value_list *o = hf_value_object(l->mem);
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(l->db, HF_STMT_OVERVIEW_WORK, params, 3, &n, l->err);

    for (size_t i = 0; i < 3; i++)
        hf_metrics_put(o, l->mem, names[i], n.at[i]);
    hf_metrics_age(o, l->mem, "oldest_ready_at", "oldest_ready_age_ms", n.at[4] ? n.at[3] : HF_NONE,
                   l->now_us);
    hf_value_put(o, "exact", hf_value_bool(n.at[4] < HF_OVERVIEW_ROWS));
    put(l, "backlog", hf_value_finish(o));
    return st;
}

static void minute_add(look *l, hf_db_cursor *row, void *ctx)
{
    int64_t *minutes = ctx;
    int64_t at = hf_db_column_int(row, 0);

    (void)l;
    if (at >= 0 && at < 60)
        minutes[at] = hf_db_column_int(row, 1);
}

static hf_status timers_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(l->now_us),
                                  hf_db_int(l->now_us + HF_FLOW_HOUR_US),
                                  hf_db_int(HF_OVERVIEW_ROWS)};
    int64_t minutes[60] = {0};
    hf_value_list *list = hf_value_array(l->mem);
    hf_status st = rows_each(l, HF_STMT_OVERVIEW_TIMERS, params, 4, minute_add, minutes);

    for (size_t i = 0; i < 60; i++)
        hf_value_append(list, hf_value_int(l->mem, minutes[i]));
    put(l, "timers_next_hour", hf_value_finish(list));
    return st;
}

/* ---- the rest */

static hf_status folds_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key), hf_db_int(HF_OVERVIEW_ROWS)};
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(l->db, HF_STMT_OVERVIEW_FOLDS, params, 2, &n, l->err);

    put(l, "failures", hf_value_int(l->mem, n.at[0]));
    put(l, "projections",
        hf_json_(l->mem, "{'missing': %lld, 'stale': %lld, 'orphaned': %lld, 'needs_rebuild': %p}",
                 (long long)n.at[1], (long long)n.at[2], (long long)n.at[3],
                 (const void *)hf_value_bool(n.at[1] || n.at[3])));
    return st;
}

static hf_status schedules_read(look *l)
{
    const hf_db_value params[] = {hf_db_int(l->namespace_key),
                                  hf_db_int(l->now_us - INT64_C(1000000) * HF_OVERVIEW_LATE_S),
                                  hf_db_int(HF_OVERVIEW_ROWS)};
    static const char *const names[] = {"active", "paused", "missed"};
    hf_value_list *o = hf_value_object(l->mem);
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(l->db, HF_STMT_OVERVIEW_SCHEDULES, params, 3, &n, l->err);

    for (size_t i = 0; i < 3; i++)
        hf_metrics_put(o, l->mem, names[i], n.at[i]);
    put(l, "schedules", hf_value_finish(o));
    return st;
}

hf_status hf_overview_read(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t now_us,
                           hf_value *out_overview, hf_err *err)
{
    static hf_status (*const parts[])(look *) = {runs_read,   rates_read,    backlog_read,
                                                 timers_read, types_read,    records_read,
                                                 folds_read,  schedules_read};
    look l = {.db = db,
              .mem = mem,
              .namespace_key = namespace_key,
              .now_us = now_us,
              .into = hf_value_object(mem),
              .err = err};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(parts) / sizeof(parts[0]); i++)
        st = parts[i](&l);
    if (st)
        return st;
    *out_overview = hf_value_finish(l.into);
    return *out_overview ? HF_OK : hf_err_nomem(err, "an overview");
}
