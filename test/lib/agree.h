/* agree.h: what a list says of a run is what `why` says of it, however its rows are lost. */
#ifndef HF_TEST_LIB_AGREE_H
#define HF_TEST_LIB_AGREE_H

#include "holdfast/holdfast.h"

/* Folds what is not folded and compares the row of the current run of an instance with the liveness
   that hf_why gave ("a#1", an earlier run, is not looked at); each filter must find it by what the
   row says, and not by another state. Fails the case. */
void hf_agree_check(hf_engine *engine, const char *id, hf_value liveness);

#endif
