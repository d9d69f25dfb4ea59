/* lost_memory.h: a function of the model with the first allocation failing, then the second, until
   it succeeds. Each failure must say HF_NOMEM, in its status and in its error. */
#ifndef HF_TEST_LIB_LOST_MEMORY_H
#define HF_TEST_LIB_LOST_MEMORY_H

#include "base/err.h"
#include "base/mem.h"

typedef hf_status hf_lost_memory_pass(hf_mem *mem, hf_err *err);

void hf_lost_memory_each(hf_lost_memory_pass *pass);

#endif
