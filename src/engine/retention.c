/* retention.c: see retention.h. Whether a run may go is judged by reading; nothing that was read
   can turn against it before the unit commits, because what is closed stays closed and only open
   runs start or continue others. */
#include "engine/retention.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/core_impl.h"
#include "engine/retention_rest.h"
#include "project/projection.h"
#include "store/stmt.h"

#define AGAIN_US INT64_C(3600000000)  /* what is over and held is looked at again after this */
#define REST_US  INT64_C(86400000000) /* and what belongs to no run, while there is any of it */

#define ALARM_KEY INT64_MIN /* nothing else has it: gates are numbered from the next one on */

enum { PAGE_RUNS = 64 };

/* A closed run. */
typedef struct candidate {
    int64_t run;
    int64_t instance;
    int64_t number;
    int64_t closed_us;
} candidate;

/* What one run takes with it, in this order; the first two are counted. */
static const struct {
    hf_op op;
    bool run;      /* the run's key is a cell */
    bool instance; /* and the instance's */
} retired[] = {
    {HF_OP_RETIRE_RUN, true, false},      {HF_OP_RETIRE_INSTANCE, true, true},
    {HF_OP_RETIRE_DEDUP, false, true},    {HF_OP_RETIRE_CORRELATION, false, true},
    {HF_OP_RETIRE_STREAM, false, true},   {HF_OP_RETIRE_MESSAGES, true, true},
    {HF_OP_RETIRE_COMMAND, true, true},   {HF_OP_RETIRE_COMMANDS, false, true},
    {HF_OP_RETIRE_ANSWER, true, false},   {HF_OP_RETIRE_HISTORY, true, false},
    {HF_OP_RETIRE_PAYLOAD, true, false},  {HF_OP_RETIRE_INBOX, true, false},
    {HF_OP_RETIRE_TASK, true, false},     {HF_OP_RETIRE_TIMER, true, false},
    {HF_OP_RETIRE_ACTIVITY, true, false}, {HF_OP_RETIRE_LINK, true, false},
};

enum {
    RETIRED = sizeof(retired) / sizeof(retired[0]),
    PROJECTION_ROWS = 5, /* of hf_projection_forget */
    RUN_ROWS = RETIRED + PROJECTION_ROWS
};

static hf_status run_rows(hf_unit *unit, const candidate *gone, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_row *rows = NULL;
    size_t count = 0;
    hf_status st = hf_projection_forget(mem, gone->run, &rows, err);

    if (st)
        return st;
    for (size_t i = 0; i < RETIRED; i++) {
        hf_db_value cells[2];
        size_t cell = 0;

        if (retired[i].run)
            cells[cell++] = hf_db_int(gone->run);
        if (retired[i].instance)
            cells[cell++] = hf_db_int(gone->instance);
        hf_unit_row(unit, 0, hf_row_cells(mem, retired[i].op, cells, cell));
    }
    for (hf_row *next; rows; rows = next, count++) {
        next = rows->next;
        hf_unit_row(unit, 0, rows);
    }
    HF_ASSERT(count == PROJECTION_ROWS);
    return HF_OK;
}

static hf_status page_read(hf_db *db, hf_retention_walk *walk, candidate *page, size_t *out_count,
                           hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(walk->now_us), hf_db_int(walk->after_us),
                                  hf_db_int(walk->after_key), hf_db_int(walk->namespace_key),
                                  hf_db_int(PAGE_RUNS)};
    hf_db_cursor *cursor = NULL;
    size_t read = 0;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_RETENTION_DUE, params, 5, &cursor, err);

    *out_count = 0;
    while (!st && row && read < PAGE_RUNS) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        read++;
        page[*out_count] = (candidate){.run = hf_db_column_int(cursor, 0),
                                       .instance = hf_db_column_int(cursor, 1),
                                       .number = hf_db_column_int(cursor, 2),
                                       .closed_us = hf_db_column_int(cursor, 3)};
        walk->after_us = page[*out_count].closed_us;
        walk->after_key = page[*out_count].run;
        if (!walk->shards || hf_shards_epoch(walk->shards, hf_db_column_int(cursor, 4)) != HF_NONE)
            ++*out_count;
    }
    hf_db_end(cursor);
    walk->ended = !st && read < PAGE_RUNS;
    return st;
}

/* Whether all that the run has to wait for goes in the same unit. */
static hf_status run_held(hf_db *db, const candidate *run, const candidate *gone, size_t gone_count,
                          bool *out_held, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run->run), hf_db_int(run->instance),
                                  hf_db_int(run->number)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_RETENTION_HOLDS, params, 3, &cursor, err);

    *out_held = false;
    while (!st && row && !*out_held) {
        bool found = false;

        st = hf_db_step(cursor, &row, err);
        for (size_t i = 0; !st && row && !found && i < gone_count; i++)
            found = gone[i].run == hf_db_column_int(cursor, 0);
        *out_held = !st && row && !found;
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_retention_draft(hf_db *db, hf_retention_walk *walk, hf_unit *unit, hf_err *err)
{
    candidate page[PAGE_RUNS];
    candidate gone[PAGE_RUNS];
    size_t most = walk->most && walk->most < HF_RETENTION_RUNS ? walk->most : HF_RETENTION_RUNS;
    size_t count = 0;
    hf_status st = page_read(db, walk, page, &count, err);

    walk->drafted = 0;
    for (size_t i = 0; !st && i < count; i++) {
        bool held = true;

        st = run_held(db, &page[i], gone, walk->drafted, &held, err);
        if (!st && !held) {
            st = run_rows(unit, &page[i], err);
            gone[walk->drafted++] = page[i];
        }
        walk->held += held;
        if (walk->drafted == most && i + 1 < count) { /* the rest is read again */
            walk->after_us = page[i].closed_us;
            walk->after_key = page[i].run;
            walk->ended = false;
            break;
        }
    }
    return hf_err_because(err, st, "look for runs whose time is over");
}

void hf_retention_count(const hf_unit *unit, size_t drafted, int64_t *out_runs,
                        int64_t *out_instances)
{
    for (size_t i = 0; i < drafted; i++) {
        *out_runs += hf_unit_row_applied(unit, i * RUN_ROWS);
        *out_instances += hf_unit_row_applied(unit, i * RUN_ROWS + 1);
    }
}

/* ---- by itself */

/* A unit under way; in its own arena. */
struct core_retiring {
    core_message message;
    size_t drafted;         /* runs */
    hf_retention_rest rest; /* or this, when it has rows */
};

static void retiring_done(hf_unit *unit, void *ctx)
{
    struct core_retiring *retiring = ctx;

    retiring->message.unit = unit;
    hf_core_put(retiring->message.core, &retiring->message);
}

/* When the time of the oldest run is over. What closes from now on is kept for a while, too, so
   that nobody needs to look before the shortest time has passed. `rest_us`: what belongs to no run
   is looked at after this. */
static hf_status next_read(hf_core *core, int64_t rest_us, int64_t *out_us, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(core->db, HF_STMT_RETENTION_NEXT, NULL, 0, &cursor, err);

    *out_us = INT64_MAX;
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row && !hf_db_column_null(cursor, 1)) {
        *out_us = hf_core_now(core) + hf_db_column_int(cursor, 1);
        if (!hf_db_column_null(cursor, 0) && hf_db_column_int(cursor, 0) < *out_us)
            *out_us = hf_db_column_int(cursor, 0);
    }
    if (!st && row && hf_db_column_int(cursor, 2) && hf_core_now(core) + rest_us < *out_us)
        *out_us = hf_core_now(core) + rest_us;
    hf_db_end(cursor);
    return st;
}

static void look_at(hf_core *core, int64_t due_us)
{
    const core_alarm alarm = {.kind = CORE_ALARM_RETENTION, .key = ALARM_KEY};

    if (due_us != INT64_MAX)
        (void)hf_core_alarm_move(core, &alarm, due_us);
}

static void walk_end(hf_core *core, hf_status st, const hf_err *why)
{
    int64_t soonest_us = hf_core_now(core) + AGAIN_US;
    int64_t next_us = soonest_us;
    hf_err err;

    core->retiring = false;
    if (!st) {
        st = next_read(core, REST_US, &next_us, &err);
        why = &err;
    }
    if (st) {
        const hf_log_field field = hf_log_text("error", hf_slice_of(why->text));

        hf_log_write(core->o.log, HF_LOG_WARN, "retention could not go on", &field, 1);
        if (st == HF_UNREACHABLE)
            (void)!hf_db_reconnect(core->db, NULL);
    }
    look_at(core, next_us < soonest_us ? soonest_us : next_us); /* what is over by now is held */
}

/* Hands a unit of the walk to the writer, which has it from now on. */
static hf_status unit_send(hf_core *core, hf_unit *unit, size_t drafted,
                           const hf_retention_rest *rest, hf_err *err)
{
    struct core_retiring *retiring = hf_mem_alloc(hf_unit_mem(unit), sizeof(*retiring));
    hf_status st = retiring ? HF_OK : hf_err_nomem(err, "retention");

    if (!st) {
        *retiring = (struct core_retiring){
            .message = {.kind = CORE_MESSAGE_RETIRED, .core = core, .retiring = retiring},
            .drafted = drafted};
        if (rest)
            retiring->rest = *rest;
        hf_unit_on_done(unit, retiring_done, retiring);
        st = hf_unit_seal(unit, &core->stager, err);
    }
    return st ? st : hf_writer_offer(core->o.writer, unit, err);
}

/* The next runs that go. *out_ended: there are none. */
static hf_status walk_send(hf_core *core, bool *out_ended, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st = unit ? HF_OK : hf_err_nomem(err, "retention");

    core->walk.drafted = 0;
    while (!st && !core->walk.drafted && !core->walk.ended)
        st = hf_retention_draft(core->db, &core->walk, unit, err);
    *out_ended = !st && !core->walk.drafted;
    if (!st && !*out_ended)
        st = unit_send(core, unit, core->walk.drafted, NULL, err);
    if (st || *out_ended)
        hf_unit_free(unit);
    return st;
}

/* The next of what belongs to no run. *out_ended: there is none. */
static hf_status rest_send(hf_core *core, hf_retention_rest *rest, bool *out_ended, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st = unit ? HF_OK : hf_err_nomem(err, "retention");

    rest->rows = 0;
    rest->ended = false;
    while (!st && !rest->rows && !rest->ended)
        st = hf_retention_rest_draft(core->db, rest, unit, err);
    *out_ended = !st && !rest->rows;
    if (!st && !*out_ended)
        st = unit_send(core, unit, 0, rest, err);
    if (st || *out_ended)
        hf_unit_free(unit);
    return st;
}

/* A walk that removed something freed others; behind the last one comes what belongs to no run. */
static void walk_go(hf_core *core)
{
    bool shared = strcmp(hf_store_engine(core->o.store), "sqlite") != 0;
    hf_retention_rest rest = {.now_us = hf_core_now(core),
                              .registry = shared ? NULL : core->o.registry};
    bool ended = false;
    hf_err err = {0};
    hf_status st = walk_send(core, &ended, &err);

    if (!st && ended && core->walk_runs) {
        core->walk_runs = 0;
        core->walk = (hf_retention_walk){.now_us = hf_core_now(core), .shards = core->o.shards};
        st = walk_send(core, &ended, &err);
    }
    if (!st && ended)
        st = rest_send(core, &rest, &ended, &err);
    if (st || ended)
        walk_end(core, st, &err);
}

/* A unit of the rest is committed. One that removed nothing was the last: others are at it, too. */
static void rest_go(hf_core *core, hf_retention_rest *rest, int64_t gone)
{
    bool ended = rest->ended || !gone;
    hf_err err = {0};
    hf_status st = ended ? HF_OK : rest_send(core, rest, &ended, &err);

    if (st || ended)
        walk_end(core, st, &err);
}

void hf_retention_retired(hf_core *core, struct core_retiring *retiring)
{
    hf_unit *unit = retiring->message.unit;
    hf_retention_rest rest = retiring->rest; /* the message is in the unit's arena */
    int64_t counts[HF_REST_KINDS] = {0};
    const char *text = NULL;
    hf_status st = hf_unit_outcome(unit, &text);
    int64_t gone = 0;
    hf_err err;

    if (st)
        (void)hf_err_set(&err, st, "%s", text);
    else if (rest.rows)
        hf_retention_rest_count(unit, &rest, counts);
    else
        hf_retention_count(unit, retiring->drafted, &core->walk_runs, &gone);
    hf_unit_free(unit);
    for (size_t i = 0; i < HF_REST_KINDS; i++)
        gone += counts[i];
    if (st)
        walk_end(core, st, &err);
    else if (rest.rows)
        rest_go(core, &rest, gone);
    else
        walk_go(core);
}

void hf_retention_look(hf_core *core)
{
    if (core->retiring)
        return;
    core->retiring = true;
    core->walk_runs = 0;
    core->walk = (hf_retention_walk){.now_us = hf_core_now(core), .shards = core->o.shards};
    walk_go(core);
}

hf_status hf_retention_begin(hf_core *core, hf_err *err)
{
    int64_t next_us = INT64_MAX;
    hf_status st = next_read(core, AGAIN_US, &next_us, err);

    if (!st)
        look_at(core, next_us);
    return st;
}

void hf_retention_wanted(hf_core *core)
{
    const core_alarm alarm = {.kind = CORE_ALARM_RETENTION, .key = ALARM_KEY};

    if (!core->retiring)
        (void)hf_core_alarm_set(core, &alarm, hf_core_now(core) + REST_US); /* unless it is armed */
}

static void changed_run(hf_core *core, hf_core_call *call)
{
    hf_alloc_free(call);
    if (core)
        look_at(core, hf_core_now(core));
}

void hf_retention_changed(hf_core *core)
{
    hf_core_call *call = hf_alloc(sizeof(*call));

    if (!call)
        return; /* the next look finds it */
    call->run = changed_run;
    if (hf_core_call_post(core, call, NULL))
        hf_alloc_free(call);
}
