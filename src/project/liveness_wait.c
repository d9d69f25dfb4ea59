/* liveness_wait.c: describes what a run waits for: the one open thing that counts, and trouble with
   the next task, which comes before it. */
#include "project/edge.h"
#include "project/liveness_impl.h"

static const char *id_text(liveness_fold *f, const char *prefix, const hf_ulid *id)
{
    char text[HF_ULID_TEXT_SIZE];
    const char *whole;

    hf_ulid_print(id, text);
    whole = hf_mem_format(f->mem, "%s%s", prefix, text);
    f->failed |= whole == NULL;
    return whole;
}

static int64_t timer_due(const hf_track_step *step)
{
    int64_t due_us = HF_NONE;

    if (step->timer_set)
        (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &due_us);
    return due_us;
}

static void about_step(liveness_fold *f, const hf_track_step *step, hf_wait_kind kind,
                       hf_resume_source_kind source)
{
    f->out->step = step;
    f->out->wait_kind = kind;
    f->out->source_kind = source;
    f->out->since_us = step->opened->time_us;
    f->out->until_us = timer_due(step);
}

void hf_liveness_say(liveness_fold *f, hf_liveness_state state, const char *reason)
{
    f->out->state = state;
    f->out->reason = reason;
}

/* The states of one kind of task, by what its transport says. */
static void say_task(liveness_fold *f, hf_liveness_state ready, hf_liveness_state leased,
                     const char *what)
{
    bool held = f->out->transport == HF_TRANSPORT_STATE_LEASED;

    hf_liveness_say(f, held ? leased : ready, what);
}

static void about_activity(liveness_fold *f)
{
    const hf_track_step *step = f->lost_activity   ? f->lost_activity
                                : f->running_alone ? f->running_alone
                                                   : f->activity;
    const hf_dossier_activity *row = hf_liveness_activity_row(f->dossier, step->step);

    about_step(f, step, HF_WAIT_KIND_ACTIVITY, HF_RESUME_SOURCE_KIND_ACTIVITY_EXECUTION);
    f->out->open_wait_id = id_text(f, "activity:", &step->id);
    f->out->source_id = id_text(f, "", &step->id);
    f->out->activity = row;
    f->out->until_us = row ? row->deadline_us : HF_NONE;
    if (f->lost_activity)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED,
                        "an activity is open and nothing would run it");
    else if (!row)
        hf_liveness_say(f, HF_LIVENESS_ACTIVITY_RUNNING_WITHOUT_TASK,
                        "an attempt of an activity may be running, but no row stands behind it");
    else if (row->status == HF_ACTIVITY_STATUS_RUNNING)
        hf_liveness_say(f, HF_LIVENESS_ACTIVITY_TASK_LEASED,
                        "an attempt of an activity is running");
    else
        hf_liveness_say(f, HF_LIVENESS_ACTIVITY_TASK_READY, "an activity waits for an attempt");
}

static void about_message(liveness_fold *f, const hf_track_message *message)
{
    f->out->message = message;
    f->out->since_us = message->came->time_us;
    f->out->wait_kind = message->update ? HF_WAIT_KIND_UPDATE : HF_WAIT_KIND_SIGNAL;
    f->out->source_kind = message->update ? HF_RESUME_SOURCE_KIND_WORKFLOW_UPDATE
                                          : HF_RESUME_SOURCE_KIND_WORKFLOW_SIGNAL;
    f->out->open_wait_id =
        id_text(f, message->update ? "update:" : "signal-application:", &message->id);
    f->out->source_id = id_text(f, "", &message->id);
    if (f->turn_open)
        say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
                 message->update ? "an accepted update is about to be applied"
                                 : "a received signal is about to be applied");
    else
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED,
                        message->update ? "an accepted update has no task that would apply it"
                                        : "a received signal has no task that would apply it");
}

static void about_condition(liveness_fold *f)
{
    const hf_track_step *step = f->condition;

    about_step(f, step, HF_WAIT_KIND_CONDITION,
               step->timer_set ? HF_RESUME_SOURCE_KIND_TIMER : HF_RESUME_SOURCE_KIND_WORKFLOW_TASK);
    f->out->open_wait_id = id_text(f, "", &step->id);
    f->out->timer = hf_liveness_timer_row(f->dossier, step->step);
    if (step->timer_set)
        f->out->source_id = id_text(f, "", &step->timer_id);
    if (hf_liveness_timer_fired(step) && !f->turn_open)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED,
                        "the timeout of a condition fired, but no task applies it");
    else if (hf_liveness_timer_fired(step))
        say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
                 "the timeout of a condition is about to be applied");
    else if (hf_liveness_timer_pending(step) && !f->out->timer)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "the timeout of a condition is lost");
    else
        hf_liveness_say(f, HF_LIVENESS_WAITING_FOR_CONDITION, "the code waits for a condition");
}

static void about_signal_wait(liveness_fold *f, const hf_track_step *step)
{
    about_step(f, step, HF_WAIT_KIND_SIGNAL, HF_RESUME_SOURCE_KIND_SIGNAL);
    f->out->open_wait_id = hf_mem_text(f->mem, step->wait_id);
    f->failed |= f->out->open_wait_id == NULL;
    f->out->timer = hf_liveness_timer_row(f->dossier, step->step);
    if (hf_liveness_timer_pending(step) && !f->out->timer)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "the timeout of a signal wait is lost");
    else
        hf_liveness_say(f, HF_LIVENESS_WAITING_FOR_SIGNAL, "the code waits for a signal");
}

/* Whether a worker holds a task of its own for the timer. This engine fires timers without one. */
static bool timer_held(const liveness_fold *f)
{
    return f->out->task && f->out->task->kind == HF_TASK_TYPE_TIMER &&
           f->out->transport == HF_TRANSPORT_STATE_LEASED;
}

static void about_timer(liveness_fold *f)
{
    const hf_track_step *step = f->timer;

    about_step(f, step, HF_WAIT_KIND_TIMER, HF_RESUME_SOURCE_KIND_TIMER);
    f->out->open_wait_id = id_text(f, "timer:", &step->timer_id);
    f->out->source_id = id_text(f, "", &step->timer_id);
    f->out->timer = hf_liveness_timer_row(f->dossier, step->step);
    if (!f->out->timer)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED,
                        "a timer is pending and nothing would fire it");
    else if (timer_held(f))
        hf_liveness_say(f, HF_LIVENESS_TIMER_TASK_LEASED, "a worker is firing a timer");
    else if (f->out->timer->due_us > f->world->now_us)
        hf_liveness_say(f, HF_LIVENESS_TIMER_SCHEDULED, "a timer will fire");
    else
        hf_liveness_say(f, HF_LIVENESS_TIMER_TASK_READY, "a timer is due");
}

static void about_turn(liveness_fold *f)
{
    f->out->wait_kind = HF_WAIT_KIND_WORKFLOW_TASK;
    f->out->source_kind = HF_RESUME_SOURCE_KIND_WORKFLOW_TASK;
    f->out->since_us = f->dossier->base.last_us;
    if (f->turn) {
        hf_ulid id = hf_ulid_form(f->turn->created_us, f->turn->key, 0);

        f->out->open_wait_id = id_text(f, "workflow-task:", &id);
        f->out->source_id = id_text(f, "", &id);
        f->out->since_us = f->turn->available_us;
    }
    say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
             "the run waits for its next turn");
}

static void about_child(liveness_fold *f)
{
    const hf_track_step *step = f->child_ended ? f->child_ended_step : f->child;
    const hf_dossier_child *row = hf_liveness_child_row(f->dossier, step->step);
    hf_ulid id;

    about_step(f, step, HF_WAIT_KIND_CHILD, HF_RESUME_SOURCE_KIND_CHILD_WORKFLOW_RUN);
    f->out->open_wait_id = id_text(f, "child:", &step->id);
    f->out->child = row;
    if (row) {
        id = hf_ulid_form(row->run_us, row->run, 0);
        f->out->source_id = id_text(f, "", &id);
    }
    if (!f->child_ended)
        hf_liveness_say(f, HF_LIVENESS_WAITING_FOR_CHILD, "a child run is open");
    else if (f->turn_open)
        say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
                 "a child ended and its parent is about to see it");
    else
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED,
                        "a child ended, but no task tells its parent");
}

static void about_park(liveness_fold *f)
{
    const hf_track_step *step = f->machine_park;

    about_step(f, step, HF_WAIT_KIND_SIGNAL, HF_RESUME_SOURCE_KIND_SIGNAL);
    f->out->open_wait_id = id_text(f, "step:", &step->id);
    f->out->timer = hf_liveness_timer_row(f->dossier, step->step);
    if (hf_liveness_timer_pending(step) && !f->out->timer)
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "the timeout of a machine's park is lost");
    else
        hf_liveness_say(f, HF_LIVENESS_WAITING_FOR_SIGNAL, "a step of a machine waits for signals");
}

static void about_stray(liveness_fold *f, int64_t step)
{
    f->out->stray = step;
    hf_liveness_say(f, HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED,
                    "a row is there that no event of the history speaks of");
}

void hf_liveness_wait(liveness_fold *f)
{
    if (f->stray_activity != HF_NONE)
        about_stray(f, f->stray_activity);
    else if (f->activity)
        about_activity(f);
    else if (f->update)
        about_message(f, f->update);
    else if (f->signal)
        about_message(f, f->signal);
    else if (f->condition)
        about_condition(f);
    else if (f->timed_signal_wait)
        about_signal_wait(f, f->timed_signal_wait);
    else if (f->timer)
        about_timer(f);
    else if (f->stray_timer != HF_NONE)
        about_stray(f, f->stray_timer);
    else if (f->child_ended)
        about_child(f);
    else if (f->turn_open)
        about_turn(f);
    else if (f->stray_ended != HF_NONE)
        about_stray(f, f->stray_ended);
    else if (f->child)
        about_child(f);
    else if (f->signal_wait)
        about_signal_wait(f, f->signal_wait);
    else if (f->machine_park)
        about_park(f);
    else
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "no durable next-resume source");
}

void hf_liveness_trouble(liveness_fold *f)
{
    static const struct {
        hf_liveness_state failed;
        hf_liveness_state unserved;
    } states[] = {
        [HF_TASK_TYPE_WORKFLOW] = {HF_LIVENESS_WORKFLOW_TASK_CLAIM_FAILED,
                                   HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER},
        [HF_TASK_TYPE_ACTIVITY] = {HF_LIVENESS_ACTIVITY_TASK_CLAIM_FAILED,
                                   HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER},
        [HF_TASK_TYPE_TIMER] = {HF_LIVENESS_TIMER_TASK_CLAIM_FAILED,
                                HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER}};
    const hf_dossier_task *task = f->out->task;
    const hf_liveness_world *world = f->world;

    if (f->out->transport != HF_TRANSPORT_STATE_LEASED && world->served &&
        !world->served(world->ctx, (hf_task_type)task->kind, task->queue, f->out->compatibility)) {
        hf_liveness_say(f, states[task->kind].unserved,
                        "no worker that is there may take its next task");
        return;
    }
    switch ((int)f->out->transport) {
    case HF_TRANSPORT_STATE_LEASE_EXPIRED:
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "the lease of its next task is over");
        break;
    case HF_TRANSPORT_STATE_DISPATCH_FAILED:
    case HF_TRANSPORT_STATE_REPAIR_BACKOFF:
        if (task->trouble == HF_TASK_TROUBLE_WORKER)
            break; /* it is ready, and offered again later */
        hf_liveness_say(f,
                        task->trouble == HF_TASK_TROUBLE_CLAIM ? states[task->kind].failed
                                                               : HF_LIVENESS_REPAIR_NEEDED,
                        "handing over its next task failed");
        break;
    case HF_TRANSPORT_STATE_CLAIM_FAILED:
        hf_liveness_say(f, states[task->kind].failed, "claiming its next task failed");
        break;
    case HF_TRANSPORT_STATE_DISPATCH_OVERDUE:
        hf_liveness_say(f, HF_LIVENESS_REPAIR_NEEDED, "its next task is due and nobody takes it");
        break;
    default:
        break;
    }
}

static bool activity_due(const liveness_fold *f)
{
    const hf_dossier_activity *row = f->out->activity;

    return row->available_us == HF_NONE || row->available_us <= f->world->now_us;
}

void hf_liveness_unserved(liveness_fold *f)
{
    const hf_liveness_world *world = f->world;
    bool attempt = f->out->state == HF_LIVENESS_ACTIVITY_TASK_READY && activity_due(f);

    if ((!attempt && f->out->state != HF_LIVENESS_TIMER_TASK_READY) || !world->served ||
        world->served(world->ctx, attempt ? HF_TASK_TYPE_ACTIVITY : HF_TASK_TYPE_TIMER,
                      f->dossier->queue, f->out->compatibility))
        return;
    hf_liveness_say(f,
                    attempt ? HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER
                            : HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER,
                    attempt ? "no worker that is there may run its next attempt"
                            : "no worker that is there may take the timer that is due");
}
