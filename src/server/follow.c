/* follow.c: see follow.h. A follower belongs to the thread that looks; the loop only marks it as
   over. It is found by its exchange, in the server's list. */
#include "server/follow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/fleet.h"
#include "server/server_impl.h"

enum { LOOK_MS = 250, AIM_US = 5000000 };

typedef enum kind {
    KIND_LIST,
    KIND_METRICS,
    KIND_ATTENTION,
    KIND_WORKERS,
    KIND_BATCH,
    KIND_RUN,
    KINDS
} kind;

/* What there is, how often it is told at most, and how often at least: time changes it, too, and
   hints of other nodes may be lost. */
static const struct {
    const char *text;
    bool named; /* an id follows */
    int64_t most_us;
    int64_t least_us; /* 0: only when something changed */
} kinds[KINDS] = {
    [KIND_LIST] = {"list", false, 1000000, 30000000},
    [KIND_METRICS] = {"metrics", false, 5000000, 15000000},
    [KIND_ATTENTION] = {"attention", false, 5000000, 15000000},
    [KIND_WORKERS] = {"workers", false, 1000000, 15000000},
    [KIND_BATCH] = {"batch:", true, 1000000, 30000000},
    [KIND_RUN] = {"run:", true, LOOK_MS * 1000, 0},
};

typedef struct topic {
    kind kind;
    hf_value text;
    const char *id; /* of a run */
    const char *run_id;
    hf_watch *watch;    /* NULL: none yet */
    _Atomic bool moved; /* the watch says so */
    bool due;           /* it is told next */
    int64_t aimed_us;   /* when the watch was begun, or tried to */
    int64_t told_us;
    int64_t told_at; /* the number of changes then */
} topic;

typedef enum over {
    OVER_NOT,
    OVER_TIME, /* its time is, the client is gone, or the server stops */
    OVER_TOKEN
} over;

typedef struct follower {
    struct follower *next;
    hf_api *api;
    int64_t after;
    bool poll;
    bool begun; /* it was looked at */
    _Atomic int over;
    topic *topics; /* in the request's arena */
    size_t count;
} follower;

struct hf_followers {
    hf_server *server;
    hf_thread thread;
    hf_mutex lock;
    hf_cond some;
    follower *come; /* under the lock, as the next two */
    size_t count;
    bool closing;
    follower *first; /* the thread's own */
    int64_t changes; /* of runs, as the thread saw it last */
};

/* ---- topics */

static bool kind_of(hf_slice text, kind *out_kind, hf_slice *out_rest)
{
    for (size_t i = 0; i < KINDS; i++) {
        hf_slice name = hf_slice_of(kinds[i].text);

        if (!hf_slice_starts(text, name) || kinds[i].named == (text.len == name.len))
            continue;
        *out_kind = (kind)i;
        *out_rest = hf_slice_from(text.ptr + name.len, text.len - name.len);
        return true;
    }
    return false;
}

bool hf_follow_topic(hf_slice text)
{
    hf_slice rest;
    kind found;

    return kind_of(text, &found, &rest);
}

/* "ID" or "ID/RUN": ids of workflows may have a slash themselves. */
static bool run_named(hf_mem *mem, hf_slice rest, topic *t)
{
    hf_ulid id;
    size_t cut = rest.len > HF_ULID_TEXT_SIZE ? rest.len - HF_ULID_TEXT_SIZE : 0;

    if (cut && rest.ptr[cut] == '/' &&
        hf_ulid_parse(hf_slice_from(rest.ptr + cut + 1, rest.len - cut - 1), &id)) {
        t->run_id = hf_mem_text(mem, hf_slice_from(rest.ptr + cut + 1, rest.len - cut - 1));
        rest.len = cut;
        if (!t->run_id)
            return false;
    }
    t->id = hf_mem_text(mem, rest);
    return t->id != NULL;
}

static bool topics_make(follower *f, hf_value topics)
{
    hf_mem *mem = f->api->mem;

    f->topics = hf_mem_array(mem, hf_len(topics), sizeof(*f->topics));
    for (size_t i = 0; f->topics && i < hf_len(topics); i++) {
        topic *t = &f->topics[f->count++];
        hf_slice rest = {0};

        *t = (topic){.text = hf_at(topics, i)};
        (void)kind_of(hf_value_slice(t->text), &t->kind, &rest);
        if (t->kind == KIND_RUN && !run_named(mem, rest, t))
            return false;
    }
    return f->topics != NULL;
}

/* A thread of the engine, which must not be held up. */
static void on_changed(void *arg)
{
    topic *t = arg;

    atomic_store(&t->moved, true);
}

/* Watches the run that is the newest now. */
static void topic_aim(hf_engine *engine, topic *t, int64_t now_us)
{
    const hf_watch_opts options = {.size_ = sizeof(options),
                                   .id = t->id,
                                   .run_id = t->run_id,
                                   .changed = on_changed,
                                   .arg = t};

    hf_watch_end(t->watch);
    t->watch = NULL;
    t->aimed_us = now_us;
    if (hf_watch_begin(engine, &options, &t->watch))
        t->watch = NULL; /* it is not there yet, or the store is away */
}

/* {"last_sequence": n or null, "run_id"}; a run that goes on as a new one is followed further. Of a
   run that is busy this is asked again and again: from its fold, which is read fast. */
static hf_value run_value(hf_engine *engine, hf_mem *mem, topic *t, int64_t now_us)
{
    hf_value request = hf_json_(mem,
                                "{'id': %s, 'run_id': %s, 'part': 'events', 'limit': 1, "
                                "'order': 'desc'}",
                                t->id, t->run_id);
    hf_value page = NULL;

    if (!t->run_id)
        topic_aim(engine, t, now_us); /* before it is read: nothing is missed */
    if (hf_run_part(engine, request, mem, &page))
        return hf_json_(mem, "{'last_sequence': null}");
    return hf_json_(mem, "{'last_sequence': %p, 'run_id': %p}",
                    (const void *)hf_get(page, "last_sequence"),
                    (const void *)hf_get(page, "run_id"));
}

/* ---- what is due */

/* Everything that changed so far has this number. */
static int64_t changes_now(const hf_followers *all, kind of)
{
    int64_t fleet = (int64_t)hf_fleet_changes(all->server->fleet);

    return of == KIND_WORKERS ? fleet : all->changes + (of == KIND_ATTENTION ? fleet : 0);
}

static int64_t id_now(const hf_followers *all)
{
    return all->server->started_us + all->changes + (int64_t)hf_fleet_changes(all->server->fleet);
}

static void topic_begin(hf_followers *all, topic *t, int64_t now_us)
{
    t->told_us = now_us;
    t->told_at = changes_now(all, t->kind);
    if (t->kind == KIND_RUN)
        topic_aim(all->server->engine, t, now_us);
}

static bool topic_due(hf_followers *all, topic *t, int64_t now_us)
{
    int64_t silent_us = now_us - t->told_us;
    bool moved;

    if (t->kind == KIND_RUN) {
        if (!t->watch && now_us - t->aimed_us > AIM_US) {
            topic_aim(all->server->engine, t, now_us);
            return t->watch != NULL; /* it is there now */
        }
        moved = atomic_load(&t->moved);
    } else {
        moved = changes_now(all, t->kind) != t->told_at;
    }
    return (moved && silent_us >= kinds[t->kind].most_us) ||
           (kinds[t->kind].least_us && silent_us >= kinds[t->kind].least_us);
}

/* The topics that are due, as a message; NULL: no memory, and they stay due. */
static hf_value message_make(hf_followers *all, follower *f, hf_mem *mem, const char *names,
                             int64_t now_us)
{
    hf_value_list *message = hf_value_object(mem);
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < f->count; i++) {
        topic *t = &f->topics[i];

        if (!t->due)
            continue;
        t->told_us = now_us;
        t->told_at = changes_now(all, t->kind);
        atomic_store(&t->moved, false);
        hf_value_append(list, t->text);
        if (t->kind == KIND_RUN)
            hf_value_set(message, hf_value_slice(t->text),
                         run_value(all->server->engine, mem, t, now_us));
    }
    hf_value_put(message, names, hf_value_finish(list));
    return hf_value_finish(message);
}

/* ---- telling */

static hf_value topics_value(const follower *f, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < f->count; i++)
        hf_value_append(list, f->topics[i].text);
    return hf_value_finish(list);
}

/* The first look: what came between the change that it knows and now is due. */
static bool follower_begin(hf_followers *all, follower *f, hf_mem *mem, int64_t now_us)
{
    int64_t id = id_now(all);
    bool news = f->after != id && (f->after >= 0 || f->poll);

    f->begun = true;
    for (size_t i = 0; i < f->count; i++) {
        topic_begin(all, &f->topics[i], now_us);
        f->topics[i].due = news;
    }
    return f->poll ||
           hf_api_event(f->api, 0, "hello",
                        hf_json_(mem, "{'id': %lld, 'topics': %p, 'stream': 'started-%lld'}",
                                 (long long)id, (const void *)topics_value(f, mem),
                                 (long long)all->server->started_us));
}

/* By the thread: the exchange is given back. */
static void follower_end(hf_followers *all, follower *f)
{
    hf_server *server = all->server;
    hf_api *api = f->api;
    hf_http_exchange *exchange = api->exchange;

    hf_mutex_lock(&server->polls_lock);
    (void)hf_map_int_remove(server->polls, (uintptr_t)exchange);
    hf_mutex_unlock(&server->polls_lock);
    for (size_t i = 0; i < f->count; i++)
        hf_watch_end(f->topics[i].watch);
    hf_mutex_lock(&all->lock);
    all->count--;
    hf_mutex_unlock(&all->lock);
    if (f->poll) {
        hf_alloc_free(f);
        hf_api_finish(api);
        return;
    }
    hf_alloc_free(f);
    hf_http_reply_fini(&api->reply);
    hf_api_done(api);
    hf_http_stream_end(exchange);
}

/* Its token has ended. */
static void token_over(follower *f, hf_mem *mem)
{
    if (f->poll)
        hf_api_ended(f->api);
    else
        (void)hf_api_event(f->api, 0, "error",
                           hf_json_(mem, "{'reason': 'unauthenticated', 'message': 'The token was "
                                         "revoked or has expired.'}"));
}

/* Tells what is due; false: this was the last. */
static bool due_tell(hf_followers *all, follower *f, hf_mem *mem, bool now, int64_t now_us)
{
    int64_t id = id_now(all); /* before it is read */
    hf_value message;

    if (!now)
        return true;
    message = message_make(all, f, mem, f->poll ? "changed" : "topics", now_us);
    if (!f->poll)
        return hf_api_event(f->api, id, "change", message);
    hf_api_json(f->api, 200,
                hf_value_merge(f->api->mem,
                               hf_json_(f->api->mem, "{'namespace': %s, 'id': %lld}",
                                        f->api->namespace, (long long)id),
                               hf_value_copy(f->api->mem, message)));
    return false;
}

/* Looks at one follower; false: it is over. What ends it meanwhile is for the next look, which says
   why. */
static bool follower_look(hf_followers *all, follower *f, hf_mem *mem)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());
    int ended = atomic_load(&f->over);
    bool any = f->poll && ended;

    if (ended == OVER_TOKEN) {
        token_over(f, mem);
        return false;
    }
    if (hf_namespace_use(all->server->engine,
                         f->api->namespace)) /* it is gone, or memory ran out */
        return false;
    if (!f->begun && !follower_begin(all, f, mem, now_us))
        return false;
    for (size_t i = 0; i < f->count; i++) {
        f->topics[i].due |= topic_due(all, &f->topics[i], now_us);
        any |= f->topics[i].due;
    }
    if (!due_tell(all, f, mem, any, now_us))
        return false;
    for (size_t i = 0; i < f->count; i++)
        f->topics[i].due = false;
    return !ended;
}

/* ---- the thread */

/* Takes over who has come; waits as long as nobody follows. False: the server closes. */
static bool followers_take(hf_followers *all, bool *out_came)
{
    bool more;

    hf_mutex_lock(&all->lock);
    while (!all->closing && !all->come && !all->first)
        hf_cond_wait(&all->some, &all->lock);
    *out_came = all->come != NULL;
    while (all->come) {
        follower *f = all->come;

        all->come = f->next;
        f->next = all->first;
        all->first = f;
    }
    more = !all->closing || all->first;
    hf_mutex_unlock(&all->lock);
    return more;
}

static void followers_look(hf_followers *all, hf_mem *mem)
{
    follower **at = &all->first;

    while (*at) {
        follower *f = *at;

        hf_mem_reset(mem);
        if (follower_look(all, f, mem)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        follower_end(all, f);
    }
}

/* Until somebody comes, or the next look is due: what changes fast is told in pieces. */
static void look_wait(hf_followers *all)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + LOOK_MS * 1000;

    hf_mutex_lock(&all->lock);
    while (!all->closing && !all->come && !hf_cond_wait_until(&all->some, &all->lock, until_us)) {
    }
    hf_mutex_unlock(&all->lock);
}

static void followers_run(void *ctx)
{
    hf_followers *all = ctx;
    hf_mem *mem = hf_mem_new();
    bool came;

    while (followers_take(all, &came)) {
        int64_t changes = 0;

        if (!hf_changes(all->server->engine, all->changes, came ? 0 : LOOK_MS, &changes))
            all->changes = changes;
        if (!mem)
            mem = hf_mem_new();
        if (mem)
            followers_look(all, mem);
        look_wait(all);
    }
    hf_mem_free(mem);
}

hf_status hf_followers_open(hf_server *server, hf_followers **out_followers, hf_err *err)
{
    hf_followers *all = hf_alloc(sizeof(*all));
    hf_status st = all ? hf_mutex_init(&all->lock, err) : hf_err_nomem(err, "a server");

    if (st)
        goto failed;
    st = hf_cond_init(&all->some, err);
    if (st)
        goto failed_lock;
    all->server = server;
    st = hf_thread_start(&all->thread, "hf-follow", followers_run, all, err);
    if (st)
        goto failed_cond;
    *out_followers = all;
    return HF_OK;
failed_cond:
    hf_cond_fini(&all->some);
failed_lock:
    hf_mutex_fini(&all->lock);
failed:
    hf_alloc_free(all);
    return st;
}

void hf_followers_close(hf_followers *all)
{
    if (!all)
        return;
    hf_mutex_lock(&all->lock);
    all->closing = true;
    hf_cond_broadcast(&all->some);
    hf_mutex_unlock(&all->lock);
    hf_thread_join(&all->thread);
    hf_cond_fini(&all->some);
    hf_mutex_fini(&all->lock);
    hf_alloc_free(all);
}

/* ---- the loop's side */

/* One that is not in the list has ended meanwhile. */
static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    hf_server *server = ctx;
    follower *f;

    hf_mutex_lock(&server->polls_lock);
    f = hf_map_int_get(server->polls, (uintptr_t)exchange);
    if (f && why != HF_HTTP_REVIEW)
        atomic_store(&f->over, OVER_TIME);
    else if (f && hf_auth_ended(server->auth, &f->api->principal, hf_clock_real_us(server->clock)))
        atomic_store(&f->over, OVER_TOKEN);
    hf_mutex_unlock(&server->polls_lock);
}

/* In the server's list; NULL: no memory. */
static follower *follower_new(hf_api *api, hf_value topics, int64_t after, bool poll)
{
    hf_server *server = api->server;
    follower *f = hf_alloc(sizeof(*f));
    hf_status st;

    if (!f)
        return NULL;
    f->api = api;
    f->after = after;
    f->poll = poll;
    if (!topics_make(f, topics)) {
        hf_alloc_free(f);
        return NULL;
    }
    hf_mutex_lock(&server->polls_lock);
    st = hf_map_int_put(server->polls, (uintptr_t)api->exchange, f, NULL, NULL);
    hf_mutex_unlock(&server->polls_lock);
    if (!st)
        return f;
    hf_alloc_free(f);
    return NULL;
}

void hf_follow(hf_api *api, hf_value topics, int64_t after, bool poll, int64_t wait_ms)
{
    hf_followers *all = api->server->followers;
    follower *f = NULL;
    bool room;

    hf_mutex_lock(&all->lock);
    room = all->count < HF_FOLLOW_MAX;
    all->count += room;
    hf_mutex_unlock(&all->lock);
    if (room)
        f = follower_new(api, topics, after, poll);
    if (!f) {
        hf_mutex_lock(&all->lock);
        all->count -= room;
        hf_mutex_unlock(&all->lock);
        hf_api_error(api, 503, "overloaded", "Too many follow what changes already.");
        return;
    }
    *api->later = true;
    if (poll) {
        hf_http_park(api->exchange, wait_ms, on_wake, api->server);
    } else {
        api->reply.type = "text/event-stream";
        hf_http_reply_field(&api->reply, "Cache-Control", HF_SLICE("no-store"));
        hf_http_stream(api->exchange, &api->reply, on_wake, api->server);
    }
    hf_mutex_lock(&all->lock);
    f->next = all->come;
    all->come = f;
    hf_cond_broadcast(&all->some);
    hf_mutex_unlock(&all->lock);
}
