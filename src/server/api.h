/* api.h: one API request on its way through the server: what was asked, by whom, in which
   namespace, and the answer that is being made. A handler gets it when credential, role, version,
   namespace and body have been checked, fills the answer, and returns. */
#ifndef HF_SERVER_API_H
#define HF_SERVER_API_H

#include "base/attr.h"
#include "base/mem.h"
#include "holdfast/value.h"
#include "http/http.h"
#include "http/target.h"
#include "server/admission.h"
#include "server/auth.h"
#include "server/route.h"
#include "server/storage.h"

struct hf_server;

enum { HF_API_NAMESPACE_SIZE = 129, HF_API_REQUEST_ID_SIZE = 129 };

typedef struct hf_api {
    struct hf_server *server;
    hf_http_exchange *exchange;
    const hf_http_request *request;
    const hf_route *route;
    hf_mem *mem; /* lives until the answer is sent off */
    hf_http_params params;
    hf_http_query query;
    hf_value body; /* an object, empty when none was sent; NULL for routes without one */
    hf_principal principal;
    char namespace[HF_API_NAMESPACE_SIZE];
    hf_http_reply reply;
    hf_class class;
    char subject[HF_CERTIFICATE_NAME_SIZE]; /* in the client's certificate; "": none */
    bool admitted;                          /* it counts as in work */
    bool shared;                            /* and as its namespace's */
    int64_t admitted_us;
    struct hf_api *next; /* in the queue of the pool */
    bool *later;         /* set by a handler that answers later, by itself */
    void (*resume)(
        struct hf_api *api); /* what a handler thread does instead of the route's handler */
    void *more;              /* its own */
    bool cached;             /* the handler has said how long the answer may be kept */
} hf_api;

/* The value of a {part} of the path by its place, NUL behind it. */
const char *hf_api_param(const hf_api *api, size_t at);

/* The same by the name it has in the route; NULL when the route has none of that name. */
const char *hf_api_param_named(const hf_api *api, const char *name);

/* Which plane it was asked on; of a path without a route the one that it would be in. */
hf_plane hf_api_plane(const hf_api *api);

/* Where the payloads of the request's namespace lie. */
hf_storage hf_api_storage(const hf_api *api);

/* Answers with a value; NULL (memory ran out) becomes 503. */
void hf_api_json(hf_api *api, int status, hf_value value);

/* Adds to the object that is answered what the worker plane says of the server. */
void hf_api_dress(hf_api *api);
/* Adds the members of `object`; NULL (memory ran out): none. */
void hf_api_add(hf_api *api, hf_value object);

/* Answers with the published error body. `reason` is a code; the text a sentence. */
void hf_api_error(hf_api *api, int status, const char *reason, const char *format, ...)
    HF_FORMAT(4, 5);
/* The same with fields at fault: {"name": ["sentence", ...]}. */
void hf_api_invalid(hf_api *api, hf_value validation_errors);
/* The same with a reason of its own. */
void hf_api_invalid_as(hf_api *api, const char *reason, const char *text,
                       hf_value validation_errors);
/* What a status of the engine becomes on the wire. */
void hf_api_status(hf_api *api, hf_status st, const char *text);

/* The engine's "reason: sentence" as an error; without a reason in it, "rejected". */
void hf_api_refuse(hf_api *api, int status, const char *text);

/* `input` or `arguments` of the body, opened; answers and returns false when they cannot be. */
bool hf_api_arguments(hf_api *api, hf_value *out_value);

/* Checks the body against the fields of the route; answers and returns false when it does not fit.
 */
bool hf_api_fields_check(hf_api *api);

/* The same for an object within the body (NULL: the body itself) and fields that are written as
   those of routes are. An object that is not there has none of them. */
bool hf_api_members_check(hf_api *api, const char *within, const char *fields);

/* A whole number from the query, within bounds; answers 422 and returns false for anything else. */
bool hf_api_query_int(hf_api *api, const char *name, int64_t otherwise, int64_t least, int64_t most,
                      int64_t *out_number);

/* Goes on with `resume` on a thread of those that wait; 503 when too many do. The handler returns.
 */
void hf_api_wait(hf_api *api, void (*resume)(hf_api *api));

/* Whether every parameter of the query is one that the route reads (query.def), given once and of
   its type; answers 422 with what is wrong, and which there are, when not. */
bool hf_api_query_check(hf_api *api);

/* true, 1 or yes. */
bool hf_api_query_bool(const hf_api *api, const char *name);

/* Text from the query, NUL behind it; NULL when there is none. */
const char *hf_api_query_text(hf_api *api, const char *name);

/* The page of runs that the query asks for (status, page_size, next_page_token); `more` (may be
   NULL) are further members of the request. Answers and returns false when there is none. */
bool hf_api_runs_page(hf_api *api, hf_value filters, hf_value more, hf_value *out_page);

/* What is recorded of the request with a command: caller, auth, request with its fingerprint, and
   principal. NULL when memory ran out. */
hf_value hf_api_context(hf_api *api);

/* Sends one server-sent event, with an id unless that is 0, on an exchange that streams. False: the
   client is gone, or memory ran out. */
bool hf_api_event(hf_api *api, int64_t id, const char *event, hf_value data);

/* The body of an error, for answers that no handler makes. */
void hf_api_error_body(hf_buf *out, const char *reason, const char *text, hf_value fields);

#endif
