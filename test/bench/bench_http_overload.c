/* bench_http_overload.c: starts over HTTP at ten times the rate that the server can do, on SQLite:
   how long those take that are accepted, beside how long they take at a tenth of that rate, how
   many were turned away, how much was done, and how memory grew. One client sends on a clock and
   does not wait for answers (open loop). It shares the cores with the server: how much of them it
   took, and the server, is reported. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/holdfast.h"
#include "lib_report.h"
#include "server/server.h"

enum {
    CONNECTIONS = 128,
    CALLERS = 16,
    TIMES = 10,
    UNLOADED_S = 4,
    CAPACITY_S = 3,
    OVERLOAD_S = 10,
    WARM_S = 1,   /* of each phase, not counted */
    AT_ONCE = 32, /* questions before answers are looked for */
    ROOM = 4096,
    SAMPLES_MAX = 1000000
};

static hf_value idle(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_receive(w, "never");
    return NULL;
}

static const hf_app app = {
    .name = "bench",
    .workflows = (const hf_workflow_def[]){
        {.type = "idle", .run = idle, .signals = (const hf_signal_def[]){{"never", NULL}, {0}}},
        {0}}};

typedef struct line {
    int fd;
    bool busy;
    double sent_s;
    size_t got;
    char bytes[ROOM];
} line;

typedef struct client {
    int port;
    int poll;
    line *lines;
    int line_count;
    int *free; /* lines without a question */
    int free_count;
    long number; /* of the next run */
} client;

/* What became of a phase. */
typedef struct phase {
    double seconds;
    long sent;
    long accepted;
    long refused;
    double p50_ms;
    double p99_ms;
    double client_cores; /* that the client kept busy */
    double server_cores;
} phase;

static void line_open(client *c)
{
    int at = c->line_count++;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
    struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = (uint32_t)at}};
    line *l = &c->lines[at];

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    l->fd = socket(AF_INET, SOCK_STREAM, 0);
    hf_bench_need(l->fd >= 0 && connect(l->fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
                      fcntl(l->fd, F_SETFL, O_NONBLOCK) == 0 &&
                      epoll_ctl(c->poll, EPOLL_CTL_ADD, l->fd, &event) == 0,
                  "a connection");
    c->free[c->free_count++] = at;
}

static void question_send(client *c, line *l)
{
    char body[128];
    char text[512];
    int len;

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"idle\",\"workflow_id\":\"run-%ld\"}",
                   c->number++);
    len = snprintf(text, sizeof(text),
                   "POST /api/workflows HTTP/1.1\r\nHost: localhost\r\n"
                   "X-Durable-Workflow-Control-Plane-Version: 2\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    l->busy = true;
    l->got = 0;
    l->sent_s = hf_bench_now_s();
    hf_bench_need(send(l->fd, text, (size_t)len, MSG_NOSIGNAL) == len, "a question was not sent");
}

/* The status of the answer, when all of it is in; else 0. */
static int answer_read(line *l)
{
    const char *end;
    const char *length;
    ssize_t got = recv(l->fd, l->bytes + l->got, ROOM - 1 - l->got, 0);

    if (got < 0 && errno == EAGAIN)
        return 0;
    hf_bench_need(got > 0, "a connection was closed");
    l->got += (size_t)got;
    l->bytes[l->got] = '\0';
    end = strstr(l->bytes, "\r\n\r\n");
    length = strstr(l->bytes, "Content-Length: ");
    if (!end || !length || l->got < (size_t)(end - l->bytes) + 4 + strtoul(length + 16, NULL, 10))
        return 0;
    return atoi(l->bytes + 9);
}

static double cpu_s(clockid_t clock)
{
    struct timespec used;

    (void)clock_gettime(clock, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Asks `rate` times a second on at most `lines` connections, whatever is answered. */
static phase ask(client *c, int lines, double rate, int seconds)
{
    static double took[SAMPLES_MAX];
    phase done = {.seconds = seconds};
    struct epoll_event events[AT_ONCE];
    double begin_s;
    double end_s;
    double now_s;
    double client_s;
    double all_s;
    long sent = 0;

    while (c->line_count < lines)
        line_open(c);
    client_s = cpu_s(CLOCK_THREAD_CPUTIME_ID);
    all_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
    begin_s = hf_bench_now_s();
    end_s = begin_s + WARM_S + seconds;
    while ((now_s = hf_bench_now_s()) < end_s || c->free_count < c->line_count) {
        bool counts = now_s >= begin_s + WARM_S;
        int count;

        for (int i = 0; i < AT_ONCE && now_s < end_s && c->free_count > c->line_count - lines &&
                        (double)sent < (now_s - begin_s) * rate;
             i++) {
            question_send(c, &c->lines[c->free[--c->free_count]]);
            sent++;
            done.sent += counts;
        }
        count = epoll_wait(c->poll, events, AT_ONCE, 1);
        for (int i = 0; i < count; i++) {
            line *l = &c->lines[events[i].data.u32];
            int status = answer_read(l);

            if (!status)
                continue;
            hf_bench_need(status == 201 || ((status == 429 || status == 503) &&
                                            strstr(l->bytes, "\r\nRetry-After: ")),
                          l->bytes);
            c->free[c->free_count++] = (int)events[i].data.u32;
            if (!counts)
                continue;
            if (status == 201 && done.accepted < SAMPLES_MAX)
                took[done.accepted++] = (hf_bench_now_s() - l->sent_s) * 1000;
            else
                done.refused++;
        }
    }
    done.client_cores = (cpu_s(CLOCK_THREAD_CPUTIME_ID) - client_s) / (now_s - begin_s);
    done.server_cores =
        (cpu_s(CLOCK_PROCESS_CPUTIME_ID) - all_s) / (now_s - begin_s) - done.client_cores;
    qsort(took, (size_t)done.accepted, sizeof(took[0]), hf_bench_order);
    hf_bench_need(done.accepted > 0, "nothing was accepted");
    done.p50_ms = took[done.accepted / 2];
    done.p99_ms = took[done.accepted * 99 / 100];
    return done;
}

static void report(const phase *unloaded, const phase *capacity, const phase *overload,
                   double growth_mb)
{
    double able = (double)capacity->accepted / capacity->seconds;
    double good = (double)overload->accepted / overload->seconds;
    char more[600];

    (void)snprintf(more, sizeof(more),
                   ",\"accepted_p99\":%.2f,\"unloaded_p99\":%.2f,\"accepted_p50\":%.2f,"
                   "\"unloaded_p50\":%.2f,\"capacity\":%.0f,\"offered\":%.0f,\"goodput\":%.0f,"
                   "\"refused\":%ld,\"rss_growth_mb\":%.1f,"
                   "\"client_cores\":%.2f,\"server_cores\":%.2f,\"capacity_cores\":%.2f",
                   overload->p99_ms, unloaded->p99_ms, overload->p50_ms, unloaded->p50_ms, able,
                   (double)overload->sent / overload->seconds, good, overload->refused, growth_mb,
                   overload->client_cores, overload->server_cores,
                   capacity->client_cores + capacity->server_cores);
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "overload_accepted_p99",
                                       .store = "sqlite",
                                       .value = overload->p99_ms,
                                       .unit = "ms",
                                       .floor = unloaded->p99_ms,
                                       .ratio = overload->p99_ms / unloaded->p99_ms,
                                       .goal = -3,
                                       .more = more});
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "overload_goodput",
                                       .store = "sqlite",
                                       .value = good,
                                       .unit = "per second",
                                       .floor = able,
                                       .ratio = good / able,
                                       .goal = 0.8,
                                       .more = more});
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "overload_memory_growth",
                                       .store = "sqlite",
                                       .value = growth_mb,
                                       .unit = "MB",
                                       .floor = 32,
                                       .ratio = growth_mb / 32,
                                       .goal = -1,
                                       .more = more});
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hf_bench_over_XXXXXX";
    char path[96];
    hf_engine *engine = NULL;
    hf_server *server = NULL;
    client c = {0};
    phase capacity;
    phase unloaded;
    phase overload;
    hf_err err = {0};
    long before_kb;

    hf_bench_modules(argc > 0 ? argv[0] : "");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder");
    (void)snprintf(path, sizeof(path), "%s/over.db", folder);
    hf_bench_need(!hf_open(path, &app, &engine), hf_errmsg(engine));
    hf_bench_ok(hf_server_open(&(hf_server_options){.engine = engine, .listen = "127.0.0.1:0"},
                               &server, &err),
                &err, "open a server");
    hf_bench_ok(hf_server_start(server, &err), &err, "start a server");
    c.port = hf_server_port(server);
    c.poll = epoll_create1(0);
    c.lines = calloc(CONNECTIONS, sizeof(*c.lines));
    c.free = calloc(CONNECTIONS, sizeof(*c.free));
    hf_bench_need(c.poll >= 0 && c.lines && c.free, "no memory");
    capacity = ask(&c, CALLERS, 1e9, CAPACITY_S);
    unloaded =
        ask(&c, CONNECTIONS, (double)capacity.accepted / capacity.seconds / TIMES, UNLOADED_S);
    before_kb = hf_bench_memory_kb();
    overload =
        ask(&c, CONNECTIONS, (double)capacity.accepted / capacity.seconds * TIMES, OVERLOAD_S);
    hf_bench_title("http: starts at ten times the rate that can be done");
    report(&unloaded, &capacity, &overload, (double)(hf_bench_memory_kb() - before_kb) / 1024);
    for (int i = 0; i < CONNECTIONS; i++)
        (void)close(c.lines[i].fd);
    (void)close(c.poll);
    free(c.lines);
    free(c.free);
    hf_server_drain(server, 5000);
    hf_server_wait(server);
    hf_server_close(server);
    hf_close(engine);
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    return system(path) == 0 ? 0 : 1;
}
