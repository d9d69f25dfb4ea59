/* site_office.c: the second worker of the console's browser tests, on the queue that it is told:
   what the page of one run draws. Barriers, retries, progress, children, signals with a contract of
   every type, a run that a build of SITE_BUILD=2 does not fit, continued runs, many steps, text
   that is no friend of pages, and a result of any size.

     site_office worker --store URL        until SIGTERM; HF_TOKEN is its token, SITE_QUEUE its
   queue

   Only public headers are used. */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAVES_MAX = 600 };

typedef struct {
    bool paid;
    char address[64];
} order_state;

static void take_time(long ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&wait, NULL);
}

static hf_value quick(hf_act *a, hf_value in)
{
    take_time(15);
    return hf_json(a, "{'echo': %p}", (void *)in);
}

static hf_value blink(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "true");
}

static hf_value charge(hf_act *a, hf_value in)
{
    take_time(30);
    if (hf_num(in, "amount", 0) > 1000)
        return hf_reject(a, "card_declined", "limit is 1000, asked %g", hf_num(in, "amount", 0));
    if (hf_attempt(a) < 2)
        return hf_retry(a, "gateway_timeout", "the gateway did not answer");
    return hf_json(a, "{'receipt': 9007199254740993}");
}

static hf_value never(hf_act *a, hf_value in)
{
    (void)in;
    return hf_retry(a, "gateway_timeout", "no answer, attempt %d", hf_attempt(a));
}

static hf_value serials(hf_act *a, hf_value in)
{
    int64_t total = hf_int(in, "units", 40);

    for (int64_t i = 0; i < total; i++) {
        take_time(50);
        if (!hf_heartbeat(a, .current = i + 1, .total = total, .unit = "units"))
            return hf_stopped(a);
    }
    return hf_json(a, "{'registered': %lld}", (long long)total);
}

static hf_value set_address(hf_ctx *w, void *s, hf_value args)
{
    order_state *o = s;

    snprintf(o->address, sizeof o->address, "%s", hf_str(args, "street", ""));
    return hf_json(w, "{'address': %s}", o->address);
}

static hf_value where(hf_mem *m, const void *state, hf_value args)
{
    const order_state *o = state;

    (void)args;
    return hf_json(m, "{'paid': %d, 'address': %s}", o->paid, o->address);
}

static hf_value ship(hf_ctx *w, hf_value in)
{
    hf_activity(w, "book-courier", in, .summary = "North Line");
    return hf_receive(w, "pickup", .timeout = hf_hours(30));
}

static hf_value order(hf_ctx *w, hf_value in)
{
    order_state *o = hf_state(w);
    hf_value who;

    hf_note(w, "reserving");
    hf_activity(w, "reserve", in, .summary = "3 items");
    hf_activity(w, "charge", in, .summary = "129.90 EUR", .max_attempts = 4);
    o->paid = true;
    hf_sleep(w, hf_seconds(2));
    hf_label(w, "region", hf_str(in, "region", "eu"));
    hf_all(w,
           HF_ACTIVITY("register-serials", in, .summary = "40 units", .heartbeat = hf_seconds(15)),
           HF_ALL(HF_ACTIVITY("mail", in, .summary = "finance"),
                  HF_ACTIVITY("mail", in, .summary = "ops")),
           HF_CHILD("ship", in));
    who = hf_receive(w, "approved-by", .timeout = hf_hours(8));
    return hf_json(w, "{'order': %s, 'approved': %p}", hf_workflow_id(w), (void *)who);
}

static hf_value review(hf_ctx *w, hf_value in)
{
    hf_value who;

    hf_activity(w, "mail", in, .summary = "asks for a decision");
    who = hf_receive(w, "decide", .timeout = hf_days(2));
    return hf_json(w, "{'decision': %p}", (void *)who);
}

static hf_value drift(hf_ctx *w, hf_value in)
{
    const char *build = getenv("SITE_BUILD");

    hf_activity(w, "reserve", in);
    if (build && strcmp(build, "2") == 0)
        hf_activity(w, "fraud-check", in);
    else
        hf_sleep(w, 100);
    hf_activity(w, "mail", in, .summary = "finance");
    return hf_receive(w, "go");
}

static hf_value wide(hf_ctx *w, hf_value in)
{
    static hf_future f[LEAVES_MAX];
    size_t n = (size_t)hf_int(in, "steps", 100);

    n = n < LEAVES_MAX ? n : LEAVES_MAX;
    for (size_t i = 0; i < n; i++)
        f[i] = hf_spawn_activity(w, "mail", in, .summary = "one of many");
    hf_join_all(w, f, n);
    return hf_receive(w, "go");
}

static hf_value stuck(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "never", in, .max_attempts = 50);
}

static hf_value sums(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);

    hf_activity(w, "reserve", in);
    if (left > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return hf_receive(w, "go");
}

static hf_value refuse(hf_act *a, hf_value in)
{
    return hf_reject(a, "refused", "%s", hf_str(in, "text", ""));
}

static bool address_known(const void *state)
{
    return ((const order_state *)state)->address[0] != '\0';
}

static hf_value lot(hf_mem *m, void *arg)
{
    (void)arg;
    return hf_json(m, "{'lot': 7}");
}

/* What a history can have beside steps that do something: a version, a side effect, a failure that
   the code handles, and a condition with a deadline. */
static hf_value gate(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    hf_version(w, "new-tax", HF_VERSION_DEFAULT, 1);
    hf_side_effect(w, "lot", lot, NULL);
    hf_activity(w, "refuse", hf_json(w, "{'text': 'not today'}"), .err = &e);
    if (e)
        hf_note(w, "refused, and that is fine");
    hf_wait(w, "address-known", address_known, .timeout = hf_hours(2));
    return in;
}

/* Says what it is given wherever code can say something. */
static hf_value hostile(hf_ctx *w, hf_value in)
{
    const char *text = hf_str(in, "text", "");

    hf_note(w, "%s", text);
    hf_activity(w, "mail", in, .summary = text);
    hf_receive(w, "go");
    return hf_activity(w, "refuse", in);
}

static hf_value large(hf_act *a, hf_value in)
{
    static char text[2000001];
    int64_t bytes = hf_int(in, "bytes", 1000);

    bytes = bytes < (int64_t)sizeof text ? bytes : (int64_t)sizeof text - 1;
    memset(text, 'x', (size_t)bytes);
    text[bytes] = '\0';
    return hf_json(a, "{'head': 'the beginning', 'text': %s}", text);
}

static hf_value bulk(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "large", in);
}

/* Three events for each step, one round after another. */
static hf_value rounds(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "steps", 1000);

    while (left > 0) {
        static hf_future f[LEAVES_MAX];
        size_t n = left < LEAVES_MAX ? (size_t)left : LEAVES_MAX;

        for (size_t i = 0; i < n; i++)
            f[i] = hf_spawn_activity(w, "blink", in, .summary = "one of many");
        hf_join_all(w, f, n);
        left -= (int64_t)n;
    }
    return hf_receive(w, "go");
}

/* A step machine: parks for one of two names, has children, parks again. */
static hf_outcome kiln_load(hf_step *s)
{
    static const char *const names[] = {"fire", "discard", NULL};

    return hf_park_any(s, names, hf_hours(8), "burn", hf_json(s, "{'pots': 12}"));
}

static hf_outcome kiln_burn(hf_step *s)
{
    return hf_fan_out(s,
                      (const hf_leaf[]){HF_CHILD("glaze", hf_step_state(s)),
                                        HF_CHILD("glaze", hf_step_state(s)),
                                        {0}},
                      "cool", hf_json(s, "{'pots': 12, 'hot': true}"));
}

static hf_outcome kiln_cool(hf_step *s)
{
    return hf_park(s, "opened", hf_hours(30), "end", hf_json(s, "{'pots': 12, 'hot': false}"));
}

static hf_outcome kiln_end(hf_step *s)
{
    return hf_done(s, hf_step_state(s));
}

static hf_outcome glaze(hf_step *s)
{
    return hf_done(s, hf_json(s, "'glazed'"));
}

/* A job that takes its time: who comes behind it under its key waits as long. */
static hf_outcome bake(hf_step *s)
{
    take_time((long)hf_int(hf_step_state(s), "ms", 0));
    return hf_done(s, NULL);
}

static const hf_limit_def limits[] = {
    {"oven", .at_once = 2}, {"flour", .allowed = 2, .per = 3600000}, {0}};

static const hf_machine_def machines[] = {
    {"kiln", .initial = "load",
     .steps =
         (const hf_step_def[]){
             {"load", kiln_load}, {"burn", kiln_burn}, {"cool", kiln_cool}, {"end", kiln_end}, {0}},
     .signals =
         (const hf_signal_def[]){{"fire", "degrees:int"}, {"discard", ""}, {"opened", ""}, {0}}},
    {"glaze", .initial = "glaze", .steps = (const hf_step_def[]){{"glaze", glaze}, {0}}},
    {"bake", .job = bake},
    {0}};

static const hf_signal_def decide_signals[] = {
    {"decide", "outcome:enum(yes|no|later), amount:number?, count:int=1, urgent:bool=false, "
               "until:time?, grace:duration?, lines:array?, note:string?"},
    {0}};
static const hf_signal_def go_signals[] = {{"go", ""}, {0}};
static const hf_workflow_def workflows[] = {
    {"order.process", order, sizeof(order_state),
     .params = "amount:number=129.9, units:int=40, region:string=eu, big:int=0",
     .doc = "One order from the cart to the courier.",
     .signals = (const hf_signal_def[]){{"approved-by", "approver:string, note:string?"}, {0}},
     .updates =
         (const hf_update_def[]){{"address", "street:string, floor:int?", set_address, NULL}, {0}},
     .queries = (const hf_query_def[]){{"where", "", where}, {0}}},
    {"ship", ship, .params = "any", .signals = (const hf_signal_def[]){{"pickup", ""}, {0}}},
    {"review", review, .params = "any", .signals = decide_signals},
    {"drift", drift, .params = "any", .signals = go_signals},
    {"wide", wide, .params = "steps:int=100", .signals = go_signals},
    {"stuck", stuck, .params = "any"},
    {"sums", sums, .params = "left:int=0", .signals = go_signals},
    {"gate", gate, sizeof(order_state), .params = "any",
     .updates = (const hf_update_def[]){{"address", "street:string", set_address, NULL}, {0}}},
    {"hostile", hostile, .params = "text:string", .signals = go_signals},
    {"bulk", bulk, .params = "bytes:int"},
    {"rounds", rounds, .params = "steps:int", .signals = go_signals},
    {0}};
static const hf_activity_def activities[] = {{.name = "reserve", .run = quick},
                                             {.name = "charge", .run = charge},
                                             {.name = "mail", .run = quick},
                                             {.name = "book-courier", .run = quick},
                                             {.name = "fraud-check", .run = quick},
                                             {.name = "refuse", .run = refuse},
                                             {.name = "large", .run = large},
                                             {.name = "blink", .run = blink},
                                             {.name = "never", .run = never},
                                             {.name = "register-serials", .run = serials},
                                             {0}};

int main(int argc, char **argv)
{
    const hf_app app = {.name = "office",
                        .build_id = getenv("SITE_BUILD"),
                        .queue = getenv("SITE_QUEUE"),
                        .workflows = workflows,
                        .machines = machines,
                        .limits = limits,
                        .activities = activities};

    return hf_main(argc, argv, &app);
}
