/* test_certificate.c: certificates of clients (T26): who shows none, or one that nobody trusted
   signed, is not heard; a name that is listed has its role without another credential. */
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

static hf_value twice(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(2 * hf_int(in, "", 0)));
}

static hf_value doubles(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "twice", in);
}

static const hf_app worker_app = {
    .name = "far",
    .workflows = (const hf_workflow_def[]){{.type = "doubles", .run = doubles}, {0}},
    .activities = (const hf_activity_def[]){{hf_fn(twice)}, {0}},
};

static char folder[64];

static const char *file(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    (void)snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

/* A key and a certificate that signs itself. */
static void authority_make(const char *name)
{
    char command[800];

    (void)snprintf(command, sizeof(command),
                   "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                   "-days 2 -keyout %s.key -subj '/CN=%s' -addext subjectAltName=IP:127.0.0.1 "
                   "-out %s.pem >/dev/null 2>&1",
                   folder, name, name, name);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* One that the authority has signed. */
static void certificate_make(const char *name)
{
    char command[800];

    (void)snprintf(command, sizeof(command),
                   "cd %s && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                   "-keyout %s.key -subj '/CN=%s' -out %s.req >/dev/null 2>&1 && "
                   "openssl x509 -req -days 2 -in %s.req -CA ca.pem -CAkey ca.key -CAcreateserial "
                   "-out %s.pem >/dev/null 2>&1",
                   folder, name, name, name, name, name);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* The status of the answer; 0: there was none. */
static int ask(const hf_site *site, const char *who, const char *path, const char *token)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    int fd = hf_wire_connect(hf_server_port(site->server));
    char text[1024];
    SSL *ssl;
    int status = 0;
    int got = -1;

    if (who) {
        char key[64];
        char certificate[64];

        (void)snprintf(certificate, sizeof(certificate), "%s.pem", who);
        (void)snprintf(key, sizeof(key), "%s.key", who);
        ck_assert_int_eq(SSL_CTX_use_certificate_file(context, file(certificate), SSL_FILETYPE_PEM),
                         1);
        ck_assert_int_eq(SSL_CTX_use_PrivateKey_file(context, file(key), SSL_FILETYPE_PEM), 1);
    }
    ssl = SSL_new(context);
    ck_assert_int_eq(SSL_set_fd(ssl, fd), 1);
    (void)snprintf(text, sizeof(text),
                   "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s"
                   "X-Durable-Workflow-Control-Plane-Version: 2\r\nConnection: close\r\n\r\n",
                   path, token ? "Authorization: Bearer " : "", token ? token : "",
                   token ? "\r\n" : "");
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, text, (int)strlen(text)) > 0)
        got = SSL_read(ssl, text, (int)sizeof(text) - 1);
    if (got > 0) {
        text[got] = '\0';
        ck_assert_int_eq(sscanf(text, "HTTP/1.1 %d", &status), 1);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    (void)close(fd);
    return status;
}

static void folder_make(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/hf-cert-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    authority_make("server");
    authority_make("ca");
    authority_make("stranger");
    certificate_make("ops");
    certificate_make("viewer");
    certificate_make("unlisted");
}

static void folder_remove(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Names have their roles, and no more; others need the credential that everybody needs. */
START_TEST(t26_certificates_have_roles)
{
    hf_server_options options = {.auth = {HF_AUTH_TOKEN, {0}},
                                 .tls_client_roles = "ops=admin, viewer=read"};
    hf_site site;

    (void)signal(SIGPIPE, SIG_IGN); /* who is not heard is cut off */
    folder_make();
    options.tls_certificate = file("server.pem");
    options.tls_key = file("server.key");
    options.tls_client_ca = file("ca.pem");
    hf_site_open(&site, HF_ENGINE_SQLITE, &app, options);
    hf_site_tokens(&site);
    ck_assert_int_eq(ask(&site, NULL, "/api/namespaces", "tok-admin"), 0);
    ck_assert_int_eq(ask(&site, "stranger", "/api/namespaces", "tok-admin"), 0);
    ck_assert_int_eq(ask(&site, "ops", "/api/tokens", NULL), 200);
    ck_assert_int_eq(ask(&site, "viewer", "/api/namespaces", NULL), 200);
    ck_assert_int_eq(ask(&site, "viewer", "/api/tokens", NULL), 403);
    ck_assert_int_eq(ask(&site, "unlisted", "/api/namespaces", NULL), 401);
    ck_assert_int_eq(ask(&site, "unlisted", "/api/namespaces", "tok-read"), 200);
    hf_site_close(&site);
    folder_remove();
}
END_TEST

/* Lists that say something else, and certificates without TLS, open nothing. */
START_TEST(options_are_checked)
{
    static const char *const wrong[] = {"",
                                        "ops",
                                        "ops=boss",
                                        "=admin",
                                        "ops=admin,,x=read",
                                        "a-name-that-is-longer-than-names-are=admin"};
    hf_server *none = NULL;
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                          .tls_certificate = "x",
                                                          .tls_key = "x",
                                                          .tls_client_ca = "x",
                                                          .tls_client_roles = wrong[i]},
                                     &none, &err) == HF_INVALID &&
                          strstr(err.text, "NAME=ROLE"),
                      "%s: %s", wrong[i], err.text);
    ck_assert_int_eq(
        hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0", .tls_client_ca = "x"}, &none,
                       &err),
        HF_INVALID);
    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                         .tls_client_roles = "ops=admin"},
                                    &none, &err),
                     HF_INVALID);
}
END_TEST

/* A program behind a server that it knows by its certificate, and that knows it by its own:
   workflow and activity run there without another credential. */
START_TEST(a_worker_over_tls)
{
    hf_server_options options = {.auth = {HF_AUTH_TOKEN, {0}}, .tls_client_roles = "ops=admin"};
    const hf_error *failure = NULL;
    hf_engine *d = NULL;
    hf_value out = NULL;
    hf_site site;
    char url[64];

    (void)signal(SIGPIPE, SIG_IGN);
    folder_make();
    options.tls_certificate = file("server.pem");
    options.tls_key = file("server.key");
    options.tls_client_ca = file("ca.pem");
    hf_site_open(&site, HF_ENGINE_SQLITE, &app, options);
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", hf_server_port(site.server));
    ck_assert_int_eq(setenv("HF_CERT_FILE", file("ops.pem"), 1), 0);
    ck_assert_int_eq(setenv("HF_KEY_FILE", file("ops.key"), 1), 0);
    ck_assert_int_eq(setenv("HF_CA_FILE", file("server.pem"), 1), 0);
    ck_assert_int_eq(hf_open(url, &worker_app, &d), HF_OK);
    ck_assert_msg(hf_start(d, "doubles", hf_json(d, "21"), .id = "a") == HF_OK, "%s", hf_errmsg(d));
    ck_assert_msg(hf_result(d, "a", hf_seconds(60), &out, &failure) == HF_OK, "%s", hf_errmsg(d));
    ck_assert_int_eq(hf_int(out, "", 0), 42);
    hf_close(d);
    (void)unsetenv("HF_CERT_FILE");
    (void)unsetenv("HF_KEY_FILE");
    (void)unsetenv("HF_CA_FILE");
    hf_site_close(&site);
    folder_remove();
}
END_TEST

HF_SUITE_MAIN("server/certificate", {t26_certificates_have_roles, 60}, {options_are_checked, 0},
              {a_worker_over_tls, 120})
