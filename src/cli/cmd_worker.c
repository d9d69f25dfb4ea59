/* cmd_worker.c: the verb worker: a worker program that is looked after, or any program as an
   activity over the worker protocol. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/thread.h"
#include "base/value.h"
#include "cli/keeper.h"
#include "cli/stop.h"
#include "cli/target.h"
#include "cli/task_run.h"
#include "client/client.h"
#include "server/payload.h"

enum { LOOK_MS = 100, GRACE_MS = 10000, POLL_S = 20, AGAIN_MS = 1000, NAME_BYTES = 64 };

/* ---- a worker program */

static hf_status program_run(hf_cli_call *call, hf_err *err)
{
    const char *token = NULL;
    char **argv = hf_mem_array(call->mem, call->word_count + 1, sizeof(*argv));
    hf_keeper *keeper = NULL;
    hf_cli_stop old;
    hf_log log;
    hf_status st = hf_cli_target_token(call, &token, err);

    for (size_t i = 0; argv && i < call->word_count; i++)
        argv[i] = hf_mem_text(call->mem, hf_slice_of(call->words[i]));
    if (!st && (!argv || !argv[0]))
        st = hf_err_nomem(err, "a worker");
    if (!st)
        st = hf_cli_stop_catch(&old, err);
    if (st)
        return st;
    hf_log_init_fd(&log, HF_LOG_INFO, hf_clock_system(), fileno(call->print.err));
    st = hf_keeper_start(argv, call->store, token, &log, &keeper, err);
    while (!st && !hf_cli_stop_wait(LOOK_MS))
        hf_keeper_look(keeper);
    hf_keeper_stop(keeper, GRACE_MS);
    hf_cli_stop_release(&old);
    return st;
}

/* ---- any program as an activity */

typedef struct exec_job {
    hf_cli_call *call;
    hf_cli_target *polls;   /* asked for tasks; stopped when it is time */
    hf_cli_target *reports; /* told what became of them */
    const char *activity;
    char **argv;
    char worker[NAME_BYTES];
    hf_thread stopper;
    hf_value task;
    hf_mem *mem; /* of one task */
} exec_job;

/* Waits for the signal and ends the poll that is under way. */
static void stopper_run(void *ctx)
{
    exec_job *job = ctx;

    (void)hf_cli_stop_wait(-1);
    hf_cli_target_stop(job->polls);
}

static hf_status exec_register(exec_job *job, hf_err *err)
{
    const char *queue = job->call->flags[HF_CLI_FLAG_QUEUE];
    hf_value body;

    return hf_cli_target_ask(
        job->reports, "POST", "/api/worker/register",
        hf_json_(job->mem,
                 "{'worker_id': %s, 'task_queue': %s, 'runtime': 'exec', 'sdk_version': "
                 "'holdfast/%s', 'supported_activity_types': [%s], 'supported_workflow_types': [], "
                 "'active_slots': 0}",
                 job->worker, queue ? queue : "default", HF_VERSION_TEXT, job->activity),
        job->mem, &body, err);
}

/* The next task, or NULL when there was none in time. */
static hf_status exec_poll(exec_job *job, hf_err *err)
{
    const char *queue = job->call->flags[HF_CLI_FLAG_QUEUE];
    hf_value body = NULL;
    hf_status st = hf_cli_target_ask(
        job->polls, "POST", "/api/worker/activity-tasks/poll",
        hf_json_(job->mem,
                 "{'worker_id': %s, 'task_queue': %s, 'timeout_seconds': %d, 'payload_codec': "
                 "'json'}",
                 job->worker, queue ? queue : "default", POLL_S),
        job->mem, &body, err);

    job->task = hf_get(body, "task");
    if (hf_value_kind_of(job->task) == HF_VALUE_NULL)
        job->task = NULL;
    return st;
}

static hf_status exec_tell(exec_job *job, const char *what, hf_value_list *body, hf_value *out,
                           hf_err *err)
{
    static const char *const kept[] = {"lease_owner", "activity_attempt_id"};

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        hf_value_set(body, hf_slice_of(kept[i]), hf_get(job->task, kept[i]));
    return hf_cli_target_ask(job->reports, "POST",
                             hf_client_path(job->mem, "/api/worker/activity-tasks/%s/%s",
                                            hf_str(job->task, "task_id", ""), what),
                             hf_value_finish(body), job->mem, out, err);
}

/* Tells that the attempt lives; false when it is no longer wanted. */
static bool exec_beat(void *ctx)
{
    exec_job *job = ctx;
    hf_value answer = NULL;
    hf_status st = exec_tell(job, "heartbeat", hf_value_object(job->mem), &answer, NULL);

    return st ? st == HF_UNREACHABLE || st == HF_TIMEOUT || st == HF_BUSY
              : hf_bool(answer, "can_continue", true);
}

static hf_status exec_report(exec_job *job, const hf_task_outcome *outcome, hf_err *err)
{
    hf_value_list *body = hf_value_object(job->mem);
    hf_value answer = NULL;

    if (outcome->done)
        hf_value_set(body, HF_SLICE("result"), outcome->result);
    else
        hf_value_set(body, HF_SLICE("failure"),
                     hf_json_(job->mem, "{'type': %s, 'message': %s, 'non_retryable': %p}",
                              outcome->type, hf_cli_utf8(job->mem, outcome->message),
                              (const void *)hf_value_bool(outcome->final)));
    return exec_tell(job, outcome->done ? "complete" : "fail", body, &answer, err);
}

/* A result that the server does not take is a failure of the program, and not of this worker. */
static hf_status outcome_report(exec_job *job, const hf_task_outcome *outcome, hf_err *err)
{
    hf_status st = exec_report(job, outcome, err);
    hf_task_outcome refused = {.final = true, .type = "bad_output"};

    if (!outcome->done || (st != HF_TOOBIG && st != HF_INVALID))
        return st;
    refused.message = hf_mem_format(job->mem, "the result is refused: %s", err->text);
    return refused.message ? exec_report(job, &refused, err) : hf_err_nomem(err, "a report");
}

static hf_status exec_task(exec_job *job, hf_err *err)
{
    hf_value task = job->task;
    const char *environment[] = {
        hf_mem_format(job->mem, "HF_ACTIVITY=%s", hf_str(task, "activity_type", "")),
        hf_mem_format(job->mem, "HF_ATTEMPT=%lld", (long long)hf_int(task, "attempt_number", 1)),
        hf_mem_format(job->mem, "HF_IDEMPOTENCY_KEY=%s", hf_str(task, "idempotency_key", "")),
        hf_mem_format(job->mem, "HF_WORKFLOW_ID=%s", hf_str(task, "workflow_id", "")),
        hf_mem_format(job->mem, "HF_RUN_ID=%s", hf_str(task, "run_id", "")),
        NULL};
    hf_task_outcome outcome = {0};
    hf_value input = NULL;
    hf_status st = hf_payload_open(job->mem, hf_get(task, "arguments"), &input, err);

    for (size_t i = 0; !st && i + 1 < sizeof(environment) / sizeof(environment[0]); i++)
        st = environment[i] ? HF_OK : hf_err_nomem(err, "a task");
    if (!st)
        st = hf_task_run(job->argv, environment, input, exec_beat, job, job->mem, &outcome, err);
    if (!st)
        st = outcome_report(job, &outcome, err);
    if (st == HF_REJECTED || st == HF_NOTFOUND) { /* too late: somebody else has the task */
        (void)fprintf(job->call->print.err, "a report came too late: %s\n", err->text);
        st = HF_OK;
    }
    return st;
}

/* What it has goes to others at once. A server that does not answer finds out by itself. */
static void exec_leave(exec_job *job)
{
    hf_value answer = NULL;

    (void)!hf_cli_target_ask(job->reports, "DELETE",
                             hf_client_path(job->mem, "/api/worker/registrations/%s", job->worker),
                             NULL, job->mem, &answer, NULL);
}

/* Whether the server may answer again. */
static bool worth_waiting(hf_status st)
{
    return st == HF_UNREACHABLE || st == HF_TIMEOUT || st == HF_BUSY;
}

/* Tasks, one after the other, until the signal comes. A server that is away is waited for. */
static hf_status exec_loop(exec_job *job, hf_err *err)
{
    bool registered = false;
    hf_status st = HF_OK;

    while (!st) {
        hf_mem_reset(job->mem);
        st = registered ? HF_OK : exec_register(job, err);
        registered = !st;
        if (!st)
            st = exec_poll(job, err);
        if (!st && job->task)
            st = exec_task(job, err);
        if (worth_waiting(st)) {
            registered = false;
            (void)fprintf(job->call->print.err, "%s; trying again\n", err->text);
            st = hf_cli_target_pause(job->polls, AGAIN_MS, err);
        }
    }
    return st == HF_CANCELLED ? HF_OK : st;
}

/* Whether the command can be run, as the shell would look for it. */
static hf_status program_check(hf_mem *mem, const char *name, hf_err *err)
{
    const char *path = getenv("PATH");
    hf_slice rest = hf_slice_of(path ? path : "/usr/bin:/bin");
    hf_slice folder;

    if (strchr(name, '/'))
        rest = HF_SLICE(".");
    while (hf_slice_split(&rest, ':', &folder)) {
        const char *file = strchr(name, '/')
                               ? name
                               : hf_mem_format(mem, "%.*s/%s", (int)folder.len, folder.ptr, name);

        if (!file)
            return hf_err_nomem(err, "a path");
        if (access(file, X_OK) == 0)
            return HF_OK;
    }
    return hf_err_set(err, HF_NOTFOUND, "cannot run %s: there is no such program", name);
}

static hf_status exec_open(exec_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    hf_rng rng;
    hf_status st = hf_rng_init_system(&rng, err);

    if (st)
        return st;
    (void)snprintf(job->worker, sizeof(job->worker), "exec-%016" PRIx64, hf_rng_next(&rng));
    job->argv = hf_mem_array(call->mem, call->word_count, sizeof(*job->argv));
    for (size_t i = 1; job->argv && i < call->word_count; i++)
        job->argv[i - 1] = hf_mem_text(call->mem, hf_slice_of(call->words[i]));
    job->mem = hf_mem_new();
    if (!job->argv || !job->argv[0] || !job->mem)
        return hf_err_nomem(err, "a worker");
    st = program_check(call->mem, job->argv[0], err);
    if (!st)
        st = hf_cli_target_open(call, false, &job->polls, err);
    if (!st)
        st = hf_cli_target_open(call, false, &job->reports, err);
    if (!st && !hf_cli_target_is_server(job->polls))
        st = hf_err_set(err, HF_INVALID, "worker exec needs a server: give --url http://...");
    return st;
}

static hf_status exec_run(hf_cli_call *call, hf_err *err)
{
    exec_job job = {.call = call, .activity = call->flags[HF_CLI_FLAG_ACTIVITY]};
    hf_cli_stop old;
    hf_status st;

    if (!job.activity || call->word_count < 2)
        return hf_err_set(err, HF_INVALID,
                          "worker exec needs --activity NAME and a command after --");
    st = exec_open(&job, err);
    if (!st)
        st = hf_cli_stop_catch(&old, err);
    if (!st) {
        st = hf_thread_start(&job.stopper, "hf-stop", stopper_run, &job, err);
        if (!st)
            st = exec_loop(&job, err);
        exec_leave(&job);
        hf_cli_stop_now();
        hf_thread_join(&job.stopper);
        hf_cli_stop_release(&old);
    }
    hf_cli_target_close(job.polls);
    hf_cli_target_close(job.reports);
    hf_mem_free(job.mem);
    return st;
}

hf_status hf_cli_worker(hf_cli_call *call, hf_err *err)
{
    hf_status st =
        strcmp(call->args[0], "exec") == 0 ? exec_run(call, err) : program_run(call, err);

    if (st == HF_NOTFOUND)
        call->next = "holdfast help worker";
    return st;
}
