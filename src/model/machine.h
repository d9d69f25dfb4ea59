/* machine.h: life cycles as tables. A row says: in this state, when this happens, that is the next
   state, and why. What is not in a table is refused. State 0 is "not there yet". Beside each table
   stands what must hold of a row in the store that claims to be in a state; the store writes rows
   only after both said yes. Constant data and pure functions; any thread. */
#ifndef HF_MODEL_MACHINE_H
#define HF_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/vocab.h"

typedef struct hf_machine_row {
    int from; /* 0: not there yet */
    int on;
    int to;
    const char *why; /* reaches traces, the console and the reference page */
} hf_machine_row;

typedef struct hf_machine {
    const char *name;           /* "run" */
    const hf_vocab *states;     /* texts of from and to */
    const hf_vocab *happenings; /* texts of on */
    const hf_machine_row *rows;
    size_t count;
} hf_machine;

extern const hf_machine hf_machine_run;      /* hf_run_status, hf_run_on */
extern const hf_machine hf_machine_task;     /* hf_task_status, hf_task_on */
extern const hf_machine hf_machine_activity; /* hf_activity_status, hf_activity_on */
extern const hf_machine hf_machine_attempt;  /* hf_attempt_status, hf_attempt_on */
extern const hf_machine hf_machine_timer;    /* hf_timer_status, hf_timer_on */
extern const hf_machine hf_machine_signal;   /* hf_signal_status, hf_signal_on */
extern const hf_machine hf_machine_update;   /* hf_update_status, hf_update_on */
extern const hf_machine hf_machine_child;    /* hf_child_call_status, hf_child_on */

/* The i-th machine, NULL past the last. */
const hf_machine *hf_machine_at(size_t index);

/* The row of a pair, NULL when the table has none. */
const hf_machine_row *hf_machine_find(const hf_machine *machine, int from, int on);

/* The next state. HF_CONFLICT, with a text naming state and happening, when the table has no row;
 *then out_to is untouched. */
HF_NODISCARD hf_status hf_machine_next(const hf_machine *machine, int from, int on, int *out_to,
                                       hf_err *err);

/* Words for a state: its text, or "none" for 0. */
const char *hf_machine_state_text(const hf_machine *machine, int state);

/* -- what must hold of a row; HF_CORRUPT with the sentence that does not. Times are microseconds, 0
   is not set. */

typedef struct hf_run_facts {
    hf_run_status status;
    hf_closed_reason closed_reason; /* 0 while open */
    int64_t started_at_us;
    int64_t closed_at_us;
    int64_t archived_at_us;
    bool paused;
} hf_run_facts;
HF_NODISCARD hf_status hf_run_check(const hf_run_facts *facts, hf_err *err);

typedef struct hf_task_facts {
    hf_task_status status;
    bool has_owner; /* a lease owner is set */
    int64_t lease_expires_us;
    int64_t claims; /* how often it was claimed: the fence */
} hf_task_facts;
HF_NODISCARD hf_status hf_task_check(const hf_task_facts *facts, hf_err *err);

typedef struct hf_activity_facts {
    hf_activity_status status;
    int64_t attempts;     /* started so far */
    bool attempt_running; /* the current attempt is running */
    bool has_result;
    bool has_failure;
    int64_t closed_at_us;
} hf_activity_facts;
HF_NODISCARD hf_status hf_activity_check(const hf_activity_facts *facts, hf_err *err);

typedef struct hf_attempt_facts {
    hf_attempt_status status;
    int64_t number; /* from 1 */
    bool has_owner;
    int64_t lease_expires_us;
    int64_t started_at_us;
    int64_t closed_at_us;
} hf_attempt_facts;
HF_NODISCARD hf_status hf_attempt_check(const hf_attempt_facts *facts, hf_err *err);

typedef struct hf_timer_facts {
    hf_timer_status status;
    int64_t fire_at_us;
    int64_t fired_at_us;
    int64_t cancelled_at_us;
} hf_timer_facts;
HF_NODISCARD hf_status hf_timer_check(const hf_timer_facts *facts, hf_err *err);

typedef struct hf_signal_facts {
    hf_signal_status status;
    int64_t command_sequence; /* 0 when refused without a run */
    int64_t step;             /* where it was applied */
    hf_rejection_reason reason;
} hf_signal_facts;
HF_NODISCARD hf_status hf_signal_check(const hf_signal_facts *facts, hf_err *err);

typedef struct hf_update_facts {
    hf_update_status status;
    int64_t command_sequence; /* 0 when refused without a run */
    bool has_result;
    bool has_failure;
    hf_rejection_reason reason;
    int64_t closed_at_us; /* answered or refused */
} hf_update_facts;
HF_NODISCARD hf_status hf_update_check(const hf_update_facts *facts, hf_err *err);

typedef struct hf_child_facts {
    hf_child_call_status status;
    bool has_run; /* a child run is linked */
    hf_closed_reason closed_reason;
    int64_t closed_at_us;
} hf_child_facts;
HF_NODISCARD hf_status hf_child_check(const hf_child_facts *facts, hf_err *err);

#endif
