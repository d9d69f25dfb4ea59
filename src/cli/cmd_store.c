/* cmd_store.c: the verbs that make a store or a copy of one: schema-migrate and backup. */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

static bool backup_progress(void *ctx, int64_t done, int64_t total)
{
    return hf_cli_progress_step(ctx, done, total);
}

/* Migrations as they are named. */
typedef struct migrate_job {
    hf_cli_call *call;
    hf_value_list *list; /* {name} or, with --print, {name, sql} */
    int64_t count;
} migrate_job;

/* SQL goes out as it is, lines and all: it is this program's own text. */
static void migrate_show(void *ctx, const char *name, const char *sql)
{
    migrate_job *job = ctx;
    hf_cli_call *call = job->call;

    job->count++;
    if (call->flags[HF_CLI_FLAG_PRINT])
        hf_value_append(job->list, hf_json_(call->mem, "{'name': %s, 'sql': %s}", name, sql));
    else
        hf_value_append(job->list, hf_json_(call->mem, "{'name': %s}", name));
    if (call->flags[HF_CLI_FLAG_PRINT] && call->print.format == HF_CLI_TABLE)
        (void)fprintf(call->print.out, "-- %s\n%s\n", name, sql);
}

static hf_status migrate_result(hf_cli_call *call, hf_value list, int64_t count, hf_err *err)
{
    bool print_only = call->flags[HF_CLI_FLAG_PRINT] != NULL;

    if (!list)
        return hf_err_nomem(err, "the list of migrations");
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(
            call->print.out,
            hf_json_(call->mem, "{'store': %s, 'changed': %p, 'migrations': %p}", call->shown_store,
                     (void *)hf_value_bool(count > 0 && !print_only), (void *)list),
            err);
    if (call->print.format != HF_CLI_TABLE || print_only)
        return HF_OK;
    for (size_t i = 0; i < hf_len(list); i++)
        (void)fprintf(call->print.out, "applied %s\n", hf_str(hf_at(list, i), "name", ""));
    hf_cli_print_text(call->print.out, call->shown_store);
    (void)fprintf(call->print.out, " is at the newest version\n");
    return HF_OK;
}

hf_status hf_cli_migrate(hf_cli_call *call, hf_err *err)
{
    hf_tool_options options = {.size = sizeof(options)};
    migrate_job job = {.call = call, .list = hf_value_array(call->mem)};
    hf_status st;

    options.schema = call->schema;
    st = hf_tool_migrate(call->store, &options, call->flags[HF_CLI_FLAG_PRINT] != NULL,
                         migrate_show, &job, err);
    return st ? st : migrate_result(call, hf_value_finish(job.list), job.count, err);
}

hf_status hf_cli_backup(hf_cli_call *call, hf_err *err)
{
    const char *path = call->args[1];
    const char *shown_path = hf_cli_utf8(call->mem, path);
    hf_cli_progress progress;
    struct stat file = {0};
    hf_status st;

    hf_cli_progress_begin(&progress, &call->print, call->command->name, "pages");
    st = hf_tool_backup(call->store, path, backup_progress, &progress, err);
    hf_cli_progress_end(&progress);
    if (st)
        return st;
    if (stat(path, &file) != 0)
        return hf_err_set(err, HF_IO, "the copy %s cannot be found", path);
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'store': %s, 'file': %s, 'bytes': %lld}",
                                           call->shown_store, shown_path, (long long)file.st_size),
                                  err);
    if (call->print.format == HF_CLI_TABLE) {
        hf_cli_print_text(call->print.out, path);
        (void)fprintf(call->print.out, ": %" PRId64 " bytes\n", (int64_t)file.st_size);
    }
    return HF_OK;
}
