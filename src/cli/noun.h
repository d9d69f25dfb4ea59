/* noun.h: verbs on things beside runs: schedules, batches, workers and the like. Each action is one
   request to the control plane, and a table says which; a store is served for it (target.h), so
   that there is one way to everything. */
#ifndef HF_CLI_NOUN_H
#define HF_CLI_NOUN_H

#include "base/buf.h"
#include "cli/target.h"

typedef struct hf_cli_action hf_cli_action;

/* What is sent: words behind those that the action needs are call->words + `used`. */
typedef hf_status hf_cli_body_fn(hf_cli_call *call, size_t used, hf_value *out_body, hf_err *err);

/* What the answer is, when it is not shown as it came. */
typedef hf_status hf_cli_answer_fn(hf_cli_call *call, hf_value answer, hf_value *out_shown,
                                   hf_err *err);

struct hf_cli_action {
    const char *noun;
    const char *name;
    const char *needs; /* its words, separated by spaces; NULL: none */
    const char *method;
    const char *path; /* {1} and {2} are those words, {queue} is --queue */
    const char *list; /* the member of the answer that is a list; NULL: it is one thing */
    const hf_cli_column *columns;
    hf_cli_body_fn *body;                                             /* NULL: nothing is sent */
    hf_status (*query)(hf_cli_call *call, hf_buf *path, hf_err *err); /* adds ?name=value */
    hf_cli_answer_fn *answer;
    const char *question; /* asked before it is done */
};

/* The action that the call names: sends, prints, and with --watch again and again. */
HF_NODISCARD hf_status hf_cli_noun_run(hf_cli_call *call, const hf_cli_action *actions,
                                       hf_err *err);

/* Bodies that several have: pairs or JSON as they are; {"reason"}. */
HF_NODISCARD hf_status hf_cli_body_pairs(hf_cli_call *call, size_t used, hf_value *out_body,
                                         hf_err *err);
HF_NODISCARD hf_status hf_cli_body_reason(hf_cli_call *call, size_t used, hf_value *out_body,
                                          hf_err *err);

/* Adds a value to the query string. */
void hf_cli_query_add(hf_cli_call *call, hf_buf *path, const char *name, const char *value);

/* Sets a text, unless it is NULL. */
void hf_cli_text_set(hf_cli_call *call, hf_value_list *object, const char *name, const char *text);

/* A flag's number from 1 on; `otherwise` when it is not given. */
HF_NODISCARD hf_status hf_cli_count(const hf_cli_call *call, hf_cli_flag_id flag, int64_t otherwise,
                                    int64_t *out_count, hf_err *err);

#endif
