/* part.c: see part.h. Here are the parts that are one list of detail.h each; part_head.c,
   part_events.c and part_step.c have the others. */
#include "project/part.h"

#include <string.h>

#include "base/json.h"
#include "project/part_impl.h"

static hf_value named(const hf_detail_view *v, const char *name, hf_value list)
{
    hf_value_list *part = hf_value_object(v->mem);
    hf_ulid id = hf_dossier_run_id(&v->dossier.run);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    hf_value_put(part, "run_id", hf_value_string(v->mem, hf_slice_of(text)));
    hf_value_put(part, name, list);
    return hf_value_finish(part);
}

/* The part that is this one list. */
static hf_status list_part(const hf_detail_view *v, const char *name, hf_value list, hf_status st,
                           hf_value *out_part, hf_err *err)
{
    if (st)
        return st;
    *out_part = named(v, name, list);
    return *out_part ? HF_OK : hf_err_nomem(err, "a part of a run");
}

static bool is_open(hf_value wait)
{
    return strcmp(hf_str(wait, "status", ""), "open") == 0;
}

/* All that are open, then the newest of the others, as many as there is room for. */
static hf_status waits_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                            hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    size_t room = v->section.limit;
    hf_value waits = NULL;
    hf_value shown;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    v->section.limit = 0;
    if (!st)
        st = hf_detail_waits(v, &waits, err);
    for (size_t i = 0; i < hf_len(waits); i++)
        if (is_open(hf_at(waits, i))) {
            hf_value_append(list, hf_at(waits, i));
            room -= room > 0;
        }
    for (size_t i = hf_len(waits); room && i-- > 0;)
        if (!is_open(hf_at(waits, i))) {
            hf_value_append(list, hf_at(waits, i));
            room--;
        }
    shown = hf_value_finish(list);
    st = list_part(v, "waits", shown, st, out_part, err);
    if (!st)
        *out_part =
            hf_value_merge(v->mem, *out_part,
                           hf_json_(v->mem, "{'left_out': %zu}", hf_len(waits) - hf_len(shown)));
    return st ? st : *out_part ? HF_OK : hf_err_nomem(err, "waits");
}

static hf_status commands_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                               hf_err *err)
{
    hf_value commands = NULL;
    hf_value signals = NULL;
    hf_value updates = NULL;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_section_commands(&v->section, &commands, err);
    if (!st)
        st = hf_section_signals(&v->section, &signals, err);
    if (!st)
        st = hf_section_updates(&v->section, &updates, err);
    st = list_part(v, "commands", commands, st, out_part, err);
    if (!st)
        *out_part = hf_value_merge(v->mem, *out_part,
                                   hf_json_(v->mem, "{'signals': %p, 'updates': %p}",
                                            (const void *)signals, (const void *)updates));
    return st ? st : *out_part ? HF_OK : hf_err_nomem(err, "commands");
}

static hf_status activities_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                                 hf_err *err)
{
    hf_value list = NULL;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_detail_activities(v, &list, err);
    return list_part(v, "activities", list, st, out_part, err);
}

static hf_status timers_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                             hf_err *err)
{
    hf_value list = NULL;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_detail_timers(v, &list, err);
    return list_part(v, "timers", list, st, out_part, err);
}

static hf_status failures_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                               hf_err *err)
{
    hf_value list = NULL;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_section_failures(&v->section, &list, err);
    return list_part(v, "failures", list, st, out_part, err);
}

static hf_status tasks_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                            hf_err *err)
{
    hf_liveness live;
    hf_value why = NULL;
    hf_value list = NULL;
    hf_status st = hf_detail_pass(v, err);

    if (!st)
        st = hf_detail_state(v, query->detail.world, &live, &why, err);
    if (!st)
        st = hf_detail_tasks(v, &live, query->detail.world->live.now_us, &list, err);
    return list_part(v, "tasks", list, st, out_part, err);
}

static hf_status spans_part(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                            hf_err *err)
{
    hf_value spans = NULL;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_detail_spans(v, &spans, err);
    return list_part(v, "spans", spans, st, out_part, err);
}

hf_part_counts hf_part_count(const hf_detail_view *v)
{
    const hf_track *track = hf_compose_track(v->compose);
    bool live = v->dossier.base.closed_us == HF_NONE;
    hf_part_counts n = {0};

    for (const hf_dossier_command *c = v->dossier.commands; c; c = c->next)
        n.commands++;
    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next) {
        bool activity = step->opened && step->opened->type == HF_EVENT_ACTIVITY_SCHEDULED;
        bool child = step->opened && step->opened->type == HF_EVENT_CHILD_WORKFLOW_SCHEDULED;
        bool open = live && !step->ended;

        n.activities += activity;
        n.activities_open += activity && open;
        n.children += child;
        n.children_open += child && open;
        n.timers += step->timer_set != NULL;
    }
    for (const hf_track_message *m = hf_track_messages(track); m; m = m->next) {
        n.updates += m->update;
        n.signals += !m->update;
    }
    for (const hf_track_failure *f = hf_track_failures(track); f; f = f->next)
        n.failures++;
    return n;
}

hf_status hf_part_read(hf_db *db, hf_mem *mem, const hf_part_query *query, hf_value *out_part,
                       hf_projection_state *out_state, hf_err *err)
{
    static const struct {
        const char *name;
        hf_part_fn *make;
    } parts[] = {
        {"head", hf_part_head},       {"events", hf_part_events},  {"spans", spans_part},
        {"waits", waits_part},        {"commands", commands_part}, {"activities", activities_part},
        {"timers", timers_part},      {"failures", failures_part}, {"tasks", tasks_part},
        {"step", hf_part_step},       {"state", hf_part_state},    {"lineage", hf_part_lineage},
        {"blocked", hf_part_blocked}, {"payload", hf_part_payload}};
    hf_part_fn *make = NULL;
    hf_detail_view v;
    hf_status st;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (hf_slice_equal(query->part, hf_slice_of(parts[i].name)))
            make = parts[i].make;
    if (!make)
        return hf_err_set(err, HF_INVALID, "a run has no part of that name");
    st = hf_detail_open(&v, db, mem, &query->detail, err);
    *out_state = v.fold.state;
    if (!st) {
        hf_compose_show(v.compose);
        st = make(&v, query, out_part, err);
    }
    hf_detail_close(&v);
    return st;
}
