/* command_start.c: start. The first try makes the instance without asking whether it exists: the
   store says so when it does, and then the existing one answers by the duplicate policy. */
#include "engine/command_impl.h"
#include "model/contract.h"

static hf_status timeouts_check(const hf_intake_start *start, hf_err *err)
{
    const int64_t least_us = 1000000;

    if (start->execution_timeout_us < 0 || start->run_timeout_us < 0 ||
        (start->execution_timeout_us && start->execution_timeout_us < least_us) ||
        (start->run_timeout_us && start->run_timeout_us < least_us))
        return hf_err_set(err, HF_INVALID, "a workflow timeout must be at least 1 second");
    return HF_OK;
}

/* Adds what the program's definition of the type says. */
static hf_status start_define(hf_handling *h, hf_intake_start *start, hf_err *err)
{
    const hf_engine *engine = h->call->engine;
    const hf_registry_workflow *workflow = hf_registry_find_workflow(engine->registry, start->type);

    start->compatibility = hf_slice_of(engine->app ? engine->app->build_id : NULL);
    start->definition = HF_NONE;
    if (!workflow)
        return HF_OK;
    start->type = hf_slice_of(workflow->definition->type);
    start->definition = workflow->key;
    start->fingerprint = hf_slice_of(workflow->snapshot.fingerprint);
    if (!start->execution_timeout_us)
        start->execution_timeout_us = workflow->definition->execution_timeout * 1000;
    if (!start->run_timeout_us)
        start->run_timeout_us = workflow->definition->run_timeout * 1000;
    return hf_contract_parse(hf_unit_mem(h->unit), workflow->definition->params, &start->params,
                             err);
}

/* The instance exists: its open run may answer instead. */
static hf_status start_again(hf_handling *h, const hf_intake_start *start)
{
    bool open = h->target.base.run != HF_NONE && h->target.base.closed_us == HF_NONE;

    if (start->duplicate != HF_DUPLICATE_POLICY_RETURN_EXISTING_ACTIVE)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_DUPLICATE,
                                  HF_REJECTION_INSTANCE_ALREADY_STARTED,
                                  "an instance of that id exists already");
    if (!open)
        return hf_handling_reject(h, HF_CMD_OUTCOME_REJECTED_DUPLICATE,
                                  HF_REJECTION_INSTANCE_ALREADY_STARTED,
                                  "an instance of that id exists already and its run is closed");
    return hf_handling_record(h, HF_CMD_OUTCOME_RETURNED_EXISTING_ACTIVE);
}

hf_status hf_command_start(hf_handling *h, hf_err *err)
{
    hf_intake_start start;
    int64_t command = 0;
    hf_status st;

    if (!h->request->start || !h->request->start->type.ptr)
        return hf_err_set(err, HF_MISUSE, "a type and options are needed");
    start = *h->request->start;
    if (h->taken)
        return start_again(h, &start);
    st = timeouts_check(&start, err);
    if (!st)
        st = start_define(h, &start, err);
    if (!st)
        st = hf_intake_start_draft(&h->call->in, &start, hf_handling_row(h), h->unit, &h->target,
                                   &command, err);
    if (st)
        return st;
    hf_handling_accept(h, command, HF_CMD_OUTCOME_STARTED_NEW);
    return hf_handling_aim(h, err);
}
