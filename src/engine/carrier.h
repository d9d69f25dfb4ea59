/* carrier.h: what nodes of a shared store do for each other. A thread of its own, with a connection
   of its own, reads and writes letters (commit/mail.h), and knows who owns which shard.

   A report that comes to a node which does not have the run is carried to the one that has it, and
   its answer is carried back. Who has the run may change meanwhile: the question is then put to the
   next one, under the same number, so that nobody carries it out twice. While a shard has no owner
   it waits for one. Tasks for workers at other nodes go the same way (lending.h).

   Any thread. It must never call user code, and nothing depends on a letter that arrives. */
#ifndef HF_ENGINE_CARRIER_H
#define HF_ENGINE_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "commit/shard.h"
#include "engine/node.h"
#include "holdfast/value.h"

typedef struct hf_carrier hf_carrier;
struct hf_matching;
struct hf_ticket;

typedef struct hf_carrier_options {
    hf_store *store;
    hf_node *node;
    const hf_log *log;
    /* Another node asks; `ask` is borrowed. `tried`: it may have been carried out by a node that
       had the run before. It is answered with hf_carrier_answer under this number, from any thread,
       then or later. From the carrier's thread; must not block. */
    void (*asked)(void *ctx, int64_t number, bool tried, hf_value ask);
    /* There is another node. From the carrier's thread; may be called again. */
    void (*met)(void *ctx);
    struct hf_matching
        *matching; /* what workers ask for goes to other nodes, too; NULL: none ask */
    /* hf_lending_options.back */
    void (*back)(void *ctx, bool here, const char *task_id, const struct hf_ticket *ticket);
    void *ctx;
} hf_carrier_options;

HF_NODISCARD hf_status hf_carrier_open(const hf_carrier_options *options, hf_carrier **out_carrier,
                                       hf_err *err);
HF_NODISCARD hf_status hf_carrier_start(hf_carrier *carrier, hf_err *err);

/* Whoever waits for an answer gets HF_STOPPED; what waits to be sent still is. NULL is allowed. */
void hf_carrier_shut(hf_carrier *carrier);
/* Ends the thread; answers that are given from now on go nowhere. NULL is allowed. */
void hf_carrier_stop(hf_carrier *carrier);
void hf_carrier_close(hf_carrier *carrier); /* NULL is allowed */

/* Letters may be there. Any thread; never blocks. */
void hf_carrier_look(hf_carrier *carrier);
/* The same, and shards may have moved. */
void hf_carrier_moved(hf_carrier *carrier);
/* The lease was renewed: what hints may have missed is looked for. */
void hf_carrier_renewed(hf_carrier *carrier);

/* A question to another node. The asker's; it lives until `done` was called. */
typedef struct hf_carried {
    int64_t shard; /* whose owner is asked; HF_NONE: `node` is, whoever that is then */
    int64_t node;
    hf_slice ask;   /* JSON; borrowed until `done` */
    int64_t for_us; /* at most so long */
    hf_mem *mem;    /* for the answer; NULL: nobody wants it */
    /* Once, from the carrier's thread; must not block. */
    void (*done)(struct hf_carried *carried);
    void *ctx;
    /* out */
    hf_status status; /* HF_RETRY: nobody answered in time; HF_CONFLICT: it is for this node now */
    bool tried;       /* somebody may have carried it out */
    hf_value answer;
    /* the carrier's */
    hf_list place;
    int64_t number;
    int64_t until_us;
    int64_t next_us;
    int64_t to;
} hf_carried;

/* Any thread; never blocks. HF_STOPPED: `done` is not called. */
HF_NODISCARD hf_status hf_carrier_ask(hf_carrier *carrier, hf_carried *carried, hf_err *err);

/* What came of a question; `answer` is JSON. Empty: this node does not own the shard. */
void hf_carrier_answer(hf_carrier *carrier, int64_t number, hf_slice answer);

/* Whether nothing is under way between this node and others, as far as it is known here: letters
   may be there that no hint told of yet. Any thread. */
bool hf_carrier_idle(hf_carrier *carrier);

/* Other nodes that are there, as far as it is known; at most so many. */
enum { HF_CARRIER_NODES = 64 };
size_t hf_carrier_nodes(hf_carrier *carrier, int64_t out_nodes[HF_CARRIER_NODES]);

#endif
