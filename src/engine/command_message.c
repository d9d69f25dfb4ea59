/* command_message.c: signals and updates. */
#include "engine/command_impl.h"

hf_status hf_command_message(hf_handling *h, hf_err *err)
{
    const hf_request *request = h->request;
    const hf_intake_message message = {.update = request->type == HF_COMMAND_TYPE_UPDATE,
                                       .name = request->name,
                                       .args = request->args};
    hf_intake_refusal refusal;
    int64_t command = 0;
    hf_status st;

    if (!request->name.ptr)
        return hf_err_set(err, HF_MISUSE, "a name is needed");
    if (hf_handling_inactive(h))
        return HF_OK;
    hf_call_read_begin(h->call);
    st = hf_intake_message_draft(&h->call->in, &h->target, &message, hf_handling_row(h), h->unit,
                                 &command, &refusal, err);
    hf_call_read_end(h->call);
    if (!st && refusal.outcome)
        return hf_handling_refuse(h, &refusal, err);
    if (!st)
        hf_handling_accept(h, command,
                           message.update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED);
    return st;
}
