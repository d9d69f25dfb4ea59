/* record.c: commands that change nothing: refused ones, and accepted ones that found nothing to do.
   They are answered and kept; the run's history hears of them only where the contract has an event
   for it, and never after the run has closed. */
#include "base/value.h"
#include "intake/intake_impl.h"

/* Whether history says that the run refused it. */
static bool event_wanted(const hf_intake_target *target, const hf_command_row *row)
{
    return row->status == HF_COMMAND_STATUS_REJECTED && target->base.closed_us == HF_NONE &&
           (row->type == HF_COMMAND_TYPE_START || row->type == HF_COMMAND_TYPE_UPDATE);
}

static void start_rejected(const hf_intake *in, const hf_intake_target *target,
                           const hf_command_row *row, hf_unit *unit)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    hf_event_begin(events, HF_EVENT_START_REJECTED, in->now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, hf_ulid_form(in->now_us, row->key, 0));
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, target->instance.type);
    hf_event_put_text(events, HF_KEY_OUTCOME,
                      hf_slice_of(hf_cmd_outcome_text((hf_cmd_outcome)row->outcome)));
    hf_event_put_text(events, HF_KEY_REJECTION_REASON,
                      hf_slice_of(hf_rejection_reason_text((hf_rejection_reason)row->rejection)));
}

static hf_status update_rejected(const hf_intake *in, const hf_command_row *row,
                                 const hf_command_note *note, hf_unit *unit, hf_err *err)
{
    hf_event_builder *events = hf_unit_events(unit, 0);
    hf_ulid id = hf_ulid_form(in->now_us, row->key, 0);
    hf_slice arguments = {0};
    hf_slice errors = {0};
    hf_status st = HF_OK;

    hf_event_begin(events, HF_EVENT_UPDATE_REJECTED, in->now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, HF_KEY_UPDATE_ID, id);
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, row->name);
    if (note->arguments)
        st = hf_intake_json(hf_unit_mem(unit), note->arguments, &arguments, err);
    if (!st && arguments.ptr)
        hf_intake_payload_put(in, unit, HF_KEY_ARGUMENTS, arguments);
    if (!st && note->validation_errors)
        st = hf_intake_json(hf_unit_mem(unit), note->validation_errors, &errors, err);
    if (!st && errors.ptr)
        hf_event_put_json(events, HF_KEY_VALIDATION_ERRORS, errors);
    return st;
}

hf_status hf_intake_record_draft(const hf_intake *in, const hf_intake_target *target,
                                 const hf_command_row *row, const hf_command_note *note,
                                 hf_unit *unit, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_status st = HF_OK;

    if (target->base.run == HF_NONE) {
        hf_unit_row(unit, 0, hf_row_command_leave(mem, row));
        return HF_OK;
    }
    if (!event_wanted(target, row)) {
        hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_ALWAYS);
        hf_unit_row(unit, 0, hf_row_command_record(mem, row));
        return HF_OK;
    }
    hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_WHILE_OPEN);
    hf_unit_row(unit, 0, hf_row_command_new(mem, row));
    if (row->type == HF_COMMAND_TYPE_START)
        start_rejected(in, target, row, unit);
    else
        st = update_rejected(in, row, note, unit, err);
    return st;
}
