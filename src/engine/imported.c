/* imported.c: hf_import and what belongs to it. A bundle is believed only as far as it was checked:
   it is verified as a whole before anything is written. */
#include "engine/imported.h"

#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "engine/call.h"
#include "engine/look.h"
#include "holdfast/view.h"
#include "project/bundle.h"
#include "project/bundle_verify.h"
#include "project/edge.h"
#include "store/payload.h"

enum { LIST_LIMIT = 50, LIST_LIMIT_MAX = 1000 };

/* A bundle on its way in. */
typedef struct draft {
    hf_slice text;
    hf_slice run_id, instance_id, type;
    int64_t events;
    bool complete;
    int64_t exported_us;
    uint8_t digest[HF_SHA256_BYTES];
} draft;

static hf_status text_digest(hf_slice text, uint8_t out_digest[HF_SHA256_BYTES], hf_err *err)
{
    hf_sha256 *sha = NULL;
    hf_status st = hf_sha256_new(&sha, err);

    if (!st)
        st = hf_sha256_digest(sha, text, out_digest, err);
    hf_sha256_free(sha);
    return st;
}

/* The first rule that does not hold, as a refusal. */
static hf_status report_judge(hf_value report, hf_err *err)
{
    hf_value findings = hf_get(report, "findings");

    if (strcmp(hf_str(report, "status", ""), "failed") != 0)
        return HF_OK;
    for (size_t i = 0; i < hf_len(findings); i++) {
        hf_value finding = hf_at(findings, i);
        const char *rule = hf_str(finding, "rule", "");

        if (strcmp(hf_str(finding, "severity", ""), "failed") == 0)
            return hf_err_set(
                err, strcmp(rule, "bundle.schema_version_unsupported") == 0 ? HF_NEWER : HF_INVALID,
                "the bundle is refused: %s (%s %s)", hf_str(finding, "message", ""), rule,
                hf_str(finding, "path", ""));
    }
    return hf_err_set(err, HF_INVALID, "the bundle is refused");
}

static hf_status draft_read(draft *d, hf_mem *work, const hf_import_opts *o, hf_err *err)
{
    const hf_bundle_verify_options keys = {.key = hf_slice_of(o->key),
                                           .public_key = hf_slice_of(o->public_key),
                                           .require_signature = o->require_signature};
    hf_value report = NULL;
    hf_status st;

    d->text = hf_slice_from(o->text, o->len);
    if (d->text.len > HF_BUNDLE_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG, "the bundle has %zu bytes, at most %d are read",
                          d->text.len, HF_BUNDLE_BYTES_MAX);
    st = hf_bundle_verify_text(work, d->text, &keys, &report, err);
    if (!st)
        st = report_judge(report, err);
    if (st)
        return st;
    d->run_id = hf_slice_of(hf_str(report, "run_id", ""));
    d->instance_id = hf_slice_of(hf_str(report, "instance_id", ""));
    d->type = hf_slice_of(hf_str(report, "workflow_type", ""));
    d->events = hf_int(report, "events", 0);
    d->complete = hf_bool(report, "complete", false);
    if (!hf_clock_parse(hf_slice_of(hf_str(report, "exported_at", "")), &d->exported_us))
        return hf_err_set(err, HF_INVALID, "the bundle does not say when it was made");
    return text_digest(d->text, d->digest, err);
}

/* What is there under that run id already: the same text, or another. */
static hf_status same_check(hf_call *c, const draft *d, int64_t namespace_key, hf_mem *work,
                            hf_err *err)
{
    hf_slice kept = {0};
    hf_status st;

    hf_call_read_begin(c);
    st = hf_imported_read(c->in.db, work, namespace_key, d->run_id, &kept, err);
    hf_call_read_end(c);
    if (st)
        return st;
    return hf_slice_equal(kept, d->text)
               ? HF_OK
               : hf_err_set(err, HF_EXISTS, "run %.*s is imported already, with another content",
                            (int)d->run_id.len, d->run_id.ptr);
}

static hf_status draft_commit(hf_call *c, const draft *d, int64_t namespace_key, hf_mem *work,
                              bool *out_new, hf_err *err)
{
    int64_t compression = 0;
    hf_slice body = {0};
    int64_t key = 0;
    hf_status st = hf_payload_pack(work, d->text, &compression, &body, err);

    if (!st)
        st = hf_keys_take(c->in.keys, 1, &key, err);
    if (!st) {
        const hf_db_value cells[] = {hf_db_int(key),
                                     hf_db_int(namespace_key),
                                     hf_db_text(d->run_id),
                                     hf_db_text(d->instance_id),
                                     hf_db_text(d->type),
                                     hf_db_int(d->events),
                                     hf_db_int(d->complete),
                                     hf_db_int(d->exported_us),
                                     hf_db_int(c->in.now_us),
                                     hf_db_int((int64_t)d->text.len),
                                     hf_db_blob(hf_slice_from(d->digest, sizeof(d->digest))),
                                     hf_db_int(compression),
                                     hf_db_blob(body)};

        st =
            hf_call_row(c, HF_OP_IMPORT_NEW, cells, sizeof(cells) / sizeof(cells[0]), out_new, err);
    }
    if (!st && !*out_new)
        st = same_check(c, d, namespace_key, work, err);
    return st;
}

/* The namespace that is meant; it must be there. */
static hf_status space_find(hf_call *c, const char *name, int64_t *out_key, hf_err *err)
{
    hf_status st = HF_OK;

    *out_key = c->in.namespace_key;
    if (!name)
        return HF_OK;
    hf_call_read_begin(c);
    st = hf_namespace_get(c->in.db, hf_slice_of(name), out_key, err);
    hf_call_read_end(c);
    return st;
}

hf_status hf_import_with(hf_engine *engine, hf_mem *mem, hf_value *out, const hf_import_opts *o)
{
    hf_import_opts opts = {0};
    int64_t namespace_key = 0;
    hf_mem *work = NULL;
    bool is_new = false;
    draft d = {0};
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    err = &c.slot->err;
    st = hf_options_take(&opts, sizeof(opts), o, err);
    if (st)
        return st;
    if (!mem || !out || !opts.text)
        return hf_err_set(err, HF_MISUSE, "a bundle, memory and a place for the answer are needed");
    *out = NULL;
    work = hf_mem_new();
    st = work ? space_find(&c, opts.space, &namespace_key, err) : hf_err_nomem(err, "an import");
    if (!st)
        st = draft_read(&d, work, &opts, err);
    if (!st)
        st = draft_commit(&c, &d, namespace_key, work, &is_new, err);
    if (!st) {
        *out =
            hf_json_(mem,
                     "{'run_id': %p, 'instance_id': %p, 'workflow_type': %p, 'events': %lld, "
                     "'complete': %p, 'imported': %p}",
                     (const void *)hf_value_string(mem, d.run_id),
                     (const void *)hf_value_string(mem, d.instance_id),
                     (const void *)hf_value_string(mem, d.type), (long long)d.events,
                     (const void *)hf_value_bool(d.complete), (const void *)hf_value_bool(is_new));
        st = *out ? HF_OK : hf_err_nomem(err, "an answer");
    }
    hf_mem_free(work);
    return hf_err_because(err, st, "import a bundle");
}

hf_status hf_imported_read(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice name,
                           hf_slice *out_text, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(name)};
    uint8_t digest[HF_SHA256_BYTES];
    uint8_t kept[HF_SHA256_BYTES] = {0};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_IMPORT_GET, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "no run %.*s was imported", (int)name.len, name.ptr);
    if (!st &&
        (hf_db_column_int(cursor, 2) < 0 || hf_db_column_int(cursor, 2) > HF_BUNDLE_BYTES_MAX ||
         hf_db_column_bytes(cursor, 3).len != sizeof(kept)))
        st = hf_err_set(err, HF_CORRUPT, "the imported run has a size that cannot be");
    if (!st) {
        memcpy(kept, hf_db_column_bytes(cursor, 3).ptr, sizeof(kept));
        st = hf_payload_unpack(mem, hf_db_column_int(cursor, 4), hf_db_column_bytes(cursor, 5),
                               (size_t)hf_db_column_int(cursor, 2), out_text, err);
    }
    hf_db_end(cursor);
    if (!st)
        st = text_digest(*out_text, digest, err);
    if (!st && memcmp(digest, kept, sizeof(digest)) != 0)
        st = hf_err_set(err, HF_CORRUPT, "the imported run differs from what was imported");
    return st;
}

static hf_value row_make(void *ctx, hf_mem *mem, hf_db_cursor *c)
{
    char digest[HF_SHA256_TEXT_SIZE] = "";

    (void)ctx;
    if (hf_db_column_bytes(c, 9).len == HF_SHA256_BYTES)
        hf_hex_print(hf_db_column_bytes(c, 9), digest);
    return hf_json_(mem,
                    "{'run_id': %p, 'instance_id': %p, 'workflow_type': %p, 'events': %lld, "
                    "'complete': %p, 'exported_at': %p, 'imported_at': %p, 'bytes': %lld, "
                    "'sha256': %s, 'cursor': %lld}",
                    (const void *)hf_value_string(mem, hf_db_column_bytes(c, 1)),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(c, 2)),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(c, 3)),
                    (long long)hf_db_column_int(c, 4),
                    (const void *)hf_value_bool(hf_db_column_int(c, 5) != 0),
                    (const void *)hf_edge_time(mem, hf_db_column_int(c, 6)),
                    (const void *)hf_edge_time(mem, hf_db_column_int(c, 7)),
                    (long long)hf_db_column_int(c, 8), digest, (long long)hf_db_column_int(c, 0));
}

hf_status hf_imports(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    int64_t before = hf_int(request, "cursor", INT64_MAX);
    int64_t limit = hf_int(request, "limit", LIST_LIMIT);
    int64_t namespace_key = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = NULL;
    st = hf_look_members(request, "namespace limit cursor", &c.slot->err);
    if (st)
        return st;
    if (limit < 1 || limit > LIST_LIMIT_MAX)
        return hf_err_set(&c.slot->err, HF_INVALID, "a page has 1 to %d rows", LIST_LIMIT_MAX);
    st = space_find(&c, hf_str(request, "namespace", NULL), &namespace_key, &c.slot->err);
    if (!st) {
        const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_int(before),
                                      hf_db_int(limit)};

        st = hf_call_rows(&c, HF_STMT_IMPORT_LIST, params, 3, mem, row_make, NULL, out);
    }
    return st;
}

hf_status hf_import_get(hf_engine *engine, hf_value request, hf_mem *mem, const char **out_json)
{
    hf_slice name = hf_slice_of(hf_str(request, "id", ""));
    int64_t namespace_key = 0;
    hf_slice text = {0};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out_json || !name.len)
        return hf_err_set(&c.slot->err, HF_MISUSE, "an id, memory and a place are needed");
    *out_json = NULL;
    st = hf_look_members(request, "id namespace", &c.slot->err);
    if (!st)
        st = space_find(&c, hf_str(request, "namespace", NULL), &namespace_key, &c.slot->err);
    if (st)
        return st;
    hf_call_read_begin(&c);
    st = hf_imported_read(c.in.db, mem, namespace_key, name, &text, &c.slot->err);
    hf_call_read_end(&c);
    if (!st)
        *out_json = text.ptr;
    return st;
}

hf_status hf_import_delete(hf_engine *engine, hf_value request)
{
    hf_db_value cells[2];
    int64_t namespace_key = 0;
    bool applied = false;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_look_members(request, "run_id namespace", &c.slot->err);
    if (!st)
        st = space_find(&c, hf_str(request, "namespace", NULL), &namespace_key, &c.slot->err);
    if (st)
        return st;
    cells[0] = hf_db_int(namespace_key);
    cells[1] = hf_db_text(hf_slice_of(hf_str(request, "run_id", "")));
    st = hf_call_row(&c, HF_OP_IMPORT_DELETE, cells, 2, &applied, &c.slot->err);
    if (!st && !applied)
        st = hf_err_set(&c.slot->err, HF_NOTFOUND, "no run %s was imported",
                        hf_str(request, "run_id", ""));
    return st;
}
