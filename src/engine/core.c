/* core.c: the core opened and closed, and its steps: messages taken, alarms fired, runs that are
   ready given their turn. What a run does with its turn is in turn.c. */
#include "engine/core.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/attempt.h"
#include "engine/backlog.h"
#include "engine/core_impl.h"
#include "engine/errand.h"
#include "engine/lent.h"
#include "engine/live_rows.h"
#include "engine/machine.h"
#include "engine/schedule.h"
#include "engine/sweep.h"
#include "engine/turnstile.h"
#include "engine/watchdog.h"
#include "engine/window.h"
#include "model/limit.h"

enum {
    MESSAGES_MAX = 8, /* read before what they made ready goes on */
    STACKS_MAX = 64,  /* kept for the next runs */
    REST_SHARE = 16   /* of the cache: one of so many, for runs that rest */
};

int64_t hf_core_now(const hf_core *core)
{
    return hf_clock_wall_us(core->o.clock);
}

int64_t hf_core_wall_ahead(const hf_core *core)
{
    return hf_clock_ahead_us(core->o.clock);
}

void hf_core_fail(hf_core *core, hf_status st, const hf_err *err)
{
    if (core->failure.status)
        return;
    core->failure = *err;
    core->failure.status = st;
}

void hf_core_ready(hf_core *core, live_run *run)
{
    if (run->ready)
        return;
    run->ready = true;
    core->ready_count++;
    run->next_ready = NULL;
    *core->ready_tail = run;
    core->ready_tail = &run->next_ready;
}

void hf_core_remove(hf_core *core, live_run *run)
{
    (void)hf_map_int_remove(core->runs, (uint64_t)run->key);
    run->gone = true;
    if (!run->ready)
        hf_live_free(core, run);
}

live_run *hf_core_live(hf_core *core, int64_t key)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)key);
    hf_err err;

    if (run) {
        if (hf_list_linked(&run->place)) {
            hf_list_remove(&run->place);
            hf_list_add_last(&core->lru, &run->place);
        }
        return run;
    }
    run = hf_live_new(core, key);
    if (!run || hf_map_int_put(core->runs, (uint64_t)key, run, NULL, &err)) {
        if (run)
            hf_live_free(core, run);
        hf_core_fail(core, hf_err_nomem(&err, "a live run"), &err);
        return NULL;
    }
    return run;
}

void hf_core_enter(hf_core *core, live_run *run)
{
    (void)hf_breadcrumb_put(core->crumb, core->seat ? core->seat->slot : 0, run->key);
    core->inside = run;
    run->seat = core->seat;
    if (!core->seat)
        return;
    hf_seat_enter(core->seat, run->key, hf_core_patience_us(core, run->key));
    hf_stall_wake(core->stall);
}

bool hf_core_exit(hf_core *core, live_run *run)
{
    if (run->seat && !hf_seat_exit(run->seat))
        return false;
    core->inside = NULL;
    (void)hf_breadcrumb_put(core->crumb, run->seat ? run->seat->slot : 0, 0);
    return true;
}

void hf_core_look(hf_core *core, int64_t run)
{
    hf_backlog_hint(core, run, 0, true);
}

hf_status hf_core_open(const hf_core_options *options, hf_core **out_core, hf_err *err)
{
    hf_core *core = hf_alloc(sizeof(*core));
    hf_pool_host host = {.done = hf_core_post_done,
                         .beat = hf_core_post_beat,
                         .ctx = core,
                         .clock = options->clock,
                         .payload_max =
                             hf_limits_get(options->limits, HF_LIMIT_PAYLOAD_SIZE_BYTES)};
    hf_map_seed seed;
    hf_status st;

    if (!core)
        return hf_err_nomem(err, "the core");
    core->o = *options;
    core->ready_tail = &core->ready;
    core->inbox_tail = &core->inbox;
    core->ended_tail = &core->ended;
    hf_list_init(&core->lru);
    hf_list_init(&core->hungry);
    st = hf_mutex_init(&core->lock, err);
    if (st) {
        hf_alloc_free(core);
        return st;
    }
    if (core->o.alarms_max <= 0)
        core->o.alarms_max = HF_WINDOW_ALARMS;
    hf_window_open(core);
    core->stacks = hf_coro_cache_new(STACKS_MAX, 0);
    core->runs = hf_map_int_new((hf_map_seed){0});
    core->jobs = hf_map_int_new((hf_map_seed){0});
    core->plain = hf_map_int_new((hf_map_seed){0});
    core->far_shapes = hf_map_int_new((hf_map_seed){0});
    core->timers = hf_map_int_new((hf_map_seed){0});
    core->late = hf_map_int_new((hf_map_seed){0});
    core->alarms = hf_deadlines_new();
    core->steps = hf_deadlines_new();
    core->backlog = hf_deadlines_new();
    core->backlog_runs = hf_map_int_new((hf_map_seed){0}); /* keys are our own */
    st = hf_map_seed_system(&seed, err);                   /* callers choose the keys of gates */
    core->gates = st ? NULL : hf_map_new(seed);
    core->gate_numbers = hf_map_int_new((hf_map_seed){0});
    (void)snprintf(core->holder, sizeof(core->holder), "%.*s-%ld-%llx", (int)options->owner.len,
                   options->owner.ptr, (long)getpid(),
                   (unsigned long long)hf_clock_mono_us(hf_clock_system()));
    core->schedules = hf_map_int_new((hf_map_seed){0});
    core->schedule_waits = hf_map_int_new((hf_map_seed){0});
    if (!st && (!core->stacks || !core->runs || !core->jobs || !core->plain || !core->far_shapes ||
                !core->timers || !core->late || !core->alarms || !core->steps || !core->backlog ||
                !core->backlog_runs || !core->gates || !core->gate_numbers || !core->schedules ||
                !core->schedule_waits))
        st = hf_err_nomem(err, "the core");
    if (!st)
        st = hf_stager_init(&core->stager, err);
    if (!st)
        st = hf_breadcrumb_open(options->store, &core->crumb, err);
    if (!st && options->activity_threads)
        st = hf_stall_open(options->log, options->stalled, options->ctx, &core->stall, err);
    if (!st && options->activity_threads)
        st = hf_core_sit(core, NULL, err);
    host.crumb = core->crumb;
    if (!st)
        st = hf_pool_open(options->activity_threads, options->activity_places, &host, &core->pool,
                          err);
    if (!st && options->single) {
        core->db = hf_store_writer(options->store);
    } else if (!st) {
        st = hf_store_connect_by_key(options->store, &core->db, err);
        core->own_db = !st;
    }
    if (st) {
        hf_core_close(core);
        return st;
    }
    if (core->o.matching)
        hf_errand_listen(core);
    *out_core = core;
    return HF_OK;
}

void hf_core_leave(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *run;

    hf_lent_shut(core);
    while (hf_map_int_next(core->runs, &at, &key, &run))
        hf_live_forget(core, run);
}

void hf_core_close(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *run;
    void *job;
    live_run *waiting;
    hf_deadline *deadline;

    if (!core)
        return;
    if (core->o.matching)
        hf_matching_forget(core->o.matching, HF_ERRAND_KINDS);
    while (core->jobs && hf_map_int_next(core->jobs, &at, &key, &job))
        if (((hf_job *)job)->far) /* the others are the pool's */
            hf_job_free(job);
    at = 0;
    hf_pool_close(core->pool);
    hf_core_stand(core);
    hf_stall_close(core->stall);
    core->pool = NULL; /* places are given back no more */
    hf_core_mail_free(core);
    while ((waiting = core->ready)) {
        core->ready = waiting->next_ready;
        if (waiting->gone)
            hf_live_free(core, waiting);
    }
    while (core->runs && hf_map_int_next(core->runs, &at, &key, &run))
        hf_live_free(core, run);
    hf_coro_cache_free(core->stacks);
    hf_turnstile_close(core);
    hf_backlog_free(core);
    hf_deadlines_free(core->steps);
    while (core->alarms && (deadline = hf_deadlines_pop(core->alarms)))
        hf_alloc_free(deadline->ref);
    hf_deadlines_free(core->alarms);
    hf_map_int_free(core->runs);
    hf_map_int_free(core->jobs);
    hf_map_int_free(core->plain);
    hf_map_int_free(core->far_shapes);
    hf_map_int_free(core->timers);
    hf_map_int_free(core->late);
    hf_schedule_forget_all(core);
    if (core->own_db)
        hf_db_close(core->db);
    hf_breadcrumb_close(core->crumb);
    hf_stager_fini(&core->stager);
    hf_mutex_fini(&core->lock);
    hf_alloc_free(core);
}

static void unit_flag(hf_unit *unit, void *ctx)
{
    (void)unit;
    *(bool *)ctx = true;
}

hf_status hf_core_commit(hf_core *core, hf_unit *unit, hf_err *err)
{
    const char *text = NULL;
    bool done = false;
    hf_status st = hf_unit_seal(unit, &core->stager, err);

    if (!st && !core->o.single) {
        st = hf_writer_commit(core->o.writer, unit, err);
    } else if (!st) {
        hf_unit_on_done(unit, unit_flag, &done);
        st = hf_writer_offer(core->o.writer, unit, err);
        while (!st && !done && hf_writer_step(core->o.writer) > 0)
            ;
        if (!st)
            st = hf_unit_outcome(unit, &text);
        if (st && text)
            st = hf_err_set(err, st, "%s", text);
    }
    hf_unit_free(unit);
    return st;
}

/* A place is free: the run that has waited longest may try again. */
static void place_offer(hf_core *core)
{
    hf_list *link = hf_list_first(&core->hungry);

    if (!link)
        return;
    hf_list_remove(link);
    hf_core_ready(core, HF_LIST_ENTRY(link, live_run, hunger));
}

void hf_core_job_ended(hf_core *core, hf_job *job)
{
    live_run *run;

    (void)hf_map_int_remove(core->jobs, (uint64_t)job->activity);
    hf_core_disarm(core, job->activity);
    run = hf_core_live(core, job->run);
    if (!run) {
        hf_job_free(job);
        return;
    }
    if (job->machine)
        hf_machine_back(run, job);
    job->next = run->ended;
    run->ended = job;
    hf_core_ready(core, run);
}

static void job_take(hf_core *core, hf_job *job)
{
    if (hf_map_int_get(core->jobs, (uint64_t)job->activity) == job)
        hf_core_job_ended(core, job);
    else {
        core->stale_steps += job->machine != NULL;
        hf_turnstile_drop(core, job);
        hf_job_free(job); /* the attempt was given up meanwhile: a late result changes nothing */
    }
    place_offer(core);
}

static void ask_replay(hf_core_ask *ask, hf_replay *replay)
{
    const char *refusal = NULL;

    if (!ask->check) {
        ask->status =
            hf_replay_query(replay, ask->name, ask->args, ask->mem, &ask->answer, &ask->err);
        return;
    }
    ask->status = hf_replay_check_update(replay, ask->name, ask->args, &refusal, &ask->err);
    if (ask->status || !refusal)
        return;
    ask->refusal = hf_mem_text(ask->mem, hf_slice_of(refusal));
    if (!ask->refusal)
        ask->status = hf_err_nomem(&ask->err, "a refusal");
}

/* A cached coroutine answers only when it shows exactly what is committed; else one is made for the
 * question. */
static void ask_answer(hf_core *core, hf_core_ask *ask)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)ask->run);
    live_run *peek = NULL;
    bool lost = false;

    ask->status = HF_OK;
    if (!run || !run->replay || run->dirty || run->look || run->ended || run->due || run->foreign)
        ask->status = hf_live_peek(core, ask->run, &peek, &ask->err);
    if (!ask->status) {
        live_run *asked = peek ? peek : run;

        hf_core_enter(core, asked);
        ask_replay(ask, asked->replay);
        lost = !hf_core_exit(core, asked);
        if (lost || peek)
            hf_live_free(lost ? NULL : core, asked);
    }
    ask->done(ask); /* a late answer is as good: it changes nothing */
}

static void message_take(hf_core *core, core_message *message)
{
    live_run *run;

    switch (message->kind) {
    case CORE_MESSAGE_RUN:
    case CORE_MESSAGE_RELOAD:
        run = hf_map_int_get(core->runs, (uint64_t)message->run);
        if (run)
            run->stale |= message->kind == CORE_MESSAGE_RELOAD;
        hf_backlog_hint(core, message->run, message->priority, message->pass_on);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_SWEEP:
        hf_sweep_take(core, message);
        break;
    case CORE_MESSAGE_JOB:
        job_take(core, message->job);
        break;
    case CORE_MESSAGE_BEAT:
        hf_attempt_beat(core, message->activity, message->attempt);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_UNIT:
        run = hf_map_int_get(core->runs, (uint64_t)message->run);
        HF_ASSERT(run && run->dirty && run->unit == message->unit);
        hf_turn_committed(core, run, message->unit);
        break;
    case CORE_MESSAGE_LENT: {
        hf_lent *lent = message->lent;

        hf_alloc_free(message); /* the core may be lost with the turn */
        hf_lent_begin(core, lent);
        break;
    }
    case CORE_MESSAGE_GATE:
        hf_turnstile_answer(core, message);
        break;
    case CORE_MESSAGE_BACK:
        hf_core_came_back(core, message->run);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_ASK:
        ask_answer(core, message->ask);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_CALL:
        message->call->run(core, message->call);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_SCHEDULE:
        hf_schedule_look(core, message->run);
        hf_alloc_free(message);
        break;
    case CORE_MESSAGE_FIRED:
        hf_schedule_fired(core, message->firing);
        break;
    case CORE_MESSAGE_RETIRED:
        hf_retention_retired(core, message->retiring);
        break;
    }
}

/* Some messages, so that what they make ready reaches the writer before the others are read. Those
   that are taken stay with the core: who answers a question may lose it. */
static bool messages_take(hf_core *core, hf_seat *seat)
{
    bool unseen = hf_core_mail_fetch(core);
    bool lost;
    int left = MESSAGES_MAX;

    if (unseen)
        hf_schedule_due(core, HF_SCHEDULE_SWEEP);
    if (!core->taken)
        return unseen;
    do {
        core_message *message = core->taken;

        core->taken = message->next;
        message_take(core, message);
        lost = seat && hf_seat_lost(seat);
    } while (!lost && core->taken && --left > 0);
    if (!lost)
        hf_pool_call(core->pool);
    return true;
}

/* Parked coroutines beyond the budget go, the longest unused first. Runs that nobody ever took have
   none, and a small share of it. */
static void cache_trim(hf_core *core)
{
    hf_list *link = core->lru.next;

    while (core->held > core->o.cache_bytes / REST_SHARE && link != &core->lru) {
        live_run *run = HF_LIST_ENTRY(link, live_run, place);
        bool wanted = hf_errand_wanted(run); /* it is offered */

        if (core->held <= core->o.cache_bytes && !hf_errand_rests(run))
            return;
        link = link->next;
        if (run->dirty || run->ready || (run->far && (run->far->lease.held || run->far->answer)))
            continue;
        hf_live_forget(core, run);
        if (wanted && !hf_errand_rests(run))
            continue;
        if (!run->ended && !run->due && !run->starts && !hf_list_linked(&run->hunger) &&
            !hf_deadline_queued(&run->turn) && !run->slot) {
            if (wanted)
                hf_errand_rest(run);
            hf_core_remove(core, run);
        }
    }
}

/* Runs what is ready. A burst of starts waits as rows and keys; only so many coroutines are between
   two states. False: somebody else took the core meanwhile. */
static bool ready_run(hf_core *core, hf_seat *seat, bool *worked)
{
    live_run *run;

    hf_backlog_admit(core);
    while ((run = core->ready) && !core->failure.status && core->flying < HF_CORE_FLYING_MAX) {
        core->ready = run->next_ready;
        if (!core->ready)
            core->ready_tail = &core->ready;
        run->ready = false;
        core->ready_count--;
        *worked = true;
        if (run->gone)
            hf_live_free(core, run);
        else if (run->dirty)
            run->missed = true; /* it is made ready again when its unit is done */
        else {
            hf_live_ahead_read(core, run);
            hf_turn_run(core, run);
        }
        if (seat && hf_seat_lost(seat))
            return false;
        hf_backlog_admit(core);
    }
    return true;
}

bool hf_core_step(hf_core *core)
{
    hf_seat *seat = core->seat;
    bool worked = false;
    bool first = true;

    do {
        hf_live_ahead_drop(core);
        worked |= messages_take(core, seat);
        if (seat && hf_seat_lost(seat))
            return false;
        if (atomic_exchange(&core->claims, false))
            worked |= hf_errand_claims(core);
        if (atomic_exchange(&core->hint_lost, false))
            hf_watchdog_lost(core);
        if (first) /* their share is one of all that came */
            worked |= hf_core_alarms_fire(core);
        first = false;
        if (!ready_run(core, seat, &worked))
            return false;
    } while (core->taken && !core->failure.status);
    worked |= hf_machine_serve(core);
    hf_pool_call(core->pool);
    cache_trim(core);
    return worked;
}

bool hf_core_run_activity(hf_core *core)
{
    return hf_pool_step(core->pool);
}

static bool run_is_quarantined(hf_core *core, int64_t key)
{
    bool found = false;
    int64_t crashes = 0;
    int64_t blocked = 0;

    return !hf_sweep_crashes(core, key, &found, &crashes, &blocked, NULL) && found &&
           blocked == HF_RUN_BLOCKED_QUARANTINE;
}

const char *hf_core_waiting(hf_core *core, int64_t key)
{
    live_run *run = hf_map_int_get(core->runs, (uint64_t)key);
    live_run *peek = NULL;

    if ((!run || !run->replay) && hf_live_peek(core, key, &peek, NULL))
        return run_is_quarantined(core, key) ? "quarantined" : "";
    (void)snprintf(core->waiting, sizeof(core->waiting), "%s",
                   (peek ? peek : run)->paused
                       ? "paused"
                       : hf_replay_waiting(peek ? peek->replay : run->replay));
    if (peek)
        hf_live_free(core, peek);
    return core->waiting;
}

hf_status hf_core_failure(const hf_core *core, hf_err *out_failure)
{
    if (out_failure)
        *out_failure = core->failure;
    return core->failure.status;
}

bool hf_core_drain(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    hf_pool_drain(core->pool);
    if (core->flying) /* their units are under way */
        return true;
    while (hf_map_int_next(core->jobs, &at, &key, &item))
        if (!((const hf_job *)item)->far) /* workers elsewhere report to whoever comes next */
            return true;
    at = 0;
    while (hf_map_int_next(core->runs, &at, &key, &item)) {
        const live_run *run = item;

        if (run->ended)
            return true;
    }
    return false;
}
