/* check_store.c: see check_store.h. Prints every finding before it fails, because the first one is
   seldom the cause. */
#include "lib/check_store.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "holdfast/tool.h"
#include "project/projection.h"
#include "store/store.h"

static void finding_print(void *ctx, const hf_finding *finding)
{
    int *count = ctx;

    if (strcmp(finding->invariant, "I28") == 0)
        return;
    ++*count;
    (void)fprintf(stderr, "%s %s %s %s\n", finding->invariant, finding->severity, finding->keys,
                  finding->sentence);
}

/* What is stored of a run's fold and went on from there equals what folding all of it anew gives,
   and what a reader is shown has every event. */
static void run_check(hf_db *db, hf_mem *mem, int64_t run)
{
    hf_projection_change found;
    hf_projection read;
    hf_err err = {0};

    hf_test_ok(hf_projection_compare(db, mem, run, &found, &err), &err, "fold a run anew");
    ck_assert_msg(found.summary != HF_PROJECTION_STALE && found.log != HF_PROJECTION_STALE,
                  "the fold of run %lld is not what its history gives", (long long)run);
    hf_test_ok(hf_projection_read(db, mem, run, INT64_MAX, &read, &err), &err, "read a fold");
    ck_assert_int_eq((int64_t)read.count, read.last_seq);
}

static void folds_check(const char *address)
{
    const hf_store_options options = {.size = sizeof(options), .role = HF_STORE_READER};
    hf_store *store = NULL;
    hf_mem *mem = hf_mem_new();
    hf_db *db = NULL;
    hf_err err = {0};
    int64_t last = 0;
    int64_t runs[64];
    size_t count = 64;

    ck_assert_ptr_nonnull(mem);
    hf_test_ok(hf_store_open(address, &options, &store, &err), &err, "open the store");
    hf_test_ok(hf_store_connect(store, HF_DB_READ, &db, &err), &err, "read the store");
    while (count == 64) {
        const hf_db_value params[] = {hf_db_int(last), hf_db_int(64)};
        hf_db_cursor *cursor = NULL;
        bool row = true;

        count = 0;
        hf_test_ok(hf_db_query(db, HF_STMT_FOLD_RUNS, params, 2, &cursor, &err), &err, "list runs");
        for (;;) {
            hf_test_ok(hf_db_step(cursor, &row, &err), &err, "list runs");
            if (!row)
                break;
            runs[count++] = last = hf_db_column_int(cursor, 0);
        }
        hf_db_end(cursor);
        for (size_t i = 0; i < count; i++) {
            run_check(db, mem, runs[i]);
            hf_mem_reset(mem);
        }
    }
    hf_db_close(db);
    hf_store_close(store);
    hf_mem_free(mem);
}

void hf_check_store(const char *address)
{
    const hf_verify_options options = {.size = sizeof(options)};
    hf_tool_info info = {.size = sizeof(info)};
    hf_err err = {0};
    int count = 0;

    for (int kind = 0; kind < HF_FAULT_KINDS; kind++)
        hf_fault_arm((hf_fault_kind)kind, 0, false);
    if (hf_tool_inspect(address, NULL, &info, NULL) != HF_OK ||
        info.ground_version != info.ground_known ||
        info.projection_version != info.projection_known)
        return;
    hf_test_ok(hf_verify(address, &options, finding_print, NULL, &count, NULL, &err), &err,
               "verify the store that the case leaves behind");
    ck_assert_msg(count == 0, "the store that the case leaves behind breaks %d invariants", count);
    folds_check(address);
}

void hf_check_place(const hf_test_place *place)
{
    hf_check_store(hf_test_place_address(place));
}
