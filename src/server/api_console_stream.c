/* api_console_stream.c: what may have changed, told to pages as server-sent events, and to those
   behind a proxy that swallows them as answers to long polls. What of it is asked anew is theirs to
   say: see follow.h. */
#include "base/value.h"
#include "server/follow.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum { WAIT_S = 20, WAIT_S_MAX = 60 };

/* The topics that are asked for, each once; false: answered already. */
static bool topics_read(hf_api *api, hf_value *out_topics)
{
    const char *given = hf_api_query_text(api, "topics");
    hf_slice rest = hf_slice_of(given ? given : "list");
    hf_value seen = hf_json_(api->mem, "{}");
    hf_value_list *list = hf_value_array(api->mem);
    size_t count = 0;
    hf_slice text;

    while (hf_slice_split(&rest, ',', &text)) {
        if (!hf_follow_topic(text)) {
            hf_api_invalid(
                api,
                hf_json_(api->mem, "{'topics': ['There is no such topic; there are: list, metrics, "
                                   "attention, workers, batch:ID, run:ID and run:ID/RUN.']}"));
            return false;
        }
        if (hf_value_find(seen, text))
            continue;
        if (++count > HF_FOLLOW_TOPICS_MAX) {
            hf_api_invalid(api,
                           hf_json_(api->mem, "{'topics': ['At most %d topics are followed.']}",
                                    HF_FOLLOW_TOPICS_MAX));
            return false;
        }
        seen = hf_value_merge(api->mem, seen,
                              hf_json_(api->mem, "{'%s': true}", hf_mem_text(api->mem, text)));
        hf_value_append(list, hf_value_string(api->mem, text));
    }
    *out_topics = hf_value_finish(list);
    return true;
}

static void follow(hf_api *api, bool poll)
{
    hf_value topics = NULL;
    int64_t after = -1;
    int64_t wait_s = WAIT_S;
    hf_slice sent;

    if (!topics_read(api, &topics))
        return;
    if (!(hf_http_request_field(api->request, "last-event-id", &sent) &&
          hf_slice_int(sent, &after)) &&
        !hf_api_query_int(api, "after", -1, 0, INT64_MAX, &after))
        return;
    if (poll && !hf_api_query_int(api, "wait_timeout_seconds", WAIT_S, 1, WAIT_S_MAX, &wait_s))
        return;
    if (!api->server->engine || !topics)
        hf_api_error(api, 503, "overloaded", "Nothing can be followed here now.");
    else
        hf_follow(api, topics, after, poll, wait_s * 1000);
}

void hf_api_stream(hf_api *api)
{
    follow(api, false);
}

void hf_api_changes(hf_api *api)
{
    follow(api, true);
}
