/* reader.h: a store that is only looked at: lists, one run, its history, namespaces and
   tokens. It needs no engine, works
   beside one that is at work (in this process, in another, or none) and never writes. What the
   answers hold is said where an engine gives the same: view.h and holdfast.h. One thread at a time;
   every call may block. */
#ifndef HOLDFAST_READER_H
#define HOLDFAST_READER_H

#include <stdbool.h>

#include "holdfast/status.h"
#include "holdfast/value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_reader hf_reader;

typedef struct hf_reader_opts {
    size_t size_;
    const char *schema; /* of a PostgreSQL store; NULL for "holdfast" */
    const char *space;  /* the namespace; NULL for "default" */
} hf_reader_opts;

/* HF_NOTFOUND: no such store, or no such namespace in it. `o` may be NULL. */
HF_API hf_status hf_reader_open(const char *address, const hf_reader_opts *o, hf_reader **out,
                                hf_err *err);
HF_API void hf_reader_close(hf_reader *reader); /* NULL is allowed */

/* Whether somebody may have written since the last call. It reads no table. A PostgreSQL server
   tells of all its databases, and engines renew their leases: yes may be said although no run
   changed. */
HF_API hf_status hf_reader_changed(hf_reader *reader, bool *out_changed, hf_err *err);

/* As hf_list_runs. */
HF_API hf_status hf_reader_list(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                                hf_err *err);

/* As hf_describe: {"id", "run_id"?, "at"?, "limit"?}. */
HF_API hf_status hf_reader_describe(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                                    hf_err *err);

/* As hf_history: {"id", "run_id"?, "after"?, "limit"?}. */
HF_API hf_status hf_reader_history(hf_reader *reader, hf_value request, hf_mem *mem, hf_value *out,
                                   hf_err *err);

/* As hf_namespaces and hf_tokens: of the whole store. */
HF_API hf_status hf_reader_namespaces(hf_reader *reader, hf_mem *mem, hf_value *out, hf_err *err);
HF_API hf_status hf_reader_tokens(hf_reader *reader, hf_mem *mem, hf_value *out, hf_err *err);

#ifdef __cplusplus
}
#endif
#endif
