/* snapshot.c: a snapshot row is one canonical JSON object; its format is written and read here
   only.
   {"machine": true, for step machines alone, "params": entries, "queries": {"contracts": [...],
   "names": [...]}, "signals": {...}, "updates": {...}, "validators": [...], when there are some} */
#include "store/snapshot.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "store/row.h"

static void targets_write(hf_buf *body, const char *name, hf_definition_targets targets)
{
    hf_buf_add_format(body, ",\"%s\":{\"contracts\":", name);
    hf_buf_add_slice(body, targets.contracts);
    hf_buf_add_text(body, ",\"names\":");
    hf_buf_add_slice(body, targets.names);
    hf_buf_add_text(body, "}");
}

void hf_snapshot_write(const hf_definition_snapshot *snapshot, hf_buf *out_body)
{
    hf_buf_add_text(out_body, snapshot->machine ? "{\"machine\":true,\"params\":" : "{\"params\":");
    hf_buf_add_slice(out_body, snapshot->params);
    targets_write(out_body, "queries", snapshot->queries);
    targets_write(out_body, "signals", snapshot->signals);
    targets_write(out_body, "updates", snapshot->updates);
    if (snapshot->validators.ptr && !hf_slice_equal(snapshot->validators, HF_SLICE("null"))) {
        hf_buf_add_text(out_body, ",\"validators\":");
        hf_buf_add_slice(out_body, snapshot->validators);
    }
    hf_buf_add_text(out_body, "}");
}

hf_status hf_snapshot_make(hf_db *db, const char *type, const hf_definition_snapshot *snapshot,
                           int64_t *out_key, hf_err *err)
{
    const hf_db_value one[] = {hf_db_text(HF_SLICE("key")), hf_db_int(1)};
    hf_db_value row[4];
    hf_db_value fingerprint = hf_db_text(hf_slice_of(snapshot->fingerprint));
    hf_buf body = {0};
    bool found = false;
    hf_status st = hf_db_number(db, HF_STMT_DEFINITION_GET, &fingerprint, 1, &found, out_key, err);

    if (st || found)
        return st;
    hf_snapshot_write(snapshot, &body);
    if (!hf_buf_ok(&body))
        st = hf_err_nomem(err, "a definition");
    row[0] = hf_db_int(0);
    if (!st)
        st = hf_db_number(db, HF_STMT_COUNTER_TAKE, one, 2, &found, &row[0].number, err);
    row[1] = fingerprint;
    row[2] = hf_db_text(hf_slice_of(type));
    row[3] = hf_db_blob(hf_buf_slice(&body));
    if (!st)
        st = hf_db_number(db, HF_STMT_DEFINITION_NEW, row, 4, &found, out_key, err);
    if (!st && !found) /* another node was faster */
        st = hf_db_number(db, HF_STMT_DEFINITION_GET, &fingerprint, 1, &found, out_key, err);
    hf_buf_fini(&body);
    return hf_err_because(err, st, "record the definition of %s", type);
}

static hf_status slice_write(hf_mem *mem, hf_value value, hf_slice *out_json, hf_err *err)
{
    hf_buf text = {0};

    hf_json_write_canonical(&text, value ? value : hf_value_null());
    *out_json = (hf_slice){0};
    if (hf_buf_ok(&text))
        *out_json = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    return out_json->ptr ? HF_OK : hf_err_nomem(err, "a definition");
}

static hf_status targets_read(hf_mem *mem, hf_value body, const char *name,
                              hf_definition_targets *out, hf_err *err)
{
    hf_value targets = hf_get(body, name);
    hf_status st = slice_write(mem, hf_get(targets, "names"), &out->names, err);

    return st ? st : slice_write(mem, hf_get(targets, "contracts"), &out->contracts, err);
}

hf_status hf_snapshot_type(hf_db *db, hf_mem *mem, int64_t key, hf_slice *out_type, hf_err *err)
{
    const hf_db_value param = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_DEFINITION_READ, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no definition with key %lld", (long long)key);
    if (!st) {
        hf_slice type = hf_db_column_bytes(cursor, 1);

        *out_type = hf_slice_from(hf_mem_text(mem, type), type.len);
        if (!out_type->ptr)
            st = hf_err_nomem(err, "a type");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_snapshot_read(hf_db *db, hf_mem *mem, int64_t key,
                           hf_definition_snapshot *out_snapshot, hf_err *err)
{
    const hf_db_value param = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    hf_value body = NULL;
    bool found = false;
    hf_slice fingerprint;
    hf_status st = hf_db_query(db, HF_STMT_DEFINITION_READ, &param, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no definition with key %lld", (long long)key);
    if (!st)
        st = hf_json_read(mem, hf_db_column_bytes(cursor, 2), NULL, &body, err);
    if (!st) {
        fingerprint = hf_db_column_bytes(cursor, 0);
        if (fingerprint.len >= sizeof(out_snapshot->fingerprint))
            st = hf_err_set(err, HF_CORRUPT, "the fingerprint of a definition is too long");
        else
            memcpy(out_snapshot->fingerprint, fingerprint.ptr, fingerprint.len);
        out_snapshot->fingerprint[st ? 0 : fingerprint.len] = '\0';
    }
    hf_db_end(cursor);
    out_snapshot->machine = !st && hf_bool(body, "machine", false);
    if (!st)
        st = slice_write(mem, hf_get(body, "params"), &out_snapshot->params, err);
    if (!st)
        st = targets_read(mem, body, "signals", &out_snapshot->signals, err);
    if (!st)
        st = targets_read(mem, body, "updates", &out_snapshot->updates, err);
    if (!st)
        st = targets_read(mem, body, "queries", &out_snapshot->queries, err);
    if (!st)
        st = slice_write(mem, hf_get(body, "validators"), &out_snapshot->validators, err);
    return st;
}

hf_status hf_snapshot_of_type(hf_db *db, hf_mem *mem, hf_slice type, int64_t *out_key,
                              hf_slice *out_fingerprint, hf_err *err)
{
    const hf_db_value param = hf_db_text(type);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_DEFINITION_OF_TYPE, &param, 1, &cursor, err);

    *out_key = HF_NONE;
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice print = hf_db_column_bytes(cursor, 1);

        *out_key = hf_db_column_int(cursor, 0);
        *out_fingerprint = hf_slice_from(hf_mem_text(mem, print), print.len);
        st = out_fingerprint->ptr ? HF_OK : hf_err_nomem(err, "a definition");
    }
    hf_db_end(cursor);
    return st;
}
