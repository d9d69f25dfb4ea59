/* detail.c: see detail.h. */
#include "project/detail.h"

#include <stdio.h>

#include "model/limit.h"
#include "project/bars.h"
#include "project/compose.h"
#include "project/edge.h"
#include "project/section.h"
#include "project/sheet.h"

/* A run while it is shown. */
typedef struct view {
    hf_mem *mem;
    hf_dossier dossier; /* its events are those of the fold, up to `at` */
    hf_projection fold;
    hf_compose_run run;
    hf_compose *compose;
    hf_section section;
    bool now; /* not an earlier moment */
} view;

static void view_close(view *v)
{
    hf_compose_free(v->compose);
}

static hf_status view_open(view *v, hf_db *db, hf_mem *mem, int64_t run, int64_t at, int64_t limit,
                           hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st;

    *v = (view){.mem = mem};
    if (at < 1 || limit < 0 || limit > HF_DETAIL_LIMIT_MAX)
        return hf_err_set(err, HF_INVALID, "a moment is an event from 1 on, and a list has 1 to %d",
                          HF_DETAIL_LIMIT_MAX);
    st = hf_dossier_outline(db, mem, run, d, err);
    if (!st && d->base.last_seq < at)
        at = d->base.last_seq;
    if (!st)
        st = hf_projection_read(db, mem, run, at, &v->fold, err);
    if (st)
        return st;
    d->events = v->fold.events;
    d->event_count = v->fold.count;
    v->now = at == d->base.last_seq;
    v->run = (hf_compose_run){.key = d->run.key,
                              .id = hf_dossier_run_id(&d->run),
                              .instance_id = d->run.instance_id,
                              .type = d->run.type,
                              .queue = d->queue,
                              .number = d->run.number,
                              .business_key = d->business_key,
                              .parent_instance_id = d->parent.instance_id,
                              .parent_step = d->parent_step,
                              .definition = d->definition};
    if (d->parent.key != HF_NONE)
        v->run.parent_run_id = hf_dossier_run_id(&d->parent);
    st = hf_compose_new(mem, &v->run, &v->compose, err);
    v->section = (hf_section){.mem = mem,
                              .dossier = d,
                              .compose = v->compose,
                              .limit = (size_t)(limit ? limit : HF_DETAIL_LIMIT)};
    return st;
}

/* What went in and what came out are shown, however big they are: the fold keeps no big values. */
static hf_status ends_read(view *v, hf_db *db, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < d->event_count; i++)
        if (d->events[i].type == HF_EVENT_WORKFLOW_STARTED ||
            d->events[i].type == HF_EVENT_WORKFLOW_COMPLETED)
            st = hf_dossier_event(db, v->mem, d->run.key, (int64_t)i + 1, &d->events[i], err);
    return st;
}

/* A run as it was after an earlier event was open, unless that event closed it. */
static void view_rewind(view *v)
{
    hf_dossier *d = &v->dossier;

    if (v->now)
        return;
    d->base.last_seq = (int64_t)d->event_count;
    d->base.last_us = d->event_count ? d->events[d->event_count - 1].time_us : d->run.created_us;
    d->archived_us = HF_NONE;
    if (d->base.closed_us != HF_NONE && d->base.closed_us <= d->base.last_us)
        return;
    d->base.closed_us = HF_NONE;
    d->base.closed_reason = HF_NONE;
    d->base.status = HF_RUN_STATUS_WAITING;
}

/* Lets all events through, the last ones as entries of the timeline. */
static hf_status timeline_make(view *v, hf_value *out_timeline, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    size_t skip = hf_section_skip(&v->section, v->dossier.event_count);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < v->dossier.event_count; i++) {
        const hf_event *event = &v->dossier.events[i];
        hf_value shown = NULL;
        hf_value entry = NULL;

        if (i < skip) {
            st = hf_compose_pass(v->compose, event, (int64_t)i + 1, err);
            continue;
        }
        st = hf_compose_event(v->compose, event, (int64_t)i + 1, NULL, &shown, err);
        if (!st)
            st = hf_section_entry(&v->section, event, shown, &entry, err);
        hf_value_append(list, entry);
    }
    return hf_sheet_list(list, st, out_timeline, err);
}

/* ---- what only rows say */

static hf_value with_members(hf_mem *mem, hf_value object, hf_value more)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(object, i, &name, &item); i++)
        if (!hf_value_find(more, name))
            hf_value_set(list, name, item);
    for (size_t i = 0; hf_value_member(more, i, &name, &item); i++)
        hf_value_set(list, name, item);
    return hf_value_finish(list);
}

static hf_value all_with(hf_mem *mem, hf_value list, hf_value more, hf_value_list *into)
{
    for (size_t i = 0; i < hf_len(list); i++)
        hf_value_append(into, with_members(mem, hf_at(list, i), more));
    return more;
}

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

static hf_status activities_make(view *v, hf_value *out_list, hf_err *err)
{
    const hf_track *track = hf_compose_track(v->compose);
    hf_value typed =
        hf_json_(v->mem, "{'history_authority': 'typed_history', "
                         "'history_unsupported_reason': null, 'diagnostic_only': false}");
    hf_value_list *list = hf_value_array(v->mem);
    hf_value activities = NULL;
    hf_status st = hf_section_activities(&v->section, &activities, err);

    (void)all_with(v->mem, activities, typed, list);
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
            list, with_members(v->mem, item,
                               row_only(v->mem, a->closed_us != HF_NONE,
                                        hf_activity_status_text((hf_activity_status)a->status),
                                        "terminal_activity_row_without_typed_history")));
    }
    return hf_sheet_list(list, st, out_list, err);
}

static hf_value timer_row_status(view *v, int64_t step)
{
    for (const hf_dossier_timer *t = v->dossier.timers; v->now && t; t = t->next)
        if (t->step == step)
            return hf_value_string(v->mem,
                                   hf_slice_of(hf_timer_status_text((hf_timer_status)t->status)));
    return hf_value_null();
}

static hf_status timers_make(view *v, hf_value *out_list, hf_err *err)
{
    const hf_track *track = hf_compose_track(v->compose);
    hf_value_list *list = hf_value_array(v->mem);
    hf_value timers = NULL;
    hf_status st = hf_section_timers(&v->section, &timers, err);

    for (size_t i = 0; !st && i < hf_len(timers); i++) {
        hf_value timer = hf_at(timers, i);

        hf_value_append(list, with_members(v->mem, timer,
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
                        with_members(v->mem, item,
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

static hf_status tasks_make(view *v, const hf_liveness *live, int64_t now_us, hf_value *out_list,
                            hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    const hf_dossier_task *task = v->now ? v->dossier.tasks : NULL;
    hf_value tasks = NULL;
    hf_status st = hf_section_tasks(&v->section, &tasks, err);

    for (size_t i = 0; !st && task; i++, task = task->next)
        hf_value_append(
            list,
            with_members(v->mem, hf_at(tasks, i),
                         hf_json_(v->mem, "{'transport_state': %s, 'task_missing': false}",
                                  hf_transport_state_text(hf_liveness_transport(task, now_us)))));
    for (const hf_lost *lost = live ? live->lost : NULL; !st && lost; lost = lost->next)
        hf_value_append(list, lost_value(v->mem, lost, live));
    return hf_sheet_list(list, st, out_list, err);
}

/* ---- actions */

/* Whether something can be done, or why not. */
static void action_put(hf_sheet *sh, const char *name, const char *blocked)
{
    char key[48];

    (void)snprintf(key, sizeof(key), "can_%s", name);
    hf_sheet_put(sh, key, hf_value_bool(!blocked));
    (void)snprintf(key, sizeof(key), "%s_blocked_reason", name);
    hf_sheet_text(sh, key, hf_slice_of(blocked));
}

static void actions_put(hf_sheet *sh, const view *v, const hf_detail_query *q)
{
    const hf_dossier *d = &v->dossier;
    bool closed = d->base.closed_us != HF_NONE;
    const char *not_now = !v->now ? "not_now" : NULL;
    const char *open = not_now                        ? not_now
                       : d->current.key != d->run.key ? "selected_run_not_current"
                       : closed                       ? "run_closed"
                                                      : NULL;

    action_put(sh, "cancel", open);
    action_put(sh, "terminate", open);
    action_put(sh, "signal", open);
    action_put(sh, "update",
               open                 ? open
               : q->fingerprint.ptr ? NULL
                                    : "workflow_definition_unavailable");
    action_put(sh, "query",
               not_now              ? not_now
               : q->fingerprint.ptr ? NULL
                                    : "workflow_definition_unavailable");
    action_put(sh, "archive",
               not_now                     ? not_now
               : !closed                   ? "run_not_closed"
               : d->archived_us != HF_NONE ? "run_archived"
                                           : NULL);
    hf_sheet_put(sh, "can_issue_terminal_commands", hf_value_bool(!open));
    hf_sheet_text(sh, "read_only_reason", hf_slice_of(open));
}

/* ---- contracts */

/* Every declared target with its parameters when a contract is known. */
static hf_status targets_make(view *v, hf_slice names_json, hf_slice contracts_json,
                              hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    hf_value names = NULL;
    hf_value contracts = NULL;
    hf_status st = hf_edge_json(v->mem, names_json, &names, err);

    if (!st)
        st = hf_edge_json(v->mem, contracts_json, &contracts, err);
    for (size_t i = 0; !st && i < hf_len(names); i++) {
        hf_value parameters = NULL;
        const char *name = hf_str(hf_at(names, i), "", "");

        for (size_t j = 0; j < hf_len(contracts); j++)
            if (hf_slice_equal(hf_slice_of(hf_str(hf_at(contracts, j), "name", "")),
                               hf_slice_of(name)))
                parameters = hf_get(hf_at(contracts, j), "parameters");
        hf_value_append(
            list, hf_json_(v->mem, "{'name': %s, 'has_contract': %p, 'parameters': %p}", name,
                           (const void *)hf_value_bool(parameters != NULL),
                           (const void *)(parameters ? parameters
                                                     : hf_value_finish(hf_value_array(v->mem)))));
    }
    return hf_sheet_list(list, st, out_list, err);
}

static void contracts_put(hf_sheet *sh, view *v)
{
    const hf_definition_snapshot *def = v->dossier.definition;
    const struct {
        const char *word;
        const hf_definition_targets *targets;
    } kinds[] = {{"query", def ? &def->queries : NULL},
                 {"signal", def ? &def->signals : NULL},
                 {"update", def ? &def->updates : NULL}};
    static const char *const plural[] = {"queries", "signals", "updates"};
    char key[48];

    for (size_t i = 0; !sh->st && i < 3; i++) {
        const hf_slice none = HF_SLICE("[]");
        hf_slice names = kinds[i].targets ? kinds[i].targets->names : none;
        hf_slice contracts = kinds[i].targets ? kinds[i].targets->contracts : none;
        hf_value value = NULL;

        sh->st = hf_edge_json(v->mem, names, &value, sh->err);
        (void)snprintf(key, sizeof(key), "declared_%s", plural[i]);
        hf_sheet_put(sh, key, value);
        if (!sh->st)
            sh->st = hf_edge_json(v->mem, contracts, &value, sh->err);
        (void)snprintf(key, sizeof(key), "declared_%s_contracts", kinds[i].word);
        hf_sheet_put(sh, key, value);
        if (!sh->st)
            sh->st = targets_make(v, names, contracts, &value, sh->err);
        (void)snprintf(key, sizeof(key), "declared_%s_targets", kinds[i].word);
        hf_sheet_put(sh, key, value);
    }
    hf_sheet_text(sh, "declared_entry_mode",
                  def ? hf_slice_of(hf_entry_mode_text(HF_ENTRY_MODE_CANONICAL)) : (hf_slice){0});
}

/* ---- the head */

static void definition_put(hf_sheet *sh, const view *v, const hf_detail_query *q)
{
    const hf_event *started = hf_compose_started(v->compose);
    hf_slice recorded = {0};
    bool same;

    if (started)
        (void)hf_event_text(started, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, &recorded);
    same = recorded.len && hf_slice_equal(recorded, q->fingerprint);
    hf_sheet_text(sh, "workflow_definition_current_fingerprint", q->fingerprint);
    hf_sheet_put(sh, "workflow_definition_matches_current",
                 q->fingerprint.ptr ? hf_value_bool(same) : hf_value_null());
    hf_sheet_text(sh, "workflow_determinism_source",
                  q->fingerprint.ptr && !same ? HF_SLICE("definition_drift") : (hf_slice){0});
}

static void budget_put(hf_sheet *sh, const view *v)
{
    const hf_dossier *d = &v->dossier;
    int64_t events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard;
    int64_t bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard;

    hf_sheet_int(sh, "history_event_threshold", events);
    hf_sheet_int(sh, "history_size_bytes_threshold", bytes);
    hf_sheet_put(sh, "continue_as_new_recommended",
                 hf_value_bool(d->base.last_seq >= events || d->base.history_bytes >= bytes));
}

/* Timeouts are stored as the deadlines they lead to. */
static void timeout_put(hf_sheet *sh, const hf_event *started, const char *name,
                        int64_t deadline_us)
{
    hf_sheet_int(sh, name,
                 started && deadline_us != HF_NONE
                     ? (deadline_us - started->time_us + 999999) / 1000000
                     : HF_NONE);
}

static void head_put(hf_sheet *sh, view *v, const hf_detail_query *q)
{
    const hf_dossier *d = &v->dossier;
    const hf_event *started = hf_compose_started(v->compose);
    const hf_event *last = d->event_count ? &d->events[d->event_count - 1] : NULL;

    hf_sheet_run(sh, "id", &d->run);
    hf_sheet_text(sh, "instance_id", d->run.instance_id);
    hf_sheet_run(sh, "selected_run_id", &d->run);
    hf_sheet_text(sh, "engine_source", HF_SLICE("v2"));
    hf_sheet_text(sh, "class", d->run.type);
    hf_sheet_put(sh, "is_terminal", hf_value_bool(d->base.closed_us != HF_NONE));
    hf_sheet_put(sh, "duration_ms",
                 d->base.closed_us == HF_NONE
                     ? hf_value_null()
                     : hf_value_int(v->mem, (d->base.closed_us - d->run.created_us) / 1000));
    hf_sheet_payload(sh, "arguments", started, HF_KEY_ARGUMENTS);
    hf_sheet_payload(sh, "output", last && last->type == HF_EVENT_WORKFLOW_COMPLETED ? last : NULL,
                     HF_KEY_OUTPUT);
    timeout_put(sh, started, "execution_timeout_seconds", d->execution_deadline_us);
    timeout_put(sh, started, "run_timeout_seconds", d->run_deadline_us);
    hf_sheet_time(sh, "execution_deadline_at", d->execution_deadline_us);
    hf_sheet_time(sh, "run_deadline_at", d->run_deadline_us);
    hf_sheet_int(sh, "history_event_count", d->base.last_seq);
    hf_sheet_int(sh, "history_size_bytes", d->base.history_bytes);
    hf_sheet_put(sh, "as_of_event", hf_value_int(v->mem, (int64_t)d->event_count));
    hf_sheet_put(sh, "is_now", hf_value_bool(v->now));
    definition_put(sh, v, q);
    budget_put(sh, v);
    contracts_put(sh, v);
    actions_put(sh, v, q);
}

/* ---- lists */

typedef struct named {
    const char *name;
    hf_section_fn *make;
} named;

static void lists_put(hf_sheet *sh, view *v)
{
    static const named lists[] = {
        {"commands", hf_section_commands},     {"signals", hf_section_signals},
        {"updates", hf_section_updates},       {"waits", hf_section_waits},
        {"exceptions", hf_section_failures},   {"links", hf_section_links},
        {"linked_intakes", hf_section_intakes}};
    char key[48];

    for (size_t i = 0; !sh->st && i < sizeof(lists) / sizeof(lists[0]); i++) {
        hf_value value = NULL;

        sh->st = lists[i].make(&v->section, &value, sh->err);
        hf_sheet_put(sh, lists[i].name, value);
        (void)snprintf(key, sizeof(key), "%s_scope", lists[i].name);
        hf_sheet_text(sh, key, HF_SLICE("selected_run"));
    }
}

static void sources_put(hf_sheet *sh, const view *v)
{
    static const char *const names[][2] = {{"waits", "workflow_run_waits"},
                                           {"timeline", "workflow_run_timeline_entries"},
                                           {"timers", "workflow_run_timer_entries"},
                                           {"lineage", "workflow_run_lineage_entries"}};
    bool rebuilt = v->fold.state != HF_PROJECTION_IN_SYNC;
    char key[48];

    for (size_t i = 0; i < 4; i++) {
        const char *text = hf_mem_format(v->mem, "%s%s", names[i][1], rebuilt ? "_rebuilt" : "");

        (void)snprintf(key, sizeof(key), "%s_projection_source", names[i][0]);
        hf_sheet_text(sh, key, hf_slice_of(text));
    }
}

static int64_t failures_count(const view *v)
{
    int64_t count = 0;

    for (const hf_track_failure *f = hf_track_failures(hf_compose_track(v->compose)); f;
         f = f->next)
        count++;
    return count;
}

/* Everything but the liveness and the sections that are merged in. */
static hf_status detail_make(view *v, const hf_detail_query *q, const hf_liveness *live,
                             hf_value timeline, hf_value *out_value, hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(&v->section, err);
    hf_value list = NULL;

    head_put(&sh, v, q);
    hf_sheet_int(&sh, "exception_count", failures_count(v));
    lists_put(&sh, v);
    if (!sh.st)
        sh.st = activities_make(v, &list, err);
    hf_sheet_put(&sh, "activities", list);
    if (!sh.st)
        sh.st = timers_make(v, &list, err);
    hf_sheet_put(&sh, "timers", list);
    if (!sh.st)
        sh.st = tasks_make(v, live, q->world->live.now_us, &list, err);
    hf_sheet_put(&sh, "tasks", list);
    hf_sheet_put(&sh, "timeline", timeline);
    hf_sheet_int(&sh, "timeline_total", (int64_t)v->dossier.event_count);
    sources_put(&sh, v);
    return hf_sheet_end(&sh, out_value);
}

hf_status hf_detail_read(hf_db *db, hf_mem *mem, const hf_detail_query *query, hf_value *out_detail,
                         hf_projection_state *out_state, hf_err *err)
{
    hf_value timeline = NULL;
    hf_value base = NULL;
    hf_value detail = NULL;
    hf_value why = hf_value_null();
    hf_liveness live;
    view v;
    hf_status st = view_open(&v, db, mem, query->run, query->at, query->limit, err);

    *out_state = v.fold.state;
    if (!st)
        st = ends_read(&v, db, err);
    if (!st) {
        view_rewind(&v);
        st = timeline_make(&v, &timeline, err);
    }
    if (!st && v.now)
        st = hf_liveness_fold(&v.dossier, hf_compose_track(v.compose), &query->world->live, mem,
                              &live, err);
    if (!st && v.now)
        st = hf_why_make(&v.dossier, query->world, mem, &why, err);
    if (!st)
        st = hf_section_workflow(&v.section, &base, err);
    if (!st)
        st = detail_make(&v, query, v.now ? &live : NULL, timeline, &detail, err);
    if (!st) {
        if (v.now)
            base = with_members(mem, base, hf_liveness_value(&live, &v.dossier, mem));
        base = with_members(mem, base, detail);
        *out_detail = with_members(mem, base, hf_json_(mem, "{'why': %p}", (const void *)why));
        if (!*out_detail)
            st = hf_err_nomem(err, "a run");
    }
    view_close(&v);
    return st;
}

hf_status hf_detail_bars(hf_db *db, hf_mem *mem, int64_t run, int64_t at, int64_t limit,
                         hf_value *out_bars, hf_err *err)
{
    hf_value bars = NULL;
    view v;
    hf_status st = view_open(&v, db, mem, run, at, limit, err);

    if (!st)
        view_rewind(&v);
    for (size_t i = 0; !st && i < v.dossier.event_count; i++)
        st = hf_compose_pass(v.compose, &v.dossier.events[i], (int64_t)i + 1, err);
    if (!st)
        st = hf_bars_make(&v.section, &bars, err);
    if (!st) {
        hf_sheet sh = hf_sheet_begin(&v.section, err);

        hf_sheet_run(&sh, "run_id", &v.dossier.run);
        hf_sheet_time(&sh, "from", v.dossier.run.created_us);
        hf_sheet_time(&sh, "to", v.dossier.base.closed_us);
        hf_sheet_int(&sh, "events", (int64_t)v.dossier.event_count);
        hf_sheet_put(&sh, "bars", bars);
        st = hf_sheet_end(&sh, out_bars);
    }
    view_close(&v);
    return st;
}
