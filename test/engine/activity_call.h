/* activity_call.h: what the test programs of activities share: a workflow that calls one activity
   the way its input says, an activity that fails at first, and the start of a run. A program
   has its own activities in an hf_app that is called `app`. Included once per program. */
#ifndef HF_TEST_ENGINE_ACTIVITY_CALL_H
#define HF_TEST_ENGINE_ACTIVITY_CALL_H

#include <string.h>

#include "base/attr.h"
#include "lib/kit.h"

static hf_engine *world;  /* the engine of the case, for activities that let time pass */
static _Atomic int calls; /* of activity code, in this process */

static HF_UNUSED hf_value flaky(hf_act *a, hf_value in)
{
    calls++;
    if (hf_attempt(a) < (int)hf_int(in, "good", 3))
        return hf_retry(a, hf_str(in, "type", "gateway_timeout"), "attempt %d", hf_attempt(a));
    return hf_json(a, "{'attempt': %d, 'key': %s}", hf_attempt(a), hf_idempotency_key(a));
}

static HF_UNUSED hf_value call(hf_ctx *w, hf_value in)
{
    const hf_ms backoff[] = {hf_seconds(1), hf_seconds(3)};
    const hf_error *e = NULL;
    hf_value out = hf_activity(w, hf_str(in, "activity", "echo"), in,
                               .max_attempts = (int)hf_int(in, "max", 0),
                               .schedule_to_start = hf_int(in, "schedule_to_start", 0),
                               .start_to_close = hf_int(in, "start_to_close", 0),
                               .schedule_to_close = hf_int(in, "schedule_to_close", 0),
                               .heartbeat = hf_int(in, "heartbeat", 0),
                               .backoff = hf_bool(in, "listed", false) ? backoff : NULL,
                               .backoff_n = hf_bool(in, "listed", false) ? 2 : 0,
                               .no_retry_on = hf_str(in, "final", NULL), .err = &e);

    return e ? hf_json(w, "{'error': %s, 'message': %s}", e->type, e->message) : out;
}

/* The engine on a new place, with a run that went as far as it gets while no time passes. */
static HF_UNUSED hf_engine *run_begin(hf_engine_kind kind, const hf_app *app, const char *id,
                                      const char *type, const char *input)
{
    world = hf_kit_open(kind, app);
    hf_kit_ok(world,
              hf_start(world, type,
                       hf_json(world, "%p",
                               (void *)hf_parse_(hf_mem_of_engine(world), input, strlen(input))),
                       .id = id));
    hf_kit_ok(world, hf_test_advance(world, 0));
    return world;
}

/* With the program's own `app`. */
#define begin(kind, id, type, input) run_begin(kind, &app, id, type, input)

#define QUOTE(...) #__VA_ARGS__

#endif
