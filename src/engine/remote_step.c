/* remote_step.c: steps of machines that a server hands out. A task brings what the step sees; the
   step runs as it does in an engine, in a pool that its thread moves, and how it ended is sent
   back. No history travels, and nothing is kept between two steps. A step that this program does
   not have is returned, so that another build gets it. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "engine/remote_impl.h"
#include "engine/step.h"
#include "model/step_codec.h"

/* ---- what the program has */

static size_t types_count(const hf_app *app)
{
    size_t count = 0;

    for (const hf_machine_def *def = app->machines; def && def->type; def++) {
        count += 2; /* the first step without its name, and a job with it */
        for (const hf_step_def *step = def->steps; step && step->name; step++)
            count++;
    }
    return count;
}

hf_status hf_remote_step_types(const hf_app *app, hf_mem *mem, hf_slice **out_types,
                               size_t *out_count, hf_err *err)
{
    size_t room = types_count(app);
    hf_slice *types = hf_mem_array(mem, room + 1, sizeof(*types));
    size_t count = 0;

    if (!types)
        return hf_err_nomem(err, "the types of a program");
    for (const hf_machine_def *def = app->machines; def && def->type; def++) {
        types[count++] = hf_slice_of(hf_mem_format(mem, "%s/", def->type));
        if (def->job)
            types[count++] = hf_slice_of(hf_mem_format(mem, "%s/job", def->type));
        for (const hf_step_def *step = def->steps; step && step->name; step++)
            types[count++] = hf_slice_of(hf_mem_format(mem, "%s/%s", def->type, step->name));
    }
    for (size_t i = 0; i < count; i++)
        if (!types[i].ptr)
            return hf_err_nomem(err, "the types of a program");
    *out_types = types;
    *out_count = count;
    return HF_OK;
}

/* ---- one step */

static hf_status step_fill(const remote_hand *hand, hf_value task, hf_job *job, hf_err *err)
{
    const char *type = hf_str(task, "workflow_type", "");
    const hf_registry_workflow *found =
        hf_registry_find_workflow(hand->remote->registry, hf_slice_of(type));
    const hf_machine_def *machine = found ? found->machine : NULL;
    hf_step_job *step = job->machine;
    hf_status st;

    if (!machine)
        return hf_err_set(err, HF_NOTFOUND, "this program has no machine of the type %s", type);
    step->definition = machine;
    step->registry = hand->remote->registry;
    step->instance_id = hf_slice_of(hf_str(task, "workflow_id", ""));
    st = hf_step_work_read(job->mem, hf_get(task, "step"), &step->work, err);
    if (st)
        return st;
    if (!step->work.name.len)
        step->work.name = hf_slice_of(machine->job ? "job" : machine->initial);
    (void)snprintf(step->key, sizeof(step->key), "%s-%lld", hf_str(task, "run_id", ""),
                   (long long)step->work.entry);
    job->name = step->work.name;
    if (!hf_step_code(machine, job->name))
        return hf_err_set(err, HF_NOTFOUND, "the machine %s of this program has no step %.*s", type,
                          (int)job->name.len, job->name.ptr);
    return HF_OK;
}

static hf_status job_make(const remote_hand *hand, hf_value task, hf_job **out_job, hf_err *err)
{
    hf_job *job = hf_job_new();

    *out_job = job;
    if (job)
        job->machine = hf_mem_alloc(job->mem, sizeof(*job->machine));
    return job && job->machine ? step_fill(hand, task, job, err) : hf_err_nomem(err, "a step");
}

/* ---- its end */

/* With what this program's definitions say of the children, which the server does not know. */
static hf_status end_value(const remote_hand *hand, hf_job *job, hf_value *out_value, hf_err *err)
{
    hf_step_end end = job->machine->end;
    hf_step_start *starts = hf_mem_array(job->mem, end.start_count + 1, sizeof(*starts));

    if (!starts)
        return hf_err_nomem(err, "the end of a step");
    for (size_t i = 0; i < end.start_count; i++) {
        starts[i] = end.starts[i];
        hf_remote_child_fill(hand->remote, &starts[i].type, &starts[i].options);
    }
    end.starts = starts;
    end.name = job->name;
    return hf_step_end_write(hand->mem, &end, out_value, err);
}

/* Somebody else has the step, or nobody hears: nothing is lost. */
static hf_status end_report(remote_hand *hand, hf_job *job, hf_err *err)
{
    hf_client_reply reply = {0};
    hf_value end = NULL;
    hf_status st = end_value(hand, job, &end, err);

    if (!st)
        st = hf_remote_tell(hand,
                            hf_json_(hand->mem, "{'task_id': %s, 'attempt': %lld, 'step': %p}",
                                     hand->task_id, (long long)hand->attempt, (const void *)end),
                            &reply, err);
    if (st == HF_UNREACHABLE || (!st && (reply.status == 404 || reply.status == 409)))
        return HF_OK;
    return st ? st : hf_client_outcome(&reply, err);
}

void hf_remote_step_done(void *ctx, hf_job *job)
{
    remote_hand *hand = ctx;
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    hf_remote_job_over(hand);
    if (!job->machine->end.outcome) { /* it was told to stop before it began: its lease runs out */
        hf_job_free(job);
        return;
    }
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) {
        if (i)
            hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
        st = end_report(hand, job, &err);
    }
    if (st)
        hf_remote_task_fail(hand, hand->task, "step_not_reported", err.text, NULL);
    hf_job_free(job);
}

static void step_run(remote_hand *hand, hf_value task)
{
    hf_job *job = NULL;
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    (void)snprintf(hand->task_id, sizeof(hand->task_id), "%s", hf_str(task, "task_id", ""));
    hand->task = task;
    hand->attempt = hf_int(task, "workflow_task_attempt", 0);
    hand->lease_us = hf_int(task, "step.lease_us", 0);
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) {
        if (i)
            hf_remote_pause(hand->remote, REMOTE_MEMORY_MS);
        hf_job_free(job);
        st = job_make(hand, task, &job, &err);
    }
    if (!st) {
        hf_remote_job_run(hand, job, "step", hand->attempt);
        return;
    }
    hf_remote_task_fail(hand, task, st == HF_NOTFOUND ? "unknown_step" : "worker_error", err.text,
                        NULL);
    hf_job_free(job);
}

void hf_remote_steps(void *ctx)
{
    remote_hand *hand = ctx;

    while (hf_remote_ready(hand->remote)) {
        hf_value task = hf_remote_task(hand);

        if (hf_value_kind_of(task) == HF_VALUE_OBJECT)
            step_run(hand, task);
    }
}
