/* replay_check.c: see replay_check.h. */
#include "engine/replay_check.h"

#include <stdio.h>
#include <string.h>

#include "base/avro.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/step.h"
#include "engine/task_fault.h"
#include "model/limit.h"
#include "model/words.h"

/* What is compared of a decision and the event it leaves; 0: nothing beyond type and step. */
typedef struct trace {
    int event;
    int name;
    int value;
} trace;

static const trace traces[] = {
    [HF_DECISION_SCHEDULE_ACTIVITY] = {HF_EVENT_ACTIVITY_SCHEDULED, HF_KEY_ACTIVITY_TYPE,
                                       HF_KEY_ARGUMENTS},
    [HF_DECISION_START_TIMER] = {HF_EVENT_TIMER_SCHEDULED, 0, 0},
    [HF_DECISION_OPEN_SIGNAL_WAIT] = {HF_EVENT_SIGNAL_WAIT_OPENED, HF_KEY_SIGNAL_NAME, 0},
    [HF_DECISION_APPLY_SIGNAL] = {HF_EVENT_SIGNAL_APPLIED, HF_KEY_SIGNAL_NAME, HF_KEY_VALUE},
    [HF_DECISION_OPEN_CONDITION_WAIT] = {HF_EVENT_CONDITION_WAIT_OPENED, HF_KEY_CONDITION_KEY, 0},
    [HF_DECISION_SATISFY_CONDITION] = {HF_EVENT_CONDITION_WAIT_SATISFIED, HF_KEY_CONDITION_KEY, 0},
    [HF_DECISION_TIME_OUT_CONDITION] = {HF_EVENT_CONDITION_WAIT_TIMED_OUT, HF_KEY_CONDITION_KEY, 0},
    [HF_DECISION_CANCEL_TIMER] = {HF_EVENT_TIMER_CANCELLED, 0, 0},
    [HF_DECISION_RECORD_SIDE_EFFECT] = {HF_EVENT_SIDE_EFFECT_RECORDED, 0, HF_KEY_RESULT},
    [HF_DECISION_RECORD_VERSION_MARKER] = {HF_EVENT_VERSION_MARKER_RECORDED, HF_KEY_CHANGE_ID, 0},
    [HF_DECISION_START_CHILD_WORKFLOW] = {HF_EVENT_CHILD_WORKFLOW_SCHEDULED,
                                          HF_KEY_CHILD_WORKFLOW_TYPE, 0},
    [HF_DECISION_UPSERT_MEMO] = {HF_EVENT_MEMO_UPSERTED, 0, HF_KEY_ENTRIES},
    [HF_DECISION_UPSERT_SEARCH_ATTRIBUTES] = {HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED, 0,
                                              HF_KEY_ATTRIBUTES},
    [HF_DECISION_APPLY_UPDATE] = {HF_EVENT_UPDATE_APPLIED, HF_KEY_UPDATE_NAME, 0},
    [HF_DECISION_FAIL_UPDATE] = {HF_EVENT_UPDATE_COMPLETED, HF_KEY_UPDATE_NAME, 0},
    [HF_DECISION_RECORD_NOTE] = {HF_EVENT_NOTE_RECORDED, HF_KEY_MESSAGE, 0},
    [HF_DECISION_HANDLE_FAILURE] = {HF_EVENT_FAILURE_HANDLED, 0, 0},
    [HF_DECISION_COMPLETE_WORKFLOW] = {HF_EVENT_WORKFLOW_COMPLETED, 0, HF_KEY_OUTPUT},
    [HF_DECISION_FAIL_WORKFLOW] = {HF_EVENT_WORKFLOW_FAILED, 0, 0},
    [HF_DECISION_CONTINUE_AS_NEW] = {HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, 0, 0},
    [HF_DECISION_COMPLETE_CANCELLED] = {HF_EVENT_WORKFLOW_CANCELLED, 0, 0},
};

static trace trace_of(hf_decision kind)
{
    return kind > 0 && (size_t)kind < sizeof(traces) / sizeof(traces[0]) ? traces[kind]
                                                                         : (trace){0};
}

int hf_replay_event_of(hf_decision kind)
{
    return trace_of(kind).event;
}

static hf_status value_read(hf_mem *mem, hf_payload_codec codec, hf_slice bytes,
                            hf_value *out_value, hf_err *err)
{
    *out_value = hf_value_null();
    if (!bytes.ptr)
        return HF_OK;
    return codec == HF_PAYLOAD_CODEC_AVRO ? hf_avro_decode(mem, bytes, NULL, out_value, err)
                                          : hf_json_read(mem, bytes, NULL, out_value, err);
}

/* A payload whose bytes are elsewhere counts as equal: it cannot be compared. */
static hf_status value_same(const hf_decision_row *row, const hf_event *event, hf_event_key key,
                            bool *out_same, hf_err *err)
{
    hf_payload_value payload = {.form = HF_PAYLOAD_FORM_INLINE, .codec = HF_PAYLOAD_CODEC_JSON};
    hf_mem *mem = hf_mem_new();
    hf_value decided = NULL;
    hf_value recorded = NULL;
    hf_status st = mem ? HF_OK : hf_err_nomem(err, "a value");

    (void)hf_event_payload(event, key, &payload);
    if (!st)
        st = value_read(mem, row->value.codec, row->value.bytes, &decided, err);
    if (!st)
        st = value_read(mem, payload.codec, payload.bytes, &recorded, err);
    if (!st)
        *out_same = payload.form != HF_PAYLOAD_FORM_INLINE || hf_value_equal(decided, recorded);
    hf_mem_free(mem);
    return st;
}

hf_status hf_replay_records(const hf_decision_row *row, const hf_event *event, bool *out_same,
                            hf_err *err)
{
    trace t = trace_of(row->kind);
    hf_slice name = {0};

    *out_same = false;
    if (!t.event || (int)event->type != t.event)
        return HF_OK;
    if (row->step && event->step && row->step != event->step)
        return HF_OK;
    if (t.name) {
        (void)hf_event_text(event, (hf_event_key)t.name, &name);
        if (!hf_slice_equal(name, row->name))
            return HF_OK;
    }
    if (event->type == HF_EVENT_WORKFLOW_FAILED &&
        (!hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &name) ||
         !hf_slice_equal(name, hf_words_type(row->failure.type))))
        return HF_OK;
    *out_same = true;
    return t.value ? value_same(row, event, (hf_event_key)t.value, out_same, err) : HF_OK;
}

/* ---- words */

static void duration_add(hf_buf *buf, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (seconds % units[i].seconds == 0 && (seconds || units[i].unit == 's')) {
            hf_buf_add_format(buf, "%lld%c", (long long)(seconds / units[i].seconds),
                              units[i].unit);
            return;
        }
    }
}

static void named_add(hf_buf *buf, const char *what, const hf_event *event, hf_event_key key)
{
    hf_slice name;

    hf_buf_add_text(buf, what);
    if (hf_event_text(event, key, &name))
        hf_buf_add_format(buf, " %.*s", (int)name.len, name.ptr);
}

/* What an event that opens a step stands for: "activity ship", "timer 2d". */
static void event_add(hf_buf *buf, const hf_event *event)
{
    int64_t seconds = 0;

    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_SCHEDULED:
        named_add(buf, "activity", event, HF_KEY_ACTIVITY_TYPE);
        return;
    case HF_EVENT_TIMER_SCHEDULED:
        hf_buf_add_text(buf, "timer ");
        (void)hf_event_int(event, HF_KEY_DELAY_SECONDS, &seconds);
        duration_add(buf, seconds);
        return;
    case HF_EVENT_SIGNAL_WAIT_OPENED:
        named_add(buf, "signal wait", event, HF_KEY_SIGNAL_NAME);
        return;
    case HF_EVENT_CONDITION_WAIT_OPENED:
        named_add(buf, "condition wait", event, HF_KEY_CONDITION_KEY);
        return;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        named_add(buf, "child workflow", event, HF_KEY_CHILD_WORKFLOW_TYPE);
        return;
    case HF_EVENT_VERSION_MARKER_RECORDED:
        named_add(buf, "version marker", event, HF_KEY_CHANGE_ID);
        return;
    case HF_EVENT_SIDE_EFFECT_RECORDED:
        hf_buf_add_text(buf, "side effect");
        return;
    default:
        hf_buf_add_text(buf, hf_event_type_text(event->type));
    }
}

static const hf_event *step_opening(const hf_event *events, size_t count, int64_t step)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].step == step && hf_event_opens_step(&events[i]))
            return &events[i];
    return NULL;
}

/* The guard's own sentence names event types; with the events at hand it can be said better. */
static hf_status blocked_say(const hf_replay_mismatch *why, const hf_event *events, size_t count,
                             hf_err *err)
{
    const hf_event *recorded = step_opening(events, count, why->step);
    hf_slice wants = hf_slice_of(why->expected_shape);
    const char *colon = wants.len ? memchr(wants.ptr, ':', wants.len) : NULL;
    hf_buf text = {0};
    hf_status st;

    if (why->reason != HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH || !recorded)
        return hf_err_set(err, HF_REPLAY_BLOCKED, "%s", why->sentence);
    hf_buf_add_format(&text, "step %lld: history has ", (long long)why->step);
    event_add(&text, recorded);
    hf_buf_add_text(&text, ", code wants ");
    if (colon) {
        hf_buf_add(&text, wants.ptr, (size_t)(colon - wants.ptr));
        hf_buf_add_format(&text, " %s", colon + 1);
    } else {
        hf_buf_add_slice(&text, wants);
    }
    if (why->at)
        hf_buf_add_format(&text, " at %s", why->at);
    st = hf_err_set(err, HF_REPLAY_BLOCKED, "%s",
                    hf_buf_ok(&text) ? hf_buf_text(&text) : why->sentence);
    hf_buf_fini(&text);
    return st;
}

/* ---- the end of the history */

static bool closed_by_code(const hf_event *closing)
{
    return closing->type == HF_EVENT_WORKFLOW_COMPLETED ||
           closing->type == HF_EVENT_WORKFLOW_CONTINUED_AS_NEW;
}

/* A run also fails because of a limit, or because the store refused what it asked for. */
static bool failed_by_code(const hf_event *closing)
{
    hf_failure_category category = HF_FAILURE_CATEGORY_APPLICATION;
    hf_slice text;

    if (closing->type != HF_EVENT_WORKFLOW_FAILED)
        return false;
    if (hf_event_text(closing, HF_KEY_FAILURE_CATEGORY, &text))
        (void)hf_failure_category_parse(text, &category);
    return category != HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT &&
           category != HF_FAILURE_CATEGORY_TASK_FAILURE && category != HF_FAILURE_CATEGORY_INTERNAL;
}

/* How many events there were before the run began to close: what was still open is cancelled in
   front of the closing event. */
static size_t before_close(const hf_event *events, size_t closing)
{
    bool taken = true;

    while (closing > 0 && taken) {
        const hf_event *event = &events[closing - 1];

        taken =
            event->time_us == events[closing].time_us &&
            (event->type == HF_EVENT_ACTIVITY_CANCELLED || event->type == HF_EVENT_TIMER_CANCELLED);
        closing -= taken;
    }
    return closing;
}

/* Code must close the run as it did then. */
static hf_status close_compare(hf_replay *replay, hf_turn turn, const hf_event *closing,
                               hf_err *err)
{
    const char *recorded = hf_event_type_text(closing->type);
    const hf_decision_row *rows;
    const hf_decision_row *last;
    size_t count = 0;
    bool same = false;
    hf_status st;

    rows = hf_replay_decisions(replay, &count);
    if (turn != HF_TURN_CLOSED || count == 0)
        return hf_err_set(err, HF_REPLAY_BLOCKED, "history ends with %s, code waits for %s",
                          recorded, hf_replay_waiting(replay));
    last = &rows[count - 1];
    if (hf_replay_event_of(last->kind) != (int)closing->type)
        return hf_err_set(err, HF_REPLAY_BLOCKED, "history ends with %s, code wants %s", recorded,
                          hf_decision_text(last->kind));
    st = hf_replay_records(last, closing, &same, err);
    if (st || same)
        return st;
    if (last->kind == HF_DECISION_FAIL_WORKFLOW)
        return hf_err_set(err, HF_REPLAY_BLOCKED,
                          "history ends with another failure than %.*s: %.*s",
                          (int)last->failure.type.len, last->failure.type.ptr,
                          (int)last->failure.message.len, last->failure.message.ptr);
    return hf_err_set(err, HF_REPLAY_BLOCKED, "history ends with another result than %.*s",
                      last->value.bytes.len > 200 ? 200 : (int)last->value.bytes.len,
                      last->value.bytes.ptr ? last->value.bytes.ptr : "");
}

/* A machine is not replayed: its history must follow from itself, and this program must know every
   step that the machine can be in. */
static hf_status machine_check(const hf_replay_info *info, const hf_event *events, size_t count,
                               hf_replay_verdict *verdict, hf_err *err)
{
    hf_replay *replay = NULL;
    hf_status st = hf_replay_new(info, &replay, err);

    if (!st)
        st = hf_replay_feed(replay, events, count, 1, err);
    hf_replay_free(replay);
    for (size_t i = 0; !st && i < count; i++) {
        hf_slice next;

        if (events[i].type == HF_EVENT_STEP_COMPLETED &&
            hf_event_text(&events[i], HF_KEY_NEXT_STEP, &next) &&
            !hf_step_code(info->machine, next)) {
            *verdict = (hf_replay_verdict){.reason = "step_missing", .step = events[i].step};
            st = hf_err_set(err, HF_REPLAY_BLOCKED,
                            "step %lld: history goes on with %.*s, which the machine does not have",
                            (long long)events[i].step, (int)next.len, next.ptr);
        }
    }
    return st;
}

/* What a mismatch says, kept beyond the replay. */
static hf_replay_verdict verdict_of(const hf_replay_mismatch *why)
{
    hf_replay_verdict verdict = {.reason = hf_replay_blocked_reason_text(why->reason),
                                 .step = why->step};

    if (why->at)
        (void)snprintf(verdict.at, sizeof(verdict.at), "%s", why->at);
    return verdict;
}

hf_replay_info hf_replay_check_info(const hf_registry_workflow *workflow, hf_slice instance_id,
                                    hf_slice run_id, int64_t run_key)
{
    return (hf_replay_info){
        .definition = workflow->definition,
        .machine = workflow->machine,
        .instance_id = instance_id,
        .run_id = run_id,
        .random_seed = hf_replay_seed(run_key),
        .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
        .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
        .events_max = hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard,
        .payload_max = hf_limit_get(HF_LIMIT_PAYLOAD_SIZE_BYTES)->standard,
        .continue_events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
        .continue_bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard};
}

hf_status hf_replay_check(const hf_replay_info *info, const hf_event *events, size_t count,
                          hf_mem *mem, hf_replay_verdict *out_verdict, hf_err *err)
{
    const hf_event *closing = NULL;
    hf_replay *replay = NULL;
    hf_turn turn = HF_TURN_PARKED;
    size_t known = count;
    hf_status st;

    *out_verdict = (hf_replay_verdict){0};
    if (info->machine)
        return machine_check(info, events, count, out_verdict, err);
    for (size_t i = 0; !closing && i < count; i++) {
        if (hf_event_has_flag(events[i].type, HF_EVENT_CLOSES)) {
            closing = &events[i];
            known = before_close(events, i);
        }
    }
    st = hf_replay_new(info, &replay, err);
    if (!st)
        hf_replay_freeze(replay);
    if (!st)
        st = hf_replay_feed(replay, events, known, 1, err);
    if (!st)
        st = hf_replay_turn(replay, &turn, err);
    if (!st && turn == HF_TURN_BLOCKED) {
        *out_verdict = verdict_of(hf_replay_mismatch_get(replay));
        if (mem)
            out_verdict->blocked = hf_task_blocked_value(mem, hf_replay_mismatch_get(replay));
        st = blocked_say(hf_replay_mismatch_get(replay), events, count, err);
    } else if (!st && closing && (closed_by_code(closing) || failed_by_code(closing))) {
        st = close_compare(replay, turn, closing, err);
        if (st == HF_REPLAY_BLOCKED)
            out_verdict->reason = "end_differs";
    }
    hf_replay_free(replay);
    return st;
}
