/* lib_flow_floor.c: the loop around both bare programs. */
#include "lib_flow_floor.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lib/pg.h"
#include "lib_report.h"

enum { KEY_FIRST = 1 << 20, EVENTS_PER_STEP = 3, KEYS_PER_JOB = 4, CHUNKS_PER_JOB = 2 };

static void step_prepare(hf_flow_floor *floor, hf_flow_floor_run *run)
{
    hf_err err = {0};

    floor->body[0]++;
    hf_bench_ok(hf_sha256_digest(floor->sha, hf_slice_from(floor->body, floor->body_bytes),
                                 run->head, &err),
                &err, "hash a chunk");
}

/* Runs every job there is, then hands all of them back at once. */
static void pool_run(void *ctx)
{
    hf_flow_floor *floor = ctx;

    hf_mutex_lock(&floor->lock);
    while (!floor->closing) {
        hf_flow_floor_run *jobs = floor->jobs;
        hf_flow_floor_run *last = NULL;

        floor->jobs = NULL;
        if (!jobs) {
            hf_cond_wait(&floor->work, &floor->lock);
            continue;
        }
        hf_mutex_unlock(&floor->lock);
        for (hf_flow_floor_run *run = jobs; run; run = run->next) {
            step_prepare(floor, run);
            last = run;
        }
        hf_mutex_lock(&floor->lock);
        last->next = floor->ready;
        floor->ready = jobs;
        hf_cond_signal(&floor->done);
    }
    hf_mutex_unlock(&floor->lock);
}

hf_flow_floor *hf_flow_floor_open(const hf_flow_place *place, const char *name, size_t body_bytes)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    char address[HF_FLOW_ADDRESS_MAX];
    hf_store *store = NULL;
    hf_flow_floor *floor;
    hf_err err = {0};

    (void)hf_flow_address(place, name, address);
    hf_bench_ok(hf_store_open(address, &options, &store, &err), &err, "make the floor's store");
    hf_store_close(store);
    floor = place->server ? hf_flow_floor_postgres(hf_pg_uri(place->server), name)
                          : hf_flow_floor_sqlite(address);
    floor->position = floor->key = KEY_FIRST;
    floor->body_bytes = body_bytes < sizeof(floor->body) ? body_bytes : sizeof(floor->body);
    for (size_t i = 0; i < sizeof(floor->body); i++)
        floor->body[i] = (uint8_t)(i * 131 + i / 7);
    for (size_t i = 0; i < HF_FLOW_FLOOR_RUNS_MAX; i++)
        floor->runs[i].run = (int64_t)i + 1;
    hf_bench_ok(hf_mutex_init(&floor->lock, &err), &err, "make a lock");
    hf_bench_ok(hf_cond_init(&floor->work, &err), &err, "make a condition");
    hf_bench_ok(hf_cond_init(&floor->done, &err), &err, "make a condition");
    hf_bench_ok(hf_sha256_new(&floor->sha, &err), &err, "make a hash");
    hf_bench_ok(hf_thread_start(&floor->pool, "floor-pool", pool_run, floor, &err), &err,
                "start the pool thread");
    return floor;
}

void hf_flow_floor_close(hf_flow_floor *floor)
{
    hf_mutex_lock(&floor->lock);
    floor->closing = true;
    hf_cond_signal(&floor->work);
    hf_mutex_unlock(&floor->lock);
    hf_thread_join(&floor->pool);
    hf_sha256_free(floor->sha);
    hf_cond_fini(&floor->done);
    hf_cond_fini(&floor->work);
    hf_mutex_fini(&floor->lock);
    floor->close(floor);
    hf_alloc_free(floor);
}

/* One transaction for all that are ready. */
static size_t batch_write(hf_flow_floor *floor, hf_flow_floor_run *ready)
{
    size_t count = 0;

    for (hf_flow_floor_run *run = ready; run; run = run->next) {
        run->begins = floor->key++;
        run->position = floor->position++;
        count++;
    }
    floor->write(floor, ready, hf_clock_wall_us(hf_clock_system()));
    for (hf_flow_floor_run *run = ready; run; run = run->next) {
        run->activity = run->begins;
        run->last_seq += EVENTS_PER_STEP;
        run->history_bytes += (int64_t)floor->body_bytes;
        run->step++;
    }
    return count;
}

static void jobs_give(hf_flow_floor *floor, hf_flow_floor_run *jobs)
{
    hf_mutex_lock(&floor->lock);
    floor->jobs = jobs; /* the pool has taken those before */
    hf_cond_signal(&floor->work);
    hf_mutex_unlock(&floor->lock);
}

static hf_flow_floor_run *ready_take(hf_flow_floor *floor)
{
    hf_flow_floor_run *ready;

    hf_mutex_lock(&floor->lock);
    while (!floor->ready)
        hf_cond_wait(&floor->done, &floor->lock);
    ready = floor->ready;
    floor->ready = NULL;
    hf_mutex_unlock(&floor->lock);
    return ready;
}

double hf_flow_floor_loop(hf_flow_floor *floor, size_t runs, double seconds)
{
    double start = hf_bench_now_s();
    hf_flow_floor_run *jobs = NULL;
    size_t done = 0;

    hf_bench_need(runs <= HF_FLOW_FLOOR_RUNS_MAX, "the floor does not have so many runs");
    for (size_t i = 0; i < runs; i++) {
        floor->runs[i].next = jobs;
        jobs = &floor->runs[i];
    }
    while (hf_bench_now_s() - start < seconds) {
        jobs_give(floor, jobs);
        jobs = ready_take(floor);
        done += batch_write(floor, jobs);
    }
    return (double)done / (hf_bench_now_s() - start);
}

/* One transaction for all that are ready: they end, and as many begin. */
static size_t jobs_write(hf_flow_floor *floor, hf_flow_floor_run *ready)
{
    size_t count = 0;

    for (hf_flow_floor_run *run = ready; run; run = run->next) {
        run->begins = floor->key;
        run->position = floor->position;
        floor->key += KEYS_PER_JOB;
        floor->position += CHUNKS_PER_JOB;
        count++;
    }
    floor->jobs_write(floor, ready, hf_clock_wall_us(hf_clock_system()));
    for (hf_flow_floor_run *run = ready; run; run = run->next)
        run->activity = run->begins;
    return count;
}

double hf_flow_floor_jobs(hf_flow_floor *floor, size_t count, double seconds)
{
    double start = hf_bench_now_s();
    hf_flow_floor_run *jobs = NULL;
    size_t done = 0;

    hf_bench_need(count <= HF_FLOW_FLOOR_RUNS_MAX, "the floor does not have so many runs");
    for (size_t i = 0; i < count; i++) {
        floor->runs[i].activity = 0;
        floor->runs[i].next = jobs;
        jobs = &floor->runs[i];
    }
    (void)jobs_write(floor, jobs);
    while (hf_bench_now_s() - start < seconds) {
        jobs_give(floor, jobs);
        jobs = ready_take(floor);
        done += jobs_write(floor, jobs);
    }
    return (double)done / (hf_bench_now_s() - start);
}

double hf_flow_floor_lone(hf_flow_floor *floor)
{
    double start = hf_bench_now_s();
    hf_flow_floor_run *run = &floor->runs[0];

    run->next = NULL;
    step_prepare(floor, run);
    (void)batch_write(floor, run);
    return (hf_bench_now_s() - start) * 1e6;
}
