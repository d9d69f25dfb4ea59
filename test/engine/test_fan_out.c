/* test_fan_out.c: many workers that come and go while runs fan out: every task is handed out, every
   attempt once at a time, and every run ends. Threads and a real clock, through the calls that a
   server makes. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { WORKERS = 8, RUNS = 6, WIDTH = 60, JSON_SIZE = 4096 };

static const hf_app app = {.name = "test"};

typedef struct crew {
    hf_engine *engine;
    _Atomic bool over;
    _Atomic int64_t closed;
    _Atomic int64_t reports;
} crew;

typedef struct hand {
    crew *crew;
    unsigned number;
    char worker[16];
    hf_rng rng;
    hf_mutex lock;
    hf_cond called;
    bool done;
    bool has;
    char json[JSON_SIZE];
} hand;

static bool take(void *arg, hf_value task)
{
    hand *h = arg;
    hf_mem *mem = hf_mem_new();

    hf_mutex_lock(&h->lock);
    h->done = true;
    h->has = task != NULL;
    (void)snprintf(h->json, sizeof(h->json), "%s", task ? hf_text(mem, task) : "null");
    hf_cond_signal(&h->called);
    hf_mutex_unlock(&h->lock);
    hf_mem_free(mem);
    return true;
}

/* Waits for a task for a moment that is sometimes none at all. */
static bool hand_poll(hand *h, hf_task_kind kind)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) +
                       (int64_t)(hf_rng_next(&h->rng) % 3 ? hf_rng_next(&h->rng) % 5000 : 0);
    const hf_poll_opts opts = {.size_ = sizeof(opts),
                               .kind = kind,
                               .queue = "default",
                               .worker = h->worker,
                               .got = take,
                               .arg = h};
    hf_poll *poll = NULL;
    bool called;

    h->done = h->has = false;
    ck_assert_int_eq(hf_poll_begin(h->crew->engine, &opts, &poll), HF_OK);
    hf_mutex_lock(&h->lock);
    while (!h->done && !hf_cond_wait_until(&h->called, &h->lock, until_us))
        ;
    hf_mutex_unlock(&h->lock);
    if (hf_rng_next(&h->rng) % 8) /* sometimes it just goes */
        (void)hf_poll_leave(poll);
    called = !hf_poll_end(poll);
    return called && h->has;
}

static void hand_answer(hand *h, hf_value task, hf_mem *mem)
{
    hf_engine *d = h->crew->engine;
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_str(task, "task_id", ""),
                                 .worker = h->worker,
                                 .attempt = hf_int(task, "workflow_task_attempt", 0)};
    char commands[WIDTH * 256 + 64] = "[";
    bool begins = hf_int(task, "last_history_sequence", 0) < WIDTH;
    hf_value errors = NULL;
    size_t len = 1;

    for (int i = 0; begins && i < WIDTH; i++)
        len += (size_t)snprintf(
            commands + len, sizeof(commands) - len,
            "%s{'type': 'schedule_activity', 'activity_type': 'a',"
            " 'parallel_group_id': 'parallel-activities:1:%d', 'parallel_group_kind': 'activity',"
            " 'parallel_group_base_sequence': 1, 'parallel_group_size': %d,"
            " 'parallel_group_index': %d}",
            i ? ", " : "", WIDTH, WIDTH, i);
    (void)snprintf(commands + len, sizeof(commands) - len, "%s]",
                   begins ? "" : "{'type': 'complete_workflow'}");
    for (char *at = commands; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (!hf_task_answer(d, &claim, hf_parse_(mem, commands, strlen(commands)), mem, &errors))
        h->crew->closed += !begins;
}

static void hand_work(void *ctx)
{
    hand *h = ctx;
    hf_mem *mem = hf_mem_new();

    while (!atomic_load(&h->crew->over)) {
        hf_task_kind kind = h->number % 2 ? HF_TASK_ACTIVITY : HF_TASK_WORKFLOW;
        hf_value task;

        hf_mem_reset(mem);
        if (!hand_poll(h, kind))
            continue;
        task = hf_parse_(mem, h->json, strlen(h->json));
        if (kind == HF_TASK_WORKFLOW) {
            hand_answer(h, task, mem);
        } else {
            const hf_task_claim claim = {.size_ = sizeof(claim),
                                         .task_id = hf_str(task, "task_id", ""),
                                         .worker = h->worker,
                                         .attempt = hf_int(task, "attempt_number", 0)};

            if (!hf_task_result(h->crew->engine, &claim, hf_json_(mem, "1")))
                h->crew->reports++;
        }
    }
    hf_mem_free(mem);
}

/* n01: a poll that takes a task while its run has another turn, again and again. */
HF_BOTH_ENGINES(n01_polls_come_and_go_while_runs_fan_out)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + 60000000;
    hf_test_place *place = hf_test_place_stocked(kind);
    hf_engine *d = NULL;
    crew c = {0};
    hand hands[WORKERS] = {0};
    hf_thread threads[WORKERS] = {0};
    hf_err err;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_workers_allow(d));
    c.engine = d;
    for (unsigned i = 0; i < WORKERS; i++) {
        hands[i].crew = &c;
        hands[i].number = i;
        hf_rng_init_seeded(&hands[i].rng, i + 1);
        (void)snprintf(hands[i].worker, sizeof(hands[i].worker), "w%u", i);
        ck_assert_int_eq(hf_mutex_init(&hands[i].lock, &err), HF_OK);
        ck_assert_int_eq(hf_cond_init(&hands[i].called, &err), HF_OK);
    }
    for (int i = 0; i < RUNS; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "fan-%d", i);
        hf_kit_ok(d, hf_start(d, "fan", NULL, .id = id));
    }
    for (unsigned i = 0; i < WORKERS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "worker", hand_work, &hands[i], &err), HF_OK);
    while (c.closed < RUNS && hf_clock_mono_us(hf_clock_system()) < until_us)
        hf_nap_ms(10);
    c.over = true;
    for (unsigned i = 0; i < WORKERS; i++)
        hf_thread_join(&threads[i]);
    ck_assert_int_eq(c.closed, RUNS);
    ck_assert_int_eq(c.reports, RUNS * WIDTH);
    for (unsigned i = 0; i < WORKERS; i++) {
        hf_cond_fini(&hands[i].called);
        hf_mutex_fini(&hands[i].lock);
    }
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/fan_out", HF_BOTH(n01_polls_come_and_go_while_runs_fan_out))
