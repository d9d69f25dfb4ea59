/* fold_work.c: the rows of open work against what history has open. Rows are deleted when what
   they stand for is over, so that an open run has exactly the rows of its open steps. */
#include <inttypes.h>

#include "store/row.h"
#include "verify/fold_impl.h"

static bool task_open(const hf_fold_task *task)
{
    return task->status == HF_TASK_STATUS_READY || task->status == HF_TASK_STATUS_LEASED;
}

static bool activity_open(const hf_fold_activity *activity)
{
    return activity->status == HF_ACTIVITY_STATUS_PENDING ||
           activity->status == HF_ACTIVITY_STATUS_RUNNING;
}

/* ---- I21 */

static void closed_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->task_count; i++)
        if (task_open(&fold->tasks[i]))
            hf_fold_find(fold, 21, "task", fold->tasks[i].key,
                         "the run is closed, but task %" PRId64 " is open", fold->tasks[i].key);
    for (size_t i = 0; i < fold->timer_count; i++)
        if (fold->timers[i].status == HF_TIMER_STATUS_PENDING)
            hf_fold_find(fold, 21, "timer", fold->timers[i].key,
                         "the run is closed, but timer %" PRId64 " is pending",
                         fold->timers[i].key);
    for (size_t i = 0; i < fold->activity_count; i++)
        if (activity_open(&fold->activities[i]))
            hf_fold_find(fold, 21, "activity", fold->activities[i].key,
                         "the run is closed, but activity %" PRId64 " is open",
                         fold->activities[i].key);
}

/* ---- I30 */

static hf_fold_timer *timer_row(hf_fold *fold, int64_t step)
{
    for (size_t i = 0; i < fold->timer_count; i++)
        if (fold->timers[i].step == step)
            return &fold->timers[i];
    return NULL;
}

static void timers_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->pending_count; i++) {
        const hf_open_timer *timer = &fold->pending[i];
        hf_fold_timer *row = timer_row(fold, timer->step);

        if (!row) {
            hf_fold_find(fold, 30, "step", timer->step,
                         "history has a timer pending for step %" PRId64 ", but there is no row",
                         timer->step);
            continue;
        }
        row->matched = true;
        if (row->status != HF_TIMER_STATUS_PENDING)
            hf_fold_find(fold, 30, "timer", row->key,
                         "timer %" PRId64 " is %s in its row only; history has it pending",
                         row->key, hf_vocab_text(&hf_timer_status_list, row->status));
        else if (timer->due_us != HF_NONE && timer->due_us != row->due_us)
            hf_fold_find(fold, 30, "timer", row->key,
                         "timer %" PRId64 " is due at %" PRId64 " us, history says %" PRId64,
                         row->key, row->due_us, timer->due_us);
    }
    for (size_t i = 0; i < fold->timer_count; i++) {
        const hf_fold_timer *row = &fold->timers[i];
        bool over = row->status != HF_TIMER_STATUS_PENDING && hf_span_has(&fold->used, row->step);

        if (!row->matched && !over)
            hf_fold_find(fold, 30, "timer", row->key,
                         "timer %" PRId64 " of step %" PRId64 " is not pending in history",
                         row->key, row->step);
    }
}

/* ---- I26 and the tasks of activities */

static void activity_row_check(hf_fold *fold, hf_fold_activity *row)
{
    const hf_open_step *step = hf_fold_step_get(fold, row->step);
    bool open = step && step->shape == HF_HISTORY_SHAPE_ACTIVITY;

    if (open != activity_open(row)) {
        hf_fold_find(fold, 26, "activity", row->key,
                     "activity %" PRId64 " is %s in its row, but %s in history", row->key,
                     hf_vocab_text(&hf_activity_status_list, row->status), open ? "open" : "over");
        return;
    }
    if (open && step->attempt != row->attempt)
        hf_fold_find(fold, 26, "activity", row->key,
                     "activity %" PRId64 " is at attempt %" PRId64 ", history has started %" PRId64,
                     row->key, row->attempt, step->attempt);
}

static void activities_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->activity_count; i++)
        activity_row_check(fold, &fold->activities[i]);
    for (size_t i = 0; i < fold->open_count; i++) {
        const hf_open_step *step = &fold->open[i];
        bool found = step->shape != HF_HISTORY_SHAPE_ACTIVITY;

        for (size_t j = 0; !found && j < fold->activity_count; j++)
            found = fold->activities[j].step == step->step;
        if (!found)
            hf_fold_find(fold, 26, "step", step->step,
                         "history has an activity open at step %" PRId64 ", but there is no row",
                         step->step);
    }
}

/* ---- I32, I33 */

static void child_steps_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->open_count; i++) {
        const hf_open_step *step = &fold->open[i];
        bool linked = false;
        bool awaited = false;

        if (step->shape != HF_HISTORY_SHAPE_CHILD_WORKFLOW)
            continue;
        for (size_t j = 0; j < fold->link_count; j++) {
            const hf_fold_link *link = &fold->links[j];
            bool ours = link->kind == HF_LINK_TYPE_CHILD_WORKFLOW && link->step == step->step;

            linked = linked || ours;
            awaited = awaited || (ours && link->child_open);
        }
        if (!linked)
            hf_fold_find(fold, 32, "step", step->step,
                         "history has a child open at step %" PRId64 ", but there is no link",
                         step->step);
        else if (!awaited && fold->inbox_count == 0 && !fold->closed_by)
            hf_fold_find(fold, 32, "step", step->step,
                         "the child of step %" PRId64 " is closed, but its parent was never told",
                         step->step);
    }
}

static void links_end(hf_fold *fold)
{
    for (size_t i = 0; i < fold->link_count; i++) {
        const hf_fold_link *link = &fold->links[i];

        if (!link->child_exists)
            hf_fold_find(fold, 32, "link", link->key,
                         "link %" PRId64 " leads to run %" PRId64 ", which does not exist",
                         link->key, link->child_run);
        if (link->kind != HF_LINK_TYPE_CHILD_WORKFLOW)
            continue;
        /* A child that continued is linked once more, without a step. */
        if (!fold->blind && link->step != HF_NONE && !hf_span_has(&fold->used, link->step))
            hf_fold_find(fold, 32, "link", link->key,
                         "link %" PRId64 " belongs to no child call in history", link->key);
        if (fold->facts.closed_us != HF_NONE &&
            fold->facts.closed_reason != HF_CLOSED_REASON_CONTINUED &&
            link->policy != HF_PARENT_CLOSE_ABANDON && link->child_open && !link->child_told &&
            !link->taken_over && fold->task_count == 0)
            hf_fold_find(fold, 33, "link", link->key,
                         "the run is closed, but its child, run %" PRId64 ", was not %s",
                         link->child_run,
                         link->policy == HF_PARENT_CLOSE_TERMINATE ? "terminated" : "cancelled");
    }
    if (!fold->blind)
        child_steps_end(fold);
}

/* ---- I22 */

static bool run_resumable(const hf_fold *fold)
{
    if (fold->facts.blocked != 0 || fold->inbox_count > 0)
        return true;
    for (size_t i = 0; i < fold->task_count; i++)
        if (task_open(&fold->tasks[i]))
            return true;
    if (fold->machine.mode != HF_MACHINE_FOLD_NONE)
        return hf_fold_machine_waits(fold);
    for (size_t i = 0; i < fold->timer_count; i++)
        if (fold->timers[i].status == HF_TIMER_STATUS_PENDING)
            return true;
    for (size_t i = 0; i < fold->activity_count; i++)
        if (activity_open(&fold->activities[i]))
            return true;
    for (size_t i = 0; i < fold->open_count; i++)
        if (fold->open[i].shape == HF_HISTORY_SHAPE_SIGNAL_WAIT ||
            fold->open[i].shape == HF_HISTORY_SHAPE_CONDITION_WAIT ||
            fold->open[i].shape == HF_HISTORY_SHAPE_CHILD_WORKFLOW)
            return true;
    for (size_t i = 0; i < fold->command_count; i++) {
        const hf_fold_command *command = &fold->commands[i];
        bool signal = command->type == HF_COMMAND_TYPE_SIGNAL && command->applied == 0;
        bool update = command->type == HF_COMMAND_TYPE_UPDATE && command->completed == 0;

        if (command->accepted > 0 && (signal || update))
            return true;
    }
    return false;
}

void hf_fold_work_end(hf_fold *fold)
{
    if (fold->facts.closed_us != HF_NONE)
        closed_end(fold);
    links_end(fold);
    if (fold->blind || fold->facts.closed_us != HF_NONE)
        return;
    timers_end(fold);
    activities_end(fold);
    if (!run_resumable(fold))
        hf_fold_find(fold, 22, NULL, 0, "the run is open, but nothing will resume it");
}
