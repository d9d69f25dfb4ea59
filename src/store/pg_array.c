/* pg_array.c: big-endian scalars and one-dimensional arrays, as array_recv and friends read them.
 */
#include "store/pg_array.h"

#include <string.h>

#include "base/assert.h"

/* The server takes messages below 1 GiB; half of it leaves room for everything beside one array. */
enum { PARAMS_BYTES_MAX = 512 * 1024 * 1024 };

typedef struct type_row {
    Oid scalar;
    Oid array;
} type_row;

/* Indexed by hf_db_type. The numbers are fixed in PostgreSQL's catalogue (pg_type.dat). */
static const type_row type_rows[] = {
    [HF_DB_INT] = {20, 1016},   /* int8 */
    [HF_DB_REAL] = {701, 1022}, /* float8 */
    [HF_DB_TEXT] = {25, 1009},  /* text */
    [HF_DB_BLOB] = {17, 1001},  /* bytea */
};

enum { SCALAR_BYTES = 8 }; /* of an int or a real */

static void big_put(uint8_t *out, uint32_t number)
{
    out[0] = (uint8_t)(number >> 24);
    out[1] = (uint8_t)(number >> 16);
    out[2] = (uint8_t)(number >> 8);
    out[3] = (uint8_t)number;
}

static void bytes_add_u32(hf_buf *bytes, uint32_t number)
{
    uint8_t big[4];

    big_put(big, number);
    hf_buf_add(bytes, big, sizeof(big));
}

static void bytes_add_u64(hf_buf *bytes, uint64_t number)
{
    uint8_t big[SCALAR_BYTES];

    big_put(big, (uint32_t)(number >> 32));
    big_put(big + 4, (uint32_t)number);
    hf_buf_add(bytes, big, sizeof(big));
}

/* The length and the number in one piece: most elements of most arrays are such. */
static void array_add_int(hf_buf *bytes, int64_t number)
{
    uint8_t big[4 + SCALAR_BYTES];

    big_put(big, SCALAR_BYTES);
    big_put(big + 4, (uint32_t)((uint64_t)number >> 32));
    big_put(big + 8, (uint32_t)(uint64_t)number);
    hf_buf_add(bytes, big, sizeof(big));
}

static void bytes_add_value(hf_buf *bytes, const hf_db_value *value)
{
    uint64_t bits = 0;

    switch (value->type) {
    case HF_DB_INT:
        bytes_add_u64(bytes, (uint64_t)value->number);
        break;
    case HF_DB_REAL:
        memcpy(&bits, &value->real, sizeof(bits));
        bytes_add_u64(bytes, bits);
        break;
    case HF_DB_TEXT:
    case HF_DB_BLOB:
        hf_buf_add_slice(bytes, value->bytes);
        break;
    }
}

static size_t value_bytes(const hf_db_value *value)
{
    return value->type == HF_DB_TEXT || value->type == HF_DB_BLOB ? value->bytes.len : SCALAR_BYTES;
}

static void array_add_head(hf_buf *bytes, hf_db_type type, size_t count, bool nulls)
{
    bytes_add_u32(bytes, 1); /* dimensions */
    bytes_add_u32(bytes, nulls ? 1 : 0);
    bytes_add_u32(bytes, type_rows[type].scalar);
    bytes_add_u32(bytes, (uint32_t)count);
    bytes_add_u32(bytes, 1); /* subscript of the first */
}

static void array_add_element(hf_buf *bytes, const hf_db_value *value)
{
    if (value->null) {
        bytes_add_u32(bytes, UINT32_MAX);
        return;
    }
    if (value->type == HF_DB_INT) {
        array_add_int(bytes, value->number);
        return;
    }
    bytes_add_u32(bytes, (uint32_t)value_bytes(value));
    bytes_add_value(bytes, value);
}

static void params_clear(hf_pg_params *params)
{
    params->count = 0;
    hf_buf_clear(&params->bytes);
}

/* Begins a parameter; its bytes are appended next, then params_close. */
static void params_open(hf_pg_params *params, Oid type)
{
    HF_ASSERT(params->count < HF_PG_PARAMS_MAX);
    params->types[params->count] = type;
    params->formats[params->count] = 1;
    params->offsets[params->count] = params->bytes.len;
    params->values[params->count] = "";
}

static void params_close(hf_pg_params *params)
{
    params->lengths[params->count] = (int)(params->bytes.len - params->offsets[params->count]);
    params->count++;
}

/* Asked before anything is encoded, so that an absurd row costs no memory. */
static hf_status params_fit(const hf_db_value *values, size_t count, hf_err *err)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t bytes = values[i].null ? 4 : value_bytes(&values[i]) + 4;

        if (bytes > PARAMS_BYTES_MAX - sum)
            return hf_err_set(err, HF_TOOBIG, "the rows of a statement exceed %d bytes",
                              PARAMS_BYTES_MAX);
        sum += bytes;
    }
    return HF_OK;
}

/* The buffer no longer moves, so the values can point into it. */
static hf_status params_finish(hf_pg_params *params, hf_err *err)
{
    if (!hf_buf_ok(&params->bytes))
        return hf_err_nomem(err, "the parameters of a statement");
    for (int i = 0; i < params->count; i++)
        if (params->values[i] && params->lengths[i] > 0)
            params->values[i] = params->bytes.ptr + params->offsets[i];
    return HF_OK;
}

static void params_add_column(hf_pg_params *params, const hf_db_rows *rows, size_t column)
{
    hf_db_type type = rows->cells[column].type;
    bool nulls = false;

    for (size_t row = 0; row < rows->count; row++) {
        const hf_db_value *cell = &rows->cells[row * rows->columns + column];

        HF_ASSERT(cell->type == type);
        nulls = nulls || cell->null;
    }
    params_open(params, type_rows[type].array);
    array_add_head(&params->bytes, type, rows->count, nulls);
    for (size_t row = 0; row < rows->count; row++)
        array_add_element(&params->bytes, &rows->cells[row * rows->columns + column]);
    params_close(params);
}

static void params_add_guards(hf_pg_params *params, const hf_db_rows *rows)
{
    params_open(params, type_rows[HF_DB_INT].array);
    array_add_head(&params->bytes, HF_DB_INT, rows->count, false);
    for (size_t row = 0; row < rows->count; row++)
        array_add_int(&params->bytes, rows->guard_runs[row]);
    params_close(params);
    params_open(params, type_rows[HF_DB_BLOB].array);
    array_add_head(&params->bytes, HF_DB_BLOB, rows->count, false);
    for (size_t row = 0; row < rows->count; row++) {
        hf_db_value head = hf_db_blob(rows->guard_heads[row]);

        array_add_element(&params->bytes, &head);
    }
    params_close(params);
}

void hf_pg_params_fini(hf_pg_params *params)
{
    hf_buf_fini(&params->bytes);
}

hf_status hf_pg_params_scalars(hf_pg_params *params, const hf_db_value *values, size_t count,
                               hf_err *err)
{
    hf_status st;

    params_clear(params);
    if (count > HF_PG_PARAMS_MAX)
        return hf_err_set(err, HF_MISUSE, "%zu parameters, the limit is %d", count,
                          HF_PG_PARAMS_MAX);
    st = params_fit(values, count, err);
    if (st)
        return st;
    for (size_t i = 0; i < count; i++) {
        params_open(params, type_rows[values[i].type].scalar);
        if (values[i].null)
            params->values[i] = NULL;
        else
            bytes_add_value(&params->bytes, &values[i]);
        params_close(params);
    }
    return params_finish(params, err);
}

hf_status hf_pg_params_rows(hf_pg_params *params, const hf_db_rows *rows, hf_err *err)
{
    hf_status st;

    params_clear(params);
    HF_ASSERT(rows->count > 0);
    if (rows->columns + 2 > HF_PG_PARAMS_MAX || rows->count > INT32_MAX)
        return hf_err_set(err, HF_MISUSE,
                          "%zu columns and %zu rows are more than one statement takes",
                          rows->columns, rows->count);
    st = params_fit(rows->cells, rows->columns * rows->count, err);
    if (st)
        return st;
    for (size_t column = 0; column < rows->columns; column++)
        params_add_column(params, rows, column);
    if (rows->guard_runs)
        params_add_guards(params, rows);
    return params_finish(params, err);
}

int64_t hf_pg_int_read(const char *bytes, size_t len)
{
    uint64_t number = len && (bytes[0] & 0x80) ? UINT64_MAX : 0;

    for (size_t i = 0; i < len; i++)
        number = number << 8 | (uint8_t)bytes[i];
    return (int64_t)number;
}
