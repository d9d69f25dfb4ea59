/* unit.h: the unit of work: what one decision appends to one run's history, the runs it creates,
   and the rows it changes. All of it commits together or not at all.

   A unit is drafted by one thread, sealed (numbered, encoded, hashed on top of the run as the
   drafter knew it) and handed to the writer. From then on it is immutable, except that the writer
   may base it anew on a run that has moved on meanwhile, when the unit allows that. Afterwards its
   `done` function is called, once, on the writer's thread, after COMMIT returned or when it is
   known that nothing of the unit will ever be committed.

   Calls that build never report one by one: the first failure is kept and hf_unit_seal returns it.
 */
#ifndef HF_COMMIT_UNIT_H
#define HF_COMMIT_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "model/event.h"
#include "store/keys.h"
#include "store/row.h"

typedef struct hf_unit hf_unit;

/* Tools that a thread seals with; one per thread. */
typedef struct hf_stager {
    hf_sha256 *sha;
    hf_buf body; /* reused for each chunk */
} hf_stager;

HF_NODISCARD hf_status hf_stager_init(hf_stager *stager, hf_err *err);
void hf_stager_fini(hf_stager *stager);

/* What may have happened to the run since the unit was drafted without making it void. */
typedef enum hf_rebase {
    HF_REBASE_NEVER,       /* any movement of the run refuses the unit (HF_CONFLICT) */
    HF_REBASE_COMMANDS,    /* over facts of commands only: what code decided still stands; an event
                              of a step is another owner's, and may be of a step in the unit */
    HF_REBASE_WHILE_OPEN,  /* over anything, as long as the run is open: the unit is itself a fact
                              from outside */
    HF_REBASE_BUT_SIGNALS, /* the same, but not over a signal that came */
    HF_REBASE_ALWAYS       /* over anything: the unit records a command and nothing else */
} hf_rebase;

/* How a unit comes by the instance of a run it creates. */
typedef enum hf_unit_instance {
    HF_UNIT_INSTANCE_NEW,  /* makes it; the unit is refused with HF_EXISTS when the id is taken */
    HF_UNIT_INSTANCE_NEXT, /* the instance exists, its last run is closed; HF_CONFLICT when it moved
                              on */
    HF_UNIT_INSTANCE_CHILD,   /* makes it on behalf of the run that the unit appends to */
    HF_UNIT_INSTANCE_CONTINUE /* the unit closes the current run and this one follows it */
} hf_unit_instance;

/* Called once. The callee owns the unit and frees it, now or later. Must not block. */
typedef void hf_unit_done(hf_unit *unit, void *ctx);

/* NULL when memory ran out. */
HF_NODISCARD hf_unit *hf_unit_new(hf_unit_done *done, void *ctx);
void hf_unit_free(hf_unit *unit); /* NULL is allowed */

/* Sets who is told; for units whose listener lives in their own arena. Before it is submitted. */
void hf_unit_on_done(hf_unit *unit, hf_unit_done *done, void *ctx);

/* Forbids basing the unit anew, whatever hf_unit_append said. */
void hf_unit_fix(hf_unit *unit);

/* The unit, a fact from outside so far, holds a turn of its run as well: it is written only while
   this node owns the shard under that epoch, and never based anew. */
void hf_unit_claim(hf_unit *unit, int64_t epoch);

/* The unit's arena: what is put into rows and events may live here. */
hf_mem *hf_unit_mem(hf_unit *unit);

/* The unit appends to this run; must come first. It may go without events when it has rows:
   commands that it records (hf_row_command_record), or rows that may be written twice, such as what
   a run sends to others, which carries a number. When the answer to the COMMIT of such rows is
   lost, the unit ends with HF_CONFLICT and its drafter sends them again. `epoch` is the shard's,
   HF_NONE for a fact from outside. */
void hf_unit_append(hf_unit *unit, const hf_run_base *base, int64_t epoch, hf_rebase rebase);

/* The unit fires a schedule: it moves the schedule's revision, and the instance that it makes
   (HF_UNIT_INSTANCE_NEW) exists only when that held; else it is refused with HF_CONFLICT, as it is
   when the id is taken. Before hf_unit_create. */
void hf_unit_fires(hf_unit *unit, int64_t schedule, int64_t expected, int64_t revision);

/* The instance that the unit makes (HF_UNIT_INSTANCE_NEW) exists only while this node owns its
   shard under that epoch, because the unit holds a turn of its run as well; else it is refused with
   HF_EXISTS. Before hf_unit_create. */
void hf_unit_owned(hf_unit *unit, int64_t epoch);

/* The unit creates a run. `start` gives keys, status and inherited counters; its last_seq is 0.
   Returns the number of the part that its events go to. The part of hf_unit_append, or the first
   creation, is 0. */
size_t hf_unit_create(hf_unit *unit, hf_unit_instance how, const hf_instance_row *instance,
                      const hf_run_base *start, const hf_run_row *run);

/* How many runs the unit appends to or creates. */
size_t hf_unit_runs(const hf_unit *unit);

/* Where events of a part are put together (hf_event_begin, hf_event_put_...). */
hf_event_builder *hf_unit_events(hf_unit *unit, size_t part);

/* A value for an event of the part: inline when it is small, else a reference and a payload row. */
hf_payload_value hf_unit_payload(hf_unit *unit, hf_stager *stager, hf_keys *keys, size_t part,
                                 hf_payload_codec codec, hf_slice bytes);

/* The bytes of a value that hf_unit_payload put into a row of its own, as the drafter gave them:
   while the unit is drafted, code may ask for what is not in the store yet. */
bool hf_unit_detached(const hf_unit *unit, const uint8_t digest[HF_SHA256_BYTES],
                      hf_slice *out_bytes);

/* Adds a row; NULL (memory ran out in its builder) is kept as the unit's failure. A command row
   that waits for a sequence number gets it from the run of `part`; everything else about a row is
   the same for all parts. */
void hf_unit_row(hf_unit *unit, size_t part, hf_row *row);

/* Takes back all rows of an operation that counts nothing: what the unit does besides covers them.
 */
void hf_unit_rows_drop(hf_unit *unit, hf_op op);

/* Whether it holds neither events nor rows, so that nothing is lost when it is thrown away. */
bool hf_unit_empty(const hf_unit *unit);

/* How the part's run stands after the unit. */
void hf_unit_status(hf_unit *unit, size_t part, hf_run_status status);
void hf_unit_close(hf_unit *unit, size_t part, hf_run_status status, hf_closed_reason reason,
                   int64_t closed_us);
void hf_unit_cursor(hf_unit *unit, size_t part, int64_t message_cursor);

/* Numbers, encodes and hashes. HF_INVALID and HF_TOOBIG when an event breaks a rule of the model,
   HF_MISUSE for a unit without events and rows, HF_NOMEM. */
HF_NODISCARD hf_status hf_unit_seal(hf_unit *unit, hf_stager *stager, hf_err *err);

/* ---- afterwards, in `done` */

/* HF_OK: committed. HF_CONFLICT, HF_EXISTS: the guard did not hold. HF_CONSTRAINT, HF_INVALID,
   HF_TOOBIG: the unit is at fault. HF_FULL, HF_READONLY, HF_BUSY, HF_NOMEM: it may be tried
   again. HF_STOPPED: the writer is gone. */
hf_status hf_unit_outcome(const hf_unit *unit, const char **out_text);

/* The part's run as the unit left it; for HF_OK only. */
const hf_run_base *hf_unit_after(const hf_unit *unit, size_t part);

/* For a unit of bare rows: whether the nth row that was added took effect; for HF_OK only. */
bool hf_unit_row_applied(const hf_unit *unit, size_t nth);

#endif
