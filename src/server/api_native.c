/* api_native.c: workers that are programs of ours. They run the code of their workflows as the
   engine does: their tasks bring history as it is stored, and they send back what the code decided,
   not commands that it has to be guessed from. Many reports go in one request, which brings back
   the tasks that come next, so that their commits and the cost of a request are shared. Everything
   else is the published protocol, but for the result of a workflow without all that a description
   has. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/fleet.h"
#include "server/handed.h"
#include "server/handlers.h"
#include "server/offer.h"
#include "server/payload.h"
#include "server/recall.h"
#include "server/server_impl.h"
#include "server/waiting.h"

enum { RESULT_WAIT_MAX_S = 60 };

bool hf_native_wanted(hf_api *api)
{
    return strcmp(hf_str(api->body, "history_format", ""), "native") == 0;
}

hf_value hf_native_history(hf_api *api, hf_value task, int64_t after, int64_t size)
{
    int64_t upto = hf_int(task, "last_history_sequence", INT64_MAX);
    hf_value events = NULL;
    hf_status st;

    if (size > 0 && upto - after > size)
        upto = after + size;
    st = hf_task_events(api->server->engine, hf_str(task, "workflow_id", ""),
                        hf_str(task, "run_id", NULL), after, upto, api->mem, &events);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    return st ? NULL : events;
}

/* A worker that keeps runs is sent what it has not seen. It may have lost the run meanwhile: then
   it asks for the rest (hf_api_task_history). */
hf_value hf_native_task(hf_api *api, hf_value task)
{
    bool whole = strcmp(hf_str(task, "kind", ""), "workflow") != 0;
    bool kept = !whole && hf_bool(api->body, "sticky", false);
    hf_value events =
        hf_native_history(api, task, kept ? hf_int(task, "known_history_sequence", 0) : 0,
                          whole ? 0 : hf_int(api->body, "history_page_size", 0));

    return events ? hf_value_merge(api->mem, task,
                                   hf_json_(api->mem, "{'history': %p}", (const void *)events))
                  : NULL;
}

static bool limits_declare(hf_api *api)
{
    hf_status st = hf_workers_limits(api->server->engine, hf_get(api->body, "limits"), 0);

    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    return !st;
}

bool hf_native_declare(hf_api *api)
{
    hf_value definitions = hf_get(api->body, "definitions");
    hf_slice type;
    hf_value definition;

    for (size_t i = 0; hf_value_member(definitions, i, &type, &definition); i++) {
        const char *name = hf_mem_text(api->mem, type);
        hf_status st =
            hf_workers_definition(api->server->engine, name ? name : "", hf_get(definition, "body"),
                                  hf_str(definition, "fingerprint", NULL));

        if (st) {
            hf_api_status(api, st, hf_errmsg(api->server->engine));
            return false;
        }
    }
    return limits_declare(api);
}

void hf_api_task_decide(hf_api *api)
{
    const char *worker = hf_worker_name(api);
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, "workflow_task_attempt", 0)};
    hf_status st;

    if (!worker)
        return;
    st =
        hf_task_decide(api->server->engine, &claim, hf_value_find(api->body, HF_SLICE("decisions")),
                       hf_bool(api->body, "measured", false), api->mem);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        hf_worker_json(
            api, 200,
            hf_json_(api->mem, "{'recorded': true, 'task_id': %s, 'reason': null}", claim.task_id));
}

/* Only who holds the task may read what the run's code would. */
void hf_api_task_messages(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *worker = hf_worker_name(api);
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, "workflow_task_attempt", 0)};
    hf_value messages = NULL;
    hf_value task = NULL;
    hf_status st;

    if (!worker)
        return;
    st = hf_task_extend(engine, &claim, api->mem, &task);
    if (!st)
        st = hf_task_messages(engine, hf_str(task, "workflow_id", ""),
                              hf_str(api->body, "stream", ""), hf_int(api->body, "after", 0),
                              hf_int(api->body, "max", 0), api->mem, &messages);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(engine));
    else
        hf_worker_json(api, 200, hf_json_(api->mem, "{'messages': %p}", (const void *)messages));
}

/* ---- exchanges */

#define RECALL_US INT64_C(60000000) /* an exchange whose answer was lost is asked again by then */

/* What one report would have been answered with. */
static hf_value report_answer(hf_api *api, const hf_report_end *end)
{
    hf_value body = NULL;

    if (!end->status)
        return hf_json_(api->mem, "{'status': 200}");
    hf_worker_refuse(api, end->status, end->message);
    if (hf_json_read(api->mem, hf_buf_slice(&api->reply.body), NULL, &body, NULL))
        return NULL;
    return hf_value_merge(api->mem, body, hf_json_(api->mem, "{'status': %d}", api->reply.status));
}

/* NULL: answered already. */
static hf_value reports_take(hf_api *api, const char *worker)
{
    hf_value reports = hf_get(api->body, "reports");
    hf_value_list *answers = hf_value_array(api->mem);
    hf_report_end *ends = hf_mem_array(api->mem, hf_len(reports) + 1, sizeof(*ends));
    hf_status st = ends ? HF_OK : HF_NOMEM;

    if (!st && hf_len(reports))
        st = hf_tasks_report(api->server->engine, worker, reports, api->mem, ends);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return NULL;
    }
    for (size_t i = 0; i < hf_len(reports); i++)
        hf_value_append(answers, report_answer(api, &ends[i]));
    return hf_value_finish(answers);
}

/* What the worker asks for, of tasks of the kind. False: none. */
static bool tasks_ask(hf_api *api, const char *worker, hf_task_kind kind, int64_t most,
                      hf_poll_opts *out_opts)
{
    return most > 0 && !atomic_load(&api->server->draining) &&
           hf_offer_read(api, worker, kind, false, out_opts) &&
           !hf_fleet_drained(api->server->fleet, hf_slice_of(api->namespace),
                             hf_slice_of(out_opts->queue), out_opts->build, NULL);
}

/* Tasks of the kind that are there, behind those that were taken before. */
static size_t tasks_take(hf_api *api, const char *worker, hf_task_kind kind, int64_t most,
                         hf_value *tasks, size_t count)
{
    int64_t room = HF_TASKS_TAKE_MAX - (int64_t)count;
    size_t taken = 0;
    hf_poll_opts opts;

    if (room < 1 || !tasks_ask(api, worker, kind, most, &opts))
        return count;
    (void)!hf_tasks_take(api->server->engine, &opts, (size_t)(most < room ? most : room), api->mem,
                         tasks + count, &taken);
    return count + taken;
}

/* Polls for the attempts that the reports are going to schedule: an attempt that somebody waits for
   is on the record with its activity. NULL: there will be none. */
static hf_tasks *attempts_await(hf_api *api, const char *worker, int64_t most)
{
    hf_value reports = hf_get(api->body, "reports");
    hf_tasks *awaited = NULL;
    int64_t decisions = 0;
    hf_poll_opts opts;

    for (size_t i = 0; i < hf_len(reports); i++)
        decisions += hf_value_find(hf_at(reports, i), HF_SLICE("decisions")) != NULL;
    most = most < decisions ? most : decisions;
    most = most < HF_TASKS_TAKE_MAX ? most : HF_TASKS_TAKE_MAX;
    if (!tasks_ask(api, worker, HF_TASK_ACTIVITY, most, &opts) ||
        hf_tasks_begin(api->server->engine, &opts, (size_t)most, api->mem, &awaited))
        return NULL;
    return awaited;
}

static void exchange_answer(hf_api *api, hf_value answers, const hf_value *tasks, size_t count,
                            hf_slice key)
{
    hf_worker_json(api, 200,
                   hf_json_(api->mem, "{'reports': %p, 'tasks': %p}", (const void *)answers,
                            (const void *)hf_offer_tasks(api, tasks, count, key)));
}

/* The same exchange again, because its answer was lost: tasks that the worker does not hold any
   more are left out. */
static void exchange_again(hf_api *api, hf_value before, hf_slice key)
{
    hf_value tasks = hf_get(before, "tasks");
    hf_value held[HF_TASKS_TAKE_MAX];
    size_t count = 0;

    hf_handed_again(api, key);
    for (size_t i = 0; i < hf_len(tasks) && i < HF_TASKS_TAKE_MAX; i++)
        if (hf_handed_held(api, hf_at(tasks, i)))
            held[count++] = hf_at(tasks, i);
    exchange_answer(api, hf_get(before, "reports"), held, count, key);
}

void hf_api_exchange(hf_api *api)
{
    hf_server *server = api->server;
    const char *worker = hf_worker_name(api);
    const char *id = hf_str(api->body, "exchange_id", "");
    int64_t now_us = hf_clock_wall_us(server->clock);
    int64_t attempts = hf_int(api->body, "activity_slots", 0);
    hf_value tasks[HF_TASKS_TAKE_MAX];
    hf_tasks *awaited;
    size_t count = 0;
    hf_value answers;
    hf_value before;
    hf_slice key;

    if (!worker)
        return;
    key = hf_slice_of(hf_mem_format(api->mem, "exchange\n%s\n%s\n%s", api->namespace, worker, id));
    before = key.ptr ? hf_recall_get(server->recall, key, api->mem, now_us) : NULL;
    if (before) {
        exchange_again(api, before, key);
        return;
    }
    (void)hf_fleet_beat(server->fleet, hf_worker_key(api, worker), now_us);
    awaited = attempts_await(api, worker, attempts);
    answers = reports_take(api, worker);
    hf_tasks_end(awaited, tasks, &count);
    for (size_t i = 0; !answers && i < count; i++)
        hf_handed_back(api, tasks[i]);
    if (!answers)
        return;
    attempts -= (int64_t)count;
    count = tasks_take(api, worker, HF_TASK_WORKFLOW, hf_int(api->body, "workflow_slots", 0), tasks,
                       count);
    count = tasks_take(api, worker, HF_TASK_STEP, hf_int(api->body, "step_slots", 0), tasks, count);
    count = tasks_take(api, worker, HF_TASK_ACTIVITY, attempts, tasks, count);
    before = hf_json_(api->mem, "{'reports': %p, 'tasks': %p}", (const void *)answers,
                      (const void *)hf_offer_list(api->mem, tasks, count));
    if (key.ptr && before)
        hf_recall_put(server->recall, key, before, now_us + RECALL_US);
    exchange_answer(api, answers, tasks, count, key);
}

/* ---- results */

/* How a run ended: with a result, or with a failure. */
static hf_value end_body(hf_api *api, const char *id, hf_value result, const hf_error *failure)
{
    if (!failure)
        return hf_json_(api->mem,
                        "{'namespace': %s, 'workflow_id': %s, 'status': 'completed', 'result': %p, "
                        "'result_envelope': %p}",
                        api->namespace, id, (const void *)result,
                        (const void *)hf_payload_seal(api->mem, result));
    return hf_json_(api->mem,
                    "{'namespace': %s, 'workflow_id': %s, 'status': %s, 'error': {'type': %s, "
                    "'message': %s, 'retryable': %p, 'details': %p}}",
                    api->namespace, id, failure->status == HF_CANCELLED ? "cancelled" : "failed",
                    failure->type, failure->message,
                    (const void *)hf_value_bool(failure->retryable),
                    failure->details ? (const void *)hf_payload_seal(api->mem, failure->details)
                                     : (const void *)hf_value_null());
}

static bool result_look(hf_api *api, const char *id, bool last)
{
    hf_engine *engine = api->server->engine;
    const hf_error *failure = NULL;
    hf_value result = NULL;
    hf_status st = hf_result(engine, id, 0, &result, &failure);

    if (st == HF_TIMEOUT && !last)
        return false;
    if (st == HF_TIMEOUT)
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'workflow_id': %s, 'status': 'open'}",
                             api->namespace, id));
    else if (failure || !st)
        hf_api_json(api, 200, end_body(api, id, result, failure));
    else if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "instance_not_found", "%s", hf_errmsg(engine));
    else
        hf_api_status(api, st, hf_errmsg(engine));
    return true;
}

/* How long a request may wait, in milliseconds. */
static bool wait_read(hf_api *api, int64_t *out_ms)
{
    int64_t wait_s = 0;

    if (!hf_api_query_int(api, "wait_ms", 0, 0, RESULT_WAIT_MAX_S * 1000, out_ms) ||
        !hf_api_query_int(api, "wait_timeout_seconds", 0, 0, RESULT_WAIT_MAX_S, &wait_s))
        return false;
    *out_ms += hf_seconds(wait_s);
    return true;
}

void hf_api_result(hf_api *api)
{
    int64_t wait_ms = 0;

    if (wait_read(api, &wait_ms))
        hf_waiting_begin(api, hf_api_param_named(api, "workflow_id"), wait_ms, true, result_look);
}

/* ---- how an instance stands */

static bool settled_look(hf_api *api, const char *id, bool last)
{
    static const char *const words[] = {[HF_SETTLED_DONE] = "done",
                                        [HF_SETTLED_FAILED] = "failed",
                                        [HF_SETTLED_AWAITING] = "awaiting",
                                        [HF_SETTLED_BUSY] = "busy",
                                        [HF_SETTLED_NOT_FOUND] = "not_found"};
    bool terminal = hf_api_query_bool(api, "terminal");
    hf_settled now = {.state = HF_SETTLED_BUSY};
    hf_value body;
    hf_status st = hf_await(api->server->engine, id, 0, terminal, &now);

    if (!st && now.state == HF_SETTLED_BUSY && !last)
        return false;
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return true;
    }
    body = now.state == HF_SETTLED_DONE || now.state == HF_SETTLED_FAILED
               ? end_body(api, id, now.result, now.error)
               : hf_json_(api->mem, "{'namespace': %s, 'workflow_id': %s}", api->namespace, id);
    hf_api_json(
        api, 200,
        body ? hf_value_merge(api->mem, body, hf_json_(api->mem, "{'state': %s}", words[now.state]))
             : NULL);
    return true;
}

void hf_api_settled(hf_api *api)
{
    int64_t wait_ms = 0;

    if (wait_read(api, &wait_ms))
        hf_waiting_begin(api, hf_api_param_named(api, "workflow_id"), wait_ms,
                         hf_api_query_bool(api, "terminal"), settled_look);
}
