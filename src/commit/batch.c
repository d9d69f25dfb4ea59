/* batch.c: one transaction for many units, in these parts:

   - arrange: units for the same run follow each other. Each is based on what the one before leaves,
     and the last one moves the fence for all of them. A unit that may not be based on the others
     waits for the next round.
   - together: all units in one transaction. This is the path that must be fast. Units that come
     while the database works on the others join them before the commit, as long as some are
     expected and a sync takes long: one serves them all.
   - ahead: where a sync is short, and on a database that can, those that come while it works on a
     COMMIT are sent behind it as the next transaction. That has to wait for the outcome with its
     own COMMIT; when the first fails, or anything is wrong with the second, it is given up and its
     units begin again as if they had just come.
   - alone: when the database refused something in it, each unit again behind a savepoint, so that
     the one at fault is condemned and the others live. Serialisation failures and deadlocks only
     cause another try.
   - settle: what became of each (settle.h).

   It must never report a unit as committed before the commit returned HF_OK or the read-back found
   it. */
#include "commit/batch.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "commit/settle.h"

enum {
    BATCH_TRIES = 5,      /* of the whole transaction after a serialisation failure */
    LOG_PAGES_MAX = 1000, /* of the SQLite log before it is written back */
    KEY_BLOCK = 100000,
    LOCK_SHORT_MS = 100,     /* once somebody was waited for in vain */
    LOCK_SHORT_US = 5000000, /* for so long */
    LOCK_UNITS_MAX = 20,     /* in one transaction; the others do not wait at all */
    SYNC_LONG_US = 350,      /* from here on a sync is worth waiting for those who may share it */
    WARY_BATCHES = 32,
    RECONNECT_FIRST_US = 20000,
    RECONNECT_MOST_US = 1000000
};

/* Reserves a block of keys, the first one or another: the smallest transaction there is, measured
   beside the quickest answer to a question, so that what is left is the sync. Of the last two the
   shorter one counts, so that a hiccup does not. */
static hf_status block_reserve(hf_batch *batch, const char *name, hf_keys **keys, hf_err *err)
{
    const hf_clock *clock = hf_clock_system();
    const hf_db_value nobody = hf_db_text(HF_SLICE(""));
    int64_t asked_us = hf_clock_mono_us(clock);
    int64_t told_us;
    int64_t took_us;
    hf_status st = hf_db_exec(batch->db, HF_STMT_META_GET, &nobody, 1, NULL, err);

    told_us = hf_clock_mono_us(clock);
    if (!st)
        st = *keys ? hf_keys_fill(*keys, batch->db, err)
                   : hf_keys_open(batch->db, name, KEY_BLOCK, keys, err);
    if (st)
        return st;
    took_us = hf_clock_mono_us(clock) - told_us;
    if (!batch->ask_us || told_us - asked_us < batch->ask_us)
        batch->ask_us = told_us - asked_us;
    batch->sync_us = (took_us < batch->reserve_us ? took_us : batch->reserve_us) - batch->ask_us;
    batch->reserve_us = took_us;
    return HF_OK;
}

static hf_status round_init(hf_round *round, size_t room, hf_err *err)
{
    round->mem = hf_mem_new();
    round->runs =
        hf_map_int_new((hf_map_seed){0}); /* keys are our own: nobody can choose them to collide */
    round->units = hf_alloc_array(room, sizeof(*round->units));
    round->items = hf_alloc_array(room, sizeof(*round->items));
    if (!round->mem || !round->runs || !round->units || !round->items)
        return hf_err_nomem(err, "the writer");
    return HF_OK;
}

static void round_fini(hf_round *round)
{
    hf_alloc_free(round->items);
    hf_alloc_free(round->units);
    hf_map_int_free(round->runs);
    hf_mem_free(round->mem);
}

hf_status hf_batch_init(hf_batch *batch, hf_store *store, size_t room, hf_err *err)
{
    hf_status st;

    *batch = (hf_batch){.db = hf_store_writer(store), .room = room, .shut_from = INT64_MAX};
    batch->now = &batch->rounds[0];
    batch->next = &batch->rounds[1];
    st = hf_stager_init(&batch->stager, err);
    if (!st)
        st = block_reserve(batch, "key", &batch->keys, err);
    if (!st)
        st = block_reserve(batch, "position", &batch->positions, err);
    for (size_t i = 0; !st && i < 2; i++)
        st = round_init(&batch->rounds[i], room, err);
    return st;
}

void hf_batch_fini(hf_batch *batch)
{
    round_fini(&batch->rounds[0]);
    round_fini(&batch->rounds[1]);
    hf_keys_close(batch->positions);
    hf_keys_close(batch->keys);
    hf_stager_fini(&batch->stager);
}

bool hf_batch_waiting(const hf_batch *batch)
{
    return batch->again != NULL || batch->next->begun;
}

size_t hf_batch_ahead(const hf_batch *batch)
{
    return batch->next->begun ? batch->next->count : 0;
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

/* Finds the unit its place in the round. False: it waits for the next one. */
static hf_status unit_arrange(hf_batch *batch, hf_round *round, hf_unit *unit, bool *out_placed,
                              hf_err *err)
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
    before = hf_map_int_get(round->runs, (uint64_t)part->before.run);
    *out_placed = before ? !round->written && unit_may_follow(unit, before)
                         : round == batch->now ||
                               !hf_map_int_get(batch->now->runs, (uint64_t)part->before.run);
    if (!*out_placed)
        return HF_OK;
    if (before) {
        st = hf_unit_rebase(unit, &hf_unit_appends(before)->after, &batch->stager, err);
        if (st)
            return st;
    }
    st = hf_map_int_put(round->runs, (uint64_t)part->before.run, unit, NULL, err);
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
    HF_ASSERT(hf_op_infos[unit->item.rows[0]->op].guard == HF_OP_GUARD_FENCE);
    return unit->item.rows[0];
}

/* Units in a row share one fence, the last one's, and everything in them is guarded by the head it
   leaves. Those that are written already are left as they are. */
static void items_join(hf_round *round)
{
    const hf_unit *last = NULL;

    for (size_t i = round->count; i-- > round->written;) {
        const hf_unit *unit = round->units[i];

        round->items[i] = unit->item;
        if (!hf_unit_appends(unit))
            continue;
        last = hf_map_int_get(round->runs, (uint64_t)unit->item.guard_run);
        HF_ASSERT(last && last->leader == unit->leader);
        round->items[i].guard_head = last->item.guard_head;
        if (unit->followed) { /* the fence itself is left to the last */
            round->items[i].guard = &last->item;
            round->items[i].rows++;
            round->items[i].flags++;
            round->items[i].count--;
        }
        hf_row_run_expect(unit_fence(unit),
                          &hf_unit_appends(unit->followed ? unit : unit->leader)->before,
                          &hf_unit_appends(unit)->after);
    }
}

/* Only the unit's own content can be at fault with these. */
static bool status_condemns(hf_status st)
{
    return st == HF_CONSTRAINT || st == HF_INVALID || st == HF_TOOBIG;
}

static bool status_bars(hf_status st)
{
    return st == HF_FULL || st == HF_READONLY;
}

bool hf_batch_passes(hf_status st)
{
    return status_bars(st) || st == HF_BUSY || st == HF_NOMEM || st == HF_RETRY || st == HF_TIMEOUT;
}

/* ---- the session */

/* Whether the session still has to write itself in. */
static bool session_new(const hf_batch *batch)
{
    return atomic_load(&batch->node) != batch->known || atomic_load(&batch->locks) != batch->holds;
}

/* Writes it in, before it does anything more for its node: who takes shards from the node finds and
   ends it. */
static hf_status session_put(hf_batch *batch, hf_err *err)
{
    int64_t node = atomic_load(&batch->node);
    bool locks = atomic_load(&batch->locks);
    const hf_db_value params[] = {hf_db_int(node), hf_db_int(1), hf_db_int(locks)};
    hf_status st = node ? hf_db_exec(batch->db, HF_STMT_SESSION_PUT, params, 3, NULL, err) : HF_OK;

    if (st)
        return hf_err_because(err, st, "write in the session of node %lld", (long long)node);
    batch->known = node;
    batch->holds = locks;
    return HF_OK;
}

static hf_status session_renew(hf_batch *batch, hf_err *err)
{
    hf_status st;

    batch->known = 0;
    st = hf_db_reconnect(batch->db, err);
    return st ? st : session_put(batch, err);
}

static hf_status number_set(hf_batch *batch, hf_stmt stmt, int64_t number, hf_err *err)
{
    const hf_db_value value = hf_db_int(number);

    return hf_db_batch(batch->db, stmt, &(hf_db_rows){.columns = 1, .count = 1, .cells = &value},
                       err);
}

/* Begins a transaction for units. */
static hf_status units_begin(hf_batch *batch, hf_err *err)
{
    hf_status st = hf_db_begin(batch->db, HF_DB_WRITE, err);

    if (!st && batch->locked_until_us) {
        if (hf_clock_mono_us(hf_clock_system()) >= batch->locked_until_us)
            batch->locked_until_us = 0;
        else
            st = number_set(batch, HF_STMT_LOCK_TIMEOUT_ONCE, LOCK_SHORT_MS, err);
    }
    if (!st && batch->holds)
        st = number_set(batch, HF_STMT_SESSION_LOCK, batch->known, err);
    return st;
}

hf_status hf_batch_reach(hf_batch *batch, bool patient, hf_err *err)
{
    int64_t wait_us = RECONNECT_FIRST_US;
    bool waits;
    hf_status st;

    do {
        if (batch->stopped(batch->ctx))
            return hf_err_set(err, HF_STOPPED,
                              "the engine stopped while the database could not be reached");
        st = session_renew(batch, err);
        waits = st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_BUSY ||
                (patient && st == HF_READONLY);
        if (status_bars(st))
            batch->barred = *err;
        if (waits) {
            batch->pause(batch->ctx, wait_us);
            wait_us = wait_us * 2 < RECONNECT_MOST_US ? wait_us * 2 : RECONNECT_MOST_US;
        }
    } while (waits);
    return st;
}

/* Positions are handed out here, in the order of commits. */
static hf_status position_take(hf_batch *batch, int64_t *out_position, hf_err *err)
{
    hf_status st = hf_keys_take(batch->positions, 1, out_position, err);

    while (st == HF_BUSY) {
        st = hf_keys_fill(batch->positions, batch->db, err);
        if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
            st = hf_batch_reach(batch, false, err);
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

/* Takes the unit into the round, or to the next one, or, when it is at fault or of a shard that is
   given back, to its end. */
static hf_status unit_place(hf_batch *batch, hf_round *round, hf_unit *unit, hf_err *err)
{
    bool placed = false;
    hf_status st = HF_OK;

    if (hf_unit_shard(unit) >= atomic_load(&batch->shut_from))
        st = hf_err_set(err, HF_CONFLICT, "shard %lld is being given to another node",
                        (long long)hf_unit_shard(unit));
    if (!st)
        st = unit_arrange(batch, round, unit, &placed, err);
    if (!st && placed)
        st = unit_number(batch, unit, err);
    if (status_condemns(st) || st == HF_CONFLICT) {
        hf_settle_unit(unit, st, err);
        unit->next = batch->ended;
        batch->ended = unit;
        return HF_OK;
    }
    if (placed)
        round->units[round->count++] = unit;
    else
        hf_settle_again(batch, unit);
    return st;
}

static hf_status units_place(hf_batch *batch, hf_round *round, hf_unit *units, hf_err *err)
{
    hf_status st = HF_OK;

    while (!st && units && round->count < batch->room) {
        hf_unit *unit = units;

        units = unit->next;
        unit->next = NULL;
        unit->waits = false;
        batch->taken++;
        st = unit_place(batch, round, unit, err);
    }
    batch->rest = units;
    return st;
}

/* Fills the round: those kept for another one first, then the list. */
static hf_status round_fill(hf_batch *batch, hf_round *round, hf_unit *units, hf_err *err)
{
    hf_unit *waiting = units;

    if (batch->again) {
        batch->again_last->next = units;
        waiting = batch->again;
    }
    batch->again = batch->again_last = NULL;
    return units_place(batch, round, waiting, err);
}

static void round_clear(hf_round *round)
{
    HF_ASSERT(!round->begun);
    hf_map_int_clear(round->runs);
    round->count = round->written = 0;
}

/* The round that was begun ahead is the one to commit, and others may still join it; or a new one.
 */
static hf_status batch_fill(hf_batch *batch, hf_unit *units, hf_err *err)
{
    hf_round *begun = batch->next;

    batch->taken = 0;
    if (!begun->begun) {
        round_clear(batch->now);
    } else {
        batch->next = batch->now;
        batch->now = begun;
        batch->taken = begun->count;
        if (hf_keys_low(batch->positions)) /* no block can be reserved within a transaction */
            return HF_OK;
    }
    return round_fill(batch, batch->now, units, err);
}

/* Writes the units of the round that are not written, in its transaction, which it begins when it
   is not open. Assured: for when every guard is expected to hold. */
static hf_status round_write(hf_batch *batch, hf_round *round, bool assured, hf_err *err)
{
    bool foreign = false;
    hf_status st = HF_OK;

    if (!round->begun) {
        round->pending = NULL;
        round->written = 0;
        hf_mem_reset(round->mem);
        st = units_begin(batch, err);
        round->begun = !st;
        if (!st) /* within the transaction: from here on nobody else can */
            st = hf_db_foreign_write(batch->db, &foreign, err);
        if (!st && foreign)
            st = hf_err_set(err, HF_CORRUPT,
                            "somebody else wrote to the store: the engine must own it alone");
    }
    if (!st && round->written < round->count)
        st = hf_apply(batch->db, round->mem, round->items + round->written,
                      round->count - round->written, assured, &round->pending, err);
    round->written = round->count;
    return st;
}

/* Lets units join the open transaction that came while the database worked on the others, as long
   as some are expected and it does not need to wait for them. Where a sync is short they are better
   off in a transaction of their own: the database works on it while those of this one make their
   next units. */
static hf_status units_join(hf_batch *batch, bool assured, hf_err *err)
{
    hf_status st = HF_OK;

    while (!st && batch->sync_us >= SYNC_LONG_US && batch->taken < batch->expected &&
           !batch->rest && !hf_keys_low(batch->positions)) {
        hf_unit *units;

        st = hf_db_flush(batch->db, err);
        units = st ? NULL : batch->more(batch->ctx);
        if (!units)
            break;
        st = units_place(batch, batch->now, units, err);
        if (st)
            break;
        items_join(batch->now);
        st = round_write(batch, batch->now, assured, err);
    }
    return st;
}

static bool next_wanted(const hf_batch *batch)
{
    return batch->db->driver->commit_send && batch->ahead && batch->sync_us < SYNC_LONG_US &&
           batch->taken < batch->expected && !batch->rest && !hf_keys_low(batch->keys) &&
           !hf_keys_low(batch->positions) && !session_new(batch);
}

/* While the database works on the COMMIT that was sent, the next transaction is sent behind it. */
static hf_status next_begin(hf_batch *batch, bool assured)
{
    hf_round *next = batch->next;
    hf_unit *units;
    hf_status st;

    round_clear(next);
    units = batch->ahead(batch->ctx, batch->expected - batch->taken);
    if (!units)
        return HF_OK;
    st = round_fill(batch, next, units, NULL);
    if (st || !next->count)
        return st;
    items_join(next);
    return round_write(batch, next, assured, NULL);
}

/* Gives up what was begun behind a transaction that failed, or failed by itself: a later round is
   theirs, before all who came after them. */
static void next_drop(hf_batch *batch)
{
    hf_round *next = batch->next;
    hf_unit *later = batch->again;

    hf_db_rollback(batch->db);
    batch->again = batch->again_last = NULL;
    for (size_t i = 0; i < next->count; i++)
        hf_settle_again(batch, next->units[i]);
    while (later) {
        hf_unit *unit = later;

        later = unit->next;
        hf_settle_again(batch, unit);
    }
    next->begun = false;
    next->count = 0;
}

/* Commits what is open, and begins the next meanwhile. */
static hf_status round_commit(hf_batch *batch, bool assured, hf_err *err)
{
    hf_status failed;
    hf_status st = hf_db_commit_send(batch->db, err);

    if (st)
        return st;
    failed = next_begin(batch, assured);
    st = hf_db_commit_end(batch->db, err);
    if (st || failed)
        next_drop(batch);
    return st;
}

/* HF_CONFLICT: a guard did not hold that was assured, and nothing was written. */
static hf_status batch_transact(hf_batch *batch, bool assured, bool first, hf_err *err)
{
    hf_round *now = batch->now;
    hf_status st = round_write(batch, now, assured, err);

    if (!st && first)
        st = units_join(batch, assured, err);
    if (st)
        hf_db_rollback(batch->db);
    else if (first && assured && next_wanted(batch))
        st = round_commit(batch, assured, err);
    else
        st = hf_db_commit(batch->db, err);
    now->begun = false;
    hf_apply_settle(now->pending);
    return st;
}

/* Whether somebody has a row locked and keeps it. On SQLite there is nobody else. */
static bool status_locked(const hf_batch *batch, hf_status st)
{
    return st == HF_BUSY && batch->db->driver->assures;
}

/* One unit behind a savepoint. Its own fault condemns it, and one that waits for a lock in vain
   ends with HF_BUSY; everything else is the caller's to judge. */
static hf_status unit_alone(hf_batch *batch, hf_unit *unit, hf_err *err)
{
    const hf_unit_part *part = hf_unit_appends(unit);
    hf_apply_pending *pending = NULL;
    hf_apply_item item = unit->item;
    hf_err fault = {0};
    hf_status st = hf_db_savepoint(batch->db, err);

    if (st)
        return st;
    if (part)
        hf_row_run_expect(unit_fence(unit), &part->before, &part->after);
    st = hf_apply(batch->db, batch->now->mem, &item, 1, false, &pending, &fault);
    if (!st)
        st = hf_db_release(batch->db, &fault);
    hf_apply_settle(pending);
    if ((status_condemns(st) || status_locked(batch, st)) && hf_db_in_transaction(batch->db)) {
        bool locked = !status_condemns(st);

        st = hf_db_rollback_to(batch->db, err);
        if (!st) {
            batch->stats.condemned += !locked;
            batch->stats.locked += locked;
            hf_settle_unit(unit, fault.status, &fault);
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
    uint64_t locked = batch->stats.locked;
    hf_status st;

    for (size_t i = 0; i < batch->now->count;
         i++) { /* in this mode everyone brings a fence of its own */
        batch->now->units[i]->followed = false;
        if (batch->now->units[i]->settled && batch->now->units[i]->status != HF_OK)
            batch->now->units[i]->settled =
                false; /* a rolled back attempt condemned it; it is judged again */
    }
    hf_mem_reset(batch->now->mem);
    st = units_begin(batch, err);
    for (size_t i = 0; !st && i < batch->now->count; i++) {
        hf_unit *unit = batch->now->units[i];

        if (unit->settled)
            continue;
        if (unit_stands(unit))
            st = unit_alone(batch, unit, err);
        else /* as if its fence had not held: it is based anew, or ends */
            memset(unit->item.flags, HF_DB_SKIPPED, unit->item.count);
        if (!st && batch->stats.locked == locked + LOCK_UNITS_MAX)
            st = number_set(batch, HF_STMT_LOCK_TIMEOUT_ONCE, 1, err);
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
    bool ahead = batch->now->begun;
    bool alone = false;
    bool moved = false;
    bool first = true;
    int tries = 0;
    hf_status st;

    for (;;) {
        bool assured = batch->db->driver->assures && batch->wary == 0;

        st = alone ? batch_alone(batch, err) : batch_transact(batch, assured, first, err);
        first = false;
        if (st == HF_OK)
            break;
        if (st == HF_CONFLICT && assured) { /* again, so that the others' rows are written */
            batch->wary = WARY_BATCHES;
            continue;
        }
        if (status_condemns(st) && !alone) {
            alone = true;
        } else if (status_locked(batch, st) && !alone) {
            alone = true;
            batch->locked_until_us = hf_clock_mono_us(hf_clock_system()) + LOCK_SHORT_US;
        } else if (st == HF_RETRY && tries < BATCH_TRIES) {
            alone = ++tries == BATCH_TRIES;
        } else if (st == HF_UNREACHABLE || st == HF_UNKNOWN || (st == HF_READONLY && !moved)) {
            bool unknown = st == HF_UNKNOWN;

            moved |= st == HF_READONLY; /* another server may be the one that takes changes now */
            st = unknown ? hf_settle_unknown(batch, err) : hf_batch_reach(batch, false, err);
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
    batch->stats.ahead += ahead;
    if (batch->wary > 0)
        batch->wary--;
    return HF_OK;
}

/* After an unknown outcome: what the read-back did not find goes again as it is, its fence will
 * tell. */
static void batch_requeue(hf_batch *batch)
{
    for (size_t i = 0; i < batch->now->count; i++)
        if (!batch->now->units[i]->settled)
            hf_settle_again(batch, batch->now->units[i]);
}

/* Those that were promised another round keep it; when there is none, hf_batch_abandon ends them.
 */
static void batch_fail(hf_batch *batch, hf_status st, const hf_err *err)
{
    for (size_t i = 0; i < batch->now->count; i++)
        if (!batch->now->units[i]->settled && !batch->now->units[i]->waits)
            hf_settle_unit(batch->now->units[i], st, err);
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
    return hf_batch_passes(st) ? HF_OK : st;
}

/* Fetches the next blocks before they are needed. When the store is not to be had just now nothing
   is lost by going on: it shows again when a block is empty. A failed sync must not pass unnoticed.
 */
static hf_status keys_refill(hf_batch *batch, hf_err *err)
{
    hf_status st = HF_OK;

    if (hf_keys_low(batch->keys))
        st = block_reserve(batch, "key", &batch->keys, err);
    if (!st && hf_keys_low(batch->positions))
        st = block_reserve(batch, "position", &batch->positions, err);
    return hf_batch_passes(st) || st == HF_UNREACHABLE || st == HF_UNKNOWN ? HF_OK : st;
}

/* A session that is to write itself in does so before its next unit. */
static hf_status session_ensure(hf_batch *batch, hf_err *err)
{
    hf_status st = session_new(batch) ? session_put(batch, err) : HF_OK;

    return st == HF_UNREACHABLE || st == HF_UNKNOWN ? hf_batch_reach(batch, false, err) : st;
}

hf_status hf_batch_rest(hf_batch *batch, hf_err *err)
{
    hf_status st = batch->db->log_pages ? hf_db_checkpoint(batch->db, err) : HF_OK;

    return hf_batch_passes(st) ? HF_OK : st;
}

hf_status hf_batch_try(hf_batch *batch, hf_err *err)
{
    hf_status st;

    if (batch->barred.status == HF_READONLY) /* no sync is asked of a disk that takes nothing */
        st = session_renew(batch, err);
    else
        st = hf_batch_rest(batch, err); /* a log that is written back is room as well */
    if (!st)
        st = hf_keys_fill(batch->keys, batch->db, err);
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        st = session_renew(batch, err) ? HF_UNREACHABLE : HF_BUSY; /* the next try will tell */
    if (!st)
        batch->barred.status = HF_OK;
    if (status_bars(st))
        batch->barred = *err;
    return hf_batch_passes(st) || st == HF_UNREACHABLE ? HF_OK : st;
}

hf_unit *hf_batch_abandon(hf_batch *batch, const hf_err *why)
{
    hf_unit *units = batch->again;

    for (hf_unit *unit = units; unit; unit = unit->next)
        hf_settle_unit(unit, HF_STOPPED, why);
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
    for (size_t i = 0; i < batch->now->count; i++) {
        if (!batch->now->units[i]->settled)
            continue; /* it waits for another round */
        *tail = batch->now->units[i];
        tail = &batch->now->units[i]->next;
        *tail = NULL;
    }
    return finished;
}

hf_unit *hf_batch_run(hf_batch *batch, hf_unit *units, hf_unit **out_rest, hf_status *out_fatal,
                      hf_err *err)
{
    uint64_t unknown = batch->stats.unknown;
    hf_status st = HF_OK;

    *out_fatal = HF_OK;
    batch->rest = units;
    if (!batch->next->begun) {
        batch->now->count = 0;
        st = session_ensure(batch, err);
        if (!st)
            st = keys_refill(batch, err);
    }
    if (!st)
        st = batch_fill(batch, units, err);
    if (!st && batch->now->count) {
        items_join(batch->now);
        st = batch_commit(batch, err);
        if (!st)
            batch->barred.status = HF_OK;
    }
    if (batch->now->begun) { /* who joined it could not be placed */
        hf_db_rollback(batch->db);
        batch->now->begun = false;
    }
    if (status_bars(st))
        batch->barred = *err;
    if (!st && batch->stats.unknown != unknown)
        batch_requeue(batch);
    else if (!st)
        st = hf_settle_committed(batch, err);
    if (!st)
        st = log_bound(batch, err);
    if (st) {
        batch_fail(batch, hf_batch_passes(st) ? st : HF_STOPPED, err);
        if (!hf_batch_passes(st))
            *out_fatal = st;
    }
    *out_rest = batch->rest;
    return batch_finished(batch);
}
