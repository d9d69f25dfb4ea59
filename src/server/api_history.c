/* api_history.c: what happened to a run, in pages and as a bundle. */
#include <string.h>

#include "base/json.h"
#include "server/handlers.h"
#include "server/server_impl.h"
#include "server/shape.h"

enum { PAGE = 500, PAGE_MAX = 1000, WAIT_S = 20, WAIT_S_MAX = 60 };

/* The sequence behind which the page begins; answers 400 for a token that is none of ours. */
static bool page_after(hf_api *api, int64_t *out_after)
{
    hf_slice token;

    *out_after = 0;
    if (!hf_http_query_find(&api->query, "next_page_token", &token) &&
        !hf_http_query_find(&api->query, "page_token", &token))
        return true;
    if (token.len > 1 && token.ptr[0] == 's' &&
        hf_slice_int(hf_slice_from(token.ptr + 1, token.len - 1), out_after) && *out_after > 0)
        return true;
    hf_api_error(api, 400, "invalid_page_token", "The page token is not one that was given out.");
    return false;
}

static void run_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "run_not_found", "%s", text);
    else
        hf_api_status(api, st, text);
}

/* Reads the page, after a wait when one was asked for. */
static void history_answer(hf_api *api, int64_t wait_s)
{
    hf_history_opts options = {.size_ = sizeof(options),
                               .id = hf_api_param_named(api, "workflow_id"),
                               .run_id = hf_api_param_named(api, "run_id"),
                               .wait = hf_seconds(wait_s)};
    hf_value page = NULL;
    hf_status st;

    if (!page_after(api, &options.after) ||
        !hf_api_query_int(api, "at", 0, 1, INT64_MAX, &options.at) ||
        !hf_api_query_int(api, "page_size", PAGE, 1, PAGE_MAX, &options.limit))
        return;
    st = hf_history_with(api->server->engine, api->mem, &page, &options);
    if (st) {
        run_failed(api, st);
        return;
    }
    hf_api_json(api, 200,
                hf_shape_history(api->mem, page, options.id, options.run_id, api->namespace));
}

/* The published bundle has lists where a map is empty, and its verifiers take the checksum over
   what they read; ours is the same for both. */
static void bundle_publish(hf_buf *out, const char *bundle)
{
    bool text = false;

    for (const char *at = bundle; *at; at++) {
        if (text && *at == '\\') {
            hf_buf_add_byte(out, (unsigned char)*at++); /* and what it escapes */
        } else if (*at == '"') {
            text = !text;
        } else if (!text && at[0] == '{' && at[1] == '}') {
            hf_buf_add_text(out, "[]");
            at++;
            continue;
        }
        hf_buf_add_byte(out, (unsigned char)*at);
    }
}

static bool wait_read(hf_api *api, int64_t *out_s)
{
    *out_s = 0;
    if (!hf_api_query_bool(api, "wait_new_event"))
        return true;
    return hf_api_query_int(api, "wait_timeout_seconds", WAIT_S, 1, WAIT_S_MAX, out_s);
}

/* On a thread of those that wait. */
static void history_waited(hf_api *api)
{
    int64_t wait_s = 0;

    if (wait_read(api, &wait_s))
        history_answer(api, wait_s);
}

void hf_api_history(hf_api *api)
{
    int64_t wait_s = 0;

    if (!wait_read(api, &wait_s))
        return;
    if (!wait_s) {
        history_answer(api, 0);
        return;
    }
    hf_api_wait(api, history_waited); /* readers that do not wait need this thread */
}

void hf_api_export(hf_api *api)
{
    hf_export_opts options = {.size_ = sizeof(options),
                              .id = hf_api_param_named(api, "workflow_id"),
                              .run_id = hf_api_param_named(api, "run_id")};
    const char *bundle = NULL;
    hf_status st = hf_export_with(api->server->engine, api->mem, &bundle, &options);

    if (st)
        run_failed(api, st);
    else
        bundle_publish(&api->reply.body, bundle);
}
