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

static hf_status refuse(hf_intake_refusal *refusal, hf_cmd_outcome outcome,
                        hf_rejection_reason reason, const char *why, hf_err *err)
{
    *refusal = (hf_intake_refusal){.outcome = outcome, .reason = reason, .why = why};
    return why ? HF_OK : hf_err_nomem(err, "a refusal");
}

/* The arguments by the contract that the run was started with, as they are recorded. */
static hf_status message_fit(const hf_intake *in, const hf_intake_target *target,
                             const hf_intake_message *message, hf_mem *mem, hf_value *out_args,
                             hf_intake_refusal *refusal, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_value errors = NULL;
    bool update = message->update;
    hf_status st;

    if (target->definition == HF_NONE)
        return refuse(refusal, HF_CMD_OUTCOME_REJECTED_WORKFLOW_DEFINITION_UNAVAILABLE,
                      HF_REJECTION_WORKFLOW_DEFINITION_UNAVAILABLE,
                      "the run's contracts are not known", err);
    st = hf_snapshot_read(in->db, mem, target->definition, &snapshot, err);
    if (!st)
        st = hf_definition_find(update ? snapshot.updates : snapshot.signals, message->name, mem,
                                &contract, err);
    if (!st && !contract)
        return refuse(refusal,
                      update ? HF_CMD_OUTCOME_REJECTED_UNKNOWN_UPDATE
                             : HF_CMD_OUTCOME_REJECTED_UNKNOWN_SIGNAL,
                      update ? HF_REJECTION_UNKNOWN_UPDATE : HF_REJECTION_UNKNOWN_SIGNAL,
                      hf_mem_format(mem, "the run declares no %s called %.*s",
                                    update ? "update" : "signal", (int)message->name.len,
                                    message->name.ptr),
                      err);
    if (!st)
        st = hf_contract_apply(contract, message->args, mem, out_args, &errors, err);
    if (!st && errors) {
        st = refuse(refusal, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS,
                    update ? HF_REJECTION_INVALID_UPDATE_ARGUMENTS
                           : HF_REJECTION_INVALID_SIGNAL_ARGUMENTS,
                    hf_intake_errors_sentence(mem, errors), err);
        refusal->validation_errors = errors;
    } else if (!st && !update) {
        *out_args = arguments_list(contract, *out_args, mem);
    }
    return st;
}

hf_status hf_intake_message_draft(const hf_intake *in, const hf_intake_target *target,
                                  const hf_intake_message *message, hf_command_row row,
                                  hf_unit *unit, int64_t *out_command,
                                  hf_intake_refusal *out_refusal, hf_err *err)
{
    bool update = message->update;
    hf_mem *mem = hf_unit_mem(unit);
    hf_event_builder *events;
    hf_value args = NULL;
    int64_t first = 0; /* command, task */
    hf_ulid id;
    hf_status st;

    *out_refusal = (hf_intake_refusal){0};
    st = message_fit(in, target, message, mem, &args, out_refusal, err);
    if (!st && !out_refusal->outcome)
        st = hf_keys_take(in->keys, 2, &first, err);
    if (st || out_refusal->outcome)
        return st;
    id = hf_intake_id(in->now_us, first);
    hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_WHILE_OPEN);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED, in->now_us,
                   0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, id);
    hf_event_put_text(events, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, message->name);
    st = hf_intake_value_put(in, unit, HF_KEY_ARGUMENTS, args, err);
    row.key = first;
    row.outcome = update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED;
    row.message_ahead = 1;
    row.name = message->name;
    row.state = update ? (int64_t)HF_UPDATE_STATUS_ACCEPTED : (int64_t)HF_SIGNAL_STATUS_RECEIVED;
    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    hf_unit_row(
        unit, 0,
        hf_row_task_wake(mem, first + 1, target->base.run, target->queue, in->now_us, in->now_us));
    *out_command = first;
    return st;
}
