/* command_start.c: start, alone or with a first signal. The first try makes the instance without
   asking whether it exists: the store says so when it does, and then the existing one answers by
   the duplicate policy. */
#include "base/value.h"
#include "engine/birth.h"
#include "engine/command_impl.h"
#include "engine/fleet.h"
#include "model/contract.h"
#include "store/snapshot.h"

static hf_status timeouts_check(const hf_intake_start *start, hf_err *err)
{
    const int64_t least_us = 1000000;

    if (start->execution_timeout_us < 0 || start->run_timeout_us < 0 ||
        (start->execution_timeout_us && start->execution_timeout_us < least_us) ||
        (start->run_timeout_us && start->run_timeout_us < least_us))
        return hf_err_set(err, HF_INVALID, "a workflow timeout must be at least 1 second");
    return HF_OK;
}

/* What a worker of another process last declared of the type, if one did. Programs of ours say what
   their workflows take; other workers check it themselves. */
static hf_status start_define_far(hf_handling *h, hf_intake_start *start, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(h->unit);
    hf_definition_snapshot snapshot = {0};
    hf_status st;

    hf_call_read_begin(h->call);
    st = hf_snapshot_of_type(h->call->in.db, mem, start->type, &start->definition,
                             &start->fingerprint, err);
    if (!st && start->definition != HF_NONE)
        st = hf_snapshot_read(h->call->in.db, mem, start->definition, &snapshot, err);
    if (!st)
        st = hf_engine_build_chosen(h->call->engine, &h->call->in,
                                    start->queue.ptr ? start->queue : HF_SLICE("default"), mem,
                                    &start->compatibility, err);
    hf_call_read_end(h->call);
    if (!st && snapshot.params.len && !hf_slice_equal(snapshot.params, HF_SLICE("null")))
        st = hf_contract_from_json(mem, snapshot.params, &start->params, err);
    return st;
}

/* Adds what the program's definition of the type says. */
static hf_status start_define(hf_handling *h, hf_intake_start *start, hf_err *err)
{
    const hf_engine *engine = h->call->engine;
    bool known = hf_registry_find_workflow(engine->registry, start->type) != NULL;

    if (known || !engine->matching) /* workers elsewhere have builds of their own */
        start->compatibility = hf_slice_of(engine->app ? engine->app->build_id : NULL);
    if (h->taken && h->target.base.run == HF_NONE)
        start->reserved = &h->target.instance;
    start->definition = HF_NONE;
    if (!known) {
        hf_status st = engine->matching ? start_define_far(h, start, err) : HF_OK;

        if (!st && start->definition == HF_NONE && h->request->source == HF_COMMAND_SOURCE_WEBHOOK)
            st = hf_err_set(err, HF_NOTFOUND, "there is no workflow %.*s", (int)start->type.len,
                            start->type.ptr);
        return st;
    }
    return hf_registry_define(engine->registry, hf_unit_mem(h->unit), start, err);
}

/* The start as it is asked for and as the program knows its type. */
static hf_status start_read(hf_handling *h, hf_intake_start *out_start, hf_err *err)
{
    hf_status st;

    if (!h->request->start || !h->request->start->type.ptr)
        return hf_err_set(err, HF_MISUSE, "a type and options are needed");
    *out_start = *h->request->start;
    st = timeouts_check(out_start, err);
    if (!st)
        st = hf_registry_check_limits(h->call->engine->registry, h->call->in.namespace_key,
                                      out_start->concurrency_key, out_start->rate_limit,
                                      out_start->weight, err);
    return st ? st : start_define(h, out_start, err);
}

/* Nothing is recorded of what is refused before there is an instance: the reply alone says why. */
static hf_status start_refuse(hf_handling *h, const hf_intake_refusal *refusal, hf_status status,
                              hf_err *err)
{
    hf_status st = hf_handling_refuse(h, refusal, err);

    if (st || h->taken)
        return st;
    h->records = false;
    return hf_err_set(err, status, "%s", h->reply->why);
}

/* A start that would wait for a worker that is not there, where the program wants to know at once.
   What the program has itself it can always run. */
static hf_status start_gate(hf_handling *h, const hf_intake_start *start, const char **out_why,
                            hf_err *err)
{
    const hf_engine *engine = h->call->engine;
    hf_status st;

    *out_why = NULL;
    if (!engine->settings.fleet_fails || !start->compatibility.ptr ||
        hf_registry_find_workflow(engine->registry, start->type))
        return HF_OK;
    hf_call_read_begin(h->call);
    st = hf_fleet_gate(engine->app, h->call->in.db, hf_unit_mem(h->unit),
                       start->queue.ptr ? start->queue : HF_SLICE("default"), start->compatibility,
                       h->call->in.now_us, out_why, err);
    hf_call_read_end(h->call);
    return st;
}

/* The run that is made, as part 0 of the unit, its command as number 1. */
static hf_status start_draft(hf_handling *h, const hf_intake_start *start, int64_t *out_command,
                             hf_err *err)
{
    hf_command_row row = hf_handling_row(h);
    hf_intake_target made;
    hf_intake_refusal refusal = {.outcome = HF_CMD_OUTCOME_REJECTED_COMPATIBILITY_BLOCKED,
                                 .reason = HF_REJECTION_COMPATIBILITY_BLOCKED};
    bool reads =
        (int64_t)start->attributes.len > hf_limit_get(HF_LIMIT_SEARCH_ATTRIBUTE_KEYWORD)->standard;
    const char *why = NULL;
    hf_status st = start_gate(h, start, &why, err);

    if (!st && why) {
        refusal.why = why;
        return start_refuse(h, &refusal, HF_REJECTED, err);
    }
    row.type = HF_COMMAND_TYPE_START;
    if (reads)
        hf_call_read_begin(h->call);
    if (!st)
        st = hf_intake_start_draft(&h->call->in, start, row, h->unit, &made, out_command, &refusal,
                                   err);
    if (reads)
        hf_call_read_end(h->call);
    if (!st && refusal.outcome)
        return start_refuse(h, &refusal, HF_INVALID, err);
    if (st)
        return st;
    h->target = made;
    return hf_handling_aim(h, err);
}

/* The instance has a run: it may answer instead. True: it does not, and the start is refused.
   `key`: what led to it; ptr NULL: its id. */
static bool start_refused(hf_handling *h, hf_duplicate_policy policy, hf_slice key)
{
    bool open = h->target.base.closed_us == HF_NONE;
    const char *why = open ? "an instance of that id exists already"
                           : "an instance of that id exists already, its run is closed";

    if (policy == HF_DUPLICATE_POLICY_RETURN_EXISTING_ACTIVE && open)
        return false;
    if (key.ptr)
        why = hf_mem_format(h->mem, "the correlation key %.*s is taken by the instance %.*s",
                            (int)key.len, key.ptr, (int)h->target.instance.id.len,
                            h->target.instance.id.ptr);
    (void)!hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_DUPLICATE,
                              HF_REJECTION_INSTANCE_ALREADY_STARTED,
                              why ? why : "the correlation key is taken");
    return true;
}

/* The correlation key is taken: whoever has it answers. */
static hf_status key_look(hf_handling *h, const hf_intake_start *start, hf_err *err)
{
    hf_slice id = {0};
    hf_status st;

    if (!start->correlation_key.ptr)
        return HF_OK;
    hf_call_read_begin(h->call);
    st = hf_intake_correlated(&h->call->in, h->mem, start->correlation_key, &id, err);
    if (!st && id.ptr) /* not hf_call_aim: what was read of the start is in the arena it empties */
        st = hf_intake_aim(&h->call->in, h->mem, id, (hf_slice){0}, &h->target, err);
    hf_call_read_end(h->call);
    return st || !id.ptr ? st : hf_handling_aim(h, err);
}

hf_status hf_command_start(hf_handling *h, hf_err *err)
{
    hf_intake_start start;
    int64_t command = 0;
    hf_status st = start_read(h, &start, err);
    bool by_key = !st && h->target.base.run == HF_NONE;

    if (by_key)
        st = key_look(h, &start, err);
    if (st)
        return st;
    if (h->target.base.run != HF_NONE)
        return start_refused(h, start.duplicate, by_key ? start.correlation_key : (hf_slice){0})
                   ? HF_OK
                   : hf_handling_record(h, HF_CMD_OUTCOME_RETURNED_EXISTING_ACTIVE);
    start.turns = !h->plain && hf_birth_wanted(h->call->engine, &start);
    start.shards = h->call->engine->node ? hf_node_shards(h->call->engine->node) : NULL;
    st = start_draft(h, &start, &command, err);
    if (!st && !h->records)
        hf_handling_accept(h, command, HF_CMD_OUTCOME_STARTED_NEW);
    return st;
}

/* ---- with a first signal */

/* Both commands say that they came in together. */
static hf_status group_make(hf_handling *h, char out_id[HF_ULID_TEXT_SIZE], hf_err *err)
{
    hf_mem *mem = hf_unit_mem(h->unit);
    hf_value_list *intake = hf_value_object(mem);
    hf_value_list *context = hf_value_object(mem);
    hf_slice key;
    hf_value item;
    int64_t group = 0;
    hf_status st = hf_keys_take(h->call->in.keys, 1, &group, err);

    if (st)
        return st;
    hf_command_id_print(h->call->in.now_us, group, out_id);
    hf_value_set(intake, HF_SLICE("mode"), hf_value_string(mem, HF_SLICE("signal_with_start")));
    hf_value_set(intake, HF_SLICE("group_id"), hf_value_string(mem, hf_slice_of(out_id)));
    for (size_t i = 0; hf_value_member(h->request->context, i, &key, &item); i++)
        if (!hf_slice_equal(key, HF_SLICE("intake")))
            hf_value_set(context, key, item);
    hf_value_set(context, HF_SLICE("intake"), hf_value_finish(intake));
    h->note.context = hf_value_finish(context);
    return h->note.context ? hf_command_note_write(&h->note, mem, &h->body, err)
                           : hf_err_nomem(err, "a command");
}

/* The start that finds an open run is a command of that run all the same. */
static hf_status start_join(hf_handling *h, int64_t *out_command, hf_err *err)
{
    hf_command_row row = hf_handling_row(h);
    hf_status st = hf_keys_take(h->call->in.keys, 1, &row.key, err);

    hf_unit_append(h->unit, &h->target.base, HF_NONE, HF_REBASE_WHILE_OPEN);
    row.type = HF_COMMAND_TYPE_START;
    row.outcome = HF_CMD_OUTCOME_RETURNED_EXISTING_ACTIVE;
    row.applied_us = row.closed_us = row.recorded_us;
    hf_unit_row(h->unit, 0, hf_row_command_new(hf_unit_mem(h->unit), &row));
    *out_command = row.key;
    return st;
}

/* What the reply adds: the other command, whose number is the one before. */
static hf_status pair_reply(hf_handling *h, int64_t start, bool existing, const char *group,
                            hf_err *err)
{
    char id[HF_ULID_TEXT_SIZE];
    hf_value_list *detail = hf_value_object(h->mem);
    const char *outcome = hf_cmd_outcome_text(existing ? HF_CMD_OUTCOME_RETURNED_EXISTING_ACTIVE
                                                       : HF_CMD_OUTCOME_STARTED_NEW);

    hf_command_id_print(h->call->in.now_us, start, id);
    hf_value_set(detail, HF_SLICE("start_command_id"), hf_value_string(h->mem, hf_slice_of(id)));
    hf_value_set(detail, HF_SLICE("start_outcome"), hf_value_string(h->mem, hf_slice_of(outcome)));
    hf_value_set(detail, HF_SLICE("start_command_status"),
                 hf_value_string(h->mem, HF_SLICE("accepted")));
    hf_value_set(detail, HF_SLICE("intake_group_id"), hf_value_string(h->mem, hf_slice_of(group)));
    h->reply->detail = hf_value_finish(detail);
    return h->reply->detail ? HF_OK : hf_err_nomem(err, "an answer");
}

/* Start and signal in one unit; the signal is a fact of the run before its code ever runs. */
static hf_status pair_draft(hf_handling *h, const hf_intake_start *start,
                            const hf_intake_message *signal, hf_slice args, hf_err *err)
{
    const hf_intake *in = &h->call->in;
    bool existing = h->target.base.run != HF_NONE;
    char group[HF_ULID_TEXT_SIZE];
    hf_command_row row;
    int64_t start_command = 0;
    int64_t command = 0;
    hf_status st = group_make(h, group, err);

    if (!st)
        st = existing ? start_join(h, &start_command, err)
                      : start_draft(h, start, &start_command, err);
    if (st || h->records)
        return st;
    row = hf_handling_row(h);
    row.command_ahead = 2;
    st = hf_intake_message_put(in, signal, args, row, h->unit, &command, err);
    if (!st && existing)
        st = hf_intake_wake(in, &h->target, h->unit, err);
    hf_handling_accept(h, command, HF_CMD_OUTCOME_SIGNAL_RECEIVED);
    return st ? st : pair_reply(h, start_command, existing, group, err);
}

hf_status hf_command_signal_start(hf_handling *h, hf_err *err)
{
    const hf_intake_message signal = {.name = h->request->name, .args = h->request->args};
    hf_intake_start start;
    hf_intake_refusal refusal = {0};
    hf_value value = NULL;
    hf_slice args = {0};
    hf_status st = start_read(h, &start, err);
    bool by_key = !st && h->target.base.run == HF_NONE;
    int64_t definition;

    if (by_key)
        st = key_look(h, &start, err);
    if (st)
        return st;
    if (h->target.base.run != HF_NONE &&
        start_refused(h, HF_DUPLICATE_POLICY_RETURN_EXISTING_ACTIVE,
                      by_key ? start.correlation_key : (hf_slice){0}))
        return HF_OK;
    definition = h->target.base.run == HF_NONE ? start.definition : h->target.definition;
    hf_call_read_begin(h->call);
    st = hf_intake_message_fit(&h->call->in, definition, &signal, hf_unit_mem(h->unit), &value,
                               &args, &refusal, err);
    if (!st && refusal.outcome && h->target.base.run != HF_NONE)
        st = hf_call_drift_tell(h->call, &h->target, HF_TARGET_SIGNAL, signal.name,
                                hf_unit_mem(h->unit), &refusal, err);
    hf_call_read_end(h->call);
    if (!st && refusal.outcome)
        return start_refuse(h, &refusal, HF_REJECTED, err);
    return st ? st : pair_draft(h, &start, &signal, args, err);
}
