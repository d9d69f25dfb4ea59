/* decision_codec.c: see decision_codec.h. One table says which members the kinds have, for both
   directions. */
#include "model/decision_codec.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "model/member.h"
#include "model/name.h"

enum { GROUPS_MAX = 16, BACKOFFS_MAX = 64 };

#define BIT(kind) (UINT32_C(1) << HF_DECISION_##kind)
enum {
    ACTIVITY = BIT(SCHEDULE_ACTIVITY),
    TIMER = BIT(START_TIMER),
    CHILD = BIT(START_CHILD_WORKFLOW),
    WAIT = BIT(OPEN_SIGNAL_WAIT) | BIT(OPEN_CONDITION_WAIT) | BIT(SATISFY_CONDITION) |
           BIT(TIME_OUT_CONDITION),
    FACT = BIT(APPLY_SIGNAL) | BIT(APPLY_UPDATE) | BIT(RECEIVE_MESSAGES),
    VERSION = BIT(RECORD_VERSION_MARKER),
    FAILURE = BIT(FAIL_UPDATE) | BIT(FAIL_WORKFLOW) | BIT(HANDLE_FAILURE) | BIT(COMPLETE_CANCELLED),
    OUTGOING = BIT(SIGNAL_CHILD) | BIT(SEND_MESSAGE),
    NEXT = BIT(CONTINUE_AS_NEW)
};

typedef enum form { FORM_TEXT, FORM_INT, FORM_BOOL, FORM_PAYLOAD, FORM_WORD, FORM_WAITS } form;

typedef struct member {
    const char *name;
    uint32_t kinds;
    form form;
    size_t offset;
    const hf_vocab *words; /* FORM_WORD */
} member;

#define AT(field) offsetof(hf_decision_row, field)

static const member members[] = {
    {"queue", ACTIVITY, FORM_TEXT, AT(activity.queue), NULL},
    {"summary", ACTIVITY, FORM_TEXT, AT(activity.summary), NULL},
    {"local", ACTIVITY, FORM_BOOL, AT(activity.local), NULL},
    {"schedule_to_start_us", ACTIVITY, FORM_INT, AT(activity.schedule_to_start_us), NULL},
    {"start_to_close_us", ACTIVITY, FORM_INT, AT(activity.start_to_close_us), NULL},
    {"schedule_to_close_us", ACTIVITY, FORM_INT, AT(activity.schedule_to_close_us), NULL},
    {"heartbeat_us", ACTIVITY, FORM_INT, AT(activity.heartbeat_us), NULL},
    {"max_attempts", ACTIVITY, FORM_INT, AT(activity.retry.max_attempts), NULL},
    {"backoff_us", ACTIVITY, FORM_WAITS, AT(activity.retry), NULL},
    {"no_retry_on", ACTIVITY, FORM_TEXT, AT(activity.retry.no_retry_on), NULL},
    {"id", CHILD, FORM_TEXT, AT(child.id), NULL},
    {"queue", CHILD, FORM_TEXT, AT(child.queue), NULL},
    {"summary", CHILD, FORM_TEXT, AT(child.summary), NULL},
    {"execution_timeout_us", CHILD, FORM_INT, AT(child.execution_timeout_us), NULL},
    {"run_timeout_us", CHILD, FORM_INT, AT(child.run_timeout_us), NULL},
    {"max_attempts", CHILD, FORM_INT, AT(child.retry.max_attempts), NULL},
    {"backoff_us", CHILD, FORM_WAITS, AT(child.retry), NULL},
    {"no_retry_on", CHILD, FORM_TEXT, AT(child.retry.no_retry_on), NULL},
    {"on_parent_close", CHILD, FORM_WORD, AT(child.on_parent_close), &hf_parent_close_policy_list},
    {"delay_us", TIMER, FORM_INT, AT(timer.delay_us), NULL},
    {"timeout_us", WAIT, FORM_INT, AT(wait.timeout_us), NULL},
    {"fingerprint", WAIT, FORM_TEXT, AT(wait.fingerprint), NULL},
    {"seq", FACT, FORM_INT, AT(fact.seq), NULL},
    {"before", BIT(RECEIVE_MESSAGES), FORM_INT, AT(fact.before), NULL},
    {"version", VERSION, FORM_INT, AT(version.version), NULL},
    {"min_supported", VERSION, FORM_INT, AT(version.min_supported), NULL},
    {"max_supported", VERSION, FORM_INT, AT(version.max_supported), NULL},
    {"category", FAILURE, FORM_WORD, AT(failure.category), &hf_failure_category_list},
    {"type", FAILURE, FORM_TEXT, AT(failure.type), NULL},
    {"message", FAILURE, FORM_TEXT, AT(failure.message), NULL},
    {"details", FAILURE, FORM_PAYLOAD, AT(failure.details), NULL},
    {"retryable", FAILURE, FORM_BOOL, AT(failure.retryable), NULL},
    {"seq", FAILURE, FORM_INT, AT(failure.seq), NULL},
    {"child_call", OUTGOING, FORM_TEXT, AT(outgoing.child_call), NULL},
    {"instance", OUTGOING, FORM_TEXT, AT(outgoing.instance), NULL},
    {"ordinal", OUTGOING, FORM_INT, AT(outgoing.ordinal), NULL},
    {"type", NEXT, FORM_TEXT, AT(next.type), NULL},
    {"queue", NEXT, FORM_TEXT, AT(next.queue), NULL},
};
enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

static bool member_of(const member *m, hf_decision kind)
{
    return m->kinds & UINT32_C(1) << kind;
}

/* ---- out */

/* The waits stand in a policy whole, so that list and count stay together. */
static void waits_set(hf_mem *mem, hf_value_list *object, const char *name,
                      const hf_decision_retry *retry)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < retry->backoff_count; i++)
        hf_value_append(list, hf_value_int(mem, retry->backoff_us[i]));
    if (retry->backoff_us)
        hf_value_set(object, hf_slice_of(name), hf_value_finish(list));
}

static hf_status member_write(hf_mem *mem, hf_value_list *object, const member *m,
                              const hf_decision_row *row, hf_err *err)
{
    const char *at = (const char *)row + m->offset;
    hf_slice text;
    int64_t number;
    int word;

    switch (m->form) {
    case FORM_TEXT:
        memcpy(&text, at, sizeof(text));
        hf_member_text_set(mem, object, m->name, text);
        break;
    case FORM_INT:
        memcpy(&number, at, sizeof(number));
        hf_member_int_set(mem, object, m->name, number);
        break;
    case FORM_BOOL:
        if (*(const bool *)at)
            hf_value_set(object, hf_slice_of(m->name), hf_value_bool(true));
        break;
    case FORM_WORD:
        memcpy(&word, at, sizeof(word));
        if (word)
            hf_member_text_set(mem, object, m->name, hf_slice_of(hf_vocab_text(m->words, word)));
        break;
    case FORM_WAITS:
        waits_set(mem, object, m->name, (const hf_decision_retry *)(const void *)at);
        break;
    case FORM_PAYLOAD:
        return hf_member_payload_set(mem, object, m->name,
                                     (const hf_decision_payload *)(const void *)at, err);
    }
    return HF_OK;
}

static void groups_write(hf_mem *mem, hf_value_list *object, const hf_decision_row *row)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < row->group_count; i++)
        hf_value_append(list,
                        hf_json_(mem, "[%s, %lld, %lld, %lld]",
                                 hf_parallel_group_kind_text(row->groups[i].kind),
                                 (long long)row->groups[i].base_step,
                                 (long long)row->groups[i].size, (long long)row->groups[i].index));
    if (row->group_count)
        hf_value_set(object, HF_SLICE("groups"), hf_value_finish(list));
}

static hf_status row_write(hf_mem *mem, hf_value_list *list, const hf_decision_row *row,
                           hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_status st;

    hf_member_text_set(mem, object, "kind", hf_slice_of(hf_decision_text(row->kind)));
    hf_member_int_set(mem, object, "step", row->step);
    hf_member_text_set(mem, object, "at", hf_slice_of(row->at));
    hf_member_text_set(mem, object, "name", row->name);
    st = hf_member_payload_set(mem, object, "value", &row->value, err);
    groups_write(mem, object, row);
    for (size_t i = 0; !st && i < MEMBERS; i++)
        if (member_of(&members[i], row->kind))
            st = member_write(mem, object, &members[i], row, err);
    hf_value_append(list, hf_value_finish(object));
    return st;
}

hf_status hf_decisions_write(hf_mem *mem, const hf_decision_row *rows, size_t count,
                             hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++)
        st = row_write(mem, list, &rows[i], err);
    *out_list = st ? NULL : hf_value_finish(list);
    return st ? st : *out_list ? HF_OK : hf_err_nomem(err, "decisions");
}

/* ---- in */

static hf_status waits_get(hf_mem *mem, hf_value object, const char *name, hf_decision_retry *retry,
                           hf_err *err)
{
    hf_value list = hf_value_find(object, hf_slice_of(name));
    size_t count = hf_len(list);
    int64_t *waits;

    if (!list)
        return HF_OK;
    if (hf_value_kind_of(list) != HF_VALUE_ARRAY || count > BACKOFFS_MAX)
        return hf_member_bad(err, name, "is no list of waits");
    waits = hf_mem_array(mem, count + 1, sizeof(*waits));
    if (!waits)
        return hf_err_nomem(err, "a decision");
    for (size_t i = 0; i < count; i++) {
        waits[i] = hf_int(hf_at(list, i), "", -1);
        if (waits[i] < 0)
            return hf_member_bad(err, name, "has a wait below 0");
    }
    retry->backoff_us = waits;
    retry->backoff_count = count;
    return HF_OK;
}

static hf_status member_read(hf_mem *mem, hf_value object, const member *m, hf_decision_row *row,
                             hf_err *err)
{
    char *at = (char *)row + m->offset;
    const hf_vocab_item *item;
    hf_slice text = {0};
    int64_t number = 0;
    hf_value value;
    hf_status st = HF_OK;

    switch (m->form) {
    case FORM_TEXT:
        st = hf_member_text(object, m->name, &text, err);
        memcpy(at, &text, sizeof(text));
        break;
    case FORM_INT:
        st = hf_member_int(object, m->name, &number, err);
        memcpy(at, &number, sizeof(number));
        break;
    case FORM_BOOL:
        value = hf_value_find(object, hf_slice_of(m->name));
        if (value && hf_value_kind_of(value) != HF_VALUE_BOOL)
            return hf_member_bad(err, m->name, "is neither true nor false");
        *(bool *)at = hf_bool(value, "", false);
        break;
    case FORM_WORD:
        st = hf_member_text(object, m->name, &text, err);
        item = text.ptr ? hf_vocab_by_text(m->words, text) : NULL;
        if (!st && text.ptr && !item)
            return hf_member_bad(err, m->name, "is none of its words");
        if (item)
            memcpy(at, &item->number, sizeof(item->number));
        break;
    case FORM_WAITS:
        return waits_get(mem, object, m->name, (hf_decision_retry *)(void *)at, err);
    case FORM_PAYLOAD:
        return hf_member_payload(mem, object, m->name, (hf_decision_payload *)(void *)at, err);
    }
    return st;
}

static hf_status groups_read(hf_mem *mem, hf_value object, hf_decision_row *row, hf_err *err)
{
    hf_value list = hf_value_find(object, HF_SLICE("groups"));
    size_t count = hf_len(list);
    hf_decision_group *groups;

    if (!list)
        return HF_OK;
    if (hf_value_kind_of(list) != HF_VALUE_ARRAY || count == 0 || count > GROUPS_MAX)
        return hf_member_bad(err, "groups", "is no list of barriers");
    groups = hf_mem_array(mem, count, sizeof(*groups));
    if (!groups)
        return hf_err_nomem(err, "a decision");
    for (size_t i = 0; i < count; i++) {
        hf_value group = hf_at(list, i);

        groups[i] = (hf_decision_group){.base_step = hf_int(group, "1", 0),
                                        .size = hf_int(group, "2", 0),
                                        .index = hf_int(group, "3", -1)};
        if (!hf_parallel_group_kind_parse(hf_slice_of(hf_str(group, "0", "")), &groups[i].kind) ||
            groups[i].base_step < 1 || groups[i].size < 1 || groups[i].index < 0 ||
            groups[i].index >= groups[i].size)
            return hf_member_bad(err, "groups", "has a barrier that cannot be");
    }
    row->groups = groups;
    row->group_count = count;
    return HF_OK;
}

static hf_status row_read(hf_mem *mem, hf_value object, hf_decision_row *row, hf_err *err)
{
    hf_slice at = {0};
    hf_status st;

    if (!hf_decision_parse(hf_slice_of(hf_str(object, "kind", "")), &row->kind) ||
        row->kind == HF_DECISION_COMPLETE_STEP)
        return hf_err_set(err, HF_INVALID, "there is no decision %s", hf_str(object, "kind", ""));
    st = hf_member_int(object, "step", &row->step, err);
    if (!st && row->step < 0)
        st = hf_member_bad(err, "step", "is below 0");
    if (!st)
        st = hf_member_text(object, "at", &at, err);
    row->at = at.ptr;
    if (!st)
        st = hf_member_text(object, "name", &row->name, err);
    if (!st)
        st = hf_member_payload(mem, object, "value", &row->value, err);
    if (!st)
        st = groups_read(mem, object, row, err);
    for (size_t i = 0; !st && i < MEMBERS; i++)
        if (member_of(&members[i], row->kind))
            st = member_read(mem, object, &members[i], row, err);
    return st;
}

hf_status hf_decisions_read(hf_mem *mem, hf_value list, hf_decision_row **out_rows,
                            size_t *out_count, hf_err *err)
{
    size_t count = hf_len(list);
    hf_decision_row *rows;
    hf_status st = HF_OK;

    *out_rows = NULL;
    *out_count = 0;
    if (hf_value_kind_of(list) != HF_VALUE_ARRAY)
        return hf_err_set(err, HF_INVALID, "decisions are no list");
    if (count > HF_DECISIONS_MAX)
        return hf_err_set(err, HF_TOOBIG, "%zu decisions are more than %d", count,
                          HF_DECISIONS_MAX);
    rows = hf_mem_array(mem, count + 1, sizeof(*rows));
    if (!rows)
        return hf_err_nomem(err, "decisions");
    for (size_t i = 0; !st && i < count; i++) {
        rows[i] = (hf_decision_row){0};
        st = hf_err_because(err, row_read(mem, hf_at(list, i), &rows[i], err), "decision %zu",
                            i + 1);
    }
    *out_rows = rows;
    *out_count = count;
    return st;
}

/* ---- names */

/* Names that rows of the kind carry; 0: none, or any text. */
static hf_name_kind name_of(hf_decision kind)
{
    switch ((int)kind) {
    case HF_DECISION_SCHEDULE_ACTIVITY:
    case HF_DECISION_START_CHILD_WORKFLOW:
        return HF_NAME_TYPE;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
    case HF_DECISION_APPLY_SIGNAL:
    case HF_DECISION_SIGNAL_CHILD:
        return HF_NAME_SIGNAL;
    case HF_DECISION_APPLY_UPDATE:
    case HF_DECISION_FAIL_UPDATE:
        return HF_NAME_UPDATE;
    case HF_DECISION_RECORD_VERSION_MARKER:
        return HF_NAME_CHANGE;
    case HF_DECISION_RECEIVE_MESSAGES:
    case HF_DECISION_SEND_MESSAGE:
        return HF_NAME_STREAM_KEY;
    default:
        return 0;
    }
}

hf_status hf_decision_names_check(const hf_decision_row *row, hf_err *err)
{
    hf_name_kind kind = name_of(row->kind);
    hf_status st = kind ? hf_name_check(kind, row->name, err) : HF_OK;

    if (!st && row->kind == HF_DECISION_OPEN_CONDITION_WAIT && row->name.ptr)
        st = hf_name_check(HF_NAME_CONDITION_KEY, row->name, err);
    if (!st && row->kind == HF_DECISION_SCHEDULE_ACTIVITY && row->activity.queue.ptr)
        st = hf_name_check(HF_NAME_QUEUE, row->activity.queue, err);
    if (!st && row->kind == HF_DECISION_START_CHILD_WORKFLOW && row->child.queue.ptr)
        st = hf_name_check(HF_NAME_QUEUE, row->child.queue, err);
    if (!st && row->kind == HF_DECISION_START_CHILD_WORKFLOW && row->child.id.ptr)
        st = hf_name_check(HF_NAME_INSTANCE, row->child.id, err);
    if (!st && row->kind == HF_DECISION_CONTINUE_AS_NEW && row->next.queue.ptr)
        st = hf_name_check(HF_NAME_QUEUE, row->next.queue, err);
    if (!st && row->kind == HF_DECISION_SEND_MESSAGE)
        st = hf_name_check(HF_NAME_INSTANCE, row->outgoing.instance, err);
    return st;
}
