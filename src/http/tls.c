/* tls.c: OpenSSL behind four verbs. Buffers are given back while a connection is quiet. Peers may
   not renegotiate. */
#include "http/tls.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509.h>
#include <openssl/x509err.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"

static SSL_CTX *context_of(hf_tls *tls)
{
    return (SSL_CTX *)(void *)tls;
}

static SSL *ssl_of(hf_tls_session *session)
{
    return (SSL *)(void *)session;
}

/* What OpenSSL has to say; its queue of errors is emptied. */
static hf_status failure(hf_err *err, hf_status status, const char *what)
{
    char text[256] = "no reason given";
    unsigned long code = ERR_get_error();

    if (code)
        ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return hf_err_set(err, status, "%s: %s", what, text);
}

/* What is wrong with a file of ours, in words for whoever gave it. */
static hf_status file_failure(hf_err *err, const char *path, const char *wanted)
{
    unsigned long code = ERR_get_error();
    const char *reason = ERR_reason_error_string(code);

    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code))
        return hf_err_set(err, HF_INVALID, "%s: %s", path, strerror(ERR_GET_REASON(code)));
    if (ERR_GET_LIB(code) == ERR_LIB_X509 && ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH)
        return hf_err_set(err, HF_INVALID, "the key in %s does not belong to the certificate",
                          path);
    return hf_err_set(err, HF_INVALID, "%s holds no %s in PEM form that can be used (%s)", path,
                      wanted, reason ? reason : "no reason given");
}

/* A service has nobody who could type a pass phrase. */
static int phrase_refuse(char *out_phrase, int room, int writes, void *asked)
{
    (void)out_phrase;
    (void)room;
    (void)writes;
    *(bool *)asked = true;
    return -1;
}

static hf_status key_load(SSL_CTX *context, const char *key, hf_err *err)
{
    bool asked = false;
    bool loaded;

    SSL_CTX_set_default_passwd_cb(context, phrase_refuse);
    SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
    loaded = SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb(context, NULL);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (asked) {
        ERR_clear_error();
        return hf_err_set(err, HF_INVALID,
                          "the key in %s wants a pass phrase; give one that does not, in a file "
                          "that only the server can read",
                          key);
    }
    return loaded ? HF_OK : file_failure(err, key, "private key");
}

static hf_status context_load(SSL_CTX *context, const char *certificate, const char *key,
                              const char *client_ca, hf_err *err)
{
    hf_status st;

    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        return file_failure(err, certificate, "certificate");
    st = key_load(context, key, err);
    if (st)
        return st;
    if (client_ca) {
        if (SSL_CTX_load_verify_locations(context, client_ca, NULL) != 1)
            return file_failure(err, client_ca, "certificate");
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return HF_OK;
}

hf_status hf_tls_open(const char *certificate, const char *key, const char *client_ca,
                      hf_tls **out_tls, hf_err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    hf_status st;

    if (!context)
        return failure(err, HF_NOMEM, "no TLS context");
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_NO_COMPRESSION);
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    st = context_load(context, certificate, key, client_ca, err);
    if (st) {
        SSL_CTX_free(context);
        return hf_err_because(err, st, "set up TLS");
    }
    *out_tls = (hf_tls *)(void *)context;
    return HF_OK;
}

void hf_tls_close(hf_tls *tls)
{
    SSL_CTX_free(context_of(tls));
}

hf_status hf_tls_session_new(hf_tls *tls, int fd, hf_tls_session **out_session, hf_err *err)
{
    SSL *ssl = SSL_new(context_of(tls));

    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        return failure(err, HF_NOMEM, "no TLS session");
    }
    SSL_set_accept_state(ssl);
    *out_session = (hf_tls_session *)(void *)ssl;
    return HF_OK;
}

void hf_tls_session_free(hf_tls_session *session)
{
    SSL_free(ssl_of(session));
}

/* A name with a zero in it is two names to two readers, and so none. */
static bool name_copy(const X509 *certificate, char *out_name, size_t room)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at =
        X509_NAME_get_index_by_NID((X509_NAME *)(void *)(uintptr_t)subject, NID_commonName, -1);
    const X509_NAME_ENTRY *entry = at < 0 ? NULL : X509_NAME_get_entry(subject, at);
    unsigned char *text = NULL;
    int len = entry ? ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry)) : -1;
    bool fits = len > 0 && (size_t)len < room && !memchr(text, 0, (size_t)len);

    if (fits) {
        memcpy(out_name, text, (size_t)len);
        out_name[len] = '\0';
    }
    OPENSSL_free(text);
    return fits;
}

bool hf_tls_session_name(hf_tls_session *session, char *out_name, size_t room)
{
    SSL *ssl = ssl_of(session);
    X509 *certificate =
        SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER && SSL_get_verify_result(ssl) == X509_V_OK
            ? SSL_get1_peer_certificate(ssl)
            : NULL;
    bool named = certificate && name_copy(certificate, out_name, room);

    X509_free(certificate);
    ERR_clear_error();
    return named;
}

void hf_tls_session_bye(hf_tls_session *session)
{
    if (SSL_is_init_finished(ssl_of(session)))
        (void)SSL_shutdown(ssl_of(session));
    ERR_clear_error();
}

static hf_tls_need need_of(SSL *ssl, int result)
{
    int error = SSL_get_error(ssl, result);
    unsigned long code = ERR_peek_error();
    bool plain = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;

    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ)
        return HF_TLS_READABLE;
    if (error == SSL_ERROR_WANT_WRITE)
        return HF_TLS_WRITABLE;
    return plain ? HF_TLS_PLAIN : HF_TLS_END;
}

size_t hf_tls_read(hf_tls_session *session, void *out_bytes, size_t room, hf_tls_need *out_need)
{
    int got;

    HF_ASSERT(room > 0 && room <= INT_MAX);
    got = SSL_read(ssl_of(session), out_bytes, (int)room);
    *out_need = got > 0 ? HF_TLS_DONE : need_of(ssl_of(session), got);
    return got > 0 ? (size_t)got : 0;
}

size_t hf_tls_write(hf_tls_session *session, const void *bytes, size_t len, hf_tls_need *out_need)
{
    int put;

    HF_ASSERT(len > 0);
    put = SSL_write(ssl_of(session), bytes, len > INT_MAX ? INT_MAX : (int)len);
    *out_need = put > 0 ? HF_TLS_DONE : need_of(ssl_of(session), put);
    return put > 0 ? (size_t)put : 0;
}
