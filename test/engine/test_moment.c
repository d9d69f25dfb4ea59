/* A run as it was after an earlier event: what was said of it then, while its rows were there, is
   what history alone says of then. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/kit.h"

typedef struct desk {
    int64_t stamps;
} desk;

static bool stamped(const void *state)
{
    return ((const desk *)state)->stamps > 0;
}

static hf_value stamp(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    ((desk *)state)->stamps++;
    return args;
}

static hf_value charge(hf_act *a, hf_value in)
{
    return hf_attempt(a) == 1 ? hf_retry(a, "busy", "call again later") : in;
}

/* One wait of every kind, one after the other. */
static hf_value order_run(hf_ctx *w, hf_value in)
{
    hf_activity(w, "charge", in, .max_attempts = 3);
    hf_sleep(w, hf_minutes(10));
    (void)hf_receive(w, "go");
    (void)hf_receive(w, "again", .timeout = hf_hours(1));
    (void)hf_wait(w, "stamped", stamped, .timeout = hf_hours(2));
    hf_child(w, "kid", in, .id = "kid-1");
    hf_all(w, HF_ACTIVITY("charge", in, .max_attempts = 3),
           HF_ACTIVITY("charge", NULL, .max_attempts = 2));
    return hf_json(w, "{'done': true}");
}

static const hf_signal_def signals[] = {{"go", ""}, {"again", ""}, {0}};
static const hf_update_def updates[] = {{.name = "stamp", .params = "n:int", .apply = stamp}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order",
                                             .run = order_run,
                                             .state_size = sizeof(desk),
                                             .signals = signals,
                                             .updates = updates},
                                            {.type = "kid", .run = hf_wait_go, .signals = signals},
                                            {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {0}};
static const hf_app app = {.name = "moment", .workflows = workflows, .activities = activities};

enum { SAMPLES_MAX = 32 };

static hf_value page_at(hf_engine *d, hf_mem *mem, int64_t at)
{
    hf_value out = NULL;

    hf_kit_ok(d,
              hf_describe(d, hf_json_(mem, "{'id': 'o', 'at': %lld}", (long long)at), mem, &out));
    return out;
}

/* Pages of the run while it lives. */
typedef struct samples {
    hf_mem *mem;
    hf_value pages[SAMPLES_MAX];
    size_t count;
} samples;

static void sample(samples *s, hf_engine *d)
{
    ck_assert_uint_lt(s->count, SAMPLES_MAX);
    s->pages[s->count++] = page_at(d, s->mem, INT64_MAX);
}

static void same(hf_value now, hf_value then, const char *name)
{
    hf_value a = hf_get(now, name);
    hf_value b = hf_get(then, name);

    ck_assert_msg(hf_value_equal(a, b), "event %lld, %s in state %s: %s then, %s of then",
                  (long long)hf_int(now, "as_of_event", 0), name, hf_str(now, "liveness_state", ""),
                  hf_str(a, "", "another"), hf_str(b, "", "another"));
}

/* What the page said then, and says of then. Only a row has the id of a task. */
static void sample_check(hf_value now, hf_value then)
{
    static const char *const names[] = {
        "status",          "liveness_state",  "liveness_reason",     "wait_kind",
        "wait_reason",     "open_wait_count", "resume_source_kind",  "why.code",
        "why.severity",    "why.subject",     "history_event_count", "history_size_bytes",
        "history_fan_out", "exception_count", "timeline_total"};
    static const char *const ids[] = {"open_wait_id", "resume_source_id", "wait_started_at"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        same(now, then, names[i]);
    if (strcmp(hf_str(now, "wait_kind", ""), "workflow-task") != 0)
        for (size_t i = 0; i < 3; i++)
            same(now, then, ids[i]);
    ck_assert(hf_bool(now, "is_now", false));
    ck_assert(!hf_bool(then, "is_now", true));
    ck_assert_uint_eq(hf_len(hf_get(then, "why.next")), 0);
    ck_assert_int_eq(hf_int(then, "why.as_of_event", 0), hf_int(now, "as_of_event", -1));
    ck_assert_str_eq(hf_str(then, "repair_blocked_reason", ""), "not_now");
    ck_assert(!hf_bool(then, "can_repair", true));
}

static void order_live(hf_engine *d, samples *s)
{
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    sample(s, d); /* its first turn is due */
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* the next attempt is due after a backoff */
    hf_kit_ok(d, hf_test_advance(d, 5000));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a timer */
    hf_kit_ok(d, hf_pause(d, "o", .reason = "audit"));
    sample(s, d);
    hf_kit_ok(d, hf_resume(d, "o"));
    sample(s, d);
    hf_kit_ok(d, hf_test_advance(d, 600000));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a signal */
    hf_kit_ok(d, hf_signal(d, "o", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a signal with a timeout */
    hf_kit_ok(d, hf_test_advance(d, 3600000));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a condition with a timeout */
    hf_kit_ok(d, hf_update(d, "o", "stamp", hf_json(d, "{'n': 1}"), hf_seconds(5), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a child */
    hf_kit_ok(d, hf_signal(d, "kid-1", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    sample(s, d); /* a barrier */
    hf_kit_ok(d, hf_test_advance(d, 120000));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "o"), "completed");
    hf_kit_ok(d, hf_archive(d, "o", .reason = "old"));
}

/* Of every moment at which somebody looked, history alone says what was said then. */
HF_BOTH_ENGINES(what_was_said_then_is_said_of_then)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    samples s = {.mem = hf_mem_new()};

    order_live(d, &s);
    for (size_t i = 0; i < s.count; i++)
        sample_check(s.pages[i], page_at(d, mem, hf_int(s.pages[i], "as_of_event", 0)));
    hf_mem_free(s.mem);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Every event of a life is a moment that can be asked about, within a unit too: nothing is ever
   missing then, and nobody is asked to do anything about it. */
HF_BOTH_ENGINES(every_event_is_a_moment)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    samples s = {.mem = hf_mem_new()};
    int64_t bytes = 0;
    int64_t last;
    bool closed = false;

    order_live(d, &s);
    last = hf_int(page_at(d, s.mem, INT64_MAX), "as_of_event", 0);
    ck_assert_int_gt(last, 30);
    for (int64_t at = 1; at < last; at++) {
        hf_value then = page_at(d, mem, at);
        const char *state = hf_str(then, "liveness_state", "none");

        ck_assert_int_eq(hf_int(then, "as_of_event", 0), at);
        ck_assert_msg(strcmp(state, "repair_needed") != 0 && strcmp(state, "none") != 0,
                      "event %lld: %s", (long long)at, state);
        ck_assert_str_ne(hf_str(then, "why.severity", "attention"), "attention");
        ck_assert_msg(strlen(hf_str(then, "why.text", "")) > 5, "event %lld", (long long)at);
        ck_assert_int_ge(hf_int(then, "history_size_bytes", 0), bytes);
        bytes = hf_int(then, "history_size_bytes", 0);
        ck_assert(!closed || hf_bool(then, "is_terminal", false));
        closed = hf_bool(then, "is_terminal", false);
        ck_assert_int_eq(closed, strcmp(state, "closed") == 0);
        hf_mem_reset(mem);
    }
    ck_assert(closed);
    hf_mem_free(s.mem);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* The result is shown whatever came after it. */
HF_BOTH_ENGINES(the_output_outlives_the_archive)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_mem *mem = hf_mem_new();
    samples s = {.mem = hf_mem_new()};

    order_live(d, &s);
    ck_assert_ptr_nonnull(hf_str(page_at(d, mem, INT64_MAX), "output.blob", NULL));
    ck_assert_ptr_nonnull(hf_str(page_at(d, mem, INT64_MAX), "archived_at", NULL));
    hf_mem_free(s.mem);
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/moment", HF_BOTH(what_was_said_then_is_said_of_then),
                 HF_BOTH(every_event_is_a_moment), HF_BOTH(the_output_outlives_the_archive))
