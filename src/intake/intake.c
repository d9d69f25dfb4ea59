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

/* The workflow task that makes the engine look at the run. */
static void wake_add(const hf_intake *in, hf_unit *unit, int64_t task, int64_t run, hf_slice queue)
{
    const hf_task_row row = {.key = task,
                             .run = run,
                             .kind = HF_TASK_TYPE_WORKFLOW,
                             .status = HF_TASK_STATUS_READY,
                             .queue = queue,
                             .priority = 5,
                             .available_us = in->now_us,
                             .lease_until_us = HF_NONE,
                             .source_kind = HF_NONE,
                             .source_key = HF_NONE,
                             .created_us = in->now_us};

    hf_unit_row(unit, 0, hf_row_task_wake(hf_unit_mem(unit), &row));
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

/* A rejection for people: which argument, and what is wrong with it. */
static hf_status errors_say(hf_status st, const char *what, hf_value errors, hf_err *err)
{
    hf_slice name = {0};
    hf_value messages = NULL;

    if (!hf_value_member(errors, 0, &name, &messages))
        return hf_err_set(err, st, "%s: the arguments do not fit", what);
    return hf_err_set(err, st, "%s: argument %.*s: %s", what, (int)name.len, name.ptr,
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
    if (!st && errors)
        st = errors_say(HF_INVALID, "start", errors, err);
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

static void command_add(const hf_intake *in, hf_unit *unit, hf_command_row row)
{
    row.status = HF_COMMAND_STATUS_ACCEPTED;
    row.rejection = HF_NONE;
    row.scope = HF_TARGET_SCOPE_INSTANCE;
    row.source = HF_COMMAND_SOURCE_EMBEDDED;
    row.command_ahead = 1;
    row.recorded_us = in->now_us;
    hf_unit_row(unit, 0, hf_row_command_new(hf_unit_mem(unit), &row));
}

hf_status hf_intake_start_draft(const hf_intake *in, const hf_intake_start *start, hf_unit *unit,
                                int64_t *out_run, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_slice id = start->id;
    hf_value input = NULL;
    char made[HF_ULID_TEXT_SIZE];
    int64_t first = 0; /* instance, run, command, task */
    hf_instance_row instance;
    hf_run_base base;
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
        id = hf_slice_of(made);
    }
    st = hf_name_check(HF_NAME_INSTANCE, id, err);
    if (!st)
        st = hf_name_check(HF_NAME_TYPE, start->type, err);
    if (st)
        return st;
    instance = (hf_instance_row){.key = first,
                                 .namespace_key = in->namespace_key,
                                 .id = id,
                                 .shard = hf_shard_of(in->namespace_key, id),
                                 .type = start->type,
                                 .business_key = start->business_key,
                                 .current_run = first + 1,
                                 .run_count = 1,
                                 .created_us = in->now_us};
    base = (hf_run_base){.run = first + 1,
                         .instance = first,
                         .shard = instance.shard,
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
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &instance, &base, &run);
    started_events(in, start, unit, &run, id_of(in->now_us, first + 2));
    st = visible_put(in, start, unit, err);
    if (st)
        return st;
    st = value_put(in, unit, HF_KEY_ARGUMENTS, input, err);
    command_add(in, unit,
                (hf_command_row){.key = first + 2,
                                 .instance = first,
                                 .run = first + 1,
                                 .type = HF_COMMAND_TYPE_START,
                                 .outcome = HF_CMD_OUTCOME_STARTED_NEW,
                                 .message_ahead = HF_NONE,
                                 .state = HF_NONE,
                                 .applied_us = in->now_us,
                                 .closed_us = in->now_us});
    wake_add(in, unit, first + 3, first + 1, start->queue);
    hf_unit_row(unit, 0,
                hf_row_summary_new(mem, first + 1, in->namespace_key, first, HF_RUN_STATUS_PENDING,
                                   in->now_us));
    *out_run = first + 1;
    return st;
}

hf_status hf_intake_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                         hf_intake_target *out_target, hf_err *err)
{
    hf_instance_row instance;
    hf_db_cursor *cursor = NULL;
    hf_db_value run;
    bool found = false;
    hf_status st = hf_instance_get(in->db, mem, in->namespace_key, id, &instance, err);

    if (st)
        return st;
    if (instance.current_run == HF_NONE)
        return hf_err_set(err, HF_NOTFOUND, "the instance %.*s was never started", (int)id.len,
                          id.ptr);
    st = hf_run_base_get(in->db, instance.current_run, &out_target->base, err);
    run = hf_db_int(instance.current_run);
    if (!st)
        st = hf_db_query(in->db, HF_STMT_RUN_DEFINITION, &run, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice queue = hf_db_column_bytes(cursor, 1);

        out_target->definition =
            hf_db_column_null(cursor, 0) ? HF_NONE : hf_db_column_int(cursor, 0);
        out_target->queue = hf_slice_from(hf_mem_text(mem, queue), queue.len);
        if (!out_target->queue.ptr)
            st = hf_err_nomem(err, "a run");
    }
    hf_db_end(cursor);
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

hf_status hf_intake_message_draft(const hf_intake *in, const hf_intake_target *target,
                                  hf_target_kind kind, hf_slice name, hf_value args, hf_unit *unit,
                                  int64_t *out_command, hf_err *err)
{
    bool update = kind == HF_TARGET_UPDATE;
    hf_mem *mem = hf_unit_mem(unit);
    hf_definition_snapshot snapshot = {0};
    const hf_contract *contract = NULL;
    hf_event_builder *events;
    hf_value fitted = NULL;
    hf_value errors = NULL;
    int64_t first = 0; /* command, task */
    hf_ulid id;
    hf_status st;

    if (target->base.closed_us != HF_NONE)
        return hf_err_set(err, HF_REJECTED, "run_not_active: the run is closed");
    if (target->definition == HF_NONE)
        return hf_err_set(err, HF_REJECTED,
                          "workflow_definition_unavailable: the run's contracts are not known");
    st = hf_snapshot_read(in->db, mem, target->definition, &snapshot, err);
    if (!st)
        st = hf_definition_find(update ? snapshot.updates : snapshot.signals, name, mem, &contract,
                                err);
    if (!st && !contract)
        st = hf_err_set(err, HF_REJECTED, "unknown_%s: the run declares no %s called %.*s",
                        update ? "update" : "signal", update ? "update" : "signal", (int)name.len,
                        name.ptr);
    if (!st)
        st = hf_contract_apply(contract, args, mem, &fitted, &errors, err);
    if (!st && errors)
        st = errors_say(HF_REJECTED,
                        update ? "invalid_update_arguments" : "invalid_signal_arguments", errors,
                        err);
    if (!st)
        st = hf_keys_take(in->keys, 2, &first, err);
    if (st)
        return st;
    id = id_of(in->now_us, first);
    hf_unit_append(unit, &target->base, HF_NONE, HF_REBASE_WHILE_OPEN);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED, in->now_us,
                   0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id);
    hf_event_put_id(events, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, id);
    hf_event_put_text(events, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, name);
    st = value_put(in, unit, HF_KEY_ARGUMENTS,
                   update ? fitted : arguments_list(contract, fitted, mem), err);
    command_add(in, unit,
                (hf_command_row){.key = first,
                                 .instance = target->base.instance,
                                 .run = target->base.run,
                                 .type = update ? HF_COMMAND_TYPE_UPDATE : HF_COMMAND_TYPE_SIGNAL,
                                 .outcome = update ? HF_NONE : HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                                 .message_ahead = 1,
                                 .name = name,
                                 .state = update ? (int64_t)HF_UPDATE_STATUS_ACCEPTED
                                                 : (int64_t)HF_SIGNAL_STATUS_RECEIVED,
                                 .applied_us = HF_NONE,
                                 .closed_us = HF_NONE});
    wake_add(in, unit, first + 1, target->base.run, target->queue);
    *out_command = first;
    return st;
}
