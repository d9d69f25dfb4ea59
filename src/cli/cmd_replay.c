/* cmd_replay.c: the gate before a deployment: would this build of a program still replay the runs
   of a store. The program is run beside; nothing of it is loaded, and the store is only read. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/bundle_stream.h"
#include "cli/replayer.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

static const hf_cli_column verdict_columns[] = {
    {"verdict", 12, true}, {"instance_id", 24, false}, {"workflow_type", 16, false},
    {"step", 5, false},    {"at", 20, false},          {"sentence", 0, false},
    {NULL, 0, false}};

/* Bundles on their way through the program. */
typedef struct gate {
    hf_cli_call *call;
    hf_replayer *replayer;
    hf_mem *mem;         /* of one bundle */
    hf_value_list *list; /* json: those that are not ok */
    int64_t ok, blocked, unknown, unreadable;
    hf_status status;
    hf_err err;
} gate;

static hf_status verdict_count(gate *g, hf_value report, hf_err *err)
{
    const char *verdict = hf_str(report, "verdict", "");

    if (strcmp(verdict, "ok") == 0) {
        g->ok++;
        return HF_OK;
    }
    if (strcmp(verdict, "unknown_type") == 0) {
        g->unknown++;
        return HF_OK;
    }
    if (strcmp(verdict, "blocked") == 0)
        g->blocked++;
    else
        g->unreadable++;
    if (g->call->print.format != HF_CLI_JSON)
        return hf_cli_print_row(&g->call->print, verdict_columns, report, err);
    hf_value_append(g->list, hf_value_copy(g->call->mem, report));
    return HF_OK;
}

static bool bundle_found(void *ctx, const char *text, size_t len)
{
    gate *g = ctx;
    hf_value report = NULL;

    hf_mem_reset(g->mem);
    g->status = hf_replayer_ask(g->replayer, hf_slice_from(text, len), g->mem, &report, &g->err);
    if (!g->status)
        g->status = verdict_count(g, report, &g->err);
    return !g->status;
}

/* A history that the store has, and nobody can read. */
static void unreadable_found(void *ctx, hf_value run, const hf_err *why)
{
    gate *g = ctx;
    hf_value report = hf_value_merge(
        g->call->mem, run,
        hf_json_(g->call->mem,
                 "{'events': null, 'verdict': 'unreadable', 'reason': null, 'step': null, "
                 "'at': null, 'sentence': %s}",
                 why->text));

    if (!g->status)
        g->status = report ? verdict_count(g, report, &g->err) : hf_err_nomem(&g->err, "a report");
}

static hf_status gate_open(gate *g, hf_cli_call *call, hf_err *err)
{
    const char *program = call->flags[HF_CLI_FLAG_APP];

    *g = (gate){.call = call, .list = hf_value_array(call->mem), .mem = hf_mem_new()};
    if (!g->mem)
        return hf_err_nomem(err, "a replay");
    if (!program)
        return hf_err_set(err, HF_INVALID, "%s needs --app PROGRAM: the build that is to be tried",
                          call->command->name);
    return hf_replayer_open(program, &g->replayer, err);
}

static void gate_close(gate *g)
{
    hf_replayer_close(g->replayer);
    hf_mem_free(g->mem);
}

static hf_status gate_result(gate *g, hf_err *err)
{
    hf_cli_call *call = g->call;
    int64_t all = g->ok + g->blocked + g->unknown + g->unreadable;
    hf_value report = hf_json_(call->mem,
                               "{'program': %s, 'replayed': %lld, 'ok': %lld, 'blocked': %lld, "
                               "'unknown_type': %lld, 'unreadable': %lld}",
                               hf_cli_utf8(call->mem, call->flags[HF_CLI_FLAG_APP]), (long long)all,
                               (long long)g->ok, (long long)g->blocked, (long long)g->unknown,
                               (long long)g->unreadable);

    call->exit = g->blocked      ? HF_CLI_EXIT_REPLAY
                 : g->unreadable ? HF_CLI_EXIT_FAILED
                                 : HF_CLI_EXIT_OK;
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out,
                                  hf_json_(call->mem, "{'report': %p, 'runs': %p}",
                                           (const void *)report,
                                           (const void *)hf_value_finish(g->list)),
                                  err);
    if (call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, report, err);
    if (call->print.format != HF_CLI_TABLE)
        return HF_OK;
    (void)fprintf(call->print.out,
                  "%lld replayed: %lld ok, %lld would block, %lld of types the program does not "
                  "have, %lld unreadable\n",
                  (long long)all, (long long)g->ok, (long long)g->blocked, (long long)g->unknown,
                  (long long)g->unreadable);
    return HF_OK;
}

/* --sample BUCKET:COUNT, --type and --blocked as the filters of a list. */
static hf_status filters_make(hf_cli_call *call, hf_value *out_filters, int64_t *out_max,
                              hf_err *err)
{
    hf_value_list *object = hf_value_object(call->mem);
    const char *sample = call->flags[HF_CLI_FLAG_SAMPLE];
    const char *type = call->flags[HF_CLI_FLAG_TYPE];
    hf_slice rest = hf_slice_of(sample ? sample : "running:500");
    hf_slice bucket = {0};

    if (!hf_slice_split(&rest, ':', &bucket) || !hf_slice_int(rest, out_max) || *out_max < 1 ||
        !hf_cli_choice("running completed failed", bucket))
        return hf_err_set(err, HF_INVALID,
                          "--sample is BUCKET:COUNT, where the bucket is running, completed or "
                          "failed: running:500");
    if (call->flags[HF_CLI_FLAG_BLOCKED])
        hf_value_set(object, HF_SLICE("liveness_state"),
                     hf_value_string(call->mem, HF_SLICE("workflow_replay_blocked")));
    else if (sample || !type)
        hf_value_set(object, HF_SLICE("status_bucket"), hf_value_string(call->mem, bucket));
    if (type)
        hf_value_set(object, HF_SLICE("workflow_type"),
                     hf_value_string(call->mem, hf_slice_of(type)));
    *out_filters = hf_value_finish(object);
    return *out_filters ? HF_OK : hf_err_nomem(err, "filters");
}

hf_status hf_cli_replay(hf_cli_call *call, hf_err *err)
{
    hf_bundles_options options = {.size = sizeof(options),
                                  .schema = call->schema,
                                  .namespace_ = call->flags[HF_CLI_FLAG_NAMESPACE],
                                  .unreadable = unreadable_found};
    gate g;
    hf_status st = gate_open(&g, call, err);

    if (!st)
        st = filters_make(call, &options.filters, &options.max, err);
    if (!st) {
        st = hf_tool_bundles(call->store, &options, bundle_found, &g, NULL, err);
        if (st == HF_NOTFOUND)
            hf_cli_target_missing(call);
    }
    if (!st && g.status)
        st = hf_err_set(err, g.status, "%s", g.err.text);
    if (!st)
        st = gate_result(&g, err);
    gate_close(&g);
    return st;
}

hf_status hf_cli_bundle_replay(hf_cli_call *call, const char *path, hf_err *err)
{
    hf_bundle_stream *stream = NULL;
    hf_slice text = {0};
    gate g;
    hf_status st = gate_open(&g, call, err);

    if (!st)
        st = hf_bundle_stream_open(path, &stream, err);
    if (!st)
        st = hf_bundle_stream_only(stream, &text, err);
    while (!st && text.len) {
        if (!bundle_found(&g, text.ptr, text.len))
            st = hf_err_set(err, g.status, "%s", g.err.text);
        else
            st = hf_bundle_stream_next(stream, &text, err);
    }
    if (!st)
        st = gate_result(&g, err);
    hf_bundle_stream_close(stream);
    gate_close(&g);
    return st;
}
