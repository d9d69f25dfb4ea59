/* wake.h: hints between nodes that share a PostgreSQL store: "these runs have new facts". Sent
   after the commit, on a connection of its own, many runs in one notification; received by every
   other node. A hint may be lost or late, and nothing depends on it: the rows are the truth and
   sweeps find them. SQLite has one node and needs none of this. */
#ifndef HF_COMMIT_WAKE_H
#define HF_COMMIT_WAKE_H

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

typedef struct hf_wake hf_wake;

/* Called on the listening thread for each run another node told of; run 0: look at everything (a
   notification was too long, or the connection was lost for a while). Must not block. */
typedef void hf_wake_heard(void *ctx, int64_t run);

/* `node` tells our own notifications from others'. */
HF_NODISCARD hf_status hf_wake_open(hf_store *store, int64_t node, hf_wake_heard *heard, void *ctx,
                                    hf_wake **out_wake, hf_err *err);
void hf_wake_close(hf_wake *wake); /* NULL is allowed */

/* Any thread, after the commit; never blocks. What is said while a notification is on its way goes
 * with the next. */
void hf_wake_tell(hf_wake *wake, int64_t run);

#endif
