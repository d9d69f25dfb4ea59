/* test_cron.c: cron expressions against brute force, minute by minute over years, in zones with
   every kind of clock change, with the C library telling the local time; and refusals. */
#include "model/cron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/mem.h"
#include "lib/campaign.h"
#include "lib/suite.h"

/* ---- the oracle: a field is held against a value text by text */

static bool part_fits(const char *part, int value, int low, int high)
{
    int first;
    int last;
    int step = 1;
    const char *slash = strchr(part, '/');
    const char *dash = strchr(part, '-');

    if (slash)
        step = atoi(slash + 1);
    first = part[0] == '*' || part[0] == '?' ? low : atoi(part);
    last = part[0] == '*' || part[0] == '?' || (slash && !dash) ? high : first;
    if (dash)
        last = atoi(dash + 1);
    return value >= first && value <= last && (value - first) % step == 0;
}

static bool field_fits(const char *field, int value, int low, int high)
{
    char copy[64];
    char *rest = copy;
    char *part;

    (void)snprintf(copy, sizeof(copy), "%s", field);
    while ((part = strtok_r(rest, ",", &rest)))
        if (part_fits(part, value, low, high))
            return true;
    return false;
}

typedef struct oracle {
    char minute[64];
    char hour[64];
    char day[64];
    char month[64];
    char weekday[64];
} oracle;

static bool oracle_fits(const oracle *o, const struct tm *t)
{
    bool day = field_fits(o->day, t->tm_mday, 1, 31);
    bool weekday = field_fits(o->weekday, t->tm_wday, 0, 6) ||
                   (t->tm_wday == 0 && strchr(o->weekday, '7') && field_fits(o->weekday, 7, 0, 7));
    bool both =
        o->day[0] != '*' && o->day[0] != '?' && o->weekday[0] != '*' && o->weekday[0] != '?';

    return field_fits(o->minute, t->tm_min, 0, 59) && field_fits(o->hour, t->tm_hour, 0, 23) &&
           field_fits(o->month, t->tm_mon + 1, 1, 12) && (both ? day || weekday : day && weekday);
}

/* What the C library's clock on the wall shows, in seconds. */
static int64_t shown_s(const struct tm *t)
{
    int days = hf_date_to_days((hf_date){t->tm_year + 1900, t->tm_mon + 1, t->tm_mday});

    return (int64_t)days * HF_SECONDS_PER_DAY + (t->tm_hour * 60 + t->tm_min) * 60 + t->tm_sec;
}

/* Walks every minute of the span: fires where the clock shows a fitting time for the first time,
   and where it has just skipped one. */
static void oracle_walk(const char *line, const char *zone_name, int64_t from_s, int64_t to_s)
{
    hf_mem *mem = hf_mem_new();
    const hf_zone *zone = NULL;
    hf_err err = {0};
    hf_cron cron;
    oracle o;
    int64_t newest; /* the latest local time shown */
    int64_t next_s = 0;
    int fired = 0;

    ck_assert_int_eq(
        sscanf(line, "%63s %63s %63s %63s %63s", o.minute, o.hour, o.day, o.month, o.weekday), 5);
    ck_assert_int_eq(hf_zone_load(mem, hf_slice_of(zone_name), &zone, &err), HF_OK);
    ck_assert_msg(hf_cron_parse(hf_slice_of(line), &cron, &err) == HF_OK, "%s", err.text);
    ck_assert_int_eq(setenv("TZ", zone_name, 1), 0);
    tzset();
    to_s = from_s + (to_s - from_s) / hf_campaign_stride(1, 1); /* all of it but under valgrind */
    newest = from_s - 60 + hf_zone_offset(zone, from_s - 60);
    ck_assert(hf_cron_next(&cron, zone, from_s - 1, &next_s));
    for (int64_t at = from_s; at < to_s; at += 60) {
        time_t moment = (time_t)at;
        struct tm shown;
        int64_t local;
        bool fires = false;

        (void)localtime_r(&moment, &shown);
        local = shown_s(&shown);
        for (int64_t l = newest + 60; l < local; l += 60) { /* skipped */
            time_t as_utc = (time_t)l;
            struct tm missed;

            (void)gmtime_r(&as_utc, &missed);
            fires |= oracle_fits(&o, &missed);
        }
        if (local > newest) {
            fires |= oracle_fits(&o, &shown);
            newest = local;
        }
        if (fires != (next_s == at)) /* an assertion that holds is slow, too */
            ck_abort_msg("%s in %s: %s at %lld, next was to be %lld", line, zone_name,
                         fires ? "fires" : "does not fire", (long long)at, (long long)next_s);
        if (fires) {
            fired++;
            ck_assert(hf_cron_next(&cron, zone, at, &next_s));
        } else if (local < newest) { /* shown a second time: whoever asks now is told the same */
            int64_t again_s = 0;

            ck_assert(hf_cron_next(&cron, zone, at, &again_s));
            ck_assert_int_eq(again_s, next_s);
        }
    }
    ck_assert_int_gt(fired, 0);
    hf_mem_free(mem);
}

#define Y(year) ((INT64_C(year) - 1970) * 31556952 / 60 * 60)

/* Two years of the present, in the zones that change their clocks, each in its own way. */
START_TEST(fires_as_brute_force_says)
{
    static const char *const lines[] = {
        "30 2 * * *",       "*/15 * * * *", "0 0 1,15 * *",           "5 0-3 * * 0",
        "0 9-17/2 * * 1-5", "10 0 13 * 5",  "59 23 28-31 2,3,10,11 *"};
    static const char *const zones[] = {"UTC",
                                        "Europe/Berlin",
                                        "America/New_York",
                                        "America/Havana",
                                        "Australia/Lord_Howe",
                                        "Africa/Casablanca"};
    const size_t step = (size_t)hf_campaign_stride(7, 3);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        for (size_t j = 0; j < sizeof(zones) / sizeof(zones[0]); j++)
            if ((i + j) % step == 0) /* in a short run each zone once, with another line */
                oracle_walk(lines[i], zones[j], Y(2025), Y(2027));
}
END_TEST

/* Beyond the tables of the zone files; over the day that Apia never had; over leap days. */
START_TEST(fires_as_brute_force_says_in_odd_years)
{
    oracle_walk("30 1,2 * * *", "Europe/Berlin", Y(2041), Y(2043));
    oracle_walk("0 */6 * * *", "Australia/Sydney", Y(2099), Y(2101));
    oracle_walk("0 12 * * *", "Pacific/Apia", Y(2011), Y(2013));
    oracle_walk("0 12 29 2 *", "UTC", Y(2023), Y(2033));
    oracle_walk("7,8,9 1/7 * */5 6,7", "Asia/Kathmandu", Y(2024), Y(2026));
    oracle_walk("0 0 ? * 2", "America/Los_Angeles", Y(2020), Y(2023));
}
END_TEST

/* ---- what is not minutes */

static int64_t next_of(const char *line, const char *zone_name, int64_t after_s)
{
    hf_mem *mem = hf_mem_new();
    const hf_zone *zone = NULL;
    hf_err err = {0};
    hf_cron cron;
    int64_t next_s = -1;

    ck_assert_int_eq(hf_zone_load(mem, hf_slice_of(zone_name), &zone, &err), HF_OK);
    ck_assert_msg(hf_cron_parse(hf_slice_of(line), &cron, &err) == HF_OK, "%s", err.text);
    if (!hf_cron_next(&cron, zone, after_s, &next_s))
        next_s = -1;
    hf_mem_free(mem);
    return next_s;
}

/* Six fields begin with the second. */
START_TEST(six_fields_have_seconds)
{
    ck_assert_int_eq(next_of("*/20 * * * * *", "UTC", 0), 20);
    ck_assert_int_eq(next_of("*/20 * * * * *", "UTC", 40), 60);
    ck_assert_int_eq(next_of("59 59 23 * * *", "UTC", 0), 86399);
    ck_assert_int_eq(next_of("15 30 12 * * *", "UTC", 86399), 86400 + 12 * 3600 + 30 * 60 + 15);
    ck_assert_int_eq(next_of("* * * * *", "UTC", 59), 60);
    ck_assert_int_eq(next_of("* * * * *", "UTC", 60), 120);
}
END_TEST

/* Names of months and days, in any case; 7 is Sunday; words for whole expressions. */
START_TEST(names_stand_for_numbers)
{
    static const struct {
        const char *named;
        const char *plain;
    } pairs[] = {{"0 0 * JAN-mar *", "0 0 * 1-3 *"},
                 {"0 0 * * Mon,wEd-fri", "0 0 * * 1,3-5"},
                 {"0 0 * * 7", "0 0 * * 0"},
                 {"0 0 * * 5-7", "0 0 * * 0,5,6"},
                 {"@daily", "0 0 * * *"},
                 {"@midnight", "0 0 * * *"},
                 {"@hourly", "0 * * * *"},
                 {"@weekly", "0 0 * * 0"},
                 {"@monthly", "0 0 1 * *"},
                 {"@yearly", "0 0 1 1 *"},
                 {"@annually", "0 0 1 1 *"},
                 {" 5\t4  ?  * ? ", "5 4 * * *"},
                 {"0 0 0 1 1 *", "0 0 1 1 *"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        int64_t a = 1767225600;
        int64_t b = a;

        for (int n = 0; n < 200; n++) {
            a = next_of(pairs[i].named, "UTC", a);
            b = next_of(pairs[i].plain, "UTC", b);
            ck_assert_msg(a == b && a > 0, "%s", pairs[i].named);
        }
    }
}
END_TEST

/* A time that never comes is never found, and the search ends. */
START_TEST(impossible_dates_never_fire)
{
    ck_assert_int_eq(next_of("0 0 30 2 *", "UTC", 0), -1);
    ck_assert_int_eq(next_of("0 0 31 4,6,9,11 *", "Europe/Berlin", 0), -1);
    ck_assert_int_gt(next_of("0 0 29 2 *", "UTC", Y(2097)), Y(2104));
    ck_assert_int_eq(next_of("* * * * *", "UTC", INT64_C(253402300799)), -1);
}
END_TEST

/* Everything that is no expression is refused with the name of the field. */
START_TEST(bad_expressions_are_refused)
{
    static const struct {
        const char *text;
        const char *said;
    } bad[] = {{"", "five or six"},
               {"* * * *", "five or six"},
               {"* * * * * * *", "five or six"},
               {"60 * * * *", "minute"},
               {"-1 * * * *", "minute"},
               {"* 24 * * *", "hour"},
               {"* * 0 * *", "day of month"},
               {"* * 32 * *", "day of month"},
               {"* * * 0 *", "month"},
               {"* * * 13 *", "month"},
               {"* * * * 8", "day of week"},
               {"60 * * * * *", "second"},
               {"* * * janu *", "month"},
               {"* * * * mo", "day of week"},
               {"mon * * * *", "minute"},
               {"*/0 * * * *", "step"},
               {"*/60 * * * *", "step"},
               {"*/ * * * *", "step"},
               {"*/-5 * * * *", "step"},
               {"5-1 * * * *", "backwards"},
               {"* * * * fri-mon", "backwards"},
               {"1,,2 * * * *", "minute"},
               {", * * * *", "minute"},
               {"1- * * * *", "minute"},
               {"1-2-3 * * * *", "minute"},
               {"? * * * *", "minute"},
               {"1.5 * * * *", "minute"},
               {"0x1 * * * *", "minute"},
               {"99999999999999999999 * * * *", "minute"},
               {"@reboot", "five or six"},
               {"@Daily", "five or six"},
               {"* * * * *\n0 0 * * *", "five or six"}};
    char longer[600];
    hf_err err;
    hf_cron cron;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        err = (hf_err){0};
        ck_assert_msg(hf_cron_parse(hf_slice_of(bad[i].text), &cron, &err) == HF_INVALID, "%s",
                      bad[i].text);
        ck_assert_msg(strstr(err.text, bad[i].said), "%s: %s", bad[i].text, err.text);
    }
    memset(longer, '1', sizeof(longer));
    ck_assert_int_eq(hf_cron_parse(hf_slice_from(longer, sizeof(longer)), &cron, &err), HF_INVALID);
}
END_TEST

HF_SUITE_MAIN("model/cron", {fires_as_brute_force_says, 300},
              {fires_as_brute_force_says_in_odd_years, 300}, {six_fields_have_seconds, 0},
              {names_stand_for_numbers, 0}, {impossible_dates_never_fire, 0},
              {bad_expressions_are_refused, 0})
