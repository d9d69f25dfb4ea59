/* moment.c: see moment.h. */
#include "project/moment.h"

static bool closes_among(const hf_dossier *d)
{
    for (size_t i = 0; i < d->event_count; i++)
        if (hf_event_has_flag(d->events[i].type, HF_EVENT_CLOSES))
            return true;
    return false;
}

/* The first turn of its code left something. */
static bool turned(const hf_dossier *d)
{
    for (size_t i = 0; i < d->event_count; i++)
        if (d->events[i].step > 0)
            return true;
    return false;
}

static bool archived(const hf_dossier *d)
{
    for (size_t i = 0; i < d->event_count; i++)
        if (d->events[i].type == HF_EVENT_WORKFLOW_ARCHIVED)
            return true;
    return false;
}

/* Whether it was put under quarantine, and nobody had repaired it yet. */
static void quarantine_find(hf_dossier *d)
{
    d->blocked = HF_RUN_BLOCKED_NOT;
    d->crash_count = 0;
    for (size_t i = d->event_count; i-- > 0;) {
        const hf_event *event = &d->events[i];

        if (event->type == HF_EVENT_REPAIR_REQUESTED || event->type == HF_EVENT_RUN_FORKED ||
            event->type == HF_EVENT_RUN_RESET)
            return;
        if (event->type == HF_EVENT_RUN_QUARANTINED) {
            d->blocked = HF_RUN_BLOCKED_QUARANTINE;
            (void)hf_event_int(event, HF_KEY_CRASH_COUNT, &d->crash_count);
            return;
        }
    }
}

void hf_moment_rewind(hf_dossier *d)
{
    hf_dossier_command **at = &d->commands;

    d->base.last_seq = (int64_t)d->event_count;
    d->base.last_us = d->event_count ? d->events[d->event_count - 1].time_us : d->run.created_us;
    if (!archived(d))
        d->archived_us = HF_NONE;
    while (*at) {
        if ((*at)->recorded_us > d->base.last_us)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    quarantine_find(d);
    if (closes_among(d))
        return;
    d->base.closed_us = HF_NONE;
    d->base.closed_reason = HF_NONE;
    d->base.status = turned(d) ? HF_RUN_STATUS_WAITING : HF_RUN_STATUS_PENDING;
}

/* ---- open work */

/* When the next attempt may begin: at once, or after the backoff of the newest that failed. */
static int64_t attempt_after(const hf_track_step *step)
{
    const hf_event *ended = step->attempt ? step->attempt->ended : NULL;
    int64_t at_us = HF_NONE;

    if (ended && ended->type == HF_EVENT_ACTIVITY_RETRY_SCHEDULED)
        (void)hf_event_time(ended, HF_KEY_RETRY_AVAILABLE_AT, &at_us);
    return at_us;
}

static bool activity_put(hf_dossier *d, const hf_track_step *step, hf_mem *mem)
{
    bool running = step->status == HF_ACTIVITY_STATUS_RUNNING;
    hf_dossier_activity *row = hf_mem_alloc(mem, sizeof(*row));

    if (!row)
        return false;
    *row = (hf_dossier_activity){.next = d->activities,
                                 .key = hf_ulid_key(&step->id),
                                 .step = step->step,
                                 .status = (int64_t)step->status,
                                 .attempt = step->attempt ? step->attempt->number : 0,
                                 .max_attempts = HF_NONE,
                                 .available_us = running ? HF_NONE : attempt_after(step),
                                 .deadline_us = HF_NONE,
                                 .scheduled_us = step->opened->time_us,
                                 .started_us =
                                     running && step->attempt ? step->attempt->started_us : HF_NONE,
                                 .closed_us = HF_NONE};
    (void)hf_event_text(step->opened, HF_KEY_ACTIVITY_TYPE, &row->type);
    d->activities = row;
    return true;
}

static bool timer_put(hf_dossier *d, const hf_track_step *step, hf_mem *mem)
{
    hf_dossier_timer *row = hf_mem_alloc(mem, sizeof(*row));

    if (!row)
        return false;
    *row = (hf_dossier_timer){.next = d->timers,
                              .key = hf_ulid_key(&step->timer_id),
                              .step = step->step,
                              .status = HF_TIMER_STATUS_PENDING,
                              .closed_us = HF_NONE};
    (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &row->due_us);
    d->timers = row;
    return true;
}

static bool child_put(hf_dossier *d, const hf_track_step *step, hf_mem *mem)
{
    const hf_event *started = step->child_started;
    hf_dossier_child *row = hf_mem_alloc(mem, sizeof(*row));
    hf_ulid id;

    if (!row)
        return false;
    *row = (hf_dossier_child){.next = d->children, .step = step->step, .closed_us = HF_NONE};
    if (hf_event_id(started, HF_KEY_CHILD_WORKFLOW_RUN_ID, &id)) {
        row->run = hf_ulid_key(&id);
        row->run_us = hf_ulid_time_ms(&id) * 1000;
    }
    (void)hf_event_text(step->opened, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, &row->id);
    (void)hf_event_text(step->opened, HF_KEY_CHILD_WORKFLOW_TYPE, &row->type);
    d->children = row;
    return true;
}

hf_status hf_moment_rows(hf_dossier *d, const hf_track *track, hf_mem *mem, hf_err *err)
{
    bool ok = true;

    d->tasks = NULL;
    d->activities = NULL;
    d->timers = NULL;
    d->children = NULL;
    d->facts = NULL;
    if (d->base.closed_us != HF_NONE)
        return HF_OK;
    for (const hf_track_step *step = hf_track_steps(track); ok && step; step = step->next) {
        if (!step->opened || step->ended)
            continue;
        if (step->opened->type == HF_EVENT_ACTIVITY_SCHEDULED)
            ok = activity_put(d, step, mem);
        if (ok && step->timer_set && !step->timer_ended)
            ok = timer_put(d, step, mem);
        if (ok && step->child_started)
            ok = child_put(d, step, mem);
    }
    return ok ? HF_OK : hf_err_nomem(err, "the work that was open");
}
