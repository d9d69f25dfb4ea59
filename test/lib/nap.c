/* nap.c: see nap.h. */
#include "lib/nap.h"

#include <time.h>

void hf_nap_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

    (void)nanosleep(&pause, NULL);
}
