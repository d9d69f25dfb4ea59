/* tool_store.h: a store that a tool looks into without an engine, and the runs that people name on
   a command line. Reads only; one thread. */
#ifndef HF_ENGINE_TOOL_STORE_H
#define HF_ENGINE_TOOL_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "intake/intake.h"
#include "store/store.h"

typedef struct hf_tool_store {
    hf_store *store;
    hf_db *db;
    int64_t namespace_key;
} hf_tool_store;

/* Opens it as a reader, beside whoever works on it. `namespace_name` NULL: "default". Nothing is
   held when it fails. */
HF_NODISCARD hf_status hf_tool_store_open(hf_tool_store *tool, const char *address,
                                          const char *schema, const char *namespace_name,
                                          hf_err *err);
void hf_tool_store_close(hf_tool_store *tool);

/* ID#N is the instance's nth run: '#' is in no id. *out_number 0: the newest. */
HF_NODISCARD hf_status hf_tool_name_split(hf_mem *mem, const char *name, const char **out_id,
                                          int64_t *out_number, hf_err *err);

/* The key of the run with that number, or of the newest. HF_NOTFOUND. */
HF_NODISCARD hf_status hf_tool_run_pick(hf_db *db, const hf_intake_target *target, int64_t number,
                                        int64_t *out_run, hf_err *err);

#endif
