/* nodes.h: the world of the way "nodes": two engines with threads of their own on one PostgreSQL
   store, each with half of the types of the case's program. The first type of workflow or machine
   is brought by one of them and the first activity by the other, the second ones the other way
   round. Commands go to the first node, whoever owns the run, and what is looked up is asked at the
   second.
   */
#ifndef HF_TEST_LIB_NODES_H
#define HF_TEST_LIB_NODES_H

#include "lib/engine.h"
#include "lib/way.h"

/* `swapped`: the second node has the first type. Fails the case when it cannot be had. */
hf_way *hf_nodes_open(hf_test_place *place, const hf_app *app, int64_t now_us, bool swapped);

#endif
