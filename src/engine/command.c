/* command.c: the one loop that every command goes through: find what it is aimed at, let its
   handler draft or refuse, commit, try again when the target moved on meanwhile, then tell the core
   and whoever waits. It knows no kind of command but by its row in the table below. */
#include "engine/command.h"

#include "base/utf8.h"
#include "base/value.h"
#include "engine/birth.h"
#include "engine/command_impl.h"
#include "engine/command_print.h"
#include "engine/command_repeat.h"
#include "engine/nudge.h"
#include "model/name.h"
#include "model/words.h"

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
    [HF_COMMAND_TYPE_REPAIR] = {.draft = hf_command_repair},
    [HF_COMMAND_TYPE_CANCEL] = {.draft = hf_command_stop},
    [HF_COMMAND_TYPE_TERMINATE] = {.draft = hf_command_stop},
    [HF_COMMAND_TYPE_ARCHIVE] = {.draft = hf_command_archive},
    [HF_COMMAND_TYPE_FORK] = {.draft = hf_command_fork},
    [HF_COMMAND_TYPE_RESET] = {.draft = hf_command_fork},
    [HF_COMMAND_TYPE_PAUSE] = {.draft = hf_command_pause},
    [HF_COMMAND_TYPE_RESUME] = {.draft = hf_command_pause},
};

static const command_kind *kind_of(hf_command_type type)
{
    size_t number = (size_t)type;

    return number < sizeof(kinds) / sizeof(*kinds) && kinds[number].draft ? &kinds[number] : NULL;
}

/* ---- what handlers call */

void hf_command_id_print(int64_t time_us, int64_t key, char out_text[HF_ULID_TEXT_SIZE])
{
    hf_ulid id = hf_ulid_form(time_us, key, 0);

    hf_ulid_print(&id, out_text);
}

hf_status hf_handling_aim(hf_handling *h, hf_err *err)
{
    const hf_intake_target *target = &h->target;
    hf_reply *reply = h->reply;

    reply->instance = target->instance.key;
    reply->instance_id = hf_mem_text(h->mem, target->instance.id);
    if (target->instance.type.len)
        reply->workflow_type = hf_mem_text(h->mem, target->instance.type);
    if (target->base.run != HF_NONE) {
        reply->run = target->base.run;
        hf_command_id_print(target->created_us, target->base.run, reply->run_id);
    }
    if (h->request->run_id.ptr) {
        hf_command_id_print(target->created_us, target->base.run, reply->requested_run_id);
        if (target->base.run != target->instance.current_run)
            hf_command_id_print(target->current_us, target->instance.current_run, reply->run_id);
    }
    return reply->instance_id ? HF_OK : hf_err_nomem(err, "an answer");
}

hf_status hf_handling_reject(hf_handling *h, hf_cmd_outcome outcome, hf_rejection_reason reason,
                             const char *sentence)
{
    h->reply->status = HF_COMMAND_STATUS_REJECTED;
    h->reply->outcome = outcome;
    h->reply->rejection = reason ? (int64_t)reason : HF_NONE;
    h->reply->why = sentence;
    h->records = true;
    return HF_OK;
}

hf_status hf_handling_record(hf_handling *h, hf_cmd_outcome outcome)
{
    h->reply->outcome = outcome;
    h->records = true;
    return HF_OK;
}

/* What the arguments should be; or which limit, what was measured, what is allowed. NULL when
   memory ran out. */
static hf_value refusal_detail(hf_mem *mem, const hf_intake_refusal *refusal)
{
    hf_value_list *detail = hf_value_object(mem);

    if (refusal->parameters)
        hf_value_set(detail, HF_SLICE("parameters"), hf_value_copy(mem, refusal->parameters));
    if (!refusal->limit)
        return hf_value_finish(detail);
    hf_value_set(detail, HF_SLICE("structural_limit_kind"),
                 hf_value_string(mem, hf_slice_of(hf_limit_text(refusal->limit))));
    hf_value_set(detail, HF_SLICE("structural_limit_value"),
                 hf_value_int(mem, refusal->limit_value));
    hf_value_set(detail, HF_SLICE("structural_limit_configured"),
                 hf_value_int(mem, refusal->limit_configured));
    return hf_value_finish(detail);
}

hf_status hf_handling_refuse(hf_handling *h, const hf_intake_refusal *refusal, hf_err *err)
{
    const char *why = hf_mem_text(h->mem, hf_slice_of(refusal->why));

    if (refusal->validation_errors)
        h->reply->validation_errors = hf_value_copy(h->mem, refusal->validation_errors);
    h->note.limit = refusal->limit;
    h->note.limit_value = refusal->limit_value;
    h->note.limit_configured = refusal->limit_configured;
    if ((refusal->limit || refusal->parameters) &&
        !(h->reply->detail = refusal_detail(h->mem, refusal)))
        return hf_err_nomem(err, "an answer");
    if (!why || (refusal->validation_errors && !h->reply->validation_errors))
        return hf_err_nomem(err, "an answer");
    return hf_handling_reject(h, refusal->outcome, refusal->reason, why);
}

void hf_handling_accept(hf_handling *h, int64_t command, int64_t outcome)
{
    h->reply->command = command;
    h->reply->outcome = outcome;
    hf_command_id_print(h->call->in.now_us, command, h->reply->command_id);
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
        .closed_us = HF_NONE,
        .body = h->body};
}

/* A machine that has ended has no inbox: nothing is there to receive the signal. */
static bool target_lost(const hf_handling *h)
{
    bool machine = false;
    hf_status st;

    if (h->request->type != HF_COMMAND_TYPE_SIGNAL)
        return false;
    hf_call_read_begin(h->call);
    st = hf_intake_machine(&h->call->in, h->mem, h->target.definition, &machine, NULL);
    hf_call_read_end(h->call);
    return !st && machine;
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
    else if (target->base.closed_us != HF_NONE && target_lost(h))
        (void)!hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_NOT_ACTIVE, HF_REJECTION_NO_TARGET,
                                  "the machine has ended");
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

/* What the row keeps beside its columns, as far as the request says it. */
static hf_status note_begin(hf_handling *h, hf_err *err)
{
    const hf_request *request = h->request;

    h->note = (hf_command_note){.context = request->context,
                                .request_id = request->request_id,
                                .dedup_key = request->dedup_key,
                                .requested_run_id = request->run_id,
                                .reason = request->reason};
    if (!request->context) {
        hf_status st = hf_command_print(request, h->call->in.stager->sha, hf_unit_mem(h->unit),
                                        &h->note.fingerprint, err);

        if (st)
            return st;
    }
    return hf_command_note_write(&h->note, hf_unit_mem(h->unit), &h->body, err);
}

static int64_t rejected_state(hf_command_type type)
{
    if (type == HF_COMMAND_TYPE_SIGNAL)
        return HF_SIGNAL_STATUS_REJECTED;
    return type == HF_COMMAND_TYPE_UPDATE ? (int64_t)HF_UPDATE_STATUS_REJECTED : HF_NONE;
}

/* The unit of a command that changes nothing else, in place of what the handler began. */
static hf_status record_draft(hf_handling *h, hf_err *err)
{
    const hf_request *request = h->request;
    hf_reply *reply = h->reply;
    bool rejected = reply->status == HF_COMMAND_STATUS_REJECTED;
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_command_row row;
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a command");
    if (rejected) {
        h->note.arguments = h->note.limit ? NULL : request->args;
        h->note.validation_errors = reply->validation_errors;
        h->note.message = hf_slice_of(reply->why);
    }
    st = hf_command_note_write(&h->note, hf_unit_mem(unit), &h->body, err);
    h->note.fingerprint = (hf_slice){0}; /* it goes with what the handler began */
    hf_unit_free(h->unit);
    h->unit = unit;
    row = hf_handling_row(h);
    if (!st)
        st = hf_keys_take(h->call->in.keys, 1, &row.key, err);
    if (st)
        return st;
    row.status = reply->status;
    row.outcome = reply->outcome;
    row.rejection = reply->rejection;
    row.name = request->name;
    row.state = rejected ? rejected_state(request->type) : HF_NONE;
    row.closed_us = row.recorded_us;
    if (!rejected)
        row.applied_us = row.recorded_us;
    if (h->target.base.run == HF_NONE)
        row.command_ahead = HF_NONE;
    hf_handling_accept(h, row.key, row.outcome);
    return hf_intake_record_draft(&h->call->in, &h->target, &row, &h->note, unit, err);
}

static bool handling_leaves(const hf_handling *h)
{
    return h->records && h->target.base.run == HF_NONE;
}

static hf_status handling_seal(hf_handling *h, hf_err *err)
{
    hf_status st = hf_command_name(h, h->reply->command, handling_leaves(h), err);

    return st ? st : hf_unit_seal(h->unit, &h->call->slot->stager, err);
}

/* With the first turn of the run that it starts. HF_CONFLICT: the plain way. */
static hf_status handling_bear(hf_handling *h, hf_err *err)
{
    hf_status st = hf_command_name(h, h->reply->command, false, err);

    if (st)
        return st;
    st = hf_birth_commit(h->call->engine, h->unit, &h->target, &h->reply->command_seq, &h->turned,
                         err);
    h->unit = NULL;
    h->plain = !st && !h->turned;
    return h->plain ? HF_CONFLICT : st;
}

/* With the turn that it causes. Not turned: what is left is the plain way. */
static hf_status handling_nudge(hf_handling *h, hf_err *err)
{
    hf_status st = hf_command_name(h, h->reply->command, false, err);

    if (!st)
        st = hf_nudge_commit(h->call->engine, &h->unit, &h->target, &h->reply->command_seq,
                             &h->turned, err);
    if (st || h->turned)
        return st;
    h->plain = true;
    if (!h->unit)
        return HF_CONFLICT; /* it was used up: from the beginning */
    st = hf_intake_wake(&h->call->in, &h->target, h->unit, err);
    return st ? st : hf_unit_seal(h->unit, &h->call->slot->stager, err);
}

static hf_status handling_commit(hf_handling *h, hf_err *err)
{
    const hf_instance_row *instance = &h->target.instance;
    hf_status st;

    if (h->target.turns && !h->records)
        return handling_bear(h, err);
    hf_known_drop(h->call->engine->known, instance->namespace_key, instance->id);
    st = h->nudges && !h->records ? handling_nudge(h, err) : handling_seal(h, err);
    if (h->turned)
        return st;
    if (!st)
        st = hf_engine_commit(h->call->engine, h->unit, err);
    if (!st && !handling_leaves(h))
        h->reply->command_seq = hf_unit_after(h->unit, 0)->command_seq;
    return st;
}

static void handling_tell(const hf_handling *h)
{
    hf_engine *engine = h->call->engine;

    for (const hf_effect *at = h->effects; at; at = at->next) /* its parent, its children */
        hf_core_notify(engine->core, at->run);
    if (engine->node && h->reply->run == h->target.base.run &&
        !hf_node_owns(engine->node, h->target.base.shard))
        hf_node_tell(engine->node, h->reply->run); /* the core would find out and say the same */
    else if (h->reloads)
        hf_core_reload(engine->core, h->reply->run);
    else
        hf_core_notify(engine->core, h->reply->run);
    if (h->target.base.run != HF_NONE)
        hf_engine_changed(engine, h->target.base.run, h->closes);
}

/* What the command is aimed at, from memory if it is there. */
static hf_status handling_find(hf_handling *h, hf_err *err)
{
    hf_call *call = h->call;
    const hf_engine *engine = call->engine;

    if (h->first && h->request->type == HF_COMMAND_TYPE_SIGNAL && !h->request->run_id.ptr &&
        (engine->mode == ENGINE_THREADS || engine->nudges)) {
        hf_mem_reset(call->slot->scratch);
        h->known = hf_known_get(engine->known, call->in.namespace_key, h->request->id,
                                call->slot->scratch, &h->target);
    }
    return h->known ? HF_OK
                    : hf_call_aim(call, h->request->id, h->request->run_id, &h->target, err);
}

/* Whether the command would be refused by where the instance's row points. */
static bool pointer_doubted(const hf_intake_target *target)
{
    return target->base.run == HF_NONE || target->base.run != target->instance.current_run ||
           target->base.closed_us != HF_NONE;
}

static hf_status pointer_set(hf_handling *h, int64_t run, int64_t number, hf_err *err)
{
    const hf_instance_row *instance = &h->target.instance;
    const hf_log_field field = hf_log_text("instance_id", instance->id);
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "an instance");
    hf_unit_row(unit, 0, hf_row_instance_point(hf_unit_mem(unit), instance, run, number));
    st = hf_unit_seal(unit, &h->call->slot->stager, err);
    if (!st)
        st = hf_engine_commit(h->call->engine, unit, err);
    hf_unit_free(unit);
    if (!st)
        hf_log_write(&h->call->engine->log, HF_LOG_WARN,
                     "the row of an instance did not name its open run; it was set right", &field,
                     1);
    return st;
}

/* An instance has one open run at most, and the runs' own rows are the truth: a row that names
   another one is set right. Then HF_CONFLICT, from the beginning; else what was found stays. */
static hf_status pointer_check(hf_handling *h, hf_status found, hf_err *err)
{
    const hf_db_value instance = hf_db_int(h->target.instance.key);
    hf_db_cursor *cursor = NULL;
    hf_err failed = {0};
    int64_t run = HF_NONE;
    int64_t number = 0;
    bool row = false;
    hf_status st;

    hf_call_read_begin(h->call);
    st = hf_db_query(h->call->in.db, HF_STMT_INSTANCE_OPEN, &instance, 1, &cursor, &failed);
    if (!st)
        st = hf_db_step(cursor, &row, &failed);
    if (!st && row) {
        run = hf_db_column_int(cursor, 0);
        number = hf_db_column_int(cursor, 1);
    }
    hf_db_end(cursor);
    hf_call_read_end(h->call);
    if (!st && (!row || run == h->target.instance.current_run))
        return found;
    if (!st)
        st = pointer_set(h, run, number, &failed);
    if (!st || st == HF_CONFLICT)
        return HF_CONFLICT;
    return hf_err_set(err, st, "%s", failed.text);
}

/* One try. HF_CONFLICT, and for kinds that make HF_EXISTS: another may do better. */
static hf_status handling_try(hf_handling *h, const command_kind *kind, bool makes, hf_err *err)
{
    bool finds = !makes || h->taken || h->request->dry;
    bool repeated = false;
    hf_status st = HF_OK;

    reply_begin(h);
    if (finds)
        st = handling_find(h, err);
    if (st == HF_NOTFOUND && makes && h->request->dry) { /* the id is free */
        h->target = (hf_intake_target){.base.run = HF_NONE};
        finds = false;
        st = HF_OK;
    }
    if (finds && !h->known && (st == HF_CORRUPT || (!st && pointer_doubted(&h->target))))
        st = pointer_check(h, st, err);
    if (!st && finds)
        st = hf_handling_aim(h, err);
    if (!st && finds)
        st = hf_command_repeat(h, &repeated, err);
    if (st || repeated)
        return st;
    st = note_begin(h, err);
    if (!st)
        st = kind->draft(h, err);
    if (st || h->answered || h->request->dry)
        return st;
    if (h->records)
        st = record_draft(h, err);
    if (!st)
        st = handling_commit(h, err);
    if (!st && !h->records && !h->turned) /* else the core knows */
        handling_tell(h);
    return st;
}

static hf_status request_check(const hf_request *request, const command_kind *kind, bool makes,
                               hf_err *err)
{
    hf_status st = HF_OK;
    int64_t bytes = 0;

    if (!kind)
        return hf_err_set(err, HF_MISUSE, "there is no such command");
    if (!makes && !request->id.ptr)
        return hf_err_set(err, HF_MISUSE, "an instance id is needed");
    if (hf_value_broken(request->args, &bytes) ||
        (request->start && hf_value_broken(request->start->input, &bytes)))
        return bytes ? hf_err_set(err, HF_TOOBIG,
                                  "the arguments have %lld bytes, which is more than is allowed",
                                  (long long)bytes)
                     : hf_err_set(err, HF_INVALID, "the arguments are no JSON");
    if (!hf_utf8_valid(request->reason))
        return hf_err_set(err, HF_INVALID, "the reason is not well-formed UTF-8");
    if (request->reason.len > HF_WORDS_MESSAGE_MAX)
        return hf_err_set(err, HF_TOOBIG, "the reason has %zu bytes, at most %d are recorded",
                          request->reason.len, HF_WORDS_MESSAGE_MAX);
    if (request->name.len)
        st =
            hf_name_check(request->type == HF_COMMAND_TYPE_UPDATE ? HF_NAME_UPDATE : HF_NAME_SIGNAL,
                          request->name, err);
    if (!st && request->request_id.ptr)
        st = hf_name_check(HF_NAME_REQUEST_ID, request->request_id, err);
    if (!st && request->dedup_key.ptr)
        st = hf_name_check(HF_NAME_REQUEST_ID, request->dedup_key, err);
    return st;
}

hf_status hf_engine_command(hf_engine *engine, const hf_request *request, hf_mem *mem,
                            hf_reply *reply, hf_err *err)
{
    const command_kind *kind = kind_of(request->type);
    bool taken = false;
    bool plain = false;
    bool makes;
    uint64_t seen;
    hf_call call;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return hf_err_set(err, st, "%s", engine ? hf_errmsg(engine) : "there is no engine");
    seen = hf_call_changes(&call);
    makes = kind && (kind->makes || request->start);
    st = request_check(request, kind, makes, err);
    if (st)
        return st;
    st = HF_CONFLICT;
    for (int i = 0; st == HF_CONFLICT && i < CONFLICT_TRIES; i++) { /* it may move on meanwhile */
        hf_handling h = {.call = &call,
                         .request = request,
                         .mem = mem,
                         .reply = reply,
                         .taken = taken,
                         .first = i == 0,
                         .plain = plain,
                         .target.base.run = HF_NONE,
                         .unit = hf_unit_new(NULL, NULL)};

        if (!h.unit)
            return hf_err_nomem(err, "a command");
        st = handling_try(&h, kind, makes, err);
        hf_unit_free(h.unit);
        plain = h.plain;
        if (st == HF_EXISTS && makes && !taken) {
            taken = true;
            st = HF_CONFLICT;
        }
        if (st == HF_CONSTRAINT &&
            (hf_command_named(request) || (request->start && request->start->correlation_key.ptr)))
            st = HF_CONFLICT; /* another one of that name was faster: it answers */
    }
    if (!st && reply->outcome == HF_CMD_OUTCOME_STARTED_NEW)
        hf_call_started(&call, seen, reply->run, reply->instance_id);
    return st;
}

hf_status hf_engine_command_draft(hf_call *call, const hf_request *request, hf_mem *mem,
                                  hf_reply *reply, hf_unit **out_unit, hf_err *err)
{
    const command_kind *kind = kind_of(request->type);
    hf_handling h = {.call = call,
                     .request = request,
                     .mem = mem,
                     .reply = reply,
                     .plain = true,
                     .target.base.run = HF_NONE,
                     .unit = hf_unit_new(NULL, NULL)};
    hf_status st = request_check(request, kind, true, err);

    *out_unit = NULL;
    if (!st && !h.unit)
        st = hf_err_nomem(err, "a command");
    if (!st) {
        reply_begin(&h);
        st = note_begin(&h, err);
    }
    if (!st)
        st = kind->draft(&h, err);
    if (!st && !h.answered && !h.records) {
        st = handling_seal(&h, err);
        if (!st) {
            *out_unit = h.unit;
            return HF_OK;
        }
    }
    hf_unit_free(h.unit);
    return st;
}
