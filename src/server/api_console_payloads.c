/* api_console_payloads.c: what was sent last to runs of a type, for forms that begin with what
   somebody sent before. Read from the newest runs, as their pages show them. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum { PAYLOADS_USUAL = 10, PAYLOADS_MAX = 20, RUNS_LOOKED = 50 };

/* What is looked for, and what was found. */
typedef struct seeking {
    hf_api *api;
    const char *command; /* "signal" or "update"; NULL: what runs were started with */
    const char *name;    /* of the message */
    int64_t limit;
    int64_t count;
    hf_value_list *found;
    const char *texts[PAYLOADS_MAX]; /* of those that were found */
} seeking;

/* Answers and returns false for a target that is none. */
static bool target_read(seeking *s)
{
    const char *target = hf_api_query_text(s->api, "target");

    if (!target || strcmp(target, "start") == 0)
        return true;
    s->command = strncmp(target, "signal:", 7) == 0   ? "signal"
                 : strncmp(target, "update:", 7) == 0 ? "update"
                                                      : NULL;
    s->name = s->command ? target + 7 : NULL;
    if (s->command && *s->name)
        return true;
    hf_api_invalid(s->api, hf_json_(s->api->mem, "{'target': ['A target is start, signal:NAME or "
                                                 "update:NAME.']}"));
    return false;
}

/* The same value comes once. */
static void payload_add(seeking *s, hf_value part, hf_value at, hf_value by, hf_value value)
{
    const char *text = hf_str(value, "text", NULL);

    for (int64_t i = 0; text && i < s->count; i++)
        if (strcmp(s->texts[i], text) == 0)
            return;
    if (!text || s->count == s->limit)
        return;
    s->texts[s->count++] = text;
    hf_value_append(
        s->found,
        hf_json_(s->api->mem, "{'workflow_id': %p, 'run_id': %p, 'at': %p, 'by': %p, 'value': %p}",
                 (const void *)hf_get(part, "workflow_id"), (const void *)hf_get(part, "run_id"),
                 (const void *)at, (const void *)(by ? by : hf_value_null()), (const void *)value));
}

/* Who sent a message, by the command that brought it; NULL: nobody says. */
static hf_value sender_of(hf_value commands, const char *command)
{
    for (size_t i = 0; i < hf_len(commands); i++)
        if (strcmp(hf_str(hf_at(commands, i), "id", ""), command) == 0)
            return hf_get(hf_at(commands, i), "context.principal.label");
    return NULL;
}

static void messages_add(seeking *s, hf_value part)
{
    bool signal = strcmp(s->command, "signal") == 0;
    hf_value messages = hf_get(part, signal ? "signals" : "updates");

    for (size_t i = hf_len(messages); i-- > 0;) {
        hf_value one = hf_at(messages, i);

        if (strcmp(hf_str(one, "name", ""), s->name) == 0)
            payload_add(s, part, hf_get(one, signal ? "received_at" : "accepted_at"),
                        sender_of(hf_get(part, "commands"), hf_str(one, "command_id", "")),
                        hf_get(one, "arguments"));
    }
}

/* A run whose history cannot be read is passed over. */
static void run_look(seeking *s, hf_value item)
{
    hf_mem *mem = s->api->mem;
    hf_value part = NULL;

    if (hf_run_part(s->api->server->engine,
                    hf_json_(mem, "{'id': %p, 'run_id': %p, 'part': %s}",
                             (const void *)hf_get(item, "instance_id"),
                             (const void *)hf_get(item, "run_id"),
                             s->command ? "commands" : "head"),
                    mem, &part))
        return;
    part = hf_value_merge(
        mem, part, hf_json_(mem, "{'workflow_id': %p}", (const void *)hf_get(item, "instance_id")));
    if (s->command)
        messages_add(s, part);
    else
        payload_add(s, part, hf_get(part, "started_at"), hf_get(part, "started_by.principal.label"),
                    hf_get(part, "arguments"));
}

void hf_api_type_payloads(hf_api *api)
{
    const char *type = hf_api_param_named(api, "type");
    const char *target = hf_api_query_text(api, "target");
    seeking s = {.api = api, .found = hf_value_array(api->mem)};
    hf_value page = NULL;
    hf_value items;
    size_t looked = 0;
    hf_status st;

    if (!hf_api_query_int(api, "limit", PAYLOADS_USUAL, 1, PAYLOADS_MAX, &s.limit) ||
        !target_read(&s))
        return;
    st = hf_list_runs(api->server->engine,
                      hf_json_(api->mem, "{'filters': {'workflow_type': %s}, 'limit': %d}", type,
                               (int)RUNS_LOOKED),
                      api->mem, &page);
    if (st) {
        hf_api_status(api, st, hf_errmsg(api->server->engine));
        return;
    }
    items = hf_get(page, "items");
    for (; looked < hf_len(items) && s.count < s.limit; looked++)
        run_look(&s, hf_at(items, looked));
    hf_api_json(api, 200,
                hf_json_(api->mem,
                         "{'namespace': %s, 'type': %s, 'target': %s, 'payloads': %p, "
                         "'looked_at': %zu}",
                         api->namespace, type, target ? target : "start",
                         (const void *)hf_value_finish(s.found), looked));
}
