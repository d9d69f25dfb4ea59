/* far_native.c: answers of workers whose code runs as ours does, in a coroutine over the same
   history. They number their steps themselves and say what became of signals, conditions and
   updates, so nothing has to be guessed. But they are not trusted: a row that no replay of this
   history could have made is refused with the whole answer. */
#include <string.h>

#include "model/decision_codec.h"
#include "replay/far_impl.h"

enum { STEPS_SKIPPED_MAX = 1000 };

/* An answer while it is checked. */
typedef struct native {
    hf_far *code;
    int64_t next;     /* step */
    far_step *opened; /* by rows before; the arena of the turn */
    size_t opened_count;
    bool closed;
} native;

static hf_status refuse(const hf_decision_row *row, const char *why, hf_err *err)
{
    return hf_err_set(err, HF_INVALID, "%s of step %lld %s", hf_decision_text(row->kind),
                      (long long)row->step, why);
}

/* The shape of what it opens; 0: nothing. */
static hf_history_shape shape_of(hf_decision kind)
{
    switch ((int)kind) {
    case HF_DECISION_SCHEDULE_ACTIVITY:
        return HF_HISTORY_SHAPE_ACTIVITY;
    case HF_DECISION_START_CHILD_WORKFLOW:
        return HF_HISTORY_SHAPE_CHILD_WORKFLOW;
    case HF_DECISION_START_TIMER:
        return HF_HISTORY_SHAPE_TIMER;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
        return HF_HISTORY_SHAPE_SIGNAL_WAIT;
    case HF_DECISION_OPEN_CONDITION_WAIT:
        return HF_HISTORY_SHAPE_CONDITION_WAIT;
    default:
        return 0;
    }
}

static bool begins_step(hf_decision kind)
{
    switch ((int)kind) {
    case HF_DECISION_RECORD_SIDE_EFFECT:
    case HF_DECISION_RECORD_VERSION_MARKER:
    case HF_DECISION_UPSERT_MEMO:
    case HF_DECISION_UPSERT_SEARCH_ATTRIBUTES:
    case HF_DECISION_RECEIVE_MESSAGES:
    case HF_DECISION_CONTINUE_AS_NEW:
        return true;
    default:
        return shape_of(kind) != 0;
    }
}

static bool closes_run(hf_decision kind)
{
    return kind == HF_DECISION_COMPLETE_WORKFLOW || kind == HF_DECISION_FAIL_WORKFLOW ||
           kind == HF_DECISION_CONTINUE_AS_NEW || kind == HF_DECISION_COMPLETE_CANCELLED;
}

static far_step *step_of(const native *n, int64_t step, hf_history_shape shape)
{
    for (size_t i = 0; i < n->code->step_count; i++)
        if (n->code->steps[i].step == step && n->code->steps[i].shape == shape &&
            !n->code->steps[i].claimed)
            return &n->code->steps[i];
    for (size_t i = 0; i < n->opened_count; i++)
        if (n->opened[i].step == step && n->opened[i].shape == shape && !n->opened[i].claimed)
            return &n->opened[i];
    return NULL;
}

/* Takes the message when it is there, of that kind and name, and no row before has taken it. */
static bool message_take(const native *n, int64_t seq, bool update, hf_slice name)
{
    far_message *message = hf_far_message(n->code, seq);

    if (!message || message->taken || message->update != update ||
        !hf_slice_equal(message->name, name))
        return false;
    message->taken = true;
    return true;
}

static hf_status step_begin(native *n, const hf_decision_row *row, hf_err *err)
{
    if (row->step < n->next || row->step > n->next + STEPS_SKIPPED_MAX)
        return refuse(row, "is not the next step", err);
    for (size_t i = 0; i < row->group_count; i++)
        if (row->groups[i].base_step > row->step ||
            row->groups[i].base_step + row->groups[i].size <= row->step)
            return refuse(row, "is not within its barrier", err);
    if (row->group_count && row->kind != HF_DECISION_SCHEDULE_ACTIVITY &&
        row->kind != HF_DECISION_START_CHILD_WORKFLOW && row->kind != HF_DECISION_START_TIMER)
        return refuse(row, "cannot be a member of a barrier", err);
    n->next = row->step + 1;
    if (shape_of(row->kind))
        n->opened[n->opened_count++] =
            (far_step){.step = row->step,
                       .shape = shape_of(row->kind),
                       .timer = (row->kind == HF_DECISION_OPEN_SIGNAL_WAIT ||
                                 row->kind == HF_DECISION_OPEN_CONDITION_WAIT) &&
                                row->wait.timeout_us != HF_DECISION_NO_TIMEOUT};
    return HF_OK;
}

static hf_status timer_cancel(native *n, const hf_decision_row *row, hf_err *err)
{
    far_step *wait = step_of(n, row->step, HF_HISTORY_SHAPE_SIGNAL_WAIT);

    if (!wait)
        wait = step_of(n, row->step, HF_HISTORY_SHAPE_CONDITION_WAIT);
    if (!wait || !wait->timer)
        return refuse(row, "has no timer", err);
    return HF_OK;
}

static hf_status wait_resolve(native *n, const hf_decision_row *row, hf_history_shape shape,
                              hf_err *err)
{
    far_step *wait = step_of(n, row->step, shape);

    if (!wait)
        return refuse(row, "ends a wait that is not open", err);
    wait->claimed = true;
    return HF_OK;
}

static hf_status fact_check(native *n, const hf_decision_row *row, hf_err *err)
{
    switch ((int)row->kind) {
    case HF_DECISION_APPLY_SIGNAL:
        if (!message_take(n, row->fact.seq, false, row->name))
            return refuse(row, "takes a signal that does not wait", err);
        return row->step ? wait_resolve(n, row, HF_HISTORY_SHAPE_SIGNAL_WAIT, err) : HF_OK;
    case HF_DECISION_SATISFY_CONDITION:
    case HF_DECISION_TIME_OUT_CONDITION:
        return wait_resolve(n, row, HF_HISTORY_SHAPE_CONDITION_WAIT, err);
    case HF_DECISION_CANCEL_TIMER:
        return timer_cancel(n, row, err);
    case HF_DECISION_APPLY_UPDATE:
    case HF_DECISION_FAIL_UPDATE:
        return message_take(n,
                            row->kind == HF_DECISION_FAIL_UPDATE ? row->failure.seq : row->fact.seq,
                            true, row->name)
                   ? HF_OK
                   : refuse(row, "answers an update that is not open", err);
    case HF_DECISION_HANDLE_FAILURE:
        return row->step > 0 && row->step < n->next ? HF_OK
                                                    : refuse(row, "is of no step so far", err);
    case HF_DECISION_COMPLETE_CANCELLED:
        return n->code->cancel_asked ? HF_OK : refuse(row, "answers no cancellation", err);
    default:
        return HF_OK;
    }
}

hf_status hf_far_native(hf_far *code, const hf_worker_answer *answer, hf_err *err)
{
    native n = {.code = code, .next = code->next_step};
    hf_status st = HF_OK;

    code->native = true;
    if (code->moved_seq > answer->seen_seq || (answer->measured && code->seq > answer->seen_seq))
        return hf_err_set(err, HF_CONFLICT, "the run has moved on from event %lld",
                          (long long)answer->seen_seq);
    n.opened = hf_mem_array(code->rows_mem, answer->row_count + 1, sizeof(*n.opened));
    if (!n.opened)
        return hf_err_nomem(err, "decisions");
    for (size_t i = 0; !st && i < answer->row_count; i++) {
        const hf_decision_row *row = &answer->rows[i];
        hf_decision_row *added;

        if (n.closed)
            return refuse(row, "comes after the end of the run", err);
        st = hf_decision_names_check(row, err);
        if (!st)
            st = begins_step(row->kind) ? step_begin(&n, row, err) : fact_check(&n, row, err);
        added = st ? NULL : hf_far_row_add(code, err);
        if (!added)
            return st ? st : HF_NOMEM;
        *added = *row;
        n.closed = closes_run(row->kind);
    }
    return st;
}
