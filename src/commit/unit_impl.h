/* unit_impl.h: the inside of a unit, for the files of commit/ alone. */
#ifndef HF_COMMIT_UNIT_IMPL_H
#define HF_COMMIT_UNIT_IMPL_H

#include "commit/unit.h"
#include "store/apply.h"

typedef struct hf_unit_part {
    bool creates;
    hf_run_base before; /* as drafted, or as based anew */
    hf_run_base after;  /* set by the seal */
    hf_run_row run;     /* creates only */
    hf_event_builder events;
    int64_t status; /* HF_NONE: unchanged */
    int64_t closed_reason;
    int64_t closed_us; /* HF_NONE: the unit does not close the run */
    int64_t cursor;    /* HF_NONE: unchanged */
    int64_t commands;  /* numbers that the command rows of the part take */
    int64_t messages;
    int64_t signals; /* that the unit leaves open more than before, or less */
    int64_t updates;
} hf_unit_part;

/* A value that was put into a row of its own. */
typedef struct unit_detached {
    struct unit_detached *next;
    const uint8_t *digest;
    hf_slice bytes; /* the drafter's */
} unit_detached;

struct hf_unit {
    /* drafted */
    hf_mem *mem;
    hf_unit_done *done;
    void *done_ctx;
    hf_unit_part **parts; /* part 0 is the run that the unit's guard is about */
    size_t part_count;
    size_t part_room;
    hf_row *rows; /* in the order they were added */
    hf_row *last_row;
    size_t row_count;
    size_t command_count; /* of rows that are new commands */
    unit_detached *detached;
    int64_t schedule; /* that it fires, 0: none; and the move of its revision */
    int64_t schedule_expected;
    int64_t schedule_revision;
    int64_t epoch;
    hf_rebase rebase;
    int64_t known_seq; /* events of the run that the drafter, or a later check, took into account */
    hf_unit_part nowhere; /* takes what belongs to a part that could not be made */
    hf_err failure;       /* first failure while drafting */
    /* sealed */
    hf_apply_item item;
    size_t *row_places; /* of the nth added row in item.rows */
    bool sealed;
    size_t rebased; /* how often */
    /* the writer's */
    struct hf_unit *next; /* in its queue */
    struct hf_unit
        *follows; /* a unit of the same run that goes just before this one, in the same batch */
    struct hf_unit *leader; /* the first of that row of units; itself when it follows none */
    bool followed; /* another unit moves the run further in the same batch: that one writes the
                      fence */
    bool settled;  /* status is final */
    bool waits;    /* in the list of those that get another round */
    hf_status status;
    hf_err err;
};

/* Bases a sealed unit on the run as it is now and seals it again. The caller has checked that the
 * unit allows it. */
HF_NODISCARD hf_status hf_unit_rebase(hf_unit *unit, const hf_run_base *base, hf_stager *stager,
                                      hf_err *err);

/* Whether the unit may be based on top of an event of this type. */
bool hf_unit_rebase_over(const hf_unit *unit, hf_event_type type);

/* The shard whose epoch the unit carries; HF_NONE: it carries none. */
int64_t hf_unit_shard(const hf_unit *unit);

/* The run that the unit appends to, NULL for one that creates it or has none. */
hf_unit_part *hf_unit_appends(const hf_unit *unit);

#endif
