/* update_end.h: how an accepted update ended, read from the run's history. */
#ifndef HF_SERVER_UPDATE_END_H
#define HF_SERVER_UPDATE_END_H

#include "base/value.h"
#include "server/api.h"

/* Waits for the end of an update: {"result", "failure_message"?, "sequence"}, or NULL when it did
   not come in time. Blocks. */
hf_value hf_update_end_await(hf_api *api, const char *id, const char *run_id, const char *update_id,
                             int64_t seconds);

/* Puts what is known of an update into an answer. */
void hf_update_end_put(hf_api *api, hf_value_list *body, const char *update_id, hf_value end);

#endif
