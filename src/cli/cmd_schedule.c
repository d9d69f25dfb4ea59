/* cmd_schedule.c: the verb schedule. What a schedule is comes as pairs: cron, every and timezone
   say when, input and the options of a start say what, and everything else is passed on as it is.
 */
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/value.h"
#include "cli/input.h"
#include "cli/noun.h"

enum { WEEK_S = 7 * 86400 };

static const hf_cli_column columns[] = {{"schedule_id", 24, false},   {"status", 8, false},
                                        {"workflow_type", 16, false}, {"next_fire_at", 27, false},
                                        {"last_fired_at", 0, false},  {NULL, 0, false}};
static const hf_cli_column fired_columns[] = {{"workflow_id", 40, false},
                                              {"outcome", 16, false},
                                              {"occurrence_time", 27, false},
                                              {"reason", 0, false},
                                              {NULL, 0, false}};
static const hf_cli_column time_columns[] = {{"at", 0, false}, {NULL, 0, false}};
static const hf_cli_column event_columns[] = {
    {"sequence", 8, false}, {"recorded_at", 27, false}, {"event_type", 0, false}, {NULL, 0, false}};

/* ---- what is sent */

/* every=30m as the published interval. */
static hf_status interval_make(hf_cli_call *call, hf_value pairs, hf_value *out_list, hf_err *err)
{
    const char *every = hf_str(pairs, "every", NULL);
    const char *offset = hf_str(pairs, "offset", NULL);
    int64_t every_ms = 0;
    int64_t offset_ms = 0;
    hf_status st = every ? hf_cli_duration(every, &every_ms, err) : HF_OK;

    if (!st && offset)
        st = hf_cli_duration(offset, &offset_ms, err);
    if (st || !every)
        return st;
    *out_list = hf_json_(call->mem, "[{'every': 'PT%lldS', 'offset': 'PT%lldS'}]",
                         (long long)(every_ms / 1000), (long long)(offset_ms / 1000));
    return *out_list ? HF_OK : hf_err_nomem(err, "a schedule");
}

static hf_status spec_make(hf_cli_call *call, hf_value pairs, hf_value_list *body, hf_err *err)
{
    const char *cron = hf_str(pairs, "cron", NULL);
    const char *zone = hf_str(pairs, "timezone", NULL);
    hf_value_list *spec = hf_value_object(call->mem);
    hf_value intervals = NULL;
    hf_status st = interval_make(call, pairs, &intervals, err);

    if (st || (!cron && !intervals && !zone))
        return st;
    if (cron)
        hf_value_set(spec, HF_SLICE("cron_expressions"), hf_json_(call->mem, "[%s]", cron));
    if (intervals)
        hf_value_set(spec, HF_SLICE("intervals"), intervals);
    hf_cli_text_set(call, spec, "timezone", zone);
    hf_value_set(body, HF_SLICE("spec"), hf_value_finish(spec));
    return HF_OK;
}

/* Members by where they belong; what the spec took is not sent again. */
static hf_status body_make(hf_cli_call *call, size_t used, const char *id, const char *type,
                           hf_value *out_body, hf_err *err)
{
    static const char in_spec[] = "cron every offset timezone";
    static const char in_action[] = "input task_queue business_key execution_timeout_seconds "
                                    "run_timeout_seconds visibility_labels workflow_type";
    hf_value_list *body = hf_value_object(call->mem);
    hf_value_list *action = hf_value_object(call->mem);
    hf_value pairs = NULL;
    hf_slice key;
    hf_value value;
    hf_value made;
    hf_status st = hf_cli_body_pairs(call, used, &pairs, err);

    if (!st)
        st = spec_make(call, pairs, body, err);
    if (st)
        return st;
    hf_cli_text_set(call, body, "schedule_id", id);
    hf_cli_text_set(call, action, "workflow_type", type);
    hf_cli_text_set(call, action, "task_queue", call->flags[HF_CLI_FLAG_QUEUE]);
    hf_cli_text_set(call, body, "note", call->flags[HF_CLI_FLAG_REASON]);
    for (size_t i = 0; hf_value_member(pairs, i, &key, &value); i++)
        if (!hf_cli_choice(in_spec, key))
            hf_value_set(hf_cli_choice(in_action, key) ? action : body, key, value);
    made = hf_value_finish(action);
    if (made && hf_value_member(made, 0, &key, &value))
        hf_value_set(body, HF_SLICE("action"), made);
    *out_body = made ? hf_value_finish(body) : NULL;
    return *out_body ? HF_OK : hf_err_set(err, HF_INVALID, "a pair is given twice");
}

static hf_status create_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    return body_make(call, used, call->words[1], call->words[2], out_body, err);
}

static hf_status edit_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    return body_make(call, used, NULL, NULL, out_body, err);
}

static hf_status overlap_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    return hf_cli_body_pairs(call, used, out_body, err);
}

/* ---- times */

/* --from and --to, as they were given or from now on for a week. */
static hf_status range_read(hf_cli_call *call, bool needed, const char **out_from,
                            const char **out_to, hf_err *err)
{
    const char *from = call->flags[HF_CLI_FLAG_FROM];
    const char *to = call->flags[HF_CLI_FLAG_TO];
    int64_t from_us = hf_clock_wall_us(hf_clock_system());
    char text[HF_CLOCK_TEXT_SIZE];

    if (needed && (!from || !to))
        return hf_err_set(err, HF_INVALID, "%s %s needs --from and --to", call->command->name,
                          call->args[0]);
    if (from && !hf_clock_parse(hf_slice_of(from), &from_us))
        return hf_err_set(err, HF_INVALID, "--from is \"%s\", which is no time", from);
    if (!from) {
        (void)hf_clock_print(from_us, text);
        from = hf_mem_text(call->mem, hf_slice_of(text));
    }
    if (!to) {
        (void)hf_clock_print(from_us + WEEK_S * INT64_C(1000000), text);
        to = hf_mem_text(call->mem, hf_slice_of(text));
    }
    *out_from = from;
    *out_to = to;
    return from && to ? HF_OK : hf_err_nomem(err, "a time");
}

static hf_status times_query(hf_cli_call *call, hf_buf *path, hf_err *err)
{
    const char *from = NULL;
    const char *to = NULL;
    hf_status st = range_read(call, strcmp(call->args[0], "backfill") == 0, &from, &to, err);

    if (st)
        return st;
    hf_cli_query_add(call, path, "start_time", from);
    hf_cli_query_add(call, path, "end_time", to);
    hf_cli_query_add(call, path, "limit", call->flags[HF_CLI_FLAG_LIMIT]);
    return HF_OK;
}

static hf_status backfill_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    const char *from = NULL;
    const char *to = NULL;
    hf_value pairs = NULL;
    hf_status st = range_read(call, true, &from, &to, err);

    if (!st)
        st = hf_cli_body_pairs(call, used, &pairs, err);
    if (st)
        return st;
    *out_body = hf_value_merge(call->mem, pairs,
                               hf_json_(call->mem, "{'start_time': %s, 'end_time': %s}", from, to));
    return *out_body ? HF_OK : hf_err_nomem(err, "a request");
}

/* ---- what is shown */

/* The type beside the id, where columns find it. */
static hf_status schedule_shown(hf_cli_call *call, hf_value schedule, hf_value *out_shown,
                                hf_err *err)
{
    *out_shown = hf_value_merge(
        call->mem, schedule,
        hf_json_(call->mem, "{'workflow_type': %s}", hf_str(schedule, "action.workflow_type", "")));
    return *out_shown ? HF_OK : hf_err_nomem(err, "a schedule");
}

static hf_status schedules_shown(hf_cli_call *call, hf_value page, hf_value *out_shown, hf_err *err)
{
    hf_value rows = hf_get(page, "schedules");
    hf_value_list *list = hf_value_array(call->mem);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(rows); i++) {
        hf_value row = NULL;

        st = schedule_shown(call, hf_at(rows, i), &row, err);
        hf_value_append(list, row);
    }
    *out_shown = hf_value_merge(
        call->mem, page,
        hf_json_(call->mem, "{'schedules': %p}", (const void *)hf_value_finish(list)));
    return st ? st : *out_shown ? HF_OK : hf_err_nomem(err, "schedules");
}

#define ONE "/api/schedules/{1}"

static const hf_cli_action actions[] = {
    {"schedule", "create", "ID TYPE", "POST", "/api/schedules", NULL, columns, .body = create_body,
     .answer = schedule_shown},
    {"schedule", "ls", NULL, "GET", "/api/schedules", "schedules", columns,
     .answer = schedules_shown},
    {"schedule", "show", "ID", "GET", ONE, NULL, columns, .answer = schedule_shown},
    {"schedule", "times", "ID", "GET", ONE "/times", "times", time_columns, .query = times_query},
    {"schedule", "edit", "ID", "PUT", ONE, NULL, columns, .body = edit_body,
     .answer = schedule_shown},
    {"schedule", "pause", "ID", "POST", ONE "/pause", NULL, columns, .body = hf_cli_body_reason,
     .answer = schedule_shown},
    {"schedule", "resume", "ID", "POST", ONE "/resume", NULL, columns, .body = hf_cli_body_reason,
     .answer = schedule_shown},
    {"schedule", "trigger", "ID", "POST", ONE "/trigger", NULL, fired_columns,
     .body = overlap_body},
    {"schedule", "backfill", "ID", "POST", ONE "/backfill", "results", fired_columns,
     .body = backfill_body, .question = "This starts a run for every time of the range."},
    {"schedule", "delete", "ID", "DELETE", ONE, NULL, columns,
     .question = "The schedule never fires again."},
    {"schedule", "history", "ID", "GET", ONE "/history", "events", .columns = event_columns},
    {0}};

/* What a backfill would do: the times of the range. */
static const hf_cli_action rehearsal[] = {{"schedule", "backfill", "ID", "GET", ONE "/times",
                                           "times", time_columns, .query = times_query},
                                          {0}};

hf_status hf_cli_schedule(hf_cli_call *call, hf_err *err)
{
    bool dry = call->flags[HF_CLI_FLAG_DRY_RUN] && strcmp(call->args[0], "backfill") == 0;

    return hf_cli_noun_run(call, dry ? rehearsal : actions, err);
}
