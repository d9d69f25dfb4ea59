/* copy.h: a run that begins with the first events of another one: a fork is a run of another
   instance, a reset the next run of the same one. The copied events keep their order and their
   times; what was open at the place of the cut is open again, with rows of its own. It reads no
   database: payloads that are stored apart come through a function. Must never commit. */
#ifndef HF_DECIDE_COPY_H
#define HF_DECIDE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commit/unit.h"
#include "decide/decide.h"

/* Reads a payload of the copied run that is stored apart from its event. */
typedef hf_status hf_copy_payload_fn(void *ctx, const hf_payload_value *reference,
                                     hf_slice *out_bytes, hf_err *err);

/* A child call of the copied run, as its newest link has it. */
typedef struct hf_copy_call {
    hf_open_child child;
    bool closed; /* the child's run is over */
    int64_t attempt;
    int64_t max_attempts;
} hf_copy_call;

typedef struct hf_copy {
    hf_unit *unit;
    hf_stager *stager;
    hf_keys *keys;
    int64_t now_us;
    bool reset;             /* else a fork */
    const hf_event *events; /* all of the copied run */
    size_t count;
    int64_t step;   /* the last one that is kept */
    int64_t origin; /* the copied run: key and time */
    int64_t origin_us;
    hf_slice carry; /* names of later signals, "a,b"; "*": all; empty: none */
    hf_slice reason;
    hf_command_row command; /* of the fork or reset itself; its key is taken already */
    bool recorded;          /* its row is in the unit: it belongs to the copied run */
    hf_unit_instance how;   /* the run that is made */
    hf_instance_row instance;
    hf_run_base base;
    hf_run_row run;
    const hf_copy_call *calls; /* a reset takes them over where it must */
    size_t call_count;
    hf_copy_payload_fn *payload;
    void *payload_ctx;
    /* filled in by hf_copy_fold */
    size_t kept; /* events before the cut */
    size_t end;  /* events before those that closed the run */
    size_t own;  /* events up to the last kept one that the code itself wrote */
    struct copy_open *open;
    size_t open_count;
    size_t open_room;
} hf_copy;

/* Finds the place of the cut and what is open there. *out_refused: 0, no_step_boundary (the run has
   no such step, or a barrier would be cut in two) or child_open (a fork would need a child that
   belongs to the copied run). */
HF_NODISCARD hf_status hf_copy_fold(hf_copy *copy, hf_rejection_reason *out_refused, hf_err *err);

/* Whether the reset takes the call's child over. */
bool hf_copy_takes(const hf_copy *copy, const hf_copy_call *call);

/* Adds the run to the unit, behind what is in there. */
HF_NODISCARD hf_status hf_copy_draft(hf_copy *copy, hf_err *err);

#endif
