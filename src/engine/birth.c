/* birth.c: see birth.h. The rule: a caller is told HF_OK after the commit and not before, and while
   the core works with what the caller lent it, the caller waits. One that nobody has taken up after
   a moment is withdrawn: user code of other runs must not keep a start waiting. */
#include "engine/birth.h"

#include "base/alloc.h"
#include "engine/fleet.h"

enum {
    PATIENCE_US = 20000, /* then the core has something else to do */
    FLYING_MOST = 256    /* with more units under way the acknowledgement comes first */
};

typedef enum birth_state {
    BIRTH_WAITS,
    BIRTH_TAKEN,
    BIRTH_ANSWERED,
    BIRTH_DECLINED,
    BIRTH_WITHDRAWN /* the caller is gone, and what it lent */
} birth_state;

struct hf_birth {
    hf_unit *unit; /* until its turn is taken */
    hf_intake_target target;
    const hf_registry_workflow *workflow;
    hf_mutex lock;
    hf_cond moved;
    int holders; /* under the lock, this and the rest: the caller and the core */
    birth_state state;
    hf_status status; /* of the unit */
    int64_t command_seq;
};

static void birth_drop(hf_birth *birth)
{
    int left;

    hf_mutex_lock(&birth->lock);
    left = --birth->holders;
    hf_mutex_unlock(&birth->lock);
    if (left)
        return;
    hf_unit_free(birth->unit);
    hf_cond_fini(&birth->moved);
    hf_mutex_fini(&birth->lock);
    hf_alloc_free(birth);
}

/* True: it was in the state before. */
static bool birth_move(hf_birth *birth, birth_state from, birth_state to)
{
    bool moved;

    hf_mutex_lock(&birth->lock);
    moved = birth->state == from;
    if (moved) {
        birth->state = to;
        hf_cond_signal(&birth->moved);
    }
    hf_mutex_unlock(&birth->lock);
    return moved;
}

void hf_birth_decline(hf_birth *birth)
{
    if (!birth_move(birth, BIRTH_WAITS, BIRTH_DECLINED))
        (void)birth_move(birth, BIRTH_TAKEN, BIRTH_DECLINED);
    birth_drop(birth);
}

void hf_birth_end(live_run *run)
{
    if (run->birth)
        hf_birth_decline(run->birth);
    run->birth = NULL;
}

void hf_birth_answer(hf_birth *birth, const hf_unit *unit)
{
    hf_mutex_lock(&birth->lock);
    birth->status = hf_unit_outcome(unit, NULL);
    if (!birth->status)
        birth->command_seq = hf_unit_after(unit, 0)->command_seq;
    birth->state = BIRTH_ANSWERED;
    hf_cond_signal(&birth->moved);
    hf_mutex_unlock(&birth->lock);
}

/* ---- the core's side */

static bool core_fits(hf_core *core, const hf_birth *birth)
{
    const hf_intake_target *made = &birth->target;

    return !core->failure.status && core->flying < FLYING_MOST &&
           !hf_deadlines_count(core->backlog) &&
           !hf_map_int_get(core->plain, (uint64_t)birth->workflow->key) &&
           (!core->o.shards || hf_shards_epoch(core->o.shards, made->base.shard) == made->epoch);
}

/* What there is to know of the run, as its rows will have it. */
static hf_status run_fill(hf_core *core, live_run *run, const hf_intake_target *made, hf_err *err)
{
    hf_ulid id = hf_decide_id(made->created_us, run->key, 0);
    hf_status st;

    run->core = core;
    run->base = made->base;
    run->epoch = made->epoch;
    run->info = (hf_decide_run){.base = &run->base,
                                .namespace_key = made->instance.namespace_key,
                                .number = made->run.number,
                                .definition = made->definition,
                                .created_us = made->created_us,
                                .execution_deadline_us = made->run.execution_deadline_us,
                                .run_deadline_us = made->run.run_deadline_us,
                                .parent_run = HF_NONE};
    hf_ulid_print(&id, run->run_id);
    run->mem = hf_mem_new();
    if (!run->mem)
        return hf_err_nomem(err, "a live run");
    st = hf_live_text(run, made->instance.id, &run->info.instance_id, err);
    if (!st)
        st = hf_live_text(run, made->instance.type, &run->info.type, err);
    if (!st)
        st = hf_live_text(run, made->queue, &run->info.queue, err);
    if (!st && made->instance.business_key.ptr)
        st = hf_live_text(run, made->instance.business_key, &run->info.business_key, err);
    return st;
}

/* The run in memory, ready for its turn; NULL: the birth is declined. */
static live_run *run_make(hf_core *core, hf_birth *birth)
{
    live_run *run = hf_core_live(core, birth->target.base.run);
    hf_err err;
    hf_status st;

    if (!run) {
        hf_birth_decline(birth);
        return NULL;
    }
    run->birth = birth;
    st = run_fill(core, run, &birth->target, &err);
    if (!st)
        st = hf_live_attach(core, run, birth->workflow, &err);
    if (!st)
        st = hf_live_arm(core, run, &err);
    if (st) {
        hf_core_remove(core, run);
        return NULL;
    }
    hf_live_count(core, run);
    hf_list_add_last(&core->lru, &run->place);
    return run;
}

void hf_birth_take(hf_core *core, hf_birth *birth)
{
    int64_t definition = birth->workflow->key;
    live_run *run;
    hf_unit *unit;
    bool misfit = false;

    if (!birth_move(birth, BIRTH_WAITS, BIRTH_TAKEN) || !core_fits(core, birth)) {
        hf_birth_decline(birth);
        return;
    }
    run = run_make(core, birth);
    if (!run)
        return;
    unit = birth->unit;
    birth->unit = NULL;
    if (!hf_turn_first(core, run, unit, &misfit) && misfit)
        (void)!hf_map_int_put(core->plain, (uint64_t)definition, core, NULL, NULL);
}

/* Takes the births out of a list of messages. */
static core_message *births_take(core_message **list)
{
    core_message *births = NULL;

    while (*list) {
        core_message *message = *list;

        if (message->kind != CORE_MESSAGE_BIRTH) {
            list = &message->next;
            continue;
        }
        *list = message->next;
        message->next = births;
        births = message;
    }
    return births;
}

static void births_decline(core_message *births)
{
    while (births) {
        core_message *next = births->next;

        hf_birth_decline(births->birth);
        hf_alloc_free(births);
        births = next;
    }
}

void hf_births_shut(hf_core *core)
{
    core_message *births;

    hf_mutex_lock(&core->lock);
    core->barren = true;
    births = births_take(&core->inbox);
    core->inbox_tail = &core->inbox;
    while (*core->inbox_tail)
        core->inbox_tail = &(*core->inbox_tail)->next;
    hf_mutex_unlock(&core->lock);
    births_decline(births);
    births_decline(births_take(&core->taken));
}

/* ---- the caller's side */

bool hf_birth_wanted(hf_engine *engine, const hf_intake_start *start)
{
    const hf_registry_workflow *workflow = hf_registry_find_workflow(engine->registry, start->type);

    if (!workflow || workflow->machine || start->available_us || start->priority ||
        start->concurrency_key.ptr || start->rate_limit.ptr ||
        !hf_engine_app_supports(engine->app, start->compatibility))
        return false;
    if (hf_core_lost(engine->core, NULL)) /* nobody might take its place, should it get lost, too */
        return false;
    return engine->births || (engine->mode == ENGINE_THREADS && hf_writer_busy(engine->writer));
}

/* NULL: no memory; the unit is gone then. */
static hf_birth *birth_new(hf_engine *engine, hf_unit *unit, const hf_intake_target *target)
{
    hf_birth *birth = hf_alloc(sizeof(*birth));

    if (!birth) {
        hf_unit_free(unit);
        return NULL;
    }
    *birth =
        (hf_birth){.target = *target,
                   .workflow = hf_registry_find_workflow(engine->registry, target->instance.type),
                   .unit = unit,
                   .holders = 2};
    if (!hf_mutex_init(&birth->lock, NULL)) {
        if (!hf_cond_init(&birth->moved, NULL))
            return birth;
        hf_mutex_fini(&birth->lock);
    }
    hf_unit_free(unit);
    hf_alloc_free(birth);
    return NULL;
}

/* False: nobody is there to take it. */
static bool birth_send(hf_engine *engine, hf_birth *birth)
{
    hf_core *core = engine->core;
    core_message *message;
    bool sent;

    if (engine->mode != ENGINE_THREADS) {
        hf_birth_take(core, birth);
        return true;
    }
    message = hf_alloc(sizeof(*message));
    if (!message)
        return false;
    *message = (core_message){.kind = CORE_MESSAGE_BIRTH, .birth = birth};
    hf_mutex_lock(&core->lock);
    sent = !core->barren;
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

static void birth_await(hf_engine *engine, hf_birth *birth)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + PATIENCE_US;

    if (engine->mode != ENGINE_THREADS)
        while (birth->state == BIRTH_TAKEN && hf_engine_write(engine))
            ;
    hf_mutex_lock(&birth->lock);
    while (birth->state == BIRTH_WAITS &&
           hf_cond_wait_until(&birth->moved, &birth->lock, until_us) != HF_TIMEOUT)
        ;
    if (birth->state == BIRTH_WAITS)
        birth->state = BIRTH_WITHDRAWN;
    while (birth->state == BIRTH_TAKEN)
        hf_cond_wait(&birth->moved, &birth->lock);
    hf_mutex_unlock(&birth->lock);
}

hf_status hf_birth_commit(hf_engine *engine, hf_unit *unit, const hf_intake_target *target,
                          int64_t *out_command_seq, bool *out_born, hf_err *err)
{
    hf_birth *birth = birth_new(engine, unit, target);
    hf_status st = HF_OK;

    *out_born = false;
    if (!birth)
        return hf_err_nomem(err, "a start");
    if (birth_send(engine, birth))
        birth_await(engine, birth);
    else
        hf_birth_decline(birth);
    if (birth->state == BIRTH_ANSWERED && !birth->status) {
        *out_born = true;
        *out_command_seq = birth->command_seq;
    } else if (birth->state == BIRTH_ANSWERED && birth->status == HF_EXISTS &&
               target->epoch == HF_NONE) {
        st = hf_err_set(err, HF_EXISTS, "the instance exists already");
    } /* else what is wrong with it is found out the plain way */
    birth_drop(birth);
    return st;
}
