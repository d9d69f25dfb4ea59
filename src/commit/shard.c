/* shard.c: see shard.h. One connection, one statement per renewal; the statement is
   sql/postgres/shard_renew.sql. More are needed only when shards change hands. */
#include "commit/shard.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "store/row.h"

enum { WAIT_PART = 5 }; /* of the lease: how long a renewal waits for others */

struct hf_shards {
    hf_db *db; /* the renewing thread's */
    hf_store *store;
    hf_writer *writer;
    hf_store_versions known;
    hf_clock *clock;
    bool clock_is_own;
    int64_t node;
    int64_t lease_us;
    char name[128];
    bool lost;                         /* the connection must be made again */
    _Atomic int64_t epochs[HF_SHARDS]; /* HF_NONE: not ours */
    _Atomic int64_t count;
    _Atomic bool waiting;
    int64_t even_from_us;          /* from when on the silence of others can be told; passing */
    _Atomic int64_t safe_until_us; /* passing; counted from before the renewal was sent */
};

int64_t hf_shard_of(int64_t namespace_key, hf_slice id)
{
    const hf_map_seed seed = {.low = (uint64_t)namespace_key, .high = UINT64_C(0x686f6c6466617374)};

    return (int64_t)(hf_map_hash(seed, id) % HF_SHARDS);
}

/* Leases count while the machine sleeps, too. */
static int64_t passed_us(void)
{
    return hf_clock_passing_us(hf_clock_system());
}

/* After a jump the leases of all are of another time, until each has been renewed. */
static void time_learn(hf_shards *shards, int64_t db_us, int64_t sent_us, bool uneven)
{
    int64_t heard_us = passed_us();

    if (uneven)
        shards->even_from_us = heard_us + shards->lease_us;
    if (!shards->clock_is_own)
        hf_clock_learn(shards->clock, db_us, sent_us, heard_us);
}

/* ---- renewing */

static bool session_lost(hf_status st)
{
    return st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_READONLY;
}

/* What a renewal said. */
typedef struct reading {
    int64_t epochs[HF_SHARDS];  /* HF_NONE: not this node's, or to be given back */
    int64_t formers[HF_SHARDS]; /* whose sessions have to end first; HF_NONE: nobody's */
    int64_t give_from;          /* shards from here on are to be given back */
    int64_t now_us;
    bool uneven; /* the database's clock is far from where it should be */
    bool waiting;
    bool stuck;   /* somebody has shards locked that nobody has */
    bool strange; /* not everybody who may take shards can end the sessions of this node */
    hf_store_versions versions;
} reading;

static hf_status reading_row(reading *said, hf_db_cursor *cursor, hf_err *err)
{
    int64_t number;

    said->now_us = hf_db_column_int(cursor, 3);
    said->stuck = hf_db_column_int(cursor, 6) != 0;
    said->strange = hf_db_column_int(cursor, 7) != 0;
    said->versions.ground = hf_db_column_int(cursor, 8);
    said->versions.projection = hf_db_column_int(cursor, 9);
    said->uneven = hf_db_column_int(cursor, 10) != 0;
    if (hf_db_column_null(cursor, 0))
        return HF_OK;
    number = hf_db_column_int(cursor, 0);
    if (number < 0 || number >= HF_SHARDS)
        return hf_err_set(err, HF_CORRUPT, "there is no shard %lld", (long long)number);
    if (hf_db_column_int(cursor, 5)) {
        said->give_from = number < said->give_from ? number : said->give_from;
        return HF_OK;
    }
    said->epochs[number] = hf_db_column_int(cursor, 1);
    if (!hf_db_column_null(cursor, 4))
        said->formers[number] = hf_db_column_int(cursor, 4);
    said->waiting |= hf_db_column_int(cursor, 2) != 0;
    return HF_OK;
}

static hf_status reading_take(hf_shards *shards, bool serving, reading *out_said, hf_err *err)
{
    hf_db_value params[] = {hf_db_int(shards->node),
                            hf_db_int(shards->lease_us),
                            hf_db_int(hf_clock_wall_us(shards->clock) - shards->lease_us / 5),
                            hf_db_text(hf_slice_of(shards->name)),
                            hf_db_int(serving),
                            hf_db_int(hf_clock_real_us(shards->clock)),
                            hf_db_int(passed_us() >= shards->even_from_us)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    params[5].null = shards->clock_is_own;
    st = hf_db_query(shards->db, HF_STMT_SHARD_RENEW, params, 7, &cursor, err);
    *out_said = (reading){.give_from = HF_SHARDS};
    for (size_t i = 0; i < HF_SHARDS; i++)
        out_said->epochs[i] = out_said->formers[i] = HF_NONE;
    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (!st && row)
            st = reading_row(out_said, cursor, err);
    }
    hf_db_end(cursor);
    return st;
}

/* From now on the node owns what is its own and nobody else's any more. */
static void reading_publish(hf_shards *shards, const reading *said)
{
    int64_t count = 0;

    hf_writer_shut(shards->writer, said->give_from);
    for (size_t i = 0; i < HF_SHARDS; i++) {
        int64_t epoch = said->formers[i] == HF_NONE ? said->epochs[i] : (int64_t)HF_NONE;

        atomic_store(&shards->epochs[i], epoch);
        count += epoch != HF_NONE;
    }
    atomic_store(&shards->count, count);
    atomic_store(&shards->waiting, said->waiting);
}

/* ---- giving and taking */

/* Units that are not done in time stay where they are, and so do the shards until the next
   renewal. */
static hf_status shards_give(hf_shards *shards, int64_t from, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(shards->node), hf_db_int(from)};
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + shards->lease_us / WAIT_PART;
    hf_status st = hf_writer_quiet(shards->writer, until_us, err);

    if (st == HF_TIMEOUT || st == HF_STOPPED)
        return HF_OK;
    return st ? st : hf_db_exec(shards->db, HF_STMT_SHARD_GIVE, params, 2, NULL, err);
}

/* Ends the sessions of a node; HF_NONE: of the leases of all that are silent. HF_BUSY: they are
   still there. HF_DENIED: this role cannot tell or may not end them. */
static hf_status sessions_end(hf_shards *shards, int64_t node, hf_err *err)
{
    hf_db_value params[] = {hf_db_int(node), hf_db_int(shards->lease_us / 1000 / WAIT_PART)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    params[0].null = node == HF_NONE;
    st = hf_db_query(shards->db, HF_STMT_SESSION_END, params, 2, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row && hf_db_column_int(cursor, 1) > 0)
        st =
            hf_err_set(err, HF_DENIED, "the sessions of node %lld cannot be seen", (long long)node);
    else if (!st && row && hf_db_column_int(cursor, 0) > 0)
        st = hf_err_set(err, HF_BUSY, "sessions of node %lld do not end", (long long)node);
    hf_db_end(cursor);
    return st;
}

/* Nothing that the node has under way can be committed for the shards that were taken from it: its
   sessions have ended; or, where they cannot be ended, its transactions that began before have. */
static hf_status former_fence(hf_shards *shards, int64_t former, hf_err *err)
{
    const hf_db_value node = hf_db_int(former);
    int64_t rows = 0;
    hf_status st = sessions_end(shards, former, err);

    if (st != HF_DENIED)
        return st;
    st = hf_db_exec(shards->db, HF_STMT_SESSION_AWAIT, &node, 1, &rows, err);
    if (!st && rows == 0)
        st = hf_err_set(err, HF_DENIED,
                        "the shards of node %lld cannot be taken while it is connected: grant this "
                        "role pg_signal_backend and pg_read_all_stats",
                        (long long)former);
    return st;
}

/* Whether what is to be done for the shard's former owner was tried for a shard before it. */
static bool former_tried(const reading *said, size_t shard)
{
    size_t first = 0;

    while (said->formers[first] != said->formers[shard])
        first++;
    return first < shard;
}

/* One former owner after the other; one that is not settled is left to the next renewal. */
static hf_status formers_settle(hf_shards *shards, reading *said, hf_err *out_unsettled)
{
    hf_status st = HF_OK;

    for (size_t i = 0; i < HF_SHARDS && !session_lost(st); i++) {
        int64_t former = said->formers[i];
        const hf_db_value params[] = {hf_db_int(shards->node), hf_db_int(former)};
        hf_err why = {0};

        if (former == HF_NONE || former_tried(said, i))
            continue;
        st = former_fence(shards, former, &why);
        if (!st)
            st = hf_db_exec(shards->db, HF_STMT_SHARD_SETTLE, params, 2, NULL, &why);
        if (st)
            *out_unsettled = why;
        for (size_t k = i; !st && k < HF_SHARDS; k++)
            if (said->formers[k] == former)
                said->formers[k] = HF_NONE;
    }
    return session_lost(st) ? st : HF_OK;
}

static hf_status shards_dial(hf_shards *shards, hf_err *err)
{
    const hf_db_value self[] = {hf_db_int(shards->node), hf_db_int(2), hf_db_int(0)};
    const hf_db_value wait = hf_db_int(shards->lease_us / 1000 / WAIT_PART);
    hf_status st = hf_db_exec(shards->db, HF_STMT_LOCK_TIMEOUT, &wait, 1, NULL, err);

    return st ? st : hf_db_exec(shards->db, HF_STMT_SESSION_PUT, self, 3, NULL, err);
}

static hf_status version_check(const hf_shards *shards, const reading *said, hf_err *err)
{
    if (said->versions.ground <= shards->known.ground_known &&
        said->versions.projection <= shards->known.projection_known)
        return HF_OK;
    return hf_err_set(
        err, HF_NEWER,
        "the store was migrated to ground version %lld and projection version %lld by "
        "a newer program, this one knows %lld and %lld: it stops; use the newer one",
        (long long)said->versions.ground, (long long)said->versions.projection,
        (long long)shards->known.ground_known, (long long)shards->known.projection_known);
}

/* One renewal; a session that was ended meanwhile, by who thought this node gone, is made again. */
static hf_status reading_get(hf_shards *shards, bool serving, reading *out_said,
                             int64_t *out_sent_us, hf_err *err)
{
    hf_status st = HF_UNREACHABLE;

    for (int i = 0; i < 2 && session_lost(st); i++) {
        st = shards->lost ? hf_db_reconnect(shards->db, err) : HF_OK;
        if (!st && shards->lost)
            st = shards_dial(shards, err);
        *out_sent_us = passed_us();
        if (!st)
            st = reading_take(shards, serving, out_said, err);
        if (session_lost(st) && shards->lost)
            return st;
        shards->lost = session_lost(st);
    }
    return st;
}

hf_status hf_shards_renew(hf_shards *shards, bool serving, hf_err *out_unsettled, hf_err *err)
{
    reading said;
    int64_t sent_us = 0;
    hf_status st = reading_get(shards, serving, &said, &sent_us, err);

    *out_unsettled = (hf_err){0};
    if (!st)
        st = version_check(shards, &said, err);
    if (st)
        return hf_err_because(err, st, "renew the shards of node %lld", (long long)shards->node);
    time_learn(shards, said.now_us, sent_us, said.uneven);
    hf_writer_serve(shards->writer, shards->node, said.strange);
    reading_publish(shards, &said);
    atomic_store(&shards->safe_until_us, sent_us + shards->lease_us);
    st = formers_settle(shards, &said, out_unsettled);
    reading_publish(shards, &said);
    if (!st && said.stuck) /* the next renewal takes them */
        st = sessions_end(shards, HF_NONE, NULL);
    if (!session_lost(st) && said.give_from < HF_SHARDS)
        st = shards_give(shards, said.give_from, NULL);
    shards->lost = session_lost(st);
    return HF_OK;
}

hf_status hf_shards_join(const hf_shards_options *options, hf_shards **out_shards, hf_err *err)
{
    int64_t lease_us = options->lease_us ? options->lease_us : HF_SHARD_LEASE_US;
    const hf_db_value params[] = {hf_db_int(options->node), hf_db_text(hf_slice_of(options->name)),
                                  hf_db_int(lease_us)};
    hf_shards *shards = hf_alloc(sizeof(*shards));
    int64_t now_us = 0;
    int64_t sent_us;
    hf_err unsettled;
    hf_status st;

    if (!shards)
        return hf_err_nomem(err, "the shards of a node");
    shards->node = options->node;
    shards->lease_us = lease_us;
    shards->store = options->store;
    shards->writer = options->writer;
    shards->clock = options->clock;
    shards->clock_is_own = options->clock_is_own;
    (void)snprintf(shards->name, sizeof(shards->name), "%s", options->name);
    for (size_t i = 0; i < HF_SHARDS; i++)
        atomic_init(&shards->epochs[i], HF_NONE);
    st = hf_store_connect(options->store, HF_DB_WRITE, &shards->db, err);
    sent_us = passed_us();
    if (!st)
        st = hf_db_now(shards->db, &now_us, err);
    if (!st)
        time_learn(shards, now_us, sent_us, false);
    if (!st)
        st = hf_db_exec(shards->db, HF_STMT_NODE_JOIN, params, 3, NULL, err);
    if (!st)
        st = hf_db_exec(shards->db, HF_STMT_SESSION_CLEAN, NULL, 0, NULL, err);
    if (!st)
        st = hf_store_versions_get(shards->db, &shards->known, err);
    if (!st)
        st = shards_dial(shards, err);
    if (!st)
        st = hf_shards_renew(shards, true, &unsettled, err);
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
    /* Behind the last unit on its session. When that is lost, what it had under way may be there
       still: then the lease runs out by itself, and who takes the shards sees to the sessions. */
    if (!shards->lost)
        (void)!hf_db_exec(hf_store_writer(shards->store), HF_STMT_NODE_LEAVE, &node, 1, NULL, NULL);
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

bool hf_shards_held(const hf_shards *shards)
{
    return passed_us() < atomic_load(&shards->safe_until_us);
}

int64_t hf_shards_epoch(hf_shards *shards, int64_t shard)
{
    HF_ASSERT(shard >= 0 && shard < HF_SHARDS);
    if (!hf_shards_held(shards))
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
