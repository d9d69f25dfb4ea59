/* errand.c: see errand.h. What is the same for runs and attempts: messages from the threads of
   workers to the core, and how those that sent them are answered. */
#include "base/alloc.h"
#include "base/value.h"
#include "engine/errand_impl.h"
#include "engine/inquiry.h"

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

hf_value_list *hf_errand_task(const live_run *run, hf_task_kind kind, const hf_waiter *waiter,
                              hf_slice queue, int64_t until_us)
{
    hf_value_list *task = hf_value_object(waiter->mem);

    hf_value_set_text(task, "kind",
                      kind == HF_TASK_WORKFLOW ? HF_SLICE("workflow") : HF_SLICE("activity"));
    hf_value_set_text(task, "workflow_id", run->info.instance_id);
    hf_value_set_text(task, "run_id", hf_slice_of(run->run_id));
    hf_value_set_text(task, "workflow_type", run->info.type);
    hf_value_set_text(task, "task_queue", queue);
    hf_value_set_text(task, "lease_owner", waiter->worker);
    hf_value_set_int(task, "lease_expires_at", until_us);
    return task;
}

void hf_errand_send_back(hf_core *core, hf_waiter *waiter)
{
    hf_err err;

    if (waiter && (waiter->once || hf_errand_ask(core->o.desk, waiter, &err)))
        (void)waiter->got(waiter, NULL);
}

/* ---- messages */

typedef struct errand_message {
    hf_core_call call;
    hf_errand errand;
    hf_waiter *waiter;
} errand_message;

/* Somebody asked for work that lay on the desk. It may be gone meanwhile. */
static void errand_take(hf_core *core, hf_core_call *call)
{
    errand_message *message = (errand_message *)call;
    hf_waiter *waiter = message->waiter;
    live_run *run = core ? hf_map_int_get(core->runs, (uint64_t)message->errand.run) : NULL;
    bool taken = false; /* the waiter is somebody else's now */

    if (!core) {
        (void)waiter->got(waiter, NULL);
        hf_alloc_free(message);
        return;
    }
    if (run && message->errand.kind == HF_TASK_WORKFLOW)
        taken = hf_errand_run_take(core, run, waiter);
    else if (run && message->errand.kind == HF_TASK_ACTIVITY)
        taken = hf_errand_attempt_take(run, message->errand.activity, waiter);
    if (!taken)
        hf_errand_send_back(core, waiter);
    hf_alloc_free(message);
}

hf_status hf_errand_ask(hf_desk *desk, hf_waiter *waiter, hf_err *err)
{
    errand_message *message = hf_alloc(sizeof(*message));
    bool found = false;
    hf_value task = NULL;
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a poll");
    message->waiter = waiter;
    message->call.run = errand_take;
    do {
        st = hf_desk_ask(desk, waiter, &found, &message->errand, err);
        if (st || !found || !message->errand.inquiries)
            break;
        task = hf_inquiry_take(message->errand.inquiries, message->errand.activity, waiter);
        if (task && !waiter->got(waiter, task))
            hf_inquiry_return(message->errand.inquiries, message->errand.activity);
        found = false; /* nothing for a core */
    } while (!task);   /* whoever asked has left */
    if (!st && found)
        st = hf_core_call_post(message->errand.core, &message->call, err);
    if (st || !found)
        hf_alloc_free(message);
    return st;
}

hf_status hf_errand_claim(hf_desk *desk, hf_waiter *waiter, int64_t run, int64_t activity,
                          hf_err *err)
{
    errand_message *message = hf_alloc(sizeof(*message));
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a claim");
    message->waiter = waiter;
    message->call.run = errand_take;
    st = hf_desk_claim(desk, waiter, run, activity, &message->errand)
             ? hf_core_call_post(message->errand.core, &message->call, err)
             : hf_err_set(err, HF_NOTFOUND, "task_not_found: no such task is to be had");
    if (st)
        hf_alloc_free(message);
    return st;
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

int64_t hf_errand_give_up(hf_core *core, int64_t namespace_key, hf_slice worker, bool unheard)
{
    int64_t attempts = hf_errand_attempts_give_up(core, namespace_key, worker, unheard);

    return attempts + (unheard ? 0 : hf_errand_runs_give_up(core, namespace_key, worker));
}
