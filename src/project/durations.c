/* durations.c: see durations.h. */
#include "project/durations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "store/stmt.h"

typedef struct closed_run {
    int64_t ended; /* its status */
    int64_t at_us;
    int64_t open_us;
    hf_slice type;
    int64_t group; /* of runs that are counted together: a step, or a type */
} closed_run;

typedef struct closed_runs {
    closed_run *all;
    size_t count;
    int64_t looked_at;
} closed_runs;

static hf_status runs_read(hf_db *db, hf_mem *mem, const hf_db_value params[4], closed_runs *out,
                           hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_DURATIONS, params, 4, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (hf_db_column_int(cursor, 0) < 0) {
            out->looked_at = hf_db_column_int(cursor, 2);
        } else if (out->count < HF_DURATIONS_ROWS) {
            hf_slice type = hf_db_column_bytes(cursor, 3);
            const char *text = hf_mem_text(mem, type);

            if (!text)
                st = hf_err_nomem(err, "durations");
            out->all[out->count++] = (closed_run){.ended = hf_db_column_int(cursor, 0),
                                                  .at_us = hf_db_column_int(cursor, 1),
                                                  .open_us = hf_db_column_int(cursor, 2),
                                                  .type = hf_slice_from(text, type.len)};
        }
    }
    hf_db_end(cursor);
    return st;
}

static int by_type(const void *left, const void *right)
{
    const closed_run *a = left;
    const closed_run *b = right;

    return hf_slice_compare(a->type, b->type);
}

static int by_group(const void *left, const void *right)
{
    const closed_run *a = left;
    const closed_run *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->open_us > b->open_us) - (a->open_us < b->open_us);
}

/* The nearest rank: so many of a hundred were not open for longer. `of` are sorted by that. */
static long long percentile_ms(const closed_run *of, size_t count, size_t percent)
{
    return (long long)(of[(count * percent + 99) / 100 - 1].open_us / 1000);
}

/* How many there are from here on of the same group. */
static size_t group_size(const closed_runs *runs, size_t first)
{
    size_t end = first;

    while (end < runs->count && runs->all[end].group == runs->all[first].group)
        end++;
    return end - first;
}

static hf_value points_value(hf_mem *mem, closed_runs *runs, int64_t from_us, int64_t step_us)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < runs->count; i++)
        runs->all[i].group = (runs->all[i].at_us - from_us) / step_us;
    qsort(runs->all, runs->count, sizeof(*runs->all), by_group);
    for (size_t i = 0, n; i < runs->count; i += n) {
        const closed_run *of = &runs->all[i];

        n = group_size(runs, i);
        hf_value_append(
            list,
            hf_json_(mem,
                     "{'at': %p, 'closed': %zu, 'p50_ms': %lld, 'p95_ms': %lld, 'p99_ms': %lld}",
                     (const void *)hf_edge_time(mem, from_us + of->group * step_us), n,
                     percentile_ms(of, n, 50), percentile_ms(of, n, 95), percentile_ms(of, n, 99)));
    }
    return hf_value_finish(list);
}

typedef struct type_group {
    size_t first;
    size_t count;
} type_group;

static int by_size(const void *left, const void *right)
{
    const type_group *a = left;
    const type_group *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static hf_value type_value(hf_mem *mem, const closed_run *of, size_t count)
{
    size_t completed = 0;
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        completed += of[i].ended == HF_RUN_STATUS_COMPLETED;
        failed += of[i].ended == HF_RUN_STATUS_FAILED;
    }
    return hf_json_(mem,
                    "{'workflow_type': %p, 'closed': %zu, 'completed': %zu, 'failed': %zu, "
                    "'p50_ms': %lld, 'p95_ms': %lld}",
                    (const void *)hf_value_string(mem, of->type), count, completed, failed,
                    percentile_ms(of, count, 50), percentile_ms(of, count, 95));
}

static hf_value types_value(hf_mem *mem, closed_runs *runs)
{
    type_group *groups = hf_mem_array(mem, runs->count + 1, sizeof(*groups));
    hf_value_list *list = hf_value_array(mem);
    size_t count = 0;

    if (!groups)
        return NULL;
    qsort(runs->all, runs->count, sizeof(*runs->all), by_type);
    for (size_t i = 0; i < runs->count; i++)
        runs->all[i].group = i && hf_slice_equal(runs->all[i].type, runs->all[i - 1].type)
                                 ? runs->all[i - 1].group
                                 : (int64_t)i;
    qsort(runs->all, runs->count, sizeof(*runs->all), by_group);
    for (size_t i = 0; i < runs->count; i += groups[count++].count)
        groups[count] = (type_group){.first = i, .count = group_size(runs, i)};
    qsort(groups, count, sizeof(*groups), by_size);
    for (size_t i = 0; i < count && i < HF_DURATIONS_TYPES; i++)
        hf_value_append(list, type_value(mem, &runs->all[groups[i].first], groups[i].count));
    return hf_value_finish(list);
}

hf_status hf_durations_read(hf_db *db, hf_mem *mem, int64_t namespace_key, int64_t from_us,
                            int64_t to_us, int64_t points, hf_value *out, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_int(HF_DURATIONS_ROWS),
                                  hf_db_int(from_us), hf_db_int(to_us)};
    int64_t step_us = (to_us - from_us + points - 1) / points;
    closed_runs runs = {.all = hf_mem_array(mem, HF_DURATIONS_ROWS, sizeof(closed_run))};
    hf_value steps;
    hf_status st;

    if (!runs.all)
        return hf_err_nomem(err, "durations");
    st = runs_read(db, mem, params, &runs, err);
    if (st)
        return st;
    steps = points_value(mem, &runs, from_us, step_us);
    *out = hf_json_(mem, "{'points': %p, 'types': %p, 'looked_at': %lld, 'exact': %p}",
                    (const void *)steps, (const void *)types_value(mem, &runs),
                    (long long)runs.looked_at,
                    (const void *)hf_value_bool(runs.looked_at < HF_DURATIONS_ROWS));
    return *out ? HF_OK : hf_err_nomem(err, "durations");
}
