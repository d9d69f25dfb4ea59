/* section_wait.c: what a run waited for, and waits for, from its history: see section.h. A wait
   that history opened and did not resolve is open while the run is; rows of open work do not count.
 */
#include <string.h>

#include "model/vocab.h"
#include "project/edge.h"
#include "project/section.h"
#include "project/sheet.h"
#include "project/why_text.h"

/* A wait, whatever it is for. */
typedef struct wait {
    hf_wait_kind kind;
    const char *id;
    int64_t step; /* HF_NONE: none */
    const hf_event *opened;
    const hf_event *ended; /* NULL: open, or over with its run */
    const char *source_status;
    hf_slice target;
    hf_slice type;
    int64_t deadline_us;
    hf_resume_source_kind resume_kind;
    const hf_ulid *resume_id; /* NULL: the wait's own id */
    const hf_track_step *of;  /* NULL: a message */
    const hf_event *came;     /* of a message; NULL: a step */
} wait;

static const char *id_text(hf_mem *mem, const char *prefix, const hf_ulid *id)
{
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(id, text);
    return hf_mem_format(mem, "%s%s", prefix, text);
}

static hf_slice text_of(const hf_event *event, hf_event_key key)
{
    hf_slice text = {0};

    if (event)
        (void)hf_event_text(event, key, &text);
    return text;
}

/* How the run closed, for the waits that were open then; NULL while it is open. */
static const char *closed_word(const hf_section *s)
{
    switch ((int)s->dossier->base.closed_reason) {
    case HF_CLOSED_REASON_CANCELLED:
        return "cancelled";
    case HF_CLOSED_REASON_TERMINATED:
        return "terminated";
    case HF_CLOSED_REASON_CONTINUED:
        return "continued";
    default:
        return s->dossier->base.closed_us == HF_NONE ? NULL : "closed";
    }
}

static bool timed_out(const hf_track_step *step)
{
    return step->timer_ended && step->timer_ended->type == HF_EVENT_TIMER_FIRED;
}

static void signal_wait(const hf_section *s, const hf_track_step *step, wait *out)
{
    out->kind = HF_WAIT_KIND_SIGNAL;
    out->id = step->wait_id.ptr ? hf_mem_text(s->mem, step->wait_id) : NULL;
    out->target = text_of(step->opened, HF_KEY_SIGNAL_NAME);
    out->resume_kind = step->timer_set ? HF_RESUME_SOURCE_KIND_TIMER : HF_RESUME_SOURCE_KIND_SIGNAL;
    out->resume_id = step->timer_set ? &step->timer_id : NULL;
    if (!step->ended && timed_out(step))
        out->ended = step->timer_ended;
    out->source_status = step->ended       ? "applied"
                         : timed_out(step) ? "timed_out"
                         : closed_word(s)  ? closed_word(s)
                                           : "waiting";
}

/* A step of a machine that waits, until the next one is over or the timeout fires. */
static void park_wait(const hf_section *s, const hf_track_step *step, wait *out)
{
    out->kind = HF_WAIT_KIND_SIGNAL;
    out->id = id_text(s->mem, "step:", &step->id);
    out->target = step->awaited;
    out->resume_kind = step->timer_set ? HF_RESUME_SOURCE_KIND_TIMER : HF_RESUME_SOURCE_KIND_SIGNAL;
    out->resume_id = step->timer_set ? &step->timer_id : NULL;
    out->ended = timed_out(step) ? step->timer_ended : step->woken;
    out->source_status = timed_out(step)  ? "timed_out"
                         : step->woken    ? "applied"
                         : closed_word(s) ? closed_word(s)
                                          : "waiting";
}

/* What the step waits for; false for steps that are over at once. */
static bool step_wait(const hf_section *s, const hf_track_step *step, wait *out)
{
    hf_event_type type = step->opened ? step->opened->type : 0;

    *out = (wait){.step = step->step,
                  .opened = step->opened,
                  .ended = step->ended,
                  .deadline_us = HF_EDGE_NO_TIME,
                  .of = step};
    if (step->timer_set)
        (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &out->deadline_us);
    switch ((int)type) {
    case HF_EVENT_ACTIVITY_SCHEDULED:
        out->kind = HF_WAIT_KIND_ACTIVITY;
        out->id = id_text(s->mem, "activity:", &step->id);
        out->target = text_of(step->opened, HF_KEY_ACTIVITY_TYPE);
        out->type = out->target;
        out->resume_kind = HF_RESUME_SOURCE_KIND_ACTIVITY_EXECUTION;
        out->resume_id = &step->id;
        out->source_status = hf_activity_status_text(step->status);
        return true;
    case HF_EVENT_TIMER_SCHEDULED:
        out->kind = HF_WAIT_KIND_TIMER;
        out->id = id_text(s->mem, "timer:", &step->id);
        out->resume_kind = HF_RESUME_SOURCE_KIND_TIMER;
        out->resume_id = &step->id;
        out->source_status = !step->timer_ended ? "pending"
                             : timed_out(step)  ? "fired"
                                                : "cancelled";
        return true;
    case HF_EVENT_CONDITION_WAIT_OPENED:
        out->kind = HF_WAIT_KIND_CONDITION;
        out->id = id_text(s->mem, "", &step->id);
        out->target = text_of(step->opened, HF_KEY_CONDITION_KEY);
        if (step->timer_set) {
            out->resume_kind = HF_RESUME_SOURCE_KIND_TIMER;
            out->resume_id = &step->timer_id;
        }
        out->source_status = !step->ended                                             ? "waiting"
                             : step->ended->type == HF_EVENT_CONDITION_WAIT_TIMED_OUT ? "timed_out"
                                                                                      : "satisfied";
        return true;
    case HF_EVENT_SIGNAL_WAIT_OPENED:
        signal_wait(s, step, out);
        return true;
    case HF_EVENT_STEP_COMPLETED:
        park_wait(s, step, out);
        return step->awaited.ptr != NULL;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        out->kind = HF_WAIT_KIND_CHILD;
        out->id = id_text(s->mem, "child:", &step->id);
        out->target = text_of(step->opened, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID);
        out->type = text_of(step->opened, HF_KEY_CHILD_WORKFLOW_TYPE);
        out->resume_kind = HF_RESUME_SOURCE_KIND_CHILD_WORKFLOW_RUN;
        out->source_status = step->ended ? "closed" : "running";
        return true;
    default:
        return false;
    }
}

static void message_wait(const hf_section *s, const hf_track_message *m, wait *out)
{
    const hf_event *ended = m->update ? m->ended : m->applied;

    *out = (wait){.kind = m->update ? HF_WAIT_KIND_UPDATE : HF_WAIT_KIND_SIGNAL,
                  .id = id_text(s->mem, m->update ? "update:" : "signal-application:", &m->id),
                  .step = m->applied ? m->applied->step : HF_NONE,
                  .opened = m->came,
                  .came = m->came,
                  .ended = ended,
                  .target = m->name,
                  .deadline_us = HF_EDGE_NO_TIME,
                  .resume_kind = m->update ? HF_RESUME_SOURCE_KIND_WORKFLOW_UPDATE
                                           : HF_RESUME_SOURCE_KIND_WORKFLOW_SIGNAL,
                  .resume_id = &m->id,
                  .source_status = ended ? "applied" : "received"};
}

/* Whether it is a wait of its own. What lies in a machine's inbox is none: its park is. */
static bool message_waits(const hf_track *track, const hf_track_message *m)
{
    return m->update || (!m->applied && !hf_track_is_machine(track));
}

static hf_wait_status wait_status(const hf_section *s, const wait *w)
{
    if (w->ended && (w->ended->type == HF_EVENT_TIMER_CANCELLED ||
                     w->ended->type == HF_EVENT_ACTIVITY_CANCELLED))
        return HF_WAIT_STATUS_CANCELLED;
    if (w->ended)
        return HF_WAIT_STATUS_RESOLVED;
    return s->dossier->base.closed_us == HF_NONE ? HF_WAIT_STATUS_OPEN : HF_WAIT_STATUS_CANCELLED;
}

/* One line: "Waiting for signal approved-by", "Waited for signal fire or discard". */
static hf_slice wait_summary(hf_mem *mem, const wait *w, bool open)
{
    bool parked = w->of && w->of->awaited.ptr;
    const char *target = parked ? hf_why_text_choice(mem, w->target) : hf_mem_text(mem, w->target);

    return hf_slice_of(hf_mem_format(mem, "%s for %s%s%s", open ? "Waiting" : "Waited",
                                     hf_wait_kind_text(w->kind), target && *target ? " " : "",
                                     target ? target : ""));
}

static hf_status wait_append(const hf_section *s, const wait *w, size_t position,
                             hf_value_list *list, hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(s, err);
    bool open = wait_status(s, w) == HF_WAIT_STATUS_OPEN;

    hf_sheet_text(&sh, "id", hf_slice_of(w->id));
    hf_sheet_int(&sh, "position", (int64_t)position);
    hf_sheet_word(&sh, "kind", &hf_wait_kind_list, w->kind);
    hf_sheet_int(&sh, "sequence", w->step);
    hf_sheet_line(&sh, w->of);
    hf_sheet_word(&sh, "status", &hf_wait_status_list, wait_status(s, w));
    hf_sheet_text(&sh, "source_status", hf_slice_of(w->source_status));
    hf_sheet_text(&sh, "summary", wait_summary(s->mem, w, open));
    hf_sheet_event_time(&sh, "opened_at", w->opened);
    hf_sheet_time(&sh, "deadline_at", w->deadline_us);
    hf_sheet_event_time(&sh, "resolved_at", w->ended);
    hf_sheet_text(&sh, "target_name", w->target);
    hf_sheet_text(&sh, "target_type", w->type);
    hf_sheet_put(&sh, "external_only",
                 hf_value_bool(open && w->kind == HF_WAIT_KIND_SIGNAL && !w->resume_id));
    hf_sheet_word(&sh, "resume_source_kind", &hf_resume_source_kind_list, w->resume_kind);
    if (w->resume_id)
        hf_sheet_id(&sh, "resume_source_id", w->resume_id);
    else
        hf_sheet_text(&sh, "resume_source_id", hf_slice_of(w->id));
    hf_sheet_field(&sh, "command_id", w->came, HF_KEY_WORKFLOW_COMMAND_ID);
    if (w->kind == HF_WAIT_KIND_CONDITION) {
        hf_sheet_field(&sh, "condition_key", w->opened, HF_KEY_CONDITION_KEY);
        hf_sheet_field(&sh, "condition_definition_fingerprint", w->opened,
                       HF_KEY_CONDITION_DEFINITION_FINGERPRINT);
    }
    if (w->of) {
        hf_sheet_field(&sh, "parallel_group_id", w->opened, HF_KEY_PARALLEL_GROUP_ID);
        hf_sheet_field(&sh, "parallel_group_kind", w->opened, HF_KEY_PARALLEL_GROUP_KIND);
        hf_sheet_field(&sh, "parallel_group_path", w->opened, HF_KEY_PARALLEL_GROUP_PATH);
    }
    hf_sheet_word(&sh, "history_authority", &hf_history_authority_list,
                  HF_HISTORY_AUTHORITY_TYPED_HISTORY);
    hf_sheet_put(&sh, "history_unsupported_reason", hf_value_null());
    hf_sheet_put(&sh, "diagnostic_only", hf_value_bool(false));
    return hf_sheet_append(&sh, list);
}

hf_status hf_section_waits(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    size_t position = 0;
    size_t total = 0;
    size_t skip;
    wait w;
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        total += step_wait(section, step, &w);
    for (const hf_track_message *m = hf_track_messages(track); m; m = m->next)
        total += message_waits(track, m);
    skip = hf_section_skip(section, total);
    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next)
        if (step_wait(section, step, &w) && ++position > skip &&
            hf_section_takes(section, step->step))
            st = wait_append(section, &w, position, list, err);
    for (const hf_track_message *m = hf_track_messages(track); !st && m; m = m->next) {
        if (!message_waits(track, m))
            continue;
        message_wait(section, m, &w);
        if (++position > skip && hf_section_takes(section, w.step))
            st = wait_append(section, &w, position, list, err);
    }
    return hf_sheet_list(list, st, out_value, err);
}

/* Commands that were sent together (signal with start) by their group. Their context is not stored
   in history, so the list is of those that the rows tell of. */
hf_status hf_section_intakes(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_dossier_command *start = section->dossier->commands;
    const hf_dossier_command *signal = start ? start->next : NULL;
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    if (start && signal && start->type == HF_COMMAND_TYPE_START &&
        signal->type == HF_COMMAND_TYPE_SIGNAL && start->recorded_us == signal->recorded_us) {
        hf_ulid first = hf_ulid_form(start->recorded_us, start->key, 0);
        hf_ulid second = hf_ulid_form(signal->recorded_us, signal->key, 0);
        hf_sheet sh = hf_sheet_begin(section, err);

        hf_sheet_text(&sh, "mode", HF_SLICE("signal_with_start"));
        hf_sheet_id(&sh, "group_id", &first);
        hf_sheet_id(&sh, "start_command_id", &first);
        hf_sheet_id(&sh, "signal_command_id", &second);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}
