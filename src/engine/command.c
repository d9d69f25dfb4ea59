/* command.c: the one loop that every command goes through: find what it is aimed at, let its
   handler draft or refuse, commit, try again when the target moved on meanwhile, then tell the core
   and whoever waits. It knows no kind of command but by its row in the table below. */
#include "engine/command.h"

#include "base/value.h"
#include "engine/command_impl.h"

enum { CONFLICT_TRIES = 16 };

/* What there is to know of a kind of command. */
typedef struct command_kind {
    hf_command_fn *draft; /* NULL: not offered */
    bool makes;           /* it makes its instance: the target is looked at when the id is taken */
} command_kind;

static const command_kind kinds[] = {
    [HF_COMMAND_TYPE_START] = {.draft = hf_command_start, .makes = true},
    [HF_COMMAND_TYPE_SIGNAL] = {.draft = hf_command_message},
    [HF_COMMAND_TYPE_UPDATE] = {.draft = hf_command_message},
    [HF_COMMAND_TYPE_CANCEL] = {.draft = hf_command_stop},
    [HF_COMMAND_TYPE_TERMINATE] = {.draft = hf_command_stop},
};

static const command_kind *kind_of(hf_command_type type)
{
    size_t number = (size_t)type;

    return number < sizeof(kinds) / sizeof(*kinds) && kinds[number].draft ? &kinds[number] : NULL;
}

/* ---- what handlers call */

static void id_print(int64_t time_us, int64_t key, char out_text[HF_ULID_TEXT_SIZE])
{
    hf_ulid id = hf_decide_id(time_us, key, 0);

    hf_ulid_print(&id, out_text);
}

hf_status hf_handling_aim(hf_handling *h, hf_err *err)
{
    const hf_intake_target *target = &h->target;
    hf_reply *reply = h->reply;

    reply->instance = target->instance.key;
    reply->instance_id = hf_mem_text(h->mem, target->instance.id);
    if (target->base.run != HF_NONE) {
        reply->run = target->base.run;
        id_print(target->created_us, target->base.run, reply->run_id);
        if (h->request->run_id.ptr)
            id_print(target->created_us, target->base.run, reply->requested_run_id);
    }
    return reply->instance_id ? HF_OK : hf_err_nomem(err, "an answer");
}

hf_status hf_handling_reject(hf_handling *h, hf_cmd_outcome outcome, hf_rejection_reason reason,
                             const char *sentence)
{
    h->reply->status = HF_COMMAND_STATUS_REJECTED;
    h->reply->outcome = outcome;
    h->reply->rejection = reason;
    h->reply->why = sentence;
    return HF_OK;
}

hf_status hf_handling_refuse(hf_handling *h, const hf_intake_refusal *refusal, hf_err *err)
{
    const char *why = hf_mem_text(h->mem, hf_slice_of(refusal->why));

    if (refusal->validation_errors)
        h->reply->validation_errors = hf_value_copy(h->mem, refusal->validation_errors);
    if (!why || (refusal->validation_errors && !h->reply->validation_errors))
        return hf_err_nomem(err, "an answer");
    return hf_handling_reject(h, refusal->outcome, refusal->reason, why);
}

void hf_handling_accept(hf_handling *h, int64_t command, int64_t outcome)
{
    h->reply->command = command;
    h->reply->outcome = outcome;
    id_print(h->call->in.now_us, command, h->reply->command_id);
}

hf_command_row hf_handling_row(const hf_handling *h)
{
    const hf_request *request = h->request;

    return (hf_command_row){
        .instance = h->target.instance.key,
        .run = h->target.base.run,
        .type = request->type,
        .status = HF_COMMAND_STATUS_ACCEPTED,
        .outcome = HF_NONE,
        .rejection = HF_NONE,
        .scope = request->run_id.ptr ? HF_TARGET_SCOPE_RUN : HF_TARGET_SCOPE_INSTANCE,
        .source = request->source ? request->source : HF_COMMAND_SOURCE_EMBEDDED,
        .command_ahead = 1,
        .message_ahead = HF_NONE,
        .state = HF_NONE,
        .recorded_us = h->call->in.now_us,
        .applied_us = HF_NONE,
        .closed_us = HF_NONE};
}

bool hf_handling_inactive(hf_handling *h)
{
    const hf_intake_target *target = &h->target;

    if (target->base.run == HF_NONE)
        (void)!hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_STARTED,
                                  HF_REJECTION_INSTANCE_NOT_STARTED,
                                  "the instance was never started");
    else if (target->base.run != target->instance.current_run)
        (void)!hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_CURRENT,
                                  HF_REJECTION_SELECTED_RUN_NOT_CURRENT,
                                  "the chosen run is not the newest one");
    else if (target->base.closed_us != HF_NONE)
        (void)!hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_ACTIVE,
                                  HF_REJECTION_RUN_NOT_ACTIVE, "the run is closed");
    else
        return false;
    return true;
}

/* ---- the loop */

static void reply_begin(hf_handling *h)
{
    *h->reply = (hf_reply){.status = HF_COMMAND_STATUS_ACCEPTED,
                           .outcome = HF_NONE,
                           .rejection = HF_NONE,
                           .command = HF_NONE,
                           .instance = HF_NONE,
                           .run = HF_NONE,
                           .command_seq = HF_NONE};
}

static hf_status handling_commit(hf_handling *h, hf_err *err)
{
    hf_status st = hf_unit_seal(h->unit, &h->call->slot->stager, err);

    if (!st)
        st = hf_engine_commit(h->call->engine, h->unit, err);
    if (!st)
        h->reply->command_seq = hf_unit_after(h->unit, 0)->command_seq;
    return st;
}

/* One try. HF_CONFLICT, and for kinds that make HF_EXISTS: another may do better. */
static hf_status handling_try(hf_handling *h, const command_kind *kind, hf_err *err)
{
    hf_engine *engine = h->call->engine;
    hf_status st = HF_OK;

    reply_begin(h);
    if (!kind->makes || h->taken) {
        st = hf_call_aim(h->call, h->request->id, h->request->run_id, &h->target, err);
        if (!st)
            st = hf_handling_aim(h, err);
    }
    if (!st)
        st = kind->draft(h, err);
    if (!st && h->reply->status == HF_COMMAND_STATUS_REJECTED)
        return HF_OK;
    if (!st && !h->nothing)
        st = handling_commit(h, err);
    if (st || h->nothing)
        return st;
    for (const hf_effect *at = h->effects; at; at = at->next) /* its parent, its children */
        hf_core_notify(engine->core, at->run);
    hf_core_notify(engine->core, h->reply->run);
    if (h->closes)
        hf_engine_changed(engine, h->reply->run, true);
    return HF_OK;
}

static hf_status request_check(const hf_request *request, const command_kind *kind, hf_err *err)
{
    if (!kind)
        return hf_err_set(err, HF_MISUSE, "there is no such command");
    if (!kind->makes && !request->id.ptr)
        return hf_err_set(err, HF_MISUSE, "an instance id is needed");
    return HF_OK;
}

hf_status hf_engine_command(hf_engine *engine, const hf_request *request, hf_mem *mem,
                            hf_reply *reply, hf_err *err)
{
    const command_kind *kind = kind_of(request->type);
    bool taken = false;
    hf_call call;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return hf_err_set(err, st, "%s", engine ? hf_errmsg(engine) : "there is no engine");
    st = request_check(request, kind, err);
    if (st)
        return st;
    st = HF_CONFLICT;
    for (int i = 0; st == HF_CONFLICT && i < CONFLICT_TRIES; i++) { /* it may move on meanwhile */
        hf_handling h = {.call = &call,
                         .request = request,
                         .mem = mem,
                         .reply = reply,
                         .taken = taken,
                         .target.base.run = HF_NONE,
                         .unit = hf_unit_new(NULL, NULL)};

        if (!h.unit)
            return hf_err_nomem(err, "a command");
        st = handling_try(&h, kind, err);
        hf_unit_free(h.unit);
        if (st == HF_EXISTS && kind->makes && !taken) {
            taken = true;
            st = HF_CONFLICT;
        }
    }
    return st;
}
