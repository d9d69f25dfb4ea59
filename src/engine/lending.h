/* lending.h: tasks that go to workers at other nodes. What polls here wait for is told to the other
   nodes; a task here that no poll takes is offered to one node where one waits. A poll there claims
   it, the claim comes here and is a poll for this one task (task/matching.h), the core confirms it,
   and the task goes to that node. Each step is a letter that may be lost: a claim and a task are
   sent again until they are answered, an offer is over after a time, and what was handed out and
   never got there comes back.

   The carrier's thread, but for what matching calls. It must never call user code. */
#ifndef HF_ENGINE_LENDING_H
#define HF_ENGINE_LENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "commit/mail.h"
#include "holdfast/value.h"
#include "task/matching.h"

typedef struct hf_lending hf_lending;

struct hf_ticket; /* errand.h */

typedef struct hf_lending_options {
    hf_matching *matching;
    int64_t lease_us; /* of nodes */
    int64_t renew_us;
    /* Any thread, must not block, as all of these. A letter: */
    void (*post)(void *ctx, int64_t to, hf_letter_kind kind, hf_slice body);
    /* something is to be done by hf_lending_step: */
    void (*wake)(void *ctx);
    /* a task that was handed out did not get there. `here`: this node handed it out, `task_id` is
       its name; else whoever has the run now is to know. */
    void (*back)(void *ctx, bool here, const char *task_id, const struct hf_ticket *ticket);
    void *ctx;
} hf_lending_options;

HF_NODISCARD hf_status hf_lending_open(const hf_lending_options *options, hf_lending **out_lending,
                                       hf_err *err);
/* Matching has no polls or tasks of it any more. NULL is allowed. */
void hf_lending_close(hf_lending *lending);

/* The other nodes that are there. */
void hf_lending_nodes(hf_lending *lending, const int64_t *nodes, size_t count);

/* A letter of any of these kinds. */
void hf_lending_came(hf_lending *lending, int64_t from, hf_letter_kind kind, hf_value said);

/* The lease was renewed: what waits here is told again. */
void hf_lending_renewed(hf_lending *lending);

/* Whether no task is on its way to or from another node. While the carrier's thread is not here. */
bool hf_lending_idle(hf_lending *lending);

/* Does what is due; when it is to be called next. */
int64_t hf_lending_step(hf_lending *lending);

#endif
