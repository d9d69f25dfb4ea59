/* test_map.c: hash maps against a plain array, their hash against known answers, and every way to
   run out of memory. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { KEYS = 300, STEPS = 60000, MANY = 200000 };

static const hf_map_seed seed = {.low = 0x0706050403020100U, .high = 0x0f0e0d0c0b0a0908U};
static char values[KEYS]; /* values are addresses in here */

/* What a map should hold, in order of insertion. */
typedef struct oracle {
    int keys[KEYS];
    void *values[KEYS];
    size_t count;
} oracle;

static size_t oracle_find(const oracle *o, int key)
{
    size_t at = 0;

    while (at < o->count && o->keys[at] != key)
        at++;
    return at;
}

/* Returns the old value or NULL. */
static void *oracle_put(oracle *o, int key, void *value)
{
    size_t at = oracle_find(o, key);
    void *old = at < o->count ? o->values[at] : NULL;

    if (at == o->count)
        o->count++;
    o->keys[at] = key;
    o->values[at] = value;
    return old;
}

static void *oracle_remove(oracle *o, int key)
{
    size_t at = oracle_find(o, key);
    void *old;

    if (at == o->count)
        return NULL;
    old = o->values[at];
    o->count--;
    memmove(o->keys + at, o->keys + at + 1, (o->count - at) * sizeof(o->keys[0]));
    memmove(o->values + at, o->values + at + 1, (o->count - at) * sizeof(o->values[0]));
    return old;
}

/* Keys of many lengths, the empty one and zero bytes included; unique by number. */
static hf_slice key_text(int number, char text[64])
{
    int len = number == 0 ? 0 : snprintf(text, 64, "%0*d", number % 40 + 1, number);

    if (len > 2 && number % 2)
        text[0] = '\0'; /* same number, same text */
    return hf_slice_from(text, (size_t)len);
}

static void map_check(const hf_map *map, const oracle *o)
{
    size_t at = 0;
    size_t i = 0;
    hf_slice key;
    void *value;

    ck_assert_uint_eq(hf_map_count(map), o->count);
    while (hf_map_next(map, &at, &key, &value)) {
        char text[64];

        ck_assert_uint_lt(i, o->count);
        ck_assert(hf_slice_equal(key, key_text(o->keys[i], text)));
        ck_assert_ptr_eq(value, o->values[i]);
        i++;
    }
    ck_assert_uint_eq(i, o->count);
}

/* SipHash-1-3 of the bytes 0, 1, 2 ... under the key 00 01 ... 0f; computed by an independent
   implementation that also reproduces the vector in the paper on SipHash-2-4. */
START_TEST(hash_has_known_answers)
{
    static const uint64_t answers[] = {
        0xabac0158050fc4dcU, 0xc9f49bf37d57ca93U, 0x82cb9b024dc7d44dU, 0x8bf80ab8e7ddf7fbU,
        0xcf75576088d38328U, 0xdef9d52f49533b67U, 0xc50d2b50c59f22a7U, 0xd3927d989bb11140U,
        0x369095118d299a8eU, 0x25a48eb36c063de4U, 0x79de85ee92ff097fU, 0x70c118c1f94dc352U,
        0x78a384b157b4d9a2U, 0x306f760c1229ffa7U, 0x605aa111c0f95d34U, 0xd320d86d2a519956U,
        0xcc4fdd1a7d908b66U,
    };
    char bytes[17];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    for (size_t len = 0; len < sizeof(answers) / sizeof(answers[0]); len++)
        ck_assert_uint_eq(hf_map_hash(seed, hf_slice_from(bytes, len)), answers[len]);
    ck_assert_uint_eq(hf_map_hash(seed, (hf_slice){0}), answers[0]);
    ck_assert_uint_ne(hf_map_hash((hf_map_seed){.low = 1}, HF_SLICE("x")),
                      hf_map_hash((hf_map_seed){.high = 1}, HF_SLICE("x")));
}
END_TEST

/* Random puts, replacements, removals and lookups agree with the array, order included. Phases
   that mostly add and mostly remove make it grow and shrink again and again. */
START_TEST(map_agrees_with_an_array)
{
    static oracle o;
    hf_map *map = hf_map_new(seed);
    hf_rng rng;

    ck_assert_ptr_nonnull(map);
    hf_rng_init_seeded(&rng, 11);
    for (int step = 0; step < STEPS; step++) {
        int number = (int)hf_rng_below(&rng, KEYS);
        char text[64];
        hf_slice key = key_text(number, text);
        size_t at = oracle_find(&o, number);
        bool adding = step / 3000 % 2 == 0;

        ck_assert_ptr_eq(hf_map_get(map, key), at < o.count ? o.values[at] : NULL);
        if (hf_rng_below(&rng, 10) < (adding ? 8 : 2)) {
            void *value = &values[hf_rng_below(&rng, KEYS)];
            void *old = map;

            ck_assert_int_eq(hf_map_put(map, key, value, &old, NULL), HF_OK);
            ck_assert_ptr_eq(old, oracle_put(&o, number, value));
        } else {
            ck_assert_ptr_eq(hf_map_remove(map, key), oracle_remove(&o, number));
        }
        if (step % 50 == 0)
            map_check(map, &o);
    }
    map_check(map, &o);
    hf_map_clear(map);
    o.count = 0;
    map_check(map, &o);
    ck_assert_ptr_null(hf_map_get(map, HF_SLICE("1")));
    ck_assert_int_eq(hf_map_put(map, HF_SLICE("0001"), values, NULL, NULL), HF_OK);
    ck_assert_ptr_eq(hf_map_get(map, HF_SLICE("0001")), values);
    hf_map_free(map);
    hf_map_free(NULL);
}
END_TEST

/* The map keeps its own copy of a key. */
START_TEST(keys_are_copied)
{
    hf_map *map = hf_map_new(seed);
    char text[] = "abc";

    ck_assert_ptr_nonnull(map);
    ck_assert_int_eq(hf_map_put(map, hf_slice_of(text), values, NULL, NULL), HF_OK);
    text[0] = 'x';
    ck_assert_ptr_eq(hf_map_get(map, HF_SLICE("abc")), values);
    ck_assert_ptr_null(hf_map_get(map, HF_SLICE("xbc")));
    ck_assert_ptr_null(hf_map_get(map, HF_SLICE("ab")));
    ck_assert_ptr_null(hf_map_get(map, HF_SLICE("abc\0")));
    hf_map_free(map);
}
END_TEST

/* A walk may remove what it meets, even down to the last key, and meets every other key once. */
START_TEST(removal_during_a_walk)
{
    for (int keep_every = 2; keep_every <= KEYS + 1; keep_every += 99) {
        hf_map *map = hf_map_new(seed);
        static oracle o;
        size_t at = 0;
        int met = 0;
        hf_slice key;
        void *value;

        ck_assert_ptr_nonnull(map);
        o.count = 0;
        for (int i = 0; i < KEYS; i++) {
            char text[64];

            ck_assert_int_eq(hf_map_put(map, key_text(i, text), &values[i], NULL, NULL), HF_OK);
            (void)oracle_put(&o, i, &values[i]);
        }
        while (hf_map_next(map, &at, &key, &value)) {
            int number = (int)((char *)value - values);

            ck_assert_int_eq(number, met);
            met++;
            if ((number + 1) % keep_every == 0)
                continue;
            ck_assert_ptr_eq(hf_map_remove(map, key), value);
            ck_assert_ptr_eq(oracle_remove(&o, number), value);
        }
        ck_assert_int_eq(met, KEYS);
        map_check(map, &o);
        hf_map_free(map);
    }
}
END_TEST

/* Whichever allocation of a long sequence of puts and removals fails, the put says so and the map
   is as before; a rebuild that would only have saved memory may fail unnoticed. */
START_TEST(failed_put_changes_nothing)
{
    for (int64_t nth = 1;; nth++) {
        static oracle o;
        hf_map *map = hf_map_new(seed);
        bool done = false;
        bool failed = false;

        ck_assert_ptr_nonnull(map);
        o.count = 0;
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        for (int i = 0; i < 100; i++) {
            char text[64];
            int number = i % 70;
            hf_err err = {0};
            hf_status st;

            if (i == 66) { /* leave it sparse, so that the next put shrinks */
                for (int j = 0; j < 64; j++)
                    ck_assert_ptr_eq(hf_map_remove(map, key_text(j, text)), oracle_remove(&o, j));
            }
            st = hf_map_put(map, key_text(number, text), &values[i], NULL, &err);
            if (st) {
                ck_assert_int_eq(st, HF_NOMEM);
                ck_assert_int_eq(err.status, HF_NOMEM);
                ck_assert(!failed);
                failed = true;
                map_check(map, &o);
                st = hf_map_put(map, key_text(number, text), &values[i], NULL, NULL);
            }
            ck_assert_int_eq(st, HF_OK);
            (void)oracle_put(&o, number, &values[i]);
        }
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(!done || !failed);
        map_check(map, &o);
        hf_map_free(map);
        if (done)
            break;
    }
}
END_TEST

/* Without memory there is no map to begin with. */
START_TEST(no_map_without_memory)
{
    hf_map *map;
    hf_map_int *map_int;
    bool starved;

    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    map = hf_map_new(seed);
    map_int = hf_map_int_new(seed);
    starved = hf_fault_seen(HF_FAULT_ALLOC) > 0;
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_eq(map == NULL, starved);
    ck_assert_int_eq(map_int == NULL, starved);
    hf_map_free(map);
    hf_map_int_free(map_int);
}
END_TEST

/* A large map stays quick, and a queue-like use (add in front, remove behind) does not grow it. */
START_TEST(many_keys_are_cheap)
{
    hf_map_int *map = hf_map_int_new(seed);
    uint64_t key;
    void *value;
    size_t at = 0;
    size_t wrong = 0;

    ck_assert_ptr_nonnull(map);
    for (uint64_t i = 0; i < MANY; i++)
        wrong += hf_map_int_put(map, i << 32, &values[i % KEYS], NULL, NULL) != HF_OK;
    ck_assert_uint_eq(hf_map_int_count(map), MANY);
    for (uint64_t i = 0; i < MANY; i++)
        wrong += hf_map_int_get(map, i << 32) != &values[i % KEYS];
    for (uint64_t i = 0; i + 10 < MANY; i++)
        wrong += hf_map_int_remove(map, i << 32) != &values[i % KEYS];
    for (uint64_t i = 0; i < 5 * MANY; i++) {
        wrong += hf_map_int_put(map, i, values, NULL, NULL) != HF_OK;
        wrong += hf_map_int_remove(map, i) != values;
    }
    ck_assert_uint_eq(wrong, 0);
    for (uint64_t i = MANY - 10; i < MANY; i++) {
        ck_assert(hf_map_int_next(map, &at, &key, &value));
        ck_assert_uint_eq(key, i << 32);
    }
    ck_assert(!hf_map_int_next(map, &at, &key, &value));
    hf_map_int_free(map);
}
END_TEST

/* Keys that were chosen to meet in one place of a table lie apart under a seed of the system, and
   no two of those are the same. */
START_TEST(chosen_keys_lie_apart)
{
    enum { PLACES = 1024, CHOSEN = 128 };
    hf_map_seed one = {0};
    hf_map_seed other = {0};
    unsigned there[PLACES] = {0};
    unsigned most = 0;
    unsigned found = 0;
    char key[24];

    ck_assert_int_eq(hf_map_seed_system(&one, NULL), HF_OK);
    ck_assert_int_eq(hf_map_seed_system(&other, NULL), HF_OK);
    ck_assert(one.low != other.low && one.high != other.high);
    for (unsigned i = 0; found < CHOSEN; i++) {
        (void)snprintf(key, sizeof(key), "key-%u", i);
        if (hf_map_hash((hf_map_seed){0}, hf_slice_of(key)) % PLACES)
            continue;
        found++;
        there[hf_map_hash(one, hf_slice_of(key)) % PLACES]++;
    }
    for (unsigned i = 0; i < PLACES; i++)
        most = there[i] > most ? there[i] : most;
    ck_assert_uint_lt(most, 16);
}
END_TEST

/* A small map that fills and drains, as a set of things in flight does, stops allocating. */
START_TEST(small_map_reuses_its_memory)
{
    hf_map_int *map = hf_map_int_new(seed);
    size_t wrong = 0;

    ck_assert_ptr_nonnull(map);
    ck_assert_int_eq(hf_map_int_put(map, 0, values, NULL, NULL), HF_OK);
    ck_assert_ptr_eq(hf_map_int_remove(map, 0), values);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    for (uint64_t i = 1; i < 1000; i++) {
        wrong += hf_map_int_put(map, i, values, NULL, NULL) != HF_OK;
        wrong += hf_map_int_put(map, i + 1, values, NULL, NULL) != HF_OK;
        wrong += hf_map_int_remove(map, i) != values;
        wrong += hf_map_int_remove(map, i + 1) != values;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_int_eq(hf_fault_seen(HF_FAULT_ALLOC), 0);
    hf_map_int_free(map);
}
END_TEST

/* Integer keys: extremes, replacement, clearing, and the NOMEM of a put. */
START_TEST(integer_keys)
{
    hf_map_int *map = hf_map_int_new(seed);
    void *old = NULL;
    hf_err err = {0};

    ck_assert_ptr_nonnull(map);
    ck_assert_ptr_null(hf_map_int_get(map, 0));
    ck_assert_int_eq(hf_map_int_put(map, 0, &values[1], &old, NULL), HF_OK);
    ck_assert_ptr_null(old);
    ck_assert_int_eq(hf_map_int_put(map, UINT64_MAX, &values[2], NULL, NULL), HF_OK);
    ck_assert_int_eq(hf_map_int_put(map, 0, &values[3], &old, NULL), HF_OK);
    ck_assert_ptr_eq(old, &values[1]);
    ck_assert_ptr_eq(hf_map_int_get(map, 0), &values[3]);
    ck_assert_ptr_eq(hf_map_int_get(map, UINT64_MAX), &values[2]);
    ck_assert_ptr_null(hf_map_int_get(map, 8));
    hf_map_int_clear(map);
    ck_assert_uint_eq(hf_map_int_count(map), 0);
    ck_assert_ptr_null(hf_map_int_remove(map, 0));
    for (int64_t nth = 1;; nth++) {
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_map_int_put(map, 5, values, NULL, &err);
        if (nth > hf_fault_seen(HF_FAULT_ALLOC))
            break;
        ck_assert_int_eq(st, HF_NOMEM);
        ck_assert_uint_eq(hf_map_int_count(map), 0);
        ck_assert_ptr_null(hf_map_int_get(map, 5));
    }
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_ptr_eq(hf_map_int_get(map, 5), values);
    hf_map_int_free(map);
    hf_map_int_free(NULL);
}
END_TEST

HF_SUITE_MAIN("base/map", {hash_has_known_answers, 0}, {map_agrees_with_an_array, 0},
              {keys_are_copied, 0}, {removal_during_a_walk, 0}, {failed_put_changes_nothing, 0},
              {no_map_without_memory, 0}, {many_keys_are_cheap, 0}, {chosen_keys_lie_apart, 0},
              {small_map_reuses_its_memory, 0}, {integer_keys, 0})
