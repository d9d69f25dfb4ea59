/* check.h: all checks of a store, on one connection and in one read transaction, so that a store
   that is being written to is seen as it was at one moment. Reads only, in constant memory. */
#ifndef HF_VERIFY_CHECK_H
#define HF_VERIFY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"
#include "verify/report.h"

typedef struct hf_check {
    hf_db *db;
    hf_report *report;
    int64_t low; /* run keys, both included */
    int64_t high;
    bool quick;
    hf_tool_progress *progress; /* may be NULL */
    void *progress_ctx;
    int64_t runs; /* counted by the scan */
    int64_t events;
} hf_check;

/* Every check. HF_CANCELLED when progress said so. What the database says about its own damage is
   a finding; any other failure means that the store could not be checked. */
HF_NODISCARD hf_status hf_check_all(hf_check *check, hf_err *err);

/* scan.c: folds every run. */
HF_NODISCARD hf_status hf_check_scan(hf_check *check, hf_err *err);
/* rows.c: the statements of rows.def. */
HF_NODISCARD hf_status hf_check_rows(hf_check *check, hf_err *err);
/* body.c: the bytes of payloads that are stored apart. */
HF_NODISCARD hf_status hf_check_bodies(hf_check *check, hf_err *err);
/* schema.c: versions and migrations. */
HF_NODISCARD hf_status hf_check_schema(hf_check *check, hf_err *err);

#endif
