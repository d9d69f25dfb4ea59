/* task_run.c: see task_run.h. No other child is touched, and nothing waits without a look at the
   clock. */
#include "cli/task_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/slice.h"
#include "base/value.h"
#include "server/child.h"

enum {
    OUTPUT_MAX = 16 * 1024 * 1024,
    LOOK_MS = 100,
    BEAT_US = 5 * 1000 * 1000,
    KILL_US = 10 * 1000 * 1000, /* after it was told to stop */
    EXIT_FINAL = 100,
    MESSAGE_MAX = 500
};

/* A program that runs. */
typedef struct task_process {
    pid_t pid;
    FILE *input;
    int out;
    int err;
    hf_buf said;   /* on standard output */
    hf_buf talked; /* on standard error */
    bool too_much;
    int64_t beat_us;
    int64_t stop_us; /* when it was told to; 0: it was not */
} task_process;

/* A file that holds the input, at its beginning. */
static hf_status input_make(hf_value input, FILE **out_file, hf_err *err)
{
    hf_buf text = {0};
    FILE *file = tmpfile();
    bool ok;

    hf_json_write(&text, input);
    ok = file && hf_buf_ok(&text) && fwrite(text.ptr, 1, text.len, file) == text.len &&
         fflush(file) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0;
    hf_buf_fini(&text);
    if (ok) {
        *out_file = file;
        return HF_OK;
    }
    if (file)
        (void)fclose(file);
    return hf_err_set(err, HF_IO, "the input cannot be handed over: %s", strerror(errno));
}

static hf_status pipe_make(int ends[2], hf_err *err)
{
    if (pipe(ends))
        return hf_err_set(err, HF_IO, "no pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return HF_OK;
}

static hf_status process_spawn(task_process *process, char *const *argv, char *const *environment,
                               const int out[2], const int err_ends[2], hf_err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawnattr_init(&attributes);

    if (failed)
        return hf_err_set(err, HF_ERROR, "cannot run %s: %s", argv[0], strerror(failed));
    /* a group of its own, so that what it starts can be told to stop as well */
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    failed = posix_spawn_file_actions_init(&actions);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, fileno(process->input), 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, err_ends[1], 2);
    if (!failed)
        failed = posix_spawnp(&process->pid, argv[0], &actions, &attributes, argv, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return failed ? hf_err_set(err, HF_ERROR, "cannot run %s: %s", argv[0], strerror(failed))
                  : HF_OK;
}

static hf_status process_start(task_process *process, char *const *argv,
                               const char *const *environment, hf_value input, hf_err *err)
{
    char **all = hf_child_environment(environment);
    int out[2] = {-1, -1};
    int talk[2] = {-1, -1};
    hf_status st = all ? input_make(input, &process->input, err) : hf_err_nomem(err, "a program");

    if (!st)
        st = pipe_make(out, err);
    if (!st)
        st = pipe_make(talk, err);
    process->out = out[0];
    process->err = talk[0];
    if (!st)
        st = process_spawn(process, argv, all, out, talk, err);
    if (out[1] >= 0)
        (void)close(out[1]);
    if (talk[1] >= 0)
        (void)close(talk[1]);
    hf_child_environment_free(all);
    process->beat_us = hf_clock_mono_us(hf_clock_system()) + BEAT_US;
    return st;
}

static void process_fini(task_process *process)
{
    if (process->input)
        (void)fclose(process->input);
    if (process->out >= 0)
        (void)close(process->out);
    if (process->err >= 0)
        (void)close(process->err);
    hf_buf_fini(&process->said);
    hf_buf_fini(&process->talked);
}

/* Takes what is there; closes the descriptor at its end. */
static void bytes_take(int *fd, hf_buf *into, bool *too_much, FILE *echo)
{
    char bytes[4096];
    ssize_t got = 1;

    while (*fd >= 0 && got > 0) {
        got = read(*fd, bytes, sizeof(bytes));
        if (got > 0 && echo)
            (void)fwrite(bytes, 1, (size_t)got, echo);
        if (got > 0 && into->len + (size_t)got <= OUTPUT_MAX)
            hf_buf_add(into, bytes, (size_t)got);
        else if (got > 0)
            *too_much = true;
    }
    if (*fd >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* Tells it to stop when it should, and ends it when it does not. */
static void process_watch(task_process *process, hf_task_beat_fn *beat, void *ctx)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    if (!process->stop_us && now_us >= process->beat_us) {
        process->beat_us = now_us + BEAT_US;
        if (!beat(ctx)) {
            process->stop_us = now_us;
            (void)kill(-process->pid, SIGTERM);
        }
    } else if (process->stop_us && now_us - process->stop_us > KILL_US) {
        (void)kill(-process->pid, SIGKILL);
    }
}

/* Until it has ended and all that it wrote is here; its status as waitpid has it. What it started
   and left behind is not waited for. */
static int process_await(task_process *process, hf_task_beat_fn *beat, void *ctx)
{
    bool talk_cut = false;
    int status = 0;
    bool ended = false;

    while (!ended) {
        struct pollfd ready[2] = {{.fd = process->out, .events = POLLIN},
                                  {.fd = process->err, .events = POLLIN}};
        pid_t got;

        (void)poll(ready, 2, LOOK_MS);
        do
            got = waitpid(process->pid, &status, WNOHANG);
        while (got < 0 && errno == EINTR);
        ended = got != 0;
        bytes_take(&process->out, &process->said, &process->too_much, NULL);
        bytes_take(&process->err, &process->talked, &talk_cut, stderr);
        if (!ended)
            process_watch(process, beat, ctx);
    }
    return status;
}

/* The last line that says something. */
static const char *line_last(hf_mem *mem, hf_slice text)
{
    hf_slice last = {0};
    hf_slice line;

    while (hf_slice_split(&text, '\n', &line))
        if (hf_slice_trim(line).len)
            last = hf_slice_trim(line);
    if (last.len > MESSAGE_MAX)
        last.len = MESSAGE_MAX;
    return last.len ? hf_mem_text(mem, last) : NULL;
}

static void outcome_fail(hf_task_outcome *out, bool final, const char *type, const char *message)
{
    *out = (hf_task_outcome){.final = final, .type = type, .message = message};
}

static hf_status outcome_make(const task_process *process, int status, hf_mem *mem,
                              hf_task_outcome *out, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = OUTPUT_MAX};
    hf_slice said = hf_slice_trim(hf_buf_slice(&process->said));
    const char *message = line_last(mem, hf_buf_slice(&process->talked));
    hf_err why = {0};
    hf_status st;

    if (!hf_buf_ok(&process->said) || !hf_buf_ok(&process->talked))
        return hf_err_nomem(err, "the output of a program");
    if (WIFSIGNALED(status)) {
        outcome_fail(out, false, hf_mem_format(mem, "signal_%d", WTERMSIG(status)),
                     message ? message : "the program was ended by a signal");
        return HF_OK;
    }
    if (WEXITSTATUS(status)) {
        outcome_fail(out, WEXITSTATUS(status) == EXIT_FINAL,
                     hf_mem_format(mem, "exit_%d", WEXITSTATUS(status)),
                     message ? message : "the program failed and said nothing");
        return HF_OK;
    }
    *out = (hf_task_outcome){.done = true, .result = hf_value_null()};
    st = said.len ? hf_json_read(mem, said, &limits, &out->result, &why) : HF_OK;
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "the output of a program");
    if (st || process->too_much)
        outcome_fail(out, true, "bad_output",
                     hf_mem_format(mem, "what the program printed is not JSON: %s",
                                   process->too_much ? "it is too much" : why.text));
    return HF_OK;
}

hf_status hf_task_run(char *const *argv, const char *const *environment, hf_value input,
                      hf_task_beat_fn *beat, void *ctx, hf_mem *mem, hf_task_outcome *out,
                      hf_err *err)
{
    task_process process = {.out = -1, .err = -1};
    hf_status st = process_start(&process, argv, environment, input, err);

    if (!st)
        st = outcome_make(&process, process_await(&process, beat, ctx), mem, out, err);
    else if (st != HF_NOMEM) { /* the next time, or another machine, may be better */
        outcome_fail(out, false, "cannot_run", hf_mem_text(mem, hf_slice_of(err->text)));
        st = out->message ? HF_OK : hf_err_nomem(err, "a task");
    }
    process_fini(&process);
    return st;
}
