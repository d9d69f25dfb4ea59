/* machine_signal.c: the life of a signal. It is applied at most once. */
#include "model/machine.h"

static const hf_machine_row signal_rows[] = {
    {0, HF_SIGNAL_ON_RECEIVE, HF_SIGNAL_STATUS_RECEIVED,
     "The command, the signal and SignalReceived are committed together."},
    {0, HF_SIGNAL_ON_REJECT, HF_SIGNAL_STATUS_REJECTED, "The refusal is kept with its reason."},
    {HF_SIGNAL_STATUS_RECEIVED, HF_SIGNAL_ON_APPLY, HF_SIGNAL_STATUS_APPLIED,
     "The workflow took it, oldest first."},
    {HF_SIGNAL_STATUS_RECEIVED, HF_SIGNAL_ON_MOVE, HF_SIGNAL_STATUS_RECEIVED,
     "The next run inherits what this one did not read."},
};

const hf_machine hf_machine_signal = {"signal", &hf_signal_status_list, &hf_signal_on_list,
                                      signal_rows, sizeof(signal_rows) / sizeof(signal_rows[0])};

hf_status hf_signal_check(const hf_signal_facts *facts, hf_err *err)
{
    bool rejected = facts->status == HF_SIGNAL_STATUS_REJECTED;
    hf_signal_status known;
    const char *fault = NULL;

    if (!hf_signal_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (!rejected && facts->command_sequence < 1)
        fault = "a signal that was accepted has a command sequence";
    else if (rejected != (facts->reason != 0))
        fault = "a signal has a reason if and only if it was refused";
    else if ((facts->status == HF_SIGNAL_STATUS_APPLIED) != (facts->step > 0))
        fault = "a signal has a step if and only if it was applied";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "signal in status \"%s\": %s",
                          hf_signal_status_text(facts->status), fault);
    return HF_OK;
}
