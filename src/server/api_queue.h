/* api_queue.h: queues, builds and workers of a request's namespace, for the routes that show them.
   Values live in the request's arena. */
#ifndef HF_SERVER_API_QUEUE_H
#define HF_SERVER_API_QUEUE_H

#include "server/api.h"

/* Workers that registered, as GET /api/workers has them; whether one serves a queue, and whether it
   is "active", "draining" or "stale". */
hf_value hf_queue_workers(hf_api *api);
bool hf_queue_served_by(hf_value worker, const char *queue);
bool hf_queue_worker_is(hf_value worker, const char *status);

/* What lies at the queues (hf_workers_queues) and who holds what (hf_tasks_held); what was said of
   builds (hf_builds), read anew. They answer and return false when that cannot be told. */
bool hf_queue_look(hf_api *api, hf_value *out_queues, hf_value *out_held);
bool hf_queue_builds(hf_api *api, hf_value *out_builds);

/* One of the queues by its name; NULL: nobody came there yet. */
hf_value hf_queue_named(hf_value queues, const char *name);

/* Since when new runs of the queue begin with the build ("": with none), 0: they do not. Of builds
   promoted in one microsecond the first of the list counts, as for the store. */
int64_t hf_queue_promoted(hf_value builds, const char *queue, const char *build);

/* The texts that objects have under a key, each once. */
hf_value hf_queue_texts(hf_mem *mem, hf_value objects, const char *key);

/* A moment as text; null for 0. */
hf_value hf_queue_time(hf_mem *mem, int64_t us);

/* Those that are there and know the type. */
hf_value hf_queue_workers_of(hf_mem *mem, hf_value workers, const char *type, bool activity);

#endif
