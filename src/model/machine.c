/* machine.c: looks up rows of life cycle tables. The tables are in machine_*.c, one per file;
   nothing here knows what they are about. */
#include "model/machine.h"

static const hf_machine *const machines[] = {
    &hf_machine_run,   &hf_machine_task,   &hf_machine_activity, &hf_machine_attempt,
    &hf_machine_timer, &hf_machine_signal, &hf_machine_update,   &hf_machine_child,
};

const hf_machine *hf_machine_at(size_t index)
{
    return index < sizeof(machines) / sizeof(machines[0]) ? machines[index] : NULL;
}

const hf_machine_row *hf_machine_find(const hf_machine *machine, int from, int on)
{
    for (size_t i = 0; i < machine->count; i++) {
        if (machine->rows[i].from == from && machine->rows[i].on == on)
            return &machine->rows[i];
    }
    return NULL;
}

const char *hf_machine_state_text(const hf_machine *machine, int state)
{
    return state == 0 ? "none" : hf_vocab_text(machine->states, state);
}

hf_status hf_machine_next(const hf_machine *machine, int from, int on, int *out_to, hf_err *err)
{
    const hf_machine_row *row = hf_machine_find(machine, from, on);

    if (!row)
        return hf_err_set(err, HF_CONFLICT, "%s: \"%s\" cannot happen in state \"%s\"",
                          machine->name, hf_vocab_text(machine->happenings, on),
                          hf_machine_state_text(machine, from));
    *out_to = row->to;
    return HF_OK;
}
