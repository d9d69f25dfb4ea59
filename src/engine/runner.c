/* runner.c: see runner.h. A successor is started first and takes the seat itself: when the code
   comes back at that very moment it is not needed, and ends. */
#include "engine/runner.h"

#include <unistd.h>

#include "base/alloc.h"
#include "engine/handback.h"
#include "engine/stall.h"

enum { LOOK_US = 20000 };

/* The thread's and the engine's; gone when both have let go. */
struct engine_runner {
    hf_engine *engine;
    hf_seat *seat;
    hf_seat *before; /* to be taken first; NULL: nobody's */
    uint64_t look;
    hf_thread thread;
    _Atomic int holders;
    bool ended; /* under the engine's lock */
};

static void runner_drop(engine_runner *runner)
{
    if (atomic_fetch_sub(&runner->holders, 1) != 1)
        return;
    hf_seat_drop(runner->seat);
    hf_seat_drop(runner->before);
    hf_alloc_free(runner);
}

void hf_runner_wake(void *ctx)
{
    hf_engine *engine = ctx;
    const uint64_t one = 1;
    bool was_woken;

    hf_mutex_lock(&engine->lock);
    was_woken = engine->woken;
    engine->woken = true;
    if (!was_woken)
        hf_cond_signal(&engine->work);
    hf_mutex_unlock(&engine->lock);
    if (!was_woken && engine->wake_fd >= 0)
        (void)!write(engine->wake_fd, &one, sizeof(one));
}

bool hf_runner_idle(hf_engine *engine)
{
    bool idle;

    hf_mutex_lock(&engine->lock);
    idle = engine->dozing && !engine->woken;
    hf_mutex_unlock(&engine->lock);
    return idle;
}

/* Schedules follow wall time, and nothing wakes when it is set: then it is looked at so often. */
#define CLOCK_LOOK_US INT64_C(60000000)

/* Sleeps until there is work, the next deadline is due, or the engine stops. */
static void runner_sleep(hf_engine *engine)
{
    int64_t next_us;
    int64_t wait_us;
    int64_t until_us;

    hf_engine_clock_look(engine);
    next_us = hf_core_next_us(engine->core);
    wait_us = next_us == INT64_MAX ? INT64_MAX : next_us - hf_core_now(engine->core);
    if (wait_us <= 0)
        return;
    if (wait_us > CLOCK_LOOK_US && hf_core_clock_watched(engine->core))
        wait_us = CLOCK_LOOK_US;
    until_us = wait_us == INT64_MAX ? INT64_MAX : hf_clock_mono_us(hf_clock_system()) + wait_us;
    hf_mutex_lock(&engine->lock);
    engine->dozing = true;
    while (!engine->woken) {
        if (until_us == INT64_MAX)
            hf_cond_wait(&engine->work, &engine->lock);
        else if (hf_cond_wait_until(&engine->work, &engine->lock, until_us) == HF_TIMEOUT)
            break;
    }
    engine->woken = false;
    engine->dozing = false;
    hf_mutex_unlock(&engine->lock);
}

/* Whether the core's thread is to end: at once, or when what runs has ended. No task may get lost
   between here and a worker. */
static bool engine_stopping(hf_engine *engine)
{
    bool stopping;
    bool draining;

    hf_mutex_lock(&engine->lock);
    stopping = engine->stopping;
    draining = engine->draining;
    hf_mutex_unlock(&engine->lock);
    return (stopping && !hf_handback_waits(engine->core)) ||
           (!stopping && draining && !hf_core_drain(engine->core));
}

static void lost_tell(const hf_engine *engine, const char *what, hf_seat *seat)
{
    int64_t ever = 0;
    const hf_log_field fields[] = {hf_log_text("code", HF_SLICE("task_timeout")),
                                   hf_log_int("run", atomic_load(&seat->run)),
                                   hf_log_int("away", hf_core_lost(engine->core, &ever)),
                                   hf_log_int("most", engine->lost_max)};

    hf_log_write(&engine->log, HF_LOG_WARN, what, fields, sizeof(fields) / sizeof(fields[0]));
}

/* The thread's first act when it is a successor. False: it is not needed. */
static bool runner_succeed(engine_runner *runner)
{
    hf_engine *engine = runner->engine;
    engine_runner *before = NULL;
    bool needed;

    hf_mutex_lock(&engine->lock); /* whoever started this thread has finished doing so */
    hf_mutex_unlock(&engine->lock);
    needed = hf_core_take_over(engine->core, runner->before, runner->look, runner->seat);
    if (needed)
        lost_tell(engine, "a thread is lost in workflow code, another goes on", runner->before);
    hf_mutex_lock(&engine->lock);
    engine->heirs--;
    if (needed) {
        before = engine->runner;
        engine->runner = runner;
        hf_thread_detach(&before->thread);
    } else {
        hf_core_unsit(engine->core, runner->seat);
        hf_thread_detach(&runner->thread);
    }
    hf_cond_broadcast(&engine->changed);
    hf_mutex_unlock(&engine->lock);
    runner_drop(needed ? before : runner); /* the engine's hold */
    return needed;
}

static void runner_thread(void *ctx)
{
    engine_runner *runner = ctx;
    hf_engine *engine = runner->engine;
    hf_seat *seat = runner->seat;

    if (runner->before && !runner_succeed(runner)) {
        runner_drop(runner);
        return;
    }
    while (!engine_stopping(engine) && !hf_core_failure(engine->core, NULL)) {
        bool worked = hf_core_step(engine->core);

        if (hf_seat_lost(seat)) { /* the engine may be gone */
            hf_seat_return(seat);
            runner_drop(runner);
            return;
        }
        if (!worked)
            runner_sleep(engine);
    }
    hf_core_leave(engine->core);
    hf_mutex_lock(&engine->lock);
    engine->stopping = true;
    runner->ended = true;
    hf_cond_broadcast(&engine->changed);
    hf_mutex_unlock(&engine->lock);
    hf_engine_changed(engine, 0, false); /* whoever waits looks again */
    runner_drop(runner);
}

/* Takes the seats over in every case. */
static engine_runner *runner_new(hf_engine *engine, hf_seat *seat, hf_seat *before, uint64_t look)
{
    engine_runner *runner = hf_alloc(sizeof(*runner));

    if (!runner) {
        hf_seat_drop(seat);
        hf_seat_drop(before);
        return NULL;
    }
    runner->engine = engine;
    runner->seat = seat;
    runner->before = before;
    runner->look = look;
    atomic_store(&runner->holders, 2);
    return runner;
}

hf_status hf_runner_start(hf_engine *engine, hf_err *err)
{
    hf_seat *seat = hf_core_seat(engine->core);
    engine_runner *runner;
    hf_status st;

    hf_seat_hold(seat);
    runner = runner_new(engine, seat, NULL, 0);
    if (!runner)
        return hf_err_nomem(err, "the core's thread");
    hf_mutex_lock(&engine->lock);
    st = hf_thread_start(&runner->thread, "hf-core", runner_thread, runner, err);
    if (!st)
        engine->runner = runner;
    hf_mutex_unlock(&engine->lock);
    if (st) {
        runner_drop(runner);
        runner_drop(runner);
    }
    return st;
}

void hf_runner_stalled(void *ctx, hf_seat *seat, uint64_t look)
{
    hf_engine *engine = ctx;
    hf_seat *mine = NULL;
    engine_runner *runner;
    bool closing;

    hf_mutex_lock(&engine->lock);
    closing = engine->stopping || engine->heirs || !engine->runner;
    engine->heirs += !closing; /* from here on the engine waits for us */
    hf_mutex_unlock(&engine->lock);
    if (closing)
        return;
    if (hf_core_lost(engine->core, NULL) >= engine->lost_max ||
        hf_core_sit(engine->core, &mine, NULL)) {
        lost_tell(engine, "too many threads are away: the core waits for this code", seat);
        goto none;
    }
    hf_seat_hold(mine); /* the core's hold and the runner's */
    hf_seat_hold(seat);
    runner = runner_new(engine, mine, seat, look);
    if (!runner) {
        hf_core_unsit(engine->core, mine);
        goto none;
    }
    hf_mutex_lock(&engine->lock);
    if (!hf_thread_start(&runner->thread, "hf-core", runner_thread, runner, NULL)) {
        hf_mutex_unlock(&engine->lock);
        return; /* it counts as an heir until it knows what it is */
    }
    hf_mutex_unlock(&engine->lock);
    hf_core_unsit(engine->core, mine);
    runner_drop(runner);
    runner_drop(runner);
none:
    hf_mutex_lock(&engine->lock);
    engine->heirs--;
    hf_cond_broadcast(&engine->changed);
    hf_mutex_unlock(&engine->lock);
}

/* With the lock held: waits for the thread's end. False: it is in code that does not come back;
 *out_look is what can be taken. */
static bool runner_await(hf_engine *engine, uint64_t *out_look)
{
    int64_t since_us = hf_clock_mono_us(hf_clock_system());
    uint64_t seen = 0;

    while (engine->heirs || !engine->runner->ended) {
        int64_t now_us = hf_clock_mono_us(hf_clock_system());

        *out_look = hf_seat_look(engine->runner->seat);
        if (engine->heirs || *out_look != seen || !hf_seat_codes(*out_look)) {
            seen = *out_look;
            since_us = now_us;
        }
        if (now_us - since_us >= HF_STALL_MS * INT64_C(1000))
            return false;
        (void)!hf_cond_wait_until(&engine->changed, &engine->lock, now_us + LOOK_US);
    }
    return true;
}

/* The caller takes the core from a thread that does not come back, as its last owner. */
static bool runner_leave(hf_engine *engine, engine_runner *runner, uint64_t look)
{
    hf_seat *mine = NULL;

    if (hf_core_sit(engine->core, &mine, NULL))
        return false;
    if (!hf_core_take_over(engine->core, runner->seat, look, mine)) {
        hf_core_unsit(engine->core, mine);
        return false;
    }
    lost_tell(engine, "workflow code does not come back: its thread is left behind", runner->seat);
    hf_core_leave(engine->core);
    return true;
}

void hf_runner_stop(hf_engine *engine)
{
    engine_runner *runner;
    uint64_t look = 0;
    bool left = false;

    hf_mutex_lock(&engine->lock);
    while (engine->runner && !left && !runner_await(engine, &look)) {
        runner = engine->runner;
        hf_mutex_unlock(&engine->lock);
        left = runner_leave(engine, runner, look);
        hf_mutex_lock(&engine->lock);
    }
    runner = engine->runner;
    engine->runner = NULL;
    hf_mutex_unlock(&engine->lock);
    if (!runner)
        return;
    if (left)
        hf_thread_detach(&runner->thread);
    else
        hf_thread_join(&runner->thread);
    runner_drop(runner);
}
