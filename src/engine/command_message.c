/* command_message.c: signals and updates. */
#include "engine/command_impl.h"

hf_status hf_command_message(hf_handling *h, hf_err *err)
{
    const hf_request *request = h->request;
    const hf_intake *in = &h->call->in;
    const hf_intake_message message = {.update = request->type == HF_COMMAND_TYPE_UPDATE,
                                       .name = request->name,
                                       .args = request->args};
    hf_intake_refusal refusal;
    hf_slice args = {0};
    int64_t command = 0;
    hf_status st;

    if (!request->name.ptr)
        return hf_err_set(err, HF_MISUSE, "a name is needed");
    if (request->start)
        return hf_command_signal_start(h, err);
    if (hf_handling_inactive(h))
        return HF_OK;
    hf_call_read_begin(h->call);
    st = hf_intake_message_fit(in, h->target.definition, &message, hf_unit_mem(h->unit), &args,
                               &refusal, err);
    hf_call_read_end(h->call);
    if (!st && refusal.outcome)
        return hf_handling_refuse(h, &refusal, err);
    if (st)
        return st;
    hf_unit_append(h->unit, &h->target.base, HF_NONE, HF_REBASE_WHILE_OPEN);
    st = hf_intake_message_put(in, &message, args, hf_handling_row(h), h->unit, &command, err);
    if (!st)
        st = hf_intake_wake(in, &h->target, h->unit, err);
    hf_handling_accept(h, command,
                       message.update ? HF_NONE : (int64_t)HF_CMD_OUTCOME_SIGNAL_RECEIVED);
    return st;
}
