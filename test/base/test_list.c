/* test_list.c: the intrusive list, against an array that is kept in the same order. */
#include <string.h>

#include "base/list.h"
#include "base/rng.h"
#include "lib/suite.h"

enum { MEMBERS = 40, STEPS = 20000 };

typedef struct member {
    int number;
    hf_list link;
} member;

static int number_of(const hf_list *link)
{
    return HF_LIST_ENTRY(link, const member, link)->number;
}

/* An empty list has no first, no last and nothing to take. */
START_TEST(empty_list)
{
    hf_list head;

    hf_list_init(&head);
    ck_assert(hf_list_empty(&head));
    ck_assert_ptr_null(hf_list_first(&head));
    ck_assert_ptr_null(hf_list_last(&head));
    ck_assert_ptr_null(hf_list_take_first(&head));
}
END_TEST

/* Removing twice is harmless, and a member knows whether it is linked. */
START_TEST(removal_is_idempotent)
{
    hf_list head;
    member a = {.number = 1};
    member b = {.number = 2};

    hf_list_init(&head);
    hf_list_init(&a.link);
    hf_list_init(&b.link);
    hf_list_add_last(&head, &a.link);
    hf_list_add_last(&head, &b.link);
    ck_assert(hf_list_linked(&a.link));
    hf_list_remove(&a.link);
    hf_list_remove(&a.link);
    ck_assert(!hf_list_linked(&a.link));
    ck_assert_int_eq(number_of(hf_list_first(&head)), 2);
    ck_assert_ptr_eq(hf_list_first(&head), hf_list_last(&head));
}
END_TEST

/* Random additions and removals at both ends and in the middle keep the order of the array. */
START_TEST(order_agrees_with_an_array)
{
    static member members[MEMBERS];
    int order[MEMBERS];
    size_t count = 0;
    hf_list head;
    hf_rng rng;

    hf_list_init(&head);
    hf_rng_init_seeded(&rng, 3);
    for (int i = 0; i < MEMBERS; i++) {
        members[i].number = i;
        hf_list_init(&members[i].link);
    }
    for (int step = 0; step < STEPS; step++) {
        int pick = (int)hf_rng_below(&rng, MEMBERS);
        member *m = &members[pick];
        size_t at = 0;

        if (hf_list_linked(&m->link)) {
            while (order[at] != pick)
                at++;
            hf_list_remove(&m->link);
            memmove(order + at, order + at + 1, (count - at - 1) * sizeof(order[0]));
            count--;
        } else {
            at = hf_rng_below(&rng, 2) ? 0 : count;
            if (at == 0)
                hf_list_add_first(&head, &m->link);
            else
                hf_list_add_last(&head, &m->link);
            memmove(order + at + 1, order + at, (count - at) * sizeof(order[0]));
            order[at] = pick;
            count++;
        }
        at = 0;
        for (hf_list *l = hf_list_first(&head); l; l = hf_list_next(&head, l))
            ck_assert_int_eq(number_of(l), order[at++]);
        ck_assert_uint_eq(at, count);
        for (const hf_list *l = head.prev; l != &head; l = l->prev)
            ck_assert_int_eq(number_of(l), order[--at]);
        ck_assert_int_eq(hf_list_empty(&head), count == 0);
    }
    for (size_t at = 0; at < count; at++)
        ck_assert_int_eq(number_of(hf_list_take_first(&head)), order[at]);
    ck_assert(hf_list_empty(&head));
}
END_TEST

HF_SUITE_MAIN("base/list", {empty_list, 0}, {removal_is_idempotent, 0},
              {order_agrees_with_an_array, 0})
