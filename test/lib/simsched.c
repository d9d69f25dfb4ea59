/* simsched.c: see simsched.h. Threads are real ones that hand a token around: who does not have it
   sleeps on a semaphore of its own. Everything here is reached with the token in hand, so it needs
   no lock. It must never draw a number or step differently for what it was not told, such as
   addresses or the real time. */
#include "lib/simsched.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/sched.h"
#include "base/thread.h"

enum {
    THREADS_MAX = 4096, /* ever */
    STEPS_MAX = 20000000,
    LAST = 64, /* steps that are remembered */
    STEP_US = 1,
    YIELD_US = 5,
    SLOW_TURNS = 16 /* a slow thread gets one of so many of its turns */
};

#define WALL_US INT64_C(1775124672000000)

typedef enum thread_state {
    THREAD_READY,
    THREAD_LOCKS, /* waits for a mutex, */
    THREAD_WAITS, /* for a condition or a time, */
    THREAD_JOINS, /* or for the end of a thread */
    THREAD_OVER,
    THREAD_KILLED
} thread_state;

typedef struct thread {
    int number;
    int group;
    int group_of_children;
    thread_state state;
    const void *on; /* the mutex, condition or thread */
    int64_t until_us;
    bool woken; /* not by the time */
    bool slow;
    bool exact;       /* it does not wake for no reason */
    uint64_t stirred; /* what it knew of sockets when it looked last */
    sem_t turn;
    char name[HF_THREAD_NAME_SIZE];
} thread;

typedef struct step {
    int64_t at_us;
    int thread;
    char what;
} step;

struct hf_simsched {
    hf_sched hooks; /* first: what the hooks get is this */
    hf_simsched_options o;
    hf_rng order; /* of the threads, apart from what the world draws */
    hf_rng rng;
    hf_rng random; /* what the system would give */
    thread *threads[THREADS_MAX];
    thread *live[THREADS_MAX]; /* not over and not killed */
    thread *some[THREADS_MAX]; /* for choosing: stacks of coroutines are small */
    int count;
    int live_count;
    thread *here; /* has the token */
    int64_t now_us;
    int64_t steps;
    uint64_t stirs;
    uint64_t trace;
    step last[LAST];
};

static const char *const state_names[] = {"ready",         "waits for a lock", "waits",
                                          "waits for its", "is over",          "was killed"};

/* ---- choosing */

static hf_simsched *sim_of(hf_sched *sched)
{
    return (hf_simsched *)sched;
}

static void trace_add(hf_simsched *sim, uint64_t what)
{
    for (int i = 0; i < 8; i++) {
        sim->trace = (sim->trace ^ (what & 0xff)) * 0x100000001B3U;
        what >>= 8;
    }
}

static void sim_stuck(hf_simsched *sim, const char *why)
{
    if (sim->o.stuck)
        sim->o.stuck(sim->o.ctx, sim, why);
    (void)fprintf(stderr, "%s\n", why);
    hf_simsched_print(sim, stderr);
    abort();
}

static void thread_ready(thread *who, bool woken)
{
    who->state = THREAD_READY;
    who->on = NULL;
    who->woken = woken;
}

/* Whoever waits for the thing; for one of them the order decides. */
static void waiting_wake(hf_simsched *sim, thread_state state, const void *on, bool all)
{
    size_t count = 0;

    for (int i = 0; i < sim->live_count; i++)
        if (sim->live[i]->state == state && sim->live[i]->on == on)
            sim->some[count++] = sim->live[i];
    if (!all && count > 1) {
        sim->some[0] = sim->some[hf_rng_below(&sim->order, count)];
        count = 1;
    }
    for (size_t i = 0; i < count; i++)
        thread_ready(sim->some[i], true);
}

static void due_wake(hf_simsched *sim)
{
    for (int i = 0; i < sim->live_count; i++) {
        thread *who = sim->live[i];

        if (who->state == THREAD_WAITS && who->until_us <= sim->now_us)
            thread_ready(who, false);
    }
}

/* Someone who waits for a condition wakes for no reason. */
static void spurious_wake(hf_simsched *sim)
{
    thread *who = sim->live[hf_rng_below(&sim->order, (uint64_t)sim->live_count)];

    if (who->state == THREAD_WAITS && who->on && !who->exact)
        thread_ready(who, true);
}

/* Nobody can run: the time goes on to when somebody can. */
static void time_jump(hf_simsched *sim)
{
    int64_t next_us = INT64_MAX;

    for (int i = 0; i < sim->live_count; i++)
        if (sim->live[i]->state == THREAD_WAITS && sim->live[i]->until_us < next_us)
            next_us = sim->live[i]->until_us;
    if (next_us == INT64_MAX)
        sim_stuck(sim, "everybody waits for ever");
    sim->now_us = next_us;
    due_wake(sim);
}

static thread *next_choose(hf_simsched *sim)
{
    thread **ready = sim->some;
    size_t count = 0;

    for (;;) {
        for (int i = 0; i < sim->live_count; i++)
            if (sim->live[i]->state == THREAD_READY)
                ready[count++] = sim->live[i];
        if (count)
            break;
        time_jump(sim);
    }
    for (int tries = 0; tries < 2; tries++) {
        thread *who = count == 1 ? ready[0] : ready[hf_rng_below(&sim->order, count)];

        if (count == 1 || !who->slow || hf_rng_below(&sim->order, SLOW_TURNS) == 0)
            return who;
    }
    return ready[hf_rng_below(&sim->order, count)];
}

static void turn_wait(thread *self)
{
    while (sem_wait(&self->turn) != 0)
        ;
}

/* The token goes to `next`; the caller goes on when it comes back. */
static void token_give(hf_simsched *sim, thread *next)
{
    thread *self = sim->here;

    if (next == self)
        return;
    sim->here = next;
    HF_ASSERT(sem_post(&next->turn) == 0);
    turn_wait(self);
}

/* One step: time passes, sleepers wake, and somebody goes on: the caller, too, if it is ready. */
static void step_take(hf_simsched *sim, char what, int64_t us)
{
    thread *self = sim->here;

    sim->last[sim->steps++ % LAST] = (step){sim->now_us, self->number, what};
    sim->now_us += us;
    trace_add(sim, (uint64_t)self->number << 8 | (uint64_t)what);
    if (sim->steps > sim->o.steps_max)
        sim_stuck(sim, "it does not come to an end");
    due_wake(sim);
    if (sim->o.spurious_one_in && hf_rng_below(&sim->order, sim->o.spurious_one_in) == 0)
        spurious_wake(sim);
    if (self->state == THREAD_READY && sim->o.switch_one_in > 1 && what != 'y' &&
        hf_rng_below(&sim->order, sim->o.switch_one_in) != 0)
        return;
    token_give(sim, next_choose(sim));
}

/* The caller sleeps until it is woken or the time comes. True: it was woken. */
static bool self_sleep(hf_simsched *sim, thread_state state, const void *on, int64_t until_us,
                       char what)
{
    thread *self = sim->here;

    self->state = state;
    self->on = on;
    self->until_us = until_us;
    step_take(sim, what, STEP_US);
    return self->woken;
}

/* ---- the hooks */

static thread *thread_add(hf_simsched *sim, const char *name)
{
    thread *made = calloc(1, sizeof(*made));

    HF_ASSERT(made && sim->count < THREADS_MAX && sem_init(&made->turn, 0, 0) == 0);
    made->number = sim->count;
    made->group = made->group_of_children = sim->here ? sim->here->group_of_children : 0;
    made->slow = sim->o.slow_one_in && hf_rng_below(&sim->order, sim->o.slow_one_in) == 0;
    (void)snprintf(made->name, sizeof(made->name), "%s", name);
    sim->threads[sim->count++] = made;
    sim->live[sim->live_count++] = made;
    return made;
}

static void thread_remove(hf_simsched *sim, const thread *gone)
{
    int left = 0;

    for (int i = 0; i < sim->live_count; i++)
        if (sim->live[i] != gone)
            sim->live[left++] = sim->live[i];
    sim->live_count = left;
}

/* It is ready from here on, and waits for its turn as soon as it is there. */
static void *sim_start(hf_sched *sched, const char *name)
{
    return thread_add(sim_of(sched), name);
}

static void sim_enter(hf_sched *sched, void *slot)
{
    (void)sched;
    turn_wait(slot);
}

static void sim_leave(hf_sched *sched, void *slot)
{
    hf_simsched *sim = sim_of(sched);
    thread *self = slot;
    thread *next;

    self->state = THREAD_OVER;
    thread_remove(sim, self);
    waiting_wake(sim, THREAD_JOINS, self, true);
    trace_add(sim, (uint64_t)self->number << 8 | 'e');
    next = next_choose(sim);
    sim->here = next;
    HF_ASSERT(sem_post(&next->turn) == 0);
}

static void sim_join(hf_sched *sched, void *slot)
{
    hf_simsched *sim = sim_of(sched);
    const thread *other = slot;

    while (other->state != THREAD_OVER)
        (void)self_sleep(sim, THREAD_JOINS, other, INT64_MAX, 'j');
}

static void mutex_take(hf_simsched *sim, hf_mutex *mutex)
{
    while (pthread_mutex_trylock(&mutex->handle) != 0)
        (void)self_sleep(sim, THREAD_LOCKS, mutex, INT64_MAX, 'm');
}

static void mutex_give(hf_simsched *sim, hf_mutex *mutex)
{
    HF_ASSERT(pthread_mutex_unlock(&mutex->handle) == 0);
    waiting_wake(sim, THREAD_LOCKS, mutex, true);
}

static void sim_lock(hf_sched *sched, hf_mutex *mutex)
{
    step_take(sim_of(sched), 'l', STEP_US);
    mutex_take(sim_of(sched), mutex);
}

static void sim_unlock(hf_sched *sched, hf_mutex *mutex)
{
    mutex_give(sim_of(sched), mutex);
    step_take(sim_of(sched), 'u', STEP_US);
}

static bool sim_wait(hf_sched *sched, hf_cond *cond, hf_mutex *mutex, int64_t mono_us)
{
    hf_simsched *sim = sim_of(sched);
    bool woken;

    mutex_give(sim, mutex);
    woken = self_sleep(sim, THREAD_WAITS, cond, mono_us, 'w');
    mutex_take(sim, mutex);
    return woken;
}

static void sim_wake(hf_sched *sched, hf_cond *cond, bool all)
{
    waiting_wake(sim_of(sched), THREAD_WAITS, cond, all);
    step_take(sim_of(sched), all ? 'b' : 's', STEP_US);
}

static void sim_yield(hf_sched *sched)
{
    step_take(sim_of(sched), 'y', YIELD_US);
}

static int64_t sim_time_us(hf_sched *sched, bool wall)
{
    const hf_simsched *sim = sim_of(sched);

    return wall ? sim->o.wall_us + sim->now_us : sim->now_us;
}

static void sim_random(hf_sched *sched, void *out, size_t bytes)
{
    hf_rng_fill(&sim_of(sched)->random, out, bytes);
}

static void sim_stir(hf_sched *sched)
{
    hf_simsched *sim = sim_of(sched);

    sim->stirs++;
    waiting_wake(sim, THREAD_WAITS, &sim->stirs, true);
    step_take(sim, 'i', STEP_US);
}

static void sim_doze(hf_sched *sched, int64_t mono_us)
{
    hf_simsched *sim = sim_of(sched);
    thread *self = sim->here;

    if (self->stirred == sim->stirs)
        (void)self_sleep(sim, THREAD_WAITS, &sim->stirs, mono_us, 'd');
    self->stirred = sim->stirs;
}

/* ---- for the world */

hf_simsched *hf_simsched_begin(const hf_simsched_options *options)
{
    hf_simsched *sim = calloc(1, sizeof(*sim));

    HF_ASSERT(sim && !hf_sched_here());
    sim->o = *options;
    if (!sim->o.steps_max)
        sim->o.steps_max = STEPS_MAX;
    if (!sim->o.wall_us)
        sim->o.wall_us = WALL_US;
    sim->trace = 0xCBF29CE484222325U;
    hf_rng_init_seeded(&sim->order, options->seed * 3);
    hf_rng_init_seeded(&sim->rng, options->seed * 3 + 1);
    hf_rng_init_seeded(&sim->random, options->seed * 3 + 2);
    sim->hooks = (hf_sched){.start = sim_start,
                            .enter = sim_enter,
                            .leave = sim_leave,
                            .join = sim_join,
                            .lock = sim_lock,
                            .unlock = sim_unlock,
                            .wait = sim_wait,
                            .wake = sim_wake,
                            .yield = sim_yield,
                            .time_us = sim_time_us,
                            .random = sim_random,
                            .stir = sim_stir,
                            .doze = sim_doze};
    sim->here = thread_add(sim, "world");
    sim->here->slow = false;
    hf_sched_set(&sim->hooks);
    return sim;
}

void hf_simsched_end(hf_simsched *sim)
{
    HF_ASSERT(sim->live_count == 1);
    hf_sched_set(NULL);
    for (int i = 0; i < sim->count; i++) {
        if (sim->threads[i]->state == THREAD_KILLED)
            continue; /* it waits for its turn for ever */
        HF_ASSERT(sem_destroy(&sim->threads[i]->turn) == 0);
        free(sim->threads[i]);
    }
    free(sim);
}

uint64_t hf_simsched_below(hf_simsched *sim, uint64_t bound)
{
    return hf_rng_below(&sim->rng, bound);
}

bool hf_simsched_one_in(hf_simsched *sim, uint32_t count)
{
    return count && hf_rng_below(&sim->rng, count) == 0;
}

int64_t hf_simsched_now_us(const hf_simsched *sim)
{
    return sim->now_us;
}

int64_t hf_simsched_steps(const hf_simsched *sim)
{
    return sim->steps;
}

uint64_t hf_simsched_trace(const hf_simsched *sim)
{
    return sim->trace;
}

void hf_simsched_note(hf_simsched *sim, uint64_t what)
{
    trace_add(sim, what);
}

void hf_simsched_sleep(hf_simsched *sim, int64_t us)
{
    (void)self_sleep(sim, THREAD_WAITS, NULL, sim->now_us + us, 'z');
}

bool hf_simsched_await(hf_simsched *sim, const void *on, int64_t until_us)
{
    thread *self = sim->here;
    bool woken;

    self->exact = true;
    woken = self_sleep(sim, THREAD_WAITS, on, until_us, 'a');
    self->exact = false;
    return woken;
}

void hf_simsched_wake(hf_simsched *sim, const void *on)
{
    waiting_wake(sim, THREAD_WAITS, on, true);
}

void hf_simsched_step(hf_simsched *sim)
{
    step_take(sim, 'p', STEP_US);
}

void hf_simsched_group(hf_simsched *sim, int group)
{
    sim->here->group_of_children = group;
}

int hf_simsched_group_here(const hf_simsched *sim)
{
    return sim->here->group;
}

void hf_simsched_kill(hf_simsched *sim, int group)
{
    HF_ASSERT(sim->here->group != group);
    for (int i = sim->live_count - 1; i >= 0; i--) {
        thread *who = sim->live[i];

        if (who->group != group)
            continue;
        who->state = THREAD_KILLED;
        thread_remove(sim, who);
    }
    trace_add(sim, (uint64_t)group << 8 | 'k');
}

void hf_simsched_calm(hf_simsched *sim)
{
    sim->o.spurious_one_in = 0;
    sim->o.slow_one_in = 0;
    for (int i = 0; i < sim->count; i++)
        sim->threads[i]->slow = false;
}

void hf_simsched_print(const hf_simsched *sim, FILE *out)
{
    int64_t from = sim->steps > LAST ? sim->steps - LAST : 0;

    (void)fprintf(out, "%lld steps, %lld us; trace %016llx\n", (long long)sim->steps,
                  (long long)sim->now_us, (unsigned long long)sim->trace);
    for (int i = 0; i < sim->live_count; i++) {
        const thread *who = sim->live[i];
        bool times = who->state == THREAD_WAITS && who->until_us != INT64_MAX;

        (void)fprintf(out, "  %3d %-15s group %d %s%s", who->number, who->name, who->group,
                      state_names[who->state], who->state == THREAD_JOINS ? " thread" : "");
        if (times)
            (void)fprintf(out, " until %lld", (long long)who->until_us);
        (void)fprintf(out, "%s\n", who == sim->here ? "  <- here" : "");
    }
    (void)fprintf(out, "last steps (l lock, m held, u unlock, w wait, s signal, b broadcast, "
                       "y yield, j join, z sleep):");
    for (int64_t i = from; i < sim->steps; i++)
        (void)fprintf(out, " %d%c", sim->last[i % LAST].thread, sim->last[i % LAST].what);
    (void)fprintf(out, "\n");
}
