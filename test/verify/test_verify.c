/* test_verify.c: hf_verify and the other functions of holdfast/tool.h as a whole, on both engines:
   what is right is called right, also while it is being written to; stopping, restricting, running
   out of memory, and everything that is not a store. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/thread.h"
#include "holdfast/tool.h"
#include "lib/busy.h"
#include "lib/check_store.h"
#include "lib/world.h"
#include "verify/invariant.h"

enum {
    LIVES = 5,
    ROUNDS = 15,
    LONG_RUNS = 300,
    LONG_STEPS = 334, /* 1,003 events each */
    RSS_KIB_MAX = 32 * 1024,
    PAGE_BYTES = 4096
};

/* Sanitizers keep freed memory for a while, so that its amount says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMORY_COUNTS 0
#endif
#endif
#ifndef MEMORY_COUNTS
#define MEMORY_COUNTS 1
#endif

#define OK(call) hf_test_ok((call), &err, #call)

/* What a check found. */
typedef struct tally {
    int count;
    char first[1024];
    int told; /* calls of progress */
    int stop_at;
    int64_t done;
    int64_t total;
} tally;

static void finding_keep(void *ctx, const hf_finding *finding)
{
    tally *found = ctx;

    if (!found->count++)
        (void)snprintf(found->first, sizeof(found->first), "%s %s %s %s", finding->invariant,
                       finding->severity, finding->keys, finding->sentence);
}

static bool progress_keep(void *ctx, int64_t done, int64_t total)
{
    tally *found = ctx;

    ck_assert_int_ge(done, found->done);
    found->done = done;
    found->total = total;
    return ++found->told != found->stop_at;
}

static hf_status verify_now(const char *address, int64_t run, bool quick, tally *found,
                            hf_verify_report *report, hf_err *err)
{
    const hf_verify_options options = {.size = sizeof(options), .run = run, .quick = quick};

    report->size = sizeof(*report);
    return hf_verify(address, &options, finding_keep, progress_keep, found, report, err);
}

/* Lives of every kind; returns the key of an open run. */
static int64_t world_fill(hf_world *world)
{
    hf_world_run run = {0};
    hf_world_run other = {0};
    char id[32];
    hf_err err = {0};

    for (int i = 0; i < LIVES; i++) {
        (void)snprintf(id, sizeof(id), "life-%d", i);
        OK(hf_world_life(world, id, &err));
    }
    OK(hf_world_start(world, "parent", &run, &err));
    OK(hf_world_child(world, &run, "child", &other, &err));
    OK(hf_world_finish(world, &other, &err));
    OK(hf_world_child_done(world, &run, &other, &err));
    OK(hf_world_signal(world, &run, "go", 5000, &err));
    OK(hf_world_apply(world, &run, "go", &err));
    OK(hf_world_continue(world, &run, &other, &err));
    OK(hf_world_signal(world, &other, "go", 20, &err));
    OK(hf_world_apply(world, &other, "go", &err));
    OK(hf_world_activity(world, &other, &err));
    OK(hf_world_claim(world, &other, &err));
    OK(hf_world_step(world, &other, &err));
    OK(hf_world_start(world, "timer", &run, &err));
    OK(hf_world_timer(world, &run, 60000000, &err));
    return run.base.run;
}

static int64_t place_fill(const hf_test_place *place)
{
    hf_world world;
    hf_err err = {0};
    int64_t run;

    OK(hf_world_open(&world, hf_test_place_address(place), NULL, &err));
    run = world_fill(&world);
    hf_world_close(&world);
    return run;
}

static void place_script(const hf_test_place *place, const char *sql)
{
    hf_db *db = NULL;
    hf_err err = {0};

    OK(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err));
    OK(hf_db_script(db, sql, &err));
    hf_db_close(db);
}

/* The list is whole: numbers 1 to 40, each with its text and a sentence. */
START_TEST(invariants_are_listed)
{
    for (int i = 1; i <= HF_INVARIANT_COUNT; i++) {
        const hf_invariant *one = hf_invariant_get(i);
        char text[8];

        (void)snprintf(text, sizeof(text), "I%02d", i);
        ck_assert_int_eq(one->number, i);
        ck_assert_str_eq(one->text, text);
        ck_assert_ptr_nonnull(one->sentence);
    }
    ck_assert_int_eq(hf_invariant_checked(false), HF_INVARIANT_COUNT);
    ck_assert_int_eq(hf_invariant_checked(true), HF_INVARIANT_COUNT - 2);
}
END_TEST

/* The reference page has a line for each, with its sentence, severity and repair. */
START_TEST(the_page_lists_them)
{
    FILE *file = fopen(HF_TEST_DIR "/../docs/reference/invariants.md", "r");
    char line[1024];
    int next = 1;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file)) {
        char wanted[512];
        const hf_invariant *one;

        if (strncmp(line, "| I", 3) != 0)
            continue;
        ck_assert_int_le(next, HF_INVARIANT_COUNT);
        one = hf_invariant_get(next++);
        (void)snprintf(wanted, sizeof(wanted), "| %s | %s | %s | %s | ", one->text, one->sentence,
                       hf_severity_text(one->severity), one->repairable ? "yes" : "no");
        ck_assert_msg(strncmp(line, wanted, strlen(wanted)) == 0, "%s is not %s", line, wanted);
    }
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(next, HF_INVARIANT_COUNT + 1);
}
END_TEST

/* A store that only units wrote is clean, counted in full, and progress ends at the total. */
HF_BOTH_ENGINES(clean_stores_are_clean)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_verify_report report;
    hf_err err = {0};
    int64_t run = place_fill(place);

    for (int quick = 0; quick < 2; quick++) {
        tally found = {0};

        OK(verify_now(hf_test_place_address(place), 0, quick, &found, &report, &err));
        ck_assert_msg(found.count == 0, "%s", found.first);
        ck_assert_int_eq(report.findings, 0);
        ck_assert_int_eq(report.runs, LIVES + 4);
        ck_assert_int_gt(report.events, LIVES * 10);
        ck_assert_int_eq(report.invariants, hf_invariant_checked(quick));
        ck_assert_int_gt(report.elapsed_us, 0);
        ck_assert_int_eq(found.done, found.total);
        ck_assert_int_eq(found.done, report.events);
    }
    {
        tally found = {0};

        OK(verify_now(hf_test_place_address(place), run, false, &found, &report, &err));
        ck_assert_int_eq(report.runs, 1);
        ck_assert_int_eq(found.count, 0);
    }
    hf_test_place_free(place);
}

/* A check of one run sees that run's damage and no other's. */
HF_BOTH_ENGINES(one_run_is_checked_alone)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_verify_report report;
    hf_err err = {0};
    int64_t run = place_fill(place);
    tally found = {0};
    tally other = {0};
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "UPDATE run SET last_seq = last_seq + 1 WHERE key = %lld",
                   (long long)run);
    place_script(place, sql);
    OK(verify_now(hf_test_place_address(place), run, false, &found, &report, &err));
    ck_assert_int_eq(report.findings, 1);
    ck_assert_msg(strncmp(found.first, "I01 stop {\"run\":", 16) == 0, "%s", found.first);
    OK(verify_now(hf_test_place_address(place), run + 100000, false, &other, &report, &err));
    ck_assert_int_eq(report.runs, 0);
    ck_assert_int_eq(report.findings, 0);
    hf_test_place_verify = NULL;
    hf_test_place_free(place);
}

/* Progress that says no stops the check, whenever it does. */
HF_BOTH_ENGINES(progress_stops_the_check)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_verify_report report;
    hf_err err = {0};
    int64_t events = 0;
    hf_world world;
    tally whole = {0};

    OK(hf_world_open(&world, hf_test_place_address(place), NULL, &err));
    OK(hf_busy_make(&world, "busy", 30, 200, &events, &err));
    hf_world_close(&world);
    OK(verify_now(hf_test_place_address(place), 0, false, &whole, &report, &err));
    ck_assert_msg(whole.count == 0, "%s", whole.first);
    ck_assert_int_eq(report.events, events);
    ck_assert_int_ge(whole.told, 3);
    for (int at = 1; at <= whole.told; at++) {
        tally found = {.stop_at = at};

        ck_assert_int_eq(verify_now(hf_test_place_address(place), 0, false, &found, &report, &err),
                         HF_CANCELLED);
        ck_assert_int_eq(found.told, at);
    }
    hf_test_place_free(place);
}

/* ---- while somebody writes */

typedef struct scribe {
    hf_world *world;
    atomic_bool stop;
    hf_status status;
    hf_err err;
} scribe;

static void scribe_run(void *ctx)
{
    scribe *now = ctx;
    char id[32];

    for (int i = 0; !now->status && !atomic_load(&now->stop); i++) {
        hf_world_run run = {0};

        (void)snprintf(id, sizeof(id), "scribe-%d", i);
        now->status = hf_world_life(now->world, id, &now->err);
        (void)snprintf(id, sizeof(id), "open-%d", i);
        if (!now->status)
            now->status = hf_world_start(now->world, id, &run, &now->err);
        if (!now->status)
            now->status = hf_world_signal(now->world, &run, "go", 2000, &now->err);
    }
}

/* Checks beside a busy writer see one moment each, and nothing wrong in any of them. */
HF_BOTH_ENGINES(writers_do_not_disturb)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_err err = {0};
    hf_world world;
    scribe now = {.world = &world};
    hf_thread thread = {0};
    int64_t runs = 0;

    OK(hf_world_open(&world, hf_test_place_address(place), NULL, &err));
    OK(hf_thread_start(&thread, "scribe", scribe_run, &now, &err));
    for (int i = 0; i < ROUNDS; i++) {
        hf_verify_report report;
        tally found = {0};

        OK(verify_now(hf_test_place_address(place), 0, false, &found, &report, &err));
        ck_assert_msg(found.count == 0, "%s", found.first);
        ck_assert_int_ge(report.runs, runs);
        runs = report.runs;
    }
    atomic_store(&now.stop, true);
    hf_thread_join(&thread);
    hf_test_ok(now.status, &now.err, "write beside the check");
    ck_assert_int_gt(world.acknowledged, 0);
    hf_world_close(&world);
    hf_test_place_free(place);
}

/* ---- failures */

/* Every allocation and every database call failed once: a status, nothing leaks, nothing is found.
 */
HF_BOTH_ENGINES(failures_are_reported)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB};
    hf_test_place *place = hf_test_place_new(kind);

    (void)place_fill(place);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        hf_status st = HF_NOMEM;

        for (int64_t nth = 1; st; nth += nth < 200 ? 1 : 37) {
            hf_verify_report report;
            tally found = {0};
            hf_err err = {0};

            hf_fault_arm(kinds[i], nth, false);
            st = verify_now(hf_test_place_address(place), 0, false, &found, &report, &err);
            hf_fault_arm(kinds[i], 0, false);
            ck_assert_msg(found.count == 0, "failure %lld: %s", (long long)nth, found.first);
            ck_assert(st == HF_OK || err.text[0]);
            ck_assert(nth < 1000000);
        }
    }
    hf_test_place_free(place);
}

/* Every page of a file is overwritten once: what cannot be read is a finding, or, when not even the
   tables that say what the file is can be read, a refusal. Only pages that hold nothing go
   unnoticed. */
START_TEST(damaged_pages_are_found)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *address = hf_test_place_address(place);
    static char page_kept[PAGE_BYTES];
    static char junk[PAGE_BYTES];
    struct stat file;
    int found_count = 0;
    int missed = 0;
    int fd;

    (void)place_fill(place);
    ck_assert_int_eq(stat(address, &file), 0);
    memset(junk, 0xA5, sizeof(junk));
    fd = open(address, O_RDWR);
    ck_assert_int_ge(fd, 0);
    for (off_t at = 0; at < file.st_size; at += PAGE_BYTES) {
        hf_verify_report report = {0};
        tally found = {0};
        hf_err err = {0};
        hf_status st;

        ck_assert_int_eq(pread(fd, page_kept, PAGE_BYTES, at), PAGE_BYTES);
        ck_assert_int_eq(pwrite(fd, junk, PAGE_BYTES, at), PAGE_BYTES);
        st = verify_now(address, 0, false, &found, &report, &err);
        ck_assert_int_eq(pwrite(fd, page_kept, PAGE_BYTES, at), PAGE_BYTES);
        found_count += found.count > 0;
        missed += !st && found.count == 0;
    }
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_ge(found_count, 20);
    ck_assert_int_le(missed, 3);
    hf_test_place_free(place);
}
END_TEST

/* Options and reports of another size come from a program built against something else. */
START_TEST(wrong_sizes_are_refused)
{
    hf_verify_options options = {.size = 1};
    hf_verify_report report = {.size = 1};
    hf_tool_options tool = {.size = 1};
    hf_tool_info info = {.size = 1};
    hf_err err = {0};

    ck_assert_int_eq(hf_verify("x", &options, NULL, NULL, NULL, NULL, &err), HF_MISUSE);
    ck_assert_int_eq(hf_verify("x", NULL, NULL, NULL, NULL, &report, &err), HF_MISUSE);
    ck_assert_int_eq(hf_tool_inspect("x", &tool, &info, &err), HF_MISUSE);
    ck_assert_int_eq(hf_tool_inspect("x", NULL, &info, &err), HF_MISUSE);
    ck_assert_int_eq(hf_tool_migrate("x", &tool, true, NULL, NULL, &err), HF_MISUSE);
}
END_TEST

/* What is not there is said not to be there. */
HF_BOTH_ENGINES(absent_stores_are_absent)
{
    hf_test_place *place = hf_test_place_new(kind);
    const char *address = hf_test_place_address(place);
    hf_tool_info info = {.size = sizeof(info)};
    hf_verify_report report;
    tally found = {0};
    hf_err err = {0};

    ck_assert_int_eq(verify_now(address, 0, false, &found, &report, &err), HF_NOTFOUND);
    ck_assert_int_eq(hf_tool_inspect(address, NULL, &info, &err), HF_NOTFOUND);
    ck_assert_int_eq(hf_tool_backup(address, "copy", NULL, NULL, &err), HF_NOTFOUND);
    hf_test_place_free(place);
}

/* ---- tools */

typedef struct shown {
    int count;
    bool texts;
} shown;

static void migration_count(void *ctx, const char *name, const char *sql)
{
    shown *now = ctx;

    ck_assert(strchr(name, '_') != NULL);
    now->count++;
    now->texts = now->texts || strstr(sql, "CREATE TABLE");
}

/* Migrating makes a store and says what it does; printing changes nothing; a second time there is
   nothing to do; the store then says what it is. */
HF_BOTH_ENGINES(stores_are_made_and_inspected)
{
    hf_test_place *place = hf_test_place_new(kind);
    const char *address = hf_test_place_address(place);
    hf_tool_info info = {.size = sizeof(info)};
    shown printed = {0};
    shown applied = {0};
    shown again = {0};
    hf_err err = {0};

    OK(hf_tool_migrate(address, NULL, true, migration_count, &printed, &err));
    ck_assert(printed.count >= 2 && printed.texts);
    ck_assert_int_eq(hf_tool_inspect(address, NULL, &info, &err), HF_NOTFOUND);
    OK(hf_tool_migrate(address, NULL, false, migration_count, &applied, &err));
    ck_assert_int_eq(applied.count, printed.count);
    OK(hf_tool_migrate(address, NULL, false, migration_count, &again, &err));
    ck_assert_int_eq(again.count, 0);
    OK(hf_tool_inspect(address, NULL, &info, &err));
    ck_assert_str_eq(info.engine, kind == HF_ENGINE_SQLITE ? "sqlite" : "postgres");
    ck_assert_int_eq(info.ground_version, info.ground_known);
    ck_assert_int_eq(info.projection_version, info.projection_known);
    ck_assert_uint_eq(strlen(info.store_id), 32);
    ck_assert_int_gt(info.created_us, 0);
    ck_assert_ptr_nonnull(strchr(hf_version_text(), '.'));
    hf_test_place_free(place);
}

/* A store of another version can be looked at, but neither migrated down nor verified. */
HF_BOTH_ENGINES(newer_stores_are_named)
{
    hf_test_place *place = hf_test_place_new(kind);
    const char *address = hf_test_place_address(place);
    hf_tool_info info = {.size = sizeof(info)};
    hf_verify_report report;
    tally found = {0};
    hf_err err = {0};

    OK(hf_tool_migrate(address, NULL, false, NULL, NULL, &err));
    place_script(place, "UPDATE meta SET value = '99' WHERE name = 'ground_version'");
    OK(hf_tool_inspect(address, NULL, &info, &err));
    ck_assert_int_eq(info.ground_version, 99);
    ck_assert_int_eq(verify_now(address, 0, false, &found, &report, &err), HF_NEWER);
    ck_assert_int_eq(hf_tool_migrate(address, NULL, false, NULL, NULL, &err), HF_NEWER);
    hf_test_place_free(place);
}

/* A copy of a SQLite store is itself a clean store; PostgreSQL has tools of its own for that. */
HF_BOTH_ENGINES(copies_are_clean)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_verify_report report;
    hf_err err = {0};
    tally found = {0};
    tally copied = {0};
    char path[512];

    (void)place_fill(place);
    (void)snprintf(path, sizeof(path), "%s/copy.db", hf_test_place_folder(place));
    if (kind == HF_ENGINE_POSTGRES) {
        ck_assert_int_eq(hf_tool_backup(hf_test_place_address(place), path, NULL, NULL, &err),
                         HF_MISUSE);
    } else {
        OK(hf_tool_backup(hf_test_place_address(place), path, progress_keep, &copied, &err));
        OK(verify_now(path, 0, false, &found, &report, &err));
        ck_assert_msg(found.count == 0, "%s", found.first);
        ck_assert_int_eq(report.runs, LIVES + 4);
    }
    hf_test_place_free(place);
}

/* ---- size */

/* Peak of resident memory in KiB since the last reset; the kernel counts it per process. */
static long rss_peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_gt(kib, 0);
    return kib;
}

static void rss_reset(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(fputs("5", file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* A store ten times as large is checked in the same memory: 30,000 events, and with
   HF_CAMPAIGN=long 300,000, within a bound that does not depend on their number. Where memory does
   not count, 3,000 will do. */
HF_BOTH_ENGINES(large_stores_need_little_memory)
{
    const char *campaign = getenv("HF_CAMPAIGN");
    bool long_one = campaign && strcmp(campaign, "long") == 0;
    size_t runs = long_one ? LONG_RUNS : LONG_RUNS / (MEMORY_COUNTS ? 10 : 100);
    hf_test_place *place = hf_test_place_new(kind);
    hf_verify_report report;
    tally found = {0};
    hf_err err = {0};
    int64_t events = 0;
    hf_world world;
    long before_kib;

    OK(hf_world_open(&world, hf_test_place_address(place), NULL, &err));
    OK(hf_busy_make(&world, "busy", runs, LONG_STEPS, &events, &err));
    hf_world_close(&world);
    rss_reset();
    before_kib = rss_peak_kib();
    OK(verify_now(hf_test_place_address(place), 0, false, &found, &report, &err));
    ck_assert_msg(found.count == 0, "%s", found.first);
    ck_assert_int_eq(report.events, events);
    ck_assert_msg(!MEMORY_COUNTS || rss_peak_kib() - before_kib < RSS_KIB_MAX, "grew by %ld KiB",
                  rss_peak_kib() - before_kib);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("verify/verify", {invariants_are_listed, 0}, {the_page_lists_them, 0},
                 HF_BOTH(clean_stores_are_clean), HF_BOTH(one_run_is_checked_alone),
                 HF_BOTH_SLOW(progress_stops_the_check, 120),
                 HF_BOTH_SLOW(writers_do_not_disturb, 120),
                 HF_BOTH_SLOW(failures_are_reported, 300), {damaged_pages_are_found, 0},
                 {wrong_sizes_are_refused, 0}, HF_BOTH(absent_stores_are_absent),
                 HF_BOTH(stores_are_made_and_inspected), HF_BOTH(newer_stores_are_named),
                 HF_BOTH(copies_are_clean), HF_BOTH_SLOW(large_stores_need_little_memory, 300))
