/* machine_update.c: the life of an update. An accepted one is always answered. */
#include "model/machine.h"

static const hf_machine_row update_rows[] = {
    {0, HF_UPDATE_ON_ACCEPT, HF_UPDATE_STATUS_ACCEPTED,
     "The command, the update and UpdateAccepted are committed together."},
    {0, HF_UPDATE_ON_REJECT, HF_UPDATE_STATUS_REJECTED, "The refusal is kept with its reason."},
    {HF_UPDATE_STATUS_ACCEPTED, HF_UPDATE_ON_COMPLETE, HF_UPDATE_STATUS_COMPLETED,
     "It was applied and its result recorded."},
    {HF_UPDATE_STATUS_ACCEPTED, HF_UPDATE_ON_FAIL, HF_UPDATE_STATUS_FAILED,
     "Its handler failed; the run goes on without it."},
    {HF_UPDATE_STATUS_ACCEPTED, HF_UPDATE_ON_RUN_CLOSED, HF_UPDATE_STATUS_FAILED,
     "Nobody can apply it any more, and its caller must know."},
    {HF_UPDATE_STATUS_ACCEPTED, HF_UPDATE_ON_MOVE, HF_UPDATE_STATUS_ACCEPTED,
     "It was meant for the instance, and the next run takes it over."},
};

const hf_machine hf_machine_update = {"update", &hf_update_status_list, &hf_update_on_list,
                                      update_rows, sizeof(update_rows) / sizeof(update_rows[0])};

hf_status hf_update_check(const hf_update_facts *facts, hf_err *err)
{
    bool rejected = facts->status == HF_UPDATE_STATUS_REJECTED;
    hf_update_status known;
    const char *fault = NULL;

    if (!hf_update_status_from((int64_t)facts->status, &known))
        fault = "the status is unknown";
    else if (!rejected && facts->command_sequence < 1)
        fault = "an update that was accepted has a command sequence";
    else if (rejected != (facts->reason != 0))
        fault = "an update has a reason if and only if it was refused";
    else if (facts->has_result != (facts->status == HF_UPDATE_STATUS_COMPLETED))
        fault = "an update has a result if and only if it is completed";
    else if (facts->has_failure != (facts->status == HF_UPDATE_STATUS_FAILED))
        fault = "an update has a failure if and only if it failed";
    else if ((facts->status == HF_UPDATE_STATUS_ACCEPTED) == (facts->closed_at_us > 0))
        fault = "an update has a time of closing if and only if it is over";
    if (fault)
        return hf_err_set(err, HF_CORRUPT, "update in status \"%s\": %s",
                          hf_update_status_text(facts->status), fault);
    return HF_OK;
}
