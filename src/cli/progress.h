/* progress.h: a command that takes long: it shows how far it is, and Ctrl-C stops it cleanly.
   One at a time in a process, because signals belong to the process. */
#ifndef HF_CLI_PROGRESS_H
#define HF_CLI_PROGRESS_H

#include <signal.h>
#include <stdint.h>

#include "cli/print.h"

typedef struct hf_cli_progress {
    hf_cli_print *print;
    const char *verb; /* "verify" */
    const char *unit; /* "events" */
    int64_t started_us;
    int64_t shown_us; /* when the line was drawn last */
    int64_t done;
    int64_t total;
    int width; /* characters of the line on the screen */
    struct sigaction old_int;
    struct sigaction old_term;
} hf_cli_progress;

/* From here to hf_cli_progress_end SIGINT and SIGTERM ask to stop; a second one ends the process.
 */
void hf_cli_progress_begin(hf_cli_progress *progress, hf_cli_print *print, const char *verb,
                           const char *unit);

/* Draws, on a terminal and not too often. False when the command is to stop: it was asked to, or
   nobody reads its output any more. */
bool hf_cli_progress_step(hf_cli_progress *progress, int64_t done, int64_t total);

/* Takes the line off the screen, before something else is printed. */
void hf_cli_progress_clear(hf_cli_progress *progress);

/* Takes the line away; when it took long, leaves the last state as a plain line. */
void hf_cli_progress_end(hf_cli_progress *progress);

#endif
