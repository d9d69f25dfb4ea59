/* test_reader.c: a store that is only looked at, beside the engine that works on it. */
#include "holdfast/reader.h"

#include "base/fault.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "lib/check_store.h"
#include "lib/engine.h"
#include "lib/handlers.h"

static const hf_workflow_def workflows[] = {
    {"waits", hf_wait_go, .signals = (const hf_signal_def[]){{"go", ""}, {0}}}, {0}};
static const hf_app app = {.name = "t", .workflows = workflows};

static hf_reader *reader_new(const hf_test_place *place)
{
    hf_reader *reader = NULL;
    hf_err err = {0};

    hf_test_ok(hf_reader_open(hf_test_place_address(place), NULL, &reader, &err), &err, "open");
    return reader;
}

/* What a reader shows is what the engine shows, while it is at work and after it has gone. */
HF_BOTH_ENGINES(reads_what_the_engine_reads)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_mem *mem = hf_mem_new();
    hf_value request = hf_json_(mem, "{'id': 'a'}");
    hf_engine *engine = NULL;
    hf_reader *reader;
    hf_value theirs = NULL;
    hf_value ours = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engine), HF_OK);
    ck_assert_int_eq(hf_start(engine, "waits", NULL, .id = "a"), HF_OK);
    ck_assert_int_eq(hf_signal(engine, "a", "go", NULL), HF_OK);
    ck_assert_int_eq(hf_result(engine, "a", hf_seconds(20), &ours, NULL), HF_OK);
    reader = reader_new(place);
    ck_assert_int_eq(hf_history(engine, mem, &theirs, "a"), HF_OK);
    hf_test_ok(hf_reader_history(reader, request, mem, &ours, &err), &err, "history");
    ck_assert(hf_value_equal(ours, theirs));
    hf_test_ok(hf_reader_history(reader, hf_json_(mem, "{'id': 'a', 'after': 1, 'limit': 2}"), mem,
                                 &ours, &err),
               &err, "history");
    ck_assert_uint_eq(hf_len(hf_get(ours, "events")), 2);
    ck_assert_int_eq(hf_int(ours, "events.0.sequence", 0), 2);
    do { /* the engine folds what it lists, sooner or later where a reader sees it */
        ck_assert_int_eq(hf_list_runs(engine, NULL, mem, &theirs), HF_OK);
        hf_test_ok(hf_reader_list(reader, NULL, mem, &ours, &err), &err, "list");
        ck_assert_str_eq(hf_str(ours, "items.0.instance_id", ""), "a");
    } while (!hf_value_equal(hf_get(ours, "items"), hf_get(theirs, "items")));
    hf_close(engine);
    hf_test_ok(hf_reader_describe(reader, request, mem, &ours, &err), &err, "describe");
    ck_assert_str_eq(hf_str(ours, "status", ""), "completed");
    ck_assert_str_eq(hf_str(ours, "why.code", ""), "closed_completed");
    hf_reader_close(reader);
    hf_mem_free(mem);
    hf_test_place_free(place);
}

/* Namespaces and tokens, beside the engine that owns the store. */
HF_BOTH_ENGINES(reads_namespaces_and_tokens)
{
    const hf_token_opts role = {.size_ = sizeof(role), .role = "read", .label = "for a test"};
    hf_test_place *place = hf_test_place_new(kind);
    hf_mem *mem = hf_mem_new();
    hf_engine *engine = NULL;
    hf_token token;
    hf_reader *reader;
    hf_value theirs = NULL;
    hf_value ours = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engine), HF_OK);
    ck_assert_int_eq(hf_namespace_create(engine, "billing",
                                         &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}),
                     HF_OK);
    ck_assert_int_eq(hf_token_create_with(engine, &role, &token), HF_OK);
    reader = reader_new(place);
    ck_assert_int_eq(hf_namespaces(engine, mem, &theirs), HF_OK);
    hf_test_ok(hf_reader_namespaces(reader, mem, &ours, &err), &err, "namespaces");
    ck_assert_uint_eq(hf_len(ours), 2);
    ck_assert(hf_value_equal(ours, theirs));
    ck_assert_int_eq(hf_tokens(engine, mem, &theirs), HF_OK);
    hf_test_ok(hf_reader_tokens(reader, mem, &ours, &err), &err, "tokens");
    ck_assert_str_eq(hf_str(ours, "0.label", ""), "for a test");
    ck_assert(hf_value_equal(ours, theirs));
    ck_assert_int_eq(hf_reader_tokens(reader, mem, NULL, &err), HF_MISUSE);
    ck_assert_int_eq(hf_reader_namespaces(NULL, mem, &ours, &err), HF_MISUSE);
    hf_close(engine);
    hf_reader_close(reader);
    hf_mem_free(mem);
    hf_test_place_free(place);
}

/* What is not there, and what is no question. */
HF_BOTH_ENGINES(says_what_it_cannot_find)
{
    const hf_reader_opts elsewhere = {.size_ = sizeof(elsewhere), .space = "elsewhere"};
    hf_test_place *place = hf_test_place_new(kind);
    const char *address = hf_test_place_address(place);
    hf_mem *mem = hf_mem_new();
    hf_engine *engine = NULL;
    hf_reader *reader = NULL;
    hf_value out;
    hf_err err = {0};

    ck_assert_int_ne(hf_reader_open(address, NULL, &reader, &err), HF_OK);
    ck_assert_int_eq(hf_open(address, &app, &engine), HF_OK);
    hf_close(engine);
    ck_assert_int_eq(hf_reader_open(address, &elsewhere, &reader, &err), HF_NOTFOUND);
    reader = reader_new(place);
    ck_assert_int_eq(hf_reader_describe(reader, hf_json_(mem, "{'id': 'b'}"), mem, &out, &err),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_reader_history(reader, hf_json_(mem, "{'id': 'b'}"), mem, &out, &err),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_reader_describe(reader, NULL, mem, &out, &err), HF_INVALID);
    ck_assert_int_eq(hf_reader_list(reader, hf_json_(mem, "[]"), mem, &out, &err), HF_INVALID);
    ck_assert_int_eq(
        hf_reader_history(reader, hf_json_(mem, "{'id': 'b', 'after': -1}"), mem, &out, &err),
        HF_INVALID);
    ck_assert_int_eq(hf_reader_list(reader, NULL, NULL, &out, &err), HF_MISUSE);
    hf_reader_close(reader);
    hf_mem_free(mem);
    hf_test_place_free(place);
}

/* Whatever allocation fails, nothing is left behind and the answer says so. */
START_TEST(runs_out_of_memory_cleanly)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *engine = NULL;
    bool more = true;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engine), HF_OK);
    ck_assert_int_eq(hf_start(engine, "waits", NULL, .id = "a"), HF_OK);
    hf_close(engine);
    for (int64_t nth = 1; more; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_value request = hf_json_(mem, "{'id': 'a'}");
        hf_reader *reader = NULL;
        hf_value out;
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_reader_open(hf_test_place_address(place), NULL, &reader, NULL);
        if (!st)
            st = hf_reader_list(reader, NULL, mem, &out, NULL);
        if (!st)
            st = hf_reader_history(reader, request, mem, &out, NULL);
        if (!st)
            st = hf_reader_describe(reader, request, mem, &out, NULL);
        more = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(more ? st == HF_NOMEM || st == HF_OK : st == HF_OK, "%d: %s", (int)nth,
                      hf_strstatus(st));
        hf_reader_close(reader);
        hf_mem_free(mem);
    }
    hf_test_place_free(place);
}
END_TEST

/* Who follows everything hears of a change, and of none when the time is up; who looks at a file
   knows whether somebody wrote into it. */
HF_BOTH_ENGINES(changes_are_told)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *engine = NULL;
    hf_reader *reader;
    bool changed = false;
    int64_t before = -1;
    int64_t after = -1;
    hf_err err = {0};

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engine), HF_OK);
    ck_assert_int_eq(hf_changes(engine, -1, 0, &before), HF_OK);
    ck_assert_int_eq(hf_start(engine, "waits", NULL, .id = "a"), HF_OK);
    while (after == -1 || after == before) /* a shared store answers from time to time */
        ck_assert_int_eq(hf_changes(engine, before, 60000, &after), HF_OK);
    ck_assert_int_gt(after, before);
    ck_assert_int_eq(hf_changes(engine, INT64_MAX, 1, &before), HF_OK);
    ck_assert_int_ge(before, after);
    ck_assert_int_eq(hf_changes(engine, 0, -1, &before), HF_MISUSE);
    reader = reader_new(place);
    hf_close(engine);
    changed = true;
    for (int i = 0; i < 100000 && changed; i++) /* others may write to the same server */
        hf_test_ok(hf_reader_changed(reader, &changed, &err), &err, "changed");
    ck_assert(!changed);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &engine), HF_OK);
    ck_assert_int_eq(hf_start(engine, "waits", NULL, .id = "b"), HF_OK);
    hf_test_ok(hf_reader_changed(reader, &changed, &err), &err, "changed");
    ck_assert(changed);
    hf_close(engine);
    ck_assert_int_eq(hf_reader_changed(NULL, &changed, &err), HF_MISUSE);
    hf_reader_close(reader);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/reader", HF_BOTH(reads_what_the_engine_reads),
                 HF_BOTH(reads_namespaces_and_tokens), HF_BOTH(changes_are_told),
                 HF_BOTH(says_what_it_cannot_find), {runs_out_of_memory_cleanly, 0})
