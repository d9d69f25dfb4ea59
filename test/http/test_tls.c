/* test_tls.c: the server over TLS, and the certificates and keys that it refuses. */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/app.h"

static void certificate_make(const char *folder)
{
    char command[600];

    (void)snprintf(command, sizeof(command),
                   "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                   "-subj /CN=localhost -keyout %s/key.pem -out %s/cert.pem >/dev/null 2>&1",
                   folder, folder);
    ck_assert_int_eq(system(command), 0);
}

static void folder_remove(const char *folder)
{
    char command[100];

    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Over TLS it answers the same. Who speaks plain HTTP there is told so in the clear, and who speaks
   neither is cut off. */
START_TEST(speaks_tls)
{
    char folder[] = "/tmp/hf_tls_XXXXXX";
    char certificate[64];
    char key[64];
    app self;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    ck_assert_ptr_nonnull(mkdtemp(folder));
    certificate_make(folder);
    (void)snprintf(certificate, sizeof(certificate), "%s/cert.pem", folder);
    (void)snprintf(key, sizeof(key), "%s/key.pem", folder);
    app_open(&self, (hf_http_options){.tls_certificate = certificate, .tls_key = key});
    for (int i = 0; i < 3; i++) {
        int fd = hf_wire_connect(app_port(&self));
        SSL *ssl = SSL_new(context);
        char answer[4096] = "";
        int got = 0;

        ck_assert_int_eq(SSL_set_fd(ssl, fd), 1);
        ck_assert_int_eq(SSL_connect(ssl), 1);
        ck_assert_int_gt(SSL_write(ssl, GET("/later"), (int)strlen(GET("/later"))), 0);
        while (got >= 0 && !strstr(answer, "later")) {
            int more = SSL_read(ssl, answer + got, (int)sizeof(answer) - 1 - got);

            ck_assert_int_gt(more, 0);
            got += more;
        }
        ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 200 OK"));
        SSL_free(ssl);
        (void)close(fd);
    }
    ck_assert_int_eq(hf_wire_ask(app_port(&self), HF_SLICE(GET("/echo")), false), 400);
    ck_assert_int_eq(hf_wire_ask(app_port(&self), HF_SLICE("\x16\x03\x01\x00\x05hello"), false), 0);
    app_close(&self);
    SSL_CTX_free(context);
    folder_remove(folder);
}
END_TEST

/* Files that are no certificate, no key, or those of somebody else are named, and what is wrong
   with them; a key with a pass phrase asks nobody for it. */
START_TEST(refuses_bad_certificates)
{
    static const struct {
        const char *certificate;
        const char *key;
        const char *says;
    } rows[] = {
        {"cert.pem", "other.pem", "other.pem does not belong to the certificate"},
        {"cert.pem", "none.pem", "none.pem: No such file"},
        {"cert.pem", "junk.pem", "junk.pem holds no private key"},
        {"cert.pem", "cert.pem", "cert.pem holds no private key"},
        {"cert.pem", ".", "holds no private key"},
        {"cert.pem", "locked.pem", "locked.pem wants a pass phrase"},
        {"none.pem", "key.pem", "none.pem: No such file"},
        {"junk.pem", "key.pem", "junk.pem holds no certificate"},
        {"key.pem", "key.pem", "key.pem holds no certificate"},
    };
    char folder[] = "/tmp/hf_tls_XXXXXX";
    char command[600];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    certificate_make(folder);
    (void)snprintf(command, sizeof(command),
                   "cd %s && echo hello >junk.pem && "
                   "openssl ecparam -name prime256v1 -genkey -noout -out other.pem 2>/dev/null && "
                   "openssl ec -aes256 -passout pass:x -in key.pem -out locked.pem 2>/dev/null",
                   folder);
    ck_assert_int_eq(system(command), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char certificate[64];
        char key[64];
        hf_http *none = NULL;
        hf_err err = {0};

        (void)snprintf(certificate, sizeof(certificate), "%s/%s", folder, rows[i].certificate);
        (void)snprintf(key, sizeof(key), "%s/%s", folder, rows[i].key);
        ck_assert_int_eq(hf_http_open(&(hf_http_options){.listen = "127.0.0.1:0",
                                                         .tls_certificate = certificate,
                                                         .tls_key = key},
                                      &none, &err),
                         HF_INVALID);
        ck_assert_msg(strstr(err.text, rows[i].says), "%zu: %s", i, err.text);
    }
    folder_remove(folder);
}
END_TEST

HF_SUITE_MAIN("http/tls", {speaks_tls, 0}, {refuses_bad_certificates, 0})
