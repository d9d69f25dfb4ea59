/* writer.c: the queue and the thread in front of batch.c.
   The rule it keeps: `done` is called after the unit's fate is durable, in the order of the batch,
   and never under the queue's lock. The queue is bounded; whoever submits waits or is told so.

   Callers in a loop would fall into two groups that commit in turn, each with half of the units and
   a sync of its own, because the writer finds the other group staged whenever it comes back. Where
   a sync takes long, those that come while a batch is being written join it, as long as fewer are
   in it than were answered last: see queue_more. Where it is short, the other group is sent behind
   the COMMIT of the first: see queue_ahead.

   The batch is in one pair of hands at a time, those of whoever set `busy` under the lock: the
   thread's, or those of a caller that found the writer idle and waits for its unit anyway. Such a
   caller commits by itself and saves two changes of thread; see unit_run_here. */
#include "commit/writer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "commit/batch.h"
#include "commit/shard.h"

enum {
    QUEUE_MAX = 8192,
    BATCH_MAX = 1024,
    QUIET_US =
        15, /* nobody came for this long: those who were answered have something else to do */
    REST_AFTER_US = 1000000, /* without work for this long: write the log back, then sleep until
                                there is work */
    TRY_AFTER_US =
        500000 /* while the store takes no changes: how often somebody sees whether it does */
};

struct hf_writer {
    /* belong to whoever is busy */
    hf_batch batch;
    size_t expected;   /* units that would be staged if all who were answered came back */
    int64_t worked_us; /* when it ended, by the monotonic clock */
    bool rested;       /* the log was written back since */
    void (*answered)(void *ctx);
    void *answered_ctx;
    void (*committed)(void *ctx, int64_t run);
    void *committed_ctx;
    hf_thread thread;
    bool manual;
    int wake_fd; /* readable when as many were queued as queue_ahead waits for */
    /* under the lock */
    hf_mutex lock;
    hf_cond work; /* something was staged, the batch is free again, or the writer is to stop */
    hf_cond room; /* the queue has room again, or the writer stopped */
    hf_unit *first;
    hf_unit **tail;
    atomic_int_least32_t flying[HF_SHARDS]; /* units that carry an epoch, from when they come in
                                               until they are answered, by shard */
    atomic_bool quieting;                   /* somebody waits for some of them */
    hf_cond quiet;                          /* one was answered */
    atomic_size_t queued; /* changed under the lock, looked at without it by queue_more */
    size_t queue_max;
    size_t waiting; /* submitters that wait for room */
    size_t wanted;  /* units that queue_ahead waits for, 0: it does not */
    bool busy;      /* somebody works on the batch */
    bool dozing;    /* the thread sleeps without a limit: it knows of no log to write back */
    bool closing;   /* finish what is there, then end */
    hf_err failure; /* why the writer stopped for good */
    hf_err barred;  /* the batch's, for others */
    hf_writer_stats stats;
};

static bool writer_stopped(void *ctx)
{
    hf_writer *writer = ctx;
    bool closing;

    hf_mutex_lock(&writer->lock);
    closing = writer->closing;
    hf_mutex_unlock(&writer->lock);
    return closing;
}

/* Waits between attempts to reach a lost database; closing ends the wait. */
static void writer_pause(void *ctx, int64_t us)
{
    hf_writer *writer = ctx;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + us;

    hf_mutex_lock(&writer->lock);
    if (writer->batch.barred.status)
        writer->barred = writer->batch.barred; /* this may take long */
    while (!writer->closing &&
           hf_cond_wait_until(&writer->work, &writer->lock, until_us) != HF_TIMEOUT)
        ;
    hf_mutex_unlock(&writer->lock);
}

static void unit_flies(hf_writer *writer, const hf_unit *unit, int32_t by)
{
    int64_t shard = hf_unit_shard(unit);

    if (shard != HF_NONE)
        atomic_fetch_add(&writer->flying[shard], by);
}

/* Their fate is known. */
static void units_land(hf_writer *writer, const hf_unit *units)
{
    for (; units; units = units->next)
        unit_flies(writer, units, -1);
    if (!atomic_load(&writer->quieting))
        return;
    hf_mutex_lock(&writer->lock);
    hf_cond_broadcast(&writer->quiet);
    hf_mutex_unlock(&writer->lock);
}

static void units_done(hf_writer *writer, hf_unit *units)
{
    if (!units)
        return;
    units_land(writer, units);
    while (units) {
        hf_unit *unit = units;

        units = unit->next;
        unit->next = NULL;
        unit->done(unit, unit->done_ctx);
    }
    if (writer->answered)
        writer->answered(writer->answered_ctx);
}

/* Everything staged is taken at once; batch.c returns what does not fit. */
static hf_unit *queue_take(hf_writer *writer)
{
    hf_unit *units = writer->first;

    writer->first = NULL;
    writer->tail = &writer->first;
    writer->queued = 0;
    return units;
}

static void queue_return(hf_writer *writer, hf_unit *rest)
{
    hf_unit **end = &rest;

    while (*end) {
        writer->queued++;
        end = &(*end)->next;
    }
    if (!rest)
        return;
    *end = writer->first;
    if (!writer->first)
        writer->tail = end;
    writer->first = rest;
}

static void units_stop(hf_writer *writer, hf_unit *units, const hf_err *why)
{
    for (hf_unit *unit = units; unit; unit = unit->next) {
        unit->status = HF_STOPPED;
        unit->err = *why;
    }
    units_done(writer, units);
}

/* From now on nothing is written and nobody comes in. */
static void failure_set(hf_writer *writer, hf_status fatal, const hf_err *err)
{
    hf_mutex_lock(&writer->lock);
    writer->failure = *err;
    writer->failure.status = fatal;
    hf_cond_broadcast(&writer->room);
    hf_mutex_unlock(&writer->lock);
}

static void failure_tell(const hf_writer *writer, hf_err *out_why)
{
    (void)hf_err_set(out_why, HF_STOPPED, "the engine stopped writing (%s): %s",
                     hf_strstatus(writer->failure.status), writer->failure.text);
}

/* The writer is at its end: everyone who waits is told why. Called while busy, after failure_set.
 */
static void everyone_stop(hf_writer *writer)
{
    hf_unit *units;
    hf_err why;

    hf_mutex_lock(&writer->lock);
    failure_tell(writer, &why);
    units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    units_done(writer, hf_batch_abandon(&writer->batch, &why));
    units_stop(writer, units, &why);
}

/* Under the lock: the batch is free for others. */
static void batch_give(hf_writer *writer)
{
    writer->stats = writer->batch.stats;
    if (writer->barred.status || writer->batch.barred.status)
        writer->barred = writer->batch.barred;
    writer->busy = false;
}

/* What came while the batch was being written. Those who are on their way are given a moment. */
static hf_unit *queue_more(void *ctx)
{
    hf_writer *writer = ctx;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + QUIET_US;
    hf_unit *units;

    while (!atomic_load(&writer->queued) && hf_clock_mono_us(hf_clock_system()) < until_us)
        hf_thread_yield();
    hf_mutex_lock(&writer->lock);
    units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    return units;
}

/* The units of the next transaction, while the database works on the COMMIT of this one: when all
   who are expected have come. Else it answers first, and they are taken as usual. */
static hf_unit *queue_ahead(void *ctx, size_t wanted)
{
    hf_writer *writer = ctx;
    hf_unit *units = NULL;
    bool answered = false;
    uint64_t ignored;

    hf_mutex_lock(&writer->lock);
    if (writer->queued < wanted) {
        writer->wanted = wanted;
        hf_mutex_unlock(&writer->lock);
        answered = hf_db_commit_await(writer->batch.db, writer->wake_fd);
        hf_mutex_lock(&writer->lock);
        writer->wanted = 0;
        (void)!read(writer->wake_fd, &ignored, sizeof(ignored));
    }
    if (!answered)
        units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    return units;
}

/* Whoever follows the runs is told, whichever thread did the work. */
static void committed_tell(const hf_writer *writer, const hf_unit *finished)
{
    for (const hf_unit *unit = finished; unit; unit = unit->next)
        for (size_t i = 0; !unit->status && i < unit->part_count; i++)
            writer->committed(writer->committed_ctx, unit->parts[i]->after.run);
}

static hf_unit *batch_work(hf_writer *writer, hf_unit *units, hf_unit **out_rest,
                           hf_status *out_fatal, hf_err *err)
{
    hf_unit *finished = hf_batch_run(&writer->batch, units, out_rest, out_fatal, err);

    writer->worked_us = hf_clock_mono_us(hf_clock_system());
    writer->rested = false;
    if (writer->committed)
        committed_tell(writer, finished);
    return finished;
}

/* Takes one batch and finishes it. Called while busy; the batch is free again afterwards. */
static size_t queue_work(hf_writer *writer)
{
    hf_unit *finished;
    hf_unit *units;
    hf_unit *rest = NULL;
    hf_status fatal = HF_OK;
    hf_err err = {0};
    size_t count;

    hf_mutex_lock(&writer->lock);
    units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    writer->batch.expected = writer->manual ? 0 : writer->expected;
    finished = batch_work(writer, units, &rest, &fatal, &err);
    writer->batch.expected = 0;
    count = writer->batch.now->count;
    if (fatal)
        failure_set(writer, fatal, &err); /* known before the first of them is told */
    hf_mutex_lock(&writer->lock);
    queue_return(writer, rest);
    writer->expected = writer->queued + count + hf_batch_ahead(&writer->batch);
    if (writer->waiting && writer->queued < writer->queue_max)
        hf_cond_broadcast(&writer->room);
    if (!fatal)
        batch_give(writer);
    hf_mutex_unlock(&writer->lock);
    units_done(writer, finished);
    if (fatal) {
        everyone_stop(writer);
        hf_mutex_lock(&writer->lock);
        batch_give(writer);
        hf_mutex_unlock(&writer->lock);
    }
    return count;
}

size_t hf_writer_step(hf_writer *writer)
{
    bool some;

    hf_mutex_lock(&writer->lock);
    some = writer->first || hf_batch_waiting(&writer->batch);
    writer->busy = some;
    hf_mutex_unlock(&writer->lock);
    return some ? queue_work(writer) : 0;
}

/* Uses the quiet to write the log back, and to give back what a burst of work has left of memory.
   Under the lock, which it gives up meanwhile. */
static void log_rest(hf_writer *writer)
{
    hf_err err = {0};
    hf_status st;

    writer->busy = true;
    hf_mutex_unlock(&writer->lock);
    st = hf_batch_rest(&writer->batch, &err);
    if (st)
        failure_set(writer, st, &err);
    hf_alloc_trim();
    writer->rested = true;
    hf_mutex_lock(&writer->lock);
    writer->busy = false;
}

/* A store that took no changes is written to now and then: nobody may come to find out, least of
   all when the world is told so. Under the lock, which it gives up meanwhile. */
static void store_try(hf_writer *writer)
{
    hf_err err = {0};
    hf_status st;

    writer->busy = true;
    hf_mutex_unlock(&writer->lock);
    st = hf_batch_try(&writer->batch, &err);
    if (st)
        failure_set(writer, st, &err);
    writer->worked_us = hf_clock_mono_us(hf_clock_system());
    writer->rested &= writer->batch.barred.status != HF_OK;
    hf_mutex_lock(&writer->lock);
    batch_give(writer);
}

/* Sleeps until there is work and takes the batch for it; false when there will be none any more.
   After a while without work it writes the log back, once, and sees whether a store that
   took no changes does.
 */
static bool work_wait(hf_writer *writer)
{
    bool go_on = false;

    hf_mutex_lock(&writer->lock);
    for (;;) {
        bool log = !writer->busy && !writer->rested && writer->batch.db->log_pages > 0;
        bool barred = !writer->busy && writer->barred.status;
        int64_t until_us =
            log || barred ? writer->worked_us + (barred ? TRY_AFTER_US : REST_AFTER_US) : 0;

        if (!writer->busy && writer->failure.status)
            break;
        go_on = !writer->busy && (writer->first || hf_batch_waiting(&writer->batch));
        if (go_on || (!writer->busy && writer->closing))
            break;
        if ((log || barred) && hf_clock_mono_us(hf_clock_system()) >= until_us) {
            if (barred)
                store_try(writer);
            else
                log_rest(writer);
        } else if (log || barred) {
            if (hf_cond_wait_until(&writer->work, &writer->lock, until_us) == HF_TIMEOUT)
                continue; /* there may have been work meanwhile: look again */
        } else {
            writer->dozing = true;
            hf_cond_wait(&writer->work, &writer->lock);
            writer->dozing = false;
        }
    }
    writer->busy = true;
    hf_mutex_unlock(&writer->lock);
    return go_on;
}

static void writer_run(void *ctx)
{
    hf_writer *writer = ctx;

    while (work_wait(writer))
        (void)queue_work(writer);
    if (writer->failure.status) /* a caller's own commit may have met it */
        everyone_stop(writer);
}

hf_status hf_writer_open(hf_store *store, const hf_writer_options *options, hf_writer **out_writer,
                         hf_err *err)
{
    hf_writer *writer = hf_alloc(sizeof(*writer));
    size_t batch_max = options && options->batch_max ? options->batch_max : BATCH_MAX;
    hf_status st;

    if (!writer)
        return hf_err_nomem(err, "the writer");
    HF_ASSERT(hf_store_writer(store));
    writer->queue_max = options && options->queue_max ? options->queue_max : QUEUE_MAX;
    writer->manual = options && options->manual;
    writer->answered = options ? options->answered : NULL;
    writer->answered_ctx = options ? options->answered_ctx : NULL;
    writer->committed = options ? options->committed : NULL;
    writer->committed_ctx = options ? options->committed_ctx : NULL;
    writer->tail = &writer->first;
    st = hf_batch_init(&writer->batch, store, batch_max, err);
    if (options && options->sync_us)
        writer->batch.sync_us = options->sync_us;
    writer->batch.more = queue_more;
    writer->batch.ahead = queue_ahead;
    writer->batch.stopped = writer_stopped;
    writer->batch.pause = writer_pause;
    writer->batch.ctx = writer;
    if (st)
        goto no_fd;
    writer->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (writer->wake_fd < 0)
        st = hf_err_set(err, HF_BUSY, "no file descriptor: %s", strerror(errno));
    if (st)
        goto no_fd;
    st = hf_mutex_init(&writer->lock, err);
    if (st)
        goto no_lock;
    st = hf_cond_init(&writer->work, err);
    if (st)
        goto no_work;
    st = hf_cond_init(&writer->room, err);
    if (st)
        goto no_room;
    st = hf_cond_init(&writer->quiet, err);
    if (st)
        goto no_quiet;
    if (!writer->manual)
        st = hf_thread_start(&writer->thread, "hf-writer", writer_run, writer, err);
    if (!st) {
        *out_writer = writer;
        return HF_OK;
    }
    hf_cond_fini(&writer->quiet);
no_quiet:
    hf_cond_fini(&writer->room);
no_room:
    hf_cond_fini(&writer->work);
no_work:
    hf_mutex_fini(&writer->lock);
no_lock:
    (void)close(writer->wake_fd);
no_fd:
    hf_batch_fini(&writer->batch);
    hf_alloc_free(writer);
    return hf_err_because(err, st, "start the writer");
}

void hf_writer_finish(hf_writer *writer)
{
    if (!writer)
        return;
    hf_mutex_lock(&writer->lock);
    writer->closing = true;
    hf_cond_broadcast(&writer->work);
    hf_cond_broadcast(&writer->room);
    hf_mutex_unlock(&writer->lock);
    if (writer->manual)
        while (!writer->failure.status && hf_writer_step(writer))
            ;
    hf_thread_join(&writer->thread);
}

void hf_writer_close(hf_writer *writer)
{
    if (!writer)
        return;
    hf_writer_finish(writer);
    hf_cond_fini(&writer->quiet);
    hf_cond_fini(&writer->room);
    hf_cond_fini(&writer->work);
    hf_mutex_fini(&writer->lock);
    (void)close(writer->wake_fd);
    hf_batch_fini(&writer->batch);
    hf_alloc_free(writer);
}

void hf_writer_discard(hf_writer *writer)
{
    hf_unit *units;
    hf_err why;

    HF_ASSERT(writer->manual);
    (void)hf_err_set(&why, HF_STOPPED, "discarded");
    hf_mutex_lock(&writer->lock);
    units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    units_done(writer, hf_batch_abandon(&writer->batch, &why));
    units_stop(writer, units, &why);
}

/* Under the lock: may a unit come in now? */
static hf_status queue_admit(const hf_writer *writer, hf_err *err)
{
    if (writer->failure.status)
        return hf_err_set(err, HF_STOPPED, "the engine stopped writing (%s): %s",
                          hf_strstatus(writer->failure.status), writer->failure.text);
    if (writer->closing)
        return hf_err_set(err, HF_STOPPED, "the engine is shutting down");
    if (writer->queued >= writer->queue_max)
        return hf_err_set(err, HF_BUSY, "%zu units are waiting to be written; try again later",
                          writer->queued);
    return HF_OK;
}

/* Under the lock. The thread is woken only when it may be asleep. */
static void queue_put(hf_writer *writer, hf_unit *unit)
{
    bool was_empty = writer->first == NULL;

    HF_ASSERT(unit->sealed && unit->done);
    unit->next = NULL;
    *writer->tail = unit;
    writer->tail = &unit->next;
    writer->queued++;
    unit_flies(writer, unit, 1);
    if (was_empty)
        hf_cond_signal(&writer->work);
    if (writer->wanted && writer->queued >= writer->wanted) {
        writer->wanted = 0;
        (void)!write(writer->wake_fd, &(uint64_t){1}, sizeof(uint64_t));
    }
}

/* The unit does not come in. */
static hf_status unit_turn_away(hf_unit *unit, hf_status st, const hf_err *err)
{
    unit->status = st;
    if (err)
        unit->err = *err;
    return st;
}

hf_status hf_writer_offer(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&writer->lock);
    st = queue_admit(writer, err);
    if (!st)
        queue_put(writer, unit);
    hf_mutex_unlock(&writer->lock);
    return st ? unit_turn_away(unit, st, err) : HF_OK;
}

hf_status hf_writer_submit(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&writer->lock);
    while ((st = queue_admit(writer, err)) == HF_BUSY && !writer->manual) {
        writer->waiting++;
        hf_cond_wait(&writer->room, &writer->lock);
        writer->waiting--;
    }
    if (!st)
        queue_put(writer, unit);
    hf_mutex_unlock(&writer->lock);
    return st ? unit_turn_away(unit, st, err) : HF_OK;
}

/* A thread that waits for its own unit. */
typedef struct waiter {
    hf_mutex lock;
    hf_cond done;
    bool is_done;
} waiter;

static void waiter_done(hf_unit *unit, void *ctx)
{
    waiter *who = ctx;

    (void)unit;
    hf_mutex_lock(&who->lock);
    who->is_done = true;
    hf_cond_signal(&who->done);
    hf_mutex_unlock(&who->lock);
}

/* Queues the unit and sleeps until the thread has finished it. */
static hf_status unit_wait(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    waiter who = {0};
    hf_status st = hf_mutex_init(&who.lock, err);

    if (st)
        return st;
    st = hf_cond_init(&who.done, err);
    if (st) {
        hf_mutex_fini(&who.lock);
        return st;
    }
    unit->done = waiter_done;
    unit->done_ctx = &who;
    st = hf_writer_submit(writer, unit, err);
    if (!st) {
        hf_mutex_lock(&who.lock);
        while (!who.is_done)
            hf_cond_wait(&who.done, &who.lock);
        hf_mutex_unlock(&who.lock);
    }
    unit->done = NULL;
    hf_cond_fini(&who.done);
    hf_mutex_fini(&who.lock);
    return st;
}

/* Commits one unit on the caller's thread, which has taken the batch. Units that are staged
   meanwhile are left to the thread. */
static void unit_run_here(hf_writer *writer, hf_unit *unit)
{
    hf_unit *finished = NULL;
    hf_unit *todo = unit;
    hf_status fatal = HF_OK;
    hf_err err = {0};

    while (!finished && !fatal) { /* it may need another round, on top of what came before it */
        finished = batch_work(writer, todo, &todo, &fatal, &err);
        HF_ASSERT(!finished || finished == unit);
    }
    if (fatal)
        failure_set(writer, fatal, &err);
    if (!finished) {
        failure_tell(writer, &err);
        if (hf_batch_abandon(&writer->batch, &err) != unit) { /* it was not even begun */
            unit->status = HF_STOPPED;
            unit->err = err;
        }
    }
    unit->next = NULL;
    units_land(writer, unit);
    hf_mutex_lock(&writer->lock);
    writer->expected = writer->queued + 1;
    batch_give(writer);
    if (writer->first || writer->closing || fatal ||
        (writer->dozing && (writer->barred.status || writer->batch.db->log_pages > 0)))
        hf_cond_signal(&writer->work);
    hf_mutex_unlock(&writer->lock);
}

/* Under the lock: nobody has anything to write. */
static bool writer_idle(const hf_writer *writer)
{
    return !writer->busy && !writer->first && !hf_batch_waiting(&writer->batch);
}

/* Whether nobody else has anything to write; the batch is then the caller's, for this unit. */
static bool batch_take_idle(hf_writer *writer, const hf_unit *unit)
{
    bool idle;

    hf_mutex_lock(&writer->lock);
    idle = writer_idle(writer) && !writer->closing && !writer->failure.status;
    if (idle) {
        writer->busy = true;
        unit_flies(writer, unit, 1);
    }
    hf_mutex_unlock(&writer->lock);
    return idle;
}

hf_status hf_writer_commit(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    hf_status st = HF_OK;

    HF_ASSERT(!writer->manual && unit->sealed && !unit->done);
    if (batch_take_idle(writer, unit))
        unit_run_here(writer, unit);
    else
        st = unit_wait(writer, unit, err);
    if (st)
        return unit_turn_away(unit, st, err);
    if (unit->status && err) {
        *err = unit->err;
        err->status = unit->status;
    }
    return unit->status;
}

void hf_writer_serve(hf_writer *writer, int64_t node, bool locks)
{
    atomic_store(&writer->batch.locks, locks);
    atomic_store(&writer->batch.node, node);
}

void hf_writer_shut(hf_writer *writer, int64_t from)
{
    atomic_store(&writer->batch.shut_from, from);
}

/* Whether a unit that is refused now is under way. */
static bool units_fly(hf_writer *writer)
{
    int64_t shard = atomic_load(&writer->batch.shut_from);

    while (shard < HF_SHARDS && !atomic_load(&writer->flying[shard]))
        shard++;
    return shard < HF_SHARDS;
}

hf_status hf_writer_quiet(hf_writer *writer, int64_t until_us, hf_err *err)
{
    hf_status st = HF_OK;

    hf_mutex_lock(&writer->lock);
    atomic_store(&writer->quieting, true);
    while (units_fly(writer) && st != HF_TIMEOUT)
        st = hf_cond_wait_until(&writer->quiet, &writer->lock, until_us);
    atomic_store(&writer->quieting, false);
    if (units_fly(writer))
        st = hf_err_set(err, HF_TIMEOUT, "units for shards from %lld on are under way",
                        (long long)atomic_load(&writer->batch.shut_from));
    else
        st = writer->failure.status ? hf_err_set(err, HF_STOPPED, "%s", writer->failure.text)
                                    : HF_OK;
    hf_mutex_unlock(&writer->lock);
    return st;
}

bool hf_writer_busy(hf_writer *writer)
{
    bool busy;

    hf_mutex_lock(&writer->lock);
    busy = !writer_idle(writer);
    hf_mutex_unlock(&writer->lock);
    return busy;
}

hf_keys *hf_writer_keys(hf_writer *writer)
{
    return writer->batch.keys;
}

void hf_writer_stop(hf_writer *writer, const hf_err *why)
{
    bool stopped;

    hf_mutex_lock(&writer->lock);
    stopped = writer->failure.status != HF_OK;
    hf_mutex_unlock(&writer->lock);
    if (!stopped)
        failure_set(writer, why->status, why);
    hf_mutex_lock(&writer->lock);
    hf_cond_signal(&writer->work);
    hf_mutex_unlock(&writer->lock);
}

hf_status hf_writer_failure(hf_writer *writer, hf_err *out_failure)
{
    hf_status st;

    hf_mutex_lock(&writer->lock);
    st = writer->failure.status;
    if (out_failure)
        *out_failure = writer->failure;
    hf_mutex_unlock(&writer->lock);
    return st;
}

hf_status hf_writer_barred(hf_writer *writer, hf_err *out_why)
{
    hf_status st;

    hf_mutex_lock(&writer->lock);
    st = writer->barred.status;
    if (st && out_why)
        *out_why = writer->barred;
    hf_mutex_unlock(&writer->lock);
    return st;
}

bool hf_writer_passes(hf_status st)
{
    return hf_batch_passes(st);
}

hf_writer_stats hf_writer_stats_get(hf_writer *writer)
{
    hf_writer_stats stats;

    hf_mutex_lock(&writer->lock);
    stats = writer->stats;
    stats.queued = writer->queued;
    hf_mutex_unlock(&writer->lock);
    return stats;
}
