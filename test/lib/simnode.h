/* simnode.h: an engine in a simulation (simsched.h) as a process of its own: it begins, answers
   calls on threads of its own as a server does, or behind the server itself (simclient.h), is
   killed at any step, with the machine's power or without, and comes back on what its disk has
   then. All functions but hf_simnode_kill and hf_simnode_free may let others run; none needs a
   lock. */
#ifndef HF_TEST_LIB_SIMNODE_H
#define HF_TEST_LIB_SIMNODE_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/holdfast.h"
#include "lib/simsched.h"
#include "lib/simvfs.h"

typedef struct hf_simnode hf_simnode;

typedef struct hf_simnode_options {
    hf_simsched *sim;
    const hf_app *app;
    uint32_t slow_sync_one_in; /* syncs that take up to slow_sync_us; 0: none */
    int64_t slow_sync_us;
    void (*opened)(hf_engine *engine); /* on a thread of the node, before it answers calls */
    const char *folder; /* for the socket of a server in front of the engine; NULL: there is none */
} hf_simnode_options;

hf_simnode *hf_simnode_new(const hf_simnode_options *options);
void hf_simnode_free(hf_simnode *node); /* it is down */

/* Begins, and waits until it answers. False: it could not; hf_simnode_why says why. */
bool hf_simnode_boot(hf_simnode *node);
const char *hf_simnode_why(const hf_simnode *node);

/* Ends in good order: every thread of it has ended when this returns. */
void hf_simnode_stop(hf_simnode *node);

/* As kill -9, or as if the machine had lost its power. Calls under way are lost. */
void hf_simnode_kill(hf_simnode *node, bool power);

/* Grows by one with each begin; 0: it is down. */
int hf_simnode_life(const hf_simnode *node);

/* Makes a call on a thread of the node and waits for it. False: the node went meanwhile, or was not
   there: what came of the call is not known. */
bool hf_simnode_call(hf_simnode *node, void (*call)(hf_engine *engine, void *arg), void *arg);

/* The disk of the newest life, for whoever checks it; syncs are not slow any more. */
void hf_simnode_calm(hf_simnode *node);
const char *hf_simnode_vfs(const hf_simnode *node);
const char *hf_simnode_address(void);

/* Where the server of a life listens, without "unix:". */
enum { HF_SIMNODE_SOCKET = 100 };
void hf_simnode_socket(const hf_simnode *node, int life, char out_path[HF_SIMNODE_SOCKET]);

#endif
