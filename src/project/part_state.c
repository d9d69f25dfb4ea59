/* part_state.c: what the code of a run says of itself: memo, search attributes, labels, notes, and
   where a step machine stands: see part.h. */
#include "base/json.h"
#include "project/edge.h"
#include "project/part_impl.h"

/* The newest `limit` notes, the oldest of them first. */
static hf_status notes_make(const hf_detail_view *v, hf_value *out_notes, hf_err *err)
{
    const hf_dossier *d = &v->dossier;
    hf_value_list *list = hf_value_array(v->mem);
    size_t total = 0;
    size_t skip;
    hf_status st = HF_OK;

    for (size_t i = 0; i < d->event_count; i++)
        total += d->events[i].type == HF_EVENT_NOTE_RECORDED;
    skip = hf_section_skip(&v->section, total);
    for (size_t i = 0; !st && i < d->event_count; i++) {
        hf_sheet sh;

        if (d->events[i].type != HF_EVENT_NOTE_RECORDED || (skip && skip--))
            continue;
        sh = hf_sheet_begin(&v->section, err);
        hf_sheet_int(&sh, "sequence", (int64_t)i + 1);
        hf_sheet_int(&sh, "step", d->events[i].step ? d->events[i].step : HF_NONE);
        hf_sheet_event_time(&sh, "at", &d->events[i]);
        hf_sheet_field(&sh, "text", &d->events[i], HF_KEY_MESSAGE);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_notes, err);
}

/* ---- machines */

/* Signals that no step has used up. */
static hf_status inbox_make(const hf_detail_view *v, hf_value *out_inbox, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    hf_status st = HF_OK;

    for (const hf_track_message *m = hf_track_messages(hf_compose_track(v->compose)); !st && m;
         m = m->next) {
        hf_sheet sh;

        if (m->update || m->applied)
            continue;
        sh = hf_sheet_begin(&v->section, err);
        hf_sheet_id(&sh, "id", &m->id);
        hf_sheet_text(&sh, "name", m->name);
        hf_sheet_payload(&sh, "payload", m->came, HF_KEY_ARGUMENTS);
        hf_sheet_event_time(&sh, "received_at", m->came);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_inbox, err);
}

/* The event that says where the machine stands: of its newest step; HF_OK with 0: it took none. */
static int64_t newest_step(const hf_detail_view *v)
{
    int64_t seq = (int64_t)v->dossier.event_count;

    while (seq > 0 && v->dossier.events[seq - 1].type != HF_EVENT_STEP_COMPLETED)
        seq--;
    return seq;
}

static hf_status machine_make(hf_detail_view *v, int64_t newest, hf_value *out_machine, hf_err *err)
{
    const hf_event *event = newest ? &v->dossier.events[newest - 1] : NULL;
    const hf_track_step *park = hf_track_park(hf_compose_track(v->compose));
    hf_value inbox = NULL;
    hf_value links = NULL;
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    *out_machine = hf_value_null();
    if (!event)
        return HF_OK;
    sh.st = inbox_make(v, &inbox, err);
    if (!sh.st)
        sh.st = hf_section_links(&v->section, &links, err);
    hf_sheet_field(&sh, "step", event, HF_KEY_NEXT_STEP);
    hf_sheet_field(&sh, "last_step", event, HF_KEY_STEP_NAME);
    hf_sheet_field(&sh, "outcome", event, HF_KEY_OUTCOME);
    hf_sheet_text(&sh, "awaits", park ? park->awaited : (hf_slice){0});
    hf_sheet_payload(&sh, "state", event, HF_KEY_STATE);
    hf_sheet_put(&sh, "inbox", inbox);
    hf_sheet_put(&sh, "children", hf_get(links, "children"));
    return hf_sheet_end(&sh, out_machine);
}

/* What its definition lets people ask. */
static hf_status queries_make(const hf_detail_view *v, hf_value *out_queries, hf_err *err)
{
    const hf_definition_snapshot *def = v->dossier.definition;

    return hf_edge_json(v->mem, def ? def->queries.names : HF_SLICE("[]"), out_queries, err);
}

hf_status hf_part_state(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                        hf_err *err)
{
    int64_t newest = newest_step(v);
    hf_value machine = NULL;
    hf_value notes = NULL;
    hf_value queries = NULL;
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    (void)query;
    if (newest)
        sh.st = hf_part_fill(v, v->mem, newest, err);
    if (!sh.st)
        sh.st = hf_detail_pass(v, err);
    if (!sh.st)
        sh.st = machine_make(v, newest, &machine, err);
    if (!sh.st)
        sh.st = notes_make(v, &notes, err);
    if (!sh.st)
        sh.st = queries_make(v, &queries, err);
    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_put(&sh, "memo", hf_compose_memo(v->compose));
    hf_sheet_put(&sh, "search_attributes", hf_compose_attributes(v->compose));
    hf_sheet_field(&sh, "visibility_labels", hf_compose_started(v->compose),
                   HF_KEY_VISIBILITY_LABELS);
    hf_sheet_put(&sh, "machine", machine);
    hf_sheet_put(&sh, "notes", notes);
    hf_sheet_put(&sh, "queries", queries);
    return hf_sheet_end(&sh, out_part);
}
