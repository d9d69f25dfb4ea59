/* busy.h: stores with many events, made quickly. Runs go through activities one after the other,
   three events a unit, as the engine does when it runs ahead; the units are staged without waiting,
   so that the writer commits them in large batches. The store keeps every invariant. */
#ifndef HF_TEST_LIB_BUSY_H
#define HF_TEST_LIB_BUSY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "lib/world.h"

/* `runs` new runs with `steps` activities each, the last one still running. The world's writer must
   have its thread. *out_events: how many events that made. */
HF_NODISCARD hf_status hf_busy_make(hf_world *world, const char *name, size_t runs, size_t steps,
                                    int64_t *out_events, hf_err *err);

#endif
