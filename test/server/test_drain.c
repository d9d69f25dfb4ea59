/* test_drain.c: a server that is told to stop while clients wait, over real HTTP on both databases:
   whoever waits is answered at once and told to ask again, and nothing that was accepted is lost.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "engine/engine_impl.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "lib/hold.h"
#include "lib/kit.h"
#include "lib/nap.h"
#include "lib/rein.h"
#include "lib/simvfs.h"
#include "lib/site.h"

static const hf_app app = {.name = "nothing-here"};

#define WORKER "\"worker_id\":\"w1\",\"task_queue\":\"far\""

/* Its answer as a value of the site's. */
static hf_site_answer answer_read(hf_site *site, int fd, hf_wire_reply *reply)
{
    hf_site_answer answer = {0};

    ck_assert_msg(hf_wire_read_reply(fd, reply), "no answer");
    answer.status = reply->status;
    answer.text = hf_buf_text(&reply->body);
    answer.body = hf_parse_(site->mem, answer.text, reply->body.len);
    (void)close(fd);
    return answer;
}

/* "Ask again", in the form of every refusal, with the time to wait. */
static void told_to_ask_again(hf_site *site, int fd)
{
    hf_wire_reply reply = {0};
    hf_site_answer answer = answer_read(site, fd, &reply);

    ck_assert_msg(answer.status == 503, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "draining");
    ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
    ck_assert_str_ne(hf_str(answer.body, "remediation", ""), "");
    ck_assert(hf_slice_equal(hf_wire_field(&reply, "Retry-After"), HF_SLICE("1")));
    hf_wire_reply_fini(&reply);
}

/* A run of remote code that has done its first task and waits. */
static void site_begin(hf_site *site, hf_engine_kind kind)
{
    hf_site_answer answer;
    char path[160];
    char body[256];

    hf_site_open(site, kind, &app, (hf_server_options){0});
    ck_assert_int_eq(
        hf_site_ask(site, "POST", "/api/worker/register", NULL,
                    "{" WORKER ",\"supported_workflow_types\":[\"remote\"],"
                    "\"workflow_command_contracts\":{\"remote\":{\"queries\":[\"total\"],"
                    "\"updates\":[\"set\",\"checked\"],\"update_validators\":[\"checked\"]}}}")
            .status,
        200);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-1\","
                                 "\"task_queue\":\"far\",\"input\":[5]}")
                         .status,
                     201);
    answer = hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL, "{" WORKER "}");
    ck_assert_msg(hf_get(answer.body, "task.task_id"), "%s", answer.text);
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%d,\"commands\":[{\"type\":"
                   "\"open_condition_wait\",\"condition_key\":\"c\"}]}",
                   (int)hf_int(answer.body, "task.workflow_task_attempt", 0));
    ck_assert_int_eq(hf_site_ask(site, "POST", path, NULL, body).status, 200);
}

/* Polls are handed questions and tasks; a client that waits for one was heard before. */
static void poll_await(hf_site *site, const char *path, const char *key)
{
    hf_site_answer answer =
        hf_site_ask(site, "POST", path, NULL, "{" WORKER ",\"timeout_seconds\":20}");

    ck_assert_msg(hf_get(answer.body, key), "%s", answer.text);
}

/* The same server again, on the same engine. */
static void site_again(hf_site *site)
{
    hf_err err = {0};

    hf_server_wait(site->server);
    hf_server_close(site->server);
    hf_test_ok(hf_server_open(&(hf_server_options){.engine = site->engine, .listen = "127.0.0.1:0"},
                              &site->server, &err),
               &err, "open a server");
    hf_test_ok(hf_server_start(site->server, &err), &err, "start a server");
}

/* An update that was accepted and waits for its end is answered with its id, and is there
   afterwards: looked up, and asked for again by its request id. */
HF_BOTH_ENGINES(an_accepted_update_outlives_its_server)
{
    static const char set[] = "{\"input\":[1],\"request_id\":\"u-1\",\"wait_timeout_seconds\":60}";
    hf_wire_reply reply = {0};
    hf_site site;
    hf_site_answer answer;
    char id[64];
    char path[160];
    int fd;

    site_begin(&site, kind);
    fd = hf_site_send(&site, "POST", "/api/workflows/r-1/update/set", set);
    poll_await(&site, "/api/worker/workflow-tasks/poll", "task.workflow_update_id");
    hf_server_drain(site.server, 60000);
    answer = answer_read(&site, fd, &reply);
    ck_assert_msg(answer.status == 503, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "draining");
    ck_assert_str_eq(hf_str(answer.body, "update_status", ""), "accepted");
    ck_assert(hf_slice_equal(hf_wire_field(&reply, "Retry-After"), HF_SLICE("1")));
    (void)snprintf(id, sizeof(id), "%s", hf_str(answer.body, "update_id", ""));
    hf_wire_reply_fini(&reply);
    site_again(&site);
    (void)snprintf(path, sizeof(path), "/api/workflows/r-1/updates/%s", id);
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    ck_assert_msg(answer.status == 202, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "update_status", ""), "accepted");
    answer = hf_site_ask(&site, "POST", "/api/workflows/r-1/update/set", NULL,
                         "{\"input\":[1],\"request_id\":\"u-1\",\"wait_for\":\"accepted\"}");
    ck_assert_str_eq(hf_str(answer.body, "update_id", ""), id);
    hf_site_close(&site);
}

/* Questions that a worker has, and that none has taken yet; a judgement that is awaited; a reader
   of history that waits for news: all end at once, and nothing of them is recorded. */
HF_BOTH_ENGINES(questions_end_at_once)
{
    enum { CALLERS = 24 }; /* more than there are threads for it */
    hf_site site;
    hf_site_answer answer;
    char path[256];
    int fds[CALLERS];
    int reader;
    int check;

    site_begin(&site, kind);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/query-tasks/poll", NULL,
                                 "{" WORKER ",\"timeout_seconds\":0}")
                         .status,
                     200);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/update-validation-tasks/poll", NULL,
                                 "{" WORKER ",\"timeout_seconds\":0}")
                         .status,
                     200);
    check = hf_site_send(&site, "POST", "/api/workflows/r-1/update/checked", "{\"input\":[1]}");
    poll_await(&site, "/api/worker/update-validation-tasks/poll", "task.update_name");
    for (int i = 0; i < CALLERS; i++)
        fds[i] = hf_site_send(&site, "POST", "/api/workflows/r-1/query/total", "{}");
    poll_await(&site, "/api/worker/query-tasks/poll", "task.query_name");
    answer = hf_site_ask(&site, "GET", "/api/workflows/r-1", NULL, NULL);
    (void)snprintf(path, sizeof(path),
                   "/api/workflows/r-1/runs/%s/history?wait_new_event=1&wait_timeout_seconds=60&"
                   "next_page_token=s100",
                   hf_str(answer.body, "run_id", ""));
    reader = hf_site_send(&site, "GET", path, NULL);
    hf_server_drain(site.server, 60000);
    told_to_ask_again(&site, check);
    told_to_ask_again(&site, reader);
    for (int i = 0; i < CALLERS; i++)
        told_to_ask_again(&site, fds[i]);
    site_again(&site);
    *strchr(path, '?') = '\0';
    answer = hf_site_ask(&site, "GET", path, NULL, NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_nonnull(strstr(answer.text, "WorkflowStarted"));
    ck_assert_ptr_null(strstr(answer.text, "UpdateAccepted"));
    hf_site_close(&site);
}

/* Polls that wait are answered empty, readers of a stream hear the end, probes hear 503. */
HF_BOTH_ENGINES(polls_and_streams_end_at_once)
{
    hf_wire_reply reply = {0};
    hf_site_answer answer;
    hf_buf rest = {0};
    hf_site site;
    int poll;
    int stream;

    site_begin(&site, kind);
    stream = hf_site_send(&site, "GET", "/api/workflows/r-1/events", NULL);
    poll = hf_site_send(&site, "POST", "/api/worker/activity-tasks/poll",
                        "{" WORKER ",\"timeout_seconds\":60}");
    hf_site_await(&site, "holdfast_http_parked 1");
    hf_server_drain(site.server, 60000);
    answer = answer_read(&site, poll, &reply);
    ck_assert_msg(answer.status == 200, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "draining");
    ck_assert_ptr_nonnull(strstr(answer.text, "\"task\":null"));
    hf_wire_reply_fini(&reply);
    ck_assert(hf_wire_read_all(stream, &rest));
    (void)close(stream);
    hf_buf_fini(&rest);
    hf_server_wait(site.server);
    hf_site_close(&site);
}

/* ---- tasks on their way to a worker */

/* Nothing that concerns an activity is committed meanwhile. */
static hf_db *store_hold(hf_site *site)
{
    hf_db_cursor *cursor = NULL;
    hf_db *db = NULL;
    hf_err err = {0};
    bool row = true;

    hf_test_ok(hf_test_place_dial(site->place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    hf_test_ok(hf_db_begin(db, HF_DB_WRITE, &err), &err, "begin");
    if (hf_test_place_kind(site->place) == HF_ENGINE_POSTGRES)
        hf_test_ok(
            hf_db_query_text(db, "SELECT key FROM activity FOR UPDATE", NULL, 0, &cursor, &err),
            &err, "lock");
    while (cursor && row)
        hf_test_ok(hf_db_step(cursor, &row, &err), &err, "lock");
    hf_db_end(cursor);
    return db;
}

static void store_let_go(hf_db *db)
{
    hf_db_rollback(db);
    hf_db_close(db);
}

/* A worker asks for the activity of a run, and whoever hands it out is at its commit. */
static int poll_in_hand(hf_site *site, hf_engine_kind kind, hf_db **out_hold)
{
    char path[160];
    char body[256];
    hf_site_answer answer;
    int fd;

    site_begin(site, kind);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-2\","
                                 "\"task_queue\":\"far\"}")
                         .status,
                     201);
    answer = hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL, "{" WORKER "}");
    (void)snprintf(path, sizeof(path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%d,\"commands\":[{\"type\":"
                   "\"schedule_activity\",\"activity_type\":\"double\"}]}",
                   (int)hf_int(answer.body, "task.workflow_task_attempt", 0));
    answer = hf_site_ask(site, "POST", path, NULL, body);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    *out_hold = store_hold(site);
    fd = hf_site_send(site, "POST", "/api/worker/activity-tasks/poll",
                      "{" WORKER ",\"timeout_seconds\":60}");
    hf_site_await(site, "holdfast_http_parked 1");
    for (int i = 0; i < 10000 && !hf_rein_tasks(site->engine).held; i++)
        hf_nap_ms(1); /* the poll has the task: it may have come before that was offered */
    return fd;
}

/* A task that is being handed out when the drain begins is brought to its worker, which reports on
   it to the next server. */
HF_BOTH_ENGINES(a_task_in_hand_is_brought)
{
    hf_wire_reply reply = {0};
    hf_site_answer answer;
    hf_db *hold = NULL;
    hf_site site;
    char path[160];
    char body[256];
    int fd = poll_in_hand(&site, kind, &hold);

    hf_server_drain(site.server, 60000);
    store_let_go(hold);
    answer = answer_read(&site, fd, &reply);
    ck_assert_msg(answer.status == 200, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "poll_status", ""), "leased");
    (void)snprintf(path, sizeof(path), "/api/worker/activity-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(body, sizeof(body),
                   "{\"lease_owner\":\"w1\",\"activity_attempt_id\":\"%s\",\"result\":4}",
                   hf_str(answer.body, "task.activity_attempt_id", ""));
    hf_wire_reply_fini(&reply);
    site_again(&site);
    answer = hf_site_ask(&site, "POST", path, NULL, body);
    ck_assert_msg(answer.status == 200, "%d: %s", answer.status, answer.text);
    hf_site_close(&site);
}

/* The worker went while its task was being handed out: the task is for whoever asks next, and not
   when the lease of that worker ends. */
HF_BOTH_ENGINES(a_task_that_did_not_arrive_is_for_the_next)
{
    hf_site_answer answer;
    hf_db *hold = NULL;
    hf_site site;

    (void)close(poll_in_hand(&site, kind, &hold));
    hf_site_await(&site, "holdfast_http_parked 0");
    store_let_go(hold);
    answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                         "{\"worker_id\":\"w2\",\"task_queue\":\"far\",\"timeout_seconds\":60}");
    ck_assert_msg(hf_get(answer.body, "task.task_id"), "%s", answer.text);
    hf_site_close(&site);
}

/* The worker went while its task was being handed out, and then the server stops, and its engine:
   after the restart the task is to be had, and not when the lease of that worker ends. */
HF_BOTH_ENGINES(a_task_that_did_not_arrive_outlives_a_restart)
{
    hf_site_answer answer;
    hf_db *hold = NULL;
    hf_site site;
    hf_err err = {0};

    (void)close(poll_in_hand(&site, kind, &hold));
    hf_site_await(&site, "holdfast_http_parked 0");
    hf_server_drain(site.server, 60000);
    store_let_go(hold);
    hf_server_wait(site.server);
    hf_server_close(site.server);
    hf_close(site.engine);
    ck_assert_int_eq(hf_open(hf_test_place_address(site.place), &app, &site.engine), HF_OK);
    ck_assert_int_eq(hf_workers_allow(site.engine), HF_OK);
    hf_test_ok(hf_server_open(&(hf_server_options){.engine = site.engine, .listen = "127.0.0.1:0"},
                              &site.server, &err),
               &err, "open a server");
    hf_test_ok(hf_server_start(site.server, &err), &err, "start a server");
    answer = hf_site_ask(&site, "POST", "/api/worker/activity-tasks/poll", NULL,
                         "{" WORKER ",\"timeout_seconds\":60}");
    ck_assert_msg(hf_get(answer.body, "task.task_id"), "%s", answer.text);
    hf_site_close(&site);
}

/* An engine whose waits were stopped answers those who do not wait, and waits again when it may. */
HF_BOTH_ENGINES(waits_can_begin_again)
{
    hf_site site;

    site_begin(&site, kind);
    hf_waits_stop(site.engine, true);
    ck_assert_int_eq(hf_result(site.engine, "r-1", hf_seconds(60), NULL, NULL), HF_STOPPED);
    ck_assert_int_eq(hf_result(site.engine, "r-1", 0, NULL, NULL), HF_TIMEOUT);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/r-1", NULL, NULL).status, 200);
    hf_waits_stop(site.engine, false);
    ck_assert_int_eq(hf_result(site.engine, "r-1", 1, NULL, NULL), HF_TIMEOUT);
    hf_site_close(&site);
}

/* A store that somebody else wrote to: nothing is accepted any more, /api/ready says so, and what
   was there can still be read. */
START_TEST(not_ready_when_it_cannot_write)
{
    static const char start[] = "{\"workflow_type\":\"t\",\"workflow_id\":\"a\"}";
    sqlite3 *other = NULL;
    hf_site_answer answer;
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL, start).status, 201);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/ready", NULL, NULL).status, 200);
    ck_assert_int_eq(sqlite3_open(hf_test_place_address(site.place), &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "CREATE TABLE x (y); DROP TABLE x", NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(other);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows/a/cancel", NULL, "{}").status, 503);
    answer = hf_site_ask(&site, "GET", "/api/ready", NULL, NULL);
    ck_assert_int_eq(answer.status, 503);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), "stopped");
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/health", NULL, NULL).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/a", NULL, NULL).status, 200);
    hf_site_close(&site);
}
END_TEST

static void ready_await(hf_site *site, int status)
{
    hf_site_answer answer = hf_site_ask(site, "GET", "/api/ready", NULL, NULL);

    for (int i = 0; i < 3000 && answer.status != status; i++) {
        hf_nap_ms(20);
        answer = hf_site_ask(site, "GET", "/api/ready", NULL, NULL);
    }
    ck_assert_int_eq(answer.status, status);
    ck_assert_str_eq(hf_str(answer.body, "status", ""),
                     status == 200 ? "ready" : "store_unreachable");
}

/* The database is there and answers nothing: ready ends with the lease, and comes back with it. */
START_TEST(n11_not_ready_without_its_lease)
{
    hf_site site = {.place = hf_test_place_stocked(HF_ENGINE_POSTGRES), .mem = hf_mem_new()};
    char address[HF_HOLD_ADDRESS];
    hf_hold *hold = hf_hold_new(hf_test_place_address(site.place), address);
    hf_server_options options = {.listen = "127.0.0.1:0"};
    hf_err err = {0};

    hf_kit_ok(site.engine, hf_open(address, &app, &site.engine));
    hf_kit_ok(site.engine, hf_set(site.engine, "node_lease_ms", "1000"));
    hf_kit_ok(site.engine, hf_workers_allow(site.engine));
    options.engine = site.engine;
    hf_test_ok(hf_server_open(&options, &site.server, &err), &err, "open a server");
    hf_test_ok(hf_server_start(site.server, &err), &err, "start a server");
    (void)hf_site_expect(&site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"t\",\"workflow_id\":\"a\"}", 201);
    ready_await(&site, 200);
    hf_hold_arm(hold, HF_HOLD_LEASE, 1, 60000);
    ready_await(&site, 503);
    (void)hf_site_expect(&site, "GET", "/api/health", NULL, 200);
    hf_hold_release(hold);
    ready_await(&site, 200);
    hf_site_close(&site);
    hf_hold_free(hold);
}
END_TEST

/* ---- many open runs */

/* Meanwhile a node renews its lease, which is some hundred rows. */
enum { FEW = 50, MANY = 1200, MORE_CALLS = 900, FOLD_LOOKS = 6000 };

static hf_value opens(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

static const hf_app opened = {
    .name = "opened",
    .workflows = (const hf_workflow_def[]){
        {.type = "opens", .run = opens, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {0}}};

/* What it takes with so many runs that wait: calls of the database, one for each row. */
typedef struct taken {
    int64_t metrics;
    int64_t stop;
} taken;

static taken open_runs_take(hf_engine_kind kind, int runs)
{
    hf_site site;
    hf_site_answer answer;
    taken took;
    char id[32];

    hf_site_open(&site, kind, &opened, (hf_server_options){0});
    for (int i = 0; i < runs; i++) {
        (void)snprintf(id, sizeof(id), "o-%d", i);
        hf_kit_ok(site.engine, hf_start(site.engine, "opens", NULL, .id = id));
    }
    for (int i = 0;
         i < FOLD_LOOKS && hf_folder_stats_get(site.engine->folder).events < 3 * (uint64_t)runs;
         i++)
        hf_nap_ms(10);
    hf_fault_arm(HF_FAULT_DB, 0, false);
    answer = hf_site_expect(&site, "GET", "/api/system/operator-metrics", NULL, 200);
    took.metrics = hf_fault_seen(HF_FAULT_DB);
    ck_assert_int_eq(hf_int(answer.body, "operator_metrics.runs.waiting", 0), runs);
    hf_fault_arm(HF_FAULT_DB, 0, false);
    hf_server_drain(site.server, 5000);
    hf_server_wait(site.server);
    hf_server_close(site.server);
    hf_close(site.engine);
    took.stop = hf_fault_seen(HF_FAULT_DB);
    hf_test_place_free(site.place);
    hf_mem_free(site.mem);
    printf("%d open runs: metrics %lld calls, stop %lld\n", runs, (long long)took.metrics,
           (long long)took.stop);
    return took;
}

/* A server stops, and tells its metrics, without reading one open run after the other. */
HF_BOTH_ENGINES(n26_open_runs_hold_up_no_stop)
{
    taken few = open_runs_take(kind, FEW);
    taken many = open_runs_take(kind, MANY);

    ck_assert_int_lt(many.metrics, few.metrics + MORE_CALLS);
    ck_assert_int_lt(many.stop, few.stop + MORE_CALLS);
}

/* ---- stores that cannot be written to */

/* Every change to a table of the store is refused by the server with this SQLSTATE; NULL: none is
   any more. */
static void tables_refuse(hf_site *site, const char *sqlstate)
{
    char script[1024];
    hf_err err = {0};
    hf_db *db = NULL;

    hf_test_ok(hf_test_place_dial(site->place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "dial");
    (void)snprintf(script, sizeof(script),
                   "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RAISE "
                   "EXCEPTION 'made up' USING ERRCODE = '%s'; END $f$;"
                   "DO $$ DECLARE t name; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE "
                   "schemaname = current_schema() LOOP EXECUTE format('CREATE TRIGGER refuse "
                   "BEFORE INSERT OR UPDATE OR DELETE ON %%I EXECUTE FUNCTION refuse()', t); "
                   "END LOOP; END $$",
                   sqlstate ? sqlstate : "");
    hf_test_ok(hf_db_script(db, sqlstate ? script : "DROP FUNCTION refuse() CASCADE", &err), &err,
               "triggers");
    hf_db_close(db);
}

/* A store whose writes can be made to fail: a disk in memory, or triggers. */
typedef struct sick_store {
    hf_site site;
    hf_simvfs *disk; /* NULL: PostgreSQL */
} sick_store;

static void sick_open(sick_store *sick, hf_engine_kind kind)
{
    sick->disk = kind == HF_ENGINE_SQLITE ? hf_simvfs_new("sick disk") : NULL;
    ck_assert(sick->disk || kind != HF_ENGINE_SQLITE);
    if (sick->disk)
        ck_assert_int_eq(sqlite3_vfs_register(sqlite3_vfs_find("sick disk"), 1), SQLITE_OK);
    site_begin(&sick->site, kind);
}

static void sick_close(sick_store *sick)
{
    hf_site_close(&sick->site);
    hf_simvfs_free(sick->disk);
}

/* The worker's report on the newest task of a run. */
typedef struct report {
    char path[160];
    char body[256];
} report;

static report report_next(hf_site *site)
{
    hf_site_answer answer;
    report r;

    (void)hf_site_expect(site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"remote\",\"workflow_id\":\"r-2\",\"task_queue\":"
                         "\"far\"}",
                         201);
    answer = hf_site_ask(site, "POST", "/api/worker/workflow-tasks/poll", NULL, "{" WORKER "}");
    (void)snprintf(r.path, sizeof(r.path), "/api/worker/workflow-tasks/%s/complete",
                   hf_str(answer.body, "task.task_id", ""));
    (void)snprintf(r.body, sizeof(r.body),
                   "{\"lease_owner\":\"w1\",\"workflow_task_attempt\":%d,\"commands\":[{\"type\":"
                   "\"complete_workflow\"}]}",
                   (int)hf_int(answer.body, "task.workflow_task_attempt", 0));
    return r;
}

/* While the store takes nothing: commands and reports are refused in so many words and change
   nothing, /api/ready says why, reads go on. */
static void takes_nothing(sick_store *sick, const report *r, int status, hf_status st)
{
    hf_site *site = &sick->site;
    hf_site_answer answer = hf_site_expect(
        site, "POST", "/api/workflows", "{\"workflow_type\":\"t\",\"workflow_id\":\"b\"}", status);

    ck_assert_str_eq(hf_str(answer.body, "reason", ""), hf_strstatus(st));
    answer = hf_site_expect(site, "POST", r->path, r->body, status);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), hf_strstatus(st));
    answer = hf_site_expect(site, "GET", "/api/ready", NULL, 503);
    ck_assert_str_eq(hf_str(answer.body, "status", ""), hf_strstatus(st));
    ck_assert(!hf_bool(answer.body, "ready", true));
    ck_assert_int_eq(hf_working(site->engine), st);
    (void)hf_site_expect(site, "GET", "/api/health", NULL, 200);
    (void)hf_site_expect(site, "GET", "/api/workflows/r-1", NULL, 200);
    (void)hf_site_expect(site, "GET", "/api/workflows/b", NULL, 404);
}

/* It is ready again by itself, although nobody asked it to write, and the worker's report is
   taken. */
static void takes_again(sick_store *sick, const report *r)
{
    hf_site *site = &sick->site;

    for (int i = 0; i < 3000 && hf_working(site->engine); i++)
        hf_nap_ms(20);
    (void)hf_site_expect(site, "GET", "/api/ready", NULL, 200);
    (void)hf_site_expect(site, "POST", r->path, r->body, 200);
    (void)hf_site_expect(site, "POST", "/api/workflows",
                         "{\"workflow_type\":\"t\",\"workflow_id\":\"b\"}", 201);
    ck_assert_int_eq(hf_result(site->engine, "r-2", hf_seconds(20), NULL, NULL), HF_OK);
}

/* The store takes nothing, and then it does. `sqlstate`: what a database server says. */
static void sick_life(hf_engine_kind kind, hf_simvfs_fault fault, const char *sqlstate, int status,
                      hf_status st)
{
    sick_store sick;
    report r;

    sick_open(&sick, kind);
    r = report_next(&sick.site);
    if (sick.disk)
        hf_simvfs_fail(sick.disk, fault, 1, true);
    else
        tables_refuse(&sick.site, sqlstate);
    if (sick.disk && fault == HF_SIMVFS_READONLY)
        hf_simvfs_fail(sick.disk, HF_SIMVFS_SYNC, 1, true); /* as ext4 has it after an error */
    takes_nothing(&sick, &r, status, st);
    if (sick.disk && fault == HF_SIMVFS_READONLY) {
        hf_nap_ms(1200); /* long enough for it to look whether that is over */
        ck_assert_int_eq(hf_working(sick.site.engine), st);
        hf_simvfs_fail(sick.disk, HF_SIMVFS_SYNC, 0, false);
    }
    if (sick.disk)
        hf_simvfs_fail(sick.disk, fault, 0, false);
    else
        tables_refuse(&sick.site, NULL);
    takes_again(&sick, &r);
    sick_close(&sick);
}

/* A full disk, or a database server whose disk is full. */
HF_BOTH_ENGINES(a_full_disk_is_told_and_mends)
{
    sick_life(kind, HF_SIMVFS_FULL, "53100", 507, HF_FULL);
}

/* A file system that was mounted anew for reading, or a database server that takes no changes. */
HF_BOTH_ENGINES(a_read_only_store_is_told_and_mends)
{
    sick_life(kind, HF_SIMVFS_READONLY, "25006", 503, HF_READONLY);
}

HF_PG_SUITE_MAIN("server/drain", HF_BOTH(an_accepted_update_outlives_its_server),
                 HF_BOTH(questions_end_at_once), HF_BOTH(polls_and_streams_end_at_once),
                 HF_BOTH(a_task_in_hand_is_brought),
                 HF_BOTH(a_task_that_did_not_arrive_is_for_the_next),
                 HF_BOTH(a_task_that_did_not_arrive_outlives_a_restart),
                 HF_BOTH(waits_can_begin_again), {not_ready_when_it_cannot_write, 0},
                 {n11_not_ready_without_its_lease, 120}, HF_BOTH(a_full_disk_is_told_and_mends),
                 HF_BOTH(a_read_only_store_is_told_and_mends),
                 HF_BOTH_SLOW(n26_open_runs_hold_up_no_stop, 300))
