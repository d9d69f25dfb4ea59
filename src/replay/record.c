/* record.c: the tables of a history and what is in them: records of steps by number, queues of
   signals and updates, cursors of streams. The rule: a record lives until code has passed it and
   history has said the last word on it, and no longer. */
#include <string.h>

#include "base/alloc.h"
#include "replay/history.h"

enum { RECORDS_FIRST = 32 }; /* room of the first table */

void hf_stored_fini(hf_stored *stored)
{
    hf_alloc_free(stored->bytes);
    *stored = (hf_stored){0};
}

static void look_fini(hf_step_look *look)
{
    hf_alloc_free(look->name);
    hf_alloc_free(look->fingerprint);
    hf_alloc_free(look->groups);
    *look = (hf_step_look){0};
}

bool hf_look_copy(hf_step_look *look, const hf_step_look *from)
{
    *look = (hf_step_look){.shape = from->shape, .group_count = from->group_count};
    if (from->name && !(look->name = hf_alloc_text(from->name, strlen(from->name))))
        return false;
    if (from->fingerprint &&
        !(look->fingerprint = hf_alloc_text(from->fingerprint, strlen(from->fingerprint))))
        return false;
    if (from->group_count) {
        look->groups = hf_alloc_array(from->group_count, sizeof(*look->groups));
        if (!look->groups)
            return false;
        memcpy(look->groups, from->groups, from->group_count * sizeof(*look->groups));
    }
    return true;
}

static void signal_fact_free(hf_signal_fact *signal)
{
    if (!signal)
        return;
    hf_alloc_free(signal->name);
    hf_stored_fini(&signal->arguments);
    hf_alloc_free(signal);
}

void hf_update_fact_free(hf_update_fact *update)
{
    hf_alloc_free(update->name);
    hf_stored_fini(&update->arguments);
    hf_alloc_free(update);
}

static void record_free(hf_record *record)
{
    if (!record)
        return;
    look_fini(&record->recorded);
    look_fini(&record->wanted);
    hf_stored_fini(&record->value);
    if (record->failure) {
        hf_alloc_free(record->failure->type);
        hf_alloc_free(record->failure->message);
        hf_stored_fini(&record->failure->details);
        hf_alloc_free(record->failure);
    }
    signal_fact_free(record->signal);
    hf_alloc_free(record);
}

/* ---- the table of steps */

hf_record *hf_history_get(const hf_history *history, int64_t step)
{
    if (step < history->first || step - history->first >= (int64_t)history->count)
        return NULL;
    return history->records[step - history->first];
}

/* Forgets the front of the table once most of it is empty, so that forgetting costs little each. */
static void table_trim(hf_history *history)
{
    size_t empty = 0;

    while (empty < history->count && !history->records[empty] &&
           history->first + (int64_t)empty <= history->entered)
        empty++;
    if (empty < RECORDS_FIRST || empty < history->count / 2)
        return;
    history->count -= empty;
    memmove(history->records, history->records + empty, history->count * sizeof(*history->records));
    history->first += (int64_t)empty;
}

hf_record *hf_history_make(hf_history *history, int64_t step)
{
    hf_record *record = hf_history_get(history, step);
    size_t index;

    if (record)
        return record;
    if (history->count == 0)
        history->first = history->entered < step ? history->entered + 1 : step;
    if (step < history->first)
        return NULL;
    index = (size_t)(step - history->first);
    if (index >= history->room) {
        size_t room = history->room ? history->room : RECORDS_FIRST;
        hf_record **grown;

        while (room <= index)
            room *= 2;
        grown = hf_alloc_resize(history->records, room * sizeof(*grown));
        if (!grown)
            return NULL;
        history->records = grown;
        history->room = room;
    }
    record = hf_alloc(sizeof(*record));
    if (!record)
        return NULL;
    for (; history->count <= index; history->count++)
        history->records[history->count] = NULL;
    record->step = step;
    history->records[index] = record;
    return record;
}

/* Whether history has said the last word on the step. */
static bool record_settled(const hf_record *record)
{
    if (record->recorded.shape == 0)
        return false;
    if (record->timed_out)
        return record->timer == HF_RECORD_TIMER_FIRED;
    return record->end != HF_RECORD_OPEN;
}

void hf_history_settle(hf_history *history, hf_record *record)
{
    if (!record->passed || !record_settled(record))
        return;
    history->records[record->step - history->first] = NULL;
    record_free(record);
    table_trim(history);
}

/* ---- streams */

int64_t hf_history_cursor(const hf_history *history, hf_slice stream)
{
    for (hf_list *at = hf_list_first(&history->cursors); at;
         at = hf_list_next(&history->cursors, at)) {
        const hf_cursor_fact *cursor = HF_LIST_ENTRY(at, hf_cursor_fact, link);

        if (hf_slice_equal(hf_slice_of(cursor->stream), stream))
            return cursor->position;
    }
    return 0;
}

bool hf_history_cursor_set(hf_history *history, hf_slice stream, int64_t position)
{
    hf_cursor_fact *cursor = NULL;

    for (hf_list *at = hf_list_first(&history->cursors); at && !cursor;
         at = hf_list_next(&history->cursors, at)) {
        cursor = HF_LIST_ENTRY(at, hf_cursor_fact, link);
        if (!hf_slice_equal(hf_slice_of(cursor->stream), stream))
            cursor = NULL;
    }
    if (!cursor) {
        cursor = hf_alloc(sizeof(*cursor));
        if (!cursor)
            return false;
        cursor->stream = hf_alloc_text(stream.ptr ? stream.ptr : "", stream.len);
        hf_list_add_last(&history->cursors, &cursor->link);
        if (!cursor->stream)
            return false;
    }
    if (position > cursor->position)
        cursor->position = position;
    return true;
}

/* ---- all of it */

void hf_history_init(hf_history *history)
{
    *history = (hf_history){.first = 1};
    hf_list_init(&history->signals);
    hf_list_init(&history->updates);
    hf_list_init(&history->applied);
    hf_list_init(&history->cursors);
}

void hf_history_fini(hf_history *history)
{
    hf_list *link;

    for (size_t i = 0; i < history->count; i++)
        record_free(history->records[i]);
    hf_alloc_free(history->records);
    while ((link = hf_list_take_first(&history->signals)))
        signal_fact_free(HF_LIST_ENTRY(link, hf_signal_fact, link));
    while ((link = hf_list_take_first(&history->updates)))
        hf_update_fact_free(HF_LIST_ENTRY(link, hf_update_fact, link));
    while ((link = hf_list_take_first(&history->applied)))
        hf_update_fact_free(HF_LIST_ENTRY(link, hf_update_fact, link));
    while ((link = hf_list_take_first(&history->cursors))) {
        hf_alloc_free(HF_LIST_ENTRY(link, hf_cursor_fact, link)->stream);
        hf_alloc_free(HF_LIST_ENTRY(link, hf_cursor_fact, link));
    }
    hf_stored_fini(&history->arguments);
    hf_alloc_free(history->fingerprint);
    hf_alloc_free(history->compatibility);
    hf_alloc_free(history->cancel_reason);
}
