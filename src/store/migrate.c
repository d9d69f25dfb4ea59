/* migrate.c: migrations. A migration is known by its name, KIND_NUMBER_words, and by the checksum
   of its text. The rule: the transaction that changes the schema also writes that it did, and looks
   first whether another node was quicker. Must never run a migration that the store has seen, nor
   accept a store that has seen others. */
#include "store/migrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/crypto.h"
#include "base/rng.h"
#include "store/store.h"

enum {
    RETRIES_MAX = 20, /* nodes that begin at once meet a few times, not more */
    LOCK_MS = 600000, /* another one's migration may take long */
    STORE_ID_BYTES = 16,
    NUMBER_TEXT_SIZE = 24,
    NAME_BYTES_MAX = 127
};

typedef enum kind { KIND_GROUND, KIND_PROJECTION, KIND_COUNT } kind;

static const char *const kind_names[KIND_COUNT] = {
    [KIND_GROUND] = "ground", [KIND_PROJECTION] = "projection"};
static const char *const kind_version_rows[KIND_COUNT] = {
    [KIND_GROUND] = "ground_version",
    [KIND_PROJECTION] = "projection_version",
};

/* What the store says about itself. */
typedef struct state {
    bool present;  /* the table meta exists */
    bool *applied; /* by index into hf_migration_texts */
    hf_sha256 *sha;
} state;

static const char *migration_text(const hf_db *db, size_t at)
{
    bool sqlite = strcmp(db->driver->name, "sqlite") == 0;

    return sqlite ? hf_migration_texts[at].sqlite : hf_migration_texts[at].postgres;
}

/* "ground_0002_shards" -> KIND_GROUND, 2. */
static bool name_read(hf_slice name, kind *out_kind, int64_t *out_number)
{
    hf_slice rest = name;
    hf_slice word;
    hf_slice digits;

    if (!hf_slice_split(&rest, '_', &word) || !hf_slice_split(&rest, '_', &digits))
        return false;
    for (kind at = 0; at < KIND_COUNT; at++) {
        if (hf_slice_equal(word, hf_slice_of(kind_names[at]))) {
            *out_kind = at;
            return hf_slice_int(digits, out_number);
        }
    }
    return false;
}

static void migration_name(size_t at, kind *out_kind, int64_t *out_number)
{
    bool read = name_read(hf_slice_of(hf_migration_texts[at].name), out_kind, out_number);

    HF_ASSERT(read); /* our own file names */
}

static int64_t version_known(kind of)
{
    int64_t newest = 0;

    for (size_t i = 0; i < hf_migration_texts_count; i++) {
        kind one;
        int64_t number;

        migration_name(i, &one, &number);
        if (one == of && number > newest)
            newest = number;
    }
    return newest;
}

static hf_status newer_fail(kind of, int64_t found, hf_err *err)
{
    return hf_err_set(err, HF_NEWER,
                      "the store has %s version %" PRId64 ", this program knows %" PRId64
                      ": use a newer holdfast",
                      kind_names[of], found, version_known(of));
}

static hf_status checksum_make(state *now, const char *text, char out_text[HF_SHA256_TEXT_SIZE],
                               hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_status st = hf_sha256_digest(now->sha, hf_slice_of(text), digest, err);

    if (!st)
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_text);
    return st;
}

/* ---- what the store has */

static hf_status tables_look(hf_db *db, bool *out_present, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_META_TABLES, NULL, 0, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st)
        *out_present = row && hf_db_column_int(cursor, 0) > 0;
    hf_db_end(cursor);
    return st;
}

/* One row of the table migration, compared with what this program knows by that name. */
static hf_status applied_check(state *now, const hf_db *db, hf_slice name, hf_slice checksum,
                               hf_err *err)
{
    char known[HF_SHA256_TEXT_SIZE];
    kind of;
    int64_t number;
    size_t at = 0;
    hf_status st;

    while (at < hf_migration_texts_count &&
           !hf_slice_equal(name, hf_slice_of(hf_migration_texts[at].name)))
        at++;
    if (at < hf_migration_texts_count) {
        st = checksum_make(now, migration_text(db, at), known, err);
        if (!st && !hf_slice_equal(checksum, hf_slice_of(known)))
            st = hf_err_set(err, HF_CORRUPT,
                            "the store ran another text under the name %s than this program has: "
                            "the two builds do "
                            "not belong together",
                            hf_migration_texts[at].name);
        now->applied[at] = !st;
        return st;
    }
    if (name_read(name, &of, &number) && number > version_known(of))
        return newer_fail(of, number, err);
    return hf_err_set(
        err, HF_NEWER,
        "the store ran the migration %.*s, which this program does not know: use a newer "
        "holdfast",
        (int)(name.len > NAME_BYTES_MAX ? NAME_BYTES_MAX : name.len), name.ptr);
}

/* A gap would be filled in the wrong order. */
static hf_status order_check(const state *now, hf_err *err)
{
    for (size_t i = 0; i + 1 < hf_migration_texts_count; i++) {
        kind one;
        kind next;
        int64_t number;

        migration_name(i, &one, &number);
        migration_name(i + 1, &next, &number);
        if (one == next && !now->applied[i] && now->applied[i + 1])
            return hf_err_set(err, HF_CORRUPT, "the store ran %s without %s before it",
                              hf_migration_texts[i + 1].name, hf_migration_texts[i].name);
    }
    return HF_OK;
}

static hf_status state_read(state *now, hf_db *db, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = tables_look(db, &now->present, err);

    memset(now->applied, 0, hf_migration_texts_count * sizeof(now->applied[0]));
    if (st || !now->present)
        return st;
    st = hf_db_query(db, HF_STMT_MIGRATION_LIST, NULL, 0, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        st = applied_check(now, db, hf_db_column_bytes(cursor, 0), hf_db_column_bytes(cursor, 1),
                           err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    return st ? st : order_check(now, err);
}

static hf_status state_init(state *now, hf_err *err)
{
    *now = (state){.applied = hf_alloc_array(hf_migration_texts_count, sizeof(bool))};
    if (!now->applied)
        return hf_err_nomem(err, "a migration");
    return hf_sha256_new(&now->sha, err);
}

static void state_fini(state *now)
{
    hf_alloc_free(now->applied);
    hf_sha256_free(now->sha);
}

/* ---- running one */

static hf_status meta_write(hf_db *db, const char *name, const char *value, hf_err *err)
{
    const hf_db_value params[] = {hf_db_text(hf_slice_of(name)), hf_db_text(hf_slice_of(value))};

    return hf_db_exec(db, HF_STMT_META_SET, params, 2, NULL, err);
}

static hf_status identity_write(hf_db *db, int64_t now_us, hf_err *err)
{
    char number[NUMBER_TEXT_SIZE];
    uint8_t id[STORE_ID_BYTES];
    char id_text[2 * STORE_ID_BYTES + 1];
    hf_rng rng;
    hf_status st = hf_rng_init_system(&rng, err);

    if (st)
        return st;
    hf_rng_fill(&rng, id, sizeof(id));
    hf_hex_print(hf_slice_from(id, sizeof(id)), id_text);
    (void)snprintf(number, sizeof(number), "%" PRId64, now_us);
    st = meta_write(db, "store_id", id_text, err);
    if (!st)
        st = meta_write(db, "created_us", number, err);
    for (kind at = 0; !st && at < KIND_COUNT; at++)
        st = meta_write(db, kind_version_rows[at], "0", err);
    return st;
}

/* Inside the transaction: the change and the record of it. */
static hf_status migration_apply(state *now, hf_db *db, size_t at, int64_t now_us, hf_err *err)
{
    const char *text = migration_text(db, at);
    char checksum[HF_SHA256_TEXT_SIZE];
    char number_text[NUMBER_TEXT_SIZE];
    bool first = !now->present;
    kind of;
    int64_t number;
    hf_status st = checksum_make(now, text, checksum, err);

    migration_name(at, &of, &number);
    (void)snprintf(number_text, sizeof(number_text), "%" PRId64, number);
    if (!st && *text)
        st = hf_db_script(db, text, err);
    if (!st && first)
        st = identity_write(db, now_us, err);
    if (!st) {
        const hf_db_value params[] = {hf_db_text(hf_slice_of(hf_migration_texts[at].name)),
                                      hf_db_text(hf_slice_of(checksum)), hf_db_int(now_us)};

        st = hf_db_exec(db, HF_STMT_MIGRATION_ADD, params, 3, NULL, err);
    }
    if (!st)
        st = meta_write(db, kind_version_rows[of], number_text, err);
    return st;
}

/* One transaction. It waits for a node that migrates at the same moment and then finds the work
   done; the two that make the first tables meet in the catalogue instead, and the loser's
   transaction fails. */
static hf_status migration_run(state *now, hf_db *db, const hf_clock *clock, size_t at, hf_err *err)
{
    const hf_db_value lock[] = {hf_db_text(hf_slice_of(kind_version_rows[KIND_GROUND]))};
    const hf_db_value patience = hf_db_int(LOCK_MS);
    const hf_db_rows rows = {.columns = 1, .count = 1, .cells = &patience};
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    if (st)
        return st;
    if (strcmp(db->driver->name, "sqlite") != 0)
        st = hf_db_batch(db, HF_STMT_LOCK_TIMEOUT_ONCE, &rows, err);
    if (!st && now->present)
        st = hf_db_exec(db, HF_STMT_META_LOCK, lock, 1, NULL, err);
    if (!st)
        st = state_read(now, db, err);
    if (!st && !now->applied[at])
        st = migration_apply(now, db, at, hf_clock_wall_us(clock), err);
    if (!st)
        st = hf_db_commit(db, err);
    else
        hf_db_rollback(db);
    return st;
}

/* Whether a failed try may have met another node, so that looking again is worth it. */
static bool status_may_be_race(hf_status st)
{
    return st == HF_RETRY || st == HF_CONSTRAINT || st == HF_EXISTS || st == HF_UNKNOWN ||
           st == HF_ERROR;
}

static hf_status migration_ensure(state *now, hf_db *db, const hf_clock *clock, size_t at,
                                  hf_err *err)
{
    hf_status st = HF_OK;

    for (int i = 0; i < RETRIES_MAX && !now->applied[at]; i++) {
        hf_err again = {0};
        hf_status look;

        st = migration_run(now, db, clock, at, err);
        if (st && !status_may_be_race(st))
            break;
        if (st == HF_UNKNOWN && hf_db_reconnect(db, &again))
            break;
        look = state_read(now, db, &again);
        if (look) {
            if (!st && err)
                *err = again;
            return st ? st : look;
        }
        if (st && st != HF_RETRY && !now->applied[at])
            break; /* nobody else did it: the failure is our own */
    }
    if (now->applied[at])
        return HF_OK;
    return hf_err_because(err, st ? st : HF_BUSY, "migration %s", hf_migration_texts[at].name);
}

hf_status hf_migrate(hf_db *db, const hf_clock *clock, hf_err *err)
{
    state now;
    hf_status st = state_init(&now, err);

    if (!st)
        st = state_read(&now, db, err);
    for (size_t i = 0; !st && i < hf_migration_texts_count; i++)
        if (!now.applied[i])
            st = migration_ensure(&now, db, clock, i, err);
    state_fini(&now);
    return st;
}

hf_status hf_migrate_pending(hf_db *db, hf_migrate_show *show, void *ctx, hf_err *err)
{
    state now;
    hf_status st = state_init(&now, err);

    if (!st)
        st = state_read(&now, db, err);
    for (size_t i = 0; !st && i < hf_migration_texts_count; i++)
        if (!now.applied[i])
            show(ctx, hf_migration_texts[i].name, migration_text(db, i));
    state_fini(&now);
    return st;
}

/* ---- versions */

static hf_status version_read(hf_db *db, kind of, int64_t *out_version, hf_err *err)
{
    const hf_db_value params[] = {hf_db_text(hf_slice_of(kind_version_rows[of]))};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_META_GET, params, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st &&
        (!row || !hf_slice_int(hf_db_column_bytes(cursor, 0), out_version) || *out_version < 0))
        st = hf_err_set(err, HF_CORRUPT, "the store does not say its %s version", kind_names[of]);
    hf_db_end(cursor);
    return st;
}

hf_status hf_store_versions_get(hf_db *db, hf_store_versions *out_versions, hf_err *err)
{
    hf_status st;

    *out_versions = (hf_store_versions){.ground_known = version_known(KIND_GROUND),
                                        .projection_known = version_known(KIND_PROJECTION)};
    st = version_read(db, KIND_GROUND, &out_versions->ground, err);
    if (!st)
        st = version_read(db, KIND_PROJECTION, &out_versions->projection, err);
    return st;
}
