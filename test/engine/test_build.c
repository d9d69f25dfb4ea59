/* test_build.c: workers and builds as the engine records them: what is drained, what lies at
   queues, and that a server's own build holds back no run whose code is elsewhere. */
#include <string.h>

#include "holdfast/host.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/kit.h"

static hf_value nothing(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_json(w, "1");
}

static const hf_workflow_def workflows[] = {{"local", .run = nothing}, {0}};
/* It supports no build but its own. */
static const hf_app app = {
    .name = "test", .workflows = workflows, .build_id = "server-7", .supports = "server-7"};

static bool take(void *arg, hf_value task)
{
    bool *got = arg;

    *got = task != NULL;
    return true;
}

static bool task_waits(hf_engine *d)
{
    bool got = false;
    hf_poll *poll = NULL;

    poll = hf_kit_poll(d, HF_TASK_WORKFLOW, "w1", take, &got);
    hf_kit_ok(d, hf_test_drain(d));
    (void)hf_poll_end(poll);
    return got;
}

/* Drained builds are listed with their first time, by namespace and queue, until they are resumed;
   a restart forgets nothing. */
HF_BOTH_ENGINES(drained_builds_are_recorded)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value list = NULL;
    int64_t since;

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_builds_drain(d, "q", "b1", true));
    hf_kit_ok(d, hf_builds_drain(d, "q", NULL, true));
    hf_kit_ok(d, hf_builds(d, hf_mem_of_engine(d), &list));
    ck_assert_uint_eq(hf_len(list), 2);
    ck_assert_str_eq(hf_str(list, "1.build_id", ""), "b1");
    since = hf_int(list, "1.drained_at", 0);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    hf_kit_ok(d, hf_builds_drain(d, "q", "b1", true));
    hf_test_crash(d);
    hf_kit_ok(d, hf_builds(d, hf_mem_of_engine(d), &list));
    ck_assert_int_eq(hf_int(list, "1.drained_at", 0), since);
    hf_kit_ok(d, hf_builds_drain(d, "q", "b1", false));
    hf_kit_ok(d, hf_builds_drain(d, "q", NULL, false));
    hf_kit_ok(d, hf_builds(d, hf_mem_of_engine(d), &list));
    ck_assert_uint_eq(hf_len(list), 0);
    ck_assert_int_eq(hf_builds_drain(d, "", "b1", true), HF_INVALID);
    hf_kit_close(d);
}

/* A run of a worker's type carries no build of the server's, and is handed out; what lies at the
   queue is told. */
HF_BOTH_ENGINES(builds_of_the_server_hold_back_no_worker)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value queues = NULL;
    hf_value now = NULL;

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_start(d, "remote", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_workers_queues(d, hf_mem_of_engine(d), &queues));
    ck_assert_str_eq(hf_str(queues, "0.name", ""), "default");
    ck_assert_int_eq(hf_int(queues, "0.tasks.workflow.ready", 0), 1);
    ck_assert(task_waits(d));
    hf_kit_ok(d, hf_start(d, "remote", NULL, .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_poll_now(d,
                             &(hf_poll_opts){
                                 .size_ = sizeof(hf_poll_opts), .queue = "default", .worker = "w2"},
                             hf_mem_of_engine(d), &now));
    ck_assert_str_eq(hf_str(now, "workflow_id", ""), "b");
    hf_kit_ok(d, hf_poll_now(d,
                             &(hf_poll_opts){
                                 .size_ = sizeof(hf_poll_opts), .queue = "default", .worker = "w2"},
                             hf_mem_of_engine(d), &now));
    ck_assert_ptr_null(now);
    hf_kit_close(d);
}

/* A run that began under a promoted build is its workers', also after a restart and when another is
   promoted; a build that a program gave a run holds back no worker. */
HF_BOTH_ENGINES(runs_keep_the_build_they_began_with)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value task = NULL;
    hf_poll_opts opts = {
        .size_ = sizeof(opts), .queue = "default", .worker = "w1", .build = "other"};

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", "b1"));
    hf_kit_ok(d, hf_workers_beat(d, "w2", "default", "b2"));
    hf_kit_ok(d, hf_builds_promote(d, "default", "b1"));
    hf_kit_ok(d, hf_start(d, "remote", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    hf_kit_ok(d, hf_builds_promote(d, "default", NULL));
    hf_kit_ok(d, hf_schedule_create(d, "s", "remote", NULL, .cron = "0 0 * * *"));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_poll_now(d, &opts, hf_mem_of_engine(d), &task));
    ck_assert_ptr_null(task);
    opts.build = NULL;
    hf_kit_ok(d, hf_poll_now(d, &opts, hf_mem_of_engine(d), &task));
    ck_assert_ptr_null(task);
    opts.build = "b1";
    hf_kit_ok(d, hf_poll_now(d, &opts, hf_mem_of_engine(d), &task));
    ck_assert_str_eq(hf_str(task, "workflow_id", ""), "a");
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(1)));
    hf_kit_ok(d, hf_builds_promote(d, "default", "b2"));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", NULL, &task));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_poll_now(d, &opts, hf_mem_of_engine(d), &task));
    ck_assert_ptr_null(task);
    opts.build = "b2";
    hf_kit_ok(d, hf_poll_now(d, &opts, hf_mem_of_engine(d), &task));
    ck_assert_ptr_nonnull(task);
    ck_assert_int_eq(hf_builds_promote(d, "", "b1"), HF_INVALID);
    hf_kit_close(d);
}

/* A run that waits for a build that was promoted says which, until a worker of that build is there:
   one of another, and the program that serves, are no help. */
HF_BOTH_ENGINES(why_names_the_build_that_is_missing)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value why = NULL;

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_beat(d, "w1", "default", "2026.04.1"));
    hf_kit_ok(d, hf_workers_beat(d, "w2", "elsewhere", "2026.04.2"));
    hf_kit_ok(d, hf_builds_promote(d, "default", "2026.04.2"));
    hf_kit_ok(d, hf_start(d, "remote", NULL, .id = "a"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "no_compatible_worker");
    ck_assert_msg(strstr(hf_str(why, "text", ""), "2026.04.2"), "%s", hf_str(why, "text", ""));
    hf_kit_ok(d, hf_workers_beat(d, "w3", "default", "2026.04.2"));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_ne(hf_str(why, "code", ""), "no_compatible_worker");
    hf_kit_close(d);
}

/* What was promoted in one namespace says nothing of runs in another: the program supports the
   build of its own run, and may take it. */
HF_BOTH_ENGINES(builds_are_promoted_in_their_namespace)
{
    static const hf_app later = {
        .name = "test", .workflows = workflows, .build_id = "server-8", .supports = "server-7"};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value why = NULL;
    hf_value page = NULL;
    hf_namespace_opts options = {.size_ = sizeof(options)};

    hf_kit_ok(d, hf_namespace_create(d, "other", &options));
    hf_kit_ok(d, hf_start(d, "local", NULL, .id = "a", .delay = hf_minutes(1)));
    hf_kit_ok(d, hf_namespace_use(d, "other"));
    hf_kit_ok(d, hf_builds_promote(d, "default", "server-7"));
    hf_kit_ok(d, hf_start(d, "local", NULL, .id = "a", .delay = hf_minutes(1)));
    d = hf_kit_reopen(d, &later);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "turn_ready");
    hf_kit_ok(d, hf_describe(d, hf_json(d, "{'id': 'a'}"), hf_mem_of_engine(d), &page));
    ck_assert_str_eq(hf_str(page, "liveness_state", ""), "workflow_task_ready");
    hf_kit_ok(d, hf_namespace_use(d, "other"));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &why));
    ck_assert_str_eq(hf_str(why, "code", ""), "no_compatible_worker");
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    hf_kit_close(d);
}

/* A schedule starts runs of a worker's type with what the worker declared: its signals are known.
 */
HF_BOTH_ENGINES(scheduled_runs_carry_their_declaration)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_type(d, "remote", hf_json(d, "{'signals': ['go']}"), NULL));
    hf_kit_ok(d, hf_schedule_create(d, "s", "remote", NULL, .cron = "0 0 * * *"));
    hf_kit_ok(d, hf_schedule_trigger(d, "s", NULL, &out));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert(task_waits(d));
    hf_kit_ok(d, hf_signal(d, hf_str(out, "workflow_id", ""), "go", NULL));
    hf_kit_close(d);
}

/* What a worker says of itself is looked at as a whole before anything of it is recorded. */
HF_BOTH_ENGINES(a_malformed_declaration_is_refused)
{
    static const char *const bad[] = {
        "\"signals\"",
        "7",
        "[\"signals\"]",
        "{\"signals\": \"go\"}",
        "{\"signals\": {\"go\": 1}}",
        "{\"updates\": [7]}",
        "{\"queries\": [\"\"]}",
        "{\"queries\": [\" padded \"]}",
        "{\"signals\": [\"go\"], \"update_validators\": [null]}",
    };
    static char longer[300];
    hf_engine *d = hf_kit_open(kind, &app);
    int64_t before;

    memset(longer, 'w', sizeof(longer) - 1);
    hf_kit_ok(d, hf_workers_allow(d));
    before = hf_kit_rows(d, "definition");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(hf_workers_type(d, "remote",
                                      hf_parse_(hf_mem_of_engine(d), bad[i], strlen(bad[i])),
                                      NULL) == HF_INVALID,
                      "%s", bad[i]);
        ck_assert_msg(strstr(hf_errmsg(d), "remote"), "%s", hf_errmsg(d));
    }
    ck_assert_int_eq(hf_kit_rows(d, "definition"), before);
    hf_kit_ok(d, hf_workers_type(d, "remote", hf_json(d, "[]"), NULL));
    hf_kit_ok(d, hf_workers_type(d, "remote", hf_json(d, "{'signals': null}"), NULL));
    ck_assert_int_eq(hf_workers_beat(d, longer, "default", NULL), HF_INVALID);
    ck_assert_int_eq(hf_workers_beat(d, "caf\xe9", "default", NULL), HF_INVALID);
    ck_assert_int_eq(hf_workers_beat(d, "w1", longer, NULL), HF_INVALID);
    ck_assert_int_eq(hf_workers_beat(d, "w1", "default", longer), HF_INVALID);
    ck_assert_int_eq(hf_workers_keep(d, longer, hf_json(d, "{}")), HF_INVALID);
    ck_assert_int_eq(hf_kit_rows(d, "worker"), 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/build", HF_BOTH(a_malformed_declaration_is_refused),
                 HF_BOTH(drained_builds_are_recorded),
                 HF_BOTH(builds_of_the_server_hold_back_no_worker),
                 HF_BOTH(scheduled_runs_carry_their_declaration),
                 HF_BOTH(runs_keep_the_build_they_began_with),
                 HF_BOTH(why_names_the_build_that_is_missing),
                 HF_BOTH(builds_are_promoted_in_their_namespace))
