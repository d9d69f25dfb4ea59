/* lib_flow.c: see lib_flow.h. */
#include "lib_flow.h"

#include <libpq-fe.h>
#include <math.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "lib/pg.h"
#include "lib_report.h"

enum { WAIT_MS = 600000, FAN_MAX = 1000, DRAIN_TURN = 250 };

static _Atomic uint64_t flow_steps;
static _Atomic int64_t flow_resumed_us;
static _Atomic uint64_t dozed;
static _Atomic uint64_t dozed_early;
static _Atomic bool long_parked;
static _Atomic uint64_t flow_parked;
static _Atomic int64_t nap_due_us[HF_FLOW_NAPS_MAX];
static _Atomic int64_t nap_late_us[HF_FLOW_NAPS_MAX];

static int64_t now_us(void)
{
    return hf_clock_wall_us(hf_clock_system());
}

static hf_value noop(hf_act *a, hf_value in)
{
    (void)a;
    (void)in;
    (void)atomic_fetch_add(&flow_steps, 1);
    return NULL;
}

static hf_value clocked(hf_act *a, hf_value in)
{
    size_t nth = (size_t)hf_int(in, "nth", 0) % HF_FLOW_NAPS_MAX;

    (void)a;
    atomic_store(&nap_late_us[nth], now_us() - atomic_load(&nap_due_us[nth]));
    (void)atomic_fetch_add(&flow_steps, 1);
    return NULL;
}

static hf_value steps(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "steps", 1);

    for (int64_t i = 0; i < n; i++)
        (void)hf_activity(w, "noop", NULL);
    return NULL;
}

static hf_value fan(hf_ctx *w, hf_value in)
{
    hf_future futures[FAN_MAX];
    size_t n = (size_t)hf_int(in, "steps", FAN_MAX);

    for (size_t i = 0; i < n && i < FAN_MAX; i++)
        futures[i] = hf_spawn_activity(w, "noop", NULL);
    (void)hf_join_all(w, futures, n < FAN_MAX ? n : FAN_MAX);
    return NULL;
}

static hf_value park(hf_ctx *w, hf_value in)
{
    hf_value got;

    (void)atomic_fetch_add(&flow_parked, 1);
    got = hf_receive(w, "go", .timeout = hf_days(30));
    (void)in;
    atomic_store(&flow_resumed_us, now_us());
    return got;
}

static hf_value go_long(hf_ctx *w, hf_value in)
{
    int64_t *seen = hf_state(w);
    int64_t n = hf_int(in, "steps", 1);

    for (; *seen < n; ++*seen)
        (void)hf_activity(w, "noop", NULL);
    atomic_store(&long_parked, true);
    return hf_receive(w, "go", .timeout = hf_days(30));
}

static hf_value seen_read(hf_mem *m, const void *state, hf_value args)
{
    (void)args;
    return hf_json_(m, "%lld", (long long)*(const int64_t *)state);
}

/* The due time is taken before the engine takes it, so that lateness is rather too much. */
static hf_value nap(hf_ctx *w, hf_value in)
{
    size_t nth = (size_t)hf_int(in, "nth", 0) % HF_FLOW_NAPS_MAX;
    int64_t none = 0;

    (void)atomic_compare_exchange_strong(&nap_due_us[nth], &none,
                                         now_us() + hf_int(in, "ms", 0) * 1000);
    hf_sleep(w, hf_int(in, "ms", 0));
    return hf_activity(w, "clocked", in);
}

/* The clock is asked by code that may run twice: only a turn that goes on counts, and once it has,
   the run is over. */
static hf_value doze(hf_ctx *w, hf_value in)
{
    int64_t until_ms = hf_int(in, "until", 0);
    /* Not hf_now, which is the moment of the start: a turn that comes late must not be due late. A
       replay asks again and is not listened to. */
    int64_t left_ms = until_ms - now_us() / 1000 + 1;

    hf_sleep(w, left_ms > 0 ? left_ms : 1);
    (void)atomic_fetch_add(&dozed_early, now_us() < until_ms * 1000);
    (void)atomic_fetch_add(&dozed, 1);
    return NULL;
}

static hf_value drain(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "signals", 0);

    for (int64_t i = 0; i < n; i++) {
        (void)hf_receive(w, "go");
        if (i % DRAIN_TURN == DRAIN_TURN - 1) /* a turn decides so many things and no more */
            (void)hf_activity(w, "noop", NULL);
    }
    return NULL;
}

static hf_value tally_add(hf_ctx *w, void *state, hf_value args)
{
    int64_t *sum = state;

    *sum += hf_int(hf_at(args, 0), "", 0);
    return hf_json(w, "%lld", (long long)*sum);
}

static hf_value tally(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go", .timeout = hf_days(30));
}

static const hf_signal_def park_signals[] = {{.name = "go"}, {0}};
static const hf_update_def tally_updates[] = {
    {.name = "add", .params = "by:int", .apply = tally_add}, {0}};
static const hf_query_def long_queries[] = {{.name = "seen", .read = seen_read}, {0}};
static const hf_workflow_def flow_workflows[] = {
    {.type = "steps", .run = steps},
    {.type = "fan", .run = fan},
    {.type = "park", .run = park, .signals = park_signals},
    {.type = "nap", .run = nap},
    {.type = "doze", .run = doze},
    {.type = "drain", .run = drain, .signals = park_signals},
    {.type = "tally",
     .run = tally,
     .state_size = sizeof(int64_t),
     .signals = park_signals,
     .updates = tally_updates},
    {.type = "long",
     .run = go_long,
     .state_size = sizeof(int64_t),
     .signals = park_signals,
     .queries = long_queries},
    {0}};
static const hf_activity_def flow_activities[] = {{hf_fn(noop)}, {hf_fn(clocked)}, {0}};
static const hf_app flow_app = {
    .name = "bench", .workflows = flow_workflows, .activities = flow_activities};

void hf_flow_ok(hf_engine *engine, hf_status st, const char *doing)
{
    if (st == HF_OK)
        return;
    (void)fprintf(stderr, "bench: %s: %s\n", doing, hf_errmsg(engine));
    exit(EXIT_FAILURE);
}

const char *hf_flow_address(const hf_flow_place *place, const char *name,
                            char out_address[HF_FLOW_ADDRESS_MAX])
{
    if (place->server)
        (void)snprintf(out_address, HF_FLOW_ADDRESS_MAX, "%s?hf_schema=%s",
                       hf_pg_uri(place->server), name);
    else
        (void)snprintf(out_address, HF_FLOW_ADDRESS_MAX, "%s/%s.db", place->folder, name);
    return out_address;
}

hf_engine *hf_flow_at(const char *address, bool activities)
{
    static const hf_app code_app = {.name = "bench", .workflows = flow_workflows};
    hf_engine *engine = NULL;

    hf_flow_ok(engine, hf_open(address, activities ? &flow_app : &code_app, &engine),
               "open an engine");
    return engine;
}

hf_engine *hf_flow_open(const hf_flow_place *place, const char *name)
{
    char address[HF_FLOW_ADDRESS_MAX];

    return hf_flow_at(hf_flow_address(place, name, address), true);
}

void hf_flow_drop(const hf_flow_place *place, const char *name)
{
    char path[HF_FLOW_ADDRESS_MAX];

    if (!place->server)
        hf_bench_need(remove(hf_flow_address(place, name, path)) == 0, "a store cannot be removed");
}

void hf_flow_start(hf_engine *engine, const char *type, const char *id, hf_value in)
{
    hf_flow_ok(engine, hf_start(engine, type, in, .id = id), "start a run");
}

void hf_flow_result(hf_engine *engine, const char *id)
{
    hf_flow_ok(engine, hf_result(engine, id, WAIT_MS, NULL, NULL), "wait for a run");
}

uint64_t hf_flow_steps(void)
{
    return atomic_load(&flow_steps);
}

int64_t hf_flow_resumed_us(void)
{
    return atomic_load(&flow_resumed_us);
}

int64_t hf_flow_nap_late_us(size_t nth)
{
    return atomic_load(&nap_late_us[nth]);
}

uint64_t hf_flow_dozed(void)
{
    return atomic_load(&dozed);
}

uint64_t hf_flow_dozed_early(void)
{
    return atomic_load(&dozed_early);
}

void hf_flow_dozed_reset(void)
{
    atomic_store(&dozed, 0);
    atomic_store(&dozed_early, 0);
}

bool hf_flow_is_long_parked(void)
{
    return atomic_exchange(&long_parked, false);
}

void hf_flow_naps_reset(void)
{
    for (size_t i = 0; i < HF_FLOW_NAPS_MAX; i++)
        atomic_store(&nap_due_us[i], 0);
}

double hf_flow_resident_mb(void)
{
    FILE *statm = fopen("/proc/self/statm", "r");
    long pages = 0;

    hf_bench_need(statm && fscanf(statm, "%*d %ld", &pages) == 1, "the memory cannot be read");
    (void)fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

uint64_t hf_flow_units(hf_engine *engine)
{
    return engine->writer ? hf_writer_stats_get(engine->writer).units : 0; /* not begun yet */
}

void hf_flow_units_await(hf_engine *engine, uint64_t units)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    double give_up = hf_bench_now_s() + (double)WAIT_MS / 1000;

    while (hf_flow_units(engine) < units) {
        hf_bench_need(hf_bench_now_s() < give_up, "the engine does not go on");
        (void)nanosleep(&moment, NULL);
    }
}

uint64_t hf_flow_parked(void)
{
    return atomic_load(&flow_parked);
}

void hf_flow_parked_await(hf_engine *engine, uint64_t parked)
{
    enum { QUIET = 3 };
    const struct timespec moment = {.tv_nsec = 1000000};
    double give_up = hf_bench_now_s() + (double)WAIT_MS / 1000;
    uint64_t units = 0;

    for (int quiet = 0; quiet < QUIET;) {
        uint64_t now = hf_flow_units(engine);

        quiet = hf_flow_parked() >= parked && now == units ? quiet + 1 : 0;
        units = now;
        hf_bench_need(hf_bench_now_s() < give_up, "the engine does not go on");
        (void)nanosleep(&moment, NULL);
    }
}

/* ---- crowds */

/* Callers that each keep one run going until the time is up. */
typedef struct crowd {
    hf_engine *engine;
    int64_t steps; /* of each run */
    double until_s;
    int round;
    _Atomic uint64_t runs; /* completed */
} crowd;

typedef struct caller {
    crowd *all;
    size_t nth;
    hf_thread thread;
} caller;

static void caller_run(void *ctx)
{
    caller *me = ctx;
    crowd *all = me->all;
    hf_value in = hf_json(all->engine, "{'steps': %lld}", (long long)all->steps);
    char id[64];

    for (int i = 0; hf_bench_now_s() < all->until_s; i++) {
        (void)snprintf(id, sizeof(id), "r%d-%zu-%d-%lld", all->round, me->nth, i,
                       (long long)all->steps);
        hf_flow_start(all->engine, "steps", id, in);
        hf_flow_result(all->engine, id);
        (void)atomic_fetch_add(&all->runs, 1);
    }
}

static void wait_until(double until_s)
{
    double left_s = until_s - hf_bench_now_s();
    const struct timespec left = {.tv_sec = (time_t)left_s,
                                  .tv_nsec = (long)((left_s - (double)(time_t)left_s) * 1e9)};

    if (left_s > 0)
        (void)nanosleep(&left, NULL);
}

hf_flow_rates hf_flow_crowd(hf_engine *engine, size_t callers, int64_t steps, double seconds)
{
    static int round;
    static caller them[HF_FLOW_CROWD_MAX];
    double start = hf_bench_now_s();
    crowd all = {.engine = engine, .steps = steps, .until_s = start + seconds, .round = round++};
    uint64_t units = hf_flow_units(engine);
    uint64_t done = hf_flow_steps();
    uint64_t runs;
    hf_err err = {0};
    double took;

    for (size_t i = 0; i < callers; i++) {
        them[i] = (caller){.all = &all, .nth = i};
        hf_bench_ok(hf_thread_start(&them[i].thread, "caller", caller_run, &them[i], &err), &err,
                    "start a caller");
    }
    wait_until(all.until_s);
    took = hf_bench_now_s() - start;
    done = hf_flow_steps() - done;
    units = hf_flow_units(engine) - units;
    runs = atomic_load(&all.runs);
    for (size_t i = 0; i < callers; i++)
        hf_thread_join(&them[i].thread);
    return (hf_flow_rates){.steps = (double)done / took,
                           .runs = (double)runs / took,
                           .units = (double)units / (double)done};
}

/* ---- numbers out of the store */

static double number_sqlite(const char *path, const char *sql)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *stmt = NULL;
    double number;

    hf_bench_need(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                      sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) == SQLITE_OK &&
                      sqlite3_step(stmt) == SQLITE_ROW,
                  "SQLite does not answer");
    number = sqlite3_column_double(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(handle);
    return number;
}

static double number_postgres(const char *uri, const char *schema, const char *sql)
{
    PGconn *conn = PQconnectdb(uri);
    char path[128];
    PGresult *result;
    double number;

    (void)snprintf(path, sizeof(path), "SET search_path = %s", schema);
    PQclear(PQexec(conn, path));
    result = PQexec(conn, sql);
    hf_bench_need(PQntuples(result) == 1, "PostgreSQL does not answer");
    number = strtod(PQgetvalue(result, 0, 0), NULL);
    PQclear(result);
    PQfinish(conn);
    return number;
}

double hf_flow_number(const hf_flow_place *place, const char *name, const char *sql)
{
    char path[HF_FLOW_ADDRESS_MAX];

    if (place->server)
        return number_postgres(hf_pg_uri(place->server), name, sql);
    return number_sqlite(hf_flow_address(place, name, path), sql);
}

double hf_flow_percentile(double *numbers, size_t count, double percent)
{
    size_t nth = (size_t)ceil((double)count * percent / 100);

    (void)hf_bench_median(numbers, count); /* sorts */
    return numbers[nth ? nth - 1 : 0];
}

int hf_flow_main(int argc, char **argv, const char *title, hf_flow_bench *bench)
{
    static const char *const stores[] = {"sqlite", "postgres"};
    const char *base = getenv("TMPDIR");

    hf_bench_modules(argv[0]);
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
        hf_flow_place place = {.store = stores[i]};
        char line[128];
        hf_err err = {0};

        if (argc > 1 && strcmp(argv[1], stores[i]) != 0)
            continue;
        (void)snprintf(place.folder, sizeof(place.folder), "%s/holdfast-bench-XXXXXX",
                       base && *base ? base : "/tmp");
        hf_bench_need(mkdtemp(place.folder) != NULL, "no folder for the stores");
        if (strcmp(stores[i], "postgres") == 0)
            hf_bench_ok(hf_pg_start(&place.server, &err), &err, "start PostgreSQL");
        (void)snprintf(line, sizeof(line), "%s: %s", stores[i], title);
        hf_bench_title(line);
        bench(&place);
        hf_pg_stop(place.server);
        hf_bench_need(rmdir(place.folder) == 0, "the folder of the stores cannot be removed");
    }
    return EXIT_SUCCESS;
}
