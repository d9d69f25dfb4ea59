/* why.c: see why.h. Liveness says in which state the run is; here that becomes one code and its
   sentence. */
#include "project/why.h"

#include "base/assert.h"
#include "base/json.h"
#include "model/limit.h"
#include "model/policy.h"
#include "project/edge.h"
#include "project/why_text.h"

enum { LOG_PAGES_MAX = 16384 }; /* 64 MiB */

const hf_why_row hf_why_rows[HF_WHY_COUNT] = {
#define HF_WHY(enumerator, code, severity, text, action, docs)                                     \
    [enumerator] = {code, severity, text, action, docs},
#include "project/why.def"
#undef HF_WHY
};

const char *hf_why_severity_text(hf_why_severity severity)
{
    switch (severity) {
    case HF_WHY_OK:
        return "ok";
    case HF_WHY_NOTICE:
        return "notice";
    case HF_WHY_ATTENTION:
        return "attention";
    }
    return "attention";
}

/* An answer in the making. */
typedef struct answer {
    const hf_dossier *dossier;
    const hf_track *track;
    const hf_why_world *world;
    const hf_liveness *live;
    hf_mem *mem;
    hf_why_code code;
    const char *subject; /* kind of thing it is about */
    const char *name;    /* words of the sentence; NULL: not known, all four */
    const char *detail;
    const char *queue;
    const char *line; /* of the step in the code; NULL: unknown */
    int64_t number;   /* {attempt}, HF_NONE: not known */
    int64_t step;     /* HF_NONE: none */
    int64_t since_us;
    int64_t until_us;
    const hf_event *event; /* evidence; NULL: none */
} answer;

static const char *text_keep(answer *a, hf_slice text)
{
    return text.ptr ? hf_mem_text(a->mem, text) : NULL;
}

static const char *event_text(answer *a, const hf_event *event, hf_event_key key)
{
    hf_slice text = {0};

    if (event && hf_event_key_allowed(event->type, key))
        (void)hf_event_text(event, key, &text);
    return text_keep(a, text);
}

static void about_step(answer *a)
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

static void about_closed(answer *a)
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

/* The blocked task says why, in the words of the turn that found it. */
static void about_blocked(answer *a)
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
        a->detail = hf_str(body, "message", "code and history disagree");
        a->line = hf_str(body, "source_line", NULL);
    }
}

/* ---- activities */

static bool heartbeat_late(answer *a, const hf_track_step *step)
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
static const char *retry_failure(answer *a, int64_t step)
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

static void about_attempt(answer *a)
{
    const hf_track_step *step = a->live->step;

    a->number = step->attempt ? step->attempt->number : 1;
    a->since_us = step->attempt ? step->attempt->started_us : step->opened->time_us;
    if (a->live->state == HF_LIVENESS_ACTIVITY_RUNNING_WITHOUT_TASK)
        a->code = HF_WHY_RUNNING_UNRECORDED;
    else
        a->code = heartbeat_late(a, step) ? HF_WHY_HEARTBEAT_LATE : HF_WHY_RUNNING_ACTIVITY;
}

static void about_pending_activity(answer *a)
{
    const hf_dossier_activity *row = a->live->activity;
    const hf_why_world *world = a->world;
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
    if (world->live.past)
        waits = true; /* who was there is not on the record */
    else if (world->knows_activity)
        waits = world->knows_activity(world->live.ctx, row->type);
    else /* whoever cannot say looks at how long nobody took it */
        waits = a->since_us + hf_limit_get(HF_LIMIT_REPAIR_REDISPATCH_SECONDS)->standard * 1000000 >
                world->live.now_us;
    a->code = waits ? HF_WHY_QUEUED_BEHIND : HF_WHY_QUEUED_NO_WORKER;
}

static void about_activity(answer *a)
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

static void about_task(answer *a)
{
    const hf_dossier_task *task = a->live->task;

    a->subject = "task";
    if (!task) { /* of an earlier moment: that a turn was due is all that history says */
        a->code = HF_WHY_TURN_READY;
        return;
    }
    a->since_us = task->available_us;
    switch ((int)a->live->transport) {
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

static void about_message(answer *a)
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

static void about_wait(answer *a)
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
        break;
    case HF_LIVENESS_WAITING_FOR_CHILD:
        a->code = HF_WHY_WAITING_FOR_CHILD;
        a->subject = "child";
        a->name = a->live->child ? text_keep(a, a->live->child->id) : NULL;
        a->detail = a->live->child ? text_keep(a, a->live->child->type) : NULL;
        break;
    default:
        a->code = HF_WHY_WAITING_FOR_TIMER;
        a->subject = "timer";
        break;
    }
}

/* ---- which of them */

static bool deadline_passed(answer *a)
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

static void about_unserved(answer *a)
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

static void about_quarantine(answer *a)
{
    a->code = HF_WHY_QUARANTINED;
    a->subject = "run";
    a->number = a->dossier->crash_count;
    a->since_us = a->dossier->base.last_us;
}

static void about_state(answer *a)
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
        if (a->live->message)
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

/* What is wrong with this program or store comes before what the run waits for. */
static void about_world(answer *a)
{
    const hf_why_world *world = a->world;
    const hf_dossier *d = a->dossier;
    bool wants_turn = a->live->task && a->live->task->kind == HF_TASK_TYPE_WORKFLOW;

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
    if (wants_turn && world->knows_workflow &&
        !world->knows_workflow(world->live.ctx, d->run.type)) {
        a->code = HF_WHY_UNKNOWN_TYPE;
        a->subject = "type";
        a->name = text_keep(a, d->run.type);
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

/* ---- as a value */

static const char *answer_text(answer *a)
{
    int64_t now_us = a->world->live.now_us;
    const char *step =
        a->step == HF_NONE ? NULL : hf_mem_format(a->mem, "%lld", (long long)a->step);
    const char *number =
        a->number == HF_NONE ? NULL : hf_mem_format(a->mem, "%lld", (long long)a->number);
    const hf_why_word words[] = {
        {"name", a->name},
        {"detail", a->detail},
        {"queue", a->queue},
        {"step", step},
        {"attempt", number},
        {"since", a->since_us == HF_NONE ? NULL : hf_why_text_span(a->mem, now_us - a->since_us)},
        {"until", a->until_us == HF_NONE ? NULL : hf_why_text_span(a->mem, a->until_us - now_us)}};

    return hf_why_text_make(a->mem, hf_why_rows[a->code].text, words,
                            sizeof(words) / sizeof(words[0]));
}

static hf_value subject_value(const answer *a)
{
    hf_value_list *subject = hf_value_object(a->mem);

    hf_value_set(subject, HF_SLICE("kind"),
                 hf_value_string(a->mem, hf_slice_of(a->subject ? a->subject : "run")));
    hf_value_set(subject, HF_SLICE("name"),
                 a->name ? hf_value_string(a->mem, hf_slice_of(a->name)) : hf_value_null());
    hf_value_set(subject, HF_SLICE("step"),
                 a->step != HF_NONE ? hf_value_int(a->mem, a->step) : hf_value_null());
    hf_value_set(subject, HF_SLICE("source_line"),
                 a->line ? hf_value_string(a->mem, hf_slice_of(a->line)) : hf_value_null());
    return hf_value_finish(subject);
}

static hf_value evidence_value(const answer *a)
{
    hf_value_list *evidence = hf_value_array(a->mem);
    hf_value_list *item;

    if (a->event) {
        item = hf_value_object(a->mem);
        hf_value_set(item, HF_SLICE("event"),
                     hf_value_int(a->mem, a->event - a->dossier->events + 1));
        hf_value_append(evidence, hf_value_finish(item));
    }
    if (a->live->task) {
        hf_ulid id = hf_ulid_form(a->live->task->created_us, a->live->task->key, 0);

        item = hf_value_object(a->mem);
        hf_value_set(item, HF_SLICE("task"), hf_edge_id(a->mem, &id));
        hf_value_append(evidence, hf_value_finish(item));
    }
    return hf_value_finish(evidence);
}

static void action_add(const answer *a, hf_value_list *next, const char *action, const char *target,
                       bool primary)
{
    hf_value_list *item = hf_value_object(a->mem);

    hf_value_set(item, HF_SLICE("action"), hf_value_string(a->mem, hf_slice_of(action)));
    if (target)
        hf_value_set(item, HF_SLICE("target"), hf_value_string(a->mem, hf_slice_of(target)));
    if (primary)
        hf_value_set(item, HF_SLICE("primary"), hf_value_bool(true));
    hf_value_append(next, hf_value_finish(item));
}

static hf_value next_value(const answer *a)
{
    hf_value_list *next = hf_value_array(a->mem);
    const char *action = hf_why_rows[a->code].action;

    if (a->world->live.past)
        return hf_value_finish(next); /* nothing can be done about it any more */
    if (action[0] && a->live->repair_blocked != HF_REPAIR_BLOCKED_UNSUPPORTED_HISTORY)
        action_add(a, next, action, a->name, true);
    if (a->live->state != HF_LIVENESS_CLOSED)
        action_add(a, next, "cancel", NULL, false);
    return hf_value_finish(next);
}

/* Whether today's definition is the one that the run was started with: what is known of today's
   code says nothing of a run that follows another one. Null: nobody can say. */
static hf_value determinism_value(const answer *a)
{
    const hf_why_world *world = a->world;
    hf_slice current = {0};

    if (world->fingerprint)
        current = world->fingerprint(world->live.ctx, a->dossier->run.type);
    if (!current.ptr || !a->dossier->definition)
        return hf_value_null();
    return hf_value_string(a->mem,
                           hf_slice_equal(current, hf_slice_of(a->dossier->definition->fingerprint))
                               ? HF_SLICE("live_definition")
                               : HF_SLICE("definition_drift"));
}

static hf_status answer_value(answer *a, hf_value *out_why, hf_err *err)
{
    const hf_why_row *row = &hf_why_rows[a->code];
    const char *text = answer_text(a);
    hf_value_list *why = hf_value_object(a->mem);
    hf_ulid id = hf_dossier_run_id(&a->dossier->run);

    if (!text)
        return hf_err_nomem(err, "an answer");
    hf_value_set(why, HF_SLICE("code"), hf_value_string(a->mem, hf_slice_of(row->code)));
    hf_value_set(why, HF_SLICE("severity"),
                 hf_value_string(a->mem, hf_slice_of(hf_why_severity_text(row->severity))));
    hf_value_set(why, HF_SLICE("text"), hf_value_string(a->mem, hf_slice_of(text)));
    hf_value_set(why, HF_SLICE("since"), hf_edge_time(a->mem, a->since_us));
    hf_value_set(why, HF_SLICE("until"), hf_edge_time(a->mem, a->until_us));
    hf_value_set(why, HF_SLICE("subject"), subject_value(a));
    hf_value_set(why, HF_SLICE("evidence"), evidence_value(a));
    hf_value_set(why, HF_SLICE("next"), next_value(a));
    hf_value_set(why, HF_SLICE("instance_id"), hf_edge_text(a->mem, a->dossier->run.instance_id));
    hf_value_set(why, HF_SLICE("run_id"), hf_edge_id(a->mem, &id));
    hf_value_set(why, HF_SLICE("as_of_event"),
                 hf_value_int(a->mem, (int64_t)a->dossier->event_count));
    hf_value_set(why, HF_SLICE("workflow_determinism_source"), determinism_value(a));
    hf_value_set(why, HF_SLICE("liveness"), hf_liveness_value(a->live, a->dossier, a->mem));
    *out_why = hf_value_finish(why);
    return *out_why ? HF_OK : hf_err_nomem(err, "an answer");
}

hf_status hf_why_make(const hf_dossier *dossier, const hf_why_world *world, hf_mem *mem,
                      hf_value *out_why, hf_err *err)
{
    hf_track *track = NULL;
    hf_liveness live;
    answer a = {.dossier = dossier, .world = world, .live = &live, .mem = mem};
    hf_status st = hf_liveness_track(dossier, mem, &track, err);

    if (!st)
        st = hf_liveness_fold(dossier, track, &world->live, mem, &live, err);
    if (!st) {
        a.track = track;
        a.number = a.step = HF_NONE;
        a.since_us = live.since_us;
        a.until_us = live.until_us;
        a.queue = text_keep(&a, dossier->queue);
        about_state(&a);
        about_world(&a);
        st = answer_value(&a, out_why, err);
    }
    hf_track_free(track);
    return st;
}
