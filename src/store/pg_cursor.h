/* pg_cursor.h: reading rows as they arrive. The contracts are those of the hf_db_ functions of the
 * same name. */
#ifndef HF_STORE_PG_CURSOR_H
#define HF_STORE_PG_CURSOR_H

#include "store/pg_pipe.h"

/* Queries in the pipeline: what was queued before is answered first, in the same round trip. */
HF_NODISCARD hf_status hf_pg_query(hf_db *db, hf_stmt stmt, const hf_db_value *params, size_t count,
                                   hf_db_cursor **out_cursor, hf_err *err);
HF_NODISCARD hf_status hf_pg_query_text(hf_db *db, const char *sql, const hf_db_value *params,
                                        size_t count, hf_db_cursor **out_cursor, hf_err *err);
HF_NODISCARD hf_status hf_pg_step(hf_db_cursor *cursor, bool *out_row, hf_err *err);
bool hf_pg_column_null(hf_db_cursor *cursor, size_t column);
int64_t hf_pg_column_int(hf_db_cursor *cursor, size_t column);
double hf_pg_column_real(hf_db_cursor *cursor, size_t column);
hf_slice hf_pg_column_bytes(hf_db_cursor *cursor, size_t column);
size_t hf_pg_column_count(hf_db_cursor *cursor);
const char *hf_pg_column_name(hf_db_cursor *cursor, size_t column);

/* Reads what is left of the rows, so that the connection is usable again. */
void hf_pg_end(hf_db_cursor *cursor);

#endif
