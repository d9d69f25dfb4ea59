/* section.c: see section.h. */
#include "project/section.h"

#include "model/vocab.h"
#include "project/edge.h"

/* An object in the making; the first failure stays. */
typedef struct sheet {
    const hf_section *s;
    hf_value_list *object;
    hf_err *err;
    hf_status st;
} sheet;

static sheet sheet_begin(const hf_section *s, hf_err *err)
{
    return (sheet){.s = s, .object = hf_value_object(s->mem), .err = err};
}

static void put(sheet *sh, const char *name, hf_value value)
{
    hf_value_set(sh->object, hf_slice_of(name), value);
}

static void put_text(sheet *sh, const char *name, hf_slice text)
{
    put(sh, name, hf_edge_text(sh->s->mem, text));
}

/* A word of a list, null for HF_NONE and 0. */
static void put_word(sheet *sh, const char *name, const hf_vocab *list, int64_t number)
{
    const hf_vocab_item *item = number == HF_NONE ? NULL : hf_vocab_by_number(list, number);

    put_text(sh, name, item ? hf_slice_of(item->text) : (hf_slice){0});
}

static void put_int(sheet *sh, const char *name, int64_t number)
{
    put(sh, name, number == HF_NONE ? hf_value_null() : hf_value_int(sh->s->mem, number));
}

static void put_time(sheet *sh, const char *name, int64_t time_us)
{
    put(sh, name, hf_edge_time(sh->s->mem, time_us));
}

static void put_event_time(sheet *sh, const char *name, const hf_event *event)
{
    put_time(sh, name, event ? event->time_us : HF_EDGE_NO_TIME);
}

static void put_id(sheet *sh, const char *name, const hf_ulid *id)
{
    put(sh, name, hf_edge_id(sh->s->mem, id));
}

static void put_run(sheet *sh, const char *name, const hf_dossier_run *run)
{
    hf_ulid id;

    if (run->key == HF_NONE) {
        put(sh, name, hf_value_null());
        return;
    }
    id = hf_dossier_run_id(run);
    put_id(sh, name, &id);
}

/* What an event says under a key; null when there is no event, or it says nothing. */
static void put_field(sheet *sh, const char *name, const hf_event *event, hf_event_key key)
{
    hf_value value = NULL;

    if (!sh->st)
        sh->st = hf_compose_field(sh->s->compose, event, key, &value, sh->err);
    if (!sh->st)
        put(sh, name, value);
}

/* A payload always with its codec beside it, whatever the event would show. */
static void put_payload(sheet *sh, const char *name, const hf_event *event, hf_event_key key)
{
    hf_payload_value payload;
    hf_value value = hf_value_null();

    if (!sh->st && event && hf_event_payload(event, key, &payload))
        sh->st = hf_edge_envelope(sh->s->mem, &payload, &value, sh->err);
    if (!sh->st)
        put(sh, name, value);
}

static hf_status sheet_end(sheet *sh, hf_value *out_value)
{
    *out_value = hf_value_finish(sh->object);
    if (sh->st)
        return sh->st;
    return *out_value ? HF_OK : hf_err_nomem(sh->err, "a section");
}

/* Ends the sheet as the next item of a list. */
static hf_status sheet_append(sheet *sh, hf_value_list *list)
{
    hf_value value = NULL;
    hf_status st = sheet_end(sh, &value);

    if (!st)
        hf_value_append(list, value);
    return st;
}

static hf_status list_end(hf_value_list *list, hf_status st, hf_value *out_value, hf_err *err)
{
    *out_value = hf_value_finish(list);
    if (st)
        return st;
    return *out_value ? HF_OK : hf_err_nomem(err, "a section");
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

static void put_state(sheet *sh)
{
    const hf_dossier *d = sh->s->dossier;

    put_word(sh, "status", &hf_run_status_list, d->base.status);
    put_word(sh, "status_bucket", &hf_status_bucket_list,
             hf_run_status_bucket((hf_run_status)d->base.status));
    put_word(sh, "closed_reason", &hf_closed_reason_list, d->base.closed_reason);
    put_time(sh, "started_at", d->run.created_us);
    put_time(sh, "closed_at", d->base.closed_us);
    put_time(sh, "last_progress_at", d->base.last_us);
}

hf_status hf_section_workflow(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = section->dossier;
    const hf_event *started = hf_compose_started(section->compose);
    hf_value labels = NULL;
    sheet sh = sheet_begin(section, err);

    sh.st = hf_compose_field(section->compose, started, HF_KEY_VISIBILITY_LABELS, &labels, err);
    put_text(&sh, "instance_id", d->run.instance_id);
    put_run(&sh, "run_id", &d->run);
    put_int(&sh, "run_number", d->run.number);
    put(&sh, "is_current_run", hf_value_bool(d->current.key == d->run.key));
    put_run(&sh, "current_run_id", &d->current);
    put_word(&sh, "current_run_source", &hf_current_run_source_list,
             HF_CURRENT_RUN_SOURCE_CONTINUE_AS_NEW_LINEAGE);
    put_text(&sh, "workflow_type", d->run.type);
    put_text(&sh, "workflow_class", d->run.type);
    put_text(&sh, "business_key", d->business_key);
    put(&sh, "visibility_labels", labels_value(section->mem, labels));
    put(&sh, "memo", hf_compose_memo(section->compose));
    put(&sh, "search_attributes", hf_compose_attributes(section->compose));
    put(&sh, "connection", hf_value_null());
    put_text(&sh, "queue", d->queue);
    put_field(&sh, "compatibility", started, HF_KEY_COMPATIBILITY);
    put_field(&sh, "workflow_definition_fingerprint", started,
              HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT);
    put_word(&sh, "declared_contract_source", &hf_contract_source_list,
             d->definition ? HF_CONTRACT_SOURCE_DURABLE_HISTORY : HF_CONTRACT_SOURCE_UNAVAILABLE);
    put_time(&sh, "execution_deadline_at", d->execution_deadline_us);
    put_time(&sh, "run_deadline_at", d->run_deadline_us);
    put_time(&sh, "archived_at", d->archived_us);
    put_int(&sh, "last_history_sequence", d->base.last_seq);
    put_int(&sh, "last_command_sequence", d->base.command_seq);
    put_int(&sh, "message_cursor_position", d->base.message_cursor);
    put_state(&sh);
    return sheet_end(&sh, out_value);
}

hf_status hf_section_summary(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = section->dossier;
    int64_t failures = 0;
    sheet sh = sheet_begin(section, err);

    for (const hf_track_failure *f = hf_track_failures(hf_compose_track(section->compose)); f;
         f = f->next)
        failures++;
    put_run(&sh, "id", &d->run);
    put_text(&sh, "workflow_instance_id", d->run.instance_id);
    put_int(&sh, "run_number", d->run.number);
    put_text(&sh, "workflow_type", d->run.type);
    put_text(&sh, "business_key", d->business_key);
    put_int(&sh, "history_event_count", d->base.last_seq);
    put_int(&sh, "history_size_bytes", d->base.history_bytes);
    put_int(&sh, "exception_count", failures);
    put_state(&sh);
    return sheet_end(&sh, out_value);
}

/* ---- rows */

hf_status hf_section_commands(const hf_section *section, hf_value *out_value, hf_err *err)
{
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_dossier_command *c = section->dossier->commands; !st && c; c = c->next) {
        bool accepted = c->status == HF_COMMAND_STATUS_ACCEPTED;
        hf_ulid id = hf_edge_form(c->recorded_us, c->key, 0);
        sheet sh = sheet_begin(section, err);

        put_id(&sh, "id", &id);
        put_int(&sh, "sequence", c->command_seq);
        put_int(&sh, "message_sequence", c->message_seq);
        put_word(&sh, "type", &hf_command_type_list, c->type);
        put_word(&sh, "status", &hf_command_status_list, c->status);
        put_word(&sh, "outcome", &hf_cmd_outcome_list, c->outcome);
        put_word(&sh, "rejection_reason", &hf_rejection_reason_list, c->rejection);
        put_word(&sh, "target_scope", &hf_target_scope_list, c->scope);
        put_word(&sh, "source", &hf_command_source_list, c->source);
        put_text(&sh, "target_name", c->name);
        put_time(&sh, "accepted_at", accepted ? c->recorded_us : HF_EDGE_NO_TIME);
        put_time(&sh, "rejected_at", accepted ? HF_EDGE_NO_TIME : c->recorded_us);
        put_time(&sh, "applied_at", c->applied_us);
        put_time(&sh, "closed_at", c->closed_us);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

hf_status hf_section_tasks(const hf_section *section, hf_value *out_value, hf_err *err)
{
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_dossier_task *t = section->dossier->tasks; !st && t; t = t->next) {
        hf_ulid id = hf_edge_form(t->created_us, t->key, 0);
        hf_value body = hf_value_null();
        sheet sh = sheet_begin(section, err);

        if (t->body.len)
            sh.st = hf_edge_json(section->mem, t->body, &body, err);
        put_id(&sh, "id", &id);
        put_word(&sh, "type", &hf_task_type_list, t->kind);
        put_word(&sh, "status", &hf_task_status_list, t->status);
        put(&sh, "connection", hf_value_null());
        put_text(&sh, "queue", t->queue);
        put_int(&sh, "priority", t->priority);
        put_time(&sh, "available_at", t->available_us);
        put_time(&sh, "lease_expires_at", t->lease_until_us);
        put_int(&sh, "attempt_count", t->attempt);
        put_int(&sh, "repair_count", t->repair_count);
        put(&sh, "payload", body);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

/* ---- messages */

static void put_message(sheet *sh, const hf_track_message *m)
{
    put_id(sh, "id", &m->id);
    put_field(sh, "command_id", m->came, HF_KEY_WORKFLOW_COMMAND_ID);
    put_text(sh, "name", m->name);
    put_payload(sh, "arguments", m->came, HF_KEY_ARGUMENTS);
    put_int(sh, "workflow_sequence", m->applied ? m->applied->step : HF_NONE);
    put_event_time(sh, "applied_at", m->applied);
}

hf_status hf_section_signals(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_message *m = hf_track_messages(track); !st && m; m = m->next) {
        sheet sh = sheet_begin(section, err);

        if (m->update)
            continue;
        put_message(&sh, m);
        put_text(&sh, "signal_wait_id", m->wait_id);
        put_word(&sh, "status", &hf_signal_status_list,
                 m->applied ? HF_SIGNAL_STATUS_APPLIED : HF_SIGNAL_STATUS_RECEIVED);
        put_event_time(&sh, "received_at", m->came);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

static hf_update_status update_status(const hf_track_message *m)
{
    hf_slice message;

    if (!m->ended)
        return HF_UPDATE_STATUS_ACCEPTED;
    return hf_event_text(m->ended, HF_KEY_MESSAGE, &message) ? HF_UPDATE_STATUS_FAILED
                                                             : HF_UPDATE_STATUS_COMPLETED;
}

hf_status hf_section_updates(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_message *m = hf_track_messages(track); !st && m; m = m->next) {
        sheet sh = sheet_begin(section, err);

        if (!m->update)
            continue;
        put_message(&sh, m);
        put_word(&sh, "status", &hf_update_status_list, update_status(m));
        put_payload(&sh, "result", m->ended, HF_KEY_RESULT);
        put_field(&sh, "failure_message", m->ended, HF_KEY_MESSAGE);
        put_event_time(&sh, "accepted_at", m->came);
        put_event_time(&sh, "closed_at", m->ended);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

/* ---- steps */

static bool step_is(const hf_track_step *step, hf_event_type type)
{
    return step->opened && step->opened->type == type;
}

/* The snapshot, then what only the list has: all attempts and the result. */
static hf_status activity_append(const hf_section *section, const hf_track_step *step,
                                 hf_value_list *list, hf_err *err)
{
    hf_value_list *attempts = hf_value_array(section->mem);
    hf_value snapshot = NULL;
    hf_value item;
    hf_slice name;
    sheet sh = sheet_begin(section, err);

    sh.st = hf_compose_activity(section->compose, step, &snapshot, err);
    for (size_t i = 0; !sh.st && hf_value_member(snapshot, i, &name, &item); i++)
        hf_value_set(sh.object, name, item);
    for (const hf_track_attempt *a = step->attempts; a; a = a->next)
        hf_value_append(attempts, hf_compose_attempt(section->compose, step, a));
    put(&sh, "attempts", hf_value_finish(attempts));
    put_payload(&sh, "result",
                step->ended && step->ended->type == HF_EVENT_ACTIVITY_COMPLETED ? step->ended
                                                                                : NULL,
                HF_KEY_RESULT);
    return sheet_append(&sh, list);
}

hf_status hf_section_activities(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next)
        if (step_is(step, HF_EVENT_ACTIVITY_SCHEDULED))
            st = activity_append(section, step, list, err);
    return list_end(list, st, out_value, err);
}

static hf_timer_status timer_status(const hf_track_step *step)
{
    if (!step->timer_ended)
        return HF_TIMER_STATUS_PENDING;
    return step->timer_ended->type == HF_EVENT_TIMER_FIRED ? HF_TIMER_STATUS_FIRED
                                                           : HF_TIMER_STATUS_CANCELLED;
}

hf_status hf_section_timers(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        sheet sh = sheet_begin(section, err);

        if (!step->timer_set)
            continue;
        put_id(&sh, "id", &step->timer_id);
        put_int(&sh, "sequence", step->step);
        put_word(&sh, "status", &hf_timer_status_list, timer_status(step));
        put_field(&sh, "timer_kind", step->timer_set, HF_KEY_TIMER_KIND);
        put_field(&sh, "delay_seconds", step->timer_set, HF_KEY_DELAY_SECONDS);
        put_field(&sh, "fire_at", step->timer_set, HF_KEY_FIRE_AT);
        put_event_time(&sh, "created_at", step->timer_set);
        put_event_time(&sh, "closed_at", step->timer_ended);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

static void put_source(sheet *sh, const hf_track_failure *f)
{
    const hf_track *track = hf_compose_track(sh->s->compose);
    const hf_track_step *step = hf_track_step_get(track, f->event->step);

    put_word(sh, "source_kind", &hf_failure_source_kind_list, f->source);
    if (f->source == HF_FAILURE_SOURCE_KIND_ACTIVITY_EXECUTION && step)
        put_id(sh, "source_id", &step->id);
    else if (f->source == HF_FAILURE_SOURCE_KIND_CHILD_WORKFLOW_RUN && step)
        put_field(sh, "source_id", step->opened, HF_KEY_CHILD_WORKFLOW_RUN_ID);
    else if (f->source == HF_FAILURE_SOURCE_KIND_WORKFLOW_COMMAND)
        put_field(sh, "source_id", f->event, HF_KEY_UPDATE_ID);
    else
        put_run(sh, "source_id", &sh->s->dossier->run);
}

hf_status hf_section_failures(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_failure *f = hf_track_failures(track); !st && f; f = f->next) {
        sheet sh = sheet_begin(section, err);

        put_id(&sh, "id", &f->id);
        put_source(&sh, f);
        put_word(&sh, "propagation_kind", &hf_propagation_kind_list, f->propagation);
        put_field(&sh, "failure_category", f->event, HF_KEY_FAILURE_CATEGORY);
        put(&sh, "handled", hf_value_bool(f->handled));
        put_field(&sh, "non_retryable", f->event, HF_KEY_NON_RETRYABLE);
        put_field(&sh, "exception_type", f->event, HF_KEY_EXCEPTION_TYPE);
        put_field(&sh, "exception_class", f->event, HF_KEY_EXCEPTION_TYPE);
        put_field(&sh, "message", f->event, HF_KEY_MESSAGE);
        put_int(&sh, "sequence", f->event->step ? f->event->step : HF_NONE);
        put_event_time(&sh, "created_at", f->event);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
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
        sheet sh = sheet_begin(section, err);

        put_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CHILD_WORKFLOW);
        put_text(&sh, "workflow_instance_id", d->parent.instance_id);
        put_run(&sh, "workflow_run_id", &d->parent);
        put_text(&sh, "workflow_type", d->parent.type);
        put_int(&sh, "sequence", d->parent_step);
        st = sheet_append(&sh, list);
    }
    if (!st && started && hf_event_id(started, HF_KEY_CONTINUED_FROM_RUN_ID, &from)) {
        sheet sh = sheet_begin(section, err);

        put_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CONTINUE_AS_NEW);
        put_text(&sh, "workflow_instance_id", d->run.instance_id);
        put_id(&sh, "workflow_run_id", &from);
        st = sheet_append(&sh, list);
    }
    return list_end(list, st, out_value, err);
}

static void put_child(sheet *sh, const hf_track_step *step)
{
    const hf_event *run = step->child_started ? step->child_started : step->opened;
    hf_slice status = HF_SLICE("started");

    if (step->ended)
        status = step->ended->type == HF_EVENT_CHILD_RUN_COMPLETED    ? HF_SLICE("completed")
                 : step->ended->type == HF_EVENT_CHILD_RUN_CANCELLED  ? HF_SLICE("cancelled")
                 : step->ended->type == HF_EVENT_CHILD_RUN_TERMINATED ? HF_SLICE("terminated")
                                                                      : HF_SLICE("failed");
    put_word(sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CHILD_WORKFLOW);
    put_id(sh, "child_call_id", &step->id);
    put_int(sh, "sequence", step->step);
    put_field(sh, "workflow_instance_id", run, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID);
    put_field(sh, "workflow_run_id", run, HF_KEY_CHILD_WORKFLOW_RUN_ID);
    put_field(sh, "workflow_type", run, HF_KEY_CHILD_WORKFLOW_TYPE);
    put_text(sh, "status", status);
    put_field(sh, "queue", step->opened, HF_KEY_QUEUE);
    put_payload(sh, "arguments", step->opened, HF_KEY_ARGUMENTS);
}

static hf_status children_list(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        sheet sh = sheet_begin(section, err);

        if (step_is(step, HF_EVENT_CHILD_WORKFLOW_SCHEDULED)) {
            put_child(&sh, step);
            st = sheet_append(&sh, list);
        } else if (step_is(step, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW)) {
            put_word(&sh, "link_type", &hf_link_type_list, HF_LINK_TYPE_CONTINUE_AS_NEW);
            put_text(&sh, "workflow_instance_id", section->dossier->run.instance_id);
            put_field(&sh, "workflow_run_id", step->opened, HF_KEY_CONTINUED_TO_RUN_ID);
            st = sheet_append(&sh, list);
        }
    }
    return list_end(list, st, out_value, err);
}

hf_status hf_section_links(const hf_section *section, hf_value *out_value, hf_err *err)
{
    hf_value parents = NULL;
    hf_value children = NULL;
    sheet sh = sheet_begin(section, err);

    sh.st = parents_list(section, &parents, err);
    if (!sh.st)
        sh.st = children_list(section, &children, err);
    put(&sh, "projection_source", hf_value_null());
    put(&sh, "parents", parents);
    put(&sh, "children", children);
    return sheet_end(&sh, out_value);
}
