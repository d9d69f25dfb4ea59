/* test_coro.c: stacks come and go, values survive switches, and a coroutine may be given up
   anywhere. */
#define _DEFAULT_SOURCE /* sigaltstack */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/fault.h"
#include "lib/suite.h"
#include "replay/coro.h"

typedef struct counter {
    hf_coro *coro;
    int value;
    int limit;
} counter;

static void count_up(void *arg)
{
    counter *c = arg;
    volatile double kept = 0.5; /* floating point state must survive too */

    while (c->value < c->limit) {
        kept += 1;
        c->value++;
        hf_coro_yield(c->coro);
    }
    c->value = (int)kept;
}

static hf_coro *coro_make(hf_coro_cache *cache, size_t bytes, hf_coro_fn *fn, counter *c)
{
    hf_err err = {0};

    ck_assert_int_eq(hf_coro_new(cache, bytes, fn, c, &c->coro, &err), HF_OK);
    return c->coro;
}

/* A coroutine goes on where it yielded, until it returns. */
START_TEST(goes_on_where_it_yielded)
{
    counter c = {.limit = 3};
    hf_coro *coro = coro_make(NULL, 0, count_up, &c);

    ck_assert(!hf_coro_inside(coro));
    for (int i = 1; i <= 3; i++) {
        ck_assert(hf_coro_resume(coro));
        ck_assert_int_eq(c.value, i);
    }
    ck_assert_uint_gt(hf_coro_touched(coro), 0);
    ck_assert_uint_le(hf_coro_touched(coro), HF_CORO_STACK_DEFAULT);
    ck_assert(!hf_coro_resume(coro));
    ck_assert_int_eq(c.value, 3);
    hf_coro_free(coro);
}
END_TEST

/* Many live side by side, in any order, and may be given up half-way or before they began. */
START_TEST(lives_side_by_side)
{
    enum { MANY = 200 };
    hf_coro_cache *cache = hf_coro_cache_new(8, 0);
    counter c[MANY] = {{0}};

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            c[i] = (counter){.limit = 1 + i % 5};
            (void)coro_make(cache, i % 7 ? 0 : 128 * 1024, count_up, &c[i]);
        }
        for (int i = 0; i < MANY; i++)
            for (int k = 0; k < i % 4; k++)
                if (c[i].value <= c[i].limit && k <= c[i].limit)
                    (void)(k < c[i].limit ? hf_coro_resume(c[i].coro) : false);
        for (int i = MANY - 1; i >= 0; i--)
            hf_coro_free(c[i].coro);
    }
    hf_coro_cache_free(cache);
}
END_TEST

enum { DEPTH = 300, FRAME = 96 };

/* Many small frames: a sanitizer may keep locals elsewhere, but never the frames themselves. */
static int dig(counter *c, int depth)
{
    volatile char bytes[FRAME] = {0x5a};

    if (depth == 0)
        hf_coro_yield(c->coro);
    else
        c->value += dig(c, depth - 1);
    return bytes[0] == 0x5a;
}

static void use_stack(void *arg)
{
    (void)dig(arg, DEPTH);
}

/* A stack that was given up in the middle is clean for the next. */
START_TEST(reuses_stacks)
{
    hf_coro_cache *cache = hf_coro_cache_new(1, 0);

    for (int i = 0; i < 100; i++) {
        counter c = {0};
        hf_coro *coro = coro_make(cache, 0, use_stack, &c);

        ck_assert(hf_coro_resume(coro));
        ck_assert_uint_ge(hf_coro_touched(coro), DEPTH * 32);
        if (i % 2) {
            ck_assert(!hf_coro_resume(coro));
            ck_assert_int_eq(c.value, DEPTH);
        }
        hf_coro_free(coro);
    }
    hf_coro_cache_free(cache);
    hf_coro_cache_free(NULL);
    hf_coro_free(NULL);
}
END_TEST

static int dive(int depth)
{
    volatile char page[1024];

    page[0] = (char)depth;
    return depth == 0 ? 0 : dive(depth - 1) + page[0];
}

static void overflow(void *arg)
{
    counter *c = arg;

    c->value = dive(1 << 20);
}

enum { GUARD_EXIT = 42 };

static void guard_hit(int number)
{
    (void)number;
    _exit(GUARD_EXIT);
}

/* An overflow hits the guard page and is a fault there and then, instead of writing elsewhere. */
START_TEST(overflow_hits_the_guard)
{
    static char room[64 * 1024]; /* the handler cannot run on the stack that is full */
    stack_t other = {.ss_sp = room, .ss_size = sizeof(room)};
    struct sigaction action = {.sa_handler = guard_hit, .sa_flags = SA_ONSTACK};
    counter c = {0};

    ck_assert_int_eq(sigaltstack(&other, NULL), 0);
    ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
    (void)hf_coro_resume(coro_make(NULL, 0, overflow, &c));
    ck_abort_msg("the guard page let it pass");
}
END_TEST

static void *resume_elsewhere(void *arg)
{
    (void)hf_coro_resume(arg);
    return NULL;
}

static void panic_quietly(const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
    pthread_exit("refused");
}

/* Another thread is refused. */
START_TEST(never_moves)
{
    counter c = {.limit = 1};
    hf_coro *coro = coro_make(NULL, 0, count_up, &c);
    hf_panic_fn *old = hf_panic_hook(panic_quietly);
    pthread_t thread;
    void *answer = NULL;

    ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, coro), 0);
    ck_assert_int_eq(pthread_join(thread, &answer), 0);
    ck_assert_ptr_nonnull(answer);
    (void)hf_panic_hook(old);
    ck_assert(hf_coro_resume(coro));
    hf_coro_free(coro);
}
END_TEST

/* Pieces of address space that nobody may touch, guards of stacks among them. What a sanitizer
   keeps for each stack is none. */
static int guards_count(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int guards = 0;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps))
        guards += strstr(line, " ---p ") != NULL;
    (void)fclose(maps);
    return guards;
}

/* Of the stacks that are given back the cache keeps as many as it was made for; each has a guard.
 */
START_TEST(kept_stacks_are_bounded)
{
    enum { MANY = 200, KEEP = 8 };
    hf_coro_cache *cache = hf_coro_cache_new(KEEP, 0);
    hf_coro *coros[MANY];
    counter c = {.limit = 1};
    int before = guards_count();

    for (int i = 0; i < MANY; i++)
        coros[i] = coro_make(cache, 0, count_up, &c);
    ck_assert_int_ge(guards_count(), before + MANY);
    for (int i = 0; i < MANY; i++)
        hf_coro_free(coros[i]);
    ck_assert_int_ge(guards_count(), before + KEEP);
    ck_assert_int_le(guards_count(), before + MANY / 2);
    hf_coro_cache_free(cache);
}
END_TEST

static void *free_elsewhere(void *arg)
{
    hf_coro_free(arg);
    return NULL;
}

/* One that is parted may end on any thread, and after the cache. */
START_TEST(parted_ones_give_nothing_back)
{
    hf_coro_cache *cache = hf_coro_cache_new(8, 0);
    counter c = {.limit = 1};
    int before = guards_count();
    hf_coro *coro = coro_make(cache, 0, count_up, &c);
    pthread_t thread;

    ck_assert(hf_coro_resume(coro));
    hf_coro_part(coro);
    hf_coro_cache_free(cache);
    ck_assert_int_gt(guards_count(), before);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_elsewhere, coro), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

static void *run_many(void *arg)
{
    hf_coro_cache *cache = hf_coro_cache_new(4, 0);

    for (int i = 0; i < 200; i++) {
        counter c = {.limit = 3};
        hf_coro *coro = coro_make(cache, 0, count_up, &c);

        for (int k = 0; k < 3; k++)
            ck_assert(hf_coro_resume(coro));
        hf_coro_free(coro);
    }
    hf_coro_cache_free(cache);
    return arg;
}

/* Threads run their own side by side. */
START_TEST(threads_have_their_own)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

/* Without memory there is no coroutine, and nothing is left over. */
START_TEST(says_when_memory_is_out)
{
    counter c = {0};
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    for (int64_t nth = 1; st; nth++) {
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_coro_new(NULL, 0, count_up, &c, &c.coro, &err);
        ck_assert(st == HF_OK || st == HF_NOMEM);
    }
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_coro_free(c.coro);
    ck_assert_int_eq(hf_coro_new(NULL, SIZE_MAX, count_up, &c, &c.coro, &err), HF_NOMEM);
}
END_TEST

int main(void)
{
    const hf_case cases[] = {
        {goes_on_where_it_yielded, 0},
        {lives_side_by_side, 0},
        {kept_stacks_are_bounded, 0},
        {parted_ones_give_nothing_back, 0},
        {reuses_stacks, 0},
        {never_moves, 0},
        {threads_have_their_own, 0},
        {says_when_memory_is_out, 0},
    };
    Suite *suite = suite_create("replay/coro overflow");
    TCase *dies = tcase_create("dies");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_exit_test(dies, overflow_hits_the_guard, GUARD_EXIT);
    suite_add_tcase(suite, dies);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return hf_suite_run("replay/coro", cases, sizeof(cases) / sizeof(cases[0])) || failed;
}
