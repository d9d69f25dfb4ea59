/* hooks.c: webhooks that are signed in a way of their own. `./hooks dev --webhooks custom` serves
   them: each carries "Pay-Signature: t=SECONDS,v1=HEX", the HMAC of the time, a dot and the body.
 */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* One that was overheard must not work for ever: it is good for five minutes. */
static bool payment_signed(void *arg, const hf_webhook *webhook)
{
    const char *sent = hf_webhook_header(webhook, "Pay-Signature");
    const char *key = getenv("PAY_KEY");
    char before[32];
    char mac[65];
    long long at;

    (void)arg;
    if (!key || !sent || sscanf(sent, "t=%lld,v1=%64[0-9a-f]", &at, mac) != 2)
        return false;
    if (llabs((long long)time(NULL) - at) > 300)
        return false;
    snprintf(before, sizeof(before), "%lld.", at);
    return hf_webhook_signed(webhook, key, before, mac);
}

static hf_value invoice(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "paid");
}

static const hf_signal_def signals[] = {{"paid", "by:string"}, {0}};
static const hf_workflow_def workflows[] = {{"invoice", invoice, .signals = signals}, {0}};
static const hf_app app = {.name = "hooks", .workflows = workflows, .webhook = payment_signed};

int main(int argc, char **argv)
{
    return hf_main(argc, argv, &app);
}
