/* remote.c: the handle: clients, registration, threads. What is worked on is in remote_runner.c,
   remote_attempt.c and remote_step.c, what is asked in remote_call.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/value.h"
#include "engine/engine_impl.h"
#include "engine/remote_impl.h"
#include "engine/remote_room.h"
#include "store/snapshot.h"

enum { BACKOFF_FIRST_MS = 50, BACKOFF_MOST_MS = 5000, KEEP_MS = 1000, HEARTBEAT_S = 20 };

bool hf_remote_is(const char *where)
{
    return strncmp(where, "http://", 7) == 0 || strncmp(where, "https://", 8) == 0;
}

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

/* ---- asking */

/* A client of the calling thread until it is given back. */
static hf_status client_take(hf_remote *remote, hf_client **out_client, hf_err *err)
{
    remote_client *found;

    hf_mutex_lock(&remote->lock);
    found = remote->idle;
    if (found)
        remote->idle = found->next;
    hf_mutex_unlock(&remote->lock);
    if (!found)
        return hf_client_open(&remote->address, out_client, err);
    *out_client = found->client;
    hf_alloc_free(found);
    return HF_OK;
}

/* `good`: it may be used again. */
static void client_give(hf_remote *remote, hf_client *client, bool good)
{
    remote_client *idle = good ? hf_alloc(sizeof(*idle)) : NULL;

    if (!idle) {
        hf_client_close(client);
        return;
    }
    idle->client = client;
    hf_mutex_lock(&remote->lock);
    idle->next = remote->idle;
    remote->idle = idle;
    hf_mutex_unlock(&remote->lock);
}

bool hf_remote_busy(const hf_client_reply *reply)
{
    return reply->status == 429 || reply->status == 503 || reply->status == 507;
}

static bool worth_asking_again(hf_status st, const hf_client_reply *reply)
{
    return st == HF_UNREACHABLE || (!st && hf_remote_busy(reply));
}

void hf_remote_pause(hf_remote *remote, int64_t ms)
{
    int64_t until_us = now_us() + ms * 1000;

    hf_mutex_lock(&remote->lock);
    while (!remote->stopping && now_us() < until_us)
        (void)!hf_cond_wait_until(&remote->changed, &remote->lock, until_us);
    hf_mutex_unlock(&remote->lock);
}

static int64_t backoff_ms(int tries, int64_t asked_ms)
{
    int64_t ms = (int64_t)BACKOFF_FIRST_MS << (tries < 7 ? tries : 7);

    if (asked_ms > ms)
        ms = asked_ms;
    return ms < BACKOFF_MOST_MS ? ms : BACKOFF_MOST_MS;
}

hf_status hf_remote_ask_with(hf_client *client, const hf_client_request *request,
                             int64_t patience_ms, hf_mem *mem, hf_client_reply *out_reply,
                             hf_err *err)
{
    int64_t until_us = now_us() + patience_ms * 1000;
    hf_status st;

    for (int tries = 0;; tries++) {
        int64_t ms;

        st = hf_client_ask(client, request, mem, out_reply, err);
        ms = backoff_ms(tries, out_reply->retry_after_ms);
        if (!worth_asking_again(st, out_reply) || now_us() + ms * 1000 > until_us)
            return st;
        st = hf_client_pause(client, ms, err);
        if (st)
            return st;
    }
}

hf_status hf_remote_ask(hf_remote *remote, const hf_client_request *request, int64_t patience_ms,
                        hf_mem *mem, hf_client_reply *out_reply, hf_err *err)
{
    hf_client *client = NULL;
    hf_status st = client_take(remote, &client, err);

    *out_reply = (hf_client_reply){0};
    if (st)
        return st;
    if (!atomic_load(&remote->met))
        patience_ms = 0;
    st = hf_remote_ask_with(client, request, patience_ms, mem, out_reply, err);
    if (!st)
        atomic_store(&remote->met, true);
    client_give(remote, client, !st);
    return st;
}

hf_status hf_remote_report(remote_hand *hand, const char *path, hf_value body,
                           hf_client_reply *out_reply, hf_err *err)
{
    const hf_client_request request = {.method = "POST", .path = path, .body = body};

    hf_status st = HF_NOMEM;

    *out_reply = (hf_client_reply){0};
    if (!path || !body)
        return hf_err_nomem(err, "a report");
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) { /* it may be said twice */
        if (i)
            hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
        st = hand->remote->local ? hf_remote_local_ask(hand, &request, hand->mem, out_reply, err)
                                 : hf_remote_ask(hand->remote, &request, REMOTE_PATIENCE_MS,
                                                 hand->mem, out_reply, err);
    }
    return st;
}

hf_status hf_remote_sign(remote_hand *hand, const hf_client_request *request, hf_mem *mem,
                         hf_client_reply *out_reply, hf_err *err)
{
    return hand->remote->local ? hf_remote_local_ask(hand, request, mem, out_reply, err)
                               : hf_remote_ask(hand->remote, request, 0, mem, out_reply, err);
}

/* ---- registration */

static void complain(const hf_remote *remote, const char *event, const hf_err *err)
{
    const hf_log_field fields[] = {hf_log_text("server", hf_slice_of(remote->url)),
                                   hf_log_text("message", hf_slice_of(err->text))};

    hf_log_write(&remote->engine->log, HF_LOG_WARN, event, fields, 2);
}

static void types_add(hf_mem *mem, hf_value_list *types, const hf_workflow_def *def)
{
    hf_slice rest = hf_slice_of(def->aliases);
    hf_slice alias;

    hf_value_append(types, hf_value_string(mem, hf_slice_of(def->type)));
    while (hf_slice_split(&rest, ',', &alias))
        if (hf_slice_trim(alias).len)
            hf_value_append(types, hf_value_string(mem, hf_slice_trim(alias)));
}

static hf_value definition_value(hf_mem *mem, const hf_registry_workflow *workflow)
{
    hf_buf text = {0};
    hf_value body;
    hf_value made = NULL;

    hf_snapshot_write(&workflow->snapshot, &text);
    body = hf_buf_ok(&text) ? hf_parse_(mem, hf_buf_text(&text), text.len) : NULL;
    if (body)
        made = hf_json_(mem, "{'fingerprint': %s, 'body': %p}", workflow->snapshot.fingerprint,
                        (const void *)body);
    hf_buf_fini(&text);
    return made;
}

const char *hf_remote_queue(const hf_remote *remote)
{
    return remote->app && remote->app->queue ? remote->app->queue : "default";
}

/* Attempts in hand, and requests of registrations before `number` that may still bring one. */
static int64_t hands_full(hf_remote *remote, uint64_t number)
{
    int64_t count;

    hf_mutex_lock(&remote->lock);
    count = hf_remote_link_attempts(remote->link, number);
    hf_mutex_unlock(&remote->lock);
    return count;
}

static uint64_t registration_number(hf_remote *remote)
{
    uint64_t number;

    hf_mutex_lock(&remote->lock);
    number = remote->registrations;
    hf_mutex_unlock(&remote->lock);
    return number;
}

static hf_value limits_value(const hf_app *app, hf_mem *mem)
{
    hf_value_list *limits = hf_value_array(mem);

    for (const hf_limit_def *def = app->limits; def && def->name; def++)
        hf_value_append(limits, hf_json_(mem,
                                         "{'name': %s, 'at_once': %d, 'allowed': %lld, 'per_ms': "
                                         "%lld, 'burst': %lld}",
                                         def->name, def->at_once, (long long)def->allowed,
                                         (long long)def->per, (long long)def->burst));
    return hf_value_finish(limits);
}

static hf_value registration_make(hf_remote *remote, hf_mem *mem)
{
    const hf_app *app = remote->app;
    hf_value_list *types = hf_value_array(mem);
    hf_value_list *activities = hf_value_array(mem);
    hf_value_list *definitions = hf_value_object(mem);
    hf_value_list *steps = hf_value_array(mem);
    hf_slice *step_types = NULL;
    size_t step_count = 0;
    hf_value made[4];

    for (const hf_workflow_def *def = app->workflows; def && def->type; def++) {
        const hf_registry_workflow *workflow =
            hf_registry_find_workflow(remote->registry, hf_slice_of(def->type));

        types_add(mem, types, def);
        hf_value_set(definitions, hf_slice_of(def->type), definition_value(mem, workflow));
    }
    for (const hf_machine_def *def = app->machines; def && def->type; def++) {
        const hf_registry_workflow *machine =
            hf_registry_find_workflow(remote->registry, hf_slice_of(def->type));

        hf_value_append(types, hf_value_string(mem, hf_slice_of(def->type)));
        hf_value_set(definitions, hf_slice_of(def->type), definition_value(mem, machine));
    }
    for (const hf_activity_def *def = app->activities; def && def->name; def++)
        hf_value_append(activities, hf_value_string(mem, hf_slice_of(def->name)));
    if (hf_remote_step_types(app, mem, &step_types, &step_count, NULL))
        return NULL;
    for (size_t i = 0; i < step_count; i++)
        hf_value_append(steps, hf_value_string(mem, step_types[i]));
    made[0] = hf_value_finish(types);
    made[1] = hf_value_finish(activities);
    made[2] = hf_value_finish(definitions);
    made[3] = hf_value_finish(steps);
    return hf_json_(mem,
                    "{'worker_id': %s, 'task_queue': %s, 'runtime': 'c', 'sdk_version': "
                    "'" HF_VERSION_TEXT "', 'build_id': %s, 'supported_workflow_types': %p, "
                    "'supported_activity_types': %p, 'definitions': %p, 'supported_steps': %p, "
                    "'active_slots': %lld, "
                    "'heartbeat_interval_seconds': %d, 'crashed': %p, 'limits': %p}",
                    remote->worker, hf_remote_queue(remote), app->build_id ? app->build_id : "",
                    (const void *)made[0], (const void *)made[1], (const void *)made[2],
                    (const void *)made[3],
                    (long long)hands_full(remote, registration_number(remote) + 1),
                    (int)HEARTBEAT_S, (const void *)hf_remote_crumb_left(remote->crumb, mem),
                    (const void *)limits_value(app, mem));
}

static hf_status registration_send(hf_remote *remote, hf_mem *mem, hf_err *err)
{
    hf_client_request request = {.method = "POST", .path = "/api/worker/register"};
    hf_client_reply reply;
    hf_status st;

    hf_mem_reset(mem);
    request.body = registration_make(remote, mem);
    if (!request.body)
        return hf_err_nomem(err, "a registration");
    st = hf_remote_ask(remote, &request, 0, mem, &reply, err);
    return st ? st : hf_client_outcome(&reply, err);
}

bool hf_remote_ready(hf_remote *remote)
{
    bool ready;

    hf_mutex_lock(&remote->lock);
    while (!remote->registered && !remote->stopping)
        hf_cond_wait(&remote->changed, &remote->lock);
    ready = !remote->stopping;
    hf_mutex_unlock(&remote->lock);
    return ready;
}

void hf_remote_known(hf_remote *remote)
{
    hf_mutex_lock(&remote->lock);
    while (remote->kept && !remote->registered && !remote->tried && !remote->stopping)
        hf_cond_wait(&remote->changed, &remote->lock);
    hf_mutex_unlock(&remote->lock);
}

/* The server is away, or does not know this worker: registers again before the next poll. */
static void worker_lost(hf_remote *remote)
{
    hf_mutex_lock(&remote->lock);
    remote->registered = false;
    hf_cond_broadcast(&remote->changed);
    hf_mutex_unlock(&remote->lock);
}

const char *hf_remote_name(hf_remote *remote, hf_mem *mem)
{
    unsigned long long parts[2];

    hf_mutex_lock(&remote->lock);
    for (int i = 0; i < 2; i++)
        parts[i] = (unsigned long long)hf_rng_next(&remote->rng);
    hf_mutex_unlock(&remote->lock);
    return hf_mem_format(mem, "%016llx%016llx", parts[0], parts[1]);
}

remote_kind hf_remote_kind_of(hf_value task)
{
    const char *kind = hf_str(task, "kind", "");

    return strcmp(kind, "activity") == 0 ? REMOTE_ACTIVITIES
           : strcmp(kind, "step") == 0   ? REMOTE_STEPS
                                         : REMOTE_WORKFLOWS;
}

/* A poll that was not answered is asked again under the same name. */
static hf_value poll_body(remote_hand *hand, int64_t most)
{
    hf_remote *remote = hand->remote;
    const char *name = hand->ask[0] ? NULL : hf_remote_name(remote, hand->mem);
    hf_value body;

    if (name)
        (void)snprintf(hand->ask, sizeof(hand->ask), "%s", name);
    body = hf_json_(hand->mem,
                    "{'worker_id': %s, 'poll_request_id': %s, 'task_queue': %s, "
                    "'timeout_seconds': %d, 'max_tasks': %lld}",
                    remote->worker, hand->ask, hf_remote_queue(remote), REMOTE_POLL_S,
                    (long long)most);
    if (body && hand->kind == REMOTE_STEPS)
        return hf_value_merge(hand->mem, body, hf_json_(hand->mem, "{'task_kinds': ['step']}"));
    return body && hand->kind == REMOTE_WORKFLOWS
               ? hf_value_merge(hand->mem, body,
                                hf_json_(hand->mem,
                                         "{'history_format': 'native', 'history_page_size': %d, "
                                         "'sticky': true, 'task_kinds': ['workflow', 'query', "
                                         "'update_validation']}",
                                         REMOTE_PAGE_EVENTS))
               : body;
}

hf_value hf_remote_poll(remote_hand *hand, int64_t most)
{
    hf_remote *remote = hand->remote;
    const hf_client_request request = {.method = "POST",
                                       .path = hand->kind == REMOTE_ACTIVITIES
                                                   ? "/api/worker/activity-tasks/poll"
                                                   : "/api/worker/workflow-tasks/poll",
                                       .body = poll_body(hand, most),
                                       .timeout_ms = (REMOTE_POLL_S + 10) * 1000};
    hf_client_reply reply = {0};
    hf_err err = {0};
    hf_status st;

    st = request.body ? hf_client_ask(hand->poll, &request, hand->mem, &reply, &err) : HF_NOMEM;
    if (!st)
        st = hf_client_outcome(&reply, &err);
    if (!st) {
        hand->ask[0] = '\0';
        return hf_get(reply.body, "tasks");
    }
    if (st == HF_UNREACHABLE || st == HF_IO || st == HF_NOTFOUND)
        worker_lost(remote);
    else if (st != HF_CANCELLED && st != HF_TIMEOUT && st != HF_BUSY)
        complain(remote, "remote.poll_failed", &err);
    if (st != HF_CANCELLED)
        hf_remote_pause(remote, backoff_ms(st == HF_BUSY ? 2 : 0, reply.retry_after_ms));
    return NULL;
}

/* ---- the keeper: registers, shows that the program lives, and that its attempts do */

static void heartbeat_send(hf_remote *remote, hf_mem *mem)
{
    hf_client_request request = {.method = "POST", .path = "/api/worker/heartbeat"};
    hf_client_reply reply;
    hf_err err = {0};

    hf_mem_reset(mem);
    request.body = hf_json_(mem, "{'worker_id': %s, 'active_slots': %lld}", remote->worker,
                            (long long)hands_full(remote, registration_number(remote)));
    if (!request.body)
        return;
    if (hf_remote_ask(remote, &request, 0, mem, &reply, &err) == HF_UNREACHABLE ||
        reply.status == 404)
        worker_lost(remote);
}

/* True: registered, or the program ends. */
static bool keeper_register(hf_remote *remote, hf_mem *mem, int *tries)
{
    hf_err err = {0};
    hf_status st = registration_send(remote, mem, &err);

    if (st) {
        if (*tries == 0 || (st != HF_UNREACHABLE && st != HF_BUSY))
            complain(remote, "remote.not_registered", &err);
        hf_mutex_lock(&remote->lock);
        remote->tried = true;
        hf_cond_broadcast(&remote->changed);
        hf_mutex_unlock(&remote->lock);
        hf_remote_pause(remote, backoff_ms(++*tries, 0));
        return false;
    }
    *tries = 0;
    hf_remote_crumb_told(remote->crumb);
    hf_mutex_lock(&remote->lock);
    remote->registered = true;
    remote->registrations++;
    hf_cond_broadcast(&remote->changed);
    hf_mutex_unlock(&remote->lock);
    return true;
}

static void keeper_run(void *ctx)
{
    hf_remote *remote = ctx;
    hf_mem *mem = remote->keeper_mem;
    int64_t heard_us = now_us();
    int tries = 0;
    bool registered = remote->local;
    bool stopping = false;

    if (remote->local)
        hf_remote_local_crashes(remote);
    while (!stopping) {
        if (!registered && keeper_register(remote, mem, &tries))
            heard_us = now_us();
        if (!remote->local && now_us() - heard_us > HEARTBEAT_S * INT64_C(1000000)) {
            heartbeat_send(remote, mem);
            heard_us = now_us();
        }
        for (size_t i = 0; i < remote->hand_count; i++)
            hf_remote_beats(&remote->hands[i], now_us());
        hf_mutex_lock(&remote->lock);
        if (remote->registered && !remote->stopping)
            (void)!hf_cond_wait_until(&remote->changed, &remote->lock, now_us() + KEEP_MS * 1000);
        registered = remote->registered;
        stopping = remote->stopping;
        hf_mutex_unlock(&remote->lock);
    }
}

static void deregister(hf_remote *remote)
{
    hf_mem *mem = hf_mem_new();
    hf_client_reply reply;
    hf_err err = {0};

    if (mem) {
        const hf_client_request request = {
            .method = "DELETE",
            .path = hf_client_path(mem, "/api/worker/registrations/%s", remote->worker),
            .timeout_ms = 2000};

        if (request.path)
            (void)!hf_remote_ask(remote, &request, 0, mem, &reply, &err);
    }
    hf_mem_free(mem);
}

/* ---- threads */

static const struct {
    const char *name; /* of the thread */
    void (*run)(void *hand);
    void (*done)(void *hand, hf_job *job); /* NULL: it runs no jobs */
} works[REMOTE_KINDS] = {
    [REMOTE_WORKFLOWS] = {"hf-runner", hf_remote_runner, NULL},
    [REMOTE_ACTIVITIES] = {"hf-attempt", hf_remote_attempts, hf_remote_attempt_done},
    [REMOTE_STEPS] = {"hf-step", hf_remote_steps, hf_remote_step_done},
};

/* `polls`: it waits at the server for the others of its kind. */
static hf_status hand_open(hf_remote *remote, remote_hand *hand, remote_kind kind, bool polls,
                           hf_err *err)
{
    bool jobs = works[kind].done != NULL && !polls;
    hf_status st = hf_mutex_init(&hand->lock, err);

    if (st)
        return st;
    st = hf_cond_init(&hand->woken, err);
    if (st) {
        hf_mutex_fini(&hand->lock);
        return st;
    }
    hand->remote = remote;
    hand->kind = kind;
    hand->mem = hf_mem_new();
    if (!hand->mem)
        st = hf_err_nomem(err, "a worker");
    if (!st && polls)
        st = hf_client_open(&remote->address, &hand->poll, err);
    if (!st && jobs)
        st = hf_remote_pool_open(hand, works[kind].done, err);
    if (!st && polls)
        st = hf_thread_start(&hand->thread, "hf-poller", hf_remote_poller, hand, err);
    else if (!st)
        st = hf_thread_start(&hand->thread, works[kind].name, works[kind].run, hand, err);
    hand->started = !st;
    return st;
}

static void hand_close(remote_hand *hand)
{
    hf_client_close(hand->poll); /* NULL is allowed */
    hf_pool_close(hand->pool);
    hf_mem_free(hand->mem);
    hf_mem_free(hand->task_mem);
    hf_cond_fini(&hand->woken);
    hf_mutex_fini(&hand->lock);
}

/* The same program for the same server or store: another process of it tells of this one's death.
 */
static hf_status crumb_open(hf_remote *remote, hf_err *err)
{
    hf_buf program = {0};
    hf_status st;

    hf_buf_add_format(&program, "%s\n%s\n%s",
                      remote->local ? hf_store_address(remote->engine->store) : remote->url,
                      remote->namespace ? remote->namespace : "",
                      remote->app && remote->app->name ? remote->app->name : "");
    st = hf_buf_ok(&program)
             ? hf_remote_crumb_open(hf_buf_slice(&program), remote->worker, &remote->crumb, err)
             : hf_err_nomem(err, "the breadcrumb");
    hf_buf_fini(&program);
    return st;
}

/* Threads for so many tasks of each kind, and where they wait at a server. */
static hf_status hands_open(hf_remote *remote, const size_t counts[REMOTE_KINDS], hf_err *err)
{
    hf_status st = HF_OK;

    for (int kind = 0; kind < REMOTE_KINDS; kind++) {
        size_t all = counts[kind] + (counts[kind] > 0 && !remote->local);

        for (size_t i = 0; !st && i < all; i++)
            st = hand_open(remote, &remote->hands[remote->hand_count++], (remote_kind)kind,
                           i == counts[kind], err);
    }
    return st;
}

hf_status hf_remote_begin(hf_remote *remote, hf_err *err)
{
    const hf_app *app = remote->app;
    const size_t counts[REMOTE_KINDS] = {
        [REMOTE_WORKFLOWS] = !app || !app->workflows || !app->workflows->type ? 0
                             : remote->local                                  ? REMOTE_LOCAL
                                                                              : REMOTE_RUNNERS,
        [REMOTE_ACTIVITIES] =
            !app || !app->activities || !app->activities->name ? 0 : REMOTE_ATTEMPTS,
        [REMOTE_STEPS] = !app || !app->machines || !app->machines->type ? 0 : REMOTE_STEPPERS};
    const int64_t slots[REMOTE_KINDS] = {[REMOTE_WORKFLOWS] =
                                             counts[REMOTE_WORKFLOWS] ? REMOTE_TASKS : 0,
                                         [REMOTE_ACTIVITIES] = (int64_t)counts[REMOTE_ACTIVITIES],
                                         [REMOTE_STEPS] = (int64_t)counts[REMOTE_STEPS]};
    size_t all = 0;
    hf_status st = HF_OK;
    bool first;

    for (size_t i = 0; i < REMOTE_KINDS; i++)
        all += counts[i];
    hf_mutex_lock(&remote->lock);
    first = !remote->begun;
    remote->begun = true;
    hf_mutex_unlock(&remote->lock);
    if (!first || all == 0)
        return HF_OK;
    HF_ASSERT(all + REMOTE_KINDS <= HF_REMOTE_CRUMB_HANDS);
    st = crumb_open(remote, err);
    if (st)
        return st;
    remote->hands = hf_alloc_array(all + REMOTE_KINDS, sizeof(*remote->hands));
    if (!remote->hands)
        return hf_err_nomem(err, "workers");
    if (counts[REMOTE_WORKFLOWS])
        st = hf_remote_rooms_open(remote, err);
    if (!st && !remote->local)
        st = hf_remote_link_start(remote->link, slots, err);
    if (!st)
        st = hands_open(remote, counts, err);
    remote->keeper_mem = hf_mem_new();
    if (!st && !remote->keeper_mem)
        st = hf_err_nomem(err, "workers");
    hf_mutex_lock(&remote->lock);
    if (!st)
        st = hf_thread_start(&remote->keeper, "hf-keeper", keeper_run, remote, err);
    remote->kept = !st;
    hf_mutex_unlock(&remote->lock);
    return st;
}

void hf_remote_shutdown(hf_remote *remote)
{
    hf_mutex_lock(&remote->lock);
    remote->stopping = true;
    if (remote->link)
        hf_remote_link_stop(remote->link);
    hf_cond_broadcast(&remote->changed);
    hf_mutex_unlock(&remote->lock);
}

hf_status hf_remote_run(hf_remote *remote, hf_err *err)
{
    hf_status st = hf_remote_begin(remote, err);

    hf_mutex_lock(&remote->lock);
    while (!st && !remote->stopping)
        hf_cond_wait(&remote->changed, &remote->lock);
    hf_mutex_unlock(&remote->lock);
    return st;
}

/* Polls are ended; what was taken is done and reported. */
static void threads_end(hf_remote *remote)
{
    hf_remote_shutdown(remote);
    for (size_t i = 0; i < remote->hand_count; i++) {
        remote_hand *hand = &remote->hands[i];

        if (hand->poll)
            hf_client_stop(hand->poll);
        hf_mutex_lock(&hand->lock);
        if (hand->job)
            atomic_store(&hand->job->stop, true);
        hf_mutex_unlock(&hand->lock);
    }
    for (size_t i = 0; i < remote->hand_count; i++)
        if (remote->hands[i].started)
            hf_thread_join(&remote->hands[i].thread);
    if (remote->kept)
        hf_thread_join(&remote->keeper);
    hf_remote_rooms_end(remote);
    if (remote->link)
        hf_remote_link_end(remote->link);
    hf_remote_rooms_close(remote);
    if (remote->registrations)
        deregister(remote);
    for (size_t i = 0; i < remote->hand_count; i++)
        hand_close(&remote->hands[i]);
}

void hf_remote_close(hf_remote *remote)
{
    if (!remote)
        return;
    threads_end(remote);
    while (remote->idle) {
        remote_client *idle = remote->idle;

        remote->idle = idle->next;
        hf_client_close(idle->client);
        hf_alloc_free(idle);
    }
    hf_remote_link_close(remote->link);
    hf_mem_free(remote->keeper_mem);
    hf_remote_crumb_close(remote->crumb);
    hf_alloc_free(remote->hands);
    hf_alloc_free(remote->workflow_types);
    hf_mem_free(remote->step_mem);
    hf_alloc_free(remote->url);
    hf_alloc_free(remote->token);
    hf_alloc_free(remote->namespace);
    hf_cond_fini(&remote->changed);
    hf_mutex_fini(&remote->lock);
    hf_alloc_free(remote);
}

/* ---- opening */

static hf_status text_keep(const char *text, char **out_text, hf_err *err)
{
    if (!text || !*text)
        return HF_OK;
    *out_text = hf_alloc_text(text, strlen(text));
    return *out_text ? HF_OK : hf_err_nomem(err, "an address");
}

/* Who this is: unlike every other process, wherever it runs. */
static hf_status name_make(hf_remote *remote, hf_err *err)
{
    const char *given = getenv("HF_WORKER_ID"); /* by whoever looks after this process */
    char host[64] = "";
    hf_status st = hf_rng_init_system(&remote->rng, err);

    if (st)
        return st;
    if (given && *given && strlen(given) < sizeof(remote->worker)) {
        (void)snprintf(remote->worker, sizeof(remote->worker), "%s", given);
        return HF_OK;
    }
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(remote->worker, sizeof(remote->worker), "%.60s@%s-%ld-%08llx",
                   remote->app && remote->app->name ? remote->app->name : "holdfast", host,
                   (long)getpid(), (unsigned long long)hf_rng_below(&remote->rng, UINT32_MAX));
    return HF_OK;
}

static hf_status remote_fill(hf_remote *remote, const char *where, hf_err *err)
{
    hf_client *client = NULL;
    hf_status st = text_keep(where, &remote->url, err);

    if (!st)
        st = text_keep(getenv("HF_TOKEN"), &remote->token, err);
    if (!st)
        st = text_keep(getenv("HF_NAMESPACE"), &remote->namespace, err);
    remote->address = (hf_client_options){
        .url = remote->url, .token = remote->token, .namespace = remote->namespace};
    if (!st)
        st = hf_client_open(&remote->address, &client, err); /* the address is one */
    if (!st)
        client_give(remote, client, true);
    return st;
}

void hf_remote_cache_limit(hf_remote *remote, size_t bytes)
{
    atomic_store(&remote->cache_bytes, bytes);
}

hf_status hf_remote_new(hf_engine *engine, hf_remote **out_remote, hf_err *err)
{
    hf_remote *remote = hf_alloc(sizeof(*remote));
    hf_status st;

    if (!remote)
        return hf_err_nomem(err, "a handle");
    remote->engine = engine;
    remote->app = engine->app;
    remote->registry = engine->registry;
    atomic_init(&remote->cache_bytes, (size_t)REMOTE_CACHE_BYTES);
    st = hf_mutex_init(&remote->lock, err);
    if (st) {
        hf_alloc_free(remote);
        return st;
    }
    st = hf_cond_init(&remote->changed, err);
    if (st) {
        hf_mutex_fini(&remote->lock);
        hf_alloc_free(remote);
        return st;
    }
    st = hf_remote_link_open(remote, &remote->link, err);
    if (!st)
        st = name_make(remote, err);
    if (st)
        hf_remote_close(remote);
    else
        *out_remote = remote;
    return st;
}

hf_status hf_remote_open(hf_engine *engine, const char *where, hf_remote **out_remote, hf_err *err)
{
    hf_remote *remote = NULL;
    hf_status st = hf_remote_new(engine, &remote, err);

    if (!st)
        st = remote_fill(remote, where, err);
    if (st)
        hf_remote_close(remote);
    else
        *out_remote = remote;
    return st;
}
