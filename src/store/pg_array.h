/* pg_array.h: the parameters of one statement in PostgreSQL's binary format, in one reusable
 * buffer. */
#ifndef HF_STORE_PG_ARRAY_H
#define HF_STORE_PG_ARRAY_H

#include <postgres_ext.h>

#include "base/buf.h"
#include "store/db.h"

/* Columns of the widest statement, the two guards and some room. */
enum { HF_PG_PARAMS_MAX = 80 };

typedef struct hf_pg_params {
    int count;
    Oid types[HF_PG_PARAMS_MAX];
    const char
        *values[HF_PG_PARAMS_MAX]; /* into `bytes`; NULL for null. Set by hf_pg_params_finish */
    int lengths[HF_PG_PARAMS_MAX];
    int formats[HF_PG_PARAMS_MAX]; /* 1: binary */
    size_t offsets[HF_PG_PARAMS_MAX];
    hf_buf bytes;
} hf_pg_params;

void hf_pg_params_fini(hf_pg_params *params);

/* Each of these forgets what was there. HF_NOMEM, HF_TOOBIG (more than PostgreSQL takes in one
   statement), HF_MISUSE (too many parameters). Nothing of the input is needed afterwards. */
HF_NODISCARD hf_status hf_pg_params_scalars(hf_pg_params *params, const hf_db_value *values,
                                            size_t count, hf_err *err);
HF_NODISCARD hf_status hf_pg_params_rows(hf_pg_params *params, const hf_db_rows *rows, hf_err *err);

/* A big-endian signed number of 1, 2, 4 or 8 bytes, as results hold it. */
int64_t hf_pg_int_read(const char *bytes, size_t len);

#endif
