/* app_replay.h: the verb replay of a user's program: bundles in, one verdict each out. */
#ifndef HF_CLI_APP_REPLAY_H
#define HF_CLI_APP_REPLAY_H

#include "cli/exit.h"
#include "holdfast/holdfast.h"

/* `words` are those behind the verb: FILE or - for standard input, -o json for a line of JSON per
   bundle. Prints, and returns what the process ends with: 12 when a run would block. */
hf_cli_exit hf_cli_app_replay(const hf_app *app, int count, char **words);

#endif
