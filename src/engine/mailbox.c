/* mailbox.c: messages to the core from other threads, kept in the order in which they came, but for
   jobs that ended, which come first. Who sends one never waits for the core; a hint that there is
   no memory for is made good by a sweep. */
#include "base/alloc.h"
#include "engine/core_impl.h"
#include "engine/lent.h"

/* Under the lock. */
static void message_add(core_message ***tail, core_message *message)
{
    message->next = NULL;
    **tail = message;
    *tail = &message->next;
}

void hf_core_put(hf_core *core, core_message *message)
{
    hf_mutex_lock(&core->lock);
    message_add(&core->inbox_tail, message);
    hf_mutex_unlock(&core->lock);
}

void hf_core_post(hf_core *core, core_message *message)
{
    hf_core_put(core, message);
    if (core->o.wake)
        core->o.wake(core->o.ctx);
}

void hf_core_post_done(void *ctx, hf_job *job)
{
    hf_core *core = ctx;
    core_message *message = hf_mem_alloc(job->mem, sizeof(*message));

    if (!message)
        return; /* the attempt counts as lost: its deadline or the next start finds it */
    message->kind = CORE_MESSAGE_JOB;
    message->job = job;
    hf_mutex_lock(&core->lock);
    message_add(&core->ended_tail, message);
    hf_mutex_unlock(&core->lock);
    if (core->o.wake)
        core->o.wake(core->o.ctx);
}

/* A hint, too: a sign of life that is not recorded is still in the job. */
void hf_core_post_beat(void *ctx, const hf_job *job)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message)
        return;
    message->kind = CORE_MESSAGE_BEAT;
    message->activity = job->activity;
    message->attempt = job->count.attempt;
    hf_core_post(ctx, message);
}

static void run_hint(hf_core *core, int64_t run, int64_t priority, bool pass_on)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message) {
        atomic_store(&core->hint_lost, true); /* a hint only: a sweep finds the task */
        return;
    }
    message->kind = CORE_MESSAGE_RUN;
    message->run = run;
    message->priority = priority;
    message->pass_on = pass_on;
    hf_core_post(core, message);
}

void hf_core_notify(hf_core *core, int64_t run)
{
    run_hint(core, run, 0, true);
}

void hf_core_notify_new(hf_core *core, int64_t run, int64_t priority)
{
    run_hint(core, run, priority, true);
}

void hf_core_heard(hf_core *core, int64_t run)
{
    run_hint(core, run, 0, false);
}

void hf_core_reload(hf_core *core, int64_t run)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message)
        return; /* a hint: the next start finds the rows */
    message->kind = CORE_MESSAGE_RELOAD;
    message->run = run;
    message->pass_on = true;
    hf_core_post(core, message);
}

void hf_core_notify_schedule(hf_core *core, int64_t schedule)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message) { /* no task stands for it: all are looked at */
        hf_mutex_lock(&core->lock);
        core->schedules_unseen = true;
        hf_mutex_unlock(&core->lock);
        if (core->o.wake)
            core->o.wake(core->o.ctx);
        return;
    }
    message->kind = CORE_MESSAGE_SCHEDULE;
    message->run = schedule;
    hf_core_post(core, message);
}

hf_status hf_core_query(hf_core *core, hf_core_ask *ask, hf_err *err)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message)
        return hf_err_nomem(err, "a question");
    message->kind = CORE_MESSAGE_ASK;
    message->ask = ask;
    hf_core_post(core, message);
    return HF_OK;
}

hf_status hf_core_call_post(hf_core *core, hf_core_call *call, hf_err *err)
{
    core_message *message = hf_alloc(sizeof(*message));

    if (!message)
        return hf_err_nomem(err, "a call");
    message->kind = CORE_MESSAGE_CALL;
    message->call = call;
    hf_core_post(core, message);
    return HF_OK;
}

static void messages_free(core_message *message)
{
    while (message) {
        core_message *next = message->next;

        if (message->kind == CORE_MESSAGE_JOB)
            hf_job_free(message->job);
        else if (message->kind == CORE_MESSAGE_UNIT || message->kind == CORE_MESSAGE_GATE ||
                 message->kind == CORE_MESSAGE_FIRED || message->kind == CORE_MESSAGE_RETIRED)
            hf_unit_free(message->unit);
        else if (message->kind == CORE_MESSAGE_LENT) {
            hf_lent_decline(message->lent);
            hf_alloc_free(message);
        } else if (message->kind == CORE_MESSAGE_ASK) {
            message->ask->status =
                hf_err_set(&message->ask->err, HF_STOPPED, "the engine is closing");
            message->ask->done(message->ask);
            hf_alloc_free(message);
        } else if (message->kind == CORE_MESSAGE_CALL) {
            message->call->run(NULL, message->call);
            hf_alloc_free(message);
        } else
            hf_alloc_free(message);
        message = next;
    }
}

bool hf_core_mail_fetch(hf_core *core)
{
    bool unseen = false;

    hf_mutex_lock(&core->lock);
    if (!core->taken) {
        core->taken = core->inbox;
        core->inbox = NULL;
        core->inbox_tail = &core->inbox;
        unseen = core->schedules_unseen;
        core->schedules_unseen = false;
    }
    *core->ended_tail = core->taken;
    core->taken = core->ended ? core->ended : core->taken;
    core->ended = NULL;
    core->ended_tail = &core->ended;
    hf_mutex_unlock(&core->lock);
    return unseen;
}

void hf_core_mail_free(hf_core *core)
{
    messages_free(core->taken);
    messages_free(core->ended);
    messages_free(core->inbox);
}
