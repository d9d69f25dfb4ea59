/* test_thread.c: threads keep out of the host's signals, conditions keep their deadlines, and
   misuse of a mutex is caught. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "lib/suite.h"

enum { THREADS = 4, TURNS = 20000, MISUSE_EXIT = 42 };

typedef struct counter {
    hf_mutex lock;
    hf_cond changed;
    int64_t value;
} counter;

static void counter_init(counter *c)
{
    *c = (counter){0};
    ck_assert_int_eq(hf_mutex_init(&c->lock, NULL), HF_OK);
    ck_assert_int_eq(hf_cond_init(&c->changed, NULL), HF_OK);
}

static void counter_fini(counter *c)
{
    hf_cond_fini(&c->changed);
    hf_mutex_fini(&c->lock);
}

static void counter_add(void *ctx)
{
    counter *c = ctx;

    for (int i = 0; i < TURNS; i++) {
        hf_mutex_lock(&c->lock);
        c->value++;
        hf_mutex_unlock(&c->lock);
    }
}

/* A mutex lets one thread through at a time. */
START_TEST(mutex_excludes)
{
    hf_thread threads[THREADS] = {0};
    counter c;

    counter_init(&c);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "adder", counter_add, &c, NULL), HF_OK);
    for (int i = 0; i < THREADS; i++)
        hf_thread_join(&threads[i]);
    ck_assert_int_eq(c.value, THREADS * TURNS);
    counter_fini(&c);
}
END_TEST

static void counter_answer(void *ctx)
{
    counter *c = ctx;

    hf_mutex_lock(&c->lock);
    for (int i = 0; i < 1000; i++) {
        while (c->value % 2 == 0)
            hf_cond_wait(&c->changed, &c->lock);
        c->value++;
        hf_cond_signal(&c->changed);
    }
    hf_mutex_unlock(&c->lock);
}

/* Two threads that take turns through a condition never miss a signal. */
START_TEST(condition_hands_over)
{
    hf_thread thread = {0};
    counter c;

    counter_init(&c);
    ck_assert_int_eq(hf_thread_start(&thread, "answer", counter_answer, &c, NULL), HF_OK);
    hf_mutex_lock(&c.lock);
    for (int i = 0; i < 1000; i++) {
        c.value++;
        hf_cond_signal(&c.changed);
        while (c.value % 2 == 1)
            hf_cond_wait(&c.changed, &c.lock);
    }
    hf_mutex_unlock(&c.lock);
    hf_thread_join(&thread);
    ck_assert_int_eq(c.value, 2000);
    counter_fini(&c);
}
END_TEST

static void counter_await(void *ctx)
{
    counter *c = ctx;

    hf_mutex_lock(&c->lock);
    c->value++;
    hf_cond_broadcast(&c->changed);
    while (c->value < 100)
        hf_cond_wait(&c->changed, &c->lock);
    c->value++;
    hf_mutex_unlock(&c->lock);
}

/* A broadcast wakes every waiter. */
START_TEST(broadcast_wakes_all)
{
    hf_thread threads[THREADS] = {0};
    counter c;

    counter_init(&c);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "await", counter_await, &c, NULL), HF_OK);
    hf_mutex_lock(&c.lock);
    while (c.value < THREADS)
        hf_cond_wait(&c.changed, &c.lock);
    c.value = 100;
    hf_cond_broadcast(&c.changed);
    hf_mutex_unlock(&c.lock);
    for (int i = 0; i < THREADS; i++)
        hf_thread_join(&threads[i]);
    ck_assert_int_eq(c.value, 100 + THREADS);
    counter_fini(&c);
}
END_TEST

/* A wait with a deadline ends at it, not before, and at once when it has passed. */
START_TEST(timed_wait_keeps_its_deadline)
{
    const hf_clock *clock = hf_clock_system();
    int64_t until_us = hf_clock_mono_us(clock) + 30000;
    counter c;

    counter_init(&c);
    hf_mutex_lock(&c.lock);
    while (hf_cond_wait_until(&c.changed, &c.lock, until_us) == HF_OK)
        ck_assert_int_lt(hf_clock_mono_us(clock), until_us + 30000000);
    ck_assert_int_ge(hf_clock_mono_us(clock), until_us);
    ck_assert_int_eq(hf_cond_wait_until(&c.changed, &c.lock, 1), HF_TIMEOUT);
    ck_assert_int_eq(hf_cond_wait_until(&c.changed, &c.lock, -1000001), HF_TIMEOUT);
    hf_mutex_unlock(&c.lock);
    counter_fini(&c);
}
END_TEST

/* A signal ends a timed wait long before its deadline, the furthest one included. */
START_TEST(timed_wait_is_woken)
{
    hf_thread thread = {0};
    counter c;

    counter_init(&c);
    ck_assert_int_eq(hf_thread_start(&thread, "answer", counter_answer, &c, NULL), HF_OK);
    hf_mutex_lock(&c.lock);
    for (int i = 0; i < 1000; i++) {
        c.value++;
        hf_cond_signal(&c.changed);
        while (c.value % 2 == 1)
            ck_assert_int_eq(hf_cond_wait_until(&c.changed, &c.lock, INT64_MAX), HF_OK);
    }
    hf_mutex_unlock(&c.lock);
    hf_thread_join(&thread);
    counter_fini(&c);
}
END_TEST

typedef struct self_report {
    sigset_t blocked;
    char name[32];
} self_report;

static void self_describe(void *ctx)
{
    self_report *report = ctx;

    (void)pthread_sigmask(SIG_BLOCK, NULL, &report->blocked);
    (void)prctl(PR_GET_NAME, report->name, 0, 0, 0);
}

/* A thread blocks every signal a host may use, bears its name, and leaves the mask of its maker as
   it was. */
START_TEST(thread_keeps_out_of_signals)
{
    const int of_host[] = {SIGINT,  SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2, SIGPIPE,
                           SIGALRM, SIGCHLD, SIGQUIT, SIGABRT, SIGTSTP, SIGRTMIN};
    self_report report = {0};
    hf_thread thread = {0};
    sigset_t mine;

    (void)sigemptyset(&mine);
    (void)sigaddset(&mine, SIGUSR2);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &mine, NULL), 0);
    ck_assert_int_eq(
        hf_thread_start(&thread, "hf-worker-with-a-long-name", self_describe, &report, NULL),
        HF_OK);
    hf_thread_join(&thread);
    for (size_t i = 0; i < sizeof(of_host) / sizeof(of_host[0]); i++)
        ck_assert_int_eq(sigismember(&report.blocked, of_host[i]), 1);
    ck_assert_int_eq(sigismember(&report.blocked, SIGSEGV), 0);
    ck_assert_str_eq(report.name, "hf-worker-with-");
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
    ck_assert_int_eq(sigismember(&mine, SIGUSR2), 1);
    ck_assert_int_eq(sigismember(&mine, SIGTERM), 0);
}
END_TEST

static volatile sig_atomic_t signals_taken;
static pthread_t signals_taker; /* the thread that took the last one */

static void signal_count(int number)
{
    (void)number;
    signals_taker = pthread_self();
    signals_taken++;
}

/* A signal to the process reaches the host's thread although ours is idle too. */
START_TEST(host_thread_takes_the_signal)
{
    struct sigaction action = {.sa_handler = signal_count};
    const hf_clock *clock = hf_clock_system();
    hf_thread thread = {0};
    counter c;

    counter_init(&c);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(hf_thread_start(&thread, "await", counter_await, &c, NULL), HF_OK);
    for (int i = 1; i <= 20; i++) {
        int64_t until_us = hf_clock_mono_us(clock) + 10000000;

        ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
        while (signals_taken < i)
            ck_assert_int_lt(hf_clock_mono_us(clock), until_us);
        ck_assert(pthread_equal(signals_taker, pthread_self()));
    }
    hf_mutex_lock(&c.lock);
    while (c.value == 0)
        hf_cond_wait(&c.changed, &c.lock);
    c.value = 100;
    hf_cond_broadcast(&c.changed);
    hf_mutex_unlock(&c.lock);
    hf_thread_join(&thread);
    counter_fini(&c);
}
END_TEST

/* Joining what never started, or twice, is harmless; a joined thread can be started again. */
START_TEST(join_is_idempotent)
{
    self_report report = {0};
    hf_thread thread = {0};

    hf_thread_join(&thread);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(hf_thread_start(&thread, "again", self_describe, &report, NULL), HF_OK);
        hf_thread_join(&thread);
        hf_thread_join(&thread);
        ck_assert_str_eq(report.name, "again");
    }
}
END_TEST

static void misuse_exit(const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
    _exit(MISUSE_EXIT);
}

static void mutex_relock(counter *c)
{
    hf_mutex_lock(&c->lock);
    hf_mutex_lock(&c->lock);
}

static void mutex_unlock_unlocked(counter *c)
{
    hf_mutex_unlock(&c->lock);
}

static void thread_start_started(counter *c)
{
    hf_thread thread = {.started = true};

    (void)!hf_thread_start(&thread, "twice", counter_add, c, NULL);
}

/* Each misuse panics, in a process of its own, instead of waiting for ever or going on. */
START_TEST(misuse_panics)
{
    void (*const misuses[])(counter *) = {mutex_relock, mutex_unlock_unlocked,
                                          thread_start_started};

    for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        pid_t child = fork();
        int status = 0;

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            counter c;

            counter_init(&c);
            (void)hf_panic_hook(misuse_exit);
            misuses[i](&c);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), MISUSE_EXIT);
    }
}
END_TEST

HF_SUITE_MAIN("base/thread", {mutex_excludes, 0}, {condition_hands_over, 0},
              {broadcast_wakes_all, 0}, {timed_wait_keeps_its_deadline, 0},
              {timed_wait_is_woken, 0}, {thread_keeps_out_of_signals, 0},
              {host_thread_takes_the_signal, 0}, {join_is_idempotent, 0}, {misuse_panics, 0})
