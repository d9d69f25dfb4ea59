/* print.h: what reaches the terminal. Standard output gets data, standard error gets talk; text
   that came from outside is printed with its control characters escaped, so that a stored name
   cannot steer a terminal. */
#ifndef HF_CLI_PRINT_H
#define HF_CLI_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/value.h"
#include "cli/command.h"

typedef struct hf_cli_print {
    FILE *out; /* data */
    FILE *err; /* talk */
    hf_cli_format format;
    bool out_color;
    bool err_color;
    bool headed; /* the heading of the table is out */
} hf_cli_print;

typedef struct hf_cli_column {
    const char *key; /* member of the row; the heading of a table is this in capitals */
    int width;       /* in a table; 0 for the last column */
    bool severity;   /* coloured by what it says */
} hf_cli_column;

/* Prints to the process's own streams, as a table without colour until told otherwise. */
void hf_cli_print_init(hf_cli_print *print);

/* `when` is auto, always or never. */
void hf_cli_print_color(hf_cli_print *print, const char *when);

/* `text` with every control character, direction mark and ill-formed byte escaped. */
void hf_cli_print_text(FILE *file, const char *text);

/* One JSON value on one line. HF_NOMEM also when `value` is NULL: what built it ran out of memory.
 */
HF_NODISCARD hf_status hf_cli_print_value(FILE *file, hf_value value, hf_err *err);

/* One row of a result in every format but json, which is for whole results. Columns end with a NULL
   key; tables and csv show these only, name the first of them, jsonl the whole row. */
HF_NODISCARD hf_status hf_cli_print_row(hf_cli_print *print, const hf_cli_column *columns,
                                        hf_value row, hf_err *err);

/* A copy of any bytes that is UTF-8, for JSON. NULL when memory ran out. */
HF_NODISCARD const char *hf_cli_utf8(hf_mem *mem, const char *text);

/* One failure on standard error: what, why and next, a line each; NULL leaves a line out. With json
   or jsonl an object. Falls back to lines when memory runs out (`mem` may be NULL). */
void hf_cli_print_error(hf_cli_print *print, hf_mem *mem, const hf_err *why, const char *what,
                        const char *next, hf_cli_exit code);

/* Writes out what is buffered. HF_CANCELLED when the reader of standard output is gone. */
HF_NODISCARD hf_status hf_cli_print_flush(hf_cli_print *print, hf_err *err);

#endif
