/* fleet.h: the workers that have registered: what they know, which queue they serve, when they were
   last heard of. In memory; the store keeps what they said, for a server that begins later and for
   others beside it (hf_fleet_learn). Any thread. */
#ifndef HF_SERVER_FLEET_H
#define HF_SERVER_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

typedef struct hf_fleet hf_fleet;

HF_NODISCARD hf_status hf_fleet_open(hf_fleet **out_fleet, hf_err *err);
void hf_fleet_close(hf_fleet *fleet); /* NULL is allowed */

/* Workers are called NAMESPACE/ID here: an id is known in its namespace alone. */

/* Whether the worker may register with this. HF_CONFLICT: it is alive and registered a type of the
   same name with another definition. */
HF_NODISCARD hf_status hf_fleet_fits(hf_fleet *fleet, hf_slice worker, hf_value said,
                                     int64_t now_us, hf_err *err);

/* Takes what the worker said of itself (the body of its registration, copied), when it fits. From
   then on it is seen: what its types can be told and asked must be declared before. */
HF_NODISCARD hf_status hf_fleet_register(hf_fleet *fleet, hf_slice worker, hf_value said,
                                         int64_t now_us, hf_err *err);

/* Takes over what was kept of workers that this server does not know: the answer of
   hf_workers_kept. */
HF_NODISCARD hf_status hf_fleet_learn(hf_fleet *fleet, hf_value kept, hf_err *err);

/* Whether what it said should be kept again, so that it is not forgotten; once a day. */
bool hf_fleet_due(hf_fleet *fleet, hf_slice worker, int64_t now_us);

/* It is alive. False: it is not registered. */
bool hf_fleet_beat(hf_fleet *fleet, hf_slice worker, int64_t now_us);
/* It is held for lost, until it shows itself again. */
void hf_fleet_lost(hf_fleet *fleet, hf_slice worker);
bool hf_fleet_remove(hf_fleet *fleet, hf_slice worker);

/* How often somebody came, came back, was lost or left; grows. */
uint64_t hf_fleet_changes(hf_fleet *fleet);

bool hf_fleet_has(hf_fleet *fleet, hf_slice worker);

/* What the worker said of itself, in the arena; NULL: it is not registered. */
hf_value hf_fleet_get(hf_fleet *fleet, hf_slice worker, hf_mem *mem);

/* What was said of builds of a namespace, as hf_builds tells it. */
HF_NODISCARD hf_status hf_fleet_builds(hf_fleet *fleet, hf_slice space, hf_value drained,
                                       hf_err *err);

/* What is drained in place of a build when a queue is paused. */
#define HF_FLEET_ALL_BUILDS "*"

/* Whether the build (NULL: none said) gets no tasks of the queue, by itself or because the queue is
   paused; *out_us (may be NULL) since when. */
bool hf_fleet_drained(hf_fleet *fleet, hf_slice space, hf_slice queue, const char *build,
                      int64_t *out_us);

/* Everybody of a namespace, in no order: [{worker_id, ..., last_heartbeat_at, status}]. */
hf_value hf_fleet_list(hf_fleet *fleet, hf_slice space, hf_mem *mem, int64_t now_us);

#endif
