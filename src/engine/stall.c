/* stall.c: see stall.h. The core pays two atomic writes a turn; it takes the lock only to wake a
   watcher that sleeps without end. */
#include "engine/stall.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

enum { STDERR_FD = 2 };

struct hf_stall {
    hf_thread thread;
    hf_log log;
    _Atomic int64_t run;   /* whose code has the core, 0: nobody's */
    _Atomic uint64_t turn; /* counts entries */
    _Atomic int64_t late;  /* the run that was found overdue and has not come back */
    _Atomic bool asleep;   /* the watcher waits to be woken */
    hf_mutex lock;
    hf_cond wake;
    bool closing; /* under the lock */
};

static void late_report(hf_stall *stall, int64_t run)
{
    const hf_log_field fields[] = {hf_log_text("code", HF_SLICE("task_timeout")),
                                   hf_log_int("run", run), hf_log_int("ms", HF_STALL_MS)};

    atomic_store(&stall->late, run);
    hf_log_write(&stall->log, HF_LOG_WARN, "workflow code has not yielded", fields, 3);
}

static void stall_thread(void *ctx)
{
    hf_stall *stall = ctx;
    uint64_t reported = 0;

    hf_mutex_lock(&stall->lock);
    while (!stall->closing) {
        uint64_t before = atomic_load(&stall->turn);
        int64_t run = atomic_load(&stall->run);
        int64_t until_us = hf_clock_mono_us(hf_clock_system()) + HF_STALL_MS * INT64_C(1000);
        hf_status st = HF_OK;

        while (!stall->closing && !st)
            st = hf_cond_wait_until(&stall->wake, &stall->lock, until_us);
        if (stall->closing)
            break;
        if (run && run == atomic_load(&stall->run) && before == atomic_load(&stall->turn)) {
            if (reported != before)
                late_report(stall, run);
            reported = before;
            continue;
        }
        if (before != atomic_load(&stall->turn))
            continue;
        atomic_store(&stall->asleep, true); /* two seconds without code: nothing to watch */
        while (!stall->closing && before == atomic_load(&stall->turn))
            hf_cond_wait(&stall->wake, &stall->lock);
        atomic_store(&stall->asleep, false);
    }
    hf_mutex_unlock(&stall->lock);
}

hf_status hf_stall_open(hf_stall **out_stall, hf_err *err)
{
    hf_stall *stall = hf_alloc(sizeof(*stall));
    hf_status st;

    if (!stall)
        return hf_err_nomem(err, "the watcher of workflow code");
    hf_log_init_fd(&stall->log, HF_LOG_WARN, hf_clock_system(), STDERR_FD);
    st = hf_mutex_init(&stall->lock, err);
    if (st) {
        hf_alloc_free(stall);
        return st;
    }
    st = hf_cond_init(&stall->wake, err);
    if (st) {
        hf_mutex_fini(&stall->lock);
        hf_alloc_free(stall);
        return st;
    }
    st = hf_thread_start(&stall->thread, "hf-stall", stall_thread, stall, err);
    if (st)
        hf_stall_close(stall);
    else
        *out_stall = stall;
    return st;
}

void hf_stall_close(hf_stall *stall)
{
    if (!stall)
        return;
    hf_mutex_lock(&stall->lock);
    stall->closing = true;
    hf_cond_broadcast(&stall->wake);
    hf_mutex_unlock(&stall->lock);
    hf_thread_join(&stall->thread);
    hf_cond_fini(&stall->wake);
    hf_mutex_fini(&stall->lock);
    hf_alloc_free(stall);
}

void hf_stall_enter(hf_stall *stall, int64_t run)
{
    atomic_store(&stall->run, run);
    atomic_fetch_add(&stall->turn, 1);
    if (!atomic_load(&stall->asleep))
        return;
    hf_mutex_lock(&stall->lock);
    hf_cond_signal(&stall->wake);
    hf_mutex_unlock(&stall->lock);
}

void hf_stall_leave(hf_stall *stall)
{
    atomic_store(&stall->run, 0);
    atomic_store(&stall->late, 0);
}

int64_t hf_stall_look(hf_stall *stall)
{
    int64_t late = atomic_load(&stall->late);

    return late == atomic_load(&stall->run) ? late : 0; /* it may have come back just now */
}
