/* rein.c: see rein.h. What is looked at is the inside of an engine; what is done is done by its own
   threads. */
#include "lib/rein.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "engine/command_impl.h"
#include "engine/machine.h"
#include "engine/remote_room.h"
#include "engine/schedule.h"
#include "lib/engine.h"
#include "task/matching_impl.h"

/* ---- held and let go */

static void hold_run(hf_core *core, hf_core_call *call)
{
    hf_rein *rein = (hf_rein *)(void *)((char *)(void *)call - offsetof(struct hf_rein, hold));
    const hf_err over = {.status = HF_STOPPED, .text = "the case ends it"};

    hf_mutex_lock(&rein->lock);
    rein->here = true;
    hf_cond_broadcast(&rein->changed);
    while (core && !rein->go)
        hf_cond_wait(&rein->changed, &rein->lock);
    if (core && rein->end)
        hf_core_fail(core, HF_STOPPED, &over);
    rein->held = false;
    hf_cond_broadcast(&rein->changed);
    hf_mutex_unlock(&rein->lock);
}

void hf_rein_open(hf_rein *rein)
{
    hf_err err = {0};

    *rein = (hf_rein){.hold.run = hold_run};
    hf_test_ok(hf_mutex_init(&rein->lock, &err), &err, "a lock");
    hf_test_ok(hf_cond_init(&rein->changed, &err), &err, "a condition");
}

void hf_rein_close(hf_rein *rein)
{
    hf_cond_fini(&rein->changed);
    hf_mutex_fini(&rein->lock);
}

void hf_rein_hold(hf_rein *rein, hf_engine *engine)
{
    hf_err err = {0};

    rein->held = true;
    rein->here = false;
    rein->go = false;
    rein->end = false;
    hf_test_ok(hf_core_call_post(engine->core, &rein->hold, &err), &err, "hold the core");
    hf_mutex_lock(&rein->lock);
    while (!rein->here) /* before the clock is moved */
        hf_cond_wait(&rein->changed, &rein->lock);
    hf_mutex_unlock(&rein->lock);
}

static void let_go(hf_rein *rein, bool end)
{
    hf_mutex_lock(&rein->lock);
    rein->go = true;
    rein->end = end;
    hf_cond_broadcast(&rein->changed);
    while (rein->held)
        hf_cond_wait(&rein->changed, &rein->lock);
    hf_mutex_unlock(&rein->lock);
}

void hf_rein_let_go(hf_rein *rein)
{
    let_go(rein, false);
}

void hf_rein_end(hf_rein *rein)
{
    let_go(rein, true);
}

/* ---- looked at */

typedef struct core_look {
    hf_core_call call;
    hf_rein *rein;
    hf_core_state state;
    bool done; /* under the rein's lock */
} core_look;

/* Sweeps look for what is lost; they are no work of the world's. */
static bool is_sweep(const core_alarm *alarm)
{
    return alarm->kind == CORE_ALARM_SWEEP || alarm->kind == CORE_ALARM_RETENTION ||
           alarm->kind == CORE_ALARM_HORIZON ||
           (alarm->kind == CORE_ALARM_SCHEDULE && alarm->key == HF_SCHEDULE_SWEEP);
}

static bool attempts_run(const hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *job;

    while (hf_map_int_next(core->jobs, &at, &key, &job))
        if (!((const hf_job *)job)->far)
            return true;
    return false;
}

static hf_core_state core_state(hf_core *core)
{
    hf_core_state state = {.next_us = INT64_MAX};
    size_t at = 0;
    uint64_t key;
    void *value;

    hf_mutex_lock(&core->lock);
    state.busy = core->inbox || core->ended;
    hf_mutex_unlock(&core->lock);
    state.busy |= core->taken || core->ready || core->flying || atomic_load(&core->claims) ||
                  atomic_load(&core->handbacks) || hf_deadlines_count(core->backlog) ||
                  hf_deadlines_count(core->steps);
    state.works = attempts_run(core);
    for (at = 0; hf_map_int_next(core->runs, &at, &key, &value);) {
        const core_far *far = ((const live_run *)value)->far;

        state.leases |= far && far->steps && far->lease.held;
    }
    at = 0;
    while (hf_map_int_next(core->timers, &at, &key, &value)) {
        const core_alarm *alarm = value;

        if (!is_sweep(alarm) && alarm->due_us < state.next_us)
            state.next_us = alarm->due_us;
    }
    state.busy |= state.next_us <= hf_core_now(core);
    state.pause_us = hf_machine_pause_end(core);
    return state;
}

static void look_run(hf_core *core, hf_core_call *call)
{
    core_look *look = (core_look *)(void *)call;
    hf_rein *rein = look->rein;

    look->state = core ? core_state(core) : (hf_core_state){.busy = true, .works = true};
    hf_mutex_lock(&rein->lock);
    look->done = true;
    hf_cond_broadcast(&rein->changed);
    hf_mutex_unlock(&rein->lock);
}

hf_core_state hf_rein_look(hf_rein *rein, const hf_engine *engine)
{
    core_look look = {.call.run = look_run, .rein = rein};
    hf_err err = {0};

    hf_test_ok(hf_core_call_post(engine->core, &look.call, &err), &err, "ask the core");
    hf_mutex_lock(&rein->lock);
    while (!look.done)
        hf_cond_wait(&rein->changed, &rein->lock);
    hf_mutex_unlock(&rein->lock);
    return look.state;
}

/* A node that gave a shard away forgets what was handed out there when the lease would end. */
static bool is_held(const hf_engine *engine, const task_record *record)
{
    return record->state != HF_TASK_OFFERED &&
           (record->owner || !engine->node || hf_node_owns(engine->node, record->shard));
}

hf_task_look hf_rein_tasks(const hf_engine *engine)
{
    hf_matching *matching = engine->matching;
    hf_task_look look = {0};
    size_t at = 0;
    uint64_t subject;
    void *value;

    hf_mutex_lock(&matching->lock);
    for (int kind = 0; kind < HF_TASK_KINDS; kind++)
        for (at = 0; hf_map_int_next(matching->records[kind], &at, &subject, &value);)
            look.held += is_held(engine, value);
    look.orders = matching->orders;
    look.fronts = matching->fronts;
    hf_mutex_unlock(&matching->lock);
    return look;
}

int64_t hf_rein_pause_end(hf_engine *engine)
{
    const hf_db_value now = hf_db_int(hf_clock_wall_us(engine->clock));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;
    int64_t end_us = INT64_MAX;

    hf_test_ok(
        hf_db_query(hf_engine_read_begin(engine), HF_STMT_ACTIVITY_RETRY, &now, 1, &cursor, &err),
        &err, "pauses");
    hf_test_ok(hf_db_step(cursor, &row, &err), &err, "pauses");
    if (row && !hf_db_column_null(cursor, 0))
        end_us = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    hf_engine_read_end(engine);
    return end_us;
}

/* ---- what code waits for */

typedef struct wait_look {
    remote_visit visit;
    const hf_registry_workflow *workflow;
    hf_value task;
    hf_value history;
    char waiting[256];
} wait_look;

static void wait_work(remote_visit *visit, remote_room *room)
{
    wait_look *look = visit->arg;
    hf_mem *mem = hf_mem_new();
    remote_live *live = NULL;
    hf_turn turn;
    hf_err err = {0};

    if (!hf_remote_live_new(room, look->task, look->workflow, &live, &err)) {
        hf_replay_freeze(live->replay);
        if (!hf_remote_live_feed(live, look->history, mem, &err) &&
            !hf_replay_turn(live->replay, &turn, &err))
            (void)snprintf(look->waiting, sizeof(look->waiting), "%s",
                           hf_replay_waiting(live->replay));
        hf_remote_live_drop(room, live);
    }
    hf_mem_free(mem);
}

/* A machine waits for what its history says, whoever reads it. */
static void machine_wait(wait_look *look)
{
    const hf_replay_info info = {.definition = look->workflow->definition,
                                 .machine = look->workflow->machine};
    remote_live live = {.mem = hf_mem_new()};
    hf_err err = {0};

    hf_test_ok(hf_replay_new(&info, &live.replay, &err), &err, "fold a machine");
    hf_test_ok(hf_remote_live_feed(&live, look->history, live.mem, &err), &err, "fold a machine");
    (void)snprintf(look->waiting, sizeof(look->waiting), "%s", hf_replay_waiting(live.replay));
    hf_replay_free(live.replay);
    hf_mem_free(live.mem);
}

static bool is_paused(hf_engine *engine, const char *id)
{
    return hf_test_count(engine, id, "RunPaused") > hf_test_count(engine, id, "RunResumed");
}

const char *hf_rein_status(hf_engine *engine, hf_engine *const *programs, size_t count,
                           const char *id)
{
    const char *text = hf_test_status(engine, id);
    wait_look look = {.visit = {.work = wait_work, .arg = &look}, .waiting = ""};
    hf_mem *mem = hf_mem_of_engine(engine);
    const hf_engine *program = NULL;
    char run_id[HF_ULID_TEXT_SIZE];
    hf_intake_target target;
    hf_call call;

    if (strcmp(text, "waiting") == 0 && is_paused(engine, id))
        return "waiting paused";
    if (strcmp(text, "waiting") != 0 || hf_call_begin(&call, engine) ||
        hf_call_find(&call, id, &target))
        return text;
    hf_command_id_print(target.created_us, target.base.run, run_id);
    look.task = hf_json_(mem, "{'run_id': %s, 'workflow_id': %s}", run_id, id);
    ck_assert(!hf_task_events(engine, id, run_id, 0, target.base.last_seq, mem, &look.history));
    for (size_t i = 0; i < count && !look.workflow; i++) {
        program = programs[i];
        look.workflow = hf_registry_find_workflow(program->registry, target.instance.type);
    }
    if (look.workflow && look.workflow->machine)
        machine_wait(&look);
    else if (look.workflow)
        hf_remote_visit(
            hf_remote_room_of(program->remote ? program->remote : program->local, run_id),
            &look.visit);
    return look.waiting[0] ? hf_mem_format(mem, "%s %s", text, look.waiting) : text;
}
