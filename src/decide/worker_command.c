/* worker_command.c: see worker_command.h. Two tables say what the published commands are: which
   fields each may carry, and what a field must look like. A field that belongs to another command
   is a mistake; one that nobody knows is a newer worker's and is passed over. */
#include "decide/worker_command.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/envelope.h"
#include "model/limit.h"
#include "model/policy.h"

enum { KEY_SIZE = 160, GROUPS_MAX = 8, BACKOFFS_MAX = HF_RETRY_BACKOFFS_MAX, TEXT_MAX = 255 };

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
} command_field;

static const command_field fields[] = {
    {"activity_type", ACTIVITY, ACTIVITY, FORM_NAME},
    {"workflow_type", CHILD | CONTINUE, CHILD, FORM_NAME},
    {"arguments", ACTIVITY | CHILD | CONTINUE, 0, FORM_ANY},
    {"payload_codec", ACTIVITY | CHILD | CONTINUE | COMPLETE | SIDE_EFFECT | COMPLETE_UPDATE, 0,
     FORM_NAME},
    {"queue", ACTIVITY | CHILD | CONTINUE, 0, FORM_NAME},
    {"connection", ACTIVITY | CHILD | CONTINUE, 0, FORM_ANY},
    {"retry_policy", ACTIVITY | CHILD, 0, FORM_OBJECT},
    {"start_to_close_timeout", ACTIVITY, 0, FORM_POSITIVE},
    {"schedule_to_start_timeout", ACTIVITY, 0, FORM_POSITIVE},
    {"schedule_to_close_timeout", ACTIVITY, 0, FORM_POSITIVE},
    {"heartbeat_timeout", ACTIVITY, 0, FORM_POSITIVE},
    {"worker_session", 0, 0, FORM_REFUSED},
    {"delay_seconds", TIMER, TIMER, FORM_SECONDS},
    {"parent_close_policy", CHILD, 0, FORM_NAME},
    {"execution_timeout_seconds", CHILD, 0, FORM_POSITIVE},
    {"run_timeout_seconds", CHILD, 0, FORM_POSITIVE},
    {"update_id", COMPLETE_UPDATE | FAIL_UPDATE, COMPLETE_UPDATE | FAIL_UPDATE, FORM_NAME},
    {"result", COMPLETE | COMPLETE_UPDATE | SIDE_EFFECT, SIDE_EFFECT, FORM_ANY},
    {"message", FAIL | FAIL_UPDATE, FAIL | FAIL_UPDATE, FORM_TEXT},
    {"exception_type", FAIL | FAIL_UPDATE, 0, FORM_TEXT},
    {"exception_class", FAIL | FAIL_UPDATE, 0, FORM_TEXT},
    {"exception", FAIL | FAIL_UPDATE, 0, FORM_ANY},
    {"non_retryable", FAIL | FAIL_UPDATE, 0, FORM_BOOL},
    {"change_id", VERSION, VERSION, FORM_NAME},
    {"version", VERSION, VERSION, FORM_INT},
    {"min_supported", VERSION, VERSION, FORM_INT},
    {"max_supported", VERSION, VERSION, FORM_INT},
    {"attributes", ATTRIBUTES, ATTRIBUTES, FORM_OBJECT},
    {"attribute_types", ATTRIBUTES, 0, FORM_OBJECT},
    {"entries", MEMO, MEMO, FORM_OBJECT},
    {"condition_key", CONDITION, 0, FORM_LINE},
    {"condition_definition_fingerprint", CONDITION, 0, FORM_LINE},
    {"signal_name", SIGNAL, SIGNAL, FORM_NAME},
    {"timeout_seconds", CONDITION | SIGNAL, 0, FORM_SECONDS},
    {"parallel_group_path", GROUPED, 0, FORM_ANY},
    {"parallel_group_id", GROUPED, 0, FORM_NAME},
    {"parallel_group_kind", GROUPED, 0, FORM_NAME},
    {"parallel_group_base_sequence", GROUPED, 0, FORM_INT},
    {"parallel_group_size", GROUPED, 0, FORM_INT},
    {"parallel_group_index", GROUPED, 0, FORM_INT},
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

/* Every field that is known is in its place and of its form; null is as good as absent. */
static void fields_check(reading *r)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const command_field *field = &fields[i];
        hf_value value = hf_value_find(r->command, hf_slice_of(field->name));
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
    };
    return exception ? payload_get(r, "exception", &out_failure->details) : HF_OK;
}

/* As decisions carry them: joined by commas. */
static hf_status final_types_get(reading *r, hf_value types, hf_decision_activity *activity)
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
        activity->no_retry_on = hf_slice_from(kept, names.len);
    if (kept && hf_retry_types(r->mem, activity->no_retry_on, &read, &count, &wrong) == HF_INVALID)
        mistake(r, "retry_policy.non_retryable_error_types", wrong.text);
    hf_buf_fini(&names);
    return kept ? HF_OK : hf_err_nomem(r->err, "a retry policy");
}

/* max_attempts, backoff_seconds and non_retryable_error_types of an activity or child. */
static hf_status retries_get(reading *r, hf_decision_activity *activity, int64_t *out_max)
{
    hf_value policy = field_get(r, "retry_policy");
    hf_value most = hf_get(policy, "max_attempts");
    hf_value pauses = hf_get(policy, "backoff_seconds");
    int64_t *backoff;
    size_t count;

    *out_max = 0;
    if (!policy)
        return HF_OK;
    if (hf_value_kind_of(most) == HF_VALUE_NULL)
        *out_max = -1;
    else if (whole_number(most) && hf_int(most, "", 0) > 0)
        *out_max = hf_int(most, "", 0);
    else
        mistake(r, "retry_policy.max_attempts", "must be a whole number above 0, or null");
    count = hf_len(pauses);
    if (count > BACKOFFS_MAX)
        mistake(r, "retry_policy.backoff_seconds", "has more than 64 entries");
    if (!activity || count > BACKOFFS_MAX)
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
    activity->backoff_us = backoff;
    activity->backoff_count = count;
    return final_types_get(r, hf_get(policy, "non_retryable_error_types"), activity);
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
    return retries_get(r, activity, &activity->max_attempts);
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
    return retries_get(r, NULL, &child->max_attempts);
}

/* One entry of a group path; false: something is missing or does not fit. */
static bool group_read(hf_value entry, hf_decision_group *out_group)
{
    hf_slice kind = hf_value_slice(hf_get(entry, "parallel_group_kind"));

    *out_group = (hf_decision_group){.base_step = hf_int(entry, "parallel_group_base_sequence", 0),
                                     .size = hf_int(entry, "parallel_group_size", 0),
                                     .index = hf_int(entry, "parallel_group_index", -1)};
    return hf_parallel_group_kind_parse(kind, &out_group->kind) &&
           hf_str(entry, "parallel_group_id", NULL) && out_group->base_step > 0 &&
           out_group->size > 0 && out_group->index >= 0 && out_group->index < out_group->size;
}

/* The barriers that the command is a leaf of, outermost first. They fix its step. */
static hf_status groups_read(reading *r, hf_decision_row *row)
{
    hf_value path = field_get(r, "parallel_group_path");
    size_t count = path ? hf_len(path) : field_get(r, "parallel_group_id") ? 1 : 0;
    hf_decision_group *groups;

    if (!count && !path)
        return HF_OK;
    if (count == 0 || count > GROUPS_MAX) {
        mistake(r, "parallel_group_path", "must have 1 to 8 entries");
        return HF_OK;
    }
    groups = hf_mem_array(r->mem, count, sizeof(*groups));
    if (!groups)
        return hf_err_nomem(r->err, "a parallel group");
    for (size_t i = 0; i < count; i++) {
        if (!group_read(path ? hf_at(path, i) : r->command, &groups[i])) {
            mistake(r, "parallel_group_path", "is not complete");
            return HF_OK;
        }
        if (groups[i].base_step + groups[i].index != groups[0].base_step + groups[0].index) {
            mistake(r, "parallel_group_path", "names two different steps");
            return HF_OK;
        }
    }
    row->groups = groups;
    row->group_count = count;
    row->step = groups[0].base_step + groups[0].index;
    return HF_OK;
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
        row->wait.timeout_us = micros_get(r, "timeout_seconds", HF_DECISION_NO_TIMEOUT);
        break;
    case SIGNAL:
        row->name = text_get(r, "signal_name");
        row->wait.timeout_us = micros_get(r, "timeout_seconds", HF_DECISION_NO_TIMEOUT);
        break;
    case CONTINUE:
        row->next.type = text_get(r, "workflow_type");
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
