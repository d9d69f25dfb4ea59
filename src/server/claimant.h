/* claimant.h: which credential a worker's name belongs to. On the published protocol a claim is
   named by task, owner and attempt, all of which can be seen; so a name is its credential's as long
   as a lease lasts behind its last use, and nobody else works, reports or goes under it. In memory:
   each server knows the names that were used at it, since it began. Any thread. */
#ifndef HF_SERVER_CLAIMANT_H
#define HF_SERVER_CLAIMANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "server/auth.h"

typedef struct hf_claimants hf_claimants;

HF_NODISCARD hf_status hf_claimants_open(hf_claimants **out_claimants, hf_err *err);
void hf_claimants_close(hf_claimants *claimants); /* NULL is allowed */

/* The name (NAMESPACE/ID) is used by the principal. HF_DENIED: it is another's, whose credential
   still holds. HF_BUSY: too many names are in use. */
HF_NODISCARD hf_status hf_claimants_use(hf_claimants *claimants, hf_slice name,
                                        const hf_principal *principal, hf_auth *auth,
                                        int64_t now_us, hf_err *err);

#endif
