/* stop.c: see stop.h. */
#include "cli/stop.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* The one thing a handler may touch. A handler gets no argument, so it has to be found. */
static sem_t stop_event;

static void signal_note(int number)
{
    int kept = errno;

    (void)number;
    (void)sem_post(&stop_event);
    errno = kept;
}

hf_status hf_cli_stop_catch(hf_cli_stop *old, hf_err *err)
{
    struct sigaction note = {.sa_handler = signal_note, .sa_flags = (int)SA_RESETHAND};

    if (sem_init(&stop_event, 0, 0))
        return hf_err_set(err, HF_ERROR, "no semaphore: %s", strerror(errno));
    (void)sigemptyset(&note.sa_mask);
    (void)sigaction(SIGINT, &note, &old->interrupt);
    (void)sigaction(SIGTERM, &note, &old->terminate);
    return HF_OK;
}

void hf_cli_stop_release(const hf_cli_stop *old)
{
    (void)sigaction(SIGINT, &old->interrupt, NULL);
    (void)sigaction(SIGTERM, &old->terminate, NULL);
    (void)sem_destroy(&stop_event);
}

void hf_cli_stop_now(void)
{
    (void)sem_post(&stop_event);
}

bool hf_cli_stop_wait(int64_t wait_ms)
{
    int64_t until_us = hf_clock_wall_us(hf_clock_system()) + wait_ms * 1000;
    struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                             .tv_nsec = (long)(until_us % 1000000) * 1000};

    for (;;) {
        if ((wait_ms < 0 ? sem_wait(&stop_event) : sem_timedwait(&stop_event, &until)) == 0)
            return true;
        if (errno != EINTR) /* a signal that is somebody else's */
            return false;
    }
}
