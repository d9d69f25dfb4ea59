/* folder.c: see folder.h. */
#include "engine/folder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "project/projection.h"

enum {
    TOLD_MAX = 65536,     /* runs remembered; beyond that a sweep finds them */
    STEP_RUNS = 128,      /* in one transaction */
    SWEEP_RUNS = 512,     /* in one look */
    GATHER_US = 100000,   /* so long a changed run waits for more of its changes */
    REST = 9,             /* times as long as the last step took, so that folding takes a tenth */
    REST_MAX_US = 500000, /* but no longer, so that it stays close behind */
    AGAIN_US = 1000000,   /* after a failure */
    STEP_BYTES = 4 << 20  /* memory after which a transaction is full */
};

/* What is known of a run in the map: that it changed, or that somebody wants all of it. */
static char TOLD[1];
static char WANTED[1];

struct hf_folder {
    hf_folder_options options;
    hf_db *db; /* its own, in a thread */
    hf_mem *mem;
    hf_stager stager;
    hf_thread thread;
    int64_t pruned_us; /* the hour in which old points last went */
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    hf_map_int *told;
    int64_t told_us;  /* when the first of them came, by the monotonic clock */
    int64_t took_us;  /* the last step */
    int64_t sweep_at; /* the next run key of a sweep; INT64_MAX: none is under way */
    bool stopping;
    bool finish;
    bool asleep;
    hf_folder_stats stats;
};

static hf_db *folder_db(const hf_folder *folder)
{
    return folder->db ? folder->db : folder->options.db;
}

static void run_put(hf_folder *folder, int64_t run, char *what)
{
    bool wake;

    hf_mutex_lock(&folder->lock);
    wake = folder->asleep && hf_map_int_count(folder->told) == 0;
    if (hf_map_int_count(folder->told) == 0)
        folder->told_us = hf_clock_mono_us(hf_clock_system());
    if (hf_map_int_get(folder->told, (uint64_t)run) != WANTED &&
        (hf_map_int_count(folder->told) >= TOLD_MAX ||
         hf_map_int_put(folder->told, (uint64_t)run, what, NULL, NULL)))
        folder->sweep_at = 0; /* it is found there */
    if (wake)
        hf_cond_signal(&folder->work);
    hf_mutex_unlock(&folder->lock);
}

void hf_folder_tell(hf_folder *folder, int64_t run)
{
    run_put(folder, run, TOLD);
}

void hf_folder_want(hf_folder *folder, int64_t run)
{
    run_put(folder, run, WANTED);
}

/* ---- one transaction */

typedef struct step {
    int64_t runs[STEP_RUNS];
    bool whole[STEP_RUNS];
    size_t count;
} step;

static void step_take(hf_folder *folder, step *out)
{
    size_t at = 0;
    uint64_t run;
    void *what;

    out->count = 0;
    hf_mutex_lock(&folder->lock);
    while (out->count < STEP_RUNS && hf_map_int_next(folder->told, &at, &run, &what)) {
        out->runs[out->count] = (int64_t)run;
        out->whole[out->count++] = what == WANTED;
        (void)hf_map_int_remove(folder->told, run);
    }
    hf_mutex_unlock(&folder->lock);
}

static void step_back(hf_folder *folder, const step *taken, size_t from)
{
    for (size_t i = from; i < taken->count; i++)
        run_put(folder, taken->runs[i], taken->whole[i] ? WANTED : TOLD);
}

static void failure_note(hf_folder *folder, const char *doing, const hf_err *err)
{
    hf_mutex_lock(&folder->lock);
    folder->stats.failed++;
    hf_mutex_unlock(&folder->lock);
    if (folder->options.log) {
        const hf_log_field fields[] = {hf_log_text("doing", hf_slice_of(doing)),
                                       hf_log_text("why", hf_slice_of(err->text))};

        hf_log_write(folder->options.log, HF_LOG_WARN, "a projection stays behind", fields, 2);
    }
}

static void change_count(hf_folder *folder, const hf_projection_change *change)
{
    hf_mutex_lock(&folder->lock);
    folder->stats.runs++;
    folder->stats.events += (uint64_t)change->events;
    folder->stats.missing += change->summary == HF_PROJECTION_MISSING;
    folder->stats.stale += (uint64_t)(change->summary == HF_PROJECTION_STALE) +
                           (uint64_t)(change->log == HF_PROJECTION_STALE);
    hf_mutex_unlock(&folder->lock);
}

/* A run that cannot be folded is left alone until it moves on; any other failure ends the step. */
static bool run_skip(hf_status st)
{
    return st == HF_NOTFOUND || st == HF_CORRUPT || st == HF_NEWER || st == HF_TOOBIG ||
           st == HF_INVALID;
}

/* Points are kept for a week; what is older goes once an hour. */
static void ring_prune(hf_folder *folder, int64_t newest_us, hf_unit *unit)
{
    int64_t hour_us = newest_us - newest_us % HF_FLOW_HOUR_US;

    if (hour_us > folder->pruned_us) {
        const hf_db_value before = hf_db_int(newest_us - HF_FLOW_KEPT_US);

        hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), HF_OP_METRIC_PRUNE, &before, 1));
        folder->pruned_us = hour_us;
    }
}

/* Drafts the rows of as many runs as fit; *out_done of them. */
static hf_status step_draft(hf_folder *folder, const step *taken, hf_unit *unit, size_t *out_done,
                            bool *out_rows, hf_err *err)
{
    int64_t newest_us = 0;
    size_t i = 0;

    for (; i < taken->count && hf_mem_held(folder->mem) < STEP_BYTES; i++) {
        hf_projection_change change;
        hf_status st = hf_projection_catch_up(folder_db(folder), folder->mem, taken->runs[i],
                                              taken->whole[i], false, &change, err);

        if (st && !run_skip(st))
            return st;
        if (st && st != HF_NOTFOUND)
            failure_note(folder, "fold", err);
        if (st)
            continue;
        change_count(folder, &change);
        newest_us = change.newest_us > newest_us ? change.newest_us : newest_us;
        for (hf_row *row = change.rows; row;) {
            hf_row *next = row->next;

            hf_unit_row(unit, 0, row);
            *out_rows = true;
            row = next;
        }
    }
    *out_done = i;
    ring_prune(folder, newest_us, unit);
    return HF_OK;
}

static bool step_run(hf_folder *folder)
{
    step taken;
    size_t done = 0;
    bool rows = false;
    hf_err err = {0};
    hf_unit *unit;
    hf_status st;

    step_take(folder, &taken);
    if (!taken.count)
        return false;
    hf_mem_reset(folder->mem);
    unit = hf_unit_new(NULL, NULL);
    st = unit ? step_draft(folder, &taken, unit, &done, &rows, &err)
              : hf_err_nomem(&err, "a unit of work");
    if (!st && rows)
        st = hf_unit_seal(unit, &folder->stager, &err);
    if (!st && rows)
        st = folder->options.commit(folder->options.ctx, unit, &err);
    hf_unit_free(unit);
    step_back(folder, &taken, st ? 0 : done);
    if (st)
        failure_note(folder, "write", &err);
    return !st;
}

/* ---- sweeps */

/* Puts runs that a summary says are behind among those that changed. False when there are none. */
static bool sweep_run(hf_folder *folder)
{
    hf_db_value params[2] = {hf_db_int(0), hf_db_int(SWEEP_RUNS)};
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    int64_t found = 0;
    int64_t last = INT64_MAX;
    bool row = true;
    hf_status st;

    hf_mutex_lock(&folder->lock);
    params[0].number = folder->sweep_at;
    hf_mutex_unlock(&folder->lock);
    if (params[0].number == INT64_MAX)
        return false;
    st = hf_db_query(folder_db(folder), HF_STMT_FOLD_UNSETTLED, params, 2, &cursor, &err);
    while (!st && row) {
        st = hf_db_step(cursor, &row, &err);
        if (st || !row)
            break;
        last = hf_db_column_int(cursor, 0);
        found++;
        hf_folder_tell(folder, last);
    }
    hf_db_end(cursor);
    if (st)
        failure_note(folder, "sweep", &err);
    hf_mutex_lock(&folder->lock);
    folder->sweep_at = st || found < SWEEP_RUNS ? INT64_MAX : last;
    hf_mutex_unlock(&folder->lock);
    return !st && found > 0;
}

bool hf_folder_step(hf_folder *folder)
{
    return step_run(folder) || (sweep_run(folder) && step_run(folder));
}

/* ---- the thread */

/* Sleeps until runs changed and have had a moment for more. False: end. */
static bool work_wait(hf_folder *folder, bool failed)
{
    bool more;
    int64_t until_us;
    int64_t rest_us;

    hf_mutex_lock(&folder->lock);
    folder->asleep = true;
    while (!folder->stopping && !hf_map_int_count(folder->told) && folder->sweep_at == INT64_MAX)
        hf_cond_wait(&folder->work, &folder->lock);
    folder->asleep = false;
    rest_us = folder->took_us < REST_MAX_US / REST ? folder->took_us * REST : REST_MAX_US;
    until_us = failed ? hf_clock_mono_us(hf_clock_system()) + AGAIN_US
                      : folder->told_us + (rest_us > GATHER_US ? rest_us : GATHER_US);
    while (!folder->stopping && (hf_map_int_count(folder->told) < STEP_RUNS || failed))
        if (hf_cond_wait_until(&folder->work, &folder->lock, until_us) == HF_TIMEOUT)
            break;
    folder->told_us = hf_clock_mono_us(hf_clock_system());
    more = !folder->stopping || (folder->finish && !failed && hf_map_int_count(folder->told) > 0);
    hf_mutex_unlock(&folder->lock);
    return more;
}

static void folder_run(void *ctx)
{
    hf_folder *folder = ctx;
    bool failed = false;

    while (work_wait(folder, failed)) {
        uint64_t before = hf_folder_stats_get(folder).failed;
        int64_t began_us = hf_clock_mono_us(hf_clock_system());

        (void)hf_folder_step(folder);
        hf_mutex_lock(&folder->lock);
        folder->took_us = hf_clock_mono_us(hf_clock_system()) - began_us;
        hf_mutex_unlock(&folder->lock);
        failed = hf_folder_stats_get(folder).failed != before;
    }
}

hf_status hf_folder_open(const hf_folder_options *options, hf_folder **out_folder, hf_err *err)
{
    const hf_map_seed seed = {.low = 7, .high = 1}; /* keys are the engine's own */
    hf_folder *folder = hf_alloc(sizeof(*folder));
    hf_status st = folder ? hf_mutex_init(&folder->lock, err) : hf_err_nomem(err, "a folder");

    if (st) {
        hf_alloc_free(folder);
        return st;
    }
    folder->options = *options;
    st = hf_cond_init(&folder->work, err);
    if (st) {
        hf_mutex_fini(&folder->lock);
        hf_alloc_free(folder);
        return st;
    }
    folder->mem = hf_mem_new();
    folder->told = hf_map_int_new(seed);
    if (!folder->mem || !folder->told)
        st = hf_err_nomem(err, "a folder");
    if (!st)
        st = hf_stager_init(&folder->stager, err);
    if (st)
        hf_folder_close(folder);
    else
        *out_folder = folder;
    return st;
}

hf_status hf_folder_start(hf_folder *folder, hf_err *err)
{
    hf_status st = HF_OK;

    if (folder->options.db)
        return HF_OK;
    st = hf_store_connect(folder->options.store, HF_DB_READ, &folder->db, err);
    return st ? st : hf_thread_start(&folder->thread, "hf-folder", folder_run, folder, err);
}

void hf_folder_stop(hf_folder *folder, bool finish)
{
    hf_mutex_lock(&folder->lock);
    folder->stopping = true;
    folder->finish = finish;
    hf_cond_signal(&folder->work);
    hf_mutex_unlock(&folder->lock);
    hf_thread_join(&folder->thread);
    while (finish && folder->options.db && hf_folder_step(folder))
        ;
}

void hf_folder_close(hf_folder *folder)
{
    if (!folder)
        return;
    hf_folder_stop(folder, false);
    hf_db_close(folder->db);
    hf_stager_fini(&folder->stager);
    hf_map_int_free(folder->told);
    hf_mem_free(folder->mem);
    hf_cond_fini(&folder->work);
    hf_mutex_fini(&folder->lock);
    hf_alloc_free(folder);
}

hf_folder_stats hf_folder_stats_get(hf_folder *folder)
{
    hf_folder_stats stats;

    hf_mutex_lock(&folder->lock);
    stats = folder->stats;
    stats.waiting = hf_map_int_count(folder->told);
    hf_mutex_unlock(&folder->lock);
    return stats;
}
