/* The pairs of test_pairs_work.c with sessions of their own on one PostgreSQL: one engine has the
   run, as the owner of its shard has, with its worker's claims and its timers; another takes
   commands for it, as any node may. What the one has drafted is about to be committed when the
   other commits something else to the same run. Every commit of the first deed is such a place, and
   the last place is behind it. Whoever comes too late is told why; no wake-up is lost: the run can
   be driven to its end; verify finds one closing event in every run.

   Two deeds of the owner happen on one thread, in one order or the other: they are the other
   test's. A short run visits some of the pairs, `make test` those of deeds that end a run or its
   activity at the first place, a long one every pair at every place. */
#include "engine/engine_impl.h"
#include "engine/poll_now.h"
#include "lib/campaign.h"

enum { DRIVES_MAX = 24, PLACES_MAX = 16 };

static const hf_app app = {.name = "sessions"};

/* A run and who holds what of it. */
typedef struct scene {
    hf_engine *owner;
    hf_engine *other;
    deed what; /* that comes in between */
    bool came; /* it did */
    bool away; /* the deed that it comes into is done at the other engine */
    int64_t run;
    holding h;
} scene;

/* In one leap: what fell due meanwhile is late. */
static hf_status pass(hf_engine *d, hf_ms by)
{
    hf_kit_skip(d, by);
    return hf_test_drain(d);
}

/* Where the deed is done; the owner hears of what another node did. */
static void deed_check(const scene *s, deed what, bool away)
{
    hf_engine *d = away ? s->other : s->owner;
    hf_status st = deed_do(d, &s->h, what, pass);

    ck_assert_msg(st == HF_OK || st == HF_REJECTED, "%s: %s: %s %s", s->h.id, deed_names[what],
                  hf_strstatus(st), hf_errmsg(d));
    if (st == HF_REJECTED)
        ck_assert_msg(strchr(hf_errmsg(d), ':') != NULL, "%s: %s: %s", s->h.id, deed_names[what],
                      hf_errmsg(d));
    if (away)
        hf_core_heard(s->owner->core, s->run);
    else
        hf_kit_ok(d, hf_test_drain(d));
}

static void meddle(void *ctx)
{
    scene *s = ctx;

    s->came = true;
    deed_check(s, s->what, s->what < COMMANDS && !s->away);
}

static bool closed(const scene *s)
{
    const char *status = hf_test_status(s->owner, s->h.id);

    return strncmp(status, "waiting", 7) != 0 && strcmp(status, "pending") != 0 &&
           strcmp(status, "running") != 0;
}

/* Time goes on for both. */
static void meet(hf_engine *a, hf_engine *b)
{
    int64_t ahead_us = hf_clock_wall_us(a->clock) - hf_clock_wall_us(b->clock);

    hf_kit_skip(ahead_us < 0 ? a : b, (ahead_us < 0 ? -ahead_us : ahead_us) / 1000);
    hf_kit_skip(b, 1); /* two machines never agree to the microsecond */
}

/* As workers would that have nothing else to do. */
static void drive(scene *s)
{
    hf_engine *d = s->owner;

    for (int i = 0; i < DRIVES_MAX && !closed(s); i++) {
        hf_kit_ok(d, pass(d, hf_minutes(6)));
        if (activity_take(d, &s->h, "late"))
            (void)!deed_do(d, &s->h, COMPLETE, pass);
        if (i > 1)
            (void)!hf_signal(d, s->h.id, "go", hf_json(d, "[2]"));
        (void)!code_answers(d, hf_json(d, "[{'type': 'complete_workflow'}]"));
        hf_kit_ok(d, hf_test_drain(d));
    }
    ck_assert_msg(closed(s), "%s: %s: %s", s->h.id, hf_test_status(d, s->h.id),
                  hf_kit_history(d, s->h.id));
}

/* The second deed before the nth commit of the first. False: it has not so many; then it came
   behind it. */
static bool pair_check(hf_engine *owner, hf_engine *other, deed what, deed second, int nth)
{
    scene s = {.owner = owner, .other = other, .what = second, .away = what < COMMANDS};

    (void)snprintf(s.h.id, sizeof(s.h.id), "%s-%s-%d", deed_names[what], deed_names[second], nth);
    hf_kit_ok(owner, hf_start(owner, "far", NULL, .id = s.h.id, .run_timeout = hf_hours(1)));
    hf_kit_ok(owner, code_answers(owner, hf_json(owner, "[{'type': 'schedule_activity', "
                                                        "'activity_type': 'far', "
                                                        "'arguments': []}]")));
    ck_assert_msg(activity_take(owner, &s.h, "worker"), "%s", s.h.id);
    s.run = hf_kit_number(owner, "SELECT max(key) FROM run WHERE closed_us IS NULL");
    hf_kit_meddle(s.away ? other : owner, nth, meddle, &s);
    deed_check(&s, what, s.away);
    hf_kit_meddle(s.away ? other : owner, INT32_MAX, NULL, NULL);
    ck_assert_msg(s.came || nth > 1 || !s.away, "%s: nothing came in between", s.h.id);
    if (!s.came)
        deed_check(&s, second, second < COMMANDS && !s.away);
    hf_kit_ok(owner, hf_test_drain(owner));
    meet(owner, other);
    drive(&s);
    meet(owner, other);
    return s.came;
}

START_TEST(every_pair_between_two_sessions_leaves_one_end)
{
    bool every = hf_campaign_stride(0, 0) != 0; /* beyond `make test` */
    int deeds = every ? DEEDS : CORE_DEEDS;
    int stride = hf_campaign_stride(6, 1);
    hf_engine *owner = hf_kit_open(HF_ENGINE_POSTGRES, &app);
    hf_engine *other = hf_kit_join(owner, &app);

    hf_kit_ok(owner, hf_workers_allow(owner));
    hf_kit_ok(owner, hf_workers_type(owner, "far", hf_json(owner, "{'signals': ['go']}"), NULL));
    hf_kit_skip(other, 1);
    for (int pair = 0; pair < deeds * deeds; pair += stride) {
        deed what = (deed)(pair / deeds);
        deed second = (deed)(pair % deeds);
        int nth = 1;

        if (what >= COMMANDS && second >= COMMANDS)
            continue;
        while (pair_check(owner, other, what, second, nth) && every && nth < PLACES_MAX)
            nth++;
    }
    hf_kit_leave(other);
    hf_kit_close(owner);
}
END_TEST

HF_PG_SUITE_MAIN("engine/pairs_sessions", {every_pair_between_two_sessions_leaves_one_end, 900})
