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

    hf_kit_ok(d, hf_poll_begin(d,
                               &(hf_poll_opts){.size_ = sizeof(hf_poll_opts),
                                               .kind = kind,
                                               .queue = "default",
                                               .worker = worker,
                                               .got = take,
                                               .arg = &g},
                               &poll));
    hf_kit_ok(d, hf_test_drain(d));
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

#endif
