/* recall.c: see recall.h. A map for finding, and a list, oldest first, for forgetting. */
#include "server/recall.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/value.h"

typedef struct recalled {
    hf_list place;
    hf_mem *mem; /* of the rest */
    hf_slice key;
    hf_value value;
    size_t bytes;
    int64_t until_us;
} recalled;

struct hf_recall {
    hf_mutex lock;
    hf_map *by_key;
    hf_list oldest;
    size_t count;
    size_t bytes;
};

hf_status hf_recall_open(hf_recall **out_recall, hf_err *err)
{
    hf_recall *recall = hf_alloc(sizeof(*recall));
    hf_map_seed seed; /* keys are chosen by others */
    hf_status st;

    if (!recall)
        return hf_err_nomem(err, "answers");
    hf_list_init(&recall->oldest);
    st = hf_mutex_init(&recall->lock, err);
    if (st) {
        hf_alloc_free(recall);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        recall->by_key = hf_map_new(seed);
        st = recall->by_key ? HF_OK : hf_err_nomem(err, "answers");
    }
    if (st) {
        hf_recall_close(recall);
        return st;
    }
    *out_recall = recall;
    return HF_OK;
}

static void recalled_free(recalled *item)
{
    if (!item)
        return;
    hf_mem_free(item->mem);
    hf_alloc_free(item);
}

/* Under the lock. */
static void recalled_remove(hf_recall *recall, recalled *item)
{
    (void)hf_map_remove(recall->by_key, item->key);
    hf_list_remove(&item->place);
    recall->count--;
    recall->bytes -= item->bytes;
    recalled_free(item);
}

void hf_recall_close(hf_recall *recall)
{
    hf_list *link;

    if (!recall)
        return;
    while ((link = hf_list_first(&recall->oldest)))
        recalled_remove(recall, HF_LIST_ENTRY(link, recalled, place));
    hf_map_free(recall->by_key);
    hf_mutex_fini(&recall->lock);
    hf_alloc_free(recall);
}

static recalled *recalled_new(hf_slice key, hf_value value, int64_t until_us)
{
    recalled *item = hf_alloc(sizeof(*item));

    if (!item)
        return NULL;
    hf_list_init(&item->place);
    item->mem = hf_mem_new();
    if (item->mem) {
        item->key = hf_slice_from(hf_mem_text(item->mem, key), key.len);
        item->value = hf_value_copy(item->mem, value);
        item->bytes = hf_mem_held(item->mem);
        item->until_us = until_us;
    }
    if (item->mem && item->key.ptr && item->value)
        return item;
    recalled_free(item);
    return NULL;
}

void hf_recall_put(hf_recall *recall, hf_slice key, hf_value value, int64_t until_us)
{
    recalled *item = recalled_new(key, value, until_us);
    recalled *old;

    if (!item)
        return;
    hf_mutex_lock(&recall->lock);
    old = hf_map_get(recall->by_key, key);
    if (old)
        recalled_remove(recall, old);
    if (item->bytes > HF_RECALL_BYTES_MAX || hf_map_put(recall->by_key, key, item, NULL, NULL)) {
        hf_mutex_unlock(&recall->lock);
        recalled_free(item);
        return;
    }
    hf_list_add_last(&recall->oldest, &item->place);
    recall->count++;
    recall->bytes += item->bytes;
    while (recall->count > HF_RECALL_MAX || recall->bytes > HF_RECALL_BYTES_MAX)
        recalled_remove(recall, HF_LIST_ENTRY(hf_list_first(&recall->oldest), recalled, place));
    hf_mutex_unlock(&recall->lock);
}

hf_value hf_recall_get(hf_recall *recall, hf_slice key, hf_mem *mem, int64_t now_us)
{
    hf_value value = NULL;
    recalled *item;

    hf_mutex_lock(&recall->lock);
    item = hf_map_get(recall->by_key, key);
    if (item && item->until_us <= now_us)
        recalled_remove(recall, item);
    else if (item)
        value = hf_value_copy(mem, item->value);
    hf_mutex_unlock(&recall->lock);
    return value;
}
