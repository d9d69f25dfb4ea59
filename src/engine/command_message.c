/* command_message.c: signals and updates. An update is refused while a signal that came before it
   is not applied, unless the engine is told to queue it; then it waits behind the signal. */
#include "base/value.h"
#include "engine/approval.h"
#include "engine/ask.h"
#include "engine/command_impl.h"
#include "engine/nudge.h"

/* What the handlers work out before they draft. */
typedef struct message_draft {
    hf_intake_message message;
    hf_value args;
    hf_slice json;
    hf_intake_ahead ahead;
} message_draft;

/* Told once, by the message that comes near. */
static void count_warn(const hf_handling *h, hf_limit limit, int64_t most, int64_t count)
{
    const hf_log_field fields[] = {hf_log_text("instance_id", h->request->id),
                                   hf_log_text("limit", hf_slice_of(hf_limit_text(limit))),
                                   hf_log_int("value", count), hf_log_int("configured", most)};

    hf_log_write(&h->call->engine->log, HF_LOG_WARN, "a run comes near a structural limit", fields,
                 sizeof(fields) / sizeof(fields[0]));
}

/* Too many messages wait already. */
static hf_status count_check(hf_handling *h, bool update, hf_intake_refusal *refusal, hf_err *err)
{
    const hf_settings *settings = &h->call->engine->settings;
    hf_limit limit = update ? HF_LIMIT_PENDING_UPDATE_COUNT : HF_LIMIT_PENDING_SIGNAL_COUNT;
    int64_t most = hf_limits_get(&settings->limits, limit);
    int64_t open = update ? h->target.base.open_updates : h->target.base.open_signals;

    if (hf_limit_trips(limit, most, open))
        return hf_intake_limit_refuse(hf_unit_mem(h->unit), limit, most, open, refusal, err);
    if (open + 1 == hf_limit_warning(
                        most, hf_limits_get(&settings->limits, HF_LIMIT_WARNING_THRESHOLD_PERCENT)))
        count_warn(h, limit, most, open + 1);
    return HF_OK;
}

/* What the declaration and the limits say of the message; the store is being read. */
static hf_status message_judge(hf_handling *h, message_draft *draft, hf_intake_refusal *refusal,
                               hf_err *err)
{
    const hf_intake *in = &h->call->in;
    bool update = draft->message.update;
    hf_status st =
        hf_intake_message_fit(in, h->target.definition, &draft->message, hf_unit_mem(h->unit),
                              &draft->args, &draft->json, refusal, err);

    if (!st && refusal->outcome && !h->known)
        st = hf_call_drift_tell(h->call, &h->target, update ? HF_TARGET_UPDATE : HF_TARGET_SIGNAL,
                                draft->message.name, hf_unit_mem(h->unit), refusal, err);
    if (!st && !refusal->outcome)
        st = count_check(h, update, refusal, err);
    if (!st && !refusal->outcome && update && h->call->engine->settings.updates_queue &&
        h->target.base.open_signals > 0) {
        st = hf_intake_ahead_read(in, h->target.base.run, &draft->ahead, err);
        if (draft->ahead.command != HF_NONE)
            draft->message.behind = &draft->ahead;
    }
    return st;
}

static const hf_update_def *update_def(const hf_registry_workflow *workflow, hf_slice name)
{
    const hf_update_def *update = workflow->definition->updates;

    for (; update && update->name; update++)
        if (hf_slice_equal(hf_slice_of(update->name), name))
            return update;
    return NULL;
}

/* The validator of an update whose code is elsewhere. */
static hf_status validator_far(hf_handling *h, const message_draft *draft,
                               hf_ask_verdict *out_verdict, hf_err *err)
{
    bool validated = false;
    hf_status st;

    *out_verdict = (hf_ask_verdict){0};
    hf_call_read_begin(h->call);
    st = hf_intake_validated(&h->call->in, h->mem, h->target.definition, draft->message.name,
                             &validated, err);
    hf_call_read_end(h->call);
    if (st || !validated)
        return st;
    return hf_ask_worker(h->call, &h->target, draft->message.name, draft->args, h->mem, out_verdict,
                         err);
}

/* {"arguments": [sentence]} */
static hf_value refusal_errors(hf_mem *mem, const char *refusal)
{
    hf_value_list *messages = hf_value_array(mem);
    hf_value_list *errors = hf_value_object(mem);

    hf_value_append(messages, hf_value_string(mem, hf_slice_of(refusal)));
    hf_value_set(errors, HF_SLICE("arguments"), hf_value_finish(messages));
    return hf_value_finish(errors);
}

/* What the update's validator says, here or elsewhere. True: it is refused, or something went
   wrong. */
static bool validator_refuses(hf_handling *h, const message_draft *draft, bool far,
                              hf_status *out_status, hf_err *err)
{
    hf_ask_verdict verdict = {0};

    *out_status = far ? validator_far(h, draft, &verdict, err)
                      : hf_ask_validator(h->call, h->target.base.run, draft->message.name,
                                         draft->args, h->mem, &verdict.refusal, err);
    if (*out_status || !verdict.refusal)
        return *out_status != HF_OK;
    h->reply->validator = true;
    h->reply->validation_errors = verdict.validation_errors
                                      ? verdict.validation_errors
                                      : refusal_errors(h->mem, verdict.refusal);
    *out_status = h->reply->validation_errors
                      ? hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS,
                                           HF_REJECTION_INVALID_UPDATE_ARGUMENTS, verdict.refusal)
                      : hf_err_nomem(err, "a refusal");
    return true;
}

/* What stands against an update that its declaration allows. True: something does. */
static bool update_refused(hf_handling *h, const message_draft *draft, hf_status *out_status,
                           hf_err *err)
{
    const hf_registry_workflow *workflow;
    const hf_update_def *def;
    hf_slice code;

    *out_status = hf_call_code(h->call, &h->target, h->mem, &code, err);
    if (*out_status)
        return true;
    workflow = hf_registry_find_workflow(h->call->engine->registry, code);
    def = workflow ? update_def(workflow, draft->message.name) : NULL;
    if (!def && (workflow || !h->call->engine->matching)) /* else a worker elsewhere has it */
        *out_status = hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_WORKFLOW_DEFINITION_UNAVAILABLE,
                                         HF_REJECTION_WORKFLOW_DEFINITION_UNAVAILABLE,
                                         "the code that would apply the update is not loaded here");
    else if (h->target.base.open_signals > 0 && !h->call->engine->settings.updates_queue)
        *out_status = hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_PENDING_SIGNAL,
                                         HF_REJECTION_EARLIER_SIGNAL_PENDING,
                                         "a signal that came before it is not applied yet");
    else
        return (!workflow || (def && def->check)) &&
               validator_refuses(h, draft, !workflow, out_status, err);
    return true;
}

/* The step that a signal is for; 0: none. */
static int64_t signal_step(const hf_request *request)
{
    const hf_signal_more *more = request->type == HF_COMMAND_TYPE_SIGNAL ? request->more : NULL;

    return more ? more->step : 0;
}

static hf_rebase rebase_of(const hf_handling *h, bool update)
{
    if (signal_step(h->request))
        return HF_REBASE_NEVER;
    return update && !h->call->engine->settings.updates_queue ? HF_REBASE_BUT_SIGNALS
                                                              : HF_REBASE_WHILE_OPEN;
}

/* True: the step does not wait for the signal, or something went wrong. What is looked at may be
   newer than the target: the unit is committed over nothing that it has not seen. */
static bool step_refused(hf_handling *h, hf_status *out_status, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    bool waits = false;

    *out_status = mem ? HF_OK : hf_err_nomem(err, "what a run waits for");
    if (!*out_status) {
        hf_call_read_begin(h->call);
        *out_status = hf_approval_waits(h->call->in.db, mem, h->target.base.run,
                                        signal_step(h->request), h->request->name, &waits, err);
        hf_call_read_end(h->call);
    }
    hf_mem_free(mem);
    if (!*out_status && !waits)
        *out_status =
            hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_WAIT_NOT_OPEN, HF_REJECTION_WAIT_NOT_OPEN,
                               "the step does not wait for the signal any more");
    return *out_status || !waits;
}

hf_status hf_command_message(hf_handling *h, hf_err *err)
{
    const hf_request *request = h->request;
    const hf_intake *in = &h->call->in;
    bool update = request->type == HF_COMMAND_TYPE_UPDATE;
    message_draft draft = {
        .message = {.update = update, .name = request->name, .args = request->args}};
    hf_intake_refusal refusal;
    int64_t command = 0;
    hf_status st;

    if (!request->name.ptr)
        return hf_err_set(err, HF_MISUSE, "a name is needed");
    if (request->start)
        return hf_command_signal_start(h, err);
    if (hf_handling_inactive(h))
        return HF_OK;
    hf_call_read_begin(h->call);
    st = message_judge(h, &draft, &refusal, err);
    hf_call_read_end(h->call);
    if (!st && refusal.outcome && h->known) /* what is refused is refused by what the store has */
        return hf_err_set(err, HF_CONFLICT, "what is known of the run may be out of date");
    if (!st && refusal.outcome)
        return hf_handling_refuse(h, &refusal, err);
    if (st || (update && update_refused(h, &draft, &st, err)) ||
        (signal_step(request) && step_refused(h, &st, err)))
        return st;
    hf_unit_append(h->unit, &h->target.base, HF_NONE, rebase_of(h, update));
    st = hf_intake_message_put(in, &draft.message, draft.json, hf_handling_row(h), h->unit,
                               &command, err);
    h->nudges = !update && !h->plain && !request->run_id.ptr &&
                hf_nudge_wanted(h->call->engine, &h->target);
    if (!st && !h->nudges)
        st = hf_intake_wake(in, &h->target, h->unit, err);
    hf_handling_accept(h, command, update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED);
    return st;
}
