/* errand.h: the core's side of work for workers in other processes: when a run or an attempt is
   offered (task/matching.h), whether a claim still holds, and what becomes of reports. A workflow
   task is leased in memory alone: what a worker decides is fenced by the run's history anyway, and
   after a crash the task row has the run offered again. An attempt is on the record before a worker
   gets it, like any other. The core's thread only, but for the call at the end. */
#ifndef HF_ENGINE_ERRAND_H
#define HF_ENGINE_ERRAND_H

#include "engine/core_impl.h"

/* A report on its way through the core. The reporter waits; texts are borrowed from it. */
typedef struct hf_ticket {
    hf_task_kind kind; /* a step's tasks are spoken of as workflow tasks */
    int64_t key;       /* of the run, or of the activity */
    int64_t attempt;
    uint32_t number;       /* of a workflow task: core_far.number, as its id says */
    hf_slice worker;       /* ptr NULL: whoever knows the number of the claim */
    int64_t namespace_key; /* the reporter's: a task elsewhere is none of its business */
    enum hf_ticket_what {
        HF_TICKET_ANSWER, /* of a workflow task */
        HF_TICKET_RETURN,
        HF_TICKET_RESULT, /* of an attempt */
        HF_TICKET_FAILURE,
        HF_TICKET_BEAT, /* both: the lease is extended */
        HF_TICKET_BACK, /* both: it never arrived */
        HF_TICKET_CRASH /* both: its process died of the code */
    } what;
    hf_value said; /* what the next were read from; NULL: nothing */
    bool step;     /* it is the end of a machine's step */
    bool idle;     /* an answer that decides nothing */
    hf_worker_answer answer;
    const struct hf_task_fault *fault; /* why it comes back; NULL: no failure */
    hf_decision_payload result;
    hf_decision_failure failure;
    hf_slice progress; /* JSON; ptr NULL: none */
    hf_mem *mem;       /* NULL: nobody asks whose task it is */
    int early;         /* how often it came before its run was in memory */
    bool tried;        /* a node that had the run may have carried it out */
    hf_core *core;     /* that took it up */
    /* out */
    const char *instance_id;
    const char *run_id;
    int64_t until_us; /* when the lease that was extended ends */
    int64_t shard;    /* of the run, when another node has it; HF_NONE: not known */
    hf_status status;
    hf_err err;
    void (*done)(struct hf_ticket *ticket); /* once, on the core's thread */
    void *ctx;
} hf_ticket;

enum {
    HF_ERRAND_KINDS = 1 << HF_TASK_WORKFLOW | 1 << HF_TASK_ACTIVITY | 1 << HF_TASK_STEP
}; /* the core's */

/* From now on the core hears of claims, until hf_matching_forget. */
void hf_errand_listen(hf_core *core);

/* Looks at the claims that workers made. False: there was none. */
bool hf_errand_claims(hf_core *core);

/* ---- runs whose code is elsewhere */

/* After a turn or a commit: the run is offered when its worker has news and nobody holds it, and
   handed to the worker that claimed it. */
void hf_errand_dispatch(hf_core *core, live_run *run);

/* The same for a machine, whose step may run now (hf_machine_dispatch) or not. */
void hf_errand_step(hf_core *core, live_run *run, bool may);

/* Whether a worker elsewhere has a step of the run, or its end is being committed. */
bool hf_errand_stepping(const live_run *run);

/* The turn at hand decides what the worker answered, if it did. */
void hf_errand_turn(live_run *run);

/* The answer contradicts history: its worker is told so, and the turn goes on without it. */
void hf_errand_refuse(live_run *run, const hf_err *why);

/* Whether a worker answered the task, so that there is something to decide. */
bool hf_errand_has_answer(const live_run *run);

/* What the worker says of a task that it could not do; NULL: nothing is to be recorded. */
const struct hf_task_fault *hf_errand_fault(const live_run *run);

/* What becomes the body of the task's row, and when it is offered again. */
HF_NODISCARD hf_status hf_errand_fault_write(live_run *run, hf_mem *mem, hf_buf *out_body,
                                             int64_t *out_again_us, hf_err *err);

/* It is recorded: the worker is told, and the task is offered again later, unless the run is
   blocked. */
void hf_errand_faulted(live_run *run);

/* Whether a worker has something to do once the answer at hand has been used. */
bool hf_errand_wanted(const live_run *run);

/* The answer is committed, or led to nothing. */
void hf_errand_answered(live_run *run);

/* The time of its lease, or of the pause before it is offered again, is over. */
void hf_errand_run_alarm(hf_core *core, live_run *run);

/* Fresh from the store: a task row says that its worker has not seen the news, and whether workers
   could do it. */
HF_NODISCARD hf_status hf_errand_loaded(live_run *run, hf_err *err);

/* Every run and attempt that the worker holds is offered again; how many they were. `unheard`: only
   attempts of the process before that nobody has heard of since. */
int64_t hf_errand_give_up(hf_core *core, int64_t namespace_key, hf_slice worker, bool unheard);

/* The task never arrived: it is offered again, if the ticket's worker still holds it. False:
   another node has the run; ticket->shard says which. */
bool hf_errand_back(hf_core *core, hf_ticket *ticket);

/* The run leaves memory: it is closed, or evicted. */
void hf_errand_gone(live_run *run);

/* Whether nothing is known of an offered run but that it is offered: nobody ever had its task. Such
   a run need not be in memory until a worker claims it, however many there are. Where shards change
   hands the offer goes with the run. */
bool hf_errand_rests(const live_run *run);
/* It leaves memory, and its offer stays. */
void hf_errand_rest(live_run *run);

/* ---- attempts of activities that nobody here knows */

/* Offers it. True: a worker has claimed the start, and it may be put on the record. */
bool hf_errand_place(live_run *run, core_start *start);

/* Hands the first attempt of an activity that is being scheduled to a worker that waits for one:
   the unit puts both on the record. False: none waits. */
bool hf_errand_hand(live_run *run, hf_mem *mem, hf_effect *io_effect);
/* It is not recorded: the worker goes on waiting. Whoever was handed nothing is not touched. */
void hf_errand_hand_back(hf_core *core, const hf_effect *effect);
/* It is: the worker gets the start's job. */
void hf_errand_handed(live_run *run, core_start *start, const hf_effect *effect);

/* The lease that the start begins with when it is put on the record now; none where it runs here.
 */
hf_attempt_lease hf_errand_lease(const hf_core *core, core_start *start, int64_t now_us);

/* The start is on the record: the worker gets it. */
void hf_errand_start(live_run *run, core_start *start);

/* The start is not to be had, now or any more: a worker that claimed it goes on waiting. */
void hf_errand_release(hf_core *core, core_start *start);

/* The same for all starts of a run that does not begin attempts. */
void hf_errand_hold(live_run *run);

/* An attempt that the worker had when the process before ended: it may still report, and its lease
   (HF_NONE: the row does not say) goes on. */
HF_NODISCARD hf_status hf_errand_found(live_run *run, hf_job *job, hf_slice owner,
                                       int64_t lease_until_us, hf_err *err);

/* Who has the attempt, in `mem`; ptr NULL: no worker elsewhere, or it is not known. */
hf_slice hf_errand_holder(const hf_core *core, const hf_job *job, hf_mem *mem);

/* When its worker is to have shown itself; HF_NONE: no worker elsewhere has it. */
int64_t hf_errand_lease_end(const hf_core *core, const hf_job *job);

/* The attempt is over without a report: so is the lease. */
void hf_errand_attempt_end(hf_core *core, const hf_job *job, hf_task_move how);

/* The end of a reported attempt is committed. */
void hf_errand_reported(hf_core *core, hf_job *job);

/* ---- from any thread */

/* A report; `done` is called for it unless this fails. */
HF_NODISCARD hf_status hf_errand_report(hf_core *core, hf_ticket *ticket, hf_err *err);

#endif
