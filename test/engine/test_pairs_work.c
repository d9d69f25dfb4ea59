/* Two things happen to one run whose code and activity are in the hands of workers: deliver, park,
   complete, fail, heartbeat, cancel, terminate, time out, reclaim, continue as new, reset, in every
   order, with and without the engine moving in between. Whoever comes too late is told why; a run
   that is still open afterwards can be driven to its end, so that no wake-up was lost; and verify
   finds one closing event in every run. A short run visits some of the pairs, a long one all. */
#include "engine/poll_now.h"
#include "lib/campaign.h"

enum { DRIVES_MAX = 24 };

static const hf_app app = {.name = "pairs"};

typedef enum deed {
    DELIVER,
    PARK,
    COMPLETE,
    FAIL,
    HEARTBEAT,
    CANCEL,
    TERMINATE,
    TIME_OUT,
    RECLAIM,
    CONTINUE,
    RESET,
    DEEDS
} deed;

static const char *const names[] = {"deliver",   "park",     "complete",  "fail",
                                    "heartbeat", "cancel",   "terminate", "timeout",
                                    "reclaim",   "continue", "reset"};

/* A run and who holds what of it. */
typedef struct scene {
    hf_engine *d;
    char id[48];
    char task_id[32]; /* the activity */
    char worker[16];
    int64_t attempt;
} scene;

static bool activity_take(scene *s, const char *worker)
{
    hf_value task = poll_now(s->d, HF_TASK_ACTIVITY, worker);

    if (!task)
        return false;
    (void)snprintf(s->task_id, sizeof(s->task_id), "%s", hf_str(task, "task_id", ""));
    (void)snprintf(s->worker, sizeof(s->worker), "%s", worker);
    s->attempt = hf_int(task, "attempt_number", 0);
    return true;
}

static hf_status deed_do(scene *s, deed what)
{
    const hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = s->task_id, .worker = s->worker, .attempt = s->attempt};
    hf_engine *d = s->d;

    switch (what) {
    case DELIVER:
        return hf_signal(d, s->id, "go", hf_json(d, "[1]"));
    case PARK:
        return code_answers(d, hf_json(d, "[{'type': 'open_signal_wait', 'signal_name': 'go'}]"));
    case COMPLETE:
        return hf_task_result(d, &claim, hf_json(d, "1"));
    case FAIL:
        return hf_task_failure(d, &claim, false, "broken", "it broke", NULL);
    case HEARTBEAT:
        return hf_task_beat(d, &claim, hf_json(d, "{'current': 1}"));
    case CANCEL:
        return hf_cancel(d, s->id, "pair");
    case TERMINATE:
        return hf_terminate(d, s->id, "pair");
    case TIME_OUT:
        return hf_test_advance(d, hf_hours(2));
    case RECLAIM: { /* whoever had it is lost; another takes it, and the first may still report */
        scene other = *s;
        hf_status st = hf_test_advance(d, hf_minutes(6));

        if (!st)
            (void)activity_take(&other, "heir");
        return st;
    }
    case CONTINUE:
        return code_answers(d, hf_json(d, "[{'type': 'continue_as_new', 'arguments': []}]"));
    case RESET:
        return hf_reset_with(d, s->id, NULL);
    case DEEDS:
        break;
    }
    return HF_MISUSE;
}

static bool closed(const scene *s)
{
    const char *status = hf_test_status(s->d, s->id);

    return strncmp(status, "waiting", 7) != 0 && strcmp(status, "pending") != 0 &&
           strcmp(status, "running") != 0;
}

/* As workers would that have nothing else to do. */
static void drive(scene *s)
{
    for (int i = 0; i < DRIVES_MAX && !closed(s); i++) {
        hf_kit_ok(s->d, hf_test_advance(s->d, hf_minutes(6)));
        if (activity_take(s, "late"))
            (void)!deed_do(s, COMPLETE);
        if (i > 1)
            (void)!hf_signal(s->d, s->id, "go", hf_json(s->d, "[2]"));
        (void)!code_answers(s->d, hf_json(s->d, "[{'type': 'complete_workflow'}]"));
        hf_kit_ok(s->d, hf_test_drain(s->d));
    }
    ck_assert_msg(closed(s), "%s: %s", s->id, hf_test_status(s->d, s->id));
}

static void pair_check(hf_engine *d, deed first, deed second, bool apart)
{
    scene s = {.d = d};

    (void)snprintf(s.id, sizeof(s.id), "%s-%s-%d", names[first], names[second], apart);
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = s.id, .run_timeout = hf_hours(1)));
    hf_kit_ok(d, code_answers(d, hf_json(d, "[{'type': 'schedule_activity', "
                                            "'activity_type': 'far', 'arguments': []}]")));
    ck_assert_msg(activity_take(&s, "worker"), "%s", s.id);
    for (int i = 0; i < 2; i++) {
        deed what = i ? second : first;
        bool was_closed = closed(&s);
        hf_status st = deed_do(&s, what);

        ck_assert_msg(st == HF_OK || st == HF_REJECTED, "%s: %s: %s %s", s.id, names[what],
                      hf_strstatus(st), hf_errmsg(d));
        if (st == HF_REJECTED)
            ck_assert_msg(strchr(hf_errmsg(d), ':') != NULL, "%s: %s: %s", s.id, names[what],
                          hf_errmsg(d));
        if (was_closed && (what == DELIVER || what == CANCEL || what == TERMINATE))
            ck_assert_msg(st == HF_REJECTED && strstr(hf_errmsg(d), "run_not_active"), "%s: %s",
                          s.id, names[what]);
        if (apart)
            hf_kit_ok(d, hf_test_drain(d));
    }
    hf_kit_ok(d, hf_test_drain(d));
    drive(&s);
}

HF_BOTH_ENGINES(every_pair_leaves_one_end_and_no_lost_wake)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_workers_allow(d));
    hf_kit_ok(d, hf_workers_type(d, "far", hf_json(d, "{'signals': ['go']}"), NULL));
    for (int pair = 0; pair < DEEDS * DEEDS; pair += hf_campaign_stride(13, 7))
        for (int apart = 0; apart < 2; apart++)
            pair_check(d, (deed)(pair / DEEDS), (deed)(pair % DEEDS), apart);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/pairs_work", HF_BOTH_SLOW(every_pair_leaves_one_end_and_no_lost_wake, 600))
