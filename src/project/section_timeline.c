/* section_timeline.c: an event as an entry of the timeline: see section.h. What an entry says comes
   from the event itself and from the events before it, never from rows that may have moved on. */
#include "project/edge.h"
#include "project/section.h"
#include "project/sheet.h"

hf_timeline_kind hf_section_kind(hf_event_type type)
{
    switch ((int)type) {
    case HF_EVENT_START_ACCEPTED:
    case HF_EVENT_START_REJECTED:
    case HF_EVENT_REPAIR_REQUESTED:
    case HF_EVENT_CANCEL_REQUESTED:
    case HF_EVENT_TERMINATE_REQUESTED:
    case HF_EVENT_ARCHIVE_REQUESTED:
        return HF_TIMELINE_KIND_COMMAND;
    case HF_EVENT_SIGNAL_WAIT_OPENED:
    case HF_EVENT_SIGNAL_RECEIVED:
    case HF_EVENT_SIGNAL_APPLIED:
        return HF_TIMELINE_KIND_SIGNAL;
    case HF_EVENT_UPDATE_ACCEPTED:
    case HF_EVENT_UPDATE_REJECTED:
    case HF_EVENT_UPDATE_APPLIED:
    case HF_EVENT_UPDATE_COMPLETED:
        return HF_TIMELINE_KIND_UPDATE;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
    case HF_EVENT_CHILD_RUN_STARTED:
    case HF_EVENT_CHILD_RUN_COMPLETED:
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
    case HF_EVENT_PARENT_CLOSE_POLICY_APPLIED:
    case HF_EVENT_PARENT_CLOSE_POLICY_FAILED:
        return HF_TIMELINE_KIND_CHILD;
    case HF_EVENT_CONDITION_WAIT_OPENED:
    case HF_EVENT_CONDITION_WAIT_SATISFIED:
    case HF_EVENT_CONDITION_WAIT_TIMED_OUT:
        return HF_TIMELINE_KIND_CONDITION;
    case HF_EVENT_ACTIVITY_SCHEDULED:
    case HF_EVENT_ACTIVITY_STARTED:
    case HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED:
    case HF_EVENT_ACTIVITY_RETRY_SCHEDULED:
    case HF_EVENT_ACTIVITY_COMPLETED:
    case HF_EVENT_ACTIVITY_FAILED:
    case HF_EVENT_ACTIVITY_CANCELLED:
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        return HF_TIMELINE_KIND_ACTIVITY;
    case HF_EVENT_FAILURE_HANDLED:
        return HF_TIMELINE_KIND_FAILURE;
    case HF_EVENT_SIDE_EFFECT_RECORDED:
        return HF_TIMELINE_KIND_SIDE_EFFECT;
    case HF_EVENT_VERSION_MARKER_RECORDED:
        return HF_TIMELINE_KIND_VERSION;
    case HF_EVENT_TIMER_SCHEDULED:
    case HF_EVENT_TIMER_FIRED:
    case HF_EVENT_TIMER_CANCELLED:
        return HF_TIMELINE_KIND_TIMER;
    default:
        return HF_TIMELINE_KIND_WORKFLOW;
    }
}

/* Where the entry points: a kind and the key of the payload that has its id. */
typedef struct pointer {
    hf_timeline_source_kind kind;
    const char *key;
} pointer;

static pointer entry_source(hf_timeline_kind kind)
{
    switch (kind) {
    case HF_TIMELINE_KIND_COMMAND:
        return (pointer){HF_TIMELINE_SOURCE_KIND_WORKFLOW_COMMAND, "workflow_command_id"};
    case HF_TIMELINE_KIND_SIGNAL:
        return (pointer){HF_TIMELINE_SOURCE_KIND_SIGNAL_WAIT, "signal_wait_id"};
    case HF_TIMELINE_KIND_UPDATE:
        return (pointer){HF_TIMELINE_SOURCE_KIND_WORKFLOW_COMMAND, "update_id"};
    case HF_TIMELINE_KIND_CHILD:
        return (pointer){HF_TIMELINE_SOURCE_KIND_CHILD_WORKFLOW_RUN, "child_workflow_run_id"};
    case HF_TIMELINE_KIND_CONDITION:
        return (pointer){HF_TIMELINE_SOURCE_KIND_CONDITION_WAIT, "condition_wait_id"};
    case HF_TIMELINE_KIND_ACTIVITY:
        return (pointer){HF_TIMELINE_SOURCE_KIND_ACTIVITY_EXECUTION, "activity_execution_id"};
    case HF_TIMELINE_KIND_FAILURE:
        return (pointer){HF_TIMELINE_SOURCE_KIND_WORKFLOW_FAILURE, "failure_id"};
    case HF_TIMELINE_KIND_VERSION:
        return (pointer){HF_TIMELINE_SOURCE_KIND_VERSION_MARKER, "change_id"};
    case HF_TIMELINE_KIND_TIMER:
        return (pointer){HF_TIMELINE_SOURCE_KIND_TIMER, "timer_id"};
    case HF_TIMELINE_KIND_SIDE_EFFECT:
    case HF_TIMELINE_KIND_WORKFLOW:
        break;
    }
    return (pointer){HF_TIMELINE_SOURCE_KIND_WORKFLOW_RUN, NULL};
}

/* One line: the type and what it is about. What people wrote stays out of bundles: a redactor is
   not shown summaries. */
static hf_value entry_summary(const hf_section *section, hf_value event)
{
    static const char *const names[] = {"activity_type",       "signal_name",   "update_name",
                                        "child_workflow_type", "condition_key", "change_id",
                                        "timer_kind",          "workflow_type", "reason"};
    size_t count = sizeof(names) / sizeof(names[0]) - (section->lean ? 1 : 0);
    hf_mem *mem = section->mem;
    hf_value payload = hf_value_find(event, HF_SLICE("payload"));
    const char *about = NULL;
    const char *text;

    for (size_t i = 0; !about && i < count; i++)
        about = hf_str(hf_value_find(payload, hf_slice_of(names[i])), "", NULL);
    text = hf_mem_format(mem, "%s%s%s", hf_str(event, "type", ""), about ? " " : "",
                         about ? about : "");
    return text ? hf_value_string(mem, hf_slice_of(text)) : NULL;
}

static hf_value found(hf_value object, const char *name)
{
    hf_value value = name ? hf_value_find(object, hf_slice_of(name)) : NULL;

    return value ? value : hf_value_null();
}

hf_status hf_section_entry(const hf_section *section, const hf_event *stored, hf_value event,
                           hf_value *out_entry, hf_err *err)
{
    hf_value payload = hf_value_find(event, HF_SLICE("payload"));
    hf_timeline_kind kind = hf_section_kind(stored->type);
    pointer source = entry_source(kind);
    hf_ulid run = hf_dossier_run_id(&section->dossier->run);
    hf_sheet sh = hf_sheet_begin(section, err);

    hf_sheet_put(&sh, "id", found(event, "id"));
    hf_sheet_put(&sh, "history_event_id", found(event, "id"));
    hf_sheet_put(&sh, "sequence", found(event, "sequence"));
    hf_sheet_put(&sh, "type", found(event, "type"));
    hf_sheet_word(&sh, "kind", &hf_timeline_kind_list, kind);
    hf_sheet_text(&sh, "entry_kind", HF_SLICE("point"));
    hf_sheet_word(&sh, "source_kind", &hf_timeline_source_kind_list, source.kind);
    if (source.key)
        hf_sheet_put(&sh, "source_id", found(payload, source.key));
    else
        hf_sheet_id(&sh, "source_id", &run);
    hf_sheet_put(&sh, "summary", entry_summary(section, event));
    hf_sheet_put(&sh, "recorded_at", found(event, "recorded_at"));
    hf_sheet_int(&sh, "workflow_sequence", stored->step ? stored->step : HF_NONE);
    hf_sheet_line(&sh, stored->step
                           ? hf_track_step_get(hf_compose_track(section->compose), stored->step)
                           : NULL);
    hf_sheet_put(&sh, "command_id", found(event, "workflow_command_id"));
    hf_sheet_put(&sh, "task_id", found(event, "workflow_task_id"));
    hf_sheet_put(&sh, "activity_execution_id", found(payload, "activity_execution_id"));
    hf_sheet_put(&sh, "timer_id", found(payload, "timer_id"));
    hf_sheet_put(&sh, "failure_id", found(payload, "failure_id"));
    if (!section->lean)
        hf_sheet_put(&sh, "payload", payload ? payload : hf_value_null());
    return hf_sheet_end(&sh, out_entry);
}
