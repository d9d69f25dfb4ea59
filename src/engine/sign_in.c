/* sign_in.c: sessions of browsers as rows, so that they outlive their server. What the cookie has
   never comes here, only its digest. */
#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "holdfast/host.h"
#include "store/stmt.h"

hf_status hf_sign_in_put(hf_engine *engine, const hf_sign_in *one)
{
    hf_call call;
    bool applied;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return st;
    if (!one || !one->token || !one->token[0])
        return hf_err_set(&call.slot->err, HF_INVALID, "a session is that of a token");
    {
        const hf_db_value cells[] = {
            {.type = HF_DB_BLOB, .bytes = hf_slice_from(one->digest, HF_SIGN_IN_DIGEST)},
            hf_db_text(hf_slice_of(one->token)),
            hf_db_int(one->begun_us),
            hf_db_int(one->seen_us),
            one->ended_us ? hf_db_int(one->ended_us) : hf_db_null(HF_DB_INT)};

        return hf_call_row(&call, HF_OP_SIGN_IN_PUT, cells, sizeof(cells) / sizeof(cells[0]),
                           &applied, &call.slot->err);
    }
}

/* hf_call_make */
static hf_value sign_in_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_slice digest = hf_db_column_bytes(row, 0);
    char hex[HF_SHA256_TEXT_SIZE] = "";

    (void)ctx;
    if (digest.len == HF_SIGN_IN_DIGEST)
        hf_hex_print(digest, hex);
    return hf_json_(
        mem, "{'digest': %s, 'token': %p, 'begun_us': %lld, 'seen_us': %lld, 'ended_us': %lld}",
        hex, (const void *)hf_value_string(mem, hf_db_column_bytes(row, 1)),
        (long long)hf_db_column_int(row, 2), (long long)hf_db_column_int(row, 3),
        (long long)hf_db_column_int(row, 4));
}

hf_status hf_sign_ins(hf_engine *engine, int64_t since_us, hf_mem *mem, hf_value *out)
{
    const hf_db_value params[] = {hf_db_int(since_us), hf_db_int(HF_SIGN_INS_MAX)};
    hf_call call;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return st;
    return hf_call_rows(&call, HF_STMT_SIGN_IN_LIST, params, 2, mem, sign_in_value, NULL, out);
}
