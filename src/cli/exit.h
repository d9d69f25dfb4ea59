/* exit.h: exit codes, in one place. The rows are in exit.def. */
#ifndef HF_CLI_EXIT_H
#define HF_CLI_EXIT_H

#include "holdfast/status.h"

typedef enum hf_cli_exit {
#define HF_CLI_EXIT(name, code, sentence) name = (code),
#include "cli/exit.def"
#undef HF_CLI_EXIT
} hf_cli_exit;

/* Every code in ascending order: *out_code of row `row` and its sentence, NULL beyond the end. */
const char *hf_cli_exit_row(int row, hf_cli_exit *out_code);

const char *hf_cli_exit_sentence(hf_cli_exit code);

hf_cli_exit hf_cli_exit_of(hf_status status);

/* The command that helps after `status`, with {verb} and {store} still in it; "" for none. */
const char *hf_cli_exit_next(hf_status status);

#endif
