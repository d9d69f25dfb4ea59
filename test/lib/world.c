/* world.c: see world.h. Each action drafts one unit the way the engine does, so that the invariants
 * hold after it. */
#include "lib/world.h"

#include <string.h>

#include "base/assert.h"
#include "base/id.h"

enum { WORLD_START_S = 1767225600, TICK_US = 1000, RESULT_BYTES_MAX = 65536 };

hf_status hf_world_open(hf_world *world, const char *address, const hf_world_options *options,
                        hf_err *err)
{
    const hf_world_options none = {0};
    hf_store_options store = {.size = sizeof(store), .role = HF_STORE_OWNER, .create = true};
    hf_writer_options writer = {.size = sizeof(writer)};
    hf_status st;

    *world = (hf_world){0};
    if (!options)
        options = &none;
    world->manual = options->manual;
    writer.manual = options->manual;
    writer.sync_us = options->sync_us;
    store.vfs = options->vfs;
    store.create = !options->existing;
    world->clock = hf_clock_new_virtual((int64_t)WORLD_START_S * 1000000);
    if (!world->clock)
        return hf_err_nomem(err, "a clock");
    store.clock = world->clock;
    st = hf_stager_init(&world->stager, err);
    if (!st)
        st = hf_store_open(address, &store, &world->store, err);
    if (!st)
        st = hf_namespace_make(hf_store_writer(world->store), HF_SLICE("default"),
                               hf_clock_wall_us(world->clock), &world->namespace_key, err);
    if (!st)
        st = hf_writer_open(world->store, &writer, &world->writer, err);
    if (st)
        hf_world_close(world);
    return st;
}

void hf_world_close(hf_world *world)
{
    hf_writer_close(world->writer);
    hf_store_close(world->store);
    hf_stager_fini(&world->stager);
    hf_clock_free_virtual(world->clock);
    *world = (hf_world){0};
}

static int64_t world_now(hf_world *world)
{
    hf_clock_advance(world->clock, TICK_US);
    return hf_clock_wall_us(world->clock);
}

/* Keys for a unit; an empty block is the test's own mistake. */
static hf_status keys_take(hf_world *world, int64_t *keys, size_t count, hf_err *err)
{
    int64_t first = 0;
    hf_status st = hf_keys_take(hf_writer_keys(world->writer), (int64_t)count, &first, err);

    for (size_t i = 0; i < count; i++)
        keys[i] = first + (int64_t)i;
    return st;
}

/* The unit stays the world's: its outcome is read after the writer was stepped. */
static void unit_kept(hf_unit *unit, void *ctx)
{
    (void)unit;
    (void)ctx;
}

static hf_status manual_commit(hf_world *world, hf_unit *unit, hf_err *err)
{
    const char *text = NULL;
    hf_status st = hf_writer_offer(world->writer, unit, err);

    if (st)
        return st;
    while (hf_writer_step(world->writer) > 0)
        ;
    st = hf_unit_outcome(unit, &text);
    return st ? hf_err_set(err, st, "%s", text) : HF_OK;
}

/* Seals and commits; frees the unit. On success the run handle is as the unit left it. */
static hf_status world_commit(hf_world *world, hf_unit *unit, hf_run_base *out_after,
                              hf_run_base *out_created, hf_err *err)
{
    hf_status st = hf_unit_seal(unit, &world->stager, err);

    if (!st)
        st = world->manual ? manual_commit(world, unit, err)
                           : hf_writer_commit(world->writer, unit, err);
    if (!st) {
        world->acknowledged++;
        *out_after = *hf_unit_after(unit, 0);
        if (out_created)
            *out_created = *hf_unit_after(unit, 1);
    }
    hf_unit_free(unit);
    return st;
}

/* A manual writer calls `done`; a threaded one is waited for with hf_writer_commit, which brings
 * its own. */
static hf_unit *unit_begin(hf_world *world, hf_err *err)
{
    hf_unit *unit = hf_unit_new(world->manual ? unit_kept : NULL, NULL);

    if (!unit)
        (void)hf_err_nomem(err, "a unit");
    return unit;
}

static hf_payload_value payload_make(hf_world *world, hf_unit *unit, size_t part, size_t bytes)
{
    static _Thread_local char text[RESULT_BYTES_MAX]; /* small values are copied by the caller */

    HF_ASSERT(bytes >= 2 && bytes <= sizeof(text));
    for (size_t i = 0; i < bytes; i++)
        text[i] =
            (char)('a' + (int)((i * 7 + i / 13) % 26)); /* compresses like text, not like zeros */
    text[0] = text[bytes - 1] = '"';
    return hf_unit_payload(unit, &world->stager, hf_writer_keys(world->writer), part,
                           HF_PAYLOAD_CODEC_JSON, hf_slice_from(text, bytes));
}

static hf_row *workflow_task(hf_unit *unit, int64_t key, int64_t run, int64_t now_us)
{
    return hf_row_task_wake(hf_unit_mem(unit), key, run, HF_SLICE("default"), now_us, now_us);
}

/* The turn is over. */
static void task_end(hf_unit *unit, const hf_world_run *run)
{
    hf_unit_row(unit, 0, hf_row_task_done(hf_unit_mem(unit), run->base.run, run->base.message_seq));
}

/* The events and rows every new run begins with. keys: instance, run, task, command. */
static void run_begin(hf_world *world, hf_unit *unit, size_t part, const hf_instance_row *instance,
                      const hf_run_base *base, const int64_t keys[4], hf_command_source source,
                      int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, part);
    hf_ulid command = hf_ulid_form(now_us, keys[3], 0);
    const hf_command_row row = {.key = keys[3],
                                .instance = instance->key,
                                .run = base->run,
                                .type = HF_COMMAND_TYPE_START,
                                .status = HF_COMMAND_STATUS_ACCEPTED,
                                .outcome = HF_CMD_OUTCOME_STARTED_NEW,
                                .rejection = HF_NONE,
                                .scope = HF_TARGET_SCOPE_INSTANCE,
                                .source = source,
                                .command_ahead = 1,
                                .message_ahead = HF_NONE,
                                .state = HF_NONE,
                                .recorded_us = now_us,
                                .applied_us = now_us,
                                .closed_us = now_us};

    hf_event_begin(events, HF_EVENT_START_ACCEPTED, now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, command);
    hf_event_put_text(events, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, command);
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, instance->type);
    hf_unit_row(unit, part, hf_row_command_new(hf_unit_mem(unit), &row));
    hf_unit_row(unit, part, workflow_task(unit, keys[2], base->run, now_us));
    hf_unit_row(unit, part,
                hf_row_summary_new(hf_unit_mem(unit), base->run, world->namespace_key,
                                   instance->key, HF_RUN_STATUS_PENDING, now_us));
}

static hf_instance_row instance_make(hf_world *world, const char *id, const int64_t keys[2],
                                     int64_t now_us)
{
    return (hf_instance_row){.key = keys[0],
                             .namespace_key = world->namespace_key,
                             .id = hf_slice_of(id),
                             .shard = keys[0] % 256,
                             .type = HF_SLICE("order"),
                             .current_run = keys[1],
                             .run_count = 1,
                             .created_us = now_us};
}

static hf_run_base base_make(const hf_instance_row *instance)
{
    return (hf_run_base){.run = instance->current_run,
                         .instance = instance->key,
                         .shard = instance->shard,
                         .status = HF_RUN_STATUS_PENDING,
                         .closed_reason = HF_NONE,
                         .closed_us = HF_NONE};
}

static hf_run_row run_make(int64_t number, int64_t now_us)
{
    return (hf_run_row){.number = number,
                        .created_us = now_us,
                        .execution_deadline_us = HF_NONE,
                        .run_deadline_us = HF_NONE,
                        .queue = HF_SLICE("default"),
                        .definition = HF_NONE};
}

static hf_world_run handle_make(const char *id, const hf_run_base *base, int64_t number,
                                int64_t task, int64_t now_us)
{
    return (hf_world_run){.base = *base,
                          .id = hf_slice_of(id),
                          .number = number,
                          .created_us = now_us,
                          .workflow_task = task};
}

hf_status hf_world_start(hf_world *world, const char *id, hf_world_run *out_run, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t keys[4];
    hf_unit *unit = NULL;
    hf_instance_row instance;
    hf_run_base base;
    hf_run_row run = run_make(1, now_us);
    hf_status st = keys_take(world, keys, 4, err);

    if (st || !(unit = unit_begin(world, err)))
        return st ? st : HF_NOMEM;
    instance = instance_make(world, id, keys, now_us);
    base = base_make(&instance);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_NEW, &instance, &base, &run);
    run_begin(world, unit, 0, &instance, &base, keys, HF_COMMAND_SOURCE_EMBEDDED, now_us);
    st = world_commit(world, unit, &base, NULL, err);
    if (!st)
        *out_run = handle_make(id, &base, 1, keys[2], now_us);
    return st;
}

/* Opens a unit that appends what the workflow decided. */
static hf_unit *decide_begin(hf_world *world, const hf_world_run *run, hf_err *err)
{
    hf_unit *unit = unit_begin(world, err);

    if (unit)
        hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_NEVER);
    return unit;
}

static void status_set(hf_unit *unit, int64_t run, hf_run_status status)
{
    hf_unit_status(unit, 0, status);
    hf_unit_row(unit, 0, hf_row_summary_set(hf_unit_mem(unit), run, status));
}

/* An activity becomes open: event and row. */
static void activity_schedule(hf_unit *unit, int64_t run, int64_t key, int64_t step, bool started,
                              int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, 0);
    const hf_activity_row row = {.key = key,
                                 .run = run,
                                 .step = step,
                                 .type = HF_SLICE("charge"),
                                 .status = started ? HF_ACTIVITY_STATUS_RUNNING
                                                   : HF_ACTIVITY_STATUS_PENDING,
                                 .attempt = started ? 1 : 0,
                                 .max_attempts = 3,
                                 .deadline_us = HF_NONE,
                                 .close_deadline_us = HF_NONE,
                                 .available_us = started ? HF_NONE : now_us,
                                 .scheduled_us = now_us,
                                 .started_us = started ? now_us : HF_NONE,
                                 .closed_us = HF_NONE};

    hf_event_begin(events, HF_EVENT_ACTIVITY_SCHEDULED, now_us, step);
    hf_event_put_id(events, HF_KEY_ACTIVITY_EXECUTION_ID, hf_ulid_form(now_us, key, 0));
    hf_event_put_text(events, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
    hf_event_put_payload(events, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("[42]")));
    hf_unit_row(unit, 0, hf_row_activity_new(hf_unit_mem(unit), &row));
}

static void activity_start(hf_unit *unit, int64_t step, int64_t attempt, int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    hf_event_begin(events, HF_EVENT_ACTIVITY_STARTED, now_us, step);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, attempt);
}

static void activity_end(hf_world *world, hf_unit *unit, const hf_world_run *run, size_t bytes,
                         int64_t now_us)
{
    hf_event_builder *events = hf_unit_events(unit, 0);

    hf_event_begin(events, HF_EVENT_ACTIVITY_COMPLETED, now_us, run->activity_step);
    hf_event_put_int(events, HF_KEY_ATTEMPT_NUMBER, run->attempt);
    hf_event_put_payload(events, HF_KEY_RESULT, payload_make(world, unit, 0, bytes));
    hf_unit_row(unit, 0, hf_row_delete(hf_unit_mem(unit), HF_OP_ACTIVITY_DELETE, run->activity));
}

hf_status hf_world_activity(hf_world *world, hf_world_run *run, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t activity = 0;
    hf_unit *unit = NULL;
    hf_status st = keys_take(world, &activity, 1, err);

    HF_ASSERT(run->workflow_task && !run->activity);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    activity_schedule(unit, run->base.run, activity, run->step + 1, false, now_us);
    task_end(unit, run);
    status_set(unit, run->base.run, HF_RUN_STATUS_WAITING);
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->workflow_task = 0;
    run->activity = activity;
    run->activity_step = ++run->step;
    run->attempt = 0;
    return HF_OK;
}

hf_status hf_world_claim(hf_world *world, hf_world_run *run, hf_err *err)
{
    int64_t now_us = world_now(world);
    hf_unit *unit = decide_begin(world, run, err);
    const hf_activity_row activity = {.key = run->activity,
                                      .status = HF_ACTIVITY_STATUS_RUNNING,
                                      .attempt = run->attempt + 1,
                                      .deadline_us = HF_NONE,
                                      .available_us = HF_NONE,
                                      .started_us = now_us,
                                      .closed_us = HF_NONE};
    hf_status st;

    if (!unit)
        return HF_NOMEM;
    HF_ASSERT(run->activity && run->attempt == 0);
    activity_start(unit, run->activity_step, run->attempt + 1, now_us);
    hf_unit_row(unit, 0, hf_row_activity_set(hf_unit_mem(unit), &activity));
    st = world_commit(world, unit, &run->base, NULL, err);
    if (!st)
        run->attempt++;
    return st;
}

hf_status hf_world_complete(hf_world *world, hf_world_run *run, size_t result_bytes, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t task = 0;
    hf_unit *unit = NULL;
    hf_status st = keys_take(world, &task, 1, err);

    HF_ASSERT(run->activity && run->attempt > 0);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    activity_end(world, unit, run, result_bytes, now_us);
    hf_unit_row(unit, 0, workflow_task(unit, task, run->base.run, now_us));
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->activity = run->attempt = 0;
    run->workflow_task = task;
    return HF_OK;
}

hf_status hf_world_step(hf_world *world, hf_world_run *run, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t activity = 0;
    hf_unit *unit = NULL;
    hf_status st = keys_take(world, &activity, 1, err);

    HF_ASSERT(run->activity && run->attempt > 0);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    activity_end(world, unit, run, 12, now_us);
    activity_schedule(unit, run->base.run, activity, run->step + 1, true, now_us);
    activity_start(unit, run->step + 1, 1, now_us);
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->activity = activity;
    run->activity_step = ++run->step;
    run->attempt = 1;
    return HF_OK;
}

hf_status hf_world_timer(hf_world *world, hf_world_run *run, int64_t delay_us, hf_err *err)
{
    int64_t now_us = world_now(world);
    hf_timer_row timer = {.run = run->base.run,
                          .step = run->step + 1,
                          .status = HF_TIMER_STATUS_PENDING,
                          .due_us = now_us + delay_us,
                          .created_us = now_us,
                          .closed_us = HF_NONE};
    hf_event_builder *events;
    hf_unit *unit = NULL;
    hf_status st = keys_take(world, &timer.key, 1, err);

    HF_ASSERT(run->workflow_task && !run->timer);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_TIMER_SCHEDULED, now_us, timer.step);
    hf_event_put_id(events, HF_KEY_TIMER_ID, hf_ulid_form(now_us, timer.key, 0));
    hf_event_put_int(events, HF_KEY_DELAY_SECONDS, (delay_us + 999999) / 1000000);
    hf_event_put_time(events, HF_KEY_FIRE_AT, timer.due_us);
    hf_unit_row(unit, 0, hf_row_timer_new(hf_unit_mem(unit), &timer));
    task_end(unit, run);
    status_set(unit, run->base.run, HF_RUN_STATUS_WAITING);
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->workflow_task = 0;
    run->timer = timer.key;
    run->timer_step = ++run->step;
    run->timer_due_us = timer.due_us;
    return HF_OK;
}

hf_status hf_world_fire(hf_world *world, hf_world_run *run, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t task = 0;
    hf_event_builder *events;
    hf_unit *unit = NULL;
    hf_status st = keys_take(world, &task, 1, err);

    HF_ASSERT(run->timer);
    if (now_us < run->timer_due_us) {
        hf_clock_advance(world->clock, run->timer_due_us - now_us);
        now_us = run->timer_due_us;
    }
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_TIMER_FIRED, now_us, run->timer_step);
    hf_event_put_time(events, HF_KEY_FIRED_AT, now_us);
    hf_unit_row(unit, 0, hf_row_delete(hf_unit_mem(unit), HF_OP_TIMER_DELETE, run->timer));
    hf_unit_row(unit, 0, workflow_task(unit, task, run->base.run, now_us));
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->timer = 0;
    run->workflow_task = task;
    return HF_OK;
}

/* The unit of an arriving signal. *out_command is its key. */
static hf_unit *signal_draft(hf_world *world, const hf_world_run *run, const char *name,
                             size_t bytes, hf_unit_done *done, void *ctx, int64_t *out_command,
                             hf_err *err)
{
    int64_t now_us = world_now(world);
    hf_unit *unit = hf_unit_new(done, ctx);
    hf_event_builder *events;
    hf_command_row row = {.instance = run->base.instance,
                          .run = run->base.run,
                          .type = HF_COMMAND_TYPE_SIGNAL,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome = HF_CMD_OUTCOME_SIGNAL_RECEIVED,
                          .rejection = HF_NONE,
                          .scope = HF_TARGET_SCOPE_INSTANCE,
                          .source = HF_COMMAND_SOURCE_EMBEDDED,
                          .command_ahead = 1,
                          .message_ahead = 1,
                          .name = hf_slice_of(name),
                          .state = HF_SIGNAL_STATUS_RECEIVED,
                          .recorded_us = now_us,
                          .applied_us = HF_NONE,
                          .closed_us = HF_NONE};

    if (!unit) {
        (void)hf_err_nomem(err, "a unit");
        return NULL;
    }
    if (keys_take(world, &row.key, 1, err)) {
        hf_unit_free(unit);
        return NULL;
    }
    hf_unit_append(unit, &run->base, HF_NONE, HF_REBASE_WHILE_OPEN);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_SIGNAL_RECEIVED, now_us, 0);
    hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, hf_ulid_form(now_us, row.key, 0));
    hf_event_put_id(events, HF_KEY_SIGNAL_ID, hf_ulid_form(now_us, row.key, 0));
    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, row.name);
    hf_event_put_payload(events, HF_KEY_ARGUMENTS, payload_make(world, unit, 0, bytes));
    hf_unit_row(unit, 0, hf_row_command_new(hf_unit_mem(unit), &row));
    *out_command = row.key;
    return unit;
}

hf_unit *hf_world_signal_unit(hf_world *world, const hf_world_run *run, const char *name,
                              hf_unit_done *done, void *ctx, hf_err *err)
{
    int64_t command = 0;
    hf_unit *unit = signal_draft(world, run, name, 16, done, ctx, &command, err);

    if (unit && hf_unit_seal(unit, &world->stager, err)) {
        hf_unit_free(unit);
        unit = NULL;
    }
    return unit;
}

hf_status hf_world_signal(hf_world *world, hf_world_run *run, const char *name, size_t bytes,
                          hf_err *err)
{
    int64_t command = 0;
    hf_unit *unit = signal_draft(world, run, name, bytes, world->manual ? unit_kept : NULL, NULL,
                                 &command, err);
    hf_status st;

    if (!unit)
        return HF_NOMEM;
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->signal_command = command;
    run->signal_message = run->base.message_seq;
    return HF_OK;
}

hf_status hf_world_apply(hf_world *world, hf_world_run *run, const char *name, hf_err *err)
{
    int64_t now_us = world_now(world);
    hf_unit *unit = decide_begin(world, run, err);
    hf_event_builder *events;
    hf_ulid signal = hf_ulid_form(0, run->signal_command, 0);
    hf_status st;

    if (!unit)
        return HF_NOMEM;
    HF_ASSERT(run->workflow_task && run->signal_command);
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_SIGNAL_WAIT_OPENED, now_us, run->step + 1);
    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, hf_slice_of(name));
    hf_event_begin(events, HF_EVENT_MESSAGE_CURSOR_ADVANCED, now_us, 0);
    hf_event_put_int(events, HF_KEY_PREVIOUS_POSITION, run->base.message_cursor);
    hf_event_put_int(events, HF_KEY_NEW_POSITION, run->signal_message);
    hf_event_begin(events, HF_EVENT_SIGNAL_APPLIED, now_us, run->step + 1);
    hf_event_put_id(events, HF_KEY_SIGNAL_ID, signal);
    hf_event_put_text(events, HF_KEY_SIGNAL_NAME, hf_slice_of(name));
    hf_unit_cursor(unit, 0, run->signal_message);
    hf_unit_row(unit, 0,
                hf_row_command_close(hf_unit_mem(unit), run->signal_command,
                                     HF_CMD_OUTCOME_SIGNAL_RECEIVED, HF_SIGNAL_STATUS_APPLIED,
                                     now_us, now_us));
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->step++;
    run->signal_command = run->signal_message = 0;
    return HF_OK;
}

hf_status hf_world_child(hf_world *world, hf_world_run *run, const char *child_id,
                         hf_world_run *out_child, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t keys[5];
    hf_unit *unit = NULL;
    hf_event_builder *events;
    hf_instance_row instance;
    hf_run_base child;
    hf_run_row row = run_make(1, now_us);
    hf_link_row link;
    hf_status st = keys_take(world, keys, 5, err);

    HF_ASSERT(run->workflow_task && !run->child_run);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    instance = instance_make(world, child_id, keys, now_us);
    child = base_make(&instance);
    link = (hf_link_row){.key = keys[4],
                         .kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                         .parent_run = run->base.run,
                         .step = run->step + 1,
                         .child_instance = instance.key,
                         .child_run = child.run,
                         .policy = HF_PARENT_CLOSE_ABANDON,
                         .created_us = now_us};
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_CHILD_WORKFLOW_SCHEDULED, now_us, link.step);
    hf_event_put_id(events, HF_KEY_CHILD_CALL_ID, hf_ulid_form(now_us, link.key, 0));
    hf_event_put_id(events, HF_KEY_CHILD_WORKFLOW_RUN_ID, hf_ulid_form(now_us, child.run, 0));
    hf_event_put_text(events, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, instance.id);
    hf_event_begin(events, HF_EVENT_CHILD_RUN_STARTED, now_us, link.step);
    hf_event_put_id(events, HF_KEY_CHILD_WORKFLOW_RUN_ID, hf_ulid_form(now_us, child.run, 0));
    hf_unit_row(unit, 0, hf_row_link_new(hf_unit_mem(unit), &link));
    task_end(unit, run);
    status_set(unit, run->base.run, HF_RUN_STATUS_WAITING);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_CHILD, &instance, &child, &row);
    run_begin(world, unit, 1, &instance, &child, keys, HF_COMMAND_SOURCE_WORKFLOW, now_us);
    st = world_commit(world, unit, &run->base, &child, err);
    if (st)
        return st;
    run->workflow_task = 0;
    run->child_run = child.run;
    run->child_link = link.key;
    run->child_step = ++run->step;
    *out_child = handle_make(child_id, &child, 1, keys[2], now_us);
    out_child->parent_run = run->base.run;
    return HF_OK;
}

hf_status hf_world_child_done(hf_world *world, hf_world_run *run, const hf_world_run *child,
                              hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t task = 0;
    hf_unit *unit = NULL;
    hf_event_builder *events;
    hf_status st = keys_take(world, &task, 1, err);

    HF_ASSERT(run->child_run == child->base.run && child->parent_inbox);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_CHILD_RUN_COMPLETED, now_us, run->child_step);
    hf_event_put_id(events, HF_KEY_CHILD_WORKFLOW_RUN_ID,
                    hf_ulid_form(child->created_us, child->base.run, 0));
    hf_event_put_text(events, HF_KEY_CHILD_STATUS, HF_SLICE("completed"));
    hf_unit_row(unit, 0, hf_row_delete(hf_unit_mem(unit), HF_OP_INBOX_DELETE, child->parent_inbox));
    hf_unit_row(unit, 0, workflow_task(unit, task, run->base.run, now_us));
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->child_run = 0;
    run->workflow_task = task;
    return HF_OK;
}

hf_status hf_world_continue(hf_world *world, hf_world_run *run, hf_world_run *out_next, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t keys[3]; /* run, task, link */
    hf_unit *unit = NULL;
    hf_event_builder *events;
    hf_instance_row instance;
    hf_run_base next;
    hf_run_row row = run_make(run->number + 1, now_us);
    hf_link_row link;
    hf_status st = keys_take(world, keys, 3, err);

    HF_ASSERT(run->workflow_task && !run->activity && !run->timer && !run->child_run);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    instance = (hf_instance_row){.key = run->base.instance,
                                 .shard = run->base.shard,
                                 .type = HF_SLICE("order"),
                                 .current_run = keys[0],
                                 .run_count = run->number + 1};
    next = base_make(&instance);
    next.message_seq = run->base.message_seq;
    next.message_cursor = run->base.message_cursor;
    link = (hf_link_row){.key = keys[2],
                         .kind = HF_LINK_TYPE_CONTINUE_AS_NEW,
                         .parent_run = run->base.run,
                         .step = HF_NONE,
                         .child_instance = run->base.instance,
                         .child_run = keys[0],
                         .policy = HF_PARENT_CLOSE_ABANDON,
                         .created_us = now_us};
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, now_us, run->step + 1);
    hf_event_put_id(events, HF_KEY_CONTINUED_TO_RUN_ID, hf_ulid_form(now_us, keys[0], 0));
    hf_event_put_text(events, HF_KEY_CLOSED_REASON, HF_SLICE("continued"));
    task_end(unit, run);
    hf_unit_row(unit, 0, hf_row_link_new(hf_unit_mem(unit), &link));
    hf_unit_row(unit, 0,
                hf_row_summary_set(hf_unit_mem(unit), run->base.run, HF_RUN_STATUS_COMPLETED));
    hf_unit_close(unit, 0, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED, now_us);
    (void)hf_unit_create(unit, HF_UNIT_INSTANCE_CONTINUE, &instance, &next, &row);
    events = hf_unit_events(unit, 1);
    hf_event_begin(events, HF_EVENT_START_ACCEPTED, now_us, 0);
    hf_event_put_text(events, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    hf_event_begin(events, HF_EVENT_WORKFLOW_STARTED, now_us, 0);
    hf_event_put_text(events, HF_KEY_WORKFLOW_TYPE, instance.type);
    hf_event_put_id(events, HF_KEY_CONTINUED_FROM_RUN_ID,
                    hf_ulid_form(run->created_us, run->base.run, 0));
    hf_unit_row(unit, 1, workflow_task(unit, keys[1], keys[0], now_us));
    hf_unit_row(unit, 1,
                hf_row_summary_new(hf_unit_mem(unit), keys[0], world->namespace_key,
                                   run->base.instance, HF_RUN_STATUS_PENDING, now_us));
    st = world_commit(world, unit, &run->base, &next, err);
    if (st)
        return st;
    run->workflow_task = 0;
    *out_next = handle_make(run->id.ptr, &next, run->number + 1, keys[1], now_us);
    return HF_OK;
}

hf_status hf_world_finish(hf_world *world, hf_world_run *run, hf_err *err)
{
    int64_t now_us = world_now(world);
    int64_t inbox = 0;
    hf_unit *unit = NULL;
    hf_event_builder *events;
    hf_status st = keys_take(world, &inbox, 1, err);

    HF_ASSERT(run->workflow_task && !run->activity && !run->timer && !run->child_run);
    if (st || !(unit = decide_begin(world, run, err)))
        return st ? st : HF_NOMEM;
    events = hf_unit_events(unit, 0);
    hf_event_begin(events, HF_EVENT_WORKFLOW_COMPLETED, now_us, 0);
    hf_event_put_payload(events, HF_KEY_OUTPUT,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("\"done\"")));
    task_end(unit, run);
    hf_unit_row(unit, 0,
                hf_row_summary_set(hf_unit_mem(unit), run->base.run, HF_RUN_STATUS_COMPLETED));
    if (run->parent_run)
        hf_unit_row(unit, 0,
                    hf_row_inbox_new(hf_unit_mem(unit), inbox, run->parent_run, 1, run->base.run,
                                     now_us, HF_SLICE("{}")));
    hf_unit_close(unit, 0, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_COMPLETED, now_us);
    st = world_commit(world, unit, &run->base, NULL, err);
    if (st)
        return st;
    run->workflow_task = 0;
    run->parent_inbox = run->parent_run ? inbox : 0;
    return HF_OK;
}

hf_status hf_world_life(hf_world *world, const char *id, hf_err *err)
{
    hf_world_run run;
    hf_status st = hf_world_start(world, id, &run, err);

    for (int i = 0; !st && i < 2; i++) {
        st = hf_world_activity(world, &run, err);
        if (!st)
            st = hf_world_claim(world, &run, err);
        if (!st)
            st = hf_world_complete(world, &run, i ? 3000 : 40, err);
    }
    if (!st)
        st = hf_world_timer(world, &run, 1500000, err);
    if (!st)
        st = hf_world_signal(world, &run, "approve", 20, err);
    if (!st)
        st = hf_world_fire(world, &run, err);
    if (!st)
        st = hf_world_apply(world, &run, "approve", err);
    return st ? st : hf_world_finish(world, &run, err);
}

hf_status hf_world_reload(hf_world *world, hf_world_run *run, hf_err *err)
{
    hf_db *db = NULL;
    hf_status st;

    if (world->manual)
        return hf_run_base_get(hf_store_writer(world->store), run->base.run, &run->base, err);
    st = hf_store_connect(world->store, HF_DB_READ, &db, err);
    if (!st)
        st = hf_run_base_get(db, run->base.run, &run->base, err);
    hf_db_close(db);
    return st;
}
