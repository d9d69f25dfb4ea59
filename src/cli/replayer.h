/* replayer.h: a user's program that replays bundles: PROGRAM replay - -o json, one bundle to its
   standard input, one line of JSON back from its standard output. Code that crashes or does not
   come back costs one bundle: the program is started again for the next. SIGPIPE must be ignored.
   One thread. */
#ifndef HF_CLI_REPLAYER_H
#define HF_CLI_REPLAYER_H

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "base/value.h"

typedef struct hf_replayer hf_replayer;

/* HF_NOTFOUND when there is no such program. */
HF_NODISCARD hf_status hf_replayer_open(const char *program, hf_replayer **out_replayer,
                                        hf_err *err);
void hf_replayer_close(hf_replayer *replayer); /* ends the program; NULL is allowed */

/* What the program says of the bundle, as hf_replay_bundle reports it, in `mem`; with the verdict
   "blocked" and the reason "crashed" or "timed_out" when it said nothing within 30 seconds.
   HF_INVALID: what it says is no such report, so it is no program that uses hf_main. */
HF_NODISCARD hf_status hf_replayer_ask(hf_replayer *replayer, hf_slice bundle, hf_mem *mem,
                                       hf_value *out_report, hf_err *err);

#endif
