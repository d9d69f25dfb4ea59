/* inquiry.h: questions to runs whose code is in other processes: queries, and whether the validator
   of an update takes it. A question is offered until a worker takes it; whoever asks waits. Nothing
   of it is stored: a crash ends both, and the caller asks again.

   Any thread. It must never call user code or the store. */
#ifndef HF_ENGINE_INQUIRY_H
#define HF_ENGINE_INQUIRY_H

#include "engine/call.h"
#include "holdfast/worker.h"
#include "task/matching.h"

typedef struct hf_inquiries hf_inquiries;

/* How a question ended. */
typedef enum hf_inquiry_end {
    HF_INQUIRY_ANSWERED,
    HF_INQUIRY_REFUSED,   /* by the worker */
    HF_INQUIRY_NOBODY,    /* no worker has asked for such work lately */
    HF_INQUIRY_UNCLAIMED, /* none took it in time */
    HF_INQUIRY_LATE,      /* the one that took it did not answer in time */
    HF_INQUIRY_FULL       /* too many wait already */
} hf_inquiry_end;

typedef struct hf_inquiry_ask {
    hf_task_kind kind; /* HF_TASK_QUERY or HF_TASK_VALIDATION */
    int64_t run;       /* its key */
    hf_slice instance_id;
    hf_slice run_id;
    hf_slice type;
    hf_slice queue;
    hf_slice name; /* of the query or update */
    hf_value args;
    hf_mem *mem; /* for the answer */
    /* out */
    hf_inquiry_end end;
    hf_value value;             /* of an answered query */
    const char *reason;         /* of a refusal: the worker's word and sentence */
    const char *message;        /* never NULL then */
    hf_value validation_errors; /* NULL: none */
} hf_inquiry_ask;

HF_NODISCARD hf_status hf_inquiries_open(const hf_clock *clock, hf_matching *matching,
                                         hf_inquiries **out_inquiries, hf_err *err);
void hf_inquiries_close(hf_inquiries *inquiries); /* NULL is allowed; nobody asks any more */

/* Whoever asks is sent away with HF_STOPPED, until it opens again. NULL is allowed. */
void hf_inquiries_shut(hf_inquiries *inquiries, bool shut);

/* Numbers of questions are this node's from now on: `node` is a part of them. */
void hf_inquiries_number(hf_inquiries *inquiries, int64_t node);

/* Whether the question is one of another node, and which part of its number that is; see
   hf_inquiry_of_node. */
bool hf_inquiry_elsewhere(hf_inquiries *inquiries, const char *task_id, int64_t *out_part);
/* Whether the number of a question of that node has this part. */
bool hf_inquiry_of_node(int64_t node, int64_t part);

/* What a worker says of a question: ask->end, value, reason, message, validation_errors. Refusals
   as hf_question_answer. */
HF_NODISCARD hf_status hf_inquiry_said(hf_inquiries *inquiries, int64_t namespace_key,
                                       hf_task_kind kind, const hf_task_claim *claim,
                                       const hf_inquiry_ask *said, hf_err *err);

/* Asks and waits; HF_OK: `end` says how it ended. */
HF_NODISCARD hf_status hf_inquiry_put(hf_call *call, hf_inquiry_ask *ask, hf_err *err);

/* The task of a question did not arrive: it is for others again, if the claim still holds. */
void hf_inquiry_give_back(hf_inquiries *inquiries, hf_task_kind kind, const hf_task_claim *claim);

#endif
