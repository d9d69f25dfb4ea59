/* rows.h: lists and single things in every format, so that a verb says what it shows and nothing of
   how. */
#ifndef HF_CLI_ROWS_H
#define HF_CLI_ROWS_H

#include "cli/verbs.h"

/* The columns of --columns, or `otherwise` when nobody asks. */
HF_NODISCARD hf_status hf_cli_rows_columns(hf_cli_call *call, const hf_cli_column *otherwise,
                                           const hf_cli_column **out_columns, hf_err *err);

/* HF_INVALID: --columns has a name that the row does not. */
HF_NODISCARD hf_status hf_cli_rows_fit(const hf_cli_call *call, const hf_cli_column *columns,
                                       hf_value row, hf_err *err);

/* All of them: json as {"NAME": rows}, every other format row by row. */
HF_NODISCARD hf_status hf_cli_rows_print(hf_cli_call *call, const char *name,
                                         const hf_cli_column *columns, hf_value rows, hf_err *err);

/* One: for people a line for each of its members; json and jsonl whole; csv and name by columns. */
HF_NODISCARD hf_status hf_cli_thing_print(hf_cli_call *call, const hf_cli_column *columns,
                                          hf_value thing, hf_err *err);

/* Whether the person at the terminal means it. --yes means it; without a terminal nobody is asked:
   HF_INVALID with the flag's name. HF_CANCELLED: no. */
HF_NODISCARD hf_status hf_cli_confirm(hf_cli_call *call, const char *question, hf_err *err);

#endif
