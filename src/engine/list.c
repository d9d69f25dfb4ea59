/* list.c: lists of runs of holdfast/view.h: what is asked for (a view, a bucket, filters, a query
   line), one page of it, and why each run of the page stands where it stands. */
#include "engine/call.h"
#include "engine/core.h"
#include "engine/look.h"
#include "engine/why_run.h"
#include "holdfast/view.h"
#include "project/edge.h"
#include "project/query_line.h"
#include "project/views.h"
#include "project/why_short.h"

/* What a page spends on saying why: beyond it, and of longer histories, rows alone are asked. */
enum { WHY_BUDGET_US = 100000, WHY_EVENTS_MAX = 5000 };

/* Filters of a request or a view, and a query line among them as `q`, of which everything must be
   understood. */
static hf_status filters_read(hf_mem *mem, hf_value given, int64_t now_us, hf_value *out_filters,
                              hf_err *err)
{
    hf_value line = hf_value_find(given, HF_SLICE("q"));
    hf_value read = NULL;
    hf_value filters = NULL;
    hf_value first;
    hf_status st = hf_filter_read(
        mem, line ? hf_edge_merge(mem, given, hf_json_(mem, "{'q': null}")) : given, &filters, err);

    if (!st && line && hf_value_kind_of(line) != HF_VALUE_STRING)
        st = hf_err_set(err, HF_INVALID, "the filter q takes a query line");
    if (!st && line)
        st = hf_query_line_read(mem, hf_value_slice(line), now_us, &read, err);
    if (st)
        return st;
    first = hf_get(read, "errors.0");
    if (first)
        return hf_err_set(err, HF_INVALID, "the query is not understood at \"%.64s\": %s",
                          hf_str(first, "text", ""), hf_str(first, "message", ""));
    *out_filters = line ? hf_filter_merge(mem, filters, hf_get(read, "filters")) : filters;
    return *out_filters ? HF_OK : hf_err_nomem(err, "filters");
}

hf_status hf_look_filters_check(hf_mem *mem, hf_value given, int64_t now_us, hf_err *err)
{
    hf_value filters = NULL;

    return filters_read(mem, given, now_us, &filters, err);
}

/* What a list is asked for. */
typedef struct asked {
    hf_value filters; /* of the view and the request */
    hf_value view;    /* null: none */
    hf_slice bucket;
    hf_value read; /* the query line as it was understood; NULL: none was given */
} asked;

/* The view that is asked for, if this program understands it. */
static hf_status view_read(hf_db *db, int64_t namespace_key, hf_value request, hf_mem *work,
                           hf_value *out_view, hf_err *err)
{
    hf_views_reader reader = hf_look_reader(namespace_key, request);
    hf_slice id = hf_look_member(request, "view");
    hf_status st = HF_OK;

    *out_view = hf_value_null();
    if (id.len)
        st = hf_views_get(db, work, &reader, id, out_view, err);
    if (!st && id.len && !hf_bool(*out_view, "filter_version_supported", false))
        st = hf_err_set(err, HF_NEWER,
                        "the view %s was written for version %lld of the filters, and this program "
                        "knows versions up to %d",
                        hf_str(*out_view, "name", ""),
                        (long long)hf_int(*out_view, "filter_version", 0), HF_FILTER_VERSION);
    return st;
}

/* What the view, the bucket, the filters and the query line ask for together; the later wins. */
static hf_status asked_read(hf_db *db, int64_t namespace_key, hf_value request, int64_t now_us,
                            hf_mem *work, asked *out_asked, hf_err *err)
{
    hf_value line = hf_value_find(request, HF_SLICE("q"));
    hf_value kept = NULL;
    hf_value given = NULL;
    asked a = {.bucket = hf_look_member(request, "bucket")};
    hf_status st = view_read(db, namespace_key, request, work, &a.view, err);

    if (!st && !a.bucket.len)
        a.bucket = hf_slice_of(hf_str(a.view, "bucket", ""));
    if (!st && a.bucket.len && !hf_views_bucket(a.bucket))
        st = hf_err_set(err, HF_INVALID, "there is no bucket \"%.*s\"", (int)a.bucket.len,
                        a.bucket.ptr);
    if (!st)
        st = filters_read(work, hf_get(a.view, "filters"), now_us, &kept, err);
    if (!st)
        st = filters_read(work, hf_value_find(request, HF_SLICE("filters")), now_us, &given, err);
    if (!st && hf_value_kind_of(line) == HF_VALUE_STRING)
        st = hf_query_line_read(work, hf_value_slice(line), now_us, &a.read, err);
    if (st)
        return st;
    a.filters = hf_filter_merge(work, kept, given);
    if (a.filters && a.read)
        a.filters = hf_filter_merge(work, a.filters, hf_get(a.read, "filters"));
    *out_asked = a;
    return a.filters ? HF_OK : hf_err_nomem(err, "filters");
}

hf_status hf_look_asker(const hf_engine *engine, hf_db *db, hf_mem *mem, hf_asker *who,
                        hf_list_query *io_query, hf_err *err)
{
    const hf_app *app = engine ? engine->app : NULL;
    int64_t now_us = hf_clock_wall_us(engine ? engine->clock : hf_clock_system());
    hf_status st;

    *who = (hf_asker){.engine = engine};
    st = hf_asker_begin(who, db, mem, io_query->namespace_key, now_us, err);
    if (st)
        return st;
    st = hf_engine_app_markers(app, mem, &io_query->own, err);
    if (!st && !engine && who->fleet.count)
        io_query->own = HF_SLICE(",");
    if (engine || who->fleet.count) /* as hf_asker_served: else nobody can say */
        io_query->build = hf_slice_of(app && app->build_id ? app->build_id : "");
    if (st)
        return st;
    io_query->live = (hf_liveness_world){.now_us = now_us, .served = hf_asker_served, .ctx = who};
    io_query->scope = hf_engine_app_scope(app);
    return HF_OK;
}

/* What the page says of the request beside its rows. */
static hf_value page_dressed(hf_mem *mem, hf_value page, hf_value request, const asked *a)
{
    hf_value said = hf_json_(
        mem,
        "{'visibility_filters': {'version': %d, 'bucket': %s, 'definition': %p, 'applied': %p, "
        "'saved_view': %p}}",
        HF_FILTER_VERSION, a->bucket.len ? hf_mem_text(mem, a->bucket) : NULL,
        (const void *)(hf_bool(request, "definition", false) ? hf_filter_definition(mem)
                                                             : hf_value_null()),
        (const void *)a->filters, (const void *)a->view);

    if (said && a->read)
        said = hf_value_merge(
            mem, said,
            hf_json_(mem, "{'query': {'tokens': %p, 'errors': %p, 'filters': %p, 'view': %p}}",
                     (const void *)hf_get(a->read, "tokens"),
                     (const void *)hf_get(a->read, "errors"), (const void *)a->filters,
                     (const void *)hf_get(a->view, "id")));
    return hf_value_merge(mem, page, said);
}

hf_status hf_look_list(hf_db *db, const hf_engine *engine, int64_t namespace_key, hf_value request,
                       hf_mem *work, hf_value *out_page, hf_err *err)
{
    hf_list_query query = {.namespace_key = namespace_key,
                           .limit = hf_int(request, "limit", 0),
                           .oldest =
                               hf_slice_equal(hf_look_member(request, "order"), HF_SLICE("oldest")),
                           .cursor = hf_look_member(request, "cursor"),
                           .facets = hf_value_find(request, HF_SLICE("facets")),
                           .total = hf_bool(request, "total", false),
                           .hist = hf_bool(request, "hist", false)};
    hf_value page = NULL;
    hf_asker who;
    asked a;
    hf_status st = hf_look_members(request, HF_LOOK_LIST, err);

    if (!st)
        st = hf_look_asker(engine, db, work, &who, &query, err);
    if (!st)
        st = asked_read(db, namespace_key, request, query.live.now_us, work, &a, err);
    if (st)
        return st;
    query.filters = hf_filter_merge(work, hf_views_bucket_filters(work, a.bucket), a.filters);
    if (!query.filters)
        return hf_err_nomem(err, "filters");
    st = hf_list_read(db, work, &query, &page, err);
    if (st)
        return st;
    *out_page = page_dressed(work, page, request, &a);
    return *out_page ? HF_OK : hf_err_nomem(err, "a list");
}

/* ---- why */

/* The answer for a run of a page from its history, while that is affordable. NULL: it is not, or
   the run is gone meanwhile. */
static hf_status item_why(hf_call *c, hf_value item, int64_t until_us, hf_mem *work,
                          hf_value *out_why, hf_err *err)
{
    hf_why_world world = {.live.now_us = hf_clock_wall_us(c->engine->clock)};
    hf_ulid id;
    hf_status st;

    *out_why = NULL;
    if (hf_why_row_suffices(item) || hf_int(item, "history_event_count", 0) > WHY_EVENTS_MAX ||
        hf_clock_mono_us(hf_clock_system()) > until_us ||
        !hf_ulid_parse(hf_slice_of(hf_str(item, "run_id", "")), &id))
        return HF_OK;
    world.stalled_run = hf_core_stalled(c->engine->core, hf_ulid_key(&id));
    st = hf_why_run(c->in.db, c->engine, hf_ulid_key(&id), &world, work, out_why, err);
    if (st == HF_CORRUPT) { /* of this run alone */
        *out_why = hf_why_unreadable(work);
        return *out_why ? HF_OK : hf_err_nomem(err, "an answer");
    }
    return st == HF_NOTFOUND ? HF_OK : st;
}

/* The page with a `why` and a `glyph` in each row. */
static hf_status page_explain(hf_call *c, hf_value page, hf_mem *work, hf_value *out_page,
                              hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(c->engine->clock);
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + WHY_BUDGET_US;
    hf_value items = hf_get(page, "items");
    hf_value_list *list = hf_value_array(work);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(items); i++) {
        hf_value item = hf_at(items, i);
        hf_value why = NULL;

        st = item_why(c, item, until_us, work, &why, err);
        why = why ? hf_why_shorten(work, why) : hf_why_of_row(work, item, now_us);
        hf_value_append(list, hf_value_merge(work, item,
                                             hf_json_(work, "{'why': %p, 'glyph': %s}",
                                                      (const void *)why, hf_glyph(item, why))));
    }
    items = hf_value_finish(list);
    if (st)
        return st;
    *out_page = hf_value_merge(work, page, hf_json_(work, "{'items': %p}", (const void *)items));
    return items && *out_page ? HF_OK : hf_err_nomem(err, "a list");
}

hf_status hf_list_runs(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_value page = NULL;
    hf_mem *work;
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, HF_LOOK_LIST " why", mem, out);

    if (st)
        return st;
    work = hf_mem_new();
    if (!work)
        return hf_err_nomem(&c.slot->err, "a list");
    hf_call_read_begin(&c);
    st = hf_look_list(c.in.db, engine, c.in.namespace_key,
                      hf_edge_merge(work, request, hf_json_(work, "{'why': null}")), work, &page,
                      &c.slot->err);
    if (!st && hf_bool(request, "why", false))
        st = page_explain(&c, page, work, &page, &c.slot->err);
    hf_call_read_end(&c);
    return hf_look_give(mem, page, st, out, work, &c.slot->err);
}

hf_status hf_list_filters(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, NULL, "", mem, out);

    if (st)
        return st;
    *out = hf_filter_definition(mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "the filters");
}
