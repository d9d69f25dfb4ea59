/* metrics_failures.c: failures in groups: see metrics.h. Workflow tasks that workers cannot do now
   come first, from the rows of the tasks; then what history has. */
#include <string.h>

#include "base/json.h"
#include "project/edge.h"
#include "project/fold.h"
#include "project/metrics_impl.h"

enum { FAILURES_MAX = 500, FAILURES = 50, FAULTS_READ = 1000, SAMPLES = 20, BUILDS_MAX = 50 };

static hf_value text_value(hf_mem *mem, hf_slice text)
{
    return hf_value_string(mem, text);
}

/* ---- tasks that fail now */

typedef struct fault_group {
    struct fault_group *next; /* in the order they were found */
    char print[HF_RUNFOLD_PRINT_SIZE];
    hf_slice name;
    hf_slice type;
    hf_slice message;
    const char *first;
    const char *last;
    int64_t count;
    int64_t runs;
} fault_group;

static hf_status fault_take(hf_mem *mem, hf_sha256 *sha, hf_db_cursor *c, fault_group **io_first,
                            hf_err *err)
{
    hf_slice name =
        hf_slice_from(hf_mem_text(mem, hf_db_column_bytes(c, 1)), hf_db_column_bytes(c, 1).len);
    hf_value body = NULL;
    fault_group **at = io_first;
    fault_group g = {.name = name, .runs = 1};
    hf_status st = hf_edge_json(mem, hf_db_column_bytes(c, 0), &body, err);

    if (st)
        return st;
    g.type = hf_slice_of(hf_str(body, "failure.type", ""));
    g.message = hf_slice_of(hf_str(body, "failure.message", ""));
    g.first = hf_str(body, "failure.first_at", "");
    g.last = hf_str(body, "failure.last_at", "");
    g.count = hf_int(body, "failure.total", 1);
    st = hf_runfold_print(sha, name, g.type, g.message, g.print, err);
    while (*at && strcmp((*at)->print, g.print) != 0)
        at = &(*at)->next;
    if (st)
        return st;
    if (!*at) {
        *at = hf_mem_alloc(mem, sizeof(g));
        if (!*at)
            return hf_err_nomem(err, "failures");
        **at = g;
        return HF_OK;
    }
    (*at)->count += g.count;
    (*at)->runs++;
    if (strcmp(g.first, (*at)->first) < 0)
        (*at)->first = g.first;
    if (strcmp(g.last, (*at)->last) > 0)
        (*at)->last = g.last;
    return HF_OK;
}

static hf_status faults_read(hf_db *db, hf_mem *mem, int64_t namespace_key, fault_group **out_first,
                             hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_int(FAULTS_READ)};
    hf_db_cursor *cursor = NULL;
    hf_sha256 *sha = NULL;
    bool row = true;
    hf_status st = hf_sha256_new(&sha, err);

    if (!st)
        st = hf_db_query(db, HF_STMT_TASK_FAULTS, params, 2, &cursor, err);
    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            st = fault_take(mem, sha, cursor, out_first, err);
    }
    hf_db_end(cursor);
    hf_sha256_free(sha);
    return st;
}

static hf_value fault_value(hf_mem *mem, const fault_group *g)
{
    hf_value_list *o = hf_value_object(mem);

    hf_value_set(o, HF_SLICE("fingerprint"), text_value(mem, hf_slice_of(g->print)));
    hf_metrics_put(o, mem, "count", g->count);
    hf_metrics_put(o, mem, "runs", g->runs);
    hf_value_set(o, HF_SLICE("first_seen_at"), text_value(mem, hf_slice_of(g->first)));
    hf_value_set(o, HF_SLICE("last_seen_at"), text_value(mem, hf_slice_of(g->last)));
    hf_metrics_put(o, mem, "handled", 0);
    hf_value_set(o, HF_SLICE("name"), text_value(mem, g->name));
    hf_value_set(o, HF_SLICE("failure_type"), text_value(mem, g->type));
    hf_value_set(o, HF_SLICE("message"), text_value(mem, g->message));
    hf_value_set(o, HF_SLICE("workflow_task"), hf_value_bool(true));
    return hf_value_finish(o);
}

/* ---- what history has */

static hf_value group_value(hf_mem *mem, hf_db_cursor *c)
{
    hf_value_list *o = hf_value_object(mem);

    hf_value_set(o, HF_SLICE("fingerprint"), text_value(mem, hf_db_column_bytes(c, 0)));
    hf_metrics_put(o, mem, "count", hf_db_column_int(c, 1));
    hf_metrics_put(o, mem, "runs", hf_db_column_int(c, 2));
    hf_value_set(o, HF_SLICE("first_seen_at"), hf_edge_time(mem, hf_db_column_int(c, 3)));
    hf_value_set(o, HF_SLICE("last_seen_at"), hf_edge_time(mem, hf_db_column_int(c, 4)));
    hf_metrics_put(o, mem, "handled", hf_db_column_int(c, 5));
    hf_value_set(o, HF_SLICE("name"), text_value(mem, hf_db_column_bytes(c, 6)));
    hf_value_set(o, HF_SLICE("failure_type"), text_value(mem, hf_db_column_bytes(c, 7)));
    hf_value_set(o, HF_SLICE("message"), text_value(mem, hf_db_column_bytes(c, 8)));
    return hf_value_finish(o);
}

hf_status hf_metrics_failures(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t since_us,
                              int64_t limit, hf_value *out_groups, hf_err *err)
{
    int64_t left = limit ? limit : FAILURES;
    hf_value_list *list = hf_value_array(mem);
    fault_group *faults = NULL;
    hf_db_cursor *cursor = NULL;
    hf_db_value params[3];
    bool row = true;
    hf_status st;

    if (limit < 0 || limit > FAILURES_MAX)
        return hf_err_set(err, HF_INVALID, "1 to %d groups of failures are listed", FAILURES_MAX);
    st = faults_read(db, mem, namespace_key, &faults, err);
    for (const fault_group *g = faults; !st && g && left; g = g->next, left--)
        hf_value_append(list, fault_value(mem, g));
    params[0] = hf_db_int(namespace_key);
    params[1] = hf_db_int(since_us);
    params[2] = hf_db_int(left);
    if (!st)
        st = hf_db_query(db, HF_STMT_FAILURE_GROUPS, params, 3, &cursor, err);
    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            hf_value_append(list, group_value(mem, cursor));
    }
    hf_db_end(cursor);
    *out_groups = hf_value_finish(list);
    return st ? st : *out_groups ? HF_OK : hf_err_nomem(err, "failures");
}

/* ---- one group */

typedef hf_value row_make(hf_mem *mem, hf_db_cursor *c);

static hf_status rows_read(hf_db *db, hf_mem *mem, hf_stmt stmt, const hf_db_value *params,
                           size_t count, row_make *make, hf_value *out_rows, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            hf_value_append(list, make(mem, cursor));
    }
    hf_db_end(cursor);
    *out_rows = hf_value_finish(list);
    return st ? st : *out_rows ? HF_OK : hf_err_nomem(err, "failures");
}

static hf_value text_or_null(hf_mem *mem, hf_db_cursor *c, size_t column)
{
    return hf_db_column_null(c, column) ? hf_value_null()
                                        : text_value(mem, hf_db_column_bytes(c, column));
}

static hf_value sample_value(hf_mem *mem, hf_db_cursor *c)
{
    hf_ulid id = hf_ulid_form(hf_db_column_int(c, 1), hf_db_column_int(c, 0), 0);
    int64_t step = hf_db_column_int(c, 4);

    return hf_json_(mem,
                    "{'workflow_id': %p, 'run_id': %p, 'workflow_type': %p, 'step': %p, 'at': %p, "
                    "'failure_type': %p, 'message': %p, 'handled': %p, 'build': %p}",
                    (const void *)text_value(mem, hf_db_column_bytes(c, 2)),
                    (const void *)hf_edge_id(mem, &id),
                    (const void *)text_value(mem, hf_db_column_bytes(c, 3)),
                    (const void *)(step ? hf_value_int(mem, step) : hf_value_null()),
                    (const void *)hf_edge_time(mem, hf_db_column_int(c, 5)),
                    (const void *)text_value(mem, hf_db_column_bytes(c, 6)),
                    (const void *)text_value(mem, hf_db_column_bytes(c, 7)),
                    (const void *)hf_value_bool(hf_db_column_int(c, 8) != 0),
                    (const void *)text_or_null(mem, c, 9));
}

static hf_value build_value(hf_mem *mem, hf_db_cursor *c)
{
    return text_or_null(mem, c, 0);
}

/* Of the rows of history, or of the tasks that fail now. */
static hf_status group_find(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice print,
                            hf_value *out_group, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(print)};
    fault_group *faults = NULL;
    hf_value groups = NULL;
    hf_status st = rows_read(db, mem, HF_STMT_FAILURE_GROUP, params, 2, group_value, &groups, err);

    if (st || hf_len(groups)) {
        *out_group = hf_at(groups, 0);
        return st;
    }
    st = faults_read(db, mem, namespace_key, &faults, err);
    while (faults && !hf_slice_equal(hf_slice_of(faults->print), print))
        faults = faults->next;
    if (!st && !faults)
        return hf_err_set(err, HF_NOTFOUND, "there are no failures of that kind");
    *out_group = st ? NULL : fault_value(mem, faults);
    return st ? st : *out_group ? HF_OK : hf_err_nomem(err, "failures");
}

hf_status hf_metrics_failure(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice print,
                             int64_t after_us, hf_value *out_group, hf_err *err)
{
    const hf_db_value sampled[] = {hf_db_int(namespace_key), hf_db_text(print), hf_db_int(SAMPLES)};
    const hf_db_value built[] = {hf_db_int(namespace_key), hf_db_text(print), hf_db_int(after_us),
                                 hf_db_int(BUILDS_MAX)};
    hf_value group = NULL;
    hf_value samples = NULL;
    hf_value builds = NULL;
    hf_status st = group_find(db, mem, namespace_key, print, &group, err);

    if (!st)
        st = rows_read(db, mem, HF_STMT_FAILURE_SAMPLES, sampled, 3, sample_value, &samples, err);
    if (!st)
        st = rows_read(db, mem, HF_STMT_FAILURE_BUILDS, built, 4, build_value, &builds, err);
    if (st)
        return st;
    *out_group = hf_json_(mem, "{'group': %p, 'samples': %p, 'builds': %p}", (const void *)group,
                          (const void *)samples, (const void *)builds);
    return *out_group ? HF_OK : hf_err_nomem(err, "failures");
}
