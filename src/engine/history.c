/* history.c: hf_history: the events of a run as the published history shows them. Reads what is
   committed and nothing else. */
#include "base/value.h"
#include "engine/call.h"
#include "engine/look.h"
#include "holdfast/view.h"
#include "project/compose.h"
#include "project/dossier.h"
#include "project/edge.h"

/* Workers know the type of an event by another name than bundles do: it has both. */
static hf_value event_named(hf_mem *mem, hf_value event)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(event, i, &key, &item); i++)
        hf_value_set(list, key, item);
    hf_value_set(list, HF_SLICE("event_type"), hf_value_find(event, HF_SLICE("type")));
    return hf_value_finish(list);
}

/* All events pass, because later ones show what earlier ones said; those of the page are composed.
 */
static hf_status events_compose(const hf_dossier *dossier, hf_mem *mem, int64_t after,
                                int64_t limit, hf_value *out_events, hf_err *err)
{
    hf_compose_run run = {.key = dossier->run.key,
                          .id = hf_dossier_run_id(&dossier->run),
                          .instance_id = dossier->run.instance_id,
                          .type = dossier->run.type,
                          .queue = dossier->queue,
                          .number = dossier->run.number,
                          .business_key = dossier->business_key,
                          .parent_instance_id = dossier->parent.instance_id,
                          .parent_step = dossier->parent_step,
                          .definition = dossier->definition};
    hf_value_list *list = hf_value_array(mem);
    int64_t count = (int64_t)dossier->event_count;
    int64_t last = after >= count ? 0 : limit > 0 && limit < count - after ? after + limit : count;
    hf_compose *compose = NULL;
    hf_status st;

    if (dossier->parent.key != HF_NONE)
        run.parent_run_id = hf_dossier_run_id(&dossier->parent);
    st = hf_compose_new(mem, &run, &compose, err);
    for (int64_t seq = 1; !st && seq <= last; seq++) {
        const hf_event *passed = &dossier->events[seq - 1];
        hf_value event = NULL;

        if (seq <= after) {
            st = hf_compose_pass(compose, passed, seq, err);
            continue;
        }
        st = hf_compose_event(compose, passed, seq, NULL, &event, err);
        hf_value_append(list, event_named(mem, event));
    }
    hf_compose_free(compose);
    *out_events = hf_value_finish(list);
    return st ? st : *out_events ? HF_OK : hf_err_nomem(err, "a history");
}

/* What the run was started with, as a blob; null when it was nothing. */
static hf_status arguments_get(const hf_dossier *dossier, hf_mem *mem, hf_value *out_blob,
                               hf_err *err)
{
    hf_payload_value payload;

    *out_blob = hf_value_null();
    for (size_t i = 0; i < dossier->event_count; i++)
        if (dossier->events[i].type == HF_EVENT_WORKFLOW_STARTED &&
            hf_event_payload(&dossier->events[i], HF_KEY_ARGUMENTS, &payload))
            return hf_edge_blob(mem, &payload, out_blob, err);
    return HF_OK;
}

static bool closes_among(const hf_dossier *dossier)
{
    for (size_t i = 0; i < dossier->event_count; i++)
        if (hf_event_has_flag(dossier->events[i].type, HF_EVENT_CLOSES))
            return true;
    return false;
}

hf_status hf_look_history(hf_db *db, hf_mem *mem, int64_t run, int64_t after, int64_t limit,
                          int64_t at, hf_value *out, hf_err *err)
{
    hf_dossier dossier;
    hf_value events = NULL;
    hf_value arguments = NULL;
    hf_status st = hf_dossier_read(db, mem, run, &dossier, err);

    if (!st && at && (uint64_t)at < dossier.event_count)
        dossier.event_count = (size_t)at;
    if (!st)
        st = events_compose(&dossier, mem, after, limit, &events, err);
    if (!st)
        st = arguments_get(&dossier, mem, &arguments, err);
    if (!st) {
        *out =
            hf_json_(mem,
                     "{'events': %p, 'last_sequence': %lld, 'closed': %p, 'arguments': %p, "
                     "'payload_codec': 'avro'}",
                     (const void *)events, (long long)dossier.event_count,
                     (const void *)hf_value_bool(closes_among(&dossier)), (const void *)arguments);
        st = *out ? HF_OK : hf_err_nomem(err, "a history");
    }
    return st;
}

typedef struct history_look {
    const hf_history_opts *o;
    bool waits;
    hf_mem *mem;
    hf_value *out;
} history_look;

/* The page; HF_BUSY while the run is open, nothing is behind `after`, and the caller would wait. */
static hf_status page_look(hf_call *c, void *ctx)
{
    const history_look *look = ctx;
    const hf_history_opts *o = look->o;
    hf_intake_target target;
    hf_status st =
        hf_call_view_begin(c, hf_slice_of(o->id), hf_slice_of(o->run_id), &target, &c->slot->err);

    if (st)
        return st;
    c->awaits = target.base.run;
    c->awaits_shard = target.base.shard;
    c->awaits_end = false;
    if (look->waits && target.base.last_seq <= o->after && target.base.closed_us == HF_NONE)
        st = HF_BUSY;
    else
        st = hf_look_history(c->in.db, look->mem, target.base.run, o->after, o->limit, o->at,
                             look->out, &c->slot->err);
    hf_call_view_end(c);
    return st;
}

hf_status hf_history_with(hf_engine *engine, hf_mem *mem, hf_value *out, const hf_history_opts *o)
{
    hf_history_opts opts = {0};
    history_look look = {.o = &opts, .mem = mem, .out = out};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    if (!mem || !out || !opts.id || opts.after < 0 || opts.limit < 0 || opts.at < 0)
        return hf_err_set(&c.slot->err, HF_MISUSE, "an id, memory and a place are needed");
    *out = NULL;
    look.waits = opts.wait > 0;
    st = hf_call_await(&c, opts.wait, page_look, &look);
    if (st != HF_TIMEOUT)
        return st;
    look.waits = false; /* nothing happened: an empty page */
    return page_look(&c, &look);
}

const char *hf_event_type_at(size_t i)
{
    return i < hf_event_type_list.count ? hf_event_type_list.items[i].text : NULL;
}
