/* keeper.h: looking after a worker program: it knows where the server is and who it is from its
   environment (HF_URL, HF_TOKEN, HF_WORKER_ID), is started again whenever it ends, and what it held
   then is given back to the server, so that nobody waits for a lease to run out. One thread. */
#ifndef HF_CLI_KEEPER_H
#define HF_CLI_KEEPER_H

#include "base/attr.h"
#include "base/err.h"
#include "base/log.h"

typedef struct hf_keeper hf_keeper;

/* `argv` ends with NULL and is borrowed, as `log` is. `token` may be NULL. */
HF_NODISCARD hf_status hf_keeper_start(char *const *argv, const char *url, const char *token,
                                       const hf_log *log, hf_keeper **out_keeper, hf_err *err);

/* Sees whether it has ended, and whether it is time to start it again: call it every 100 ms. */
void hf_keeper_look(hf_keeper *keeper);

/* Asks it to end, and ends it after `grace_ms`. NULL is allowed. */
void hf_keeper_stop(hf_keeper *keeper, int64_t grace_ms);

#endif
