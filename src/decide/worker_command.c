/* worker_command.c: see worker_command.h. Two tables say what the published commands are: which
   fields each may carry, and what a field must look like. Everything that a command carries is
   either carried out or a mistake: a field of another command, one that this server does not do,
   one that nobody knows. */
#include "decide/worker_command.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/value.h"
#include "decide/decide_impl.h"
#include "model/envelope.h"
#include "model/limit.h"
#include "model/name.h"
#include "model/policy.h"

enum {
    KEY_SIZE = 160,
    FIELD_MAX = 64, /* no field that is known is longer */
    GROUPS_MAX = 8,
    GROUP_STEP_MAX = 1000000000,
    BACKOFFS_MAX = HF_RETRY_BACKOFFS_MAX,
    TEXT_MAX = 255
};

/* Commands as bits, so that a field can name all it belongs to. */
enum {
    ACTIVITY = 1 << 0,
    TIMER = 1 << 1,
    CHILD = 1 << 2,
    COMPLETE_UPDATE = 1 << 3,
    FAIL_UPDATE = 1 << 4,
    SIDE_EFFECT = 1 << 5,
    VERSION = 1 << 6,
    ATTRIBUTES = 1 << 7,
    CONDITION = 1 << 8,
    SIGNAL = 1 << 9,
    COMPLETE = 1 << 10,
    FAIL = 1 << 11,
    CONTINUE = 1 << 12,
    MEMO = 1 << 13
};
#define GROUPED  (ACTIVITY | TIMER | CHILD)
#define TERMINAL (COMPLETE | FAIL | CONTINUE)

typedef struct command_kind {
    const char *name;
    unsigned bit;
    hf_decision decision;
} command_kind;

static const command_kind kinds[] = {
    {"schedule_activity", ACTIVITY, HF_DECISION_SCHEDULE_ACTIVITY},
    {"start_timer", TIMER, HF_DECISION_START_TIMER},
    {"start_child_workflow", CHILD, HF_DECISION_START_CHILD_WORKFLOW},
    {"complete_update", COMPLETE_UPDATE, HF_DECISION_APPLY_UPDATE},
    {"fail_update", FAIL_UPDATE, HF_DECISION_FAIL_UPDATE},
    {"record_side_effect", SIDE_EFFECT, HF_DECISION_RECORD_SIDE_EFFECT},
    {"record_version_marker", VERSION, HF_DECISION_RECORD_VERSION_MARKER},
    {"upsert_search_attributes", ATTRIBUTES, HF_DECISION_UPSERT_SEARCH_ATTRIBUTES},
    {"upsert_memo", MEMO, HF_DECISION_UPSERT_MEMO},
    {"open_condition_wait", CONDITION, HF_DECISION_OPEN_CONDITION_WAIT},
    {"open_signal_wait", SIGNAL, HF_DECISION_OPEN_SIGNAL_WAIT},
    {"complete_workflow", COMPLETE, HF_DECISION_COMPLETE_WORKFLOW},
    {"fail_workflow", FAIL, HF_DECISION_FAIL_WORKFLOW},
    {"continue_as_new", CONTINUE, HF_DECISION_CONTINUE_AS_NEW},
};

typedef enum field_form {
    FORM_ANY,
    FORM_NAME,     /* a line that is not empty, at most TEXT_MAX bytes */
    FORM_LINE,     /* a text without control characters */
    FORM_TEXT,     /* any text */
    FORM_POSITIVE, /* seconds, above 0 */
    FORM_SECONDS,  /* 0 or more, fractions allowed */
    FORM_INT,
    FORM_BOOL,
    FORM_OBJECT,
    FORM_REFUSED /* this server does not do it */
} field_form;

typedef struct command_field {
    const char *name;
    unsigned in;     /* commands that may carry it */
    unsigned needed; /* commands that must */
    field_form form;
    hf_name_kind rule; /* what a FORM_NAME must be besides; 0: nothing */
} command_field;

static const command_field fields[] = {
    {"activity_type", ACTIVITY, ACTIVITY, FORM_NAME, HF_NAME_TYPE},
    {"workflow_type", CHILD | CONTINUE, CHILD, FORM_NAME, HF_NAME_TYPE},
    {"arguments", ACTIVITY | CHILD | CONTINUE, 0, FORM_ANY, 0},
    {"payload_codec", ACTIVITY | CHILD | CONTINUE | COMPLETE | SIDE_EFFECT | COMPLETE_UPDATE, 0,
     FORM_NAME, 0},
    {"queue", ACTIVITY | CHILD | CONTINUE, 0, FORM_NAME, HF_NAME_QUEUE},
    {"connection", 0, 0, FORM_REFUSED, 0},
    {"retry_policy", ACTIVITY | CHILD, 0, FORM_OBJECT, 0},
    {"start_to_close_timeout", ACTIVITY, 0, FORM_POSITIVE, 0},
    {"schedule_to_start_timeout", ACTIVITY, 0, FORM_POSITIVE, 0},
    {"schedule_to_close_timeout", ACTIVITY, 0, FORM_POSITIVE, 0},
    {"heartbeat_timeout", ACTIVITY, 0, FORM_POSITIVE, 0},
    {"worker_session", 0, 0, FORM_REFUSED, 0},
    {"delay_seconds", TIMER, TIMER, FORM_SECONDS, 0},
    {"parent_close_policy", CHILD, 0, FORM_NAME, 0},
    {"execution_timeout_seconds", CHILD, 0, FORM_POSITIVE, 0},
    {"run_timeout_seconds", CHILD, 0, FORM_POSITIVE, 0},
    {"update_id", COMPLETE_UPDATE | FAIL_UPDATE, COMPLETE_UPDATE | FAIL_UPDATE, FORM_NAME, 0},
    {"result", COMPLETE | COMPLETE_UPDATE | SIDE_EFFECT, SIDE_EFFECT, FORM_ANY, 0},
    {"message", FAIL | FAIL_UPDATE, FAIL | FAIL_UPDATE, FORM_TEXT, 0},
    {"exception_type", FAIL | FAIL_UPDATE, 0, FORM_TEXT, 0},
    {"exception_class", FAIL | FAIL_UPDATE, 0, FORM_TEXT, 0},
    {"exception", FAIL | FAIL_UPDATE, 0, FORM_ANY, 0},
    {"non_retryable", FAIL | FAIL_UPDATE, 0, FORM_BOOL, 0},
    {"change_id", VERSION, VERSION, FORM_NAME, HF_NAME_CHANGE},
    {"version", VERSION, VERSION, FORM_INT, 0},
    {"min_supported", VERSION, VERSION, FORM_INT, 0},
    {"max_supported", VERSION, VERSION, FORM_INT, 0},
    {"attributes", ATTRIBUTES, ATTRIBUTES, FORM_OBJECT, 0},
    {"attribute_types", ATTRIBUTES, 0, FORM_OBJECT, 0},
    {"entries", MEMO, MEMO, FORM_OBJECT, 0},
    {"condition_key", CONDITION, 0, FORM_LINE, 0},
    {"condition_definition_fingerprint", CONDITION, 0, FORM_LINE, 0},
    {"condition_wait_occurrence_id", CONDITION, 0, FORM_NAME, 0},
    {"signal_name", SIGNAL, SIGNAL, FORM_NAME, HF_NAME_SIGNAL},
    {"timeout_seconds", CONDITION | SIGNAL, 0, FORM_SECONDS, 0},
    {"parallel_group_path", GROUPED, 0, FORM_ANY, 0},
    {"parallel_group_id", GROUPED, 0, FORM_NAME, 0},
    {"parallel_group_kind", GROUPED, 0, FORM_NAME, 0},
    {"parallel_group_base_sequence", GROUPED, 0, FORM_INT, 0},
    {"parallel_group_size", GROUPED, 0, FORM_INT, 0},
    {"parallel_group_index", GROUPED, 0, FORM_INT, 0},
};

/* One batch on its way in. */
typedef struct reading {
    hf_mem *mem;
    hf_value_list *errors;
    char newest[KEY_SIZE]; /* a field is blamed once */
    size_t mistakes;
    size_t at; /* which command */
    hf_value command;
    unsigned bit;
    hf_err *err;
} reading;

static void mistake(reading *r, const char *field, const char *sentence)
{
    hf_value_list *list;
    char key[KEY_SIZE];
    int len = field ? snprintf(key, sizeof(key), "commands.%zu.%s", r->at, field)
                    : snprintf(key, sizeof(key), "commands.%zu", r->at);

    if (strcmp(key, r->newest) == 0)
        return;
    memcpy(r->newest, key, sizeof(key));
    list = hf_value_array(r->mem);
    hf_value_append(list, hf_value_string(r->mem, hf_slice_of(sentence)));
    hf_value_set(r->errors, hf_slice_from(key, (size_t)len), hf_value_finish(list));
    r->mistakes++;
}

static bool whole_number(hf_value value)
{
    return hf_value_kind_of(value) == HF_VALUE_INT;
}

static const char *form_mistake(field_form form, hf_value value)
{
    hf_value_kind kind = hf_value_kind_of(value);
    bool number = kind == HF_VALUE_INT || kind == HF_VALUE_DOUBLE;
    double amount = number ? hf_num(value, "", -1) : -1;

    switch (form) {
    case FORM_ANY:
        return NULL;
    case FORM_NAME:
        return kind == HF_VALUE_STRING && hf_value_slice(value).len > 0 &&
                       hf_value_slice(value).len <= TEXT_MAX &&
                       !hf_utf8_has_control(hf_value_slice(value))
                   ? NULL
                   : "must be a text of 1 to 255 bytes without control characters";
    case FORM_LINE:
        return kind == HF_VALUE_STRING && !hf_utf8_has_control(hf_value_slice(value))
                   ? NULL
                   : "must be a text without control characters";
    case FORM_TEXT:
        return kind == HF_VALUE_STRING ? NULL : "must be a text";
    case FORM_POSITIVE:
        return number && amount > 0 && amount * 1000 < (double)HF_RETRY_MS_MAX
                   ? NULL
                   : "must be a number of seconds above 0";
    case FORM_SECONDS:
        return number && amount >= 0 && amount * 1000 < (double)HF_RETRY_MS_MAX
                   ? NULL
                   : "must be a number of seconds, 0 or more";
    case FORM_INT:
        return whole_number(value) ? NULL : "must be a whole number";
    case FORM_BOOL:
        return kind == HF_VALUE_BOOL ? NULL : "must be true or false";
    case FORM_OBJECT:
        return kind == HF_VALUE_OBJECT ? NULL : "must be an object";
    case FORM_REFUSED:
        return "is not supported by this server";
    }
    return NULL;
}

/* Members that nobody knows: what they ask for would not be done. */
static void unknown_check(reading *r)
{
    hf_slice name;
    hf_value value;

    for (size_t i = 0; hf_value_member(r->command, i, &name, &value); i++) {
        bool known = hf_slice_equal(name, HF_SLICE("type"));

        for (size_t k = 0; !known && k < sizeof(fields) / sizeof(fields[0]); k++)
            known = hf_slice_equal(name, hf_slice_of(fields[k].name));
        if (known)
            continue;
        if (name.len > FIELD_MAX || hf_utf8_has_control(name))
            mistake(r, NULL, "has a field that no command has");
        else
            mistake(r, hf_mem_text(r->mem, name), "is no field that this server knows");
    }
}

/* Every field that is known is in its place and of its form; null is as good as absent. */
static void fields_check(reading *r)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const command_field *field = &fields[i];
        hf_value value = hf_value_find(r->command, hf_slice_of(field->name));
        hf_err bad = {0};
        const char *wrong;

        if (hf_value_kind_of(value) == HF_VALUE_NULL) {
            bool there = value && field->form == FORM_ANY;

            if ((field->needed & r->bit) && !there)
                mistake(r, field->name, "is required");
            continue;
        }
        wrong = form_mistake(field->form, value);
        if (field->form != FORM_REFUSED && !(field->in & r->bit))
            wrong = "does not belong to this command";
        if (!wrong && field->rule && hf_name_check(field->rule, hf_value_slice(value), &bad))
            wrong = bad.text;
        if (wrong)
            mistake(r, field->name, wrong);
    }
}

static hf_value field_get(const reading *r, const char *name)
{
    hf_value value = hf_value_find(r->command, hf_slice_of(name));

    return hf_value_kind_of(value) == HF_VALUE_NULL ? NULL : value;
}

/* ptr NULL when it is not there. Texts live in the request's arena. */
static hf_slice text_get(const reading *r, const char *name)
{
    hf_value value = field_get(r, name);

    return value ? hf_value_slice(value) : (hf_slice){0};
}

static int64_t micros_get(const reading *r, const char *name, int64_t otherwise)
{
    hf_value value = field_get(r, name);

    return value ? (int64_t)(hf_num(value, "", 0) * 1e6 + 0.5) : otherwise;
}

static hf_status payload_get(reading *r, const char *name, hf_decision_payload *out_payload)
{
    hf_slice codec = text_get(r, "payload_codec");
    hf_value value = hf_value_find(r->command, hf_slice_of(name));
    bool bare = !codec.ptr && r->bit == SIDE_EFFECT; /* sent as a frame without its envelope */
    hf_err wrong = {0};
    hf_status st =
        hf_envelope_read(r->mem, value, bare ? HF_SLICE("avro") : codec, out_payload, &wrong);

    if (st == HF_INVALID && bare) /* no frame: a text */
        st = hf_envelope_read(r->mem, value, (hf_slice){0}, out_payload, &wrong);

    if (st == HF_INVALID) {
        mistake(r, name, wrong.text);
        return HF_OK;
    }
    if (st && r->err)
        *r->err = wrong;
    return st;
}

static hf_status failure_get(reading *r, hf_decision_failure *out_failure)
{
    hf_slice type = text_get(r, "exception_type");
    hf_value exception = field_get(r, "exception");

    *out_failure = (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_APPLICATION,
        .type = type.ptr ? type : text_get(r, "exception_class"),
        .message = text_get(r, "message"),
        .retryable = !hf_bool(r->command, "non_retryable", false),
        .final = hf_bool(r->command, "non_retryable", false),
    };
    return exception ? payload_get(r, "exception", &out_failure->details) : HF_OK;
}

/* As decisions carry them: joined by commas. */
static hf_status final_types_get(reading *r, hf_value types, hf_decision_retry *retry)
{
    hf_buf names = {0};
    const hf_slice *read;
    const char *kept;
    hf_err wrong = {0};
    size_t count;

    for (size_t i = 0; i < hf_len(types); i++) {
        hf_slice name = hf_value_slice(hf_at(types, i));

        if (!name.len || memchr(name.ptr, ',', name.len))
            mistake(r, "retry_policy.non_retryable_error_types", "must be texts without a comma");
        hf_buf_add_format(&names, "%s%.*s", i ? "," : "", (int)name.len, name.ptr);
    }
    kept = hf_buf_ok(&names) ? hf_mem_text(r->mem, hf_buf_slice(&names)) : NULL;
    if (names.len)
        retry->no_retry_on = hf_slice_from(kept, names.len);
    if (kept && hf_retry_types(r->mem, retry->no_retry_on, &read, &count, &wrong) == HF_INVALID)
        mistake(r, "retry_policy.non_retryable_error_types", wrong.text);
    hf_buf_fini(&names);
    return kept ? HF_OK : hf_err_nomem(r->err, "a retry policy");
}

static bool array_or_none(hf_value value)
{
    return hf_value_kind_of(value) == HF_VALUE_NULL || hf_value_kind_of(value) == HF_VALUE_ARRAY;
}

/* What a retry policy has is known, and of the kind that it must be. */
static void policy_check(reading *r, hf_value policy)
{
    static const char *const known[] = {"max_attempts", "backoff_seconds",
                                        "non_retryable_error_types"};
    hf_slice name;
    hf_value value;

    for (size_t i = 0; hf_value_member(policy, i, &name, &value); i++) {
        bool found = false;

        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
            found = found || hf_slice_equal(name, hf_slice_of(known[k]));
        if (!found)
            mistake(r, "retry_policy",
                    "may have max_attempts, backoff_seconds and non_retryable_error_types alone");
    }
    if (!array_or_none(hf_get(policy, known[1])))
        mistake(r, "retry_policy.backoff_seconds", "must be an array");
    if (!array_or_none(hf_get(policy, known[2])))
        mistake(r, "retry_policy.non_retryable_error_types", "must be an array");
}

/* max_attempts, backoff_seconds and non_retryable_error_types of an activity or child. */
static hf_status retries_get(reading *r, hf_decision_retry *retry)
{
    hf_value policy = field_get(r, "retry_policy");
    hf_value most = hf_get(policy, "max_attempts");
    hf_value pauses = hf_get(policy, "backoff_seconds");
    int64_t *backoff;
    size_t count;

    if (!policy)
        return HF_OK;
    policy_check(r, policy);
    if (hf_value_kind_of(most) == HF_VALUE_NULL)
        retry->max_attempts = -1;
    else if (whole_number(most) && hf_int(most, "", 0) > 0)
        retry->max_attempts = hf_int(most, "", 0);
    else
        mistake(r, "retry_policy.max_attempts", "must be a whole number above 0, or null");
    count = hf_len(pauses);
    if (count > BACKOFFS_MAX)
        mistake(r, "retry_policy.backoff_seconds", "has more than 64 entries");
    if (count > BACKOFFS_MAX)
        return HF_OK;
    backoff = count ? hf_mem_array(r->mem, count, sizeof(*backoff)) : NULL;
    if (count && !backoff)
        return hf_err_nomem(r->err, "a retry policy");
    for (size_t i = 0; i < count; i++) {
        hf_value pause = hf_at(pauses, i);

        if (form_mistake(FORM_SECONDS, pause))
            mistake(r, "retry_policy.backoff_seconds", form_mistake(FORM_SECONDS, pause));
        backoff[i] = (int64_t)(hf_num(pause, "", 0) * 1e6);
    }
    retry->backoff_us = backoff;
    retry->backoff_count = count;
    return final_types_get(r, hf_get(policy, "non_retryable_error_types"), retry);
}

static hf_status activity_read(reading *r, hf_decision_row *row)
{
    hf_decision_activity *activity = &row->activity;

    row->name = text_get(r, "activity_type");
    *activity = (hf_decision_activity){
        .queue = text_get(r, "queue"),
        .start_to_close_us = micros_get(r, "start_to_close_timeout", 0),
        .schedule_to_start_us = micros_get(r, "schedule_to_start_timeout", 0),
        .schedule_to_close_us = micros_get(r, "schedule_to_close_timeout", 0),
        .heartbeat_us = micros_get(r, "heartbeat_timeout", 0),
    };
    if (activity->schedule_to_close_us && activity->start_to_close_us &&
        activity->schedule_to_close_us < activity->start_to_close_us)
        mistake(r, "schedule_to_close_timeout", "must not be below start_to_close_timeout");
    if (activity->heartbeat_us && activity->start_to_close_us &&
        activity->heartbeat_us > activity->start_to_close_us)
        mistake(r, "heartbeat_timeout", "must not be above start_to_close_timeout");
    return retries_get(r, &activity->retry);
}

static hf_status child_read(reading *r, hf_decision_row *row)
{
    hf_slice policy = text_get(r, "parent_close_policy");
    hf_decision_child *child = &row->child;

    row->name = text_get(r, "workflow_type");
    *child = (hf_decision_child){
        .queue = text_get(r, "queue"),
        .execution_timeout_us = micros_get(r, "execution_timeout_seconds", 0),
        .run_timeout_us = micros_get(r, "run_timeout_seconds", 0),
        .on_parent_close = HF_PARENT_CLOSE_ABANDON,
    };
    if (policy.ptr && !hf_parent_close_policy_parse(policy, &child->on_parent_close))
        mistake(r, "parent_close_policy", "must be abandon, request_cancel or terminate");
    if (child->execution_timeout_us && child->run_timeout_us > child->execution_timeout_us)
        mistake(r, "run_timeout_seconds", "must not be above execution_timeout_seconds");
    return retries_get(r, &child->retry);
}

static bool same_group(const hf_decision_group *a, const hf_decision_group *b)
{
    return a->kind == b->kind && a->base_step == b->base_step && a->size == b->size;
}

/* What a group says of itself: all of it is there, nothing else is, and it fits the command. */
static const char *group_read(const reading *r, hf_value entry, bool flat,
                              hf_decision_group *out_group)
{
    hf_parallel_group_kind own = r->bit == TIMER   ? HF_PARALLEL_GROUP_KIND_TIMER
                                 : r->bit == CHILD ? HF_PARALLEL_GROUP_KIND_CHILD
                                                   : HF_PARALLEL_GROUP_KIND_ACTIVITY;
    hf_slice kind = hf_value_slice(hf_get(entry, "parallel_group_kind"));
    hf_slice name;
    hf_value value;
    char id[96];

    for (size_t i = 0; !flat && hf_value_member(entry, i, &name, &value); i++)
        if (!hf_slice_starts(name, HF_SLICE("parallel_group_")) ||
            (!hf_slice_equal(name, HF_SLICE("parallel_group_id")) &&
             !hf_slice_equal(name, HF_SLICE("parallel_group_kind")) &&
             !hf_slice_equal(name, HF_SLICE("parallel_group_base_sequence")) &&
             !hf_slice_equal(name, HF_SLICE("parallel_group_size")) &&
             !hf_slice_equal(name, HF_SLICE("parallel_group_index"))))
            return "has a member that this server does not know";
    *out_group = (hf_decision_group){.base_step = hf_int(entry, "parallel_group_base_sequence", 0),
                                     .size = hf_int(entry, "parallel_group_size", 0),
                                     .index = hf_int(entry, "parallel_group_index", -1)};
    if (!hf_parallel_group_kind_parse(kind, &out_group->kind) || out_group->base_step < 1 ||
        out_group->base_step > GROUP_STEP_MAX || out_group->size < 1 ||
        out_group->size > GROUP_STEP_MAX || out_group->index < 0 ||
        out_group->index >= out_group->size)
        return "is not complete";
    if (out_group->kind != own && out_group->kind != HF_PARALLEL_GROUP_KIND_MIXED)
        return "is of a kind that this command is not";
    hf_decide_group_id(out_group, id, sizeof(id));
    if (strcmp(hf_str(entry, "parallel_group_id", ""), id) != 0)
        return "has an id that is not made of its kind, its first step and its size";
    return NULL;
}

/* The barriers that the command is a leaf of, outermost first. They fix its step. */
static const char *groups_fill(reading *r, hf_value path, hf_decision_group *groups, size_t count)
{
    hf_decision_group flat;
    const char *wrong = NULL;

    for (size_t i = 0; !wrong && i < count; i++) {
        wrong = group_read(r, path ? hf_at(path, i) : r->command, !path, &groups[i]);
        if (!wrong &&
            groups[i].base_step + groups[i].index != groups[0].base_step + groups[0].index)
            wrong = "names two different steps";
    }
    if (wrong || !path || !field_get(r, "parallel_group_id"))
        return wrong;
    wrong = group_read(r, r->command, true, &flat);
    return wrong ? wrong
           : !same_group(&flat, &groups[count - 1]) || flat.index != groups[count - 1].index
               ? "ends in another group than the command names beside it"
               : NULL;
}

static hf_status groups_read(reading *r, hf_decision_row *row)
{
    hf_value path = field_get(r, "parallel_group_path");
    size_t count = path ? hf_len(path) : field_get(r, "parallel_group_id") ? 1 : 0;
    hf_decision_group *groups;
    const char *wrong;

    if (!count && !path) {
        if (field_get(r, "parallel_group_kind") || field_get(r, "parallel_group_base_sequence") ||
            field_get(r, "parallel_group_size") || field_get(r, "parallel_group_index"))
            mistake(r, "parallel_group_path", "is not complete");
        return HF_OK;
    }
    if (count == 0 || count > GROUPS_MAX) {
        mistake(r, "parallel_group_path", "must have 1 to 8 entries");
        return HF_OK;
    }
    groups = hf_mem_array(r->mem, count, sizeof(*groups));
    if (!groups)
        return hf_err_nomem(r->err, "a parallel group");
    wrong = groups_fill(r, path, groups, count);
    if (wrong) {
        mistake(r, "parallel_group_path", wrong);
        return HF_OK;
    }
    row->groups = groups;
    row->group_count = count;
    row->step = groups[0].base_step + groups[0].index;
    return HF_OK;
}

/* A type that is named for an attribute is one that its value has. */
static bool attribute_fits(hf_search_attribute_type type, hf_value value)
{
    hf_value_kind kind = hf_value_kind_of(value);

    if (kind == HF_VALUE_NULL)
        return true; /* taken away */
    switch (type) {
    case HF_SEARCH_ATTRIBUTE_TYPE_STRING:
    case HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD:
    case HF_SEARCH_ATTRIBUTE_TYPE_DATETIME:
        return kind == HF_VALUE_STRING;
    case HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD_LIST:
        for (size_t i = 0; i < hf_len(value); i++)
            if (hf_value_kind_of(hf_at(value, i)) != HF_VALUE_STRING)
                return false;
        return kind == HF_VALUE_ARRAY;
    case HF_SEARCH_ATTRIBUTE_TYPE_INT:
        return kind == HF_VALUE_INT;
    case HF_SEARCH_ATTRIBUTE_TYPE_FLOAT:
        return kind == HF_VALUE_INT || kind == HF_VALUE_DOUBLE;
    case HF_SEARCH_ATTRIBUTE_TYPE_BOOL:
        return kind == HF_VALUE_BOOL;
    }
    return false;
}

static void attribute_types_check(reading *r)
{
    hf_value types = field_get(r, "attribute_types");
    hf_value attributes = field_get(r, "attributes");
    hf_slice name;
    hf_value word;

    for (size_t i = 0; hf_value_member(types, i, &name, &word); i++) {
        hf_value value = hf_value_find(attributes, name);
        hf_search_attribute_type type;

        if (!value)
            mistake(r, "attribute_types", "names an attribute that is not among attributes");
        else if (!hf_search_attribute_type_parse(hf_value_slice(word), &type))
            mistake(r, "attribute_types", "has a type that this server does not know");
        else if (!attribute_fits(type, value))
            mistake(r, "attribute_types", "does not fit the value of an attribute");
    }
}

static hf_status command_fill(reading *r, hf_worker_command *out)
{
    hf_decision_row *row = &out->row;
    hf_slice key;

    switch (r->bit) {
    case ACTIVITY:
        return activity_read(r, row);
    case CHILD:
        return child_read(r, row);
    case TIMER:
        row->timer.delay_us = micros_get(r, "delay_seconds", 0);
        break;
    case VERSION:
        row->name = text_get(r, "change_id");
        row->version.version = hf_int(r->command, "version", 0);
        row->version.min_supported = hf_int(r->command, "min_supported", 0);
        row->version.max_supported = hf_int(r->command, "max_supported", 0);
        break;
    case CONDITION:
        key = text_get(r, "condition_key");
        row->name = key.len ? key : (hf_slice){0};
        row->wait.fingerprint = text_get(r, "condition_definition_fingerprint");
        row->wait.occurrence = text_get(r, "condition_wait_occurrence_id");
        row->wait.timeout_us = micros_get(r, "timeout_seconds", HF_DECISION_NO_TIMEOUT);
        break;
    case SIGNAL:
        row->name = text_get(r, "signal_name");
        row->wait.timeout_us = micros_get(r, "timeout_seconds", HF_DECISION_NO_TIMEOUT);
        break;
    case CONTINUE:
        row->next.type = text_get(r, "workflow_type");
        row->next.queue = text_get(r, "queue");
        break;
    case ATTRIBUTES:
        attribute_types_check(r);
        break;
    case COMPLETE_UPDATE:
    case FAIL_UPDATE:
        out->update_id = text_get(r, "update_id");
        break;
    default:
        break;
    }
    return r->bit & (FAIL | FAIL_UPDATE) ? failure_get(r, &row->failure) : HF_OK;
}

static hf_status command_read(reading *r, hf_worker_command *out)
{
    hf_slice type = hf_value_slice(hf_value_find(r->command, HF_SLICE("type")));
    const command_kind *kind = NULL;
    const char *value = "arguments";
    size_t before;
    hf_status st;

    for (size_t i = 0; !kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (hf_slice_equal(type, hf_slice_of(kinds[i].name)))
            kind = &kinds[i];
    if (!kind) {
        mistake(r, "type", "is not a command that this server knows");
        return HF_OK;
    }
    r->bit = kind->bit;
    out->row.kind = kind->decision;
    before = r->mistakes;
    unknown_check(r);
    fields_check(r);
    if (r->mistakes > before)
        return HF_OK;
    st = command_fill(r, out);
    if (!st && (r->bit & GROUPED))
        st = groups_read(r, &out->row);
    if (r->bit & (COMPLETE | COMPLETE_UPDATE | SIDE_EFFECT))
        value = "result";
    if (r->bit & (ATTRIBUTES | MEMO))
        value = r->bit == MEMO ? "entries" : "attributes";
    if (!st && (r->bit & (ACTIVITY | CHILD | CONTINUE | COMPLETE | COMPLETE_UPDATE | SIDE_EFFECT |
                          ATTRIBUTES | MEMO)))
        st = payload_get(r, value, &out->row.value);
    if (!st && (r->bit & (ATTRIBUTES | MEMO)) && out->row.value.codec != HF_PAYLOAD_CODEC_JSON)
        mistake(r, value, "must be a plain object, not an envelope");
    return st;
}

hf_status hf_worker_commands_read(hf_mem *mem, hf_value commands, hf_worker_command **out_commands,
                                  size_t *out_count, hf_value *out_errors, hf_err *err)
{
    reading r = {.mem = mem, .errors = hf_value_object(mem), .err = err};
    size_t count = hf_len(commands);
    int64_t most = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard;
    bool ended = false;
    hf_status st = HF_OK;

    *out_count = 0;
    *out_errors = NULL;
    *out_commands = count ? hf_mem_array(mem, count, sizeof(**out_commands)) : NULL;
    if (count && !*out_commands)
        return hf_err_nomem(err, "commands");
    if (hf_value_kind_of(commands) != HF_VALUE_ARRAY || !count)
        mistake(&r, NULL, "at least one command is needed");
    else if ((int64_t)count > most)
        mistake(&r, NULL, "there are more commands than a batch may have");
    for (; !st && (int64_t)count <= most && r.at < count; r.at++) {
        r.command = hf_at(commands, r.at);
        if (ended)
            mistake(&r, NULL, "nothing may follow a command that ends the run");
        st = command_read(&r, &(*out_commands)[r.at]);
        ended = ended || (r.bit & TERMINAL);
    }
    if (st)
        return st;
    if (!r.mistakes) {
        *out_count = count;
        return HF_OK;
    }
    *out_errors = hf_value_finish(r.errors);
    return *out_errors ? HF_OK : hf_err_nomem(err, "the mistakes of a batch");
}
