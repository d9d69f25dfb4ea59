/* map.h: hash maps from byte strings, or from integers, to pointers. Keys are copied, values are
   borrowed and never NULL. The hash is SipHash-1-3 under a seed that the owner takes from its
   randomness, so that chosen keys cannot pile up in one place. Iteration follows the order of
   insertion and does not depend on the seed. Not thread-safe: readers may share a map only while
   nobody changes it. */
#ifndef HF_BASE_MAP_H
#define HF_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

typedef struct hf_map hf_map;
typedef struct hf_map_int hf_map_int;

typedef struct hf_map_seed {
    uint64_t low; /* the first eight bytes of the SipHash key, little endian */
    uint64_t high;
} hf_map_seed;

/* A seed that nobody can guess, for keys that others choose. HF_IO: the system has no randomness.
 */
HF_NODISCARD hf_status hf_map_seed_system(hf_map_seed *out_seed, hf_err *err);

/* SipHash-1-3 of `bytes`. */
uint64_t hf_map_hash(hf_map_seed seed, hf_slice bytes);

/* An empty map, or NULL when memory ran out. */
HF_NODISCARD hf_map *hf_map_new(hf_map_seed seed);
void hf_map_free(hf_map *map);  /* NULL is allowed; the values are the caller's */
void hf_map_clear(hf_map *map); /* removes everything and gives the memory back */
size_t hf_map_count(const hf_map *map);

/* The value, or NULL when the key is absent. */
void *hf_map_get(const hf_map *map, hf_slice key);

/* Adds the key or replaces its value; *out_old (may be NULL) becomes the value that was replaced or
   NULL. A replaced key keeps its place in the order. HF_NOMEM leaves the map as it was. */
HF_NODISCARD hf_status hf_map_put(hf_map *map, hf_slice key, void *value, void **out_old,
                                  hf_err *err);

/* Removes the key and returns its value, or NULL when it is absent. Cannot fail, moves nothing:
   memory of removed entries is given back by later puts, or at once when the map becomes empty. */
void *hf_map_remove(hf_map *map, hf_slice key);

/* Walks the map: start with *at == 0, false at the end. The key is borrowed until it is removed.
   During a walk any key may be removed and values replaced; a put of a new key ends the walk. */
bool hf_map_next(const hf_map *map, size_t *at, hf_slice *out_key, void **out_value);

/* The same with integers as keys. */
HF_NODISCARD hf_map_int *hf_map_int_new(hf_map_seed seed);
void hf_map_int_free(hf_map_int *map);
void hf_map_int_clear(hf_map_int *map);
size_t hf_map_int_count(const hf_map_int *map);
void *hf_map_int_get(const hf_map_int *map, uint64_t key);
HF_NODISCARD hf_status hf_map_int_put(hf_map_int *map, uint64_t key, void *value, void **out_old,
                                      hf_err *err);
void *hf_map_int_remove(hf_map_int *map, uint64_t key);
bool hf_map_int_next(const hf_map_int *map, size_t *at, uint64_t *out_key, void **out_value);

#endif
