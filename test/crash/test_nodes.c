/* Engines in processes of their own on one PostgreSQL store, killed, paused and sent away at any
   moment until all workflows are done. Each activity writes a line with its idempotency key before
   it reports, as the outside world would notice it: at the end every run has its right result, each
   of its completions is recorded once, and each has its effect. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "holdfast/holdfast.h"
#include "lib/campaign.h"
#include "lib/effects.h"
#include "lib/engine.h"

enum {
    RUNS = 120,
    STEPS = 4,
    NODES_MAX = 3,
    KILLS_SHORT = 1,
    KILLS_USUAL = 2,
    KILLS_LONG = 20,
    LIVE_MS_MAX = 4000, /* of a node before it is killed */
    PAUSE_MS = 15000,   /* lease, sweep and some */
    PATIENCE_S = 900,
    ID_BYTES = 32,
    CASE_SECONDS = 100000000
};

#define LEASE_US    INT64_C(10000000)
#define TAKEOVER_US INT64_C(75000000)

static int effects_fd = -1;

/* ---- the application */

static hf_value touch(hf_act *a, hf_value in)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "%s\n", hf_idempotency_key(a));

    if (write(effects_fd, line, (size_t)len) != len)
        return hf_retry(a, "disk", "the world did not take it");
    return hf_json(a, "{'n': %lld, 'key': %s}", (long long)hf_int(in, "n", 0) + 1,
                   hf_idempotency_key(a));
}

static hf_value step(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "touch", in, .max_attempts = -1);
}

/* Timers, activities and a child, so that much of the time something is open everywhere. */
static hf_value job(hf_ctx *w, hf_value in)
{
    hf_value keys = hf_json(w, "[]");

    for (int i = 0; i < STEPS; i++) {
        hf_sleep(w, 1000 * i);
        in = i == 2 ? hf_child(w, "step", in) : hf_activity(w, "touch", in, .max_attempts = -1);
        keys = hf_json(w, "[%p, %s]", (void *)keys, hf_str(in, "key", "?"));
    }
    return hf_json(w, "{'n': %lld, 'keys': %p}", (long long)hf_int(in, "n", 0), (void *)keys);
}

static const hf_workflow_def workflows[] = {
    {"job", job, .params = "n:int"}, {"step", step, .params = "n:int, key:any?=null"}, {0}};
static const hf_activity_def activities[] = {{hf_fn(touch)}, {0}};
static const hf_app app = {.name = "nodes", .workflows = workflows, .activities = activities};

/* ---- a node */

static void die(hf_engine *d, const char *what)
{
    (void)fprintf(stderr, "a node could not %s: %s\n", what, hf_errmsg(d));
    _exit(1);
}

/* Starts every run that is not there, then waits for all of them. */
static void node_run(const char *address, int64_t runs)
{
    hf_engine *d = NULL;

    if (hf_open(address, &app, &d))
        die(d, "open the store");
    for (int64_t i = 0; i < runs; i++) {
        char id[ID_BYTES];
        hf_status st;

        (void)snprintf(id, sizeof(id), "job-%lld", (long long)i);
        st = hf_start(d, "job", hf_json(d, "{'n': %lld}", (long long)i), .id = id);
        if (st && st != HF_EXISTS && st != HF_REJECTED)
            die(d, "start a workflow");
        hf_mem_reset(hf_mem_of_engine(d));
    }
    for (int64_t i = 0; i < runs; i++) {
        char id[ID_BYTES];

        (void)snprintf(id, sizeof(id), "job-%lld", (long long)i);
        if (hf_result(d, id, hf_seconds(PATIENCE_S), NULL, NULL))
            die(d, "wait for a workflow");
        hf_mem_reset(hf_mem_of_engine(d));
    }
    hf_close(d);
    _exit(0);
}

static pid_t node_fork(const char *address, int64_t runs)
{
    pid_t child;

    (void)fflush(NULL);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        node_run(address, runs);
    return child;
}

static void nap_ms(int64_t ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

    (void)nanosleep(&pause, NULL);
}

static void node_await(pid_t child)
{
    int status = 0;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a node failed");
}

/* ---- the end */

static void results_check(const char *address, const char *path, int64_t runs)
{
    size_t count = 0;
    char(*keys)[HF_EFFECT_KEY_BYTES] = hf_effects_read(path, &count);
    hf_engine *d = NULL;

    ck_assert_int_eq(hf_open(address, &app, &d), HF_OK);
    for (int64_t i = 0; i < runs; i++) {
        const hf_error *e = NULL;
        hf_value out = NULL;
        char id[ID_BYTES];

        (void)snprintf(id, sizeof(id), "job-%lld", (long long)i);
        ck_assert_msg(hf_result(d, id, 0, &out, &e) == HF_OK, "%s: %s", id, hf_errmsg(d));
        ck_assert_int_eq(hf_int(out, "n", -1), i + STEPS);
        out = hf_get(out, "keys");
        for (int k = 0; k < STEPS; k++, out = hf_at(out, 0)) {
            const char *key = hf_str(hf_at(out, 1), "", "?");

            ck_assert_msg(bsearch(key, keys, count, sizeof(*keys), hf_effects_compare),
                          "%s has a completed activity %s without an effect", id, key);
        }
        hf_mem_reset(hf_mem_of_engine(d));
    }
    ck_assert_uint_ge(count, (size_t)runs * STEPS);
    printf("nodes: %zu effects of %lld activities\n", count, (long long)runs * STEPS);
    hf_close(d);
    free(keys);
}

static hf_test_place *place_open(char path[512])
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);

    (void)snprintf(path, 512, "%s/effects", hf_test_place_folder(place));
    effects_fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(effects_fd, 0);
    return place;
}

static void place_close(hf_test_place *place, const char *path, int64_t runs)
{
    results_check(hf_test_place_address(place), path, runs);
    (void)close(effects_fd);
    hf_test_place_free(place);
}

/* Shards that no living node has, while there is one. */
static int64_t orphans(hf_db *db)
{
    hf_err err = {0};
    bool found = false;
    int64_t count = -1;

    hf_test_ok(hf_db_number(db, (hf_stmt)0, NULL, 0, &found, &count, &err), &err, "count shards");
    return found ? count : -1;
}

/* Waits until those that are left have taken over everything. The lease is 10 s and a sweep
   follows; a busy machine has a minute more. */
static void takeover_await(const hf_test_place *place)
{
    static const hf_stmt_text orphaned = {
        .name = "orphaned",
        .postgres = "WITH live AS (SELECT key FROM node WHERE lease_until_us > "
                    "extract(epoch FROM clock_timestamp()) * 1000000) "
                    "SELECT count(*) FROM shard s LEFT JOIN live n ON n.key = s.node "
                    "WHERE n.key IS NULL AND EXISTS (SELECT 1 FROM live)"};
    int64_t killed_us = hf_clock_mono_us(hf_clock_system());
    int64_t taken_us = killed_us;
    int64_t left = 0;
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, HF_DB_READ, &orphaned, 1, &db, &err), &err, "dial");
    do {
        nap_ms(200);
        left = orphans(db);
        taken_us = hf_clock_mono_us(hf_clock_system());
    } while ((left || taken_us - killed_us < LEASE_US) && taken_us - killed_us < TAKEOVER_US);
    ck_assert_int_eq(left, 0);
    hf_db_close(db);
    printf("nodes: taken over after %.1f s\n", (double)(taken_us - killed_us) / 1e6);
}

/* Nodes are killed at random and replaced, but for the last one; the work of each goes on
 * elsewhere.
 */
static void kill_nodes(int nodes)
{
    char path[512];
    hf_test_place *place = place_open(path);
    const char *address = hf_test_place_address(place);
    const char *seed = getenv("HF_CRASH_SEED");
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    pid_t children[NODES_MAX];
    hf_campaign campaign;
    hf_rng rng;
    int64_t kills;
    int64_t runs;

    hf_campaign_init(&campaign, KILLS_SHORT, KILLS_USUAL, KILLS_LONG);
    kills = campaign.points_max > KILLS_LONG ? KILLS_LONG : campaign.points_max;
    runs = RUNS + kills * 50;
    hf_rng_init_seeded(&rng, seed ? strtoull(seed, NULL, 10) : 1);
    for (int i = 0; i < nodes; i++)
        children[i] = node_fork(address, runs);
    for (int64_t i = 0; i < kills; i++) {
        size_t victim = (size_t)hf_rng_below(&rng, (uint64_t)nodes);
        int status = 0;

        (void)hf_campaign_takes(&campaign, "kill_nodes", i, campaign.seed);
        nap_ms(500 + (int64_t)hf_rng_below(&rng, LIVE_MS_MAX));
        ck_assert_int_eq(kill(children[victim], SIGKILL), 0);
        ck_assert_int_eq(waitpid(children[victim], &status, 0), children[victim]);
        children[victim] = i + 1 < kills ? node_fork(address, runs) : children[--nodes];
    }
    if (kills)
        takeover_await(place);
    for (int i = 0; i < nodes; i++)
        node_await(children[i]);
    printf("nodes: %d nodes left, %lld workflows, %lld kills, %.1f s\n", nodes, (long long)runs,
           (long long)kills, (double)(hf_clock_mono_us(hf_clock_system()) - began_us) / 1e6);
    place_close(place, path, runs);
}

START_TEST(two_nodes_lose_nothing)
{
    kill_nodes(2);
}
END_TEST

START_TEST(three_nodes_lose_nothing)
{
    kill_nodes(3);
}
END_TEST

/* A node is stopped for longer than its lease while it works; the others take over, and when it
   goes on it is refused where it does not belong any more. */
START_TEST(a_paused_node_does_no_harm)
{
    char path[512];
    hf_test_place *place = place_open(path);
    const char *address = hf_test_place_address(place);
    pid_t sleeper = node_fork(address, RUNS);
    pid_t other;

    nap_ms(1000);
    other = node_fork(address, RUNS);
    nap_ms(1500);
    ck_assert_int_eq(kill(sleeper, SIGSTOP), 0);
    nap_ms(PAUSE_MS);
    ck_assert_int_eq(kill(sleeper, SIGCONT), 0);
    node_await(other);
    node_await(sleeper);
    place_close(place, path, RUNS);
}
END_TEST

HF_PG_SUITE_MAIN("crash/nodes", {two_nodes_lose_nothing, CASE_SECONDS},
                 {three_nodes_lose_nothing, CASE_SECONDS},
                 {a_paused_node_does_no_harm, CASE_SECONDS})
