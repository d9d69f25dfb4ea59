/* Retention covers every table: a store in which everything happened is as empty as a new one when
   all of it is over. And memory that runs out anywhere in it: nothing is half removed. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/campaign.h"
#include "lib/kit.h"

enum { TABLES_MAX = 64, ALLOCATIONS_MAX = 20000 };

/* ---- the application */

static hf_value flaky(hf_act *a, hf_value in)
{
    if (hf_attempt(a) == 1)
        return hf_retry(a, "busy", "once more");
    (void)in;
    return hf_reject(a, "broken", "for good");
}

static hf_value leaf(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_json(w, "'leaf'");
}

static hf_value busy(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    hf_search_attributes(w, hf_json(w, "{'city': 'Bern'}"));
    (void)hf_activity(w, "flaky", NULL, .err = &failed);
    hf_messages_send(w, hf_workflow_id(w), "mail", "a letter");
    hf_sleep(w, hf_seconds(5));
    (void)hf_child(w, "leaf", NULL);
    (void)hf_receive(w, "go");
    return in;
}

static hf_outcome limited(hf_step *s)
{
    return hf_done(s, hf_step_state(s));
}

static const hf_signal_def go[] = {{.name = "go"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "busy", .run = busy, .signals = go}, {.type = "leaf", .run = leaf}, {0}};
static const hf_activity_def activities[] = {{.name = "flaky", .run = flaky}, {0}};
static const hf_machine_def machines[] = {{"limited", .job = limited}, {0}};
static const hf_limit_def limits[] = {
    {"pair", .at_once = 2}, {"mail", .allowed = 2, .per = 1000}, {0}};
static const hf_app app = {.name = "tables",
                           .workflows = workflows,
                           .activities = activities,
                           .machines = machines,
                           .limits = limits};

/* ---- all tables */

typedef struct table {
    char name[64];
    int64_t first; /* rows of the new store */
    int64_t most;  /* that were ever seen */
} table;

static table tables[TABLES_MAX];
static size_t table_count;

static int64_t rows(hf_engine *d, const char *name)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %.63s", name);
    return hf_kit_number(d, sql);
}

/* What the database itself says it has, so that a new table is in this test without a word. */
static void tables_read(hf_engine *d, hf_engine_kind kind)
{
    const char *sql = kind == HF_ENGINE_SQLITE
                          ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                            "'sqlite_%' ORDER BY name"
                          : "SELECT tablename::text FROM pg_tables WHERE schemaname = "
                            "current_schema() ORDER BY tablename";
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = true;

    table_count = 0;
    hf_test_ok(hf_db_query_text(hf_store_writer(d->store), sql, NULL, 0, &cursor, &err), &err, sql);
    for (;;) {
        hf_slice name;

        hf_test_ok(hf_db_step(cursor, &row, &err), &err, sql);
        if (!row)
            break;
        ck_assert_uint_lt(table_count, TABLES_MAX);
        name = hf_db_column_bytes(cursor, 0);
        (void)snprintf(tables[table_count].name, sizeof(tables[0].name), "%.*s", (int)name.len,
                       name.ptr);
        table_count++;
    }
    hf_db_end(cursor);
    for (size_t i = 0; i < table_count; i++)
        tables[i].first = tables[i].most = rows(d, tables[i].name);
}

static void tables_watch(hf_engine *d)
{
    for (size_t i = 0; i < table_count; i++) {
        int64_t now = rows(d, tables[i].name);

        if (now > tables[i].most)
            tables[i].most = now;
    }
}

/* Everything that can be done now, one move after the other. */
static void watch(hf_engine *d)
{
    while (hf_engine_pump(d))
        tables_watch(d);
}

static bool listed(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Somebody decided these, and somebody takes them back; or they are the store's own. */
static const char *const stays[] = {
    "counter",              /* where keys and positions go on */
    "meta",                 /* the store's own facts */
    "migration",            /* and how it came to be */
    "namespace",            /* made and set by people, this and the next */
    "saved_view",           /**/
    "search_attribute_def", /* declared */
    "preference",           /* somebody's own, 32 of each at most */
    "token",      /* given to somebody; revoked ones are kept for those who ask who it was */
    "definition", /* the newest of each type; on a shared store all */
    NULL};

/* Nothing here makes rows in these. */
static const char *const untouched[] = {
    "node",            /* of processes with threads; who joins removes the dead */
    "mail", "session", /* the same */
    "shard",           /* as many as there are shards */
    NULL};

/* ---- everything happens */

static void import_own(hf_engine *d)
{
    hf_mem *mem = hf_mem_new();
    hf_import_opts o = {.size_ = sizeof(o)};
    hf_value out = NULL;

    hf_kit_ok(d, hf_export(d, mem, &o.text, "b"));
    o.len = strlen(o.text);
    hf_kit_ok(d, hf_import_with(d, mem, &out, &o));
    hf_mem_free(mem);
}

/* A worker of another process that said once that it was there, and a slot of one that died. */
static void others_were_here(hf_engine *d)
{
    int64_t now_us = hf_core_now(d->core);
    const hf_worker_row worker = {.name = HF_SLICE("w-1"),
                                  .queue = HF_SLICE("default"),
                                  .scope = HF_SLICE(""),
                                  .host = HF_SLICE("there"),
                                  .process = 1,
                                  .supported = HF_SLICE("*"),
                                  .recorded_us = now_us,
                                  .expires_us = now_us + 30000000};
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_err err = {0};

    ck_assert_ptr_nonnull(unit);
    hf_unit_row(unit, 0, hf_row_worker_beat(hf_unit_mem(unit), &worker));
    hf_unit_row(unit, 0,
                hf_row_slot_take(hf_unit_mem(unit), d->namespace_key, HF_SLICE("pair:x"), 2, 1,
                                 HF_SLICE("dead"), now_us + 10000000, now_us));
    hf_test_ok(hf_core_commit(d->core, unit, &err), &err, "a worker and a slot");
}

static void everything_happens(hf_engine *d)
{
    hf_mem *mem = hf_mem_of_engine(d);
    hf_token token;
    hf_value out = NULL;
    char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_kit_ok(d, hf_attribute_create(d, "city", "keyword"));
    hf_kit_ok(d, hf_start(d, "busy", hf_json(d, "{'text': %s}", text), .id = "b",
                          .request_id = "r1", .labels = "{\"tier\":\"gold\"}"));
    hf_kit_ok(d, hf_start(d, "limited", NULL, .id = "m", .correlation_key = "order-1",
                          .concurrency_key = "pair:a", .rate_limit = "mail:a"));
    watch(d);
    for (int i = 0; i < 10; i++) {
        hf_kit_skip(d, hf_seconds(2));
        watch(d);
    }
    hf_kit_ok(d, hf_approvals(d, NULL, mem, &out));
    hf_kit_ok(d, hf_answer_link_create(d,
                                       hf_json(d, "{'approval': %s, 'label': 'Ada'}",
                                               hf_str(out, "approvals.0.id", "")),
                                       mem, &out));
    hf_kit_ok(d, hf_signal_dedup(d, "b", "go", NULL, "k1"));
    watch(d);
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    ck_assert_str_eq(hf_test_status(d, "m"), "completed");
    hf_kit_ok(d, hf_batch_start(d, hf_json(d, "{'command': 'cancel', 'workflow_ids': ['b', 'x']}"),
                                mem, &out));
    hf_kit_ok(d, hf_schedule_create(d, "nightly", "leaf", NULL,
                                    .spec = hf_json(d, "{'cron_expressions': ['0 3 * * *']}")));
    hf_kit_ok(d, hf_schedule_delete(d, "nightly"));
    hf_kit_ok(d, hf_builds_drain(d, "default", "v1", true));
    hf_kit_ok(d, hf_builds_drain(d, "default", "v1", false));
    hf_kit_ok(d,
              hf_workers_keep(d, "w", hf_json(d, "{'task_queue': 'default', 'build_id': 'v2'}")));
    hf_kit_ok(d, hf_view_save(d,
                              hf_json(d, "{'name': 'mine', 'bucket': 'running', 'filters': {}, "
                                         "'owner': 'me'}"),
                              mem, &out));
    hf_kit_ok(d, hf_token_create_with(
                     d, &(hf_token_opts){.size_ = sizeof(hf_token_opts), .role = "read"}, &token));
    hf_kit_ok(d, hf_sign_in_put(d, &(hf_sign_in){.token = token.id,
                                                 .begun_us = hf_core_now(d->core),
                                                 .seen_us = hf_core_now(d->core)}));
    others_were_here(d);
    watch(d);
    import_own(d);
    tables_watch(d);
}

static void tables_compare(hf_engine *d)
{
    for (size_t i = 0; i < table_count; i++) {
        const table *t = &tables[i];
        bool kept = listed(stays, t->name);

        if (listed(untouched, t->name))
            continue;
        ck_assert_msg(kept || t->most > t->first, "nothing was ever in %s: this test must make it",
                      t->name);
        ck_assert_msg(kept || rows(d, t->name) <= t->first,
                      "%s has %lld rows, %lld when it was new", t->name,
                      (long long)rows(d, t->name), (long long)t->first);
    }
}

/* One pass over a store in which everything is over leaves what a new store has. */
HF_BOTH_ENGINES(b_every_table_is_as_before)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    tables_read(d, kind);
    everything_happens(d);
    hf_kit_skip(d, hf_days(31));
    hf_kit_ok(d, hf_retention_pass(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_int_eq(hf_int(out, "runs", 0), 3);
    ck_assert_int_eq(hf_int(out, "imports", 0), 1);
    ck_assert_int_eq(hf_int(out, "buckets", 0), 1);
    ck_assert_int_eq(hf_int(out, "batches", 0), 1);
    ck_assert_int_eq(hf_int(out, "schedules", 0), 1);
    tables_compare(d);
    hf_kit_close(d);
}

/* The engine comes to the same without being asked. */
HF_BOTH_ENGINES(b_every_table_is_as_before_by_itself)
{
    hf_engine *d = hf_kit_open(kind, &app);

    tables_read(d, kind);
    everything_happens(d);
    hf_kit_skip(d, hf_days(31));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    tables_compare(d);
    hf_kit_close(d);
}

/* A bucket that is not full stays: who takes its tokens would get them twice. */
HF_BOTH_ENGINES(buckets_that_are_not_full_stay)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < 2; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "m%d", i);
        hf_kit_ok(d, hf_start(d, "limited", NULL, .id = id, .rate_limit = "mail:a"));
    }
    hf_kit_ok(d, hf_test_drain(d)); /* both tokens are taken; they come back in a second */
    hf_kit_skip(d, 990);
    hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
    ck_assert_int_eq(rows(d, "bucket"), 1);
    hf_kit_skip(d, 11);
    hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
    ck_assert_int_eq(rows(d, "bucket"), 0);
    hf_kit_close(d);
}

/* Imported runs stay as long as their namespace keeps closed runs, for ever where it does. */
HF_BOTH_ENGINES(imported_runs_stay_their_time)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_namespace_opts for_ever = {.size_ = sizeof(for_ever),
                                        .retention_days = HF_NAMESPACE_FOR_EVER};
    const hf_namespace_opts a_month = {.size_ = sizeof(a_month), .retention_days = 30};

    hf_kit_ok(d, hf_start(d, "leaf", NULL, .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    import_own(d);
    hf_kit_skip(d, hf_days(29));
    hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
    ck_assert_int_eq(rows(d, "imported_run"), 1);
    hf_kit_ok(d, hf_namespace_set(d, "default", &for_ever));
    hf_kit_skip(d, hf_days(2));
    hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
    ck_assert_int_eq(rows(d, "imported_run"), 1);
    hf_kit_ok(d, hf_namespace_set(d, "default", &a_month));
    hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
    ck_assert_int_eq(rows(d, "imported_run"), 0);
    hf_kit_close(d);
}

/* ---- without memory */

/* Runs whose time is over, and a bucket that is full. */
static void something_is_over(hf_engine *d, int64_t nth)
{
    char id[32];

    (void)snprintf(id, sizeof(id), "m%lld", (long long)nth);
    hf_kit_ok(d, hf_start(d, "limited", NULL, .id = id, .rate_limit = "mail:a"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(rows(d, "bucket"), 1);
    hf_kit_skip(d, hf_days(31));
}

/* A pass without memory says so, and the next one removes what it left. */
START_TEST(a_pass_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    int stride = hf_campaign_stride(5, 2);
    hf_status st = HF_NOMEM;

    for (int64_t nth = 1; st == HF_NOMEM; nth += stride) {
        hf_value out = NULL;

        something_is_over(d, nth);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_retention_pass(d, NULL, hf_mem_of_engine(d), &out);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", hf_errmsg(d));
        ck_assert_int_lt(nth, ALLOCATIONS_MAX);
        hf_kit_ok(d, hf_retention_pass(d, NULL, NULL, NULL));
        ck_assert_int_eq(rows(d, "run") + rows(d, "history") + rows(d, "bucket"), 0);
    }
    hf_kit_close(d);
}
END_TEST

/* So does the engine when it removes by itself: what it could not do it does an hour later. */
START_TEST(by_itself_without_memory)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    int stride = hf_campaign_stride(11, 5);
    int64_t seen = ALLOCATIONS_MAX;

    for (int64_t nth = 1; nth <= seen; nth += stride) {
        something_is_over(d, nth);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        (void)!hf_test_advance(d, hf_minutes(1)); /* the core says so, or tries again */
        seen = hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (hf_core_failure(d->core, NULL))
            hf_test_crash(d); /* what a host does: it begins again */
        hf_kit_ok(d, hf_test_advance(d, hf_days(2)));
        ck_assert_int_eq(rows(d, "run") + rows(d, "history") + rows(d, "bucket"), 0);
    }
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("engine/retention_tables", HF_BOTH(b_every_table_is_as_before),
                 HF_BOTH(b_every_table_is_as_before_by_itself),
                 HF_BOTH(buckets_that_are_not_full_stay), HF_BOTH(imported_runs_stay_their_time),
                 {a_pass_without_memory, 120}, {by_itself_without_memory, 120})
