/* test_backup.c: copies of a store that is in use are whole stores of one moment, or are not there
   at all. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/thread.h"
#include "lib/engine.h"

static void meta_put(hf_db *db, const char *name, int64_t value)
{
    char text[32];
    hf_err err = {0};

    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    {
        const hf_db_value params[] = {hf_db_text(hf_slice_of(name)), hf_db_text(hf_slice_of(text))};

        hf_test_ok(hf_db_exec(db, HF_STMT_META_SET, params, 2, NULL, &err), &err, "write");
    }
}

static int64_t meta_number(hf_db *db, const char *name)
{
    const hf_db_value param = hf_db_text(hf_slice_of(name));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number = -1;

    hf_test_ok(hf_db_query(db, HF_STMT_META_GET, &param, 1, &cursor, &err), &err, "read");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "read");
    ck_assert(row && hf_slice_int(hf_db_column_bytes(cursor, 0), &number));
    hf_db_end(cursor);
    return number;
}

/* Both numbers change in one transaction, so a copy of one moment holds them equal. */
static void pair_write(hf_db *db, int64_t number)
{
    hf_err err = {0};

    hf_test_ok(hf_db_begin(db, HF_DB_WRITE, &err), &err, "begin");
    meta_put(db, "left", number);
    meta_put(db, "right", number);
    hf_test_ok(hf_db_commit(db, &err), &err, "commit");
}

/* Some megabytes, so that a copy takes more than one step. */
static void store_fill(hf_db *db)
{
    hf_err err = {0};

    hf_test_ok(
        hf_db_script(
            db,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
            "INSERT INTO payload SELECT i, i, randomblob(32), 1, 2000, 0, randomblob(2000) FROM n",
            &err),
        &err, "fill");
}

typedef struct load {
    hf_db *db;
    atomic_bool stop;
    atomic_long commits;
} load;

static void load_run(void *ctx)
{
    load *work = ctx;

    while (!atomic_load(&work->stop)) {
        pair_write(work->db, (int64_t)atomic_fetch_add(&work->commits, 1) + 1);
        if (atomic_load(&work->commits) % 200 == 0) {
            hf_err err = {0};

            hf_test_ok(hf_db_checkpoint(work->db, &err), &err, "checkpoint");
        }
    }
}

typedef struct watch {
    int calls;
    int64_t done;
    int64_t total;
    int stop_at; /* 0: never */
} watch;

static bool watch_see(void *ctx, int64_t done, int64_t total)
{
    watch *seen = ctx;

    ck_assert_int_ge(done, seen->done);
    ck_assert_int_le(done, total);
    seen->done = done;
    seen->total = total;
    seen->calls++;
    return seen->calls != seen->stop_at;
}

static void finding_fail(void *ctx, const char *sentence)
{
    (void)ctx;
    ck_abort_msg("the copy is damaged: %s", sentence);
}

static hf_store *open_copy(const char *path)
{
    const hf_store_options options = {.size = sizeof(options), .role = HF_STORE_OWNER};
    hf_store *store = NULL;
    hf_err err = {0};

    hf_test_ok(hf_store_open(path, &options, &store, &err), &err, "open the copy");
    return store;
}

/* A writer commits all the time; each copy is sound and shows one moment, and the later copy a
   later one. */
START_TEST(copies_under_load_are_whole)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    load work = {.db = hf_store_writer(store)};
    hf_thread thread = {0};
    hf_db *reader = NULL;
    hf_err err = {0};
    int64_t last = 0;

    store_fill(work.db);
    pair_write(work.db, 0);
    hf_test_ok(hf_store_connect(store, HF_DB_READ, &reader, &err), &err, "connect");
    hf_test_ok(hf_thread_start(&thread, "load", load_run, &work, &err), &err, "thread");
    for (int i = 0; i < 4; i++) {
        long begun = atomic_load(&work.commits);
        char path[512];
        watch seen = {0};
        hf_store *copy;

        for (int wait = 0; atomic_load(&work.commits) < begun + 50; wait++) {
            ck_assert_int_lt(wait, 30000);
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        (void)snprintf(path, sizeof(path), "%s/copy%d.db", hf_test_place_folder(place), i);
        hf_test_ok(hf_db_backup(reader, path, watch_see, &seen, &err), &err, "backup");
        ck_assert_int_gt(seen.calls, 0);
        ck_assert_int_eq(seen.done, seen.total);
        ck_assert(!hf_db_in_transaction(reader));
        copy = open_copy(path);
        hf_test_ok(hf_db_check(hf_store_writer(copy), finding_fail, NULL, &err), &err, "check");
        ck_assert_int_eq(meta_number(hf_store_writer(copy), "left"),
                         meta_number(hf_store_writer(copy), "right"));
        ck_assert_int_gt(meta_number(hf_store_writer(copy), "left"), last);
        last = meta_number(hf_store_writer(copy), "left");
        hf_store_close(copy);
    }
    atomic_store(&work.stop, true);
    hf_thread_join(&thread);
    hf_db_close(reader);
    hf_store_close(store);
    hf_test_place_verify = NULL; /* it is broken on purpose */
    hf_test_place_free(place);
}
END_TEST

static void only_store_left(const hf_test_place *place, const char *before)
{
    char after[65];

    hf_test_folder_digest(hf_test_place_folder(place), after);
    ck_assert_str_eq(before, after);
}

/* A name that is taken, a folder that is not there, a place that may not be written, a half copy of
   before, a stop on the way: each has its status, and nothing is added or changed. */
START_TEST(failed_copies_leave_nothing)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_db *db = hf_store_writer(store);
    watch seen = {.stop_at = 1};
    hf_err err = {0};
    char path[512];
    char part[520];
    char before[65];
    FILE *file;

    store_fill(db);
    hf_test_ok(hf_db_checkpoint(db, &err), &err, "checkpoint");
    (void)snprintf(path, sizeof(path), "%s/taken.db", hf_test_place_folder(place));
    file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fputs("mine", file) < 0, 0);
    ck_assert_int_eq(fclose(file), 0);
    hf_test_folder_digest(hf_test_place_folder(place), before);
    ck_assert_int_eq(hf_db_backup(db, path, NULL, NULL, &err), HF_EXISTS);
    ck_assert_msg(strstr(err.text, "taken.db") != NULL, "%s", err.text);
    only_store_left(place, before);

    (void)snprintf(path, sizeof(path), "%s/no/copy.db", hf_test_place_folder(place));
    ck_assert_int_eq(hf_db_backup(db, path, NULL, NULL, &err), HF_NOTFOUND);
    (void)snprintf(path, sizeof(path), "%s/copy.db", hf_test_place_folder(place));
    ck_assert_int_eq(hf_db_backup(db, path, watch_see, &seen, &err), HF_CANCELLED);
    only_store_left(place, before);
    ck_assert(!hf_db_in_transaction(db));

    (void)snprintf(part, sizeof(part), "%s.part", path);
    file = fopen(part, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(hf_db_backup(db, path, NULL, NULL, &err), HF_EXISTS);
    ck_assert_int_eq(unlink(part), 0);
    only_store_left(place, before);

    hf_test_ok(hf_db_begin(db, HF_DB_WRITE, &err), &err, "begin");
    ck_assert_int_eq(hf_db_backup(db, path, NULL, NULL, &err), HF_MISUSE);
    hf_db_rollback(db);
    hf_test_ok(hf_db_backup(db, path, NULL, NULL, &err), &err, "backup at last");
    hf_store_close(store);
    hf_test_place_verify = NULL; /* it is broken on purpose */
    hf_test_place_free(place);
}
END_TEST

/* Each failed allocation and call leaves no file; the next try makes one. */
START_TEST(copying_survives_faults)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB};
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);

    for (size_t i = 0; i < 2; i++) {
        hf_status st = HF_ERROR;
        char path[512];

        (void)snprintf(path, sizeof(path), "%s/copy%zu.db", hf_test_place_folder(place), i);
        for (int64_t nth = 1; st; nth++) {
            hf_err err = {0};

            hf_fault_arm(kinds[i], nth, false);
            st = hf_db_backup(hf_store_writer(store), path, NULL, NULL, &err);
            hf_fault_arm(kinds[i], 0, false);
            ck_assert_int_lt(nth, 50);
            if (st == HF_EXISTS) /* the copy took its name, then syncing the folder failed */
                ck_abort_msg("a failed backup left its file");
        }
        ck_assert_int_eq(access(path, F_OK), 0);
    }
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* PostgreSQL has its own tool, and the refusal names it. */
START_TEST(postgres_is_backed_up_by_its_own_tool)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_err err = {0};

    ck_assert_int_eq(hf_db_backup(hf_store_writer(store), "/nowhere/copy.db", NULL, NULL, &err),
                     HF_MISUSE);
    ck_assert_msg(strstr(err.text, "pg_dump") != NULL, "%s", err.text);
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("store/backup", {copies_under_load_are_whole, 120},
                 {failed_copies_leave_nothing, 0}, {copying_survives_faults, 0},
                 {postgres_is_backed_up_by_its_own_tool, 0})
