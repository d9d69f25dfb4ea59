/* sqlite_path.h: what is at a path, looked at before any database code touches it, so that each
   mistake gets a sentence of its own. */
#ifndef HF_STORE_SQLITE_PATH_H
#define HF_STORE_SQLITE_PATH_H

#include "base/err.h"

typedef enum hf_sqlite_use {
    HF_SQLITE_USE_READ,  /* the file must be there */
    HF_SQLITE_USE_WRITE, /* it must be there and be writable, and so must its folder */
    HF_SQLITE_USE_CREATE /* as before, or absent, or empty */
} hf_sqlite_use;

/* Gives the path without symbolic links, so that all names of one file lead to one lock; the caller
   frees it with hf_alloc_free. HF_NOTFOUND (no file, no folder), HF_NOTASTORE (a folder or a
   device), HF_DENIED, HF_READONLY, HF_INVALID. */
HF_NODISCARD hf_status hf_sqlite_path(const char *path, hf_sqlite_use use, char **out_real,
                                      hf_err *err);

/* The folder that a path is in, hf_alloc_free it; NULL: no memory. */
char *hf_sqlite_folder(const char *path);

#endif
