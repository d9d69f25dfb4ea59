/* test_desk.c: where workers and work meet: who gets what, in which order, and what the desk says
   of itself. No engine, no threads, a virtual clock. */
#include "engine/desk.h"

#include "base/value.h"
#include "lib/suite.h"

static hf_err err;

/* A worker with places for two kinds at two queues. */
typedef struct person {
    hf_waiter waiter;
    hf_waiter_place places[4];
    hf_slice queues[2];
    int sent_away;
} person;

static bool got(hf_waiter *waiter, hf_value task)
{
    ck_assert_ptr_null(task);
    ((person *)waiter)->sent_away++;
    return false;
}

static void person_init(person *p, const char *name, unsigned kinds)
{
    size_t count = 0;

    *p = (person){.queues = {HF_SLICE("q1"), HF_SLICE("q2")}};
    for (unsigned kind = 0; kind < HF_DESK_KINDS; kind++)
        count += 2 * (kinds >> kind & 1);
    p->waiter = (hf_waiter){.kinds = kinds,
                            .queues = p->queues,
                            .queue_count = 2,
                            .places = p->places,
                            .place_count = count,
                            .worker = hf_slice_of(name),
                            .got = got};
    for (size_t i = 0; i < count; i++) {
        p->places[i].waiter = &p->waiter;
        hf_list_init(&p->places[i].link);
    }
}

static void errand_init(hf_errand *errand, hf_task_kind kind, const char *queue, int64_t run)
{
    *errand =
        (hf_errand){.kind = kind, .run = run, .queue = hf_slice_of(queue), .type = HF_SLICE("t")};
    hf_list_init(&errand->place);
}

static hf_waiter *offer_to(hf_desk *desk, hf_errand *errand, hf_slice prefers)
{
    hf_waiter *waiter = NULL;

    ck_assert_int_eq(hf_desk_offer(desk, errand, prefers, &waiter, &err), HF_OK);
    return waiter;
}

static hf_waiter *offer(hf_desk *desk, hf_errand *errand)
{
    return offer_to(desk, errand, (hf_slice){0});
}

/* The run of the work that the worker gets; 0: it waits. */
static int64_t ask(hf_desk *desk, person *p)
{
    bool found = false;
    hf_errand errand = {0};

    ck_assert_int_eq(hf_desk_ask(desk, &p->waiter, &found, &errand, &err), HF_OK);
    return found ? errand.run : 0;
}

/* The oldest first, questions before everything else; what is taken is taken once. */
START_TEST(work_is_taken_in_order)
{
    hf_clock *clock = hf_clock_new_virtual(1000000);
    hf_desk *desk = NULL;
    hf_errand work[4];
    person p;

    ck_assert_int_eq(hf_desk_open(clock, &desk, &err), HF_OK);
    errand_init(&work[0], HF_TASK_WORKFLOW, "q1", 1);
    errand_init(&work[1], HF_TASK_WORKFLOW, "q1", 2);
    errand_init(&work[2], HF_TASK_QUERY, "q2", 3);
    errand_init(&work[3], HF_TASK_ACTIVITY, "q1", 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_ptr_null(offer(desk, &work[i]));
    ck_assert_ptr_null(offer(desk, &work[0])); /* it lies there already */
    person_init(&p, "w", 1U << HF_TASK_WORKFLOW | 1U << HF_TASK_QUERY);
    ck_assert_int_eq(ask(desk, &p), 3);
    ck_assert_int_eq(ask(desk, &p), 1);
    hf_desk_withdraw(desk, &work[1]);
    ck_assert_int_eq(ask(desk, &p), 0);
    ck_assert(hf_desk_leave(desk, &p.waiter));
    ck_assert(!hf_desk_leave(desk, &p.waiter));
    hf_desk_withdraw(desk, &work[3]);
    hf_desk_close(desk);
    hf_clock_free_virtual(clock);
}
END_TEST

/* Who has waited longest gets the work, unless somebody who knows the run waits too; who gets it
   waits nowhere any more. */
START_TEST(workers_are_chosen)
{
    hf_clock *clock = hf_clock_new_virtual(1000000);
    hf_desk *desk = NULL;
    hf_errand work;
    person people[3];

    ck_assert_int_eq(hf_desk_open(clock, &desk, &err), HF_OK);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"first", "second", "other"};

        person_init(&people[i], names[i], 1U << HF_TASK_WORKFLOW | 1U << HF_TASK_ACTIVITY);
        people[i].waiter.namespace_key = i == 2;
        ck_assert_int_eq(ask(desk, &people[i]), 0);
    }
    errand_init(&work, HF_TASK_WORKFLOW, "q2", 1);
    ck_assert_ptr_eq(offer_to(desk, &work, HF_SLICE("second")), &people[1].waiter);
    errand_init(&work, HF_TASK_ACTIVITY, "q1", 2);
    ck_assert_ptr_eq(offer_to(desk, &work, HF_SLICE("second")), /* it waits at no queue any more */
                     &people[0].waiter);
    errand_init(&work, HF_TASK_ACTIVITY, "q1", 3);
    ck_assert_ptr_null(offer(desk, &work)); /* the other is in another namespace */
    hf_desk_withdraw(desk, &work);
    hf_desk_shut(desk, true);
    ck_assert_int_eq(people[2].sent_away, 1);
    ck_assert_int_eq(people[0].sent_away, 0);
    hf_desk_close(desk);
    hf_clock_free_virtual(clock);
}
END_TEST

/* Whether somebody comes here, and whether work waits for somebody who does not. */
START_TEST(it_knows_whether_it_is_served)
{
    hf_clock *clock = hf_clock_new_virtual(1000000);
    hf_desk *desk = NULL;
    hf_errand work;
    person p;

    ck_assert_int_eq(hf_desk_open(clock, &desk, &err), HF_OK);
    ck_assert(!hf_desk_visited(desk, 1000));
    errand_init(&work, HF_TASK_ACTIVITY, "q1", 1);
    ck_assert_ptr_null(offer(desk, &work));
    hf_clock_advance(clock, 500);
    ck_assert(!hf_desk_starves(desk, 1000));
    hf_clock_advance(clock, 1000);
    ck_assert(hf_desk_starves(desk, 1000));
    person_init(&p, "w", 1U << HF_TASK_WORKFLOW); /* comes for other work */
    ck_assert_int_eq(ask(desk, &p), 0);
    ck_assert(hf_desk_visited(desk, 1000));
    ck_assert(hf_desk_served(desk, HF_TASK_WORKFLOW, 0, HF_SLICE("q1"), 1000));
    ck_assert(!hf_desk_served(desk, HF_TASK_ACTIVITY, 0, HF_SLICE("q1"), 1000));
    ck_assert(hf_desk_starves(desk, 1000));
    ck_assert(hf_desk_leave(desk, &p.waiter));
    hf_clock_advance(clock, 2000);
    ck_assert(!hf_desk_visited(desk, 1000));
    hf_desk_withdraw(desk, &work);
    ck_assert(!hf_desk_starves(desk, 1000));
    hf_desk_close(desk);
    hf_clock_free_virtual(clock);
}
END_TEST

HF_SUITE_MAIN("engine/desk", {work_is_taken_in_order, 0}, {workers_are_chosen, 0},
              {it_knows_whether_it_is_served, 0})
