/* recovery.c: see recovery.h. It reads the store through the same connections as everybody and must
   never repair what it finds. */
#include "lib/recovery.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "lib/world.h"
#include "store/store.h"
#include "verify/check.h"

enum { TABLES_MAX = 64, TABLE_NAME_MAX = 64 };

/* A run as the store has it. */
typedef struct found_run {
    int64_t run;
    int64_t last_seq;
    uint8_t head[HF_SHA256_BYTES];
    bool explained; /* the ledger has this very state */
} found_run;

typedef struct found_runs {
    found_run *runs; /* by ascending key */
    size_t count;
    size_t room;
} found_runs;

static bool complain(hf_complaint *complaint, const char *format, ...) HF_FORMAT(2, 3);
static bool complain(hf_complaint *complaint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(complaint->text, sizeof(complaint->text), format, args);
    va_end(args);
    return false;
}

/* ---- the ledger */

void hf_ledger_note(hf_ledger *ledger, const hf_run_base *after, int64_t commit, int64_t at)
{
    hf_ledger_entry *entry;

    if (ledger->count == ledger->room) {
        size_t room = ledger->room ? ledger->room * 2 : 64;
        hf_ledger_entry *grown = sqlite3_realloc64(ledger->entries, room * sizeof(*grown));

        HF_ASSERT(grown);
        ledger->entries = grown;
        ledger->room = room;
    }
    entry = &ledger->entries[ledger->count++];
    *entry =
        (hf_ledger_entry){.run = after->run, .seq = after->last_seq, .commit = commit, .at = at};
    memcpy(entry->head, after->head, sizeof(entry->head));
}

void hf_ledger_clear(hf_ledger *ledger)
{
    ledger->count = 0;
}

void hf_ledger_fini(hf_ledger *ledger)
{
    sqlite3_free(ledger->entries);
    *ledger = (hf_ledger){0};
}

int64_t hf_ledger_commit_at(const hf_ledger *ledger, int64_t at)
{
    int64_t commit = 0;

    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->entries[i].at <= at && ledger->entries[i].commit > commit)
            commit = ledger->entries[i].commit;
    return commit;
}

/* ---- runs against the ledger */

static hf_status run_take(found_runs *found, hf_db_cursor *cursor, hf_err *err)
{
    hf_slice head = hf_db_column_bytes(cursor, 2);
    found_run *run;

    if (found->count == found->room) {
        size_t room = found->room ? found->room * 2 : 64;
        found_run *grown = sqlite3_realloc64(found->runs, room * sizeof(*grown));

        if (!grown)
            return hf_err_nomem(err, "the runs of a store");
        found->runs = grown;
        found->room = room;
    }
    run = &found->runs[found->count++];
    *run = (found_run){.run = hf_db_column_int(cursor, 0), .last_seq = hf_db_column_int(cursor, 1)};
    if (head.len == sizeof(run->head))
        memcpy(run->head, head.ptr, head.len);
    return HF_OK;
}

static hf_status runs_read(hf_db *db, found_runs *out_found, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query_text(db, "SELECT key, last_seq, head FROM run ORDER BY key", NULL, 0,
                                    &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        st = run_take(out_found, cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    return st;
}

static found_run *run_find(const found_runs *found, int64_t run)
{
    size_t low = 0;
    size_t high = found->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (found->runs[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < found->count && found->runs[low].run == run ? &found->runs[low] : NULL;
}

static bool entry_present(const hf_ledger_entry *entry, const found_runs *found)
{
    found_run *run = run_find(found, entry->run);
    bool newest = run && run->last_seq == entry->seq;

    if (!run || run->last_seq < entry->seq)
        return false;
    if (newest && memcmp(run->head, entry->head, sizeof(entry->head)) != 0)
        return false;
    run->explained |= newest;
    return true;
}

/* Whole commits up to some point, nothing after it, and the point is not before the acknowledged
 * one. */
static bool commits_check(const hf_recovery *recovery, const found_runs *found,
                          hf_complaint *complaint)
{
    const hf_ledger *ledger = recovery->ledger;
    int64_t missing = 0; /* the first commit of which something is not there */

    for (size_t i = 0; i < ledger->count; i++) {
        const hf_ledger_entry *entry = &ledger->entries[i];
        bool present = entry_present(entry, found);

        if (!present && entry->commit <= recovery->commit)
            return complain(complaint,
                            "acknowledged unit lost: run %" PRId64 " event %" PRId64
                            " of commit %" PRId64,
                            entry->run, entry->seq, entry->commit);
        if (!recovery->exact)
            continue;
        if (!present && !missing)
            missing = entry->commit;
        if (present && missing)
            return complain(complaint,
                            "commit %" PRId64 " is there (run %" PRId64 " event %" PRId64
                            ") though something of commit %" PRId64 " is missing",
                            entry->commit, entry->run, entry->seq, missing);
    }
    /* The first of a broken commit may have been there before the missing one was met. */
    for (size_t i = 0; missing && i < ledger->count; i++)
        if (ledger->entries[i].commit >= missing && entry_present(&ledger->entries[i], found))
            return complain(complaint, "commit %" PRId64 " is half applied",
                            ledger->entries[i].commit);
    return true;
}

bool hf_recovery_ledger(const hf_recovery *recovery, hf_db *db, hf_complaint *out_complaint)
{
    found_runs found = {0};
    hf_err err = {0};
    hf_status st = runs_read(db, &found, &err);
    bool good;

    if (st)
        good = complain(out_complaint, "the runs cannot be read: %s", err.text);
    else
        good = commits_check(recovery, &found, out_complaint);
    for (size_t i = 0; good && recovery->known && i < found.count; i++)
        if (!found.runs[i].explained)
            good = complain(out_complaint,
                            "run %" PRId64 " is at event %" PRId64 ", a state that no unit left",
                            found.runs[i].run, found.runs[i].last_seq);
    sqlite3_free(found.runs);
    return good;
}

/* ---- digest */

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < len; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return (digest ^ len) * UINT64_C(0x100000001b3);
}

static hf_status table_digest(hf_db *db, const char *name, uint64_t *digest, hf_err *err)
{
    char sql[TABLE_NAME_MAX + 32];
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    (void)snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\"", name);
    st = hf_db_query_text(db, sql, NULL, 0, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        for (size_t i = 0; i < hf_db_column_count(cursor); i++) {
            hf_slice bytes = hf_db_column_bytes(cursor, i);

            *digest = digest_add(*digest, bytes.ptr, bytes.len);
        }
        st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_recovery_digest(hf_db *db, uint64_t *out_digest, hf_err *err)
{
    char names[TABLES_MAX][TABLE_NAME_MAX];
    size_t count = 0;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st =
        hf_db_query_text(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
                         NULL, 0, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row && count < TABLES_MAX) {
        hf_slice name = hf_db_column_bytes(cursor, 0);

        (void)snprintf(names[count++], TABLE_NAME_MAX, "%.*s", (int)name.len, name.ptr);
        st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    *out_digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; !st && i < count; i++)
        st = table_digest(db, names[i], out_digest, err);
    return st;
}

/* ---- the whole of it */

static hf_status digest_of(const hf_recovery *recovery, uint64_t *out_digest, hf_err *err)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true, .vfs = recovery->vfs};
    hf_store *store = NULL;
    hf_status st = hf_store_open(recovery->address, &options, &store, err);

    if (!st)
        st = hf_recovery_digest(hf_store_writer(store), out_digest, err);
    hf_store_close(store);
    return st;
}

static bool openings_agree(const hf_recovery *recovery, hf_complaint *complaint)
{
    hf_err err = {0};
    uint64_t first = 0;
    uint64_t second = 0;
    hf_status st = digest_of(recovery, &first, &err);

    if (!st)
        st = digest_of(recovery, &second, &err);
    if (st)
        return complain(complaint, "it cannot be opened: %s", err.text);
    return first == second ||
           complain(complaint, "the second opening shows something else than the first");
}

/* A lease that is long over (I28) is for a sweep to find, and nobody sweeps here. */
static void finding_keep(void *ctx, const hf_finding *finding)
{
    hf_complaint *complaint = ctx;

    if (strcmp(finding->invariant, "I28") != 0 && !complaint->text[0])
        (void)complain(complaint, "verify: %s %s %s", finding->invariant, finding->keys,
                       finding->sentence);
}

static hf_status db_check(hf_db *db, hf_complaint *complaint, hf_err *err)
{
    hf_report report;
    hf_check check = {.db = db, .report = &report, .low = INT64_MIN, .high = INT64_MAX};
    hf_status st;

    hf_report_init(&report, finding_keep, complaint);
    st = hf_check_all(&check, err);
    if (!st)
        st = hf_report_status(&report, err);
    hf_report_fini(&report);
    return st;
}

static bool db_verify(hf_db *db, hf_complaint *complaint)
{
    hf_err err = {0};

    complaint->text[0] = '\0';
    if (db_check(db, complaint, &err))
        return complain(complaint, "verify could not work: %s", err.text);
    return complaint->text[0] == '\0';
}

bool hf_recovery_verify(const char *address, const char *vfs, hf_complaint *out_complaint)
{
    const hf_store_options options = {.size = sizeof(options), .role = HF_STORE_READER, .vfs = vfs};
    hf_store *store = NULL;
    hf_db *db = NULL;
    hf_err err = {0};
    hf_status st = hf_store_open(address, &options, &store, &err);
    bool good;

    if (!st)
        st = hf_store_connect(store, HF_DB_READ, &db, &err);
    good = st ? complain(out_complaint, "verify could not work: %s", err.text)
              : db_verify(db, out_complaint);
    hf_db_close(db);
    hf_store_close(store);
    return good;
}

static bool engine_goes_on(hf_world *world, const char *id, hf_complaint *complaint)
{
    hf_world_run run;
    hf_err err = {0};
    hf_status st = hf_world_start(world, id ? id : "after-the-crash", &run, &err);

    if (!st)
        st = hf_world_finish(world, &run, &err);
    return !st || complain(complaint, "the engine cannot go on: %s", err.text);
}

bool hf_recovery_check(const hf_recovery *recovery, hf_complaint *out_complaint)
{
    const hf_world_options options = {.vfs = recovery->vfs, .manual = true};
    hf_world world;
    hf_err err = {0};
    bool good;

    out_complaint->text[0] = '\0';
    if (recovery->twice && !openings_agree(recovery, out_complaint))
        return false;
    if (hf_world_open(&world, recovery->address, &options, &err))
        return complain(out_complaint, "it cannot be opened: %s", err.text);
    good = hf_recovery_ledger(recovery, hf_store_writer(world.store), out_complaint) &&
           engine_goes_on(&world, recovery->id, out_complaint);
    if (good && recovery->twice) /* through a connection of its own, which costs more */
        good = hf_recovery_verify(recovery->address, recovery->vfs, out_complaint);
    else if (good)
        good = db_verify(hf_store_writer(world.store), out_complaint);
    hf_world_close(&world);
    return good;
}
