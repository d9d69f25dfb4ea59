/* poll_now.h: the hands of workers in tests that hold a run's code and activity themselves. */
#ifndef HF_TEST_ENGINE_POLL_NOW_H
#define HF_TEST_ENGINE_POLL_NOW_H

#include <stdio.h>
#include <string.h>

#include "holdfast/worker.h"
#include "lib/kit.h"

enum { JSON_MAX = 4096 };

typedef struct got {
    bool called;
    char json[JSON_MAX];
} got;

static bool take(void *arg, hf_value task)
{
    got *g = arg;
    hf_mem *mem = hf_mem_new();

    g->called = task != NULL;
    (void)snprintf(g->json, sizeof(g->json), "%s", task ? hf_text(mem, task) : "");
    hf_mem_free(mem);
    return true;
}

/* The task of that kind that is there now; NULL: none is. */
static hf_value poll_now(hf_engine *d, hf_task_kind kind, const char *worker)
{
    got g = {0};
    hf_poll *poll = NULL;

    poll = hf_kit_poll(d, kind, worker, take, &g);
    hf_kit_ok(d, hf_test_advance(d, 0));
    (void)hf_poll_end(poll);
    return g.called ? hf_parse_(hf_mem_of_engine(d), g.json, strlen(g.json)) : NULL;
}

/* Answers the workflow task if there is one; what is not there was not lost. */
static hf_status code_answers(hf_engine *d, hf_value commands)
{
    hf_value task = poll_now(d, HF_TASK_WORKFLOW, "coder");
    hf_value errors = NULL;
    hf_task_claim claim;

    if (!task)
        return HF_OK;
    claim = (hf_task_claim){.size_ = sizeof(claim),
                            .task_id = hf_str(task, "task_id", ""),
                            .worker = "coder",
                            .attempt = hf_int(task, "workflow_task_attempt", 0)};
    return hf_task_answer(d, &claim, commands, hf_mem_of_engine(d), &errors);
}

/* ---- what can happen to a run */

typedef enum deed {
    CANCEL,
    TERMINATE,
    RESET,
    DELIVER,
    COMMANDS, /* those above: any node takes them */
    COMPLETE = COMMANDS,
    TIME_OUT,
    CONTINUE,
    CORE_DEEDS,
    FAIL = CORE_DEEDS,
    PARK,
    HEARTBEAT,
    RECLAIM,
    DEEDS
} deed;

static const char *const deed_names[] = {"cancel",   "terminate", "reset",    "deliver",
                                         "complete", "timeout",   "continue", "fail",
                                         "park",     "heartbeat", "reclaim"};

/* A run, and who holds its activity. */
typedef struct holding {
    char id[64];
    char task_id[32]; /* the activity */
    char worker[16];
    int64_t attempt;
} holding;

static bool activity_take(hf_engine *d, holding *h, const char *worker)
{
    hf_value task = poll_now(d, HF_TASK_ACTIVITY, worker);

    if (!task)
        return false;
    (void)snprintf(h->task_id, sizeof(h->task_id), "%s", hf_str(task, "task_id", ""));
    (void)snprintf(h->worker, sizeof(h->worker), "%s", worker);
    h->attempt = hf_int(task, "attempt_number", 0);
    return true;
}

/* How time passes. */
typedef hf_status pass_fn(hf_engine *d, hf_ms by);

static hf_status deed_do(hf_engine *d, const holding *h, deed what, pass_fn *pass)
{
    const hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = h->task_id, .worker = h->worker, .attempt = h->attempt};
    holding other = *h;

    switch (what) {
    case DELIVER:
        return hf_signal(d, h->id, "go", hf_json(d, "[1]"));
    case PARK:
        return code_answers(d, hf_json(d, "[{'type': 'open_signal_wait', 'signal_name': 'go'}]"));
    case COMPLETE:
        return hf_task_result(d, &claim, hf_json(d, "1"));
    case FAIL:
        return hf_task_failure(d, &claim, false, "broken", "it broke", NULL);
    case HEARTBEAT:
        return hf_task_beat(d, &claim, hf_json(d, "{'current': 1}"));
    case CANCEL:
        return hf_cancel(d, h->id, "pair");
    case TERMINATE:
        return hf_terminate(d, h->id, "pair");
    case TIME_OUT:
        return pass(d, hf_hours(2));
    case RECLAIM: /* whoever had it is lost; another takes it, and the first may still report */
        hf_kit_ok(d, pass(d, hf_minutes(6)));
        (void)activity_take(d, &other, "heir");
        return HF_OK;
    case CONTINUE:
        return code_answers(d, hf_json(d, "[{'type': 'continue_as_new', 'arguments': []}]"));
    case RESET:
        return hf_reset_with(d, h->id, NULL);
    case DEEDS:
        break;
    }
    return HF_MISUSE;
}

#endif
