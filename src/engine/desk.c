/* desk.c: see desk.h. One counter per queue and namespace, made when it is first needed and kept:
   an engine has few queues. */
#include "engine/desk.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/thread.h"
#include "base/value.h"

/* All by kind. */
typedef struct desk_counter {
    struct desk_counter *next; /* of the same queue in another namespace */
    int64_t namespace_key;
    hf_list errands[HF_DESK_KINDS]; /* oldest first, both */
    hf_list waiters[HF_DESK_KINDS]; /* places */
    int64_t asked_us[HF_DESK_KINDS];
} desk_counter;

struct hf_desk {
    hf_mutex lock;
    const hf_clock *clock;
    hf_map *counters; /* by queue */
    bool shut;
};

/* What somebody waits for comes before what only has to be done. */
static const hf_task_kind order[HF_DESK_KINDS] = {HF_TASK_VALIDATION, HF_TASK_QUERY,
                                                  HF_TASK_WORKFLOW, HF_TASK_ACTIVITY};

hf_status hf_desk_open(const hf_clock *clock, hf_desk **out_desk, hf_err *err)
{
    hf_desk *desk = hf_alloc(sizeof(*desk));
    hf_map_seed seed; /* the names of queues are chosen by others */
    hf_rng rng;
    hf_status st;

    if (!desk)
        return hf_err_nomem(err, "the desk");
    st = hf_mutex_init(&desk->lock, err);
    if (st) {
        hf_alloc_free(desk);
        return st;
    }
    desk->clock = clock;
    st = hf_rng_init_system(&rng, err);
    if (!st) {
        seed = (hf_map_seed){.low = hf_rng_next(&rng), .high = hf_rng_next(&rng)};
        desk->counters = hf_map_new(seed);
        st = desk->counters ? HF_OK : hf_err_nomem(err, "the desk");
    }
    if (st) {
        hf_desk_close(desk);
        return st;
    }
    *out_desk = desk;
    return HF_OK;
}

void hf_desk_close(hf_desk *desk)
{
    size_t at = 0;
    hf_slice key;
    void *item;

    if (!desk)
        return;
    while (desk->counters && hf_map_next(desk->counters, &at, &key, &item))
        for (desk_counter *counter = item; counter; counter = item) {
            item = counter->next;
            hf_alloc_free(counter);
        }
    hf_map_free(desk->counters);
    hf_mutex_fini(&desk->lock);
    hf_alloc_free(desk);
}

/* NULL: there is none. */
static desk_counter *counter_find(const hf_desk *desk, int64_t namespace_key, hf_slice queue)
{
    desk_counter *counter = hf_map_get(desk->counters, queue);

    while (counter && counter->namespace_key != namespace_key)
        counter = counter->next;
    return counter;
}

static desk_counter *counter_get(hf_desk *desk, int64_t namespace_key, hf_slice queue, hf_err *err)
{
    desk_counter *first = hf_map_get(desk->counters, queue);
    desk_counter *counter = counter_find(desk, namespace_key, queue);

    if (counter)
        return counter;
    counter = hf_alloc(sizeof(*counter));
    if (!counter) {
        (void)hf_err_nomem(err, "a queue");
        return NULL;
    }
    for (size_t i = 0; i < HF_DESK_KINDS; i++) {
        hf_list_init(&counter->errands[i]);
        hf_list_init(&counter->waiters[i]);
    }
    counter->namespace_key = namespace_key;
    if (first) {
        counter->next = first->next;
        first->next = counter;
    } else if (hf_map_put(desk->counters, queue, counter, NULL, err)) {
        hf_alloc_free(counter);
        return NULL;
    }
    return counter;
}

static bool waiter_waits(const hf_waiter *waiter)
{
    for (size_t i = 0; i < waiter->place_count; i++)
        if (hf_list_linked(&waiter->places[i].link))
            return true;
    return false;
}

static void waiter_take(hf_waiter *waiter)
{
    for (size_t i = 0; i < waiter->place_count; i++)
        hf_list_remove(&waiter->places[i].link);
}

/* Somebody who waits at the counter, who does not any more; NULL: nobody does. */
static hf_waiter *counter_waiter(desk_counter *counter)
{
    for (size_t i = 0; i < HF_DESK_KINDS; i++) {
        hf_list *link = hf_list_first(&counter->waiters[i]);

        if (link) {
            hf_waiter *waiter = HF_LIST_ENTRY(link, hf_waiter_place, link)->waiter;

            waiter_take(waiter);
            return waiter;
        }
    }
    return NULL;
}

static hf_waiter *waiter_any(hf_desk *desk)
{
    hf_waiter *waiter = NULL;
    size_t at = 0;
    hf_slice key;
    void *item;

    while (!waiter && hf_map_next(desk->counters, &at, &key, &item))
        for (desk_counter *counter = item; counter && !waiter; counter = counter->next)
            waiter = counter_waiter(counter);
    return waiter;
}

void hf_desk_shut(hf_desk *desk, bool shut)
{
    hf_waiter *waiter;

    if (!desk)
        return;
    hf_mutex_lock(&desk->lock);
    desk->shut = shut;
    while (shut && (waiter = waiter_any(desk))) {
        hf_mutex_unlock(&desk->lock); /* nobody new comes: it is shut */
        (void)waiter->got(waiter, NULL);
        hf_mutex_lock(&desk->lock);
    }
    hf_mutex_unlock(&desk->lock);
}

static bool waiter_serves(const hf_waiter *waiter, const hf_errand *errand)
{
    if (errand->build.ptr && !hf_slice_equal(errand->build, waiter->build))
        return false;
    for (size_t i = 0; i < waiter->type_count; i++)
        if (hf_slice_equal(waiter->types[i], errand->type))
            return true;
    return waiter->type_count == 0;
}

/* The worker that has waited longest, unless one of the first knows the run. */
static hf_waiter *waiter_for(const hf_list *waiters, const hf_errand *errand, hf_slice prefers)
{
    hf_waiter *found = NULL;
    size_t looked = 0;

    for (hf_list *link = hf_list_first(waiters); link; link = hf_list_next(waiters, link)) {
        hf_waiter *waiter = HF_LIST_ENTRY(link, hf_waiter_place, link)->waiter;

        if (!waiter_serves(waiter, errand))
            continue;
        if (!prefers.ptr || hf_slice_equal(waiter->worker, prefers))
            return waiter;
        found = found ? found : waiter;
        if (++looked == HF_DESK_LOOK_MAX)
            break;
    }
    return found;
}

hf_status hf_desk_offer(hf_desk *desk, hf_errand *errand, hf_slice prefers, hf_waiter **out_waiter,
                        hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(desk->clock);
    desk_counter *counter;

    *out_waiter = NULL;
    hf_mutex_lock(&desk->lock);
    counter = counter_get(desk, errand->namespace_key, errand->queue, err);
    if (counter && !hf_list_linked(&errand->place)) {
        *out_waiter = waiter_for(&counter->waiters[errand->kind], errand, prefers);
        if (*out_waiter)
            waiter_take(*out_waiter);
        else
            hf_list_add_last(&counter->errands[errand->kind], &errand->place);
        errand->since_us = now_us;
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

static bool errand_take(hf_list *errands, const hf_waiter *waiter, hf_errand *out_errand)
{
    for (hf_list *link = hf_list_first(errands); link; link = hf_list_next(errands, link)) {
        hf_errand *errand = HF_LIST_ENTRY(link, hf_errand, place);

        if (!waiter_serves(waiter, errand))
            continue;
        *out_errand = *errand;
        hf_list_remove(&errand->place);
        return true;
    }
    return false;
}

/* The queues' counters, all there or none; what is made is kept. */
static bool counters_get(hf_desk *desk, const hf_waiter *waiter, desk_counter **out_counters,
                         hf_err *err)
{
    for (size_t i = 0; i < waiter->queue_count; i++) {
        out_counters[i] = counter_get(desk, waiter->namespace_key, waiter->queues[i], err);
        if (!out_counters[i])
            return false;
    }
    return true;
}

hf_status hf_desk_ask(hf_desk *desk, hf_waiter *waiter, bool *out_found, hf_errand *out_errand,
                      hf_err *err)
{
    desk_counter *counters[HF_DESK_QUEUES_MAX];
    int64_t now_us = hf_clock_wall_us(desk->clock);
    size_t place = 0;

    HF_ASSERT(waiter->queue_count <= HF_DESK_QUEUES_MAX);
    *out_found = false;
    hf_mutex_lock(&desk->lock);
    if (desk->shut || waiter->leaving) {
        hf_mutex_unlock(&desk->lock);
        return hf_err_set(err, HF_STOPPED, "nobody waits here any more");
    }
    if (!counters_get(desk, waiter, counters, err)) {
        hf_mutex_unlock(&desk->lock);
        return HF_NOMEM;
    }
    for (size_t k = 0; k < HF_DESK_KINDS && !*out_found; k++)
        for (size_t i = 0; i < waiter->queue_count && !*out_found; i++)
            if (waiter->kinds & 1U << order[k]) {
                counters[i]->asked_us[order[k]] = now_us;
                *out_found = errand_take(&counters[i]->errands[order[k]], waiter, out_errand);
            }
    for (size_t k = 0; k < HF_DESK_KINDS && !*out_found; k++)
        for (size_t i = 0; i < waiter->queue_count; i++)
            if (waiter->kinds & 1U << order[k])
                hf_list_add_last(&counters[i]->waiters[order[k]], &waiter->places[place++].link);
    hf_mutex_unlock(&desk->lock);
    return HF_OK;
}

/* Takes the one out of the list that is this work. */
static bool errand_pick(const hf_list *errands, int64_t run, int64_t activity,
                        hf_errand *out_errand)
{
    for (hf_list *link = hf_list_first(errands); link; link = hf_list_next(errands, link)) {
        hf_errand *errand = HF_LIST_ENTRY(link, hf_errand, place);

        if (activity ? errand->activity != activity : errand->run != run)
            continue;
        *out_errand = *errand;
        hf_list_remove(&errand->place);
        return true;
    }
    return false;
}

bool hf_desk_claim(hf_desk *desk, const hf_waiter *waiter, int64_t run, int64_t activity,
                   hf_errand *out_errand)
{
    hf_task_kind kind = activity ? HF_TASK_ACTIVITY : HF_TASK_WORKFLOW;
    bool found = false;
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&desk->lock);
    while (!found && !desk->shut && hf_map_next(desk->counters, &at, &key, &item)) {
        desk_counter *counter = counter_find(desk, waiter->namespace_key, key);

        found = counter && errand_pick(&counter->errands[kind], run, activity, out_errand);
    }
    hf_mutex_unlock(&desk->lock);
    return found;
}

bool hf_desk_leave(hf_desk *desk, hf_waiter *waiter)
{
    bool waited;

    hf_mutex_lock(&desk->lock);
    waited = waiter_waits(waiter);
    waiter->leaving = true;
    waiter_take(waiter);
    hf_mutex_unlock(&desk->lock);
    return waited;
}

bool hf_desk_served(hf_desk *desk, hf_task_kind kind, int64_t namespace_key, hf_slice queue,
                    int64_t within_us)
{
    int64_t now_us = hf_clock_wall_us(desk->clock);
    desk_counter *counter;
    bool served;

    hf_mutex_lock(&desk->lock);
    counter = counter_find(desk, namespace_key, queue);
    served = counter && (!hf_list_empty(&counter->waiters[kind]) ||
                         (counter->asked_us[kind] && now_us - counter->asked_us[kind] < within_us));
    hf_mutex_unlock(&desk->lock);
    return served;
}

bool hf_desk_visited(hf_desk *desk, int64_t within_us)
{
    int64_t after_us = hf_clock_wall_us(desk->clock) - within_us;
    bool visited = false;
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&desk->lock);
    while (!visited && hf_map_next(desk->counters, &at, &key, &item))
        for (const desk_counter *counter = item; counter; counter = counter->next)
            for (size_t i = 0; i < HF_DESK_KINDS; i++)
                visited |= counter->asked_us[i] > after_us || !hf_list_empty(&counter->waiters[i]);
    hf_mutex_unlock(&desk->lock);
    return visited;
}

static bool counter_starves(const desk_counter *counter, int64_t before_us)
{
    for (size_t i = 0; i < HF_DESK_KINDS; i++) {
        const hf_list *oldest = hf_list_first(&counter->errands[i]);

        if (oldest && hf_list_empty(&counter->waiters[i]) && counter->asked_us[i] < before_us &&
            HF_LIST_ENTRY(oldest, hf_errand, place)->since_us < before_us)
            return true;
    }
    return false;
}

bool hf_desk_starves(hf_desk *desk, int64_t patience_us)
{
    int64_t before_us = hf_clock_wall_us(desk->clock) - patience_us;
    bool starves = false;
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&desk->lock);
    while (!starves && hf_map_next(desk->counters, &at, &key, &item))
        for (const desk_counter *counter = item; counter && !starves; counter = counter->next)
            starves = counter_starves(counter, before_us);
    hf_mutex_unlock(&desk->lock);
    return starves;
}

static hf_value errand_show(const hf_errand *errand, hf_mem *mem)
{
    char since[HF_CLOCK_TEXT_SIZE] = "";
    hf_value_list *task = hf_value_object(mem);

    (void)hf_clock_print(errand->since_us, since);
    hf_value_set(task, HF_SLICE("task_id"), hf_value_string(mem, hf_slice_of(errand->task_id)));
    hf_value_set(task, HF_SLICE("workflow_id"), hf_value_string(mem, errand->instance_id));
    hf_value_set(task, HF_SLICE("run_id"), hf_value_string(mem, errand->run_id));
    hf_value_set(task, HF_SLICE("type"), hf_value_string(mem, errand->type));
    hf_value_set(task, HF_SLICE("task_queue"), hf_value_string(mem, errand->queue));
    hf_value_set(task, HF_SLICE("available_at"), hf_value_string(mem, hf_slice_of(since)));
    return hf_value_finish(task);
}

hf_value hf_desk_ready(hf_desk *desk, int64_t namespace_key, hf_task_kind kind, hf_slice queue,
                       size_t most, hf_mem *mem)
{
    int64_t now_us = hf_clock_wall_us(desk->clock);
    hf_value_list *list = hf_value_array(mem);
    size_t count = 0;
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&desk->lock);
    if (queue.ptr && !counter_get(desk, namespace_key, queue, NULL)) {
        hf_mutex_unlock(&desk->lock);
        return NULL;
    }
    while (count < most && hf_map_next(desk->counters, &at, &key, &item)) {
        desk_counter *counter = counter_find(desk, namespace_key, key);
        const hf_list *errands = counter ? &counter->errands[kind] : NULL;

        if (!counter || (queue.ptr && !hf_slice_equal(queue, key)))
            continue;
        counter->asked_us[kind] = now_us;
        for (hf_list *link = hf_list_first(errands); link && count < most;
             link = hf_list_next(errands, link)) {
            const hf_errand *errand = HF_LIST_ENTRY(link, hf_errand, place);

            if (!errand->task_id[0])
                continue;
            hf_value_append(list, errand_show(errand, mem));
            count++;
        }
    }
    hf_mutex_unlock(&desk->lock);
    return hf_value_finish(list);
}

static size_t list_count(const hf_list *list)
{
    size_t count = 0;

    for (const hf_list *link = hf_list_first(list); link; link = hf_list_next(list, link))
        count++;
    return count;
}

static hf_value tasks_show(const desk_counter *counter, hf_mem *mem)
{
    static const char *const names[HF_DESK_KINDS] = {[HF_TASK_WORKFLOW] = "workflow",
                                                     [HF_TASK_ACTIVITY] = "activity",
                                                     [HF_TASK_QUERY] = "query",
                                                     [HF_TASK_VALIDATION] = "update_validation"};
    hf_value_list *tasks = hf_value_object(mem);

    for (size_t i = 0; i < HF_DESK_KINDS; i++) {
        hf_value_list *numbers = hf_value_object(mem);

        hf_value_set(numbers, HF_SLICE("ready"),
                     hf_value_int(mem, (int64_t)list_count(&counter->errands[i])));
        hf_value_set(numbers, HF_SLICE("polls"),
                     hf_value_int(mem, (int64_t)list_count(&counter->waiters[i])));
        hf_value_set(tasks, hf_slice_of(names[i]), hf_value_finish(numbers));
    }
    return hf_value_finish(tasks);
}

hf_value hf_desk_show(hf_desk *desk, int64_t namespace_key, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&desk->lock);
    while (hf_map_next(desk->counters, &at, &key, &item)) {
        const desk_counter *counter = counter_find(desk, namespace_key, key);
        hf_value_list *queue;

        if (!counter)
            continue;
        queue = hf_value_object(mem);
        hf_value_set(queue, HF_SLICE("name"), hf_value_string(mem, key));
        hf_value_set(queue, HF_SLICE("tasks"), tasks_show(counter, mem));
        hf_value_append(list, hf_value_finish(queue));
    }
    hf_mutex_unlock(&desk->lock);
    return hf_value_finish(list);
}
