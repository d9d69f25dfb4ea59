/* mortal.c: see mortal.h. */
#include "lib/mortal.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/holdfast.h"

enum { STARTS_MAX = 12, SAID_BYTES = 2048, IDLE_MS = 300 };

/* ---- the program */

static void mended_path(const char *folder, char out[SAID_BYTES])
{
    (void)snprintf(out, SAID_BYTES, "%s/mended", folder);
}

static void die(void)
{
    char path[SAID_BYTES];

    mended_path(getenv("XDG_STATE_HOME"), path);
    if (access(path, F_OK) != 0)
        (void)raise(SIGSEGV);
}

static hf_value murder(hf_act *a, hf_value in)
{
    (void)a;
    (void)in;
    abort();
}

static hf_value calls(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "murder", in, .max_attempts = 3);
}

/* Where it goes on, not where it begins. */
static hf_value dies(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, 1);
    die();
    return hf_json(w, "'mended'");
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

static hf_value lives(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

static hf_outcome first(hf_step *s)
{
    return hf_next(s, "fatal", NULL);
}

static hf_outcome fatal(hf_step *s)
{
    die();
    return hf_done(s, hf_json(s, "%d", hf_step_attempt(s)));
}

static hf_outcome stray(hf_step *s)
{
    if (hf_step_attempt(s) == 1)
        (void)raise(SIGKILL);
    return hf_done(s, hf_json(s, "%d", hf_step_attempt(s)));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "calls", .run = calls},
                                            {.type = "dies", .run = dies},
                                            {.type = "waits", .run = waits, .signals = signals},
                                            {.type = "lives", .run = lives},
                                            {0}};
static const hf_activity_def activities[] = {{.name = "murder", .run = murder}, {0}};
static const hf_step_def steps[] = {{"first", first}, {"fatal", fatal}, {0}};
static const hf_step_def stray_steps[] = {{"stray", stray}, {0}};
static const hf_machine_def machines[] = {{"machine", .initial = "first", .steps = steps},
                                          {"strays", .initial = "stray", .steps = stray_steps},
                                          {0}};
static const hf_app app = {
    .name = "mortal", .workflows = workflows, .activities = activities, .machines = machines};

/* ---- its processes */

static void program_run(const char *address, const char *type, const char *id)
{
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;
    bool idle = strcmp(type, "waits") == 0;

    if (hf_open(address, &app, &d))
        _exit(3);
    (void)!hf_start(d, type, NULL, .id = id);
    if (hf_result(d, id, idle ? IDLE_MS : hf_seconds(60), &out, &e) != HF_TIMEOUT)
        _exit(0);
    if (idle)
        (void)raise(SIGKILL);
    _exit(4);
}

/* The next of the lines; NULL: there is none. */
static char *line_take(char **io_text)
{
    char *line = *io_text;
    char *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = '\0';
    *io_text = end + 1;
    return line;
}

/* Where the next process leaves its traces. */
static void folder_set(const char *folder, const char *type, int number)
{
    char own[SAID_BYTES];

    (void)snprintf(own, sizeof(own), "%s/%d", folder, number);
    (void)setenv("XDG_STATE_HOME", strcmp(type, "strays") == 0 ? own : folder, 1);
}

static void keeper_run(int fd, const char *type)
{
    char said[SAID_BYTES] = "";
    char *rest = said;
    const char *folder;
    const char *address;
    const char *id;
    int status = 1;
    int died = -1;

    if (read(fd, said, sizeof(said) - 1) <= 0)
        _exit(HF_MORTAL_GIVEN_UP);
    folder = line_take(&rest);
    address = line_take(&rest);
    id = line_take(&rest);
    if (!folder || !address || !id)
        _exit(HF_MORTAL_GIVEN_UP);
    while (status && ++died < STARTS_MAX) {
        pid_t child;

        folder_set(folder, type, died);
        child = fork();
        if (child == 0)
            program_run(address, type, id);
        (void)waitpid(child, &status, 0);
    }
    _exit(status ? HF_MORTAL_GIVEN_UP : died);
}

hf_mortal hf_mortal_new(const char *type)
{
    hf_mortal mortal;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    mortal.fd = ends[1];
    mortal.keeper = fork();
    ck_assert_int_ge(mortal.keeper, 0);
    if (mortal.keeper == 0) {
        (void)close(ends[1]);
        keeper_run(ends[0], type);
    }
    (void)close(ends[0]);
    return mortal;
}

void hf_mortal_begin(const hf_mortal *mortal, const char *folder, const char *address,
                     const char *id)
{
    char said[SAID_BYTES];
    int len = snprintf(said, sizeof(said), "%s\n%s\n%s\n", folder, address, id);

    ck_assert_int_lt(len, SAID_BYTES);
    ck_assert_int_eq(write(mortal->fd, said, (size_t)len), len);
    (void)close(mortal->fd);
}

void hf_mortal_mend(const char *folder)
{
    char path[SAID_BYTES];
    FILE *file;

    mended_path(folder, path);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file), 0);
}

int hf_mortal_end(const hf_mortal *mortal)
{
    int status = 0;

    ck_assert_int_eq(waitpid(mortal->keeper, &status, 0), mortal->keeper);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}
