/* turn.c: one turn of a run: facts that came, code that ran, decisions, one unit. The unit carries
   all of it or nothing; its coroutine is dirty until COMMIT answered, and what the unit promises to
   the world (activities that start, timers that are armed, other runs that are woken) happens after
   that. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/attempt.h"
#include "engine/core_impl.h"
#include "engine/errand.h"
#include "engine/inbox.h"
#include "engine/lent.h"
#include "engine/machine.h"
#include "engine/watchdog.h"
#include "engine/schedule.h"
#include "model/event_codec.h"
#include "store/payload.h"
#include "store/snapshot.h"

enum { RETRY_US = 200000 }; /* after a full disk or an empty key block */

/* Who answers decide's questions: the core, on behalf of one run. */
typedef struct turn {
    hf_core *core;
    live_run *run;
    hf_decide decide;
    hf_decide_host host;
    bool woken; /* a workflow task or an inbox may stand for this turn; else nobody asked for it */
    bool decided; /* the code asked for something */
    bool alarmed; /* a due alarm asked for it */
    bool lost;    /* the core was taken over while the code ran */
    bool misfit;  /* the code does what a unit that was lent cannot hold */
} turn;

static bool host_activity(void *ctx, hf_slice name, hf_retry_policy *out_policy)
{
    const turn *t = ctx;
    const hf_registry_activity *activity = hf_registry_find_activity(t->core->o.registry, name);

    if (activity)
        *out_policy = activity->policy;
    return activity != NULL;
}

/* What a worker of another process declared of the type. */
static bool far_workflow(const turn *t, hf_slice type, hf_decide_type *out_type)
{
    hf_err err;

    *out_type = (hf_decide_type){.definition = HF_NONE};
    return !hf_snapshot_of_type(t->core->db, hf_unit_mem(t->decide.unit), type,
                                &out_type->definition, &out_type->fingerprint, &err) &&
           out_type->definition != HF_NONE;
}

static bool host_workflow(void *ctx, hf_slice type, hf_decide_type *out_type)
{
    const turn *t = ctx;
    const hf_registry_workflow *workflow = hf_registry_find_workflow(t->core->o.registry, type);

    if (!workflow && t->core->o.desk)
        return far_workflow(t, type, out_type);
    if (workflow)
        *out_type =
            (hf_decide_type){.definition = workflow->key,
                             .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
                             .execution_timeout_us = workflow->definition->execution_timeout * 1000,
                             .run_timeout_us = workflow->definition->run_timeout * 1000};
    return workflow != NULL;
}

static bool host_claim(void *ctx, hf_slice name, hf_slice queue)
{
    const turn *t = ctx;

    (void)name;
    return hf_slice_equal(queue, t->run->info.queue) && hf_pool_reserve(t->core->pool);
}

static const hf_open_message *host_message(void *ctx, int64_t seq)
{
    const turn *t = ctx;

    return hf_live_message(t->run, seq);
}

static hf_status host_know(void *ctx, unsigned what, hf_err *err)
{
    const turn *t = ctx;

    if (t->run->unborn)
        return HF_OK; /* nobody can have sent it anything */
    return hf_inbox_know(t->core, t->run, t->decide.unit, what, err);
}

/* An id that was made from the parent's own is looked up only after the store refused one. */
static hf_status host_taken(void *ctx, hf_slice id, bool *out_taken, hf_err *err)
{
    const turn *t = ctx;
    hf_slice own = t->run->info.instance_id;
    bool made = id.len > own.len && memcmp(id.ptr, own.ptr, own.len) == 0 && id.ptr[own.len] == ':';
    hf_instance_row instance;
    hf_status st;

    *out_taken = false;
    t->run->makes_children = true;
    if (made && !t->run->check_ids)
        return HF_OK;
    st = hf_instance_get(t->core->db, hf_unit_mem(t->decide.unit), t->run->info.namespace_key, id,
                         &instance, err);
    *out_taken = st == HF_OK;
    return st == HF_NOTFOUND ? HF_OK : st;
}

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

static void due_forget(live_run *run)
{
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        hf_alloc_free(due);
    }
}

void hf_turn_return(live_run *run)
{
    hf_attempt_abandoned(run);
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        due->late = NULL;
        due->next = run->due;
        run->due = due;
    }
}

/* What could not be committed is given back and the coroutine thrown away: the next turn begins
 * from the store. */
static void turn_abandon(hf_core *core, live_run *run, hf_effect *effects)
{
    for (hf_effect *effect = effects; effect; effect = effect->next)
        if (effect->kind == HF_EFFECT_ACTIVITY && effect->started)
            hf_pool_release(core->pool);
    hf_turn_return(run);
    hf_live_forget(core, run);
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

/* Facts first, then code, then what the code decided. */
static hf_status turn_draft(turn *t, hf_turn *out_turn, hf_err *err)
{
    hf_core *core = t->core;
    live_run *run = t->run;
    hf_event_builder *events = hf_unit_events(t->decide.unit, 0);
    const hf_decision_row *rows;
    bool stopped = false;
    size_t facts;
    size_t count = 0;
    hf_status st;

    *out_turn = HF_TURN_PARKED;
    staged_take(run);
    st = hf_attempt_fold_ended(run, &t->decide, err);
    if (!st)
        st = due_fold(t, err);
    if (!st && t->woken)
        st = hf_inbox_fold(core, run, &t->decide, &stopped, err);
    if (st || stopped)
        return st;
    if (!run->paused)
        st = hf_attempt_fold_starts(run, &t->decide, err);
    facts = events->count;
    if (!st && facts)
        st = hf_live_feed(run, events->events, facts, run->base.last_seq + 1, err);
    if (run->paused && !hf_replay_is_machine(run->replay) && !(run->far && run->far->answer))
        return st; /* a machine's turn runs no code, and neither does a worker's answer */
    if (!st) {
        hf_errand_turn(run);
        hf_core_enter(core, run);
        st = hf_replay_turn(run->replay, out_turn, err);
        t->lost = !hf_core_exit(core, run);
    }
    if (t->lost)
        return hf_err_set(err, HF_STOPPED, "the code took too long and was given up");
    if ((st == HF_INVALID || st == HF_CONFLICT) && run->far && run->far->answer) {
        hf_errand_refuse(run, err);
        st = hf_replay_turn(run->replay, out_turn, err);
    }
    if (st || *out_turn == HF_TURN_BLOCKED)
        return st;
    rows = hf_replay_decisions(run->replay, &count);
    t->decide.now_us = hf_core_now(core);
    t->decided = count > 0;
    t->decide.line = hf_replay_line(run->replay);
    st = hf_decide_add(&t->decide, rows, count, err);
    if (!st && events->count > facts)
        st = hf_live_feed(run, events->events + facts, events->count - facts,
                          run->base.last_seq + 1 + (int64_t)facts, err);
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
    if (!st)
        st = unit_send(core, run, unit, message, err);
    if (st)
        return st;
    run->dirty = true;
    core->flying++;
    run->due_unit = t->alarmed;
    core->flying_due += t->alarmed;
    core->due_alone = t->alarmed ? core->due_alone + 1 : 0;
    run->unit = unit;
    run->effects = t->decide.effects;
    run->again = t->decide.again;
    return HF_OK;
}

/* The wake-up was for nothing that code waits for: only the task that stands for it goes. */
static hf_status turn_drop(turn *t, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a turn");
    hf_unit_row(unit, 0, hf_row_task_drop(hf_unit_mem(unit), t->run->key, t->run->base.last_seq));
    hf_unit_free(t->decide.unit);
    t->decide.unit = unit;
    t->decide.effects = NULL;
    t->run->bare = true;
    st = turn_submit(t, err);
    return st;
}

/* Every field an operator needs to see why, as the task's body. */
static hf_status turn_blocked(turn *t, hf_err *err)
{
    const hf_replay_mismatch *why = hf_replay_mismatch_get(t->run->replay);
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_buf text = {0};
    int64_t task = 0;
    hf_value body = NULL;
    hf_status st =
        unit ? hf_keys_take(t->decide.keys, 1, &task, err) : hf_err_nomem(err, "a blocked run");

    if (!st) {
        body = hf_json_(hf_unit_mem(unit),
                        "{'replay_blocked': true, 'replay_blocked_reason': %s, "
                        "'replay_blocked_workflow_sequence': %lld,"
                        "'replay_blocked_expected_history_shape': %s, "
                        "'replay_blocked_recorded_event_types': %s,"
                        "'replay_blocked_condition_wait_id': %s, "
                        "'replay_blocked_recorded_condition_key': %s, "
                        "'replay_blocked_current_condition_key': %s,"
                        "'replay_blocked_recorded_condition_definition_fingerprint': %s,"
                        "'replay_blocked_current_condition_definition_fingerprint': %s,"
                        "'source_line': %s, 'message': %s}",
                        hf_replay_blocked_reason_text(why->reason), (long long)why->step,
                        why->expected_shape, why->recorded_events, why->condition_wait_id,
                        why->recorded_key, why->current_key, why->recorded_fingerprint,
                        why->current_fingerprint, why->at, why->sentence);
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
        hf_unit_free(t->decide.unit);
        t->decide.unit = unit;
        t->decide.effects = NULL;
        t->run->bare = true;
        t->run->blocked = true;
        st = turn_submit(t, err);
    } else {
        hf_unit_free(unit);
    }
    hf_buf_fini(&text);
    return st;
}

/* The code has another turn, whoever takes it. */
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
        if (t->decided && run->crashes)      /* it got further than where the process died */
            hf_unit_row(unit, 0, hf_row_run_mark(hf_unit_mem(unit), run->key, 0, 0));
        if (t->decide.again)
            st = turn_again(t, err);
        else if (hf_replay_is_machine(run->replay))
            st = hf_machine_keep_task(run, &t->decide, err);
        else if (run->far)
            st = hf_errand_keep_task(run, &t->decide, err);
        else if (t->woken)
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

/* The store refused what the code asked for; asking again would be refused again. */
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
    st = turn_draft(t, &outcome, err);
    if (st)
        return st;
    if (outcome == HF_TURN_BLOCKED)
        return turn_blocked(t, err);
    if (hf_unit_events(t->decide.unit, 0)->count)
        return turn_finish(t, err);
    due_forget(t->run); /* what was due led to nothing */
    wanted = t->run->paused || hf_machine_runnable(t->run) || hf_errand_wanted(t->run);
    t->woken |= t->run->far && t->run->far->answer;
    hf_errand_answered(t->run);
    if (t->woken && !wanted)
        return turn_drop(t, err);
    hf_unit_free(t->decide.unit);
    t->decide.unit = NULL;
    return HF_OK;
}

/* The turn is taken again: soon when it is the store's trouble, else later and later, and the task
   says so. */
static void turn_later(hf_core *core, live_run *run, hf_task_trouble trouble, hf_status st)
{
    const core_alarm later = {.kind = CORE_ALARM_TURN, .run = run->key};
    int64_t soon_us = hf_core_now(core) + RETRY_US;
    int64_t again_us = soon_us;

    if (st == HF_RETRY || st == HF_NOMEM || st == HF_TIMEOUT)
        again_us = hf_watchdog_trouble(core, run, trouble);
    (void)hf_core_alarm_set(core, &later, again_us < soon_us ? soon_us : again_us);
}

/* The turn could not be taken. What passes by itself is tried again, everything else ends the core.
 */
static void turn_trouble(hf_core *core, live_run *run, hf_task_trouble trouble, hf_status st,
                         const hf_err *err)
{
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        (void)!hf_db_reconnect(core->db, NULL);
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_BUSY || st == HF_RETRY ||
        st == HF_NOMEM || st == HF_TIMEOUT || st == HF_FULL)
        turn_later(core, run, trouble, st);
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

    t->decide = (hf_decide){.unit = unit,
                            .stager = &core->stager,
                            .keys = hf_writer_keys(core->o.writer),
                            .run = &run->info,
                            .host = &t->host,
                            .limits = core->o.limits,
                            .now_us = hf_core_now(core)};
    t->host = (hf_decide_host){.ctx = t,
                               .activity = host_activity,
                               .workflow = host_workflow,
                               .claim = host_claim,
                               .message = host_message,
                               .know = host_know,
                               .taken = host_taken,
                               .owner = core->o.owner};
    run->info.open = run->open;
    run->info.open_count = run->open_count;
    run->info.children = NULL;
    run->info.child_count = 0;
    run->info.messages = NULL;
    run->info.message_count = 0;
    run->unit_messages = 0;
    run->makes_children = false;
    run->bare = false;
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

void hf_turn_run(hf_core *core, live_run *run)
{
    turn t = {.core = core, .run = run, .woken = run->look, .alarmed = run->alarmed};
    bool gone = false;
    hf_err err = {0};
    hf_status st = HF_OK;

    run->alarmed = false;
    run->missed = false;
    if (run->replay && core->o.shards &&
        hf_shards_epoch(core->o.shards, run->base.shard) != run->epoch)
        hf_live_forget(core, run); /* another node may have had it meanwhile */
    if (run->stale)
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
    if (run->base.status == HF_RUN_STATUS_PENDING && run->begins_us > hf_core_now(core) &&
        !hf_live_overdue(run, hf_core_now(core))) {
        hf_machine_later(core, run, run->begins_us);
        return;
    }
    turn_begin(&t, hf_unit_new(NULL, NULL));
    if (t.decide.unit) {
        hf_unit_append(t.decide.unit, &run->base, run->epoch, HF_REBASE_OUTSIDE_FACTS);
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
    turn_abandon(core, run, t.decide.effects);
    hf_unit_free(t.decide.unit);
    turn_trouble(core, run, HF_TASK_TROUBLE_CLAIM, st, &err);
}

bool hf_turn_lent(hf_core *core, live_run *run, hf_unit *unit, bool *out_misfit)
{
    turn t = {.core = core, .run = run};
    hf_err err = {0};
    hf_status st;

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
    turn_abandon(core, run, t.decide.effects);
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

static void limit_warn(hf_core *core, const live_run *run, const hf_effect *effect)
{
    const hf_log_field fields[] = {
        hf_log_text("instance_id", run->info.instance_id),
        hf_log_text("run_id", hf_slice_of(run->run_id)),
        hf_log_text("limit", hf_slice_of(hf_limit_text(effect->limit))),
        hf_log_int("value", effect->key),
        hf_log_int("configured", hf_limits_get(core->o.limits, effect->limit))};

    hf_log_write(core->o.log, HF_LOG_WARN, "a run comes near a structural limit", fields,
                 sizeof(fields) / sizeof(fields[0]));
}

/* The promises of a committed unit. */
static void effects_keep(hf_core *core, live_run *run, const hf_effect *effect)
{
    for (; effect; effect = effect->next) {
        hf_open_work work = {.key = effect->key, .step = effect->step};
        core_alarm alarm = {.kind = CORE_ALARM_TIMER,
                            .run = effect->run,
                            .key = effect->key,
                            .step = effect->step,
                            .timer_kind = effect->timer_kind};
        hf_err err;

        switch (effect->kind) {
        case HF_EFFECT_TIMER:
            work.is_timer = true;
            work.due_us = effect->due_us;
            work.timer_kind = effect->timer_kind;
            if (hf_live_open_add(run, &work, &err))
                hf_core_fail(core, HF_NOMEM, &err);
            (void)hf_core_alarm_set(core, &alarm, effect->due_us);
            break;
        case HF_EFFECT_ACTIVITY:
            if (hf_live_open_add(run, &work, &err))
                hf_core_fail(core, HF_NOMEM, &err);
            hf_attempt_scheduled(run, effect);
            break;
        case HF_EFFECT_RUN:
            hf_core_look(core, effect->run);
            break;
        case HF_EFFECT_WARN:
            limit_warn(core, run, effect);
            break;
        }
    }
}

/* What an activity is called stands in the event that scheduled it alone; here it is with its job.
 */
static hf_slice activity_name(const void *ctx, int64_t step)
{
    const live_run *run = ctx;

    for (const hf_job *job = run->staged_ended; job; job = job->next)
        if (job->step == step)
            return job->name;
    for (const core_start *start = run->staged_starts; start; start = start->next)
        if (start->job->step == step)
            return start->job->name;
    for (const hf_effect *effect = run->effects; effect; effect = effect->next)
        if (effect->kind == HF_EFFECT_ACTIVITY && effect->step == step)
            return effect->name;
    for (size_t i = 0; i < run->open_count; i++) {
        const hf_job *job = run->open[i].is_timer || run->open[i].step != step
                                ? NULL
                                : hf_map_int_get(run->core->jobs, (uint64_t)run->open[i].key);

        if (job)
            return job->name;
    }
    return (hf_slice){0};
}

/* Whether somebody may wait for what the events say, on whatever node. */
static bool is_answer(const hf_event_builder *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->events[i].type == HF_EVENT_UPDATE_COMPLETED)
            return true;
    return false;
}

/* True when the run goes on living. */
static bool turn_keep(hf_core *core, live_run *run, hf_unit *unit)
{
    const hf_event_builder *events = hf_unit_events(unit, 0);
    const hf_run_base *after = hf_unit_after(unit, 0);
    bool rebased = after->last_seq != run->base.last_seq + run->unit_events;
    bool closed = after->closed_us != HF_NONE;
    const hf_core_facts facts = {.instance_id = run->info.instance_id,
                                 .run_id = hf_slice_of(run->run_id),
                                 .type = run->info.type,
                                 .events = events->events,
                                 .count = events->count,
                                 .first_seq = after->last_seq - (int64_t)events->count + 1,
                                 .begun = run->base.status == HF_RUN_STATUS_PENDING,
                                 .activity = activity_name,
                                 .ctx = run};

    if (core->o.observe)
        core->o.observe(core->o.ctx, &facts);
    if (closed) { /* whatever still runs is told to stop */
        hf_core_disarm(core, run->key);
        hf_machine_closed(core, run->key);
        for (size_t i = 0; i < run->open_count; i++) {
            hf_job *job = hf_map_int_remove(core->jobs, (uint64_t)run->open[i].key);

            hf_core_disarm(core, run->open[i].key);
            if (job)
                hf_attempt_stop(job);
        }
    }
    hf_live_settle(run, events->events, events->count);
    run->base = *after;
    hf_attempt_committed(run);
    due_forget(run);
    effects_keep(core, run, run->effects);
    hf_errand_answered(run); /* the effects spoke with the answer's words */
    if (core->o.changed)
        core->o.changed(core->o.ctx, run->key, closed);
    if (core->o.tell && (closed || is_answer(events)))
        core->o.tell(core->o.ctx, -run->key);
    if (closed)
        hf_schedule_closed(core, run->base.instance);
    if (closed)
        return false;
    run->troubles = 0;
    run->unit_messages = 0; /* counted in the base now */
    run->check_ids = false;
    hf_core_in_time(core, run->key);
    if (run->again)
        hf_core_ready(core, run);
    if (rebased || run->foreign || hf_replay_spoiled(run->replay)) {
        hf_live_forget(core,
                       run); /* facts came in between: the replay must see them in their place */
        hf_core_ready(core, run);
    }
    return true;
}

void hf_turn_committed(hf_core *core, live_run *run, hf_unit *unit)
{
    const char *text = NULL;
    hf_status st = hf_unit_outcome(unit, &text);
    hf_err err;
    bool lives = true;
    bool lent;

    run->dirty = false;
    HF_ASSERT(core->flying > 0);
    core->flying--;
    core->flying_due -= run->due_unit;
    run->due_unit = false;
    run->unit = NULL;
    if (run->unborn && st) {
        turn_abandon(core, run, run->effects);
        hf_unit_free(unit);
        hf_core_disarm(core, run->key);
        hf_core_remove(core, run);
        return;
    }
    run->unborn = false;
    lent = run->lent != NULL;
    hf_lent_end(run);
    if (st == HF_OK && !run->bare) {
        lives = turn_keep(core, run, unit);
    } else if (st == HF_OK) {
        hf_turn_return(run);
        lives = !run->blocked;
    } else {
        turn_abandon(core, run, run->effects);
        if (st == HF_CONFLICT ||
            (lent && st != HF_STOPPED)) /* its caller sees to what it brought */
            hf_core_ready(core, run);
        else if (st == HF_CONSTRAINT && run->makes_children && !run->check_ids)
            run->check_ids = true; /* a child's id was taken meanwhile: the next turn sees which */
        else if (st == HF_CONSTRAINT || st == HF_EXISTS || st == HF_INVALID || st == HF_TOOBIG)
            (void)hf_err_set(&run->doom, st, "%s", text);
        else if (st == HF_STOPPED)
            hf_core_fail(core, hf_err_set(&err, st, "%s", text), &err);
        else
            turn_later(core, run, HF_TASK_TROUBLE_CLAIM, st);
        if (run->doom.status || run->check_ids)
            hf_core_ready(core, run);
    }
    run->effects = NULL;
    hf_unit_free(unit);
    if (run->foreign)
        hf_live_forget(core, run);
    if (!lives)
        hf_core_remove(core, run);
    else if (!st && (run->look || run->ended || run->due || run->missed))
        hf_core_ready(core, run);
    else if (!st) {
        hf_machine_dispatch(core, run);
        hf_errand_dispatch(core, run);
    }
}
