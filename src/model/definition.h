/* definition.h: what a definition declares, as it is recorded. A run carries its contracts with it
   from the moment it starts: they are snapped into WorkflowStarted, and whoever takes a signal, an
   update or a query later reads them there and nowhere else, since the code may have changed or be
   gone. Nothing here calls an author's function or keeps a pointer to a definition. */
#ifndef HF_MODEL_DEFINITION_H
#define HF_MODEL_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"
#include "holdfast/holdfast.h"
#include "model/contract.h"

enum {
    HF_DEFINITION_VERSION = 1,           /* of what a fingerprint is taken over */
    HF_DEFINITION_FINGERPRINT_SIZE = 72, /* "sha256:", 64 digits and a NUL */
    HF_DEFINITION_TARGETS_MAX = 256,     /* signals, updates and queries, each */
    HF_DEFINITION_TEXT_MAX = 256 * 1024, /* bytes of one text of a snapshot: each run has one */
    HF_DEFINITION_REVISION_MAX = 255,    /* bytes */
    HF_DEFINITION_STACK_MIN = 16 * 1024, /* below, the engine's own frames do not fit */
    HF_DEFINITION_STACK_MAX = 64 << 20,  /* beyond, a few runs would take all memory */
    HF_DEFINITION_STATE_MAX = 64 << 20,  /* the same for state_size */
};

/* What can be aimed at a run. */
typedef enum hf_target_kind {
    HF_TARGET_SIGNAL,
    HF_TARGET_UPDATE,
    HF_TARGET_QUERY,
} hf_target_kind;

typedef struct hf_target {
    const char *name;
    const char *params; /* contract text; NULL: undeclared */
    bool has_function;  /* an update can be applied, a query read; always true of a signal */
} hf_target;

/* One kind of target as WorkflowStarted has it: declared_signals and declared_signal_contracts, and
   so on. Canonical JSON (RFC 8785), targets in declared order. */
typedef struct hf_definition_targets {
    hf_slice names;     /* ["approved-by", ...], every one */
    hf_slice contracts; /* [{"name": ..., "parameters": entries}, ...], those with a contract */
} hf_definition_targets;

typedef struct hf_definition_snapshot {
    char fingerprint[HF_DEFINITION_FINGERPRINT_SIZE];
    bool machine;    /* it is a step machine's */
    hf_slice params; /* the run's own contract in its JSON form; "null" when undeclared */
    hf_definition_targets signals;
    hf_definition_targets updates;
    hf_definition_targets queries;
    hf_slice validators; /* [names] of updates that its code validates; ptr NULL or null: none */
} hf_definition_snapshot;

/* Target `i` of a kind in declared order; false behind the last. */
bool hf_definition_target(const hf_workflow_def *def, hf_target_kind kind, size_t i,
                          hf_target *out_target);

/* What holds of a usable definition: a valid type, aliases that are types and differ, contracts
   that can be read, valid target names that differ within their kind, functions where they are
   needed, sizes and timeouts in range. HF_INVALID says which part and why; HF_NOMEM. */
HF_NODISCARD hf_status hf_definition_check(const hf_workflow_def *def, hf_err *err);
HF_NODISCARD hf_status hf_definition_check_machine(const hf_machine_def *def, hf_err *err);
HF_NODISCARD hf_status hf_definition_check_activity(const hf_activity_def *def, hf_err *err);
HF_NODISCARD hf_status hf_limit_check(const hf_limit_def *def, hf_err *err);

/* The same of all that an application brings, and that no type or alias is claimed twice, by
   workflows or machines, and no activity has the name of another. */
HF_NODISCARD hf_status hf_app_check(const hf_app *app, hf_err *err);

/* Checks a definition and snaps it into the arena; HF_TOOBIG when a text would be too long to be
   recorded with every run.

   The fingerprint is "sha256:" and 64 lower case digits over the canonical JSON of

       {"parameters": entries, "queries": targets, "revision": text, "signals": targets,
        "type": text, "updates": targets, "version": 1}

   where entries is the JSON form of a contract (null when undeclared), targets is the list of all
   {"name": text, "parameters": entries} ordered by the bytes of the name, and revision is "" when
   there is none. It does not depend on the order of a definition's tables, nor on aliases,
   functions, sizes, timeouts or the doc text. Recorded fingerprints are compared with new ones, so
   a change of this layout needs a new version, and makes old runs count as started by other code.
 */
HF_NODISCARD hf_status hf_definition_snap(const hf_workflow_def *def, hf_mem *mem,
                                          hf_definition_snapshot *out_snapshot, hf_err *err);

/* The same of a step machine, which has signals only and the revision "step machine", so that it
   is told from a workflow of the same contracts. */
HF_NODISCARD hf_status hf_definition_snap_machine(const hf_machine_def *def, hf_mem *mem,
                                                  hf_definition_snapshot *out_snapshot,
                                                  hf_err *err);

/* What a snapshot has of one kind. */
const hf_definition_targets *hf_definition_targets_of(const hf_definition_snapshot *snapshot,
                                                      hf_target_kind kind);

/* The contract of the target `name` in a recorded snapshot. *out_contract is NULL when the name was
   not declared, and an undeclared contract when it was declared without parameters; empty texts
   declare nothing. HF_INVALID when a text is not what was written above, HF_NOMEM. The contract
   lives in the arena. */
HF_NODISCARD hf_status hf_definition_find(hf_definition_targets targets, hf_slice name, hf_mem *mem,
                                          const hf_contract **out_contract, hf_err *err);

#endif
