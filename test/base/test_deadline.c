/* test_deadline.c: the queue of deadlines against sorting. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { MANY = 100000, FEW = 60, STEPS = 30000 };

static int deadline_order(const hf_deadline *a, const hf_deadline *b)
{
    if (a->due_us != b->due_us)
        return a->due_us < b->due_us ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static int pointers_order(const void *a, const void *b)
{
    return deadline_order(*(hf_deadline *const *)a, *(hf_deadline *const *)b);
}

/* The soonest queued of `count`, by looking at all of them. */
static hf_deadline *soonest(hf_deadline *all, size_t count)
{
    hf_deadline *best = NULL;

    for (size_t i = 0; i < count; i++) {
        if (hf_deadline_queued(&all[i]) && (!best || deadline_order(&all[i], best) < 0))
            best = &all[i];
    }
    return best;
}

/* A hundred thousand deadlines, many at the same time, come out as a sort would order them. */
START_TEST(pops_in_sorted_order)
{
    hf_deadline *all = hf_alloc_array(MANY, sizeof(*all));
    hf_deadline **sorted = hf_alloc_array(MANY, sizeof(hf_deadline *));
    hf_deadlines *queue = hf_deadlines_new();
    hf_rng rng;

    ck_assert(all && sorted && queue);
    hf_rng_init_seeded(&rng, 21);
    for (size_t i = 0; i < MANY; i++) {
        all[i] = (hf_deadline){.due_us = (int64_t)hf_rng_below(&rng, MANY / 10) - 1000,
                               .key = hf_rng_next(&rng),
                               .ref = &all[i]};
        sorted[i] = &all[i];
        ck_assert_int_eq(hf_deadlines_push(queue, &all[i], NULL), HF_OK);
    }
    ck_assert_uint_eq(hf_deadlines_count(queue), MANY);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_ptr_eq(hf_deadlines_at(queue, i)->ref, hf_deadlines_at(queue, i));
    qsort(sorted, MANY, sizeof(sorted[0]), pointers_order);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_ptr_eq(hf_deadlines_peek(queue), sorted[i]);
        ck_assert_ptr_eq(hf_deadlines_pop(queue), sorted[i]);
        ck_assert_ptr_eq(sorted[i]->ref, sorted[i]);
        ck_assert(!hf_deadline_queued(sorted[i]));
    }
    ck_assert_ptr_null(hf_deadlines_pop(queue));
    ck_assert_ptr_null(hf_deadlines_peek(queue));
    hf_deadlines_free(queue);
    hf_alloc_free(sorted);
    hf_alloc_free(all);
}
END_TEST

/* Random pushes, pops, moves and removals keep the soonest in front. */
START_TEST(agrees_with_looking_at_all)
{
    static hf_deadline all[FEW];
    hf_deadlines *queue = hf_deadlines_new();
    size_t queued = 0;
    hf_rng rng;

    ck_assert_ptr_nonnull(queue);
    hf_rng_init_seeded(&rng, 22);
    for (size_t i = 0; i < FEW; i++)
        all[i].key = i;
    for (int step = 0; step < STEPS; step++) {
        hf_deadline *pick = &all[hf_rng_below(&rng, FEW)];
        int64_t due_us = (int64_t)hf_rng_below(&rng, 20);
        uint64_t what = hf_rng_below(&rng, 10);

        if (!hf_deadline_queued(pick)) {
            hf_deadlines_remove(queue, pick); /* nothing to remove */
            if (what < 7) {
                pick->due_us = due_us;
                ck_assert_int_eq(hf_deadlines_push(queue, pick, NULL), HF_OK);
                queued++;
            }
        } else if (what < 5) {
            hf_deadlines_move(queue, pick, due_us);
            ck_assert_int_eq(pick->due_us, due_us);
        } else if (what < 8) {
            hf_deadlines_remove(queue, pick);
            ck_assert(!hf_deadline_queued(pick));
            queued--;
        } else {
            hf_deadline *expected = soonest(all, FEW);

            ck_assert_ptr_eq(hf_deadlines_pop(queue), expected);
            queued--;
        }
        ck_assert_uint_eq(hf_deadlines_count(queue), queued);
        ck_assert_ptr_eq(hf_deadlines_peek(queue), soonest(all, FEW));
    }
    hf_deadlines_free(queue);
    for (size_t i = 0; i < FEW; i++)
        ck_assert(!hf_deadline_queued(&all[i]));
    hf_deadlines_free(NULL);
}
END_TEST

/* Times at both ends of the range are ordered like any other. */
START_TEST(extreme_times)
{
    hf_deadline late = {.due_us = INT64_MAX};
    hf_deadline early = {.due_us = INT64_MIN};
    hf_deadline tie = {.due_us = INT64_MIN, .key = UINT64_MAX};
    hf_deadlines *queue = hf_deadlines_new();

    ck_assert_ptr_nonnull(queue);
    ck_assert_int_eq(hf_deadlines_push(queue, &late, NULL), HF_OK);
    ck_assert_int_eq(hf_deadlines_push(queue, &tie, NULL), HF_OK);
    ck_assert_int_eq(hf_deadlines_push(queue, &early, NULL), HF_OK);
    ck_assert_ptr_eq(hf_deadlines_pop(queue), &early);
    ck_assert_ptr_eq(hf_deadlines_pop(queue), &tie);
    ck_assert_ptr_eq(hf_deadlines_pop(queue), &late);
    hf_deadlines_free(queue);
}
END_TEST

/* Whichever allocation fails, the push says so and the queue is as before; taking out never fails,
   even when memory cannot be given back. */
START_TEST(failed_push_changes_nothing)
{
    for (int64_t nth = 1;; nth++) {
        static hf_deadline all[FEW * 3];
        hf_deadlines *queue = hf_deadlines_new();
        bool failed = false;
        bool done;

        ck_assert_ptr_nonnull(queue);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        for (size_t i = 0; i < FEW * 3; i++) {
            hf_err err = {0};

            all[i] = (hf_deadline){.due_us = -(int64_t)i, .key = i};
            if (hf_deadlines_push(queue, &all[i], &err) != HF_OK) {
                ck_assert_int_eq(err.status, HF_NOMEM);
                ck_assert(!failed && !hf_deadline_queued(&all[i]));
                failed = true;
                ck_assert_uint_eq(hf_deadlines_count(queue), i);
                ck_assert_int_eq(hf_deadlines_push(queue, &all[i], NULL), HF_OK);
            }
            ck_assert_ptr_eq(hf_deadlines_peek(queue), &all[i]);
        }
        for (size_t i = FEW * 3; i-- > 0;)
            ck_assert_ptr_eq(hf_deadlines_pop(queue), &all[i]);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(!done || !failed);
        hf_deadlines_free(queue);
        if (done)
            break;
    }
}
END_TEST

HF_SUITE_MAIN("base/deadline", {pops_in_sorted_order, 0}, {agrees_with_looking_at_all, 0},
              {extreme_times, 0}, {failed_push_changes_nothing, 0})
