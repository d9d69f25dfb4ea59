/* api_task.c: what workers say about the tasks they hold. Every answer is given after the commit; a
   report that comes too late gets the contract's reason and changes nothing. */
#include <string.h>

#include "base/id.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/fleet.h"
#include "server/handed.h"
#include "server/handlers.h"
#include "server/offer.h"
#include "server/server_impl.h"

enum { PAGE_EVENTS = 500, PAGE_EVENTS_MAX = 1000 };

/* Who reports on what; false: answered already. */
static bool claim_get(hf_api *api, hf_task_claim *out_claim)
{
    const char *worker = hf_worker_name(api);

    *out_claim = (hf_task_claim){.size_ = sizeof(*out_claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, "workflow_task_attempt", 0)};
    return worker != NULL;
}

/* The attempt's number is part of its id. */
static bool attempt_get(hf_api *api, hf_task_claim *out_claim)
{
    const char *id = hf_str(api->body, "activity_attempt_id", "");
    hf_ulid ulid;

    if (!claim_get(api, out_claim))
        return false;
    if (!hf_ulid_parse(hf_slice_of(id), &ulid)) {
        hf_worker_refuse(api, HF_REJECTED, "attempt_not_found: there is no such attempt");
        return false;
    }
    out_claim->attempt = hf_ulid_counter(&ulid);
    return true;
}

/* The next task for the worker, when it asked for one and there is one; else null. Its client must
   still be there: a task that nobody receives is lost until its lease ends. */
static hf_value next_task(hf_api *api, const hf_task_claim *claim)
{
    hf_server *server = api->server;
    hf_poll_opts opts;
    hf_value task = NULL;
    hf_value whole;

    if (!hf_bool(api->body, "return_next_task", false) || atomic_load(&server->draining) ||
        !hf_http_exchange_alive(api->exchange) ||
        !hf_offer_read(api, claim->worker, HF_TASK_WORKFLOW, true, &opts) ||
        hf_fleet_drained(server->fleet, hf_slice_of(api->namespace), hf_slice_of(opts.queue),
                         opts.build, NULL) ||
        hf_poll_now(server->engine, &opts, api->mem, &task) || !task)
        return hf_value_null();
    whole = hf_offer_task(api, task);
    if (whole)
        hf_handed_watch(api, &task, 1, hf_worker_report_key(api));
    else
        hf_handed_back(api, task);
    return whole ? whole : hf_value_null();
}

static void recorded(hf_api *api, const hf_task_claim *claim, const char *outcome)
{
    hf_value next = next_task(api, claim);
    hf_value id = hf_get(next, "task_id");

    hf_worker_recorded(
        api, hf_json_(api->mem,
                      "{'recorded': true, 'task_id': %s, 'outcome': %s, 'reason': null, "
                      "'workflow_task_attempt': %lld, 'next_task': %p, 'next_task_id': %p}",
                      claim->task_id, outcome, (long long)claim->attempt, (const void *)next,
                      (const void *)(id ? id : hf_value_null())));
}

static void attempt_recorded(hf_api *api, const hf_task_claim *claim, const char *outcome)
{
    hf_value next = next_task(api, claim);
    hf_value id = hf_get(next, "task_id");

    hf_worker_recorded(
        api, hf_json_(api->mem,
                      "{'recorded': true, 'task_id': %s, 'outcome': %s, 'reason': null, "
                      "'activity_attempt_id': %s, 'next_task': %p, 'next_task_id': %p}",
                      claim->task_id, outcome, hf_str(api->body, "activity_attempt_id", ""),
                      (const void *)next, (const void *)(id ? id : hf_value_null())));
}

void hf_api_task_complete(hf_api *api)
{
    hf_task_claim claim;
    hf_value errors = NULL;
    hf_status st;

    if (!claim_get(api, &claim) || hf_worker_repeated(api))
        return;
    st = hf_task_answer(api->server->engine, &claim, hf_value_find(api->body, HF_SLICE("commands")),
                        api->mem, &errors);
    if (st == HF_INVALID && errors)
        hf_worker_json(api, 422,
                       hf_json_(api->mem,
                                "{'message': 'The commands do not fit.', 'error': "
                                "'invalid_commands', 'reason': 'invalid_commands', 'remediation': "
                                "null, 'recorded': false, 'errors': %p, 'validation_errors': %p}",
                                (const void *)errors, (const void *)errors));
    else if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        recorded(api, &claim, "completed");
}

/* No failure, though it is reported as one: the code has nothing to decide before history goes on.
 */
static bool task_waits(const hf_api *api)
{
    return strcmp(hf_str(api->body, "failure.type", ""), "WorkflowTaskWaitingForHistory") == 0;
}

void hf_api_task_fail(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    hf_task_claim claim;
    bool waits = task_waits(api);
    hf_status st;

    if (!claim_get(api, &claim) || hf_worker_repeated(api))
        return;
    if (waits)
        st = hf_task_idle(engine, &claim);
    else
        st = hf_task_fail(engine, &claim,
                          hf_get(api->body, hf_get(api->body, "failure") ? "failure" : "message"));
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(engine));
    else
        recorded(api, &claim, waits ? "waiting_for_history" : "failed");
}

void hf_api_task_heartbeat(hf_api *api)
{
    hf_task_claim claim;
    hf_value task = NULL;
    hf_status st;

    if (!claim_get(api, &claim))
        return;
    st = hf_task_extend(api->server->engine, &claim, api->mem, &task);
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        hf_worker_json(
            api, 200,
            hf_json_(api->mem,
                     "{'renewed': true, 'can_continue': true, 'reason': null, 'task_id': %s, "
                     "'workflow_task_attempt': %lld, 'lease_owner': %s, 'task_status': 'leased', "
                     "'lease_expires_at': %s, 'run_status': 'running'}",
                     claim.task_id, (long long)claim.attempt, claim.worker,
                     hf_offer_time(api->mem, hf_int(task, "lease_expires_at", 0))));
}

/* More of the history that a task came with. Extending the lease shows that the worker still holds
   the task. */
void hf_api_task_history(hf_api *api)
{
    const char *token =
        hf_str(api->body, "next_history_page_token", hf_str(api->body, "page_token", "0"));
    int64_t size =
        hf_int(api->body, "page_size", hf_int(api->body, "history_page_size", PAGE_EVENTS));
    int64_t after = 0;
    hf_task_claim claim;
    hf_value page = NULL;
    hf_value task = NULL;
    hf_status st;

    if (!claim_get(api, &claim))
        return;
    if (!hf_offer_page_read(api, token, &after))
        return;
    if (size < 1 || size > PAGE_EVENTS_MAX)
        size = PAGE_EVENTS_MAX;
    st = hf_task_extend(api->server->engine, &claim, api->mem, &task);
    if (st) {
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
        return;
    }
    page = hf_native_wanted(api)
               ? hf_native_history(api, task, after, size)
               : hf_offer_history(api, hf_str(task, "workflow_id", ""),
                                  hf_str(task, "run_id", NULL), after, size, NULL);
    if (page)
        hf_worker_json(api, 200, page);
}

void hf_api_attempt_complete(hf_api *api)
{
    hf_task_claim claim;
    hf_status st;

    if (!attempt_get(api, &claim) || hf_worker_repeated(api))
        return;
    st = hf_task_result(api->server->engine, &claim, hf_value_find(api->body, HF_SLICE("result")));
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        attempt_recorded(api, &claim, "completed");
}

void hf_api_attempt_fail(hf_api *api)
{
    hf_value failure = hf_get(api->body, "failure");
    hf_task_claim claim;
    hf_status st;

    if (!attempt_get(api, &claim) || hf_worker_repeated(api))
        return;
    if (hf_value_kind_of(failure) != HF_VALUE_OBJECT)
        failure = api->body; /* the flat form of the published document */
    st = hf_task_failure(api->server->engine, &claim, !hf_bool(failure, "non_retryable", false),
                         hf_str(failure, "type", hf_str(failure, "exception_type", NULL)),
                         hf_str(failure, "message", hf_str(failure, "error", NULL)),
                         hf_get(failure, "details"));
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        attempt_recorded(api, &claim, "failed");
}

void hf_api_attempt_heartbeat(hf_api *api)
{
    hf_task_claim claim;
    hf_status st;

    if (!attempt_get(api, &claim))
        return;
    st = hf_task_beat(api->server->engine, &claim,
                      hf_get(api->body, hf_get(api->body, "details") ? "details" : "progress"));
    if (st == HF_REJECTED) { /* not an error: how a worker learns that it should stop */
        const char *text = hf_mem_text(api->mem, hf_slice_of(hf_errmsg(api->server->engine)));
        const char *stopped = hf_offer_stopped(api, claim.task_id);

        hf_worker_json(
            api, 200,
            hf_json_(api->mem,
                     "{'can_continue': false, 'cancel_requested': true, "
                     "'heartbeat_recorded': false, 'task_id': %s, "
                     "'activity_attempt_id': %s, 'reason': %s, 'message': %s, 'stop_reason': %s}",
                     claim.task_id, hf_str(api->body, "activity_attempt_id", ""),
                     stopped ? "run_closed"
                             : hf_mem_format(api->mem, "%.*s", (int)strcspn(text, ":"), text),
                     text, stopped));
        return;
    }
    if (st)
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
    else
        hf_worker_json(api, 200,
                       hf_json_(api->mem,
                                "{'can_continue': true, 'cancel_requested': false, "
                                "'heartbeat_recorded': true, 'task_id': %s, "
                                "'activity_attempt_id': %s, 'attempt_number': %lld, "
                                "'lease_owner': %s, 'reason': null}",
                                claim.task_id, hf_str(api->body, "activity_attempt_id", ""),
                                (long long)claim.attempt, claim.worker));
}
