/* clock.c: the only caller of clock_gettime. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/date.h"
#include "base/sched.h"

enum { YEAR_MIN = 1970 };

#define US_PER_SECOND  INT64_C(1000000)
#define ADVANCE_US_MAX HF_CLOCK_WALL_US_MAX
#define JUMP_US        US_PER_SECOND

struct hf_clock {
    bool is_virtual;         /* otherwise the system is asked and the rest is unused */
    _Atomic int64_t wall_us; /* virtual only */
    _Atomic int64_t mono_us; /* virtual only */
    const hf_clock *under;   /* steady only, as all that follows */
    _Atomic int64_t told_us; /* how far real time is ahead of it, as was told */
    _Atomic int64_t gap_us;  /* its wall time before what passes */
    _Atomic bool learns;     /* its real time is somebody else's, not that of the one under it */
    _Atomic int64_t set_us;  /* how far theirs is ahead of it: the jumps that it did not follow */
    _Atomic int64_t last_us; /* that it told since it learns */
};

static const hf_clock clock_of_system = {.is_virtual = false};

static int64_t system_us(clockid_t id)
{
    hf_sched *sched = hf_sched_here();
    struct timespec now;
    int rc;

    if (sched)
        return sched->time_us(sched, id == CLOCK_REALTIME);
    rc = clock_gettime(id, &now);

    HF_ASSERT(rc == 0);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* Writes `number` with leading zeros in exactly `width` digits and the byte `after` behind them. */
static char *digits_print(char *at, int width, int number, char after)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + number % 10);
        number /= 10;
    }
    at[width] = after;
    return at + width + 1;
}

/* Takes exactly `width` digits and the byte `after` from the front of *rest. */
static bool digits_parse(hf_slice *rest, size_t width, char after, int *out_number)
{
    int number = 0;

    if (rest->len <= width || rest->ptr[width] != after)
        return false;
    for (size_t i = 0; i < width; i++) {
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
            return false;
        number = number * 10 + (rest->ptr[i] - '0');
    }
    rest->ptr += width + 1;
    rest->len -= width + 1;
    *out_number = number;
    return true;
}

/* Takes ".", one to six digits and "Z": what follows the seconds when they have a fraction. */
static bool fraction_parse(hf_slice *rest, int *out_us)
{
    size_t width = rest->len >= 2 ? rest->len - 1 : 0;

    if (width < 1 || width > 6 || !digits_parse(rest, width, 'Z', out_us))
        return false;
    for (size_t i = width; i < 6; i++)
        *out_us *= 10;
    return true;
}

const hf_clock *hf_clock_system(void)
{
    return &clock_of_system;
}

hf_clock *hf_clock_new_virtual(int64_t wall_us)
{
    hf_clock *clock = hf_alloc(sizeof(*clock));

    if (!clock)
        return NULL;
    clock->is_virtual = true;
    atomic_init(&clock->wall_us, wall_us);
    atomic_init(&clock->mono_us, 0);
    return clock;
}

void hf_clock_free_virtual(hf_clock *clock)
{
    HF_ASSERT(!clock || clock->is_virtual);
    hf_alloc_free(clock);
}

int64_t hf_clock_passing_us(const hf_clock *clock)
{
    if (clock->under)
        return hf_clock_passing_us(clock->under);
    return clock->is_virtual ? atomic_load(&clock->mono_us) : system_us(CLOCK_BOOTTIME);
}

hf_clock *hf_clock_new_steady(const hf_clock *under)
{
    hf_clock *clock = hf_alloc(sizeof(*clock));

    if (!clock)
        return NULL;
    clock->under = under;
    atomic_init(&clock->gap_us, hf_clock_wall_us(under) - hf_clock_passing_us(under));
    return clock;
}

void hf_clock_free_steady(hf_clock *clock)
{
    HF_ASSERT(!clock || clock->under);
    hf_alloc_free(clock);
}

void hf_clock_learn(hf_clock *clock, int64_t theirs_us, int64_t sent_us, int64_t heard_us)
{
    int64_t most_us = theirs_us - sent_us;
    int64_t least_us = theirs_us - heard_us;
    int64_t set_us = atomic_load(&clock->set_us);
    int64_t gap_us = atomic_load(&clock->gap_us) + set_us; /* as theirs is expected to be */

    HF_ASSERT(clock->under && least_us <= most_us);
    if (!atomic_load(&clock->learns))
        atomic_store(&clock->gap_us, least_us);
    else if (least_us - gap_us >= JUMP_US)
        atomic_store(&clock->set_us, set_us + (least_us - gap_us));
    else if (gap_us - most_us >= JUMP_US)
        atomic_store(&clock->set_us, set_us + (most_us - gap_us));
    else if (least_us > gap_us)
        atomic_store(&clock->gap_us, least_us - set_us);
    else if (most_us < gap_us)
        atomic_store(&clock->gap_us, most_us - set_us);
    atomic_store(&clock->learns, true);
}

/* Small corrections may be backwards: it stands still then. */
static int64_t learned_us(const hf_clock *clock)
{
    _Atomic int64_t *last = (_Atomic int64_t *)&clock->last_us; /* const is for who reads it */
    int64_t now_us = atomic_load(&clock->gap_us) + hf_clock_passing_us(clock);
    int64_t last_us = atomic_load(last);

    while (now_us > last_us && !atomic_compare_exchange_weak(last, &last_us, now_us))
        ;
    return now_us > last_us ? now_us : last_us;
}

int64_t hf_clock_real_us(const hf_clock *clock)
{
    if (clock->under && atomic_load(&clock->learns))
        return hf_clock_wall_us(clock) + atomic_load(&clock->set_us);
    return hf_clock_wall_us(clock->under ? clock->under : clock);
}

static bool is_jump(int64_t by_us)
{
    return by_us >= JUMP_US || by_us <= -JUMP_US;
}

/* How far real time is ahead, in small steps as well. */
static int64_t lead_us(const hf_clock *clock)
{
    return hf_clock_real_us(clock) - hf_clock_wall_us(clock);
}

int64_t hf_clock_ahead_us(const hf_clock *clock)
{
    int64_t ahead_us = clock->under ? lead_us(clock) : 0;

    return is_jump(ahead_us) ? ahead_us : 0;
}

bool hf_clock_jump_waits(const hf_clock *clock)
{
    HF_ASSERT(clock->under);
    return is_jump(lead_us(clock) - atomic_load(&clock->told_us));
}

bool hf_clock_jumped(hf_clock *clock, int64_t *out_by_us)
{
    int64_t told_us = atomic_load(&clock->told_us);
    int64_t ahead_us;

    HF_ASSERT(clock->under);
    ahead_us = lead_us(clock);
    *out_by_us = ahead_us - told_us;
    return is_jump(*out_by_us) &&
           atomic_compare_exchange_strong(&clock->told_us, &told_us, ahead_us);
}

int64_t hf_clock_wall_us(const hf_clock *clock)
{
    if (clock->under)
        return atomic_load(&clock->learns)
                   ? learned_us(clock)
                   : atomic_load(&clock->gap_us) + hf_clock_passing_us(clock);
    return clock->is_virtual ? atomic_load(&clock->wall_us) : system_us(CLOCK_REALTIME);
}

int64_t hf_clock_mono_us(const hf_clock *clock)
{
    if (clock->under)
        return hf_clock_mono_us(clock->under);
    return clock->is_virtual ? atomic_load(&clock->mono_us) : system_us(CLOCK_MONOTONIC);
}

void hf_clock_advance(hf_clock *clock, int64_t by_us)
{
    HF_ASSERT(clock->is_virtual);
    HF_ASSERT(by_us >= 0 && by_us <= ADVANCE_US_MAX);
    atomic_fetch_add(&clock->wall_us, by_us);
    atomic_fetch_add(&clock->mono_us, by_us);
}

void hf_clock_set_wall(hf_clock *clock, int64_t wall_us)
{
    HF_ASSERT(clock->is_virtual);
    atomic_store(&clock->wall_us, wall_us);
}

int64_t hf_clock_after(int64_t from_us, int64_t ms)
{
    if (ms <= 0)
        return from_us;
    return ms < (INT64_MAX - from_us) / 1000 ? from_us + ms * 1000 : INT64_MAX;
}

bool hf_clock_print(int64_t wall_us, char out_text[HF_CLOCK_TEXT_SIZE])
{
    int64_t seconds = wall_us / US_PER_SECOND;
    int of_day = (int)(seconds % HF_SECONDS_PER_DAY);
    hf_date date;
    char *at = out_text;

    out_text[0] = '\0';
    if (wall_us < 0 || wall_us > HF_CLOCK_WALL_US_MAX)
        return false;
    date = hf_date_of_days((int)(seconds / HF_SECONDS_PER_DAY));
    at = digits_print(at, 4, date.year, '-');
    at = digits_print(at, 2, date.month, '-');
    at = digits_print(at, 2, date.day, 'T');
    at = digits_print(at, 2, of_day / 3600, ':');
    at = digits_print(at, 2, of_day / 60 % 60, ':');
    at = digits_print(at, 2, of_day % 60, '.');
    at = digits_print(at, 6, (int)(wall_us % US_PER_SECOND), 'Z');
    *at = '\0';
    return true;
}

bool hf_clock_parse(hf_slice text, int64_t *out_wall_us)
{
    hf_slice rest = text;
    hf_date date;
    int hour;
    int minute;
    int second;
    int us = 0;
    int64_t days;

    if (!digits_parse(&rest, 4, '-', &date.year) || !digits_parse(&rest, 2, '-', &date.month) ||
        !digits_parse(&rest, 2, 'T', &date.day) || !digits_parse(&rest, 2, ':', &hour) ||
        !digits_parse(&rest, 2, ':', &minute))
        return false;
    if (digits_parse(&rest, 2, '.', &second)) {
        if (!fraction_parse(&rest, &us))
            return false;
    } else if (!digits_parse(&rest, 2, 'Z', &second)) {
        return false;
    }
    if (rest.len != 0 || date.year < YEAR_MIN || date.month < 1 || date.month > 12 ||
        date.day < 1 || hour > 23 || minute > 59 || second > 59)
        return false;
    if (date.day > hf_date_month_days(date.year, date.month))
        return false; /* no such day in this month */
    days = hf_date_to_days(date);
    *out_wall_us =
        (days * HF_SECONDS_PER_DAY + hour * 3600 + minute * 60 + second) * US_PER_SECOND + us;
    return true;
}
