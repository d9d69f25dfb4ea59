/* lib_load.h: the load of the store benchmarks: runs that each hold one task, and the unit
   that moves a run one step further. A step is three rows: a history chunk of three events
   (ActivityCompleted, ActivityScheduled, ActivityStarted), the run's row and the task's row. The
   bare programs in lib_floor.h write the same rows. */
#ifndef HF_TEST_BENCH_LOAD_H
#define HF_TEST_BENCH_LOAD_H

#include "commit/unit.h"
#include "commit/writer.h"
#include "store/store.h"

enum { HF_LOAD_ROWS_PER_UNIT = 3 };

/* Long enough that chunks have the size of a usual step. */
#define HF_LOAD_RESULT                                                                             \
    "{\"order\":\"01J9Z3V5K8Q2W7RB6T4XN0M1CD\",\"status\":\"charged\",\"amount\":90.5,"            \
    "\"currency\":\"EUR\",\"receipt\":\"rcpt_8f14e45fceea167a5a36dedd4bea2543\",\"retries\":0}"

typedef struct hf_load_run {
    hf_run_base base;
    int64_t task;
    int64_t step;
} hf_load_run;

typedef struct hf_load {
    hf_store *store;
    hf_writer *writer;
    hf_stager stager; /* for who calls without a loop */
    hf_load_run *runs;
    size_t run_count;
    size_t body_bytes;          /* of a step's history chunk */
    struct hf_load_lane *lanes; /* the threads that serve callers */
} hf_load;

/* Makes a store at `address` with that many runs. One thread. */
void hf_load_open(hf_load *load, const char *address, size_t run_count);

/* Ends the writer and the store; the runs stay known until hf_load_free. */
void hf_load_stop(hf_load *load);
void hf_load_free(hf_load *load);

/* The next step of the run, drafted and sealed with the caller's tools. */
hf_unit *hf_load_step(hf_load *load, hf_stager *stager, const hf_load_run *run, hf_unit_done *done,
                      void *ctx);

/* Takes note that the step was committed, and frees it. */
void hf_load_stepped(hf_load_run *run, hf_unit *unit);

/* Units a second with `callers` callers in a closed loop for that long: each has one step in flight
   and drafts its next one when that is done. Caller n works on runs n, n + callers, n + 2 *
   callers, ... of the first `runs` in turn. Two threads serve the callers, as two pool threads of
   the engine do. */
double hf_load_loop(hf_load *load, size_t callers, size_t runs, double seconds);

#endif
