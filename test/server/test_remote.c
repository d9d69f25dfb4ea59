/* test_remote.c: the same program with the address of a server instead of a store: its workflows
   run in its own coroutines over the history that the server sends, its activities in its own
   threads, and its commands are requests. What comes out is what an engine in the process would
   have made. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/host.h"
#include "holdfast/tool.h"
#include "lib/rein.h"
#include "lib/site.h"

/* ---- an application that uses about everything */

static _Atomic int doubled;
static _Atomic int beats_seen;

static hf_value twice(hf_act *a, hf_value in)
{
    atomic_fetch_add(&doubled, 1);
    return hf_json(a, "%lld", (long long)(2 * hf_int(in, "n", 0)));
}

static hf_value flaky(hf_act *a, hf_value in)
{
    (void)in;
    if (hf_attempt(a) < 3)
        return hf_retry(a, "not_yet", "attempt %d", hf_attempt(a));
    return hf_json(a, "{'attempt': %d, 'key': %s}", hf_attempt(a), hf_idempotency_key(a));
}

static hf_value refuses(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "card_declined", "no money");
}

static hf_value undo(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "'undone'");
}

/* Goes on until it is told to stop. */
static hf_value endless(hf_act *a, hf_value in)
{
    (void)in;
    while (hf_heartbeat(a, .current = atomic_load(&beats_seen))) {
        struct pollfd none = {.fd = -1};

        atomic_fetch_add(&beats_seen, 1);
        (void)poll(&none, 1, 10);
    }
    return hf_stopped(a);
}

static hf_value big(hf_act *a, hf_value in)
{
    char text[20001];

    (void)in;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    return hf_json(a, "{'text': %s}", text);
}

static hf_value once(hf_mem *mem, void *arg)
{
    (void)arg;
    return hf_json_(mem, "%d", rand());
}

static hf_value leaf(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "twice", in);
}

typedef struct state {
    int64_t added;
} state;

static bool has_ten(const void *s)
{
    return ((const state *)s)->added >= 10;
}

static hf_value add(hf_ctx *w, void *s, hf_value args)
{
    if (hf_int(args, "n", 0) == 13)
        hf_fail(w, "unlucky", "not thirteen");
    ((state *)s)->added += hf_int(args, "n", 0);
    return hf_json(w, "%lld", (long long)((state *)s)->added);
}

static hf_value tour(hf_ctx *w, hf_value in)
{
    const hf_error *failure = NULL;
    hf_value all = hf_all(w, HF_ACTIVITY("twice", hf_json(w, "{'n': 1}")),
                          HF_ALL(HF_ACTIVITY("twice", hf_json(w, "{'n': 2}")),
                                 HF_CHILD("leaf", hf_json(w, "{'n': 3}"))));
    const hf_ms none[] = {0};
    hf_value tried =
        hf_activity(w, "flaky", in, .max_attempts = 5, .backoff = none, .backoff_n = 1);
    hf_value drawn = hf_side_effect(w, "draw", once, NULL);
    hf_value long_text = hf_activity(w, "big", in);
    hf_value told;
    hf_value silence;
    bool ten;
    int version = hf_version(w, "tour", 1, 2);

    hf_activity(w, "refuses", in, .err = &failure);
    hf_note(w, "half way");
    hf_memo(w, hf_json(w, "{'stage': 'waiting'}"));
    hf_label(w, "colour", "red");
    hf_sleep(w, 20);
    silence = hf_receive(w, "never", .timeout = 30);
    told = hf_receive(w, "told");
    ten = hf_wait(w, "ten", has_ten, .timeout = hf_seconds(60));
    hf_compensate(w, "undo", in);
    hf_compensated(w);
    return hf_json(w,
                   "{'all': %p, 'tried': %lld, 'drawn': %lld, 'long': %zu, 'failed': %s, 'told': "
                   "%p, 'silence': %d, 'ten': %d, 'version': %d, 'id': %s}",
                   (const void *)all, (long long)hf_int(tried, "attempt", 0),
                   (long long)(hf_int(drawn, "", -1) >= 0), strlen(hf_str(long_text, "text", "")),
                   failure ? failure->type : "", (const void *)told, silence == NULL, ten, version,
                   hf_workflow_id(w));
}

static hf_value countdown(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 0);

    hf_activity(w, "twice", in);
    if (n > 0)
        hf_continue_as_new(w, hf_json(w, "{'n': %lld}", (long long)n - 1));
    return hf_json(w, "'lift-off'");
}

static hf_value broken(hf_ctx *w, hf_value in)
{
    hf_compensate(w, "undo", in);
    hf_activity(w, "refuses", in);
    return NULL;
}

static hf_value waits(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "endless", in, .heartbeat = hf_seconds(30));
}

/* Both wait while the parent's turn after its activity decides nothing but what it sends. */
static hf_value hears(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

static hf_value tells(hf_ctx *w, hf_value in)
{
    const char *calls[1];
    hf_future child = hf_spawn_child(w, "hears", in, .id = "child");
    hf_future done = hf_spawn_activity(w, "twice", in);

    hf_join(w, done);
    if (hf_children(w, calls, 1) == 1)
        hf_signal_child(w, calls[0], "go", hf_json(w, "{'from': 'parent'}"));
    hf_messages_send(w, "t-1", "mail", "ref-1");
    return hf_join(w, child);
}

/* Looks at its mail, takes it, and has a function answer. */
static hf_value reads(hf_ctx *w, hf_value in)
{
    hf_value seen;
    hf_value first;
    hf_value rest;

    (void)in;
    hf_receive(w, "go");
    seen = hf_messages_peek(w, "mail", 0);
    first = hf_messages_receive(w, "mail", 1);
    rest = hf_messages_receive(w, "mail", 0);
    return hf_json(w, "{'seen': %zu, 'first': %s, 'rest': %zu, 'again': %zu, 'async': %p}",
                   hf_len(seen), hf_str(hf_at(first, 0), "payload_ref", ""), hf_len(rest),
                   hf_len(hf_messages_receive(w, "mail", 0)),
                   (const void *)hf_async(w, "leaf", hf_json(w, "{'n': 21}")));
}

static hf_value sends(hf_ctx *w, hf_value in)
{
    for (int i = 0; i < 3; i++)
        hf_messages_send(w, "r-1", "mail", "ref-1");
    return hf_async(w, "told_of", in);
}

/* Its second run begins where the change is known already. */
static hf_value renews(hf_ctx *w, hf_value in)
{
    if (!hf_bool(in, "second", false))
        hf_continue_as_new(w, hf_json(w, "{'second': true}"));
    return hf_json(w, "%d", hf_version(w, "changed", HF_VERSION_DEFAULT, 1));
}

static hf_value level(hf_mem *mem, const void *s, hf_value args)
{
    (void)args;
    return hf_json_(mem, "%lld", (long long)((const state *)s)->added);
}

/* A function that is asked and told. */
static hf_value told_of(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_wait(w, "ten", has_ten);
    return hf_json(w, "%lld", (long long)((state *)hf_state(w))->added);
}

static const hf_app app = {
    .name = "tour",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "tour",
             .run = tour,
             .state_size = sizeof(state),
             .revision = "1",
             .signals = (const hf_signal_def[]){{"told", "by:string"}, {"never", NULL}, {0}},
             .updates = (const hf_update_def[]){{"add", "n:int", add, NULL}, {0}}},
            {.type = "leaf", .run = leaf},
            {.type = "countdown", .run = countdown},
            {.type = "broken", .run = broken},
            {.type = "waits", .run = waits},
            {.type = "hears",
             .run = hears,
             .signals = (const hf_signal_def[]){{"go", "from:string"}, {0}}},
            {.type = "tells", .run = tells},
            {.type = "reads", .run = reads, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
            {.type = "sends", .run = sends},
            {.type = "renews", .run = renews},
            {.type = "told_of",
             .run = told_of,
             .state_size = sizeof(state),
             .updates = (const hf_update_def[]){{"add", "n:int", add, NULL}, {0}},
             .queries = (const hf_query_def[]){{"level", NULL, level}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){{hf_fn(twice)},
                                            {hf_fn(flaky)},
                                            {hf_fn(refuses)},
                                            {hf_fn(undo)},
                                            {hf_fn(endless)},
                                            {hf_fn(big)},
                                            {0}},
};

static const hf_app nothing = {.name = "nothing-here"};

static hf_engine *remote_open(const hf_site *site, const hf_app *what)
{
    char address[64];
    hf_engine *d = NULL;

    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site->server));
    ck_assert_msg(!hf_open(address, what, &d), "%s", hf_errmsg(d));
    return d;
}

#define OK(d, call) ck_assert_msg((call) == HF_OK, "%s", hf_errmsg(d))

/* Updates first: they are refused while a signal waits. */
static void tour_take(hf_engine *d, const char *id, hf_value *out)
{
    hf_value sum = NULL;

    OK(d, hf_start(d, "tour", hf_json(d, "{'n': 7}"), .id = id));
    ck_assert_int_eq(hf_update(d, id, "add", hf_json(d, "{'n': 13}"), 20000, &sum), HF_ERROR);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "unlucky"));
    OK(d, hf_update(d, id, "add", hf_json(d, "{'n': 4}"), 20000, &sum));
    ck_assert_int_eq(hf_int(sum, "", 0), 4);
    OK(d, hf_update(d, id, "add", hf_json(d, "{'n': 6}"), 20000, &sum));
    OK(d, hf_signal(d, id, "told", hf_json(d, "{'by': 'ada'}")));
    OK(d, hf_result(d, id, 30000, out, NULL));
}

/* The types of all events of a run, sorted; ends of repeated attempts are not told apart. */
static void types_of(hf_engine *d, const char *id, char *out, size_t size)
{
    hf_value page = NULL;
    hf_value events;
    const char *types[256];
    size_t count = 0;

    OK(d, hf_history(d, hf_mem_of_engine(d), &page, id));
    events = hf_get(page, "events");
    for (; count < hf_len(events) && count < 256; count++)
        types[count] = hf_str(hf_at(events, count), "type", "");
    for (size_t i = 0; i < count; i++) /* few enough */
        for (size_t k = i + 1; k < count; k++)
            if (strcmp(types[k], types[i]) < 0) {
                const char *swap = types[i];

                types[i] = types[k];
                types[k] = swap;
            }
    *out = '\0';
    for (size_t i = 0; i < count; i++)
        (void)snprintf(out + strlen(out), size - strlen(out), "%s ", types[i]);
}

/* The tour through everything, in the process and through a server, ends with the same words and
   leaves the same events. */
HF_BOTH_ENGINES(a_program_does_not_notice)
{
    static char types[2][8192];
    char text[1024];
    hf_test_place *place = hf_test_place_new(kind);
    hf_site site;
    hf_engine *d = NULL;
    hf_value out = NULL;

    OK(d, hf_open(hf_test_place_address(place), &app, &d));
    tour_take(d, "t-1", &out);
    (void)snprintf(text, sizeof(text), "%s", hf_show(d, out));
    types_of(d, "t-1", types[0], sizeof(types[0]));
    hf_close(d);
    hf_test_place_free(place);

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    tour_take(d, "t-1", &out);
    ck_assert_str_eq(hf_show(d, out), text);
    ck_assert_ptr_nonnull(strstr(text, "\"long\":20000"));
    hf_close(d);
    types_of(site.engine, "t-1", types[1], sizeof(types[1]));
    ck_assert_str_eq(types[0], types[1]);
    hf_site_close(&site);
}

/* How things end: continued, failed with compensation, cancelled while an activity runs, which is
   told so. */
HF_BOTH_ENGINES(ends_are_ends)
{
    hf_site site;
    hf_engine *d;
    const hf_error *failure = NULL;
    hf_value out = NULL;
    int before;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    OK(d, hf_start(d, "countdown", hf_json(d, "{'n': 3}"), .id = "c-1"));
    OK(d, hf_start(d, "broken", hf_json(d, "{}"), .id = "b-1"));
    ck_assert_int_eq(hf_start(d, "broken", hf_json(d, "{}"), .id = "b-1"), HF_EXISTS);
    OK(d, hf_result(d, "c-1", 30000, &out, NULL));
    ck_assert_str_eq(hf_str(out, "", ""), "lift-off");
    ck_assert_int_eq(hf_result(d, "b-1", 30000, &out, &failure), HF_ERROR);
    ck_assert_str_eq(failure->type, "card_declined");
    ck_assert_str_eq(failure->message, "no money");
    OK(d, hf_start(d, "waits", NULL, .id = "w-1"));
    for (int i = 0; i < 1000 && atomic_load(&beats_seen) < 2; i++)
        (void)poll(&(struct pollfd){.fd = -1}, 1, 10);
    OK(d, hf_cancel(d, "w-1", "enough"));
    ck_assert_int_eq(hf_result(d, "w-1", 30000, &out, &failure), HF_CANCELLED);
    for (int i = 0; i < 1000; i++) { /* the attempt stops with its next sign of life */
        before = atomic_load(&beats_seen);
        (void)poll(&(struct pollfd){.fd = -1}, 1, 50);
        if (atomic_load(&beats_seen) == before)
            break;
    }
    ck_assert_int_eq(atomic_load(&beats_seen), before);
    ck_assert_int_eq(hf_result(d, "nobody", 0, &out, NULL), HF_NOTFOUND);
    ck_assert_int_eq(hf_signal(d, "nobody", "told", NULL), HF_NOTFOUND);
    hf_close(d);
    hf_site_close(&site);
}

/* What a workflow takes is checked where it is started, also when its code is elsewhere; defaults
   are filled in there. */
HF_BOTH_ENGINES(starts_are_held_against_the_contract)
{
    const hf_workflow_def picky[] = {{"picky", leaf, .params = "n:int, twice:bool=true"}, {0}};
    const hf_app with = {.name = "picky", .workflows = picky, .activities = app.activities};
    hf_site site;
    hf_engine *d;
    hf_value out = NULL;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &with);
    OK(d, hf_start(d, "picky", hf_json(d, "{'n': 4}"), .id = "p-1"));
    OK(d, hf_result(d, "p-1", 30000, &out, NULL)); /* it is registered by now */
    ck_assert_int_eq(hf_int(out, "", 0), 8);
    ck_assert_int_eq(hf_start(d, "picky", hf_json(d, "{'m': 4}"), .id = "p-2"), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "picky", hf_json(d, "{'n': 'x'}"), .id = "p-2"), HF_INVALID);
    ck_assert_msg(strstr(hf_errmsg(d), "argument n") != NULL, "%s", hf_errmsg(d));
    OK(d, hf_start(d, "picky", hf_json(d, "{'n': 5}"), .id = "p-2"));
    OK(d, hf_result(d, "p-2", 30000, &out, NULL));
    hf_close(d);
    hf_site_close(&site);
}

static bool count_keep(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    (void)names;
    (void)count;
    if (cells)
        *(int64_t *)ctx = atoll(cells[0]);
    return true;
}

static int64_t count_of(const hf_site *site, const char *sql)
{
    int64_t count = -1;
    hf_err err = {0};

    hf_test_ok(hf_sql(hf_test_place_address(site->place), NULL, sql, count_keep, &count, &err),
               &err, sql);
    return count;
}

/* What a turn sends is kept although the turn leaves no event: the fact that it follows is on the
   record before its worker is asked. */
HF_BOTH_ENGINES(n03_a_turn_that_only_sends_is_kept)
{
    hf_site site;
    hf_engine *d;
    hf_value out = NULL;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    OK(d, hf_start(d, "tells", hf_json(d, "{'n': 1}"), .id = "t-1"));
    OK(d, hf_result(d, "t-1", 20000, &out, NULL));
    ck_assert_str_eq(hf_show(d, out), "{\"from\":\"parent\"}");
    ck_assert_int_eq(count_of(&site, "SELECT count(*) FROM message"), 2);
    ck_assert_int_eq(count_of(&site, "SELECT count(*) FROM inbox"), 0);
    hf_close(d);
    hf_site_close(&site);
}

/* The code of an async child is another type's: its worker gets it, also what it is asked and told.
 */
HF_BOTH_ENGINES(n17_streams_and_async_functions)
{
    hf_site site;
    hf_engine *d;
    hf_value out = NULL;
    const char *child = "s-1:1:1";

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    OK(d, hf_start(d, "reads", NULL, .id = "r-1"));
    OK(d, hf_start(d, "sends", NULL, .id = "s-1"));
    for (int i = 0; i < 1000 && hf_query(d, child, "level", NULL, &out); i++)
        (void)poll(&(struct pollfd){.fd = -1}, 1, 10);
    ck_assert_msg(hf_int(out, "", -1) == 0, "%s", hf_errmsg(d));
    OK(d, hf_update(d, child, "add", hf_json(d, "{'n': 10}"), 20000, &out));
    OK(d, hf_result(d, "s-1", 20000, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 10);
    OK(d, hf_signal(d, "r-1", "go", NULL));
    OK(d, hf_result(d, "r-1", 20000, &out, NULL));
    ck_assert_str_eq(hf_show(d, out), "{\"seen\":3,\"first\":\"ref-1\",\"rest\":2,"
                                      "\"again\":0,\"async\":42}");
    hf_close(d);
    hf_site_close(&site);
}

/* A run that continues another begins with the definition of the worker, as it would on a store. */
HF_BOTH_ENGINES(the_next_run_has_the_newest_definition)
{
    hf_site site;
    hf_engine *d;
    hf_value out = NULL;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    OK(d, hf_start(d, "renews", NULL, .id = "r-1"));
    OK(d, hf_result(d, "r-1", 20000, &out, NULL));
    ck_assert_int_eq(hf_int(out, "", 0), 1);
    ck_assert_int_eq(count_of(&site, "SELECT count(*) FROM run"), 2);
    hf_close(d);
    hf_site_close(&site);
}

static hf_outcome sent(hf_step *s)
{
    return hf_done(s, NULL);
}

/* Of two programs that declare a limit, the one that came last says what it means, also for the
   other; a limit that can be none is refused, and another namespace knows nothing of it. */
HF_BOTH_ENGINES(the_last_declaration_of_a_limit_counts)
{
    static const hf_machine_def machines[] = {{.type = "m", .job = sent}, {0}};
    static const hf_limit_def narrow[] = {{"mail", .allowed = 1, .per = 1000}, {0}};
    static const hf_limit_def wide[] = {{"mail", .allowed = 5, .per = 1000}, {0}};
    static const hf_app before = {.name = "mailer", .machines = machines, .limits = narrow};
    static const hf_app after = {.name = "mailer", .machines = machines, .limits = wide};
    static const char start[] = "{\"workflow_type\":\"m\",\"rate_limit\":\"mail\",\"weight\":3}";
    hf_site_answer answer;
    hf_engine *one;
    hf_engine *two;
    hf_site site;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    one = remote_open(&site, &before);
    ck_assert_int_eq(hf_start(one, "m", NULL, .rate_limit = "mail", .weight = 3), HF_INVALID);
    two = remote_open(&site, &after);
    OK(two, hf_start(two, "m", NULL, .rate_limit = "mail", .weight = 3));
    OK(one, hf_start(one, "m", NULL, .rate_limit = "mail", .weight = 3));
    hf_close(two);
    hf_close(one);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL, start).status, 201);
    OK(site.engine, hf_namespace_create(site.engine, "b",
                                        &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts),
                                                             .description = ""}));
    OK(site.engine, hf_namespace_use(site.engine, "b"));
    ck_assert_int_eq(hf_start(site.engine, "m", NULL, .rate_limit = "mail"), HF_INVALID);
    answer = hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                         "{\"worker_id\":\"w\",\"limits\":[{\"name\":\"x\",\"at_once\":-1}]}");
    ck_assert_int_eq(answer.status, 422);
    ck_assert_ptr_nonnull(strstr(answer.text, "limit x"));
    hf_site_close(&site);
}

/* A server that began anew does not know the limit of a program that left: the step stands before
   it without being asked for, until a program declares it. */
HF_BOTH_ENGINES(a_limit_is_waited_for_until_it_is_declared)
{
    static const hf_machine_def machines[] = {{.type = "m", .job = sent}, {0}};
    static const hf_limit_def narrow[] = {{"mail", .allowed = 1, .per = 3600000}, {0}};
    static const hf_limit_def wide[] = {{"mail", .allowed = 50, .per = 1000}, {0}};
    static const hf_app before = {.name = "mailer", .machines = machines, .limits = narrow};
    static const hf_app after = {.name = "mailer", .machines = machines, .limits = wide};
    hf_site site;
    hf_rein rein;
    hf_engine *d;

    hf_site_open(&site, kind, &nothing, (hf_server_options){0});
    d = remote_open(&site, &before);
    OK(d, hf_start(d, "m", NULL, .id = "first", .rate_limit = "mail"));
    OK(d, hf_result(d, "first", 20000, NULL, NULL));
    OK(d, hf_start(d, "m", NULL, .id = "second", .rate_limit = "mail"));
    hf_close(d);
    hf_site_again(&site, &nothing, (hf_server_options){0});
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/second", NULL, NULL).status, 200);
    hf_rein_open(&rein);
    ck_assert_int_eq(hf_rein_look(&rein, site.engine).next_us, INT64_MAX);
    hf_rein_close(&rein);
    d = remote_open(&site, &after);
    OK(d, hf_result(d, "second", 20000, NULL, NULL));
    hf_close(d);
    hf_site_close(&site);
}

/* What a server does not have says so, with its name. */
START_TEST(what_a_server_does_not_have)
{
    hf_site site;
    hf_engine *d;
    hf_command_result answer;
    hf_value out = NULL;

    hf_site_open(&site, HF_ENGINE_SQLITE, &nothing, (hf_server_options){0});
    d = remote_open(&site, &app);
    ck_assert_int_eq(hf_why(d, "x", hf_mem_of_engine(d), &out), HF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "hf_why"));
    ck_assert_int_eq(hf_schedule_show(d, "x", &out), HF_UNSUPPORTED);
    ck_assert_int_eq(hf_start(d, "tour", NULL, .delay = 1500), HF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "delay"));
    ck_assert_int_eq(hf_start(d, "tour", NULL, .run_timeout = 999), HF_INVALID);
    ck_assert_int_eq(hf_start(d, "tour", NULL, .labels = "{"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "pending_timer_count", "3"), HF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "hf_set"));
    ck_assert_int_eq(hf_command(d, "start", hf_json(d, "{'workflow_type': 'tour', 'context': {}}"),
                                hf_mem_of_engine(d), &answer),
                     HF_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "context"));
    ck_assert_int_eq(hf_fd(d), -1);
    hf_close(d);
    ck_assert_int_eq(hf_open("http://127.0.0.1:1", &nothing, &d), HF_OK);
    ck_assert_int_eq(hf_result(d, "x", 0, &out, NULL), HF_UNREACHABLE);
    hf_close(d);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/remote", HF_BOTH(the_last_declaration_of_a_limit_counts),
                 HF_BOTH(a_limit_is_waited_for_until_it_is_declared),
                 HF_BOTH(a_program_does_not_notice), HF_BOTH(ends_are_ends),
                 HF_BOTH(starts_are_held_against_the_contract),
                 HF_BOTH(n03_a_turn_that_only_sends_is_kept),
                 HF_BOTH(n17_streams_and_async_functions),
                 HF_BOTH(the_next_run_has_the_newest_definition), {what_a_server_does_not_have, 60})
