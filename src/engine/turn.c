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
#include "engine/core_impl.h"
#include "model/event_codec.h"
#include "store/payload.h"

enum { RETRY_US = 200000 }; /* after a full disk or an empty key block */

/* Who answers decide's questions: the core, on behalf of one run. */
typedef struct turn {
    hf_core *core;
    live_run *run;
    hf_decide decide;
    hf_decide_host host;
} turn;

static bool host_activity(void *ctx, hf_slice name, hf_retry_policy *out_policy)
{
    const turn *t = ctx;
    const hf_registry_activity *activity = hf_registry_find_activity(t->core->o.registry, name);

    if (activity)
        *out_policy = activity->policy;
    return activity != NULL;
}

static bool host_workflow(void *ctx, hf_slice type, hf_decide_type *out_type)
{
    const turn *t = ctx;
    const hf_registry_workflow *workflow = hf_registry_find_workflow(t->core->o.registry, type);

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

/* The job of an effect: everything that the pool and a later turn need, in an arena of its own. */
static hf_job *job_make(const hf_effect *effect, int64_t scheduled_us,
                        const hf_registry_activity *definition)
{
    hf_job *job = hf_job_new();
    hf_ulid id;

    if (!job)
        return NULL;
    id = hf_decide_id(scheduled_us, effect->key, 0);
    hf_ulid_print(&id, job->idempotency_key);
    job->run = effect->run;
    job->activity = effect->key;
    job->step = effect->step;
    job->attempt = 1;
    job->close_deadline_us = HF_NONE;
    job->name = hf_slice_of(hf_mem_text(job->mem, effect->name));
    job->input = hf_slice_from(hf_mem_text(job->mem, effect->input), effect->input.len);
    job->policy = hf_slice_from(hf_mem_text(job->mem, effect->policy), effect->policy.len);
    job->definition = definition;
    if (!job->name.ptr || !job->input.ptr || !job->policy.ptr) {
        hf_job_free(job);
        return NULL;
    }
    return job;
}

static void start_add(hf_core *core, live_run *run, hf_job *job, int64_t available_us)
{
    core_start *start = hf_alloc(sizeof(*start));
    const core_alarm alarm = {.kind = CORE_ALARM_START, .run = run->key, .key = job->activity};
    hf_err err;

    if (!start) {
        hf_job_free(job);
        hf_core_fail(core, hf_err_nomem(&err, "an attempt"), &err);
        return;
    }
    *start = (core_start){.job = job, .available_us = available_us, .next = run->starts};
    run->starts = start;
    if (available_us > hf_core_now(core))
        (void)hf_core_alarm_set(core, &alarm, available_us);
    else
        hf_core_ready(core, run);
}

/* A fault that a test asked for takes the place of the attempt. */
static bool fault_take(hf_core *core, hf_job *job)
{
    for (core_fault *fault = core->faults; fault; fault = fault->next) {
        if (fault->times > 0 && hf_slice_equal(hf_slice_of(fault->activity), job->name)) {
            fault->times--;
            job->failed = true;
            job->failure = (hf_decision_failure){
                .category = HF_FAILURE_CATEGORY_ACTIVITY,
                .type = hf_slice_of(hf_mem_text(job->mem, hf_slice_of(fault->type))),
                .message = HF_SLICE("injected by a test"),
                .retryable = true};
            return true;
        }
    }
    return false;
}

/* The attempt is on the record: now it may run. */
static void job_start(hf_core *core, live_run *run, hf_job *job)
{
    hf_err err;

    if (fault_take(core, job)) {
        hf_pool_release(core->pool);
        job->next = run->ended;
        run->ended = job;
        hf_core_ready(core, run);
        return;
    }
    if (hf_map_int_put(core->jobs, (uint64_t)job->activity, job, NULL, &err)) {
        hf_pool_release(core->pool);
        hf_job_free(job);
        hf_core_fail(core, HF_NOMEM, &err);
        return;
    }
    hf_pool_submit(core->pool, job);
}

static hf_status ended_fold(turn *t, hf_err *err)
{
    live_run *run = t->run;
    hf_status st = HF_OK;

    for (hf_job *job = run->staged_ended; !st && job; job = job->next) {
        hf_attempt_end end = {.activity = job->activity,
                              .step = job->step,
                              .attempt = job->attempt,
                              .reported = job->attempt - job->lost,
                              .name = job->name,
                              .policy = job->policy,
                              .failed = job->failed,
                              .codec = HF_PAYLOAD_CODEC_JSON,
                              .result = job->result,
                              .failure = job->failure};
        int64_t retry_us = HF_NONE;

        st = hf_decide_attempt(&t->decide, &end, &retry_us, err);
        if (!st && retry_us != HF_NONE) {
            core_start *start = hf_alloc(sizeof(*start));
            hf_job *again = start ? hf_job_new() : NULL;

            if (!again) {
                hf_alloc_free(start);
                return hf_err_nomem(err, "another attempt");
            }
            again->run = job->run;
            again->activity = job->activity;
            again->step = job->step;
            again->attempt = job->attempt + 1;
            again->lost = job->lost;
            again->close_deadline_us = job->close_deadline_us;
            again->name = hf_slice_of(hf_mem_text(again->mem, job->name));
            again->input = hf_slice_from(hf_mem_text(again->mem, job->input), job->input.len);
            again->policy = hf_slice_from(hf_mem_text(again->mem, job->policy), job->policy.len);
            again->definition = job->definition;
            memcpy(again->idempotency_key, job->idempotency_key, sizeof(again->idempotency_key));
            *start = (core_start){.job = again, .available_us = retry_us, .next = run->retries};
            run->retries = start;
        }
    }
    return st;
}

/* Attempts that may begin now and find a place. The others stay. */
static hf_status starts_fold(turn *t, hf_err *err)
{
    hf_core *core = t->core;
    live_run *run = t->run;
    core_start **at = &run->starts;
    hf_status st = HF_OK;

    while (!st && *at) {
        core_start *start = *at;
        hf_job *job = start->job;

        job->definition = hf_registry_find_activity(core->o.registry, job->name);
        if (!job->definition || start->available_us > hf_core_now(core)) {
            at = &start->next;
            continue;
        }
        if (!hf_pool_reserve(core->pool)) {
            if (!hf_list_linked(&run->hunger))
                hf_list_add_last(&core->hungry, &run->hunger);
            at = &start->next;
            continue;
        }
        start->placed = true;
        *at = start->next;
        start->next = run->staged_starts;
        run->staged_starts = start;
        st = hf_decide_start_attempt(&t->decide, job->activity, job->step, job->attempt, job->lost,
                                     job->policy, job->close_deadline_us, err);
    }
    return st;
}

/* A timer that is still open fires; one that was cancelled meanwhile does not. */
static void due_fold(turn *t)
{
    for (core_due *due = t->run->staged_due; due; due = due->next) {
        bool open = false;

        for (size_t i = 0; i < t->run->open_count; i++)
            open |= t->run->open[i].is_timer && t->run->open[i].key == due->timer;
        if (open)
            hf_decide_timer(&t->decide, due->timer, due->step, due->kind, due->due_us);
    }
}

/* The newest event of a run that is closed, in the arena. */
static hf_status closing_event(hf_core *core, hf_mem *mem, int64_t run, const hf_event **out_event,
                               hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    hf_db_cursor *cursor = NULL;
    hf_event *events = NULL;
    size_t count = 0;
    bool found = false;
    hf_slice body = {0};
    hf_status st = hf_db_query(core->db, HF_STMT_HISTORY_LAST, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice read = hf_db_column_bytes(cursor, 2);

        body = hf_slice_from(hf_mem_text(mem, read), read.len);
    }
    hf_db_end(cursor);
    if (!st && !body.ptr)
        st = hf_err_set(err, HF_CORRUPT, "run %lld has no history", (long long)run);
    if (!st)
        st = hf_event_chunk_decode(mem, body, &events, &count, err);
    *out_event = NULL;
    for (size_t i = 0; !st && i < count; i++)
        if (hf_event_has_flag(events[i].type, HF_EVENT_CLOSES))
            *out_event = &events[i];
    if (!st && !*out_event)
        st = hf_err_set(err, HF_CORRUPT, "run %lld is closed without a closing event",
                        (long long)run);
    return st;
}

/* The parent's own record of how its child ended. A payload that is stored apart is read and stored
   again, because it belongs to a run. */
static hf_status child_record(turn *t, const hf_event *closing, int64_t child, int64_t step,
                              hf_err *err)
{
    hf_event_builder *events = hf_unit_events(t->decide.unit, 0);
    hf_mem *mem = hf_unit_mem(t->decide.unit);
    hf_payload_value output;
    hf_slice text;
    hf_slice bytes = {0};
    hf_status st = HF_OK;

    if (closing->type == HF_EVENT_WORKFLOW_COMPLETED) {
        hf_event_begin(events, HF_EVENT_CHILD_RUN_COMPLETED, t->decide.now_us, step);
        if (hf_event_payload(closing, HF_KEY_OUTPUT, &output)) {
            bytes = output.bytes;
            if (output.form != HF_PAYLOAD_FORM_INLINE)
                st = hf_payload_get(t->core->db, mem, t->core->stager.sha, child, &output, &bytes,
                                    err);
            if (!st)
                hf_event_put_payload(events, HF_KEY_OUTPUT,
                                     hf_unit_payload(t->decide.unit, &t->core->stager,
                                                     t->decide.keys, 0, output.codec, bytes));
        }
        return st;
    }
    if (closing->type == HF_EVENT_WORKFLOW_CANCELLED)
        hf_event_begin(events, HF_EVENT_CHILD_RUN_CANCELLED, t->decide.now_us, step);
    else if (closing->type == HF_EVENT_WORKFLOW_TERMINATED)
        hf_event_begin(events, HF_EVENT_CHILD_RUN_TERMINATED, t->decide.now_us, step);
    else
        hf_event_begin(events, HF_EVENT_CHILD_RUN_FAILED, t->decide.now_us, step);
    hf_event_put_text(events, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(HF_FAILURE_CATEGORY_CHILD_WORKFLOW)));
    if (closing->type == HF_EVENT_WORKFLOW_FAILED &&
        hf_event_text(closing, HF_KEY_EXCEPTION_TYPE, &text))
        hf_event_put_text(events, HF_KEY_EXCEPTION_TYPE, text);
    if (hf_event_text(closing, HF_KEY_MESSAGE, &text))
        hf_event_put_text(events, HF_KEY_MESSAGE, text);
    return HF_OK;
}

static hf_status child_fold(turn *t, int64_t child, hf_err *err)
{
    const hf_db_value key = hf_db_int(child);
    const hf_event *closing = NULL;
    hf_db_cursor *cursor = NULL;
    bool found = false;
    int64_t step = 0;
    hf_status st = hf_db_query(t->core->db, HF_STMT_LINK_PARENT, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found)
        step = hf_db_column_int(cursor, 1);
    hf_db_end(cursor);
    if (st || !found)
        return st;
    st = closing_event(t->core, hf_unit_mem(t->decide.unit), child, &closing, err);
    return st ? st : child_record(t, closing, child, step, err);
}

static hf_status inbox_fold(turn *t, hf_err *err)
{
    const hf_db_value key = hf_db_int(t->run->key);
    hf_mem *mem = hf_unit_mem(t->decide.unit);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    struct found {
        struct found *next;
        int64_t key;
        int64_t kind;
        int64_t source;
    } *first = NULL, **tail = &first;
    hf_status st = hf_db_query(t->core->db, HF_STMT_INBOX_READ, &key, 1, &cursor, err);

    while (!st && row) {
        struct found *item;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        item = hf_mem_alloc(mem, sizeof(*item));
        if (!item) {
            st = hf_err_nomem(err, "an inbox");
            break;
        }
        item->key = hf_db_column_int(cursor, 0);
        item->kind = hf_db_column_int(cursor, 1);
        item->source = hf_db_column_int(cursor, 2);
        *tail = item;
        tail = &item->next;
    }
    hf_db_end(cursor);
    for (struct found *item = first; !st && item; item = item->next) {
        if (item->kind == HF_INBOX_CHILD_CLOSED)
            st = child_fold(t, item->source, err);
        hf_unit_row(t->decide.unit, 0, hf_row_delete(mem, HF_OP_INBOX_DELETE, item->key));
    }
    return st;
}

static void unit_done(hf_unit *unit, void *ctx)
{
    core_message *message = ctx;

    message->unit = unit;
    hf_core_post(message->core, message);
}

static void staged_return(live_run *run)
{
    while (run->staged_ended) {
        hf_job *job = run->staged_ended;

        run->staged_ended = job->next;
        job->next = run->ended;
        run->ended = job;
    }
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        due->next = run->due;
        run->due = due;
    }
    while (run->staged_starts) {
        core_start *start = run->staged_starts;

        run->staged_starts = start->next;
        if (start->placed)
            hf_pool_release(run->core->pool);
        start->placed = false;
        start->next = run->starts;
        run->starts = start;
    }
}

/* What could not be committed is given back and the coroutine thrown away: the next turn begins
 * from the store. */
static void turn_abandon(hf_core *core, live_run *run, hf_effect *effects)
{
    for (hf_effect *effect = effects; effect; effect = effect->next)
        if (effect->kind == HF_EFFECT_ACTIVITY && effect->started)
            hf_pool_release(core->pool);
    while (run->retries) {
        core_start *start = run->retries;

        run->retries = start->next;
        hf_job_free(start->job);
        hf_alloc_free(start);
    }
    staged_return(run);
    hf_live_forget(core, run);
}

static void staged_take(live_run *run)
{
    run->staged_ended = run->ended;
    run->ended = NULL;
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
    size_t facts;
    size_t count = 0;
    hf_status st;

    *out_turn = HF_TURN_PARKED;
    staged_take(run);
    st = ended_fold(t, err);
    if (!st)
        due_fold(t);
    if (!st)
        st = inbox_fold(t, err);
    if (!st)
        st = starts_fold(t, err);
    facts = events->count;
    if (!st && facts)
        st = hf_live_feed(run, events->events, facts, run->base.last_seq + 1, err);
    if (!st)
        st = hf_replay_turn(run->replay, out_turn, err);
    if (st || *out_turn == HF_TURN_BLOCKED)
        return st;
    rows = hf_replay_decisions(run->replay, &count);
    t->decide.now_us = hf_core_now(core);
    st = hf_decide_add(&t->decide, rows, count, err);
    if (!st && events->count > facts)
        st = hf_live_feed(run, events->events + facts, events->count - facts,
                       run->base.last_seq + 1 + (int64_t)facts, err);
    return st;
}

static hf_status turn_submit(turn *t, hf_err *err)
{
    hf_core *core = t->core;
    live_run *run = t->run;
    hf_unit *unit = t->decide.unit;
    core_message *message = hf_mem_alloc(hf_unit_mem(unit), sizeof(*message));
    hf_status st;

    if (!message)
        return hf_err_nomem(err, "a turn");
    *message = (core_message){.kind = CORE_MESSAGE_UNIT, .core = core, .run = run->key};
    hf_unit_on_done(unit, unit_done, message);
    run->unit_events = (int64_t)hf_unit_events(unit, 0)->count;
    st = hf_unit_seal(unit, &core->stager, err);
    if (!st)
        st = hf_writer_offer(core->o.writer, unit, err);
    if (st)
        return st;
    run->dirty = true;
    run->unit = unit;
    run->effects = t->decide.effects;
    return HF_OK;
}

/* The wake-up was for nothing that code waits for: only the task that stands for it goes. */
static hf_status turn_drop(turn *t, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_status st;

    if (!unit)
        return hf_err_nomem(err, "a turn");
    hf_unit_row(unit, 0,
                hf_row_task_drop(hf_unit_mem(unit), t->run->key, t->run->base.message_seq));
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
        body =
            hf_json_(hf_unit_mem(unit),
                     "{'replay_blocked': true, 'replay_blocked_reason': %s, "
                     "'replay_blocked_workflow_sequence': %lld,"
                     "'replay_blocked_expected_history_shape': %s, "
                     "'replay_blocked_recorded_event_types': %s,"
                     "'replay_blocked_recorded_condition_key': %s, "
                     "'replay_blocked_current_condition_key': %s,"
                     "'replay_blocked_recorded_condition_definition_fingerprint': %s,"
                     "'replay_blocked_current_condition_definition_fingerprint': %s,"
                     "'source_line': %s, 'message': %s}",
                     hf_replay_blocked_reason_text(why->reason), (long long)why->step,
                     why->expected_shape, why->recorded_events, why->recorded_key, why->current_key,
                     why->recorded_fingerprint, why->current_fingerprint, why->at, why->sentence);
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

/* A unit that appends: what stands in it is complete. */
static hf_status turn_finish(turn *t, hf_err *err)
{
    live_run *run = t->run;
    hf_unit *unit = t->decide.unit;

    if (t->decide.signal_timed_out)
        hf_unit_fix(unit); /* which came first, signal or timeout, is what was decided */
    if (!t->decide.closed) {
        hf_unit_row(unit, 0, hf_row_task_done(hf_unit_mem(unit), run->key, run->base.message_seq));
        if (run->base.status != HF_RUN_STATUS_WAITING) {
            hf_unit_status(unit, 0, HF_RUN_STATUS_WAITING);
            hf_unit_row(unit, 0,
                        hf_row_summary_set(hf_unit_mem(unit), run->key, HF_RUN_STATUS_WAITING));
        }
    }
    return turn_submit(t, err);
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

static hf_status turn_go(turn *t, bool woken, hf_err *err)
{
    hf_turn outcome = HF_TURN_PARKED;
    hf_status st;

    if (t->run->doom.status)
        return turn_doom(t, err);
    st = turn_draft(t, &outcome, err);
    if (st)
        return st;
    if (outcome == HF_TURN_BLOCKED)
        return turn_blocked(t, err);
    if (hf_unit_events(t->decide.unit, 0)->count)
        return turn_finish(t, err);
    if (woken)
        return turn_drop(t, err);
    hf_unit_free(t->decide.unit);
    t->decide.unit = NULL;
    return HF_OK;
}

/* The turn could not be taken. What passes by itself is tried again soon, everything else ends the core. */
static void turn_trouble(hf_core *core, live_run *run, hf_status st, const hf_err *err)
{
    const core_alarm later = {.kind = CORE_ALARM_START, .run = run->key};

    if (st == HF_UNREACHABLE || st == HF_UNKNOWN)
        (void)!hf_db_reconnect(core->db, NULL);
    if (st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_BUSY || st == HF_RETRY || st == HF_NOMEM ||
        st == HF_TIMEOUT || st == HF_FULL)
        (void)hf_core_alarm_set(core, &later, hf_core_now(core) + RETRY_US);
    else
        hf_core_fail(core, st, err);
}

void hf_turn_run(hf_core *core, live_run *run)
{
    turn t = {.core = core, .run = run};
    bool woken = run->look;
    bool gone = false;
    hf_err err = {0};
    hf_status st = HF_OK;

    if (run->look || !run->replay)
        st = hf_live_load(core, run, &gone, &err);
    if (st) {
        hf_live_forget(core, run);
        turn_trouble(core, run, st, &err);
        return;
    }
    if (gone) {
        hf_core_remove(core, run);
        return;
    }
    t.decide = (hf_decide){.unit = hf_unit_new(NULL, NULL),
                           .stager = &core->stager,
                           .keys = hf_writer_keys(core->o.writer),
                           .run = &run->info,
                           .host = &t.host,
                           .now_us = hf_core_now(core)};
    t.host = (hf_decide_host){.ctx = &t,
                              .activity = host_activity,
                              .workflow = host_workflow,
                              .claim = host_claim,
                              .message = host_message,
                              .owner = core->o.owner};
    run->info.open = run->open;
    run->info.open_count = run->open_count;
    run->bare = false;
    core->held -= hf_replay_held(run->replay);
    if (t.decide.unit) {
        hf_unit_append(t.decide.unit, &run->base, HF_NONE, HF_REBASE_OUTSIDE_FACTS);
        st = turn_go(&t, woken, &err);
    } else {
        st = hf_err_nomem(&err, "a turn");
    }
    core->held += hf_replay_held(run->replay);
    if (!st)
        return;
    turn_abandon(core, run, t.decide.effects);
    hf_unit_free(t.decide.unit);
    turn_trouble(core, run, st, &err);
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
        const hf_registry_activity *definition;
        live_run *other;
        hf_job *job;
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
            definition = hf_registry_find_activity(core->o.registry, effect->name);
            job = definition ? job_make(effect, run->base.last_us, definition) : NULL;
            if (definition && !job)
                hf_core_fail(core, hf_err_nomem(&err, "an activity"), &err);
            if (job && effect->started)
                job_start(core, run, job);
            else if (job)
                start_add(core, run, job, hf_core_now(core));
            break;
        case HF_EFFECT_RUN:
            other = hf_core_live(core, effect->run);
            if (other) {
                other->look = true;
                hf_core_ready(core, other);
            }
            break;
        }
    }
}

static void staged_forget(hf_core *core, live_run *run)
{
    while (run->staged_ended) {
        hf_job *job = run->staged_ended;

        run->staged_ended = job->next;
        hf_job_free(job);
    }
    while (run->staged_due) {
        core_due *due = run->staged_due;

        run->staged_due = due->next;
        hf_alloc_free(due);
    }
    while (run->staged_starts) {
        core_start *start = run->staged_starts;

        run->staged_starts = start->next;
        job_start(core, run, start->job);
        hf_alloc_free(start);
    }
    while (run->retries) {
        core_start *start = run->retries;

        run->retries = start->next;
        start_add(core, run, start->job, start->available_us);
        hf_alloc_free(start);
    }
}

/* True when the run goes on living. */
static bool turn_keep(hf_core *core, live_run *run, hf_unit *unit)
{
    const hf_event_builder *events = hf_unit_events(unit, 0);
    const hf_run_base *after = hf_unit_after(unit, 0);
    bool rebased = after->last_seq != run->base.last_seq + run->unit_events;
    bool closed = after->closed_us != HF_NONE;

    for (size_t i = 0; closed && i < run->open_count;
         i++) { /* whatever still runs is told to stop */
        hf_job *job = hf_map_int_remove(core->jobs, (uint64_t)run->open[i].key);

        if (job)
            atomic_store(&job->stop, true);
    }
    hf_live_settle(run, events->events, events->count);
    run->base = *after;
    staged_forget(core, run);
    effects_keep(core, run, run->effects);
    if (core->o.changed)
        core->o.changed(core->o.ctx, run->key, closed);
    if (closed)
        return false;
    if (rebased || hf_replay_spoiled(run->replay)) {
        hf_live_forget(core, run); /* facts came in between: the replay must see them in their place */
        hf_core_ready(core, run);
    }
    return true;
}

void hf_turn_committed(hf_core *core, live_run *run, hf_unit *unit)
{
    const core_alarm later = {.kind = CORE_ALARM_START, .run = run->key};
    const char *text = NULL;
    hf_status st = hf_unit_outcome(unit, &text);
    hf_err err;
    bool lives = true;

    run->dirty = false;
    run->unit = NULL;
    if (st == HF_OK && !run->bare) {
        lives = turn_keep(core, run, unit);
    } else if (st == HF_OK) {
        staged_return(run);
        lives = !run->blocked;
    } else {
        turn_abandon(core, run, run->effects);
        if (st == HF_CONFLICT)
            hf_core_ready(core, run);
        else if (st == HF_CONSTRAINT || st == HF_EXISTS || st == HF_INVALID || st == HF_TOOBIG)
            (void)hf_err_set(&run->doom, st, "%s", text);
        else if (st == HF_STOPPED)
            hf_core_fail(core, hf_err_set(&err, st, "%s", text), &err);
        else
            (void)hf_core_alarm_set(core, &later, hf_core_now(core) + RETRY_US);
        if (run->doom.status)
            hf_core_ready(core, run);
    }
    run->effects = NULL;
    hf_unit_free(unit);
    if (!lives)
        hf_core_remove(core, run);
    else if (run->look || run->ended || run->due)
        hf_core_ready(core, run);
}
