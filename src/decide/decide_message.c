/* decide_message.c: signals and updates: applied, answered, sent to children, and handed on to the
   next run. The rule: a message keeps its number and its id for life; a run that closes answers
   every update that it accepted. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/decide_impl.h"

static void cursor_move(hf_decide *decide, int64_t number)
{
    if (number > decide->cursor)
        decide->cursor = number;
    hf_unit_cursor(decide->unit, 0, decide->cursor);
}

static hf_status message_find(hf_decide *decide, int64_t seq, const hf_open_message **out_message,
                              hf_err *err)
{
    *out_message = decide->host->message(decide->host->ctx, seq);
    return *out_message
               ? HF_OK
               : hf_err_set(err, HF_INVALID, "event %lld brought no message that could be applied",
                            (long long)seq);
}

hf_status hf_decide_apply_signal(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_message *message = NULL;
    hf_event_builder *events;
    hf_status st = message_find(decide, row->fact.seq, &message, err);

    if (st)
        return st;
    if (message->number > decide->run->base->message_cursor && message->number > decide->cursor) {
        events = hf_decide_event(decide, HF_EVENT_MESSAGE_CURSOR_ADVANCED, 0);
        hf_event_put_int(events, HF_KEY_NEW_POSITION, message->number);
        cursor_move(decide, message->number);
    }
    events = hf_decide_event(decide, HF_EVENT_SIGNAL_APPLIED, row->step);
    hf_event_put_id(events, HF_KEY_SIGNAL_ID, message->command_id);
    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, row->name);
    if (row->fact.as_sent)
        hf_event_put_payload(events, HF_KEY_VALUE, *row->fact.as_sent);
    else
        hf_decide_payload(decide, HF_KEY_VALUE, &row->value);
    hf_decide_row(decide,
                  hf_row_command_close(hf_unit_mem(decide->unit), message->command,
                                       HF_CMD_OUTCOME_SIGNAL_RECEIVED, HF_SIGNAL_STATUS_APPLIED,
                                       decide->now_us, decide->now_us));
    return HF_OK;
}

hf_status hf_decide_use_up(hf_decide *decide, int64_t seq, hf_err *err)
{
    const hf_open_message *message = NULL;
    hf_status st = message_find(decide, seq, &message, err);

    if (st)
        return st;
    if (message->number > decide->run->base->message_cursor)
        cursor_move(decide, message->number);
    hf_decide_row(decide,
                  hf_row_command_close(hf_unit_mem(decide->unit), message->command,
                                       HF_CMD_OUTCOME_SIGNAL_RECEIVED, HF_SIGNAL_STATUS_APPLIED,
                                       decide->now_us, decide->now_us));
    return HF_OK;
}

static void update_close(hf_decide *decide, const hf_open_message *message, bool failed)
{
    hf_decide_row(decide,
                  hf_row_command_close(
                      hf_unit_mem(decide->unit), message->command,
                      failed ? HF_CMD_OUTCOME_UPDATE_FAILED : HF_CMD_OUTCOME_UPDATE_COMPLETED,
                      failed ? HF_UPDATE_STATUS_FAILED : HF_UPDATE_STATUS_COMPLETED, decide->now_us,
                      decide->now_us));
}

static hf_event_builder *update_event(hf_decide *decide, hf_event_type type,
                                      const hf_open_message *message, int64_t step, hf_slice name)
{
    hf_event_builder *events = hf_decide_event(decide, type, step);

    hf_event_put_id(events, HF_KEY_UPDATE_ID, message->command_id);
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, name);
    return events;
}

hf_status hf_decide_apply_update(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_message *message = NULL;
    hf_status st = message_find(decide, row->fact.seq, &message, err);

    if (st)
        return st;
    cursor_move(decide, message->number);
    (void)update_event(decide, HF_EVENT_UPDATE_APPLIED, message, row->step, row->name);
    (void)update_event(decide, HF_EVENT_UPDATE_COMPLETED, message, row->step, row->name);
    hf_decide_payload(decide, HF_KEY_RESULT, &row->value);
    update_close(decide, message, false);
    return HF_OK;
}

hf_status hf_decide_fail_update(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_message *message = NULL;
    hf_status st = message_find(decide, row->failure.seq, &message, err);

    if (st)
        return st;
    cursor_move(decide, message->number);
    (void)update_event(decide, HF_EVENT_UPDATE_COMPLETED, message, row->step, row->name);
    hf_decide_failure(decide, &row->failure, row->failure.category);
    update_close(decide, message, true);
    return HF_OK;
}

/* ---- signals to children */

hf_status hf_decide_signal_child(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_open_child *child = NULL;
    hf_buf body = {0};
    hf_ulid wanted;

    if (!hf_ulid_parse(row->outgoing.child_call, &wanted))
        return hf_err_set(err, HF_INVALID, "%.*s is no id of a child call",
                          (int)row->outgoing.child_call.len, row->outgoing.child_call.ptr);
    hf_decide_know(decide, HF_KNOW_CHILDREN);
    for (size_t i = 0; !child && i < decide->run->child_count; i++) {
        hf_ulid id =
            hf_ulid_form(decide->run->children[i].call_us, decide->run->children[i].call, 0);

        if (hf_ulid_compare(&id, &wanted) == 0)
            child = &decide->run->children[i];
    }
    if (!child)
        return HF_OK; /* it closed: nobody is there to hear it */
    hf_buf_add_text(&body, "{\"arguments\":");
    hf_buf_add_slice(&body, row->value.bytes);
    hf_buf_add_text(&body, ",\"name\":\"");
    hf_json_add_escaped(&body, row->name);
    hf_buf_add_format(&body, "\",\"ordinal\":%lld}", (long long)row->outgoing.ordinal);
    if (hf_buf_ok(&body))
        hf_decide_tell(decide, HF_NONE, child->instance, child->run, HF_INBOX_SIGNAL,
                       decide->run->base->run, hf_buf_slice(&body));
    else
        hf_unit_row(decide->unit, 0, NULL);
    hf_buf_fini(&body);
    return HF_OK;
}

/* No contract is asked: there is nobody to refuse the signal to. One that the child never waits for
   stays unread. */
hf_status hf_decide_child_signal(hf_decide *decide, int64_t sender, hf_slice hash, hf_slice body,
                                 hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_value value = NULL;
    hf_value arguments;
    hf_buf text = {0};
    hf_event_builder *events;
    hf_decision_payload payload = {.codec = HF_PAYLOAD_CODEC_JSON};
    hf_command_row row = {.instance = decide->run->base->instance,
                          .run = decide->run->base->run,
                          .type = HF_COMMAND_TYPE_SIGNAL,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome = HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = HF_COMMAND_SOURCE_WORKFLOW,
                          .state = HF_SIGNAL_STATUS_RECEIVED,
                          .recorded_us = decide->now_us,
                          .applied_us = HF_NONE,
                          .closed_us = HF_NONE};
    hf_status st = hf_json_read(mem, body, NULL, &value, err);

    (void)sender;
    if (!st)
        st = hf_decide_key(decide, &row.key, err);
    if (st)
        return st;
    arguments = hf_get(value, "arguments");
    if (hf_value_kind_of(arguments) == HF_VALUE_NULL)
        arguments = hf_value_finish(hf_value_array(mem)); /* no argument at all */
    hf_json_write(&text, arguments);
    payload.bytes =
        hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL, text.len);
    hf_buf_fini(&text);
    if (!arguments || !payload.bytes.ptr)
        return hf_err_nomem(err, "a signal");
    row.name = hf_slice_of(hf_str(value, "name", ""));
    row.command_ahead = ++decide->commands;
    row.message_ahead = ++decide->messages;
    events = hf_decide_event(decide, HF_EVENT_SIGNAL_RECEIVED, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, hf_ulid_form(decide->now_us, row.key, 0));
    hf_event_put_id(events, HF_KEY_SIGNAL_ID, hf_ulid_form(decide->now_us, row.key, 0));
    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, row.name);
    hf_decide_payload(decide, HF_KEY_ARGUMENTS, &payload);
    hf_decide_row(decide, hf_row_command_new(mem, &row));
    hf_decide_row(decide, hf_row_dedup_new(mem, row.instance, hash, row.key));
    hf_unit_fix(decide->unit); /* its number is counted from the run as it is now */
    return HF_OK;
}

/* ---- the end of the run */

/* Whether this very unit applied or answered the message. */
static bool message_is_over(hf_decide *decide, const hf_open_message *message)
{
    const hf_event_builder *events = hf_unit_events(decide->unit, 0);

    for (size_t i = 0; i < events->count; i++) {
        const hf_event *event = &events->events[i];
        hf_ulid id;

        if ((event->type == HF_EVENT_SIGNAL_APPLIED && hf_event_id(event, HF_KEY_SIGNAL_ID, &id)) ||
            (event->type == HF_EVENT_UPDATE_COMPLETED && hf_event_id(event, HF_KEY_UPDATE_ID, &id)))
            if (hf_ulid_compare(&id, &message->command_id) == 0)
                return true;
    }
    return false;
}

static bool message_moves(const hf_open_message *message)
{
    return !message->update || message->scope == HF_TARGET_SCOPE_INSTANCE;
}

/* What is left in the inbox of a machine that ends goes with it: no step will look for it. */
static void signal_clear(hf_decide *decide, const hf_open_message *message)
{
    const hf_decision_step *last = decide->last_step;

    for (size_t i = 0; i < last->seq_count; i++)
        if (last->seqs[i] == message->seq)
            return; /* used up */
    hf_decide_row(decide, hf_row_command_close(hf_unit_mem(decide->unit), message->command,
                                               HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                                               HF_SIGNAL_STATUS_RECEIVED, HF_NONE, decide->now_us));
}

void hf_decide_close_messages(hf_decide *decide, hf_closed_reason reason, bool moved)
{
    for (size_t i = 0; i < decide->run->message_count; i++) {
        const hf_open_message *message = &decide->run->messages[i];
        hf_event_builder *events;

        if (!message->update && decide->last_step)
            signal_clear(decide, message);
        if (!message->update || (moved && message_moves(message)) ||
            message_is_over(decide, message))
            continue;
        events = update_event(decide, HF_EVENT_UPDATE_COMPLETED, message, 0, message->name);
        hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                          hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_APPLICATION)));
        hf_event_put_bool(events, HF_KEY_NON_RETRYABLE, true);
        hf_event_put_text(events, HF_KEY_EXCEPTION_TYPE, HF_SLICE("run_closed"));
        hf_event_put_text(events, HF_KEY_MESSAGE,
                          HF_SLICE("the run closed before the update was applied"));
        hf_event_put_text(events, HF_KEY_TERMINAL_REASON,
                          hf_slice_of(hf_closed_reason_text(reason)));
        update_close(decide, message, true);
        cursor_move(decide, message->number);
    }
}

void hf_decide_move_messages(hf_decide *decide, size_t part, int64_t next_run)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    hf_event_builder *events = hf_unit_events(decide->unit, part);
    int64_t ahead = 0;

    for (size_t i = 0; i < decide->run->message_count; i++) {
        const hf_open_message *message = &decide->run->messages[i];
        const hf_decision_payload arguments = {.codec = message->codec,
                                               .bytes = message->arguments};

        if (!message_moves(message) || message_is_over(decide, message))
            continue;
        hf_event_begin(events,
                       message->update ? HF_EVENT_UPDATE_ACCEPTED : HF_EVENT_SIGNAL_RECEIVED,
                       decide->now_us, 0);
        hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, message->command_id);
        hf_event_put_id(events, message->update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID,
                        message->command_id);
        hf_event_put_text(events, message->update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME,
                          message->name);
        hf_decide_payload_in(decide, part, HF_KEY_ARGUMENTS, &arguments);
        hf_unit_row(decide->unit, part,
                    hf_row_command_move(mem, message->command, message->update, next_run, ++ahead));
    }
}
