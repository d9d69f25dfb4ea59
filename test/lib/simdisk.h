/* simdisk.h: a disk that can lose power. It holds the log of everything that was done to a few
   files, and plays that log again up to any operation, to say what a machine would find on its disk
   if it had stopped just there.

   Two ways to stop. A kill: the operating system lives, so every write is there. A power loss: of
   what no sync has confirmed, each sector is there, missing or torn in the middle, in any
   combination, and a file may have its new length without its new bytes. The name of a new file is
   sure once the file was synced, and all names are once the folder was synced; before that a new
   name may be missing and a removed one may be back.

   Operations are numbered from 1. Memory comes from SQLite's allocator, so that faults armed for
   the engine's own allocations do not hit the instrument. Nothing here is thread-safe; simvfs.c
   holds a lock. */
#ifndef HF_TEST_LIB_SIMDISK_H
#define HF_TEST_LIB_SIMDISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HF_SIM_NAMES_MAX = 16, HF_SIM_NAME_BYTES_MAX = 64, HF_SIM_NONE = -1 };

/* Growing bytes; zero-initialised is empty. False: out of memory, nothing changed. */
typedef struct hf_sim_bytes {
    uint8_t *ptr;
    size_t len;
    size_t room;
} hf_sim_bytes;

bool hf_sim_bytes_resize(hf_sim_bytes *bytes, size_t len); /* new bytes are zero */
bool hf_sim_bytes_write(hf_sim_bytes *bytes, size_t offset, const void *data, size_t len);
void hf_sim_bytes_fini(hf_sim_bytes *bytes);

typedef enum hf_sim_kind {
    HF_SIM_CREATE,
    HF_SIM_DELETE,
    HF_SIM_WRITE,
    HF_SIM_TRUNCATE,
    HF_SIM_SYNC,
    HF_SIM_SYNC_FAILED /* the kernel forgot which pages were dirty: some are lost, and no later sync
                          saves them */
} hf_sim_kind;

typedef struct hf_sim_op {
    hf_sim_kind kind;
    bool sure;      /* delete, sync: the folder was synced with it */
    int name;       /* create, delete: number of the name */
    int node;       /* number of the file; a name that is created again gets a new one */
    int64_t offset; /* write: where; truncate: the new length */
    size_t len;     /* write */
    size_t at;      /* write: where its bytes are in the log */
} hf_sim_op;

typedef struct hf_sim_log {
    hf_sim_op *ops;
    size_t count;
    size_t room;
    hf_sim_bytes bytes;
    char names[HF_SIM_NAMES_MAX][HF_SIM_NAME_BYTES_MAX];
    int name_count;
    int node_count;
} hf_sim_log;

/* Notes one operation; `data` for a write. */
bool hf_sim_log_add(hf_sim_log *log, const hf_sim_op *op, const void *data);
int hf_sim_log_name(hf_sim_log *log,
                    const char *name); /* its number, made when it is new; HF_SIM_NONE: too many */
void hf_sim_log_fini(hf_sim_log *log);

/* The disk while the log is played. */
typedef struct hf_simdisk hf_simdisk;

/* `log` must outlive the disk and not change. From operation `lies_from` on syncs change nothing
   (0: they are honest), as on a disk whose cache forgets. NULL: out of memory. */
hf_simdisk *hf_simdisk_new(const hf_sim_log *log, int64_t lies_from);
void hf_simdisk_free(hf_simdisk *disk);

/* Plays on until operation `op` has been done; never backwards. */
bool hf_simdisk_forward(hf_simdisk *disk, int64_t op);

/* One file as it is found afterwards; its bytes are borrowed for the call. False stops. */
typedef bool hf_simdisk_file(void *ctx, const char *name, const uint8_t *bytes, size_t len);

/* What is found after a kill, or after a power loss as the seed decides. False: `found` said so, or
 * no memory. */
bool hf_simdisk_kill(const hf_simdisk *disk, hf_simdisk_file *found, void *ctx);
bool hf_simdisk_lose_power(const hf_simdisk *disk, uint64_t seed, hf_simdisk_file *found,
                           void *ctx);

#endif
