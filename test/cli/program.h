/* program.h: running the holdfast binary as a script does: words in; standard output, standard
   error and exit code back. Each case has a folder and an environment of its own. */
#ifndef HF_TEST_CLI_PROGRAM_H
#define HF_TEST_CLI_PROGRAM_H

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "holdfast/value.h"
#include "lib/suite.h"

#define PROGRAM          HF_BUILD_DIR "/holdfast"
#define RUN(...)         run(NULL, (const char *const[]){PROGRAM, __VA_ARGS__, NULL})
#define ENV(...)         ((const char *const[]){__VA_ARGS__, NULL})
#define RUN_IN(env, ...) run(env, (const char *const[]){PROGRAM, __VA_ARGS__, NULL})

static const char *const verbs[] = {
    "start",   "ls",        "show",      "watch",          "result",  "signal",     "update",
    "query",   "cancel",    "terminate", "repair",         "archive", "pause",      "resume",
    "history", "namespace", "worker",    "serve",          "dev",     "token",      "verify",
    "why",     "doctor",    "backup",    "schema-migrate", "config",  "completion", "help",
    "version", "fork",      "top",       "profile",        "docs",    "view",       "failure",
    "type",    "reset",     "schedule",  "batch",          "workers", "build",      "queue",
    "task"};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]), WORDS_MAX = 20 };

/* What a run gave. Lives until the next run. */
static struct {
    hf_buf out;
    hf_buf err;
} last;

static char scratch[64];
static hf_mem *mem;

static inline void file_read(const char *path, hf_buf *out)
{
    FILE *file = fopen(path, "r");
    char piece[4096];
    size_t len;

    ck_assert_msg(file, "cannot open %s", path);
    hf_buf_clear(out);
    while ((len = fread(piece, 1, sizeof(piece), file)) > 0)
        hf_buf_add(out, piece, len);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert(hf_buf_ok(out));
}

static inline void file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* Changes a store behind the back of everybody. */
static inline void sql_run(const char *path, const char *sql)
{
    sqlite3 *handle = NULL;

    ck_assert_int_eq(sqlite3_open(path, &handle), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(handle));
    (void)sqlite3_close(handle);
}

/* A folder of the case's own, which becomes the working folder. */
static inline void begin(void)
{
    (void)snprintf(scratch, sizeof(scratch), "/tmp/hf_cli_XXXXXX");
    ck_assert(mkdtemp(scratch));
    ck_assert_int_eq(chmod(scratch, 0755), 0);
    ck_assert_int_eq(chdir(scratch), 0);
    mem = hf_mem_new();
    ck_assert(mem);
}

static inline void end(void)
{
    DIR *folder = opendir(scratch);
    struct dirent *entry;

    ck_assert(folder);
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)remove(entry->d_name);
    (void)closedir(folder);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(scratch), 0);
    hf_mem_free(mem);
    hf_buf_fini(&last.out);
    hf_buf_fini(&last.err);
}

/* Starts a program with a small environment; out_fd and err_fd become its streams. */
static inline pid_t start(const char *const *env, const char *const *words, int out_fd, int err_fd)
{
    static const char *const always[] = {"PATH=/usr/bin:/bin", "HOME=.", "TERM=xterm"};
    char *environment[WORDS_MAX] = {NULL};
    char *argv[WORDS_MAX] = {NULL};
    posix_spawn_file_actions_t actions;
    size_t count = 0;
    pid_t pid = 0;

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        environment[count++] = strdup(always[i]);
    for (; env && *env; env++)
        environment[count++] = strdup(*env);
    for (size_t i = 0; words[i]; i++)
        argv[i] = strdup(words[i]);
    ck_assert_int_eq(posix_spawn_file_actions_init(&actions), 0);
    ck_assert_int_eq(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0), 0);
    ck_assert_int_eq(posix_spawn_file_actions_adddup2(&actions, out_fd, 1), 0);
    ck_assert_int_eq(posix_spawn_file_actions_adddup2(&actions, err_fd, 2), 0);
    ck_assert_int_eq(posix_spawnp(&pid, argv[0], &actions, NULL, argv, environment), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < count; i++)
        free(environment[i]);
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    return pid;
}

/* The exit code; a program that a signal ended fails the case. */
static inline int finish(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static inline int run(const char *const *env, const char *const *words)
{
    int out = open(".out", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    int err = open(".err", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    int code;

    ck_assert_int_ge(out, 0);
    ck_assert_int_ge(err, 0);
    code = finish(start(env, words, out, err));
    (void)close(out);
    (void)close(err);
    file_read(".out", &last.out);
    file_read(".err", &last.err);
    return code;
}

static inline bool says(const hf_buf *stream, const char *text)
{
    return strstr(hf_buf_text(stream), text) != NULL;
}

/* Everything on `stream` as one JSON value. */
static inline hf_value json(const hf_buf *stream)
{
    hf_slice text = hf_slice_trim(hf_buf_slice(stream));
    hf_value value = hf_parse_(mem, text.ptr, text.len);

    ck_assert_msg(value, "no JSON: %s", hf_buf_text(stream));
    return value;
}

/* Checks the three lines of a failure and its object: what, why, next, and the code in both. */
static inline void fails_with(int code, const char *status, const char *const *env,
                              const char *const *words)
{
    const char *as_json[WORDS_MAX] = {NULL};
    size_t count = 0;
    hf_value error;

    ck_assert_msg(run(env, words) == code, "wanted %d: %s", code, hf_buf_text(&last.err));
    ck_assert_uint_eq(last.out.len, 0);
    ck_assert(strncmp(hf_buf_text(&last.err), "error: ", 7) == 0);
    for (; words[count]; count++)
        as_json[count] = words[count];
    as_json[count++] = "-o";
    as_json[count] = "json";
    ck_assert_int_eq(run(env, as_json), code);
    error = hf_get(json(&last.err), "error");
    ck_assert_str_eq(hf_str(error, "status", ""), status);
    ck_assert_int_eq(hf_int(error, "exit_code", -1), code);
    ck_assert_str_ne(hf_str(error, "message", ""), "");
    ck_assert(hf_get(error, "next"));
}

#define FAILS(code, status, ...)                                                                   \
    fails_with(code, status, NULL, (const char *const[]){PROGRAM, __VA_ARGS__, NULL})
#define FAILS_IN(code, status, env, ...)                                                           \
    fails_with(code, status, env, (const char *const[]){PROGRAM, __VA_ARGS__, NULL})

#endif
