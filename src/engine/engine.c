/* engine.c: opening, closing and moving an engine. What commands do is in api.c. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "task/matching.h"
#include "engine/inquiry.h"
#include "engine/engine_impl.h"
#include "engine/carrier.h"
#include "engine/remote.h"
#include "engine/report.h"
#include "engine/runner.h"
#include "engine/watch.h"

enum { ACTIVITY_THREADS = 8, ACTIVITY_PLACES = 512, CACHE_BYTES = 16 << 20 };

engine_slot *hf_engine_slot_get(hf_engine *engine)
{
    engine_slot *slot = engine ? pthread_getspecific(engine->slot_key) : NULL;

    if (slot || !engine)
        return slot;
    slot = hf_alloc(sizeof(*slot));
    if (!slot)
        return NULL;
    if (hf_cond_init(&slot->woken, NULL)) {
        hf_alloc_free(slot);
        return NULL;
    }
    hf_list_init(&slot->waiting);
    slot->mem = hf_mem_new();
    slot->scratch = hf_mem_new();
    if (!slot->mem || !slot->scratch || hf_stager_init(&slot->stager, NULL) ||
        pthread_setspecific(engine->slot_key, slot)) {
        hf_stager_fini(&slot->stager);
        hf_cond_fini(&slot->woken);
        hf_mem_free(slot->scratch);
        hf_mem_free(slot->mem);
        hf_alloc_free(slot);
        return NULL;
    }
    slot->namespace_key = engine->namespace_key;
    slot->namespace_name = HF_SPACE_DEFAULT;
    hf_mutex_lock(&engine->lock);
    slot->next = engine->slots;
    engine->slots = slot;
    hf_mutex_unlock(&engine->lock);
    return slot;
}

static void core_changed(void *ctx, int64_t run, bool closed)
{
    hf_engine_changed(ctx, run, closed);
}

static void run_committed(void *ctx, int64_t run)
{
    hf_engine *engine = ctx;

    hf_folder_tell(engine->folder, run);
}

static hf_status fold_commit(void *ctx, hf_unit *unit, hf_err *err)
{
    return hf_engine_commit(ctx, unit, err);
}

static void core_tell(void *ctx, int64_t run)
{
    const hf_engine *engine = ctx;

    if (engine->node)
        hf_node_tell(engine->node, run);
}

static void core_elsewhere(void *ctx, const struct hf_ticket *ticket)
{
    hf_engine *engine = ctx;
    hf_err err;

    (void)!hf_report_back(engine, ticket, &err); /* else its lease ends */
}

static void core_unswept(void *ctx)
{
    const hf_engine *engine = ctx;

    if (engine->node)
        hf_node_unswept(engine->node);
}

/* hf_node_options.heard. Who sends HF_HINT_AWAITED may have looked just before a commit here that
   nobody was to be told of then. */
static void node_heard(void *ctx, hf_hint hint)
{
    hf_engine *engine = ctx;

    if (hint.kind == HF_HINT_LOOK)
        hf_carrier_moved(engine->carrier);
    if (hint.kind == HF_HINT_MAIL)
        hf_carrier_look(engine->carrier);
    else if (hint.kind != HF_HINT_AWAITED)
        hf_engine_heard(engine,
                        hint.kind == HF_HINT_CHANGED && !hint.run ? HF_ENGINE_SOME_RUN : hint.run);
    else if (hf_engine_changed_lately(engine, hint.run))
        hf_node_changed(engine->node, hint.run);
}

/* hf_node_options.renewed */
static void node_renewed(void *ctx)
{
    hf_engine *engine = ctx;

    if (hf_clock_jump_waits(engine->steady))
        hf_runner_wake(engine); /* the core's thread tells of it */
    hf_watches_sweep(engine);
    hf_carrier_renewed(engine->carrier);
}

/* Several processes may share a PostgreSQL store; those that are moved by hand own all of it. */
static hf_status node_join(hf_engine *engine, engine_mode mode, hf_err *err)
{
    const hf_node_options options = {.store = engine->store,
                                     .writer = engine->writer,
                                     .log = &engine->log,
                                     .lease_us = engine->settings.node_lease_ms * 1000,
                                     .clock = engine->steady,
                                     .clock_is_own = engine->virtual_clock != NULL,
                                     .heard = node_heard,
                                     .renewed = node_renewed,
                                     .ctx = engine};

    hf_status st;

    if (mode != ENGINE_THREADS || strcmp(hf_store_engine(engine->store), "sqlite") == 0)
        return HF_OK;
    st = hf_engine_match(engine, err);
    return st ? st : hf_node_join(&options, &engine->node, err);
}

hf_status hf_engine_match(hf_engine *engine, hf_err *err)
{
    hf_status st = HF_OK;

    if (!engine->matching)
        st = hf_matching_open(engine->clock, &engine->matching, err);
    if (!st && !engine->inquiries)
        st = hf_inquiries_open(engine->clock, engine->matching, &engine->inquiries, err);
    return st;
}

/* hf_carrier_options.met: what this program brings is there for the other nodes. */
static void node_met(void *ctx)
{
    hf_engine *engine = ctx;
    const hf_app *app = engine->app;
    hf_err err = {0};
    hf_status st = HF_OK;

    if (!app ||
        ((!app->workflows || !app->workflows->type) &&
         (!app->activities || !app->activities->name) && (!app->machines || !app->machines->type)))
        return;
    hf_mutex_lock(&engine->local_lock);
    if (!engine->alone && !engine->local) {
        st = hf_remote_open_local(engine, &engine->local, &err);
        if (!st)
            st = hf_remote_begin(engine->local, &err);
    }
    hf_mutex_unlock(&engine->local_lock);
    if (st) {
        const hf_log_field field = hf_log_text("why", hf_slice_of(err.text));

        hf_log_write(&engine->log, HF_LOG_WARN, "this node does not work for others", &field, 1);
    }
}

/* Its tasks are done and reported. */
static void local_end(hf_engine *engine)
{
    struct hf_remote *local;

    hf_mutex_lock(&engine->local_lock);
    engine->alone = true;
    local = engine->local;
    engine->local = NULL;
    hf_mutex_unlock(&engine->local_lock);
    hf_remote_close(local);
}

/* Letters to and from the other nodes. */
static hf_status carrier_open(hf_engine *engine, hf_err *err)
{
    const hf_carrier_options options = {.store = engine->store,
                                        .node = engine->node,
                                        .log = &engine->log,
                                        .asked = hf_report_asked,
                                        .met = node_met,
                                        .matching = engine->matching,
                                        .back = hf_report_lost,
                                        .ctx = engine};

    if (!engine->node)
        return HF_OK;
    if (engine->inquiries)
        hf_inquiries_number(engine->inquiries, hf_node_key(engine->node));
    return hf_carrier_open(&options, &engine->carrier, err);
}

static hf_status core_start(hf_engine *engine, engine_mode mode, hf_err *err)
{
    const hf_folder_options folder = {.store = engine->store,
                                      .db = mode == ENGINE_THREADS ? NULL
                                                                   : hf_store_writer(engine->store),
                                      .log = &engine->log,
                                      .commit = fold_commit,
                                      .ctx = engine};
    const hf_writer_options writer = {.size = sizeof(writer),
                                      .manual = mode != ENGINE_THREADS,
                                      .answered = hf_runner_wake,
                                      .answered_ctx = engine,
                                      .committed = run_committed,
                                      .committed_ctx = engine};
    const hf_core_options core = {.store = engine->store,
                                  .registry = engine->registry,
                                  .clock = engine->clock,
                                  .owner = HF_SLICE("embedded"),
                                  .log = &engine->log,
                                  .limits = &engine->settings.limits,
                                  .settings = &engine->settings,
                                  .app = engine->app,
                                  .compatibility =
                                      hf_slice_of(engine->app ? engine->app->build_id : NULL),
                                  .activity_threads = mode == ENGINE_TEST ? 0 : ACTIVITY_THREADS,
                                  .activity_places = ACTIVITY_PLACES,
                                  .cache_bytes = CACHE_BYTES,
                                  .alarms_max = engine->alarms_max,
                                  .single = mode != ENGINE_THREADS,
                                  .changed = core_changed,
                                  .tell = core_tell,
                                  .unswept = core_unswept,
                                  .elsewhere = core_elsewhere,
                                  .wake = hf_runner_wake,
                                  .stalled = mode == ENGINE_THREADS ? hf_runner_stalled : NULL,
                                  .observe = hf_engine_observe,
                                  .faults = &engine->faults,
                                  .ctx = engine};
    hf_core_options options = core;
    hf_writer *opened = NULL;
    hf_status st = hf_folder_open(&folder, &engine->folder, err);

    if (!st)
        st = hf_known_new(&engine->known, err);
    options.known = engine->known;
    if (!st)
        st = hf_writer_open(engine->store, &writer, &opened, err);
    engine->writer = options.writer = opened;
    if (!st)
        st = node_join(engine, mode, err);
    if (!st)
        st = carrier_open(engine, err);
    hf_matching_shut(engine->matching, false);
    hf_inquiries_shut(engine->inquiries, false);
    options.shards = engine->node ? hf_node_shards(engine->node) : NULL;
    options.matching = engine->matching; /* a node may have made it */
    if (!st)
        st = hf_core_open(&options, &engine->core, err);
    if (!st)
        st = hf_core_recover(engine->core, err);
    if (!st && engine->node)
        st = hf_node_start(engine->node, engine->core, err);
    if (!st && engine->node)
        st = hf_carrier_start(engine->carrier, err);
    if (!st && mode == ENGINE_THREADS && !engine->reader)
        st = hf_store_connect(engine->store, HF_DB_READ, &engine->reader, err);
    engine->mode = mode; /* before the thread reads it */
    if (!st)
        st = hf_folder_start(engine->folder, err);
    if (!st && mode == ENGINE_THREADS)
        st = hf_runner_start(engine, err);
    if (!st)
        st = hf_batch_open(engine, mode == ENGINE_THREADS, &engine->batcher, err);
    if (st)
        hf_engine_end(engine);
    return st;
}

hf_status hf_engine_begin(hf_engine *engine, engine_mode wanted, hf_err *err)
{
    hf_status st = HF_OK;

    if (engine->open_error.status)
        return hf_err_set(err, engine->open_error.status, "%s", engine->open_error.text);
    if (engine->remote)
        return hf_err_set(err, HF_UNSUPPORTED,
                          "an engine behind a server is moved by its own threads: hf_run");
    hf_mutex_lock(&engine->reader_lock); /* the first caller starts it, the others wait here */
    if (engine->crash_due) {
        engine->crash_due = false;
        hf_engine_crash(engine);
        wanted = ENGINE_TEST;
    }
    if (engine->mode == ENGINE_UNDECIDED)
        st = core_start(engine, wanted, err);
    hf_mutex_unlock(&engine->reader_lock);
    return st;
}

hf_status hf_engine_begin_as(hf_engine *engine, engine_mode mode, hf_err *err)
{
    hf_status st = hf_engine_begin(engine, mode, err);

    if (!st && engine->mode != mode)
        st = hf_err_set(err, HF_MISUSE, "the engine is moved %s already",
                        engine->mode == ENGINE_THREADS ? "by threads of its own"
                        : engine->mode == ENGINE_TICK  ? "by hf_tick"
                                                       : "by a test");
    return st;
}

void hf_engine_end(hf_engine *engine)
{
    bool finish = engine->mode == ENGINE_THREADS || engine->mode == ENGINE_TICK;

    local_end(engine);
    hf_mutex_lock(&engine->lock);
    engine->stopping = true;
    engine->woken = true;
    hf_cond_broadcast(&engine->work);
    hf_cond_broadcast(&engine->changed);
    hf_engine_wake_waiting(engine, 0, false);
    hf_mutex_unlock(&engine->lock);
    hf_matching_shut(engine->matching, true);
    hf_inquiries_shut(engine->inquiries, true);
    hf_carrier_shut(engine->carrier);
    hf_batch_close(engine->batcher);
    engine->batcher = NULL;
    hf_runner_stop(engine);
    if (engine->core)
        hf_folder_stop(engine->folder, finish);
    /* It answers what is under way; the core must still be there to hear it, and the node to hold
       its shards. */
    hf_writer_finish(engine->writer);
    hf_carrier_stop(engine->carrier); /* what was answered for other nodes is sent */
    hf_node_leave(engine->node);      /* the last commit is made: others may go on */
    engine->node = NULL;
    hf_core_close(engine->core);
    hf_carrier_close(engine->carrier);
    engine->carrier = NULL;
    hf_folder_close(engine->folder); /* the writer told it of commits to the last */
    hf_known_free(engine->known);
    engine->known = NULL;
    hf_writer_close(engine->writer);
    engine->writer = NULL;
    engine->core = NULL;
    engine->folder = NULL;
    engine->mode = ENGINE_UNDECIDED;
    engine->alone = false;
    engine->draining = false;
    engine->stopping = false;
    engine->woken = false;
}

void hf_engine_crash(hf_engine *engine)
{
    HF_ASSERT(engine->mode == ENGINE_TEST);
    hf_writer_discard(engine->writer);
    hf_engine_end(engine);
}

/* One batch; a test may have asked for something to happen before it, when all that it holds is
   drafted, or for a crash right after it. */
bool hf_engine_write(hf_engine *engine)
{
    if (engine->meddle_at == engine->commits + 1 && hf_writer_stats_get(engine->writer).queued) {
        engine->meddle_at = 0;
        engine->meddle(engine->meddle_ctx);
    }
    if (hf_writer_step(engine->writer) == 0)
        return false;
    engine->commits++;
    engine->crash_due = engine->commits == engine->crash_at;
    return true;
}

void hf_engine_clock_look(hf_engine *engine)
{
    int64_t by_us;

    if (hf_clock_jumped(engine->steady, &by_us)) {
        const hf_log_field fields[] = {hf_log_text("code", HF_SLICE("clock_jump")),
                                       hf_log_int("by_ms", by_us / 1000)};

        hf_log_write(&engine->log, HF_LOG_WARN,
                     "wall time jumped: schedules follow it, durations do not", fields, 2);
        hf_core_clock_jumped(engine->core);
    }
}

bool hf_engine_pump(hf_engine *engine)
{
    bool worked;

    hf_engine_clock_look(engine);
    worked = hf_core_step(engine->core);

    worked |= hf_engine_write(engine);
    if (engine->mode == ENGINE_TEST && !engine->crash_due)
        worked |= hf_core_run_activity(engine->core);
    if (!worked && !engine->crash_due)
        worked = hf_folder_step(engine->folder);
    if (!worked && !engine->crash_due)
        worked = hf_batch_step(engine->batcher);
    return worked;
}

static void unit_flag(hf_unit *unit, void *ctx)
{
    (void)unit;
    *(bool *)ctx = true;
}

hf_status hf_engine_commit(hf_engine *engine, hf_unit *unit, hf_err *err)
{
    const char *text = NULL;
    bool done = false;
    hf_status st;

    if (engine->mode == ENGINE_THREADS)
        return hf_writer_commit(engine->writer, unit, err);
    hf_unit_on_done(unit, unit_flag, &done);
    st = hf_writer_offer(engine->writer, unit, err);
    while (!st && !done && hf_engine_write(engine))
        ;
    if (st)
        return st;
    st = hf_unit_outcome(unit, &text);
    return st ? hf_err_set(err, st, "%s", text) : HF_OK;
}

/* Units that somebody waits for. */
typedef struct engine_crowd {
    hf_mutex lock;
    hf_cond done;
    size_t left;
} engine_crowd;

static void unit_counted(hf_unit *unit, void *ctx)
{
    engine_crowd *crowd = ctx;

    (void)unit;
    hf_mutex_lock(&crowd->lock);
    if (--crowd->left == 0)
        hf_cond_signal(&crowd->done);
    hf_mutex_unlock(&crowd->lock);
}

/* Those that could not be handed over count as refused by a writer that stopped. */
static hf_status crowd_send(hf_engine *engine, engine_crowd *crowd, hf_unit *const *units,
                            size_t count, hf_err *err)
{
    hf_status st = HF_OK;
    size_t sent = 0;

    crowd->left = count;
    for (; !st && sent < count; sent += !st) {
        hf_unit_on_done(units[sent], unit_counted, crowd);
        st = engine->mode == ENGINE_THREADS ? hf_writer_submit(engine->writer, units[sent], err)
                                            : hf_writer_offer(engine->writer, units[sent], err);
    }
    hf_mutex_lock(&crowd->lock);
    crowd->left -= count - sent;
    while (crowd->left && engine->mode == ENGINE_THREADS)
        hf_cond_wait(&crowd->done, &crowd->lock);
    hf_mutex_unlock(&crowd->lock);
    while (crowd->left && hf_engine_write(engine))
        ;
    return st;
}

hf_status hf_engine_commit_all(hf_engine *engine, hf_unit *const *units, size_t count, hf_err *err)
{
    engine_crowd crowd = {0};
    hf_status st = hf_mutex_init(&crowd.lock, err);

    if (st)
        return st;
    st = hf_cond_init(&crowd.done, err);
    if (!st) {
        st = crowd_send(engine, &crowd, units, count, err);
        hf_cond_fini(&crowd.done);
    }
    hf_mutex_fini(&crowd.lock);
    return st;
}

hf_db *hf_engine_read_begin(hf_engine *engine)
{
    if (engine->mode != ENGINE_THREADS)
        return hf_store_writer(engine->store);
    hf_mutex_lock(&engine->reader_lock);
    return engine->reader;
}

void hf_engine_read_end(hf_engine *engine)
{
    if (engine->mode == ENGINE_THREADS)
        hf_mutex_unlock(&engine->reader_lock);
}

static hf_status locks_init(hf_engine *engine, hf_err *err)
{
    hf_status st = hf_mutex_init(&engine->lock, err);

    if (!st)
        st = hf_mutex_init(&engine->local_lock, err);
    if (!st)
        st = hf_mutex_init(&engine->reader_lock, err);
    if (!st)
        st = hf_cond_init(&engine->work, err);
    if (!st)
        st = hf_cond_init(&engine->changed, err);
    if (!st && pthread_key_create(&engine->slot_key, NULL))
        st = hf_err_set(err, HF_BUSY, "the process has no thread key to give");
    return st;
}

hf_status hf_engine_open_in(const char *where, const char *vfs, const hf_app *app, hf_clock *clock,
                            hf_engine **out_engine)
{
    hf_engine *engine = hf_alloc(sizeof(*engine));
    hf_store_options options = {.size = sizeof(options),
                                .role = HF_STORE_OWNER,
                                .create = true,
                                .vfs = vfs,
                                .clock = clock};
    hf_err *err;
    hf_status st;

    *out_engine = engine;
    if (!engine)
        return HF_NOMEM;
    err = &engine->open_error;
    hf_list_init(&engine->waiting);
    hf_list_init(&engine->watches);
    engine->app = app;
    engine->settings = hf_settings_standard();
    engine->wake_fd = -1;
    engine->lost_max = HF_CORE_LOST_MAX;
    engine->virtual_clock = clock;
    engine->clock = clock ? clock : hf_clock_system();
    hf_log_init_fd(&engine->log, HF_LOG_WARN, engine->clock, STDERR_FILENO);
    engine->steady = hf_clock_new_steady(engine->clock);
    if (engine->steady)
        engine->clock = engine->steady;
    st = locks_init(engine, err);
    if (!st && !engine->steady)
        st = hf_err_nomem(err, "an engine");
    if (!st)
        st = hf_registry_new(app, &engine->registry, err);
    if (!st && hf_remote_is(where))
        return hf_remote_open(engine, where, &engine->remote, err);
    if (!st)
        st = hf_store_open(where, &options, &engine->store, err);
    if (!st)
        st = hf_namespace_make(hf_store_writer(engine->store), HF_SLICE(HF_SPACE_DEFAULT),
                               hf_clock_wall_us(engine->clock), &engine->namespace_key, err);
    if (!st)
        st = hf_registry_store(engine->registry, hf_store_writer(engine->store), err);
    if (!st)
        engine->open_error = (hf_err){0}; /* a store that had to be migrated was complained about */
    return st;
}

hf_status hf_engine_open(const char *where, const hf_app *app, hf_clock *clock,
                         hf_engine **out_engine)
{
    return hf_engine_open_in(where, NULL, app, clock, out_engine);
}

hf_status hf_open(const char *where, const hf_app *app, hf_engine **out)
{
    if (!where || !out)
        return HF_MISUSE;
    return hf_engine_open(where, app, NULL, out);
}

hf_status hf_set(hf_engine *engine, const char *name, const char *value)
{
    engine_slot *slot = hf_engine_slot_get(engine);

    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (!name || !value)
        return hf_err_set(&slot->err, HF_MISUSE, "a setting has a name and a value");
    if (engine->remote)
        return hf_err_set(&slot->err, HF_UNSUPPORTED,
                          "hf_set: the settings of the server count, not those of its callers");
    return hf_settings_set(&engine->settings, name, value, &slot->err);
}

void hf_close(hf_engine *engine)
{
    if (!engine)
        return;
    hf_remote_close(engine->remote);
    hf_engine_end(engine);
    hf_inquiries_close(engine->inquiries);
    hf_matching_close(engine->matching);
    hf_db_close(engine->reader);
    hf_store_close(engine->store);
    hf_registry_free(engine->registry);
    if (engine->wake_fd >= 0)
        (void)close(engine->wake_fd);
    while (engine->slots) {
        engine_slot *slot = engine->slots;

        engine->slots = slot->next;
        hf_stager_fini(&slot->stager);
        hf_mem_free(slot->scratch);
        hf_mem_free(slot->mem);
        hf_buf_fini(&slot->context);
        hf_alloc_free(slot);
    }
    hf_engine_spaces_free(engine);
    while (engine->faults) {
        hf_core_fault *fault = engine->faults;

        engine->faults = fault->next;
        hf_alloc_free(fault);
    }
    (void)pthread_key_delete(engine->slot_key);
    hf_cond_fini(&engine->changed);
    hf_cond_fini(&engine->work);
    hf_mutex_fini(&engine->reader_lock);
    hf_mutex_fini(&engine->local_lock);
    hf_mutex_fini(&engine->lock);
    hf_clock_free_steady(engine->steady);
    hf_clock_free_virtual(engine->virtual_clock);
    hf_alloc_free(engine);
}

const char *hf_errmsg(hf_engine *engine)
{
    engine_slot *slot;

    if (!engine)
        return "no memory for an engine";
    if (engine->open_error.status)
        return engine->open_error.text;
    slot = hf_engine_slot_get(engine);
    return slot ? slot->err.text : "no memory";
}

hf_mem *hf_mem_of_engine(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);

    return slot ? slot->mem : NULL;
}

int hf_fd(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);

    if (!slot)
        return -1;
    if (engine->wake_fd < 0)
        engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (engine->wake_fd < 0) {
        (void)hf_err_set(&slot->err, HF_BUSY, "no file descriptor: %s", strerror(errno));
        return -1;
    }
    return hf_engine_begin_as(engine, ENGINE_TICK, &slot->err) ? -1 : engine->wake_fd;
}

int hf_tick(hf_engine *engine, hf_ms at_most)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    uint64_t count;
    int64_t next_us;
    int64_t wait_ms;

    if (!slot || hf_engine_begin_as(engine, ENGINE_TICK, &slot->err))
        return -1;
    if (at_most < 0 || at_most > INT_MAX)
        at_most = at_most < 0 ? 0 : INT_MAX;
    if (engine->wake_fd >= 0)
        (void)!read(engine->wake_fd, &count, sizeof(count));
    hf_mutex_lock(&engine->lock);
    engine->woken = false;
    hf_mutex_unlock(&engine->lock);
    while (hf_engine_pump(engine))
        ;
    next_us = hf_core_next_us(engine->core);
    if (hf_batch_next_us(engine->batcher) < next_us)
        next_us = hf_batch_next_us(engine->batcher);
    if (next_us == INT64_MAX)
        return (int)at_most;
    wait_ms = (next_us - hf_clock_wall_us(engine->clock) + 999) / 1000;
    if (wait_ms < 0)
        wait_ms = 0;
    return (int)(wait_ms < at_most ? wait_ms : at_most);
}

hf_status hf_run(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_status st;

    if (slot && engine->remote)
        return hf_remote_run(engine->remote, &slot->err);
    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    st = hf_engine_begin_as(engine, ENGINE_THREADS, &slot->err);
    if (st)
        return st;
    hf_mutex_lock(&engine->lock);
    while (!engine->stopping && !hf_core_failure(engine->core, NULL))
        hf_cond_wait(&engine->changed, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    return hf_core_failure(engine->core, &slot->err);
}

void hf_shutdown(hf_engine *engine)
{
    if (!engine)
        return;
    if (engine->remote)
        hf_remote_shutdown(engine->remote);
    hf_mutex_lock(&engine->local_lock);
    if (engine->local)
        hf_remote_shutdown(engine->local);
    hf_mutex_unlock(&engine->local_lock);
    hf_mutex_lock(&engine->lock);
    engine->draining = true;
    engine->woken = true;
    hf_cond_broadcast(&engine->work);
    hf_cond_broadcast(&engine->changed);
    hf_engine_wake_waiting(engine, 0, false);
    hf_mutex_unlock(&engine->lock);
}
