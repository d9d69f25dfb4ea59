/* cli.h: the command line as one function, for the holdfast binary and for programs that embed it.
 */
#ifndef HF_CLI_CLI_H
#define HF_CLI_CLI_H

/* Runs one command line: data to standard output, talk to standard error. Returns the exit code and
   never ends the process itself. Signal dispositions are as before when it returns. May block as
   long as the command does. */
int hf_cli_main(int argc, char **argv);

#endif
