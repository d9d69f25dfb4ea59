/* coro.c: stacks and the switch between them. The rule: whatever switches tells the tools first,
   and a stack that is given back is clean in their eyes. Must never run user code on a stack that
   has no guard page. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_STACK */
#include "replay/coro.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/attr.h"
#include "base/fault.h"

#ifdef HF_CORO_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORO_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CORO_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CORO_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CORO_TSAN 1
#endif
#ifdef CORO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CORO_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HF_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

typedef struct coro_stack {
    struct coro_stack *next; /* in the cache */
    char *map;               /* the guard page, then the stack */
    size_t bytes;            /* of the stack */
    unsigned valgrind_id;
} coro_stack;

struct hf_coro_cache {
    coro_stack *free;
    size_t count;
    size_t keep_max;
    size_t stack_bytes;
};

#ifdef HF_CORO_UCONTEXT
typedef ucontext_t coro_place;
#else
typedef void *coro_place;

/* The C face of Boost.Context: where to go on, and a pointer that travels along. */
typedef struct coro_transfer {
    void *place;
    void *data;
} coro_transfer;

void *make_fcontext(void *top, size_t bytes, void (*fn)(coro_transfer));
coro_transfer jump_fcontext(void *place, void *data);
#endif

struct hf_coro {
    hf_coro_cache *cache; /* NULL: none */
    coro_stack *stack;
    hf_coro_fn *fn;
    void *arg;
    coro_place here;   /* where it goes on */
    coro_place caller; /* where its resumer goes on */
    pthread_t owner;
    bool running;
    bool done;
    size_t touched; /* deepest yield */
    /* what the tools want to have kept */
    void *here_fake;
    void *caller_fake;
    const void *caller_bottom;
    size_t caller_bytes;
    void *here_fiber;
    void *caller_fiber;
};

/* ---- stacks */

static size_t page_bytes(void)
{
    long bytes = sysconf(_SC_PAGESIZE);

    return bytes > 0 ? (size_t)bytes : 4096;
}

static size_t stack_round(size_t bytes)
{
    size_t page = page_bytes();

    if (bytes == 0)
        bytes = HF_CORO_STACK_DEFAULT;
    if (bytes < HF_CORO_STACK_MIN)
        bytes = HF_CORO_STACK_MIN;
    return bytes > SIZE_MAX / 2 ? 0 : (bytes + page - 1) / page * page;
}

static char *stack_bottom(const coro_stack *stack)
{
    return stack->map + page_bytes();
}

static void stack_free(coro_stack *stack)
{
#ifdef HF_HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(stack->valgrind_id);
#endif
    (void)munmap(stack->map, stack->bytes + page_bytes());
    hf_alloc_free(stack);
}

static coro_stack *stack_new(size_t bytes)
{
    coro_stack *stack = hf_alloc(sizeof(*stack));
    size_t guard = page_bytes();
    void *map = MAP_FAILED;

    if (!stack)
        return NULL;
    if (bytes && !hf_fault_hit(HF_FAULT_ALLOC))
        map = mmap(NULL, bytes + guard, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (map != MAP_FAILED && mprotect(map, guard, PROT_NONE) != 0) {
        (void)munmap(map, bytes + guard);
        map = MAP_FAILED;
    }
    if (map == MAP_FAILED) {
        hf_alloc_free(stack);
        return NULL;
    }
    stack->map = map;
    stack->bytes = bytes;
#ifdef HF_HAVE_VALGRIND
    stack->valgrind_id =
        VALGRIND_STACK_REGISTER(stack_bottom(stack), stack_bottom(stack) + stack->bytes);
#endif
    return stack;
}

static coro_stack *stack_take(hf_coro_cache *cache, size_t bytes)
{
    coro_stack *stack = cache && cache->stack_bytes == bytes ? cache->free : NULL;

    if (!stack)
        return stack_new(bytes);
    cache->free = stack->next;
    cache->count--;
    return stack;
}

static void stack_give(hf_coro_cache *cache, coro_stack *stack)
{
#ifdef CORO_ASAN
    /* Frames that never returned left their red zones behind. */
    __asan_unpoison_memory_region(stack_bottom(stack), stack->bytes);
#endif
    if (!cache || cache->stack_bytes != stack->bytes || cache->count >= cache->keep_max) {
        stack_free(stack);
        return;
    }
    stack->next = cache->free;
    cache->free = stack;
    cache->count++;
}

/* ---- telling the tools */

/* Before leaving the caller for the coroutine, and after coming back to it. */
static void tools_enter(hf_coro *coro)
{
#ifdef CORO_ASAN
    __sanitizer_start_switch_fiber(&coro->caller_fake, stack_bottom(coro->stack),
                                   coro->stack->bytes);
#endif
#ifdef CORO_TSAN
    coro->caller_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(coro->here_fiber, 0);
#endif
    (void)coro;
}

static void tools_entered(hf_coro *coro)
{
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(coro->here_fake, &coro->caller_bottom, &coro->caller_bytes);
#endif
    (void)coro;
}

/* Before leaving the coroutine. The last time its fake stack goes with it. */
static void tools_leave(hf_coro *coro)
{
#ifdef CORO_ASAN
    __sanitizer_start_switch_fiber(coro->done ? NULL : &coro->here_fake, coro->caller_bottom,
                                   coro->caller_bytes);
#endif
#ifdef CORO_TSAN
    __tsan_switch_to_fiber(coro->caller_fiber, 0);
#endif
    (void)coro;
}

static void tools_left(hf_coro *coro)
{
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(coro->caller_fake, NULL, NULL);
#endif
    (void)coro;
}

/* ---- the switch */

#ifdef HF_CORO_UCONTEXT

static void switch_in(hf_coro *coro)
{
    HF_ASSERT(swapcontext(&coro->caller, &coro->here) == 0);
}

static void switch_out(hf_coro *coro)
{
    HF_ASSERT(swapcontext(&coro->here, &coro->caller) == 0);
}

#else

static void switch_in(hf_coro *coro)
{
    coro->here = jump_fcontext(coro->here, coro).place;
}

static void switch_out(hf_coro *coro)
{
    coro->caller = jump_fcontext(coro->caller, coro).place;
}

#endif

static void coro_main(hf_coro *coro)
{
    tools_entered(coro);
    coro->fn(coro->arg);
    coro->done = true;
    tools_leave(coro);
    switch_out(coro);
    hf_panic("a finished coroutine was resumed", __FILE__, __LINE__);
}

#ifdef HF_CORO_UCONTEXT

/* makecontext passes ints only. */
static void coro_entry(unsigned high, unsigned low)
{
    coro_main((hf_coro *)(((uintptr_t)high << 32) | (uintptr_t)low)); /* NOLINT */
}

static bool coro_prepare(hf_coro *coro)
{
    uintptr_t self = (uintptr_t)coro;

    if (getcontext(&coro->here) != 0)
        return false;
    coro->here.uc_stack.ss_sp = stack_bottom(coro->stack);
    coro->here.uc_stack.ss_size = coro->stack->bytes;
    coro->here.uc_link = NULL;
    makecontext(&coro->here, (void (*)(void))coro_entry, 2, (unsigned)(self >> 32),
                (unsigned)(self & UINT32_MAX));
    return true;
}

#else

static void coro_entry(coro_transfer from)
{
    hf_coro *coro = from.data;

    coro->caller = from.place;
    coro_main(coro);
}

static bool coro_prepare(hf_coro *coro)
{
    coro->here = make_fcontext(stack_bottom(coro->stack) + coro->stack->bytes, coro->stack->bytes,
                               coro_entry);
    return coro->here != NULL;
}

#endif

static bool owner_calls(const hf_coro *coro)
{
    return pthread_equal(coro->owner, pthread_self()) != 0;
}

/* ---- public */

hf_coro_cache *hf_coro_cache_new(size_t keep_max, size_t stack_bytes)
{
    hf_coro_cache *cache = hf_alloc(sizeof(*cache));

    if (!cache)
        return NULL;
    cache->keep_max = keep_max;
    cache->stack_bytes = stack_round(stack_bytes);
    return cache;
}

void hf_coro_cache_free(hf_coro_cache *cache)
{
    if (!cache)
        return;
    while (cache->free) {
        coro_stack *stack = cache->free;

        cache->free = stack->next;
        stack_free(stack);
    }
    hf_alloc_free(cache);
}

hf_status hf_coro_new(hf_coro_cache *cache, size_t stack_bytes, hf_coro_fn *fn, void *arg,
                      hf_coro **out_coro, hf_err *err)
{
    hf_coro *coro;

    HF_ASSERT(fn != NULL);
    coro = hf_alloc(sizeof(*coro));
    if (!coro)
        return hf_err_nomem(err, "a coroutine");
    *coro = (hf_coro){.cache = cache, .fn = fn, .arg = arg, .owner = pthread_self()};
    coro->stack = stack_take(cache, stack_round(stack_bytes));
    if (!coro->stack || !coro_prepare(coro)) {
        if (coro->stack)
            stack_give(cache, coro->stack);
        hf_alloc_free(coro);
        return hf_err_nomem(err, "the stack of a coroutine");
    }
#ifdef CORO_TSAN
    coro->here_fiber = __tsan_create_fiber(0);
#endif
    *out_coro = coro;
    return HF_OK;
}

void hf_coro_free(hf_coro *coro)
{
    if (!coro)
        return;
    HF_ASSERT(!coro->running);
#ifdef CORO_TSAN
    __tsan_destroy_fiber(coro->here_fiber);
#endif
    stack_give(coro->cache, coro->stack);
    hf_alloc_free(coro);
}

void hf_coro_part(hf_coro *coro)
{
    coro->cache = NULL;
}

bool hf_coro_resume(hf_coro *coro)
{
    HF_ASSERT(!coro->done && !coro->running);
    HF_ASSERT(owner_calls(coro));
    coro->running = true;
    tools_enter(coro);
    switch_in(coro);
    tools_left(coro);
    coro->running = false;
    return !coro->done;
}

void hf_coro_yield(hf_coro *coro)
{
    uintptr_t here = (uintptr_t)HF_FRAME_ADDRESS(); /* a local may live elsewhere under ASan */
    uintptr_t top = (uintptr_t)(stack_bottom(coro->stack) + coro->stack->bytes);
    uintptr_t deep = here < top ? top - here : 0;

    HF_ASSERT(coro->running);
    HF_ASSERT(owner_calls(coro));
    if (deep <= coro->stack->bytes && deep > coro->touched)
        coro->touched = deep;
    tools_leave(coro);
    switch_out(coro);
    tools_entered(coro);
}

bool hf_coro_inside(const hf_coro *coro)
{
    return coro->running && owner_calls(coro);
}

size_t hf_coro_touched(const hf_coro *coro)
{
    size_t page = page_bytes();

    return (coro->touched + page - 1) / page * page;
}
