/* patience.c: see patience.h. */
#include "base/patience.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static void patience_over(int number)
{
    (void)number;
    _exit(0);
}

hf_status hf_patience_begin(int64_t ms, hf_err *err)
{
    const struct sigaction over = {.sa_handler = patience_over};
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000}};
    timer_t timer;

    if (sigaction(SIGALRM, &over, NULL) != 0 || timer_create(CLOCK_MONOTONIC, NULL, &timer) != 0 ||
        timer_settime(timer, 0, &when, NULL) != 0)
        return hf_err_set(err, HF_IO, "the system has no timer to give");
    return HF_OK;
}
