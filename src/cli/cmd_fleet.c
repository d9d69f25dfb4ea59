/* cmd_fleet.c: the verbs workers, build and queue: who works, in which version, and what waits for
   them; and task, the protocol that workers speak, by hand. */
#include "base/err.h"
#include "base/value.h"
#include "cli/noun.h"

static const hf_cli_column worker_columns[] = {
    {"worker_id", 40, false}, {"task_queue", 16, false}, {"status", 8, false},
    {"runtime", 8, false},    {"build_id", 16, false},   {"last_heartbeat_at", 0, false},
    {NULL, 0, false}};
static const hf_cli_column build_columns[] = {
    {"build_id", 24, false},     {"rollout_status", 14, false},
    {"drain_intent", 12, false}, {"active_worker_count", 19, false},
    {"drained_at", 0, false},    {NULL, 0, false}};
static const hf_cli_column promote_columns[] = {{"build_id", 24, false},
                                                {"new_start_selected", 18, false},
                                                {"promoted_at", 0, false},
                                                {NULL, 0, false}};
static const hf_cli_column stop_columns[] = {
    {"build_id", 24, false}, {"can_stop", 8, false}, {"open_runs", 0, false}, {NULL, 0, false}};
static const hf_cli_column queue_columns[] = {
    {"name", 24, false}, {"paused_at", 27, false}, {"stats", 0, false}, {NULL, 0, false}};
static const hf_cli_column pause_columns[] = {{"task_queue", 24, false},
                                              {"drain_intent", 12, false},
                                              {"drained_at", 0, false},
                                              {NULL, 0, false}};
static const hf_cli_column task_columns[] = {
    {"task_id", 26, false}, {"outcome", 0, false}, {NULL, 0, false}};

/* A request about a build; "" stands for workers that say none. */
static hf_status body_make(hf_cli_call *call, size_t used, const char *build, hf_value *out_body,
                           hf_err *err)
{
    if (used < call->word_count)
        return hf_err_set(err, HF_INVALID, "%s %s does not take \"%s\"", call->command->name,
                          call->args[0], call->words[used]);
    *out_body = hf_json_(call->mem, "{'build_id': %s}", *build ? build : NULL);
    return *out_body ? HF_OK : hf_err_nomem(err, "a request");
}

static hf_status build_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    return body_make(call, used, call->words[1], out_body, err);
}

/* The whole queue: every build of it. */
static hf_status queue_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    return body_make(call, used, "*", out_body, err);
}

/* How many open runs carry the build as their marker: while there are some, it is needed. */
static hf_status build_judged(hf_cli_call *call, hf_value answer, hf_value *out_shown, hf_err *err)
{
    int64_t open = hf_int(answer, "total.n", 0);

    if (open)
        call->exit = HF_CLI_EXIT_FAILED;
    *out_shown = hf_json_(call->mem, "{'build_id': %s, 'can_stop': %p, 'open_runs': %lld}",
                          call->words[1], (const void *)hf_value_bool(!open), (long long)open);
    return *out_shown ? HF_OK : hf_err_nomem(err, "a build");
}

/* The one of that name. */
static hf_status build_pick(hf_cli_call *call, hf_value answer, hf_value *out_shown, hf_err *err)
{
    hf_value builds = hf_get(answer, "build_ids");

    for (size_t i = 0; i < hf_len(builds); i++)
        if (hf_slice_equal(hf_slice_of(hf_str(hf_at(builds, i), "build_id", "")),
                           hf_slice_of(call->words[1]))) {
            *out_shown = hf_at(builds, i);
            return HF_OK;
        }
    return hf_err_set(err, HF_NOTFOUND, "no worker of this queue has the build %s", call->words[1]);
}

static hf_status workers_query(hf_cli_call *call, hf_buf *path, hf_err *err)
{
    (void)err;
    hf_cli_query_add(call, path, "task_queue", call->flags[HF_CLI_FLAG_QUEUE]);
    return HF_OK;
}

#define BUILDS "/api/task-queues/{queue}/build-ids"
#define TASKS  "/api/worker/activity-tasks"

static const hf_cli_action actions[] = {
    {"workers", "ls", NULL, "GET", "/api/workers", "workers", worker_columns,
     .query = workers_query},
    {"workers", "show", "ID", "GET", "/api/workers/{1}", NULL, .columns = worker_columns},
    {"workers", "remove", "ID", "DELETE", "/api/workers/{1}", NULL, .columns = worker_columns},
    {"build", "ls", NULL, "GET", BUILDS, "build_ids", .columns = build_columns},
    {"build", "show", "BUILD", "GET", BUILDS, NULL, build_columns, .answer = build_pick},
    {"build", "drain", "BUILD", "POST", BUILDS "/drain", NULL, build_columns, .body = build_body},
    {"build", "resume", "BUILD", "POST", BUILDS "/resume", NULL, build_columns, .body = build_body},
    {"build", "promote", "BUILD", "POST", BUILDS "/promote", NULL, promote_columns,
     .body = build_body},
    {"build", "can-stop", "BUILD", "GET",
     "/api/workflows?page_size=1&status=running&total=1&compatibility={1}", NULL, stop_columns,
     .answer = build_judged},
    {"queue", "pause", "NAME", "POST", "/api/task-queues/{1}/build-ids/drain", NULL, pause_columns,
     .body = queue_body},
    {"queue", "resume", "NAME", "POST", "/api/task-queues/{1}/build-ids/resume", NULL,
     pause_columns, .body = queue_body},
    {"queue", "ls", NULL, "GET", "/api/task-queues", "task_queues", .columns = queue_columns},
    {"queue", "show", "NAME", "GET", "/api/task-queues/{1}", NULL, .columns = queue_columns},
    {"task", "register", NULL, "POST", "/api/worker/register", NULL, task_columns,
     .body = hf_cli_body_pairs},
    {"task", "poll", NULL, "POST", TASKS "/poll", NULL, task_columns, .body = hf_cli_body_pairs},
    {"task", "complete", "TASK", "POST", TASKS "/{1}/complete", NULL, task_columns,
     .body = hf_cli_body_pairs},
    {"task", "fail", "TASK", "POST", TASKS "/{1}/fail", NULL, task_columns,
     .body = hf_cli_body_pairs},
    {"task", "heartbeat", "TASK", "POST", TASKS "/{1}/heartbeat", NULL, task_columns,
     .body = hf_cli_body_pairs},
    {0}};

hf_status hf_cli_fleet(hf_cli_call *call, hf_err *err)
{
    return hf_cli_noun_run(call, actions, err);
}
