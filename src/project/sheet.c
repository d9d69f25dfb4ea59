/* sheet.c: see sheet.h. */
#include "project/sheet.h"

#include "project/edge.h"

enum { SHEET_MEMBERS = 24 }; /* what most sections have about */

hf_sheet hf_sheet_begin(const hf_section *s, hf_err *err)
{
    return (hf_sheet){.s = s, .object = hf_value_object_of(s->mem, SHEET_MEMBERS), .err = err};
}

void hf_sheet_put(hf_sheet *sh, const char *name, hf_value value)
{
    hf_value_put(sh->object, name, value);
}

void hf_sheet_text(hf_sheet *sh, const char *name, hf_slice text)
{
    hf_sheet_put(sh, name, hf_edge_text(sh->s->mem, text));
}

/* A word of a list, null for HF_NONE and 0. */
void hf_sheet_word(hf_sheet *sh, const char *name, const hf_vocab *list, int64_t number)
{
    const hf_vocab_item *item = number == HF_NONE ? NULL : hf_vocab_by_number(list, number);

    hf_sheet_text(sh, name, item ? hf_slice_of(item->text) : (hf_slice){0});
}

void hf_sheet_int(hf_sheet *sh, const char *name, int64_t number)
{
    hf_sheet_put(sh, name, number == HF_NONE ? hf_value_null() : hf_value_int(sh->s->mem, number));
}

void hf_sheet_time(hf_sheet *sh, const char *name, int64_t time_us)
{
    hf_sheet_put(sh, name, hf_edge_time(sh->s->mem, time_us));
}

void hf_sheet_event_time(hf_sheet *sh, const char *name, const hf_event *event)
{
    hf_sheet_time(sh, name, event ? event->time_us : HF_EDGE_NO_TIME);
}

void hf_sheet_id(hf_sheet *sh, const char *name, const hf_ulid *id)
{
    hf_sheet_put(sh, name, hf_edge_id(sh->s->mem, id));
}

void hf_sheet_run(hf_sheet *sh, const char *name, const hf_dossier_run *run)
{
    hf_ulid id;

    if (run->key == HF_NONE) {
        hf_sheet_put(sh, name, hf_value_null());
        return;
    }
    id = hf_dossier_run_id(run);
    hf_sheet_id(sh, name, &id);
}

/* What an event says under a key; null when there is no event, or it says nothing. */
void hf_sheet_field(hf_sheet *sh, const char *name, const hf_event *event, hf_event_key key)
{
    hf_value value = NULL;

    if (!sh->st)
        sh->st = hf_compose_field(sh->s->compose, event, key, &value, sh->err);
    if (!sh->st)
        hf_sheet_put(sh, name, value);
}

void hf_sheet_line(hf_sheet *sh, const hf_track_step *step)
{
    hf_sheet_text(sh, "source_line", step && step->line.len ? step->line : (hf_slice){0});
}

/* A payload always with its codec beside it, whatever the event would show. */
void hf_sheet_payload(hf_sheet *sh, const char *name, const hf_event *event, hf_event_key key)
{
    hf_payload_value payload;
    hf_value value = hf_value_null();

    if (!sh->st && event && hf_event_payload(event, key, &payload))
        sh->st = hf_compose_payload(sh->s->compose, &payload, &value, sh->err);
    if (!sh->st)
        hf_sheet_put(sh, name, value);
}

hf_status hf_sheet_end(hf_sheet *sh, hf_value *out_value)
{
    *out_value = hf_value_finish(sh->object);
    if (sh->st)
        return sh->st;
    return *out_value ? HF_OK : hf_err_nomem(sh->err, "a section");
}

/* Ends the sheet as the next item of a list. */
hf_status hf_sheet_append(hf_sheet *sh, hf_value_list *list)
{
    hf_value value = NULL;
    hf_status st = hf_sheet_end(sh, &value);

    if (!st)
        hf_value_append(list, value);
    return st;
}

hf_status hf_sheet_list(hf_value_list *list, hf_status st, hf_value *out_value, hf_err *err)
{
    *out_value = hf_value_finish(list);
    if (st)
        return st;
    return *out_value ? HF_OK : hf_err_nomem(err, "a section");
}
