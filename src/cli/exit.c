/* exit.c: statuses to exit codes, generated from exit.def. A status without a row does not compile.
 */
#include "cli/exit.h"

#include <stddef.h>

const char *hf_cli_exit_row(int row, hf_cli_exit *out_code)
{
    static const hf_cli_exit codes[] = {
#define HF_CLI_EXIT(name, code, sentence) name,
#include "cli/exit.def"
#undef HF_CLI_EXIT
    };

    if (row < 0 || (size_t)row >= sizeof(codes) / sizeof(codes[0]))
        return NULL;
    *out_code = codes[row];
    return hf_cli_exit_sentence(codes[row]);
}

const char *hf_cli_exit_sentence(hf_cli_exit code)
{
    switch (code) {
#define HF_CLI_EXIT(name, number, sentence)                                                        \
    case name:                                                                                     \
        return sentence;
#include "cli/exit.def"
#undef HF_CLI_EXIT
    }
    return "";
}

hf_cli_exit hf_cli_exit_of(hf_status status)
{
    switch (status) {
#define HF_CLI_EXIT_STATUS(name, exit, next)                                                       \
    case name:                                                                                     \
        return exit;
#include "cli/exit.def"
#undef HF_CLI_EXIT_STATUS
    }
    return HF_CLI_EXIT_FAILED;
}

const char *hf_cli_exit_next(hf_status status)
{
    switch (status) {
#define HF_CLI_EXIT_STATUS(name, exit, next)                                                       \
    case name:                                                                                     \
        return next;
#include "cli/exit.def"
#undef HF_CLI_EXIT_STATUS
    }
    return "";
}
