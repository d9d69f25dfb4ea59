/* An engine that has nothing to do asks the database nothing. A moment of quiet is waited for, so
   that a slow machine has the time to finish what was begun; an engine that polls has none. */
#include <time.h>

#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "lib/check_store.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/nap.h"

enum { QUIET_MS = 1000, LOOK_MS = 50, PATIENCE_MS = 60000 };

static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go", .timeout = hf_days(30));
}

static const hf_signal_def signals[] = {{.name = "go"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "calls", .run = hf_call_echo},
                                            {.type = "waits", .run = waits, .signals = signals},
                                            {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

/* Of those who write, who read for callers, and who run workflow code. */
static uint64_t driver_calls(const hf_engine *d)
{
    return hf_store_writer(d->store)->calls + d->reader->calls + d->core->db->calls;
}

/* With a run that waits for a month and one that is over, a whole second passes without a driver
   call. On PostgreSQL the leases are renewed over a connection of their own, which is not counted
   here. */
HF_BOTH_ENGINES(an_idle_engine_asks_nothing)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;
    uint64_t before;
    int quiet = 0;

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &app, &d));
    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "parked"));
    hf_kit_ok(d, hf_start(d, "calls", hf_json(d, "[1]"), .id = "done"));
    hf_kit_ok(d, hf_result(d, "done", hf_seconds(60), NULL, NULL));
    before = driver_calls(d);
    ck_assert_uint_gt(before, 0);
    for (int spent = 0; quiet < QUIET_MS && spent < PATIENCE_MS; spent += LOOK_MS) {
        uint64_t now;

        hf_nap_ms(LOOK_MS);
        now = driver_calls(d);
        quiet = now == before ? quiet + LOOK_MS : 0;
        before = now;
    }
    ck_assert_int_ge(quiet, QUIET_MS);
    hf_close(d);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("engine/idle", HF_BOTH_SLOW(an_idle_engine_asks_nothing, 120))
