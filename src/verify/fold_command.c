/* fold_command.c: commands and messages against the events they caused. An event names its command
   by an id that carries the key of the command's row. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "store/row.h"
#include "verify/fold_impl.h"

static int command_order(const void *a, const void *b)
{
    int64_t left = ((const hf_fold_command *)a)->key;
    int64_t right = ((const hf_fold_command *)b)->key;

    return left < right ? -1 : left > right;
}

void hf_fold_command_sort(hf_fold *fold)
{
    if (fold->command_count)
        qsort(fold->commands, fold->command_count, sizeof(fold->commands[0]), command_order);
}

static hf_fold_command *command_get(const hf_fold *fold, int64_t key)
{
    const hf_fold_command wanted = {.key = key};

    if (!fold->command_count)
        return NULL;
    return bsearch(&wanted, fold->commands, fold->command_count, sizeof(fold->commands[0]),
                   command_order);
}

/* The key of the command that the event names, 0 when it names none. */
static int64_t command_key(const hf_event *event)
{
    static const hf_event_key names[] = {HF_KEY_WORKFLOW_COMMAND_ID, HF_KEY_SIGNAL_ID,
                                         HF_KEY_UPDATE_ID};
    hf_ulid id;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (hf_event_id(event, names[i], &id))
            return hf_ulid_key(&id);
    return 0;
}

/* The type of command that an event accepts; 0 when it accepts none. */
static hf_command_type accepts(hf_event_type type)
{
    static const struct {
        hf_event_type event;
        hf_command_type command;
    } rows[] = {
        {HF_EVENT_START_ACCEPTED, HF_COMMAND_TYPE_START},
        {HF_EVENT_SIGNAL_RECEIVED, HF_COMMAND_TYPE_SIGNAL},
        {HF_EVENT_UPDATE_ACCEPTED, HF_COMMAND_TYPE_UPDATE},
        {HF_EVENT_REPAIR_REQUESTED, HF_COMMAND_TYPE_REPAIR},
        {HF_EVENT_CANCEL_REQUESTED, HF_COMMAND_TYPE_CANCEL},
        {HF_EVENT_TERMINATE_REQUESTED, HF_COMMAND_TYPE_TERMINATE},
        {HF_EVENT_ARCHIVE_REQUESTED, HF_COMMAND_TYPE_ARCHIVE},
        {HF_EVENT_RUN_PAUSED, HF_COMMAND_TYPE_PAUSE},
        {HF_EVENT_RUN_RESUMED, HF_COMMAND_TYPE_RESUME},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].event == type)
            return rows[i].command;
    return (hf_command_type)0;
}

/* Whether an accepted command of this kind must have its event in the run that it names. Starts
   that found an open run and orders that found nothing to do change nothing; forks and resets are
   told by the run they create. */
static bool event_needed(const hf_fold_command *command)
{
    switch (command->outcome) {
    case HF_CMD_OUTCOME_RETURNED_EXISTING_ACTIVE:
    case HF_CMD_OUTCOME_REPAIR_NOT_NEEDED:
    case HF_CMD_OUTCOME_ARCHIVE_NOT_NEEDED:
    case HF_CMD_OUTCOME_PAUSE_NOT_NEEDED:
    case HF_CMD_OUTCOME_RESUME_NOT_NEEDED:
    case HF_CMD_OUTCOME_FORKED:
    case HF_CMD_OUTCOME_RESET:
        return false;
    }
    return command->type != HF_COMMAND_TYPE_FORK && command->type != HF_COMMAND_TYPE_RESET;
}

static void accept_event(hf_fold *fold, const hf_event *event, hf_command_type type, int64_t seq)
{
    int64_t key = command_key(event);
    hf_fold_command *command = command_get(fold, key);
    const char *fault = NULL;
    bool message = type == HF_COMMAND_TYPE_SIGNAL || type == HF_COMMAND_TYPE_UPDATE;

    if (!command && message && fold->facts.closed_reason == HF_CLOSED_REASON_CONTINUED)
        return; /* the run that follows took it over */
    if (!key && !message)
        return; /* a child or a continuation is started by a run, not by a command */
    if (!command)
        fault = "which the run does not have";
    else if (command->type != (int64_t)type)
        fault = "which is of another type";
    else if (command->status != HF_COMMAND_STATUS_ACCEPTED)
        fault = "which was refused";
    else if (++command->accepted > 1)
        fault = "which was accepted before";
    if (fault)
        hf_fold_find(fold, 13, "seq", seq, "event %" PRId64 " (%s) accepts command %" PRId64 ", %s",
                     seq, hf_event_type_text(event->type), key, fault);
}

static void cursor_raise(hf_fold *fold, const hf_fold_command *command)
{
    if (command->message_seq != HF_NONE && command->message_seq > fold->cursor)
        fold->cursor = command->message_seq;
}

void hf_fold_command_applied(hf_fold *fold, int64_t key)
{
    hf_fold_command *command = command_get(fold, key);

    if (!command)
        return; /* its event was reported already */
    command->applied++;
    cursor_raise(fold, command);
}

/* The newest message applied under the name that the event carries; NULL when memory ran out. */
static hf_message_name *name_get(hf_fold *fold, const hf_event *event)
{
    bool signal = event->type == HF_EVENT_SIGNAL_APPLIED;
    hf_slice text = {0};
    uint64_t hash;
    hf_message_name *grown;

    (void)hf_event_text(event, signal ? HF_KEY_SIGNAL_NAME : HF_KEY_UPDATE_NAME, &text);
    hash = hf_map_hash((hf_map_seed){.low = signal}, text);
    for (size_t i = 0; i < fold->name_count; i++)
        if (fold->names[i].hash == hash)
            return &fold->names[i];
    grown =
        hf_span_grow(fold->mem, fold->names, fold->name_count, &fold->name_room, sizeof(*grown));
    if (!grown)
        return NULL;
    fold->names = grown;
    grown[fold->name_count] = (hf_message_name){.hash = hash};
    return &grown[fold->name_count++];
}

/* Code may wait for the names in any order; under one name messages come as they were numbered. */
static hf_status apply_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    int64_t key = command_key(event);
    hf_fold_command *command = command_get(fold, key);
    hf_message_name *name = name_get(fold, event);
    const char *fault = NULL;

    if (!name)
        return hf_err_nomem(err, "the messages of a run");
    if (!command && fold->facts.number > 1) {
        fold->cursor_unknown = true; /* a message that the run before received */
        return HF_OK;
    }
    if (!command)
        fault = "is not a message of this run";
    else if (command->accepted == 0)
        fault = "was never received";
    else if (++command->applied > 1)
        fault = "was applied before";
    else if (command->message_seq != HF_NONE && command->message_seq <= name->message_seq)
        fault = "came before a message of that name that was applied already";
    if (fault)
        hf_fold_find(fold, 14, "seq", seq,
                     "event %" PRId64 " (%s) applies command %" PRId64 ", which %s", seq,
                     hf_event_type_text(event->type), key, fault);
    if (command) {
        cursor_raise(fold, command);
        if (command->message_seq != HF_NONE && command->message_seq > name->message_seq)
            name->message_seq = command->message_seq;
    }
    return HF_OK;
}

static void answer_event(hf_fold *fold, const hf_event *event, int64_t seq)
{
    int64_t key = command_key(event);
    hf_fold_command *command = command_get(fold, key);
    const char *fault = NULL;

    if (!command && fold->facts.number > 1)
        return; /* accepted by the run before */
    if (!command || command->accepted == 0)
        fault = "which was never accepted";
    else if (++command->completed > 1)
        fault = "which was answered before";
    if (command)
        cursor_raise(fold, command); /* one that failed is not applied, but it is dealt with */
    if (fault)
        hf_fold_find(fold, 15, "seq", seq, "event %" PRId64 " answers update %" PRId64 ", %s", seq,
                     key, fault);
}

static void cursor_event(hf_fold *fold, const hf_event *event, int64_t seq)
{
    int64_t before = 0;
    int64_t after = 0;
    hf_slice stream;

    if (!hf_event_int(event, HF_KEY_NEW_POSITION, &after))
        return;
    if (hf_event_int(event, HF_KEY_PREVIOUS_POSITION, &before) && after < before)
        hf_fold_find(fold, 17, "seq", seq,
                     "event %" PRId64 " moves the message cursor back from %" PRId64 " to %" PRId64,
                     seq, before, after);
    if (hf_event_text(event, HF_KEY_STREAM_KEY, &stream))
        return; /* a stream by name has a cursor of its own */
    if (after > fold->cursor)
        fold->cursor = after;
}

hf_status hf_fold_command_event(hf_fold *fold, const hf_event *event, int64_t seq, hf_err *err)
{
    hf_command_type accepted = accepts(event->type);

    if (seq <= fold->copied) { /* only a signal that the copy has still to apply is its own */
        if (accepted == HF_COMMAND_TYPE_SIGNAL && command_get(fold, command_key(event)))
            accept_event(fold, event, accepted, seq);
        return HF_OK;
    }
    if (accepted)
        accept_event(fold, event, accepted, seq);
    else if (event->type == HF_EVENT_SIGNAL_APPLIED || event->type == HF_EVENT_UPDATE_APPLIED)
        return apply_event(fold, event, seq, err);
    else if (event->type == HF_EVENT_UPDATE_COMPLETED)
        answer_event(fold, event, seq);
    else if (event->type == HF_EVENT_MESSAGE_CURSOR_ADVANCED)
        cursor_event(fold, event, seq);
    return HF_OK;
}

/* ---- the end */

static void signal_end(hf_fold *fold, const hf_fold_command *command)
{
    bool applied = command->state == HF_SIGNAL_STATUS_APPLIED;

    if (!fold->cursor_unknown && applied != (command->applied > 0))
        hf_fold_find(fold, 14, "command", command->key,
                     "signal %" PRId64 " is marked %s, but history %s", command->key,
                     applied ? "as applied" : "as not applied",
                     applied ? "does not apply it" : "applies it");
}

static void update_end(hf_fold *fold, const hf_fold_command *command)
{
    bool closed =
        command->state == HF_UPDATE_STATUS_COMPLETED || command->state == HF_UPDATE_STATUS_FAILED;

    if (closed != (command->completed > 0))
        hf_fold_find(fold, 15, "command", command->key,
                     "update %" PRId64 " is marked %s, but history %s", command->key,
                     closed ? "as answered" : "as open",
                     closed ? "does not answer it" : "answers it");
    else if (!closed && fold->closed_by)
        hf_fold_find(fold, 15, "command", command->key,
                     "the run is closed and update %" PRId64 " was never answered", command->key);
}

static void command_end(hf_fold *fold, const hf_fold_command *command)
{
    if (command->status != HF_COMMAND_STATUS_ACCEPTED)
        return;
    if (command->accepted == 0 && event_needed(command)) {
        hf_fold_find(fold, 13, "command", command->key,
                     "command %" PRId64 " was accepted, but no event of the run says so",
                     command->key);
        return;
    }
    if (command->type == HF_COMMAND_TYPE_SIGNAL)
        signal_end(fold, command);
    else if (command->type == HF_COMMAND_TYPE_UPDATE)
        update_end(fold, command);
}

static void numbers_end(hf_fold *fold)
{
    int64_t count = 0;
    int64_t newest = 0;
    uint64_t sum = 0;

    for (size_t i = 0; i < fold->command_count; i++) {
        int64_t number = fold->commands[i].command_seq;

        if (number == HF_NONE)
            continue;
        count++;
        sum += (uint64_t)number;
        if (number > newest)
            newest = number;
    }
    if (fold->facts.closed_reason == HF_CLOSED_REASON_CONTINUED &&
        newest <= fold->facts.command_seq)
        return; /* messages that were not applied went over to the next run, and left gaps */
    /* Equal count, greatest number and sum: 1 to n, each once, as far as one change can tell. */
    if (count != fold->facts.command_seq || newest != fold->facts.command_seq ||
        sum != (uint64_t)count * ((uint64_t)count + 1) / 2)
        hf_fold_find(fold, 12, "commands", count,
                     "the run has %" PRId64 " numbered commands up to number %" PRId64
                     " and has given %" PRId64 " numbers",
                     count, newest, fold->facts.command_seq);
}

static void cursor_end(hf_fold *fold)
{
    const hf_fold_run *facts = &fold->facts;

    if (facts->message_cursor > facts->message_seq)
        hf_fold_find(fold, 17, "cursor", facts->message_cursor,
                     "the message cursor, %" PRId64 ", is ahead of the newest message, %" PRId64,
                     facts->message_cursor, facts->message_seq);
    else if (fold->cursor_unknown ? facts->message_cursor < fold->cursor
                                  : facts->message_cursor != fold->cursor)
        hf_fold_find(fold, 17, "cursor", facts->message_cursor,
                     "the message cursor is %" PRId64 ", history has applied up to %" PRId64,
                     facts->message_cursor, fold->cursor);
}

void hf_fold_command_end(hf_fold *fold)
{
    numbers_end(fold);
    if (fold->blind)
        return;
    for (size_t i = 0; i < fold->command_count; i++)
        command_end(fold, &fold->commands[i]);
    cursor_end(fold);
}
