/* command_note.h: what a command's row keeps beside its columns: who asked, and of a refused
   command what was asked and why it was refused. One writer, one reader. Stored as canonical JSON;
   a member that says nothing is left out, and a note that says nothing is no bytes at all. */
#ifndef HF_MODEL_COMMAND_NOTE_H
#define HF_MODEL_COMMAND_NOTE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"
#include "model/limit.h"

typedef struct hf_command_note {
    hf_value context;     /* caller, auth, request, workflow, intake, principal */
    hf_slice fingerprint; /* of a request that came without a context of its own */
    hf_slice request_id;
    hf_slice dedup_key;
    hf_slice requested_run_id;
    /* of a refused command */
    hf_value arguments;
    hf_slice reason;
    hf_value validation_errors;
    hf_slice message; /* a sentence */
    hf_limit limit;   /* 0: none */
    int64_t limit_value;
    int64_t limit_configured;
} hf_command_note;

/* *out_body has ptr NULL when there is nothing to keep. */
HF_NODISCARD hf_status hf_command_note_write(const hf_command_note *note, hf_mem *mem,
                                             hf_slice *out_body, hf_err *err);

/* Everything lives in the arena. Members that are not there are empty. HF_INVALID. */
HF_NODISCARD hf_status hf_command_note_read(hf_slice body, hf_mem *mem, hf_command_note *out_note,
                                            hf_err *err);

#endif
