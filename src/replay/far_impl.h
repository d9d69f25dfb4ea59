/* far_impl.h: what is known of a run whose code is elsewhere, for the files that read answers. */
#ifndef HF_REPLAY_FAR_IMPL_H
#define HF_REPLAY_FAR_IMPL_H

#include "base/mem.h"
#include "replay/far.h"

/* A step that is open, or was just recorded. */
typedef struct far_step {
    int64_t step;
    hf_history_shape shape;
    int64_t group;  /* first step of its outermost barrier, 0: none */
    bool timer;     /* of a wait: its timeout is armed */
    bool timed_out; /* of a wait: its timeout fired */
    bool unseen;    /* and the worker that has the run does not know it */
    bool claimed;   /* by a command of the batch that is being numbered */
    int64_t seq;    /* of the event that opened it */
    hf_slice key;   /* condition key or signal */
    hf_slice fingerprint;
    hf_slice occurrence; /* what the code calls a condition wait; ptr NULL: nothing */
} far_step;

/* A signal or update that no step has taken. */
typedef struct far_message {
    int64_t seq;
    hf_ulid id;
    bool update;
    bool gone;  /* applied or answered; it leaves the list with the events at hand */
    bool taken; /* by a decision of the turn */
    hf_slice name;
    hf_payload_value brought; /* by a signal; its bytes may be in the store */
} far_message;

struct hf_far {
    hf_mem *mem; /* names; grows with the number of waits and messages */
    far_step *steps;
    size_t step_count;
    size_t step_room;
    far_step *closed; /* resolved behind what the worker that has the run knows */
    size_t closed_count;
    size_t closed_room;
    far_message *messages; /* by seq */
    size_t message_count;
    size_t message_room;
    size_t message_hint;  /* where the next that goes is looked for first */
    size_t messages_gone; /* of message_count */
    int64_t next_step;
    int64_t seq;       /* of the last event */
    int64_t moved_seq; /* of the last one that is more than a fact from outside */
    int64_t news_seq;
    bool cancel_asked;
    bool native;          /* its worker says itself what becomes of signals and timeouts */
    int64_t handed_seq;   /* what the worker knows; 0: no worker has the run */
    int64_t received_seq; /* newest message it knows that may have changed what its code does */
    int64_t unseen_seq;   /* the same that it does not know; 0: none */
    hf_mem *rows_mem;     /* of the newest turn */
    bool reopened;        /* it ended a condition and opens the same again */
    hf_decision_row *rows;
    size_t row_count;
    size_t row_room;
};

/* One more decision of the turn; NULL: no memory, and err says so. */
HF_NODISCARD hf_decision_row *hf_far_row_add(hf_far *code, hf_err *err);

/* The message that the event brought; NULL: it is not open. */
far_message *hf_far_message(hf_far *code, int64_t seq);

/* Takes over what code of our own kind decided, row by row as it is. HF_CONFLICT: history has moved
   on in a way that the code would have to see first. HF_INVALID: a row contradicts history. */
HF_NODISCARD hf_status hf_far_native(hf_far *code, const hf_worker_answer *answer, hf_err *err);

#endif
