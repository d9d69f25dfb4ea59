/* remote_local.c: the worker that a node of a shared store is for the other nodes. It is the worker
   of programs behind a server (remote_runner.c, remote_attempt.c), but what it would send to a
   server is done by this process: a poll waits at this node's matching, for tasks of whatever queue
   whose types the program brings, and a report is one of this node, which carries it to the node
   that has the run. Runs of this node whose types it brings never come here. */
#include <string.h>

#include "base/alloc.h"
#include "base/id.h"
#include "base/value.h"
#include "engine/engine_impl.h"
#include "engine/remote_impl.h"
#include "engine/remote_room.h"
#include "holdfast/worker.h"
#include "task/matching.h"

enum { LEASES = 6, CACHE_BYTES = 8 << 20, TASK_ID = 64, VERB = 24 };

/* ---- polls */

/* hf_poll_spec.got: the hand's thread waits, and the arena of its task is free. */
static bool local_got(void *arg, hf_value task)
{
    remote_hand *hand = arg;
    hf_remote *remote = hand->remote;
    bool took;

    hf_mutex_lock(&remote->lock);
    hand->task = task ? hf_value_copy(hand->task_mem, task) : NULL;
    hand->polled = true;
    took = hand->task != NULL;
    hf_cond_broadcast(&remote->changed);
    hf_mutex_unlock(&remote->lock);
    return took;
}

/* What a worker that keeps runs has not seen of this one comes with its task. */
static hf_value history_add(const remote_hand *hand, hf_value task)
{
    bool whole = strcmp(hf_str(task, "kind", ""), "workflow") != 0;
    hf_value events = NULL;

    if (hf_remote_kind_of(task) != REMOTE_WORKFLOWS)
        return task;
    if (hf_task_events(hand->remote->engine, hf_str(task, "workflow_id", ""),
                       hf_str(task, "run_id", NULL),
                       whole ? 0 : hf_int(task, "known_history_sequence", 0),
                       hf_int(task, "last_history_sequence", INT64_MAX), hand->task_mem, &events))
        return NULL; /* its lease ends */
    return hf_value_merge(hand->task_mem, task,
                          hf_json_(hand->task_mem, "{'history': %p}", (const void *)events));
}

/* Of the calling thread's tasks. */
static void namespace_use(const hf_remote *remote, int64_t namespace_key)
{
    engine_slot *slot = hf_engine_slot_get(remote->engine);

    if (slot)
        slot->namespace_key = namespace_key;
}

hf_value hf_remote_local_poll(remote_hand *hand)
{
    hf_remote *remote = hand->remote;
    const struct {
        unsigned kinds;
        const hf_slice *types;
        size_t count;
    } works[] = {
        [REMOTE_WORKFLOWS] = {1U << HF_TASK_WORKFLOW | 1U << HF_TASK_QUERY |
                                  1U << HF_TASK_VALIDATION,
                              remote->workflow_types, remote->workflow_type_count},
        [REMOTE_ACTIVITIES] = {1U << HF_TASK_ACTIVITY, remote->activity_types,
                               remote->activity_type_count},
        [REMOTE_STEPS] = {1U << HF_TASK_STEP, remote->step_types, remote->step_type_count}};
    const hf_poll_spec spec = {.kinds = works[hand->kind].kinds,
                               .types = works[hand->kind].types,
                               .type_count = works[hand->kind].count,
                               .worker = hf_slice_of(remote->worker),
                               .build = hf_slice_of(remote->app->build_id),
                               .lease_us = LEASES *
                                           hf_shards_lease_us(hf_node_shards(remote->engine->node)),
                               .got = local_got,
                               .arg = hand};
    hf_poll *poll = NULL;
    hf_err err;

    hand->polled = false;
    hand->task = NULL;
    hf_mem_free(hand->task_mem);
    hand->task_mem = hf_mem_new_small();
    hf_mem_reset(hand->mem);
    if (!hand->task_mem || hf_matching_poll(remote->engine->matching, &spec, &poll, &err)) {
        hf_remote_pause(remote, REMOTE_MEMORY_MS);
        return NULL;
    }
    hf_mutex_lock(&remote->lock);
    while (!hand->polled && !remote->stopping)
        hf_cond_wait(&remote->changed, &remote->lock);
    hf_mutex_unlock(&remote->lock);
    (void)hf_poll_end(poll); /* what was on its way goes back */
    if (!hand->task)
        return NULL;
    hand->namespace_key = hf_int(hand->task, "namespace_key", 0);
    namespace_use(hand->remote, hand->namespace_key);
    return history_add(hand, hand->task);
}

/* ---- reports */

/* "/api/worker/KIND-tasks/TASK/VERB" */
static bool path_read(const char *path, char kind[VERB], char task_id[TASK_ID], char verb[VERB])
{
    hf_slice rest = hf_slice_of(path);
    char *const into[] = {NULL, NULL, NULL, kind, task_id, verb};
    const size_t sizes[] = {0, 0, 0, VERB, TASK_ID, VERB};
    hf_slice part;

    for (size_t i = 0; i < sizeof(into) / sizeof(into[0]); i++) {
        if (!hf_slice_split(&rest, '/', &part) || (into[i] && part.len >= sizes[i]))
            return false;
        if (into[i]) {
            memcpy(into[i], part.ptr, part.len);
            into[i][part.len] = '\0';
        }
    }
    return true;
}

static int64_t attempt_number(hf_value body)
{
    const char *text = hf_str(body, "activity_attempt_id", "");
    hf_ulid id;

    return hf_ulid_parse(hf_slice_of(text), &id) ? hf_ulid_counter(&id) : 0;
}

static hf_status workflow_ask(hf_engine *engine, const hf_task_claim *claim, const char *verb,
                              hf_value body, hf_mem *mem, hf_value *out_body)
{
    hf_value task = NULL;
    int64_t after = 0;
    hf_status st;

    if (strcmp(verb, "decisions") == 0)
        return hf_task_decide(engine, claim, hf_get(body, "decisions"),
                              hf_bool(body, "measured", false), mem);
    if (strcmp(verb, "fail") == 0)
        return hf_task_fail(engine, claim, hf_get(body, "failure"));
    st = hf_task_extend(engine, claim, mem, &task);
    if (st || strcmp(verb, "heartbeat") == 0)
        return st;
    if (strcmp(verb, "messages") == 0) {
        hf_value messages = NULL;

        st = hf_task_messages(engine, hf_str(task, "workflow_id", ""), hf_str(body, "stream", ""),
                              hf_int(body, "after", 0), hf_int(body, "max", 0), mem, &messages);
        *out_body = hf_json_(mem, "{'messages': %p}", (const void *)messages);
        return st;
    }
    if (!hf_slice_int(hf_slice_of(hf_str(body, "next_history_page_token", "0")), &after))
        after = 0;
    return hf_task_events(engine, hf_str(task, "workflow_id", ""), hf_str(task, "run_id", NULL),
                          after, after + hf_int(body, "page_size", 0), mem, out_body);
}

static hf_status activity_ask(hf_engine *engine, const hf_task_claim *claim, hf_value body)
{
    return hf_task_beat(engine, claim, hf_get(body, "details"));
}

static hf_status question_ask(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim,
                              const char *verb, hf_value body)
{
    const char *otherwise = kind == HF_TASK_QUERY ? "query_rejected" : "update_validator_rejected";

    if (strcmp(verb, "complete") == 0)
        return hf_question_answer(engine, kind, claim, hf_get(body, "result_envelope"));
    if (strcmp(verb, "approve") == 0)
        return hf_question_answer(engine, kind, claim, NULL);
    return hf_question_refuse(engine, kind, claim, otherwise, hf_str(body, "failure.message", ""),
                              NULL);
}

/* A refusal is an answer like any other. */
static hf_status local_end(hf_engine *engine, hf_status st, hf_mem *mem, hf_client_reply *out_reply,
                           hf_err *err)
{
    if (!st)
        return HF_OK;
    (void)hf_err_set(err, st, "%s", hf_errmsg(engine));
    if (st != HF_REJECTED)
        return st;
    out_reply->status = 409;
    out_reply->body = hf_json_(mem, "{'message': %s, 'reason': 'rejected'}", err->text);
    return HF_OK;
}

/* The names of paths and fields are those of the worker protocol (docs/reference/http.md). */
hf_status hf_remote_local_ask(remote_hand *hand, const hf_client_request *request, hf_mem *mem,
                              hf_client_reply *out_reply, hf_err *err)
{
    hf_engine *engine = hand->remote->engine;
    hf_value body = request->body;
    char kind[VERB];
    char task_id[TASK_ID];
    char verb[VERB];
    hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = task_id, .worker = hand->remote->worker};
    hf_status st;

    *out_reply = (hf_client_reply){.status = 200, .body = hf_value_null()};
    if (!path_read(request->path, kind, task_id, verb))
        return hf_err_set(err, HF_UNSUPPORTED, "nobody answers %s here", request->path);
    namespace_use(hand->remote, hand->namespace_key);
    if (strcmp(kind, "workflow-tasks") == 0) {
        claim.attempt = hf_int(body, "workflow_task_attempt", 0);
        st = workflow_ask(engine, &claim, verb, body, mem, &out_reply->body);
    } else if (strcmp(kind, "activity-tasks") == 0) {
        claim.attempt = attempt_number(body);
        st = activity_ask(engine, &claim, body);
    } else if (strcmp(kind, "query-tasks") == 0) {
        claim.attempt = hf_int(body, "query_task_attempt", 0);
        st = question_ask(engine, HF_TASK_QUERY, &claim, verb, body);
    } else {
        claim.attempt = hf_int(body, "update_validation_attempt", 0);
        st = question_ask(engine, HF_TASK_VALIDATION, &claim, verb, body);
    }
    return local_end(engine, st, mem, out_reply, err);
}

hf_status hf_remote_local_tell(remote_hand *hand, hf_value said, hf_client_reply *out_reply,
                               hf_err *err)
{
    hf_engine *engine = hand->remote->engine;
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_str(said, "task_id", ""),
                                 .worker = hand->remote->worker,
                                 .attempt = hf_int(said, "attempt", 0)};
    hf_value failure = hf_get(said, "failure");
    hf_status st;

    *out_reply = (hf_client_reply){.status = 200, .body = hf_value_null()};
    namespace_use(hand->remote, hand->namespace_key);
    if (hf_get(said, "decisions"))
        st = hf_task_decide(engine, &claim, hf_get(said, "decisions"),
                            hf_bool(said, "measured", false), hand->mem);
    else if (hf_get(said, "step"))
        st = hf_task_step_ended(engine, &claim, hf_get(said, "step"), hand->mem);
    else if (failure)
        st = hf_task_failure(engine, &claim, !hf_bool(failure, "non_retryable", false),
                             hf_str(failure, "type", NULL), hf_str(failure, "message", NULL),
                             hf_get(failure, "details"));
    else
        st = hf_task_result(engine, &claim, hf_get(said, "result"));
    return local_end(engine, st, hand->mem, out_reply, err);
}

/* The owner of a run may be gone for good: then the report ends when nobody has it. */
void hf_remote_local_crashes(hf_remote *remote)
{
    static const hf_task_kind kinds[REMOTE_KINDS] = {[REMOTE_WORKFLOWS] = HF_TASK_WORKFLOW,
                                                     [REMOTE_ACTIVITIES] = HF_TASK_ACTIVITY,
                                                     [REMOTE_STEPS] = HF_TASK_STEP};
    hf_value left = hf_remote_crumb_left(remote->crumb, remote->keeper_mem);

    for (size_t i = 0; i < hf_len(left) && hf_remote_ready(remote); i++) {
        hf_value one = hf_at(left, i);
        const hf_task_claim claim = {.size_ = sizeof(claim),
                                     .task_id = hf_str(one, "task_id", ""),
                                     .worker = hf_str(one, "lease_owner", ""),
                                     .attempt = hf_int(one, "attempt", 0)};

        namespace_use(remote, hf_int(one, "namespace_key", 0));
        (void)!hf_task_crashed(remote->engine, kinds[hf_remote_kind_of(one)], &claim);
    }
    hf_remote_crumb_told(remote->crumb);
}

/* ---- opening */

static bool alias_next(hf_slice *rest, hf_slice *out_alias)
{
    bool found = false;

    while (!found && hf_slice_split(rest, ',', out_alias)) {
        *out_alias = hf_slice_trim(*out_alias);
        found = out_alias->len > 0;
    }
    return found;
}

/* A definition is called by its aliases, too: a node without it does not know better. */
static size_t workflow_types(const hf_app *app, hf_slice *types)
{
    size_t count = 0;

    for (const hf_workflow_def *def = app->workflows; def && def->type; def++) {
        hf_slice rest = hf_slice_of(def->aliases);
        hf_slice alias;

        if (types)
            types[count] = hf_slice_of(def->type);
        count++;
        while (alias_next(&rest, &alias)) {
            if (types)
                types[count] = alias;
            count++;
        }
    }
    return count;
}

static hf_status types_take(hf_remote *remote, hf_err *err)
{
    const hf_app *app = remote->app;
    size_t workflows = workflow_types(app, NULL);
    size_t activities = 0;

    while (app->activities && app->activities[activities].name)
        activities++;
    remote->workflow_types = hf_alloc_array(workflows + activities + 1, sizeof(hf_slice));
    if (!remote->workflow_types)
        return hf_err_nomem(err, "the types of a program");
    remote->activity_types = remote->workflow_types + workflows;
    (void)workflow_types(app, remote->workflow_types);
    for (size_t i = 0; i < activities; i++)
        remote->activity_types[i] = hf_slice_of(app->activities[i].name);
    remote->workflow_type_count = workflows;
    remote->activity_type_count = activities;
    remote->step_mem = hf_mem_new_small();
    return remote->step_mem ? hf_remote_step_types(app, remote->step_mem, &remote->step_types,
                                                   &remote->step_type_count, err)
                            : hf_err_nomem(err, "the types of a program");
}

hf_status hf_remote_open_local(hf_engine *engine, hf_remote **out_remote, hf_err *err)
{
    hf_remote *remote = NULL;
    hf_status st = hf_remote_new(engine, &remote, err);

    if (st)
        return st;
    remote->local = true;
    remote->registered = true;
    hf_remote_cache_limit(remote, CACHE_BYTES);
    st = types_take(remote, err);
    if (st)
        hf_remote_close(remote);
    else
        *out_remote = remote;
    return st;
}
