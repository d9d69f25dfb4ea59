/* pgclock.c: see pgclock.h. */
#include "lib/pgclock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lib/engine.h"

struct hf_pgclock {
    hf_test_place *server; /* in the database of the run */
    hf_db *outside;
    hf_test_place *place; /* in the one with the clock */
    hf_db *inside;
    char before[512]; /* of HF_TEST_PG */
    char name[64];
};

static void say(hf_db *db, const char *sql)
{
    hf_err err = {0};

    hf_test_ok(hf_db_script(db, sql, &err), &err, sql);
}

static hf_db *dial(const hf_test_place *place)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    return db;
}

hf_pgclock *hf_pgclock_open(void)
{
    hf_pgclock *clock = hf_alloc(sizeof(*clock));
    const char *before = getenv("HF_TEST_PG");
    const char *slash = before ? strrchr(before, '/') : NULL;
    char text[640];

    ck_assert(clock && slash && !strchr(slash, '?'));
    (void)snprintf(clock->before, sizeof(clock->before), "%s", before);
    (void)snprintf(clock->name, sizeof(clock->name), "clock_%ld", (long)getpid());
    clock->server = hf_test_place_new(HF_ENGINE_POSTGRES);
    clock->outside = dial(clock->server);
    (void)snprintf(text, sizeof(text), "CREATE DATABASE %s", clock->name);
    say(clock->outside, text);
    (void)snprintf(text, sizeof(text), "%.*s/%s", (int)(slash - before), before, clock->name);
    ck_assert_int_eq(setenv("HF_TEST_PG", text, 1), 0);
    clock->place = hf_test_place_new(HF_ENGINE_POSTGRES);
    clock->inside = dial(clock->place);
    say(clock->inside, "ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO real_timestamp");
    hf_pgclock_set(clock, 0);
    return clock;
}

void hf_pgclock_set(hf_pgclock *clock, long long ahead_s)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz"
                   " LANGUAGE sql VOLATILE AS"
                   " 'SELECT pg_catalog.real_timestamp() + interval ''%lld s'''",
                   ahead_s);
    say(clock->inside, text);
}

void hf_pgclock_close(hf_pgclock *clock)
{
    char text[128];

    hf_db_close(clock->inside);
    hf_test_place_free(clock->place);
    ck_assert_int_eq(setenv("HF_TEST_PG", clock->before, 1), 0);
    (void)snprintf(text, sizeof(text), "DROP DATABASE %s WITH (FORCE)", clock->name);
    say(clock->outside, text);
    hf_db_close(clock->outside);
    hf_test_place_free(clock->server);
    hf_alloc_free(clock);
}
