/* Two things happen to one run whose code and activity are in the hands of workers: deliver, park,
   complete, fail, heartbeat, cancel, terminate, time out, reclaim, continue as new, reset, in every
   order, with and without the engine moving in between. Whoever comes too late is told why; a run
   that is still open afterwards can be driven to its end, so that no wake-up was lost; and verify
   finds one closing event in every run. A short run visits some of the pairs, a long one all. */
#include "engine/poll_now.h"
#include "lib/campaign.h"

enum { DRIVES_MAX = 24 };

static const hf_app app = {.name = "pairs"};

/* A run and who holds what of it. */
typedef struct scene {
    hf_engine *d;
    holding h;
} scene;

static bool closed(const scene *s)
{
    const char *status = hf_test_status(s->d, s->h.id);

    return strncmp(status, "waiting", 7) != 0 && strcmp(status, "pending") != 0 &&
           strcmp(status, "running") != 0;
}

/* As workers would that have nothing else to do. */
static void drive(scene *s)
{
    for (int i = 0; i < DRIVES_MAX && !closed(s); i++) {
        hf_kit_ok(s->d, hf_test_advance(s->d, hf_minutes(6)));
        if (activity_take(s->d, &s->h, "late"))
            (void)!deed_do(s->d, &s->h, COMPLETE, hf_test_advance);
        if (i > 1)
            (void)!hf_signal(s->d, s->h.id, "go", hf_json(s->d, "[2]"));
        (void)!code_answers(s->d, hf_json(s->d, "[{'type': 'complete_workflow'}]"));
        hf_kit_ok(s->d, hf_test_drain(s->d));
    }
    ck_assert_msg(closed(s), "%s: %s", s->h.id, hf_test_status(s->d, s->h.id));
}

static void pair_check(hf_engine *d, deed first, deed second, bool apart)
{
    scene s = {.d = d};

    (void)snprintf(s.h.id, sizeof(s.h.id), "%s-%s-%d", deed_names[first], deed_names[second],
                   apart);
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = s.h.id, .run_timeout = hf_hours(1)));
    hf_kit_ok(d, code_answers(d, hf_json(d, "[{'type': 'schedule_activity', "
                                            "'activity_type': 'far', 'arguments': []}]")));
    ck_assert_msg(activity_take(d, &s.h, "worker"), "%s", s.h.id);
    for (int i = 0; i < 2; i++) {
        deed what = i ? second : first;
        bool was_closed = closed(&s);
        hf_status st = deed_do(d, &s.h, what, hf_test_advance);

        ck_assert_msg(st == HF_OK || st == HF_REJECTED, "%s: %s: %s %s", s.h.id, deed_names[what],
                      hf_strstatus(st), hf_errmsg(d));
        if (st == HF_REJECTED)
            ck_assert_msg(strchr(hf_errmsg(d), ':') != NULL, "%s: %s: %s", s.h.id, deed_names[what],
                          hf_errmsg(d));
        if (was_closed && (what == DELIVER || what == CANCEL || what == TERMINATE))
            ck_assert_msg(st == HF_REJECTED && strstr(hf_errmsg(d), "run_not_active"), "%s: %s",
                          s.h.id, deed_names[what]);
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
