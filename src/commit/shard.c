/* shard.c: see shard.h. One connection, one statement per renewal; the statement is
 * sql/postgres/shard_renew.sql. */
#include "commit/shard.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "store/row.h"

struct hf_shards {
    hf_db *db; /* the renewing thread's */
    int64_t node;
    int64_t lease_us;
    char name[128];
    bool lost;                         /* the connection must be made again */
    _Atomic int64_t epochs[HF_SHARDS]; /* HF_NONE: not ours */
    _Atomic int64_t count;
    _Atomic bool waiting;
    _Atomic int64_t ahead_us;      /* of the database's clock before the monotonic one, at least */
    _Atomic int64_t newest_us;     /* that hf_shards_now_us told */
    _Atomic int64_t safe_until_us; /* monotonic; counted from before the renewal was sent */
};

int64_t hf_shard_of(int64_t namespace_key, hf_slice id)
{
    const hf_map_seed seed = {.low = (uint64_t)namespace_key, .high = UINT64_C(0x686f6c6466617374)};

    return (int64_t)(hf_map_hash(seed, id) % HF_SHARDS);
}

/* The database said its time at some moment between the two, so its clock is ahead of the monotonic
   one by at least and at most so much. The best of all answers counts, until one shows that the
   database's clock was set back. */
static void clock_learn(hf_shards *shards, int64_t db_us, int64_t sent_us, int64_t heard_us)
{
    int64_t ahead_us = atomic_load(&shards->ahead_us);

    if (ahead_us < db_us - heard_us)
        ahead_us = db_us - heard_us;
    if (ahead_us > db_us - sent_us)
        ahead_us = db_us - sent_us;
    atomic_store(&shards->ahead_us, ahead_us);
}

static hf_status shards_read(hf_shards *shards, hf_db_cursor *cursor, int64_t sent_us, hf_err *err)
{
    int64_t epochs[HF_SHARDS];
    int64_t count = 0;
    int64_t now_us = 0;
    bool waiting = false;
    bool row = true;
    hf_status st = HF_OK;

    for (size_t i = 0; i < HF_SHARDS; i++)
        epochs[i] = HF_NONE;
    while (!st) {
        int64_t number;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        now_us = hf_db_column_int(cursor, 3);
        if (hf_db_column_null(cursor, 0))
            continue;
        number = hf_db_column_int(cursor, 0);
        if (number < 0 || number >= HF_SHARDS)
            return hf_err_set(err, HF_CORRUPT, "there is no shard %lld", (long long)number);
        epochs[number] = hf_db_column_int(cursor, 1);
        waiting |= hf_db_column_int(cursor, 2) != 0;
        count++;
    }
    if (st)
        return st;
    for (size_t i = 0; i < HF_SHARDS; i++)
        atomic_store(&shards->epochs[i], epochs[i]);
    atomic_store(&shards->count, count);
    atomic_store(&shards->waiting, waiting);
    clock_learn(shards, now_us, sent_us, hf_clock_mono_us(hf_clock_system()));
    return HF_OK;
}

hf_status hf_shards_renew(hf_shards *shards, bool serving, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(shards->node), hf_db_int(shards->lease_us),
                                  hf_db_int(shards->lease_us / 5),
                                  hf_db_text(hf_slice_of(shards->name)), hf_db_int(serving)};
    int64_t sent_us = hf_clock_mono_us(hf_clock_system());
    hf_db_cursor *cursor = NULL;
    hf_status st = shards->lost ? hf_db_reconnect(shards->db, err) : HF_OK;

    if (!st)
        st = hf_db_query(shards->db, HF_STMT_SHARD_RENEW, params, 5, &cursor, err);
    if (!st)
        st = shards_read(shards, cursor, sent_us, err);
    hf_db_end(cursor);
    shards->lost = st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_READONLY;
    if (!st)
        atomic_store(&shards->safe_until_us, sent_us + shards->lease_us);
    return hf_err_because(err, st, "renew the shards of node %lld", (long long)shards->node);
}

hf_status hf_shards_join(const hf_shards_options *options, hf_shards **out_shards, hf_err *err)
{
    int64_t lease_us = options->lease_us ? options->lease_us : HF_SHARD_LEASE_US;
    const hf_db_value params[] = {hf_db_int(options->node), hf_db_text(hf_slice_of(options->name)),
                                  hf_db_int(lease_us)};
    hf_shards *shards = hf_alloc(sizeof(*shards));
    int64_t now_us = 0;
    hf_status st;

    if (!shards)
        return hf_err_nomem(err, "the shards of a node");
    shards->node = options->node;
    shards->lease_us = lease_us;
    (void)snprintf(shards->name, sizeof(shards->name), "%s", options->name);
    for (size_t i = 0; i < HF_SHARDS; i++)
        atomic_init(&shards->epochs[i], HF_NONE);
    st = hf_store_connect(options->store, HF_DB_WRITE, &shards->db, err);
    if (!st)
        st = hf_db_now(shards->db, &now_us, err);
    atomic_init(&shards->ahead_us, now_us - hf_clock_mono_us(hf_clock_system()));
    if (!st)
        st = hf_db_exec(shards->db, HF_STMT_NODE_JOIN, params, 3, NULL, err);
    if (!st)
        st = hf_shards_renew(shards, true, err);
    if (st) {
        hf_db_close(shards->db);
        hf_alloc_free(shards);
        return hf_err_because(err, st, "join as node %s", options->name);
    }
    *out_shards = shards;
    return HF_OK;
}

void hf_shards_leave(hf_shards *shards)
{
    hf_db_value node;

    if (!shards)
        return;
    node = hf_db_int(shards->node);
    if (!shards->lost) /* else the lease runs out by itself */
        (void)!hf_db_exec(shards->db, HF_STMT_NODE_LEAVE, &node, 1, NULL, NULL);
    hf_db_close(shards->db);
    hf_alloc_free(shards);
}

int64_t hf_shards_lease_us(const hf_shards *shards)
{
    return shards->lease_us;
}

int64_t hf_shards_renew_us(const hf_shards *shards)
{
    return shards->lease_us * 3 / 10;
}

int64_t hf_shards_epoch(hf_shards *shards, int64_t shard)
{
    HF_ASSERT(shard >= 0 && shard < HF_SHARDS);
    if (hf_clock_mono_us(hf_clock_system()) >= atomic_load(&shards->safe_until_us))
        return HF_NONE;
    return atomic_load(&shards->epochs[shard]);
}

int64_t hf_shards_count(hf_shards *shards)
{
    return atomic_load(&shards->count);
}

bool hf_shards_waiting(hf_shards *shards)
{
    return atomic_load(&shards->waiting);
}

int64_t hf_shards_now_us(hf_shards *shards)
{
    int64_t now_us = atomic_load(&shards->ahead_us) + hf_clock_mono_us(hf_clock_system());
    int64_t newest_us = atomic_load(&shards->newest_us);

    while (now_us > newest_us &&
           !atomic_compare_exchange_weak(&shards->newest_us, &newest_us, now_us))
        ;
    return now_us > newest_us ? now_us : newest_us;
}
