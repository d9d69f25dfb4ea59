/* remote_crumb.h: which tasks of a server a program was running when it died, as breadcrumb.h is
   for the runs and activities of a store: a mapped file in the same folder, one for each process,
   WORKER-HASH-PID-NUMBER, where HASH stands for server, namespace and program. Whoever begins next
   reads what dead processes of the same program left, tells the server, and removes it. A file that
   cannot be had is no failure: then the server finds out that the worker is silent. */
#ifndef HF_ENGINE_REMOTE_CRUMB_H
#define HF_ENGINE_REMOTE_CRUMB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/value.h"

typedef struct hf_remote_crumb hf_remote_crumb;

enum {
    HF_REMOTE_CRUMB_SLOTS = 64,
    HF_REMOTE_CRUMB_ROOMS = 4, /* the last of them are for the threads of workflow code */
    HF_REMOTE_CRUMB_HANDS = HF_REMOTE_CRUMB_SLOTS - HF_REMOTE_CRUMB_ROOMS
};

/* `program` is the same for all processes that run the same code for the same server. HF_NOMEM
   alone fails. */
HF_NODISCARD hf_status hf_remote_crumb_open(hf_slice program, const char *worker,
                                            hf_remote_crumb **out_crumb, hf_err *err);
void hf_remote_crumb_close(hf_remote_crumb *crumb); /* in good order; NULL is allowed */

/* The code of the task (workflow, activity) runs from now on. Each slot belongs to one thread. A
   crumb that is NULL, with which nobody tells of anything, is allowed here and below. */
void hf_remote_crumb_put(hf_remote_crumb *crumb, size_t slot, const char *kind, const char *task_id,
                         int64_t attempt);
/* And has come back. */
void hf_remote_crumb_clear(hf_remote_crumb *crumb, size_t slot);

/* [{"kind", "task_id", "attempt", "lease_owner"}], what was left and not told yet. */
hf_value hf_remote_crumb_left(const hf_remote_crumb *crumb, hf_mem *mem);
void hf_remote_crumb_told(hf_remote_crumb *crumb);

#endif
