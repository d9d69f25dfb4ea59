/* child.h: a worker program, started again whenever it ends. The first restart comes after a tenth
   of a second, each further one after twice as long up to half a minute; a child that lived for a
   minute, or was killed by somebody, starts the count anew. One thread calls it. */
#ifndef HF_SERVER_CHILD_H
#define HF_SERVER_CHILD_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

typedef struct hf_child hf_child;

/* Starts `argv` (ends with NULL) with `environment` added to this process's, "NAME=value" each. */
HF_NODISCARD hf_status hf_child_start(char *const *argv, const char *const *environment,
                                      hf_child **out_child, hf_err *err);

/* Looks after it: starts it again when it is time. *out_exit is the status of one that just ended
   (as waitpid has it), or -1. Returns how many times it was started. */
int64_t hf_child_look(hf_child *child, int *out_exit);

/* Asks it to end, waits at most `grace_ms`, then kills it. NULL is allowed. */
void hf_child_stop(hf_child *child, int64_t grace_ms);

/* This process's environment with `more` in front of it (both borrowed), for programs that are
   started some other way; NULL when memory ran out. */
char **hf_child_environment(const char *const *more);
void hf_child_environment_free(char **environment); /* NULL is allowed */

#endif
