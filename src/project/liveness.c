/* liveness.c: see liveness.h. First everything open is collected, step by step, and compared with
   its row; then the one that counts most is described (liveness_wait.c). */
#include "project/liveness_impl.h"

static void lost_add(liveness_fold *f, const hf_lost *lost)
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

const hf_dossier_activity *hf_liveness_activity_row(const hf_dossier *dossier, int64_t step)
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

const hf_dossier_timer *hf_liveness_timer_row(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_timer *row = dossier->timers;

    while (row && (row->step != step || row->closed_us != HF_NONE))
        row = row->next;
    return row;
}

static void activity_open(liveness_fold *f, const hf_track_step *step)
{
    bool running = step->status == HF_ACTIVITY_STATUS_RUNNING;
    const hf_liveness_world *world = f->world;

    if (!f->activity)
        f->activity = step;
    if (hf_liveness_activity_row(f->dossier, step->step))
        return;
    if (running && (!world->running || world->running(world->ctx, hf_ulid_key(&step->id)))) {
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
static bool timer_kept(liveness_fold *f, const hf_track_step *step)
{
    if (hf_liveness_timer_row(f->dossier, step->step))
        return true;
    lost_add(f, &(hf_lost){.kind = HF_LOST_TIMER,
                           .step = step,
                           .drifted = timer_drifted(f->dossier, step->step)});
    return false;
}

bool hf_liveness_timer_pending(const hf_track_step *step)
{
    return step->timer_set && !step->timer_ended;
}

bool hf_liveness_timer_fired(const hf_track_step *step)
{
    return step->timer_ended && step->timer_ended->type == HF_EVENT_TIMER_FIRED;
}

const hf_dossier_child *hf_liveness_child_row(const hf_dossier *dossier, int64_t step)
{
    const hf_dossier_child *newest = NULL;

    for (const hf_dossier_child *row = dossier->children; row; row = row->next)
        if (row->step == step)
            newest = row;
    return newest;
}

static void child_open(liveness_fold *f, const hf_track_step *step)
{
    const hf_dossier_child *row = hf_liveness_child_row(f->dossier, step->step);
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

static void wait_open(liveness_fold *f, const hf_track_step *step, bool condition)
{
    const hf_track_step **place = condition         ? &f->condition
                                  : step->timer_set ? &f->timed_signal_wait
                                                    : &f->signal_wait;

    if (!condition && hf_liveness_timer_fired(step))
        return; /* the timeout ended it, whether or not the code knows */
    f->out->open_waits++;
    if (!*place)
        *place = step;
    if (condition && hf_liveness_timer_fired(step)) {
        f->timeout_fired = true;
        f->wants_turn = true;
    } else if (hf_liveness_timer_pending(step)) {
        bool kept = timer_kept(f, step);

        if (*place == step)
            f->lost_timer = !kept;
    }
}

static void step_look(liveness_fold *f, const hf_track_step *step)
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

/* A step machine that parked waits for signals, until its timeout has fired. */
static void machine_look(liveness_fold *f, const hf_track *track)
{
    const hf_track_step *park = hf_track_park(track);

    if (!park || hf_liveness_timer_fired(park))
        return;
    f->machine_park = park;
    f->out->open_waits++;
    if (hf_liveness_timer_pending(park))
        (void)timer_kept(f, park);
}

/* Whether a wait is open that takes a signal of this name. */
static bool wait_takes(const hf_track *track, hf_slice name)
{
    hf_slice wanted;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        if (step->opened && !step->ended && !hf_liveness_timer_fired(step) &&
            step->opened->type == HF_EVENT_SIGNAL_WAIT_OPENED &&
            hf_event_text(step->opened, HF_KEY_SIGNAL_NAME, &wanted) &&
            hf_slice_equal(wanted, name))
            return true;
    return false;
}

static void messages_look(liveness_fold *f, const hf_track *track)
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

/* Rows that no event speaks of may be somebody's work, but nothing says what comes of it: they are
   shown and never acted on. */
static void strays_look(liveness_fold *f, const hf_track *track)
{
    f->stray_activity = f->stray_timer = f->stray_ended = HF_NONE;
    if (f->world->past)
        return; /* the rows are not those of that moment */
    for (const hf_dossier_activity *row = f->dossier->activities; row; row = row->next) {
        const hf_track_step *step = hf_track_step_get(track, row->step);

        if (!step || !step->opened)
            *(row->closed_us == HF_NONE ? &f->stray_activity : &f->stray_ended) = row->step;
    }
    for (const hf_dossier_timer *row = f->dossier->timers; row; row = row->next) {
        const hf_track_step *step = hf_track_step_get(track, row->step);

        if (!step || !step->timer_set)
            *(row->closed_us == HF_NONE ? &f->stray_timer : &f->stray_ended) = row->step;
    }
}

void hf_liveness_hold(hf_dossier *dossier, const hf_liveness_world *world, hf_mem *mem)
{
    int64_t until_us = HF_NONE;
    hf_slice owner = {0};

    if (world->holder)
        owner = world->holder(world->ctx, dossier->run.key, mem, &until_us);
    for (hf_dossier_task *task = dossier->tasks; owner.ptr && task; task = task->next)
        if (task->kind == HF_TASK_TYPE_WORKFLOW && task->status == HF_TASK_STATUS_READY) {
            task->status = HF_TASK_STATUS_LEASED;
            task->owner = owner;
            task->lease_until_us = until_us;
        }
}

static void tasks_look(liveness_fold *f)
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
static bool never_turned(const liveness_fold *f)
{
    return f->dossier->base.status == HF_RUN_STATUS_PENDING;
}

static void turn_look(liveness_fold *f)
{
    const hf_liveness *out = f->out;
    bool nothing = out->open_waits == 0;

    if (f->dossier->facts || never_turned(f) || nothing ||
        f->dossier->blocked == HF_RUN_BLOCKED_REPLAY)
        f->wants_turn = true;
    if (f->wants_turn && f->world->past)
        f->turn_open = true;
    if (f->wants_turn && !f->turn_open && !f->turn_blocked)
        lost_add(f, &(hf_lost){.kind = HF_LOST_TASK,
                               .step = f->child_ended_step,
                               .child = f->child_ended,
                               .message = f->update ? f->update : f->signal});
}

/* ---- repair */

static hf_repair_blocked_reason repair_reason(const liveness_fold *f)
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

static void repair_look(liveness_fold *f)
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
static void pause_look(liveness_fold *f)
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
static void marker_look(liveness_fold *f)
{
    for (size_t i = 0; i < f->dossier->event_count; i++)
        if (f->dossier->events[i].type == HF_EVENT_WORKFLOW_STARTED) {
            (void)hf_event_text(&f->dossier->events[i], HF_KEY_COMPATIBILITY,
                                &f->out->compatibility);
            return;
        }
}

static void open_fold(liveness_fold *f, const hf_track *track)
{
    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        step_look(f, step);
    machine_look(f, track);
    messages_look(f, track);
    strays_look(f, track);
    tasks_look(f);
    pause_look(f);
    if (f->dossier->blocked != HF_RUN_BLOCKED_QUARANTINE && !f->paused)
        turn_look(f);
    hf_liveness_wait(f);
    if (f->dossier->blocked == HF_RUN_BLOCKED_QUARANTINE)
        hf_liveness_say(f, HF_LIVENESS_RUN_QUARANTINED, "its code ended its process too often");
    else if (f->turn_blocked)
        hf_liveness_say(f, HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED, "code and history disagree");
    else if (f->paused) {
        hf_liveness_say(f, HF_LIVENESS_RUN_PAUSED, "an operator paused the run");
        f->out->since_us = f->paused->time_us;
        f->out->until_us = HF_NONE;
    } else if (f->out->task) {
        hf_liveness_trouble(f);
    } else {
        hf_liveness_unserved(f);
    }
}

hf_status hf_liveness_fold(const hf_dossier *dossier, const hf_track *track,
                           const hf_liveness_world *world, hf_mem *mem, hf_liveness *out_liveness,
                           hf_err *err)
{
    liveness_fold f = {.dossier = dossier, .world = world, .mem = mem, .out = out_liveness};

    *out_liveness = (hf_liveness){.since_us = HF_NONE, .until_us = HF_NONE, .stray = HF_NONE};
    f.tail = &out_liveness->lost;
    marker_look(&f);
    if (dossier->base.closed_us != HF_NONE)
        hf_liveness_say(&f, HF_LIVENESS_CLOSED, "the run is closed");
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
