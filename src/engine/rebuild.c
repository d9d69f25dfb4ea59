/* rebuild.c: hf_rebuild: makes projections of a store anew from history, all of them or those that
   are missing or have drifted, and forgets those of runs that are gone. A store that an engine
   works on is that engine's to write (HF_OWNED on SQLite); looking is always possible. */
#include <string.h>

#include "base/mem.h"
#include "commit/writer.h"
#include "holdfast/tool.h"
#include "project/projection.h"
#include "store/store.h"

enum { PAGE_RUNS = 256 };

/* A rebuild under way. */
typedef struct job {
    const hf_rebuild_options *options;
    hf_store *store;
    hf_db *db;         /* what it reads with */
    hf_writer *writer; /* NULL: nothing is written */
    hf_stager stager;
    hf_mem *mem;
    hf_rebuild_report *report;
} job;

static void unit_done(hf_unit *unit, void *ctx)
{
    (void)unit;
    *(bool *)ctx = true;
}

static hf_status rows_commit(job *j, hf_row *rows, hf_err *err)
{
    const char *text = NULL;
    bool done = false;
    hf_unit *unit;
    hf_status st;

    if (!rows || !j->writer)
        return HF_OK;
    unit = hf_unit_new(unit_done, &done);
    if (!unit)
        return hf_err_nomem(err, "a unit of work");
    while (rows) {
        hf_row *next = rows->next;

        hf_unit_row(unit, 0, rows);
        rows = next;
    }
    st = hf_unit_seal(unit, &j->stager, err);
    if (!st)
        st = hf_writer_offer(j->writer, unit, err);
    while (!st && !done && hf_writer_step(j->writer))
        ;
    if (!st) {
        st = hf_unit_outcome(unit, &text);
        if (st)
            st = hf_err_set(err, st, "%s", text);
    }
    hf_unit_free(unit);
    return st;
}

static bool run_wanted(const job *j, const hf_projection_change *found)
{
    bool missing = found->summary == HF_PROJECTION_MISSING || found->log == HF_PROJECTION_MISSING;
    bool drifted = found->summary != HF_PROJECTION_IN_SYNC || found->log != HF_PROJECTION_IN_SYNC;

    if (!j->options->missing && !j->options->needs_rebuild)
        return true;
    return (j->options->missing && missing) || (j->options->needs_rebuild && drifted);
}

static hf_status run_fold(job *j, int64_t run, hf_err *err)
{
    hf_projection_change found;
    hf_projection_change change;
    hf_status st = hf_projection_compare(j->db, j->mem, run, &found, err);

    if (st)
        return st;
    j->report->runs++;
    j->report->missing +=
        found.summary == HF_PROJECTION_MISSING || found.log == HF_PROJECTION_MISSING;
    j->report->stale += found.summary == HF_PROJECTION_STALE || found.log == HF_PROJECTION_STALE;
    j->report->behind += found.summary == HF_PROJECTION_BEHIND || found.log == HF_PROJECTION_BEHIND;
    if (!run_wanted(j, &found))
        return HF_OK;
    if (!j->options->dry_run) {
        st = hf_projection_catch_up(j->db, j->mem, run, true, true, &change, err);
        if (!st)
            st = rows_commit(j, change.rows, err);
    }
    j->report->rebuilt += !st;
    return st;
}

/* A run that cannot be folded is counted, and the others go on: verify says what is wrong with it.
 */
static hf_status run_rebuild(job *j, int64_t run, hf_err *err)
{
    hf_status st = run_fold(j, run, err);

    if (!hf_projection_run_at_fault(st))
        return st;
    j->report->failed++;
    return HF_OK;
}

static hf_status run_prune(job *j, int64_t run, hf_err *err)
{
    hf_row *rows = NULL;
    hf_status st = HF_OK;

    j->report->pruned++;
    if (!j->options->dry_run)
        st = hf_projection_forget(j->mem, run, &rows, err);
    return st ? st : rows_commit(j, rows, err);
}

/* Does something to every run that a statement lists. */
static hf_status runs_walk(job *j, hf_stmt stmt,
                           hf_status (*each)(job *j, int64_t run, hf_err *err), hf_err *err)
{
    int64_t runs[PAGE_RUNS];
    int64_t last = 0;
    size_t count = PAGE_RUNS;
    hf_status st = HF_OK;

    while (!st && count == PAGE_RUNS) {
        const hf_db_value params[] = {hf_db_int(last), hf_db_int(PAGE_RUNS)};
        hf_db_cursor *cursor = NULL;
        bool row = true;

        count = 0;
        st = hf_db_query(j->db, stmt, params, 2, &cursor, err);
        while (!st && row) {
            st = hf_db_step(cursor, &row, err);
            if (!st && row)
                runs[count++] = last = hf_db_column_int(cursor, 0);
        }
        hf_db_end(cursor);
        for (size_t i = 0; !st && i < count; i++) {
            hf_mem_reset(j->mem);
            st = each(j, runs[i], err);
        }
    }
    return st;
}

static hf_status job_open(job *j, const char *address, hf_err *err)
{
    const hf_store_options store = {.size = sizeof(store),
                                    .role = j->options->dry_run ? HF_STORE_READER : HF_STORE_OWNER,
                                    .schema = j->options->schema};
    const hf_writer_options writer = {.size = sizeof(writer), .manual = true};
    hf_status st = hf_store_open(address, &store, &j->store, err);

    if (!st && j->options->dry_run)
        return hf_store_connect(j->store, HF_DB_READ, &j->db, err);
    if (!st)
        st = hf_writer_open(j->store, &writer, &j->writer, err);
    if (!st)
        j->db = hf_store_writer(j->store);
    return st;
}

static void job_close(job *j)
{
    bool own = j->options->dry_run;

    hf_writer_close(j->writer);
    if (own)
        hf_db_close(j->db);
    hf_store_close(j->store);
    hf_stager_fini(&j->stager);
    hf_mem_free(j->mem);
}

hf_status hf_rebuild(const char *address, const hf_rebuild_options *options,
                     hf_rebuild_report *out_report, hf_err *err)
{
    const hf_rebuild_options none = {.size = sizeof(none)};
    hf_rebuild_report report = {.size = sizeof(report)};
    job j = {.options = options ? options : &none, .report = &report};
    hf_status st;

    if (j.options->size != sizeof(none) || (out_report && out_report->size != sizeof(report)))
        return hf_err_set(err, HF_MISUSE,
                          "the options or the report of a rebuild have the wrong size");
    j.mem = hf_mem_new();
    st = j.mem ? hf_stager_init(&j.stager, err) : hf_err_nomem(err, "a rebuild");
    if (!st)
        st = job_open(&j, address, err);
    if (!st)
        st = runs_walk(&j, HF_STMT_FOLD_RUNS, run_rebuild, err);
    if (!st && j.options->prune_stale)
        st = runs_walk(&j, HF_STMT_FOLD_ORPHANS, run_prune, err);
    job_close(&j);
    if (!st && out_report)
        *out_report = report;
    return st;
}
