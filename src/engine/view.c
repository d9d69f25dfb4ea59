/* view.c: holdfast/view.h: views that are kept; list.c has lists, view_run.c one run. Here is also
   what the calls that answer requests have in common: each reads into an arena of its own where
   much is thrown away, and hands the answer over. */
#include "holdfast/view.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/call.h"
#include "engine/look.h"
#include "model/name.h"
#include "model/vocab.h"
#include "project/views.h"

enum { NAME_SHOWN = 64, PIECE = 64 * 1024, PIECE_MAX = 1024 * 1024 };

#define VIEW_MEMBERS "id owner scope"

hf_slice hf_look_member(hf_value request, const char *name)
{
    return hf_value_slice(hf_value_find(request, hf_slice_of(name)));
}

hf_status hf_look_members(hf_value request, const char *known, hf_err *err)
{
    hf_slice name;
    hf_value value;

    if (request && hf_value_kind_of(request) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "a request is an object");
    for (size_t i = 0; hf_value_member(request, i, &name, &value); i++) {
        hf_slice rest = hf_slice_of(known);
        hf_slice word;
        bool found = hf_value_kind_of(value) == HF_VALUE_NULL;

        while (!found && rest.len && hf_slice_split(&rest, ' ', &word))
            found = hf_slice_equal(word, name);
        if (!found)
            return hf_err_set(err, HF_INVALID, "the request has no member \"%.*s\"; there are: %s",
                              name.len > NAME_SHOWN ? NAME_SHOWN : (int)name.len, name.ptr, known);
    }
    return HF_OK;
}

hf_status hf_look_begin(hf_call *c, hf_engine *engine, hf_value request, const char *known,
                        const hf_mem *mem, hf_value *out)
{
    hf_status st = hf_call_begin(c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c->slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = NULL;
    return hf_look_members(request, known, &c->slot->err);
}

hf_status hf_look_give(hf_mem *mem, hf_value answer, hf_status st, hf_value *out, hf_mem *work,
                       hf_err *err)
{
    if (!st) {
        *out = hf_value_copy(mem, answer);
        st = *out ? HF_OK : hf_err_nomem(err, "an answer");
    }
    hf_mem_free(work);
    return st;
}

/* Kinds of events, all of which there are. */
static hf_status kinds_read(hf_value request, hf_value *out_kinds, hf_err *err)
{
    hf_value kinds = hf_get(request, "kinds");

    *out_kinds = hf_len(kinds) ? kinds : NULL;
    for (size_t i = 0; i < hf_len(kinds); i++) {
        hf_slice kind = hf_value_slice(hf_at(kinds, i));

        if (!hf_vocab_by_text(&hf_timeline_kind_list, kind))
            return hf_err_set(err, HF_INVALID, "there is no kind of events \"%.*s\"",
                              kind.len > NAME_SHOWN ? NAME_SHOWN : (int)kind.len,
                              kind.ptr ? kind.ptr : "");
    }
    return HF_OK;
}

hf_status hf_look_part(hf_value request, const hf_detail_query *query, hf_part_query *out,
                       hf_err *err)
{
    *out = (hf_part_query){.detail = *query,
                           .part = hf_look_member(request, "part"),
                           .after = hf_int(request, "after", 0),
                           .before = hf_int(request, "before", INT64_MAX),
                           .text = hf_look_member(request, "q"),
                           .backwards =
                               hf_slice_equal(hf_look_member(request, "order"), HF_SLICE("desc")),
                           .step = hf_int(request, "step", 0),
                           .event = hf_int(request, "event", 0),
                           .key = hf_look_member(request, "key"),
                           .from = hf_int(request, "from", 0),
                           .size = hf_int(request, "size", PIECE)};
    if (out->from < 0 || out->size < 1 || out->size > PIECE_MAX)
        return hf_err_set(err, HF_INVALID, "a piece has 1 to %d bytes, from 0 on", PIECE_MAX);
    return kinds_read(request, &out->kinds, err);
}

/* ---- views */

hf_views_reader hf_look_reader(int64_t namespace_key, hf_value request)
{
    return (hf_views_reader){.namespace_key = namespace_key,
                             .scope = hf_look_member(request, "scope"),
                             .owner = hf_look_member(request, "owner")};
}

hf_status hf_view_list(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_views_reader reader;
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, "owner scope bucket", mem, out);

    if (st)
        return st;
    reader = hf_look_reader(c.in.namespace_key, request);
    hf_call_read_begin(&c);
    st = hf_views_list(c.in.db, mem, &reader, hf_look_member(request, "bucket"), out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

hf_status hf_view_get(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_views_reader reader;
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, VIEW_MEMBERS, mem, out);

    if (st)
        return st;
    reader = hf_look_reader(c.in.namespace_key, request);
    hf_call_read_begin(&c);
    st = hf_views_get(c.in.db, mem, &reader, hf_look_member(request, "id"), out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

/* A view in the making. */
typedef struct view_draft {
    int64_t key;
    int64_t created_us;
    hf_slice name, bucket, owner, scope;
    bool shared;
    int64_t version;
    hf_buf filters;
} view_draft;

static bool line_given(hf_value request)
{
    return hf_value_kind_of(hf_value_find(request, HF_SLICE("q"))) == HF_VALUE_STRING;
}

static hf_status draft_check(view_draft *d, hf_value request, hf_err *err)
{
    d->name = hf_slice_trim(hf_look_member(request, "name"));
    d->bucket = hf_look_member(request, "bucket");
    d->owner = hf_slice_trim(hf_look_member(request, "owner"));
    d->scope = hf_look_member(request, "scope").len ? hf_look_member(request, "scope")
                                                    : HF_SLICE("default");
    d->shared = hf_bool(request, "shared", false);
    d->version = hf_int(request, "filter_version", HF_FILTER_VERSION);
    if (hf_name_check(HF_NAME_SAVED_VIEW, d->name, err))
        return HF_INVALID;
    if (!hf_views_bucket(d->bucket) && (d->bucket.len || !line_given(request)))
        return hf_err_set(err, HF_INVALID,
                          "a view is of a bucket: running, completed, failed, ...");
    if (hf_name_check(HF_NAME_VIEW_OWNER, d->owner, err) ||
        hf_name_check(HF_NAME_VIEW_OWNER, d->scope, err))
        return HF_INVALID;
    if (d->version < 1)
        return hf_err_set(err, HF_INVALID, "a filter version is a number from 1 on");
    if (d->version > HF_FILTER_VERSION)
        return hf_err_set(err, HF_NEWER, "this program knows versions of the filters up to %d",
                          HF_FILTER_VERSION);
    return HF_OK;
}

/* The key: a new one, or that of the view which is changed. */
static hf_status draft_key(hf_call *c, view_draft *d, hf_value request, hf_err *err)
{
    hf_slice id = hf_look_member(request, "id");
    hf_views_reader reader = hf_look_reader(c->in.namespace_key, request);
    hf_value view = NULL;
    int64_t created_ms = 0;
    hf_status st;

    if (!id.len) {
        d->created_us = hf_clock_wall_us(c->engine->clock);
        return hf_keys_take(hf_writer_keys(c->engine->writer), 1, &d->key, err);
    }
    if (hf_slice_starts(id, HF_SLICE("system:")))
        return hf_err_set(err, HF_DENIED, "system views cannot be changed");
    hf_mem_reset(c->slot->scratch);
    hf_call_read_begin(c);
    st = hf_views_get(c->in.db, c->slot->scratch, &reader, id, &view, err);
    hf_call_read_end(c);
    if (st)
        return st;
    if (!hf_slice_equal(hf_slice_of(hf_str(view, "owner", "")), d->owner))
        return hf_err_set(err, HF_DENIED, "the view %s belongs to somebody else",
                          hf_str(view, "name", ""));
    (void)hf_views_key(id, &d->key, &created_ms);
    d->created_us = created_ms * 1000;
    return HF_OK;
}

/* What is kept: filters as they were read, or the query line as it was written, whose ages count
   from when the view is looked at. */
static hf_status draft_filters(const hf_call *c, hf_value request, hf_mem *mem,
                               hf_value *out_filters, hf_err *err)
{
    hf_value line = hf_value_find(request, HF_SLICE("q"));
    hf_value given = hf_value_find(request, HF_SLICE("filters"));

    if (!line || hf_value_kind_of(line) == HF_VALUE_NULL)
        return hf_filter_read(mem, given, out_filters, err);
    if (hf_len(given))
        return hf_err_set(err, HF_INVALID, "a view has filters or a query line, and not both");
    *out_filters = hf_json_(mem, "{'q': %p}", (const void *)line);
    return *out_filters
               ? hf_look_filters_check(mem, *out_filters, hf_clock_wall_us(c->engine->clock), err)
               : hf_err_nomem(err, "a view");
}

static hf_status draft_commit(hf_call *c, const view_draft *d, hf_err *err)
{
    const hf_db_value cells[] = {hf_db_int(d->key),
                                 hf_db_int(c->in.namespace_key),
                                 hf_db_text(d->scope),
                                 hf_db_text(d->bucket.len ? d->bucket : HF_SLICE("")),
                                 hf_db_text(d->name),
                                 hf_db_text(d->owner),
                                 hf_db_int(d->shared),
                                 hf_db_text(hf_buf_slice(&d->filters)),
                                 hf_db_int(d->version),
                                 hf_db_int(d->created_us),
                                 hf_db_int(hf_clock_wall_us(c->engine->clock))};
    bool applied = false;
    hf_status st =
        hf_call_row(c, HF_OP_VIEW_PUT, cells, sizeof(cells) / sizeof(cells[0]), &applied, err);

    if (st == HF_CONSTRAINT)
        return hf_err_set(err, HF_EXISTS, "there is a view \"%.*s\" already", (int)d->name.len,
                          d->name.ptr);
    if (!st && !applied)
        return hf_err_set(err, HF_DENIED, "the view belongs to somebody else");
    return st;
}

hf_status hf_view_save(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    view_draft draft = {0};
    hf_views_reader reader;
    hf_value filters = NULL;
    char id[HF_ULID_TEXT_SIZE];
    hf_ulid formed;
    hf_err *err;
    hf_call c;
    hf_status st =
        hf_look_begin(&c, engine, request,
                      "id name bucket filters q owner scope shared filter_version", mem, out);

    if (st)
        return st;
    err = &c.slot->err;
    st = draft_check(&draft, request, err);
    if (!st)
        st = draft_filters(&c, request, mem, &filters, err);
    if (!st)
        st = draft_key(&c, &draft, request, err);
    if (!st) {
        hf_json_write_canonical(&draft.filters, filters);
        st =
            hf_buf_ok(&draft.filters) ? draft_commit(&c, &draft, err) : hf_err_nomem(err, "a view");
    }
    hf_buf_fini(&draft.filters);
    if (st)
        return st;
    formed = hf_ulid_form(draft.created_us, draft.key, 0);
    hf_ulid_print(&formed, id);
    reader = hf_look_reader(c.in.namespace_key, request);
    hf_call_read_begin(&c);
    st = hf_views_get(c.in.db, mem, &reader, hf_slice_of(id), out, err);
    hf_call_read_end(&c);
    return st;
}

hf_status hf_view_delete(hf_engine *engine, hf_value request)
{
    hf_slice id = hf_look_member(request, "id");
    hf_db_value cells[3];
    int64_t key = 0;
    int64_t created_ms = 0;
    bool applied = false;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_look_members(request, VIEW_MEMBERS, &c.slot->err);
    if (st)
        return st;
    if (hf_slice_starts(id, HF_SLICE("system:")))
        return hf_err_set(&c.slot->err, HF_DENIED, "system views cannot be deleted");
    if (!hf_views_key(id, &key, &created_ms))
        return hf_err_set(&c.slot->err, HF_NOTFOUND, "there is no such view");
    cells[0] = hf_db_int(key);
    cells[1] = hf_db_int(c.in.namespace_key);
    cells[2] = hf_db_text(hf_look_member(request, "owner").ptr ? hf_look_member(request, "owner")
                                                               : HF_SLICE(""));
    st = hf_call_row(&c, HF_OP_VIEW_DELETE, cells, 3, &applied, &c.slot->err);
    if (!st && !applied)
        st = hf_err_set(&c.slot->err, HF_NOTFOUND, "there is no such view of this owner");
    return st;
}
