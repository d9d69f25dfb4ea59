/* why.h: the answer to "why is it not moving?" for one run: a code of a closed catalogue (why.def),
   a sentence, since when, until when, what it is about, the evidence, and what would move it. List,
   page, command line and alerts all show this answer, so that they cannot drift apart. Must never
   read a database. */
#ifndef HF_PROJECT_WHY_H
#define HF_PROJECT_WHY_H

#include "base/value.h"
#include "project/liveness.h"

typedef enum hf_why_severity {
    HF_WHY_OK,       /* it waits for what it should wait for, or is over */
    HF_WHY_NOTICE,   /* it passes by itself, worth a look */
    HF_WHY_ATTENTION /* somebody has to do something */
} hf_why_severity;

typedef enum hf_why_code {
#define HF_WHY(enumerator, code, severity, text, action, docs) enumerator,
#include "project/why.def"
#undef HF_WHY
    HF_WHY_COUNT
} hf_why_code;

typedef struct hf_why_row {
    const char *code;
    hf_why_severity severity;
    const char *text;   /* template */
    const char *action; /* what would move it; "": nothing anybody could do */
    const char *docs;
} hf_why_row;

extern const hf_why_row hf_why_rows[HF_WHY_COUNT];

const char *hf_why_severity_text(hf_why_severity severity);

/* What the asker knows beside the store. */
typedef struct hf_why_world {
    hf_liveness_world live;
    /* Whether this program has the definition; NULL: nobody can say. live.ctx is theirs, too. */
    bool (*knows_workflow)(void *ctx, hf_slice type);
    bool (*knows_child)(void *ctx, hf_slice type);
    bool (*knows_step)(void *ctx, hf_slice type, hf_slice step); /* of a machine */
    bool (*knows_limit)(void *ctx, hf_slice name);               /* of rates */
    bool (*knows_activity)(void *ctx, hf_slice queue, hf_slice name);
    /* Whether there is a worker at the queue at all, whatever it knows; NULL: this program is one.
     */
    bool (*manned)(void *ctx, hf_slice queue);
    /* The fingerprint of the definition that this program has; ptr NULL: it has none. NULL: nobody
       can say. */
    hf_slice (*fingerprint)(void *ctx, hf_slice type);
    int64_t stalled_run; /* whose code does not yield; 0: none */
    int64_t log_pages;   /* of the write-ahead log; 0: unknown */
} hf_why_world;

/* The answer as an object, in `mem`. HF_NOMEM. */
HF_NODISCARD hf_status hf_why_make(const hf_dossier *dossier, const hf_why_world *world,
                                   hf_mem *mem, hf_value *out_why, hf_err *err);

enum { HF_WHY_SIGNATURE_SIZE = 17 };

/* What runs in the same plight have in common: the code, the type, the queue, and what it is about.
 */
HF_NODISCARD hf_status hf_why_signature(hf_value why, hf_slice type, hf_slice queue,
                                        char out_text[HF_WHY_SIGNATURE_SIZE], hf_err *err);

/* The state of a run under the names of the published run summary: liveness_state, wait_kind,
   open_wait_id, next_task_id, repair_blocked_reason ... NULL: no memory. */
hf_value hf_liveness_value(const hf_liveness *liveness, const hf_dossier *dossier, hf_mem *mem);

#endif
