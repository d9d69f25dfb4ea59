/* poll.c: a worker's poll, from its coming to its end: it waits, has a claim, is called, is done.
   It belongs to whoever made it; tasks and shelves point to it only while it waits or has a claim,
   and under the lock, so that it can end at any time. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "task/matching_impl.h"

/* What somebody waits for comes before what only has to be done. */
static const hf_task_kind urgency[HF_TASK_KINDS] = {
    HF_TASK_VALIDATION, HF_TASK_QUERY, HF_TASK_WORKFLOW, HF_TASK_STEP, HF_TASK_ACTIVITY};

/* ---- making one */

static void poll_free(hf_poll *poll)
{
    hf_mem_free(poll->task_mem);
    hf_mem_free(poll->mem);
    hf_alloc_free(poll);
}

static hf_slice text_keep(hf_poll *poll, hf_slice text, bool *room)
{
    hf_slice copy = {0};

    if (text.ptr)
        copy = hf_slice_from(hf_mem_text(poll->mem, text), text.len);
    *room = *room && (!text.ptr || copy.ptr);
    return copy;
}

static hf_slice *texts_keep(hf_poll *poll, const hf_slice *texts, size_t count, bool *room)
{
    hf_slice *copies = count ? hf_mem_array(poll->mem, count, sizeof(*copies)) : NULL;

    for (size_t i = 0; copies && i < count; i++)
        copies[i] = text_keep(poll, texts[i], room);
    *room = *room && (!count || copies);
    return copies;
}

/* A poll without places; NULL: no memory. */
static hf_poll *poll_new(hf_matching *matching, const hf_poll_spec *spec)
{
    hf_poll *poll = hf_alloc(sizeof(*poll));
    bool room = true;

    if (!poll)
        return NULL;
    poll->matching = matching;
    hf_list_init(&poll->anywhere);
    poll->spec = *spec;
    poll->mem = hf_mem_new_small(); /* thousands may wait */
    if (poll->mem) {
        poll->spec.queues = texts_keep(poll, spec->queues, spec->queue_count, &room);
        poll->spec.types = texts_keep(poll, spec->types, spec->type_count, &room);
        poll->spec.worker = text_keep(poll, spec->worker, &room);
        poll->spec.build = text_keep(poll, spec->build, &room);
    }
    if (!poll->mem || !room) {
        poll_free(poll);
        return NULL;
    }
    return poll;
}

static void place_drop(task_place *place)
{
    if (place->shelf)
        hf_task_shelf_drop(place->shelf);
    place->shelf = NULL;
}

static bool place_fill(hf_poll *poll, task_queue *queue, hf_task_kind kind, bool any, hf_slice type,
                       hf_slice build)
{
    task_place *place = &poll->places[poll->place_count];
    bool first = poll->place_count == 0 || place[-1].queue != queue || place[-1].kind != kind;

    hf_list_init(&place->link);
    place->poll = poll;
    place->queue = queue;
    place->kind = kind;
    place->first = first;
    if (!any && !(place->shelf = hf_task_shelf_use(queue, type, build)))
        return false;
    poll->place_count++;
    return true;
}

/* Its places at one queue for one kind: with those that take any type, or at each of its types. */
static bool queue_fill(hf_poll *poll, task_queue *queue, hf_task_kind kind)
{
    const hf_poll_spec *spec = &poll->spec;
    bool room = true;

    if (spec->type_count == 0)
        return place_fill(poll, queue, kind, true, (hf_slice){0}, (hf_slice){0});
    for (size_t i = 0; room && i < spec->type_count; i++) {
        room = place_fill(poll, queue, kind, false, spec->types[i], (hf_slice){0});
        if (room && spec->build.ptr)
            room = place_fill(poll, queue, kind, false, spec->types[i], spec->build);
    }
    return room;
}

/* Under the lock. Places are in the order in which the poll looks: by urgency, then by queue. */
static bool places_fill(hf_poll *poll)
{
    const hf_poll_spec *spec = &poll->spec;
    size_t each = spec->type_count ? spec->type_count * (spec->build.ptr ? 2 : 1) : 1;
    int64_t now_us = hf_clock_wall_us(poll->matching->clock);
    bool room;

    poll->places =
        hf_mem_array(poll->mem, HF_TASK_KINDS * spec->queue_count * each, sizeof(*poll->places));
    room = poll->places != NULL;
    for (size_t k = 0; room && k < HF_TASK_KINDS; k++)
        for (size_t i = 0; room && i < spec->queue_count && spec->kinds & 1U << urgency[k]; i++) {
            task_queue *queue =
                hf_task_queue_get(poll->matching, spec->namespace_key, spec->queues[i]);

            room = queue && queue_fill(poll, queue, urgency[k]);
            if (room)
                queue->asked_us[urgency[k]] = now_us;
        }
    return room;
}

/* ---- waiting */

void hf_poll_unplace(hf_poll *poll)
{
    hf_list_remove(&poll->anywhere);
    for (size_t i = 0; i < poll->place_count; i++) {
        task_place *place = &poll->places[i];

        place->queue->polls[place->kind] -= place->first && hf_list_linked(&place->link);
        hf_list_remove(&place->link);
    }
}

/* At the end, or at the front: those before it were sent back later. */
static void poll_place(hf_poll *poll, bool front)
{
    hf_matching *matching = poll->matching;

    poll->order = front ? --matching->fronts : ++matching->orders;
    if (poll->any_queue)
        hf_list_add_last(&matching->anywhere, &poll->anywhere);
    for (size_t i = 0; i < poll->place_count; i++) {
        task_place *place = &poll->places[i];
        hf_list *list =
            place->shelf ? &place->shelf->polls[place->kind] : &place->queue->anyone[place->kind];

        if (front)
            hf_list_add_first(list, &place->link);
        else
            hf_list_add_last(list, &place->link);
        place->queue->polls[place->kind] += place->first;
    }
    matching->waits = matching->shared != NULL;
}

static task_record *older(task_record *found, const hf_list *tasks)
{
    hf_list *link = hf_list_first(tasks);
    task_record *first = link ? HF_LIST_ENTRY(link, task_record, place) : NULL;

    return !found || (first && first->order < found->order) ? first : found;
}

/* The oldest task at the place that the poll serves; NULL: there is none. */
static task_record *place_task(const hf_poll *poll, const task_place *place, task_record *found)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    if (place->shelf)
        return older(found, &place->shelf->tasks[place->kind]);
    while (hf_map_next(place->queue->shelves, &at, &key, &item)) {
        const task_shelf *shelf = item;

        if (!shelf->build.ptr || hf_slice_equal(shelf->build, poll->spec.build))
            found = older(found, &shelf->tasks[place->kind]);
    }
    return found;
}

/* The oldest of the first kind and queue that have one. */
static task_record *poll_task(const hf_poll *poll)
{
    task_record *found = poll->any_queue ? hf_task_anywhere(poll->matching, poll) : NULL;

    for (size_t i = 0; i < poll->place_count && !(found && poll->places[i].first); i++)
        found = place_task(poll, &poll->places[i], found);
    return found;
}

void hf_poll_calling(hf_poll *poll)
{
    HF_ASSERT(!poll->task && poll->state != POLL_CALLING && poll->state != POLL_DONE);
    poll->state = POLL_CALLING;
    poll->caller = pthread_self();
}

void hf_poll_seek(hf_poll *poll, bool front, matching_after *after)
{
    hf_matching *matching = poll->matching;
    bool waits = !matching->shut && !poll->leaving && (poll->place_count > 0 || poll->any_queue);
    task_record *record = waits ? poll_task(poll) : NULL;

    if (record) {
        hf_task_claim_by(matching, record, poll, after);
    } else if (waits) {
        poll_place(poll, front);
    } else {
        hf_poll_calling(poll);
        after->dismissed = poll;
    }
}

/* ---- the calls */

bool hf_poll_call(hf_poll *poll, hf_value task)
{
    hf_matching *matching = poll->matching;
    bool took;
    bool over;

    took = poll->spec.got(poll->spec.arg, task);
    hf_mutex_lock(&matching->lock);
    over = poll->ended;
    poll->state = POLL_DONE;
    hf_cond_broadcast(&matching->called);
    hf_mutex_unlock(&matching->lock); /* unless it is over it may be gone by now */
    if (over)
        poll_free(poll);
    return took;
}

/* Gives back what it holds of shelves. Under the lock. */
static void places_drop(hf_poll *poll)
{
    hf_poll_unplace(poll);
    for (size_t i = 0; i < poll->place_count; i++)
        place_drop(&poll->places[i]);
    poll->place_count = 0;
}

hf_status hf_matching_poll(hf_matching *matching, const hf_poll_spec *spec, hf_poll **out_poll,
                           hf_err *err)
{
    hf_poll *poll = poll_new(matching, spec);
    matching_after after = {0};
    bool shut;
    bool room;

    HF_ASSERT(spec->worker.len < HF_MATCHING_WORKER_SIZE);
    if (!poll)
        return hf_err_nomem(err, "a poll");
    hf_mutex_lock(&matching->lock);
    shut = matching->shut;
    room = shut || spec->queue_count == 0 || places_fill(poll);
    if (shut || !room) {
        places_drop(poll);
        hf_mutex_unlock(&matching->lock);
        poll_free(poll);
        return shut ? hf_err_set(err, HF_STOPPED, "the engine is closing")
                    : hf_err_nomem(err, "a poll");
    }
    poll->any_queue = spec->queue_count == 0;
    *out_poll = poll; /* `got` may be called before this returns */
    hf_poll_seek(poll, false, &after);
    hf_matching_unlock(matching, &after);
    return HF_OK;
}

hf_status hf_matching_poll_task(hf_matching *matching, const hf_poll_spec *spec, hf_task_kind kind,
                                int64_t subject, hf_poll **out_poll, hf_err *err)
{
    hf_poll *poll = poll_new(matching, spec);
    matching_after after = {0};
    task_record *record;
    bool offered;

    if (!poll)
        return hf_err_nomem(err, "a poll");
    hf_mutex_lock(&matching->lock);
    record = hf_map_int_get(matching->records[kind], (uint64_t)subject);
    offered = record && record->state == HF_TASK_OFFERED && !matching->shut &&
              record->shelf->queue->namespace_key == spec->namespace_key;
    if (offered) {
        *out_poll = poll;
        hf_task_claim_by(matching, record, poll, &after);
    }
    hf_matching_unlock(matching, &after);
    if (offered)
        return HF_OK;
    poll_free(poll);
    return hf_err_set(err, HF_NOTFOUND, "task_not_found: no such task is to be had");
}

hf_status hf_matching_poll_key(hf_matching *matching, const hf_poll_spec *spec,
                               const hf_task_key *key, hf_poll **out_poll, hf_err *err)
{
    hf_poll *poll = poll_new(matching, spec);
    matching_after after = {0};
    task_record *record;
    bool offered;

    if (!poll)
        return hf_err_nomem(err, "a poll");
    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    offered = record && record->state == HF_TASK_OFFERED && !record->owner && !matching->shut;
    if (offered) {
        *out_poll = poll;
        hf_task_unlend(matching, record, false); /* it knows */
        hf_task_stay(record);
        hf_task_claim_by(matching, record, poll, &after);
    }
    hf_matching_unlock(matching, &after);
    if (offered)
        return HF_OK;
    poll_free(poll);
    return hf_err_set(err, HF_NOTFOUND, "task_not_found: no such task is to be had");
}

bool hf_poll_leave(hf_poll *poll)
{
    bool left;

    if (!poll)
        return true;
    hf_mutex_lock(&poll->matching->lock);
    poll->leaving = true;
    hf_poll_unplace(poll);
    left = poll->state == POLL_WAITS;
    hf_mutex_unlock(&poll->matching->lock);
    return left;
}

/* The poll goes without its task. One that its owner has not heard of goes to the next poll; else
   it may be on the record as this poll's already, and its owner finds that nobody is there. */
static void claim_desert(hf_poll *poll, matching_after *after)
{
    task_record *record = poll->task;

    if (!hf_list_linked(&record->claim)) {
        record->poll = NULL;
        return;
    }
    hf_task_go(poll->matching, record, HF_TASK_RELEASE);
    hf_task_seek_poll(poll->matching, record, (hf_slice){0}, after);
}

bool hf_poll_end(hf_poll *poll)
{
    hf_matching *matching = poll ? poll->matching : NULL;
    matching_after after = {0};
    bool inside;
    bool got;

    if (!poll)
        return true;
    hf_mutex_lock(&matching->lock);
    poll->leaving = true;
    inside = poll->state == POLL_CALLING && pthread_equal(poll->caller, pthread_self());
    poll->ended = inside;
    while (!inside && poll->state == POLL_CALLING)
        hf_cond_wait(&matching->called, &matching->lock);
    got = poll->state == POLL_CALLING || poll->state == POLL_DONE;
    if (poll->state == POLL_CLAIMED)
        claim_desert(poll, &after);
    places_drop(poll);
    hf_matching_unlock(matching, &after);
    if (!inside)
        poll_free(poll);
    return !got;
}
