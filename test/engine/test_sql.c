/* test_sql.c: the read-only views are public interface: every row is the same on both databases at
   every moment of a life, and the words in them are those of the vocabulary. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/engine_impl.h"
#include "holdfast/tool.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "model/vocab.h"

typedef struct desk {
    int64_t stamps;
} desk;

static bool stamped(const void *state)
{
    return ((const desk *)state)->stamps > 0;
}

static hf_value stamp(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    ((desk *)state)->stamps++;
    return args;
}

static hf_value charge(hf_act *a, hf_value in)
{
    return hf_attempt(a) == 1 ? hf_retry(a, "busy", "call again later") : in;
}

static hf_value refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "declined", "card 17 was declined");
}

/* One wait of every kind, one after the other. */
static hf_value order_run(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    hf_activity(w, "charge", in, .max_attempts = 3);
    (void)hf_activity(w, "refuse", in, .err = &failed);
    hf_sleep(w, hf_minutes(10));
    (void)hf_receive(w, "go");
    (void)hf_wait(w, "stamped", stamped, .timeout = hf_hours(2));
    hf_child(w, "kid", in, .id = "kid-1");
    return hf_json(w, "{'done': true}");
}

/* One failure that it got over, and an activity that nobody here does. */
static hf_value troubled_run(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    (void)hf_activity(w, "refuse", in, .err = &failed);
    return hf_activity(w, "nobody", in);
}

static const hf_signal_def signals[] = {{"go", ""}, {0}};
static const hf_update_def updates[] = {{.name = "stamp", .params = "n:int", .apply = stamp}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order",
                                             .run = order_run,
                                             .state_size = sizeof(desk),
                                             .signals = signals,
                                             .updates = updates},
                                            {.type = "troubled", .run = troubled_run},
                                            {.type = "kid", .run = hf_wait_go, .signals = signals},
                                            {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {hf_fn(refuse)}, {0}};
static const hf_app app = {.name = "sql", .workflows = workflows, .activities = activities};

/* Every column but keys and who holds what, which are a store's own. */
static const char *const questions[] = {
    "select namespace, instance_id, run_number, is_current_run, workflow_type, business_key, "
    "status, closed_reason, wait_kind, blocked, queue, compatibility, started_us, closed_us, "
    "archived_us, updated_us, event_count, exception_count, fan_out, failure_fingerprint, labels, "
    "search_attributes from v_runs order by instance_id, run_number",
    "select r.instance_id, v.first_sequence, v.last_sequence, v.events from v_events v join v_runs "
    "r on r.run = v.run order by r.instance_id, v.first_sequence",
    "select r.instance_id, v.kind, v.step, v.name, v.opened_us, v.deadline_us from v_waits v join "
    "v_runs r on r.run = v.run order by r.instance_id, v.kind, v.step",
    "select r.instance_id, v.step, v.activity_type, v.status, v.attempt, v.max_attempts, "
    "v.lost_attempts, v.scheduled_us, v.started_us, v.available_us, v.deadline_us, v.closed_us "
    "from v_activities v join v_runs r on r.run = v.run order by r.instance_id, v.step",
    "select r.instance_id, v.sequence, v.fingerprint, v.step, v.source, v.name, v.failure_type, "
    "v.message, v.handled, v.at_us from v_failures v join v_runs r on r.run = v.run order by "
    "r.instance_id, v.sequence",
    "select r.instance_id, v.task_type, v.status, v.queue, v.priority, v.available_us, "
    "v.attempt_count, v.repair_count, v.created_us from v_tasks v join v_runs r on r.run = v.run "
    "order by r.instance_id, v.task_type"};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]), ENGINES = 2 };

static bool row_keep(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    hf_buf *out = ctx;

    for (size_t i = 0; i < count; i++)
        hf_buf_add_format(out, "%s|", cells ? (cells[i] ? cells[i] : "NULL") : names[i]);
    hf_buf_add_byte(out, '\n');
    return true;
}

static void ask(hf_engine *d, const char *sql, hf_buf *out)
{
    hf_err err = {0};

    hf_buf_clear(out);
    hf_test_ok(hf_sql(hf_test_place_address(hf_kit_place(d)), NULL, sql, row_keep, out, &err), &err,
               sql);
    ck_assert(hf_buf_ok(out));
}

/* What both databases say is the same; `rows` of each question: how many have been seen. */
static void same(hf_engine *const *both, size_t *rows)
{
    hf_buf texts[ENGINES] = {{0}, {0}};

    for (size_t i = 0; i < ENGINES; i++)
        while (hf_folder_step(both[i]->folder))
            ;
    for (size_t i = 0; i < QUESTIONS; i++) {
        for (size_t e = 0; e < ENGINES; e++)
            ask(both[e], questions[i], &texts[e]);
        ck_assert_str_eq(hf_buf_text(&texts[0]), hf_buf_text(&texts[1]));
        for (size_t at = 0; at < texts[0].len; at++)
            rows[i] += hf_buf_text(&texts[0])[at] == '\n';
    }
    for (size_t e = 0; e < ENGINES; e++)
        hf_buf_fini(&texts[e]);
}

static void stage(hf_engine *d, int number)
{
    switch (number) {
    case 0:
        hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o", .business_key = "b-1",
                              .labels = "{\"region\":\"eu\"}", .search_attributes = "{\"n\":3}"));
        return; /* its first turn is due */
    case 1:
        break; /* activities, one of them twice; then a timer */
    case 2:
        hf_kit_ok(d, hf_test_advance(d, 5000));
        break;
    case 3:
        hf_kit_ok(d, hf_test_advance(d, 600000)); /* a signal */
        break;
    case 4:
        hf_kit_ok(d, hf_signal(d, "o", "go", NULL)); /* a condition */
        break;
    case 5:
        hf_kit_ok(d, hf_update(d, "o", "stamp", hf_json(d, "{'n': 1}"), hf_seconds(5), NULL));
        break; /* a child */
    case 6:
        hf_kit_ok(d, hf_signal(d, "kid-1", "go", NULL));
        break;
    case 7:
        hf_kit_ok(d, hf_archive(d, "o", .reason = "old"));
        break;
    default: /* an activity that stays open */
        hf_kit_ok(d, hf_start(d, "troubled", NULL, .id = "t"));
    }
    hf_kit_ok(d, hf_test_drain(d));
}

/* A life, looked at after each of its moments. */
START_TEST(views_are_the_same_on_both)
{
    hf_engine *both[ENGINES] = {hf_kit_open(HF_ENGINE_SQLITE, &app),
                                hf_kit_open(HF_ENGINE_POSTGRES, &app)};
    size_t rows[QUESTIONS] = {0};

    for (int number = 0; number < 9; number++) {
        for (size_t e = 0; e < ENGINES; e++)
            stage(both[e], number);
        same(both, rows);
    }
    ck_assert_str_eq(hf_test_status(both[0], "o"), "completed");
    for (size_t i = 0; i < QUESTIONS; i++)
        ck_assert_msg(rows[i] > 0, "nothing was ever in the answer to: %s", questions[i]);
    for (size_t e = 0; e < ENGINES; e++)
        hf_kit_close(both[e]);
}
END_TEST

/* A number in a table, and the word that a view makes of it. */
typedef struct worded {
    const char *table, *column;
    const char *view, *shown;
    const hf_vocab *words;
} worded;

/* Every number of the vocabulary is shown by its own word, in the one row that there is. */
static void words_check(hf_engine *d, const worded *w)
{
    hf_buf text = {0};
    char sql[160];
    char wanted[96];
    int64_t was;

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", w->table);
    ck_assert_msg(hf_kit_number(d, sql) == 1, "%s is not 1", sql);
    (void)snprintf(sql, sizeof(sql), "SELECT coalesce(min(%s), 0) FROM %s", w->column, w->table);
    was = hf_kit_number(d, sql);
    for (size_t i = 0; i < w->words->count; i++) {
        const hf_vocab_item *item = &w->words->items[i];

        (void)snprintf(sql, sizeof(sql), "UPDATE %s SET %s = %d", w->table, w->column,
                       item->number);
        hf_kit_sql(d, sql);
        (void)snprintf(sql, sizeof(sql), "select %s from %s", w->shown, w->view);
        ask(d, sql, &text);
        (void)snprintf(wanted, sizeof(wanted), "%s|\n%s|\n", w->shown, item->text);
        ck_assert_str_eq(hf_buf_text(&text), wanted);
    }
    (void)snprintf(sql, sizeof(sql), "UPDATE %s SET %s = nullif(%lld, 0)", w->table, w->column,
                   (long long)was);
    hf_kit_sql(d, sql);
    hf_buf_fini(&text);
}

HF_BOTH_ENGINES(views_speak_the_vocabulary)
{
    static const worded begun[] = {
        {"run_summary", "status", "v_runs", "status", &hf_run_status_list},
        {"run", "closed_reason", "v_runs", "closed_reason", &hf_closed_reason_list},
        {"run_summary", "wait_kind", "v_runs", "wait_kind", &hf_wait_kind_list},
        {"task", "kind", "v_tasks", "task_type", &hf_task_type_list},
        {"task", "status", "v_tasks", "status", &hf_task_status_list}};
    static const worded working[] = {
        {"activity", "status", "v_activities", "status", &hf_activity_status_list},
        {"failure", "source", "v_failures", "source", &hf_failure_source_kind_list}};
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "troubled", NULL, .id = "t"));
    while (hf_folder_step(d->folder))
        ;
    for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
        words_check(d, &begun[i]);
    hf_kit_ok(d, hf_test_drain(d));
    while (hf_folder_step(d->folder))
        ;
    for (size_t i = 0; i < sizeof(working) / sizeof(working[0]); i++)
        words_check(d, &working[i]);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/sql", {views_are_the_same_on_both, 120},
                 HF_BOTH(views_speak_the_vocabulary))
