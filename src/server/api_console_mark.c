/* api_console_mark.c: what people decide about groups: attention that is snoozed until some moment,
   failures that are resolved, ignored or open again. A resolved one is open again by itself when it
   is seen later; with a build, when a run of that build sees it, or one of a build that had not had
   it before. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/view.h"
#include "server/console_mark.h"
#include "server/handlers.h"
#include "server/server_impl.h"

#define ATTENTION "attention"
#define FAILURE   "failure"

enum { SECONDS_MAX = 30 * 24 * 3600 };

static hf_value time_value(hf_api *api, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE] = "";

    (void)hf_clock_print(us, text);
    return hf_value_string(api->mem, hf_slice_of(text));
}

static int64_t now_of(const hf_api *api)
{
    return hf_clock_wall_us(api->server->clock);
}

static void mark_failed(hf_api *api, hf_status st, const char *missing)
{
    const char *text = hf_errmsg(api->server->engine);

    if (st == HF_NOTFOUND)
        hf_api_error(api, 404, missing, "%s", text);
    else if (st == HF_EXISTS)
        hf_api_error(api, 409, "too_many_marks", "%s", text);
    else
        hf_api_status(api, st, text);
}

/* ---- what is kept */

static hf_value marks_read(hf_api *api, const char *kind)
{
    hf_value marks = NULL;
    hf_status st = hf_marks(api->server->engine, kind, api->mem, &marks);

    if (!st)
        return marks;
    hf_api_status(api, st, hf_errmsg(api->server->engine));
    return NULL;
}

/* NULL: nobody decided anything. */
static hf_value mark_find(hf_value marks, const char *key)
{
    for (size_t i = 0; i < hf_len(marks); i++)
        if (strcmp(hf_str(hf_at(marks, i), "key", ""), key) == 0)
            return hf_get(hf_at(marks, i), "value");
    return NULL;
}

/* Who decided it, when, why, and until when; `seconds` 0: until it is decided anew. */
static hf_value decision(hf_api *api, int64_t seconds)
{
    int64_t now_us = now_of(api);
    int64_t until_us = seconds ? now_us + seconds * 1000000 : 0;

    return hf_json_(
        api->mem,
        "{'until': %p, 'until_us': %lld, 'reason': %s, 'by': {'id': %s, 'label': %s}, 'at': %p, "
        "'at_us': %lld}",
        (const void *)(seconds ? time_value(api, until_us) : hf_value_null()), (long long)until_us,
        hf_str(api->body, "reason", NULL), api->principal.id, api->principal.label,
        (const void *)time_value(api, now_us), (long long)now_us);
}

/* Answers and returns false when there is a number and it cannot be. */
static bool seconds_read(hf_api *api, int64_t *out_seconds)
{
    bool given = hf_value_kind_of(hf_value_find(api->body, HF_SLICE("seconds"))) == HF_VALUE_INT;

    *out_seconds = given ? hf_int(api->body, "seconds", 0) : 0;
    if (!given || (*out_seconds >= 1 && *out_seconds <= SECONDS_MAX))
        return true;
    hf_api_invalid(api,
                   hf_json_(api->mem, "{'seconds': ['The field must be a number from 1 to %d.']}",
                            (int)SECONDS_MAX));
    return false;
}

/* Those members of a decision that are shown. */
static hf_value shown(hf_value value, hf_value_list *into)
{
    static const char *const names[] = {"until", "reason", "by", "at"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        hf_value member = value ? hf_get(value, names[i]) : NULL;

        hf_value_put(into, names[i], member ? member : hf_value_null());
    }
    return hf_value_finish(into);
}

/* ---- attention */

/* Null when it is not, or no longer. */
static hf_value snoozed_value(hf_api *api, hf_value mark)
{
    return mark && hf_int(mark, "until_us", 0) > now_of(api)
               ? shown(mark, hf_value_object(api->mem))
               : hf_value_null();
}

hf_value hf_api_groups_snoozed(hf_api *api, hf_value groups, int64_t limit, bool awake)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value marks = marks_read(api, ATTENTION);
    int64_t count = 0;

    if (!marks)
        return NULL;
    for (int sleeping = 0; sleeping < (awake ? 1 : 2); sleeping++)
        for (size_t i = 0; i < hf_len(groups) && count < limit; i++) {
            hf_value group = hf_at(groups, i);
            hf_value snoozed = snoozed_value(api, mark_find(marks, hf_str(group, "signature", "")));

            if ((hf_value_kind_of(snoozed) == HF_VALUE_OBJECT) != (sleeping == 1))
                continue;
            hf_value_append(
                list, hf_value_merge(api->mem, group,
                                     hf_json_(api->mem, "{'snoozed': %p}", (const void *)snoozed)));
            count++;
        }
    return hf_value_finish(list);
}

static void snooze_put(hf_api *api, hf_value value)
{
    const char *signature = hf_api_param_named(api, "signature");
    hf_status st = hf_mark_put(api->server->engine, ATTENTION, signature, value);

    if (st)
        mark_failed(api, st, "group_not_found");
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'signature': %s, 'snoozed': %p}",
                             api->namespace, signature, (const void *)snoozed_value(api, value)));
}

void hf_api_snooze(hf_api *api)
{
    int64_t seconds = 0;

    if (seconds_read(api, &seconds))
        snooze_put(api, decision(api, seconds));
}

void hf_api_unsnooze(hf_api *api)
{
    snooze_put(api, NULL);
}

/* ---- failures */

static bool has_text(hf_value list, hf_value text)
{
    for (size_t i = 0; i < hf_len(list); i++)
        if (hf_value_equal(hf_at(list, i), text))
            return true;
    return false;
}

/* Whether runs had it later that make it open again. */
static bool came_back(hf_api *api, hf_value mark, const char *fingerprint, const char *last_seen)
{
    hf_value later = NULL;
    hf_value builds;

    if (strcmp(last_seen, hf_str(mark, "at", "")) <= 0)
        return false;
    if (!hf_str(mark, "build", NULL))
        return true;
    if (hf_failure_group(api->server->engine,
                         hf_json_(api->mem, "{'fingerprint': %s, 'after_us': %lld}", fingerprint,
                                  (long long)hf_int(mark, "at_us", 0)),
                         api->mem, &later))
        return true; /* rather once too often */
    builds = hf_get(later, "builds");
    for (size_t i = 0; i < hf_len(builds); i++)
        if (!has_text(hf_get(mark, "builds"), hf_at(builds, i)) ||
            hf_slice_equal(hf_value_slice(hf_at(builds, i)),
                           hf_slice_of(hf_str(mark, "build", ""))))
            return true;
    return false;
}

static hf_value state_value(hf_api *api, hf_value mark, hf_value group)
{
    const char *status = hf_str(mark, "status", "open");
    int64_t until_us = hf_int(mark, "until_us", 0);
    hf_value_list *state = hf_value_object(api->mem);

    if (mark && until_us && until_us <= now_of(api))
        mark = NULL;
    if (!mark)
        status = "open";
    else if (strcmp(status, "resolved") == 0 &&
             came_back(api, mark, hf_str(group, "fingerprint", ""),
                       hf_str(group, "last_seen_at", "")))
        status = "reopened";
    hf_value_put(state, "status", hf_value_string(api->mem, hf_slice_of(status)));
    hf_value_put(state, "build",
                 mark && hf_str(mark, "build", NULL) ? hf_get(mark, "build") : hf_value_null());
    return shown(mark, state);
}

/* A word of a list with commas. */
static bool has_word(const char *list, const char *word)
{
    hf_slice rest = hf_slice_of(list);
    hf_slice one;

    while (rest.len && hf_slice_split(&rest, ',', &one))
        if (hf_slice_equal(one, hf_slice_of(word)))
            return true;
    return false;
}

bool hf_api_states_check(hf_api *api, const char *states)
{
    hf_slice rest = hf_slice_of(states);
    hf_slice one;

    while (rest.len && hf_slice_split(&rest, ',', &one))
        if (!hf_slice_equal(one, HF_SLICE("open")) && !hf_slice_equal(one, HF_SLICE("reopened")) &&
            !hf_slice_equal(one, HF_SLICE("resolved")) &&
            !hf_slice_equal(one, HF_SLICE("ignored"))) {
            hf_api_invalid(
                api, hf_json_(api->mem,
                              "{'state': ['States are open, reopened, resolved and ignored.']}"));
            return false;
        }
    return true;
}

hf_value hf_api_groups_judged(hf_api *api, hf_value groups, const char *states)
{
    hf_value_list *list = hf_value_array(api->mem);
    hf_value marks = marks_read(api, FAILURE);

    if (!marks)
        return NULL;
    for (size_t i = 0; i < hf_len(groups); i++) {
        hf_value group = hf_at(groups, i);
        hf_value state =
            state_value(api, mark_find(marks, hf_str(group, "fingerprint", "")), group);

        if (!states || has_word(states, hf_str(state, "status", "")))
            hf_value_append(
                list, hf_value_merge(api->mem, group,
                                     hf_json_(api->mem, "{'state': %p}", (const void *)state)));
    }
    return hf_value_finish(list);
}

/* The group that the path names; answers and returns false when there is none. */
static bool group_read(hf_api *api, hf_value *out_group)
{
    hf_status st = hf_failure_group(
        api->server->engine,
        hf_json_(api->mem, "{'fingerprint': %s}", hf_api_param_named(api, "fingerprint")), api->mem,
        out_group);

    if (st)
        mark_failed(api, st, "failure_not_found");
    return !st;
}

void hf_api_failure(hf_api *api)
{
    hf_value found = NULL;
    hf_value groups;
    hf_value_list *one = hf_value_array(api->mem);

    if (!group_read(api, &found))
        return;
    hf_value_append(one, hf_get(found, "group"));
    groups = hf_api_groups_judged(api, hf_value_finish(one), NULL);
    if (groups)
        hf_api_json(api, 200,
                    hf_value_merge(api->mem, found,
                                   hf_json_(api->mem, "{'namespace': %s, 'group': %p}",
                                            api->namespace, (const void *)hf_at(groups, 0))));
}

/* Puts what was decided of a group that there is, and answers with what it comes to. */
static void judge(hf_api *api, hf_value found, hf_value mark)
{
    const char *fingerprint = hf_api_param_named(api, "fingerprint");
    hf_status st = hf_mark_put(api->server->engine, FAILURE, fingerprint, mark);

    if (st)
        mark_failed(api, st, "failure_not_found");
    else
        hf_api_json(api, 200,
                    hf_json_(api->mem, "{'namespace': %s, 'fingerprint': %s, 'state': %p}",
                             api->namespace, fingerprint,
                             (const void *)state_value(api, mark, hf_get(found, "group"))));
}

void hf_api_failure_resolve(hf_api *api)
{
    hf_value found = NULL;

    if (group_read(api, &found))
        judge(api, found,
              hf_value_merge(api->mem, decision(api, 0),
                             hf_json_(api->mem, "{'status': 'resolved', 'build': %s, 'builds': %p}",
                                      hf_str(api->body, "build", NULL),
                                      (const void *)hf_get(found, "builds"))));
}

void hf_api_failure_ignore(hf_api *api)
{
    hf_value found = NULL;
    int64_t seconds = 0;

    if (seconds_read(api, &seconds) && group_read(api, &found))
        judge(api, found,
              hf_value_merge(api->mem, decision(api, seconds),
                             hf_json_(api->mem, "{'status': 'ignored'}")));
}

void hf_api_failure_reopen(hf_api *api)
{
    hf_value found = NULL;

    if (group_read(api, &found))
        judge(api, found, NULL);
}
