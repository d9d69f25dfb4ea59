/* thread.h: threads, mutexes and conditions that check themselves. Creating one may fail and
   returns a status; using one wrongly (locking twice, unlocking another thread's) is a broken
   invariant and panics. All of them live in the caller's memory and must not move. In a test build
   a scheduler may decide about them instead of the system (sched.h). */
#ifndef HF_BASE_THREAD_H
#define HF_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { HF_THREAD_NAME_SIZE = 16 }; /* what the kernel keeps, the NUL included */

typedef struct hf_mutex {
    pthread_mutex_t handle;
} hf_mutex;

typedef struct hf_cond {
    pthread_cond_t handle;
} hf_cond;

typedef void hf_thread_fn(void *ctx);

typedef struct hf_thread {
    pthread_t handle;
    bool started; /* and not yet joined; zero-initialise */
    hf_thread_fn *run;
    void *ctx;
    struct hf_sched *sched; /* that it runs under; NULL: the system's */
    void *slot;             /* its name there */
    char name[HF_THREAD_NAME_SIZE];
} hf_thread;

HF_NODISCARD hf_status hf_mutex_init(hf_mutex *mutex, hf_err *err);
void hf_mutex_fini(hf_mutex *mutex);
void hf_mutex_lock(hf_mutex *mutex);
void hf_mutex_unlock(hf_mutex *mutex);

HF_NODISCARD hf_status hf_cond_init(hf_cond *cond, hf_err *err);
void hf_cond_fini(hf_cond *cond);
void hf_cond_signal(hf_cond *cond);    /* wakes one waiter at least, if there is one */
void hf_cond_broadcast(hf_cond *cond); /* wakes all */

/* Gives up `mutex` while it waits. May wake for no reason: the caller checks what it waits for. */
void hf_cond_wait(hf_cond *cond, hf_mutex *mutex);

/* The same, at most until the system's monotonic time (hf_clock_mono_us of hf_clock_system) reaches
   `mono_us`: HF_OK when woken, HF_TIMEOUT when not. A jump of the wall clock has no effect. */
HF_NODISCARD hf_status hf_cond_wait_until(hf_cond *cond, hf_mutex *mutex, int64_t mono_us);

/* Runs `run(ctx)` in a new thread of that name (cut to 15 bytes). The thread takes none of the
   host's signals: every signal is blocked in it, except those a faulting instruction raises in the
   very thread, which cannot be put off. HF_BUSY when the system has no thread to give. */
HF_NODISCARD hf_status hf_thread_start(hf_thread *thread, const char *name, hf_thread_fn *run,
                                       void *ctx, hf_err *err);

/* Lets the thread go: nobody will wait for it. */
void hf_thread_detach(hf_thread *thread);

/* Lets another thread run, for whom this one waits without sleeping. */
void hf_thread_yield(void);

/* Waits for the thread to end. Does nothing for one that was not started or is joined already. */
void hf_thread_join(hf_thread *thread);

#endif
