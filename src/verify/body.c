/* body.c: the bytes of payload rows: unpacked piece by piece, so that a row that lies about its
   size costs no memory, and compared with the row's own digest and size. */
#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "verify/check.h"

enum { COMPRESSION_NONE = 0, COMPRESSION_ZSTD = 1, PIECE_BYTES = 64 * 1024 };

typedef struct body_reader {
    hf_sha256 *sha;
    ZSTD_DStream *unpacker;
    char *piece;
} body_reader;

static void reader_fini(body_reader *reader)
{
    hf_alloc_free(reader->piece);
    (void)ZSTD_freeDStream(reader->unpacker);
    hf_sha256_free(reader->sha);
}

static hf_status reader_init(body_reader *reader, hf_err *err)
{
    *reader = (body_reader){.unpacker = ZSTD_createDStream(), .piece = hf_alloc(PIECE_BYTES)};
    if (!reader->unpacker || !reader->piece)
        return hf_err_nomem(err, "reading payloads");
    return hf_sha256_new(&reader->sha, err);
}

/* Adds the unpacked bytes to the digest. NULL, or what is wrong with them. */
static const char *body_unpack(body_reader *reader, hf_slice body, int64_t size)
{
    ZSTD_inBuffer in = {.src = body.ptr, .size = body.len};
    uint64_t unpacked = 0;
    size_t more = ZSTD_initDStream(reader->unpacker);
    bool stuck = false;

    while (more && !ZSTD_isError(more) && !stuck && unpacked <= (uint64_t)size) {
        ZSTD_outBuffer out = {.dst = reader->piece, .size = PIECE_BYTES};
        size_t taken = in.pos;

        more = ZSTD_decompressStream(reader->unpacker, &out, &in);
        hf_sha256_add(reader->sha, hf_slice_from(reader->piece, out.pos));
        unpacked += out.pos;
        stuck = out.pos == 0 && in.pos == taken;
    }
    if (more || in.pos != in.size)
        return "cannot be unpacked";
    return unpacked == (uint64_t)size ? NULL : "has another size than its row says";
}

/* Columns: run, key, size, compression, digest, body. */
static hf_status body_check(hf_check *check, body_reader *reader, hf_db_cursor *cursor, hf_err *err)
{
    int64_t key = hf_db_column_int(cursor, 1);
    int64_t size = hf_db_column_int(cursor, 2);
    int64_t compression = hf_db_column_int(cursor, 3);
    hf_slice body = hf_db_column_bytes(cursor, 5);
    uint8_t digest[HF_SHA256_BYTES];
    const char *fault = NULL;
    hf_status st;

    hf_sha256_begin(reader->sha);
    if (compression == COMPRESSION_ZSTD) {
        fault = body_unpack(reader, body, size);
    } else {
        hf_sha256_add(reader->sha, body);
        if (compression != COMPRESSION_NONE)
            fault = "is packed in an unknown way";
        else if (body.len != (uint64_t)size)
            fault = "has another size than its row says";
    }
    st = hf_sha256_end(reader->sha, digest, err);
    if (!st && !fault &&
        !hf_slice_equal(hf_db_column_bytes(cursor, 4), hf_slice_from(digest, sizeof(digest))))
        fault = "differs from its digest";
    if (fault) {
        const hf_report_key keys[] = {{.name = "run", .number = hf_db_column_int(cursor, 0)},
                                      {.name = "payload", .number = key}};

        hf_report_add(check->report, 36, keys, 2, "payload %" PRId64 " %s", key, fault);
    }
    return st;
}

hf_status hf_check_bodies(hf_check *check, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(check->low), hf_db_int(check->high)};
    body_reader reader;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = reader_init(&reader, err);

    if (!st)
        st = hf_db_query(check->db, HF_STMT_VERIFY_PAYLOAD, params, 2, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    while (!st && row) {
        st = body_check(check, &reader, cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
    }
    hf_db_end(cursor);
    reader_fini(&reader);
    return st ? st : hf_report_status(check->report, err);
}
