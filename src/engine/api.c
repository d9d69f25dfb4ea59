/* api.c: the commands of holdfast.h. Each drafts a unit in the caller's thread, waits for its
   commit, then tells the core where to look. Nothing is acknowledged before the commit. */
#include <string.h>

#include "base/assert.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/decide.h"
#include "engine/engine_impl.h"
#include "engine/open_work.h"
#include "model/contract.h"
#include "model/event_codec.h"
#include "store/payload.h"

enum { CONFLICT_TRIES = 16 };

/* What a command works with. */
typedef struct call {
    hf_engine *engine;
    engine_slot *slot;
    hf_intake in;
    int64_t awaits;  /* the run that the caller waits for */
    bool awaits_end; /* until it is closed */
} call;

static hf_status call_begin(call *c, hf_engine *engine)
{
    hf_status st;

    if (!engine)
        return HF_MISUSE;
    c->engine = engine;
    c->slot = hf_engine_slot_get(engine);
    if (!c->slot)
        return HF_NOMEM;
    if (engine->open_error.status) {
        c->slot->err = engine->open_error;
        return engine->open_error.status;
    }
    c->slot->err = (hf_err){0};
    st = hf_engine_begin(engine, ENGINE_THREADS, &c->slot->err);
    if (st)
        return st;
    c->in = (hf_intake){.stager = &c->slot->stager,
                        .keys = hf_writer_keys(engine->writer),
                        .namespace_key = engine->namespace_key,
                        .now_us = hf_clock_wall_us(engine->clock)};
    return HF_OK;
}

static hf_status call_commit(call *c, hf_unit *unit)
{
    hf_status st = hf_unit_seal(unit, &c->slot->stager, &c->slot->err);

    return st ? st : hf_engine_commit(c->engine, unit, &c->slot->err);
}

static hf_status call_find(call *c, const char *id, hf_intake_target *out_target)
{
    hf_status st;

    if (!id)
        return hf_err_set(&c->slot->err, HF_MISUSE, "an instance id is needed");
    hf_mem_reset(c->slot->scratch);
    c->in.db = hf_engine_read_begin(c->engine);
    st = hf_intake_find(&c->in, c->slot->scratch, hf_slice_of(id), out_target, &c->slot->err);
    if (st == HF_UNREACHABLE && !hf_db_reconnect(c->in.db, NULL)) /* reading twice does no harm */
        st = hf_intake_find(&c->in, c->slot->scratch, hf_slice_of(id), out_target, &c->slot->err);
    hf_engine_read_end(c->engine);
    return st;
}

/* The existing run answers a start when the caller allows it and the run is open. */
static hf_status start_existing(call *c, const hf_start_opts *opts)
{
    hf_intake_target target;
    hf_status st;

    if (opts->duplicate != HF_DUP_RETURN_EXISTING)
        return hf_err_set(&c->slot->err, HF_EXISTS, "an instance called %s exists already",
                          opts->id);
    st = call_find(c, opts->id, &target);
    if (st)
        return st;
    if (target.base.closed_us != HF_NONE)
        return hf_err_set(&c->slot->err, HF_EXISTS,
                          "the instance %s exists already and its run is closed", opts->id);
    return HF_OK;
}

hf_status hf_start_with(hf_engine *engine, const char *type, const hf_start_opts *opts)
{
    const hf_registry_workflow *workflow;
    hf_intake_start start;
    hf_unit *unit = NULL;
    int64_t run = 0;
    call c;
    hf_status st = call_begin(&c, engine);

    if (st)
        return st;
    if (!type || !opts)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a type and options are needed");
    if (opts->execution_timeout < 0 || opts->run_timeout < 0 ||
        (opts->execution_timeout && opts->execution_timeout < 1000) ||
        (opts->run_timeout && opts->run_timeout < 1000))
        return hf_err_set(&c.slot->err, HF_INVALID, "a workflow timeout must be at least 1 second");
    workflow = hf_registry_find_workflow(engine->registry, hf_slice_of(type));
    start =
        (hf_intake_start){.type = hf_slice_of(type),
                          .id = hf_slice_of(opts->id),
                          .input = opts->in,
                          .business_key = hf_slice_of(opts->business_key),
                          .queue = hf_slice_of(opts->queue ? opts->queue : "default"),
                          .execution_timeout_us = opts->execution_timeout * 1000,
                          .run_timeout_us = opts->run_timeout * 1000,
                          .labels = hf_slice_of(opts->labels),
                          .memo = hf_slice_of(opts->memo),
                          .compatibility = hf_slice_of(engine->app ? engine->app->build_id : NULL),
                          .definition = HF_NONE};
    unit = hf_unit_new(NULL, NULL);
    if (!unit)
        return hf_err_nomem(&c.slot->err, "a start");
    if (workflow) {
        start.type = hf_slice_of(workflow->definition->type);
        start.definition = workflow->key;
        start.fingerprint = hf_slice_of(workflow->snapshot.fingerprint);
        if (!start.execution_timeout_us)
            start.execution_timeout_us = workflow->definition->execution_timeout * 1000;
        if (!start.run_timeout_us)
            start.run_timeout_us = workflow->definition->run_timeout * 1000;
        st = hf_contract_parse(hf_unit_mem(unit), workflow->definition->params, &start.params,
                               &c.slot->err);
    }
    if (!st)
        st = hf_intake_start_draft(&c.in, &start, unit, &run, &c.slot->err);
    if (!st)
        st = call_commit(&c, unit);
    hf_unit_free(unit);
    if (st == HF_EXISTS)
        return start_existing(&c, opts);
    if (!st)
        hf_core_notify(engine->core, run);
    return st;
}

/* A signal or update; *out_run and *out_command tell where it went. */
static hf_status message_send(call *c, const char *id, hf_target_kind kind, const char *name,
                              hf_value args, int64_t *out_run, int64_t *out_command)
{
    hf_status st = HF_CONFLICT;

    if (!name)
        return hf_err_set(&c->slot->err, HF_MISUSE, "a name is needed");
    for (int i = 0; st == HF_CONFLICT && i < CONFLICT_TRIES;
         i++) { /* it may go on as a new run meanwhile */
        hf_intake_target target;
        hf_unit *unit = hf_unit_new(NULL, NULL);

        if (!unit)
            return hf_err_nomem(&c->slot->err, "a message");
        st = call_find(c, id, &target);
        if (!st) {
            c->in.db = hf_engine_read_begin(c->engine);
            st = hf_intake_message_draft(&c->in, &target, kind, hf_slice_of(name), args, unit,
                                         out_command, &c->slot->err);
            hf_engine_read_end(c->engine);
        }
        if (!st)
            st = call_commit(c, unit);
        *out_run = st ? 0 : target.base.run;
        hf_unit_free(unit);
    }
    if (!st)
        hf_core_notify(c->engine->core, *out_run);
    return st;
}

hf_status hf_signal(hf_engine *engine, const char *id, const char *name, hf_value args)
{
    int64_t run = 0;
    int64_t command = 0;
    call c;
    hf_status st = call_begin(&c, engine);

    return st ? st : message_send(&c, id, HF_TARGET_SIGNAL, name, args, &run, &command);
}

/* Looks for an event of a run, newest chunks last; the events live in the arena. */
static hf_status event_find(call *c, int64_t run, int64_t from_seq,
                            bool (*wanted)(const hf_event *, const void *), const void *ctx,
                            const hf_event **out_event)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(from_seq), hf_db_int(INT64_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st;

    *out_event = NULL;
    st = hf_db_query(c->in.db, HF_STMT_HISTORY_READ, params, 3, &cursor, &c->slot->err);
    while (!st && row) {
        hf_event *events = NULL;
        size_t count = 0;
        hf_slice body;

        st = hf_db_step(cursor, &row, &c->slot->err);
        if (st || !row)
            break;
        body = hf_db_column_bytes(cursor, 3);
        body = hf_slice_from(hf_mem_text(c->slot->scratch, body), body.len);
        st = body.ptr
                 ? hf_event_chunk_decode(c->slot->scratch, body, &events, &count, &c->slot->err)
                 : hf_err_nomem(&c->slot->err, "events");
        for (size_t i = 0; !st && i < count; i++)
            if (wanted(&events[i], ctx))
                *out_event = &events[i];
    }
    hf_db_end(cursor);
    return st;
}

/* The JSON value of an event's payload, in the caller's arena; NULL when it carries none. */
static hf_status value_of(call *c, int64_t run, const hf_event *event, hf_event_key key,
                          hf_value *out_value)
{
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
    return st ? st : hf_json_read(c->slot->mem, bytes, NULL, out_value, &c->slot->err);
}

static const char *text_of(call *c, const hf_event *event, hf_event_key key, const char *otherwise)
{
    hf_slice text;

    return hf_event_text(event, key, &text) ? hf_mem_text(c->slot->mem, text) : otherwise;
}

/* A recorded failure as the caller sees it. */
static hf_status failure_of(call *c, int64_t run, const hf_event *event, hf_status status,
                            const char *type, const hf_error **out_error)
{
    hf_error *error = hf_mem_alloc(c->slot->mem, sizeof(*error));
    bool final = false;
    hf_status st = HF_OK;

    if (!error)
        return hf_err_nomem(&c->slot->err, "a failure");
    error->status = status;
    error->type = text_of(c, event, HF_KEY_EXCEPTION_TYPE, type);
    error->message = text_of(c, event, HF_KEY_MESSAGE, text_of(c, event, HF_KEY_REASON, ""));
    if (hf_event_key_allowed(event->type, HF_KEY_EXCEPTION))
        st = value_of(c, run, event, HF_KEY_EXCEPTION, &error->details);
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

/* HF_BUSY: the run is open. */
static hf_status result_look(call *c, const char *id, hf_value *out, const hf_error **out_error)
{
    hf_intake_target target;
    const hf_event *event = NULL;
    hf_status st = call_find(c, id, &target);

    if (st)
        return st;
    c->awaits = target.base.run;
    c->awaits_end = true;
    if (target.base.closed_us == HF_NONE)
        return HF_BUSY;
    c->in.db = hf_engine_read_begin(c->engine);
    st = event_find(c, target.base.run, target.base.last_seq, is_closing, NULL, &event);
    if (!st && !event) /* facts may follow the closing event */
        st = event_find(c, target.base.run, 1, is_closing, NULL, &event);
    if (!st && !event)
        st = hf_err_set(&c->slot->err, HF_CORRUPT, "%s is closed without a closing event", id);
    if (!st && event->type == HF_EVENT_WORKFLOW_COMPLETED)
        st = value_of(c, target.base.run, event, HF_KEY_OUTPUT, out);
    else if (!st && event->type == HF_EVENT_WORKFLOW_CANCELLED)
        st = failure_of(c, target.base.run, event, HF_CANCELLED, "cancelled", out_error);
    else if (!st && event->type == HF_EVENT_WORKFLOW_TERMINATED)
        st = failure_of(c, target.base.run, event, HF_CANCELLED, "terminated", out_error);
    else if (!st && event->type == HF_EVENT_WORKFLOW_TIMED_OUT)
        st = failure_of(c, target.base.run, event, HF_ERROR,
                        text_of(c, event, HF_KEY_TIMEOUT_KIND, "timed_out"), out_error);
    else if (!st)
        st = failure_of(c, target.base.run, event, HF_ERROR, "failed", out_error);
    hf_engine_read_end(c->engine);
    return st;
}

static uint64_t changes_now(hf_engine *engine)
{
    uint64_t changes;

    hf_mutex_lock(&engine->lock);
    changes = engine->changes;
    hf_mutex_unlock(&engine->lock);
    return changes;
}

/* Asks `look` until it answers something else than HF_BUSY, or the time is up. */
static hf_status call_await(call *c, hf_ms wait, hf_status (*look)(call *c, void *ctx), void *ctx)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + wait * 1000;
    uint64_t seen = changes_now(c->engine);
    hf_status st;

    while ((st = look(c, ctx)) == HF_BUSY) {
        hf_err failure;

        if (hf_core_failure(c->engine->core, &failure))
            return hf_err_set(&c->slot->err, HF_STOPPED, "the engine stopped (%s): %s",
                              hf_strstatus(failure.status), failure.text);
        if (wait <= 0 && c->engine->mode == ENGINE_THREADS)
            return hf_err_set(&c->slot->err, HF_TIMEOUT, "it is not done yet");
        st = hf_engine_wait(c->engine, c->awaits, c->awaits_end, &seen, until_us, &c->slot->err);
        if (st)
            return st;
    }
    return st;
}

typedef struct result_call {
    const char *id;
    hf_value *out;
    const hf_error **error;
} result_call;

static hf_status result_ask(call *c, void *ctx)
{
    const result_call *ask = ctx;

    return result_look(c, ask->id, ask->out, ask->error);
}

hf_status hf_result(hf_engine *engine, const char *id, hf_ms wait, hf_value *out,
                    const hf_error **err)
{
    hf_value ignored = NULL;
    result_call ask = {.id = id, .out = out ? out : &ignored, .error = err};
    call c;
    hf_status st = call_begin(&c, engine);

    *ask.out = NULL;
    if (err)
        *err = NULL;
    return st ? st : call_await(&c, wait, result_ask, &ask);
}

typedef struct update_call {
    int64_t run;
    int64_t command;
    hf_value *out;
} update_call;

static bool is_update_end(const hf_event *event, const void *ctx)
{
    const int64_t *command = ctx;
    int64_t time_ms = 0;
    uint64_t key = 0;
    uint32_t counter = 0;
    hf_ulid id;

    if (event->type != HF_EVENT_UPDATE_COMPLETED || !hf_event_id(event, HF_KEY_UPDATE_ID, &id))
        return false;
    hf_ulid_parts(&id, &time_ms, &key, &counter);
    return (int64_t)key == *command;
}

/* An update goes on with the run that follows. */
static hf_status update_follow(call *c, update_call *ask, const hf_event **out_event)
{
    hf_status st = event_find(c, ask->run, 1, is_update_end, &ask->command, out_event);

    while (!st && !*out_event) {
        const hf_db_value run = hf_db_int(ask->run);
        bool found = false;
        int64_t next = 0;

        st = hf_db_number(c->in.db, HF_STMT_RUN_NEXT, &run, 1, &found, &next, &c->slot->err);
        if (st || !found)
            break;
        ask->run = next;
        st = event_find(c, ask->run, 1, is_update_end, &ask->command, out_event);
    }
    return st;
}

static hf_status update_ask(call *c, void *ctx)
{
    update_call *ask = ctx;
    const hf_event *event = NULL;
    hf_slice message;
    hf_status st;

    hf_mem_reset(c->slot->scratch);
    c->in.db = hf_engine_read_begin(c->engine);
    st = update_follow(c, ask, &event);
    c->awaits = ask->run;
    c->awaits_end = false;
    if (!st && !event)
        st = HF_BUSY;
    else if (!st && hf_event_text(event, HF_KEY_MESSAGE, &message))
        st = failure_of(c, ask->run, event, HF_ERROR, "update_failed", NULL);
    else if (!st)
        st = value_of(c, ask->run, event, HF_KEY_RESULT, ask->out);
    hf_engine_read_end(c->engine);
    return st;
}

hf_status hf_update(hf_engine *engine, const char *id, const char *name, hf_value args, hf_ms wait,
                    hf_value *out)
{
    hf_value ignored = NULL;
    update_call ask = {.out = out ? out : &ignored};
    call c;
    hf_status st = call_begin(&c, engine);

    *ask.out = NULL;
    if (!st)
        st = message_send(&c, id, HF_TARGET_UPDATE, name, args, &ask.run, &ask.command);
    return st ? st : call_await(&c, wait, update_ask, &ask);
}

static hf_status stop_draft(call *c, const hf_intake_target *target, bool terminate,
                            hf_slice reason, hf_unit *unit, const hf_effect **out_effects)
{
    hf_mem *mem = hf_unit_mem(unit);
    int64_t command = 0;
    hf_decide_run run = {.base = &target->base, .queue = target->queue, .parent_run = HF_NONE};
    hf_decide decide = {.unit = unit,
                        .stager = &c->slot->stager,
                        .keys = c->in.keys,
                        .run = &run,
                        .now_us = c->in.now_us};
    hf_command_row row = {.instance = target->base.instance,
                          .run = target->base.run,
                          .type = terminate ? HF_COMMAND_TYPE_TERMINATE : HF_COMMAND_TYPE_CANCEL,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome =
                              terminate ? HF_CMD_OUTCOME_TERMINATED : HF_CMD_OUTCOME_CANCELLED,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = HF_COMMAND_SOURCE_EMBEDDED,
                          .command_ahead = 1,
                          .message_ahead = HF_NONE,
                          .state = HF_NONE,
                          .recorded_us = c->in.now_us,
                          .applied_us = c->in.now_us,
                          .closed_us = c->in.now_us};
    hf_open_work *open = NULL;
    hf_open_child *children = NULL;
    hf_open_message *updates = NULL;
    hf_status st = hf_keys_take(c->in.keys, 1, &command, &c->slot->err);

    c->in.db = hf_engine_read_begin(c->engine);
    if (!st)
        st = hf_open_work_read(c->in.db, mem, target->base.run, &open, &run.open_count,
                               &run.parent_run, &c->slot->err);
    if (!st)
        st = hf_open_children_read(c->in.db, mem, target->base.run, &children, &run.child_count,
                                   &c->slot->err);
    if (!st)
        st = hf_open_updates_read(c->in.db, mem, target->base.run, &updates, &run.message_count,
                                  &c->slot->err);
    hf_engine_read_end(c->engine);
    if (st)
        return st;
    run.open = open;
    run.children = children;
    run.messages = updates;
    row.key = command;
    hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_NEVER);
    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    hf_decide_stop(&decide, terminate, command, reason);
    *out_effects = decide.effects;
    return decide.failure.status
               ? hf_err_set(&c->slot->err, decide.failure.status, "%s", decide.failure.text)
               : HF_OK;
}

static hf_status run_stop(hf_engine *engine, const char *id, const char *reason, bool terminate)
{
    call c;
    hf_intake_target target;
    hf_status st = call_begin(&c, engine);

    if (st)
        return st;
    st = HF_CONFLICT;
    for (int i = 0; st == HF_CONFLICT && i < CONFLICT_TRIES;
         i++) { /* code may be running meanwhile */
        hf_unit *unit = hf_unit_new(NULL, NULL);
        const hf_effect *effects = NULL;

        if (!unit)
            return hf_err_nomem(&c.slot->err, "a command");
        st = call_find(&c, id, &target);
        if (!st && target.base.closed_us != HF_NONE)
            st = hf_err_set(&c.slot->err, HF_REJECTED, "run_not_active: the run of %s is closed",
                            id);
        if (!st)
            st = stop_draft(&c, &target, terminate, hf_slice_of(reason), unit, &effects);
        if (!st)
            st = call_commit(&c, unit);
        for (; !st && effects; effects = effects->next) /* its parent, its children */
            hf_core_notify(engine->core, effects->run);
        hf_unit_free(unit);
    }
    if (!st) {
        hf_core_notify(engine->core, target.base.run);
        hf_engine_changed(engine, target.base.run, true);
    }
    return st;
}

hf_status hf_cancel(hf_engine *engine, const char *id, const char *reason)
{
    return run_stop(engine, id, reason, false);
}

hf_status hf_terminate(hf_engine *engine, const char *id, const char *reason)
{
    return run_stop(engine, id, reason, true);
}

/* The asker sleeps until the core's thread has answered. */
typedef struct asker {
    hf_engine *engine;
    bool done;
} asker;

static void asker_done(hf_core_ask *ask)
{
    asker *who = ask->ctx;

    hf_mutex_lock(&who->engine->lock);
    who->done = true;
    hf_cond_broadcast(&who->engine->changed);
    hf_mutex_unlock(&who->engine->lock);
}

hf_status hf_query(hf_engine *engine, const char *id, const char *name, hf_value args,
                   hf_value *out)
{
    asker who = {.engine = engine};
    hf_intake_target target;
    hf_core_ask ask;
    call c;
    hf_status st = call_begin(&c, engine);

    if (st)
        return st;
    if (!name || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE,
                          "a query needs a name and a place for its answer");
    *out = NULL;
    st = call_find(&c, id, &target);
    ask = (hf_core_ask){.run = st ? 0 : target.base.run,
                        .name = hf_slice_of(name),
                        .args = args,
                        .mem = c.slot->mem,
                        .done = asker_done,
                        .ctx = &who};
    if (!st)
        st = hf_core_query(engine->core, &ask, &c.slot->err);
    if (st)
        return st;
    if (engine->mode != ENGINE_THREADS)
        while (!who.done)
            (void)hf_core_step(engine->core);
    hf_mutex_lock(&engine->lock);
    while (!who.done)
        hf_cond_wait(&engine->changed, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    *out = ask.answer;
    if (ask.status)
        c.slot->err = ask.err;
    return ask.status;
}
