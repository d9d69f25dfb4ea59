/* recall.h: what was answered to requests that a client may send again because the answer was lost:
   polls with a poll_request_id, and reports on tasks. The same request gets the same answer. In
   memory and bounded: the oldest are forgotten first, and a restart forgets all. Any thread. */
#ifndef HF_SERVER_RECALL_H
#define HF_SERVER_RECALL_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

typedef struct hf_recall hf_recall;

enum { HF_RECALL_MAX = 4096, HF_RECALL_BYTES_MAX = 32 << 20 };

HF_NODISCARD hf_status hf_recall_open(hf_recall **out_recall, hf_err *err);
void hf_recall_close(hf_recall *recall); /* NULL is allowed */

/* Remembers a copy until then. That memory runs out is no failure: it is not remembered. */
void hf_recall_put(hf_recall *recall, hf_slice key, hf_value value, int64_t until_us);

/* A copy in the arena; NULL: nothing is remembered. */
hf_value hf_recall_get(hf_recall *recall, hf_slice key, hf_mem *mem, int64_t now_us);

#endif
