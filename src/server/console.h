/* console.h: the files of the web console as they are in the binary. The table is made by
   tools/assetgen.c; nothing is read from the disk. */
#ifndef HF_SERVER_CONSOLE_H
#define HF_SERVER_CONSOLE_H

#include <stddef.h>

#include "base/slice.h"

typedef struct hf_console_file {
    const char *name; /* app-0123456789abcdef.js: with its hash, so that it never changes */
    const char *type;
    hf_slice packed; /* gzip */
    size_t bytes;    /* of what is in it */
} hf_console_file;

extern const hf_slice hf_console_page; /* {up} in it is the way from an address to /console/ */
extern const hf_console_file hf_console_files[];
extern const size_t hf_console_file_count;

#endif
