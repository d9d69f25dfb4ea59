/* test_clock.c: real and virtual clocks, and timestamps over all years they cover. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/thread.h"
#include "lib/suite.h"

enum { THREADS = 4, ADVANCES = 20000 };

typedef struct time_row {
    int64_t wall_us;
    const char *text;
} time_row;

/* Made with Python's datetime: edges, then random moments. */
static const time_row rows[] = {
    {INT64_C(0), "1970-01-01T00:00:00.000000Z"},
    {INT64_C(1), "1970-01-01T00:00:00.000001Z"},
    {INT64_C(68255999999999), "1972-02-29T23:59:59.999999Z"},
    {INT64_C(946684799999999), "1999-12-31T23:59:59.999999Z"},
    {INT64_C(951825600000000), "2000-02-29T12:00:00.000000Z"},
    {INT64_C(951868800000000), "2000-03-01T00:00:00.000000Z"},
    {INT64_C(978220800000000), "2000-12-31T00:00:00.000000Z"},
    {INT64_C(1775124672123456), "2026-04-02T10:11:12.123456Z"},
    {INT64_C(2147483648000000), "2038-01-19T03:14:08.000000Z"},
    {INT64_C(4107542399999999), "2100-02-28T23:59:59.999999Z"},
    {INT64_C(4107542400000000), "2100-03-01T00:00:00.000000Z"},
    {INT64_C(13574563200000001), "2400-02-29T00:00:00.000001Z"},
    {INT64_C(13917616685163600), "2411-01-12T12:38:05.163600Z"},
    {INT64_C(14293146058676756), "2422-12-06T22:20:58.676756Z"},
    {INT64_C(17037441301826086), "2509-11-23T14:35:01.826086Z"},
    {INT64_C(17830522145017257), "2535-01-10T18:49:05.017257Z"},
    {INT64_C(24772602725224664), "2755-01-05T22:32:05.224664Z"},
    {INT64_C(27131138911735851), "2829-10-01T19:28:31.735851Z"},
    {INT64_C(28082451990802947), "2859-11-24T09:06:30.802947Z"},
    {INT64_C(29703784141952395), "2911-04-11T19:09:01.952395Z"},
    {INT64_C(38385028354578123), "3186-05-17T03:52:34.578123Z"},
    {INT64_C(54150138663261511), "3685-12-12T17:11:03.261511Z"},
    {INT64_C(61882539520249589), "3930-12-25T02:18:40.249589Z"},
    {INT64_C(63722501228452556), "3989-04-14T22:47:08.452556Z"},
    {INT64_C(69366385010150287), "4168-02-18T16:16:50.150287Z"},
    {INT64_C(113800124137606455), "5576-03-08T01:35:37.606455Z"},
    {INT64_C(120529918198245210), "5789-06-10T04:49:58.245210Z"},
    {INT64_C(120808605122549142), "5798-04-09T17:52:02.549142Z"},
    {INT64_C(143081733929678303), "6504-01-30T14:05:29.678303Z"},
    {INT64_C(153257926535852372), "6826-07-20T14:15:35.852372Z"},
    {INT64_C(155842094385981092), "6908-06-09T22:39:45.981092Z"},
    {INT64_C(158828556715620313), "7003-01-29T11:31:55.620313Z"},
    {INT64_C(160447729131902896), "7054-05-21T21:38:51.902896Z"},
    {INT64_C(161483165267438136), "7087-03-14T02:47:47.438136Z"},
    {INT64_C(162668085559619639), "7124-09-30T11:19:19.619639Z"},
    {INT64_C(162980934259086511), "7134-08-30T09:44:19.086511Z"},
    {INT64_C(164554667360494016), "7184-07-12T21:49:20.494016Z"},
    {INT64_C(164638455574544273), "7187-03-09T16:19:34.544273Z"},
    {INT64_C(167977207604300280), "7292-12-25T15:26:44.300280Z"},
    {INT64_C(168037415580038837), "7294-11-22T11:53:00.038837Z"},
    {INT64_C(168770823979336911), "7318-02-19T00:26:19.336911Z"},
    {INT64_C(178417365548139956), "7623-10-27T19:19:08.139956Z"},
    {INT64_C(181765542366294105), "7729-12-02T20:26:06.294105Z"},
    {INT64_C(196573896364632111), "8199-03-06T20:06:04.632111Z"},
    {INT64_C(205251953942919977), "8474-03-05T07:39:02.919977Z"},
    {INT64_C(224020943330521214), "9068-12-09T23:48:50.521214Z"},
    {INT64_C(236716195117215539), "9471-03-28T18:38:37.215539Z"},
    {INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z"},
};

static bool year_is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && year_is_leap(year) ? 29 : days[month - 1];
}

static bool parses(const char *text)
{
    int64_t wall_us = 77;
    bool ok = hf_clock_parse(hf_slice_of(text), &wall_us);

    ck_assert(ok || wall_us == 77);
    return ok;
}

/* Printing and reading agree with the table. */
START_TEST(timestamps_agree_with_the_table)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[HF_CLOCK_TEXT_SIZE];
        int64_t wall_us = -1;

        ck_assert(hf_clock_print(rows[i].wall_us, text));
        ck_assert_str_eq(text, rows[i].text);
        ck_assert(hf_clock_parse(hf_slice_of(rows[i].text), &wall_us));
        ck_assert_int_eq(wall_us, rows[i].wall_us);
    }
}
END_TEST

static bool day_is_exact(int64_t last_us, int year, int month, int day)
{
    char text[HF_CLOCK_TEXT_SIZE];
    char expected[64];
    int64_t read_us = -1;

    (void)snprintf(expected, sizeof(expected), "%04d-%02d-%02dT23:59:59.999999Z", year, month, day);
    return hf_clock_print(last_us, text) && strcmp(text, expected) == 0 &&
           hf_clock_parse(hf_slice_of(text), &read_us) && read_us == last_us;
}

/* The last microsecond of every single day from 1970 to 9999, counted by a naive calendar. */
START_TEST(every_day_is_exact)
{
    int64_t day_us = INT64_C(86400000000);
    int64_t wall_us = 0;

    for (int year = 1970; year <= 9999; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= month_days(year, month); day++) {
                wall_us += day_us;
                if (!day_is_exact(wall_us - 1, year, month, day))
                    ck_abort_msg("%04d-%02d-%02d", year, month, day);
            }
        }
    }
    ck_assert_int_eq(wall_us - 1, HF_CLOCK_WALL_US_MAX);
}
END_TEST

/* Days that a month does not have are refused in every month of ordinary and leap years. */
START_TEST(days_that_do_not_exist_are_refused)
{
    const int years[] = {1970, 1972, 2000, 2023, 2024, 2100, 2400, 9999};

    for (size_t i = 0; i < sizeof(years) / sizeof(years[0]); i++) {
        for (int month = 0; month <= 13; month++) {
            for (int day = 0; day <= 32; day++) {
                char text[40];
                bool exists =
                    month >= 1 && month <= 12 && day >= 1 && day <= month_days(years[i], month);

                (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT00:00:00Z", years[i], month,
                               day);
                ck_assert_msg(parses(text) == exists, "%s", text);
            }
        }
    }
}
END_TEST

/* What has no timestamp is not printed. */
START_TEST(times_outside_the_calendar_are_refused)
{
    const int64_t bad[] = {-1, INT64_MIN, INT64_MAX, HF_CLOCK_WALL_US_MAX + 1};
    char text[HF_CLOCK_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memset(text, 'x', sizeof(text));
        ck_assert(!hf_clock_print(bad[i], text));
        ck_assert_str_eq(text, "");
    }
}
END_TEST

/* A fraction may have up to six digits or be missing; nothing else is negotiable. */
START_TEST(reading_is_strict)
{
    const char *bad[] = {
        "",
        "2026",
        "2026-04-02",
        "2026-04-02T10:11:12",
        "2026-04-02T10:11:12.Z",
        "2026-04-02T10:11:12.1234567Z",
        "2026-04-02T10:11:12.123456",
        "2026-04-02T10:11:12.123456z",
        "2026-04-02t10:11:12.123456Z",
        "2026-04-02 10:11:12.123456Z",
        "2026-04-02T10:11:12,123456Z",
        "2026-04-02T10:11:12.123456Z ",
        " 2026-04-02T10:11:12.123456Z",
        "2026-04-02T10:11:12.123456ZZ",
        "2026-04-02T10:11:12.12Z456Z",
        "2026-04-02T10:11:12+00:00",
        "2026-04-02T10:11Z",
        "2026-04-02T24:00:00Z",
        "2026-04-02T23:60:00Z",
        "2026-04-02T23:59:60Z",
        "2026-4-02T10:11:12Z",
        "2026-04-2T10:11:12Z",
        "+026-04-02T10:11:12Z",
        "-026-04-02T10:11:12Z",
        "2026-04-02T-1:11:12Z",
        "2026-04-02T10:11:12.-1Z",
        "2026-04-02T10:11:12.1 Z",
        "1969-12-31T23:59:59.999999Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
    };
    int64_t wall_us;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!parses(bad[i]), "%s", bad[i]);
    ck_assert(!hf_clock_parse((hf_slice){0}, &wall_us));
    ck_assert(!hf_clock_parse(HF_SLICE("2026-04-02T10:11:12Z\0"), &wall_us));
    ck_assert(hf_clock_parse(HF_SLICE("2026-04-02T10:11:12Z"), &wall_us));
    ck_assert_int_eq(wall_us, INT64_C(1775124672000000));
    ck_assert(hf_clock_parse(HF_SLICE("2026-04-02T10:11:12.5Z"), &wall_us));
    ck_assert_int_eq(wall_us, INT64_C(1775124672500000));
    ck_assert(hf_clock_parse(HF_SLICE("2026-04-02T10:11:12.00005Z"), &wall_us));
    ck_assert_int_eq(wall_us, INT64_C(1775124672000050));
}
END_TEST

/* Cutting a good timestamp anywhere, or spoiling any byte of it, is noticed. */
START_TEST(damaged_timestamps_are_refused)
{
    const char *good = "2026-04-02T10:11:12.123456Z";

    for (size_t i = 0; i < strlen(good); i++) {
        char text[HF_CLOCK_TEXT_SIZE];

        (void)snprintf(text, sizeof(text), "%s", good);
        text[i] = '/';
        ck_assert_msg(!parses(text), "%s", text);
        text[i] = '\0';
        ck_assert_msg(!parses(text), "%s", text);
    }
}
END_TEST

/* The system's clock tells a time after this was written, and never goes back. */
START_TEST(system_clock_runs)
{
    const hf_clock *clock = hf_clock_system();
    int64_t last_us = hf_clock_mono_us(clock);
    int64_t first_us = last_us;

    ck_assert_int_gt(hf_clock_wall_us(clock), INT64_C(1700000000000000));
    ck_assert_int_lt(hf_clock_wall_us(clock), HF_CLOCK_WALL_US_MAX);
    while (last_us < first_us + 2000) {
        int64_t now_us = hf_clock_mono_us(clock);

        ck_assert_int_ge(now_us, last_us);
        last_us = now_us;
    }
}
END_TEST

/* A virtual clock stands still, advances on both scales and lets wall time jump either way. */
START_TEST(virtual_clock_obeys)
{
    hf_clock *clock = hf_clock_new_virtual(1000);

    ck_assert_ptr_nonnull(clock);
    ck_assert_int_eq(hf_clock_wall_us(clock), 1000);
    ck_assert_int_eq(hf_clock_mono_us(clock), 0);
    hf_clock_advance(clock, 50);
    hf_clock_advance(clock, 0);
    ck_assert_int_eq(hf_clock_wall_us(clock), 1050);
    ck_assert_int_eq(hf_clock_mono_us(clock), 50);
    hf_clock_set_wall(clock, -7);
    ck_assert_int_eq(hf_clock_wall_us(clock), -7);
    ck_assert_int_eq(hf_clock_mono_us(clock), 50);
    hf_clock_set_wall(clock, HF_CLOCK_WALL_US_MAX);
    hf_clock_advance(clock, 1);
    ck_assert_int_eq(hf_clock_wall_us(clock), HF_CLOCK_WALL_US_MAX + 1);
    ck_assert_int_eq(hf_clock_mono_us(clock), 51);
    hf_clock_free_virtual(clock);
    hf_clock_free_virtual(NULL);
}
END_TEST

/* A steady clock goes on as time passes, whatever wall time does, and tells each jump once. */
START_TEST(n46_steady_clock_does_not_jump)
{
    const int64_t second = 1000000;
    hf_clock *under = hf_clock_new_virtual(100 * second);
    hf_clock *clock = hf_clock_new_steady(under);
    int64_t by_us = -1;

    ck_assert_ptr_nonnull(clock);
    ck_assert_int_eq(hf_clock_wall_us(clock), 100 * second);
    hf_clock_advance(under, second);
    ck_assert_int_eq(hf_clock_wall_us(clock), 101 * second);
    ck_assert_int_eq(hf_clock_mono_us(clock), second);
    ck_assert(!hf_clock_jumped(clock, &by_us));
    hf_clock_set_wall(under, 101 * second + second / 2);
    ck_assert(!hf_clock_jumped(clock, &by_us)); /* a step that is not worth a word */
    ck_assert_int_eq(hf_clock_ahead_us(clock), 0);
    hf_clock_set_wall(under, 3701 * second);
    ck_assert_int_eq(hf_clock_wall_us(clock), 101 * second);
    ck_assert_int_eq(hf_clock_real_us(clock), 3701 * second);
    ck_assert_int_eq(hf_clock_ahead_us(clock), 3600 * second);
    ck_assert(hf_clock_jumped(clock, &by_us));
    ck_assert_int_eq(by_us, 3600 * second);
    ck_assert(!hf_clock_jumped(clock, &by_us));
    hf_clock_advance(under, second);
    ck_assert(!hf_clock_jumped(clock, &by_us));
    hf_clock_set_wall(under, 0);
    ck_assert(hf_clock_jumped(clock, &by_us));
    ck_assert_int_eq(by_us, -3702 * second);
    ck_assert_int_eq(hf_clock_wall_us(clock), 102 * second);
    hf_clock_free_steady(clock);
    clock = hf_clock_new_steady(under); /* wall time counts where it begins */
    ck_assert_int_eq(hf_clock_wall_us(clock), 0);
    hf_clock_free_steady(clock);
    hf_clock_free_steady(NULL);
    hf_clock_free_virtual(under);
    clock = hf_clock_new_steady(hf_clock_system());
    by_us = hf_clock_wall_us(clock);
    ck_assert_int_ge(hf_clock_wall_us(clock), by_us);
    ck_assert_int_eq(hf_clock_ahead_us(clock), 0);
    ck_assert_int_eq(hf_clock_real_us(hf_clock_system()) / (3600 * second),
                     hf_clock_wall_us(hf_clock_system()) / (3600 * second));
    hf_clock_free_steady(clock);
}
END_TEST

/* So does one that learns from somebody else; it follows what is near, and never goes back. */
START_TEST(n46_learning_clock_does_not_jump)
{
    const int64_t second = 1000000;
    const int64_t hour = 3600 * second;
    hf_clock *under = hf_clock_new_virtual(5 * second);
    hf_clock *clock = hf_clock_new_steady(under);
    int64_t by_us = 0;
    int64_t now_us;

    ck_assert_ptr_nonnull(clock);
    hf_clock_advance(under, second);
    hf_clock_learn(clock, 100 * second, 0, second); /* said at some moment of this second */
    ck_assert_int_eq(hf_clock_wall_us(clock), 100 * second);
    ck_assert_int_eq(hf_clock_real_us(clock), 100 * second);
    ck_assert(!hf_clock_jump_waits(clock));
    hf_clock_set_wall(under, hour); /* does not count any more */
    ck_assert_int_eq(hf_clock_wall_us(clock), 100 * second);
    hf_clock_advance(under, second);
    hf_clock_learn(clock, 101 * second + second / 2, second * 2, second * 2);
    ck_assert_int_eq(hf_clock_wall_us(clock), 101 * second + second / 2); /* a better answer */
    hf_clock_learn(clock, 101 * second, second * 2, second * 2);
    ck_assert_int_eq(hf_clock_wall_us(clock), 101 * second + second / 2); /* stands still */
    hf_clock_advance(under, second);
    ck_assert_int_eq(hf_clock_wall_us(clock), 102 * second);
    hf_clock_learn(clock, 102 * second + hour, second * 3, second * 3);
    ck_assert_int_eq(hf_clock_wall_us(clock), 102 * second);
    ck_assert_int_eq(hf_clock_ahead_us(clock), hour);
    ck_assert(hf_clock_jump_waits(clock));
    ck_assert(hf_clock_jumped(clock, &by_us));
    ck_assert_int_eq(by_us, hour);
    ck_assert(!hf_clock_jump_waits(clock) && !hf_clock_jumped(clock, &by_us));
    hf_clock_advance(under, second);
    hf_clock_learn(clock, 103 * second + second / 4 + hour, second * 4, second * 4);
    ck_assert_int_eq(hf_clock_wall_us(clock), 103 * second + second / 4); /* near what it is now */
    hf_clock_learn(clock, 3 * second, second * 4, second * 4);
    ck_assert_int_eq(hf_clock_wall_us(clock), 103 * second + second / 4);
    ck_assert_int_eq(hf_clock_real_us(clock), 3 * second);
    ck_assert(hf_clock_jumped(clock, &by_us));
    now_us = hf_clock_wall_us(clock);
    hf_clock_advance(under, hour); /* an answer that took an hour tells nothing new */
    hf_clock_learn(clock, 3 * second + hour / 2, second * 4, second * 4 + hour);
    ck_assert_int_eq(hf_clock_wall_us(clock), now_us + hour);
    ck_assert(!hf_clock_jump_waits(clock));
    hf_clock_free_steady(clock);
    hf_clock_free_virtual(under);
}
END_TEST

static void clock_push(void *ctx)
{
    hf_clock *clock = ctx;
    int64_t last_us = hf_clock_mono_us(clock);

    for (int i = 0; i < ADVANCES; i++) {
        int64_t now_us;

        hf_clock_advance(clock, 3);
        now_us = hf_clock_mono_us(clock);
        if (now_us < last_us + 3)
            hf_clock_set_wall(clock, -1000000000); /* spoils the sum below */
        last_us = now_us;
    }
}

/* Advances from several threads add up; none is lost. */
START_TEST(virtual_clock_is_shared)
{
    hf_clock *clock = hf_clock_new_virtual(0);
    hf_thread threads[THREADS] = {0};

    ck_assert_ptr_nonnull(clock);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "clock", clock_push, clock, NULL), HF_OK);
    for (int i = 0; i < THREADS; i++)
        hf_thread_join(&threads[i]);
    ck_assert_int_eq(hf_clock_wall_us(clock), 3 * THREADS * ADVANCES);
    ck_assert_int_eq(hf_clock_mono_us(clock), 3 * THREADS * ADVANCES);
    hf_clock_free_virtual(clock);
}
END_TEST

/* Without memory there is no virtual clock; the system's needs none. */
START_TEST(clock_without_memory)
{
    hf_clock *clock;
    bool starved;

    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    clock = hf_clock_new_virtual(0);
    ck_assert_ptr_nonnull(hf_clock_system());
    starved = hf_fault_seen(HF_FAULT_ALLOC) > 0;
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_eq(clock == NULL, starved);
    hf_clock_free_virtual(clock);
}
END_TEST

HF_SUITE_MAIN("base/clock", {timestamps_agree_with_the_table, 0}, {every_day_is_exact, 300},
              {days_that_do_not_exist_are_refused, 0}, {times_outside_the_calendar_are_refused, 0},
              {reading_is_strict, 0}, {damaged_timestamps_are_refused, 0}, {system_clock_runs, 0},
              {virtual_clock_obeys, 0}, {virtual_clock_is_shared, 0}, {clock_without_memory, 0},
              {n46_steady_clock_does_not_jump, 0}, {n46_learning_clock_does_not_jump, 0})
