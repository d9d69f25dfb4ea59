/* errand.c: see errand.h. What is the same for runs and attempts: messages from the threads of
   workers to the core, and how those that sent them are answered. */
#include "base/alloc.h"
#include "base/value.h"
#include "engine/errand_impl.h"
#include "engine/whereabouts.h"

enum { CLAIMS_MAX = 64 }; /* between two looks at other work */

void hf_ticket_end(hf_ticket *ticket, hf_status st, const char *reason, const char *sentence)
{
    ticket->status = st ? hf_err_set(&ticket->err, st, "%s: %s", reason, sentence) : HF_OK;
    ticket->done(ticket);
}

void hf_ticket_elsewhere(hf_ticket *ticket)
{
    hf_ticket_end(ticket, HF_RETRY, "task_elsewhere",
                  "the run is not with this server, or not any more: say it again");
}

hf_value hf_errand_id(hf_mem *mem, int64_t time_us, int64_t key, uint32_t counter)
{
    hf_ulid id = hf_ulid_form(time_us, key, counter);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    return hf_value_string(mem, hf_slice_of(text));
}

hf_value_list *hf_errand_task(hf_mem *mem, const live_run *run, hf_task_kind kind, hf_slice worker,
                              hf_slice queue, int64_t until_us)
{
    hf_value_list *task = hf_value_object(mem);

    hf_value_set_text(task, "kind",
                      kind == HF_TASK_WORKFLOW ? HF_SLICE("workflow")
                      : kind == HF_TASK_STEP   ? HF_SLICE("step")
                                               : HF_SLICE("activity"));
    hf_value_set_text(task, "workflow_id", run->info.instance_id);
    hf_value_set_text(task, "run_id", hf_slice_of(run->run_id));
    hf_value_set_text(task, "workflow_type", kind == HF_TASK_ACTIVITY ? run->info.type : run->code);
    hf_value_set_text(task, "task_queue", queue);
    hf_value_set_text(task, "lease_owner", worker);
    hf_value_set_int(task, "lease_expires_at", until_us);
    return task;
}

/* ---- claims */

/* Any thread. */
static void core_claimed(void *ctx)
{
    hf_core *core = ctx;

    atomic_store(&core->claims, true);
    if (core->o.wake)
        core->o.wake(core->o.ctx);
}

void hf_errand_listen(hf_core *core)
{
    hf_matching_listen(core->o.matching, HF_ERRAND_KINDS, core_claimed, core);
}

bool hf_errand_claims(hf_core *core)
{
    hf_task_key key;
    int64_t run_key;
    int taken = 0;

    while (taken < CLAIMS_MAX &&
           hf_matching_claim(core->o.matching, HF_ERRAND_KINDS, &key, &run_key, NULL)) {
        live_run *run = hf_map_int_get(core->runs, (uint64_t)run_key);
        bool holds;

        if (!run && key.kind == HF_TASK_WORKFLOW)
            run = hf_errand_run_wake(core, &key);
        holds = run && (key.kind == HF_TASK_ACTIVITY ? hf_errand_attempt_claimed(run, &key)
                                                     : hf_errand_run_claimed(core, run, &key));

        if (!holds)
            hf_matching_withdraw(core->o.matching, &key);
        taken++;
    }
    if (taken == CLAIMS_MAX)
        atomic_store(&core->claims, true); /* there may be more */
    return taken > 0;
}

/* ---- reports */

typedef struct report_message {
    hf_core_call call;
    hf_ticket *ticket;
} report_message;

static void report_take(hf_core *core, hf_core_call *call)
{
    report_message *message = (report_message *)call;
    hf_ticket *ticket = message->ticket;
    hf_err err;

    if (core && hf_errand_attempt_early(core, ticket) && !hf_core_call_post(core, call, &err))
        return;
    hf_alloc_free(message);
    ticket->core = core;
    if (!core)
        hf_ticket_end(ticket, HF_STOPPED, "stopped", "the engine is closing");
    else if (ticket->what == HF_TICKET_BACK && !hf_errand_back(core, ticket))
        hf_ticket_elsewhere(ticket);
    else if (ticket->what == HF_TICKET_BACK)
        hf_ticket_end(ticket, HF_OK, "", "");
    else if (ticket->kind == HF_TASK_WORKFLOW)
        hf_errand_run_report(core, ticket);
    else
        hf_errand_attempt_report(core, ticket);
}

hf_status hf_errand_report(hf_core *core, hf_ticket *ticket, hf_err *err)
{
    report_message *message = hf_alloc(sizeof(*message));
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a report");
    message->call.run = report_take;
    message->ticket = ticket;
    st = hf_core_call_post(core, &message->call, err);
    if (st)
        hf_alloc_free(message);
    return st;
}

/* They are noted first: the next worker may take one at once. Without memory for the notes the
   leases end by themselves. A node without workers of its own is asked by others too. */
int64_t hf_errand_give_up(hf_core *core, int64_t namespace_key, hf_slice worker, bool unheard)
{
    hf_task_lease *leases = NULL;
    int64_t given_up = 0;
    size_t count = 0;

    if (!core->o.matching || hf_matching_leases_of(core->o.matching, HF_ERRAND_KINDS, namespace_key,
                                                   worker, &leases, &count, NULL))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (unheard && !leases[i].unheard)
            continue;
        given_up += leases[i].key.kind == HF_TASK_ACTIVITY
                        ? hf_errand_attempt_give_up(core, &leases[i])
                        : hf_errand_run_give_up(core, &leases[i]);
    }
    hf_alloc_free(leases);
    return given_up;
}

bool hf_errand_back(hf_core *core, hf_ticket *ticket)
{
    return (ticket->kind == HF_TASK_WORKFLOW ? hf_errand_run_back(core, ticket)
                                             : hf_errand_attempt_back(core, ticket)) ||
           !hf_whereabouts_elsewhere(core, ticket);
}
