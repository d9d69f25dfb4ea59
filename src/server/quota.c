/* quota.c: see quota.h. Counting runs costs as much as there may be open ones, counting bytes as
   much as there are runs: the one is done every second at most, the other every minute. A limit
   that seems to be reached is looked at once more before somebody is turned away. */
#include "server/quota.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/thread.h"
#include "holdfast/host.h"
#include "server/server_impl.h"

/* One kind of thing that is counted. */
typedef struct meter {
    int64_t counted; /* in the store, at that time */
    int64_t counted_us;
    int64_t added; /* let through since */
    bool known;
} meter;

typedef struct tenant {
    meter runs;
    meter bytes;
} tenant;

struct hf_quotas {
    int64_t runs_max;
    int64_t bytes_max;
    hf_mutex lock;
    hf_map *tenants; /* by namespace; under the lock */
};

/* What a command asks of a meter, and how old a count of it may be. */
typedef struct demand {
    int64_t limit;
    int64_t more;
    int64_t fresh_us; /* no older than that it is taken as it is */
    int64_t again_us; /* and no older than that when it says no */
    bool bytes;
} demand;

void hf_quotas_close(hf_quotas *quotas)
{
    size_t at = 0;
    hf_slice space;
    void *t;

    if (!quotas)
        return;
    while (quotas->tenants && hf_map_next(quotas->tenants, &at, &space, &t))
        hf_alloc_free(t);
    hf_map_free(quotas->tenants);
    hf_mutex_fini(&quotas->lock);
    hf_alloc_free(quotas);
}

hf_status hf_quotas_open(int64_t runs_max, int64_t bytes_max, hf_quotas **out_quotas, hf_err *err)
{
    hf_quotas *quotas = hf_alloc(sizeof(*quotas));
    hf_map_seed seed;
    hf_status st;

    if (!quotas)
        return hf_err_nomem(err, "quotas");
    st = hf_mutex_init(&quotas->lock, err);
    if (st) {
        hf_alloc_free(quotas);
        return st;
    }
    quotas->runs_max = runs_max;
    quotas->bytes_max = bytes_max;
    st = hf_map_seed_system(&seed, err);
    quotas->tenants = st ? NULL : hf_map_new(seed);
    if (!quotas->tenants) {
        hf_quotas_close(quotas);
        return st ? st : hf_err_nomem(err, "quotas");
    }
    *out_quotas = quotas;
    return HF_OK;
}

/* With the lock held; NULL: no memory. */
static tenant *tenant_of(hf_quotas *quotas, hf_slice space)
{
    tenant *t = hf_map_get(quotas->tenants, space);

    if (t)
        return t;
    t = hf_alloc(sizeof(*t));
    if (t && hf_map_put(quotas->tenants, space, t, NULL, NULL)) {
        hf_alloc_free(t);
        t = NULL;
    }
    return t;
}

static bool has_room(const meter *m, const demand *d)
{
    return m->counted + m->added + d->more <= d->limit;
}

/* With the lock held. */
static bool is_stale(const meter *m, const demand *d, int64_t now_us)
{
    int64_t age_us = now_us - m->counted_us;

    return !m->known || age_us > d->fresh_us || (!has_room(m, d) && age_us > d->again_us);
}

/* True: it may pass, and is added. */
static bool meter_take(hf_api *api, const demand *d)
{
    hf_server *server = api->server;
    hf_quotas *quotas = server->quotas;
    int64_t now_us = hf_clock_mono_us(server->clock);
    bool passes = true; /* for want of memory nobody is turned away: the start will tell */
    int64_t counted = 0;
    meter *m = NULL;
    tenant *t;
    hf_status st = HF_OK;
    bool stale;

    hf_mutex_lock(&quotas->lock);
    t = tenant_of(quotas, hf_slice_of(api->namespace));
    m = t && d->bytes ? &t->bytes : t ? &t->runs : NULL;
    stale = m && is_stale(m, d, now_us);
    if (stale) { /* by this thread alone; the others take what is known */
        m->counted_us = now_us;
        m->known = true;
    }
    hf_mutex_unlock(&quotas->lock);
    if (stale)
        st = d->bytes ? hf_namespace_bytes(server->engine, &counted)
                      : hf_namespace_open_runs(server->engine, d->limit + 1, &counted);
    hf_mutex_lock(&quotas->lock);
    if (stale && !st) {
        m->counted = counted;
        m->added = 0;
    }
    if (m) {
        passes = has_room(m, d);
        m->added += passes ? d->more : 0;
    }
    hf_mutex_unlock(&quotas->lock);
    return passes;
}

static bool starts(const char *command)
{
    return strcmp(command, "start") == 0 || strcmp(command, "signal_with_start") == 0;
}

bool hf_quota_allows(hf_api *api, const char *command, int64_t count)
{
    const hf_quotas *quotas = api->server->quotas;
    const demand runs = {
        .limit = quotas->runs_max, .more = count, .fresh_us = 1000000, .again_us = 100000};
    const demand bytes = {.limit = quotas->bytes_max,
                          .more = (int64_t)api->request->body.len,
                          .fresh_us = 60000000,
                          .again_us = 10000000,
                          .bytes = true};
    bool adds = starts(command) || strcmp(command, "signal") == 0 || strcmp(command, "update") == 0;

    if (quotas->bytes_max && adds && !meter_take(api, &bytes)) {
        hf_api_error(api, 429, "namespace_storage_limit_reached",
                     "The namespace may have %lld bytes in the store and has them.",
                     (long long)quotas->bytes_max);
        return false;
    }
    if (quotas->runs_max && starts(command) && !meter_take(api, &runs)) {
        hf_api_error(api, 429, "namespace_run_limit_reached",
                     "The namespace may have %lld open runs and has them.",
                     (long long)quotas->runs_max);
        return false;
    }
    return true;
}
