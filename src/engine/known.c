/* known.c: see known.h. */
#include "engine/known.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/thread.h"

enum { KNOWN_MAX = 4096, ID_BYTES_MAX = 191, KEY_SIZE = sizeof(int64_t) + ID_BYTES_MAX };

struct hf_known {
    hf_mutex lock;
    hf_map *targets; /* by namespace and id */
};

static hf_slice key_make(char key[KEY_SIZE], int64_t namespace_key, hf_slice id)
{
    size_t len = id.len < ID_BYTES_MAX ? id.len : (size_t)ID_BYTES_MAX;

    memcpy(key, &namespace_key, sizeof(namespace_key));
    if (len)
        memcpy(key + sizeof(namespace_key), id.ptr, len);
    return hf_slice_from(key, sizeof(namespace_key) + len);
}

hf_status hf_known_new(hf_known **out_known, hf_err *err)
{
    hf_known *known = hf_alloc(sizeof(*known));
    hf_map_seed seed;
    hf_status st = known ? hf_map_seed_system(&seed, err) : hf_err_nomem(err, "known runs");

    if (!st)
        known->targets = hf_map_new(seed);
    if (!st && !known->targets)
        st = hf_err_nomem(err, "known runs");
    if (!st)
        st = hf_mutex_init(&known->lock, err);
    if (!st) {
        *out_known = known;
        return HF_OK;
    }
    if (known)
        hf_map_free(known->targets);
    hf_alloc_free(known);
    return st;
}

void hf_known_free(hf_known *known)
{
    size_t at = 0;
    hf_slice key;
    void *target;

    if (!known)
        return;
    while (hf_map_next(known->targets, &at, &key, &target))
        hf_alloc_free(target);
    hf_map_free(known->targets);
    hf_mutex_fini(&known->lock);
    hf_alloc_free(known);
}

/* The texts stand behind the target, in one piece of memory. */
static void text_keep(hf_slice *text, char **at)
{
    if (text->len)
        memcpy(*at, text->ptr, text->len);
    text->ptr = text->ptr ? *at : NULL;
    *at += text->len;
}

static hf_intake_target *target_copy(const hf_intake_target *target)
{
    const hf_instance_row *instance = &target->instance;
    hf_intake_target *copy = hf_alloc(sizeof(*copy) + instance->id.len + instance->type.len +
                                      instance->business_key.len + target->queue.len + 1);
    char *at = (char *)(copy + 1);

    if (!copy)
        return NULL;
    *copy = *target;
    text_keep(&copy->instance.id, &at);
    text_keep(&copy->instance.type, &at);
    text_keep(&copy->instance.business_key, &at);
    text_keep(&copy->queue, &at);
    return copy;
}

/* Under the lock: the oldest makes room. */
static void room_make(hf_known *known)
{
    size_t at = 0;
    hf_slice key;
    void *target;

    if (hf_map_count(known->targets) < KNOWN_MAX ||
        !hf_map_next(known->targets, &at, &key, &target))
        return;
    (void)hf_map_remove(known->targets, key);
    hf_alloc_free(target);
}

void hf_known_put(hf_known *known, const hf_intake_target *target)
{
    hf_intake_target *copy = target_copy(target);
    char bytes[KEY_SIZE];
    hf_slice key = key_make(bytes, target->instance.namespace_key, target->instance.id);
    void *old = NULL;

    if (!copy)
        return;
    hf_mutex_lock(&known->lock);
    room_make(known);
    if (hf_map_put(known->targets, key, copy, &old, NULL))
        old = copy;
    hf_mutex_unlock(&known->lock);
    hf_alloc_free(old);
}

void hf_known_drop(hf_known *known, int64_t namespace_key, hf_slice id)
{
    char bytes[KEY_SIZE];
    void *target;

    hf_mutex_lock(&known->lock);
    target = hf_map_remove(known->targets, key_make(bytes, namespace_key, id));
    hf_mutex_unlock(&known->lock);
    hf_alloc_free(target);
}

/* False: no memory. */
static bool text_take(hf_slice *text, hf_mem *mem)
{
    if (text->ptr)
        text->ptr = hf_mem_text(mem, *text);
    return text->ptr || !text->len;
}

bool hf_known_get(hf_known *known, int64_t namespace_key, hf_slice id, hf_mem *mem,
                  hf_intake_target *out_target)
{
    char bytes[KEY_SIZE];
    const hf_intake_target *target;
    hf_intake_target found = {0};
    bool got = false;

    hf_mutex_lock(&known->lock);
    target = hf_map_get(known->targets, key_make(bytes, namespace_key, id));
    if (target && hf_slice_equal(target->instance.id, id)) {
        found = *target;
        got = text_take(&found.instance.id, mem) && text_take(&found.instance.type, mem) &&
              text_take(&found.instance.business_key, mem) && text_take(&found.queue, mem);
    }
    hf_mutex_unlock(&known->lock);
    if (got)
        *out_target = found;
    return got;
}
