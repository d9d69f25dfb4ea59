/* intake_repair.c: the record of an accepted repair. */
#include "intake/intake.h"

void hf_intake_repair_event(hf_unit *unit, const hf_intake_repair *repair, int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    hf_event_begin(events, HF_EVENT_REPAIR_REQUESTED, now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, repair->command_id);
    hf_event_put_text(events, HF_KEY_OUTCOME, hf_slice_of(hf_cmd_outcome_text(repair->outcome)));
    hf_event_put_text(events, HF_KEY_LIVENESS_STATE,
                      hf_slice_of(hf_liveness_state_text(repair->state)));
    if (repair->wait)
        hf_event_put_text(events, HF_KEY_WAIT_KIND, hf_slice_of(hf_wait_kind_text(repair->wait)));
    if (!repair->task)
        return;
    hf_event_put_id(events, HF_KEY_TASK_ID, repair->task_id);
    hf_event_put_text(events, HF_KEY_TASK_TYPE, hf_slice_of(hf_task_type_text(repair->task)));
}
