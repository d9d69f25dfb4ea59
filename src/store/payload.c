/* payload.c: see payload.h. What history says of a payload is believed, what the row says is
 * checked. */
#include "store/payload.h"

#include <string.h>
#include <zstd.h>

#include "base/assert.h"

enum { PAYLOAD_PLAIN = 0, PAYLOAD_ZSTD = 1, PAYLOAD_ZSTD_LEVEL = 1 };

hf_status hf_payload_pack(hf_mem *mem, hf_slice bytes, int64_t *out_compression, hf_slice *out_body,
                          hf_err *err)
{
    size_t room = ZSTD_compressBound(bytes.len);
    char *packed = hf_mem_bytes(mem, room);
    size_t packed_len;

    if (!packed)
        return hf_err_nomem(err, "a payload");
    *out_compression = PAYLOAD_PLAIN;
    *out_body = bytes;
    packed_len = ZSTD_compress(packed, room, bytes.ptr, bytes.len, PAYLOAD_ZSTD_LEVEL);
    if (!ZSTD_isError(packed_len) && packed_len < bytes.len) {
        *out_compression = PAYLOAD_ZSTD;
        *out_body = hf_slice_from(packed, packed_len);
    }
    return HF_OK;
}

hf_status hf_payload_unpack(hf_mem *mem, int64_t compression, hf_slice body, size_t size,
                            hf_slice *out_bytes, hf_err *err)
{
    char *bytes = hf_mem_bytes(mem, size + 1);
    size_t got = body.len;

    if (!bytes)
        return hf_err_nomem(err, "a payload");
    if (compression == PAYLOAD_ZSTD)
        got = ZSTD_decompress(bytes, size, body.ptr, body.len);
    else if (body.len == size && size)
        memcpy(bytes, body.ptr, size);
    if (got != size)
        return hf_err_set(err, HF_CORRUPT,
                          "the payload has another size than history says (%zu bytes)", size);
    bytes[size] = '\0';
    *out_bytes = hf_slice_from(bytes, size);
    return HF_OK;
}

hf_status hf_payload_row_make(hf_mem *mem, hf_keys *keys, int64_t run,
                              const hf_payload_value *reference, hf_slice bytes, hf_row **out_row,
                              hf_err *err)
{
    hf_payload_row row = {.run = run,
                          .digest = reference->digest,
                          .codec = reference->codec,
                          .size = (int64_t)bytes.len};
    hf_status st;

    HF_ASSERT(reference->form == HF_PAYLOAD_FORM_REFERENCE);
    st = hf_payload_pack(mem, bytes, &row.compression, &row.body, err);
    if (!st)
        st = hf_keys_take(keys, 1, &row.key, err);
    if (st)
        return st;
    *out_row = hf_row_payload_new(mem, &row);
    return *out_row ? HF_OK : hf_err_nomem(err, "a payload row");
}

hf_status hf_payload_get(hf_db *db, hf_mem *mem, hf_sha256 *sha, int64_t run,
                         const hf_payload_value *reference, hf_slice *out_bytes, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(run),
                                  hf_db_blob(hf_slice_from(reference->digest, HF_SHA256_BYTES))};
    uint8_t digest[HF_SHA256_BYTES];
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_PAYLOAD_GET, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "the payload is not in the store");
    if (!st)
        st = hf_payload_unpack(mem, hf_db_column_int(cursor, 2), hf_db_column_bytes(cursor, 3),
                               (size_t)reference->size, out_bytes, err);
    hf_db_end(cursor);
    if (!st)
        st = hf_sha256_digest(sha, *out_bytes, digest, err);
    if (!st && memcmp(digest, reference->digest, sizeof(digest)) != 0)
        st = hf_err_set(err, HF_CORRUPT, "the payload differs from what history recorded");
    return hf_err_because(err, st, "read a payload of run %lld", (long long)run);
}
