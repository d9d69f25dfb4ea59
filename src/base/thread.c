/* thread.c: pthreads with every result looked at, unless a test schedules (sched.h). Installs no
   signal handler, ever. */
#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/assert.h"
#include "base/sched.h"

enum { US_PER_SECOND = 1000000, NS_PER_US = 1000 };

/* Signals that report a fault of the running instruction; blocking them would only hide the report
   of a host's own crash handler. */
static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static void *thread_main(void *arg)
{
    const hf_thread *thread = arg;

    (void)prctl(PR_SET_NAME, thread->name, 0, 0, 0); /* the name helps people only */
    thread->run(thread->ctx);
    return NULL;
}

#ifdef HF_FAULT

/* The same under a scheduler of a test. Who started it may be gone at its end, and `thread`. */
static void *thread_main_scheduled(void *arg)
{
    const hf_thread *thread = arg;
    hf_sched *sched = thread->sched;
    void *slot = thread->slot;

    hf_sched_set(sched);
    sched->enter(sched, slot);
    (void)thread_main(arg);
    sched->leave(sched, slot);
    return NULL;
}

#else

#define thread_main_scheduled thread_main

#endif

hf_status hf_mutex_init(hf_mutex *mutex, hf_err *err)
{
    pthread_mutexattr_t attr;
    int rc = pthread_mutexattr_init(&attr);

    if (rc == 0) {
        rc = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
        if (rc == 0)
            rc = pthread_mutex_init(&mutex->handle, &attr);
        (void)pthread_mutexattr_destroy(&attr);
    }
    return rc == 0 ? HF_OK : hf_err_set(err, HF_NOMEM, "cannot make a mutex (error %d)", rc);
}

void hf_mutex_fini(hf_mutex *mutex)
{
    int rc = pthread_mutex_destroy(&mutex->handle);

    HF_ASSERT(rc == 0);
}

void hf_mutex_lock(hf_mutex *mutex)
{
    hf_sched *sched = hf_sched_here();
    int rc = 0;

    if (sched)
        sched->lock(sched, mutex);
    else
        rc = pthread_mutex_lock(&mutex->handle);
    HF_ASSERT(rc == 0);
}

void hf_mutex_unlock(hf_mutex *mutex)
{
    hf_sched *sched = hf_sched_here();
    int rc = 0;

    if (sched)
        sched->unlock(sched, mutex);
    else
        rc = pthread_mutex_unlock(&mutex->handle);
    HF_ASSERT(rc == 0);
}

hf_status hf_cond_init(hf_cond *cond, hf_err *err)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);

    if (rc == 0) {
        rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        if (rc == 0)
            rc = pthread_cond_init(&cond->handle, &attr);
        (void)pthread_condattr_destroy(&attr);
    }
    return rc == 0 ? HF_OK : hf_err_set(err, HF_NOMEM, "cannot make a condition (error %d)", rc);
}

void hf_cond_fini(hf_cond *cond)
{
    int rc = pthread_cond_destroy(&cond->handle);

    HF_ASSERT(rc == 0);
}

void hf_cond_signal(hf_cond *cond)
{
    hf_sched *sched = hf_sched_here();
    int rc = 0;

    if (sched)
        sched->wake(sched, cond, false);
    else
        rc = pthread_cond_signal(&cond->handle);
    HF_ASSERT(rc == 0);
}

void hf_cond_broadcast(hf_cond *cond)
{
    hf_sched *sched = hf_sched_here();
    int rc = 0;

    if (sched)
        sched->wake(sched, cond, true);
    else
        rc = pthread_cond_broadcast(&cond->handle);
    HF_ASSERT(rc == 0);
}

void hf_cond_wait(hf_cond *cond, hf_mutex *mutex)
{
    hf_sched *sched = hf_sched_here();
    int rc = 0;

    if (sched)
        (void)sched->wait(sched, cond, mutex, INT64_MAX);
    else
        rc = pthread_cond_wait(&cond->handle, &mutex->handle);
    HF_ASSERT(rc == 0);
}

hf_status hf_cond_wait_until(hf_cond *cond, hf_mutex *mutex, int64_t mono_us)
{
    int64_t until_us = mono_us > 0 ? mono_us : 0;
    struct timespec until = {
        .tv_sec = (time_t)(until_us / US_PER_SECOND),
        .tv_nsec = (long)(until_us % US_PER_SECOND) * NS_PER_US,
    };
    hf_sched *sched = hf_sched_here();
    int rc;

    if (sched)
        return sched->wait(sched, cond, mutex, until_us) ? HF_OK : HF_TIMEOUT;
    rc = pthread_cond_timedwait(&cond->handle, &mutex->handle, &until);
    HF_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0 ? HF_OK : HF_TIMEOUT;
}

hf_status hf_thread_start(hf_thread *thread, const char *name, hf_thread_fn *run, void *ctx,
                          hf_err *err)
{
    sigset_t blocked;
    sigset_t before;
    hf_sched *sched = hf_sched_here();
    int made;
    int rc;

    HF_ASSERT(!thread->started);
    *thread = (hf_thread){.run = run, .ctx = ctx, .sched = sched};
    (void)snprintf(thread->name, sizeof(thread->name), "%s", name);
    if (sched)
        thread->slot = sched->start(sched, thread->name);
    if (sched && !thread->slot)
        return hf_err_set(err, HF_BUSY, "cannot start the thread %s", name);
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(fault_signals) / sizeof(fault_signals[0]); i++)
        (void)sigdelset(&blocked, fault_signals[i]);
    rc = pthread_sigmask(SIG_SETMASK, &blocked, &before); /* a thread inherits its maker's mask */
    HF_ASSERT(rc == 0);
    made =
        pthread_create(&thread->handle, NULL, sched ? thread_main_scheduled : thread_main, thread);
    rc = pthread_sigmask(SIG_SETMASK, &before, NULL);
    HF_ASSERT(rc == 0);
    HF_ASSERT(made == 0 || !sched);
    if (made != 0)
        return hf_err_set(err, HF_BUSY, "cannot start the thread %s (error %d)", name, made);
    thread->started = true;
    return HF_OK;
}

void hf_thread_yield(void)
{
    hf_sched *sched = hf_sched_here();

    if (sched)
        sched->yield(sched);
    else
        (void)sched_yield();
}

void hf_thread_detach(hf_thread *thread)
{
    int rc;

    HF_ASSERT(thread->started);
    rc = pthread_detach(thread->handle);
    HF_ASSERT(rc == 0);
    thread->started = false;
}

void hf_thread_join(hf_thread *thread)
{
    hf_sched *sched = hf_sched_here();
    int rc;

    if (!thread->started)
        return;
    if (sched)
        sched->join(sched, thread->slot);
    rc = pthread_join(thread->handle, NULL);
    HF_ASSERT(rc == 0);
    thread->started = false;
}
