/* invariant.h: the list of invariant.def as data. Constant; any thread. */
#ifndef HF_VERIFY_INVARIANT_H
#define HF_VERIFY_INVARIANT_H

#include <stdbool.h>

enum { HF_INVARIANT_COUNT = 40 };

typedef enum hf_severity {
    HF_SEVERITY_STOP,
    HF_SEVERITY_BLOCK_RUN,
    HF_SEVERITY_WARN,
} hf_severity;

typedef enum hf_invariant_how {
    HF_INVARIANT_SCAN,
    HF_INVARIANT_ROWS,
    HF_INVARIANT_BOTH,
    HF_INVARIANT_ENGINE,
    HF_INVARIANT_NONE,
} hf_invariant_how;

typedef struct hf_invariant {
    int number;
    const char *text; /* "I01" */
    hf_severity severity;
    bool repairable;
    hf_invariant_how how;
    const char *sentence;
} hf_invariant;

/* 1 to HF_INVARIANT_COUNT. */
const hf_invariant *hf_invariant_get(int number);

const char *hf_severity_text(hf_severity severity); /* "stop", "block_run", "warn" */

/* How many a check looks at; a quick one leaves the hash chain and the engine's own check out. */
int hf_invariant_checked(bool quick);

#endif
