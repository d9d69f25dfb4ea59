/* flow.c: see flow.h. */
#include "project/flow.h"

#include "project/edge.h"

static const char *const count_names[HF_FLOW_COUNTS] = {
    "started",   "completed", "failed",   "cancelled", "terminated",
    "continued", "failures",  "attempts", "retries",   "events"};

/* Which count an event adds to besides HF_FLOW_EVENTS, which stands for none here. */
static hf_flow_count count_of(hf_event_type type)
{
    static const struct {
        hf_event_type type;
        hf_flow_count count;
    } rows[] = {{HF_EVENT_WORKFLOW_STARTED, HF_FLOW_STARTED},
                {HF_EVENT_WORKFLOW_COMPLETED, HF_FLOW_COMPLETED},
                {HF_EVENT_WORKFLOW_FAILED, HF_FLOW_FAILED},
                {HF_EVENT_WORKFLOW_TIMED_OUT, HF_FLOW_FAILED},
                {HF_EVENT_WORKFLOW_CANCELLED, HF_FLOW_CANCELLED},
                {HF_EVENT_WORKFLOW_TERMINATED, HF_FLOW_TERMINATED},
                {HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, HF_FLOW_CONTINUED},
                {HF_EVENT_ACTIVITY_FAILED, HF_FLOW_FAILURES},
                {HF_EVENT_ACTIVITY_TIMED_OUT, HF_FLOW_FAILURES},
                {HF_EVENT_ACTIVITY_STARTED, HF_FLOW_ATTEMPTS},
                {HF_EVENT_ACTIVITY_RETRY_SCHEDULED, HF_FLOW_RETRIES}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].type == type)
            return rows[i].count;
    return HF_FLOW_EVENTS;
}

/* Events come in the order of time, so the point is mostly the first one. */
static hf_flow *flow_find(hf_flow *flows, int64_t namespace_key, int64_t span_us, int64_t at_us)
{
    while (flows && (flows->at_us != at_us || flows->span_us != span_us ||
                     flows->namespace_key != namespace_key))
        flows = flows->next;
    return flows;
}

static hf_status event_add(hf_mem *mem, int64_t namespace_key, int64_t span_us,
                           const hf_event *event, hf_flow **io_flows, hf_err *err)
{
    int64_t at_us = event->time_us - event->time_us % span_us;
    hf_flow *flow = flow_find(*io_flows, namespace_key, span_us, at_us);

    if (!flow) {
        flow = hf_mem_array(mem, 1, sizeof(*flow));
        if (!flow)
            return hf_err_nomem(err, "a point");
        *flow = (hf_flow){
            .next = *io_flows, .namespace_key = namespace_key, .span_us = span_us, .at_us = at_us};
        *io_flows = flow;
    }
    flow->counts[HF_FLOW_EVENTS]++;
    if (count_of(event->type) != HF_FLOW_EVENTS)
        flow->counts[count_of(event->type)]++;
    return HF_OK;
}

hf_status hf_flow_add(hf_mem *mem, int64_t namespace_key, const hf_event *events, size_t count,
                      hf_flow **io_flows, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++) {
        st = event_add(mem, namespace_key, HF_FLOW_HOUR_US, &events[i], io_flows, err);
        if (!st)
            st = event_add(mem, namespace_key, HF_FLOW_MINUTE_US, &events[i], io_flows, err);
    }
    return st;
}

hf_row *hf_flow_row(hf_mem *mem, const hf_flow *flow, int64_t run, int64_t behind)
{
    hf_db_value cells[5 + HF_FLOW_COUNTS] = {hf_db_int(run), hf_db_int(behind),
                                             hf_db_int(flow->namespace_key),
                                             hf_db_int(flow->span_us), hf_db_int(flow->at_us)};

    for (size_t i = 0; i < HF_FLOW_COUNTS; i++)
        cells[5 + i] = hf_db_int(flow->counts[i]);
    return hf_row_cells(mem, HF_OP_METRIC_ADD, cells, 5 + HF_FLOW_COUNTS);
}

hf_status hf_flow_read(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t span_us,
                       int64_t from_us, int64_t to_us, int64_t limit, hf_value *out_points,
                       hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_int(span_us), hf_db_int(from_us),
                                  hf_db_int(to_us), hf_db_int(limit)};
    hf_value_list *list = hf_value_array(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_METRIC_LIST, params, 5, &cursor, err);

    while (!st && row) {
        hf_value_list *point;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        point = hf_value_object(mem);
        hf_value_set(point, HF_SLICE("at"), hf_edge_time(mem, hf_db_column_int(cursor, 0)));
        for (size_t i = 0; i < HF_FLOW_COUNTS; i++)
            hf_value_set(point, hf_slice_of(count_names[i]),
                         hf_value_int(mem, hf_db_column_int(cursor, 1 + i)));
        hf_value_append(list, hf_value_finish(point));
    }
    hf_db_end(cursor);
    if (st)
        return st;
    *out_points = hf_value_finish(list);
    return *out_points ? HF_OK : hf_err_nomem(err, "points");
}
