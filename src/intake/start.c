/* start.c: a start becomes an instance, its first run and everything that is known of it from the
   first event on. */
#include <string.h>

#include "base/json.h"
#include "base/value.h"
#include "commit/shard.h"
#include "intake/intake_impl.h"
#include "model/contract.h"
#include "model/name.h"

static hf_status input_fit(const hf_intake_start *start, hf_mem *mem, hf_value *out_input,
                           hf_err *err)
{
    hf_value errors = NULL;
    hf_status st;

    *out_input = start->input;
    if (!start->params)
        return HF_OK;
    st = hf_contract_apply(start->params, start->input, mem, out_input, &errors, err);
    if (!st && errors) {
        const char *sentence = hf_intake_errors_sentence(mem, errors);

        st = sentence ? hf_err_set(err, HF_INVALID, "start: %s", sentence)
                      : hf_err_nomem(err, "a sentence");
    }
    return st;
}

static int64_t deadline_make(int64_t now_us, int64_t timeout_us)
{
    return timeout_us ? now_us + timeout_us : HF_NONE;
}

/* Labels: texts by key, sorted; null is dropped. */
static hf_status labels_fit(hf_mem *mem, hf_value labels, hf_value *out_labels, hf_err *err)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && hf_value_member(labels, i, &key, &item); i++) {
        hf_slice text = hf_slice_trim(hf_value_slice(item));

        if (hf_value_kind_of(item) == HF_VALUE_NULL)
            continue;
        st = hf_name_check(HF_NAME_LABEL_KEY, key, err);
        if (!st)
            st = hf_name_check(HF_NAME_LABEL_VALUE, text, err);
        hf_value_set(list, key, hf_value_string(mem, text));
    }
    *out_labels = hf_value_finish(list);
    return st ? st : *out_labels ? HF_OK : hf_err_nomem(err, "labels");
}

/* An object of the start as canonical JSON in the unit's arena; ptr NULL when it was not given. */
static hf_status object_fit(hf_unit *unit, hf_slice given, const char *what, bool labels,
                            hf_slice *out_json, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_value value = NULL;
    hf_status st;

    *out_json = (hf_slice){0};
    if (!given.ptr)
        return HF_OK;
    st = hf_json_read(mem, given, NULL, &value, err);
    if (!st && hf_value_kind_of(value) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "it is no object");
    if (!st && labels)
        st = labels_fit(mem, value, &value, err);
    if (!st)
        st = hf_intake_json(mem, value, out_json, err);
    return hf_err_because(err, st, "%s", what);
}

/* What operators see of the run from its first event on. */
static hf_status visible_put(const hf_intake *in, const hf_intake_start *start, hf_unit *unit,
                             hf_err *err)
{
    hf_event_builder *events = hf_unit_events(unit, 0);
    hf_slice labels = {0};
    hf_slice memo = {0};
    hf_status st = object_fit(unit, start->labels, "labels", true, &labels, err);

    if (!st)
        st = object_fit(unit, start->memo, "memo", false, &memo, err);
    if (st)
        return st;
    if (start->business_key.ptr)
        hf_event_put_text(events, HF_KEY_BUSINESS_KEY, start->business_key);
    if (labels.ptr)
        hf_event_put_json(events, HF_KEY_VISIBILITY_LABELS, labels);
    if (memo.ptr)
        hf_event_put_payload(
            events, HF_KEY_MEMO,
            hf_unit_payload(unit, in->stager, in->keys, 0, HF_PAYLOAD_CODEC_JSON, memo));
    return HF_OK;
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
}

hf_status hf_intake_start_draft(const hf_intake *in, const hf_intake_start *start,
                                hf_command_row row, hf_unit *unit, hf_intake_target *out_target,
                                int64_t *out_command, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_slice id = start->id;
    hf_value input = NULL;
    char made[HF_ULID_TEXT_SIZE];
    int64_t first = 0; /* instance, run, command, task */
    hf_run_row run;
    hf_ulid ulid;
    hf_status st = hf_keys_take(in->keys, 4, &first, err);

    if (!st)
        st = input_fit(start, mem, &input, err);
    if (st)
        return st;
    if (!id.len) {
        ulid = hf_intake_id(in->now_us, first);
        hf_ulid_print(&ulid, made);
        id = hf_slice_from(hf_mem_text(mem, hf_slice_of(made)), HF_ULID_TEXT_LEN);
        if (!id.ptr)
            return hf_err_nomem(err, "an id");
    }
    st = hf_name_check(HF_NAME_INSTANCE, id, err);
    if (!st)
        st = hf_name_check(HF_NAME_TYPE, start->type, err);
    if (st)
        return st;
    *out_target = (hf_intake_target){.instance = {.key = first,
                                                  .namespace_key = in->namespace_key,
                                                  .id = id,
                                                  .shard = hf_shard_of(in->namespace_key, id),
                                                  .type = start->type,
                                                  .business_key = start->business_key,
                                                  .current_run = first + 1,
                                                  .run_count = 1,
                                                  .created_us = in->now_us},
                                     .created_us = in->now_us,
                                     .definition = start->definition,
                                     .queue = start->queue};
    out_target->base = (hf_run_base){.run = first + 1,
                                     .instance = first,
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
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &out_target->instance, &out_target->base,
                         &run);
    started_events(in, start, unit, &run, hf_intake_id(in->now_us, first + 2));
    st = visible_put(in, start, unit, err);
    if (st)
        return st;
    st = hf_intake_value_put(in, unit, HF_KEY_ARGUMENTS, input, err);
    row.key = first + 2;
    row.instance = first;
    row.run = first + 1;
    row.outcome = HF_CMD_OUTCOME_STARTED_NEW;
    row.applied_us = row.closed_us = in->now_us;
    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    hf_unit_row(unit, 0,
                hf_row_task_wake(mem, first + 3, first + 1, start->queue, in->now_us, in->now_us));
    hf_unit_row(unit, 0,
                hf_row_summary_new(mem, first + 1, in->namespace_key, first, HF_RUN_STATUS_PENDING,
                                   in->now_us));
    *out_command = row.key;
    return st;
}
