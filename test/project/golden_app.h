/* golden_app.h: the workflows behind test/replay/golden. A golden history is replayed with this
   code for as long as Holdfast exists, so nothing here changes; what is new is a new workflow with
   a new type, a new scenario and a new file. */
#ifndef HF_TEST_PROJECT_GOLDEN_APP_H
#define HF_TEST_PROJECT_GOLDEN_APP_H

#include <stdbool.h>
#include <string.h>

#include "holdfast/holdfast.h"

/* ---- activities */

static hf_value golden_echo(hf_act *a, hf_value in)
{
    (void)a;
    return in;
}

static hf_value golden_flaky(hf_act *a, hf_value in)
{
    (void)in;
    if (hf_attempt(a) < 3)
        return hf_retry(a, "gateway_timeout", "attempt %d", hf_attempt(a));
    return hf_json(a, "{'attempt': %d}", hf_attempt(a));
}

static hf_value golden_refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "card_declined", "the limit is reached");
}

/* ---- workflows */

/* Retries, a failure that is handled, compensation of what was done before. */
static hf_value golden_order(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;
    hf_value charged;

    hf_activity(w, "echo", hf_json(w, "{'reserve': %s}", hf_str(in, "sku", "?")));
    hf_compensate(w, "echo", hf_json(w, "'release'"));
    charged = hf_activity(w, "flaky", in, .max_attempts = 5);
    hf_activity(w, "refuse", in, .err = &e);
    if (e && hf_bool(in, "strict", false))
        hf_fail(w, "order_refused", e->message);
    hf_compensated(w);
    return hf_json(w, "{'charged': %p, 'refused': %s}", (void *)charged, e ? e->type : "no");
}

typedef struct golden_papers {
    bool complete;
} golden_papers;

static bool golden_complete(const void *state)
{
    return ((const golden_papers *)state)->complete;
}

static hf_value golden_upload(hf_ctx *w, void *state, hf_value args)
{
    ((golden_papers *)state)->complete = hf_bool(args, "complete", true);
    return hf_json(w, "{'complete': %d}", ((golden_papers *)state)->complete);
}

/* A condition met by an update, then a signal with a timeout. */
static hf_value golden_approval(hf_ctx *w, hf_value in)
{
    hf_value who;

    if (!hf_wait(w, "papers.complete", golden_complete, .timeout = hf_days(2)))
        hf_fail(w, "papers_missing", "nothing was uploaded");
    who = hf_receive(w, "approved-by", .timeout = hf_hours(8));
    return hf_json(w, "{'by': %s, 'limit': %lld}", who ? hf_str(who, "name", "?") : "nobody",
                   (long long)hf_int(in, "limit", 0));
}

/* A barrier with a nested one, then futures, then a sleep and a child. */
static hf_value golden_fanout(hf_ctx *w, hf_value in)
{
    hf_value all = hf_all(w, HF_ACTIVITY("echo", hf_json(w, "1")),
                          HF_ALL(HF_ACTIVITY("echo", hf_json(w, "2")),
                                 HF_ACTIVITY("echo", hf_json(w, "'th\xc3\xa9'"))));
    hf_future f[3];
    hf_value joined;

    for (int i = 0; i < 3; i++)
        f[i] = hf_spawn_activity(w, "echo", hf_json(w, "%d", i));
    joined = hf_join_all(w, f, 3);
    hf_sleep(w, hf_days(2));
    return hf_json(w, "[%p, %p, %p]", (void *)all, (void *)joined,
                   (void *)hf_child(w, "golden-leaf", in));
}

static hf_value golden_leaf(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "echo", in);
}

static hf_value golden_draw(hf_mem *m, void *arg)
{
    (void)arg;
    return hf_json(m, "{'drawn': 0.5, 'big': 9007199254740993}");
}

/* Marks of every kind: side effect, version, memo, search attributes, randomness. */
static hf_value golden_marks(hf_ctx *w, hf_value in)
{
    hf_value drawn = hf_side_effect(w, "draw", golden_draw, NULL);
    int version = hf_version(w, "tax", HF_VERSION_DEFAULT, 2);
    unsigned low = (unsigned)(hf_random(w) & 0xff);

    (void)in;
    hf_memo(w, hf_json(w, "{'note': 'first', 'gone': 1}"));
    hf_memo(w, hf_json(w, "{'gone': null}"));
    hf_search_attributes(w, hf_json(w, "{'city': 'Oslo'}"));
    return hf_json(w, "{'drawn': %p, 'version': %d, 'low': %u}", (void *)drawn, version, low);
}

static hf_value golden_countdown(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 0);

    hf_activity(w, "echo", in);
    if (n > 0)
        hf_continue_as_new(w, hf_json(w, "{'n': %lld}", (long long)n - 1));
    return hf_json(w, "'liftoff'");
}

static const hf_workflow_def golden_workflows[] = {
    {.type = "golden-order", .run = golden_order},
    {.type = "golden-approval",
     .run = golden_approval,
     .state_size = sizeof(golden_papers),
     .params = "limit:int=100",
     .signals = (const hf_signal_def[]){{"approved-by", "name:string"}, {0}},
     .updates =
         (const hf_update_def[]){{"upload", "complete:bool=true", golden_upload, NULL}, {0}}},
    {.type = "golden-fanout", .run = golden_fanout},
    {.type = "golden-leaf", .run = golden_leaf},
    {.type = "golden-marks", .run = golden_marks},
    {.type = "golden-countdown", .run = golden_countdown},
    {0}};
static const hf_activity_def golden_activities[] = {{.name = "echo", .run = golden_echo},
                                                    {.name = "flaky", .run = golden_flaky},
                                                    {.name = "refuse", .run = golden_refuse},
                                                    {0}};
static const hf_app golden_app = {
    .name = "golden", .workflows = golden_workflows, .activities = golden_activities};

/* ---- scenarios: each leaves a run called "g" behind */

static hf_status golden_do_order(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-order", hf_json(d, "{'sku': 'A-1'}"), .id = "g",
                            .business_key = "order-1");

    return st ? st : hf_test_advance(d, hf_minutes(1));
}

static hf_status golden_do_compensated(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-order", hf_json(d, "{'sku': 'A-1', 'strict': true}"),
                            .id = "g", .run_timeout = hf_hours(1));

    return st ? st : hf_test_advance(d, hf_minutes(1));
}

static hf_status golden_do_approval(hf_engine *d)
{
    hf_value out = NULL;
    hf_status st = hf_start(d, "golden-approval", hf_json(d, "{'limit': 7}"), .id = "g");

    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_update(d, "g", "upload", NULL, hf_seconds(1), &out);
    if (!st)
        st = hf_test_advance(d, hf_hours(1));
    if (!st)
        st = hf_signal(d, "g", "approved-by", hf_json(d, "{'name': 'Ada'}"));
    return st ? st : hf_test_drain(d);
}

/* The signals come before anybody waits for them: what the run waits for until then, an update, is
   accepted first and not applied yet. */
static hf_status golden_do_early_signal(hf_engine *d)
{
    hf_command_result sent;
    hf_status st = hf_start(d, "golden-approval", NULL, .id = "g");

    if (!st)
        st = hf_command(d, "update",
                        hf_json(d, "{'workflow_id': 'g', 'name': 'upload', 'wait_for': "
                                   "'accepted'}"),
                        hf_mem_of_engine(d), &sent);
    if (!st)
        st = hf_signal(d, "g", "approved-by", hf_json(d, "{'name': 'Bob'}"));
    if (!st)
        st = hf_signal(d, "g", "approved-by", hf_json(d, "{'name': 'Eve'}"));
    return st ? st : hf_test_drain(d);
}

static hf_status golden_do_timeout(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-approval", NULL, .id = "g");

    return st ? st : hf_test_advance(d, hf_days(3));
}

static hf_status golden_do_open(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-approval", NULL, .id = "g");

    return st ? st : hf_test_drain(d);
}

static hf_status golden_do_cancelled(hf_engine *d)
{
    hf_status st = golden_do_open(d);

    if (!st)
        st = hf_cancel(d, "g", "no longer wanted");
    return st ? st : hf_test_drain(d);
}

static hf_status golden_do_fanout(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-fanout", hf_json(d, "{'deep': [1, 2.5, null]}"), .id = "g");

    return st ? st : hf_test_advance(d, hf_days(3));
}

static hf_status golden_do_marks(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-marks", NULL, .id = "g");

    return st ? st : hf_test_drain(d);
}

static hf_status golden_do_countdown(hf_engine *d)
{
    hf_status st = hf_start(d, "golden-countdown", hf_json(d, "{'n': 1}"), .id = "g");

    return st ? st : hf_test_drain(d);
}

typedef struct golden_scenario {
    const char *name; /* of the file, without .json */
    hf_status (*run)(hf_engine *d);
} golden_scenario;

static const golden_scenario golden_scenarios[] = {
    {"order", golden_do_order},         {"compensated", golden_do_compensated},
    {"approval", golden_do_approval},   {"early-signal", golden_do_early_signal},
    {"timeout", golden_do_timeout},     {"open", golden_do_open},
    {"cancelled", golden_do_cancelled}, {"fanout", golden_do_fanout},
    {"marks", golden_do_marks},         {"countdown", golden_do_countdown},
    {"order-0.1.0", golden_do_order},   {"approval-0.1.0", golden_do_approval},
};
enum { GOLDEN_SCENARIOS = sizeof(golden_scenarios) / sizeof(golden_scenarios[0]) };

#endif
