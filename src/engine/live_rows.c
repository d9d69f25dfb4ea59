/* live_rows.c: see live_rows.h. Rows are copied, so that no cursor is open while they are used:
   whoever uses them may read payloads. */
#include "engine/live_rows.h"

#include "base/alloc.h"
#include "base/buf.h"

enum { AHEAD_CHUNKS = 8 }; /* of each: most runs have few */

/* The parts of run_open, and where its columns are. */
enum { PART_RUN, PART_TIMER, PART_CHUNK };
enum {
    COLUMN_RUN,
    COLUMN_PART,
    COLUMN_BASE,
    COLUMN_BODY = COLUMN_BASE + 6,
    COLUMN_ID = COLUMN_BASE + 22,
    COLUMN_TYPE,
    COLUMN_QUEUE,
    COLUMN_DEFINITION,
    COLUMN_BUSINESS_KEY,
    COLUMN_ACTIVITIES,
    COLUMN_CALLED,
    COLUMN_TOLD
};

static hf_status text_take(live_rows *rows, hf_db_cursor *row, size_t column, hf_slice *out_text,
                           hf_err *err)
{
    hf_slice text = hf_db_column_bytes(row, column);

    *out_text = (hf_slice){0};
    if (hf_db_column_null(row, column))
        return HF_OK;
    *out_text = hf_slice_from(hf_mem_text(rows->mem, text), text.len);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a live run");
}

static hf_status run_take(live_rows *rows, hf_db_cursor *row, hf_err *err)
{
    hf_status st = hf_run_base_take(row, COLUMN_BASE, rows->run, &rows->base, err);

    rows->info = (hf_decide_run){.number = hf_db_column_int(row, COLUMN_BASE + 1),
                                 .created_us = hf_db_column_int(row, COLUMN_BASE + 13),
                                 .execution_deadline_us = hf_column_or_none(row, COLUMN_BASE + 16),
                                 .run_deadline_us = hf_column_or_none(row, COLUMN_BASE + 17),
                                 .namespace_key = hf_db_column_int(row, COLUMN_BASE + 19),
                                 .definition = hf_column_or_none(row, COLUMN_DEFINITION)};
    rows->blocked = hf_db_column_int(row, COLUMN_BASE + 4);
    rows->crashes = hf_db_column_int(row, COLUMN_BASE + 12);
    rows->activities = hf_db_column_int(row, COLUMN_ACTIVITIES) != 0;
    rows->called = hf_db_column_int(row, COLUMN_CALLED) != 0;
    rows->told = hf_db_column_int(row, COLUMN_TOLD) != 0;
    if (!st)
        st = text_take(rows, row, COLUMN_ID, &rows->info.instance_id, err);
    if (!st)
        st = text_take(rows, row, COLUMN_TYPE, &rows->info.type, err);
    if (!st)
        st = text_take(rows, row, COLUMN_QUEUE, &rows->info.queue, err);
    if (!st)
        st = text_take(rows, row, COLUMN_BUSINESS_KEY, &rows->info.business_key, err);
    return st;
}

static hf_status timer_take(live_rows *rows, hf_db_cursor *row, hf_err *err)
{
    size_t count = rows->timer_count;
    bool full = (count & (count - 1)) == 0; /* the room doubles */
    hf_open_work *timers = rows->timers;

    if (full) {
        timers = hf_mem_array(rows->mem, count ? count * 2 : 1, sizeof(*timers));
        if (!timers)
            return hf_err_nomem(err, "timers");
        for (size_t i = 0; i < count; i++)
            timers[i] = rows->timers[i];
        rows->timers = timers;
    }
    timers[rows->timer_count++] =
        (hf_open_work){.is_timer = true,
                       .step = hf_db_column_int(row, COLUMN_BASE),
                       .key = hf_db_column_int(row, COLUMN_BASE + 1),
                       .timer_kind = (hf_timer_kind)hf_db_column_int(row, COLUMN_BASE + 2),
                       .due_us = hf_db_column_int(row, COLUMN_BASE + 3)};
    return HF_OK;
}

static hf_status chunk_take(hf_mem *mem, hf_db_cursor *row, size_t first, size_t body,
                            live_chunk *out_chunk, hf_err *err)
{
    hf_slice bytes = hf_db_column_bytes(row, body);

    *out_chunk = (live_chunk){.first = hf_db_column_int(row, first),
                              .body = hf_slice_from(hf_mem_text(mem, bytes), bytes.len)};
    return out_chunk->body.ptr ? HF_OK : hf_err_nomem(err, "events");
}

static hf_status row_take(live_rows *rows, hf_db_cursor *row, hf_err *err)
{
    if (!rows->mem)
        rows->mem = hf_mem_new();
    if (!rows->mem)
        return hf_err_nomem(err, "a live run");
    switch (hf_db_column_int(row, COLUMN_PART)) {
    case PART_RUN:
        return run_take(rows, row, err);
    case PART_TIMER:
        return timer_take(rows, row, err);
    default:
        if (rows->chunk_count == LIVE_CHUNKS)
            return hf_err_set(err, HF_CORRUPT, "run %lld has more chunks than were asked for",
                              (long long)rows->run);
        return chunk_take(rows->mem, row, COLUMN_BASE, COLUMN_BODY,
                          &rows->chunks[rows->chunk_count++], err);
    }
}

static live_rows *rows_find(live_rows *const *rows, size_t count, int64_t run)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i]->run == run)
            return rows[i];
    return NULL;
}

static bool keys_print(live_rows *const *rows, size_t count, hf_buf *keys)
{
    for (size_t i = 0; i < count; i++)
        hf_buf_add_format(keys, "%s%lld", i ? "," : "[", (long long)rows[i]->run);
    hf_buf_add_text(keys, "]");
    return hf_buf_ok(keys);
}

/* Each of them has its run; whatever is found of it is added. */
static hf_status rows_read(hf_db *db, live_rows *const *rows, size_t count, size_t chunks,
                           hf_err *err)
{
    hf_buf keys = {0};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = keys_print(rows, count, &keys) ? HF_OK : hf_err_nomem(err, "a live run");
    const hf_db_value params[] = {hf_db_text(hf_buf_slice(&keys)), hf_db_int((int64_t)chunks)};

    if (!st)
        st = hf_db_query(db, HF_STMT_RUN_OPEN, params, 2, &cursor, err);
    while (!st && row) {
        live_rows *found;

        st = hf_db_step(cursor, &row, err);
        found = !st && row ? rows_find(rows, count, hf_db_column_int(cursor, COLUMN_RUN)) : NULL;
        if (found)
            st = row_take(found, cursor, err);
    }
    hf_db_end(cursor);
    hf_buf_fini(&keys);
    for (size_t i = 0; i < count; i++)
        rows[i]->more = rows[i]->chunk_count == chunks;
    return st;
}

/* Whether its turn begins with reading everything. */
static bool ahead_wanted(const live_run *run)
{
    return !run->replay && !run->ahead && !run->dirty && !run->gone && !run->unborn;
}

/* ---- public */

hf_status hf_live_rows_read(hf_db *db, int64_t run, live_rows *out_rows, hf_err *err)
{
    hf_status st;

    *out_rows = (live_rows){.run = run, .base.run = HF_NONE};
    st = rows_read(db, &out_rows, 1, LIVE_CHUNKS, err);
    if (!st && out_rows->base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "there is no run %lld", (long long)run);
    return st;
}

void hf_live_rows_free(live_rows *rows)
{
    hf_mem_free(rows->mem);
    rows->mem = NULL;
}

void hf_live_ahead_free(live_run *run)
{
    if (run->ahead)
        hf_live_rows_free(run->ahead);
    hf_alloc_free(run->ahead);
    run->ahead = NULL;
}

void hf_live_ahead_drop(hf_core *core)
{
    for (size_t i = 0; i < core->ahead_count; i++) {
        live_run *run = hf_map_int_get(core->runs, (uint64_t)core->ahead[i]);

        if (run)
            hf_live_ahead_free(run);
    }
    core->ahead_count = 0;
}

void hf_live_ahead_read(hf_core *core, live_run *run)
{
    live_rows *rows[HF_CORE_AHEAD];
    bool whole = true;

    if (!ahead_wanted(run))
        return;
    hf_live_ahead_drop(core);
    for (; run && whole && core->ahead_count < HF_CORE_AHEAD; run = run->next_ready) {
        if (!ahead_wanted(run))
            continue;
        run->ahead = hf_alloc(sizeof(*run->ahead));
        whole = run->ahead != NULL;
        if (!whole)
            break;
        *run->ahead = (live_rows){.run = run->key, .base.run = HF_NONE};
        rows[core->ahead_count] = run->ahead;
        core->ahead[core->ahead_count++] = run->key;
    }
    if (!whole || core->ahead_count < 2 ||
        rows_read(core->db, rows, core->ahead_count, AHEAD_CHUNKS, NULL))
        hf_live_ahead_drop(core);
}

hf_status hf_live_chunks_read(hf_db *db, int64_t run, int64_t from_seq, hf_mem *mem,
                              live_chunk chunks[LIVE_CHUNKS], size_t *out_count, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(from_seq), hf_db_int(LIVE_CHUNKS)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);

    *out_count = 0;
    while (!st && row && *out_count < LIVE_CHUNKS) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            st = chunk_take(mem, cursor, 0, 3, &chunks[(*out_count)++], err);
    }
    hf_db_end(cursor);
    return st;
}
