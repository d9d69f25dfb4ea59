/* takeover.c: a core goes on although a thread is lost in user code. Another thread takes the seat:
   everything of the core is its own from then on, except the run whose code is away. That one is
   replaced by a blank one that keeps what came for it; the thread that is away owns the old one
   and frees it when the code comes back. Coroutines of other runs are thrown away, because they
   never move between threads.

   Late results are fenced by the seat alone: the thread that comes back finds it lost and commits
   nothing. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/core_impl.h"
#include "engine/lent.h"

enum { PATIENCE_DOUBLED_MAX = 4 };

int64_t hf_core_lost(const hf_core *core, int64_t *out_ever)
{
    if (out_ever)
        *out_ever = atomic_load(&core->lost_ever);
    return atomic_load(&core->lost);
}

int64_t hf_core_stalled(const hf_core *core, int64_t run)
{
    for (size_t i = 0; i < HF_BREADCRUMB_RUNS; i++)
        if (atomic_load(&core->lost_runs[i]) == run)
            return run;
    return 0;
}

bool hf_core_away(const hf_core *core, int64_t run)
{
    const core_late *late = hf_map_int_get(core->late, (uint64_t)run);

    return late && late->seat;
}

int64_t hf_core_patience_us(const hf_core *core, int64_t run)
{
    const core_late *late = hf_map_int_get(core->late, (uint64_t)run);
    unsigned doubled = late ? late->times : 0;

    return (HF_STALL_MS * INT64_C(1000))
           << (doubled < PATIENCE_DOUBLED_MAX ? doubled : PATIENCE_DOUBLED_MAX);
}

void hf_core_in_time(hf_core *core, int64_t run)
{
    core_late *late = hf_map_int_get(core->late, (uint64_t)run);

    if (!late || late->seat)
        return;
    (void)hf_map_int_remove(core->late, (uint64_t)run);
    hf_alloc_free(late);
}

/* ---- seats */

static bool slot_take(hf_core *core, size_t *out_slot)
{
    bool found = false;

    hf_mutex_lock(&core->lock);
    for (size_t i = 0; i < HF_BREADCRUMB_RUNS && !found; i++) {
        found = !core->slots[i];
        if (found) {
            core->slots[i] = true;
            *out_slot = i;
        }
    }
    hf_mutex_unlock(&core->lock);
    return found;
}

static void slot_give(hf_core *core, size_t slot)
{
    hf_mutex_lock(&core->lock);
    core->slots[slot] = false;
    hf_mutex_unlock(&core->lock);
}

hf_status hf_core_sit(hf_core *core, hf_seat **out_seat, hf_err *err)
{
    size_t slot = 0;
    hf_seat *seat;

    if (!slot_take(core, &slot))
        return hf_err_set(err, HF_BUSY, "all breadcrumbs of workflow code are in use");
    seat = hf_seat_new(slot);
    if (!seat) {
        slot_give(core, slot);
        return hf_err_nomem(err, "a seat");
    }
    if (out_seat) {
        *out_seat = seat;
        return HF_OK;
    }
    core->seat = seat;
    hf_stall_watch(core->stall, seat);
    return HF_OK;
}

void hf_core_unsit(hf_core *core, hf_seat *seat)
{
    slot_give(core, seat->slot);
    hf_seat_drop(seat);
}

hf_seat *hf_core_seat(hf_core *core)
{
    return core->seat;
}

void hf_core_stand(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    while (core->late && hf_map_int_next(core->late, &at, &key, &item)) {
        core_late *late = item;

        if (late->seat) {
            hf_seat_ignore(late->seat);
            hf_seat_drop(late->seat);
        }
        hf_alloc_free(late);
    }
    if (core->late)
        hf_map_int_clear(core->late);
    if (!core->seat)
        return;
    hf_stall_ignore(core->stall, core->seat);
    hf_seat_drop(core->seat);
    core->seat = NULL;
}

/* ---- the takeover */

/* The thread is back, on that thread; the core is still there, or nobody would listen. */
static void late_back(void *ctx, hf_seat *seat)
{
    hf_core *core = ctx;
    core_message *message = hf_alloc(sizeof(*message));

    (void)hf_breadcrumb_put(core->crumb, seat->slot, 0);
    atomic_store(&core->lost_runs[seat->slot], 0);
    slot_give(core, seat->slot);
    (void)atomic_fetch_sub(&core->lost, 1);
    if (!message)
        return; /* the run waits for the next start */
    *message = (core_message){.kind = CORE_MESSAGE_BACK, .run = atomic_load(&seat->run)};
    hf_core_post(core, message);
}

void hf_core_came_back(hf_core *core, int64_t key)
{
    core_late *late = hf_map_int_get(core->late, (uint64_t)key);
    live_run *run;

    if (!late || !late->seat)
        return;
    hf_seat_ignore(
        late->seat); /* its thread may still be telling us: it is through when this returns */
    hf_seat_drop(late->seat);
    late->seat = NULL;
    if (late->unborn) {
        hf_core_in_time(core, key);
        return;
    }
    run = hf_core_live(core, key);
    if (!run)
        return;
    run->look = true;
    hf_core_ready(core, run);
}

/* Remembers who is away. */
static bool late_note(hf_core *core, hf_seat *old, int64_t key, bool unborn)
{
    core_late *late = hf_map_int_get(core->late, (uint64_t)key);
    hf_err err;

    if (!late) {
        late = hf_alloc(sizeof(*late));
        if (!late || hf_map_int_put(core->late, (uint64_t)key, late, NULL, &err)) {
            hf_alloc_free(late);
            hf_seat_drop(old);
            return false;
        }
    }
    HF_ASSERT(!late->seat);
    late->times++;
    late->unborn = unborn;
    late->seat = old; /* the core's hold on it moves here */
    atomic_store(&core->lost_runs[old->slot], key);
    (void)atomic_fetch_add(&core->lost, 1);
    (void)atomic_fetch_add(&core->lost_ever, 1);
    return true;
}

/* What came for the run stays; what the code had of it goes with the code. */
static live_run *run_replace(hf_core *core, live_run *old)
{
    live_run *run = hf_live_new(core, old->key);
    hf_err err;

    if (!run || hf_map_int_put(core->runs, (uint64_t)old->key, run, NULL, &err)) {
        if (run)
            hf_live_free(core, run);
        return NULL;
    }
    hf_turn_return(old);
    run->look = true;
    run->ended = old->ended;
    run->due = old->due;
    run->starts = old->starts;
    run->doom = old->doom;
    run->check_ids = old->check_ids;
    old->ended = NULL;
    old->due = NULL;
    old->starts = NULL;
    hf_list_remove(&old->place);
    hf_list_remove(&old->hunger);
    if (old->ready) {
        live_run **at = &core->ready;

        while (*at != old)
            at = &(*at)->next_ready;
        run->ready = true;
        run->next_ready = old->next_ready;
        *at = run;
        if (!run->next_ready)
            core->ready_tail = &run->next_ready;
        old->ready = false;
    }
    return run;
}

/* Coroutines that the lost thread made: those of staged units are needed until the commit. */
static void coroutines_drop(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    core->held = 0;
    while (hf_map_int_next(core->runs, &at, &key, &item)) {
        live_run *run = item;

        run->counted = 0;
        hf_live_count(core, run);
        if (run->dirty)
            run->foreign = true;
        else
            hf_live_forget(core, run);
    }
}

/* The run is in no store, and will never be: its caller starts another in its place. */
static void run_unbear(hf_core *core, live_run *run)
{
    (void)hf_map_int_remove(core->runs, (uint64_t)run->key);
    hf_core_disarm(core, run->key);
    hf_list_remove(&run->place);
}

bool hf_core_take_over(hf_core *core, hf_seat *old, uint64_t look, hf_seat *seat)
{
    live_run *stuck;
    bool unborn;
    bool kept;
    hf_err err;

    if (!hf_seat_take(old, look))
        return false;
    stuck = core->inside;
    hf_stall_ignore(core->stall, old);
    core->seat = seat;
    core->inside = NULL;
    hf_stall_watch(core->stall, seat);
    unborn = stuck->unborn;
    if (unborn)
        run_unbear(core, stuck);
    hf_lent_end(stuck); /* its caller waits no longer */
    kept =
        (hf_map_int_get(core->runs, (uint64_t)stuck->key) != stuck || run_replace(core, stuck)) &&
        late_note(core, old, stuck->key, unborn);
    hf_seat_taken(old, kept ? late_back : NULL, core);
    if (!kept)
        hf_core_fail(core, hf_err_nomem(&err, "a run whose code does not come back"), &err);
    coroutines_drop(core);
    return true;
}
