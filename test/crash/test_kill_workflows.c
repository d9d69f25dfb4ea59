/* Workflows in a real process on a real file, killed at any moment until all of them are done. Each
   activity writes a line with its idempotency key to a file before it reports, as the outside world
   would notice it: at the end every run has its right result, and every completion that is recorded
   has its effect. An effect may be there twice, because a kill may come between the two; a recorded
   result without an effect may not. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "holdfast/holdfast.h"
#include "lib/campaign.h"
#include "lib/effects.h"
#include "lib/engine.h"

enum {
    RUNS_SHORT = 100,
    RUNS_USUAL = 1000,
    RUNS_LONG = 10000,
    STARTERS = 8,        /* threads that start workflows, so that commits are shared */
    DELAY_MS_FIRST = 20, /* how long a child lives at most; doubled when one came to nothing */
    RUNS_PER_MS = 10,    /* and more in a long campaign: each child looks through all of them */
    STEPS = 5,           /* activities of a workflow */
    ID_BYTES = 32,
    PATIENCE_S = 600,
    CASE_SECONDS = 100000000 /* the campaign ends by itself */
};

static int effects_fd = -1;

/* ---- the application */

/* One line in one write. A kill may still tear it; what is torn was not reported. */
static hf_value touch(hf_act *a, hf_value in)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "%s\n", hf_idempotency_key(a));

    if (write(effects_fd, line, (size_t)len) != len || fsync(effects_fd))
        return hf_retry(a, "disk", "the world did not take it");
    return hf_json(a, "{'n': %lld, 'key': %s}", (long long)hf_int(in, "n", 0) + 1,
                   hf_idempotency_key(a));
}

static hf_value job(hf_ctx *w, hf_value in)
{
    hf_value keys = hf_json(w, "[]");

    for (int i = 0; i < STEPS; i++) {
        in = hf_activity(w, "touch", in, .max_attempts = -1);
        keys = hf_json(w, "[%p, %s]", (void *)keys, hf_str(in, "key", "?"));
        if (i == 1)
            hf_sleep(w, 5);
    }
    return hf_json(w, "{'n': %lld, 'keys': %p}", (long long)hf_int(in, "n", 0), (void *)keys);
}

static const hf_workflow_def workflows[] = {{"job", job, .params = "n:int"}, {0}};
static const hf_activity_def activities[] = {{hf_fn(touch)}, {0}};
static const hf_app app = {.name = "kill", .workflows = workflows, .activities = activities};

/* ---- the child */

typedef struct starter {
    hf_engine *engine;
    hf_thread thread;
    int64_t from;
    int64_t runs;
    int pipe_end;
} starter;

static void die(hf_engine *d, const char *what)
{
    (void)fprintf(stderr, "the child could not %s: %s\n", what, hf_errmsg(d));
    _exit(1);
}

/* Starts every STARTERSth workflow and tells the parent which are there. */
static void starter_run(void *ctx)
{
    starter *s = ctx;

    for (int64_t i = s->from; i < s->runs; i += STARTERS) {
        char id[ID_BYTES];
        hf_status st;

        (void)snprintf(id, sizeof(id), "job-%lld", (long long)i);
        st = hf_start(s->engine, "job", hf_json(s->engine, "{'n': %lld}", (long long)i), .id = id);
        hf_mem_reset(hf_mem_of_engine(s->engine));
        if (st && st != HF_EXISTS)
            die(s->engine, "start a workflow");
        if (write(s->pipe_end, &i, sizeof(i)) != (ssize_t)sizeof(i))
            _exit(2);
    }
}

/* `next` has the first workflow of each starter that is not known to be there. */
static void child_run(const char *address, const int64_t *next, int64_t runs, int pipe_end)
{
    starter starters[STARTERS] = {0};
    hf_engine *d = NULL;
    hf_err err;

    if (hf_open(address, &app, &d))
        die(d, "open the store");
    for (int i = 0; i < STARTERS; i++) {
        starters[i] = (starter){.engine = d, .from = next[i], .runs = runs, .pipe_end = pipe_end};
        if (hf_thread_start(&starters[i].thread, "starter", starter_run, &starters[i], &err))
            die(d, "start a thread");
    }
    for (int i = 0; i < STARTERS; i++)
        hf_thread_join(&starters[i].thread);
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

/* ---- the parent */

static void pipe_take(int pipe_end, int64_t *next)
{
    int64_t started;
    ssize_t got;

    while ((got = read(pipe_end, &started, sizeof(started))) == (ssize_t)sizeof(started))
        next[started % STARTERS] = started + STARTERS;
    ck_assert_int_eq(got, 0);
    (void)close(pipe_end);
}

/* Reads while it waits, so that the child is never held up by a full pipe. True when the child
   ended by itself within the time. */
static bool child_wait(pid_t child, int pipe_end, int64_t *next, int64_t delay_ms, int *out_status)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + delay_ms * 1000;
    int64_t left_us;

    while ((left_us = until_us - hf_clock_mono_us(hf_clock_system())) > 0) {
        struct pollfd end = {.fd = pipe_end, .events = POLLIN};
        int64_t started;

        if (poll(&end, 1, (int)(left_us / 1000) + 1) <= 0)
            continue;
        if (read(pipe_end, &started, sizeof(started)) == (ssize_t)sizeof(started)) {
            next[started % STARTERS] = started + STARTERS;
            continue;
        }
        ck_assert_int_eq(waitpid(child, out_status, 0), child); /* the pipe is closed: it ended */
        return true;
    }
    return waitpid(child, out_status, WNOHANG) == child;
}

/* Every run has its result, and every result its effects. */
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
        hf_status st;

        (void)snprintf(id, sizeof(id), "job-%lld", (long long)i);
        st = hf_result(d, id, 0, &out, &e);
        ck_assert_msg(st == HF_OK, "%s: %s", id, hf_errmsg(d));
        ck_assert_int_eq(hf_int(out, "n", -1), i + STEPS);
        out = hf_get(out, "keys");
        for (int k = 0; k < STEPS; k++, out = hf_at(out, 0)) { /* the newest is outermost */
            const char *key = hf_str(hf_at(out, 1), "", "?");

            ck_assert_msg(bsearch(key, keys, count, sizeof(*keys), hf_effects_compare),
                          "%s has a completed activity %s without an effect", id, key);
        }
        hf_mem_reset(hf_mem_of_engine(d));
    }
    ck_assert_uint_ge(count, (size_t)runs * STEPS);
    printf("kill_workflows: %zu effects of %lld activities\n", count, (long long)runs * STEPS);
    hf_close(d);
    free(keys);
}

START_TEST(every_workflow_ends_with_its_effects)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    const char *seed = getenv("HF_CRASH_SEED");
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    int64_t next[STARTERS];
    char path[512];
    hf_campaign campaign;
    hf_rng rng;
    int64_t runs;
    int kills = 0;
    int64_t delay_ms_first;
    int64_t delay_ms_max;
    off_t effects_bytes = 0;
    bool done = false;

    hf_campaign_init(&campaign, RUNS_SHORT, RUNS_USUAL, RUNS_LONG);
    runs = campaign.points_max > RUNS_LONG ? RUNS_LONG : campaign.points_max;
    delay_ms_first = runs > RUNS_USUAL ? runs / RUNS_PER_MS : DELAY_MS_FIRST;
    delay_ms_max = delay_ms_first;
    hf_rng_init_seeded(&rng, seed ? strtoull(seed, NULL, 10) : 1);
    for (int i = 0; i < STARTERS; i++)
        next[i] = i;
    (void)snprintf(path, sizeof(path), "%s/effects", hf_test_place_folder(place));
    effects_fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(effects_fd, 0);
    while (!done) {
        int64_t delay_ms = 1 + (int64_t)hf_rng_below(&rng, (uint64_t)delay_ms_max);
        off_t bytes;
        int status = 0;
        int ends[2];
        pid_t child;

        (void)hf_campaign_takes(&campaign, "kill_workflows", kills, campaign.seed);
        ck_assert_int_eq(pipe(ends), 0);
        (void)fflush(NULL);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            (void)close(ends[0]);
            child_run(hf_test_place_address(place), next, runs, ends[1]);
        }
        (void)close(ends[1]);
        done = child_wait(child, ends[0], next, delay_ms, &status);
        if (!done) {
            ck_assert_int_eq(kill(child, SIGKILL), 0);
            ck_assert_int_eq(waitpid(child, &status, 0), child);
            done = WIFEXITED(status); /* it was quicker */
            kills += !done;
        }
        ck_assert_msg(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "the child failed");
        pipe_take(ends[0], next);
        bytes = lseek(effects_fd, 0, SEEK_END);
        if (bytes == effects_bytes)
            delay_ms_max *= 2; /* a slow disk must not end in a circle */
        else
            delay_ms_max = delay_ms_first > delay_ms_max / 2 ? delay_ms_first : delay_ms_max / 2;
        effects_bytes = bytes;
    }
    printf("kill_workflows: %lld workflows, %d kills, %.1f s\n", (long long)runs, kills,
           (double)(hf_clock_mono_us(hf_clock_system()) - began_us) / 1e6);
    results_check(hf_test_place_address(place), path, runs);
    ck_assert_int_gt(kills, 0);
    (void)close(effects_fd);
    hf_test_place_free(place);
}
END_TEST

HF_SUITE_MAIN("crash/kill_workflows", {every_workflow_ends_with_its_effects, CASE_SECONDS})
