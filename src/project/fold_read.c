/* fold_read.c: see fold_read.h. Rows may come in any order: each says which run it is of. */
#include "project/fold_read.h"

#include "base/buf.h"
#include "store/row.h"

/* Takes one row of a run; false: no memory. */
typedef bool row_take(hf_mem *mem, hf_db_cursor *row, hf_fold_source *source);

const hf_runfold_open hf_fold_open_order[HF_RUNFOLD_OPEN_COUNT] = {
    HF_RUNFOLD_ACTIVITY, HF_RUNFOLD_CONDITION, HF_RUNFOLD_SIGNAL, HF_RUNFOLD_TIMER,
    HF_RUNFOLD_CHILD,    HF_RUNFOLD_UPDATE,    HF_RUNFOLD_TIMEOUT};

static bool bytes_take(hf_mem *mem, hf_db_cursor *row, size_t column, hf_slice *out_bytes)
{
    hf_slice bytes = hf_db_column_bytes(row, column);

    *out_bytes = (hf_slice){0};
    if (hf_db_column_null(row, column))
        return true;
    *out_bytes = hf_slice_from(hf_mem_text(mem, bytes), bytes.len);
    return out_bytes->ptr != NULL;
}

static bool source_take(hf_mem *mem, hf_db_cursor *row, hf_fold_source *s)
{
    hf_runfold_columns *c = &s->columns;

    s->found = true;
    s->last_seq = hf_db_column_int(row, 1);
    s->history_bytes = hf_db_column_int(row, 3);
    s->closed_us = hf_column_or_none(row, 4);
    s->closed_reason = hf_column_or_none(row, 5);
    s->archived_us = hf_column_or_none(row, 6);
    s->declared = !hf_db_column_null(row, 7);
    s->folded_seq = hf_column_or_none(row, 8);
    s->version = hf_db_column_int(row, 9);
    *c = (hf_runfold_columns){.exception_count = hf_db_column_int(row, 10),
                              .open_steps = hf_db_column_int(row, 11),
                              .fan_out = hf_db_column_int(row, 12)};
    s->namespace_key = hf_db_column_int(row, 17);
    s->log_version = hf_column_or_none(row, 19);
    s->log_seq = hf_db_column_int(row, 20);
    for (size_t i = 0; i < HF_RUNFOLD_OPEN_COUNT; i++)
        c->open[hf_fold_open_order[i]] = hf_db_column_int(row, 22 + i);
    return bytes_take(mem, row, 2, &s->head) && bytes_take(mem, row, 13, &c->failure_print) &&
           bytes_take(mem, row, 14, &c->labels) && bytes_take(mem, row, 15, &c->attributes) &&
           bytes_take(mem, row, 16, &c->compatibility) && bytes_take(mem, row, 18, &s->type) &&
           bytes_take(mem, row, 21, &s->log_head);
}

static bool pack_take(hf_mem *mem, hf_db_cursor *row, hf_fold_source *s)
{
    s->log_version = hf_db_column_int(row, 1);
    s->log_seq = hf_db_column_int(row, 2);
    return bytes_take(mem, row, 3, &s->log_head) && bytes_take(mem, row, 4, &s->pack);
}

static void chunk_place(hf_fold_source *s, hf_fold_chunk *chunk)
{
    hf_fold_chunk **place = &s->chunks;

    if (s->last && s->last->first < chunk->first)
        place = &s->last->next;
    while (*place && (*place)->first < chunk->first)
        place = &(*place)->next;
    chunk->next = *place;
    *place = chunk;
    if (!chunk->next)
        s->last = chunk;
}

/* Chunks that came since the run's row was read are left for the next time. */
static bool chunk_take(hf_mem *mem, hf_db_cursor *row, hf_fold_source *s)
{
    int64_t first = hf_db_column_int(row, 1);
    hf_fold_chunk *chunk;

    if (first > s->last_seq)
        return true;
    chunk = hf_mem_alloc(mem, sizeof(*chunk));
    if (!chunk || !bytes_take(mem, row, 2, &chunk->body) || !bytes_take(mem, row, 3, &chunk->hash))
        return false;
    chunk->first = first;
    chunk_place(s, chunk);
    return true;
}

/* Rows of a run mostly follow each other, in the order in which the runs were asked for. */
static hf_fold_source *source_find(hf_fold_source *const *sources, size_t count, int64_t run,
                                   size_t *io_at)
{
    for (size_t i = 0; i < count; i++, *io_at = (*io_at + 1) % count)
        if (sources[*io_at]->run == run)
            return sources[*io_at];
    return NULL;
}

static hf_status rows_read(hf_db *db, hf_mem *mem, hf_stmt stmt, hf_slice keys, row_take *take,
                           hf_fold_source *const *sources, size_t count, hf_err *err)
{
    const hf_db_value param = hf_db_text(keys);
    hf_db_cursor *cursor = NULL;
    size_t at = 0;
    bool row = true;
    hf_status st = hf_db_query(db, stmt, &param, 1, &cursor, err);

    while (!st && row) {
        hf_fold_source *source;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        source = source_find(sources, count, hf_db_column_int(cursor, 0), &at);
        if (source && !take(mem, cursor, source))
            st = hf_err_nomem(err, "what a fold is made from");
    }
    hf_db_end(cursor);
    return st;
}

/* The keys of the runs as a JSON list, each with the event that is wanted when that is asked. */
static hf_status many_read(hf_db *db, hf_mem *mem, hf_stmt stmt, bool events, row_take *take,
                           hf_fold_source *const *sources, size_t count, hf_err *err)
{
    hf_buf keys = {0};
    hf_status st;

    if (!count)
        return HF_OK;
    for (size_t i = 0; i < count; i++) {
        hf_buf_add_format(&keys, "%s%s%lld", i ? "," : "[", events ? "[" : "",
                          (long long)sources[i]->run);
        if (events)
            hf_buf_add_format(&keys, ",%lld]", (long long)sources[i]->from);
    }
    hf_buf_add_text(&keys, "]");
    st = hf_buf_ok(&keys) ? rows_read(db, mem, stmt, hf_buf_slice(&keys), take, sources, count, err)
                          : hf_err_nomem(err, "keys of runs");
    hf_buf_fini(&keys);
    return st;
}

hf_status hf_fold_read_rows(hf_db *db, hf_mem *mem, hf_fold_source *const *sources, size_t count,
                            hf_err *err)
{
    return many_read(db, mem, HF_STMT_FOLD_LOAD, false, source_take, sources, count, err);
}

hf_status hf_fold_read_packs(hf_db *db, hf_mem *mem, hf_fold_source *const *sources, size_t count,
                             hf_err *err)
{
    return many_read(db, mem, HF_STMT_PROJECTION_GET, false, pack_take, sources, count, err);
}

hf_status hf_fold_read_chunks(hf_db *db, hf_mem *mem, hf_fold_source *const *sources, size_t count,
                              hf_err *err)
{
    for (size_t i = 0; i < count; i++)
        sources[i]->chunks = sources[i]->last = NULL;
    return many_read(db, mem, HF_STMT_FOLD_HISTORY, true, chunk_take, sources, count, err);
}
