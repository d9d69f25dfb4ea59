/* What a program can get wrong with any function of the public headers: pointers that are not
   there, an engine that did not open, options without their size, numbers and texts beyond sense.
   Each has a status and a sentence for an answer, nothing is changed, and the engine goes on. */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "holdfast/host.h"
#include "holdfast/reader.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = hf_wait_go, .signals = signals},
    {.type = "single", .run = hf_call_echo},
    {0}};
static const hf_app app = {.name = "misuse", .workflows = workflows, .activities = activities};

static hf_mem *mem; /* of the case */
static hf_value out;

/* The call is a mistake of the program and no trouble of the engine's, and there are words for it
   wherever there is an engine to keep them. */
static void refused(hf_engine *d, hf_status st, const char *call)
{
    ck_assert_msg(st != HF_OK, "%s was taken", call);
    ck_assert_msg(st != HF_NOMEM && st != HF_CORRUPT && st != HF_STOPPED, "%s: %s", call,
                  hf_strstatus(st));
    ck_assert_msg(!d || hf_errmsg(d)[0], "%s: %s without a word", call, hf_strstatus(st));
}
#define REFUSED(call)   refused(d, (call), #call)
#define OPTS(type, ...) (&(type){.size_ = sizeof(type), __VA_ARGS__})

/* ---- pointers that are not there */

static void no_commands(hf_engine *d)
{
    hf_status answer;

    REFUSED(hf_set(d, NULL, NULL));
    REFUSED(hf_start_with(d, NULL, NULL));
    REFUSED(hf_start_with(d, "waits", NULL));
    REFUSED(hf_start(d, NULL, NULL));
    REFUSED(hf_start_all(d, NULL, NULL, 1, NULL));
    REFUSED(hf_start_all(d, "waits", NULL, 1, &answer));
    REFUSED(hf_signal(d, NULL, NULL, NULL));
    REFUSED(hf_signal(d, "a", NULL, NULL));
    REFUSED(hf_signal_dedup(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_signal_with_start(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_signal_with_start(d, "waits", OPTS(hf_start_opts, 0), NULL, NULL));
    REFUSED(hf_reserve(d, NULL, NULL, NULL));
    REFUSED(hf_cancel(d, NULL, NULL));
    REFUSED(hf_terminate(d, NULL, NULL));
    REFUSED(hf_cancel_with(d, NULL, NULL));
    REFUSED(hf_terminate_with(d, NULL, NULL));
    REFUSED(hf_pause_with(d, NULL, NULL));
    REFUSED(hf_resume_with(d, NULL, NULL));
    REFUSED(hf_archive_with(d, NULL, NULL));
    REFUSED(hf_fork_with(d, NULL, NULL, NULL));
    REFUSED(hf_reset_with(d, NULL, NULL));
    REFUSED(hf_update(d, NULL, NULL, NULL, 0, NULL));
    REFUSED(hf_update(d, "a", NULL, NULL, 0, NULL));
    REFUSED(hf_command(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_command(d, "start", NULL, mem, NULL));
    REFUSED(hf_query(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_query(d, "a", NULL, NULL, &out));
    REFUSED(hf_result(d, NULL, 0, NULL, NULL));
    REFUSED(hf_await(d, NULL, 0, true, NULL));
    REFUSED(hf_history_with(d, NULL, NULL, NULL));
    REFUSED(hf_export_with(d, NULL, NULL, NULL));
    REFUSED(hf_why(d, NULL, NULL, NULL));
    REFUSED(hf_batch_start(d, NULL, NULL, NULL));
    REFUSED(hf_batch_list(d, -1, NULL, NULL));
    REFUSED(hf_batch_show(d, NULL, NULL, NULL));
    REFUSED(hf_batch_pause(d, NULL, NULL, NULL));
    REFUSED(hf_batch_resume(d, NULL, NULL, NULL));
    REFUSED(hf_batch_abort(d, NULL, NULL, NULL));
    REFUSED(hf_schedule_context(d, hf_json(d, "[]")));
    REFUSED(hf_schedule_create_with(d, NULL, NULL));
    REFUSED(hf_schedule_update_with(d, NULL, NULL));
    REFUSED(hf_schedule_pause(d, NULL, NULL));
    REFUSED(hf_schedule_resume(d, NULL));
    REFUSED(hf_schedule_delete(d, NULL));
    REFUSED(hf_schedule_trigger(d, NULL, NULL, NULL));
    REFUSED(hf_schedule_backfill(d, NULL, 0, 0, NULL, NULL));
    REFUSED(hf_schedule_show(d, NULL, NULL));
    REFUSED(hf_schedule_list_with(d, NULL, NULL));
    REFUSED(hf_schedule_history(d, NULL, 0, 0, NULL));
    REFUSED(hf_schedule_times(d, NULL, 0, 0, 0, NULL));
}

static void no_views(hf_engine *d)
{
    REFUSED(hf_list_runs(d, NULL, NULL, NULL));
    REFUSED(hf_list_filters(d, NULL, NULL));
    REFUSED(hf_list_suggest(d, NULL, NULL, NULL));
    REFUSED(hf_describe(d, NULL, NULL, NULL));
    REFUSED(hf_spans(d, NULL, NULL, NULL));
    REFUSED(hf_run_part(d, NULL, NULL, NULL));
    REFUSED(hf_view_save(d, NULL, NULL, NULL));
    REFUSED(hf_view_list(d, NULL, NULL, NULL));
    REFUSED(hf_view_get(d, NULL, NULL, NULL));
    REFUSED(hf_view_delete(d, NULL));
    REFUSED(hf_export_sealed(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_import_with(d, NULL, NULL, NULL));
    REFUSED(hf_imports(d, NULL, NULL, NULL));
    REFUSED(hf_import_get(d, NULL, NULL, NULL));
    REFUSED(hf_import_delete(d, NULL));
    REFUSED(hf_metrics(d, NULL, NULL));
    REFUSED(hf_metrics_text(d, NULL, NULL));
    REFUSED(hf_health(d, NULL, NULL));
    REFUSED(hf_stats(d, NULL, NULL));
    REFUSED(hf_metrics_points(d, NULL, NULL, NULL));
    REFUSED(hf_durations(d, NULL, NULL, NULL));
    REFUSED(hf_attention(d, NULL, NULL, NULL));
    REFUSED(hf_failure_groups(d, NULL, NULL, NULL));
    REFUSED(hf_token_create_with(d, NULL, NULL));
    REFUSED(hf_token_create_with(d, OPTS(hf_token_opts, .role = "read"), NULL));
    REFUSED(hf_token_revoke(d, NULL));
    REFUSED(hf_tokens(d, NULL, NULL));
    REFUSED(hf_sign_ins(d, 0, NULL, NULL));
    REFUSED(hf_namespace_create(d, NULL, NULL));
    REFUSED(hf_namespace_set(d, NULL, NULL));
    REFUSED(hf_namespaces(d, NULL, NULL));
    REFUSED(hf_namespace_open_runs(d, 0, NULL));
    REFUSED(hf_namespace_bytes(d, NULL));
    REFUSED(hf_overdue(d, NULL, NULL, NULL));
    REFUSED(hf_overdue_pass(d, NULL, NULL, NULL));
    REFUSED(hf_watch_begin(d, NULL, NULL));
    REFUSED(hf_changes(d, 0, 0, NULL));
    REFUSED(hf_attributes(d, NULL, NULL));
    REFUSED(hf_attribute_create(d, NULL, NULL));
    REFUSED(hf_attribute_delete(d, NULL));
}

static void no_workers(hf_engine *d)
{
    REFUSED(hf_workers_type(d, NULL, NULL, NULL));
    REFUSED(hf_workers_definition(d, NULL, NULL, NULL));
    REFUSED(hf_workers_beat(d, NULL, NULL, NULL));
    REFUSED(hf_workers_queues(d, NULL, NULL));
    REFUSED(hf_workers_keep(d, NULL, NULL));
    REFUSED(hf_workers_kept(d, 0, NULL, NULL));
    REFUSED(hf_builds_drain(d, NULL, NULL, true));
    REFUSED(hf_builds_promote(d, NULL, NULL));
    REFUSED(hf_builds(d, NULL, NULL));
    REFUSED(hf_poll_begin(d, NULL, NULL));
    REFUSED(hf_poll_now(d, NULL, NULL, NULL));
    REFUSED(hf_tasks_take(d, NULL, 0, NULL, NULL, NULL));
    REFUSED(hf_tasks_report(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_tasks_ready(d, HF_TASK_WORKFLOW, NULL, 0, NULL, NULL));
    REFUSED(hf_limits_state(d, NULL, NULL));
    REFUSED(hf_builds_deploys(d, 0, 1, NULL, NULL));
    REFUSED(hf_tasks_held(d, NULL, NULL, NULL));
    REFUSED(hf_activity_run(d, NULL, NULL, NULL));
    REFUSED(hf_task_answer(d, NULL, NULL, NULL, NULL));
    REFUSED(hf_task_decide(d, NULL, NULL, false, NULL));
    REFUSED(hf_task_events(d, NULL, NULL, 0, 0, NULL, NULL));
    REFUSED(hf_task_messages(d, NULL, NULL, 0, 0, NULL, NULL));
    REFUSED(hf_task_return(d, NULL, NULL));
    REFUSED(hf_task_release(d, HF_TASK_WORKFLOW, NULL));
    REFUSED(hf_task_extend(d, NULL, NULL, NULL));
    REFUSED(hf_task_result(d, NULL, NULL));
    REFUSED(hf_task_failure(d, NULL, false, NULL, NULL, NULL));
    REFUSED(hf_task_beat(d, NULL, NULL));
    REFUSED(hf_question_answer(d, HF_TASK_QUERY, NULL, NULL));
    REFUSED(hf_question_refuse(d, HF_TASK_QUERY, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(hf_workers_release(d, NULL), 0);
    ck_assert_int_eq(hf_workers_idle(d, NULL), 0);
}

/* Those that answer nothing, or something of their own. */
static void no_engine(hf_engine *d)
{
    REFUSED(hf_run(d));
    ck_assert_int_eq(hf_fd(d), -1);
    ck_assert_int_eq(hf_tick(d, 0), -1);
    REFUSED(hf_test_drain(d));
    REFUSED(hf_test_advance(d, 0));
    hf_test_fail(d, NULL, 1, NULL);
    hf_test_crash(d);
    hf_observe(d, NULL);
    hf_waits_stop(d, false);
    hf_shutdown(d);
    ck_assert_str_eq(hf_test_status(d, NULL), "not found");
    ck_assert_int_eq(hf_test_count(d, NULL, NULL), -1);
}

/* No engine at all. */
START_TEST(without_an_engine)
{
    mem = hf_mem_new();
    no_commands(NULL);
    no_views(NULL);
    no_workers(NULL);
    no_engine(NULL);
    ck_assert_ptr_null(hf_mem_of_engine(NULL));
    ck_assert_str_ne(hf_errmsg(NULL), "");
    hf_close(NULL);
    hf_mem_free(mem);
}
END_TEST

/* An engine that did not open says why, whatever it is asked. */
START_TEST(with_an_engine_that_did_not_open)
{
    hf_engine *d = NULL;

    mem = hf_mem_new();
    ck_assert_int_eq(hf_open("/no/such/folder/at/all.db", &app, &d), HF_NOTFOUND);
    no_commands(d);
    no_views(d);
    no_workers(d);
    no_engine(d);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "/no/such/folder/at"));
    hf_close(d);
    hf_mem_free(mem);
}
END_TEST

/* An engine that works goes on working. */
HF_BOTH_ENGINES(with_an_engine_that_works)
{
    hf_engine *d = hf_kit_open(kind, &app);

    mem = hf_mem_new();
    hf_kit_begin(d, "waits", "a", NULL);
    no_commands(d);
    no_views(d);
    no_workers(d);
    hf_kit_ok(d, hf_signal(d, "a", "go", NULL));
    hf_kit_begin(d, "single", "b", hf_json(d, "1"));
    ck_assert_str_eq(hf_test_status(d, "a"), "completed");
    ck_assert_str_eq(hf_kit_result(d, "b"), "1");
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Handles that code is given, values, arenas and tools. */
START_TEST(without_anything)
{
    hf_engine *d = NULL; /* nobody keeps the words */
    char why[8];

    mem = hf_mem_new();
    REFUSED(hf_open(NULL, NULL, NULL));
    REFUSED(hf_open(NULL, &app, &d));
    REFUSED(hf_test_crash_everywhere(NULL, NULL, NULL, NULL, 0));
    REFUSED(hf_test_crash_everywhere(&app, NULL, NULL, why, sizeof(why)));
    REFUSED(hf_test_replay(NULL, NULL, NULL, 0));
    REFUSED(hf_test_replay(&app, "no such file", why, sizeof(why)));
    REFUSED(hf_replay_bundle(NULL, NULL, 0, NULL, NULL, NULL));
    REFUSED(hf_reader_open(NULL, NULL, NULL, NULL));
    REFUSED(hf_reader_changed(NULL, NULL, NULL));
    REFUSED(hf_reader_list(NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_reader_describe(NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_reader_history(NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_tool_inspect(NULL, NULL, NULL, NULL));
    REFUSED(hf_tool_migrate(NULL, NULL, false, NULL, NULL, NULL));
    REFUSED(hf_tool_backup(NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_verify(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_tool_attention(NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_rebuild(NULL, NULL, NULL, NULL));
    REFUSED(hf_sql(NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_bundle_verify(NULL, 0, NULL, NULL, NULL, NULL));
    REFUSED(hf_bundle_verify_fd(-1, 0, 0, NULL, NULL, NULL, NULL));
    REFUSED(hf_tool_bundles(NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(hf_bundle_diff(NULL, 0, NULL, 0, NULL, NULL, NULL));
    hf_reader_close(NULL);
    hf_watch_end(NULL);
    (void)hf_poll_leave(NULL);
    (void)hf_poll_end(NULL);
    hf_mem_reset(NULL);
    hf_mem_free(NULL);
    ck_assert_ptr_null(hf_json_(NULL, "1"));
    ck_assert_ptr_null(hf_json_(mem, NULL));
    (void)hf_json_made_(NULL, "1");
    (void)hf_json_made_(mem, NULL);
    ck_assert_ptr_null(hf_parse_(NULL, NULL, 0));
    ck_assert_ptr_null(hf_parse_(mem, NULL, 5));
    ck_assert_ptr_null(hf_get(NULL, NULL));
    ck_assert_ptr_null(hf_at(NULL, SIZE_MAX));
    ck_assert_uint_eq(hf_len(NULL), 0);
    (void)hf_text(NULL, NULL);
    ck_assert_ptr_null(hf_webhook_header(NULL, NULL));
    ck_assert(!hf_webhook_signed(NULL, NULL, NULL, NULL));
    ck_assert_str_eq(hf_strstatus((hf_status)99), "unknown");
    hf_mem_free(mem);
}
END_TEST

/* Code that is handed no handle does nothing. */
START_TEST(code_without_a_handle)
{
    ck_assert_ptr_null(hf_mem_of_ctx(NULL));
    ck_assert_ptr_null(hf_mem_of_act(NULL));
    ck_assert_ptr_null(hf_mem_of_step(NULL));
    ck_assert_str_eq(hf_idempotency_key(NULL), "");
    ck_assert_int_eq(hf_attempt(NULL), 0);
    ck_assert_ptr_null(hf_last_progress(NULL));
    ck_assert_ptr_null(hf_stopped(NULL));
    ck_assert_ptr_null(hf_retry(NULL, NULL, "x"));
    ck_assert(!hf_heartbeat_with(NULL, NULL));
    ck_assert_ptr_null(hf_step_state(NULL));
    (void)hf_step_awaited(NULL);
    (void)hf_step_inbox(NULL);
    (void)hf_step_children(NULL);
    ck_assert_ptr_null(hf_step_signal(NULL));
    ck_assert(!hf_step_timed_out(NULL));
    ck_assert_int_eq(hf_step_attempt(NULL), 0);
    ck_assert_str_eq(hf_step_key(NULL), "");
    ck_assert_str_eq(hf_step_id(NULL), "");
    (void)hf_next(NULL, NULL, NULL);
    (void)hf_next_with(NULL, NULL, NULL);
    (void)hf_again(NULL, NULL, 0);
    (void)hf_park(NULL, NULL, 0, NULL, NULL);
    (void)hf_park_any(NULL, NULL, 0, NULL, NULL);
    (void)hf_fan_out(NULL, NULL, NULL, NULL);
    (void)hf_fan_out_map_with(NULL, NULL, NULL, NULL, NULL, NULL);
    (void)hf_done(NULL, NULL);
    (void)hf_stop(NULL, NULL, NULL);
    (void)hf_raise(NULL, NULL, "x");
    ck_assert_ptr_null(hf_activity_with(NULL, NULL, NULL));
    ck_assert_ptr_null(hf_child_with(NULL, NULL, NULL));
    ck_assert_ptr_null(hf_async(NULL, NULL, NULL));
    ck_assert_uint_eq(hf_spawn_activity_with(NULL, NULL, NULL).id, 0);
    ck_assert_uint_eq(hf_spawn_child_with(NULL, NULL, NULL).id, 0);
    ck_assert_ptr_null(hf_join(NULL, (hf_future){0}));
    ck_assert_ptr_null(hf_join_all(NULL, NULL, 5));
    ck_assert_ptr_null(hf_all_of(NULL, NULL));
    ck_assert_ptr_null(hf_map_with(NULL, NULL, NULL, 0, NULL));
    ck_assert_ptr_null(hf_receive_with(NULL, NULL, NULL));
    ck_assert(!hf_wait_with(NULL, NULL, NULL, NULL));
    hf_sleep(NULL, 0);
    ck_assert_ptr_null(hf_side_effect(NULL, NULL, NULL, NULL));
    ck_assert_int_eq(hf_version(NULL, NULL, 0, 0), HF_VERSION_DEFAULT);
    ck_assert(!hf_patched(NULL, NULL));
    hf_deprecate_patch(NULL, NULL);
    hf_memo(NULL, NULL);
    hf_search_attributes(NULL, NULL);
    hf_label(NULL, NULL, NULL);
    hf_note(NULL, "x");
    ck_assert_uint_eq(hf_children(NULL, NULL, 0), 0);
    hf_signal_child(NULL, NULL, NULL, NULL);
    ck_assert_ptr_null(hf_messages_peek(NULL, NULL, 0));
    ck_assert_ptr_null(hf_messages_receive(NULL, NULL, 0));
    hf_messages_send(NULL, NULL, NULL, NULL);
    hf_compensate(NULL, NULL, NULL);
    hf_compensated(NULL);
    hf_defer(NULL, NULL, NULL);
    ck_assert_int_eq(hf_protect(NULL, NULL, NULL, NULL, NULL), HF_MISUSE);
    (void)hf_state(NULL);
    (void)hf_now(NULL);
    (void)hf_random(NULL);
    (void)hf_uuid(NULL);
    (void)hf_workflow_id(NULL);
    (void)hf_run_id(NULL);
    ck_assert_uint_eq(hf_history_length(NULL), 0);
    ck_assert_uint_eq(hf_history_size(NULL), 0);
    ck_assert(!hf_should_continue_as_new(NULL));
}
END_TEST

/* ---- what cannot be */

/* Durations, counts and choices beyond sense; nothing was started. */
HF_BOTH_ENGINES(numbers_beyond_sense)
{
    static const hf_ms times[] = {INT64_MAX, INT64_MIN, -1, INT64_MIN / 1000, INT64_MAX / 1000};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_settled settled;
    int64_t seen;

    mem = hf_mem_new();
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .delay = times[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .execution_timeout = times[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .run_timeout = times[i]));
        REFUSED(hf_test_advance(d, times[i]));
        REFUSED(hf_result(d, "nobody", times[i], &out, NULL));
        REFUSED(hf_update(d, "nobody", "u", NULL, times[i], &out));
        REFUSED(hf_history(d, mem, &out, "nobody", .wait = times[i]));
        hf_kit_ok(d, hf_await(d, "nobody", times[i], true, &settled));
        ck_assert_int_eq(settled.state, HF_SETTLED_NOT_FOUND);
    }
    REFUSED(hf_start(d, "waits", NULL, .id = "x", .duplicate = 99));
    REFUSED(hf_start(d, "waits", NULL, .id = "x", .priority = -1));
    REFUSED(hf_start(d, "waits", NULL, .id = "x", .priority = INT_MAX));
    REFUSED(hf_history(d, mem, &out, "nobody", .after = -1));
    REFUSED(hf_schedule_create_with(d, "s",
                                    OPTS(hf_schedule_opts, .type = "waits", .every = INT64_MAX)));
    REFUSED(hf_schedule_create_with(
        d, "s", OPTS(hf_schedule_opts, .type = "waits", .every = 1000, .jitter = INT64_MIN)));
    hf_kit_ok(d, hf_changes(d, -1, INT64_MAX, &seen));
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Options that do not say their size are none; of shorter ones, which an older program has, the
   rest is as if it were not given. */
HF_BOTH_ENGINES(options_say_their_size)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_start_opts two[2] = {{.size_ = sizeof(hf_start_opts), .id = "b"},
                            {.size_ = sizeof(hf_start_opts), .id = "c"}};
    hf_status answers[2] = {HF_OK, HF_OK};

    ck_assert_int_eq(hf_start_with(d, "waits", &(hf_start_opts){.id = "x"}), HF_MISUSE);
    ck_assert_str_eq(hf_errmsg(d), "the options do not say their size");
    ck_assert_int_eq(hf_start_all(d, "waits", &(hf_start_opts){.id = "x"}, 1, answers), HF_OK);
    ck_assert_int_eq(answers[0], HF_MISUSE);
    ck_assert_int_eq(hf_cancel_with(d, "x", &(hf_order_opts){.reason = "y"}), HF_MISUSE);
    ck_assert_int_eq(hf_fork_with(d, "x", &(hf_copy_opts){.step = 1}, NULL), HF_MISUSE);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    hf_kit_ok(d, hf_start_with(d, "waits",
                               &(hf_start_opts){.size_ = offsetof(hf_start_opts, business_key),
                                                .id = "a",
                                                .business_key = "not known yet"}));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_said(d, "a", "WorkflowStarted", 0, HF_KEY_BUSINESS_KEY), "");
    hf_kit_ok(d, hf_start_all(d, "waits", two, 2, answers));
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 3);
    hf_kit_close(d);
}

/* Texts that are no UTF-8, or longer than any may be. */
HF_BOTH_ENGINES(texts_beyond_sense)
{
    static char longer[70000];
    const char *const bad[] = {"caf\xe9", longer};
    hf_engine *d = hf_kit_open(kind, &app);

    memset(longer, 'x', sizeof(longer) - 1);
    hf_kit_begin(d, "waits", "a", NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        REFUSED(hf_start(d, bad[i], NULL, .id = "x"));
        REFUSED(hf_start(d, "waits", NULL, .id = bad[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .queue = bad[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .business_key = bad[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .request_id = bad[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .correlation_key = bad[i]));
        REFUSED(hf_start(d, "waits", NULL, .id = "x", .labels = bad[i]));
        REFUSED(hf_signal(d, "a", bad[i], NULL));
        REFUSED(hf_signal(d, bad[i], "go", NULL));
        REFUSED(hf_signal_dedup(d, "a", "go", NULL, bad[i]));
        REFUSED(hf_update(d, "a", bad[i], NULL, 0, NULL));
        REFUSED(hf_query(d, "a", bad[i], NULL, &out));
        REFUSED(hf_cancel(d, "a", bad[i]));
        REFUSED(hf_set(d, bad[i], bad[i]));
    }
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "a"), "waiting signal:go");
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 1);
    hf_kit_close(d);
}

/* Definitions are looked at when the store is opened. */
START_TEST(definitions_beyond_sense)
{
    static const hf_activity_def refuses[] = {
        {.name = "x", .run = hf_echo, .start_to_close = INT64_MAX},
        {.name = "x", .run = hf_echo, .heartbeat = -1},
        {.name = "x", .run = NULL},
        {.name = "\xff", .run = hf_echo}};
    static const hf_workflow_def cannot[] = {
        {.type = "x", .run = hf_wait_go, .run_timeout = INT64_MAX},
        {.type = "x", .run = hf_wait_go, .execution_timeout = INT64_MIN},
        {.type = "x", .run = hf_wait_go, .stack = 1},
        {.type = "x", .run = hf_wait_go, .state_size = SIZE_MAX},
        {.type = "x"}};

    for (size_t i = 0; i < sizeof(cannot) / sizeof(cannot[0]); i++) {
        const hf_workflow_def table[] = {cannot[i], {0}};
        hf_engine *d = hf_test_open(&(hf_app){.name = "x", .workflows = table});

        ck_assert_int_eq(hf_test_drain(d), HF_INVALID);
        ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "workflow x: "));
        hf_close(d);
    }
    for (size_t i = 0; i < sizeof(refuses) / sizeof(refuses[0]); i++) {
        const hf_activity_def table[] = {refuses[i], {0}};
        hf_engine *d = hf_test_open(&(hf_app){.name = "x", .activities = table});

        ck_assert_int_eq(hf_test_drain(d), HF_INVALID);
        hf_close(d);
    }
}
END_TEST

/* ---- one way to move it */

/* An engine is moved by its own threads, by its host's loop or by a test: by the first that begins,
   and the others are told so. */
START_TEST(an_engine_is_moved_one_way)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_engine *d = NULL;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    ck_assert_int_ge(hf_fd(d), 0);
    ck_assert_int_ge(hf_tick(d, 0), 0);
    ck_assert_int_eq(hf_tick(d, -5), 0);
    ck_assert_int_ge(hf_tick(d, INT64_MAX), 0);
    ck_assert_int_eq(hf_run(d), HF_MISUSE);
    ck_assert_str_eq(hf_errmsg(d), "the engine is moved by hf_tick already");
    ck_assert_int_eq(hf_test_drain(d), HF_MISUSE);
    hf_test_crash(d);
    hf_close(d);
    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    ck_assert_int_eq(hf_start(d, "waits", NULL, .id = "a"), HF_OK);
    ck_assert_int_eq(hf_tick(d, 0), -1);
    ck_assert_str_eq(hf_errmsg(d), "the engine is moved by threads of its own already");
    ck_assert_int_eq(hf_fd(d), -1);
    ck_assert_int_eq(hf_test_advance(d, 1), HF_MISUSE);
    hf_test_crash(d);
    hf_close(d);
    d = hf_test_open(&app);
    ck_assert_int_eq(hf_tick(d, 0), -1);
    ck_assert_str_eq(hf_errmsg(d), "the engine is moved by a test already");
    hf_close(d);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("engine/misuse", {without_an_engine, 0}, {with_an_engine_that_did_not_open, 0},
                 HF_BOTH(with_an_engine_that_works), {without_anything, 0},
                 {code_without_a_handle, 0}, HF_BOTH(numbers_beyond_sense),
                 HF_BOTH(options_say_their_size), HF_BOTH(texts_beyond_sense),
                 {definitions_beyond_sense, 0}, {an_engine_is_moved_one_way, 0})
