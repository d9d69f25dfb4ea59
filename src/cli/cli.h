/* cli.h: the command line as one function, for the holdfast binary and for programs that embed it.
 */
#ifndef HF_CLI_CLI_H
#define HF_CLI_CLI_H

#include "holdfast/holdfast.h"

/* Runs one command line: data to standard output, talk to standard error. Returns the exit code and
   never ends the process itself. Signal dispositions are as before when it returns. May block as
   long as the command does. */
int hf_cli_main(int argc, char **argv);

/* The same in a program that has workflows of its own, which commands to a store may run. */
int hf_cli_main_for(int argc, char **argv, const hf_app *app);

#endif
