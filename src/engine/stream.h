/* stream.h: the message streams of a run's instance, as its code reads them. */
#ifndef HF_ENGINE_STREAM_H
#define HF_ENGINE_STREAM_H

#include "replay/replay.h"
#include "store/db.h"

/* An hf_replay_messages_fn; its ctx is the live run. Called on the run's thread while its code is
   running. */
HF_NODISCARD hf_status hf_stream_read(void *ctx, hf_mem *mem, hf_slice stream, int64_t after,
                                      size_t max, hf_value *out_messages, hf_err *err);

/* The messages of an instance's stream behind a number, oldest first: at most `max` of them, 0
   means 100, never over 1,000. Each is {position, from, payload_ref}. */
HF_NODISCARD hf_status hf_stream_messages(hf_db *db, int64_t instance, hf_mem *mem, hf_slice stream,
                                          int64_t after, size_t max, hf_value *out_messages,
                                          hf_err *err);

#endif
