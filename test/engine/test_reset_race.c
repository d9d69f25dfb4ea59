/* A parent is reset while its child goes on as another run, and the other way round: right before
   every commit of the one the other is done, on PostgreSQL by another engine with sessions of its
   own. Whoever comes second works on what the first left: the parent that is there then waits for
   the child that is there then, hears of its end, and no repair was needed for it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "lib/kit.h"

enum { COMMITS_MAX = 12 };

/* ---- the application */

/* Goes on as a new run until it is told to end. */
static hf_value hop(hf_ctx *w, hf_value in)
{
    hf_value what = hf_receive(w, "do");

    if (strcmp(hf_str(what, "", ""), "hop") == 0)
        hf_continue_as_new(w, hf_json(w, "%lld", (long long)hf_int(in, "", 0) + 1));
    return in;
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_child(w, "hop", hf_json(w, "0"), .id = hf_str(in, "", ""));
}

static const hf_signal_def signals[] = {{"do", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "parent", .run = parent}, {.type = "hop", .run = hop, .signals = signals}, {0}};
static const hf_app app = {.name = "reset_race", .workflows = workflows};

/* ---- what happens */

typedef enum deed { RESET, HOP, HOP_TWICE, HOP_AND_END, END, RESET_CHILD, DEEDS } deed;

static const char *const names[] = {"reset", "hop", "hop-twice", "hop-and-end", "end", "again"};

typedef struct scene {
    hf_engine *engine; /* of whoever comes in between */
    deed what;
    bool came; /* and is there */
    char parent[48];
    char child[48];
} scene;

/* A command, and who gives it. */
typedef struct order {
    hf_engine *engine;
    const scene *scene;
    const char *say; /* to the child; NULL: a reset */
    bool to_child;
} order;

static void *order_give(void *arg)
{
    const order *o = arg;
    const hf_copy_opts copy = {.size_ = sizeof(copy), .step = o->to_child ? 0 : 1};

    hf_kit_ok(
        o->engine,
        o->say ? hf_signal(o->engine, o->scene->child, "do", hf_json(o->engine, "[%s]", o->say))
               : hf_reset_with(o->engine, o->to_child ? o->scene->child : o->scene->parent, &copy));
    return NULL;
}

/* Whoever comes in between has a thread of its own to call from; what comes of it happens on the
   engine's. */
static void order_do(hf_engine *d, const scene *s, const char *say, bool to_child)
{
    order o = {.engine = d, .scene = s, .say = say, .to_child = to_child};
    pthread_t thread;

    if (s->came) {
        ck_assert_int_eq(pthread_create(&thread, NULL, order_give, &o), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    } else {
        (void)order_give(&o);
    }
    hf_kit_ok(d, hf_test_drain(d));
}

static void deed_do(hf_engine *d, const scene *s, deed what)
{
    switch (what) {
    case RESET:
        order_do(d, s, NULL, false);
        break;
    case HOP:
        order_do(d, s, "hop", true);
        break;
    case HOP_TWICE:
        order_do(d, s, "hop", true);
        order_do(d, s, "hop", true);
        break;
    case HOP_AND_END:
        order_do(d, s, "hop", true);
        order_do(d, s, "end", true);
        break;
    case END:
        order_do(d, s, "end", true);
        break;
    case RESET_CHILD:
        order_do(d, s, NULL, true);
        break;
    case DEEDS:
        break;
    }
}

static bool is_over(hf_engine *d, const char *id)
{
    return strcmp(hf_test_status(d, id), "completed") == 0;
}

/* Rows are the truth: engines that begin anew find all there is to do, without a moment passing. */
static void settle(hf_engine *d, hf_engine *other)
{
    for (int i = 0; i < 2; i++) {
        hf_test_crash(d);
        hf_kit_ok(d, hf_test_drain(d));
        if (other != d) {
            hf_test_crash(other);
            hf_kit_ok(other, hf_test_drain(other));
        }
    }
}

static void meddle(void *ctx)
{
    scene *s = ctx;

    s->came = true;
    deed_do(s->engine, s, s->what);
}

/* The second deed right before the nth commit of the first. False: it has not so many. */
static bool race(hf_engine *d, hf_engine *other, deed first, deed second, int nth)
{
    scene s = {.engine = other, .what = second};

    (void)snprintf(s.parent, sizeof(s.parent), "p-%s-%s-%d", names[first], names[second], nth);
    (void)snprintf(s.child, sizeof(s.child), "c-%s-%s-%d", names[first], names[second], nth);
    hf_kit_ok(d, hf_start(d, "parent", hf_json(d, "%s", s.child), .id = s.parent));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_meddle(d, nth, meddle, &s);
    deed_do(d, &s, first);
    hf_kit_meddle(d, INT32_MAX, NULL, NULL);
    settle(d, other);
    if (!is_over(d, s.child))
        order_do(d, &s, "end", true);
    settle(d, other);
    ck_assert_msg(is_over(d, s.child), "%s: %s", s.child, hf_test_status(d, s.child));
    ck_assert_msg(is_over(d, s.parent), "%s: %s: %s", s.parent, hf_test_status(d, s.parent),
                  hf_kit_history(d, s.parent));
    ck_assert_msg(!strstr(hf_kit_history(d, s.parent), "RepairRequested"), "%s", s.parent);
    return s.came;
}

static void pair_race(hf_engine_kind kind, deed first, deed second)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_engine *other = kind == HF_ENGINE_POSTGRES ? hf_kit_join(d, &app) : d;
    int nth = 1;

    if (other != d)
        hf_kit_skip(other, 1); /* two machines never agree to the microsecond */
    while (nth < COMMITS_MAX && race(d, other, first, second, nth))
        nth++;
    ck_assert_int_gt(nth, 1);
    if (other != d)
        hf_kit_leave(other);
    hf_kit_close(d);
}

/* The child goes on while the parent's reset is under way. */
HF_BOTH_ENGINES(a_reset_meets_a_child_that_continued)
{
    pair_race(kind, RESET, HOP);
}

HF_BOTH_ENGINES(a_reset_meets_a_child_that_continued_twice)
{
    pair_race(kind, RESET, HOP_TWICE);
}

HF_BOTH_ENGINES(a_reset_meets_a_child_that_continued_and_ended)
{
    pair_race(kind, RESET, HOP_AND_END);
}

HF_BOTH_ENGINES(a_reset_meets_a_child_that_ended)
{
    pair_race(kind, RESET, END);
}

/* The parent is reset while the child's next run is under way. */
HF_BOTH_ENGINES(a_continuing_child_meets_a_reset)
{
    pair_race(kind, HOP, RESET);
}

HF_BOTH_ENGINES(an_ending_child_meets_a_reset)
{
    pair_race(kind, END, RESET);
}

/* Both are reset. */
HF_BOTH_ENGINES(two_resets_meet)
{
    pair_race(kind, RESET, RESET_CHILD);
    pair_race(kind, RESET_CHILD, RESET);
}

HF_PG_SUITE_MAIN("engine/reset_race", HF_BOTH(a_reset_meets_a_child_that_continued),
                 HF_BOTH(a_reset_meets_a_child_that_continued_twice),
                 HF_BOTH(a_reset_meets_a_child_that_continued_and_ended),
                 HF_BOTH(a_reset_meets_a_child_that_ended),
                 HF_BOTH(a_continuing_child_meets_a_reset), HF_BOTH(an_ending_child_meets_a_reset),
                 HF_BOTH(two_resets_meet))
