/* date.h: dates of the Gregorian calendar as days since 1970-01-01, for the years 1 to 9999.
   Arithmetic only: no clock, no time zone, no locale. */
#ifndef HF_BASE_DATE_H
#define HF_BASE_DATE_H

typedef struct hf_date {
    int year;  /* 1 to 9999 */
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
} hf_date;

enum { HF_SECONDS_PER_DAY = 86400 };

/* 28 to 31. */
int hf_date_month_days(int year, int month);

/* Days since 1970-01-01, negative before. The day must exist in its month. */
int hf_date_to_days(hf_date date);
hf_date hf_date_of_days(int days);

/* 0 is Sunday, 6 is Saturday. */
int hf_date_weekday(int days);

#endif
