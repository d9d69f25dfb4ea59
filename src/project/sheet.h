/* sheet.h: an object of a section in the making, member by member; the first failure stays and is
   reported at the end. Values live in the section's arena. */
#ifndef HF_PROJECT_SHEET_H
#define HF_PROJECT_SHEET_H

#include "base/err.h"
#include "base/value.h"
#include "model/vocab.h"
#include "project/section.h"

typedef struct hf_sheet {
    const hf_section *s;
    hf_value_list *object;
    hf_err *err;
    hf_status st;
} hf_sheet;

hf_sheet hf_sheet_begin(const hf_section *s, hf_err *err);
void hf_sheet_put(hf_sheet *sh, const char *name, hf_value value);
void hf_sheet_text(hf_sheet *sh, const char *name, hf_slice text);

/* A word of a list, null for HF_NONE and 0. */
void hf_sheet_word(hf_sheet *sh, const char *name, const hf_vocab *list, int64_t number);
void hf_sheet_int(hf_sheet *sh, const char *name, int64_t number);
void hf_sheet_time(hf_sheet *sh, const char *name, int64_t time_us);
void hf_sheet_event_time(hf_sheet *sh, const char *name, const hf_event *event);
void hf_sheet_id(hf_sheet *sh, const char *name, const hf_ulid *id);
void hf_sheet_run(hf_sheet *sh, const char *name, const hf_dossier_run *run);

/* What an event says under a key; null when there is no event, or it says nothing. */
void hf_sheet_field(hf_sheet *sh, const char *name, const hf_event *event, hf_event_key key);

/* Where the step stands in the code; null when there is no step, or nobody knows. */
void hf_sheet_line(hf_sheet *sh, const hf_track_step *step);

/* A payload always with its codec beside it, whatever the event would show. */
void hf_sheet_payload(hf_sheet *sh, const char *name, const hf_event *event, hf_event_key key);

HF_NODISCARD hf_status hf_sheet_end(hf_sheet *sh, hf_value *out_value);

/* Ends the sheet as the next item of a list. */
HF_NODISCARD hf_status hf_sheet_append(hf_sheet *sh, hf_value_list *list);

/* Ends a list of sheets. */
HF_NODISCARD hf_status hf_sheet_list(hf_value_list *list, hf_status st, hf_value *out_value,
                                     hf_err *err);

#endif
