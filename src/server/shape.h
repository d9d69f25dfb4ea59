/* shape.h: runs under the names that the control plane has for them, for all who show them: the
   server's routes, and the command line when it reads a store itself. */
#ifndef HF_SERVER_SHAPE_H
#define HF_SERVER_SHAPE_H

#include "base/attr.h"
#include "base/mem.h"
#include "holdfast/value.h"

/* A row of a list, or a whole run, with the control plane's names beside the console's. NULL when
   memory ran out. */
HF_NODISCARD hf_value hf_shape_run(hf_mem *mem, hf_value row, const char *space);

/* A page of history. */
HF_NODISCARD hf_value hf_shape_history(hf_mem *mem, hf_value page, const char *id,
                                       const char *run_id, const char *space);

#endif
