/* limit_table.h: limits that programs behind this server declared, by namespace and name. Whoever
   declared a name last says what it means, as on a store that a newer program opens. Any thread. */
#ifndef HF_ENGINE_LIMIT_TABLE_H
#define HF_ENGINE_LIMIT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/holdfast.h"

typedef struct hf_limit_table hf_limit_table;

HF_NODISCARD hf_status hf_limit_table_open(hf_limit_table **out_table, hf_err *err);
void hf_limit_table_close(hf_limit_table *table); /* NULL is allowed */

/* Copied. What was said later than `at_us` stays. HF_TOOBIG: there are too many names. */
HF_NODISCARD hf_status hf_limit_table_put(hf_limit_table *table, int64_t namespace_key,
                                          const hf_limit_def *def, int64_t at_us, hf_err *err);

/* A copy; its name lives as long as the table. False: nobody declared it. */
bool hf_limit_table_get(hf_limit_table *table, int64_t namespace_key, hf_slice name,
                        hf_limit_def *out_def);

/* The names that were declared in a namespace, in `mem`, in no order; they live as long as the
   table. */
HF_NODISCARD hf_status hf_limit_table_names(hf_limit_table *table, int64_t namespace_key,
                                            hf_mem *mem, hf_slice **out_names, size_t *out_count,
                                            hf_err *err);

#endif
