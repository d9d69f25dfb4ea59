/* api_answer.c: approvals: what waits for a person, links that answer one of them, and the pages
   behind these links. Who has a link needs no account; that an answer is given once is the
   engine's to keep (hf_answer_link_use). The token of a link is never recorded. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/answer_page.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/throttle.h"

enum { RUNS_USUAL = 50, RUNS_MAX = 200 };

/* ---- for those who are logged in */

static bool engine_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "approval_not_found", "%s", text);
    else if (st == HF_EXISTS)
        hf_api_error(api, 409, "too_many_links", "%s", text);
    else if (st)
        hf_api_status(api, st, text);
    return st != HF_OK;
}

void hf_api_approvals(hf_api *api)
{
    int64_t limit = 0;
    hf_value out = NULL;

    if (!hf_api_query_int(api, "limit", RUNS_USUAL, 1, RUNS_MAX, &limit) ||
        engine_failed(api, hf_approvals(api->server->engine,
                                        hf_json_(api->mem, "{'limit': %lld, 'cursor': %s, 'q': %s}",
                                                 (long long)limit, hf_api_query_text(api, "cursor"),
                                                 hf_api_query_text(api, "q")),
                                        api->mem, &out)))
        return;
    hf_api_json(
        api, 200,
        hf_value_merge(api->mem, hf_json_(api->mem, "{'namespace': %s}", api->namespace), out));
}

void hf_api_approval_link(hf_api *api)
{
    hf_value_list *request = hf_value_object(api->mem);
    hf_slice host = HF_SLICE("localhost");
    hf_value link = NULL;
    const char *token;

    hf_command_text(api, request, "approval", hf_api_param_named(api, "approval"));
    hf_command_text(api, request, "created_by", api->principal.label);
    hf_command_field(request, api->body, "label");
    hf_command_field(request, api->body, "lifespan_seconds");
    if (engine_failed(api, hf_answer_link_create(api->server->engine, hf_value_finish(request),
                                                 api->mem, &link)))
        return;
    token = hf_str(link, "token", "");
    (void)hf_http_request_field(api->request, "host", &host);
    api->reply.secret = true;
    hf_api_json(
        api, 201,
        hf_json_(api->mem,
                 "{'id': %p, 'label': %p, 'path': %s, 'url': %s, 'created_at': %p, 'expires_at': "
                 "%p}",
                 (const void *)hf_get(link, "id"), (const void *)hf_get(link, "label"),
                 hf_mem_format(api->mem, "answer/%s", token),
                 hf_mem_format(api->mem, "%s://%.*s/answer/%s",
                               api->server->options.tls_certificate ? "https" : "http",
                               (int)host.len, host.ptr, token),
                 (const void *)hf_get(link, "created_at"),
                 (const void *)hf_get(link, "expires_at")));
}

void hf_api_approval_unlink(hf_api *api)
{
    int64_t count = 0;

    if (!engine_failed(api, hf_answer_link_revoke(api->server->engine,
                                                  hf_api_param_named(api, "approval"), &count)))
        hf_api_json(api, 200, hf_json_(api->mem, "{'revoked': %lld}", (long long)count));
}

/* ---- pages */

static void say_over(hf_api *api, const char *state)
{
    static const struct {
        const char *state;
        const char *title;
        const char *sentence;
    } rows[] = {{"used", "Answered already",
                 "This link has been used. It answers once, and the answer is recorded."},
                {"revoked", "The link was withdrawn",
                 "Whoever sent you this link has withdrawn it. Ask them for another."},
                {"expired", "The link is too old",
                 "The time of this link is over. Ask whoever sent it for another."}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].state, state) == 0) {
            hf_answer_page_say(api, 410, rows[i].title, rows[i].sentence);
            return;
        }
    hf_answer_page_say(api, 410, "No answer is needed any more",
                       "Somebody has answered already, or the workflow went on without it.");
}

static void say_failed(hf_api *api, hf_status st)
{
    if (st == HF_NOTFOUND)
        hf_answer_page_say(api, 404, "No such link",
                           "This link leads nowhere. Was it copied as a whole?");
    else
        hf_answer_page_say(api, st == HF_ERROR || st == HF_CORRUPT ? 500 : 503, "That did not work",
                           "The answer could not be recorded now. Try again in a moment; it is "
                           "recorded once, however often you try.");
}

/* What the link leads to, when it can be answered; NULL: a page has said why not. */
static hf_value link_open(hf_api *api)
{
    hf_value link = NULL;
    hf_status st;

    if (!hf_throttle_allows(api->server->throttle,
                            hf_slice_of(hf_http_exchange_peer(api->exchange)),
                            hf_clock_mono_us(api->server->clock))) {
        hf_answer_page_say(api, 429, "Too many requests",
                           "There were too many requests from your address. Try again in ten "
                           "seconds.");
        return NULL;
    }
    st = hf_answer_link_look(api->server->engine, hf_api_param(api, 0), api->mem, &link);
    if (st) {
        say_failed(api, st);
        return NULL;
    }
    if (strcmp(hf_str(link, "state", ""), "open") == 0)
        return link;
    say_over(api, hf_str(link, "state", ""));
    return NULL;
}

void hf_api_answer(hf_api *api)
{
    hf_value link = link_open(api);

    if (link)
        hf_answer_page_ask(api, 200, link, NULL, NULL);
}

/* ---- what was typed */

/* A text as JSON of its type; NULL and *out_fault: it is none. */
static hf_value typed_value(hf_api *api, const char *type, hf_slice text, const char **out_fault)
{
    static const struct {
        const char *type;
        const char *fault;
        unsigned kinds;
    } rows[] = {{"int", "A whole number is needed.", 1U << HF_VALUE_INT},
                {"duration", "A whole number of milliseconds is needed.", 1U << HF_VALUE_INT},
                {"number", "A number is needed.", 1U << HF_VALUE_INT | 1U << HF_VALUE_DOUBLE},
                {"bool", "Yes or no is needed.", 1U << HF_VALUE_BOOL},
                {"array", "A JSON list such as [1, 2] is needed.", 1U << HF_VALUE_ARRAY},
                {"object", "A JSON object such as {\"a\": 1} is needed.", 1U << HF_VALUE_OBJECT}};
    hf_value value = NULL;
    hf_err err;
    bool json;

    if (strcmp(type, "string") == 0 || strcmp(type, "enum") == 0 || strcmp(type, "time") == 0)
        return hf_value_string(api->mem, text);
    json = !hf_json_read(api->mem, text, NULL, &value, &err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].type, type) != 0)
            continue;
        if (json && rows[i].kinds & 1U << hf_value_kind_of(value))
            return value;
        *out_fault = rows[i].fault;
        return NULL;
    }
    return json ? value : hf_value_string(api->mem, text);
}

/* The argument for one parameter; NULL: left out, or *out_fault says what is wrong. */
static hf_value argument_of(hf_api *api, hf_value parameter, const hf_http_query *form,
                            const char **out_fault)
{
    const char *field =
        hf_mem_format(api->mem, HF_ANSWER_FIELD "%s", hf_str(parameter, "name", ""));
    hf_slice text = {0};

    *out_fault = NULL;
    if (field)
        (void)hf_http_query_find(form, field, &text);
    if (text.len)
        return typed_value(api, hf_str(parameter, "type", "any"), text, out_fault);
    if (hf_bool(parameter, "required", false))
        *out_fault = "An answer is needed here.";
    return NULL;
}

/* Whether there is nothing to name: no parameter, or the one that has none. */
static bool is_plain(hf_value parameters)
{
    return !hf_len(parameters) || (hf_len(parameters) == 1 && !*hf_str(parameters, "0.name", ""));
}

/* What the signal is sent with, and what is wrong with what was typed (NULL: nothing). */
static hf_value arguments_of(hf_api *api, hf_value parameters, const hf_http_query *form,
                             hf_value *out_faults)
{
    hf_value_list *named = hf_value_object(api->mem);
    hf_value_list *faults = NULL;
    hf_value only = NULL;
    hf_slice text = {0};

    *out_faults = NULL;
    if (hf_value_kind_of(parameters) != HF_VALUE_ARRAY) {
        const char *fault = NULL;

        return hf_http_query_find(form, HF_ANSWER_PLAIN, &text) && text.len
                   ? hf_json_(api->mem, "[%p]", (const void *)typed_value(api, "any", text, &fault))
                   : NULL;
    }
    for (size_t i = 0; i < hf_len(parameters); i++) {
        hf_slice name = hf_value_slice(hf_get(hf_at(parameters, i), "name"));
        const char *fault;
        hf_value value = argument_of(api, hf_at(parameters, i), form, &fault);

        if (fault) {
            faults = faults ? faults : hf_value_object(api->mem);
            hf_value_set(faults, name, hf_json_(api->mem, "[%s]", fault));
        } else if (value && name.len) {
            hf_value_set(named, name, value);
        } else if (value) {
            only = value;
        }
    }
    if (faults)
        *out_faults = hf_value_finish(faults);
    return is_plain(parameters) ? only : hf_value_finish(named);
}

/* Who answers: the link, from its address. The path has the token in it and is not kept. */
static hf_value context_of(hf_api *api, hf_value link)
{
    hf_value context;

    api->principal.method = "link";
    context = hf_api_context(api);
    if (!context)
        return NULL;
    return hf_value_merge(
        api->mem, context,
        hf_json_(api->mem,
                 "{'auth': {'status': 'authorized', 'method': 'link'}, 'request': %p, "
                 "'principal': {'type': 'link', 'id': %p, 'label': %p}}",
                 (const void *)hf_value_merge(
                     api->mem, hf_get(context, "request"),
                     hf_json_(api->mem, "{'path': %s, 'fingerprint': null}", api->route->path)),
                 (const void *)hf_get(link, "id"), (const void *)hf_get(link, "label")));
}

static void answer_tell(hf_api *api, hf_value link, const hf_http_query *form, hf_status st,
                        const hf_command_result *result)
{
    if (st == HF_CONFLICT)
        say_over(api, "over");
    else if (st)
        say_failed(api, st);
    else if (result->accepted)
        hf_answer_page_say(api, 200, "Thank you",
                           "Your answer is recorded, and the workflow goes on with it.");
    else
        hf_answer_page_ask(api, 422, link, form, hf_get(result->detail, "validation_errors"));
}

void hf_api_answer_send(hf_api *api)
{
    hf_value link = link_open(api);
    hf_value parameters = hf_get(link, "approval.parameters");
    hf_command_result result = {0};
    hf_http_query form;
    hf_value arguments;
    hf_value context;
    hf_value faults;
    hf_err err = {0};

    if (!link)
        return;
    if (hf_http_form_read(api->mem, hf_buf_slice(&api->request->body), &form, &err)) {
        hf_answer_page_say(api, 422, "The form could not be read", err.text);
        return;
    }
    arguments = arguments_of(api, parameters, &form, &faults);
    if (faults) {
        hf_answer_page_ask(api, 422, link, &form, faults);
        return;
    }
    context = context_of(api, link);
    if (!context) {
        say_failed(api, HF_NOMEM);
        return;
    }
    answer_tell(api, link, &form,
                hf_answer_link_use(api->server->engine, hf_api_param(api, 0), arguments, context,
                                   hf_http_exchange_peer(api->exchange), api->mem, &result),
                &result);
}
