/* list_row.h: a run as a list shows it, taken from the columns of the piece list_columns. What its
   rows cannot say is settled by whoever asks history. */
#ifndef HF_PROJECT_LIST_ROW_H
#define HF_PROJECT_LIST_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/value.h"
#include "project/filter.h"
#include "project/liveness.h"
#include "store/db.h"

typedef struct hf_list_row hf_list_row;

/* Copies the row that the cursor stands at into the arena. */
HF_NODISCARD hf_status hf_list_row_take(hf_mem *mem, hf_db_cursor *cursor, hf_list_row **out_row,
                                        hf_err *err);

int64_t hf_list_row_run(const hf_list_row *row);
hf_ulid hf_list_row_id(const hf_list_row *row);

/* Where a page that ends with the row goes on. NULL: no memory. */
hf_value hf_list_row_key(const hf_list_row *row, hf_mem *mem);

/* Whether something that history has open lacks its row, so that only history can say what moves
   the run on. */
bool hf_list_row_doubtful(const hf_list_row *row);
void hf_list_row_settle(hf_list_row *row, const hf_liveness *liveness);

/* Whether a row without doubts has what the conditions left open. */
bool hf_list_row_fits(const hf_list_row *row, const hf_filter_rest *rest);

/* The object that callers get. NULL: no memory. */
hf_value hf_list_row_value(const hf_list_row *row, hf_mem *mem);

#endif
