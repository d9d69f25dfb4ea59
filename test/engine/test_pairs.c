/* Two things happen to one run: cancel, terminate, complete, time out, signal, reset, continue as
   new, in every order. Exactly one of them closes it, the other is told why it came too late, and
   verify, which sees every store that a case leaves, finds one closing event per run. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

/* Does what it is told, one signal after the other. */
static hf_value obey(hf_ctx *w, hf_value in)
{
    for (;;) {
        hf_value what = hf_receive(w, "do");

        if (strcmp(hf_str(what, "", ""), "complete") == 0)
            return in;
        if (strcmp(hf_str(what, "", ""), "continue") == 0)
            hf_continue_as_new(w, in);
    }
}

static const hf_signal_def signals[] = {{"do", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "obey", .run = obey, .signals = signals}, {0}};
static const hf_app app = {.name = "pairs", .workflows = workflows};

/* ---- what can happen */

typedef enum deed { CANCEL, TERMINATE, COMPLETE, TIME_OUT, SIGNAL, RESET, CONTINUE, DEEDS } deed;

static const char *const names[] = {"cancel", "terminate", "complete", "timeout",
                                    "signal", "reset",     "continue"};

static hf_status deed_do(hf_engine *d, deed what, const char *id)
{
    switch (what) {
    case CANCEL:
        return hf_cancel(d, id, "pair");
    case TERMINATE:
        return hf_terminate(d, id, "pair");
    case COMPLETE:
        return hf_signal(d, id, "do", hf_json(d, "['complete']"));
    case TIME_OUT:
        return hf_test_advance(d, hf_minutes(2));
    case SIGNAL:
        return hf_signal(d, id, "do", hf_json(d, "['nothing']"));
    case RESET:
        return hf_reset_with(d, id, NULL);
    case CONTINUE:
        return hf_signal(d, id, "do", hf_json(d, "['continue']"));
    case DEEDS:
        break;
    }
    return HF_MISUSE;
}

/* What must have come of it, in words of the run alone. */
typedef struct model {
    bool closed;
    bool completes; /* the signal is there, code has not seen it */
} model;

static void model_drain(model *m)
{
    m->closed = m->closed || m->completes;
    m->completes = false;
}

static hf_status model_do(model *m, deed what)
{
    if (m->closed && what != RESET && what != TIME_OUT)
        return HF_REJECTED;
    switch (what) {
    case CANCEL:
    case TERMINATE:
    case TIME_OUT:
        *m = (model){.closed = true};
        break;
    case COMPLETE:
        m->completes = true;
        break;
    case RESET: /* it begins again, and hears nothing of what was said before */
        *m = (model){0};
        break;
    case SIGNAL:
    case CONTINUE:
    case DEEDS:
        break;
    }
    return HF_OK;
}

static void pair_check(hf_engine *d, deed first, deed second, bool apart)
{
    model m = {0};
    char id[64];
    hf_status st;

    (void)snprintf(id, sizeof(id), "%s-%s-%d", names[first], names[second], apart);
    hf_kit_ok(d, hf_start(d, "obey", NULL, .id = id, .run_timeout = hf_minutes(1)));
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 2; i++) {
        deed what = i ? second : first;

        st = deed_do(d, what, id);
        ck_assert_msg(st == model_do(&m, what), "%s: %s is %s", id, names[what], hf_strstatus(st));
        if (st)
            ck_assert_msg(strstr(hf_errmsg(d), "run_not_active") != NULL, "%s: %s", id,
                          hf_errmsg(d));
        if (apart || what == TIME_OUT) {
            hf_kit_ok(d, hf_test_drain(d));
            model_drain(&m);
        }
    }
    hf_kit_ok(d, hf_test_drain(d));
    model_drain(&m);
    ck_assert_msg(m.closed == (strncmp(hf_test_status(d, id), "waiting", 7) != 0), "%s: %s", id,
                  hf_test_status(d, id));
}

/* Every ordered pair, once with the code running in between and once without. */
HF_BOTH_ENGINES(every_pair_leaves_one_end)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (int first = 0; first < DEEDS; first++)
        for (int second = 0; second < DEEDS; second++)
            for (int apart = 0; apart < 2; apart++)
                pair_check(d, (deed)first, (deed)second, apart);
    hf_kit_close(d);
}

/* ---- at once */

typedef struct racer {
    hf_engine *engine;
    deed what;
    const char *id;
    hf_status st;
    char why[256];
} racer;

static void *race(void *arg)
{
    racer *one = arg;

    one->st = deed_do(one->engine, one->what, one->id);
    (void)snprintf(one->why, sizeof(one->why), "%s", one->st ? hf_errmsg(one->engine) : "");
    return NULL;
}

static void race_check(hf_engine *left, hf_engine *right, deed first, deed second, int round)
{
    char id[64];
    racer racers[] = {{.engine = left, .what = first, .id = id},
                      {.engine = right, .what = second, .id = id}};
    pthread_t threads[2];

    (void)snprintf(id, sizeof(id), "%s-%s-%d", names[first], names[second], round);
    hf_kit_ok(left, hf_start(left, "obey", NULL, .id = id));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(racers[i].st == HF_OK ||
                          (racers[i].st == HF_REJECTED && strstr(racers[i].why, "run_not_active")),
                      "%s: %s: %s (%s)", id, names[racers[i].what], hf_strstatus(racers[i].st),
                      racers[i].why);
    ck_assert_msg(racers[0].st == HF_OK || racers[1].st == HF_OK, "%s: both were refused", id);
    if ((first == CANCEL || first == TERMINATE) && (second == CANCEL || second == TERMINATE))
        ck_assert_msg(racers[0].st != racers[1].st, "%s: both closed it", id);
}

/* The same at once: on PostgreSQL through two engines with sessions of their own. */
HF_BOTH_ENGINES(two_at_once_leave_one_end)
{
    static const deed deeds[] = {CANCEL, TERMINATE, COMPLETE, SIGNAL, RESET, CONTINUE};
    enum { COUNT = sizeof(deeds) / sizeof(*deeds), ROUNDS = 2 };
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *left = NULL;
    hf_engine *right = NULL;

    hf_kit_ok(left, hf_open(hf_test_place_address(place), &app, &left));
    if (kind == HF_ENGINE_POSTGRES)
        hf_kit_ok(right, hf_open(hf_test_place_address(place), &app, &right));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = i; j < COUNT; j++)
            for (int round = 0; round < ROUNDS; round++)
                race_check(left, right ? right : left, deeds[i], deeds[j], round);
    hf_close(right);
    hf_close(left);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/pairs", HF_BOTH_SLOW(every_pair_leaves_one_end, 300),
                 HF_BOTH_SLOW(two_at_once_leave_one_end, 300))
