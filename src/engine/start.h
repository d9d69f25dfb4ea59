/* start.h: the options of a start as intake/ takes them, whatever it is asked with: a struct, or
   the names of the wire. */
#ifndef HF_ENGINE_START_H
#define HF_ENGINE_START_H

#include "engine/call.h"
#include "engine/command.h"

/* Keys, priority and limits, said in whatever way. */
typedef struct hf_start_keys {
    hf_slice correlation_key;   /* ptr NULL: none, as for all of them */
    hf_slice correlation_scope; /* "done,failed" */
    int64_t priority;           /* 0: not said */
    hf_slice concurrency_key;
    hf_slice rate_limit;
    int64_t weight; /* 0: not said */
} hf_start_keys;

hf_start_keys hf_start_keys_of(const hf_start_opts *opts);

/* HF_INVALID: a priority or scope that cannot be, a weight without a rate limit. */
HF_NODISCARD hf_status hf_start_keys_read(const hf_start_keys *keys, hf_intake_start *start,
                                          hf_err *err);

/* HF_INVALID: a delay, timeout, priority or scope that cannot be. HF_MISUSE: no size. Slices borrow
   from the options. */
HF_NODISCARD hf_status hf_start_read(const hf_call *call, const char *type,
                                     const hf_start_opts *opts, hf_intake_start *out_start,
                                     hf_slice *out_request_id, hf_err *err);

/* One of several items, which are as long as the program that made them knew them. HF_MISUSE: it
   says another size than the first. */
HF_NODISCARD hf_status hf_start_item(const hf_start_opts *items, size_t at,
                                     const hf_start_opts **out_item, hf_err *err);

/* hf_start_read of a request by the names that the wire has (hf_command). *out_start must live as
   long as *out_request. */
HF_NODISCARD hf_status hf_start_read_wire(const hf_call *call, hf_value request, hf_mem *mem,
                                          hf_intake_start *out_start, hf_request *out_request,
                                          hf_err *err);

/* What a caller of the C API is told: HF_OK only for what was accepted. */
HF_NODISCARD hf_status hf_reply_status(const hf_reply *reply, hf_slice id, hf_err *err);

#endif
