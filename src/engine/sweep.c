/* sweep.c: see sweep.h. */
#include "engine/sweep.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/backlog.h"
#include "engine/schedule.h"
#include "engine/turnstile.h"
#include "engine/watchdog.h"
#include "engine/window.h"
#include "model/limit.h"

enum { SCAN_ROWS = 1000, SWEEP_PAGES = 8 };

/* Whether a sweep is for the shard in that column of the row. */
static bool sweep_wants(const core_sweep *sweep, hf_db_cursor *row, size_t column)
{
    int64_t shard = hf_db_column_int(row, column);

    return !sweep || (shard >= 0 && shard < HF_SHARDS && sweep->shards[shard]);
}

/* Makes the runs ready that a page of a statement names: (key, run, shard) rows above a key, which
   moves on; 0 when there are no more. */
static hf_status page_scan(hf_core *core, const core_sweep *sweep, hf_stmt stmt, int64_t *after,
                           hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(*after), hf_db_int(SCAN_ROWS)};
    hf_db_cursor *cursor = NULL;
    int64_t seen = 0;
    bool row = true;
    hf_status st = hf_db_query(core->db, stmt, params, 2, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        seen++;
        *after = hf_db_column_int(cursor, 0);
        if (!sweep_wants(sweep, cursor, 2) ||
            (sweep && !sweep->gained && hf_backlog_holds(core, hf_db_column_int(cursor, 1))))
            continue;
        hf_backlog_hint(core, hf_db_column_int(cursor, 1),
                        stmt == HF_STMT_WORK_TASKS ? hf_db_column_int(cursor, 3) : 0, false);
        st = core->failure.status;
    }
    hf_db_end(cursor);
    if (!st && seen < SCAN_ROWS)
        *after = 0;
    return st;
}

/* All that there are; or a few pages from where the last sweep ended, for one that looks for what
   was overlooked: it comes again every few seconds, and a long backlog must not keep the core from
   working it off. */
static hf_status runs_scan(hf_core *core, const core_sweep *sweep, hf_stmt stmt, int64_t *place,
                           hf_err *err)
{
    bool all = !sweep || sweep->gained;
    int64_t whole = 0;
    int64_t *after = all ? &whole : place;
    int64_t pages = 0;
    hf_status st = HF_OK;

    do
        st = page_scan(core, sweep, stmt, after, err);
    while (!st && *after && (all || ++pages < SWEEP_PAGES));
    return st;
}

/* What has to be done for an activity that was open: now, or at a time. Runs that have nothing to
   do but wait stay where they are. */
static hf_status activity_recover(hf_core *core, hf_db_cursor *row)
{
    core_alarm alarm = {.kind = CORE_ALARM_ATTEMPT,
                        .key = hf_db_column_int(row, 0),
                        .run = hf_db_column_int(row, 1)};
    bool lost = hf_db_column_int(row, 3) == HF_ACTIVITY_STATUS_RUNNING;
    int64_t available_us = hf_db_column_null(row, 4) ? 0 : hf_db_column_int(row, 4);
    int64_t due_us = hf_db_column_null(row, 5) ? INT64_MAX : hf_db_column_int(row, 5);
    bool here = core->o.matching /* or with a worker elsewhere */ ||
                hf_registry_find_activity(core->o.registry, hf_db_column_bytes(row, 2));
    bool now = lost || (available_us <= hf_core_now(core) && here);
    live_run *run;

    if (!now && available_us > hf_core_now(core) && available_us < due_us)
        due_us = available_us;
    if (due_us != INT64_MAX && !hf_core_alarm_set(core, &alarm, due_us))
        return HF_NOMEM;
    if (!now)
        return HF_OK;
    run = hf_core_live(core, alarm.run);
    if (!run)
        return HF_NOMEM;
    run->look = true;
    hf_core_ready(core, run);
    return HF_OK;
}

static hf_status activities_scan(hf_core *core, const core_sweep *sweep, hf_err *err)
{
    int64_t after = 0;
    int64_t seen = SCAN_ROWS;
    hf_status st = HF_OK;

    while (!st && seen == SCAN_ROWS) {
        const hf_db_value params[] = {hf_db_int(after), hf_db_int(SCAN_ROWS)};
        hf_db_cursor *cursor = NULL;
        bool row = true;

        seen = 0;
        st = hf_db_query(core->db, HF_STMT_WORK_ACTIVITIES, params, 2, &cursor, err);
        while (!st && row) {
            st = hf_db_step(cursor, &row, err);
            if (st || !row)
                break;
            seen++;
            after = hf_db_column_int(cursor, 0);
            if (sweep_wants(sweep, cursor, 6))
                st = activity_recover(core, cursor);
        }
        hf_db_end(cursor);
    }
    return st;
}

hf_status hf_sweep_crashes(hf_core *core, int64_t run, bool *out_found, int64_t *out_crashes,
                           int64_t *out_blocked, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    hf_status st = hf_db_query(core->db, HF_STMT_RUN_LOAD, &key, 1, &cursor, err);

    *out_found = false;
    if (!st)
        st = hf_db_step(cursor, out_found, err);
    if (!st && *out_found) {
        *out_crashes = hf_db_column_int(cursor, 7);
        *out_blocked = hf_db_column_int(cursor, 8);
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_sweep_blame(hf_core *core, int64_t run, int64_t epoch, hf_err *err)
{
    hf_run_base base;
    const hf_decide_run info = {.base = &base};
    hf_decide decide = {.stager = &core->stager, .run = &info, .now_us = hf_core_now(core)};
    hf_unit *unit = hf_unit_new(NULL, NULL);
    bool found = false;
    int64_t crashes = 0;
    int64_t blocked = 0;
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a crash");
    hf_unit_row(unit, 0, hf_row_run_crash(hf_unit_mem(unit), run));
    st = hf_core_commit(core, unit, err);
    if (!st)
        st = hf_sweep_crashes(core, run, &found, &crashes, &blocked, err);
    if (st || !found || blocked ||
        !hf_limit_trips(HF_LIMIT_CRASH_LIMIT, hf_limit_get(HF_LIMIT_CRASH_LIMIT)->standard,
                        crashes))
        return st;
    st = hf_run_base_get(core->db, run, &base, err);
    if (st || base.closed_us != HF_NONE)
        return st;
    decide.unit = hf_unit_new(NULL, NULL);
    if (!decide.unit)
        return hf_err_nomem(err, "a quarantine");
    hf_unit_append(decide.unit, &base, epoch, HF_REBASE_WHILE_OPEN);
    hf_decide_quarantine(&decide, crashes);
    return hf_core_commit(core, decide.unit, err);
}

/* Finds work: what wants a turn, and for shards that are new here everything. */
static hf_status sweep_run(hf_core *core, const core_sweep *sweep, hf_err *err)
{
    bool all = !sweep || sweep->gained;
    hf_status st = runs_scan(core, sweep, HF_STMT_WORK_TASKS, &core->tasks_swept, err);

    if (!st && all)
        st = activities_scan(core, sweep, err);
    if (!st)
        st = runs_scan(core, sweep, HF_STMT_WORK_INBOX, &core->inbox_swept, err);
    if (!st && all)
        st = hf_window_scan(core, sweep, err);
    if (!st && all)
        st = hf_watchdog_begin(core, err);
    return st;
}

void hf_sweep_take(hf_core *core, core_message *message)
{
    hf_err err = {0};
    hf_status st = sweep_run(core, message->sweep, &err);

    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        st = hf_db_reconnect(core->db, &err) ? HF_UNREACHABLE
                                             : sweep_run(core, message->sweep, &err);
    if (st && core->o.unswept)
        core->o.unswept(core->o.ctx); /* everything counts as new with the next renewal */
    hf_alloc_free(message);
}

void hf_core_sweep(hf_core *core, const bool shards[HF_SHARDS], bool gained)
{
    core_message *message = hf_alloc(sizeof(*message) + sizeof(core_sweep));

    if (!message)
        return;
    message->kind = CORE_MESSAGE_SWEEP;
    message->sweep = (core_sweep *)(message + 1);
    message->sweep->gained = gained;
    memcpy(message->sweep->shards, shards, sizeof(message->sweep->shards));
    hf_core_post(core, message);
}

hf_status hf_core_recover(hf_core *core, hf_err *err)
{
    core_sweep sweep = {.gained = true};
    int64_t blamed;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && (blamed = hf_breadcrumb_run_left(core->crumb, i)); i++)
        st = hf_sweep_blame(core, blamed, HF_NONE, err);
    if (!st && strcmp(hf_store_engine(core->o.store), "sqlite") == 0) {
        hf_unit *unit = hf_turnstile_clear(core); /* nobody else is at work on this store */

        st = unit ? hf_core_commit(core, unit, err) : hf_err_nomem(err, "slots");
    }
    for (int64_t i = 0; core->o.shards && i < HF_SHARDS; i++)
        sweep.shards[i] = hf_shards_epoch(core->o.shards, i) != HF_NONE;
    if (!st)
        st = sweep_run(core, core->o.shards ? &sweep : NULL, err);
    if (!st)
        st = hf_retention_begin(core, err);
    if (!st)
        st = hf_schedule_scan(core, err);
    return hf_err_because(err, st, "find the work that was left");
}
