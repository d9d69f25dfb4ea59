/* message.c: signals and updates, by the contract that the run was started with. */
#include "base/value.h"
#include "intake/intake_impl.h"
#include "store/snapshot.h"

/* Arguments as they are recorded: an object by declared name, else the list of positional values.
 */
static hf_value arguments_list(const hf_contract *contract, hf_value args, hf_mem *mem)
{
    hf_value_list *list;

    if (contract->form == HF_CONTRACT_NAMED && contract->count)
        return args;
    if (hf_value_kind_of(args) == HF_VALUE_ARRAY && contract->form == HF_CONTRACT_UNDECLARED)
        return args;
    list = hf_value_array(mem);
    if (args && !(contract->form == HF_CONTRACT_NAMED && !contract->count))
        hf_value_append(list, args);
    return hf_value_finish(list);
}

/* What each kind of target is called when it is refused. */
static const struct {
    const char *word;
    hf_cmd_outcome unknown;
    hf_rejection_reason unknown_reason;
    hf_rejection_reason invalid_reason;
} kinds[] = {
    [HF_TARGET_SIGNAL] = {"signal", HF_CMD_OUTCOME_REJECTED_UNKNOWN_SIGNAL,
                          HF_REJECTION_UNKNOWN_SIGNAL, HF_REJECTION_INVALID_SIGNAL_ARGUMENTS},
    [HF_TARGET_UPDATE] = {"update", HF_CMD_OUTCOME_REJECTED_UNKNOWN_UPDATE,
                          HF_REJECTION_UNKNOWN_UPDATE, HF_REJECTION_INVALID_UPDATE_ARGUMENTS},
    [HF_TARGET_QUERY] = {.word = "query"},
};

hf_status hf_intake_target_fit(const hf_intake *in, int64_t definition, hf_target_kind kind,
                               hf_slice name, hf_value args, hf_mem *mem, hf_value *out_args,
                               hf_intake_refusal *refusal, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_value errors = NULL;
    hf_status st;

    *refusal = (hf_intake_refusal){0};
    if (definition == HF_NONE)
        return hf_intake_refuse(refusal, HF_CMD_OUTCOME_REJECTED_WORKFLOW_DEFINITION_UNAVAILABLE,
                                HF_REJECTION_WORKFLOW_DEFINITION_UNAVAILABLE,
                                "the run's contracts are not known", err);
    st = hf_intake_snapshot(in, mem, definition, &snapshot, err);
    if (!st)
        st = hf_definition_find(*hf_definition_targets_of(&snapshot, kind), name, mem, &contract,
                                err);
    if (!st && !contract)
        return hf_intake_refuse(refusal, kinds[kind].unknown, kinds[kind].unknown_reason,
                                hf_mem_format(mem, "the run declares no %s called %.*s",
                                              kinds[kind].word, (int)name.len, name.ptr),
                                err);
    if (!st)
        st = hf_contract_apply(contract, args, mem, out_args, &errors, err);
    if (!st && errors)
        return hf_intake_refuse_arguments(refusal, kinds[kind].invalid_reason, contract, errors,
                                          mem, err);
    if (!st && kind == HF_TARGET_SIGNAL)
        *out_args = arguments_list(contract, *out_args, mem);
    return st;
}

hf_status hf_intake_message_fit(const hf_intake *in, int64_t definition,
                                const hf_intake_message *message, hf_mem *mem, hf_value *out_args,
                                hf_slice *out_json, hf_intake_refusal *refusal, hf_err *err)
{
    hf_status st =
        hf_intake_target_fit(in, definition, message->update ? HF_TARGET_UPDATE : HF_TARGET_SIGNAL,
                             message->name, message->args, mem, out_args, refusal, err);

    return st || refusal->outcome
               ? st
               : hf_intake_payload_fit(in, mem, *out_args, out_json, refusal, err);
}

hf_status hf_intake_ahead_read(const hf_intake *in, int64_t run, hf_intake_ahead *out_ahead,
                               hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(HF_COMMAND_TYPE_SIGNAL)};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(in->db, HF_STMT_COMMAND_AHEAD, params, 2, &cursor, err);

    *out_ahead = (hf_intake_ahead){.command = HF_NONE};
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found)
        *out_ahead = (hf_intake_ahead){.command = hf_db_column_int(cursor, 0),
                                       .recorded_us = hf_db_column_int(cursor, 1),
                                       .command_seq = hf_db_column_int(cursor, 2)};
    hf_db_end(cursor);
    return st;
}

static void behind_put(hf_event_builder *events, const hf_intake_ahead *ahead)
{
    hf_event_put_text(events, HF_KEY_ORDERING_STATE, HF_SLICE("queued"));
    hf_event_put_id(events, HF_KEY_QUEUED_BEHIND_COMMAND_ID,
                    hf_ulid_form(ahead->recorded_us, ahead->command, 0));
    hf_event_put_int(events, HF_KEY_QUEUED_BEHIND_COMMAND_SEQUENCE, ahead->command_seq);
    hf_event_put_text(events, HF_KEY_QUEUED_BEHIND_COMMAND_TYPE,
                      hf_slice_of(hf_command_type_text(HF_COMMAND_TYPE_SIGNAL)));
}

hf_status hf_intake_message_put(const hf_intake *in, const hf_intake_message *message,
                                hf_slice args, hf_command_row row, hf_unit *unit,
                                int64_t *out_command, hf_err *err)
{
    bool update = message->update;
    hf_event_builder *events = hf_unit_events(unit, 0);
    hf_ulid id;
    hf_status st = hf_keys_take(in->keys, 1, &row.key, err);

    if (st)
        return st;
    id = hf_ulid_form(in->now_us, row.key, 0);
    hf_event_begin(events, update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED, in->now_us,
                   0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, id);
    hf_event_put_text(events, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, message->name);
    if (message->behind)
        behind_put(events, message->behind);
    hf_intake_payload_put(in, unit, HF_KEY_ARGUMENTS, args);
    row.type = update ? HF_COMMAND_TYPE_UPDATE : HF_COMMAND_TYPE_SIGNAL;
    row.outcome = update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED;
    row.message_ahead = 1;
    row.name = message->name;
    row.state = update ? (int64_t)HF_UPDATE_STATUS_ACCEPTED : (int64_t)HF_SIGNAL_STATUS_RECEIVED;
    hf_unit_row(unit, 0, hf_row_command_new(hf_unit_mem(unit), &row));
    *out_command = row.key;
    return st;
}

hf_status hf_intake_wake(const hf_intake *in, const hf_intake_target *target, hf_unit *unit,
                         hf_err *err)
{
    int64_t task = 0;
    hf_status st = hf_keys_take(in->keys, 1, &task, err);

    if (!st)
        hf_unit_row(unit, 0,
                    hf_row_task_wake(hf_unit_mem(unit), task, target->base.run, target->queue,
                                     in->now_us, in->now_us));
    return st;
}
