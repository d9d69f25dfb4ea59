/* api_schedule.c: schedules. Each route is one call of the engine; lists are filtered and continued
   here, by tokens that are good for one namespace and one filter. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/payload.h"
#include "server/schedule_query.h"
#include "server/server_impl.h"

enum {
    TIMES = 100,
    TIMES_MAX = 1000,
    PAGE = 50,
    PAGE_MAX = 200,
    HISTORY_PAGE = 100,
    HISTORY_PAGE_MAX = 500
};

/* ---- answers */

/* Under the names that the control plane uses beside the engine's. */
static hf_value schedule_shown(hf_api *api, hf_value schedule, const char *outcome)
{
    hf_value shown =
        hf_value_merge(api->mem, schedule,
                       hf_json_(api->mem, "{'memo': %p, 'search_attributes': %p}",
                                (const void *)hf_get(schedule, "action.memo"),
                                (const void *)hf_get(schedule, "action.search_attributes")));

    return outcome ? hf_value_merge(api->mem, shown, hf_json_(api->mem, "{'outcome': %s}", outcome))
                   : shown;
}

static void schedule_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND || st == HF_REJECTED)
        hf_api_error(api, 404, "schedule_not_found", "There is no such schedule.");
    else if (st == HF_EXISTS)
        hf_api_error(api, 409, "schedule_already_exists", "%s", text);
    else
        hf_api_status(api, st, text);
}

/* The schedule as it stands now; one that is deleted is not there. */
static void schedule_answer(hf_api *api, int status, const char *id, const char *outcome)
{
    hf_value schedule = NULL;
    hf_status st = hf_schedule_show(api->server->engine, id, &schedule);

    if (!st && strcmp(hf_str(schedule, "status", ""), "deleted") == 0)
        st = HF_NOTFOUND;
    if (st)
        schedule_failed(api, st);
    else
        hf_api_json(api, status, schedule_shown(api, schedule, outcome));
}

static const char *id_of(const hf_api *api)
{
    return hf_api_param_named(api, "schedule_id");
}

/* The schedule's history shall say who asked; false: answered already. */
static bool caller_tell(hf_api *api)
{
    hf_value context = hf_api_context(api);
    hf_status st = context ? hf_schedule_context(api->server->engine, context) : HF_NOMEM;

    if (st)
        schedule_failed(api, st);
    return !st;
}

/* ---- making and changing */

static const char *object_text(hf_api *api, hf_value from, const char *key)
{
    hf_value value = hf_get(from, key);

    return hf_value_kind_of(value) == HF_VALUE_OBJECT ? hf_text(api->mem, value) : NULL;
}

/* What an action may have; the engine says more of each. */
static const char action_fields[] = "workflow_type:string, task_queue:string, business_key:string, "
                                    "visibility_labels:object, memo:map, search_attributes:object, "
                                    "execution_timeout_seconds:int, run_timeout_seconds:int, "
                                    "input:any";

/* What the body says; false: answered already. */
static bool options_read(hf_api *api, hf_schedule_opts *o)
{
    hf_value body = api->body;
    hf_value action = hf_get(body, "action");
    hf_value spec = hf_get(body, "spec");
    hf_err err = {0};

    if (!hf_api_members_check(api, "action", action_fields))
        return false;
    *o = (hf_schedule_opts){
        .size_ = sizeof(*o),
        .type = hf_str(action, "workflow_type", NULL),
        .spec = hf_value_kind_of(spec) == HF_VALUE_OBJECT ? spec : NULL,
        .overlap = hf_str(body, "overlap_policy", NULL),
        .jitter = hf_value_seconds_ms(body, "jitter_seconds", 0),
        .max_runs = hf_int(body, "max_runs", 0),
        .paused = hf_bool(body, "paused", false),
        .note = hf_str(body, "note", NULL),
        .queue = hf_str(action, "task_queue", NULL),
        .business_key = hf_str(action, "business_key", NULL),
        .labels = object_text(api, action, "visibility_labels"),
        .memo = object_text(api, hf_get(body, "memo") ? body : action, "memo"),
        .attributes = object_text(api, hf_get(body, "search_attributes") ? body : action,
                                  "search_attributes"),
        .execution_timeout = hf_value_seconds_ms(action, "execution_timeout_seconds", 0),
        .run_timeout = hf_value_seconds_ms(action, "run_timeout_seconds", 0)};
    if (!hf_payload_open(api->mem, hf_get(action, "input"), &o->in, &err))
        return true;
    hf_api_invalid(api, hf_json_(api->mem, "{'action.input': [%s]}", err.text));
    return false;
}

static const char *id_make(hf_api *api)
{
    hf_rng rng;

    return hf_rng_init_system(&rng, NULL)
               ? NULL
               : hf_mem_format(api->mem, "schedule-%016llx", (unsigned long long)hf_rng_next(&rng));
}

void hf_api_schedule_create(hf_api *api)
{
    const char *id = hf_str(api->body, "schedule_id", NULL);
    hf_schedule_opts options;
    hf_status st;

    if (!options_read(api, &options))
        return;
    if (!options.type) {
        hf_api_invalid(api,
                       hf_json_(api->mem, "{'action.workflow_type': ['The field is required.']}"));
        return;
    }
    if (!id)
        id = id_make(api);
    if (!caller_tell(api))
        return;
    st = id ? hf_schedule_create_with(api->server->engine, id, &options) : HF_NOMEM;
    if (st)
        schedule_failed(api, st);
    else
        schedule_answer(api, 201, id, "created");
}

void hf_api_schedule_update(hf_api *api)
{
    hf_schedule_opts options;
    hf_status st;

    if (!options_read(api, &options) || !caller_tell(api))
        return;
    st = hf_schedule_update_with(api->server->engine, id_of(api), &options);
    if (st)
        schedule_failed(api, st);
    else
        schedule_answer(api, 200, id_of(api), "updated");
}

void hf_api_schedule_delete(hf_api *api)
{
    hf_status st;

    if (!caller_tell(api))
        return;
    st = hf_schedule_delete(api->server->engine, id_of(api));
    if (st)
        schedule_failed(api, st);
    else
        api->reply.status = 204;
}

void hf_api_schedule(hf_api *api)
{
    schedule_answer(api, 200, id_of(api), NULL);
}

/* ---- what it is told to do */

void hf_api_schedule_pause(hf_api *api)
{
    hf_status st;

    if (!caller_tell(api))
        return;
    st = hf_schedule_pause(api->server->engine, id_of(api),
                           hf_str(api->body, "note", hf_str(api->body, "reason", NULL)));
    if (st)
        schedule_failed(api, st);
    else
        schedule_answer(api, 200, id_of(api), "paused");
}

void hf_api_schedule_resume(hf_api *api)
{
    hf_status st;

    if (!caller_tell(api))
        return;
    st = hf_schedule_resume(api->server->engine, id_of(api));
    if (st)
        schedule_failed(api, st);
    else
        schedule_answer(api, 200, id_of(api), "resumed");
}

void hf_api_schedule_trigger(hf_api *api)
{
    hf_value fired = NULL;
    hf_status st;

    if (!caller_tell(api))
        return;
    st = hf_schedule_trigger(api->server->engine, id_of(api),
                             hf_str(api->body, "overlap_policy", NULL), &fired);
    if (st)
        schedule_failed(api, st);
    else
        hf_api_json(api, 200,
                    hf_value_merge(api->mem, fired,
                                   hf_json_(api->mem, "{'namespace': %s, 'schedule_id': %s}",
                                            api->namespace, id_of(api))));
}

/* A time of the body in milliseconds; answers when it is none. */
static bool time_read(hf_api *api, const char *name, int64_t *out_ms)
{
    int64_t us = 0;

    if (hf_clock_parse(hf_slice_of(hf_str(api->body, name, "")), &us)) {
        *out_ms = us / 1000;
        return true;
    }
    hf_api_invalid(api,
                   hf_json_(api->mem, "{'%s': ['The field must be a time in ISO 8601.']}", name));
    return false;
}

void hf_api_schedule_backfill(hf_api *api)
{
    hf_value fired = NULL;
    int64_t from = 0;
    int64_t to = 0;
    hf_status st;

    if (!time_read(api, "start_time", &from) || !time_read(api, "end_time", &to))
        return;
    if (to < from) {
        hf_api_error(api, 422, "invalid_time_range", "The end lies before the start.");
        return;
    }
    if (!caller_tell(api))
        return;
    st = hf_schedule_backfill(api->server->engine, id_of(api), from, to,
                              hf_str(api->body, "overlap_policy", NULL), &fired);
    if (st)
        schedule_failed(api, st);
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'namespace': %s, 'schedule_id': %s, 'outcome': "
                             "'backfill_started', 'accepted': true, 'fires_attempted': %zu, "
                             "'results': %p}",
                             api->namespace, id_of(api), hf_len(fired), (const void *)fired));
}

/* ---- its times */

/* A time of the query string in milliseconds; answers when it is none. */
static bool time_asked(hf_api *api, const char *name, int64_t *out_ms)
{
    const char *text = hf_api_query_text(api, name);
    int64_t us = 0;

    if (hf_clock_parse(hf_slice_of(text), &us)) {
        *out_ms = us / 1000;
        return true;
    }
    hf_api_invalid(api,
                   hf_json_(api->mem, "{'%s': ['The field must be a time in ISO 8601.']}", name));
    return false;
}

void hf_api_schedule_times(hf_api *api)
{
    hf_value_list *times = hf_value_array(api->mem);
    hf_value found = NULL;
    int64_t limit = 0;
    int64_t from = 0;
    int64_t to = 0;
    hf_status st;

    if (!hf_api_query_int(api, "limit", TIMES, 1, TIMES_MAX, &limit) ||
        !time_asked(api, "start_time", &from) || !time_asked(api, "end_time", &to))
        return;
    st = hf_schedule_times(api->server->engine, id_of(api), from, to, (int)limit, &found);
    if (st) {
        schedule_failed(api, st);
        return;
    }
    for (size_t i = 0; i < hf_len(found); i++) {
        char text[HF_CLOCK_TEXT_SIZE];

        (void)hf_clock_print(hf_int(hf_at(found, i), "", 0) * 1000, text);
        hf_value_append(times, hf_json_(api->mem, "{'at': %s}", text));
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'namespace': %s, 'schedule_id': %s, 'times': %p}",
                         api->namespace, id_of(api), (const void *)hf_value_finish(times)));
}

/* ---- its history */

void hf_api_schedule_history(hf_api *api)
{
    const char *sent = hf_api_query_text(api, "after_sequence");
    int64_t limit = HISTORY_PAGE;
    int64_t after = 0;
    hf_value page = NULL;
    hf_status st;

    if (sent && (!hf_slice_int(hf_slice_of(sent), &after) || after < 0)) {
        hf_api_error(api, 422, "invalid_after_sequence", "%s is no sequence number.", sent);
        return;
    }
    if (!hf_api_query_int(api, "limit", HISTORY_PAGE, 1, INT32_MAX, &limit))
        return;
    if (limit > HISTORY_PAGE_MAX)
        limit = HISTORY_PAGE_MAX;
    st = hf_schedule_history(api->server->engine, id_of(api), after, (int)limit, &page);
    if (st) {
        schedule_failed(api, st);
        return;
    }
    hf_api_json(api, 200,
                hf_value_merge(
                    api->mem, page,
                    hf_json_(api->mem, "{'namespace': %s, 'schedule_id': %s, 'has_more': %p}",
                             api->namespace, id_of(api),
                             (const void *)hf_value_bool(
                                 hf_value_kind_of(hf_get(page, "next_cursor")) != HF_VALUE_NULL))));
}

/* ---- lists */

/* The published error of lists, with the field at fault. */
static void list_refuse(hf_api *api, int status, const char *reason, const char *field,
                        const char *sentence)
{
    hf_api_json(api, status,
                hf_json_(api->mem,
                         "{'message': %s, 'error': %s, 'reason': %s, 'remediation': null, 'field': "
                         "%s, 'errors': {'%s': [%s]}, 'validation_errors': {'%s': [%s]}, "
                         "'last_safe_cursor': null}",
                         sentence, reason, reason, field, field, sentence, field, sentence));
}

typedef struct list_request {
    const char *status;
    const char *type;
    hf_schedule_query query;
    int64_t limit;
    uint64_t space; /* prints of what a token is good for */
    uint64_t filter;
} list_request;

static uint64_t print_add(uint64_t print, const char *text)
{
    for (; text && *text; text++)
        print = (print ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (print ^ 0xff) * UINT64_C(1099511628211);
}

static bool list_read(hf_api *api, list_request *out)
{
    const char *query = hf_api_query_text(api, "query");
    const char *size = hf_api_query_text(api, "page_size");
    const char *reason;

    *out = (list_request){.status = hf_api_query_text(api, "status"),
                          .type = hf_api_query_text(api, "workflow_type"),
                          .limit = PAGE,
                          .space = print_add(UINT64_C(14695981039346656037), api->namespace)};
    out->filter = print_add(out->space, out->status);
    out->filter = print_add(out->filter, out->type);
    out->filter = print_add(out->filter, query);
    if (out->status && strcmp(out->status, "active") != 0 && strcmp(out->status, "paused") != 0) {
        list_refuse(api, 422, "validation_failed", "status", "The status is active or paused.");
        return false;
    }
    if (size && (!hf_slice_int(hf_slice_of(size), &out->limit) || out->limit < 1 ||
                 out->limit > PAGE_MAX)) {
        list_refuse(api, 422, "validation_failed", "page_size",
                    "The field must be a number from 1 to 200.");
        return false;
    }
    reason = query ? hf_schedule_query_read(query, &out->query) : NULL;
    if (reason)
        list_refuse(api, 422, reason, "query",
                    "The query is equality predicates joined by AND, over the published fields.");
    return !reason;
}

/* "h1.NAMESPACE.FILTER.TIME.ID": where the page before ended, as the engine knows it. Answers and
   returns false when it is not good for this request. */
static bool token_read(hf_api *api, const list_request *request, const char **out_after)
{
    const char *token = hf_api_query_text(api, "next_page_token");
    unsigned long long space = 0;
    unsigned long long filter = 0;
    hf_value schedule = NULL;
    char created[HF_CLOCK_TEXT_SIZE];
    int64_t created_us;
    int at = 0;
    hf_slice rest;
    hf_slice time;

    *out_after = NULL;
    if (!token)
        return true;
    if (sscanf(token, "h1.%16llx.%16llx.%n", &space, &filter, &at) != 2 || !at) {
        list_refuse(api, 400, "malformed_schedule_page_token", "next_page_token",
                    "The page token is not one that was given out.");
        return false;
    }
    rest = hf_slice_of(token + at);
    if (!hf_slice_split(&rest, '.', &time) || !rest.ptr || !rest.len ||
        !hf_slice_int(time, &created_us) || !hf_clock_print(created_us, created)) {
        list_refuse(api, 400, "malformed_schedule_page_token", "next_page_token",
                    "The page token is not one that was given out.");
        return false;
    }
    if (space != request->space) {
        list_refuse(api, 403, "schedule_page_token_namespace_mismatch", "next_page_token",
                    "The page token is good for another namespace.");
        return false;
    }
    if (filter != request->filter) {
        list_refuse(api, 409, "schedule_page_token_filter_mismatch", "next_page_token",
                    "The page token is good for another filter.");
        return false;
    }
    if (hf_schedule_show(api->server->engine, rest.ptr, &schedule) ||
        strcmp(hf_str(schedule, "status", ""), "deleted") == 0 ||
        strcmp(hf_str(schedule, "created_at", ""), created) != 0) {
        list_refuse(api, 409, "stale_schedule_page_token", "next_page_token",
                    "The schedule that the page ended with is gone.");
        return false;
    }
    *out_after = token + at;
    return true;
}

/* Engine pages, one after the other, until this one is full and one more was seen. */
static hf_status list_collect(hf_api *api, const list_request *request, const char *after,
                              hf_value_list *rows, size_t *out_count, const char **out_token)
{
    hf_engine *engine = api->server->engine;
    hf_value last = NULL;

    *out_count = 0;
    *out_token = NULL;
    do {
        const hf_schedule_list_opts o = {.size_ = sizeof(o),
                                         .status = request->status,
                                         .type = request->type,
                                         .after = after,
                                         .limit = PAGE_MAX};
        hf_value page = NULL;
        hf_value items;
        hf_status st = hf_schedule_list_with(engine, &o, &page);

        if (st)
            return st;
        items = hf_get(page, "schedules");
        for (size_t i = 0; i < hf_len(items); i++) {
            hf_value item = schedule_shown(api, hf_at(items, i), NULL);
            int64_t us = 0;

            if (!hf_schedule_query_fits(&request->query, item))
                continue;
            if (*out_count == (size_t)request->limit) {
                (void)hf_clock_parse(hf_slice_of(hf_str(last, "created_at", "")), &us);
                *out_token = hf_mem_format(api->mem, "h1.%016llx.%016llx.%lld.%s",
                                           (unsigned long long)request->space,
                                           (unsigned long long)request->filter, (long long)us,
                                           hf_str(last, "schedule_id", ""));
                return *out_token ? HF_OK : HF_NOMEM;
            }
            hf_value_append(rows, item);
            last = item;
            (*out_count)++;
        }
        after = hf_str(page, "next_page_token", NULL);
    } while (after);
    return HF_OK;
}

void hf_api_schedules(hf_api *api)
{
    hf_value_list *rows = hf_value_array(api->mem);
    const char *after = NULL;
    const char *token = NULL;
    list_request request;
    size_t count = 0;
    hf_status st;

    if (!list_read(api, &request) || !token_read(api, &request, &after))
        return;
    st = list_collect(api, &request, after, rows, &count, &token);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem,
                             "{'namespace': %s, 'schedules': %p, 'schedule_count': %zu, "
                             "'next_page_token': %s}",
                             api->namespace, (const void *)hf_value_finish(rows), count, token));
}
