/* event.c: events as data. The tables below are event.def and key.def; every rule about what an
   event may look like is checked here and nowhere else, by the builder, the encoder and the decoder
   alike. It never interprets a value: that is for those who write and fold history. */
#include "model/event.h"

#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"

enum { BUILDER_FIRST_EVENTS = 4, BUILDER_FIRST_FIELDS = 8 };

typedef struct event_rule {
    unsigned flags;
    const uint8_t *published; /* keys of the registry */
    size_t published_count;
    const uint8_t *own; /* keys of our own; one HF_KEY_NONE when there are none */
    size_t own_count;
} event_rule;

/* Key numbers fit a byte, so that a search is one memchr. */
#define EVENT_UNWRAP(...) __VA_ARGS__
#define HF_EVENT(enumerator, number, text, origin, flags, sentence, keys, own)                     \
    static const uint8_t published_##enumerator[] = {EVENT_UNWRAP keys};                           \
    static const uint8_t own_##enumerator[] = {EVENT_UNWRAP own};
#include "model/event.def"
#undef HF_EVENT

/* By stored number; a number that is no type has no keys. */
static const event_rule event_rules[] = {
#define HF_EVENT(enumerator, number, text, origin, flags, sentence, keys, own)                     \
    [enumerator] = {flags, published_##enumerator, sizeof(published_##enumerator),                 \
                    own_##enumerator, sizeof(own_##enumerator)},
#include "model/event.def"
#undef HF_EVENT
};

/* By stored number; 0 for a number that is no key. */
static const uint8_t key_kinds[] = {
#define HF_KEY(enumerator, number, text, kind, origin, sentence) [enumerator] = kind,
#include "model/key.def"
#undef HF_KEY
};

static const event_rule *rule_get(hf_event_type type)
{
    static const event_rule none = {0};
    int number = (int)type;

    if (number < 1 || (size_t)number >= sizeof(event_rules) / sizeof(event_rules[0]))
        return &none;
    return &event_rules[number];
}

static bool keys_have(const uint8_t *keys, size_t count, hf_event_key key)
{
    int number = (int)key;

    return keys && number > HF_KEY_NONE && number <= UINT8_MAX && memchr(keys, number, count);
}

static const hf_event_field *field_get(const hf_event *event, hf_event_key key, hf_field_kind kind)
{
    HF_ASSERT(hf_event_key_kind(key) == kind);
    for (size_t i = 0; i < event->count; i++) {
        if (event->fields[i].key == key)
            return &event->fields[i];
        if ((int)event->fields[i].key > (int)key)
            break;
    }
    return NULL;
}

static bool time_valid(int64_t time_us)
{
    return time_us >= 0 && time_us <= HF_EVENT_TIME_MAX_US;
}

static const char *payload_fault(const hf_payload_value *payload)
{
    hf_payload_codec codec;

    if (!hf_payload_codec_from((int64_t)payload->codec, &codec))
        return "has an unknown codec";
    switch (payload->form) {
    case HF_PAYLOAD_FORM_INLINE:
        if (payload->size != payload->bytes.len || payload->digest)
            return "is inline, so its size is that of its bytes and it has no digest";
        return NULL;
    case HF_PAYLOAD_FORM_REFERENCE:
    case HF_PAYLOAD_FORM_ERASED:
        if (!payload->digest || payload->bytes.len || payload->size > INT64_MAX)
            return "is not inline, so it has a digest and a size and no bytes";
        return NULL;
    }
    return "has an unknown form";
}

/* Why a field cannot be part of an event of this type, or NULL. */
static const char *field_fault(hf_event_type type, const hf_event_field *field)
{
    if (!hf_event_key_allowed(type, field->key))
        return "is not a key of this event type";
    if (field->key == HF_KEY_SEQUENCE)
        return "travels as the event's step, not as a field";
    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
    case HF_VALUE_KIND_JSON:
        return hf_utf8_valid(field->text) ? NULL : "is not well-formed UTF-8";
    case HF_VALUE_KIND_TIME:
        return time_valid(field->time_us) ? NULL : "is a time out of range";
    case HF_VALUE_KIND_PAYLOAD:
        return payload_fault(&field->payload);
    case HF_VALUE_KIND_INT:
    case HF_VALUE_KIND_BOOL:
    case HF_VALUE_KIND_ID:
        break;
    }
    return NULL;
}

static hf_status head_check(const hf_event *event, hf_err *err)
{
    hf_event_type type;

    if (!hf_event_type_from((int64_t)event->type, &type))
        return hf_err_set(err, HF_INVALID, "event type number %d is unknown", (int)event->type);
    if (!time_valid(event->time_us))
        return hf_err_set(err, HF_INVALID, "%s: its time, %lld us, is out of range",
                          hf_event_type_text(type), (long long)event->time_us);
    if (event->step < 0)
        return hf_err_set(err, HF_INVALID, "%s: its step, %lld, is negative",
                          hf_event_type_text(type), (long long)event->step);
    if (event->step && !hf_event_key_allowed(type, HF_KEY_SEQUENCE))
        return hf_err_set(err, HF_INVALID, "%s: events of this type belong to no step",
                          hf_event_type_text(type));
    return HF_OK;
}

static bool builder_failed(const hf_event_builder *builder)
{
    return builder->failure.status != HF_OK;
}

/* A copy in the arena; the empty slice needs none. */
static hf_slice builder_copy(hf_event_builder *builder, hf_slice bytes)
{
    char *copy;

    if (builder_failed(builder) || bytes.len == 0)
        return (hf_slice){0};
    copy = hf_mem_bytes(builder->mem, bytes.len);
    if (!copy) {
        (void)hf_err_nomem(&builder->failure, "a value of an event");
        return (hf_slice){0};
    }
    memcpy(copy, bytes.ptr, bytes.len);
    return hf_slice_from(copy, bytes.len);
}

/* Makes room for one more field of the last event. */
static bool builder_grow_fields(hf_event_builder *builder, hf_event *event)
{
    size_t capacity = builder->field_capacity ? builder->field_capacity * 2 : BUILDER_FIRST_FIELDS;
    hf_event_field *fields;

    if (event->count < builder->field_capacity)
        return true;
    fields = hf_mem_array(builder->mem, capacity, sizeof(*fields));
    if (!fields) {
        (void)hf_err_nomem(&builder->failure, "the fields of an event");
        return false;
    }
    if (event->count)
        memcpy(fields, event->fields, event->count * sizeof(*fields));
    event->fields = fields;
    builder->field_capacity = capacity;
    return true;
}

/* Inserts the field where its key belongs. `kind` is what the caller gave. */
static void builder_put(hf_event_builder *builder, hf_field_kind kind, hf_event_field field)
{
    hf_event *event;
    const char *fault;
    size_t at;

    if (builder_failed(builder))
        return;
    HF_ASSERT(builder->count > 0);
    event = &builder->events[builder->count - 1];
    fault = hf_event_key_kind(field.key) == kind ? field_fault(event->type, &field)
                                                 : "is of another kind";
    for (at = event->count; at > 0 && (int)event->fields[at - 1].key >= (int)field.key; at--) {
        if (event->fields[at - 1].key == field.key)
            fault = "was put already";
    }
    if (fault) {
        (void)hf_err_set(&builder->failure, HF_INVALID, "%s: %s %s",
                         hf_event_type_text(event->type), hf_event_key_text(field.key), fault);
        return;
    }
    if (!builder_grow_fields(builder, event))
        return;
    memmove(&event->fields[at + 1], &event->fields[at], (event->count - at) * sizeof(field));
    event->fields[at] = field;
    event->count++;
}

bool hf_event_has_flag(hf_event_type type, hf_event_flag flag)
{
    return (rule_get(type)->flags & (unsigned)flag) != 0;
}

/* 0: the event is about no step of its own. */
static const uint8_t event_shapes[] = {
    [HF_EVENT_WORKFLOW_CONTINUED_AS_NEW] = HF_HISTORY_SHAPE_CONTINUE_AS_NEW,
    [HF_EVENT_CHILD_WORKFLOW_SCHEDULED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CHILD_RUN_STARTED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CHILD_RUN_COMPLETED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CHILD_RUN_FAILED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CHILD_RUN_CANCELLED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CHILD_RUN_TERMINATED] = HF_HISTORY_SHAPE_CHILD_WORKFLOW,
    [HF_EVENT_CONDITION_WAIT_OPENED] = HF_HISTORY_SHAPE_CONDITION_WAIT,
    [HF_EVENT_CONDITION_WAIT_SATISFIED] = HF_HISTORY_SHAPE_CONDITION_WAIT,
    [HF_EVENT_CONDITION_WAIT_TIMED_OUT] = HF_HISTORY_SHAPE_CONDITION_WAIT,
    [HF_EVENT_SIGNAL_WAIT_OPENED] = HF_HISTORY_SHAPE_SIGNAL_WAIT,
    [HF_EVENT_SIGNAL_APPLIED] = HF_HISTORY_SHAPE_SIGNAL_WAIT,
    [HF_EVENT_ACTIVITY_SCHEDULED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_STARTED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_RETRY_SCHEDULED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_COMPLETED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_FAILED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_CANCELLED] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_ACTIVITY_TIMED_OUT] = HF_HISTORY_SHAPE_ACTIVITY,
    [HF_EVENT_SIDE_EFFECT_RECORDED] = HF_HISTORY_SHAPE_SIDE_EFFECT,
    [HF_EVENT_VERSION_MARKER_RECORDED] = HF_HISTORY_SHAPE_VERSION_MARKER,
    [HF_EVENT_TIMER_SCHEDULED] = HF_HISTORY_SHAPE_TIMER,
    [HF_EVENT_TIMER_FIRED] = HF_HISTORY_SHAPE_TIMER,
    [HF_EVENT_TIMER_CANCELLED] = HF_HISTORY_SHAPE_TIMER,
    [HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED] = HF_HISTORY_SHAPE_SEARCH_ATTRIBUTES_UPSERT,
    [HF_EVENT_MEMO_UPSERTED] = HF_HISTORY_SHAPE_MEMO_UPSERT,
    [HF_EVENT_STEP_COMPLETED] = HF_HISTORY_SHAPE_MACHINE_STEP,
};

hf_history_shape hf_event_shape(hf_event_type type)
{
    size_t number = (size_t)type;

    return (hf_history_shape)(number < sizeof(event_shapes) ? event_shapes[number] : 0);
}

bool hf_event_outside_fact(hf_event_type type)
{
    return hf_event_has_flag(type, HF_EVENT_OUTSIDE);
}

bool hf_event_command_fact(hf_event_type type)
{
    return hf_event_has_flag(type, HF_EVENT_COMMAND);
}

bool hf_event_key_published(hf_event_type type, hf_event_key key)
{
    const event_rule *rule = rule_get(type);

    return keys_have(rule->published, rule->published_count, key);
}

bool hf_event_key_allowed(hf_event_type type, hf_event_key key)
{
    const event_rule *rule = rule_get(type);

    return hf_event_key_published(type, key) || keys_have(rule->own, rule->own_count, key);
}

size_t hf_event_key_count(hf_event_type type)
{
    const event_rule *rule = rule_get(type);
    bool has_own = rule->own && rule->own[0] != HF_KEY_NONE;

    return rule->published_count + (has_own ? rule->own_count : 0);
}

hf_field_kind hf_event_key_kind(hf_event_key key)
{
    int number = (int)key;

    if (number < 1 || (size_t)number >= sizeof(key_kinds))
        return (hf_field_kind)0;
    return (hf_field_kind)key_kinds[number];
}

bool hf_event_text(const hf_event *event, hf_event_key key, hf_slice *out_text)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_TEXT);

    if (field)
        *out_text = field->text;
    return field != NULL;
}

bool hf_event_int(const hf_event *event, hf_event_key key, int64_t *out_number)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_INT);

    if (field)
        *out_number = field->number;
    return field != NULL;
}

bool hf_event_bool(const hf_event *event, hf_event_key key, bool *out_flag)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_BOOL);

    if (field)
        *out_flag = field->flag;
    return field != NULL;
}

bool hf_event_time(const hf_event *event, hf_event_key key, int64_t *out_time_us)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_TIME);

    if (field)
        *out_time_us = field->time_us;
    return field != NULL;
}

bool hf_event_id(const hf_event *event, hf_event_key key, hf_ulid *out_id)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_ID);

    if (field)
        *out_id = field->id;
    return field != NULL;
}

bool hf_event_json(const hf_event *event, hf_event_key key, hf_slice *out_json)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_JSON);

    if (field)
        *out_json = field->text;
    return field != NULL;
}

bool hf_event_payload(const hf_event *event, hf_event_key key, hf_payload_value *out_payload)
{
    const hf_event_field *field = field_get(event, key, HF_VALUE_KIND_PAYLOAD);

    if (field)
        *out_payload = field->payload;
    return field != NULL;
}

bool hf_event_opens_step(const hf_event *event)
{
    hf_slice kind;

    if (event->type == HF_EVENT_TIMER_SCHEDULED && hf_event_text(event, HF_KEY_TIMER_KIND, &kind))
        return false;
    return event->step != 0 && hf_event_has_flag(event->type, HF_EVENT_OPENS);
}

const hf_event *hf_event_first_step(const hf_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hf_event_opens_step(&events[i]))
            return &events[i];
    return NULL;
}

bool hf_event_by_code(const hf_event *event)
{
    return hf_event_has_flag(event->type, HF_EVENT_OPENS) ||
           event->type == HF_EVENT_NOTE_RECORDED || event->type == HF_EVENT_FAILURE_HANDLED ||
           event->type == HF_EVENT_UPDATE_APPLIED;
}

bool hf_event_resolves_step(const hf_event *event)
{
    bool timer = event->type == HF_EVENT_TIMER_FIRED || event->type == HF_EVENT_TIMER_CANCELLED;
    hf_slice kind;

    if (timer && hf_event_text(event, HF_KEY_TIMER_KIND, &kind))
        return false;
    return event->step != 0 && hf_event_has_flag(event->type, HF_EVENT_RESOLVES);
}

hf_status hf_event_check(const hf_event *event, hf_err *err)
{
    hf_status st = head_check(event, err);
    int last = HF_KEY_NONE;

    if (st)
        return st;
    for (size_t i = 0; i < event->count; i++) {
        const hf_event_field *field = &event->fields[i];
        const char *fault = field_fault(event->type, field);

        if (!fault && (int)field->key == last)
            fault = "is there twice";
        if (!fault && (int)field->key < last)
            fault = "is out of order";
        if (fault)
            return hf_err_set(err, HF_INVALID, "%s: %s (key %d) %s",
                              hf_event_type_text(event->type), hf_event_key_text(field->key),
                              (int)field->key, fault);
        last = (int)field->key;
    }
    return HF_OK;
}

void hf_event_builder_init(hf_event_builder *builder, hf_mem *mem)
{
    *builder = (hf_event_builder){.mem = mem};
}

void hf_event_begin(hf_event_builder *builder, hf_event_type type, int64_t time_us, int64_t step)
{
    hf_event event = {.type = type, .time_us = time_us, .step = step};

    if (builder_failed(builder) || head_check(&event, &builder->failure))
        return;
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity ? builder->capacity * 2 : BUILDER_FIRST_EVENTS;
        hf_event *events = hf_mem_array(builder->mem, capacity, sizeof(*events));

        if (!events) {
            (void)hf_err_nomem(&builder->failure, "events");
            return;
        }
        if (builder->count)
            memcpy(events, builder->events, builder->count * sizeof(*events));
        builder->events = events;
        builder->capacity = capacity;
    }
    builder->events[builder->count++] = event;
    builder->field_capacity = 0;
}

void hf_event_put_text(hf_event_builder *builder, hf_event_key key, hf_slice text)
{
    builder_put(builder, HF_VALUE_KIND_TEXT,
                (hf_event_field){.key = key, .text = builder_copy(builder, text)});
}

void hf_event_put_int(hf_event_builder *builder, hf_event_key key, int64_t number)
{
    builder_put(builder, HF_VALUE_KIND_INT, (hf_event_field){.key = key, .number = number});
}

void hf_event_put_bool(hf_event_builder *builder, hf_event_key key, bool flag)
{
    builder_put(builder, HF_VALUE_KIND_BOOL, (hf_event_field){.key = key, .flag = flag});
}

void hf_event_put_time(hf_event_builder *builder, hf_event_key key, int64_t time_us)
{
    builder_put(builder, HF_VALUE_KIND_TIME, (hf_event_field){.key = key, .time_us = time_us});
}

void hf_event_put_id(hf_event_builder *builder, hf_event_key key, hf_ulid id)
{
    builder_put(builder, HF_VALUE_KIND_ID, (hf_event_field){.key = key, .id = id});
}

void hf_event_put_json(hf_event_builder *builder, hf_event_key key, hf_slice json)
{
    builder_put(builder, HF_VALUE_KIND_JSON,
                (hf_event_field){.key = key, .text = builder_copy(builder, json)});
}

void hf_event_put_payload(hf_event_builder *builder, hf_event_key key, hf_payload_value payload)
{
    payload.bytes = builder_copy(builder, payload.bytes);
    if (payload.digest)
        payload.digest =
            (const uint8_t *)builder_copy(builder, hf_slice_from(payload.digest, HF_SHA256_BYTES))
                .ptr;
    builder_put(builder, HF_VALUE_KIND_PAYLOAD, (hf_event_field){.key = key, .payload = payload});
}

hf_payload_value hf_payload_inline(hf_payload_codec codec, hf_slice bytes)
{
    return (hf_payload_value){
        .form = HF_PAYLOAD_FORM_INLINE, .codec = codec, .bytes = bytes, .size = bytes.len};
}

hf_status hf_event_builder_done(hf_event_builder *builder, hf_event **out_events, size_t *out_count,
                                hf_err *err)
{
    if (builder_failed(builder)) {
        if (err)
            *err = builder->failure;
        return builder->failure.status;
    }
    *out_events = builder->events;
    *out_count = builder->count;
    return HF_OK;
}
