/* remote_admin.c: what those who look after a store ask of it, as requests to the server that has
   it: search attributes that are declared, and what a namespace keeps. */
#include <string.h>

#include "base/value.h"
#include "engine/remote_impl.h"

/* Reasons that the server answers with a status which says less than the engine's. */
static hf_status status_of(const hf_client_reply *reply, hf_err *err)
{
    static const struct {
        const char *reason;
        hf_status status;
    } rows[] = {{"search_attribute_already_exists", HF_EXISTS},
                {"name_reserved", HF_DENIED},
                {"search_attribute_limit_reached", HF_TOOBIG}};
    const char *reason = hf_str(reply->body, "reason", "");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].reason, reason) == 0)
            return hf_err_set(err, rows[i].status, "%s: %s", reason,
                              hf_str(reply->body, "message", ""));
    return hf_client_outcome(reply, err);
}

static hf_status admin_ask(hf_remote *remote, const hf_client_request *ask, hf_mem *mem,
                           hf_value *out_body, hf_err *err)
{
    hf_client_reply reply;
    hf_status st = hf_remote_begin(remote, err);

    if (!st)
        st = hf_remote_ask(remote, ask, REMOTE_PATIENCE_MS, mem, &reply, err);
    if (!st)
        st = status_of(&reply, err);
    if (!st && out_body)
        *out_body = reply.body;
    return st;
}

hf_status hf_remote_attributes(hf_remote *remote, hf_mem *mem, hf_value *out, hf_err *err)
{
    const hf_client_request ask = {.method = "GET", .path = "/api/search-attributes"};

    return admin_ask(remote, &ask, mem, out, err);
}

hf_status hf_remote_attribute_create(hf_remote *remote, const char *name, const char *type,
                                     hf_mem *mem, hf_err *err)
{
    const char *const texts[] = {name, type};
    hf_client_request ask = {.method = "POST", .path = "/api/search-attributes"};
    hf_status st = hf_remote_texts_check(texts, 2, err);

    if (st)
        return st;
    ask.body = hf_json_(mem, "{'name': %s, 'type': %s}", name, type);
    return ask.body ? admin_ask(remote, &ask, mem, NULL, err)
                    : hf_err_nomem(err, "a search attribute");
}

hf_status hf_remote_attribute_delete(hf_remote *remote, const char *name, hf_mem *mem, hf_err *err)
{
    const hf_client_request ask = {.method = "DELETE",
                                   .path = hf_client_path(mem, "/api/search-attributes/%s", name)};

    return ask.path ? admin_ask(remote, &ask, mem, NULL, err)
                    : hf_err_nomem(err, "a search attribute");
}

hf_status hf_remote_namespace_set(hf_remote *remote, const char *name, const hf_namespace_opts *o,
                                  hf_mem *mem, hf_err *err)
{
    hf_client_request ask = {.method = "PUT",
                             .path = hf_client_path(mem, "/api/namespaces/%s", name)};
    hf_status st = hf_remote_texts_check(&o->description, 1, err);

    if (!st && o->storage)
        st = hf_err_set(err, HF_UNSUPPORTED,
                        "hf_namespace_set: where big payloads go is for the server's operator");
    if (st)
        return st;
    ask.body = hf_json_(mem, "{'description': %s, 'retention_days': %p}", o->description,
                        o->retention_days
                            ? (const void *)hf_json_(mem, "%lld", (long long)o->retention_days)
                            : (const void *)hf_value_null());
    return ask.path && ask.body ? admin_ask(remote, &ask, mem, NULL, err)
                                : hf_err_nomem(err, "a namespace");
}
