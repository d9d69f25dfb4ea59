/* repair_app.h: what the test programs of repair and watchdog share: lives with every kind of open
   work, the command that repairs, and looks at how alive a run is. Included once per program. */
#ifndef HF_TEST_ENGINE_REPAIR_APP_H
#define HF_TEST_ENGINE_REPAIR_APP_H

#include "base/attr.h"
#include "engine/command.h"
#include "engine/engine_impl.h"
#include "lib/agree.h"
#include "lib/handlers.h"
#include "lib/kit.h"

static int charges; /* how often the activity ran */

static hf_value charge(hf_act *a, hf_value in)
{
    (void)a;
    charges++;
    return in;
}

static hf_value faulty(hf_act *a, hf_value in)
{
    return hf_attempt(a) < 3 ? hf_retry(a, "boom", "not yet") : in;
}

static hf_value order(hf_ctx *w, hf_value in)
{
    hf_value first = hf_activity(w, "charge", in);

    return hf_json(w, "{'charge': %p, 'ok': %p}", (const void *)first,
                   (const void *)hf_receive(w, "go", .timeout = hf_int(in, "timeout", 0)));
}

static hf_value retrying(hf_ctx *w, hf_value in)
{
    static const hf_ms backoff[] = {60000};

    return hf_activity(w, "faulty", in, .max_attempts = 5, .backoff = backoff, .backoff_n = 1);
}

static hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_minutes(10));
    return in;
}

static bool positive(const void *state)
{
    return *(const int *)state > 0;
}

static hf_value conditional(hf_ctx *w, hf_value in)
{
    bool held = hf_wait(w, "stock", positive, .timeout = hf_int(in, "timeout", 0));

    return hf_json(w, "{'held': %s}", held ? "yes" : "no");
}

static hf_value add(hf_ctx *w, void *state, hf_value args)
{
    (void)w;
    *(int *)state += 1;
    return args;
}

static hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "order", in, .id = "kid");
}

static hf_value crowd(hf_ctx *w, hf_value in)
{
    return hf_all(w, HF_ACTIVITY("faulty", in, .max_attempts = 5), HF_ACTIVITY("charge", in),
                  HF_ACTIVITY("faulty", in, .max_attempts = 5));
}

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_update_def updates[] = {{.name = "add", .apply = add}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order, .signals = go},
    {.type = "retrying", .run = retrying},
    {.type = "sleeper", .run = sleeper},
    {.type = "conditional", .run = conditional, .state_size = sizeof(int), .updates = updates},
    {.type = "parent", .run = parent},
    {.type = "patient", .run = hf_wait_go, .signals = go},
    {.type = "crowd", .run = crowd},
    {0}};
static const hf_activity_def activities[] = {
    {.name = "charge", .run = charge}, {.name = "faulty", .run = faulty}, {0}};
static const hf_app app = {.name = "test", .workflows = workflows, .activities = activities};

static HF_UNUSED hf_reply repair(hf_engine *d, const char *id)
{
    const hf_request request = {
        .type = HF_COMMAND_TYPE_REPAIR, .id = hf_slice_of(id), .reason = HF_SLICE("a test")};
    hf_reply reply;
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "repair");
    return reply;
}

static HF_UNUSED const char *outcome(hf_engine *d, const char *id)
{
    hf_reply reply = repair(d, id);

    return hf_cmd_outcome_text((hf_cmd_outcome)reply.outcome);
}

static HF_UNUSED hf_value state(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &out));
    hf_agree_check(d, id, hf_get(out, "liveness"));
    return hf_get(out, "liveness");
}

static HF_UNUSED const char *liveness(hf_engine *d, const char *id)
{
    return hf_str(state(d, id), "liveness_state", "");
}

static HF_UNUSED void pump_without_activities(hf_engine *d)
{
    while (hf_writer_step(d->writer) || hf_core_step(d->core))
        ;
}

/* Nothing is in memory any more: only rows and history can bring the run back. */
static HF_UNUSED void forget(hf_engine *d)
{
    hf_test_crash(d);
    pump_without_activities(d);
}

#endif
