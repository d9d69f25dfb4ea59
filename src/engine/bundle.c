/* bundle.c: what tool.h does with history bundles, without any store. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holdfast/tool.h"
#include "project/bundle_verify.h"

static hf_bundle_verify_options options_of(const hf_bundle_keys *keys)
{
    hf_bundle_verify_options options = {0};

    if (keys) {
        options.key = hf_slice_of(keys->key);
        options.public_key = hf_slice_of(keys->public_key);
        options.require_signature = keys->require_signature;
    }
    return options;
}

hf_status hf_bundle_verify(const char *text, size_t len, const hf_bundle_keys *keys, hf_mem *mem,
                           hf_value *out_report, hf_err *err)
{
    const hf_bundle_verify_options options = options_of(keys);

    if (!text || !mem || !out_report || (keys && keys->size != sizeof(*keys)))
        return hf_err_set(err, HF_MISUSE, "a text, memory and a place for the report are needed");
    return hf_bundle_verify_text(mem, hf_slice_from(text, len), &options, out_report, err);
}

static hf_status file_read(void *ctx, int64_t at, char *room, size_t size, size_t *out_got,
                           hf_err *err)
{
    const int *fd = ctx;
    ssize_t got;

    do
        got = pread(*fd, room, size, (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return hf_err_set(err, HF_IO, "cannot read the bundle: %s", strerror(errno));
    *out_got = (size_t)got;
    return HF_OK;
}

hf_status hf_bundle_verify_fd(int fd, const hf_bundle_keys *keys, hf_mem *mem, hf_value *out_report,
                              hf_err *err)
{
    const hf_bundle_verify_options options = options_of(keys);
    hf_bundle_source source = {.read = file_read, .ctx = &fd};
    struct stat about;

    if (!mem || !out_report || (keys && keys->size != sizeof(*keys)))
        return hf_err_set(err, HF_MISUSE, "memory and a place for the report are needed");
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return hf_err_set(err, HF_IO, "the bundle is no file that can be read at any place");
    source.size = (int64_t)about.st_size;
    return hf_bundle_verify_source(mem, &source, &options, out_report, err);
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
