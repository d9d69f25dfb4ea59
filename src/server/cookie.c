/* cookie.c: see cookie.h. */
#include "server/cookie.h"

#include <stdio.h>

#include "server/server_impl.h"
#include "server/session.h"

static bool is_secure(const hf_server *server)
{
    return server->options.tls_certificate || server->options.behind_proxy;
}

void hf_cookie_name(const hf_server *server, char out_name[HF_COOKIE_NAME_SIZE])
{
    if (is_secure(server))
        (void)snprintf(out_name, HF_COOKIE_NAME_SIZE, "__Host-holdfast");
    else
        (void)snprintf(out_name, HF_COOKIE_NAME_SIZE, "holdfast_session_%d",
                       hf_server_port(server));
}

bool hf_cookie_read(const hf_server *server, const hf_http_request *request, hf_slice *out_secret)
{
    char wanted[HF_COOKIE_NAME_SIZE];
    hf_slice rest;
    hf_slice pair;
    hf_slice name;

    if (!hf_http_request_field(request, "cookie", &rest))
        return false;
    hf_cookie_name(server, wanted);
    while (rest.ptr && hf_slice_split(&rest, ';', &pair)) {
        pair = hf_slice_trim(pair);
        if (!hf_slice_split(&pair, '=', &name) || !hf_slice_equal(name, hf_slice_of(wanted)))
            continue;
        *out_secret = pair;
        return pair.len > 0;
    }
    return false;
}

void hf_cookie_set(const hf_server *server, hf_http_reply *reply, const char *secret)
{
    char name[HF_COOKIE_NAME_SIZE];
    char line[HF_COOKIE_NAME_SIZE + HF_SESSION_SECRET_SIZE + 96];

    hf_cookie_name(server, name);
    (void)snprintf(line, sizeof(line), "%s=%s; Path=/; HttpOnly; SameSite=Strict%s; Max-Age=%d",
                   name, secret, is_secure(server) ? "; Secure" : "",
                   secret[0] ? HF_SESSION_LIFE_S : 0);
    hf_http_reply_field(reply, "Set-Cookie", hf_slice_of(line));
}
