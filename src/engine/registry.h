/* registry.h: what this program can run: definitions by type and alias, activities by name, each
   with what history records of it. Built once when the engine opens and constant afterwards, but
   for limits that programs behind it declare; any thread may read it. */
#ifndef HF_ENGINE_REGISTRY_H
#define HF_ENGINE_REGISTRY_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "holdfast/holdfast.h"
#include "intake/intake.h"
#include "model/definition.h"
#include "model/retry.h"
#include "store/db.h"

typedef struct hf_registry hf_registry;

typedef struct hf_registry_workflow {
    const hf_workflow_def *definition; /* of a machine: what it has in common with a workflow */
    const hf_machine_def *machine;     /* NULL: it is a workflow */
    hf_definition_snapshot snapshot;
    int64_t key; /* of its row in `definition`, set by hf_registry_store */
} hf_registry_workflow;

typedef struct hf_registry_activity {
    const hf_activity_def *definition;
    hf_retry_policy policy; /* what it brings for calls that say nothing else */
} hf_registry_activity;

/* Checks everything that the app brings (hf_app_check); the app outlives the registry. */
HF_NODISCARD hf_status hf_registry_new(const hf_app *app, hf_registry **out_registry, hf_err *err);
/* One more definition, unless there is one of its type. */
HF_NODISCARD hf_status hf_registry_add(hf_registry *registry, const hf_workflow_def *def,
                                       hf_err *err);
void hf_registry_free(hf_registry *registry); /* NULL is allowed */

/* Makes the rows of new snapshots, on the writer's connection, and learns the keys of all. */
HF_NODISCARD hf_status hf_registry_store(hf_registry *registry, hf_db *db, hf_err *err);

/* By type or alias, by name; NULL when it is not known here. */
const hf_registry_workflow *hf_registry_find_workflow(const hf_registry *registry, hf_slice type);
const hf_registry_activity *hf_registry_find_activity(const hf_registry *registry, hf_slice name);

/* What the definition that has this row in `definition` recorded; NULL: it is not known here. The
   first argument is an hf_registry (hf_intake.known). */
const hf_definition_snapshot *hf_registry_snapshot(const void *registry, int64_t key);

/* Whether one of them has this row in `definition`. */
bool hf_registry_has(const hf_registry *registry, int64_t key);

/* The limit that a concurrency key (its name, or what stands before the colon) or a rate limit
   leads to in a namespace: this program's, else what a program behind it declared. False: none. */
bool hf_registry_find_limit(const hf_registry *registry, int64_t namespace_key, hf_slice key,
                            bool rate, hf_limit_def *out_limit);

/* The names of all of them, in `mem`, in no order; they live as long as the registry. */
HF_NODISCARD hf_status hf_registry_limits(const hf_registry *registry, int64_t namespace_key,
                                          hf_mem *mem, hf_slice **out_names, size_t *out_count,
                                          hf_err *err);

/* A program behind this one declared a limit for its namespace (limit_table.h). One of that name
   that this program brings stays as it is. HF_INVALID, HF_TOOBIG. */
HF_NODISCARD hf_status hf_registry_declare_limit(const hf_registry *registry, int64_t namespace_key,
                                                 const hf_limit_def *def, int64_t at_us,
                                                 hf_err *err);

/* HF_INVALID: a rate limit that is not declared or cannot hold the weight, or a concurrency key
   with an undeclared name before its colon. Empty: none. */
HF_NODISCARD hf_status hf_registry_check_limits(const hf_registry *registry, int64_t namespace_key,
                                                hf_slice concurrency_key, hf_slice rate_limit,
                                                int64_t weight, hf_err *err);

/* Adds what the program's definition of the type says to a start: contract, fingerprint, timeouts.
   A type that is not known here stays as it is. */
HF_NODISCARD hf_status hf_registry_define(const hf_registry *registry, hf_mem *mem,
                                          hf_intake_start *start, hf_err *err);

#endif
