/* cmd_namespace.c: the verb namespace: list, show, make and change them. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/input.h"
#include "cli/known.h"
#include "cli/rows.h"
#include "cli/target.h"
#include "client/client.h"
#include "holdfast/host.h"

static const hf_cli_column columns[] = {
    {"name", 24, false}, {"retention_days", 14, false}, {"created_at", 0, false}, {NULL, 0, false}};

static hf_status namespaces_get(hf_cli_target *target, hf_value *out, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_reader *reader = NULL;
    hf_value body = NULL;
    hf_status st;

    if (hf_cli_target_is_server(target)) {
        st = hf_cli_target_ask(target, "GET", "/api/namespaces", NULL, call->mem, &body, err);
        *out = hf_get(body, "namespaces");
        return st;
    }
    st = hf_cli_target_reader(target, &reader, err);
    return st ? st : hf_reader_namespaces(reader, call->mem, out, err);
}

/* Makes one, or changes it: name=value pairs say what it is like. */
static hf_status namespace_put(hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    bool create = strcmp(call->args[0], "create") == 0;
    const char *name = call->args[1];
    hf_namespace_opts options = {.size_ = sizeof(options)};
    const char *path = create ? "/api/namespaces"
                              : hf_client_path(call->mem, "/api/namespaces/%s", name ? name : "");
    hf_value said = NULL;
    hf_value body = NULL;
    hf_status st;

    if (!name)
        return hf_err_set(err, HF_INVALID, "namespace %s needs a NAME", call->args[0]);
    st = hf_cli_input(call, 2, &said, err);
    if (!st && !path)
        st = hf_err_nomem(err, "a request");
    if (!st)
        st = hf_cli_known_fields(create ? "POST" : "PUT", path, said, err);
    if (st)
        return st;
    if (hf_cli_target_is_server(target))
        return hf_cli_target_ask(target, create ? "POST" : "PUT", path,
                                 hf_value_merge(call->mem, said,
                                                create ? hf_json_(call->mem, "{'name': %s}", name)
                                                       : hf_json_(call->mem, "{}")),
                                 call->mem, &body, err);
    options.description = hf_str(said, "description", NULL);
    options.retention_days = hf_int(said, "retention_days", 0);
    st = create ? hf_namespace_create(hf_cli_target_engine(target), name, &options)
                : hf_namespace_set(hf_cli_target_engine(target), name, &options);
    return st ? hf_err_set(err, st, "%s", hf_errmsg(hf_cli_target_engine(target))) : HF_OK;
}

static hf_status namespace_show(hf_cli_call *call, hf_value rows, hf_err *err)
{
    const char *name = call->args[1];

    if (!name)
        return hf_err_set(err, HF_INVALID, "namespace %s needs a NAME", call->args[0]);
    for (size_t i = 0; i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "name", ""), name) == 0)
            return hf_cli_thing_print(call, columns, hf_at(rows, i), err);
    call->next = "holdfast namespace ls {here}";
    return hf_err_set(err, HF_NOTFOUND, "there is no namespace %s", name);
}

hf_status hf_cli_namespace(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value rows = NULL;
    bool change = hf_cli_choice("create set", hf_slice_of(call->args[0]));
    hf_status st = hf_cli_target_open(call, change, &target, err);

    if (!st && change)
        st = namespace_put(target, err);
    if (!st)
        st = namespaces_get(target, &rows, err);
    if (!st)
        st = strcmp(call->args[0], "ls") == 0
                 ? hf_cli_rows_print(call, "namespaces", columns, rows, err)
                 : namespace_show(call, rows, err);
    hf_cli_target_close(target);
    return st;
}
