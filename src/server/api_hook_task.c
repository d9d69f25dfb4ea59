/* api_hook_task.c: workers behind webhooks: tasks that are ready are listed, claimed by their id,
   and reported on. The same leases, the same fence and the same engine calls as the worker plane;
   what differs is who may call and how a claim is named: an attempt by its id, a workflow task by
   an id that has the number of the claim in it, so that a late report names a claim that is over.
 */
#include <string.h>

#include "base/id.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/handed.h"
#include "server/handlers.h"
#include "server/offer.h"
#include "server/server_impl.h"

/* The task of a claim over a webhook says its attempt: its id has the number that the engine gave
   it (20 bits, the first of which is set) and the attempt behind it. */
enum { ATTEMPT_BITS = 12, ATTEMPT_MASK = (1 << ATTEMPT_BITS) - 1 };

#define CLAIMED_LEAST (UINT32_C(1) << 31)

enum { POLL_USUAL = 10, POLL_MAX = 100, PAGE_EVENTS = 500, PAGE_EVENTS_MAX = 1000 };

#define CLAIM_LATER "1" /* seconds until a task that somebody holds may be asked for again */

static const char *id_with(hf_mem *mem, const char *text, uint32_t counter)
{
    char out[HF_ULID_TEXT_SIZE];
    hf_ulid id;

    if (!hf_ulid_parse(hf_slice_of(text), &id))
        return "";
    id = hf_ulid_form(hf_ulid_time_ms(&id) * 1000, hf_ulid_key(&id), counter);
    hf_ulid_print(&id, out);
    return hf_mem_text(mem, hf_slice_of(out));
}

static uint32_t id_counter(const char *text)
{
    hf_ulid id;

    return hf_ulid_parse(hf_slice_of(text), &id) ? hf_ulid_counter(&id) : 0;
}

/* ---- what is ready */

static void tasks_list(hf_api *api, hf_task_kind kind)
{
    hf_value tasks = NULL;
    int64_t limit = 0;
    hf_status st;

    if (!hf_api_query_int(api, "limit", POLL_USUAL, 1, POLL_MAX, &limit))
        return;
    st = hf_tasks_ready(api->server->engine, kind, hf_api_query_text(api, "queue"), limit, api->mem,
                        &tasks);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    hf_api_json(api, 200, hf_json_(api->mem, "{'tasks': %p}", (const void *)tasks));
}

void hf_api_hook_workflow_poll(hf_api *api)
{
    tasks_list(api, HF_TASK_WORKFLOW);
}

void hf_api_hook_activity_poll(hf_api *api)
{
    tasks_list(api, HF_TASK_ACTIVITY);
}

/* ---- claims */

/* Whether somebody holds the task. The number of no claim is asked with, so nothing is touched. */
static bool task_held(hf_api *api, hf_task_kind kind, const char *task)
{
    const hf_task_claim nobody = {.size_ = sizeof(nobody), .task_id = task, .attempt = -1};
    hf_engine *engine = api->server->engine;
    hf_status st = kind == HF_TASK_ACTIVITY ? hf_task_beat(engine, &nobody, NULL)
                                            : hf_task_extend(engine, &nobody, NULL, NULL);
    const char *text = hf_errmsg(engine);

    return st == HF_REJECTED && (strncmp(text, "stale_attempt:", 14) == 0 ||
                                 strncmp(text, "workflow_task_attempt_mismatch:", 31) == 0);
}

/* 404 for what there is not, 409 for what cannot be had now. */
static void claim_refuse(hf_api *api, hf_task_kind kind, const char *task)
{
    bool held = task_held(api, kind, task);
    const char *reason = held ? "task_not_claimable" : "task_not_found";

    hf_api_json(api, held ? 409 : 404,
                hf_json_(api->mem,
                         "{'claimed': false, 'task_id': %s, 'reason': %s, 'error': %s, 'message': "
                         "%s, 'remediation': null, 'retry_after_seconds': %p}",
                         task, reason, reason,
                         held ? "Somebody holds the task." : "No such task is ready.",
                         (const void *)(held ? hf_json_(api->mem, CLAIM_LATER) : hf_value_null())));
    if (held)
        hf_http_reply_field(&api->reply, "Retry-After", HF_SLICE(CLAIM_LATER));
}

/* The task, which is the caller's then; NULL: answered already. */
static hf_value task_claim(hf_api *api, hf_task_kind kind)
{
    const char *task = hf_api_param_named(api, "task");
    const char *owner = hf_str(api->body, "lease_owner", "webhook");
    const hf_poll_opts opts = {.size_ = sizeof(opts), .kind = kind, .worker = owner, .task = task};
    hf_value out = NULL;
    hf_value whole;
    hf_status st;

    if (!*owner) {
        hf_api_invalid(api, hf_json_(api->mem, "{'lease_owner': ['The field must be a text of 1 to "
                                               "255 characters.']}"));
        return NULL;
    }
    st = hf_poll_now(api->server->engine, &opts, api->mem, &out);
    if (st && st != HF_NOTFOUND) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return NULL;
    }
    if (!out) {
        claim_refuse(api, kind, task);
        return NULL;
    }
    whole = hf_offer_task(api, out);
    if (whole)
        hf_handed_watch(api, &out, 1, (hf_slice){0});
    else
        hf_handed_back(api, out);
    return whole;
}

void hf_api_hook_activity_claim(hf_api *api)
{
    hf_value task = task_claim(api, HF_TASK_ACTIVITY);

    if (!task)
        return;
    hf_api_json(
        api, 200,
        hf_json_(
            api->mem,
            "{'claimed': true, 'task_id': %p, 'workflow_instance_id': %p, 'workflow_run_id': %p, "
            "'activity_execution_id': %p, 'activity_attempt_id': %p, 'attempt_number': %p, "
            "'activity_type': %p, 'activity_class': %p, 'idempotency_key': %p, 'payload_codec': "
            "%p, 'arguments': %p, 'arguments_envelope': %p, 'retry_policy': %p, 'connection': "
            "null, 'queue': %p, 'lease_owner': %p, 'lease_expires_at': %p, 'reason': null, "
            "'reason_detail': null, 'retry_after_seconds': null, 'backend_error': null, "
            "'compatibility_reason': null}",
            (const void *)hf_get(task, "task_id"), (const void *)hf_get(task, "workflow_id"),
            (const void *)hf_get(task, "run_id"), (const void *)hf_get(task, "task_id"),
            (const void *)hf_get(task, "activity_attempt_id"),
            (const void *)hf_get(task, "attempt_number"),
            (const void *)hf_get(task, "activity_type"),
            (const void *)hf_get(task, "activity_type"),
            (const void *)hf_get(task, "idempotency_key"),
            (const void *)hf_get(task, "arguments.codec"),
            (const void *)hf_get(task, "arguments.blob"), (const void *)hf_get(task, "arguments"),
            (const void *)hf_get(task, "retry_policy"), (const void *)hf_get(task, "task_queue"),
            (const void *)hf_get(task, "lease_owner"),
            (const void *)hf_get(task, "lease_expires_at")));
}

void hf_api_hook_workflow_claim(hf_api *api)
{
    hf_value task = task_claim(api, HF_TASK_WORKFLOW);

    if (!task)
        return;
    hf_api_json(
        api, 200,
        hf_value_merge(
            api->mem, task,
            hf_json_(
                api->mem,
                "{'claimed': true, 'task_id': %s, 'workflow_instance_id': %p, "
                "'workflow_run_id': %p, 'queue': %p, 'connection': null, 'reason': "
                "null}",
                id_with(api->mem, hf_str(task, "task_id", ""),
                        id_counter(hf_str(task, "task_id", "")) << ATTEMPT_BITS |
                            ((uint32_t)hf_int(task, "workflow_task_attempt", 0) & ATTEMPT_MASK)),
                (const void *)hf_get(task, "workflow_id"), (const void *)hf_get(task, "run_id"),
                (const void *)hf_get(task, "task_queue"))));
}

/* ---- reports */

/* A refusal of the engine, "reason: sentence": 404 or 409. */
static void report_refuse(hf_api *api, hf_status st, const char *missing)
{
    const char *text = hf_mem_text(api->mem, hf_slice_of(hf_errmsg(api->server->engine)));
    const char *reason;
    bool found;

    if (st != HF_REJECTED) {
        hf_api_status(api, st, text ? text : "");
        return;
    }
    reason = text ? hf_mem_format(api->mem, "%.*s", (int)strcspn(text, ":"), text) : NULL;
    found = reason && strcmp(reason, "task_not_found") != 0;
    hf_api_json(api, found ? 409 : 404,
                hf_json_(api->mem,
                         "{'recorded': false, 'error': %s, 'reason': %s, 'message': %s, "
                         "'remediation': null, 'next_task_id': null}",
                         found ? reason : missing, found ? reason : missing,
                         hf_worker_sentence(text)));
}

static void report_recorded(hf_api *api)
{
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'recorded': true, 'reason': null, 'next_task_id': null}"));
}

/* An attempt, and what it belongs to; all of one reading. */
typedef struct attempt_seen {
    hf_value run;
    hf_value activity;
    hf_value attempt;
    hf_task_claim claim;
} attempt_seen;

static hf_value item_find(hf_value items, const char *id)
{
    for (size_t i = 0; i < hf_len(items); i++)
        if (strcmp(hf_str(hf_at(items, i), "id", ""), id) == 0)
            return hf_at(items, i);
    return NULL;
}

/* The attempt that the path names; false: answered already. */
static bool attempt_read(hf_api *api, attempt_seen *out)
{
    hf_engine *engine = api->server->engine;
    const char *id = hf_api_param_named(api, "attempt");
    const char *task = id_with(api->mem, id, 0);
    hf_value run = hf_offer_run(api, task);
    hf_status st = run ? HF_OK : hf_activity_run(engine, task, api->mem, &run);

    *out = (attempt_seen){.claim = {.size_ = sizeof(out->claim),
                                    .task_id = task,
                                    .worker = hf_str(api->body, "lease_owner", NULL),
                                    .attempt = id_counter(id)}};
    if (!st)
        st = hf_describe(engine, run, api->mem, &out->run);
    if (st && st != HF_NOTFOUND) {
        hf_api_status(api, st, hf_errmsg(engine));
        return false;
    }
    out->activity = item_find(hf_get(out->run, "activities"), task);
    out->attempt = item_find(hf_get(out->activity, "attempts"), id);
    if (!out->attempt)
        hf_api_error(api, 404, "attempt_not_found", "There is no attempt %s.", id);
    return out->attempt != NULL;
}

/* What became of an attempt: whether its worker should go on, and why not. */
static void attempt_answer(hf_api *api, const attempt_seen *seen, bool beaten)
{
    const char *id = hf_api_param_named(api, "attempt");
    bool running = strcmp(hf_str(seen->attempt, "status", ""), "running") == 0;
    bool closed = hf_bool(seen->run, "is_terminal", false);

    hf_api_json(
        api, 200,
        hf_json_(
            api->mem,
            "{'can_continue': %p, 'cancel_requested': %p, 'reason': %p, 'heartbeat_recorded': %p, "
            "'workflow_instance_id': %p, 'workflow_run_id': %p, 'workflow_task_id': %s, "
            "'activity_execution_id': %s, 'activity_attempt_id': %s, 'attempt_number': %lld, "
            "'run_status': %p, 'run_closed_reason': %p, 'run_closed_at': %p, 'activity_status': "
            "%p, 'attempt_status': %p, 'task_status': %s, 'lease_owner': %p, 'lease_expires_at': "
            "%p, 'last_heartbeat_at': %p}",
            (const void *)hf_value_bool(running && !closed), (const void *)hf_value_bool(closed),
            (const void *)(closed     ? hf_json_(api->mem, "'run_closed'")
                           : !running ? hf_json_(api->mem, "'stale_attempt'")
                                      : hf_value_null()),
            (const void *)hf_value_bool(beaten), (const void *)hf_get(seen->run, "instance_id"),
            (const void *)hf_get(seen->run, "run_id"), seen->claim.task_id, seen->claim.task_id, id,
            (long long)seen->claim.attempt, (const void *)hf_get(seen->run, "status"),
            (const void *)hf_get(seen->run, "closed_reason"),
            (const void *)hf_get(seen->run, "closed_at"),
            (const void *)hf_get(seen->activity, "status"),
            (const void *)hf_get(seen->attempt, "status"), running && !closed ? "leased" : "closed",
            (const void *)hf_get(seen->attempt, "lease_owner"),
            (const void *)hf_get(seen->attempt, "lease_expires_at"),
            (const void *)hf_get(seen->attempt, "last_heartbeat_at")));
}

void hf_api_hook_attempt(hf_api *api)
{
    attempt_seen seen;

    if (attempt_read(api, &seen))
        attempt_answer(api, &seen, false);
}

void hf_api_hook_attempt_heartbeat(hf_api *api)
{
    attempt_seen seen;
    hf_status st;

    if (!attempt_read(api, &seen))
        return;
    st = hf_task_beat(api->server->engine, &seen.claim, hf_get(api->body, "progress"));
    if (st && st != HF_REJECTED) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    if (attempt_read(api, &seen)) /* it may be over */
        attempt_answer(api, &seen, st == HF_OK);
}

void hf_api_hook_attempt_complete(hf_api *api)
{
    attempt_seen seen;
    hf_status st;

    if (!attempt_read(api, &seen))
        return;
    st = hf_task_result(api->server->engine, &seen.claim,
                        hf_value_find(api->body, HF_SLICE("result")));
    if (st)
        report_refuse(api, st, "attempt_not_found");
    else
        report_recorded(api);
}

void hf_api_hook_attempt_fail(hf_api *api)
{
    hf_value failure = hf_get(api->body, "failure");
    bool object = hf_value_kind_of(failure) == HF_VALUE_OBJECT;
    attempt_seen seen;
    hf_status st;

    if (!object && hf_value_kind_of(failure) != HF_VALUE_STRING) {
        hf_api_invalid(api, hf_json_(api->mem, "{'failure': ['The field must be a text or an "
                                               "object.']}"));
        return;
    }
    if (!attempt_read(api, &seen))
        return;
    st = hf_task_failure(
        api->server->engine, &seen.claim, !hf_bool(failure, "non_retryable", false),
        hf_str(failure, "type", hf_str(failure, "exception_type", NULL)),
        object ? hf_str(failure, "message", NULL) : hf_str(api->body, "failure", NULL),
        hf_get(failure, "details"));
    if (st)
        report_refuse(api, st, "attempt_not_found");
    else
        report_recorded(api);
}

static hf_task_claim workflow_claim(hf_api *api)
{
    const char *task = hf_api_param_named(api, "task");
    uint32_t counter = id_counter(task);
    bool claimed = counter >= CLAIMED_LEAST;

    return (hf_task_claim){.size_ = sizeof(hf_task_claim),
                           .task_id =
                               claimed ? id_with(api->mem, task, counter >> ATTEMPT_BITS) : task,
                           .worker = hf_str(api->body, "lease_owner", NULL),
                           .attempt = hf_int(api->body, "workflow_task_attempt",
                                             claimed ? (int64_t)(counter & ATTEMPT_MASK) : 0)};
}

void hf_api_hook_workflow_complete(hf_api *api)
{
    hf_task_claim claim = workflow_claim(api);
    hf_value errors = NULL;
    hf_status st = hf_task_answer(api->server->engine, &claim, hf_get(api->body, "commands"),
                                  api->mem, &errors);

    if (st == HF_INVALID && errors)
        hf_api_json(api, 422,
                    hf_json_(api->mem,
                             "{'recorded': false, 'message': 'The commands do not fit.', 'error': "
                             "'invalid_commands', 'reason': 'invalid_commands', 'remediation': "
                             "null, 'errors': %p, 'validation_errors': %p}",
                             (const void *)errors, (const void *)errors));
    else if (st)
        report_refuse(api, st, "task_not_found");
    else
        report_recorded(api);
}

void hf_api_hook_workflow_fail(hf_api *api)
{
    hf_task_claim claim = workflow_claim(api);
    hf_status st = hf_task_fail(api->server->engine, &claim, hf_get(api->body, "failure"));

    if (st)
        report_refuse(api, st, "task_not_found");
    else
        report_recorded(api);
}

void hf_api_hook_workflow_heartbeat(hf_api *api)
{
    hf_task_claim claim = workflow_claim(api);
    hf_status st = hf_task_extend(api->server->engine, &claim, NULL, NULL);

    if (st)
        report_refuse(api, st, "task_not_found");
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'renewed': true, 'can_continue': true, 'task_id': %s, 'reason': "
                             "null}",
                             claim.task_id));
}

/* More of the history that a claim came with; shows that the worker lives. */
void hf_api_hook_workflow_history(hf_api *api)
{
    const char *token = hf_api_query_text(api, "page_token");
    hf_task_claim claim = workflow_claim(api);
    int64_t after = 0;
    int64_t size = 0;
    hf_value task = NULL;
    hf_value page;
    hf_status st;

    if (token && !hf_offer_page_read(api, token, &after))
        return;
    if (!hf_api_query_int(api, "page_size", PAGE_EVENTS, 1, PAGE_EVENTS_MAX, &size))
        return;
    st = hf_task_extend(api->server->engine, &claim, api->mem, &task);
    if (st) {
        report_refuse(api, st, "task_not_found");
        return;
    }
    page = hf_offer_history(api, hf_str(task, "workflow_id", ""), hf_str(task, "run_id", NULL),
                            after, size, NULL);
    if (page)
        hf_api_json(api, 200, page);
}
