/* ask.h: questions to a run's code: queries, and whether an update's validator would take it. They
   are answered against what is committed and never change anything. */
#ifndef HF_ENGINE_ASK_H
#define HF_ENGINE_ASK_H

#include "engine/call.h"

/* A query that was answered or refused. */
typedef struct hf_ask_answer {
    hf_value value;             /* in the arena */
    const char *refused;        /* why not: a word; NULL: it was answered */
    hf_status status;           /* of the refusal */
    hf_value validation_errors; /* NULL: none */
    const char *why;            /* a sentence */
    hf_intake_target target;
} hf_ask_answer;

/* HF_OK: it was answered or refused. HF_NOTFOUND: no such instance or run. */
HF_NODISCARD hf_status hf_ask_query(hf_call *call, hf_slice id, hf_slice run_id, hf_slice name,
                                    hf_value args, hf_mem *mem, hf_ask_answer *out_answer,
                                    hf_err *err);

/* What a worker says of an update that it validates. */
typedef struct hf_ask_verdict {
    const char *refusal;        /* a sentence; NULL: it takes it */
    hf_value validation_errors; /* {name: [sentences]}; NULL: none */
} hf_ask_verdict;

/* Asks a worker, for runs whose code is elsewhere. Anything but HF_OK: there is no verdict; the
   text begins with the published reason. */
HF_NODISCARD hf_status hf_ask_worker(hf_call *call, const hf_intake_target *target, hf_slice name,
                                     hf_value args, hf_mem *mem, hf_ask_verdict *out_verdict,
                                     hf_err *err);

/* What a worker says of a replay of a run whose code it has. */
typedef struct hf_ask_replay {
    const char *verdict; /* "ok" or "blocked"; NULL: none could say, see why */
    hf_value blocked;    /* as a blocked task has it; NULL: it is not */
    const char *why;     /* a sentence, when nobody could say */
} hf_ask_replay;

/* The question that programs of ours answer with {verdict, blocked}; others know no such query. */
#define HF_ASK_REPLAY "holdfast:replay"

/* Asks a worker whether the run's history replays with its code. */
HF_NODISCARD hf_status hf_ask_replayed(hf_call *call, const hf_intake_target *target, hf_mem *mem,
                                       hf_ask_replay *out_replay, hf_err *err);

/* *out_refusal: what the validator says against it, in the arena; NULL: it takes it. */
HF_NODISCARD hf_status hf_ask_validator(hf_call *call, int64_t run, hf_slice name, hf_value args,
                                        hf_mem *mem, const char **out_refusal, hf_err *err);

#endif
