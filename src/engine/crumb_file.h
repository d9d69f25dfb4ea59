/* crumb_file.h: files of a process that outlive it: a form of fixed size, mapped, so that a store
   to it survives a kill without a system call. What dead processes left is read by the next one.
   Whatever cannot be had is no failure: then nothing is told. */
#ifndef HF_ENGINE_CRUMB_FILE_H
#define HF_ENGINE_CRUMB_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { HF_CRUMB_PATH = 1024, HF_CRUMB_PREFIX = 80 };

/* Told of a file that a dead process left. */
typedef void hf_crumb_read(void *ctx, const char *path);

/* Reads a whole file of this size. */
bool hf_crumb_file_read(const char *path, void *out, size_t size);

/* Maps a new file with these bytes; NULL when it cannot be had. */
void *hf_crumb_file_map(const char *path, const void *bytes, size_t size);
void hf_crumb_file_unmap(void *mapped, size_t size, const char *path);

/* The file PREFIX-PID-NUMBER of this process, in $XDG_STATE_HOME/holdfast, or
   $HOME/.local/state/holdfast, or holdfast in the folder for temporary files. Those of processes
   that are gone are told first, and removed. False: there is no such folder. */
bool hf_crumb_file_next(const char *prefix, hf_crumb_read *read, void *ctx,
                        char out_path[HF_CRUMB_PATH]);

#endif
