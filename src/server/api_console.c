/* api_console.c: what operators read beside runs: who needs a person, which failures there are,
   what happened in each minute, what was imported. All of it is view.h's; here are only names and
   bounds of the query. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "holdfast/worker.h"
#include "server/console_mark.h"
#include "server/handlers.h"
#include "server/server_impl.h"

enum {
    GROUPS_USUAL = 20,
    GROUPS_MAX = 100,
    SAMPLES_USUAL = 5,
    SAMPLES_MAX = 1000,
    POINTS_USUAL = 1440,
    POINTS_MAX = 10080,
    STEPS_USUAL = 60,
    STEPS_MAX = 240,
    IMPORTS_USUAL = 50,
    IMPORTS_MAX = 1000
};

#define HOUR_US INT64_C(3600000000)

/* Answers with what view.h said. */
static void answer(hf_api *api, hf_status st, hf_value out)
{
    if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_api_json(
            api, 200,
            hf_value_merge(api->mem, hf_json_(api->mem, "{'namespace': %s}", api->namespace), out));
}

/* A moment of the query in microseconds, or null; answers and returns false for anything else. */
static bool moment_read(hf_api *api, const char *name, hf_value *out)
{
    const char *text = hf_api_query_text(api, name);
    int64_t us = 0;

    *out = hf_value_null();
    if (!text)
        return true;
    if (!hf_clock_parse(hf_slice_of(text), &us) && !hf_slice_int(hf_slice_of(text), &us)) {
        hf_api_invalid(api, hf_json_(api->mem,
                                     "{'%s': ['The parameter must be a moment such as "
                                     "2026-04-12T09:02:11Z, or microseconds since 1970.']}",
                                     name));
        return false;
    }
    *out = hf_value_int(api->mem, us);
    return true;
}

/* ---- all of a namespace */

void hf_api_attention(hf_api *api)
{
    const char *signature = hf_api_query_text(api, "signature");
    bool notices = hf_api_query_bool(api, "notices");
    int64_t limit = 0;
    int64_t samples = 0;
    hf_value out = NULL;
    hf_value groups;
    hf_status st;

    if (!hf_api_query_int(api, "limit", GROUPS_USUAL, 1, GROUPS_MAX, &limit) ||
        !hf_api_query_int(api, "samples", SAMPLES_USUAL, 1, SAMPLES_MAX, &samples))
        return;
    st = hf_attention(api->server->engine,
                      hf_json_(api->mem,
                               "{'limit': %d, 'samples': %lld, 'signature': %s, 'notices': %p}",
                               (int)GROUPS_MAX, (long long)samples, signature ? signature : "",
                               (const void *)hf_value_bool(notices)),
                      api->mem, &out);
    groups = st ? NULL : hf_api_groups_snoozed(api, hf_get(out, "groups"), limit, false);
    if (st || groups)
        answer(api, st,
               st ? NULL
                  : hf_value_merge(api->mem, out,
                                   hf_json_(api->mem, "{'groups': %p}", (const void *)groups)));
}

void hf_api_failures(hf_api *api)
{
    const char *states = hf_api_query_text(api, "state");
    int64_t limit = 0;
    hf_value since = NULL;
    hf_value out = NULL;
    hf_status st;

    if (!hf_api_query_int(api, "limit", GROUPS_USUAL, 1, GROUPS_MAX, &limit) ||
        !moment_read(api, "since", &since) || !hf_api_states_check(api, states))
        return;
    st = hf_failure_groups(api->server->engine,
                           hf_json_(api->mem, "{'since_us': %p, 'limit': %lld}",
                                    (const void *)since, (long long)limit),
                           api->mem, &out);
    if (!st)
        out = hf_api_groups_judged(api, out, states);
    if (st || out)
        answer(api, st, st ? NULL : hf_json_(api->mem, "{'groups': %p}", (const void *)out));
}

void hf_api_series(hf_api *api)
{
    const char *step = hf_api_query_text(api, "step");
    int64_t limit = 0;
    hf_value from = NULL;
    hf_value to = NULL;
    hf_value out = NULL;
    hf_status st;

    if (!hf_api_query_int(api, "limit", POINTS_USUAL, 1, POINTS_MAX, &limit) ||
        !moment_read(api, "from", &from) || !moment_read(api, "to", &to))
        return;
    st = hf_metrics_points(
        api->server->engine,
        hf_json_(api->mem, "{'span': %s, 'from_us': %p, 'to_us': %p, 'limit': %lld}",
                 step ? step : "minute", (const void *)from, (const void *)to, (long long)limit),
        api->mem, &out);
    answer(api, st, out);
}

/* From when to when is asked about, the hour before now if nothing is said; false: answered. */
static bool stretch_read(hf_api *api, int64_t *out_from_us, int64_t *out_to_us)
{
    hf_value from = NULL;
    hf_value to = NULL;

    if (!moment_read(api, "from", &from) || !moment_read(api, "to", &to))
        return false;
    *out_to_us = hf_value_kind_of(to) == HF_VALUE_INT ? hf_int(to, "", 0)
                                                      : hf_clock_wall_us(api->server->clock);
    *out_from_us =
        hf_value_kind_of(from) == HF_VALUE_INT ? hf_int(from, "", 0) : *out_to_us - HOUR_US;
    if (*out_from_us >= 0 && *out_to_us > *out_from_us)
        return true;
    hf_api_invalid(api, hf_json_(api->mem, "{'to': ['The parameter must be after from.']}"));
    return false;
}

void hf_api_durations(hf_api *api)
{
    int64_t steps = 0;
    int64_t from_us;
    int64_t to_us;
    hf_value out = NULL;
    hf_status st;

    if (!hf_api_query_int(api, "points", STEPS_USUAL, 1, STEPS_MAX, &steps) ||
        !stretch_read(api, &from_us, &to_us))
        return;
    st = hf_durations(api->server->engine,
                      hf_json_(api->mem, "{'from_us': %lld, 'to_us': %lld, 'points': %lld}",
                               (long long)from_us, (long long)to_us, (long long)steps),
                      api->mem, &out);
    answer(api, st, out);
}

void hf_api_deploys(hf_api *api)
{
    int64_t from_us;
    int64_t to_us;
    hf_value out = NULL;
    hf_status st;

    if (!stretch_read(api, &from_us, &to_us))
        return;
    st = hf_builds_deploys(api->server->engine, from_us, to_us, api->mem, &out);
    answer(api, st, st ? NULL : hf_json_(api->mem, "{'deploys': %p}", (const void *)out));
}

void hf_api_filters(hf_api *api)
{
    hf_value out = NULL;
    hf_status st = hf_list_filters(api->server->engine, api->mem, &out);

    answer(api, st, out);
}

/* ---- imports */

void hf_api_imports(hf_api *api)
{
    int64_t cursor = 0;
    int64_t limit = 0;
    hf_value rows = NULL;
    hf_status st;

    if (!hf_api_query_int(api, "limit", IMPORTS_USUAL, 1, IMPORTS_MAX, &limit) ||
        !hf_api_query_int(api, "cursor", INT64_MAX, 0, INT64_MAX, &cursor))
        return;
    st = hf_imports(api->server->engine,
                    hf_json_(api->mem, "{'namespace': %s, 'limit': %lld, 'cursor': %lld}",
                             api->namespace, (long long)limit, (long long)cursor),
                    api->mem, &rows);
    answer(api, st, st ? NULL : hf_json_(api->mem, "{'imports': %p}", (const void *)rows));
}

/* The bundle as it came in. */
void hf_api_import(hf_api *api)
{
    const char *text = NULL;
    hf_status st = hf_import_get(api->server->engine,
                                 hf_json_(api->mem, "{'id': %s, 'namespace': %s}",
                                          hf_api_param_named(api, "id"), api->namespace),
                                 api->mem, &text);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, "import_not_found", "%s", hf_errmsg(api->server->engine));
    else if (st)
        hf_api_status(api, st, hf_errmsg(api->server->engine));
    else
        hf_buf_add_text(&api->reply.body, text);
}
