/* served.c: see served.h. What is looked at is the inside of both ends; what is done is done by
   their own threads. */
#include "lib/served.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/remote_impl.h"
#include "engine/runner.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "lib/way.h"
#include "server/server.h"
#include "task/matching_impl.h"

enum { PATIENCE_MS = 30000, SETTINGS_MAX = 8 };

typedef struct served {
    hf_way way; /* handle: the worker; home: the server's */
    hf_test_place *place;
    hf_server *server;
    int port;
    hf_rein rein;
    const char *settings[SETTINGS_MAX][2]; /* name and value */
    size_t setting_count;
    bool fresh; /* the server began, and its worker was not there yet */
} served;

static const hf_app nothing = {.name = "server"};

/* ---- polls */

/* Kinds of tasks that a poll waits for. */
static size_t polls_wait(const served *s)
{
    hf_matching *matching = s->way.home->matching;
    size_t polls = 0;
    hf_slice name;
    size_t at = 0;
    void *value;

    hf_mutex_lock(&matching->lock);
    while (hf_map_next(matching->queues, &at, &name, &value))
        for (const task_queue *queue = value; queue; queue = queue->next)
            polls += (size_t)(queue->polls[HF_TASK_WORKFLOW] > 0) +
                     (size_t)(queue->polls[HF_TASK_STEP] > 0) +
                     (size_t)(queue->polls[HF_TASK_ACTIVITY] > 0);
    hf_mutex_unlock(&matching->lock);
    return polls;
}

/* The threads of a worker share a poll of each kind. */
static size_t polls_wanted(const served *s)
{
    const hf_app *app = s->way.handle->app;

    return (size_t)(app && app->workflows && app->workflows->type) +
           (size_t)(app && app->machines && app->machines->type) +
           (size_t)(app && app->activities && app->activities->name);
}

/* Also a server that began anew is of use when its worker has found it. */
static void served_go(hf_way *way)
{
    served *s = (served *)way;

    hf_rein_let_go(&s->rein);
    for (int i = 0; s->fresh && polls_wait(s) != polls_wanted(s); i++) {
        ck_assert_msg(i < PATIENCE_MS, "the worker does not come back");
        hf_nap_ms(1);
    }
    s->fresh = false;
}

static void served_hold(hf_way *way)
{
    hf_rein_hold(&((served *)way)->rein, way->home);
}

static hf_core_state served_look(hf_way *way)
{
    return hf_rein_look(&((served *)way)->rein, way->home);
}

static bool served_rests(hf_way *way, int64_t *out_stamp)
{
    const served *s = (served *)way;
    hf_core_state core = served_look(way);
    hf_task_look tasks = hf_rein_tasks(way->home);

    *out_stamp = tasks.orders - tasks.fronts; /* fronts fall */
    return !core.busy && !core.works && !tasks.held && polls_wait(s) == polls_wanted(s) &&
           !hf_writer_busy(way->home->writer);
}

static const char *served_tell(const hf_way *way)
{
    const served *s = (const served *)way;
    hf_core_state core = hf_rein_look(&((served *)way)->rein, way->home);
    hf_task_look tasks = hf_rein_tasks(way->home);

    return hf_mem_format(hf_mem_of_engine(way->home),
                         "%zu tasks held, %zu of %zu polls, %d orders%s%s%s", tasks.held,
                         polls_wait(s), polls_wanted(s), (int)(tasks.orders - tasks.fronts),
                         core.busy ? ", core busy" : "", core.works ? ", core works" : "",
                         hf_writer_busy(way->home->writer) ? ", writer busy" : "");
}

/* ---- the clock */

static int64_t served_batch_us(const hf_way *way)
{
    return hf_batch_next_us(way->home->batcher);
}

static void served_moved(hf_way *way)
{
    hf_runner_wake(way->home);
}

/* A worker says every 20 s that it is there, and that it has its steps: so do we when as much has
   passed at once. */
static void served_passed(hf_way *way)
{
    const hf_remote *remote = way->handle->remote;

    for (size_t i = 0; i < remote->hand_count; i++)
        if (remote->hands[i].kind == REMOTE_STEPS)
            hf_remote_beats(&remote->hands[i], INT64_MAX);
    if (remote->kept)
        (void)!hf_workers_beat(way->home, remote->worker,
                               remote->app->queue ? remote->app->queue : "default",
                               remote->app->build_id);
}

/* ---- opening and closing */

static void server_open(served *s, int64_t now_us)
{
    hf_server_options options = {0};
    hf_way *way = &s->way;
    char listen[32];
    hf_err err = {0};
    hf_status st;

    way->clock = hf_clock_new_virtual(now_us); /* the engine's */
    ck_assert_ptr_nonnull(way->clock);
    st = hf_engine_open(hf_test_place_address(s->place), &nothing, way->clock, &way->home);
    if (!st)
        st = hf_workers_allow(way->home);
    for (size_t i = 0; !st && i < s->setting_count; i++)
        st = hf_set(way->home, s->settings[i][0], s->settings[i][1]);
    ck_assert_msg(st == HF_OK, "%s", hf_errmsg(way->home));
    hf_test_ok(hf_engine_begin(way->home, ENGINE_THREADS, &err), &err, "begin an engine");
    (void)snprintf(listen, sizeof(listen), "127.0.0.1:%d", s->port);
    options.engine = way->home;
    options.listen = listen;
    hf_test_ok(hf_server_open(&options, &s->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(s->server, &err), &err, "start a server");
    s->port = hf_server_port(s->server);
}

/* A server that is about to stop hands out no more tasks: what the core does once it is let go is
   not done by a worker of the case that ends. */
static void server_end(served *s)
{
    hf_server_drain(s->server, 5000);
    hf_rein_let_go(&s->rein);
}

static void server_close(served *s)
{
    hf_server_wait(s->server);
    hf_server_close(s->server);
    hf_close(s->way.home);
}

static void served_close(hf_way *way)
{
    served *s = (served *)way;

    /* The worker ends while somebody still hears what it did. */
    if (way->handle->remote)
        hf_remote_shutdown(way->handle->remote);
    hf_rein_let_go(&s->rein);
    hf_close(way->handle);
    server_end(s);
    server_close(s);
    hf_rein_close(&s->rein);
    hf_alloc_free(s);
}

static void served_restart(hf_way *way, const char *sql)
{
    served *s = (served *)way;
    int64_t now_us = hf_way_now_us(way);

    server_end(s);
    server_close(s);
    if (sql)
        hf_way_sql(s->place, sql);
    server_open(s, now_us);
    s->fresh = true;
    served_hold(way); /* the worker comes when it is let go */
}

static hf_status served_set(hf_way *way, const char *name, const char *value)
{
    served *s = (served *)way;
    hf_status st = hf_set(way->home, name, value); /* is it one? */

    if (st)
        return st;
    ck_assert_uint_lt(s->setting_count, SETTINGS_MAX);
    s->settings[s->setting_count][0] = name;
    s->settings[s->setting_count++][1] = value;
    served_restart(way, NULL);
    return HF_OK;
}

static void served_trip(hf_way *way, const char *activity, int times, const char *type)
{
    hf_test_fail(way->handle, activity, times, type);
}

static const char *served_status(hf_way *way, const char *id)
{
    return hf_rein_status(way->home, &way->handle, 1, id);
}

static const hf_way_moves moves = {.close = served_close,
                                   .go = served_go,
                                   .hold = served_hold,
                                   .look = served_look,
                                   .rests = served_rests,
                                   .tell = served_tell,
                                   .batch_us = served_batch_us,
                                   .moved = served_moved,
                                   .passed = served_passed,
                                   .restart = served_restart,
                                   .set = served_set,
                                   .trip = served_trip,
                                   .status = served_status};

hf_way *hf_served_open(hf_test_place *place, const hf_app *app, int64_t now_us)
{
    served *s = hf_alloc(sizeof(*s));
    char url[64];
    hf_err err = {0};

    ck_assert_ptr_nonnull(s);
    s->way = (hf_way){.moves = &moves, .thread = pthread_self()};
    s->place = place;
    hf_rein_open(&s->rein);
    server_open(s, now_us);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", s->port);
    ck_assert_msg(!hf_open(url, app, &s->way.handle), "%s", hf_errmsg(s->way.handle));
    hf_test_ok(hf_remote_begin(s->way.handle->remote, &err), &err, "begin a worker");
    hf_way_settle(&s->way);
    return &s->way;
}
