/* gate.c: the checks. Every one fails closed. */
#include "server/gate.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "server/cookie.h"
#include "server/server_impl.h"
#include "server/session.h"

/* ---- hosts and origins: a page in the operator's browser must not reach a server on loopback */

static hf_slice host_bare(hf_slice host)
{
    const char *end;

    if (host.len && host.ptr[0] == '[') {
        end = memchr(host.ptr, ']', host.len);
        return end ? hf_slice_from(host.ptr, (size_t)(end - host.ptr) + 1) : host;
    }
    end = memchr(host.ptr, ':', host.len);
    return end ? hf_slice_from(host.ptr, (size_t)(end - host.ptr)) : host;
}

static bool host_listed(const char *hosts, hf_slice host)
{
    hf_slice rest = hf_slice_of(hosts);
    hf_slice part;

    while (rest.ptr && hf_slice_split(&rest, ',', &part))
        if (part.len && hf_slice_equal(hf_slice_trim(part), host))
            return true;
    return false;
}

static bool host_check(hf_api *api)
{
    static const char local[] = "localhost,127.0.0.1,[::1]";
    const hf_server *server = api->server;
    hf_slice host;

    if (!hf_http_request_field(api->request, "host", &host))
        return true; /* HTTP/1.0: no browser */
    host = host_bare(host);
    if (host_listed(local, host) || host_listed(server->options.hosts, host))
        return true;
    if (!server->loopback && !server->options.hosts)
        return true;
    hf_api_error(api, 421, "host_not_allowed", "This server is not known by that name.");
    return false;
}

static bool origin_check(hf_api *api)
{
    hf_slice origin;
    hf_slice host;
    hf_slice site;
    const char *at;

    if (api->request->method == HF_HTTP_GET || api->request->method == HF_HTTP_HEAD)
        return true;
    if (hf_http_request_field(api->request, "sec-fetch-site", &site) &&
        !hf_slice_equal(site, HF_SLICE("same-origin")) && !hf_slice_equal(site, HF_SLICE("none"))) {
        hf_api_error(api, 403, "origin_not_allowed", "The request comes from another site.");
        return false;
    }
    if (!hf_http_request_field(api->request, "origin", &origin))
        return true;
    (void)hf_http_request_field(api->request, "host", &host);
    at = origin.len > 8 ? strstr(hf_mem_text(api->mem, origin), "://") : NULL;
    if (at && host.len && hf_slice_equal(hf_slice_of(at + 3), host))
        return true;
    hf_api_error(api, 403, "origin_not_allowed", "The request comes from a page of another site.");
    return false;
}

/* ---- credential and role */

/* Browsers may carry a session where people work, and only there. */
static bool session_sent(const hf_api *api, hf_slice *out_secret)
{
    hf_plane plane = api->route->plane;
    hf_slice credential;

    return hf_auth_driver_of(api->server->auth) != HF_AUTH_NONE &&
           (plane == HF_PLANE_CONTROL || plane == HF_PLANE_CONSOLE ||
            plane == HF_PLANE_DISCOVERY) &&
           !hf_http_request_field(api->request, "authorization", &credential) &&
           !hf_http_request_field(api->request, "x-signature", &credential) &&
           hf_cookie_read(api->server, api->request, out_secret);
}

/* A browser sends its cookie with whatever a page makes it send: what changes something must carry
   a header as well, which pages of other sites cannot add. */
static bool session_check(hf_api *api, hf_slice secret)
{
    hf_server *server = api->server;
    int64_t now_us = hf_clock_real_us(server->clock);
    hf_slice said;

    if (!hf_session_find(server->sessions, secret, now_us, &api->principal)) {
        hf_api_error(api, 401, "unauthenticated", "The session is over. Log in again.");
        return false;
    }
    if (hf_auth_ended(server->auth, &api->principal, now_us)) {
        hf_api_error(api, 401, "unauthenticated",
                     "The token of this session was revoked or has expired. Log in again.");
        return false;
    }
    if (api->request->method == HF_HTTP_GET || api->request->method == HF_HTTP_HEAD ||
        hf_http_request_field(api->request, "x-holdfast-console", &said))
        return true;
    hf_api_error(api, 403, "console_header_missing",
                 "A request of a browser that changes something needs the header "
                 "X-Holdfast-Console: 1.");
    return false;
}

static bool credential_check(hf_api *api)
{
    hf_server *server = api->server;
    hf_slice secret;
    hf_err err = {0};
    hf_status st;

    if (server->options.tls_client_roles && api->subject[0] &&
        hf_auth_certificate(server->options.tls_client_roles, api->subject, &api->principal))
        return true;
    if (session_sent(api, &secret))
        return session_check(api, secret);
    st = hf_auth_check(server->auth, api->request, hf_clock_real_us(server->clock), &api->principal,
                       &err);

    if (!st)
        return true;
    if (st != HF_DENIED) {
        hf_api_error(api, 503, "overloaded", "The credential could not be checked.");
        return false;
    }
    hf_api_error(api, 401, "unauthenticated", "%s", err.text);
    if (hf_auth_driver_of(server->auth) == HF_AUTH_TOKEN)
        hf_http_reply_field(&api->reply, "WWW-Authenticate", HF_SLICE("Bearer"));
    return false;
}

static bool role_check(hf_api *api)
{
    if (api->route->plane == HF_PLANE_DISCOVERY ||
        hf_role_allows(api->route->role) & 1U << api->principal.role)
        return true;
    hf_api_error(api, 403, "forbidden", "This needs the role %s; the credential has %s.",
                 hf_role_text(api->route->role), hf_role_text(api->principal.role));
    return false;
}

/* ---- webhooks: one credential of their own */

static bool webhook_check(hf_api *api)
{
    hf_server *server = api->server;
    hf_err err = {0};
    hf_status st =
        hf_webhook_check(&server->options.webhook, api->request, hf_auth_signatures(server->auth),
                         hf_clock_real_us(server->clock), api->mem, &api->principal, &err);

    if (!st)
        return true;
    if (st == HF_DENIED)
        hf_api_error(api, 401, "unauthenticated", "%s", err.text);
    else
        hf_api_error(api, 503, "overloaded", "The credential could not be checked.");
    return false;
}

/* ---- versions */

static bool control_version_check(hf_api *api)
{
    hf_slice version;

    if (!hf_http_request_field(api->request, "x-durable-workflow-control-plane-version",
                               &version)) {
        hf_api_error(api, 400, "missing_control_plane_version",
                     "The header " HF_CONTROL_PLANE_HEADER " is missing.");
        return false;
    }
    if (hf_slice_equal(version, HF_SLICE(HF_CONTROL_PLANE_VERSION)))
        return true;
    hf_api_error(api, 400, "unsupported_control_plane_version",
                 "Control plane version %.*s is not served here; version %s is.", (int)version.len,
                 version.ptr, HF_CONTROL_PLANE_VERSION);
    return false;
}

static bool worker_version_check(hf_api *api)
{
    hf_slice version;
    hf_slice major;
    hf_slice minor;
    int64_t numbers[2];

    if (!hf_http_request_field(api->request, "x-durable-workflow-protocol-version", &version)) {
        hf_api_error(api, 400, "missing_protocol_version",
                     "The header " HF_WORKER_PROTOCOL_HEADER " is missing.");
        return false;
    }
    minor = version;
    if (hf_slice_split(&minor, '.', &major) && minor.ptr && hf_slice_int(major, &numbers[0]) &&
        hf_slice_int(minor, &numbers[1]) && numbers[0] == HF_WORKER_PROTOCOL_MAJOR &&
        numbers[1] >= 0 && numbers[1] <= HF_WORKER_PROTOCOL_MINOR)
        return true;
    hf_api_error(api, 400, "unsupported_protocol_version",
                 "Worker protocol %.*s is not served here; 1.0 to %s are.", (int)version.len,
                 version.ptr, HF_WORKER_PROTOCOL_TEXT);
    hf_api_add(api,
               hf_json_(api->mem, "{'supported_version': %s, 'requested_version': %p}",
                        HF_WORKER_PROTOCOL_TEXT, (const void *)hf_value_string(api->mem, version)));
    return false;
}

static bool version_check(hf_api *api)
{
    switch (api->route->plane) {
    case HF_PLANE_CONTROL:
        return control_version_check(api);
    case HF_PLANE_WORKER:
        return worker_version_check(api);
    case HF_PLANE_OPEN:
    case HF_PLANE_DISCOVERY:
    case HF_PLANE_WEBHOOK:
    case HF_PLANE_CONSOLE:
    case HF_PLANE_ANSWER:
        break;
    }
    return true;
}

/* ---- namespace */

static bool namespace_check(hf_api *api)
{
    hf_slice name = HF_SLICE(HF_NAMESPACE_DEFAULT);
    hf_slice sent;

    if (api->route->scope == HF_SCOPE_NONE)
        return true;
    if (hf_http_request_field(api->request, "x-namespace", &sent) && sent.len)
        name = sent;
    else if (hf_http_query_find(&api->query, "namespace", &sent) && sent.len)
        name = sent;
    if (name.len < sizeof(api->namespace) && hf_principal_sees(&api->principal, name) &&
        hf_server_namespace_exists(api->server, name)) {
        (void)snprintf(api->namespace, sizeof(api->namespace), "%.*s", (int)name.len, name.ptr);
        return true;
    }
    hf_api_error(api, 404, "namespace_not_found", "There is no such namespace.");
    return false;
}

/* Whether who asks has to say who that is. */
static bool asks_credential(const hf_route *route)
{
    return route->plane != HF_PLANE_OPEN && route->plane != HF_PLANE_ANSWER;
}

bool hf_gate_head(hf_api *api)
{
    if (!host_check(api) || !origin_check(api))
        return false;
    if (!asks_credential(api->route))
        return true;
    if (api->route->plane == HF_PLANE_WEBHOOK)
        return hf_webhook_needs_body(api->server->options.webhook.mode) || webhook_check(api);
    if (hf_auth_driver_of(api->server->auth) == HF_AUTH_SIGNATURE)
        return true; /* needs the body */
    return credential_check(api) && role_check(api);
}

bool hf_gate_pass(hf_api *api)
{
    hf_err err = {0};
    hf_status st;

    if (!host_check(api) || !origin_check(api))
        return false;
    if (api->route->plane == HF_PLANE_WEBHOOK && !webhook_check(api))
        return false;
    if (asks_credential(api->route) && api->route->plane != HF_PLANE_WEBHOOK &&
        !(credential_check(api) && role_check(api)))
        return false;
    if (!version_check(api))
        return false;
    st = hf_http_path_params(api->mem, api->route->path, hf_http_request_path(api->request),
                             &api->params, &err);
    if (!st)
        st = hf_http_query_read(api->mem, hf_http_request_query(api->request), &api->query, &err);
    if (st) {
        hf_api_error(api, st == HF_NOMEM ? 503 : 400,
                     st == HF_NOMEM ? "overloaded" : "malformed_target", "%s", err.text);
        return false;
    }
    return namespace_check(api) && hf_api_query_check(api);
}
