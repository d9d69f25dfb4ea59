/* served.c: see served.h. What is looked at is the inside of both ends; what is done is done by
   their own threads. */
#include "lib/served.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/value.h"
#include "engine/command_impl.h"
#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "engine/machine.h"
#include "engine/remote_room.h"
#include "engine/runner.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "server/server.h"
#include "task/matching_impl.h"

enum { PATIENCE_MS = 30000, PAUSES_MAX = 1000, SETTINGS_MAX = 8 };

/* What the core says of itself, on its own thread. */
typedef struct core_look {
    hf_core_call call;
    hf_served *served;
    bool busy;
    int64_t next_us;  /* what it will do by itself, sweeps apart */
    int64_t pause_us; /* the end of the next pause before another attempt at a step */
    bool done;        /* under the lock of the world */
} core_look;

struct hf_served {
    hf_test_place *place;
    hf_engine *engine;
    hf_server *server;
    hf_engine *worker;
    int port;
    pthread_t thread; /* of the case */
    hf_mutex lock;
    hf_cond changed;
    const char *settings[SETTINGS_MAX][2]; /* name and value */
    size_t setting_count;
    hf_core_call hold;
    bool fresh; /* the server began, and its worker was not there yet */
    bool held;  /* the core waits, or is about to */
    bool go;
};

static const hf_app nothing = {.name = "server"};

/* ---- the core */

static void hold_run(hf_core *core, hf_core_call *call)
{
    hf_served *served =
        (hf_served *)(void *)((char *)(void *)call - offsetof(struct hf_served, hold));

    hf_mutex_lock(&served->lock);
    while (core && !served->go)
        hf_cond_wait(&served->changed, &served->lock);
    served->held = false;
    hf_cond_broadcast(&served->changed);
    hf_mutex_unlock(&served->lock);
}

static void hold(hf_served *served)
{
    hf_err err = {0};

    served->held = true;
    served->go = false;
    served->hold.run = hold_run;
    hf_test_ok(hf_core_call_post(served->engine->core, &served->hold, &err), &err, "hold the core");
}

static void let_go(hf_served *served)
{
    hf_mutex_lock(&served->lock);
    served->go = true;
    hf_cond_broadcast(&served->changed);
    while (served->held)
        hf_cond_wait(&served->changed, &served->lock);
    hf_mutex_unlock(&served->lock);
}

/* Sweeps look for what is lost; they are no work of the world's. */
static bool is_sweep(core_alarm_kind kind)
{
    return kind == CORE_ALARM_SWEEP || kind == CORE_ALARM_RETENTION || kind == CORE_ALARM_HORIZON;
}

static bool attempts_run(const hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *job;

    while (hf_map_int_next(core->jobs, &at, &key, &job))
        if (!((const hf_job *)job)->far)
            return true;
    return false;
}

static void look_run(hf_core *core, hf_core_call *call)
{
    core_look *look = (core_look *)(void *)call;
    hf_served *served = look->served;
    size_t at = 0;
    uint64_t key;
    void *value;

    look->busy = !core;
    if (core) {
        hf_mutex_lock(&core->lock);
        look->busy = core->inbox || core->ended;
        hf_mutex_unlock(&core->lock);
        look->busy |= core->taken || core->ready || core->flying || atomic_load(&core->claims) ||
                      atomic_load(&core->handbacks) || hf_deadlines_count(core->backlog) ||
                      hf_deadlines_count(core->steps) || attempts_run(core);
        look->next_us = INT64_MAX;
        while (hf_map_int_next(core->timers, &at, &key, &value)) {
            const core_alarm *alarm = value;

            if (!is_sweep(alarm->kind) && alarm->due_us < look->next_us)
                look->next_us = alarm->due_us;
        }
        look->busy |= look->next_us <= hf_core_now(core);
        look->pause_us = hf_machine_pause_end(core);
    }
    hf_mutex_lock(&served->lock);
    look->done = true;
    hf_cond_broadcast(&served->changed);
    hf_mutex_unlock(&served->lock);
}

static core_look core_ask(hf_served *served)
{
    core_look look = {.call.run = look_run, .served = served};
    hf_err err = {0};

    hf_test_ok(hf_core_call_post(served->engine->core, &look.call, &err), &err, "ask the core");
    hf_mutex_lock(&served->lock);
    while (!look.done)
        hf_cond_wait(&served->changed, &served->lock);
    hf_mutex_unlock(&served->lock);
    return look;
}

/* ---- tasks and polls */

typedef struct task_look {
    size_t held;  /* claimed or leased */
    size_t polls; /* kinds of tasks that a poll waits for */
    int64_t orders;
    int64_t fronts;
} task_look;

static task_look tasks_look(const hf_served *served)
{
    hf_matching *matching = served->engine->matching;
    task_look look = {0};
    hf_slice name;
    uint64_t subject;
    size_t at = 0;
    void *value;

    hf_mutex_lock(&matching->lock);
    for (int kind = 0; kind < HF_TASK_KINDS; kind++)
        for (at = 0; hf_map_int_next(matching->records[kind], &at, &subject, &value);)
            look.held += ((const task_record *)value)->state != HF_TASK_OFFERED;
    for (at = 0; hf_map_next(matching->queues, &at, &name, &value);)
        for (const task_queue *queue = value; queue; queue = queue->next)
            look.polls += (size_t)(queue->polls[HF_TASK_WORKFLOW] > 0) +
                          (size_t)(queue->polls[HF_TASK_STEP] > 0) +
                          (size_t)(queue->polls[HF_TASK_ACTIVITY] > 0);
    look.orders = matching->orders;
    look.fronts = matching->fronts;
    hf_mutex_unlock(&matching->lock);
    return look;
}

/* The threads of a worker share a poll of each kind. */
static size_t polls_wanted(const hf_served *served)
{
    const hf_app *app = served->worker->app;

    return (size_t)(app && app->workflows && app->workflows->type) +
           (size_t)(app && app->machines && app->machines->type) +
           (size_t)(app && app->activities && app->activities->name);
}

static bool worker_is_there(const hf_served *served)
{
    return tasks_look(served).polls == polls_wanted(served);
}

/* Also a server that began anew is of use when its worker has found it. */
void hf_served_go(hf_served *served)
{
    let_go(served);
    for (int i = 0; served->fresh && !worker_is_there(served); i++) {
        ck_assert_msg(i < PATIENCE_MS, "the worker does not come back");
        hf_nap_ms(1);
    }
    served->fresh = false;
}

/* Everybody is back and nothing is under way. */
static bool is_quiet(hf_served *served, task_look *look)
{
    core_look core = core_ask(served);

    *look = tasks_look(served);
    return !core.busy && !look->held && look->polls == polls_wanted(served) &&
           !hf_writer_busy(served->engine->writer);
}

void hf_served_settle(hf_served *served)
{
    bool outside = !pthread_equal(pthread_self(), served->thread);
    task_look before;
    task_look now = {0};
    int quiet = 0;

    if (!outside)
        hf_served_go(served);
    for (int i = 0; quiet < 2; i++) {
        core_look core;

        before = now;
        if (outside) {
            core = core_ask(served);
            quiet = core.busy ? 0 : quiet + 1;
        } else if (!is_quiet(served, &now)) {
            quiet = 0;
        } else {
            quiet = quiet && (before.orders != now.orders || before.fronts != now.fronts)
                        ? 1
                        : quiet + 1;
        }
        ck_assert_msg(i < PATIENCE_MS, "the world does not come to rest: %zu tasks held, %zu polls",
                      now.held, now.polls);
        if (quiet == 0)
            hf_nap_ms(1);
    }
    if (!outside)
        hold(served);
}

/* ---- the clock */

static void clock_move(hf_served *served, int64_t by_us)
{
    hf_clock_advance(served->engine->virtual_clock, by_us);
    hf_runner_wake(served->engine);
}

static int64_t next_due(hf_served *served)
{
    int64_t batch_us = hf_batch_next_us(served->engine->batcher);
    core_look look;

    hf_served_go(served);
    look = core_ask(served);
    return batch_us < look.next_us ? batch_us : look.next_us;
}

/* A worker says every 20 s that it is there: so do we when as much has passed at once. */
static void worker_beat(hf_served *served)
{
    const hf_remote *remote = served->worker->remote;

    if (remote->kept)
        (void)!hf_workers_beat(served->engine, remote->worker,
                               remote->app->queue ? remote->app->queue : "default",
                               remote->app->build_id);
}

static void run_until(hf_served *served, int64_t end_us)
{
    int64_t next_us;

    hf_served_settle(served);
    while ((next_us = next_due(served)) <= end_us) {
        if (next_us > hf_served_now_us(served))
            clock_move(served, next_us - hf_served_now_us(served));
        hf_served_settle(served);
    }
    if (hf_served_now_us(served) < end_us)
        clock_move(served, end_us - hf_served_now_us(served));
    worker_beat(served);
    hf_served_settle(served);
}

void hf_served_advance(hf_served *served, hf_ms by)
{
    if (pthread_equal(pthread_self(), served->thread)) {
        run_until(served, hf_clock_after(hf_served_now_us(served), by));
        return;
    }
    clock_move(served, by * 1000);
    hf_served_settle(served);
}

void hf_served_skip(hf_served *served, hf_ms by)
{
    hf_clock_advance(served->engine->virtual_clock, by * 1000);
}

/* The end of the next pause before another attempt; INT64_MAX: there is none. */
static int64_t pause_end(hf_served *served)
{
    const hf_db_value now = hf_db_int(hf_served_now_us(served));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t end_us;

    hf_served_go(served);
    end_us = core_ask(served).pause_us;
    hf_test_ok(hf_db_query(hf_engine_read_begin(served->engine), HF_STMT_ACTIVITY_RETRY, &now, 1,
                           &cursor, &err),
               &err, "pauses");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "pauses");
    if (row && !hf_db_column_null(cursor, 0) && hf_db_column_int(cursor, 0) < end_us)
        end_us = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    hf_engine_read_end(served->engine);
    return end_us;
}

void hf_served_drain(hf_served *served)
{
    int64_t end_us;

    hf_served_settle(served);
    for (int i = 0; i < PAUSES_MAX && (end_us = pause_end(served)) != INT64_MAX; i++)
        run_until(served, end_us);
    hf_served_settle(served);
}

/* ---- what code waits for */

typedef struct wait_look {
    remote_visit visit;
    hf_engine *worker;
    hf_value task;
    hf_value history;
    const char *type;
    char waiting[256];
} wait_look;

static void wait_work(remote_visit *visit, remote_room *room)
{
    wait_look *look = visit->arg;
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(look->worker->registry, hf_slice_of(look->type));
    hf_mem *mem = hf_mem_new();
    remote_live *live = NULL;
    hf_turn turn;
    hf_err err = {0};

    if (workflow && !hf_remote_live_new(room, look->task, workflow, &live, &err)) {
        hf_replay_freeze(live->replay);
        if (!hf_remote_live_feed(live, look->history, mem, &err) &&
            !hf_replay_turn(live->replay, &turn, &err))
            (void)snprintf(look->waiting, sizeof(look->waiting), "%s",
                           hf_replay_waiting(live->replay));
        hf_remote_live_drop(room, live);
    }
    hf_mem_free(mem);
}

/* A machine waits for what its history says, whoever reads it. */
static void machine_wait(wait_look *look, const hf_registry_workflow *workflow)
{
    const hf_replay_info info = {.definition = workflow->definition, .machine = workflow->machine};
    remote_live live = {.mem = hf_mem_new()};
    hf_err err = {0};

    hf_test_ok(hf_replay_new(&info, &live.replay, &err), &err, "fold a machine");
    hf_test_ok(hf_remote_live_feed(&live, look->history, live.mem, &err), &err, "fold a machine");
    (void)snprintf(look->waiting, sizeof(look->waiting), "%s", hf_replay_waiting(live.replay));
    hf_replay_free(live.replay);
    hf_mem_free(live.mem);
}

static bool is_paused(hf_engine *engine, const char *id)
{
    return hf_test_count(engine, id, "RunPaused") > hf_test_count(engine, id, "RunResumed");
}

const char *hf_served_status(hf_served *served, const char *id)
{
    hf_engine *engine = served->engine;
    const char *text = hf_test_status(engine, id);
    wait_look look = {
        .visit = {.work = wait_work, .arg = &look}, .worker = served->worker, .waiting = ""};
    const hf_registry_workflow *workflow;
    hf_mem *mem = hf_mem_of_engine(engine);
    char run_id[HF_ULID_TEXT_SIZE];
    hf_intake_target target;
    hf_call call;

    if (strcmp(text, "waiting") == 0 && is_paused(engine, id))
        return "waiting paused";
    if (strcmp(text, "waiting") != 0 || hf_call_begin(&call, engine) ||
        hf_call_find(&call, id, &target))
        return text;
    hf_command_id_print(target.created_us, target.base.run, run_id);
    look.type = hf_mem_text(mem, target.instance.type);
    look.task = hf_json_(mem, "{'run_id': %s, 'workflow_id': %s}", run_id, id);
    ck_assert(!hf_task_events(engine, id, run_id, 0, target.base.last_seq, mem, &look.history));
    workflow = hf_registry_find_workflow(served->worker->registry, hf_slice_of(look.type));
    if (workflow && workflow->machine)
        machine_wait(&look, workflow);
    else if (workflow)
        hf_remote_visit(hf_remote_room_of(served->worker->remote, run_id), &look.visit);
    return look.waiting[0] ? hf_mem_format(mem, "%s %s", text, look.waiting) : text;
}

/* ---- opening and closing */

static void server_open(hf_served *served, int64_t now_us)
{
    hf_server_options options = {0};
    hf_clock *clock = hf_clock_new_virtual(now_us);
    char listen[32];
    hf_err err = {0};
    hf_status st;

    ck_assert_ptr_nonnull(clock);
    st = hf_engine_open(hf_test_place_address(served->place), &nothing, clock, &served->engine);
    if (!st)
        st = hf_workers_allow(served->engine);
    for (size_t i = 0; !st && i < served->setting_count; i++)
        st = hf_set(served->engine, served->settings[i][0], served->settings[i][1]);
    ck_assert_msg(st == HF_OK, "%s", hf_errmsg(served->engine));
    hf_test_ok(hf_engine_begin(served->engine, ENGINE_THREADS, &err), &err, "begin an engine");
    (void)snprintf(listen, sizeof(listen), "127.0.0.1:%d", served->port);
    options.engine = served->engine;
    options.listen = listen;
    hf_test_ok(hf_server_open(&options, &served->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(served->server, &err), &err, "start a server");
    served->port = hf_server_port(served->server);
}

/* A server that is about to stop hands out no more tasks: what the core does once it is let go is
   not done by a worker of the case that ends. */
static void server_end(hf_served *served)
{
    hf_server_drain(served->server, 5000);
    let_go(served);
}

static void server_close(hf_served *served)
{
    hf_server_wait(served->server);
    hf_server_close(served->server);
    hf_close(served->engine);
}

hf_served *hf_served_open(hf_test_place *place, const hf_app *app, int64_t now_us)
{
    hf_served *served = hf_alloc(sizeof(*served));
    char url[64];
    hf_err err = {0};

    ck_assert_ptr_nonnull(served);
    served->place = place;
    served->thread = pthread_self();
    hf_test_ok(hf_mutex_init(&served->lock, &err), &err, "a lock");
    hf_test_ok(hf_cond_init(&served->changed, &err), &err, "a condition");
    server_open(served, now_us);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", served->port);
    ck_assert_msg(!hf_open(url, app, &served->worker), "%s", hf_errmsg(served->worker));
    hf_test_ok(hf_remote_begin(served->worker->remote, &err), &err, "begin a worker");
    hf_served_settle(served);
    return served;
}

void hf_served_close(hf_served *served)
{
    server_end(served);
    hf_close(served->worker);
    server_close(served);
    hf_cond_fini(&served->changed);
    hf_mutex_fini(&served->lock);
    hf_alloc_free(served);
}

void hf_served_restart(hf_served *served)
{
    int64_t now_us = hf_served_now_us(served);

    server_end(served);
    server_close(served);
    server_open(served, now_us);
    served->fresh = true;
    hold(served); /* the worker comes when it is let go */
}

hf_status hf_served_set(hf_served *served, const char *name, const char *value)
{
    hf_status st = hf_set(served->engine, name, value); /* is it one? */

    if (st)
        return st;
    ck_assert_uint_lt(served->setting_count, SETTINGS_MAX);
    served->settings[served->setting_count][0] = name;
    served->settings[served->setting_count++][1] = value;
    hf_served_restart(served);
    return HF_OK;
}

hf_engine *hf_served_worker(const hf_served *served)
{
    return served->worker;
}

hf_engine *hf_served_engine(const hf_served *served)
{
    return served->engine;
}

int64_t hf_served_now_us(const hf_served *served)
{
    return hf_clock_wall_us(served->engine->clock);
}
