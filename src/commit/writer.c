/* writer.c: the queue and the thread in front of batch.c.
   The rule it keeps: `done` is called after the unit's fate is durable, in the order of the batch,
   and never under the queue's lock. The queue is bounded; whoever submits waits or is told so.

   Callers in a loop would fall into two groups that commit in turn, each with half of the units and
   a sync of its own, because the writer finds the other group staged whenever it comes back. So it
   lets those it has just answered come back first, as long as they do come: see queue_gather. */
#include "commit/writer.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "commit/batch.h"

enum {
    QUEUE_MAX = 8192,
    BATCH_MAX = 1024,
    QUIET_US =
        15, /* nobody came for this long: those who were answered have something else to do */
    REST_AFTER_US =
        1000000 /* without work for this long: write the log back, then sleep until there is work */
};

struct hf_writer {
    hf_batch batch; /* the thread's */
    size_t
        expected; /* the thread's: units that would be staged if all who were answered came back */
    int64_t took_us; /* the thread's: how long the last batch took */
    void (*answered)(void *ctx);
    void *answered_ctx;
    hf_thread thread;
    bool manual;
    /* under the lock */
    hf_mutex lock;
    hf_cond work; /* something was staged, or the writer is to stop */
    hf_cond room; /* the queue has room again, or the writer stopped */
    hf_unit *first;
    hf_unit **tail;
    atomic_size_t queued; /* changed under the lock, looked at without it by queue_gather */
    size_t queue_max;
    size_t waiting; /* submitters that wait for room */
    bool closing;   /* finish what is there, then end */
    hf_err failure; /* why the writer stopped for good */
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
    while (!writer->closing &&
           hf_cond_wait_until(&writer->work, &writer->lock, until_us) != HF_TIMEOUT)
        ;
    hf_mutex_unlock(&writer->lock);
}

static void units_done(const hf_writer *writer, hf_unit *units)
{
    if (!units)
        return;
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

static void units_stop(const hf_writer *writer, hf_unit *units, const hf_err *why)
{
    for (hf_unit *unit = units; unit; unit = unit->next) {
        unit->status = HF_STOPPED;
        unit->err = *why;
    }
    units_done(writer, units);
}

/* The writer is at its end: everyone is told why, nobody waits for ever. Known before the first of
 * them is told. */
static void writer_fail(hf_writer *writer, hf_status fatal, const hf_err *err, hf_unit *finished)
{
    hf_unit *units;
    hf_err why;

    (void)hf_err_set(&why, HF_STOPPED, "the engine stopped writing (%s): %s", hf_strstatus(fatal),
                     err->text);
    hf_mutex_lock(&writer->lock);
    writer->failure = *err;
    writer->failure.status = fatal;
    units = queue_take(writer);
    hf_cond_broadcast(&writer->room);
    hf_mutex_unlock(&writer->lock);
    units_done(writer, finished);
    units_done(writer, hf_batch_abandon(&writer->batch, &why));
    units_stop(writer, units, &why);
}

size_t hf_writer_step(hf_writer *writer)
{
    hf_unit *finished;
    hf_unit *units;
    hf_unit *rest = NULL;
    hf_status fatal = HF_OK;
    hf_err err = {0};
    int64_t started_us;

    hf_mutex_lock(&writer->lock);
    units = queue_take(writer);
    hf_mutex_unlock(&writer->lock);
    if (!units && !hf_batch_waiting(&writer->batch))
        return 0;
    started_us = hf_clock_mono_us(hf_clock_system());
    finished = hf_batch_run(&writer->batch, units, &rest, &fatal, &err);
    writer->took_us = hf_clock_mono_us(hf_clock_system()) - started_us;
    hf_mutex_lock(&writer->lock);
    queue_return(writer, rest);
    writer->expected = writer->queued + writer->batch.count;
    writer->stats = writer->batch.stats;
    if (writer->waiting && writer->queued < writer->queue_max)
        hf_cond_broadcast(&writer->room);
    hf_mutex_unlock(&writer->lock);
    if (fatal)
        writer_fail(writer, fatal, &err, finished);
    else
        units_done(writer, finished);
    return writer->batch.count;
}

/* Sleeps until there is work. After a while without any it uses the quiet to write the log back,
 * once. */
static bool work_wait(hf_writer *writer)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + REST_AFTER_US;
    bool rested = writer->batch.db->log_pages == 0;
    bool go_on;

    hf_mutex_lock(&writer->lock);
    while (!writer->first && !writer->closing && !writer->failure.status) {
        if (rested) {
            hf_cond_wait(&writer->work, &writer->lock);
        } else if (hf_cond_wait_until(&writer->work, &writer->lock, until_us) == HF_TIMEOUT) {
            hf_err err = {0};
            hf_status st;

            rested = true;
            hf_mutex_unlock(&writer->lock);
            st = hf_batch_rest(&writer->batch, &err);
            if (st)
                writer_fail(writer, st, &err, NULL);
            hf_mutex_lock(&writer->lock);
        }
    }
    go_on = writer->first && !writer->failure.status;
    hf_mutex_unlock(&writer->lock);
    return go_on;
}

/* Gives way while callers that were just answered come back one after the other. It ends when all
   of them are there, when none came for a moment, or when it has lasted half as long as a batch: a
   lone caller is never waited for, and no unit waits for a time that somebody set. */
static void queue_gather(hf_writer *writer)
{
    size_t most = writer->expected < writer->batch.room ? writer->expected : writer->batch.room;
    int64_t now_us = hf_clock_mono_us(hf_clock_system());
    int64_t until_us = now_us + writer->took_us / 2;
    int64_t quiet_us = now_us + QUIET_US;
    size_t queued = atomic_load(&writer->queued);

    while (queued < most && now_us < until_us && now_us < quiet_us) {
        size_t before = queued;

        (void)sched_yield();
        now_us = hf_clock_mono_us(hf_clock_system());
        queued = atomic_load(&writer->queued);
        if (queued != before)
            quiet_us = now_us + QUIET_US;
    }
}

static void writer_run(void *ctx)
{
    hf_writer *writer = ctx;

    while (hf_batch_waiting(&writer->batch) || work_wait(writer)) {
        queue_gather(writer);
        (void)hf_writer_step(writer);
    }
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
    writer->tail = &writer->first;
    st = hf_batch_init(&writer->batch, store, batch_max, err);
    writer->batch.stopped = writer_stopped;
    writer->batch.pause = writer_pause;
    writer->batch.ctx = writer;
    if (st)
        goto no_lock;
    st = hf_mutex_init(&writer->lock, err);
    if (st)
        goto no_lock;
    st = hf_cond_init(&writer->work, err);
    if (st)
        goto no_work;
    st = hf_cond_init(&writer->room, err);
    if (st)
        goto no_room;
    if (!writer->manual)
        st = hf_thread_start(&writer->thread, "hf-writer", writer_run, writer, err);
    if (!st) {
        *out_writer = writer;
        return HF_OK;
    }
    hf_cond_fini(&writer->room);
no_room:
    hf_cond_fini(&writer->work);
no_work:
    hf_mutex_fini(&writer->lock);
no_lock:
    hf_batch_fini(&writer->batch);
    hf_alloc_free(writer);
    return hf_err_because(err, st, "start the writer");
}

void hf_writer_close(hf_writer *writer)
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
    hf_cond_fini(&writer->room);
    hf_cond_fini(&writer->work);
    hf_mutex_fini(&writer->lock);
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
    if (was_empty)
        hf_cond_signal(&writer->work);
}

hf_status hf_writer_offer(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&writer->lock);
    st = queue_admit(writer, err);
    if (!st)
        queue_put(writer, unit);
    hf_mutex_unlock(&writer->lock);
    return st;
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
    return st;
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

hf_status hf_writer_commit(hf_writer *writer, hf_unit *unit, hf_err *err)
{
    waiter who = {0};
    hf_status st;

    HF_ASSERT(!writer->manual && !unit->done);
    st = hf_mutex_init(&who.lock, err);
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
        st = unit->status;
        if (st && err)
            *err = unit->err;
        if (st && err)
            err->status = st;
    }
    unit->done = NULL;
    hf_cond_fini(&who.done);
    hf_mutex_fini(&who.lock);
    return st;
}

hf_keys *hf_writer_keys(hf_writer *writer)
{
    return writer->batch.keys;
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

hf_writer_stats hf_writer_stats_get(hf_writer *writer)
{
    hf_writer_stats stats;

    hf_mutex_lock(&writer->lock);
    stats = writer->stats;
    stats.queued = writer->queued;
    hf_mutex_unlock(&writer->lock);
    return stats;
}
