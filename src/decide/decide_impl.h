/* decide_impl.h: what the files of decide/ share. */
#ifndef HF_DECIDE_DECIDE_IMPL_H
#define HF_DECIDE_DECIDE_IMPL_H

#include "decide/decide.h"

hf_event_builder *hf_decide_event(hf_decide *decide, hf_event_type type, int64_t step);
void hf_decide_row(hf_decide *decide, hf_row *row);
HF_NODISCARD hf_status hf_decide_key(hf_decide *decide, int64_t *out_key, hf_err *err);
void hf_decide_payload(hf_decide *decide, hf_event_key key, const hf_decision_payload *value);
hf_effect *hf_decide_effect(hf_decide *decide, hf_effect_kind kind,
                            int64_t run); /* NULL: no memory */
void hf_decide_groups(hf_decide *decide, const hf_decision_row *row);
void hf_decide_failure(hf_decide *decide, const hf_decision_failure *failure,
                       hf_failure_category category);

/* A workflow task for another run: it has something to fold in. */
void hf_decide_wake(hf_decide *decide, size_t part, int64_t task, int64_t run, hf_slice queue);

hf_status hf_decide_activity(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_start_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_signal_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_apply_signal(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_condition_wait(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_satisfy(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_time_out(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_cancel_timer(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_child(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_signal_child(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_continue(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_apply_update(hf_decide *decide, const hf_decision_row *row, hf_err *err);
hf_status hf_decide_fail_update(hf_decide *decide, const hf_decision_row *row, hf_err *err);

#endif
