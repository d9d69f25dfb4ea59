/* embed.c: a durable engine inside a program that already has its own event loop. Each line on
   standard input stands for a request; the end of the input ends the program. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "order.h"

static int handle_http(hf_engine *d) /* some web handler of yours */
{
    hf_value out;
    const hf_error *e;

    switch (hf_start(d, "order", hf_json(d, "{'sku': 'TEA-1', 'amount': 90}"), .id = "order-42",
                     .business_key = "cust-7", .duplicate = HF_DUP_RETURN_EXISTING)) {
    case HF_OK:
    case HF_EXISTS:
        break;
    default:
        fprintf(stderr, "start: %s\n", hf_errmsg(d));
        return 500;
    }
    if (hf_signal(d, "order-42", "gift-note", hf_json(d, "{'text': %s}", "Happy birthday")) !=
        HF_REJECTED)
        return 500; /* undeclared, so the contract says no; hf_errmsg has the reason */
    return hf_result(d, "order-42", 0, &out, &e) == HF_OK ? 200 : 202;
}

static int loop(hf_engine *d)
{
    struct pollfd p[2] = {{.fd = 0, .events = POLLIN}, {.fd = hf_fd(d), .events = POLLIN}};
    char line[256];

    for (;;) {
        int next =
            hf_tick(d, hf_seconds(1)); /* do what is due; answer: milliseconds until more is */

        if (next < 0) {
            fprintf(stderr, "%s\n", hf_errmsg(d));
            return 1;
        }
        if (poll(p, 2, next) <= 0 || !p[0].revents)
            continue;
        if (read(0, line, sizeof line) <= 0)
            return 0;
        printf("%d\n", handle_http(d));
        fflush(stdout);
    }
}

int main(void)
{
    hf_engine *d;
    int code = 1;

    if (hf_open("orders.db", &order_app, &d))
        fprintf(stderr, "%s\n", hf_errmsg(d));
    else
        code = loop(d);
    hf_close(d);
    return code;
}
