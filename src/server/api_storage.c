/* api_storage.c: where the big payloads of a namespace go: its policy, and a proof that it works.
   Where on the disk they lie is the host's to say (--storage), not a client's. */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/registry.h"
#include "server/server_impl.h"
#include "server/storage.h"

enum { SMALL_BYTES = 128, LARGE_BYTES = 256 * 1024, PROBE_BYTES_MAX = 4 << 20 };

/* The policy that was sent; NULL: answered already. */
static hf_value policy_read(hf_api *api)
{
    bool enabled = hf_bool(api->body, "enabled", true);
    int64_t threshold = hf_int(api->body, "threshold_bytes", HF_STORAGE_THRESHOLD);

    if (strcmp(hf_str(api->body, "driver", ""), "local") != 0) {
        hf_api_invalid(api,
                       hf_json_(api->mem, "{'driver': ['Only the driver local is served here.']}"));
        return NULL;
    }
    if (threshold < 1 || threshold > PROBE_BYTES_MAX) {
        hf_api_invalid(api, hf_json_(api->mem, "{'threshold_bytes': ['The field must be a number "
                                               "from 1 to 4194304.']}"));
        return NULL;
    }
    if (hf_len(hf_get(api->body, "config"))) {
        hf_api_invalid(api,
                       hf_json_(api->mem,
                                "{'config': ['The directory is named by whoever runs the server: "
                                "holdfast serve --storage DIR.']}"));
        return NULL;
    }
    if (enabled && !api->server->storage_root[0]) {
        hf_api_error(api, 422, "external_storage_unavailable",
                     "This server has no storage directory: holdfast serve --storage DIR.");
        return NULL;
    }
    return hf_json_(api->mem,
                    "{'driver': 'local', 'enabled': %p, 'threshold_bytes': %lld, 'config': {}}",
                    (const void *)hf_value_bool(enabled), (long long)threshold);
}

void hf_api_storage_set(hf_api *api)
{
    const char *name = hf_api_param_named(api, "namespace");
    hf_namespace_opts options = {.size_ = sizeof(options)};
    hf_value policy = policy_read(api);
    hf_err err = {0};
    hf_status st;

    if (!policy)
        return;
    options.storage = hf_text(api->mem, policy);
    st = hf_principal_sees(&api->principal, hf_slice_of(name))
             ? hf_namespace_set(api->server->engine, name, &options)
             : HF_NOTFOUND;
    if (!st)
        st = hf_server_refresh(api->server, &err);
    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "namespace_not_found", "There is no such namespace.");
    else if (st)
        hf_api_status(api, st, err.status ? err.text : hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'name': %s, 'namespace': %s, 'external_payload_storage': %p}", name,
                             name, (const void *)policy));
}

/* There and back; NULL: it did not work, and that is answered. */
static hf_value round_trip(hf_api *api, int64_t bytes)
{
    const hf_storage storage = hf_api_storage(api);
    char *text = hf_mem_alloc(api->mem, (size_t)bytes + 1);
    hf_value reference = NULL;
    hf_slice back;
    hf_err err = {0};
    hf_status st = text ? HF_OK : HF_NOMEM;

    for (int64_t i = 0; !st && i < bytes; i++)
        text[i] = (char)('a' + (i * 7 + bytes) % 26);
    if (!st)
        st = hf_storage_put(&storage, hf_slice_from(text, (size_t)bytes), &reference, &err);
    if (!st)
        st = hf_storage_get(&storage, reference, &back, &err);
    if (!st && !hf_slice_equal(back, hf_slice_from(text, (size_t)bytes)))
        st = hf_err_set(&err, HF_CORRUPT, "what came back is not what was stored");
    if (st == HF_INVALID)
        hf_api_refuse(api, 422, err.text);
    else if (st)
        hf_api_status(api, st, err.text);
    if (st)
        return NULL;
    return hf_json_(api->mem,
                    "{'status': 'passed', 'bytes': %lld, 'sha256': %p, 'reference_uri': %p}",
                    (long long)bytes, (const void *)hf_get(reference, "sha256"),
                    (const void *)hf_get(reference, "uri"));
}

void hf_api_storage_test(hf_api *api)
{
    int64_t small = hf_int(api->body, "small_payload_bytes", SMALL_BYTES);
    int64_t large = hf_int(api->body, "large_payload_bytes", LARGE_BYTES);
    hf_value first;
    hf_value second;

    if (small < 1 || large < 1 || small > PROBE_BYTES_MAX || large > PROBE_BYTES_MAX) {
        hf_api_invalid(api, hf_json_(api->mem, "{'large_payload_bytes': ['The fields must be "
                                               "numbers from 1 to 4194304.']}"));
        return;
    }
    first = round_trip(api, small);
    second = first ? round_trip(api, large) : NULL;
    if (second)
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'status': 'passed', 'driver': 'local', 'namespace': %s, "
                             "'small_payload': %p, 'large_payload': %p}",
                             api->namespace, (const void *)first, (const void *)second));
}
