/* pool.h: threads that run activities. An activity is ordinary user code: it may block, fail or
   take hours. Its result goes to the `done` function given at open, which must not block. A pool
   without threads runs jobs when it is told to (hf_pool_step): tests own every instruction that
   way.

   A place is reserved before a job's start is committed, so that the record and the world agree:
   hf_pool_reserve, then hf_pool_submit after the commit, or hf_pool_release when the unit did not
   make it. */
#ifndef HF_ENGINE_POOL_H
#define HF_ENGINE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "decide/decide.h"
#include "engine/breadcrumb.h"
#include "engine/registry.h"

typedef struct hf_pool hf_pool;

/* One attempt of an activity. Made by the core, filled in by the pool, given back through `done`.
 */
typedef struct hf_job {
    struct hf_job *next;
    hf_mem *mem; /* everything below that is text lives here, the job too */
    int64_t run;
    int64_t activity;
    int64_t step;
    hf_attempt_count count; /* this attempt included, though it may still wait to begin */
    hf_slice name;
    hf_slice queue; /* ptr NULL: the run's */
    hf_slice input;
    hf_payload_codec input_codec; /* 0: JSON */
    hf_slice policy;              /* snapshot, empty for the default */
    hf_retry_policy rules;        /* the same, read */
    hf_slice last_progress;       /* JSON: what an attempt before it reported; ptr NULL: nothing */
    int64_t close_deadline_us;
    int64_t started_us;
    char idempotency_key[32]; /* the execution's id: the same for every attempt */
    const hf_registry_activity *definition;
    struct hf_step_job *machine; /* it is a step of a machine instead; `activity` is its run */
    int64_t payload_max;         /* bytes of one value; 0: no limit */
    _Atomic int64_t beat_us;     /* newest sign of life */
    _Atomic bool stop; /* the attempt is over, whatever it still does: heartbeats answer so */
    /* out */
    bool failed;
    hf_slice result;               /* of a success */
    hf_payload_codec result_codec; /* 0: JSON */
    hf_decision_failure failure;
    /* the core's */
    bool beat_waits;       /* a sign of life waits to be recorded */
    int64_t recorded_us;   /* when one was recorded last, HF_NONE: never */
    bool far;              /* a worker in another process has it, see errand.h */
    int64_t epoch;         /* of its task then: with activity and attempt, the key of the lease */
    int64_t namespace_key; /* of its run then, which need not be in memory */
    int64_t lease_us;      /* what a sign of life extends that by */
    struct hf_ticket *ticket;            /* its report waits for the commit */
    void (*dropped)(struct hf_job *job); /* asked when it is freed; NULL: nobody waits */
    /* under the pool's lock */
    hf_buf progress;       /* JSON, the newest; empty: none */
    _Atomic bool beat_new; /* a sign of life came that nobody took yet; others may look */
} hf_job;

/* What the pool needs of its owner. Both functions are called from the job's thread and must not
   block. */
typedef struct hf_pool_host {
    void (*done)(void *ctx, hf_job *job);
    void (*beat)(void *ctx, const hf_job *job); /* the first sign of life since one was taken */
    void *ctx;
    const hf_clock *clock;
    hf_breadcrumb *crumb; /* NULL: nobody asks after a crash which job it was */
    int64_t payload_max;  /* bytes of one value; 0: no limit */
} hf_pool_host;

/* threads 0: a pool that is stepped. `places` bounds reservations. */
HF_NODISCARD hf_status hf_pool_open(size_t threads, size_t places, const hf_pool_host *host,
                                    hf_pool **out_pool, hf_err *err);

/* Tells running jobs to stop, waits for them, and frees what was not started. NULL is allowed. */
void hf_pool_close(hf_pool *pool);

/* No place is given away any more; what runs goes on. */
void hf_pool_drain(hf_pool *pool);

bool hf_pool_reserve(hf_pool *pool);
void hf_pool_release(hf_pool *pool);

/* Runs the job in a reserved place, after hf_pool_call, which calls a thread for all that were
   submitted; the place is free again when `done` was called. A job that was told to stop before its
   turn came is not run at all. */
void hf_pool_submit(hf_pool *pool, hf_job *job);
void hf_pool_call(hf_pool *pool);

/* A pool without threads: runs one job to its end; false when there is none. */
bool hf_pool_step(hf_pool *pool);

/* What the job reported of its progress: a copy in the arena, ptr NULL for nothing. Take also says
   whether a sign of life came since the last one was taken. */
bool hf_pool_take_beat(hf_pool *pool, hf_job *job, hf_mem *mem, hf_slice *out_progress);
hf_slice hf_pool_progress(hf_pool *pool, hf_job *job, hf_mem *mem);

/* A sign of life of a job that runs in another process; progress is JSON, ptr NULL: none. */
void hf_pool_beat_far(hf_pool *pool, hf_job *job, hf_slice progress);

/* Runs the job on this thread, outside any pool: nobody takes its signs of life, or tells it to
   stop. */
void hf_job_run(hf_job *job);

HF_NODISCARD hf_job *hf_job_new(void); /* NULL: no memory */
void hf_job_free(hf_job *job);         /* NULL is allowed */

#endif
