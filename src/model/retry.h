/* retry.h: when something that failed is tried again. Pure arithmetic over a policy that was frozen
   when the work was scheduled; whoever calls brings the attempt counts and the clock. */
#ifndef HF_MODEL_RETRY_H
#define HF_MODEL_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/vocab.h"

enum {
    HF_RETRY_SNAPSHOT_VERSION = 1, /* of the policy as it is shown and recorded */
    HF_RETRY_BACKOFFS_MAX = 64,    /* entries of a backoff list */
    HF_RETRY_TYPES_MAX = 64,       /* failure types that are never retried */
};

/* The longest pause or timeout a policy may name: ten years, in milliseconds. */
#define HF_RETRY_MS_MAX INT64_C(315360000000)

typedef struct hf_retry_policy {
    int64_t max_attempts;      /* 0: no limit */
    const int64_t *backoff_ms; /* pause after attempt 1, 2, ...; the last repeats. NULL: default */
    size_t backoff_count;      /* 0 with NULL */
    int64_t start_to_close_ms; /* the four timeouts; 0: none */
    int64_t schedule_to_start_ms; /* of each attempt */
    int64_t schedule_to_close_ms; /* over all attempts */
    int64_t heartbeat_ms;         /* between two signs of life */
    const hf_slice *final_types;  /* failure types that are never retried */
    size_t final_type_count;
} hf_retry_policy;

/* How an attempt ended, as far as a retry depends on it. */
typedef struct hf_retry_end {
    int64_t reported;          /* attempts that reported failure or timed out, this one included;
                                  those lost with their worker are not counted */
    hf_slice failure_type;     /* empty for a timeout */
    bool non_retryable;        /* the failure says so itself */
    hf_timeout_kind timed_out; /* 0 for a failure */
} hf_retry_end;

/* One attempt, default pauses, no timeouts: what work without a policy gets. */
hf_retry_policy hf_retry_default(void);

/* HF_INVALID for negative or absurd numbers, a list that is too long or an empty failure type. */
HF_NODISCARD hf_status hf_retry_check(const hf_retry_policy *policy, hf_err *err);

/* "card_declined, bad_input" as slices in the arena; they point into the list. HF_INVALID:
   something that is no type (name.def), or too many of them. */
HF_NODISCARD hf_status hf_retry_types(hf_mem *mem, hf_slice list, const hf_slice **out_types,
                                      size_t *out_count, hf_err *err);

/* Whether another attempt follows. */
bool hf_retry_allowed(const hf_retry_policy *policy, const hf_retry_end *end);

/* The pause before the attempt that follows attempt number `attempt` (from 1). */
int64_t hf_retry_backoff_ms(const hf_retry_policy *policy, int64_t attempt);

/* The pause before a task that was repaired `repair_count` times is repaired again:
   redispatch_s * 2^(repair_count - 1), at most max_s; 0 when it was never repaired. */
int64_t hf_retry_repair_backoff_s(int64_t redispatch_s, int64_t repair_count, int64_t max_s);

#endif
