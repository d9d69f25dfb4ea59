/* forge.h: forged histories, for tests of verify. A run's history is read, its events are changed,
   and it is written back in the same chunks with right hashes, head and counters, so that nothing
   but the meaning of the events is wrong. */
#ifndef HF_TEST_LIB_FORGE_H
#define HF_TEST_LIB_FORGE_H

#include <stdint.h>

#include "base/mem.h"
#include "model/event.h"
#include "store/db.h"

typedef struct hf_forge {
    hf_mem *mem; /* for new fields */
    hf_event *events;
    size_t count;
} hf_forge;

typedef void hf_forge_edit(hf_forge *forge);

/* Edits the history of a run. The case fails when that is not possible. */
void hf_forge_run(hf_db *db, int64_t run, hf_forge_edit *edit);

/* The nth event of a type, from 0; the case fails when there is none. */
hf_event *hf_forge_find(hf_forge *forge, hf_event_type type, size_t nth);

/* Makes it an event of another type without fields; step and time stay. */
void hf_forge_blank(hf_event *event, hf_event_type type);

/* Sets a field, adding it when the event has none of that key. */
void hf_forge_set(hf_forge *forge, hf_event *event, hf_event_field field);

/* Runs one statement to its end. */
void hf_forge_exec(hf_db *db, const char *sql, const hf_db_value *params, size_t count);

/* The bytes of the first column of the first row, in the arena. */
hf_slice hf_forge_bytes(hf_db *db, hf_mem *mem, const char *sql, int64_t run);

#endif
