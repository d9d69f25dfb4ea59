/* live.c: a run in memory: what is open in it, and events that it is fed with. Everything here can
   be lost at any moment and made again from what is committed (live_load.c). */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/core_impl.h"
#include "engine/turnstile.h"
#include "engine/errand.h"
#include "engine/lent.h"
#include "engine/live_rows.h"

live_run *hf_live_new(hf_core *core, int64_t key)
{
    live_run *run = hf_alloc(sizeof(*run));

    if (!run)
        return NULL;
    run->core = core;
    run->key = key;
    hf_list_init(&run->place);
    hf_list_init(&run->hunger);
    return run;
}

void hf_live_count(hf_core *core, live_run *run)
{
    size_t held = run->replay ? hf_replay_held(run->replay) : 0;

    if (run->replay && run->far) /* it goes as a whole, and is more than its replay */
        held += sizeof(*run) + sizeof(*run->far) + hf_mem_held(run->mem);
    core->held -= run->counted;
    core->held += held;
    run->counted = held;
}

void hf_live_forget(hf_core *core, live_run *run)
{
    if (core) {
        HF_ASSERT(core->held >= run->counted);
        core->held -= run->counted;
    }
    run->counted = 0;
    hf_live_ahead_free(run);
    if (!core && run->replay)
        hf_replay_part(run->replay);
    hf_replay_free(run->replay);
    run->replay = NULL;
    hf_list_remove(&run->place);
    hf_mem_free(run->mem);
    run->mem = NULL;
    run->messages_open = 0;
    run->open_count = 0;
    run->look = true;
    run->foreign = false;
}

static void starts_free(hf_core *core, core_start *start)
{
    while (start) {
        core_start *next = start->next;

        if (start->placed && core && core->pool)
            hf_pool_release(core->pool);
        if (core)
            hf_errand_release(core, start);
        hf_job_free(start->job);
        hf_alloc_free(start);
        start = next;
    }
}

static void jobs_free(hf_job *job)
{
    while (job) {
        hf_job *next = job->next;

        hf_job_free(job);
        job = next;
    }
}

static void due_free(core_due *due)
{
    while (due) {
        core_due *next = due->next;

        hf_alloc_free(due);
        due = next;
    }
}

void hf_live_free(hf_core *core, live_run *run)
{
    hf_list_remove(&run->place);
    hf_list_remove(&run->hunger);
    if (core)
        hf_turnstile_forget(core, run);
    hf_live_forget(core, run);
    hf_lent_end(run);
    hf_errand_gone(run);
    starts_free(core, run->starts);
    starts_free(core, run->staged_starts);
    starts_free(core, run->staged_late);
    starts_free(core, run->retries);
    for (const hf_job *job = core ? run->ended : NULL; job; job = job->next)
        core->stale_steps += job->machine != NULL; /* the run ended before they could count */
    jobs_free(run->ended);
    jobs_free(run->staged_ended);
    due_free(run->due);
    due_free(run->staged_due);
    hf_alloc_free(run->messages);
    hf_alloc_free(run->ordinals);
    hf_alloc_free(run->open);
    hf_alloc_free(run);
}

hf_status hf_live_open_add(live_run *run, const hf_open_work *work, hf_err *err)
{
    if (run->open_count == run->open_room) {
        size_t room = run->open_room ? run->open_room * 2 : 4;
        hf_open_work *open = hf_alloc_resize(run->open, room * sizeof(*open));

        if (!open)
            return hf_err_nomem(err, "open work");
        run->open = open;
        run->open_room = room;
    }
    run->open[run->open_count++] = *work;
    return HF_OK;
}

static void open_remove(live_run *run, bool is_timer, int64_t step)
{
    for (size_t i = 0; i < run->open_count; i++) {
        if (run->open[i].is_timer == is_timer && run->open[i].step == step) {
            hf_core_disarm(run->core, run->open[i].key);
            run->open[i] = run->open[--run->open_count];
            return;
        }
    }
}

static hf_status message_add(live_run *run, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_open_message message = {.seq = seq, .update = event->type == HF_EVENT_UPDATE_ACCEPTED};

    if (run->messages_open == run->messages_room) {
        size_t room = run->messages_room ? run->messages_room * 2 : 8;
        hf_open_message *messages = hf_alloc_resize(run->messages, room * sizeof(*messages));
        int64_t *ordinals = hf_alloc_resize(run->ordinals, room * sizeof(*ordinals));

        if (messages)
            run->messages = messages;
        if (ordinals)
            run->ordinals = ordinals;
        if (!messages || !ordinals)
            return hf_err_nomem(err, "messages");
        run->messages_room = room;
    }
    if (!hf_event_id(event, HF_KEY_WORKFLOW_COMMAND_ID, &message.command_id))
        return hf_err_set(err, HF_CORRUPT, "event %lld brings a message without its command",
                          (long long)seq);
    message.command = hf_ulid_key(&message.command_id);
    run->ordinals[run->messages_open] = ++run->message_count;
    run->messages[run->messages_open++] = message;
    return HF_OK;
}

/* Messages that some events close, while they leave the list: all at once, so that thousands of
   them cost what they are and not what is behind each. They go in the order in which they came,
   mostly, so the search begins behind the one before. */
typedef struct messages_end {
    live_run *run;
    size_t hint;
    bool any;
} messages_end;

static void message_drop(messages_end *ends, const hf_ulid *id)
{
    live_run *run = ends->run;

    for (size_t i = 0; i < run->messages_open; i++) {
        size_t at = (ends->hint + i) % run->messages_open;

        if (memcmp(&run->messages[at].command_id, id, sizeof(*id)) == 0) {
            run->messages[at].seq = 0;
            ends->hint = at + 1;
            ends->any = true;
            return;
        }
    }
}

static void messages_close_up(const messages_end *ends)
{
    live_run *run = ends->run;
    size_t kept = 0;

    for (size_t i = 0; ends->any && i < run->messages_open; i++) {
        if (run->messages[i].seq == 0)
            continue;
        run->messages[kept] = run->messages[i];
        run->ordinals[kept++] = run->ordinals[i];
    }
    if (ends->any)
        run->messages_open = kept;
}

static void message_remove(messages_end *ends, const hf_event *event, hf_event_key id_key)
{
    hf_ulid id;

    if (hf_event_id(event, id_key, &id))
        message_drop(ends, &id);
}

/* They are in the order of their events. */
const hf_open_message *hf_live_message(live_run *run, int64_t seq)
{
    size_t low = 0;
    size_t high = run->messages_open;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (run->messages[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == run->messages_open || run->messages[low].seq != seq)
        return NULL;
    if (run->ordinals[low]) /* else its number is known: an earlier run received it */
        run->messages[low].number =
            run->base.message_seq + run->unit_messages - (run->message_count - run->ordinals[low]);
    return &run->messages[low];
}

/* Somebody asked the code to clean up and end; only the first is heard. */
static hf_status cancel_note(live_run *run, const hf_event *event, hf_err *err)
{
    hf_slice text;

    if (run->info.cancel_asked)
        return HF_OK;
    run->info.cancel_asked =
        hf_event_id(event, HF_KEY_WORKFLOW_COMMAND_ID, &run->info.cancel_command);
    if (!hf_event_text(event, HF_KEY_REASON, &text))
        return HF_OK;
    run->info.cancel_reason = hf_slice_from(hf_mem_text(run->mem, text), text.len);
    return run->info.cancel_reason.ptr ? HF_OK : hf_err_nomem(err, "a live run");
}

/* Where the run's metadata stands in its history. */
static hf_status meta_note(live_run *run, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_payload_value payload;
    hf_slice text;

    switch ((int)event->type) {
    case HF_EVENT_WORKFLOW_STARTED:
        run->started_seq = seq;
        run->info.begins_us = 0;
        (void)hf_event_time(event, HF_KEY_AVAILABLE_AT, &run->info.begins_us);
        if (hf_event_json(event, HF_KEY_RETRY_POLICY, &text)) {
            run->info.retry_policy = hf_slice_from(hf_mem_text(run->mem, text), text.len);
            if (!run->info.retry_policy.ptr)
                return hf_err_nomem(err, "a live run");
        }
        if (hf_event_payload(event, HF_KEY_MEMO, &payload))
            run->memo_seq = seq;
        if (hf_event_payload(event, HF_KEY_SEARCH_ATTRIBUTES, &payload))
            run->attributes_seq = seq;
        if (hf_event_text(event, HF_KEY_COMPATIBILITY, &text)) {
            run->info.compatibility = hf_slice_from(hf_mem_text(run->mem, text), text.len);
            if (!run->info.compatibility.ptr)
                return hf_err_nomem(err, "a live run");
        }
        break;
    case HF_EVENT_MEMO_UPSERTED:
        run->memo_seq = seq;
        break;
    case HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED:
        run->attributes_seq = seq;
        break;
    case HF_EVENT_CHILD_WORKFLOW_SCHEDULED:
        run->has_children = true;
        break;
    case HF_EVENT_CANCEL_REQUESTED:
        return cancel_note(run, event, err);
    case HF_EVENT_RUN_PAUSED:
        run->paused = true;
        break;
    case HF_EVENT_RUN_RESUMED:
    case HF_EVENT_RUN_FORKED:
    case HF_EVENT_RUN_RESET: /* what was paused is the run it was copied from */
        run->paused = false;
        run->copied = run->copied || event->type != HF_EVENT_RUN_RESUMED;
        break;
    }
    return HF_OK;
}

hf_status hf_live_feed(live_run *run, const hf_event *events, size_t count, int64_t first_seq,
                       hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++) {
        int64_t seq = first_seq + (int64_t)i;

        if (events[i].type == HF_EVENT_SIGNAL_RECEIVED ||
            events[i].type == HF_EVENT_UPDATE_ACCEPTED)
            st = message_add(run, &events[i], seq, err);
        if (!st)
            st = meta_note(run, &events[i], seq, err);
    }
    if (!st)
        st = hf_replay_feed(run->replay, events, count, first_seq, err);
    if (!st)
        run->fed = first_seq + (int64_t)count - 1;
    return st;
}

/* The signals that a machine's step used up. */
static void step_settle(messages_end *ends, const hf_event *event)
{
    hf_mem *mem = hf_mem_new();
    hf_value ids = NULL;
    hf_slice json;

    if (mem && hf_event_json(event, HF_KEY_CONSUMED_SIGNALS, &json) &&
        !hf_json_read(mem, json, NULL, &ids, NULL)) {
        for (size_t i = 0; i < hf_len(ids); i++) {
            hf_ulid id;

            if (hf_ulid_parse(hf_value_slice(hf_at(ids, i)), &id))
                message_drop(ends, &id);
        }
    }
    hf_mem_free(mem);
}

void hf_live_settle_messages(live_run *run, const hf_event *events, size_t count)
{
    messages_end ends = {.run = run};

    for (size_t i = 0; i < count; i++) {
        if (events[i].type == HF_EVENT_SIGNAL_APPLIED)
            message_remove(&ends, &events[i], HF_KEY_SIGNAL_ID);
        else if (events[i].type == HF_EVENT_UPDATE_COMPLETED)
            message_remove(&ends, &events[i], HF_KEY_UPDATE_ID);
        else if (events[i].type == HF_EVENT_STEP_COMPLETED)
            step_settle(&ends, &events[i]);
    }
    messages_close_up(&ends);
}

hf_status hf_live_text(live_run *run, hf_slice text, hf_slice *out_text, hf_err *err)
{
    *out_text = hf_slice_from(hf_mem_text(run->mem, text), text.len);
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a live run");
}

hf_timeout_kind hf_live_overdue(const live_run *run, int64_t now_us)
{
    int64_t execution_us = run->info.execution_deadline_us;
    int64_t run_us = run->info.run_deadline_us;

    if (execution_us != HF_NONE && execution_us <= now_us)
        return HF_TIMEOUT_KIND_EXECUTION_TIMEOUT;
    return run_us != HF_NONE && run_us <= now_us ? HF_TIMEOUT_KIND_RUN_TIMEOUT : 0;
}

hf_status hf_live_arm(hf_core *core, const live_run *run, hf_err *err)
{
    const core_alarm alarm = {.kind = CORE_ALARM_RUN, .run = run->key, .key = run->key};
    int64_t due_us = run->info.run_deadline_us;

    if (due_us == HF_NONE ||
        (run->info.execution_deadline_us != HF_NONE && run->info.execution_deadline_us < due_us))
        due_us = run->info.execution_deadline_us;
    if (due_us == HF_NONE || due_us <= hf_core_now(core) || hf_core_alarm_set(core, &alarm, due_us))
        return HF_OK;
    return hf_err_nomem(err, "a deadline");
}

void hf_live_settle(live_run *run, const hf_event *events, size_t count)
{
    hf_live_settle_messages(run, events, count);
    for (size_t i = 0; i < count; i++) {
        switch ((int)events[i].type) {
        case HF_EVENT_TIMER_FIRED:
        case HF_EVENT_TIMER_CANCELLED:
            open_remove(run, true, events[i].step);
            break;
        case HF_EVENT_ACTIVITY_COMPLETED:
        case HF_EVENT_ACTIVITY_FAILED:
        case HF_EVENT_ACTIVITY_TIMED_OUT:
        case HF_EVENT_ACTIVITY_CANCELLED:
            open_remove(run, false, events[i].step);
            break;
        default:
            break;
        }
    }
}
