/* watchdog.c: see watchdog.h. */
#include "engine/watchdog.h"

#include <unistd.h>

#include "base/alloc.h"
#include "engine/backlog.h"
#include "engine/fleet.h"
#include "engine/repair.h"
#include "model/limit.h"

/* Runs looked at in one pass; most of them are healthy and only cost a read. Tasks read in one
   pass, and in all passes of a round. */
enum { LOOKS_MAX = 250, SCAN_MAX = 64, TASKS_READ = 1000, TASKS_ROUND = 10000 };

static int64_t scan_limit(void)
{
    int64_t limit = hf_limit_get(HF_LIMIT_REPAIR_SCAN_LIMIT)->standard;

    return limit < SCAN_MAX ? limit : SCAN_MAX;
}

/* A pass is wanted at this time at the latest, but not sooner after the last one than the throttle
   allows. */
static void sweep_want(hf_core *core, int64_t due_us)
{
    const core_alarm alarm = {.kind = CORE_ALARM_SWEEP};
    int64_t soonest_us =
        core->swept_us ? core->swept_us + hf_limit_us(HF_LIMIT_REPAIR_THROTTLE_SECONDS) : due_us;

    due_us = due_us < soonest_us ? soonest_us : due_us;
    if (core->sweep_us && core->sweep_us <= due_us)
        return;
    core->sweep_us = due_us; /* one that is armed for later finds itself out of date */
    (void)hf_core_alarm_set(core, &alarm, due_us);
}

void hf_watchdog_lost(hf_core *core)
{
    core->lost_us = hf_core_now(core) + hf_limit_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS) + 1;
    sweep_want(core, core->lost_us);
}

/* ---- tasks that are there and do not move */

/* Each node sees to the shards it owns. */
static bool shard_ours(const hf_core *core, int64_t shard)
{
    return !core->o.shards || hf_shards_epoch(core->o.shards, shard) != HF_NONE;
}

typedef struct sweep_task {
    int64_t key;
    int64_t run;
    int64_t epoch;
    int64_t repairs;
    bool leased;
    bool known;
} sweep_task;

/* The run is in this process's hands already. */
static bool run_busy(const hf_core *core, int64_t key)
{
    const live_run *run = hf_map_int_get(core->runs, (uint64_t)key);

    return hf_backlog_holds(core, key) || (run && run->quarantined);
}

/* A ready task of a type that is not known here waits for a program that knows it: handing it out
   again would help nobody. */
static bool task_helped(const hf_core *core, const sweep_task *task)
{
    return !run_busy(core, task->run) && (task->known || task->leased);
}

/* Those that can be helped, of the next ones; *out_seen: so many were looked at for them. */
static hf_status tasks_read(hf_core *core, sweep_task *tasks, size_t *out_count, int64_t *out_seen,
                            hf_err *err)
{
    int64_t now_us = hf_core_now(core);
    const hf_db_value params[] = {
        hf_db_int(now_us), hf_db_int(now_us - hf_limit_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)),
        hf_db_int(TASKS_READ), hf_db_int(core->sweep_skip)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(core->db, HF_STMT_SWEEP_TASKS, params, 4, &cursor, err);

    *out_count = 0;
    *out_seen = 0;
    while (!st && row && (int64_t)*out_count < scan_limit()) {
        sweep_task *task = &tasks[*out_count];

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        ++*out_seen;
        core->sweep_held |= hf_backlog_holds(core, hf_db_column_int(cursor, 1));
        *task = (sweep_task){.key = hf_db_column_int(cursor, 0),
                             .run = hf_db_column_int(cursor, 1),
                             .epoch = hf_db_column_int(cursor, 2),
                             .repairs = hf_db_column_int(cursor, 3),
                             .leased = hf_db_column_int(cursor, 4) == HF_TASK_STATUS_LEASED,
                             .known = hf_registry_find_workflow(
                                          core->o.registry, hf_db_column_bytes(cursor, 5)) != NULL};
        if (shard_ours(core, hf_db_column_int(cursor, 6)) && task_helped(core, task))
            ++*out_count;
    }
    hf_db_end(cursor);
    return st;
}

static hf_status task_redo(hf_core *core, const sweep_task *task, hf_err *err)
{
    int64_t now_us = hf_core_now(core);
    hf_unit *unit = hf_unit_new(NULL, NULL);
    live_run *run;
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a sweep");
    hf_unit_row(unit, 0,
                hf_row_task_redo(hf_unit_mem(unit), task->key, task->epoch, now_us,
                                 hf_liveness_backoff_us(task->repairs + 2, now_us)));
    st = hf_core_commit(core, unit, err);
    run = !st && task->known ? hf_core_live(core, task->run) : NULL;
    if (run) {
        run->look = true;
        hf_core_ready(core, run);
    }
    return st;
}

/* Tasks that cannot be helped here, because they wait for another program or are another node's, do
   not stand before those that can: the next pass looks behind them. What was in good hands may have
   moved meanwhile, and others with it: then there is another round. *out_more: a pass is wanted. */
static hf_status tasks_sweep(hf_core *core, bool *out_more, hf_err *err)
{
    sweep_task tasks[SCAN_MAX];
    size_t count = 0;
    int64_t seen = 0;
    bool over;
    hf_status st = tasks_read(core, tasks, &count, &seen, err);

    for (size_t i = 0; !st && i < count; i++)
        st = task_redo(core, &tasks[i], err);
    core->sweep_skip += seen - (int64_t)count; /* those that were helped are gone from there */
    over = ((int64_t)count < scan_limit() && seen < TASKS_READ) || core->sweep_skip >= TASKS_ROUND;
    *out_more = !over ? core->sweep_skip > 0 : core->sweep_held && core->sweep_skip > seen;
    if (over || !core->sweep_skip) {
        core->sweep_skip = 0;
        core->sweep_held = false;
    }
    return st;
}

/* ---- deadlines that passed unseen */

static hf_status deadlines_sweep(hf_core *core, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(0), hf_db_int(0), hf_db_int(scan_limit())};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(core->db, HF_STMT_WORK_DEADLINES, params, 3, &cursor, err);

    while (!st && row) {
        live_run *run;

        st = hf_db_step(cursor, &row, err);
        if (st || !row || hf_db_column_int(cursor, 1) > hf_core_now(core))
            break;
        run = hf_core_live(core, hf_db_column_int(cursor, 0));
        if (!run)
            st = HF_NOMEM;
        else
            hf_core_ready(core, run);
    }
    hf_db_end(cursor);
    return st;
}

/* ---- rows that are gone */

/* Only the owner of a shard restores rows of its runs, and it knows of each attempt, whoever runs
   it: one that it does not know of is over, or its late report will be refused. */
static bool attempt_running(void *ctx, int64_t activity)
{
    const hf_core *core = ctx;

    return hf_map_int_get(core->jobs, (uint64_t)activity) != NULL;
}

static hf_status run_repair(hf_core *core, const hf_dossier *dossier, const hf_liveness *live,
                            hf_err *err)
{
    hf_repair repair = {.keys = hf_writer_keys(core->o.writer),
                        .now_us = hf_core_now(core),
                        .dossier = dossier,
                        .live = live,
                        .unit = hf_unit_new(NULL, NULL)};
    const hf_command_row row = {.instance = dossier->base.instance,
                                .run = dossier->run.key,
                                .type = HF_COMMAND_TYPE_REPAIR,
                                .status = HF_COMMAND_STATUS_ACCEPTED,
                                .rejection = HF_NONE,
                                .scope = HF_TARGET_SCOPE_RUN,
                                .source = HF_COMMAND_SOURCE_WATCHDOG,
                                .command_ahead = 1,
                                .message_ahead = HF_NONE,
                                .state = HF_NONE,
                                .recorded_us = repair.now_us};
    hf_cmd_outcome outcome = 0;
    int64_t command = 0;
    live_run *run;
    hf_status st;

    if (!repair.unit)
        return hf_err_nomem(err, "a repair");
    st = hf_repair_draft(&repair, row, &command, &outcome, err);
    if (st) {
        hf_unit_free(repair.unit);
        return st;
    }
    st = hf_core_commit(core, repair.unit, err);
    if (st == HF_CONFLICT)
        return HF_OK; /* it moved: whoever moved it saw it */
    if (st == HF_CONSTRAINT) {
        const hf_log_field fields[] = {hf_log_text("instance_id", dossier->run.instance_id),
                                       hf_log_text("error", hf_slice_of(err->text))};

        hf_log_write(core->o.log, HF_LOG_WARN, "a run could not be repaired", fields, 2);
        return HF_OK; /* `holdfast verify` says what is wrong with it */
    }
    run = st ? NULL : hf_core_live(core, dossier->run.key);
    if (run) {
        run->stale = run->look = true;
        hf_core_ready(core, run);
    }
    return st;
}

/* What is blocked or quarantined waits for a person. */
static bool restorable(const hf_liveness *live)
{
    const hf_lost *lost = live->lost;

    while (lost && lost->drifted)
        lost = lost->next;
    return lost && live->state != HF_LIVENESS_CLOSED &&
           live->state != HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED &&
           live->state != HF_LIVENESS_RUN_QUARANTINED && live->state != HF_LIVENESS_RUN_PAUSED;
}

static hf_status run_look(hf_core *core, int64_t key, int64_t *repairs, hf_err *err)
{
    const hf_liveness_world world = {
        .now_us = hf_core_now(core), .running = attempt_running, .ctx = core};
    hf_mem *mem = hf_mem_new();
    hf_track *track = NULL;
    hf_dossier dossier;
    hf_liveness live;
    hf_status st = mem ? HF_OK : hf_err_nomem(err, "a sweep");

    if (!st)
        st = hf_dossier_skim(core->db, mem, key, &dossier, err);
    if (st == HF_NOTFOUND || st == HF_CORRUPT)
        st = HF_OK; /* `holdfast verify` says what is wrong with it */
    else if (!st)
        st = hf_liveness_track(&dossier, mem, &track, err);
    if (!st && track)
        st = hf_liveness_fold(&dossier, track, &world, mem, &live, err);
    if (!st && track && restorable(&live) && shard_ours(core, dossier.base.shard)) {
        ++*repairs;
        st = run_repair(core, &dossier, &live, err);
    }
    hf_track_free(track);
    hf_mem_free(mem);
    return st;
}

static hf_status keys_read(hf_core *core, int64_t *keys, size_t *out_count, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(core->sweep_after), hf_db_int(core->sweep_last),
                                  hf_db_int(LOOKS_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(core->db, HF_STMT_SWEEP_RUNS, params, 3, &cursor, err);

    *out_count = 0;
    while (!st && row && *out_count < LOOKS_MAX) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            keys[(*out_count)++] = hf_db_column_int(cursor, 0);
    }
    hf_db_end(cursor);
    return st;
}

/* Goes on with the round over all runs that were open when it began. */
static hf_status runs_sweep(hf_core *core, hf_err *err)
{
    int64_t keys[LOOKS_MAX];
    int64_t repairs = 0;
    size_t count = 0;
    hf_status st = keys_read(core, keys, &count, err);

    for (size_t i = 0; !st && i < count && repairs < scan_limit(); i++) {
        if (!run_busy(core, keys[i]))
            st = run_look(core, keys[i], &repairs, err);
        if (!st)
            core->sweep_after = keys[i];
    }
    if (!st && count < LOOKS_MAX && repairs < scan_limit())
        core->sweep_after = core->sweep_last; /* the round is over */
    return st;
}

/* ---- being there */

/* Nodes that share a store say that they are there. A SQLite store has one engine, which everybody
   can see holding it. */
static hf_status node_beat(hf_core *core, hf_err *err)
{
    const hf_app *app = core->o.app;
    hf_worker_row row = {.queue = HF_SLICE("*"),
                         .scope = hf_engine_app_scope(app),
                         .process = getpid(),
                         .build_id = core->o.compatibility,
                         .supported = HF_SLICE("*"),
                         .recorded_us = hf_core_now(core),
                         .expires_us =
                             hf_core_now(core) + hf_limit_us(HF_LIMIT_COMPATIBILITY_TTL_SECONDS)};
    hf_fleet_self self;
    hf_unit *unit;

    if (core->db->driver == &hf_db_sqlite)
        return HF_OK;
    if (app && app->supports)
        row.supported = hf_slice_of(app->supports);
    hf_fleet_self_fill(&self);
    row.host = hf_slice_of(self.host);
    row.name = hf_slice_of(self.name);
    unit = hf_unit_new(NULL, NULL);
    if (!unit)
        return hf_err_nomem(err, "a heartbeat");
    hf_unit_row(unit, 0, hf_row_worker_beat(hf_unit_mem(unit), &row));
    return hf_core_commit(core, unit, err);
}

/* ---- when */

/* When a task has to be looked at again; INT64_MAX: never. */
static hf_status next_read(hf_core *core, int64_t *out_us, hf_err *err)
{
    const hf_db_value now = hf_db_int(hf_core_now(core));
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(core->db, HF_STMT_SWEEP_NEXT, &now, 1, &cursor, err);

    *out_us = INT64_MAX;
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row && !hf_db_column_null(cursor, 0))
        *out_us = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return st;
}

void hf_watchdog_pass(hf_core *core)
{
    int64_t now_us = hf_core_now(core);
    int64_t next_us = INT64_MAX;
    bool more = false;
    hf_err err = {0};
    hf_status st;

    if (core->sweep_us == 0 || core->sweep_us > now_us)
        return; /* another one is armed */
    core->sweep_us = 0;
    core->swept_us = now_us;
    st = node_beat(core, &err);
    if (!st)
        st = tasks_sweep(core, &more, &err);
    if (!st)
        st = deadlines_sweep(core, &err);
    if (!st && core->sweep_after < core->sweep_last)
        st = runs_sweep(core, &err);
    if (!st)
        st = next_read(core, &next_us, &err);
    if (st) {
        const hf_log_field why = hf_log_text("error", hf_slice_of(err.text));

        hf_log_write(core->o.log, HF_LOG_WARN, "a sweep of the watchdog failed", &why, 1);
        if (st == HF_UNREACHABLE)
            (void)!hf_db_reconnect(core->db, NULL);
        next_us = now_us;
    }
    if (core->sweep_after < core->sweep_last || more)
        next_us = now_us;
    if (core->lost_us > now_us && core->lost_us < next_us)
        next_us = core->lost_us; /* this sweep came too early for the task that nobody told of */
    if (core->db->driver != &hf_db_sqlite && next_us == INT64_MAX)
        next_us = now_us; /* other nodes come and go */
    if (next_us != INT64_MAX)
        sweep_want(core, next_us);
}

hf_status hf_watchdog_begin(hf_core *core, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(core->db, HF_STMT_SWEEP_LAST, NULL, 0, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row && !hf_db_column_null(cursor, 0))
        core->sweep_last = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    core->sweep_after = 0;
    if (!st && core->sweep_last)
        sweep_want(core, hf_core_now(core) + hf_limit_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS));
    return st;
}

int64_t hf_watchdog_trouble(hf_core *core, live_run *run, hf_task_trouble trouble)
{
    int64_t repair_us = hf_liveness_backoff_us(++run->troubles, hf_core_now(core));
    hf_unit *unit = hf_unit_new(NULL, NULL);

    if (!unit)
        return repair_us;
    hf_unit_row(unit, 0, hf_row_task_trouble(hf_unit_mem(unit), run->key, trouble, repair_us));
    (void)!hf_core_commit(core, unit, NULL); /* when that fails, too, memory still knows */
    return repair_us;
}
