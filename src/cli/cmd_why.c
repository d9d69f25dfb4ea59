/* cmd_why.c: the verbs why and doctor: the sentence that says what a run waits for, and every run
   that needs a person. */
#include <inttypes.h>

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

/* A look at a whole store. */
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

static hf_status doctor_result(const doctor_job *job, const hf_tool_info *info, int64_t runs,
                               hf_err *err)
{
    hf_cli_call *call = job->call;
    hf_value store =
        hf_json_(call->mem,
                 "{'store': %s, 'engine': %s, 'ground_version': %lld, "
                 "'projection_version': %lld, 'open_runs': %lld, 'attention': %lld}",
                 call->shown_store, info->engine, (long long)info->ground_version,
                 (long long)info->projection_version, (long long)runs, (long long)job->count);

    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'report': %p, 'runs': %p}",
                                           (const void *)store,
                                           (const void *)hf_value_finish(job->list)),
                                  err);
    if (call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, store, err);
    if (call->print.format != HF_CLI_TABLE)
        return HF_OK;
    hf_cli_print_text(call->print.out, call->shown_store);
    (void)fprintf(call->print.out,
                  ": %s, format %" PRId64 ".%" PRId64 "; %" PRId64 " open runs, %" PRId64
                  " need a person\n",
                  info->engine, info->ground_version, info->projection_version, runs, job->count);
    return HF_OK;
}

hf_status hf_cli_doctor(hf_cli_call *call, hf_err *err)
{
    const hf_tool_options options = {.size = sizeof(options), .schema = call->schema};
    hf_tool_info info = {.size = sizeof(info)};
    doctor_job job = {.call = call, .list = hf_value_array(call->mem)};
    int64_t runs = 0;
    hf_status st = hf_tool_inspect(call->store, &options, &info, err);

    if (!st)
        st = hf_tool_attention(call->store, &options, doctor_found, &job, &runs, err);
    if (!st && job.status)
        st = hf_err_set(err, job.status, "%s", job.err.text);
    if (st)
        return st;
    call->exit = job.count ? HF_CLI_EXIT_FAILED : HF_CLI_EXIT_OK;
    return doctor_result(&job, &info, runs, err);
}
