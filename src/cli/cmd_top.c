/* cmd_top.c: the verb top: the numbers that operators look at, once or again and again. */
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/follow.h"
#include "cli/target.h"

typedef struct top_job {
    hf_cli_call *call;
    hf_cli_target *target;
    int lines; /* of the picture before */
    bool redraw;
} top_job;

/* Numbers and words in lines under the name of their group; lists are left to json. */
static int group_print(hf_cli_call *call, hf_slice name, hf_value group)
{
    FILE *out = call->print.out;
    hf_slice key;
    hf_value value;
    int lines = 0;

    for (size_t i = 0; hf_value_member(group, i, &key, &value); i++) {
        hf_value_kind kind = hf_value_kind_of(value);

        if (kind == HF_VALUE_OBJECT || kind == HF_VALUE_ARRAY || kind == HF_VALUE_NULL)
            continue;
        (void)fprintf(out, "%-16.*s %-40.*s ", (int)name.len, name.ptr, (int)key.len, key.ptr);
        hf_cli_print_text(out, kind == HF_VALUE_STRING ? hf_str(value, "", "")
                                                       : hf_text(call->mem, value));
        (void)fputc('\n', out);
        lines++;
    }
    return lines;
}

static int groups_print(hf_cli_call *call, hf_value metrics)
{
    hf_slice key;
    hf_value value;
    int lines = group_print(call, HF_SLICE(""), metrics);

    for (size_t i = 0; hf_value_member(metrics, i, &key, &value); i++)
        if (hf_value_kind_of(value) == HF_VALUE_OBJECT)
            lines += group_print(call, key, value);
    return lines;
}

static hf_status top_look(void *ctx, hf_err *err)
{
    top_job *job = ctx;
    hf_cli_call *call = job->call;
    hf_value answer = NULL;
    hf_value metrics;
    hf_status st = hf_cli_target_ask(job->target, "GET", "/api/system/operator-metrics", NULL,
                                     call->mem, &answer, err);

    if (st)
        return st;
    metrics = hf_get(answer, "operator_metrics") ? hf_get(answer, "operator_metrics") : answer;
    if (call->print.format == HF_CLI_JSON || call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, metrics, err);
    if (call->print.format == HF_CLI_NONE)
        return HF_OK;
    if (job->redraw && job->lines)
        (void)fprintf(call->print.out, "\033[%dA\033[J", job->lines);
    job->lines = groups_print(call, metrics);
    return hf_cli_print_flush(&call->print, err);
}

hf_status hf_cli_top(hf_cli_call *call, hf_err *err)
{
    top_job job = {.call = call, .redraw = isatty(fileno(call->print.out)) == 1};
    hf_status st = hf_cli_target_serve(call, &job.target, err);

    if (!st && call->flags[HF_CLI_FLAG_WATCH] && call->print.format == HF_CLI_JSON)
        call->print.format = HF_CLI_JSONL; /* what has no end is no JSON text */
    if (!st)
        st = call->flags[HF_CLI_FLAG_WATCH] ? hf_cli_repeat(NULL, top_look, &job, err)
                                            : top_look(&job, err);
    hf_cli_target_close(job.target);
    return st;
}
