/* shop.c: orders that survive whatever happens to the program that works on them.

     holdfast dev ./shop worker                   a server, with this program as its worker
     holdfast start order sku=TEA-1 amount:=90 --id order-1 --wait

   The ledger (SHOP_LEDGER, or ledger.txt) stands for the outside world. Like a payment provider it
   knows what it has been asked for by the key of the request: the program may be killed between the
   charge and the report of it, the charge is asked for again, and is found. `make demo` does that
   all the time and counts. */
#include <fcntl.h>
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void take_time(long ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&wait, NULL);
}

/* Whether a line begins with `text`. */
static int ledger_has(FILE *ledger, const char *text)
{
    char line[512];

    rewind(ledger);
    while (fgets(line, sizeof line, ledger))
        if (strncmp(line, text, strlen(text)) == 0)
            return 1;
    return 0;
}

/* Writes "WHAT KEY ORDER" down, once for each key, whoever else writes at the same time. */
static int ledger_write(const char *what, const char *key, const char *order)
{
    const char *path = getenv("SHOP_LEDGER");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    FILE *ledger = fopen(path ? path : "ledger.txt", "a+");
    char line[256];
    int done = 0;

    if (!ledger)
        return 0;
    snprintf(line, sizeof line, "%s %s %s\n", what, key, order);
    if (fcntl(fileno(ledger), F_SETLKW, &lock) == 0)
        done = ledger_has(ledger, line) ||
               (fputs(line, ledger) >= 0 && fflush(ledger) == 0 && fsync(fileno(ledger)) == 0);
    fclose(ledger); /* and the lock with it */
    return done;
}

static hf_value effect(hf_act *a, const char *what, hf_value in)
{
    take_time(20);
    if (!ledger_write(what, hf_idempotency_key(a), hf_str(in, "order", "?")))
        return hf_retry(a, "ledger_unavailable", "the ledger cannot be written");
    take_time(20); /* done, and nobody knows yet */
    return hf_json(a, "{'%s': %s}", what, hf_idempotency_key(a));
}

static hf_value reserve(hf_act *a, hf_value in)
{
    return effect(a, "reserve", in);
}

static hf_value charge(hf_act *a, hf_value in)
{
    if (hf_num(in, "amount", 0) > 1000)
        return hf_reject(a, "card_declined", "limit is 1000, asked %g", hf_num(in, "amount", 0));
    return effect(a, "charge", in);
}

static hf_value ship(hf_act *a, hf_value in)
{
    return effect(a, "ship", in);
}

static hf_value release(hf_act *a, hf_value in)
{
    return effect(a, "release", in);
}

static hf_value order(hf_ctx *w, hf_value in)
{
    hf_value what = hf_json(w, "{'order': %s, 'sku': %s, 'amount': %g}", hf_workflow_id(w),
                            hf_str(in, "sku", "?"), hf_num(in, "amount", 0));
    hf_value paid;

    hf_activity(w, "reserve", what);
    hf_compensate(w, "release", what);
    paid = hf_activity(w, "charge", what, .start_to_close = hf_seconds(30));
    hf_sleep(w, 500); /* the fraud window; days work the same */
    hf_activity(w, "ship", what);
    hf_compensated(w);
    return hf_json(w, "{'charge': %s}", hf_str(paid, "charge", ""));
}

static const hf_activity_def activities[] = {
    {hf_fn(reserve)}, {hf_fn(charge)}, {hf_fn(ship)}, {hf_fn(release)}, {0}};
static const hf_workflow_def workflows[] = {{"order", order, .params = "sku:string, amount:number",
                                             .doc = "Reserve, charge and ship one order."},
                                            {0}};
static const hf_app app = {.name = "shop", .workflows = workflows, .activities = activities};

int main(int argc, char **argv)
{
    return hf_main(argc, argv, &app);
}
