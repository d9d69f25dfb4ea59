/* sweep.h: files of the storage directory whose time is over. A file is a copy of a payload for
   somebody who was handed a reference to it; the payload itself is in the store, and the file is
   written again whenever a reference leaves again. So a file goes when none has left for as long as
   its namespace keeps closed runs: never one that another run was shown with lately, and at last
   every one of runs that are gone, also when a process died between removing one and the other. */
#ifndef HF_SERVER_SWEEP_H
#define HF_SERVER_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct hf_server;

typedef struct hf_sweeper hf_sweeper;

/* Removes at most `most` files of the namespace that nobody was handed since `before_us`; *out_more
   when there are more. What cannot be removed stays. */
HF_NODISCARD hf_status hf_sweep_files(const char *root, const char *space, int64_t before_us,
                                      int64_t most, int64_t *out_removed, bool *out_more,
                                      hf_err *err);

/* The same by the namespace's own time; any thread, may block. A server without a storage directory
   has none to remove. */
HF_NODISCARD hf_status hf_sweep_space(struct hf_server *server, const char *space, int64_t most,
                                      int64_t *out_removed, bool *out_more, hf_err *err);

/* A thread that does so for all namespaces, now and every hour. */
HF_NODISCARD hf_status hf_sweeper_open(struct hf_server *server, hf_sweeper **out_sweeper,
                                       hf_err *err);
void hf_sweeper_close(hf_sweeper *sweeper); /* NULL is allowed */

#endif
