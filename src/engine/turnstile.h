/* turnstile.h: who may begin a step under a concurrency key or a rate limit. A turnstile is one
   key: its waiting runs stand in a queue of their own, so that a key without room never delays
   another. What is taken is taken in the store, one asking at a time, so that several processes
   share it: slots with a lease that their owner renews, tokens of a bucket that refills by the
   clock. The core's thread only. */
#ifndef HF_ENGINE_TURNSTILE_H
#define HF_ENGINE_TURNSTILE_H

#include "engine/core_impl.h"
#include "model/step.h"

/* True: the run has all it needs for the step. False: it waits at one; hf_machine_dispatch is
   called again when it was let in. */
bool hf_turnstile_pass(hf_core *core, live_run *run, const hf_step_work *work);

/* Where the run stands in queues: the lower first, then who came first. */
int64_t hf_turnstile_order(const hf_core *core, const hf_step_work *work);

/* The same for a run of which only the priority is known. */
int64_t hf_turnstile_place(const hf_core *core, int64_t priority);

/* Whether the first of two places is of a priority that goes first, whenever they were given. */
bool hf_turnstile_before(int64_t place, int64_t other);

/* The run gives its slot back; nothing when it has none. */
void hf_turnstile_leave(hf_core *core, live_run *run);

/* The run leaves memory: it waits nowhere any more. A slot whose step still runs stays taken, and
   the job takes it over. */
void hf_turnstile_forget(hf_core *core, live_run *run);

/* A step whose run is gone has ended: its slot is free. */
void hf_turnstile_drop(hf_core *core, hf_job *job);

/* The store has answered; the message and its unit are freed. */
void hf_turnstile_answer(hf_core *core, core_message *message);

/* Time to ask again, or to renew. */
void hf_turnstile_alarm(hf_core *core, int64_t key);

/* Limits were declared: what stands before them asks again. */
void hf_turnstile_declared(hf_core *core);

/* A turnstile that runs wait at, for those who look. */
typedef struct hf_turnstile_seen {
    struct hf_turnstile_seen *next;
    bool rate;
    hf_slice key;
    int64_t waiting;
    struct hf_turnstile_queue {
        struct hf_turnstile_queue *next;
        hf_slice name;
        int64_t waiting;
    } * queues; /* whose runs they are */
} hf_turnstile_seen;

/* Those of a namespace, in `mem`; *io_exact becomes false when there are more of them than are
   looked at, or more runs than are asked for their queues. */
HF_NODISCARD hf_status hf_turnstile_look(const hf_core *core, int64_t namespace_key, hf_mem *mem,
                                         hf_turnstile_seen **out_seen, bool *io_exact, hf_err *err);

/* Slots that processes before this one left in a store that nobody else works on. */
HF_NODISCARD hf_unit *hf_turnstile_clear(hf_core *core); /* NULL: no memory */

void hf_turnstile_close(hf_core *core);

#endif
