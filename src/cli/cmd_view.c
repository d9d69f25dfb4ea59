/* cmd_view.c: the verbs that look at a store or make its projections anew: rebuild-projections and
   sql. */
#include <string.h>

#include "base/err.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

hf_status hf_cli_rebuild(hf_cli_call *call, hf_err *err)
{
    const hf_rebuild_options options = {.size = sizeof(options),
                                        .schema = call->schema,
                                        .missing = call->flags[HF_CLI_FLAG_MISSING] != NULL,
                                        .needs_rebuild =
                                            call->flags[HF_CLI_FLAG_NEEDS_REBUILD] != NULL,
                                        .prune_stale = call->flags[HF_CLI_FLAG_PRUNE_STALE] != NULL,
                                        .dry_run = call->flags[HF_CLI_FLAG_DRY_RUN] != NULL};
    hf_rebuild_report r = {.size = sizeof(r)};
    hf_status st = hf_rebuild(call->store, &options, &r, err);

    if (st)
        return st;
    call->exit = r.failed ? HF_CLI_EXIT_FAILED : HF_CLI_EXIT_OK;
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(
            call->print.out,
            hf_json_(call->mem,
                     "{'store': %s, 'dry_run': %p, 'runs': %lld, 'missing': %lld, 'behind': %lld, "
                     "'stale': %lld, 'rebuilt': %lld, 'pruned': %lld, 'failed': %lld}",
                     call->shown_store, (const void *)hf_value_bool(options.dry_run),
                     (long long)r.runs, (long long)r.missing, (long long)r.behind,
                     (long long)r.stale, (long long)r.rebuilt, (long long)r.pruned,
                     (long long)r.failed),
            err);
    if (call->print.format != HF_CLI_TABLE)
        return HF_OK;
    hf_cli_print_text(call->print.out, call->shown_store);
    (void)fprintf(
        call->print.out,
        ": %lld runs; %lld missing, %lld behind, %lld stale; %s%lld rebuilt, %lld pruned, "
        "%lld failed%s\n",
        (long long)r.runs, (long long)r.missing, (long long)r.behind, (long long)r.stale,
        options.dry_run ? "would be " : "", (long long)r.rebuilt, (long long)r.pruned,
        (long long)r.failed, r.failed ? "; holdfast verify says which and why" : "");
    return HF_OK;
}

/* Rows as they come. */
typedef struct sql_job {
    hf_cli_call *call;
    hf_mem *row;
    hf_value_list *rows; /* json: all of them */
    hf_status status;
    hf_err err;
} sql_job;

static hf_value row_value(hf_mem *mem, const char *const *names, const char *const *cells,
                          size_t count)
{
    hf_value_list *object = hf_value_object(mem);

    for (size_t i = 0; i < count; i++)
        hf_value_set(object, hf_slice_of(names[i]),
                     cells[i] ? hf_value_string(mem, hf_slice_of(cells[i])) : hf_value_null());
    return hf_value_finish(object);
}

static void row_print(FILE *out, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            (void)fputc('\t', out);
        hf_cli_print_text(out, texts[i] ? texts[i] : "");
    }
    (void)fputc('\n', out);
}

static bool sql_row(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    sql_job *job = ctx;
    hf_cli_call *call = job->call;

    if (call->print.format == HF_CLI_TABLE) {
        row_print(call->print.out, cells ? cells : names, count);
    } else if (cells && call->print.format == HF_CLI_JSONL) {
        hf_mem_reset(job->row);
        job->status = hf_cli_print_value(call->print.out, row_value(job->row, names, cells, count),
                                         &job->err);
    } else if (cells) {
        hf_value_append(job->rows, row_value(call->mem, names, cells, count));
    }
    return !job->status;
}

hf_status hf_cli_sql(hf_cli_call *call, hf_err *err)
{
    const hf_sql_options options = {.size = sizeof(options), .schema = call->schema};
    sql_job job = {.call = call, .row = hf_mem_new(), .rows = hf_value_array(call->mem)};
    hf_status st = job.row ? hf_sql(call->store, &options, call->args[1], sql_row, &job, err)
                           : hf_err_nomem(err, "rows");
    hf_value rows;

    if (!st && job.status)
        st = hf_err_set(err, job.status, "%s", job.err.text);
    if (!st && call->print.format == HF_CLI_JSON) {
        rows = hf_value_finish(job.rows);
        st = rows ? hf_cli_print_value(call->print.out, rows, err) : hf_err_nomem(err, "rows");
    }
    hf_mem_free(job.row);
    return st;
}
