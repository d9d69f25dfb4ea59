/* Processes that die of the code they run. A child process opens the store, works until its code
   kills it, and is gone; after crash_limit times the code is not run again. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/activity_call.h"
#include "lib/handlers.h"

/* Kills its process. */
static hf_value murder(hf_act *a, hf_value in)
{
    (void)a;
    (void)in;
    (void)raise(SIGKILL);
    return NULL;
}

static hf_value suicide(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_activity(w, "echo", NULL);
    (void)raise(SIGKILL);
    return NULL;
}

/* Deeper than any stack; the depth comes from outside so that no compiler makes a loop of it. */
static int64_t deeper(volatile int64_t depth)
{
    volatile char frame[256];

    frame[0] = (char)depth;
    return depth == 0 ? frame[0] : deeper(depth - 1) + frame[0];
}

static hf_value deep(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", NULL);
    return hf_json(w, "%lld", (long long)deeper(hf_int(in, "depth", INT64_C(1) << 40)));
}

static const hf_workflow_def workflows[] = {{.type = "call", .run = call},
                                            {.type = "suicide", .run = suicide},
                                            {.type = "deep", .run = deep},
                                            {0}};
static const hf_activity_def activities[] = {
    {.name = "echo", .run = hf_echo}, {.name = "murder", .run = murder}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static int worker_run(const hf_test_place *place, const char *type, const char *id)
{
    const char *address = hf_test_place_address(place);
    pid_t child = fork();
    int status = 0;
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (hf_open(address, &app, &d))
            _exit(3);
        (void)!hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "bystander");
        (void)!hf_start(d, type, hf_json(d, "{'activity': 'murder', 'max': 1}"), .id = id);
        _exit(hf_result(d, id, hf_seconds(20), &out, &e) == HF_TIMEOUT ? 4 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    hf_test_place_leases_end(place);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* An activity that kills its process five times fails as quarantined; the limit of attempts was
   not what ended it. */
HF_BOTH_ENGINES(crashing_activity_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(worker_run(place, "call", "a"), -SIGKILL);
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_result(d, "a", hf_seconds(20), &out, &e));
    ck_assert_str_eq(hf_str(out, "error", ""), "quarantined");
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityStarted"), 5);
    hf_kit_ok(d, hf_result(d, "bystander", hf_seconds(20), &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}

/* Workflow code that kills its process five times is put aside with an event; the rest works on. */
HF_BOTH_ENGINES(crashing_workflow_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(worker_run(place, "suicide", "a"), -SIGKILL);
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "other"));
    hf_kit_ok(d, hf_result(d, "other", hf_seconds(20), &out, &e));
    ck_assert_int_eq(hf_result(d, "a", 200, &out, &e), HF_TIMEOUT);
    ck_assert_int_eq(hf_test_count(d, "a", "RunQuarantined"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE blocked = 2"), 1);
    hf_kit_ok(d, hf_terminate(d, "a", "broken"));
    ck_assert_int_eq(hf_result(d, "a", hf_seconds(20), &out, &e), HF_CANCELLED);
    hf_close(d);
    hf_test_place_free(place);
}

/* Code that overflows its stack runs into the guard page behind it: the process dies before it
   writes over anything, and after five times the run is put aside. A sanitizer reports the overflow
   and ends the process itself. */
HF_BOTH_ENGINES(stack_overflow_is_quarantined)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(setenv("XDG_STATE_HOME", hf_test_place_folder(place), 1), 0);
    for (int i = 0; i < 5; i++) {
        int end = worker_run(place, "deep", "a");

        ck_assert_msg(end < 0 || end == 1, "the process ended with %d", end);
    }
    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "call", hf_json(d, "{'activity': 'echo'}"), .id = "other"));
    hf_kit_ok(d, hf_result(d, "other", hf_seconds(20), &out, &e));
    ck_assert_int_eq(hf_result(d, "a", 200, &out, &e), HF_TIMEOUT);
    ck_assert_int_eq(hf_test_count(d, "a", "RunQuarantined"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE blocked = 2"), 1);
    hf_kit_ok(d, hf_result(d, "bystander", hf_seconds(20), &out, &e));
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/quarantine", HF_BOTH_SLOW(crashing_activity_is_quarantined, 120),
                 HF_BOTH_SLOW(crashing_workflow_is_quarantined, 120),
                 HF_BOTH_SLOW(stack_overflow_is_quarantined, 120))
