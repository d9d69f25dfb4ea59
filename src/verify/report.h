/* report.h: findings on their way to the caller. Each is worded where it was found, counted and
   handed over at once, so that any number of them needs no memory. One thread. */
#ifndef HF_VERIFY_REPORT_H
#define HF_VERIFY_REPORT_H

#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "holdfast/tool.h"

typedef struct hf_report {
    hf_finding_fn *found; /* may be NULL: then findings are only counted */
    void *ctx;
    int64_t count;
    hf_buf keys;
    bool failed; /* memory ran out while a finding was worded */
} hf_report;

/* A name and a number that identify a row. */
typedef struct hf_report_key {
    const char *name; /* NULL: no key */
    int64_t number;
    const char *text; /* used instead of the number when not NULL */
} hf_report_key;

void hf_report_init(hf_report *report, hf_finding_fn *found, void *ctx);
void hf_report_fini(hf_report *report);

/* Reports a broken invariant. `keys` are `count` names of rows; the sentence says what is wrong. */
void hf_report_add(hf_report *report, int invariant, const hf_report_key *keys, size_t count,
                   const char *format, ...) HF_FORMAT(5, 6);

/* HF_NOMEM when a finding could not be worded. */
HF_NODISCARD hf_status hf_report_status(const hf_report *report, hf_err *err);

#endif
