/* replay.c: one run's code and facts, from the outside: feeding, turns, queries. The rule: a turn
   either leaves decisions that follow from the events, or says why it cannot; it never leaves half
   a decision. */
#include "replay/replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "replay/inside.h"

hf_status hf_replay_new(const hf_replay_info *info, hf_replay **out_replay, hf_err *err)
{
    hf_replay *replay;

    if (!info->far && (!info->definition || (!info->definition->run && !info->machine)))
        return hf_err_set(err, HF_MISUSE, "a replay needs a definition with a function");
    replay = hf_alloc(sizeof(*replay));
    if (!replay)
        return hf_err_nomem(err, "a replay");
    hf_history_init(&replay->history);
    replay->info = *info;
    replay->ctx = (hf_ctx){.tag = HF_CTX_TAG, .replay = replay};
    replay->waiting = "";
    replay->children_end = &replay->children;
    hf_rng_init_seeded(&replay->rng, info->random_seed);
    replay->mem = hf_mem_new();
    replay->turn = hf_mem_new();
    if (replay->mem)
        replay->state = hf_mem_alloc(replay->mem, info->far ? 0 : info->definition->state_size);
    if (info->machine || info->far_steps)
        replay->steps = hf_steps_new(info->machine);
    else if (info->far)
        replay->far = hf_far_new();
    if (!replay->mem || !replay->turn || !replay->state ||
        ((info->machine || info->far_steps) && !replay->steps) ||
        (info->far && !replay->steps && !replay->far)) {
        hf_replay_free(replay);
        return hf_err_nomem(err, "a replay");
    }
    *out_replay = replay;
    return HF_OK;
}

/* Whether its code is parked and wants to be told that it will not go on. */
static bool unwinds(const hf_replay *replay)
{
    return replay->coro && replay->waiting[0] && !replay->closed && !replay->broken &&
           replay->leave == HF_LEAVE_PARKED && replay->info.definition &&
           (replay->info.definition->flags & HF_WORKFLOW_UNWINDS);
}

void hf_replay_free(hf_replay *replay)
{
    if (!replay)
        return;
    if (unwinds(replay)) {
        replay->leaving = true;
        (void)hf_coro_resume(replay->coro);
    }
    hf_in_run_deferred(replay);
    hf_coro_free(replay->coro);
    hf_steps_free(replay->steps);
    hf_far_free(replay->far);
    hf_history_fini(&replay->history);
    hf_sha256_free(replay->sha);
    if (replay->mem)
        hf_mem_free(replay->mem);
    if (replay->turn)
        hf_mem_free(replay->turn);
    hf_alloc_free(replay);
}

void hf_replay_part(hf_replay *replay)
{
    if (replay->coro)
        hf_coro_part(replay->coro);
}

/* ---- feeding */

/* What code decided before it was recorded is compared when the record comes. */
static void step_recorded(hf_replay *replay, const hf_event *event, int64_t seq)
{
    hf_record *record = hf_history_get(&replay->history, event->step);

    if (!record)
        return;
    if (event->type == HF_EVENT_CHILD_WORKFLOW_SCHEDULED && record->has_id)
        for (hf_child_call *child = replay->children; child; child = child->next)
            if (child->step == event->step) {
                child->open_seq = seq;
                hf_ulid_print(&record->id, child->text);
            }
    if (record->wanted.shape && !replay->blocked) {
        const hf_want want = {.look = record->wanted, .at = record->at};

        replay->blocked = !hf_in_same(replay, record, &want);
    }
    hf_history_settle(&replay->history, record);
}

static void line_keep(hf_replay *replay, const hf_event *event)
{
    hf_slice line;

    if (hf_event_has_flag(event->type, HF_EVENT_OPENS) &&
        hf_event_text(event, HF_KEY_SOURCE_LINE, &line) && line.len < sizeof(replay->line)) {
        if (line.len)
            memcpy(replay->line, line.ptr, line.len);
        replay->line[line.len] = '\0';
    }
}

hf_status hf_replay_feed(hf_replay *replay, const hf_event *events, size_t count, int64_t first_seq,
                         hf_err *err)
{
    if (replay->broken)
        return hf_err_set(err, HF_ABANDONED, "the replay failed before");
    if (first_seq != replay->history.seq + 1)
        return hf_err_set(err, HF_MISUSE, "event %" PRId64 " was fed, %" PRId64 " comes next",
                          first_seq, replay->history.seq + 1);
    for (size_t i = 0; i < count; i++) {
        hf_status st;

        if (replay->steps)
            st = hf_steps_feed(replay->steps, &events[i], ++replay->history.seq, err);
        else if (replay->far)
            st = hf_far_feed(replay->far, &events[i], 1, ++replay->history.seq, err);
        else
            st = hf_history_add(&replay->history, &events[i], err);

        if (st) {
            replay->broken = true;
            return hf_err_because(err, st, "feed a replay");
        }
        line_keep(replay, &events[i]);
        if (!replay->steps && !replay->far && hf_event_opens_step(&events[i]))
            step_recorded(replay, &events[i], replay->history.seq);
    }
    if (replay->steps)
        hf_steps_waiting(replay->steps, replay->waiting_text, sizeof(replay->waiting_text));
    if (replay->far)
        hf_far_waiting(replay->far, replay->waiting_text, sizeof(replay->waiting_text));
    if (replay->steps || replay->far)
        replay->waiting = replay->waiting_text;
    return HF_OK;
}

/* ---- turns */

static hf_status turn_start(hf_replay *replay, hf_err *err)
{
    size_t stack =
        replay->info.stack_bytes ? replay->info.stack_bytes : replay->info.definition->stack;

    if (!replay->history.has_started)
        return hf_err_set(err, HF_MISUSE, "a turn needs the run's WorkflowStarted");
    replay->consumed = replay->history.started;
    if (replay->history.origin)
        hf_rng_init_seeded(&replay->rng, hf_replay_seed(replay->history.origin));
    return hf_coro_new(replay->info.stacks, stack, hf_in_body, replay, &replay->coro, err);
}

static hf_status turn_end(hf_replay *replay, hf_turn *out_turn, hf_err *err)
{
    if (replay->history.closed)
        replay->decision_count = 0;
    switch (replay->leave) {
    case HF_LEAVE_PARKED:
        replay->closed = replay->history.closed; /* by somebody else */
        *out_turn = replay->closed ? HF_TURN_CLOSED : HF_TURN_PARKED;
        return HF_OK;
    case HF_LEAVE_CLOSED:
        replay->closed = true;
        *out_turn = HF_TURN_CLOSED;
        return HF_OK;
    case HF_LEAVE_BLOCKED:
        replay->blocked = true;
        replay->decision_count = 0;
        *out_turn = HF_TURN_BLOCKED;
        return HF_OK;
    case HF_LEAVE_BROKEN:
        replay->broken = true;
        replay->decision_count = 0;
        return hf_err_set(err, replay->failure.status, "%s", replay->failure.text);
    case HF_LEAVE_ABANDONED:
        break;
    }
    replay->broken = true;
    replay->decision_count = 0;
    return hf_err_set(err, HF_ABANDONED, "the code gave itself up");
}

/* A machine's turn runs no code: its step ran before it. */
static hf_status turn_step(hf_replay *replay, hf_turn *out_turn, hf_err *err)
{
    const hf_step_end *end = replay->end;
    hf_status st = HF_OK;

    replay->end = NULL;
    *out_turn = hf_steps_closed(replay->steps) ? HF_TURN_CLOSED : HF_TURN_PARKED;
    if (end && *out_turn == HF_TURN_PARKED) {
        st = hf_steps_decide(replay->steps, end, replay->turn, &replay->decisions,
                             &replay->decision_count, err);
        if (end->outcome == HF_STEP_OUTCOME_DONE || end->outcome == HF_STEP_OUTCOME_STOP)
            *out_turn = HF_TURN_CLOSED;
    }
    return st;
}

/* Nor does the turn of a run whose code is elsewhere. */
static hf_status turn_far(hf_replay *replay, hf_turn *out_turn, hf_err *err)
{
    const hf_worker_answer *answer = replay->answer;
    hf_status st;

    replay->answer = NULL;
    *out_turn = HF_TURN_PARKED;
    st = hf_far_turn(replay->far, answer, &replay->decisions, &replay->decision_count, err);
    replay->measured = (answer && answer->measured) || hf_far_reopened(replay->far);
    return st;
}

hf_status hf_replay_turn(hf_replay *replay, hf_turn *out_turn, hf_err *err)
{
    hf_status st;

    if (replay->broken || replay->spoiled)
        return hf_err_set(err, HF_ABANDONED, "this replay takes no further turn");
    hf_mem_reset(replay->turn);
    replay->decisions = NULL;
    replay->decision_count = 0;
    replay->decision_room = 0;
    replay->events = 0;
    replay->measured = false;
    if (replay->steps)
        return turn_step(replay, out_turn, err);
    if (replay->far)
        return turn_far(replay, out_turn, err);
    if (replay->blocked || replay->closed) {
        *out_turn = replay->blocked ? HF_TURN_BLOCKED : HF_TURN_CLOSED;
        return HF_OK;
    }
    if (!replay->coro) {
        st = turn_start(replay, err);
        if (st)
            return st;
    }
    (void)hf_coro_resume(replay->coro);
    return turn_end(replay, out_turn, err);
}

const hf_decision_row *hf_replay_decisions(const hf_replay *replay, size_t *out_count)
{
    *out_count = replay->decision_count;
    return replay->decisions;
}

bool hf_replay_measured(const hf_replay *replay)
{
    return replay->measured;
}

bool hf_replay_spoiled(const hf_replay *replay)
{
    return replay->spoiled;
}

const hf_replay_mismatch *hf_replay_mismatch_get(const hf_replay *replay)
{
    return replay->blocked ? &replay->mismatch : NULL;
}

/* ---- looking */

static const hf_query_def *query_def(const hf_replay *replay, hf_slice name)
{
    const hf_query_def *query = replay->info.definition->queries;

    for (; query && query->name; query++)
        if (query->read && hf_slice_equal(hf_slice_of(query->name), name))
            return query;
    return NULL;
}

/* Queries and checks run on the caller's stack; a call that does not come back (hf_fail through a
   handle that was kept) ends in a frame here instead. */
static void frame_enter(hf_replay *replay, hf_frame *frame)
{
    *frame = (hf_frame){.outer = replay->frame, .place = replay->place};
    replay->frame = frame;
    replay->place = HF_PLACE_QUERY;
}

static void frame_exit(hf_replay *replay, const hf_frame *frame)
{
    replay->frame = frame->outer;
    replay->place = frame->place;
}

void hf_replay_freeze(hf_replay *replay)
{
    replay->frozen = true;
}

hf_status hf_replay_query(hf_replay *replay, hf_slice name, hf_value args, hf_mem *mem,
                          hf_value *out_value, hf_err *err)
{
    const hf_query_def *volatile query =
        replay->info.far ? NULL : query_def(replay, name); /* kept over setjmp */
    hf_frame frame;

    *out_value = hf_value_null();
    if (replay->info.far)
        return hf_err_set(err, HF_NOTFOUND, "the workflow's code is in another process");
    if (!query)
        return hf_err_set(err, HF_NOTFOUND, "the workflow has no query \"%.*s\"", (int)name.len,
                          name.ptr);
    frame_enter(replay, &frame);
    if (setjmp(frame.jump) == 0) {
        hf_value value = query->read(mem, replay->state, args);

        if (value)
            *out_value = value;
    }
    frame_exit(replay, &frame);
    if (frame.failure)
        return hf_err_set(err, HF_MISUSE, "the query failed: %s: %s", frame.failure->seen.type,
                          frame.failure->seen.message);
    return HF_OK;
}

hf_status hf_replay_check_update(hf_replay *replay, hf_slice name, hf_value args,
                                 const char **out_reason, hf_err *err)
{
    const hf_update_def *const update = hf_in_update_def(replay, name.ptr, name.len);
    hf_frame frame;

    *out_reason = NULL;
    if (!update)
        return hf_err_set(err, HF_NOTFOUND, "the workflow has no update \"%.*s\"", (int)name.len,
                          name.ptr);
    if (!update->check)
        return HF_OK;
    frame_enter(replay, &frame);
    if (setjmp(frame.jump) == 0)
        *out_reason = update->check(replay->state, args);
    frame_exit(replay, &frame);
    if (frame.failure)
        *out_reason = frame.failure->seen.message;
    return HF_OK;
}

size_t hf_replay_held(const hf_replay *replay)
{
    return sizeof(*replay) + hf_mem_held(replay->mem) + hf_mem_held(replay->turn) +
           replay->history.room * sizeof(hf_record *) + replay->history.count * sizeof(hf_record) +
           (replay->coro ? hf_coro_touched(replay->coro) : 0) +
           (replay->steps ? hf_steps_held(replay->steps) : 0) +
           (replay->far ? hf_far_held(replay->far) : 0);
}

const char *hf_replay_waiting(const hf_replay *replay)
{
    return replay->waiting;
}

/* ---- step machines */

bool hf_replay_is_machine(const hf_replay *replay)
{
    return replay->steps != NULL;
}

bool hf_replay_work(const hf_replay *replay, hf_step_work *out_work)
{
    return replay->steps && !replay->broken && hf_steps_work(replay->steps, out_work);
}

hf_status hf_replay_work_fill(const hf_replay *replay, hf_mem *mem, hf_step_work *work, hf_err *err)
{
    return hf_steps_fill(replay->steps, &replay->info, mem, work, err);
}

bool hf_replay_step_ended(hf_replay *replay, const hf_step_end *end)
{
    hf_step_work work;

    if (!hf_replay_work(replay, &work) || work.number != end->number)
        return false;
    replay->end = end;
    return true;
}

bool hf_replay_timer_wanted(const hf_replay *replay, int64_t step)
{
    return !replay->steps || hf_steps_timer_wanted(replay->steps, step);
}

/* ---- code in another process */

bool hf_replay_is_far(const hf_replay *replay)
{
    return replay->info.far;
}

void hf_replay_answered(hf_replay *replay, const hf_worker_answer *answer)
{
    replay->answer = answer;
}

void hf_replay_handed(hf_replay *replay, int64_t seq)
{
    if (replay->far)
        hf_far_handed(replay->far, seq);
}

int64_t hf_replay_news(const hf_replay *replay)
{
    return replay->far ? hf_far_news(replay->far) : 0;
}

int64_t hf_replay_open_update(const hf_replay *replay)
{
    return replay->far ? hf_far_update(replay->far) : 0;
}

const char *hf_replay_line(const hf_replay *replay)
{
    return replay->line;
}
