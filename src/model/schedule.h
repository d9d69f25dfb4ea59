/* schedule.h: a schedule as it is known between two changes, how it is stored, and what becomes of
   one time that it fires. Pure: no database, no clock. Times are microseconds; 0: none. */
#ifndef HF_MODEL_SCHEDULE_H
#define HF_MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"
#include "model/schedule_spec.h"
#include "model/vocab.h"

enum { HF_SCHEDULE_BUFFER_MAX = 1000, HF_SCHEDULE_RECENT = 10, HF_SCHEDULE_STAMP_SIZE = 24 };

typedef struct hf_schedule {
    /* columns */
    int64_t key;
    int64_t namespace_key;
    hf_slice id;
    hf_schedule_status status;
    int64_t revision;        /* a number of its own for each change: the fence */
    int64_t next_us;         /* when it fires next, jitter included */
    int64_t events;          /* of its audit history */
    int64_t fires;           /* runs it started */
    int64_t latest_instance; /* the last of them */
    int64_t created_us;
    /* the body */
    hf_overlap_policy overlap;
    hf_value spec;
    hf_value action; /* what it starts */
    hf_slice note;
    int64_t jitter_s;
    int64_t max_runs; /* 0: no limit */
    int64_t failures;
    int64_t skipped;
    int64_t updated_us;
    int64_t last_fired_us;
    int64_t slot_us;      /* that next_us stands for */
    int64_t last_slot_us; /* none up to here fires again, whatever the clock does */
    int64_t paused_us;
    int64_t deleted_us;
    int64_t last_skipped_us;
    int64_t last_skip; /* hf_skip_reason, 0: none */
    hf_value recent;   /* what it did last, newest first */
    int64_t *buffered; /* occurrences that wait for the last run to close, in order */
    size_t buffered_count;
} hf_schedule;

/* The stored body as canonical JSON, in the arena; ptr NULL when memory ran out. Its version is the
   member "v": to change the format, raise it and read both. */
hf_slice hf_schedule_encode(hf_mem *mem, const hf_schedule *schedule);

/* Fills the body's members; HF_CORRUPT. */
HF_NODISCARD hf_status hf_schedule_decode(hf_mem *mem, hf_slice body, hf_schedule *schedule,
                                          hf_err *err);

/* Starts that are left; INT64_MAX: no limit. */
int64_t hf_schedule_remaining(const hf_schedule *schedule);

/* Sets the next time it fires, after a moment and after every slot it has fired; nothing when it is
   not active or may start nothing more. Jitter is drawn from `seed`. */
void hf_schedule_plan(hf_schedule *schedule, const hf_schedule_spec *spec, int64_t after_us,
                      uint64_t seed);

/* Adds and takes occurrences that wait. False: no memory. */
HF_NODISCARD bool hf_schedule_buffer(hf_mem *mem, hf_schedule *schedule, int64_t occurrence_us);
void hf_schedule_unbuffer(hf_schedule *schedule);

/* What makes a schedule fire. */
typedef enum hf_fire_kind {
    HF_FIRE_TICK,     /* its time has come */
    HF_FIRE_TRIGGER,  /* somebody asked */
    HF_FIRE_BACKFILL, /* somebody asked for a time in the past */
    HF_FIRE_DRAIN     /* the last run has closed, and an occurrence waits */
} hf_fire_kind;

typedef struct hf_fire {
    hf_fire_kind kind;
    int64_t occurrence_us;
    hf_overlap_policy overlap; /* 0: the schedule's */
    bool blocked;              /* no worker that is there could take what it would start */
    const char *fails;         /* why the start is known to fail; NULL: it is not */
} hf_fire;

/* What becomes of it. */
typedef struct hf_verdict {
    hf_trigger_outcome outcome;
    hf_skip_reason reason; /* of a skip */
    hf_overlap_policy effective;
    bool starts;
    bool stops_other; /* the last run is cancelled or terminated first */
} hf_verdict;

hf_verdict hf_schedule_judge(const hf_schedule *schedule, const hf_fire *fire, bool latest_open);

/* "20260115T090000Z", with six decimals when there are some: part of the ids of runs. */
void hf_schedule_stamp(int64_t at_us, char out_text[HF_SCHEDULE_STAMP_SIZE]);

#endif
