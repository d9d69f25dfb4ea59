/* test_overview.c: what operators see of many runs at once: points of the ring by the times of
   events, groups of runs in the same plight, and one command for all that a filter finds. */
#include <stdio.h>
#include <string.h>

#include "holdfast/host.h"
#include "holdfast/view.h"
#include "engine/engine_impl.h"
#include "engine/folder.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "project/flow.h"

static hf_value act_refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "declined", "the limit is reached");
}

static hf_value failing(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "refuse", in);
}

static hf_value other_waiter(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", in);
    return hf_receive(w, "go");
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "refuse", .run = act_refuse}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "quick", .run = hf_call_echo},
    {.type = "failing", .run = failing},
    {.type = "waiter", .run = hf_wait_go, .signals = signals},
    {0}};
static const hf_workflow_def changed[] = {
    {.type = "waiter", .run = other_waiter, .signals = signals}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};
static const hf_app app_changed = {.name = "test", .workflows = changed, .activities = activities};

static void started(hf_engine *d, const char *type, const char *prefix, int count)
{
    char id[32];

    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof(id), "%s%d", prefix, i);
        hf_kit_ok(d, hf_start(d, type, NULL, .id = id));
    }
    hf_test_drain(d);
}

static int64_t summed(hf_value points, const char *name)
{
    int64_t sum = 0;

    for (size_t i = 0; i < hf_len(points); i++)
        sum += hf_int(hf_at(points, i), name, 0);
    return sum;
}

static hf_value points_of(hf_engine *d, hf_mem *mem, const char *span)
{
    hf_value answer = NULL;

    hf_kit_ok(d, hf_metrics_points(d, hf_json_(mem, "{'span': %s}", span), mem, &answer));
    return hf_get(answer, "points");
}

/* Minutes and hours hold what happened in them, by the times of events; nothing is counted twice
   when projections are made anew, and what is older than they are kept goes. */
HF_BOTH_ENGINES(points_of_a_ring)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value points;
    hf_value answer = NULL;
    int64_t events;

    started(d, "quick", "a", 3);
    hf_test_advance(d, 61 * 1000);
    started(d, "failing", "b", 2);
    started(d, "waiter", "c", 1);
    hf_kit_ok(d, hf_cancel(d, "c0", "test"));
    hf_test_drain(d);
    points = points_of(d, mem, "minute");
    ck_assert_uint_ge(hf_len(points), 2);
    ck_assert_int_eq(summed(points, "started"), 6);
    ck_assert_int_eq(summed(points, "completed"), 3);
    ck_assert_int_eq(summed(points, "failed"), 2);
    ck_assert_int_eq(summed(points, "failures"), 2);
    ck_assert_int_eq(summed(points, "attempts"), 5);
    ck_assert_int_eq(summed(points, "retries"), 0);
    ck_assert_int_eq(summed(points, "cancelled"), 1);
    ck_assert_int_eq(hf_int(points, "0.started", 0), 3); /* the earliest first */
    events = hf_kit_number(d, "SELECT sum(last_seq) FROM run");
    ck_assert_int_eq(summed(points, "events"), events);
    ck_assert_int_eq(summed(points_of(d, mem, "hour"), "events"), events);
    hf_kit_sql(d, "UPDATE run_summary SET version = 0, settled = 0");
    d = hf_kit_reopen(d, &app); /* which finds them */
    started(d, "quick", "d", 1);
    ck_assert_int_eq(summed(points_of(d, mem, "minute"), "started"), 7);
    hf_test_advance(d, (hf_ms)(HF_FLOW_KEPT_US / 1000) + 3600 * 1000);
    started(d, "quick", "e", 1);
    ck_assert_int_eq(summed(points_of(d, mem, "minute"), "started"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM metric_point"), 2);
    ck_assert_int_eq(hf_metrics_points(d, hf_json_(mem, "{'span': 'day'}"), mem, &answer),
                     HF_INVALID);
    ck_assert_int_eq(hf_metrics_points(d, hf_json_(mem, "{'limit': 20000}"), mem, &answer),
                     HF_INVALID);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* Percentiles are nearest ranks of how long runs were open, in the step in which they closed and
   for each type; what is open, or closed at another time, or is of another namespace does not
   count. */
HF_BOTH_ENGINES(durations_by_step_and_type)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    int64_t from_us = hf_core_now(d->core);
    hf_value answer = NULL;
    hf_value request;

    started(d, "waiter", "w", 10);
    for (int i = 0; i < 10; i++) { /* they are open for 1 to 10 s */
        char id[8];

        (void)snprintf(id, sizeof(id), "w%d", i);
        hf_kit_skip(d, hf_seconds(1));
        hf_kit_ok(d, hf_signal(d, id, "go", NULL));
        hf_test_drain(d);
    }
    hf_test_advance(d, hf_minutes(1));
    started(d, "failing", "f", 2);
    started(d, "waiter", "open", 1);
    hf_test_advance(d, 1000);
    hf_kit_ok(d, hf_namespace_create(d, "other",
                                     &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}));
    hf_kit_ok(d, hf_namespace_use(d, "other"));
    started(d, "quick", "o", 4);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    request = hf_json_(mem, "{'from_us': %lld, 'to_us': %lld, 'points': 4}", (long long)from_us,
                       (long long)from_us + 120000000);
    hf_kit_ok(d, hf_durations(d, request, mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "points")), 2);
    ck_assert_int_eq(hf_int(answer, "points.0.closed", 0), 10);
    ck_assert_int_eq(hf_int(answer, "points.0.p50_ms", 0) / 1000, 5);
    ck_assert_int_eq(hf_int(answer, "points.0.p95_ms", 0) / 1000, 10);
    ck_assert_int_eq(hf_int(answer, "points.0.p99_ms", 0) / 1000, 10);
    ck_assert_int_eq(hf_int(answer, "points.1.closed", 0), 2);
    ck_assert_uint_eq(hf_len(hf_get(answer, "types")), 2);
    ck_assert_str_eq(hf_str(answer, "types.0.workflow_type", ""), "waiter");
    ck_assert_int_eq(hf_int(answer, "types.0.completed", 0), 10);
    ck_assert_int_eq(hf_int(answer, "types.0.p50_ms", 0) / 1000, 5);
    ck_assert_str_eq(hf_str(answer, "types.1.workflow_type", ""), "failing");
    ck_assert_int_eq(hf_int(answer, "types.1.failed", 0), 2);
    ck_assert_int_eq(hf_int(answer, "looked_at", 0), 13);
    ck_assert(hf_bool(answer, "exact", false));
    request =
        hf_json_(mem, "{'from_us': %lld, 'to_us': %lld}", (long long)from_us, (long long)from_us);
    ck_assert_int_eq(hf_durations(d, request, mem, &answer), HF_INVALID);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* Runs that other code blocks are one group, those that nobody serves another; a healthy store has
   none. */
HF_BOTH_ENGINES(attention_in_groups)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value answer = NULL;

    started(d, "waiter", "a", 7);
    hf_kit_ok(d, hf_attention(d, NULL, mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 0);
    ck_assert_int_eq(hf_int(answer, "looked_at", 0), 7);
    d = hf_kit_reopen(d, &app_changed);
    for (int i = 0; i < 7; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "a%d", i);
        hf_kit_ok(d, hf_signal(d, id, "go", NULL));
    }
    hf_test_drain(d);
    hf_kit_ok(d, hf_attention(d, NULL, mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 1);
    ck_assert_int_eq(hf_int(answer, "groups.0.count", 0), 7);
    ck_assert_str_eq(hf_str(answer, "groups.0.workflow_type", ""), "waiter");
    ck_assert_uint_eq(strlen(hf_str(answer, "groups.0.signature", "")), 16);
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups.0.runs")), 5);
    ck_assert(hf_bool(answer, "exact", false));
    ck_assert_str_eq(hf_str(answer, "groups.0.queue", ""), "default");
    hf_kit_sql(d, "UPDATE run SET queue = 'slow' WHERE key = (SELECT min(key) FROM run)");
    hf_kit_ok(d, hf_attention(d, NULL, mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 2); /* another queue, another plight */
    ck_assert_int_eq(hf_int(answer, "groups.0.count", 0) + hf_int(answer, "groups.1.count", 0), 7);
    hf_kit_sql(d, "UPDATE run SET queue = 'default' WHERE queue = 'slow'");
    ck_assert_int_eq(hf_attention(d, hf_json_(mem, "{'limit': 0}"), mem, &answer), HF_INVALID);
    ck_assert_int_eq(hf_attention(d, hf_json_(mem, "{'samples': 1001}"), mem, &answer), HF_INVALID);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* What has needed a person for longest comes first, however many runs others have; behind it, and
   only for those who ask, what passes by itself. One group can be asked for, with all its runs. */
HF_BOTH_ENGINES(attention_is_in_order)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value answer = NULL;
    char signature[32];

    started(d, "waiter", "p", 3);
    for (int i = 0; i < 3; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "p%d", i);
        hf_kit_ok(d, hf_pause(d, id, .reason = "counted"));
    }
    hf_kit_ok(d, hf_start(d, "quick", NULL, .id = "old"));
    hf_kit_skip(d, hf_minutes(5));
    for (int i = 0; i < 7; i++) {
        char id[8];

        (void)snprintf(id, sizeof(id), "new%d", i);
        hf_kit_ok(d, hf_start(d, "failing", NULL, .id = id));
    }
    d = hf_kit_reopen(d, &app_changed); /* which has neither */
    hf_test_drain(d);
    hf_kit_ok(d, hf_attention(d, NULL, mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 2);
    ck_assert_str_eq(hf_str(answer, "groups.0.workflow_type", ""), "quick");
    ck_assert_str_eq(hf_str(answer, "groups.0.severity", ""), "attention");
    ck_assert_int_eq(hf_int(answer, "groups.1.count", 0), 7);
    hf_kit_ok(d, hf_attention(d, hf_json_(mem, "{'notices': true}"), mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 3);
    ck_assert_str_eq(hf_str(answer, "groups.2.code", ""), "paused"); /* though it is the oldest */
    ck_assert_str_eq(hf_str(answer, "groups.2.severity", ""), "notice");
    ck_assert_int_eq(hf_int(answer, "groups.2.count", 0), 3);
    (void)snprintf(signature, sizeof(signature), "%s", hf_str(answer, "groups.1.signature", ""));
    hf_kit_ok(d, hf_attention(d, hf_json_(mem, "{'signature': %s, 'samples': 1000}", signature),
                              mem, &answer));
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups")), 1);
    ck_assert_uint_eq(hf_len(hf_get(answer, "groups.0.runs")), 7);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* A dry run over a filter says what would happen; the batch itself takes the current runs that
   match, and a filter that cannot be, finds nothing, or comes with ids is refused. */
HF_BOTH_ENGINES(batches_over_a_filter)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    hf_value b = NULL;

    started(d, "waiter", "w", 3);
    started(d, "quick", "q", 2);
    hf_kit_ok(d, hf_batch_start(d,
                                hf_json_(mem, "{'command': 'cancel', 'dry_run': true, 'filters': "
                                              "{'workflow_type': 'waiter'}}"),
                                mem, &b));
    hf_test_drain(d);
    hf_kit_ok(d, hf_batch_show(d, hf_str(b, "batch_id", ""), mem, &b));
    ck_assert_int_eq(hf_int(b, "total", 0), 3);
    ck_assert_int_eq(hf_int(b, "would_apply", 0), 3);
    ck_assert_str_eq(hf_test_status(d, "w0"), "waiting signal:go");
    hf_kit_ok(d, hf_batch_start(d,
                                hf_json_(mem, "{'command': 'cancel', 'bucket': 'running', "
                                              "'filters': {'instance_id_contains': 'w'}}"),
                                mem, &b));
    hf_test_drain(d);
    hf_kit_ok(d, hf_batch_show(d, hf_str(b, "batch_id", ""), mem, &b));
    ck_assert_int_eq(hf_int(b, "accepted", 0), 3);
    ck_assert_str_eq(hf_test_status(d, "w2"), "cancelled");
    ck_assert_int_eq(
        hf_batch_start(d, hf_json_(mem, "{'command': 'cancel', 'filters': {'colour': 'red'}}"), mem,
                       &b),
        HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "colour"));
    ck_assert_int_eq(
        hf_batch_start(d, hf_json_(mem, "{'command': 'cancel', 'filters': {'status': 'running'}}"),
                       mem, &b),
        HF_NOTFOUND);
    ck_assert_int_eq(hf_batch_start(d,
                                    hf_json_(mem, "{'command': 'cancel', 'filters': {}, "
                                                  "'workflow_ids': ['w1']}"),
                                    mem, &b),
                     HF_INVALID);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* A folder of another node that comes in between what this one read and what it writes. */
typedef struct rival {
    hf_engine *engine;
    hf_folder *other; /* NULL: the rival itself */
    bool again;       /* the answer of its commit is lost, and it writes once more */
} rival;

static hf_status rival_commit(void *ctx, hf_unit *unit, hf_err *err)
{
    rival *r = ctx;
    hf_status st;

    if (r->other)
        ck_assert(hf_folder_step(r->other));
    st = hf_engine_commit(r->engine, unit, err);
    if (!st && r->again)
        st = hf_engine_commit(r->engine, unit, err);
    return st;
}

static hf_folder *rival_open(rival *r)
{
    const hf_folder_options options = {.store = r->engine->store,
                                       .db = hf_store_writer(r->engine->store),
                                       .commit = rival_commit,
                                       .ctx = r};
    hf_folder *folder = NULL;
    hf_err err = {0};

    hf_test_ok(hf_folder_open(&options, &folder, &err), &err, "open a folder");
    return folder;
}

/* Two folders, as two nodes have them, read the same events before either writes, and one of them
   writes its rows twice: every event is in the points once, and what a folder of a third node adds
   later is too. */
HF_BOTH_ENGINES(points_count_every_event_once)
{
    const char *events = "SELECT sum(events) FROM metric_point WHERE span_us = 60000000";
    hf_engine *d = hf_kit_open(kind, &app);
    rival last = {.engine = d, .again = true};
    hf_folder *other = rival_open(&last);
    rival first = {.engine = d, .other = other};
    hf_folder *folder = rival_open(&first);
    int64_t run;

    started(d, "waiter", "w", 1);
    run = hf_kit_number(d, "SELECT max(key) FROM run");
    hf_kit_ok(d, hf_signal(d, "w0", "go", NULL));
    hf_folder_want(folder, run);
    hf_folder_want(other, run);
    ck_assert(hf_folder_step(folder));
    ck_assert_int_eq(hf_kit_number(d, events),
                     hf_kit_number(d, "SELECT sum(folded_seq) FROM run_summary"));
    hf_test_drain(d);
    ck_assert_str_eq(hf_test_status(d, "w0"), "completed");
    ck_assert_int_eq(hf_kit_number(d, events), hf_kit_number(d, "SELECT sum(last_seq) FROM run"));
    ck_assert_int_eq(
        hf_kit_number(d, "SELECT sum(completed) FROM metric_point WHERE span_us = 60000000"), 1);
    hf_folder_close(folder);
    hf_folder_close(other);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/overview", HF_BOTH(points_count_every_event_once),
                 HF_BOTH(points_of_a_ring), HF_BOTH(durations_by_step_and_type),
                 HF_BOTH(attention_in_groups), HF_BOTH(attention_is_in_order),
                 HF_BOTH(batches_over_a_filter))
