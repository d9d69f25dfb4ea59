/* A real process on a real file, killed at any moment: what it had acknowledged is there
   afterwards. The child writes each acknowledgement to a pipe the moment it gets it; the pipe
   outlives the child. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "lib/campaign.h"
#include "lib/engine.h"
#include "lib/recovery.h"
#include "lib/world.h"

enum {
    CYCLES_SHORT = 10,
    CYCLES_USUAL = 50,
    CYCLES_LONG = 300,
    DELAY_MS_MAX = 30,
    SIGNALS = 6, /* under way at once */
    ID_BYTES = 48,
    PATIENCE_MS = 60000,
    CASE_SECONDS = 100000000 /* the campaign ends by itself */
};

/* ---- the child */

/* What it tells of a unit; smaller than a pipe's buffer, so it arrives whole or not at all. */
typedef struct message {
    int64_t run;
    int64_t seq;
    uint8_t head[HF_SHA256_BYTES];
} message;

static void base_tell(int pipe_end, const hf_run_base *after)
{
    message text = {.run = after->run, .seq = after->last_seq};

    memcpy(text.head, after->head, sizeof(text.head));
    if (write(pipe_end, &text, sizeof(text)) != (ssize_t)sizeof(text))
        _exit(2);
}

static void unit_tell(hf_unit *unit, void *ctx)
{
    if (hf_unit_outcome(unit, NULL) == HF_OK)
        base_tell(*(int *)ctx, hf_unit_after(unit, 0));
    hf_unit_free(unit);
}

static hf_status run_tell(int pipe_end, hf_status st, const hf_world_run *run)
{
    if (!st)
        base_tell(pipe_end, &run->base);
    return st;
}

/* An activity while signals arrive: they are facts from outside, the decisions are repeated until
 * they pass. */
static hf_status life_live(hf_world *world, const char *id, int *pipe_end, hf_err *err)
{
    hf_world_run run;
    hf_status st = run_tell(*pipe_end, hf_world_start(world, id, &run, err), &run);

    if (!st)
        st = run_tell(*pipe_end, hf_world_activity(world, &run, err), &run);
    if (!st)
        st = run_tell(*pipe_end, hf_world_claim(world, &run, err), &run);
    if (!st)
        st = run_tell(*pipe_end, hf_world_complete(world, &run, 3000, err), &run);
    for (int i = 0; !st && i < SIGNALS; i++) {
        hf_unit *unit = hf_world_signal_unit(world, &run, "nudge", unit_tell, pipe_end, err);

        st = unit ? hf_writer_submit(world->writer, unit, err) : HF_NOMEM;
    }
    if (!st)
        st = run_tell(*pipe_end, hf_world_signal(world, &run, "last", 20, err), &run);
    return st ? st : run_tell(*pipe_end, hf_world_finish(world, &run, err), &run);
}

/* Lives one life after the other until it is killed. */
static void child_run(const char *address, int64_t cycle, int pipe_end)
{
    hf_world world;
    hf_err err = {0};
    char id[ID_BYTES];
    hf_status st = hf_world_open(&world, address, NULL, &err);

    for (int i = 0; !st; i++) {
        (void)snprintf(id, sizeof(id), "life-%" PRId64 "-%d", cycle, i);
        st = life_live(&world, id, &pipe_end, &err);
    }
    (void)fprintf(stderr, "the child could not go on: %s\n", err.text);
    _exit(1);
}

/* ---- the parent */

static pid_t child_start(const char *address, int64_t cycle, int *out_pipe)
{
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    (void)fflush(NULL);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)close(ends[0]);
        child_run(address, cycle, ends[1]);
    }
    (void)close(ends[1]);
    *out_pipe = ends[0];
    return child;
}

static void child_kill(pid_t child)
{
    int status = 0;

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child ended by itself");
}

/* A pipe that nobody tells anything needs no reader before the child is dead, but it must not be
 * full. */
static void acknowledgements_read(int pipe_end, hf_ledger *ledger)
{
    message text;
    ssize_t got;

    while ((got = read(pipe_end, &text, sizeof(text))) == (ssize_t)sizeof(text)) {
        hf_run_base after = {.run = text.run, .last_seq = text.seq};

        memcpy(after.head, text.head, sizeof(after.head));
        hf_ledger_note(ledger, &after, 1, 0);
    }
    ck_assert_int_eq(got, 0);
    (void)close(pipe_end);
}

/* Every other child gets its time from its first acknowledgement on, so that long lives are met as
   well as the opening of the store. */
static void moment_wait(int pipe_end, bool from_first, int64_t delay_ms)
{
    struct pollfd end = {.fd = pipe_end, .events = POLLIN};

    if (from_first)
        ck_assert_int_eq(poll(&end, 1, PATIENCE_MS), 1);
    (void)poll(NULL, 0, (int)delay_ms);
}

START_TEST(keeps_what_it_acknowledged)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_ledger ledger = {0};
    hf_campaign campaign;
    int64_t cycle = 0;

    hf_campaign_init(&campaign, CYCLES_SHORT, CYCLES_USUAL, CYCLES_LONG);
    if (campaign.points_max > CYCLES_LONG)
        campaign.points_max =
            CYCLES_LONG; /* the simulated disk is where millions of points belong */
    while (!hf_campaign_over(&campaign)) {
        const char *seed = getenv("HF_CRASH_SEED");
        char id[ID_BYTES];
        hf_recovery recovery = {.address = hf_test_place_address(place),
                                .ledger = &ledger,
                                .commit = INT64_MAX,
                                .twice = cycle % 2 == 0,
                                .id = id};
        hf_complaint complaint;
        hf_rng rng;
        pid_t child;
        int pipe_end = -1;

        hf_rng_init_seeded(&rng, (seed ? strtoull(seed, NULL, 10) : 1) + (uint64_t)cycle);
        (void)hf_campaign_takes(&campaign, "kill", cycle, campaign.seed);
        (void)snprintf(id, sizeof(id), "after-%" PRId64, cycle);
        child = child_start(recovery.address, cycle, &pipe_end);
        moment_wait(pipe_end, cycle % 2 == 1, (int64_t)hf_rng_below(&rng, DELAY_MS_MAX + 1));
        child_kill(child);
        acknowledgements_read(pipe_end, &ledger);
        if (!hf_recovery_check(&recovery, &complaint))
            hf_campaign_fail(&campaign, complaint.text);
        cycle++;
    }
    ck_assert_uint_gt(ledger.count, 0);
    printf("kill: %" PRId64 " kills, %zu acknowledged units\n", cycle, ledger.count);
    hf_ledger_fini(&ledger);
    hf_test_place_free(place);
}
END_TEST

HF_SUITE_MAIN("crash/kill", {keeps_what_it_acknowledged, CASE_SECONDS})
