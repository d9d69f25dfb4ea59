/* api_question.c: what workers answer to queries and validations. The caller who asked waits for it
   on another connection; nothing is recorded. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "server/api_worker.h"
#include "server/handlers.h"
#include "server/server_impl.h"

/* How a kind is called in bodies. */
static const struct {
    const char *id;
    const char *attempt;
} names[] = {[HF_TASK_QUERY] = {"query_task_id", "query_task_attempt"},
             [HF_TASK_VALIDATION] = {"update_validation_task_id", "update_validation_attempt"}};

/* Who reports on what; false: answered already. */
static bool claim_get(hf_api *api, hf_task_kind kind, hf_task_claim *out_claim)
{
    const char *worker = hf_worker_name(api);

    *out_claim = (hf_task_claim){.size_ = sizeof(*out_claim),
                                 .task_id = hf_api_param(api, 0),
                                 .worker = worker,
                                 .attempt = hf_int(api->body, names[kind].attempt, 1)};
    return worker != NULL;
}

static void question_end(hf_api *api, hf_task_kind kind, const hf_task_claim *claim, hf_status st,
                         const char *outcome)
{
    hf_value_list *said = hf_value_object(api->mem);

    if (st) {
        hf_worker_refuse(api, st, hf_errmsg(api->server->engine));
        return;
    }
    hf_value_set(said, hf_slice_of(names[kind].id),
                 hf_value_string(api->mem, hf_slice_of(claim->task_id)));
    hf_value_set(said, hf_slice_of(names[kind].attempt), hf_value_int(api->mem, claim->attempt));
    hf_value_set(said, HF_SLICE("outcome"), hf_value_string(api->mem, hf_slice_of(outcome)));
    hf_value_set(said, HF_SLICE("recorded"), hf_value_bool(true));
    hf_value_set(said, HF_SLICE("reason"), hf_value_null());
    hf_worker_recorded(api, hf_value_finish(said));
}

static void question_refuse(hf_api *api, hf_task_kind kind, const char *otherwise,
                            const char *outcome)
{
    hf_value failure = hf_get(api->body, "failure");
    hf_task_claim claim;
    hf_status st;

    if (!claim_get(api, kind, &claim) || hf_worker_repeated(api))
        return;
    if (hf_value_kind_of(failure) != HF_VALUE_OBJECT)
        failure = api->body; /* the flat form of the published document */
    st = hf_question_refuse(api->server->engine, kind, &claim, hf_str(failure, "reason", otherwise),
                            hf_str(failure, "message", hf_str(failure, "error", NULL)),
                            hf_get(failure, "validation_errors"));
    question_end(api, kind, &claim, st, outcome);
}

void hf_api_query_complete(hf_api *api)
{
    hf_value sealed = hf_get(api->body, "result_envelope");
    hf_task_claim claim;
    hf_status st;

    if (!claim_get(api, HF_TASK_QUERY, &claim) || hf_worker_repeated(api))
        return;
    if (hf_value_kind_of(sealed) != HF_VALUE_OBJECT)
        sealed = hf_value_find(api->body, HF_SLICE("result"));
    st = hf_question_answer(api->server->engine, HF_TASK_QUERY, &claim, sealed);
    question_end(api, HF_TASK_QUERY, &claim, st, "completed");
}

void hf_api_query_fail(hf_api *api)
{
    question_refuse(api, HF_TASK_QUERY, "query_rejected", "failed");
}

void hf_api_validation_approve(hf_api *api)
{
    hf_task_claim claim;
    hf_status st;

    if (!claim_get(api, HF_TASK_VALIDATION, &claim) || hf_worker_repeated(api))
        return;
    st = hf_question_answer(api->server->engine, HF_TASK_VALIDATION, &claim, NULL);
    question_end(api, HF_TASK_VALIDATION, &claim, st, "approved");
}

void hf_api_validation_reject(hf_api *api)
{
    question_refuse(api, HF_TASK_VALIDATION, "update_validator_rejected", "rejected");
}
