/* test_takeover.c: two servers on one PostgreSQL store, one of which is killed. Workers that die
   together with the server that they asked are noticed by the other one, long before their leases
   end, and polls at any server count as being heard. Reports come to the other server: while nobody
   has the run they are asked for again, after that they are taken until somebody else has the
   task. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine_impl.h"
#include "lib/kit.h"
#include "lib/nap.h"
#include "lib/site.h"
#include "server/registry.h"

enum { RUNS = 6, QUIET_MS = 400, BEAT_MS = 400, LOOKS = 600, LOOK_MS = 50, CALM_MS = 4000 };

static hf_value calls_far(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "far", in, .max_attempts = 1, .queue = hf_str(in, "0", "default"));
}

static const hf_workflow_def workflows[] = {{"calls_far", .run = calls_far}, {0}};
static const hf_app app = {.name = "pair_loss", .workflows = workflows};

static void look(hf_site *site)
{
    hf_err err = {0};

    hf_test_ok(hf_server_refresh(site->server, &err), &err, "refresh");
}

static void site_on(hf_site *site, hf_test_place *place)
{
    hf_server_options options = {
        .listen = "127.0.0.1:0", .worker_quiet_ms = QUIET_MS, .worker_beat_ms = BEAT_MS};
    hf_err err = {0};

    *site = (hf_site){.mem = hf_mem_new()};
    hf_kit_ok(site->engine, hf_open(hf_test_place_address(place), &app, &site->engine));
    hf_kit_ok(site->engine, hf_set(site->engine, "node_lease_ms", "1000"));
    hf_kit_ok(site->engine, hf_workers_allow(site->engine));
    options.engine = site->engine;
    hf_test_ok(hf_server_open(&options, &site->server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
    look(site); /* the node joins with the first question */
}

/* A server in a process of its own, until it is killed. Made while there is one thread only. */
static pid_t victim_begin(hf_test_place *place, hf_site *out_site)
{
    int ends[2];
    pid_t pid;

    *out_site = (hf_site){.mem = hf_mem_new()};
    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        hf_site site;
        int port;

        site_on(&site, place);
        port = hf_server_port(site.server);
        ck_assert_int_eq(write(ends[1], &port, sizeof(port)), sizeof(port));
        for (;;)
            (void)pause();
    }
    ck_assert_int_eq(read(ends[0], &out_site->port, sizeof(out_site->port)),
                     sizeof(out_site->port));
    (void)close(ends[0]);
    (void)close(ends[1]);
    return pid;
}

static void run_start(hf_site *site, int number, const char *queue)
{
    char body[160];

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"calls_far\",\"workflow_id\":\"%s-%d\",\"input\":[\"%s\"]}",
                   queue, number, queue);
    (void)hf_site_expect(site, "POST", "/api/workflows", body, 201);
}

/* An attempt in somebody's hand. */
typedef struct held {
    char task[64];
    char attempt[64];
    char workflow[32];
} held;

static bool attempt_poll(hf_site *site, const char *worker, const char *queue, int seconds,
                         held *out)
{
    hf_site_answer answer;
    char body[160];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"%s\",\"timeout_seconds\":%d}", worker,
                   queue, seconds);
    answer = hf_site_expect(site, "POST", "/api/worker/activity-tasks/poll", body, 200);
    (void)snprintf(out->task, sizeof(out->task), "%s", hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(out->attempt, sizeof(out->attempt), "%s",
                   hf_str(answer.body, "task.activity_attempt_id", ""));
    (void)snprintf(out->workflow, sizeof(out->workflow), "%s",
                   hf_str(answer.body, "task.workflow_id", ""));
    return out->task[0] != '\0';
}

static hf_site_answer result_ask(hf_site *site, const char *worker, const held *what)
{
    char path[128];
    char body[256];

    (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/complete", what->task);
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"%s\",\"activity_attempt_id\":\"%s\",\"result\":7}", worker,
                   what->attempt);
    return hf_site_ask(site, "POST", path, NULL, body);
}

static int result_send(hf_site *site, const char *worker, const held *what)
{
    return result_ask(site, worker, what).status;
}

/* `more`: how often it promises to show itself. */
static void worker_register(hf_site *site, const char *worker, const char *more)
{
    char body[256];

    (void)snprintf(body, sizeof(body),
                   "{\"worker_id\":\"%s\",\"task_queue\":\"default\",\"supported_workflow_types\":"
                   "[],\"supported_activity_types\":[\"far\"]%s}",
                   worker, more);
    (void)hf_site_expect(site, "POST", "/api/worker/register", body, 200);
}

static void run_completes(hf_site *site, const char *queue, int number)
{
    char id[32];

    (void)snprintf(id, sizeof(id), "%s-%d", queue, number);
    ck_assert_int_eq(hf_result(site->engine, id, hf_seconds(30), NULL, NULL), HF_OK);
}

/* Until each of two servers has its half. */
static void shares_await(const hf_site *site)
{
    hf_shards *shards = hf_node_shards(site->engine->node);

    for (int i = 0; i < LOOKS && hf_shards_count(shards) != HF_SHARDS / 2; i++)
        hf_nap_ms(LOOK_MS);
    ck_assert_int_eq(hf_shards_count(shards), HF_SHARDS / 2);
}

/* Whether the run is this server's. */
static bool owned(const hf_site *site, const char *id)
{
    int64_t shard = hf_shard_of(site->engine->namespace_key, hf_slice_of(id));

    return hf_shards_epoch(hf_node_shards(site->engine->node), shard) != HF_NONE;
}

/* The server that has a run is killed, and nobody can have it yet: a report is asked for again, and
   taken when somebody has it. One that comes when somebody else has the task changes nothing, and
   is told why. */
START_TEST(reports_outlive_the_server_that_handed_out)
{
    static const char lock[] = "BEGIN; SELECT number FROM shard WHERE node IS NOT NULL FOR UPDATE";
    hf_test_place *place = hf_test_place_stocked(HF_ENGINE_POSTGRES);
    hf_site first;
    hf_site second;
    pid_t victim = victim_begin(place, &first);
    hf_site_answer answer;
    held mine[RUNS];
    held again;
    held *away = NULL;
    held *other = NULL;
    hf_db *db = NULL;
    hf_err err = {0};

    site_on(&second, place);
    shares_await(&second);
    for (int i = 0; i < RUNS; i++)
        run_start(&second, i, "default");
    for (int i = 0; i < RUNS; i++) {
        ck_assert(attempt_poll(&first, "w1", "default", 20, &mine[i]));
        if (owned(&second, mine[i].workflow))
            continue;
        other = away;
        away = &mine[i];
    }
    ck_assert(away && other); /* the ids are always the same */
    ck_assert_int_eq(kill(victim, SIGKILL), 0);
    hf_test_ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    hf_test_ok(hf_db_script(db, lock, &err), &err, "keep the shards from being taken");
    ck_assert_int_eq(waitpid(victim, NULL, 0), victim);
    answer = result_ask(&second, "w1", away);
    ck_assert_int_eq(answer.status, 503);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "no_owner");
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Retry-After"), HF_SLICE("1")));
    hf_db_close(db);
    ck_assert_int_eq(result_send(&second, "w1", away), 200);
    run_completes(&second, "default", (int)(away->workflow[8] - '0'));
    (void)hf_site_expect(&second, "DELETE", "/api/worker/registrations/w1", NULL, 200);
    for (int i = 0; i < RUNS - 1; i++) {
        ck_assert(attempt_poll(&second, "w3", "default", 20, &again));
        if (strcmp(again.task, other->task) == 0) {
            answer = result_ask(&second, "w1", other);
            ck_assert_int_eq(answer.status, 409);
            ck_assert_str_eq(hf_str(answer.body, "reason", ""), "stale_attempt");
        }
        ck_assert_int_eq(result_send(&second, "w3", &again), 200);
    }
    for (int i = 0; i < RUNS; i++)
        run_completes(&second, "default", i);
    hf_mem_free(first.mem);
    hf_site_close(&second);
    hf_test_place_free(place);
}
END_TEST

/* A server is killed together with a worker that holds attempts of both servers' runs: the other
   server offers all of them again. An attempt of a worker that lives and now asks that server stays
   its own. */
START_TEST(workers_die_with_their_server)
{
    hf_test_place *place = hf_test_place_stocked(HF_ENGINE_POSTGRES);
    hf_site first;
    hf_site second;
    pid_t victim = victim_begin(place, &first);
    held dead[RUNS];
    held kept;
    held again;
    int got = 0;

    site_on(&second, place);
    for (int i = 0; i < RUNS; i++)
        run_start(&second, i, "default");
    run_start(&second, 0, "other");
    worker_register(&first, "w1", "");
    worker_register(&first, "w2", "");
    for (int i = 0; i < RUNS; i++)
        ck_assert(attempt_poll(&first, "w1", "default", 20, &dead[i]));
    ck_assert(attempt_poll(&first, "w2", "other", 20, &kept));
    ck_assert_int_eq(kill(victim, SIGKILL), 0);
    ck_assert_int_eq(waitpid(victim, NULL, 0), victim);
    for (int i = 0; i < LOOKS && got < RUNS; i++) {
        look(&second);
        ck_assert(!attempt_poll(&second, "w2", "other", 0, &again));
        if (attempt_poll(&second, "w3", "default", 0, &again)) {
            ck_assert_int_eq(result_send(&second, "w3", &again), 200);
            got++;
        } else {
            hf_nap_ms(LOOK_MS);
        }
    }
    ck_assert_int_eq(got, RUNS);
    for (int i = 0; i < RUNS; i++) {
        ck_assert_int_eq(result_send(&second, "w1", &dead[i]), 409);
        run_completes(&second, "default", i);
    }
    ck_assert_int_eq(result_send(&second, "w2", &kept), 200);
    run_completes(&second, "other", 0);
    hf_mem_free(first.mem);
    hf_site_close(&second);
    hf_test_place_free(place);
}
END_TEST

/* A worker that asks one server alone keeps what it holds of the runs of the other, which never
   hears it: it is asked for there. When it is silent at its own, too, both let go. */
START_TEST(a_worker_is_heard_at_the_other_server)
{
    hf_test_place *place = hf_test_place_stocked(HF_ENGINE_POSTGRES);
    hf_site sites[2];
    held mine[RUNS];
    held none;
    int got = 0;

    for (int i = 0; i < 2; i++)
        site_on(&sites[i], place);
    for (int i = 0; i < RUNS; i++)
        run_start(&sites[i % 2], i, "default");
    worker_register(&sites[0], "w1", "");
    for (int i = 0; i < RUNS; i++)
        ck_assert(attempt_poll(&sites[0], "w1", "default", 20, &mine[i]));
    for (int ms = 0; ms < CALM_MS; ms += LOOK_MS) {
        for (int i = 0; i < 2; i++)
            look(&sites[i]);
        ck_assert(!attempt_poll(&sites[0], "w1", "default", 0, &none));
        ck_assert(!attempt_poll(&sites[1], "w3", "default", 0, &none));
        hf_nap_ms(LOOK_MS);
    }
    ck_assert_int_eq(result_send(&sites[1], "w1", &mine[0]), 200);
    worker_register(&sites[0], "w1", ",\"heartbeat_interval_seconds\":1");
    for (int i = 0; i < LOOKS && got < RUNS - 1; i++) {
        look(&sites[1]);
        if (attempt_poll(&sites[1], "w3", "default", 0, &none)) {
            ck_assert_int_eq(result_send(&sites[1], "w3", &none), 200);
            got++;
        } else {
            hf_nap_ms(LOOK_MS);
        }
    }
    ck_assert_int_eq(got, RUNS - 1);
    for (int i = 0; i < RUNS; i++)
        run_completes(&sites[1], "default", i);
    hf_site_close(&sites[1]);
    hf_site_close(&sites[0]);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("server/takeover", {reports_outlive_the_server_that_handed_out, 180},
                 {workers_die_with_their_server, 180}, {a_worker_is_heard_at_the_other_server, 180})
