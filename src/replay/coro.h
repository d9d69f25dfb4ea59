/* coro.h: stackful coroutines: the only place in the tree where a stack is switched. A coroutine
   runs on a mapped stack of its own with a guard page below it, so that an overflow ends the
   process instead of writing into something else. It belongs to the thread that made it and never
   moves: resuming and yielding assert that.

   AddressSanitizer, ThreadSanitizer and valgrind are told of every stack and every switch. The
   switch itself is Boost.Context's, or ucontext's where the build says so (HF_COROUTINE). */
#ifndef HF_REPLAY_CORO_H
#define HF_REPLAY_CORO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { HF_CORO_STACK_DEFAULT = 64 * 1024, HF_CORO_STACK_MIN = 16 * 1024 };

typedef struct hf_coro hf_coro;
typedef void hf_coro_fn(void *arg);

/* Stacks that wait to be used again: mapping one costs more than many switches, and unmapping it
   interrupts every processor that runs the program. For one thread at a time. */
typedef struct hf_coro_cache hf_coro_cache;

/* Keeps at most `keep_max` free stacks; those of other sizes than `stack_bytes` (0: the default)
   are never kept. NULL when memory ran out. */
HF_NODISCARD hf_coro_cache *hf_coro_cache_new(size_t keep_max, size_t stack_bytes);

/* NULL is allowed. Coroutines made from it must be gone. */
void hf_coro_cache_free(hf_coro_cache *cache);

/* A coroutine that will run fn(arg) at its first resume. `cache` may be NULL. stack_bytes 0: the
   default; rounded up to whole pages. HF_NOMEM when there is no memory or no mapping left. */
HF_NODISCARD hf_status hf_coro_new(hf_coro_cache *cache, size_t stack_bytes, hf_coro_fn *fn,
                                   void *arg, hf_coro **out_coro, hf_err *err);

/* Gives it up, finished or not: what is on its stack is forgotten, nothing there runs again. Not
   from inside. Another thread may do it when the owner does not use it any more. NULL is allowed.
 */
void hf_coro_free(hf_coro *coro);

/* Its stack will not go back to the cache, which others use from now on. */
void hf_coro_part(hf_coro *coro);

/* Runs it until it yields or returns. False once `fn` has returned; it must not be resumed then. */
bool hf_coro_resume(hf_coro *coro);

/* From inside: back to whoever resumed it. */
void hf_coro_yield(hf_coro *coro);

/* Whether the caller stands on this coroutine's stack. */
bool hf_coro_inside(const hf_coro *coro);

/* Bytes of stack in use at the deepest yield so far, in whole pages: what a parked one costs. */
size_t hf_coro_touched(const hf_coro *coro);

#endif
