/* dossier.h: everything the store has of one run, in memory, as one snapshot saw it. The size is
   bounded by the history limits of a run. Reads only. */
#ifndef HF_PROJECT_DOSSIER_H
#define HF_PROJECT_DOSSIER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/definition.h"
#include "model/event.h"
#include "store/db.h"
#include "store/row.h"

typedef struct hf_dossier_command {
    struct hf_dossier_command *next;
    int64_t key;
    int64_t type;
    int64_t status;
    int64_t outcome; /* HF_NONE: none, as for every number below */
    int64_t rejection;
    int64_t scope;
    int64_t source;
    int64_t command_seq;
    int64_t message_seq;
    hf_slice name;
    int64_t recorded_us;
    int64_t applied_us;
    int64_t closed_us;
    hf_slice body; /* canonical JSON: context, reason, arguments; ptr NULL: none */
} hf_dossier_command;

typedef struct hf_dossier_task {
    struct hf_dossier_task *next;
    int64_t key;
    int64_t kind;
    int64_t status;
    hf_slice queue;
    int64_t priority;
    int64_t available_us;
    int64_t lease_until_us;
    int64_t attempt;
    int64_t repair_count;
    int64_t created_us;
    hf_slice body;  /* JSON; ptr NULL: none */
    hf_slice owner; /* who holds it; ptr NULL: nobody */
    int64_t source_kind;
    int64_t source_key;
    int64_t trouble; /* hf_task_trouble */
    int64_t repair_us;
} hf_dossier_task;

/* Open work that is not a task; rows may be lost, so history is asked first. */
typedef struct hf_dossier_activity {
    struct hf_dossier_activity *next;
    int64_t key;
    int64_t step;
    hf_slice type;
    int64_t status;
    int64_t attempt;
    int64_t lost_attempts;
    int64_t max_attempts; /* HF_NONE: no limit */
    int64_t available_us;
    int64_t deadline_us;
    int64_t scheduled_us;
    int64_t started_us;
    int64_t closed_us;
} hf_dossier_activity;

typedef struct hf_dossier_timer {
    struct hf_dossier_timer *next;
    int64_t key;
    int64_t step;
    int64_t kind;
    int64_t status;
    int64_t due_us;
    int64_t closed_us;
} hf_dossier_timer;

typedef struct hf_dossier_child {
    struct hf_dossier_child *next;
    int64_t step;
    int64_t run;
    int64_t run_us;
    int64_t closed_us;
    hf_slice id;
    hf_slice type;
} hf_dossier_child;

/* A fact that another run left. */
typedef struct hf_dossier_fact {
    struct hf_dossier_fact *next;
    int64_t key;
    int64_t kind; /* hf_inbox_kind */
    int64_t source_run;
} hf_dossier_fact;

/* Another run, as much of it as its ids need. */
typedef struct hf_dossier_run {
    int64_t key; /* HF_NONE: there is none */
    int64_t created_us;
    hf_slice instance_id;
    hf_slice type;
    int64_t number;
} hf_dossier_run;

typedef struct hf_dossier {
    hf_run_base base;
    hf_dossier_run run;
    int64_t namespace_key;
    hf_slice queue;
    hf_slice business_key; /* ptr NULL: none */
    int64_t archived_us;
    int64_t blocked; /* hf_run_blocked */
    int64_t crash_count;
    int64_t execution_deadline_us;
    int64_t run_deadline_us;
    const hf_definition_snapshot *definition; /* NULL: not known here */
    hf_dossier_run current;                   /* the newest run of the instance */
    hf_dossier_run parent;
    int64_t parent_step;
    hf_event *events; /* payloads are inline or erased, never references */
    size_t event_count;
    int64_t *units; /* of each event the sequence at which its unit begins */
    hf_dossier_command *commands;
    hf_dossier_task *tasks;
    hf_dossier_activity *activities;
    hf_dossier_timer *timers;
    hf_dossier_child *children; /* by step, the newest run of a step last */
    hf_dossier_fact *facts;
} hf_dossier;

/* Reads the run with this key in one snapshot: the caller's, if it has begun one. Everything lives
   in the arena. HF_NOTFOUND, HF_CORRUPT, HF_NOMEM, and what the database says. */
HF_NODISCARD hf_status hf_dossier_read(hf_db *db, hf_mem *mem, int64_t run, hf_dossier *out_dossier,
                                       hf_err *err);

/* The same without the bytes of big values, for whoever asks what the run waits for. */
HF_NODISCARD hf_status hf_dossier_skim(hf_db *db, hf_mem *mem, int64_t run, hf_dossier *out_dossier,
                                       hf_err *err);

/* The same without any event, for whoever has them from elsewhere (projection.h) and puts them in.
 */
HF_NODISCARD hf_status hf_dossier_outline(hf_db *db, hf_mem *mem, int64_t run,
                                          hf_dossier *out_dossier, hf_err *err);

/* The events of a run behind `after` up to `upto`, with all their bytes; fewer when it has fewer.
   Nothing before them is read. */
HF_NODISCARD hf_status hf_dossier_events(hf_db *db, hf_mem *mem, int64_t run, int64_t after,
                                         int64_t upto, hf_event **out_events, size_t *out_count,
                                         hf_err *err);

/* One event of a run with all its bytes. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_dossier_event(hf_db *db, hf_mem *mem, int64_t run, int64_t seq,
                                        hf_event *out_event, hf_err *err);

/* Whether the run is a step machine's: what it was started with says so, or, when its type was not
   known then, its history. */
bool hf_dossier_is_machine(const hf_dossier *dossier);

/* The id of a run. */
hf_ulid hf_dossier_run_id(const hf_dossier_run *run);

/* Finds a run without reading its history: its row by key. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_dossier_find(hf_db *db, hf_mem *mem, int64_t key, hf_dossier_run *out_run,
                                       hf_err *err);

#endif
