/* api_program.c: what programs of ours ask for as callers and the published commands have no
   request for: many starts in few transactions, and ids for instances that are started later. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/command.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/quota.h"
#include "server/server_impl.h"

enum { STARTS_MAX = 1000 };

/* One of them as the engine takes it, who asks with it. NULL: its input cannot be read, as `err`
   says, or memory ran out. */
static hf_value start_open(hf_api *api, hf_value sent, hf_value signature, hf_err *err)
{
    hf_value sealed = hf_value_find(sent, HF_SLICE("input"));
    hf_value input = NULL;
    hf_value whole;

    *err = (hf_err){0};
    if (hf_payload_open(api->mem, sealed, &input, err))
        return NULL;
    whole = hf_value_merge(api->mem, sent, signature);
    return whole && input ? hf_value_merge(api->mem, whole,
                                           hf_json_(api->mem, "{'input': %p}", (const void *)input))
                          : whole;
}

/* What one start alone would have been answered with. */
static hf_value start_answer(hf_api *api, const hf_start_end *end)
{
    hf_value body = NULL;

    if (!end->status)
        return hf_json_(api->mem, "{'status': 200}");
    hf_api_status(api, end->status, end->message ? end->message : "Memory ran out.");
    if (hf_json_read(api->mem, hf_buf_slice(&api->reply.body), NULL, &body, NULL))
        return NULL;
    return hf_value_merge(api->mem, body, hf_json_(api->mem, "{'status': %d}", api->reply.status));
}

static hf_value answers_make(hf_api *api, const hf_start_end *ends, size_t count)
{
    hf_value_list *answers = hf_value_array(api->mem);

    for (size_t i = 0; i < count; i++)
        hf_value_append(answers, start_answer(api, &ends[i]));
    return hf_value_finish(answers);
}

/* Those that can be read, with their places in the list. False: answered already. */
static bool starts_read(hf_api *api, hf_value starts, hf_start_end *ends, size_t *places,
                        hf_value *out_requests)
{
    hf_value_list *signature = hf_value_object(api->mem);
    hf_value_list *requests = hf_value_array(api->mem);
    size_t count = 0;
    hf_value signed_by;

    hf_command_sign(api, signature);
    signed_by = hf_value_finish(signature);
    for (size_t i = 0; i < hf_len(starts); i++) {
        hf_err err;
        hf_value request = start_open(api, hf_at(starts, i), signed_by, &err);

        if (request) {
            places[count++] = i;
            hf_value_append(requests, request);
        } else {
            ends[i] = (hf_start_end){.status = err.status ? err.status : HF_NOMEM,
                                     .message = hf_mem_text(api->mem, hf_slice_of(err.text))};
        }
    }
    *out_requests = hf_value_finish(requests);
    if (!*out_requests || !signed_by)
        hf_api_status(api, HF_NOMEM, "Memory ran out.");
    return *out_requests && signed_by;
}

void hf_api_start_all(hf_api *api)
{
    hf_value starts = hf_get(api->body, "starts");
    size_t count = hf_len(starts);
    hf_start_end *ends = hf_mem_array(api->mem, count + 1, sizeof(*ends));
    hf_start_end *some = hf_mem_array(api->mem, count + 1, sizeof(*some));
    size_t *places = hf_mem_array(api->mem, count + 1, sizeof(*places));
    hf_value requests = NULL;
    hf_status st = ends && some && places ? HF_OK : HF_NOMEM;

    if (count > STARTS_MAX) {
        hf_api_invalid(
            api, hf_json_(api->mem, "{'starts': ['There may be %d of them.']}", (int)STARTS_MAX));
        return;
    }
    if (st) {
        hf_api_status(api, st, "Memory ran out.");
        return;
    }
    if (!starts_read(api, starts, ends, places, &requests) ||
        !hf_quota_allows(api, "start", (int64_t)hf_len(requests)))
        return;
    st = hf_start_requests(api->server->engine, requests, api->mem, some);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    for (size_t i = 0; i < hf_len(requests); i++)
        ends[places[i]] = some[i];
    requests = answers_make(api, ends, count);
    hf_api_json(api, 200,
                requests ? hf_json_(api->mem, "{'namespace': %s, 'answers': %p}", api->namespace,
                                    (const void *)requests)
                         : NULL);
}

void hf_api_reserve(hf_api *api)
{
    hf_engine *engine = api->server->engine;
    const char *type = hf_str(api->body, "workflow_type", "");
    const char *id = NULL;
    hf_status st = hf_reserve(engine, type, hf_str(api->body, "workflow_id", NULL), &id);

    if (st)
        hf_api_status(api, st, hf_errmsg(engine));
    else
        hf_api_json(api, 201,
                    hf_json_(api->mem, "{'namespace': %s, 'workflow_id': %s, 'workflow_type': %s}",
                             api->namespace, id, type));
}
