/* app_replay.c: see app_replay.h. Opens no store; each verdict is out before the next bundle is
   read, because whoever sends them may wait for it. */
#include "cli/app_replay.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/bundle_stream.h"
#include "cli/print.h"
#include "holdfast/host.h"

static hf_status words_read(int count, char **words, const char **out_path, bool *out_json,
                            hf_err *err)
{
    *out_path = NULL;
    *out_json = false;
    for (int at = 0; at < count; at++) {
        const char *word = words[at];

        if (strcmp(word, "-o") == 0 && at + 1 < count && strcmp(words[at + 1], "json") == 0) {
            *out_json = true;
            at++;
        } else if (strcmp(word, "--json") == 0) {
            *out_json = true;
        } else if (word[0] == '-' && word[1]) {
            return hf_err_set(err, HF_INVALID, "unknown flag %s; replay knows -o json", word);
        } else if (*out_path) {
            return hf_err_set(err, HF_INVALID, "replay takes one file: %s is too much", word);
        } else {
            *out_path = word;
        }
    }
    if (!*out_path)
        *out_path = "-";
    return HF_OK;
}

static hf_status verdict_print(hf_value report, bool json, hf_err *err)
{
    if (json)
        return hf_cli_print_value(stdout, report, err);
    hf_cli_print_text(stdout, hf_str(report, "verdict", ""));
    (void)fputs("  ", stdout);
    hf_cli_print_text(stdout, hf_str(report, "instance_id", ""));
    if (hf_str(report, "sentence", NULL)) {
        (void)fputs("  ", stdout);
        hf_cli_print_text(stdout, hf_str(report, "sentence", ""));
    }
    (void)fputc('\n', stdout);
    return HF_OK;
}

hf_cli_exit hf_cli_app_replay(const hf_app *app, int count, char **words)
{
    hf_cli_exit code = HF_CLI_EXIT_OK;
    hf_bundle_stream *stream = NULL;
    hf_mem *mem = hf_mem_new();
    const char *path = NULL;
    hf_slice text = {0};
    hf_err err = {0};
    bool json = false;
    hf_status st = mem ? words_read(count, words, &path, &json, &err) : hf_err_nomem(&err, "words");

    if (!st)
        st = hf_bundle_stream_open(path, &stream, &err);
    while (!st) {
        hf_value report = NULL;
        const char *verdict;

        st = hf_bundle_stream_next(stream, &text, &err);
        if (st || !text.len)
            break;
        hf_mem_reset(mem);
        st = hf_replay_bundle(app, text.ptr, text.len, mem, &report, &err);
        if (!st)
            st = verdict_print(report, json, &err);
        if (!st && fflush(stdout) != 0)
            st = hf_err_set(&err, HF_IO, "cannot write");
        verdict = hf_str(report, "verdict", "");
        if (strcmp(verdict, "blocked") == 0)
            code = HF_CLI_EXIT_REPLAY;
        else if (strcmp(verdict, "ok") != 0 && code == HF_CLI_EXIT_OK)
            code = HF_CLI_EXIT_FAILED;
    }
    hf_bundle_stream_close(stream);
    hf_mem_free(mem);
    if (!st)
        return code;
    (void)fprintf(stderr, "error: %s\n", err.text);
    return hf_cli_exit_of(st);
}
