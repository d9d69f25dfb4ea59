/* cmd_namespace.c: the verb namespace. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/target.h"
#include "holdfast/host.h"

static const hf_cli_column columns[] = {
    {"name", 24, false}, {"retention_days", 14, false}, {"created_at", 0, false}, {NULL, 0, false}};

static hf_status namespaces_get(hf_cli_target *target, hf_value *out, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value body = NULL;
    hf_status st;

    if (hf_cli_target_is_server(target)) {
        st = hf_cli_target_ask(target, "GET", "/api/namespaces", NULL, call->mem, &body, err);
        *out = hf_get(body, "namespaces");
        return st;
    }
    st = hf_namespaces(hf_cli_target_engine(target), call->mem, out);
    return st ? hf_err_set(err, st, "%s", hf_errmsg(hf_cli_target_engine(target))) : HF_OK;
}

static hf_status namespaces_print(hf_cli_call *call, hf_value rows, hf_err *err)
{
    hf_status st = HF_OK;

    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(
            call->print.out, hf_json_(call->mem, "{'namespaces': %p}", (const void *)rows), err);
    for (size_t i = 0; !st && i < hf_len(rows); i++)
        st = hf_cli_print_row(&call->print, columns, hf_at(rows, i), err);
    return st;
}

static hf_status namespace_show(hf_cli_call *call, hf_value rows, hf_err *err)
{
    const char *name = call->args[1];

    if (!name)
        return hf_err_set(err, HF_INVALID, "namespace show needs a NAME");
    for (size_t i = 0; i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "name", ""), name) == 0)
            return call->print.format == HF_CLI_JSON
                       ? hf_cli_print_value(call->print.out, hf_at(rows, i), err)
                       : hf_cli_print_row(&call->print, columns, hf_at(rows, i), err);
    call->next = "holdfast namespace ls {here}";
    return hf_err_set(err, HF_NOTFOUND, "there is no namespace %s", name);
}

hf_status hf_cli_namespace(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value rows = NULL;
    hf_status st = hf_cli_target_open(call, true, &target, err);

    if (!st)
        st = namespaces_get(target, &rows, err);
    if (!st)
        st = strcmp(call->args[0], "ls") == 0 ? namespaces_print(call, rows, err)
                                              : namespace_show(call, rows, err);
    hf_cli_target_close(target);
    return st;
}
