/* cmd_survey.c: the verbs view, failure and type: what is known of many runs at once. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/filter.h"
#include "cli/noun.h"

static const hf_cli_column view_columns[] = {{"id", 28, false},
                                             {"name", 24, false},
                                             {"bucket", 10, false},
                                             {"filters", 0, false},
                                             {NULL, 0, false}};
static const hf_cli_column failure_columns[] = {{"fingerprint", 18, false},
                                                {"count", 8, false},
                                                {"failure_type", 24, false},
                                                {"message", 0, false},
                                                {NULL, 0, false}};
static const hf_cli_column type_columns[] = {
    {"workflow_type", 32, false}, {"runs", 0, false}, {NULL, 0, false}};

/* NAME and the filters behind it, as ls takes them. */
static hf_status view_body(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    const char *bucket = NULL;
    hf_value filters = NULL;
    hf_status st = hf_cli_filters_read(call->mem, call->words + used, call->word_count - used,
                                       &filters, &bucket, err);

    if (st)
        return st;
    *out_body = hf_json_(call->mem, "{'name': %s, 'bucket': %s, 'filters': %p, 'shared': true}",
                         call->words[1], bucket ? bucket : "running", (const void *)filters);
    return *out_body ? HF_OK : hf_err_nomem(err, "a view");
}

static hf_status limit_query(hf_cli_call *call, hf_buf *path, hf_err *err)
{
    (void)err;
    hf_cli_query_add(call, path, "limit", call->flags[HF_CLI_FLAG_LIMIT]);
    return HF_OK;
}

/* The one that the second word names, of a list. */
static hf_status pick(hf_cli_call *call, hf_value rows, const char *field, hf_value *out_shown,
                      hf_err *err)
{
    for (size_t i = 0; i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), field, ""), call->words[1]) == 0) {
            *out_shown = hf_at(rows, i);
            return HF_OK;
        }
    return hf_err_set(err, HF_NOTFOUND, "there is no %s %s", call->command->name, call->words[1]);
}

static hf_status failure_pick(hf_cli_call *call, hf_value answer, hf_value *out_shown, hf_err *err)
{
    return pick(call, hf_get(answer, "groups"), "fingerprint", out_shown, err);
}

/* Counted values under the names of a type. */
static hf_status types_shown(hf_cli_call *call, hf_value answer, hf_value *out_shown, hf_err *err)
{
    hf_value counted = hf_get(answer, "facets.workflow_type.values");
    hf_value_list *types = hf_value_array(call->mem);

    for (size_t i = 0; i < hf_len(counted); i++)
        hf_value_append(types, hf_json_(call->mem, "{'workflow_type': %p, 'runs': %p}",
                                        (const void *)hf_get(hf_at(counted, i), "value"),
                                        (const void *)hf_get(hf_at(counted, i), "n")));
    *out_shown =
        hf_json_(call->mem, "{'workflow_types': %p}", (const void *)hf_value_finish(types));
    return *out_shown ? HF_OK : hf_err_nomem(err, "types");
}

static hf_status type_pick(hf_cli_call *call, hf_value answer, hf_value *out_shown, hf_err *err)
{
    hf_value types = NULL;
    hf_status st = types_shown(call, answer, &types, err);

    return st ? st : pick(call, hf_get(types, "workflow_types"), "workflow_type", out_shown, err);
}

#define FAILURES "/console/api/failures"
#define TYPES    "/api/workflows?page_size=1&facets=workflow_type"

static const hf_cli_action actions[] = {
    {"view", "ls", NULL, "GET", "/api/views", "views", .columns = view_columns},
    {"view", "save", "NAME", "POST", "/api/views", NULL, view_columns, .body = view_body},
    {"view", "delete", "ID", "DELETE", "/api/views/{1}", NULL, .columns = view_columns},
    {"failure", "ls", NULL, "GET", FAILURES, "groups", failure_columns, .query = limit_query},
    {"failure", "show", "FINGERPRINT", "GET", FAILURES "?limit=100", NULL, failure_columns,
     .answer = failure_pick},
    {"type", "ls", NULL, "GET", TYPES, "workflow_types", type_columns, .answer = types_shown},
    {"type", "show", "TYPE", "GET", TYPES, NULL, type_columns, .answer = type_pick},
    {0}};

hf_status hf_cli_survey(hf_cli_call *call, hf_err *err)
{
    return hf_cli_noun_run(call, actions, err);
}
