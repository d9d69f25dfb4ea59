/* detail_rows.c: the lists of a page in which rows of open work are held against history: see
   detail_impl.h. A row that no event speaks of is shown as a diagnostic, never as a result. */
#include "project/detail_impl.h"
#include "project/edge.h"

/* A row without any event is shown, but never as a result. */
static hf_value row_only(hf_mem *mem, bool ended, const char *status, const char *reason)
{
    return hf_json_(mem,
                    "{'status': %s, 'row_status': %s, 'history_authority': %s, "
                    "'history_unsupported_reason': %s, 'diagnostic_only': true}",
                    ended ? "unsupported" : status, status,
                    ended ? "unsupported_terminal_without_history" : "mutable_open_fallback",
                    ended ? reason : NULL);
}

/* ---- waits */

/* The row of open work that would resume a wait. */
typedef struct backing {
    int64_t key; /* HF_NONE: there is none */
    int64_t time_us;
    const char *type;
    const char *status;
} backing;

static backing turn_backing(const hf_detail_view *v)
{
    for (const hf_dossier_task *t = v->dossier.tasks; t; t = t->next)
        if (t->kind == HF_TASK_TYPE_WORKFLOW)
            return (backing){t->key, t->created_us, hf_task_type_text(HF_TASK_TYPE_WORKFLOW),
                             hf_task_status_text((hf_task_status)t->status)};
    return (backing){.key = HF_NONE};
}

static backing wait_backing(const hf_detail_view *v, hf_wait_kind kind, int64_t step)
{
    if (kind == HF_WAIT_KIND_ACTIVITY)
        for (const hf_dossier_activity *a = v->dossier.activities; a; a = a->next)
            if (a->step == step && a->closed_us == HF_NONE)
                return (backing){a->key, a->scheduled_us, hf_task_type_text(HF_TASK_TYPE_ACTIVITY),
                                 hf_task_status_text(a->status == HF_ACTIVITY_STATUS_RUNNING
                                                         ? HF_TASK_STATUS_LEASED
                                                         : HF_TASK_STATUS_READY)};
    if (kind == HF_WAIT_KIND_TIMER)
        for (const hf_dossier_timer *t = v->dossier.timers; t; t = t->next)
            if (t->step == step && t->closed_us == HF_NONE)
                return (backing){t->key, t->due_us, hf_task_type_text(HF_TASK_TYPE_TIMER),
                                 hf_task_status_text(HF_TASK_STATUS_READY)};
    return kind == HF_WAIT_KIND_ACTIVITY || kind == HF_WAIT_KIND_TIMER ? (backing){.key = HF_NONE}
                                                                       : turn_backing(v);
}

/* An open wait with what stands behind it; others have nothing behind them. */
static hf_value wait_backed(const hf_detail_view *v, hf_value wait)
{
    const hf_vocab_item *kind =
        hf_vocab_by_text(&hf_wait_kind_list, hf_slice_of(hf_str(wait, "kind", "")));
    bool open = hf_slice_equal(hf_slice_of(hf_str(wait, "status", "")), HF_SLICE("open"));
    backing b = {.key = HF_NONE};
    hf_value id = hf_value_null();

    if (v->now && open && kind)
        b = wait_backing(v, (hf_wait_kind)kind->number, hf_int(wait, "sequence", 0));
    if (b.key != HF_NONE) {
        hf_ulid formed = hf_ulid_form(b.time_us, b.key, 0);

        id = hf_edge_id(v->mem, &formed);
    }
    return hf_value_merge(v->mem, wait,
                          hf_json_(v->mem,
                                   "{'task_backed': %p, 'task_id': %p, 'task_type': %s, "
                                   "'task_status': %s}",
                                   (const void *)hf_value_bool(b.key != HF_NONE), (const void *)id,
                                   b.type, b.status));
}

/* A wait that only a row tells of: no durable source names it. */
static void wait_append(const hf_detail_view *v, const char *kind, int64_t step, hf_slice target,
                        hf_value row, hf_value_list *into)
{
    const char *id = hf_mem_format(v->mem, "%s:%lld", kind, (long long)step);

    hf_value_append(
        into, hf_value_merge(v->mem,
                             hf_json_(v->mem,
                                      "{'id': %s, 'kind': %s, 'sequence': %lld, 'target_name': %p, "
                                      "'resume_source_kind': null, 'resume_source_id': null, "
                                      "'task_backed': false}",
                                      id, kind, (long long)step,
                                      (const void *)hf_edge_text(v->mem, target)),
                             row));
}

/* Whether history opened the step as this. */
static bool opened_as(const hf_detail_view *v, int64_t number, hf_event_type type)
{
    const hf_track_step *step = hf_track_step_get(hf_compose_track(v->compose), number);

    return step && step->opened &&
           (type == HF_EVENT_TIMER_SCHEDULED ? step->timer_set != NULL
                                             : step->opened->type == type);
}

hf_status hf_detail_waits(hf_detail_view *v, hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    const hf_dossier *d = &v->dossier;
    hf_value waits = NULL;
    hf_status st = hf_section_waits(&v->section, &waits, err);

    for (size_t i = 0; !st && i < hf_len(waits); i++)
        hf_value_append(list, wait_backed(v, hf_at(waits, i)));
    for (const hf_dossier_activity *a = d->activities; !st && v->now && a; a = a->next)
        if (!opened_as(v, a->step, HF_EVENT_ACTIVITY_SCHEDULED))
            wait_append(v, "activity", a->step, a->type,
                        row_only(v->mem, a->closed_us != HF_NONE,
                                 hf_activity_status_text((hf_activity_status)a->status),
                                 "terminal_activity_row_without_typed_history"),
                        list);
    for (const hf_dossier_timer *t = d->timers; !st && v->now && t; t = t->next)
        if (!opened_as(v, t->step, HF_EVENT_TIMER_SCHEDULED))
            wait_append(v, "timer", t->step, (hf_slice){0},
                        row_only(v->mem, t->closed_us != HF_NONE,
                                 hf_timer_status_text((hf_timer_status)t->status),
                                 "terminal_timer_row_without_typed_history"),
                        list);
    for (const hf_dossier_child *c = d->children; !st && v->now && c; c = c->next)
        if (!opened_as(v, c->step, HF_EVENT_CHILD_WORKFLOW_SCHEDULED))
            wait_append(v, "child", c->step, c->id,
                        row_only(v->mem, c->closed_us != HF_NONE,
                                 c->closed_us != HF_NONE ? "closed" : "running",
                                 "terminal_child_link_without_typed_parent_history"),
                        list);
    return hf_sheet_list(list, st, out_list, err);
}

/* ---- activities and timers */

hf_status hf_detail_activities(hf_detail_view *v, hf_value *out_list, hf_err *err)
{
    const hf_track *track = hf_compose_track(v->compose);
    hf_value typed =
        hf_json_(v->mem, "{'history_authority': 'typed_history', "
                         "'history_unsupported_reason': null, 'diagnostic_only': false}");
    hf_value_list *list = hf_value_array(v->mem);
    hf_value activities = NULL;
    hf_status st = hf_section_activities(&v->section, &activities, err);

    for (size_t i = 0; i < hf_len(activities); i++)
        hf_value_append(list, hf_value_merge(v->mem, hf_at(activities, i), typed));
    for (const hf_dossier_activity *a = v->dossier.activities; !st && v->now && a; a = a->next) {
        const hf_track_step *step = hf_track_step_get(track, a->step);
        hf_sheet sh = hf_sheet_begin(&v->section, err);
        hf_ulid id = hf_ulid_form(a->scheduled_us, a->key, 0);
        hf_value item = NULL;

        if (step && step->opened)
            continue;
        hf_sheet_id(&sh, "id", &id);
        hf_sheet_int(&sh, "sequence", a->step);
        hf_sheet_text(&sh, "activity_type", a->type);
        hf_sheet_int(&sh, "attempt_count", a->attempt);
        hf_sheet_put(&sh, "result", hf_value_null());
        hf_sheet_put(&sh, "closed_at", hf_value_null());
        st = hf_sheet_end(&sh, &item);
        hf_value_append(
            list, hf_value_merge(v->mem, item,
                                 row_only(v->mem, a->closed_us != HF_NONE,
                                          hf_activity_status_text((hf_activity_status)a->status),
                                          "terminal_activity_row_without_typed_history")));
    }
    return hf_sheet_list(list, st, out_list, err);
}

static hf_value timer_row_status(hf_detail_view *v, int64_t step)
{
    for (const hf_dossier_timer *t = v->dossier.timers; v->now && t; t = t->next)
        if (t->step == step)
            return hf_value_string(v->mem,
                                   hf_slice_of(hf_timer_status_text((hf_timer_status)t->status)));
    return hf_value_null();
}

hf_status hf_detail_timers(hf_detail_view *v, hf_value *out_list, hf_err *err)
{
    const hf_track *track = hf_compose_track(v->compose);
    hf_value_list *list = hf_value_array(v->mem);
    hf_value timers = NULL;
    hf_status st = hf_section_timers(&v->section, &timers, err);

    for (size_t i = 0; !st && i < hf_len(timers); i++) {
        hf_value timer = hf_at(timers, i);

        hf_value_append(list, hf_value_merge(v->mem, timer,
                                             hf_json_(v->mem,
                                                      "{'source_status': %s, 'row_status': %p, "
                                                      "'history_authority': 'typed_history', "
                                                      "'history_unsupported_reason': null, "
                                                      "'diagnostic_only': false}",
                                                      hf_str(timer, "status", ""),
                                                      (const void *)timer_row_status(
                                                          v, hf_int(timer, "sequence", 0)))));
    }
    for (const hf_dossier_timer *t = v->dossier.timers; !st && v->now && t; t = t->next) {
        const hf_track_step *step = hf_track_step_get(track, t->step);
        hf_value item;

        if (step && step->timer_set)
            continue;
        item = hf_json_(v->mem, "{'sequence': %lld}", (long long)t->step);
        hf_value_append(list,
                        hf_value_merge(v->mem, item,
                                       row_only(v->mem, t->closed_us != HF_NONE,
                                                hf_timer_status_text((hf_timer_status)t->status),
                                                "terminal_timer_row_without_typed_history")));
    }
    return hf_sheet_list(list, st, out_list, err);
}

/* ---- tasks */

static hf_value lost_value(hf_mem *mem, const hf_lost *lost, const hf_liveness *live)
{
    static const char *const types[] = {"workflow", "activity", "timer", "workflow"};
    static const char *const kinds[] = {"workflow-task", "activity", "timer", "child"};
    const char *wait = live->open_wait_id ? live->open_wait_id : "run";
    const char *text = hf_mem_format(mem, "missing:%s:%s", types[lost->kind], wait);

    return hf_json_(mem,
                    "{'id': %s, 'type': %s, 'status': null, 'transport_state': 'missing', "
                    "'task_missing': true, 'workflow_wait_kind': %s, 'open_wait_id': %s, "
                    "'workflow_sequence': %lld}",
                    text, types[lost->kind], kinds[lost->kind], live->open_wait_id,
                    (long long)(lost->step ? lost->step->step : 0));
}

/* Why a task is blocked, or what the worker said that could not do it; NULL: neither. */
static const char *last_error(hf_value body)
{
    return hf_str(body, "failure.message", hf_str(body, "message", NULL));
}

hf_status hf_detail_tasks(hf_detail_view *v, const hf_liveness *live, int64_t now_us,
                          hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    const hf_dossier_task *task = v->now ? v->dossier.tasks : NULL;
    hf_value tasks = NULL;
    hf_status st = hf_section_tasks(&v->section, &tasks, err);

    for (size_t i = 0; !st && task; i++, task = task->next)
        hf_value_append(
            list,
            hf_value_merge(
                v->mem, hf_at(tasks, i),
                hf_json_(v->mem, "{'transport_state': %s, 'task_missing': false, 'last_error': %s}",
                         hf_transport_state_text(hf_liveness_transport(task, now_us)),
                         last_error(hf_get(hf_at(tasks, i), "payload")))));
    for (const hf_lost *lost = live->lost; !st && lost; lost = lost->next)
        hf_value_append(list, lost_value(v->mem, lost, live));
    return hf_sheet_list(list, st, out_list, err);
}
