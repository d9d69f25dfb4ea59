/* served.h: the world of the way "served": a server over an engine on a place, and the program of
   the case as a worker behind it, over real HTTP on loopback. */
#ifndef HF_TEST_LIB_SERVED_H
#define HF_TEST_LIB_SERVED_H

#include "lib/engine.h"
#include "lib/way.h"

/* Fails the case when it cannot be had. */
hf_way *hf_served_open(hf_test_place *place, const hf_app *app, int64_t now_us);

#endif
