/* command.h: the one path of every command: whoever asks, through whatever surface, what is asked
   becomes an hf_request and what became of it an hf_reply. */
#ifndef HF_ENGINE_COMMAND_H
#define HF_ENGINE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/holdfast.h"
#include "intake/intake.h"
#include "model/vocab.h"

/* One command as any surface hands it in. */
typedef struct hf_request {
    hf_command_type type;
    hf_slice id;         /* instance id */
    hf_slice run_id;     /* ptr NULL: whichever run is newest */
    hf_slice request_id; /* ptr NULL: none; the same one answers again with the first outcome */
    hf_command_source source; /* 0: embedded */
    hf_value context; /* caller, auth, request, workflow, intake, principal; NULL: none to tell */
    hf_slice name;    /* of a signal or update */
    hf_value args;
    hf_slice reason;
    hf_slice dedup_key;           /* signals; ptr NULL: none */
    const hf_intake_start *start; /* start, signal-with-start */
    const void *more;             /* what one kind alone needs, declared beside its handler */
    bool dry;                     /* only what would become of it: nothing is kept */
} hf_request;

/* hf_request.more of a cancel. */
typedef struct hf_cancel_more {
    bool cleanup; /* the code hears of it and cleans up before the run closes */
} hf_cancel_more;

/* hf_request.more of a signal. */
typedef struct hf_signal_more {
    int64_t step; /* of the chosen run, which must wait for this signal and have none yet; 0: any */
} hf_signal_more;

/* hf_request.more of a fork or reset. */
typedef struct hf_copy_more {
    int64_t step;     /* the last one that is kept; 0: none */
    hf_slice id;      /* of the fork; empty: one is made */
    hf_slice signals; /* later signals that are kept: "a,b", "*": all, empty: none */
} hf_copy_more;

/* What became of it. */
typedef struct hf_reply {
    hf_command_status status;
    int64_t outcome;            /* hf_cmd_outcome, HF_NONE while an accepted update is open */
    int64_t rejection;          /* hf_rejection_reason, HF_NONE */
    hf_value validation_errors; /* {name: [messages]}, NULL: none */
    int64_t command;            /* keys, HF_NONE: none */
    int64_t instance;
    int64_t run;
    char command_id[HF_ULID_TEXT_SIZE]; /* "": none, all three */
    char run_id[HF_ULID_TEXT_SIZE];
    char requested_run_id[HF_ULID_TEXT_SIZE];
    const char *instance_id;
    const char *workflow_type; /* NULL: not known yet */
    int64_t command_seq;
    bool validator;  /* what refused it is the update's validator */
    bool repeated;   /* the request id was known: this is the first answer again */
    const char *why; /* a sentence for people when it was rejected */
    hf_value detail; /* what one kind adds; NULL: nothing */
} hf_reply;

/* HF_OK: it was answered, look at reply->status; texts and values live in `mem`. Any other status:
   nothing was recorded (HF_INVALID: a bad id, or arguments before an instance exists; HF_NOTFOUND:
   an unknown instance; HF_REJECTED: a signal that would have started one; HF_NOMEM,
   HF_UNREACHABLE ...). A refusal is then in the reply all the same. */
HF_NODISCARD hf_status hf_engine_command(hf_engine *engine, const hf_request *request, hf_mem *mem,
                                         hf_reply *reply, hf_err *err);

/* What hf_command would answer, as far as it is known before the commit; nothing is kept. */
HF_NODISCARD hf_status hf_command_dry(hf_engine *engine, const char *command, hf_value request,
                                      hf_mem *mem, hf_command_result *out);

/* The first half of it for a start: what it would commit, sealed, and what the reply would be. The
   unit is the caller's, whoever commits it tells the core of reply->run. NULL with HF_OK, and a
   unit that is refused: hf_engine_command finds out what there is to answer. */
struct hf_call;
HF_NODISCARD hf_status hf_engine_command_draft(struct hf_call *call, const hf_request *request,
                                               hf_mem *mem, hf_reply *reply, hf_unit **out_unit,
                                               hf_err *err);

#endif
