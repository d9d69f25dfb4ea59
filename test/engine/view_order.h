/* view_order.h: what the test programs of operators' views share: a program with something of
   everything to show, the start of a run of it, and lists. Included once per program. */
#ifndef HF_TEST_ENGINE_VIEW_ORDER_H
#define HF_TEST_ENGINE_VIEW_ORDER_H

#include "base/attr.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "lib/kit.h"

static hf_value charge(hf_act *a, hf_value in)
{
    if (hf_bool(in, "bad", false))
        return hf_reject(a, "card_declined", "card %lld was declined",
                         (long long)hf_int(in, "n", 0));
    return hf_json(a, "{'paid': %lld}", (long long)hf_int(in, "n", 0));
}

static hf_value order_run(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    (void)hf_activity(w, "charge", in, .err = &failed);
    hf_sleep(w, 1000);
    if (hf_bool(in, "wait", false))
        (void)hf_receive(w, "go");
    return hf_json(w, "{'done': true}");
}

static const hf_signal_def order_signals[] = {{"go", "note:string?"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order_run, .signals = order_signals}, {0}};
static const hf_activity_def activities[] = {{hf_fn(charge)}, {0}};
static const hf_app app = {.name = "view", .workflows = workflows, .activities = activities};

static HF_UNUSED void order_start(hf_engine *d, const char *id, bool wait, bool bad)
{
    hf_kit_ok(d,
              hf_start(d, "order",
                       hf_json(d, "{'n': 17, 'wait': %p, 'bad': %p}",
                               (const void *)hf_value_bool(wait), (const void *)hf_value_bool(bad)),
                       .id = id, .labels = "{\"region\":\"eu\"}", .business_key = "b-1"));
    hf_kit_ok(d, hf_test_drain(d));
}

static HF_UNUSED hf_value listed(hf_engine *d, hf_mem *mem, hf_value request)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_list_runs(d, request, mem, &out));
    return hf_get(out, "items");
}

#endif
