/* test_crash.c: processes of workers behind a server that die of the code they run. A child process
   begins them again and again, as whoever looks after them would; what died is told by the next. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/nap.h"
#include "lib/site.h"

enum { CRASH_LIMIT = 5, STARTS_MAX = 12, GIVEN_UP = 100 };

/* Whether the code is still as bad as it was: somebody may have mended it. */
static bool is_bad(void)
{
    char path[1024];

    (void)snprintf(path, sizeof(path), "%s/bad", getenv("XDG_STATE_HOME"));
    return access(path, F_OK) == 0;
}

static void code_set(const hf_site *site, bool bad)
{
    char path[1024];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/bad", hf_test_place_folder(site->place));
    if (!bad) {
        ck_assert_int_eq(unlink(path), 0);
        return;
    }
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file), 0);
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

/* Dies where it goes on, not where it begins. */
static hf_value dies(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_sleep(w, 1);
    if (is_bad())
        (void)raise(SIGSEGV);
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

static hf_outcome fatal(hf_step *s)
{
    if (is_bad())
        (void)raise(SIGSEGV);
    return hf_done(s, hf_json(s, "%d", hf_step_attempt(s)));
}

static hf_outcome first(hf_step *s)
{
    return hf_next(s, "fatal", NULL);
}

static const hf_workflow_def calling[] = {{.type = "calls", .run = calls}, {0}};
static const hf_activity_def activities[] = {{.name = "murder", .run = murder}, {0}};
static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def dying[] = {{.type = "dies", .run = dies},
                                        {.type = "waits", .run = waits, .signals = signals},
                                        {.type = "lives", .run = lives},
                                        {0}};
static const hf_step_def steps[] = {{"first", first}, {"fatal", fatal}, {0}};
static const hf_machine_def machines[] = {{"machine", .initial = "first", .steps = steps}, {0}};

static const hf_app caller = {.name = "crash", .workflows = calling};
static const hf_app nothing = {.name = "crash"};
static const hf_app act_worker = {.name = "crash-worker", .activities = activities};
static const hf_app run_worker = {.name = "crash-worker", .workflows = dying, .machines = machines};

/* Is killed while it has nothing to do. */
static void worker_idle(hf_engine *d)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    if (hf_result(d, "a", 300, &out, &e) != HF_TIMEOUT)
        _exit(0);
    (void)raise(SIGKILL);
}

/* The worker's own process. The first one starts the run, when the server knows what it brings. */
static void worker_run(const char *url, const hf_app *app, const char *type)
{
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;

    if (hf_open(url, app, &d))
        _exit(3);
    (void)!hf_start(d, type, NULL, .id = "a");
    if (strcmp(type, "waits") == 0)
        worker_idle(d);
    _exit(hf_result(d, "a", hf_seconds(60), &out, &e) == HF_TIMEOUT ? 4 : 0);
}

/* Begins it again whenever it dies. Made while there is one thread only; hears later where the
   server is, and where dead processes leave their traces. Its own end says how often it did. */
static pid_t keeper_start(const hf_app *app, const char *type, int *out_fd)
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
        int died = -1;

        (void)close(ends[1]);
        if (read(ends[0], said, sizeof(said) - 1) <= 0)
            _exit(GIVEN_UP);
        url = strchr(said, '\n');
        if (!url)
            _exit(GIVEN_UP);
        *url++ = '\0';
        (void)setenv("XDG_STATE_HOME", said, 1);
        while (status && ++died < STARTS_MAX) {
            pid_t child = fork();

            if (child == 0)
                worker_run(url, app, type);
            (void)waitpid(child, &status, 0);
        }
        _exit(status ? GIVEN_UP : died);
    }
    (void)close(ends[0]);
    *out_fd = ends[1];
    return keeper;
}

static void keeper_tell(const hf_site *site, int fd)
{
    char said[1024];
    int len = snprintf(said, sizeof(said), "%s\nhttp://127.0.0.1:%d",
                       hf_test_place_folder(site->place), hf_server_port(site->server));

    ck_assert_int_eq(write(fd, said, (size_t)len), len);
    (void)close(fd);
}

/* How often the worker died. */
static int keeper_end(pid_t keeper)
{
    int status = 0;

    ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static hf_value run_await(hf_site *site, const char *path, const char *member, const char *wanted)
{
    hf_site_answer answer = {0};

    for (int i = 0; i < 600; i++) {
        answer = hf_site_ask(site, "GET", path, NULL, NULL);
        if (answer.status == 200 && strcmp(hf_str(answer.body, member, ""), wanted) == 0)
            return answer.body;
        hf_nap_ms(100);
    }
    ck_abort_msg("%s of %s was never %s: %s", member, path, wanted, answer.text);
}

/* An activity that ends its process is quarantined after five crashes, which do not use up its
   attempts: as in an embedded engine, and not without end. */
HF_BOTH_ENGINES(n04_an_activity_that_kills_its_worker_is_quarantined)
{
    hf_site site;
    const hf_error *e = NULL;
    hf_value out = NULL;
    int fd = -1;
    pid_t keeper = keeper_start(&act_worker, "calls", &fd);

    hf_site_open(&site, kind, &caller, (hf_server_options){0});
    keeper_tell(&site, fd);
    (void)run_await(&site, "/api/workflows/a", "status", "failed");
    ck_assert_int_ne(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->type, "quarantined");
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityStarted"), CRASH_LIMIT);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityRetryScheduled"), 0);
    ck_assert_int_eq(keeper_end(keeper), CRASH_LIMIT);
    hf_site_close(&site);
}

static void quarantine_await(hf_site *site)
{
    (void)run_await(site, "/console/api/runs/a/why", "why.code", "quarantined");
}

/* Code that kills the process of its worker is put aside after five crashes, as in an embedded
   engine: everybody is told so, the worker goes on with other runs, and whoever has mended the code
   has the run go on. */
static void quarantine_and_repair(hf_engine_kind kind, const char *type, const char *result)
{
    hf_site site;
    hf_value out = NULL;
    const hf_error *e = NULL;
    int fd = -1;
    pid_t keeper = keeper_start(&run_worker, type, &fd);

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    code_set(&site, true);
    keeper_tell(&site, fd);
    quarantine_await(&site);
    ck_assert_int_eq(hf_start(site.engine, "lives", NULL, .id = "b"), HF_OK);
    ck_assert_int_eq(hf_result(site.engine, "b", hf_seconds(60), &out, &e), HF_OK);
    quarantine_await(&site);
    ck_assert_str_eq(hf_str(hf_site_expect(&site, "GET", "/console/api/attention", NULL, 200).body,
                            "groups.0.code", ""),
                     "quarantined");
    code_set(&site, false);
    ck_assert_str_eq(
        hf_str(hf_site_expect(&site, "POST", "/api/workflows/a/repair", "{}", 200).body, "outcome",
               ""),
        "repair_dispatched");
    ck_assert_int_eq(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_str_eq(hf_text(site.mem, out), result);
    ck_assert_int_eq(keeper_end(keeper), CRASH_LIMIT);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "RunQuarantined"), 1);
    hf_site_close(&site);
}

HF_BOTH_ENGINES(n04_a_workflow_that_kills_its_worker_is_quarantined)
{
    quarantine_and_repair(kind, "dies", "\"mended\"");
}

HF_BOTH_ENGINES(n04_a_step_that_kills_its_worker_is_quarantined)
{
    quarantine_and_repair(kind, "machine", "1");
}

/* A process that is killed while no code of the run is under way proves nothing against it. */
HF_BOTH_ENGINES(n04_a_worker_that_is_killed_while_it_waits_blames_nobody)
{
    hf_site site;
    int fd = -1;
    pid_t keeper = keeper_start(&run_worker, "waits", &fd);

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    keeper_tell(&site, fd);
    ck_assert_int_eq(keeper_end(keeper), GIVEN_UP);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "RunQuarantined"), 0);
    (void)run_await(&site, "/console/api/runs/a/why", "why.code", "waiting_for_signal");
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/crash",
                 HF_BOTH_SLOW(n04_an_activity_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_workflow_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_step_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_worker_that_is_killed_while_it_waits_blames_nobody, 120))
