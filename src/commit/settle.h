/* settle.h: what became of the units of a batch: committed, refused, or to be tried again in
   another round. Private to commit/; used by the writer's thread alone. */
#ifndef HF_COMMIT_SETTLE_H
#define HF_COMMIT_SETTLE_H

#include "commit/batch.h"

/* The unit is finished; `err` may be NULL. */
void hf_settle_unit(hf_unit *unit, hf_status status, const hf_err *err);

/* It gets another round. */
void hf_settle_again(hf_batch *batch, hf_unit *unit);

/* After a commit. Who is in is told so first: nothing that fails later may take it back. */
HF_NODISCARD hf_status hf_settle_committed(hf_batch *batch, hf_err *err);

/* The answer to COMMIT was lost. Until every unit has been looked for none may be written again:
   one that is in would be taken for a fact that arrived meanwhile, and be added a second time. */
HF_NODISCARD hf_status hf_settle_unknown(hf_batch *batch, hf_err *err);

#endif
