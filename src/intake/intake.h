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
#include "commit/shard.h"
#include "commit/unit.h"
#include "holdfast/value.h"
#include "model/command_note.h"
#include "model/definition.h"
#include "model/limit.h"
#include "store/row.h"

/* Tools of the calling thread. */
typedef struct hf_intake {
    hf_db *db; /* for reading */
    hf_stager *stager;
    hf_keys *keys;
    int64_t namespace_key;
    int64_t payload_max; /* bytes of one value; 0: no limit */
    int64_t now_us;
    int64_t wall_ahead_us; /* so much later is it by wall time, which schedules follow */
    hf_slice context; /* who asks, a JSON object; ptr NULL: nobody, the engine does it by itself */
    /* What the program itself knows of a definition, so that the store need not be asked; NULL:
       nothing, both. */
    const hf_definition_snapshot *(*known)(const void *ctx, int64_t definition);
    const void *known_ctx;
} hf_intake;

typedef struct hf_intake_start {
    hf_slice type;
    hf_slice id; /* ptr NULL: one is made */
    hf_value input;
    hf_slice business_key;
    hf_slice labels; /* JSON objects; ptr NULL: none, all three */
    hf_slice memo;
    hf_slice attributes;
    hf_slice compatibility; /* of the program that starts it; ptr NULL: it says none */
    hf_slice queue;
    int64_t execution_timeout_us; /* 0: none */
    int64_t run_timeout_us;
    int64_t definition; /* HF_NONE: the type is not known here */
    hf_slice fingerprint;
    const hf_contract *params;       /* NULL: unknown, anything goes */
    hf_duplicate_policy duplicate;   /* 0: reject */
    const hf_instance_row *reserved; /* the instance exists and has no run; NULL: it is new */
    hf_slice correlation_key;        /* ptr NULL: none */
    int64_t correlation_scope;       /* after which ends it stays taken: 1 completed, 2 others */
    int64_t available_us;            /* it does not begin before; 0: at once */
    int64_t priority;                /* 0: not said */
    hf_slice concurrency_key;        /* of machines; ptr NULL: none */
    hf_slice rate_limit;             /* the same */
    int64_t weight;
    bool turns;        /* the unit will hold the run's first turn as well, if it may */
    hf_shards *shards; /* those of this node; NULL: all are */
} hf_intake_start;

/* What a command is aimed at: an instance and one of its runs. Texts live in the arena. */
typedef struct hf_intake_target {
    hf_instance_row instance;
    hf_run_base base; /* run HF_NONE: it was never started, and the rest is empty */
    int64_t created_us;
    int64_t definition; /* HF_NONE: not known here */
    hf_slice queue;
    int64_t current_us; /* when the newest run was created; of a chosen run that is another */
    bool turns;         /* of a start: the draft lacks the first turn, and the task for it */
    int64_t epoch;      /* then: of its shard; HF_NONE: there are none */
    hf_run_row run;     /* then: what was made, its queue in the start's words */
} hf_intake_target;

/* A command that another one stands behind. */
typedef struct hf_intake_ahead {
    int64_t command; /* key; HF_NONE: there is none */
    int64_t recorded_us;
    int64_t command_seq;
} hf_intake_ahead;

/* A signal or an update. */
typedef struct hf_intake_message {
    bool update;
    hf_slice name;
    hf_value args;
    const hf_intake_ahead *behind; /* the signal that the update waits for; NULL: none */
} hf_intake_message;

/* Why a command was refused; outcome 0: it was not. */
typedef struct hf_intake_refusal {
    hf_cmd_outcome outcome;
    hf_rejection_reason reason;
    hf_value validation_errors; /* {name: [messages]}; NULL: none */
    hf_value parameters;        /* what the arguments should be, as contracts are published */
    const char *why;            /* a sentence, in the unit's arena */
    hf_limit limit;             /* 0: none; else what was measured and what is allowed */
    int64_t limit_value;
    int64_t limit_configured;
} hf_intake_refusal;

/* The unit of a start; HF_EXISTS shows when it is committed. `row` has what is known of the command
   already. *out_target is what was made, its texts in the unit's arena. *out_refusal: the arguments
   do not fit; HF_INVALID: anything else does not. The store is read only for search attributes that
   are longer than a keyword may be. */
HF_NODISCARD hf_status hf_intake_start_draft(const hf_intake *in, const hf_intake_start *start,
                                             hf_command_row row, hf_unit *unit,
                                             hf_intake_target *out_target, int64_t *out_command,
                                             hf_intake_refusal *out_refusal, hf_err *err);

/* Whether a start may carry its type, queue, business key, labels, memo and search attributes; the
   store is read as above. HF_INVALID. For starts that come later: what they find may differ. */
HF_NODISCARD hf_status hf_intake_start_check(const hf_intake *in, const hf_intake_start *start,
                                             hf_mem *mem, hf_err *err);

/* A unit of one bare row: an instance without a run, unless the id is taken (its flag says so). */
HF_NODISCARD hf_status hf_intake_reserve_draft(const hf_intake *in, hf_slice type, hf_slice id,
                                               hf_unit *unit, hf_instance_row *out_instance,
                                               hf_err *err);

/* The id of the instance that a correlation key leads to; *out_id.ptr NULL: to none. */
HF_NODISCARD hf_status hf_intake_correlated(const hf_intake *in, hf_mem *mem, hf_slice key,
                                            hf_slice *out_id, hf_err *err);

/* Whether a worker validates the update before it is taken. */
HF_NODISCARD hf_status hf_intake_validated(const hf_intake *in, hf_mem *mem, int64_t definition,
                                           hf_slice update, bool *out_validated, hf_err *err);

/* Whether the definition is a step machine's. */
HF_NODISCARD hf_status hf_intake_machine(const hf_intake *in, hf_mem *mem, int64_t definition,
                                         bool *out_machine, hf_err *err);

/* An instance and its newest run, or the one of that id (ptr NULL: none). What is no id may be a
   correlation key. HF_NOTFOUND: there is no such instance, or it has no such run. */
HF_NODISCARD hf_status hf_intake_aim(const hf_intake *in, hf_mem *mem, hf_slice id, hf_slice run_id,
                                     hf_intake_target *out_target, hf_err *err);

/* The same for the newest run, which there must be. */
HF_NODISCARD hf_status hf_intake_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                                      hf_intake_target *out_target, hf_err *err);

/* The arguments of a message as a value and as they are recorded, in the arena, by the contract of
   the definition that the run was started with (HF_NONE: unknown). *out_refusal: unknown name, bad
   arguments, no contract. */
HF_NODISCARD hf_status hf_intake_message_fit(const hf_intake *in, int64_t definition,
                                             const hf_intake_message *message, hf_mem *mem,
                                             hf_value *out_args, hf_slice *out_json,
                                             hf_intake_refusal *out_refusal, hf_err *err);

/* The same for anything that can be aimed at a run; arguments of a query are recorded nowhere. A
   query that is not declared is refused without an outcome of its own: *out_refusal has a sentence
   only. */
HF_NODISCARD hf_status hf_intake_target_fit(const hf_intake *in, int64_t definition,
                                            hf_target_kind kind, hf_slice name, hf_value args,
                                            hf_mem *mem, hf_value *out_args,
                                            hf_intake_refusal *out_refusal, hf_err *err);

/* The message becomes a fact of the run that is the unit's first part. */
HF_NODISCARD hf_status hf_intake_message_put(const hf_intake *in, const hf_intake_message *message,
                                             hf_slice args, hf_command_row row, hf_unit *unit,
                                             int64_t *out_command, hf_err *err);

/* Refuses what would break a limit: the value that was measured against it. */
HF_NODISCARD hf_status hf_intake_limit_refuse(hf_mem *mem, hf_limit limit, int64_t configured,
                                              int64_t value, hf_intake_refusal *refusal,
                                              hf_err *err);

/* The newest signal of the run that is not applied. */
HF_NODISCARD hf_status hf_intake_ahead_read(const hf_intake *in, int64_t run,
                                            hf_intake_ahead *out_ahead, hf_err *err);

/* The run's code is given a turn. */
HF_NODISCARD hf_status hf_intake_wake(const hf_intake *in, const hf_intake_target *target,
                                      hf_unit *unit, hf_err *err);

/* A command that was refused, or that changes nothing: its row, and the event that says so where an
   open run refuses a start or an update. `row` is complete but for what the kind of target decides.
 */
HF_NODISCARD hf_status hf_intake_record_draft(const hf_intake *in, const hf_intake_target *target,
                                              const hf_command_row *row,
                                              const hf_command_note *note, hf_unit *unit,
                                              hf_err *err);

/* What is recorded of a repair. */
typedef struct hf_intake_repair {
    hf_ulid command_id;
    hf_cmd_outcome outcome;
    hf_liveness_state state; /* that the run was found in */
    hf_wait_kind wait;       /* 0: none */
    hf_task_type task;       /* what was restored or handed out again; 0: nothing */
    hf_ulid task_id;
} hf_intake_repair;

void hf_intake_repair_event(hf_unit *unit, const hf_intake_repair *repair, int64_t now_us);

#endif
