/* test_published.c: every operation of the two published OpenAPI documents, with the words that
   their {parts} may be: the server has a route for it, or it is out of scope and answered as the
   documents say it of what is not there. */
#include <string.h>

#include "base/value.h"
#include "lib/schema.h"
#include "lib/site.h"
#include "server/route.h"

typedef struct operation {
    hf_http_method method;
    const char *path; /* x stands for whatever a caller names */
} operation;

static const operation served[] = {
    {HF_HTTP_GET, "/api/health"},
    {HF_HTTP_GET, "/api/ready"},
    {HF_HTTP_GET, "/api/cluster/info"},
    {HF_HTTP_GET, "/api/namespaces"},
    {HF_HTTP_POST, "/api/namespaces"},
    {HF_HTTP_GET, "/api/namespaces/x"},
    {HF_HTTP_PUT, "/api/namespaces/x"},
    {HF_HTTP_PUT, "/api/namespaces/x/external-storage"},
    {HF_HTTP_POST, "/api/storage/test"},
    {HF_HTTP_GET, "/api/workflows"},
    {HF_HTTP_POST, "/api/workflows"},
    {HF_HTTP_GET, "/api/workflows/x"},
    {HF_HTTP_POST, "/api/workflows/x/signal/x"},
    {HF_HTTP_POST, "/api/workflows/x/query/x"},
    {HF_HTTP_POST, "/api/workflows/x/update/x"},
    {HF_HTTP_POST, "/api/workflows/x/cancel"},
    {HF_HTTP_POST, "/api/workflows/x/terminate"},
    {HF_HTTP_POST, "/api/workflows/x/repair"},
    {HF_HTTP_POST, "/api/workflows/x/archive"},
    {HF_HTTP_GET, "/api/workflows/x/runs"},
    {HF_HTTP_GET, "/api/workflows/x/debug"},
    {HF_HTTP_GET, "/api/workflows/x/runs/x"},
    {HF_HTTP_GET, "/api/workflows/x/runs/x/debug"},
    {HF_HTTP_GET, "/api/workflows/x/runs/x/history"},
    {HF_HTTP_GET, "/api/workflows/x/runs/x/history/export"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/signal/x"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/query/x"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/update/x"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/cancel"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/terminate"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/repair"},
    {HF_HTTP_POST, "/api/workflows/x/runs/x/archive"},
    {HF_HTTP_POST, "/api/bridge-adapters/webhook/x"},
    {HF_HTTP_GET, "/api/workers"},
    {HF_HTTP_GET, "/api/workers/x"},
    {HF_HTTP_DELETE, "/api/workers/x"},
    {HF_HTTP_GET, "/api/task-queues"},
    {HF_HTTP_GET, "/api/task-queues/x"},
    {HF_HTTP_GET, "/api/task-queues/x/build-ids"},
    {HF_HTTP_POST, "/api/task-queues/x/build-ids/drain"},
    {HF_HTTP_POST, "/api/task-queues/x/build-ids/resume"},
    {HF_HTTP_GET, "/api/schedules"},
    {HF_HTTP_POST, "/api/schedules"},
    {HF_HTTP_GET, "/api/schedules/x"},
    {HF_HTTP_PUT, "/api/schedules/x"},
    {HF_HTTP_DELETE, "/api/schedules/x"},
    {HF_HTTP_GET, "/api/schedules/x/history"},
    {HF_HTTP_POST, "/api/schedules/x/pause"},
    {HF_HTTP_POST, "/api/schedules/x/resume"},
    {HF_HTTP_POST, "/api/schedules/x/trigger"},
    {HF_HTTP_POST, "/api/schedules/x/backfill"},
    {HF_HTTP_GET, "/api/search-attributes"},
    {HF_HTTP_POST, "/api/search-attributes"},
    {HF_HTTP_DELETE, "/api/search-attributes/x"},
    {HF_HTTP_GET, "/api/system/health"},
    {HF_HTTP_GET, "/api/system/metrics"},
    {HF_HTTP_POST, "/api/system/metrics"},
    {HF_HTTP_GET, "/api/system/operator-metrics"},
    {HF_HTTP_GET, "/api/system/repair"},
    {HF_HTTP_POST, "/api/system/repair/pass"},
    {HF_HTTP_GET, "/api/system/activity-timeouts"},
    {HF_HTTP_POST, "/api/system/activity-timeouts/pass"},
    {HF_HTTP_GET, "/api/system/retention"},
    {HF_HTTP_POST, "/api/system/retention/pass"},
    {HF_HTTP_POST, "/api/worker/register"},
    {HF_HTTP_DELETE, "/api/worker/registrations/x"},
    {HF_HTTP_POST, "/api/worker/heartbeat"},
    {HF_HTTP_POST, "/api/worker/workflow-tasks/poll"},
    {HF_HTTP_POST, "/api/worker/workflow-tasks/x/history"},
    {HF_HTTP_POST, "/api/worker/workflow-tasks/x/heartbeat"},
    {HF_HTTP_POST, "/api/worker/workflow-tasks/x/complete"},
    {HF_HTTP_POST, "/api/worker/workflow-tasks/x/fail"},
    {HF_HTTP_POST, "/api/worker/query-tasks/poll"},
    {HF_HTTP_POST, "/api/worker/query-tasks/x/complete"},
    {HF_HTTP_POST, "/api/worker/query-tasks/x/fail"},
    {HF_HTTP_POST, "/api/worker/activity-tasks/poll"},
    {HF_HTTP_POST, "/api/worker/activity-tasks/x/heartbeat"},
    {HF_HTTP_POST, "/api/worker/activity-tasks/x/complete"},
    {HF_HTTP_POST, "/api/worker/activity-tasks/x/fail"},
};

/* Services, deployments, worker sessions, the import of embedded histories. */
static const operation unserved[] = {
    {HF_HTTP_POST, "/api/workflows/import/embedded-v2"},
    {HF_HTTP_GET, "/api/worker-sessions"},
    {HF_HTTP_GET, "/api/worker-sessions/x"},
    {HF_HTTP_GET, "/api/deployments"},
    {HF_HTTP_GET, "/api/deployments/x"},
    {HF_HTTP_POST, "/api/deployments/x/promote"},
    {HF_HTTP_POST, "/api/deployments/x/drain"},
    {HF_HTTP_POST, "/api/deployments/x/resume"},
    {HF_HTTP_POST, "/api/deployments/x/rollback"},
    {HF_HTTP_GET, "/api/service-endpoints"},
    {HF_HTTP_POST, "/api/service-endpoints"},
    {HF_HTTP_GET, "/api/service-endpoints/x"},
    {HF_HTTP_PUT, "/api/service-endpoints/x"},
    {HF_HTTP_DELETE, "/api/service-endpoints/x"},
    {HF_HTTP_GET, "/api/service-endpoints/x/services"},
    {HF_HTTP_POST, "/api/service-endpoints/x/services"},
    {HF_HTTP_GET, "/api/service-endpoints/x/services/x"},
    {HF_HTTP_PUT, "/api/service-endpoints/x/services/x"},
    {HF_HTTP_DELETE, "/api/service-endpoints/x/services/x"},
    {HF_HTTP_GET, "/api/service-endpoints/x/services/x/operations"},
    {HF_HTTP_POST, "/api/service-endpoints/x/services/x/operations"},
    {HF_HTTP_GET, "/api/service-endpoints/x/services/x/operations/x"},
    {HF_HTTP_PUT, "/api/service-endpoints/x/services/x/operations/x"},
    {HF_HTTP_DELETE, "/api/service-endpoints/x/services/x/operations/x"},
    {HF_HTTP_POST, "/api/service-endpoints/x/services/x/operations/x/execute"},
    {HF_HTTP_GET, "/api/service-endpoints/x/services/x/operations/x/service-calls/x"},
    {HF_HTTP_POST, "/api/service-endpoints/x/services/x/operations/x/service-calls/x/cancel"},
    {HF_HTTP_POST, "/api/worker/sessions"},
    {HF_HTTP_POST, "/api/worker/sessions/x/heartbeat"},
    {HF_HTTP_DELETE, "/api/worker/sessions/x"},
};

/* Each has a route of the plane that its path says, and the route is in our own document. */
START_TEST(published_operations_are_served)
{
    for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
        unsigned methods = 0;
        const hf_route *route =
            hf_route_find(served[i].method, hf_slice_of(served[i].path), &methods);
        bool worker = strncmp(served[i].path, "/api/worker/", 12) == 0;

        ck_assert_msg(route != NULL, "%s %s", hf_http_method_text(served[i].method),
                      served[i].path);
        ck_assert_msg((route->plane == HF_PLANE_WORKER) == worker, "%s", served[i].path);
    }
}
END_TEST

/* What is out of scope: 404 in the body of its plane, and not in our own document. */
START_TEST(other_operations_are_not_there)
{
    hf_site_answer answer;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(unserved) / sizeof(unserved[0]); i++) {
        const char *path = unserved[i].path;
        bool worker = strncmp(path, "/api/worker/", 12) == 0;
        bool body = unserved[i].method == HF_HTTP_POST || unserved[i].method == HF_HTTP_PUT;

        answer = hf_site_ask(&site, hf_http_method_text(unserved[i].method), path, NULL,
                             body ? "{}" : NULL);
        ck_assert_msg(answer.status == 404, "%s: %d: %s", path, answer.status, answer.text);
        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "not_found");
        ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
        ck_assert(hf_get(answer.body, "remediation") != NULL);
        ck_assert_str_eq(hf_str(answer.body, "protocol_version", ""), worker ? "1.20" : "");
        ck_assert_int_eq(hf_get(answer.body, "server_capabilities") != NULL, worker);
        ck_assert_int_eq(
            hf_wire_field(&answer.raw, "X-Durable-Workflow-Control-Plane-Version").len > 0,
            !worker);
        ck_assert_int_eq(hf_wire_field(&answer.raw, "X-Durable-Workflow-Protocol-Version").len > 0,
                         worker);
    }
    hf_site_close(&site);
}
END_TEST

/* The discovery document fits its published schema. One member is said differently there and by the
   documents of the worker protocol, which clients go by: the version is the text 1.20. */
START_TEST(the_discovery_document_fits)
{
    hf_site_answer answer;
    hf_value protocol;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){0});
    answer = hf_site_ask(&site, "GET", "/api/cluster/info", NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_int_eq(hf_int(answer.body, "control_plane.version", 0), 2);
    ck_assert_str_eq(hf_str(answer.body, "worker_protocol.version", ""), "1.20");
    protocol = hf_value_merge(site.mem, hf_get(answer.body, "worker_protocol"),
                              hf_json_(site.mem, "{'version': 1}"));
    hf_schema_fits(
        HF_TEST_DIR "/server/schemas/cluster-info-envelope.schema.json",
        hf_value_merge(site.mem, answer.body,
                       hf_json_(site.mem, "{'worker_protocol': %p}", (const void *)protocol)));
    ck_assert_ptr_null(hf_get(answer.body, "worker_protocol.server_capabilities.worker_sessions"));
    hf_site_close(&site);
}
END_TEST

HF_SUITE_MAIN("server/published", {published_operations_are_served, 0},
              {other_operations_are_not_there, 0}, {the_discovery_document_fits, 0})
