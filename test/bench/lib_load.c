/* lib_load.c: see lib_load.h. A lane is a thread that serves a part of the callers, as a pool
   thread of the engine does: results come in through a list that takes no lock, it takes all of
   them at once, and it is woken once per batch, when it sleeps. */
#include "lib_load.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/id.h"
#include "base/thread.h"
#include "lib_report.h"

enum { START_US = 1767225600 };

enum { LANES = 2 };

typedef struct hf_load_lane hf_load_lane;

typedef struct caller {
    hf_load_lane *lane;
    struct caller *next; /* in the list */
    hf_unit *unit;       /* that is done */
    size_t at;           /* the run it works on */
} caller;

struct hf_load_lane {
    _Atomic(caller *) newest; /* of those whose unit is done */
    atomic_bool asleep;       /* the thread waits, or is about to */
    hf_mutex lock;
    hf_cond some;
    hf_stager stager;
    hf_thread thread;
    /* of the loop under way */
    hf_load *load;
    caller *callers;
    size_t first; /* of the lane's callers; every LANES-th is the lane's */
    size_t caller_count;
    size_t runs;
    double end_s;
    size_t done;
};

static int64_t now_us(void)
{
    return (int64_t)START_US * 1000000 + (int64_t)(hf_bench_now_s() * 1e6);
}

static int64_t key_take(hf_load *load)
{
    int64_t key = 0;
    hf_err err = {0};

    hf_bench_ok(hf_keys_take(hf_writer_keys(load->writer), 1, &key, &err), &err, "take a key");
    return key;
}

/* A new run with one task; the unit's outcome gives its base. */
static hf_unit *run_start(hf_load *load, size_t nth, hf_load_run *run)
{
    int64_t time_us = now_us();
    hf_unit *unit = hf_unit_new(NULL, NULL);
    const hf_run_row row = {.number = 1,
                            .created_us = time_us,
                            .execution_deadline_us = HF_NONE,
                            .run_deadline_us = HF_NONE,
                            .queue = HF_SLICE("default"),
                            .definition = HF_NONE};
    hf_instance_row instance = {.key = key_take(load),
                                .namespace_key = 1,
                                .type = HF_SLICE("order"),
                                .current_run = key_take(load),
                                .run_count = 1,
                                .created_us = time_us};
    hf_run_base base = {.run = instance.current_run,
                        .instance = instance.key,
                        .shard = instance.key % 256,
                        .status = HF_RUN_STATUS_WAITING,
                        .closed_reason = HF_NONE,
                        .closed_us = HF_NONE};

    hf_bench_need(unit != NULL, "no memory");
    instance.shard = base.shard;
    instance.id = hf_slice_of(hf_mem_format(hf_unit_mem(unit), "order-%zu", nth));
    run->task = key_take(load);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &instance, &base, &row);
    hf_event_begin(hf_unit_events(unit, 0), HF_EVENT_WORKFLOW_STARTED, time_us, 0);
    hf_event_put_text(hf_unit_events(unit, 0), HF_KEY_WORKFLOW_TYPE, instance.type);
    hf_unit_row(unit, 0,
                hf_row_task_wake(hf_unit_mem(unit), run->task, base.run, HF_SLICE("default"),
                                 time_us, time_us));
    return unit;
}

static void runs_make(hf_load *load)
{
    for (size_t i = 0; i < load->run_count; i++) {
        hf_load_run *run = &load->runs[i];
        hf_unit *unit = run_start(load, i, run);
        hf_err err = {0};

        hf_bench_ok(hf_unit_seal(unit, &load->stager, &err), &err, "seal the start of a run");
        hf_bench_ok(hf_writer_commit(load->writer, unit, &err), &err, "start a run");
        run->base = *hf_unit_after(unit, 0);
        hf_unit_free(unit);
    }
}

hf_unit *hf_load_step(hf_load *load, hf_stager *stager, const hf_load_run *run, hf_unit_done *done,
                      void *ctx)
{
    int64_t time_us = now_us();
    int64_t activity = key_take(load);
    hf_unit *unit = hf_unit_new(done, ctx);
    hf_event_builder *events;
    hf_err err = {0};
    hf_ulid id;

    hf_bench_need(unit != NULL, "no memory");
    id = hf_ulid_form(time_us, activity, 0);
    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_NEVER);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_ACTIVITY_COMPLETED, time_us, run->step + 1);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_event_put_payload(events, HF_KEY_RESULT,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE(HF_LOAD_RESULT)));
    hf_event_begin(events, HF_EVENT_ACTIVITY_SCHEDULED, time_us, run->step + 2);
    hf_event_put_id(events, HF_KEY_ACTIVITY_EXECUTION_ID, id);
    hf_event_put_text(events, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
    hf_event_put_payload(events, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("[42,\"EUR\"]")));
    hf_event_begin(events, HF_EVENT_ACTIVITY_STARTED, time_us, run->step + 2);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_unit_row(unit, 0, hf_row_task_repair(hf_unit_mem(unit), run->task, time_us));
    hf_bench_ok(hf_unit_seal(unit, stager, &err), &err, "seal a step");
    return unit;
}

/* On the writer's thread, after the last of a batch. */
static void lanes_wake(void *ctx)
{
    hf_load *load = ctx;

    for (size_t i = 0; i < LANES; i++) {
        hf_load_lane *lane = &load->lanes[i];

        if (!atomic_load(&lane->newest) || !atomic_exchange(&lane->asleep, false))
            continue;
        hf_mutex_lock(&lane->lock);
        hf_cond_signal(&lane->some);
        hf_mutex_unlock(&lane->lock);
    }
}

static void lanes_make(hf_load *load)
{
    hf_err err = {0};

    load->lanes = hf_alloc_array(LANES, sizeof(*load->lanes));
    hf_bench_need(load->lanes != NULL, "no memory");
    for (size_t i = 0; i < LANES; i++) {
        load->lanes[i].load = load;
        load->lanes[i].first = i;
        hf_bench_ok(hf_mutex_init(&load->lanes[i].lock, &err), &err, "make a lock");
        hf_bench_ok(hf_cond_init(&load->lanes[i].some, &err), &err, "make a condition");
        hf_bench_ok(hf_stager_init(&load->lanes[i].stager, &err), &err, "make a stager");
    }
}

static void lanes_free(hf_load *load)
{
    for (size_t i = 0; i < LANES; i++) {
        hf_stager_fini(&load->lanes[i].stager);
        hf_cond_fini(&load->lanes[i].some);
        hf_mutex_fini(&load->lanes[i].lock);
    }
    hf_alloc_free(load->lanes);
}

void hf_load_open(hf_load *load, const char *address, size_t run_count)
{
    const hf_store_options store = {.size = sizeof(store), .role = HF_STORE_OWNER, .create = true};
    const hf_writer_options writer = {
        .size = sizeof(writer), .answered = lanes_wake, .answered_ctx = load};
    hf_err err = {0};

    *load = (hf_load){.run_count = run_count};
    load->runs = hf_alloc_array(run_count, sizeof(*load->runs));
    hf_bench_need(load->runs != NULL, "no memory");
    lanes_make(load);
    hf_bench_ok(hf_stager_init(&load->stager, &err), &err, "make a stager");
    hf_bench_ok(hf_store_open(address, &store, &load->store, &err), &err, "open the store");
    hf_bench_ok(hf_writer_open(load->store, &writer, &load->writer, &err), &err, "open the writer");
    runs_make(load);
    hf_unit_free(hf_load_step(load, &load->stager, &load->runs[0], NULL, NULL));
    load->body_bytes = load->stager.body.len;
}

void hf_load_stop(hf_load *load)
{
    hf_writer_close(load->writer);
    load->writer = NULL;
    hf_store_close(load->store);
    load->store = NULL;
}

void hf_load_free(hf_load *load)
{
    hf_load_stop(load);
    hf_stager_fini(&load->stager);
    lanes_free(load);
    hf_alloc_free(load->runs);
    *load = (hf_load){0};
}

void hf_load_stepped(hf_load_run *run, hf_unit *unit)
{
    const char *text = NULL;

    hf_bench_need(hf_unit_outcome(unit, &text) == HF_OK, "a step was not committed");
    run->base = *hf_unit_after(unit, 0);
    run->step++;
    hf_unit_free(unit);
}

/* On the writer's thread. */
static void caller_done(hf_unit *unit, void *ctx)
{
    caller *who = ctx;
    caller *newest = atomic_load(&who->lane->newest);

    who->unit = unit;
    do
        who->next = newest;
    while (!atomic_compare_exchange_weak(&who->lane->newest, &newest, who));
}

static caller *lane_take(hf_load_lane *lane)
{
    caller *taken = atomic_exchange(&lane->newest, NULL);
    caller *oldest = NULL;

    while (!taken) {
        hf_mutex_lock(&lane->lock);
        atomic_store(&lane->asleep, true);
        while (!atomic_load(&lane->newest)) {
            hf_cond_wait(&lane->some, &lane->lock);
            atomic_store(&lane->asleep, true); /* it may have been for a batch seen already */
        }
        atomic_store(&lane->asleep, false);
        hf_mutex_unlock(&lane->lock);
        taken = atomic_exchange(&lane->newest, NULL);
    }
    while (taken) {
        caller *next = taken->next;

        taken->next = oldest;
        oldest = taken;
        taken = next;
    }
    return oldest;
}

static void caller_go(hf_load *load, caller *who)
{
    hf_unit *unit = hf_load_step(load, &who->lane->stager, &load->runs[who->at], caller_done, who);
    hf_err err = {0};

    hf_bench_ok(hf_writer_submit(load->writer, unit, &err), &err, "submit a step");
}

static void lane_run(void *ctx)
{
    hf_load_lane *lane = ctx;
    hf_load *load = lane->load;
    size_t flying = 0;

    lane->done = 0;
    for (size_t i = lane->first; i < lane->caller_count; i += LANES, flying++) {
        lane->callers[i] = (caller){.lane = lane, .at = i};
        caller_go(load, &lane->callers[i]);
    }
    while (flying) {
        bool over = hf_bench_now_s() >= lane->end_s;

        for (caller *who = lane_take(lane), *next; who; who = next) {
            next = who->next;
            hf_load_stepped(&load->runs[who->at], who->unit);
            lane->done++;
            who->at += lane->caller_count;
            if (who->at >= lane->runs)
                who->at %= lane->caller_count;
            if (over)
                flying--;
            else
                caller_go(load, who);
        }
    }
}

double hf_load_loop(hf_load *load, size_t callers, size_t runs, double seconds)
{
    caller *them = hf_alloc_array(callers, sizeof(*them));
    double start = hf_bench_now_s();
    size_t done = 0;
    hf_err err = {0};

    hf_bench_need(them && callers <= runs && runs <= load->run_count,
                  "callers and runs do not fit");
    for (size_t i = 0; i < LANES; i++) {
        hf_load_lane *lane = &load->lanes[i];

        lane->callers = them;
        lane->caller_count = callers;
        lane->runs = runs;
        lane->end_s = start + seconds;
        hf_bench_ok(hf_thread_start(&lane->thread, "lane", lane_run, lane, &err), &err,
                    "start a thread");
    }
    for (size_t i = 0; i < LANES; i++) {
        hf_thread_join(&load->lanes[i].thread);
        done += load->lanes[i].done;
    }
    hf_alloc_free(them);
    return (double)done / (hf_bench_now_s() - start);
}
