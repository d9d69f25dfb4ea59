/* wake.h: hints between nodes that share a PostgreSQL store. Sent after the commit, on a connection
   of its own, many in one notification; received by every other node. A hint may be lost or late,
   and nothing depends on it: the rows are the truth and sweeps find them. SQLite has one node and
   needs none of this. */
#ifndef HF_COMMIT_WAKE_H
#define HF_COMMIT_WAKE_H

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

typedef struct hf_wake hf_wake;

typedef enum hf_hint_kind {
    HF_HINT_LOOK,    /* look at everything: a node came or went, or hints were lost */
    HF_HINT_FACTS,   /* the run has facts that its owner may not know of */
    HF_HINT_CHANGED, /* the sender committed a unit of the run; run 0: of some run */
    HF_HINT_AWAITED, /* a caller at the sender waits for the run to change; run 0: for any run */
    HF_HINT_MAIL     /* `run` is a node: there is a letter for it (mail.h) */
} hf_hint_kind;

typedef struct hf_hint {
    hf_hint_kind kind;
    int64_t run;
} hf_hint;

/* Called on the listening thread for each hint of another node; HF_HINT_LOOK also when the
   connection was lost for a while. Must not block. */
typedef void hf_wake_heard(void *ctx, hf_hint hint);

/* `node` tells our own notifications from others'. */
HF_NODISCARD hf_status hf_wake_open(hf_store *store, int64_t node, hf_wake_heard *heard, void *ctx,
                                    hf_wake **out_wake, hf_err *err);
/* The same over connections that are there, which it closes also when it fails. */
HF_NODISCARD hf_status hf_wake_open_on(hf_db *out, hf_db *in, int64_t node, hf_wake_heard *heard,
                                       void *ctx, hf_wake **out_wake, hf_err *err);
void hf_wake_close(hf_wake *wake); /* NULL is allowed */

/* Any thread, after the commit; never blocks. What is said while a notification is on its way goes
   with the next; what could not be sent becomes HF_HINT_LOOK once the database is back. */
void hf_wake_tell(hf_wake *wake, hf_hint hint);

#endif
