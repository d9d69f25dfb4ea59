/* bench_http_polls.c: what workers that wait cost in the whole server: memory over the empty one
   with 9,800 polls that wait, and how long it takes from a start until a worker has its task
   while all the others go on waiting. Floor: 30 MB, and 50 ms at the 99th percentile.
   bench_http_park measures the same without engine and routes. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "holdfast/holdfast.h"
#include "holdfast/worker.h"
#include "lib_report.h"
#include "server/server.h"

enum { POLLS = 9800, WOKEN = 200 }; /* both ends of them fit the usual 20,000 open files */

static const hf_app app = {.name = "bench"};

/* A worker that polls; the first ones where work will come. */
static int poll_open(int port, int number)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char body[128];
    char text[512];
    int len;

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"w%d\",\"task_queue\":\"%s\",\"timeout_seconds\":60}", number,
                   number < WOKEN ? "busy" : "quiet");
    len = snprintf(text, sizeof(text),
                   "POST /api/worker/workflow-tasks/poll HTTP/1.1\r\nHost: localhost\r\n"
                   "X-Durable-Workflow-Protocol-Version: 1.13\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    hf_bench_need(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
                      send(fd, text, (size_t)len, MSG_NOSIGNAL) == len,
                  "a poll");
    return fd;
}

static int64_t polls_count(hf_engine *engine)
{
    hf_mem *mem = hf_mem_new();
    hf_value queues = NULL;
    int64_t count = 0;

    hf_bench_need(mem && !hf_workers_queues(engine, mem, &queues), hf_errmsg(engine));
    for (size_t i = 0; i < hf_len(queues); i++)
        count += hf_int(hf_at(queues, i), "tasks.workflow.polls", 0);
    hf_mem_free(mem);
    return count;
}

/* Starts a run and waits until some worker has its task; milliseconds. */
static double task_hand(hf_engine *engine, struct pollfd *busy)
{
    double began = hf_bench_now_s();
    double took;

    hf_bench_need(!hf_start(engine, "remote", NULL, .queue = "busy"), hf_errmsg(engine));
    hf_bench_need(poll(busy, WOKEN, 60000) > 0, "nobody was woken");
    took = (hf_bench_now_s() - began) * 1000;
    for (int i = 0; i < WOKEN; i++) {
        if (!(busy[i].revents & POLLIN))
            continue;
        (void)close(busy[i].fd);
        busy[i].fd = -1;
    }
    hf_mem_reset(hf_mem_of_engine(engine));
    return took;
}

static void report(const char *name, double value, const char *unit, double floor)
{
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = name,
                                       .store = "sqlite",
                                       .value = value,
                                       .unit = unit,
                                       .floor = floor,
                                       .ratio = value / floor,
                                       .goal = -1,
                                       .more = ""});
}

int main(int argc, char **argv)
{
    static int fds[POLLS];
    static double took[WOKEN / 2];
    static struct pollfd busy[WOKEN];
    char folder[] = "/tmp/hf_bench_polls_XXXXXX";
    char path[96];
    struct rlimit files;
    hf_engine *engine = NULL;
    hf_server *server = NULL;
    hf_err err = {0};
    long before;
    long held_kb;

    hf_bench_modules(argc > 0 ? argv[0] : "");
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    hf_bench_need(setrlimit(RLIMIT_NOFILE, &files) == 0, "open files");
    hf_bench_need(mkdtemp(folder) != NULL, "no folder");
    (void)snprintf(path, sizeof(path), "%s/polls.db", folder);
    hf_bench_need(!hf_open(path, &app, &engine) && !hf_workers_allow(engine), hf_errmsg(engine));
    hf_bench_ok(hf_server_open(&(hf_server_options){.engine = engine, .listen = "127.0.0.1:0"},
                               &server, &err),
                &err, "open a server");
    hf_bench_ok(hf_server_start(server, &err), &err, "start a server");
    (void)polls_count(engine); /* the engine runs from here on */
    before = hf_bench_memory_kb();
    for (int i = 0; i < POLLS; i++)
        fds[i] = poll_open(hf_server_port(server), i);
    while (polls_count(engine) < POLLS)
        (void)poll(NULL, 0, 10);
    held_kb = hf_bench_memory_kb() - before;
    for (int i = 0; i < WOKEN; i++)
        busy[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    for (int i = 0; i < WOKEN / 2; i++)
        took[i] = task_hand(engine, busy);
    qsort(took, WOKEN / 2, sizeof(took[0]), hf_bench_order);
    hf_bench_title("http: workers that wait at the whole server");
    report("worker_polls_memory", (double)held_kb / 1024, "MB", 30);
    report("worker_polls_handed_p99", took[WOKEN / 2 * 99 / 100], "ms", 50);
    for (int i = WOKEN; i < POLLS; i++)
        (void)close(fds[i]);
    hf_server_drain(server, 5000);
    hf_server_wait(server);
    hf_server_close(server);
    hf_close(engine);
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    return system(path) == 0 ? 0 : 1;
}
