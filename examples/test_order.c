/* test_order.c: days in milliseconds, crashes on demand. Exits 0 when the workflow keeps its
   promises. */
#include <stdio.h>
#include <string.h>

#include "order.h"

/* NDEBUG must not take a test away. */
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* What a customer does: orders, waits out the fraud window. */
static hf_status customer(hf_engine *d, void *arg)
{
    (void)arg;
    hf_start(d, "order", hf_json(d, "{'sku': 'TEA-1', 'amount': 90}"), .id = "o-1");
    return hf_test_advance(d, hf_days(1));
}

int main(void)
{
    hf_engine *d = hf_test_open(&order_app);
    const char *bundle;
    FILE *file;
    char why[512];

    hf_test_fail(d, "charge", 2, "gateway_timeout");
    CHECK(hf_start(d, "order", hf_json(d, "{'sku': 'TEA-1', 'amount': 90}"), .id = "o-1") == HF_OK);

    hf_test_drain(d); /* reserve, charge (third attempt), now in the fraud window */
    CHECK(!strcmp(hf_test_status(d, "o-1"), "waiting timer"));
    hf_test_crash(d); /* as kill -9 */
    hf_test_advance(d, hf_days(2));
    CHECK(!strcmp(hf_test_status(d, "o-1"), "completed"));
    CHECK(hf_test_count(d, "o-1", "ActivityCompleted") == 3);

    /* A bundle exported from production stays replayable, or the test says which step differs. */
    CHECK(hf_export(d, hf_mem_of_engine(d), &bundle, "o-1") == HF_OK);
    CHECK((file = fopen("o-1.bundle.json", "w")) && fputs(bundle, file) >= 0 && !fclose(file));
    if (hf_test_replay(&order_app, "o-1.bundle.json", why, sizeof why) != HF_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    hf_close(d);

    /* The same result wherever the process dies. */
    if (hf_test_crash_everywhere(&order_app, customer, NULL, why, sizeof why) != HF_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    printf("order keeps its promises\n");
    return 0;
}
