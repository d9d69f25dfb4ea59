/* known.h: what a route of the control plane reads, so that a name that is mistyped is refused and
   not ignored. */
#ifndef HF_CLI_KNOWN_H
#define HF_CLI_KNOWN_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"

/* HF_INVALID: a member of `body` is none that the route reads. One that has no fields of its own
   takes anything. */
HF_NODISCARD hf_status hf_cli_known_fields(const char *method, const char *path, hf_value body,
                                           hf_err *err);

/* Whether GET of the path has a parameter of that name. */
bool hf_cli_known_parameter(const char *path, hf_slice name);

/* The names of its parameters, for a sentence. */
const char *hf_cli_known_parameters(hf_mem *mem, const char *path);

#endif
