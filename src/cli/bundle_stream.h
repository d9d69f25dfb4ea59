/* bundle_stream.h: history bundles one after the other out of a file or pipe: JSON objects with
   nothing but white space between them. One bundle is in memory at a time, and each is handed over
   as soon as its last brace is read. One thread. */
#ifndef HF_CLI_BUNDLE_STREAM_H
#define HF_CLI_BUNDLE_STREAM_H

#include "base/err.h"
#include "base/slice.h"

typedef struct hf_bundle_stream hf_bundle_stream;

/* `path` "-" is standard input. HF_NOTFOUND, HF_IO. */
HF_NODISCARD hf_status hf_bundle_stream_open(const char *path, hf_bundle_stream **out_stream,
                                             hf_err *err);
void hf_bundle_stream_close(hf_bundle_stream *stream); /* NULL is allowed */

/* The next one, borrowed until the next call; empty at the end. HF_INVALID for what is no object or
   is cut off, HF_TOOBIG. */
HF_NODISCARD hf_status hf_bundle_stream_next(hf_bundle_stream *stream, hf_slice *out_text,
                                             hf_err *err);

/* All that is there, whatever it is, as a file that can be read at any place, for whoever judges
   the bytes themselves; it lives as long as the stream. HF_IO. */
HF_NODISCARD hf_status hf_bundle_stream_file(hf_bundle_stream *stream, int *out_fd, hf_err *err);

/* The first one, which there must be. */
HF_NODISCARD hf_status hf_bundle_stream_only(hf_bundle_stream *stream, hf_slice *out_text,
                                             hf_err *err);

#endif
