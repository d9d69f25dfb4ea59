/* far.c: see far.h. Workers replay from the start and send everything that their code
   waits for each time, so most of what they send is on the record already. The rule that tells new
   from old: a member of a barrier names its step; any other blocking command is the next open step
   that nobody claimed, when it has the same shape, else a new one. Whether a condition that is sent
   again is the one that is open or the next with the same key, nobody can tell once a signal or an
   update came that the worker has seen: it is opened anew then, and the one before has thereby been
   left. Steps that were resolved while the worker had the run are named by it as if they were open.
 */
#include "replay/far.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "replay/far_impl.h"

hf_far *hf_far_new(void)
{
    hf_far *code = hf_alloc(sizeof(*code));

    if (!code)
        return NULL;
    code->next_step = 1;
    code->mem = hf_mem_new();
    code->rows_mem = hf_mem_new();
    if (code->mem && code->rows_mem)
        return code;
    hf_far_free(code);
    return NULL;
}

void hf_far_free(hf_far *code)
{
    if (!code)
        return;
    hf_alloc_free(code->steps);
    hf_alloc_free(code->closed);
    hf_alloc_free(code->messages);
    hf_mem_free(code->mem);
    hf_mem_free(code->rows_mem);
    hf_alloc_free(code);
}

/* ---- what history says */

static far_step *step_find(hf_far *code, int64_t step)
{
    for (size_t i = 0; i < code->step_count; i++)
        if (code->steps[i].step == step)
            return &code->steps[i];
    return NULL;
}

/* Code has gone on behind the timeouts of these. */
static void waits_leave(hf_far *code)
{
    for (size_t i = code->step_count; i-- > 0;)
        if (code->steps[i].shape == HF_HISTORY_SHAPE_SIGNAL_WAIT && code->steps[i].timed_out)
            code->steps[i] = code->steps[--code->step_count];
}

/* Room for one more. */
static hf_status steps_grow(far_step **steps, size_t count, size_t *io_room, hf_err *err)
{
    size_t room = *io_room ? *io_room * 2 : 8;
    far_step *more;

    if (count < *io_room)
        return HF_OK;
    more = hf_alloc_resize(*steps, room * sizeof(*more));
    if (!more)
        return hf_err_nomem(err, "a step of a run");
    *steps = more;
    *io_room = room;
    return HF_OK;
}

/* A text of an event for as long as the run is known. False: no memory. */
static bool text_keep(hf_far *code, const hf_event *event, hf_event_key key, hf_slice *out_text)
{
    hf_slice text;

    if (!hf_event_text(event, key, &text))
        return true;
    *out_text = hf_slice_from(hf_mem_text(code->mem, text), text.len);
    return out_text->ptr != NULL;
}

static hf_status step_open(hf_far *code, const hf_event *event, int64_t seq, hf_history_shape shape,
                           hf_event_key name_key, hf_err *err)
{
    far_step step = {.step = event->step, .shape = shape, .seq = seq};
    hf_status st = steps_grow(&code->steps, code->step_count, &code->step_room, err);

    if (st)
        return st;
    waits_leave(code);
    if (hf_event_key_allowed(event->type, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE) &&
        !hf_event_int(event, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, &step.group))
        step.group = 0;
    if (name_key && !text_keep(code, event, name_key, &step.key))
        return hf_err_nomem(err, "a step of a run");
    if (shape == HF_HISTORY_SHAPE_CONDITION_WAIT &&
        (!text_keep(code, event, HF_KEY_CONDITION_DEFINITION_FINGERPRINT, &step.fingerprint) ||
         !text_keep(code, event, HF_KEY_CONDITION_WAIT_OCCURRENCE_ID, &step.occurrence)))
        return hf_err_nomem(err, "a step of a run");
    code->steps[code->step_count++] = step;
    return HF_OK;
}

static bool group_open(const hf_far *code, int64_t group)
{
    for (size_t i = 0; i < code->step_count; i++)
        if (code->steps[i].group == group)
            return true;
    return false;
}

/* A step is resolved. Code that waits for a whole barrier has nothing to do before its last member,
   or the first that failed. */
static hf_status step_close(hf_far *code, int64_t step, bool failed, int64_t seq, hf_err *err)
{
    far_step *found = step_find(code, step);
    int64_t group = found ? found->group : 0;
    hf_status st = HF_OK;

    if (found && code->handed_seq && seq > code->handed_seq) {
        st = steps_grow(&code->closed, code->closed_count, &code->closed_room, err);
        if (!st)
            code->closed[code->closed_count++] = *found;
    }
    if (found)
        *found = code->steps[--code->step_count];
    if (!group || failed || !group_open(code, group))
        code->news_seq = seq;
    return st;
}

static void received(hf_far *code, int64_t seq)
{
    code->news_seq = seq;
    if (!code->handed_seq || seq <= code->handed_seq)
        code->received_seq = seq;
    else
        code->unseen_seq = seq;
}

/* What a signal brought; without arguments it is true. False: no memory. */
static bool brought_keep(hf_mem *mem, const hf_event *event, hf_payload_value *out_value)
{
    if (!hf_event_payload(event, HF_KEY_ARGUMENTS, out_value) ||
        out_value->form == HF_PAYLOAD_FORM_ERASED)
        *out_value = hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("true"));
    if (out_value->digest)
        out_value->digest = (const uint8_t *)hf_mem_text(
            mem, hf_slice_from((const char *)out_value->digest, HF_SHA256_BYTES));
    else
        out_value->bytes.ptr = hf_mem_text(mem, out_value->bytes);
    return out_value->digest || out_value->bytes.ptr;
}

static hf_status message_add(hf_far *code, const hf_event *event, int64_t seq, hf_err *err)
{
    bool update = event->type == HF_EVENT_UPDATE_ACCEPTED;
    far_message message = {.seq = seq, .update = update};
    hf_slice name;

    if (code->message_count == code->message_room) {
        size_t room = code->message_room ? code->message_room * 2 : 8;
        far_message *messages = hf_alloc_resize(code->messages, room * sizeof(*messages));

        if (!messages)
            return hf_err_nomem(err, "a message");
        code->messages = messages;
        code->message_room = room;
    }
    if (!hf_event_id(event, update ? HF_KEY_UPDATE_ID : HF_KEY_SIGNAL_ID, &message.id) ||
        !hf_event_text(event, update ? HF_KEY_UPDATE_NAME : HF_KEY_SIGNAL_NAME, &name))
        return hf_err_set(err, HF_CORRUPT, "event %lld brings a message without id or name",
                          (long long)seq);
    message.name = hf_slice_from(hf_mem_text(code->mem, name), name.len);
    if (!message.name.ptr || (!update && !brought_keep(code->mem, event, &message.brought)))
        return hf_err_nomem(err, "a message");
    code->messages[code->message_count++] = message;
    received(code, seq);
    return HF_OK;
}

/* Messages go in the order in which they came, mostly: the search begins behind the one before. */
static void message_remove(hf_far *code, const hf_event *event, hf_event_key key)
{
    hf_ulid id;

    if (!hf_event_id(event, key, &id))
        return;
    for (size_t i = 0; i < code->message_count; i++) {
        size_t at = (code->message_hint + i) % code->message_count;

        if (hf_ulid_compare(&code->messages[at].id, &id) == 0) {
            code->messages_gone += !code->messages[at].gone;
            code->messages[at].gone = true;
            code->message_hint = at + 1;
            return;
        }
    }
}

/* Takes those that are gone out of the list, all at once. */
static void messages_close_up(hf_far *code)
{
    size_t kept = 0;

    for (size_t i = 0; code->messages_gone && i < code->message_count; i++)
        if (!code->messages[i].gone)
            code->messages[kept++] = code->messages[i];
    if (code->messages_gone)
        code->message_count = kept;
    code->messages_gone = 0;
    code->message_hint = 0;
}

far_message *hf_far_message(hf_far *code, int64_t seq)
{
    size_t low = 0;
    size_t high = code->message_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (code->messages[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->message_count && code->messages[low].seq == seq ? &code->messages[low]
                                                                       : NULL;
}

/* A timer stands alone, or ends the wait of its step. */
static hf_status timer_feed(hf_far *code, const hf_event *event, int64_t seq, hf_err *err)
{
    far_step *wait = step_find(code, event->step);
    bool own = !wait || wait->shape == HF_HISTORY_SHAPE_TIMER;

    switch ((int)event->type) {
    case HF_EVENT_TIMER_SCHEDULED:
        if (!wait)
            return step_open(code, event, seq, HF_HISTORY_SHAPE_TIMER, 0, err);
        wait->timer = true;
        break;
    case HF_EVENT_TIMER_FIRED:
        if (own)
            return step_close(code, event->step, false, seq, err);
        wait->timer = false;
        wait->timed_out = true;
        wait->unseen = code->handed_seq && seq > code->handed_seq;
        code->news_seq = seq; /* a signal wait stays until code goes on: one may have come before */
        break;
    case HF_EVENT_TIMER_CANCELLED:
        if (own)
            return step_close(code, event->step, false, seq, err);
        wait->timer = false;
        break;
    }
    return HF_OK;
}

static hf_status event_feed(hf_far *code, const hf_event *event, int64_t seq, hf_err *err)
{
    switch ((int)event->type) {
    case HF_EVENT_CANCEL_REQUESTED:
        code->cancel_asked = true;
        code->news_seq = seq;
        return HF_OK;
    case HF_EVENT_WORKFLOW_STARTED:
    case HF_EVENT_UPDATE_APPLIED:
        received(code, seq);
        return HF_OK;
    case HF_EVENT_ACTIVITY_SCHEDULED:
        return step_open(code, event, seq, HF_HISTORY_SHAPE_ACTIVITY, HF_KEY_ACTIVITY_TYPE, err);
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        return step_open(code, event, seq, HF_HISTORY_SHAPE_CHILD_WORKFLOW, 0, err);
    case HF_EVENT_CONDITION_WAIT_OPENED:
        return step_open(code, event, seq, HF_HISTORY_SHAPE_CONDITION_WAIT, HF_KEY_CONDITION_KEY,
                         err);
    case HF_EVENT_SIGNAL_WAIT_OPENED:
        return step_open(code, event, seq, HF_HISTORY_SHAPE_SIGNAL_WAIT, HF_KEY_SIGNAL_NAME, err);
    case HF_EVENT_TIMER_SCHEDULED:
    case HF_EVENT_TIMER_FIRED:
    case HF_EVENT_TIMER_CANCELLED:
        return timer_feed(code, event, seq, err);
    case HF_EVENT_ACTIVITY_COMPLETED:
    case HF_EVENT_CHILD_RUN_COMPLETED:
        return step_close(code, event->step, false, seq, err);
    case HF_EVENT_ACTIVITY_FAILED:
    case HF_EVENT_ACTIVITY_TIMED_OUT:
    case HF_EVENT_ACTIVITY_CANCELLED:
    case HF_EVENT_CHILD_RUN_FAILED:
    case HF_EVENT_CHILD_RUN_CANCELLED:
    case HF_EVENT_CHILD_RUN_TERMINATED:
        return step_close(code, event->step, true, seq, err);
    case HF_EVENT_CONDITION_WAIT_SATISFIED: /* because its worker went on: no news to it */
        return step_close(code, event->step, true, code->news_seq, err);
    case HF_EVENT_CONDITION_WAIT_TIMED_OUT:
        return step_close(code, event->step, true, seq, err);
    case HF_EVENT_SIGNAL_RECEIVED:
    case HF_EVENT_UPDATE_ACCEPTED:
        return message_add(code, event, seq, err);
    case HF_EVENT_SIGNAL_APPLIED:
        message_remove(code, event, HF_KEY_SIGNAL_ID);
        return event->step ? step_close(code, event->step, false, seq, err) : HF_OK;
    case HF_EVENT_UPDATE_COMPLETED:
        message_remove(code, event, HF_KEY_UPDATE_ID);
        if (code->native && hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &(hf_slice){0}))
            code->news_seq = seq; /* the turn ended there: code goes on in the next */
        return HF_OK;
    default:
        return HF_OK;
    }
}

/* Code that runs as ours does says where each of its steps is. */
static bool is_native(const hf_event *event)
{
    return hf_event_key_allowed(event->type, HF_KEY_SOURCE_LINE) &&
           hf_event_text(event, HF_KEY_SOURCE_LINE, &(hf_slice){0});
}

hf_status hf_far_feed(hf_far *code, const hf_event *events, size_t count, int64_t first_seq,
                      hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++) {
        code->native |= is_native(&events[i]);
        st = event_feed(code, &events[i], first_seq + (int64_t)i, err);
        code->seq = first_seq + (int64_t)i;
        if (!hf_event_outside_fact(events[i].type))
            code->moved_seq = code->seq;
        if (events[i].step >= code->next_step && hf_event_shape(events[i].type))
            code->next_step = events[i].step + 1;
    }
    messages_close_up(code);
    return st;
}

void hf_far_handed(hf_far *code, int64_t seq)
{
    code->handed_seq = seq;
    code->closed_count = 0;
    for (size_t i = 0; i < code->step_count; i++)
        code->steps[i].unseen = false;
    if (code->unseen_seq)
        code->received_seq = code->unseen_seq;
    code->unseen_seq = 0;
}

int64_t hf_far_news(const hf_far *code)
{
    return code->news_seq;
}

bool hf_far_reopened(const hf_far *code)
{
    return code->reopened;
}

int64_t hf_far_update(const hf_far *code)
{
    for (size_t i = 0; i < code->message_count; i++)
        if (code->messages[i].update)
            return code->messages[i].seq;
    return 0;
}

size_t hf_far_held(const hf_far *code)
{
    return hf_mem_held(code->mem) + (code->step_room + code->closed_room) * sizeof(far_step) +
           code->message_room * sizeof(far_message) + sizeof(*code);
}

void hf_far_waiting(const hf_far *code, char *out_text, size_t size)
{
    const far_step *oldest = NULL;

    for (size_t i = 0; i < code->step_count; i++)
        if (!code->steps[i].timed_out && (!oldest || code->steps[i].step < oldest->step))
            oldest = &code->steps[i];
    *out_text = '\0';
    if (!oldest)
        return;
    switch (oldest->shape) {
    case HF_HISTORY_SHAPE_SIGNAL_WAIT:
    case HF_HISTORY_SHAPE_CONDITION_WAIT:
        (void)snprintf(out_text, size, "%s%s%.*s",
                       oldest->shape == HF_HISTORY_SHAPE_SIGNAL_WAIT ? "signal" : "condition",
                       oldest->key.len ? ":" : "", (int)oldest->key.len, oldest->key.ptr);
        break;
    case HF_HISTORY_SHAPE_CHILD_WORKFLOW:
        (void)snprintf(out_text, size, "child");
        break;
    default:
        (void)snprintf(out_text, size, "%s", hf_history_shape_text(oldest->shape));
        break;
    }
}

/* ---- what is decided */

hf_decision_row *hf_far_row_add(hf_far *code, hf_err *err)
{
    if (code->row_count == code->row_room) {
        size_t room = code->row_room ? code->row_room * 2 : 16;
        hf_decision_row *rows = hf_mem_array(code->rows_mem, room, sizeof(*rows));

        if (!rows) {
            (void)hf_err_nomem(err, "decisions");
            return NULL;
        }
        if (code->row_count)
            memcpy(rows, code->rows, code->row_count * sizeof(*rows));
        code->rows = rows;
        code->row_room = room;
    }
    code->rows[code->row_count] = (hf_decision_row){0};
    return &code->rows[code->row_count++];
}

static hf_status wait_end(hf_far *code, const far_step *wait, hf_decision kind, hf_err *err)
{
    hf_decision_row *row;

    if (wait->timer) {
        row = hf_far_row_add(code, err);
        if (!row)
            return HF_NOMEM;
        row->kind = HF_DECISION_CANCEL_TIMER;
        row->step = wait->step;
    }
    row = hf_far_row_add(code, err);
    if (!row)
        return HF_NOMEM;
    row->kind = kind;
    row->step = wait->step;
    row->name = wait->key;
    row->wait.fingerprint = wait->fingerprint;
    return HF_OK;
}

/* The oldest signal of that name that no decision of the turn has taken. */
static far_message *signal_for(const hf_far *code, hf_slice name)
{
    for (size_t i = 0; i < code->message_count; i++)
        if (!code->messages[i].taken && !code->messages[i].update &&
            hf_slice_equal(code->messages[i].name, name))
            return &code->messages[i];
    return NULL;
}

static hf_status signal_apply(hf_far *code, far_message *message, int64_t step, hf_err *err)
{
    hf_decision_row *row = hf_far_row_add(code, err);
    hf_payload_value *brought = row ? hf_mem_alloc(code->rows_mem, sizeof(*brought)) : NULL;

    if (!brought)
        return hf_err_nomem(err, "a signal");
    *brought = message->brought;
    message->taken = true;
    row->kind = HF_DECISION_APPLY_SIGNAL;
    row->step = step;
    row->name = message->name;
    row->fact.seq = message->seq;
    row->fact.as_sent = brought;
    return HF_OK;
}

/* Signals resolve waits that name them; a condition whose timeout fired is over. */
static hf_status facts_decide(hf_far *code, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < code->step_count; i++) {
        const far_step *wait = &code->steps[i];
        far_message *message = NULL;

        if (wait->shape == HF_HISTORY_SHAPE_CONDITION_WAIT && wait->timed_out)
            st = wait_end(code, wait, HF_DECISION_TIME_OUT_CONDITION, err);
        if (wait->shape != HF_HISTORY_SHAPE_SIGNAL_WAIT || wait->timed_out)
            continue;
        message = signal_for(code, wait->key);
        if (!message)
            continue;
        if (wait->timer) {
            hf_decision_row *row = hf_far_row_add(code, err);

            if (!row)
                return HF_NOMEM;
            row->kind = HF_DECISION_CANCEL_TIMER;
            row->step = wait->step;
        }
        st = signal_apply(code, message, wait->step, err);
    }
    return st;
}

static bool decision_blocks(hf_decision kind)
{
    return kind == HF_DECISION_SCHEDULE_ACTIVITY || kind == HF_DECISION_START_TIMER ||
           kind == HF_DECISION_START_CHILD_WORKFLOW || kind == HF_DECISION_OPEN_SIGNAL_WAIT ||
           kind == HF_DECISION_OPEN_CONDITION_WAIT;
}

static hf_history_shape decision_shape(hf_decision kind)
{
    switch ((int)kind) {
    case HF_DECISION_START_TIMER:
        return HF_HISTORY_SHAPE_TIMER;
    case HF_DECISION_START_CHILD_WORKFLOW:
        return HF_HISTORY_SHAPE_CHILD_WORKFLOW;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
        return HF_HISTORY_SHAPE_SIGNAL_WAIT;
    case HF_DECISION_OPEN_CONDITION_WAIT:
        return HF_HISTORY_SHAPE_CONDITION_WAIT;
    default:
        return HF_HISTORY_SHAPE_ACTIVITY;
    }
}

/* The code may have gone past the condition into another one when it was told of a message since;
   only code that has a name for each of its waits says which. With a further message on the way
   that stays open: the worker gets another task at once, and code that replays must find both
   messages at the wait, not its end between them. */
static bool condition_passed(hf_far *code, const far_step *wait, const hf_decision_row *row)
{
    bool same = code->row_count == 0 && hf_slice_equal(wait->key, row->name) &&
                hf_slice_equal(wait->fingerprint, row->wait.fingerprint);

    if (wait->occurrence.ptr && row->wait.occurrence.ptr)
        return !hf_slice_equal(wait->occurrence, row->wait.occurrence);
    if (code->received_seq <= wait->seq || (same && code->unseen_seq))
        return false;
    code->reopened |= same;
    return true;
}

/* The open step that the command stands for: the oldest of its shape that none before it took. */
static far_step *step_claim(hf_far *code, const hf_decision_row *row)
{
    far_step *found = NULL;

    for (size_t i = 0; i < code->step_count + code->closed_count; i++) {
        far_step *step =
            i < code->step_count ? &code->steps[i] : &code->closed[i - code->step_count];

        if (step->claimed || step->shape != decision_shape(row->kind) || step->group ||
            (step->timed_out && !step->unseen) ||
            (step->shape == HF_HISTORY_SHAPE_CONDITION_WAIT && condition_passed(code, step, row)))
            continue;
        if (!found || step->step < found->step)
            found = step;
    }
    if (found)
        found->claimed = true;
    return found;
}

/* The worker's code went past every condition that is open. */
static hf_status conditions_leave(hf_far *code, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < code->step_count; i++) {
        far_step *wait = &code->steps[i];

        if (wait->shape != HF_HISTORY_SHAPE_CONDITION_WAIT || wait->claimed || wait->timed_out)
            continue;
        wait->claimed = true;
        st = wait_end(code, wait, HF_DECISION_SATISFY_CONDITION, err);
    }
    return st;
}

static hf_status update_decide(hf_far *code, const hf_worker_command *command, hf_err *err)
{
    const far_message *message = NULL;
    hf_decision_row *row;
    hf_ulid id;

    if (hf_ulid_parse(command->update_id, &id))
        for (size_t i = 0; !message && i < code->message_count; i++)
            if (code->messages[i].update && hf_ulid_compare(&code->messages[i].id, &id) == 0)
                message = &code->messages[i];
    if (!message)
        return hf_err_set(err, HF_INVALID, "update %.*s is not open", (int)command->update_id.len,
                          command->update_id.ptr);
    row = hf_far_row_add(code, err);
    if (!row)
        return HF_NOMEM;
    *row = command->row;
    row->name = message->name;
    if (row->kind == HF_DECISION_FAIL_UPDATE)
        row->failure.seq = message->seq;
    else
        row->fact.seq = message->seq;
    return HF_OK;
}

static bool decision_has_step(hf_decision kind)
{
    return kind != HF_DECISION_COMPLETE_WORKFLOW && kind != HF_DECISION_FAIL_WORKFLOW &&
           kind != HF_DECISION_CONTINUE_AS_NEW;
}

static hf_status command_decide(hf_far *code, const hf_worker_command *command, int64_t *next,
                                hf_err *err)
{
    const hf_decision_row *given = &command->row;
    hf_decision_row *row;
    hf_status st;

    if (command->update_id.ptr)
        return update_decide(code, command, err);
    if (given->step && given->step < code->next_step) { /* a member of a barrier, on the record */
        const far_step *recorded = step_find(code, given->step);

        return recorded && recorded->shape != decision_shape(given->kind)
                   ? hf_err_set(err, HF_INVALID,
                                "a parallel group has a %s at step %lld, which is recorded as %s",
                                hf_history_shape_text(decision_shape(given->kind)),
                                (long long)given->step, hf_history_shape_text(recorded->shape))
                   : HF_OK;
    }
    if (given->step && given->step != *next)
        return hf_err_set(err, HF_INVALID,
                          "a parallel group names step %lld, but the next one is %lld",
                          (long long)given->step, (long long)*next);
    if (!given->step && decision_blocks(given->kind) && step_claim(code, given))
        return HF_OK;
    st = conditions_leave(code, err);
    row = st ? NULL : hf_far_row_add(code, err);
    if (!row)
        return st ? st : HF_NOMEM;
    *row = *given;
    if (decision_has_step(given->kind))
        row->step = (*next)++;
    return HF_OK;
}

/* All members of a barrier are opened in the turn that opens the first. */
static hf_status groups_check(const hf_far *code, int64_t next, hf_err *err)
{
    for (size_t i = 0; i < code->row_count; i++) {
        const hf_decision_row *row = &code->rows[i];

        for (size_t k = 0; k < row->group_count; k++)
            if (row->groups[k].base_step < code->next_step ||
                row->groups[k].base_step + row->groups[k].size > next)
                return hf_err_set(err, HF_INVALID,
                                  "members of the parallel group of %lld at step %lld are missing",
                                  (long long)row->groups[k].size,
                                  (long long)row->groups[k].base_step);
    }
    return HF_OK;
}

/* Signals that the worker has seen were taken by its handlers, unless a wait names them. */
static hf_status signals_settle(hf_far *code, int64_t seen_seq, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < code->message_count; i++) {
        far_message *message = &code->messages[i];

        if (!message->update && !message->taken && message->seq <= seen_seq)
            st = signal_apply(code, message, 0, err);
    }
    return st;
}

hf_status hf_far_turn(hf_far *code, const hf_worker_answer *answer, hf_decision_row **out_rows,
                      size_t *out_count, hf_err *err)
{
    int64_t next = code->next_step;
    hf_status st;

    hf_mem_reset(code->rows_mem);
    code->rows = NULL;
    code->row_count = 0;
    code->row_room = 0;
    code->reopened = false;
    for (size_t i = 0; i < code->step_count; i++)
        code->steps[i].claimed = false;
    for (size_t i = 0; i < code->closed_count; i++)
        code->closed[i].claimed = false;
    for (size_t i = 0; i < code->message_count; i++)
        code->messages[i].taken = false;
    if (answer && answer->native) {
        st = hf_far_native(code, answer, err);
        *out_rows = code->rows;
        *out_count = code->row_count;
        return st;
    }
    if (answer && !answer->count && !code->step_count && !code->closed_count)
        return hf_err_set(err, HF_INVALID, "the run waits for nothing that could wake it");
    st = code->native ? HF_OK : facts_decide(code, err);
    for (size_t i = 0; !st && answer && i < answer->count; i++)
        st = command_decide(code, &answer->commands[i], &next, err);
    if (!st)
        st = groups_check(code, next, err);
    if (!st && answer && !(answer->count && answer->commands[0].update_id.ptr)) {
        /* handled signals are on the record before the run ends or goes on waiting */
        size_t decided = code->row_count;

        st = signals_settle(code, answer->seen_seq, err);
        if (!st && code->row_count > decided && decided &&
            !decision_has_step(code->rows[decided - 1].kind)) {
            hf_decision_row last = code->rows[decided - 1];

            memmove(&code->rows[decided - 1], &code->rows[decided],
                    (code->row_count - decided) * sizeof(last));
            code->rows[code->row_count - 1] = last;
        }
    }
    *out_rows = code->rows;
    *out_count = code->row_count;
    return st;
}
