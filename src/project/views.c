/* views.c: see views.h. */
#include "project/views.h"

#include "base/id.h"
#include "project/edge.h"
#include "project/filter.h"
#include "project/query_line.h"

typedef struct system_view {
    const char *id;
    const char *name;
    const char *bucket;
    const char *filters;
} system_view;

static const system_view system_views[] = {
    {"system:running", "Running", "running", "{}"},
    {"system:completed", "Completed", "completed", "{}"},
    {"system:failed", "Failed", "failed", "{}"},
    {"system:cancelled", "Cancelled", "cancelled", "{}"},
    {"system:terminated", "Terminated", "terminated", "{}"},
    {"system:running-task-problems", "Task problems", "running", "{\"task_problem\":true}"},
    {"system:running-repair-blocked", "Repair blocked", "running", "{\"repair_attention\":true}"}};

bool hf_views_bucket(hf_slice text)
{
    for (size_t i = 0; i < 5; i++)
        if (hf_slice_equal(text, hf_slice_of(system_views[i].bucket)))
            return true;
    return false;
}

hf_value hf_views_bucket_filters(hf_mem *mem, hf_slice bucket)
{
    if (!bucket.len)
        return hf_json_(mem, "{}");
    if (hf_slice_equal(bucket, HF_SLICE("running")))
        return hf_json_(mem, "{'status_bucket': 'running'}");
    return hf_json_(mem, "{'status': %s}", hf_mem_text(mem, bucket));
}

/* What is said of the version a view was written for. */
static hf_value version_value(hf_mem *mem, int64_t version)
{
    bool newer = version > HF_FILTER_VERSION || version < 1;
    bool old = version <= HF_FILTER_DEPRECATED_MAX;

    return hf_json_(mem,
                    "{'filter_version': %lld, 'filter_version_supported': %p, "
                    "'filter_version_status': %s, 'filter_version_message': %s, "
                    "'current_filter_version': %d, 'supported_filter_versions': [1,2,3,4,5,6]}",
                    (long long)version, (const void *)hf_value_bool(!newer),
                    newer ? "unsupported"
                    : old ? "deprecated"
                          : "supported",
                    newer ? "The view was written for a version of the filters that this program "
                            "does not know."
                    : old ? "The view was written for an early version of the filters; save it "
                            "again."
                          : NULL,
                    HF_FILTER_VERSION);
}

static hf_value joined(hf_mem *mem, hf_value a, hf_value b)
{
    return hf_edge_merge(mem, a, b);
}

/* The query line of a view: as it was written, or as its bucket and filters would be. */
static hf_value with_line(hf_mem *mem, hf_value view)
{
    hf_value filters = hf_get(view, "filters");
    hf_value line = hf_value_find(filters, HF_SLICE("q"));

    if (!line)
        line = hf_query_line_write(
            mem, joined(mem, hf_views_bucket_filters(mem, hf_slice_of(hf_str(view, "bucket", ""))),
                        filters));
    return joined(mem, view, hf_json_(mem, "{'q': %p}", (const void *)line));
}

static hf_value system_value(hf_mem *mem, const system_view *view)
{
    hf_value filters = hf_parse_(mem, view->filters, hf_slice_of(view->filters).len);

    return joined(
        mem,
        with_line(mem,
                  hf_json_(mem,
                           "{'id': %s, 'name': %s, 'bucket': %s, 'scope': 'default', 'owner': "
                           "null, 'shared': true, 'system': true, 'filters': %p, 'created_at': "
                           "null, 'updated_at': null}",
                           view->id, view->name, view->bucket, (const void *)filters)),
        version_value(mem, HF_FILTER_VERSION));
}

static hf_value text_at(hf_mem *mem, hf_db_cursor *c, size_t column)
{
    return hf_value_string(mem, hf_db_column_bytes(c, column));
}

static hf_value saved_value(hf_mem *mem, hf_db_cursor *c)
{
    hf_value_list *view = hf_value_object(mem);
    hf_ulid id = hf_ulid_form(hf_db_column_int(c, 8), hf_db_column_int(c, 0), 0);
    hf_value filters = NULL;

    if (hf_edge_json(mem, hf_db_column_bytes(c, 6), &filters, NULL))
        filters = hf_value_null();
    hf_value_set(view, HF_SLICE("id"), hf_edge_id(mem, &id));
    hf_value_set(view, HF_SLICE("name"), text_at(mem, c, 3));
    hf_value_set(view, HF_SLICE("bucket"),
                 hf_db_column_bytes(c, 2).len ? text_at(mem, c, 2) : hf_value_null());
    hf_value_set(view, HF_SLICE("scope"), text_at(mem, c, 1));
    hf_value_set(view, HF_SLICE("owner"), text_at(mem, c, 4));
    hf_value_set(view, HF_SLICE("shared"), hf_value_bool(hf_db_column_int(c, 5) != 0));
    hf_value_set(view, HF_SLICE("system"), hf_value_bool(false));
    hf_value_set(view, HF_SLICE("filters"), filters);
    hf_value_set(view, HF_SLICE("created_at"), hf_edge_time(mem, hf_db_column_int(c, 8)));
    hf_value_set(view, HF_SLICE("updated_at"), hf_edge_time(mem, hf_db_column_int(c, 9)));
    return joined(mem, with_line(mem, hf_value_finish(view)),
                  version_value(mem, hf_db_column_int(c, 7)));
}

bool hf_views_key(hf_slice id, int64_t *out_key, int64_t *out_created_ms)
{
    hf_ulid parsed;

    if (!hf_ulid_parse(id, &parsed))
        return false;
    *out_created_ms = hf_ulid_time_ms(&parsed);
    *out_key = hf_ulid_key(&parsed);
    return hf_ulid_counter(&parsed) == 0 && *out_key > 0;
}

/* The saved views that the reader may see; `key` 0: all of the scope. */
static hf_status saved_read(hf_db *db, hf_mem *mem, const hf_views_reader *reader, int64_t key,
                            hf_slice bucket, hf_value_list *into, hf_value *out_last, hf_err *err)
{
    hf_slice scope = reader->scope.len ? reader->scope : HF_SLICE("default");
    const hf_db_value params[] = {hf_db_int(reader->namespace_key), hf_db_int(key),
                                  hf_db_text(scope)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_VIEW_LIST, params, 3, &cursor, err);

    while (!st && row) {
        bool own;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        own = reader->owner.len && hf_slice_equal(hf_db_column_bytes(cursor, 4), reader->owner);
        if ((!own && !hf_db_column_int(cursor, 5)) ||
            (bucket.len && !hf_slice_equal(hf_db_column_bytes(cursor, 2), bucket)))
            continue;
        *out_last = saved_value(mem, cursor);
        hf_value_append(into, *out_last);
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_views_list(hf_db *db, hf_mem *mem, const hf_views_reader *reader, hf_slice bucket,
                        hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    hf_value last = NULL;
    hf_status st;

    for (size_t i = 0; i < sizeof(system_views) / sizeof(system_views[0]); i++)
        if (!bucket.len || hf_slice_equal(bucket, hf_slice_of(system_views[i].bucket)))
            hf_value_append(list, system_value(mem, &system_views[i]));
    st = saved_read(db, mem, reader, 0, bucket, list, &last, err);
    *out_list = hf_value_finish(list);
    return st ? st : *out_list ? HF_OK : hf_err_nomem(err, "views");
}

hf_status hf_views_get(hf_db *db, hf_mem *mem, const hf_views_reader *reader, hf_slice id,
                       hf_value *out_view, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    int64_t key = 0;
    int64_t created_ms = 0;
    hf_status st = HF_OK;

    *out_view = NULL;
    for (size_t i = 0; i < sizeof(system_views) / sizeof(system_views[0]); i++)
        if (hf_slice_equal(id, hf_slice_of(system_views[i].id)))
            *out_view = system_value(mem, &system_views[i]);
    if (!*out_view && hf_views_key(id, &key, &created_ms))
        st = saved_read(db, mem, reader, key, (hf_slice){0}, list, out_view, err);
    if (!st && !*out_view)
        st = hf_err_set(err, HF_NOTFOUND, "there is no view \"%.*s\"", (int)id.len,
                        id.ptr ? id.ptr : "");
    return st;
}
