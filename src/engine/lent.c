/* lent.c: see lent.h. The rule: while the core works with what a caller lent it, the caller waits.
   What nobody has taken up after a moment is withdrawn: user code of other runs must not keep a
   caller waiting. */
#include "engine/lent.h"

#include <stdatomic.h>

#include "base/alloc.h"

enum {
    LINGER_US = 100,     /* a turn takes about as long as falling asleep and being woken */
    PATIENCE_US = 20000, /* then the core has something else to do */
    FLYING_MOST = 256    /* with more units under way the acknowledgement comes first */
};

typedef enum lent_state {
    LENT_WAITS,
    LENT_TAKEN,
    LENT_RETURNED, /* sealed: the caller commits it */
    LENT_ANSWERED,
    LENT_DECLINED,
    LENT_WITHDRAWN /* the caller is gone, and what it lent */
} lent_state;

struct hf_lent {
    hf_lent_take *take;
    hf_unit *unit; /* until its turn is taken; sealed when it is returned */
    hf_intake_target target;
    hf_unit_done *done; /* of a unit that is returned, this and the next */
    void *done_ctx;
    hf_mutex lock;
    hf_cond moved;
    int holders;              /* under the lock, this and the rest: the caller and the core */
    _Atomic lent_state state; /* changed under the lock, looked at without it by lent_linger */
    hf_lent_outcome outcome;
    hf_err why; /* the unit was refused */
};

static void lent_drop(hf_lent *lent)
{
    int left;

    hf_mutex_lock(&lent->lock);
    left = --lent->holders;
    hf_mutex_unlock(&lent->lock);
    if (left)
        return;
    hf_cond_fini(&lent->moved);
    hf_mutex_fini(&lent->lock);
    hf_alloc_free(lent);
}

/* True: it was in the state before. */
static bool lent_move(hf_lent *lent, lent_state from, lent_state to)
{
    bool moved;

    hf_mutex_lock(&lent->lock);
    moved = lent->state == from;
    if (moved)
        lent->state = to;
    hf_mutex_unlock(&lent->lock);
    if (moved) /* who calls this holds it: it is still there */
        hf_cond_signal(&lent->moved);
    return moved;
}

/* ---- the core's side */

void hf_lent_decline(hf_lent *lent)
{
    if (!lent_move(lent, LENT_WAITS, LENT_DECLINED))
        (void)lent_move(lent, LENT_TAKEN, LENT_DECLINED);
    lent_drop(lent);
}

void hf_lent_end(live_run *run)
{
    if (run->lent)
        hf_lent_decline(run->lent);
    run->lent = NULL;
}

void hf_lent_begin(hf_core *core, hf_lent *lent)
{
    if (lent_move(lent, LENT_WAITS, LENT_TAKEN))
        lent->take(core, lent);
    else
        hf_lent_decline(lent);
}

bool hf_lent_fits(const hf_core *core)
{
    return !core->failure.status && core->flying < FLYING_MOST &&
           !hf_deadlines_count(core->backlog);
}

const hf_intake_target *hf_lent_target(const hf_lent *lent)
{
    return &lent->target;
}

hf_unit *hf_lent_use(hf_lent *lent)
{
    hf_unit *unit = lent->unit;

    lent->unit = NULL;
    return unit;
}

void hf_lent_return(hf_lent *lent, hf_unit *unit, hf_unit_done *done, void *ctx)
{
    hf_mutex_lock(&lent->lock);
    lent->unit = unit;
    lent->done = done;
    lent->done_ctx = ctx;
    lent->state = LENT_RETURNED;
    hf_mutex_unlock(&lent->lock);
    hf_cond_signal(&lent->moved); /* the run still holds it */
}

void hf_lent_answer(hf_lent *lent, const hf_unit *unit)
{
    const char *text = NULL;

    hf_mutex_lock(&lent->lock);
    lent->outcome = (hf_lent_outcome){.answered = true, .status = hf_unit_outcome(unit, &text)};
    if (lent->outcome.status)
        (void)!hf_err_set(&lent->why, lent->outcome.status, "%s", text ? text : "it was refused");
    else
        lent->outcome.command_seq = hf_unit_after(unit, 0)->command_seq;
    lent->state = LENT_ANSWERED;
    hf_cond_signal(&lent->moved);
    hf_mutex_unlock(&lent->lock);
}

/* Takes what is lent out of a list of messages. */
static core_message *lents_take(core_message **list)
{
    core_message *lents = NULL;

    while (*list) {
        core_message *message = *list;

        if (message->kind != CORE_MESSAGE_LENT) {
            list = &message->next;
            continue;
        }
        *list = message->next;
        message->next = lents;
        lents = message;
    }
    return lents;
}

static void lents_decline(core_message *lents)
{
    while (lents) {
        core_message *next = lents->next;

        hf_lent_decline(lents->lent);
        hf_alloc_free(lents);
        lents = next;
    }
}

void hf_lent_shut(hf_core *core)
{
    core_message *lents;

    hf_mutex_lock(&core->lock);
    core->shut = true;
    lents = lents_take(&core->inbox);
    core->inbox_tail = &core->inbox;
    while (*core->inbox_tail)
        core->inbox_tail = &(*core->inbox_tail)->next;
    hf_mutex_unlock(&core->lock);
    lents_decline(lents);
    lents_decline(lents_take(&core->taken));
}

/* ---- the caller's side */

static hf_lent *lent_new(hf_lent_take *take, hf_unit *unit, const hf_intake_target *target)
{
    hf_lent *lent = hf_alloc(sizeof(*lent));

    if (!lent)
        return NULL;
    *lent = (hf_lent){.take = take, .unit = unit, .target = *target, .holders = 2};
    if (!hf_mutex_init(&lent->lock, NULL)) {
        if (!hf_cond_init(&lent->moved, NULL))
            return lent;
        hf_mutex_fini(&lent->lock);
    }
    hf_alloc_free(lent);
    return NULL;
}

/* False: nobody is there to take it. */
static bool lent_send(hf_engine *engine, hf_lent *lent)
{
    hf_core *core = engine->core;
    core_message *message;
    bool sent;

    if (engine->mode != ENGINE_THREADS) {
        hf_lent_begin(core, lent);
        return true;
    }
    message = hf_alloc(sizeof(*message));
    if (!message)
        return false;
    *message = (core_message){.kind = CORE_MESSAGE_LENT, .lent = lent};
    hf_mutex_lock(&core->lock);
    sent = !core->shut;
    if (sent) {
        *core->inbox_tail = message;
        core->inbox_tail = &message->next;
    }
    hf_mutex_unlock(&core->lock);
    if (sent)
        core->o.wake(core->o.ctx);
    else
        hf_alloc_free(message);
    return sent;
}

/* Gives way for a moment before it goes to sleep: whoever took it is often done by then. */
static void lent_linger(const hf_lent *lent)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + LINGER_US;

    while ((lent->state == LENT_WAITS || lent->state == LENT_TAKEN) &&
           hf_clock_mono_us(hf_clock_system()) < until_us)
        hf_thread_yield();
}

static void lent_await(hf_engine *engine, hf_lent *lent)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + PATIENCE_US;

    if (engine->mode != ENGINE_THREADS)
        while (lent->state == LENT_TAKEN && hf_engine_write(engine))
            ;
    else
        lent_linger(lent);
    hf_mutex_lock(&lent->lock);
    while (lent->state == LENT_WAITS &&
           hf_cond_wait_until(&lent->moved, &lent->lock, until_us) != HF_TIMEOUT)
        ;
    if (lent->state == LENT_WAITS)
        lent->state = LENT_WITHDRAWN;
    while (lent->state == LENT_TAKEN)
        hf_cond_wait(&lent->moved, &lent->lock);
    hf_mutex_unlock(&lent->lock);
}

/* The core takes the unit back when it is told of its end. */
static void lent_write(hf_engine *engine, hf_lent *lent)
{
    hf_unit *unit = hf_lent_use(lent);
    hf_err err;

    (void)!hf_engine_commit(engine, unit, &err); /* the unit knows how it ended */
    lent->done(unit, lent->done_ctx);
    if (engine->core->o.wake)
        engine->core->o.wake(engine->core->o.ctx);
}

/* Whether it may be in the store although it failed: whoever sent it again would do it twice. */
static bool fate_unknown(const hf_lent_outcome *outcome)
{
    return outcome->status == HF_UNKNOWN || outcome->status == HF_IO ||
           outcome->status == HF_CORRUPT || outcome->status == HF_STOPPED;
}

hf_status hf_lent_commit(hf_engine *engine, hf_lent_take *take, hf_unit **unit,
                         const hf_intake_target *target, hf_lent_outcome *out_outcome, hf_err *err)
{
    hf_lent *lent = lent_new(take, *unit, target);
    hf_status st = HF_OK;

    if (!lent)
        return hf_err_nomem(err, "a turn that goes along");
    if (lent_send(engine, lent))
        lent_await(engine, lent);
    else
        hf_lent_decline(lent);
    if (lent->state == LENT_RETURNED)
        lent_write(engine, lent);
    *unit = lent->unit;
    *out_outcome = lent->outcome;
    if (fate_unknown(out_outcome))
        st = hf_err_set(err, lent->why.status, "%s", lent->why.text);
    lent_drop(lent);
    return st;
}
