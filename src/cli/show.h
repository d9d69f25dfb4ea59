/* show.h: a run for people: what it is, how it stands, its steps. */
#ifndef HF_CLI_SHOW_H
#define HF_CLI_SHOW_H

#include "cli/verbs.h"

/* The whole run. */
HF_NODISCARD hf_status hf_cli_show_run(hf_cli_call *call, hf_value run, hf_err *err);

/* The command that would move a run on, by its answer of why; NULL: none, or memory ran out. */
const char *hf_cli_show_next(hf_cli_call *call, hf_value why);

/* One line that says how it stands, and one for each step; how many lines those were. */
int hf_cli_show_head(hf_cli_call *call, hf_value run);
int hf_cli_show_steps(hf_cli_call *call, hf_value run);

/* One step, without the end of its line. */
void hf_cli_show_step(hf_cli_call *call, hf_value run, hf_value wait, bool last);

/* The step of that number among the waits of a run, and the activity behind it; NULL: none. */
hf_value hf_cli_show_find(hf_value run, int64_t step);
hf_value hf_cli_show_activity(hf_value run, hf_value wait);

/* What an event is about, in a few words; "" when its type says it all. In the arena. */
const char *hf_cli_show_event(hf_mem *mem, hf_value event);

#endif
