/* decide_stream.c: message streams. What was read is recorded like a side effect, with the place up
   to which; what is sent stands in two streams, the sender's and the receiver's, and in no history.
   The rule: a message is known by the run that sent it and its number there, so that code which
   sends it again after an eviction sends nothing. */
#include "base/json.h"
#include "base/value.h"
#include "decide/decide_impl.h"

hf_status hf_decide_receive_messages(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    const hf_run_base *base = decide->run->base;
    hf_event_builder *events;

    (void)err;
    if (row->fact.seq > 0) {
        events = hf_decide_event(decide, HF_EVENT_MESSAGE_CURSOR_ADVANCED, 0);
        hf_event_put_text(events, HF_KEY_STREAM_KEY, row->name);
        hf_event_put_int(events, HF_KEY_PREVIOUS_POSITION, row->fact.before);
        hf_event_put_int(events, HF_KEY_NEW_POSITION, row->fact.seq);
        hf_decide_row(decide,
                      hf_row_message_take(hf_unit_mem(decide->unit), base->instance, row->name,
                                          row->fact.seq, base->run, row->step, decide->now_us));
    }
    (void)hf_decide_event(decide, HF_EVENT_SIDE_EFFECT_RECORDED, row->step);
    hf_decide_payload(decide, HF_KEY_RESULT, &row->value);
    return HF_OK;
}

hf_status hf_decide_send_message(hf_decide *decide, const hf_decision_row *row, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(decide->unit);
    const hf_decide_run *run = decide->run;
    hf_value reference = NULL;
    int64_t first = 0; /* received, sent */
    hf_message_row message = {.namespace_key = run->namespace_key,
                              .instance = row->outgoing.instance,
                              .stream = row->name,
                              .direction = HF_MESSAGE_DIRECTION_INBOUND,
                              .peer = run->instance_id,
                              .source_run = run->base->run,
                              .ordinal = row->outgoing.ordinal,
                              .created_us = decide->now_us};
    hf_status st = hf_json_read(mem, row->value.bytes, NULL, &reference, err);

    if (st || !hf_decide_keys(decide, 2, &first))
        return st;
    message.key = first;
    message.reference = hf_value_slice(reference);
    hf_decide_row(decide, hf_row_message_hold(mem, run->namespace_key, row->outgoing.instance));
    if (!hf_slice_equal(run->instance_id, row->outgoing.instance))
        hf_decide_row(decide, hf_row_message_hold(mem, run->namespace_key, run->instance_id));
    hf_decide_row(decide, hf_row_message_new(mem, &message));
    message.key = first + 1;
    message.instance = run->instance_id;
    message.direction = HF_MESSAGE_DIRECTION_OUTBOUND;
    message.peer = row->outgoing.instance;
    hf_decide_row(decide, hf_row_message_new(mem, &message));
    return HF_OK;
}
