/* test_crash.c: processes of workers behind a server that die of the code they run. A child process
   begins them again and again, as whoever looks after them would; what died is told by the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/site.h"

enum { STARTS_MAX = 12 };

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

static const hf_workflow_def workflows[] = {{.type = "calls", .run = calls}, {0}};
static const hf_activity_def activities[] = {{.name = "murder", .run = murder}, {0}};
static const hf_app served = {.name = "crash", .workflows = workflows};
static const hf_app worker = {.name = "crash-worker", .activities = activities};

/* The worker's own process. */
static void worker_run(const char *url)
{
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    if (hf_open(url, &worker, &d))
        _exit(3);
    (void)hf_result(d, "a", hf_seconds(60), &out, &e);
    _exit(0);
}

/* Begins it again whenever it dies. Made while there is one thread only; hears later where the
   server is, and where dead processes leave their traces. */
static pid_t keeper_start(int *out_fd)
{
    int ends[2];
    pid_t keeper;

    ck_assert_int_eq(pipe(ends), 0);
    keeper = fork();
    ck_assert_int_ge(keeper, 0);
    if (keeper == 0) {
        char said[1024] = "";
        char *url;
        int status = 1;

        (void)close(ends[1]);
        if (read(ends[0], said, sizeof(said) - 1) <= 0)
            _exit(4);
        url = strchr(said, '\n');
        if (!url)
            _exit(5);
        *url++ = '\0';
        (void)setenv("XDG_STATE_HOME", said, 1);
        for (int i = 0; i < STARTS_MAX && status; i++) {
            pid_t child = fork();

            if (child == 0)
                worker_run(url);
            (void)waitpid(child, &status, 0);
        }
        _exit(status ? 6 : 0);
    }
    (void)close(ends[0]);
    *out_fd = ends[1];
    return keeper;
}

/* An activity that ends its process is quarantined after five crashes, which do not use up its
   attempts: as in an embedded engine, and not without end. */
HF_BOTH_ENGINES(n04_an_activity_that_kills_its_worker_is_quarantined)
{
    hf_site site;
    const hf_error *e = NULL;
    hf_value out = NULL;
    char said[1024];
    int fd = -1;
    pid_t keeper = keeper_start(&fd);
    int status = 0;
    int len;

    hf_site_open(&site, kind, &served, (hf_server_options){0});
    ck_assert_int_eq(hf_start(site.engine, "calls", NULL, .id = "a"), HF_OK);
    len = snprintf(said, sizeof(said), "%s\nhttp://127.0.0.1:%d", hf_test_place_folder(site.place),
                   hf_server_port(site.server));
    ck_assert_int_eq(write(fd, said, (size_t)len), len);
    (void)close(fd);
    ck_assert_int_ne(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->type, "quarantined");
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityStarted"), 5);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityRetryScheduled"), 0);
    ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
    ck_assert_int_eq(status, 0);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/crash",
                 HF_BOTH_SLOW(n04_an_activity_that_kills_its_worker_is_quarantined, 120))
