/* api_admin.c: tokens. A secret is in one answer and nowhere else. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "server/handlers.h"
#include "server/registry.h"
#include "server/server_impl.h"
#include "server/shelf.h"

/* The engine's failure as an answer. */
static void engine_failed(hf_api *api, hf_status st)
{
    hf_api_status(api, st, hf_errmsg(api->server->engine));
}

/* A token as it may be shown: without its digest. */
static hf_value token_shown(hf_mem *mem, hf_value row)
{
    hf_value_list *shown = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(row, i, &key, &item); i++)
        if (!hf_slice_equal(key, HF_SLICE("digest")))
            hf_value_set(shown, key, item);
    return hf_value_finish(shown);
}

/* Whether everything the token is good for is the caller's own: who is scoped to some namespaces
   neither sees nor makes nor ends credentials of others. */
static bool token_is_ours(const hf_api *api, const char *namespaces)
{
    hf_slice rest = hf_slice_of(namespaces);
    hf_slice part;

    if (strcmp(api->principal.namespaces, "*") == 0)
        return true;
    while (rest.ptr && hf_slice_split(&rest, ',', &part))
        if (hf_slice_equal(hf_slice_trim(part), HF_SLICE("*")) ||
            !hf_principal_sees(&api->principal, hf_slice_trim(part)))
            return false;
    return true;
}

void hf_api_tokens(hf_api *api)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value rows = NULL;
    hf_status st = hf_tokens(api->server->engine, api->mem, &rows);

    if (st) {
        engine_failed(api, st);
        return;
    }
    for (size_t i = 0; i < hf_len(rows); i++)
        if (token_is_ours(api, hf_str(hf_at(rows, i), "namespaces", "*")))
            hf_value_append(list, token_shown(api->mem, hf_at(rows, i)));
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'tokens': %p}", (const void *)hf_value_finish(list)));
}

/* What a change of tokens means for the requests that follow. */
static bool refreshed(hf_api *api)
{
    hf_err err = {0};
    hf_status st = hf_server_refresh(api->server, &err);

    if (st)
        hf_api_status(api, st, err.text);
    return !st;
}

void hf_api_token_create(hf_api *api)
{
    hf_token_opts options = {.size_ = sizeof(options),
                             .label = hf_str(api->body, "label", NULL),
                             .role = hf_str(api->body, "role", NULL),
                             .namespaces = hf_str(api->body, "namespaces", NULL),
                             .lifespan = hf_value_seconds_ms(api->body, "lifespan_seconds", 0)};
    hf_token token;
    hf_status st;

    if (!token_is_ours(api, options.namespaces ? options.namespaces : "*")) {
        hf_api_error(api, 403, "forbidden", "The credential is good for other namespaces.");
        return;
    }
    st = hf_token_create_with(api->server->engine, &options, &token);
    if (st) {
        engine_failed(api, st);
        return;
    }
    if (!refreshed(api))
        return;
    api->reply.secret = true;
    hf_api_json(api, 201,
                hf_json_(api->mem, "{'id': %s, 'token': %s, 'role': %s}", token.id, token.secret,
                         options.role));
}

/* Whether there is such a token for the caller. */
static hf_status token_find(hf_api *api, const char *id)
{
    hf_value rows = NULL;
    hf_status st = hf_tokens(api->server->engine, api->mem, &rows);

    for (size_t i = 0; !st && i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "id", ""), id) == 0)
            return token_is_ours(api, hf_str(hf_at(rows, i), "namespaces", "*")) ? HF_OK
                                                                                 : HF_NOTFOUND;
    return st ? st : HF_NOTFOUND;
}

void hf_api_token_revoke(hf_api *api)
{
    hf_status st = token_find(api, hf_api_param(api, 0));

    if (!st)
        st = hf_token_revoke(api->server->engine, hf_api_param(api, 0));
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "token_not_found", "There is no such token, or it is revoked.");
    else if (st)
        engine_failed(api, st);
    else if (refreshed(api)) {
        hf_shelf_clear(api->server->shelf, hf_api_param(api, 0));
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'id': %s, 'revoked': true}", hf_api_param(api, 0)));
    }
}
