/* order.c: starts one order and waits for it: ./order [STORE [AMOUNT]]. Kill it anywhere and start
   it again: it goes on where it was. */
#include <stdio.h>
#include <stdlib.h>

#include "order.h"

int main(int argc, char **argv)
{
    double amount = argc > 2 ? atof(argv[2]) : 90;
    hf_engine *d;
    hf_value out;
    const hf_error *e;
    hf_status s;

    if (hf_open(argc > 1 ? argv[1] : "orders.db", &order_app, &d)) {
        fprintf(stderr, "%s\n", hf_errmsg(d));
        hf_close(d);
        return 1;
    }
    hf_start(d, "order", hf_json(d, "{'sku': 'TEA-1', 'amount': %g, 'customer': 'Ada'}", amount),
             .id = "order-42");
    s = hf_result(d, "order-42", hf_seconds(30), &out, &e);
    if (s == HF_OK)
        printf("done: %s\n", hf_show(d, out));
    else if (e)
        printf("failed: %s: %s\n", e->type, e->message);
    else
        printf("%s\n", hf_errmsg(d));
    hf_close(d);
    return s != HF_OK;
}
