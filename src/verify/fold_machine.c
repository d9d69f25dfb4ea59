/* fold_machine.c: step machines. It follows the rule of waking by itself, from the events, and
   holds it against the tasks: a machine that can go on has one, a parked one without a new signal
   of an awaited name needs none. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/value.h"
#include "verify/fold_impl.h"

static uint64_t name_hash(hf_slice name)
{
    return hf_map_hash((hf_map_seed){.low = 2}, name);
}

static hf_status signal_add(hf_fold *fold, const hf_event *event, hf_err *err)
{
    hf_machine_signal_fold *grown =
        hf_span_grow(fold->mem, fold->machine.signals, fold->machine.signal_count,
                     &fold->machine.signal_room, sizeof(*grown));
    hf_slice name = {0};
    hf_ulid id = {0};

    if (!grown)
        return hf_err_nomem(err, "the inbox of a machine");
    (void)hf_event_text(event, HF_KEY_SIGNAL_NAME, &name);
    if (!hf_event_id(event, HF_KEY_SIGNAL_ID, &id))
        (void)hf_event_id(event, HF_KEY_WORKFLOW_COMMAND_ID, &id);
    fold->machine.signals = grown;
    grown[fold->machine.signal_count++] =
        (hf_machine_signal_fold){.key = hf_ulid_key(&id), .name = name_hash(name)};
    return HF_OK;
}

static hf_status list_read(hf_fold *fold, const hf_event *event, hf_event_key key,
                           hf_value *out_list, int64_t seq, hf_err *err)
{
    hf_slice json;
    hf_status st;

    *out_list = NULL;
    if (!hf_event_json(event, key, &json))
        return HF_OK;
    st = hf_json_read(fold->chunk, json, NULL, out_list, err);
    if (st == HF_NOMEM)
        return st;
    if (st || hf_value_kind_of(*out_list) != HF_VALUE_ARRAY)
        hf_fold_find(fold, 9, "seq", seq, "event %" PRId64 " has a list that cannot be read", seq);
    return HF_OK;
}

static hf_machine_signal_fold *signal_get(hf_fold *fold, hf_value text)
{
    hf_ulid id;

    if (!hf_ulid_parse(hf_value_slice(text), &id))
        return NULL;
    for (size_t i = 0; i < fold->machine.signal_count; i++)
        if (fold->machine.signals[i].key == hf_ulid_key(&id))
            return &fold->machine.signals[i];
    return NULL;
}

static void signals_use_up(hf_fold *fold, hf_value ids, int64_t seq)
{
    for (size_t i = 0; i < hf_len(ids); i++) {
        hf_machine_signal_fold *signal = signal_get(fold, hf_at(ids, i));

        if (!signal || signal->used) {
            hf_fold_find(fold, 14, "seq", seq, "event %" PRId64 " uses up a signal that %s", seq,
                         signal ? "was used up before" : "was never received");
            continue;
        }
        signal->used = true;
        hf_fold_command_applied(fold, signal->key);
    }
}

static hf_status park_begin(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_machine_fold *machine = &fold->machine;
    hf_value names = NULL;
    hf_value presented = NULL;
    hf_status st = list_read(fold, event, HF_KEY_AWAITED_NAMES, &names, seq, err);

    if (!st)
        st = list_read(fold, event, HF_KEY_PRESENTED_SIGNALS, &presented, seq, err);
    if (st)
        return st;
    machine->names = hf_mem_array(fold->mem, hf_len(names) + 1, sizeof(*machine->names));
    if (!machine->names)
        return hf_err_nomem(err, "the names that a machine awaits");
    machine->name_count = hf_len(names);
    for (size_t i = 0; i < machine->name_count; i++)
        machine->names[i] = name_hash(hf_value_slice(hf_at(names, i)));
    for (size_t i = 0; i < machine->signal_count; i++)
        machine->signals[i].presented = false;
    for (size_t i = 0; i < hf_len(presented); i++) {
        hf_machine_signal_fold *signal = signal_get(fold, hf_at(presented, i));

        if (signal)
            signal->presented = true;
    }
    if (machine->name_count == 0)
        hf_fold_find(fold, 22, "seq", seq, "event %" PRId64 " parks for no signal at all", seq);
    machine->mode = HF_MACHINE_FOLD_PARKED;
    machine->park = event->step;
    return HF_OK;
}

static hf_status step_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_step_outcome outcome = HF_STEP_OUTCOME_NEXT;
    hf_value consumed = NULL;
    hf_slice text = {0};
    hf_status st = list_read(fold, event, HF_KEY_CONSUMED_SIGNALS, &consumed, seq, err);

    if (st)
        return st;
    if (!hf_event_text(event, HF_KEY_OUTCOME, &text) || !hf_step_outcome_parse(text, &outcome))
        hf_fold_find(fold, 9, "seq", seq, "event %" PRId64 " says no outcome of its step", seq);
    signals_use_up(fold, consumed, seq);
    fold->machine.mode =
        outcome == HF_STEP_OUTCOME_FAN_OUT ? HF_MACHINE_FOLD_JOINING : HF_MACHINE_FOLD_READY;
    return outcome == HF_STEP_OUTCOME_PARK ? park_begin(fold, event, seq, err) : HF_OK;
}

hf_status hf_fold_machine_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    if (event->type == HF_EVENT_SIGNAL_RECEIVED)
        return signal_add(fold, event, err);
    if (event->type == HF_EVENT_STEP_COMPLETED)
        return step_event(fold, event, seq, err);
    if (event->type == HF_EVENT_TIMER_FIRED && fold->machine.mode == HF_MACHINE_FOLD_PARKED &&
        event->step == fold->machine.park)
        fold->machine.mode = HF_MACHINE_FOLD_READY;
    return HF_OK;
}

static bool name_awaited(const hf_machine_fold *machine, uint64_t name)
{
    for (size_t i = 0; i < machine->name_count; i++)
        if (machine->names[i] == name)
            return true;
    return false;
}

bool hf_fold_machine_waits(const hf_fold *fold)
{
    const hf_machine_fold *machine = &fold->machine;

    for (size_t i = 0; machine->mode == HF_MACHINE_FOLD_JOINING && i < fold->open_count; i++)
        if (fold->open[i].shape == HF_HISTORY_SHAPE_CHILD_WORKFLOW)
            return true;
    if (machine->mode != HF_MACHINE_FOLD_PARKED)
        return false;
    for (size_t i = 0; i < machine->signal_count; i++)
        if (!machine->signals[i].used && !machine->signals[i].presented &&
            name_awaited(machine, machine->signals[i].name))
            return false;
    return true;
}
