/* shelf_api.h: opened bundles on their way to handlers. */
#ifndef HF_SERVER_SHELF_API_H
#define HF_SERVER_SHELF_API_H

#include "server/api.h"
#include "server/shelf.h"

/* The bundle that the path names ({bundle}); answers and returns false when there is none. Whoever
   gets it gives it back (hf_shelf_return). */
bool hf_api_bundle_take(hf_api *api, hf_shelf_item **out_item);

/* The same of another id. */
bool hf_api_bundle_find(hf_api *api, const char *id, hf_shelf_item **out_item);

#endif
