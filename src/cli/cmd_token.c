/* cmd_token.c: the verb token: credentials, made and ended through a server or on its store. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/rows.h"
#include "cli/target.h"
#include "client/client.h"
#include "holdfast/host.h"

static hf_status engine_failed(hf_cli_target *target, hf_status st, hf_err *err)
{
    return st ? hf_err_set(err, st, "%s", hf_errmsg(hf_cli_target_engine(target))) : HF_OK;
}

static hf_status token_make(hf_cli_target *target, hf_value *out, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_token_opts options = {.size_ = sizeof(options),
                             .role = call->flags[HF_CLI_FLAG_ROLE],
                             .label = call->flags[HF_CLI_FLAG_LABEL],
                             .namespaces = call->flags[HF_CLI_FLAG_NAMESPACES]};
    hf_token token;
    hf_status st;

    if (hf_cli_target_is_server(target))
        return hf_cli_target_ask(target, "POST", "/api/tokens",
                                 hf_json_(call->mem, "{'role': %s, 'label': %s, 'namespaces': %s}",
                                          options.role, options.label, options.namespaces),
                                 call->mem, out, err);
    st = hf_token_create_with(hf_cli_target_engine(target), &options, &token);
    if (st)
        return engine_failed(target, st, err);
    *out = hf_json_(call->mem, "{'id': %s, 'token': %s, 'role': %s}", token.id, token.secret,
                    options.role);
    return *out ? HF_OK : hf_err_nomem(err, "a token");
}

static hf_status token_create(hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value made = NULL;
    hf_status st;

    if (!call->flags[HF_CLI_FLAG_ROLE])
        return hf_err_set(err, HF_INVALID, "token create needs a --role");
    st = token_make(target, &made, err);
    if (st)
        return st;
    if (call->print.format == HF_CLI_JSON || call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, made, err);
    hf_cli_print_text(call->print.out, hf_str(made, "token", "")); /* it is shown only now */
    (void)fputc('\n', call->print.out);
    return HF_OK;
}

static hf_status token_list(hf_cli_target *target, hf_err *err)
{
    static const hf_cli_column columns[] = {{"id", 22, false},         {"role", 10, false},
                                            {"namespaces", 16, false}, {"created_at", 28, false},
                                            {"revoked_at", 28, false}, {"label", 0, false},
                                            {NULL, 0, false}};
    hf_cli_call *call = hf_cli_target_call(target);
    hf_reader *reader = NULL;
    hf_value rows = NULL;
    hf_value body = NULL;
    hf_status st;

    if (hf_cli_target_is_server(target)) {
        st = hf_cli_target_ask(target, "GET", "/api/tokens", NULL, call->mem, &body, err);
        rows = hf_get(body, "tokens");
    } else {
        st = hf_cli_target_reader(target, &reader, err);
        if (!st)
            st = hf_reader_tokens(reader, call->mem, &rows, err);
    }
    return st ? st : hf_cli_rows_print(call, "tokens", columns, rows, err);
}

static hf_status token_revoke(hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    const char *id = call->args[1];
    hf_value body;

    if (!id)
        return hf_err_set(err, HF_INVALID, "token revoke needs the ID of a token");
    call->next = "holdfast token ls {here}";
    if (hf_cli_target_is_server(target))
        return hf_cli_target_ask(target, "DELETE", hf_client_path(call->mem, "/api/tokens/%s", id),
                                 NULL, call->mem, &body, err);
    return engine_failed(target, hf_token_revoke(hf_cli_target_engine(target), id), err);
}

hf_status hf_cli_token(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    bool list = strcmp(call->args[0], "ls") == 0;
    hf_status st = hf_cli_target_open(call, !list, &target, err);

    if (!st && strcmp(call->args[0], "create") == 0)
        st = token_create(target, err);
    else if (!st && list)
        st = token_list(target, err);
    else if (!st)
        st = token_revoke(target, err);
    hf_cli_target_close(target);
    return st;
}
