/* node.c: see node.h. */
#include "engine/node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "engine/awaited.h"
#include "engine/core_impl.h"
#include "store/keys.h"

/* Times of renewals are parts of the lease. */
enum {
    RETRY_PART = 20, /* after a renewal that failed */
    EAGER_PART = 33, /* between the first ones: the others make room for a newcomer */
    EAGER_ROUNDS = 4,
    CALM_PART = 100, /* between two, however often the others call */
    STOPPED_US = 60000000
};

static const hf_hint LOOK = {.kind = HF_HINT_LOOK};

struct hf_node {
    hf_node_options o;
    int64_t key;
    int64_t lease_us;
    hf_shards *shards;
    hf_awaited *awaited;   /* by callers at other nodes */
    hf_wake *_Atomic wake; /* NULL: not started; the listener runs before it is told */
    hf_core *core;         /* NULL: not started */
    hf_thread thread;
    /* the thread's */
    int64_t epochs[HF_SHARDS]; /* under which the core knows them; others read it under the lock */
    bool troubled;             /* the last renewal failed, and that was said */
    bool stopped;              /* the store is a newer program's now */
    bool unsettled;            /* sessions of a former owner may be there, and that was said */
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    bool closing;
    bool called; /* another node came or went: look now */
    bool unswept;
};

static void trouble_tell(const hf_node *node, const char *what, const hf_err *err)
{
    const hf_log_field field = hf_log_text("why", hf_slice_of(err->text));

    hf_log_write(node->o.log, HF_LOG_WARN, what, &field, 1);
}

/* What is new here, and what still waits, is the core's to find. */
static void shards_compare(hf_node *node, bool lapsed)
{
    int64_t epochs[HF_SHARDS];
    bool gained[HF_SHARDS];
    bool own[HF_SHARDS];
    bool some = false;

    for (int64_t i = 0; i < HF_SHARDS; i++) {
        epochs[i] = hf_shards_epoch(node->shards, i);
        own[i] = epochs[i] != HF_NONE;
        gained[i] = own[i] && (lapsed || epochs[i] != node->epochs[i]);
        some |= gained[i];
    }
    if (some)
        hf_core_sweep(node->core, gained, true);
    hf_mutex_lock(&node->lock);
    memcpy(node->epochs, epochs, sizeof(epochs));
    hf_mutex_unlock(&node->lock);
    if (hf_shards_waiting(node->shards))
        hf_core_sweep(node->core, own, false);
}

/* By which the core hears that it is to stop; the node may be gone by then. */
typedef struct stop_call {
    hf_core_call base;
    hf_err why;
} stop_call;

static void core_stop(hf_core *core, hf_core_call *call)
{
    stop_call *stop = (stop_call *)call;

    if (core)
        hf_core_fail(core, stop->why.status, &stop->why);
    hf_alloc_free(stop);
}

/* Nothing is written any more; the lease runs out, and newer nodes go on. The core is told first,
   so that it ends with the reason; one that cannot be told finds out when it writes. */
static void node_stop(hf_node *node, const hf_err *why)
{
    stop_call *stop = hf_alloc(sizeof(*stop));

    node->stopped = node->troubled = true;
    trouble_tell(node, "this node stops", why);
    if (stop) {
        *stop = (stop_call){.base.run = core_stop, .why = *why};
        if (hf_core_call_post(node->core, &stop->base, NULL))
            hf_alloc_free(stop);
    }
    hf_writer_stop(node->o.writer, why);
}

/* Returns when to renew next. */
static int64_t node_renew(hf_node *node, int64_t *valid_us)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());
    int64_t passed_us = hf_clock_passing_us(hf_clock_system());
    bool lapsed = passed_us >= *valid_us; /* the core may have put runs aside meanwhile */
    hf_err unsettled;
    hf_err err = {0};
    hf_status st;

    if (node->stopped)
        return now_us + STOPPED_US;
    st = hf_shards_renew(node->shards, true, &unsettled, &err);
    if (st == HF_NEWER)
        node_stop(node, &err);

    if (st && !node->troubled)
        trouble_tell(node, "the lease of this node's shards cannot be renewed", &err);
    node->troubled = st != HF_OK;
    if (st)
        return now_us + node->lease_us / RETRY_PART;
    if (unsettled.status && !node->unsettled)
        trouble_tell(node, "shards of another node cannot be taken yet", &unsettled);
    node->unsettled = unsettled.status != HF_OK;
    *valid_us = passed_us + node->lease_us;
    hf_mutex_lock(&node->lock);
    lapsed |= node->unswept;
    node->unswept = false;
    hf_mutex_unlock(&node->lock);
    shards_compare(node, lapsed);
    node->o.renewed(node->o.ctx);
    return now_us +
           (node->unsettled ? node->lease_us / RETRY_PART : hf_shards_renew_us(node->shards));
}

static void node_thread(void *ctx)
{
    hf_node *node = ctx;
    int64_t renewed_us = hf_clock_mono_us(hf_clock_system());
    int64_t valid_us = hf_clock_passing_us(hf_clock_system()) + node->lease_us;
    int64_t eager_us = node->lease_us / EAGER_PART;
    int64_t calm_us = node->lease_us / CALM_PART;
    int64_t next_us = renewed_us + eager_us;
    int eager = EAGER_ROUNDS;

    hf_mutex_lock(&node->lock);
    while (!node->closing) {
        if (node->called && next_us > renewed_us + calm_us)
            next_us = renewed_us + calm_us;
        node->called = false;
        if (hf_cond_wait_until(&node->work, &node->lock, next_us) != HF_TIMEOUT)
            continue;
        hf_mutex_unlock(&node->lock);
        next_us = node_renew(node, &valid_us);
        renewed_us = hf_clock_mono_us(hf_clock_system());
        if (eager > 0 && next_us > renewed_us + eager_us) {
            next_us = renewed_us + eager_us;
            eager--;
        }
        hf_mutex_lock(&node->lock);
    }
    hf_mutex_unlock(&node->lock);
}

static void node_call(hf_node *node)
{
    hf_mutex_lock(&node->lock);
    node->called = true;
    hf_cond_signal(&node->work);
    hf_mutex_unlock(&node->lock);
}

static void node_heard(void *ctx, hf_hint hint)
{
    hf_node *node = ctx;

    switch (hint.kind) {
    case HF_HINT_LOOK:
        node_call(node);
        break;
    case HF_HINT_FACTS:
        hf_core_heard(node->core, hint.run);
        break;
    case HF_HINT_CHANGED:
        break;
    case HF_HINT_MAIL:
        if (hint.run != node->key)
            return; /* another one's */
        break;
    case HF_HINT_AWAITED:
        hf_awaited_add(node->awaited, hint.run, hf_clock_mono_us(hf_clock_system()));
        break;
    }
    node->o.heard(node->o.ctx, hint);
}

hf_status hf_node_join(const hf_node_options *options, hf_node **out_node, hf_err *err)
{
    hf_node *node = hf_alloc(sizeof(*node));
    char host[64] = "";
    char name[96];
    int64_t key = 0;
    hf_status st;

    if (!node)
        return hf_err_nomem(err, "a node");
    node->o = *options;
    st = hf_mutex_init(&node->lock, err);
    if (st) {
        hf_alloc_free(node);
        return st;
    }
    st = hf_cond_init(&node->work, err);
    if (st) {
        hf_mutex_fini(&node->lock);
        hf_alloc_free(node);
        return st;
    }
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(name, sizeof(name), "%s:%ld", host, (long)getpid());
    st = hf_keys_take(hf_writer_keys(options->writer), 1, &key, err);
    if (!st)
        st = hf_shards_join(&(hf_shards_options){.store = options->store,
                                                 .node = key,
                                                 .name = name,
                                                 .lease_us = options->lease_us,
                                                 .clock = options->clock,
                                                 .clock_is_own = options->clock_is_own,
                                                 .writer = options->writer},
                            &node->shards, err);
    node->key = key;
    if (!st)
        node->lease_us = hf_shards_lease_us(node->shards);
    if (!st)
        st = hf_awaited_open(hf_shards_renew_us(node->shards), &node->awaited, err);
    for (int64_t i = 0; !st && i < HF_SHARDS; i++)
        node->epochs[i] = hf_shards_epoch(node->shards, i);
    if (st)
        hf_node_leave(node);
    else
        *out_node = node;
    return st;
}

hf_status hf_node_start(hf_node *node, hf_core *core, hf_err *err)
{
    hf_wake *wake = NULL;
    hf_status st;

    node->core = core;
    st = hf_wake_open(node->o.store, node->key, node_heard, node, &wake, err);
    node->wake = wake;
    if (st)
        return st;
    hf_wake_tell(node->wake, LOOK); /* the others make room */
    return hf_thread_start(&node->thread, "hf-node", node_thread, node, err);
}

void hf_node_leave(hf_node *node)
{
    if (!node)
        return;
    hf_mutex_lock(&node->lock);
    node->closing = true;
    hf_cond_signal(&node->work);
    hf_mutex_unlock(&node->lock);
    hf_thread_join(&node->thread);
    hf_shards_leave(node->shards);
    if (node->wake)
        hf_wake_tell(node->wake, LOOK);
    hf_wake_close(node->wake);
    hf_awaited_close(node->awaited);
    hf_cond_fini(&node->work);
    hf_mutex_fini(&node->lock);
    hf_alloc_free(node);
}

hf_shards *hf_node_shards(hf_node *node)
{
    return node->shards;
}

int64_t hf_node_key(const hf_node *node)
{
    return node->key;
}

bool hf_node_owns(hf_node *node, int64_t shard)
{
    return shard == HF_NONE ? hf_shards_count(node->shards) == HF_SHARDS
                            : hf_shards_epoch(node->shards, shard) != HF_NONE;
}

bool hf_node_swept(hf_node *node)
{
    bool swept = true;

    hf_mutex_lock(&node->lock);
    for (int64_t i = 0; i < HF_SHARDS; i++)
        swept &= node->epochs[i] == hf_shards_epoch(node->shards, i);
    hf_mutex_unlock(&node->lock);
    return swept;
}

void hf_node_tell(hf_node *node, int64_t run)
{
    if (node->wake)
        hf_wake_tell(node->wake, (hf_hint){HF_HINT_FACTS, run});
}

void hf_node_changed(hf_node *node, int64_t run)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    if (!node->wake)
        return;
    if (hf_awaited_has(node->awaited, run, now_us))
        hf_wake_tell(node->wake, (hf_hint){HF_HINT_CHANGED, run});
    if (hf_awaited_has(node->awaited, 0, now_us))
        hf_wake_tell(node->wake, (hf_hint){HF_HINT_CHANGED, 0});
}

void hf_node_await(hf_node *node, int64_t shard, int64_t run)
{
    if (node->wake && !hf_node_owns(node, shard))
        hf_wake_tell(node->wake, (hf_hint){HF_HINT_AWAITED, run});
}

void hf_node_mail(hf_node *node, int64_t to)
{
    if (node->wake)
        hf_wake_tell(node->wake, (hf_hint){HF_HINT_MAIL, to});
}

void hf_node_unswept(hf_node *node)
{
    hf_mutex_lock(&node->lock);
    node->unswept = true;
    hf_mutex_unlock(&node->lock);
}
