/* test_worker.c: the verb worker against a real server: any program as an activity, a program that
   is looked after, a whole worker in shell; and what dev leaves in its folder. */
#include <poll.h>
#include <signal.h>

#include "cli/exit.h"
#include "lib/campaign.h"
#include "lib/check_store.h"
#include "holdfast/worker.h"
#include "lib/site.h"

#include "cli/program.h" /* last: its names are short */

static hf_value calls(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 3, .backoff = (const hf_ms[]){1},
                       .backoff_n = 1);
}

static const hf_workflow_def workflows[] = {{.type = "calls", .run = calls}, {0}};
static const hf_app app = {.name = "workers", .workflows = workflows};

static hf_site site;
static char url[64];
static int out_fd;

static void site_begin(hf_engine_kind kind)
{
    begin();
    out_fd = open("talk", O_CREAT | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}});
    hf_site_tokens(&site);
    (void)snprintf(url, sizeof(url), "HF_URL=http://127.0.0.1:%d", hf_server_port(site.server));
}

static void site_end(void)
{
    hf_site_close(&site);
    (void)close(out_fd);
    end();
}

/* A command as the activity "far", until the case stops it. */
static pid_t command_start(const char *program, const char *flag, const char *script)
{
    const char *const words[] = {PROGRAM, "worker", "exec", "--activity", "far",
                                 "--",    program,  flag,   script,       NULL};

    return start(ENV(url, "HF_TOKEN=tok-worker"), words, out_fd, out_fd);
}

static pid_t exec_start(const char *script)
{
    return command_start("sh", "-c", script);
}

static void stop(pid_t pid, int code)
{
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(finish(pid), code);
}

/* Starts a run that calls it, and how that ends. */
static hf_status call(const char *id, hf_value *out, const hf_error **err)
{
    ck_assert_int_eq(hf_start(site.engine, "calls", hf_json_(mem, "{'n': 5}"), .id = id), HF_OK);
    return hf_result(site.engine, id, hf_seconds(40), out, err);
}

/* Waits until a file has so many lines. */
static void lines_await(const char *path, int wanted)
{
    int lines = 0;

    for (int i = 0; i < 1000 && lines < wanted; i++) {
        struct pollfd nothing = {.fd = -1};
        FILE *file = fopen(path, "r");

        lines = 0;
        for (int c = file ? fgetc(file) : EOF; c != EOF; c = fgetc(file))
            lines += c == '\n';
        if (file)
            (void)fclose(file);
        if (lines < wanted)
            (void)poll(&nothing, 1, 20);
    }
    ck_assert_int_ge(lines, wanted);
}

/* JSON in, JSON out, and who it is for in the environment. */
HF_BOTH_ENGINES(a_program_is_an_activity)
{
    const hf_error *failure = NULL;
    hf_value out = NULL;
    pid_t pid;

    site_begin(kind);
    pid =
        exec_start("printf '{\"in\":%s,\"by\":\"%s %s %s\",\"key\":\"%s\"}' \"$(cat)\" "
                   "\"$HF_ACTIVITY\" \"$HF_WORKFLOW_ID\" \"$HF_ATTEMPT\" \"$HF_IDEMPOTENCY_KEY\"");
    ck_assert_int_eq(call("a", &out, &failure), HF_OK);
    ck_assert_int_eq(hf_int(out, "in.n", 0), 5);
    ck_assert_str_eq(hf_str(out, "by", ""), "far a 1");
    ck_assert_uint_eq(strlen(hf_str(out, "key", "")), 26);
    ck_assert_int_eq(call("b", &out, &failure), HF_OK);
    stop(pid, HF_CLI_EXIT_OK);
    site_end();
}

/* Who is stopped says goodbye: nobody waits for it. */
HF_BOTH_ENGINES(n22_a_program_that_is_stopped_deregisters)
{
    const hf_error *failure = NULL;
    hf_value kept = NULL;
    hf_value out = NULL;
    pid_t pid;

    site_begin(kind);
    pid = exec_start("echo 1");
    ck_assert_int_eq(call("a", &out, &failure), HF_OK);
    ck_assert_int_eq(hf_workers_kept(site.engine, 0, mem, &kept), HF_OK);
    ck_assert_uint_eq(hf_len(kept), 1);
    stop(pid, HF_CLI_EXIT_OK);
    ck_assert_int_eq(hf_workers_kept(site.engine, 0, mem, &kept), HF_OK);
    ck_assert_uint_eq(hf_len(kept), 0);
    site_end();
}

/* A failure is tried again with the last line it said, code 100 is not, and output that is no JSON
   is one for good. */
START_TEST(a_program_that_fails)
{
    const hf_error *failure = NULL;
    hf_value out = NULL;
    pid_t pid;

    site_begin(HF_ENGINE_SQLITE);
    pid = exec_start("[ $HF_ATTEMPT = 3 ] || { echo no >&2; exit 1; }; echo '[3]'");
    ck_assert_int_eq(call("a", &out, &failure), HF_OK);
    ck_assert_int_eq(hf_int(out, "0", 0), 3);
    stop(pid, HF_CLI_EXIT_OK);
    pid = exec_start("echo first >&2; echo 'the card is blocked' >&2; exit 100");
    ck_assert_int_eq(call("b", &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "exit_100");
    ck_assert_str_eq(failure->message, "the card is blocked");
    stop(pid, HF_CLI_EXIT_OK);
    pid = exec_start("echo hello");
    ck_assert_int_eq(call("c", &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "bad_output");
    stop(pid, HF_CLI_EXIT_OK);
    pid = exec_start("kill -SEGV $$");
    ck_assert_int_eq(call("d", &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "signal_11");
    stop(pid, HF_CLI_EXIT_OK);
    site_end();
}
END_TEST

/* A result that no server takes, and a program that is gone when its turn comes, are failures of
   the attempt; the worker goes on. */
START_TEST(a_program_that_cannot_work)
{
    const hf_error *failure = NULL;
    hf_value out = NULL;
    pid_t pid;

    site_begin(HF_ENGINE_SQLITE);
    pid = exec_start("printf '\"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '\"'");
    ck_assert_int_eq(call("a", &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "bad_output");
    ck_assert_int_eq(call("b", &out, &failure), HF_ERROR);
    stop(pid, HF_CLI_EXIT_OK);
    file_write("p.sh", "#!/bin/sh\necho 7\n");
    ck_assert_int_eq(chmod("p.sh", 0700), 0);
    pid = command_start("./p.sh", NULL, NULL);
    ck_assert_int_eq(call("c", &out, &failure), HF_OK);
    ck_assert_int_eq(hf_int(out, "", 0), 7);
    ck_assert_int_eq(unlink("p.sh"), 0);
    ck_assert_int_eq(call("d", &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "cannot_run");
    stop(pid, HF_CLI_EXIT_OK);
    site_end();
}
END_TEST

/* A run that is cancelled ends its program and what that started. */
START_TEST(a_program_that_is_not_wanted)
{
    hf_buf number = {0};
    pid_t pid;
    pid_t inner;

    if (hf_campaign_stride(2, 2) > 1)
        return; /* signs of life are five seconds apart */
    site_begin(HF_ENGINE_SQLITE);
    pid = exec_start("sleep 600 & echo $! >inner; wait");
    ck_assert_int_eq(hf_start(site.engine, "calls", hf_json_(mem, "{'n': 5}"), .id = "a"), HF_OK);
    lines_await("inner", 1);
    file_read("inner", &number);
    inner = atoi(hf_buf_text(&number));
    ck_assert_int_eq(hf_cancel(site.engine, "a", "enough"), HF_OK);
    for (int i = 0; i < 3000 && kill(inner, 0) == 0; i++)
        (void)poll(NULL, 0, 20);
    ck_assert_int_ne(kill(inner, 0), 0);
    stop(pid, HF_CLI_EXIT_OK);
    hf_buf_fini(&number);
    site_end();
}
END_TEST

/* What is no command line for it, a program that is not there, and a store instead of a server. */
START_TEST(refuses_what_cannot_work)
{
    begin();
    ck_assert_int_eq(RUN("worker"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(RUN("worker", "exec", "--activity", "a"), HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(RUN("worker", "exec", "--store", "x.db", "--activity", "a", "--", "cat"),
                     HF_CLI_EXIT_USAGE);
    ck_assert_int_eq(RUN("worker", "./nothing"), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(RUN("worker", "exec", "--activity", "a", "--", "./nothing"),
                     HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(RUN("worker", "exec", "--activity", "a", "--", "no-such-command"),
                     HF_CLI_EXIT_NOTFOUND);
    end();
}
END_TEST

/* A worker that is killed is started again at once, with address and credential, and ends with the
   one who looks after it. */
START_TEST(a_killed_worker_is_started_again)
{
    hf_buf pids = {0};
    const char *newest;
    pid_t pid;
    int fd;

    begin();
    fd = open("talk", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    file_write("w.sh", "#!/bin/sh\necho \"$HF_URL $HF_TOKEN $1\" >> said\necho $$ >> pids\n"
                       "exec sleep 60\n");
    ck_assert_int_eq(chmod("w.sh", 0700), 0);
    pid = start(ENV("HF_TOKEN=secret"),
                (const char *const[]){PROGRAM, "worker", "./w.sh", "two", "--url",
                                      "http://127.0.0.1:9", NULL},
                fd, fd);
    for (int starts = 1; starts <= 3; starts++) {
        lines_await("pids", starts);
        file_read("pids", &pids);
        newest = hf_buf_text(&pids);
        for (int line = 1; line < starts; line++)
            newest = strchr(newest, '\n') + 1;
        ck_assert_int_eq(kill(atoi(newest), SIGKILL), 0);
    }
    lines_await("pids", 4);
    file_read("said", &pids);
    ck_assert_int_eq(strncmp(hf_buf_text(&pids), "http://127.0.0.1:9 secret two\n", 30), 0);
    stop(pid, HF_CLI_EXIT_OK);
    hf_buf_fini(&pids);
    (void)close(fd);
    end();
}
END_TEST

/* The example in shell: workflow and activity, over nothing but curl. */
START_TEST(a_worker_in_shell)
{
    const char *const words[] = {HF_TEST_DIR "/../examples/worker.sh", NULL};
    const hf_error *failure = NULL;
    hf_value out = NULL;
    pid_t pid;
    int status;

    site_begin(HF_ENGINE_SQLITE);
    pid = start(ENV(url, "HF_TOKEN=tok-worker"), words, out_fd, out_fd);
    ck_assert_int_eq(
        hf_start(site.engine, "announce", hf_json_(mem, "{'text': 'hello'}"), .id = "a"), HF_OK);
    ck_assert_int_eq(hf_result(site.engine, "a", hf_seconds(40), &out, &failure), HF_OK);
    ck_assert_str_eq(hf_str(out, "said", ""), "HELLO");
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    site_end();
}
END_TEST

/* While dev serves, verbs in its folder and below need neither address nor token; what it leaves
   there only its owner can read, and it takes it away when it ends. */
START_TEST(verbs_find_dev)
{
    struct stat file;
    int ends[2];
    char line[512] = "";
    pid_t pid;

    begin();
    ck_assert_int_eq(pipe(ends), 0);
    pid = start(NULL, (const char *const[]){PROGRAM, "dev", "--listen", "127.0.0.1:0", NULL},
                ends[1], 2);
    (void)close(ends[1]);
    ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
    for (int i = 0; i < 500 && access(".holdfast/server.json", F_OK); i++)
        (void)poll(NULL, 0, 20);
    ck_assert_int_eq(stat(".holdfast/server.json", &file), 0);
    ck_assert_int_eq(file.st_mode & 0777, 0600);
    ck_assert_int_eq(RUN("start", "anything", "--id", "x"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(mkdir("below", 0700), 0);
    ck_assert_int_eq(chdir("below"), 0);
    ck_assert_int_eq(RUN("ls", "-o", "name"), HF_CLI_EXIT_OK);
    ck_assert_str_eq(hf_buf_text(&last.out), "x\n");
    ck_assert_int_eq(system("rm -f .out .err"), 0);
    ck_assert_int_eq(chdir(".."), 0);
    stop(pid, HF_CLI_EXIT_OK);
    (void)close(ends[0]);
    ck_assert_int_ne(access(".holdfast/server.json", F_OK), 0);
    ck_assert_int_eq(RUN("ls", "-o", "name"), HF_CLI_EXIT_OK); /* from its store now */
    ck_assert_str_eq(hf_buf_text(&last.out), "x\n");
    ck_assert_int_eq(RUN("verify", ".holdfast/dev.db"), HF_CLI_EXIT_OK);
    ck_assert_int_eq(system("rm -r .holdfast below"), 0);
    end();
}
END_TEST

HF_PG_SUITE_MAIN("cli/worker", HF_BOTH_SLOW(n22_a_program_that_is_stopped_deregisters, 60),
                 HF_BOTH(a_program_is_an_activity), {a_program_that_fails, 0},
                 {a_program_that_cannot_work, 0}, {a_program_that_is_not_wanted, 120},
                 {refuses_what_cannot_work, 0}, {a_killed_worker_is_started_again, 0},
                 {a_worker_in_shell, 0}, {verbs_find_dev, 0})
