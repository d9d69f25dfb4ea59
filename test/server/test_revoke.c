/* test_revoke.c: what waits when its token is revoked or comes to its end: streams, parked polls
   and callers that wait are told so and end, at the server where it was revoked and at others that
   learn of it. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "lib/handlers.h"
#include "lib/nap.h"
#include "lib/site.h"
#include "server/registry.h"

static const hf_app app = {
    .name = "revoked",
    .workflows = (const hf_workflow_def[]){
        {.type = "wait", .run = hf_wait_go, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {0}}};

static hf_site site;
static hf_clock *server_clock;
static hf_token keeper; /* of whoever asks for metrics and revokes */

static hf_token token_make(const char *role, hf_ms lifespan)
{
    const hf_token_opts options = {.size_ = sizeof(options), .role = role, .lifespan = lifespan};
    hf_token token;
    hf_err err = {0};

    ck_assert_int_eq(hf_token_create_with(site.engine, &options, &token), HF_OK);
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "read tokens");
    return token;
}

static void begin(hf_engine_kind kind)
{
    server_clock = hf_clock_new_virtual(hf_clock_wall_us(hf_clock_system()));
    hf_site_open(&site, kind, &app,
                 (hf_server_options){.auth = {.driver = HF_AUTH_TOKEN}, .clock = server_clock});
    keeper = token_make("admin", 0);
    ck_assert_int_eq(hf_start_with(site.engine, "wait",
                                   &(hf_start_opts){.size_ = sizeof(hf_start_opts), .id = "w-1"}),
                     HF_OK);
}

static void finish(void)
{
    hf_site_close(&site);
    hf_clock_free_virtual(server_clock);
}

/* A request that will wait, and the connection it waits on. */
static int ask(const hf_token *token, const char *method, const char *path, const char *body)
{
    int fd = hf_wire_connect(hf_server_port(site.server));
    hf_buf text = {0};

    hf_buf_add_format(&text,
                      "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      "Authorization: Bearer %s\r\n"
                      "X-Durable-Workflow-Protocol-Version: 1.13\r\n"
                      "X-Durable-Workflow-Control-Plane-Version: 2\r\n",
                      method, path, token->secret);
    if (body)
        hf_buf_add_format(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          strlen(body), body);
    else
        hf_buf_add_text(&text, "\r\n");
    ck_assert(hf_wire_send(fd, hf_buf_slice(&text)));
    hf_buf_fini(&text);
    return fd;
}

/* Waits until the metrics have a line. */
static void metrics_await(const char *line)
{
    char header[128];

    (void)snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", keeper.secret);
    for (int i = 0; i < 10000; i++) {
        if (strstr(hf_site_ask(&site, "GET", "/metrics", header, NULL).text, line))
            return;
        hf_nap_ms(1);
    }
    ck_abort_msg("the metrics never said %s", line);
}

/* All that came, to the end that the server makes, within ten seconds. */
static const char *read_all(int fd)
{
    hf_buf bytes = {0};
    const char *text;

    ck_assert_msg(hf_wire_read_all(fd, &bytes), "it goes on: %s", hf_buf_text(&bytes));
    text = hf_mem_text(site.mem, hf_buf_slice(&bytes));
    hf_buf_fini(&bytes);
    (void)close(fd);
    return text;
}

/* Reads until the first event of a stream has come. */
static void stream_await(int fd)
{
    char text[4096] = "";
    size_t len = 0;

    while (!strstr(text, "event: StartAccepted")) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&wait, 1, 60000) > 0 && len + 1 < sizeof(text)
                          ? read(fd, text + len, sizeof(text) - len - 1)
                          : 0;

        ck_assert_msg(got > 0, "no event: %s", text);
        len += (size_t)got;
        text[len] = '\0';
    }
}

#define POLL "{\"worker_id\":\"w\",\"task_queue\":\"far\",\"timeout_seconds\":60}"

/* What waits ends with the typed answer; what has another token goes on. */
static void all_end(void (*end)(const hf_token *token), hf_ms lifespan)
{
    hf_token worker = token_make("worker", lifespan);
    hf_token reader = token_make("read", lifespan);
    hf_token other = token_make("worker", 0);
    int kept = ask(&other, "POST", "/api/worker/activity-tasks/poll",
                   "{\"worker_id\":\"o\",\"task_queue\":\"far\",\"timeout_seconds\":60}");
    int poll = ask(&worker, "POST", "/api/worker/workflow-tasks/poll", POLL);
    int stream = ask(&reader, "GET", "/api/workflows/w-1/events", NULL);
    const char *text;

    metrics_await("\nholdfast_http_parked 2\n");
    stream_await(stream);
    end(&worker);
    end(&reader);
    text = read_all(poll);
    ck_assert_msg(strncmp(text, "HTTP/1.1 401 ", 13) == 0, "%s", text);
    ck_assert_msg(strstr(text, "\"reason\":\"unauthenticated\"") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "protocol_version") != NULL, "%s", text);
    text = read_all(stream);
    ck_assert_msg(strstr(text, "event: error\ndata: {\"reason\":\"unauthenticated\"") != NULL, "%s",
                  text);
    metrics_await("\nholdfast_http_parked 1\n");
    (void)close(kept);
}

static void revoke_here(const hf_token *token)
{
    char header[128];
    char path[128];

    (void)snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", keeper.secret);
    (void)snprintf(path, sizeof(path), "/api/tokens/%s", token->id);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", path, header, NULL).status, 200);
}

/* Revoked through this server: at once. */
HF_BOTH_ENGINES(n21_a_revoked_token_waits_no_longer)
{
    begin(kind);
    all_end(revoke_here, 0);
    finish();
}

/* As a look at the store finds it that another node wrote to. */
static void revoke_elsewhere(const hf_token *token)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_token_revoke(site.engine, token->id), HF_OK);
    hf_test_ok(hf_server_refresh(site.server, &err), &err, "read tokens");
}

HF_BOTH_ENGINES(n21_one_revoked_elsewhere_waits_until_it_is_known)
{
    begin(kind);
    all_end(revoke_elsewhere, 0);
    finish();
}

/* Its time comes, and nobody reads the store: a look at the clock is enough. */
static void expire(const hf_token *token)
{
    (void)token;
    hf_clock_set_wall(server_clock, hf_clock_wall_us(hf_clock_system()) + INT64_C(7200000000));
    hf_server_review(site.server);
}

HF_BOTH_ENGINES(n21_an_expired_token_waits_no_longer)
{
    begin(kind);
    all_end(expire, hf_hours(1));
    finish();
}

/* Who waits on a thread is answered when that wait is over, with nothing of what was waited for. */
HF_BOTH_ENGINES(n21_waits_give_nothing_away)
{
    hf_token reader;
    const char *text;
    int result;

    begin(kind);
    reader = token_make("read", 0);
    result = ask(&reader, "GET", "/api/workflows/w-1/result?wait_timeout_seconds=60", NULL);
    hf_nap_ms(100); /* it most likely waits by now; it is refused in any case */
    revoke_here(&reader);
    ck_assert_int_eq(hf_signal(site.engine, "w-1", "go", hf_json_(site.mem, "{}")), HF_OK);
    text = read_all(result);
    ck_assert_msg(strncmp(text, "HTTP/1.1 401 ", 13) == 0, "%s", text);
    ck_assert_msg(!strstr(text, "completed"), "%s", text);
    finish();
}

HF_PG_SUITE_MAIN("server/revoke", HF_BOTH(n21_a_revoked_token_waits_no_longer),
                 HF_BOTH(n21_one_revoked_elsewhere_waits_until_it_is_known),
                 HF_BOTH(n21_an_expired_token_waits_no_longer),
                 HF_BOTH(n21_waits_give_nothing_away))
