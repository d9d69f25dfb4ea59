/* campaign.c: see campaign.h. The newest point is a global, because the handler of a fatal signal
   has nothing else to go by. */
#include "lib/campaign.h"

#include <check.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HF_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

#include "base/clock.h"

enum { PROGRESS_US = 10000000, SLOW_STRIDE = 6 };

static char newest[256]; /* the command that finds the newest point again */

static void fatal_signal(int number)
{
    ssize_t written = write(STDERR_FILENO, newest, strlen(newest));

    (void)written;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static int64_t number_of(const char *variable, int64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

void hf_campaign_init(hf_campaign *campaign, int64_t shortest, int64_t usual, int64_t longest)
{
    const char *how = getenv("HF_CAMPAIGN");
    const char *scenario = getenv("HF_CRASH_SCENARIO");

    *campaign = (hf_campaign){.points_max = shortest,
                              .scenario = scenario && *scenario ? scenario : NULL,
                              .point = number_of("HF_CRASH_POINT", -1),
                              .seed = number_of("HF_CRASH_SEED", -1),
                              .told_us = hf_clock_mono_us(hf_clock_system())};
    if (how && strcmp(how, "1") == 0)
        campaign->points_max = usual;
    else if (how && strcmp(how, "long") == 0)
        campaign->points_max = longest;
    else if (how && strcmp(how, "forever") == 0)
        campaign->points_max = INT64_MAX;
    else if (how && *how)
        campaign->points_max = number_of("HF_CAMPAIGN", shortest);
    ck_assert(signal(SIGABRT, fatal_signal) != SIG_ERR);
    ck_assert(signal(SIGSEGV, fatal_signal) != SIG_ERR);
}

static bool slow(void)
{
#ifdef HF_HAVE_VALGRIND
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

int hf_campaign_stride(int shortest, int usual)
{
    const char *how = getenv("HF_CAMPAIGN");

    if (!how || !*how)
        return slow() ? shortest * SLOW_STRIDE : shortest;
    return strcmp(how, "1") == 0 ? usual : 1;
}

bool hf_campaign_takes(hf_campaign *campaign, const char *scenario, int64_t point, int64_t seed)
{
    int64_t now_us;

    if (campaign->scenario && strcmp(campaign->scenario, scenario) != 0)
        return false;
    if ((campaign->point >= 0 && campaign->point != point) ||
        (campaign->seed >= 0 && campaign->seed != seed))
        return false;
    (void)snprintf(newest, sizeof(newest),
                   "\nto repeat: HF_CRASH_SCENARIO=%s HF_CRASH_POINT=%" PRId64
                   " HF_CRASH_SEED=%" PRId64 "\n",
                   scenario, point, seed);
    campaign->points++;
    if (campaign->points_max < INT64_MAX || campaign->points % 64)
        return true;
    now_us = hf_clock_mono_us(hf_clock_system());
    if (now_us - campaign->told_us >= PROGRESS_US) {
        campaign->told_us = now_us;
        printf("%" PRId64 " points, now at %s %" PRId64 ", seed %" PRId64 "\n", campaign->points,
               scenario, point, seed);
        (void)fflush(stdout);
    }
    return true;
}

int64_t hf_campaign_sweep(hf_campaign *campaign, const char *scenario, int64_t first,
                          int64_t stride, bool (*point)(void *ctx, int64_t nth), void *ctx)
{
    int64_t last = campaign->point >= 0 ? campaign->point : INT64_MAX - stride;
    int64_t reached = 0;
    bool more = true;

    for (int64_t nth = campaign->point >= 0 ? last : first; more && nth <= last; nth += stride) {
        if (!hf_campaign_takes(campaign, scenario, nth, 0))
            break;
        more = point(ctx, nth);
        reached += more;
    }
    return reached;
}

bool hf_campaign_over(const hf_campaign *campaign)
{
    return campaign->points >= campaign->points_max;
}

void hf_campaign_fail(const hf_campaign *campaign, const char *why)
{
    ck_abort_msg("point %" PRId64 ": %s%s", campaign->points, why, newest);
}
