/* intake.c: see intake.h. The accepted path of start, signal and update. */
#include "intake/intake.h"

#include <string.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "base/value.h"
#include "commit/shard.h"
#include "model/contract.h"
#include "model/name.h"
#include "store/snapshot.h"

static hf_ulid id_of(int64_t time_us, int64_t key)
{
    hf_ulid id;

    hf_ulid_form(time_us / 1000, (uint64_t)key, 0, &id);
    return id;
}

/* Puts a value into an event as a JSON payload. */
static hf_status value_put(const hf_intake *in, hf_unit *unit, hf_event_key key, hf_value value,
                           hf_err *err)
{
    hf_buf text = {0};

    hf_json_write(&text, value ? value : hf_value_null());
    if (!hf_buf_ok(&text))
        return hf_err_nomem(err, "arguments");
    hf_event_put_payload(
        hf_unit_events(unit, 0), key,
        hf_unit_payload(unit, in->stager, in->keys, 0, HF_PAYLOAD_CODEC_JSON, hf_buf_slice(&text)));
    hf_buf_fini(&text);
    return HF_OK;
}

/* The first of the errors as a sentence; NULL when memory ran out. */
static const char *errors_sentence(hf_mem *mem, hf_value errors)
{
    hf_slice name = {0};
    hf_value messages = NULL;

    if (!hf_value_member(errors, 0, &name, &messages))
        return "the arguments do not fit";
    return hf_mem_format(mem, "argument %.*s: %s", (int)name.len, name.ptr,
                         hf_str(messages, "0", "does not fit"));
}

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
        const char *sentence = errors_sentence(mem, errors);

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
    hf_buf text = {0};
    hf_status st;

    *out_json = (hf_slice){0};
    if (!given.ptr)
        return HF_OK;
    st = hf_json_read(mem, given, NULL, &value, err);
    if (!st && hf_value_kind_of(value) != HF_VALUE_OBJECT)
        st = hf_err_set(err, HF_INVALID, "it is no object");
    if (!st && labels)
        st = labels_fit(mem, value, &value, err);
    if (!st) {
        hf_json_write_canonical(&text, value);
        *out_json = hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL,
                                  text.len);
        hf_buf_fini(&text);
        if (!out_json->ptr)
            st = hf_err_nomem(err, what);
    }
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
        ulid = id_of(in->now_us, first);
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
    started_events(in, start, unit, &run, id_of(in->now_us, first + 2));
    st = visible_put(in, start, unit, err);
    if (st)
        return st;
    st = value_put(in, unit, HF_KEY_ARGUMENTS, input, err);
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

/* Which run of the instance is meant. */
static hf_status run_choose(hf_slice id, hf_slice run_id, hf_intake_target *target,
                            int64_t *out_run, hf_ulid *out_wanted, hf_err *err)
{
    int64_t time_ms = 0;
    uint64_t key = 0;
    uint32_t counter = 0;

    *out_run = target->instance.current_run;
    if (!run_id.ptr)
        return HF_OK;
    if (!hf_ulid_parse(run_id, out_wanted))
        return hf_err_set(err, HF_NOTFOUND, "%.*s has no run %.*s", (int)id.len, id.ptr,
                          (int)run_id.len, run_id.ptr);
    hf_ulid_parts(out_wanted, &time_ms, &key, &counter);
    *out_run = (int64_t)key;
    return HF_OK;
}

static hf_status run_read(const hf_intake *in, hf_mem *mem, int64_t key,
                          hf_intake_target *out_target, hf_err *err)
{
    const hf_db_value run = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_run_base_get(in->db, key, &out_target->base, err);

    if (!st)
        st = hf_db_query(in->db, HF_STMT_RUN_DEFINITION, &run, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice queue = hf_db_column_bytes(cursor, 1);

        out_target->definition =
            hf_db_column_null(cursor, 0) ? HF_NONE : hf_db_column_int(cursor, 0);
        out_target->queue = hf_slice_from(hf_mem_text(mem, queue), queue.len);
        out_target->created_us = hf_db_column_int(cursor, 2);
        if (!out_target->queue.ptr)
            st = hf_err_nomem(err, "a run");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_intake_aim(const hf_intake *in, hf_mem *mem, hf_slice id, hf_slice run_id,
                        hf_intake_target *out_target, hf_err *err)
{
    hf_ulid wanted;
    hf_ulid actual;
    int64_t run = HF_NONE;
    hf_status st;

    *out_target = (hf_intake_target){.base.run = HF_NONE};
    st = hf_instance_get(in->db, mem, in->namespace_key, id, &out_target->instance, err);
    if (!st)
        st = run_choose(id, run_id, out_target, &run, &wanted, err);
    if (st || run == HF_NONE)
        return st;
    st = run_read(in, mem, run, out_target, err);
    if (st && (st != HF_NOTFOUND || !run_id.ptr))
        return st;
    actual = id_of(out_target->created_us, run);
    if (run_id.ptr && (st || out_target->base.instance != out_target->instance.key ||
                       hf_ulid_compare(&wanted, &actual) != 0))
        return hf_err_set(err, HF_NOTFOUND, "%.*s has no run %.*s", (int)id.len, id.ptr,
                          (int)run_id.len, run_id.ptr);
    return HF_OK;
}

hf_status hf_intake_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                         hf_intake_target *out_target, hf_err *err)
{
    hf_status st = hf_intake_aim(in, mem, id, (hf_slice){0}, out_target, err);

    if (!st && out_target->base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "the instance %.*s was never started", (int)id.len,
                        id.ptr);
    return st;
}

/* Arguments as they are recorded: an object by declared name, else the list of positional values.
 */
static hf_value arguments_list(const hf_contract *contract, hf_value args, hf_mem *mem)
{
    hf_value_list *list;

    if (contract->form == HF_CONTRACT_NAMED && contract->count)
        return args;
    if (hf_value_kind_of(args) == HF_VALUE_ARRAY && contract->form == HF_CONTRACT_UNDECLARED)
        return args;
    list = hf_value_array(mem);
    if (args && !(contract->form == HF_CONTRACT_NAMED && !contract->count))
        hf_value_append(list, args);
    return hf_value_finish(list);
}

static hf_status refuse(hf_intake_refusal *refusal, hf_cmd_outcome outcome,
                        hf_rejection_reason reason, const char *why, hf_err *err)
{
    *refusal = (hf_intake_refusal){.outcome = outcome, .reason = reason, .why = why};
    return why ? HF_OK : hf_err_nomem(err, "a refusal");
}

/* The arguments by the contract that the run was started with, as they are recorded. */
static hf_status message_fit(const hf_intake *in, const hf_intake_target *target,
                             const hf_intake_message *message, hf_mem *mem, hf_value *out_args,
                             hf_intake_refusal *refusal, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_value errors = NULL;
    bool update = message->update;
    hf_status st;

    if (target->definition == HF_NONE)
        return refuse(refusal, HF_CMD_OUTCOME_REJECTED_WORKFLOW_DEFINITION_UNAVAILABLE,
                      HF_REJECTION_WORKFLOW_DEFINITION_UNAVAILABLE,
                      "the run's contracts are not known", err);
    st = hf_snapshot_read(in->db, mem, target->definition, &snapshot, err);
    if (!st)
        st = hf_definition_find(update ? snapshot.updates : snapshot.signals, message->name, mem,
                                &contract, err);
    if (!st && !contract)
        return refuse(refusal,
                      update ? HF_CMD_OUTCOME_REJECTED_UNKNOWN_UPDATE
                             : HF_CMD_OUTCOME_REJECTED_UNKNOWN_SIGNAL,
                      update ? HF_REJECTION_UNKNOWN_UPDATE : HF_REJECTION_UNKNOWN_SIGNAL,
                      hf_mem_format(mem, "the run declares no %s called %.*s",
                                    update ? "update" : "signal", (int)message->name.len,
                                    message->name.ptr),
                      err);
    if (!st)
        st = hf_contract_apply(contract, message->args, mem, out_args, &errors, err);
    if (!st && errors) {
        st = refuse(refusal, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS,
                    update ? HF_REJECTION_INVALID_UPDATE_ARGUMENTS
                           : HF_REJECTION_INVALID_SIGNAL_ARGUMENTS,
                    errors_sentence(mem, errors), err);
        refusal->validation_errors = errors;
    } else if (!st && !update) {
        *out_args = arguments_list(contract, *out_args, mem);
    }
    return st;
}

hf_status hf_intake_message_draft(const hf_intake *in, const hf_intake_target *target,
                                  const hf_intake_message *message, hf_command_row row,
                                  hf_unit *unit, int64_t *out_command,
                                  hf_intake_refusal *out_refusal, hf_err *err)
{
    bool update = message->update;
    hf_mem *mem = hf_unit_mem(unit);
    hf_event_builder *events;
    hf_value args = NULL;
    int64_t first = 0; /* command, task */
    hf_ulid id;
    hf_status st;

    *out_refusal = (hf_intake_refusal){0};
    st = message_fit(in, target, message, mem, &args, out_refusal, err);
    if (!st && !out_refusal->outcome)
        st = hf_keys_take(in->keys, 2, &first, err);
    if (st || out_refusal->outcome)
        return st;
    id = id_of(in->now_us, first);
    hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_WHILE_OPEN);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED, in->now_us,
                   0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, id);
    hf_event_put_text(events, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, message->name);
    st = value_put(in, unit, HF_KEY_ARGUMENTS, args, err);
    row.key = first;
    row.outcome = update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED;
    row.message_ahead = 1;
    row.name = message->name;
    row.state = update ? (int64_t)HF_UPDATE_STATUS_ACCEPTED : (int64_t)HF_SIGNAL_STATUS_RECEIVED;
    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    hf_unit_row(
        unit, 0,
        hf_row_task_wake(mem, first + 1, target->base.run, target->queue, in->now_us, in->now_us));
    *out_command = first;
    return st;
}
