/* command_wire.c: hf_command: a command and its options by the names the wire has for them, and its
   answer as the wire's envelope. Everything it does is to translate. */
#include <string.h>

#include "base/value.h"
#include "engine/answer.h"
#include "engine/ask.h"
#include "engine/look.h"
#include "engine/remote.h"
#include "engine/start.h"
#include "project/edge.h"
#include "engine/command_impl.h"

/* ---- the request */

/* A text of the request; ptr NULL when it is missing or null. */
static hf_status text_at(hf_value request, const char *key, hf_slice *out_text, hf_err *err)
{
    hf_value value = hf_value_find(request, hf_slice_of(key));

    *out_text = (hf_slice){0};
    if (hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    if (hf_value_kind_of(value) != HF_VALUE_STRING)
        return hf_err_set(err, HF_INVALID, "%s must be a string", key);
    *out_text = hf_value_slice(value);
    return HF_OK;
}

/* A whole number of seconds as microseconds; 0 when it is missing. Below 1: HF_INVALID. */
static hf_status seconds_at(hf_value request, const char *key, int64_t *out_us, hf_err *err)
{
    const int64_t most = hf_years(100) / 1000;
    hf_value value = hf_value_find(request, hf_slice_of(key));
    int64_t seconds = hf_int(request, key, 0);

    *out_us = 0;
    if (hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    if (seconds < 1)
        return hf_err_set(err, HF_INVALID, "%s must be at least 1", key);
    if (seconds > most)
        return hf_err_set(err, HF_INVALID, "%s must be at most %lld", key, (long long)most);
    *out_us = seconds * 1000000;
    return HF_OK;
}

/* A whole number from 1 on; 0 when it is missing. */
static hf_status number_at(hf_value request, const char *key, int64_t *out_number, hf_err *err)
{
    hf_value value = hf_value_find(request, hf_slice_of(key));

    *out_number = hf_int(request, key, 0);
    if (hf_value_kind_of(value) != HF_VALUE_NULL &&
        (hf_value_kind_of(value) != HF_VALUE_INT || *out_number < 1))
        return hf_err_set(err, HF_INVALID, "%s must be a whole number from 1 on", key);
    return HF_OK;
}

/* An object of the request as JSON text; ptr NULL when it is missing. */
static hf_status object_at(hf_value request, const char *key, hf_mem *mem, hf_slice *out_json,
                           hf_err *err)
{
    hf_value value = hf_value_find(request, hf_slice_of(key));
    const char *text;

    *out_json = (hf_slice){0};
    if (hf_value_kind_of(value) == HF_VALUE_NULL)
        return HF_OK;
    text = hf_text(mem, value);
    if (!text)
        return hf_err_nomem(err, key);
    *out_json = hf_slice_of(text);
    return HF_OK;
}

static hf_status duplicate_at(hf_value request, hf_duplicate_policy *out_policy, hf_err *err)
{
    hf_slice word;
    hf_status st = text_at(request, "duplicate_policy", &word, err);

    *out_policy = HF_DUPLICATE_POLICY_REJECT_DUPLICATE;
    if (st || !word.ptr || hf_duplicate_policy_parse(word, out_policy) ||
        hf_slice_equal(word, HF_SLICE("fail")))
        return st;
    if (!hf_slice_equal(word, HF_SLICE("use-existing")))
        return hf_err_set(err, HF_INVALID, "%.*s is no duplicate policy", (int)word.len, word.ptr);
    *out_policy = HF_DUPLICATE_POLICY_RETURN_EXISTING_ACTIVE;
    return HF_OK;
}

static hf_status keys_at(hf_value request, hf_intake_start *start, hf_err *err)
{
    hf_start_keys keys = {0};
    hf_status st = text_at(request, "correlation_key", &keys.correlation_key, err);

    if (!st)
        st = text_at(request, "correlation_scope", &keys.correlation_scope, err);
    if (!st)
        st = text_at(request, "concurrency_key", &keys.concurrency_key, err);
    if (!st)
        st = text_at(request, "rate_limit", &keys.rate_limit, err);
    if (!st)
        st = number_at(request, "priority", &keys.priority, err);
    if (!st)
        st = number_at(request, "weight", &keys.weight, err);
    return st ? st : hf_start_keys_read(&keys, start, err);
}

/* The options of a start. */
static hf_status start_read(hf_value request, hf_mem *mem, int64_t now_us, hf_intake_start *start,
                            hf_err *err)
{
    int64_t delay_us = 0;
    hf_status st = text_at(request, "workflow_type", &start->type, err);

    if (!st && !start->type.ptr)
        st = hf_err_set(err, HF_INVALID, "workflow_type is needed");
    if (!st)
        st = text_at(request, "workflow_id", &start->id, err);
    if (!st)
        st = text_at(request, "business_key", &start->business_key, err);
    if (!st)
        st = text_at(request, "task_queue", &start->queue, err);
    if (!st)
        st = object_at(request, "labels", mem, &start->labels, err);
    if (!st)
        st = object_at(request, "memo", mem, &start->memo, err);
    if (!st)
        st = object_at(request, "search_attributes", mem, &start->attributes, err);
    if (!st)
        st = seconds_at(request, "execution_timeout_seconds", &start->execution_timeout_us, err);
    if (!st)
        st = seconds_at(request, "run_timeout_seconds", &start->run_timeout_us, err);
    if (!st)
        st = seconds_at(request, "delay_seconds", &delay_us, err);
    if (delay_us)
        start->available_us = now_us + delay_us;
    if (!st)
        st = duplicate_at(request, &start->duplicate, err);
    if (!st)
        st = keys_at(request, start, err);
    start->input = hf_value_find(request, HF_SLICE("input"));
    if (!start->queue.ptr)
        start->queue = HF_SLICE("default");
    return st;
}

static hf_status request_read(hf_value value, hf_request *request, hf_err *err)
{
    hf_slice source;
    hf_status st = text_at(value, "workflow_id", &request->id, err);

    if (!st)
        st = text_at(value, "run_id", &request->run_id, err);
    if (!st)
        st = text_at(value, "request_id", &request->request_id, err);
    if (!st)
        st = text_at(value, "dedup_key", &request->dedup_key, err);
    if (!st)
        st = text_at(value, "name", &request->name, err);
    if (!st)
        st = text_at(value, "reason", &request->reason, err);
    if (!st)
        st = text_at(value, "source", &source, err);
    if (!st && source.ptr && !hf_command_source_parse(source, &request->source))
        st = hf_err_set(err, HF_INVALID, "%.*s is no source of commands", (int)source.len,
                        source.ptr);
    request->args = hf_value_find(value, HF_SLICE("arguments"));
    request->context = hf_value_find(value, HF_SLICE("context"));
    if (!st && request->context && hf_value_kind_of(request->context) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "context must be an object");
    return st;
}

/* What one kind of command alone is asked. */
typedef union request_more {
    hf_cancel_more cancel;
    hf_copy_more copy;
    hf_signal_more signal;
} request_more;

static hf_status more_read(hf_value value, hf_request *request, request_more *more, hf_err *err)
{
    hf_status st = HF_OK;

    switch ((int)request->type) {
    case HF_COMMAND_TYPE_CANCEL:
        more->cancel = (hf_cancel_more){.cleanup = hf_bool(value, "cleanup", false)};
        request->more = &more->cancel;
        break;
    case HF_COMMAND_TYPE_SIGNAL:
        more->signal = (hf_signal_more){.step = hf_int(value, "step", 0)};
        request->more = &more->signal;
        if (more->signal.step && (!request->run_id.ptr || more->signal.step < 0))
            st = hf_err_set(err, HF_INVALID, "step is one of the run that run_id names");
        return st;
    case HF_COMMAND_TYPE_FORK:
    case HF_COMMAND_TYPE_RESET:
        more->copy = (hf_copy_more){.step = hf_int(value, "step", 0)};
        st = text_at(value, "new_workflow_id", &more->copy.id, err);
        if (!st)
            st = text_at(value, "signals", &more->copy.signals, err);
        request->more = &more->copy;
        return st;
    }
    return HF_OK;
}

/* ---- the answer */

static void put_text(hf_value_list *object, hf_mem *mem, const char *key, const char *text)
{
    hf_value_set(object, hf_slice_of(key),
                 text && text[0] ? hf_value_string(mem, hf_slice_of(text)) : hf_value_null());
}

static hf_status reply_write(const hf_request *request, const hf_reply *reply, hf_mem *mem,
                             hf_command_result *out, hf_err *err)
{
    bool accepted = reply->status == HF_COMMAND_STATUS_ACCEPTED;
    hf_value_list *object = hf_value_object(mem);
    hf_slice key;
    hf_value item;
    const char *outcome =
        reply->outcome == HF_NONE ? NULL : hf_cmd_outcome_text((hf_cmd_outcome)reply->outcome);
    const char *reason = reply->rejection == HF_NONE
                             ? NULL
                             : hf_rejection_reason_text((hf_rejection_reason)reply->rejection);

    put_text(object, mem, "outcome", outcome);
    put_text(object, mem, "workflow_id", reply->instance_id);
    put_text(object, mem, "run_id", reply->run_id);
    put_text(object, mem, "requested_run_id", reply->requested_run_id);
    put_text(object, mem, "resolved_run_id", reply->run_id);
    put_text(object, mem, "command_id", reply->command_id);
    hf_value_set(object, HF_SLICE("command_sequence"),
                 reply->command_seq == HF_NONE ? hf_value_null()
                                               : hf_value_int(mem, reply->command_seq));
    put_text(object, mem, "target_scope", request->run_id.ptr ? "run" : "instance");
    put_text(object, mem, "workflow_type",
             reply->workflow_type ? reply->workflow_type
             : request->start     ? hf_mem_text(mem, request->start->type)
                                  : NULL);
    put_text(object, mem, "command_status", hf_command_status_text(reply->status));
    put_text(
        object, mem, "command_source",
        hf_command_source_text(request->source ? request->source : HF_COMMAND_SOURCE_EMBEDDED));
    put_text(object, mem, "reason",
             accepted && request->reason.ptr ? hf_mem_text(mem, request->reason) : NULL);
    put_text(object, mem, "rejection_reason", reason);
    hf_value_set(object, HF_SLICE("validation_errors"),
                 reply->validation_errors ? reply->validation_errors : hf_value_null());
    if (reply->validator)
        put_text(object, mem, "refused_by", "validator");
    if (reply->repeated)
        hf_value_set(object, HF_SLICE("repeated"), hf_value_bool(true));
    if (reply->why)
        put_text(object, mem, "message", reply->why);
    for (size_t i = 0; hf_value_member(reply->detail, i, &key, &item); i++)
        hf_value_set(object, key, item);
    if (accepted && request->start && request->type == HF_COMMAND_TYPE_SIGNAL &&
        reply->command_seq != HF_NONE)
        hf_value_set(object, HF_SLICE("start_command_sequence"),
                     hf_value_int(mem, reply->command_seq - 1));
    *out = (hf_command_result){.accepted = accepted,
                               .outcome = outcome,
                               .reason = reason,
                               .command_id = hf_mem_text(mem, hf_slice_of(reply->command_id)),
                               .instance_id = reply->instance_id,
                               .run_id = hf_mem_text(mem, hf_slice_of(reply->run_id)),
                               .detail = hf_value_finish(object)};
    return out->command_id && out->run_id && out->detail ? HF_OK : hf_err_nomem(err, "an answer");
}

/* ---- updates: waiting for the answer, and looking it up */

/* How long the caller waits; wait_ms 0: only until the update is accepted. */
static hf_status wait_read(hf_call *c, hf_value request, int64_t *out_wait_ms, hf_err *err)
{
    int64_t wait_us = 0;
    hf_slice word;
    hf_status st = text_at(request, "wait_for", &word, err);

    *out_wait_ms = 0;
    if (!st)
        st = seconds_at(request, "wait_timeout_seconds", &wait_us, err);
    if (st || hf_slice_equal(word, HF_SLICE("accepted")))
        return st;
    if (word.ptr && !hf_slice_equal(word, HF_SLICE("completed")))
        return hf_err_set(err, HF_INVALID, "wait_for is accepted or completed, not %.*s",
                          (int)word.len, word.ptr);
    *out_wait_ms = wait_us ? wait_us / 1000 : c->engine->settings.update_wait_ms;
    return HF_OK;
}

static hf_value time_value(hf_mem *mem, int64_t time_us)
{
    return time_us == HF_NONE ? hf_value_null() : hf_edge_time(mem, time_us);
}

/* The life of an update as the envelope shows it. */
static hf_status life_write(const hf_update_life *life, const char *update_id, const char *wait_for,
                            int64_t wait_ms, bool timed_out, hf_mem *mem, hf_value *out_detail,
                            hf_err *err)
{
    bool rejected = life->status == HF_UPDATE_STATUS_REJECTED;
    hf_value_list *detail = hf_value_object(mem);

    put_text(detail, mem, "update_id", update_id);
    put_text(detail, mem, "update_status", hf_update_status_text(life->status));
    put_text(detail, mem, "update_name", life->name);
    hf_value_set(detail, HF_SLICE("workflow_sequence"),
                 life->step == HF_NONE ? hf_value_null() : hf_value_int(mem, life->step));
    hf_value_set(detail, HF_SLICE("result"), life->result ? life->result : hf_value_null());
    hf_value_set(detail, HF_SLICE("failure_id"),
                 life->failure ? hf_edge_id(mem, &life->failure_id) : hf_value_null());
    put_text(detail, mem, "failure_type", life->failure ? life->failure->type : NULL);
    put_text(detail, mem, "failure_message", life->failure ? life->failure->message : NULL);
    hf_value_set(detail, HF_SLICE("accepted_at"),
                 rejected ? hf_value_null() : time_value(mem, life->recorded_us));
    hf_value_set(detail, HF_SLICE("rejected_at"),
                 rejected ? time_value(mem, life->recorded_us) : hf_value_null());
    hf_value_set(detail, HF_SLICE("applied_at"), time_value(mem, life->applied_us));
    hf_value_set(detail, HF_SLICE("closed_at"), time_value(mem, life->closed_us));
    put_text(detail, mem, "wait_for", wait_for);
    hf_value_set(detail, HF_SLICE("wait_timed_out"), hf_value_bool(timed_out));
    hf_value_set(detail, HF_SLICE("wait_timeout_seconds"),
                 wait_ms ? hf_value_int(mem, (wait_ms + 999) / 1000) : hf_value_null());
    *out_detail = hf_value_finish(detail);
    return *out_detail ? HF_OK : hf_err_nomem(err, "an answer");
}

static hf_status update_follow(hf_call *c, int64_t wait_ms, hf_reply *reply, hf_mem *mem,
                               hf_err *err)
{
    hf_update_life life = {0};
    hf_status st = wait_ms ? hf_answer_await(c, reply->command, wait_ms, mem, &life)
                           : hf_answer_update(c, reply->command, mem, &life, err);
    bool timed_out = wait_ms && st == HF_TIMEOUT;
    bool stopped = wait_ms && st == HF_STOPPED && life.run; /* it is accepted all the same */
    hf_status written;

    if (st && !timed_out && !stopped)
        return st;
    reply->outcome = life.outcome;
    written = life_write(&life, reply->command_id, wait_ms ? "completed" : "accepted", wait_ms,
                         timed_out, mem, &reply->detail, err);
    return stopped ? st : written;
}

/* The key that an update's id has inside; HF_NOTFOUND: it has none. */
static hf_status update_key(hf_slice text, int64_t *out_key, hf_err *err)
{
    hf_ulid id;

    if (!hf_ulid_parse(text, &id))
        return hf_err_set(err, HF_NOTFOUND, "there is no update %.*s", (int)text.len, text.ptr);
    *out_key = hf_ulid_key(&id);
    return HF_OK;
}

/* "update_status": an update by its id, as it stands. Nothing is recorded. */
static hf_status update_look(hf_call *c, const hf_request *asked, hf_value request, hf_mem *mem,
                             hf_command_result *out, hf_err *err)
{
    hf_reply reply = {.status = HF_COMMAND_STATUS_ACCEPTED, .command_seq = HF_NONE};
    hf_intake_target target;
    hf_update_life life;
    hf_slice id;
    hf_status st = text_at(request, "update_id", &id, err);

    if (!st)
        st = update_key(id, &reply.command, err);
    if (!st)
        st = hf_call_aim(c, asked->id, asked->run_id, &target, err);
    if (!st)
        st = hf_answer_update(c, reply.command, mem, &life, err);
    if (!st && (life.instance != target.instance.key ||
                (asked->run_id.ptr && life.run != target.base.run)))
        st = hf_err_set(err, HF_NOTFOUND, "there is no update %.*s", (int)id.len, id.ptr);
    if (st)
        return st;
    if (life.status == HF_UPDATE_STATUS_REJECTED)
        reply.status = HF_COMMAND_STATUS_REJECTED;
    reply.outcome = life.outcome;
    reply.rejection = life.rejection;
    reply.command_seq = life.command_seq;
    reply.instance_id = hf_mem_text(mem, asked->id);
    reply.workflow_type = hf_mem_text(mem, target.instance.type);
    hf_command_id_print(life.recorded_us, reply.command, reply.command_id);
    if (life.run != HF_NONE)
        hf_command_id_print(life.run_us, life.run, reply.run_id);
    st = life_write(&life, reply.command_id, "status", 0, false, mem, &reply.detail, err);
    return st ? st : reply_write(asked, &reply, mem, out, err);
}

/* ---- queries */

static hf_status query_ask(hf_call *c, const hf_request *asked, hf_mem *mem, hf_command_result *out,
                           hf_err *err)
{
    char run_id[HF_ULID_TEXT_SIZE] = "";
    hf_value_list *detail = hf_value_object(mem);
    hf_ask_answer answer;
    hf_status st =
        hf_ask_query(c, asked->id, asked->run_id, asked->name, asked->args, mem, &answer, err);

    if (st)
        return st;
    if (answer.target.base.run != HF_NONE)
        hf_command_id_print(answer.target.created_us, answer.target.base.run, run_id);
    put_text(detail, mem, "workflow_id", hf_mem_text(mem, asked->id));
    put_text(detail, mem, "run_id", run_id);
    put_text(detail, mem, "target_scope", asked->run_id.ptr ? "run" : "instance");
    put_text(detail, mem, "query_name", hf_mem_text(mem, asked->name));
    if (answer.refused) {
        put_text(detail, mem, "reason", answer.refused);
        put_text(detail, mem, "message", answer.why);
        hf_value_set(detail, HF_SLICE("validation_errors"),
                     answer.validation_errors ? answer.validation_errors : hf_value_null());
    } else {
        hf_value_set(detail, HF_SLICE("result"), answer.value ? answer.value : hf_value_null());
    }
    *out = (hf_command_result){.accepted = !answer.refused,
                               .reason = answer.refused,
                               .instance_id = hf_mem_text(mem, asked->id),
                               .run_id = hf_mem_text(mem, hf_slice_of(run_id)),
                               .detail = hf_value_finish(detail)};
    return out->instance_id && out->run_id && out->detail ? HF_OK : hf_err_nomem(err, "an answer");
}

/* ---- the call */

static hf_status command_send(hf_call *c, const hf_request *asked, int64_t wait_ms, hf_mem *mem,
                              hf_command_result *out, hf_err *err)
{
    hf_reply reply = {0};
    hf_status written;
    hf_status st = hf_engine_command(c->engine, asked, mem, &reply, err);

    if (!st && asked->type == HF_COMMAND_TYPE_UPDATE && !asked->dry &&
        reply.status == HF_COMMAND_STATUS_ACCEPTED)
        st = update_follow(c, wait_ms, &reply, mem, err);
    if (st && reply.status != HF_COMMAND_STATUS_REJECTED && !reply.detail)
        return st;
    written = reply_write(asked, &reply, mem, out, err);
    return st ? st : written;
}

/* What the request of a command may have. */
#define MEMBERS "workflow_id run_id request_id dedup_key name reason source arguments context"
#define STARTS                                                                                     \
    " workflow_type business_key task_queue labels memo search_attributes "                        \
    "execution_timeout_seconds run_timeout_seconds delay_seconds duplicate_policy input "          \
    "correlation_key correlation_scope priority concurrency_key rate_limit weight"

static hf_status members_check(const char *command, hf_value request, hf_err *err)
{
    static const struct {
        const char *command;
        const char *members;
    } rows[] = {{"start", MEMBERS STARTS},
                {"signal_with_start", MEMBERS STARTS},
                {"signal", MEMBERS " step"},
                {"cancel", MEMBERS " cleanup"},
                {"fork", MEMBERS " step new_workflow_id signals"},
                {"reset", MEMBERS " step new_workflow_id signals"},
                {"update", MEMBERS " wait_for wait_timeout_seconds"},
                {"update_status", MEMBERS " update_id"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].command, command) == 0)
            return hf_look_members(request, rows[i].members, err);
    return hf_look_members(request, MEMBERS, err);
}

hf_status hf_start_read_wire(const hf_call *call, hf_value request, hf_mem *mem,
                             hf_intake_start *out_start, hf_request *out_request, hf_err *err)
{
    hf_status st = members_check("start", request, err);

    *out_start = (hf_intake_start){0};
    *out_request = (hf_request){.type = HF_COMMAND_TYPE_START, .start = out_start};
    if (!st)
        st = request_read(request, out_request, err);
    return st ? st : start_read(request, mem, call->in.now_us, out_start, err);
}

static hf_status command_ask(hf_call *c, const char *command, hf_value request, bool dry,
                             hf_mem *mem, hf_command_result *out)
{
    hf_intake_start start = {0};
    hf_request asked = {.dry = dry};
    hf_err *err = &c->slot->err;
    request_more more;
    int64_t wait_ms = 0;
    bool both;
    hf_status st;

    *out = (hf_command_result){0};
    st = members_check(command, request, err);
    if (!st)
        st = request_read(request, &asked, err);
    if (!st && strcmp(command, "query") == 0)
        return query_ask(c, &asked, mem, out, err);
    if (!st && strcmp(command, "update_status") == 0)
        return update_look(c, &asked, request, mem, out, err);
    both = strcmp(command, "signal_with_start") == 0;
    if (!st && !hf_command_type_parse(hf_slice_of(both ? "signal" : command), &asked.type))
        st = hf_err_set(err, HF_INVALID, "there is no command %s", command);
    if (!st && (both || asked.type == HF_COMMAND_TYPE_START)) {
        st = start_read(request, mem, c->in.now_us, &start, err);
        asked.start = &start;
    }
    if (!st)
        st = more_read(request, &asked, &more, err);
    if (!st && asked.type == HF_COMMAND_TYPE_UPDATE)
        st = wait_read(c, request, &wait_ms, err);
    return st ? st : command_send(c, &asked, wait_ms, mem, out, err);
}

hf_status hf_command_dry(hf_engine *engine, const char *command, hf_value request, hf_mem *mem,
                         hf_command_result *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    return st ? st : command_ask(&c, command, request, true, mem, out);
}

hf_status hf_command(hf_engine *engine, const char *command, hf_value request, hf_mem *mem,
                     hf_command_result *out)
{
    engine_slot *slot;
    hf_call c;
    hf_status st;

    if (hf_call_remote(engine, &slot)) {
        if (!slot || !command || !mem || !out)
            return HF_MISUSE;
        st = members_check(command, request, &slot->err);
        return st ? st : hf_remote_command(engine->remote, command, request, mem, out, &slot->err);
    }
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    if (!command || !mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE,
                          "a command, an arena and a place for the answer");
    return command_ask(&c, command, request, false, mem, out);
}
