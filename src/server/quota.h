/* quota.h: how much of the store a namespace may take: runs that are open, and bytes of histories
   and payloads. What the store has is counted again while somebody asks for more, and what was let
   through since then is added, so that a limit is overstepped only by what several servers let
   through within a second. Work that has begun is never refused for it: workers report, runs start
   children and go on as new ones, and everything that closes or removes runs is let through.

   Threads that may block. */
#ifndef HF_SERVER_QUOTA_H
#define HF_SERVER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "server/api.h"

typedef struct hf_quotas hf_quotas;

/* Of each namespace; 0: any number. */
HF_NODISCARD hf_status hf_quotas_open(int64_t runs_max, int64_t bytes_max, hf_quotas **out_quotas,
                                      hf_err *err);
void hf_quotas_close(hf_quotas *quotas); /* NULL is allowed */

/* Whether the request's namespace has room for a command of the engine, or so many of them; answers
   when it has not. */
bool hf_quota_allows(hf_api *api, const char *command, int64_t count);

#endif
