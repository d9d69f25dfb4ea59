/* test_served.c: a server in a simulation: its event loop, its handlers and the engine behind them,
   with clients and workers that speak HTTP. Each seed chooses which faults there are and when:
   requests that break off after any byte, that come in pieces, whose sender does not wait for the
   answer; a server that is killed, or loses the power of its machine, or is told to stop. Then the
   faults stop, and within bounded virtual time every run ends as its client expects: every
   acknowledged signal is there once and in order, no attempt was handed out or accepted twice, and
   the store verifies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/worker.h"
#include "lib/recovery.h"
#include "lib/simclient.h"
#include "lib/simseed.h"
#include "lib/suite.h"

enum {
    CLIENTS = 3,
    WORKERS = 3,
    ROUNDS = 3, /* runs of a client */
    SIGNALS = 3,
    WIDTH = 4,
    ID_SIZE = 48,
    HANDED_MAX = 5000,
    MS = 1000
};

#define SAFETY_US   INT64_C(8000000)
#define LIVENESS_US INT64_C(700000000)

/* What must have happened in some seed of a campaign. */
#define MARKS(x)                                                                                   \
    x(KILLED) x(POWER_LOST) x(STOPPED) x(ASKED_AGAIN) x(START_AGAIN) x(REQUEST_CUT) x(TASK_LOST)   \
        x(REPORT_REFUSED) x(REPORT_TWICE) x(SECOND_ATTEMPT) x(CANCELLED)

#define MARK_ENUM(name) MARK_##name,
#define MARK_NAME(name) #name,
typedef enum mark { MARKS(MARK_ENUM) MARK_COUNT } mark;
static const char *const mark_names[] = {MARKS(MARK_NAME)};

typedef struct handed {
    char attempt[48]; /* of an activity */
    char task[40];
    bool accepted;
} handed;

static struct world {
    hf_simsched *sim;
    hf_simnode *node;
    bool calm;
    bool ending;
    bool stopping; /* the node, in good order */
    int clients_left;
    handed handed[HANDED_MAX];
    int handed_count;
    uint32_t kill, power, stop; /* one in so many; 0: never */
    uint32_t cut, leave, dribble, vanish, twice, cancel;
} w;

#define seed_fail(...) hf_simseed_fail(w.sim, __VA_ARGS__)

static void world_stuck(void *ctx, hf_simsched *sim, const char *why)
{
    (void)ctx;
    hf_simseed_fail(sim, "%s", why);
}

static bool chance(uint32_t one_in)
{
    return !w.calm && hf_simsched_one_in(w.sim, one_in);
}

static int64_t below(int64_t bound)
{
    return (int64_t)hf_simsched_below(w.sim, (uint64_t)bound);
}

/* ---- the application: what the node runs itself */

static const hf_ms pause_short[] = {100};

static hf_value order(hf_ctx *c, hf_value in)
{
    int64_t numbers[SIGNALS];

    for (int i = 0; i < SIGNALS; i++)
        numbers[i] = hf_int(hf_receive(c, "n"), "n", -1);
    if (hf_bool(in, "pays", false))
        (void)hf_activity(c, "pay", in, .max_attempts = -1, .backoff = pause_short, .backoff_n = 1);
    return hf_json(c, "[%lld,%lld,%lld]", (long long)numbers[0], (long long)numbers[1],
                   (long long)numbers[2]);
}

static const hf_signal_def order_signals[] = {{"n", "n:int"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order, .params = "pays:bool", .signals = order_signals}, {0}};
static const hf_app app = {.name = "sim", .workflows = workflows};

/* ---- requests */

/* Asks once. The body of the answer is in `mem`; NULL: there was none. */
static hf_value ask_once(hf_mem *mem, const char *method, const char *target, const char *body,
                         int64_t wait_us, int *out_status)
{
    const hf_json_limits limits = {.bytes_max = 1 << 20};
    hf_simask ask = {.method = method,
                     .target = target,
                     .body = body,
                     .until_us = hf_simsched_now_us(w.sim) + wait_us,
                     .cut_one_in = w.calm ? 0 : w.cut,
                     .leave_one_in = w.calm ? 0 : w.leave,
                     .dribble_one_in = w.calm ? 0 : w.dribble};
    hf_simreply reply;
    hf_value value = NULL;
    hf_err err;

    hf_simclient_ask(w.sim, w.node, &ask, &reply);
    *out_status = reply.status;
    if (reply.cut)
        hf_simseed_mark(MARK_REQUEST_CUT);
    if (reply.status && hf_json_read(mem, hf_buf_slice(&reply.body), &limits, &value, &err))
        seed_fail("%s %s: %d without JSON: %s", method, target, reply.status, err.text);
    hf_simreply_fini(&reply);
    return value;
}

/* Asks until there is an answer that is one; true: it had to ask again. */
static bool ask(hf_mem *mem, const char *method, const char *target, const char *body,
                int *out_status, hf_value *out_body)
{
    bool again = false;

    for (;;) {
        *out_body = ask_once(mem, method, target, body, 20000000, out_status);
        if (*out_status && *out_status < 500 && *out_status != 429)
            return again;
        again = true;
        hf_simseed_mark(MARK_ASKED_AGAIN);
        hf_simsched_sleep(w.sim, 5 * MS + below(100 * MS));
    }
}

/* ---- clients */

static void run_start(hf_mem *mem, const char *type, const char *id, bool pays)
{
    char body[256];
    hf_value answer;
    int status;
    bool again;

    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"%s\",\"workflow_id\":\"%s\",\"task_queue\":\"default\","
                   "\"input\":[%s]}",
                   type, id, pays ? "true" : "false");
    again = ask(mem, "POST", "/api/workflows", body, &status, &answer);
    if (status == 409 && again)
        hf_simseed_mark(MARK_START_AGAIN);
    else if (status != 201)
        seed_fail("start of %s: %d %s", id, status, hf_text(mem, answer));
}

/* False: the run is over. */
static bool run_signal(hf_mem *mem, const char *id, int number)
{
    char target[128];
    char body[128];
    hf_value answer;
    int status;

    (void)snprintf(target, sizeof(target), "/api/workflows/%s/signal/n", id);
    (void)snprintf(body, sizeof(body), "{\"input\":[%d],\"request_id\":\"%s-n-%d\"}", number, id,
                   number);
    (void)ask(mem, "POST", target, body, &status, &answer);
    if (status != 202 && status != 409)
        seed_fail("signal %d of %s: %d %s", number, id, status, hf_text(mem, answer));
    return status == 202;
}

static void run_end(hf_mem *mem, const char *id, bool cancelled, const char *wanted)
{
    char target[128];
    hf_value answer;
    int status;

    (void)snprintf(target, sizeof(target), "/api/workflows/%s/result?wait_timeout_seconds=%d", id,
                   w.calm ? 20 : 1);
    do {
        hf_mem_reset(mem);
        (void)ask(mem, "GET", target, NULL, &status, &answer);
        if (status != 200)
            seed_fail("result of %s: %d %s", id, status, hf_text(mem, answer));
    } while (strcmp(hf_str(answer, "status", ""), "open") == 0);
    if (cancelled && strcmp(hf_str(answer, "status", ""), "cancelled") == 0) {
        hf_simseed_mark(MARK_CANCELLED);
        return;
    }
    if (strcmp(hf_str(answer, "status", ""), "completed") != 0 ||
        (wanted && strcmp(hf_text(mem, hf_get(answer, "result")), wanted) != 0))
        seed_fail("%s ended with %s, not with %s", id, hf_text(mem, answer),
                  wanted ? wanted : "completed");
}

static void order_play(hf_mem *mem, const char *id, bool pays)
{
    bool cancels = chance(w.cancel);
    int64_t cancel_at = cancels ? below(SIGNALS + 1) : -1;
    bool open = true;
    char target[128];
    hf_value answer;
    int status;

    run_start(mem, "order", id, pays);
    for (int i = 0; i <= SIGNALS && open; i++) {
        if (i == cancel_at) {
            (void)snprintf(target, sizeof(target), "/api/workflows/%s/cancel", id);
            (void)ask(mem, "POST", target, "{}", &status, &answer);
        }
        if (i == SIGNALS)
            break;
        open = run_signal(mem, id, i);
        if (!open && !cancels)
            seed_fail("%s refuses signal %d", id, i);
        hf_simsched_sleep(w.sim, below(300 * MS));
    }
    run_end(mem, id, cancels, "[0,1,2]");
}

static void client_run(void *ctx)
{
    const int *number = ctx;
    hf_mem *mem = hf_mem_new();

    for (int round = 0; round < ROUNDS; round++) {
        char id[ID_SIZE];

        hf_mem_reset(mem);
        (void)snprintf(id, sizeof(id), "c%d-%d", *number, round);
        if (below(3)) {
            order_play(mem, id, round % 2 == 0);
        } else {
            run_start(mem, "fan", id, false);
            run_end(mem, id, false, NULL);
        }
        hf_simsched_sleep(w.sim, below(400 * MS));
    }
    hf_mem_free(mem);
    w.clients_left--;
    hf_simsched_wake(w.sim, &w.clients_left);
}

/* ---- workers */

/* That no attempt is handed out twice. */
static void handed_note(const char *task, const char *attempt)
{
    for (int i = 0; i < w.handed_count; i++) {
        if (strcmp(w.handed[i].attempt, attempt) == 0)
            seed_fail("attempt %s of task %s was handed out twice", attempt, task);
        if (strcmp(w.handed[i].task, task) == 0)
            hf_simseed_mark(MARK_SECOND_ATTEMPT);
    }
    if (w.handed_count == HANDED_MAX)
        seed_fail("more than %d attempts", HANDED_MAX);
    (void)snprintf(w.handed[w.handed_count].task, sizeof(w.handed[0].task), "%s", task);
    (void)snprintf(w.handed[w.handed_count].attempt, sizeof(w.handed[0].attempt), "%s", attempt);
    w.handed[w.handed_count++].accepted = false;
}

/* Nor accepted twice, nor once a later one was handed out. A report that was not answered may have
   been accepted: it is asked again and gets the same answer. */
static void accepted_note(const char *task, const char *attempt, bool again)
{
    for (int i = 0; i < w.handed_count; i++) {
        if (strcmp(w.handed[i].attempt, attempt) != 0)
            continue;
        for (int later = i + 1; !again && later < w.handed_count; later++)
            if (strcmp(w.handed[later].task, task) == 0)
                seed_fail("attempt %s of task %s was accepted after a later one was handed out",
                          attempt, task);
        if (w.handed[i].accepted && !again)
            seed_fail("attempt %s of task %s was accepted twice", attempt, task);
        w.handed[i].accepted = true;
    }
}

static size_t scheduled_in(hf_value events)
{
    size_t count = 0;

    for (size_t i = 0; i < hf_len(events); i++)
        count += strcmp(hf_str(hf_at(events, i), "event_type", ""), "ActivityScheduled") == 0;
    return count;
}

/* What the code of "fan" decides from what it sees. */
static const char *fan_commands(hf_mem *mem, hf_value task)
{
    hf_buf text = {0};
    const char *commands;

    for (int i = 0; !scheduled_in(hf_get(task, "history_events")) && i < WIDTH; i++)
        hf_buf_add_format(&text,
                          "%s{\"type\":\"schedule_activity\",\"activity_type\":\"pay\","
                          "\"retry_policy\":{\"max_attempts\":100,\"backoff_seconds\":[1]},"
                          "\"parallel_group_id\":\"parallel-activities:1:%d\","
                          "\"parallel_group_kind\":\"activity\",\"parallel_group_base_sequence\":1,"
                          "\"parallel_group_size\":%d,\"parallel_group_index\":%d}",
                          i ? "," : "", WIDTH, WIDTH, i);
    commands = hf_mem_format(mem, "[%s]",
                             text.len ? hf_buf_text(&text) : "{\"type\":\"complete_workflow\"}");
    hf_buf_fini(&text);
    return commands;
}

static void worker_register(hf_mem *mem, const char *worker)
{
    const char *body = hf_mem_format(
        mem,
        "{\"worker_id\":\"%s\",\"task_queue\":\"default\",\"runtime\":\"sim\","
        "\"supported_workflow_types\":[\"fan\"],\"supported_activity_types\":[\"pay\"]}",
        worker);
    hf_value answer;
    int status;

    (void)ask(mem, "POST", "/api/worker/register", body, &status, &answer);
    if (status >= 300)
        seed_fail("registration: %d %s", status, hf_text(mem, answer));
}

/* Reports until there is an answer, or it has had enough. */
static void task_report(hf_mem *mem, const char *worker, hf_value task, bool workflow, bool again)
{
    const char *id = hf_str(task, "task_id", "");
    const char *attempt = hf_str(task, "activity_attempt_id", "");
    const char *target = hf_mem_format(mem, "/api/worker/%s-tasks/%s/complete",
                                       workflow ? "workflow" : "activity", id);
    const char *body =
        workflow
            ? hf_mem_format(
                  mem, "{\"lease_owner\":\"%s\",\"workflow_task_attempt\":%lld,\"commands\":%s}",
                  worker, (long long)hf_int(task, "workflow_task_attempt", 0),
                  fan_commands(mem, task))
            : hf_mem_format(mem,
                            "{\"lease_owner\":\"%s\",\"activity_attempt_id\":\"%s\",\"result\":1}",
                            worker, attempt);

    for (int tries = 0; tries < 10; tries++) {
        int status;
        hf_value answer = ask_once(mem, "POST", target, body, 20000000, &status);

        if (status == 200 && !workflow)
            accepted_note(id, attempt, again || tries > 0);
        else if (status == 404 || status == 409 || status == 410)
            hf_simseed_mark(MARK_REPORT_REFUSED);
        else if (status && status != 200 && status < 500 && status != 429)
            seed_fail("report on %s: %d %s", id, status, hf_text(mem, answer));
        if (status && status < 500 && status != 429)
            return;
        hf_simsched_sleep(w.sim, 5 * MS + below(200 * MS));
    }
}

/* False: it is another worker from now on. */
static bool worker_turn(hf_mem *mem, const char *worker)
{
    bool workflow = below(2) == 0;
    int64_t wait_s = w.calm ? 20 : 1 + below(3);
    const char *body = hf_mem_format(
        mem, "{\"worker_id\":\"%s\",\"task_queue\":\"default\",\"timeout_seconds\":%lld}", worker,
        (long long)wait_s);
    int status;
    hf_value answer =
        ask_once(mem, "POST",
                 workflow ? "/api/worker/workflow-tasks/poll" : "/api/worker/activity-tasks/poll",
                 body, wait_s * 1000 * MS + 2000 * MS, &status);
    hf_value task = hf_get(answer, "task");

    if (status == 404 || status == 409 || status == 412)
        return false; /* it is not known any more */
    if (status != 200) {
        hf_simsched_sleep(w.sim, 20 * MS + below(100 * MS));
        return true;
    }
    if (hf_value_kind_of(task) != HF_VALUE_OBJECT)
        return true;
    if (!workflow)
        handed_note(hf_str(task, "task_id", ""), hf_str(task, "activity_attempt_id", ""));
    if (chance(w.vanish)) {
        hf_simseed_mark(MARK_TASK_LOST);
        return false;
    }
    hf_simsched_sleep(w.sim, below(80 * MS));
    task_report(mem, worker, task, workflow, false);
    if (chance(w.twice)) {
        hf_simseed_mark(MARK_REPORT_TWICE);
        task_report(mem, worker, task, workflow, true);
    }
    return true;
}

static void worker_run(void *ctx)
{
    const int *number = ctx;
    hf_mem *mem = hf_mem_new();

    for (int life = 0; !w.ending; life++) {
        char name[24];

        (void)snprintf(name, sizeof(name), "w%d-%d", *number, life);
        worker_register(mem, name);
        do
            hf_mem_reset(mem);
        while (!w.ending && worker_turn(mem, name));
    }
    hf_mem_free(mem);
}

/* ---- who keeps the node up, and who does not */

static void supervisor_run(void *ctx)
{
    (void)ctx;
    while (!w.ending) {
        if (!w.stopping && !hf_simnode_life(w.node) && !hf_simnode_boot(w.node) &&
            hf_simnode_why(w.node)[0])
            seed_fail("the node does not begin: %s", hf_simnode_why(w.node));
        hf_simsched_sleep(w.sim, (w.calm ? 5000 : 50) * MS);
    }
}

static void fault_make(void)
{
    if (chance(w.kill)) {
        hf_simseed_mark(MARK_KILLED);
        hf_simnode_kill(w.node, false);
    } else if (chance(w.power)) {
        hf_simseed_mark(MARK_POWER_LOST);
        hf_simnode_kill(w.node, true);
    } else if (chance(w.stop) && hf_simnode_life(w.node)) {
        hf_simseed_mark(MARK_STOPPED);
        w.stopping = true;
        hf_simnode_stop(w.node);
        w.stopping = false;
    }
}

static uint32_t fault_choose(hf_rng *rng, uint32_t one_in)
{
    return hf_rng_below(rng, 2) ? one_in : 0;
}

static void faults_choose(uint64_t seed, hf_simsched_options *options, hf_simnode_options *node)
{
    hf_rng rng;

    hf_rng_init_seeded(&rng, seed ^ 0x5E4ED);
    options->switch_one_in = 1U << hf_rng_below(&rng, 6);
    options->slow_one_in = fault_choose(&rng, 4);
    options->spurious_one_in = fault_choose(&rng, 50);
    node->slow_sync_one_in = fault_choose(&rng, 5);
    node->slow_sync_us = 200 * MS;
    w.kill = fault_choose(&rng, 4);
    w.power = fault_choose(&rng, 6);
    w.stop = fault_choose(&rng, 5);
    w.cut = fault_choose(&rng, 8);
    w.leave = fault_choose(&rng, 8);
    w.dribble = fault_choose(&rng, 3);
    w.vanish = fault_choose(&rng, 10);
    w.twice = fault_choose(&rng, 4);
    w.cancel = fault_choose(&rng, 2);
}

static void world_end(hf_thread *clients, hf_thread *workers, hf_thread *supervisor)
{
    hf_complaint complaint;

    w.ending = true;
    for (int i = 0; i < CLIENTS; i++)
        hf_thread_join(&clients[i]);
    for (int i = 0; i < WORKERS; i++)
        hf_thread_join(&workers[i]);
    hf_thread_join(supervisor);
    hf_simnode_stop(w.node);
    hf_simseed_close(w.sim);
    w.sim = NULL;
    if (!hf_recovery_verify(hf_simnode_address(), hf_simnode_vfs(w.node), &complaint))
        seed_fail("the store: %s", complaint.text);
    hf_simnode_free(w.node);
}

static void world_play(uint64_t seed)
{
    int numbers[] = {0, 1, 2};
    char folder[] = "/tmp/hf-sim-XXXXXX";
    hf_thread clients[CLIENTS] = {0};
    hf_thread workers[WORKERS] = {0};
    hf_thread supervisor = {0};
    hf_simsched_options options = {.seed = seed, .stuck = world_stuck};
    hf_simnode_options node = {.app = &app, .folder = mkdtemp(folder)};
    hf_err err;

    HF_ASSERT(node.folder);
    faults_choose(seed, &options, &node);
    w.sim = node.sim = hf_simsched_begin(&options);
    w.node = hf_simnode_new(&node);
    w.clients_left = CLIENTS;
    if (!hf_simnode_boot(w.node))
        seed_fail("the node does not begin: %s", hf_simnode_why(w.node));
    for (int i = 0; i < WORKERS; i++)
        HF_ASSERT(!hf_thread_start(&workers[i], "worker", worker_run, &numbers[i], &err));
    for (int i = 0; i < CLIENTS; i++)
        HF_ASSERT(!hf_thread_start(&clients[i], "client", client_run, &numbers[i], &err));
    HF_ASSERT(!hf_thread_start(&supervisor, "supervisor", supervisor_run, NULL, &err));
    while (w.clients_left && hf_simsched_now_us(w.sim) < SAFETY_US) {
        hf_simsched_sleep(w.sim, below(800 * MS));
        fault_make();
    }
    hf_simsched_calm(w.sim);
    hf_simnode_calm(w.node);
    w.calm = true;
    while (w.clients_left && hf_simsched_await(w.sim, &w.clients_left, SAFETY_US + LIVENESS_US))
        ;
    if (w.clients_left)
        seed_fail("%d clients still wait, %lld s after the faults", w.clients_left,
                  (long long)LIVENESS_US / 1000000);
    world_end(clients, workers, &supervisor);
    for (int life = 1; life < 200; life++) {
        char path[HF_SIMNODE_SOCKET];

        (void)snprintf(path, sizeof(path), "%s/%d.sock", folder, life);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* ---- the campaign */

static const hf_simseed_plan plan = {.play = world_play,
                                     .marks = mark_names,
                                     .mark_count = MARK_COUNT,
                                     .again = "make sim WORLD=served SEED="};

START_TEST(a_server_in_a_hostile_world)
{
    hf_simseed_campaign(&plan);
}
END_TEST

START_TEST(a_seed_is_the_same_twice)
{
    hf_simseed_twice(&plan);
}
END_TEST

START_TEST(a_planted_bug_is_found)
{
    hf_simseed_hunt(&plan, HF_PLANT_FREED_OFFER);
}
END_TEST

HF_SUITE_MAIN("sim/served", {a_server_in_a_hostile_world, 36000}, {a_seed_is_the_same_twice, 600},
              {a_planted_bug_is_found, 1800})
