/* matching.c: see matching.h. Tasks, their queues and how they change hands; poll.c has the polls,
   lease.c the leases, matching_show.c what is told of all of them. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/fault.h"
#include "task/matching_impl.h"

enum { LOOK_MAX = 64 }; /* polls that are looked at for the worker that is preferred */

/* ---- opening and closing */

hf_status hf_matching_open(const hf_clock *clock, hf_matching **out_matching, hf_err *err)
{
    hf_matching *matching = hf_alloc(sizeof(*matching));
    bool room = true;
    hf_status st;

    if (!matching)
        return hf_err_nomem(err, "matching");
    matching->clock = clock;
    st = hf_mutex_init(&matching->lock, err);
    if (st) {
        hf_alloc_free(matching);
        return st;
    }
    st = hf_cond_init(&matching->called, err);
    if (st) {
        hf_mutex_fini(&matching->lock);
        hf_alloc_free(matching);
        return st;
    }
    st = hf_map_seed_system(&matching->seed, err); /* names of queues are chosen by others */
    matching->queues = st ? NULL : hf_map_new(matching->seed);
    hf_list_init(&matching->foreign);
    hf_list_init(&matching->fars);
    hf_list_init(&matching->anywhere);
    matching->recalls_last = &matching->recalls;
    for (size_t i = 0; i < HF_TASK_KINDS; i++) {
        hf_list_init(&matching->claims[i]);
        matching->records[i] = st || !room ? NULL : hf_map_int_new(matching->seed);
        room = matching->records[i] != NULL; /* the last one tells that all are there */
    }
    if (!st && (!room || !matching->queues))
        st = hf_err_nomem(err, "matching");
    if (st) {
        hf_matching_close(matching);
        return st;
    }
    *out_matching = matching;
    return HF_OK;
}

static void queue_free(task_queue *queue)
{
    size_t at = 0;
    hf_slice key;
    void *shelf;

    while (queue->shelves && hf_map_next(queue->shelves, &at, &key, &shelf))
        hf_alloc_free(shelf);
    hf_map_free(queue->shelves);
    hf_alloc_free(queue);
}

void hf_matching_close(hf_matching *matching)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    if (!matching)
        return;
    if (matching->queues && matching->records[HF_TASK_KINDS - 1])
        hf_matching_forget(matching, (1U << HF_TASK_KINDS) - 1);
    hf_task_fars_free(matching);
    while (matching->queues && hf_map_next(matching->queues, &at, &key, &item))
        for (task_queue *queue = item; queue; queue = item) {
            item = queue->next;
            queue_free(queue);
        }
    hf_map_free(matching->queues);
    for (size_t i = 0; i < HF_TASK_KINDS; i++)
        hf_map_int_free(matching->records[i]);
    hf_cond_fini(&matching->called);
    hf_mutex_fini(&matching->lock);
    hf_alloc_free(matching);
}

/* ---- queues and shelves */

task_queue *hf_task_queue_find(const hf_matching *matching, int64_t namespace_key, hf_slice name)
{
    task_queue *queue = hf_map_get(matching->queues, name);

    while (queue && queue->namespace_key != namespace_key)
        queue = queue->next;
    return queue;
}

task_queue *hf_task_queue_get(hf_matching *matching, int64_t namespace_key, hf_slice name)
{
    task_queue *first = hf_map_get(matching->queues, name);
    task_queue *queue = hf_task_queue_find(matching, namespace_key, name);

    if (queue)
        return queue;
    queue = hf_alloc(sizeof(*queue) + name.len);
    if (!queue)
        return NULL;
    queue->namespace_key = namespace_key;
    queue->name_len = name.len;
    if (name.len)
        memcpy(queue->name, name.ptr, name.len);
    for (size_t i = 0; i < HF_TASK_KINDS; i++) {
        hf_list_init(&queue->anyone[i]);
        hf_list_init(&queue->tasks[i]);
    }
    queue->shelves = hf_map_new(matching->seed);
    if (!queue->shelves || (!first && hf_map_put(matching->queues, name, queue, NULL, NULL))) {
        queue_free(queue);
        return NULL;
    }
    if (first) {
        queue->next = first->next;
        first->next = queue;
    }
    return queue;
}

task_shelf *hf_task_shelf_use(task_queue *queue, hf_slice type, hf_slice build)
{
    size_t len = type.len + (build.ptr ? build.len + 1 : 0); /* no name has a NUL in it */
    task_shelf *made = hf_alloc(sizeof(*made) + len + 1);
    task_shelf *shelf;

    if (!made)
        return NULL;
    memcpy(made->key, type.ptr, type.len);
    made->type = hf_slice_from(made->key, type.len);
    made->key_len = len;
    if (build.ptr) {
        memcpy(made->key + type.len + 1, build.ptr, build.len);
        made->build = hf_slice_from(made->key + type.len + 1, build.len);
    }
    for (size_t i = 0; i < HF_TASK_KINDS; i++) {
        hf_list_init(&made->tasks[i]);
        hf_list_init(&made->polls[i]);
        hf_list_init(&made->stay[i]);
    }
    made->queue = queue;
    shelf = hf_map_get(queue->shelves, hf_slice_from(made->key, len));
    if (!shelf && hf_map_put(queue->shelves, hf_slice_from(made->key, len), made, NULL, NULL)) {
        hf_alloc_free(made);
        return NULL;
    }
    if (shelf)
        hf_alloc_free(made);
    else
        shelf = made;
    shelf->users++;
    return shelf;
}

void hf_task_shelf_drop(task_shelf *shelf)
{
    HF_ASSERT(shelf->users > 0);
    if (--shelf->users > 0)
        return;
    (void)hf_map_remove(shelf->queue->shelves, hf_slice_from(shelf->key, shelf->key_len));
    hf_alloc_free(shelf);
}

/* ---- records */

task_record *hf_task_find(const hf_matching *matching, const hf_task_key *key)
{
    task_record *record = hf_map_int_get(matching->records[key->kind], (uint64_t)key->subject);

    return record && hf_task_key_equal(&record->key, key) ? record : NULL;
}

/* What goes with the state of a record. A claim has a poll until it is confirmed, then a worker;
   neither, when the poll left after the owner had heard of the claim, who will say what follows.
   Only what is offered and this node's own is told to others, to one at a time. */
static void record_check(const task_record *record)
{
    bool offered = record->state == HF_TASK_OFFERED;
    bool claimed = record->state == HF_TASK_CLAIMED;

    HF_ASSERT(hf_list_linked(&record->place) == offered);
    HF_ASSERT(hf_list_linked(&record->in_queue) == offered);
    HF_ASSERT(hf_list_linked(&record->lend) == (offered && !record->owner));
    HF_ASSERT(!record->far || hf_list_linked(&record->lend));
    HF_ASSERT(!record->poll || (claimed && !record->lease && record->poll->task == record &&
                                record->poll->state == POLL_CLAIMED));
    HF_ASSERT(!record->lease || claimed);
    HF_ASSERT(!hf_list_linked(&record->claim) || record->poll);
}

static void record_free(hf_matching *matching, task_record *record)
{
    (void)hf_map_int_remove(matching->records[record->key.kind], (uint64_t)record->key.subject);
    hf_task_shelf_drop(record->shelf);
    hf_alloc_free(record->lease);
    hf_alloc_free(record);
}

/* Off the shelf, or on it in the order of offers: one that comes back is among the oldest. */
static void record_place(hf_matching *matching, task_record *record, bool offered)
{
    task_queue *queue = record->shelf->queue;
    hf_list *shelf = &record->shelf->tasks[record->key.kind];
    hf_list *all = &queue->tasks[record->key.kind];
    hf_list *at = all->next;

    queue->ready[record->key.kind] += offered - hf_list_linked(&record->place);
    hf_list_remove(&record->place);
    hf_list_remove(&record->in_queue);
    if (!offered)
        return;
    if (!record->order) {
        record->order = ++matching->orders;
        hf_list_add_last(shelf, &record->place);
        hf_list_add_last(all, &record->in_queue);
        return;
    }
    while (at != all && HF_LIST_ENTRY(at, task_record, in_queue)->order < record->order)
        at = at->next;
    hf_list_add_after(at->prev, &record->in_queue);
    for (at = shelf->next; at != shelf; at = at->next)
        if (HF_LIST_ENTRY(at, task_record, place)->order > record->order)
            break;
    hf_list_add_after(at->prev, &record->place);
}

void hf_task_go(hf_matching *matching, task_record *record, hf_task_move on)
{
    hf_task_state to = HF_TASK_UNKNOWN;

    HF_ASSERT(hf_task_next(record->state, on, &to));
    if (hf_fault_planted(HF_PLANT_FREED_OFFER) && hf_list_linked(&record->place) &&
        hf_task_over(to)) {
        record_free(matching, record);
        return;
    }
    record->state = to;
    record_place(matching, record, to == HF_TASK_OFFERED);
    if (to == HF_TASK_OFFERED && !record->owner)
        hf_task_stay(record);
    else
        hf_task_unlend(matching, record, true);
    if (to != HF_TASK_CLAIMED) {
        hf_list_remove(&record->claim);
        if (record->poll)
            record->poll->task = NULL;
        record->poll = NULL;
        hf_alloc_free(record->lease);
        record->lease = NULL;
    }
    record_check(record);
    if (hf_task_over(to))
        record_free(matching, record);
}

static void texts_put(task_record *record, const hf_task_offer *offer)
{
    const hf_slice texts[TASK_TEXTS] = {[TASK_WORKFLOW_ID] = offer->workflow_id,
                                        [TASK_RUN_ID] = offer->run_id,
                                        [TASK_ID] = offer->task_id};
    size_t at = 0;

    for (size_t i = 0; i < TASK_TEXTS; i++) {
        if (texts[i].len)
            memcpy(record->texts + at, texts[i].ptr, texts[i].len);
        at += texts[i].len;
        HF_ASSERT(at <= UINT16_MAX);
        record->ends[i] = (uint16_t)at;
    }
}

hf_slice hf_task_text(const task_record *record, task_text which)
{
    size_t at = which ? record->ends[which - 1] : 0;

    return hf_slice_from(record->texts + at, record->ends[which] - at);
}

task_record *hf_task_record_new(hf_matching *matching, const hf_task_offer *offer)
{
    task_queue *queue = hf_task_queue_get(matching, offer->namespace_key, offer->queue);
    task_shelf *shelf = queue ? hf_task_shelf_use(queue, offer->type, offer->build) : NULL;
    task_record *record = shelf ? hf_alloc(sizeof(*record) + offer->workflow_id.len +
                                           offer->run_id.len + offer->task_id.len)
                                : NULL;

    if (!record || hf_map_int_put(matching->records[offer->key.kind], (uint64_t)offer->key.subject,
                                  record, NULL, NULL)) {
        if (shelf)
            hf_task_shelf_drop(shelf);
        hf_alloc_free(record);
        return NULL;
    }
    record->key = offer->key;
    record->shelf = shelf;
    record->run = offer->run;
    record->shard = offer->shard;
    record->since_us = hf_clock_wall_us(matching->clock);
    texts_put(record, offer);
    hf_list_init(&record->place);
    hf_list_init(&record->in_queue);
    hf_list_init(&record->claim);
    hf_list_init(&record->lend);
    return record;
}

/* ---- who gets what */

void hf_task_claim_by(hf_matching *matching, task_record *record, hf_poll *poll,
                      matching_after *after)
{
    HF_ASSERT(poll->state == POLL_WAITS && !poll->task);
    hf_poll_unplace(poll);
    poll->state = POLL_CLAIMED;
    poll->task = record;
    record->poll = poll;
    hf_task_go(matching, record, HF_TASK_CLAIM);
    if (record->owner) {
        hf_list_add_last(&matching->foreign, &record->claim);
        matching->share = true;
        return;
    }
    hf_list_add_last(&matching->claims[record->key.kind], &record->claim);
    after->kinds |= 1U << record->key.kind;
}

/* The next place of two lists that are ordered by the polls' turns. */
static task_place *place_next(const hf_list *a, hf_list **at_a, const hf_list *b, hf_list **at_b)
{
    task_place *in_a = *at_a ? HF_LIST_ENTRY(*at_a, task_place, link) : NULL;
    task_place *in_b = *at_b ? HF_LIST_ENTRY(*at_b, task_place, link) : NULL;

    if (in_a && (!in_b || in_a->poll->order < in_b->poll->order)) {
        *at_a = hf_list_next(a, *at_a);
        return in_a;
    }
    if (in_b)
        *at_b = hf_list_next(b, *at_b);
    return in_b;
}

/* The poll that has waited longest, unless one of the first is of the worker that knows the run. */
void hf_task_seek_poll(hf_matching *matching, task_record *record, hf_slice prefers,
                       matching_after *after)
{
    const task_shelf *shelf = record->shelf;
    const hf_list *named = &shelf->polls[record->key.kind];
    const hf_list *anyone = &shelf->queue->anyone[record->key.kind];
    hf_list *at_named = hf_list_first(named);
    hf_list *at_anyone = hf_list_first(anyone);
    hf_poll *found = NULL;
    task_place *place;
    size_t looked = 0;

    while (looked < LOOK_MAX && (place = place_next(named, &at_named, anyone, &at_anyone))) {
        hf_poll *poll = place->poll;

        if (shelf->build.ptr && !hf_slice_equal(shelf->build, poll->spec.build))
            continue;
        if (!found || (prefers.ptr && hf_slice_equal(poll->spec.worker, prefers)))
            found = poll;
        if (!prefers.ptr || hf_slice_equal(found->spec.worker, prefers))
            break;
        looked++;
    }
    if (!found && record->owner)
        found = hf_task_anywhere_poll(matching, record);
    if (found)
        hf_task_claim_by(matching, record, found, after);
    else
        matching->share |= !hf_list_empty(&matching->fars);
}

void hf_matching_unlock(hf_matching *matching, const matching_after *after)
{
    matching_listener tell[MATCHING_LISTENERS];

    bool waits = !matching->share;
    void (*shared)(void *ctx, bool waits) =
        matching->share || matching->waits ? matching->shared : NULL;
    void *shared_ctx = matching->shared_ctx;

    matching->share = false;
    matching->waits = false;
    memcpy(tell, matching->listeners, sizeof(tell));
    matching->calls += after->kinds != 0 || shared;
    hf_mutex_unlock(&matching->lock);
    if (after->dismissed)
        (void)hf_poll_call(after->dismissed, NULL);
    if (shared)
        shared(shared_ctx, waits);
    if (!after->kinds && !shared)
        return;
    for (size_t i = 0; i < MATCHING_LISTENERS; i++)
        if (tell[i].kinds & after->kinds)
            tell[i].claimed(tell[i].ctx);
    hf_mutex_lock(&matching->lock);
    matching->calls--;
    hf_cond_broadcast(&matching->called);
    hf_mutex_unlock(&matching->lock);
}

/* ---- the owner's calls */

void hf_matching_listen(hf_matching *matching, unsigned kinds, void (*claimed)(void *ctx),
                        void *ctx)
{
    const matching_listener mine = {.kinds = kinds, .claimed = claimed, .ctx = ctx};
    size_t i = 0;

    hf_mutex_lock(&matching->lock);
    while (matching->listeners[i].kinds && matching->listeners[i].kinds != kinds)
        i++;
    HF_ASSERT(i < MATCHING_LISTENERS);
    matching->listeners[i] = mine;
    hf_mutex_unlock(&matching->lock);
}

void hf_task_withdraw(hf_matching *matching, task_record *record, matching_after *after)
{
    hf_poll *poll = record->poll;

    hf_task_go(matching, record, HF_TASK_WITHDRAW);
    if (poll) {
        poll->state = POLL_WAITS;
        hf_poll_seek(poll, true, after);
    }
}

hf_task_holder hf_task_claim_holder(const task_record *record)
{
    const hf_poll_spec *spec = &record->poll->spec;
    hf_task_holder holder = {.lease_us = spec->lease_us};

    memcpy(holder.worker, spec->worker.ptr, spec->worker.len);
    return holder;
}

hf_status hf_matching_offer(hf_matching *matching, const hf_task_offer *offer, bool *out_claimed,
                            hf_task_holder *out_holder, hf_err *err)
{
    matching_after after = {0};
    matching_after mine = {0};
    task_record *record;

    *out_claimed = false;
    hf_mutex_lock(&matching->lock);
    record = hf_map_int_get(matching->records[offer->key.kind], (uint64_t)offer->key.subject);
    if (record && !hf_task_key_equal(&record->key, &offer->key)) {
        hf_task_withdraw(matching, record, &after);
        record = NULL;
    }
    if (!record) {
        record = hf_task_record_new(matching, offer);
        if (record)
            hf_task_go(matching, record, HF_TASK_OFFER);
    }
    if (!record) {
        hf_matching_unlock(matching, &after);
        return hf_err_nomem(err, "a task");
    }
    if (record->state == HF_TASK_CLAIMED && !record->poll && !record->lease)
        hf_task_go(matching, record, HF_TASK_RELEASE);
    if (record->state == HF_TASK_OFFERED)
        hf_task_seek_poll(matching, record, offer->prefers, &mine);
    if (record->poll) {
        hf_list_remove(&record->claim); /* its owner knows now */
        *out_claimed = true;
        *out_holder = hf_task_claim_holder(record);
    } else if (offer->now) {
        hf_task_withdraw(matching, record, &after);
    }
    hf_matching_unlock(matching, &after);
    return HF_OK;
}

void hf_matching_withdraw(hf_matching *matching, const hf_task_key *key)
{
    matching_after after = {0};
    task_record *record;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    if (record)
        hf_task_withdraw(matching, record, &after);
    hf_matching_unlock(matching, &after);
}

bool hf_matching_claim(hf_matching *matching, unsigned kinds, hf_task_key *out_key,
                       int64_t *out_run, hf_task_holder *out_holder)
{
    const task_record *record;
    hf_list *claim = NULL;

    hf_mutex_lock(&matching->lock);
    for (size_t i = 0; i < HF_TASK_KINDS && !claim; i++)
        if (kinds & 1U << i)
            claim = hf_list_take_first(&matching->claims[i]);
    if (claim) {
        record = HF_LIST_ENTRY(claim, task_record, claim);
        *out_key = record->key;
        *out_run = record->run;
        if (out_holder)
            *out_holder = hf_task_claim_holder(record);
    }
    hf_mutex_unlock(&matching->lock);
    return claim != NULL;
}

/* ---- the end of an engine */

/* A poll that waits; NULL: there is none. */
static hf_poll *poll_any(hf_matching *matching)
{
    hf_list *first = hf_list_first(&matching->anywhere);
    size_t at = 0;
    hf_slice key;
    void *item;

    if (first)
        return HF_LIST_ENTRY(first, hf_poll, anywhere);
    while (hf_map_next(matching->queues, &at, &key, &item))
        for (task_queue *queue = item; queue; queue = queue->next)
            for (size_t kind = 0; kind < HF_TASK_KINDS; kind++) {
                hf_list *link = hf_list_first(&queue->anyone[kind]);
                size_t shelf_at = 0;
                void *shelf;

                while (!link && hf_map_next(queue->shelves, &shelf_at, &key, &shelf))
                    link = hf_list_first(&((task_shelf *)shelf)->polls[kind]);
                if (link)
                    return HF_LIST_ENTRY(link, task_place, link)->poll;
            }
    return NULL;
}

void hf_matching_shut(hf_matching *matching, bool shut)
{
    hf_poll *poll;

    if (!matching)
        return;
    hf_mutex_lock(&matching->lock);
    matching->shut = shut;
    while (shut && (poll = poll_any(matching))) {
        const matching_after after = {.dismissed = poll};

        hf_poll_unplace(poll);
        hf_poll_calling(poll);
        hf_matching_unlock(matching, &after); /* no poll comes any more: it is shut */
        hf_mutex_lock(&matching->lock);
    }
    hf_mutex_unlock(&matching->lock);
}

void hf_matching_forget(hf_matching *matching, unsigned kinds)
{
    hf_mutex_lock(&matching->lock);
    for (size_t i = 0; i < MATCHING_LISTENERS; i++)
        if (matching->listeners[i].kinds == kinds)
            matching->listeners[i] = (matching_listener){0};
    for (size_t kind = 0; kind < HF_TASK_KINDS; kind++) {
        size_t at = 0;
        uint64_t subject;
        void *item;

        while (kinds & 1U << kind &&
               hf_map_int_next(matching->records[kind], &at, &subject, &item)) {
            matching_after after = {0};

            hf_task_withdraw(matching, item, &after);
            hf_matching_unlock(matching, &after);
            hf_mutex_lock(&matching->lock);
        }
    }
    while (matching->calls > 0)
        hf_cond_wait(&matching->called, &matching->lock);
    hf_mutex_unlock(&matching->lock);
}
