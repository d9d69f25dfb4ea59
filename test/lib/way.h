/* way.h: a world that the program of a case is in when it does not have the store to itself: behind
   a server (served.h), or as two nodes (nodes.h). Everything in it has threads of its own and one
   virtual clock. Between two moves of the case the cores are held, so that here, too, nothing moves
   unless it is told to.

   The world is at rest when no core has anything to do, nothing flies to the store, nobody holds or
   is about to get a task, and all polls are back; then the clock may jump. Used by kit.c, from the
   thread of the case. */
#ifndef HF_TEST_LIB_WAY_H
#define HF_TEST_LIB_WAY_H

#include <pthread.h>

#include "holdfast/holdfast.h"
#include "lib/engine.h"
#include "lib/rein.h"

typedef struct hf_way hf_way;

typedef struct hf_way_moves {
    void (*close)(hf_way *way);
    void (*go)(hf_way *way);   /* lets everything go on by itself */
    void (*hold)(hf_way *way); /* again */
    hf_core_state (*look)(hf_way *way);
    /* Whether it is at rest; *out_stamp changes with everything that was done. */
    bool (*rests)(hf_way *way, int64_t *out_stamp);
    const char *(*tell)(const hf_way *way); /* what it looks like, for people */
    int64_t (*batch_us)(const hf_way *way); /* when a batch goes on */
    void (*moved)(hf_way *way);             /* the clock was */
    void (*passed)(hf_way *way);            /* as much time as it was to move, or a part of it */
    /* What is in memory is gone, and everything is replayed. `sql` is done to the store meanwhile,
       or nothing (NULL). */
    void (*restart)(hf_way *way, const char *sql);
    /* hf_set; everything begins anew with it. */
    hf_status (*set)(hf_way *way, const char *name, const char *value);
    /* hf_test_fail */
    void (*trip)(hf_way *way, const char *activity, int times, const char *type);
    /* hf_test_status: what the code waits for is found by a replay of it. */
    const char *(*status)(hf_way *way, const char *id);
} hf_way_moves;

struct hf_way {
    const hf_way_moves *moves;
    pthread_t thread;  /* of the case */
    hf_engine *handle; /* of the case, for commands */
    hf_engine *home;   /* it has the store; it may change with a restart */
    hf_clock *clock;   /* as `home` */
};

int64_t hf_way_now_us(const hf_way *way);

/* Does all that can be done without moving the clock. From another thread than the case's (an
   activity that lets time pass) only what the cores can do at once. */
void hf_way_settle(hf_way *way);

/* Moves the clock so far, from one thing that falls due to the next. */
void hf_way_advance(hf_way *way, hf_ms by);

/* Does it to the store, on a connection of its own. */
void hf_way_sql(hf_test_place *place, const char *sql);

/* hf_test_drain: pauses before another attempt count as over. */
void hf_way_drain(hf_way *way);

#endif
