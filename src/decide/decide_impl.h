/* decide_impl.h: what the files of decide/ share. */
#ifndef HF_DECIDE_DECIDE_IMPL_H
#define HF_DECIDE_DECIDE_IMPL_H

#include "decide/decide.h"

hf_event_builder *hf_decide_event(hf_decide *decide, hf_event_type type, int64_t step);
void hf_decide_row(hf_decide *decide, hf_row *row);
HF_NODISCARD hf_status hf_decide_key(hf_decide *decide, int64_t *out_key, hf_err *err);
/* The same for calls that return nothing: false, with the failure kept, when keys ran out. */
bool hf_decide_keys(hf_decide *decide, int64_t count, int64_t *out_first);
void hf_decide_payload(hf_decide *decide, hf_event_key key, const hf_decision_payload *value);
void hf_decide_payload_in(hf_decide *decide, size_t part, hf_event_key key,
                          const hf_decision_payload *value);
hf_effect *hf_decide_effect(hf_decide *decide, hf_effect_kind kind,
                            int64_t run); /* NULL: no memory */
void hf_decide_groups(hf_decide *decide, const hf_decision_row *row);

/* "parallel-activities:3:2": what a group is called. */
void hf_decide_group_id(const hf_decision_group *group, char *out_text, size_t size);
/* What the event at hand says went wrong, as far as it fits (words.h); ptr NULL: nothing. */
void hf_decide_words(hf_decide *decide, hf_slice type, hf_slice message);
void hf_decide_failure(hf_decide *decide, const hf_decision_failure *failure,
                       hf_failure_category category);

/* Has the host fill in what is needed of the run; the failure is kept. */
void hf_decide_know(hf_decide *decide, unsigned what);

/* ---- decide_run.c */

/* A run that the unit creates. */
typedef struct hf_decide_plan {
    hf_unit_instance how;
    hf_instance_row instance;
    hf_run_base base;
    hf_run_row run;
    hf_decide_type type;
    const hf_decision_payload *input;
    int64_t task;
    int64_t command; /* the start command's row; HF_NONE: it has none */
    int64_t link;
    const hf_child_call_info *call; /* of a child; NULL: nobody's */
    hf_slice retry_policy;          /* of a child, as it is recorded; ptr NULL: it has none */
    int64_t available_us;           /* the run begins then; 0: at once */
    int64_t parent_run;
    int64_t continued_from; /* key and time of the run it continues; HF_NONE: none */
    int64_t continued_from_us;
    bool retries; /* it is another attempt of that run instead */
    bool inherits;
} hf_decide_plan;

/* The first events and rows of the run; returns its part of the unit. */
size_t hf_decide_begin(hf_decide *decide, const hf_decide_plan *plan);

/* A run of this instance that follows the one that decides, but for its input. */
hf_decide_plan hf_decide_follow(const hf_decide *decide, int64_t run, int64_t task);

/* Tells the parent of another run of its child, which begins after the pause; both links are
   written. */
void hf_decide_relink(hf_decide *decide, int64_t next_run, int64_t attempt, int64_t pause_ms);

/* The run's code has a turn to take, whoever takes it. */
void hf_decide_wake(hf_decide *decide);

/* ---- decide_activity.c */

/* What the call says of retries wins over what the policy has. Lists live in the unit's arena. */
hf_status hf_decide_policy(hf_decide *decide, const hf_decision_retry *call,
                           hf_retry_policy *policy, hf_err *err);

/* ---- decide_child.c */

/* Starts the next attempt when the child's call allows it. *out_retried: it did, and the run is
   closed. */
hf_status hf_decide_retry(hf_decide *decide, const hf_decision_row *row, bool *out_retried,
                          hf_err *err);

/* A fact for another run: `run`, or HF_NONE and the newest run of `instance`. `hint` is the run
   that is woken. */
void hf_decide_tell(hf_decide *decide, int64_t run, int64_t instance, int64_t hint,
                    hf_inbox_kind kind, int64_t source_run, hf_slice body);

/* The run closed: its open children are treated as their calls say. */
void hf_decide_close_children(hf_decide *decide, hf_closed_reason reason);

/* Children go on belonging to the instance: the run that follows closes them. */
void hf_decide_keep_children(hf_decide *decide, int64_t next_run);

/* ---- decide_message.c */

/* The run closed: updates that nobody will apply are answered. `moved`: those of the instance go
   on with the next run. */
void hf_decide_close_messages(hf_decide *decide, hf_closed_reason reason, bool moved);

/* Messages that this unit leaves open become the next run's. */
void hf_decide_move_messages(hf_decide *decide, size_t part, int64_t next_run);

/* ---- decide_limit.c */

/* Whether the decisions stay within the limits. *out_fail: they do not, and this one takes the
   place of all of them; lives in the unit's arena. */
hf_status hf_decide_check(hf_decide *decide, const hf_decision_row *rows, size_t count,
                          const hf_decision_row **out_fail, hf_err *err);

/* After the decisions: warns of how much the unit, of which the first `facts` events were there
   before them, and the history with it now hold. */
void hf_decide_near(hf_decide *decide, size_t facts);

/* ---- decide_meta.c */

hf_status hf_decide_memo(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_attributes(hf_decide *decide, const hf_decision_row *row, hf_err *err);

/* ---- decide_wait.c */

/* A timer for the step, its events and row; a delay of 0 fires at once. */
hf_status hf_decide_timer_start(hf_decide *decide, const hf_decision_row *row, int64_t delay_us,
                                hf_timer_kind kind, hf_err *err);

/* ---- decide_message.c */

/* The signal that the event brought is used up: its command closes, the cursor moves. */
hf_status hf_decide_use_up(hf_decide *decide, int64_t seq, hf_err *err);

/* ---- one for each kind of decision */

hf_status hf_decide_activity(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_start_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_signal_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_apply_signal(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_condition_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_satisfy(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_time_out(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_cancel_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_child(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_receive_messages(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_send_message(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_signal_child(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_continue(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_apply_update(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_step(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_fail_update(hf_decide *decide, const hf_decision_row *row, hf_err *err);

#endif
