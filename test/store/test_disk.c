/* test_disk.c: a disk that fails at each of its operations once while a SQLite store is made,
   opened and written: full, broken, or gone together with the process. What the store says
   afterwards is the old state or the new one. The disk is the real one behind a layer that counts
   writes, syncs and truncations. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/campaign.h"
#include "lib/engine.h"

enum { DIED = 77 };

typedef enum trouble { TROUBLE_FULL, TROUBLE_IO, TROUBLE_DEATH } trouble;

/* One process, one case: the layer's state may be global. */
static sqlite3_vfs *real_vfs;
static sqlite3_vfs disk_vfs;
static int disk_seen;
static int disk_fail_at; /* 0: never */
static trouble disk_trouble;

typedef struct disk_file {
    sqlite3_file base;
    sqlite3_file *real;
} disk_file;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((disk_file *)file)->real;
}

/* Counts an operation that changes the disk; what it must answer. */
static int disk_act(int io_code)
{
    if (++disk_seen != disk_fail_at)
        return SQLITE_OK;
    switch (disk_trouble) {
    case TROUBLE_FULL:
        return SQLITE_FULL;
    case TROUBLE_IO:
        return io_code;
    case TROUBLE_DEATH:
        _exit(DIED);
    }
    return SQLITE_OK;
}

static int disk_close(sqlite3_file *file)
{
    int code = real_of(file)->pMethods ? real_of(file)->pMethods->xClose(real_of(file)) : SQLITE_OK;

    sqlite3_free(real_of(file));
    return code;
}

static int disk_read(sqlite3_file *file, void *out, int bytes, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), out, bytes, at);
}

static int disk_write(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    int code = disk_act(SQLITE_IOERR_WRITE);

    return code ? code : real_of(file)->pMethods->xWrite(real_of(file), from, bytes, at);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = disk_act(SQLITE_IOERR_TRUNCATE);

    return code ? code : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int disk_sync(sqlite3_file *file, int flags)
{
    int code = disk_act(SQLITE_IOERR_FSYNC);

    return code ? code : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *out)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), out);
}

static int disk_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int disk_reserved(sqlite3_file *file, int *out)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int disk_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int disk_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int disk_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int disk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
}

static int disk_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags);
}

static void disk_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int disk_shm_unmap(sqlite3_file *file, int forget)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), forget);
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_device,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    disk_file *opened = (disk_file *)file;
    int code;

    (void)vfs;
    opened->base.pMethods = NULL;
    opened->real = sqlite3_malloc(real_vfs->szOsFile);
    if (!opened->real)
        return SQLITE_NOMEM;
    memset(opened->real, 0, (size_t)real_vfs->szOsFile);
    code = real_vfs->xOpen(real_vfs, name, opened->real, flags, out_flags);
    if (code == SQLITE_OK)
        opened->base.pMethods = &disk_methods;
    else
        sqlite3_free(opened->real);
    return code;
}

static void disk_install(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    ck_assert_ptr_nonnull(real_vfs);
    disk_vfs = *real_vfs;
    disk_vfs.zName = "failing_disk";
    disk_vfs.pNext = NULL;
    disk_vfs.szOsFile = sizeof(disk_file);
    disk_vfs.xOpen = disk_open;
    ck_assert_int_eq(sqlite3_vfs_register(&disk_vfs, 1), SQLITE_OK);
}

static void disk_arm(trouble kind, int nth)
{
    disk_seen = 0;
    disk_trouble = kind;
    disk_fail_at = nth;
}

static void finding_fail(void *ctx, const char *sentence)
{
    (void)ctx;
    ck_abort_msg("damage: %s", sentence);
}

static hf_status work_write(hf_db *db, int64_t number, hf_err *err)
{
    char text[32];
    hf_status st = hf_db_begin(db, HF_DB_WRITE, err);

    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    for (int i = 0; !st && i < 2; i++) {
        const hf_db_value params[] = {hf_db_text(i ? HF_SLICE("left") : HF_SLICE("right")),
                                      hf_db_text(hf_slice_of(text))};

        st = hf_db_exec(db, HF_STMT_META_SET, params, 2, NULL, err);
    }
    if (!st)
        st = hf_db_commit(db, err);
    else
        hf_db_rollback(db);
    return st;
}

static int64_t number_read(hf_db *db, const char *name)
{
    const hf_db_value param = hf_db_text(hf_slice_of(name));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t number = 0;

    hf_test_ok(hf_db_query(db, HF_STMT_META_GET, &param, 1, &cursor, &err), &err, "read");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "read");
    if (row)
        ck_assert(hf_slice_int(hf_db_column_bytes(cursor, 0), &number));
    hf_db_end(cursor);
    return number;
}

/* Opens what is there without trouble: it is sound, and both numbers are from one transaction. */
static int64_t store_check(const hf_test_place *place)
{
    hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
    hf_err err = {0};
    int64_t number;

    hf_test_ok(hf_db_check(hf_store_writer(store), finding_fail, NULL, &err), &err, "check");
    number = number_read(hf_store_writer(store), "left");
    ck_assert_int_eq(number_read(hf_store_writer(store), "right"), number);
    hf_store_close(store);
    return number;
}

/* Making a store on a disk that is full or broken at one operation: refused with the disk's own
   status, nothing is left, and the next try works. */
static void making_fails_cleanly(trouble kind, hf_status wanted)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    bool reached = true;

    disk_install();
    for (int nth = 1; reached; nth += hf_campaign_stride(3, 1)) {
        hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
        hf_store *store = NULL;
        hf_err err = {0};
        char before[65];
        char after[65];
        hf_status st;

        hf_test_folder_digest(hf_test_place_folder(place), before);
        disk_arm(kind, nth);
        st = hf_store_open(hf_test_place_address(place), &options, &store, &err);
        reached = disk_seen >= nth;
        disk_arm(kind, 0);
        if (reached) {
            ck_assert_msg(st == wanted, "operation %d: status %d: %s", nth, (int)st, err.text);
            hf_test_folder_digest(hf_test_place_folder(place), after);
            ck_assert_msg(strcmp(before, after) == 0, "operation %d left something behind", nth);
        }
        hf_store_close(store);
        (void)store_check(place);
        hf_test_place_free(place);
        ck_assert_int_lt(nth, 1000);
        ck_assert(reached || nth > 15);
    }
}

START_TEST(full_disks_make_no_half_stores)
{
    making_fails_cleanly(TROUBLE_FULL, HF_FULL);
}
END_TEST

START_TEST(broken_disks_make_no_half_stores)
{
    making_fails_cleanly(TROUBLE_IO, HF_IO);
}
END_TEST

/* A commit on a full or broken disk: never reported as done when it is not, and after a full disk
   the same connection goes on as soon as there is room. */
static void commits_fail_cleanly(trouble kind, hf_status wanted)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_status st = HF_ERROR;
    int failures = 0;

    disk_install();
    for (int nth = 1; st; nth++) {
        hf_store *store = hf_test_place_store(place, HF_STORE_OWNER);
        hf_db *db = hf_store_writer(store);
        int64_t before = number_read(db, "left");
        hf_err err = {0};

        disk_arm(kind, nth);
        st = work_write(db, before + 1, &err);
        disk_arm(kind, 0);
        ck_assert_msg(!st || st == wanted, "operation %d: status %d: %s", nth, (int)st, err.text);
        failures += st != HF_OK;
        ck_assert(!hf_db_in_transaction(db));
        ck_assert_int_eq(number_read(db, "left"), st ? before : before + 1);
        if (st == HF_FULL)
            hf_test_ok(work_write(db, before + 2, &err), &err, "write when there is room");
        hf_store_close(store);
        ck_assert_int_ge(store_check(place), st ? before : before + 1);
        ck_assert_int_lt(nth, 100);
    }
    ck_assert_int_gt(failures, 2);
    hf_test_place_free(place);
}

START_TEST(full_disks_lose_no_commit)
{
    commits_fail_cleanly(TROUBLE_FULL, HF_FULL);
}
END_TEST

START_TEST(broken_disks_lose_no_commit)
{
    commits_fail_cleanly(TROUBLE_IO, HF_IO);
}
END_TEST

/* What a process does before it dies: makes the store if need be, writes, checkpoints, closes. */
static void life(const hf_test_place *place, int nth, int acknowledged)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    hf_store *store = NULL;
    hf_status st;

    disk_arm(TROUBLE_DEATH, nth);
    st = hf_store_open(hf_test_place_address(place), &options, &store, NULL);
    for (int64_t number = 1; !st && number <= 3; number++) {
        st = work_write(hf_store_writer(store), number, NULL);
        if (!st && write(acknowledged, "x", 1) != 1)
            st = HF_IO;
        if (!st && number == 2)
            st = hf_db_checkpoint(hf_store_writer(store), NULL);
    }
    hf_store_close(store);
    _exit(st ? 1 : 0);
}

/* The process dies before each disk operation in turn. The store can then be opened, is sound, and
   holds every number that was acknowledged, and at most one more. */
START_TEST(dying_loses_nothing)
{
    int result = 0;

    disk_install();
    for (int nth = 1;; nth += hf_campaign_stride(3, 1)) {
        hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
        char bytes[16];
        int pipes[2];
        ssize_t acknowledged;
        int64_t number;
        pid_t child;

        ck_assert_int_eq(pipe(pipes), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            life(place, nth, pipes[1]);
        (void)close(pipes[1]);
        acknowledged = read(pipes[0], bytes, sizeof(bytes));
        for (ssize_t more = acknowledged; more > 0;) {
            more = read(pipes[0], bytes, sizeof(bytes));
            acknowledged += more > 0 ? more : 0;
        }
        (void)close(pipes[0]);
        ck_assert_int_eq(waitpid(child, &result, 0), child);
        ck_assert(WIFEXITED(result));
        ck_assert_msg(WEXITSTATUS(result) == 0 || WEXITSTATUS(result) == DIED, "operation %d", nth);
        number = store_check(place);
        ck_assert_int_ge(number, acknowledged);
        ck_assert_int_le(number, acknowledged + 1);
        hf_test_place_free(place);
        if (WEXITSTATUS(result) == 0)
            break;
        ck_assert_int_lt(nth, 2000);
    }
}
END_TEST

HF_SUITE_MAIN("store/disk", {full_disks_make_no_half_stores, 300},
              {broken_disks_make_no_half_stores, 300}, {full_disks_lose_no_commit, 120},
              {broken_disks_lose_no_commit, 120}, {dying_loses_nothing, 600})
