/* export.c: hf_export: a run as a published history bundle. Reads what is committed and nothing
   else; the run goes on meanwhile. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/options.h"
#include "engine/engine_impl.h"
#include "project/bundle.h"
#include "holdfast/view.h"
#include "project/dossier.h"

/* The key of the run that is meant: the newest one of the instance, or the one with that id. */
static hf_status run_find(const engine_slot *slot, hf_db *db, hf_mem *mem,
                          const hf_export_opts *opts, int64_t *out_run, hf_err *err)
{
    hf_intake in = {.db = db, .namespace_key = slot->namespace_key};
    hf_intake_target target;
    hf_status st =
        hf_intake_aim(&in, mem, hf_slice_of(opts->id), hf_slice_of(opts->run_id), &target, err);

    if (!st && target.base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "%.191s was never started", opts->id);
    *out_run = target.base.run;
    return st;
}

static hf_status export_make(hf_engine *engine, const engine_slot *slot, const hf_export_opts *opts,
                             const hf_export_seal *seal, hf_mem *work, hf_buf *text, hf_err *err)
{
    const hf_bundle_options options = {.now_us = hf_clock_wall_us(engine->clock),
                                       .key = hf_slice_of(opts->key),
                                       .key_id = hf_slice_of(opts->key_id),
                                       .seed = hf_slice_of(seal->ed25519_key),
                                       .redact = seal->redact,
                                       .redact_arg = seal->redact_arg,
                                       .redact_policy = hf_slice_of(seal->redact_policy)};
    hf_dossier dossier;
    hf_value bundle = NULL;
    int64_t run = 0;
    hf_db *db = hf_engine_read_begin(engine);
    hf_status st = hf_db_begin(db, HF_DB_READ, err);

    if (!st)
        st = run_find(slot, db, work, opts, &run, err);
    if (!st)
        st = hf_dossier_read(db, work, run, &dossier, err);
    hf_db_rollback(db); /* it only read */
    hf_engine_read_end(engine);
    if (!st)
        st = hf_bundle_make(&dossier, work, &options, &bundle, err);
    if (st)
        return st;
    hf_json_write_outer(text, bundle);
    return hf_buf_ok(text) ? HF_OK : hf_err_nomem(err, "a bundle");
}

hf_status hf_export_sealed(hf_engine *engine, hf_mem *mem, const char **out_json,
                           const hf_export_opts *o, const hf_export_seal *seal)
{
    engine_slot *slot = engine ? hf_engine_slot_get(engine) : NULL;
    hf_export_opts opts = {0};
    hf_export_seal sealed = {0};
    hf_mem *work = NULL;
    hf_buf text = {0};
    hf_status st;

    if (!engine)
        return HF_MISUSE;
    if (!slot)
        return HF_NOMEM;
    if (engine->open_error.status) {
        slot->err = engine->open_error;
        return slot->err.status;
    }
    slot->err = (hf_err){0};
    st = hf_options_take(&opts, sizeof(opts), o, &slot->err);
    if (!st)
        st = hf_options_take(&sealed, sizeof(sealed), seal, &slot->err);
    if (st)
        return st;
    if (!mem || !out_json || !opts.id)
        return hf_err_set(&slot->err, HF_MISUSE,
                          "an id, memory and a place for the text are needed");
    *out_json = NULL;
    st = hf_engine_begin(engine, ENGINE_THREADS, &slot->err);
    if (st)
        return st;
    work = hf_mem_new();
    st = work ? export_make(engine, slot, &opts, &sealed, work, &text, &slot->err)
              : hf_err_nomem(&slot->err, "an export");
    if (!st) {
        *out_json = hf_mem_text(mem, hf_buf_slice(&text));
        if (!*out_json)
            st = hf_err_nomem(&slot->err, "an export");
    }
    hf_buf_fini(&text);
    hf_mem_free(work);
    return st;
}

hf_status hf_export_with(hf_engine *engine, hf_mem *mem, const char **out_json,
                         const hf_export_opts *o)
{
    return hf_export_sealed(engine, mem, out_json, o, NULL);
}
