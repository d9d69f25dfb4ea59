/* invariant.c: see invariant.h. */
#include "verify/invariant.h"

#include "base/assert.h"

enum { CHAIN = 2 }; /* the one invariant of the scan that a quick check leaves out */

static const hf_invariant invariants[] = {
#define HF_INVARIANT(number, text, severity, repairable, how, sentence)                            \
    [number] = {number, text, HF_SEVERITY_##severity, repairable, HF_INVARIANT_##how, sentence},
#include "verify/invariant.def"
#undef HF_INVARIANT
};

_Static_assert(sizeof(invariants) / sizeof(invariants[0]) == HF_INVARIANT_COUNT + 1,
               "HF_INVARIANT_COUNT is the number of the last row");

const hf_invariant *hf_invariant_get(int number)
{
    HF_ASSERT(number >= 1 && number <= HF_INVARIANT_COUNT);
    return &invariants[number];
}

const char *hf_severity_text(hf_severity severity)
{
    switch (severity) {
    case HF_SEVERITY_STOP:
        return "stop";
    case HF_SEVERITY_BLOCK_RUN:
        return "block_run";
    case HF_SEVERITY_WARN:
        return "warn";
    }
    return "stop";
}

int hf_invariant_checked(bool quick)
{
    int checked = 0;

    for (int i = 1; i <= HF_INVARIANT_COUNT; i++) {
        bool heavy = i == CHAIN || invariants[i].how == HF_INVARIANT_ENGINE;

        if (invariants[i].how != HF_INVARIANT_NONE && !(quick && heavy))
            checked++;
    }
    return checked;
}
