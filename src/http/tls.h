/* tls.h: TLS 1.2 and newer with OpenSSL over a socket that does not block. */
#ifndef HF_HTTP_TLS_H
#define HF_HTTP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"

typedef struct hf_tls hf_tls;                 /* certificate and key */
typedef struct hf_tls_session hf_tls_session; /* one connection */

/* HF_INVALID when the files are missing, do not fit each other, or want a pass phrase: nobody is
   asked for one. `client_ca` may be NULL. */
HF_NODISCARD hf_status hf_tls_open(const char *certificate, const char *key, const char *client_ca,
                                   hf_tls **out_tls, hf_err *err);
void hf_tls_close(hf_tls *tls);

HF_NODISCARD hf_status hf_tls_session_new(hf_tls *tls, int fd, hf_tls_session **out_session,
                                          hf_err *err);
void hf_tls_session_free(hf_tls_session *session); /* NULL is allowed; the socket stays open */
/* The common name in the peer's certificate, which was verified; false: it showed none, or the name
   does not fit. */
bool hf_tls_session_name(hf_tls_session *session, char *out_name, size_t room);
void hf_tls_session_bye(hf_tls_session *session); /* says that nothing more will come */

typedef enum hf_tls_need {
    HF_TLS_DONE,
    HF_TLS_READABLE,
    HF_TLS_WRITABLE,
    HF_TLS_END,
    HF_TLS_PLAIN /* the peer speaks HTTP, and no TLS */
} hf_tls_need;

/* Bytes read or written, 0 or more, and what is needed before it can go on; HF_TLS_DONE with bytes
   that were moved, HF_TLS_END when the connection is over. */
size_t hf_tls_read(hf_tls_session *session, void *out_bytes, size_t room, hf_tls_need *out_need);
size_t hf_tls_write(hf_tls_session *session, const void *bytes, size_t len, hf_tls_need *out_need);

#endif
