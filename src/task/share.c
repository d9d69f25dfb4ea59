/* share.c: what polls at other nodes want of this one, and what this one has from them. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "task/matching_impl.h"

enum { COUNT_MAX = 1000, BUILDS_MAX = 16 }; /* that are looked at for one line of demand */

/* ---- tasks that other nodes are told of */

void hf_task_stay(task_record *record)
{
    HF_ASSERT(!record->far && !record->owner);
    hf_list_remove(&record->lend);
    hf_list_add_last(&record->shelf->stay[record->key.kind], &record->lend);
}

/* Without memory that node finds out when it claims the task. */
static void recall_add(hf_matching *matching, const task_record *record)
{
    task_recall *recall = hf_alloc(sizeof(*recall));

    if (!recall)
        return;
    recall->node = record->far->node;
    recall->key = record->key;
    *matching->recalls_last = recall;
    matching->recalls_last = &recall->next;
    matching->share = true;
}

void hf_task_unlend(hf_matching *matching, task_record *record, bool recall)
{
    hf_list_remove(&record->lend);
    if (!record->far)
        return;
    if (recall)
        recall_add(matching, record);
    record->far->room++;
    record->far = NULL;
}

bool hf_matching_recall(hf_matching *matching, int64_t *out_node, hf_task_key *out_key)
{
    task_recall *recall;

    hf_mutex_lock(&matching->lock);
    recall = matching->recalls;
    if (recall)
        matching->recalls = recall->next;
    if (!matching->recalls)
        matching->recalls_last = &matching->recalls;
    hf_mutex_unlock(&matching->lock);
    if (!recall)
        return false;
    *out_node = recall->node;
    *out_key = recall->key;
    hf_alloc_free(recall);
    return true;
}

void hf_matching_unlent(hf_matching *matching, const hf_task_key *key, int64_t node)
{
    const matching_after after = {0};
    task_record *record;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    if (record && record->far && record->far->node == node) {
        record->far->missed = true;
        hf_task_unlend(matching, record, true);
        hf_task_stay(record);
        matching->share = true;
    }
    hf_matching_unlock(matching, &after);
}

/* ---- polls at other nodes */

void hf_matching_share(hf_matching *matching, void (*shared)(void *ctx, bool waits), void *ctx)
{
    hf_mutex_lock(&matching->lock);
    matching->shared = shared;
    matching->shared_ctx = ctx;
    while (!shared && matching->calls > 0)
        hf_cond_wait(&matching->called, &matching->lock);
    hf_mutex_unlock(&matching->lock);
}

/* What it was told of stays here. */
static void far_free(hf_matching *matching, task_far *far)
{
    hf_list *link;

    while ((link = hf_list_first(&far->lent))) {
        task_record *record = HF_LIST_ENTRY(link, task_record, lend);

        hf_task_unlend(matching, record, false);
        hf_task_stay(record);
    }
    hf_list_remove(&far->link);
    if (far->shelf)
        hf_task_shelf_drop(far->shelf);
    hf_alloc_free(far);
}

void hf_task_fars_free(hf_matching *matching)
{
    hf_list *link;

    while ((link = hf_list_first(&matching->fars)))
        far_free(matching, HF_LIST_ENTRY(link, task_far, link));
    while (matching->recalls) {
        task_recall *recall = matching->recalls;

        matching->recalls = recall->next;
        hf_alloc_free(recall);
    }
}

static bool text_equal(hf_slice a, hf_slice b)
{
    return !a.ptr == !b.ptr && hf_slice_equal(a, b);
}

static bool far_is(const task_far *far, int64_t node, const hf_task_demand *demand)
{
    const task_queue *queue = far->queue;

    if (far->node != node || far->kind != demand->kind || !queue != demand->any_queue)
        return false;
    if (queue && (queue->namespace_key != demand->namespace_key ||
                  !hf_slice_equal(hf_slice_from(queue->name, queue->name_len), demand->queue)))
        return false;
    return far->shelf
               ? text_equal(far->shelf->type, demand->type) &&
                     text_equal(far->shelf->build, demand->build)
               : text_equal(far->type, demand->type) && text_equal(far->build, demand->build);
}

static hf_slice text_put(char **at, hf_slice text)
{
    hf_slice copy = {0};

    if (!text.ptr)
        return copy;
    copy = hf_slice_from(*at, text.len);
    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* NULL: no memory. */
static task_far *far_new(hf_matching *matching, int64_t node, const hf_task_demand *demand)
{
    task_far *far = hf_alloc(sizeof(*far) + demand->type.len + demand->build.len);
    char *at;

    if (!far)
        return NULL;
    at = far->texts;
    hf_list_init(&far->link);
    hf_list_init(&far->lent);
    far->node = node;
    far->kind = demand->kind;
    if (!demand->any_queue)
        far->queue = hf_task_queue_get(matching, demand->namespace_key, demand->queue);
    if (far->queue && demand->type.ptr)
        far->shelf = hf_task_shelf_use(far->queue, demand->type, demand->build);
    if ((!demand->any_queue && !far->queue) || (far->queue && demand->type.ptr && !far->shelf)) {
        hf_alloc_free(far);
        return NULL;
    }
    if (!far->shelf) {
        far->type = text_put(&at, demand->type);
        far->build = text_put(&at, demand->build);
    }
    hf_list_add_last(&matching->fars, &far->link);
    return far;
}

static task_far *far_find(const hf_matching *matching, int64_t node, const hf_task_demand *demand)
{
    for (hf_list *link = hf_list_first(&matching->fars); link;
         link = hf_list_next(&matching->fars, link))
        if (far_is(HF_LIST_ENTRY(link, task_far, link), node, demand))
            return HF_LIST_ENTRY(link, task_far, link);
    return NULL;
}

hf_status hf_matching_demand(hf_matching *matching, int64_t node, const hf_task_demand *demands,
                             size_t count, hf_err *err)
{
    const matching_after after = {0};
    hf_list *next;
    bool room = true;

    hf_mutex_lock(&matching->lock);
    for (hf_list *link = hf_list_first(&matching->fars); link;
         link = hf_list_next(&matching->fars, link))
        if (HF_LIST_ENTRY(link, task_far, link)->node == node)
            HF_LIST_ENTRY(link, task_far, link)->kept = false;
    for (size_t i = 0; i < count && room; i++) {
        task_far *far = far_find(matching, node, &demands[i]);

        if (!far)
            far = far_new(matching, node, &demands[i]);
        room = far != NULL;
        if (!far)
            continue;
        far->room += demands[i].polls - far->polls;
        far->polls = demands[i].polls;
        far->kept = true;
        far->missed = false;
    }
    for (hf_list *link = hf_list_first(&matching->fars); link; link = next) {
        task_far *far = HF_LIST_ENTRY(link, task_far, link);

        next = hf_list_next(&matching->fars, link);
        if (far->node == node && !far->kept)
            far_free(matching, far);
    }
    matching->share = true;
    hf_matching_unlock(matching, &after);
    return room ? HF_OK : hf_err_nomem(err, "what other nodes want");
}

static task_record *stay_first(const task_shelf *shelf, hf_task_kind kind)
{
    hf_list *link = shelf ? hf_list_first(&shelf->stay[kind]) : NULL;

    return link ? HF_LIST_ENTRY(link, task_record, lend) : NULL;
}

/* A task that polls of any type at the queue would take. */
static task_record *queue_stay(const task_far *far)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    if (far->queue->ready[far->kind] == 0)
        return NULL;
    while (hf_map_next(far->queue->shelves, &at, &key, &item)) {
        const task_shelf *shelf = item;
        task_record *record = stay_first(shelf, far->kind);

        if (record && (!shelf->build.ptr || text_equal(shelf->build, far->build)))
            return record;
    }
    return NULL;
}

/* One that a program which brings the type would take, whatever its queue. */
static task_record *type_stay(const hf_matching *matching, const task_far *far)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    while (hf_map_next(matching->queues, &at, &key, &item))
        for (const task_queue *queue = item; queue; queue = queue->next) {
            task_record *record = stay_first(hf_map_get(queue->shelves, far->type), far->kind);

            if (record)
                return record;
        }
    return NULL;
}

static task_record *far_task(const hf_matching *matching, const task_far *far)
{
    if (far->room <= 0 || far->missed)
        return NULL;
    return far->shelf   ? stay_first(far->shelf, far->kind)
           : far->queue ? queue_stay(far)
                        : type_stay(matching, far);
}

static hf_slice text_keep(hf_mem *mem, hf_slice text, bool *room)
{
    hf_slice copy = {0};

    if (text.ptr)
        copy = hf_slice_from(hf_mem_text(mem, text), text.len);
    *room = *room && (!text.ptr || copy.ptr);
    return copy;
}

static bool offer_copy(const task_record *record, hf_mem *mem, hf_task_offer *out_offer)
{
    const task_queue *queue = record->shelf->queue;
    bool room = true;

    *out_offer = (hf_task_offer){
        .key = record->key,
        .run = record->run,
        .shard = record->shard,
        .namespace_key = queue->namespace_key,
        .queue = text_keep(mem, hf_slice_from(queue->name, queue->name_len), &room),
        .type = text_keep(mem, record->shelf->type, &room),
        .workflow_id = text_keep(mem, hf_task_text(record, TASK_WORKFLOW_ID), &room),
        .run_id = text_keep(mem, hf_task_text(record, TASK_RUN_ID), &room),
        .task_id = text_keep(mem, hf_task_text(record, TASK_ID), &room),
        .build = text_keep(mem, record->shelf->build, &room)};
    return room;
}

bool hf_matching_lend(hf_matching *matching, hf_mem *mem, int64_t *out_node,
                      hf_task_offer *out_offer)
{
    task_record *record = NULL;
    task_far *far = NULL;

    hf_mutex_lock(&matching->lock);
    for (hf_list *link = hf_list_first(&matching->fars); link && !record;
         link = hf_list_next(&matching->fars, link)) {
        far = HF_LIST_ENTRY(link, task_far, link);
        record = far_task(matching, far);
    }
    if (record && !offer_copy(record, mem, out_offer))
        record = NULL;
    if (record) {
        hf_list_remove(&record->lend);
        hf_list_add_last(&far->lent, &record->lend);
        record->far = far;
        far->room--;
        *out_node = far->node;
        hf_list_remove(&far->link); /* the next one is another node's, if there is one */
        hf_list_add_last(&matching->fars, &far->link);
    }
    hf_mutex_unlock(&matching->lock);
    return record != NULL;
}

bool hf_task_far_serves(const hf_matching *matching, hf_task_kind kind, const task_queue *queue,
                        hf_slice type)
{
    for (hf_list *link = hf_list_first(&matching->fars); link;
         link = hf_list_next(&matching->fars, link)) {
        const task_far *far = HF_LIST_ENTRY(link, task_far, link);

        if (far->kind == kind &&
            (far->queue ? far->queue == queue : hf_slice_equal(far->type, type)))
            return true;
    }
    return false;
}

/* ---- polls of whatever queue */

static bool poll_knows(const hf_poll *poll, hf_task_kind kind, hf_slice type)
{
    bool knows = false;

    for (size_t i = 0; i < poll->spec.type_count && !knows; i++)
        knows = hf_slice_equal(poll->spec.types[i], type);
    return knows && (poll->spec.kinds & 1U << kind) != 0;
}

hf_poll *hf_task_anywhere_poll(const hf_matching *matching, const task_record *record)
{
    for (hf_list *link = hf_list_first(&matching->anywhere); link;
         link = hf_list_next(&matching->anywhere, link))
        if (poll_knows(HF_LIST_ENTRY(link, hf_poll, anywhere), record->key.kind,
                       record->shelf->type))
            return HF_LIST_ENTRY(link, hf_poll, anywhere);
    return NULL;
}

/* Tasks of other nodes alone: this node's own of such types are never offered. */
static task_record *shelf_foreign(const task_shelf *shelf, unsigned kinds)
{
    for (size_t kind = 0; shelf && kind < HF_TASK_KINDS; kind++) {
        hf_list *link = kinds & 1U << kind ? hf_list_first(&shelf->tasks[kind]) : NULL;
        task_record *record = link ? HF_LIST_ENTRY(link, task_record, place) : NULL;

        if (record && record->owner)
            return record;
    }
    return NULL;
}

task_record *hf_task_anywhere(const hf_matching *matching, const hf_poll *poll)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    while (hf_map_next(matching->queues, &at, &key, &item))
        for (const task_queue *queue = item; queue; queue = queue->next)
            for (size_t i = 0; i < poll->spec.type_count; i++) {
                task_record *record = shelf_foreign(hf_map_get(queue->shelves, poll->spec.types[i]),
                                                    poll->spec.kinds);

                if (record)
                    return record;
            }
    return NULL;
}

/* ---- what is wanted here */

typedef struct wanted {
    hf_mem *mem;
    hf_task_demand *list;
    size_t most;
    size_t count;
    bool room;
} wanted;

/* The line for polls of the build in it, among those that are there from `first` on. */
static hf_task_demand *wanted_line(wanted *w, size_t first, hf_slice build)
{
    for (size_t i = first; i < w->count; i++)
        if (text_equal(w->list[i].build, build))
            return &w->list[i];
    if (w->count == w->most || w->count - first == BUILDS_MAX)
        return NULL;
    w->list[w->count] = (hf_task_demand){.build = text_keep(w->mem, build, &w->room)};
    return &w->list[w->count++];
}

static void wanted_add(wanted *w, const task_queue *queue, const task_shelf *shelf,
                       hf_task_kind kind)
{
    const hf_list *polls = shelf ? &shelf->polls[kind] : &queue->anyone[kind];
    size_t first = w->count;
    int looked = 0;

    for (hf_list *link = hf_list_first(polls); link && looked < COUNT_MAX;
         link = hf_list_next(polls, link), looked++) {
        const hf_poll *poll = HF_LIST_ENTRY(link, task_place, link)->poll;
        hf_task_demand *line = wanted_line(w, first, shelf ? shelf->build : poll->spec.build);

        if (line)
            line->polls++;
    }
    for (size_t i = first; i < w->count; i++) {
        w->list[i].kind = kind;
        w->list[i].namespace_key = queue->namespace_key;
        w->list[i].queue = text_keep(w->mem, hf_slice_from(queue->name, queue->name_len), &w->room);
        if (shelf)
            w->list[i].type = text_keep(w->mem, shelf->type, &w->room);
    }
}

/* One more poll of whatever queue for the type. */
static void wanted_type(wanted *w, hf_task_kind kind, hf_slice type)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].any_queue && w->list[i].kind == kind &&
            hf_slice_equal(w->list[i].type, type)) {
            w->list[i].polls++;
            return;
        }
    if (w->count < w->most)
        w->list[w->count++] = (hf_task_demand){
            .kind = kind, .any_queue = true, .type = text_keep(w->mem, type, &w->room), .polls = 1};
}

static void wanted_anywhere(wanted *w, const hf_matching *matching)
{
    for (hf_list *link = hf_list_first(&matching->anywhere); link;
         link = hf_list_next(&matching->anywhere, link)) {
        const hf_poll_spec *spec = &HF_LIST_ENTRY(link, hf_poll, anywhere)->spec;

        for (size_t kind = 0; kind < HF_TASK_KINDS; kind++)
            for (size_t i = 0; spec->kinds & 1U << kind && i < spec->type_count; i++)
                wanted_type(w, (hf_task_kind)kind, spec->types[i]);
    }
}

hf_task_demand *hf_matching_wanted(hf_matching *matching, hf_mem *mem, size_t most,
                                   size_t *out_count)
{
    wanted w = {.mem = mem,
                .list = hf_mem_array(mem, most, sizeof(hf_task_demand)),
                .most = most,
                .room = true};
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&matching->lock);
    if (w.list)
        wanted_anywhere(&w, matching);
    while (w.list && hf_map_next(matching->queues, &at, &key, &item))
        for (const task_queue *queue = item; queue; queue = queue->next)
            for (size_t kind = 0; kind < HF_TASK_KINDS; kind++) {
                size_t shelf_at = 0;
                void *shelf;

                if (queue->polls[kind] == 0)
                    continue;
                wanted_add(&w, queue, NULL, (hf_task_kind)kind);
                while (hf_map_next(queue->shelves, &shelf_at, &key, &shelf))
                    wanted_add(&w, queue, shelf, (hf_task_kind)kind);
            }
    hf_mutex_unlock(&matching->lock);
    *out_count = w.count;
    return w.room ? w.list : NULL;
}

/* ---- tasks of other nodes */

/* What is here of the subject is over: the run has another owner since, or its owner offers it
   anew. */
static bool is_older(const task_record *record, const hf_task_key *key)
{
    return record->key.epoch < key->epoch ||
           (record->owner && record->state == HF_TASK_OFFERED && record->key.epoch == key->epoch &&
            !hf_task_key_equal(&record->key, key));
}

hf_status hf_matching_borrow(hf_matching *matching, const hf_task_offer *offer, int64_t owner,
                             hf_err *err)
{
    matching_after after = {0};
    task_record *record;
    bool room = true;

    hf_mutex_lock(&matching->lock);
    record = hf_map_int_get(matching->records[offer->key.kind], (uint64_t)offer->key.subject);
    if (record && is_older(record, &offer->key)) {
        hf_task_withdraw(matching, record, &after);
        record = NULL;
    }
    if (!record && !matching->shut) {
        record = hf_task_record_new(matching, offer);
        room = record != NULL;
        if (record) {
            record->owner = owner;
            hf_task_go(matching, record, HF_TASK_OFFER);
            hf_task_seek_poll(matching, record, offer->prefers, &after);
        }
    }
    hf_matching_unlock(matching, &after);
    return room ? HF_OK : hf_err_nomem(err, "a task of another node");
}

void hf_matching_return(hf_matching *matching, const hf_task_key *key)
{
    task_record *record;

    hf_mutex_lock(&matching->lock);
    record = hf_task_find(matching, key);
    if (record && record->owner && record->state == HF_TASK_OFFERED)
        hf_task_go(matching, record, HF_TASK_WITHDRAW);
    hf_mutex_unlock(&matching->lock);
}

bool hf_matching_claim_abroad(hf_matching *matching, hf_mem *mem, hf_task_abroad *out)
{
    const task_record *record;
    hf_list *claim;
    bool room = true;

    hf_mutex_lock(&matching->lock);
    claim = hf_list_take_first(&matching->foreign);
    if (claim) {
        record = HF_LIST_ENTRY(claim, task_record, claim);
        *out = (hf_task_abroad){.key = record->key,
                                .owner = record->owner,
                                .shard = record->shard,
                                .namespace_key = record->shelf->queue->namespace_key,
                                .holder = hf_task_claim_holder(record),
                                .build = text_keep(mem, record->poll->spec.build, &room),
                                .any_queue = record->poll->any_queue};
    }
    hf_mutex_unlock(&matching->lock);
    return claim != NULL;
}
