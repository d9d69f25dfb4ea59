/* keys.h: dense numbers for rows, taken from durable blocks, so that a key can be used before its
   unit is committed and is never given out twice, not even after a crash. Taking is safe from any
   thread and never blocks; filling is the writer's job. */
#ifndef HF_STORE_KEYS_H
#define HF_STORE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

typedef struct hf_keys hf_keys;

/* Numbers of the counter called `name`, `block` at a time; reserves the first block. */
HF_NODISCARD hf_status hf_keys_open(hf_db *db, const char *name, int64_t block, hf_keys **out_keys,
                                    hf_err *err);
void hf_keys_close(hf_keys *keys); /* NULL is allowed */

/* `count` numbers in a row. HF_BUSY when the block is used up before the writer refilled it. */
HF_NODISCARD hf_status hf_keys_take(hf_keys *keys, int64_t count, int64_t *out_first, hf_err *err);

/* True when half of the block is gone. */
bool hf_keys_low(const hf_keys *keys);

/* Reserves another block; a commit of its own, outside any transaction. */
HF_NODISCARD hf_status hf_keys_fill(hf_keys *keys, hf_db *db, hf_err *err);

#endif
