/* cmd_token.c: the verb token: credentials of a store's server, made and ended without the server.
 */
#include <string.h>

#include "base/err.h"
#include "cli/verbs.h"
#include "holdfast/host.h"

static const hf_app token_app = {.name = "holdfast"};

static hf_status token_create(hf_cli_call *call, hf_engine *engine, hf_err *err)
{
    hf_token_opts options = {.size_ = sizeof(options),
                             .role = call->flags[HF_CLI_FLAG_ROLE],
                             .label = call->flags[HF_CLI_FLAG_LABEL],
                             .namespaces = call->flags[HF_CLI_FLAG_NAMESPACES]};
    hf_token token;
    hf_status st;

    if (!options.role)
        return hf_err_set(err, HF_INVALID, "token create needs a --role");
    st = hf_token_create_with(engine, &options, &token);
    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(engine));
    if (call->print.format != HF_CLI_TABLE)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'id': %s, 'token': %s, 'role': %s}",
                                           token.id, token.secret, options.role),
                                  err);
    (void)fprintf(call->print.out, "%s\n", token.secret);
    return HF_OK;
}

static hf_status token_list(hf_cli_call *call, hf_engine *engine, hf_err *err)
{
    static const hf_cli_column columns[] = {{"id", 22, false},         {"role", 10, false},
                                            {"namespaces", 16, false}, {"created_at", 28, false},
                                            {"revoked_at", 28, false}, {"label", 0, false},
                                            {NULL, 0, false}};
    hf_value rows = NULL;
    hf_status st = hf_tokens(engine, call->mem, &rows);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(engine));
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'tokens': %p}", (const void *)rows), err);
    for (size_t i = 0; i < hf_len(rows) && !st; i++)
        st = hf_cli_print_row(&call->print, columns, hf_at(rows, i), err);
    return st;
}

static hf_status token_revoke(hf_cli_call *call, hf_engine *engine, hf_err *err)
{
    hf_status st;

    if (!call->args[1])
        return hf_err_set(err, HF_INVALID, "token revoke needs the ID of a token");
    st = hf_token_revoke(engine, call->args[1]);
    return st ? hf_err_set(err, st, "%s", hf_errmsg(engine)) : HF_OK;
}

hf_status hf_cli_token(hf_cli_call *call, hf_err *err)
{
    hf_engine *engine = NULL;
    hf_status st = hf_open(call->store, &token_app, &engine);

    if (st)
        (void)hf_err_set(err, st, "%s", hf_errmsg(engine));
    else if (strcmp(call->args[0], "create") == 0)
        st = token_create(call, engine, err);
    else if (strcmp(call->args[0], "ls") == 0)
        st = token_list(call, engine, err);
    else
        st = token_revoke(call, engine, err);
    hf_close(engine);
    return st;
}
