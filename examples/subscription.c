/* subscription.c: a workflow that lives for years; here on a virtual clock, so a year takes a
   moment. */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

enum { MONTHS = 12 };

static hf_value bill(hf_act *a, hf_value in)
{
    return hf_json(a, "{'invoice': %s, 'plan': %s}", hf_idempotency_key(a),
                   hf_str(in, "plan", "?"));
}

static hf_value tax(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "0.19");
}

static hf_value coupon(hf_mem *m, void *arg)
{
    (void)arg;
    return hf_json(m, "'SPRING-%d'", 7);
}

static hf_value subscription(hf_ctx *w, hf_value in)
{
    const char *plan = hf_str(in, "plan", "basic");
    int64_t months = hf_int(in, "months", 0);

    if (months == 0)
        hf_side_effect(w, "welcome-coupon", coupon, NULL); /* computed once, replayed after */

    while (!hf_should_continue_as_new(w)) {
        hf_value order = hf_json(w, "{'plan': %s}", plan);
        const hf_error *e;
        hf_value change;

        if (hf_version(w, "tax-first", HF_VERSION_DEFAULT, 1) >= 1)
            hf_activity(w, "tax", order);
        hf_activity(w, "bill", order, .max_attempts = 8, .err = &e); /* ours to handle */
        if (e && !strcmp(e->type, "card_expired"))
            return hf_json(w, "{'ended': 'card', 'months': %lld}", (long long)months);
        if (e)
            hf_refail(w, e);
        months++;
        change = hf_receive(w, "change-plan", .timeout = hf_days(30));
        if (change)
            plan = hf_str(change, "plan", plan);
        if (hf_bool(change, "cancel", false) || months >= MONTHS)
            return hf_json(w, "{'ended': 'cancelled', 'plan': %s, 'months': %lld}", plan,
                           (long long)months);
    }
    hf_continue_as_new(w, hf_json(w, "{'plan': %s, 'months': %lld}", plan, (long long)months));
}

static const hf_workflow_def workflows[] = {
    {"subscription", subscription, .params = "plan:enum(basic|pro), months:int=0",
     .signals =
         (const hf_signal_def[]){{"change-plan", "plan:enum(basic|pro)?, cancel:bool=false"}, {0}}},
    {0},
};
static const hf_activity_def activities[] = {{hf_fn(bill)}, {hf_fn(tax)}, {0}};

int main(void)
{
    const hf_app app = {.name = "subs", .workflows = workflows, .activities = activities};
    hf_engine *d = hf_test_open(&app);
    hf_value out = NULL;
    const hf_error *e;
    hf_status s;

    hf_test_fail(d, "bill", 3, "bank_closed");
    hf_start(d, "subscription", hf_json(d, "{'plan': 'basic'}"), .id = "sub-7");
    hf_test_advance(d, hf_days(100));
    hf_signal(d, "sub-7", "change-plan", hf_json(d, "{'plan': 'pro'}"));
    hf_test_crash(d);
    hf_test_advance(d, hf_years(1));
    s = hf_result(d, "sub-7", 0, &out, &e);
    printf("%s %s\n", hf_strstatus(s), s ? hf_errmsg(d) : hf_show(d, out));
    hf_close(d);
    return s != HF_OK;
}
