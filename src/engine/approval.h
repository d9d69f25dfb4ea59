/* approval.h: open waits for a signal, which a person may answer. */
#ifndef HF_ENGINE_APPROVAL_H
#define HF_ENGINE_APPROVAL_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "engine/call.h"
#include "store/db.h"

/* Whether the step of a run waits for the signal of that name, and none came that is not taken
   yet. */
HF_NODISCARD hf_status hf_approval_waits(hf_db *db, hf_mem *mem, int64_t run, int64_t step,
                                         hf_slice name, bool *out_waits, hf_err *err);

/* Which wait the id of an approval names; false: it is none. */
typedef struct hf_approval_id {
    int64_t run;
    int64_t step;
    int64_t choice; /* which of the names that the step waits for, from 1 */
    hf_slice name;  /* instead of its number; ptr NULL: not given */
} hf_approval_id;
bool hf_approval_id_read(hf_slice text, hf_approval_id *out_id);

/* The approval of that id in the call's namespace; HF_NOTFOUND: nothing waits there. */
HF_NODISCARD hf_status hf_approval_find(hf_call *call, hf_slice id, hf_mem *mem, hf_value *out,
                                        hf_err *err);

/* The same by run, step and name; *out NULL: nothing waits there. */
HF_NODISCARD hf_status hf_approval_at(hf_call *call, const hf_approval_id *wanted, hf_mem *mem,
                                      hf_value *out, hf_err *err);

/* Links of a run that still answer: [{"key", "id", "step", "name", "label", "created_by",
   "created_at", "expires_at"}]. */
HF_NODISCARD hf_status hf_answer_links_read(hf_call *call, int64_t run, hf_mem *mem, hf_value *out,
                                            hf_err *err);

#endif
