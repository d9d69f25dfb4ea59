/* limit.h: the bounds of limit.def and how each is enforced. Pure: configured values are passed in.
 */
#ifndef HF_MODEL_LIMIT_H
#define HF_MODEL_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/vocab.h"

typedef enum hf_limit_unit {
    HF_LIMIT_UNIT_COUNT,
    HF_LIMIT_UNIT_BYTES,
    HF_LIMIT_UNIT_CHARACTERS,
    HF_LIMIT_UNIT_PERCENT,
    HF_LIMIT_UNIT_MILLISECONDS,
    HF_LIMIT_UNIT_SECONDS,
} hf_limit_unit;

typedef enum hf_limit_rule {
    HF_LIMIT_RULE_COUNT, /* trips at count >= limit */
    HF_LIMIT_RULE_SIZE,  /* trips at value > limit */
    HF_LIMIT_RULE_PLAIN, /* never trips */
} hf_limit_rule;

typedef struct hf_limit_row {
    hf_limit limit;
    int64_t standard; /* the default */
    hf_limit_unit unit;
    hf_limit_rule rule;
} hf_limit_row;

/* Never NULL for a member of the list; NULL otherwise. */
const hf_limit_row *hf_limit_get(hf_limit limit);

/* The default of a limit in seconds, in microseconds. */
int64_t hf_limit_us(hf_limit limit);

#define HF_LIMITS_LAST HF_LIMIT_MAX_EVENTS_PER_RUN

/* The structural limits as they are configured, by hf_limit; HF_LIMITS_LAST is the last of them. */
typedef struct hf_limits {
    int64_t of[HF_LIMITS_LAST + 1];
} hf_limits;

hf_limits hf_limits_standard(void);

/* What is configured; the default of a limit that cannot be, and of each when `limits` is NULL. */
int64_t hf_limits_get(const hf_limits *limits, hf_limit limit);

/* "count", "bytes" ... and "count >= limit", "value > limit", "as it is". */
const char *hf_limit_unit_text(hf_limit_unit unit);
const char *hf_limit_rule_text(hf_limit_rule rule);

/* Whether `value` trips the limit when it is configured as `configured`; 0 or less switches it off.
 */
bool hf_limit_trips(hf_limit limit, int64_t configured, int64_t value);

/* The value from which operators are warned: `percent` of the limit, rounded down; 0 when there is
   nothing to warn of. */
int64_t hf_limit_warning(int64_t configured, int64_t percent);

#endif
