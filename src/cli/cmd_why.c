/* cmd_why.c: the verbs why and doctor: the sentence that says what a run waits for, and every run
   that needs a person, with what a store is and how a server does. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/show.h"
#include "cli/target.h"
#include "holdfast/tool.h"

static const hf_cli_column why_columns[] = {{"instance_id", 24, false},
                                            {"severity", 9, true},
                                            {"code", 24, false},
                                            {"text", 0, false},
                                            {NULL, 0, false}};

static bool needs_person(hf_value why)
{
    return hf_slice_equal(hf_slice_of(hf_str(why, "severity", "")), HF_SLICE("attention"));
}

static void text_line(FILE *out, const char *head, const char *text)
{
    (void)fputs(head, out);
    hf_cli_print_text(out, text);
    (void)fputc('\n', out);
}

/* For people: the sentence, then what would move it. */
static void why_lines(hf_cli_call *call, hf_value why)
{
    const char *next = hf_cli_show_next(call, why);
    FILE *out = call->print.out;

    hf_cli_print_text(out, hf_str(why, "instance_id", ""));
    text_line(out, ": ", hf_str(why, "text", ""));
    if (next)
        text_line(out, "  next   ", next);
    if (hf_str(why, "subject.source_line", NULL))
        text_line(out, "  at     ", hf_str(why, "subject.source_line", ""));
    text_line(out, "  code   ", hf_str(why, "code", ""));
}

/* As the store says it, or the server. */
static hf_status why_get(hf_cli_target *target, const char *name, hf_value *out, hf_err *err)
{
    hf_cli_aim aim = {0};
    hf_value run = NULL;
    hf_status st = hf_cli_target_aim(target, name, &aim, err);

    if (!st)
        st = hf_cli_target_run(target, &aim, hf_cli_target_call(target)->mem, &run, err);
    *out = hf_get(run, "why");
    return st;
}

static hf_status why_all(hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value_list *list = hf_value_array(call->mem);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < call->word_count; i++) {
        hf_value why = NULL;

        st = why_get(target, call->words[i], &why, err);
        if (st)
            break;
        if (needs_person(why))
            call->exit = HF_CLI_EXIT_FAILED;
        if (call->print.format == HF_CLI_JSON)
            hf_value_append(list, why);
        else if (call->print.format == HF_CLI_TABLE)
            why_lines(call, why);
        else
            st = hf_cli_print_row(&call->print, why_columns, why, err);
    }
    if (st || call->print.format != HF_CLI_JSON)
        return st;
    return hf_cli_print_value(call->print.out, hf_value_finish(list), err);
}

hf_status hf_cli_why(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_status st = hf_cli_target_open(call, false, &target, err);

    if (!st)
        st = why_all(target, err);
    hf_cli_target_close(target);
    return st;
}

/* ---- doctor */

/* A look at a whole store, or at a server. */
typedef struct doctor_job {
    hf_cli_call *call;
    hf_value_list *list; /* json */
    int64_t count;
    hf_status status; /* of printing */
    hf_err err;
} doctor_job;

static bool doctor_found(void *ctx, hf_value why)
{
    doctor_job *job = ctx;

    job->count++;
    if (job->call->print.format == HF_CLI_JSON)
        hf_value_append(job->list, hf_value_copy(job->call->mem, why));
    else
        job->status = hf_cli_print_row(&job->call->print, why_columns, why, &job->err);
    return job->status == HF_OK;
}

/* `sentence`: the report for people. */
static hf_status doctor_result(const doctor_job *job, hf_value report, const char *sentence,
                               hf_err *err)
{
    hf_cli_call *call = job->call;

    if (job->status)
        return hf_err_set(err, job->status, "%s", job->err.text);
    if (!report || !sentence)
        return hf_err_nomem(err, "a report");
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'report': %p, 'runs': %p}",
                                           (const void *)report,
                                           (const void *)hf_value_finish(job->list)),
                                  err);
    if (call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, report, err);
    if (call->print.format == HF_CLI_TABLE) {
        hf_cli_print_text(call->print.out, call->shown_store);
        text_line(call->print.out, ": ", sentence);
    }
    return HF_OK;
}

static hf_status doctor_store(doctor_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    const hf_tool_options options = {.size = sizeof(options), .schema = call->schema};
    hf_tool_info info = {.size = sizeof(info)};
    int64_t runs = 0;
    hf_status st = hf_tool_inspect(call->store, &options, &info, err);

    if (!st)
        st = hf_tool_attention(call->store, &options, doctor_found, job, &runs, err);
    if (st)
        return st;
    call->exit = job->count ? HF_CLI_EXIT_FAILED : HF_CLI_EXIT_OK;
    return doctor_result(
        job,
        hf_json_(call->mem,
                 "{'store': %s, 'engine': %s, 'ground_version': %lld, 'projection_version': %lld, "
                 "'open_runs': %lld, 'attention': %lld}",
                 call->shown_store, info.engine, (long long)info.ground_version,
                 (long long)info.projection_version, (long long)runs, (long long)job->count),
        hf_mem_format(call->mem,
                      "%s, format %" PRId64 ".%" PRId64 "; %" PRId64 " open runs, %" PRId64
                      " need a person",
                      info.engine, info.ground_version, info.projection_version, runs, job->count),
        err);
}

/* A server that is not well says so in its answer, and that is what is asked for. */
static hf_status unwell_ask(hf_cli_target *target, const char *path, const char *member,
                            hf_value *out, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    const char *next = call->next;
    hf_status st;

    *out = NULL;
    st = hf_cli_target_ask(target, "GET", path, NULL, call->mem, out, err);
    if (!hf_get(*out, member))
        return st ? st : hf_err_set(err, HF_IO, "%s was answered without %s", path, member);
    call->next = next;
    return HF_OK;
}

/* The runs of a group, of which the server names some. */
static void group_show(doctor_job *job, hf_value group)
{
    hf_value runs = hf_get(group, "runs");
    int64_t before = job->count;

    for (size_t i = 0; !job->status && i < hf_len(runs); i++)
        (void)doctor_found(job, hf_json_(job->call->mem,
                                         "{'instance_id': %s, 'run_id': %s, 'severity': "
                                         "'attention', 'code': %s, 'text': %s}",
                                         hf_str(hf_at(runs, i), "instance_id", ""),
                                         hf_str(hf_at(runs, i), "run_id", ""),
                                         hf_str(group, "code", ""), hf_str(group, "text", "")));
    job->count = before + hf_int(group, "count", 0);
}

/* Checks that are not ok; each between commas in *out_names. */
static int64_t checks_unwell(hf_cli_call *call, hf_value checks, const char **out_names)
{
    int64_t count = 0;

    *out_names = "";
    for (size_t i = 0; i < hf_len(checks); i++) {
        hf_value check = hf_at(checks, i);

        if (hf_slice_equal(hf_slice_of(hf_str(check, "status", "")), HF_SLICE("ok")))
            continue;
        *out_names =
            hf_mem_format(call->mem, "%s%s%s %s", *out_names ? *out_names : "", count ? ", " : "",
                          hf_str(check, "name", ""), hf_str(check, "status", ""));
        count++;
    }
    return count;
}

/* How far the server's clock is ahead, in whole seconds. */
static int64_t clock_ahead_s(hf_value health)
{
    const char *said = hf_str(health, "timestamp", "");
    int64_t theirs_us = 0;

    return hf_clock_parse(hf_slice_of(said), &theirs_us)
               ? (theirs_us - hf_clock_wall_us(hf_clock_system())) / 1000000
               : 0;
}

static hf_status doctor_server(doctor_job *job, hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = job->call;
    hf_value alive = NULL;
    hf_value info = NULL;
    hf_value ready = NULL;
    hf_value health = NULL;
    hf_value needs = NULL;
    hf_value groups;
    const char *names = NULL;
    int64_t unwell;
    int64_t ahead_s;
    hf_status st = unwell_ask(target, "/api/health", "timestamp", &alive, err);

    ahead_s = clock_ahead_s(alive);
    if (!st)
        st = unwell_ask(target, "/api/cluster/info", "version", &info, err);
    if (!st)
        st = unwell_ask(target, "/api/ready", "ready", &ready, err);
    if (!st)
        st = unwell_ask(target, "/api/system/health", "checks", &health, err);
    if (!st)
        st = unwell_ask(target, "/console/api/attention?limit=100", "groups", &needs, err);
    if (st)
        return st;
    groups = hf_get(needs, "groups");
    for (size_t i = 0; i < hf_len(groups); i++)
        group_show(job, hf_at(groups, i));
    unwell = checks_unwell(call, hf_get(health, "checks"), &names);
    if (job->count || unwell || !hf_bool(ready, "ready", false))
        call->exit = HF_CLI_EXIT_FAILED;
    return doctor_result(
        job,
        hf_json_(call->mem,
                 "{'server': %s, 'version': %s, 'status': %s, 'ready': %p, 'clock_ahead_seconds': "
                 "%lld, 'checks': %p, 'open_runs_looked_at': %lld, 'exact': %p, 'attention': %lld}",
                 call->shown_store, hf_str(info, "version", ""), hf_str(ready, "status", ""),
                 (const void *)hf_get(ready, "ready"), (long long)ahead_s,
                 (const void *)hf_get(health, "checks"), (long long)hf_int(needs, "looked_at", 0),
                 (const void *)hf_get(needs, "exact"), (long long)job->count),
        hf_mem_format(call->mem,
                      "Holdfast %s, %s, clock %+lld s; %lld of %zu checks not ok%s%s; %lld%s open "
                      "runs, %lld need a person",
                      hf_str(info, "version", ""), hf_str(ready, "status", ""), (long long)ahead_s,
                      (long long)unwell, hf_len(hf_get(health, "checks")), unwell ? ": " : "",
                      names ? names : "", (long long)hf_int(needs, "looked_at", 0),
                      hf_bool(needs, "exact", true) ? "" : " of the oldest", (long long)job->count),
        err);
}

hf_status hf_cli_doctor(hf_cli_call *call, hf_err *err)
{
    doctor_job job = {.call = call, .list = hf_value_array(call->mem)};
    hf_cli_target *target = NULL;
    hf_status st;

    if (!hf_cli_address_remote(call->store) && call->flags[HF_CLI_FLAG_NAMESPACE])
        return hf_err_set(err, HF_INVALID, "doctor looks at all namespaces of a store");
    if (!hf_cli_address_remote(call->store))
        return doctor_store(&job, err);
    st = hf_cli_target_open(call, false, &target, err);
    if (!st)
        st = doctor_server(&job, target, err);
    hf_cli_target_close(target);
    return st;
}
