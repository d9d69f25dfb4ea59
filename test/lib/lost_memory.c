/* lost_memory.c: see lost_memory.h. */
#include "lib/lost_memory.h"

#include <check.h>

#include "base/fault.h"

void hf_lost_memory_each(hf_lost_memory_pass *pass)
{
    int64_t nth;

    for (nth = 1;; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_err err = {0};
        hf_status st;

        ck_assert_ptr_nonnull(mem);
        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = pass(mem, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_mem_free(mem);
        ck_assert_int_eq(st ? HF_NOMEM : HF_OK, st);
        ck_assert_int_eq(err.status, st);
        if (!st)
            break;
    }
#ifdef HF_FAULT
    ck_assert_int_gt(nth, 1);
#endif
}
