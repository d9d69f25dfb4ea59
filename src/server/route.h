/* route.h: the one table of what is served. Dispatch, the OpenAPI document, the authorization
   matrix and the reference page are made from it; a handler without a row cannot be reached. */
#ifndef HF_SERVER_ROUTE_H
#define HF_SERVER_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/slice.h"
#include "http/request.h"
#include "server/auth.h"

struct hf_api;

typedef enum hf_plane {
    HF_PLANE_OPEN,
    HF_PLANE_DISCOVERY,
    HF_PLANE_CONTROL,
    HF_PLANE_WORKER,
    HF_PLANE_WEBHOOK,
    HF_PLANE_CONSOLE,
    HF_PLANE_ANSWER
} hf_plane;

enum { HF_PLANES = HF_PLANE_ANSWER + 1 };

typedef enum hf_scope { HF_SCOPE_NONE, HF_SCOPE_NAMESPACE } hf_scope;

typedef enum hf_where { HF_WHERE_LOOP, HF_WHERE_POOL, HF_WHERE_WAIT } hf_where;

typedef enum hf_route_id {
#define HF_ROUTE(id, method, path, plane, role, scope, where, handler, fields, statuses, sentence) \
    id,
#include "server/route.def"
#undef HF_ROUTE
    HF_ROUTES
} hf_route_id;

typedef struct hf_route {
    hf_route_id id;
    hf_http_method method;
    const char *path;
    hf_plane plane;
    hf_role role;
    hf_scope scope;
    hf_where where;
    void (*handle)(struct hf_api *api);
    const char *fields;   /* NULL: no body */
    const char *statuses; /* "201 409" */
    const char *sentence;
} hf_route;

const hf_route *hf_route_at(size_t i); /* NULL beyond the end */

/* The route of a method and path. NULL: there is none; *out_methods then has a bit 1 << method for
   each method that the path does have. HEAD finds GET. */
const hf_route *hf_route_find(hf_http_method method, hf_slice path, unsigned *out_methods);

/* What the route reads from the query string, written as fields are; "": nothing. */
const char *hf_route_query(const hf_route *route);

/* One field of a route's request. */
typedef struct hf_route_field {
    hf_slice name;
    hf_slice type; /* "string", "a|b" ... */
    int64_t max;   /* characters; 0: no bound of its own */
    bool required;
} hf_route_field;

/* Takes the next field of *rest; false at the end. */
bool hf_route_field_next(hf_slice *rest, hf_route_field *out_field);

/* What a field is without what route.def says of its characters: string, object, array ... */
hf_slice hf_route_field_plain(hf_slice type);

/* Whether the body is one document, which the handler reads and which may be long: its one field,
   of the type document, names it for people. */
bool hf_route_takes_document(const hf_route *route);

/* The whole table as an OpenAPI 3.1 document, and as a page of Markdown. */
void hf_route_openapi(hf_buf *out, const char *version);
void hf_route_markdown(hf_buf *out);

#endif
