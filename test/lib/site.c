/* site.c: one connection per question, so that every question stands alone. */
#include "lib/site.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "holdfast/worker.h"
#include "lib/nap.h"
#include "lib/schema.h"

enum { AWAIT_MS_MAX = 10000 };

static void engine_open(hf_site *site, const hf_app *app)
{
    hf_status st = hf_open(hf_test_place_address(site->place), app, &site->engine);

    if (!st)
        st = hf_workers_allow(site->engine);
    ck_assert_msg(st == HF_OK, "%s", hf_errmsg(site->engine));
}

static void server_begin(hf_site *site, const hf_app *app, hf_server_options options)
{
    hf_err err = {0};

    if (app)
        engine_open(site, app);
    options.engine = site->engine;
    if (!options.listen)
        options.listen = "127.0.0.1:0";
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

static void server_end(hf_site *site)
{
    hf_server_drain(site->server, 5000);
    hf_server_wait(site->server);
    hf_server_close(site->server);
    if (site->engine)
        hf_close(site->engine);
}

void hf_site_open(hf_site *site, hf_engine_kind kind, const hf_app *app, hf_server_options options)
{
    *site = (hf_site){.mem = hf_mem_new()};
    if (app)
        site->place = hf_test_place_stocked(kind);
    server_begin(site, app, options);
}

void hf_site_again(hf_site *site, const hf_app *app, hf_server_options options)
{
    server_end(site);
    server_begin(site, app, options);
}

void hf_site_close(hf_site *site)
{
    server_end(site);
    if (site->place)
        hf_test_place_free(site->place);
    hf_mem_free(site->mem);
}

void hf_site_tokens(hf_site *site)
{
    static const char *const secrets[] = {"tok-read", "tok-operator", "tok-worker", "tok-admin",
                                          "tok-elsewhere"};
    static const hf_role roles[] = {HF_ROLE_READ, HF_ROLE_OPERATOR, HF_ROLE_WORKER, HF_ROLE_ADMIN,
                                    HF_ROLE_ADMIN};
    uint8_t digests[5][HF_SHA256_BYTES];
    hf_auth_token tokens[5];
    hf_sha256 *sha = NULL;
    hf_err err = {0};

    hf_test_ok(hf_sha256_new(&sha, &err), &err, "hash");
    for (size_t i = 0; i < 5; i++) {
        hf_test_ok(hf_sha256_digest(sha, hf_slice_of(secrets[i]), digests[i], &err), &err, "hash");
        tokens[i] = (hf_auth_token){.id = secrets[i],
                                    .label = secrets[i],
                                    .role = roles[i],
                                    .namespaces = i == 4 ? "elsewhere" : "*",
                                    .digest = digests[i]};
    }
    hf_sha256_free(sha);
    hf_test_ok(hf_server_tokens_set(site->server, tokens, 5, &err), &err, "set tokens");
}

static int port_of(const hf_site *site)
{
    return site->port ? site->port : hf_server_port(site->server);
}

/* Our header, unless `more` takes it away. */
static void header_add(hf_buf *out, const char *more, const char *name, const char *value)
{
    char minus[96];

    (void)snprintf(minus, sizeof(minus), "-%s\r\n", name);
    if (!more || !strstr(more, minus))
        hf_buf_add_format(out, "%s: %s\r\n", name, value);
}

static void request_make(hf_buf *out, const char *method, const char *path, const char *more,
                         const char *body)
{
    hf_slice rest = hf_slice_of(more);
    hf_slice line;

    hf_buf_add_format(out, "%s %s HTTP/1.1\r\nConnection: close\r\n", method, path);
    header_add(out, more, "Host", "localhost");
    header_add(out, more, "X-Durable-Workflow-Control-Plane-Version", "2");
    header_add(out, more, "X-Durable-Workflow-Protocol-Version", "1.13");
    if (body) {
        header_add(out, more, "Content-Type", "application/json");
        hf_buf_add_format(out, "Content-Length: %zu\r\n", strlen(body));
    }
    while (rest.ptr && hf_slice_split(&rest, '\n', &line))
        if (line.len > 1 && line.ptr[0] != '-')
            hf_buf_add_format(out, "%.*s\n", (int)line.len, line.ptr);
    hf_buf_add_format(out, "\r\n%s", body ? body : "");
}

hf_site_answer hf_site_ask(hf_site *site, const char *method, const char *path, const char *more,
                           const char *body)
{
    static hf_wire_reply last;
    hf_site_answer answer = {0};
    hf_buf request = {0};
    int fd = hf_wire_connect(port_of(site));

    hf_wire_reply_fini(&last);
    hf_mem_reset(site->mem);
    request_make(&request, method, path, more, body);
    ck_assert(hf_wire_send(fd, hf_buf_slice(&request)));
    ck_assert_msg(hf_wire_read_reply(fd, &last), "%s %s: no answer", method, path);
    answer.status = last.status;
    answer.text = hf_buf_text(&last.body);
    answer.body = hf_parse_(site->mem, answer.text, last.body.len);
    answer.raw = last;
    (void)close(fd);
    hf_buf_fini(&request);
    return answer;
}

hf_site_answer hf_site_expect(hf_site *site, const char *method, const char *path, const char *body,
                              int status)
{
    hf_site_answer answer = hf_site_ask(site, method, path, NULL, body);

    ck_assert_msg(answer.status == status, "%s %s: %d instead of %d: %.600s", method, path,
                  answer.status, status, answer.text);
    return answer;
}

hf_site_answer hf_site_fits(hf_site *site, const char *method, const char *path, const char *body,
                            int status, const char *schema)
{
    hf_site_answer answer = hf_site_expect(site, method, path, body, status);
    char file[256];

    if (schema) {
        (void)snprintf(file, sizeof(file), HF_TEST_DIR "/server/schemas/%s.schema.json", schema);
        hf_schema_fits(file, answer.body);
    }
    return answer;
}

void hf_site_await(hf_site *site, const char *format, ...)
{
    char line[128] = "\n";
    bool there = false;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line + 1, sizeof(line) - 2, format, args);
    va_end(args);
    (void)strcat(line, "\n");
    for (int i = 0; i < AWAIT_MS_MAX && !there; i++) {
        there = strstr(hf_site_ask(site, "GET", "/metrics", NULL, NULL).text, line) != NULL;
        if (!there)
            hf_nap_ms(1);
    }
    ck_assert_msg(there, "the metrics never said%s", line);
}

int hf_site_send(hf_site *site, const char *method, const char *path, const char *body)
{
    int fd = hf_wire_connect(port_of(site));
    hf_buf text = {0};

    hf_buf_add_format(&text,
                      "%s %s HTTP/1.1\r\nHost: localhost\r\n"
                      "X-Durable-Workflow-Protocol-Version: 1.13\r\n"
                      "X-Durable-Workflow-Control-Plane-Version: 2\r\n",
                      method, path);
    if (body)
        hf_buf_add_format(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          strlen(body), body);
    else
        hf_buf_add_text(&text, "\r\n");
    ck_assert(hf_wire_send(fd, hf_buf_slice(&text)));
    hf_buf_fini(&text);
    return fd;
}
