/* script.h: a step machine that does what its input says, for tests of waking and using up. Its
   state is {"plan": [...], "at": 0, "log": [...]}: each execution writes down what it saw and takes
   the next move of the plan.

     {"do": "park", "names": ["a"], "ms": 1000}   park; without "ms" for ever
     {"do": "next"} {"do": "done"} {"do": "stop"} {"do": "raise"}
     {"do": "again", "ms": 100}
     {"do": "fan", "plans": [[...], ...]}         children of the same type, "ids" may name them
     "send": "a"                                  with any move: sends itself a signal first

   A line of the log is "aw=a,b all=a,b,c t=1" with " late" behind a timeout and " err" when
   on_error answered: it takes the next move too. The result of "done" is the log. */
#ifndef HF_TEST_LIB_SCRIPT_H
#define HF_TEST_LIB_SCRIPT_H

#include "holdfast/holdfast.h"

/* "script" has an on_error, "bare" has none. Signals a, b, c and d. */
extern const hf_machine_def hf_script_machines[];

/* The engine that "send" speaks to; the case sets it. */
extern hf_engine *hf_script_engine;

/* How often a step of the instance has run in this process; ids are hashed into 4096 counters. */
int hf_script_runs(const char *id);

/* The input that has the machine do these moves, and a run of "script" that does them as far as it
   gets now. */
hf_value hf_script_plan(hf_engine *engine, const char *moves);
void hf_script_play(hf_engine *engine, const char *id, const char *moves);

#endif
