/* repair.c: see repair.h. Ids in history are formed from row keys, so that a row comes back under
   its own key. */
#include "engine/repair.h"

#include "decide/decide.h"
#include "intake/intake.h"
#include "model/policy.h"

/* A repair under way. */
typedef struct mend {
    const hf_repair *r;
    hf_mem *mem;
    size_t rows;       /* put back or handed out again */
    int64_t task;      /* key of what was, HF_NONE: nothing */
    int64_t task_us;   /* its id is formed from both */
    hf_task_type kind; /* of it */
} mend;

static void mended(mend *m, hf_row *row, hf_task_type kind, int64_t key, int64_t time_us)
{
    hf_unit_row(m->r->unit, 0, row);
    if (m->task == HF_NONE) {
        m->task = key;
        m->task_us = time_us;
        m->kind = kind;
    }
    m->rows++;
}

/* What the events after ActivityScheduled say of the attempts that did not run. */
typedef struct attempts {
    int64_t available_us; /* of the next one */
    int64_t lost;
    int64_t missed;
} attempts;

static attempts attempts_count(const hf_dossier *dossier, const hf_track_step *step)
{
    attempts found = {.available_us = step->opened->time_us};

    for (const hf_track_attempt *at = step->attempts; at; at = at->next)
        found.lost += at->status == HF_ATTEMPT_STATUS_EXPIRED;
    for (size_t i = 0; i < dossier->event_count; i++) {
        const hf_event *event = &dossier->events[i];
        hf_timeout_kind kind = 0;
        hf_slice text = {0};

        if (event->type != HF_EVENT_ACTIVITY_RETRY_SCHEDULED || event->step != step->step)
            continue;
        (void)hf_event_time(event, HF_KEY_RETRY_AVAILABLE_AT, &found.available_us);
        if (hf_event_text(event, HF_KEY_TIMEOUT_KIND, &text))
            (void)hf_timeout_kind_parse(text, &kind);
        found.missed += kind == HF_TIMEOUT_KIND_SCHEDULE_TO_START;
    }
    return found;
}

static hf_status activity_mend(mend *m, const hf_lost *lost, hf_err *err)
{
    const hf_track_step *step = lost->step;
    bool running = step->status == HF_ACTIVITY_STATUS_RUNNING;
    attempts count = attempts_count(m->r->dossier, step);
    hf_activity_row row = {.key = hf_ulid_key(&step->id),
                           .run = m->r->dossier->run.key,
                           .step = step->step,
                           .status = step->status,
                           .attempt = step->attempt ? step->attempt->number : 0,
                           .lost_attempts = count.lost,
                           .missed_starts = count.missed,
                           .scheduled_us = step->opened->time_us,
                           .available_us = running ? HF_NONE : count.available_us,
                           .started_us = running ? step->attempt->started_us : HF_NONE,
                           .closed_us = HF_NONE};
    bool leased = running && step->attempt->worker.len && step->attempt->lease_us != HF_NONE;
    hf_attempt_clock clock = {.running = running,
                              .since_us = running ? row.started_us : row.available_us,
                              .beat_us = row.started_us};
    hf_retry_policy policy;
    hf_status st;

    (void)hf_event_text(step->opened, HF_KEY_ACTIVITY_TYPE, &row.type);
    (void)hf_event_json(step->opened, HF_KEY_RETRY_POLICY, &row.policy);
    st = hf_policy_read(m->mem, row.policy, &policy, err);
    if (st)
        return st;
    row.max_attempts = policy.max_attempts ? policy.max_attempts : HF_NONE;
    row.close_deadline_us = policy.schedule_to_close_ms
                                ? row.scheduled_us + policy.schedule_to_close_ms * 1000
                                : HF_NONE;
    clock.close_deadline_us = row.close_deadline_us;
    row.deadline_us = hf_decide_due(&policy, &clock);
    if (leased) {
        row.owner = step->attempt->worker;
        row.lease_until_us = step->attempt->lease_us;
    }
    mended(m, lost->drifted ? hf_row_activity_set(m->mem, &row) : hf_row_activity_new(m->mem, &row),
           HF_TASK_TYPE_ACTIVITY, row.key, row.scheduled_us);
    if ((row.missed_starts || leased) && !lost->drifted)
        hf_unit_row(m->r->unit, 0, hf_row_activity_set(m->mem, &row));
    return HF_OK;
}

static void timer_mend(mend *m, const hf_lost *lost)
{
    const hf_track_step *step = lost->step;
    hf_timer_row row = {.key = hf_ulid_key(&step->timer_id),
                        .run = m->r->dossier->run.key,
                        .step = step->step,
                        .status = HF_TIMER_STATUS_PENDING,
                        .created_us = step->timer_set->time_us,
                        .closed_us = HF_NONE};
    hf_timer_kind kind = 0;
    hf_slice text = {0};

    if (hf_event_text(step->timer_set, HF_KEY_TIMER_KIND, &text))
        (void)hf_timer_kind_parse(text, &kind);
    row.kind = kind;
    (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &row.due_us);
    mended(m,
           lost->drifted ? hf_row_timer_reset(m->mem, row.key, row.due_us)
                         : hf_row_timer_new(m->mem, &row),
           HF_TASK_TYPE_TIMER, row.key, row.created_us);
}

/* The run wants a turn; the task says for what, as the one that is gone did. */
static hf_status task_mend(mend *m, const hf_lost *lost, hf_err *err)
{
    const hf_repair *r = m->r;
    int64_t kind = HF_NONE;
    int64_t source = HF_NONE;
    int64_t key = 0;
    hf_status st = hf_keys_take(r->keys, 1, &key, err);

    if (lost && lost->message) {
        kind = lost->message->update ? HF_RESUME_SOURCE_KIND_WORKFLOW_UPDATE
                                     : HF_RESUME_SOURCE_KIND_WORKFLOW_SIGNAL;
        source = hf_ulid_key(&lost->message->id);
    } else if (lost && lost->child) {
        kind = HF_INBOX_CHILD_CLOSED;
        source = lost->child->run;
    }
    if (!st)
        mended(m,
               hf_row_task_tell(m->mem, key, r->dossier->run.key, HF_NONE, kind, source, r->now_us),
               HF_TASK_TYPE_WORKFLOW, key, r->now_us);
    return st;
}

static hf_status fact_mend(mend *m, const hf_lost *lost, hf_err *err)
{
    int64_t key = 0;
    hf_status st = hf_keys_take(m->r->keys, 1, &key, err);

    if (!st)
        hf_unit_row(m->r->unit, 0,
                    hf_row_inbox_new(m->mem, key, m->r->dossier->run.key, HF_INBOX_CHILD_CLOSED,
                                     lost->child->run, m->r->now_us, (hf_slice){0}));
    m->rows += !st;
    return st;
}

static hf_status lost_mend(mend *m, const hf_lost *lost, hf_err *err)
{
    switch (lost->kind) {
    case HF_LOST_TASK:
        return task_mend(m, lost, err);
    case HF_LOST_ACTIVITY:
        return activity_mend(m, lost, err);
    case HF_LOST_TIMER:
        timer_mend(m, lost);
        return HF_OK;
    case HF_LOST_FACT:
        return fact_mend(m, lost, err);
    }
    return HF_OK;
}

/* A task that is there and does not move is handed out again. */
static void stuck_mend(mend *m)
{
    for (const hf_dossier_task *task = m->r->dossier->tasks; task; task = task->next) {
        hf_transport_state state = hf_liveness_transport(task, m->r->now_us);

        if (state == HF_TRANSPORT_STATE_REPLAY_BLOCKED ||
            state == HF_TRANSPORT_STATE_LEASE_EXPIRED ||
            state == HF_TRANSPORT_STATE_DISPATCH_OVERDUE ||
            state == HF_TRANSPORT_STATE_DISPATCH_FAILED ||
            state == HF_TRANSPORT_STATE_CLAIM_FAILED || state == HF_TRANSPORT_STATE_REPAIR_BACKOFF)
            mended(m, hf_row_task_repair(m->mem, task->key, m->r->now_us), (hf_task_type)task->kind,
                   task->key, task->created_us);
    }
}

/* Whoever repairs a blocked or quarantined run says that its code is right now. */
static hf_status block_lift(mend *m, hf_err *err)
{
    const hf_dossier *d = m->r->dossier;
    bool task = false;

    if (d->blocked != HF_RUN_BLOCKED_REPLAY && d->blocked != HF_RUN_BLOCKED_QUARANTINE)
        return HF_OK;
    hf_unit_row(m->r->unit, 0, hf_row_run_mark(m->mem, d->run.key, 0, 0));
    m->rows++;
    for (const hf_dossier_task *at = d->tasks; at; at = at->next)
        task |= at->kind == HF_TASK_TYPE_WORKFLOW;
    for (const hf_lost *lost = m->r->live->lost; lost; lost = lost->next)
        task |= lost->kind == HF_LOST_TASK;
    return task ? HF_OK : task_mend(m, NULL, err);
}

static bool repairable(const hf_liveness *live)
{
    return live->repair_blocked == 0;
}

hf_status hf_repair_draft(const hf_repair *repair, hf_command_row row, int64_t *out_command,
                          hf_cmd_outcome *out_outcome, hf_err *err)
{
    mend m = {.r = repair, .mem = hf_unit_mem(repair->unit), .task = HF_NONE};
    hf_intake_repair told = {.state = repair->live->state, .wait = repair->live->wait_kind};
    hf_status st = hf_keys_take(repair->keys, 1, &row.key, err);

    hf_unit_append(repair->unit, &repair->dossier->base, HF_NONE, HF_REBASE_NEVER);
    if (!st && repairable(repair->live)) {
        for (const hf_lost *lost = repair->live->lost; !st && lost; lost = lost->next)
            st = lost->drifted && !repair->drifted_too ? HF_OK : lost_mend(&m, lost, err);
        stuck_mend(&m);
        if (!st)
            st = block_lift(&m, err);
    }
    if (st)
        return st;
    *out_outcome = m.rows ? HF_CMD_OUTCOME_REPAIR_DISPATCHED : HF_CMD_OUTCOME_REPAIR_NOT_NEEDED;
    *out_command = row.key;
    row.outcome = *out_outcome;
    row.applied_us = row.closed_us = repair->now_us;
    told.outcome = *out_outcome;
    told.command_id = hf_ulid_form(repair->now_us, row.key, 0);
    if (m.task != HF_NONE) {
        told.task = m.kind;
        told.task_id = hf_ulid_form(m.task_us, m.task, 0);
    }
    hf_intake_repair_event(repair->unit, &told, repair->now_us);
    hf_unit_row(repair->unit, 0, hf_row_command_new(m.mem, &row));
    return HF_OK;
}
