/* test_input.c: what the server does not take, over every route of the table: names with control
   characters. Each is refused with a typed answer that names it. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/site.h"
#include "server/route.h"

static const hf_app app = {
    .name = "input",
    .workflows = (const hf_workflow_def[]){
        {.type = "wait", .run = hf_wait_go, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {0}}};

static void site_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE, .namespaces = "*"}});
}

/* The route's path, every {part} of it filled in. */
static void path_fill(const hf_route *route, hf_buf *out)
{
    hf_buf_clear(out);
    for (const char *at = route->path; *at; at++)
        if (*at == '{') {
            hf_buf_add_text(out, "default");
            at = strchr(at, '}');
        } else {
            hf_buf_add(out, at, 1);
        }
}

static bool type_is(const hf_route_field *field, const char *type)
{
    return hf_slice_equal(field->type, hf_slice_of(type));
}

/* Something that the field takes. */
static const char *good_value(const hf_route_field *field)
{
    if (type_is(field, "int"))
        return "1";
    if (type_is(field, "object") || type_is(field, "map"))
        return "{\"a\":\"b\"}";
    if (type_is(field, "array") || type_is(field, "list"))
        return "[{}]";
    if (type_is(field, "read|operator|worker|admin"))
        return "\"read\"";
    return type_is(field, "string|keyword|keyword_list|int|float|bool|datetime") ? "\"int\""
                                                                                 : "\"x\"";
}

/* A body with the required fields and this one as it is said. */
static void body_fill(const hf_route *route, hf_slice name, const char *value, hf_buf *out)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;

    hf_buf_clear(out);
    hf_buf_add_format(out, "{\"%.*s\":%s", (int)name.len, name.ptr, value);
    while (rest.len && hf_route_field_next(&rest, &field))
        if (field.required && !hf_slice_equal(field.name, name))
            hf_buf_add_format(out, ",\"%.*s\":%s", (int)field.name.len, field.name.ptr,
                              good_value(&field));
    hf_buf_add_byte(out, '}');
}

static hf_site_answer route_ask(hf_site *site, const hf_route *route, const char *query,
                                const char *body)
{
    hf_site_answer answer;
    hf_buf path = {0};

    path_fill(route, &path);
    hf_buf_add_text(&path, query);
    answer = hf_site_ask(site, hf_http_method_text(route->method), hf_buf_text(&path), NULL, body);
    hf_buf_fini(&path);
    return answer;
}

/* It must be refused because of that field. */
static void field_refused(hf_site *site, const hf_route *route, hf_slice name, const char *value)
{
    hf_site_answer answer;
    hf_buf body = {0};

    body_fill(route, name, value, &body);
    answer = route_ask(site, route, "", hf_buf_text(&body));
    ck_assert_msg(answer.status == 422 &&
                      strcmp(hf_str(answer.body, "reason", ""), "validation_failed") == 0 &&
                      hf_value_find(hf_get(answer.body, "validation_errors"), name),
                  "%s %s: %s: %d %.300s", hf_http_method_text(route->method), route->path,
                  hf_buf_text(&body), answer.status, answer.text);
    hf_buf_fini(&body);
}

/* Every field of every route that is a name, or has names in it, refuses control characters; what
   people write refuses NUL, which would end it. */
HF_BOTH_ENGINES(n07_every_name_of_every_route)
{
    static const struct {
        const char *type;
        const char *value;
    } rows[] = {{"string", "\"a\\u0000b\""},        {"string", "\"a\\nb\""},
                {"string", "\"\\u0085\""},          {"text", "\"a\\u0000b\""},
                {"object", "{\"a\\u0000b\":1}"},    {"object", "{\"a\":{\"b\":[\"x\\u0007\"]}}"},
                {"array", "[\"a\",\"b\\u0000c\"]"}, {"array", "[\"\\t\"]"}};
    size_t tried = 0;
    hf_site site;

    site_open(&site, kind);
    for (size_t i = 0; hf_route_at(i); i++) {
        const hf_route *route = hf_route_at(i);
        hf_slice rest = hf_slice_of(route->fields);
        hf_route_field field;

        while (rest.len && hf_route_field_next(&rest, &field))
            for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
                if (type_is(&field, rows[k].type)) {
                    field_refused(&site, route, field.name, rows[k].value);
                    tried++;
                }
    }
    ck_assert_uint_gt(tried, 300);
    hf_site_close(&site);
}

/* Names below the fields of the table, each by its reader; and what may have any text. */
HF_BOTH_ENGINES(n07_names_within_objects)
{
    static const struct {
        const char *path;
        const char *body;
    } rows[] = {
        {"/api/schedules", "{\"spec\":{\"cron_expressions\":[\"0 9 * * *\"]},\"action\":{"
                           "\"workflow_type\":\"wait\\u0000\"}}"},
        {"/api/schedules", "{\"spec\":{\"cron_expressions\":[\"0 9 * * *\"]},\"action\":{"
                           "\"workflow_type\":\"wait\",\"task_queue\":\"a\\u0000b\"}}"},
        {"/api/bridge-adapters/webhook/shop",
         "{\"action\":\"start_workflow\",\"idempotency_key\":\"k1\",\"target\":{"
         "\"workflow_type\":\"wait\",\"workflow_id\":\"a\\u0000b\"}}"},
        {"/api/workflows", "{\"workflow_type\":\"wait\",\"memo\":{\"a\\u0000b\":1}}"},
        {"/api/workflows", "{\"workflow_type\":\"wait\",\"workflow_id\":\"..\"}"},
        {"/api/namespaces", "{\"name\":\"..\"}"},
        {"/api/namespaces", "{\"name\":\".\"}"},
        {"/api/batches", "{\"command\":\"signal\",\"workflow_ids\":[\"a\"],\"request\":{"
                         "\"name\":\"g\\u0000o\"}}"},
        {"/api/worker/register", "{\"worker_id\":\"w\",\"lease_owner\":\"w\\u0000x\"}"},
        {"/api/worker/workflow-tasks/poll",
         "{\"worker_id\":\"w\",\"timeout_seconds\":0,\"lease_owner\":\"w\\u0000x\"}"},
        {"/webhooks/start/wait", "{\"visibility\":{\"business_key\":\"a\\u0000b\"}}"},
        {"/webhooks/start/wait", "{\"visibility\":{\"labels\":{\"a\":\"x\\u0000y\"}}}"},
    };
    hf_site_answer answer;
    hf_site site;

    site_open(&site, kind);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        answer = hf_site_ask(&site, "POST", rows[i].path, NULL, rows[i].body);
        ck_assert_msg(answer.status == 422, "%s %s: %d %.300s", rows[i].path, rows[i].body,
                      answer.status, answer.text);
    }
    answer = hf_site_expect(&site, "GET", "/api/workflows", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workflows")), 0);
    (void)hf_site_expect(&site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"wait\",\"workflow_id\":\"a\",\"input\":"
                         "\"a\\u0000b\",\"memo\":{\"a\":\"x\\u0000y\"}}",
                         201);
    (void)hf_site_expect(&site, "POST", "/api/workflows/a/cancel", "{\"reason\":\"two\\nlines\"}",
                         202);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/input", HF_BOTH_SLOW(n07_every_name_of_every_route, 120),
                 HF_BOTH(n07_names_within_objects))
