/* why.c: see why.h. Liveness says in which state the run is; here that becomes one code and the
   words of its sentence, which why_value.c puts together. */
#include <string.h>

#include "base/json.h"
#include "model/limit.h"
#include "model/policy.h"
#include "project/edge.h"
#include "project/why_impl.h"

enum { LOG_PAGES_MAX = 16384 }; /* 64 MiB */

static const char *text_keep(hf_why_answer *a, hf_slice text)
{
    return text.ptr ? hf_mem_text(a->mem, text) : NULL;
}

static const char *event_text(hf_why_answer *a, const hf_event *event, hf_event_key key)
{
    hf_slice text = {0};

    if (event && hf_event_key_allowed(event->type, key))
        (void)hf_event_text(event, key, &text);
    return text_keep(a, text);
}

static void about_step(hf_why_answer *a)
{
    const hf_track_step *step = a->live->step;

    if (!step)
        return;
    a->step = step->step;
    a->event = step->opened;
    a->line = step->line.len ? text_keep(a, step->line) : NULL;
}

/* ---- closed */

static hf_why_code closed_code(const hf_dossier *dossier)
{
    switch ((hf_closed_reason)dossier->base.closed_reason) {
    case HF_CLOSED_REASON_COMPLETED:
        return HF_WHY_CLOSED_COMPLETED;
    case HF_CLOSED_REASON_CONTINUED:
        return HF_WHY_CLOSED_CONTINUED;
    case HF_CLOSED_REASON_CANCELLED:
        return HF_WHY_CLOSED_CANCELLED;
    case HF_CLOSED_REASON_TERMINATED:
        return HF_WHY_CLOSED_TERMINATED;
    case HF_CLOSED_REASON_TIMED_OUT:
        return HF_WHY_CLOSED_TIMED_OUT;
    case HF_CLOSED_REASON_FAILED:
    case HF_CLOSED_REASON_ABANDONED:
        return HF_WHY_CLOSED_FAILED;
    }
    return HF_WHY_CLOSED_FAILED;
}

static void about_closed(hf_why_answer *a)
{
    a->code = closed_code(a->dossier);
    a->subject = "run";
    a->since_us = a->dossier->base.closed_us;
    for (size_t i = a->dossier->event_count; i-- > 0 && !a->event;)
        if (hf_event_has_flag(a->dossier->events[i].type, HF_EVENT_CLOSES))
            a->event = &a->dossier->events[i];
    a->detail = event_text(a, a->event, HF_KEY_MESSAGE);
    if (!a->detail)
        a->detail = event_text(a, a->event, HF_KEY_REASON);
    if (!a->detail)
        a->detail = event_text(a, a->event, HF_KEY_TIMEOUT_KIND);
}

/* ---- blocked */

static hf_why_code blocked_code(hf_slice reason, hf_slice expected, hf_slice recorded)
{
    hf_slice version = hf_slice_of(hf_history_shape_text(HF_HISTORY_SHAPE_VERSION_MARKER));
    hf_slice barrier = hf_slice_of(hf_history_shape_text(HF_HISTORY_SHAPE_PARALLEL_BARRIER));
    hf_replay_blocked_reason word = 0;

    (void)hf_replay_blocked_reason_parse(reason, &word);
    if (word == HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH)
        return HF_WHY_REPLAY_BLOCKED_KEY;
    if (word == HF_REPLAY_BLOCKED_FAILURE_RESOLUTION)
        return HF_WHY_REPLAY_BLOCKED_FAILURE;
    if (hf_slice_starts(expected, barrier))
        return HF_WHY_REPLAY_BLOCKED_TOPOLOGY;
    if (hf_slice_starts(expected, version) ||
        hf_slice_equal(recorded, HF_SLICE("VersionMarkerRecorded")))
        return HF_WHY_REPLAY_BLOCKED_VERSION;
    return HF_WHY_REPLAY_BLOCKED_SHAPE;
}

/* The message without the step that it begins with: the sentence has named it. */
static const char *behind_step(hf_mem *mem, const char *message, int64_t step)
{
    const char *named = hf_mem_format(mem, "step %lld: ", (long long)step);

    return named && strncmp(message, named, strlen(named)) == 0 ? message + strlen(named) : message;
}

/* The blocked task says why, in the words of the turn that found it. */
static void about_blocked(hf_why_answer *a)
{
    hf_value body = NULL;

    a->code = HF_WHY_REPLAY_BLOCKED_SHAPE;
    a->subject = "step";
    a->step = a->live->stray;
    a->detail = a->live->reason;
    for (const hf_dossier_task *task = a->dossier->tasks; task; task = task->next) {
        if (hf_liveness_transport(task, a->world->live.now_us) != HF_TRANSPORT_STATE_REPLAY_BLOCKED)
            continue;
        a->since_us = task->available_us;
        if (hf_json_read(a->mem, task->body, NULL, &body, NULL))
            return;
        a->code =
            blocked_code(hf_slice_of(hf_str(body, "replay_blocked_reason", "")),
                         hf_slice_of(hf_str(body, "replay_blocked_expected_history_shape", "")),
                         hf_slice_of(hf_str(body, "replay_blocked_recorded_event_types", "")));
        a->step = hf_int(body, "replay_blocked_workflow_sequence", 0);
        a->detail =
            behind_step(a->mem, hf_str(body, "message", "code and history disagree"), a->step);
        a->line = hf_str(body, "source_line", NULL);
    }
}

/* ---- activities */

static bool heartbeat_late(hf_why_answer *a, const hf_track_step *step)
{
    hf_retry_policy policy;
    hf_slice json = {0};
    int64_t beat_us;

    (void)hf_event_json(step->opened, HF_KEY_RETRY_POLICY, &json);
    if (!step->attempt || hf_policy_read(a->mem, json, &policy, NULL) || !policy.heartbeat_ms)
        return false;
    beat_us = step->attempt->heartbeat_us != HF_EDGE_NO_TIME ? step->attempt->heartbeat_us
                                                             : step->attempt->started_us;
    if (beat_us + policy.heartbeat_ms * 1000 > a->world->live.now_us)
        return false;
    a->since_us = beat_us;
    return true;
}

/* What the newest attempt failed with. */
static const char *retry_failure(hf_why_answer *a, int64_t step)
{
    for (size_t i = a->dossier->event_count; i-- > 0;) {
        const hf_event *event = &a->dossier->events[i];

        if (event->type == HF_EVENT_ACTIVITY_RETRY_SCHEDULED && event->step == step) {
            const char *message = event_text(a, event, HF_KEY_MESSAGE);

            a->event = event;
            return message ? message : event_text(a, event, HF_KEY_TIMEOUT_KIND);
        }
    }
    return NULL;
}

static void about_attempt(hf_why_answer *a)
{
    const hf_track_step *step = a->live->step;

    a->number = step->attempt ? step->attempt->number : 1;
    a->since_us = step->attempt ? step->attempt->started_us : step->opened->time_us;
    if (a->live->state == HF_LIVENESS_ACTIVITY_RUNNING_WITHOUT_TASK)
        a->code = HF_WHY_RUNNING_UNRECORDED;
    else
        a->code = heartbeat_late(a, step) ? HF_WHY_HEARTBEAT_LATE : HF_WHY_RUNNING_ACTIVITY;
}

static void about_pending_activity(hf_why_answer *a)
{
    const hf_dossier_activity *row = a->live->activity;
    const hf_why_world *world = a->world;
    hf_slice queue = a->dossier->queue;
    bool waits;

    a->since_us = row->available_us != HF_NONE ? row->available_us : row->scheduled_us;
    if (row->attempt > 0 && row->available_us != HF_NONE &&
        row->available_us > world->live.now_us) {
        a->code = HF_WHY_RETRYING_ACTIVITY;
        a->number = row->attempt;
        a->since_us = row->scheduled_us;
        a->until_us = row->available_us;
        a->detail = retry_failure(a, row->step);
        return;
    }
    a->until_us = HF_NONE;
    if (hf_event_text(a->live->step->opened, HF_KEY_QUEUE, &queue) && queue.len)
        a->queue = text_keep(a, queue);
    if (world->live.past)
        waits = true; /* who was there is not on the record */
    else if (world->knows_activity)
        waits = world->knows_activity(world->live.ctx, queue, row->type);
    else /* whoever cannot say looks at how long nobody took it */
        waits = a->since_us + hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard * 1000000 >
                world->live.now_us;
    a->code = waits ? HF_WHY_QUEUED_BEHIND : HF_WHY_QUEUED_NO_WORKER;
    if (!waits && world->manned && world->manned(world->live.ctx, queue))
        a->code = HF_WHY_UNKNOWN_ACTIVITY;
}

static void about_activity(hf_why_answer *a)
{
    about_step(a);
    a->subject = "activity";
    a->name = event_text(a, a->live->step->opened, HF_KEY_ACTIVITY_TYPE);
    if (a->live->state == HF_LIVENESS_ACTIVITY_TASK_READY)
        about_pending_activity(a);
    else
        about_attempt(a);
}

/* ---- tasks */

static void about_task(hf_why_answer *a)
{
    const hf_dossier_task *task = a->live->task;

    a->subject = "task";
    if (!task) { /* of an earlier moment: that a turn was due is all that history says */
        a->code = HF_WHY_TURN_READY;
        return;
    }
    a->since_us = task->available_us;
    switch ((int)a->live->transport) {
    case HF_TRANSPORT_STATE_LEASED:
        a->code = HF_WHY_TURN_HELD;
        a->detail = text_keep(a, task->owner);
        a->until_us = task->lease_until_us;
        return;
    case HF_TRANSPORT_STATE_LEASE_EXPIRED:
        a->code = HF_WHY_LEASE_EXPIRED;
        a->since_us = task->lease_until_us;
        return;
    case HF_TRANSPORT_STATE_REPAIR_BACKOFF:
    case HF_TRANSPORT_STATE_DISPATCH_FAILED:
    case HF_TRANSPORT_STATE_CLAIM_FAILED:
        a->code = HF_WHY_REPAIR_BACKOFF;
        a->number = task->repair_count;
        a->until_us = task->repair_us;
        a->detail = task->trouble == HF_TASK_TROUBLE_CLAIM ? "Claiming its next task failed"
                                                           : "Handing over its next task failed";
        return;
    case HF_TRANSPORT_STATE_DISPATCH_OVERDUE:
        a->code = a->world->knows_workflow ? HF_WHY_QUEUED_BEHIND : HF_WHY_QUEUED_NO_WORKER;
        return;
    default:
        a->code = HF_WHY_TURN_READY;
        if (task->available_us > a->world->live.now_us) { /* a start that was put off */
            a->since_us = task->created_us;
            a->until_us = task->available_us;
        }
        return;
    }
}

static void about_message(hf_why_answer *a)
{
    a->event = a->live->message->came;
    a->name = text_keep(a, a->live->message->name);
    if (a->live->message->update) {
        a->subject = "update";
        a->code = HF_WHY_WAITING_FOR_UPDATE;
    } else {
        a->subject = "signal";
        a->code = HF_WHY_TURN_READY;
    }
}

/* ---- waits */

/* An open child that nobody can run: it would be waited for until somebody brings its type. */
static void about_unheard_child(hf_why_answer *a)
{
    const hf_why_world *world = a->world;
    const hf_dossier_child *row = a->dossier->children;

    while (row && (!world->knows_child || row->closed_us != HF_NONE ||
                   world->knows_child(world->live.ctx, row->type)))
        row = row->next;
    if (!row)
        return;
    a->code = HF_WHY_CHILD_UNKNOWN_TYPE;
    a->name = text_keep(a, row->id);
    a->detail = text_keep(a, row->type);
    a->step = row->step;
    a->since_us = row->run_us;
    a->event = NULL;
    a->line = NULL;
}

/* Code that is newer than the run may wait for a signal that the run does not take. Machines say
   what they take when they park. */
static void about_undeclared_signal(hf_why_answer *a)
{
    const hf_definition_snapshot *definition = a->dossier->definition;
    const hf_contract *contract = NULL;

    if (!a->name || !definition || hf_dossier_is_machine(a->dossier))
        return;
    if (!hf_definition_find(definition->signals, hf_slice_of(a->name), a->mem, &contract, NULL) &&
        !contract)
        a->code = HF_WHY_SIGNAL_UNDECLARED;
}

static void about_wait(hf_why_answer *a)
{
    about_step(a);
    switch (a->live->state) {
    case HF_LIVENESS_WAITING_FOR_CONDITION:
        a->code = HF_WHY_WAITING_FOR_CONDITION;
        a->subject = "condition_wait";
        a->name = event_text(a, a->event, HF_KEY_CONDITION_KEY);
        break;
    case HF_LIVENESS_WAITING_FOR_SIGNAL:
        a->code = HF_WHY_WAITING_FOR_SIGNAL;
        a->subject = "signal_wait";
        a->name = a->live->step && a->live->step->awaited.ptr
                      ? text_keep(a, a->live->step->awaited)
                      : event_text(a, a->event, HF_KEY_SIGNAL_NAME);
        about_undeclared_signal(a);
        break;
    case HF_LIVENESS_WAITING_FOR_CHILD:
        a->code = HF_WHY_WAITING_FOR_CHILD;
        a->subject = "child";
        a->name = a->live->child ? text_keep(a, a->live->child->id) : NULL;
        a->detail = a->live->child ? text_keep(a, a->live->child->type) : NULL;
        about_unheard_child(a);
        break;
    default:
        a->code = HF_WHY_WAITING_FOR_TIMER;
        a->subject = "timer";
        break;
    }
}

/* ---- which of them */

static bool deadline_passed(hf_why_answer *a)
{
    const hf_dossier *d = a->dossier;
    bool execution =
        d->execution_deadline_us != HF_NONE && d->execution_deadline_us <= a->world->live.now_us;
    bool run = d->run_deadline_us != HF_NONE && d->run_deadline_us <= a->world->live.now_us;

    if (!execution && !run)
        return false;
    a->code = HF_WHY_DEADLINE_PASSED;
    a->subject = "run";
    a->name = execution ? "execution deadline" : "run deadline";
    a->since_us = execution ? d->execution_deadline_us : d->run_deadline_us;
    a->until_us = HF_NONE;
    return true;
}

static void about_unserved(hf_why_answer *a)
{
    const hf_dossier_activity *activity = a->live->activity;

    a->code = HF_WHY_NO_COMPATIBLE_WORKER;
    a->subject = "task";
    a->since_us = a->live->task                       ? a->live->task->available_us
                  : a->live->timer                    ? a->live->timer->due_us
                  : activity->available_us != HF_NONE ? activity->available_us
                                                      : activity->scheduled_us;
    a->until_us = HF_NONE;
    a->detail = a->live->compatibility.ptr ? text_keep(a, a->live->compatibility) : "its queue";
}

static void about_quarantine(hf_why_answer *a)
{
    a->code = HF_WHY_QUARANTINED;
    a->subject = "run";
    a->number = a->dossier->crash_count;
    a->since_us = a->dossier->base.last_us;
}

static void about_state(hf_why_answer *a)
{
    switch (a->live->state) {
    case HF_LIVENESS_CLOSED:
        about_closed(a);
        break;
    case HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED:
        about_blocked(a);
        break;
    case HF_LIVENESS_RUN_QUARANTINED:
        about_quarantine(a);
        break;
    case HF_LIVENESS_RUN_PAUSED:
        a->code = HF_WHY_PAUSED;
        a->subject = "run";
        break;
    case HF_LIVENESS_ACTIVITY_RUNNING_WITHOUT_TASK:
    case HF_LIVENESS_ACTIVITY_TASK_READY:
    case HF_LIVENESS_ACTIVITY_TASK_LEASED:
        about_activity(a);
        break;
    case HF_LIVENESS_WAITING_FOR_CONDITION:
    case HF_LIVENESS_WAITING_FOR_SIGNAL:
    case HF_LIVENESS_WAITING_FOR_CHILD:
    case HF_LIVENESS_TIMER_SCHEDULED:
    case HF_LIVENESS_TIMER_TASK_LEASED:
    case HF_LIVENESS_TIMER_TASK_READY:
        about_wait(a);
        break;
    case HF_LIVENESS_WORKFLOW_TASK_READY:
    case HF_LIVENESS_WORKFLOW_TASK_LEASED:
        if (a->live->message && a->live->transport != HF_TRANSPORT_STATE_LEASED)
            about_message(a);
        else
            about_task(a);
        break;
    case HF_LIVENESS_WORKFLOW_TASK_CLAIM_FAILED:
    case HF_LIVENESS_ACTIVITY_TASK_CLAIM_FAILED:
    case HF_LIVENESS_TIMER_TASK_CLAIM_FAILED:
        about_task(a);
        break;
    case HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER:
        about_unserved(a);
        break;
    case HF_LIVENESS_REPAIR_NEEDED:
        if (a->live->lost) {
            about_step(a);
            a->code = HF_WHY_TASK_MISSING;
            a->subject = "task";
            a->detail = a->live->reason;
        } else {
            about_task(a);
        }
        break;
    }
}

/* What the step of a machine that comes next needs and this program does not have. The start of a
   run says nothing of a step: the one that it begins with is there when the machine is. */
static void about_machine(hf_why_answer *a)
{
    const hf_why_world *world = a->world;
    const hf_dossier *d = a->dossier;
    const hf_event *event = NULL;
    hf_slice name = {0};

    for (size_t i = d->event_count; i-- > 0 && !event;)
        if (d->events[i].type == HF_EVENT_STEP_COMPLETED ||
            d->events[i].type == HF_EVENT_WORKFLOW_STARTED)
            event = &d->events[i];
    if (!event)
        return;
    if (event->type == HF_EVENT_STEP_COMPLETED && !hf_event_text(event, HF_KEY_NEXT_STEP, &name))
        (void)hf_event_text(event, HF_KEY_STEP_NAME, &name);
    if (name.ptr && world->knows_step && !world->knows_step(world->live.ctx, d->run.type, name)) {
        a->code = HF_WHY_UNKNOWN_STEP;
        a->detail = text_keep(a, d->run.type);
    } else if (hf_event_text(event, HF_KEY_RATE_LIMIT, &name) && world->knows_limit &&
               !world->knows_limit(world->live.ctx, name)) {
        a->code = HF_WHY_UNKNOWN_LIMIT;
    } else {
        return;
    }
    a->subject = a->code == HF_WHY_UNKNOWN_STEP ? "step" : "limit";
    a->name = text_keep(a, name);
    a->event = event;
}

/* Workers reported that they could not do its next task; its body is what they said. */
static void about_fault(hf_why_answer *a)
{
    const hf_dossier_task *task = a->live->task;
    hf_value body = NULL;

    (void)!hf_json_read(a->mem, task->body, NULL, &body, NULL);
    a->code = HF_WHY_TASK_FAILING;
    a->subject = "task";
    a->since_us = task->available_us;
    a->number = hf_int(body, "failure.total", 1);
    a->name = hf_str(body, "failure.type", "failure");
    a->detail = hf_str(body, "failure.message", "");
    a->until_us = task->repair_us != HF_NONE && task->repair_us > a->world->live.now_us
                      ? task->repair_us
                      : HF_NONE;
}

/* Whether failures of its task are what holds the run: nothing that is worse does. */
static bool fault_counts(const hf_why_answer *a)
{
    hf_liveness_state state = a->live->state;

    return a->live->task && a->live->task->trouble == HF_TASK_TROUBLE_WORKER &&
           state != HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED && state != HF_LIVENESS_RUN_QUARANTINED &&
           state != HF_LIVENESS_RUN_PAUSED &&
           state != HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER;
}

/* No worker has the workflow: there is none at the queue, or those that are there do not know it.
 */
static void about_unknown(hf_why_answer *a)
{
    const hf_why_world *world = a->world;
    bool machine = hf_dossier_is_machine(a->dossier);
    bool manned = machine || !world->manned || world->manned(world->live.ctx, a->dossier->queue);

    a->code = machine  ? HF_WHY_MACHINE_ELSEWHERE
              : manned ? HF_WHY_UNKNOWN_TYPE
                       : HF_WHY_QUEUED_NO_WORKER;
    a->subject = manned ? "type" : "task";
    a->name = manned ? text_keep(a, a->dossier->run.type) : NULL;
    a->step = HF_NONE;
    a->since_us = a->live->task->available_us;
    a->until_us = HF_NONE;
    a->event = NULL;
    a->line = NULL;
}

/* What is wrong with this program or store comes before what the run waits for. */
static void about_world(hf_why_answer *a)
{
    const hf_why_world *world = a->world;
    const hf_dossier *d = a->dossier;
    bool wants_turn = a->live->task && a->live->task->kind == HF_TASK_TYPE_WORKFLOW &&
                      a->live->state != HF_LIVENESS_RUN_PAUSED &&
                      a->live->transport != HF_TRANSPORT_STATE_LEASED;

    if (a->live->state == HF_LIVENESS_CLOSED)
        return;
    if (hf_why_rows[a->code].severity == HF_WHY_OK &&
        (hf_limit_trips(HF_LIMIT_BUDGET_EVENT_THRESHOLD,
                        hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
                        d->base.last_seq) ||
         hf_limit_trips(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD,
                        hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard,
                        d->base.history_bytes))) {
        a->code = HF_WHY_HISTORY_BUDGET;
        a->number = d->base.last_seq;
    }
    if (fault_counts(a))
        about_fault(a);
    if (wants_turn && world->knows_workflow &&
        !world->knows_workflow(world->live.ctx, d->run.type)) {
        about_unknown(a);
    } else if (wants_turn) {
        about_machine(a);
    }
    if (hf_why_rows[a->code].severity != HF_WHY_ATTENTION)
        (void)deadline_passed(a);
    if (world->stalled_run == d->run.key) {
        a->code = HF_WHY_TASK_TIMEOUT;
        a->subject = "run";
    }
    if (world->log_pages > LOG_PAGES_MAX) {
        a->code = HF_WHY_STORE_WAL_BOUND;
        a->subject = "store";
        a->number = world->log_pages;
    }
}

hf_status hf_why_make(const hf_dossier *dossier, const hf_why_world *world, hf_mem *mem,
                      hf_value *out_why, hf_err *err)
{
    hf_track *track = NULL;
    hf_liveness live;
    hf_why_answer a = {.dossier = dossier, .world = world, .live = &live, .mem = mem};
    hf_status st = hf_liveness_track(dossier, mem, &track, err);

    if (!st)
        st = hf_liveness_fold(dossier, track, &world->live, mem, &live, err);
    if (!st) {
        a.number = a.step = HF_NONE;
        a.since_us = live.since_us;
        a.until_us = live.until_us;
        a.queue = text_keep(&a, dossier->queue);
        about_state(&a);
        about_world(&a);
        st = hf_why_answer_value(&a, out_why, err);
    }
    hf_track_free(track);
    return st;
}
