/* task_fault.c: see task_fault.h. */
#include "engine/task_fault.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/value.h"
#include "model/words.h"

#define RETRY_FIRST_US INT64_C(1000000)
#define RETRY_MOST_US  INT64_C(60000000)

/* What Rust workers say of all failures. */
#define TYPE_DRIFT HF_SLICE("NonDeterministicReplayError")

/* ---- what SDKs say in words */

/* What follows the first `mark`; ptr NULL: it is not there. */
static hf_slice text_after(hf_slice text, const char *mark)
{
    size_t len = strlen(mark);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, mark, len) == 0)
            return hf_slice_from(text.ptr + i + len, text.len - i - len);
    return (hf_slice){0};
}

/* What stands before the first `mark`, all when it is not there. */
static hf_slice text_before(hf_slice text, const char *mark)
{
    hf_slice rest = text_after(text, mark);

    return rest.ptr ? hf_slice_from(text.ptr, text.len - rest.len - strlen(mark)) : text;
}

static int64_t number_read(hf_slice text)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.len && i < 18 && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        number = number * 10 + (text.ptr[i] - '0');
    return number;
}

/* A list of event types as they are recorded here: "A, B" for ['A', 'B']. */
static const char *types_keep(hf_mem *mem, hf_slice list)
{
    char *kept = hf_mem_text(mem, list);
    char *to = kept;

    for (const char *at = kept; kept && *at; at++)
        if (*at != '\'' && *at != '"')
            *to++ = *at;
    if (kept)
        *to = '\0';
    return kept;
}

/* "[key]" */
static const char *bracket_keep(hf_mem *mem, hf_slice text)
{
    return hf_mem_text(mem, text_before(text_after(text, "["), "]"));
}

/* "workflow history at workflow sequence 3 recorded ['TimerScheduled'], but the current workflow
   yielded activity:ship." of Python and PHP; false: it is not of this form. */
static bool shape_read(hf_mem *mem, hf_slice text, hf_replay_mismatch *why)
{
    hf_slice rest = text_after(text, "istory at workflow sequence ");
    hf_slice recorded = text_before(text_after(rest, " recorded ["), "], but ");
    hf_slice wanted = text_before(text_after(rest, "but the current workflow yielded "), ". ");

    if (!rest.ptr || !recorded.ptr || !wanted.ptr)
        return false;
    if (wanted.len && wanted.ptr[wanted.len - 1] == '.')
        wanted.len--;
    *why = (hf_replay_mismatch){.reason = HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH,
                                .step = number_read(rest),
                                .expected_shape = hf_mem_text(mem, wanted),
                                .recorded_events = types_keep(mem, recorded)};
    why->sentence =
        hf_mem_format(mem, "step %lld: history has %s, code wants %s", (long long)why->step,
                      why->recorded_events ? why->recorded_events : "",
                      why->expected_shape ? why->expected_shape : "");
    return true;
}

/* "Condition wait at workflow sequence 3 was recorded with condition key [a], but the current
   workflow yielded [b]." */
static bool condition_read(hf_mem *mem, hf_slice text, hf_replay_mismatch *why)
{
    hf_slice rest = text_after(text, "ondition wait at workflow sequence ");
    hf_slice recorded = text_after(rest, " was recorded with ");
    hf_slice wanted = text_after(rest, "but the current workflow yielded ");
    bool print = text_after(recorded, "predicate fingerprint ").ptr != NULL;

    if (!rest.ptr || !recorded.ptr || !wanted.ptr)
        return false;
    *why = (hf_replay_mismatch){
        .reason = HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH,
        .step = number_read(rest),
        .expected_shape = hf_history_shape_text(HF_HISTORY_SHAPE_CONDITION_WAIT),
        .recorded_events = hf_event_type_text(HF_EVENT_CONDITION_WAIT_OPENED),
        .sentence = hf_mem_text(mem, text_before(text, ". "))};
    *(print ? &why->recorded_fingerprint : &why->recorded_key) = bracket_keep(mem, recorded);
    *(print ? &why->current_fingerprint : &why->current_key) = bracket_keep(mem, wanted);
    return true;
}

/* "non-deterministic workflow replay (command_mismatch) at sequence Some(3): ..." of Rust, and what
   comes under the type of Python with other words. */
static bool drift_read(hf_mem *mem, hf_slice type, hf_slice text, hf_replay_mismatch *why)
{
    hf_slice rest = text_after(text, "non-deterministic workflow replay (");

    if (!rest.ptr && !hf_slice_equal(type, TYPE_DRIFT))
        return false;
    *why = (hf_replay_mismatch){.reason = HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH,
                                .step = number_read(text_after(rest, ") at sequence Some(")),
                                .sentence = hf_mem_text(mem, text)};
    return true;
}

/* ---- what programs of ours say */

static const char *field_keep(hf_mem *mem, hf_value said, const char *key)
{
    hf_slice text = hf_value_slice(hf_get(said, key));

    return text.ptr ? hf_mem_text(mem, hf_words_message(text)) : NULL;
}

static void own_read(hf_mem *mem, hf_value said, hf_slice message, hf_replay_mismatch *why)
{
    hf_replay_blocked_reason reason = HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH;

    (void)hf_replay_blocked_reason_parse(hf_value_slice(hf_get(said, "replay_blocked_reason")),
                                         &reason);
    *why = (hf_replay_mismatch){
        .reason = reason,
        .step = hf_int(said, "replay_blocked_workflow_sequence", 0),
        .at = field_keep(mem, said, "source_line"),
        .expected_shape = field_keep(mem, said, "replay_blocked_expected_history_shape"),
        .recorded_events = field_keep(mem, said, "replay_blocked_recorded_event_types"),
        .condition_wait_id = field_keep(mem, said, "replay_blocked_condition_wait_id"),
        .recorded_key = field_keep(mem, said, "replay_blocked_recorded_condition_key"),
        .current_key = field_keep(mem, said, "replay_blocked_current_condition_key"),
        .recorded_fingerprint =
            field_keep(mem, said, "replay_blocked_recorded_condition_definition_fingerprint"),
        .current_fingerprint =
            field_keep(mem, said, "replay_blocked_current_condition_definition_fingerprint"),
        .failure_type = field_keep(mem, said, "replay_blocked_exception_type"),
        .failure_resolution = field_keep(mem, said, "replay_blocked_resolution_source"),
        .sentence = field_keep(mem, said, "message")};
    if (!why->sentence)
        why->sentence = hf_mem_text(mem, message);
}

hf_status hf_task_fault_read(hf_mem *mem, hf_value failure, hf_task_fault *out_fault, hf_err *err)
{
    hf_value own = hf_get(failure, "replay_blocked");
    hf_slice type = hf_value_slice(hf_get(failure, "type"));
    hf_slice message = hf_value_kind_of(failure) == HF_VALUE_OBJECT
                           ? hf_value_slice(hf_get(failure, "message"))
                           : hf_value_slice(failure);
    hf_replay_mismatch why = {0};

    *out_fault =
        (hf_task_fault){.type = type.len ? hf_words_type(type) : HF_SLICE("workflow_task_failed"),
                        .message = message.len ? hf_words_message(message)
                                               : HF_SLICE("the worker did not say why")};
    if (hf_value_kind_of(own) == HF_VALUE_OBJECT) {
        own_read(mem, own, out_fault->message, &why);
        out_fault->blocked = true;
    } else {
        out_fault->blocked = shape_read(mem, out_fault->message, &why) ||
                             condition_read(mem, out_fault->message, &why) ||
                             drift_read(mem, type, out_fault->message, &why);
    }
    out_fault->why = why;
    return !out_fault->blocked || why.sentence ? HF_OK : hf_err_nomem(err, "a report");
}

hf_value hf_task_blocked_value(hf_mem *mem, const hf_replay_mismatch *why)
{
    return hf_json_(
        mem,
        "{'replay_blocked': true, 'replay_blocked_reason': %s, "
        "'replay_blocked_workflow_sequence': %lld,"
        "'replay_blocked_expected_history_shape': %s, "
        "'replay_blocked_recorded_event_types': %s,"
        "'replay_blocked_condition_wait_id': %s, "
        "'replay_blocked_recorded_condition_key': %s, "
        "'replay_blocked_current_condition_key': %s,"
        "'replay_blocked_recorded_condition_definition_fingerprint': %s,"
        "'replay_blocked_current_condition_definition_fingerprint': %s,"
        "'replay_blocked_exception_class': %s,"
        "'replay_blocked_exception_type': %s,"
        "'replay_blocked_resolution_source': %s,"
        "'replay_blocked_resolution_error': %s,"
        "'source_line': %s, 'message': %s}",
        hf_replay_blocked_reason_text(why->reason), (long long)why->step, why->expected_shape,
        why->recorded_events, why->condition_wait_id, why->recorded_key, why->current_key,
        why->recorded_fingerprint, why->current_fingerprint, why->failure_type, why->failure_type,
        why->failure_resolution, why->failure_type ? why->sentence : NULL, why->at, why->sentence);
}

/* ---- the row */

hf_status hf_task_fault_write(hf_mem *mem, hf_slice before, const hf_task_fault *fault,
                              hf_slice worker, int64_t now_us, hf_buf *out_body, int64_t *out_count,
                              int64_t *out_same, hf_err *err)
{
    hf_value was = NULL;
    hf_value body;
    char now[HF_CLOCK_TEXT_SIZE];
    bool same;

    if (!before.len || hf_json_read(mem, before, NULL, &was, NULL))
        was = NULL; /* of something else than failures */
    same = hf_slice_equal(hf_slice_of(hf_str(was, "failure.type", "")), fault->type) &&
           hf_slice_equal(hf_slice_of(hf_str(was, "failure.message", "")), fault->message);
    *out_count = hf_int(was, "failure.total", 0) + 1;
    *out_same = same ? hf_int(was, "failure.count", 0) + 1 : 1;
    (void)hf_clock_print(now_us, now);
    body =
        hf_json_(mem,
                 "{'failure': {'type': %s, 'message': %s, 'count': %lld, 'total': %lld, "
                 "'first_at': %s, 'last_at': %s, 'worker': %s}}",
                 hf_mem_text(mem, fault->type), hf_mem_text(mem, fault->message),
                 (long long)*out_same, (long long)*out_count,
                 same ? hf_str(was, "failure.first_at", now) : now, now, hf_mem_text(mem, worker));
    if (body)
        hf_json_write(out_body, body);
    return body && hf_buf_ok(out_body) ? HF_OK : hf_err_nomem(err, "a failure");
}

int64_t hf_task_fault_again(int64_t count, int64_t now_us)
{
    int64_t pause_us = RETRY_FIRST_US << (count < 7 ? count - 1 : 6);

    return now_us + (pause_us < RETRY_MOST_US ? pause_us : RETRY_MOST_US);
}
