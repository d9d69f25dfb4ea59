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

#include "base/err.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "model/decision.h"

typedef struct hf_pool hf_pool;

/* One attempt of an activity. Made by the core, filled in by the pool, given back through `done`.
 */
typedef struct hf_job {
    struct hf_job *next;
    hf_mem *mem; /* everything below that is text lives here, the job too */
    int64_t run;
    int64_t activity;
    int64_t step;
    int64_t attempt;
    int64_t lost; /* attempts before it that were lost with their worker */
    hf_slice name;
    hf_slice input;  /* JSON */
    hf_slice policy; /* snapshot, empty for the default */
    int64_t close_deadline_us;
    char idempotency_key[32]; /* the execution's id: the same for every attempt */
    const hf_registry_activity *definition;
    _Atomic int64_t heartbeats; /* signs of life so far */
    _Atomic bool stop; /* the attempt is over, whatever it still does: heartbeats answer so */
    /* out */
    bool failed;
    hf_slice result; /* JSON of a success */
    hf_decision_failure failure;
} hf_job;

typedef void hf_job_done(void *ctx, hf_job *job);

/* threads 0: a pool that is stepped. `places` bounds reservations. */
HF_NODISCARD hf_status hf_pool_open(size_t threads, size_t places, hf_job_done *done, void *ctx,
                                    hf_pool **out_pool, hf_err *err);

/* Tells running jobs to stop, waits for them, and frees what was not started. NULL is allowed. */
void hf_pool_close(hf_pool *pool);

bool hf_pool_reserve(hf_pool *pool);
void hf_pool_release(hf_pool *pool);

/* Runs the job in a reserved place; the place is free again when `done` was called. */
void hf_pool_submit(hf_pool *pool, hf_job *job);

/* A pool without threads: runs one job to its end; false when there is none. */
bool hf_pool_step(hf_pool *pool);

HF_NODISCARD hf_job *hf_job_new(void); /* NULL: no memory */
void hf_job_free(hf_job *job);         /* NULL is allowed */

#endif
