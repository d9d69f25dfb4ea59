/* waiting.h: requests that wait until a run has ended or stands still. They wait on the loop and
   hold no thread: the engine says when the run changed, and a handler thread then looks. */
#ifndef HF_SERVER_WAITING_H
#define HF_SERVER_WAITING_H

#include "server/api.h"

/* Answers the request and returns true, or finds that the run goes on. `last`: the time is over, so
   it answers in any case. A handler thread. */
typedef bool hf_waiting_look(hf_api *api, const char *id, bool last);

/* From the handler of a route on the loop: looks, and again whenever the newest run of the instance
   ended (or, unless `ends`, changed), until the look answers; wait_ms 0: looks once. `id` lives as
   long as the request. */
void hf_waiting_begin(hf_api *api, const char *id, int64_t wait_ms, bool ends,
                      hf_waiting_look *look);

#endif
