/* report.h: what a worker says of its task, between the call that brings it and the core that
   commits it. Both may be in different processes: a report that reaches a node which does not have
   the run is carried to the one that has it, as a copy, and its answer back (carrier.h). */
#ifndef HF_ENGINE_REPORT_H
#define HF_ENGINE_REPORT_H

#include "engine/call.h"
#include "holdfast/worker.h"

struct hf_ticket; /* errand.h */

/* Reads ticket->said, in `mem`, as what the ticket's kind of report says. HF_INVALID with
 *out_errors: which commands are at fault (may be NULL). HF_TOOBIG, HF_NOMEM. */
HF_NODISCARD hf_status hf_report_read(hf_mem *mem, struct hf_ticket *ticket, int64_t payload_max,
                                      hf_value *out_errors, hf_err *err);

/* Has the report carried out by whoever has its run, here or elsewhere, and waits. While nobody has
   it, that is waited for, too: for two leases of the nodes, then HF_RETRY (`no_owner`). */
HF_NODISCARD hf_status hf_report_send(hf_call *call, struct hf_ticket *ticket);

/* The same for several at once: how each ended is in its status and err. */
HF_NODISCARD hf_status hf_report_send_all(hf_call *call, struct hf_ticket *const *tickets,
                                          size_t count);

/* A task that was handed out comes back (handback.h): the same, without waiting. */
HF_NODISCARD hf_status hf_report_back(hf_engine *engine, const struct hf_ticket *ticket,
                                      hf_err *err);

/* hf_carrier_options.back; the context is the engine. */
void hf_report_lost(void *ctx, bool here, const char *task_id, const struct hf_ticket *ticket);

/* An answer to a question that another node asks, whose part of the question's number this is. */
struct hf_inquiry_ask;
HF_NODISCARD hf_status hf_report_question(hf_call *call, int64_t part, hf_task_kind kind,
                                          const hf_task_claim *claim,
                                          const struct hf_inquiry_ask *said, hf_err *err);

/* What the worker holds is offered again, at every node that has some of it; how much it was. */
int64_t hf_report_give_up(hf_call *call, hf_slice worker, bool unheard);

/* Whether the worker was heard at another node within so long. HF_RETRY: one does not say. */
HF_NODISCARD hf_status hf_report_heard(hf_call *call, hf_slice worker, int64_t within_us,
                                       bool *out_heard);

/* hf_carrier_options.asked; the context is the engine. */
void hf_report_asked(void *ctx, int64_t number, bool tried, hf_value ask);

#endif
