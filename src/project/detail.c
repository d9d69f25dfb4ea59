/* detail.c: see detail.h. */
#include "project/detail.h"

#include "project/bars.h"
#include "project/detail_impl.h"
#include "project/moment.h"

void hf_detail_close(hf_detail_view *v)
{
    hf_compose_free(v->compose);
}

/* How big the history was after the unit with the event. */
static hf_status bytes_read(hf_db *db, int64_t run, int64_t at, int64_t *out_bytes, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run), hf_db_int(at)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_HISTORY_BYTES, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row)
        *out_bytes = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    return st;
}

/* The run with its events, as the store has it. */
static hf_status stored_read(hf_detail_view *v, hf_db *db, int64_t run, int64_t at, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st = hf_dossier_outline(db, v->mem, run, d, err);

    if (!st)
        st = hf_projection_read(db, v->mem, run, at, &v->fold, err);
    if (st)
        return st;
    d->events = v->fold.events;
    d->event_count = v->fold.count;
    v->now = (int64_t)d->event_count == d->base.last_seq;
    if (v->now)
        return HF_OK;
    hf_moment_rewind(d);
    return bytes_read(db, run, (int64_t)d->event_count, &d->base.history_bytes, err);
}

/* The run of a bundle: always an earlier moment, with all its values. */
static hf_status opened_read(hf_detail_view *v, const hf_detail_query *q, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st = hf_opened_dossier(q->opened, v->mem, d, err);

    if (st)
        return st;
    v->whole = q->opened->whole;
    if (q->at < (int64_t)d->event_count)
        d->event_count = (size_t)q->at;
    hf_moment_rewind(d);
    return HF_OK;
}

hf_status hf_detail_open(hf_detail_view *v, hf_db *db, hf_mem *mem, const hf_detail_query *q,
                         hf_err *err)
{
    const hf_dossier *d = &v->dossier;
    int64_t limit = q->limit;
    hf_status st;

    *v = (hf_detail_view){.mem = mem, .db = db};
    if (q->at < 1 || limit < 0 || limit > HF_DETAIL_LIMIT_MAX)
        return hf_err_set(err, HF_INVALID, "a moment is an event from 1 on, and a list has 1 to %d",
                          HF_DETAIL_LIMIT_MAX);
    st = q->opened ? opened_read(v, q, err) : stored_read(v, db, q->run, q->at, err);
    if (st)
        return st;
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

hf_status hf_detail_event(const hf_detail_view *v, hf_mem *mem, int64_t seq, hf_event *out_event,
                          hf_err *err)
{
    if (!v->whole)
        return hf_dossier_event(v->db, mem, v->dossier.run.key, seq, out_event, err);
    *out_event = v->whole[seq - 1];
    return HF_OK;
}

hf_status hf_detail_ends(hf_detail_view *v, hf_err *err)
{
    hf_dossier *d = &v->dossier;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < d->event_count; i++)
        if (d->events[i].type == HF_EVENT_WORKFLOW_STARTED ||
            d->events[i].type == HF_EVENT_WORKFLOW_COMPLETED)
            st = hf_detail_event(v, v->mem, (int64_t)i + 1, &d->events[i], err);
    return st;
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

/* Activities that are over, as the log that older consoles draw. */
static void logs_put(hf_sheet *sh, hf_value activities)
{
    static const char *const names[][2] = {
        {"id", "id"},
        {"index", "sequence"},
        {"now", "closed_at"},
        {"class", "class"},
        {"result", "result"},
        {"created_at", "scheduled_at"},
        {"history_authority", "history_authority"},
        {"history_unsupported_reason", "history_unsupported_reason"},
        {"diagnostic_only", "diagnostic_only"}};
    hf_value_list *logs = hf_value_array(sh->s->mem);

    for (size_t i = 0; i < hf_len(activities); i++) {
        hf_value activity = hf_at(activities, i);
        hf_value_list *entry = hf_value_object(sh->s->mem);

        if (!hf_bool(activity, "diagnostic_only", false) && !hf_str(activity, "closed_at", NULL))
            continue;
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
            hf_value value = hf_get(activity, names[n][1]);

            hf_value_set(entry, hf_slice_of(names[n][0]), value ? value : hf_value_null());
        }
        hf_value_append(logs, hf_value_finish(entry));
    }
    list_put(sh, "logs", hf_value_finish(logs));
}

/* Waits, activities, timers, tasks. */
static void work_put(hf_sheet *sh, hf_detail_view *v, const hf_liveness *live, int64_t now_us)
{
    hf_value list = NULL;

    if (!sh->st)
        sh->st = hf_detail_waits(v, &list, sh->err);
    list_put(sh, "waits", list);
    if (!sh->st)
        sh->st = hf_detail_activities(v, &list, sh->err);
    list_put(sh, "activities", list);
    if (!sh->st)
        logs_put(sh, list);
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

/* Whether it moves, and why not: by rows and whoever is there, or by history alone. */
hf_status hf_detail_state(hf_detail_view *v, const hf_why_world *now, hf_liveness *out_live,
                          hf_value *out_why, hf_err *err)
{
    const hf_why_world then = {.live = {.now_us = v->dossier.base.last_us, .past = true}};
    const hf_why_world *world = v->now ? now : &then;
    const hf_track *track = hf_compose_track(v->compose);
    hf_status st = v->now ? HF_OK : hf_moment_rows(&v->dossier, track, v->mem, err);

    hf_liveness_hold(&v->dossier, &world->live, v->mem);
    if (!st)
        st = hf_liveness_fold(&v->dossier, track, &world->live, v->mem, out_live, err);
    return st ? st : hf_why_make(&v->dossier, world, v->mem, out_why, err);
}

hf_status hf_detail_read(hf_db *db, hf_mem *mem, const hf_detail_query *query, hf_value *out_detail,
                         hf_projection_state *out_state, hf_err *err)
{
    hf_value timeline = NULL;
    hf_value base = NULL;
    hf_value detail = NULL;
    hf_value why = NULL;
    hf_liveness live;
    hf_detail_view v;
    hf_status st = hf_detail_open(&v, db, mem, query, err);

    *out_state = v.fold.state;
    if (!st)
        st = hf_detail_ends(&v, err);
    if (!st)
        st = hf_detail_chain_read(&v, err);
    if (!st)
        st = timeline_make(&v, &timeline, err);
    if (!st)
        st = hf_detail_state(&v, query->world, &live, &why, err);
    if (!st)
        st = hf_section_workflow(&v.section, &base, err);
    if (!st)
        st = detail_make(&v, query, &live, timeline, &detail, err);
    if (!st) {
        base = hf_value_merge(mem, base, hf_liveness_value(&live, &v.dossier, mem));
        base = hf_value_merge(mem, base, detail);
        *out_detail = hf_value_merge(mem, base, hf_json_(mem, "{'why': %p}", (const void *)why));
        if (!*out_detail)
            st = hf_err_nomem(err, "a run");
    }
    hf_detail_close(&v);
    return st;
}

hf_status hf_detail_pass(hf_detail_view *v, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < v->dossier.event_count; i++)
        st = hf_compose_pass(v->compose, &v->dossier.events[i], (int64_t)i + 1, err);
    return st;
}

hf_status hf_detail_spans(const hf_detail_view *v, hf_value *out_spans, hf_err *err)
{
    hf_value bars = NULL;
    hf_value barriers = NULL;
    size_t left_out = 0;
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    sh.st = hf_bars_make(&v->section, &bars, &left_out, err);
    if (!sh.st)
        sh.st = hf_bars_barriers(&v->section, &barriers, err);
    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_time(&sh, "from", v->dossier.run.created_us);
    hf_sheet_time(&sh, "to", v->dossier.base.closed_us);
    hf_sheet_int(&sh, "events", (int64_t)v->dossier.event_count);
    hf_sheet_put(&sh, "is_now", hf_value_bool(v->now));
    hf_sheet_put(&sh, "bars", bars);
    hf_sheet_put(&sh, "barriers", barriers);
    hf_sheet_int(&sh, "left_out", (int64_t)left_out);
    return hf_sheet_end(&sh, out_spans);
}

hf_status hf_detail_bars(hf_db *db, hf_mem *mem, int64_t run, int64_t at, int64_t limit,
                         hf_value *out_bars, hf_err *err)
{
    const hf_detail_query query = {.run = run, .at = at, .limit = limit};
    hf_detail_view v;
    hf_status st = hf_detail_open(&v, db, mem, &query, err);

    if (!st)
        st = hf_detail_pass(&v, err);
    if (!st)
        st = hf_detail_spans(&v, out_bars, err);
    hf_detail_close(&v);
    return st;
}

hf_status hf_detail_wait_rows(hf_db *db, hf_mem *mem, int64_t run, hf_value *out_waits, hf_err *err)
{
    const hf_detail_query query = {.run = run, .at = INT64_MAX, .limit = HF_DETAIL_LIMIT_MAX};
    hf_detail_view v;
    hf_status st = hf_detail_open(&v, db, mem, &query, err);

    if (!st)
        st = hf_detail_pass(&v, err);
    if (!st)
        st = hf_section_waits(&v.section, out_waits, err);
    hf_detail_close(&v);
    return st;
}
