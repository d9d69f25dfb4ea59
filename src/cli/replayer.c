/* replayer.c: see replayer.h. Bundle and answer take turns, so that neither side waits for the
   other to read. */
#include "cli/replayer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

enum { ANSWER_MS = 30000, ANSWER_BYTES_MAX = 64 * 1024, LOOK_MS = 10, LOOKS_MAX = 100 };

extern char **environ;

struct hf_replayer {
    const char *program;
    pid_t pid; /* 0 while there is none */
    int in;    /* the program's standard input; -1: none */
    int out;
    hf_buf line;
};

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Ends the process; one whose input ends goes by itself, but nobody waits for it. */
static void process_end(hf_replayer *r)
{
    pid_t got;

    fd_close(&r->in);
    fd_close(&r->out);
    if (!r->pid)
        return;
    (void)kill(r->pid, SIGKILL);
    do
        got = waitpid(r->pid, NULL, 0);
    while (got < 0 && errno == EINTR);
    r->pid = 0;
}

/* Whether a process that closed its end was ended by a signal, as a crash does. */
static bool process_crashed(hf_replayer *r)
{
    struct pollfd nothing = {.fd = -1};
    int status = 0;

    for (int i = 0; i < LOOKS_MAX; i++) {
        pid_t got = waitpid(r->pid, &status, WNOHANG);

        if (got == r->pid) {
            r->pid = 0;
            return WIFSIGNALED(status);
        }
        (void)poll(&nothing, 1, LOOK_MS);
    }
    return false;
}

static hf_status process_spawn(hf_replayer *r, const int in[2], const int out[2], hf_err *err)
{
    char *argv[] = {(char *)(uintptr_t)r->program, "replay", "-", "-o", "json", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed)
        return hf_err_nomem(err, "a process");
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return hf_err_nomem(err, "a process");
    }
    (void)sigemptyset(&signals);
    (void)posix_spawnattr_setsigmask(&attributes, &signals);
    (void)sigaddset(&signals, SIGPIPE); /* ignored here, which a child would inherit */
    (void)posix_spawnattr_setsigdefault(&attributes, &signals);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (!failed)
        failed = posix_spawnp(&r->pid, r->program, &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (!failed)
        return HF_OK;
    r->pid = 0;
    return hf_err_set(err, failed == ENOENT ? HF_NOTFOUND : HF_ERROR, "cannot start %s: %s",
                      r->program, strerror(failed));
}

static bool pipe_make(int fds[2])
{
    if (pipe(fds) != 0)
        return false;
    (void)fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static hf_status process_start(hf_replayer *r, hf_err *err)
{
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    hf_status st = HF_OK;

    if (!pipe_make(in) || !pipe_make(out))
        st = hf_err_set(err, HF_ERROR, "cannot make a pipe: %s", strerror(errno));
    if (!st)
        st = process_spawn(r, in, out, err);
    fd_close(&in[0]);
    fd_close(&out[1]);
    r->in = in[1];
    r->out = out[0];
    hf_buf_clear(&r->line);
    if (!st)
        (void)fcntl(r->in, F_SETFL, O_NONBLOCK);
    else
        process_end(r);
    return st;
}

hf_status hf_replayer_open(const char *program, hf_replayer **out_replayer, hf_err *err)
{
    hf_replayer *r = hf_alloc(sizeof(*r));
    hf_status st;

    if (!r)
        return hf_err_nomem(err, "a program");
    *r = (hf_replayer){.program = program, .in = -1, .out = -1};
    st = process_start(r, err);
    if (st) {
        hf_replayer_close(r);
        return st;
    }
    *out_replayer = r;
    return HF_OK;
}

void hf_replayer_close(hf_replayer *replayer)
{
    if (!replayer)
        return;
    process_end(replayer);
    hf_buf_fini(&replayer->line);
    hf_alloc_free(replayer);
}

/* Waits until the other side can go on; false when the time is up. */
static bool fd_await(int fd, short events, int64_t until_us)
{
    struct pollfd wait = {.fd = fd, .events = events};
    int ready;

    do {
        int64_t left_us = until_us - hf_clock_mono_us(hf_clock_system());

        if (left_us <= 0)
            return false;
        ready = poll(&wait, 1, (int)(left_us / 1000 + 1));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* HF_TIMEOUT; HF_STOPPED when the program is gone. */
static hf_status bundle_send(hf_replayer *r, hf_slice text, int64_t until_us)
{
    while (text.len) {
        ssize_t sent = write(r->in, text.ptr, text.len);

        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return HF_STOPPED;
        if (sent < 0 && !fd_await(r->in, POLLOUT, until_us))
            return HF_TIMEOUT;
        if (sent > 0)
            text = hf_slice_from(text.ptr + sent, text.len - (size_t)sent);
    }
    return HF_OK;
}

static hf_status answer_take(hf_replayer *r, int64_t until_us)
{
    hf_buf_clear(&r->line);
    while (!r->line.len || r->line.ptr[r->line.len - 1] != '\n') {
        char *room = hf_buf_reserve(&r->line, 4096);
        ssize_t got;

        if (!room)
            return HF_NOMEM;
        if (r->line.len > ANSWER_BYTES_MAX)
            return HF_INVALID;
        if (!fd_await(r->out, POLLIN, until_us))
            return HF_TIMEOUT;
        got = read(r->out, room, 4096);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return HF_STOPPED;
        hf_buf_advance(&r->line, (size_t)got);
    }
    return HF_OK;
}

/* The report of a bundle whose replay did not come back. */
static hf_status lost_report(hf_slice bundle, hf_mem *mem, bool timed_out, hf_value *out_report,
                             hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = bundle.len + 1};
    hf_mem *work = hf_mem_new();
    hf_value parsed = NULL;

    if (work && hf_json_read(work, bundle, &limits, &parsed, NULL))
        parsed = NULL;
    *out_report =
        !work ? NULL
              : hf_json_(mem,
                         "{'instance_id': %s, 'run_id': %s, 'workflow_type': %s, 'events': %zu, "
                         "'verdict': 'blocked', 'reason': %s, 'step': null, 'at': null, "
                         "'sentence': %s}",
                         hf_str(parsed, "workflow.instance_id", ""),
                         hf_str(parsed, "workflow.run_id", ""),
                         hf_str(parsed, "workflow.workflow_type", ""),
                         hf_len(hf_get(parsed, "history_events")),
                         timed_out ? "timed_out" : "crashed",
                         timed_out ? "the program did not come back within 30 seconds"
                                   : "the program ended while it replayed this run");
    hf_mem_free(work);
    return *out_report ? HF_OK : hf_err_nomem(err, "a report");
}

/* The bundle goes there, a line comes back. */
static hf_status line_ask(hf_replayer *r, hf_slice bundle)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + ANSWER_MS * INT64_C(1000);
    hf_status st = bundle_send(r, bundle, until_us);

    if (!st)
        st = bundle_send(r, HF_SLICE("\n"), until_us);
    return st ? st : answer_take(r, until_us);
}

hf_status hf_replayer_ask(hf_replayer *replayer, hf_slice bundle, hf_mem *mem, hf_value *out_report,
                          hf_err *err)
{
    bool lost;
    hf_status st = replayer->pid ? HF_OK : process_start(replayer, err);

    if (st)
        return st;
    st = line_ask(replayer, bundle);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "an answer");
    lost = st == HF_TIMEOUT || (st == HF_STOPPED && process_crashed(replayer));
    if (st)
        process_end(replayer);
    if (lost)
        return lost_report(bundle, mem, st == HF_TIMEOUT, out_report, err);
    if (!st)
        st =
            hf_json_read(mem, hf_slice_trim(hf_buf_slice(&replayer->line)), NULL, out_report, NULL);
    if (st || !hf_str(*out_report, "verdict", NULL))
        return hf_err_set(err, HF_INVALID,
                          "%s does not answer as a program that uses hf_main: it is run as "
                          "\"%s replay - -o json\"",
                          replayer->program, replayer->program);
    return HF_OK;
}
