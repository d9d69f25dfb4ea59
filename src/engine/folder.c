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
    REST = 50,            /* times as long as the last round took, so that folding takes little */
    FINISH_US = 1000000,  /* at the end of the engine, for what is due */
    REST_MAX_US = 500000, /* but no longer, so that it stays close behind */
    SHARE = 4,            /* of the time, while there is so much to fold that a round takes long */
    LAG_MAX_US = 5000000, /* but it is not left behind for longer */
    AGAIN_US = 1000000,   /* after a failure */
    STEP_BYTES = 1 << 20  /* of history after which a transaction is full */
};

/* What is known of a run in the map: that it changed, or that somebody wants all of it. */
static char TOLD[1];
static char WANTED[1];

struct hf_folder {
    hf_folder_options options;
    hf_db *db; /* its own, in a thread */
    hf_mem *mem;
    hf_projection_task tasks[STEP_RUNS]; /* of the transaction under way */
    hf_stager stager;
    hf_thread thread;
    int64_t pruned_us; /* the hour in which old points last went */
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    hf_map_int *told;
    hf_map_int *aside; /* runs that could not be folded, until they can: numbers alone */
    size_t taken;      /* those in `tasks` */
    int64_t told_us;   /* when the first of them came, by the monotonic clock */
    int64_t took_us;   /* the last round */
    int64_t sweep_at;  /* the next run key of a sweep; INT64_MAX: none is under way */
    bool stopping;
    int64_t finish_us; /* while it stops: until then it goes on with what is due */
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

static size_t step_take(hf_folder *folder)
{
    size_t count = 0;
    size_t at = 0;
    uint64_t run;
    void *what;

    hf_mutex_lock(&folder->lock);
    while (count < STEP_RUNS && hf_map_int_next(folder->told, &at, &run, &what)) {
        hf_projection_task *task = &folder->tasks[count++];

        task->run = (int64_t)run;
        task->whole = what == WANTED;
        (void)hf_map_int_remove(folder->told, run);
    }
    folder->taken = count;
    hf_mutex_unlock(&folder->lock);
    return count;
}

/* Those that were not done are behind those that came meanwhile. */
static void step_back(hf_folder *folder, size_t done)
{
    for (size_t i = done; i < folder->taken; i++)
        run_put(folder, folder->tasks[i].run, folder->tasks[i].whole ? WANTED : TOLD);
    hf_mutex_lock(&folder->lock);
    folder->taken = 0;
    hf_mutex_unlock(&folder->lock);
}

static void trouble_log(hf_folder *folder, const char *what, int64_t run, const hf_err *err)
{
    if (folder->options.log) {
        const hf_log_field fields[] = {hf_log_text("why", hf_slice_of(err->text)),
                                       hf_log_int("run_key", run)};

        hf_log_write(folder->options.log, HF_LOG_WARN, what, fields, run ? 2 : 1);
    }
}

static void failure_note(hf_folder *folder, const hf_err *err)
{
    hf_mutex_lock(&folder->lock);
    folder->stats.failed++;
    hf_mutex_unlock(&folder->lock);
    trouble_log(folder, "projection update failed; it will be retried", 0, err);
}

/* Nothing more is tried with the run until it moves on, somebody wants it, or the next start. */
static void aside_put(hf_folder *folder, int64_t run, const hf_err *err)
{
    hf_mutex_lock(&folder->lock);
    if (hf_map_int_count(folder->aside) < TOLD_MAX)
        (void)!hf_map_int_put(folder->aside, (uint64_t)run, TOLD, NULL, NULL);
    folder->stats.aside = hf_map_int_count(folder->aside);
    hf_mutex_unlock(&folder->lock);
    trouble_log(folder, "a run cannot be folded and is set aside", run, err);
}

static void aside_drop(hf_folder *folder, int64_t run)
{
    hf_mutex_lock(&folder->lock);
    (void)hf_map_int_remove(folder->aside, (uint64_t)run);
    folder->stats.aside = hf_map_int_count(folder->aside);
    hf_mutex_unlock(&folder->lock);
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

/* What is older than points are kept goes once an hour. */
static void ring_prune(hf_folder *folder, int64_t newest_us, hf_unit *unit)
{
    int64_t hour_us = newest_us - newest_us % HF_FLOW_HOUR_US;

    if (hour_us > folder->pruned_us) {
        const hf_db_value before = hf_db_int(newest_us - HF_FLOW_KEPT_US);

        hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), HF_OP_METRIC_PRUNE, &before, 1));
        folder->pruned_us = hour_us;
    }
}

/* Drafts the rows of as many of the runs as fit; *out_done of them. A run that is at fault itself
   has none. */
static hf_status step_draft(hf_folder *folder, hf_projection_task *tasks, size_t count,
                            hf_unit *unit, size_t *out_done, bool *out_rows, hf_err *err)
{
    int64_t newest_us = 0;
    hf_status st = hf_projection_catch_up_all(folder_db(folder), folder->mem, tasks, count,
                                              STEP_BYTES, out_done, err);

    for (size_t i = 0; !st && i < *out_done; i++) {
        const hf_projection_change *change = &tasks[i].change;

        if (tasks[i].err.status && !hf_projection_run_at_fault(tasks[i].err.status)) {
            *err = tasks[i].err;
            return err->status;
        }
        if (tasks[i].err.status)
            continue;
        newest_us = change->newest_us > newest_us ? change->newest_us : newest_us;
        for (hf_row *row = change->rows; row;) {
            hf_row *next = row->next;

            hf_unit_row(unit, 0, row);
            *out_rows = true;
            row = next;
        }
    }
    if (!st)
        ring_prune(folder, newest_us, unit);
    return st;
}

/* What became of runs whose rows are written. A run that is gone needs no fold. */
static void step_settle(hf_folder *folder, const hf_projection_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const hf_projection_task *task = &tasks[i];

        if (task->err.status && task->err.status != HF_NOTFOUND) {
            aside_put(folder, task->run, &task->err);
            continue;
        }
        aside_drop(folder, task->run);
        if (!task->err.status)
            change_count(folder, &task->change);
    }
}

/* One transaction of the first *out_done of the runs. A failure: none of them. */
static hf_status step_write(hf_folder *folder, hf_projection_task *tasks, size_t count,
                            size_t *out_done, hf_err *err)
{
    bool rows = false;
    hf_unit *unit;
    hf_status st;

    *out_done = 0;
    hf_mem_reset(folder->mem);
    unit = hf_unit_new(NULL, NULL);
    st = unit ? step_draft(folder, tasks, count, unit, out_done, &rows, err)
              : hf_err_nomem(err, "a unit of work");
    if (!st && rows)
        st = hf_unit_seal(unit, &folder->stager, err);
    if (!st && rows)
        st = folder->options.commit(folder->options.ctx, unit, err);
    hf_unit_free(unit);
    if (st)
        *out_done = 0;
    else
        step_settle(folder, tasks, *out_done);
    return st;
}

/* Each run by itself, because together they could not be written: the one that is at fault is set
   aside, and the others go on. */
static hf_status step_each(hf_folder *folder, size_t *out_done, hf_err *err)
{
    hf_status st = HF_OK;

    for (*out_done = 0; !st && *out_done < folder->taken; ++*out_done) {
        hf_projection_task *task = &folder->tasks[*out_done];
        size_t one = 0;

        st = step_write(folder, task, 1, &one, err);
        if (!hf_projection_run_at_fault(st))
            continue;
        aside_put(folder, task->run, err);
        st = HF_OK;
    }
    *out_done -= st ? 1 : 0;
    return st;
}

/* How many runs were folded; 0 also when it failed. */
static size_t step_run(hf_folder *folder)
{
    size_t done = 0;
    hf_err err = {0};
    hf_status st;

    if (!step_take(folder))
        return 0;
    st = step_write(folder, folder->tasks, folder->taken, &done, &err);
    if (hf_projection_run_at_fault(st))
        st = step_each(folder, &done, &err);
    step_back(folder, done);
    if (st)
        failure_note(folder, &err);
    return done;
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
        failure_note(folder, &err);
    hf_mutex_lock(&folder->lock);
    folder->sweep_at = st || found < SWEEP_RUNS ? INT64_MAX : last;
    hf_mutex_unlock(&folder->lock);
    return !st && found > 0;
}

bool hf_folder_step(hf_folder *folder)
{
    return step_run(folder) > 0 || (sweep_run(folder) && step_run(folder) > 0);
}

/* ---- the thread */

/* How far apart rounds begin. In a burst most of the time is left to the work itself, and what
   begins and ends meanwhile is folded once. */
static int64_t round_us(int64_t took_us)
{
    int64_t rest_us = took_us < REST_MAX_US / REST ? took_us * REST : REST_MAX_US;
    int64_t share_us = took_us < LAG_MAX_US / SHARE ? took_us * SHARE : LAG_MAX_US;

    if (rest_us < GATHER_US)
        rest_us = GATHER_US;
    return rest_us > share_us ? rest_us : share_us;
}

/* Sleeps until runs changed and have had a moment for more. *out_due of them are to be folded now;
   what changes meanwhile waits for the next round, so that a run which moves fast is not folded
   again and again. False: end. */
static bool work_wait(hf_folder *folder, bool failed, size_t *out_due)
{
    bool more;
    int64_t until_us;

    hf_mutex_lock(&folder->lock);
    folder->asleep = true;
    while (!folder->stopping && !hf_map_int_count(folder->told) && folder->sweep_at == INT64_MAX)
        hf_cond_wait(&folder->work, &folder->lock);
    folder->asleep = false;
    until_us = failed ? hf_clock_mono_us(hf_clock_system()) + AGAIN_US
                      : folder->told_us + round_us(folder->took_us);
    while (!folder->stopping)
        if (hf_cond_wait_until(&folder->work, &folder->lock, until_us) == HF_TIMEOUT)
            break;
    folder->told_us = hf_clock_mono_us(hf_clock_system());
    *out_due = hf_map_int_count(folder->told);
    more = !folder->stopping || (folder->finish && !failed && *out_due > 0);
    hf_mutex_unlock(&folder->lock);
    return more;
}

/* Whether it is to stop with the rest undone: the store knows what is behind, and who opens it next
   goes on. */
static bool time_over(hf_folder *folder)
{
    bool over;

    hf_mutex_lock(&folder->lock);
    over = folder->stopping && hf_clock_mono_us(hf_clock_system()) >= folder->finish_us;
    hf_mutex_unlock(&folder->lock);
    return over;
}

/* Everything that was due when it began. False: something failed, or it has to stop. */
static bool round_run(hf_folder *folder, size_t due)
{
    uint64_t before = hf_folder_stats_get(folder).failed;
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    size_t done = 1;

    for (; due && done && !time_over(folder); due -= done < due ? done : due)
        done = step_run(folder);
    if (!time_over(folder))
        (void)sweep_run(folder);
    hf_mutex_lock(&folder->lock);
    folder->took_us = hf_clock_mono_us(hf_clock_system()) - began_us;
    hf_mutex_unlock(&folder->lock);
    return hf_folder_stats_get(folder).failed == before && !time_over(folder);
}

static void folder_run(void *ctx)
{
    hf_folder *folder = ctx;
    bool failed = false;
    size_t due;

    while (work_wait(folder, failed, &due))
        failed = !round_run(folder, due);
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
    folder->aside = hf_map_int_new(seed);
    if (!folder->mem || !folder->told || !folder->aside)
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
    st = hf_store_connect_by_key(folder->options.store, &folder->db, err);
    return st ? st : hf_thread_start(&folder->thread, "hf-folder", folder_run, folder, err);
}

void hf_folder_stop(hf_folder *folder, bool finish)
{
    hf_mutex_lock(&folder->lock);
    folder->stopping = true;
    folder->finish = finish;
    folder->finish_us = finish ? hf_clock_mono_us(hf_clock_system()) + FINISH_US : 0;
    hf_cond_signal(&folder->work);
    hf_mutex_unlock(&folder->lock);
    hf_thread_join(&folder->thread);
    while (finish && folder->options.db && !time_over(folder) && hf_folder_step(folder))
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
    hf_map_int_free(folder->aside);
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
    stats.waiting = hf_map_int_count(folder->told) + folder->taken;
    hf_mutex_unlock(&folder->lock);
    return stats;
}
