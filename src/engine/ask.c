/* ask.c: see ask.h. The question is answered on the core's thread; the asker waits. */
#include "engine/ask.h"

#include <string.h>

#include "base/value.h"
#include "engine/command_impl.h"
#include "engine/inquiry.h"
#include "engine/remote.h"

/* The asker sleeps until the core's thread has answered. */
typedef struct asker {
    hf_engine *engine;
    bool done;
} asker;

static void asker_done(hf_core_ask *ask)
{
    asker *who = ask->ctx;

    hf_mutex_lock(&who->engine->lock);
    who->done = true;
    hf_cond_broadcast(&who->engine->changed);
    hf_mutex_unlock(&who->engine->lock);
}

static hf_status ask_wait(hf_call *call, hf_core_ask *ask, hf_err *err)
{
    hf_engine *engine = call->engine;
    asker who = {.engine = engine};
    hf_status st;

    ask->done = asker_done;
    ask->ctx = &who;
    st = hf_core_query(engine->core, ask, err);
    if (st)
        return st;
    if (engine->mode != ENGINE_THREADS)
        while (!who.done)
            (void)hf_core_step(engine->core);
    hf_mutex_lock(&engine->lock);
    while (!who.done)
        hf_cond_wait(&engine->changed, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    if (ask->status && err)
        *err = ask->err;
    return ask->status;
}

hf_status hf_ask_validator(hf_call *call, int64_t run, hf_slice name, hf_value args, hf_mem *mem,
                           const char **out_refusal, hf_err *err)
{
    hf_core_ask ask = {.run = run, .name = name, .check = true, .args = args, .mem = mem};
    hf_status st = ask_wait(call, &ask, err);

    *out_refusal = ask.refusal;
    return st;
}

static hf_status refuse(hf_ask_answer *answer, hf_status status, const char *word, const char *why)
{
    answer->refused = word;
    answer->status = status;
    answer->why = why;
    return HF_OK;
}

/* The arguments by the contract that the run was started with. */
static hf_status query_fit(hf_call *call, hf_slice name, hf_mem *mem, hf_value *args,
                           hf_ask_answer *answer, hf_err *err)
{
    hf_intake_refusal refusal;
    hf_status st;

    hf_call_read_begin(call);
    st = hf_intake_target_fit(&call->in, answer->target.definition, HF_TARGET_QUERY, name, *args,
                              mem, args, &refusal, err);
    if (!st && refusal.why)
        st = hf_call_drift_tell(call, &answer->target, HF_TARGET_QUERY, name, mem, &refusal, err);
    hf_call_read_end(call);
    if (st || !refusal.why)
        return st;
    answer->validation_errors = refusal.validation_errors;
    if (refusal.validation_errors)
        return refuse(answer, HF_INVALID, "invalid_query_arguments", refusal.why);
    if (refusal.reason)
        return refuse(answer, HF_REJECTED, hf_rejection_reason_text(refusal.reason), refusal.why);
    return refuse(answer, HF_NOTFOUND, "unknown_query", refusal.why);
}

/* The code's own answer. That it cannot be asked is a refusal too. */
static hf_status query_run(hf_call *call, hf_slice name, hf_value args, hf_mem *mem,
                           hf_ask_answer *answer, hf_err *err)
{
    hf_core_ask ask = {.run = answer->target.base.run, .name = name, .args = args, .mem = mem};
    hf_status st = ask_wait(call, &ask, err);

    answer->value = ask.answer;
    if (st != HF_REPLAY_BLOCKED)
        return st;
    answer->why = hf_mem_text(mem, hf_slice_of(ask.err.text));
    return answer->why ? refuse(answer, st, "workflow_replay_blocked", answer->why)
                       : hf_err_nomem(err, "an answer");
}

/* The run as a worker is told of it; texts in the arena, since whoever answers may use this
   thread's scratch memory. */
static hf_status inquiry_fill(hf_call *call, const hf_intake_target *target, hf_task_kind kind,
                              hf_slice name, hf_value args, hf_mem *mem, hf_inquiry_ask *out_ask,
                              hf_err *err)
{
    hf_slice code;
    hf_status st = hf_call_code(call, target, mem, &code, err);
    char run_id[HF_ULID_TEXT_SIZE];

    if (st)
        return st;
    hf_command_id_print(target->created_us, target->base.run, run_id);
    *out_ask = (hf_inquiry_ask){.kind = kind,
                                .run = target->base.run,
                                .instance_id = hf_slice_of(hf_mem_text(mem, target->instance.id)),
                                .run_id = hf_slice_of(hf_mem_text(mem, hf_slice_of(run_id))),
                                .type = hf_slice_of(hf_mem_text(mem, code)),
                                .queue = hf_slice_of(hf_mem_text(mem, target->queue)),
                                .name = name,
                                .args = args,
                                .mem = mem};
    return out_ask->instance_id.ptr && out_ask->run_id.ptr && out_ask->type.ptr &&
                   out_ask->queue.ptr
               ? HF_OK
               : hf_err_nomem(err, "a question");
}

/* The published words for questions that no worker answered. */
static const struct {
    const char *query;
    const char *validation;
    hf_status status;
    const char *why;
} unanswered[] = {
    [HF_INQUIRY_NOBODY] = {"query_worker_unavailable", "update_validator_worker_unavailable",
                           HF_REJECTED, "no worker serves the run's task queue"},
    [HF_INQUIRY_UNCLAIMED] = {"query_task_not_claimed", "update_validation_task_not_claimed",
                              HF_TIMEOUT, "no worker took the question in time"},
    [HF_INQUIRY_LATE] = {"query_worker_timeout", "update_validation_execution_timeout", HF_TIMEOUT,
                         "the worker did not answer in time"},
    [HF_INQUIRY_FULL] = {"query_task_queue_full", "update_validation_task_not_claimed", HF_BUSY,
                         "too many questions wait for workers already"},
};

/* A worker elsewhere has the code. */
static hf_status query_far(hf_call *call, hf_slice name, hf_value args, hf_mem *mem,
                           hf_ask_answer *answer, hf_err *err)
{
    hf_inquiry_ask ask;
    hf_status st = inquiry_fill(call, &answer->target, HF_TASK_QUERY, name, args, mem, &ask, err);

    if (!st)
        st = hf_inquiry_put(call, &ask, err);
    if (st)
        return st;
    answer->value = ask.value;
    if (ask.end == HF_INQUIRY_ANSWERED)
        return HF_OK;
    if (ask.end == HF_INQUIRY_REFUSED)
        return refuse(answer,
                      strcmp(ask.reason, "rejected_unknown_query") == 0 ? HF_NOTFOUND : HF_REJECTED,
                      ask.reason, ask.message);
    return refuse(answer, unanswered[ask.end].status, unanswered[ask.end].query,
                  unanswered[ask.end].why);
}

hf_status hf_ask_worker(hf_call *call, const hf_intake_target *target, hf_slice name, hf_value args,
                        hf_mem *mem, hf_ask_verdict *out_verdict, hf_err *err)
{
    hf_inquiry_ask ask;
    hf_status st = inquiry_fill(call, target, HF_TASK_VALIDATION, name, args, mem, &ask, err);

    *out_verdict = (hf_ask_verdict){0};
    if (!st)
        st = hf_inquiry_put(call, &ask, err);
    if (st || ask.end == HF_INQUIRY_ANSWERED)
        return st;
    if (ask.end != HF_INQUIRY_REFUSED)
        return hf_err_set(err, unanswered[ask.end].status, "%s: %s", unanswered[ask.end].validation,
                          unanswered[ask.end].why);
    if (strcmp(ask.reason, "update_validator_rejected") != 0)
        return hf_err_set(err, HF_REJECTED, "update_validation_worker_failed: %s", ask.message);
    out_verdict->refusal = ask.message;
    out_verdict->validation_errors = ask.validation_errors;
    return HF_OK;
}

hf_status hf_ask_replayed(hf_call *call, const hf_intake_target *target, hf_mem *mem,
                          hf_ask_replay *out_replay, hf_err *err)
{
    hf_inquiry_ask ask;
    hf_status st =
        inquiry_fill(call, target, HF_TASK_QUERY, HF_SLICE(HF_ASK_REPLAY), NULL, mem, &ask, err);

    *out_replay = (hf_ask_replay){0};
    if (!st)
        st = hf_inquiry_put(call, &ask, err);
    if (st)
        return st;
    out_replay->why = unanswered[ask.end].why;
    if (ask.end == HF_INQUIRY_REFUSED)
        out_replay->why = "a worker has the code, and its kind cannot replay without effect";
    if (ask.end == HF_INQUIRY_ANSWERED) {
        out_replay->verdict = hf_str(ask.value, "verdict", NULL);
        out_replay->blocked = hf_get(ask.value, "blocked");
        out_replay->why = "a worker answered something else";
    }
    return HF_OK;
}

hf_status hf_ask_query(hf_call *call, hf_slice id, hf_slice run_id, hf_slice name, hf_value args,
                       hf_mem *mem, hf_ask_answer *out_answer, hf_err *err)
{
    hf_slice code;
    hf_status st;
    bool here;

    *out_answer = (hf_ask_answer){0};
    if (!name.ptr || !id.ptr)
        return hf_err_set(err, HF_MISUSE, "a query needs an instance and a name");
    st = hf_call_aim(call, id, run_id, &out_answer->target, err);
    if (st)
        return st;
    if (out_answer->target.base.run == HF_NONE)
        return refuse(out_answer, HF_REJECTED, "instance_not_started",
                      "the instance was never started");
    st = query_fit(call, name, mem, &args, out_answer, err);
    if (st || out_answer->refused)
        return st;
    st = hf_call_code(call, &out_answer->target, mem, &code, err);
    if (st)
        return st;
    here = hf_registry_find_workflow(call->engine->registry, code) != NULL;
    if (!here && call->engine->matching)
        return query_far(call, name, args, mem, out_answer, err);
    if (!here)
        return refuse(out_answer, HF_REJECTED, "workflow_definition_unavailable",
                      "the code of the run is not loaded here");
    return query_run(call, name, args, mem, out_answer, err);
}

hf_status hf_query(hf_engine *engine, const char *id, const char *name, hf_value args,
                   hf_value *out)
{
    hf_ask_answer answer;
    engine_slot *slot;
    hf_err *err;
    hf_call c;
    hf_status st;

    if (out && hf_call_remote(engine, &slot))
        return slot ? hf_remote_query(engine->remote, id ? id : "", name ? name : "", args,
                                      slot->mem, out, &slot->err)
                    : HF_NOMEM;
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    err = &c.slot->err;
    if (!out)
        return hf_err_set(err, HF_MISUSE, "a query needs a place for its answer");
    *out = NULL;
    st = hf_ask_query(&c, hf_slice_of(id), (hf_slice){0}, hf_slice_of(name), args, c.slot->mem,
                      &answer, err);
    if (!st && answer.refused)
        st = hf_err_set(err, answer.status, "%s: %s", answer.refused, answer.why);
    *out = answer.value;
    return st;
}
