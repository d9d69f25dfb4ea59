/* decision.h: one thing that workflow code asked for. Plain data in an arena of the side that made
   it; decide/ reads it and copies what it keeps. Payloads are codec-tagged bytes; replay makes
   JSON, remote workers may bring Avro. */
#ifndef HF_MODEL_DECISION_H
#define HF_MODEL_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/event.h"
#include "model/retry.h"
#include "model/vocab.h"

/* The type of a child that hf_async makes; its code is that of the type its definition has. */
#define HF_ASYNC_TYPE "durable-workflow.async"

/* A value to be recorded; bytes.ptr NULL means none. */
typedef struct hf_decision_payload {
    hf_payload_codec codec;
    hf_slice bytes;
} hf_decision_payload;

/* One barrier that a leaf belongs to, outermost first (contract 5.7 and 2.10). */
typedef struct hf_decision_group {
    hf_parallel_group_kind kind;
    int64_t base_step; /* first step of the barrier */
    int64_t size;      /* leaves in it, nested ones counted */
    int64_t index;     /* of this leaf within it */
} hf_decision_group;

/* A failure as code raised or received it. */
typedef struct hf_decision_failure {
    hf_failure_category category;
    hf_slice type;
    hf_slice message;
    hf_decision_payload details;
    bool retryable;
    bool final;  /* its code says that it must not be tried again; else a child may be, all the same
                  */
    int64_t seq; /* fail_update: history sequence of the UpdateAccepted */
} hf_decision_failure;

/* How often a call is tried, and when. */
typedef struct hf_decision_retry {
    int64_t max_attempts; /* 0: the definition's, else 1; -1: no limit */
    const int64_t
        *backoff_us; /* NULL: the definition's, else the default list; a child's: at once */
    size_t backoff_count;
    hf_slice no_retry_on; /* "card_declined,bad_input" */
} hf_decision_retry;

typedef struct hf_decision_activity {
    hf_slice queue; /* ptr NULL: the run's */
    hf_slice summary;
    bool local;
    int64_t schedule_to_start_us; /* 0: none, for all four */
    int64_t start_to_close_us;
    int64_t schedule_to_close_us;
    int64_t heartbeat_us;
    hf_decision_retry retry;
} hf_decision_activity;

typedef struct hf_decision_child {
    hf_slice id; /* ptr NULL: made from the parent's id and the step */
    hf_slice queue;
    hf_slice summary;
    int64_t execution_timeout_us;
    int64_t run_timeout_us;
    hf_decision_retry retry;
    hf_parent_close_policy on_parent_close;
} hf_decision_child;

/* The end of a machine's step, beside its name and new state. */
typedef struct hf_decision_step {
    hf_step_outcome outcome;
    int64_t attempt;
    hf_slice next;       /* ptr NULL: none */
    int64_t delay_us;    /* again */
    int64_t timeout_us;  /* park; HF_DECISION_NO_TIMEOUT: none */
    hf_slice awaited;    /* JSON list of names; ptr NULL: none */
    hf_slice consumed;   /* JSON list of signal ids; ptr NULL: none */
    hf_slice presented;  /* the same of those that must not wake the park */
    const int64_t *seqs; /* of the consumed signals */
    size_t seq_count;
    hf_slice failure_type; /* ptr NULL: none */
    hf_slice message;
    hf_slice concurrency_key; /* ptr NULL: as it was */
    hf_slice rate_limit;      /* ptr NULL: none */
    int64_t weight;
} hf_decision_step;

typedef struct hf_decision_row {
    hf_decision kind;
    int64_t step;   /* 0 for decisions that take none */
    const char *at; /* source line, "src/order.c:41", or NULL */
    hf_slice name;  /* activity or child type, signal, change id, condition key, update, stream: by
                       kind */
    hf_decision_payload value; /* arguments, result, entries: by kind */
    const hf_decision_group *groups;
    size_t group_count;
    union {
        hf_decision_activity activity;
        hf_decision_child child;
        struct {
            int64_t delay_us; /* start_timer; timeouts of waits: 0 fires at once,
                                 HF_DECISION_NO_TIMEOUT: none */
        } timer;
        struct {
            int64_t timeout_us;   /* as of timers; none when the same turn resolves the wait */
            hf_slice fingerprint; /* condition waits; ptr NULL: none */
            hf_slice occurrence;  /* what the code calls a condition wait; ptr NULL: nothing */
        } wait;
        struct {
            int64_t seq; /* history sequence of the SignalReceived, UpdateAccepted or message that
                            is consumed; receive_messages: number of the newest that was read */
            int64_t before; /* receive_messages: how far the stream was read in this run */
            const hf_payload_value *as_sent; /* apply_signal by code in other languages: what the
                                                signal brought, as it is stored; NULL: value */
        } fact;
        struct {
            int64_t version, min_supported, max_supported;
        } version;
        hf_decision_failure failure;
        hf_decision_step machine; /* complete_step */
        struct {
            hf_slice child_call; /* signal_child: text id of the call */
            hf_slice instance;   /* send_message: whose stream */
            int64_t ordinal;     /* counts within the run: makes sending idempotent */
        } outgoing;
        struct {
            hf_slice type;  /* continue_as_new; ptr NULL: the same */
            hf_slice queue; /* as the type */
        } next;
    };
} hf_decision_row;

#define HF_DECISION_NO_TIMEOUT (-1)

/* What a worker in another process asks for. Which step it is, and whether history has it already,
   is for whoever knows the history. */
typedef struct hf_worker_command {
    hf_decision_row row; /* step: 0, or what its parallel group says */
    hf_slice
        update_id; /* of an update that it answers: row.fact and row.name are filled in later */
} hf_worker_command;

/* Its answer to a task. */
typedef struct hf_worker_answer {
    const hf_worker_command *commands;
    size_t count;
    int64_t seen_seq; /* newest event that it knew */
    /* Instead of commands: what code of our own kind decided, with the steps it counted itself. */
    bool native;
    bool measured; /* it asked how long history is: nothing may come in between */
    const hf_decision_row *rows;
    size_t row_count;
    struct hf_step_end *ended; /* instead of all: of a machine's step; NULL: it is none */
} hf_worker_answer;

#endif
