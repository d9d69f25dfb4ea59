/* breadcrumb.h: whose code was running when the process died. A thread writes the key of the run or
   activity into a slot before it calls user code and clears it afterwards; the slots are a mapped
   file, so that they outlive the process without a single system call on the way. Whoever opens
   the store next reads what was left. A file that cannot be had is no failure: then nobody is
   blamed.

   SQLite: PATH-crumb beside the store, whose owner is alone. PostgreSQL: one file per process
   (crumb_file.h), because many processes of one machine may work on one store. */
#ifndef HF_ENGINE_BREADCRUMB_H
#define HF_ENGINE_BREADCRUMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

typedef struct hf_breadcrumb hf_breadcrumb;

enum { /* the first slots are for workflow code, the others for activities */
       HF_BREADCRUMB_RUNS = 64,
       HF_BREADCRUMB_SLOTS = HF_BREADCRUMB_RUNS + 256
};

/* The store is open and owned. HF_NOMEM alone fails. */
HF_NODISCARD hf_status hf_breadcrumb_open(hf_store *store, hf_breadcrumb **out_crumb, hf_err *err);

/* The process ends in good order: nothing is left. NULL is allowed. */
void hf_breadcrumb_close(hf_breadcrumb *crumb);

/* Says whose code runs from now on in the slot, 0: nobody's; returns what was there before. Each
   slot belongs to one thread. In the slots of activities a negative key stands for a run: a step of
   its machine. */
int64_t hf_breadcrumb_put(hf_breadcrumb *crumb, size_t slot, int64_t key);

/* Whether the process before died in code of this run or activity. */
bool hf_breadcrumb_left(const hf_breadcrumb *crumb, int64_t key);

/* The nth run among what was left; 0 behind the last. */
int64_t hf_breadcrumb_run_left(const hf_breadcrumb *crumb, size_t nth);

#endif
