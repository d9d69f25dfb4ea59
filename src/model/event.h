/* event.h: one fact of a run's history, and how facts are put together.
   An event is {type, time, step, fields}; a field is {key, value}, and the key decides the kind of
   the value. Which keys a type may carry is in event.def. Events are plain data in an arena: they
   own nothing, never change after they were built, and may be read from any thread. */
#ifndef HF_MODEL_EVENT_H
#define HF_MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/vocab.h"

enum {
    HF_KEY_NONE = 0,          /* the number no key has */
    HF_SOURCE_LINE_SIZE = 128 /* of a source line with its NUL; longer ones count as unknown */
};

/* The last moment an event can carry: the end of the year 9999, in microseconds. */
#define HF_EVENT_TIME_MAX_US INT64_C(253402300799999999)

/* What is always true of an event type; the words are explained in event.def. */
typedef enum hf_event_flag {
    HF_EVENT_CLOSES = 1,
    HF_EVENT_AFTER_CLOSE = 2,
    HF_EVENT_OPENS = 4,
    HF_EVENT_RESOLVES = 8,
    HF_EVENT_OUTSIDE = 16,
    HF_EVENT_SCHEDULE = 32,
    HF_EVENT_COMMAND = 64,
} hf_event_flag;

/* A value of the user's, or what is known of it. */
typedef struct hf_payload_value {
    hf_payload_form form;
    hf_payload_codec codec;
    hf_slice bytes;        /* the value as received; inline only */
    uint64_t size;         /* bytes of the value, wherever they are */
    const uint8_t *digest; /* SHA-256 of the value, HF_SHA256_BYTES; not for inline */
} hf_payload_value;

typedef struct hf_event_field {
    hf_event_key key; /* decides which member below is set */
    union {
        hf_slice text; /* text and json */
        int64_t number;
        bool flag;
        int64_t time_us;
        hf_ulid id;
        hf_payload_value payload;
    };
} hf_event_field;

typedef struct hf_event {
    hf_event_type type;
    int64_t time_us;        /* 0 to HF_EVENT_TIME_MAX_US; never decreases within a run */
    int64_t step;           /* the workflow step, shown as `sequence`; 0: none */
    hf_event_field *fields; /* by ascending key number, each key once */
    size_t count;
} hf_event;

/* -- what is true of types and keys */

bool hf_event_has_flag(hf_event_type type, hf_event_flag flag);

/* The shape of the step that events of this type speak of; 0: of none. */
hf_history_shape hf_event_shape(hf_event_type type);

/* Workflow code did not decide it. */
bool hf_event_outside_fact(hf_event_type type);

/* A command records it: a staged turn may be re-based over an event of this type. */
bool hf_event_command_fact(hf_event_type type);

/* Whether an event of this type may carry the key, be it the registry's or our own. */
bool hf_event_key_allowed(hf_event_type type, hf_event_key key);

/* Whether the published registry lists the key for the type: it is shown under its own name. */
bool hf_event_key_published(hf_event_type type, hf_event_key key);

/* How many keys a type may carry, the step's included. */
size_t hf_event_key_count(hf_event_type type);

hf_field_kind hf_event_key_kind(hf_event_key key);

/* -- reading: false when the event does not carry the key. The key must be of the kind asked for.
 */

bool hf_event_text(const hf_event *event, hf_event_key key, hf_slice *out_text);
bool hf_event_int(const hf_event *event, hf_event_key key, int64_t *out_number);
bool hf_event_bool(const hf_event *event, hf_event_key key, bool *out_flag);
bool hf_event_time(const hf_event *event, hf_event_key key, int64_t *out_time_us);
bool hf_event_id(const hf_event *event, hf_event_key key, hf_ulid *out_id);
bool hf_event_json(const hf_event *event, hf_event_key key, hf_slice *out_json);
bool hf_event_payload(const hf_event *event, hf_event_key key, hf_payload_value *out_payload);

/* Whether this very event opens or resolves the step it carries. As the flag of its type, except
   that a timer which is the timeout of a wait (timer_kind) does neither: the wait has its own
   events. A signal wait that timed out has none; the fold of the wait decides it from its
   TimerFired. */
bool hf_event_opens_step(const hf_event *event);
bool hf_event_resolves_step(const hf_event *event);

/* The first of them that opens a step; NULL: none does. Of the events of a run it tells what its
   code is: StepCompleted a machine's, since what else a machine begins comes behind the end of a
   step, any other a workflow's. */
const hf_event *hf_event_first_step(const hf_event *events, size_t count);

/* Whether a turn of code wrote it rather than the world. */
bool hf_event_by_code(const hf_event *event);

/* -- checking */

/* All that must hold of one event before it is stored: known type, time and step in range, fields
   sorted, allowed, complete. HF_INVALID names the event and the key. */
HF_NODISCARD hf_status hf_event_check(const hf_event *event, hf_err *err);

/* -- building: calls never report; the first failure is kept and hf_event_builder_done returns it.
   Values are copied into the arena, so the caller's may go away at once. */

typedef struct hf_event_builder {
    hf_mem *mem;
    hf_event *events;
    size_t count;
    size_t capacity;
    size_t field_capacity; /* of the last event's fields */
    hf_err failure;        /* the first one; status HF_OK until then */
} hf_event_builder;

void hf_event_builder_init(hf_event_builder *builder, hf_mem *mem);

/* Begins an event; what is put next belongs to it. step 0: none. */
void hf_event_begin(hf_event_builder *builder, hf_event_type type, int64_t time_us, int64_t step);

void hf_event_put_text(hf_event_builder *builder, hf_event_key key, hf_slice text);
void hf_event_put_int(hf_event_builder *builder, hf_event_key key, int64_t number);
void hf_event_put_bool(hf_event_builder *builder, hf_event_key key, bool flag);
void hf_event_put_time(hf_event_builder *builder, hf_event_key key, int64_t time_us);
void hf_event_put_id(hf_event_builder *builder, hf_event_key key, hf_ulid id);
void hf_event_put_json(hf_event_builder *builder, hf_event_key key, hf_slice json);
void hf_event_put_payload(hf_event_builder *builder, hf_event_key key, hf_payload_value payload);

/* A payload whose bytes travel in the event. */
hf_payload_value hf_payload_inline(hf_payload_codec codec, hf_slice bytes);

/* The events so far, in the arena. HF_NOMEM, or HF_INVALID for a key that may not be there, is
   there twice or has another kind, and for a value out of range. */
HF_NODISCARD hf_status hf_event_builder_done(hf_event_builder *builder, hf_event **out_events,
                                             size_t *out_count, hf_err *err);

#endif
