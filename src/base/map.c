/* map.c: open addressing over a dense array. Entries stand in the order of insertion; a table of
   slots, twice as large, leads from a hash to an entry by linear probing. A removed entry stays as
   a grave (value NULL) that probing steps over, until a rebuild leaves it out. Only a put rebuilds,
   and it does so before it changes anything, so that a failed put is no put. */
#include "base/map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/rng.h"

enum { MAP_CAPACITY_MIN = 8, MAP_SHRINK_BELOW = 8 };

#define MAP_CAPACITY_MAX ((size_t)1 << 31) /* slots hold an index plus one in 32 bits */

typedef struct map_key {
    uint64_t number;   /* the integer key, or the length of the byte key */
    const char *bytes; /* NULL for an integer key */
} map_key;

/* An entry of a map of integers, and the head of one of a map of byte keys. */
typedef struct map_entry {
    uint64_t number; /* as in map_key */
    void *value;     /* NULL marks a grave */
} map_entry;

typedef struct map_text {
    map_entry entry;
    uint64_t hash;
    char *bytes; /* owned copy, NUL-terminated; NULL of a grave */
} map_text;

struct hf_map {
    hf_map_seed seed;
    bool ints;
    char *entries;   /* `used` of `capacity`, in order of insertion, graves included */
    uint32_t *slots; /* 2 * capacity; 0 is free, otherwise an entry's index plus one */
    size_t capacity; /* 0 or a power of two */
    size_t used;
    size_t count; /* entries without the graves */
};

struct hf_map_int {
    hf_map table;
};

typedef struct sip_state {
    uint64_t a, b, c, d;
} sip_state;

static uint64_t bits_rotate(uint64_t bits, int left)
{
    return bits << left | bits >> (64 - left);
}

static void sip_round(sip_state *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = bits_rotate(s->b, 13) ^ s->a;
    s->d = bits_rotate(s->d, 16) ^ s->c;
    s->a = bits_rotate(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = bits_rotate(s->b, 17) ^ s->c;
    s->d = bits_rotate(s->d, 21) ^ s->a;
    s->c = bits_rotate(s->c, 32);
}

static void sip_word(sip_state *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

static uint64_t bytes_little_endian(const unsigned char *bytes, size_t len)
{
    uint64_t word = 0;

    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

hf_status hf_map_seed_system(hf_map_seed *out_seed, hf_err *err)
{
    hf_rng rng;
    hf_status st = hf_rng_init_system(&rng, err);

    if (!st)
        *out_seed = (hf_map_seed){.low = hf_rng_next(&rng), .high = hf_rng_next(&rng)};
    return st;
}

uint64_t hf_map_hash(hf_map_seed seed, hf_slice bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    size_t tail = bytes.len % 8;
    sip_state s = {
        .a = seed.low ^ 0x736f6d6570736575U,
        .b = seed.high ^ 0x646f72616e646f6dU,
        .c = seed.low ^ 0x6c7967656e657261U,
        .d = seed.high ^ 0x7465646279746573U,
    };

    for (size_t i = 0; i + 8 <= bytes.len; i += 8)
        sip_word(&s, bytes_little_endian(at + i, 8));
    sip_word(&s, (uint64_t)bytes.len << 56 |
                     (tail ? bytes_little_endian(at + (bytes.len - tail), tail) : 0));
    s.c ^= 0xFF;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}

static map_key key_of_slice(hf_slice key)
{
    return (map_key){.number = key.len, .bytes = key.len ? key.ptr : ""};
}

static map_key key_of_int(uint64_t key)
{
    return (map_key){.number = key};
}

/* Integers are keys that the engine gives, and spread with less work than what callers choose. */
static uint64_t key_hash(const hf_map *map, map_key key)
{
    uint64_t bits = key.number ^ map->seed.low;

    if (key.bytes)
        return hf_map_hash(map->seed, hf_slice_from(key.bytes, (size_t)key.number));
    bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdU;
    bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53U;
    return bits ^ bits >> 33;
}

static size_t entry_bytes(const hf_map *map)
{
    return map->ints ? sizeof(map_entry) : sizeof(map_text);
}

static map_entry *entry_at(const hf_map *map, size_t index)
{
    return (map_entry *)(void *)(map->entries + index * entry_bytes(map));
}

static bool entry_has_key(const map_entry *entry, map_key key, uint64_t hash)
{
    const map_text *text = (const map_text *)entry;

    if (!entry->value || entry->number != key.number)
        return false;
    return !key.bytes ||
           (text->hash == hash && memcmp(text->bytes, key.bytes, (size_t)key.number) == 0);
}

static map_entry *map_find(const hf_map *map, map_key key, uint64_t hash)
{
    size_t mask = map->capacity * 2 - 1;

    if (map->count == 0)
        return NULL;
    for (size_t i = (size_t)hash & mask; map->slots[i]; i = (i + 1) & mask) {
        map_entry *entry = entry_at(map, map->slots[i] - 1);

        if (entry_has_key(entry, key, hash))
            return entry;
    }
    return NULL;
}

/* Enters entry `index` under its hash. At least half of the slots are free. */
static void slots_enter(uint32_t *slots, size_t capacity, uint64_t hash, size_t index)
{
    size_t mask = capacity * 2 - 1;
    size_t i = (size_t)hash & mask;

    while (slots[i])
        i = (i + 1) & mask;
    slots[i] = (uint32_t)(index + 1);
}

/* Leaves room for half as many entries again, so that rebuilds are amortised over many puts. */
static size_t capacity_for(size_t count)
{
    size_t capacity = MAP_CAPACITY_MIN;

    while (capacity < count + count / 2)
        capacity *= 2;
    return capacity;
}

static hf_status map_rebuild(hf_map *map, size_t capacity, hf_err *err)
{
    size_t bytes = entry_bytes(map);
    char *entries = NULL;
    uint32_t *slots = NULL;
    size_t used = 0;
    hf_status st = HF_OK;

    if (capacity > MAP_CAPACITY_MAX) {
        st = hf_err_set(err, HF_TOOBIG, "a map cannot hold more than %zu keys", map->count);
        goto done;
    }
    entries = hf_alloc_array(capacity, bytes);
    slots = hf_alloc_array(capacity * 2, sizeof(*slots));
    if (!entries || !slots) {
        st = hf_err_nomem(err, "a larger map");
        goto done;
    }
    for (size_t i = 0; i < map->used; i++) {
        const map_entry *entry = entry_at(map, i);

        if (!entry->value)
            continue;
        memcpy(entries + used * bytes, entry, bytes);
        slots_enter(slots, capacity,
                    map->ints ? key_hash(map, key_of_int(entry->number))
                              : ((const map_text *)entry)->hash,
                    used);
        used++;
    }
    HF_ASSERT(used == map->count);
    hf_alloc_free(map->entries);
    hf_alloc_free(map->slots);
    map->entries = entries;
    map->slots = slots;
    map->capacity = capacity;
    map->used = used;
    entries = NULL;
    slots = NULL;
done:
    hf_alloc_free(slots);
    hf_alloc_free(entries);
    return st;
}

/* Makes room for one more entry. A rebuild that only saves memory may fail unnoticed. */
static hf_status map_make_room(hf_map *map, hf_err *err)
{
    bool full = map->used == map->capacity;
    bool sparse = map->capacity > MAP_CAPACITY_MIN && map->count < map->capacity / MAP_SHRINK_BELOW;

    if (full)
        return map_rebuild(map, capacity_for(map->count + 1), err);
    if (sparse)
        (void)map_rebuild(map, capacity_for(map->count + 1), NULL);
    return HF_OK;
}

static hf_status map_put(hf_map *map, map_key key, void *value, void **out_old, hf_err *err)
{
    uint64_t hash = key_hash(map, key);
    map_entry *entry = map_find(map, key, hash);
    char *copy = NULL;
    hf_status st;

    HF_ASSERT(value);
    if (out_old)
        *out_old = entry ? entry->value : NULL;
    if (entry) {
        entry->value = value;
        return HF_OK;
    }
    if (key.bytes) {
        copy = hf_alloc_text(key.bytes, (size_t)key.number);
        if (!copy)
            return hf_err_nomem(err, "a key of a map");
    }
    st = map_make_room(map, err);
    if (st) {
        hf_alloc_free(copy);
        return st;
    }
    entry = entry_at(map, map->used);
    *entry = (map_entry){.number = key.number, .value = value};
    if (copy) {
        ((map_text *)entry)->hash = hash;
        ((map_text *)entry)->bytes = copy;
    }
    slots_enter(map->slots, map->capacity, hash, map->used);
    map->used++;
    map->count++;
    return HF_OK;
}

static void map_empty(hf_map *map)
{
    for (size_t i = 0; !map->ints && i < map->used; i++)
        hf_alloc_free(((map_text *)entry_at(map, i))->bytes);
    hf_alloc_free(map->entries);
    hf_alloc_free(map->slots);
    *map = (hf_map){.seed = map->seed, .ints = map->ints};
}

static void *map_remove(hf_map *map, map_key key)
{
    map_entry *entry = map_find(map, key, key_hash(map, key));
    void *value;

    if (!entry)
        return NULL;
    value = entry->value;
    entry->value = NULL;
    if (!map->ints) {
        hf_alloc_free(((map_text *)entry)->bytes);
        ((map_text *)entry)->bytes = NULL;
    }
    map->count--;
    if (map->count == 0 && map->capacity > MAP_CAPACITY_MIN) {
        map_empty(map);
    } else if (map->count == 0) { /* a smallest map that fills and drains keeps its memory */
        memset(map->slots, 0, map->capacity * 2 * sizeof(*map->slots));
        map->used = 0;
    }
    return value;
}

static const map_entry *map_next(const hf_map *map, size_t *at)
{
    while (*at < map->used) {
        const map_entry *entry = entry_at(map, (*at)++);

        if (entry->value)
            return entry;
    }
    return NULL;
}

hf_map *hf_map_new(hf_map_seed seed)
{
    hf_map *map = hf_alloc(sizeof(*map));

    if (map)
        map->seed = seed;
    return map;
}

void hf_map_free(hf_map *map)
{
    if (!map)
        return;
    map_empty(map);
    hf_alloc_free(map);
}

void hf_map_clear(hf_map *map)
{
    map_empty(map);
}

size_t hf_map_count(const hf_map *map)
{
    return map->count;
}

void *hf_map_get(const hf_map *map, hf_slice key)
{
    map_key k = key_of_slice(key);
    map_entry *entry = map_find(map, k, key_hash(map, k));

    return entry ? entry->value : NULL;
}

hf_status hf_map_put(hf_map *map, hf_slice key, void *value, void **out_old, hf_err *err)
{
    return map_put(map, key_of_slice(key), value, out_old, err);
}

void *hf_map_remove(hf_map *map, hf_slice key)
{
    return map_remove(map, key_of_slice(key));
}

bool hf_map_next(const hf_map *map, size_t *at, hf_slice *out_key, void **out_value)
{
    const map_entry *entry = map_next(map, at);

    if (!entry)
        return false;
    *out_key = hf_slice_from(((const map_text *)entry)->bytes, (size_t)entry->number);
    *out_value = entry->value;
    return true;
}

hf_map_int *hf_map_int_new(hf_map_seed seed)
{
    hf_map_int *map = hf_alloc(sizeof(*map));

    if (map)
        map->table = (hf_map){.seed = seed, .ints = true};
    return map;
}

void hf_map_int_free(hf_map_int *map)
{
    if (!map)
        return;
    map_empty(&map->table);
    hf_alloc_free(map);
}

void hf_map_int_clear(hf_map_int *map)
{
    map_empty(&map->table);
}

size_t hf_map_int_count(const hf_map_int *map)
{
    return map->table.count;
}

void *hf_map_int_get(const hf_map_int *map, uint64_t key)
{
    map_key k = key_of_int(key);
    map_entry *entry = map_find(&map->table, k, key_hash(&map->table, k));

    return entry ? entry->value : NULL;
}

hf_status hf_map_int_put(hf_map_int *map, uint64_t key, void *value, void **out_old, hf_err *err)
{
    return map_put(&map->table, key_of_int(key), value, out_old, err);
}

void *hf_map_int_remove(hf_map_int *map, uint64_t key)
{
    return map_remove(&map->table, key_of_int(key));
}

bool hf_map_int_next(const hf_map_int *map, size_t *at, uint64_t *out_key, void **out_value)
{
    const map_entry *entry = map_next(&map->table, at);

    if (!entry)
        return false;
    *out_key = entry->number;
    *out_value = entry->value;
    return true;
}
