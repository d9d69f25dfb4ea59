/* track.c: see track.h. */
#include "project/track.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "base/value.h"
#include "project/edge.h"

struct hf_track {
    hf_mem *mem;
    int64_t run_key;
    hf_map_int *steps;    /* by number */
    hf_map_int *messages; /* by the key inside their id */
    hf_track_step *first_step, *last_step;
    hf_track_message *first_message, *last_message;
    hf_track_failure *first_failure, *last_failure;
    hf_track_step *waits;      /* open signal waits, newest first */
    hf_track_message *waiting; /* signals not yet applied, oldest first */
    hf_track_step *park;       /* where a machine waits; NULL: nowhere */
    bool machine;
    hf_slice line; /* of the step that was opened last */
};

hf_ulid hf_track_event_id(const hf_track *track, const hf_event *event, int64_t seq)
{
    return hf_ulid_form(event->time_us, track->run_key, (uint32_t)seq);
}

hf_ulid hf_track_attempt_id(const hf_track_step *step, int64_t number)
{
    return hf_ulid_form(hf_ulid_time_ms(&step->id) * 1000, hf_ulid_key(&step->id),
                        (uint32_t)number);
}

/* The id the event carries under `key`, else the id of the event itself. */
static hf_ulid id_of(const hf_track *track, const hf_event *event, int64_t seq, hf_event_key key)
{
    hf_ulid id;

    return hf_event_id(event, key, &id) ? id : hf_track_event_id(track, event, seq);
}

static hf_status step_make(hf_track *track, int64_t number, hf_track_step **out_step, hf_err *err)
{
    hf_track_step *step = hf_map_int_get(track->steps, (uint64_t)number);
    hf_status st;

    *out_step = step;
    if (step)
        return HF_OK;
    step = hf_mem_alloc(track->mem, sizeof(*step));
    if (!step)
        return hf_err_nomem(err, "a step");
    step->step = number;
    st = hf_map_int_put(track->steps, (uint64_t)number, step, NULL, err);
    if (st)
        return st;
    if (track->last_step)
        track->last_step->next = step;
    else
        track->first_step = step;
    track->last_step = step;
    *out_step = step;
    return HF_OK;
}

/* ---- signals and the waits for them */

static hf_status wait_name(hf_track *track, const hf_ulid *id, const char *prefix,
                           hf_slice *out_name, hf_err *err)
{
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(id, text);
    *out_name = hf_slice_of(hf_mem_format(track->mem, "%s%s", prefix, text));
    return out_name->ptr ? HF_OK : hf_err_nomem(err, "a wait");
}

static const hf_track_message *signal_waiting(const hf_track *track, hf_slice name)
{
    const hf_track_message *message = track->waiting;

    while (message && !hf_slice_equal(message->name, name))
        message = message->next_waiting;
    return message;
}

static const hf_track_step *wait_open(const hf_track *track, hf_slice name)
{
    hf_slice wanted;

    for (const hf_track_step *wait = track->waits; wait; wait = wait->next_wait)
        if (wait->opened && hf_event_text(wait->opened, HF_KEY_SIGNAL_NAME, &wanted) &&
            hf_slice_equal(wanted, name))
            return wait;
    return NULL;
}

/* The wait takes over the name of a signal that came before it. */
static hf_status wait_opened(hf_track *track, hf_track_step *step, const hf_event *event,
                             int64_t seq, hf_err *err)
{
    const hf_track_message *early;
    hf_ulid id = hf_track_event_id(track, event, seq);
    hf_slice name = {0};

    step->next_wait = track->waits;
    track->waits = step;
    if (hf_event_text(event, HF_KEY_SIGNAL_WAIT_ID, &step->wait_id))
        return HF_OK;
    (void)hf_event_text(event, HF_KEY_SIGNAL_NAME, &name);
    early = signal_waiting(track, name);
    if (early && hf_slice_starts(early->wait_id, HF_SLICE("signal-command:"))) {
        step->wait_id = early->wait_id;
        return HF_OK;
    }
    return wait_name(track, &id, "", &step->wait_id, err);
}

static void wait_over(hf_track *track, const hf_track_step *step)
{
    hf_track_step **at = &track->waits;

    while (*at && *at != step)
        at = &(*at)->next_wait;
    if (*at)
        *at = (*at)->next_wait;
}

static hf_status message_came(hf_track *track, const hf_event *event, int64_t seq, bool update,
                              hf_err *err)
{
    hf_track_message *message = hf_mem_alloc(track->mem, sizeof(*message));
    hf_track_message **tail = &track->waiting;
    const hf_track_step *wait;
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a message");
    message->id = id_of(track, event, seq, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID);
    message->update = update;
    message->came = event;
    (void)hf_event_text(event, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, &message->name);
    st = hf_map_int_put(track->messages, (uint64_t)hf_ulid_key(&message->id), message, NULL, err);
    if (st)
        return st;
    if (track->last_message)
        track->last_message->next = message;
    else
        track->first_message = message;
    track->last_message = message;
    if (update)
        return HF_OK;
    wait = wait_open(track, message->name);
    if (!hf_event_text(event, HF_KEY_SIGNAL_WAIT_ID, &message->wait_id)) {
        if (wait && !signal_waiting(track, message->name))
            message->wait_id = wait->wait_id;
        else
            st = wait_name(track, &message->id, "signal-command:", &message->wait_id, err);
    }
    while (*tail)
        tail = &(*tail)->next_waiting;
    *tail = message;
    return st;
}

static hf_track_message *message_find(const hf_track *track, const hf_event *event,
                                      hf_event_key key)
{
    hf_ulid id;

    return hf_event_id(event, key, &id)
               ? hf_map_int_get(track->messages, (uint64_t)hf_ulid_key(&id))
               : NULL;
}

static void signal_applied(hf_track *track, hf_track_message *message, const hf_event *event)
{
    hf_track_message **at = &track->waiting;

    if (!message)
        return;
    message->applied = event;
    while (*at && *at != message)
        at = &(*at)->next_waiting;
    if (*at)
        *at = message->next_waiting;
}

/* ---- failures */

static hf_status failure_add(hf_track *track, const hf_event *event, int64_t seq,
                             hf_failure_source_kind source, hf_propagation_kind propagation,
                             hf_err *err)
{
    hf_track_failure *failure = hf_mem_alloc(track->mem, sizeof(*failure));

    if (!failure)
        return hf_err_nomem(err, "a failure");
    failure->event = event;
    failure->id = id_of(track, event, seq, HF_KEY_FAILURE_ID);
    failure->source = source;
    failure->propagation = propagation;
    if (track->last_failure)
        track->last_failure->next = failure;
    else
        track->first_failure = failure;
    track->last_failure = failure;
    return HF_OK;
}

bool hf_track_failure_kind(const hf_event *event, hf_failure_source_kind *out_source,
                           hf_propagation_kind *out_propagation)
{
    hf_slice message;

    *out_source = HF_FAILURE_SOURCE_KIND_WORKFLOW_RUN;
    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_FAILED:
        *out_source = HF_FAILURE_SOURCE_KIND_ACTIVITY_EXECUTION;
        *out_propagation = HF_PROPAGATION_KIND_ACTIVITY;
        return true;
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        *out_source = HF_FAILURE_SOURCE_KIND_ACTIVITY_EXECUTION;
        *out_propagation = HF_PROPAGATION_KIND_TIMEOUT;
        return true;
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
        *out_source = HF_FAILURE_SOURCE_KIND_CHILD_WORKFLOW_RUN;
        *out_propagation = HF_PROPAGATION_KIND_CHILD;
        return true;
    case HF_EVENT_UPDATE_COMPLETED:
        *out_source = HF_FAILURE_SOURCE_KIND_WORKFLOW_COMMAND;
        *out_propagation = HF_PROPAGATION_KIND_UPDATE;
        return hf_event_text(event, HF_KEY_MESSAGE, &message);
    case HF_EVENT_WORKFLOW_FAILED:
        *out_propagation = HF_PROPAGATION_KIND_TERMINAL;
        return true;
    case HF_EVENT_WORKFLOW_TIMED_OUT:
        *out_propagation = HF_PROPAGATION_KIND_TIMEOUT;
        return true;
    case HF_EVENT_WORKFLOW_CANCELLED:
        *out_propagation = HF_PROPAGATION_KIND_CANCELLED;
        return true;
    case HF_EVENT_WORKFLOW_TERMINATED:
        *out_propagation = HF_PROPAGATION_KIND_TERMINATED;
        return true;
    default:
        return false;
    }
}

static void failure_handled(hf_track *track, int64_t number)
{
    hf_track_step *step = hf_map_int_get(track->steps, (uint64_t)number);

    if (step && step->failure)
        step->failure->handled = true;
}

/* ---- activities */

static void attempt_close(hf_track_step *step, hf_attempt_status status, int64_t time_us)
{
    if (!step->attempt || step->attempt->status != HF_ATTEMPT_STATUS_RUNNING)
        return;
    step->attempt->status = status;
    step->attempt->closed_us = time_us;
}

static hf_status attempt_begin(hf_track *track, hf_track_step *step, const hf_event *event,
                               hf_err *err)
{
    hf_track_attempt *attempt = hf_mem_alloc(track->mem, sizeof(*attempt));

    if (!attempt)
        return hf_err_nomem(err, "an attempt");
    attempt_close(step, HF_ATTEMPT_STATUS_EXPIRED, event->time_us); /* its worker was lost */
    *attempt = (hf_track_attempt){.number = step->attempt ? step->attempt->number + 1 : 1,
                                  .status = HF_ATTEMPT_STATUS_RUNNING,
                                  .started_us = event->time_us,
                                  .heartbeat_us = HF_EDGE_NO_TIME,
                                  .lease_us = HF_EDGE_NO_TIME,
                                  .closed_us = HF_EDGE_NO_TIME};
    (void)hf_event_int(event, HF_KEY_ATTEMPT_NUMBER, &attempt->number);
    (void)hf_event_time(event, HF_KEY_LEASE_EXPIRES_AT, &attempt->lease_us);
    (void)hf_event_text(event, HF_KEY_WORKER, &attempt->worker);
    if (step->attempt)
        step->attempt->next = attempt;
    else
        step->attempts = attempt;
    step->attempt = attempt;
    step->status = HF_ACTIVITY_STATUS_RUNNING;
    return HF_OK;
}

static hf_status heartbeat(hf_track *track, hf_track_step *step, const hf_event *event, hf_err *err)
{
    hf_track_attempt *attempt = step->attempt;
    hf_track_beat *beat;

    if (!attempt)
        return HF_OK;
    beat = hf_mem_alloc(track->mem, sizeof(*beat));
    if (!beat)
        return hf_err_nomem(err, "a heartbeat");
    attempt->heartbeat_us = event->time_us;
    (void)hf_event_time(event, HF_KEY_HEARTBEAT_AT, &attempt->heartbeat_us);
    (void)hf_event_time(event, HF_KEY_LEASE_EXPIRES_AT, &attempt->lease_us);
    *beat = (hf_track_beat){.next = attempt->beats, .at_us = attempt->heartbeat_us};
    attempt->beats = beat;
    attempt->beat = event;
    return HF_OK;
}

static void activity_close(hf_track_step *step, hf_activity_status status,
                           hf_attempt_status attempt, const hf_event *event)
{
    step->status = status;
    if (step->attempt && step->attempt->status == HF_ATTEMPT_STATUS_RUNNING)
        step->attempt->ended = event;
    attempt_close(step, attempt, event->time_us);
}

/* ---- steps */

static void timer_event(hf_track *track, hf_track_step *step, const hf_event *event, int64_t seq)
{
    if (event->type == HF_EVENT_TIMER_SCHEDULED) {
        step->timer_set = event;
        step->timer_ended = NULL;
        step->timer_id = id_of(track, event, seq, HF_KEY_TIMER_ID);
        if (step->opened == event)
            step->id = step->timer_id;
        return;
    }
    step->timer_ended = event;
    if (event->type == HF_EVENT_TIMER_FIRED)
        wait_over(track, step); /* a signal wait that timed out has no event of its own */
}

/* The list that the event carries; NULL when it has none, or one that cannot be read. */
static hf_status list_read(hf_track *track, const hf_event *event, hf_event_key key,
                           hf_value *out_list, hf_err *err)
{
    hf_slice json;
    hf_err broken = {0};

    *out_list = NULL;
    if (!hf_event_json(event, key, &json))
        return HF_OK;
    if (hf_json_read(track->mem, json, NULL, out_list, &broken) == HF_NOMEM) {
        *err = broken;
        return HF_NOMEM;
    }
    return HF_OK;
}

static hf_status park_begin(hf_track *track, hf_track_step *step, const hf_event *event,
                            hf_err *err)
{
    hf_value names = NULL;
    hf_buf text = {0};
    hf_status st = list_read(track, event, HF_KEY_AWAITED_NAMES, &names, err);

    for (size_t i = 0; i < hf_len(names); i++) {
        hf_buf_add_text(&text, i ? "|" : "");
        hf_buf_add_slice(&text, hf_value_slice(hf_at(names, i)));
    }
    if (!st && hf_buf_ok(&text))
        step->awaited = hf_slice_from(hf_mem_text(track->mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    track->park = step;
    return st || step->awaited.ptr ? st : hf_err_nomem(err, "the names that a machine awaits");
}

/* A machine's step says which signals it used up, and ends the wait that led to it. */
static hf_status machine_step(hf_track *track, hf_track_step *step, const hf_event *event,
                              int64_t seq, hf_err *err)
{
    hf_step_outcome outcome = HF_STEP_OUTCOME_NEXT;
    hf_value used = NULL;
    hf_slice text = {0};
    hf_ulid id;
    hf_status st = list_read(track, event, HF_KEY_CONSUMED_SIGNALS, &used, err);

    track->machine = true;
    step->id = hf_track_event_id(track, event, seq);
    for (size_t i = 0; i < hf_len(used); i++)
        if (hf_ulid_parse(hf_value_slice(hf_at(used, i)), &id))
            signal_applied(track, hf_map_int_get(track->messages, (uint64_t)hf_ulid_key(&id)),
                           event);
    if (track->park)
        track->park->woken = event;
    track->park = NULL;
    (void)hf_event_text(event, HF_KEY_OUTCOME, &text);
    (void)hf_step_outcome_parse(text, &outcome);
    return st || outcome != HF_STEP_OUTCOME_PARK ? st : park_begin(track, step, event, err);
}

static hf_status step_event(hf_track *track, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_track_step *step = NULL;
    hf_status st = step_make(track, event->step, &step, err);

    if (st)
        return st;
    if (hf_event_opens_step(event) && !step->opened) {
        step->opened = event;
        if (hf_event_key_allowed(event->type, HF_KEY_SOURCE_LINE)) {
            (void)hf_event_text(event, HF_KEY_SOURCE_LINE, &track->line);
            step->line = track->line;
        }
    }
    if (hf_event_resolves_step(event) && !step->ended)
        step->ended = event;
    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_SCHEDULED:
        step->id = id_of(track, event, seq, HF_KEY_ACTIVITY_EXECUTION_ID);
        step->status = HF_ACTIVITY_STATUS_PENDING;
        return HF_OK;
    case HF_EVENT_ACTIVITY_STARTED:
        return attempt_begin(track, step, event, err);
    case HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED:
        return heartbeat(track, step, event, err);
    case HF_EVENT_ACTIVITY_RETRY_SCHEDULED:
        activity_close(step, HF_ACTIVITY_STATUS_PENDING, HF_ATTEMPT_STATUS_FAILED, event);
        return HF_OK;
    case HF_EVENT_ACTIVITY_COMPLETED:
        activity_close(step, HF_ACTIVITY_STATUS_COMPLETED, HF_ATTEMPT_STATUS_COMPLETED, event);
        return HF_OK;
    case HF_EVENT_ACTIVITY_FAILED:
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        activity_close(step, HF_ACTIVITY_STATUS_FAILED, HF_ATTEMPT_STATUS_FAILED, event);
        return HF_OK;
    case HF_EVENT_ACTIVITY_CANCELLED:
        activity_close(step, HF_ACTIVITY_STATUS_CANCELLED, HF_ATTEMPT_STATUS_CANCELLED, event);
        return HF_OK;
    case HF_EVENT_TIMER_SCHEDULED:
    case HF_EVENT_TIMER_FIRED:
    case HF_EVENT_TIMER_CANCELLED:
        timer_event(track, step, event, seq);
        return HF_OK;
    case HF_EVENT_CONDITION_WAIT_OPENED:
        step->id = id_of(track, event, seq, HF_KEY_CONDITION_WAIT_ID);
        return HF_OK;
    case HF_EVENT_SIGNAL_WAIT_OPENED:
        return wait_opened(track, step, event, seq, err);
    case HF_EVENT_SIGNAL_APPLIED:
        signal_applied(track, message_find(track, event, HF_KEY_SIGNAL_ID), event);
        wait_over(track, step);
        return HF_OK;
    case HF_EVENT_STEP_COMPLETED:
        return machine_step(track, step, event, seq, err);
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        step->id = id_of(track, event, seq, HF_KEY_CHILD_CALL_ID);
        return HF_OK;
    case HF_EVENT_CHILD_RUN_STARTED:
        step->child_started = event;
        return HF_OK;
    default:
        return HF_OK;
    }
}

/* Updates carry a step without being one. */
static bool is_of_step(const hf_event *event)
{
    return event->step > 0 && event->type != HF_EVENT_UPDATE_APPLIED &&
           event->type != HF_EVENT_UPDATE_COMPLETED && event->type != HF_EVENT_FAILURE_HANDLED &&
           event->type != HF_EVENT_NOTE_RECORDED;
}

static hf_status message_event(hf_track *track, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_track_message *message;

    switch ((int)event->type) {
    case HF_EVENT_SIGNAL_RECEIVED:
        return message_came(track, event, seq, false, err);
    case HF_EVENT_UPDATE_ACCEPTED:
        return message_came(track, event, seq, true, err);
    case HF_EVENT_UPDATE_APPLIED:
        message = message_find(track, event, HF_KEY_UPDATE_ID);
        if (message)
            message->applied = event;
        return HF_OK;
    case HF_EVENT_UPDATE_COMPLETED:
        message = message_find(track, event, HF_KEY_UPDATE_ID);
        if (message)
            message->ended = event;
        return HF_OK;
    case HF_EVENT_FAILURE_HANDLED:
        failure_handled(track, event->step);
        return HF_OK;
    default:
        return HF_OK;
    }
}

hf_status hf_track_add(hf_track *track, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_failure_source_kind source;
    hf_propagation_kind propagation;
    hf_track_step *step;
    hf_status st = is_of_step(event) ? step_event(track, event, seq, err)
                                     : message_event(track, event, seq, err);

    if (st || !hf_track_failure_kind(event, &source, &propagation))
        return st;
    st = failure_add(track, event, seq, source, propagation, err);
    step = is_of_step(event) ? hf_map_int_get(track->steps, (uint64_t)event->step) : NULL;
    if (!st && step)
        step->failure = track->last_failure;
    return st;
}

static int by_number(const void *x, const void *y)
{
    int64_t a = (*(const hf_track_step *const *)x)->step;
    int64_t b = (*(const hf_track_step *const *)y)->step;

    return (a > b) - (a < b);
}

hf_status hf_track_by_number(const hf_track *track, hf_mem *mem, const hf_track_step ***out_steps,
                             size_t *out_count, hf_err *err)
{
    size_t total = 0;

    *out_count = 0;
    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        total++;
    *out_steps = hf_mem_array(mem, total + 1, sizeof(**out_steps));
    if (!*out_steps)
        return hf_err_nomem(err, "steps");
    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        if (step->opened)
            (*out_steps)[(*out_count)++] = step;
    qsort(*out_steps, *out_count, sizeof(**out_steps), by_number);
    return HF_OK;
}

hf_slice hf_track_name(const hf_event *opened)
{
    static const hf_event_key keys[] = {HF_KEY_ACTIVITY_TYPE, HF_KEY_CHILD_WORKFLOW_TYPE,
                                        HF_KEY_SIGNAL_NAME,   HF_KEY_CONDITION_KEY,
                                        HF_KEY_CHANGE_ID,     HF_KEY_STEP_NAME};
    hf_slice name = {0};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (hf_event_text(opened, keys[i], &name))
            break;
    return name;
}

const hf_track_step *hf_track_step_get(const hf_track *track, int64_t step)
{
    return hf_map_int_get(track->steps, (uint64_t)step);
}

bool hf_track_is_machine(const hf_track *track)
{
    return track->machine;
}

const hf_track_step *hf_track_park(const hf_track *track)
{
    return track->park;
}

const hf_track_message *hf_track_message_get(const hf_track *track, const hf_ulid *id)
{
    return hf_map_int_get(track->messages, (uint64_t)hf_ulid_key(id));
}

const hf_track_step *hf_track_steps(const hf_track *track)
{
    return track->first_step;
}

const hf_track_message *hf_track_messages(const hf_track *track)
{
    return track->first_message;
}

const hf_track_failure *hf_track_failures(const hf_track *track)
{
    return track->first_failure;
}

hf_status hf_track_new(hf_mem *mem, int64_t run_key, hf_track **out_track, hf_err *err)
{
    const hf_map_seed seed = {.low = (uint64_t)run_key, .high = 1}; /* keys are the engine's own */
    hf_track *track = hf_alloc(sizeof(*track));

    if (!track)
        return hf_err_nomem(err, "a track");
    track->mem = mem;
    track->run_key = run_key;
    track->steps = hf_map_int_new(seed);
    track->messages = hf_map_int_new(seed);
    if (!track->steps || !track->messages) {
        hf_track_free(track);
        return hf_err_nomem(err, "a track");
    }
    *out_track = track;
    return HF_OK;
}

void hf_track_free(hf_track *track)
{
    if (!track)
        return;
    hf_map_int_free(track->steps);
    hf_map_int_free(track->messages);
    hf_alloc_free(track);
}
