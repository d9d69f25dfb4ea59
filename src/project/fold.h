/* fold.h: a run's history folded for those who look at it.

   A fold holds two things. The *log*: every event in order, without the bytes of its big payloads,
   packed; timeline, waits, timers, lineage, activities with their attempts, failures and spans of a
   run are made from it by the same code that makes them from history. And the *columns*: what lists
   show and filter by. Both go on from where they stood when more events come, and end up byte for
   byte as if they had been made anew: hf_runfold_add in any portions gives the same pack.

   Events must come in order, each once. Must never read anything but events. One thread at a time.
 */
#ifndef HF_PROJECT_FOLD_H
#define HF_PROJECT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/event.h"

enum {
    HF_RUNFOLD_VERSION = 2,       /* of the pack and of the columns: another one is made anew */
    HF_RUNFOLD_PAYLOAD_MAX = 256, /* bytes of a payload that stay; of a bigger one its size stays */
};

typedef struct hf_runfold hf_runfold;

HF_NODISCARD hf_status hf_runfold_new(hf_runfold **out_fold, hf_err *err);
void hf_runfold_free(hf_runfold *fold); /* NULL is allowed */

/* Begins again before the first event. */
void hf_runfold_clear(hf_runfold *fold);

/* Goes on from a pack instead of from the first event. HF_NEWER for another version, HF_CORRUPT for
   what no fold has packed; the fold is empty then. */
HF_NODISCARD hf_status hf_runfold_load(hf_runfold *fold, hf_slice pack, hf_err *err);

/* The next events; they are copied. HF_NOMEM. */
HF_NODISCARD hf_status hf_runfold_add(hf_runfold *fold, const hf_event *events, size_t count,
                                      hf_err *err);

/* Events as a fold has them, without big payloads, in the arena; all else is shared with `whole`.
   HF_NOMEM. */
HF_NODISCARD hf_status hf_runfold_thin(hf_mem *mem, const hf_event *whole, size_t count,
                                       hf_event **out_events, hf_err *err);

/* How many events it has. */
int64_t hf_runfold_seq(const hf_runfold *fold);

/* Appends the pack to `out`. The fold goes on as before. */
HF_NODISCARD hf_status hf_runfold_pack(hf_runfold *fold, hf_buf *out, hf_err *err);

/* The events of a pack, in the arena, at most the first `count` of them. Payloads that were dropped
   are erased ones with a size. Statuses as hf_runfold_load. */
HF_NODISCARD hf_status hf_runfold_events(hf_mem *mem, hf_slice pack, int64_t count,
                                         hf_event **out_events, size_t *out_count, hf_err *err);

/* ---- columns */

enum { HF_RUNFOLD_PRINT_SIZE = 33 };

/* The fingerprint of a failure: the same for those that differ in numbers only. HF_NOMEM. */
HF_NODISCARD hf_status hf_runfold_print(hf_sha256 *sha, hf_slice name, hf_slice type,
                                        hf_slice message, char out_print[HF_RUNFOLD_PRINT_SIZE],
                                        hf_err *err);

/* One failure that the events recorded. */
typedef struct hf_runfold_failure {
    struct hf_runfold_failure *next;
    int64_t seq;
    int64_t step; /* 0: none */
    int64_t at_us;
    hf_failure_source_kind source;
    hf_slice name; /* of what failed: activity, child or workflow type */
    hf_slice type;
    hf_slice message;
    char print[HF_RUNFOLD_PRINT_SIZE]; /* the same for failures that differ in numbers only */
} hf_runfold_failure;

typedef struct hf_runfold_handled {
    struct hf_runfold_handled *next;
    int64_t step;
} hf_runfold_handled;

/* What a run can have open, in the order in which it counts. */
typedef enum hf_runfold_open {
    HF_RUNFOLD_ACTIVITY,
    HF_RUNFOLD_UPDATE, /* accepted and not answered: no step */
    HF_RUNFOLD_CONDITION,
    HF_RUNFOLD_TIMER,
    HF_RUNFOLD_CHILD,
    HF_RUNFOLD_SIGNAL,  /* also a machine that parked */
    HF_RUNFOLD_TIMEOUT, /* of a wait that is open: no wait of its own */
    HF_RUNFOLD_OPEN_COUNT
} hf_runfold_open;

/* What the columns of a run say after the events so far. Zeroed: before the first event. Texts are
   borrowed from whoever filled them in, and from the events. */
typedef struct hf_runfold_columns {
    int64_t seq;
    int64_t exception_count;
    int64_t open_steps;
    int64_t fan_out;
    int64_t open[HF_RUNFOLD_OPEN_COUNT];
    hf_slice compatibility; /* ptr NULL: none, as for the texts below */
    hf_slice failure_print;
    hf_slice labels;     /* JSON object */
    hf_slice attributes; /* canonical JSON object */
    /* what the events of this call added; the caller empties it */
    bool labels_changed;
    bool attributes_changed;
    hf_runfold_failure *failures; /* newest first */
    hf_runfold_handled *handled;
} hf_runfold_columns;

/* The most steps that were ever open at once. */
int64_t hf_runfold_fan_out(const hf_event *events, size_t count);

/* hf_history_budget_pressure of a run with so many events, bytes and open steps. */
int64_t hf_runfold_pressure(int64_t events, int64_t bytes, int64_t fan_out);

/* The type of the activity or child at a step that an earlier call saw; empty: not known. */
typedef hf_slice hf_runfold_name(void *ctx, int64_t step);

/* Folds the next events in. Payloads of search attributes must be inline or erased. `type` is the
   workflow's. HF_CORRUPT when search attributes are not what their codec says, HF_NOMEM. */
HF_NODISCARD hf_status hf_runfold_columns_add(hf_runfold_columns *columns, hf_mem *mem,
                                              hf_slice type, const hf_event *events, size_t count,
                                              hf_runfold_name *name, void *name_ctx, hf_err *err);

#endif
