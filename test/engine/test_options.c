/* Structs of options say their size. Whatever function they are for: a size that no such struct has
   is a mistake with an answer, shorter ones are an older program's, and longer ones a newer
   program's, which are taken while what is not known here is zero. */
#include <stdint.h>
#include <string.h>

#include "holdfast/host.h"
#include "holdfast/reader.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/handlers.h"
#include "lib/kit.h"

enum { ROOM = 4096 + 64 };

/* As long as any struct may be, and a tail that some of the cases write to. */
static _Alignas(max_align_t) unsigned char given[ROOM];
static hf_mem *mem; /* of the case */
static hf_value out;

static void size_say(size_t size)
{
    memset(given, 0, sizeof(given));
    memcpy(given, &size, sizeof(size));
}

/* ---- functions of the engine */

static hf_status start(hf_engine *d)
{
    return hf_start_with(d, "waits", (const void *)given);
}

static hf_status start_one_of_all(hf_engine *d)
{
    hf_status answer = HF_OK;
    hf_status st = hf_start_all(d, "waits", (const void *)given, 1, &answer);

    return st ? st : answer;
}

static hf_status signal_with_start(hf_engine *d)
{
    return hf_signal_with_start(d, "waits", (const void *)given, "go", NULL);
}

static hf_status cancel(hf_engine *d)
{
    return hf_cancel_with(d, "nobody", (const void *)given);
}

static hf_status fork_run(hf_engine *d)
{
    return hf_fork_with(d, "nobody", (const void *)given, NULL);
}

static hf_status history(hf_engine *d)
{
    return hf_history_with(d, mem, &out, (const void *)given);
}

static hf_status export_run(hf_engine *d)
{
    const char *text = NULL;

    return hf_export_with(d, mem, &text, (const void *)given);
}

static hf_status export_seal(hf_engine *d)
{
    const char *text = NULL;

    return hf_export_sealed(d, mem, &text,
                            &(hf_export_opts){.size_ = sizeof(hf_export_opts), .id = "nobody"},
                            (const void *)given);
}

static hf_status import(hf_engine *d)
{
    return hf_import_with(d, mem, &out, (const void *)given);
}

static hf_status schedule_create(hf_engine *d)
{
    return hf_schedule_create_with(d, "s", (const void *)given);
}

static hf_status schedule_update(hf_engine *d)
{
    return hf_schedule_update_with(d, "daily", (const void *)given);
}

static hf_status schedule_list(hf_engine *d)
{
    return hf_schedule_list_with(d, (const void *)given, &out);
}

static hf_status token(hf_engine *d)
{
    hf_token made;

    return hf_token_create_with(d, (const void *)given, &made);
}

static hf_status namespace_create(hf_engine *d)
{
    return hf_namespace_create(d, "other", (const void *)given);
}

static hf_status namespace_set(hf_engine *d)
{
    return hf_namespace_set(d, "default", (const void *)given);
}

static hf_status retention(hf_engine *d)
{
    return hf_retention_pass(d, (const void *)given, mem, &out);
}

static hf_status overdue(hf_engine *d)
{
    return hf_overdue(d, (const void *)given, mem, &out);
}

static hf_status watch(hf_engine *d)
{
    hf_watch *made = NULL;

    return hf_watch_begin(d, (const void *)given, &made);
}

static hf_status poll_begin(hf_engine *d)
{
    hf_poll *made = NULL;

    return hf_poll_begin(d, (const void *)given, &made);
}

static hf_status poll_now(hf_engine *d)
{
    return hf_poll_now(d, (const void *)given, mem, &out);
}

static hf_status task_result(hf_engine *d)
{
    return hf_task_result(d, (const void *)given, NULL);
}

static hf_status task_release(hf_engine *d)
{
    return hf_task_release(d, HF_TASK_QUERY, (const void *)given);
}

static hf_status question_answer(hf_engine *d)
{
    return hf_question_answer(d, HF_TASK_QUERY, (const void *)given, NULL);
}

static const struct {
    const char *name;
    hf_status (*call)(hf_engine *d);
    size_t size;
} calls[] = {
    {"hf_start_with", start, sizeof(hf_start_opts)},
    {"hf_start_all", start_one_of_all, sizeof(hf_start_opts)},
    {"hf_signal_with_start", signal_with_start, sizeof(hf_start_opts)},
    {"hf_cancel_with", cancel, sizeof(hf_order_opts)},
    {"hf_fork_with", fork_run, sizeof(hf_copy_opts)},
    {"hf_history_with", history, sizeof(hf_history_opts)},
    {"hf_export_with", export_run, sizeof(hf_export_opts)},
    {"hf_export_sealed", export_seal, sizeof(hf_export_seal)},
    {"hf_import_with", import, sizeof(hf_import_opts)},
    {"hf_schedule_create_with", schedule_create, sizeof(hf_schedule_opts)},
    {"hf_schedule_update_with", schedule_update, sizeof(hf_schedule_opts)},
    {"hf_schedule_list_with", schedule_list, sizeof(hf_schedule_list_opts)},
    {"hf_token_create_with", token, sizeof(hf_token_opts)},
    {"hf_namespace_create", namespace_create, sizeof(hf_namespace_opts)},
    {"hf_namespace_set", namespace_set, sizeof(hf_namespace_opts)},
    {"hf_retention_pass", retention, sizeof(hf_retention_opts)},
    {"hf_overdue", overdue, sizeof(hf_overdue_opts)},
    {"hf_watch_begin", watch, sizeof(hf_watch_opts)},
    {"hf_poll_begin", poll_begin, sizeof(hf_poll_opts)},
    {"hf_poll_now", poll_now, sizeof(hf_poll_opts)},
    {"hf_task_result", task_result, sizeof(hf_task_claim)},
    {"hf_task_release", task_release, sizeof(hf_task_claim)},
    {"hf_question_answer", question_answer, sizeof(hf_task_claim)},
};

/* Sizes that no struct of options has. */
static const size_t absurd[] = {0,
                                1,
                                sizeof(size_t) - 1,
                                sizeof(size_t),
                                2 * sizeof(size_t) + 1,
                                4096 + sizeof(size_t),
                                SIZE_MAX / 2 + 1};

/* ---- code that takes options */

static hf_value uses_leaf(hf_ctx *w)
{
    hf_leaf leaves[2] = {{.kind = HF_LEAF_ACTIVITY, .name = "echo"}, {0}};

    memcpy(&leaves[0].opts, given, sizeof(leaves[0].opts));
    return hf_all_of(w, leaves);
}

static hf_value uses(hf_ctx *w, hf_value in)
{
    switch (hf_int(in, "", 0)) {
    case 0:
        return hf_activity_with(w, "echo", (const void *)given);
    case 1:
        return hf_child_with(w, "uses", (const void *)given);
    case 2:
        return hf_receive_with(w, "go", (const void *)given);
    case 3:
        return uses_leaf(w);
    default:
        return hf_activity(w, "beat", NULL);
    }
}

static hf_value beat(hf_act *a, hf_value in)
{
    (void)in;
    return hf_heartbeat_with(a, (const void *)given) ? hf_json(a, "true") : hf_stopped(a);
}

static hf_outcome first(hf_step *s)
{
    return hf_next_with(s, "second", (const void *)given);
}

static hf_outcome second(hf_step *s)
{
    return hf_done(s, hf_json(s, "true"));
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {hf_fn(beat)}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waits", .run = hf_wait_go, .signals = signals},
    {.type = "uses", .run = uses, .signals = signals},
    {0}};
static const hf_step_def steps[] = {{"first", first}, {"second", second}, {0}};
static const hf_machine_def machines[] = {{.type = "machine", .initial = "first", .steps = steps},
                                          {0}};
static const hf_app app = {
    .name = "options", .workflows = workflows, .activities = activities, .machines = machines};

/* ---- cases */

static hf_engine *options_open(hf_engine_kind kind)
{
    hf_engine *d = hf_kit_open(kind, &app);

    mem = hf_mem_new();
    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_schedule_create(d, "daily", "waits", NULL, .every = hf_days(1)));
    return d;
}

static void options_close(hf_engine *d)
{
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A size that no struct has is a mistake of the program; nothing behind it is looked at, and
   nothing happens. */
HF_BOTH_ENGINES(an_absurd_size_is_refused)
{
    hf_engine *d = options_open(kind);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (size_t k = 0; k < sizeof(absurd) / sizeof(absurd[0]); k++) {
            size_say(absurd[k]);
            ck_assert_msg(calls[i].call(d) == HF_MISUSE, "%s with %zu", calls[i].name, absurd[k]);
            ck_assert_msg(strstr(hf_errmsg(d), "size"), "%s with %zu: %s", calls[i].name, absurd[k],
                          hf_errmsg(d));
        }
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "token"), 0);
    options_close(d);
}

/* A longer struct is taken as far as it is known while the rest is zero; what is set there cannot
   be done, and is not left undone silently. */
HF_BOTH_ENGINES(what_a_newer_program_says_is_not_ignored)
{
    hf_engine *d = options_open(kind);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        hf_status st;

        size_say(calls[i].size + 2 * sizeof(size_t));
        st = calls[i].call(d);
        ck_assert_msg(st != HF_UNSUPPORTED && !strstr(hf_errmsg(d), "size"), "%s: %s: %s",
                      calls[i].name, hf_strstatus(st), hf_errmsg(d));
        given[calls[i].size + sizeof(size_t)] = 1;
        ck_assert_msg(calls[i].call(d) == HF_UNSUPPORTED, "%s", calls[i].name);
    }
    options_close(d);
}

/* Starts of one call are as far apart as the first says: one that says otherwise is a mistake. */
HF_BOTH_ENGINES(starts_of_one_call_have_one_size)
{
    hf_engine *d = options_open(kind);
    hf_start_opts items[] = {{.size_ = sizeof(hf_start_opts), .id = "a"},
                             {.size_ = sizeof(hf_start_opts) - sizeof(size_t), .id = "b"},
                             {.size_ = sizeof(hf_start_opts), .id = "c"}};
    hf_status answers[3];

    hf_kit_ok(d, hf_start_all(d, "waits", items, 3, answers));
    ck_assert_int_eq(answers[0], HF_OK);
    ck_assert_int_eq(answers[1], HF_MISUSE);
    ck_assert_int_eq(answers[2], HF_OK);
    items[0].size_ = SIZE_MAX;
    hf_kit_ok(d, hf_start_all(d, "waits", items, 3, answers));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(answers[i], HF_MISUSE);
    options_close(d);
}

/* In code that the engine runs a wrong size is a typed failure of that code. */
HF_BOTH_ENGINES(code_is_told_as_well)
{
    static const size_t sizes[] = {sizeof(hf_activity_opts), sizeof(hf_child_opts),
                                   sizeof(hf_wait_opts), sizeof(hf_activity_opts),
                                   sizeof(hf_progress)};
    hf_engine *d = options_open(kind);
    char id[] = "run-0-a";
    hf_value state;

    for (int what = 0; what < 5; what++)
        for (int newer = 0; newer < 2; newer++) {
            id[4] = (char)('0' + what);
            id[6] = (char)('a' + newer);
            size_say(newer ? sizes[what] + sizeof(size_t) : 0);
            given[sizes[what]] = 1;
            hf_kit_begin(d, "uses", id, hf_json(d, "%d", what));
            ck_assert_str_eq(hf_test_status(d, id), "failed");
            ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                             what == 4 ? "invalid_progress" : "invalid_options");
        }
    size_say(0);
    hf_kit_begin(d, "machine", "m", NULL);
    ck_assert_str_eq(hf_test_status(d, "m"), "failed");
    ck_assert_str_eq(hf_kit_said(d, "m", "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                     "bad_outcome");
    size_say(sizeof(hf_next_opts));
    state = hf_json(d, "{}");
    memcpy(given + offsetof(hf_next_opts, state), &state, sizeof(state));
    hf_kit_begin(d, "machine", "n", NULL);
    ck_assert_str_eq(hf_test_status(d, "n"), "completed");
    options_close(d);
}

static void heard(void *arg, const char *event, hf_value detail)
{
    (void)event;
    (void)detail;
    ++*(int *)arg;
}

/* An observer of no size is none: the one that was there goes on, and there are words for it. */
HF_BOTH_ENGINES(an_observer_says_its_size)
{
    hf_engine *d = options_open(kind);
    int count = 0;

    hf_observe(d, &(hf_observer){.size_ = sizeof(hf_observer), .on = heard, .arg = &count});
    size_say(3);
    hf_observe(d, (const void *)given);
    ck_assert_str_eq(hf_errmsg(d), "the options do not say their size");
    hf_kit_begin(d, "waits", "w", NULL);
    ck_assert_int_gt(count, 0);
    options_close(d);
}

/* A reader of a store has no engine: its failure has the words. */
START_TEST(a_reader_says_its_size)
{
    hf_reader *reader = NULL;
    hf_err err = {0};

    for (size_t k = 0; k < sizeof(absurd) / sizeof(absurd[0]); k++) {
        size_say(absurd[k]);
        ck_assert_int_eq(hf_reader_open("nowhere.db", (const void *)given, &reader, &err),
                         HF_MISUSE);
    }
    size_say(sizeof(hf_reader_opts) + sizeof(size_t));
    given[sizeof(hf_reader_opts)] = 1;
    ck_assert_int_eq(hf_reader_open("nowhere.db", (const void *)given, &reader, &err),
                     HF_UNSUPPORTED);
    ck_assert_ptr_null(reader);
}
END_TEST

HF_PG_SUITE_MAIN("engine/options", HF_BOTH(an_absurd_size_is_refused),
                 HF_BOTH(what_a_newer_program_says_is_not_ignored),
                 HF_BOTH(starts_of_one_call_have_one_size), HF_BOTH(code_is_told_as_well),
                 HF_BOTH(an_observer_says_its_size), {a_reader_says_its_size, 0})
