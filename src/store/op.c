/* op.c: the table behind op.h. */
#include "store/op.h"

const hf_op_info hf_op_infos[HF_OP_COUNT] = {
#define HF_OP(name, statement, count, kind) [name] = {statement, count, HF_OP_GUARD_##kind},
#include "store/op.def"
#undef HF_OP
};
