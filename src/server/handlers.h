/* handlers.h: what the routes of route.def call. Each fills api->reply and returns. */
#ifndef HF_SERVER_HANDLERS_H
#define HF_SERVER_HANDLERS_H

#include "server/api.h"

#define HF_ROUTE(id, method, path, plane, role, scope, where, handler, fields, statuses, sentence) \
    void handler(hf_api *api);
#include "server/route.def"
#undef HF_ROUTE

#endif
