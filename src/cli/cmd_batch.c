/* cmd_batch.c: the verb batch: one command for many workflows, carried out by the engine. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/filter.h"
#include "cli/noun.h"

enum { FILTERS_MAX = 32 };

static const hf_cli_column columns[] = {
    {"batch_id", 26, false}, {"status", 10, false},  {"command", 10, false}, {"total", 8, false},
    {"done", 8, false},      {"accepted", 8, false}, {"rejected", 0, false}, {NULL, 0, false}};

static const hf_cli_column list_columns[] = {
    {"batch_id", 26, false}, {"status", 10, false},    {"command", 10, false}, {"total", 8, false},
    {"done", 8, false},      {"created_at", 0, false}, {NULL, 0, false}};

/* --query "type=order status=running" as filters and bucket. */
static hf_status query_set(hf_cli_call *call, hf_value_list *body, hf_err *err)
{
    hf_slice rest = hf_slice_of(call->flags[HF_CLI_FLAG_QUERY]);
    const char *words[FILTERS_MAX];
    const char *bucket = NULL;
    hf_value filters = NULL;
    hf_slice word;
    size_t count = 0;
    hf_status st;

    while (hf_slice_split(&rest, ' ', &word)) {
        if (!word.len)
            continue;
        if (count == FILTERS_MAX)
            return hf_err_set(err, HF_INVALID, "--query takes at most %d filters", FILTERS_MAX);
        words[count] = hf_mem_text(call->mem, word);
        if (!words[count++])
            return hf_err_nomem(err, "a filter");
    }
    st = hf_cli_filters_read(call->mem, words, count, &filters, &bucket, err);
    if (st)
        return st;
    hf_value_set(body, HF_SLICE("filters"), filters);
    hf_cli_text_set(call, body, "bucket", bucket);
    return HF_OK;
}

static hf_status start_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    hf_value_list *body = hf_value_object(call->mem);
    hf_value_list *request = hf_value_object(call->mem);
    hf_value_list *ids = hf_value_array(call->mem);
    const char *query = call->flags[HF_CLI_FLAG_QUERY];
    int64_t rate = 0;
    hf_status st = hf_cli_count(call, HF_CLI_FLAG_RATE, 0, &rate, err);

    if (!st && !query == (used == call->word_count))
        st = hf_err_set(err, HF_INVALID, "batch start needs IDs or a --query, and not both");
    if (!st && query)
        st = query_set(call, body, err);
    if (st)
        return st;
    for (size_t i = used; i < call->word_count; i++)
        hf_value_append(ids, hf_value_string(call->mem, hf_slice_of(call->words[i])));
    if (!query)
        hf_value_set(body, HF_SLICE("workflow_ids"), hf_value_finish(ids));
    hf_cli_text_set(call, body, "command", call->words[1]);
    hf_cli_text_set(call, request, "reason", call->flags[HF_CLI_FLAG_REASON]);
    hf_value_set(body, HF_SLICE("request"), hf_value_finish(request));
    if (rate)
        hf_value_set(body, HF_SLICE("rate"), hf_value_int(call->mem, rate));
    if (call->flags[HF_CLI_FLAG_DRY_RUN])
        hf_value_set(body, HF_SLICE("dry_run"), hf_value_bool(true));
    *out_body = hf_value_finish(body);
    return *out_body ? HF_OK : hf_err_set(err, HF_INVALID, "an ID is not UTF-8 text");
}

/* A batch that is over and was not accepted by all is done in part. */
static hf_status batch_judged(hf_cli_call *call, hf_value batch, hf_value *out_shown, hf_err *err)
{
    (void)err;
    *out_shown = batch;
    if (strcmp(hf_str(batch, "status", ""), "completed") == 0 &&
        hf_int(batch, "rejected", 0) + hf_int(batch, "not_found", 0) + hf_int(batch, "failed", 0))
        call->exit = HF_CLI_EXIT_PARTLY;
    return HF_OK;
}

static hf_status limit_query(hf_cli_call *call, hf_buf *path, hf_err *err)
{
    (void)err;
    hf_cli_query_add(call, path, "limit", call->flags[HF_CLI_FLAG_LIMIT]);
    return HF_OK;
}

#define ONE "/api/batches/{1}"

static const hf_cli_action actions[] = {
    {"batch", "start", "COMMAND", "POST", "/api/batches", NULL, columns, .body = start_body,
     .question = "This is done to every workflow that is meant; --dry-run shows which."},
    {"batch", "ls", NULL, "GET", "/api/batches", "batches", list_columns, .query = limit_query},
    {"batch", "show", "ID", "GET", ONE, NULL, columns, .answer = batch_judged},
    {"batch", "pause", "ID", "POST", ONE "/pause", NULL, columns, .body = hf_cli_body_reason},
    {"batch", "resume", "ID", "POST", ONE "/resume", NULL, columns, .body = hf_cli_body_reason},
    {"batch", "abort", "ID", "POST", ONE "/abort", NULL, columns, .body = hf_cli_body_reason},
    {0}};

hf_status hf_cli_batch(hf_cli_call *call, hf_err *err)
{
    return hf_cli_noun_run(call, actions, err);
}
