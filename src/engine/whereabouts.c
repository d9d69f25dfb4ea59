/* whereabouts.c: see whereabouts.h. */
#include "engine/whereabouts.h"

#include "store/db.h"

/* The shard of a run of the reporter's namespace that is open; false: there is none. */
static bool run_shard(hf_core *core, const hf_ticket *ticket, int64_t *out_shard)
{
    const hf_db_value params[] = {hf_db_int(ticket->key), hf_db_int(ticket->namespace_key)};
    bool found = false;
    hf_err err;

    return !hf_db_number(core->db, HF_STMT_RUN_SHARD, params, 2, &found, out_shard, &err) && found;
}

/* The same of an attempt that is the newest. */
static bool attempt_shard(hf_core *core, const hf_ticket *ticket, int64_t *out_shard)
{
    const hf_db_value params[] = {hf_db_int(ticket->key), hf_db_int(ticket->namespace_key)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    bool runs;
    hf_err err;

    runs = !hf_db_query(core->db, HF_STMT_ACTIVITY_FIND, params, 2, &cursor, &err) &&
           !hf_db_step(cursor, &row, &err) && row && hf_db_column_null(cursor, 8) &&
           hf_db_column_int(cursor, 4) == ticket->attempt;
    if (runs)
        *out_shard = hf_db_column_int(cursor, 9);
    hf_db_end(cursor);
    return runs;
}

bool hf_whereabouts_elsewhere(hf_core *core, hf_ticket *ticket)
{
    int64_t shard = ticket->shard;

    if (!core->o.shards)
        return false;
    if (shard == HF_NONE &&
        !(ticket->kind == HF_TASK_WORKFLOW ? run_shard(core, ticket, &shard)
                                           : attempt_shard(core, ticket, &shard)))
        return false;
    ticket->shard = shard;
    return hf_shards_epoch(core->o.shards, shard) == HF_NONE;
}
