/* api_system.c: what keeps a store healthy, looked at and done at once: repair, activity timeouts,
   retention, numbers. The engine does all of it by itself; a pass does not wait for it. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/sweep.h"

enum { PASS_MAX = 1000, PASS_USUAL = 100, RETENTION_SCAN = 100 };
#define DAY_US INT64_C(86400000000)

static bool metrics_read(hf_api *api, hf_value *out_metrics)
{
    hf_status st = hf_metrics(api->server->engine, api->mem, out_metrics);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

void hf_api_system_metrics(hf_api *api)
{
    hf_value metrics = NULL;

    if (metrics_read(api, &metrics))
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'metrics': %p, 'generated_at': %p}",
                             api->namespace, (const void *)metrics,
                             (const void *)hf_get(metrics, "generated_at")));
}

/* ---- repair */

/* Runs that repair would do something for, at most `limit`. */
static hf_status candidates_read(hf_api *api, int64_t limit, hf_value *out_items)
{
    hf_value page = NULL;
    hf_status st = hf_list_runs(
        api->server->engine,
        hf_json_(api->mem, "{'filters': {'liveness_state': 'repair_needed'}, 'limit': %lld}",
                 (long long)limit),
        api->mem, &page);

    *out_items = hf_get(page, "items");
    return st;
}

void hf_api_repair_status(hf_api *api)
{
    hf_value metrics = NULL;

    if (metrics_read(api, &metrics))
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'policy': %p, 'candidates': %p}",
                             api->namespace, (const void *)hf_get(metrics, "repair_policy"),
                             (const void *)hf_get(metrics, "repair")));
}

/* Whether the run was asked for: no filter asks for all. */
static bool run_wanted(const hf_api *api, hf_value item)
{
    hf_value ids = hf_get(api->body, "run_ids");
    const char *instance = hf_str(api->body, "instance_id", NULL);

    if (instance && strcmp(instance, hf_str(item, "instance_id", "")) != 0)
        return false;
    for (size_t i = 0; i < hf_len(ids); i++)
        if (strcmp(hf_str(hf_at(ids, i), "", ""), hf_str(item, "run_id", "")) == 0)
            return true;
    return hf_len(ids) == 0;
}

static bool run_repair(hf_api *api, hf_value item, bool *out_dispatched)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_command_result result = {0};
    hf_status st;

    hf_command_sign(api, request);
    hf_command_text(api, request, "workflow_id", hf_str(item, "instance_id", ""));
    st = hf_command(api->server->engine, "repair", hf_value_finish(request), api->mem, &result);
    *out_dispatched = !st && hf_command_outcome_is(&result, "repair_dispatched");
    return !st && result.accepted;
}

void hf_api_repair_pass(hf_api *api)
{
    hf_value_list *failures = hf_value_array(api->mem);
    hf_value items = NULL;
    int64_t selected = 0;
    int64_t repaired = 0;
    hf_status st = candidates_read(api, PASS_MAX, &items);

    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    for (size_t i = 0; i < hf_len(items); i++) {
        bool dispatched = false;

        if (!run_wanted(api, hf_at(items, i)))
            continue;
        selected++;
        if (!run_repair(api, hf_at(items, i), &dispatched))
            hf_value_append(failures, hf_json_(api->mem, "{'run_id': %p, 'message': %s}",
                                               (const void *)hf_get(hf_at(items, i), "run_id"),
                                               hf_errmsg(api->server->engine)));
        repaired += dispatched;
    }
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'throttled': false, "
                         "'selected_existing_task_candidates': 0, "
                         "'selected_missing_task_candidates': %lld, 'repaired_existing_tasks': 0, "
                         "'repaired_missing_tasks': %lld, 'dispatched_tasks': %lld, "
                         "'existing_task_failures': [], 'missing_run_failures': %p, "
                         "'command_contract_failures': []}",
                         api->namespace, (long long)selected, (long long)repaired,
                         (long long)repaired, (const void *)hf_value_finish(failures)));
}

/* ---- activity timeouts */

/* What the engine takes from the request; false: answered already. Texts live in the request. */
static bool overdue_read(hf_api *api, hf_overdue_opts *out)
{
    hf_value ids = hf_get(api->body, "execution_ids");
    const char **list = NULL;

    *out = (hf_overdue_opts){.size_ = sizeof(*out), .most = hf_int(api->body, "limit", PASS_USUAL)};
    if (out->most < 1 || out->most > PASS_MAX || hf_len(ids) > PASS_MAX) {
        hf_api_invalid(api, hf_json_(api->mem,
                                     "{'limit': ['The field must be a number from 1 to %d, and no "
                                     "more ids are taken.']}",
                                     (int)PASS_MAX));
        return false;
    }
    if (hf_len(ids) > 0)
        list = hf_mem_array(api->mem, hf_len(ids) + 1, sizeof(*list));
    for (size_t i = 0; list && i < hf_len(ids); i++)
        list[i] = hf_str(hf_at(ids, i), "", "");
    out->ids = list;
    return true;
}

void hf_api_timeout_status(hf_api *api)
{
    const hf_overdue_opts all = {.size_ = sizeof(all), .most = PASS_USUAL};
    hf_value ids = NULL;
    hf_status st = hf_overdue(api->server->engine, &all, api->mem, &ids);

    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'expired_count': %zu, 'expired_execution_ids': %p, "
                         "'scan_limit': %d, 'scan_pressure': %p}",
                         api->namespace, hf_len(ids), (const void *)ids, (int)PASS_USUAL,
                         (const void *)hf_value_bool(hf_len(ids) == PASS_USUAL)));
}

void hf_api_timeout_pass(hf_api *api)
{
    hf_overdue_opts opts;
    hf_value counts = NULL;
    hf_status st;

    if (!overdue_read(api, &opts))
        return;
    st = hf_overdue_pass(api->server->engine, &opts, api->mem, &counts);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_value_merge(
                        api->mem, hf_json_(api->mem, "{'namespace': %s}", api->namespace), counts));
}

/* ---- retention */

static hf_value namespace_find(hf_api *api)
{
    hf_value rows = NULL;

    if (hf_namespaces(api->server->engine, api->mem, &rows))
        return NULL;
    for (size_t i = 0; i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "name", ""), api->namespace) == 0)
            return hf_at(rows, i);
    return NULL;
}

void hf_api_retention_status(hf_api *api)
{
    int64_t days = hf_int(namespace_find(api), "retention_days", HF_NAMESPACE_DAYS);
    int64_t cutoff_us = hf_clock_real_us(api->server->clock) - days * DAY_US;
    hf_value_list *ids = hf_value_array(api->mem);
    char cutoff[HF_CLOCK_TEXT_SIZE] = "";
    hf_value page = NULL;
    hf_value items;
    hf_status st;

    if (days < 1) /* for ever */
        cutoff_us = 0;
    (void)hf_clock_print(cutoff_us, cutoff);
    st = hf_list_runs(api->server->engine,
                      hf_json_(api->mem,
                               "{'filters': {'is_terminal': true, 'closed_to': %s}, 'limit': %d}",
                               cutoff, (int)RETENTION_SCAN),
                      api->mem, &page);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    items = hf_get(page, "items");
    for (size_t i = 0; i < hf_len(items); i++)
        hf_value_append(ids, hf_get(hf_at(items, i), "run_id"));
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'retention_days': %lld, 'cutoff': %s, "
                         "'expired_run_count': %zu, 'expired_run_ids': %p, 'scan_limit': %d, "
                         "'scan_pressure': %p}",
                         api->namespace, (long long)days, cutoff, hf_len(items),
                         (const void *)hf_value_finish(ids), (int)RETENTION_SCAN,
                         (const void *)hf_value_bool(hf_len(items) == RETENTION_SCAN)));
}

void hf_api_retention_pass(hf_api *api)
{
    hf_retention_opts options = {.size_ = sizeof(options),
                                 .name = api->namespace,
                                 .most = hf_int(api->body, "limit", RETENTION_SCAN)};
    hf_value counts = NULL;
    int64_t files = 0;
    bool more = false;
    hf_err err = {0};
    hf_status st;

    if (hf_len(hf_get(api->body, "run_ids"))) { /* never remove more than was asked for */
        hf_api_invalid(api, hf_json_(api->mem, "{'run_ids': ['Runs leave in the order of their "
                                               "ends; give a limit.']}"));
        return;
    }
    if (options.most < 1 || options.most > PASS_MAX) {
        hf_api_invalid(api, hf_json_(api->mem,
                                     "{'limit': ['The field must be a number from 1 to "
                                     "%d.']}",
                                     (int)PASS_MAX));
        return;
    }
    st = hf_retention_pass(api->server->engine, &options, api->mem, &counts);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    st = hf_sweep_space(api->server, api->namespace, options.most, &files, &more, &err);
    if (st) {
        hf_api_status(api, st, err.text);
        return;
    }
    hf_api_json(
        api, 200,
        hf_json_(api->mem,
                 "{'namespace': %s, 'processed': %lld, 'pruned': %p, 'skipped': %p, 'failed': 0, "
                 "'results': [{'outcome': 'pruned', 'runs': %p, 'instances': %p}], "
                 "'payload_files': %lld, 'more': %p}",
                 api->namespace, (long long)(hf_int(counts, "runs", 0) + hf_int(counts, "held", 0)),
                 (const void *)hf_get(counts, "runs"), (const void *)hf_get(counts, "held"),
                 (const void *)hf_get(counts, "runs"), (const void *)hf_get(counts, "instances"),
                 (long long)files,
                 (const void *)hf_value_bool(more || hf_bool(counts, "more", false))));
}
