/* order_app.c: reserve, charge, ship; undo what was done if a later step fails. */
#include <stdio.h>

#include "order.h"

/* -- activities: ordinary C. They may block, fail, be killed; the engine retries them. */

/* Stands for the outside world. */
static void effect(const char *what, const char *key)
{
    FILE *f = fopen("effects.log", "a");

    if (!f)
        return;
    fprintf(f, "%s %s\n", what, key);
    fclose(f);
}

static hf_value reserve(hf_act *a, hf_value in)
{
    effect("reserve", hf_idempotency_key(a));
    return hf_json(a, "{'reservation': %s}", hf_str(in, "sku", "?"));
}

static hf_value charge(hf_act *a, hf_value in)
{
    double amount = hf_num(in, "amount", 0);

    if (hf_attempt(a) == 1)
        return hf_retry(a, "gateway_timeout", "no answer from %s", "pay.example");
    if (amount > 1000)
        return hf_reject(a, "card_declined", "limit is 1000, asked %g", amount);
    effect("charge", hf_idempotency_key(a));
    return hf_json(a, "{'charge_id': %s, 'amount': %g}", hf_idempotency_key(a), amount);
}

static hf_value ship(hf_act *a, hf_value in)
{
    (void)in;
    effect("ship", hf_idempotency_key(a));
    return hf_json(a, "{'tracking': 'T-1'}");
}

static hf_value release(hf_act *a, hf_value in)
{
    (void)in;
    effect("release", hf_idempotency_key(a));
    return NULL;
}

static hf_value refund(hf_act *a, hf_value in)
{
    (void)in;
    effect("refund", hf_idempotency_key(a));
    return NULL;
}

/* -- the workflow: straight-line, deterministic, no error plumbing on the happy path. */

static hf_value order(hf_ctx *w, hf_value in)
{
    hf_value hold = hf_activity(w, "reserve", in);
    hf_compensate(w, "release", hold);

    hf_note(w, "charging %g", hf_num(in, "amount", 0));
    hf_value paid =
        hf_activity(w, "charge", in, .max_attempts = 5, .start_to_close = hf_seconds(30),
                    .summary = hf_str(in, "customer", NULL));
    hf_compensate(w, "refund", paid);

    hf_sleep(w, hf_seconds(2)); /* fraud window; days work the same */
    hf_value sent = hf_activity(w, "ship", in, .start_to_close = hf_minutes(10));
    hf_compensated(w); /* past the point of no return */

    return hf_json(w, "{'charge': %p, 'tracking': %s}", (void *)hf_get(paid, "charge_id"),
                   hf_str(sent, "tracking", ""));
}

static const hf_activity_def activities[] = {
    {hf_fn(reserve), .max_attempts = 3},
    {hf_fn(charge), .max_attempts = 3},
    {hf_fn(ship)},
    {hf_fn(release)},
    {hf_fn(refund)},
    {0},
};

static const hf_workflow_def workflows[] = {
    {"order", order, .params = "sku:string, amount:number, customer:string?",
     .doc = "Reserve, charge and ship one order."},
    {0},
};

const hf_app order_app = {.name = "orders", .workflows = workflows, .activities = activities};
