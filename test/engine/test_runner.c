/* Workflow code that does not come back, on the real clock: everything else goes on, and what the
   code does afterwards counts for nothing. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/engine_impl.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { OTHERS = 100 };

static _Atomic bool released; /* lets looping workflows go */
static _Atomic int turns;     /* that the code of `loop` had */
static _Atomic int gone;      /* of them, those that came back */

static void spin(void)
{
    (void)atomic_fetch_add(&turns, 1);
    while (!atomic_load(&released))
        ;
    (void)atomic_fetch_add(&gone, 1);
}

/* Loops with an activity under way and a value in its history that is read again afterwards. */
static hf_value loop(hf_ctx *w, hf_value in)
{
    hf_value before = hf_activity(w, "echo", in);
    hf_future f = hf_spawn_activity(w, "echo", hf_json(w, "'joined'"));

    hf_sleep(w, 0);
    spin();
    (void)hf_join(w, f);
    return before;
}

static hf_value plain(hf_ctx *w, hf_value in)
{
    hf_value out = hf_activity(w, "echo", in);

    hf_sleep(w, 1);
    return hf_activity(w, "echo", out);
}

static hf_value ask(hf_mem *mem, const void *state, hf_value in)
{
    (void)state;
    (void)in;
    return hf_json_(mem, "'answer'");
}

static hf_value ask_loop(hf_mem *mem, const void *state, hf_value in)
{
    (void)state;
    (void)in;
    spin();
    return hf_json_(mem, "'late'");
}

static const hf_workflow_def workflows[] = {
    {.type = "loop", .run = loop, .queries = (const hf_query_def[]){{"ask", NULL, ask}, {0}}},
    {.type = "plain", .run = plain},
    {.type = "waits",
     .run = hf_wait_go,
     .signals = (const hf_signal_def[]){{"go", "what:any"}, {0}},
     .queries = (const hf_query_def[]){{"loop", NULL, ask_loop}, {0}}},
    {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static hf_engine *open_at(hf_test_place *place)
{
    hf_engine *d = NULL;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    return d;
}

/* At most a minute. */
static void until_lost(hf_engine *d, int64_t count)
{
    for (int i = 0; i < 6000 && hf_core_lost(d->core, NULL) != count; i++)
        hf_nap_ms(10);
    ck_assert_int_eq(hf_core_lost(d->core, NULL), count);
}

static void completes(hf_engine *d, const char *id)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_result(d, id, hf_seconds(60), &out, &e));
}

static void others_complete(hf_engine *d, const char *prefix)
{
    char id[64];

    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(id, sizeof(id), "%s-%d", prefix, i);
        hf_kit_ok(d, hf_start(d, "plain", hf_json(d, "%d", i), .id = id));
    }
    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(id, sizeof(id), "%s-%d", prefix, i);
        completes(d, id);
    }
}

/* One run loops for ever, a hundred others complete; when it comes back at last, what its first
   thread did is thrown away and a second turn completes it. */
HF_BOTH_ENGINES(the_rest_goes_on)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);
    char big[3000];
    int64_t ever = 0;

    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    hf_kit_ok(d, hf_start(d, "loop", hf_json(d, "%s", big), .id = "looping"));
    others_complete(d, "during");
    until_lost(d, 1);
    ck_assert_int_eq(atomic_load(&turns), 1);
    others_complete(d, "after");
    ck_assert_int_eq(atomic_load(&turns), 1); /* it has no other turn while it is away */
    atomic_store(&released, true);
    completes(d, "looping");
    ck_assert_int_eq(hf_core_lost(d->core, &ever), 0);
    ck_assert_int_eq(ever, 1);
    ck_assert_int_eq(atomic_load(&turns), 2);
    hf_close(d);
    hf_test_place_free(place);
}

/* A query of a run whose code is away is refused, and the run's own deadline does not wait. */
HF_BOTH_ENGINES(an_absent_run_is_told_of_and_times_out)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);
    hf_value out = NULL;
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "a", .run_timeout = hf_seconds(5)));
    until_lost(d, 1);
    ck_assert_int_eq(hf_query(d, "a", "ask", NULL, &out), HF_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "task_timeout"));
    hf_kit_ok(d, hf_why(d, "a", hf_mem_of_engine(d), &out));
    ck_assert_str_eq(hf_str(out, "code", ""), "task_timeout");
    ck_assert_int_eq(hf_result(d, "a", hf_seconds(60), &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "run_timeout");
    atomic_store(&released, true);
    until_lost(d, 0);
    hf_close(d);
    hf_test_place_free(place);
}

static void *query_thread(void *ctx)
{
    hf_engine *d = ctx;
    hf_value out = NULL;

    hf_kit_ok(d, hf_query(d, "a", "loop", NULL, &out));
    ck_assert_str_eq(hf_str(out, "", ""), "late");
    return NULL;
}

/* A query that loops holds up nobody but who asked. */
HF_BOTH_ENGINES(a_query_may_loop)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);
    pthread_t asker;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "a"));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "b"));
    ck_assert_int_eq(pthread_create(&asker, NULL, query_thread, d), 0);
    until_lost(d, 1);
    others_complete(d, "x");
    hf_kit_ok(d, hf_signal(d, "b", "go", hf_json(d, "[1]")));
    completes(d, "b");
    hf_kit_ok(d, hf_signal(d, "a", "go", hf_json(d, "[1]")));
    atomic_store(&released, true);
    ck_assert_int_eq(pthread_join(asker, NULL), 0);
    completes(d, "a");
    hf_close(d);
    hf_test_place_free(place);
}

/* No more threads are given up than is allowed; the core then waits, and goes on when code comes
   back. */
HF_BOTH_ENGINES(lost_threads_are_bounded)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);

    d->lost_max = 1;
    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "a"));
    until_lost(d, 1);
    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "b"));
    for (int i = 0; i < 1000 && atomic_load(&turns) < 2; i++)
        hf_nap_ms(10);
    hf_nap_ms(3000);
    ck_assert_int_eq(hf_core_lost(d->core, NULL), 1);
    atomic_store(&released, true);
    completes(d, "a");
    completes(d, "b");
    hf_close(d);
    hf_test_place_free(place);
}

/* Closing leaves the thread behind; it ends quietly when the code comes back, and the next engine
   takes the run up. */
HF_BOTH_ENGINES(closing_does_not_wait_for_ever)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = open_at(place);

    hf_kit_ok(d, hf_start(d, "loop", NULL, .id = "a"));
    for (int i = 0; i < 1000 && atomic_load(&turns) < 1; i++)
        hf_nap_ms(10);
    hf_close(d); /* within the time that any code has */
    d = open_at(place);
    hf_kit_ok(d, hf_start(d, "plain", hf_json(d, "1"), .id = "b"));
    until_lost(d, 1);
    completes(d, "b");
    hf_close(d); /* with one that is away already */
    ck_assert_int_eq(atomic_load(&gone), 0);
    atomic_store(&released, true);
    for (int i = 0; i < 1000 && atomic_load(&gone) < 2; i++)
        hf_nap_ms(10);
    ck_assert_int_eq(atomic_load(&gone), 2);
    d = open_at(place);
    completes(d, "a");
    hf_close(d);
    hf_nap_ms(50); /* the last words of the threads that were left */
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/runner", HF_BOTH_SLOW(the_rest_goes_on, 120),
                 HF_BOTH_SLOW(an_absent_run_is_told_of_and_times_out, 120),
                 HF_BOTH_SLOW(a_query_may_loop, 120), HF_BOTH_SLOW(lost_threads_are_bounded, 120),
                 HF_BOTH_SLOW(closing_does_not_wait_for_ever, 120))
