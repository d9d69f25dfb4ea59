/* part_step.c: everything that is known of one step of a run: its bar, what it was, how it failed,
   and its events, with their payloads: see part.h. */
#include "base/json.h"
#include "project/bars.h"
#include "project/edge.h"
#include "project/part_impl.h"

/* Lets all events through; those of the step become entries, with all their bytes as far as there
   is room. */
static hf_status step_events(hf_detail_view *v, int64_t step, hf_value *out_events, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    size_t bytes = 0;
    hf_status st = HF_OK;

    for (int64_t seq = 1; !st && seq <= (int64_t)v->dossier.event_count; seq++) {
        const hf_event *event = &v->dossier.events[seq - 1];
        hf_value shown = NULL;
        hf_value entry = NULL;

        if (event->step != step) {
            st = hf_compose_pass(v->compose, event, seq, err);
            continue;
        }
        bytes += hf_part_missing(event);
        if (bytes <= HF_PART_BYTES_MAX)
            st = hf_part_fill(v, v->mem, seq, err);
        if (!st)
            st = hf_compose_event(v->compose, event, seq, NULL, &shown, err);
        if (!st)
            st = hf_section_entry(&v->section, event, shown, &entry, err);
        hf_value_append(list, entry);
    }
    return hf_sheet_list(list, st, out_events, err);
}

/* The first of a list that this step alone is in; null: it is no such step. */
static hf_value only(hf_value list)
{
    return hf_len(list) ? hf_at(list, 0) : hf_value_null();
}

/* Of a list in which rows without history may stand too. */
static hf_value of_step(hf_value list, int64_t step)
{
    for (size_t i = 0; i < hf_len(list); i++)
        if (hf_int(hf_at(list, i), "sequence", 0) == step)
            return hf_at(list, i);
    return hf_value_null();
}

hf_status hf_part_step(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                       hf_err *err)
{
    hf_value events = NULL;
    hf_value bars = NULL;
    hf_value activities = NULL;
    hf_value waits = NULL;
    hf_value timers = NULL;
    hf_value links = NULL;
    hf_value failures = NULL;
    hf_sheet sh;
    hf_status st = step_events(v, query->step, &events, err);

    if (!st && !hf_len(events))
        return hf_err_set(err, HF_NOTFOUND, "the run has no step %lld", (long long)query->step);
    v->section.step = query->step;
    if (!st)
        st = hf_bars_make(&v->section, &bars, NULL, err);
    if (!st)
        st = hf_section_activities(&v->section, &activities, err);
    v->section.limit = 0; /* the waits of the run, to find the one */
    if (!st)
        st = hf_detail_waits(v, &waits, err);
    if (!st)
        st = hf_detail_timers(v, &timers, err);
    if (!st)
        st = hf_section_links(&v->section, &links, err);
    if (!st)
        st = hf_section_failures(&v->section, &failures, err);
    if (st)
        return st;
    sh = hf_sheet_begin(&v->section, err);
    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_int(&sh, "step", query->step);
    hf_sheet_put(&sh, "bar", only(bars));
    hf_sheet_put(&sh, "activity", only(activities));
    hf_sheet_put(&sh, "wait", of_step(waits, query->step));
    hf_sheet_put(&sh, "timer", of_step(timers, query->step));
    hf_sheet_put(&sh, "child", only(hf_get(links, "children")));
    hf_sheet_put(&sh, "failures", failures);
    hf_sheet_put(&sh, "events", events);
    return hf_sheet_end(&sh, out_part);
}
