/* handed.h: tasks that are on their way to a worker. Until the last byte of the answer is with the
   system, a task is the server's to give back: to whoever asks next, and not when its lease ends.
   What happens behind the system nobody can know. */
#ifndef HF_SERVER_HANDED_H
#define HF_SERVER_HANDED_H

#include "base/slice.h"
#include "holdfast/value.h"
#include "server/api.h"

/* The answer that is being made carries these tasks: they are given back when the answer is not
   delivered, unless it was asked for again meanwhile. `key`: under which the answer is remembered;
   ptr NULL: it is not. Before the request is finished. */
void hf_handed_watch(hf_api *api, const hf_value *tasks, size_t count, hf_slice key);

/* Whoever lost the answer that is remembered under the key has asked again, and gets its task from
   now on: to be said before hf_handed_held is asked. */
void hf_handed_again(hf_api *api, hf_slice key);

/* Whether the worker still has the task that it was handed; shows that it lives. A thread that may
   block. */
bool hf_handed_held(hf_api *api, hf_value task);

/* The task goes to nobody. Any thread. */
void hf_handed_back(hf_api *api, hf_value task);

#endif
