/* api_worker.c: workers come, show that they live, and go. */
#include "server/api_worker.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "server/claimant.h"
#include "server/fleet.h"
#include "server/handed.h"
#include "server/handlers.h"
#include "server/offer.h"
#include "server/presence.h"
#include "server/recall.h"
#include "server/server_impl.h"

enum { QUEUES_MAX = 16, BEAT_SECONDS_MAX = 3600, CRASHED_MAX = 64 };

#define REPEAT_US INT64_C(600000000) /* a report that is repeated so late is judged anew */

hf_value hf_worker_capabilities(hf_mem *mem)
{
    return hf_json_(
        mem,
        "{'query_tasks': true, 'update_validation_tasks': true, "
        "'synchronous_update_validation': {'supported': true, 'acceptance_boundary': "
        "'validator_approved', 'worker_capability': 'update_validation_tasks', "
        "'workflow_contract_field': 'update_validators', 'task_poll': {'strategy': "
        "'multiplexed', 'endpoint': '/worker/workflow-tasks/poll', 'request_field': "
        "'task_kinds', 'response_discriminator': 'task.task_kind', 'task_kinds': "
        "['workflow', 'update_validation', 'query']}}, 'long_poll_timeout': 30, "
        "'sticky_execution': {'supported': true, 'ttl_seconds': 300, 'task_field': "
        "'sticky_replay_mode'}, 'eager_completion': {'supported': true, 'request_field': "
        "'return_next_task', 'response_field': 'next_task'}, 'history_compression': {'supported': "
        "false}, 'supported_workflow_task_commands': ['schedule_activity', 'start_timer', "
        "'start_child_workflow', 'complete_update', 'fail_update', 'record_side_effect', "
        "'record_version_marker', 'upsert_search_attributes', 'open_condition_wait', "
        "'open_signal_wait', 'complete_workflow', 'fail_workflow', 'continue_as_new']}");
}

void hf_worker_plane(hf_buf *out)
{
    hf_mem *mem = hf_mem_new();
    hf_value said = mem ? hf_worker_capabilities(mem) : NULL;

    hf_buf_add_text(out, "\"protocol_version\":\"" HF_WORKER_PROTOCOL_TEXT
                         "\",\"server_capabilities\":");
    if (said)
        hf_json_write(out, said);
    else
        out->failed = true;
    hf_mem_free(mem);
}

void hf_worker_json(hf_api *api, int status, hf_value object)
{
    hf_api_json(api, status, object);
    if (object)
        hf_api_dress(api);
}

hf_slice hf_worker_key(hf_api *api, const char *worker)
{
    const char *key = hf_mem_format(api->mem, "%s/%s", api->namespace, worker);

    return hf_slice_of(key ? key : ""); /* nobody is called so */
}

const char *hf_worker_sentence(const char *text)
{
    const char *colon = strchr(text, ':');

    if (colon)
        text = colon + 1 + strspn(colon + 1, " ");
    return text;
}

void hf_worker_refuse(hf_api *api, hf_status st, const char *engine_text)
{
    const char *kept = hf_mem_text(api->mem, hf_slice_of(engine_text)); /* other calls follow */
    const char *text = kept ? kept : "";
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    const char *task = hf_api_param_named(api, "task");
    const char *stopped = NULL;
    char reason[64] = "rejected";
    int status = 409;

    if (len > 0 && len < sizeof(reason)) {
        memcpy(reason, text, len);
        reason[len] = '\0';
    }
    if (st == HF_RETRY && strcmp(reason, "no_owner") == 0) {
        hf_api_error(api, 503, "no_owner", "%s", hf_worker_sentence(text));
        return;
    }
    if (st != HF_REJECTED && st != HF_INVALID) {
        hf_api_status(api, st, text);
        return;
    }
    text = hf_worker_sentence(text);
    if (st == HF_REJECTED && task)
        stopped = hf_offer_stopped(api, task);
    if (stopped) /* that says more than that the task is nobody's any more */
        (void)snprintf(reason, sizeof(reason), "run_closed");
    else if (len > 10 && strcmp(reason + len - 10, "_not_found") == 0)
        status = 404;
    hf_worker_json(api, st == HF_INVALID ? 422 : status,
                   hf_json_(api->mem,
                            "{'message': %s, 'error': %s, 'reason': %s, 'remediation': null, "
                            "'recorded': false, 'can_continue': false, 'cancel_requested': %p, "
                            "'stop_reason': %s}",
                            text, reason, reason,
                            (const void *)hf_value_bool(strcmp(reason, "run_closed") == 0),
                            stopped));
}

hf_slice hf_worker_report_key(hf_api *api)
{
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    const char *key = NULL;

    if (hf_sha256_new(&sha, NULL))
        return (hf_slice){0};
    if (!hf_sha256_digest(sha, hf_buf_slice(&api->request->body), digest, NULL)) {
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
        key = hf_mem_format(api->mem, "report\n%s\n%.*s\n%s", api->namespace,
                            (int)hf_http_request_path(api->request).len,
                            hf_http_request_path(api->request).ptr, hex);
    }
    hf_sha256_free(sha);
    return hf_slice_of(key);
}

bool hf_worker_repeated(hf_api *api)
{
    hf_slice key = hf_worker_report_key(api);
    hf_value said = key.ptr ? hf_recall_get(api->server->recall, key, api->mem,
                                            hf_clock_wall_us(api->server->clock))
                            : NULL;

    if (!said)
        return false;
    if (hf_value_kind_of(hf_get(said, "next_task")) == HF_VALUE_OBJECT) {
        hf_handed_again(api, key);
        if (!hf_handed_held(api, hf_get(said, "next_task")))
            said = hf_value_merge(api->mem, said,
                                  hf_json_(api->mem, "{'next_task': null, 'next_task_id': null}"));
    }
    hf_worker_json(api, 200,
                   hf_value_merge(api->mem, said, hf_json_(api->mem, "{'repeated': true}")));
    return true;
}

void hf_worker_recorded(hf_api *api, hf_value said)
{
    hf_slice key = hf_worker_report_key(api);

    if (said && key.ptr)
        hf_recall_put(api->server->recall, key, said,
                      hf_clock_wall_us(api->server->clock) + REPEAT_US);
    hf_worker_json(api, 200, said);
}

/* Whether the name is the caller's to use; answers when it is not. */
static bool name_use(hf_api *api, const char *name)
{
    hf_server *server = api->server;
    hf_err err = {0};
    hf_status st = hf_claimants_use(server->claimants, hf_worker_key(api, name), &api->principal,
                                    server->auth, hf_clock_real_us(server->clock), &err);

    if (st == HF_DENIED)
        hf_api_error(api, 409, "lease_owner_mismatch", "%s", err.text);
    else if (st)
        hf_api_status(api, st, err.text);
    return !st;
}

static const char *name_heard(hf_api *api, const char *name)
{
    hf_presence_heard(api->server->presence, hf_worker_key(api, name), api->exchange);
    return name;
}

/* How often it says, or is told, to show itself. */
static void beat_promised(hf_api *api, const char *worker)
{
    int64_t seconds = hf_int(api->body, "heartbeat_interval_seconds", 0);

    hf_presence_promised(api->server->presence, hf_worker_key(api, worker),
                         seconds > 0 && seconds <= BEAT_SECONDS_MAX ? seconds * 1000 : 0);
}

static int beat_seconds(const hf_api *api)
{
    int64_t ms = api->server->options.worker_beat_ms;

    return (int)((ms ? ms : HF_PRESENCE_BEAT_MS) + 999) / 1000;
}

const char *hf_worker_name(hf_api *api)
{
    const char *member = hf_str(api->body, "lease_owner", NULL) ? "lease_owner" : "worker_id";
    const char *name = hf_str(api->body, member, "");
    hf_slice text = hf_value_slice(hf_get(api->body, member));

    if (text.len && text.len <= 255 && !hf_utf8_has_control(text))
        return name_use(api, name) ? name_heard(api, name) : NULL;
    hf_api_invalid(api, hf_json_(api->mem, "{'worker_id': ['The field must be a text of 1 to 255 "
                                           "characters, without control characters.']}"));
    return NULL;
}

/* What the worker's types can be told and asked; false: answered already. */
static bool types_declare(hf_api *api)
{
    hf_value contracts = hf_get(api->body, "workflow_command_contracts");
    hf_value prints = hf_get(api->body, "workflow_definition_fingerprints");
    hf_slice type;
    hf_value declared;

    for (size_t i = 0; hf_value_member(contracts, i, &type, &declared); i++) {
        const char *name = hf_mem_text(api->mem, type);
        hf_status st = hf_workers_type(api->server->engine, name ? name : "", declared,
                                       hf_str(hf_value_find(prints, type), "", NULL));

        if (st) {
            hf_api_status(api, st, hf_errmsg(api->server->engine));
            return false;
        }
    }
    return true;
}

/* The engine and other servers are told that it is there, and this one which builds are drained.
   Never stands in the worker's way: it is told again soon. */
static void worker_tell(hf_api *api, const char *worker, hf_value said)
{
    hf_engine *engine = api->server->engine;
    hf_value queues = hf_get(said, "task_queues");
    const char *queue = hf_str(said, "task_queue", hf_len(queues) ? NULL : "default");
    hf_value drained = NULL;
    hf_err err = {0};

    if (queue)
        (void)!hf_workers_beat(engine, worker, queue, hf_str(said, "build_id", NULL));
    for (size_t i = 0; i < hf_len(queues) && i < QUEUES_MAX; i++)
        (void)!hf_workers_beat(engine, worker, hf_str(hf_at(queues, i), "", ""),
                               hf_str(said, "build_id", NULL));
    if (!hf_builds(engine, api->mem, &drained))
        (void)!hf_fleet_builds(api->server->fleet, hf_slice_of(api->namespace), drained, &err);
}

/* A worker that says that it has nothing in hand did not get what was sent to it before a crash.
   `registered` is what it registered with. */
static void idle_note(hf_api *api, const char *worker, hf_value registered)
{
    int64_t most = hf_int(registered, "max_concurrent_activity_tasks", INT64_MAX);

    if (hf_int(api->body, "active_slots", 1) == 0 ||
        hf_int(api->body, "task_slots.activity_available", -1) >= most)
        (void)hf_workers_idle(api->server->engine, worker);
}

/* What processes of the same program ran when they died: told by the one that came after them. A
   name that is another credential's is nothing it may speak of. */
static void crashes_take(hf_api *api)
{
    hf_server *server = api->server;
    hf_value crashed = hf_get(api->body, "crashed");

    for (size_t i = 0; i < hf_len(crashed) && i < CRASHED_MAX; i++) {
        hf_value one = hf_at(crashed, i);
        const hf_task_claim claim = {.size_ = sizeof(claim),
                                     .task_id = hf_str(one, "task_id", ""),
                                     .worker = hf_str(one, "lease_owner", ""),
                                     .attempt = hf_int(one, "attempt", 0)};
        const char *kind = hf_str(one, "kind", "");

        if (!*claim.worker ||
            hf_claimants_use(server->claimants, hf_worker_key(api, claim.worker), &api->principal,
                             server->auth, hf_clock_wall_us(server->clock), NULL))
            continue;
        (void)!hf_task_crashed(server->engine,
                               strcmp(kind, "workflow") == 0 ? HF_TASK_WORKFLOW
                               : strcmp(kind, "step") == 0   ? HF_TASK_STEP
                                                             : HF_TASK_ACTIVITY,
                               &claim);
    }
}

static void registration_refuse(hf_api *api, hf_status st, const hf_err *err)
{
    if (st == HF_CONFLICT)
        hf_api_error(api, 409, "workflow_definition_changed", "%s", err->text);
    else
        hf_api_status(api, st, err->text);
}

/* For other servers and for those that come later; without what is recorded by itself. */
static hf_status registration_keep(hf_api *api, const char *worker, hf_value said)
{
    hf_value_list *kept = hf_value_object(api->mem);
    hf_slice name;
    hf_value value;

    for (size_t i = 0; hf_value_member(said, i, &name, &value); i++)
        if (!hf_slice_equal(name, HF_SLICE("definitions")) &&
            !hf_slice_equal(name, HF_SLICE("workflow_command_contracts")))
            hf_value_set(kept, name, value);
    said = hf_value_finish(kept);
    return said ? hf_workers_keep(api->server->engine, worker, said) : HF_NOMEM;
}

/* What workers may have and this server does not carry out. */
static const char *const not_served[] = {"local_activities",          "worker_sessions",
                                         "message_streams",           "durable_selection",
                                         "prepared_local_activities", "cooperative_cancellation"};

static bool served(hf_slice feature)
{
    for (size_t i = 0; i < sizeof(not_served) / sizeof(not_served[0]); i++)
        if (hf_slice_equal(feature, hf_slice_of(not_served[i])))
            return false;
    return true;
}

/* What the worker says that it can do, and which of it comes to nothing here. */
static hf_value manifest_answer(hf_mem *mem, hf_value said)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice feature;
    hf_value value;

    for (size_t i = 0; hf_value_member(said, i, &feature, &value); i++)
        hf_value_set(list, feature,
                     served(feature)
                         ? value
                         : hf_json_(mem, "{'supported': false, 'reason': 'not_served'}"));
    return hf_value_finish(list);
}

/* The registration as it counts from now on: clients compare it with what they sent. */
static void registration_echo(hf_api *api)
{
    hf_value queues = hf_get(api->body, "task_queues");
    hf_value able = hf_get(api->body, "capabilities");

    hf_api_add(api,
               hf_json_(api->mem,
                        "{'namespace': %s, 'task_queue': %s, 'build_id': %s, 'capabilities': %p, "
                        "'capability_manifest': %p}",
                        api->namespace,
                        hf_str(api->body, "task_queue", hf_str(hf_at(queues, 0), "", "default")),
                        hf_str(api->body, "build_id", NULL),
                        (const void *)(able ? able : hf_json_(api->mem, "[]")),
                        (const void *)manifest_answer(api->mem,
                                                      hf_get(api->body, "capability_manifest"))));
}

/* Whoever sees the worker may start its types: their contracts are declared before it is seen. */
void hf_api_worker_register(hf_api *api)
{
    const char *worker = hf_worker_name(api);
    hf_fleet *fleet = api->server->fleet;
    int64_t now_us = hf_clock_wall_us(api->server->clock);
    hf_err err = {0};
    hf_slice key;
    hf_status st;

    if (!worker)
        return;
    key = hf_worker_key(api, worker);
    st = hf_fleet_fits(fleet, key, api->body, now_us, &err);
    if (!st) {
        if (!types_declare(api) || !hf_native_declare(api))
            return;
        st = hf_fleet_register(fleet, key, api->body, now_us, &err);
    }
    if (!st) {
        st = registration_keep(api, worker, api->body);
        if (st)
            (void)hf_err_set(&err, st, "%s", hf_errmsg(api->server->engine));
    }
    if (st) {
        registration_refuse(api, st, &err);
        return;
    }
    crashes_take(api);
    worker_tell(api, worker, api->body);
    idle_note(api, worker, api->body);
    if (hf_get(api->body, "heartbeat_interval_seconds"))
        beat_promised(api, worker);
    hf_worker_json(api, 200,
                   hf_json_(api->mem,
                            "{'registered': true, 'outcome': 'registered', 'worker_id': %s, "
                            "'heartbeat_interval_seconds': %d, 'stale_after_seconds': %d}",
                            worker, beat_seconds(api), HF_WORKER_STALE_SECONDS));
    registration_echo(api);
}

void hf_api_worker_heartbeat(hf_api *api)
{
    const char *worker = hf_worker_name(api);
    hf_value registered;
    hf_slice key;

    if (!worker)
        return;
    key = hf_worker_key(api, worker);
    registered = hf_fleet_get(api->server->fleet, key, api->mem);
    idle_note(api, worker, registered);
    if (!hf_fleet_beat(api->server->fleet, key, hf_clock_wall_us(api->server->clock))) {
        hf_api_error(api, 404, "worker_not_found", "The worker is not registered here.");
        return;
    }
    beat_promised(api, worker);
    worker_tell(api, worker, registered);
    if (hf_fleet_due(api->server->fleet, key, hf_clock_wall_us(api->server->clock)))
        (void)!registration_keep(api, worker, registered);
    hf_worker_json(api, 200,
                   hf_json_(api->mem,
                            "{'acknowledged': true, 'worker_id': %s, "
                            "'heartbeat_interval_seconds': %d, 'stale_after_seconds': %d}",
                            worker, beat_seconds(api), HF_WORKER_STALE_SECONDS));
}

void hf_api_worker_deregister(hf_api *api)
{
    const char *worker = hf_api_param(api, 0);
    int64_t count;
    bool known;

    if (!name_use(api, worker))
        return;
    known = hf_fleet_remove(api->server->fleet, hf_worker_key(api, worker));
    hf_presence_left(api->server->presence, hf_worker_key(api, worker));
    (void)!hf_workers_keep(api->server->engine, worker, NULL);
    count = hf_workers_release(api->server->engine, worker); /* it may have come before a restart */
    if (!known && !count) {
        hf_api_error(api, 404, "worker_not_found", "The worker is not registered here.");
        return;
    }
    hf_worker_json(api, 200,
                   hf_json_(api->mem,
                            "{'worker_id': %s, 'outcome': 'deregistered', "
                            "'recovered_workflow_task_count': %lld}",
                            worker, (long long)count));
}
