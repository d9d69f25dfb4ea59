/* cmd_bundle.c: the verb bundle: runs that leave a store as files, and what can be done with those.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/bundle_stream.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"

/* ---- verify */

static hf_status report_print(hf_cli_call *call, hf_value report, hf_err *err)
{
    hf_value findings = hf_get(report, "findings");

    if (call->print.format == HF_CLI_JSON || call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, report, err);
    if (call->print.format != HF_CLI_TABLE)
        return HF_OK;
    for (size_t i = 0; i < hf_len(findings); i++) {
        hf_value finding = hf_at(findings, i);

        (void)fprintf(call->print.out, "%s  ", hf_str(finding, "severity", ""));
        hf_cli_print_text(call->print.out, hf_str(finding, "rule", ""));
        (void)fputs("  ", call->print.out);
        hf_cli_print_text(call->print.out, hf_str(finding, "path", ""));
        (void)fputs("  ", call->print.out);
        hf_cli_print_text(call->print.out, hf_str(finding, "message", ""));
        (void)fputc('\n', call->print.out);
    }
    (void)fprintf(call->print.out, "%s: ", hf_str(report, "status", ""));
    hf_cli_print_text(call->print.out, hf_str(report, "run_id", "no run"));
    (void)fprintf(call->print.out, ", %lld events\n", (long long)hf_int(report, "events", 0));
    return HF_OK;
}

/* Where the next bundle begins: a brace on a new line behind one that closed, which no JSON text
   has within. 0: there is none, or the rest cannot be read, which the verifier says. */
static int64_t part_next(int fd, int64_t from)
{
    char room[8192];
    char last = '\0';
    bool line = false;
    ssize_t got;

    while ((got = pread(fd, room, sizeof(room), (off_t)from)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            char c = room[i];

            if (c == '{' && last == '}' && line)
                return from + i;
            if (c == '\n')
                line = true;
            else if (c != ' ' && c != '\r' && c != '\t') {
                line = false;
                last = c;
            }
        }
        from += got;
    }
    return 0;
}

/* Every bundle of the file, one after the other. */
static hf_status parts_verify(hf_cli_call *call, int fd, hf_err *err)
{
    const hf_bundle_keys keys = {.size = sizeof(keys),
                                 .key = call->flags[HF_CLI_FLAG_KEY],
                                 .public_key = call->flags[HF_CLI_FLAG_PUBLIC_KEY]};
    int64_t from = 0;
    hf_status st;

    do {
        int64_t next = part_next(fd, from);
        hf_mem *mem = hf_mem_new();
        hf_value report = NULL;

        st = mem ? hf_bundle_verify_fd(fd, from, next, &keys, mem, &report, err)
                 : hf_err_nomem(err, "a report");
        if (!st)
            st = report_print(call, report, err);
        if (!st && strcmp(hf_str(report, "status", ""), "failed") == 0)
            call->exit = HF_CLI_EXIT_FAILED;
        hf_mem_free(mem);
        from = next;
    } while (!st && from);
    return st;
}

static hf_status bundle_verify(hf_cli_call *call, hf_err *err)
{
    hf_bundle_stream *stream = NULL;
    int fd = -1;
    hf_status st = hf_bundle_stream_open(call->args[1], &stream, err);

    if (!st)
        st = hf_bundle_stream_file(stream, &fd, err);
    if (!st)
        st = parts_verify(call, fd, err);
    hf_bundle_stream_close(stream);
    return st;
}

/* ---- diff */

/* The text of one side: a file, or with --store a run. */
static bool side_found(void *ctx, const char *text, size_t len)
{
    hf_buf_add(ctx, text, len);
    return true;
}

static hf_status side_read(hf_cli_call *call, const char *name, hf_buf *text, hf_err *err)
{
    const char *const ids[] = {name, NULL};
    const hf_bundles_options options = {.size = sizeof(options),
                                        .schema = call->schema,
                                        .namespace_ = call->flags[HF_CLI_FLAG_NAMESPACE],
                                        .ids = ids};
    hf_bundle_stream *stream = NULL;
    hf_slice only = {0};
    hf_status st;

    if (call->store) {
        st = hf_tool_bundles(call->store, &options, side_found, text, NULL, err);
        if (st == HF_NOTFOUND)
            hf_cli_target_missing(call);
        return st;
    }
    st = hf_bundle_stream_open(name, &stream, err);
    if (!st)
        st = hf_bundle_stream_only(stream, &only, err);
    if (!st)
        hf_buf_add_slice(text, only);
    hf_bundle_stream_close(stream);
    return st;
}

static void step_side_print(FILE *out, hf_value side)
{
    hf_cli_print_text(out, hf_str(side, "type", "nothing"));
    if (hf_str(side, "name", NULL)) {
        (void)fputc(' ', out);
        hf_cli_print_text(out, hf_str(side, "name", ""));
    }
    if (hf_str(side, "outcome", NULL))
        (void)fprintf(out, ", %s", hf_str(side, "outcome", ""));
}

static hf_status diff_print(hf_cli_call *call, hf_value diff, hf_err *err)
{
    FILE *out = call->print.out;
    hf_value steps = hf_get(diff, "steps");

    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(out, diff, err);
    if (call->print.format != HF_CLI_TABLE)
        return HF_OK;
    for (size_t i = 0; i < hf_len(steps); i++) {
        hf_value step = hf_at(steps, i);

        if (strcmp(hf_str(step, "state", ""), "same") == 0)
            continue;
        (void)fprintf(out, "step %lld  %s  ", (long long)hf_int(step, "step", 0),
                      hf_str(step, "state", ""));
        step_side_print(out, hf_get(step, "a"));
        (void)fputs("  |  ", out);
        step_side_print(out, hf_get(step, "b"));
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "%zu steps, %lld differ\n", hf_len(steps),
                  (long long)hf_int(diff, "different", 0));
    return HF_OK;
}

static hf_status bundle_diff(hf_cli_call *call, hf_err *err)
{
    hf_buf a = {0};
    hf_buf b = {0};
    hf_value diff = NULL;
    hf_status st = call->word_count == 3
                       ? HF_OK
                       : hf_err_set(err, HF_INVALID, "bundle diff needs two bundles or two runs");

    if (!st && call->flags[HF_CLI_FLAG_STORE])
        st = hf_cli_store_choose(call, err);
    if (!st)
        st = side_read(call, call->words[1], &a, err);
    if (!st)
        st = side_read(call, call->words[2], &b, err);
    if (!st && !(hf_buf_ok(&a) && hf_buf_ok(&b)))
        st = hf_err_nomem(err, "two bundles");
    if (!st)
        st = hf_bundle_diff(hf_buf_text(&a), a.len, hf_buf_text(&b), b.len, call->mem, &diff, err);
    if (!st)
        st = diff_print(call, diff, err);
    if (!st && !hf_bool(diff, "equal", false))
        call->exit = HF_CLI_EXIT_FAILED;
    hf_buf_fini(&a);
    hf_buf_fini(&b);
    return st;
}

/* ---- export */

/* The policy "payloads": that there was a value is told, and nothing of it. */
static hf_value payload_hide(void *arg, hf_mem *mem, hf_value context, hf_value value)
{
    (void)arg;
    (void)context;
    return value ? hf_json_(mem, "{'redacted': true}") : NULL;
}

/* A file that cannot be had says nothing of the store. */
static hf_status file_fail(hf_cli_call *call, const char *doing, const char *path, hf_err *err)
{
    const int number = errno;
    hf_status st = HF_IO;

    if (number == ENOENT || number == ENOTDIR)
        st = HF_NOTFOUND;
    else if (number == EEXIST)
        st = HF_EXISTS;
    else if (number == EACCES || number == EPERM)
        st = HF_DENIED;
    call->next = "holdfast help {verb}";
    return hf_err_set(err, st, "cannot %s %s: %s", doing, path, strerror(number));
}

static hf_status key_read(hf_cli_call *call, const char *path, const char **out_key, hf_err *err)
{
    FILE *file = fopen(path, "rb");
    char text[128] = "";
    size_t len;

    if (!file)
        return file_fail(call, "open", path, err);
    len = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    *out_key = hf_mem_text(call->mem, hf_slice_trim(hf_slice_from(text, len)));
    return *out_key ? HF_OK : hf_err_nomem(err, "a key");
}

typedef struct export_job {
    FILE *out;
    bool failed;
} export_job;

static bool export_found(void *ctx, const char *text, size_t len)
{
    export_job *job = ctx;

    job->failed = fwrite(text, 1, len, job->out) != len || fputc('\n', job->out) == EOF;
    return !job->failed;
}

/* Into a file that is not there yet, or to standard output. */
static hf_status export_write(hf_cli_call *call, const hf_bundles_options *options, hf_err *err)
{
    const char *path = call->flags[HF_CLI_FLAG_OUT];
    export_job job = {.out = path ? fopen(path, "wbx") : call->print.out};
    int64_t runs = 0;
    hf_status st;

    if (!job.out)
        return file_fail(call, "make", path, err);
    st = hf_tool_bundles(call->store, options, export_found, &job, &runs, err);
    if (st == HF_NOTFOUND)
        hf_cli_target_missing(call);
    if (path && fclose(job.out) != 0)
        job.failed = true;
    if (!st && job.failed)
        st = hf_err_set(err, path ? HF_IO : HF_CANCELLED, "cannot write %s",
                        path ? path : "the bundles");
    if (path && st)
        (void)remove(path);
    if (!st && path)
        (void)fprintf(call->print.err, "%lld run%s in %s\n", (long long)runs, runs == 1 ? "" : "s",
                      path);
    return st;
}

static hf_status bundle_export(hf_cli_call *call, hf_err *err)
{
    const char **ids = hf_mem_array(call->mem, call->word_count, sizeof(*ids));
    const char *policy = call->flags[HF_CLI_FLAG_REDACT];
    hf_bundles_options options = {.size = sizeof(options),
                                  .namespace_ = call->flags[HF_CLI_FLAG_NAMESPACE],
                                  .ids = ids,
                                  .key = call->flags[HF_CLI_FLAG_KEY],
                                  .redact = policy ? payload_hide : NULL,
                                  .redact_policy = policy};
    hf_status st = ids ? hf_cli_store_choose(call, err) : hf_err_nomem(err, "ids");

    if (st)
        return st;
    for (size_t i = 1; i < call->word_count; i++)
        ids[i - 1] = call->words[i];
    options.schema = call->schema;
    if (call->flags[HF_CLI_FLAG_SIGN])
        st = key_read(call, call->flags[HF_CLI_FLAG_SIGN], &options.ed25519_key, err);
    return st ? st : export_write(call, &options, err);
}

/* ---- import */

static const hf_app import_app = {.name = "holdfast"};

static hf_status import_print(hf_cli_call *call, hf_value answer, hf_err *err)
{
    static const hf_cli_column columns[] = {
        {"run_id", 28, false}, {"instance_id", 24, false}, {"workflow_type", 16, false},
        {"events", 8, false},  {"imported", 0, false},     {NULL, 0, false}};

    return call->print.format == HF_CLI_JSON ? hf_cli_print_value(call->print.out, answer, err)
                                             : hf_cli_print_row(&call->print, columns, answer, err);
}

static hf_status import_all(hf_cli_call *call, hf_engine *engine, hf_bundle_stream *stream,
                            hf_err *err)
{
    hf_import_opts o = {.size_ = sizeof(o),
                        .space = call->flags[HF_CLI_FLAG_NAMESPACE],
                        .key = call->flags[HF_CLI_FLAG_KEY],
                        .public_key = call->flags[HF_CLI_FLAG_PUBLIC_KEY]};
    hf_slice text = {0};
    hf_status st = hf_bundle_stream_only(stream, &text, err);

    while (!st && text.len) {
        hf_value answer = NULL;

        o.text = text.ptr;
        o.len = text.len;
        st = hf_import_with(engine, call->mem, &answer, &o);
        if (st == HF_NOTFOUND)
            call->next = "holdfast namespace ls {here}";
        if (st)
            return hf_err_set(err, st, "%s", hf_errmsg(engine));
        st = import_print(call, answer, err);
        if (!st)
            st = hf_bundle_stream_next(stream, &text, err);
    }
    return st;
}

static hf_status bundle_import(hf_cli_call *call, hf_err *err)
{
    hf_bundle_stream *stream = NULL;
    hf_engine *engine = NULL;
    hf_status st = hf_cli_store_choose(call, err);

    if (!st)
        st = hf_bundle_stream_open(call->args[1], &stream, err);
    if (st == HF_NOTFOUND)
        call->next = "holdfast help {verb}"; /* a file that is missing is no store */
    if (st)
        return st;
    st = hf_open(call->store, &import_app, &engine);
    if (st)
        (void)hf_err_set(err, st, "%s", hf_errmsg(engine));
    else
        st = import_all(call, engine, stream, err);
    hf_close(engine);
    hf_bundle_stream_close(stream);
    return st;
}

hf_status hf_cli_bundle(hf_cli_call *call, hf_err *err)
{
    const char *action = call->args[0];

    if (strcmp(action, "export") == 0)
        return bundle_export(call, err);
    if (strcmp(action, "diff") == 0)
        return bundle_diff(call, err);
    if (call->word_count != 2)
        return hf_err_set(err, HF_INVALID, "bundle %s takes one FILE", action);
    if (strcmp(action, "import") == 0)
        return bundle_import(call, err);
    return strcmp(action, "replay") == 0 ? hf_cli_bundle_replay(call, call->args[1], err)
                                         : bundle_verify(call, err);
}
