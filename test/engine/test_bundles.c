/* test_bundles.c: runs of a store as bundles, beside the engine that works on it: which of them
   come, in which order, and what becomes of those that cannot be read. */
#include <string.h>

#include "base/json.h"
#include "holdfast/tool.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "wait", .run = hf_wait_go, .signals = signals},
                                            {.type = "end", .run = hf_end_now},
                                            {0}};
static const hf_app app = {.name = "bundles", .workflows = workflows};

enum { RUNS_MAX = 8 };

/* What was handed over. */
typedef struct taken {
    hf_mem *mem;
    const char *ids[RUNS_MAX]; /* of instances */
    size_t count;
    size_t enough; /* stops after so many; 0: never */
    const char *unreadable[RUNS_MAX];
    size_t unreadable_count;
} taken;

static bool bundle_take(void *ctx, const char *text, size_t len)
{
    taken *t = ctx;
    hf_value bundle = NULL;
    hf_value report = NULL;
    hf_err err = {0};

    ck_assert_uint_lt(t->count, RUNS_MAX);
    hf_test_ok(hf_json_read(t->mem, hf_slice_from(text, len), NULL, &bundle, &err), &err, "json");
    hf_test_ok(hf_bundle_verify(text, len, NULL, t->mem, &report, &err), &err, "verify");
    ck_assert_str_eq(hf_str(report, "status", ""), "ok");
    t->ids[t->count++] = hf_str(bundle, "workflow.instance_id", "");
    return t->count != t->enough;
}

static void unreadable_take(void *ctx, hf_value run, const hf_err *why)
{
    taken *t = ctx;

    ck_assert_uint_lt(t->unreadable_count, RUNS_MAX);
    ck_assert_int_eq(why->status, HF_CORRUPT);
    ck_assert_str_ne(why->text, "");
    ck_assert_uint_eq(strlen(hf_str(run, "run_id", "")), 26);
    ck_assert_str_eq(hf_str(run, "workflow_type", ""), "wait");
    t->unreadable[t->unreadable_count++] =
        hf_mem_text(t->mem, hf_slice_of(hf_str(run, "instance_id", "")));
}

static hf_status bundles(hf_engine *d, taken *t, hf_bundles_options options, hf_err *err)
{
    int64_t runs = -1;
    hf_status st;

    options.size = sizeof(options);
    st = hf_tool_bundles(hf_test_place_address(hf_kit_place(d)), &options, bundle_take, t, &runs,
                         err);
    if (!st)
        ck_assert_int_eq(runs, (int64_t)(t->count + t->unreadable_count));
    return st;
}

static hf_engine *runs_make(hf_engine_kind kind, taken *t)
{
    static const char *const ids[] = {"a", "b", "c"};
    hf_engine *d = hf_kit_open(kind, &app);

    *t = (taken){.mem = hf_mem_new()};
    for (size_t i = 0; i < 3; i++) {
        hf_kit_ok(d, hf_start(d, "wait", NULL, .id = ids[i]));
        hf_kit_ok(d, hf_test_advance(d, 1000));
    }
    hf_kit_ok(d, hf_start(d, "end", NULL, .id = "e"));
    hf_kit_ok(d, hf_test_drain(d));
    return d;
}

static void runs_end(hf_engine *d, taken *t)
{
    hf_mem_free(t->mem);
    hf_kit_close(d);
}

/* By names in their order; by filters the newest first, as many as are wanted. */
HF_BOTH_ENGINES(runs_are_chosen)
{
    const char *const named[] = {"c", "a#1", NULL};
    const char *const gone[] = {"a", "nobody", "b", NULL};
    const char *const number[] = {"a#7", NULL};
    hf_err err = {0};
    taken t;
    hf_engine *d = runs_make(kind, &t);
    hf_value open = hf_json_(t.mem, "{'status_bucket': 'running'}");

    hf_test_ok(bundles(d, &t, (hf_bundles_options){.ids = named}, &err), &err, "by name");
    ck_assert_uint_eq(t.count, 2);
    ck_assert_str_eq(t.ids[0], "c");
    ck_assert_str_eq(t.ids[1], "a");
    t.count = 0;
    hf_test_ok(bundles(d, &t, (hf_bundles_options){0}, &err), &err, "all");
    ck_assert_uint_eq(t.count, 4);
    ck_assert_str_eq(t.ids[0], "e");
    t.count = 0;
    hf_test_ok(bundles(d, &t, (hf_bundles_options){.filters = open, .max = 2}, &err), &err, "two");
    ck_assert_uint_eq(t.count, 2);
    ck_assert_str_eq(t.ids[0], "c");
    ck_assert_str_eq(t.ids[1], "b");
    t.count = 0;
    t.enough = 1;
    hf_test_ok(bundles(d, &t, (hf_bundles_options){.filters = open}, &err), &err, "one");
    ck_assert_uint_eq(t.count, 1);
    t.count = t.enough = 0;
    ck_assert_int_eq(bundles(d, &t, (hf_bundles_options){.ids = gone}, &err), HF_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "nobody"));
    ck_assert_uint_eq(t.count, 1);
    ck_assert_int_eq(bundles(d, &t, (hf_bundles_options){.ids = number}, &err), HF_NOTFOUND);
    ck_assert_str_eq(err.text, "a has no run 7");
    ck_assert_int_eq(bundles(d, &t, (hf_bundles_options){.namespace_ = "none"}, &err), HF_NOTFOUND);
    ck_assert_int_eq(
        bundles(d, &t, (hf_bundles_options){.filters = hf_json_(t.mem, "{'colour': 1}")}, &err),
        HF_INVALID);
    runs_end(d, &t);
}

/* A history with a gap ends the export; somebody who wants to know of it is told, and the others
   come. */
HF_BOTH_ENGINES(histories_that_cannot_be_read_cost_their_run)
{
    const char *const named[] = {"b", NULL};
    hf_err err = {0};
    taken t;
    hf_engine *d = runs_make(kind, &t);

    hf_kit_sql(d, "UPDATE history SET run = run + 1000000 WHERE first_seq > 1 AND run IN (SELECT "
                  "key FROM run WHERE instance IN (SELECT key FROM instance WHERE id IN ('b', "
                  "'c')))");
    ck_assert_int_eq(bundles(d, &t, (hf_bundles_options){0}, &err), HF_CORRUPT);
    ck_assert_uint_eq(t.count, 1);
    t.count = 0;
    hf_test_ok(bundles(d, &t, (hf_bundles_options){.unreadable = unreadable_take}, &err), &err,
               "all that can be read");
    ck_assert_uint_eq(t.count, 2);
    ck_assert_str_eq(t.ids[0], "e");
    ck_assert_str_eq(t.ids[1], "a");
    ck_assert_uint_eq(t.unreadable_count, 2);
    ck_assert_str_eq(t.unreadable[0], "c");
    ck_assert_str_eq(t.unreadable[1], "b");
    t.count = t.unreadable_count = 0;
    ck_assert_int_eq(
        bundles(d, &t, (hf_bundles_options){.ids = named, .unreadable = unreadable_take}, &err),
        HF_CORRUPT);
    ck_assert_uint_eq(t.unreadable_count, 0);
    hf_kit_sql(d, "UPDATE history SET run = run - 1000000 WHERE run > 1000000");
    runs_end(d, &t);
}

HF_PG_SUITE_MAIN("engine/bundles", HF_BOTH(runs_are_chosen),
                 HF_BOTH(histories_that_cannot_be_read_cost_their_run))
