/* api.c: answers and their errors, one form for all routes; and reading what was sent. */
#include "server/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/utf8.h"
#include "holdfast/view.h"
#include "server/api_worker.h"
#include "server/server_impl.h"

enum { TEXT_BYTES = 600, RUNS_PAGE = 50, RUNS_PAGE_MAX = 200 };

/* What helps against a reason: shown to people, and stable enough to be matched. */
typedef struct remedy_row {
    const char *reason;
    const char *text;
} remedy_row;

static const remedy_row remedies[] = {
    {"unauthenticated", "Send a credential: holdfast token create makes one."},
    {"forbidden", "Use a credential with another role."},
    {"missing_control_plane_version", "Send X-Durable-Workflow-Control-Plane-Version: 2."},
    {"unsupported_control_plane_version", "Send X-Durable-Workflow-Control-Plane-Version: 2."},
    {"missing_protocol_version",
     "Send X-Durable-Workflow-Protocol-Version: " HF_WORKER_PROTOCOL_TEXT "."},
    {"unsupported_protocol_version",
     "Send X-Durable-Workflow-Protocol-Version: " HF_WORKER_PROTOCOL_TEXT " or older."},
    {"namespace_not_found", "Create the namespace, or name another in X-Namespace."},
    {"unsupported_media_type", "Send Content-Type: application/json."},
    {"overloaded", "Try again after the time in Retry-After."},
    {"no_owner", "Try again after the time in Retry-After."},
    {"draining", "Try again: another server, or this one after its restart."},
    {"console_header_missing", "Send X-Holdfast-Console: 1."},
    {"host_not_allowed", "Name the host with --allow-host."},
    {"origin_not_allowed", "Requests of browsers must come from this server's own pages."},
};

static const char *remedy_of(const char *reason)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
        if (strcmp(remedies[i].reason, reason) == 0)
            return remedies[i].text;
    return NULL;
}

static void text_add(hf_buf *out, const char *key, const char *text)
{
    hf_buf_add_format(out, "\"%s\":", key);
    if (!text) {
        hf_buf_add_text(out, "null");
        return;
    }
    hf_buf_add_byte(out, '"');
    hf_json_add_escaped(out, hf_slice_of(text));
    hf_buf_add_byte(out, '"');
}

static void error_body(hf_buf *out, const char *reason, const char *text, const char *remedy,
                       hf_value fields)
{
    hf_buf_add_byte(out, '{');
    text_add(out, "message", text);
    hf_buf_add_byte(out, ',');
    text_add(out, "error", reason);
    hf_buf_add_byte(out, ',');
    text_add(out, "reason", reason);
    hf_buf_add_byte(out, ',');
    text_add(out, "remediation", remedy);
    if (fields) {
        hf_buf_add_text(out, ",\"errors\":");
        hf_json_write(out, fields);
        hf_buf_add_text(out, ",\"validation_errors\":");
        hf_json_write(out, fields);
    }
    hf_buf_add_byte(out, '}');
}

bool hf_api_event(hf_api *api, int64_t id, const char *event, hf_value data)
{
    hf_buf text = {0};
    hf_err err = {0};
    bool sent;

    if (id)
        hf_buf_add_format(&text, "id: %lld\n", (long long)id);
    hf_buf_add_format(&text, "event: %s\ndata: ", event);
    hf_json_write(&text, data); /* one line */
    hf_buf_add_text(&text, "\n\n");
    sent =
        data && hf_buf_ok(&text) && !hf_http_stream_send(api->exchange, hf_buf_slice(&text), &err);
    hf_buf_fini(&text);
    return sent;
}

void hf_api_error_body(hf_buf *out, const char *reason, const char *text, hf_value fields)
{
    error_body(out, reason, text, remedy_of(reason), fields);
}

/* What helps whoever asked this. */
static const char *remedy_for(const hf_api *api, const char *reason)
{
    if (strcmp(reason, "unsupported_media_type") == 0 && hf_api_plane(api) == HF_PLANE_ANSWER)
        return "Send the form of the page.";
    if (strcmp(reason, "unauthenticated") != 0 || !api->server)
        return remedy_of(reason);
    if (api->route && api->route->plane == HF_PLANE_WEBHOOK)
        return hf_webhook_advice(&api->server->options.webhook);
    return hf_auth_driver_of(api->server->auth) == HF_AUTH_SIGNATURE ? HF_SIGNATURE_ADVICE
                                                                     : remedy_of(reason);
}

const char *hf_api_param(const hf_api *api, size_t at)
{
    return api->params.values[at].ptr;
}

const char *hf_api_param_named(const hf_api *api, const char *name)
{
    const char *at = api->route->path;

    for (size_t i = 0; (at = strchr(at, '{')); i++) {
        size_t len = strcspn(++at, "}");

        if (strlen(name) == len && strncmp(at, name, len) == 0)
            return api->params.values[i].ptr;
    }
    return NULL;
}

static void reply_again(hf_api *api, int status)
{
    hf_buf_clear(&api->reply.body);
    api->reply.status = status;
    api->reply.type = "application/json";
}

hf_storage hf_api_storage(const hf_api *api)
{
    const char *root = api->server->storage_root;

    return (hf_storage){.root = root[0] ? root : NULL, .space = api->namespace, .mem = api->mem};
}

/* Big payloads leave by reference where the namespace wants that. NULL: they could not be kept. */
static hf_value payloads_keep(hf_api *api, hf_value value)
{
    size_t threshold = hf_server_storage_threshold(api->server, hf_slice_of(api->namespace));
    const hf_storage storage = hf_api_storage(api);
    hf_value kept = value;

    if (threshold && hf_storage_outline(&storage, threshold, value, &kept, NULL))
        return NULL;
    return kept;
}

void hf_api_json(hf_api *api, int status, hf_value value)
{
    if (value && api->namespace[0])
        value = payloads_keep(api, value);
    if (!value) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return;
    }
    reply_again(api, status);
    hf_json_write(&api->reply.body, value);
}

hf_plane hf_api_plane(const hf_api *api)
{
    hf_slice path;

    if (api->route)
        return api->route->plane;
    path = hf_http_request_path(api->request);
    if (hf_slice_starts(path, HF_SLICE("/api/worker/")))
        return HF_PLANE_WORKER;
    if (hf_slice_starts(path, HF_SLICE("/console/api/")))
        return HF_PLANE_CONSOLE;
    return hf_slice_starts(path, HF_SLICE("/api/")) ? HF_PLANE_CONTROL : HF_PLANE_OPEN;
}

/* More members at the end of the object that is answered. */
static void members_add(hf_api *api, hf_slice members)
{
    hf_buf *out = &api->reply.body;
    bool empty = out->len == 2;

    if (out->len < 2)
        return;
    out->len--; /* the closing brace comes again */
    hf_buf_add_text(out, empty ? "" : ",");
    hf_buf_add_slice(out, members);
    hf_buf_add_byte(out, '}');
}

void hf_api_dress(hf_api *api)
{
    members_add(api, hf_buf_slice(&api->server->worker_plane));
}

void hf_api_add(hf_api *api, hf_value object)
{
    hf_buf text = {0};

    hf_json_write(&text, object);
    if (object && hf_buf_ok(&text))
        members_add(api, hf_slice_from(text.ptr + 1, text.len - 2));
    hf_buf_fini(&text);
}

/* Every answer of the worker plane says what the server is. */
static void worker_dress(hf_api *api)
{
    if (hf_api_plane(api) == HF_PLANE_WORKER)
        hf_api_dress(api);
}

void hf_api_error(hf_api *api, int status, const char *reason, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    reply_again(api, status);
    error_body(&api->reply.body, reason, text, remedy_for(api, reason), NULL);
    worker_dress(api);
    if (status == 503 || status == 429)
        hf_http_reply_field(&api->reply, "Retry-After", HF_SLICE("1"));
}

void hf_api_invalid_as(hf_api *api, const char *reason, const char *text,
                       hf_value validation_errors)
{
    reply_again(api, 422);
    hf_api_error_body(&api->reply.body, reason, text, validation_errors);
    worker_dress(api);
}

void hf_api_invalid(hf_api *api, hf_value validation_errors)
{
    hf_api_invalid_as(api, "validation_failed", "The given data was invalid.", validation_errors);
}

void hf_api_refuse(hf_api *api, int status, const char *text)
{
    const char *colon = strchr(text, ':');
    char reason[64] = "rejected";

    if (colon && (size_t)(colon - text) < sizeof(reason)) {
        (void)snprintf(reason, sizeof(reason), "%.*s", (int)(colon - text), text);
        text = colon + 1 + strspn(colon + 1, " ");
    }
    hf_api_error(api, status, reason, "%s", text);
}

/* What the store or the system said is for the log; others are told what kind of failure it is. */
static void failure_tell(hf_api *api, int status, const char *reason, hf_status st,
                         const char *text)
{
    const hf_log_field fields[] = {
        hf_log_text("route", hf_slice_of(api->route ? api->route->path : "")),
        hf_log_text("status", hf_slice_of(hf_strstatus(st))),
        hf_log_text("error", hf_slice_of(text))};

    if (status == 500)
        hf_log_write(api->server->options.log, HF_LOG_ERROR, "request.failed", fields,
                     sizeof(fields) / sizeof(fields[0]));
    hf_api_error(api, status, reason, "%s", hf_status_sentence(st));
}

void hf_api_status(hf_api *api, hf_status st, const char *text)
{
    switch (st) {
    case HF_NOTFOUND:
        hf_api_error(api, 404, "instance_not_found", "%s", text);
        return;
    case HF_EXISTS:
        hf_api_error(api, 409, "duplicate_start", "%s", text);
        return;
    case HF_REJECTED:
    case HF_CONFLICT:
        hf_api_error(api, 409, "rejected", "%s", text);
        return;
    case HF_REPLAY_BLOCKED:
        hf_api_error(api, 409, "replay_blocked", "%s", text);
        return;
    case HF_INVALID:
    case HF_MISUSE:
        hf_api_error(api, 422, "validation_failed", "%s", text);
        return;
    case HF_NEWER:
        hf_api_error(api, 422, hf_strstatus(st), "%s", text);
        return;
    case HF_TOOBIG:
        hf_api_error(api, 413, "payload_too_large", "%s", text);
        return;
    case HF_TIMEOUT:
        failure_tell(api, 504, "timeout", st, text);
        return;
    case HF_BUSY:
    case HF_NOMEM:
    case HF_RETRY:
    case HF_UNREACHABLE:
    case HF_UNKNOWN:
        failure_tell(api, 503, "overloaded", st, text);
        return;
    case HF_FULL:
        failure_tell(api, 507, hf_strstatus(st), st, text);
        return;
    case HF_READONLY:
        failure_tell(api, 503, hf_strstatus(st), st, text);
        return;
    case HF_STOPPED:
        hf_api_error(api, 503, "draining", "%s", text);
        return;
    case HF_DENIED:
        hf_api_error(api, 403, "forbidden", "%s", text);
        return;
    case HF_OK:
    case HF_ERROR:
    case HF_CANCELLED:
    case HF_ABANDONED:
    case HF_CONSTRAINT:
    case HF_OWNED:
    case HF_NOTASTORE:
    case HF_IO:
    case HF_CORRUPT:
    case HF_OLDER:
    case HF_UNSUPPORTED:
        break;
    }
    failure_tell(api, 500, "server_error", st, text);
}

/* ---- fields */

static bool type_is_choice(hf_slice type)
{
    return memchr(type.ptr, '|', type.len) != NULL;
}

static bool choice_has(hf_slice choices, hf_slice word)
{
    hf_slice part;

    while (hf_slice_split(&choices, '|', &part))
        if (hf_slice_equal(part, word))
            return true;
    return false;
}

/* Whether every key and text of a value, all the way down, is without control characters. */
static bool names_only(hf_value value)
{
    hf_slice key;
    hf_value item;

    if (hf_value_kind_of(value) == HF_VALUE_STRING)
        return !hf_utf8_has_control(hf_value_slice(value));
    for (size_t i = 0; hf_value_kind_of(value) == HF_VALUE_ARRAY && i < hf_len(value); i++)
        if (!names_only(hf_at(value, i)))
            return false;
    for (size_t i = 0; hf_value_member(value, i, &key, &item); i++)
        if (hf_utf8_has_control(key) || !names_only(item))
            return false;
    return true;
}

/* What is wrong with the characters of a field that has the right type. */
static const char *characters_fault(hf_slice type, hf_value value)
{
    hf_slice text = hf_value_slice(value);

    if (hf_slice_equal(type, HF_SLICE("text")))
        return text.len && memchr(text.ptr, '\0', text.len) ? "The field must not have a NUL."
                                                            : NULL;
    if (hf_slice_equal(type, HF_SLICE("string")) || hf_slice_equal(type, HF_SLICE("object")) ||
        hf_slice_equal(type, HF_SLICE("array")))
        return names_only(value) ? NULL : "The field must not have control characters.";
    return NULL;
}

/* Whether a value asks for something. */
static bool asks(hf_value value)
{
    switch (hf_value_kind_of(value)) {
    case HF_VALUE_NULL:
        return false;
    case HF_VALUE_BOOL:
        return hf_bool(value, "", false);
    case HF_VALUE_STRING:
        return hf_value_slice(value).len > 0;
    case HF_VALUE_ARRAY:
    case HF_VALUE_OBJECT:
        return hf_len(value) > 0;
    case HF_VALUE_INT:
    case HF_VALUE_DOUBLE:
    case HF_VALUE_BYTES:
        break;
    }
    return true;
}

/* What is wrong with a field; NULL when nothing is. */
static const char *field_fault(hf_mem *mem, const hf_route_field *field, hf_value value)
{
    hf_value_kind kind = hf_value_kind_of(value);
    hf_slice type = hf_route_field_plain(field->type);
    bool good = true;

    if (!value || kind == HF_VALUE_NULL)
        return field->required ? "The field is required." : NULL;
    if (hf_slice_equal(type, HF_SLICE("refused")))
        return asks(value) ? "The field is not supported by this server." : NULL;
    if (type_is_choice(type))
        return kind == HF_VALUE_STRING && choice_has(type, hf_value_slice(value))
                   ? NULL
                   : hf_mem_format(mem, "The field must be one of %.*s.", (int)type.len, type.ptr);
    if (hf_slice_equal(type, HF_SLICE("string")))
        good = kind == HF_VALUE_STRING;
    else if (hf_slice_equal(type, HF_SLICE("int")))
        good = kind == HF_VALUE_INT;
    else if (hf_slice_equal(type, HF_SLICE("bool")))
        good = kind == HF_VALUE_BOOL;
    else if (hf_slice_equal(type, HF_SLICE("object")))
        good = kind == HF_VALUE_OBJECT || (kind == HF_VALUE_ARRAY && hf_len(value) == 0);
    else if (hf_slice_equal(type, HF_SLICE("array")))
        good = kind == HF_VALUE_ARRAY;
    if (!good)
        return hf_mem_format(mem, "The field must be of type %.*s.", (int)type.len, type.ptr);
    if (kind == HF_VALUE_STRING && field->required && hf_value_slice(value).len == 0)
        return "The field is required.";
    if (kind == HF_VALUE_STRING && field->max && hf_value_slice(value).len > (size_t)field->max)
        return hf_mem_format(mem, "The field must not be longer than %lld characters.",
                             (long long)field->max);
    return characters_fault(field->type, value);
}

/* A member of an object within the body that nobody reads. The body itself may have others: clients
   that are newer send them. */
static bool members_unknown(hf_api *api, const char *within, const char *fields,
                            hf_value_list *faults)
{
    hf_value object = hf_value_find(api->body, hf_slice_of(within));
    bool found = false;
    hf_slice name;
    hf_value value;

    for (size_t i = 0; hf_value_member(object, i, &name, &value); i++) {
        hf_slice rest = hf_slice_of(fields);
        hf_route_field field;
        bool known = !asks(value);

        while (!known && hf_route_field_next(&rest, &field))
            known = hf_slice_equal(field.name, name);
        if (known)
            continue;
        found = true;
        hf_value_set(
            faults,
            hf_slice_of(hf_mem_format(api->mem, "%s.%.*s", within, (int)name.len, name.ptr)),
            hf_json_(api->mem, "['The field is not known here.']"));
    }
    return found;
}

bool hf_api_members_check(hf_api *api, const char *within, const char *fields)
{
    hf_value object = within ? hf_value_find(api->body, hf_slice_of(within)) : api->body;
    hf_slice rest = hf_slice_of(fields);
    hf_value_list *faults = hf_value_object(api->mem);
    hf_route_field field;
    bool good = true;

    while (fields[0] && hf_route_field_next(&rest, &field)) {
        const char *fault = field_fault(api->mem, &field, hf_value_find(object, field.name));

        if (!fault)
            continue;
        good = false;
        hf_value_set(
            faults,
            hf_slice_of(hf_mem_format(api->mem, "%s%s%.*s", within ? within : "", within ? "." : "",
                                      (int)field.name.len, field.name.ptr)),
            hf_json_(api->mem, "[%s]", fault));
    }
    if (within && members_unknown(api, within, fields, faults))
        good = false;
    if (!good)
        hf_api_invalid(api, hf_value_finish(faults));
    return good;
}

bool hf_api_fields_check(hf_api *api)
{
    return hf_api_members_check(api, NULL, api->route->fields);
}

void hf_api_wait(hf_api *api, void (*resume)(hf_api *api))
{
    api->resume = resume;
    *api->later = true;
    if (!hf_work_offer(api->server->waits, api))
        return;
    *api->later = false;
    hf_api_error(api, 503, "overloaded", "Too many requests wait already.");
}

bool hf_api_query_int(hf_api *api, const char *name, int64_t otherwise, int64_t least, int64_t most,
                      int64_t *out_number)
{
    hf_slice text;

    *out_number = otherwise;
    if (!hf_http_query_find(&api->query, name, &text))
        return true;
    if (hf_slice_int(text, out_number) && *out_number >= least && *out_number <= most)
        return true;
    hf_api_invalid(api,
                   hf_json_(api->mem, "{'%s': ['The field must be a number from %lld to %lld.']}",
                            name, (long long)least, (long long)most));
    return false;
}

/* A parameter's own name, or NAME[KEY] of one that has members. */
static bool parameter_is(const hf_route_field *field, hf_slice name)
{
    size_t len = field->name.len;

    if (!hf_slice_equal(field->type, HF_SLICE("object")))
        return hf_slice_equal(field->name, name);
    return name.len > len + 2 && memcmp(name.ptr, field->name.ptr, len) == 0 &&
           name.ptr[len] == '[' && name.ptr[name.len - 1] == ']';
}

static const char *parameters_text(hf_api *api)
{
    hf_slice rest = hf_slice_of(hf_route_query(api->route));
    hf_buf names = {0};
    hf_route_field field;
    const char *text;

    while (hf_route_field_next(&rest, &field))
        hf_buf_add_format(&names, "%s%.*s%s", names.len ? ", " : "", (int)field.name.len,
                          field.name.ptr,
                          hf_slice_equal(field.type, HF_SLICE("object")) ? "[NAME]" : "");
    if (api->route->scope == HF_SCOPE_NAMESPACE)
        hf_buf_add_format(&names, "%snamespace", names.len ? ", " : "");
    text = names.len ? hf_mem_format(api->mem, "There is no such parameter; there are %s.",
                                     hf_buf_text(&names))
                     : "There is no such parameter; there are none.";
    hf_buf_fini(&names);
    return text ? text : "There is no such parameter.";
}

static bool text_is_bool(hf_slice text)
{
    return choice_has(HF_SLICE("true|false|1|0|yes|no"), text);
}

/* What is wrong with a parameter; NULL when nothing is. What its numbers and texts may be is the
   handler's to say. */
static const char *parameter_fault(hf_api *api, size_t at)
{
    const hf_http_pair *pair = &api->query.pairs[at];
    hf_slice rest = hf_slice_of(hf_route_query(api->route));
    hf_route_field field;

    for (size_t i = 0; i < at; i++)
        if (hf_slice_equal(api->query.pairs[i].name, pair->name))
            return "The parameter may be given once.";
    if (api->route->scope == HF_SCOPE_NAMESPACE &&
        hf_slice_equal(pair->name, HF_SLICE("namespace")))
        return NULL;
    while (hf_route_field_next(&rest, &field)) {
        if (!parameter_is(&field, pair->name))
            continue;
        if (!pair->value.len)
            return NULL;
        if (type_is_choice(field.type) && !choice_has(field.type, pair->value))
            return hf_mem_format(api->mem, "The parameter must be one of %.*s.",
                                 (int)field.type.len, field.type.ptr);
        if (hf_slice_equal(field.type, HF_SLICE("bool")) && !text_is_bool(pair->value))
            return "The parameter must be true or false.";
        return NULL;
    }
    return parameters_text(api);
}

bool hf_api_query_check(hf_api *api)
{
    hf_value_list *faults = NULL;

    if (api->route->id == HF_ROUTE_PAGE) /* its query is read by the page, in the browser */
        return true;
    for (size_t i = 0; i < api->query.count; i++) {
        const char *fault = parameter_fault(api, i);

        if (!fault)
            continue;
        faults = faults ? faults : hf_value_object(api->mem);
        hf_value_set(faults, api->query.pairs[i].name, hf_json_(api->mem, "[%s]", fault));
        break;
    }
    if (faults)
        hf_api_invalid(api, hf_value_finish(faults));
    return !faults;
}

bool hf_api_query_bool(const hf_api *api, const char *name)
{
    hf_slice text;

    return hf_http_query_find(&api->query, name, &text) &&
           (hf_slice_equal(text, HF_SLICE("true")) || hf_slice_equal(text, HF_SLICE("1")) ||
            hf_slice_equal(text, HF_SLICE("yes")));
}

const char *hf_api_query_text(hf_api *api, const char *name)
{
    hf_slice text;

    return hf_http_query_find(&api->query, name, &text) && text.len ? hf_mem_text(api->mem, text)
                                                                    : NULL;
}

/* ---- attribution */

/* A header's text, or NULL. */
static const char *header_text(hf_api *api, const char *name)
{
    hf_slice value;

    return hf_http_request_field(api->request, name, &value) ? hf_mem_text(api->mem, value) : NULL;
}

/* sha256 over the request as the contract lists it: method, path, payload, two headers. */
static const char *fingerprint(hf_api *api, const char *request_id, const char *correlation_id)
{
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    hf_buf text = {0};
    const char *made = NULL;
    hf_value whole =
        hf_json_(api->mem,
                 "{'method': %s, 'path': %s, 'payload': %p, 'headers': {'X-Request-Id': %s, "
                 "'X-Correlation-Id': %s}}",
                 hf_http_method_text(api->request->method),
                 hf_mem_text(api->mem, hf_http_request_path(api->request)), (const void *)api->body,
                 request_id, correlation_id);

    if (hf_sha256_new(&sha, NULL))
        return NULL;
    hf_json_write_ksort(&text, whole);
    if (whole && hf_buf_ok(&text) && !hf_sha256_digest(sha, hf_buf_slice(&text), digest, NULL)) {
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
        made = hf_mem_format(api->mem, "sha256:%s", hex);
    }
    hf_buf_fini(&text);
    hf_sha256_free(sha);
    return made;
}

bool hf_api_runs_page(hf_api *api, hf_value filters, hf_value more, hf_value *out_page)
{
    const char *cursor = hf_api_query_text(api, "next_page_token");
    int64_t limit = RUNS_PAGE;
    hf_status st;

    if (!hf_api_query_int(api, "page_size", RUNS_PAGE, 1, RUNS_PAGE_MAX, &limit))
        return false;
    st = hf_list_runs(
        api->server->engine,
        hf_value_merge(api->mem,
                       hf_json_(api->mem,
                                "{'filters': %p, 'bucket': %s, 'limit': %lld, 'cursor': %s}",
                                (const void *)filters, hf_api_query_text(api, "status"),
                                (long long)limit, cursor),
                       more),
        api->mem, out_page);
    if (st == HF_INVALID && cursor)
        hf_api_error(api, 400, "invalid_page_token", "%s", hf_errmsg(api->server->engine));
    else if (st == HF_NOTFOUND) /* runs that are not there are none */
        hf_api_error(api, 404, "view_not_found", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

hf_value hf_api_context(hf_api *api)
{
    const char *request_id = header_text(api, "x-request-id");
    const char *correlation_id = header_text(api, "x-correlation-id");
    bool open = strcmp(api->principal.method, "none") == 0;

    return hf_json_(
        api->mem,
        "{'caller': {'type': 'server', 'label': 'Holdfast server'}, 'auth': {'status': %s, "
        "'method': "
        "%s}, 'request': {'method': %s, 'path': %s, 'route_name': %s, 'ip': %s, 'user_agent': %s, "
        "'request_id': %s, 'correlation_id': %s, 'fingerprint': %s}, 'principal': {'type': %s, "
        "'id': %s, 'label': %s}}",
        open ? "not_configured" : "authorized", api->principal.method,
        hf_http_method_text(api->request->method),
        hf_mem_text(api->mem, hf_http_request_path(api->request)), api->route->path,
        hf_http_exchange_peer(api->exchange), header_text(api, "user-agent"), request_id,
        correlation_id, fingerprint(api, request_id, correlation_id),
        hf_role_text(api->principal.role), api->principal.id, api->principal.label);
}
