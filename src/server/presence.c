/* presence.c: see presence.h. */
#include "server/presence.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/thread.h"

#define ROUND_US INT64_C(100000) /* between two looks: many may be lost at once */
#define NEVER    INT64_MAX
#define KEEP_US                                                                                    \
    INT64_C(600000000) /* whoever promised nothing and left no trace: longer than leases */

typedef struct present {
    int64_t heard_us;
    int64_t beat_us;  /* between heartbeats; 0: it promised none */
    int64_t quiet_us; /* since when it has no connection that it would miss; 0: it may have one */
    size_t conns;
    bool hops;     /* it closes connections between its requests */
    bool expected; /* it was not heard yet */
    size_t key_len;
    char key[];
} present;

struct hf_presence {
    hf_presence_options o;
    hf_mutex lock;
    hf_cond changed;
    hf_thread thread;
    hf_map *workers;
    hf_map_int *conns; /* whom each was last heard over */
    int64_t due_us;    /* when the thread looks next */
    bool stop;
};

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

static int64_t lost_at(const hf_presence *presence, const present *who)
{
    int64_t beats_us = who->beat_us ? who->heard_us + HF_PRESENCE_MISSED * who->beat_us
                       : who->conns ? NEVER
                                    : who->heard_us + KEEP_US;
    int64_t quiet_us = who->quiet_us ? who->quiet_us + presence->o.quiet_ms * 1000 : NEVER;

    return beats_us < quiet_us ? beats_us : quiet_us;
}

/* Under the lock, as all below until the thread's own. */
static void watch(hf_presence *presence, const present *who)
{
    int64_t at_us = lost_at(presence, who);

    if (at_us >= presence->due_us)
        return; /* the thread looks before that anyway */
    presence->due_us = at_us;
    hf_cond_signal(&presence->changed);
}

static present *present_get(hf_presence *presence, hf_slice worker)
{
    present *who = hf_map_get(presence->workers, worker);

    if (who || hf_map_count(presence->workers) >= HF_PRESENCE_MAX)
        return who;
    who = hf_alloc(sizeof(*who) + worker.len);
    if (!who)
        return NULL;
    *who = (present){.key_len = worker.len};
    memcpy(who->key, worker.ptr, worker.len);
    if (hf_map_put(presence->workers, hf_slice_from(who->key, who->key_len), who, NULL, NULL)) {
        hf_alloc_free(who);
        return NULL;
    }
    return who;
}

static void conn_leave(hf_presence *presence, present *who, hf_http_left left)
{
    who->conns--;
    if (who->conns > 0)
        return;
    if (left == HF_HTTP_LEFT_CUT || (left == HF_HTTP_LEFT_IDLE && !who->hops))
        who->quiet_us = now_us();
    watch(presence, who);
}

void hf_presence_heard(hf_presence *presence, hf_slice worker, const hf_http_exchange *conn)
{
    present *before = NULL;
    present *who;

    hf_mutex_lock(&presence->lock);
    who = present_get(presence, worker);
    if (who) {
        who->hops |= who->quiet_us != 0;
        who->heard_us = now_us();
        who->expected = false;
        who->quiet_us = 0;
        before = conn ? hf_map_int_get(presence->conns, (uintptr_t)conn) : who;
    }
    if (who && before != who &&
        !hf_map_int_put(presence->conns, (uintptr_t)conn, who, NULL, NULL)) {
        who->conns++;
        if (before)
            conn_leave(presence, before, HF_HTTP_LEFT_AGREED);
    }
    hf_mutex_unlock(&presence->lock);
}

void hf_presence_promised(hf_presence *presence, hf_slice worker, int64_t beat_ms)
{
    present *who;

    hf_mutex_lock(&presence->lock);
    who = present_get(presence, worker);
    if (who) {
        who->beat_us = (beat_ms > 0 ? beat_ms : presence->o.beat_ms) * 1000;
        if (!who->heard_us) {
            who->heard_us = now_us();
            who->expected = true;
        }
        watch(presence, who);
    }
    hf_mutex_unlock(&presence->lock);
}

/* Nothing is known of it any more. */
static void present_drop(hf_presence *presence, present *who)
{
    size_t at = 0;
    uint64_t conn;
    void *item;

    while (who->conns > 0 && hf_map_int_next(presence->conns, &at, &conn, &item)) {
        if (item != who)
            continue;
        (void)hf_map_int_remove(presence->conns, conn);
        who->conns--;
        at = 0; /* a removal may move what is behind it */
    }
    (void)hf_map_remove(presence->workers, hf_slice_from(who->key, who->key_len));
    hf_alloc_free(who);
}

void hf_presence_left(hf_presence *presence, hf_slice worker)
{
    present *who;

    hf_mutex_lock(&presence->lock);
    who = hf_map_get(presence->workers, worker);
    if (who)
        present_drop(presence, who);
    hf_mutex_unlock(&presence->lock);
}

void hf_presence_expected(hf_presence *presence, hf_slice worker)
{
    bool known;

    hf_mutex_lock(&presence->lock);
    known = hf_map_get(presence->workers, worker) != NULL;
    hf_mutex_unlock(&presence->lock);
    if (!known)
        hf_presence_promised(presence, worker, 0);
}

/* Under the lock; NULL: unknown, or no memory for its name. */
static present *present_find(hf_presence *presence, const char *space, const char *worker,
                             hf_buf *key)
{
    hf_buf_add_format(key, "%s/%s", space, worker);
    return hf_buf_ok(key) ? hf_map_get(presence->workers, hf_buf_slice(key)) : NULL;
}

bool hf_presence_hears(hf_presence *presence, const char *space, const char *worker,
                       int64_t within_us)
{
    hf_buf key = {0};
    const present *who;
    bool hears;

    hf_mutex_lock(&presence->lock);
    who = present_find(presence, space, worker, &key);
    hears = who && !who->expected &&
            (now_us() - who->heard_us < within_us || (who->conns > 0 && !who->beat_us));
    hf_mutex_unlock(&presence->lock);
    hf_buf_fini(&key);
    return hears;
}

bool hf_presence_there(hf_presence *presence, const char *space, const char *worker)
{
    hf_buf key = {0};
    bool there;

    hf_mutex_lock(&presence->lock);
    there = present_find(presence, space, worker, &key) != NULL || !hf_buf_ok(&key) ||
            hf_map_count(presence->workers) >= HF_PRESENCE_MAX;
    hf_mutex_unlock(&presence->lock);
    hf_buf_fini(&key);
    return there;
}

void hf_presence_ended(hf_presence *presence, const hf_http_exchange *conn, hf_http_left left)
{
    present *who;

    hf_mutex_lock(&presence->lock);
    who = hf_map_int_remove(presence->conns, (uintptr_t)conn);
    if (who)
        conn_leave(presence, who, left);
    hf_mutex_unlock(&presence->lock);
}

/* ---- the thread */

/* One that is lost by now, or NULL; and when the next may be. */
static present *lost_find(hf_presence *presence, int64_t now)
{
    present *lost = NULL;
    size_t at = 0;
    hf_slice key;
    void *item;

    presence->due_us = NEVER;
    while (!lost && hf_map_next(presence->workers, &at, &key, &item)) {
        present *who = item;
        int64_t at_us = lost_at(presence, who);

        if (at_us <= now)
            lost = who;
        else if (at_us < presence->due_us)
            presence->due_us = at_us;
    }
    return lost;
}

/* Tells of those that are lost. With the lock, which is given up meanwhile. */
static void round_run(hf_presence *presence)
{
    int64_t now = now_us();
    present *who;

    while (!presence->stop && (who = lost_find(presence, now))) {
        int64_t silent_us = now - who->heard_us;
        size_t len = who->key_len;
        char *key = hf_alloc(len + 1);

        if (!key) {
            presence->due_us = now + ROUND_US;
            return;
        }
        memcpy(key, who->key, len);
        present_drop(presence, who);
        hf_mutex_unlock(&presence->lock);
        presence->o.lost(presence->o.ctx, hf_slice_from(key, len), silent_us);
        hf_alloc_free(key);
        hf_mutex_lock(&presence->lock);
    }
}

static void presence_run(void *ctx)
{
    hf_presence *presence = ctx;
    int64_t again_us = 0;

    hf_mutex_lock(&presence->lock);
    while (!presence->stop) {
        int64_t until_us = presence->due_us > again_us ? presence->due_us : again_us;

        if (presence->due_us == NEVER) {
            hf_cond_wait(&presence->changed, &presence->lock);
        } else if (now_us() < until_us) {
            (void)!hf_cond_wait_until(&presence->changed, &presence->lock, until_us);
        } else {
            round_run(presence);
            again_us = now_us() + ROUND_US;
        }
    }
    hf_mutex_unlock(&presence->lock);
}

static hf_status presence_init(hf_presence *presence, hf_err *err)
{
    hf_map_seed seed; /* the names are chosen by others */
    hf_status st = hf_map_seed_system(&seed, err);

    if (st)
        return st;
    presence->workers = hf_map_new(seed);
    presence->conns = hf_map_int_new(seed);
    if (!presence->workers || !presence->conns)
        return hf_err_nomem(err, "who is there");
    st = hf_cond_init(&presence->changed, err);
    if (!st) {
        st = hf_thread_start(&presence->thread, "hf-presence", presence_run, presence, err);
        if (st)
            hf_cond_fini(&presence->changed);
    }
    return st;
}

static void presence_free(hf_presence *presence)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    while (presence->workers && hf_map_next(presence->workers, &at, &key, &item))
        hf_alloc_free(item);
    hf_map_free(presence->workers);
    hf_map_int_free(presence->conns);
    hf_mutex_fini(&presence->lock);
    hf_alloc_free(presence);
}

hf_status hf_presence_open(const hf_presence_options *options, hf_presence **out_presence,
                           hf_err *err)
{
    hf_presence *presence = hf_alloc(sizeof(*presence));
    hf_status st;

    if (!presence)
        return hf_err_nomem(err, "who is there");
    presence->o = *options;
    if (!presence->o.quiet_ms)
        presence->o.quiet_ms = HF_PRESENCE_QUIET_MS;
    if (!presence->o.beat_ms)
        presence->o.beat_ms = HF_PRESENCE_BEAT_MS;
    presence->due_us = NEVER;
    st = hf_mutex_init(&presence->lock, err);
    if (st) {
        hf_alloc_free(presence);
        return st;
    }
    st = presence_init(presence, err);
    if (st) {
        presence_free(presence);
        return st;
    }
    *out_presence = presence;
    return HF_OK;
}

void hf_presence_close(hf_presence *presence)
{
    if (!presence)
        return;
    hf_mutex_lock(&presence->lock);
    presence->stop = true;
    hf_cond_signal(&presence->changed);
    hf_mutex_unlock(&presence->lock);
    hf_thread_join(&presence->thread);
    hf_cond_fini(&presence->changed);
    presence_free(presence);
}
