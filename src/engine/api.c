/* api.c: the commands of holdfast.h, each a request to the one command path (command.h). Nothing is
   acknowledged before the commit. */
#include <string.h>

#include "base/value.h"
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/command.h"
#include "engine/remote.h"
#include "engine/start.h"

hf_status hf_reply_status(const hf_reply *reply, hf_slice id, hf_err *err)
{
    hf_rejection_reason reason = (hf_rejection_reason)reply->rejection;

    if (reply->status == HF_COMMAND_STATUS_ACCEPTED)
        return HF_OK;
    return hf_err_set(
        err, reason == HF_REJECTION_INSTANCE_ALREADY_STARTED ? HF_EXISTS : HF_REJECTED,
        "%s: %.*s: %s", hf_rejection_reason_text(reason), (int)id.len, id.ptr, reply->why);
}

static hf_status request_send(hf_call *c, const hf_request *request, hf_reply *reply)
{
    hf_err *err = &c->slot->err;
    hf_status st = hf_engine_command(c->engine, request, c->slot->scratch, reply, err);

    return st ? st : hf_reply_status(reply, request->id, err);
}

/* "done,failed" as bits; "none": the key is neither an address nor unique. */
static hf_status correlation_read(const hf_start_keys *keys, hf_intake_start *start, hf_err *err)
{
    hf_slice rest = keys->correlation_scope;
    hf_slice word;

    start->correlation_key = keys->correlation_key;
    while (rest.len && hf_slice_split(&rest, ',', &word)) {
        word = hf_slice_trim(word);
        if (hf_slice_equal(word, HF_SLICE("none")))
            start->correlation_key = (hf_slice){0};
        else if (hf_slice_equal(word, HF_SLICE("done")))
            start->correlation_scope |= 1;
        else if (hf_slice_equal(word, HF_SLICE("failed")))
            start->correlation_scope |= 2;
        else if (!hf_slice_equal(word, HF_SLICE("open")))
            return hf_err_set(err, HF_INVALID,
                              "a correlation scope is none, open, done, failed or several of them, "
                              "not %.*s",
                              (int)word.len, word.ptr);
    }
    return HF_OK;
}

hf_start_keys hf_start_keys_of(const hf_start_opts *opts)
{
    return (hf_start_keys){.correlation_key = hf_slice_of(opts->correlation_key),
                           .correlation_scope = hf_slice_of(opts->correlation_scope),
                           .priority = opts->priority,
                           .concurrency_key = hf_slice_of(opts->concurrency_key),
                           .rate_limit = hf_slice_of(opts->rate_limit),
                           .weight = opts->weight};
}

hf_status hf_start_keys_read(const hf_start_keys *keys, hf_intake_start *start, hf_err *err)
{
    if (keys->priority < 0 || keys->priority > 99)
        return hf_err_set(err, HF_INVALID, "a priority is 1 to 99, not %lld",
                          (long long)keys->priority);
    if (keys->weight && !keys->rate_limit.ptr)
        return hf_err_set(err, HF_INVALID, "a weight of %lld needs a rate limit",
                          (long long)keys->weight);
    start->priority = keys->priority;
    start->concurrency_key = keys->concurrency_key;
    start->rate_limit = keys->rate_limit;
    start->weight = keys->rate_limit.ptr && !keys->weight ? 1 : keys->weight;
    return correlation_read(keys, start, err);
}

/* What is more than copied: keys and times. */
static hf_status start_more(const hf_call *c, const hf_start_opts *opts, hf_intake_start *start,
                            hf_err *err)
{
    const hf_start_keys keys = hf_start_keys_of(opts);
    const hf_ms timeouts[] = {opts->execution_timeout, opts->run_timeout};

    if (opts->delay < 0 || opts->delay > hf_years(100)) /* beyond, it is a typing mistake */
        return hf_err_set(err, HF_INVALID, "a start cannot be delayed by %lld ms",
                          (long long)opts->delay);
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++)
        if (timeouts[i] < 0 || timeouts[i] > hf_years(100))
            return hf_err_set(err, HF_INVALID, "a run cannot have a timeout of %lld ms",
                              (long long)timeouts[i]);
    if (opts->duplicate != HF_DUP_REJECT && opts->duplicate != HF_DUP_RETURN_EXISTING)
        return hf_err_set(err, HF_INVALID, "there is no way %d to take a duplicate",
                          (int)opts->duplicate);
    if (opts->delay)
        start->available_us = hf_clock_after(c->in.now_us, opts->delay);
    return hf_start_keys_read(&keys, start, err);
}

static hf_intake_start start_of(const char *type, const hf_start_opts *opts)
{
    return (hf_intake_start){.type = hf_slice_of(type),
                             .id = hf_slice_of(opts->id),
                             .input = opts->in,
                             .business_key = hf_slice_of(opts->business_key),
                             .queue = hf_slice_of(opts->queue ? opts->queue : "default"),
                             .execution_timeout_us = hf_clock_after(0, opts->execution_timeout),
                             .run_timeout_us = hf_clock_after(0, opts->run_timeout),
                             .labels = hf_slice_of(opts->labels),
                             .memo = hf_slice_of(opts->memo),
                             .attributes = hf_slice_of(opts->search_attributes),
                             .duplicate = opts->duplicate == HF_DUP_RETURN_EXISTING
                                              ? HF_DUPLICATE_POLICY_RETURN_EXISTING_ACTIVE
                                              : HF_DUPLICATE_POLICY_REJECT_DUPLICATE};
}

hf_status hf_start_read(const hf_call *call, const char *type, const hf_start_opts *opts,
                        hf_intake_start *out_start, hf_slice *out_request_id, hf_err *err)
{
    hf_start_opts known = {0};
    hf_status st = hf_options_take(&known, sizeof(known), opts, err);

    *out_start = start_of(type, &known);
    *out_request_id = hf_slice_of(known.request_id);
    return st ? st : start_more(call, &known, out_start, err);
}

static hf_status start_send(hf_engine *engine, const char *type, const hf_start_opts *opts,
                            hf_request request)
{
    hf_intake_start start;
    engine_slot *slot;
    hf_reply reply;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot))
        return slot && type ? hf_remote_start(engine->remote, type, opts,
                                              request.name.ptr ? request.name.ptr : NULL,
                                              request.args, slot->mem, &slot->err)
                            : HF_MISUSE;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    if (!type || !opts)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a type and options are needed");
    st = hf_start_read(&c, type, opts, &start, &request.request_id, &c.slot->err);
    if (st)
        return st;
    request.id = start.id;
    request.start = &start;
    return request_send(&c, &request, &reply);
}

hf_status hf_start_with(hf_engine *engine, const char *type, const hf_start_opts *opts)
{
    return start_send(engine, type, opts, (hf_request){.type = HF_COMMAND_TYPE_START});
}

hf_status hf_signal_with_start(hf_engine *engine, const char *type, const hf_start_opts *opts,
                               const char *signal, hf_value args)
{
    return start_send(
        engine, type, opts,
        (hf_request){.type = HF_COMMAND_TYPE_SIGNAL, .name = hf_slice_of(signal), .args = args});
}

/* The instance that an id names is there: is it of that type? */
static hf_status reserved_check(hf_call *c, hf_slice type, hf_slice id)
{
    hf_intake_target target;
    hf_status st = hf_call_aim(c, id, (hf_slice){0}, &target, &c->slot->err);

    if (!st && !hf_slice_equal(target.instance.type, type))
        st = hf_err_set(&c->slot->err, HF_EXISTS, "%.*s exists already, of type %.*s", (int)id.len,
                        id.ptr, (int)target.instance.type.len, target.instance.type.ptr);
    return st;
}

hf_status hf_reserve(hf_engine *engine, const char *type, const char *id, const char **out_id)
{
    hf_instance_row instance;
    hf_unit *unit = NULL;
    engine_slot *slot;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot))
        return slot && type
                   ? hf_remote_reserve(engine->remote, type, id, slot->mem, out_id, &slot->err)
                   : HF_MISUSE;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    if (!type)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a type is needed");
    unit = hf_unit_new(NULL, NULL);
    if (!unit)
        return hf_err_nomem(&c.slot->err, "an instance");
    st = hf_intake_reserve_draft(&c.in, hf_slice_of(type), hf_slice_of(id), unit, &instance,
                                 &c.slot->err);
    if (!st)
        st = hf_unit_seal(unit, &c.slot->stager, &c.slot->err);
    if (!st)
        st = hf_engine_commit(engine, unit, &c.slot->err);
    if (!st && !hf_unit_row_applied(unit, 0))
        st = reserved_check(&c, hf_slice_of(type), instance.id);
    if (!st && out_id) {
        *out_id = hf_mem_text(c.slot->mem, instance.id);
        st = *out_id ? HF_OK : hf_err_nomem(&c.slot->err, "an id");
    }
    hf_unit_free(unit);
    return st;
}

hf_status hf_signal_dedup(hf_engine *engine, const char *id, const char *name, hf_value args,
                          const char *dedup_key)
{
    hf_command_result result;
    engine_slot *slot;
    hf_reply reply;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot))
        return slot ? hf_remote_order(
                          engine->remote, "signal",
                          hf_json_(slot->mem,
                                   "{'workflow_id': %s, 'name': %s, 'arguments': %p, "
                                   "'request_id': %s}",
                                   id, name,
                                   args ? (const void *)args : (const void *)hf_value_null(),
                                   dedup_key),
                          slot->mem, &result, &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    st = request_send(&c,
                      &(hf_request){.type = HF_COMMAND_TYPE_SIGNAL,
                                    .id = hf_slice_of(id),
                                    .name = hf_slice_of(name),
                                    .args = args,
                                    .dedup_key = hf_slice_of(dedup_key)},
                      &reply);
    return st == HF_NOTFOUND ? hf_err_because(&c.slot->err, st, "no_target") : st;
}

hf_status hf_signal(hf_engine *engine, const char *id, const char *name, hf_value args)
{
    return hf_signal_dedup(engine, id, name, args, NULL);
}

hf_status hf_update(hf_engine *engine, const char *id, const char *name, hf_value args, hf_ms wait,
                    hf_value *out)
{
    hf_value ignored = NULL;
    hf_update_life life;
    engine_slot *slot;
    hf_reply reply;
    hf_call c;
    hf_status st;

    if (!out)
        out = &ignored;
    *out = NULL;
    if (hf_call_remote(engine, &slot))
        return slot ? hf_remote_update(engine->remote, id, name, args, wait, slot->mem, out,
                                       &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (!st)
        st = request_send(&c,
                          &(hf_request){.type = HF_COMMAND_TYPE_UPDATE,
                                        .id = hf_slice_of(id),
                                        .name = hf_slice_of(name),
                                        .args = args},
                          &reply);
    if (!st)
        st = hf_answer_await(&c, reply.command, wait, c.slot->mem, &life);
    if (st)
        return st;
    if (life.failure)
        return hf_err_set(&c.slot->err, HF_ERROR, "%s: %s", life.failure->type,
                          life.failure->message);
    *out = life.result;
    return HF_OK;
}

static hf_status order_remote(hf_remote *remote, hf_command_type type, const char *id,
                              const hf_order_opts *o, engine_slot *slot)
{
    hf_command_result result;
    hf_order_opts opts = {0};
    hf_status st = hf_options_take(&opts, sizeof(opts), o, &slot->err);

    if (st)
        return st;
    return hf_remote_order(
        remote, hf_command_type_text(type),
        hf_json_(slot->mem,
                 "{'workflow_id': %s, 'run_id': %s, 'reason': %s, 'request_id': %s, "
                 "'cleanup': %p}",
                 id, opts.run_id, opts.reason, opts.request_id,
                 type == HF_COMMAND_TYPE_CANCEL && opts.cleanup ? (const void *)hf_value_bool(true)
                                                                : (const void *)hf_value_null()),
        slot->mem, &result, &slot->err);
}

static hf_status run_order(hf_engine *engine, hf_command_type type, const char *id,
                           const hf_order_opts *o)
{
    hf_order_opts opts = {0};
    hf_cancel_more more;
    engine_slot *slot;
    hf_reply reply;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot))
        return slot ? order_remote(engine->remote, type, id, o, slot) : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (!st)
        st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    more.cleanup = opts.cleanup;
    return request_send(&c,
                        &(hf_request){.type = type,
                                      .id = hf_slice_of(id),
                                      .run_id = hf_slice_of(opts.run_id),
                                      .request_id = hf_slice_of(opts.request_id),
                                      .reason = hf_slice_of(opts.reason),
                                      .more = type == HF_COMMAND_TYPE_CANCEL ? &more : NULL},
                        &reply);
}

hf_status hf_cancel_with(hf_engine *engine, const char *id, const hf_order_opts *o)
{
    return run_order(engine, HF_COMMAND_TYPE_CANCEL, id, o);
}

hf_status hf_cancel(hf_engine *engine, const char *id, const char *reason)
{
    return hf_cancel_with(engine, id, &(hf_order_opts){.size_ = sizeof(hf_order_opts), reason});
}

hf_status hf_terminate_with(hf_engine *engine, const char *id, const hf_order_opts *o)
{
    return run_order(engine, HF_COMMAND_TYPE_TERMINATE, id, o);
}

hf_status hf_terminate(hf_engine *engine, const char *id, const char *reason)
{
    return hf_terminate_with(engine, id, &(hf_order_opts){.size_ = sizeof(hf_order_opts), reason});
}

hf_status hf_pause_with(hf_engine *engine, const char *id, const hf_order_opts *o)
{
    return run_order(engine, HF_COMMAND_TYPE_PAUSE, id, o);
}

hf_status hf_resume_with(hf_engine *engine, const char *id, const hf_order_opts *o)
{
    return run_order(engine, HF_COMMAND_TYPE_RESUME, id, o);
}

static hf_status copy_remote(hf_remote *remote, hf_command_type type, const char *id,
                             const hf_copy_opts *o, const char **out_id, engine_slot *slot)
{
    hf_command_result result;
    hf_copy_opts opts = {0};
    hf_status st = hf_options_take(&opts, sizeof(opts), o, &slot->err);

    if (!st)
        st = hf_remote_order(
            remote, hf_command_type_text(type),
            hf_json_(slot->mem,
                     "{'workflow_id': %s, 'run_id': %s, 'step': %lld, 'new_workflow_id': %s, "
                     "'signals': %s, 'reason': %s, 'request_id': %s}",
                     id, opts.run_id, (long long)opts.step, opts.id, opts.signals, opts.reason,
                     opts.request_id),
            slot->mem, &result, &slot->err);
    if (!st && out_id)
        *out_id = result.instance_id;
    return st;
}

static hf_status run_copy(hf_engine *engine, hf_command_type type, const char *id,
                          const hf_copy_opts *o, const char **out_id)
{
    hf_copy_opts opts = {0};
    hf_copy_more more;
    engine_slot *slot;
    hf_reply reply;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot))
        return slot ? copy_remote(engine->remote, type, id, o, out_id, slot) : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (!st)
        st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    more = (hf_copy_more){
        .step = opts.step, .id = hf_slice_of(opts.id), .signals = hf_slice_of(opts.signals)};
    st = request_send(&c,
                      &(hf_request){.type = type,
                                    .id = hf_slice_of(id),
                                    .run_id = hf_slice_of(opts.run_id),
                                    .request_id = hf_slice_of(opts.request_id),
                                    .reason = hf_slice_of(opts.reason),
                                    .more = &more},
                      &reply);
    if (!st && out_id) {
        *out_id = hf_mem_text(c.slot->mem, hf_slice_of(reply.instance_id));
        st = *out_id ? HF_OK : hf_err_nomem(&c.slot->err, "an id");
    }
    return st;
}

hf_status hf_fork_with(hf_engine *engine, const char *id, const hf_copy_opts *o,
                       const char **out_id)
{
    return run_copy(engine, HF_COMMAND_TYPE_FORK, id, o, out_id);
}

hf_status hf_reset_with(hf_engine *engine, const char *id, const hf_copy_opts *o)
{
    return run_copy(engine, HF_COMMAND_TYPE_RESET, id, o, NULL);
}

hf_status hf_archive_with(hf_engine *engine, const char *id, const hf_order_opts *o)
{
    return run_order(engine, HF_COMMAND_TYPE_ARCHIVE, id, o);
}
