/* Namespaces: what is in one is not seen from another, whoever moves it. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/handlers.h"
#include "lib/kit.h"

/* ---- the application */

static hf_value one(hf_ctx *w, hf_value in)
{
    hf_value child = hf_child(w, "leaf", in, .id = "leaf-of-one");
    hf_value said = hf_receive(w, "go");

    return hf_json(w, "[%p, %p]", (const void *)child, (const void *)said);
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "one", .run = one, .signals = signals}, {.type = "leaf", .run = hf_call_echo}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "spaces", .workflows = workflows, .activities = activities};

static void space_make(hf_engine *d, const char *name)
{
    hf_kit_ok(
        d, hf_namespace_create(d, name, &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}));
}

static hf_value parse(hf_engine *d, const char *text)
{
    return hf_parse_(hf_mem_of_engine(d), text, strlen(text));
}

static size_t runs_listed(hf_engine *d)
{
    hf_value page = NULL;

    hf_kit_ok(d, hf_list_runs(d, parse(d, "{}"), hf_mem_of_engine(d), &page));
    return hf_len(hf_get(page, "items"));
}

/* The same ids live beside each other, with children, activities and signals of their own. */
HF_BOTH_ENGINES(ids_are_of_their_namespace)
{
    hf_engine *d = hf_kit_open(kind, &app);

    space_make(d, "orders");
    hf_kit_ok(d, hf_start(d, "one", parse(d, "1"), .id = "a"));
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    ck_assert_str_eq(hf_test_status(d, "a"), "not found");
    hf_kit_ok(d, hf_start(d, "one", parse(d, "2"), .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "a", "go", parse(d, "\"there\"")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "a"), "[2,\"there\"]");
    ck_assert_str_eq(hf_kit_result(d, "leaf-of-one"), "2");
    ck_assert_uint_eq(runs_listed(d), 2);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:go");
    ck_assert_str_eq(hf_kit_result(d, "leaf-of-one"), "1");
    ck_assert_uint_eq(runs_listed(d), 2);
    hf_kit_ok(d, hf_start(d, "leaf", parse(d, "3"), .id = "only-here"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_uint_eq(runs_listed(d), 3);
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    ck_assert_int_eq(hf_cancel(d, "only-here", NULL), HF_NOTFOUND);
    hf_kit_close(d);
}

/* After a crash everything goes on, whatever its namespace. */
HF_BOTH_ENGINES(recovery_serves_all_namespaces)
{
    hf_engine *d = hf_kit_open(kind, &app);

    space_make(d, "orders");
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    hf_kit_ok(d, hf_start(d, "one", parse(d, "2"), .id = "a"));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:go");
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    hf_kit_close(d);
}

/* Schedules of the same name fire in their own namespaces. */
HF_BOTH_ENGINES(schedules_fire_where_they_are)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value shown = NULL;

    space_make(d, "orders");
    hf_kit_ok(d, hf_schedule_create(d, "s", "leaf", NULL, .every = hf_minutes(1)));
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    ck_assert_int_eq(hf_schedule_show(d, "s", &shown), HF_NOTFOUND);
    hf_kit_ok(d, hf_schedule_create(d, "s", "leaf", NULL, .every = hf_minutes(2)));
    hf_kit_ok(d, hf_schedule_show(d, "s", &shown));
    ck_assert_str_eq(hf_str(shown, "namespace", ""), "orders");
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(4)));
    ck_assert_uint_eq(runs_listed(d), 2);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    ck_assert_uint_eq(runs_listed(d), 4);
    hf_kit_close(d);
}

/* A batch works where it was asked for, and is not seen or stopped from elsewhere. */
HF_BOTH_ENGINES(batches_stay_where_they_are)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    char id[64];

    space_make(d, "orders");
    hf_kit_ok(d, hf_start(d, "one", NULL, .id = "a"));
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    hf_kit_ok(d, hf_start(d, "one", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_batch_start(d, parse(d, "{\"command\":\"terminate\",\"workflow_ids\":[\"a\"]}"),
                                hf_mem_of_engine(d), &out));
    (void)snprintf(id, sizeof(id), "%s", hf_str(out, "batch_id", ""));
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    ck_assert_int_eq(hf_batch_show(d, id, hf_mem_of_engine(d), &out), HF_NOTFOUND);
    ck_assert_int_eq(hf_batch_abort(d, id, hf_mem_of_engine(d), &out), HF_NOTFOUND);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:go");
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    ck_assert_str_eq(hf_test_status(d, "a"), "terminated");
    hf_kit_close(d);
}

typedef struct got {
    bool called;
    char id[64];
    char task[64];
    int64_t attempt;
    hf_poll *poll;
} got;

static bool take(void *arg, hf_value task)
{
    got *g = arg;

    g->called = true;
    (void)snprintf(g->id, sizeof(g->id), "%s", hf_str(task, "workflow_id", ""));
    (void)snprintf(g->task, sizeof(g->task), "%s", hf_str(task, "task_id", ""));
    g->attempt = hf_int(task, "workflow_task_attempt", 0);
    return task != NULL;
}

static void poll(hf_engine *d, got *g)
{
    g->poll = hf_kit_poll(d, HF_TASK_WORKFLOW, "w", take, g);
    hf_kit_ok(d, hf_test_drain(d));
}

/* A worker gets the work of its namespace alone, and cannot report on that of others. */
HF_BOTH_ENGINES(workers_see_their_namespace)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_task_claim claim = {.size_ = sizeof(claim), .worker = "w"};
    got here = {0};
    got there = {0};

    hf_kit_ok(d, hf_workers_allow(d));
    space_make(d, "orders");
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    hf_kit_ok(d, hf_start(d, "strange", NULL, .id = "x"));
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    poll(d, &here);
    ck_assert(!here.called);
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    poll(d, &there);
    ck_assert(there.called);
    ck_assert_str_eq(there.id, "x");
    claim.task_id = there.task;
    claim.attempt = there.attempt;
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    ck_assert_int_eq(hf_task_extend(d, &claim, NULL, NULL), HF_REJECTED);
    ck_assert_int_eq(hf_workers_release(d, "w"), 0);
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    hf_kit_ok(d, hf_task_extend(d, &claim, NULL, NULL));
    ck_assert_int_eq(hf_workers_release(d, "w"), 1);
    ck_assert(hf_poll_end(here.poll));
    (void)hf_poll_end(there.poll);
    hf_kit_close(d);
}

/* They are made once, listed, changed, and never guessed. */
HF_BOTH_ENGINES(namespaces_are_kept)
{
    static const char *const bad[] = {"", "Upper", "a b", "a/b", "a,b", "*"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_namespace_opts options = {
        .size_ = sizeof(options), .description = "shop", .retention_days = 7};
    hf_value rows = NULL;

    ck_assert_int_eq(hf_namespace_use(d, "orders"), HF_NOTFOUND);
    hf_kit_ok(d, hf_namespace_create(d, "orders", &options));
    ck_assert_int_eq(hf_namespace_create(d, "orders", &options), HF_EXISTS);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(hf_namespace_create(d, bad[i], &options), HF_INVALID);
    options.retention_days = HF_NAMESPACE_FOR_EVER - 1;
    ck_assert_int_eq(hf_namespace_set(d, "orders", &options), HF_INVALID);
    options = (hf_namespace_opts){.size_ = sizeof(options), .retention_days = 9, .storage = "{}"};
    hf_kit_ok(d, hf_namespace_set(d, "orders", &options));
    ck_assert_int_eq(hf_namespace_set(d, "nowhere", &options), HF_NOTFOUND);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_namespaces(d, hf_mem_of_engine(d), &rows));
    ck_assert_uint_eq(hf_len(rows), 2);
    ck_assert_str_eq(hf_str(rows, "0.name", ""), "default");
    ck_assert_int_eq(hf_int(rows, "0.retention_days", 0), 30);
    ck_assert_str_eq(hf_str(rows, "1.name", ""), "orders");
    ck_assert_str_eq(hf_str(rows, "1.description", ""), "shop");
    ck_assert_int_eq(hf_int(rows, "1.retention_days", 0), 9);
    ck_assert_int_eq(hf_value_kind_of(hf_get(rows, "1.external_payload_storage")), HF_VALUE_OBJECT);
    hf_kit_ok(d, hf_namespace_use(d, "orders"));
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/space", HF_BOTH(ids_are_of_their_namespace),
                 HF_BOTH(recovery_serves_all_namespaces), HF_BOTH(schedules_fire_where_they_are),
                 HF_BOTH(batches_stay_where_they_are), HF_BOTH(workers_see_their_namespace),
                 HF_BOTH(namespaces_are_kept))
