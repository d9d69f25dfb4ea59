/* api_health.c: what probes and scrapers ask for. Open to everybody, so they tell nothing of what
   is stored. */
#include "base/json.h"
#include "holdfast/host.h"
#include "holdfast/tool.h"
#include "server/handlers.h"
#include "server/server_impl.h"

void hf_api_health(hf_api *api)
{
    char now[HF_CLOCK_TEXT_SIZE];

    (void)hf_clock_print(hf_clock_real_us(api->server->clock), now);
    hf_api_json(api, 200, hf_json_(api->mem, "{'status': 'serving', 'timestamp': %s}", now));
}

/* What keeps it from taking work; NULL: nothing. */
static const char *ready_fault(hf_server *server)
{
    hf_status st = server->engine ? hf_working(server->engine) : HF_OK;

    if (atomic_load(&server->draining))
        return "draining";
    if (st == HF_STOPPED)
        return "stopped";
    if (st == HF_FULL || st == HF_READONLY)
        return hf_strstatus(st);
    return st == HF_UNREACHABLE || atomic_load(&server->away) ? "store_unreachable" : NULL;
}

void hf_api_ready(hf_api *api)
{
    const char *fault = ready_fault(api->server);

    hf_api_json(api, fault ? 503 : 200,
                hf_json_(api->mem, "{'status': %s, 'ready': %p}", fault ? fault : "ready",
                         (const void *)hf_value_bool(!fault)));
}

void hf_api_openapi(hf_api *api)
{
    hf_buf_add_slice(&api->reply.body, hf_buf_slice(&api->server->openapi));
}

static void metric_add(hf_buf *out, const char *name, const char *kind, const char *help,
                       uint64_t value)
{
    hf_buf_add_format(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, kind, name,
                      (unsigned long long)value);
}

static void admission_add(hf_buf *out, hf_admission *admission)
{
    static const char *const names[] = {"holdfast_http_in_work", "holdfast_http_in_work_limit",
                                        "holdfast_http_turned_away_total"};
    static const char *const about[] = {"gauge\n", "gauge\n", "counter\n"};
    static const char *const help[] = {"Requests in work, by class.",
                                       "How many of a class may be in work.",
                                       "Requests answered 429, by class."};

    for (int i = 0; i < 3; i++) {
        hf_buf_add_format(out, "# HELP %s %s\n# TYPE %s %s", names[i], help[i], names[i], about[i]);
        for (int class = HF_CLASS_REPORT; class < HF_CLASSES; class ++) {
            hf_admission_state state;

            hf_admission_look(admission, (hf_class) class, &state);
            hf_buf_add_format(out, "%s{class=\"%s\"} %llu\n", names[i],
                              hf_class_text((hf_class) class),
                              (unsigned long long)(i == 0   ? state.in_work
                                                   : i == 1 ? state.bound
                                                            : state.refused));
        }
    }
}

void hf_api_metrics(hf_api *api)
{
    hf_server *server = api->server;
    hf_buf *out = &api->reply.body;
    hf_http_stats stats;

    api->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    hf_http_stats_get(server->http, &stats);
    metric_add(out, "holdfast_http_connections_total", "counter", "Connections accepted.",
               stats.accepted);
    metric_add(out, "holdfast_http_requests_total", "counter", "Requests handed to a handler.",
               stats.requests);
    metric_add(out, "holdfast_http_refused_total", "counter",
               "Requests and connections refused before a handler saw them.", stats.refused);
    metric_add(out, "holdfast_http_connections", "gauge", "Connections open.", stats.connections);
    metric_add(out, "holdfast_http_parked", "gauge", "Requests that wait for work.", stats.parked);
    metric_add(out, "holdfast_http_body_bytes", "gauge", "Bytes promised to bodies under way.",
               stats.bodies_bytes);
    metric_add(out, "holdfast_http_waiting", "gauge", "Requests that wait for a handler thread.",
               hf_work_waiting(server->work));
    admission_add(out, server->admission);
    hf_buf_add_text(out, "# HELP holdfast_http_answers_total Answers by class of status.\n"
                         "# TYPE holdfast_http_answers_total counter\n");
    for (int class = 2; class < 6; class ++)
        hf_buf_add_format(out, "holdfast_http_answers_total{class=\"%dxx\"} %llu\n", class,
                          (unsigned long long)atomic_load(&server->answers[class]));
}
