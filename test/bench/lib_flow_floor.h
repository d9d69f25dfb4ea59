/* lib_flow_floor.h: the floor of the workflow benchmarks: a closed loop that writes the rows of one
   workflow step (the run's fence, one history chunk, the activity that ended, the activity that
   begins) for a number of runs in flight, hashes the chunk, and hops to a pool thread and back
   between two steps of a run, without the engine: bare SQLite, bare libpq. Durability is the
   engine's. Whatever is ready is written in one transaction. */
#ifndef HF_TEST_BENCH_FLOW_FLOOR_H
#define HF_TEST_BENCH_FLOW_FLOOR_H

#include "base/buf.h"
#include "base/crypto.h"
#include "base/thread.h"
#include "lib_flow.h"

enum { HF_FLOW_FLOOR_RUNS_MAX = 512, HF_FLOW_FLOOR_BODY_MAX = 4096 };

typedef struct hf_flow_floor hf_flow_floor;

typedef struct hf_flow_floor_run {
    struct hf_flow_floor_run *next;
    int64_t run;
    int64_t last_seq;
    int64_t history_bytes;
    int64_t step;
    int64_t activity; /* that is open */
    int64_t begins;   /* the next one */
    int64_t position;
    uint8_t head[HF_SHA256_BYTES];
} hf_flow_floor_run;

/* A floor on a new store of the place, with chunks of that size. */
hf_flow_floor *hf_flow_floor_open(const hf_flow_place *place, const char *name, size_t body_bytes);
void hf_flow_floor_close(hf_flow_floor *floor);

/* Steps a second with so many runs in flight, for that long. */
double hf_flow_floor_loop(hf_flow_floor *floor, size_t runs, double seconds);

/* Jobs a second with so many of them in flight, for that long: the rows that their start and their
   end cannot do without, each in the transaction of whatever is ready; the end of one and the start
   of the next are in the same. Nothing is folded. */
double hf_flow_floor_jobs(hf_flow_floor *floor, size_t jobs, double seconds);

/* Microseconds of one durable commit of one step, without hops. */
double hf_flow_floor_lone(hf_flow_floor *floor);

/* ---- for the two files behind it */

struct hf_flow_floor {
    void (*write)(hf_flow_floor *floor, const hf_flow_floor_run *runs, int64_t time_us);
    /* Ends the jobs of the keys in `activity`, unless they are the first, and starts those in
       `begins`: four keys each (instance, run, command, task), and two positions. */
    void (*jobs_write)(hf_flow_floor *floor, const hf_flow_floor_run *runs, int64_t time_us);
    void (*close)(hf_flow_floor *floor);
    int64_t position;
    int64_t key;
    size_t body_bytes;
    uint8_t body[HF_FLOW_FLOOR_BODY_MAX];
    hf_sha256 *sha; /* the pool thread's */
    hf_flow_floor_run runs[HF_FLOW_FLOOR_RUNS_MAX];
    hf_thread pool;
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    hf_cond done;
    hf_flow_floor_run *jobs;
    hf_flow_floor_run *ready;
    bool closing;
};

hf_flow_floor *hf_flow_floor_sqlite(const char *path);
hf_flow_floor *hf_flow_floor_postgres(const char *uri, const char *schema);

#endif
