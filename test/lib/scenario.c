/* scenario.c: see scenario.h. Every scenario is a straight line of actions; a failed action skips
 * the rest. */
#include "lib/scenario.h"

#include <stdio.h>

#include "base/assert.h"

enum { FLOCK = 6, ID_BYTES = 32, KEYS_TO_TAKE = 60000, BIG_RESULT_BYTES = 60000 };

static hf_status stage_open(hf_stage *stage, hf_err *err)
{
    const hf_world_options options = {.vfs = stage->vfs, .manual = true};

    return hf_world_open(&stage->world, stage->address, &options, err);
}

static void stage_close(hf_stage *stage)
{
    if (!stage->world.writer)
        return;
    HF_ASSERT(stage->closings < HF_STAGE_CLOSINGS_MAX);
    stage->commits += (int64_t)hf_writer_stats_get(stage->world.writer).batches;
    stage->closing_from[stage->closings] = stage->now(stage->ctx);
    hf_world_close(&stage->world);
    stage->closing_to[stage->closings++] = stage->now(stage->ctx);
}

static void stage_note(hf_stage *stage, const hf_run_base *after)
{
    int64_t commit = stage->commits + (int64_t)hf_writer_stats_get(stage->world.writer).batches;

    hf_ledger_note(stage->ledger, after, commit, stage->now(stage->ctx));
}

/* Notes what an action left, when it succeeded. */
static hf_status noted(hf_stage *stage, hf_status st, const hf_world_run *run)
{
    if (!st)
        stage_note(stage, &run->base);
    return st;
}

static hf_status run_start(hf_stage *stage, const char *id, hf_world_run *out_run, hf_err *err)
{
    return noted(stage, hf_world_start(&stage->world, id, out_run, err), out_run);
}

static hf_status run_work(hf_stage *stage, hf_world_run *run, size_t bytes, hf_err *err)
{
    hf_world *world = &stage->world;
    hf_status st = noted(stage, hf_world_activity(world, run, err), run);

    if (!st)
        st = noted(stage, hf_world_claim(world, run, err), run);
    if (!st)
        st = noted(stage, hf_world_complete(world, run, bytes, err), run);
    return st;
}

/* A timer, a signal while it runs, and the workflow that takes both in. */
static hf_status run_wait(hf_stage *stage, hf_world_run *run, hf_err *err)
{
    hf_world *world = &stage->world;
    hf_status st = noted(stage, hf_world_timer(world, run, 1500000, err), run);

    if (!st)
        st = noted(stage, hf_world_signal(world, run, "approve", 20, err), run);
    if (!st)
        st = noted(stage, hf_world_fire(world, run, err), run);
    if (!st)
        st = noted(stage, hf_world_apply(world, run, "approve", err), run);
    return st;
}

static hf_status run_finish(hf_stage *stage, hf_world_run *run, hf_err *err)
{
    return noted(stage, hf_world_finish(&stage->world, run, err), run);
}

static hf_status life(hf_stage *stage, const char *id, size_t bytes, hf_err *err)
{
    hf_world_run run;
    hf_status st = run_start(stage, id, &run, err);

    if (!st)
        st = run_work(stage, &run, bytes, err);
    if (!st)
        st = run_wait(stage, &run, err);
    return st ? st : run_finish(stage, &run, err);
}

/* ---- many units in one transaction */

static void unit_noted(hf_unit *unit, void *ctx)
{
    hf_stage *stage = ctx;

    hf_status st = hf_unit_outcome(unit, NULL);

    if (!st)
        stage_note(stage, hf_unit_after(unit, 0));
    else if (!stage->failed)
        stage->failed = st;
    hf_unit_free(unit);
}

/* Stages a signal for the run as the handle knows it; the writer sees it with its next step. */
static hf_status signal_stage(hf_stage *stage, const hf_world_run *run, hf_err *err)
{
    hf_unit *unit = hf_world_signal_unit(&stage->world, run, "nudge", unit_noted, stage, err);
    hf_status st = unit ? hf_writer_offer(stage->world.writer, unit, err) : HF_NOMEM;

    if (st)
        hf_unit_free(unit);
    return st;
}

static hf_status writer_drain(hf_stage *stage, hf_err *err)
{
    hf_status st;

    stage->failed = HF_OK;
    while (hf_writer_step(stage->world.writer) > 0)
        ;
    st = hf_writer_failure(stage->world.writer, NULL);
    if (st)
        return hf_err_set(err, HF_STOPPED, "the writer stopped");
    return stage->failed ? hf_err_set(err, stage->failed, "a staged unit failed") : HF_OK;
}

static hf_status flock_start(hf_stage *stage, hf_world_run flock[FLOCK], char ids[FLOCK][ID_BYTES],
                             hf_err *err)
{
    hf_status st = HF_OK;

    for (int i = 0; !st && i < FLOCK; i++) {
        (void)snprintf(ids[i], ID_BYTES, "flock-%d", i);
        st = run_start(stage, ids[i], &flock[i], err);
    }
    return st;
}

/* ---- the scenarios */

static hf_status play_create(hf_stage *stage, hf_err *err)
{
    hf_world_run run;
    hf_status st = stage_open(stage, err);

    stage_close(stage);
    if (!st)
        st = stage_open(stage, err);
    if (!st)
        st = run_start(stage, "first", &run, err);
    return st ? st : run_finish(stage, &run, err);
}

static hf_status play_lives(hf_stage *stage, hf_err *err)
{
    hf_status st = stage_open(stage, err);

    if (!st)
        st = life(stage, "order-1", 40, err);
    if (!st)
        st = life(stage, "order-2", 3000, err);
    return st;
}

/* Two to eight units a transaction, two of them for one run. */
static hf_status play_batches(hf_stage *stage, hf_err *err)
{
    hf_world_run flock[FLOCK];
    char ids[FLOCK][ID_BYTES];
    hf_status st = stage_open(stage, err);

    if (!st)
        st = flock_start(stage, flock, ids, err);
    for (int round = 0; !st && round < 6; round++) {
        for (int i = 0; !st && i < 2 + round % FLOCK; i++)
            st = signal_stage(stage, &flock[i % FLOCK], err);
        if (!st)
            st = signal_stage(stage, &flock[0], err);
        if (!st)
            st = signal_stage(stage, &flock[round % FLOCK], err);
        if (!st)
            st = writer_drain(stage, err);
    }
    return st;
}

static hf_status play_family(hf_stage *stage, hf_err *err)
{
    hf_world *world = &stage->world;
    hf_world_run parent;
    hf_world_run child;
    hf_world_run next;
    hf_status st = stage_open(stage, err);

    if (!st)
        st = run_start(stage, "parent", &parent, err);
    for (int i = 0; !st && i < 2; i++) {
        st = noted(stage, hf_world_child(world, &parent, i ? "child-1" : "child-0", &child, err),
                   &parent);
        if (!st)
            stage_note(stage, &child.base);
        if (!st)
            st = run_finish(stage, &child, err);
        if (!st)
            st = noted(stage, hf_world_child_done(world, &parent, &child, err), &parent);
        if (!st)
            st = noted(stage, hf_world_continue(world, &parent, &next, err), &parent);
        if (!st)
            stage_note(stage, &next.base);
        parent = st ? parent : next;
    }
    return st ? st : run_finish(stage, &parent, err);
}

/* A decision that does not know of the signals before it must not pass, unless those failed. */
static hf_status decision_refused(const hf_stage *stage, hf_status st, hf_err *err)
{
    if (st == HF_CONFLICT)
        return HF_OK;
    if (st == HF_OK && stage->failed)
        return hf_err_set(err, stage->failed, "a staged unit failed");
    return st ? st : hf_err_set(err, HF_ERROR, "a stale decision was accepted");
}

/* Facts from outside arrive while a decision is drafted: the decision is refused, made again and
 * accepted. */
static hf_status play_conflicts(hf_stage *stage, hf_err *err)
{
    hf_world *world = &stage->world;
    hf_world_run run;
    hf_world_run stale;
    hf_status st = stage_open(stage, err);

    if (!st)
        st = run_start(stage, "contested", &run, err);
    for (int i = 0; !st && i < 4; i++) {
        stale = run;
        st = signal_stage(stage, &run, err);
        if (!st)
            st = signal_stage(stage, &run, err);
        if (!st) {
            stage->failed = HF_OK;
            st = hf_world_activity(world, &stale, err); /* commits the two signals on its way */
            st = decision_refused(stage, st, err);
        }
        if (!st)
            st = signal_stage(stage, &run, err); /* knows less than there is: based anew */
        if (!st)
            st = writer_drain(stage, err);
        if (!st)
            st = hf_world_reload(world, &run, err);
        if (!st)
            st = run_work(stage, &run, 40, err);
        if (!st) {
            st = hf_world_start(world, "contested", &stale, err);
            st = st == HF_EXISTS ? HF_OK
                 : st            ? st
                                 : hf_err_set(err, HF_ERROR, "an instance was made twice");
        }
    }
    return st ? st : run_finish(stage, &run, err);
}

static hf_status play_checkpoints(hf_stage *stage, hf_err *err)
{
    static const char *const ids[] = {"a", "b", "c"};
    hf_world_run open_run;
    hf_status st = stage_open(stage, err);

    if (!st)
        st = run_start(stage, "long", &open_run, err);
    for (int i = 0; !st && i < 3; i++) {
        st = run_work(stage, &open_run, 3000, err);
        if (!st)
            st = hf_db_checkpoint(hf_store_writer(stage->world.store), err);
        if (!st)
            st = life(stage, ids[i], 40, err);
        if (!st && i == 1) {
            stage_close(stage);
            st = stage_open(stage, err);
        }
    }
    return st ? st : run_finish(stage, &open_run, err);
}

static hf_status play_keys(hf_stage *stage, hf_err *err)
{
    hf_world_run run;
    int64_t first = 0;
    hf_status st = stage_open(stage, err);

    if (!st)
        st = run_start(stage, "greedy", &run, err);
    for (int i = 0; !st && i < 4; i++) {
        st = hf_keys_take(hf_writer_keys(stage->world.writer), KEYS_TO_TAKE, &first, err);
        if (!st)
            st = run_work(stage, &run, 40, err);
    }
    return st ? st : run_finish(stage, &run, err);
}

/* Enough pages that the writer writes its log back by itself and begins it anew. */
static hf_status play_bulk(hf_stage *stage, hf_err *err)
{
    hf_world_run run;
    hf_status st = stage_open(stage, err);

    if (!st)
        st = run_start(stage, "bulky", &run, err);
    for (int i = 0; !st && i < 40; i++)
        st = run_work(stage, &run, BIG_RESULT_BYTES, err);
    return st ? st : run_finish(stage, &run, err);
}

const hf_scenario hf_scenarios[] = {
    {"create", play_create, true, 1},        {"lives", play_lives, false, 1},
    {"batches", play_batches, false, 1},     {"family", play_family, false, 1},
    {"conflicts", play_conflicts, false, 1}, {"checkpoints", play_checkpoints, false, 1},
    {"keys", play_keys, false, 1},           {"bulk", play_bulk, false, 16},
};
const int hf_scenario_count = (int)(sizeof(hf_scenarios) / sizeof(hf_scenarios[0]));

/* A disk with an empty store on it; made once in a process. */
static const hf_simdisk *empty_store(const char *address)
{
    static hf_simdisk *disk;
    hf_simvfs *vfs = disk ? NULL : hf_simvfs_new("sim-empty");
    hf_stage stage = {.address = address, .vfs = "sim-empty"};

    if (!vfs)
        return disk;
    if (hf_simvfs_record(vfs) && stage_open(&stage, NULL) == HF_OK) {
        hf_world_close(&stage.world);
        disk = hf_simdisk_new(hf_simvfs_log(vfs), 0);
        HF_ASSERT(disk && hf_simdisk_forward(disk, hf_simvfs_operation(vfs)));
    }
    return disk;
}

bool hf_scenario_prepare(const hf_scenario *scenario, hf_simvfs *vfs, const char *address)
{
    const hf_simdisk *disk = scenario->makes_store ? NULL : empty_store(address);

    return scenario->makes_store || (disk && hf_simdisk_kill(disk, hf_simvfs_take, vfs));
}

hf_status hf_scenario_play(const hf_scenario *scenario, hf_stage *stage, hf_err *err)
{
    hf_status st = scenario->play(stage, err);

    stage_close(stage);
    return st;
}
