/* test_matching.c: where polls and tasks meet: who gets what, in which order, what becomes of a
   claim, and what is told of it all. No engine, a virtual clock. */
#include "task/matching.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/value.h"
#include "lib/suite.h"
#include "store/row.h"

enum { KINDS = 1 << HF_TASK_WORKFLOW | 1 << HF_TASK_ACTIVITY };

static hf_err err;
static hf_clock *clock_now;
static hf_matching *matching;
static int told; /* of claims */

static void claimed(void *ctx)
{
    (void)ctx;
    told++;
}

static void begin(void)
{
    told = 0;
    clock_now = hf_clock_new_virtual(1000000);
    ck_assert_int_eq(hf_matching_open(clock_now, &matching, &err), HF_OK);
    hf_matching_listen(matching, KINDS, claimed, NULL);
}

static void end(void)
{
    hf_matching_close(matching);
    hf_clock_free_virtual(clock_now);
}

/* A worker's poll, and what came of it. */
typedef struct worker {
    hf_poll *poll;
    int calls;
    int64_t got; /* the subject of the task; 0: none */
    bool gone;   /* it does not take what comes */
} worker;

static bool worker_got(void *arg, hf_value task)
{
    worker *w = arg;

    w->calls++;
    w->got = task ? hf_int(task, "subject", 0) : 0;
    return !w->gone;
}

static const hf_slice queues[] = {{"q1", 2}, {"q2", 2}};

static hf_poll_spec spec_of(worker *w, const char *name, unsigned kinds)
{
    return (hf_poll_spec){.kinds = kinds,
                          .queues = queues,
                          .queue_count = 2,
                          .worker = hf_slice_of(name),
                          .got = worker_got,
                          .arg = w};
}

static void poll_as(worker *w, const hf_poll_spec *spec)
{
    *w = (worker){0};
    ck_assert_int_eq(hf_matching_poll(matching, spec, &w->poll, &err), HF_OK);
}

static void poll_for(worker *w, const char *name, unsigned kinds)
{
    const hf_poll_spec spec = spec_of(w, name, kinds);

    poll_as(w, &spec);
}

static hf_task_offer offer_of(hf_task_kind kind, const char *queue, int64_t subject)
{
    return (hf_task_offer){.key = {.kind = kind, .subject = subject, .attempt = 1},
                           .run = subject + 1000,
                           .queue = hf_slice_of(queue),
                           .type = HF_SLICE("t"),
                           .workflow_id = HF_SLICE("order-1"),
                           .task_id = HF_SLICE("task")};
}

/* The worker that has claimed it; "": nobody. */
static const char *offer(const hf_task_offer *o)
{
    static hf_task_holder holder;
    bool has = false;

    holder = (hf_task_holder){0};
    ck_assert_int_eq(hf_matching_offer(matching, o, &has, &holder, &err), HF_OK);
    return has ? holder.worker : "";
}

static const char *offer_plain(hf_task_kind kind, const char *queue, int64_t subject)
{
    const hf_task_offer o = offer_of(kind, queue, subject);

    return offer(&o);
}

static bool deliver(const hf_task_key *key)
{
    hf_mem *mem = hf_mem_new();

    return hf_matching_deliver(matching, key, 100, 5000, mem,
                               hf_json_(mem, "{'subject': %ld}", (long)key->subject));
}

/* Delivers the oldest claim that nobody has seen; its subject, 0: there is none. */
static int64_t answer(void)
{
    hf_task_holder holder;
    hf_task_key key;
    int64_t run;

    if (!hf_matching_claim(matching, KINDS, &key, &run, &holder))
        return 0;
    (void)deliver(&key);
    return key.subject;
}

/* The oldest first; what is taken is taken once. */
START_TEST(tasks_are_taken_in_order)
{
    worker w;

    begin();
    ck_assert_str_eq(offer_plain(HF_TASK_WORKFLOW, "q1", 1), "");
    ck_assert_str_eq(offer_plain(HF_TASK_WORKFLOW, "q1", 2), "");
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 3), "");
    ck_assert_str_eq(offer_plain(HF_TASK_WORKFLOW, "q1", 1), ""); /* it is there already */
    for (int64_t i = 1; i <= 3; i++) {                            /* workflow tasks come first */
        poll_for(&w, "w", KINDS);
        ck_assert_int_eq(w.calls, 0); /* nothing before the owner confirms */
        ck_assert_int_eq(answer(), i);
        ck_assert_int_eq(w.got, i);
        ck_assert(!hf_poll_end(w.poll));
    }
    ck_assert_int_eq(told, 3);
    poll_for(&w, "w", KINDS);
    ck_assert_int_eq(answer(), 0);
    ck_assert(hf_poll_leave(w.poll));
    ck_assert(hf_poll_end(w.poll));
    ck_assert_int_eq(w.calls, 0);
    end();
}
END_TEST

/* Who has waited longest gets the task, unless the worker that knows the run waits too; who gets it
   waits nowhere any more, and other namespaces are no business of it. */
START_TEST(polls_are_chosen)
{
    worker w[3];
    hf_task_offer o = offer_of(HF_TASK_WORKFLOW, "q2", 1);

    begin();
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"first", "second", "other"};
        hf_poll_spec spec = spec_of(&w[i], names[i], KINDS);

        spec.namespace_key = i == 2;
        poll_as(&w[i], &spec);
    }
    o.prefers = HF_SLICE("second");
    ck_assert_str_eq(offer(&o), "second");
    ck_assert(deliver(&o.key));
    ck_assert_int_eq(w[1].got, 1);
    o.key.subject = 2;
    ck_assert_str_eq(offer(&o), "first");
    ck_assert(deliver(&o.key));
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 3), "");
    hf_matching_shut(matching, true);
    ck_assert_int_eq(w[2].calls, 1);
    ck_assert_int_eq(w[2].got, 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert(!hf_poll_end(w[i].poll));
    end();
}
END_TEST

/* What is offered for now goes to a poll that waits, or is nobody's; one that is not recorded after
   all leaves its poll where it was. */
START_TEST(an_offer_for_now_leaves_nothing)
{
    hf_task_offer o = offer_of(HF_TASK_ACTIVITY, "q1", 1);
    worker w;

    begin();
    o.now = true;
    ck_assert_str_eq(offer(&o), "");
    poll_for(&w, "w", KINDS);
    ck_assert_int_eq(answer(), 0); /* it is not there for one that comes later */
    o.key.subject = 2;
    ck_assert_str_eq(offer(&o), "w");
    hf_matching_withdraw(matching, &o.key);
    ck_assert_int_eq(w.calls, 0);
    o.key.subject = 3;
    ck_assert_str_eq(offer(&o), "w");
    ck_assert(deliver(&o.key));
    ck_assert_int_eq(w.got, 3);
    ck_assert(!hf_poll_end(w.poll));
    end();
}
END_TEST

/* A poll gets what its types and its build allow and nothing else, and nobody is asked in vain. */
START_TEST(types_and_builds_are_kept_apart)
{
    const hf_slice types[] = {HF_SLICE("t"), HF_SLICE("u")};
    hf_task_offer o = offer_of(HF_TASK_WORKFLOW, "q1", 1);
    hf_poll_spec spec;
    worker w[3];

    begin();
    o.type = HF_SLICE("v");
    ck_assert_str_eq(offer(&o), "");
    spec = spec_of(&w[0], "types", KINDS);
    spec.types = types;
    spec.type_count = 2;
    poll_as(&w[0], &spec);
    spec = spec_of(&w[1], "build", KINDS);
    spec.types = types;
    spec.type_count = 2;
    spec.build = HF_SLICE("b1");
    poll_as(&w[1], &spec);
    ck_assert_int_eq(answer(), 0);
    o.key.subject = 2;
    o.type = HF_SLICE("u");
    o.build = HF_SLICE("b1");
    ck_assert_str_eq(offer(&o), "build");
    ck_assert(deliver(&o.key));
    o.key.subject = 3;
    ck_assert_str_eq(offer(&o), "");
    o.key.subject = 4;
    o.build = (hf_slice){0};
    ck_assert_str_eq(offer(&o), "types");
    ck_assert(deliver(&o.key));
    poll_for(&w[2], "any", KINDS); /* of no build: the oldest that is not for b1 */
    ck_assert_int_eq(answer(), 1);
    for (size_t i = 0; i < 3; i++)
        ck_assert(!hf_poll_end(w[i].poll));
    spec = spec_of(&w[0], "any of b1", KINDS);
    spec.build = HF_SLICE("b1");
    poll_as(&w[0], &spec);
    ck_assert_int_eq(answer(), 3);
    ck_assert(!hf_poll_end(w[0].poll));
    end();
}
END_TEST

/* n01: a task that is offered again while its claim is on the way is neither offered twice nor
   freed under anybody: the claim fits one hand-out, and who comes too late finds nothing. */
START_TEST(n01_a_claim_on_its_way_outlives_its_task)
{
    const hf_task_offer o = offer_of(HF_TASK_ACTIVITY, "q1", 7);
    hf_task_key key;
    int64_t run;
    worker w;

    begin();
    ck_assert_str_eq(offer(&o), "");
    poll_for(&w, "w", KINDS);
    ck_assert(hf_matching_claim(matching, KINDS, &key, &run, NULL)); /* the core has not acted */
    ck_assert_str_eq(offer(&o), "w"); /* another turn of the run offers it: it has its poll */
    ck_assert(deliver(&o.key));
    ck_assert(!deliver(&key)); /* the claim acted upon twice: nothing is there to confirm */
    ck_assert_int_eq(w.calls, 1);
    ck_assert_int_eq(w.got, 7);
    ck_assert(!hf_poll_end(w.poll));

    ck_assert_str_eq(offer(&o), ""); /* the owner gave it up: it is offered anew */
    poll_for(&w, "w", KINDS);
    ck_assert(hf_matching_claim(matching, KINDS, &key, &run, NULL));
    hf_matching_withdraw(matching, &o.key); /* the run closes, and frees what it had */
    ck_assert(!deliver(&key));
    ck_assert_int_eq(w.calls, 0); /* the poll waits again */
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q2", 8), "w");
    ck_assert(hf_poll_end(w.poll));
    end();
}
END_TEST

/* A stale claim puts its poll in front of those that came after it. */
START_TEST(a_stale_claim_puts_the_poll_in_front)
{
    hf_task_offer o = offer_of(HF_TASK_ACTIVITY, "q1", 1);
    worker w[2];

    begin();
    ck_assert_str_eq(offer(&o), "");
    poll_for(&w[0], "first", KINDS);
    poll_for(&w[1], "second", KINDS);
    hf_matching_withdraw(matching, &o.key);
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 2), "first");
    o.key.attempt = 2; /* another hand-out of the same subject takes the place of the one before */
    o.key.subject = 2;
    ck_assert_str_eq(offer(&o), "first");
    ck_assert(hf_poll_end(w[0].poll)); /* after its owner heard: nobody is given it unseen */
    ck_assert(!deliver(&o.key));
    ck_assert_int_eq(w[1].calls, 0);
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 3), "second");
    ck_assert(hf_poll_end(w[1].poll));
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 3), ""); /* it can be had again */
    end();
}
END_TEST

/* A poll that ends before its owner heard of the claim leaves the task to the next. */
START_TEST(a_poll_that_ends_leaves_its_task)
{
    worker w[2];

    begin();
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 1), "");
    ck_assert_str_eq(offer_plain(HF_TASK_ACTIVITY, "q1", 2), "");
    poll_for(&w[0], "first", KINDS);
    ck_assert(!hf_poll_leave(w[0].poll)); /* something is on its way */
    ck_assert(hf_poll_end(w[0].poll));
    poll_for(&w[1], "second", KINDS);
    ck_assert_int_eq(answer(), 1); /* in its old place */
    ck_assert_int_eq(w[1].got, 1);
    ck_assert(!hf_poll_end(w[1].poll));
    poll_for(&w[0], "first", KINDS);
    ck_assert(!hf_poll_leave(w[0].poll));
    hf_matching_withdraw(matching, &(hf_task_key){HF_TASK_ACTIVITY, 2, 1, 0});
    ck_assert_int_eq(w[0].calls, 1); /* it came to nothing, and it does not wait again */
    ck_assert_int_eq(w[0].got, 0);
    ck_assert(!hf_poll_end(w[0].poll));
    end();
}
END_TEST

/* Who does not take what it is handed has no lease. */
START_TEST(leases_are_known)
{
    hf_task_offer o = offer_of(HF_TASK_ACTIVITY, "q1", 1);
    hf_task_lease *leases = NULL;
    hf_task_holder holder;
    hf_mem *mem = hf_mem_new();
    size_t count = 0;
    hf_value held;
    worker w;

    begin();
    poll_for(&w, "w", KINDS);
    w.gone = true;
    ck_assert_str_eq(offer(&o), "w");
    ck_assert(!hf_matching_leased(matching, &o.key, &holder));
    ck_assert(!deliver(&o.key));
    ck_assert(!hf_matching_leased(matching, &o.key, &holder));
    ck_assert(!hf_poll_end(w.poll));

    poll_for(&w, "w", KINDS);
    o.key.attempt = 2;
    ck_assert_str_eq(offer(&o), "w");
    ck_assert(deliver(&o.key));
    ck_assert(hf_matching_leased(matching, &o.key, &holder));
    ck_assert_str_eq(holder.worker, "w");
    ck_assert_int_eq(holder.until_us, 5000);
    ck_assert(hf_matching_extend(matching, &o.key, 9000));
    held = hf_matching_held(matching, 0, (hf_slice){0}, mem);
    ck_assert_int_eq((int)hf_len(held), 1);
    ck_assert_int_eq(hf_int(hf_at(held, 0), "lease_expires_at", 0), 9000);
    ck_assert_str_eq(hf_str(hf_at(held, 0), "lease_owner", ""), "w");
    ck_assert_str_eq(hf_matching_workflow_id(matching, &o.key, mem), "order-1");
    ck_assert_int_eq(
        hf_matching_leases_of(matching, KINDS, 0, HF_SLICE("w"), &leases, &count, &err), HF_OK);
    ck_assert_int_eq((int)count, 1);
    ck_assert_int_eq(leases[0].run, 1001);
    hf_alloc_free(leases);
    hf_matching_end(matching, &(hf_task_key){HF_TASK_ACTIVITY, 1, 1, 0}, HF_TASK_REPORT);
    ck_assert(hf_matching_leased(matching, &o.key, &holder)); /* that was another attempt */
    hf_matching_end(matching, &o.key, HF_TASK_REPORT);
    ck_assert(!hf_matching_leased(matching, &o.key, &holder));

    ck_assert_int_eq(hf_matching_resume(matching, &o, HF_SLICE("before"), 100, 7000, &err), HF_OK);
    ck_assert(hf_matching_leased(matching, &o.key, &holder));
    ck_assert(holder.unheard);
    ck_assert(hf_matching_extend(matching, &o.key, 8000));
    ck_assert(hf_matching_leased(matching, &o.key, &holder));
    ck_assert(!holder.unheard);
    ck_assert(!hf_poll_end(w.poll));
    hf_mem_free(mem);
    end();
}
END_TEST

/* Whether workers come for a kind of task. */
START_TEST(it_knows_whether_it_is_served)
{
    worker w;

    begin();
    ck_assert(!hf_matching_served(matching, HF_TASK_WORKFLOW, 0, HF_SLICE("q1"), HF_SLICE("t"), 0));
    poll_for(&w, "w", 1U << HF_TASK_WORKFLOW);
    ck_assert(hf_matching_served(matching, HF_TASK_WORKFLOW, 0, HF_SLICE("q1"), HF_SLICE("t"), 0));
    ck_assert(!hf_matching_served(matching, HF_TASK_ACTIVITY, 0, HF_SLICE("q1"), HF_SLICE("t"), 0));
    ck_assert(hf_poll_end(w.poll));
    hf_clock_advance(clock_now, 2000);
    ck_assert(
        !hf_matching_served(matching, HF_TASK_WORKFLOW, 0, HF_SLICE("q1"), HF_SLICE("t"), 1000));
    end();
}
END_TEST

/* Opening it fails in good order whichever allocation does. */
START_TEST(opening_needs_memory)
{
    hf_status st = HF_NOMEM;

    clock_now = hf_clock_new_virtual(1000000);
    for (int nth = 1; st; nth++) {
        matching = NULL;
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_matching_open(clock_now, &matching, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(st == HF_OK || (st == HF_NOMEM && !matching && nth < 100));
    }
    end();
}
END_TEST

/* ---- two nodes */

enum { NODE_A = 7, NODE_B = 8 };

static hf_matching *there; /* of node B; `matching` is A's */
static int shares;

static void shared(void *ctx, bool waits)
{
    (void)ctx;
    (void)waits;
    shares++;
}

static void nodes_begin(void)
{
    begin();
    ck_assert_int_eq(hf_matching_open(clock_now, &there, &err), HF_OK);
    hf_matching_share(matching, shared, NULL);
    hf_matching_share(there, shared, NULL);
    shares = 0;
}

static void nodes_end(void)
{
    hf_matching_close(there);
    end();
}

static void poll_there(worker *w, const char *name)
{
    const hf_poll_spec spec = spec_of(w, name, KINDS);

    *w = (worker){0};
    ck_assert_int_eq(hf_matching_poll(there, &spec, &w->poll, &err), HF_OK);
}

/* A hears what waits at B. */
static size_t demand_carry(void)
{
    hf_mem *mem = hf_mem_new();
    size_t count = 0;
    const hf_task_demand *wanted = hf_matching_wanted(there, mem, 64, &count);

    ck_assert_ptr_nonnull(wanted);
    ck_assert_int_eq(hf_matching_demand(matching, NODE_B, wanted, count, &err), HF_OK);
    hf_mem_free(mem);
    return count;
}

/* B hears of the task that A has for it; its subject, 0: there is none. */
static int64_t offer_carry(void)
{
    hf_mem *mem = hf_mem_new();
    hf_task_offer o = {0};
    int64_t node = 0;
    bool lent = hf_matching_lend(matching, mem, &node, &o);

    if (lent) {
        ck_assert_int_eq(node, NODE_B);
        ck_assert_int_eq(hf_matching_borrow(there, &o, NODE_A, &err), HF_OK);
    }
    hf_mem_free(mem);
    return lent ? o.key.subject : 0;
}

/* A task that nobody takes at A goes to the poll at B, which A's owner of the task confirms: once,
   and to no other. */
START_TEST(a_poll_at_another_node_gets_a_task)
{
    hf_task_abroad abroad;
    hf_poll_spec spec;
    hf_mem *mem;
    worker w;
    worker guest = {0};

    nodes_begin();
    ck_assert_str_eq(offer_plain(HF_TASK_WORKFLOW, "q1", 1), "");
    ck_assert_int_eq(offer_carry(), 0); /* nobody wants it */
    poll_there(&w, "far");
    ck_assert_uint_eq(demand_carry(), 4); /* two kinds at two queues */
    ck_assert(hf_matching_served(matching, HF_TASK_WORKFLOW, 0, HF_SLICE("q1"), HF_SLICE("t"), 0));
    ck_assert_int_eq(offer_carry(), 1);
    ck_assert_int_eq(offer_carry(), 0); /* it is told once */
    mem = hf_mem_new();
    ck_assert(hf_matching_claim_abroad(there, mem, &abroad));
    ck_assert(!hf_matching_claim_abroad(there, mem, &abroad));
    ck_assert_int_eq(abroad.owner, NODE_A);
    ck_assert_int_eq(abroad.key.subject, 1);
    ck_assert_str_eq(abroad.holder.worker, "far");
    spec = spec_of(&guest, "far", 1U << HF_TASK_WORKFLOW);
    ck_assert_int_eq(hf_matching_poll_key(matching, &spec, &abroad.key, &guest.poll, &err), HF_OK);
    ck_assert_int_eq(hf_matching_poll_key(matching, &spec, &abroad.key, &guest.poll, &err),
                     HF_NOTFOUND);
    ck_assert_int_eq(w.calls, 0); /* nothing before the owner confirms */
    ck_assert_int_eq(answer(), 1);
    ck_assert_int_eq(guest.got, 1);
    ck_assert(
        hf_matching_deliver(there, &abroad.key, 100, 5000, mem, hf_json_(mem, "{'subject': 1}")));
    ck_assert_int_eq(w.got, 1);
    hf_matching_end(there, &abroad.key, HF_TASK_WITHDRAW);
    ck_assert(!hf_poll_end(w.poll));
    ck_assert(!hf_poll_end(guest.poll));
    nodes_end();
}
END_TEST

/* What is said of a task is said at the other node, too: all its texts, and that a question is of
   no shard, but of the node that asks it. */
START_TEST(what_is_said_of_a_task_goes_abroad)
{
    hf_task_offer o = offer_of(HF_TASK_WORKFLOW, "q1", 1);
    hf_task_offer lent = {0};
    hf_task_abroad abroad;
    hf_task_holder holder;
    hf_mem *mem = hf_mem_new();
    int64_t node = 0;
    bool has = false;
    worker w;

    nodes_begin();
    o.shard = HF_NONE;
    o.run_id = HF_SLICE("the-run");
    poll_there(&w, "far");
    (void)demand_carry();
    ck_assert_int_eq(hf_matching_offer(matching, &o, &has, &holder, &err), HF_OK);
    ck_assert(hf_matching_lend(matching, mem, &node, &lent));
    ck_assert_int_eq(lent.shard, HF_NONE);
    ck_assert(hf_slice_equal(lent.workflow_id, o.workflow_id));
    ck_assert(hf_slice_equal(lent.run_id, o.run_id));
    ck_assert(hf_slice_equal(lent.task_id, o.task_id));
    ck_assert_int_eq(hf_matching_borrow(there, &lent, NODE_A, &err), HF_OK);
    ck_assert(hf_matching_claim_abroad(there, mem, &abroad));
    ck_assert_int_eq(abroad.shard, HF_NONE);
    ck_assert(hf_poll_end(w.poll));
    hf_mem_free(mem);
    nodes_end();
}
END_TEST

/* A lease that B gave while it owned the run ends when the next owner has the task offered there.
 */
START_TEST(a_lease_ends_with_the_ownership)
{
    hf_task_offer o = offer_of(HF_TASK_WORKFLOW, "q1", 1);
    hf_task_abroad abroad;
    hf_task_holder holder;
    hf_mem *mem = hf_mem_new();
    bool has = false;
    worker w;

    nodes_begin();
    ck_assert_int_eq(hf_matching_resume(there, &o, HF_SLICE("before"), 100, 5000, &err), HF_OK);
    poll_there(&w, "far");
    (void)demand_carry();
    o.key.epoch++;
    ck_assert_int_eq(hf_matching_offer(matching, &o, &has, &holder, &err), HF_OK);
    ck_assert_int_eq(offer_carry(), 1);
    ck_assert(hf_matching_claim_abroad(there, mem, &abroad));
    ck_assert_int_eq(abroad.key.epoch, o.key.epoch);
    ck_assert(hf_poll_end(w.poll));
    hf_mem_free(mem);
    nodes_end();
}
END_TEST

/* What B was told of may be taken at A all the same: B is told so, and its poll goes on waiting. A
   task that B did not take in time is offered no more to it before it is heard of again. */
START_TEST(what_another_node_is_told_of_is_a_hint)
{
    hf_task_offer o = offer_of(HF_TASK_WORKFLOW, "q1", 1);
    hf_task_abroad abroad;
    hf_task_key key;
    int64_t node = 0;
    hf_mem *mem = hf_mem_new();
    worker here;
    worker w;

    nodes_begin();
    poll_there(&w, "far");
    (void)demand_carry();
    ck_assert_str_eq(offer(&o), "");
    ck_assert_int_eq(offer_carry(), 1);
    ck_assert(hf_matching_claim_abroad(there, mem, &abroad));
    poll_for(&here, "near", KINDS);
    ck_assert_int_eq(answer(), 1);
    ck_assert_int_eq(here.got, 1);
    ck_assert(hf_matching_recall(matching, &node, &key));
    ck_assert_int_eq(node, NODE_B);
    ck_assert(hf_task_key_equal(&key, &o.key));
    ck_assert(!hf_matching_recall(matching, &node, &key));
    hf_matching_withdraw(there, &key);
    ck_assert_int_eq(w.calls, 0);
    o.key.subject = 2;
    ck_assert_str_eq(offer(&o), "");
    ck_assert_int_eq(offer_carry(), 2);
    hf_matching_unlent(matching, &o.key, NODE_B);
    ck_assert(hf_matching_recall(matching, &node, &key));
    ck_assert_int_eq(offer_carry(), 0);
    hf_matching_withdraw(there, &key);
    (void)demand_carry();
    ck_assert_int_eq(offer_carry(), 2);
    ck_assert_int_eq(hf_matching_demand(matching, NODE_B, NULL, 0, &err), HF_OK); /* it is gone */
    ck_assert_int_eq(offer_carry(), 0);
    ck_assert(!hf_poll_end(here.poll));
    ck_assert(hf_poll_end(w.poll));
    hf_mem_free(mem);
    nodes_end();
}
END_TEST

HF_SUITE_MAIN("task/matching", {opening_needs_memory, 0}, {tasks_are_taken_in_order, 0},
              {polls_are_chosen, 0}, {an_offer_for_now_leaves_nothing, 0},
              {types_and_builds_are_kept_apart, 0}, {n01_a_claim_on_its_way_outlives_its_task, 0},
              {a_stale_claim_puts_the_poll_in_front, 0}, {a_poll_that_ends_leaves_its_task, 0},
              {leases_are_known, 0}, {it_knows_whether_it_is_served, 0},
              {a_poll_at_another_node_gets_a_task, 0}, {what_is_said_of_a_task_goes_abroad, 0},
              {a_lease_ends_with_the_ownership, 0}, {what_another_node_is_told_of_is_a_hint, 0})
