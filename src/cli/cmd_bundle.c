/* cmd_bundle.c: the verb bundle: what can be done with a history bundle without a store. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

enum { BUNDLE_BYTES_MAX = 64 << 20, PIECE_BYTES = 64 * 1024 };

static hf_status file_read(const char *path, hf_buf *text, hf_err *err)
{
    FILE *file = fopen(path, "rb");
    size_t taken = 1;
    hf_status st = HF_OK;

    if (!file)
        return hf_err_set(err, errno == ENOENT ? HF_NOTFOUND : HF_IO, "cannot open %s: %s", path,
                          strerror(errno));
    while (!st && taken) {
        char *room = hf_buf_reserve(text, PIECE_BYTES);

        taken = room ? fread(room, 1, PIECE_BYTES, file) : 0;
        if (room)
            hf_buf_advance(text, taken);
        else
            st = hf_err_nomem(err, "a bundle");
        if (!st && text->len > BUNDLE_BYTES_MAX)
            st = hf_err_set(err, HF_TOOBIG, "%s is bigger than any bundle", path);
    }
    if (!st && ferror(file))
        st = hf_err_set(err, HF_IO, "cannot read %s", path);
    (void)fclose(file);
    return st;
}

static hf_status report_print(hf_cli_call *call, hf_value report, hf_err *err)
{
    hf_value findings = hf_get(report, "findings");

    if (call->print.format == HF_CLI_JSON)
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

hf_status hf_cli_bundle(hf_cli_call *call, hf_err *err)
{
    const hf_bundle_keys keys = {.size = sizeof(keys),
                                 .key = call->flags[HF_CLI_FLAG_KEY],
                                 .public_key = call->flags[HF_CLI_FLAG_PUBLIC_KEY]};
    hf_value report = NULL;
    hf_buf text = {0};
    hf_status st = file_read(call->args[1], &text, err);

    if (!st)
        st = hf_bundle_verify(hf_buf_text(&text), text.len, &keys, call->mem, &report, err);
    if (!st)
        st = report_print(call, report, err);
    if (!st && strcmp(hf_str(report, "status", ""), "failed") == 0)
        call->exit = HF_CLI_EXIT_FAILED;
    hf_buf_fini(&text);
    return st;
}
