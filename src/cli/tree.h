/* tree.h: a run with the runs that it started, and how far what is under way has come. */
#ifndef HF_CLI_TREE_H
#define HF_CLI_TREE_H

#include "cli/target.h"

/* Prints the steps of a run and those of its children below them; how many lines those were.
   Children that cannot be read are shown as what their parent knows of them. */
HF_NODISCARD hf_status hf_cli_tree_print(hf_cli_target *target, hf_value run, int *out_lines,
                                         hf_err *err);

#endif
