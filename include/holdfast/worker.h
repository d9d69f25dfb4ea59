/* worker.h: work for programs in other processes. They ask for a task, do it, and report; a server
   speaks the worker protocol over these calls. Workflows and activities whose type this program
   does not register are theirs.

   A task is handed out to one worker for a time (its lease), and only that worker may report on it.
   Late reports are refused with a reason and change nothing. Reports return after the commit. */
#ifndef HOLDFAST_WORKER_H
#define HOLDFAST_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/holdfast.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HF_TASK_WORKFLOW,
    HF_TASK_ACTIVITY,
    HF_TASK_QUERY,      /* somebody asks a run something */
    HF_TASK_VALIDATION, /* would the run take this update? */
    HF_TASK_STEP        /* a step machine's step, for programs of ours */
} hf_task_kind;

/* From now on workers may come; before anything else is called. */
HF_API hf_status hf_workers_allow(hf_engine *engine);

/* A worker knows the workflow type: {"signals": [names], "updates": [names], "queries": [names],
   "update_validators": [names of updates]}. Runs that are started from now on carry these names;
   `fingerprint` (may be NULL) tells one version of the worker's code from another. HF_INVALID: a
   list that is none, or too long, or a name that can be none; nothing is recorded. */
HF_API hf_status hf_workers_type(hf_engine *engine, const char *type, hf_value declared,
                                 const char *fingerprint);

/* The same by a program of ours: its type with everything it declares, {"params": ..., "signals":
   {"names": [], "contracts": []}, ...}, under the fingerprint that its runs are compared with. */
HF_API hf_status hf_workers_definition(hf_engine *engine, const char *type, hf_value body,
                                       const char *fingerprint);

/* Limits that a program of ours declares for its machines: [{"name", "at_once", or "allowed",
   "per_ms" and "burst"}], as hf_limit_def. Whoever declares a name of the namespace last says what
   it means from then on; `at_us` (microseconds; 0: now) is when it was said. What this program
   brings under such a name stays as it is. HF_INVALID; HF_TOOBIG: there are too many names. */
HF_API hf_status hf_workers_limits(hf_engine *engine, hf_value limits, int64_t at_us);

/* A worker is there for the next 30 s, and serves the queue; `build` may be NULL. Whoever asks why
   a run waits is told of it. */
HF_API hf_status hf_workers_beat(hf_engine *engine, const char *worker, const char *queue,
                                 const char *build);

/* What lies at the queues that workers or work came to since this process began, here and not on
   other nodes: [{"name", "tasks": {"workflow": {"ready", "polls"}, "activity", "query",
   "update_validation"}, "oldest_at" (microseconds: since when a workflow or activity task waits;
   null: none does)}]. */
HF_API hf_status hf_workers_queues(hf_engine *engine, hf_mem *mem, hf_value *out);

/* A build (NULL: workers that say none) gets no new tasks of the queue, or gets them again. It is
   recorded; who hands out tasks asks hf_builds and keeps to it. */
HF_API hf_status hf_builds_drain(hf_engine *engine, const char *queue, const char *build,
                                 bool drain);

/* Runs of workers' types that begin at the queue from now on carry the build, and their workflow
   tasks go to workers of that build alone; NULL: they carry none, and go to all. Runs that carry
   one keep it, also those that continue them. Another server on the store hears of it within 5 s.
   HF_NOTFOUND: no worker of the build has registered lately, and no run carries it. */
HF_API hf_status hf_builds_promote(hf_engine *engine, const char *queue, const char *build);

/* Those that are drained or were ever promoted: [{"task_queue", "build_id", "drained_at",
   "promoted_at" (microseconds; null: it is not, it never was)}]. The one that was promoted last is
   chosen. */
HF_API hf_status hf_builds(hf_engine *engine, hf_mem *mem, hf_value *out);

/* What became of builds from `from_us` on and before `to_us`, the newest first, at most 200:
   [{"at", "kind": "seen" (the first worker of it that registered at the queue; a build that was
   gone for a week is new again) or "promoted" (when it last was), "build_id" (null: no build was
   promoted any more), "task_queue"}]. */
HF_API hf_status hf_builds_deploys(hf_engine *engine, int64_t from_us, int64_t to_us, hf_mem *mem,
                                   hf_value *out);

/* The builds that open runs of the namespace carry, and so need: [{"build_id", "open_runs",
   "oldest_open_at" (microseconds)}]. The 10,000 oldest open runs are looked at; *out_exact: there
   are no more. A run that began a second ago may not be counted yet. */
HF_API hf_status hf_builds_needed(hf_engine *engine, hf_mem *mem, hf_value *out, bool *out_exact);

/* What a worker said of itself when it registered is kept in the store, for a server that begins
   later and for others on the store; NULL: it is gone. Whoever was not seen for a week is. */
HF_API hf_status hf_workers_keep(hf_engine *engine, const char *worker, hf_value said);

/* What is kept of workers of all namespaces that were seen since (microseconds): [{"namespace",
   "worker_id", "said", "seen_at" (microseconds)}]. */
HF_API hf_status hf_workers_kept(hf_engine *engine, int64_t since_us, hf_mem *mem, hf_value *out);

/* A worker has gone for good: the tasks and attempts that it holds go to others; how many they
   were. A lost attempt uses up none of those that the activity may have. */
HF_API int64_t hf_workers_release(hf_engine *engine, const char *worker);

/* Workers of all namespaces that hold a task of this process: [{"namespace", "worker_id"}]. Whoever
   looks after workers finds those here that it never heard, because they asked another node, or a
   process before this one. */
HF_API hf_status hf_workers_holding(hf_engine *engine, hf_mem *mem, hf_value *out);

/* Whoever looks after the workers that ask this process is asked by other nodes before they hold
   one for lost: whether it was heard here within so long (microseconds). From a thread of the
   engine; must not block. NULL: nobody is asked any more when this returns. */
typedef bool hf_workers_heard_fn(void *ctx, const char *space, const char *worker,
                                 int64_t within_us);
HF_API void hf_workers_watch(hf_engine *engine, hf_workers_heard_fn *heard, void *ctx);

/* A worker has been silent for so long (microseconds) and is held for lost: as with
   hf_workers_release, others get what it holds; until one does its late report is taken.
   HF_CONFLICT: it has shown itself at another node since, and nothing happens. HF_RETRY: another
   node does not say, and nothing happens either. May wait for other nodes. */
HF_API hf_status hf_workers_lost(hf_engine *engine, const char *worker, int64_t silent_us,
                                 int64_t *out_count);

/* A worker says that it has no attempt in hand: those that a process before this one handed to it,
   and of which nobody spoke since, never reached it. They go to others; how many they were. */
HF_API int64_t hf_workers_idle(hf_engine *engine, const char *worker);

/* A worker that waits for a task. Texts are copied. */
typedef struct hf_poll hf_poll;
typedef struct hf_poll_opts {
    size_t size_;
    hf_task_kind kind;
    const char *queue;
    const char *const *types; /* it knows; NULL: all, ended by NULL */
    const char *worker;
    hf_ms lease; /* 0: 60 s for workflow tasks, 300 s for activities */
    /* Called once, from a thread of the engine that must not be held up: the task, or NULL when
       nothing comes any more (the engine stops, memory ran out). False: nobody is there any more,
       the task goes to somebody else. The value lives until hf_poll_end. */
    bool (*got)(void *arg, hf_value task);
    void *arg;
    unsigned also;             /* further kinds, a bit 1 << kind for each */
    const char *const *queues; /* further queues, ended by NULL; 16 in all */
    const char *task;          /* this one and no other; queues and types do not count */
    const char *build;         /* of the worker; NULL: it says none */
} hf_poll_opts;

/* With `task` a poll does not wait: HF_NOTFOUND when nobody offers it, and no task at all (NULL)
   when it was gone before it could be handed over.

   A workflow task has kind, task_id, workflow_id, run_id, workflow_type, task_queue,
   workflow_task_attempt, lease_owner, lease_expires_at (microseconds), last_history_sequence,
   sticky_replay_mode (sticky_hit_expected: the same worker had the run last, and saw it up to
   known_history_sequence) and, when an update is to be applied, workflow_update_id. An activity
   task has kind, task_id, activity_attempt_id, attempt_number, activity_type, workflow_id, run_id,
   task_queue, arguments (an envelope), idempotency_key, retry_policy, last_progress, lease_owner,
   lease_expires_at. A query has kind, query_task_id, query_task_attempt, query_name,
   query_arguments, workflow_id, run_id, workflow_type, task_queue, lease_owner, lease_expires_at; a
   validation the same with update_validation_task_id, update_validation_attempt, update_name and
   update_arguments.

   A step has kind, task_id, workflow_id, run_id, workflow_type, task_queue, workflow_task_attempt,
   lease_owner, lease_expires_at and step, what it sees (src/model/step_codec.h; with lease_us). It
   is reported on, extended, returned and released as a workflow task. Its type is that of the
   machine, a slash and the name of the step, which is empty for the first: "order/charge",
   "order/".

   Kind is workflow, activity, query, update_validation or step. */
HF_API hf_status hf_poll_begin(hf_engine *engine, const hf_poll_opts *opts, hf_poll **out_poll);

/* Waits no more, without ending it. True: `got` was not called and will not be. False: something is
   on its way already, and `got` is called with it, or with NULL when it comes to nothing; or it was
   called. Whoever ends a poll without asking may lose an attempt that begins just now. */
HF_API bool hf_poll_leave(hf_poll *poll);

/* Ends it and frees the task. True: `got` was not called and will not be. It waits for a call that
   is under way, unless it is made from inside that. */
HF_API bool hf_poll_end(hf_poll *poll);

/* The task that is there now or within a moment (20 ms), or NULL; `got` and `arg` are not used. */
HF_API hf_status hf_poll_now(hf_engine *engine, const hf_poll_opts *opts, hf_mem *mem,
                             hf_value *out_task);

enum { HF_TASKS_TAKE_MAX = 64 };

/* Tasks that are there now, in `mem`, at most so many; out_tasks has room for them. Nothing is
   waited for but what is being handed over; `got`, `arg` and `task` are not used. */
HF_API hf_status hf_tasks_take(hf_engine *engine, const hf_poll_opts *opts, size_t most,
                               hf_mem *mem, hf_value *out_tasks, size_t *out_count);

/* Up to so many polls of this thread, which wait from now on: what comes while it does something
   else, as hf_tasks_report, is the next call's. They live in `mem`. */
typedef struct hf_tasks hf_tasks;
HF_API hf_status hf_tasks_begin(hf_engine *engine, const hf_poll_opts *opts, size_t most,
                                hf_mem *mem, hf_tasks **out_tasks);

/* They wait no more; what came, as above. NULL: nothing did. */
HF_API void hf_tasks_end(hf_tasks *tasks, hf_value *out_tasks, size_t *out_count);

/* Tasks that nobody holds and that a poll of this process would get, the oldest first, at most so
   many: [{"task_id", "workflow_id", "run_id", "type", "task_queue", "available_at"}]. Workflow
   tasks or activities; queue NULL: of all queues. */
HF_API hf_status hf_tasks_ready(hf_engine *engine, hf_task_kind kind, const char *queue,
                                int64_t most, hf_mem *mem, hf_value *out);

/* Tasks that workers hold, as this process handed them out: [{"task_id", "kind", "workflow_id",
   "run_id", "type", "task_queue", "lease_owner" (null: not known),
   "lease_expires_at" (microseconds), "attempt"}], in no order; queue NULL: of all queues. */
HF_API hf_status hf_tasks_held(hf_engine *engine, const char *queue, hf_mem *mem, hf_value *out);

/* Whose an open activity is, by its id (task_id of its tasks): {"id": instance, "run_id"}.
   HF_NOTFOUND. */
HF_API hf_status hf_activity_run(hf_engine *engine, const char *activity_id, hf_mem *mem,
                                 hf_value *out);

/* Who reports on what. */
typedef struct hf_task_claim {
    size_t size_;
    const char *task_id;
    const char *worker; /* NULL: whoever knows the attempt */
    int64_t attempt;    /* workflow_task_attempt, attempt_number */
} hf_task_claim;

/* HF_REJECTED: hf_errmsg begins with the contract's reason (task_not_found, lease_owner_mismatch,
   stale_attempt, run_closed, ...) and a colon. HF_RETRY: another node of a shared store has the
   run, and the task may be held there; nothing is known of it here. */

/* The commands of a workflow task. HF_INVALID: *out_errors says which and why, nothing of them was
   used, and the task is still the worker's. */
HF_API hf_status hf_task_answer(hf_engine *engine, const hf_task_claim *claim, hf_value commands,
                                hf_mem *mem, hf_value *out_errors);
/* The code has nothing to decide before history goes on: it took note of all that it was told. */
HF_API hf_status hf_task_idle(hf_engine *engine, const hf_task_claim *claim);
/* The same by a program of ours, which runs the code as the engine does: what its code decided,
   with its own steps (src/model/decision_codec.h). `measured`: the code asked how long history is.
   HF_REJECTED with history_moved: it has to see more first, and gets another task. */
HF_API hf_status hf_task_decide(hf_engine *engine, const hf_task_claim *claim, hf_value decisions,
                                bool measured, hf_mem *mem);
/* The same of a machine's step: how it ended (src/model/step_codec.h). HF_INVALID: it is no end of
   the step that the task is, and nothing is changed. */
HF_API hf_status hf_task_step_ended(hf_engine *engine, const hf_task_claim *claim, hf_value end,
                                    hf_mem *mem);
/* What such a program replays: {"after", "chunks": [base64 of stored events], "payloads": [[digest,
   base64 of a big value]], "last_sequence": N}, the events behind `after` up to `upto`. */
HF_API hf_status hf_task_events(hf_engine *engine, const char *id, const char *run_id,
                                int64_t after, int64_t upto, hf_mem *mem, hf_value *out);
/* What the code of such a program reads of a message stream of its instance (hf_messages_receive):
   the messages behind number `after`, oldest first, at most `max` (0: 100). */
HF_API hf_status hf_task_messages(hf_engine *engine, const char *id, const char *stream,
                                  int64_t after, int64_t max, hf_mem *mem, hf_value *out);
/* It could not be done: what `failure` says ({"type", "message"}) is kept with the task and
   counted, and it is handed out again, later each time. A failure that says that code and history
   disagree (the words of the published SDKs, or "replay_blocked" of programs of ours) blocks the
   run until it is repaired. Both are committed when this returns. */
HF_API hf_status hf_task_fail(hf_engine *engine, const hf_task_claim *claim, hf_value failure);
/* The same with nothing but a message. */
HF_API hf_status hf_task_return(hf_engine *engine, const hf_task_claim *claim, const char *message);
/* The task never reached its worker: others may have it at once, as if it had not been handed out.
   Any kind, also attempts and questions; does not wait. Whoever has it meanwhile keeps it. */
HF_API hf_status hf_task_release(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim);
/* The worker goes on holding the task; *out (may be NULL) has its workflow_id, run_id and
   lease_expires_at (microseconds since 1970). */
HF_API hf_status hf_task_extend(hf_engine *engine, const hf_task_claim *claim, hf_mem *mem,
                                hf_value *out);

/* The result of an attempt: an envelope or a plain value. */
HF_API hf_status hf_task_result(hf_engine *engine, const hf_task_claim *claim, hf_value result);
HF_API hf_status hf_task_failure(hf_engine *engine, const hf_task_claim *claim, bool retryable,
                                 const char *type, const char *message, hf_value details);
/* The process of the worker died while it ran the task's code: others may have it at once. A crash
   uses up none of the attempts that an activity may have; after five of them it fails as
   quarantined. Crashes of workflow code and of steps are counted with their run, which is
   quarantined at the limit. */
HF_API hf_status hf_task_crashed(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim);
/* A sign of life, which extends the lease; HF_REJECTED: the attempt is over, stop. */
HF_API hf_status hf_task_beat(hf_engine *engine, const hf_task_claim *claim, hf_value progress);

/* How one of several reports ended, as the call for it alone would have. */
typedef struct hf_report_end {
    hf_status status;
    const char *message; /* "reason: sentence"; "" when it is recorded */
} hf_report_end;

/* Reports of a worker on tasks that it holds, all at once, so that they share commits: [{"task_id",
   "attempt", and one of "decisions" (and "measured"; as hf_task_decide), "step" (as
   hf_task_step_ended), "result" (as hf_task_result) and "failure" ({"type", "message",
   "non_retryable", "details"}; as hf_task_failure)}]. `out_ends` has room for each of them. Returns
   when the last is decided; one that is refused is no reason to refuse the others. */
HF_API hf_status hf_tasks_report(hf_engine *engine, const char *worker, hf_value reports,
                                 hf_mem *mem, hf_report_end *out_ends);

/* ---- questions: queries and validations. Who asked waits, and is told at once. HF_REJECTED: it
   does not wait any more, or not for this worker. */

/* The answer to a query, an envelope or a plain value; to a validation (NULL): it takes it. */
HF_API hf_status hf_question_answer(hf_engine *engine, hf_task_kind kind,
                                    const hf_task_claim *claim, hf_value answer);
/* It cannot be answered, or the validator refuses: a word, a sentence, and which arguments are at
   fault, {"name": ["sentence"]} (may be NULL). */
HF_API hf_status hf_question_refuse(hf_engine *engine, hf_task_kind kind,
                                    const hf_task_claim *claim, const char *reason,
                                    const char *message, hf_value validation_errors);

#ifdef __cplusplus
}
#endif
#endif
