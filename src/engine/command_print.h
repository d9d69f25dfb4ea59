/* command_print.h: the fingerprint of a request that came by a call of the C API: sha256 over the
   same four members that the fingerprint of an HTTP request has, with the command in place of the
   method and the address of its target in place of the path. */
#ifndef HF_ENGINE_COMMAND_PRINT_H
#define HF_ENGINE_COMMAND_PRINT_H

#include "base/crypto.h"
#include "base/err.h"
#include "base/mem.h"
#include "engine/command.h"

/* "sha256:..." in `mem`. The same request always has the same one, whatever the order of members in
   its values. */
HF_NODISCARD hf_status hf_command_print(const hf_request *request, hf_sha256 *sha, hf_mem *mem,
                                        hf_slice *out_print, hf_err *err);

#endif
