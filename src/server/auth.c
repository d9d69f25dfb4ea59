/* auth.c: three drivers. Tokens are found by their digest: nothing a client sends is compared with
   a secret byte by byte, and nothing that could be used as a credential is kept. */
#include "server/auth.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/crypto.h"
#include "base/map.h"
#include "base/thread.h"

enum { KEY_BYTES_MIN = 24 };

static const char *const role_texts[] = {
#define HF_ROLE(id, text, sentence) text,
#include "server/role.def"
#undef HF_ROLE
};

static const char *const driver_texts[] = {
    [HF_AUTH_NONE] = "none", [HF_AUTH_TOKEN] = "token", [HF_AUTH_SIGNATURE] = "signature"};

/* Before the id of a principal that showed a certificate; no token is called so. */
#define CERTIFICATE "cn:"

/* A token in memory; the key of the map is its digest. */
typedef struct auth_entry {
    hf_principal principal;
    int64_t expires_us;
} auth_entry;

struct hf_auth {
    hf_auth_driver driver;
    hf_hmac *keys[HF_ROLES];   /* the loop's thread */
    hf_sha256 *sha;            /* the loop's thread */
    hf_signatures *signatures; /* the loop's thread */
    hf_mutex mutex;            /* for the map */
    hf_map_seed seed;
    hf_map *tokens;
    bool lost;           /* a token has gone */
    int64_t next_end_us; /* when the next one ends; INT64_MAX: none does */
};

const char *hf_role_text(hf_role role)
{
    HF_ASSERT(role < HF_ROLES);
    return role_texts[role];
}

bool hf_role_parse(hf_slice text, hf_role *out_role)
{
    for (int role = 0; role < HF_ROLES; role++)
        if (hf_slice_equal(text, hf_slice_of(role_texts[role]))) {
            *out_role = (hf_role)role;
            return true;
        }
    return false;
}

unsigned hf_role_allows(hf_role role)
{
    unsigned admin = 1U << HF_ROLE_ADMIN;

    switch (role) {
    case HF_ROLE_READ:
        return admin | 1U << HF_ROLE_READ | 1U << HF_ROLE_OPERATOR;
    case HF_ROLE_OPERATOR:
        return admin | 1U << HF_ROLE_OPERATOR;
    case HF_ROLE_WORKER:
        return admin | 1U << HF_ROLE_WORKER;
    case HF_ROLE_ADMIN:
    case HF_ROLES:
        break;
    }
    return admin;
}

bool hf_auth_driver_parse(hf_slice text, hf_auth_driver *out_driver)
{
    for (size_t i = 0; i < sizeof(driver_texts) / sizeof(driver_texts[0]); i++)
        if (hf_slice_equal(text, hf_slice_of(driver_texts[i]))) {
            *out_driver = (hf_auth_driver)i;
            return true;
        }
    return false;
}

bool hf_principal_sees(const hf_principal *principal, hf_slice name)
{
    hf_slice rest = hf_slice_of(principal->namespaces);
    hf_slice part;

    if (hf_slice_equal(rest, HF_SLICE("*")))
        return true;
    while (hf_slice_split(&rest, ',', &part))
        if (part.len && hf_slice_equal(hf_slice_trim(part), name))
            return true;
    return false;
}

/* ---- opening */

static void tokens_free(hf_map *tokens)
{
    size_t at = 0;
    hf_slice key;
    void *entry;

    if (!tokens)
        return;
    while (hf_map_next(tokens, &at, &key, &entry))
        hf_alloc_free(entry);
    hf_map_free(tokens);
}

static hf_status keys_open(hf_auth *auth, const hf_auth_options *options, hf_err *err)
{
    bool any = false;

    if (options->driver != HF_AUTH_SIGNATURE)
        return HF_OK;
    for (int role = 0; role < HF_ROLES; role++) {
        hf_status st;

        if (!options->keys[role])
            continue;
        if (strlen(options->keys[role]) < KEY_BYTES_MIN)
            return hf_err_set(err, HF_INVALID, "the signature key for %s is shorter than %d bytes",
                              role_texts[role], KEY_BYTES_MIN);
        st = hf_hmac_new(hf_slice_of(options->keys[role]), &auth->keys[role], err);
        if (st)
            return st;
        any = true;
    }
    return any ? HF_OK : hf_err_set(err, HF_INVALID, "signatures need at least one key");
}

hf_status hf_auth_new(const hf_auth_options *options, int64_t wall_us, hf_auth **out_auth,
                      hf_err *err)
{
    hf_auth *auth = hf_alloc(sizeof(*auth));
    hf_status st;

    if (!auth)
        return hf_err_nomem(err, "credentials");
    auth->driver = options->driver;
    st = hf_mutex_init(&auth->mutex, err);
    if (st) {
        hf_alloc_free(auth);
        return st;
    }
    st = hf_map_seed_system(&auth->seed, err);
    if (!st) {
        auth->tokens = hf_map_new(auth->seed);
        st = auth->tokens ? hf_sha256_new(&auth->sha, err) : hf_err_nomem(err, "tokens");
    }
    if (!st)
        st = keys_open(auth, options, err);
    if (!st)
        st = hf_signatures_open(wall_us, 0, &auth->signatures, err);
    if (st) {
        hf_auth_free(auth);
        return st;
    }
    *out_auth = auth;
    return HF_OK;
}

void hf_auth_free(hf_auth *auth)
{
    if (!auth)
        return;
    for (int role = 0; role < HF_ROLES; role++)
        hf_hmac_free(auth->keys[role]);
    hf_sha256_free(auth->sha);
    hf_signatures_close(auth->signatures);
    tokens_free(auth->tokens);
    hf_mutex_fini(&auth->mutex);
    hf_alloc_free(auth);
}

hf_signatures *hf_auth_signatures(hf_auth *auth)
{
    return auth->signatures;
}

hf_auth_driver hf_auth_driver_of(const hf_auth *auth)
{
    return auth->driver;
}

static hf_status token_put(hf_map *tokens, const hf_auth_token *token, hf_err *err)
{
    auth_entry *entry = hf_alloc(sizeof(*entry));
    hf_status st;

    if (!entry)
        return hf_err_nomem(err, "a token");
    entry->principal.role = token->role;
    entry->principal.method = "token";
    entry->principal.revocable = true;
    entry->expires_us = token->expires_us;
    (void)snprintf(entry->principal.id, sizeof(entry->principal.id), "%s", token->id);
    (void)snprintf(entry->principal.label, sizeof(entry->principal.label), "%s", token->label);
    (void)snprintf(entry->principal.namespaces, sizeof(entry->principal.namespaces), "%s",
                   token->namespaces);
    st = hf_map_put(tokens, hf_slice_from(token->digest, HF_SHA256_BYTES), entry, NULL, err);
    if (st)
        hf_alloc_free(entry);
    return st;
}

/* Under the mutex: when the next token ends. */
static void end_find(hf_auth *auth, int64_t wall_us)
{
    size_t at = 0;
    hf_slice digest;
    void *value;

    auth->next_end_us = INT64_MAX;
    while (hf_map_next(auth->tokens, &at, &digest, &value)) {
        const auth_entry *entry = value;

        if (entry->expires_us > wall_us && entry->expires_us < auth->next_end_us)
            auth->next_end_us = entry->expires_us;
    }
}

/* Whether a token of the one is missing in the other. */
static bool tokens_lack(const hf_map *old, const hf_map *fresh)
{
    size_t at = 0;
    hf_slice digest;
    void *value;

    while (hf_map_next(old, &at, &digest, &value))
        if (!hf_map_get(fresh, digest))
            return true;
    return false;
}

bool hf_auth_lost(hf_auth *auth, int64_t wall_us)
{
    bool lost;

    hf_mutex_lock(&auth->mutex);
    lost = auth->lost || wall_us >= auth->next_end_us;
    if (lost)
        end_find(auth, wall_us);
    auth->lost = false;
    hf_mutex_unlock(&auth->mutex);
    return lost;
}

hf_status hf_auth_tokens_set(hf_auth *auth, const hf_auth_token *tokens, size_t count, hf_err *err)
{
    hf_map *fresh = hf_map_new(auth->seed);
    hf_map *old;
    hf_status st = fresh ? HF_OK : hf_err_nomem(err, "tokens");

    for (size_t i = 0; i < count && !st; i++)
        st = token_put(fresh, &tokens[i], err);
    if (st) {
        tokens_free(fresh);
        return st;
    }
    hf_mutex_lock(&auth->mutex);
    old = auth->tokens;
    auth->tokens = fresh;
    auth->lost = auth->lost || tokens_lack(old, fresh);
    end_find(auth, 0);
    hf_mutex_unlock(&auth->mutex);
    tokens_free(old);
    return HF_OK;
}

/* ---- checking */

hf_status hf_auth_token_find(hf_auth *auth, hf_slice token, int64_t wall_us,
                             hf_principal *out_principal, hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    const auth_entry *entry;
    bool good = false;
    hf_status st = hf_sha256_digest(auth->sha, token, digest, err);

    if (st)
        return st;
    hf_mutex_lock(&auth->mutex);
    entry = hf_map_get(auth->tokens, hf_slice_from(digest, sizeof(digest)));
    if (entry && (entry->expires_us == 0 || entry->expires_us > wall_us)) {
        *out_principal = entry->principal;
        good = true;
    }
    hf_mutex_unlock(&auth->mutex);
    return good ? HF_OK : hf_err_set(err, HF_DENIED, "the token is unknown, expired or revoked");
}

static hf_status token_check(hf_auth *auth, const hf_http_request *request, int64_t wall_us,
                             hf_principal *out_principal, hf_err *err)
{
    hf_slice value;

    if (!hf_http_request_field(request, "authorization", &value) || value.len < 8 ||
        !hf_slice_equal(hf_slice_from(value.ptr, 7), HF_SLICE("Bearer ")))
        return hf_err_set(err, HF_DENIED, "send a token: Authorization: Bearer TOKEN");
    value = hf_slice_trim(hf_slice_from(value.ptr + 7, value.len - 7));
    return hf_auth_token_find(auth, value, wall_us, out_principal, err);
}

static hf_status signature_check(hf_auth *auth, const hf_http_request *request, int64_t wall_us,
                                 hf_principal *out_principal, hf_err *err)
{
    uint8_t sent[HF_SHA256_BYTES];
    int64_t time_us = 0;
    int found = -1;
    hf_slice value;
    hf_status st;

    if (!hf_http_request_field(request, "x-signature", &value) ||
        !hf_hex_parse(value, sent, sizeof(sent)))
        return hf_err_set(err, HF_DENIED, "the request is not signed with X-Signature");
    for (int role = 0; role < HF_ROLES; role++) { /* all of them, so that the time tells nothing */
        uint8_t digest[HF_SHA256_BYTES];

        if (!auth->keys[role])
            continue;
        st = hf_signature_digest(auth->keys[role], request, digest, &time_us, err);
        if (st)
            return st;
        if (hf_crypto_equal(hf_slice_from(sent, sizeof(sent)),
                            hf_slice_from(digest, sizeof(digest))))
            found = role;
    }
    if (found < 0)
        return hf_err_set(err, HF_DENIED, "the signature does not fit the request");
    st = hf_signatures_use(auth->signatures, sent, time_us, wall_us, err);
    if (st)
        return st;
    *out_principal = (hf_principal){.role = (hf_role)found, .method = "signature"};
    (void)snprintf(out_principal->id, sizeof(out_principal->id), "signature:%s", role_texts[found]);
    (void)snprintf(out_principal->label, sizeof(out_principal->label), "%s key", role_texts[found]);
    (void)snprintf(out_principal->namespaces, sizeof(out_principal->namespaces), "*");
    return HF_OK;
}

/* One "NAME=ROLE" of a list. */
static bool role_take(hf_slice *rest, hf_slice *out_name, hf_role *out_role)
{
    hf_slice role;

    if (!hf_slice_split(rest, ',', &role) || !hf_slice_split(&role, '=', out_name))
        return false;
    *out_name = hf_slice_trim(*out_name);
    return role.ptr && out_name->len > 0 && out_name->len < HF_CERTIFICATE_NAME_SIZE &&
           hf_role_parse(hf_slice_trim(role), out_role);
}

bool hf_auth_roles_valid(const char *roles)
{
    hf_slice rest = hf_slice_of(roles);
    hf_slice name;
    hf_role role;
    bool good = rest.len > 0;

    while (good && rest.ptr && rest.len)
        good = role_take(&rest, &name, &role);
    return good;
}

bool hf_auth_certificate(const char *roles, const char *name, hf_principal *out_principal)
{
    hf_slice rest = hf_slice_of(roles);
    hf_slice known;
    hf_role role;

    while (rest.ptr && rest.len && role_take(&rest, &known, &role)) {
        if (!hf_slice_equal(known, hf_slice_of(name)))
            continue;
        *out_principal = (hf_principal){.role = role, .method = "certificate", .namespaces = "*"};
        (void)snprintf(out_principal->id, sizeof(out_principal->id), CERTIFICATE "%s", name);
        (void)snprintf(out_principal->label, sizeof(out_principal->label), "%s", name);
        return true;
    }
    return false;
}

bool hf_auth_knows(hf_auth *auth, const char *id, int64_t wall_us)
{
    size_t at = 0;
    bool found = auth->driver != HF_AUTH_TOKEN || strncmp(id, CERTIFICATE, 3) == 0;
    hf_slice digest;
    void *value;

    hf_mutex_lock(&auth->mutex);
    while (!found && hf_map_next(auth->tokens, &at, &digest, &value)) {
        const auth_entry *entry = value;

        found = strcmp(entry->principal.id, id) == 0 &&
                (!entry->expires_us || entry->expires_us > wall_us);
    }
    hf_mutex_unlock(&auth->mutex);
    return found;
}

bool hf_auth_principal(hf_auth *auth, const char *id, hf_principal *out_principal)
{
    bool found = false;
    size_t at = 0;
    hf_slice digest;
    void *value;

    hf_mutex_lock(&auth->mutex);
    while (!found && hf_map_next(auth->tokens, &at, &digest, &value)) {
        const auth_entry *entry = value;

        found = strcmp(entry->principal.id, id) == 0;
        if (found)
            *out_principal = entry->principal;
    }
    hf_mutex_unlock(&auth->mutex);
    return found;
}

bool hf_auth_ended(hf_auth *auth, const hf_principal *principal, int64_t wall_us)
{
    return principal->revocable && !hf_auth_knows(auth, principal->id, wall_us);
}

hf_status hf_auth_check(hf_auth *auth, const hf_http_request *request, int64_t wall_us,
                        hf_principal *out_principal, hf_err *err)
{
    switch (auth->driver) {
    case HF_AUTH_NONE:
        *out_principal = (hf_principal){.role = HF_ROLE_ADMIN,
                                        .method = "none",
                                        .id = "anonymous",
                                        .label = "anonymous",
                                        .namespaces = "*"};
        return HF_OK;
    case HF_AUTH_TOKEN:
        return token_check(auth, request, wall_us, out_principal, err);
    case HF_AUTH_SIGNATURE:
        return signature_check(auth, request, wall_us, out_principal, err);
    }
    return hf_err_set(err, HF_DENIED, "no way to authenticate is configured");
}
