/* held.c: which tasks workers of other processes hold, as this process handed them out. */
#include "engine/call.h"
#include "holdfast/worker.h"
#include "task/matching.h"

hf_status hf_tasks_held(hf_engine *engine, const char *queue, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_INVALID, "mem and out must not be NULL");
    if (!engine->matching)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    *out = hf_matching_held(engine->matching, c.in.namespace_key,
                            queue ? hf_slice_of(queue) : (hf_slice){0}, mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "leases");
}
