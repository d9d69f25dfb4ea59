/* test_zone.c: time zones against the C library's own reading of the same files, and files that
 * lie.
 */
#include "base/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/campaign.h"
#include "lib/suite.h"

#define DAY 86400

static const char *const names[] = {
    "UTC",           "Europe/Berlin",      "America/New_York",    "Australia/Lord_Howe",
    "Europe/Dublin", "America/Havana",     "Africa/Casablanca",   "Asia/Kathmandu",
    "Pacific/Apia",  "Pacific/Kiritimati", "Antarctica/Troll",    "America/Argentina/San_Luis",
    "Etc/GMT+5",     "Australia/Sydney",   "America/Godthab",     "Asia/Gaza",
    "Asia/Tehran",   "Asia/Pyongyang",     "America/Los_Angeles", "Africa/Monrovia",
};

/* What the C library's clock on the wall shows, in seconds. */
static int64_t shown_s(const struct tm *t)
{
    int days = hf_date_to_days((hf_date){t->tm_year + 1900, t->tm_mon + 1, t->tm_mday});

    return (int64_t)days * HF_SECONDS_PER_DAY + (t->tm_hour * 60 + t->tm_min) * 60 + t->tm_sec;
}

static int64_t library_offset(int64_t utc_s)
{
    time_t at = (time_t)utc_s;
    struct tm local;

    (void)localtime_r(&at, &local);
    return shown_s(&local) - utc_s;
}

static const hf_zone *zone_of(hf_mem *mem, const char *name)
{
    const hf_zone *zone = NULL;
    hf_err err = {0};

    ck_assert_msg(hf_zone_load(mem, hf_slice_of(name), &zone, &err) == HF_OK, "%s", err.text);
    return zone;
}

/* Offsets of 150 years, hour by hour around every change and at odd moments between, are those of
   the C library, also where only the rule at the end of the file speaks. */
START_TEST(offsets_are_those_of_the_library)
{
    const int64_t step = hf_campaign_stride(3, 1) * (3 * 3600 + 1);
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const hf_zone *zone = zone_of(mem, names[i]);

        ck_assert_int_eq(setenv("TZ", names[i], 1), 0);
        tzset();
        for (int64_t at = 0; at < INT64_C(150) * 365 * DAY; at += step)
            if (hf_zone_offset(zone, at) != library_offset(at)) /* one that holds is slow, too */
                ck_abort_msg("%s at %lld: %d, not %d", names[i], (long long)at,
                             hf_zone_offset(zone, at), (int)library_offset(at));
    }
    hf_mem_free(mem);
}
END_TEST

/* Every moment is found again by the local time that it shows, unless that was shown before; then
   the earlier one is. */
START_TEST(local_times_lead_back)
{
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const hf_zone *zone = zone_of(mem, names[i]);
        int64_t newest = INT64_MIN; /* local time shown so far */

        for (int64_t at = INT64_C(1290000000); at < 1290000000 + INT64_C(4) * 365 * DAY;
             at += 900) {
            int64_t local = at + hf_zone_offset(zone, at);
            int64_t back = hf_zone_utc(zone, local);

            if (local > newest && back != at)
                ck_abort_msg("%s: %lld, not %lld", names[i], (long long)back, (long long)at);
            if (local <= newest && (back >= at || back + hf_zone_offset(zone, back) != local))
                ck_abort_msg("%s: %lld is shown first at %lld", names[i], (long long)local,
                             (long long)back);
            newest = local > newest ? local : newest;
        }
    }
    hf_mem_free(mem);
}
END_TEST

/* What clocks skip means the first moment after the gap: an hour in Berlin, a day in Apia. */
START_TEST(skipped_times_mean_the_end_of_the_gap)
{
    hf_mem *mem = hf_mem_new();
    const hf_zone *berlin = zone_of(mem, "Europe/Berlin");
    const hf_zone *apia = zone_of(mem, "Pacific/Apia");

    for (int64_t local = 1774749600; local <= 1774749600 + 3600;
         local += 600) /* 2026-03-29 02:00 */
        ck_assert_int_eq(hf_zone_utc(berlin, local), 1774746000);
    ck_assert_int_eq(hf_zone_utc(berlin, 1774749600 - 1), 1774746000 - 1);
    ck_assert_int_eq(hf_zone_utc(berlin, 1774749600 + 3601), 1774746001);
    for (int64_t local = 1325203200; local < 1325203200 + DAY; local += 3600) /* 2011-12-30 */
        ck_assert_int_eq(hf_zone_utc(apia, local), 1325239200);
    hf_mem_free(mem);
}
END_TEST

/* Names that are none, and names that would lead out of the folder. */
START_TEST(unknown_zones_are_refused)
{
    static const char *const bad[] = {
        "",      "Mars/Olympus",   "../../../etc/passwd", "/etc/tz",  "Europe",         "Europe/",
        "utc\n", "Europe/Berlin ", "tzdata.zi",           "zone.tab", "Europe/Berlin/x"};
    hf_mem *mem = hf_mem_new();
    const hf_zone *zone = NULL;
    hf_err err = {0};
    char longer[200];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_zone_load(mem, hf_slice_of(bad[i]), &zone, &err) == HF_INVALID, "%s",
                      bad[i]);
    memset(longer, 'a', sizeof(longer));
    ck_assert_int_eq(hf_zone_load(mem, hf_slice_from(longer, sizeof(longer)), &zone, &err),
                     HF_INVALID);
    ck_assert_ptr_null(zone);
    hf_mem_free(mem);
}
END_TEST

/* A file that is cut anywhere or has a byte changed is refused or read, never read beyond. */
START_TEST(broken_files_do_no_harm)
{
    hf_mem *mem = hf_mem_new();
    hf_rng rng;
    const hf_zone *zone = NULL;
    hf_err err = {0};
    char bytes[8192];
    FILE *file = fopen("/usr/share/zoneinfo/America/Havana", "rb");
    size_t len;
    int refused = 0;

    ck_assert_ptr_nonnull(file);
    len = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = malloc(cut + 1); /* so that a read beyond is noticed */
        hf_status st;

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, cut);
        st = hf_zone_read(mem, hf_slice_from(copy, cut), &zone, &err);
        refused += st != HF_OK;
        free(copy);
    }
    ck_assert_int_gt(refused, 500);
    hf_rng_init_seeded(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)hf_rng_below(&rng, len);
        char was = bytes[at];

        bytes[at] = (char)hf_rng_below(&rng, 256);
        if (!hf_zone_read(mem, hf_slice_from(bytes, len), &zone, &err))
            (void)hf_zone_utc(zone, 1800000000);
        bytes[at] = was;
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

/* Each allocation that fails is told as such. */
START_TEST(failed_allocations_are_told)
{
    hf_status st = HF_NOMEM;

    for (int64_t nth = 1; st; nth++) {
        hf_mem *mem = hf_mem_new();
        const hf_zone *zone = NULL;
        hf_err err = {0};

        ck_assert_ptr_nonnull(mem);
        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_zone_load(mem, HF_SLICE("Europe/Berlin"), &zone, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(st == HF_OK || st == HF_NOMEM);
        hf_mem_free(mem);
        ck_assert_int_lt(nth, 100);
    }
}
END_TEST

HF_SUITE_MAIN("base/zone", {offsets_are_those_of_the_library, 300}, {local_times_lead_back, 300},
              {skipped_times_mean_the_end_of_the_gap, 0}, {unknown_zones_are_refused, 0},
              {broken_files_do_no_harm, 0}, {failed_allocations_are_told, 0})
