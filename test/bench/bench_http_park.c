/* bench_http_park.c: what parked polls cost: 9,900 requests that wait at once, memory over the
   empty server, and how long it takes to wake all of them. Floor: 30 MB, and 50 ms at the 99th
   percentile. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib_report.h"
#include "http/http.h"

enum {
    POLLS = 9900
}; /* both ends of 9,900 fit the usual 20,000 open files; the floor is for 10,000 */

static hf_http_exchange *waiting[POLLS];
static _Atomic int count;

static void on_wake(void *ctx, hf_http_exchange *exchange, hf_http_why why)
{
    (void)ctx;
    (void)why;
    hf_http_abandon(exchange);
}

static void on_request(void *ctx, hf_http_exchange *exchange)
{
    (void)ctx;
    hf_http_park(exchange, 600000, on_wake, NULL);
    waiting[atomic_load(&count)] = exchange;
    atomic_fetch_add(&count, 1);
}

static int poll_open(int port)
{
    static const char request[] =
        "POST /api/worker/workflow-tasks/poll HTTP/1.1\r\nHost: localhost:7430\r\n"
        "Authorization: Bearer hf_rjMnheWPhtm0f4YU0ahhxbakQ6PQZs8B2k6rzoMAYWU\r\n"
        "X-Durable-Workflow-Protocol-Version: 1.13\r\nX-Namespace: default\r\n"
        "Content-Type: application/json\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
        "User-Agent: python-httpx/0.27\r\nContent-Length: 37\r\n\r\n"
        "{\"worker_id\":\"w0\",\"task_queue\":\"far\"}";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
        send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(request) - 1) {
        perror("poll");
        exit(1);
    }
    return fd;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;

    return (*x > *y) - (*x < *y);
}

int main(void)
{
    static int fds[POLLS];
    static int64_t took[POLLS];
    hf_http_options options = {.listen = "127.0.0.1:0", .handlers = {.handle = on_request}};
    struct rlimit files;
    const hf_clock *clock = hf_clock_system();
    hf_http *http = NULL;
    hf_err err = {0};
    long before;
    long held_kb;

    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) {
        perror("open files");
        return 1;
    }
    if (hf_http_open(&options, &http, &err) || hf_http_start(http, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    before = hf_bench_memory_kb();
    for (int i = 0; i < POLLS; i++)
        fds[i] = poll_open(hf_http_port(http));
    while (atomic_load(&count) < POLLS)
        (void)poll(NULL, 0, 1);
    held_kb = hf_bench_memory_kb() - before;
    for (int i = 0; i < POLLS; i++) {
        hf_http_reply reply;

        hf_http_reply_init(&reply, 200);
        hf_buf_add_text(&reply.body, "{\"task\":null}");
        took[i] = hf_clock_mono_us(clock);
        hf_http_answer(waiting[i], &reply);
        if (i % 100 == 99) { /* a hundred at a time, as a burst of work would wake them */
            for (int j = i - 99; j <= i; j++) {
                char bytes[512];

                if (recv(fds[j], bytes, sizeof(bytes), 0) <= 0)
                    return 1;
                took[j] = hf_clock_mono_us(clock) - took[j];
            }
        }
    }
    qsort(took, POLLS, sizeof(took[0]), compare);
    hf_bench_title("http: parked polls");
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "parked_polls_memory",
                                       .store = "none",
                                       .value = (double)held_kb / 1024,
                                       .unit = "MB",
                                       .floor = 30,
                                       .ratio = (double)held_kb / 1024 / 30,
                                       .goal = -1,
                                       .more = ""});
    hf_bench_report(&(hf_bench_result){.group = "http",
                                       .name = "parked_polls_woken_p99",
                                       .store = "none",
                                       .value = (double)took[POLLS * 99 / 100] / 1000,
                                       .unit = "ms",
                                       .floor = 50,
                                       .ratio = (double)took[POLLS * 99 / 100] / 1000 / 50,
                                       .goal = -1,
                                       .more = ""});
    for (int i = 0; i < POLLS; i++)
        (void)close(fds[i]);
    hf_http_drain(http, 1000);
    hf_http_wait(http);
    hf_http_close(http);
    return 0;
}
