/* decide.c: one function per kind of decision, found through a table. Each adds its events and rows
   to the unit and remembers what must happen after the commit. */
#include "decide/decide.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "decide/decide_impl.h"
#include "model/words.h"

/* A path is of no use elsewhere and long: the file's own name is kept. */
static const char *line_of(const char *at)
{
    const char *slash = at ? strrchr(at, '/') : NULL;
    const char *line = slash ? slash + 1 : at;

    return line && strlen(line) < HF_SOURCE_LINE_SIZE && hf_utf8_valid(hf_slice_of(line)) ? line
                                                                                          : "";
}

/* The line of a step is recorded where it is another than that of the step before. */
static void line_put(hf_decide *decide, hf_event_builder *events)
{
    const char *line = line_of(decide->at);

    if (strcmp(line, decide->line ? decide->line : "") != 0)
        hf_event_put_text(events, HF_KEY_SOURCE_LINE, hf_slice_of(line));
    decide->line = line;
}

hf_event_builder *hf_decide_event(hf_decide *decide, hf_event_type type, int64_t step)
{
    hf_event_builder *events = hf_unit_events(decide->unit, 0);

    hf_event_begin(events, type, decide->now_us, step);
    if (decide->opens && hf_event_has_flag(type, HF_EVENT_OPENS) &&
        hf_event_key_allowed(type, HF_KEY_SOURCE_LINE)) {
        line_put(decide, events);
        decide->opens = false;
    }
    return events;
}

void hf_decide_row(hf_decide *decide, hf_row *row)
{
    hf_unit_row(decide->unit, 0, row);
}

hf_status hf_decide_key(hf_decide *decide, int64_t *out_key, hf_err *err)
{
    return hf_keys_take(decide->keys, 1, out_key, err);
}

bool hf_decide_keys(hf_decide *decide, int64_t count, int64_t *out_first)
{
    return !decide->failure.status &&
           !hf_keys_take(decide->keys, count, out_first, &decide->failure);
}

void hf_decide_know(hf_decide *decide, unsigned what)
{
    unsigned wanted = what & ~decide->known;

    if (!wanted || !decide->host || decide->failure.status)
        return;
    decide->known |= wanted;
    if (decide->host->know)
        (void)!decide->host->know(decide->host->ctx, wanted, &decide->failure);
}

void hf_decide_payload_in(hf_decide *decide, size_t part, hf_event_key key,
                          const hf_decision_payload *value)
{
    if (value->bytes.ptr)
        hf_event_put_payload(hf_unit_events(decide->unit, part), key,
                             hf_unit_payload(decide->unit, decide->stager, decide->keys, part,
                                             value->codec, value->bytes));
}

void hf_decide_payload(hf_decide *decide, hf_event_key key, const hf_decision_payload *value)
{
    hf_decide_payload_in(decide, 0, key, value);
}

hf_effect *hf_decide_effect(hf_decide *decide, hf_effect_kind kind, int64_t run)
{
    hf_effect *effect = hf_mem_alloc(hf_unit_mem(decide->unit), sizeof(*effect));

    if (!effect) {
        hf_unit_row(decide->unit, 0, NULL); /* the unit remembers that memory ran out */
        return NULL;
    }
    effect->kind = kind;
    effect->run = run;
    if (decide->last_effect)
        decide->last_effect->next = effect;
    else
        decide->effects = effect;
    decide->last_effect = effect;
    return effect;
}

void hf_decide_group_id(const hf_decision_group *group, char *out_text, size_t size)
{
    static const char *const prefixes[] = {[HF_PARALLEL_GROUP_KIND_ACTIVITY] =
                                               "parallel-activities",
                                           [HF_PARALLEL_GROUP_KIND_CHILD] = "parallel-children",
                                           [HF_PARALLEL_GROUP_KIND_MIXED] = "parallel-calls",
                                           [HF_PARALLEL_GROUP_KIND_TIMER] = "parallel-timers"};

    (void)snprintf(out_text, size, "%s:%lld:%lld", prefixes[group->kind],
                   (long long)group->base_step, (long long)group->size);
}

/* The six keys that every leaf of a barrier carries. */
void hf_decide_groups(hf_decide *decide, const hf_decision_row *row)
{
    hf_event_builder *events = hf_unit_events(decide->unit, 0);
    const hf_decision_group *inner;
    hf_buf path = {0};
    char id[96];

    if (row->group_count == 0)
        return;
    for (size_t i = 0; i < row->group_count; i++) {
        const hf_decision_group *group = &row->groups[i];

        hf_decide_group_id(group, id, sizeof(id));
        hf_buf_add_format(
            &path,
            "%s{\"parallel_group_base_sequence\":%lld,\"parallel_group_id\":\"%s\","
            "\"parallel_group_index\":%lld,\"parallel_group_kind\":\"%s\",\"parallel_group_size\":%"
            "lld}",
            i ? "," : "[", (long long)group->base_step, id, (long long)group->index,
            hf_parallel_group_kind_text(group->kind), (long long)group->size);
    }
    hf_buf_add_text(&path, "]");
    inner = &row->groups[row->group_count - 1];
    hf_event_put_text(events, HF_KEY_PARALLEL_GROUP_ID, hf_slice_of(id));
    hf_event_put_text(events, HF_KEY_PARALLEL_GROUP_KIND,
                      hf_slice_of(hf_parallel_group_kind_text(inner->kind)));
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, inner->base_step);
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_SIZE, inner->size);
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_INDEX, inner->index);
    if (hf_buf_ok(&path))
        hf_event_put_json(events, HF_KEY_PARALLEL_GROUP_PATH, hf_buf_slice(&path));
    else
        hf_unit_row(decide->unit, 0, NULL);
    hf_buf_fini(&path);
}

void hf_decide_words(hf_decide *decide, hf_slice type, hf_slice message)
{
    hf_event_builder *events = hf_unit_events(decide->unit, 0);

    if (type.ptr)
        hf_event_put_text(events, HF_KEY_EXCEPTION_TYPE, hf_words_type(type));
    if (message.ptr)
        hf_event_put_text(events, HF_KEY_MESSAGE, hf_words_message(message));
}

/* What every recorded failure says. The category is the recorder's view of it. */
void hf_decide_failure(hf_decide *decide, const hf_decision_failure *failure,
                       hf_failure_category category)
{
    hf_event_builder *events = hf_unit_events(decide->unit, 0);

    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(category)));
    hf_decide_words(decide, failure->type.ptr ? failure->type : HF_SLICE(""),
                    failure->message.ptr ? failure->message : HF_SLICE(""));
    hf_event_put_bool(events, HF_KEY_NON_RETRYABLE, !failure->retryable);
    hf_decide_payload(decide, HF_KEY_EXCEPTION, &failure->details);
}

typedef hf_status decide_fn(hf_decide *decide, const hf_decision_row *row, hf_err *err);

static hf_status decide_side_effect(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)err;
    (void)hf_decide_event(decide, HF_EVENT_SIDE_EFFECT_RECORDED, row->step);
    hf_decide_payload(decide, HF_KEY_RESULT, &row->value);
    return HF_OK;
}

static hf_status decide_version(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_VERSION_MARKER_RECORDED, row->step);

    (void)err;
    hf_event_put_text(events, HF_KEY_CHANGE_ID, row->name);
    hf_event_put_int(events, HF_KEY_VERSION, row->version.version);
    hf_event_put_int(events, HF_KEY_MIN_SUPPORTED, row->version.min_supported);
    hf_event_put_int(events, HF_KEY_MAX_SUPPORTED, row->version.max_supported);
    return HF_OK;
}

static hf_status decide_note(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)err;
    hf_event_put_text(hf_decide_event(decide, HF_EVENT_NOTE_RECORDED, 0), HF_KEY_MESSAGE,
                      row->name);
    return HF_OK;
}

static hf_status decide_handled(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events = hf_decide_event(decide, HF_EVENT_FAILURE_HANDLED, row->step);

    (void)err;
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(row->failure.category)));
    hf_decide_words(decide, row->failure.type, row->failure.message);
    hf_event_put_bool(events, HF_KEY_HANDLED, true);
    return HF_OK;
}

static hf_status decide_complete(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    (void)err;
    hf_decide_cancel_open(decide);
    (void)hf_decide_event(decide, HF_EVENT_WORKFLOW_COMPLETED, 0);
    hf_decide_payload(decide, HF_KEY_OUTPUT, &row->value);
    hf_decide_closed(decide, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_COMPLETED);
    return HF_OK;
}

/* Which limit was broken stands in the failure's details. */
static void limit_fields(hf_decide *decide, const hf_decision_failure *failure)
{
    hf_event_builder *events = hf_unit_events(decide->unit, 0);
    hf_value details = NULL;
    const char *kind;

    if (failure->category != HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT || !failure->details.bytes.ptr ||
        hf_json_read(hf_unit_mem(decide->unit), failure->details.bytes, NULL, &details, NULL))
        return;
    kind = hf_str(details, "structural_limit_kind", NULL);
    if (!kind)
        return;
    hf_event_put_text(events, HF_KEY_STRUCTURAL_LIMIT_KIND, hf_slice_of(kind));
    hf_event_put_int(events, HF_KEY_STRUCTURAL_LIMIT_VALUE,
                     hf_int(details, "structural_limit_value", 0));
    hf_event_put_int(events, HF_KEY_STRUCTURAL_LIMIT_CONFIGURED,
                     hf_int(details, "structural_limit_configured", 0));
}

static hf_status decide_fail(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    bool retried = false;
    hf_status st = hf_decide_retry(decide, row, &retried, err);

    if (st || retried)
        return st;
    hf_decide_cancel_open(decide);
    (void)hf_decide_event(decide, HF_EVENT_WORKFLOW_FAILED, 0);
    hf_decide_failure(decide, &row->failure, row->failure.category);
    limit_fields(decide, &row->failure);
    hf_decide_closed(decide, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_FAILED);
    return HF_OK;
}

/* Code heard of its cancellation, cleaned up and ended. */
static hf_status decide_cancelled(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_event_builder *events;

    (void)err;
    hf_decide_cancel_open(decide);
    events = hf_decide_event(decide, HF_EVENT_WORKFLOW_CANCELLED, 0);
    if (decide->run->cancel_asked)
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, decide->run->cancel_command);
    if (decide->run->cancel_reason.ptr)
        hf_event_put_text(events, HF_KEY_REASON, decide->run->cancel_reason);
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_CANCELLED)));
    hf_decide_words(decide, (hf_slice){0}, row->failure.message);
    hf_decide_closed(decide, HF_RUN_STATUS_CANCELLED, HF_CLOSED_REASON_CANCELLED);
    return HF_OK;
}

static decide_fn *const decide_table[] = {
    [HF_DECISION_SCHEDULE_ACTIVITY] = hf_decide_activity,
    [HF_DECISION_START_TIMER] = hf_decide_start_timer,
    [HF_DECISION_OPEN_SIGNAL_WAIT] = hf_decide_signal_wait,
    [HF_DECISION_APPLY_SIGNAL] = hf_decide_apply_signal,
    [HF_DECISION_OPEN_CONDITION_WAIT] = hf_decide_condition_wait,
    [HF_DECISION_SATISFY_CONDITION] = hf_decide_satisfy,
    [HF_DECISION_TIME_OUT_CONDITION] = hf_decide_time_out,
    [HF_DECISION_CANCEL_TIMER] = hf_decide_cancel_timer,
    [HF_DECISION_RECORD_SIDE_EFFECT] = decide_side_effect,
    [HF_DECISION_RECORD_VERSION_MARKER] = decide_version,
    [HF_DECISION_START_CHILD_WORKFLOW] = hf_decide_child,
    [HF_DECISION_UPSERT_MEMO] = hf_decide_memo,
    [HF_DECISION_UPSERT_SEARCH_ATTRIBUTES] = hf_decide_attributes,
    [HF_DECISION_SIGNAL_CHILD] = hf_decide_signal_child,
    [HF_DECISION_APPLY_UPDATE] = hf_decide_apply_update,
    [HF_DECISION_FAIL_UPDATE] = hf_decide_fail_update,
    [HF_DECISION_RECORD_NOTE] = decide_note,
    [HF_DECISION_HANDLE_FAILURE] = decide_handled,
    [HF_DECISION_RECEIVE_MESSAGES] = hf_decide_receive_messages,
    [HF_DECISION_SEND_MESSAGE] = hf_decide_send_message,
    [HF_DECISION_COMPLETE_WORKFLOW] = decide_complete,
    [HF_DECISION_FAIL_WORKFLOW] = decide_fail,
    [HF_DECISION_CONTINUE_AS_NEW] = hf_decide_continue,
    [HF_DECISION_COMPLETE_CANCELLED] = decide_cancelled,
    [HF_DECISION_COMPLETE_STEP] = hf_decide_step,
};

hf_status hf_decide_add(hf_decide *decide, const hf_decision_row *rows, size_t count, hf_err *err)
{
    const hf_decision_row *fail = NULL;
    size_t facts = hf_unit_events(decide->unit, 0)->count;
    hf_status st = hf_decide_check(decide, rows, count, &fail, err);

    if (!st && fail) {
        rows = fail;
        count = 1;
    }
    for (size_t i = 0; !st && i < count; i++) {
        HF_ASSERT(rows[i].kind > 0 &&
                  (size_t)rows[i].kind < sizeof(decide_table) / sizeof(decide_table[0]));
        if (decide->closed)
            return hf_err_set(err, HF_INVALID, "%s comes after the run was closed",
                              hf_decision_text(rows[i].kind));
        decide->at = rows[i].at;
        decide->opens = rows[i].step > 0;
        st = decide_table[rows[i].kind](decide, &rows[i], err);
        st = hf_err_because(err, st, "step %lld, %s", (long long)rows[i].step,
                            hf_decision_text(rows[i].kind));
    }
    decide->opens = false;
    if (!st && decide->failure.status)
        st = hf_err_set(err, decide->failure.status, "%s", decide->failure.text);
    if (!st)
        hf_decide_near(decide, facts);
    return st;
}
