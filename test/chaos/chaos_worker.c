/* chaos_worker.c: what the chaos driver (chaos.py) has workers do. Workflows that count numbered
   signals, answer updates, fan out, sleep, start children and continue as new; each result says
   all that the checker needs to compute what it must be.

     chaos_worker worker --store URL          a worker behind a server, until SIGTERM
     chaos_worker node STORE NAME=VALUE ...   a node of its own on the store, with these settings

   An attempt of `effect` appends one line to the file of CHAOS_EFFECTS, so that the checker knows
   what really ran: "KEY ATTEMPT NONCE OUTCOME". Only public headers are used. */
#include <errno.h>
#include <fcntl.h>
#include <holdfast/holdfast.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS_MAX = 64, ATTEMPT_MS = 2500 };

static const hf_ms again_at_once[] = {20};
#define EFFECT_OPTS                                                                                \
    .start_to_close = ATTEMPT_MS, .max_attempts = -1, .backoff = again_at_once, .backoff_n = 1

/* ---- the activity */

static uint64_t nonce_make(void)
{
    uint64_t nonce = 0;
    int fd = open("/dev/urandom", O_RDONLY);

    if (fd < 0 || read(fd, &nonce, sizeof(nonce)) != (ssize_t)sizeof(nonce))
        abort(); /* the checker would see nonsense */
    close(fd);
    return nonce >> 12; /* it travels as a number of JSON */
}

static void effect_log(const char *key, int attempt, uint64_t nonce, const char *outcome)
{
    const char *path = getenv("CHAOS_EFFECTS");
    char line[256];
    int len = snprintf(line, sizeof(line), "%s %d %llu %s\n", key, attempt,
                       (unsigned long long)nonce, outcome);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    if (fd < 0 || write(fd, line, (size_t)len) != len) {
        (void)fprintf(stderr, "chaos_worker: cannot write %s: %s\n", path, strerror(errno));
        abort();
    }
    close(fd);
}

/* Takes a moment, fails now and then, and says which attempt it was. */
static hf_value effect(hf_act *a, hf_value in)
{
    uint64_t nonce = nonce_make();
    bool fails = nonce % 16 == 0;

    (void)poll(NULL, 0, (int)(nonce / 16 % 20));
    effect_log(hf_idempotency_key(a), hf_attempt(a), nonce, fails ? "fails" : "done");
    if (fails)
        return hf_retry(a, "unlucky", "nonce %llu", (unsigned long long)nonce);
    return hf_json(a, "{'key': %s, 'attempt': %d, 'nonce': %lld, 'in': %lld}",
                   hf_idempotency_key(a), hf_attempt(a), (long long)nonce,
                   (long long)hf_int(in, "", -1));
}

/* ---- workflows */

typedef struct numbers {
    size_t got_count;
    size_t put_count;
    int64_t wanted;
    int64_t got[NUMBERS_MAX];
    int64_t put[NUMBERS_MAX];
} numbers;

static hf_value list_made(hf_mem *mem, const int64_t *items, size_t count)
{
    char text[NUMBERS_MAX * 24] = "[";
    size_t len = 1;

    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%lld", i ? "," : "",
                                (long long)items[i]);
    (void)snprintf(text + len, sizeof(text) - len, "]");
    return hf_parse_(mem, text, strlen(text));
}

static hf_value numbers_shown(hf_mem *mem, const numbers *n)
{
    return hf_json(mem, "{'got': %p, 'put': %p}",
                   (const void *)list_made(mem, n->got, n->got_count),
                   (const void *)list_made(mem, n->put, n->put_count));
}

static hf_value put(hf_ctx *w, void *state, hf_value args)
{
    numbers *n = state;

    if (n->put_count < NUMBERS_MAX)
        n->put[n->put_count++] = hf_int(args, "n", -1);
    return hf_json(w, "{'count': %d, 'n': %lld}", (int)n->put_count,
                   (long long)hf_int(args, "n", -1));
}

static hf_value look(hf_mem *mem, const void *state, hf_value args)
{
    (void)args;
    return numbers_shown(mem, state);
}

static bool enough_put(const void *state)
{
    const numbers *n = state;

    return (int64_t)n->put_count >= n->wanted;
}

/* Takes so many signals, in their order, and so many updates. */
static hf_value counter(hf_ctx *w, hf_value in)
{
    numbers *n = hf_state(w);

    n->wanted = hf_int(in, "updates", 0);
    for (int64_t i = hf_int(in, "signals", 0); i > 0; i--) {
        hf_value v = hf_receive(w, "add");

        if (n->got_count < NUMBERS_MAX)
            n->got[n->got_count++] = hf_int(v, "", -1);
    }
    (void)hf_wait(w, "put", enough_put);
    return numbers_shown(hf_mem_of_ctx(w), n);
}

/* So many activities at once. */
static hf_value fan(hf_ctx *w, hf_value in)
{
    int64_t items[NUMBERS_MAX];
    size_t width = (size_t)hf_int(in, "width", 0);

    for (size_t i = 0; i < width && i < NUMBERS_MAX; i++)
        items[i] = (int64_t)i;
    return hf_map(w, "effect", list_made(hf_mem_of_ctx(w), items, width), 0, EFFECT_OPTS);
}

/* Timers, and a signal that never comes. */
static hf_value naps(hf_ctx *w, hf_value in)
{
    int64_t naps_had = 0;

    for (int64_t left = hf_int(in, "naps", 0); left > 0; left--) {
        if (left % 2)
            hf_sleep(w, 50 * left);
        else if (hf_receive(w, "never", .timeout = 50 * left))
            hf_fail(w, "woken", "by a signal that nobody sent");
        naps_had++;
    }
    return hf_json(w, "%lld", (long long)naps_had);
}

/* A child waits for the number that its parent sends it, and has an effect. */
static hf_value kid(hf_ctx *w, hf_value in)
{
    hf_value go = hf_receive(w, "go");

    return hf_json(w, "{'place': %lld, 'go': %lld, 'effect': %p}", (long long)hf_int(in, "", -1),
                   (long long)hf_int(go, "", -1),
                   (const void *)hf_activity(w, "effect", in, EFFECT_OPTS));
}

static hf_value family(hf_ctx *w, hf_value in)
{
    hf_future kids[NUMBERS_MAX];
    const char *calls[NUMBERS_MAX];
    size_t count = (size_t)hf_int(in, "kids", 0);

    for (size_t i = 0; i < count; i++)
        kids[i] = hf_spawn_child(w, "kid", hf_json(w, "%d", (int)i));
    hf_sleep(w, 10);
    if (hf_children(w, calls, NUMBERS_MAX) != count)
        hf_fail(w, "children", "not all of them are there");
    for (size_t i = 0; i < count; i++)
        hf_signal_child(w, calls[i], "go", hf_json(w, "[%d]", 100 + (int)i));
    return hf_join_all(w, kids, count);
}

/* Takes one number in each generation and hands all on to the next. */
static hf_value chain(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", 0);
    int64_t items[NUMBERS_MAX];
    hf_value before = hf_get(in, "got");
    size_t count = hf_len(before);
    hf_value all;

    for (size_t i = 0; i < count && i < NUMBERS_MAX; i++)
        items[i] = hf_int(hf_at(before, i), "", -1);
    items[count++] = hf_int(hf_receive(w, "add"), "", -1);
    (void)hf_activity(w, "effect", hf_json(w, "%lld", (long long)left), EFFECT_OPTS);
    all = list_made(hf_mem_of_ctx(w), items, count);
    if (left > 1)
        hf_continue_as_new(
            w, hf_json(w, "{'left': %lld, 'got': %p}", (long long)left - 1, (const void *)all));
    return all;
}

/* Works until somebody ends it. */
static hf_value endless(hf_ctx *w, hf_value in)
{
    for (int64_t i = 0; i < 1000; i++) {
        (void)hf_activity(w, "effect", in, EFFECT_OPTS);
        hf_sleep(w, 200);
    }
    return NULL;
}

static const hf_signal_def adds[] = {{"add", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {"counter", counter, sizeof(numbers), .signals = adds,
     .updates = (const hf_update_def[]){{"put", "n:int", put, NULL}, {0}},
     .queries = (const hf_query_def[]){{"look", "", look}, {0}}},
    {"fan", .run = fan},
    {"naps", .run = naps, .signals = (const hf_signal_def[]){{"never", NULL}, {0}}},
    {"kid", .run = kid, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
    {"family", .run = family},
    {"chain", .run = chain, .signals = adds},
    {"endless", .run = endless},
    {0}};
static const hf_activity_def activities[] = {{hf_fn(effect)}, {0}};
static const hf_app app = {
    .name = "chaos", .queue = "chaos", .workflows = workflows, .activities = activities};
static const hf_app app_workflows = {.name = "chaos", .queue = "chaos", .workflows = workflows};
static const hf_app app_activities = {.name = "chaos", .queue = "chaos", .activities = activities};

/* What CHAOS_PART says this program has: everything, "workflows" or "activities". */
static const hf_app *app_of(const char *part)
{
    if (part && strcmp(part, "workflows") == 0)
        return &app_workflows;
    return part && strcmp(part, "activities") == 0 ? &app_activities : &app;
}

static void *stop_await(void *engine)
{
    sigset_t stop;
    int got;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigwait(&stop, &got);
    hf_shutdown(engine);
    return NULL;
}

/* A node among others, until SIGTERM. */
static int node_run(int argc, char **argv)
{
    hf_engine *engine = NULL;
    hf_status st = hf_open(argv[2], &app, &engine);
    pthread_t thread;

    for (int i = 3; !st && i < argc; i++) {
        char *value = strchr(argv[i], '=');

        if (!value)
            return 2;
        *value = '\0';
        st = hf_set(engine, argv[i], value + 1);
    }
    if (!st) { /* a command begins the work */
        st = hf_terminate(engine, "nobody", NULL);
        st = st == HF_NOTFOUND ? HF_OK : st;
    }
    if (!st && pthread_create(&thread, NULL, stop_await, engine) == 0) {
        (void)printf("node\n");
        (void)fflush(stdout);
        st = hf_run(engine);
        (void)pthread_cancel(thread);
        (void)pthread_join(thread, NULL);
    }
    if (st)
        (void)fprintf(stderr, "chaos_worker: %s\n", hf_errmsg(engine));
    hf_close(engine);
    return st ? 1 : 0;
}

int main(int argc, char **argv)
{
    sigset_t stop;

    if (argc < 3 || strcmp(argv[1], "node") != 0)
        return hf_main(argc, argv, app_of(getenv("CHAOS_PART")));
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL); /* before there are threads */
    return node_run(argc, argv);
}
