/* served.h: the world of the way "served": a server over an engine on a place, on a virtual clock,
   and the program of the case as a worker behind it, over real HTTP on loopback. Between two moves
   of the case the core is held, so that here, too, nothing moves unless it is told to.

   The world is quiet when the core has nothing to do, nothing flies to the store, no worker holds
   or is about to get a task, and all polls of the worker are back; then the clock may jump. Used by
   kit.c, from the thread of the case. */
#ifndef HF_TEST_LIB_SERVED_H
#define HF_TEST_LIB_SERVED_H

#include "holdfast/holdfast.h"
#include "lib/engine.h"

typedef struct hf_served hf_served;

/* Fails the case when it cannot be had. The worker's handle is hf_served_worker. */
hf_served *hf_served_open(hf_test_place *place, const hf_app *app, int64_t now_us);
void hf_served_close(hf_served *served);

hf_engine *hf_served_worker(const hf_served *served);
hf_engine *hf_served_engine(const hf_served *served); /* it changes with hf_served_restart */
int64_t hf_served_now_us(const hf_served *served);

/* Lets the core go on; hf_served_settle holds it again. */
void hf_served_go(hf_served *served);

/* Does all that can be done without moving the clock. From another thread than the case's (an
   activity that lets time pass) only what the core can do at once. */
void hf_served_settle(hf_served *served);

/* Moves the clock so far, from one thing that falls due to the next. */
void hf_served_advance(hf_served *served, hf_ms by);

/* Moves the clock and nothing else. */
void hf_served_skip(hf_served *served, hf_ms by);

/* hf_test_drain: pauses before another attempt count as over. */
void hf_served_drain(hf_served *served);

/* The server and its engine end and begin again at the same address: what was in memory is gone,
   and the worker replays. */
void hf_served_restart(hf_served *served);

/* hf_set at the server, which begins anew with it. */
hf_status hf_served_set(hf_served *served, const char *name, const char *value);

/* hf_test_status: what the code waits for is found by a replay in the worker. */
const char *hf_served_status(hf_served *served, const char *id);

#endif
