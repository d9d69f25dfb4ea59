/* session.c: see session.h. Secrets are found by their digest: nothing a client sends is compared
   with one byte by byte. Two maps, each bounded: what is over goes when something new comes. A
   session that has ended stays until then, so that what the store said before does not revive it.
 */
#include "server/session.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/thread.h"

enum { SECRET_BYTES = 32, SECOND_US = 1000000 };

/* The key of the map is the digest of its secret. */
typedef struct ticket {
    hf_principal principal;
    int64_t begun_us;
    int64_t seen_us;
    int64_t kept_us;  /* of a session: the sign of life that the store has, or is about to */
    int64_t ended_us; /* of a session that somebody ended */
    bool used;        /* of a link */
} ticket;

struct hf_sessions {
    hf_mutex mutex; /* for all that follows */
    hf_sha256 *sha;
    hf_rng rng;
    hf_map *sessions;
    hf_map *links; /* used ones, too, so that they can be told apart from none */
};

static void tickets_free(hf_map *tickets)
{
    size_t at = 0;
    hf_slice key;
    void *one;

    if (!tickets)
        return;
    while (hf_map_next(tickets, &at, &key, &one))
        hf_alloc_free(one);
    hf_map_free(tickets);
}

hf_status hf_sessions_open(hf_sessions **out_sessions, hf_err *err)
{
    hf_sessions *s = hf_alloc(sizeof(*s));
    hf_map_seed seed;
    hf_status st;

    if (!s)
        return hf_err_nomem(err, "sessions");
    st = hf_mutex_init(&s->mutex, err);
    if (st) {
        hf_alloc_free(s);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st)
        st = hf_rng_init_system(&s->rng, err);
    if (!st)
        st = hf_sha256_new(&s->sha, err);
    if (!st) {
        s->sessions = hf_map_new(seed);
        s->links = hf_map_new(seed);
        if (!s->sessions || !s->links)
            st = hf_err_nomem(err, "sessions");
    }
    if (st) {
        hf_sessions_close(s);
        return st;
    }
    *out_sessions = s;
    return HF_OK;
}

void hf_sessions_close(hf_sessions *sessions)
{
    if (!sessions)
        return;
    tickets_free(sessions->sessions);
    tickets_free(sessions->links);
    hf_sha256_free(sessions->sha);
    hf_mutex_fini(&sessions->mutex);
    hf_alloc_free(sessions);
}

/* With the lock held: the ticket of a secret; NULL: there is none. */
static ticket *ticket_find(hf_sessions *s, const hf_map *tickets, hf_slice secret,
                           uint8_t digest[HF_SHA256_BYTES])
{
    if (hf_sha256_digest(s->sha, secret, digest, NULL))
        return NULL;
    return hf_map_get(tickets, hf_slice_from(digest, HF_SHA256_BYTES));
}

static bool session_is_late(const ticket *one, int64_t wall_us)
{
    return wall_us - one->seen_us > (int64_t)HF_SESSION_IDLE_S * SECOND_US ||
           wall_us - one->begun_us > (int64_t)HF_SESSION_LIFE_S * SECOND_US;
}

static bool session_is_over(const ticket *one, int64_t wall_us)
{
    return one->ended_us || session_is_late(one, wall_us);
}

static void row_fill(const ticket *one, const uint8_t digest[HF_SHA256_BYTES], hf_session_row *out)
{
    *out = (hf_session_row){
        .begun_us = one->begun_us, .seen_us = one->seen_us, .ended_us = one->ended_us};
    memcpy(out->digest, digest, HF_SHA256_BYTES);
    if (one->principal.revocable)
        (void)snprintf(out->token, sizeof(out->token), "%s", one->principal.id);
}

/* With the lock held: makes room for one more. Used and late links, and sessions that were ended,
   stay as long as sessions do: whoever opens such a link again is told why it does not work. */
static void tickets_prune(hf_map *tickets, int64_t wall_us)
{
    size_t at = 0;
    hf_slice key;
    void *one;

    while (hf_map_next(tickets, &at, &key, &one)) {
        if (!session_is_late(one, wall_us) && hf_map_count(tickets) < HF_SESSION_MAX)
            continue;
        (void)hf_map_remove(tickets, key);
        hf_alloc_free(one);
    }
}

/* With the lock held. */
static hf_status ticket_put(hf_map *tickets, const uint8_t digest[HF_SHA256_BYTES],
                            const ticket *what, int64_t wall_us, hf_err *err)
{
    ticket *one = hf_alloc(sizeof(*one));
    hf_status st;

    if (!one)
        return hf_err_nomem(err, "a session");
    tickets_prune(tickets, wall_us);
    *one = *what;
    st = hf_map_put(tickets, hf_slice_from(digest, HF_SHA256_BYTES), one, NULL, err);
    if (st)
        hf_alloc_free(one);
    return st;
}

/* With the lock held: a new one with a secret of its own. */
static hf_status ticket_make(hf_sessions *s, hf_map *tickets, const ticket *what,
                             char out_secret[HF_SESSION_SECRET_SIZE],
                             uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    uint8_t bytes[SECRET_BYTES];
    hf_status st;

    hf_rng_fill(&s->rng, bytes, sizeof(bytes));
    hf_hex_print(hf_slice_from(bytes, sizeof(bytes)), out_secret);
    st = hf_sha256_digest(s->sha, hf_slice_of(out_secret), out_digest, err);
    return st ? st : ticket_put(tickets, out_digest, what, what->begun_us, err);
}

hf_status hf_session_begin(hf_sessions *sessions, const hf_principal *principal, int64_t wall_us,
                           char out_secret[HF_SESSION_SECRET_SIZE], hf_session_row *out_keep,
                           hf_err *err)
{
    const ticket what = {
        .principal = *principal, .begun_us = wall_us, .seen_us = wall_us, .kept_us = wall_us};
    uint8_t digest[HF_SHA256_BYTES];
    hf_status st;

    hf_mutex_lock(&sessions->mutex);
    st = ticket_make(sessions, sessions->sessions, &what, out_secret, digest, err);
    hf_mutex_unlock(&sessions->mutex);
    if (!st)
        row_fill(&what, digest, out_keep);
    return st;
}

bool hf_session_find(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                     hf_principal *out_principal)
{
    uint8_t digest[HF_SHA256_BYTES];
    bool good = false;
    ticket *one;

    hf_mutex_lock(&sessions->mutex);
    one = ticket_find(sessions, sessions->sessions, secret, digest);
    if (one && !session_is_over(one, wall_us)) {
        one->seen_us = wall_us;
        *out_principal = one->principal;
        good = true;
    }
    hf_mutex_unlock(&sessions->mutex);
    return good;
}

bool hf_session_due(hf_sessions *sessions, hf_slice secret, hf_session_row *out_keep)
{
    uint8_t digest[HF_SHA256_BYTES];
    bool due;
    ticket *one;

    hf_mutex_lock(&sessions->mutex);
    one = ticket_find(sessions, sessions->sessions, secret, digest);
    due = one && one->seen_us - one->kept_us >= (int64_t)HF_SESSION_KEEP_S * SECOND_US;
    if (due) {
        one->kept_us = one->seen_us;
        row_fill(one, digest, out_keep);
    }
    hf_mutex_unlock(&sessions->mutex);
    return due;
}

bool hf_session_end(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                    hf_session_row *out_keep)
{
    uint8_t digest[HF_SHA256_BYTES];
    ticket *one;

    hf_mutex_lock(&sessions->mutex);
    one = ticket_find(sessions, sessions->sessions, secret, digest);
    if (one) {
        one->ended_us = one->seen_us = wall_us;
        row_fill(one, digest, out_keep);
    }
    hf_mutex_unlock(&sessions->mutex);
    return one != NULL;
}

hf_status hf_session_learn(hf_sessions *sessions, const hf_principal *principal,
                           const hf_session_row *row, int64_t wall_us, hf_err *err)
{
    const ticket what = {.principal = *principal,
                         .begun_us = row->begun_us,
                         .seen_us = row->seen_us,
                         .kept_us = row->seen_us,
                         .ended_us = row->ended_us};
    hf_status st = HF_OK;
    ticket *one;

    hf_mutex_lock(&sessions->mutex);
    one = hf_map_get(sessions->sessions, hf_slice_from(row->digest, HF_SHA256_BYTES));
    if (one) {
        one->ended_us = one->ended_us ? one->ended_us : row->ended_us;
        one->seen_us = row->seen_us > one->seen_us ? row->seen_us : one->seen_us;
        one->kept_us = row->seen_us > one->kept_us ? row->seen_us : one->kept_us;
    } else if (!session_is_over(&what, wall_us)) {
        st = ticket_put(sessions->sessions, row->digest, &what, wall_us, err);
    }
    hf_mutex_unlock(&sessions->mutex);
    return st;
}

hf_status hf_session_link(hf_sessions *sessions, const hf_principal *principal, int64_t wall_us,
                          char out_secret[HF_SESSION_SECRET_SIZE], hf_err *err)
{
    const ticket what = {.principal = *principal, .begun_us = wall_us, .seen_us = wall_us};
    uint8_t digest[HF_SHA256_BYTES];
    hf_status st;

    hf_mutex_lock(&sessions->mutex);
    st = ticket_make(sessions, sessions->links, &what, out_secret, digest, err);
    hf_mutex_unlock(&sessions->mutex);
    return st;
}

hf_session_link_state hf_session_link_use(hf_sessions *sessions, hf_slice secret, int64_t wall_us,
                                          hf_principal *out_principal)
{
    hf_session_link_state state = HF_SESSION_LINK_UNKNOWN;
    uint8_t digest[HF_SHA256_BYTES];
    ticket *one;

    hf_mutex_lock(&sessions->mutex);
    one = ticket_find(sessions, sessions->links, secret, digest);
    if (one && one->used) {
        state = HF_SESSION_LINK_USED;
    } else if (one && wall_us - one->begun_us > (int64_t)HF_SESSION_LINK_S * SECOND_US) {
        state = HF_SESSION_LINK_EXPIRED;
    } else if (one) {
        one->used = true;
        *out_principal = one->principal;
        state = HF_SESSION_LINK_GOOD;
    }
    hf_mutex_unlock(&sessions->mutex);
    return state;
}
