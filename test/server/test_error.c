/* test_error.c: what every route answers when something is wrong, over real HTTP on both databases:
   the status, the published reason in the published body, and the field at fault. The tables name
   the route and the status that each row is about; a route that can answer an error by route.def
   and has no row for it fails the last case of the program. What is wrong with any request, its
   fields, its JSON, its size, is tried on every route from the table of routes. How rows are
   written is said in lib/play.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/value.h"
#include "lib/play.h"
#include "server/error_rows.h"

typedef struct table {
    const hf_play_row *setup;
    size_t setup_count;
    const row *rows;
    size_t count;
} table;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static const table tables[] = {
    {plain_setup, COUNT(plain_setup), plain_rows, COUNT(plain_rows)},
    {run_setup, COUNT(run_setup), run_rows, COUNT(run_rows)},
    {run_setup, COUNT(run_setup), hook_rows, COUNT(hook_rows)},
    {worker_setup, COUNT(worker_setup), worker_rows, COUNT(worker_rows)},
    {task_setup, COUNT(task_setup), task_rows, COUNT(task_rows)},
};

/* Statuses that need a server in a certain state, and where they are tried. */
static const struct {
    hf_route_id route;
    int status;
    const char *where;
} elsewhere[] = {
    {HF_ROUTE_WORKER_HEARTBEAT, 409, "names of workers: test_threat.c"},
    {HF_ROUTE_WORKER_DEREGISTER, 409, "the same"},
    {HF_ROUTE_POLL_WORKFLOW, 409, "the same"},
    {HF_ROUTE_POLL_ACTIVITY, 409, "the same"},
    {HF_ROUTE_POLL_QUERY, 409, "the same"},
    {HF_ROUTE_POLL_VALIDATION, 409, "the same"},
    {HF_ROUTE_ATTEMPT_HEARTBEAT, 409, "the same"},
    {HF_ROUTE_LOGIN, 401, "tokens: test_console_session.c"},
    {HF_ROUTE_LOGIN, 403, "the same"},
    {HF_ROUTE_PREFERENCE_PUT, 409, "32 of them: test_console_keep.c"},
    {HF_ROUTE_SQL, 413, "rows of more than 4 MiB: test_console_keep.c"},
    {HF_ROUTE_BUNDLE_OPEN, 409, "eight of them: test_console_bundle.c"},
    {HF_ROUTE_BUNDLE_OPEN, 413, "the same, of a file that is too big"},
    {HF_ROUTE_BUNDLE_IMPORT, 409, "another content: the same"},
    {HF_ROUTE_SNOOZE, 409, "ten thousand of them: nobody tries"},
    {HF_ROUTE_FAILURE_RESOLVE, 409, "the same"},
    {HF_ROUTE_FAILURE_IGNORE, 409, "the same"},
    {HF_ROUTE_RUN_PAYLOAD, 410, "a value that was erased: test/project/test_part.c"},
    {HF_ROUTE_BUNDLE_RUN_PAYLOAD, 410, "the same"},
    {HF_ROUTE_RUN_REPLAY, 429, "two that are under way: test_console_replay.c"},
    {HF_ROUTE_RUN_REPLAY, 504, "code that does not come back: the same"},
    {HF_ROUTE_BUNDLE_REPLAY, 429, "the same"},
    {HF_ROUTE_BUNDLE_REPLAY, 504, "the same"},
    {HF_ROUTE_APPROVAL_LINK, 409, "ten of them: test/engine/test_approval.c"},
    {HF_ROUTE_ANSWER, 404, "pages: test_approval.c"},
    {HF_ROUTE_ANSWER, 410, "the same"},
    {HF_ROUTE_ANSWER, 429, "the same"},
    {HF_ROUTE_ANSWER_SEND, 404, "the same"},
    {HF_ROUTE_ANSWER_SEND, 410, "the same"},
    {HF_ROUTE_ANSWER_SEND, 422, "the same"},
    {HF_ROUTE_ANSWER_SEND, 429, "the same"},
    {HF_ROUTE_READY, 503, "test_drain.c"},
    {HF_ROUTE_SYSTEM_HEALTH, 503, "a store that cannot be written any more"},
    {HF_ROUTE_QUERY, 429, "as many callers as may wait for workers"},
    {HF_ROUTE_RUN_QUERY, 429, "the same"},
    {HF_ROUTE_HOOK_QUERY, 429, "the same"},
    {HF_ROUTE_HOOK_RUN_QUERY, 429, "the same"},
    {HF_ROUTE_QUERY, 504, "a worker that is late: test/engine/test_inquiry.c"},
    {HF_ROUTE_RUN_QUERY, 504, "the same"},
    {HF_ROUTE_HOOK_QUERY, 504, "the same"},
    {HF_ROUTE_HOOK_RUN_QUERY, 504, "the same"},
};

/* ---- what an error looks like */

static bool route_says(const hf_route *route, int status)
{
    hf_slice rest = hf_slice_of(route->statuses);
    hf_slice word;
    int64_t number = 0;

    while (rest.len && hf_slice_split(&rest, ' ', &word))
        if (hf_slice_int(word, &number) && number == status)
            return true;
    return false;
}

/* The field, whose name may have dots in it, in a list of faults. */
static bool fault_has(hf_value faults, const char *field)
{
    hf_value list = hf_value_find(faults, hf_slice_of(field));

    return hf_len(list) > 0 && hf_str(hf_at(list, 0), "", NULL);
}

static void error_check(const hf_route *route, hf_site_answer answer, int status,
                        const char *reason, const char *field)
{
    const char *said = hf_str(answer.body, "reason", "");

    ck_assert_msg(answer.status == status, "%s: %d instead of %d: %.600s", route->path,
                  answer.status, status, answer.text);
    ck_assert_msg(reason ? strcmp(said, reason) == 0 : strstr(said, "_not_found") != NULL,
                  "%s: %s instead of %s: %.600s", route->path, said, reason ? reason : "*",
                  answer.text);
    if (route->id == HF_ROUTE_BRIDGE && hf_get(answer.body, "accepted"))
        return; /* the published outcome of an adapter, not an error */
    ck_assert_msg(strcmp(hf_str(answer.body, "error", ""), said) == 0 &&
                      *hf_str(answer.body, "message", "") && hf_get(answer.body, "remediation"),
                  "%s: not a published error: %.600s", route->path, answer.text);
    if (route->plane == HF_PLANE_WORKER && status != 413) /* said before the route is asked */
        ck_assert_msg(hf_get(answer.body, "protocol_version") != NULL, "%s: %s", route->path,
                      answer.text);
    if (!field)
        return;
    ck_assert_msg(fault_has(hf_get(answer.body, "errors"), field) &&
                      fault_has(hf_get(answer.body, "validation_errors"), field),
                  "%s does not say what is wrong with %s: %.600s", route->path, field, answer.text);
}

static void play_table(const table *t, hf_engine_kind kind)
{
    char folder[] = "/tmp/hf-error-XXXXXX";
    hf_play p;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    hf_play_open(&p, kind, &app,
                 (hf_server_options){.storage = folder, .webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; i < t->setup_count; i++)
        (void)hf_play_ask(&p, &t->setup[i]);
    for (size_t i = 0; i < t->count; i++) {
        const row *r = &t->rows[i];
        const hf_route *route = hf_route_at(r->route);

        ck_assert_msg(route_says(route, r->status), "%s %s does not tell of %d",
                      hf_http_method_text(route->method), route->path, r->status);
        error_check(route,
                    hf_play_ask(&p, &(hf_play_row){.route = r->route,
                                                   .path = r->path,
                                                   .body = r->body,
                                                   .status = r->status}),
                    r->status, r->reason, r->field);
    }
    hf_play_close(&p);
    (void)rmdir(folder);
}

/* ---- cases */

/* Namespaces, tokens, schedules, passes, activities, batches, workers. */
HF_BOTH_ENGINES(plain_errors)
{
    play_table(&tables[0], kind);
}

/* Commands and questions to runs that are not there, are over, or were asked wrongly. */
HF_BOTH_ENGINES(run_errors)
{
    play_table(&tables[1], kind);
}

HF_BOTH_ENGINES(webhook_errors)
{
    play_table(&tables[2], kind);
}

/* Reports on tasks that are not there, or somebody else's. */
HF_BOTH_ENGINES(worker_errors)
{
    play_table(&tables[3], kind);
}

HF_BOTH_ENGINES(webhook_task_errors)
{
    play_table(&tables[4], kind);
}

/* A path of the route with something in each of its places. */
static void path_of(const hf_route *route, char *out, size_t room)
{
    size_t len = 0;

    for (const char *at = route->path; *at && len + 2 < room; at++) {
        out[len++] = *at == '{' ? 'x' : *at;
        if (*at == '{')
            at = strchr(at, '}');
    }
    out[len] = '\0';
}

/* A body in which every field is of a type that it is not. */
static void body_wrong(const hf_route *route, hf_buf *out)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;

    hf_buf_clear(out);
    hf_buf_add_byte(out, '{');
    while (hf_route_field_next(&rest, &field))
        hf_buf_add_format(
            out, "%s\"%.*s\":%s", out->len > 1 ? "," : "", (int)field.name.len, field.name.ptr,
            hf_slice_equal(field.type, HF_SLICE("any"))                            ? "null"
            : hf_slice_equal(hf_route_field_plain(field.type), HF_SLICE("string")) ? "7"
                                                                                   : "\"neither\"");
    hf_buf_add_byte(out, '}');
}

/* A body in which every text is a byte too long. */
static void body_long(const hf_route *route, hf_buf *out)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;

    hf_buf_clear(out);
    hf_buf_add_byte(out, '{');
    while (hf_route_field_next(&rest, &field)) {
        if (!field.max)
            continue;
        hf_buf_add_format(out, "%s\"%.*s\":\"", out->len > 1 ? "," : "", (int)field.name.len,
                          field.name.ptr);
        for (int64_t i = 0; i <= field.max; i++)
            hf_buf_add_byte(out, 'x');
        hf_buf_add_byte(out, '"');
    }
    hf_buf_add_byte(out, '}');
}

/* Which of a route's fields the answer must find at fault. */
typedef bool field_rule(const hf_route_field *field);

static bool is_typed(const hf_route_field *field)
{
    return field->required || !hf_slice_equal(field->type, HF_SLICE("any"));
}

static bool is_bounded(const hf_route_field *field)
{
    return field->max > 0;
}

static bool is_required(const hf_route_field *field)
{
    return field->required;
}

static void faults_check(hf_site *site, const hf_route *route, const char *body, field_rule *rule)
{
    hf_slice rest = hf_slice_of(route->fields);
    hf_route_field field;
    hf_site_answer answer = {0};
    char path[256];
    char name[64];

    path_of(route, path, sizeof(path));
    while (hf_route_field_next(&rest, &field)) {
        if (!rule(&field))
            continue;
        if (!answer.status)
            answer = hf_site_ask(site, hf_http_method_text(route->method), path, NULL, body);
        (void)snprintf(name, sizeof(name), "%.*s", (int)field.name.len, field.name.ptr);
        error_check(route, answer, 422, "validation_failed", name);
    }
}

/* Every field of every route: of another type, too long, left out. */
START_TEST(every_field_is_checked)
{
    const hf_route *route;
    hf_buf body = {0};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        if (!route->fields || !route->fields[0] || hf_route_takes_document(route))
            continue;
        body_wrong(route, &body);
        faults_check(&site, route, hf_buf_text(&body), is_typed);
        body_long(route, &body);
        faults_check(&site, route, hf_buf_text(&body), is_bounded);
        faults_check(&site, route, "{}", is_required);
    }
    hf_buf_fini(&body);
    hf_site_close(&site);
}
END_TEST

/* Every route that takes a body: none that is not JSON, none that is no object, none that is
   longer than bodies may be, which is said before it is sent. */
START_TEST(every_body_is_checked)
{
    const hf_route *route;
    hf_site site;
    char path[256];

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        const char *method = hf_http_method_text(route->method);

        if (!route->fields || route->plane == HF_PLANE_ANSWER || hf_route_takes_document(route))
            continue; /* forms: test_approval.c; documents: test_console_bundle.c */
        path_of(route, path, sizeof(path));
        error_check(route, hf_site_ask(&site, method, path, NULL, "{"), 400, "malformed_json",
                    NULL);
        error_check(route, hf_site_ask(&site, method, path, NULL, "[1]"), 422, "validation_failed",
                    NULL);
        error_check(route,
                    hf_site_ask(&site, method, path,
                                "Content-Type: application/json\r\nContent-Length: 3000000\r\n",
                                NULL),
                    413, "payload_too_large", NULL);
    }
    hf_site_close(&site);
}
END_TEST

/* Every route: a parameter that nobody reads is refused, and those that there are are named; so are
   one that is given twice, and a choice or a truth value that is none. The query of the console's
   page is the page's own. */
START_TEST(n08_every_parameter_is_checked)
{
    const hf_route *route;
    hf_site site;
    char path[256];

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        const char *method = hf_http_method_text(route->method);
        const char *body = route->fields ? "{}" : NULL;
        hf_slice rest = hf_slice_of(hf_route_query(route));
        hf_site_answer answer;
        hf_route_field field;
        char known[4096];
        char query[512];
        char name[80];

        if (route->id == HF_ROUTE_PAGE)
            continue;
        path_of(route, path, sizeof(path));
        (void)snprintf(query, sizeof(query), "%s?workflow_typ=x", path);
        answer = hf_site_ask(&site, method, query, NULL, body);
        error_check(route, answer, 422, "validation_failed", "workflow_typ");
        (void)snprintf(known, sizeof(known), "%s", answer.text);
        while (hf_route_field_next(&rest, &field)) {
            bool members = hf_slice_equal(field.type, HF_SLICE("object"));

            (void)snprintf(name, sizeof(name), "%.*s%s", (int)field.name.len, field.name.ptr,
                           members ? "[NAME]" : "");
            ck_assert_msg(strstr(known, name) != NULL, "%s is not named: %s", name, known);
            (void)snprintf(query, sizeof(query), "%s?%s=&%s=2", path, name, name);
            error_check(route, hf_site_ask(&site, method, query, NULL, body), 422,
                        "validation_failed", name);
            if (!hf_slice_equal(field.type, HF_SLICE("bool")) &&
                !memchr(field.type.ptr, '|', field.type.len))
                continue;
            (void)snprintf(query, sizeof(query), "%s?%s=perhaps", path, name);
            error_check(route, hf_site_ask(&site, method, query, NULL, body), 422,
                        "validation_failed", name);
        }
    }
    hf_site_close(&site);
}
END_TEST

static bool is_refused(const hf_route_field *field)
{
    return hf_slice_equal(field->type, HF_SLICE("refused"));
}

/* What is published and not done is refused by its name wherever it asks for something, and members
   that nobody reads of objects that have a form; the rest of a body may have what newer clients
   send. */
START_TEST(n48_published_fields_are_carried_out_or_refused)
{
    static const struct {
        const char *path, *body, *field;
    } rows[] = {
        {"/api/schedules",
         "{\"spec\":{\"intervals\":[{\"every\":\"PT1H\"}]},\"action\":{\"workflow_type\":\"x\","
         "\"priority\":1}}",
         "action.priority"},
        {"/api/activities",
         "{\"activity_type\":\"a\",\"task_queue\":\"q\",\"retry_policy\":{\"maximum_attempts\":3}}",
         "retry_policy.maximum_attempts"},
        {"/api/activities",
         "{\"activity_type\":\"a\",\"task_queue\":\"q\",\"retry_policy\":{\"backoff_seconds\":3}}",
         "retry_policy.backoff_seconds"},
        {"/api/bridge-adapters/webhook/shop",
         "{\"action\":\"start_workflow\",\"idempotency_key\":\"k\",\"target\":{\"workflow_type\":"
         "\"x\",\"delay\":5}}",
         "target.delay"},
    };
    const hf_route *route;
    int refused = 0;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_slice rest = hf_slice_of(route->fields);
        hf_route_field field;
        hf_buf body = {0};

        while (route->fields && hf_route_field_next(&rest, &field))
            if (is_refused(&field)) {
                hf_buf_add_format(&body, "%s\"%.*s\":1", body.len ? "," : "{", (int)field.name.len,
                                  field.name.ptr);
                refused++;
            }
        if (body.len) {
            hf_buf_add_text(&body, "}");
            faults_check(&site, route, hf_buf_text(&body), is_refused);
        }
        hf_buf_fini(&body);
    }
    ck_assert_int_gt(refused, 5);
    for (size_t i = 0; i < COUNT(rows); i++) {
        hf_site_answer answer = hf_site_ask(&site, "POST", rows[i].path, NULL, rows[i].body);

        ck_assert_msg(answer.status == 422 &&
                          fault_has(hf_get(answer.body, "errors"), rows[i].field),
                      "%s: %d %s", rows[i].field, answer.status, answer.text);
    }
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/workflows", NULL,
                    "{\"workflow_type\":\"x\",\"workflow_id\":\"x-1\",\"priority\":null,"
                    "\"build_id\":\"\",\"newer\":{\"a\":1}}")
            .status,
        201);
    hf_site_close(&site);
}
END_TEST

/* Every address of the console is its page, but for those of its interface. */
static bool is_page(const char *path)
{
    return strncmp(path, "/console", 8) == 0 && strncmp(path, "/console/api/", 13) != 0;
}

/* Another method of a path that there is gets told which there are; another path gets nothing. */
START_TEST(other_methods_and_paths)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
    const hf_route *route;
    hf_site site;
    char path[256];

    hf_site_open(&site, HF_ENGINE_SQLITE, &app,
                 (hf_server_options){.webhook = {.mode = HF_WEBHOOK_NONE}});
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        path_of(route, path, sizeof(path));
        for (size_t m = 0; m < COUNT(methods); m++) {
            hf_http_method method = HF_HTTP_GET;
            unsigned others = 0;
            hf_site_answer answer;

            while (strcmp(hf_http_method_text(method), methods[m]) != 0)
                method++;
            if (hf_route_find(method, hf_slice_of(path), &others))
                continue;
            answer = hf_site_ask(&site, methods[m], path, NULL, NULL);
            ck_assert_msg(answer.status == 405 && hf_wire_field(&answer.raw, "Allow").len > 0,
                          "%s %s: %s", methods[m], path, answer.text);
        }
        (void)strncat(path, "/and/so/on/and/so/forth", sizeof(path) - strlen(path) - 1);
        ck_assert_msg(hf_site_ask(&site, "GET", path, NULL, NULL).status ==
                          (is_page(path) ? 200 : 404),
                      "GET %s", path);
    }
    hf_site_close(&site);
}
END_TEST

/* No error without a row: whoever lets a route answer one says here when it does. */
START_TEST(every_error_has_a_row)
{
    const hf_route *route;

    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_slice rest = hf_slice_of(route->statuses);
        hf_slice word;
        int64_t status = 0;

        while (rest.len && hf_slice_split(&rest, ' ', &word)) {
            bool covered = false;

            if (!hf_slice_int(word, &status) || status < 400)
                continue;
            for (size_t t = 0; t < COUNT(tables); t++)
                for (size_t r = 0; r < tables[t].count; r++)
                    covered |=
                        tables[t].rows[r].route == route->id && tables[t].rows[r].status == status;
            for (size_t e = 0; e < COUNT(elsewhere); e++)
                covered |= elsewhere[e].route == route->id && elsewhere[e].status == status;
            ck_assert_msg(covered, "no row shows %d of %s %s", (int)status,
                          hf_http_method_text(route->method), route->path);
        }
    }
}
END_TEST

HF_PG_SUITE_MAIN("server/error", HF_BOTH(plain_errors), HF_BOTH_SLOW(run_errors, 120),
                 HF_BOTH_SLOW(webhook_errors, 120), HF_BOTH_SLOW(worker_errors, 120),
                 HF_BOTH_SLOW(webhook_task_errors, 120), {every_field_is_checked, 60},
                 {every_body_is_checked, 60}, {n08_every_parameter_is_checked, 60},
                 {n48_published_fields_are_carried_out_or_refused, 60},
                 {other_methods_and_paths, 60}, {every_error_has_a_row, 0})
