/* metrics_stats.c: what a dashboard shows first: see metrics.h. */
#include "project/edge.h"
#include "project/metrics_impl.h"

/* ---- statistics */

/* Who holds a record, and with what: {id, instance_id, workflow_type, NAME}. */
static hf_value record_value(hf_mem *mem, hf_db_cursor *c, const char *name, int64_t value)
{
    hf_ulid id = hf_ulid_form(hf_db_column_int(c, 2), hf_db_column_int(c, 1), 0);
    hf_value_list *o = hf_value_object(mem);

    hf_value_set(o, HF_SLICE("id"), hf_edge_id(mem, &id));
    hf_value_set(o, HF_SLICE("instance_id"), hf_value_string(mem, hf_db_column_bytes(c, 3)));
    hf_value_set(o, HF_SLICE("workflow_type"), hf_value_string(mem, hf_db_column_bytes(c, 4)));
    hf_metrics_put(o, mem, name, value);
    return hf_value_finish(o);
}

/* The longest wait, the longest life and the most failures of the last week; null: nobody. */
static hf_status records_read(hf_db *db, hf_mem *mem, const hf_list_query *q, int64_t since_us,
                              hf_value out_records[3], hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(q->namespace_key), hf_db_int(since_us)};
    static const char *const names[] = {"waiting_ms", "duration_ms", "exception_count"};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_METRICS_RECORDS, params, 2, &cursor, err);

    for (size_t i = 0; i < 3; i++)
        out_records[i] = hf_value_null();
    while (!st && row) {
        int64_t kind;
        int64_t value;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        kind = hf_db_column_int(cursor, 0);
        value = hf_db_column_int(cursor, 5);
        if (kind == 1)
            value = (q->live.now_us - value) / 1000;
        if (kind == 2)
            value /= 1000;
        out_records[kind - 1] = record_value(mem, cursor, names[kind - 1], value);
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_metrics_stats(hf_db *db, hf_mem *mem, const hf_metrics_world *world, hf_value metrics,
                           hf_value *out_stats, hf_err *err)
{
    const int64_t second = 1000000;
    const int64_t now_us = world->query->live.now_us;
    const int64_t week_us = now_us - 7 * 86400 * second;
    const hf_db_value params[] = {hf_db_int(world->query->namespace_key),
                                  hf_db_int(now_us - 60 * second),
                                  hf_db_int(now_us - 3600 * second), hf_db_int(week_us)};
    static const char *const counts[] = {"flows_per_minute", "flows_past_hour",
                                         "exceptions_past_hour", "failed_flows_past_week"};
    static const char *const records[] = {"max_wait_time_workflow", "max_duration_workflow",
                                          "max_exceptions_workflow"};
    hf_value_list *o = hf_value_object(mem);
    hf_value held[3];
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(db, HF_STMT_METRICS_RECENT, params, 4, &n, err);

    if (!st)
        st = records_read(db, mem, world->query, week_us, held, err);
    if (st)
        return st;
    hf_metrics_put(o, mem, "flows", hf_int(metrics, "runs.total", 0));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        hf_metrics_put(o, mem, counts[i], n.at[i]);
    for (size_t i = 0; i < 3; i++)
        hf_value_set(o, hf_slice_of(records[i]), held[i]);
    hf_value_set(o, HF_SLICE("operator_metrics"), metrics);
    *out_stats = hf_value_finish(o);
    return *out_stats ? HF_OK : hf_err_nomem(err, "statistics");
}
