/* command_repeat.c: see command_repeat.h. */
#include "engine/command_repeat.h"

#include "base/value.h"
#include "model/command_note.h"

enum { HASH_BYTES = 16 };

bool hf_command_named(const hf_request *request)
{
    return request->request_id.ptr || request->dedup_key.ptr;
}

/* The kind of name and the type of command are part of what is hashed. */
static hf_status name_hash(hf_handling *h, char kind, hf_slice name, hf_slice *out_hash,
                           hf_err *err)
{
    hf_sha256 *sha = h->call->in.stager->sha;
    const char head[2] = {kind, (char)h->request->type};
    uint8_t *digest = hf_mem_alloc(hf_unit_mem(h->unit), HF_SHA256_BYTES);
    hf_status st;

    if (!digest)
        return hf_err_nomem(err, "a hash");
    hf_sha256_begin(sha);
    hf_sha256_add(sha, hf_slice_from(head, sizeof(head)));
    hf_sha256_add(sha, name);
    st = hf_sha256_end(sha, digest, err);
    *out_hash = hf_slice_from(digest, HASH_BYTES);
    return st;
}

/* What the command was answered, as its row has it. */
static hf_status answer_read(hf_handling *h, int64_t command, hf_err *err)
{
    const hf_db_value key = hf_db_int(command);
    hf_reply *reply = h->reply;
    hf_command_note note;
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(h->call->in.db, HF_STMT_COMMAND_READ, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_CORRUPT, "command %lld is gone", (long long)command);
    if (!st) {
        reply->status = (hf_command_status)hf_db_column_int(cursor, 0);
        reply->outcome = hf_db_column_null(cursor, 1) ? HF_NONE : hf_db_column_int(cursor, 1);
        reply->rejection = hf_db_column_null(cursor, 2) ? HF_NONE : hf_db_column_int(cursor, 2);
        reply->command_seq = hf_db_column_null(cursor, 4) ? HF_NONE : hf_db_column_int(cursor, 4);
        reply->command = command;
        hf_command_id_print(hf_db_column_int(cursor, 5), command, reply->command_id);
        reply->run = HF_NONE;
        reply->run_id[0] = '\0';
        if (!hf_db_column_null(cursor, 7)) {
            reply->run = hf_db_column_int(cursor, 3);
            hf_command_id_print(hf_db_column_int(cursor, 7), reply->run, reply->run_id);
        }
        st = hf_command_note_read(hf_db_column_bytes(cursor, 6), h->mem, &note, err);
    }
    hf_db_end(cursor);
    if (st)
        return st;
    reply->repeated = true;
    reply->validation_errors = note.validation_errors;
    reply->why = note.message.ptr ? hf_mem_text(h->mem, note.message) : NULL;
    return note.message.ptr && !reply->why ? hf_err_nomem(err, "an answer") : HF_OK;
}

static hf_status name_find(hf_handling *h, char kind, hf_slice name, bool *out_repeated,
                           hf_err *err)
{
    hf_db_value params[2] = {hf_db_int(h->target.instance.key)};
    hf_slice hash;
    int64_t command = 0;
    hf_status st;

    if (!name.ptr || *out_repeated)
        return HF_OK;
    st = name_hash(h, kind, name, &hash, err);
    params[1] = hf_db_blob(hash);
    if (!st)
        st =
            hf_db_number(h->call->in.db, HF_STMT_DEDUP_GET, params, 2, out_repeated, &command, err);
    return !st && *out_repeated ? answer_read(h, command, err) : st;
}

hf_status hf_command_repeat(hf_handling *h, bool *out_repeated, hf_err *err)
{
    hf_status st;

    *out_repeated = false;
    if (!hf_command_named(h->request))
        return HF_OK;
    hf_call_read_begin(h->call);
    st = name_find(h, 'r', h->request->request_id, out_repeated, err);
    if (!st)
        st = name_find(h, 'd', h->request->dedup_key, out_repeated, err);
    hf_call_read_end(h->call);
    return st;
}

static hf_status name_put(hf_handling *h, char kind, hf_slice name, int64_t key, bool leave,
                          hf_err *err)
{
    int64_t instance = h->target.instance.key;
    hf_mem *mem = hf_unit_mem(h->unit);
    hf_slice hash;
    hf_status st;

    if (!name.ptr)
        return HF_OK;
    st = name_hash(h, kind, name, &hash, err);
    if (!st)
        hf_unit_row(h->unit, 0,
                    leave ? hf_row_dedup_leave(mem, instance, hash, key)
                          : hf_row_dedup_new(mem, instance, hash, key));
    return st;
}

hf_status hf_command_name(hf_handling *h, int64_t key, bool leave, hf_err *err)
{
    hf_status st = name_put(h, 'r', h->request->request_id, key, leave, err);

    return st ? st : name_put(h, 'd', h->request->dedup_key, key, leave, err);
}
