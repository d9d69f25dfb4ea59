/* fold.c: see fold.h. This file reads the rows and the chunks of a run and judges the run as a
   whole; steps, commands, payloads and open work have files of their own. */
#include "verify/fold.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/event_codec.h"
#include "store/row.h"
#include "verify/fold_impl.h"

enum { SENTENCE_BYTES_MAX = 512 };

#define SEQ_MAX (INT64_MAX / 2) /* sums with the count of a chunk stay in range */

hf_status hf_fold_new(hf_report *report, bool chain, hf_fold **out_fold, hf_err *err)
{
    hf_fold *fold = hf_alloc(sizeof(*fold));
    hf_status st = HF_OK;

    *out_fold = NULL;
    if (!fold)
        return hf_err_nomem(err, "a fold");
    fold->report = report;
    fold->chain = chain;
    fold->mem = hf_mem_new();
    fold->chunk = hf_mem_new();
    if (!fold->mem || !fold->chunk)
        st = hf_err_nomem(err, "a fold");
    if (!st)
        st = hf_sha256_new(&fold->sha, err);
    if (st) {
        hf_fold_free(fold);
        return st;
    }
    *out_fold = fold;
    return HF_OK;
}

void hf_fold_free(hf_fold *fold)
{
    if (!fold)
        return;
    hf_sha256_free(fold->sha);
    hf_mem_free(fold->chunk);
    hf_mem_free(fold->mem);
    hf_alloc_free(fold);
}

void hf_fold_find(hf_fold *fold, int invariant, const char *name, int64_t number,
                  const char *format, ...)
{
    const hf_report_key keys[] = {{.name = "run", .number = fold->run},
                                  {.name = name, .number = number}};
    char sentence[SENTENCE_BYTES_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    hf_report_add(fold->report, invariant, keys, 2, "run %" PRId64 ": %s", fold->run, sentence);
}

void hf_fold_begin(hf_fold *fold, int64_t run, const hf_fold_run *facts)
{
    const size_t kept = offsetof(hf_fold, run);

    memset((char *)fold + kept, 0, sizeof(*fold) - kept);
    hf_mem_reset(fold->mem);
    fold->run = run;
    fold->next_seq = 1;
    fold->previous_known = true; /* zeros stand before the first chunk */
    fold->exists = facts != NULL;
    if (!facts)
        return;
    fold->facts = *facts;
    fold->cursor = facts->inherited_cursor;
    fold->execution_deadline_us = HF_NONE;
    fold->run_deadline_us = HF_NONE;
    if (facts->head.len == sizeof(fold->head))
        memcpy(fold->head, facts->head.ptr, sizeof(fold->head));
    else
        hf_fold_find(fold, 2, NULL, 0, "its head is no hash");
    fold->facts.head = (hf_slice){0}; /* was borrowed from the row */
}

/* ---- rows */

/* A row of a run that is not there. */
static hf_status orphan(hf_fold *fold, int invariant, const char *name, int64_t key)
{
    hf_fold_find(fold, invariant, name, key,
                 "%s %" PRId64 " belongs to it, but the run does not exist", name, key);
    return HF_OK;
}

hf_status hf_fold_link_add(hf_fold *fold, const hf_fold_link *link, hf_err *err)
{
    hf_fold_link *grown;

    if (!fold->exists)
        return orphan(fold, 32, "link", link->key);
    grown = hf_span_grow(fold->mem, fold->links, fold->link_count, &fold->link_room, sizeof(*link));
    if (!grown)
        return hf_err_nomem(err, "the links of a run");
    fold->links = grown;
    grown[fold->link_count++] = *link;
    return HF_OK;
}

hf_status hf_fold_activity_add(hf_fold *fold, const hf_fold_activity *activity, hf_err *err)
{
    hf_fold_activity *grown;

    if (!fold->exists)
        return orphan(fold, 21, "activity", activity->key);
    grown = hf_span_grow(fold->mem, fold->activities, fold->activity_count, &fold->activity_room,
                         sizeof(*activity));
    if (!grown)
        return hf_err_nomem(err, "the activities of a run");
    fold->activities = grown;
    grown[fold->activity_count++] = *activity;
    return HF_OK;
}

hf_status hf_fold_timer_add(hf_fold *fold, const hf_fold_timer *timer, hf_err *err)
{
    hf_fold_timer *grown;

    if (!fold->exists)
        return orphan(fold, 21, "timer", timer->key);
    grown =
        hf_span_grow(fold->mem, fold->timers, fold->timer_count, &fold->timer_room, sizeof(*timer));
    if (!grown)
        return hf_err_nomem(err, "the timers of a run");
    fold->timers = grown;
    grown[fold->timer_count++] = *timer;
    return HF_OK;
}

hf_status hf_fold_task_add(hf_fold *fold, const hf_fold_task *task, hf_err *err)
{
    hf_fold_task *grown;

    if (!fold->exists)
        return orphan(fold, 21, "task", task->key);
    grown = hf_span_grow(fold->mem, fold->tasks, fold->task_count, &fold->task_room, sizeof(*task));
    if (!grown)
        return hf_err_nomem(err, "the tasks of a run");
    fold->tasks = grown;
    grown[fold->task_count++] = *task;
    return HF_OK;
}

hf_status hf_fold_command_add(hf_fold *fold, const hf_fold_command *command, hf_err *err)
{
    hf_fold_command *grown;

    if (!fold->exists)
        return orphan(fold, 13, "command", command->key);
    grown = hf_span_grow(fold->mem, fold->commands, fold->command_count, &fold->command_room,
                         sizeof(*command));
    if (!grown)
        return hf_err_nomem(err, "the commands of a run");
    fold->commands = grown;
    grown[fold->command_count++] = *command;
    return HF_OK;
}

void hf_fold_inbox_add(hf_fold *fold, int64_t key)
{
    if (!fold->exists)
        (void)orphan(fold, 21, "inbox", key);
    fold->inbox_count++;
}

void hf_fold_marks_set(hf_fold *fold, bool paused, bool archived)
{
    fold->marks_known = true;
    fold->marked_paused = paused;
    fold->marked_archived = archived;
}

hf_status hf_fold_payload_add(hf_fold *fold, const hf_fold_payload *payload, hf_err *err)
{
    hf_payload_ref row = {
        .key = payload->key, .size = payload->size, .codec = (int32_t)payload->codec};
    hf_payload_ref *grown;

    if (!fold->exists)
        return orphan(fold, 36, "payload", payload->key);
    if (payload->digest.len != HF_SHA256_BYTES) {
        hf_fold_find(fold, 36, "payload", payload->key,
                     "the digest of payload %" PRId64 " is no digest", payload->key);
        return HF_OK;
    }
    memcpy(row.digest, payload->digest.ptr, sizeof(row.digest));
    grown = hf_span_grow(fold->mem, fold->payloads, fold->payload_count, &fold->payload_room,
                         sizeof(row));
    if (!grown)
        return hf_err_nomem(err, "the payloads of a run");
    fold->payloads = grown;
    grown[fold->payload_count++] = row;
    return HF_OK;
}

/* ---- events */

/* What the beginning and the end of a history look like. */
static void frame_event(hf_fold *fold, const hf_event *event, int64_t seq)
{
    bool first = event->type == HF_EVENT_START_ACCEPTED;
    bool second = event->type == HF_EVENT_WORKFLOW_STARTED;

    fold->start_accepted += first;
    fold->started += second;
    if (first != (seq == 1) || second != (seq == 2))
        hf_fold_find(fold, 3, "seq", seq, "event %" PRId64 " is %s", seq,
                     hf_event_type_text(event->type));
    if (second && !fold->deadlines_known) {
        fold->deadlines_known = true;
        (void)hf_event_time(event, HF_KEY_EXECUTION_DEADLINE_AT, &fold->execution_deadline_us);
        (void)hf_event_time(event, HF_KEY_RUN_DEADLINE_AT, &fold->run_deadline_us);
        (void)hf_event_int(event, HF_KEY_COPIED_EVENTS, &fold->copied);
    }
    if (fold->closed_by && !hf_event_has_flag(event->type, HF_EVENT_AFTER_CLOSE))
        hf_fold_find(fold, 4, "seq", seq, "event %" PRId64 " is %s, after the run closed with %s",
                     seq, hf_event_type_text(event->type), hf_event_type_text(fold->closed_by));
    else if (hf_event_has_flag(event->type, HF_EVENT_CLOSES))
        fold->closed_by = event->type;
}

/* What people did to the run. */
static void mark_event(hf_fold *fold, const hf_event *event)
{
    switch ((int)event->type) {
    case HF_EVENT_RUN_PAUSED:
        fold->paused = true;
        break;
    case HF_EVENT_RUN_RESUMED:
    case HF_EVENT_RUN_FORKED: /* a copy is not paused with the run it was copied from */
    case HF_EVENT_RUN_RESET:
        fold->paused = false;
        break;
    case HF_EVENT_WORKFLOW_ARCHIVED:
        fold->archived = true;
        break;
    }
}

static hf_status event_fold(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_status st;

    if (event->time_us < fold->last_us)
        hf_fold_find(fold, 6, "seq", seq,
                     "event %" PRId64 " is %" PRId64 " us before the event before it", seq,
                     fold->last_us - event->time_us);
    fold->last_us = event->time_us;
    if (hf_event_has_flag(event->type, HF_EVENT_SCHEDULE) &&
        event->type != HF_EVENT_SCHEDULE_TRIGGERED)
        hf_fold_find(fold, 5, "seq", seq, "event %" PRId64 " (%s) belongs to a schedule", seq,
                     hf_event_type_text(event->type));
    if (fold->blind)
        return HF_OK;
    frame_event(fold, event, seq);
    mark_event(fold, event);
    hf_fold_payload_event(fold, event, seq);
    st = hf_fold_command_event(fold, event, seq, err);
    if (!st)
        st = hf_fold_machine_event(fold, event, seq, err);
    return st ? st : hf_fold_step_event(fold, event, seq, err);
}

/* ---- chunks */

static hf_status chain_check(hf_fold *fold, const hf_fold_chunk *chunk, const hf_event *events,
                             size_t count, hf_err *err)
{
    hf_event_chunk_place place = {.run_key = (uint64_t)fold->run,
                                  .first_seq = (uint64_t)chunk->first_seq};
    uint8_t hash[HF_SHA256_BYTES];
    hf_status st;

    memcpy(place.previous, fold->previous, sizeof(place.previous));
    st = hf_event_chunk_hash(fold->sha, events, count, &place, hash, err);
    if (!st && memcmp(hash, chunk->hash.ptr, sizeof(hash)) != 0)
        hf_fold_find(fold, 2, "seq", chunk->first_seq,
                     "the chunk at event %" PRId64
                     " does not have the hash that its content and the chunk before it give",
                     chunk->first_seq);
    return st;
}

static hf_status chunk_events(hf_fold *fold, const hf_fold_chunk *chunk, bool linked, hf_err *err)
{
    hf_event *events = NULL;
    size_t count = 0;
    hf_err why = {0};
    hf_status st;

    hf_mem_reset(fold->chunk);
    st = hf_event_chunk_decode(fold->chunk, chunk->body, &events, &count, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "the events of a chunk");
    if (!st && ((int64_t)count != chunk->count || chunk->format != HF_EVENT_CHUNK_FORMAT))
        st = hf_err_set(&why, HF_CORRUPT,
                        "the row says %" PRId64 " events in format %" PRId64 ", the body %zu in %d",
                        chunk->count, chunk->format, count, HF_EVENT_CHUNK_FORMAT);
    if (st) {
        hf_fold_find(fold, 5, "seq", chunk->first_seq,
                     "the chunk at event %" PRId64 " cannot be read: %s", chunk->first_seq,
                     why.text);
        fold->blind = true;
        return HF_OK;
    }
    if (fold->chain && linked && fold->previous_known)
        st = chain_check(fold, chunk, events, count, err);
    for (size_t i = 0; !st && i < count; i++)
        st = event_fold(fold, &events[i], chunk->first_seq + (int64_t)i, err);
    fold->total += (int64_t)count;
    return st;
}

hf_status hf_fold_chunk_add(hf_fold *fold, const hf_fold_chunk *chunk, hf_err *err)
{
    bool whole_hash = chunk->hash.len == HF_SHA256_BYTES;
    hf_status st;

    if (!fold->exists)
        return orphan(fold, 1, "seq", chunk->first_seq);
    if (!fold->rows_ready) {
        hf_fold_command_sort(fold);
        hf_fold_payload_sort(fold);
        fold->rows_ready = true;
    }
    fold->chunk_seen = true;
    fold->bytes += (int64_t)chunk->body.len;
    if (chunk->first_seq != fold->next_seq) {
        hf_fold_find(fold, 1, "seq", fold->next_seq,
                     "event %" PRId64 " is missing; the next chunk begins at %" PRId64,
                     fold->next_seq, chunk->first_seq);
        fold->blind = true;
        fold->previous_known = false;
    }
    if (chunk->first_seq < 1 || chunk->first_seq > SEQ_MAX)
        return HF_OK; /* no event can have that number; its place was reported as missing */
    if (!whole_hash)
        hf_fold_find(fold, 2, "seq", chunk->first_seq, "the chunk at event %" PRId64 " has no hash",
                     chunk->first_seq);
    st = chunk_events(fold, chunk, whole_hash, err);
    if (whole_hash)
        memcpy(fold->previous, chunk->hash.ptr, sizeof(fold->previous));
    fold->previous_known = whole_hash;
    if (chunk->count > 0 && chunk->count <= HF_EVENT_CHUNK_EVENTS_MAX)
        fold->next_seq = chunk->first_seq + chunk->count;
    return st;
}

/* ---- the end of a run */

static void length_end(hf_fold *fold)
{
    int64_t last = fold->next_seq - 1;

    if (last == fold->facts.last_seq)
        return;
    hf_fold_find(fold, 1, "seq", last,
                 "its history ends at event %" PRId64 ", its row says %" PRId64, last,
                 fold->facts.last_seq);
    fold->blind = fold->blind || last < fold->facts.last_seq; /* the rest is missing */
}

static void head_end(hf_fold *fold)
{
    if (fold->chain && fold->previous_known &&
        memcmp(fold->previous, fold->head, sizeof(fold->head)) != 0)
        hf_fold_find(fold, 2, NULL, 0, "its head is not the hash of its newest chunk");
}

static void counters_end(hf_fold *fold)
{
    if (fold->bytes != fold->facts.history_bytes)
        hf_fold_find(fold, 39, "bytes", fold->bytes,
                     "its history has %" PRId64 " bytes, its row says %" PRId64, fold->bytes,
                     fold->facts.history_bytes);
    if (fold->chunk_seen && fold->last_us != fold->facts.last_us)
        hf_fold_find(fold, 6, NULL, 0,
                     "its newest event is of %" PRId64 " us, its row says %" PRId64, fold->last_us,
                     fold->facts.last_us);
}

/* The status and reason that a closing event stands for. */
static void closing_read(hf_event_type type, hf_run_status *out_status,
                         hf_closed_reason *out_reason)
{
    static const struct {
        hf_event_type type;
        hf_run_status status;
        hf_closed_reason reason;
    } rows[] = {
        {HF_EVENT_WORKFLOW_COMPLETED, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_COMPLETED},
        {HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED},
        {HF_EVENT_WORKFLOW_FAILED, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_FAILED},
        {HF_EVENT_WORKFLOW_TIMED_OUT, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_TIMED_OUT},
        {HF_EVENT_WORKFLOW_CANCELLED, HF_RUN_STATUS_CANCELLED, HF_CLOSED_REASON_CANCELLED},
        {HF_EVENT_WORKFLOW_TERMINATED, HF_RUN_STATUS_TERMINATED, HF_CLOSED_REASON_TERMINATED},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].type == type) {
            *out_status = rows[i].status;
            *out_reason = rows[i].reason;
        }
    }
}

static void status_end(hf_fold *fold)
{
    const hf_fold_run *facts = &fold->facts;
    hf_run_status status = (hf_run_status)0;
    hf_closed_reason reason = (hf_closed_reason)0;
    bool closed = facts->closed_us != HF_NONE;

    if (closed != (fold->closed_by != 0)) {
        hf_fold_find(fold, 4, NULL, 0, "it is %s, but its history %s", closed ? "closed" : "open",
                     closed ? "has no closing event" : "has a closing event");
        return;
    }
    if (closed) {
        closing_read(fold->closed_by, &status, &reason);
        if (facts->status != (int64_t)status || facts->closed_reason != (int64_t)reason)
            hf_fold_find(fold, 20, NULL, 0, "it is %s, but history closed it with %s",
                         hf_vocab_text(&hf_run_status_list, facts->status),
                         hf_event_type_text(fold->closed_by));
    } else if ((facts->status != HF_RUN_STATUS_PENDING && facts->status != HF_RUN_STATUS_RUNNING &&
                facts->status != HF_RUN_STATUS_WAITING) ||
               facts->closed_reason != HF_NONE) {
        hf_fold_find(fold, 20, NULL, 0, "it is %s, but history has it open",
                     hf_vocab_text(&hf_run_status_list, facts->status));
    }
}

static void marks_end(hf_fold *fold)
{
    if (!fold->marks_known)
        return;
    if (fold->paused != fold->marked_paused)
        hf_fold_find(fold, 20, NULL, 0, "its row says %s, its history %s",
                     fold->marked_paused ? "paused" : "not paused",
                     fold->paused ? "paused" : "not paused");
    if (fold->archived != fold->marked_archived)
        hf_fold_find(fold, 20, NULL, 0, "its row says %s, its history %s",
                     fold->marked_archived ? "archived" : "not archived",
                     fold->archived ? "archived" : "not archived");
}

static void start_end(hf_fold *fold)
{
    if (fold->start_accepted != 1 || fold->started != 1)
        hf_fold_find(fold, 3, NULL, 0,
                     "it has %" PRId64 " StartAccepted and %" PRId64 " WorkflowStarted events",
                     fold->start_accepted, fold->started);
    else if (fold->execution_deadline_us != fold->facts.execution_deadline_us ||
             fold->run_deadline_us != fold->facts.run_deadline_us)
        hf_fold_find(fold, 31, NULL, 0, "its deadlines are not those of its WorkflowStarted event");
}

hf_status hf_fold_end(hf_fold *fold, hf_err *err)
{
    if (!fold->exists)
        return hf_report_status(fold->report, err);
    length_end(fold);
    if (!fold->blind) {
        head_end(fold);
        counters_end(fold);
        start_end(fold);
        status_end(fold);
        marks_end(fold);
        hf_fold_step_end(fold);
        hf_fold_group_end(fold);
    }
    hf_fold_command_end(fold);
    hf_fold_payload_end(fold);
    hf_fold_work_end(fold);
    return hf_report_status(fold->report, err);
}

int64_t hf_fold_events(const hf_fold *fold)
{
    return fold->total;
}
