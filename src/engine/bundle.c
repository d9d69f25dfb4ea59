/* bundle.c: what tool.h does with history bundles, without any store. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "holdfast/tool.h"
#include "project/bundle_verify.h"

static hf_status options_of(const hf_bundle_keys *keys, hf_bundle_verify_options *out, hf_err *err)
{
    uint8_t key[32];

    *out = (hf_bundle_verify_options){0};
    if (!keys)
        return HF_OK;
    out->key = hf_slice_of(keys->key);
    out->public_key = hf_slice_of(keys->public_key);
    out->require_signature = keys->require_signature;
    if (keys->public_key && !hf_hex_parse(out->public_key, key, sizeof(key)))
        return hf_err_set(err, HF_INVALID, "a public key has 64 hexadecimal digits");
    return HF_OK;
}

hf_status hf_bundle_verify(const char *text, size_t len, const hf_bundle_keys *keys, hf_mem *mem,
                           hf_value *out_report, hf_err *err)
{
    hf_bundle_verify_options options;
    hf_status st;

    if (!text || !mem || !out_report || (keys && keys->size != sizeof(*keys)))
        return hf_err_set(err, HF_MISUSE, "a text, memory and a place for the report are needed");
    st = options_of(keys, &options, err);
    return st ? st
              : hf_bundle_verify_text(mem, hf_slice_from(text, len), &options, out_report, err);
}

/* Bytes of a file. */
typedef struct file_part {
    int fd;
    int64_t from;
    int64_t size;
} file_part;

static hf_status file_read(void *ctx, int64_t at, char *room, size_t size, size_t *out_got,
                           hf_err *err)
{
    const file_part *part = ctx;
    ssize_t got;

    if (at >= part->size)
        size = 0;
    else if ((int64_t)size > part->size - at)
        size = (size_t)(part->size - at);
    do
        got = pread(part->fd, room, size, (off_t)(part->from + at));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return hf_err_set(err, HF_IO, "cannot read the bundle: %s", strerror(errno));
    *out_got = (size_t)got;
    return HF_OK;
}

hf_status hf_bundle_verify_fd(int fd, int64_t from, int64_t to, const hf_bundle_keys *keys,
                              hf_mem *mem, hf_value *out_report, hf_err *err)
{
    file_part part = {.fd = fd, .from = from};
    hf_bundle_verify_options options;
    struct stat about;
    hf_status st;

    if (!mem || !out_report || (keys && keys->size != sizeof(*keys)))
        return hf_err_set(err, HF_MISUSE, "memory and a place for the report are needed");
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return hf_err_set(err, HF_IO, "the bundle is no file that can be read at any place");
    if (to <= 0 || to > (int64_t)about.st_size)
        to = (int64_t)about.st_size;
    if (from < 0 || from > to)
        return hf_err_set(err, HF_MISUSE, "the file has no such part");
    part.size = to - from;
    st = options_of(keys, &options, err);
    return st ? st
              : hf_bundle_verify_source(mem, &(hf_bundle_source){file_read, &part, part.size},
                                        &options, out_report, err);
}

hf_status hf_bundle_diff(const char *a, size_t a_len, const char *b, size_t b_len, hf_mem *mem,
                         hf_value *out_diff, hf_err *err)
{
    if (!a || !b || !mem || !out_diff)
        return hf_err_set(err, HF_MISUSE,
                          "two texts, memory and a place for the answer are needed");
    return hf_bundle_diff_texts(mem, hf_slice_from(a, a_len), hf_slice_from(b, b_len), out_diff,
                                err);
}
