/* op.h: the row operations that units are made of, generated from op.def. */
#ifndef HF_STORE_OP_H
#define HF_STORE_OP_H

#include <stddef.h>

#include "store/stmt.h"

typedef enum hf_op {
#define HF_OP(name, stmt, cells, guard) name,
#include "store/op.def"
#undef HF_OP
    HF_OP_COUNT
} hf_op;

typedef enum hf_op_guard {
    HF_OP_GUARD_FENCE,
    HF_OP_GUARD_MAKE,
    HF_OP_GUARD_JOINED,
    HF_OP_GUARD_GUARDED,
    HF_OP_GUARD_BARE
} hf_op_guard;

typedef struct hf_op_info {
    hf_stmt stmt;
    size_t cells;
    hf_op_guard guard;
} hf_op_info;

extern const hf_op_info hf_op_infos[HF_OP_COUNT];

enum { HF_OP_CELLS_MAX = 18 };

#endif
