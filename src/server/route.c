/* route.c: the table and what is read from it. */
#include "server/route.h"

#include <string.h>

#include "base/json.h"
#include "http/target.h"
#include "server/handlers.h"

static const hf_route route_table[] = {
#define HF_ROUTE(id, method, path, plane, role, scope, where, handler, fields, statuses, sentence) \
    {id,      method, path,     HF_PLANE_##plane, role, HF_SCOPE_##scope, HF_WHERE_##where,        \
     handler, fields, statuses, sentence},
#include "server/route.def"
#undef HF_ROUTE
};

static const char *const query_table[HF_ROUTES] = {
#define HF_QUERY(id, fields) [id] = fields,
#include "server/query.def"
#undef HF_QUERY
};

const char *hf_route_query(const hf_route *route)
{
    return query_table[route->id] ? query_table[route->id] : "";
}

const hf_route *hf_route_at(size_t i)
{
    return i < HF_ROUTES ? &route_table[i] : NULL;
}

const hf_route *hf_route_find(hf_http_method method, hf_slice path, unsigned *out_methods)
{
    hf_http_method wanted = method == HF_HTTP_HEAD ? HF_HTTP_GET : method;

    *out_methods = 0;
    for (size_t i = 0; i < HF_ROUTES; i++) {
        if (!hf_http_path_fits(route_table[i].path, path) ||
            (route_table[i].id == HF_ROUTE_PAGE &&
             hf_slice_starts(path, HF_SLICE("/console/api/"))))
            continue;
        if (route_table[i].method == wanted)
            return &route_table[i];
        *out_methods |= 1U << route_table[i].method;
    }
    return NULL;
}

bool hf_route_field_next(hf_slice *rest, hf_route_field *out_field)
{
    hf_slice part;
    hf_slice name;
    const char *open;

    *out_field = (hf_route_field){0};
    if (!hf_slice_split(rest, ',', &part))
        return false;
    part = hf_slice_trim(part);
    if (part.len == 0)
        return false;
    (void)hf_slice_split(&part, ':', &name);
    if (name.len && name.ptr[name.len - 1] == '*') {
        out_field->required = true;
        name.len--;
    }
    out_field->name = name;
    open = memchr(part.ptr, '(', part.len);
    if (open) {
        size_t at = (size_t)(open - part.ptr);

        (void)hf_slice_int(hf_slice_from(open + 1, part.len - at - 2), &out_field->max);
        part.len = at;
    }
    out_field->type = part;
    return true;
}

hf_slice hf_route_field_plain(hf_slice type)
{
    if (hf_slice_equal(type, HF_SLICE("text")))
        return HF_SLICE("string");
    if (hf_slice_equal(type, HF_SLICE("map")))
        return HF_SLICE("object");
    return hf_slice_equal(type, HF_SLICE("list")) ? HF_SLICE("array") : type;
}

bool hf_route_takes_document(const hf_route *route)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;

    return route->fields && hf_route_field_next(&rest, &field) &&
           hf_slice_equal(field.type, HF_SLICE("document"));
}

/* ---- the OpenAPI document */

static void text_add(hf_buf *out, const char *key, hf_slice text)
{
    hf_buf_add_format(out, "\"%s\":\"", key);
    hf_json_add_escaped(out, text);
    hf_buf_add_byte(out, '"');
}

static void schema_add(hf_buf *out, const hf_route_field *field)
{
    hf_slice rest = field->type;
    hf_slice word;

    if (memchr(field->type.ptr, '|', field->type.len)) {
        const char *between = "";

        hf_buf_add_text(out, "{\"enum\":[");
        while (hf_slice_split(&rest, '|', &word)) {
            hf_buf_add_format(out, "%s\"%.*s\"", between, (int)word.len, word.ptr);
            between = ",";
        }
        hf_buf_add_text(out, "]}");
    } else if (hf_slice_equal(field->type, HF_SLICE("any"))) {
        hf_buf_add_text(out, "true");
    } else {
        hf_slice type = hf_slice_equal(field->type, HF_SLICE("int")) ? HF_SLICE("integer")
                        : hf_slice_equal(field->type, HF_SLICE("bool"))
                            ? HF_SLICE("boolean")
                            : hf_route_field_plain(field->type);

        hf_buf_add_format(out, "{\"type\":[\"%.*s\"%s]", (int)type.len, type.ptr,
                          field->required ? "" : ",\"null\"");
        if (field->max)
            hf_buf_add_format(out, ",\"maxLength\":%lld", (long long)field->max);
        hf_buf_add_byte(out, '}');
    }
}

static void body_add(hf_buf *out, const hf_route *route)
{
    const char *fields = hf_route_takes_document(route) ? "" : route->fields;
    hf_slice rest = hf_slice_of(fields);
    hf_route_field field;
    const char *between = "";

    hf_buf_add_text(out, ",\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{"
                         "\"type\":\"object\",\"additionalProperties\":true,\"properties\":{");
    while (hf_route_field_next(&rest, &field)) {
        if (hf_slice_equal(field.type, HF_SLICE("refused")))
            continue;
        hf_buf_add_format(out, "%s\"%.*s\":", between, (int)field.name.len, field.name.ptr);
        schema_add(out, &field);
        between = ",";
    }
    hf_buf_add_text(out, "},\"required\":[");
    rest = hf_slice_of(fields);
    between = "";
    while (hf_route_field_next(&rest, &field))
        if (field.required) {
            hf_buf_add_format(out, "%s\"%.*s\"", between, (int)field.name.len, field.name.ptr);
            between = ",";
        }
    hf_buf_add_text(out, "]}}}}");
}

static void parameter_add(hf_buf *out, const char **between, const char *in, hf_slice name,
                          bool required)
{
    hf_buf_add_format(out,
                      "%s{\"name\":\"%.*s\",\"in\":\"%s\",\"required\":%s,"
                      "\"schema\":{\"type\":\"string\"}}",
                      *between, (int)name.len, name.ptr, in, required ? "true" : "false");
    *between = ",";
}

/* A map is written name[KEY]=value. */
static void query_add(hf_buf *out, const char **between, const hf_route_field *field)
{
    hf_route_field there = *field;
    bool map = hf_slice_equal(field->type, HF_SLICE("object"));

    there.required = true; /* a parameter that is there is not null */
    hf_buf_add_format(out, "%s{\"name\":\"%.*s\",\"in\":\"query\",\"required\":false,%s\"schema\":",
                      *between, (int)field->name.len, field->name.ptr,
                      map ? "\"style\":\"deepObject\",\"explode\":true," : "");
    schema_add(out, &there);
    hf_buf_add_byte(out, '}');
    *between = ",";
}

static void parameters_add(hf_buf *out, const hf_route *route)
{
    const char *between = "";
    const char *at = route->path;
    hf_route_field field;
    hf_slice rest;

    hf_buf_add_text(out, ",\"parameters\":[");
    while ((at = strchr(at, '{'))) {
        size_t len = strcspn(++at, "}");

        parameter_add(out, &between, "path", hf_slice_from(at, len), true);
    }
    if (route->plane == HF_PLANE_CONTROL)
        parameter_add(out, &between, "header", HF_SLICE("X-Durable-Workflow-Control-Plane-Version"),
                      true);
    if (route->plane == HF_PLANE_WORKER)
        parameter_add(out, &between, "header", HF_SLICE("X-Durable-Workflow-Protocol-Version"),
                      true);
    if (route->scope == HF_SCOPE_NAMESPACE)
        parameter_add(out, &between, "header", HF_SLICE("X-Namespace"), false);
    rest = hf_slice_of(hf_route_query(route));
    while (hf_route_field_next(&rest, &field))
        query_add(out, &between, &field);
    hf_buf_add_byte(out, ']');
}

static bool is_guarded(const hf_route *route)
{
    return route->plane != HF_PLANE_OPEN && route->plane != HF_PLANE_ANSWER;
}

static bool is_scoped(const hf_route *route)
{
    return route->scope == HF_SCOPE_NAMESPACE;
}

static bool has_body(const hf_route *route)
{
    return route->fields != NULL;
}

static bool is_versioned(const hf_route *route)
{
    return route->plane == HF_PLANE_CONTROL || route->plane == HF_PLANE_WORKER || has_body(route);
}

/* What routes answer that the table does not repeat for each of them. */
static const struct {
    const char *status;
    const char *text;
    bool (*said)(const hf_route *route);
} common[] = {
    {"400", "A version header, the target or the JSON of the body is not as it must be.",
     is_versioned},
    {"401", "No credential, or one that does not hold.", is_guarded},
    {"403", "The role does not allow it.", is_guarded},
    {"404", "There is no such namespace.", is_scoped},
    {"413", "The body is too long.", has_body},
    {"415", "The body is not JSON, or does not say so.", has_body},
    {"422", "A field is not as it must be; the body says which.", has_body},
    {"429", "More is asked than can be done now.", is_guarded},
    {"503", "The server stops, or cannot do it now.", is_guarded},
};

static void responses_add(hf_buf *out, const hf_route *route)
{
    hf_slice rest = hf_slice_of(route->statuses);
    hf_slice status;

    hf_buf_add_text(out, ",\"responses\":{\"200\":{\"description\":\"Done.\"}");
    while (route->statuses[0] && hf_slice_split(&rest, ' ', &status))
        hf_buf_add_format(out, ",\"%.*s\":{\"description\":\"%s\"}", (int)status.len, status.ptr,
                          status.ptr[0] == '2' ? "Done." : "Refused; the body says why.");
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        if (common[i].said(route) && !strstr(route->statuses, common[i].status))
            hf_buf_add_format(out, ",\"%s\":{\"description\":\"%s\"}", common[i].status,
                              common[i].text);
    hf_buf_add_byte(out, '}');
}

static void operation_add(hf_buf *out, const hf_route *route)
{
    char method[16] = "";

    for (size_t i = 0; hf_http_method_text(route->method)[i]; i++)
        method[i] = (char)(hf_http_method_text(route->method)[i] - 'A' + 'a');
    hf_buf_add_format(out, "\"%s\":{", method);
    text_add(out, "summary", hf_slice_of(route->sentence));
    hf_buf_add_format(out, ",\"x-holdfast-role\":\"%s\"",
                      route->plane == HF_PLANE_OPEN ? "" : hf_role_text(route->role));
    if (route->plane == HF_PLANE_OPEN)
        hf_buf_add_text(out, ",\"security\":[]");
    parameters_add(out, route);
    if (route->fields)
        body_add(out, route);
    responses_add(out, route);
    hf_buf_add_byte(out, '}');
}

/* Whether an earlier row has the same path: it took this one along. */
static bool path_is_done(size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(route_table[i].path, route_table[at].path) == 0)
            return true;
    return false;
}

void hf_route_openapi(hf_buf *out, const char *version)
{
    const char *between = "";

    hf_buf_add_text(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Holdfast\",");
    text_add(out, "version", hf_slice_of(version));
    hf_buf_add_text(out, "},\"security\":[{\"credential\":[]}],\"components\":{"
                         "\"securitySchemes\":{\"credential\":{\"type\":\"apiKey\",\"in\":"
                         "\"header\",\"name\":\"Authorization\"}}},\"paths\":{");
    for (size_t i = 0; i < HF_ROUTES; i++) {
        const char *inner = "";

        if (path_is_done(i))
            continue;
        hf_buf_add_format(out, "%s\"%s\":{", between, route_table[i].path);
        for (size_t j = i; j < HF_ROUTES; j++)
            if (strcmp(route_table[i].path, route_table[j].path) == 0) {
                hf_buf_add_text(out, inner);
                operation_add(out, &route_table[j]);
                inner = ",";
            }
        hf_buf_add_byte(out, '}');
        between = ",";
    }
    hf_buf_add_text(out, "}}");
}

/* ---- the reference page */

static const char *plane_text(const hf_route *route)
{
    switch (route->plane) {
    case HF_PLANE_OPEN:
        return "nobody is asked";
    case HF_PLANE_DISCOVERY:
        return "any role";
    case HF_PLANE_CONTROL:
    case HF_PLANE_WORKER:
    case HF_PLANE_CONSOLE:
        break;
    case HF_PLANE_WEBHOOK:
        return "webhook";
    case HF_PLANE_ANSWER:
        return "who has the link";
    }
    return hf_role_text(route->role);
}

void hf_route_markdown(hf_buf *out)
{
    hf_buf_add_text(out, "# HTTP API\n\nMade from `src/server/route.def` by `tools/docgen http`. "
                         "[The server](../operate/server.md) explains headers, roles and limits; "
                         "`GET /api/openapi.json` has the same list for machines.\n\n"
                         "| request | role | fields of the body, ?parameters | what it does |\n"
                         "| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < HF_ROUTES; i++) {
        const hf_route *route = &route_table[i];
        hf_slice rest = hf_slice_of(route->fields);
        hf_route_field field;
        const char *between = "";

        hf_buf_add_format(out, "| `%s %s` | %s | ", hf_http_method_text(route->method), route->path,
                          plane_text(route));
        while (route->fields && hf_route_field_next(&rest, &field)) {
            if (hf_slice_equal(field.type, HF_SLICE("refused")))
                continue;
            hf_buf_add_format(out, "%s`%.*s`%s", between, (int)field.name.len, field.name.ptr,
                              field.required ? "*" : "");
            between = ", ";
        }
        rest = hf_slice_of(hf_route_query(route));
        while (hf_route_field_next(&rest, &field)) {
            hf_buf_add_format(out, "%s`?%.*s`", between, (int)field.name.len, field.name.ptr);
            between = ", ";
        }
        hf_buf_add_format(out, " | %s |\n", route->sentence);
    }
    hf_buf_add_text(out, "\nFields with a star are required.\n");
}
