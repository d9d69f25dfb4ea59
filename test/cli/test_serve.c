/* test_serve.c: the verbs serve, dev and token as processes: what they print, how they stop, what
   they refuse, and that a worker which ends is started again. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/program.h"
#include "lib/wire.h"

/* A server under test. */
typedef struct process {
    pid_t pid;
    int out;
    int port;
    char token[80];
} process;

/* Reads lines until one begins with `start`; the rest of it goes to `out_rest`. */
static void line_await(int fd, const char *start, char *out_rest, size_t room)
{
    char line[1024];

    for (;;) {
        size_t len = 0;

        while (len < sizeof(line) - 1) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};

            ck_assert_msg(poll(&wait, 1, 20000) > 0, "no line that begins with %s", start);
            ck_assert_msg(read(fd, line + len, 1) == 1, "no line that begins with %s", start);
            if (line[len] == '\n')
                break;
            len++;
        }
        line[len] = '\0';
        if (strncmp(line, start, strlen(start)) == 0) {
            (void)snprintf(out_rest, room, "%s", line + strlen(start));
            return;
        }
    }
}

/* On a store that has a token already. */
static process serve_again(char *const *argv, const char *token)
{
    process self = {0};
    char text[256];
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    self.pid = fork();
    if (self.pid == 0) {
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        (void)execv(HF_BUILD_DIR "/holdfast", argv);
        _exit(127);
    }
    (void)close(ends[1]);
    self.out = ends[0];
    line_await(self.out, "serving ", text, sizeof(text));
    self.port = atoi(strrchr(text, ':') + 1);
    (void)snprintf(self.token, sizeof(self.token), "%s", token);
    return self;
}

static process serve_start(char *const *argv)
{
    process self = serve_again(argv, "");

    line_await(self.out, "admin token, shown only now: ", self.token, sizeof(self.token));
    return self;
}

/* dev gives a link to the console instead of a token. */
static process dev_start(char *const *argv)
{
    char link[256];
    process self = serve_again(argv, "");

    line_await(self.out, "console, one login within ten minutes: http", link, sizeof(link));
    ck_assert_ptr_nonnull(strstr(link, "/console/login?link="));
    (void)snprintf(self.token, sizeof(self.token), "%.64s", strstr(link, "link=") + 5);
    return self;
}

/* Tells it to stop; its exit status. */
static int serve_stop(process *self)
{
    int status = 0;

    ck_assert_int_eq(kill(self->pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(self->pid, &status, 0), self->pid);
    (void)close(self->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int ask(const process *self, const char *path)
{
    hf_buf request = {0};
    int status;

    hf_buf_add_format(&request,
                      "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                      "X-Durable-Workflow-Control-Plane-Version: 2\r\nConnection: close\r\n\r\n",
                      path, self->token);
    status = hf_wire_ask(self->port, hf_buf_slice(&request), false);
    hf_buf_fini(&request);
    return status;
}

/* Whether the process has given up what serving does not need. */
static bool is_confined(pid_t pid)
{
    char path[64];
    char line[256];
    bool privileges = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        privileges |= strcmp(line, "NoNewPrivs:\t1\n") == 0;
    if (file)
        (void)fclose(file);
    return privileges;
}

/* It serves, with the token it printed and with no other; a second one finds the store owned, or
   the port taken and is told how to choose another; a signal ends it well, and the token is printed
   no second time. */
START_TEST(serves_until_told_to_stop)
{
    char *argv[] = {"holdfast", "serve", "s.db", "--listen", "127.0.0.1:0", NULL};
    process nobody = {.token = "hf_nobody"};
    char taken[32];
    process self;

    begin();
    self = serve_start(argv);
    (void)snprintf(taken, sizeof(taken), "127.0.0.1:%u", (unsigned)self.port);
    ck_assert_int_eq(ask(&self, "/api/namespaces"), 200);
    ck_assert_int_eq(ask(&self, "/api/tokens"), 200);
    nobody.port = self.port;
    ck_assert_int_eq(ask(&nobody, "/api/namespaces"), 401);
    ck_assert_int_eq(ask(&nobody, "/api/cluster/info"), 401);
    ck_assert(is_confined(self.pid));
    ck_assert_int_eq(RUN("serve", "s.db", "--listen", "127.0.0.1:0"), 14);
    ck_assert_int_eq(RUN("serve", "other.db", "--listen", taken), 7);
    ck_assert(says(&last.err, "holdfast serve --listen 127.0.0.1:0"));
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_int_eq(RUN("token", "ls", "--store", "s.db", "--json"), 0);
    ck_assert_uint_eq(hf_len(hf_get(json(&last.out), "tokens")), 1);
    ck_assert(!says(&last.out, self.token));
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    end();
}
END_TEST

/* A store behind a link is served where it is: the folder that may be written is the store's. */
START_TEST(serves_through_a_link)
{
    char *argv[] = {"holdfast", "serve", "links/s.db", "--listen", "127.0.0.1:0", NULL};
    process self;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "s.db"), 0);
    ck_assert_int_eq(mkdir("links", 0700), 0);
    ck_assert_int_eq(symlink("../s.db", "links/s.db"), 0);
    self = serve_start(argv);
    ck_assert_int_eq(ask(&self, "/api/namespaces"), 200);
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    ck_assert_int_eq(unlink("links/s.db"), 0);
    ck_assert_int_eq(rmdir("links"), 0);
    end();
}
END_TEST

/* Under the sandbox that serve has by default payloads are kept by reference, in folders that it
   makes itself and clears away again. */
START_TEST(n10_keeps_payloads_under_the_sandbox)
{
    static const char body[] = "{\"driver\":\"local\"}";
    char *argv[] = {"holdfast",    "serve",     "s.db", "--listen",
                    "127.0.0.1:0", "--storage", "kept", NULL};
    hf_buf request = {0};
    process self;

    begin();
    ck_assert_int_eq(mkdir("kept", 0700), 0);
    self = serve_start(argv);
    ck_assert(is_confined(self.pid));
    hf_buf_add_format(&request,
                      "POST /api/storage/test HTTP/1.1\r\nHost: localhost\r\n"
                      "Authorization: Bearer %s\r\nX-Durable-Workflow-Control-Plane-Version: 2\r\n"
                      "Content-Type: application/json\r\nContent-Length: %zu\r\n"
                      "Connection: close\r\n\r\n%s",
                      self.token, strlen(body), body);
    ck_assert_int_eq(hf_wire_ask(self.port, hf_buf_slice(&request), false), 200);
    hf_buf_fini(&request);
    ck_assert_int_eq(access("kept/default/avro", F_OK), 0);
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    ck_assert_int_eq(system("rm -r kept"), 0);
    end();
}
END_TEST

/* What would be unprotected, or cannot be, is refused before anything listens. */
START_TEST(refuses_to_be_exposed)
{
    begin();
    ck_assert_int_eq(RUN("serve", "s.db", "--listen", "0.0.0.0:0", "--auth", "none"), 4);
    ck_assert(says(&last.err, "--auth token"));
    ck_assert_int_eq(RUN("serve", "s.db", "--listen", "0.0.0.0:0"), 4);
    ck_assert(says(&last.err, "--behind-proxy"));
    ck_assert_int_eq(RUN("serve", "s.db", "--insecure-no-auth"), 4);
    ck_assert(says(&last.err, "HF_INSECURE=yes"));
    ck_assert_int_eq(RUN("serve", "s.db", "--auth", "signature", "--listen", "127.0.0.1:0"), 2);
    ck_assert_int_eq(RUN("serve", "s.db", "--tls-cert", "x"), 2);
    ck_assert_int_eq(RUN("serve", "s.db", "--listen", "127.0.0.1"), 2);
    end();
}
END_TEST

/* Settings of the engine are passed on before work begins, and what cannot be one is refused. */
START_TEST(settings_of_the_engine)
{
    const char *const wrong[] = {"node_lease_ms=soon",
                                 "node_lease_ms=1",
                                 "colour=red",
                                 "node_lease_ms",
                                 "node_lease_ms=5000,colour=red",
                                 ""};
    char *argv[] = {"holdfast",    "serve", "s.db",
                    "--auth",      "none",  "--listen",
                    "127.0.0.1:0", "--set", "node_lease_ms=5000,payload_size_bytes=100",
                    NULL};
    char url[64];
    char big[256] = "text=";
    process self;

    begin();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_int_eq(RUN("serve", "s.db", "--listen", "127.0.0.1:0", "--set", wrong[i]), 2);
    ck_assert(says(&last.err, "--set is NAME=VALUE"));
    self = serve_again(argv, "");
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", self.port);
    ck_assert_int_eq(RUN("start", "job", "text=small", "--url", url), 0);
    memset(big + strlen(big), 'a', 200);
    ck_assert_int_eq(RUN("start", "job", big, "--url", url), 2);
    ck_assert_int_eq(serve_stop(&self), 0);
    end();
}
END_TEST

/* Tokens are made, listed and revoked without a server. */
START_TEST(tokens_without_a_server)
{
    char id[64];

    begin();
    ck_assert_int_eq(RUN("token", "create", "--store", "s.db"), 2);
    ck_assert_int_eq(
        RUN("token", "create", "--store", "s.db", "--role", "read", "--label", "me", "--json"), 0);
    (void)snprintf(id, sizeof(id), "%s", hf_str(json(&last.out), "id", ""));
    ck_assert_int_eq(RUN("token", "revoke", id, "--store", "s.db"), 0);
    ck_assert_int_eq(RUN("token", "revoke", id, "--store", "s.db"), 5);
    ck_assert_int_eq(RUN("token", "revoke", "--store", "s.db"), 2);
    ck_assert_int_eq(RUN("token", "ls", "--store", "s.db"), 0);
    ck_assert(says(&last.out, "me"));
    ck_assert_int_eq(RUN("token", "burn", "--store", "s.db"), 2);
    end();
}
END_TEST

/* dev keeps its data in a folder of its own, hands the worker an address and a token, and starts it
   again when it ends; the worker ends with it. */
START_TEST(dev_looks_after_a_worker)
{
    char *argv[] = {"holdfast", "dev", "./worker", "--listen", "127.0.0.1:0", NULL};
    process self;
    char counts[256] = "";
    char path[128];

    begin();
    file_write("worker", "#!/bin/sh\necho \"$HF_URL $HF_TOKEN\" >> starts\nexit 3\n");
    ck_assert_int_eq(chmod("worker", 0700), 0);
    self = dev_start(argv);
    (void)snprintf(path, sizeof(path), "/console/login?link=%s", self.token);
    ck_assert_int_eq(ask(&self, path), 302);
    for (int i = 0; i < 1000 && !strchr(counts, '\n'); i++) {
        struct pollfd nothing = {.fd = -1};
        FILE *file = fopen("starts", "r");
        size_t got = 0;

        if (file) {
            got = fread(counts, 1, sizeof(counts) - 1, file);
            (void)fclose(file);
        }
        counts[got] = '\0';
        if (got && strchr(counts, '\n') && strchr(strchr(counts, '\n') + 1, '\n'))
            break;
        counts[0] = '\0';
        (void)poll(&nothing, 1, 20);
    }
    ck_assert_ptr_nonnull(strstr(counts, "http://127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(counts, " hf_"));
    ck_assert_int_eq(access(".holdfast/dev.db", F_OK), 0);
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_int_eq(RUN("verify", ".holdfast/dev.db"), 0);
    ck_assert_int_eq(system("rm -r .holdfast"), 0);
    end();
}
END_TEST

/* Sends a request, and does not wait. */
static int post(const process *self, const char *path, const char *body)
{
    int fd = hf_wire_connect(self->port);
    hf_buf request = {0};

    hf_buf_add_format(&request,
                      "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                      "X-Durable-Workflow-Control-Plane-Version: 2\r\n"
                      "X-Durable-Workflow-Protocol-Version: 1.13\r\n"
                      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                      path, self->token, strlen(body), body);
    ck_assert(hf_wire_send(fd, hf_buf_slice(&request)));
    hf_buf_fini(&request);
    return fd;
}

/* Its answer, in the case's memory. */
static hf_value answer(int fd, int status)
{
    hf_wire_reply reply = {0};
    hf_value value;

    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_msg(reply.status == status, "%d: %s", reply.status, hf_buf_text(&reply.body));
    value = hf_parse_(mem, hf_buf_text(&reply.body), reply.body.len);
    hf_wire_reply_fini(&reply);
    (void)close(fd);
    return value;
}

/* What the service manager was told next; waits for it. */
static const char *heard(int fd)
{
    static char text[64];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    ssize_t got;

    ck_assert_msg(poll(&wait, 1, 60000) > 0, "nothing was said");
    got = recv(fd, text, sizeof(text) - 1, 0);
    ck_assert_int_gt(got, 0);
    text[got] = '\0';
    return text;
}

/* The service manager hears when it is ready and when it stops, and in between that it lives if it
   wants to; what it wants of another process is nothing to this one. */
START_TEST(tells_the_service_manager)
{
    static const char *const watchdogs[][2] = {
        {NULL, NULL}, {"200000", NULL}, {"200000", "1"}, {"soon", NULL}};
    char *argv[] = {"holdfast", "serve", "s.db", "--auth", "none", "--listen", "127.0.0.1:0", NULL};
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "notify"};
    char path[512];
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    begin();
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_ptr_nonnull(getcwd(path, sizeof(path) - 8));
    (void)strncat(path, "/notify", 8);
    ck_assert_int_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
    for (size_t i = 0; i < sizeof(watchdogs) / sizeof(watchdogs[0]); i++) {
        const char *said;
        process self;

        if (watchdogs[i][0])
            ck_assert_int_eq(setenv("WATCHDOG_USEC", watchdogs[i][0], 1), 0);
        if (watchdogs[i][1])
            ck_assert_int_eq(setenv("WATCHDOG_PID", watchdogs[i][1], 1), 0);
        self = serve_again(argv, "");
        ck_assert_str_eq(heard(fd), "READY=1");
        for (int beats = 0; i == 1 && beats < 3; beats++)
            ck_assert_str_eq(heard(fd), "WATCHDOG=1");
        ck_assert_int_eq(serve_stop(&self), 0);
        do
            said = heard(fd);
        while (i == 1 && strcmp(said, "WATCHDOG=1") == 0);
        ck_assert_str_eq(said, "STOPPING=1");
        (void)unsetenv("WATCHDOG_USEC");
        (void)unsetenv("WATCHDOG_PID");
    }
    (void)unsetenv("NOTIFY_SOCKET");
    (void)close(fd);
    end();
}
END_TEST

/* A view that a newer program wrote is shown and not used: a store and a server say the same. */
START_TEST(views_of_newer_programs_are_refused)
{
    char *argv[] = {"holdfast", "serve", "s.db", "--auth", "none", "--listen", "127.0.0.1:0", NULL};
    static const char said[] = "the view mine was written for version 9 of the filters, and this "
                               "program knows versions up to 6";
    char url[64];
    const char *id;
    process self;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "s.db"), 0);
    ck_assert_int_eq(RUN("view", "save", "mine", "type=any", "--store", "s.db", "--json"), 0);
    id = hf_str(json(&last.out), "id", "");
    sql_run("s.db", "UPDATE saved_view SET filter_version = 9");
    FAILS(HF_CLI_EXIT_NEWER, "newer_format", "ls", "--view", id, "--store", "s.db");
    ck_assert(says(&last.err, said));
    ck_assert_int_eq(RUN("view", "ls", "--store", "s.db", "--json"), 0);
    ck_assert(says(&last.out, "\"filter_version_status\":\"unsupported\""));
    self = serve_again(argv, "");
    (void)snprintf(url, sizeof(url), "HF_URL=http://127.0.0.1:%d", self.port);
    FAILS_IN(HF_CLI_EXIT_NEWER, "newer_format", ENV(url), "ls", "--view", id);
    ck_assert(says(&last.err, said));
    ck_assert_str_eq(hf_str(answer(post(&self, "/api/views",
                                        "{\"name\":\"n\",\"bucket\":\"running\","
                                        "\"filter_version\":9,\"filters\":{}}"),
                                   422),
                            "reason", ""),
                     "newer_format");
    ck_assert_int_eq(serve_stop(&self), 0);
    end();
}
END_TEST

/* Somebody else writes to the store: nothing more can be promised, so it says so and ends with a
   failure that its manager sees, and what it had accepted is there. */
START_TEST(ends_when_it_cannot_write)
{
    char *argv[] = {"holdfast", "serve", "s.db", "--auth", "none", "--listen", "127.0.0.1:0", NULL};
    process self;
    int status = 0;

    begin();
    self = serve_again(argv, "");
    (void)answer(post(&self, "/api/workflows", "{\"workflow_type\":\"t\",\"workflow_id\":\"a\"}"),
                 201);
    sql_run("s.db", "CREATE TABLE x (y); DROP TABLE x");
    (void)answer(post(&self, "/api/workflows", "{\"workflow_type\":\"t\",\"workflow_id\":\"b\"}"),
                 503);
    ck_assert_int_eq(waitpid(self.pid, &status, 0), self.pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), HF_CLI_EXIT_SERVER);
    (void)close(self.out);
    ck_assert_int_eq(RUN("ls", "--store", "s.db", "-o", "name"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "a\n");
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    end();
}
END_TEST

#define WORKER "\"worker_id\":\"w1\",\"task_queue\":\"far\""

/* SIGTERM while a worker polls, somebody asks a run something and somebody waits for an update:
   each is answered at once, the process ends well, and what was accepted is there the next time. */
START_TEST(stops_while_clients_wait)
{
    char *argv[] = {"holdfast", "serve", "s.db", "--listen", "127.0.0.1:0", NULL};
    process self;
    hf_value body;
    char token[80];
    char path[160];
    int query;
    int update;
    int poll;

    begin();
    self = serve_start(argv);
    (void)answer(post(&self, "/api/worker/register",
                      "{" WORKER ",\"supported_workflow_types\":[\"remote\"],"
                      "\"workflow_command_contracts\":{\"remote\":{\"queries\":[\"total\"],"
                      "\"updates\":[\"set\"]}}}"),
                 200);
    (void)answer(post(&self, "/api/workflows",
                      "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\",\"task_queue\":"
                      "\"far\"}"),
                 201);
    body = answer(post(&self, "/api/worker/workflow-tasks/poll", "{" WORKER "}"), 200);
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(body, "task.task_id", ""));
    (void)answer(post(&self, path,
                      "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":1,\"commands\":[{"
                      "\"type\":\"open_condition_wait\",\"condition_key\":\"c\"}]}"),
                 200);
    update = post(&self, "/api/workflows/r-1/update/set", "{\"wait_timeout_seconds\":60}");
    body = answer(post(&self, "/api/worker/workflow-tasks/poll", "{" WORKER "}"), 200);
    ck_assert_ptr_nonnull(hf_get(body, "task.workflow_update_id")); /* it is accepted */
    (void)answer(post(&self, "/api/worker/query-tasks/poll", "{" WORKER ",\"timeout_seconds\":0}"),
                 200);
    query = post(&self, "/api/workflows/r-1/query/total", "{}");
    body = answer(
        post(&self, "/api/worker/query-tasks/poll", "{" WORKER ",\"timeout_seconds\":20}"), 200);
    ck_assert_str_eq(hf_str(body, "task.query_name", ""), "total");
    poll = post(&self, "/api/worker/activity-tasks/poll", "{" WORKER ",\"timeout_seconds\":60}");
    (void)snprintf(token, sizeof(token), "%s", self.token);
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_str_eq(hf_str(answer(query, 503), "reason", ""), "draining");
    ck_assert_str_eq(hf_str(answer(poll, 200), "poll_status", ""), "draining");
    body = answer(update, 503);
    ck_assert_str_eq(hf_str(body, "reason", ""), "draining");
    (void)snprintf(path, sizeof(path), "/api/workflows/r-1/updates/%s",
                   hf_str(body, "update_id", ""));
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    self = serve_again(argv, token);
    ck_assert_int_eq(ask(&self, path), 202);
    ck_assert_int_eq(serve_stop(&self), 0);
    end();
}
END_TEST

#define SHOWN "HF_CA_FILE=c.pem", "HF_CERT_FILE=c.pem", "HF_KEY_FILE=k.pem"

/* Programs of ours over TLS: a server that nobody vouches for is not asked, HF_CA_FILE says whom to
   trust, a file of trust that is none is named; a server that wants to see a certificate sees it.
   dev tells its worker and the verbs in its folder by itself. */
START_TEST(speaks_tls)
{
    char *argv[] = {"holdfast", "serve",           "s.db",       "--auth", "none",
                    "--listen", "127.0.0.1:0",     "--tls-cert", "c.pem",  "--tls-key",
                    "k.pem",    "--tls-client-ca", "c.pem",      NULL};
    char *dev[] = {"holdfast",   "dev",   "./worker",  "--listen", "127.0.0.1:0",
                   "--tls-cert", "c.pem", "--tls-key", "k.pem",    NULL};
    char url[64];
    process self;

    begin();
    ck_assert_int_eq(system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                            "-days 2 -subj /CN=localhost -addext "
                            "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout k.pem -out c.pem "
                            ">/dev/null 2>&1"),
                     0);
    self = serve_again(argv, "");
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", self.port);
    ck_assert_int_eq(RUN("ls", "--url", url), HF_CLI_EXIT_UNREACHABLE);
    ck_assert(says(&last.err, "HF_CA_FILE names whom to trust"));
    ck_assert_int_eq(RUN_IN(ENV("HF_CA_FILE=none.pem"), "ls", "--url", url), HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "none.pem"));
    ck_assert_int_eq(RUN_IN(ENV("HF_CA_FILE=c.pem"), "ls", "--url", url), HF_CLI_EXIT_UNREACHABLE);
    ck_assert_int_eq(RUN_IN(ENV(SHOWN), "start", "t", "--id", "a", "--url", url), 0);
    ck_assert_int_eq(RUN_IN(ENV(SHOWN), "ls", "--url", url, "-o", "name"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "a\n");
    ck_assert_int_eq(serve_stop(&self), 0);
    file_write("worker",
               "#!/bin/sh\n[ -s \"$HF_CA_FILE\" ] && echo \"$HF_URL\" >>told\nexec sleep 60\n");
    ck_assert_int_eq(chmod("worker", 0700), 0);
    self = dev_start(dev);
    for (int i = 0; i < 3000 && (access("told", F_OK) || access(".holdfast/server.json", F_OK));
         i++)
        (void)poll(NULL, 0, 20);
    ck_assert_int_eq(access("told", F_OK), 0);
    ck_assert_int_eq(RUN("start", "t", "--id", "b"),
                     0); /* the folder says where, and whom to trust */
    ck_assert_int_eq(serve_stop(&self), 0);
    ck_assert_int_eq(system("rm -r .holdfast"), 0);
    end();
}
END_TEST

HF_SUITE_MAIN("cli/serve", {views_of_newer_programs_are_refused, 0}, {serves_until_told_to_stop, 0},
              {settings_of_the_engine, 0}, {serves_through_a_link, 0},
              {n10_keeps_payloads_under_the_sandbox, 0}, {refuses_to_be_exposed, 0},
              {tokens_without_a_server, 0}, {dev_looks_after_a_worker, 0},
              {tells_the_service_manager, 0}, {ends_when_it_cannot_write, 0},
              {stops_while_clients_wait, 0}, {speaks_tls, 0})
