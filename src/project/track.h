/* track.h: what a run's events say of its steps, messages and failures, event by event. A stored
   event is compact: a TimerFired does not repeat which timer it was. Whoever shows an event, or a
   whole run, looks here for what earlier events said.

   A track borrows the events it is given; they live at least as long. It holds what is true after
   the newest of them. Must never read anything but events. One thread at a time. */
#ifndef HF_PROJECT_TRACK_H
#define HF_PROJECT_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "model/event.h"

typedef struct hf_track hf_track;

typedef struct hf_track_beat {
    struct hf_track_beat *next;
    int64_t at_us;
} hf_track_beat;

typedef struct hf_track_attempt {
    struct hf_track_attempt *next;
    int64_t number;
    hf_slice worker; /* of another process; ptr NULL: the engine's own */
    hf_attempt_status status;
    int64_t started_us;
    int64_t heartbeat_us; /* HF_EDGE_NO_TIME until one came; so are the next two */
    int64_t lease_us;
    int64_t closed_us;
    struct hf_track_beat *beats; /* newest first */
    const hf_event *beat;        /* the newest heartbeat; NULL until one came */
    const hf_event *ended;       /* what its worker reported; NULL: nothing, or it was lost */
} hf_track_attempt;

typedef struct hf_track_step {
    struct hf_track_step *next; /* in the order they were opened */
    int64_t step;
    const hf_event *opened; /* NULL: only a later event of the step is known */
    const hf_event *ended;  /* NULL while it is open */
    hf_slice line;          /* in the code, "order.c:41"; empty: unknown */
    hf_ulid id;             /* activity execution, own timer, child call or condition wait */
    hf_slice wait_id;       /* signal waits: an id, or signal-command:ID */
    /* activities */
    hf_activity_status status;
    hf_track_attempt *attempts; /* oldest first */
    hf_track_attempt *attempt;  /* the newest; NULL before the first */
    /* the timer of the step: its own, or the timeout of its wait */
    const hf_event *timer_set;
    const hf_event *timer_ended; /* fired or cancelled */
    hf_ulid timer_id;
    /* a step of a machine that parked */
    hf_slice awaited;      /* the names of the signals, "a|b"; ptr NULL: it did not park */
    const hf_event *woken; /* the step behind it; NULL: it waits */
    /* children */
    const hf_event *child_started;    /* the newest run of the child */
    struct hf_track_step *next_wait;  /* among the signal waits that are open */
    struct hf_track_failure *failure; /* how it failed; NULL when it did not */
} hf_track_step;

typedef struct hf_track_message {
    struct hf_track_message *next; /* in the order they came */
    hf_ulid id;
    bool update;
    const hf_event *came;
    const hf_event *applied; /* NULL until then */
    const hf_event *ended;   /* updates: UpdateCompleted */
    hf_slice name;
    hf_slice wait_id;                      /* signals */
    struct hf_track_message *next_waiting; /* among the signals that are not applied */
} hf_track_message;

typedef struct hf_track_failure {
    struct hf_track_failure *next;
    const hf_event *event; /* that recorded it */
    hf_ulid id;            /* the id of that event */
    hf_failure_source_kind source;
    hf_propagation_kind propagation;
    bool handled;
} hf_track_failure;

/* Allocates from `mem`, which outlives the track. */
HF_NODISCARD hf_status hf_track_new(hf_mem *mem, int64_t run_key, hf_track **out_track,
                                    hf_err *err);
void hf_track_free(hf_track *track); /* NULL is allowed */

/* The next event. Events that contradict each other leave gaps, never a failure: a history that
   is damaged can still be looked at. HF_NOMEM. */
HF_NODISCARD hf_status hf_track_add(hf_track *track, const hf_event *event, int64_t seq,
                                    hf_err *err);

/* NULL when no event spoke of it. */
const hf_track_step *hf_track_step_get(const hf_track *track, int64_t step);
const hf_track_message *hf_track_message_get(const hf_track *track, const hf_ulid *id);

/* Those steps that history opened, by number, in the arena. HF_NOMEM. */
HF_NODISCARD hf_status hf_track_by_number(const hf_track *track, hf_mem *mem,
                                          const hf_track_step ***out_steps, size_t *out_count,
                                          hf_err *err);

/* What an event that opens a step calls it: an activity's type, a signal's name ...; empty:
 * nothing.
 */
hf_slice hf_track_name(const hf_event *opened);

/* Whether the steps are those of a machine; where it waits for signals, NULL: it does not. */
bool hf_track_is_machine(const hf_track *track);
const hf_track_step *hf_track_park(const hf_track *track);

/* The first of each list; NULL when it is empty. */
const hf_track_step *hf_track_steps(const hf_track *track);
const hf_track_message *hf_track_messages(const hf_track *track);
const hf_track_failure *hf_track_failures(const hf_track *track);

/* What kind of failure the event records; false for events that record none. */
bool hf_track_failure_kind(const hf_event *event, hf_failure_source_kind *out_source,
                           hf_propagation_kind *out_propagation);

/* The id of the event at `seq`. */
hf_ulid hf_track_event_id(const hf_track *track, const hf_event *event, int64_t seq);

/* The id of an attempt of an activity. */
hf_ulid hf_track_attempt_id(const hf_track_step *step, int64_t number);

#endif
