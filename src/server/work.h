/* work.h: a few threads that run what may block, behind a bounded queue. */
#ifndef HF_SERVER_WORK_H
#define HF_SERVER_WORK_H

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

struct hf_api;
typedef struct hf_work hf_work;

/* `reserved` of the threads run what workers say, and nothing else. */
HF_NODISCARD hf_status hf_work_open(int threads, int reserved, size_t waiting_max,
                                    hf_work **out_work, hf_err *err);
/* Finishes what waits, then ends the threads. NULL is allowed. */
void hf_work_close(hf_work *work);

/* HF_BUSY when the queue is full: the request stays the caller's. */
HF_NODISCARD hf_status hf_work_offer(hf_work *work, struct hf_api *api);
size_t hf_work_waiting(hf_work *work);

#endif
