/* refusal.h: what the answer to a command means to somebody who typed it. */
#ifndef HF_CLI_REFUSAL_H
#define HF_CLI_REFUSAL_H

#include "cli/verbs.h"

/* The envelope of a command: HF_OK when it was accepted. HF_REJECTED, HF_NOTFOUND; HF_INVALID: its
   arguments do not fit, and the text has the contract. Sets call->next. */
HF_NODISCARD hf_status hf_cli_refusal(hf_cli_call *call, hf_value envelope, hf_err *err);

#endif
