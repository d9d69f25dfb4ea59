/* throttle.h: how often one address may ask where nobody is known. A fixed table: addresses that
   share a place share what it allows. Any thread. */
#ifndef HF_SERVER_THROTTLE_H
#define HF_SERVER_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"

typedef struct hf_throttle hf_throttle;

/* At most so many in each span of time. */
HF_NODISCARD hf_status hf_throttle_open(int64_t most, int64_t span_us, hf_throttle **out_throttle,
                                        hf_err *err);
void hf_throttle_close(hf_throttle *throttle); /* NULL is allowed */

/* Counts one of the address; false: it has asked too often. `now_us` is a monotonic time. */
bool hf_throttle_allows(hf_throttle *throttle, hf_slice address, int64_t now_us);

#endif
