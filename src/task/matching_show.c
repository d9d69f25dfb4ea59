/* matching_show.c: what is told of queues, tasks and leases. */
#include "base/list.h"
#include "base/value.h"
#include "task/matching_impl.h"

bool hf_matching_served(hf_matching *matching, hf_task_kind kind, int64_t namespace_key,
                        hf_slice queue, hf_slice type, int64_t within_us)
{
    int64_t now_us = hf_clock_wall_us(matching->clock);
    const task_queue *at;
    bool served;

    hf_mutex_lock(&matching->lock);
    at = hf_task_queue_find(matching, namespace_key, queue);
    served = at && (at->polls[kind] > 0 ||
                    (at->asked_us[kind] && now_us - at->asked_us[kind] < within_us));
    served = served || hf_task_far_serves(matching, kind, at, type);
    hf_mutex_unlock(&matching->lock);
    return served;
}

static hf_value text_value(hf_mem *mem, hf_slice text)
{
    return text.len ? hf_value_string(mem, text) : hf_value_null();
}

/* What is said of any task. */
static hf_value_list *task_object(const task_record *record, hf_mem *mem)
{
    const task_queue *queue = record->shelf->queue;
    hf_value_list *task = hf_value_object(mem);

    hf_value_set(task, HF_SLICE("task_id"), text_value(mem, hf_task_text(record, TASK_ID)));
    hf_value_set(task, HF_SLICE("workflow_id"),
                 text_value(mem, hf_task_text(record, TASK_WORKFLOW_ID)));
    hf_value_set(task, HF_SLICE("run_id"), text_value(mem, hf_task_text(record, TASK_RUN_ID)));
    hf_value_set(task, HF_SLICE("type"), hf_value_string(mem, record->shelf->type));
    hf_value_set(task, HF_SLICE("task_queue"),
                 hf_value_string(mem, hf_slice_from(queue->name, queue->name_len)));
    return task;
}

static hf_value ready_show(const task_record *record, hf_mem *mem)
{
    char since[HF_CLOCK_TEXT_SIZE] = "";
    hf_value_list *task = task_object(record, mem);

    (void)hf_clock_print(record->since_us, since);
    hf_value_set(task, HF_SLICE("available_at"), hf_value_string(mem, hf_slice_of(since)));
    return hf_value_finish(task);
}

hf_value hf_matching_ready(hf_matching *matching, int64_t namespace_key, hf_task_kind kind,
                           hf_slice queue, size_t most, hf_mem *mem)
{
    int64_t now_us = hf_clock_wall_us(matching->clock);
    hf_value_list *list = hf_value_array(mem);
    size_t count = 0;
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&matching->lock);
    if (queue.ptr && !hf_task_queue_get(matching, namespace_key, queue)) {
        hf_mutex_unlock(&matching->lock);
        return NULL;
    }
    while (count < most && hf_map_next(matching->queues, &at, &key, &item)) {
        task_queue *here = hf_task_queue_find(matching, namespace_key, key);
        const hf_list *tasks = here ? &here->tasks[kind] : NULL;

        if (!here || (queue.ptr && !hf_slice_equal(queue, key)))
            continue;
        here->asked_us[kind] = now_us;
        for (hf_list *link = hf_list_first(tasks); link && count < most;
             link = hf_list_next(tasks, link)) {
            const task_record *record = HF_LIST_ENTRY(link, task_record, in_queue);

            if (!hf_task_text(record, TASK_ID).len)
                continue;
            hf_value_append(list, ready_show(record, mem));
            count++;
        }
    }
    hf_mutex_unlock(&matching->lock);
    return hf_value_finish(list);
}

static hf_value queue_show(const task_queue *queue, hf_mem *mem)
{
    static const char *const names[HF_TASK_KINDS] = {[HF_TASK_WORKFLOW] = "workflow",
                                                     [HF_TASK_ACTIVITY] = "activity",
                                                     [HF_TASK_QUERY] = "query",
                                                     [HF_TASK_VALIDATION] = "update_validation",
                                                     [HF_TASK_STEP] = "step"};
    hf_value_list *tasks = hf_value_object(mem);

    for (size_t i = 0; i < HF_TASK_KINDS; i++) {
        hf_value_list *numbers = hf_value_object(mem);

        hf_value_set(numbers, HF_SLICE("ready"), hf_value_int(mem, queue->ready[i]));
        hf_value_set(numbers, HF_SLICE("polls"), hf_value_int(mem, queue->polls[i]));
        hf_value_set(tasks, hf_slice_of(names[i]), hf_value_finish(numbers));
    }
    return hf_value_finish(tasks);
}

enum { OLDEST_OF = 256 };

/* Since when the longest waiting task for workers is offered, of those that come next; null: none
   waits. */
static hf_value oldest_show(const task_queue *queue, hf_mem *mem)
{
    static const hf_task_kind kinds[] = {HF_TASK_WORKFLOW, HF_TASK_ACTIVITY};
    int64_t oldest_us = INT64_MAX;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const hf_list *tasks = &queue->tasks[kinds[i]];
        hf_list *link = hf_list_first(tasks);

        for (size_t k = 0; link && k < OLDEST_OF; k++, link = hf_list_next(tasks, link)) {
            const task_record *record = HF_LIST_ENTRY(link, task_record, in_queue);

            oldest_us = record->since_us < oldest_us ? record->since_us : oldest_us;
        }
    }
    return oldest_us == INT64_MAX ? hf_value_null() : hf_value_int(mem, oldest_us);
}

hf_value hf_matching_queues(hf_matching *matching, int64_t namespace_key, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);
    size_t at = 0;
    hf_slice key;
    void *item;

    hf_mutex_lock(&matching->lock);
    while (hf_map_next(matching->queues, &at, &key, &item)) {
        const task_queue *queue = hf_task_queue_find(matching, namespace_key, key);
        hf_value_list *shown;

        if (!queue)
            continue;
        shown = hf_value_object(mem);
        hf_value_set(shown, HF_SLICE("name"), hf_value_string(mem, key));
        hf_value_set(shown, HF_SLICE("tasks"), queue_show(queue, mem));
        hf_value_set(shown, HF_SLICE("oldest_at"), oldest_show(queue, mem));
        hf_value_append(list, hf_value_finish(shown));
    }
    hf_mutex_unlock(&matching->lock);
    return hf_value_finish(list);
}

static hf_value lease_show(const task_record *record, hf_mem *mem)
{
    hf_value_list *lease = task_object(record, mem);
    hf_slice kind = record->key.kind == HF_TASK_WORKFLOW ? HF_SLICE("workflow")
                    : record->key.kind == HF_TASK_STEP   ? HF_SLICE("step")
                                                         : HF_SLICE("activity");

    hf_value_set(lease, HF_SLICE("kind"), hf_value_string(mem, kind));
    hf_value_set(lease, HF_SLICE("lease_owner"),
                 text_value(mem, hf_slice_of(record->lease->worker)));
    hf_value_set(lease, HF_SLICE("lease_expires_at"), hf_value_int(mem, record->lease->until_us));
    hf_value_set(lease, HF_SLICE("attempt"), hf_value_int(mem, record->key.attempt));
    return hf_value_finish(lease);
}

hf_value hf_matching_held(hf_matching *matching, int64_t namespace_key, hf_slice queue, hf_mem *mem)
{
    static const hf_task_kind kinds[] = {HF_TASK_WORKFLOW, HF_TASK_STEP, HF_TASK_ACTIVITY};
    hf_value_list *list = hf_value_array(mem);

    hf_mutex_lock(&matching->lock);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t at = 0;
        uint64_t subject;
        void *item;

        while (hf_map_int_next(matching->records[kinds[i]], &at, &subject, &item)) {
            const task_record *record = item;
            const task_queue *here = record->shelf->queue;

            if (record->lease && here->namespace_key == namespace_key &&
                (!queue.ptr || hf_slice_equal(queue, hf_slice_from(here->name, here->name_len))))
                hf_value_append(list, lease_show(record, mem));
        }
    }
    hf_mutex_unlock(&matching->lock);
    return hf_value_finish(list);
}

static bool holder_is_new(hf_map *seen, const task_record *record, hf_mem *mem, bool *out_lost)
{
    hf_slice key = hf_slice_of(hf_mem_format(
        mem, "%lld/%s", (long long)record->shelf->queue->namespace_key, record->lease->worker));

    if (key.ptr && hf_map_get(seen, key))
        return false;
    *out_lost |= !key.ptr || hf_map_put(seen, key, seen, NULL, NULL);
    return !*out_lost;
}

hf_value hf_matching_holders(hf_matching *matching, hf_mem *mem)
{
    static const hf_task_kind kinds[] = {HF_TASK_WORKFLOW, HF_TASK_STEP, HF_TASK_ACTIVITY};
    hf_value_list *list = hf_value_array(mem);
    hf_map *seen = hf_map_new(matching->seed);
    bool lost = !seen;

    hf_mutex_lock(&matching->lock);
    for (size_t i = 0; !lost && i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t at = 0;
        uint64_t subject;
        void *item;

        while (!lost && hf_map_int_next(matching->records[kinds[i]], &at, &subject, &item)) {
            const task_record *record = item;

            if (record->lease && record->lease->worker[0] &&
                holder_is_new(seen, record, mem, &lost))
                hf_value_append(list, hf_json_(mem, "{'namespace': %lld, 'worker': %s}",
                                               (long long)record->shelf->queue->namespace_key,
                                               record->lease->worker));
        }
    }
    hf_mutex_unlock(&matching->lock);
    hf_map_free(seen);
    return lost ? NULL : hf_value_finish(list);
}
