/* command_impl.h: what the handlers of commands share. A handler drafts what its command does into
   h->unit, or names why it is refused; it never commits, never retries and never notifies. */
#ifndef HF_ENGINE_COMMAND_IMPL_H
#define HF_ENGINE_COMMAND_IMPL_H

#include "decide/decide.h"
#include "engine/call.h"
#include "engine/command.h"
#include "model/command_note.h"

/* One command in the hands of its handler. A conflict makes a new one of it, from the beginning. */
typedef struct hf_handling {
    hf_call *call;
    const hf_request *request;
    hf_mem *mem; /* the caller's: what the reply refers to */
    hf_reply *reply;
    hf_intake_target target;  /* base.run HF_NONE: never started */
    bool taken;               /* a start: the id is taken, and the target says by what */
    hf_unit *unit;            /* empty */
    const hf_effect *effects; /* out: runs that have work once the unit is committed */
    bool closes;              /* out: the unit closes the run */
    bool answered;            /* out: the reply is complete, nothing is to be recorded */
    bool records;             /* out: nothing was drafted, the command is only to be recorded */
    hf_command_note note;     /* what its row keeps; a refusal adds to it */
    hf_slice body;            /* the note of an accepted command, written */
    bool first;               /* nothing has shown yet that what is in memory is out of date */
    bool known;               /* out: the target was not read, memory had it (known.h) */
    bool plain;               /* no turn of the run goes along */
    bool nudges;              /* out: the draft lacks the task for the turn that it causes */
    bool turned;              /* out: the turn went along, and both are committed */
    bool reloads;             /* out: rows come back that a run in memory does not know */
} hf_handling;

/* Drafts into h->unit, or hf_handling_reject. HF_CONFLICT: what was read is out of date. */
typedef hf_status hf_command_fn(hf_handling *h, hf_err *err);

/* Refuses the command; HF_OK, so that `return hf_handling_reject(...)` reads well. */
hf_status hf_handling_reject(hf_handling *h, hf_cmd_outcome outcome, hf_rejection_reason reason,
                             const char *sentence);

/* The same with a refusal of intake/, copied to where the reply lives. */
HF_NODISCARD hf_status hf_handling_refuse(hf_handling *h, const hf_intake_refusal *refusal,
                                          hf_err *err);

/* Puts what there is to know of h->target into the reply. */
HF_NODISCARD hf_status hf_handling_aim(hf_handling *h, hf_err *err);

/* The command is accepted, found nothing to do and is only recorded. HF_OK. */
hf_status hf_handling_record(hf_handling *h, hf_cmd_outcome outcome);

/* Says what the accepted command is, whose row the handler drafted. */
void hf_handling_accept(hf_handling *h, int64_t command, int64_t outcome);

/* The row of the command, accepted, as the request has it; key, outcome, message number, name,
   state and times are the handler's, who numbers it with the unit's nth command. */
hf_command_row hf_handling_row(const hf_handling *h);

/* True, and the rejection is made: the instance was never started, the chosen run is not the newest
   one, or it is closed. */
bool hf_handling_inactive(hf_handling *h);

void hf_command_id_print(int64_t time_us, int64_t key, char out_text[HF_ULID_TEXT_SIZE]);

hf_command_fn hf_command_start; /* command_start.c */
hf_command_fn hf_command_signal_start;
hf_command_fn hf_command_message; /* command_message.c */
hf_command_fn hf_command_stop;    /* command_stop.c, this and the next two */
hf_command_fn hf_command_pause;
hf_command_fn hf_command_archive;
hf_command_fn hf_command_fork;   /* command_fork.c: reset, too */
hf_command_fn hf_command_repair; /* command_repair.c */

#endif
