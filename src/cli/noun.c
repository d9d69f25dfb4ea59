/* noun.c: see noun.h. */
#include "cli/noun.h"

#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/follow.h"
#include "cli/input.h"
#include "cli/known.h"
#include "cli/rows.h"
#include "client/client.h"

enum { ROWS = 50 };

/* One action on its way. */
typedef struct noun_job {
    hf_cli_call *call;
    const hf_cli_action *action;
    hf_cli_target *target;
    const char *path;
    hf_value body;
    int64_t limit;
} noun_job;

void hf_cli_text_set(hf_cli_call *call, hf_value_list *object, const char *name, const char *text)
{
    if (text)
        hf_value_set(object, hf_slice_of(name), hf_value_string(call->mem, hf_slice_of(text)));
}

hf_status hf_cli_count(const hf_cli_call *call, hf_cli_flag_id flag, int64_t otherwise,
                       int64_t *out_count, hf_err *err)
{
    const char *text = call->flags[flag];

    *out_count = otherwise;
    if (!text || (hf_slice_int(hf_slice_of(text), out_count) && *out_count > 0))
        return HF_OK;
    return hf_err_set(err, HF_INVALID, "--%s takes a number from 1 on", hf_cli_flag_at(flag)->name);
}

hf_status hf_cli_body_pairs(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    hf_status st = hf_cli_input(call, used, out_body, err);

    if (!st && !*out_body)
        *out_body = hf_json_(call->mem, "{}");
    if (!st && hf_value_kind_of(*out_body) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "pairs name=value or a JSON object are needed");
    return st;
}

hf_status hf_cli_body_reason(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err)
{
    hf_value_list *body = hf_value_object(call->mem);

    (void)used;
    hf_cli_text_set(call, body, "reason", call->flags[HF_CLI_FLAG_REASON]);
    *out_body = hf_value_finish(body);
    return *out_body ? HF_OK : hf_err_nomem(err, "a request");
}

void hf_cli_query_add(hf_cli_call *call, hf_buf *path, const char *name, const char *value)
{
    const char *pair = value ? hf_client_path(call->mem, "%s=%s", name, value) : (const char *)NULL;

    if (!value)
        return;
    hf_buf_add_byte(path, strchr(hf_buf_text(path), '?') ? '&' : '?');
    hf_buf_add_text(path, pair ? pair : "");
    path->failed = path->failed || !pair;
}

/* How many words it needs; they must be there. */
static hf_status words_check(const noun_job *job, size_t *out_used, hf_err *err)
{
    const hf_cli_call *call = job->call;
    hf_slice rest = hf_slice_of(job->action->needs);
    hf_slice name;

    *out_used = 1;
    while (rest.len && hf_slice_split(&rest, ' ', &name))
        if (++*out_used > call->word_count)
            return hf_err_set(err, HF_INVALID, "%s %s needs a %.*s", call->command->name,
                              job->action->name, (int)name.len, name.ptr);
    if (call->word_count > *out_used && !job->action->body)
        return hf_err_set(err, HF_INVALID, "%s %s does not take \"%s\"", call->command->name,
                          job->action->name, call->words[*out_used]);
    return HF_OK;
}

static hf_status path_make(noun_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    const char *queue = call->flags[HF_CLI_FLAG_QUEUE];
    hf_buf path = {0};
    hf_status st = HF_OK;

    for (const char *at = job->action->path; *at; at++) {
        const char *word = NULL;

        if (*at != '{') {
            hf_buf_add_byte(&path, (uint8_t)*at);
            continue;
        }
        word = at[1] == 'q' ? (queue ? queue : "default") : call->words[at[1] - '0'];
        word = hf_client_path(call->mem, "%s", word);
        hf_buf_add_text(&path, word ? word : "");
        path.failed = path.failed || !word;
        at = strchr(at, '}');
    }
    if (job->action->query)
        st = job->action->query(call, &path, err);
    if (!st && hf_buf_ok(&path))
        job->path = hf_mem_text(call->mem, hf_buf_slice(&path));
    hf_buf_fini(&path);
    return st ? st : job->path ? HF_OK : hf_err_nomem(err, "a request");
}

/* Page after page, up to the limit. */
static hf_status list_get(noun_job *job, hf_value *out_rows, hf_err *err)
{
    hf_cli_call *call = job->call;
    hf_value_list *rows = hf_value_array(call->mem);
    const char *token = NULL;
    int64_t left = job->limit;
    hf_status st;

    do {
        hf_buf path = {0};
        hf_value page = NULL;
        hf_value items;

        hf_buf_add_text(&path, job->path);
        hf_cli_query_add(call, &path, "next_page_token", token);
        st =
            hf_cli_target_ask(job->target, job->action->method,
                              hf_buf_ok(&path) ? hf_mem_text(call->mem, hf_buf_slice(&path)) : NULL,
                              job->body, call->mem, &page, err);
        hf_buf_fini(&path);
        if (!st && job->action->answer)
            st = job->action->answer(call, page, &page, err);
        items = hf_get(page, job->action->list);
        for (size_t i = 0; !st && i < hf_len(items) && left > 0; i++, left--)
            hf_value_append(rows, hf_at(items, i));
        token = hf_str(page, "next_page_token", NULL);
    } while (!st && token && left > 0);
    *out_rows = hf_value_finish(rows);
    return st ? st : *out_rows ? HF_OK : hf_err_nomem(err, "a list");
}

static hf_status action_do(void *ctx, hf_err *err)
{
    noun_job *job = ctx;
    hf_cli_call *call = job->call;
    hf_value answer = NULL;
    hf_status st;

    if (job->action->list) {
        st = list_get(job, &answer, err);
        return st ? st
                  : hf_cli_rows_print(call, job->action->list, job->action->columns, answer, err);
    }
    st = hf_cli_target_ask(job->target, job->action->method, job->path, job->body, call->mem,
                           &answer, err);
    if (!st && job->action->answer)
        st = job->action->answer(call, answer, &answer, err);
    return st || !answer ? st : hf_cli_thing_print(call, job->action->columns, answer, err);
}

/* Looks again and again; what is printed then is a stream. */
static hf_status action_watch(noun_job *job, hf_err *err)
{
    if (job->call->print.format == HF_CLI_JSON)
        job->call->print.format = HF_CLI_JSONL;
    return hf_cli_repeat(NULL, action_do, job, err);
}

static hf_status action_find(noun_job *job, const hf_cli_action *actions, hf_err *err)
{
    const hf_cli_call *call = job->call;

    for (; actions->noun; actions++)
        if (strcmp(actions->noun, call->command->name) == 0 &&
            strcmp(actions->name, call->args[0]) == 0) {
            job->action = actions;
            return HF_OK;
        }
    return hf_err_set(err, HF_INVALID, "%s cannot %s", call->command->name, call->args[0]);
}

hf_status hf_cli_noun_run(hf_cli_call *call, const hf_cli_action *actions, hf_err *err)
{
    noun_job job = {.call = call};
    size_t used = 0;
    hf_status st = action_find(&job, actions, err);

    if (!st)
        st = words_check(&job, &used, err);
    if (!st)
        st = hf_cli_count(call, HF_CLI_FLAG_LIMIT, ROWS, &job.limit, err);
    if (!st)
        st = path_make(&job, err);
    if (!st && job.action->body)
        st = job.action->body(call, used, &job.body, err);
    if (!st)
        st = hf_cli_known_fields(job.action->method, job.path, job.body, err);
    if (!st && job.action->question && !call->flags[HF_CLI_FLAG_DRY_RUN])
        st = hf_cli_confirm(call, job.action->question, err);
    if (!st)
        st = hf_cli_target_serve(call, &job.target, err);
    if (!st)
        st = call->flags[HF_CLI_FLAG_WATCH] ? action_watch(&job, err) : action_do(&job, err);
    if (st == HF_NOTFOUND && job.target && !call->next)
        call->next = hf_mem_format(call->mem, "holdfast %s ls {here}", call->command->name);
    hf_cli_target_close(job.target);
    return st;
}
