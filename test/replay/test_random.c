/* test_random.c: random workflow programs against a random world. Whatever the code asked for, a
   replay of any prefix of the history asks for the same next. */
#include <stdlib.h>

#include "base/rng.h"
#include "lib/suite.h"
#include "replay/driver.h"

enum { DEPTH_MAX = 3, EVENTS_MAX = 350, PROGRAMS = 1000 };

typedef struct state {
    int64_t updates;
    int64_t last; /* something of the last result */
    int64_t wanted;
    hf_rng program;
} state;

static bool enough_updates(const void *s)
{
    return ((const state *)s)->updates >= ((const state *)s)->wanted;
}

static hf_value bump(hf_ctx *w, void *s, hf_value args)
{
    state *st = s;

    st->updates += hf_int(args, "by", 1);
    if (st->updates % 3 == 0)
        hf_note(w, "bumped to %d", (int)st->updates);
    return hf_json(w, "{'updates': %lld, 'now': %lld}", (long long)st->updates,
                   (long long)hf_now(w));
}

static hf_value refuse(hf_ctx *w, void *s, hf_value args)
{
    (void)args;
    ((state *)s)->updates += 100; /* must never be seen */
    hf_note(w, "about to fail");
    hf_fail(w, "refused", "this update always fails");
}

/* Everything that must be the same again. */
static hf_value facts(hf_ctx *w)
{
    state *s = hf_state(w);
    const char *ids[4];

    return hf_json(w, "{'n': %lld, 'l': %lld, 't': %lld, 'r': %llu, 'h': %zu, 'c': %zu}",
                   (long long)s->updates, (long long)s->last, (long long)hf_now(w),
                   (unsigned long long)(hf_random(w) >> 12), hf_history_length(w),
                   hf_children(w, ids, 4));
}

static void note_value(hf_ctx *w, hf_value v)
{
    const char *text = hf_show(w, v);
    state *s = hf_state(w);

    for (; *text; text++)
        s->last = (s->last * 31 + *text) & 0xffff;
}

static hf_value effect(hf_mem *m, void *arg)
{
    return hf_json_(m, "{'once': %d}", *(int *)arg);
}

static hf_value block(hf_ctx *w, hf_value in);

static hf_ms some_timeout(hf_rng *r)
{
    static const hf_ms times[] = {0, -1, 5000, 60000};

    return times[hf_rng_below(r, 4)];
}

static void do_group(hf_ctx *w, hf_rng *r)
{
    const hf_error *e = NULL;
    hf_value in = facts(w);
    hf_value got = NULL;

    switch (hf_rng_below(r, 4)) {
    case 0:
        got = hf_all(w, HF_ACTIVITY("a", in), HF_CHILD("c", in),
                     HF_ALL(HF_ACTIVITY("b", in, .err = &e), HF_ALL(HF_CHILD("d", in))));
        break;
    case 1:
        got = hf_all(w, HF_ACTIVITY("a", in), HF_ALL(HF_ACTIVITY("b", in)), HF_ACTIVITY("c", in));
        break;
    case 2:
        got = hf_all(w, HF_CHILD("a", in), HF_CHILD("b", in));
        break;
    case 3:
        got = hf_map_with(w, "m", hf_json(w, "[%p, 1, 'two', null, 5]", (const void *)in),
                          hf_rng_below(r, 4),
                          &(hf_activity_opts){.size_ = sizeof(hf_activity_opts),
                                              .at_ = HF_AT,
                                              .err = hf_rng_below(r, 2) ? &e : NULL});
        break;
    }
    note_value(w, got);
    if (e)
        note_value(w, hf_json(w, "%s", e->type));
}

static void do_futures(hf_ctx *w, hf_rng *r)
{
    const hf_error *e[4] = {NULL};
    hf_future f[4];
    size_t n = 1 + hf_rng_below(r, 4);

    for (size_t i = 0; i < n; i++) {
        if (hf_rng_below(r, 3) == 0)
            f[i] = hf_spawn_child(w, "sc", facts(w), .err = hf_rng_below(r, 2) ? &e[i] : NULL);
        else
            f[i] = hf_spawn_activity(w, "sa", facts(w), .err = hf_rng_below(r, 2) ? &e[i] : NULL);
    }
    if (hf_rng_below(r, 3) == 0)
        note_value(w, hf_side_effect(w, "k", effect, &(int){7}));
    if (hf_rng_below(r, 2)) {
        note_value(w, hf_join_all(w, f, n));
    } else {
        for (size_t i = 0; i < n; i++) {
            note_value(w, hf_join(w, f[n - 1 - i]));
            note_value(w, facts(w));
        }
    }
}

static void do_call(hf_ctx *w, hf_rng *r)
{
    const hf_error *e = NULL;
    bool handle = hf_rng_below(r, 2) == 0;

    if (hf_rng_below(r, 3))
        note_value(w, hf_activity(w, "act", facts(w), .err = handle ? &e : NULL,
                                  .local = hf_rng_below(r, 4) == 0));
    else
        note_value(w, hf_child(w, "kid", facts(w), .err = handle ? &e : NULL));
    if (e && hf_rng_below(r, 4) == 0)
        hf_refail(w, e);
    if (hf_rng_below(r, 4) == 0)
        hf_compensate(w, "undo", facts(w));
}

static void do_wait(hf_ctx *w, hf_rng *r)
{
    state *s = hf_state(w);
    hf_wait_opts o = {.size_ = sizeof(o), .at_ = HF_AT, .timeout = some_timeout(r)};

    if (hf_rng_below(r, 2)) {
        note_value(w, hf_receive_with(w, hf_rng_below(r, 2) ? "x" : "y", &o));
        return;
    }
    s->wanted = s->updates + (int64_t)hf_rng_below(r, 3);
    o.revision = hf_rng_below(r, 2) ? "r1" : NULL;
    note_value(w, hf_json(w, "%d",
                          hf_wait_with(w, hf_rng_below(r, 2) ? "key" : NULL, enough_updates, &o)));
}

static void do_mark(hf_ctx *w, hf_rng *r)
{
    const char *id = NULL;

    switch (hf_rng_below(r, 8)) {
    case 0:
        note_value(w, hf_side_effect(w, "k", effect, &(int){3}));
        break;
    case 1:
        note_value(w, hf_json(w, "%d", hf_version(w, "change", HF_VERSION_DEFAULT, 2)));
        break;
    case 2:
        hf_memo(w, facts(w));
        break;
    case 3:
        hf_label(w, "phase", hf_uuid(w));
        break;
    case 4:
        hf_note(w, "now %lld", (long long)hf_now(w));
        break;
    case 5:
        note_value(w, hf_json(w, "%d", hf_patched(w, "patch")));
        break;
    case 6:
        if (hf_children(w, &id, 1))
            hf_signal_child(w, id, "ping", facts(w));
        break;
    case 7:
        hf_sleep(w, hf_rng_below(r, 2) ? 0 : hf_seconds(30));
        break;
    }
}

static void do_one(hf_ctx *w, int depth)
{
    hf_rng *r = &((state *)hf_state(w))->program;
    const hf_error *e = NULL;
    hf_value out = NULL;

    switch (hf_rng_below(r, 9)) {
    case 0:
    case 1:
        do_call(w, r);
        break;
    case 2:
        do_group(w, r);
        break;
    case 3:
        do_futures(w, r);
        break;
    case 4:
    case 5:
        do_wait(w, r);
        break;
    case 6:
        if (depth < DEPTH_MAX) {
            if (hf_protect(w, block, hf_json(w, "%d", depth + 1), &out, &e) != HF_OK)
                note_value(w, hf_json(w, "%s", e->type));
            break;
        }
        do_mark(w, r);
        break;
    default:
        do_mark(w, r);
    }
}

static hf_value block(hf_ctx *w, hf_value in)
{
    hf_rng *r = &((state *)hf_state(w))->program;
    size_t n = 1 + hf_rng_below(r, 6);

    for (size_t i = 0; i < n; i++)
        do_one(w, (int)hf_int(in, "", 0));
    if (hf_rng_below(r, 8) == 0)
        hf_fail(w, "unlucky", "this block fails");
    return facts(w);
}

static hf_value body(hf_ctx *w, hf_value in)
{
    state *s = hf_state(w);

    hf_rng_init_seeded(&s->program, (uint64_t)hf_int(in, "seed", 0));
    (void)block(w, hf_json(w, "0"));
    (void)block(w, hf_json(w, "0"));
    if (hf_rng_below(&s->program, 6) == 0)
        hf_continue_as_new(w, facts(w));
    return facts(w);
}

static const hf_workflow_def program = {
    "program", body, sizeof(state),
    .signals = (const hf_signal_def[]){{.name = "x"}, {.name = "y"}, {0}},
    .updates = (const hf_update_def[]){
        {"bump", "by:int=1", bump, NULL}, {"refuse", "", refuse, NULL}, {0}}};

/* ---- the world */

static bool world_step(sim *s, hf_rng *r, int64_t step)
{
    sim_step *open = &s->steps[step];
    bool call = open->kind == HF_DECISION_SCHEDULE_ACTIVITY ||
                open->kind == HF_DECISION_START_CHILD_WORKFLOW;

    if (open->timer_pending && hf_rng_below(r, 3) == 0) {
        sim_fire(s, step);
        return true;
    }
    if (!call)
        return false;
    if (hf_rng_below(r, 6) == 0)
        sim_fail(s, step, hf_rng_below(r, 2) ? "broken" : "late");
    else
        sim_complete(s, step, hf_rng_below(r, 2) ? "{\"ok\":[1,2.5]}" : "\"fine\"");
    return true;
}

static void world_act(sim *s, hf_rng *r)
{
    switch (hf_rng_below(r, 8)) {
    case 0:
        sim_signal(s, hf_rng_below(r, 2) ? "x" : "y", hf_rng_below(r, 2) ? "[]" : "[1,{\"a\":2}]");
        return;
    case 1:
        sim_update(s, hf_rng_below(r, 4) ? "bump" : "refuse", "{\"by\":1}");
        return;
    case 2:
        if (hf_rng_below(r, 12) == 0)
            sim_cancel(s, "enough");
        return;
    default:
        break;
    }
    for (int i = 0; i < 20; i++)
        if (s->top && world_step(s, r, 1 + (int64_t)hf_rng_below(r, (uint64_t)s->top)))
            return;
    sim_signal(s, hf_rng_below(r, 2) ? "x" : "y", "[\"s\"]");
}

static void run_program(uint64_t seed)
{
    sim *s = calloc(1, sizeof(*s));
    hf_rng world;
    char in[64];

    (void)snprintf(in, sizeof(in), "{\"seed\":%llu}", (unsigned long long)seed);
    hf_rng_init_seeded(&world, seed * 77 + 5);
    sim_begin(s, &program, in);
    if (seed % 4 == 0) { /* a run that other code began */
        s->info.fingerprint = HF_SLICE("sha256:later");
        sim_evict(s);
    }
    while (s->count < EVENTS_MAX) {
        size_t facts_before_turn = 1 + hf_rng_below(&world, 3);

        hf_turn turn = sim_run(s);

        if (turn == HF_TURN_BLOCKED && getenv("HF_TEST_SEED"))
            sim_dump(s);
        ck_assert_msg(turn != HF_TURN_BLOCKED, "seed %llu: %s", (unsigned long long)seed,
                      hf_replay_mismatch_get(s->replay)->sentence);
        if (s->closed)
            break;
        if (hf_rng_below(&world, 5) == 0)
            sim_evict(s);
        for (size_t i = 0; i < facts_before_turn; i++)
            world_act(s, &world);
    }
    if (getenv("HF_TEST_SEED"))
        sim_dump(s);
    sim_check(s);
    sim_end(s);
    free(s);
}

/* Each prefix of each of a thousand programs. */
START_TEST(prefixes_decide_the_same)
{
    const char *one = getenv("HF_TEST_SEED");

    if (one) {
        run_program(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        run_program(seed);
}
END_TEST

HF_SUITE_MAIN("replay/random", {prefixes_decide_the_same, 300})
