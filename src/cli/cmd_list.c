/* cmd_list.c: the verb ls: runs by filters, once or again and again. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/filter.h"
#include "cli/follow.h"
#include "cli/rows.h"
#include "cli/target.h"

enum { LIMIT = 50, PAGE = 200 };

static const hf_cli_column list_columns[] = {
    {"workflow_id", 26, false}, {"workflow_type", 16, false}, {"status", 10, false},
    {"started_at", 27, false},  {"wait_kind", 0, false},      {NULL, 0, false}};
static const hf_cli_column wide_columns[] = {
    {"workflow_id", 26, false},  {"workflow_type", 16, false},      {"status", 10, false},
    {"started_at", 27, false},   {"closed_at", 27, false},          {"wait_kind", 13, false},
    {"task_queue", 12, false},   {"run_number", 10, false},         {"run_id", 26, false},
    {"business_key", 16, false}, {"history_event_count", 0, false}, {NULL, 0, false}};

/* A list in the making. */
typedef struct list_job {
    hf_cli_call *call;
    hf_cli_target *target;
    const hf_cli_column *columns;
    hf_value filters;
    const char *bucket;
    int64_t limit;
    hf_value seen;    /* rows of the look before, of -w */
    bool same;        /* this look found nothing that is not in them */
    bool quiet;       /* nothing has changed since: the next look may wait */
    int64_t changes;  /* as of the look before */
    hf_mem *looks[2]; /* this look and the one before */
    int turn;
} list_job;

/* Whether a row was there before as it is now. */
static bool row_known(hf_value seen, hf_value row)
{
    for (size_t i = 0; i < hf_len(seen); i++)
        if (hf_value_equal(hf_get(hf_at(seen, i), "run_id"), hf_get(row, "run_id")))
            return hf_value_equal(hf_get(hf_at(seen, i), "updated_at"), hf_get(row, "updated_at"));
    return false;
}

/* One page after another, up to the limit. */
static hf_status list_pages(list_job *job, hf_mem *mem, hf_value_list *rows, hf_err *err)
{
    const char *cursor = NULL;
    int64_t left = job->limit;
    hf_status st;

    do {
        hf_value page = NULL;
        hf_value request = hf_json_(
            mem,
            "{'filters': %p, 'bucket': %s, 'limit': %lld, 'cursor': %s, 'view': %s, 'order': %s, "
            "'owner': 'operators'}",
            (const void *)job->filters, job->bucket, (long long)(left < PAGE ? left : PAGE), cursor,
            job->call->flags[HF_CLI_FLAG_VIEW], job->call->flags[HF_CLI_FLAG_ORDER]);

        if (job->quiet && !cursor)
            request = hf_value_merge(
                mem, request, hf_json_(mem, "{'wait_changes': %lld}", (long long)job->changes));
        st = hf_cli_target_list(job->target, request, mem, &page, &cursor, err);
        job->same = !st && !page;
        if (!st && hf_len(page))
            st = hf_cli_rows_fit(job->call, job->columns, hf_at(page, 0), err);
        for (size_t i = 0; !st && i < hf_len(page) && left > 0; i++, left--) {
            hf_value row = hf_at(page, i);

            hf_value_append(rows, row);
            if (job->call->print.format != HF_CLI_JSON && !row_known(job->seen, row))
                st = hf_cli_print_row(&job->call->print, job->columns, row, err);
        }
    } while (!st && cursor && left > 0);
    return st;
}

static hf_status list_once(list_job *job, hf_mem *mem, hf_value *out_rows, hf_err *err)
{
    hf_value_list *rows = hf_value_array(mem);
    hf_status st = list_pages(job, mem, rows, err);

    *out_rows = hf_value_finish(rows);
    return st ? st : *out_rows ? HF_OK : hf_err_nomem(err, "a list");
}

/* A look of -w: rows that are new or have changed. What lists show is folded a moment after the
   change, so that only a second look in a row that finds no other number lets the next one wait. */
static hf_status list_again(void *ctx, hf_err *err)
{
    list_job *job = ctx;
    hf_mem *mem = job->looks[job->turn];
    hf_value rows = NULL;
    int64_t changes;
    hf_status st;

    hf_mem_reset(mem);
    st = list_once(job, mem, &rows, err);
    changes = hf_cli_target_changes(job->target);
    job->quiet = job->seen && changes == job->changes;
    job->changes = changes;
    if (!job->same) {
        job->seen = rows;
        job->turn = !job->turn;
    }
    return st ? st : hf_cli_print_flush(&job->call->print, err);
}

static hf_status list_watch(list_job *job, hf_err *err)
{
    hf_status st;

    if (job->call->print.format == HF_CLI_JSON)
        job->call->print.format = HF_CLI_JSONL; /* a list without an end is no JSON text */
    job->looks[0] = hf_mem_new();
    job->looks[1] = hf_mem_new();
    st = job->looks[0] && job->looks[1] ? hf_cli_repeat(job->target, list_again, job, err)
                                        : hf_err_nomem(err, "a list");
    hf_mem_free(job->looks[0]);
    hf_mem_free(job->looks[1]);
    return st;
}

static hf_status list_print(list_job *job, hf_err *err)
{
    hf_value rows = NULL;
    hf_status st = list_once(job, job->call->mem, &rows, err);

    if (st || job->call->print.format != HF_CLI_JSON)
        return st;
    return hf_cli_print_value(job->call->print.out,
                              hf_json_(job->call->mem, "{'workflows': %p, 'workflow_count': %zu}",
                                       (const void *)rows, hf_len(rows)),
                              err);
}

hf_status hf_cli_ls(hf_cli_call *call, hf_err *err)
{
    list_job job = {.call = call, .limit = LIMIT};
    const char *limit = call->flags[HF_CLI_FLAG_LIMIT];
    bool wide = call->print.format == HF_CLI_WIDE || call->print.format == HF_CLI_CSV;
    hf_status st = hf_cli_rows_columns(call, wide ? wide_columns : list_columns, &job.columns, err);

    if (!st && limit && (!hf_slice_int(hf_slice_of(limit), &job.limit) || job.limit < 1))
        st = hf_err_set(err, HF_INVALID, "--limit takes a number from 1 on");
    if (!st)
        st = hf_cli_filters_read(call->mem, call->words, call->word_count, &job.filters,
                                 &job.bucket, err);
    if (!st)
        st = hf_cli_target_open(call, false, &job.target, err);
    if (!st)
        st = call->flags[HF_CLI_FLAG_WATCH] ? list_watch(&job, err) : list_print(&job, err);
    hf_cli_target_close(job.target);
    return st;
}
