/* test_odd.c: requests that no client means to send, to every route of route.def: fields of every
   wrong kind, texts with NUL and control characters, numbers that do not fit, members twice, deep
   nesting, parts of the path that are nothing. Whatever comes is answered, never with a failure of
   the server, an error in the published form; and the server and its store are well afterwards. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lib/handlers.h"
#include "lib/site.h"
#include "server/route.h"

static const hf_app app = {
    .name = "odd",
    .workflows = (const hf_workflow_def[]){
        {.type = "wait",
         .run = hf_wait_go,
         .signals = (const hf_signal_def[]){{"go", NULL}, {0}},
         .updates = (const hf_update_def[]){{"add", NULL, hf_update_echo, NULL}, {0}},
         .queries = (const hf_query_def[]){{"state", NULL, hf_query_open}, {0}}},
        {0}}};

/* A value that most fields cannot have. DEEP stands for lists within lists. */
#define DEEP "deep"
static const char *const odd_values[] = {
    "true",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1e308",
    "-0.5",
    "\"\"",
    "\" \"",
    "\"a\\u0000b\"",
    "\"a\\u0007b\\u001b[31m\"",
    "\"\\ud800\"",
    "\"..\"",
    "\"a/b%2f\"",
    "\"\xf0\x9f\x92\xa9\"",
    "[]",
    "[null]",
    "[[],{}]",
    "{}",
    "{\"\":null}",
    "{\"a\":{\"b\":[1,\"\\u0000\"]}}",
    "{\"codec\":\"avro\",\"blob\":\"AAAA\"}",
    "{\"codec\":\"avro\",\"external_storage\":{\"uri\":\"/etc/passwd\"}}",
    DEEP};

/* Whole bodies. */
static const char *const odd_bodies[] = {"{\"a\":1,\"a\":2}",
                                         "{\"\\u0000\":1}",
                                         "[]",
                                         "\"x\"",
                                         "7",
                                         "null",
                                         "{\"a\":1e999}",
                                         "{\"a\":\"\xff\"}",
                                         "\xef\xbb\xbf{}",
                                         "{} {}",
                                         "{\"a\":" DEEP "}"};

/* In the place of a part of the path, of a parameter. */
static const char *const odd_parts[] = {
    "%00", "a%2fb", "%2e%2e", "%ff", "a%0ab", "%e2%80%ae", "9223372036854775808", "-1"};

/* What a part of the path is called when it is something. */
static const struct {
    const char *part, *value;
} parts[] = {
    {"workflow_id", "w-1"}, {"namespace", "default"}, {"queue", "default"}, {"name", "go"}};

static const char *part_value(hf_slice part)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (hf_slice_equal(part, hf_slice_of(parts[i].part)))
            return parts[i].value;
    return "x";
}

/* The path of a route; its `odd`-th part is `value` (odd < 0: none is). False: it has fewer. */
static bool path_make(const hf_route *route, int odd, const char *value, hf_buf *out)
{
    int count = 0;

    hf_buf_clear(out);
    for (const char *at = route->path; *at; at++) {
        size_t len = strcspn(at, "}");

        if (*at != '{') {
            hf_buf_add(out, at, 1);
            continue;
        }
        hf_buf_add_text(out, count++ == odd ? value : part_value(hf_slice_from(at + 1, len - 1)));
        at += len;
    }
    return odd < count;
}

static void value_add(hf_buf *out, const char *value)
{
    const char *deep = strstr(value, DEEP);

    if (!deep) {
        hf_buf_add_text(out, value);
        return;
    }
    hf_buf_add(out, value, (size_t)(deep - value));
    for (int i = 0; i < 2000; i++)
        hf_buf_add_byte(out, '[');
    for (int i = 0; i < 2000; i++)
        hf_buf_add_byte(out, ']');
    hf_buf_add_text(out, deep + strlen(DEEP));
}

/* Something that a field of that type can be. */
static const char *plain_value(const hf_route_field *field)
{
    hf_slice type = hf_route_field_plain(field->type);
    static char word[64];

    if (memchr(type.ptr, '|', type.len)) {
        (void)snprintf(word, sizeof(word), "\"%.*s\"",
                       (int)((const char *)memchr(type.ptr, '|', type.len) - type.ptr), type.ptr);
        return word;
    }
    if (hf_slice_equal(type, HF_SLICE("string")))
        return hf_slice_equal(field->name, HF_SLICE("workflow_type")) ? "\"wait\"" : "\"x\"";
    if (hf_slice_equal(type, HF_SLICE("int")))
        return "1";
    if (hf_slice_equal(type, HF_SLICE("bool")))
        return "false";
    if (hf_slice_equal(type, HF_SLICE("object")))
        return "{}";
    return hf_slice_equal(type, HF_SLICE("array")) ? "[]" : "null";
}

/* How long something is waited for: nobody waits here. */
static bool is_wait(hf_slice name)
{
    return hf_slice_equal(name, HF_SLICE("timeout_seconds")) ||
           hf_slice_equal(name, HF_SLICE("poll_timeout_seconds")) ||
           hf_slice_equal(name, HF_SLICE("wait_timeout_seconds"));
}

/* A body in which what must be there is as it should be, and `odd` (NULL: nothing) is `value`. */
static void body_make(const hf_route *route, const hf_slice *odd, const char *value, hf_buf *out)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;

    hf_buf_clear(out);
    hf_buf_add_text(out, "{\"unheard_of\":{}");
    while (hf_route_field_next(&rest, &field)) {
        bool is_odd = odd && hf_slice_equal(field.name, *odd);

        if (!field.required && !is_odd && !is_wait(field.name) &&
            !hf_slice_equal(field.name, HF_SLICE("wait_for")))
            continue;
        hf_buf_add_format(out, ",\"%.*s\":", (int)field.name.len, field.name.ptr);
        if (is_odd)
            value_add(out, value);
        else if (is_wait(field.name))
            hf_buf_add_text(out, route->plane == HF_PLANE_WORKER ? "0" : "1");
        else
            value_add(out, plain_value(&field));
    }
    hf_buf_add_byte(out, '}');
}

/* Whatever is answered is no failure of the server, and an error says what it is. */
static void ask(hf_site *site, const hf_route *route, const char *path, const char *body)
{
    const char *method = hf_http_method_text(route->method);
    hf_site_answer answer = hf_site_ask(site, method, path, NULL, body);

    ck_assert_msg(answer.status >= 200 && answer.status < 500, "%s %s %.300s: %d %.600s", method,
                  path, body ? body : "", answer.status, answer.text);
    if (route->plane == HF_PLANE_ANSWER && strstr(answer.text, "<h1>"))
        return; /* a page for people */
    if (answer.status >= 400 && !(route->id == HF_ROUTE_BRIDGE && hf_get(answer.body, "accepted")))
        ck_assert_msg(*hf_str(answer.body, "reason", hf_str(answer.body, "outcome", "")) != '\0' &&
                          *hf_str(answer.body, "message", "") != '\0',
                      "%s %s %.300s: not a published error: %.600s", method, path, body ? body : "",
                      answer.text);
}

/* One that does not end cannot be read to its end. */
static bool is_stream(const hf_route *route)
{
    return route->id == HF_ROUTE_EVENTS || route->id == HF_ROUTE_RUN_EVENTS;
}

static void run_start(hf_site *site)
{
    (void)hf_site_ask(site, "POST", "/api/workflows", NULL,
                      "{\"workflow_type\":\"wait\",\"workflow_id\":\"w-1\"}");
}

static void odd_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
}

static void odd_close(hf_site *site)
{
    ck_assert_int_eq(hf_site_ask(site, "GET", "/api/ready", NULL, NULL).status, 200);
    run_start(site);
    ck_assert_int_eq(hf_site_ask(site, "GET", "/api/workflows/w-1", NULL, NULL).status, 200);
    hf_site_close(site);
}

/* Every field of every route, and every body as a whole. */
HF_BOTH_ENGINES(every_field_may_be_odd)
{
    const hf_route *route;
    hf_buf body = {0};
    hf_buf path = {0};
    hf_site site;

    odd_open(&site, kind);
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_slice rest = hf_slice_of(route->fields);
        hf_route_field field;

        if (!route->fields)
            continue;
        run_start(&site);
        (void)path_make(route, -1, NULL, &path);
        for (size_t k = 0; k < sizeof(odd_bodies) / sizeof(odd_bodies[0]); k++) {
            hf_buf_clear(&body);
            value_add(&body, odd_bodies[k]);
            ask(&site, route, hf_buf_text(&path), hf_buf_text(&body));
        }
        while (hf_route_field_next(&rest, &field)) {
            if (is_wait(field.name))
                continue;
            for (size_t k = 0; k < sizeof(odd_values) / sizeof(odd_values[0]); k++) {
                body_make(route, &field.name, odd_values[k], &body);
                ask(&site, route, hf_buf_text(&path), hf_buf_text(&body));
            }
        }
    }
    hf_buf_fini(&body);
    hf_buf_fini(&path);
    odd_close(&site);
}

/* Every part of every path, and every parameter. */
HF_BOTH_ENGINES(every_part_may_be_odd)
{
    const hf_route *route;
    hf_buf body = {0};
    hf_buf path = {0};
    hf_site site;

    odd_open(&site, kind);
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_slice rest = hf_slice_of(hf_route_query(route));
        hf_route_field field;
        size_t stem;

        if (is_stream(route))
            continue;
        run_start(&site);
        if (route->fields)
            body_make(route, NULL, NULL, &body);
        for (int part = 0; path_make(route, part, "x", &path); part++)
            for (size_t k = 0; k < sizeof(odd_parts) / sizeof(odd_parts[0]); k++) {
                (void)path_make(route, part, odd_parts[k], &path);
                ask(&site, route, hf_buf_text(&path), route->fields ? hf_buf_text(&body) : NULL);
            }
        (void)path_make(route, -1, NULL, &path);
        stem = path.len;
        while (hf_route_field_next(&rest, &field)) {
            if (is_wait(field.name) || hf_slice_equal(field.name, HF_SLICE("wait_ms")) ||
                hf_slice_equal(field.name, HF_SLICE("wait_changes")) ||
                hf_slice_equal(field.name, HF_SLICE("wait_new_event")))
                continue;
            for (size_t k = 0; k < sizeof(odd_parts) / sizeof(odd_parts[0]); k++) {
                bool members = hf_slice_equal(field.type, HF_SLICE("object"));

                path.len = stem;
                hf_buf_add_format(&path, "?%.*s%s=%s", (int)field.name.len, field.name.ptr,
                                  members ? "[a]" : "", odd_parts[k]);
                ask(&site, route, hf_buf_text(&path), route->fields ? hf_buf_text(&body) : NULL);
            }
        }
    }
    hf_buf_fini(&body);
    hf_buf_fini(&path);
    odd_close(&site);
}

HF_PG_SUITE_MAIN("server/odd", HF_BOTH(every_field_may_be_odd), HF_BOTH(every_part_may_be_odd))
