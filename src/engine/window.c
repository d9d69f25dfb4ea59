/* window.c: see window.h. The rule: an alarm is left out only when a later scan is sure to find its
   row. A horizon that moves away has been scanned up to where it is; one that comes closer has an
   alarm of its own. */
#include "engine/window.h"

#include "base/alloc.h"

enum { PAGE_ROWS = 1000, RETRY_US = 200000 };
#define NEAR_US INT64_C(60000000) /* what stays in memory when that is full */

static core_window *window_of(hf_core *core, core_alarm_kind kind)
{
    return kind == CORE_ALARM_TIMER ? &core->timer_window
           : kind == CORE_ALARM_RUN ? &core->run_window
                                    : NULL;
}

static bool horizon_arm(hf_core *core, int64_t due_us)
{
    const core_alarm alarm = {.kind = CORE_ALARM_HORIZON};

    return hf_core_alarm_set(core, &alarm, due_us);
}

/* The row of the statement as an alarm; columns of the two differ but for the first. */
static int64_t alarm_read(core_alarm_kind kind, hf_db_cursor *row, core_alarm *out_alarm,
                          int64_t *out_shard)
{
    *out_alarm = (core_alarm){.kind = kind, .key = hf_db_column_int(row, 0)};
    if (kind == CORE_ALARM_RUN) {
        out_alarm->run = out_alarm->key;
        *out_shard = hf_db_column_int(row, 2);
        return hf_db_column_int(row, 1);
    }
    out_alarm->run = hf_db_column_int(row, 1);
    out_alarm->step = hf_db_column_int(row, 2);
    out_alarm->timer_kind = (hf_timer_kind)hf_db_column_int(row, 3);
    *out_shard = hf_db_column_int(row, 5);
    return hf_db_column_int(row, 4);
}

/* Rows by time and key, from a place on. */
typedef struct scan {
    core_alarm_kind kind;
    const core_sweep *sweep;
    int64_t until_us; /* rows behind it are left out */
    int64_t due_us;   /* where it is */
    int64_t key;
    int64_t armed;
    bool page;  /* no more than one page of them: somebody else waits for the core */
    bool ended; /* there is nothing more up to `until_us` */
} scan;

/* The rows of other nodes are theirs to arm. */
static bool shard_wanted(const hf_core *core, const scan *s, int64_t shard)
{
    if (shard < 0 || shard >= HF_SHARDS)
        return false;
    if (s->sweep)
        return s->sweep->shards[shard];
    return !core->o.shards || hf_shards_epoch(core->o.shards, shard) != HF_NONE;
}

/* Arms one page of rows and moves behind it. */
static hf_status page_scan(hf_core *core, scan *s, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(s->due_us), hf_db_int(s->key), hf_db_int(PAGE_ROWS)};
    hf_stmt stmt = s->kind == CORE_ALARM_RUN ? HF_STMT_WORK_DEADLINES : HF_STMT_WORK_TIMERS;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    int rows = 0;
    hf_status st = hf_db_query(core->db, stmt, params, 3, &cursor, err);

    while (!st && row && !s->ended && s->armed < core->o.alarms_max) {
        core_alarm alarm;
        int64_t shard = 0;
        int64_t due_us;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        due_us = alarm_read(s->kind, cursor, &alarm, &shard);
        s->ended = due_us > s->until_us;
        if (s->ended)
            break;
        rows++;
        s->due_us = due_us;
        s->key = alarm.key;
        if (!shard_wanted(core, s, shard))
            continue;
        s->armed++;
        if (!hf_core_alarm_arm(core, &alarm, due_us))
            st = HF_NOMEM;
    }
    hf_db_end(cursor);
    s->ended |= !st && !row && rows < PAGE_ROWS;
    return st;
}

/* Arms from a place on until memory holds enough of them: there the horizon is then. */
static hf_status window_scan(hf_core *core, scan *s, hf_err *err)
{
    core_window *window = window_of(core, s->kind);
    hf_status st = HF_OK;

    do
        st = page_scan(core, s, err);
    while (!st && !s->page && !s->ended && s->armed < core->o.alarms_max);
    if (st)
        return st;
    if (s->ended && s->until_us != INT64_MAX)
        return HF_OK; /* the horizon is where it was */
    window->until_us = s->ended ? INT64_MAX : s->due_us;
    window->until_key = s->ended ? INT64_MAX : s->key;
    return s->ended || horizon_arm(core, s->due_us) ? HF_OK : HF_NOMEM;
}

/* What is due behind the moment leaves memory. */
static void window_shrink(hf_core *core, core_alarm_kind kind, int64_t until_us)
{
    size_t at = 0;
    uint64_t key;
    void *value;

    if (!horizon_arm(core, until_us))
        return; /* the core has failed */
    *window_of(core, kind) = (core_window){.until_us = until_us, .until_key = INT64_MAX};
    while (hf_map_int_next(core->timers, &at, &key, &value)) {
        const core_alarm *alarm = value;

        if (alarm->kind == kind && alarm->deadline.due_us > until_us)
            hf_core_disarm(core, (int64_t)key);
    }
}

static hf_status window_refill(hf_core *core, core_alarm_kind kind, hf_err *err)
{
    const core_window *window = window_of(core, kind);
    scan s = {.kind = kind,
              .page = true,
              .until_us = INT64_MAX,
              .due_us = window->until_us,
              .key = window->until_key};

    if (window->until_us == INT64_MAX || window->until_us > hf_core_now(core))
        return HF_OK;
    return window_scan(core, &s, err);
}

/* ---- public */

void hf_window_open(hf_core *core)
{
    core->timer_window = core->run_window =
        (core_window){.until_us = INT64_MAX, .until_key = INT64_MAX};
}

hf_status hf_window_scan(hf_core *core, const core_sweep *sweep, hf_err *err)
{
    scan timers = {
        .kind = CORE_ALARM_TIMER, .sweep = sweep, .until_us = core->timer_window.until_us};
    scan runs = {.kind = CORE_ALARM_RUN, .sweep = sweep, .until_us = core->run_window.until_us};
    hf_status st = window_scan(core, &timers, err);

    return st ? st : window_scan(core, &runs, err);
}

bool hf_window_takes(hf_core *core, const core_alarm *alarm, int64_t due_us)
{
    const core_window *window = window_of(core, alarm->kind);
    int64_t near_us;

    if (!window)
        return true;
    if (due_us <= window->until_us &&
        (int64_t)hf_deadlines_count(core->alarms) >= core->o.alarms_max) {
        near_us = hf_core_now(core) + NEAR_US;
        if (due_us > near_us && window->until_us > near_us)
            window_shrink(core, alarm->kind, near_us);
    }
    return due_us <= window->until_us;
}

void hf_window_reached(hf_core *core)
{
    hf_err err = {0};
    hf_status st = window_refill(core, CORE_ALARM_TIMER, &err);

    if (!st)
        st = window_refill(core, CORE_ALARM_RUN, &err);
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        (void)!hf_db_reconnect(core->db, NULL);
    if (st)
        (void)horizon_arm(core, hf_core_now(core) + RETRY_US); /* rows are patient */
}
