/* stop.h: being told to stop, by SIGINT or SIGTERM. The rule: signals are caught here and nowhere
   else in the library, and only between catch and release; the second one is not caught, so that
   nobody has to wait for something that takes hours. One at a time in a process. */
#ifndef HF_CLI_STOP_H
#define HF_CLI_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

/* What was done at these signals before. */
typedef struct hf_cli_stop {
    struct sigaction interrupt;
    struct sigaction terminate;
} hf_cli_stop;

HF_NODISCARD hf_status hf_cli_stop_catch(hf_cli_stop *old, hf_err *err);
void hf_cli_stop_release(const hf_cli_stop *old);

/* The same as a signal, from any thread. */
void hf_cli_stop_now(void);

/* Whether it came within so many milliseconds; below 0 waits for it. */
bool hf_cli_stop_wait(int64_t wait_ms);

#endif
