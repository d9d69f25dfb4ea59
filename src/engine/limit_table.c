/* limit_table.c: see limit_table.h. Entries are changed in place and never removed: there are as
   many as names. */
#include "engine/limit_table.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"

enum { NAMES_MAX = 10000, NAME_MAX_BYTES = 1024 };

typedef struct table_entry {
    hf_limit_def def;
    int64_t at_us; /* when it was said */
} table_entry;

struct hf_limit_table {
    hf_mutex lock;
    hf_map *entries; /* by the key of the namespace and the name; under the lock */
    hf_mem *mem;     /* of them */
};

void hf_limit_table_close(hf_limit_table *table)
{
    if (!table)
        return;
    hf_map_free(table->entries);
    hf_mem_free(table->mem);
    hf_mutex_fini(&table->lock);
    hf_alloc_free(table);
}

hf_status hf_limit_table_open(hf_limit_table **out_table, hf_err *err)
{
    hf_limit_table *table = hf_alloc(sizeof(*table));
    hf_map_seed seed; /* the names are chosen by others */
    hf_status st;

    if (!table)
        return hf_err_nomem(err, "limits");
    st = hf_mutex_init(&table->lock, err);
    if (st) {
        hf_alloc_free(table);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        table->mem = hf_mem_new();
        table->entries = hf_map_new(seed);
        st = table->mem && table->entries ? HF_OK : hf_err_nomem(err, "limits");
    }
    if (st)
        hf_limit_table_close(table);
    else
        *out_table = table;
    return st;
}

/* The key of an entry, in `room`; empty: the name is longer than one can be. */
static hf_slice key_make(int64_t namespace_key, hf_slice name,
                         char room[sizeof(int64_t) + NAME_MAX_BYTES])
{
    if (name.len > NAME_MAX_BYTES)
        return (hf_slice){0};
    memcpy(room, &namespace_key, sizeof(namespace_key));
    if (name.len)
        memcpy(room + sizeof(namespace_key), name.ptr, name.len);
    return hf_slice_from(room, sizeof(namespace_key) + name.len);
}

/* With the lock held; NULL: no memory. */
static table_entry *entry_make(hf_limit_table *table, hf_slice key, hf_slice name, hf_err *err)
{
    table_entry *entry = hf_mem_alloc(table->mem, sizeof(*entry));
    const char *kept = hf_mem_text(table->mem, name);

    if (!entry || !kept || hf_map_put(table->entries, key, entry, NULL, err))
        return NULL;
    *entry = (table_entry){.def.name = kept, .at_us = INT64_MIN};
    return entry;
}

hf_status hf_limit_table_put(hf_limit_table *table, int64_t namespace_key, const hf_limit_def *def,
                             int64_t at_us, hf_err *err)
{
    char room[sizeof(int64_t) + NAME_MAX_BYTES];
    hf_slice name = hf_slice_of(def->name);
    hf_slice key = key_make(namespace_key, name, room);
    hf_status st = HF_OK;
    table_entry *entry;

    if (!key.len)
        return hf_err_set(err, HF_INVALID, "the name of a limit is too long");
    hf_mutex_lock(&table->lock);
    entry = hf_map_get(table->entries, key);
    if (!entry && hf_map_count(table->entries) >= NAMES_MAX)
        st = hf_err_set(err, HF_TOOBIG, "programs have declared %d limits already", NAMES_MAX);
    else if (!entry)
        entry = entry_make(table, key, name, err);
    if (!st && !entry)
        st = hf_err_nomem(err, "a limit");
    if (!st && at_us >= entry->at_us) {
        const char *kept = entry->def.name;

        entry->def = *def;
        entry->def.name = kept;
        entry->at_us = at_us;
    }
    hf_mutex_unlock(&table->lock);
    return st;
}

bool hf_limit_table_get(hf_limit_table *table, int64_t namespace_key, hf_slice name,
                        hf_limit_def *out_def)
{
    char room[sizeof(int64_t) + NAME_MAX_BYTES];
    hf_slice key = key_make(namespace_key, name, room);
    const table_entry *entry;

    hf_mutex_lock(&table->lock);
    entry = key.len ? hf_map_get(table->entries, key) : NULL;
    if (entry)
        *out_def = entry->def;
    hf_mutex_unlock(&table->lock);
    return entry != NULL;
}

hf_status hf_limit_table_names(hf_limit_table *table, int64_t namespace_key, hf_mem *mem,
                               hf_slice **out_names, size_t *out_count, hf_err *err)
{
    hf_slice *names;
    size_t at = 0;
    hf_slice key;
    void *item;

    *out_count = 0;
    hf_mutex_lock(&table->lock);
    names = hf_mem_array(mem, hf_map_count(table->entries) + 1, sizeof(*names));
    while (names && hf_map_next(table->entries, &at, &key, &item))
        if (memcmp(key.ptr, &namespace_key, sizeof(namespace_key)) == 0)
            names[(*out_count)++] = hf_slice_of(((const table_entry *)item)->def.name);
    hf_mutex_unlock(&table->lock);
    *out_names = names;
    return names ? HF_OK : hf_err_nomem(err, "limits");
}
