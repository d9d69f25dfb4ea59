/* api_worker.h: what the answers of the worker plane have in common. */
#ifndef HF_SERVER_API_WORKER_H
#define HF_SERVER_API_WORKER_H

#include "server/api.h"

enum { HF_WORKER_STALE_SECONDS = 60 }; /* a worker that is silent for so long counts as gone */

/* What this server can do for workers, as every answer of the plane says. */
hf_value hf_worker_capabilities(hf_mem *mem);

/* The same as members of an object, with the version: made once. */
void hf_worker_plane(hf_buf *out);

/* Workers of the namespace, as cluster/info sums them up. */
hf_value hf_worker_fleet(hf_api *api);

/* Answers with the envelope of the plane around the members of `object`; NULL becomes 503. */
void hf_worker_json(hf_api *api, int status, hf_value object);

/* The published error of the plane; the text is the engine's, "reason: sentence". */
void hf_worker_refuse(hf_api *api, hf_status st, const char *engine_text);

/* The sentence of such a text. */
const char *hf_worker_sentence(const char *text);

/* What the fleet calls a worker of the request's namespace. */
hf_slice hf_worker_key(hf_api *api, const char *worker);

/* What a report is remembered under: who says what of which task; ptr NULL: no memory. */
hf_slice hf_worker_report_key(hf_api *api);

/* True: this very report was recorded before, and is answered as it was then. */
bool hf_worker_repeated(hf_api *api);

/* Answers a report that was recorded, and remembers the answer for when it comes again. */
void hf_worker_recorded(hf_api *api, hf_value said);

/* Who asks: lease_owner or worker_id of the body. Answers and returns NULL when it says neither. */
const char *hf_worker_name(hf_api *api);

/* ---- workers that are programs of ours (api_native.c) */

/* Whether a poll asks for history as it is stored. */
bool hf_native_wanted(hf_api *api);

/* The task with that history; NULL: answered already. */
hf_value hf_native_task(hf_api *api, hf_value task);

/* A page of the same: at most `size` events (0: all) behind `after`. NULL: it was answered. */
hf_value hf_native_history(hf_api *api, hf_value task, int64_t after, int64_t size);

/* Records what it declares; false: answered already. */
bool hf_native_declare(hf_api *api);

#endif
