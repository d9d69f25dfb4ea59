/* liveness.c: see liveness.h. First everything open is collected, step by step, and compared with
   its row; then the one that counts most is described. */
#include "project/liveness.h"

#include <string.h>

#include "model/limit.h"
#include "project/edge.h"

/* One fold under way. */
typedef struct fold {
    const hf_dossier *dossier;
    const hf_liveness_world *world;
    hf_mem *mem;
    hf_liveness *out;
    hf_lost **tail;
    const hf_dossier_task *turn; /* the open or blocked workflow task */
    bool turn_open;
    bool turn_blocked;
    /* the first open one of each kind */
    const hf_track_step *activity;
    const hf_track_step *lost_activity;
    const hf_track_step *running_alone; /* an attempt may run, but there is no row */
    const hf_track_message *update;
    const hf_track_message *signal; /* came, and a wait for it is open */
    const hf_track_step *condition;
    const hf_track_step *signal_wait;
    const hf_track_step *timed_signal_wait;
    const hf_track_step *timer;
    const hf_track_step *child;
    const hf_dossier_child *child_ended;
    const hf_track_step *child_ended_step;
    const hf_event *paused;       /* the order that nobody has taken back */
    const hf_event *machine_park; /* a step machine waits for signals */
    bool timeout_fired;           /* of a condition, and nobody has told the code yet */
    bool wants_turn;              /* something is there for the code */
    bool lost_timer;              /* of the wait that counts */
    bool failed;                  /* memory ran out */
} fold;

static int64_t seconds_us(hf_limit limit)
{
    return hf_limit_get(limit)->standard * 1000000;
}

int64_t hf_liveness_backoff_us(int64_t count, int64_t now_us)
{
    int64_t wait_us = seconds_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS);
    int64_t most_us = seconds_us(HF_LIMIT_REPAIR_BACKOFF_MAX_SECONDS);

    if (count <= 1)
        return now_us;
    for (int64_t i = 2; i < count && wait_us < most_us; i++)
        wait_us *= 2;
    return now_us + (wait_us < most_us ? wait_us : most_us);
}

static bool body_says_blocked(const hf_dossier_task *task)
{
    static const char word[] = "\"replay_blocked\":true";
    size_t len = sizeof(word) - 1;

    for (size_t i = 0; task->body.ptr && i + len <= task->body.len; i++)
        if (memcmp(task->body.ptr + i, word, len) == 0)
            return true;
    return false;
}

static hf_transport_state ready_state(const hf_dossier_task *task, int64_t now_us)
{
    bool later = task->repair_us != HF_NONE && task->repair_us > now_us;

    if (task->trouble != HF_TASK_TROUBLE_NONE && later)
        return HF_TRANSPORT_STATE_REPAIR_BACKOFF;
    if (task->trouble == HF_TASK_TROUBLE_DISPATCH)
        return HF_TRANSPORT_STATE_DISPATCH_FAILED;
    if (task->available_us > now_us)
        return HF_TRANSPORT_STATE_SCHEDULED;
    if (task->trouble == HF_TASK_TROUBLE_CLAIM)
        return HF_TRANSPORT_STATE_CLAIM_FAILED;
    if (task->available_us + seconds_us(HF_LIMIT_REPAIR_REDISPATCH_SECONDS) <= now_us)
        return HF_TRANSPORT_STATE_DISPATCH_OVERDUE;
    return HF_TRANSPORT_STATE_READY;
}

hf_transport_state hf_liveness_transport(const hf_dossier_task *task, int64_t now_us)
{
    switch ((hf_task_status)task->status) {
    case HF_TASK_STATUS_READY:
        return ready_state(task, now_us);
    case HF_TASK_STATUS_LEASED:
        return task->lease_until_us != HF_NONE && task->lease_until_us <= now_us
                   ? HF_TRANSPORT_STATE_LEASE_EXPIRED
                   : HF_TRANSPORT_STATE_LEASED;
    case HF_TASK_STATUS_CANCELLED:
        return HF_TRANSPORT_STATE_CANCELLED;
    case HF_TASK_STATUS_COMPLETED:
        return HF_TRANSPORT_STATE_COMPLETED;
    case HF_TASK_STATUS_FAILED:
        return body_says_blocked(task) ? HF_TRANSPORT_STATE_REPLAY_BLOCKED
                                       : HF_TRANSPORT_STATE_FAILED;
    }
    return HF_TRANSPORT_STATE_FAILED;
}

/* ---- what is open, and whether its row is there */

static void lost_add(fold *f, const hf_lost *lost)
{
    hf_lost *copy = hf_mem_alloc(f->mem, sizeof(*copy));

    if (!copy) {
        f->failed = true;
        return;
    }
    *copy = *lost;
    *f->tail = copy;
    f->tail = &copy->next;
}

static const hf_dossier_activity *activity_row(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_activity *row = dossier->activities;

    while (row && (row->step != step || row->closed_us != HF_NONE))
        row = row->next;
    return row;
}

/* Whether a row of the step says that it is over. */
static bool activity_drifted(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_activity *row = dossier->activities;

    while (row && row->step != step)
        row = row->next;
    return row != NULL;
}

static bool timer_drifted(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_timer *row = dossier->timers;

    while (row && row->step != step)
        row = row->next;
    return row != NULL;
}

static const hf_dossier_timer *timer_row(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_timer *row = dossier->timers;

    while (row && (row->step != step || row->closed_us != HF_NONE))
        row = row->next;
    return row;
}

static int64_t id_key(const hf_ulid *id)
{
    int64_t time_ms = 0;
    uint64_t key = 0;
    uint32_t counter = 0;

    hf_ulid_parts(id, &time_ms, &key, &counter);
    return (int64_t)key;
}

static void activity_open(fold *f, const hf_track_step *step)
{
    bool running = step->status == HF_ACTIVITY_STATUS_RUNNING;
    const hf_liveness_world *world = f->world;

    if (!f->activity)
        f->activity = step;
    if (activity_row(f->dossier, step->step))
        return;
    if (running && (!world->running || world->running(world->ctx, id_key(&step->id)))) {
        if (!f->running_alone)
            f->running_alone = step;
        return;
    }
    if (!f->lost_activity)
        f->lost_activity = step;
    lost_add(f, &(hf_lost){.kind = HF_LOST_ACTIVITY,
                           .step = step,
                           .drifted = activity_drifted(f->dossier, step->step)});
}

/* The step's timer is pending in history; true when its row is there. */
static bool timer_kept(fold *f, const hf_track_step *step)
{
    if (timer_row(f->dossier, step->step))
        return true;
    lost_add(f, &(hf_lost){.kind = HF_LOST_TIMER,
                           .step = step,
                           .drifted = timer_drifted(f->dossier, step->step)});
    return false;
}

static bool timer_pending(const hf_track_step *step)
{
    return step->timer_set && !step->timer_ended;
}

static bool timer_fired(const hf_track_step *step)
{
    return step->timer_ended && step->timer_ended->type == HF_EVENT_TIMER_FIRED;
}

static const hf_dossier_child *child_row(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_child *newest = NULL;

    for (const hf_dossier_child *row = dossier->children; row; row = row->next)
        if (row->step == step)
            newest = row;
    return newest;
}

static void child_open(fold *f, const hf_track_step *step)
{
    const hf_dossier_child *row = child_row(f->dossier, step->step);
    const hf_dossier_fact *fact = f->dossier->facts;

    if (!f->child)
        f->child = step;
    if (!row || row->closed_us == HF_NONE)
        return;
    f->wants_turn = true;
    if (!f->child_ended) {
        f->child_ended = row;
        f->child_ended_step = step;
    }
    while (fact && fact->source_run != row->run)
        fact = fact->next;
    if (!fact)
        lost_add(f, &(hf_lost){.kind = HF_LOST_FACT, .step = step, .child = row});
}

static void wait_open(fold *f, const hf_track_step *step, bool condition)
{
    const hf_track_step **place = condition         ? &f->condition
                                  : step->timer_set ? &f->timed_signal_wait
                                                    : &f->signal_wait;

    if (!condition && timer_fired(step))
        return; /* the timeout ended it, whether or not the code knows */
    f->out->open_waits++;
    if (!*place)
        *place = step;
    if (condition && timer_fired(step)) {
        f->timeout_fired = true;
        f->wants_turn = true;
    } else if (timer_pending(step)) {
        bool kept = timer_kept(f, step);

        if (*place == step)
            f->lost_timer = !kept;
    }
}

static void step_look(fold *f, const hf_track_step *step)
{
    if (!step->opened || step->ended)
        return;
    switch ((int)hf_event_shape(step->opened->type)) {
    case HF_HISTORY_SHAPE_ACTIVITY:
        f->out->open_waits++;
        activity_open(f, step);
        break;
    case HF_HISTORY_SHAPE_TIMER:
        f->out->open_waits++;
        if (!f->timer)
            f->timer = step;
        (void)timer_kept(f, step);
        break;
    case HF_HISTORY_SHAPE_CONDITION_WAIT:
        wait_open(f, step, true);
        break;
    case HF_HISTORY_SHAPE_SIGNAL_WAIT:
        wait_open(f, step, false);
        break;
    case HF_HISTORY_SHAPE_CHILD_WORKFLOW:
        f->out->open_waits++;
        child_open(f, step);
        break;
    }
}

/* A step machine that parked waits for signals; it has no wait of its own on the record. */
static void machine_look(fold *f)
{
    hf_slice outcome = {0};
    hf_step_outcome word = 0;

    for (size_t i = f->dossier->event_count; i-- > 0;) {
        const hf_event *event = &f->dossier->events[i];

        if (event->type != HF_EVENT_STEP_COMPLETED)
            continue;
        (void)hf_event_text(event, HF_KEY_OUTCOME, &outcome);
        (void)hf_step_outcome_parse(outcome, &word);
        if (word == HF_STEP_OUTCOME_PARK) {
            f->machine_park = event;
            f->out->open_waits++;
        }
        return;
    }
}

/* Whether a wait is open that takes a signal of this name. */
static bool wait_takes(const hf_track *track, hf_slice name)
{
    hf_slice wanted;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        if (step->opened && !step->ended && !timer_fired(step) &&
            step->opened->type == HF_EVENT_SIGNAL_WAIT_OPENED &&
            hf_event_text(step->opened, HF_KEY_SIGNAL_NAME, &wanted) &&
            hf_slice_equal(wanted, name))
            return true;
    return false;
}

static void messages_look(fold *f, const hf_track *track)
{
    for (const hf_track_message *message = hf_track_messages(track); message;
         message = message->next) {
        if (message->update ? message->ended != NULL : message->applied != NULL)
            continue;
        if (message->update && !f->update)
            f->update = message;
        else if (!message->update && !f->signal && wait_takes(track, message->name))
            f->signal = message;
    }
    if (f->update || f->signal)
        f->wants_turn = true;
}

static void tasks_look(fold *f)
{
    const hf_dossier_task *next = NULL;

    for (const hf_dossier_task *task = f->dossier->tasks; task; task = task->next) {
        bool open = task->status == HF_TASK_STATUS_READY || task->status == HF_TASK_STATUS_LEASED;

        if (task->kind == HF_TASK_TYPE_WORKFLOW) {
            f->turn = task;
            f->turn_open = open;
            f->turn_blocked =
                hf_liveness_transport(task, f->world->now_us) == HF_TRANSPORT_STATE_REPLAY_BLOCKED;
        }
        if (open && (!next || task->available_us < next->available_us))
            next = task;
    }
    f->out->task = next;
    if (next)
        f->out->transport = hf_liveness_transport(next, f->world->now_us);
}

/* The first turn is not on the record yet. */
static bool never_turned(const fold *f)
{
    return f->dossier->base.status == HF_RUN_STATUS_PENDING;
}

static void turn_look(fold *f)
{
    const hf_liveness *out = f->out;
    bool nothing = out->open_waits == 0;

    if (f->dossier->facts || never_turned(f) || nothing ||
        f->dossier->blocked == HF_RUN_BLOCKED_REPLAY)
        f->wants_turn = true;
    if (f->wants_turn && !f->turn_open && !f->turn_blocked)
        lost_add(f, &(hf_lost){.kind = HF_LOST_TASK,
                               .step = f->child_ended_step,
                               .child = f->child_ended,
                               .message = f->update ? f->update : f->signal});
}

/* ---- describing the one that counts */

static const char *id_text(fold *f, const char *prefix, const hf_ulid *id)
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

static void about_step(fold *f, const hf_track_step *step, hf_wait_kind kind,
                       hf_resume_source_kind source)
{
    f->out->step = step;
    f->out->wait_kind = kind;
    f->out->source_kind = source;
    f->out->since_us = step->opened->time_us;
    f->out->until_us = timer_due(step);
}

static void say(fold *f, hf_liveness_state state, const char *reason)
{
    f->out->state = state;
    f->out->reason = reason;
}

/* The states of one kind of task, by what its transport says. */
static void say_task(fold *f, hf_liveness_state ready, hf_liveness_state leased, const char *what)
{
    bool held = f->out->transport == HF_TRANSPORT_STATE_LEASED;

    say(f, held ? leased : ready, what);
}

static void about_activity(fold *f)
{
    const hf_track_step *step = f->lost_activity   ? f->lost_activity
                                : f->running_alone ? f->running_alone
                                                   : f->activity;
    const hf_dossier_activity *row = activity_row(f->dossier, step->step);

    about_step(f, step, HF_WAIT_KIND_ACTIVITY, HF_RESUME_SOURCE_KIND_ACTIVITY_EXECUTION);
    f->out->open_wait_id = id_text(f, "activity:", &step->id);
    f->out->source_id = id_text(f, "", &step->id);
    f->out->activity = row;
    f->out->until_us = row ? row->deadline_us : HF_NONE;
    if (f->lost_activity)
        say(f, HF_LIVENESS_REPAIR_NEEDED, "an activity is open and nothing would run it");
    else if (!row)
        say(f, HF_LIVENESS_ACTIVITY_RUNNING_WITHOUT_TASK,
            "an attempt of an activity may be running, but no row stands behind it");
    else if (row->status == HF_ACTIVITY_STATUS_RUNNING)
        say(f, HF_LIVENESS_ACTIVITY_TASK_LEASED, "an attempt of an activity is running");
    else
        say(f, HF_LIVENESS_ACTIVITY_TASK_READY, "an activity waits for an attempt");
}

static void about_message(fold *f, const hf_track_message *message)
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
        say(f, HF_LIVENESS_REPAIR_NEEDED,
            message->update ? "an accepted update has no task that would apply it"
                            : "a received signal has no task that would apply it");
}

static void about_condition(fold *f)
{
    const hf_track_step *step = f->condition;

    about_step(f, step, HF_WAIT_KIND_CONDITION,
               step->timer_set ? HF_RESUME_SOURCE_KIND_TIMER : HF_RESUME_SOURCE_KIND_WORKFLOW_TASK);
    f->out->open_wait_id = id_text(f, "", &step->id);
    f->out->timer = timer_row(f->dossier, step->step);
    if (step->timer_set)
        f->out->source_id = id_text(f, "", &step->timer_id);
    if (timer_fired(step) && !f->turn_open)
        say(f, HF_LIVENESS_REPAIR_NEEDED,
            "the timeout of a condition fired, but no task applies it");
    else if (timer_fired(step))
        say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
                 "the timeout of a condition is about to be applied");
    else if (timer_pending(step) && !f->out->timer)
        say(f, HF_LIVENESS_REPAIR_NEEDED, "the timeout of a condition is lost");
    else
        say(f, HF_LIVENESS_WAITING_FOR_CONDITION, "the code waits for a condition");
}

static void about_signal_wait(fold *f, const hf_track_step *step)
{
    about_step(f, step, HF_WAIT_KIND_SIGNAL, HF_RESUME_SOURCE_KIND_SIGNAL);
    f->out->open_wait_id = hf_mem_text(f->mem, step->wait_id);
    f->failed |= f->out->open_wait_id == NULL;
    f->out->timer = timer_row(f->dossier, step->step);
    if (timer_pending(step) && !f->out->timer)
        say(f, HF_LIVENESS_REPAIR_NEEDED, "the timeout of a signal wait is lost");
    else
        say(f, HF_LIVENESS_WAITING_FOR_SIGNAL, "the code waits for a signal");
}

static void about_timer(fold *f)
{
    const hf_track_step *step = f->timer;

    about_step(f, step, HF_WAIT_KIND_TIMER, HF_RESUME_SOURCE_KIND_TIMER);
    f->out->open_wait_id = id_text(f, "timer:", &step->timer_id);
    f->out->source_id = id_text(f, "", &step->timer_id);
    f->out->timer = timer_row(f->dossier, step->step);
    if (!f->out->timer)
        say(f, HF_LIVENESS_REPAIR_NEEDED, "a timer is pending and nothing would fire it");
    else if (f->out->timer->due_us > f->world->now_us)
        say(f, HF_LIVENESS_TIMER_SCHEDULED, "a timer will fire");
    else
        say(f, HF_LIVENESS_TIMER_TASK_READY, "a timer is due");
}

static void about_turn(fold *f)
{
    hf_ulid id = hf_edge_form(f->turn->created_us, f->turn->key, 0);

    f->out->wait_kind = HF_WAIT_KIND_WORKFLOW_TASK;
    f->out->source_kind = HF_RESUME_SOURCE_KIND_WORKFLOW_TASK;
    f->out->open_wait_id = id_text(f, "workflow-task:", &id);
    f->out->source_id = id_text(f, "", &id);
    f->out->since_us = f->turn->available_us;
    say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
             "the run waits for its next turn");
}

static void about_child(fold *f)
{
    const hf_track_step *step = f->child_ended ? f->child_ended_step : f->child;
    const hf_dossier_child *row = child_row(f->dossier, step->step);
    hf_ulid id;

    about_step(f, step, HF_WAIT_KIND_CHILD, HF_RESUME_SOURCE_KIND_CHILD_WORKFLOW_RUN);
    f->out->open_wait_id = id_text(f, "child:", &step->id);
    f->out->child = row;
    if (row) {
        id = hf_edge_form(row->run_us, row->run, 0);
        f->out->source_id = id_text(f, "", &id);
    }
    if (!f->child_ended)
        say(f, HF_LIVENESS_WAITING_FOR_CHILD, "a child run is open");
    else if (f->turn_open)
        say_task(f, HF_LIVENESS_WORKFLOW_TASK_READY, HF_LIVENESS_WORKFLOW_TASK_LEASED,
                 "a child ended and its parent is about to see it");
    else
        say(f, HF_LIVENESS_REPAIR_NEEDED, "a child ended, but no task tells its parent");
}

static void about_park(fold *f)
{
    f->out->wait_kind = HF_WAIT_KIND_SIGNAL;
    f->out->source_kind = HF_RESUME_SOURCE_KIND_SIGNAL;
    f->out->since_us = f->machine_park->time_us;
    say(f, HF_LIVENESS_WAITING_FOR_SIGNAL, "a step of a machine waits for signals");
}

/* What is waited for, whatever the state of the next task. */
static void about_wait(fold *f)
{
    if (f->activity)
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
    else if (f->child_ended)
        about_child(f);
    else if (f->turn_open)
        about_turn(f);
    else if (f->child)
        about_child(f);
    else if (f->signal_wait)
        about_signal_wait(f, f->signal_wait);
    else if (f->machine_park)
        about_park(f);
    else
        say(f, HF_LIVENESS_REPAIR_NEEDED, "no durable next-resume source");
}

/* Trouble with the next task comes before what the run waits for. */
static void about_transport(fold *f)
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
        !world->served(world->ctx, task->queue, f->out->compatibility)) {
        say(f, states[task->kind].unserved, "no worker that is there may take its next task");
        return;
    }
    switch ((int)f->out->transport) {
    case HF_TRANSPORT_STATE_LEASE_EXPIRED:
        say(f, HF_LIVENESS_REPAIR_NEEDED, "the lease of its next task is over");
        break;
    case HF_TRANSPORT_STATE_DISPATCH_FAILED:
    case HF_TRANSPORT_STATE_REPAIR_BACKOFF:
        say(f,
            task->trouble == HF_TASK_TROUBLE_CLAIM ? states[task->kind].failed
                                                   : HF_LIVENESS_REPAIR_NEEDED,
            "handing over its next task failed");
        break;
    case HF_TRANSPORT_STATE_CLAIM_FAILED:
        say(f, states[task->kind].failed, "claiming its next task failed");
        break;
    case HF_TRANSPORT_STATE_DISPATCH_OVERDUE:
        say(f, HF_LIVENESS_REPAIR_NEEDED, "its next task is due and nobody takes it");
        break;
    default:
        break;
    }
}

/* ---- repair */

static hf_repair_blocked_reason repair_reason(const fold *f)
{
    switch (f->out->state) {
    case HF_LIVENESS_REPAIR_NEEDED:
    case HF_LIVENESS_RUN_QUARANTINED:
        return 0;
    case HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED:
        return f->turn_blocked ? 0 : HF_REPAIR_BLOCKED_UNSUPPORTED_HISTORY;
    case HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER:
        return HF_REPAIR_BLOCKED_WAITING_FOR_COMPATIBLE_WORKER;
    case HF_LIVENESS_CLOSED:
        return HF_REPAIR_BLOCKED_RUN_CLOSED;
    default:
        return f->out->lost ? 0 : HF_REPAIR_BLOCKED_REPAIR_NOT_NEEDED;
    }
}

static void repair_look(fold *f)
{
    const hf_repair_blocked_look *look;
    bool current = f->dossier->current.key == f->dossier->run.key;
    hf_liveness *out = f->out;

    out->repair_blocked = current ? repair_reason(f) : HF_REPAIR_BLOCKED_SELECTED_RUN_NOT_CURRENT;
    look = hf_repair_blocked_look_get(out->repair_blocked);
    out->repair_attention = look && look->badge;
    if (out->state == HF_LIVENESS_CLOSED)
        return;
    out->task_problem = f->turn_blocked ||
                        (f->turn && (f->turn->repair_count > 0 || f->turn->trouble)) ||
                        out->transport == HF_TRANSPORT_STATE_DISPATCH_OVERDUE ||
                        out->transport == HF_TRANSPORT_STATE_LEASE_EXPIRED;
    for (const hf_lost *lost = out->lost; lost; lost = lost->next)
        out->task_problem |= lost->kind == HF_LOST_TASK || lost->kind == HF_LOST_FACT;
}

/* Whether an operator holds the run. */
static void pause_look(fold *f)
{
    for (size_t i = f->dossier->event_count; i-- > 0;) {
        const hf_event *event = &f->dossier->events[i];

        if (event->type == HF_EVENT_RUN_RESUMED || event->type == HF_EVENT_RUN_FORKED ||
            event->type == HF_EVENT_RUN_RESET) /* what was paused is the run it was copied from */
            return;
        if (event->type == HF_EVENT_RUN_PAUSED) {
            f->paused = event;
            return;
        }
    }
}

/* The marker that the run was started with. */
static void marker_look(fold *f)
{
    for (size_t i = 0; i < f->dossier->event_count; i++)
        if (f->dossier->events[i].type == HF_EVENT_WORKFLOW_STARTED) {
            (void)hf_event_text(&f->dossier->events[i], HF_KEY_COMPATIBILITY,
                                &f->out->compatibility);
            return;
        }
}

static void open_fold(fold *f, const hf_track *track)
{
    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        step_look(f, step);
    machine_look(f);
    messages_look(f, track);
    tasks_look(f);
    pause_look(f);
    if (f->dossier->blocked != HF_RUN_BLOCKED_QUARANTINE && !f->paused)
        turn_look(f);
    about_wait(f);
    if (f->dossier->blocked == HF_RUN_BLOCKED_QUARANTINE)
        say(f, HF_LIVENESS_RUN_QUARANTINED, "its code ended its process too often");
    else if (f->turn_blocked)
        say(f, HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED, "code and history disagree");
    else if (f->paused) {
        say(f, HF_LIVENESS_RUN_PAUSED, "an operator paused the run");
        f->out->since_us = f->paused->time_us;
        f->out->until_us = HF_NONE;
    } else if (f->out->task) {
        about_transport(f);
    }
}

hf_status hf_liveness_fold(const hf_dossier *dossier, const hf_track *track,
                           const hf_liveness_world *world, hf_mem *mem, hf_liveness *out_liveness,
                           hf_err *err)
{
    fold f = {.dossier = dossier, .world = world, .mem = mem, .out = out_liveness};

    *out_liveness = (hf_liveness){.since_us = HF_NONE, .until_us = HF_NONE};
    f.tail = &out_liveness->lost;
    marker_look(&f);
    if (dossier->base.closed_us != HF_NONE)
        say(&f, HF_LIVENESS_CLOSED, "the run is closed");
    else
        open_fold(&f, track);
    repair_look(&f);
    return f.failed ? hf_err_nomem(err, "the state of a run") : HF_OK;
}

hf_status hf_liveness_track(const hf_dossier *dossier, hf_mem *mem, hf_track **out_track,
                            hf_err *err)
{
    hf_track *track = NULL;
    hf_status st = hf_track_new(mem, dossier->run.key, &track, err);

    for (size_t i = 0; !st && i < dossier->event_count; i++)
        st = hf_track_add(track, &dossier->events[i], (int64_t)i + 1, err);
    if (st)
        hf_track_free(track);
    else
        *out_track = track;
    return st;
}
