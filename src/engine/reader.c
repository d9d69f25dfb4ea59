/* reader.c: holdfast/reader.h. Its connection cannot write, whatever it is asked. */
#include "holdfast/reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/options.h"
#include "engine/look.h"
#include "holdfast/holdfast.h"
#include "intake/intake.h"
#include "project/detail.h"
#include "store/row.h"
#include "store/store.h"

struct hf_reader {
    hf_store *store;
    hf_db *db;
    int64_t namespace_key;
    hf_buf seen; /* how the store was when it was last asked whether it changed */
};

hf_status hf_reader_open(const char *address, const hf_reader_opts *o, hf_reader **out, hf_err *err)
{
    hf_store_options options = {.size = sizeof(options), .role = HF_STORE_READER};
    hf_reader_opts opts = {0};
    hf_reader *reader;
    hf_status st;

    if (!out || !address)
        return hf_err_set(err, HF_MISUSE, "a reader needs an address and a place to be put");
    *out = NULL;
    st = hf_options_take(&opts, sizeof(opts), o, err);
    if (st)
        return st;
    options.schema = opts.schema;
    reader = hf_alloc(sizeof(*reader));
    if (!reader)
        return hf_err_nomem(err, "a reader");
    st = hf_store_open(address, &options, &reader->store, err);
    if (!st)
        st = hf_store_connect(reader->store, HF_DB_READ, &reader->db, err);
    if (!st)
        st = hf_namespace_get(reader->db, hf_slice_of(opts.space ? opts.space : "default"),
                              &reader->namespace_key, err);
    if (st) {
        hf_reader_close(reader);
        return st;
    }
    *out = reader;
    return HF_OK;
}

void hf_reader_close(hf_reader *reader)
{
    if (!reader)
        return;
    hf_db_close(reader->db);
    hf_store_close(reader->store);
    hf_buf_fini(&reader->seen);
    hf_alloc_free(reader);
}

hf_status hf_reader_changed(hf_reader *reader, bool *out_changed, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    if (!reader || !out_changed)
        return hf_err_set(err, HF_MISUSE, "a reader and a place for the answer are needed");
    st = hf_db_query(reader->db, HF_STMT_LOOK_SNAPSHOT, NULL, 0, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row) {
        hf_slice now = hf_db_column_bytes(cursor, 0);

        *out_changed = !hf_slice_equal(now, hf_buf_slice(&reader->seen));
        hf_buf_clear(&reader->seen);
        hf_buf_add_slice(&reader->seen, now);
        st = hf_buf_ok(&reader->seen) ? HF_OK : hf_err_nomem(err, "a reader");
    }
    hf_db_end(cursor);
    return st;
}

static hf_status request_check(const hf_reader *reader, hf_value request, const char *known,
                               const hf_mem *mem, hf_value *out, hf_err *err)
{
    if (!reader || !mem || !out)
        return hf_err_set(err, HF_MISUSE, "a reader, memory and a place for the answer are needed");
    *out = NULL;
    return hf_look_members(request, known, err);
}

/* The run that a request names, in a snapshot in which it is read then: the caller ends it, also
   when this fails. */
static hf_status run_view(const hf_reader *reader, hf_value request, hf_mem *work, int64_t *out_run,
                          hf_err *err)
{
    const hf_intake in = {.db = reader->db, .namespace_key = reader->namespace_key};
    hf_slice id = hf_value_slice(hf_value_find(request, HF_SLICE("id")));
    hf_slice run_id = hf_value_slice(hf_value_find(request, HF_SLICE("run_id")));
    hf_intake_target target;
    hf_status st;

    if (!id.len)
        return hf_err_set(err, HF_INVALID, "the id of an instance is needed");
    st = hf_db_begin(reader->db, HF_DB_READ, err);
    if (!st)
        st = hf_intake_aim(&in, work, id, run_id, &target, err);
    if (!st && target.base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "%.*s was never started", (int)id.len, id.ptr);
    if (!st)
        *out_run = target.base.run;
    return st;
}

hf_status hf_reader_list(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                         hf_err *err)
{
    hf_value page = NULL;
    hf_mem *work;
    hf_status st = request_check(reader, request, HF_LOOK_LIST, mem, out, err);

    if (st)
        return st;
    work = hf_mem_new();
    st = work ? hf_look_list(reader->db, NULL, reader->namespace_key, request, work, &page, err)
              : hf_err_nomem(err, "a list");
    return hf_look_give(mem, page, st, out, work, err);
}

hf_status hf_reader_describe(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                             hf_err *err)
{
    const hf_why_world world = {.live.now_us = hf_clock_wall_us(hf_clock_system())};
    hf_detail_query query = {.at = hf_int(request, "at", INT64_MAX),
                             .limit = hf_int(request, "limit", 0),
                             .world = &world};
    hf_projection_state state = HF_PROJECTION_IN_SYNC;
    hf_value detail = NULL;
    hf_mem *work;
    hf_status st = request_check(reader, request, HF_LOOK_RUN, mem, out, err);

    if (st)
        return st;
    work = hf_mem_new();
    st = work ? run_view(reader, request, work, &query.run, err) : hf_err_nomem(err, "a run");
    if (!st)
        st = hf_detail_read(reader->db, work, &query, &detail, &state, err);
    hf_db_rollback(reader->db); /* it only read */
    return hf_look_give(mem, detail, st, out, work, err);
}

hf_status hf_reader_history(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                            hf_err *err)
{
    int64_t after = hf_int(request, "after", 0);
    int64_t limit = hf_int(request, "limit", 0);
    int64_t at = hf_int(request, "at", 0);
    hf_value history = NULL;
    int64_t run = HF_NONE;
    hf_mem *work;
    hf_status st = request_check(reader, request, HF_LOOK_RUN " after", mem, out, err);

    if (st)
        return st;
    if (after < 0 || limit < 0 || at < 0)
        return hf_err_set(err, HF_INVALID, "after, limit and at are numbers from 0 on");
    work = hf_mem_new();
    st = work ? run_view(reader, request, work, &run, err) : hf_err_nomem(err, "a history");
    if (!st)
        st = hf_look_history(reader->db, work, run, after, limit, at, &history, err);
    hf_db_rollback(reader->db); /* it only read */
    return hf_look_give(mem, history, st, out, work, err);
}

hf_status hf_reader_namespaces(hf_reader *reader, hf_mem *mem, hf_value *out, hf_err *err)
{
    hf_status st = request_check(reader, NULL, "", mem, out, err);

    return st ? st : hf_look_namespaces(reader->db, NULL, mem, out, err);
}

hf_status hf_reader_tokens(hf_reader *reader, hf_mem *mem, hf_value *out, hf_err *err)
{
    hf_status st = request_check(reader, NULL, "", mem, out, err);

    return st ? st : hf_look_tokens(reader->db, mem, out, err);
}
