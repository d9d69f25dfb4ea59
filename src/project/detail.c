/* detail.c: see detail.h. */
#include "project/detail.h"

#include "project/bars.h"
#include "project/detail_impl.h"

static void view_close(hf_detail_view *v)
{
    hf_compose_free(v->compose);
}

static hf_status view_open(hf_detail_view *v, hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                           int64_t limit, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st;

    *v = (hf_detail_view){.mem = mem};
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
static hf_status ends_read(hf_detail_view *v, hf_db *db, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < d->event_count; i++)
        if (d->events[i].type == HF_EVENT_WORKFLOW_STARTED ||
            d->events[i].type == HF_EVENT_WORKFLOW_COMPLETED)
            st = hf_dossier_event(db, v->mem, d->run.key, (int64_t)i + 1, &d->events[i], err);
    return st;
}

static bool closes_among(const hf_dossier *d)
{
    for (size_t i = 0; i < d->event_count; i++)
        if (hf_event_has_flag(d->events[i].type, HF_EVENT_CLOSES))
            return true;
    return false;
}

/* A run as it was after an earlier event was open, unless an event up to there closed it; what was
   asked of it later was not asked yet. */
static void view_rewind(hf_detail_view *v)
{
    hf_dossier *d = &v->dossier;
    hf_dossier_command **at = &d->commands;

    if (v->now)
        return;
    d->base.last_seq = (int64_t)d->event_count;
    d->base.last_us = d->event_count ? d->events[d->event_count - 1].time_us : d->run.created_us;
    d->archived_us = HF_NONE;
    while (*at) {
        if ((*at)->recorded_us > d->base.last_us)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    if (closes_among(d))
        return;
    d->base.closed_us = HF_NONE;
    d->base.closed_reason = HF_NONE;
    d->base.status = HF_RUN_STATUS_WAITING;
}

/* Lets all events through, the last ones as entries of the timeline. */
static hf_status timeline_make(hf_detail_view *v, hf_value *out_timeline, hf_err *err)
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

/* ---- lists */

/* A list under its name, and what it is of. */
static void list_put(hf_sheet *sh, const char *name, hf_value list)
{
    hf_sheet_put(sh, name, list);
    hf_sheet_text(sh, hf_mem_format(sh->s->mem, "%s_scope", name), HF_SLICE("selected_run"));
}

static void sections_put(hf_sheet *sh, hf_detail_view *v)
{
    static const struct {
        const char *name;
        hf_section_fn *make;
    } lists[] = {{"commands", hf_section_commands},
                 {"signals", hf_section_signals},
                 {"updates", hf_section_updates},
                 {"exceptions", hf_section_failures},
                 {"linked_intakes", hf_section_intakes}};

    for (size_t i = 0; !sh->st && i < sizeof(lists) / sizeof(lists[0]); i++) {
        hf_value value = NULL;

        sh->st = lists[i].make(&v->section, &value, sh->err);
        list_put(sh, lists[i].name, value);
    }
}

/* Children and parents, and where they were read. */
static void links_put(hf_sheet *sh, hf_detail_view *v)
{
    hf_value links = NULL;

    if (!sh->st)
        sh->st = hf_section_links(&v->section, &links, sh->err);
    if (!sh->st)
        links = hf_value_merge(v->mem, links,
                               hf_json_(v->mem, "{'projection_source': %s}",
                                        v->fold.state == HF_PROJECTION_IN_SYNC
                                            ? "workflow_run_lineage_entries"
                                            : "workflow_run_lineage_entries_rebuilt"));
    list_put(sh, "links", links);
    list_put(sh, "parents", hf_get(links, "parents"));
    list_put(sh, "children", hf_get(links, "children"));
}

/* Waits, activities, timers, tasks. */
static void work_put(hf_sheet *sh, hf_detail_view *v, const hf_liveness *live, int64_t now_us)
{
    hf_value list = NULL;

    if (!sh->st)
        sh->st = hf_detail_waits(v, &list, sh->err);
    list_put(sh, "waits", list);
    if (!sh->st && !live)
        hf_detail_moment_put(sh, list);
    if (!sh->st)
        sh->st = hf_detail_activities(v, &list, sh->err);
    list_put(sh, "activities", list);
    if (!sh->st)
        sh->st = hf_detail_timers(v, &list, sh->err);
    list_put(sh, "timers", list);
    if (!sh->st)
        sh->st = hf_detail_tasks(v, live, now_us, &list, sh->err);
    list_put(sh, "tasks", list);
}

static void sources_put(hf_sheet *sh, const hf_detail_view *v)
{
    static const char *const names[][2] = {{"waits", "workflow_run_waits"},
                                           {"timeline", "workflow_run_timeline_entries"},
                                           {"timers", "workflow_run_timer_entries"},
                                           {"lineage", "workflow_run_lineage_entries"}};
    bool rebuilt = v->fold.state != HF_PROJECTION_IN_SYNC;

    for (size_t i = 0; i < 4; i++) {
        const char *key = hf_mem_format(v->mem, "%s_projection_source", names[i][0]);
        const char *text = hf_mem_format(v->mem, "%s%s", names[i][1], rebuilt ? "_rebuilt" : "");

        hf_sheet_text(sh, key, hf_slice_of(text));
    }
}

static int64_t failures_count(const hf_detail_view *v)
{
    int64_t count = 0;

    for (const hf_track_failure *f = hf_track_failures(hf_compose_track(v->compose)); f;
         f = f->next)
        count++;
    return count;
}

/* Everything but the liveness and the sections that are merged in. */
static hf_status detail_make(hf_detail_view *v, const hf_detail_query *q, const hf_liveness *live,
                             hf_value timeline, hf_value *out_value, hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    hf_detail_head_put(&sh, v, q, live);
    hf_detail_chain_put(&sh, v);
    hf_sheet_int(&sh, "exception_count", failures_count(v));
    sections_put(&sh, v);
    links_put(&sh, v);
    work_put(&sh, v, live, q->world->live.now_us);
    list_put(&sh, "timeline", timeline);
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
    hf_detail_view v;
    hf_status st = view_open(&v, db, mem, query->run, query->at, query->limit, err);

    *out_state = v.fold.state;
    if (!st)
        st = ends_read(&v, db, err);
    if (!st)
        st = hf_detail_chain_read(&v, db, err);
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
            base = hf_value_merge(mem, base, hf_liveness_value(&live, &v.dossier, mem));
        base = hf_value_merge(mem, base, detail);
        *out_detail = hf_value_merge(mem, base, hf_json_(mem, "{'why': %p}", (const void *)why));
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
    hf_value barriers = NULL;
    hf_detail_view v;
    hf_status st = view_open(&v, db, mem, run, at, limit, err);

    if (!st)
        view_rewind(&v);
    for (size_t i = 0; !st && i < v.dossier.event_count; i++)
        st = hf_compose_pass(v.compose, &v.dossier.events[i], (int64_t)i + 1, err);
    if (!st)
        st = hf_bars_make(&v.section, &bars, err);
    if (!st)
        st = hf_bars_barriers(&v.section, &barriers, err);
    if (!st) {
        hf_sheet sh = hf_sheet_begin(&v.section, err);

        hf_sheet_run(&sh, "run_id", &v.dossier.run);
        hf_sheet_time(&sh, "from", v.dossier.run.created_us);
        hf_sheet_time(&sh, "to", v.dossier.base.closed_us);
        hf_sheet_int(&sh, "events", (int64_t)v.dossier.event_count);
        hf_sheet_put(&sh, "is_now", hf_value_bool(v.now));
        hf_sheet_put(&sh, "bars", bars);
        hf_sheet_put(&sh, "barriers", barriers);
        st = hf_sheet_end(&sh, out_bars);
    }
    view_close(&v);
    return st;
}
