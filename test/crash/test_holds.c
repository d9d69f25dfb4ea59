/* Two nodes on one PostgreSQL store. The network of one stands still at a point
   of its work, one point after the other: before a statement, before COMMIT,
   before its answer. Its lease runs out, the other node takes over and works,
   then what was held goes on its way. At the end every command that was
   acknowledged is in history once, all runs have finished with what they
   should, and the store verifies. Meanwhile a plain start at the other node is
   answered within seconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine_impl.h"
#include "lib/campaign.h"
#include "lib/check_store.h"
#include "lib/hold.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum {
    FED = 3, /* signals or updates */
    ID_BYTES = 48,
    PLAIN_MS_MAX = 60000, /* a few seconds, and a busy machine */
    HOLD_MS_MAX = 150000, /* by then the other node has done everything */
    PATIENCE_S = 120,
    LEASE_POINTS = 12, /* a node renews for ever */
    STRIDE_SHORT = 60,
    STRIDE_USUAL = 24,
    CASE_SECONDS = 100000000
};
#define LEASE_MS "600"

/* ---- the application */

static hf_value work(hf_act *a, hf_value in)
{
    if (hf_bool(in, "fails", false) && hf_attempt(a) == 1)
        return hf_retry(a, "once", "the first attempt fails");
    return in;
}

static hf_value lone(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "work", in, .max_attempts = -1);
}

static hf_value chain(hf_ctx *w, hf_value in)
{
    for (int i = 0; i < 3; i++)
        in = hf_activity(w, "work", in, .max_attempts = -1);
    return in;
}

static hf_value again(hf_ctx *w, hf_value in)
{
    static const hf_ms soon[] = {10};

    (void)in;
    return hf_activity(w, "work", hf_json(w, "{'fails': true}"), .max_attempts = -1,
                       .backoff = soon, .backoff_n = 1);
}

static hf_value fan(hf_ctx *w, hf_value in)
{
    hf_future f[4];

    for (int i = 0; i < 4; i++)
        f[i] = hf_spawn_activity(w, "work", in, .max_attempts = -1);
    return hf_join_all(w, f, 4);
}

static hf_value nap(hf_ctx *w, hf_value in)
{
    hf_sleep(w, 30);
    in = hf_activity(w, "work", in, .max_attempts = -1);
    hf_sleep(w, 30);
    return in;
}

static hf_value kids(hf_ctx *w, hf_value in)
{
    hf_future f[2];

    for (int i = 0; i < 2; i++)
        f[i] = hf_spawn_child(w, "lone", in);
    return hf_join_all(w, f, 2);
}

static hf_value relay(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 2);

    hf_activity(w, "work", in, .max_attempts = -1);
    if (left > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return hf_json(w, "'there'");
}

/* Takes numbers until one is negative; the result has them, each behind those
 * before it. */
static hf_value takes(hf_ctx *w, hf_value in)
{
    hf_value got = hf_json(w, "[]");

    (void)in;
    for (;;) {
        int64_t n = hf_int(hf_at(hf_receive(w, "go"), 0), "", 0);

        if (n < 0)
            return got;
        (void)hf_activity(w, "work", NULL, .max_attempts = -1);
        got = hf_json(w, "[%p, %lld]", (const void *)got, (long long)n);
    }
}

static hf_value adds(hf_ctx *w, void *state, hf_value args)
{
    int64_t *sum = state;

    *sum += hf_int(hf_at(args, 0), "", 0);
    return hf_json(w, "%lld", (long long)*sum);
}

static bool is_full(const void *state)
{
    return *(const int64_t *)state >= 1000000;
}

/* Adds up powers of ten: a digit of the sum says how often an update was
 * applied. */
static hf_value sums(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_wait(w, "full", is_full);
    return hf_json(w, "%lld", (long long)*(int64_t *)hf_state(w));
}

static const hf_workflow_def workflows[] = {
    {.type = "lone", .run = lone},
    {.type = "chain", .run = chain},
    {.type = "again", .run = again},
    {.type = "fan", .run = fan},
    {.type = "nap", .run = nap},
    {.type = "kids", .run = kids},
    {.type = "relay", .run = relay},
    {.type = "takes", .run = takes, .signals = (const hf_signal_def[]){{"go", "n:int"}, {0}}},
    {.type = "sums",
     .run = sums,
     .state_size = sizeof(int64_t),
     .updates = (const hf_update_def[]){{"add", "by:int", adds, NULL}, {0}}},
    {0}};
static const hf_activity_def activities[] = {{.name = "work", .run = work}, {0}};
static const hf_app app = {.name = "holds", .workflows = workflows, .activities = activities};

/* ---- scenarios */

typedef enum feed { FEED_NOTHING, FEED_SIGNALS, FEED_UPDATES, FEED_TERMINATE } feed;

typedef struct scenario {
    const char *name;
    const char *type;
    feed feed;
    hf_hold_on on;
} scenario;

static const scenario scenarios[] = {
    {"lone", "lone", FEED_NOTHING, HF_HOLD_UNITS},
    {"chain", "chain", FEED_NOTHING, HF_HOLD_UNITS},
    {"again", "again", FEED_NOTHING, HF_HOLD_UNITS},
    {"fan", "fan", FEED_NOTHING, HF_HOLD_UNITS},
    {"nap", "nap", FEED_NOTHING, HF_HOLD_UNITS},
    {"kids", "kids", FEED_NOTHING, HF_HOLD_UNITS},
    {"relay", "relay", FEED_NOTHING, HF_HOLD_UNITS},
    {"signals", "takes", FEED_SIGNALS, HF_HOLD_UNITS},
    {"updates", "sums", FEED_UPDATES, HF_HOLD_UNITS},
    {"terminate", "takes", FEED_TERMINATE, HF_HOLD_UNITS},
    {"lease", "chain", FEED_NOTHING, HF_HOLD_LEASE},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

/* A scenario's work on one store, point by point. */
typedef struct sweep {
    const scenario *of;
    hf_campaign *campaign;
    hf_test_place *place;
    hf_engine *b;
    /* of the point */
    hf_engine *a;
    hf_hold *hold;
    int64_t nth;
    char id[ID_BYTES];
    bool started; /* by the client of A: acknowledged, as the next */
    bool made;    /* by that of B */
    bool acked[FED];
    pthread_mutex_t lock;
    bool over; /* the client of node A has come to its end */
} sweep;

static bool over(sweep *s)
{
    bool is;

    (void)pthread_mutex_lock(&s->lock);
    is = s->over;
    (void)pthread_mutex_unlock(&s->lock);
    return is;
}

static hf_engine *node_open(const char *address)
{
    hf_engine *d = NULL;
    hf_value out = NULL;

    hf_kit_ok(d, hf_open(address, &app, &d));
    hf_kit_ok(d, hf_set(d, "node_lease_ms", LEASE_MS));
    ck_assert_int_eq(hf_result(d, "nothing", 0, &out, NULL), HF_NOTFOUND); /* it begins */
    return d;
}

static int64_t shards_of(hf_engine *d)
{
    return hf_shards_count(hf_node_shards(d->node));
}

/* Waits at most two minutes, as everything here. */
static void await(sweep *s, bool (*is)(sweep *s), const char *what)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + PATIENCE_S * INT64_C(1000000);

    while (!is(s)) {
        if (hf_clock_mono_us(hf_clock_system()) > until_us)
            hf_campaign_fail(s->campaign, what);
        hf_nap_ms(5);
    }
}

static bool shared(sweep *s)
{
    return shards_of(s->a) == HF_SHARDS / 2 && shards_of(s->b) == HF_SHARDS / 2;
}

static bool taken(sweep *s)
{
    return shards_of(s->b) == HF_SHARDS;
}

/* An id of a shard that node A has. */
static void id_choose(sweep *s)
{
    for (int i = 0;; i++) {
        (void)snprintf(s->id, sizeof(s->id), "%s-%lld-%d", s->of->name, (long long)s->nth, i);
        if (hf_node_owns(s->a->node, hf_shard_of(s->a->namespace_key, hf_slice_of(s->id))))
            return;
        ck_assert_int_lt(i, 10000);
    }
}

static hf_status command_send(sweep *s, hf_engine *d, int i)
{
    int64_t power = 1;

    for (int k = 0; k < i; k++)
        power *= 10;
    if (s->of->feed == FEED_SIGNALS)
        return hf_signal(d, s->id, "go", hf_json(d, "[%lld]", (long long)i));
    return hf_update(d, s->id, "add", hf_json(d, "[%lld]", (long long)power),
                     hf_seconds(PATIENCE_S), NULL);
}

/* The client of node A: what is acknowledged is noted. */
static void *client_run(void *ctx)
{
    sweep *s = ctx;
    hf_value out = NULL;

    s->started = hf_start(s->a, s->of->type, NULL, .id = s->id) == HF_OK;
    if (s->of->feed == FEED_SIGNALS || s->of->feed == FEED_UPDATES)
        for (int i = 0; i < FED; i++)
            s->acked[i] = command_send(s, s->a, i) == HF_OK;
    if (s->of->feed == FEED_TERMINATE)
        (void)!hf_terminate(s->a, s->id, "enough");
    if (s->of->feed == FEED_NOTHING || s->of->feed == FEED_TERMINATE)
        (void)hf_result(s->a, s->id, hf_seconds(PATIENCE_S), &out, NULL);
    (void)pthread_mutex_lock(&s->lock);
    s->over = true;
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

static bool held_or_over(sweep *s)
{
    return hf_hold_stands(s->hold) || over(s);
}

/* While node A is away: a start has nothing to do with it. */
static void plain_start(sweep *s, const char *when)
{
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    int64_t took_ms;
    char id[ID_BYTES];
    hf_status st;

    (void)snprintf(id, sizeof(id), "%s-%s-%lld", when, s->of->name, (long long)s->nth);
    st = hf_start(s->b, "lone", NULL, .id = id);
    took_ms = (hf_clock_mono_us(hf_clock_system()) - began_us) / 1000;
    if ((st != HF_OK && st != HF_BUSY) || took_ms > PLAIN_MS_MAX) {
        char text[512];

        (void)snprintf(text, sizeof(text), "a plain start at the other node: %d after %lld ms, %s",
                       (int)st, (long long)took_ms, hf_errmsg(s->b));
        hf_campaign_fail(s->campaign, text);
    }
}

/* Whatever the client of A did not get through is done at B, until the run can
 * end. */
static void finish(sweep *s)
{
    hf_status st = HF_BUSY;

    for (int i = 0; i < 600 && (st == HF_BUSY || st == HF_TIMEOUT || st == HF_UNREACHABLE); i++) {
        st = hf_start(s->b, s->of->type, NULL, .id = s->id);
        s->made |= st == HF_OK;
        if (st == HF_EXISTS || st == HF_REJECTED)
            st = HF_OK;
        if (!st && s->of->feed == FEED_SIGNALS)
            st = hf_signal(s->b, s->id, "go", hf_json(s->b, "[-1]"));
        if (!st && s->of->feed == FEED_UPDATES)
            st = hf_update(s->b, s->id, "add", hf_json(s->b, "[1000000]"), hf_seconds(PATIENCE_S),
                           NULL);
        if (!st && s->of->feed == FEED_TERMINATE)
            st = hf_terminate(s->b, s->id, "enough");
        if (st == HF_REJECTED)
            st = HF_OK; /* it is closed already */
        if (st)
            hf_nap_ms(50);
    }
    if (st)
        hf_campaign_fail(s->campaign, hf_errmsg(s->b));
}

static int64_t times_applied(const sweep *s, hf_value out, int i)
{
    int64_t sum = hf_int(out, "", 0);
    int64_t count = 0;

    if (s->of->feed == FEED_SIGNALS) {
        for (; hf_len(out); out = hf_at(out, 0))
            count += hf_int(hf_at(out, 1), "", -1) == i;
        return count;
    }
    for (int k = 0; k < i; k++)
        sum /= 10;
    return sum % 10;
}

static void check(sweep *s)
{
    const hf_error *why = NULL;
    hf_value out = NULL;
    hf_status st = hf_result(s->b, s->id, hf_seconds(PATIENCE_S), &out, &why);
    char text[512];

    if (st != (s->of->feed == FEED_TERMINATE ? HF_CANCELLED : HF_OK)) {
        (void)snprintf(text, sizeof(text), "the run does not finish: %d, %s", (int)st,
                       hf_errmsg(s->b));
        hf_campaign_fail(s->campaign, text);
    }
    for (int i = 0; i < FED && (s->of->feed == FEED_SIGNALS || s->of->feed == FEED_UPDATES); i++) {
        int64_t count = times_applied(s, out, i);

        if (count > 1 || (s->acked[i] && !count)) {
            (void)snprintf(text, sizeof(text), "command %d, acknowledged: %d, is there %lld times",
                           i, (int)s->acked[i], (long long)count);
            hf_campaign_fail(s->campaign, text);
        }
    }
    hf_mem_reset(hf_mem_of_engine(s->b));
}

static bool point(void *ctx, int64_t nth)
{
    sweep *s = ctx;
    char address[HF_HOLD_ADDRESS];
    pthread_t client;
    bool held;
    bool late;

    s->hold = hf_hold_new(hf_test_place_address(s->place), address);
    s->nth = nth;
    s->started = s->made = s->over = false;
    memset(s->acked, 0, sizeof(s->acked));
    s->a = node_open(address);
    await(s, shared, "the nodes do not share");
    id_choose(s);
    hf_hold_arm(s->hold, s->of->on, nth, HOLD_MS_MAX);
    ck_assert_int_eq(pthread_create(&client, NULL, client_run, s), 0);
    await(s, held_or_over, "the client comes to no end");
    held = hf_hold_stands(s->hold);
    if (held) {
        plain_start(s, "first");
        await(s, taken, "the other node does not take over");
        finish(s);
        plain_start(s, "then");
    }
    late = held && !hf_hold_stands(s->hold);
    hf_hold_release(s->hold);
    ck_assert_int_eq(pthread_join(client, NULL), 0);
    if (!held)
        finish(s);
    if (s->started && s->made)
        hf_campaign_fail(s->campaign, "an acknowledged start is not there");
    check(s);
    hf_close(s->a);
    check(s); /* what node A brought with it at last has changed nothing */
    hf_hold_free(s->hold);
    hf_check_store(hf_test_place_address(s->place));
    if (late)
        hf_campaign_fail(s->campaign, "the other node got through only when the first one went on");
    return held && (s->of->on != HF_HOLD_LEASE || nth < LEASE_POINTS);
}

static void sweep_run(const scenario *of)
{
    sweep s = {.of = of};
    hf_campaign campaign;
    int64_t reached;
    int stride = hf_campaign_stride(STRIDE_SHORT, STRIDE_USUAL);

    hf_campaign_init(&campaign, INT64_MAX, INT64_MAX, INT64_MAX);
    if (campaign.scenario && strcmp(campaign.scenario, of->name) != 0)
        return;
    s.campaign = &campaign;
    s.place = hf_test_place_stocked(HF_ENGINE_POSTGRES);
    ck_assert_int_eq(pthread_mutex_init(&s.lock, NULL), 0);
    s.b = node_open(hf_test_place_address(s.place));
    /* Each scenario is sampled at other points. */
    reached = hf_campaign_sweep(&campaign, of->name, 1 + (of - scenarios) * 3 % stride, stride,
                                point, &s);
    printf("holds: %s, %lld points\n", of->name, (long long)reached);
    (void)fflush(stdout);
    hf_close(s.b);
    (void)pthread_mutex_destroy(&s.lock);
    hf_test_place_free(s.place);
}

START_TEST(n02_held_points_do_no_harm)
{
    for (int i = 0; i < SCENARIOS; i++)
        sweep_run(&scenarios[i]);
}
END_TEST

HF_PG_SUITE_MAIN("crash/holds", {n02_held_points_do_no_harm, CASE_SECONDS})
