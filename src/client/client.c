/* client.c: one request at a time through libcurl's multi interface, because that one can be woken
   from another thread. */
#include "client/client.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "client/curl.h"

enum {
    CONNECT_MS = 5000,
    TIMEOUT_MS = 30000,
    REPLY_MAX = 64 * 1024 * 1024,
    LOOK_MS = 1000, /* how long a wait for the socket lasts at most */
    RETRY_AFTER_MAX_S = 3600
};

#define CONTROL_HEADER "X-Durable-Workflow-Control-Plane-Version: 2"
#define WORKER_HEADER  "X-Durable-Workflow-Protocol-Version: 1.20"
#define AGENT          "holdfast/" HF_VERSION_TEXT

struct hf_client {
    const hf_curl *curl;
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers; /* of a request without a body */
    struct curl_slist *body_headers;
    hf_buf base; /* what stands in front of a path */
    hf_buf sent;
    hf_buf received;
    size_t reply_max;
    int64_t timeout_ms;
    bool overflow;
    atomic_bool stopped;
    char problem[CURL_ERROR_SIZE];
};

/* ---- opening */

/* A header line for both lists. */
static bool header_add(hf_client *client, const char *line)
{
    struct curl_slist *plain = client->curl->slist_append(client->headers, line);
    struct curl_slist *body = client->curl->slist_append(client->body_headers, line);

    client->headers = plain ? plain : client->headers;
    client->body_headers = body ? body : client->body_headers;
    return plain && body;
}

static bool header_value_add(hf_client *client, const char *name, const char *value)
{
    hf_buf line = {0};
    bool added;

    if (!value || !*value)
        return true;
    hf_buf_add_format(&line, "%s%s", name, value);
    added = hf_buf_ok(&line) && header_add(client, hf_buf_text(&line));
    hf_buf_fini(&line);
    return added;
}

/* Text that could smuggle in a header of its own. */
static bool text_is_line(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static hf_status headers_make(hf_client *client, const hf_client_options *options, hf_err *err)
{
    struct curl_slist *list;

    if (!text_is_line(options->token) || !text_is_line(options->namespace))
        return hf_err_set(err, HF_INVALID,
                          "a token or namespace holds a control character, a line break perhaps");
    if (!header_add(client, CONTROL_HEADER) || !header_add(client, WORKER_HEADER) ||
        !header_add(client, "Accept: application/json") || !header_add(client, "Expect:") ||
        !header_value_add(client, "Authorization: Bearer ", options->token) ||
        !header_value_add(client, "X-Namespace: ", options->namespace))
        return hf_err_nomem(err, "a client");
    list = client->curl->slist_append(client->body_headers, "Content-Type: application/json");
    client->body_headers = list ? list : client->body_headers;
    return list ? HF_OK : hf_err_nomem(err, "a client");
}

/* A server of this machine. */
static bool url_is_here(const char *url)
{
    const char *host = strstr(url, "://");

    if (!host)
        return true;
    host += 3;
    return strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0 ||
           strncmp(host, "localhost", 9) == 0;
}

/* The address, as libcurl wants it. */
static hf_status address_set(hf_client *client, const char *url, hf_err *err)
{
    const hf_curl *curl = client->curl;
    size_t len = strlen(url);
    CURLcode code = CURLE_OK;

    if (strncmp(url, "unix:", 5) == 0) {
        code = curl->easy_setopt(client->easy, CURLOPT_UNIX_SOCKET_PATH, url + 5);
        hf_buf_add_text(&client->base, "http://localhost");
    } else if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) {
        while (len && url[len - 1] == '/')
            len--;
        hf_buf_add(&client->base, url, len);
    } else {
        return hf_err_set(err, HF_INVALID,
                          "%s is not the address of a server: http://, https:// or unix:PATH", url);
    }
    /* What is on this machine is not asked for through a proxy. */
    if (!code && url_is_here(url))
        code = curl->easy_setopt(client->easy, CURLOPT_PROXY, "");
    return code || !hf_buf_ok(&client->base) ? hf_err_nomem(err, "a client") : HF_OK;
}

static size_t body_take(char *bytes, size_t size, size_t count, void *ctx)
{
    hf_client *client = ctx;
    size_t len = size * count;

    if (len > client->reply_max - client->received.len) {
        client->overflow = true;
        return 0;
    }
    hf_buf_add(&client->received, bytes, len);
    return client->received.failed ? 0 : len;
}

static hf_status easy_prepare(hf_client *client, const hf_client_options *options, hf_err *err)
{
    const hf_curl *curl = client->curl;
    CURL *easy = client->easy;
    long connect_ms = (long)(options->connect_ms > 0 ? options->connect_ms : CONNECT_MS);
    bool far = !url_is_here(options->url); /* on one machine packing costs more than it saves */

    if (curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) ||
        curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, client->problem) ||
        curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
        curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ||
        curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) ||
        curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) ||
        (far && curl->easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip")) ||
        curl->easy_setopt(easy, CURLOPT_USERAGENT, options->agent ? options->agent : AGENT) ||
        curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_take) ||
        curl->easy_setopt(easy, CURLOPT_WRITEDATA, client))
        return hf_err_nomem(err, "a client");
    return address_set(client, options->url, err);
}

/* A file that the environment names. */
static bool file_set(hf_client *client, CURLoption option, const char *name)
{
    const char *path = getenv(name);

    return !path || !*path || !client->curl->easy_setopt(client->easy, option, path);
}

static hf_status trust_set(hf_client *client, hf_err *err)
{
    return file_set(client, CURLOPT_CAINFO, "HF_CA_FILE") &&
                   file_set(client, CURLOPT_SSLCERT, "HF_CERT_FILE") &&
                   file_set(client, CURLOPT_SSLKEY, "HF_KEY_FILE")
               ? HF_OK
               : hf_err_nomem(err, "a client");
}

hf_status hf_client_open(const hf_client_options *options, hf_client **out_client, hf_err *err)
{
    const hf_curl *curl;
    hf_client *client = NULL;
    hf_status st = hf_curl_load(&curl, err);

    *out_client = NULL;
    if (st)
        return st;
    client = hf_alloc(sizeof(*client));
    if (!client)
        return hf_err_nomem(err, "a client");
    client->curl = curl;
    client->reply_max = options->reply_max ? options->reply_max : REPLY_MAX;
    client->timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : TIMEOUT_MS;
    client->easy = curl->easy_init();
    client->multi = curl->multi_init();
    st = client->easy && client->multi ? headers_make(client, options, err)
                                       : hf_err_nomem(err, "a client");
    if (!st)
        st = easy_prepare(client, options, err);
    if (!st)
        st = trust_set(client, err);
    if (st) {
        hf_client_close(client);
        return st;
    }
    *out_client = client;
    return HF_OK;
}

void hf_client_close(hf_client *client)
{
    if (!client)
        return;
    if (client->easy)
        client->curl->easy_cleanup(client->easy);
    if (client->multi)
        (void)client->curl->multi_cleanup(client->multi);
    client->curl->slist_free_all(client->headers);
    client->curl->slist_free_all(client->body_headers);
    hf_buf_fini(&client->base);
    hf_buf_fini(&client->sent);
    hf_buf_fini(&client->received);
    hf_alloc_free(client);
}

/* ---- asking */

static hf_status request_set(hf_client *client, const hf_client_request *request, hf_err *err)
{
    const hf_curl *curl = client->curl;
    CURL *easy = client->easy;
    int64_t timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : client->timeout_ms;
    hf_buf url = {0};
    bool failed;

    client->overflow = false;
    client->problem[0] = '\0';
    hf_buf_clear(&client->received);
    hf_buf_clear(&client->sent);
    hf_buf_add_slice(&url, hf_buf_slice(&client->base));
    hf_buf_add_text(&url, request->path);
    if (request->body)
        hf_json_write(&client->sent, request->body);
    failed = !hf_buf_ok(&url) || !hf_buf_ok(&client->sent) ||
             curl->easy_setopt(easy, CURLOPT_URL, hf_buf_text(&url)) ||
             curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms) ||
             curl->easy_setopt(easy, CURLOPT_HTTPHEADER,
                               request->body ? client->body_headers : client->headers);
    hf_buf_fini(&url);
    if (!failed && request->body)
        failed = curl->easy_setopt(easy, CURLOPT_POSTFIELDS, hf_buf_text(&client->sent)) ||
                 curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)client->sent.len);
    else if (!failed)
        failed = curl->easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (!failed)
        failed = curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    return failed ? hf_err_nomem(err, "a request") : HF_OK;
}

/* Drives the transfer to its end; CURLE_ABORTED_BY_CALLBACK when it was stopped. */
static CURLcode transfer(hf_client *client)
{
    const hf_curl *curl = client->curl;
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    CURLMsg *message;
    int running = 1;
    int left;

    if (curl->multi_add_handle(client->multi, client->easy))
        return CURLE_OUT_OF_MEMORY;
    while (running && !atomic_load(&client->stopped)) {
        if (curl->multi_perform(client->multi, &running) ||
            (running && curl->multi_poll(client->multi, NULL, 0, LOOK_MS, NULL))) {
            code = CURLE_OUT_OF_MEMORY;
            break;
        }
    }
    while ((message = curl->multi_info_read(client->multi, &left)))
        if (message->msg == CURLMSG_DONE)
            code = message->data.result;
    (void)curl->multi_remove_handle(client->multi, client->easy);
    return code;
}

static hf_status transfer_failed(hf_client *client, CURLcode code, hf_err *err)
{
    const char *why = client->problem[0] ? client->problem : client->curl->easy_strerror(code);
    const char *where = hf_buf_text(&client->base);

    if (client->overflow)
        return hf_err_set(err, HF_TOOBIG, "the answer of %s is larger than %zu bytes", where,
                          client->reply_max);
    if (client->received.failed || code == CURLE_OUT_OF_MEMORY)
        return hf_err_nomem(err, "an answer");
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return hf_err_set(err, HF_CANCELLED, "the request to %s was stopped", where);
    if (code == CURLE_URL_MALFORMAT)
        return hf_err_set(err, HF_INVALID, "%s: %s", where, why);
    if (code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM)
        return hf_err_set(err, HF_INVALID, "HF_CA_FILE, HF_CERT_FILE or HF_KEY_FILE: %s", why);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return hf_err_set(err, HF_UNREACHABLE,
                          "%s is not trusted: %s (HF_CA_FILE names whom to trust)", where, why);
    if (code == CURLE_OPERATION_TIMEDOUT && client->received.len == 0)
        return hf_err_set(err, HF_TIMEOUT, "%s did not answer in time: %s", where, why);
    return hf_err_set(err, code == CURLE_OPERATION_TIMEDOUT ? HF_TIMEOUT : HF_UNREACHABLE,
                      "%s cannot be reached: %s", where, why);
}

hf_status hf_client_ask(hf_client *client, const hf_client_request *request, hf_mem *mem,
                        hf_client_reply *out_reply, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = client->reply_max};
    const hf_curl *curl = client->curl;
    curl_off_t retry_after = 0;
    long status = 0;
    CURLcode code;
    hf_status st = request_set(client, request, err);

    *out_reply = (hf_client_reply){0};
    if (st)
        return st;
    code = transfer(client);
    if (code)
        return transfer_failed(client, code, err);
    (void)curl->easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl->easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &retry_after);
    out_reply->status = (int)status;
    if (retry_after > 0)
        out_reply->retry_after_ms =
            1000 * (retry_after > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : (int64_t)retry_after);
    out_reply->text.ptr = hf_mem_text(mem, hf_buf_slice(&client->received));
    out_reply->text.len = client->received.len;
    if (!out_reply->text.ptr)
        return hf_err_nomem(err, "an answer");
    st = hf_json_read(mem, out_reply->text, &limits, &out_reply->body, NULL);
    return st == HF_NOMEM ? hf_err_nomem(err, "an answer") : HF_OK;
}

hf_status hf_client_pause(hf_client *client, int64_t ms, hf_err *err)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + ms * 1000;
    int64_t left_us = ms * 1000;

    while (left_us > 0 && !atomic_load(&client->stopped)) {
        if (client->curl->multi_poll(client->multi, NULL, 0, (int)(left_us / 1000) + 1, NULL))
            return hf_err_nomem(err, "a wait");
        left_us = until_us - hf_clock_mono_us(hf_clock_system());
    }
    return atomic_load(&client->stopped) ? hf_err_set(err, HF_CANCELLED, "the client was stopped")
                                         : HF_OK;
}

void hf_client_stop(hf_client *client)
{
    atomic_store(&client->stopped, true);
    (void)client->curl->multi_wakeup(client->multi);
}

/* ---- answers */

static hf_status status_of(int code, const char *reason)
{
    if (code >= 200 && code < 300)
        return HF_OK;
    if (strstr(reason, "version"))
        return HF_OLDER;
    if (strcmp(reason, hf_strstatus(HF_NEWER)) == 0)
        return HF_NEWER;
    if (strcmp(reason, hf_strstatus(HF_READONLY)) == 0)
        return HF_READONLY;
    switch (code) {
    case 401:
    case 403:
        return HF_DENIED;
    case 404:
    case 410:
        return HF_NOTFOUND;
    case 409:
        return HF_REJECTED;
    case 413:
        return HF_TOOBIG;
    case 429:
    case 503:
        return HF_BUSY;
    case 504:
        return HF_TIMEOUT;
    case 507:
        return HF_FULL;
    default: /* codes are open-ended */
        return code >= 400 && code < 500 ? HF_INVALID : HF_IO;
    }
}

hf_status hf_client_outcome(const hf_client_reply *reply, hf_err *err)
{
    hf_value errors = hf_get(reply->body, "validation_errors");
    hf_status st = status_of(reply->status, hf_str(reply->body, "reason", ""));
    const char *said = hf_str(reply->body, "message", NULL);
    hf_slice field;
    hf_value texts;

    if (!st)
        return HF_OK;
    if (hf_value_member(errors, 0, &field, &texts))
        return hf_err_set(err, st, "%.*s: %s", (int)field.len, field.ptr,
                          hf_str(texts, "0", "not accepted"));
    if (said)
        return hf_err_set(err, st, "%s", said);
    return hf_err_set(err, st, "the server answered with HTTP status %d", reply->status);
}

/* ---- paths */

static void segment_add(hf_buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = byte < 0x80 && (isalnum(byte) || strchr("-._~", (char)byte));

        hf_buf_add_format(out, plain ? "%c" : "%%%02X", byte);
    }
}

const char *hf_client_path(hf_mem *mem, const char *format, ...)
{
    hf_buf path = {0};
    const char *made;
    va_list args;

    va_start(args, format);
    for (const char *at = format; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            segment_add(&path, va_arg(args, const char *));
            at++;
        } else {
            hf_buf_add_byte(&path, (uint8_t)*at);
        }
    }
    va_end(args);
    made = hf_buf_ok(&path) ? hf_mem_text(mem, hf_buf_slice(&path)) : NULL;
    hf_buf_fini(&path);
    return made;
}
