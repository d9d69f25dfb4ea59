/* date.c: see date.h. The library's own functions depend on locale and environment. */
#include "base/date.h"

#include <stdbool.h>

#include "base/assert.h"

enum {
    DAYS_PER_YEAR = 365,
    DAYS_PER_4_YEARS = 4 * 365 + 1,
    DAYS_PER_100_YEARS = 25 * DAYS_PER_4_YEARS - 1,
    DAYS_PER_400_YEARS = 4 * DAYS_PER_100_YEARS + 1,
    DAYS_BEFORE_1970 = 719162, /* since the first of January of the year 1 */
    WEEKDAY_OF_1970 = 4
};

/* Days of a common year before each month; the last entry is the year. */
static const int month_starts[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

static bool year_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of `year` before its `month` (1 to 12, or 13 for the whole year). */
static int days_before_month(int year, int month)
{
    return month_starts[month - 1] + (month > 2 && year_is_leap(year) ? 1 : 0);
}

/* Days from the first of January of the year 1 to that of `year`. */
static int days_before_year(int year)
{
    int past = year - 1;

    return past * DAYS_PER_YEAR + past / 4 - past / 100 + past / 400;
}

/* The last year of a 100-year or 4-year group may be one day longer than the others, so that its
   last day would count as a fifth group or year: hence the limit of 3. */
static int groups_in(int *days, int group_days)
{
    int groups = *days / group_days;

    if (groups > 3)
        groups = 3;
    *days -= groups * group_days;
    return groups;
}

int hf_date_month_days(int year, int month)
{
    HF_ASSERT(month >= 1 && month <= 12);
    return days_before_month(year, month + 1) - days_before_month(year, month);
}

int hf_date_to_days(hf_date date)
{
    HF_ASSERT(date.day >= 1 && date.day <= hf_date_month_days(date.year, date.month));
    return days_before_year(date.year) - DAYS_BEFORE_1970 +
           days_before_month(date.year, date.month) + date.day - 1;
}

hf_date hf_date_of_days(int days)
{
    hf_date date = {.year = 1, .month = 1};

    days += DAYS_BEFORE_1970;
    HF_ASSERT(days >= 0);
    date.year += days / DAYS_PER_400_YEARS * 400;
    days %= DAYS_PER_400_YEARS;
    date.year += groups_in(&days, DAYS_PER_100_YEARS) * 100;
    date.year += days / DAYS_PER_4_YEARS * 4;
    days %= DAYS_PER_4_YEARS;
    date.year += groups_in(&days, DAYS_PER_YEAR);
    while (days >= days_before_month(date.year, date.month + 1))
        date.month++;
    date.day = days - days_before_month(date.year, date.month) + 1;
    return date;
}

int hf_date_weekday(int days)
{
    int weekday = (days + WEEKDAY_OF_1970) % 7;

    return weekday < 0 ? weekday + 7 : weekday;
}
