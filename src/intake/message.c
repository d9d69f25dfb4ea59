/* message.c: signals and updates, by the contract that the run was started with. */
#include "base/value.h"
#include "intake/intake_impl.h"
#include "model/contract.h"
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

hf_status hf_intake_message_fit(const hf_intake *in, int64_t definition,
                                const hf_intake_message *message, hf_mem *mem, hf_slice *out_args,
                                hf_intake_refusal *refusal, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_value args = NULL;
    hf_value errors = NULL;
    bool update = message->update;
    hf_status st;

    *refusal = (hf_intake_refusal){0};
    if (definition == HF_NONE)
        return hf_intake_refuse(refusal, HF_CMD_OUTCOME_REJECTED_WORKFLOW_DEFINITION_UNAVAILABLE,
                                HF_REJECTION_WORKFLOW_DEFINITION_UNAVAILABLE,
                                "the run's contracts are not known", err);
    st = hf_snapshot_read(in->db, mem, definition, &snapshot, err);
    if (!st)
        st = hf_definition_find(update ? snapshot.updates : snapshot.signals, message->name, mem,
                                &contract, err);
    if (!st && !contract)
        return hf_intake_refuse(refusal,
                                update ? HF_CMD_OUTCOME_REJECTED_UNKNOWN_UPDATE
                                       : HF_CMD_OUTCOME_REJECTED_UNKNOWN_SIGNAL,
                                update ? HF_REJECTION_UNKNOWN_UPDATE : HF_REJECTION_UNKNOWN_SIGNAL,
                                hf_mem_format(mem, "the run declares no %s called %.*s",
                                              update ? "update" : "signal", (int)message->name.len,
                                              message->name.ptr),
                                err);
    if (!st)
        st = hf_contract_apply(contract, message->args, mem, &args, &errors, err);
    if (!st && errors) {
        st = hf_intake_refuse(refusal, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS,
                              update ? HF_REJECTION_INVALID_UPDATE_ARGUMENTS
                                     : HF_REJECTION_INVALID_SIGNAL_ARGUMENTS,
                              hf_intake_errors_sentence(mem, errors), err);
        refusal->validation_errors = errors;
        return st;
    }
    if (!st && !update)
        args = arguments_list(contract, args, mem);
    return st ? st : hf_intake_payload_fit(mem, args, out_args, refusal, err);
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
    id = hf_intake_id(in->now_us, row.key);
    hf_event_begin(events, update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED, in->now_us,
                   0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, id);
    hf_event_put_text(events, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, message->name);
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
