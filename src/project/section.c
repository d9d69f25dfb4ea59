/* section.c: see section.h. */
#include "project/section.h"

#include "model/vocab.h"
#include "project/edge.h"
#include "project/sheet.h"

size_t hf_section_skip(const hf_section *section, size_t total)
{
    return section->limit && total > section->limit ? total - section->limit : 0;
}

bool hf_section_takes(const hf_section *section, int64_t step)
{
    return !section->step || section->step == step;
}

/* ---- the run */

/* The published shape is a list of texts; ours are pairs. */
static hf_value labels_value(hf_mem *mem, hf_value labels)
{
    hf_value_list *list = hf_value_array(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(labels, i, &name, &item); i++) {
        hf_slice value = hf_value_slice(item);
        const char *text = hf_mem_format(mem, "%.*s=%.*s", (int)name.len, name.ptr, (int)value.len,
                                         value.ptr ? value.ptr : "");

        hf_value_append(list, text ? hf_value_string(mem, hf_slice_of(text)) : NULL);
    }
    return hf_value_finish(list);
}

static void put_state(hf_sheet *sh)
{
    const hf_dossier *d = sh->s->dossier;

    hf_sheet_word(sh, "status", &hf_run_status_list, d->base.status);
    hf_sheet_word(sh, "status_bucket", &hf_status_bucket_list,
                  hf_run_status_bucket((hf_run_status)d->base.status));
    hf_sheet_word(sh, "closed_reason", &hf_closed_reason_list, d->base.closed_reason);
    hf_sheet_time(sh, "started_at", d->run.created_us);
    hf_sheet_time(sh, "closed_at", d->base.closed_us);
    hf_sheet_time(sh, "last_progress_at", d->base.last_us);
}

hf_status hf_section_workflow(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = section->dossier;
    const hf_event *started = hf_compose_started(section->compose);
    hf_value labels = NULL;
    hf_sheet sh = hf_sheet_begin(section, err);

    sh.st = hf_compose_field(section->compose, started, HF_KEY_VISIBILITY_LABELS, &labels, err);
    hf_sheet_text(&sh, "instance_id", d->run.instance_id);
    hf_sheet_run(&sh, "run_id", &d->run);
    hf_sheet_int(&sh, "run_number", d->run.number);
    hf_sheet_put(&sh, "is_current_run", hf_value_bool(d->current.key == d->run.key));
    hf_sheet_run(&sh, "current_run_id", &d->current);
    hf_sheet_word(&sh, "current_run_source", &hf_current_run_source_list,
                  HF_CURRENT_RUN_SOURCE_CONTINUE_AS_NEW_LINEAGE);
    hf_sheet_text(&sh, "workflow_type", d->run.type);
    hf_sheet_text(&sh, "workflow_class", d->run.type);
    hf_sheet_text(&sh, "business_key", d->business_key);
    hf_sheet_put(&sh, "visibility_labels", labels_value(section->mem, labels));
    hf_sheet_put(&sh, "memo", hf_compose_memo(section->compose));
    hf_sheet_put(&sh, "search_attributes", hf_compose_attributes(section->compose));
    hf_sheet_put(&sh, "connection", hf_value_null());
    hf_sheet_text(&sh, "queue", d->queue);
    hf_sheet_field(&sh, "compatibility", started, HF_KEY_COMPATIBILITY);
    hf_sheet_field(&sh, "workflow_definition_fingerprint", started,
                   HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT);
    hf_sheet_word(&sh, "declared_contract_source", &hf_contract_source_list,
                  d->definition ? HF_CONTRACT_SOURCE_DURABLE_HISTORY
                                : HF_CONTRACT_SOURCE_UNAVAILABLE);
    hf_sheet_time(&sh, "execution_deadline_at", d->execution_deadline_us);
    hf_sheet_time(&sh, "run_deadline_at", d->run_deadline_us);
    hf_sheet_time(&sh, "archived_at", d->archived_us);
    hf_sheet_int(&sh, "last_history_sequence", d->base.last_seq);
    hf_sheet_int(&sh, "last_command_sequence", d->base.command_seq);
    hf_sheet_int(&sh, "message_cursor_position", d->base.message_cursor);
    put_state(&sh);
    return hf_sheet_end(&sh, out_value);
}

hf_status hf_section_summary(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = section->dossier;
    int64_t failures = 0;
    hf_sheet sh = hf_sheet_begin(section, err);

    for (const hf_track_failure *f = hf_track_failures(hf_compose_track(section->compose)); f;
         f = f->next)
        failures++;
    hf_sheet_run(&sh, "id", &d->run);
    hf_sheet_text(&sh, "workflow_instance_id", d->run.instance_id);
    hf_sheet_int(&sh, "run_number", d->run.number);
    hf_sheet_text(&sh, "workflow_type", d->run.type);
    hf_sheet_text(&sh, "business_key", d->business_key);
    hf_sheet_int(&sh, "history_event_count", d->base.last_seq);
    hf_sheet_int(&sh, "history_size_bytes", d->base.history_bytes);
    hf_sheet_int(&sh, "exception_count", failures);
    put_state(&sh);
    return hf_sheet_end(&sh, out_value);
}

/* ---- tasks */

hf_status hf_section_tasks(const hf_section *section, hf_value *out_value, hf_err *err)
{
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_dossier_task *t = section->dossier->tasks; !st && t; t = t->next) {
        hf_ulid id = hf_ulid_form(t->created_us, t->key, 0);
        hf_value body = hf_value_null();
        hf_sheet sh = hf_sheet_begin(section, err);

        if (t->body.len)
            sh.st = hf_edge_json(section->mem, t->body, &body, err);
        hf_sheet_id(&sh, "id", &id);
        hf_sheet_word(&sh, "type", &hf_task_type_list, t->kind);
        hf_sheet_word(&sh, "status", &hf_task_status_list, t->status);
        hf_sheet_put(&sh, "connection", hf_value_null());
        hf_sheet_text(&sh, "queue", t->queue);
        hf_sheet_int(&sh, "priority", t->priority);
        hf_sheet_time(&sh, "available_at", t->available_us);
        hf_sheet_text(&sh, "lease_owner", t->owner);
        hf_sheet_time(&sh, "lease_expires_at", t->lease_until_us);
        hf_sheet_int(&sh, "attempt_count", t->attempt);
        hf_sheet_int(&sh, "repair_count", t->repair_count);
        hf_sheet_time(&sh, "repair_available_at", t->repair_us);
        hf_sheet_time(&sh, "created_at", t->created_us);
        hf_sheet_put(&sh, "payload", body);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}

/* ---- steps */

static bool step_is(const hf_track_step *step, hf_event_type type)
{
    return step->opened && step->opened->type == type;
}

static size_t steps_count(const hf_track *track, hf_event_type type)
{
    size_t count = 0;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        count += step_is(step, type);
    return count;
}

/* An attempt, how far it said it was, and how it failed. */
static hf_status attempt_append(const hf_section *section, const hf_track_step *step,
                                const hf_track_attempt *attempt, hf_value_list *list, hf_err *err)
{
    hf_value shown = hf_compose_attempt(section->compose, step, attempt);
    hf_slice name;
    hf_value item;
    hf_sheet sh = hf_sheet_begin(section, err);

    for (size_t i = 0; hf_value_member(shown, i, &name, &item); i++)
        hf_value_set(sh.object, name, item);
    hf_sheet_text(&sh, "worker", attempt->worker);
    hf_sheet_text(&sh, "lease_owner", attempt->worker);
    hf_sheet_put(&sh, "task_id", /* the engine runs its own without one */
                 attempt->worker.len ? hf_edge_id(section->mem, &step->id) : hf_value_null());
    hf_sheet_field(&sh, "last_heartbeat_progress", attempt->beat, HF_KEY_PROGRESS);
    hf_sheet_field(&sh, "exception_type", attempt->ended, HF_KEY_EXCEPTION_TYPE);
    hf_sheet_field(&sh, "message", attempt->ended, HF_KEY_MESSAGE);
    hf_sheet_field(&sh, "timeout_kind", attempt->ended, HF_KEY_TIMEOUT_KIND);
    return shown ? hf_sheet_append(&sh, list) : hf_err_nomem(err, "an attempt");
}

/* The snapshot, then what only the list has: all attempts and the result. */
static hf_status activity_append(const hf_section *section, const hf_track_step *step,
                                 hf_value_list *list, hf_err *err)
{
    hf_value_list *attempts = hf_value_array(section->mem);
    hf_value snapshot = NULL;
    hf_value item;
    hf_slice name;
    hf_sheet sh = hf_sheet_begin(section, err);

    sh.st = hf_compose_activity(section->compose, step, &snapshot, err);
    for (size_t i = 0; !sh.st && hf_value_member(snapshot, i, &name, &item); i++)
        hf_value_set(sh.object, name, item);
    for (const hf_track_attempt *a = step->attempts; !sh.st && a; a = a->next)
        sh.st = attempt_append(section, step, a, attempts, err);
    hf_sheet_line(&sh, step);
    hf_sheet_field(&sh, "last_heartbeat_progress", step->attempt ? step->attempt->beat : NULL,
                   HF_KEY_PROGRESS);
    hf_sheet_put(&sh, "attempts", hf_value_finish(attempts));
    hf_sheet_payload(&sh, "result",
                     step->ended && step->ended->type == HF_EVENT_ACTIVITY_COMPLETED ? step->ended
                                                                                     : NULL,
                     HF_KEY_RESULT);
    return hf_sheet_append(&sh, list);
}

hf_status hf_section_activities(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    size_t skip = section->step
                      ? 0
                      : hf_section_skip(section, steps_count(track, HF_EVENT_ACTIVITY_SCHEDULED));

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next)
        if (step_is(step, HF_EVENT_ACTIVITY_SCHEDULED) && hf_section_takes(section, step->step) &&
            !(skip && skip--))
            st = activity_append(section, step, list, err);
    return hf_sheet_list(list, st, out_value, err);
}

static hf_timer_status timer_status(const hf_track_step *step)
{
    if (!step->timer_ended)
        return HF_TIMER_STATUS_PENDING;
    return step->timer_ended->type == HF_EVENT_TIMER_FIRED ? HF_TIMER_STATUS_FIRED
                                                           : HF_TIMER_STATUS_CANCELLED;
}

/* How the timer ended, and which wait it stands behind. */
static void put_timer_end(hf_sheet *sh, const hf_track_step *step)
{
    hf_timer_status status = timer_status(step);
    const hf_event *opened = step_is(step, HF_EVENT_CONDITION_WAIT_OPENED) ? step->opened : NULL;

    hf_sheet_event_time(sh, "fired_at", status == HF_TIMER_STATUS_FIRED ? step->timer_ended : NULL);
    hf_sheet_event_time(sh, "cancelled_at",
                        status == HF_TIMER_STATUS_CANCELLED ? step->timer_ended : NULL);
    if (opened)
        hf_sheet_id(sh, "condition_wait_id", &step->id);
    else
        hf_sheet_put(sh, "condition_wait_id", hf_value_null());
    hf_sheet_field(sh, "condition_key", opened, HF_KEY_CONDITION_KEY);
    hf_sheet_field(sh, "condition_definition_fingerprint", opened,
                   HF_KEY_CONDITION_DEFINITION_FINGERPRINT);
}

hf_status hf_section_timers(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        hf_sheet sh = hf_sheet_begin(section, err);

        if (!step->timer_set || !hf_section_takes(section, step->step))
            continue;
        hf_sheet_id(&sh, "id", &step->timer_id);
        hf_sheet_int(&sh, "sequence", step->step);
        hf_sheet_line(&sh, step);
        hf_sheet_word(&sh, "status", &hf_timer_status_list, timer_status(step));
        hf_sheet_field(&sh, "timer_kind", step->timer_set, HF_KEY_TIMER_KIND);
        hf_sheet_field(&sh, "delay_seconds", step->timer_set, HF_KEY_DELAY_SECONDS);
        hf_sheet_field(&sh, "fire_at", step->timer_set, HF_KEY_FIRE_AT);
        hf_sheet_event_time(&sh, "created_at", step->timer_set);
        hf_sheet_event_time(&sh, "closed_at", step->timer_ended);
        put_timer_end(&sh, step);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}

/* Everything in these lists is what events say. */
static void put_authority(hf_sheet *sh)
{
    hf_sheet_word(sh, "history_authority", &hf_history_authority_list,
                  HF_HISTORY_AUTHORITY_TYPED_HISTORY);
    hf_sheet_put(sh, "diagnostic_only", hf_value_bool(false));
}

static void put_source(hf_sheet *sh, const hf_track_failure *f)
{
    const hf_track *track = hf_compose_track(sh->s->compose);
    const hf_track_step *step = hf_track_step_get(track, f->event->step);

    hf_sheet_word(sh, "source_kind", &hf_failure_source_kind_list, f->source);
    if (f->source == HF_FAILURE_SOURCE_KIND_ACTIVITY_EXECUTION && step)
        hf_sheet_id(sh, "source_id", &step->id);
    else if (f->source == HF_FAILURE_SOURCE_KIND_CHILD_WORKFLOW_RUN && step)
        hf_sheet_field(sh, "source_id", step->opened, HF_KEY_CHILD_WORKFLOW_RUN_ID);
    else if (f->source == HF_FAILURE_SOURCE_KIND_WORKFLOW_COMMAND)
        hf_sheet_field(sh, "source_id", f->event, HF_KEY_UPDATE_ID);
    else
        hf_sheet_run(sh, "source_id", &sh->s->dossier->run);
}

hf_status hf_section_failures(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_failure *f = hf_track_failures(track); !st && f; f = f->next) {
        hf_sheet sh = hf_sheet_begin(section, err);

        if (!hf_section_takes(section, f->event->step))
            continue;
        hf_sheet_id(&sh, "id", &f->id);
        put_source(&sh, f);
        hf_sheet_word(&sh, "propagation_kind", &hf_propagation_kind_list, f->propagation);
        hf_sheet_field(&sh, "failure_category", f->event, HF_KEY_FAILURE_CATEGORY);
        hf_sheet_put(&sh, "handled", hf_value_bool(f->handled));
        hf_sheet_field(&sh, "non_retryable", f->event, HF_KEY_NON_RETRYABLE);
        hf_sheet_field(&sh, "exception_type", f->event, HF_KEY_EXCEPTION_TYPE);
        hf_sheet_field(&sh, "exception_class", f->event, HF_KEY_EXCEPTION_TYPE);
        hf_sheet_field(&sh, "message", f->event, HF_KEY_MESSAGE);
        hf_sheet_payload(&sh, "exception", f->event, HF_KEY_EXCEPTION);
        hf_sheet_int(&sh, "sequence", f->event->step ? f->event->step : HF_NONE);
        hf_sheet_line(&sh, f->event->step ? hf_track_step_get(track, f->event->step) : NULL);
        hf_sheet_event_time(&sh, "created_at", f->event);
        put_authority(&sh);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}

/* ---- links */

static hf_status parents_list(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = section->dossier;
    const hf_event *started = hf_compose_started(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;
    hf_ulid from;

    if (d->parent.key != HF_NONE) {
        hf_sheet sh = hf_sheet_begin(section, err);

        hf_sheet_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CHILD_WORKFLOW);
        hf_sheet_text(&sh, "workflow_instance_id", d->parent.instance_id);
        hf_sheet_run(&sh, "workflow_run_id", &d->parent);
        hf_sheet_text(&sh, "workflow_type", d->parent.type);
        hf_sheet_int(&sh, "sequence", d->parent_step);
        put_authority(&sh);
        st = hf_sheet_append(&sh, list);
    }
    if (!st && started && hf_event_id(started, HF_KEY_CONTINUED_FROM_RUN_ID, &from)) {
        hf_sheet sh = hf_sheet_begin(section, err);

        hf_sheet_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CONTINUE_AS_NEW);
        hf_sheet_text(&sh, "workflow_instance_id", d->run.instance_id);
        hf_sheet_id(&sh, "workflow_run_id", &from);
        put_authority(&sh);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}

static void put_child(hf_sheet *sh, const hf_track_step *step)
{
    const hf_event *run = step->child_started ? step->child_started : step->opened;
    hf_slice status = HF_SLICE("started");

    if (step->ended)
        status = step->ended->type == HF_EVENT_CHILD_RUN_COMPLETED    ? HF_SLICE("completed")
                 : step->ended->type == HF_EVENT_CHILD_RUN_CANCELLED  ? HF_SLICE("cancelled")
                 : step->ended->type == HF_EVENT_CHILD_RUN_TERMINATED ? HF_SLICE("terminated")
                                                                      : HF_SLICE("failed");
    hf_sheet_word(sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CHILD_WORKFLOW);
    hf_sheet_id(sh, "child_call_id", &step->id);
    hf_sheet_int(sh, "sequence", step->step);
    hf_sheet_field(sh, "workflow_instance_id", run, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID);
    hf_sheet_field(sh, "workflow_run_id", run, HF_KEY_CHILD_WORKFLOW_RUN_ID);
    hf_sheet_field(sh, "workflow_type", run, HF_KEY_CHILD_WORKFLOW_TYPE);
    hf_sheet_text(sh, "status", status);
    hf_sheet_field(sh, "queue", step->opened, HF_KEY_QUEUE);
    hf_sheet_payload(sh, "arguments", step->opened, HF_KEY_ARGUMENTS);
    put_authority(sh);
}

static hf_status children_list(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        hf_sheet sh = hf_sheet_begin(section, err);

        if (!hf_section_takes(section, step->step))
            continue;
        if (step_is(step, HF_EVENT_CHILD_WORKFLOW_SCHEDULED)) {
            put_child(&sh, step);
            st = hf_sheet_append(&sh, list);
        } else if (step_is(step, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW)) {
            hf_sheet_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CONTINUE_AS_NEW);
            hf_sheet_text(&sh, "workflow_instance_id", section->dossier->run.instance_id);
            hf_sheet_field(&sh, "workflow_run_id", step->opened, HF_KEY_CONTINUED_TO_RUN_ID);
            put_authority(&sh);
            st = hf_sheet_append(&sh, list);
        }
    }
    return hf_sheet_list(list, st, out_value, err);
}

hf_status hf_section_links(const hf_section *section, hf_value *out_value, hf_err *err)
{
    hf_value parents = NULL;
    hf_value children = NULL;
    hf_sheet sh = hf_sheet_begin(section, err);

    sh.st = parents_list(section, &parents, err);
    if (!sh.st)
        sh.st = children_list(section, &children, err);
    hf_sheet_put(&sh, "projection_source", hf_value_null());
    hf_sheet_put(&sh, "parents", parents);
    hf_sheet_put(&sh, "children", children);
    return hf_sheet_end(&sh, out_value);
}
