/* answer_link.c: links that answer one wait, once. The answer is a signal whose request id is made
   of the link's, so that the commit of the signal is the moment at which the link is used up; the
   mark in the link's own row comes after it and only tells so. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "engine/approval.h"
#include "engine/look.h"
#include "engine/secret.h"
#include "holdfast/host.h"
#include "model/name.h"
#include "project/edge.h"

enum {
    LINKS_MAX = 10, /* of one wait */
    LIFE_S = 7 * 86400,
    LIFE_LEAST_S = 60,
    LIFE_MAX_S = 30 * 86400,
    TRIES = 3 /* answers that were refused before, without the row knowing it */
};

#define SECOND_US INT64_C(1000000)

/* ---- links of a run */

static hf_value link_id(hf_mem *mem, int64_t created_us, int64_t key)
{
    hf_ulid id = hf_ulid_form(created_us, key, 0);

    return hf_edge_id(mem, &id);
}

static hf_value link_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    (void)ctx;
    return hf_json_(mem,
                    "{'id': %p, 'step': %" PRId64 ", 'name': %p, 'label': %p, 'created_by': %p, "
                    "'created_at': %p, 'expires_at': %p}",
                    (const void *)link_id(mem, hf_db_column_int(row, 5), hf_db_column_int(row, 0)),
                    hf_db_column_int(row, 1),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 2)),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 3)),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 4)),
                    (const void *)hf_edge_time(mem, hf_db_column_int(row, 5)),
                    (const void *)hf_edge_time(mem, hf_db_column_int(row, 6)));
}

hf_status hf_answer_links_read(hf_call *call, int64_t run, hf_mem *mem, hf_value *out, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(call->in.namespace_key), hf_db_int(run),
                                  hf_db_int(call->in.now_us)};
    hf_status st;

    hf_call_read_begin(call);
    st = hf_look_rows(call->in.db, HF_STMT_ANSWER_LINK_LIST, params, 3, mem, link_value, NULL, out,
                      err);
    hf_call_read_end(call);
    return st;
}

/* ---- making and revoking */

/* Until when it answers; HF_INVALID. */
static hf_status expiry_of(const hf_call *call, hf_value request, hf_value approval,
                           int64_t *out_us, hf_err *err)
{
    int64_t life_s = hf_int(request, "lifespan_seconds", LIFE_S);
    int64_t until_us = INT64_MAX;

    if (life_s < LIFE_LEAST_S || life_s > LIFE_MAX_S)
        return hf_err_set(err, HF_INVALID, "lifespan_seconds is %d to %d", LIFE_LEAST_S,
                          LIFE_MAX_S);
    (void)hf_clock_parse(hf_value_slice(hf_get(approval, "until")), &until_us);
    *out_us = call->in.now_us + life_s * SECOND_US;
    *out_us = until_us < *out_us ? until_us : *out_us;
    return *out_us > call->in.now_us ? HF_OK
                                     : hf_err_set(err, HF_NOTFOUND, "the time of the wait is over");
}

static hf_status link_store(hf_call *call, hf_value request, hf_value approval, int64_t key,
                            int64_t expires_us, const uint8_t *digest, hf_err *err)
{
    hf_approval_id id = {0};
    bool applied = false;
    hf_status st;

    (void)hf_approval_id_read(hf_value_slice(hf_get(approval, "id")), &id);
    {
        const hf_db_value cells[] = {hf_db_int(key),
                                     hf_db_blob(hf_slice_from(digest, HF_SHA256_BYTES)),
                                     hf_db_int(call->in.namespace_key),
                                     hf_db_text(hf_value_slice(hf_get(approval, "workflow_id"))),
                                     hf_db_int(id.run),
                                     hf_db_int(id.step),
                                     hf_db_text(hf_value_slice(hf_get(approval, "name"))),
                                     hf_db_text(hf_slice_of(hf_str(request, "label", ""))),
                                     hf_db_text(hf_slice_of(hf_str(request, "created_by", ""))),
                                     hf_db_int(call->in.now_us),
                                     hf_db_int(expires_us),
                                     hf_db_int(LINKS_MAX)};

        st = hf_call_row(call, HF_OP_ANSWER_LINK_NEW, cells, sizeof(cells) / sizeof(cells[0]),
                         &applied, err);
    }
    if (!st && !applied)
        st = hf_err_set(err, HF_EXISTS, "the wait has %d links already: revoke them first",
                        LINKS_MAX);
    return st;
}

hf_status hf_answer_link_create(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    char token[HF_SECRET_SIZE];
    uint8_t digest[HF_SHA256_BYTES];
    hf_slice id = hf_value_slice(hf_get(request, "approval"));
    hf_value approval = NULL;
    int64_t expires_us = 0;
    int64_t key = 0;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    err = &c.slot->err;
    st = hf_look_members(request, "approval label created_by lifespan_seconds", err);
    if (!st)
        st = hf_name_check(HF_NAME_TOKEN_LABEL, hf_slice_of(hf_str(request, "label", "")), err);
    if (!st)
        st = hf_approval_find(&c, id, mem, &approval, err);
    if (!st)
        st = expiry_of(&c, request, approval, &expires_us, err);
    if (!st)
        st = hf_secret_make("hfa", token, digest, err);
    if (!st)
        st = hf_keys_take(c.in.keys, 1, &key, err);
    if (!st)
        st = link_store(&c, request, approval, key, expires_us, digest, err);
    if (st)
        return st;
    *out = hf_json_(
        mem, "{'id': %p, 'label': %p, 'token': %s, 'created_at': %p, 'expires_at': %p}",
        (const void *)link_id(mem, c.in.now_us, key), (const void *)hf_get(request, "label"), token,
        (const void *)hf_edge_time(mem, c.in.now_us), (const void *)hf_edge_time(mem, expires_us));
    return *out ? HF_OK : hf_err_nomem(err, "a link");
}

hf_status hf_answer_link_revoke(hf_engine *engine, const char *approval, int64_t *out_count)
{
    hf_value found = NULL;
    hf_approval_id id = {0};
    hf_mem *mem = hf_mem_new();
    hf_db_value cells[5];
    bool applied = false;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    *out_count = 0;
    if (!st && !mem)
        st = hf_err_nomem(&c.slot->err, "an approval");
    if (!st)
        st = hf_approval_find(&c, hf_slice_of(approval), mem, &found, &c.slot->err);
    if (!st && hf_approval_id_read(hf_slice_of(approval), &id)) {
        cells[0] = hf_db_int(c.in.namespace_key);
        cells[1] = hf_db_int(id.run);
        cells[2] = hf_db_int(id.step);
        cells[3] = hf_db_text(hf_value_slice(hf_get(found, "name")));
        cells[4] = hf_db_int(c.in.now_us);
        st = hf_call_row(&c, HF_OP_ANSWER_LINK_REVOKE, cells, 5, &applied, &c.slot->err);
        *out_count = applied ? (int64_t)hf_len(hf_get(found, "links")) : 0;
    }
    hf_mem_free(mem);
    return st;
}

/* ---- a link by its token */

typedef struct link_row {
    int64_t key;
    int64_t namespace_key;
    hf_slice namespace;
    hf_slice instance;
    hf_approval_id wait;
    hf_slice label;
    int64_t created_us;
    int64_t expires_us;
    int64_t turn;
    bool used;
    bool revoked;
    int64_t run_us; /* when the run was made; HF_NONE: it is gone */
} link_row;

static hf_slice text_copy(hf_mem *mem, hf_db_cursor *row, size_t column)
{
    hf_slice text = hf_db_column_bytes(row, column);

    return hf_slice_from(hf_mem_text(mem, text), text.len);
}

static void link_take(hf_mem *mem, hf_db_cursor *row, link_row *out)
{
    *out = (link_row){.key = hf_db_column_int(row, 0),
                      .namespace_key = hf_db_column_int(row, 1),
                      .namespace = text_copy(mem, row, 2),
                      .instance = text_copy(mem, row, 3),
                      .wait = {.run = hf_db_column_int(row, 4),
                               .step = hf_db_column_int(row, 5),
                               .name = text_copy(mem, row, 6)},
                      .label = text_copy(mem, row, 7),
                      .created_us = hf_db_column_int(row, 9),
                      .expires_us = hf_db_column_int(row, 10),
                      .turn = hf_db_column_int(row, 11),
                      .used = !hf_db_column_null(row, 12),
                      .revoked = !hf_db_column_null(row, 13),
                      .run_us = hf_db_column_null(row, 14) ? HF_NONE : hf_db_column_int(row, 14)};
}

static hf_status link_find(hf_call *call, const char *token, hf_mem *mem, link_row *out,
                           hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_db_value param;
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_secret_digest(hf_slice_of(token ? token : ""), digest, err);

    if (st)
        return st;
    param = hf_db_blob(hf_slice_from(digest, sizeof(digest)));
    hf_call_read_begin(call);
    st = hf_db_query(call->in.db, HF_STMT_ANSWER_LINK_GET, &param, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row)
        link_take(mem, cursor, out);
    hf_db_end(cursor);
    hf_call_read_end(call);
    if (!st && !row)
        st = hf_err_set(err, HF_NOTFOUND, "there is no such link");
    return st;
}

static const char *state_of(const link_row *link, hf_value approval, int64_t now_us)
{
    if (link->used)
        return "used";
    if (link->revoked)
        return "revoked";
    if (link->expires_us <= now_us)
        return "expired";
    return approval ? "open" : "over";
}

hf_status hf_answer_link_look(hf_engine *engine, const char *token, hf_mem *mem, hf_value *out)
{
    link_row link;
    hf_value approval = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = link_find(&c, token, mem, &link, &c.slot->err);
    if (!st) {
        c.in.namespace_key = link.namespace_key;
        st = hf_approval_at(&c, &link.wait, mem, &approval, &c.slot->err);
    }
    if (st)
        return st;
    *out = hf_json_(mem,
                    "{'id': %p, 'namespace': %p, 'label': %p, 'expires_at': %p, 'state': %s, "
                    "'approval': %p}",
                    (const void *)link_id(mem, link.created_us, link.key),
                    (const void *)hf_value_string(mem, link.namespace),
                    (const void *)hf_value_string(mem, link.label),
                    (const void *)hf_edge_time(mem, link.expires_us),
                    state_of(&link, approval, c.in.now_us),
                    (const void *)(approval ? approval : hf_value_null()));
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "a link");
}

/* ---- answering */

/* What is sent, in the link's namespace and whatever its turn is. */
static hf_status answer_send(hf_engine *engine, const link_row *link, hf_value arguments,
                             hf_value context, hf_mem *mem, hf_command_result *out)
{
    hf_ulid id = hf_ulid_form(link->created_us, link->key, 0);
    hf_ulid run = hf_ulid_form(link->run_us, link->wait.run, 0);
    hf_value_list *request = hf_value_object(mem);
    char text[HF_ULID_TEXT_SIZE];
    char run_text[HF_ULID_TEXT_SIZE];
    const char *name;

    hf_ulid_print(&id, text);
    hf_ulid_print(&run, run_text);
    name = hf_mem_format(mem, "answer:%s:%" PRId64, text, link->turn);
    hf_value_set(request, HF_SLICE("workflow_id"), hf_value_string(mem, link->instance));
    hf_value_set(request, HF_SLICE("run_id"), hf_value_string(mem, hf_slice_of(run_text)));
    hf_value_set(request, HF_SLICE("name"), hf_value_string(mem, link->wait.name));
    hf_value_set(request, HF_SLICE("step"), hf_value_int(mem, link->wait.step));
    hf_value_set(request, HF_SLICE("request_id"), hf_value_string(mem, hf_slice_of(name)));
    hf_value_set(request, HF_SLICE("source"), hf_value_string(mem, HF_SLICE("control_plane")));
    if (context)
        hf_value_set(request, HF_SLICE("context"), context);
    if (arguments)
        hf_value_set(request, HF_SLICE("arguments"), arguments);
    return hf_command(engine, "signal", hf_value_finish(request), mem, out);
}

static hf_status link_mark(hf_call *call, hf_op op, const hf_db_value *cells, size_t count)
{
    bool applied;

    return hf_call_row(call, op, cells, count, &applied, &call->slot->err);
}

/* One answer under the link's turn. *out_again: what it was answered was refused before, under the
   same turn; the next turn is this one's. */
static hf_status answer_try(hf_engine *engine, hf_call *call, link_row *link, hf_value arguments,
                            hf_value context, const char *from, hf_mem *mem, bool *out_again,
                            hf_command_result *out)
{
    hf_db_value cells[] = {hf_db_int(link->key), hf_db_int(call->in.now_us),
                           hf_db_text(hf_slice_of(from ? from : ""))};
    hf_status st = answer_send(engine, link, arguments, context, mem, out);
    bool repeated = !st && hf_bool(out->detail, "repeated", false);
    bool refused = !st && !out->accepted && out->outcome &&
                   strcmp(out->outcome, "rejected_invalid_arguments") == 0;

    *out_again = false;
    if (st)
        return st;
    if (refused) {
        cells[1] = hf_db_int(link->turn);
        st = link_mark(call, HF_OP_ANSWER_LINK_TURN, cells, 2);
        link->turn++;
        *out_again = repeated;
        return st;
    }
    if (!out->accepted)
        return hf_err_set(&call->slot->err, HF_CONFLICT,
                          "what was asked is not waited for any more");
    st = link_mark(call, HF_OP_ANSWER_LINK_USE, cells, 3);
    if (repeated)
        return hf_err_set(&call->slot->err, HF_CONFLICT, "the question has been answered");
    return st == HF_OK || out->accepted ? HF_OK : st; /* it is recorded, marked or not */
}

static hf_status link_answer(hf_engine *engine, hf_call *call, link_row *link, hf_value arguments,
                             hf_value context, const char *from, hf_mem *mem,
                             hf_command_result *out)
{
    bool again = true;
    hf_status st = HF_OK;

    for (int i = 0; !st && again && i < TRIES; i++)
        st = answer_try(engine, call, link, arguments, context, from, mem, &again, out);
    if (!st && again)
        st = hf_err_set(&call->slot->err, HF_RETRY, "others answer at the same time");
    return st;
}

hf_status hf_answer_link_use(hf_engine *engine, const char *token, hf_value arguments,
                             hf_value context, const char *from, hf_mem *mem,
                             hf_command_result *out)
{
    link_row link;
    const char *before;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    *out = (hf_command_result){0};
    if (st)
        return st;
    st = link_find(&c, token, mem, &link, &c.slot->err);
    if (st)
        return st;
    if (link.used || link.revoked || link.expires_us <= c.in.now_us || link.run_us == HF_NONE)
        return hf_err_set(&c.slot->err, HF_CONFLICT, "the link is used, revoked or expired");
    before = c.slot->namespace_name;
    st = hf_namespace_use(engine, hf_mem_text(mem, link.namespace));
    if (!st)
        st = link_answer(engine, &c, &link, arguments, context, from, mem, out);
    if (hf_namespace_use(engine, before) && !st)
        st = HF_ERROR;
    return st;
}
