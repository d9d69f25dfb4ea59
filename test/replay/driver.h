/* driver.h: a small engine for one run, in memory: it runs turns of a replay, turns decisions into
   the events that the contract says, feeds them back, and lets tests say what the world did. It
   logs every turn, so that a replay of any prefix can be compared with what was decided then. */
#ifndef HF_TEST_REPLAY_DRIVER_H
#define HF_TEST_REPLAY_DRIVER_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "replay/replay.h"

enum { SIM_STEPS_MAX = 4096, SIM_TURNS_MAX = 4096 };

typedef struct sim_step {
    hf_decision kind; /* that opened it; 0: not open */
    hf_slice name;
    bool timer_pending;
    int64_t timeout_us;
    hf_ulid id;
} sim_step;

/* One decision of the log and how many events there were once it was recorded. */
typedef struct sim_decision {
    const char *text;
    size_t events_after;
    bool sent; /* leaves no event in this run */
} sim_decision;

typedef struct sim_turn {
    size_t events_before;
    sim_decision *decisions;
    size_t count;
    hf_turn turn;
    bool spoiled;
} sim_turn;

typedef struct sim {
    hf_mem *mem;
    hf_replay_info info;
    hf_replay *replay;
    hf_event *events;
    size_t count, room;
    int64_t now_us;
    uint32_t ids;
    sim_step steps[SIM_STEPS_MAX];
    int64_t top;
    sim_turn *turns;
    size_t turn_count;
    bool closed;
    hf_err err;
} sim;

static inline hf_slice sim_slice(sim *s, const char *text)
{
    return hf_slice_of(hf_mem_text(s->mem, hf_slice_of(text)));
}

static inline hf_ulid sim_id(sim *s)
{
    return hf_ulid_form(s->now_us, 7, ++s->ids);
}

static inline void sim_append(sim *s, hf_event_builder *builder)
{
    hf_event *events = NULL;
    size_t count = 0;

    ck_assert_msg(hf_event_builder_done(builder, &events, &count, &s->err) == HF_OK, "%s",
                  s->err.text);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(hf_event_check(&events[i], &s->err) == HF_OK, "%s", s->err.text);
        if (s->count == s->room) {
            size_t room = s->room ? s->room * 2 : 256;
            hf_event *grown = hf_mem_array(s->mem, room, sizeof(*grown));

            if (s->count)
                memcpy(grown, s->events, s->count * sizeof(*grown));
            s->events = grown;
            s->room = room;
        }
        s->events[s->count++] = events[i];
    }
}

static inline void sim_feed(sim *s, size_t from)
{
    if (s->replay)
        ck_assert_msg(hf_replay_feed(s->replay, s->events + from, s->count - from,
                                     (int64_t)from + 1, &s->err) == HF_OK,
                      "%s", s->err.text);
}

/* A replay that knows the first `count` events. */
static inline hf_replay *sim_replay(sim *s, size_t count)
{
    hf_replay *replay = NULL;

    ck_assert_int_eq(hf_replay_new(&s->info, &replay, &s->err), HF_OK);
    ck_assert_msg(hf_replay_feed(replay, s->events, count, 1, &s->err) == HF_OK, "%s", s->err.text);
    return replay;
}

/* The live replay goes away and comes back from history, as after an eviction. */
static inline void sim_evict(sim *s)
{
    hf_replay_free(s->replay);
    s->replay = sim_replay(s, s->count);
}

static inline void sim_begin(sim *s, const hf_workflow_def *definition, const char *in)
{
    hf_event_builder builder;

    *s = (sim){.mem = hf_mem_new(), .now_us = INT64_C(1700000000000000)};
    s->turns = hf_mem_array(s->mem, SIM_TURNS_MAX, sizeof(*s->turns));
    s->info = (hf_replay_info){.definition = definition,
                               .instance_id = HF_SLICE("order-7"),
                               .run_id = HF_SLICE("01HF0000000000000000000000"),
                               .random_seed = 42,
                               .fingerprint = HF_SLICE("sha256:now"),
                               .batch_max = 1000,
                               .events_max = 5000};
    hf_event_builder_init(&builder, s->mem);
    hf_event_begin(&builder, HF_EVENT_START_ACCEPTED, s->now_us, 0);
    hf_event_put_text(&builder, HF_KEY_OUTCOME, HF_SLICE("started_new"));
    hf_event_begin(&builder, HF_EVENT_WORKFLOW_STARTED, s->now_us, 0);
    hf_event_put_payload(&builder, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_of(in)));
    hf_event_put_text(&builder, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, HF_SLICE("sha256:now"));
    sim_append(s, &builder);
    s->replay = sim_replay(s, s->count);
}

static inline void sim_end(sim *s)
{
    hf_replay_free(s->replay);
    hf_mem_free(s->mem);
}

/* ---- decisions as text */

static inline void sim_groups(hf_buf *buf, const hf_decision_group *groups, size_t count)
{
    static const char *const names[] = {[HF_PARALLEL_GROUP_KIND_ACTIVITY] = "activity",
                                        [HF_PARALLEL_GROUP_KIND_CHILD] = "child",
                                        [HF_PARALLEL_GROUP_KIND_MIXED] = "mixed",
                                        [HF_PARALLEL_GROUP_KIND_TIMER] = "timer"};

    hf_buf_add_byte(buf, '[');
    for (size_t i = 0; i < count; i++)
        hf_buf_add_format(buf,
                          "%s{\"parallel_group_base_sequence\":%lld,\"parallel_group_index\":%lld,"
                          "\"parallel_group_kind\":\"%s\",\"parallel_group_size\":%lld}",
                          i ? "," : "", (long long)groups[i].base_step, (long long)groups[i].index,
                          names[groups[i].kind], (long long)groups[i].size);
    hf_buf_add_byte(buf, ']');
}

static inline const char *sim_text(hf_mem *mem, const hf_decision_row *row)
{
    hf_buf buf = {0};
    const char *text;

    hf_buf_add_format(&buf, "%s@%lld", hf_decision_text(row->kind), (long long)row->step);
    hf_buf_add_format(&buf, " %.*s %.*s", (int)row->name.len, row->name.ptr ? row->name.ptr : "",
                      (int)row->value.bytes.len, row->value.bytes.ptr ? row->value.bytes.ptr : "");
    if (row->group_count)
        sim_groups(&buf, row->groups, row->group_count);
    switch ((int)row->kind) {
    case HF_DECISION_START_TIMER:
        hf_buf_add_format(&buf, " delay %lld", (long long)row->timer.delay_us);
        break;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
    case HF_DECISION_OPEN_CONDITION_WAIT:
        hf_buf_add_format(&buf, " timeout %lld %.*s", (long long)row->wait.timeout_us,
                          (int)row->wait.fingerprint.len,
                          row->wait.fingerprint.ptr ? row->wait.fingerprint.ptr : "");
        break;
    case HF_DECISION_APPLY_SIGNAL:
    case HF_DECISION_APPLY_UPDATE:
        hf_buf_add_format(&buf, " of %lld", (long long)row->fact.seq);
        break;
    case HF_DECISION_FAIL_UPDATE:
        hf_buf_add_format(&buf, " of %lld", (long long)row->failure.seq);
        /* fall through */
    case HF_DECISION_HANDLE_FAILURE:
    case HF_DECISION_FAIL_WORKFLOW:
    case HF_DECISION_COMPLETE_CANCELLED:
        hf_buf_add_format(&buf, " %s %.*s %.*s", hf_failure_category_text(row->failure.category),
                          (int)row->failure.type.len, row->failure.type.ptr,
                          (int)row->failure.message.len, row->failure.message.ptr);
        break;
    case HF_DECISION_RECORD_VERSION_MARKER:
        hf_buf_add_format(&buf, " %lld", (long long)row->version.version);
        break;
    case HF_DECISION_SIGNAL_CHILD:
    case HF_DECISION_COMPLETE_STEP:
    case HF_DECISION_SEND_MESSAGE:
        hf_buf_add_format(&buf, " number %lld", (long long)row->outgoing.ordinal);
        break;
    }
    text = hf_mem_text(mem, hf_buf_slice(&buf));
    hf_buf_fini(&buf);
    return text;
}

static inline bool sim_sent(hf_decision kind)
{
    return kind == HF_DECISION_SIGNAL_CHILD || kind == HF_DECISION_SEND_MESSAGE;
}

/* ---- decisions to events */

static inline void sim_begin_event(sim *s, hf_event_builder *b, hf_event_type type, int64_t step)
{
    hf_event_begin(b, type, s->now_us, step);
}

static inline void sim_put_value(hf_event_builder *b, hf_event_key key,
                                 const hf_decision_payload *value)
{
    hf_event_put_payload(b, key, hf_payload_inline(value->codec, value->bytes));
}

static inline void sim_put_groups(hf_event_builder *b, const hf_decision_row *row)
{
    hf_buf buf = {0};

    if (!row->group_count)
        return;
    sim_groups(&buf, row->groups, row->group_count);
    hf_event_put_json(b, HF_KEY_PARALLEL_GROUP_PATH, hf_buf_slice(&buf));
    hf_buf_fini(&buf);
}

static inline void sim_put_failure(hf_event_builder *b, const hf_decision_failure *failure)
{
    hf_event_put_text(b, HF_KEY_FAILURE_CATEGORY,
                      hf_slice_of(hf_failure_category_text(failure->category)));
    hf_event_put_text(b, HF_KEY_EXCEPTION_TYPE, failure->type);
    hf_event_put_text(b, HF_KEY_MESSAGE, failure->message);
}

/* A timer: of its own, or the timeout of the wait at its step. */
static inline void sim_timer(sim *s, hf_event_builder *b, hf_event_type type, int64_t step,
                             int64_t delay_us)
{
    hf_decision kind = s->steps[step].kind;

    sim_begin_event(s, b, type, step);
    hf_event_put_int(b, HF_KEY_DELAY_SECONDS, (delay_us + 999999) / 1000000);
    if (kind == HF_DECISION_OPEN_SIGNAL_WAIT)
        hf_event_put_text(b, HF_KEY_TIMER_KIND, HF_SLICE("signal_timeout"));
    if (kind == HF_DECISION_OPEN_CONDITION_WAIT)
        hf_event_put_text(b, HF_KEY_TIMER_KIND, HF_SLICE("condition_timeout"));
}

static inline void sim_open(sim *s, const hf_decision_row *row)
{
    ck_assert_int_gt(row->step, 0);
    ck_assert_int_lt(row->step, SIM_STEPS_MAX);
    ck_assert_msg(row->step == s->top + 1, "step %lld follows %lld", (long long)row->step,
                  (long long)s->top);
    s->top = row->step;
    s->steps[row->step] = (sim_step){
        .kind = row->kind,
        .name = hf_slice_of(hf_mem_text(s->mem, row->name)),
        .id = sim_id(s),
        .timeout_us = HF_DECISION_NO_TIMEOUT,
    };
}

static inline void sim_open_wait(sim *s, hf_event_builder *b, const hf_decision_row *row)
{
    bool condition = row->kind == HF_DECISION_OPEN_CONDITION_WAIT;
    sim_step *step = &s->steps[row->step];

    step->timeout_us = row->wait.timeout_us;
    sim_begin_event(s, b, condition ? HF_EVENT_CONDITION_WAIT_OPENED : HF_EVENT_SIGNAL_WAIT_OPENED,
                    row->step);
    if (condition) {
        hf_event_put_id(b, HF_KEY_CONDITION_WAIT_ID, step->id);
        if (row->name.ptr)
            hf_event_put_text(b, HF_KEY_CONDITION_KEY, row->name);
        if (row->wait.fingerprint.ptr)
            hf_event_put_text(b, HF_KEY_CONDITION_DEFINITION_FINGERPRINT, row->wait.fingerprint);
    } else {
        hf_event_put_text(b, HF_KEY_SIGNAL_NAME, row->name);
    }
    if (row->wait.timeout_us < 0)
        return;
    sim_timer(s, b, HF_EVENT_TIMER_SCHEDULED, row->step, row->wait.timeout_us);
    step->timer_pending = row->wait.timeout_us > 0;
    if (!step->timer_pending) {
        sim_timer(s, b, HF_EVENT_TIMER_FIRED, row->step, 0);
        if (!condition)
            step->kind = (hf_decision)0;
    }
}

static inline const hf_event *sim_event(const sim *s, int64_t seq)
{
    ck_assert(seq > 0 && seq <= (int64_t)s->count);
    return &s->events[seq - 1];
}

static inline void sim_call(sim *s, hf_event_builder *b, const hf_decision_row *row)
{
    bool child = row->kind == HF_DECISION_START_CHILD_WORKFLOW;

    sim_begin_event(s, b, child ? HF_EVENT_CHILD_WORKFLOW_SCHEDULED : HF_EVENT_ACTIVITY_SCHEDULED,
                    row->step);
    if (child) {
        hf_event_put_text(b, HF_KEY_CHILD_WORKFLOW_TYPE, row->name);
        hf_event_put_id(b, HF_KEY_CHILD_CALL_ID, s->steps[row->step].id);
    } else {
        hf_event_put_text(b, HF_KEY_ACTIVITY_TYPE, row->name);
        if (row->activity.local)
            hf_event_put_bool(b, HF_KEY_LOCAL_ACTIVITY, true);
    }
    sim_put_value(b, HF_KEY_ARGUMENTS, &row->value);
    sim_put_groups(b, row);
}

static inline void sim_apply_update(sim *s, hf_event_builder *b, const hf_decision_row *row)
{
    bool failed = row->kind == HF_DECISION_FAIL_UPDATE;
    hf_ulid id;

    ck_assert(hf_event_id(sim_event(s, failed ? row->failure.seq : row->fact.seq), HF_KEY_UPDATE_ID,
                          &id));
    if (!failed) {
        sim_begin_event(s, b, HF_EVENT_UPDATE_APPLIED, row->step);
        hf_event_put_id(b, HF_KEY_UPDATE_ID, id);
    }
    sim_begin_event(s, b, HF_EVENT_UPDATE_COMPLETED, row->step);
    hf_event_put_id(b, HF_KEY_UPDATE_ID, id);
    if (failed)
        sim_put_failure(b, &row->failure);
    else
        sim_put_value(b, HF_KEY_RESULT, &row->value);
}

static inline void sim_mark(sim *s, hf_event_builder *b, const hf_decision_row *row,
                            hf_event_type type, hf_event_key key)
{
    sim_open(s, row);
    s->steps[row->step].kind = (hf_decision)0;
    sim_begin_event(s, b, type, row->step);
    if (key)
        sim_put_value(b, key, &row->value);
}

static inline void sim_decide_wait(sim *s, hf_event_builder *b, const hf_decision_row *row)
{
    sim_step *step = &s->steps[row->step];
    hf_ulid id;

    switch ((int)row->kind) {
    case HF_DECISION_APPLY_SIGNAL:
        ck_assert(hf_event_id(sim_event(s, row->fact.seq), HF_KEY_SIGNAL_ID, &id));
        sim_begin_event(s, b, HF_EVENT_MESSAGE_CURSOR_ADVANCED, 0);
        hf_event_put_text(b, HF_KEY_STREAM_KEY, HF_SLICE("instance:order-7"));
        hf_event_put_int(b, HF_KEY_NEW_POSITION, row->fact.seq);
        sim_begin_event(s, b, HF_EVENT_SIGNAL_APPLIED, row->step);
        hf_event_put_id(b, HF_KEY_SIGNAL_ID, id);
        sim_put_value(b, HF_KEY_VALUE, &row->value);
        step->kind = (hf_decision)0;
        break;
    case HF_DECISION_SATISFY_CONDITION:
        sim_begin_event(s, b, HF_EVENT_CONDITION_WAIT_SATISFIED, row->step);
        step->kind = (hf_decision)0;
        break;
    case HF_DECISION_TIME_OUT_CONDITION:
        sim_begin_event(s, b, HF_EVENT_CONDITION_WAIT_TIMED_OUT, row->step);
        step->kind = (hf_decision)0;
        break;
    case HF_DECISION_CANCEL_TIMER:
        ck_assert(step->timer_pending);
        step->timer_pending = false;
        sim_timer(s, b, HF_EVENT_TIMER_CANCELLED, row->step, step->timeout_us);
        break;
    }
}

static inline void sim_record(sim *s, const hf_decision_row *row)
{
    hf_event_builder builder;
    hf_event_builder *b = &builder;

    hf_event_builder_init(b, s->mem);
    switch (row->kind) {
    case HF_DECISION_SCHEDULE_ACTIVITY:
    case HF_DECISION_START_CHILD_WORKFLOW:
        sim_open(s, row);
        sim_call(s, b, row);
        break;
    case HF_DECISION_START_TIMER:
        sim_open(s, row);
        sim_timer(s, b, HF_EVENT_TIMER_SCHEDULED, row->step, row->timer.delay_us);
        s->steps[row->step].timer_pending = row->timer.delay_us > 0;
        if (row->timer.delay_us == 0) {
            sim_timer(s, b, HF_EVENT_TIMER_FIRED, row->step, 0);
            s->steps[row->step].kind = (hf_decision)0;
        }
        break;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
    case HF_DECISION_OPEN_CONDITION_WAIT:
        sim_open(s, row);
        sim_open_wait(s, b, row);
        break;
    case HF_DECISION_APPLY_SIGNAL:
    case HF_DECISION_SATISFY_CONDITION:
    case HF_DECISION_TIME_OUT_CONDITION:
    case HF_DECISION_CANCEL_TIMER:
        sim_decide_wait(s, b, row);
        break;
    case HF_DECISION_RECORD_SIDE_EFFECT:
        sim_mark(s, b, row, HF_EVENT_SIDE_EFFECT_RECORDED, HF_KEY_RESULT);
        break;
    case HF_DECISION_RECEIVE_MESSAGES:
        sim_mark(s, b, row, HF_EVENT_SIDE_EFFECT_RECORDED, HF_KEY_RESULT);
        if (row->fact.seq) {
            sim_begin_event(s, b, HF_EVENT_MESSAGE_CURSOR_ADVANCED, 0);
            hf_event_put_text(b, HF_KEY_STREAM_KEY, row->name);
            hf_event_put_int(b, HF_KEY_NEW_POSITION, row->fact.seq);
        }
        break;
    case HF_DECISION_RECORD_VERSION_MARKER:
        sim_mark(s, b, row, HF_EVENT_VERSION_MARKER_RECORDED, (hf_event_key)0);
        hf_event_put_text(b, HF_KEY_CHANGE_ID, row->name);
        hf_event_put_int(b, HF_KEY_VERSION, row->version.version);
        break;
    case HF_DECISION_UPSERT_MEMO:
        sim_mark(s, b, row, HF_EVENT_MEMO_UPSERTED, HF_KEY_ENTRIES);
        break;
    case HF_DECISION_UPSERT_SEARCH_ATTRIBUTES:
        sim_mark(s, b, row, HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED, HF_KEY_ATTRIBUTES);
        break;
    case HF_DECISION_SIGNAL_CHILD:
    case HF_DECISION_COMPLETE_STEP:
    case HF_DECISION_SEND_MESSAGE:
        return;
    case HF_DECISION_APPLY_UPDATE:
    case HF_DECISION_FAIL_UPDATE:
        sim_apply_update(s, b, row);
        break;
    case HF_DECISION_RECORD_NOTE:
        sim_begin_event(s, b, HF_EVENT_NOTE_RECORDED, row->step);
        hf_event_put_text(b, HF_KEY_MESSAGE, row->name);
        break;
    case HF_DECISION_HANDLE_FAILURE:
        sim_begin_event(s, b, HF_EVENT_FAILURE_HANDLED, row->step);
        sim_put_failure(b, &row->failure);
        break;
    case HF_DECISION_COMPLETE_WORKFLOW:
        sim_begin_event(s, b, HF_EVENT_WORKFLOW_COMPLETED, 0);
        sim_put_value(b, HF_KEY_OUTPUT, &row->value);
        break;
    case HF_DECISION_FAIL_WORKFLOW:
        sim_begin_event(s, b, HF_EVENT_WORKFLOW_FAILED, 0);
        sim_put_failure(b, &row->failure);
        break;
    case HF_DECISION_CONTINUE_AS_NEW:
        sim_mark(s, b, row, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, (hf_event_key)0);
        break;
    case HF_DECISION_COMPLETE_CANCELLED:
        sim_begin_event(s, b, HF_EVENT_WORKFLOW_CANCELLED, 0);
        hf_event_put_text(b, HF_KEY_MESSAGE, row->failure.message);
        break;
    }
    sim_append(s, b);
}

/* ---- turns */

/* Runs a turn, records what it decided and feeds that back. */
static inline hf_turn sim_run(sim *s)
{
    sim_turn *log = &s->turns[s->turn_count];
    const hf_decision_row *rows;
    size_t from = s->count;

    ck_assert_uint_lt(s->turn_count, SIM_TURNS_MAX);
    s->turn_count++;
    s->now_us += 1000;
    log->events_before = s->count;
    ck_assert_msg(hf_replay_turn(s->replay, &log->turn, &s->err) == HF_OK, "%s", s->err.text);
    if (log->turn == HF_TURN_BLOCKED)
        return log->turn;
    rows = hf_replay_decisions(s->replay, &log->count);
    log->decisions = hf_mem_array(s->mem, log->count, sizeof(*log->decisions));
    for (size_t i = 0; i < log->count; i++) {
        log->decisions[i].text = sim_text(s->mem, &rows[i]);
        log->decisions[i].sent = sim_sent(rows[i].kind);
        sim_record(s, &rows[i]);
        log->decisions[i].events_after = s->count;
    }
    log->spoiled = hf_replay_spoiled(s->replay);
    s->closed = log->turn == HF_TURN_CLOSED;
    if (log->spoiled)
        sim_evict(s);
    else
        sim_feed(s, from);
    return log->turn;
}

/* The decisions of the last turn, one a line. */
static inline const char *sim_last(sim *s)
{
    const sim_turn *log = &s->turns[s->turn_count - 1];
    hf_buf buf = {0};
    const char *text;

    for (size_t i = 0; i < log->count; i++)
        hf_buf_add_format(&buf, "%s%s", i ? "\n" : "", log->decisions[i].text);
    text = hf_mem_text(s->mem, hf_buf_slice(&buf));
    hf_buf_fini(&buf);
    return text;
}

/* ---- the world */

static inline void sim_end_step(sim *s, int64_t step, hf_event_type type, const char *value,
                                const char *failure)
{
    hf_event_builder b;
    size_t from = s->count;
    bool child = s->steps[step].kind == HF_DECISION_START_CHILD_WORKFLOW;

    s->now_us += 1000;
    hf_event_builder_init(&b, s->mem);
    hf_event_begin(&b, type, s->now_us, step);
    if (value)
        hf_event_put_payload(&b, child ? HF_KEY_OUTPUT : HF_KEY_RESULT,
                             hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_of(value)));
    if (failure) {
        if (hf_event_key_allowed(type, HF_KEY_EXCEPTION_TYPE))
            hf_event_put_text(&b, HF_KEY_EXCEPTION_TYPE, hf_slice_of(failure));
        hf_event_put_text(&b, HF_KEY_MESSAGE, HF_SLICE("it failed"));
    }
    sim_append(s, &b);
    sim_feed(s, from);
    s->steps[step].kind = (hf_decision)0;
}

static inline void sim_complete(sim *s, int64_t step, const char *value)
{
    sim_end_step(s, step,
                 s->steps[step].kind == HF_DECISION_START_CHILD_WORKFLOW
                     ? HF_EVENT_CHILD_RUN_COMPLETED
                     : HF_EVENT_ACTIVITY_COMPLETED,
                 value, NULL);
}

static inline void sim_fail(sim *s, int64_t step, const char *type)
{
    sim_end_step(s, step,
                 s->steps[step].kind == HF_DECISION_START_CHILD_WORKFLOW ? HF_EVENT_CHILD_RUN_FAILED
                                                                         : HF_EVENT_ACTIVITY_FAILED,
                 NULL, type);
}

static inline void sim_fire(sim *s, int64_t step)
{
    hf_event_builder b;
    size_t from = s->count;

    s->now_us += 1000;
    hf_event_builder_init(&b, s->mem);
    sim_timer(s, &b, HF_EVENT_TIMER_FIRED, step,
              s->steps[step].timeout_us > 0 ? s->steps[step].timeout_us : 1000000);
    sim_append(s, &b);
    sim_feed(s, from);
    s->steps[step].timer_pending = false;
    if (s->steps[step].kind == HF_DECISION_START_TIMER)
        s->steps[step].kind = (hf_decision)0;
}

static inline void sim_message(sim *s, hf_event_type type, hf_event_key id, hf_event_key name_key,
                               const char *name, const char *arguments)
{
    hf_event_builder b;
    size_t from = s->count;

    s->now_us += 1000;
    hf_event_builder_init(&b, s->mem);
    hf_event_begin(&b, type, s->now_us, 0);
    hf_event_put_id(&b, id, sim_id(s));
    hf_event_put_text(&b, name_key, hf_slice_of(name));
    if (arguments)
        hf_event_put_payload(&b, HF_KEY_ARGUMENTS,
                             hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_of(arguments)));
    sim_append(s, &b);
    sim_feed(s, from);
}

static inline void sim_signal(sim *s, const char *name, const char *arguments)
{
    sim_message(s, HF_EVENT_SIGNAL_RECEIVED, HF_KEY_SIGNAL_ID, HF_KEY_SIGNAL_NAME, name, arguments);
}

/* The server ended the wait of the step with the signal that came last. */
static inline void sim_applied_as_sent(sim *s, int64_t step)
{
    const hf_event *signal = &s->events[s->count - 1];
    hf_payload_value arguments;
    hf_event_builder b;
    size_t from = s->count;
    hf_ulid id;

    ck_assert(hf_event_id(signal, HF_KEY_SIGNAL_ID, &id));
    ck_assert(hf_event_payload(signal, HF_KEY_ARGUMENTS, &arguments));
    hf_event_builder_init(&b, s->mem);
    hf_event_begin(&b, HF_EVENT_SIGNAL_APPLIED, s->now_us, step);
    hf_event_put_id(&b, HF_KEY_SIGNAL_ID, id);
    hf_event_put_payload(&b, HF_KEY_VALUE, arguments);
    sim_append(s, &b);
    sim_feed(s, from);
    s->steps[step].kind = (hf_decision)0;
}

static inline void sim_update(sim *s, const char *name, const char *arguments)
{
    sim_message(s, HF_EVENT_UPDATE_ACCEPTED, HF_KEY_UPDATE_ID, HF_KEY_UPDATE_NAME, name, arguments);
}

static inline void sim_cancel(sim *s, const char *reason)
{
    hf_event_builder b;
    size_t from = s->count;

    s->now_us += 1000;
    hf_event_builder_init(&b, s->mem);
    hf_event_begin(&b, HF_EVENT_CANCEL_REQUESTED, s->now_us, 0);
    hf_event_put_text(&b, HF_KEY_REASON, hf_slice_of(reason));
    sim_append(s, &b);
    sim_feed(s, from);
}

/* For people who look at a failure. */
static inline void sim_dump(const sim *s)
{
    size_t event = 0;

    for (size_t t = 0; t < s->turn_count; t++) {
        const sim_turn *log = &s->turns[t];

        for (; event < log->events_before; event++)
            (void)fprintf(stderr, "   %zu %s@%lld\n", event + 1,
                          hf_event_type_text(s->events[event].type),
                          (long long)s->events[event].step);
        (void)fprintf(stderr, "turn %zu: %d\n", t, (int)log->turn);
        for (size_t i = 0; i < log->count; i++)
            (void)fprintf(stderr, " - %s (%zu)\n", log->decisions[i].text,
                          log->decisions[i].events_after);
        for (; log->count && event < log->decisions[log->count - 1].events_after; event++)
            (void)fprintf(stderr, "   %zu %s@%lld\n", event + 1,
                          hf_event_type_text(s->events[event].type),
                          (long long)s->events[event].step);
    }
}

/* ---- comparing */

/* A fresh replay of the first `count` events, fed at once or one by one, decides what the log has
   from decision `from` of its turn on. */
static inline void sim_check_prefix(sim *s, const sim_turn *log, size_t from, size_t count,
                                    bool singly)
{
    hf_replay *replay = NULL;
    const hf_decision_row *rows;
    size_t row_count = 0;
    size_t at = 0;
    hf_turn turn = HF_TURN_PARKED;

    ck_assert_int_eq(hf_replay_new(&s->info, &replay, &s->err), HF_OK);
    for (size_t i = 0; i < count; i += singly ? 1 : count)
        ck_assert_int_eq(
            hf_replay_feed(replay, s->events + i, singly ? 1 : count, (int64_t)i + 1, &s->err),
            HF_OK);
    ck_assert_msg(hf_replay_turn(replay, &turn, &s->err) == HF_OK, "%s", s->err.text);
    ck_assert_msg(turn == log->turn, "%zu events: turn %d, was %d: %s", count, (int)turn,
                  (int)log->turn,
                  turn == HF_TURN_BLOCKED ? hf_replay_mismatch_get(replay)->sentence : "");
    rows = hf_replay_decisions(replay, &row_count);
    for (size_t i = from; i < log->count; i++) {
        if (log->decisions[i].sent)
            continue;
        while (at < row_count && sim_sent(rows[at].kind))
            at++;
        ck_assert_msg(at < row_count, "%zu events: misses %s", count, log->decisions[i].text);
        ck_assert_str_eq(sim_text(s->mem, &rows[at++]), log->decisions[i].text);
    }
    while (at < row_count && sim_sent(rows[at].kind))
        at++;
    ck_assert_msg(at == row_count, "%zu events: one too many: %s", count,
                  at < row_count ? sim_text(s->mem, &rows[at]) : "");
    hf_replay_free(replay);
}

/* The same for every prefix of the run. */
static inline void sim_check(sim *s)
{
    for (size_t t = 0; t < s->turn_count; t++) {
        const sim_turn *log = &s->turns[t];

        for (size_t k = 0; k <= log->count; k++) {
            size_t events = k ? log->decisions[k - 1].events_after : log->events_before;

            if (k == log->count && k && log->spoiled)
                continue; /* what follows belongs to the next turn */
            sim_check_prefix(s, log, k, events, (t + k) % 3 == 0);
        }
    }
}

#endif
