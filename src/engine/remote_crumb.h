/* remote_crumb.h: which tasks of a server, or of other nodes, a program was running when it died,
   as breadcrumb.h is for the runs and activities of a store: a mapped file in the same folder, one
   for each process, WORKER-HASH-PID-NUMBER, where HASH stands for server or store, namespace and
   program. Whoever begins next reads what dead processes of the same program left, tells who handed
   it out, and removes it. A file that cannot be had is no failure: then it is found out that the
   worker is silent. */
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

/* What a process runs, or ran when it died. */
typedef struct hf_remote_crumb_task {
    const char *kind; /* as in the task */
    const char *task_id;
    int64_t attempt;       /* 0: one that is not told of */
    int64_t namespace_key; /* of another node's; 0: the server knows */
} hf_remote_crumb_task;

/* `program` is the same for all processes that run the same code for the same server or store.
   HF_NOMEM alone fails. */
HF_NODISCARD hf_status hf_remote_crumb_open(hf_slice program, const char *worker,
                                            hf_remote_crumb **out_crumb, hf_err *err);
void hf_remote_crumb_close(hf_remote_crumb *crumb); /* in good order; NULL is allowed */

/* The code of the task runs from now on. Each slot belongs to one thread. */
void hf_remote_crumb_put(hf_remote_crumb *crumb, size_t slot, const hf_remote_crumb_task *task);
/* And has come back. */
void hf_remote_crumb_clear(hf_remote_crumb *crumb, size_t slot);

/* [{"kind", "task_id", "attempt", "lease_owner", "namespace_key"}], what was left and not told yet.
 */
hf_value hf_remote_crumb_left(const hf_remote_crumb *crumb, hf_mem *mem);
void hf_remote_crumb_told(hf_remote_crumb *crumb);

#endif
