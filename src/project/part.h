/* part.h: one part of a run for a page that shows only that: its head, a window of its events, its
   bars, waits, commands, one step. Everything is what detail.h has, made by the same code; payloads
   are for people (shown.h). The fold of the run is read, of its history only big values that are
   shown. Reads only. */
#ifndef HF_PROJECT_PART_H
#define HF_PROJECT_PART_H

#include "project/detail.h"

enum {
    HF_PART_EVENTS_MAX = 1000,           /* of one window */
    HF_PART_LOOKED_MAX = 20000,          /* events that are looked at for it */
    HF_PART_BYTES_MAX = 32 * 1024 * 1024 /* of big payloads that are read for it */
};

typedef struct hf_part_query {
    hf_detail_query detail;
    hf_slice part; /* head, events, spans, waits, commands, activities, timers, failures, tasks,
                      step, state, blocked, payload; of a bundle also lineage */
    /* events: those between both, which are not among them */
    int64_t after;
    int64_t before; /* INT64_MAX: to the end */
    hf_value kinds; /* array of hf_timeline_kind texts; NULL: all */
    hf_slice text;  /* that type, summary or payload must have; empty: none */
    bool backwards; /* from the end on */
    int64_t step;   /* of the part step */
    /* payload: of which event, under which key; so many bytes of its text from there on */
    int64_t event;
    hf_slice key;
    int64_t from;
    int64_t size;
} hf_part_query;

/* HF_INVALID for a part that is none, and a step that the run does not have is HF_NOTFOUND. Else as
   hf_detail_read. */
HF_NODISCARD hf_status hf_part_read(hf_db *db, hf_mem *mem, const hf_part_query *query,
                                    hf_value *out_part, hf_projection_state *out_state,
                                    hf_err *err);

#endif
