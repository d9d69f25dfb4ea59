/* liveness_value.c: the state of a run under the names of the published run summary. */
#include "project/edge.h"
#include "project/why.h"

static hf_value text_or_null(hf_mem *mem, const char *text)
{
    return text ? hf_value_string(mem, hf_slice_of(text)) : hf_value_null();
}

static void task_fields(hf_value_list *into, const hf_liveness *liveness, hf_mem *mem)
{
    const hf_dossier_task *task = liveness->task;
    hf_ulid id;

    if (task)
        id = hf_ulid_form(task->created_us, task->key, 0);
    hf_value_set(into, HF_SLICE("next_task_id"), task ? hf_edge_id(mem, &id) : hf_value_null());
    hf_value_set(into, HF_SLICE("next_task_type"),
                 text_or_null(mem, task ? hf_task_type_text((hf_task_type)task->kind) : NULL));
    hf_value_set(
        into, HF_SLICE("next_task_status"),
        text_or_null(mem, task ? hf_task_status_text((hf_task_status)task->status) : NULL));
    hf_value_set(into, HF_SLICE("next_task_transport_state"),
                 text_or_null(mem, task ? hf_transport_state_text(liveness->transport) : NULL));
    hf_value_set(into, HF_SLICE("next_task_at"),
                 hf_edge_time(mem, task ? task->available_us : HF_EDGE_NO_TIME));
    hf_value_set(into, HF_SLICE("next_task_lease_expires_at"),
                 hf_edge_time(mem, task ? task->lease_until_us : HF_EDGE_NO_TIME));
}

hf_value hf_liveness_badge(hf_mem *mem, bool problem, bool replay_blocked)
{
    if (!problem)
        return hf_value_null();
    return hf_json_(mem, "{'code': %s, 'tone': %s}", replay_blocked ? "replay_blocked" : "active",
                    replay_blocked ? "dark" : "warning");
}

static void repair_fields(hf_value_list *into, const hf_liveness *liveness, hf_mem *mem)
{
    const hf_repair_blocked_look *look = hf_repair_blocked_look_get(liveness->repair_blocked);
    const hf_vocab_item *item =
        hf_vocab_by_number(&hf_repair_blocked_reason_list, liveness->repair_blocked);
    hf_value blocked = hf_value_null();

    if (look && item)
        blocked = hf_json_(mem,
                           "{'code': %s, 'label': %s, 'description': %s, 'tone': %s, "
                           "'badge_visible': %p}",
                           item->text, look->label, item->sentence, look->tone,
                           (const void *)hf_value_bool(look->badge));
    hf_value_set(into, HF_SLICE("can_repair"), hf_value_bool(!look));
    hf_value_set(into, HF_SLICE("repair_blocked_reason"),
                 text_or_null(mem, look && item ? item->text : NULL));
    hf_value_set(into, HF_SLICE("repair_blocked"), blocked);
    hf_value_set(into, HF_SLICE("repair_attention"), hf_value_bool(liveness->repair_attention));
    hf_value_set(into, HF_SLICE("task_problem"), hf_value_bool(liveness->task_problem));
    hf_value_set(into, HF_SLICE("task_problem_badge"),
                 hf_liveness_badge(mem, liveness->task_problem,
                                   liveness->state == HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED));
}

hf_value hf_liveness_value(const hf_liveness *liveness, const hf_dossier *dossier, hf_mem *mem)
{
    hf_value_list *into = hf_value_object(mem);

    hf_value_set(into, HF_SLICE("status"),
                 text_or_null(mem, hf_run_status_text((hf_run_status)dossier->base.status)));
    hf_value_set(into, HF_SLICE("liveness_state"),
                 text_or_null(mem, hf_liveness_state_text(liveness->state)));
    hf_value_set(into, HF_SLICE("liveness_reason"), text_or_null(mem, liveness->reason));
    hf_value_set(
        into, HF_SLICE("wait_kind"),
        text_or_null(mem, liveness->wait_kind ? hf_wait_kind_text(liveness->wait_kind) : NULL));
    hf_value_set(
        into, HF_SLICE("wait_reason"),
        text_or_null(mem,
                     liveness->state == HF_LIVENESS_CLOSED
                         ? NULL
                         : hf_vocab_by_number(&hf_liveness_state_list, liveness->state)->sentence));
    hf_value_set(into, HF_SLICE("open_wait_id"), text_or_null(mem, liveness->open_wait_id));
    hf_value_set(into, HF_SLICE("open_wait_count"),
                 hf_value_int(mem, (int64_t)liveness->open_waits));
    hf_value_set(into, HF_SLICE("wait_started_at"), hf_edge_time(mem, liveness->since_us));
    hf_value_set(into, HF_SLICE("wait_deadline_at"), hf_edge_time(mem, liveness->until_us));
    hf_value_set(into, HF_SLICE("resume_source_kind"),
                 text_or_null(mem, liveness->source_kind
                                       ? hf_resume_source_kind_text(liveness->source_kind)
                                       : NULL));
    hf_value_set(into, HF_SLICE("resume_source_id"), text_or_null(mem, liveness->source_id));
    hf_value_set(into, HF_SLICE("queue"), hf_edge_text(mem, dossier->queue));
    hf_value_set(into, HF_SLICE("compatibility"), hf_edge_text(mem, liveness->compatibility));
    task_fields(into, liveness, mem);
    repair_fields(into, liveness, mem);
    return hf_value_finish(into);
}
