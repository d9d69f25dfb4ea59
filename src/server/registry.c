/* registry.c: rows of the store become what auth and gate look at. */
#include "server/registry.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "server/fleet.h"
#include "server/presence.h"
#include "server/server_impl.h"
#include "server/session_store.h"

#define OVERLAP_US INT64_C(60000000)

static int64_t time_of(hf_value token, const char *key)
{
    int64_t wall_us = 0;

    (void)hf_clock_parse(hf_slice_of(hf_str(token, key, "")), &wall_us);
    return wall_us;
}

/* One row as auth wants it; false for one that cannot be used. */
static bool token_take(hf_value row, uint8_t digest[HF_SHA256_BYTES], hf_auth_token *out_token)
{
    *out_token = (hf_auth_token){.id = hf_str(row, "id", ""),
                                 .label = hf_str(row, "label", ""),
                                 .namespaces = hf_str(row, "namespaces", ""),
                                 .digest = digest,
                                 .expires_us = time_of(row, "expires_at")};
    return !time_of(row, "revoked_at") &&
           hf_role_parse(hf_slice_of(hf_str(row, "role", "")), &out_token->role) &&
           hf_hex_parse(hf_slice_of(hf_str(row, "digest", "")), digest, HF_SHA256_BYTES);
}

static hf_status tokens_refresh(hf_server *server, hf_mem *mem, size_t *out_count, hf_err *err)
{
    hf_value rows = NULL;
    uint8_t *digests;
    hf_auth_token *tokens;
    size_t count = 0;
    hf_status st = hf_tokens(server->engine, mem, &rows);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    digests = hf_mem_array(mem, hf_len(rows) + 1, HF_SHA256_BYTES);
    tokens = hf_mem_array(mem, hf_len(rows) + 1, sizeof(*tokens));
    if (!digests || !tokens)
        return hf_err_nomem(err, "tokens");
    for (size_t i = 0; i < hf_len(rows); i++)
        count += token_take(hf_at(rows, i), digests + i * HF_SHA256_BYTES, &tokens[count]);
    *out_count = count;
    return hf_auth_tokens_set(server->auth, tokens, count, err);
}

static hf_status namespaces_refresh(hf_server *server, hf_mem *mem, hf_err *err)
{
    hf_mem *kept = hf_mem_new();
    hf_mem *old_kept;
    hf_value rows = NULL;
    hf_value spaces = NULL;
    hf_buf names = {0};
    hf_buf old;
    hf_status st = hf_namespaces(server->engine, mem, &rows);

    if (st) {
        hf_mem_free(kept);
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    }
    spaces = kept ? hf_value_copy(kept, rows) : NULL;
    for (size_t i = 0; i < hf_len(rows); i++)
        hf_buf_add_format(&names, "%s,", hf_str(hf_at(rows, i), "name", ""));
    if (!hf_buf_ok(&names) || !spaces) {
        hf_mem_free(kept);
        hf_buf_fini(&names);
        return hf_err_nomem(err, "namespaces");
    }
    hf_mutex_lock(&server->mutex);
    old = server->namespaces;
    server->namespaces = names;
    old_kept = server->spaces_mem;
    server->spaces_mem = kept;
    server->spaces = spaces;
    hf_mutex_unlock(&server->mutex);
    hf_mem_free(old_kept);
    hf_buf_fini(&old);
    return HF_OK;
}

/* What fleet and presence call it. */
static hf_slice kept_key(hf_value worker, hf_mem *mem)
{
    return hf_slice_of(hf_mem_format(mem, "%s/%s", hf_str(worker, "namespace", ""),
                                     hf_str(worker, "worker_id", "")));
}

/* It may hold tasks of the time before this server: now it has to show itself. */
static void worker_expect(hf_server *server, hf_value kept, hf_mem *mem)
{
    hf_slice key = kept_key(kept, mem);

    if (key.ptr)
        hf_presence_promised(server->presence, key, 0);
}

/* What they declared for their machines counts here, too, unless somebody has said otherwise since.
   A list that cannot be is nothing to stop for: it was refused where it was sent. */
static void limits_learn(hf_server *server, hf_value kept)
{
    hf_engine *engine = server->engine;
    hf_value limits = hf_get(kept, "said.limits");

    if (hf_len(limits) && !hf_namespace_use(engine, hf_str(kept, "namespace", "default")))
        (void)!hf_workers_limits(engine, limits, hf_int(kept, "seen_at", 1));
    (void)!hf_namespace_use(engine, NULL);
}

/* Workers that registered and browsers that logged in or out at another server, or before this one
   began. Clocks of servers may differ a little, and commits take their time: the newest are read
   again. */
static hf_status others_refresh(hf_server *server, hf_mem *mem, hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(server->clock);
    int64_t learned_us = atomic_load(&server->learned_us);
    int64_t since_us = learned_us > OVERLAP_US ? learned_us - OVERLAP_US : 0;
    hf_value kept = NULL;
    hf_status st = hf_sessions_read(server, since_us, mem, err);

    if (st)
        return st;
    st = hf_workers_kept(server->engine, since_us, mem, &kept);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    st = hf_fleet_learn(server->fleet, kept, err);
    for (size_t i = 0; !st && i < hf_len(kept); i++) {
        limits_learn(server, hf_at(kept, i));
        if (!learned_us)
            worker_expect(server, hf_at(kept, i), mem);
    }
    if (!st)
        atomic_store(&server->learned_us, now_us);
    return st;
}

/* Workers that hold tasks of this process without having been heard here: they asked another
   server, which may be gone. One that never registered promised nothing, and may work in silence.
 */
static hf_status holders_expect(hf_server *server, hf_mem *mem, hf_err *err)
{
    hf_value holders = NULL;
    hf_status st = hf_workers_holding(server->engine, mem, &holders);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    for (size_t i = 0; i < hf_len(holders); i++) {
        hf_slice key = kept_key(hf_at(holders, i), mem);

        if (key.ptr && hf_fleet_has(server->fleet, key))
            hf_presence_expected(server->presence, key);
    }
    return HF_OK;
}

static hf_status refresh(hf_server *server, size_t *out_tokens, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st;

    if (!mem)
        return hf_err_nomem(err, "tokens");
    st = tokens_refresh(server, mem, out_tokens, err);
    if (!st)
        st = namespaces_refresh(server, mem, err);
    if (!st)
        st = others_refresh(server, mem, err);
    if (!st)
        st = holders_expect(server, mem, err);
    hf_mem_free(mem);
    return st;
}

hf_status hf_server_refresh(hf_server *server, hf_err *err)
{
    size_t count;
    hf_status st = refresh(server, &count, err);

    atomic_store(&server->away, st == HF_UNREACHABLE);
    hf_server_review(server);
    return st;
}

hf_status hf_server_first_token(hf_server *server, hf_token *out_token, hf_err *err)
{
    hf_token_opts options = {.size_ = sizeof(options), .role = "admin", .label = "first"};
    size_t count = 0;
    hf_status st = refresh(server, &count, err);

    *out_token = (hf_token){0};
    if (st || count > 0 || hf_auth_driver_of(server->auth) != HF_AUTH_TOKEN)
        return st;
    st = hf_token_create_with(server->engine, &options, out_token);
    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    return refresh(server, &count, err);
}

bool hf_server_namespace_alone(hf_server *server)
{
    hf_slice rest;
    hf_slice part;
    size_t count = 0;

    hf_mutex_lock(&server->mutex);
    rest = hf_buf_slice(&server->namespaces);
    while (count < 2 && rest.ptr && hf_slice_split(&rest, ',', &part))
        count += part.len > 0;
    hf_mutex_unlock(&server->mutex);
    return count < 2;
}

bool hf_server_namespace_exists(hf_server *server, hf_slice name)
{
    hf_slice rest;
    hf_slice part;
    bool found = false;

    hf_mutex_lock(&server->mutex);
    rest = hf_buf_slice(&server->namespaces);
    while (!found && rest.ptr && hf_slice_split(&rest, ',', &part))
        found = part.len && hf_slice_equal(part, name);
    hf_mutex_unlock(&server->mutex);
    return found;
}

size_t hf_server_storage_threshold(hf_server *server, hf_slice name)
{
    size_t threshold = 0;

    if (!server->storage_root[0])
        return 0;
    hf_mutex_lock(&server->mutex);
    for (size_t i = 0; i < hf_len(server->spaces); i++) {
        hf_value space = hf_at(server->spaces, i);

        if (hf_slice_equal(hf_slice_of(hf_str(space, "name", "")), name) &&
            hf_bool(space, "external_payload_storage.enabled", false))
            threshold = (size_t)hf_int(space, "external_payload_storage.threshold_bytes", 0);
    }
    hf_mutex_unlock(&server->mutex);
    return threshold;
}
