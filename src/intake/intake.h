/* intake.h: a command from outside becomes an accepted fact in a unit, or is refused. Everything
   that needs to be known of the target is read here; what was read is guarded by the unit, so that
   a target that moved on in between makes the command try again or be refused, never be applied to
   something else. It does not commit. */
#ifndef HF_INTAKE_INTAKE_H
#define HF_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "commit/unit.h"
#include "holdfast/value.h"
#include "model/definition.h"
#include "store/row.h"

/* Tools of the calling thread. */
typedef struct hf_intake {
    hf_db *db; /* for reading */
    hf_stager *stager;
    hf_keys *keys;
    int64_t namespace_key;
    int64_t now_us;
} hf_intake;

typedef struct hf_intake_start {
    hf_slice type;
    hf_slice id; /* empty: one is made */
    hf_value input;
    hf_slice business_key;
    hf_slice labels; /* JSON objects; ptr NULL: none, both */
    hf_slice memo;
    hf_slice compatibility; /* of the program that starts it; ptr NULL: it says none */
    hf_slice queue;
    int64_t execution_timeout_us; /* 0: none */
    int64_t run_timeout_us;
    int64_t definition; /* HF_NONE: the type is not known here */
    hf_slice fingerprint;
    const hf_contract *params; /* NULL: unknown, anything goes */
} hf_intake_start;

/* A run that a command is aimed at. */
typedef struct hf_intake_target {
    hf_run_base base;
    int64_t definition;
    hf_slice queue; /* in the arena */
} hf_intake_target;

/* The unit of a start; HF_EXISTS shows when it is committed. *out_run is the key of the new run,
 *out_id its instance id (in the unit's arena). HF_INVALID for a bad id or arguments. */
HF_NODISCARD hf_status hf_intake_start_draft(const hf_intake *in, const hf_intake_start *start,
                                             hf_unit *unit, int64_t *out_run, hf_err *err);

/* The newest run of an instance. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_intake_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                                      hf_intake_target *out_target, hf_err *err);

/* A signal or an update, by its declared contract. HF_REJECTED with a sentence: unknown name, bad
   arguments, closed run. *out_command is the key of the command row. */
HF_NODISCARD hf_status hf_intake_message_draft(const hf_intake *in, const hf_intake_target *target,
                                               hf_target_kind kind, hf_slice name, hf_value args,
                                               hf_unit *unit, int64_t *out_command, hf_err *err);

#endif
