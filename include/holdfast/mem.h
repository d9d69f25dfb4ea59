/* mem.h: arenas of your own. Values made in an arena live until it is reset or freed. */
#ifndef HOLDFAST_MEM_H
#define HOLDFAST_MEM_H

#include "holdfast/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_mem hf_mem;

HF_API hf_mem *hf_mem_new(void); /* NULL when memory ran out */
HF_API void hf_mem_reset(hf_mem *mem);
HF_API void hf_mem_free(hf_mem *mem); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
