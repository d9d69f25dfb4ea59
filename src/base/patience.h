/* patience.h: for a process that somebody waits for and that had better say nothing than be late:
   it ends by itself, in order as far as its caller can see. For programs alone, never in a library
   call: it takes SIGALRM. */
#ifndef HF_BASE_PATIENCE_H
#define HF_BASE_PATIENCE_H

#include <stdint.h>

#include "base/err.h"

/* From now on the process has so long. When that is over it ends with exit code 0; what it had not
   flushed is lost. Once in a process. */
HF_NODISCARD hf_status hf_patience_begin(int64_t ms, hf_err *err);

#endif
