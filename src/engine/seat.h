/* seat.h: a thread's place at a core. Whoever sits there owns everything of the core. While user
   code runs, the thread cannot speak for itself: somebody else may then take its place, and the
   thread finds out when the code comes back. One atomic word decides who was first.

   The word is a count of turns and one of three states. Only the thread itself moves it between
   HOST and CODE; anybody may move it from CODE to LOST, and nothing moves it from there. Whatever
   the thread touches in state HOST is its own. After the loss it may touch nothing but what it took
   with it: the run whose code it was in, and the seat. */
#ifndef HF_ENGINE_SEAT_H
#define HF_ENGINE_SEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/thread.h"

typedef struct hf_seat {
    _Atomic uint64_t turn;
    _Atomic int64_t run;         /* whose code runs */
    _Atomic int64_t patience_us; /* that this code is given */
    size_t slot;                 /* of the breadcrumb */
    /* the watcher's (stall.c), under its lock */
    hf_list place;
    uint64_t seen;
    uint64_t told;
    int64_t since_us;
    /* after the loss */
    hf_mutex lock;
    void (*back)(void *ctx, struct hf_seat *seat); /* called once; NULL: nobody wants to know */
    void *back_ctx;
    _Atomic int holders;
} hf_seat;

/* Held by the caller. NULL when memory ran out. */
HF_NODISCARD hf_seat *hf_seat_new(size_t slot);
void hf_seat_hold(hf_seat *seat);
void hf_seat_drop(hf_seat *seat); /* frees it with the last hold; NULL is allowed */

/* The seat's thread: user code of a run begins, and has come back. False: the seat is lost. */
void hf_seat_enter(hf_seat *seat, int64_t run, int64_t patience_us);
HF_NODISCARD bool hf_seat_exit(hf_seat *seat);

/* The seat's thread, inside code that calls back: it needs what is the core's. False: the seat is
   lost, nothing may be touched. *out_inside tells hf_seat_resume what to go back to. */
HF_NODISCARD bool hf_seat_pause(hf_seat *seat, bool *out_inside);
void hf_seat_resume(hf_seat *seat, bool inside);

/* Any thread: the word as it is now, and whether it says that code runs. */
uint64_t hf_seat_look(hf_seat *seat);
bool hf_seat_codes(uint64_t look);

/* Any thread: the attempt to take the seat from the code that `look` speaks of. The thread that
   loses it waits in hf_seat_exit until hf_seat_taken; `back` is called on that thread when it has
   let go of everything, under the seat's lock. */
HF_NODISCARD bool hf_seat_take(hf_seat *seat, uint64_t look);
void hf_seat_taken(hf_seat *seat, void (*back)(void *ctx, hf_seat *seat), void *ctx);
bool hf_seat_lost(hf_seat *seat);

/* Whoever took it does not want to hear of it any more. */
void hf_seat_ignore(hf_seat *seat);

/* The thread that lost it, as its last word. */
void hf_seat_return(hf_seat *seat);

#endif
