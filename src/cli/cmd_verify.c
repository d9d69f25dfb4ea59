/* cmd_verify.c: the verb verify. Findings are printed as they come, in constant memory; only json,
   which is one object, keeps them, up to a limit. */
#include "base/err.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

enum { FINDINGS_KEPT_MAX = 10000 };

static const hf_cli_column finding_columns[] = {{"invariant", 9, false},
                                                {"severity", 9, true},
                                                {"keys", 24, false},
                                                {"sentence", 0, false},
                                                {NULL, 0, false}};

/* A check under way. */
typedef struct verify_job {
    hf_cli_call *call;
    hf_cli_progress progress;
    hf_mem *row;             /* memory of the finding at hand, when findings are not kept */
    hf_value_list *findings; /* json: those kept */
    int64_t kept;
    hf_status status; /* of printing */
    hf_err err;       /* its text */
} verify_job;

static hf_value finding_value(hf_mem *mem, const hf_finding *finding)
{
    hf_slice keys_text = hf_slice_of(finding->keys);
    hf_value keys = hf_parse_(mem, finding->keys, keys_text.len);

    if (!keys)
        keys = hf_value_string(mem, hf_slice_of(hf_cli_utf8(mem, finding->keys)));
    return hf_json_(mem,
                    "{'invariant': %s, 'severity': %s, 'repairable': %p, 'keys': %p, "
                    "'sentence': %s}",
                    finding->invariant, finding->severity,
                    (void *)hf_value_bool(finding->repairable), (void *)keys,
                    hf_cli_utf8(mem, finding->sentence));
}

static void verify_found(void *ctx, const hf_finding *finding)
{
    verify_job *job = ctx;

    if (job->status)
        return;
    if (job->call->print.format != HF_CLI_JSON) {
        hf_cli_progress_clear(&job->progress);
        hf_mem_reset(job->row);
        job->status = hf_cli_print_row(&job->call->print, finding_columns,
                                       finding_value(job->row, finding), &job->err);
    } else if (job->kept < FINDINGS_KEPT_MAX) {
        hf_value_append(job->findings, finding_value(job->call->mem, finding));
        job->kept++;
    }
}

static bool verify_progress(void *ctx, int64_t done, int64_t total)
{
    verify_job *job = ctx;

    return hf_cli_progress_step(&job->progress, done, total) && !job->status;
}

/* The result as a whole; `findings` is NULL for the formats that printed them already. */
static hf_status verify_result(hf_cli_call *call, const hf_verify_report *report, hf_value findings,
                               int64_t kept, hf_err *err)
{
    bool clean = report->findings == 0;
    hf_value counts =
        hf_json_(call->mem,
                 "{'runs': %lld, 'events': %lld, 'invariants': %lld, "
                 "'findings': %lld, 'elapsed_us': %lld}",
                 (long long)report->runs, (long long)report->events, (long long)report->invariants,
                 (long long)report->findings, (long long)report->elapsed_us);
    hf_value whole;

    if (call->print.format == HF_CLI_TABLE) {
        hf_cli_print_text(call->print.out, call->shown_store);
        (void)fprintf(call->print.out,
                      ": %s; %lld runs, %lld events, %lld invariants, %lld findings, %.2f s\n",
                      clean ? "clean" : "not clean", (long long)report->runs,
                      (long long)report->events, (long long)report->invariants,
                      (long long)report->findings, (double)report->elapsed_us / 1e6);
        return HF_OK;
    }
    if (call->print.format == HF_CLI_JSONL)
        whole = hf_json_(call->mem, "{'store': %s, 'clean': %p, 'report': %p}", call->shown_store,
                         (void *)hf_value_bool(clean), (void *)counts);
    else if (call->print.format == HF_CLI_JSON && findings)
        whole = hf_json_(
            call->mem, "{'store': %s, 'clean': %p, 'report': %p, 'findings': %p, 'truncated': %p}",
            call->shown_store, (void *)hf_value_bool(clean), (void *)counts, (void *)findings,
            (void *)hf_value_bool(report->findings > kept));
    else if (call->print.format == HF_CLI_JSON)
        return hf_err_nomem(err, "the findings");
    else
        return HF_OK; /* none */
    if (!counts)
        return hf_err_nomem(err, "the report");
    return hf_cli_print_value(call->print.out, whole, err);
}

hf_status hf_cli_verify(hf_cli_call *call, hf_err *err)
{
    hf_verify_options options = {.size = sizeof(options)};
    hf_verify_report report = {.size = sizeof(report)};
    verify_job job = {.call = call};
    const char *run = call->flags[HF_CLI_FLAG_RUN];
    hf_status st;

    if (run && (!hf_slice_int(hf_slice_of(run), &options.run) || options.run <= 0))
        return hf_err_set(err, HF_INVALID,
                          "--run takes the key of a run, a number above 0, not \"%s\"", run);
    options.schema = call->schema;
    options.quick = call->flags[HF_CLI_FLAG_QUICK] != NULL;
    job.row = hf_mem_new();
    job.findings = hf_value_array(call->mem);
    if (!job.row || !job.findings) {
        st = hf_err_nomem(err, "the findings");
        goto done;
    }
    hf_cli_progress_begin(&job.progress, &call->print, call->command->name, "events");
    st = hf_verify(call->store, &options, verify_found, verify_progress, &job, &report, err);
    hf_cli_progress_end(&job.progress);
    if (job.status) {
        st = hf_err_set(err, job.status, "%s", job.err.text);
        goto done;
    }
    if (st)
        goto done;
    st = verify_result(call, &report, hf_value_finish(job.findings), job.kept, err);
    call->exit = report.findings ? HF_CLI_EXIT_FAILED : HF_CLI_EXIT_OK;
done:
    hf_mem_free(job.row);
    return st;
}
