/* fleet.h: the workers that are there, and whether one of them may take a task: it serves the queue
   and supports the marker that the run was started with. Workers of another compatibility namespace
   do not count. */
#ifndef HF_PROJECT_FLEET_H
#define HF_PROJECT_FLEET_H

#include "base/err.h"
#include "base/value.h"
#include "store/row.h"

typedef struct hf_fleet {
    const hf_worker_row *workers;
    size_t count;
} hf_fleet;

/* Those that have not expired, of one compatibility namespace, without those that registered in
   other namespaces than this one alone; 0: with them. Everything lives in the arena. */
HF_NODISCARD hf_status hf_fleet_read(hf_db *db, hf_mem *mem, hf_slice scope, int64_t namespace_key,
                                     int64_t now_us, hf_fleet *out_fleet, hf_err *err);

/* Whether a list of markers has this one; "*" has all, and a run without a marker (ptr NULL) is
   everybody's. */
bool hf_fleet_supports(hf_slice supported, hf_slice marker);

bool hf_fleet_serves(const hf_fleet *fleet, hf_slice queue, hf_slice marker);

/* Builds that were promoted in a namespace: what carries one is for workers of that build alone. */
typedef struct hf_fleet_pin {
    hf_slice queue;
    hf_slice build;
} hf_fleet_pin;

typedef struct hf_fleet_pins {
    const hf_fleet_pin *all;
    size_t count;
} hf_fleet_pins;

HF_NODISCARD hf_status hf_fleet_pins_read(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                          hf_fleet_pins *out_pins, hf_err *err);

/* Whether the marker is a build that was promoted at the queue. */
bool hf_fleet_pinned(const hf_fleet_pins *pins, hf_slice queue, hf_slice marker);

/* Whether a worker of this very build serves the queue. */
bool hf_fleet_has_build(const hf_fleet *fleet, hf_slice queue, hf_slice build);

/* Work that is looked for. */
typedef struct hf_fleet_work {
    hf_slice scope;
    hf_slice queue; /* empty: any */
    int64_t namespace_key;
    hf_slice type;
    bool activity; /* or a workflow */
    hf_slice self; /* the name of whoever looks, who does not count */
} hf_fleet_work;

/* Whether one of the workers that are there has the type: it registered with it in the namespace,
   or nowhere says what it has. */
HF_NODISCARD hf_status hf_fleet_knows(hf_db *db, hf_mem *mem, const hf_fleet_work *work,
                                      int64_t now_us, bool *out_knows, hf_err *err);

/* As the published run detail shows it (compatibility_fleet); NULL: no memory. */
hf_value hf_fleet_value(const hf_fleet *fleet, hf_slice marker, hf_mem *mem);

#endif
