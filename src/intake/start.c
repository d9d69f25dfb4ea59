/* start.c: a start becomes an instance, its first run and everything that is known of it from the
   first event on. */
#include "base/json.h"
#include "base/value.h"
#include "commit/shard.h"
#include "intake/intake_impl.h"
#include "model/metadata.h"
#include "model/name.h"

static hf_status input_fit(const hf_intake *in, const hf_intake_start *start, hf_mem *mem,
                           hf_slice *out_input, hf_intake_refusal *refusal, hf_err *err)
{
    hf_value input = start->input;
    hf_value errors = NULL;
    hf_status st = HF_OK;

    if (start->params)
        st = hf_contract_apply(start->params, start->input, mem, &input, &errors, err);
    if (!st && errors)
        return hf_intake_refuse_arguments(refusal, (hf_rejection_reason)0, start->params, errors,
                                          mem, err);
    return st ? st : hf_intake_payload_fit(in, mem, input, out_input, refusal, err);
}

static int64_t deadline_make(int64_t now_us, int64_t timeout_us)
{
    return timeout_us ? now_us + timeout_us : HF_NONE;
}

/* A label's value as text: numbers and truth values are written out. */
static hf_status label_text(hf_mem *mem, hf_slice key, hf_value item, hf_slice *out_text,
                            hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(item);
    const char *text;

    if (kind == HF_VALUE_ARRAY || kind == HF_VALUE_OBJECT || kind == HF_VALUE_BYTES)
        return hf_err_set(err, HF_INVALID, "the label %.*s is no single value", (int)key.len,
                          key.ptr);
    *out_text = hf_slice_trim(hf_value_slice(item));
    if (kind == HF_VALUE_STRING)
        return HF_OK;
    text = hf_text(mem, item);
    *out_text = hf_slice_of(text);
    return text ? HF_OK : hf_err_nomem(err, "labels");
}

/* Labels: texts by key; null is dropped. */
static hf_status labels_fit(hf_mem *mem, hf_slice given, hf_slice *out_json, hf_err *err)
{
    hf_value_list *list = hf_value_object(mem);
    hf_value labels = NULL;
    hf_slice key;
    hf_value item;
    hf_status st;

    *out_json = (hf_slice){0};
    if (!given.ptr)
        return HF_OK;
    st = hf_json_read(mem, given, NULL, &labels, err);
    if (!st && hf_value_kind_of(labels) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "it is no object");
    for (size_t i = 0; !st && hf_value_member(labels, i, &key, &item); i++) {
        hf_slice text = {0};

        if (hf_value_kind_of(item) == HF_VALUE_NULL)
            continue;
        st = hf_name_check(HF_NAME_LABEL_KEY, key, err);
        if (!st)
            st = label_text(mem, key, item, &text, err);
        if (!st)
            st = hf_name_check(HF_NAME_LABEL_VALUE, text, err);
        hf_value_set(list, key, hf_value_string(mem, text));
    }
    labels = st ? NULL : hf_value_finish(list);
    if (!st)
        st = labels ? hf_intake_json(mem, labels, out_json, err) : hf_err_nomem(err, "labels");
    return hf_err_because(err, st, "labels");
}

static hf_status is_keyword(const void *ctx, hf_slice name, bool *out_keyword, hf_err *err)
{
    const hf_intake *in = ctx;

    return hf_attribute_is_keyword(in->db, in->namespace_key, name, out_keyword, err);
}

/* Memo or search attributes as they are recorded; ptr NULL when none were given. */
static hf_status metadata_fit(const hf_intake *in, hf_mem *mem, bool attributes, hf_slice given,
                              hf_slice *out_json, hf_err *err)
{
    const hf_metadata_types types = {.ctx = in, .keyword = is_keyword};
    hf_limit limit = (hf_limit)0;
    int64_t value = 0;
    hf_status st;

    *out_json = (hf_slice){0};
    if (!given.ptr)
        return HF_OK;
    st = hf_metadata_merge(mem, attributes, &types, (hf_slice){0}, given, out_json, &limit, &value,
                           err);
    if (!st && limit)
        st =
            hf_err_set(err, HF_INVALID, "%s is limited to %lld, this is %lld", hf_limit_text(limit),
                       (long long)hf_limit_get(limit)->standard, (long long)value);
    return hf_err_because(err, st, attributes ? "search attributes" : "memo");
}

/* What operators see of the run from its first event on. */
typedef struct start_visible {
    hf_slice business_key; /* ptr NULL: none, all of them */
    hf_slice labels;
    hf_slice memo;
    hf_slice attributes;
} start_visible;

static hf_status visible_fit(const hf_intake *in, const hf_intake_start *start, hf_mem *mem,
                             start_visible *out_visible, hf_err *err)
{
    hf_status st = HF_OK;

    *out_visible = (start_visible){0};
    if (start->business_key.ptr) {
        out_visible->business_key = hf_slice_trim(start->business_key);
        st = hf_name_check(HF_NAME_BUSINESS_KEY, out_visible->business_key, err);
    }
    if (!st)
        st = labels_fit(mem, start->labels, &out_visible->labels, err);
    if (!st)
        st = metadata_fit(in, mem, false, start->memo, &out_visible->memo, err);
    return st ? st : metadata_fit(in, mem, true, start->attributes, &out_visible->attributes, err);
}

static void visible_put(const hf_intake *in, const start_visible *visible, hf_unit *unit)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    if (visible->business_key.ptr)
        hf_event_put_text(events, HF_KEY_BUSINESS_KEY, visible->business_key);
    if (visible->labels.ptr)
        hf_event_put_json(events, HF_KEY_VISIBILITY_LABELS, visible->labels);
    if (visible->memo.ptr)
        hf_intake_payload_put(in, unit, HF_KEY_MEMO, visible->memo);
    if (visible->attributes.ptr)
        hf_intake_payload_put(in, unit, HF_KEY_SEARCH_ATTRIBUTES, visible->attributes);
}

static void started_events(const hf_intake *in, const hf_intake_start *start, hf_unit *unit,
                           const hf_run_row *run, hf_ulid command)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    hf_event_begin(events, HF_EVENT_START_ACCEPTED, in->now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, command);
    hf_event_put_text(events, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, in->now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, command);
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, start->type);
    if (start->fingerprint.ptr)
        hf_event_put_text(events, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, start->fingerprint);
    if (start->compatibility.ptr)
        hf_event_put_text(events, HF_KEY_COMPATIBILITY, start->compatibility);
    if (run->execution_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_EXECUTION_DEADLINE_AT, run->execution_deadline_us);
    if (run->run_deadline_us != HF_NONE)
        hf_event_put_time(events, HF_KEY_RUN_DEADLINE_AT, run->run_deadline_us);
    if (start->available_us > in->now_us)
        hf_event_put_time(events, HF_KEY_AVAILABLE_AT, start->available_us);
    if (start->priority)
        hf_event_put_int(events, HF_KEY_PRIORITY, start->priority);
    if (start->correlation_key.ptr)
        hf_event_put_text(events, HF_KEY_CORRELATION_KEY, start->correlation_key);
    if (start->concurrency_key.ptr)
        hf_event_put_text(events, HF_KEY_CONCURRENCY_KEY, start->concurrency_key);
    if (start->rate_limit.ptr)
        hf_event_put_text(events, HF_KEY_RATE_LIMIT, start->rate_limit);
    if (start->weight)
        hf_event_put_int(events, HF_KEY_WEIGHT, start->weight);
}

/* What the start calls things, but for the instance. */
static hf_status names_check(const hf_intake_start *start, hf_err *err)
{
    hf_status st = hf_name_check(HF_NAME_TYPE, start->type, err);

    if (!st)
        st = hf_name_check(HF_NAME_QUEUE, start->queue, err);
    if (!st && start->correlation_key.ptr)
        st = hf_err_because(err, hf_name_check(HF_NAME_INSTANCE, start->correlation_key, err),
                            "correlation_key");
    return st;
}

/* The instance of the new run; one that is reserved keeps its key, id and shard. */
static hf_status instance_make(const hf_intake *in, const hf_intake_start *start, hf_mem *mem,
                               int64_t key, hf_instance_row *out_row, hf_err *err)
{
    hf_slice id = start->id;
    char made[HF_ULID_TEXT_SIZE];
    hf_ulid ulid;
    hf_status st;

    if (!id.ptr) {
        ulid = hf_ulid_form(in->now_us, key, 0);
        hf_ulid_print(&ulid, made);
        id = hf_slice_from(hf_mem_text(mem, hf_slice_of(made)), HF_ULID_TEXT_LEN);
        if (!id.ptr)
            return hf_err_nomem(err, "an id");
    }
    st = hf_name_check(HF_NAME_INSTANCE, id, err);
    if (!st)
        st = names_check(start, err);
    *out_row = (hf_instance_row){.key = key,
                                 .namespace_key = in->namespace_key,
                                 .id = id,
                                 .shard = hf_shard_of(in->namespace_key, id),
                                 .created_us = in->now_us};
    if (start->reserved)
        *out_row = *start->reserved;
    out_row->type = start->type;
    return st;
}

hf_status hf_intake_start_check(const hf_intake *in, const hf_intake_start *start, hf_mem *mem,
                                hf_err *err)
{
    start_visible visible;
    hf_status st = names_check(start, err);

    return st ? st : visible_fit(in, start, mem, &visible, err);
}

/* Everything about the start that must be right before anything is made. */
static hf_status start_fit(const hf_intake *in, const hf_intake_start *start, hf_mem *mem,
                           int64_t key, hf_instance_row *out_instance, start_visible *out_visible,
                           hf_slice *out_input, hf_intake_refusal *refusal, hf_err *err)
{
    hf_status st = instance_make(in, start, mem, key, out_instance, err);

    if (!st)
        st = visible_fit(in, start, mem, out_visible, err);
    return st ? st : input_fit(in, start, mem, out_input, refusal, err);
}

/* Whether the run's first turn may go into the unit that makes it: this node is the one to take it.
 */
static bool turn_fits(const hf_intake_start *start, hf_intake_target *target)
{
    target->epoch =
        start->shards ? hf_shards_epoch(start->shards, target->base.shard) : (int64_t)HF_NONE;
    target->turns =
        start->turns && !start->reserved && (!start->shards || target->epoch != HF_NONE);
    return target->turns;
}

hf_status hf_intake_start_draft(const hf_intake *in, const hf_intake_start *start,
                                hf_command_row row, hf_unit *unit, hf_intake_target *out_target,
                                int64_t *out_command, hf_intake_refusal *out_refusal, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_slice input = {0};
    start_visible visible;
    int64_t first = 0; /* instance, run, command, task */
    hf_run_status status = HF_RUN_STATUS_PENDING;
    hf_run_row run;
    hf_status st = hf_keys_take(in->keys, 4, &first, err);

    *out_refusal = (hf_intake_refusal){0};
    *out_target = (hf_intake_target){
        .created_us = in->now_us, .definition = start->definition, .queue = start->queue};
    if (!st)
        st = start_fit(in, start, mem, first, &out_target->instance, &visible, &input, out_refusal,
                       err);
    if (st || out_refusal->outcome)
        return st;
    out_target->instance.business_key = visible.business_key;
    out_target->instance.current_run = first + 1;
    out_target->instance.run_count = 1;
    out_target->base = (hf_run_base){.run = first + 1,
                                     .instance = out_target->instance.key,
                                     .shard = out_target->instance.shard,
                                     .status = HF_RUN_STATUS_PENDING,
                                     .closed_reason = HF_NONE,
                                     .closed_us = HF_NONE};
    run = (hf_run_row){.number = 1,
                       .created_us = in->now_us,
                       .execution_deadline_us =
                           deadline_make(in->now_us, start->execution_timeout_us),
                       .run_deadline_us = deadline_make(in->now_us, start->run_timeout_us),
                       .queue = start->queue,
                       .definition = start->definition};
    if (turn_fits(start, out_target)) {
        status = HF_RUN_STATUS_WAITING; /* after its turn */
        out_target->run = run;
        hf_unit_owned(unit, out_target->epoch);
    }
    (void)hf_unit_create(unit, start->reserved ? HF_UNIT_INSTANCE_NEXT : HF_UNIT_INSTANCE_NEW,
                         &out_target->instance, &out_target->base, &run);
    started_events(in, start, unit, &run, hf_ulid_form(in->now_us, first + 2, 0));
    visible_put(in, &visible, unit);
    hf_intake_payload_put(in, unit, HF_KEY_ARGUMENTS, input);
    row.key = first + 2;
    row.instance = out_target->instance.key;
    row.run = first + 1;
    row.outcome = HF_CMD_OUTCOME_STARTED_NEW;
    row.applied_us = row.closed_us = in->now_us;
    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    if (!out_target->turns)
        hf_unit_row(
            unit, 0,
            hf_row_task_begin(mem, first + 3, first + 1, start->queue, start->priority,
                              start->available_us > in->now_us ? start->available_us : in->now_us,
                              in->now_us));
    if (start->correlation_key.ptr)
        hf_unit_row(unit, 0,
                    hf_row_correlation_new(mem, in->namespace_key, start->correlation_key,
                                           row.instance, start->correlation_scope));
    hf_unit_row(
        unit, 0,
        hf_row_summary_new(mem, first + 1, in->namespace_key, row.instance, status, in->now_us));
    *out_command = row.key;
    return st;
}

hf_status hf_intake_reserve_draft(const hf_intake *in, hf_slice type, hf_slice id, hf_unit *unit,
                                  hf_instance_row *out_instance, hf_err *err)
{
    const hf_intake_start start = {.type = type, .id = id, .queue = HF_SLICE("default")};
    int64_t key = 0;
    hf_status st = hf_keys_take(in->keys, 1, &key, err);

    if (!st)
        st = instance_make(in, &start, hf_unit_mem(unit), key, out_instance, err);
    if (st)
        return st;
    out_instance->current_run = HF_NONE;
    hf_unit_row(unit, 0, hf_row_instance_reserve(hf_unit_mem(unit), out_instance));
    return HF_OK;
}
