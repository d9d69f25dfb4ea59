/* progress.c: one line on standard error, and the two signals that stop work. It draws without
   escape sequences, so that it is right on every terminal and with every colour setting. */
#include "cli/progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"

enum { DRAW_EVERY_US = 100 * 1000, LONG_US = 5 * 1000 * 1000 };

/* The one mutable global of the command line: a signal handler can reach nothing else. */
static volatile sig_atomic_t progress_stop;

static void progress_signal(int number)
{
    (void)number;
    progress_stop = 1;
}

static int progress_draw(const hf_cli_progress *progress)
{
    int percent =
        progress->total > 0 ? (int)((double)progress->done * 100.0 / (double)progress->total) : 0;

    return fprintf(progress->print->err, "%s: %" PRId64 " of %" PRId64 " %s, %d %%, %.1f s",
                   progress->verb, progress->done, progress->total, progress->unit, percent,
                   (double)(hf_clock_mono_us(hf_clock_system()) - progress->started_us) / 1e6);
}

void hf_cli_progress_begin(hf_cli_progress *progress, hf_cli_print *print, const char *verb,
                           const char *unit)
{
    struct sigaction action = {.sa_handler = progress_signal, .sa_flags = (int)SA_RESETHAND};

    *progress = (hf_cli_progress){.print = print, .verb = verb, .unit = unit};
    progress->started_us = hf_clock_mono_us(hf_clock_system());
    progress_stop = 0;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, &progress->old_int);
    (void)sigaction(SIGTERM, &action, &progress->old_term);
    /* Who ignores a signal from outside (nohup, a background job) goes on ignoring it. */
    if (progress->old_int.sa_handler == SIG_IGN)
        (void)sigaction(SIGINT, &progress->old_int, NULL);
}

bool hf_cli_progress_step(hf_cli_progress *progress, int64_t done, int64_t total)
{
    int64_t now_us = hf_clock_mono_us(hf_clock_system());

    progress->done = done;
    progress->total = total;
    if (isatty(fileno(progress->print->err)) && now_us - progress->shown_us >= DRAW_EVERY_US) {
        int width;

        (void)fputc('\r', progress->print->err);
        width = progress_draw(progress);
        (void)fprintf(progress->print->err, "%*s",
                      width < progress->width ? progress->width - width : 0, "");
        progress->width = width;
        progress->shown_us = now_us;
    }
    return !progress_stop && !ferror(progress->print->out);
}

void hf_cli_progress_clear(hf_cli_progress *progress)
{
    if (progress->width)
        (void)fprintf(progress->print->err, "\r%*s\r", progress->width, "");
    progress->width = 0;
}

void hf_cli_progress_end(hf_cli_progress *progress)
{
    hf_cli_progress_clear(progress);
    if (hf_clock_mono_us(hf_clock_system()) - progress->started_us >= LONG_US) {
        (void)progress_draw(progress);
        (void)fputc('\n', progress->print->err);
    }
    (void)sigaction(SIGINT, &progress->old_int, NULL);
    (void)sigaction(SIGTERM, &progress->old_term, NULL);
}
