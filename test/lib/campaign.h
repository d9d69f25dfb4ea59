/* campaign.h: how far a campaign goes, and how one of its points is found again.

   HF_CAMPAIGN        unset: a short run; 1: the share of `make test`; long: that of `make check`; a
   number: that many points; forever: until somebody stops it or something is found
   HF_CRASH_SCENARIO, HF_CRASH_POINT, HF_CRASH_SEED
                      this scenario, this point, this seed alone: what a failure printed */
#ifndef HF_TEST_LIB_CAMPAIGN_H
#define HF_TEST_LIB_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf_campaign {
    int64_t points_max;   /* INT64_MAX: no end */
    int64_t points;       /* so far */
    const char *scenario; /* NULL: all */
    int64_t point;        /* -1: all */
    int64_t seed;         /* -1: all */
    int64_t told_us;      /* when progress was last printed */
} hf_campaign;

/* `shortest`, `usual` and `longest` are the points of a short run, of `make test` and of `make
 * check`. */
void hf_campaign_init(hf_campaign *campaign, int64_t shortest, int64_t usual, int64_t longest);

/* How many points a loop over all of them goes on by: `shortest` in a short run, six times that
   under valgrind, `usual` in `make test`, 1 beyond. */
int hf_campaign_stride(int shortest, int usual);

/* Whether this point is to be tried; then it is counted and remembered, so that a crash of the test
   itself also names it. Prints progress every 10 s of a campaign without end. */
bool hf_campaign_takes(hf_campaign *campaign, const char *scenario, int64_t point, int64_t seed);

/* Tries every stride-th point of a scenario, or the one that is asked for, while `point` says that
   it was reached; how many were. */
int64_t hf_campaign_sweep(hf_campaign *campaign, const char *scenario, int64_t first,
                          int64_t stride, bool (*point)(void *ctx, int64_t nth), void *ctx);

/* Whether the campaign has done its share. */
bool hf_campaign_over(const hf_campaign *campaign);

/* Prints how to find the newest point again and fails the case. */
void hf_campaign_fail(const hf_campaign *campaign, const char *why);

#endif
