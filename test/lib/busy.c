/* busy.c: see busy.h. Whoever stages is the only one who moves these runs, so each unit is based on
   the one before without asking. */
#include "lib/busy.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/id.h"
#include "base/thread.h"

enum { ID_SIZE = 48, START_KEYS = 4 };

typedef struct busy_run {
    hf_run_base base;
    int64_t activity;
    int64_t step;
} busy_run;

typedef struct busy {
    hf_world *world;
    hf_mutex mutex;
    hf_cond cond;
    int64_t staged;
    int64_t done;
    hf_err failure; /* the first */
} busy;

static void unit_done(hf_unit *unit, void *ctx)
{
    busy *busy_state = ctx;
    const char *text = NULL;
    hf_status st = hf_unit_outcome(unit, &text);

    hf_mutex_lock(&busy_state->mutex);
    busy_state->done++;
    if (st && !busy_state->failure.status)
        (void)hf_err_set(&busy_state->failure, st, "%s", text);
    hf_cond_signal(&busy_state->cond);
    hf_mutex_unlock(&busy_state->mutex);
    hf_unit_free(unit);
}

/* Until everything staged is committed. */
static hf_status busy_wait(busy *state, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&state->mutex);
    while (state->done < state->staged)
        hf_cond_wait(&state->cond, &state->mutex);
    st = state->failure.status;
    if (st && err)
        *err = state->failure;
    hf_mutex_unlock(&state->mutex);
    return st;
}

static hf_status keys_take(busy *state, int64_t count, int64_t *out_first, hf_err *err)
{
    hf_keys *keys = hf_writer_keys(state->world->writer);
    hf_status st = hf_keys_take(keys, count, out_first, err);

    while (st == HF_BUSY) { /* the writer takes another block with its next batch */
        st = busy_wait(state, err);
        if (!st)
            st = hf_keys_take(keys, count, out_first, err);
    }
    return st;
}

static hf_status unit_stage(busy *state, hf_unit *unit, hf_run_base *out_after, hf_err *err)
{
    hf_status st = hf_unit_seal(unit, &state->world->stager, err);

    if (!st) {
        *out_after = *hf_unit_after(unit, 0);
        st = hf_writer_submit(state->world->writer, unit, err);
    }
    if (st) {
        hf_unit_free(unit);
        return st;
    }
    state->staged++;
    return HF_OK;
}

/* The next activity is scheduled and started. */
static void activity_begin(hf_unit *unit, const busy_run *run, int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, 0);
    const hf_activity_row activity = {.key = run->activity,
                                      .run = run->base.run,
                                      .step = run->step,
                                      .type = HF_SLICE("charge"),
                                      .status = HF_ACTIVITY_STATUS_RUNNING,
                                      .attempt = 1,
                                      .max_attempts = 3,
                                      .deadline_us = HF_NONE,
                                      .close_deadline_us = HF_NONE,
                                      .available_us = HF_NONE,
                                      .scheduled_us = now_us,
                                      .started_us = now_us,
                                      .closed_us = HF_NONE};

    hf_event_begin(events, HF_EVENT_ACTIVITY_SCHEDULED, now_us, run->step);
    hf_event_put_id(events, HF_KEY_ACTIVITY_EXECUTION_ID, hf_ulid_form(now_us, run->activity, 0));
    hf_event_put_text(events, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
    hf_event_put_payload(
        events, HF_KEY_ARGUMENTS,
        hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("[{\"order\":42,\"amount\":90.5}]")));
    hf_event_begin(events, HF_EVENT_ACTIVITY_STARTED, now_us, run->step);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_unit_row(unit, 0, hf_row_activity_new(hf_unit_mem(unit), &activity));
}

static void start_rows(busy *state, hf_unit *unit, const busy_run *run, int64_t command,
                       int64_t now_us)
{
    hf_mem *mem = hf_unit_mem(unit);
    const hf_command_row row = {.key = command,
                                .instance = run->base.instance,
                                .run = run->base.run,
                                .type = HF_COMMAND_TYPE_START,
                                .status = HF_COMMAND_STATUS_ACCEPTED,
                                .outcome = HF_CMD_OUTCOME_STARTED_NEW,
                                .rejection = HF_NONE,
                                .scope = HF_TARGET_SCOPE_INSTANCE,
                                .source = HF_COMMAND_SOURCE_EMBEDDED,
                                .command_ahead = 1,
                                .message_ahead = HF_NONE,
                                .state = HF_NONE,
                                .recorded_us = now_us,
                                .applied_us = now_us,
                                .closed_us = now_us};

    hf_unit_row(unit, 0, hf_row_command_new(mem, &row));
    hf_unit_row(unit, 0,
                hf_row_summary_new(mem, run->base.run, state->world->namespace_key,
                                   run->base.instance, HF_RUN_STATUS_WAITING, now_us));
}

/* keys: instance, run, command, activity. */
static hf_status run_start(busy *state, const char *name, size_t number, busy_run *out_run,
                           hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(state->world->clock);
    char id[ID_SIZE];
    int64_t first = 0;
    hf_status st = keys_take(state, START_KEYS, &first, err);
    hf_unit *unit = st ? NULL : hf_unit_new(unit_done, state);
    hf_event_builder *events;
    hf_instance_row instance = {.key = first,
                                .namespace_key = state->world->namespace_key,
                                .id = hf_slice_of(id),
                                .shard = first % 256,
                                .type = HF_SLICE("order"),
                                .current_run = first + 1,
                                .run_count = 1,
                                .created_us = now_us};
    const hf_run_row row = {.number = 1,
                            .created_us = now_us,
                            .execution_deadline_us = HF_NONE,
                            .run_deadline_us = HF_NONE,
                            .queue = HF_SLICE("default"),
                            .definition = HF_NONE};
    busy_run run = {.base = {.run = first + 1,
                             .instance = first,
                             .shard = first % 256,
                             .status = HF_RUN_STATUS_WAITING,
                             .closed_reason = HF_NONE,
                             .closed_us = HF_NONE},
                    .activity = first + 3,
                    .step = 1};

    if (st || !unit)
        return st ? st : hf_err_nomem(err, "a unit");
    (void)snprintf(id, sizeof(id), "%s-%zu", name, number);
    instance.id = hf_slice_of(id);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &instance, &run.base, &row);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_START_ACCEPTED, now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, hf_ulid_form(now_us, first + 2, 0));
    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, now_us, 0);
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, instance.type);
    start_rows(state, unit, &run, first + 2, now_us);
    activity_begin(unit, &run, now_us);
    st = unit_stage(state, unit, &run.base, err);
    *out_run = run;
    return st;
}

static hf_status run_step(busy *state, busy_run *run, hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(state->world->clock);
    int64_t old = run->activity;
    hf_status st = keys_take(state, 1, &run->activity, err);
    hf_unit *unit = st ? NULL : hf_unit_new(unit_done, state);
    hf_event_builder *events;

    if (st || !unit)
        return st ? st : hf_err_nomem(err, "a unit");
    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_NEVER);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_ACTIVITY_COMPLETED, now_us, run->step++);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, 1);
    hf_event_put_payload(
        events, HF_KEY_RESULT,
        hf_payload_inline(HF_PAYLOAD_CODEC_JSON,
                          HF_SLICE("{\"status\":\"charged\",\"receipt\":\"8f14e45fceea167a\"}")));
    hf_unit_row(unit, 0, hf_row_delete(hf_unit_mem(unit), HF_OP_ACTIVITY_DELETE, old));
    activity_begin(unit, run, now_us);
    return unit_stage(state, unit, &run->base, err);
}

static hf_status runs_make(busy *state, const char *name, busy_run *runs, size_t count,
                           size_t steps, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++)
        st = run_start(state, name, i, &runs[i], err);
    if (!st)
        st = busy_wait(state, err); /* a unit appends only to runs that are committed */
    for (size_t step = 1; !st && step < steps; step++) {
        hf_clock_advance(state->world->clock, 1000);
        for (size_t i = 0; !st && i < count; i++)
            st = run_step(state, &runs[i], err);
    }
    return st;
}

hf_status hf_busy_make(hf_world *world, const char *name, size_t runs, size_t steps,
                       int64_t *out_events, hf_err *err)
{
    busy state = {.world = world};
    busy_run *made = hf_alloc_array(runs, sizeof(*made));
    hf_status st = made ? hf_mutex_init(&state.mutex, err) : hf_err_nomem(err, "runs");
    hf_status waited;

    if (st) {
        hf_alloc_free(made);
        return st;
    }
    st = hf_cond_init(&state.cond, err);
    if (!st) {
        st = runs_make(&state, name, made, runs, steps, err);
        waited = busy_wait(&state, st ? NULL : err);
        st = st ? st : waited;
        hf_cond_fini(&state.cond);
    }
    hf_mutex_fini(&state.mutex);
    hf_alloc_free(made);
    *out_events = (int64_t)(runs * (4 + 3 * (steps - 1)));
    return st;
}
