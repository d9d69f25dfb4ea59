/* batch.c: one transaction for many units.

   Arrange   Units for the same run follow each other: each is based on what the one before leaves,
   and the last one moves the fence for all of them. A unit that may not be based on the others
   waits for the next round. Together  All units in one transaction. This is the path that must be
   fast. Alone     When the database refused something in it, each unit again behind a savepoint, so
   that the one at fault is condemned and the others live. Serialisation failures and deadlocks only
   cause another try. Settle    A unit whose fence did not hold is based on the run as it is now,
   when it allows that, and gets another round; else it ends with HF_CONFLICT. Resolve   When the
   answer to COMMIT was lost, the chunk at the unit's place in history tells: it is there with this
             hash, or the unit was not committed.

   It must never report a unit as committed before hf_db_commit returned HF_OK or the read-back
   found it. */
#include "commit/batch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "model/event_codec.h"

enum {
    BATCH_TRIES = 5,      /* of the whole transaction after a serialisation failure */
    REBASE_MAX = 64,      /* a unit that loses this often is told so */
    LOG_PAGES_MAX = 1000, /* of the SQLite log before it is written back */
    KEY_BLOCK = 100000,
    WARY_BATCHES = 32,
    RECONNECT_FIRST_US = 20000,
    RECONNECT_MOST_US = 1000000
};

hf_status hf_batch_init(hf_batch *batch, hf_store *store, size_t room, hf_err *err)
{
    hf_status st;

    *batch = (hf_batch){.db = hf_store_writer(store), .room = room};
    st = hf_stager_init(&batch->stager, err);
    if (!st)
        st = hf_keys_open(batch->db, "key", KEY_BLOCK, &batch->keys, err);
    if (!st)
        st = hf_keys_open(batch->db, "position", KEY_BLOCK, &batch->positions, err);
    if (st)
        return st;
    batch->mem = hf_mem_new();
    batch->runs =
        hf_map_int_new((hf_map_seed){0}); /* keys are our own: nobody can choose them to collide */
    batch->units = hf_alloc_array(room, sizeof(*batch->units));
    batch->items = hf_alloc_array(room, sizeof(*batch->items));
    if (!batch->mem || !batch->runs || !batch->units || !batch->items)
        return hf_err_nomem(err, "the writer");
    return HF_OK;
}

void hf_batch_fini(hf_batch *batch)
{
    hf_alloc_free(batch->items);
    hf_alloc_free(batch->units);
    hf_map_int_free(batch->runs);
    hf_mem_free(batch->mem);
    hf_keys_close(batch->positions);
    hf_keys_close(batch->keys);
    hf_stager_fini(&batch->stager);
}

bool hf_batch_waiting(const hf_batch *batch)
{
    return batch->again != NULL;
}

static void unit_end(hf_unit *unit, hf_status status, const hf_err *err)
{
    HF_ASSERT(!unit->settled);
    unit->settled = true;
    unit->status = status;
    if (err && status)
        unit->err = *err;
}

static void unit_again(hf_batch *batch, hf_unit *unit)
{
    unit->next = NULL;
    unit->waits = true;
    if (batch->again_last)
        batch->again_last->next = unit;
    else
        batch->again = unit;
    batch->again_last = unit;
}

/* Whether the unit may stand behind all that the row of units before it appends. */
static bool unit_may_follow(const hf_unit *unit, const hf_unit *before)
{
    const hf_unit_part *first = hf_unit_appends(before->leader);
    const hf_unit_part *last = hf_unit_appends(before);

    if (unit->known_seq != first->before.last_seq || unit->epoch != before->epoch)
        return false;
    if (unit->rebase == HF_REBASE_ALWAYS)
        return true;
    if (last->after.closed_us != HF_NONE)
        return false;
    if (unit->rebase == HF_REBASE_WHILE_OPEN)
        return true;
    for (const hf_unit *other = before; other; other = other->follows) {
        const hf_event_builder *events = &hf_unit_appends(other)->events;

        for (size_t i = 0; i < events->count; i++)
            if (!hf_unit_rebase_over(unit, events->events[i].type))
                return false;
    }
    return true;
}

/* Finds the unit its place in the batch. False: it waits for the next round. */
static hf_status unit_arrange(hf_batch *batch, hf_unit *unit, bool *out_placed, hf_err *err)
{
    const hf_unit_part *part = hf_unit_appends(unit);
    hf_unit *before;
    hf_status st;

    unit->follows = NULL;
    unit->followed = false;
    unit->leader = unit;
    *out_placed = true;
    if (!part)
        return HF_OK;
    before = hf_map_int_get(batch->runs, (uint64_t)part->before.run);
    if (before) {
        *out_placed = unit_may_follow(unit, before);
        if (!*out_placed)
            return HF_OK;
        st = hf_unit_rebase(unit, &hf_unit_appends(before)->after, &batch->stager, err);
        if (st)
            return st;
    }
    st = hf_map_int_put(batch->runs, (uint64_t)part->before.run, unit, NULL, err);
    if (!st && before) {
        unit->follows = before;
        unit->leader = before->leader;
        before->followed = true;
    }
    return st;
}

/* The fence is the first row of a unit that appends. */
static hf_row *unit_fence(const hf_unit *unit)
{
    HF_ASSERT(unit->item.rows[0]->op == HF_OP_RUN_ADVANCE);
    return unit->item.rows[0];
}

/* Units in a row share one fence, the last one's, and everything in them is guarded by the head it
 * leaves. */
static void items_join(hf_batch *batch)
{
    const hf_unit *last = NULL;

    for (size_t i = batch->count; i-- > 0;) {
        const hf_unit *unit = batch->units[i];

        batch->items[i] = unit->item;
        if (!hf_unit_appends(unit))
            continue;
        last = hf_map_int_get(batch->runs, (uint64_t)unit->item.guard_run);
        HF_ASSERT(last && last->leader == unit->leader);
        batch->items[i].guard_head = last->item.guard_head;
        if (unit->followed) { /* the fence itself is left to the last */
            batch->items[i].guard = &last->item;
            batch->items[i].rows++;
            batch->items[i].flags++;
            batch->items[i].count--;
        }
        hf_row_run_expect(unit_fence(unit),
                          &hf_unit_appends(unit->followed ? unit : unit->leader)->before);
    }
}

static bool unit_refused(const hf_batch *batch, const hf_unit *unit)
{
    const hf_unit *last = unit;

    if (unit->followed)
        last = hf_map_int_get(batch->runs, (uint64_t)unit->item.guard_run);
    return hf_apply_refused(&last->item);
}

/* Assured: for when every guard is expected to hold. HF_CONFLICT: one did not, and nothing was
   written. */
static hf_status batch_transact(hf_batch *batch, bool assured, hf_err *err)
{
    hf_apply_pending *pending = NULL;
    bool foreign = false;
    hf_status st = hf_db_foreign_write(batch->db, &foreign, err);

    hf_mem_reset(batch->mem);
    if (!st && foreign)
        st = hf_err_set(err, HF_CORRUPT,
                        "somebody else wrote to the store: the engine must own it alone");
    if (!st)
        st = hf_db_begin(batch->db, HF_DB_WRITE, err);
    if (!st)
        st = hf_apply(batch->db, batch->mem, batch->items, batch->count, assured, &pending, err);
    if (!st) {
        st = hf_db_commit(batch->db, err);
        hf_apply_settle(pending);
    } else {
        hf_db_rollback(batch->db);
    }
    return st;
}

/* Only the unit's own content can be at fault with these. */
static bool status_condemns(hf_status st)
{
    return st == HF_CONSTRAINT || st == HF_INVALID || st == HF_TOOBIG;
}

/* The store is fine, but not now. */
static bool status_passes(hf_status st)
{
    return st == HF_FULL || st == HF_BUSY || st == HF_NOMEM || st == HF_RETRY || st == HF_TIMEOUT;
}

static hf_status database_reach(hf_batch *batch, hf_err *err)
{
    int64_t wait_us = RECONNECT_FIRST_US;
    hf_status st;

    do {
        if (batch->stopped(batch->ctx))
            return hf_err_set(err, HF_STOPPED,
                              "the engine stopped while the database could not be reached");
        st = hf_db_reconnect(batch->db, err);
        if (st == HF_UNREACHABLE || st == HF_BUSY) {
            batch->pause(batch->ctx, wait_us);
            wait_us = wait_us * 2 < RECONNECT_MOST_US ? wait_us * 2 : RECONNECT_MOST_US;
        }
    } while (st == HF_UNREACHABLE || st == HF_BUSY);
    return st;
}

/* Positions are handed out here, in the order of commits. */
static hf_status position_take(hf_batch *batch, int64_t *out_position, hf_err *err)
{
    hf_status st = hf_keys_take(batch->positions, 1, out_position, err);

    while (st == HF_BUSY) {
        st = hf_keys_fill(batch->positions, batch->db, err);
        if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
            st = database_reach(batch, err);
        if (!st)
            st = hf_keys_take(batch->positions, 1, out_position, err);
    }
    return st;
}

static hf_status unit_number(hf_batch *batch, const hf_unit *unit, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < unit->item.count; i++) {
        hf_row *row = unit->item.rows[i];
        int64_t position = 0;

        if (row->op != HF_OP_HISTORY_APPEND)
            continue;
        st = position_take(batch, &position, err);
        row->cells[0] = hf_db_int(position);
    }
    return st;
}

/* The same for a unit without events: it has nothing but the commands that it records. */
static hf_status command_find(hf_batch *batch, const hf_row *command, bool *out_found, hf_err *err)
{
    int64_t ignored = 0;

    return hf_db_number(batch->db, HF_STMT_COMMAND_AT, &command->cells[0], 1, out_found, &ignored,
                        err);
}

/* Was the unit committed? Its first chunk is there with its hash, or it was not. */
static hf_status unit_find(hf_batch *batch, const hf_unit *unit, bool *out_found, hf_err *err)
{
    const hf_row *chunk = NULL;
    const hf_row *command = NULL;
    hf_db_cursor *cursor = NULL;
    hf_db_value params[2];
    hf_status st;

    *out_found = false;
    for (size_t i = 0; i < unit->item.count && !chunk; i++) {
        if (unit->item.rows[i]->op == HF_OP_HISTORY_APPEND)
            chunk = unit->item.rows[i];
        if (unit->item.rows[i]->op == HF_OP_COMMAND_RECORD)
            command = unit->item.rows[i];
    }
    if (!chunk && command)
        return command_find(batch, command, out_found, err);
    if (!chunk)
        return HF_OK; /* bare rows guard themselves and may be written again */
    params[0] = chunk->cells[1];
    params[1] = chunk->cells[2];
    st = hf_db_query(batch->db, HF_STMT_HISTORY_AT, params, 2, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, out_found, err);
    if (!st && *out_found)
        *out_found = hf_slice_equal(hf_db_column_bytes(cursor, 0), chunk->cells[6].bytes);
    hf_db_end(cursor);
    return hf_err_because(err, st, "find out whether a unit was committed");
}

static hf_status batch_resolve(hf_batch *batch, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < batch->count; i++) {
        bool found = false;

        if (batch->units[i]->settled)
            continue;
        st = unit_find(batch, batch->units[i], &found, err);
        if (!st && found)
            unit_end(batch->units[i], HF_OK, NULL);
    }
    return st;
}

/* The answer to COMMIT was lost. Until every unit has been looked for none may be written again:
   one that is in would be taken for a fact that arrived meanwhile, and be added a second time. */
static hf_status batch_find_out(hf_batch *batch, hf_err *err)
{
    hf_status st;

    batch->stats.unknown++;
    do {
        st = database_reach(batch, err);
        if (!st)
            st = batch_resolve(batch, err);
    } while (st == HF_UNREACHABLE);
    if (status_passes(st)) /* nobody may be told to try again what may be in already */
        st = hf_err_because(err, HF_UNKNOWN, "the fate of units stays unknown");
    return st;
}

/* Reads the types of events that the run got since the unit was drafted, and asks the unit about
 * each. */
static hf_status run_moved_over(hf_batch *batch, const hf_unit *unit, const hf_run_base *now,
                                bool *out_allowed, hf_err *err)
{
    int64_t from = unit->known_seq + 1;
    const hf_db_value params[] = {hf_db_int(now->run), hf_db_int(from), hf_db_int(INT64_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    *out_allowed = true;
    if (unit->rebase == HF_REBASE_WHILE_OPEN || unit->rebase == HF_REBASE_ALWAYS)
        return HF_OK;
    st = hf_db_query(batch->db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);
    while (!st && *out_allowed) {
        hf_event *events = NULL;
        size_t count = 0;
        int64_t first;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        first = hf_db_column_int(cursor, 0);
        st = hf_event_chunk_decode(batch->mem, hf_db_column_bytes(cursor, 3), &events, &count, err);
        for (size_t i = 0; !st && i < count; i++)
            if (first + (int64_t)i >= from && !hf_unit_rebase_over(unit, events[i].type))
                *out_allowed = false;
    }
    hf_db_end(cursor);
    return st;
}

/* Why a unit whose fence did not hold cannot go on, judged by the run as it is now; HF_OK: it may.
 */
static hf_status unit_judge(hf_batch *batch, const hf_unit *unit, const hf_run_base *now,
                            hf_err *why, hf_err *err)
{
    const hf_run_base *before = &hf_unit_appends(unit)->before;
    bool allowed = false;
    hf_status st;

    if (now->closed_us != HF_NONE && unit->rebase != HF_REBASE_ALWAYS)
        return hf_err_set(why, HF_CONFLICT, "run %lld is closed", (long long)now->run);
    if (now->last_seq == before->last_seq && now->command_seq == before->command_seq &&
        memcmp(now->head, before->head, sizeof(now->head)) == 0)
        return hf_err_set(why, HF_CONFLICT, "shard %lld belongs to another node now",
                          (long long)now->shard);
    if (unit->rebased >= REBASE_MAX)
        return hf_err_set(why, HF_CONFLICT, "run %lld moved on %zu times meanwhile",
                          (long long)now->run, unit->rebased);
    st = run_moved_over(batch, unit, now, &allowed, err);
    if (st || allowed)
        return st;
    return hf_err_set(why, HF_CONFLICT, "run %lld is at event %lld, the unit knows %lld",
                      (long long)now->run, (long long)now->last_seq, (long long)unit->known_seq);
}

/* The fence of a unit that appends did not hold: another round on top of what is there, or its end.
 */
static hf_status unit_lost(hf_batch *batch, hf_unit *unit, hf_err *err)
{
    int64_t run = hf_unit_appends(unit)->before.run;
    hf_err why = {0};
    hf_run_base now;
    hf_status st = hf_run_base_get(batch->db, run, &now, err);

    if (st == HF_NOTFOUND)
        st = hf_err_set(&why, HF_CONFLICT, "run %lld does not exist any more", (long long)run);
    else if (!st)
        st = unit_judge(batch, unit, &now, &why, err);
    if (why.status) {
        unit_end(unit, why.status, &why);
        return HF_OK;
    }
    if (!st)
        st = hf_unit_rebase(unit, &now, &batch->stager, err);
    if (!st) {
        batch->stats.rebased++;
        unit->known_seq = now.last_seq;
        unit_again(batch, unit);
    }
    return st;
}

/* A unit whose guard did not hold. */
static hf_status unit_refuse(hf_batch *batch, hf_unit *unit, hf_err *err)
{
    hf_err why;
    hf_status st = HF_UNREACHABLE;

    batch->stats.refused++;
    if (unit->item.rows[0]->op == HF_OP_INSTANCE_NEW) {
        unit_end(unit, hf_err_set(&why, HF_EXISTS, "the instance exists already"), &why);
        return HF_OK;
    }
    if (!hf_unit_appends(unit)) {
        unit_end(unit,
                 hf_err_set(&why, HF_CONFLICT, "%s",
                            unit->schedule ? "the schedule has moved on, or the id is taken"
                                           : "the instance has moved on"),
                 &why);
        return HF_OK;
    }
    while (st == HF_UNREACHABLE) {
        st = unit_lost(batch, unit, err);
        if (st == HF_UNREACHABLE) {
            st = database_reach(batch, err);
            if (!st)
                st = HF_UNREACHABLE; /* reached: ask again */
        }
    }
    return st;
}

/* After a commit. Who is in is told so first: nothing that fails later may take it back. */
static hf_status batch_settle(hf_batch *batch, hf_err *err)
{
    hf_status st = HF_OK;

    hf_mem_reset(batch->mem);
    for (size_t i = 0; i < batch->count; i++) {
        hf_unit *unit = batch->units[i];

        if (unit->settled || unit_refused(batch, unit))
            continue;
        batch->stats.units++;
        unit_end(unit, HF_OK, NULL);
    }
    for (size_t i = 0; !st && i < batch->count; i++)
        if (!batch->units[i]->settled)
            st = unit_refuse(batch, batch->units[i], err);
    return st;
}

/* One unit behind a savepoint. Its own fault condemns it; everything else is the caller's to judge.
 */
static hf_status unit_alone(hf_batch *batch, hf_unit *unit, hf_err *err)
{
    hf_apply_pending *pending = NULL;
    hf_apply_item item = unit->item;
    hf_err fault = {0};
    hf_status st = hf_db_savepoint(batch->db, err);

    if (st)
        return st;
    if (hf_unit_appends(unit))
        hf_row_run_expect(unit_fence(unit), &hf_unit_appends(unit)->before);
    st = hf_apply(batch->db, batch->mem, &item, 1, false, &pending, &fault);
    if (!st)
        st = hf_db_release(batch->db, &fault);
    hf_apply_settle(pending);
    if (status_condemns(st) && hf_db_in_transaction(batch->db)) {
        st = hf_db_rollback_to(batch->db, err);
        if (!st) {
            batch->stats.condemned++;
            unit_end(unit, fault.status, &fault);
        }
        return st;
    }
    if (st && err)
        *err = fault;
    return st;
}

/* Whether the unit that this one was based on is in. The fence alone would not tell: it knows how
   far a run is, not by which events. */
static bool unit_stands(const hf_unit *unit)
{
    const hf_unit *before = unit->follows;

    if (!before)
        return true;
    return before->settled ? before->status == HF_OK : !hf_apply_refused(&before->item);
}

static hf_status batch_alone(hf_batch *batch, hf_err *err)
{
    hf_status st;

    for (size_t i = 0; i < batch->count;
         i++) { /* in this mode everyone brings a fence of its own */
        batch->units[i]->followed = false;
        if (batch->units[i]->settled && batch->units[i]->status != HF_OK)
            batch->units[i]->settled =
                false; /* a rolled back attempt condemned it; it is judged again */
    }
    hf_mem_reset(batch->mem);
    st = hf_db_begin(batch->db, HF_DB_WRITE, err);
    for (size_t i = 0; !st && i < batch->count; i++) {
        hf_unit *unit = batch->units[i];

        if (unit->settled)
            continue;
        if (unit_stands(unit))
            st = unit_alone(batch, unit, err);
        else /* as if its fence had not held: it is based anew, or ends */
            memset(unit->item.flags, HF_DB_SKIPPED, unit->item.count);
    }
    if (!st)
        st = hf_db_commit(batch->db, err);
    else
        hf_db_rollback(batch->db);
    return st;
}

/* Tries until the batch is committed, or the reason why not is one that another try cannot mend. */
static hf_status batch_commit(hf_batch *batch, hf_err *err)
{
    bool alone = false;
    int tries = 0;
    hf_status st;

    for (;;) {
        bool assured = batch->db->driver->assures && batch->wary == 0;

        st = alone ? batch_alone(batch, err) : batch_transact(batch, assured, err);
        if (st == HF_OK)
            break;
        if (st == HF_CONFLICT && assured) { /* again, so that the others' rows are written */
            batch->wary = WARY_BATCHES;
            continue;
        }
        if (status_condemns(st) && !alone) {
            alone = true;
        } else if (st == HF_RETRY && tries < BATCH_TRIES) {
            alone = ++tries == BATCH_TRIES;
        } else if (st == HF_UNREACHABLE || st == HF_UNKNOWN) {
            bool unknown = st == HF_UNKNOWN;

            st = unknown ? batch_find_out(batch, err) : database_reach(batch, err);
            if (st)
                return st;
            if (unknown)
                break; /* what was not found is given another round below */
        } else {
            return st;
        }
        batch->stats.retries++;
    }
    batch->stats.batches++;
    if (batch->wary > 0)
        batch->wary--;
    return HF_OK;
}

/* After an unknown outcome: what the read-back did not find goes again as it is, its fence will
 * tell. */
static void batch_requeue(hf_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->units[i]->settled)
            unit_again(batch, batch->units[i]);
}

/* Those that were promised another round keep it; when there is none, hf_batch_abandon ends them.
 */
static void batch_fail(hf_batch *batch, hf_status st, const hf_err *err)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->units[i]->settled && !batch->units[i]->waits)
            unit_end(batch->units[i], st, err);
}

/* Takes the unit into the batch, or to the next round, or, when it is at fault, to its end. */
static hf_status unit_place(hf_batch *batch, hf_unit *unit, hf_err *err)
{
    bool placed = false;
    hf_status st = unit_arrange(batch, unit, &placed, err);

    if (!st && placed)
        st = unit_number(batch, unit, err);
    if (status_condemns(st)) {
        unit_end(unit, st, err);
        unit->next = batch->ended;
        batch->ended = unit;
        return HF_OK;
    }
    if (placed)
        batch->units[batch->count++] = unit;
    else
        unit_again(batch, unit);
    return st;
}

/* Fills the batch: those kept for another round first, then the list. */
static hf_status batch_fill(hf_batch *batch, hf_unit *units, hf_unit **out_rest, hf_err *err)
{
    hf_unit *waiting = units;
    hf_status st = HF_OK;

    hf_map_int_clear(batch->runs);
    if (batch->again) {
        batch->again_last->next = units;
        waiting = batch->again;
    }
    batch->again = batch->again_last = NULL;
    while (!st && waiting && batch->count < batch->room) {
        hf_unit *unit = waiting;

        waiting = unit->next;
        unit->next = NULL;
        unit->waits = false;
        st = unit_place(batch, unit, err);
    }
    *out_rest = waiting;
    return st;
}

/* The log is written back when it is long; it is bounded as long as no reader holds an old
 * snapshot. */
static hf_status log_bound(hf_batch *batch, hf_err *err)
{
    int64_t pages = batch->db->log_pages;
    hf_status st;

    if (pages < batch->checkpointed)
        batch->checkpointed = 0; /* it began anew */
    if (pages < batch->checkpointed + LOG_PAGES_MAX)
        return HF_OK;
    st = hf_db_checkpoint(batch->db, err);
    batch->checkpointed = pages;
    return status_passes(st) ? HF_OK : st;
}

/* Fetches the next blocks before they are needed. When the store is not to be had just now nothing
   is lost by going on: it shows again when a block is empty. A failed sync must not pass unnoticed.
 */
static hf_status keys_refill(hf_batch *batch, hf_err *err)
{
    hf_status st = HF_OK;

    if (hf_keys_low(batch->keys))
        st = hf_keys_fill(batch->keys, batch->db, err);
    if (!st && hf_keys_low(batch->positions))
        st = hf_keys_fill(batch->positions, batch->db, err);
    return status_passes(st) || st == HF_UNREACHABLE || st == HF_UNKNOWN ? HF_OK : st;
}

hf_status hf_batch_rest(hf_batch *batch, hf_err *err)
{
    hf_status st = batch->db->log_pages ? hf_db_checkpoint(batch->db, err) : HF_OK;

    return status_passes(st) ? HF_OK : st;
}

hf_unit *hf_batch_abandon(hf_batch *batch, const hf_err *why)
{
    hf_unit *units = batch->again;

    for (hf_unit *unit = units; unit; unit = unit->next)
        unit_end(unit, HF_STOPPED, why);
    batch->again = batch->again_last = NULL;
    return units;
}

/* The units of the batch that are finished, in order. */
static hf_unit *batch_finished(hf_batch *batch)
{
    hf_unit *finished = batch->ended;
    hf_unit **tail = &finished;

    batch->ended = NULL;
    while (*tail)
        tail = &(*tail)->next;
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->units[i]->settled)
            continue; /* it waits for another round */
        *tail = batch->units[i];
        tail = &batch->units[i]->next;
        *tail = NULL;
    }
    return finished;
}

hf_unit *hf_batch_run(hf_batch *batch, hf_unit *units, hf_unit **out_rest, hf_status *out_fatal,
                      hf_err *err)
{
    uint64_t unknown = batch->stats.unknown;
    hf_status st;

    *out_fatal = HF_OK;
    *out_rest = units;
    batch->count = 0;
    st = keys_refill(batch, err);
    if (!st)
        st = batch_fill(batch, units, out_rest, err);
    if (!st && batch->count) {
        items_join(batch);
        st = batch_commit(batch, err);
    }
    if (!st && batch->stats.unknown != unknown)
        batch_requeue(batch);
    else if (!st)
        st = batch_settle(batch, err);
    if (!st)
        st = log_bound(batch, err);
    if (st) {
        batch_fail(batch, status_passes(st) ? st : HF_STOPPED, err);
        if (!status_passes(st))
            *out_fatal = st;
    }
    return batch_finished(batch);
}
