/* simvfs.h: files in memory for SQLite, with everything that happens to them on record and on
   order.

   Each object is a VFS of its own under the name it is given (hf_store_options.vfs). Locks and
   shared memory work between the connections of this process, so that a writer and readers meet as
   they would on a real disk. Several threads may use one VFS.

   Recording: every write, truncation, sync, removal and creation is noted and numbered from 1;
   simdisk.h says what a crash after any of them leaves behind. Faults: the nth sync, write or read
   from now fails, once or from then on; a write can also meet a full disk or a read-only one. A
   crash makes every call fail from one operation on, as a process sees its disk go away. */
#ifndef HF_TEST_LIB_SIMVFS_H
#define HF_TEST_LIB_SIMVFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/simdisk.h"

typedef struct hf_simvfs hf_simvfs;

typedef enum hf_simvfs_fault {
    HF_SIMVFS_SYNC,     /* a sync fails; what it was to save may be lost */
    HF_SIMVFS_WRITE,    /* a write or truncation fails with an I/O error, */
    HF_SIMVFS_FULL,     /* a write because the disk is full */
    HF_SIMVFS_READ,     /* a read fails with an I/O error */
    HF_SIMVFS_READONLY, /* a write because the file system is read-only */
    HF_SIMVFS_FAULTS
} hf_simvfs_fault;

/* Registers the VFS. NULL: out of memory. */
hf_simvfs *hf_simvfs_new(const char *name);

/* No connection may be open any more. NULL allowed. */
void hf_simvfs_free(hf_simvfs *vfs);

/* Removes all files, forgets the record and disarms all faults. No connection may be open. */
void hf_simvfs_reset(hf_simvfs *vfs);

const char *hf_simvfs_name(const hf_simvfs *vfs);

/* Puts a file in place as if it had always been there; before anything is recorded. */
bool hf_simvfs_put(hf_simvfs *vfs, const char *name, const uint8_t *bytes, size_t len);

/* The same for files that a hf_simdisk gives. */
bool hf_simvfs_take(void *vfs, const char *name, const uint8_t *bytes, size_t len);

/* Records from now on. What is there already becomes the beginning of the record, confirmed by a
 * sync. */
bool hf_simvfs_record(hf_simvfs *vfs);
const hf_sim_log *hf_simvfs_log(const hf_simvfs *vfs);

/* The number of the newest operation. */
int64_t hf_simvfs_operation(const hf_simvfs *vfs);

/* Arms a fault for the nth call of its kind from now; 0 disarms it. */
void hf_simvfs_fail(hf_simvfs *vfs, hf_simvfs_fault fault, int64_t nth, bool persistent);

/* Calls of its kind since then. A loop over nth ends when nth is beyond this. */
int64_t hf_simvfs_seen(hf_simvfs *vfs, hf_simvfs_fault fault);

/* Called before each sync and whenever SQLite waits for a lock, with how long (0: a sync). It may
   let other threads run. NULL: nobody is called. */
void hf_simvfs_pause(hf_simvfs *vfs, void (*pause)(void *ctx, int64_t us), void *ctx);

/* Operation `op` and everything after it fails, reading included; 0: nothing does. */
void hf_simvfs_crash_at(hf_simvfs *vfs, int64_t op);

#endif
