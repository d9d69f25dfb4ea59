/* input.h: words of a command line that stand for values: JSON, files, pairs, durations. */
#ifndef HF_CLI_INPUT_H
#define HF_CLI_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "cli/verbs.h"
#include "holdfast/value.h"

/* What INPUT stands for: JSON, @FILE, - (standard input), or pairs name=text and name:=JSON, which
   make an object. They are those of the call behind its first `used`; none: NULL. HF_INVALID,
   HF_NOTFOUND, HF_IO, HF_TOOBIG, HF_NOMEM. */
HF_NODISCARD hf_status hf_cli_input(hf_cli_call *call, size_t used, hf_value *out_value,
                                    hf_err *err);

/* name=text pairs, separated by commas, as an object. */
HF_NODISCARD hf_status hf_cli_pairs(hf_mem *mem, const char *text, hf_value *out_value,
                                    hf_err *err);

/* "500ms", "90s", "5m", "2h", "7d"; a number alone is seconds. */
HF_NODISCARD hf_status hf_cli_duration(const char *text, int64_t *out_ms, hf_err *err);

#endif
