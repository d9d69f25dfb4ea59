/* offer.h: what a worker asks for and what it is handed: kinds, queues and types of a poll, and a
   task with the history that belongs to it, under its published names. */
#ifndef HF_SERVER_OFFER_H
#define HF_SERVER_OFFER_H

#include "holdfast/worker.h"
#include "server/api.h"

/* The options of a poll for `worker` from the body of the request; `got` and `arg` are the
   caller's. HF_TASK_ACTIVITY and the kinds of runs have polls of their own; `both`: either will do.
   Answers and returns false when it names what there is not. Texts live in the request. */
bool hf_offer_read(hf_api *api, const char *worker, hf_task_kind kind, bool both,
                   hf_poll_opts *out_opts);

/* The task with history and all that belongs to it; NULL: answered with an error already. A thread
   that may block. */
hf_value hf_offer_task(hf_api *api, hf_value task);

/* The same for several, as one answer carries them: a task that cannot be sent goes to others, and
   those that the answer does not deliver are given back; `key` as in hf_handed_watch. */
hf_value hf_offer_tasks(hf_api *api, const hf_value *tasks, size_t count, hf_slice key);

/* The array as a list, to be remembered. NULL: no memory. */
hf_value hf_offer_list(hf_mem *mem, const hf_value *tasks, size_t count);

/* A page of a run's history behind `after` (page 0: all of it): history_events,
   total_history_events, next_history_page_token; *out_arguments (may be NULL): what the run was
   started with. NULL: answered already. */
hf_value hf_offer_history(hf_api *api, const char *id, const char *run_id, int64_t after,
                          int64_t page, hf_value *out_arguments);

/* Where a page begins, as clients carry it from one request to the next: the number of the event
   before it, in base64. Read: also the plain number; false: it is neither, and answered. */
hf_value hf_offer_page_token(hf_mem *mem, int64_t after);
bool hf_offer_page_read(hf_api *api, const char *token, int64_t *out_after);

/* A moment as texts of the wire have it; NULL: no memory. */
const char *hf_offer_time(hf_mem *mem, int64_t us);

/* {"id", "run_id"} of a task that was handed out here; NULL: nothing is known of it. */
hf_value hf_offer_run(hf_api *api, const char *task_id);

/* Why the run of a task that was handed out here is over: run_cancelled, run_terminated or
   run_closed; NULL: it is not, or nothing is known of it. A thread that may block. */
const char *hf_offer_stopped(hf_api *api, const char *task_id);

/* {"task": ..., "poll_status": "leased", "lease": {...}} */
hf_value hf_offer_lease(hf_api *api, hf_value task);

#endif
