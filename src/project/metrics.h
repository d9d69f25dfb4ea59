/* metrics.h: the numbers of a store: operator metrics, health checks, dashboard statistics, groups
   of failures, and the same as Prometheus text. Read from rows when asked; nothing is counted on
   the hot path. Reads only. */
#ifndef HF_PROJECT_METRICS_H
#define HF_PROJECT_METRICS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "model/limit.h"
#include "project/fleet.h"
#include "project/list.h"
#include "store/db.h"

/* What the asker knows beside the store: who it is, how it is set, and what its folder did since it
   began. */
typedef struct hf_metrics_world {
    const hf_list_query *query; /* namespace, time, who serves tasks */
    const hf_fleet *fleet;
    hf_slice required; /* the marker that runs get which start here; ptr NULL: none */
    const hf_limits *limits;
    int64_t update_wait_ms;
    uint64_t folded_runs, folded_events;
    uint64_t rebuilt_missing, rebuilt_stale;
    uint64_t fold_failures, fold_aside, fold_waiting;
    int64_t stale_steps; /* of machines, whose end came too late to count */
} hf_metrics_world;

/* The published operator metrics, group by group. */
HF_NODISCARD hf_status hf_metrics_read(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                                       hf_value *out_metrics, hf_err *err);

/* {"status": ok|warning|error, "healthy", "checks": [...], "categories", "operator_metrics"} of
   metrics that were read. NULL: no memory. */
hf_value hf_metrics_health(hf_mem *mem, hf_value metrics);

/* What the dashboard shows first. */
HF_NODISCARD hf_status hf_metrics_stats(hf_db *db, hf_mem *mem, const hf_metrics_world *world,
                                        hf_value metrics, hf_value *out_stats, hf_err *err);

/* Groups of failures by fingerprint since a moment, the newest first. */
HF_NODISCARD hf_status hf_metrics_failures(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                           int64_t since_us, int64_t limit, hf_value *out_groups,
                                           hf_err *err);

/* One of them, with its newest failures and the builds of runs that had it after a moment:
   {group, samples, builds}. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_metrics_failure(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                          hf_slice print, int64_t after_us, hf_value *out_group,
                                          hf_err *err);

/* Every number as a line of Prometheus text: holdfast_GROUP_NAME, no labels. */
void hf_metrics_print(hf_buf *out, hf_value metrics);

#endif
