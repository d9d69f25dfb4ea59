/* follow.h: waiting for a run, and how it ended. Ctrl-C ends the waiting and never the run. */
#ifndef HF_CLI_FOLLOW_H
#define HF_CLI_FOLLOW_H

#include "cli/target.h"

/* Called with the row of the run, first of all and whenever it has changed; anything but HF_OK ends
   the following. Its memory is gone with the next call. */
typedef hf_status hf_cli_follow_fn(void *ctx, hf_value row, hf_err *err);

/* Follows the newest run of an instance, or the one of the aim, until it is closed. HF_TIMEOUT: it
   was open for so long (below 0: no limit). HF_CANCELLED: Ctrl-C. `changed` may be NULL. */
HF_NODISCARD hf_status hf_cli_follow(hf_cli_target *target, const hf_cli_aim *aim,
                                     int64_t timeout_ms, hf_cli_follow_fn *changed, void *ctx,
                                     hf_err *err);

/* Calls `look` about once a second, until Ctrl-C: HF_OK. That also ends what `look` asks a server
   for, when its target is given; else it may be NULL. */
HF_NODISCARD hf_status hf_cli_repeat(hf_cli_target *target,
                                     hf_status (*look)(void *ctx, hf_err *err), void *ctx,
                                     hf_err *err);

/* How a closed run ended: sets call->exit, prints its result, or its failure where errors go. */
HF_NODISCARD hf_status hf_cli_end_print(hf_cli_target *target, const hf_cli_aim *aim, hf_err *err);

/* --timeout, or -1. */
HF_NODISCARD hf_status hf_cli_timeout(const hf_cli_call *call, int64_t *out_ms, hf_err *err);

#endif
