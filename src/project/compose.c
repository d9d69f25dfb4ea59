/* compose.c: see compose.h. */
#include "project/compose.h"

#include "base/alloc.h"
#include "project/compose_impl.h"
#include "project/edge.h"
#include "project/shown.h"

/* What most of them have. */
enum { PAYLOAD_MEMBERS = 16, EVENT_MEMBERS = 9 };

#define COMPOSE_TASK_BIT UINT32_C(0x80000000) /* tells ids of turns from ids of events */

/* ---- fields as they are */

static bool key_is_plain(hf_event_key key)
{
    return key == HF_KEY_MEMO || key == HF_KEY_SEARCH_ATTRIBUTES || key == HF_KEY_ATTRIBUTES ||
           key == HF_KEY_ENTRIES || key == HF_KEY_MERGED || key == HF_KEY_PROGRESS ||
           key == HF_KEY_ACTION;
}

hf_status hf_compose_payload(const hf_compose *c, const hf_payload_value *payload,
                             hf_value *out_value, hf_err *err)
{
    return c->shown ? hf_shown_payload(c->mem, payload, out_value, err)
                    : hf_edge_envelope(c->mem, payload, out_value, err);
}

/* The published shape of a failure, with our details inside. */
static hf_status exception_value(const hf_compose *c, const hf_event *event,
                                 const hf_payload_value *details, hf_value *out_value, hf_err *err)
{
    hf_mem *mem = c->mem;
    hf_value_list *object = hf_value_object(mem);
    hf_slice type = {0};
    hf_slice message = {0};
    int64_t code = 0;
    hf_value envelope = NULL;
    hf_status st = hf_compose_payload(c, details, &envelope, err);

    (void)hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &type);
    (void)hf_event_text(event, HF_KEY_MESSAGE, &message);
    (void)hf_event_int(event, HF_KEY_CODE, &code);
    hf_value_put(object, "class", hf_edge_text(mem, type));
    hf_value_put(object, "type", hf_edge_text(mem, type));
    hf_value_put(object, "message", hf_edge_text(mem, message));
    hf_value_put(object, "code", hf_value_int(mem, code));
    hf_value_put(object, "details", envelope);
    *out_value = st ? NULL : hf_value_finish(object);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "a failure");
}

static hf_status payload_value(const hf_compose *c, const hf_event *event,
                               const hf_event_field *field, hf_value *out_value, hf_err *err)
{
    if (key_is_plain(field->key))
        return hf_edge_plain(c->mem, &field->payload, out_value, err);
    if (field->key == HF_KEY_EXCEPTION)
        return exception_value(c, event, &field->payload, out_value, err);
    if (!c->shown && hf_event_key_published(event->type, HF_KEY_PAYLOAD_CODEC))
        return hf_edge_blob(c->mem, &field->payload, out_value, err);
    return hf_compose_payload(c, &field->payload, out_value, err);
}

const hf_event_field *hf_compose_find(const hf_event *event, hf_event_key key)
{
    for (size_t i = 0; i < event->count; i++)
        if (event->fields[i].key == key)
            return &event->fields[i];
    return NULL;
}

static hf_status field_value(const hf_compose *c, const hf_event *event,
                             const hf_event_field *field, hf_value *out_value, hf_err *err)
{
    hf_mem *mem = c->mem;

    switch (hf_event_key_kind(field->key)) {
    case HF_VALUE_KIND_TEXT:
        *out_value = hf_value_string(mem, field->text);
        break;
    case HF_VALUE_KIND_INT:
        *out_value = hf_value_int(mem, field->number);
        break;
    case HF_VALUE_KIND_BOOL:
        *out_value = hf_value_bool(field->flag);
        break;
    case HF_VALUE_KIND_TIME:
        *out_value = hf_edge_time(mem, field->time_us);
        break;
    case HF_VALUE_KIND_ID:
        *out_value = hf_edge_id(mem, &field->id);
        break;
    case HF_VALUE_KIND_JSON:
        return hf_edge_json(mem, field->text, out_value, err);
    case HF_VALUE_KIND_PAYLOAD:
        return payload_value(c, event, field, out_value, err);
    }
    return *out_value ? HF_OK : hf_err_nomem(err, "a field");
}

hf_status hf_compose_field(const hf_compose *compose, const hf_event *event, hf_event_key key,
                           hf_value *out_value, hf_err *err)
{
    const hf_event_field *field = event ? hf_compose_find(event, key) : NULL;

    *out_value = hf_value_null();
    return field ? field_value(compose, event, field, out_value, err) : HF_OK;
}

static bool key_is_group(hf_event_key key)
{
    return key >= HF_KEY_PARALLEL_GROUP_ID && key <= HF_KEY_PARALLEL_GROUP_PATH;
}

static hf_value payload_compose(hf_compose_view *v)
{
    hf_value_list *payload = hf_value_object_of(v->c->mem, PAYLOAD_MEMBERS);

    for (size_t i = 0; !v->st && i < hf_event_key_list.count; i++) {
        hf_event_key key = (hf_event_key)hf_event_key_list.items[i].number;
        hf_value value;

        if (!hf_event_key_published(v->event->type, key))
            continue;
        value = hf_compose_key(v, key);
        if (value && key_is_group(key) && hf_value_kind_of(value) == HF_VALUE_NULL)
            continue;
        hf_value_put(payload, hf_event_key_list.items[i].text, value);
    }
    return hf_value_finish(payload);
}

/* ---- memo and search attributes */

static hf_status merge_key(hf_compose *c, const hf_event *event, hf_event_key key,
                           hf_value *io_object, hf_err *err)
{
    hf_value changes = NULL;
    hf_status st = hf_compose_field(c, event, key, &changes, err);

    if (st || hf_value_kind_of(changes) != HF_VALUE_OBJECT)
        return st;
    *io_object = hf_edge_merge(c->mem, *io_object, changes);
    return *io_object ? HF_OK : hf_err_nomem(err, "a memo");
}

static hf_status run_note(hf_compose *c, const hf_event *event, hf_err *err)
{
    hf_status st = HF_OK;

    switch ((int)event->type) {
    case HF_EVENT_WORKFLOW_STARTED:
        c->started = event;
        st = merge_key(c, event, HF_KEY_MEMO, &c->memo, err);
        if (!st)
            st = merge_key(c, event, HF_KEY_SEARCH_ATTRIBUTES, &c->attributes, err);
        break;
    case HF_EVENT_MEMO_UPSERTED:
        st = merge_key(c, event, HF_KEY_ENTRIES, &c->memo, err);
        break;
    case HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED:
        st = merge_key(c, event, HF_KEY_ATTRIBUTES, &c->attributes, err);
        break;
    default:
        break;
    }
    return st;
}

static const hf_track_message *message_of(const hf_compose *c, const hf_event *event)
{
    hf_ulid id;

    if (hf_event_id(event, HF_KEY_SIGNAL_ID, &id) || hf_event_id(event, HF_KEY_UPDATE_ID, &id))
        return hf_track_message_get(c->track, &id);
    return NULL;
}

static bool event_is_update(hf_event_type type)
{
    return type == HF_EVENT_UPDATE_APPLIED || type == HF_EVENT_UPDATE_COMPLETED;
}

static void cursor_note(hf_compose *compose, const hf_event *event)
{
    if (event->type == HF_EVENT_MESSAGE_CURSOR_ADVANCED &&
        !hf_compose_find(event, HF_KEY_STREAM_KEY))
        (void)hf_event_int(event, HF_KEY_NEW_POSITION, &compose->cursor);
}

hf_status hf_compose_pass(hf_compose *compose, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_status st = hf_track_add(compose->track, event, seq, err);

    if (!st)
        st = run_note(compose, event, err);
    cursor_note(compose, event);
    return st;
}

hf_status hf_compose_event(hf_compose *compose, const hf_event *event, int64_t seq,
                           const hf_ulid *task, hf_value *out_event, hf_err *err)
{
    hf_mem *mem = compose->mem;
    hf_compose_view v = {.c = compose, .event = event, .seq = seq, .task = task, .err = err};
    hf_ulid id = hf_track_event_id(compose->track, event, seq);
    hf_value_list *object = hf_value_object_of(mem, EVENT_MEMBERS);
    hf_value payload;

    v.st = hf_track_add(compose->track, event, seq, err);
    if (!v.st)
        v.st = run_note(compose, event, err);
    if (v.st)
        return v.st;
    if (event->step && !event_is_update(event->type))
        v.step = hf_track_step_get(compose->track, event->step);
    v.message = message_of(compose, event);
    payload = payload_compose(&v);
    if (v.st)
        return hf_err_because(err, v.st, "show event %lld", (long long)seq);
    hf_value_put(object, "id", hf_edge_id(mem, &id));
    hf_value_put(object, "sequence", hf_value_int(mem, seq));
    hf_value_put(object, "type",
                 hf_value_string(mem, hf_slice_of(hf_event_type_text(event->type))));
    hf_value_put(object, "workflow_run_id", compose->kept->run_id);
    hf_value_put(object, "workflow_task_id", hf_compose_key(&v, HF_KEY_WORKFLOW_TASK_ID));
    hf_value_put(object, "workflow_command_id", hf_compose_key(&v, HF_KEY_WORKFLOW_COMMAND_ID));
    hf_value_put(object, "recorded_at", hf_edge_time(mem, event->time_us));
    if (v.step && v.step->opened == event && v.step->line.len)
        hf_value_put(object, "source_line", hf_edge_text(mem, v.step->line));
    hf_value_put(object, "payload", payload);
    *out_event = hf_value_finish(object);
    cursor_note(compose, event);
    return *out_event ? HF_OK : hf_err_nomem(err, "an event");
}

const hf_track *hf_compose_track(const hf_compose *compose)
{
    return compose->track;
}

hf_value hf_compose_memo(const hf_compose *compose)
{
    return compose->memo;
}

hf_value hf_compose_attributes(const hf_compose *compose)
{
    return compose->attributes;
}

const hf_event *hf_compose_started(const hf_compose *compose)
{
    return compose->started;
}

static bool kept_make(hf_compose *c)
{
    hf_compose_kept *kept = hf_mem_alloc(c->mem, sizeof(*kept));

    c->kept = kept;
    if (!kept)
        return false;
    *kept = (hf_compose_kept){.run_id = hf_edge_id(c->mem, &c->run->id),
                              .instance_id = hf_edge_text(c->mem, c->run->instance_id),
                              .type = hf_edge_text(c->mem, c->run->type)};
    return kept->run_id && kept->instance_id && kept->type;
}

hf_status hf_compose_new(hf_mem *mem, const hf_compose_run *run, hf_compose **out_compose,
                         hf_err *err)
{
    hf_compose *compose = hf_alloc(sizeof(*compose));
    hf_status st;

    if (!compose)
        return hf_err_nomem(err, "a history");
    compose->mem = mem;
    compose->run = run;
    compose->memo = hf_value_finish(hf_value_object(mem));
    compose->attributes = compose->memo;
    st = compose->memo && kept_make(compose) ? hf_track_new(mem, run->key, &compose->track, err)
                                             : hf_err_nomem(err, "a history");
    if (st)
        hf_compose_free(compose);
    else
        *out_compose = compose;
    return st;
}

void hf_compose_show(hf_compose *compose)
{
    compose->shown = true;
}

bool hf_compose_shows(const hf_compose *compose)
{
    return compose->shown;
}

void hf_compose_free(hf_compose *compose)
{
    if (!compose)
        return;
    hf_track_free(compose->track);
    hf_alloc_free(compose);
}

/* Commands are recorded by whoever took them; everything else is written by a turn. */
static bool event_is_intake(hf_event_type type)
{
    switch ((int)type) {
    case HF_EVENT_START_ACCEPTED:
    case HF_EVENT_START_REJECTED:
    case HF_EVENT_SIGNAL_RECEIVED:
    case HF_EVENT_UPDATE_ACCEPTED:
    case HF_EVENT_UPDATE_REJECTED:
    case HF_EVENT_CANCEL_REQUESTED:
    case HF_EVENT_TERMINATE_REQUESTED:
    case HF_EVENT_REPAIR_REQUESTED:
    case HF_EVENT_ARCHIVE_REQUESTED:
    case HF_EVENT_SCHEDULE_TRIGGERED:
        return true;
    default:
        return false;
    }
}

bool hf_compose_turn(const hf_compose *compose, const hf_event *first, int64_t unit,
                     hf_ulid *out_task)
{
    if (event_is_intake(first->type))
        return false;
    *out_task = hf_ulid_form(first->time_us, compose->run->key, COMPOSE_TASK_BIT | (uint32_t)unit);
    return true;
}
