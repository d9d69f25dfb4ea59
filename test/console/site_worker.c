/* site_worker.c: the worker of the console's browser tests. Its types are what a page has to show:
   steps that pass, an activity that fails and is tried again, one that is refused, waits that a
   person answers, timers, children, and a type that another program does not know.

     site_worker worker --store URL        until SIGTERM; HF_TOKEN is its token

   Only public headers are used. */
#include <holdfast/holdfast.h>
#include <string.h>

typedef struct {
    bool held;
} order_state;

static hf_value reserve(hf_act *a, hf_value in)
{
    return hf_json(a, "{'sku': %s}", hf_str(in, "sku", "?"));
}

static hf_value charge(hf_act *a, hf_value in)
{
    double amount = hf_num(in, "amount", 0);

    if (amount > 1000)
        return hf_reject(a, "card_declined", "limit is 1000, asked %g", amount);
    if (amount < 0)
        return hf_retry(a, "gateway_timeout", "no answer from the acquirer after 30 s");
    return hf_json(a, "{'charge': 'C-%g'}", amount);
}

static hf_value ship(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "{'tracking': 'T-1'}");
}

static hf_value hold(hf_ctx *w, void *state, hf_value args)
{
    order_state *s = state;

    s->held = hf_bool(args, "held", true);
    return hf_json(w, "{'held': %d}", s->held);
}

static hf_value status(hf_mem *m, const void *state, hf_value args)
{
    (void)args;
    return hf_json(m, "{'held': %d}", ((const order_state *)state)->held);
}

/* Up to 500 it is shipped at once; above that a person is asked, for eight hours. */
static hf_value order(hf_ctx *w, hf_value in)
{
    double amount = hf_num(in, "amount", 0);
    hf_value what = hf_json(w, "{'sku': %s, 'amount': %g}", hf_str(in, "sku", "?"), amount);

    hf_activity(w, "reserve", what);
    hf_activity(w, "charge", what);
    if (amount > 500 && !hf_receive(w, "approved-by", .timeout = hf_hours(8)))
        hf_fail(w, "not_approved", "nobody approved within eight hours");
    return hf_activity(w, "ship", what);
}

static hf_value region(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(1));
    return in;
}

static hf_value import(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_child(w, "region", hf_json(w, "{'name': 'north'}"));
}

static const hf_activity_def activities[] = {{hf_fn(reserve)}, {hf_fn(charge)}, {hf_fn(ship)}, {0}};
static const hf_workflow_def workflows[] = {
    {"order", order, sizeof(order_state), .params = "sku:string, amount:number",
     .signals = (const hf_signal_def[]){{"approved-by", "approver:string, note:string?"}, {0}},
     .updates = (const hf_update_def[]){{"hold", "held:bool=true", hold, NULL}, {0}},
     .queries = (const hf_query_def[]){{"status", "", status}, {0}},
     .doc = "Reserve, charge and ship one order; above 500 somebody approves it first."},
    {"import", import, .doc = "Read a region in."},
    {"region", region, .params = "name:string", .doc = "One region of an import."},
    {0}};
static const hf_app app = {
    .name = "site", .workflows = workflows, .activities = activities, .build_id = "2026.04.2"};

int main(int argc, char **argv)
{
    return hf_main(argc, argv, &app);
}
