/* session.h: browsers that logged in, and links that log one in. Both are random secrets of which
   only the digest is kept, in memory, so that a request is judged without asking the store. What
   the store has to keep of sessions, so that they outlive the server, is said here and written by
   the caller; links end with the server. A session ends with its token and after a while without a
   request. A link works once. Any thread. */
#ifndef HF_SERVER_SESSION_H
#define HF_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/slice.h"
#include "server/auth.h"

enum {
    HF_SESSION_SECRET_SIZE = 65,
    HF_SESSION_MAX = 10000, /* one more, and the oldest is forgotten */
    HF_SESSION_IDLE_S = 8 * 3600,
    HF_SESSION_LIFE_S = 7 * 24 * 3600,
    HF_SESSION_KEEP_S = 3600, /* so far may the store be behind with a sign of life */
    HF_SESSION_LINK_S = 600
};

typedef struct hf_sessions hf_sessions;

/* What the store keeps of a session. */
typedef struct hf_session_row {
    uint8_t digest[HF_SHA256_BYTES];
    char token[HF_AUTH_ID_SIZE]; /* "": nothing, it is not the session of a token */
    int64_t begun_us;
    int64_t seen_us;
    int64_t ended_us; /* 0: it has not */
} hf_session_row;

HF_NODISCARD hf_status hf_sessions_open(hf_sessions **out_sessions, hf_err *err);
void hf_sessions_close(hf_sessions *sessions); /* NULL is allowed */

/* A session of the principal; `out_secret` is the only copy, *out_keep what to keep of it. */
HF_NODISCARD hf_status hf_session_begin(hf_sessions *sessions, const hf_principal *principal,
                                        int64_t wall_us, char out_secret[HF_SESSION_SECRET_SIZE],
                                        hf_session_row *out_keep, hf_err *err);

/* Whose session it is, which counts as a sign of life; false: there is no such session, or it is
   over. Whether its token still holds is the caller's to ask (hf_auth_ended). */
bool hf_session_find(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                     hf_principal *out_principal);

/* Whether the store is too far behind with this session: then *out_keep is what to keep, and nobody
   else is told so. */
bool hf_session_due(hf_sessions *sessions, hf_slice secret, hf_session_row *out_keep);

/* Ends it; false: it is not there. *out_keep is what to keep of that. */
bool hf_session_end(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                    hf_session_row *out_keep);

/* What the store has kept of a session of the principal. What has ended here stays so. */
HF_NODISCARD hf_status hf_session_learn(hf_sessions *sessions, const hf_principal *principal,
                                        const hf_session_row *row, int64_t wall_us, hf_err *err);

/* A link that logs its bearer in as the principal, once and soon. */
HF_NODISCARD hf_status hf_session_link(hf_sessions *sessions, const hf_principal *principal,
                                       int64_t wall_us, char out_secret[HF_SESSION_SECRET_SIZE],
                                       hf_err *err);

typedef enum hf_session_link_state {
    HF_SESSION_LINK_GOOD,
    HF_SESSION_LINK_USED,
    HF_SESSION_LINK_EXPIRED,
    HF_SESSION_LINK_UNKNOWN
} hf_session_link_state;

/* Uses a link up. */
hf_session_link_state hf_session_link_use(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                                          hf_principal *out_principal);

#endif
