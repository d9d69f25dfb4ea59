/* test_apart.c: whatever can be read of a namespace says nothing of another one: every route of the
   table is asked in one namespace, with the ids of another that is full of things. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/nap.h"
#include "lib/site.h"
#include "server/route.h"

#define VEILED "X-Namespace: veiled\r\n"

static hf_value give_up(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "no_money", "secret-message");
}

static const hf_app app = {
    .name = "apart",
    .workflows = (const hf_workflow_def[]){
        {.type = "wait", .run = hf_wait_go, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {.type = "give-up", .run = give_up},
        {0}}};

/* What is sent in the place of each {part} of a path; ids that the server made are filled in. */
typedef struct part {
    const char *name;
    char value[128];
} part;

static part parts[] = {{"workflow_id", "secret-run"},
                       {"run_id", ""},
                       {"schedule_id", "secret-plan"},
                       {"type", "secret-type"},
                       {"queue", "secret-queue"},
                       {"worker", "secret-worker"},
                       {"build_id", "secret-build"},
                       {"namespace", "veiled"},
                       {"step", "1"},
                       {"batch_id", ""},
                       {"fingerprint", ""},
                       {"view_id", ""},
                       {"signature", ""},
                       {"", "secret-other"}};

/* The last stands for those that are not there. */
static char *part_value(const char *name)
{
    size_t i = 0;

    while (parts[i].name[0] && strcmp(parts[i].name, name) != 0)
        i++;
    return parts[i].value;
}

/* Parameters without which a route answers nothing. */
static const struct {
    hf_route_id route;
    const char *query;
} queries[] = {{HF_ROUTE_TYPE_PAYLOADS, "?target=start"},
               {HF_ROUTE_DIFF, "?left=secret-run&right=secret-failed"},
               {HF_ROUTE_RUN_PAYLOAD, "?event=2&key=arguments"},
               {HF_ROUTE_CHANGES, "?topics=list"},
               {HF_ROUTE_CONSOLE_RUNS, "?total=true&facets=workflow_type,queue,label:tier"},
               {HF_ROUTE_ATTENTION, "?notices=true&samples=100"}};

static void path_make(const hf_route *route, char *out, size_t room)
{
    const char *from = route->path;
    size_t len = 0;

    while (*from && len + 1 < room) {
        const char *end = *from == '{' ? strchr(from, '}') : NULL;
        char name[32] = "";

        if (!end) {
            out[len++] = *from++;
            continue;
        }
        memcpy(name, from + 1, (size_t)(end - from) - 1);
        len += (size_t)snprintf(out + len, room - len, "%s", part_value(name));
        from = end + 1;
    }
    out[len] = '\0';
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        if (queries[i].route == route->id)
            (void)snprintf(out + len, room - len, "%s", queries[i].query);
}

/* Where the answer has something of the other namespace that the question did not; NULL: nowhere.
 */
static const char *tells(char *text)
{
    const char *at_secret;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (char *at = text; parts[i].value[0] && (at = strstr(at, parts[i].value));)
            memset(at, '.', strlen(parts[i].value));
    at_secret = strstr(text, "secret");
    return at_secret ? at_secret : strstr(text, "veiled");
}

static hf_value ask(hf_site *site, const char *method, const char *path, const char *body,
                    int status)
{
    hf_site_answer answer = hf_site_ask(site, method, path, VEILED, body);

    ck_assert_msg(answer.status == status, "%s %s: %d %.900s", method, path, answer.status,
                  answer.text);
    return answer.body;
}

/* The answer of a path in the namespace, once it has something at `wanted`. */
static hf_value await(hf_site *site, const char *path, const char *wanted)
{
    for (int i = 0; i < 1500; i++) {
        hf_value body = ask(site, "GET", path, NULL, 200);

        if (hf_get(body, wanted))
            return body;
        hf_nap_ms(10);
    }
    ck_abort_msg("%s never had %s", path, wanted);
}

static void keep(const char *name, hf_value body, const char *path)
{
    (void)snprintf(part_value(name), sizeof(parts[0].value), "%s", hf_str(body, path, ""));
    ck_assert_msg(part_value(name)[0], "no %s was given", name);
}

/* Something of everything, each with a word that is nowhere else. */
static void fill(hf_site *site)
{
    (void)ask(site, "POST", "/api/namespaces", "{\"name\":\"veiled\"}", 201);
    keep("run_id",
         ask(site, "POST", "/api/workflows",
             "{\"workflow_type\":\"wait\",\"workflow_id\":\"secret-run\",\"business_key\":"
             "\"secret-key\",\"labels\":{\"tier\":\"secret-label\"},\"memo\":{\"a\":"
             "\"secret-memo\"},\"input\":{\"a\":\"secret-input\"}}",
             201),
         "run_id");
    (void)ask(site, "POST", "/api/workflows",
              "{\"workflow_type\":\"give-up\",\"workflow_id\":\"secret-failed\"}", 201);
    (void)ask(site, "POST", "/api/workflows",
              "{\"workflow_type\":\"secret-type\",\"workflow_id\":\"secret-lost\",\"task_queue\":"
              "\"secret-queue\",\"input\":{\"a\":\"secret-input\"}}",
              201);
    (void)ask(site, "POST", "/api/schedules",
              "{\"schedule_id\":\"secret-plan\",\"spec\":{\"cron_expressions\":[\"0 3 * * *\"]},"
              "\"action\":{\"workflow_type\":\"wait\"},\"note\":\"secret-note\"}",
              201);
    keep("view_id",
         ask(site, "POST", "/api/views",
             "{\"name\":\"secret-view\",\"bucket\":\"running\",\"filters\":{},\"shared\":true}",
             201),
         "id");
    keep("batch_id",
         ask(site, "POST", "/api/batches",
             "{\"command\":\"pause\",\"workflow_ids\":[\"secret-nobody\"],\"request\":{\"reason\":"
             "\"secret-reason\"}}",
             202),
         "batch_id");
    (void)ask(site, "POST", "/api/search-attributes",
              "{\"name\":\"secret_attribute\",\"type\":\"keyword\"}", 201);
    (void)ask(site, "POST", "/api/worker/register",
              "{\"worker_id\":\"secret-worker\",\"task_queue\":\"secret-work\",\"runtime\":"
              "\"python\",\"build_id\":\"secret-build\"}",
              200);
    keep("signature", await(site, "/console/api/attention", "groups.0.signature"),
         "groups.0.signature");
    keep("fingerprint", await(site, "/console/api/failures", "groups.0.fingerprint"),
         "groups.0.fingerprint");
    (void)await(site, "/console/api/approvals", "approvals.0.id");
}

/* What never ends, and what asks for a worker, is not asked. */
static bool asked(const hf_route *route)
{
    return route->method == HF_HTTP_GET && route->scope == HF_SCOPE_NAMESPACE &&
           (route->plane == HF_PLANE_CONTROL || route->plane == HF_PLANE_CONSOLE ||
            route->plane == HF_PLANE_DISCOVERY) &&
           route->id != HF_ROUTE_STREAM && route->id != HF_ROUTE_EVENTS &&
           route->id != HF_ROUTE_RUN_EVENTS;
}

HF_BOTH_ENGINES(nothing_is_told_of_another_namespace)
{
    hf_site site;
    const hf_route *route;
    int told = 0;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    fill(&site);
    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        char path[512];
        hf_site_answer answer;
        const char *found;

        if (!asked(route))
            continue;
        path_make(route, path, sizeof(path));
        answer = hf_site_ask(&site, "GET", path, NULL, NULL);
        ck_assert_msg(answer.status < 500, "%s: %d %.900s", path, answer.status, answer.text);
        found = tells((char *)(uintptr_t)answer.text);
        ck_assert_msg(!found, "%s tells of another namespace: %.80s", path,
                      found - (found - answer.text > 40 ? 40 : 0));
        if (route->where == HF_WHERE_WAIT || route->id == HF_ROUTE_RESULT)
            continue;
        answer = hf_site_ask(&site, "GET", path, VEILED, NULL);
        told += answer.status == 200 && tells((char *)(uintptr_t)answer.text) != NULL;
    }
    ck_assert_msg(told >= 30, "only %d answers would have told something", told);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/apart", HF_BOTH_SLOW(nothing_is_told_of_another_namespace, 60))
