/* bundles.c: hf_tool_bundles: runs of a store as bundles, read beside whoever works on it. One run
   is in memory at a time. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/imported.h"
#include "engine/look.h"
#include "engine/tool_store.h"
#include "holdfast/tool.h"
#include "project/bundle.h"
#include "project/filter.h"

enum { PAGE_RUNS = 250, RUNS_MAX = 500 };

/* An export under way. */
typedef struct job {
    hf_tool_store tool;
    const hf_bundles_options *options;
    hf_tool_bundle_fn *found;
    void *ctx;
    hf_mem *mem; /* of one run */
    int64_t runs;
    int64_t max;
    bool enough;
} job;

static hf_status run_give(job *j, int64_t run, hf_err *err)
{
    const hf_bundle_options options = {.now_us = hf_clock_wall_us(hf_clock_system()),
                                       .key = hf_slice_of(j->options->key),
                                       .key_id = hf_slice_of(j->options->key_id),
                                       .seed = hf_slice_of(j->options->ed25519_key),
                                       .redact = j->options->redact,
                                       .redact_arg = j->options->redact_arg,
                                       .redact_policy = hf_slice_of(j->options->redact_policy)};
    hf_dossier dossier;
    hf_value bundle = NULL;
    hf_buf text = {0};
    hf_status st;

    hf_mem_reset(j->mem);
    st = hf_dossier_read(j->tool.db, j->mem, run, &dossier, err);
    if (!st)
        st = hf_bundle_make(&dossier, j->mem, &options, &bundle, err);
    if (!st) {
        hf_json_write_outer(&text, bundle);
        st = hf_buf_ok(&text) ? HF_OK : hf_err_nomem(err, "a bundle");
    }
    if (!st) {
        j->enough = !j->found(j->ctx, hf_buf_text(&text), text.len);
        j->runs++;
    }
    hf_buf_fini(&text);
    return st;
}

static hf_status named_give(job *j, const char *name, hf_err *err)
{
    const hf_intake in = {.db = j->tool.db, .namespace_key = j->tool.namespace_key};
    hf_intake_target target;
    const char *id = NULL;
    int64_t number = 0;
    int64_t run = 0;
    hf_status st;

    hf_mem_reset(j->mem);
    st = hf_tool_name_split(j->mem, name, &id, &number, err);
    if (!st)
        st = hf_db_begin(j->tool.db, HF_DB_READ, err); /* found and read in one snapshot */
    if (!st)
        st = hf_intake_find(&in, j->mem, hf_slice_of(id), &target, err);
    if (!st && target.base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "%s was never started", name);
    if (!st)
        st = hf_tool_run_pick(j->tool.db, &target, number, &run, err);
    if (!st)
        st = run_give(j, run, err);
    hf_db_rollback(j->tool.db);
    return st;
}

/* A run of another store leaves as it came. */
static hf_status imported_give(job *j, const char *name, hf_err *err)
{
    hf_slice text = {0};
    hf_status st =
        hf_imported_read(j->tool.db, j->mem, j->tool.namespace_key, hf_slice_of(name), &text, err);

    if (st)
        return st;
    j->enough = !j->found(j->ctx, text.ptr, text.len);
    j->runs++;
    return HF_OK;
}

static hf_status given(job *j, const char *name, hf_err *err)
{
    hf_status st = named_give(j, name, err);

    return st == HF_NOTFOUND && !imported_give(j, name, NULL) ? HF_OK : st;
}

/* A history that cannot be read costs its own run when somebody wants to know of it. */
static hf_status unreadable_tell(job *j, int64_t run, hf_err *err)
{
    const hf_err why = *err;
    hf_dossier_run named;
    hf_value names;
    hf_ulid id;
    char text[HF_ULID_TEXT_SIZE];
    hf_status st;

    hf_mem_reset(j->mem);
    st = hf_dossier_find(j->tool.db, j->mem, run, &named, err);
    if (st)
        return st;
    id = hf_dossier_run_id(&named);
    hf_ulid_print(&id, text);
    names = hf_json_(j->mem, "{'instance_id': %p, 'run_id': %s, 'workflow_type': %p}",
                     (const void *)hf_value_string(j->mem, named.instance_id), text,
                     (const void *)hf_value_string(j->mem, named.type));
    if (!names)
        return hf_err_nomem(err, "the names of a run");
    j->options->unreadable(j->ctx, names, &why);
    j->runs++;
    return HF_OK;
}

/* A run that went away between the list and its reading is no failure. */
static hf_status filtered_give(job *j, hf_mem *list, hf_err *err)
{
    hf_list_query query = {.namespace_key = j->tool.namespace_key};
    int64_t keys[PAGE_RUNS];
    hf_slice cursor = {0};
    size_t count = 0;
    hf_asker who;
    hf_status st = hf_look_asker(NULL, j->tool.db, list, &who, &query, err);

    if (!st)
        st = hf_filter_read(list, j->options->filters, &query.filters, err);
    do {
        size_t room = j->max - j->runs < PAGE_RUNS ? (size_t)(j->max - j->runs) : PAGE_RUNS;

        if (!st)
            st = hf_list_keys(j->tool.db, list, &query, &cursor, keys, room, &count, err);
        for (size_t i = 0; !st && i < count && !j->enough; i++) {
            st = run_give(j, keys[i], err);
            if (st == HF_NOTFOUND)
                st = HF_OK;
            else if (st == HF_CORRUPT && j->options->unreadable)
                st = unreadable_tell(j, keys[i], err);
        }
    } while (!st && !j->enough && cursor.len && j->runs < j->max);
    return st;
}

hf_status hf_tool_bundles(const char *address, const hf_bundles_options *options,
                          hf_tool_bundle_fn *found, void *ctx, int64_t *out_runs, hf_err *err)
{
    job j = {.options = options, .found = found, .ctx = ctx};
    hf_mem *list = NULL;
    hf_status st;

    if (!address || !options || options->size != sizeof(*options) || !found)
        return hf_err_set(err, HF_MISUSE, "an address, options and a function are needed");
    j.max = options->max ? options->max : RUNS_MAX;
    st = hf_tool_store_open(&j.tool, address, options->schema, options->namespace_, err);
    if (st)
        return st;
    list = hf_mem_new();
    j.mem = hf_mem_new();
    if (!list || !j.mem)
        st = hf_err_nomem(err, "bundles");
    else if (!options->ids)
        st = filtered_give(&j, list, err);
    for (size_t i = 0; !st && options->ids && options->ids[i] && !j.enough; i++)
        st = given(&j, options->ids[i], err);
    if (out_runs)
        *out_runs = j.runs;
    hf_mem_free(j.mem);
    hf_mem_free(list);
    hf_tool_store_close(&j.tool);
    return st;
}
