/* token.c: credentials of a store, for the server. The rule: a secret leaves this
   file once, to whoever asked for it, and is never written down. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/secret.h"
#include "holdfast/host.h"
#include "model/name.h"
#include "store/stmt.h"

enum { SPACES_BYTES_MAX = 500 };

/* "a,b": what tokens are for; "*": every namespace. */
static hf_status spaces_check(hf_slice list, hf_err *err)
{
    hf_status st = hf_name_check_text("list of namespaces", list, err);
    hf_slice name;

    while (!st && hf_slice_split(&list, ',', &name)) {
        name = hf_slice_trim(name);
        if (!hf_slice_equal(name, HF_SLICE("*")))
            st = hf_name_check(HF_NAME_NAMESPACE, name, err);
    }
    return st;
}

static hf_status option_check(const hf_token_opts *o, hf_err *err)
{
    static const char *const roles[] = {"read", "operator", "worker", "admin"};
    bool known = false;

    for (size_t i = 0; o->role && i < sizeof(roles) / sizeof(roles[0]); i++)
        known = known || strcmp(roles[i], o->role) == 0;
    if (!known)
        return hf_err_set(err, HF_INVALID, "the role is read, operator, worker or admin");
    if (o->label && hf_name_check(HF_NAME_TOKEN_LABEL, hf_slice_of(o->label), err))
        return HF_INVALID;
    if (o->namespaces && (!o->namespaces[0] || strlen(o->namespaces) > SPACES_BYTES_MAX))
        return hf_err_set(err, HF_INVALID,
                          "the namespaces are names separated by commas, at most %d "
                          "bytes",
                          SPACES_BYTES_MAX);
    if (o->lifespan < 0)
        return hf_err_set(err, HF_INVALID, "the lifespan is negative");
    return o->namespaces ? spaces_check(hf_slice_of(o->namespaces), err) : HF_OK;
}

static hf_status secret_make(hf_token *out, uint8_t digest[HF_SHA256_BYTES], hf_err *err)
{
    char hex[HF_SHA256_TEXT_SIZE];
    hf_status st = hf_secret_make("hf_", out->secret, digest, err);

    if (st)
        return st;
    hf_hex_print(hf_slice_from(digest, HF_SHA256_BYTES), hex);
    (void)snprintf(out->id, sizeof(out->id), "tok_%.16s", hex);
    return HF_OK;
}

hf_status hf_token_create_with(hf_engine *engine, const hf_token_opts *o, hf_token *out)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_token_opts opts = {0};
    hf_call call;
    bool applied;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return st;
    if (!o || !out)
        return hf_err_set(&call.slot->err, HF_MISUSE, "options and a place for a token are needed");
    *out = (hf_token){0};
    st = hf_options_take(&opts, sizeof(opts), o, &call.slot->err);
    if (!st)
        st = option_check(&opts, &call.slot->err);
    if (!st)
        st = secret_make(out, digest, &call.slot->err);
    if (!st) {
        const hf_db_value cells[] = {
            hf_db_text(hf_slice_of(out->id)),
            {.type = HF_DB_BLOB, .bytes = hf_slice_from(digest, HF_SHA256_BYTES)},
            hf_db_text(hf_slice_of(opts.label ? opts.label : opts.role)),
            hf_db_text(hf_slice_of(opts.role)),
            hf_db_text(hf_slice_of(opts.namespaces ? opts.namespaces : "*")),
            hf_db_int(call.in.now_us),
            hf_db_int(opts.lifespan ? hf_clock_after(call.in.now_us, opts.lifespan) : 0)};

        st = hf_call_row(&call, HF_OP_TOKEN_NEW, cells, sizeof(cells) / sizeof(cells[0]), &applied,
                         &call.slot->err);
    }
    if (!st && !applied)
        st = hf_err_set(&call.slot->err, HF_EXISTS, "the token exists already");
    if (st)
        *out = (hf_token){0};
    return st;
}

hf_status hf_token_revoke(hf_engine *engine, const char *id)
{
    hf_db_value cells[2];
    hf_call call;
    bool applied;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return st;
    if (!id)
        return hf_err_set(&call.slot->err, HF_MISUSE, "the id of a token is needed");
    cells[0] = hf_db_text(hf_slice_of(id));
    cells[1] = hf_db_int(call.in.now_us);
    st = hf_call_row(&call, HF_OP_TOKEN_REVOKE, cells, 2, &applied, &call.slot->err);
    if (!st && !applied)
        st = hf_err_set(&call.slot->err, HF_NOTFOUND, "there is no token %s to revoke", id);
    return st;
}

/* A time as text, or null for 0. */
static hf_value time_value(hf_mem *mem, int64_t wall_us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    return wall_us && hf_clock_print(wall_us, text) ? hf_value_string(mem, hf_slice_of(text))
                                                    : hf_value_null();
}

static hf_value token_value(void *ctx, hf_mem *mem, hf_db_cursor *cursor)
{
    static const char *const names[] = {"id", NULL, "label", "role", "namespaces"};
    hf_slice digest = hf_db_column_bytes(cursor, 1);
    hf_value_list *token = hf_value_object(mem);
    char hex[HF_SHA256_TEXT_SIZE] = "";

    (void)ctx;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i])
            hf_value_set(token, hf_slice_of(names[i]),
                         hf_value_string(mem, hf_db_column_bytes(cursor, i)));
    if (digest.len == HF_SHA256_BYTES)
        hf_hex_print(digest, hex);
    hf_value_set(token, HF_SLICE("digest"), hf_value_string(mem, hf_slice_of(hex)));
    hf_value_set(token, HF_SLICE("created_at"), time_value(mem, hf_db_column_int(cursor, 5)));
    hf_value_set(token, HF_SLICE("expires_at"), time_value(mem, hf_db_column_int(cursor, 6)));
    hf_value_set(token, HF_SLICE("revoked_at"), time_value(mem, hf_db_column_int(cursor, 7)));
    return hf_value_finish(token);
}

hf_status hf_look_tokens(hf_db *db, hf_mem *mem, hf_value *out, hf_err *err)
{
    return hf_look_rows(db, HF_STMT_TOKEN_LIST, NULL, 0, mem, token_value, NULL, out, err);
}

hf_status hf_tokens(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_call call;
    hf_status st = hf_call_begin(&call, engine);

    if (st)
        return st;
    hf_call_read_begin(&call);
    st = hf_look_tokens(call.in.db, mem, out, &call.slot->err);
    hf_call_read_end(&call);
    return st;
}
