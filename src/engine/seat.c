/* seat.c: see seat.h. */
#include "engine/seat.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { SEAT_HOST, SEAT_CODE, SEAT_LOST, SEAT_STATES };

static uint64_t word_next(uint64_t word, unsigned state)
{
    return (word / SEAT_STATES + 1) * SEAT_STATES + state;
}

hf_seat *hf_seat_new(size_t slot)
{
    hf_seat *seat = hf_alloc(sizeof(*seat));

    if (!seat)
        return NULL;
    if (hf_mutex_init(&seat->lock, NULL)) {
        hf_alloc_free(seat);
        return NULL;
    }
    hf_list_init(&seat->place);
    seat->slot = slot;
    atomic_store(&seat->holders, 1);
    return seat;
}

void hf_seat_hold(hf_seat *seat)
{
    (void)atomic_fetch_add(&seat->holders, 1);
}

void hf_seat_drop(hf_seat *seat)
{
    if (!seat || atomic_fetch_sub(&seat->holders, 1) != 1)
        return;
    HF_ASSERT(!hf_list_linked(&seat->place));
    hf_mutex_fini(&seat->lock);
    hf_alloc_free(seat);
}

/* The thread's own moves. False: somebody else moved it meanwhile, which can only be its loss. */
static bool word_move(hf_seat *seat, unsigned from, unsigned to)
{
    uint64_t word = atomic_load(&seat->turn);

    HF_ASSERT(word % SEAT_STATES == from || word % SEAT_STATES == SEAT_LOST);
    return word % SEAT_STATES == from &&
           atomic_compare_exchange_strong(&seat->turn, &word, word_next(word, to));
}

void hf_seat_enter(hf_seat *seat, int64_t run, int64_t patience_us)
{
    bool moved;

    atomic_store(&seat->run, run);
    atomic_store(&seat->patience_us, patience_us);
    moved = word_move(seat, SEAT_HOST, SEAT_CODE);
    HF_ASSERT(moved);
}

bool hf_seat_exit(hf_seat *seat)
{
    if (word_move(seat, SEAT_CODE, SEAT_HOST))
        return true;
    hf_mutex_lock(&seat->lock); /* whoever takes it may still be at it */
    hf_mutex_unlock(&seat->lock);
    return false;
}

bool hf_seat_pause(hf_seat *seat, bool *out_inside)
{
    *out_inside = atomic_load(&seat->turn) % SEAT_STATES != SEAT_HOST;
    return !*out_inside || word_move(seat, SEAT_CODE, SEAT_HOST);
}

void hf_seat_resume(hf_seat *seat, bool inside)
{
    bool moved = !inside || word_move(seat, SEAT_HOST, SEAT_CODE);

    HF_ASSERT(moved);
}

uint64_t hf_seat_look(hf_seat *seat)
{
    return atomic_load(&seat->turn);
}

bool hf_seat_codes(uint64_t look)
{
    return look % SEAT_STATES == SEAT_CODE;
}

bool hf_seat_take(hf_seat *seat, uint64_t look)
{
    HF_ASSERT(hf_seat_codes(look));
    hf_mutex_lock(&seat->lock);
    if (atomic_compare_exchange_strong(&seat->turn, &look, word_next(look, SEAT_LOST)))
        return true;
    hf_mutex_unlock(&seat->lock);
    return false;
}

void hf_seat_taken(hf_seat *seat, void (*back)(void *ctx, hf_seat *seat), void *ctx)
{
    seat->back = back;
    seat->back_ctx = ctx;
    hf_mutex_unlock(&seat->lock);
}

bool hf_seat_lost(hf_seat *seat)
{
    return atomic_load(&seat->turn) % SEAT_STATES == SEAT_LOST;
}

void hf_seat_ignore(hf_seat *seat)
{
    hf_mutex_lock(&seat->lock);
    seat->back = NULL;
    hf_mutex_unlock(&seat->lock);
}

void hf_seat_return(hf_seat *seat)
{
    hf_mutex_lock(&seat->lock);
    if (seat->back) /* under the lock: whoever stops listening knows that it is over */
        seat->back(seat->back_ctx, seat);
    hf_mutex_unlock(&seat->lock);
}
