/* Fork and reset, through holdfast.h on both databases: the copied history replays, what was open
   is open again, and the run that was copied stays what it was. */
#include <stdio.h>
#include <string.h>

#include "engine/command.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

static int worked; /* calls of the activity */

static hf_value work(hf_act *a, hf_value in)
{
    (void)a;
    worked++;
    return in;
}

/* Three activities; which of them runs in the middle is chance, and must be the same chance again.
 */
static hf_value order(hf_ctx *w, hf_value in)
{
    static const char *const middles[] = {"work", "twin", "third"};
    hf_value one = hf_activity(w, "work", in);
    hf_value two = hf_activity(w, middles[hf_random(w) % 3], hf_json(w, "2"));
    hf_value three = hf_activity(w, "work", hf_json(w, "3"));

    return hf_json(w, "[%lld, %p, %p]", (long long)hf_len(one), (const void *)two,
                   (const void *)three);
}

static hf_value fan(hf_ctx *w, hf_value in)
{
    (void)hf_activity(w, "work", in);
    (void)hf_all(w, HF_ACTIVITY("work", in), HF_ACTIVITY("work", in), HF_ACTIVITY("work", in));
    return hf_activity(w, "work", in);
}

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_future later = hf_spawn_activity(w, "work", in, .queue = "elsewhere");

    hf_sleep(w, hf_seconds(60));
    (void)later;
    return in;
}

static hf_value listen(hf_ctx *w, hf_value in)
{
    hf_value a = hf_receive(w, "a");
    hf_value b = hf_receive(w, "b");
    hf_value c = hf_receive(w, "a");

    (void)in;
    return hf_json(w, "[%p, %p, %p]", (const void *)a, (const void *)b, (const void *)c);
}

static hf_value kid(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "a");
}

static hf_value family(hf_ctx *w, hf_value in)
{
    hf_value got = hf_child(w, "kid", in, .id = "the-kid", .on_parent_close = HF_CLOSE_TERMINATE);

    (void)hf_activity(w, "work", got);
    (void)hf_receive(w, "b");
    return got;
}

static const hf_signal_def signals[] = {{"a", NULL}, {"b", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order},
    {.type = "fan", .run = fan},
    {.type = "sleeper", .run = sleeper},
    {.type = "listen", .run = listen, .signals = signals},
    {.type = "kid", .run = kid, .signals = signals},
    {.type = "family", .run = family, .signals = signals},
    {0},
};
static const hf_activity_def activities[] = {
    {hf_fn(work)}, {.name = "twin", .run = work}, {.name = "third", .run = work}, {0}};
static const hf_app app = {.name = "fork", .workflows = workflows, .activities = activities};

/* ---- helpers */

#define OPTS(...)                                                                                  \
    &(hf_copy_opts)                                                                                \
    {                                                                                              \
        .size_ = sizeof(hf_copy_opts), __VA_ARGS__                                                 \
    }

/* More than fits into an event. */
static hf_value big(hf_engine *d)
{
    static char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    return hf_json(d, "[%s, %s]", text, "end");
}

/* The exported run replays with the code of today. */
static void replays(hf_engine *d, const char *id)
{
    const char *bundle = NULL;
    char path[512];
    char why[512] = "";
    FILE *file;

    hf_kit_ok(d, hf_export(d, hf_mem_of_engine(d), &bundle, id));
    (void)snprintf(path, sizeof(path), "%s/bundle.json", hf_test_place_folder(hf_kit_place(d)));
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(bundle, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(hf_test_replay(&app, path, why, sizeof(why)) == HF_OK, "%s: %s", id, why);
    ck_assert_int_eq(remove(path), 0);
}

/* ---- fork */

/* The new instance has the results of the steps that are kept and computes the rest; payloads that
   are stored apart come with it, and so does chance. */
HF_BOTH_ENGINES(fork_goes_on_after_a_step)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *id = NULL;

    for (int step = 0; step <= 3; step++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "o%d", step);
        hf_kit_ok(d, hf_start(d, "order", big(d), .id = name));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, name), "completed");
        worked = 0;
        hf_kit_ok(d, hf_fork_with(d, name, OPTS(.step = step, .reason = "try"), &id));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, id), "completed");
        ck_assert_str_eq(hf_kit_result(d, id), "[2,2,3]");
        ck_assert_int_eq(worked, 3 - step);
        ck_assert_int_eq(hf_test_count(d, id, "RunForked"), 1);
        ck_assert_str_eq(hf_kit_said(d, id, "RunForked", 0, HF_KEY_REASON), "try");
        ck_assert_int_eq(hf_test_count(d, name, "RunForked"), 0);
        replays(d, id);
    }
    /* a fork of a fork, after a crash */
    hf_test_crash(d);
    worked = 0;
    hf_kit_ok(d, hf_fork_with(d, id, OPTS(.step = 2, .id = "again"), NULL));
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "again"), "[2,2,3]");
    ck_assert_int_eq(worked, 1);
    replays(d, "again");
    hf_kit_close(d);
}

/* Activities begin anew and timers are due when they were; the run that was copied keeps its own.
 */
HF_BOTH_ENGINES(fork_opens_again_what_was_open)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "sleeper", hf_json(d, "7"), .id = "z"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30)));
    hf_kit_ok(d, hf_fork_with(d, "z", OPTS(.step = 2, .id = "y"), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "y"), "waiting timer");
    ck_assert_str_eq(hf_kit_said(d, "y", "TimerScheduled", 0, HF_KEY_FIRE_AT),
                     hf_kit_said(d, "z", "TimerScheduled", 0, HF_KEY_FIRE_AT));
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(31)));
    ck_assert_str_eq(hf_test_status(d, "y"), "completed");
    ck_assert_str_eq(hf_test_status(d, "z"), "completed");
    hf_kit_close(d);
}

/* What is no boundary is refused with a reason, and nothing changes. */
HF_BOTH_ENGINES(fork_refuses_what_is_no_boundary)
{
    static const int64_t steps[] = {-1, 2, 3, 6, 1000000};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result result;
    int64_t runs;

    hf_kit_ok(d, hf_start(d, "fan", hf_json(d, "1"), .id = "f"));
    hf_kit_ok(d, hf_start(d, "kid", NULL, .id = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    runs = hf_kit_number(d, "SELECT count(*) FROM run");
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        ck_assert_int_eq(hf_fork_with(d, "f", OPTS(.step = steps[i]), NULL), HF_REJECTED);
        ck_assert(strstr(hf_errmsg(d), "no_step_boundary") != NULL);
        ck_assert_int_eq(hf_reset_with(d, "f", OPTS(.step = steps[i])), HF_REJECTED);
    }
    hf_kit_ok(d, hf_command(d, "fork", hf_json(d, "{'workflow_id': 'f', 'step': 9}"),
                            hf_mem_of_engine(d), &result));
    ck_assert(!result.accepted);
    ck_assert_str_eq(result.outcome, "rejected_no_step_boundary");
    ck_assert_int_eq(hf_fork_with(d, "f", OPTS(.step = 1, .id = "k"), NULL), HF_EXISTS);
    ck_assert_int_eq(hf_fork_with(d, "f", OPTS(.step = 1, .id = "no spaces"), NULL), HF_INVALID);
    ck_assert_int_eq(hf_fork_with(d, "nobody", OPTS(.step = 1), NULL), HF_NOTFOUND);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), runs);
    hf_kit_ok(d, hf_fork_with(d, "f", OPTS(.step = 4, .id = "g"), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "g"), "completed");
    hf_kit_close(d);
}

/* The same request is answered with what the first one made. */
HF_BOTH_ENGINES(fork_of_a_repeated_request_is_made_once)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *first = NULL;
    const char *second = NULL;
    const char *third = NULL;

    hf_kit_ok(d, hf_start(d, "kid", NULL, .id = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_fork_with(d, "k", OPTS(.request_id = "r1"), &first));
    hf_kit_ok(d, hf_fork_with(d, "k", OPTS(.request_id = "r1"), &second));
    hf_kit_ok(d, hf_fork_with(d, "k", OPTS(.request_id = "r2"), &third));
    ck_assert_str_eq(first, second);
    ck_assert_str_ne(first, third);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 3);
    hf_kit_ok(d, hf_reset_with(d, "k", OPTS(.request_id = "r1")));
    hf_kit_ok(d, hf_reset_with(d, "k", OPTS(.request_id = "r1")));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 4);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* A signal that was received and not yet used comes with the history; later ones come when asked
   for, by name. */
HF_BOTH_ENGINES(fork_carries_the_signals_it_is_told_to)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "listen", NULL, .id = "l"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "l", "b", hf_json(d, "['early']"))); /* waits for its turn */
    hf_kit_ok(d, hf_signal(d, "l", "a", hf_json(d, "['one']")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "l", "b", hf_json(d, "['late']")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_fork_with(d, "l", OPTS(.step = 0, .id = "none"), NULL));
    hf_kit_ok(d, hf_fork_with(d, "l", OPTS(.step = 1, .id = "kept"), NULL));
    hf_kit_ok(d, hf_fork_with(d, "l", OPTS(.step = 0, .id = "named", .signals = "x, a"), NULL));
    hf_kit_ok(d, hf_fork_with(d, "l", OPTS(.step = 0, .id = "all", .signals = "*"), NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "none"), "waiting signal:a");
    ck_assert_str_eq(hf_test_status(d, "kept"), "waiting signal:a");
    ck_assert_int_eq(hf_test_count(d, "kept", "SignalApplied"), 2);
    ck_assert_str_eq(hf_test_status(d, "named"), "waiting signal:b");
    ck_assert_str_eq(hf_test_status(d, "all"), "waiting signal:a");
    ck_assert_int_eq(hf_test_count(d, "all", "SignalReceived"), 3);
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "all", "a", hf_json(d, "['two']")));
    hf_kit_ok(d, hf_signal(d, "kept", "a", hf_json(d, "['three']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "all"), "[\"one\",\"early\",\"two\"]");
    ck_assert_str_eq(hf_kit_result(d, "kept"), "[\"one\",\"early\",\"three\"]");
    hf_kit_close(d);
}

/* ---- reset */

/* The open run closes as terminated and says why; the next run goes on from the step. */
HF_BOTH_ENGINES(reset_takes_the_place_of_an_open_run)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_history_opts closed = {.size_ = sizeof(closed), .id = "l"};
    hf_command_result out;
    hf_value page = NULL;

    worked = 0;
    hf_kit_ok(d, hf_start(d, "listen", NULL, .id = "l"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "l", "a", hf_json(d, "['one']")));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal(d, "l", "b", hf_json(d, "['wrong']")));
    hf_kit_ok(d, hf_test_drain(d));
    out =
        hf_kit_ask(d, "reset", hf_json(d, "{'workflow_id': 'l', 'step': 1, 'reason': 'wrong b'}"));
    closed.run_id = hf_str(out.detail, "origin_run_id", "");
    hf_kit_ok(d, hf_history_with(d, hf_mem_of_engine(d), &page, &closed));
    page = hf_at(hf_get(page, "events"), hf_len(hf_get(page, "events")) - 1);
    ck_assert_str_eq(hf_str(page, "event_type", ""), "WorkflowTerminated");
    ck_assert_str_eq(hf_str(page, "payload.reason", ""), "reset to step 1: wrong b");
    ck_assert_str_eq(hf_kit_said(d, "l", "RunReset", 0, HF_KEY_REASON), "wrong b");
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "l"), "waiting signal:b");
    hf_test_crash(d);
    hf_kit_ok(d, hf_signal(d, "l", "b", hf_json(d, "['right']")));
    hf_kit_ok(d, hf_signal(d, "l", "a", hf_json(d, "['two']")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "l"), "[\"one\",\"right\",\"two\"]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE status = 5"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(number) FROM run"), 2);
    replays(d, "l");
    hf_kit_close(d);
}

/* A closed run is reset as well: what it is stays, and the next run begins. */
HF_BOTH_ENGINES(reset_begins_after_a_closed_run)
{
    hf_engine *d = hf_kit_open(kind, &app);

    worked = 0;
    hf_kit_ok(d, hf_start(d, "order", big(d), .id = "o"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(worked, 3);
    hf_kit_ok(d, hf_reset_with(d, "o", OPTS(.step = 2)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(worked, 4);
    ck_assert_str_eq(hf_kit_result(d, "o"), "[2,2,3]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE status = 6"), 2);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM link WHERE kind = 4"), 1);
    replays(d, "o");
    hf_kit_close(d);
}

/* A child of a step that is kept is not made twice: it answers the next run. One of a step that is
   dropped is treated as its call says. A fork cannot have it. */
HF_BOTH_ENGINES(reset_takes_children_over)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "family", NULL, .id = "p"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_fork_with(d, "p", OPTS(.step = 1, .id = "q"), NULL), HF_REJECTED);
    ck_assert(strstr(hf_errmsg(d), "child_open") != NULL);
    hf_kit_ok(d, hf_reset_with(d, "p", OPTS(.step = 1)));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "the-kid"), "waiting signal:a");
    hf_kit_ok(d, hf_signal(d, "the-kid", "a", hf_json(d, "[5]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting signal:b");
    hf_kit_ok(d, hf_fork_with(d, "p", OPTS(.step = 1, .id = "q"), NULL)); /* it is on the record */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "q"), "waiting signal:b");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance"), 3);
    hf_kit_ok(d, hf_signal(d, "p", "b", NULL));
    hf_kit_ok(d, hf_signal(d, "q", "b", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "p"), "5");
    ck_assert_str_eq(hf_kit_result(d, "q"), "5");
    hf_kit_close(d);
}

/* The child ends while the reset is drafted, just before it commits or together with it: the run
   that takes the place of the other hears of it. */
HF_BOTH_ENGINES(reset_hears_of_a_child_that_ends_meanwhile)
{
    for (int turns = 1; turns <= 3; turns++) {
        hf_engine *d = hf_kit_open(kind, &app);

        hf_kit_ok(d, hf_start(d, "family", NULL, .id = "p"));
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_signal(d, "the-kid", "a", hf_json(d, "[5]")));
        for (int i = 0; i < turns; i++)
            (void)hf_core_step(d->core); /* its end is staged, not written */
        hf_kit_ok(d, hf_reset_with(d, "p", OPTS(.step = 1)));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_test_status(d, "the-kid"), "completed");
        ck_assert_str_eq(hf_test_status(d, "p"), "waiting signal:b");
        hf_kit_ok(d, hf_signal(d, "p", "b", NULL));
        hf_kit_ok(d, hf_test_drain(d));
        ck_assert_str_eq(hf_kit_result(d, "p"), "5");
        ck_assert_int_eq(hf_test_count(d, "p", "ChildRunCompleted"), 1);
        hf_kit_close(d);
    }
}

HF_BOTH_ENGINES(reset_closes_children_of_dropped_steps)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "family", NULL, .id = "p"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_pause(d, "p")); /* so that it does not ask for the id while that is taken */
    hf_kit_ok(d, hf_reset_with(d, "p", OPTS(.step = 0)));
    hf_kit_ok(d, hf_pause(d, "p"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "the-kid"), "terminated");
    hf_kit_close(d);
}

/* ---- crashes */

static hf_status reset_scenario(hf_engine *d, void *arg)
{
    hf_status st = hf_start(d, "listen", NULL, .id = "l");

    (void)arg;
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_signal(d, "l", "a", hf_json(d, "[1]"));
    if (!st)
        st = hf_test_drain(d);
    if (!st)
        st = hf_reset_with(d, "l", OPTS(.step = 1, .request_id = "once"));
    if (!st)
        st = hf_fork_with(d, "l", OPTS(.step = 1, .id = "m", .request_id = "once"), NULL);
    if (!st)
        st = hf_test_drain(d);
    for (int i = 0; !st && i < 2; i++) {
        st = hf_signal(d, i ? "l" : "m", "b", hf_json(d, "[2]"));
        if (!st)
            st = hf_signal(d, i ? "l" : "m", "a", hf_json(d, "[3]"));
    }
    return st ? st : hf_test_drain(d);
}

/* A crash after any commit changes nothing of it. */
START_TEST(fork_and_reset_survive_every_crash)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, reset_scenario, NULL, why, sizeof(why)) == HF_OK,
                  "%s", why);
}
END_TEST

HF_PG_SUITE_MAIN("engine/fork", HF_BOTH(fork_goes_on_after_a_step),
                 HF_BOTH(fork_opens_again_what_was_open), HF_BOTH(fork_refuses_what_is_no_boundary),
                 HF_BOTH(fork_of_a_repeated_request_is_made_once),
                 HF_BOTH(fork_carries_the_signals_it_is_told_to),
                 HF_BOTH(reset_takes_the_place_of_an_open_run),
                 HF_BOTH(reset_begins_after_a_closed_run), HF_BOTH(reset_takes_children_over),
                 HF_BOTH(reset_hears_of_a_child_that_ends_meanwhile),
                 HF_BOTH(reset_closes_children_of_dropped_steps),
                 {fork_and_reset_survive_every_crash, 0})
