/* keys.c: two blocks, one in use and one behind it. What is left of a block at a crash is lost,
   which costs nothing but numbers; 2^47 of them are enough for a million restarts a day. */
#include "store/keys.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"

struct hf_keys {
    hf_mutex lock;
    const char *name;
    int64_t block;
    int64_t next;      /* next number of the block in use */
    int64_t end;       /* first number after it */
    int64_t spare;     /* first number of the block behind it */
    int64_t spare_end; /* equal to spare when there is none */
};

static hf_status block_take(hf_keys *keys, hf_db *db, int64_t *out_first, hf_err *err)
{
    const hf_db_value params[] = {hf_db_text(hf_slice_of(keys->name)), hf_db_int(keys->block)};
    bool found = false;
    hf_status st = hf_db_number(db, HF_STMT_COUNTER_TAKE, params, 2, &found, out_first, err);

    if (!st && !found)
        st = hf_err_set(err, HF_CORRUPT, "the counter %s is missing", keys->name);
    return hf_err_because(err, st, "reserve keys");
}

hf_status hf_keys_open(hf_db *db, const char *name, int64_t block, hf_keys **out_keys, hf_err *err)
{
    hf_keys *keys = hf_alloc(sizeof(*keys));
    hf_status st;

    HF_ASSERT(block > 0);
    if (!keys)
        return hf_err_nomem(err, "a key block");
    keys->name = name;
    keys->block = block;
    st = hf_mutex_init(&keys->lock, err);
    if (st) {
        hf_alloc_free(keys);
        return st;
    }
    st = block_take(keys, db, &keys->next, err);
    if (st) {
        hf_keys_close(keys);
        return st;
    }
    keys->end = keys->next + block;
    *out_keys = keys;
    return HF_OK;
}

void hf_keys_close(hf_keys *keys)
{
    if (!keys)
        return;
    hf_mutex_fini(&keys->lock);
    hf_alloc_free(keys);
}

hf_status hf_keys_take(hf_keys *keys, int64_t count, int64_t *out_first, hf_err *err)
{
    hf_status st = HF_OK;

    HF_ASSERT(count > 0);
    hf_mutex_lock(&keys->lock);
    if (keys->end - keys->next < count && keys->spare_end - keys->spare >= count) {
        keys->next = keys->spare;
        keys->end = keys->spare_end;
        keys->spare = keys->spare_end;
    }
    if (keys->end - keys->next >= count) {
        *out_first = keys->next;
        keys->next += count;
    } else {
        st = hf_err_set(err, HF_BUSY, "no keys are left in the block of %lld; try again",
                        (long long)keys->block);
    }
    hf_mutex_unlock(&keys->lock);
    return st;
}

bool hf_keys_low(const hf_keys *keys)
{
    hf_keys *mine = (hf_keys *)keys; /* only the lock changes */
    bool low;

    hf_mutex_lock(&mine->lock);
    low = keys->spare == keys->spare_end && keys->end - keys->next < keys->block / 2;
    hf_mutex_unlock(&mine->lock);
    return low;
}

hf_status hf_keys_fill(hf_keys *keys, hf_db *db, hf_err *err)
{
    int64_t first = 0;
    hf_status st = block_take(keys, db, &first, err);

    if (st)
        return st;
    hf_mutex_lock(&keys->lock);
    keys->spare = first;
    keys->spare_end = first + keys->block;
    hf_mutex_unlock(&keys->lock);
    return HF_OK;
}
