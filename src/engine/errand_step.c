/* errand_step.c: steps of machines for workers in other processes. The fold of the history is here,
   so a task brings what the step sees and nothing to replay, and its end is decided as that of a
   step that ran here. The core's thread only. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/errand_impl.h"
#include "model/step_codec.h"

hf_slice hf_errand_step_type(const live_run *run, char text[HF_ERRAND_TYPE_SIZE])
{
    hf_step_work work = {0};

    (void)hf_replay_work(run->replay, &work);
    (void)snprintf(text, HF_ERRAND_TYPE_SIZE, "%.*s/%.*s", (int)run->code.len, run->code.ptr,
                   (int)work.name.len, work.name.len ? work.name.ptr : "");
    return hf_slice_of(text);
}

hf_value hf_errand_step_value(live_run *run, hf_mem *mem, int64_t lease_us)
{
    hf_step_work work = {0};
    hf_value value = NULL;
    hf_err err;

    if (!hf_replay_work(run->replay, &work) || hf_replay_work_fill(run->replay, mem, &work, &err))
        return NULL;
    if (run->far->step != work.number)
        run->far->losses = 0;
    run->far->step = work.number;
    work.attempt += run->crashes + run->far->losses;
    run->far->attempt = work.attempt;
    if (hf_step_work_write(mem, &work, &value, &err))
        return NULL;
    return hf_value_merge(mem, value, hf_json_(mem, "{'lease_us': %lld}", (long long)lease_us));
}

bool hf_errand_step_ended(live_run *run, hf_ticket *ticket)
{
    hf_step_end *end = ticket->answer.ended;

    end->attempt = run->far->attempt;
    end->seen_seq = ticket->answer.seen_seq;
    if (hf_replay_step_ended(run->replay, end))
        return true;
    hf_ticket_end(ticket, HF_REJECTED, "stale_step", "the machine is at another step");
    return false;
}
