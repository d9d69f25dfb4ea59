/* test_console_stream.c: what may have changed, over real HTTP: streams that say hello, tell
   topics, go on where they ended, and end with their token; long polls that answer the same; what
   cannot be followed. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/value.h"
#include "lib/handlers.h"
#include "lib/site.h"

#define ADMIN "Authorization: Bearer tok-admin\r\n"

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_app app = {.name = "stream",
                           .workflows = (const hf_workflow_def[]){
                               {.type = "wait", .run = hf_wait_go, .signals = go}, {0}}};

/* A stream that is being read. */
typedef struct reader {
    int fd;
    hf_buf text;
    size_t seen; /* what was looked for and found lies before it */
} reader;

static reader stream_open(hf_site *site, const char *query, const char *header)
{
    reader r = {.fd = hf_wire_connect(hf_server_port(site->server))};
    hf_buf request = {0};

    hf_buf_add_format(&request, "GET /console/api/stream?%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
                      query, header);
    ck_assert(hf_wire_send(r.fd, hf_buf_slice(&request)));
    hf_buf_fini(&request);
    return r;
}

static void stream_close(reader *r)
{
    (void)close(r->fd);
    hf_buf_fini(&r->text);
}

/* Waits until the text comes behind what was seen before; false: the time is over, or the stream.
 */
static bool stream_says(reader *r, const char *text, int64_t wait_ms)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + wait_ms * 1000;

    for (;;) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        const char *found =
            r->text.len > r->seen ? strstr(hf_buf_text(&r->text) + r->seen, text) : NULL;
        int64_t left_us = until_us - hf_clock_mono_us(hf_clock_system());
        char bytes[4096];
        ssize_t got;

        if (found) {
            r->seen = (size_t)(found - hf_buf_text(&r->text)) + strlen(text);
            return true;
        }
        if (left_us <= 0 || poll(&p, 1, (int)(left_us / 1000) + 1) <= 0)
            return false;
        got = recv(r->fd, bytes, sizeof(bytes), 0);
        if (got <= 0)
            return false;
        hf_buf_add(&r->text, bytes, (size_t)got);
        ck_assert(hf_buf_ok(&r->text));
    }
}

static void must_say(reader *r, const char *text)
{
    ck_assert_msg(stream_says(r, text, 30000), "no \"%s\" in: %.900s", text,
                  hf_buf_ok(&r->text) ? hf_buf_text(&r->text) : "");
}

/* The number behind what was found last. */
static int64_t number_next(const reader *r)
{
    const char *at = hf_buf_text(&r->text) + r->seen;
    int64_t number = 0;

    ck_assert(hf_slice_int(hf_slice_from(at, strspn(at, "0123456789")), &number));
    return number;
}

static void start(hf_site *site, const char *id, const char *more)
{
    char body[120];

    (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"wait\",\"workflow_id\":\"%s\"}", id);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", more, body).status, 201);
}

static void finish(hf_site *site, const char *id)
{
    char path[120];

    (void)snprintf(path, sizeof(path), "/api/workflows/%s/signal/go", id);
    ck_assert_int_eq(hf_site_ask(site, "POST", path, NULL, "{}").status, 202);
}

/* The stream says hello, and then which topics may have changed; of a run, which event it is at. */
HF_BOTH_ENGINES(changes_are_told)
{
    hf_site site;
    reader r;
    int64_t first;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    start(&site, "w-1", NULL);
    r = stream_open(&site, "topics=run:w-1,list,list", "");
    must_say(&r, "text/event-stream");
    must_say(&r, "event: hello\ndata: {\"id\":");
    first = number_next(&r);
    must_say(&r, "\"topics\":[\"run:w-1\",\"list\"]");
    start(&site, "w-2", NULL);
    must_say(&r, "id: ");
    ck_assert_int_gt(number_next(&r), first);
    must_say(&r, "event: change\n");
    must_say(&r, "\"list\"");
    finish(&site, "w-1");
    must_say(&r, "\"run:w-1\":{\"last_sequence\":");
    ck_assert_int_gt(number_next(&r), 1);
    stream_close(&r);
    hf_site_close(&site);
}

static int64_t id_now(hf_site *site)
{
    return hf_int(hf_site_expect(site, "GET", "/console/api/changes?topics=list", NULL, 200).body,
                  "id", 0);
}

/* Who comes back is told all of its topics at once when something changed meanwhile, or when the
   server is another one; who missed nothing hears nothing. The ids of a server that begins later
   are higher. */
HF_BOTH_ENGINES(streams_go_on)
{
    char query[120];
    hf_site site;
    reader r;
    int64_t id;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    id = id_now(&site);
    start(&site, "w-1", NULL);
    (void)snprintf(query, sizeof(query), "topics=run:w-1,metrics&after=%lld", (long long)id);
    r = stream_open(&site, query, "");
    must_say(&r, "event: change\n");
    must_say(&r, "\"run:w-1\",\"metrics\"");
    stream_close(&r);
    r = stream_open(&site, "topics=attention,list", "Last-Event-ID: 7\r\n");
    must_say(&r, "event: change\n");
    must_say(&r, "\"attention\",\"list\"");
    stream_close(&r);
    do { /* until nothing of w-1 is under way any more */
        id = id_now(&site);
        (void)snprintf(query, sizeof(query), "topics=run:w-1&after=%lld", (long long)id);
        r = stream_open(&site, query, "");
        must_say(&r, "event: hello\n");
    } while (stream_says(&r, "event: change", 1500) && (stream_close(&r), true));
    finish(&site, "w-1");
    must_say(&r, "event: change\n");
    stream_close(&r);
    id = id_now(&site);
    hf_site_close(&site);
    hf_site_open(&site, kind, &app, (hf_server_options){0});
    ck_assert_int_gt(id_now(&site), id);
    (void)snprintf(query, sizeof(query), "topics=workers&after=%lld", (long long)id);
    r = stream_open(&site, query, "");
    must_say(&r, "event: change\n");
    stream_close(&r);
    hf_site_close(&site);
}

/* A run that is followed before it is there, and the runs that follow it. */
START_TEST(runs_that_come_later)
{
    hf_site site;
    reader r;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    r = stream_open(&site, "topics=run:w-1", "");
    must_say(&r, "event: hello\n");
    start(&site, "w-1", NULL);
    must_say(&r, "\"last_sequence\":");
    ck_assert_int_gt(number_next(&r), 0);
    finish(&site, "w-1");
    must_say(&r, "\"last_sequence\":");
    stream_close(&r);
    hf_site_close(&site);
}
END_TEST

/* Workers that come and go are told. */
START_TEST(workers_are_told)
{
    hf_site site;
    reader r;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    r = stream_open(&site, "topics=workers", "");
    must_say(&r, "event: hello\n");
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                    "{\"worker_id\":\"w\",\"task_queue\":\"q\",\"runtime\":\"python\"}")
            .status,
        200);
    must_say(&r, "data: {\"topics\":[\"workers\"]}");
    stream_close(&r);
    hf_site_close(&site);
}
END_TEST

/* A long poll answers at once when something changed before, waits for what changes then, and says
 * so when nothing did. */
HF_BOTH_ENGINES(long_polls)
{
    char path[160];
    hf_site site;
    hf_value body;
    hf_wire_reply reply = {0};
    int64_t id;
    int fd;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    body = hf_site_expect(&site, "GET", "/console/api/changes?topics=list,workers", NULL, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(body, "changed")), 2);
    ck_assert_str_eq(hf_str(body, "namespace", ""), "default");
    id = hf_int(body, "id", 0);
    start(&site, "w-1", NULL);
    (void)snprintf(path, sizeof(path), "/console/api/changes?topics=run:w-1&after=%lld",
                   (long long)id);
    body = hf_site_expect(&site, "GET", path, NULL, 200).body;
    ck_assert_str_eq(hf_str(body, "changed.0", ""), "run:w-1");
    ck_assert_int_gt(hf_int(hf_value_find(body, HF_SLICE("run:w-1")), "last_sequence", 0), 0);
    ck_assert_uint_eq(strlen(hf_str(hf_value_find(body, HF_SLICE("run:w-1")), "run_id", "")), 26);
    do { /* until the run has come to its wait */
        (void)snprintf(path, sizeof(path),
                       "/console/api/changes?topics=run:nobody&wait_timeout_seconds=1&after=%lld",
                       (long long)id_now(&site));
        body = hf_site_expect(&site, "GET", path, NULL, 200).body;
    } while (hf_len(hf_get(body, "changed")));
    ck_assert_int_ge(hf_int(body, "id", 0), id);
    (void)snprintf(path, sizeof(path), "/console/api/changes?topics=run:w-1&after=%lld",
                   (long long)id_now(&site));
    fd = hf_site_send(&site, "GET", path, NULL);
    finish(&site, "w-1");
    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&reply.body), "\"changed\":[\"run:w-1\"]"));
    hf_wire_reply_fini(&reply);
    (void)close(fd);
    hf_site_close(&site);
}

/* Its token ends: the stream says so and ends, the poll is 401. */
START_TEST(n21_what_follows_ends_with_its_token)
{
    hf_err err = {0};
    hf_site site;
    reader r;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    r = stream_open(&site, "topics=list", "Authorization: Bearer tok-read\r\n");
    must_say(&r, "event: hello\n");
    hf_test_ok(hf_server_tokens_set(site.server, NULL, 0, &err), &err, "revoke");
    hf_server_review(site.server);
    must_say(&r, "event: error\ndata: {\"reason\":\"unauthenticated\",\"message\":");
    must_say(&r, "0\r\n\r\n");
    stream_close(&r);
    hf_site_close(&site);
}
END_TEST

/* What cannot be followed is refused by name; readers may, workers may not, and nothing is told of
   a run of another namespace. */
START_TEST(what_cannot_be_followed)
{
    static const struct {
        const char *query;
        const char *more;
        int status;
    } bad[] = {{"topics=colour", ADMIN, 422},
               {"topics=", ADMIN, 200},
               {"topics=list,,workers", ADMIN, 422},
               {"topics=run:", ADMIN, 422},
               {"topics=list&after=x", ADMIN, 422},
               {"topics=list&after=-2", ADMIN, 422},
               {"topics=list&wait_timeout_seconds=61", ADMIN, 422},
               {"topics=list&limit=1", ADMIN, 422},
               {"topics=list", "", 401},
               {"topics=list", "Authorization: Bearer tok-worker\r\n", 403},
               {"topics=list", "Authorization: Bearer tok-elsewhere\r\n", 404},
               {"topics=list", "Authorization: Bearer tok-read\r\n", 200}};
    char path[600];
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    ck_assert_int_eq(
        hf_site_ask(&site, "POST", "/api/namespaces", ADMIN, "{\"name\":\"elsewhere\"}").status,
        201);
    hf_site_tokens(&site); /* the store has none of them */
    start(&site, "w-1", ADMIN);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(path, sizeof(path), "/console/api/changes?%s", bad[i].query);
        answer = hf_site_ask(&site, "GET", path, bad[i].more, NULL);
        ck_assert_msg(answer.status == bad[i].status, "%s: %d: %.300s", bad[i].query, answer.status,
                      answer.text);
    }
    (void)snprintf(path, sizeof(path), "/console/api/changes?topics=run:0");
    for (int i = 1; i < 33; i++)
        (void)snprintf(path + strlen(path), sizeof(path) - strlen(path), ",run:%d", i);
    ck_assert_int_eq(hf_site_ask(&site, "GET", path, ADMIN, NULL).status, 422);
    answer = hf_site_ask(&site, "GET", "/console/api/changes?topics=run:w-1&namespace=elsewhere",
                         "Authorization: Bearer tok-elsewhere\r\n", NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(strstr(answer.text, "\"run:w-1\":{\"last_sequence\":null}"));
    hf_site_close(&site);
}
END_TEST

/* Readers that go away, and a server that stops while it is followed. */
START_TEST(followers_that_go)
{
    reader r[20];
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    start(&site, "w-1", NULL);
    for (size_t i = 0; i < 20; i++) {
        r[i] = stream_open(&site, "topics=run:w-1,list", "");
        if (i % 2)
            stream_close(&r[i]);
    }
    must_say(&r[18], "event: hello\n");
    (void)close(hf_site_send(&site, "GET", "/console/api/changes?topics=list&after=1", NULL));
    hf_site_close(&site);
    for (size_t i = 0; i < 20; i += 2)
        stream_close(&r[i]);
}
END_TEST

HF_PG_SUITE_MAIN("server/console_stream", HF_BOTH(changes_are_told), HF_BOTH(streams_go_on),
                 {runs_that_come_later, 0}, {workers_are_told, 0}, HF_BOTH(long_polls),
                 {n21_what_follows_ends_with_its_token, 0}, {what_cannot_be_followed, 0},
                 {followers_that_go, 0})
