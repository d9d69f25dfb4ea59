/* check_store.h: holdfast verify for tests. A program that is linked with the test library has
   every place (engine.h) checked when it is freed; a case that leaves a store broken on purpose
   sets hf_test_place_verify to NULL first. */
#ifndef HF_TEST_LIB_CHECK_STORE_H
#define HF_TEST_LIB_CHECK_STORE_H

#include "lib/engine.h"

/* Fails the case, with the findings printed, when the store at `address` breaks an invariant or
   cannot be checked. A place without a readable store is no failure. Leases that are long over
   (I28) are none either: tests have no sweeps. */
void hf_check_store(const char *address);

/* The same for a place; the value of hf_test_place_verify. */
void hf_check_place(const hf_test_place *place);

#endif
