/* simnode.c: see simnode.h. Each life of the node is a group of threads on a disk of its own, which
   begins with what the one before has left. Memory of a life that was killed stays. */
#include "lib/simnode.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/sched.h"
#include "base/thread.h"
#include "engine/engine_impl.h"
#include "holdfast/worker.h"
#include "server/server.h"

enum { HANDLERS = 6, LIVES_MAX = 200 };

#define STORE "/sim/store.db"

typedef enum node_state { NODE_DOWN, NODE_BEGINS, NODE_FAILED, NODE_UP, NODE_ENDS } node_state;

typedef enum call_state { CALL_WAITS, CALL_ENDED, CALL_LOST } call_state;

typedef struct call {
    void (*run)(hf_engine *engine, void *arg);
    void *arg;
    call_state state;
    struct call *next;
} call;

struct hf_simnode {
    hf_simnode_options o;
    node_state state;
    int life;
    hf_simvfs *vfs[LIVES_MAX];
    hf_engine *engine;
    hf_server *server;
    call *waiting; /* in order */
    call *taken;   /* in the hands of a handler */
    int handlers;  /* that have not ended */
    hf_thread threads[LIVES_MAX][HANDLERS + 1];
    char why[256];
};

static void disk_pause(void *ctx, int64_t us)
{
    hf_simnode *node = ctx;
    hf_simsched *sim = node->o.sim;

    if (us)
        hf_simsched_sleep(sim, us);
    else if (hf_simsched_one_in(sim, node->o.slow_sync_one_in))
        hf_simsched_sleep(sim, (int64_t)hf_simsched_below(sim, (uint64_t)node->o.slow_sync_us));
    else
        hf_simsched_step(sim);
}

static hf_simvfs *disk_new(hf_simnode *node)
{
    char name[32];
    hf_simvfs *vfs;

    (void)snprintf(name, sizeof(name), "simnode-%d", node->life);
    vfs = hf_simvfs_new(name);
    HF_ASSERT(vfs);
    return vfs;
}

hf_simnode *hf_simnode_new(const hf_simnode_options *options)
{
    hf_simnode *node = calloc(1, sizeof(*node));

    HF_ASSERT(node);
    node->o = *options;
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
    return node;
}

void hf_simnode_free(hf_simnode *node)
{
    HF_ASSERT(node->state == NODE_DOWN);
    free(node);
}

/* ---- threads of the node */

static void calls_serve(hf_simnode *node)
{
    while (node->state == NODE_UP || node->waiting) {
        call *mine = node->waiting;
        call **at = &node->taken;

        if (!mine) {
            (void)hf_simsched_await(node->o.sim, &node->waiting, INT64_MAX);
            continue;
        }
        node->waiting = mine->next;
        mine->next = node->taken;
        node->taken = mine;
        hf_simsched_step(node->o.sim);
        mine->run(node->engine, mine->arg);
        while (*at != mine)
            at = &(*at)->next;
        *at = mine->next;
        mine->state = CALL_ENDED;
        hf_simsched_wake(node->o.sim, mine);
    }
    node->handlers--;
    hf_simsched_wake(node->o.sim, &node->handlers);
}

static void handler_run(void *ctx)
{
    calls_serve(ctx);
}

void hf_simnode_socket(const hf_simnode *node, int life, char out_path[HF_SIMNODE_SOCKET])
{
    int len = snprintf(out_path, HF_SIMNODE_SOCKET, "%s/%d.sock", node->o.folder, life);

    HF_ASSERT(len < HF_SIMNODE_SOCKET);
}

static hf_status server_begin(hf_simnode *node, hf_engine *engine)
{
    char path[HF_SIMNODE_SOCKET];
    char listen[HF_SIMNODE_SOCKET + 8];
    hf_server_options options = {.engine = engine, .listen = listen};
    hf_status st;

    hf_simnode_socket(node, node->life, path);
    (void)snprintf(listen, sizeof(listen), "unix:%s", path);
    st = hf_server_open(&options, &node->server, &engine->open_error);
    return st ? st : hf_server_start(node->server, &engine->open_error);
}

static void server_end(hf_simnode *node)
{
    if (!node->server)
        return;
    hf_server_drain(node->server, 1000);
    hf_server_wait(node->server);
    hf_server_close(node->server);
    node->server = NULL;
}

/* Opens, serves calls as the others do, and closes when all of them have ended. */
static void node_run(void *ctx)
{
    hf_simnode *node = ctx;
    hf_thread *threads = node->threads[node->life];
    hf_engine *engine = NULL;
    hf_status st =
        hf_engine_open_in(STORE, hf_simvfs_name(node->vfs[node->life]), node->o.app, NULL, &engine);
    hf_err err;

    if (!st)
        st = hf_workers_allow(engine);
    if (!st)
        st = hf_engine_begin(engine, ENGINE_THREADS, &engine->open_error);
    if (!st && node->o.folder)
        st = server_begin(node, engine);
    if (st) {
        (void)snprintf(node->why, sizeof(node->why), "%s", hf_errmsg(engine));
        server_end(node);
        hf_close(engine);
        node->state = NODE_FAILED;
        hf_simsched_wake(node->o.sim, &node->state);
        return;
    }
    if (node->o.opened)
        node->o.opened(engine);
    node->engine = engine;
    node->state = NODE_UP;
    node->handlers = 0;
    for (int i = 1; i <= HANDLERS; i++) {
        node->handlers++;
        HF_ASSERT(!hf_thread_start(&threads[i], "handler", handler_run, node, &err));
    }
    hf_simsched_wake(node->o.sim, &node->state);
    while (node->handlers)
        (void)hf_simsched_await(node->o.sim, &node->handlers, INT64_MAX);
    for (int i = 1; i <= HANDLERS; i++)
        hf_thread_join(&threads[i]);
    server_end(node);
    hf_close(engine);
    node->engine = NULL;
}

/* ---- the world's side */

bool hf_simnode_boot(hf_simnode *node)
{
    hf_err err;

    HF_ASSERT(node->state == NODE_DOWN && node->life + 1 < LIVES_MAX);
    if (!node->vfs[node->life + 1]) { /* a life that did not begin is tried again on its disk */
        node->life++;
        node->vfs[node->life] = disk_new(node);
        HF_ASSERT(hf_simvfs_record(node->vfs[node->life]));
    } else {
        node->life++;
    }
    hf_simvfs_pause(node->vfs[node->life], disk_pause, node);
    node->state = NODE_BEGINS;
    hf_simsched_group(node->o.sim, node->life);
    HF_ASSERT(!hf_thread_start(&node->threads[node->life][0], "node", node_run, node, &err));
    hf_simsched_group(node->o.sim, 0);
    while (node->state == NODE_BEGINS)
        (void)hf_simsched_await(node->o.sim, &node->state, INT64_MAX);
    if (node->state == NODE_FAILED) {
        hf_thread_join(&node->threads[node->life][0]);
        node->vfs[node->life + 1] = node->vfs[node->life];
        node->state = NODE_DOWN;
    }
    return node->state == NODE_UP;
}

const char *hf_simnode_why(const hf_simnode *node)
{
    return node->why;
}

void hf_simnode_stop(hf_simnode *node)
{
    if (node->state != NODE_UP)
        return;
    node->state = NODE_ENDS;
    hf_simsched_wake(node->o.sim, &node->waiting);
    hf_thread_join(&node->threads[node->life][0]);
    node->state = NODE_DOWN;
    node->vfs[node->life + 1] = node->vfs[node->life];
}

static void calls_lose(hf_simnode *node, call **list)
{
    while (*list) {
        call *lost = *list;

        *list = lost->next;
        lost->state = CALL_LOST;
        hf_simsched_wake(node->o.sim, lost);
    }
}

void hf_simnode_kill(hf_simnode *node, bool power)
{
    hf_simvfs *old = node->vfs[node->life];
    hf_simvfs *next;
    hf_simdisk *disk;
    bool good;

    if (node->state == NODE_DOWN || node->state == NODE_FAILED)
        return;
    hf_simsched_kill(node->o.sim, node->life);
    node->state = NODE_DOWN;
    node->engine = NULL;
    node->server = NULL;
    calls_lose(node, &node->waiting);
    calls_lose(node, &node->taken);
    hf_simsched_wake(node->o.sim, &node->state);
    hf_sched_stir(); /* whoever waits for an answer finds that nobody is there */
    node->life++;
    next = disk_new(node);
    node->life--;
    disk = hf_simdisk_new(hf_simvfs_log(old), 0);
    HF_ASSERT(disk && hf_simdisk_forward(disk, hf_simvfs_operation(old)));
    good = power ? hf_simdisk_lose_power(disk, hf_simsched_below(node->o.sim, UINT64_MAX),
                                         hf_simvfs_take, next)
                 : hf_simdisk_kill(disk, hf_simvfs_take, next);
    HF_ASSERT(good);
    hf_simdisk_free(disk);
    HF_ASSERT(hf_simvfs_record(next));
    node->vfs[node->life + 1] = next;
}

int hf_simnode_life(const hf_simnode *node)
{
    return node->state == NODE_UP ? node->life : 0;
}

bool hf_simnode_call(hf_simnode *node, void (*run)(hf_engine *engine, void *arg), void *arg)
{
    call mine = {.run = run, .arg = arg};
    call **end = &node->waiting;

    if (node->state != NODE_UP)
        return false;
    while (*end)
        end = &(*end)->next;
    *end = &mine;
    hf_simsched_wake(node->o.sim, &node->waiting);
    while (mine.state == CALL_WAITS)
        (void)hf_simsched_await(node->o.sim, &mine, INT64_MAX);
    return mine.state == CALL_ENDED;
}

void hf_simnode_calm(hf_simnode *node)
{
    node->o.slow_sync_one_in = 0;
}

const char *hf_simnode_vfs(const hf_simnode *node)
{
    return hf_simvfs_name(node->vfs[node->life]);
}

const char *hf_simnode_address(void)
{
    return STORE;
}
