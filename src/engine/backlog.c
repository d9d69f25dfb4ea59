/* backlog.c: see backlog.h. When in doubt, because the task cannot be read or there is no memory to
   remember it, a run is made ready at once. */
#include "engine/backlog.h"

#include "base/alloc.h"
#include "engine/turnstile.h"

enum { PASSING_MAX = 64 }; /* beyond the window */

struct core_waiting {
    hf_deadline turn;
    int64_t run;
    bool pass_on;
};

static void run_ready(hf_core *core, int64_t key, bool pass_on)
{
    live_run *run = hf_core_live(core, key);

    if (!run)
        return;
    run->look = true;
    run->roused = false;
    run->pass_on |= pass_on;
    hf_core_ready(core, run);
}

static bool window_full(const hf_core *core)
{
    return core->ready_count + hf_deadlines_count(core->steps) >= HF_BACKLOG_WINDOW;
}

/* Whether a run of that place passes all that wait for a place in the pool. Priorities decide, not
   moments: whoever waits here came before those in memory were given their place, so that by the
   moment all of them would pass. And few at once do: those that are ready and have not had their
   turn may pass as well. */
static bool passes(const hf_core *core, int64_t order)
{
    const hf_deadline *first = hf_deadlines_peek(core->steps);

    return first && core->ready_count < PASSING_MAX && hf_turnstile_before(order, first->due_us);
}

/* What its task says; 0: it has none, or it could not be read. */
static int64_t priority_read(hf_core *core, int64_t run)
{
    const hf_db_value key = hf_db_int(run);
    bool found = false;
    int64_t priority = 0;

    if (hf_db_number(core->db, HF_STMT_TASK_PRIORITY, &key, 1, &found, &priority, NULL))
        return 0;
    return found ? priority : 0;
}

/* False: it does not wait. */
static bool run_wait(hf_core *core, int64_t run, int64_t priority, bool pass_on)
{
    int64_t order = hf_turnstile_place(core, priority);
    struct core_waiting *waiting;

    if (!priority)
        return false;
    waiting = hf_alloc(sizeof(*waiting));
    if (!waiting)
        return false;
    *waiting =
        (struct core_waiting){.turn = {.due_us = order, .key = (uint64_t)run, .ref = waiting},
                              .run = run,
                              .pass_on = pass_on};
    if (hf_map_int_put(core->backlog_runs, (uint64_t)run, waiting, NULL, NULL)) {
        hf_alloc_free(waiting);
        return false;
    }
    if (hf_deadlines_push(core->backlog, &waiting->turn, NULL)) {
        (void)hf_map_int_remove(core->backlog_runs, (uint64_t)run);
        hf_alloc_free(waiting);
        return false;
    }
    return true;
}

void hf_backlog_hint(hf_core *core, int64_t run, int64_t priority, bool pass_on)
{
    struct core_waiting *waiting = hf_map_int_get(core->backlog_runs, (uint64_t)run);

    if (waiting) {
        waiting->pass_on |= pass_on;
        return;
    }
    if (window_full(core) && !hf_map_int_get(core->runs, (uint64_t)run) &&
        run_wait(core, run, priority ? priority : priority_read(core, run), pass_on))
        return;
    run_ready(core, run, pass_on);
}

bool hf_backlog_holds(const hf_core *core, int64_t key)
{
    const live_run *run = hf_map_int_get(core->runs, (uint64_t)key);

    if (run)
        return run->dirty || run->ready || run->stepping || hf_deadline_queued(&run->turn);
    return hf_map_int_get(core->backlog_runs, (uint64_t)key) != NULL;
}

void hf_backlog_admit(hf_core *core)
{
    hf_deadline *first;

    while ((first = hf_deadlines_peek(core->backlog)) && !core->failure.status &&
           (!window_full(core) || passes(core, first->due_us))) {
        struct core_waiting *waiting = first->ref;

        hf_deadlines_remove(core->backlog, first);
        (void)hf_map_int_remove(core->backlog_runs, (uint64_t)waiting->run);
        run_ready(core, waiting->run, waiting->pass_on);
        hf_alloc_free(waiting);
    }
}

void hf_backlog_free(hf_core *core)
{
    hf_deadline *first;

    while (core->backlog && (first = hf_deadlines_pop(core->backlog)))
        hf_alloc_free(first->ref);
    hf_deadlines_free(core->backlog);
    hf_map_int_free(core->backlog_runs);
    core->backlog = NULL;
    core->backlog_runs = NULL;
}
