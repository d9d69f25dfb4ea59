/* bundle_stream.c: see bundle_stream.h. It counts braces and knows strings, no more: what is inside
   is for whoever reads the bundle to judge. */
#include "cli/bundle_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

enum { PIECE_BYTES = 64 * 1024, BUNDLE_BYTES_MAX = 64 << 20 };

struct hf_bundle_stream {
    int fd;
    bool ended;
    const char *name;
    hf_buf text;  /* the bundle at hand, and what was read behind it */
    size_t taken; /* of `text`, by the bundle that was handed over */
    FILE *kept;   /* what came out of a pipe; NULL: nothing is kept */
};

/* Where a walk over the text stands. */
typedef struct walk {
    size_t at;
    size_t depth;
    bool in_string;
    bool escaped;
} walk;

hf_status hf_bundle_stream_open(const char *path, hf_bundle_stream **out_stream, hf_err *err)
{
    hf_bundle_stream *stream = hf_alloc(sizeof(*stream));

    if (!stream)
        return hf_err_nomem(err, "a bundle");
    stream->name = path;
    stream->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (stream->fd < 0) {
        hf_alloc_free(stream);
        return hf_err_set(err, errno == ENOENT ? HF_NOTFOUND : HF_IO, "cannot open %s: %s", path,
                          strerror(errno));
    }
    *out_stream = stream;
    return HF_OK;
}

void hf_bundle_stream_close(hf_bundle_stream *stream)
{
    if (!stream)
        return;
    if (stream->fd != STDIN_FILENO)
        (void)close(stream->fd);
    if (stream->kept)
        (void)fclose(stream->kept);
    hf_buf_fini(&stream->text);
    hf_alloc_free(stream);
}

/* A pipe gives what there is: whoever writes waits for the answer to it. */
static hf_status piece_read(hf_bundle_stream *stream, hf_err *err)
{
    char *room = hf_buf_reserve(&stream->text, PIECE_BYTES);
    ssize_t got;

    if (!room)
        return hf_err_nomem(err, "a bundle");
    do
        got = read(stream->fd, room, PIECE_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return hf_err_set(err, HF_IO, "cannot read %s: %s", stream->name, strerror(errno));
    hf_buf_advance(&stream->text, (size_t)got);
    stream->ended = got == 0;
    return HF_OK;
}

/* Goes on through what there is; true when the last brace was met. */
static bool object_walk(hf_slice text, walk *w)
{
    while (w->at < text.len) {
        char c = text.ptr[w->at++];

        if (w->in_string) {
            w->in_string = w->escaped || c != '"';
            w->escaped = !w->escaped && c == '\\';
        } else if (c == '"') {
            w->in_string = true;
        } else if (c == '{' || c == '[') {
            w->depth++;
        } else if ((c == '}' || c == ']') && --w->depth == 0) {
            return true;
        }
    }
    return false;
}

/* Forgets the bundle that was handed over and the white space behind it. */
static hf_status begin_find(hf_bundle_stream *stream, bool *out_found, hf_err *err)
{
    hf_status st = HF_OK;

    *out_found = false;
    for (;;) {
        hf_slice text = hf_buf_slice(&stream->text);

        while (stream->taken < text.len && strchr(" \t\r\n", text.ptr[stream->taken]))
            stream->taken++;
        if (stream->taken < text.len)
            break;
        hf_buf_clear(&stream->text);
        stream->taken = 0;
        if (stream->ended)
            return HF_OK;
        st = piece_read(stream, err);
        if (st)
            return st;
    }
    stream->text.len -= stream->taken;
    memmove(stream->text.ptr, stream->text.ptr + stream->taken, stream->text.len + 1);
    stream->taken = 0;
    *out_found = hf_buf_slice(&stream->text).ptr[0] == '{';
    return *out_found ? HF_OK
                      : hf_err_set(err, HF_INVALID, "%s is no history bundle: it is no JSON object",
                                   stream->name);
}

hf_status hf_bundle_stream_next(hf_bundle_stream *stream, hf_slice *out_text, hf_err *err)
{
    walk w = {0};
    bool found = false;
    hf_status st = begin_find(stream, &found, err);

    *out_text = (hf_slice){0};
    if (st || !found)
        return st;
    while (!object_walk(hf_buf_slice(&stream->text), &w)) {
        if (stream->ended)
            return hf_err_set(err, HF_INVALID, "%s is cut off: the bundle has no end",
                              stream->name);
        if (stream->text.len > BUNDLE_BYTES_MAX)
            return hf_err_set(err, HF_TOOBIG, "%s is bigger than any bundle", stream->name);
        st = piece_read(stream, err);
        if (st)
            return st;
    }
    stream->taken = w.at;
    *out_text = hf_slice_from(hf_buf_slice(&stream->text).ptr, w.at);
    return HF_OK;
}

/* What comes out of a pipe is kept in a file without a name. */
static hf_status pipe_keep(hf_bundle_stream *stream, hf_err *err)
{
    hf_status st = HF_OK;

    stream->kept = tmpfile();
    if (!stream->kept)
        return hf_err_set(err, HF_IO, "cannot make a temporary file: %s", strerror(errno));
    while (!st && !stream->ended) {
        st = piece_read(stream, err);
        if (!st && stream->text.len &&
            fwrite(stream->text.ptr, 1, stream->text.len, stream->kept) != stream->text.len)
            st = hf_err_set(err, HF_IO, "cannot write a temporary file: %s", strerror(errno));
        hf_buf_clear(&stream->text);
    }
    if (!st && fflush(stream->kept) != 0)
        st = hf_err_set(err, HF_IO, "cannot write a temporary file: %s", strerror(errno));
    return st;
}

hf_status hf_bundle_stream_file(hf_bundle_stream *stream, int *out_fd, hf_err *err)
{
    struct stat about;
    hf_status st = HF_OK;

    *out_fd = stream->fd;
    if (fstat(stream->fd, &about) == 0 && S_ISREG(about.st_mode))
        return HF_OK;
    st = pipe_keep(stream, err);
    if (!st)
        *out_fd = fileno(stream->kept);
    return st;
}

hf_status hf_bundle_stream_only(hf_bundle_stream *stream, hf_slice *out_text, hf_err *err)
{
    hf_status st = hf_bundle_stream_next(stream, out_text, err);

    if (!st && !out_text->len)
        st = hf_err_set(err, HF_INVALID, "%s is empty", stream->name);
    return st;
}
