/* offer.c: see offer.h. */
#include "server/offer.h"

#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "server/api_worker.h"
#include "holdfast/view.h"
#include "server/fleet.h"
#include "server/handed.h"
#include "server/recall.h"
#include "server/payload.h"
#include "server/server_impl.h"

#define REMEMBER_US INT64_C(600000000) /* after the lease */

enum {
    PAGE_EVENTS = 500,
    PAGE_EVENTS_MAX = 1000,
    QUEUES_MAX = 16,
    RUN_KINDS = 1U << HF_TASK_WORKFLOW | 1U << HF_TASK_QUERY | 1U << HF_TASK_VALIDATION,
    WORK_KINDS = RUN_KINDS | 1U << HF_TASK_STEP
};

/* The published names of kinds, and that of steps of machines, which only programs of ours ask for;
   an activity has a poll of its own. */
static const char *const kind_names[] = {[HF_TASK_WORKFLOW] = "workflow",
                                         [HF_TASK_ACTIVITY] = NULL,
                                         [HF_TASK_QUERY] = "query",
                                         [HF_TASK_VALIDATION] = "update_validation",
                                         [HF_TASK_STEP] = "step"};

/* ---- what is asked for */

/* What the worker registered, under either of its names; NULL: it did not say. */
static hf_value types_said(hf_value said, const char *name, const char *published)
{
    hf_value types = hf_get(said, name);

    return types ? types : hf_get(said, published);
}

/* Types that the worker knows, ended by NULL; NULL: it did not say. Who does not say which steps it
   has has none. */
static const char *const *types_of(hf_api *api, hf_value said, unsigned kinds)
{
    const hf_value known[] = {types_said(said, "supported_workflow_types", "workflow_types"),
                              types_said(said, "supported_activity_types", "activity_types"),
                              hf_get(said, "supported_steps")};
    const unsigned wanted[] = {kinds & RUN_KINDS, kinds & 1U << HF_TASK_ACTIVITY,
                               kinds & 1U << HF_TASK_STEP};
    size_t count = 0;
    const char **list;

    if ((wanted[0] && !known[0]) || (wanted[1] && !known[1]))
        return NULL;
    list = hf_mem_array(api->mem, hf_len(known[0]) + hf_len(known[1]) + hf_len(known[2]) + 2,
                        sizeof(*list));
    for (size_t k = 0; list && k < sizeof(known) / sizeof(known[0]); k++)
        for (size_t i = 0; wanted[k] && i < hf_len(known[k]); i++)
            list[count++] = hf_str(hf_at(known[k], i), "", "");
    if (list && count == 0)
        list[0] = ""; /* it registered without any: nothing fits */
    return list;
}

/* Queues behind the first, ended by NULL; NULL: there are none. *out_first is the first. */
static const char *const *queues_of(hf_api *api, const char **out_first)
{
    hf_value queues = hf_get(api->body, "task_queues");
    size_t count = hf_len(queues) < QUEUES_MAX ? hf_len(queues) : QUEUES_MAX;
    const char **list;

    *out_first = hf_str(api->body, "task_queue", hf_str(api->body, "task_queues.0", "default"));
    if (hf_str(api->body, "task_queue", NULL) || count < 2)
        return NULL;
    list = hf_mem_array(api->mem, count, sizeof(*list));
    for (size_t i = 1; list && i < count; i++)
        list[i - 1] = hf_str(hf_at(queues, i), "", "");
    return list;
}

/* What it waits for; answers and returns 0 when it names what there is not. */
static unsigned kinds_of(hf_api *api, hf_task_kind kind)
{
    hf_value names = hf_get(api->body, "task_kinds");
    unsigned kinds = 0;

    if (hf_len(names) == 0 || kind == HF_TASK_ACTIVITY || kind == HF_TASK_STEP)
        return 1U << kind;
    for (size_t i = 0; i < hf_len(names); i++) {
        const char *name = hf_str(hf_at(names, i), "", "");
        unsigned before = kinds;

        for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); k++)
            if (kind_names[k] && strcmp(kind_names[k], name) == 0)
                kinds |= 1U << k;
        if (kinds == before) {
            hf_api_invalid(api, hf_json_(api->mem, "{'task_kinds': ['The field must name workflow, "
                                                   "query or update_validation, each once.']}"));
            return 0;
        }
    }
    return kinds & WORK_KINDS;
}

static hf_task_kind kind_first(unsigned kinds)
{
    hf_task_kind kind = HF_TASK_WORKFLOW;

    while (!(kinds & 1U << kind))
        kind++;
    return kind;
}

bool hf_offer_read(hf_api *api, const char *worker, hf_task_kind kind, bool both,
                   hf_poll_opts *out_opts)
{
    unsigned kinds = both ? 1U << HF_TASK_WORKFLOW | 1U << HF_TASK_ACTIVITY : kinds_of(api, kind);
    hf_value said;

    if (!kinds)
        return false;
    said = hf_fleet_get(api->server->fleet, hf_worker_key(api, worker), api->mem);
    if (!said && kinds & 1U << HF_TASK_STEP) { /* after a restart: else it would wait for nothing */
        hf_api_error(api, 404, "worker_not_found", "The worker is not registered here.");
        return false;
    }
    *out_opts = (hf_poll_opts){
        .size_ = sizeof(*out_opts), .kind = kind_first(kinds), .also = kinds, .worker = worker};
    out_opts->queues = queues_of(api, &out_opts->queue);
    out_opts->build = hf_str(api->body, "build_id", hf_str(said, "build_id", NULL));
    out_opts->types = types_of(api, said, kinds);
    return true;
}

/* ---- what is handed out */

const char *hf_offer_time(hf_mem *mem, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    (void)hf_clock_print(us, text);
    return hf_mem_text(mem, hf_slice_of(text));
}

static hf_value object_without(hf_mem *mem, hf_value object, hf_slice name)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(object, i, &key, &item); i++)
        if (!hf_slice_equal(key, name))
            hf_value_set(list, key, item);
    return hf_value_finish(list);
}

/* Pauses that nobody named are the engine's own: a worker that compares what it asked for with what
   is recorded must not find them. */
static hf_value event_undefaulted(hf_mem *mem, hf_value event, hf_value defaults)
{
    hf_value payload = hf_get(event, "payload");
    hf_value activity = hf_get(payload, "activity");
    hf_value policy = hf_get(activity, "retry_policy");
    hf_value pauses = hf_get(policy, "backoff_seconds");

    if (!pauses || !hf_value_equal(pauses, defaults))
        return event;
    policy = object_without(mem, policy, HF_SLICE("backoff_seconds"));
    activity =
        hf_value_merge(mem, activity, hf_json_(mem, "{'retry_policy': %p}", (const void *)policy));
    payload =
        hf_value_merge(mem, payload, hf_json_(mem, "{'activity': %p}", (const void *)activity));
    return hf_value_merge(mem, event, hf_json_(mem, "{'payload': %p}", (const void *)payload));
}

/* Events as workers read them, with one name for their type: a client that takes either must not
   find both. */
static hf_value events_published(hf_mem *mem, hf_value events)
{
    hf_value defaults = hf_json_(mem, "[1, 2, 5, 10, 15, 30, 60, 120]");
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(events); i++)
        hf_value_append(
            list, event_undefaulted(mem, object_without(mem, hf_at(events, i), HF_SLICE("type")),
                                    defaults));
    return hf_value_finish(list);
}

hf_value hf_offer_page_token(hf_mem *mem, int64_t after)
{
    const char *number = hf_mem_format(mem, "%lld", (long long)after);
    hf_buf token = {0};
    hf_value made = NULL;

    hf_base64_encode(&token, hf_slice_of(number));
    if (number && hf_buf_ok(&token))
        made = hf_value_string(mem, hf_buf_slice(&token));
    hf_buf_fini(&token);
    return made;
}

bool hf_offer_page_read(hf_api *api, const char *token, int64_t *out_after)
{
    hf_buf number = {0};
    bool good = hf_slice_int(hf_slice_of(token), out_after);

    if (!good)
        good = !hf_base64_decode(&number, hf_slice_of(token), NULL) &&
               hf_slice_int(hf_buf_slice(&number), out_after);
    hf_buf_fini(&number);
    if (good && *out_after >= 0)
        return true;
    hf_api_error(api, 400, "invalid_page_token", "The page token is not one that was given out.");
    return false;
}

hf_value hf_offer_history(hf_api *api, const char *id, const char *run_id, int64_t after,
                          int64_t page, hf_value *out_arguments)
{
    const hf_history_opts opts = {
        .size_ = sizeof(opts), .id = id, .run_id = run_id, .after = after, .limit = page};
    hf_value whole = NULL;
    int64_t last;
    hf_status st = hf_history_with(api->server->engine, api->mem, &whole, &opts);

    if (st) {
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
        return NULL;
    }
    if (out_arguments)
        *out_arguments = hf_get(whole, "arguments");
    last = hf_int(whole, "last_sequence", 0);
    return hf_json_(
        api->mem,
        "{'history_events': %p, 'total_history_events': %lld, "
        "'next_history_page_token': %p}",
        (const void *)events_published(api->mem, hf_get(whole, "events")), (long long)last,
        page && after + page < last ? (const void *)hf_offer_page_token(api->mem, after + page)
                                    : (const void *)hf_value_null());
}

/* Whether the worker said that it keeps runs from task to task. */
static bool keeps_runs(hf_api *api, const char *worker)
{
    hf_value said = hf_fleet_get(api->server->fleet, hf_worker_key(api, worker), api->mem);
    hf_value able = hf_get(said, "capabilities");

    for (size_t i = 0; i < hf_len(able); i++)
        if (strcmp(hf_str(hf_at(able, i), "", ""), "sticky_execution") == 0)
            return true;
    return false;
}

static hf_value workflow_task(hf_api *api, hf_value task)
{
    int64_t size = hf_int(api->body, "history_page_size", PAGE_EVENTS);
    hf_mem *mem = api->mem;
    hf_value arguments = NULL;
    hf_value page;

    if (hf_native_wanted(api))
        return hf_native_task(api, task);
    page =
        hf_offer_history(api, hf_str(task, "workflow_id", ""), hf_str(task, "run_id", NULL), 0,
                         size < 1 || size > PAGE_EVENTS_MAX ? PAGE_EVENTS_MAX : size, &arguments);

    if (!page)
        return NULL;
    if (!keeps_runs(api, hf_str(task, "lease_owner", "")))
        task = object_without(mem, task, HF_SLICE("sticky_replay_mode"));
    return hf_value_merge(mem, hf_value_merge(mem, task, page),
                          hf_json_(mem, "{'history': %p, 'arguments': %p}",
                                   (const void *)hf_get(page, "history_events"),
                                   (const void *)arguments));
}

/* A query or a validation: all of the history, since nothing of the run may be known there. */
static hf_value question_task(hf_api *api, hf_value task)
{
    hf_value arguments = NULL;
    hf_value page;

    if (hf_native_wanted(api))
        return hf_native_task(api, task);
    page = hf_offer_history(api, hf_str(task, "workflow_id", ""), hf_str(task, "run_id", NULL), 0,
                            0, &arguments);
    if (!page)
        return NULL;
    return hf_value_merge(
        api->mem, hf_value_merge(api->mem, task, page),
        hf_json_(api->mem, "{'workflow_arguments': %p}", (const void *)arguments));
}

/* The arguments in the codec that the worker asked for: Avro, or JSON as a text. */
static hf_value activity_arguments(hf_api *api, hf_value task)
{
    hf_value arguments = hf_get(task, "arguments");
    hf_value plain = NULL;

    if (strcmp(hf_str(api->body, "payload_codec", "avro"), "json") != 0 ||
        hf_payload_open(api->mem, arguments, &plain, NULL))
        return arguments;
    return hf_json_(api->mem, "{'codec': 'json', 'blob': %s}", hf_text(api->mem, plain));
}

static hf_value activity_task(hf_api *api, hf_value task)
{
    return hf_value_merge(api->mem, task,
                          hf_json_(api->mem, "{'attempt': %lld, 'arguments': %p}",
                                   (long long)hf_int(task, "attempt_number", 1),
                                   (const void *)activity_arguments(api, task)));
}

/* What is remembered of a task, so that late reports can be told what became of its run. */
static hf_slice task_key(hf_api *api, const char *task_id)
{
    return hf_slice_of(hf_mem_format(api->mem, "task\n%s\n%s", api->namespace, task_id));
}

static void task_remember(hf_api *api, hf_value task)
{
    hf_slice key = task_key(api, hf_str(task, "task_id", ""));
    hf_value run = hf_json_(api->mem, "{'id': %s, 'run_id': %s}", hf_str(task, "workflow_id", ""),
                            hf_str(task, "run_id", ""));

    if (key.ptr && run)
        hf_recall_put(api->server->recall, key, run,
                      hf_int(task, "lease_expires_at", 0) + REMEMBER_US);
}

hf_value hf_offer_run(hf_api *api, const char *task_id)
{
    hf_slice key = task_key(api, task_id);

    return key.ptr ? hf_recall_get(api->server->recall, key, api->mem,
                                   hf_clock_wall_us(api->server->clock))
                   : NULL;
}

const char *hf_offer_stopped(hf_api *api, const char *task_id)
{
    hf_value run = hf_offer_run(api, task_id);
    hf_value detail = NULL;
    const char *status;

    if (!run || hf_describe(api->server->engine, run, api->mem, &detail) ||
        !hf_bool(detail, "is_terminal", false))
        return NULL;
    status = hf_str(detail, "status", "");
    return strcmp(status, "cancelled") == 0    ? "run_cancelled"
           : strcmp(status, "terminated") == 0 ? "run_terminated"
                                               : "run_closed";
}

hf_value hf_offer_task(hf_api *api, hf_value task)
{
    const char *kind = hf_str(task, "kind", "");
    hf_value whole = strcmp(kind, "workflow") == 0   ? workflow_task(api, task)
                     : strcmp(kind, "activity") == 0 ? activity_task(api, task)
                     : strcmp(kind, "step") == 0     ? task
                                                     : question_task(api, task);

    if (!whole)
        return NULL;
    task_remember(api, task);
    return hf_value_merge(
        api->mem, whole,
        hf_json_(api->mem,
                 "{'task_kind': %s, 'task_type': %s, 'payload_codec': 'avro', 'lease_expires_at': "
                 "%s}",
                 kind, kind, hf_offer_time(api->mem, hf_int(task, "lease_expires_at", 0))));
}

hf_value hf_offer_list(hf_mem *mem, const hf_value *tasks, size_t count)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < count; i++)
        hf_value_append(list, tasks[i]);
    return hf_value_finish(list);
}

hf_value hf_offer_tasks(hf_api *api, const hf_value *tasks, size_t count, hf_slice key)
{
    hf_value sent[HF_TASKS_TAKE_MAX];
    hf_value whole[HF_TASKS_TAKE_MAX];
    size_t good = 0;
    hf_value list;

    for (size_t i = 0; i < count; i++) {
        whole[good] = hf_offer_task(api, tasks[i]);
        if (!whole[good])
            hf_handed_back(api, tasks[i]);
        else
            sent[good++] = tasks[i];
    }
    list = hf_offer_list(api->mem, whole, good);
    for (size_t i = 0; !list && i < good; i++)
        hf_handed_back(api, sent[i]);
    hf_handed_watch(api, sent, list ? good : 0, key);
    return list;
}

hf_value hf_offer_lease(hf_api *api, hf_value task)
{
    return hf_json_(api->mem,
                    "{'task': %p, 'poll_status': 'leased', 'lease': {'leased_at': %s, "
                    "'lease_expires_at': %p}}",
                    (const void *)task,
                    hf_offer_time(api->mem, hf_clock_wall_us(api->server->clock)),
                    (const void *)hf_get(task, "lease_expires_at"));
}
