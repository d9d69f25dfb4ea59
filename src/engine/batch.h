/* batch.h: one command for many instances. A batch is a row with the list; the engine works through
   it in bounded steps, each item through the one command path with a request id of its own, so that
   an item that was done when the process died is answered and not done again. Any node may work on
   a batch, one at a time: it claims the batch for some seconds, and what it does counts only under
   the epoch of that claim. */
#ifndef HF_ENGINE_BATCH_H
#define HF_ENGINE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "holdfast/holdfast.h"

typedef struct hf_batcher hf_batcher;

/* Goes on with what is open: with a thread of its own when `threaded`, else hf_batch_step does. */
HF_NODISCARD hf_status hf_batch_open(hf_engine *engine, bool threaded, hf_batcher **out_batcher,
                                     hf_err *err);
/* Before the writer ends. NULL is allowed. */
void hf_batch_close(hf_batcher *batcher);

/* Does some items of a batch that is due. True when it did. */
bool hf_batch_step(hf_batcher *batcher);

/* When the next step is due, by the engine's clock; INT64_MAX: nothing is open. Not with a thread.
 */
int64_t hf_batch_next_us(const hf_batcher *batcher);

#endif
