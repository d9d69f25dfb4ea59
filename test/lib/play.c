/* play.c: rows become requests, and what is in the answers is kept for later rows. */
#include "lib/play.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/schema.h"

enum { BIG_BYTES = 2 * 1024 * 1024 }; /* what one payload may have */

static const char *var_get(const hf_play *p, const char *name, size_t len)
{
    for (size_t i = p->vars; i-- > 0;)
        if (strlen(p->names[i]) == len && memcmp(p->names[i], name, len) == 0)
            return p->values[i];
    ck_abort_msg("nothing is called %.*s", (int)len, name);
}

static void var_set(hf_play *p, const char *name, size_t len, const char *value)
{
    ck_assert_uint_lt(p->vars, HF_PLAY_VARS);
    for (size_t i = 0; i < p->vars; i++)
        if (strlen(p->names[i]) == len && memcmp(p->names[i], name, len) == 0) {
            (void)snprintf(p->values[i], HF_PLAY_VAR_SIZE, "%s", value);
            return;
        }
    (void)snprintf(p->names[p->vars], HF_PLAY_VAR_SIZE, "%.*s", (int)len, name);
    (void)snprintf(p->values[p->vars++], HF_PLAY_VAR_SIZE, "%s", value);
}

const char *hf_play_fill(const hf_play *p, const char *text, hf_buf *out)
{
    if (!text)
        return NULL;
    if (strcmp(text, "@") == 0)
        return p->document;
    hf_buf_clear(out);
    for (; *text; text++) {
        if (*text == '$') {
            size_t name = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");

            hf_buf_add_text(out, var_get(p, text + 1, name));
            text += name;
        } else if (*text == '#') {
            for (size_t i = 0; i <= BIG_BYTES; i++)
                hf_buf_add_byte(out, 'x');
        } else {
            hf_buf_add_byte(out, *text == '\'' ? '"' : (unsigned char)*text);
        }
    }
    ck_assert(hf_buf_ok(out));
    return hf_buf_text(out);
}

/* Each word of a list. */
static bool word_next(const char **rest, char out[HF_PLAY_VAR_SIZE * 2])
{
    size_t len;

    *rest += strspn(*rest, " ");
    len = strcspn(*rest, " ");
    ck_assert_uint_lt(len, HF_PLAY_VAR_SIZE * 2);
    memcpy(out, *rest, len);
    out[len] = '\0';
    *rest += len;
    return len > 0;
}

static bool has_all(hf_value body, const char *required, const char **out_missing)
{
    static char missing[1024];
    char word[HF_PLAY_VAR_SIZE * 2];
    size_t len = 0;

    for (const char *rest = required ? required : ""; word_next(&rest, word);)
        if (!hf_get(body, word) && len + strlen(word) + 2 < sizeof(missing))
            len += (size_t)snprintf(missing + len, sizeof(missing) - len, " %s", word);
    *out_missing = missing;
    return len == 0;
}

static void keep_all(hf_play *p, hf_value body, const char *keep)
{
    char word[HF_PLAY_VAR_SIZE * 2];
    char number[32];

    for (const char *rest = keep ? keep : ""; word_next(&rest, word);) {
        char *equals = strchr(word, '=');
        hf_value value = hf_get(body, equals + 1);
        const char *text = hf_str(value, "", NULL);

        (void)snprintf(number, sizeof(number), "%lld", (long long)hf_int(value, "", 0));
        var_set(p, word, (size_t)(equals - word), text ? text : number);
    }
}

static void row_send(hf_play *p, const hf_play_row *r, const char *path, const char *body)
{
    hf_buf text = {0};

    hf_buf_add_format(
        &text,
        "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "X-Durable-Workflow-Control-Plane-Version: 2\r\nContent-Length: %zu\r\n\r\n%s",
        hf_http_method_text(hf_route_at(r->route)->method), path, strlen(body), body);
    ck_assert_uint_lt(p->sent, HF_PLAY_SENT);
    p->fds[p->sent] = hf_wire_connect(hf_server_port(p->site.server));
    ck_assert(hf_wire_send(p->fds[p->sent++], hf_buf_slice(&text)));
    hf_buf_fini(&text);
}

static void row_hear(hf_play *p, const hf_play_row *r)
{
    hf_wire_reply reply = {0};
    int fd = p->fds[--p->sent];

    ck_assert(hf_wire_read_reply(fd, &reply));
    ck_assert_msg(reply.status == r->status, "%s: %d instead of %d: %s",
                  hf_route_at(r->route)->path, reply.status, r->status, hf_buf_text(&reply.body));
    hf_wire_reply_fini(&reply);
    (void)close(fd);
}

/* Whether the row takes something from a list in which nothing is. */
static bool is_early(const hf_play_row *r, hf_value body)
{
    static const char *const lists[] = {"tasks", "approvals", "groups"};
    char first[32];

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        (void)snprintf(first, sizeof(first), "=%s.0.", lists[i]);
        if (r->keep && strstr(r->keep, first) && !hf_len(hf_get(body, lists[i])))
            return true;
    }
    return false;
}

/* Asks until there is something: the engine offers work, and comes to a wait, a moment after what
   led to it was recorded. */
static hf_site_answer row_answer(hf_play *p, const hf_play_row *r, const char *path,
                                 const char *body)
{
    const hf_route *route = hf_route_at(r->route);
    const char *method = hf_http_method_text(route->method);
    const char *fields =
        route->plane == HF_PLANE_ANSWER && body
            ? "Content-Type: application/x-www-form-urlencoded\r\n-Content-Type\r\n"
            : NULL;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    hf_site_answer answer;

    do {
        answer = hf_site_ask(&p->site, method, path, fields, body);
    } while (is_early(r, answer.body) && hf_clock_mono_us(hf_clock_system()) < until_us);
    return answer;
}

/* The answer to the row's request, which must be one of its route. */
static hf_site_answer row_heard(hf_play *p, const hf_play_row *r)
{
    const hf_route *route = hf_route_at(r->route);
    const char *path = hf_play_fill(p, r->path, &p->path);
    const char *body = hf_play_fill(p, r->body, &p->body);
    unsigned methods = 0;
    hf_site_answer answer = {0};

    ck_assert_msg(hf_route_find(route->method, hf_slice_from(path, strcspn(path, "?")), &methods) ==
                      route,
                  "%s is not of %s", path, route->path);
    if (r->how == HF_PLAY_SENDS) {
        row_send(p, r, path, body);
        return answer;
    }
    answer = row_answer(p, r, path, body);
    ck_assert_msg(answer.status == r->status, "%s %s %.200s: %d instead of %d: %.600s",
                  hf_http_method_text(route->method), path, body ? body : "", answer.status,
                  r->status, answer.text);
    return answer;
}

hf_site_answer hf_play_ask(hf_play *p, const hf_play_row *r)
{
    const hf_route *route = hf_route_at(r->route);
    const char *missing = "";
    hf_site_answer answer = {0};
    char file[512];

    if (r->how == HF_PLAY_HEARS) {
        row_hear(p, r);
        return answer;
    }
    answer = row_heard(p, r);
    if (r->how == HF_PLAY_SENDS)
        return answer;
    if (r->schema) {
        (void)snprintf(file, sizeof(file), HF_TEST_DIR "/server/schemas/%s.schema.json", r->schema);
        hf_schema_fits(file, answer.body);
    }
    ck_assert_msg(has_all(answer.body, r->required, &missing), "%s has no%s: %.600s", r->path,
                  missing, answer.text);
    if (route->plane == HF_PLANE_WORKER)
        ck_assert_msg(has_all(answer.body, "protocol_version server_capabilities", &missing),
                      "%s has no%s", r->path, missing);
    keep_all(p, answer.body, r->keep);
    return answer;
}

void hf_play_open(hf_play *p, hf_engine_kind kind, const hf_app *app, hf_server_options options)
{
    *p = (hf_play){0};
    hf_site_open(&p->site, kind, app, options);
}

void hf_play_close(hf_play *p)
{
    while (p->sent > 0)
        (void)close(p->fds[--p->sent]);
    hf_site_close(&p->site);
    hf_buf_fini(&p->path);
    hf_buf_fini(&p->body);
}
