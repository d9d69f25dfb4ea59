/* machine.c: the same durability without replay: every step is committed before the next one runs.
   A checkout waits for its payment, settles it, and has two children pick and invoice at once. */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

static int pay_gateway(const char *key, double amount)
{
    (void)key; /* a real one tells a repetition by it */
    return amount < 0;
}

static hf_outcome start(hf_step *s)
{
    return hf_park(s, "payment_confirmed", hf_hours(1), "decide", hf_step_state(s));
}

static hf_outcome decide(hf_step *s)
{
    hf_value paid = hf_step_signal(s);

    if (!paid)
        return hf_stop(s, "payment_timeout", "payment never came");
    return hf_next(s, "settle",
                   hf_json(s, "{'order': %lld, 'amount': %g}",
                           (long long)hf_int(hf_step_state(s), "order", 0),
                           hf_num(paid, "amount", 0)));
}

static hf_outcome settle(hf_step *s)
{
    hf_value st = hf_step_state(s);

    if (pay_gateway(hf_step_key(s), hf_num(st, "amount", 0)))
        return hf_again(s, st, hf_seconds(5) * hf_step_attempt(s));
    return hf_fan_out(s, (const hf_leaf[]){HF_CHILD("pick", st), HF_CHILD("invoice", st), {0}},
                      "finish", st);
}

static hf_outcome finish(hf_step *s)
{
    return hf_done(s, hf_json(s, "{'order': %lld, 'children': %d}",
                              (long long)hf_int(hf_step_state(s), "order", 0),
                              (int)hf_len(hf_step_children(s))));
}

static hf_outcome failed(hf_step *s, const hf_error *e)
{
    return hf_step_attempt(s) < 5 ? hf_again(s, hf_step_state(s), hf_seconds(1))
                                  : hf_stop(s, e->type, e->message);
}

static hf_outcome work(hf_step *s)
{
    return hf_done(s, hf_step_state(s));
}

static const hf_machine_def machines[] = {
    {"checkout", .initial = "start", .params = "order:int", .on_error = failed,
     .steps =
         (const hf_step_def[]){
             {"start", start}, {"decide", decide}, {"settle", settle}, {"finish", finish}, {0}},
     .signals = (const hf_signal_def[]){{"payment_confirmed", "amount:number"}, {0}}},
    {"pick", .initial = "work", .steps = (const hf_step_def[]){{"work", work}, {0}}},
    {"invoice", .initial = "work", .steps = (const hf_step_def[]){{"work", work}, {0}}},
    {0}};

int main(int argc, char **argv)
{
    const hf_app app = {.name = "shop", .machines = machines};
    hf_engine *d = NULL;
    hf_value result = NULL;
    hf_status st;

    if (argc > 1 && strcmp(argv[1], "demo") != 0)
        return hf_main(argc, argv, &app);
    st = hf_open("shop.db", &app, &d);
    if (!st)
        st = hf_start(d, "checkout", hf_json(d, "{'order': 7}"), .id = "order-7");
    if (!st)
        st = hf_signal(d, "order-7", "payment_confirmed", hf_json(d, "{'amount': 12.5}"));
    if (!st)
        st = hf_result(d, "order-7", hf_minutes(1), &result, NULL);
    if (st)
        fprintf(stderr, "%s\n", hf_errmsg(d));
    else
        printf("%s\n", hf_show(d, result));
    hf_close(d);
    return st ? 1 : 0;
}
