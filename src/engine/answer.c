/* answer.c: what became of a run or an update, read from the events that say so, for callers that
   wait for it. It never changes anything. */
#include "engine/answer.h"

#include "base/json.h"
#include "base/value.h"
#include "engine/remote.h"
#include "model/envelope.h"
#include "model/event_codec.h"
#include "store/payload.h"

typedef bool event_wanted(const hf_event *event, const void *ctx);

/* The last event of a chunk that is wanted, if there is one, and where it stands in the chunk (may
   be NULL); it lives in the arena. */
static hf_status chunk_search(hf_call *c, hf_slice body, event_wanted *wanted, const void *ctx,
                              const hf_event **out_event, size_t *out_nth)
{
    hf_slice kept = hf_slice_from(hf_mem_text(c->slot->scratch, body), body.len);
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st =
        kept.ptr ? hf_event_chunk_decode(c->slot->scratch, kept, &events, &count, &c->slot->err)
                 : hf_err_nomem(&c->slot->err, "events");

    for (size_t i = 0; !st && i < count; i++)
        if (wanted(&events[i], ctx)) {
            *out_event = &events[i];
            if (out_nth)
                *out_nth = i;
        }
    return st;
}

/* Looks for an event in the whole history of a run, and where it stands (may be NULL). */
static hf_status event_find(hf_call *c, int64_t run, event_wanted *wanted, const void *ctx,
                            const hf_event **out_event, int64_t *out_seq)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(1), hf_db_int(INT64_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    *out_event = NULL;
    st = hf_db_query(c->in.db, HF_STMT_HISTORY_READ, params, 3, &cursor, &c->slot->err);
    while (!st && row) {
        const hf_event *before = *out_event;
        size_t nth = 0;

        st = hf_db_step(cursor, &row, &c->slot->err);
        if (!st && row)
            st = chunk_search(c, hf_db_column_bytes(cursor, 3), wanted, ctx, out_event, &nth);
        if (!st && out_seq && *out_event != before)
            *out_seq = hf_db_column_int(cursor, 0) + (int64_t)nth;
    }
    hf_db_end(cursor);
    return st;
}

/* The JSON value of an event's payload, in the caller's arena; NULL when it carries none. */
static hf_status value_of(hf_call *c, hf_mem *mem, int64_t run, const hf_event *event,
                          hf_event_key key, hf_value *out_value)
{
    hf_decision_payload stored;
    hf_payload_value payload;
    hf_slice bytes;
    hf_status st = HF_OK;

    *out_value = NULL;
    if (!hf_event_payload(event, key, &payload))
        return HF_OK;
    bytes = payload.bytes;
    if (payload.form != HF_PAYLOAD_FORM_INLINE)
        st = hf_payload_get(c->in.db, c->slot->scratch, c->slot->stager.sha, run, &payload, &bytes,
                            &c->slot->err);
    stored = (hf_decision_payload){.codec = payload.codec, .bytes = bytes};
    return st ? st : hf_envelope_value(mem, &stored, out_value, &c->slot->err);
}

static const char *text_of(hf_mem *mem, const hf_event *event, hf_event_key key,
                           const char *otherwise)
{
    hf_slice text;

    return hf_event_text(event, key, &text) ? hf_mem_text(mem, text) : otherwise;
}

/* A recorded failure as the caller sees it. */
static hf_status failure_of(hf_call *c, hf_mem *mem, int64_t run, const hf_event *event,
                            hf_status status, const char *type, const hf_error **out_error)
{
    hf_error *error = hf_mem_alloc(mem, sizeof(*error));
    bool final = false;
    hf_status st = HF_OK;

    if (!error)
        return hf_err_nomem(&c->slot->err, "a failure");
    error->status = status;
    error->type = text_of(mem, event, HF_KEY_EXCEPTION_TYPE, type);
    error->message = text_of(mem, event, HF_KEY_MESSAGE, text_of(mem, event, HF_KEY_REASON, ""));
    if (hf_event_key_allowed(event->type, HF_KEY_EXCEPTION))
        st = value_of(c, mem, run, event, HF_KEY_EXCEPTION, &error->details);
    if (hf_event_key_allowed(event->type, HF_KEY_NON_RETRYABLE))
        (void)hf_event_bool(event, HF_KEY_NON_RETRYABLE, &final);
    error->retryable = !final;
    if (out_error)
        *out_error = error;
    return st ? st : hf_err_set(&c->slot->err, status, "%s: %s", error->type, error->message);
}

static bool is_closing(const hf_event *event, const void *ctx)
{
    (void)ctx;
    return hf_event_has_flag(event->type, HF_EVENT_CLOSES);
}

/* Where the newest run of an instance is. */
typedef struct run_end {
    int64_t run; /* HF_NONE: there is none */
    int64_t shard;
    bool closed;
    const hf_event *event; /* that closed it, if it is in the newest chunk */
} run_end;

static hf_status end_look(hf_call *c, hf_slice id, run_end *out_end)
{
    const hf_db_value params[] = {hf_db_int(c->in.namespace_key), hf_db_text(id)};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(c->in.db, HF_STMT_RUN_END, params, 2, &cursor, &c->slot->err);

    *out_end = (run_end){.run = HF_NONE, .shard = hf_shard_of(c->in.namespace_key, id)};
    if (!st)
        st = hf_db_step(cursor, &found, &c->slot->err);
    if (!st && found) {
        out_end->run = hf_db_column_int(cursor, 0);
        out_end->closed = !hf_db_column_null(cursor, 1);
    }
    if (!st && out_end->closed)
        st =
            chunk_search(c, hf_db_column_bytes(cursor, 2), is_closing, NULL, &out_end->event, NULL);
    hf_db_end(cursor);
    return st;
}

static hf_status end_read(hf_call *c, hf_slice id, run_end *out_end)
{
    hf_status st;

    hf_call_read_begin(c);
    st = end_look(c, id, out_end);
    if (st == HF_UNREACHABLE && !hf_db_reconnect(c->in.db, NULL)) /* reading twice: no harm */
        st = end_look(c, id, out_end);
    hf_call_read_end(c);
    return st;
}

/* What is no id may be a correlation key; what is neither is told so. */
static hf_status end_find(hf_call *c, const char *id, run_end *out_end)
{
    hf_intake_target target;
    hf_status st = HF_OK;

    *out_end = (run_end){.run = HF_NONE};
    hf_mem_reset(c->slot->scratch);
    if (id)
        st = end_read(c, hf_slice_of(id), out_end);
    if (st || out_end->run != HF_NONE)
        return st;
    st = hf_call_find(c, id, &target);
    return st ? st : end_read(c, target.instance.id, out_end);
}

/* HF_BUSY: the run is open. */
static hf_status result_look(hf_call *c, const char *id, hf_value *out, const hf_error **out_error)
{
    hf_mem *mem = c->slot->mem;
    run_end end;
    const hf_event *event;
    hf_status st = end_find(c, id, &end);

    if (st)
        return st;
    c->awaits = end.run;
    c->awaits_shard = end.shard;
    c->awaits_end = true;
    if (!end.closed)
        return HF_BUSY;
    event = end.event;
    hf_call_read_begin(c);
    if (!event) /* facts may follow the closing event */
        st = event_find(c, end.run, is_closing, NULL, &event, NULL);
    if (!st && !event)
        st = hf_err_set(&c->slot->err, HF_CORRUPT, "%s is closed without a closing event", id);
    if (!st && event->type == HF_EVENT_WORKFLOW_COMPLETED)
        st = value_of(c, mem, end.run, event, HF_KEY_OUTPUT, out);
    else if (!st && event->type == HF_EVENT_WORKFLOW_CANCELLED)
        st = failure_of(c, mem, end.run, event, HF_CANCELLED, "cancelled", out_error);
    else if (!st && event->type == HF_EVENT_WORKFLOW_TERMINATED)
        st = failure_of(c, mem, end.run, event, HF_CANCELLED, "terminated", out_error);
    else if (!st && event->type == HF_EVENT_WORKFLOW_TIMED_OUT)
        st = failure_of(c, mem, end.run, event, HF_ERROR,
                        text_of(mem, event, HF_KEY_TIMEOUT_KIND, "timed_out"), out_error);
    else if (!st)
        st = failure_of(c, mem, end.run, event, HF_ERROR, "failed", out_error);
    hf_call_read_end(c);
    return st;
}

typedef struct result_call {
    const char *id;
    hf_value *out;
    const hf_error **error;
} result_call;

static hf_status result_ask(hf_call *c, void *ctx)
{
    const result_call *ask = ctx;

    return result_look(c, ask->id, ask->out, ask->error);
}

hf_status hf_result(hf_engine *engine, const char *id, hf_ms wait, hf_value *out,
                    const hf_error **err)
{
    hf_value ignored = NULL;
    result_call ask = {.id = id, .out = out ? out : &ignored, .error = err};
    engine_slot *slot;
    hf_call c;
    hf_status st;

    *ask.out = NULL;
    if (err)
        *err = NULL;
    if (hf_call_remote(engine, &slot))
        return slot ? hf_remote_result(engine->remote, id ? id : "", wait, slot->mem, ask.out, err,
                                       &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (!st && id && wait > 0)
        hf_call_await_started(&c, id);
    return st ? st : hf_call_await(&c, wait, result_ask, &ask);
}

/* ---- updates */

typedef struct update_call {
    int64_t command;
    hf_mem *mem;
    hf_update_life *life;
} update_call;

static bool is_update_end(const hf_event *event, const void *ctx)
{
    const int64_t *command = ctx;
    hf_ulid id;

    return event->type == HF_EVENT_UPDATE_COMPLETED && hf_event_id(event, HF_KEY_UPDATE_ID, &id) &&
           hf_ulid_key(&id) == *command;
}

/* The update's row, which goes along when its run is continued. */
static hf_status life_read(hf_call *c, int64_t command, hf_mem *mem, hf_update_life *out_life,
                           hf_err *err)
{
    const hf_db_value key = hf_db_int(command);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_slice name;
    hf_status st = hf_db_query(c->in.db, HF_STMT_COMMAND_READ, &key, 1, &cursor, err);

    *out_life = (hf_update_life){.step = HF_NONE};
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && (!found || hf_db_column_int(cursor, 10) != HF_COMMAND_TYPE_UPDATE))
        st = hf_err_set(err, HF_NOTFOUND, "there is no such update");
    if (!st) {
        out_life->outcome = hf_column_or_none(cursor, 1);
        out_life->rejection = hf_column_or_none(cursor, 2);
        out_life->run = hf_column_or_none(cursor, 3);
        out_life->command_seq = hf_column_or_none(cursor, 4);
        out_life->recorded_us = hf_db_column_int(cursor, 5);
        out_life->run_us = hf_column_or_none(cursor, 7);
        out_life->status = (hf_update_status)hf_db_column_int(cursor, 8);
        name = hf_db_column_bytes(cursor, 9);
        out_life->name = hf_mem_text(mem, name);
        out_life->applied_us = hf_column_or_none(cursor, 11);
        out_life->closed_us = hf_column_or_none(cursor, 12);
        out_life->instance = hf_db_column_int(cursor, 13);
        if (!out_life->name)
            st = hf_err_nomem(err, "an update");
    }
    hf_db_end(cursor);
    return st;
}

/* What the update was answered, as history has it. */
static hf_status life_answer(hf_call *c, int64_t command, hf_mem *mem, hf_update_life *life,
                             hf_err *err)
{
    const hf_event *event = NULL;
    hf_slice message;
    int64_t seq = 0;
    hf_status st = event_find(c, life->run, is_update_end, &command, &event, &seq);

    if (!st && !event)
        return hf_err_set(err, HF_CORRUPT, "an update was answered without an event");
    if (st)
        return st;
    life->step = event->step ? event->step : HF_NONE;
    if (!hf_event_text(event, HF_KEY_MESSAGE, &message))
        return value_of(c, mem, life->run, event, HF_KEY_RESULT, &life->result);
    life->failure_id = hf_ulid_form(event->time_us, life->run, (uint32_t)seq);
    st = failure_of(c, mem, life->run, event, HF_ERROR, "update_failed", &life->failure);
    return life->failure ? HF_OK : st;
}

hf_status hf_answer_update(hf_call *c, int64_t command, hf_mem *mem, hf_update_life *out_life,
                           hf_err *err)
{
    hf_status st;

    hf_call_read_begin(c);
    st = life_read(c, command, mem, out_life, err);
    if (!st && (out_life->status == HF_UPDATE_STATUS_COMPLETED ||
                out_life->status == HF_UPDATE_STATUS_FAILED))
        st = life_answer(c, command, mem, out_life, err);
    hf_call_read_end(c);
    return st;
}

static hf_status update_ask(hf_call *c, void *ctx)
{
    update_call *ask = ctx;
    hf_status st;

    hf_mem_reset(c->slot->scratch);
    st = hf_answer_update(c, ask->command, ask->mem, ask->life, &c->slot->err);
    c->awaits = ask->life->run;
    c->awaits_end = false;
    return !st && ask->life->status == HF_UPDATE_STATUS_ACCEPTED ? HF_BUSY : st;
}

hf_status hf_answer_await(hf_call *call, int64_t command, hf_ms wait, hf_mem *mem,
                          hf_update_life *out_life)
{
    update_call ask = {.command = command, .mem = mem, .life = out_life};

    return hf_call_await(call, wait, update_ask, &ask);
}
