/* row_build.h: cells of a row, one after the other. For the files that make rows of row.h alone. It
   only copies: no defaults, no decisions, no database. */
#ifndef HF_STORE_ROW_BUILD_H
#define HF_STORE_ROW_BUILD_H

#include "store/row.h"

/* A row under construction. A failed allocation leaves row NULL; later cells are then dropped. */
typedef struct hf_row_builder {
    hf_mem *mem;
    hf_row *row;
    size_t used;
} hf_row_builder;

hf_row_builder hf_row_begin(hf_mem *mem, hf_op op);
hf_row *hf_row_end(hf_row_builder *builder);
void hf_row_put(hf_row_builder *builder, hf_db_value value);
void hf_row_put_int(hf_row_builder *builder, int64_t number);
void hf_row_put_bytes(hf_row_builder *builder, hf_slice bytes, hf_db_type type);
void hf_row_put_text(hf_row_builder *builder, hf_slice text);
void hf_row_put_blob(hf_row_builder *builder, hf_slice bytes);
void hf_row_put_instance(hf_row_builder *builder, const hf_instance_row *row);
hf_row *hf_row_pair(hf_mem *mem, hf_op op, int64_t first, int64_t second);
void hf_row_put_int_or_null(hf_row_builder *builder, int64_t number);

#endif
