/* owner.h: one engine per SQLite store. The owner holds a lock on the side file PATH-owner, which
   the kernel releases when the process dies, and an entry in the process's own list, because the
   same file can be reached by another name. */
#ifndef HF_STORE_OWNER_H
#define HF_STORE_OWNER_H

#include <stdbool.h>

#include "base/err.h"

typedef struct hf_owner hf_owner;

/* Becomes the owner of the file at `path`, a resolved path. With `create` an absent file is made,
   empty. HF_OWNED names the process that owns it; HF_NOTFOUND, HF_DENIED, HF_READONLY, HF_FULL,
   HF_IO. Never waits. */
HF_NODISCARD hf_status hf_owner_take(const char *path, bool create, hf_owner **out_owner,
                                     hf_err *err);

/* A store that was being made could not be finished: brings the place back to what it was. A file
   that was absent is removed, one that was empty is emptied, what SQLite keeps beside it goes too;
   any other file stays as it is. Only while no connection is open. */
void hf_owner_undo(hf_owner *owner);

/* Gives it up and removes the side file. NULL allowed. */
void hf_owner_release(hf_owner *owner);

#endif
