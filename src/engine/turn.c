/* turn.c: one turn of a run: facts that came, code that ran, decisions, one unit. The unit carries
   all of it or nothing; its coroutine is dirty until COMMIT answered (turn_done.c). */
#include "base/buf.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/core_impl.h"
#include "engine/errand.h"
#include "engine/inbox.h"
#include "engine/known.h"
#include "engine/lent.h"
#include "engine/machine.h"
#include "engine/schedule.h"
#include "engine/shape.h"
#include "engine/task_fault.h"
#include "engine/turn_host.h"

enum { LOCAL_EVENTS_MAX = 192 }; /* of one unit, before code that calls local activities waits */

typedef struct turn {
    hf_core *core;
    live_run *run;
    hf_decide decide;
    hf_turn_host host; /* answers decide's questions */
    hf_decide_host asked;
    bool woken; /* a workflow task or an inbox may stand for this turn; else nobody asked for it */
    bool decided; /* the code asked for something */
    bool alarmed; /* a due alarm asked for it */
    bool lost;    /* the core was taken over while the code ran */
    bool misfit;  /* the code does what a unit that was lent cannot hold */
    bool unfit;   /* what it asks for cannot be recorded, however often it is tried */
} turn;

/* A timer that is still open fires; one that was cancelled meanwhile does not. */
static hf_status due_fold(turn *t, hf_err *err)
{
    hf_status st = HF_OK;

    for (core_due *due = t->run->staged_due; !st && due; due = due->next) {
        bool open = false;

        if (due->activity) {
            st = hf_attempt_fold_due(t->run, &t->decide, due, err);
            continue;
        }
        for (size_t i = 0; i < t->run->open_count; i++)
            open |= t->run->open[i].is_timer && t->run->open[i].key == due->timer;
        if (open && hf_replay_timer_wanted(t->run->replay, due->step))
            hf_decide_timer(&t->decide, due->timer, due->step, due->kind, due->due_us);
    }
    return st;
}

/* The writer wakes the core once for the whole batch. */
static void unit_done(hf_unit *unit, void *ctx)
{
    core_message *message = ctx;

    message->unit = unit;
    if (message->lent)
        hf_lent_answer(message->lent, unit);
    hf_core_put(message->core, message);
}

/* Reports were put in front of each other as they came: the oldest is recorded first. */
static void staged_take(live_run *run)
{
    while (run->ended) {
        hf_job *job = run->ended;

        run->ended = job->next;
        job->next = run->staged_ended;
        run->staged_ended = job;
    }
    run->staged_due = run->due;
    run->due = NULL;
}

/* What the code decided becomes events, and those that it can see are fed. */
static hf_status decisions_take(turn *t, hf_err *err)
{
    live_run *run = t->run;
    const hf_event_builder *events = hf_unit_events(t->decide.unit, 0);
    size_t before = events->count;
    size_t count = 0;
    const hf_decision_row *rows = hf_replay_decisions(run->replay, &count);
    hf_status st;

    t->decide.now_us = hf_core_now(t->core);
    t->decide.line = hf_replay_line(run->replay);
    t->decided |= count > 0;
    st = hf_decide_add(&t->decide, rows, count, err);
    t->lost |= t->host.lost;
    t->unfit = st == HF_INVALID || st == HF_TOOBIG;
    if (!st && events->count > before)
        st = hf_live_feed(run, events->events + before, events->count - before,
                          run->base.last_seq + 1 + (int64_t)before, err);
    return st;
}

static hf_status code_run(turn *t, hf_turn *out_turn, hf_err *err)
{
    hf_status st;

    hf_core_enter(t->core, t->run);
    st = hf_replay_turn(t->run->replay, out_turn, err);
    t->lost = !hf_core_exit(t->core, t->run);
    return t->lost ? hf_err_set(err, HF_STOPPED, "the code took too long and was given up") : st;
}

/* Whether the unit holds nothing but ended local activities beside the facts, and not too many:
   what else it opens or changes counts for the next turn's limits only once it is committed. */
static bool goes_on(const turn *t)
{
    const hf_decide *decide = &t->decide;

    return decide->resolved && !decide->closed && !decide->effects && !decide->memo.ptr &&
           !decide->attributes.ptr && hf_unit_events(decide->unit, 0)->count < LOCAL_EVENTS_MAX;
}

/* Facts first, then code, then what the code decided. Code whose local activities are done goes on
   in the same turn, until the unit has enough of them. */
static hf_status turn_draft(turn *t, hf_turn *out_turn, hf_err *err)
{
    hf_core *core = t->core;
    live_run *run = t->run;
    const hf_event_builder *events = hf_unit_events(t->decide.unit, 0);
    bool stopped = false;
    size_t facts;
    hf_status st;

    *out_turn = HF_TURN_PARKED;
    staged_take(run);
    st = hf_attempt_fold_ended(run, &t->decide, err);
    if (!st)
        st = due_fold(t, err);
    if (!st && t->woken && !run->untold) /* what came since has told of itself */
        st = hf_inbox_fold(core, run, &t->decide, &stopped, err);
    if (st || stopped)
        return st;
    if (run->paused)
        hf_errand_hold(run);
    else
        st = hf_attempt_fold_starts(run, &t->decide, err);
    facts = events->count;
    if (!st && facts)
        st = hf_live_feed(run, events->events, facts, run->base.last_seq + 1, err);
    if (run->paused && !hf_replay_is_machine(run->replay) && !hf_errand_has_answer(run))
        return st; /* a machine's turn runs no code, and neither does a worker's answer */
    if (!st) {
        hf_errand_turn(run);
        st = code_run(t, out_turn, err);
    }
    if (t->lost)
        return st;
    if ((st == HF_INVALID || st == HF_CONFLICT) && hf_errand_has_answer(run)) {
        hf_errand_refuse(run, err);
        st = hf_replay_turn(run->replay, out_turn, err);
    }
    if (st || *out_turn == HF_TURN_BLOCKED)
        return st;
    st = decisions_take(t, err);
    while (!st && goes_on(t)) {
        t->decide.resolved = false;
        st = code_run(t, out_turn, err);
        if (st || *out_turn == HF_TURN_BLOCKED)
            return st;
        st = decisions_take(t, err);
    }
    t->decide.again |= t->decide.resolved && !t->decide.closed;
    return st;
}

/* To the writer; one that was lent and would find it idle goes to its caller, who waits anyway. */
static hf_status unit_send(hf_core *core, live_run *run, hf_unit *unit, core_message *message,
                           hf_err *err)
{
    if (run->lent && !hf_writer_busy(core->o.writer)) {
        hf_lent_return(run->lent, unit, unit_done, message);
        return HF_OK;
    }
    hf_unit_on_done(unit, unit_done, message);
    return hf_writer_offer(core->o.writer, unit, err);
}

static hf_status turn_submit(turn *t, hf_err *err)
{
    hf_core *core = t->core;
    live_run *run = t->run;
    hf_unit *unit = t->decide.unit;
    core_message *message = hf_mem_alloc(hf_unit_mem(unit), sizeof(*message));
    hf_status st;

    if (t->decide.failure.status)
        return hf_err_set(err, t->decide.failure.status, "%s", t->decide.failure.text);
    if (!message)
        return hf_err_nomem(err, "a turn");
    *message =
        (core_message){.kind = CORE_MESSAGE_UNIT, .core = core, .run = run->key, .lent = run->lent};
    run->unit_events = (int64_t)hf_unit_events(unit, 0)->count;
    st = hf_unit_seal(unit, &core->stager, err);
    t->unfit |= st == HF_INVALID || st == HF_TOOBIG;
    if (!st)
        st = unit_send(core, run, unit, message, err);
    if (st)
        return st;
    run->dirty = true;
    if (core->o.known)
        hf_known_drop(core->o.known, run->info.namespace_key, run->info.instance_id);
    core->flying++;
    run->due_unit = t->alarmed;
    core->flying_due += t->alarmed;
    if (t->alarmed)
        core->due_alone++;
    else if (!run->roused)
        core->due_alone = 0;
    run->unit = unit;
    run->effects = t->decide.effects;
    run->again = t->decide.again;
    return HF_OK;
}

/* A unit of rows alone takes the place of what was drafted. */
static hf_status turn_bare(turn *t, hf_unit *unit, hf_err *err)
{
    hf_unit_free(t->decide.unit);
    t->decide.unit = unit;
    t->decide.effects = NULL;
    t->run->bare = true;
    return turn_submit(t, err);
}

/* The wake-up was for nothing that code waits for: only the task that stands for it goes. */
static hf_status turn_drop(turn *t, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);

    if (!unit)
        return hf_err_nomem(err, "a turn");
    hf_unit_row(unit, 0, hf_row_task_drop(hf_unit_mem(unit), t->run->key, t->run->base.last_seq));
    return turn_bare(t, unit, err);
}

static void blocked_log(const live_run *run, const hf_replay_mismatch *why)
{
    const hf_log_field fields[] = {hf_log_text("instance_id", run->info.instance_id),
                                   hf_log_text("run_id", hf_slice_of(run->run_id)),
                                   hf_log_text("workflow_type", run->info.type),
                                   hf_log_text("error", hf_slice_of(why->sentence))};

    hf_log_write(run->core->o.log, HF_LOG_WARN, "a run is blocked: code and history disagree",
                 fields, sizeof(fields) / sizeof(fields[0]));
}

/* Code and history disagree, as the code of this process or a worker found: the task says where. */
static hf_status turn_blocked(turn *t, const hf_replay_mismatch *why, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_buf text = {0};
    int64_t task = 0;
    hf_value body = NULL;
    hf_status st =
        unit ? hf_keys_take(t->decide.keys, 1, &task, err) : hf_err_nomem(err, "a blocked run");

    if (!st) {
        body = hf_task_blocked_value(hf_unit_mem(unit), why);
        if (body)
            hf_json_write(&text, body);
        if (!body || !hf_buf_ok(&text))
            st = hf_err_nomem(err, "a blocked run");
    }
    if (!st) {
        hf_unit_row(unit, 0,
                    hf_row_task_block(hf_unit_mem(unit), task, t->run->key, t->run->info.queue,
                                      t->decide.now_us, hf_buf_slice(&text)));
        hf_unit_row(unit, 0, hf_row_run_block(hf_unit_mem(unit), t->run->key, 1));
        blocked_log(t->run, why);
        t->run->blocked = true;
        st = turn_bare(t, unit, err);
    } else {
        hf_unit_free(unit);
    }
    hf_buf_fini(&text);
    return st;
}

/* A worker could not do the task: its row keeps what it said. */
static hf_status turn_faulted(turn *t, hf_err *err)
{
    const hf_task_fault *fault = hf_errand_fault(t->run);
    hf_unit *unit;
    hf_buf text = {0};
    int64_t again_us = 0;
    int64_t task = 0;
    hf_status st;

    if (fault->blocked)
        return turn_blocked(t, &fault->why, err);
    unit = hf_unit_new(NULL, NULL);
    st = unit ? hf_keys_take(t->decide.keys, 1, &task, err) : hf_err_nomem(err, "a failure");
    if (!st)
        st = hf_errand_fault_write(t->run, hf_unit_mem(unit), &text, &again_us, err);
    if (!st) {
        hf_unit_row(unit, 0,
                    hf_row_task_fault(hf_unit_mem(unit), task, t->run->key, t->run->info.queue,
                                      t->decide.now_us, hf_buf_slice(&text), again_us));
        st = turn_bare(t, unit, err);
    } else {
        hf_unit_free(unit);
    }
    hf_buf_fini(&text);
    return st;
}

/* The code, or whoever runs its steps or its tasks, has something to do: the task says so. */
static hf_status turn_again(turn *t, hf_err *err)
{
    int64_t task = 0;
    hf_status st = hf_keys_take(t->decide.keys, 1, &task, err);

    if (!st)
        hf_unit_row(t->decide.unit, 0,
                    hf_row_task_tell(hf_unit_mem(t->decide.unit), task, t->run->key, HF_NONE,
                                     HF_NONE, HF_NONE, t->decide.now_us));
    return st;
}

/* A unit that appends: what stands in it is complete. */
static hf_status turn_finish(turn *t, hf_err *err)
{
    live_run *run = t->run;
    hf_unit *unit = t->decide.unit;
    hf_status st = HF_OK;

    if (t->decide.signal_timed_out || hf_replay_measured(run->replay))
        hf_unit_fix(unit); /* which came first, signal or timeout, is what was decided */
    if (!t->decide.closed && !run->paused) { /* else the code has not seen what is recorded here */
        if (t->decided && (run->crashes || run->stuck)) /* it got further than where it stopped */
            hf_unit_row(unit, 0, hf_row_run_mark(hf_unit_mem(unit), run->key, 0, 0));
        if (hf_errand_has_answer(run) && run->far->faulty)
            hf_unit_row(unit, 0, hf_row_task_calm(hf_unit_mem(unit), run->key));
        if (t->decide.again || hf_machine_runnable(run) || hf_errand_wanted(run))
            st = turn_again(t, err);
        else if (t->woken || hf_replay_is_machine(run->replay) || run->far)
            hf_unit_row(unit, 0,
                        hf_row_task_done(hf_unit_mem(unit), run->key, run->base.message_seq));
        if (run->base.status != HF_RUN_STATUS_WAITING) {
            hf_unit_status(unit, 0, HF_RUN_STATUS_WAITING);
            if (!run->unborn) /* else it begins so */
                hf_unit_row(unit, 0,
                            hf_row_summary_set(hf_unit_mem(unit), run->key, HF_RUN_STATUS_WAITING));
        }
    }
    return st ? st : turn_submit(t, err);
}

/* What the code asked for was refused, by the store or on the way there; asking again would be
   refused again. */
static hf_status turn_doom(turn *t, hf_err *err)
{
    const hf_decision_row row = {.kind = HF_DECISION_FAIL_WORKFLOW,
                                 .failure = {.category = HF_FAILURE_CATEGORY_TASK_FAILURE,
                                             .type = HF_SLICE("unit_refused"),
                                             .message = hf_slice_of(t->run->doom.text)}};
    hf_status st;

    staged_take(t->run);
    st = hf_decide_add(&t->decide, &row, 1, err);
    return st ? st : turn_finish(t, err);
}

/* The run's own deadline has passed: whatever its code, its activities and its timers would say. */
static hf_status turn_overdue(turn *t, hf_timeout_kind kind, hf_err *err)
{
    hf_status st;

    staged_take(t->run);
    t->run->has_children |= t->run->replay == NULL; /* nobody has looked */
    st = hf_inbox_know(t->core, t->run, t->decide.unit, HF_KNOW_CHILDREN | HF_KNOW_MESSAGES, err);
    if (st)
        return st;
    hf_decide_deadline(&t->decide, kind);
    if (t->decide.failure.status)
        return hf_err_set(err, t->decide.failure.status, "%s", t->decide.failure.text);
    return turn_submit(t, err);
}

/* The unit was lent. One that brings the run as well can hold no other: their rows are written
   before its own is there. */
static hf_status turn_join(turn *t, hf_err *err)
{
    hf_turn outcome = HF_TURN_PARKED;
    hf_status st = turn_draft(t, &outcome, err);

    if (st)
        return st;
    t->misfit = outcome == HF_TURN_BLOCKED || (t->run->unborn && hf_unit_runs(t->decide.unit) > 1);
    if (t->misfit)
        return hf_err_set(err, HF_CONFLICT, "the turn does not fit into the command");
    return turn_finish(t, err);
}

static hf_status turn_go(turn *t, hf_err *err)
{
    hf_timeout_kind kind = hf_live_overdue(t->run, t->decide.now_us);
    hf_turn outcome = HF_TURN_PARKED;
    bool wanted;
    hf_status st;

    if (kind)
        return turn_overdue(t, kind, err);
    if (t->run->doom.status)
        return turn_doom(t, err);
    if (hf_errand_fault(t->run))
        return turn_faulted(t, err);
    st = turn_draft(t, &outcome, err);
    if (st)
        return st;
    if (outcome == HF_TURN_BLOCKED)
        return turn_blocked(t, hf_replay_mismatch_get(t->run->replay), err);
    if (hf_fault_planted(HF_PLANT_BARE_UNIT)
            ? hf_unit_events(t->decide.unit, 0)->count
            : !hf_unit_empty(t->decide.unit)) /* a signal to a child is rows and no event */
        return turn_finish(t, err);
    hf_turn_due_forget(t->run); /* what was due led to nothing */
    wanted = t->run->paused || hf_machine_runnable(t->run) || hf_errand_wanted(t->run);
    t->woken |= hf_errand_has_answer(t->run);
    hf_errand_answered(t->run);
    if (t->woken && !wanted)
        return turn_drop(t, err);
    hf_unit_free(t->decide.unit);
    t->decide.unit = NULL;
    return HF_OK;
}

/* The turn could not be taken. What passes by itself is tried again, everything else ends the core.
 */
static void turn_trouble(hf_core *core, live_run *run, hf_task_trouble trouble, hf_status st,
                         const hf_err *err)
{
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        (void)!hf_db_reconnect(core->db, NULL);
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN || hf_writer_passes(st))
        hf_turn_later(core, run, trouble, st);
    else
        hf_core_fail(core, st, err);
}

/* What was left for the instance is the next run's. */
static void successor_wake(hf_core *core, const live_run *run)
{
    const hf_db_value key = hf_db_int(run->key);
    int64_t next = 0;
    bool found = false;
    hf_err err;

    if (hf_db_number(core->db, HF_STMT_RUN_NEXT, &key, 1, &found, &next, &err) || !found)
        return; /* the task row is the truth */
    hf_core_look(core, next);
}

/* Timers that came back fire like those that were always there. */
static void timers_arm(hf_core *core, const live_run *run)
{
    for (size_t i = 0; i < run->open_count; i++) {
        const core_alarm alarm = {.kind = CORE_ALARM_TIMER,
                                  .run = run->key,
                                  .key = run->open[i].key,
                                  .step = run->open[i].step,
                                  .timer_kind = run->open[i].timer_kind};

        if (run->open[i].is_timer)
            (void)hf_core_alarm_set(core, &alarm, run->open[i].due_us);
    }
}

/* The run, and who answers decide's questions about it. */
static void turn_begin(turn *t, hf_unit *unit)
{
    hf_core *core = t->core;
    live_run *run = t->run;

    t->host = (hf_turn_host){.core = core, .run = run, .unit = unit};
    t->asked = hf_turn_host_of(&t->host);
    t->decide = (hf_decide){.unit = unit,
                            .stager = &core->stager,
                            .keys = hf_writer_keys(core->o.writer),
                            .run = &run->info,
                            .host = &t->asked,
                            .limits = core->o.limits,
                            .now_us = hf_core_now(core)};
    run->info.open = run->open;
    run->info.open_count = run->open_count;
    run->info.children = NULL;
    run->info.child_count = 0;
    run->info.messages = NULL;
    run->info.message_count = 0;
    run->unit_messages = 0;
    run->makes_children = false;
    run->bare = false;
    if (run->far && !run->doom.status) /* else what it decided is what doomed the run */
        run->far->drafted = false;
    run->draft = t->decide.unit;
}

static void turn_end(turn *t)
{
    t->run->draft = NULL;
    hf_live_count(t->core, t->run);
}

/* The core is somebody else's: what the code left behind goes. */
static void turn_lose(turn *t)
{
    hf_unit_free(t->decide.unit);
    hf_live_free(NULL, t->run);
}

/* Whether its shard has gone elsewhere since it was loaded; it may have come back. */
static bool run_left(const hf_core *core, const live_run *run)
{
    return core->o.shards && run->epoch > 0 &&
           hf_shards_epoch(core->o.shards, run->base.shard) != run->epoch;
}

/* Another node may have had the run meanwhile: what was offered, handed out, begun and ended here
   before counts for nothing, and the run begins anew with what the store says. What was reported is
   carried to whoever has the attempt now. NULL: there is no memory. */
static live_run *run_anew(hf_core *core, live_run *old)
{
    bool pass_on = old->pass_on;
    int64_t key = old->key;
    live_run *run;

    hf_attempt_stop_all(core, key);
    old->elsewhere = true;
    hf_core_remove(core, old);
    run = hf_core_live(core, key);
    if (!run)
        return NULL;
    run->look = run->stale = true;
    run->pass_on = pass_on;
    return run;
}

void hf_turn_run(hf_core *core, live_run *run)
{
    turn t = {.core = core, .woken = run->look, .alarmed = run->alarmed};
    bool gone = false;
    hf_err err = {0};
    hf_status st = HF_OK;

    if (run_left(core, run))
        run = run_anew(core, run);
    if (!run)
        return;
    t.run = run;
    run->alarmed = false;
    run->missed = false;
    if (run->stale || hf_shape_found(core, run))
        hf_live_forget(core, run);
    if (run->look || !run->replay)
        st = hf_live_load(core, run, &gone, &err);
    if (!st && !gone && run->stale)
        timers_arm(core, run);
    run->stale &= st != HF_OK;
    if (st) {
        hf_live_forget(core, run);
        turn_trouble(core, run, HF_TASK_TROUBLE_DISPATCH, st, &err);
        return;
    }
    if (gone && run->elsewhere) {
        hf_attempt_stop_all(core, run->key);
        if (run->pass_on && core->o.tell)
            core->o.tell(core->o.ctx, run->key);
        hf_core_remove(core, run);
        return;
    }
    run->pass_on = false;
    if (gone && hf_core_away(core, run->key)) {
        hf_live_forget(core, run); /* what came for it is kept until its code is back */
        return;
    }
    if (gone) {
        if (run->base.closed_us != HF_NONE)
            hf_attempt_stop_all(core, run->key);
        if (run->base.closed_us != HF_NONE)
            successor_wake(core, run);
        hf_schedule_closed(core, run->base.instance);
        hf_core_remove(core, run);
        return;
    }
    if (run->base.status == HF_RUN_STATUS_PENDING && run->info.begins_us > hf_core_now(core) &&
        !hf_live_overdue(run, hf_core_now(core))) {
        hf_machine_later(core, run, run->info.begins_us);
        return;
    }
    turn_begin(&t, hf_unit_new(NULL, NULL));
    if (t.decide.unit) {
        hf_unit_append(t.decide.unit, &run->base, run->epoch, HF_REBASE_COMMANDS);
        st = turn_go(&t, &err);
    } else {
        st = hf_err_nomem(&err, "a turn");
    }
    if (t.lost) {
        turn_lose(&t);
        return;
    }
    turn_end(&t);
    if (!st) {
        hf_machine_dispatch(core, run);
        hf_errand_dispatch(core, run);
        return;
    }
    hf_turn_abandon(core, run, t.decide.effects);
    hf_unit_free(t.decide.unit);
    if (t.unfit && !run->doom.status) { /* it fails this run and nothing else */
        (void)hf_err_set(&run->doom, st, "%s", err.text);
        hf_core_ready(core, run);
        return;
    }
    turn_trouble(core, run, HF_TASK_TROUBLE_CLAIM, st, &err);
}

bool hf_turn_lent(hf_core *core, live_run *run, hf_unit *unit, bool *out_misfit)
{
    turn t = {.core = core, .run = run};
    hf_err err = {0};
    hf_status st;

    run->roused = false;
    turn_begin(&t, unit);
    if (!run->unborn) /* one message, with its command */
        t.decide.commands = t.decide.messages = run->unit_messages = 1;
    st = turn_join(&t, &err);
    if (t.lost) {
        turn_lose(&t);
        return false;
    }
    turn_end(&t);
    if (!st)
        return true;
    *out_misfit = t.misfit;
    hf_turn_abandon(core, run, t.decide.effects);
    hf_unit_free(t.decide.unit);
    if (run->unborn) {
        hf_core_disarm(core, run->key);
        hf_core_remove(core, run);
    } else {
        hf_lent_end(run);
        hf_core_ready(core, run); /* for what came before, should it have taken any */
    }
    return false;
}
