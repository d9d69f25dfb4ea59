/* api_console_keep.c: what the console asks of the store beside runs: preferences of whoever is
   logged in, and SQL. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum { SQL_ROWS_USUAL = 200, SQL_ROWS_MAX = 1000, SQL_BYTES_MAX = 4 << 20, SQL_TIMEOUT_MS = 5000 };

/* ---- preferences */

static void preference_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_EXISTS)
        hf_api_error(api, 409, "too_many_preferences", "%s", text);
    else if (st == HF_TOOBIG)
        hf_api_invalid(api, hf_json_(api->mem, "{'value': [%s]}", text));
    else if (st == HF_INVALID)
        hf_api_invalid(api, hf_json_(api->mem, "{'surface': [%s]}", text));
    else
        hf_api_status(api, st, text);
}

void hf_api_preference(hf_api *api)
{
    hf_value out = NULL;
    hf_status st =
        hf_preference(api->server->engine, api->principal.id, hf_api_param(api, 0), api->mem, &out);

    if (st)
        preference_failed(api, st);
    else
        hf_api_json(api, 200, out);
}

void hf_api_preference_put(hf_api *api)
{
    hf_value value = hf_value_find(api->body, HF_SLICE("value"));
    hf_value_kind kind = hf_value_kind_of(value);
    hf_status st;

    if (!value || (kind != HF_VALUE_OBJECT && kind != HF_VALUE_NULL)) {
        hf_api_invalid(api,
                       hf_json_(api->mem, "{'value': ['The field must be an object, or null.']}"));
        return;
    }
    st = hf_preference_put(api->server->engine, api->principal.id, hf_api_param(api, 0), value);
    if (st)
        preference_failed(api, st);
    else
        hf_api_preference(api);
}

/* ---- SQL */

/* The views show runs of every namespace: whoever is scoped to some may not ask them. */
static bool everywhere(hf_api *api)
{
    if (strcmp(api->principal.namespaces, "*") == 0)
        return true;
    hf_api_error(api, 403, "forbidden",
                 "SQL shows runs of all namespaces; the credential is good for %s.",
                 api->principal.namespaces);
    return false;
}

void hf_api_sql_schema(hf_api *api)
{
    hf_value out = NULL;
    hf_status st;

    if (!everywhere(api))
        return;
    st = hf_sql_schema(api->server->engine, api->mem, &out);
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(
            api, 200,
            hf_value_merge(api->mem, out,
                           hf_json_(api->mem,
                                    "{'limits': {'rows': %d, 'bytes': %d, 'timeout_ms': %d}}",
                                    (int)SQL_ROWS_MAX, (int)SQL_BYTES_MAX, (int)SQL_TIMEOUT_MS)));
}

/* Rows as they come. */
typedef struct sql_answer {
    hf_mem *mem;
    hf_value columns; /* NULL: not told yet */
    hf_value_list *rows;
    int64_t count;
    int64_t limit;
    bool cut;
} sql_answer;

/* hf_sql_row */
static bool sql_row(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    sql_answer *answer = ctx;
    hf_value_list *list;

    if (cells && answer->count == answer->limit) {
        answer->cut = true;
        return false;
    }
    list = hf_value_array(answer->mem);
    for (size_t i = 0; i < count; i++)
        hf_value_append(
            list, cells && !cells[i]
                      ? hf_value_null()
                      : hf_value_string(answer->mem, hf_slice_of(cells ? cells[i] : names[i])));
    if (!cells) {
        answer->columns = hf_value_finish(list);
        return true;
    }
    hf_value_append(answer->rows, hf_value_finish(list));
    answer->count++;
    return true;
}

static void sql_failed(hf_api *api, hf_status st)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_TIMEOUT)
        hf_api_error(api, 422, "sql_timeout", "%s", text);
    else if (st == HF_TOOBIG)
        hf_api_error(api, 413, "payload_too_large", "%s", text);
    else if (st == HF_INVALID)
        hf_api_invalid(api, hf_json_(api->mem, "{'sql': [%s]}", text));
    else
        hf_api_status(api, st, text);
}

void hf_api_sql(hf_api *api)
{
    const hf_sql_options options = {.size = sizeof(options),
                                    .rows_max = SQL_ROWS_MAX + 1,
                                    .bytes_max = SQL_BYTES_MAX,
                                    .timeout_ms = SQL_TIMEOUT_MS,
                                    .known = true};
    sql_answer answer = {.mem = api->mem,
                         .rows = hf_value_array(api->mem),
                         .limit = hf_int(api->body, "limit", SQL_ROWS_USUAL)};
    int64_t began_us = hf_clock_mono_us(api->server->clock);
    hf_status st;

    if (!everywhere(api))
        return;
    if (answer.limit < 1 || answer.limit > SQL_ROWS_MAX) {
        hf_api_invalid(api,
                       hf_json_(api->mem, "{'limit': ['The field must be a number from 1 to %d.']}",
                                (int)SQL_ROWS_MAX));
        return;
    }
    st = hf_sql_ask(api->server->engine, &options, hf_str(api->body, "sql", ""), sql_row, &answer);
    if (st) {
        sql_failed(api, st);
        return;
    }
    hf_api_json(api, 200,
                hf_json_(api->mem, "{'columns': %p, 'rows': %p, 'cut': %p, 'elapsed_ms': %lld}",
                         (const void *)(answer.columns ? answer.columns : hf_json_(api->mem, "[]")),
                         (const void *)hf_value_finish(answer.rows),
                         (const void *)hf_value_bool(answer.cut),
                         (long long)((hf_clock_mono_us(api->server->clock) - began_us) / 1000)));
}
