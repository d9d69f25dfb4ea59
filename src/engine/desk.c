/* desk.c: see desk.h. One counter per kind and queue, made when it is first needed and kept: an
   engine has few queues. */
#include "engine/desk.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/thread.h"

typedef struct desk_counter {
    hf_list errands; /* oldest first, both */
    hf_list waiters;
} desk_counter;

struct hf_desk {
    hf_mutex lock;
    hf_map *counters[2]; /* by queue */
    bool shut;
};

hf_status hf_desk_open(hf_desk **out_desk, hf_err *err)
{
    hf_desk *desk = hf_alloc(sizeof(*desk));
    hf_status st;

    if (!desk)
        return hf_err_nomem(err, "the desk");
    st = hf_mutex_init(&desk->lock, err);
    if (st) {
        hf_alloc_free(desk);
        return st;
    }
    desk->counters[HF_TASK_WORKFLOW] = hf_map_new((hf_map_seed){0});
    desk->counters[HF_TASK_ACTIVITY] = hf_map_new((hf_map_seed){0});
    if (!desk->counters[HF_TASK_WORKFLOW] || !desk->counters[HF_TASK_ACTIVITY]) {
        hf_desk_close(desk);
        return hf_err_nomem(err, "the desk");
    }
    *out_desk = desk;
    return HF_OK;
}

static void counters_free(hf_map *counters)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    while (counters && hf_map_next(counters, &at, &key, &item))
        hf_alloc_free(item);
    hf_map_free(counters);
}

void hf_desk_close(hf_desk *desk)
{
    if (!desk)
        return;
    for (size_t i = 0; i < 2; i++)
        counters_free(desk->counters[i]);
    hf_mutex_fini(&desk->lock);
    hf_alloc_free(desk);
}

static desk_counter *counter_get(hf_desk *desk, hf_task_kind kind, hf_slice queue, hf_err *err)
{
    desk_counter *counter = hf_map_get(desk->counters[kind], queue);

    if (counter)
        return counter;
    counter = hf_alloc(sizeof(*counter));
    if (!counter) {
        (void)hf_err_nomem(err, "a queue");
        return NULL;
    }
    hf_list_init(&counter->errands);
    hf_list_init(&counter->waiters);
    if (hf_map_put(desk->counters[kind], queue, counter, NULL, err)) {
        hf_alloc_free(counter);
        return NULL;
    }
    return counter;
}

/* Moves everybody who waits to the list. */
static void waiters_take(hf_map *counters, hf_list *out_waiters)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    while (hf_map_next(counters, &at, &key, &item)) {
        desk_counter *counter = item;
        hf_list *link;

        while ((link = hf_list_take_first(&counter->waiters)))
            hf_list_add_last(out_waiters, link);
    }
}

void hf_desk_shut(hf_desk *desk, bool shut)
{
    hf_list waiters;
    hf_list *link;

    if (!desk)
        return;
    hf_list_init(&waiters);
    hf_mutex_lock(&desk->lock);
    desk->shut = shut;
    if (shut)
        for (size_t i = 0; i < 2; i++)
            waiters_take(desk->counters[i], &waiters);
    hf_mutex_unlock(&desk->lock);
    while ((link = hf_list_take_first(&waiters))) {
        hf_waiter *waiter = HF_LIST_ENTRY(link, hf_waiter, place);

        (void)waiter->got(waiter, NULL);
    }
}

static bool waiter_serves(const hf_waiter *waiter, hf_slice type)
{
    for (size_t i = 0; i < waiter->type_count; i++)
        if (hf_slice_equal(waiter->types[i], type))
            return true;
    return waiter->type_count == 0;
}

hf_status hf_desk_offer(hf_desk *desk, hf_errand *errand, hf_waiter **out_waiter, hf_err *err)
{
    desk_counter *counter;
    hf_list *link;

    *out_waiter = NULL;
    hf_mutex_lock(&desk->lock);
    counter = counter_get(desk, errand->kind, errand->queue, err);
    if (counter && !hf_list_linked(&errand->place)) {
        for (link = hf_list_first(&counter->waiters); link && !*out_waiter;
             link = hf_list_next(&counter->waiters, link)) {
            hf_waiter *waiter = HF_LIST_ENTRY(link, hf_waiter, place);

            if (waiter_serves(waiter, errand->type))
                *out_waiter = waiter;
        }
        if (*out_waiter)
            hf_list_remove(&(*out_waiter)->place);
        else
            hf_list_add_last(&counter->errands, &errand->place);
    }
    hf_mutex_unlock(&desk->lock);
    return counter ? HF_OK : HF_NOMEM;
}

void hf_desk_withdraw(hf_desk *desk, hf_errand *errand)
{
    hf_mutex_lock(&desk->lock);
    hf_list_remove(&errand->place);
    hf_mutex_unlock(&desk->lock);
}

hf_status hf_desk_ask(hf_desk *desk, hf_waiter *waiter, bool *out_found, hf_errand *out_errand,
                      hf_err *err)
{
    desk_counter *counter;
    hf_list *link;

    *out_found = false;
    hf_mutex_lock(&desk->lock);
    if (desk->shut) {
        hf_mutex_unlock(&desk->lock);
        return hf_err_set(err, HF_STOPPED, "the engine is closing");
    }
    counter = counter_get(desk, waiter->kind, waiter->queue, err);
    for (link = counter ? hf_list_first(&counter->errands) : NULL; link && !*out_found;
         link = hf_list_next(&counter->errands, link)) {
        hf_errand *errand = HF_LIST_ENTRY(link, hf_errand, place);

        if (!waiter_serves(waiter, errand->type))
            continue;
        *out_errand = *errand;
        *out_found = true;
        hf_list_remove(&errand->place);
        break;
    }
    if (counter && !*out_found)
        hf_list_add_last(&counter->waiters, &waiter->place);
    hf_mutex_unlock(&desk->lock);
    return counter ? HF_OK : HF_NOMEM;
}

bool hf_desk_leave(hf_desk *desk, hf_waiter *waiter)
{
    bool waited;

    hf_mutex_lock(&desk->lock);
    waited = hf_list_linked(&waiter->place);
    hf_list_remove(&waiter->place);
    hf_mutex_unlock(&desk->lock);
    return waited;
}
