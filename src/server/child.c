/* child.c: spawn, look, stop. Nothing here waits without a bound, and no other child is touched. */
#include "server/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { FIRST_MS = 100, LONGEST_MS = 30000, STEADY_MS = 60000, LOOK_MS = 20 };

extern char **environ;

struct hf_child {
    char *const *argv;
    char **environment;
    pid_t pid; /* 0 while there is none */
    int64_t starts;
    int64_t started_us;
    int64_t again_us; /* when the next one starts */
    int64_t wait_ms;
};

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

static size_t list_count(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

/* This process's environment and what is added to it; the texts are borrowed. */
char **hf_child_environment(const char *const *more)
{
    size_t own = list_count((const char *const *)environ);
    size_t added = list_count(more);
    char **all = hf_alloc_array(own + added + 1, sizeof(*all));

    if (!all)
        return NULL;
    for (size_t i = 0; i < added; i++)
        all[i] = (char *)(uintptr_t)more[i]; /* posix_spawn only reads them */
    for (size_t i = 0; i < own; i++)
        all[added + i] = environ[i];
    return all;
}

void hf_child_environment_free(char **environment)
{
    hf_alloc_free(environment);
}

/* A child begins with no signal blocked, whatever this thread has. */
static hf_status spawn(hf_child *child, hf_err *err)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    int failed = posix_spawnattr_init(&attributes);

    if (failed)
        return hf_err_set(err, HF_ERROR, "cannot start %s: %s", child->argv[0], strerror(failed));
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    failed = posix_spawnp(&child->pid, child->argv[0], NULL, &attributes, child->argv,
                          child->environment);
    (void)posix_spawnattr_destroy(&attributes);
    if (failed) {
        child->pid = 0;
        return hf_err_set(err, failed == ENOENT ? HF_NOTFOUND : HF_ERROR, "cannot start %s: %s",
                          child->argv[0], strerror(failed));
    }
    child->starts++;
    child->started_us = now_us();
    return HF_OK;
}

hf_status hf_child_start(char *const *argv, const char *const *environment, hf_child **out_child,
                         hf_err *err)
{
    hf_child *child = hf_alloc(sizeof(*child));
    hf_status st;

    if (!child)
        return hf_err_nomem(err, "a child process");
    child->argv = argv;
    child->wait_ms = FIRST_MS;
    child->environment = hf_child_environment(environment);
    st = child->environment ? spawn(child, err) : hf_err_nomem(err, "a child process");
    if (st) {
        hf_child_stop(child, 0);
        return st;
    }
    *out_child = child;
    return HF_OK;
}

/* Takes note that it ended; false while it runs. */
static bool ended(hf_child *child, int *out_exit)
{
    pid_t got;

    do
        got = waitpid(child->pid, out_exit, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    if (got < 0)
        *out_exit = 0;
    child->pid = 0;
    return true;
}

int64_t hf_child_look(hf_child *child, int *out_exit)
{
    *out_exit = -1;
    if (child->pid && ended(child, out_exit)) {
        bool killed = WIFSIGNALED(*out_exit) && WTERMSIG(*out_exit) == SIGKILL;

        if (killed || now_us() - child->started_us > STEADY_MS * INT64_C(1000))
            child->wait_ms = FIRST_MS;
        child->again_us = now_us() + child->wait_ms * 1000;
        child->wait_ms = child->wait_ms * 2 > LONGEST_MS ? LONGEST_MS : child->wait_ms * 2;
    }
    if (!child->pid && now_us() >= child->again_us && spawn(child, NULL))
        child->again_us = now_us() + child->wait_ms * 1000;
    return child->starts;
}

void hf_child_stop(hf_child *child, int64_t grace_ms)
{
    int64_t until_us = now_us() + grace_ms * 1000;
    int exit_status;

    if (!child)
        return;
    if (child->pid)
        (void)kill(child->pid, SIGTERM);
    while (child->pid && !ended(child, &exit_status)) {
        struct pollfd nothing = {.fd = -1};

        if (now_us() >= until_us)
            (void)kill(child->pid, SIGKILL);
        (void)poll(&nothing, 1, LOOK_MS);
    }
    hf_child_environment_free(child->environment);
    hf_alloc_free(child);
}
