/* complete.h: words that a shell offers while a command line is typed: ids, types, names of
   signals, updates and queries, profiles. A shell waits for it: after 300 ms there is nothing to
   offer. */
#ifndef HF_CLI_COMPLETE_H
#define HF_CLI_COMPLETE_H

#include "cli/verbs.h"

/* The words so far, the verb first and the one that is being typed last. One word a line; whatever
   goes wrong, none. */
void hf_cli_complete(hf_cli_call *call, const char *const *words, size_t count);

#endif
