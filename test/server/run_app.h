/* run_app.h: an application whose runs have something of everything that a page of one run shows:
   retries, barriers, timers, children, notes, big and hostile values, thousands of events, and a
   step machine. */
#ifndef HF_TEST_SERVER_RUN_APP_H
#define HF_TEST_SERVER_RUN_APP_H

#include <string.h>

#include "base/value.h"
#include "holdfast/holdfast.h"
#include "lib/handlers.h"

enum { RUN_APP_BIG = 40000, RUN_APP_LONG = 5000 };

static hf_value run_app_flaky(hf_act *a, hf_value in)
{
    if (hf_attempt(a) == 1)
        return hf_retry(a, "busy", "call <b>again</b> later");
    return hf_heartbeat(a, .message = "half", .current = 1, .total = 2) ? in : NULL;
}

static hf_value run_app_big(hf_act *a, hf_value in)
{
    char text[RUN_APP_BIG];

    (void)in;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + RUN_APP_BIG / 2, "needle", 6);
    return hf_json(a, "{'text': %s, 'whole': 9007199254740993}", text);
}

static const hf_ms run_app_pause[] = {1};

/* Two activities at once, a big value, a timer, a child, then it waits for "paid". */
static hf_value run_app_order(hf_ctx *w, hf_value in)
{
    hf_value big;

    hf_note(w, "checking the stock");
    hf_memo(w, hf_json(w, "{'shop': 'south'}"));
    hf_all(w, HF_ACTIVITY("flaky", in, .max_attempts = 3, .backoff = run_app_pause, .backoff_n = 1),
           HF_ACTIVITY("echo", in));
    big = hf_activity(w, "big", NULL);
    (void)hf_activity(w, "echo", big);
    hf_sleep(w, 1);
    (void)hf_child(w, "parcel", in);
    return hf_receive(w, "paid");
}

static hf_value run_app_number(hf_mem *mem, void *arg)
{
    return hf_value_int(mem, *(const int *)arg);
}

/* More than 5,000 events in a few turns, then it waits for "go". */
static hf_value run_app_long(hf_ctx *w, hf_value in)
{
    for (int i = 0; i < RUN_APP_LONG; i++) {
        (void)hf_side_effect(w, i % 100 ? NULL : "hundred", run_app_number, &i);
        if (i % 900 == 899)
            hf_sleep(w, 1);
    }
    (void)hf_receive(w, "go");
    return in;
}

static hf_outcome run_app_begin(hf_step *s)
{
    return hf_park(s, "answer", HF_NO_TIMEOUT, "end", hf_json(s, "{'asked': 1}"));
}

static hf_outcome run_app_end(hf_step *s)
{
    return hf_done(s, hf_step_signal(s));
}

static const hf_app run_app = {
    .name = "runs",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "order",
             .run = run_app_order,
             .signals = (const hf_signal_def[]){{"paid", "amount:int"}, {0}},
             .updates = (const hf_update_def[]){{"add", NULL, hf_update_echo, NULL}, {0}},
             .queries = (const hf_query_def[]){{"state", NULL, hf_query_open}, {0}}},
            {.type = "parcel", .run = hf_end_now},
            {.type = "long",
             .run = run_app_long,
             .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
            {0}},
    .machines =
        (const hf_machine_def[]){
            {.type = "asker",
             .initial = "begin",
             .steps = (const hf_step_def[]){{"begin", run_app_begin}, {"end", run_app_end}, {0}},
             .signals = (const hf_signal_def[]){{"answer", NULL}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){{.name = "echo", .run = hf_echo},
                                            {.name = "flaky", .run = run_app_flaky},
                                            {.name = "big", .run = run_app_big},
                                            {0}}};

#endif
