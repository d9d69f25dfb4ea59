/* simseed.c: see simseed.h. */
#include "lib/simseed.h"

#include <check.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"

enum {
    SEEDS_SHORT = 20,
    SEEDS_LONG = 2000,
    TWICE = 5, /* seeds that run twice */
    JOBS = 2   /* processes at a time */
};

/* ---- in the seed's process */

static hf_simseed_verdict verdict;
static int tell; /* where it is sent to */

void hf_simseed_mark(int mark)
{
    HF_ASSERT(mark < HF_SIMSEED_MARKS);
    verdict.marks[mark] = true;
}

static void seed_end(bool good) __attribute__((noreturn));

static void seed_end(bool good)
{
    verdict.good = good;
    (void)!write(tell, &verdict, sizeof(verdict));
    _exit(!good);
}

void hf_simseed_fail(hf_simsched *sim, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(verdict.why, sizeof(verdict.why), format, args);
    va_end(args);
    if (sim)
        hf_simsched_print(sim, stderr);
    seed_end(false);
}

void hf_simseed_close(hf_simsched *sim)
{
    verdict.trace = hf_simsched_trace(sim);
    verdict.steps = hf_simsched_steps(sim);
    verdict.now_us = hf_simsched_now_us(sim);
    hf_simsched_end(sim);
}

/* ---- in the test's */

typedef struct job {
    uint64_t seed;
    pid_t child;
    int from;
} job;

static job seed_begin(const hf_simseed_plan *plan, uint64_t seed, hf_plant plant)
{
    job started = {.seed = seed};
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    started.child = fork();
    ck_assert_int_ge(started.child, 0);
    if (started.child == 0) {
        if (!getenv("HF_SIM_SEED"))
            (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        (void)mallopt(M_PERTURB, 0xA5); /* who uses what was freed falls over it */
        hf_fault_plant(plant);
        tell = ends[1];
        plan->play(seed);
        seed_end(true);
    }
    (void)close(ends[1]);
    started.from = ends[0];
    return started;
}

static void seed_finish(const job *started, hf_simseed_verdict *out)
{
    int status = 0;
    ssize_t got;

    memset(out, 0, sizeof(*out));
    got = read(started->from, out, sizeof(*out));
    (void)close(started->from);
    ck_assert_int_eq(waitpid(started->child, &status, 0), started->child);
    if (got != sizeof(*out))
        (void)snprintf(out->why, sizeof(out->why), "it ended with %s %d",
                       WIFSIGNALED(status) ? "signal" : "exit code",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void hf_simseed_run(const hf_simseed_plan *plan, uint64_t first, uint64_t last, hf_plant plant,
                    bool (*look)(void *ctx, uint64_t seed, const hf_simseed_verdict *found),
                    void *ctx)
{
    job jobs[JOBS];
    uint64_t begun = first;
    bool enough = false;
    hf_simseed_verdict found;

    for (uint64_t seed = first; seed <= last && (!enough || seed < begun); seed++) {
        for (; !enough && begun <= last && begun < seed + JOBS; begun++)
            jobs[begun % JOBS] = seed_begin(plan, begun, plant);
        seed_finish(&jobs[seed % JOBS], &found);
        enough = enough || !look(ctx, seed, &found);
    }
}

static int64_t seeds_wanted(void)
{
    const char *seeds = getenv("HF_SIM_SEEDS");
    const char *how = getenv("HF_CAMPAIGN");

    if (seeds)
        return strtoll(seeds, NULL, 10);
    if (!how)
        return SEEDS_SHORT;
    return strcmp(how, "long") == 0 ? SEEDS_LONG : HF_SIMSEED_USUAL;
}

typedef struct campaign {
    const hf_simseed_plan *plan;
    bool marks[HF_SIMSEED_MARKS];
    int64_t steps;
    int64_t virtual_us;
    uint64_t trace;
} campaign;

static bool seed_holds(void *ctx, uint64_t seed, const hf_simseed_verdict *found)
{
    campaign *c = ctx;

    ck_assert_msg(found->good, "seed %llu: %s\n  again: %s%llu", (unsigned long long)seed,
                  found->why, c->plan->again, (unsigned long long)seed);
    c->steps += found->steps;
    c->virtual_us += found->now_us;
    c->trace = found->trace;
    for (int i = 0; i < c->plan->mark_count; i++)
        c->marks[i] |= found->marks[i];
    return true;
}

void hf_simseed_campaign(const hf_simseed_plan *plan)
{
    const char *one = getenv("HF_SIM_SEED");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one ? first : (uint64_t)seeds_wanted();
    campaign c = {.plan = plan};

    hf_simseed_run(plan, first, last, HF_PLANT_NONE, seed_holds, &c);
    (void)printf("%llu seeds, %lld steps, %lld virtual seconds\n",
                 (unsigned long long)(last - first + 1), (long long)c.steps,
                 (long long)c.virtual_us / 1000000);
    for (int i = 0; i < plan->mark_count; i++)
        ck_assert_msg(c.marks[i] || last - first + 1 < HF_SIMSEED_USUAL, "no seed met %s",
                      plan->marks[i]);
}

void hf_simseed_twice(const hf_simseed_plan *plan)
{
    for (uint64_t seed = 1; seed <= TWICE; seed++) {
        campaign c = {.plan = plan};
        uint64_t trace;

        hf_simseed_run(plan, seed, seed, HF_PLANT_NONE, seed_holds, &c);
        trace = c.trace;
        hf_simseed_run(plan, seed, seed, HF_PLANT_NONE, seed_holds, &c);
        ck_assert_msg(c.trace == trace, "seed %llu has two traces", (unsigned long long)seed);
    }
}

typedef struct hunt {
    uint64_t seed; /* that found it; 0: none */
    char why[120];
} hunt;

static bool seed_misses(void *ctx, uint64_t seed, const hf_simseed_verdict *found)
{
    hunt *h = ctx;

    if (!found->good && !h->seed) {
        h->seed = seed;
        (void)snprintf(h->why, sizeof(h->why), "%.100s", found->why);
    }
    return found->good;
}

void hf_simseed_hunt(const hf_simseed_plan *plan, hf_plant plant)
{
    hunt h = {0};

    hf_simseed_run(plan, 1, HF_SIMSEED_USUAL, plant, seed_misses, &h);
    (void)printf("plant %d: seed %llu: %s\n", (int)plant, (unsigned long long)h.seed, h.why);
    ck_assert_msg(h.seed, "nothing found plant %d", (int)plant);
}
