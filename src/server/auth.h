/* auth.h: who is asking, and what they may do. Credentials are looked up in memory, so that every
   request can be judged on the loop's thread; secrets are kept as digests and compared in constant
   time. Nothing here knows a route. */
#ifndef HF_SERVER_AUTH_H
#define HF_SERVER_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"
#include "http/request.h"
#include "server/signature.h"

typedef enum hf_role {
#define HF_ROLE(id, text, sentence) id,
#include "server/role.def"
#undef HF_ROLE
    HF_ROLES
} hf_role;

const char *hf_role_text(hf_role role);
bool hf_role_parse(hf_slice text, hf_role *out_role);

/* Which roles may use a route that is meant for `role`, as bits 1 << hf_role. */
unsigned hf_role_allows(hf_role role);

typedef enum hf_auth_driver { HF_AUTH_NONE, HF_AUTH_TOKEN, HF_AUTH_SIGNATURE } hf_auth_driver;

bool hf_auth_driver_parse(hf_slice text, hf_auth_driver *out_driver);

enum { HF_AUTH_ID_SIZE = 32, HF_AUTH_LABEL_SIZE = 128, HF_AUTH_SPACES_SIZE = 512 };

/* The names in certificates that are known; longer ones are nobody's. */
enum { HF_CERTIFICATE_NAME_SIZE = HF_AUTH_ID_SIZE - 3 };

/* Who was recognised; copied out, so that a token may be revoked meanwhile. */
typedef struct hf_principal {
    hf_role role;
    const char *method;             /* "none", "token", "signature", "certificate", "session" */
    bool revocable;                 /* it is a token, and id its id */
    char id[HF_AUTH_ID_SIZE];       /* of the token; "anonymous" */
    char label[HF_AUTH_LABEL_SIZE]; /* for people */
    char namespaces[HF_AUTH_SPACES_SIZE]; /* "*" or names separated by commas */
} hf_principal;

/* Whether the principal may see the namespace at all. */
bool hf_principal_sees(const hf_principal *principal, hf_slice name);

/* One token as the store has it. */
typedef struct hf_auth_token {
    const char *id;
    const char *label;
    hf_role role;
    const char *namespaces;
    const uint8_t *digest; /* SHA-256 of the secret */
    int64_t expires_us;    /* 0: never */
} hf_auth_token;

typedef struct hf_auth hf_auth;

typedef struct hf_auth_options {
    hf_auth_driver driver;
    const char
        *keys[HF_ROLES]; /* signature: a secret for each role, 24 bytes or more; NULL: none */
} hf_auth_options;

/* HF_INVALID for a signature driver without a key, or with a short one. `wall_us`: the time of now,
   before which nothing can have been signed that is still good. */
HF_NODISCARD hf_status hf_auth_new(const hf_auth_options *options, int64_t wall_us,
                                   hf_auth **out_auth, hf_err *err);
void hf_auth_free(hf_auth *auth);
hf_auth_driver hf_auth_driver_of(const hf_auth *auth);

/* Signatures that were used; the loop's thread. */
hf_signatures *hf_auth_signatures(hf_auth *auth);

/* Replaces all tokens; any thread. */
HF_NODISCARD hf_status hf_auth_tokens_set(hf_auth *auth, const hf_auth_token *tokens, size_t count,
                                          hf_err *err);

/* Whether the list says "NAME=ROLE,..." and nothing else. */
bool hf_auth_roles_valid(const char *roles);

/* Who a certificate of that name is, by such a list; false: nobody. */
bool hf_auth_certificate(const char *roles, const char *name, hf_principal *out_principal);

/* Whether the token is there and has not ended; true for principals that are no tokens. Any thread.
 */
bool hf_auth_knows(hf_auth *auth, const char *id, int64_t wall_us);

/* Whether the principal is a token that does not hold any more. Any thread. */
bool hf_auth_ended(hf_auth *auth, const hf_principal *principal, int64_t wall_us);

/* Whether a token that was there when this was asked last has gone or has come to its end. Any
   thread. */
bool hf_auth_lost(hf_auth *auth, int64_t wall_us);

/* Whose token it is; the loop's thread. HF_DENIED: nobody's that may still be used. */
HF_NODISCARD hf_status hf_auth_token_find(hf_auth *auth, hf_slice token, int64_t wall_us,
                                          hf_principal *out_principal, hf_err *err);

/* The principal of the token with this id; false: there is none. Any thread. */
bool hf_auth_principal(hf_auth *auth, const char *id, hf_principal *out_principal);

/* Recognises who sent the request, by its head and for signatures by its body; the loop's thread.
   HF_DENIED with a sentence that is safe to show. */
HF_NODISCARD hf_status hf_auth_check(hf_auth *auth, const hf_http_request *request, int64_t wall_us,
                                     hf_principal *out_principal, hf_err *err);

#endif
