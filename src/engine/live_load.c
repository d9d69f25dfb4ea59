/* live_load.c: how a run comes into memory: its rows, its code, and the events that are committed.
   Loading reads the store and changes nothing there. */
#include "base/alloc.h"
#include "engine/attempt.h"
#include "engine/core_impl.h"
#include "engine/errand.h"
#include "engine/fleet.h"
#include "engine/live_rows.h"
#include "engine/open_work.h"
#include "engine/replay_check.h"
#include "engine/shape.h"
#include "engine/stream.h"
#include "model/event_codec.h"
#include "model/limit.h"
#include "store/payload.h"
#include "store/snapshot.h"

static hf_status payload_find(live_run *run, hf_mem *mem, const hf_payload_value *reference,
                              hf_slice *out_bytes, hf_err *err)
{
    hf_slice drafted;

    if (run->draft && hf_unit_detached(run->draft, reference->digest, &drafted)) {
        *out_bytes = hf_slice_from(hf_mem_text(mem, drafted), drafted.len);
        return out_bytes->ptr ? HF_OK : hf_err_nomem(err, "a value");
    }
    return hf_payload_get(run->core->db, mem, run->core->stager.sha, run->key, reference, out_bytes,
                          err);
}

/* Code may ask for values at a moment when the core is not its thread's any more. */
static hf_status payload_read(void *ctx, hf_mem *mem, const hf_payload_value *reference,
                              hf_slice *out_bytes, hf_err *err)
{
    live_run *run = ctx;
    bool inside = false;
    hf_status st;

    if (run->seat && !hf_seat_pause(run->seat, &inside))
        return hf_err_set(err, HF_STOPPED, "the code took too long and was given up");
    st = payload_find(run, mem, reference, out_bytes, err);
    if (run->seat)
        hf_seat_resume(run->seat, inside);
    return st;
}

/* The code of the run: its type's, or the function's that an async child runs. NULL: another
   process has it. */
static hf_status code_find(hf_core *core, live_run *run, const hf_registry_workflow **out_code,
                           hf_err *err)
{
    hf_status st = HF_OK;

    run->code = run->info.type;
    if (hf_slice_equal(run->info.type, HF_SLICE(HF_ASYNC_TYPE)) && run->info.definition != HF_NONE)
        st = hf_snapshot_type(core->db, run->mem, run->info.definition, &run->code, err);
    if (st == HF_NOTFOUND)
        st = HF_OK;
    *out_code = st ? NULL : hf_registry_find_workflow(core->o.registry, run->code);
    return st;
}

/* Messages that an earlier run of the instance received keep their numbers. */
static hf_status numbers_read(hf_core *core, live_run *run, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    hf_db_cursor *cursor = NULL;
    bool found = true;
    size_t at = 0;
    hf_status st = hf_db_query(core->db, HF_STMT_COMMAND_OPEN, &key, 1, &cursor, err);

    while (!st && found) {
        size_t look;

        st = hf_db_step(cursor, &found, err);
        if (st || !found)
            break;
        for (look = at; look < run->messages_open &&
                        run->messages[look].command != hf_db_column_int(cursor, 0);)
            look++;
        if (look == run->messages_open)
            continue;
        run->messages[look].number = hf_db_column_int(cursor, 3);
        run->ordinals[look] = 0;
        at = look + 1;
    }
    hf_db_end(cursor);
    return st;
}

/* What its row says; the texts move to the run. */
static hf_status info_take(hf_core *core, live_run *run, const live_rows *rows, hf_err *err)
{
    hf_ulid id = hf_ulid_form(rows->info.created_us, run->key, 0);
    hf_status st;

    run->info = rows->info;
    run->info.base = &run->base;
    run->info.parent_run = HF_NONE;
    run->crashes = rows->crashes;
    run->quarantined = rows->blocked == HF_RUN_BLOCKED_QUARANTINE;
    run->stuck = rows->blocked == HF_RUN_BLOCKED_REPLAY;
    hf_ulid_print(&id, run->run_id);
    st = hf_live_text(run, rows->info.instance_id, &run->info.instance_id, err);
    if (!st)
        st = hf_live_text(run, rows->info.type, &run->info.type, err);
    if (!st)
        st = hf_live_text(run, rows->info.queue, &run->info.queue, err);
    if (!st && rows->info.business_key.ptr)
        st = hf_live_text(run, rows->info.business_key, &run->info.business_key, err);
    return st || !rows->called ? st
                               : hf_open_parent_read(core->db, run->mem, run->key, &run->info, err);
}

typedef hf_status live_seen(hf_core *core, live_run *run, const hf_event *event, hf_err *err);

static hf_status chunk_feed(hf_core *core, live_run *run, hf_mem *mem, const live_chunk *read,
                            live_seen *seen, hf_err *err)
{
    hf_event *events = NULL;
    size_t count = 0;
    size_t skip;
    hf_status st = hf_event_chunk_decode(mem, read->body, &events, &count, err);

    skip = !st && run->fed >= read->first ? (size_t)(run->fed - read->first + 1) : 0;
    if (st || skip >= count)
        return st;
    for (size_t i = skip; !st && seen && i < count; i++)
        st = seen(core, run, &events[i], err);
    if (!st)
        st = hf_live_feed(run, events + skip, count - skip, read->first + (int64_t)skip, err);
    if (!st)
        hf_live_settle_messages(run, events + skip, count - skip);
    return st;
}

/* Reads the events behind `fed` and feeds them; `seen` (may be NULL) looks at each. */
static hf_status history_feed(hf_core *core, live_run *run, live_seen *seen, hf_err *err)
{
    live_chunk chunks[LIVE_CHUNKS];
    size_t count = LIVE_CHUNKS;
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? HF_OK : hf_err_nomem(err, "events");

    while (!st && count == LIVE_CHUNKS) {
        hf_mem_reset(mem);
        st = hf_live_chunks_read(core->db, run->key, run->fed + 1, mem, chunks, &count, err);
        for (size_t i = 0; !st && i < count; i++)
            st = chunk_feed(core, run, mem, &chunks[i], seen, err);
    }
    hf_mem_free(mem);
    return st;
}

/* The history that came with the run's row, and what is behind it. */
static hf_status chunks_feed(hf_core *core, live_run *run, const live_rows *rows, live_seen *seen,
                             hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < rows->chunk_count; i++)
        st = chunk_feed(core, run, rows->mem, &rows->chunks[i], seen, err);
    return st || !rows->more ? st : history_feed(core, run, seen, err);
}

/* The open activities; one that nobody in this process knows of becomes a start. Its input comes
 * from history, below. */
static hf_status activities_read(hf_core *core, live_run *run, hf_err *err)
{
    const hf_db_value key = hf_db_int(run->key);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(core->db, HF_STMT_ACTIVITY_READ, &key, 1, &cursor, err);

    while (!st && row) {
        hf_open_work work = {0};

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        work.key = hf_db_column_int(cursor, 0);
        work.step = hf_db_column_int(cursor, 1);
        work.attempt = hf_db_column_int(cursor, 4);
        st = hf_live_open_add(run, &work, err);
        if (!st)
            st = hf_attempt_found(run, cursor, err);
    }
    hf_db_end(cursor);
    return st;
}

/* The timers of a run that a command has made are armed by nobody else. */
static bool timer_arm(hf_core *core, const live_run *run, const hf_open_work *work)
{
    const core_alarm alarm = {.kind = CORE_ALARM_TIMER,
                              .run = run->key,
                              .key = work->key,
                              .step = work->step,
                              .timer_kind = work->timer_kind};
    const core_due *due = run->due;

    while (due && (due->activity || due->timer != work->key))
        due = due->next;
    return due || hf_core_alarm_set(core, &alarm, work->due_us); /* else it is due already */
}

static hf_status timers_take(hf_core *core, live_run *run, const live_rows *rows, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < rows->timer_count; i++) {
        st = hf_live_open_add(run, &rows->timers[i], err);
        if (!st && !timer_arm(core, run, &rows->timers[i]))
            st = hf_err_nomem(err, "a timer");
    }
    return st;
}

/* A value of an event, in the job's arena; ptr NULL when the event has none. */
static hf_status value_read(hf_core *core, live_run *run, const hf_event *event, hf_event_key key,
                            hf_job *job, hf_slice *out_value, hf_err *err)
{
    hf_payload_value payload;

    if (!hf_event_payload(event, key, &payload))
        return HF_OK;
    if (payload.form != HF_PAYLOAD_FORM_INLINE)
        return hf_payload_get(core->db, job->mem, core->stager.sha, run->key, &payload, out_value,
                              err);
    *out_value = hf_slice_from(hf_mem_text(job->mem, payload.bytes), payload.bytes.len);
    return out_value->ptr ? HF_OK : hf_err_nomem(err, "a value of an activity");
}

/* An attempt that waits to begin, or one that a worker elsewhere has. */
static hf_job *job_of_step(const live_run *run, int64_t step)
{
    for (const core_start *start = run->starts; start; start = start->next)
        if (start->job->step == step)
            return start->job;
    for (size_t i = 0; i < run->open_count; i++) {
        hf_job *job = run->open[i].is_timer || run->open[i].step != step
                          ? NULL
                          : hf_map_int_get(run->core->jobs, (uint64_t)run->open[i].key);

        if (job && job->far)
            return job;
    }
    return NULL;
}

/* History completes the starts that were made from rows: what the activity was called with, and how
   far the attempts before got. */
static hf_status input_find(hf_core *core, live_run *run, const hf_event *event, hf_err *err)
{
    hf_payload_value arguments;
    hf_slice queue;
    hf_job *job;
    hf_ulid id;

    if (event->type != HF_EVENT_ACTIVITY_SCHEDULED &&
        event->type != HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED)
        return HF_OK;
    job = job_of_step(run, event->step);
    if (!job)
        return HF_OK;
    if (event->type == HF_EVENT_ACTIVITY_HEARTBEAT_RECORDED)
        return value_read(core, run, event, HF_KEY_PROGRESS, job, &job->last_progress, err);
    if (hf_event_id(event, HF_KEY_ACTIVITY_EXECUTION_ID, &id))
        hf_ulid_print(&id, job->idempotency_key);
    if (!job->queue.ptr && hf_event_text(event, HF_KEY_QUEUE, &queue)) {
        job->queue = hf_slice_from(hf_mem_text(job->mem, queue), queue.len);
        if (!job->queue.ptr)
            return hf_err_nomem(err, "an activity");
    }
    if (job->input.ptr)
        return HF_OK;
    if (hf_event_payload(event, HF_KEY_ARGUMENTS, &arguments))
        job->input_codec = arguments.codec;
    return value_read(core, run, event, HF_KEY_ARGUMENTS, job, &job->input, err);
}

/* Nothing of its history is known yet. */
static void live_reset(live_run *run)
{
    run->started_seq = 0;
    run->memo_seq = 0;
    run->attributes_seq = 0;
    run->unit_messages = 0;
    run->paused = false;
    run->copied = false;
    run->has_children = run->info.number > 1; /* the run before may have left some */
    run->fed = 0;
    run->message_count = 0;
    run->messages_open = 0;
    run->open_count = 0;
}

/* A worker in another process has the code. */
static hf_status live_begin_far(live_run *run, hf_shape shape, hf_err *err)
{
    hf_status st;

    run->info.self = (hf_decide_type){.definition = run->info.definition};
    run->unshaped = shape == HF_SHAPE_UNKNOWN;
    run->replay_info = (hf_replay_info){.far = true,
                                        .far_steps = shape == HF_SHAPE_MACHINE,
                                        .instance_id = run->info.instance_id,
                                        .run_id = hf_slice_of(run->run_id),
                                        .payload = payload_read,
                                        .payload_ctx = run};
    live_reset(run);
    st = hf_replay_new(&run->replay_info, &run->replay, err);
    if (!st && run->far && run->far->lease.held)
        hf_replay_handed(run->replay, run->far->lease.seen_seq);
    return st;
}

hf_status hf_live_attach(hf_core *core, live_run *run, const hf_registry_workflow *workflow,
                         hf_err *err)
{
    hf_slice fingerprint;
    hf_status st =
        hf_live_text(run, hf_slice_of(workflow->snapshot.fingerprint), &fingerprint, err);

    if (st)
        return st;
    run->info.self =
        (hf_decide_type){.definition = workflow->key,
                         .fingerprint = fingerprint,
                         .execution_timeout_us = workflow->definition->execution_timeout * 1000,
                         .run_timeout_us = workflow->definition->run_timeout * 1000};
    live_reset(run);
    run->replay_info = (hf_replay_info){
        .stacks = core->stacks,
        .definition = workflow->definition,
        .machine = workflow->machine,
        .instance_id = run->info.instance_id,
        .run_id = hf_slice_of(run->run_id),
        .random_seed = hf_replay_seed(run->key),
        .fingerprint = fingerprint, /* code that is given up outlives the registry */
        .compatibility = core->o.compatibility,
        .batch_max = hf_limits_get(core->o.limits, HF_LIMIT_COMMAND_BATCH_SIZE),
        .events_max = hf_limits_get(core->o.limits, HF_LIMIT_HISTORY_TRANSACTION_SIZE),
        .payload_max = hf_limits_get(core->o.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES),
        .continue_events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
        .continue_bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard,
        .payload = payload_read,
        .payload_ctx = run,
        .messages = hf_stream_read,
        .messages_ctx = run};
    return hf_replay_new(&run->replay_info, &run->replay, err);
}

/* A closed run is gone for everything but questions. */
static hf_status live_begin(hf_core *core, live_run *run, bool closed_too, const live_rows *rows,
                            bool *out_gone, hf_err *err)
{
    const hf_registry_workflow *workflow;
    hf_shape shape;
    hf_status st;

    run->base = rows->base;
    *out_gone = !closed_too && run->base.closed_us != HF_NONE;
    run->elsewhere = false;
    if (*out_gone)
        return HF_OK;
    run->epoch =
        core->o.shards ? hf_shards_epoch(core->o.shards, run->base.shard) : (int64_t)HF_NONE;
    run->elsewhere = core->o.shards && run->epoch == HF_NONE && !closed_too;
    if (run->elsewhere) {
        *out_gone = true;
        return HF_OK;
    }
    run->mem = hf_mem_new();
    st = run->mem ? info_take(core, run, rows, err) : hf_err_nomem(err, "a live run");
    if (!st && !closed_too)
        st = hf_live_arm(core, run, err);
    if (st)
        return st;
    st = code_find(core, run, &workflow, err);
    if (st)
        return st;
    run->open_count = 0;
    run->unshaped = false;
    if (!workflow && core->o.matching && !run->quarantined) {
        st = hf_shape_read(core, run, rows, &shape, err);
        if (st || shape == HF_SHAPE_MACHINE || !closed_too)
            return st ? st : live_begin_far(run, shape, err);
    }
    if (!workflow || ((run->quarantined || hf_core_away(core, run->key)) && !closed_too)) {
        /* Another build has the code, or it must not be run: the task waits. A deadline does not.
         */
        *out_gone = closed_too || !hf_live_overdue(run, hf_core_now(core));
        return HF_OK;
    }
    return hf_live_attach(core, run, workflow, err);
}

/* Feeds what is committed until row and history agree: a signal may arrive between the two reads.
 */
static hf_status live_catch_up(hf_core *core, live_run *run, live_seen *seen, bool *out_gone,
                               hf_err *err)
{
    hf_status st;

    do {
        st = hf_run_base_get(core->db, run->key, &run->base, err);
        *out_gone = !st && run->base.closed_us != HF_NONE;
        if (!st && !*out_gone)
            st = history_feed(core, run, seen, err);
    } while (!st && !*out_gone && run->fed != run->base.last_seq);
    return st;
}

/* A run that is not in memory; what came in while its history was read is fed as well. */
static hf_status live_fresh(hf_core *core, live_run *run, bool *out_gone, hf_err *err)
{
    live_rows own = {0};
    live_rows *rows = run->ahead ? run->ahead : &own;
    hf_status st = HF_OK;

    if (!run->ahead || rows->base.run == HF_NONE)
        st = hf_live_rows_read(core->db, run->key, rows, err);
    if (!st)
        st = live_begin(core, run, false, rows, out_gone, err);
    if (!st && !*out_gone && rows->activities)
        st = activities_read(core, run, err);
    if (!st && !*out_gone)
        st = timers_take(core, run, rows, err);
    if (!st && !*out_gone && run->replay)
        st = chunks_feed(core, run, rows, input_find, err);
    if (!st && !*out_gone && run->replay && run->fed != run->base.last_seq)
        st = live_catch_up(core, run, input_find, out_gone, err);
    run->untold = !st && !rows->told;
    hf_live_rows_free(&own);
    hf_live_ahead_free(run);
    return st;
}

hf_status hf_live_load(hf_core *core, live_run *run, bool *out_gone, hf_err *err)
{
    bool fresh = run->replay == NULL;
    hf_status st = HF_OK;

    *out_gone = false;
    run->untold = false;
    if (fresh)
        st = live_fresh(core, run, out_gone, err);
    else if (run->info.parent_run != HF_NONE)
        st = hf_open_parent_read(core->db, run->mem, run->key, &run->info,
                                 err); /* another run may have taken the parent's place */
    if (!st && !*out_gone && !fresh)
        st = live_catch_up(core, run, NULL, out_gone, err);
    if (!st && !*out_gone && fresh && !(run->replay && hf_replay_is_far(run->replay)) &&
        !hf_engine_app_supports(core->o.app, run->info.compatibility))
        *out_gone = !hf_live_overdue(run, hf_core_now(core)); /* its task waits for another build */
    if (!st && !*out_gone && fresh && (run->info.number > 1 || run->copied) && run->messages_open)
        st = numbers_read(core, run, err);
    if (!st && !*out_gone && fresh && run->replay)
        st = hf_errand_loaded(run, err);
    hf_live_count(core, run);
    if (run->replay && !hf_list_linked(&run->place))
        hf_list_add_last(&core->lru, &run->place);
    if (!st && !*out_gone)
        run->look = false;
    return hf_err_because(err, st, "load run %lld", (long long)run->key);
}

hf_status hf_live_peek(hf_core *core, int64_t key, live_run **out_run, hf_err *err)
{
    live_run *run = hf_live_new(core, key);
    live_rows rows = {0};
    hf_turn turn;
    bool gone = false;
    hf_status st =
        run ? hf_live_rows_read(core->db, key, &rows, err) : hf_err_nomem(err, "a query");

    if (!st)
        st = live_begin(core, run, true, &rows, &gone, err);
    if (!st && gone)
        st = hf_err_set(err, HF_NOTFOUND, "the definition of run %lld is not loaded here",
                        (long long)key);
    if (!st && run->quarantined)
        st = hf_err_set(err, HF_REPLAY_BLOCKED, "run %lld is quarantined: its code is not run",
                        (long long)key);
    if (!st && hf_core_away(core, key))
        st = hf_err_set(err, HF_TIMEOUT, "task_timeout: the code of run %lld has not yielded",
                        (long long)key);
    if (!st)
        st = chunks_feed(core, run, &rows, NULL, err);
    hf_live_rows_free(&rows);
    if (!st) {
        hf_live_count(core, run);
        hf_core_enter(core, run);
        hf_replay_freeze(run->replay);
        st = hf_replay_turn(run->replay, &turn, err);
        if (!hf_core_exit(core, run)) {
            hf_live_free(NULL, run);
            return hf_err_set(err, HF_TIMEOUT, "task_timeout: the code has not yielded in time");
        }
    }
    if (!st && turn == HF_TURN_BLOCKED)
        st =
            hf_err_set(err, HF_REPLAY_BLOCKED, "%s", hf_replay_mismatch_get(run->replay)->sentence);
    if (st && run)
        hf_live_free(core, run);
    else if (!st)
        *out_run = run;
    return st;
}
