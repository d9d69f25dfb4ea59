/* handlers.h: functions of applications that many tests have: the plainest of each kind. */
#ifndef HF_TEST_LIB_HANDLERS_H
#define HF_TEST_LIB_HANDLERS_H

#include "holdfast/holdfast.h"

/* An activity: gives back what it is given. */
hf_value hf_echo(hf_act *a, hf_value in);

/* Workflows: waits for the signal "go"; ends in its first turn; calls the activity "echo"; calls it
   and continues as new until "n" is 0. */
hf_value hf_wait_go(hf_ctx *w, hf_value in);
hf_value hf_end_now(hf_ctx *w, hf_value in);
hf_value hf_call_echo(hf_ctx *w, hf_value in);
hf_value hf_count_down(hf_ctx *w, hf_value in);

/* An update that answers with its arguments, and a query that answers "open". */
hf_value hf_update_echo(hf_ctx *w, void *state, hf_value args);
hf_value hf_query_open(hf_mem *mem, const void *state, hf_value args);

#endif
