/* update_end.c: looks into the history every 50 ms, as the contract has it (update_wait). */
#include "server/update_end.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "server/payload.h"
#include "server/server_impl.h"

enum { LOOK_MS = 50, PAGE = 500 };

/* The end of the update among some events; NULL when it is not there. */
static hf_value end_find(hf_api *api, hf_value events, const char *update_id, int64_t *after)
{
    for (size_t i = 0; i < hf_len(events); i++) {
        hf_value event = hf_at(events, i);
        hf_value payload = hf_get(event, "payload");

        *after = hf_int(event, "sequence", *after);
        if (strcmp(hf_str(event, "event_type", hf_str(event, "type", "")), "UpdateCompleted") !=
                0 ||
            strcmp(hf_str(payload, "update_id", ""), update_id) != 0)
            continue;
        return hf_json_(api->mem, "{'result': %p, 'failure_id': %p, 'failure_message': %p}",
                        (const void *)hf_get(payload, "result"),
                        (const void *)hf_get(payload, "failure_id"),
                        (const void *)hf_get(payload, "message"));
    }
    return NULL;
}

hf_value hf_update_end_await(hf_api *api, const char *id, const char *run_id, const char *update_id,
                             int64_t seconds)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + seconds * 1000000;
    int64_t after = 0;

    for (;;) {
        hf_history_opts options = {
            .size_ = sizeof(options), .id = id, .run_id = run_id, .after = after, .limit = PAGE};
        struct pollfd nothing = {.fd = -1};
        hf_value page = NULL;
        hf_value end;

        if (hf_history_with(api->server->engine, api->mem, &page, &options))
            return NULL;
        end = end_find(api, hf_get(page, "events"), update_id, &after);
        if (end)
            return end;
        if (hf_len(hf_get(page, "events")) == PAGE)
            continue;
        if (hf_clock_mono_us(hf_clock_system()) >= until_us ||
            atomic_load(&api->server->draining) || !hf_http_exchange_alive(api->exchange))
            return NULL;
        (void)poll(&nothing, 1, LOOK_MS);
    }
}

void hf_update_end_put(hf_api *api, hf_value_list *body, const char *update_id, hf_value end)
{
    bool failed = hf_value_kind_of(hf_get(end, "failure_message")) == HF_VALUE_STRING;

    hf_value_set(body, HF_SLICE("update_id"), hf_json_(api->mem, "%s", update_id));
    hf_value_set(body, HF_SLICE("update_status"),
                 hf_json_(api->mem, "%s",
                          !end     ? "accepted"
                          : failed ? "failed"
                                   : "completed"));
    if (!end)
        return;
    if (failed) {
        hf_value_set(body, HF_SLICE("failure_message"), hf_get(end, "failure_message"));
        hf_value_set(body, HF_SLICE("message"), hf_get(end, "failure_message"));
    } else {
        hf_value_set(body, HF_SLICE("result"), hf_get(end, "result"));
    }
}
