/* api_console_session.c: how a browser logs in, and who it is. A token is shown once and exchanged
   for a session in a cookie that scripts cannot read; a link does the same for who holds no token.
   All of it is judged from memory, on the loop; what the store keeps of a session is written on a
   thread that may wait, before the answer. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/tool.h"
#include "server/cookie.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/session_store.h"

/* What the pages can ask for beside what every server has: one a line. */
static const char features[] = "runs "
                               "overview "
                               "stream "
                               "spans "
                               "why "
                               "attention "
                               "failures "
                               "series "
                               "durations "
                               "deploys "
                               "imports "
                               "types "
                               "queues "
                               "limits "
                               "workers "
                               "builds "
                               "preferences "
                               "sql "
                               "approvals "
                               "head "
                               "events "
                               "waits "
                               "steps "
                               "commands "
                               "activities "
                               "timers "
                               "tasks "
                               "state "
                               "lineage "
                               "bundles "
                               "diff "
                               "replay "
                               "payloads "
                               "marks ";

static hf_value time_value(hf_api *api, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    if (!hf_clock_print(us, text))
        return hf_value_null();
    return hf_value_string(api->mem, hf_slice_of(text));
}

static hf_value features_value(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_slice rest = hf_slice_trim(hf_slice_of(features));
    hf_slice word;

    while (hf_slice_split(&rest, ' ', &word))
        hf_value_append(list, hf_value_string(api->mem, word));
    return hf_value_finish(list);
}

/* Those that the principal may see, the default one first when it is among them. */
static hf_value namespaces_value(hf_api *api, const hf_principal *who)
{
    hf_server *server = api->server;
    hf_value_list *list = hf_value_array(api->mem);
    hf_slice rest;
    hf_slice name;

    hf_mutex_lock(&server->mutex);
    rest = hf_buf_slice(&server->namespaces);
    while (rest.ptr && hf_slice_split(&rest, ',', &name))
        if (name.len && hf_principal_sees(who, name))
            hf_value_append(list, hf_value_string(api->mem, name));
    hf_mutex_unlock(&server->mutex);
    return hf_value_finish(list);
}

/* Where it begins: the default one, or the first that it may see. */
static hf_value namespace_first(hf_value spaces)
{
    for (size_t i = 0; i < hf_len(spaces); i++)
        if (hf_slice_equal(hf_value_slice(hf_at(spaces, i)), HF_SLICE(HF_NAMESPACE_DEFAULT)))
            return hf_at(spaces, i);
    return hf_len(spaces) ? hf_at(spaces, 0) : hf_value_null();
}

static const char *driver_text(const hf_server *server)
{
    switch (hf_auth_driver_of(server->auth)) {
    case HF_AUTH_TOKEN:
        return "token";
    case HF_AUTH_SIGNATURE:
        return "signature";
    case HF_AUTH_NONE:
        break;
    }
    return "none";
}

static void me_answer(hf_api *api, const hf_principal *who)
{
    const hf_server *server = api->server;
    const hf_server_options *options = &server->options;
    hf_value spaces = namespaces_value(api, who);
    unsigned role = 1U << who->role;

    hf_api_json(
        api, 200,
        hf_json_(
            api->mem,
            "{'principal': {'id': %s, 'label': %s, 'role': %s, 'method': %s}, 'can': {'read': %p, "
            "'operate': %p, 'administer': %p}, 'namespaces': %p, 'namespace': %p, 'server': "
            "{'version': %s, 'started_at': %p, 'time': %p, 'store': %s, 'auth': %s}, "
            "'environment': %p, 'features': %p}",
            who->id, who->label, hf_role_text(who->role), who->method,
            (const void *)hf_value_bool((hf_role_allows(HF_ROLE_READ) & role) != 0),
            (const void *)hf_value_bool((hf_role_allows(HF_ROLE_OPERATOR) & role) != 0),
            (const void *)hf_value_bool((hf_role_allows(HF_ROLE_ADMIN) & role) != 0),
            (const void *)spaces, (const void *)namespace_first(spaces), hf_version_text(),
            (const void *)time_value(api, server->started_us),
            (const void *)time_value(api, hf_clock_wall_us(server->clock)), options->store,
            driver_text(server),
            (const void *)(options->environment
                               ? hf_json_(api->mem, "{'name': %s, 'color': %s}",
                                          options->environment, options->environment_color)
                               : hf_value_null()),
            (const void *)features_value(api)));
}

void hf_api_me(hf_api *api)
{
    me_answer(api, &api->principal);
}

/* A session that begins or ends, until the store has it. */
typedef struct change {
    hf_session_row row;
    char secret[HF_SESSION_SECRET_SIZE]; /* of one that begins */
} change;

/* The cookie goes out when the session is kept. A store that cannot be written does not keep people
   out, who may have come to see why: such a session ends with the server. */
static void session_kept(hf_api *api)
{
    const change *of = api->more;

    (void)!hf_session_write(api->server, &of->row);
    hf_cookie_set(api->server, &api->reply, of->secret);
}

/* A session for whoever has shown a credential; `then` answers, on a thread that may wait. */
static void session_begin(hf_api *api, const hf_principal *who, void (*then)(hf_api *api))
{
    change *of = hf_mem_alloc(api->mem, sizeof(*of));
    hf_err err = {0};

    api->principal = *who;
    api->principal.method = "session";
    api->more = of;
    if (!of || hf_session_begin(api->server->sessions, &api->principal,
                                hf_clock_real_us(api->server->clock), of->secret, &of->row, &err))
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
    else
        hf_api_wait(api, then);
}

static void login_answer(hf_api *api)
{
    session_kept(api);
    me_answer(api, &api->principal);
}

void hf_api_login(hf_api *api)
{
    hf_server *server = api->server;
    hf_principal who = {0};
    hf_err err = {0};
    hf_status st;

    if (hf_auth_driver_of(server->auth) != HF_AUTH_TOKEN) {
        hf_api_error(api, 409, "login_not_needed",
                     "This server asks for no token (--auth %s), so none logs in.",
                     driver_text(server));
        return;
    }
    st =
        hf_auth_token_find(server->auth, hf_slice_trim(hf_slice_of(hf_str(api->body, "token", ""))),
                           hf_clock_real_us(server->clock), &who, &err);
    if (st == HF_DENIED)
        hf_api_error(api, 401, "unauthenticated",
                     "This token does not log in: it is unknown, expired or revoked.");
    else if (st)
        hf_api_error(api, 503, "overloaded", "The token could not be checked.");
    else if (!(hf_role_allows(HF_ROLE_READ) & 1U << who.role))
        hf_api_error(api, 403, "forbidden", "A token of the role %s may not look at runs.",
                     hf_role_text(who.role));
    else
        session_begin(api, &who, login_answer);
}

/* It is over here in any case; where the store was not told, it would begin again with the server.
 */
static void logout_answer(hf_api *api)
{
    const change *of = api->more;
    hf_status st = hf_session_write(api->server, &of->row);

    hf_cookie_set(api->server, &api->reply, "");
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200, hf_json_(api->mem, "{'logged_out': true}"));
}

void hf_api_logout(hf_api *api)
{
    change *of = hf_mem_alloc(api->mem, sizeof(*of));
    hf_slice secret;

    api->more = of;
    if (!of)
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
    else if (hf_cookie_read(api->server, api->request, &secret) &&
             hf_session_end(api->server->sessions, secret, hf_clock_real_us(api->server->clock),
                            &of->row))
        hf_api_wait(api, logout_answer);
    else
        logout_answer(api); /* who asks with a token has nothing to end */
}

/* ---- links */

hf_status hf_server_login_link(hf_server *server, const char *token_id,
                               char out_secret[HF_SESSION_SECRET_SIZE], hf_err *err)
{
    hf_principal who;

    if (!hf_auth_principal(server->auth, token_id, &who))
        return hf_err_set(err, HF_NOTFOUND, "there is no token %s", token_id);
    return hf_session_link(server->sessions, &who, hf_clock_real_us(server->clock), out_secret,
                           err);
}

void hf_api_login_link(hf_api *api)
{
    hf_server *server = api->server;
    int64_t now_us = hf_clock_real_us(server->clock);
    char secret[HF_SESSION_SECRET_SIZE];
    hf_slice host = HF_SLICE("localhost");
    hf_err err = {0};

    if (hf_session_link(server->sessions, &api->principal, now_us, secret, &err)) {
        hf_api_error(api, 503, "overloaded", "Memory ran out.");
        return;
    }
    (void)hf_http_request_field(api->request, "host", &host);
    api->reply.secret = true;
    hf_api_json(api, 201,
                hf_json_(api->mem, "{'link': %s, 'url': %s, 'expires_at': %p}",
                         hf_mem_format(api->mem, "console/login?link=%s", secret),
                         hf_mem_format(api->mem, "%s://%.*s/console/login?link=%s",
                                       server->options.tls_certificate ? "https" : "http",
                                       (int)host.len, host.ptr, secret),
                         (const void *)time_value(api, hf_clock_wall_us(server->clock) +
                                                           (int64_t)HF_SESSION_LINK_S * 1000000)));
}

static void redirect(hf_api *api, const char *where)
{
    api->reply.status = 302;
    hf_http_reply_field(&api->reply, "Referrer-Policy", HF_SLICE("no-referrer"));
    hf_http_reply_field(&api->reply, "Location", hf_slice_of(where));
}

static void link_answer(hf_api *api)
{
    session_kept(api);
    redirect(api, "./");
}

/* A person opens it: whatever comes of it, the page says it. */
void hf_api_login_open(hf_api *api)
{
    static const char *const where[] = {[HF_SESSION_LINK_USED] = "./?login=used",
                                        [HF_SESSION_LINK_EXPIRED] = "./?login=expired",
                                        [HF_SESSION_LINK_UNKNOWN] = "./?login=unknown"};
    hf_server *server = api->server;
    int64_t now_us = hf_clock_real_us(server->clock);
    const char *link = hf_api_query_text(api, "link");
    hf_principal who = {0};
    hf_session_link_state state =
        link ? hf_session_link_use(server->sessions, hf_slice_of(link), now_us, &who)
             : HF_SESSION_LINK_UNKNOWN;

    if (state == HF_SESSION_LINK_GOOD && hf_auth_ended(server->auth, &who, now_us))
        state = HF_SESSION_LINK_EXPIRED;
    if (state == HF_SESSION_LINK_GOOD)
        session_begin(api, &who, link_answer);
    else
        redirect(api, where[state]);
}
