/* settle.c: see settle.h. A unit whose fence did not hold is based on the run as it is now, when it
   allows that, and gets another round; else it ends with HF_CONFLICT. When the answer to COMMIT was
   lost, the chunk at the unit's place in history tells: it is there with this hash, or the unit was
   not committed. A unit without events has no chunk: its command rows tell, and what holds no
   command either ends with HF_CONFLICT, to be drafted again. */
#include "commit/settle.h"

#include <string.h>

#include "base/assert.h"
#include "model/event_codec.h"

enum { REBASE_MAX = 64 }; /* a unit that loses this often is told so */

void hf_settle_unit(hf_unit *unit, hf_status status, const hf_err *err)
{
    HF_ASSERT(!unit->settled);
    unit->settled = true;
    unit->status = status;
    if (err && status)
        unit->err = *err;
}

void hf_settle_again(hf_batch *batch, hf_unit *unit)
{
    unit->next = NULL;
    unit->waits = true;
    if (batch->again_last)
        batch->again_last->next = unit;
    else
        batch->again = unit;
    batch->again_last = unit;
}

static bool unit_refused(const hf_batch *batch, const hf_unit *unit)
{
    const hf_unit *last = unit;

    if (unit->followed)
        last = hf_map_int_get(batch->now->runs, (uint64_t)unit->item.guard_run);
    return hf_apply_refused(&last->item);
}

/* The same for a unit without events that records commands. */
static hf_status command_find(hf_batch *batch, const hf_row *command, bool *out_found, hf_err *err)
{
    int64_t ignored = 0;

    return hf_db_number(batch->db, HF_STMT_COMMAND_AT, &command->cells[0], 1, out_found, &ignored,
                        err);
}

/* Was the unit committed? Its first chunk is there with its hash, or it was not. *out_traced false:
   nothing that stays would tell. */
static hf_status unit_find(hf_batch *batch, const hf_unit *unit, bool *out_found, bool *out_traced,
                           hf_err *err)
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
    *out_traced = chunk || command || !hf_unit_appends(unit);
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

    for (size_t i = 0; !st && i < batch->now->count; i++) {
        bool found = false;
        bool traced = true;
        hf_err why;

        if (batch->now->units[i]->settled)
            continue;
        st = unit_find(batch, batch->now->units[i], &found, &traced, err);
        if (!st && found)
            hf_settle_unit(batch->now->units[i], HF_OK, NULL);
        else if (!st && !traced)
            hf_settle_unit(
                batch->now->units[i],
                hf_err_set(&why, HF_CONFLICT, "the answer to COMMIT was lost, and no event tells"),
                &why);
    }
    return st;
}

hf_status hf_settle_unknown(hf_batch *batch, hf_err *err)
{
    hf_status st;

    batch->stats.unknown++;
    do {
        st = hf_batch_reach(batch, true, err);
        if (!st)
            st = batch_resolve(batch, err);
    } while (st == HF_UNREACHABLE);
    if (hf_batch_passes(st)) /* nobody may be told to try again what may be in already */
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
        st = hf_event_chunk_decode(batch->now->mem, hf_db_column_bytes(cursor, 3), &events, &count,
                                   err);
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
        hf_settle_unit(unit, why.status, &why);
        return HF_OK;
    }
    if (!st)
        st = hf_unit_rebase(unit, &now, &batch->stager, err);
    if (!st) {
        batch->stats.rebased++;
        unit->known_seq = now.last_seq;
        hf_settle_again(batch, unit);
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
        hf_settle_unit(unit, hf_err_set(&why, HF_EXISTS, "the instance exists already"), &why);
        return HF_OK;
    }
    if (!hf_unit_appends(unit)) {
        hf_settle_unit(unit,
                       hf_err_set(&why, HF_CONFLICT, "%s",
                                  unit->schedule ? "the schedule has moved on, or the id is taken"
                                                 : "the instance has moved on"),
                       &why);
        return HF_OK;
    }
    while (st == HF_UNREACHABLE) {
        st = unit_lost(batch, unit, err);
        if (st == HF_UNREACHABLE) {
            st = hf_batch_reach(batch, true, err);
            if (!st)
                st = HF_UNREACHABLE; /* reached: ask again */
        }
    }
    return st;
}

hf_status hf_settle_committed(hf_batch *batch, hf_err *err)
{
    hf_status st = HF_OK;

    hf_mem_reset(batch->now->mem);
    for (size_t i = 0; i < batch->now->count; i++) {
        hf_unit *unit = batch->now->units[i];

        if (unit->settled || unit_refused(batch, unit))
            continue;
        batch->stats.units++;
        hf_settle_unit(unit, HF_OK, NULL);
    }
    for (size_t i = 0; !st && i < batch->now->count; i++) {
        if (batch->now->units[i]->settled)
            continue;
        HF_ASSERT(!batch->next->begun); /* that takes it for granted that every guard holds */
        st = unit_refuse(batch, batch->now->units[i], err);
    }
    return st;
}
