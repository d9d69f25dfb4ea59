/* history.h: what a replay knows of its run, folded from the events: a record for each step,
   signals and updates that wait to be used, and the facts of the run itself. Events are copied as
   far as they are needed; records that the code has passed are dropped, so that memory follows what
   is open and not how long the run is.

   It judges nothing but contradictions among events. One thread. */
#ifndef HF_REPLAY_HISTORY_H
#define HF_REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/list.h"
#include "model/decision.h"
#include "model/event.h"

/* A moment of history that code can have seen. */
typedef struct hf_fact {
    int64_t seq; /* history sequence; 0: none */
    int64_t time_us;
    int64_t bytes; /* of all events up to it, about */
} hf_fact;

/* A copied payload. */
typedef struct hf_stored {
    hf_payload_form form; /* 0: no payload */
    hf_payload_codec codec;
    uint64_t size;
    char *bytes; /* inline: the value; else its digest, NULL when there is none */
    size_t len;
} hf_stored;

typedef enum hf_record_timer {
    HF_RECORD_TIMER_NONE,
    HF_RECORD_TIMER_SET,
    HF_RECORD_TIMER_FIRED,
    HF_RECORD_TIMER_CANCELLED
} hf_record_timer;

/* How a step ended. */
typedef enum hf_record_end {
    HF_RECORD_OPEN,
    HF_RECORD_VALUE,     /* with a value, or held */
    HF_RECORD_FAILED,    /* see `failure` */
    HF_RECORD_TIMED_OUT, /* a condition's timeout came first */
    HF_RECORD_WITHDRAWN  /* with the run: code never learns of it */
} hf_record_end;

typedef struct hf_record_failure {
    hf_event_type event;
    hf_failure_category category;
    char *type; /* NULL: the event does not say */
    char *message;
    bool final; /* not to be retried */
    hf_stored details;
} hf_record_failure;

/* What a step is: as history has it, or as code wants it. */
typedef struct hf_step_look {
    hf_history_shape shape; /* 0: unknown */
    char *name;             /* type, signal, change id or condition key; NULL: none */
    char *fingerprint;      /* of a condition; NULL: none */
    hf_decision_group *groups;
    size_t group_count;
} hf_step_look;

enum { HF_RECORD_TYPES_MAX = 12 };

typedef struct hf_signal_fact {
    hf_list link;
    hf_fact fact;
    hf_ulid id;
    char *name;
    hf_stored arguments;
    bool taken; /* code used it; its SignalApplied is not recorded yet */
} hf_signal_fact;

typedef struct hf_update_fact {
    hf_list link;
    hf_fact accepted;
    hf_ulid id;
    char *name;
    hf_stored arguments;
    int64_t step; /* where it was applied; 0: not recorded */
    int64_t applied_seq;
    bool ran;    /* in this replay */
    bool queued; /* behind the signals that came before it */
} hf_update_fact;

typedef struct hf_record {
    int64_t step;
    hf_step_look recorded; /* shape 0: nothing is recorded yet */
    hf_step_look wanted;   /* by code that decided it before it was recorded; shape 0: not so */
    const char *at;        /* source line in code, with `wanted` */
    int64_t open_seq;
    int64_t open_us;
    uint8_t types[HF_RECORD_TYPES_MAX]; /* of the events of this step, each once, in order */
    size_t type_count;
    bool has_id;
    hf_ulid id; /* of the condition wait or the child call */
    hf_record_timer timer;
    bool timer_inline; /* its delay is 0: it fired in the turn that set it */
    hf_fact fired;
    int64_t version;
    hf_record_end end;
    hf_fact ended;
    hf_stored value;
    hf_record_failure *failure;
    hf_signal_fact *signal; /* what resolved a signal wait */
    int64_t handled_seq;    /* of its FailureHandled; 0: none */
    /* what code did with it */
    bool passed;    /* it will not look again */
    bool timed_out; /* a signal wait that code left by its timeout */
    bool spawned;   /* a future that was not joined */
    const struct hf_error **err;
} hf_record;

typedef struct hf_history {
    int64_t seq;     /* of the last event */
    int64_t bytes;   /* of all events, about */
    int64_t entered; /* highest step that code has begun */
    int64_t top;     /* highest step that is recorded */
    hf_record **records;
    int64_t first; /* step of records[0] */
    size_t count;
    size_t room;
    hf_list signals; /* received and not applied, in order */
    hf_list updates; /* accepted and not known to be over, in order */
    hf_list applied; /* recorded as applied and not run in this replay, in order */
    bool has_started;
    hf_fact started;
    hf_stored arguments;
    char *fingerprint;   /* of the definition it was started with; NULL: unknown */
    char *compatibility; /* NULL: none */
    hf_fact cancel;      /* a cancellation that code is to hear of; seq 0: none */
    char *cancel_reason;
    int64_t origin;  /* run whose code began this history, by key; 0: its own */
    int64_t own_seq; /* of the last event that a turn of code wrote */
    bool closed;
    int64_t notes;
    hf_list cursors; /* of message streams */
} hf_history;

typedef struct hf_cursor_fact {
    hf_list link;
    char *stream;
    int64_t position;
} hf_cursor_fact;

void hf_history_init(hf_history *history);
void hf_history_fini(hf_history *history);

/* Folds the next event. HF_CORRUPT when it contradicts what came before, HF_NOMEM; the history
   must not be used further after a failure. */
HF_NODISCARD hf_status hf_history_add(hf_history *history, const hf_event *event, hf_err *err);

/* The record of a step, or NULL. */
hf_record *hf_history_get(const hf_history *history, int64_t step);

/* The same, made when it is not there; NULL when memory ran out. */
HF_NODISCARD hf_record *hf_history_make(hf_history *history, int64_t step);

/* Drops the record when code has passed it and history will say nothing more of it. */
void hf_history_settle(hf_history *history, hf_record *record);

/* How far a stream was read in this run, 0 when it was not; and the way to say so. */
int64_t hf_history_cursor(const hf_history *history, hf_slice stream);
HF_NODISCARD bool hf_history_cursor_set(hf_history *history, hf_slice stream, int64_t position);

/* A copy of one look into another on the heap. False when memory ran out: what was copied is freed
   with the look. */
HF_NODISCARD bool hf_look_copy(hf_step_look *look, const hf_step_look *from);

void hf_stored_fini(hf_stored *stored);
/* Copies the payload of an event; true also when it has none. False: no memory. */
bool hf_stored_take(const hf_event *event, hf_event_key key, hf_stored *out_stored);
void hf_update_fact_free(hf_update_fact *update);

#endif
