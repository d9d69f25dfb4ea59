/* remote_room.c: see remote_room.h. */
#include "engine/remote_room.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/value.h"
#include "model/event_codec.h"
#include "model/limit.h"

enum { STACKS = 4 };

struct remote_room {
    hf_remote *remote;
    hf_thread thread;
    hf_mutex lock;
    hf_cond more;    /* for the thread */
    hf_cond changed; /* for who waits for a visit or a report */
    bool locks;      /* these three are made */
    bool started;
    remote_hand hand;
    /* under the lock */
    remote_visit *first;
    remote_visit **last;
    remote_visit *waiting; /* for the report of its run, newest first */
    bool ending;
    hf_map *runs; /* changed by the thread alone */
    /* of the thread alone */
    hf_coro_cache *stacks;
    hf_list lru; /* newest first */
    size_t held;
    uint64_t turns;
};

/* ---- runs */

static hf_status payload_find(void *ctx, hf_mem *mem, const hf_payload_value *reference,
                              hf_slice *out_bytes, hf_err *err)
{
    const remote_live *live = ctx;
    char wanted[2 * HF_SHA256_BYTES + 1];

    (void)mem;
    for (const remote_payload *at = live->payloads; at; at = at->next)
        if (memcmp(at->digest, reference->digest, HF_SHA256_BYTES) == 0) {
            *out_bytes = at->bytes;
            return HF_OK;
        }
    hf_hex_print(hf_slice_from(reference->digest, HF_SHA256_BYTES), wanted);
    return hf_err_set(err, HF_CORRUPT, "the task came without the value %s", wanted);
}

/* The streams are the server's: it is asked while the code waits, in the name of the task that the
   turn is taken for. */
static hf_status messages_ask(void *ctx, hf_mem *mem, hf_slice stream, int64_t after, size_t max,
                              hf_value *out_messages, hf_err *err)
{
    const remote_live *live = ctx;
    hf_mem *scratch = live->task.hand->mem;
    const char *name = hf_mem_text(scratch, stream);
    hf_client_reply reply;
    hf_status st = hf_remote_report(
        live->task.hand,
        hf_client_path(scratch, "/api/worker/workflow-tasks/%s/messages", live->task.id),
        name ? hf_json_(scratch,
                        "{'lease_owner': %s, 'workflow_task_attempt': %lld, 'stream': %s, 'after': "
                        "%lld, 'max': %lld}",
                        live->task.hand->remote->worker, (long long)live->task.attempt, name,
                        (long long)after, (long long)(max < INT32_MAX ? max : INT32_MAX))
             : NULL,
        &reply, err);

    *out_messages = NULL;
    if (!st)
        st = hf_client_outcome(&reply, err);
    if (!st)
        *out_messages = hf_value_copy(mem, hf_get(reply.body, "messages"));
    if (!st && !*out_messages)
        st = hf_err_nomem(err, "messages");
    return hf_err_because(err, st, "read the stream %s", name ? name : "");
}

static int64_t run_key(const char *run_id)
{
    hf_ulid id;

    return hf_ulid_parse(hf_slice_of(run_id), &id) ? hf_ulid_key(&id) : 0;
}

hf_status hf_remote_live_new(remote_room *room, hf_value task, const hf_registry_workflow *workflow,
                             remote_live **out_live, hf_err *err)
{
    const char *run_id = hf_str(task, "run_id", "");
    const char *id = hf_str(task, "workflow_id", "");
    hf_mem *mem = hf_mem_new();
    remote_live *live = mem ? hf_mem_alloc(mem, sizeof(*live)) : NULL;
    const char *instance = live ? hf_mem_text(mem, hf_slice_of(id)) : NULL;
    hf_status st;

    *out_live = NULL;
    if (!instance) {
        hf_mem_free(mem);
        return hf_err_nomem(err, "a run");
    }
    live->mem = mem;
    hf_list_init(&live->lru);
    (void)snprintf(live->run_id, sizeof(live->run_id), "%s", run_id);
    live->info = (hf_replay_info){
        .definition = workflow->definition,
        .instance_id = hf_slice_of(instance),
        .run_id = hf_slice_of(live->run_id),
        .random_seed = hf_replay_seed(run_key(run_id)),
        .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
        .compatibility = hf_slice_of(room->remote->app->build_id),
        .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
        .events_max = hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard,
        .payload_max = hf_limit_get(HF_LIMIT_PAYLOAD_SIZE_BYTES)->standard,
        .continue_events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
        .continue_bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard,
        .payload = payload_find,
        .payload_ctx = live,
        .messages = messages_ask,
        .messages_ctx = live,
        .stacks = room->stacks};
    st = hf_replay_new(&live->info, &live->replay, err);
    if (st)
        hf_mem_free(mem);
    else
        *out_live = live;
    return st;
}

/* Keeps the values that came beside the events: code may ask for them in a later turn. */
static hf_status payload_take(remote_live *live, hf_value pair, hf_err *err)
{
    remote_payload *payload = hf_mem_alloc(live->mem, sizeof(*payload));
    hf_buf bytes = {0};
    hf_status st;

    if (!payload)
        return hf_err_nomem(err, "a value");
    if (!hf_hex_parse(hf_value_slice(hf_at(pair, 0)), payload->digest, HF_SHA256_BYTES))
        return hf_err_set(err, HF_CORRUPT, "the task came with a value without a digest");
    st = hf_base64_decode(&bytes, hf_value_slice(hf_at(pair, 1)), err);
    payload->bytes = hf_slice_from(hf_mem_text(live->mem, hf_buf_slice(&bytes)), bytes.len);
    hf_buf_fini(&bytes);
    if (st)
        return st;
    if (!payload->bytes.ptr)
        return hf_err_nomem(err, "a value");
    payload->next = live->payloads;
    live->payloads = payload;
    return HF_OK;
}

/* Facts that the server recorded in front of what the last turn decided: the code decided without
   them, and a replay that is handed them now would see them behind it. */
static bool came_between(const remote_live *live, const hf_event *events, size_t count)
{
    return live->decided > 0 && count > 0 && hf_event_outside_fact(events[0].type);
}

static hf_status chunk_feed(remote_live *live, hf_slice text, hf_mem *mem, hf_err *err)
{
    hf_buf body = {0};
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st = hf_base64_decode(&body, text, err);

    if (!st)
        st = hf_event_chunk_decode(mem, hf_buf_slice(&body), &events, &count, err);
    if (!st && came_between(live, events, count))
        st = hf_err_set(err, HF_CONFLICT, "facts came in between");
    if (!st)
        st = hf_replay_feed(live->replay, events, count, live->fed + 1, err);
    live->decided = 0;
    live->fed += (int64_t)count;
    hf_buf_fini(&body);
    return st;
}

hf_status hf_remote_live_feed(remote_live *live, hf_value history, hf_mem *mem, hf_err *err)
{
    hf_value chunks = hf_get(history, "chunks");
    hf_value payloads = hf_get(history, "payloads");
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(payloads); i++)
        st = payload_take(live, hf_at(payloads, i), err);
    for (size_t i = 0; !st && i < hf_len(chunks); i++)
        st = chunk_feed(live, hf_value_slice(hf_at(chunks, i)), mem, err);
    return st;
}

hf_status hf_remote_live_turn(remote_room *room, remote_live *live, hf_turn *out_turn, hf_err *err)
{
    hf_remote *remote = room->remote;
    const hf_remote_crumb_task crumb = {.kind = "workflow",
                                        .task_id = live->task.id,
                                        .attempt = live->task.attempt,
                                        .namespace_key = live->task.hand->namespace_key};
    size_t slot = HF_REMOTE_CRUMB_HANDS + (size_t)(room - remote->rooms);
    hf_status st;

    hf_remote_crumb_put(remote->crumb, slot, &crumb);
    st = hf_replay_turn(live->replay, out_turn, err);
    hf_remote_crumb_clear(remote->crumb, slot);
    return st;
}

/* ---- what is kept */

/* With the lock held: a report was answered, or will not be waited for. */
static void report_over(remote_room *room)
{
    bool called = room->waiting != NULL;

    while (room->waiting) {
        remote_visit *visit = room->waiting;

        room->waiting = visit->next;
        visit->next = room->first;
        room->first = visit;
        if (!visit->next)
            room->last = &visit->next;
    }
    if (called)
        hf_cond_signal(&room->more);
    hf_cond_broadcast(&room->changed);
}

/* Takes it out of what is kept. */
static void live_remove(remote_room *room, remote_live *live)
{
    if (!hf_list_linked(&live->lru))
        return;
    hf_list_remove(&live->lru);
    room->held -= live->held;
    hf_mutex_lock(&room->lock);
    (void)hf_map_remove(room->runs, hf_slice_of(live->run_id));
    report_over(room);
    hf_mutex_unlock(&room->lock);
}

void hf_remote_live_drop(remote_room *room, remote_live *live)
{
    if (!live)
        return;
    live_remove(room, live);
    hf_replay_free(live->replay);
    hf_mem_free(live->mem);
}

remote_live *hf_remote_live_find(remote_room *room, const char *run_id, int64_t seq)
{
    remote_live *live;
    bool settled;

    hf_mutex_lock(&room->lock);
    live = hf_map_get(room->runs, hf_slice_of(run_id));
    settled = live && live->standing == REMOTE_SETTLED;
    hf_mutex_unlock(&room->lock);
    if (settled && live->fed == seq)
        return live;
    hf_remote_live_drop(room, live);
    return NULL;
}

static remote_live *oldest(const remote_room *room)
{
    return HF_LIST_ENTRY(room->lru.prev, remote_live, lru);
}

uint64_t hf_remote_live_keep(remote_room *room, remote_live *live)
{
    size_t bytes_max = atomic_load(&room->remote->cache_bytes) / REMOTE_ROOMS;
    uint64_t turn = ++room->turns;
    hf_err err;
    hf_status st;

    live_remove(room, live);
    live->held = hf_replay_held(live->replay) + hf_mem_held(live->mem);
    hf_mutex_lock(&room->lock);
    live->standing = REMOTE_REPORTING;
    live->turn = turn;
    st = hf_map_put(room->runs, hf_slice_of(live->run_id), live, NULL, &err);
    hf_mutex_unlock(&room->lock);
    if (st) {
        hf_remote_live_drop(room, live);
        return turn;
    }
    room->held += live->held;
    hf_list_add_first(&room->lru, &live->lru);
    while (room->held > bytes_max && !hf_list_empty(&room->lru))
        hf_remote_live_drop(room, oldest(room));
    return turn;
}

/* With the lock held. */
static bool reporting(const remote_room *room, const char *run_id)
{
    const remote_live *live = hf_map_get(room->runs, hf_slice_of(run_id));

    return live && live->standing == REMOTE_REPORTING;
}

void hf_remote_await(remote_room *room, const char *run_id)
{
    hf_mutex_lock(&room->lock);
    while (reporting(room, run_id))
        hf_cond_wait(&room->changed, &room->lock);
    hf_mutex_unlock(&room->lock);
}

void hf_remote_settle(remote_room *room, const char *run_id, uint64_t turn,
                      remote_standing standing)
{
    remote_live *live;

    hf_mutex_lock(&room->lock);
    live = hf_map_get(room->runs, hf_slice_of(run_id));
    if (live && live->turn == turn)
        live->standing = standing;
    report_over(room);
    hf_mutex_unlock(&room->lock);
}

/* ---- the thread */

/* With the lock held. */
static void visit_put(remote_room *room, remote_visit *visit)
{
    visit->next = NULL;
    visit->done = false;
    *room->last = visit;
    room->last = &visit->next;
    hf_cond_signal(&room->more);
}

void hf_remote_visit(remote_room *room, remote_visit *visit)
{
    hf_mutex_lock(&room->lock);
    visit_put(room, visit);
    while (!visit->done)
        hf_cond_wait(&room->changed, &room->lock);
    hf_mutex_unlock(&room->lock);
}

void hf_remote_visit_later(remote_room *room, remote_visit *visit)
{
    hf_mutex_lock(&room->lock);
    visit_put(room, visit);
    hf_mutex_unlock(&room->lock);
}

/* With the lock held: NULL: there is none that can be done. */
static remote_visit *visit_pop(remote_room *room)
{
    remote_visit *visit;

    while ((visit = room->first)) {
        room->first = visit->next;
        if (!room->first)
            room->last = &room->first;
        if (!visit->run_id || room->ending || !reporting(room, visit->run_id))
            return visit;
        visit->next = room->waiting;
        room->waiting = visit;
    }
    return NULL;
}

/* The next visit; NULL: the program ends. */
static remote_visit *visit_take(remote_room *room)
{
    remote_visit *visit;

    hf_mutex_lock(&room->lock);
    while (!(visit = visit_pop(room)) && !room->ending)
        hf_cond_wait(&room->more, &room->lock);
    hf_mutex_unlock(&room->lock);
    return visit;
}

static void room_run(void *ctx)
{
    remote_room *room = ctx;
    remote_visit *visit;

    room->stacks = hf_coro_cache_new(STACKS, 0); /* without one each replay makes its own */
    while ((visit = visit_take(room))) {
        bool waited = !visit->run_id;

        visit->work(visit, room);
        if (!waited)
            continue;
        hf_mutex_lock(&room->lock);
        visit->done = true;
        hf_cond_broadcast(&room->changed);
        hf_mutex_unlock(&room->lock);
    }
    while (!hf_list_empty(&room->lru))
        hf_remote_live_drop(room, oldest(room));
    hf_coro_cache_free(room->stacks);
}

static hf_status room_open(hf_remote *remote, remote_room *room, hf_map_seed seed, hf_err *err)
{
    hf_status st = hf_mutex_init(&room->lock, err);

    if (st)
        return st;
    st = hf_cond_init(&room->more, err);
    if (st) {
        hf_mutex_fini(&room->lock);
        return st;
    }
    st = hf_cond_init(&room->changed, err);
    if (st) {
        hf_cond_fini(&room->more);
        hf_mutex_fini(&room->lock);
        return st;
    }
    room->locks = true;
    room->remote = remote;
    room->hand = (remote_hand){.remote = remote, .kind = REMOTE_WORKFLOWS};
    room->last = &room->first;
    hf_list_init(&room->lru);
    room->runs = hf_map_new(seed);
    if (!room->runs)
        return hf_err_nomem(err, "a room for runs");
    st = hf_thread_start(&room->thread, "hf-room", room_run, room, err);
    room->started = !st;
    return st;
}

hf_status hf_remote_rooms_open(hf_remote *remote, hf_err *err)
{
    hf_map_seed seed;
    hf_status st = HF_OK;

    remote->rooms = hf_alloc_array(REMOTE_ROOMS, sizeof(*remote->rooms));
    if (!remote->rooms)
        return hf_err_nomem(err, "rooms for runs");
    hf_mutex_lock(&remote->lock);
    seed = (hf_map_seed){hf_rng_next(&remote->rng), hf_rng_next(&remote->rng)};
    hf_mutex_unlock(&remote->lock);
    for (size_t i = 0; !st && i < REMOTE_ROOMS; i++)
        st = room_open(remote, &remote->rooms[i], seed, err);
    return st;
}

void hf_remote_rooms_end(hf_remote *remote)
{
    for (size_t i = 0; remote->rooms && i < REMOTE_ROOMS; i++) {
        remote_room *room = &remote->rooms[i];

        if (!room->started)
            continue;
        hf_mutex_lock(&room->lock);
        room->ending = true;
        report_over(room);
        hf_cond_signal(&room->more);
        hf_mutex_unlock(&room->lock);
        hf_thread_join(&room->thread);
    }
}

void hf_remote_rooms_close(hf_remote *remote)
{
    for (size_t i = 0; remote->rooms && i < REMOTE_ROOMS; i++) {
        remote_room *room = &remote->rooms[i];

        if (!room->locks)
            continue;
        hf_map_free(room->runs); /* NULL is allowed */
        hf_cond_fini(&room->more);
        hf_cond_fini(&room->changed);
        hf_mutex_fini(&room->lock);
    }
    hf_alloc_free(remote->rooms);
    remote->rooms = NULL;
}

remote_hand *hf_remote_room_hand(remote_room *room)
{
    return &room->hand;
}

remote_room *hf_remote_room_of(hf_remote *remote, const char *run_id)
{
    return &remote->rooms[(uint64_t)run_key(run_id) % REMOTE_ROOMS];
}
