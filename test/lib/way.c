/* way.c: see way.h. */
#include "lib/way.h"

#include "lib/nap.h"

enum { PATIENCE_MS = 30000, PAUSES_MAX = 1000, PART_US = 20000000 };

int64_t hf_way_now_us(const hf_way *way)
{
    return hf_clock_wall_us(way->clock);
}

static bool is_outside(const hf_way *way)
{
    return !pthread_equal(pthread_self(), way->thread);
}

void hf_way_settle(hf_way *way)
{
    bool outside = is_outside(way);
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + PATIENCE_MS * INT64_C(1000);
    int64_t before;
    int64_t now = 0;
    int quiet = 0;

    if (!outside)
        way->moves->go(way);
    while (quiet < 2) {
        before = now;
        if (outside)
            quiet = way->moves->look(way).busy ? 0 : quiet + 1;
        else if (!way->moves->rests(way, &now))
            quiet = 0;
        else
            quiet = quiet && before != now ? 1 : quiet + 1;
        ck_assert_msg(hf_clock_mono_us(hf_clock_system()) < until_us,
                      "the world does not come to rest: %s", way->moves->tell(way));
        if (quiet == 0)
            hf_nap_ms(1);
    }
    if (!outside)
        way->moves->hold(way);
}

void hf_way_sql(hf_test_place *place, const char *sql)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    hf_test_ok(hf_db_script(db, sql, &err), &err, sql);
    hf_db_close(db);
}

static void clock_move(hf_way *way, int64_t by_us)
{
    hf_clock_advance(way->clock, by_us);
    way->moves->moved(way);
}

static int64_t next_due(hf_way *way)
{
    int64_t batch_us = way->moves->batch_us(way);
    int64_t next_us;

    way->moves->go(way);
    next_us = way->moves->look(way).next_us;
    return batch_us < next_us ? batch_us : next_us;
}

static void run_until(hf_way *way, int64_t end_us)
{
    int64_t next_us;

    hf_way_settle(way);
    while ((next_us = next_due(way)) <= end_us) {
        if (next_us > hf_way_now_us(way))
            clock_move(way, next_us - hf_way_now_us(way));
        hf_way_settle(way);
    }
    if (hf_way_now_us(way) < end_us)
        clock_move(way, end_us - hf_way_now_us(way));
    way->moves->passed(way);
    hf_way_settle(way);
}

void hf_way_advance(hf_way *way, hf_ms by)
{
    int64_t end_us = hf_clock_after(hf_way_now_us(way), by);
    int64_t part_us;

    if (!is_outside(way)) {
        run_until(way, end_us);
        return;
    }
    hf_way_settle(way); /* whoever asks holds its task now */
    part_us = way->moves->look(way).leases ? PART_US : by * 1000;
    do {
        int64_t left_us = end_us - hf_way_now_us(way);

        clock_move(way, left_us < part_us ? left_us : part_us);
        way->moves->passed(way);
        hf_way_settle(way);
    } while (hf_way_now_us(way) < end_us);
}

/* The end of the next pause before another attempt; INT64_MAX: there is none. */
static int64_t pause_end(hf_way *way)
{
    int64_t step_us;
    int64_t attempt_us;

    way->moves->go(way);
    step_us = way->moves->look(way).pause_us;
    attempt_us = hf_rein_pause_end(way->home);
    return step_us < attempt_us ? step_us : attempt_us;
}

void hf_way_drain(hf_way *way)
{
    int64_t end_us;

    hf_way_settle(way);
    for (int i = 0; i < PAUSES_MAX && (end_us = pause_end(way)) != INT64_MAX; i++)
        run_until(way, end_us);
    hf_way_settle(way);
}
