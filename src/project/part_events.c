/* part_events.c: a window of a run's events: see part.h. Events are let through from the first on,
   because later ones show what earlier ones said; the fold has them without big values, so the
   values of those that are shown are read from history, one event at a time. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "project/edge.h"
#include "project/part_impl.h"

size_t hf_part_missing(const hf_event *event)
{
    size_t bytes = 0;

    for (size_t i = 0; i < event->count; i++)
        if (hf_event_key_kind(event->fields[i].key) == HF_VALUE_KIND_PAYLOAD &&
            event->fields[i].payload.form == HF_PAYLOAD_FORM_ERASED)
            bytes += event->fields[i].payload.size;
    return bytes;
}

/* All else stays what it is, because what was let through is remembered by where it lies. */
hf_status hf_part_fill(const hf_detail_view *v, hf_mem *mem, int64_t seq, hf_err *err)
{
    hf_event *event = &v->dossier.events[seq - 1];
    hf_event_field *fields;
    hf_event full;
    hf_status st;

    if (!hf_part_missing(event))
        return HF_OK;
    fields = hf_mem_array(mem, event->count, sizeof(*fields));
    st = fields ? hf_detail_event(v, mem, seq, &full, err) : hf_err_nomem(err, "an event");
    if (!st && (full.type != event->type || full.count != event->count))
        st = hf_err_set(err, HF_CORRUPT, "event %lld is not what its fold says", (long long)seq);
    for (size_t i = 0; !st && i < event->count; i++) {
        fields[i] = event->fields[i];
        if (hf_event_key_kind(fields[i].key) == HF_VALUE_KIND_PAYLOAD)
            fields[i].payload = full.fields[i].payload;
    }
    if (!st)
        event->fields = fields;
    return st;
}

/* In the bytes of its values, beyond what is shown of them. */
static bool bytes_have(const hf_event *event, hf_slice text)
{
    for (size_t i = 0; i < event->count; i++)
        if (hf_event_key_kind(event->fields[i].key) == HF_VALUE_KIND_PAYLOAD &&
            hf_slice_has(event->fields[i].payload.bytes, text))
            return true;
    return false;
}

/* One event as an entry of the timeline, with all bytes of its payloads; it is let through.
 *out_has: whether the text is in those. */
static hf_status entry_make(hf_detail_view *v, int64_t seq, hf_slice text, hf_value *out_entry,
                            bool *out_has, hf_err *err)
{
    hf_event *event = &v->dossier.events[seq - 1];
    hf_event_field *kept = event->fields;
    hf_value shown = NULL;
    hf_mem *big = hf_mem_new();
    hf_status st = big ? hf_part_fill(v, big, seq, err) : hf_err_nomem(err, "an event");

    if (!st)
        st = hf_compose_event(v->compose, event, seq, NULL, &shown, err);
    if (!st)
        st = hf_section_entry(&v->section, event, shown, out_entry, err);
    *out_has = !st && text.len && bytes_have(event, text);
    event->fields = kept;
    hf_mem_free(big);
    return st;
}

/* ---- what is looked for */

static bool kind_wanted(hf_value kinds, hf_event_type type)
{
    hf_slice kind = hf_slice_of(hf_timeline_kind_text(hf_section_kind(type)));

    for (size_t i = 0; i < hf_len(kinds); i++)
        if (hf_slice_equal(hf_value_slice(hf_at(kinds, i)), kind))
            return true;
    return !kinds;
}

static hf_status payload_has(hf_value payload, hf_slice text, bool *out_has, hf_err *err)
{
    hf_buf json = {0};

    hf_json_write(&json, payload);
    *out_has = hf_buf_ok(&json) && hf_slice_has(hf_buf_slice(&json), text);
    if (!hf_buf_ok(&json)) {
        hf_buf_fini(&json);
        return hf_err_nomem(err, "an event");
    }
    hf_buf_fini(&json);
    return HF_OK;
}

/* In type, summary or payload; the summary begins with the type. */
static hf_status entry_wanted(hf_value entry, hf_slice text, bool *io_wanted, hf_err *err)
{
    if (!text.len || hf_slice_has(hf_slice_of(hf_str(entry, "summary", "")), text))
        *io_wanted = true;
    return *io_wanted
               ? HF_OK
               : payload_has(hf_value_find(entry, HF_SLICE("payload")), text, io_wanted, err);
}

/* ---- the window */

/* The entries that are kept: forwards the first ones, backwards the last ones of the window. */
typedef struct window {
    hf_value *entries; /* a ring of `room` */
    int64_t *at;       /* their sequences */
    size_t room;
    size_t first;
    size_t count;
    int64_t from; /* events that are looked at, both included */
    int64_t to;
    int64_t looked; /* the last of them */
    size_t bytes;   /* of big payloads */
    bool dropped;   /* an earlier match made room for a later one */
} window;

/* Backwards it begins where not too much lies between there and its end. */
static int64_t window_bytes(const window *w, const hf_detail_view *v)
{
    int64_t from = w->to;
    size_t bytes = 0;

    for (; from > w->from && bytes <= HF_PART_BYTES_MAX; from--)
        bytes += hf_part_missing(&v->dossier.events[from - 2]);
    return from;
}

/* Which events are looked at: those near the end that it begins at. */
static void window_place(window *w, const hf_detail_view *v, const hf_part_query *q)
{
    int64_t count = (int64_t)v->dossier.event_count;

    w->from = q->after + 1;
    w->to = q->before <= count ? q->before - 1 : count;
    if (q->backwards && !q->kinds && !q->text.len && w->to - w->from >= (int64_t)w->room)
        w->from = w->to - (int64_t)w->room + 1;
    if (w->to - w->from >= HF_PART_LOOKED_MAX) {
        if (q->backwards)
            w->from = w->to - HF_PART_LOOKED_MAX + 1;
        else
            w->to = w->from + HF_PART_LOOKED_MAX - 1;
    }
    if (q->backwards && w->to >= w->from)
        w->from = window_bytes(w, v);
    w->looked = w->from - 1;
}

static void window_keep(window *w, hf_value entry, int64_t seq)
{
    size_t at = (w->first + w->count) % w->room;

    w->entries[at] = entry;
    w->at[at] = seq;
    if (w->count < w->room) {
        w->count++;
        return;
    }
    w->first = (w->first + 1) % w->room;
    w->dropped = true;
}

static hf_status event_look(hf_detail_view *v, const hf_part_query *q, int64_t seq, window *w,
                            hf_err *err)
{
    const hf_event *event = &v->dossier.events[seq - 1];
    bool wanted = false;
    hf_value entry = NULL;
    hf_status st;

    if (seq < w->from || !kind_wanted(q->kinds, event->type))
        return hf_compose_pass(v->compose, event, seq, err);
    w->bytes += hf_part_missing(event);
    st = entry_make(v, seq, q->text, &entry, &wanted, err);
    if (!st)
        st = entry_wanted(entry, q->text, &wanted, err);
    if (!st && wanted)
        window_keep(w, entry, seq);
    return st;
}

/* Forwards it ends when there is enough, or when too much was read for it. */
static bool window_full(const window *w, const hf_part_query *q)
{
    return !q->backwards && (w->count == w->room || w->bytes > HF_PART_BYTES_MAX);
}

static hf_status window_fill(hf_detail_view *v, const hf_part_query *q, window *w, hf_err *err)
{
    hf_status st = HF_OK;

    for (int64_t seq = 1; !st && seq <= w->to; seq++) {
        if (seq >= w->from && window_full(w, q))
            break;
        st = event_look(v, q, seq, w, err);
        if (seq >= w->from)
            w->looked = seq;
    }
    return st;
}

/* ---- the answer */

static hf_value entries_value(const hf_detail_view *v, const hf_part_query *q, const window *w)
{
    hf_value_list *list = hf_value_array(v->mem);

    for (size_t i = 0; i < w->count; i++)
        hf_value_append(list,
                        w->entries[(w->first + (q->backwards ? w->count - 1 - i : i)) % w->room]);
    return hf_value_finish(list);
}

static hf_value number_or_null(hf_mem *mem, bool there, int64_t number)
{
    return there ? hf_value_int(mem, number) : hf_value_null();
}

static hf_status window_answer(const hf_detail_view *v, const hf_part_query *q, const window *w,
                               hf_value *out_part, hf_err *err)
{
    int64_t count = (int64_t)v->dossier.event_count;
    int64_t end = q->before <= count ? q->before - 1 : count;
    int64_t lowest = w->dropped ? w->at[w->first] : w->from;
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_int(&sh, "last_sequence", count);
    hf_sheet_put(&sh, "is_now", hf_value_bool(v->now));
    hf_sheet_put(&sh, "events", entries_value(v, q, w));
    hf_sheet_put(&sh, "next_after",
                 number_or_null(v->mem, !q->backwards && w->looked < end, w->looked));
    hf_sheet_put(
        &sh, "previous_before",
        number_or_null(v->mem, q->backwards && lowest > q->after + 1 && lowest <= end, lowest));
    hf_sheet_int(&sh, "scanned_to", q->backwards ? lowest : w->looked);
    return hf_sheet_end(&sh, out_part);
}

hf_status hf_part_events(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                         hf_err *err)
{
    window w = {.room = (size_t)query->detail.limit};
    hf_status st;

    if (!w.room || w.room > HF_PART_EVENTS_MAX || query->after < 0 || query->before < 1)
        return hf_err_set(err, HF_INVALID, "a window has 1 to %d events, after 0 or one of them",
                          HF_PART_EVENTS_MAX);
    w.entries = hf_mem_array(v->mem, w.room, sizeof(*w.entries));
    w.at = hf_mem_array(v->mem, w.room, sizeof(*w.at));
    if (!w.entries || !w.at)
        return hf_err_nomem(err, "a window");
    window_place(&w, v, query);
    st = window_fill(v, query, &w, err);
    return st ? st : window_answer(v, query, &w, out_part, err);
}
