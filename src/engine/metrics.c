/* metrics.c: the numbers of view.h: operator metrics, health, statistics, groups of failures, and
   Prometheus text. */
#include "project/metrics.h"

#include <string.h>

#include "engine/call.h"
#include "engine/core_impl.h"
#include "engine/look.h"
#include "holdfast/view.h"
#include "project/durations.h"
#include "project/flow.h"
#include "project/metrics_impl.h"
#include "project/overview.h"

enum { POINTS_MAX = 10080, STEPS_USUAL = 60 };

/* Who asks, while they ask. */
typedef struct asking {
    hf_call call;
    hf_list_query query;
    hf_asker who;
    hf_metrics_world world;
} asking;

static hf_status metrics_begin(hf_call *c, hf_engine *engine, const hf_mem *mem, const void *out)
{
    hf_status st = hf_call_begin(c, engine);

    if (!st && (!mem || !out))
        st = hf_err_set(&c->slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    return st;
}

/* Begins to read; asking_end it. */
static hf_status asking_begin(asking *a, hf_engine *engine, hf_mem *mem, const void *out)
{
    hf_folder_stats folded;
    hf_status st = metrics_begin(&a->call, engine, mem, out);

    if (st)
        return st;
    folded = hf_folder_stats_get(engine->folder);
    a->query = (hf_list_query){.namespace_key = a->call.in.namespace_key};
    a->world =
        (hf_metrics_world){.query = &a->query,
                           .fleet = &a->who.fleet,
                           .required = hf_slice_of(engine->app ? engine->app->build_id : NULL),
                           .limits = &engine->settings.limits,
                           .update_wait_ms = engine->settings.update_wait_ms,
                           .folded_runs = folded.runs,
                           .folded_events = folded.events,
                           .rebuilt_missing = folded.missing,
                           .rebuilt_stale = folded.stale,
                           .fold_failures = folded.failed,
                           .fold_aside = folded.aside,
                           .fold_waiting = folded.waiting,
                           .stale_steps = engine->core ? engine->core->stale_steps : 0};
    hf_call_read_begin(&a->call);
    st = hf_look_asker(engine, a->call.in.db, mem, &a->who, &a->query, &a->call.slot->err);
    if (st)
        hf_call_read_end(&a->call);
    return st;
}

static void asking_end(asking *a)
{
    hf_call_read_end(&a->call);
}

hf_status hf_metrics(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    asking a;
    hf_status st = asking_begin(&a, engine, mem, out);

    if (st)
        return st;
    st = hf_metrics_read(a.call.in.db, mem, &a.world, out, &a.call.slot->err);
    asking_end(&a);
    return st;
}

hf_status hf_health(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_value metrics = NULL;
    hf_status st = hf_metrics(engine, mem, &metrics);

    if (st)
        return st;
    if (!out)
        return HF_MISUSE;
    *out = hf_metrics_health(mem, metrics);
    return *out ? HF_OK : HF_NOMEM;
}

hf_status hf_stats(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_value metrics = NULL;
    asking a;
    hf_status st = asking_begin(&a, engine, mem, out);

    if (st)
        return st;
    st = hf_metrics_read(a.call.in.db, mem, &a.world, &metrics, &a.call.slot->err);
    if (!st)
        st = hf_metrics_stats(a.call.in.db, mem, &a.world, metrics, out, &a.call.slot->err);
    asking_end(&a);
    return st;
}

hf_status hf_failure_groups(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = metrics_begin(&c, engine, mem, out);

    if (!st)
        st = hf_look_members(request, "since_us limit", &c.slot->err);
    if (st)
        return st;
    hf_call_read_begin(&c);
    st = hf_metrics_failures(c.in.db, mem, c.in.namespace_key, hf_int(request, "since_us", 0),
                             hf_int(request, "limit", 0), out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

hf_status hf_failure_group(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = metrics_begin(&c, engine, mem, out);

    if (!st)
        st = hf_look_members(request, "fingerprint after_us", &c.slot->err);
    if (st)
        return st;
    hf_call_read_begin(&c);
    st =
        hf_metrics_failure(c.in.db, mem, c.in.namespace_key, hf_look_member(request, "fingerprint"),
                           hf_int(request, "after_us", 0), out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

hf_status hf_metrics_points(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    const char *span = hf_str(request, "span", "minute");
    bool minute = strcmp(span, "minute") == 0;
    int64_t limit = hf_int(request, "limit", POINTS_MAX);
    hf_value points = NULL;
    hf_call c;
    hf_status st = metrics_begin(&c, engine, mem, out);

    if (!st)
        st = hf_look_members(request, "span from_us to_us limit", &c.slot->err);
    if (st)
        return st;
    if (!minute && strcmp(span, "hour") != 0)
        return hf_err_set(&c.slot->err, HF_INVALID, "span is minute or hour");
    if (limit < 1 || limit > POINTS_MAX)
        return hf_err_set(&c.slot->err, HF_INVALID, "1 to %d points are read", POINTS_MAX);
    hf_call_read_begin(&c);
    st = hf_flow_read(c.in.db, mem, c.in.namespace_key,
                      minute ? HF_FLOW_MINUTE_US : HF_FLOW_HOUR_US, hf_int(request, "from_us", 0),
                      hf_int(request, "to_us", INT64_MAX), limit, &points, &c.slot->err);
    hf_call_read_end(&c);
    if (st)
        return st;
    *out = hf_json_(mem, "{'span': %s, 'points': %p}", span, (const void *)points);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "points");
}

hf_status hf_durations(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    int64_t points = hf_int(request, "points", STEPS_USUAL);
    int64_t from_us = hf_int(request, "from_us", 0);
    int64_t to_us = hf_int(request, "to_us", 0);
    hf_call c;
    hf_status st = metrics_begin(&c, engine, mem, out);

    if (!st)
        st = hf_look_members(request, "from_us to_us points", &c.slot->err);
    if (st)
        return st;
    if (from_us < 0 || to_us <= from_us)
        return hf_err_set(&c.slot->err, HF_INVALID, "the stretch of time ends after it begins");
    if (points < 1 || points > HF_DURATIONS_POINTS)
        return hf_err_set(&c.slot->err, HF_INVALID, "a stretch has 1 to %d steps",
                          HF_DURATIONS_POINTS);
    hf_call_read_begin(&c);
    st = hf_durations_read(c.in.db, mem, c.in.namespace_key, from_us, to_us, points, out,
                           &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

/* {backend, bytes, wal_bytes, path}: the last two of a file alone. */
static hf_status storage_read(const hf_engine *engine, hf_db *db, hf_mem *mem,
                              hf_value *out_storage, hf_err *err)
{
    const char *backend = hf_store_engine(engine->store);
    bool file = strcmp(backend, "sqlite") == 0;
    hf_metrics_row n;
    hf_status st = hf_metrics_numbers(db, HF_STMT_STORE_BYTES, NULL, 0, &n, err);

    if (st)
        return st;
    *out_storage = hf_json_(
        mem, "{'backend': %s, 'bytes': %lld, 'wal_bytes': %p, 'path': %s}", backend,
        (long long)n.at[0],
        (const void *)(file ? hf_value_int(mem, hf_store_writer(engine->store)->log_pages * n.at[1])
                            : hf_value_null()),
        file ? hf_store_address(engine->store) : NULL);
    return *out_storage ? HF_OK : hf_err_nomem(err, "an overview");
}

hf_status hf_overview(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_value storage = NULL;
    hf_value overview = NULL;
    hf_call c;
    hf_status st = metrics_begin(&c, engine, mem, out);

    if (st)
        return st;
    hf_call_read_begin(&c);
    st = hf_overview_read(c.in.db, mem, c.in.namespace_key, hf_clock_wall_us(engine->clock),
                          &overview, &c.slot->err);
    if (!st)
        st = storage_read(engine, c.in.db, mem, &storage, &c.slot->err);
    hf_call_read_end(&c);
    if (st)
        return hf_err_because(&c.slot->err, st, "read an overview");
    *out = hf_value_merge(mem, overview, hf_json_(mem, "{'storage': %p}", (const void *)storage));
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "an overview");
}

hf_status hf_metrics_text(hf_engine *engine, hf_mem *mem, const char **out_text)
{
    hf_value metrics = NULL;
    hf_buf text = {0};
    hf_status st = hf_metrics(engine, mem, &metrics);

    if (st)
        return st;
    hf_metrics_print(&text, metrics);
    *out_text = hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL;
    hf_buf_fini(&text);
    return *out_text ? HF_OK : HF_NOMEM;
}
