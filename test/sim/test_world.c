/* test_world.c: a node with workers and clients in a simulation. Each seed chooses which faults
   there are and when: threads that come late, sleepers that wake for no reason, slow syncs,
   allocations that fail, workers that vanish, stall and report twice, polls that leave at any
   moment, a node that is killed with or without the power of its machine. Then the faults stop, and
   within bounded virtual time every run ends as its client expects: every acknowledged signal is
   there once and in order, no attempt was handed out or accepted twice, and the store verifies.

     HF_SIM_SEEDS=n   so many seeds; HF_SIM_SEED=s one of them, with everything it says */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "lib/recovery.h"
#include "lib/simnode.h"
#include "lib/simseed.h"
#include "lib/suite.h"

enum {
    CLIENTS = 3,
    WORKERS = 3,
    ROUNDS = 4, /* runs of a client */
    SIGNALS = 4,
    WIDTH = 5,
    ID_SIZE = 48,
    HANDED_MAX = 20000,
    MS = 1000
};

#define SAFETY_US INT64_C(8000000)
/* The lease of an attempt, 300 s, is on the record and outlives the node with its end: twice as
   long, and some to spare. */
#define LIVENESS_US INT64_C(700000000)

/* What must have happened in some seed of a campaign. */
#define MARKS(x)                                                                                   \
    x(KILLED) x(POWER_LOST) x(CALL_LOST) x(NOMEM) x(WORKER_VANISHED) x(WORKER_STALLED)             \
        x(POLL_LEFT_EARLY) x(POLL_LEFT_WITH_TASK) x(POLL_REFUSED) x(REPORT_TWICE) x(REPORT_LATE)   \
            x(SECOND_ATTEMPT) x(CANCELLED) x(SIGNAL_AGAIN) x(START_AGAIN) x(SENT) x(BOOT_FAILED)   \
                x(BOOT_KILLED)

#define MARK_ENUM(name) MARK_##name,
#define MARK_NAME(name) #name,
typedef enum mark { MARKS(MARK_ENUM) MARK_COUNT } mark;
static const char *const mark_names[] = {MARKS(MARK_NAME)};

typedef struct handed {
    char task[32];
    int64_t attempt;
    int life; /* of workflow tasks, whose numbers begin anew with each; else 0 */
    bool accepted;
} handed;

typedef struct world {
    hf_simsched *sim;
    hf_simnode *node;
    bool calm;   /* faults are over */
    bool ending; /* workers may go */
    int clients_left;
    char awaited[CLIENTS][ID_SIZE]; /* the run that a client waits for; empty: none */
    handed handed[HANDED_MAX];
    int handed_count;
    bool sent[CLIENTS][ROUNDS]; /* an answer that sends the message was accepted */
    /* one in so many; 0: never */
    uint32_t vanish, stall, twice, leave, refuse, cancel;
    uint32_t kill, power, alloc;
} world;

static world w;

#define mark_hit(mark) hf_simseed_mark(mark)
#define seed_fail(...) hf_simseed_fail(w.sim, __VA_ARGS__)

static void world_stuck(void *ctx, hf_simsched *sim, const char *why)
{
    (void)ctx;
    (void)sim;
    seed_fail("%s", why);
}

static bool chance(uint32_t one_in)
{
    return !w.calm && hf_simsched_one_in(w.sim, one_in);
}

static int64_t below(int64_t bound)
{
    return (int64_t)hf_simsched_below(w.sim, (uint64_t)bound);
}

/* ---- the application */

static const hf_ms pause_short[] = {100};

static hf_value order(hf_ctx *c, hf_value in)
{
    int64_t numbers[SIGNALS];
    const hf_leaf leaves[] = {HF_ACTIVITY("pay", hf_json(c, "0"), .max_attempts = -1,
                                          .backoff = pause_short, .backoff_n = 1),
                              HF_ACTIVITY("pay", hf_json(c, "1"), .max_attempts = -1,
                                          .backoff = pause_short, .backoff_n = 1),
                              {0}};

    for (int i = 0; i < SIGNALS; i++)
        numbers[i] = hf_int(hf_receive(c, "n"), "n", -1);
    if (hf_bool(in, "pays", false))
        (void)hf_all_of(c, leaves);
    return hf_json(c, "[%lld, %lld, %lld, %lld]", (long long)numbers[0], (long long)numbers[1],
                   (long long)numbers[2], (long long)numbers[3]);
}

static hf_value box(hf_ctx *c, hf_value in)
{
    (void)in;
    (void)hf_receive(c, "look");
    return hf_json(c, "%zu", hf_len(hf_messages_receive(c, "mail", 0)));
}

static const hf_signal_def order_signals[] = {{"n", "n:int"}, {0}};
static const hf_signal_def box_signals[] = {{"look", "n:int"}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "order", .run = order, .signals = order_signals},
    {.type = "box", .run = box, .signals = box_signals},
    {0}};
static const hf_app app = {.name = "sim", .workflows = workflows};

/* ---- calls */

typedef struct request {
    char id[ID_SIZE];
    const char *type;
    const char *signal;
    int64_t number;
    char key[ID_SIZE];
    char result[256];
    hf_status status;
    bool stopped; /* hf_working said so */
    char why[256];
} request;

/* Whether asking again may help, and whether it may have had an effect already. */
static bool comes_again(hf_status st)
{
    return st == HF_NOMEM || st == HF_STOPPED || st == HF_BUSY || st == HF_IO || st == HF_UNKNOWN ||
           st == HF_RETRY || st == HF_FULL || st == HF_TIMEOUT || st == HF_CONFLICT;
}

static void status_take(hf_engine *d, request *r, hf_status st)
{
    r->status = st;
    (void)snprintf(r->why, sizeof(r->why), "%s", st ? hf_errmsg(d) : "");
}

/* Asks until there is an answer; true: it had to ask again. */
static bool ask(void (*call)(hf_engine *d, void *arg), request *r)
{
    bool again = false;

    for (;;) {
        bool answered = hf_simnode_call(w.node, call, r);

        if (answered && !comes_again(r->status))
            return again;
        if (!answered)
            mark_hit(MARK_CALL_LOST);
        else if (r->status == HF_NOMEM)
            mark_hit(MARK_NOMEM);
        again = true;
        hf_simsched_sleep(w.sim, 5 * MS + below(100 * MS));
    }
}

/* Memory may have run out while it was made. */
static bool made(hf_value value)
{
    int64_t bytes = 0;

    return value && !hf_value_broken(value, &bytes);
}

static void call_start(hf_engine *d, void *arg)
{
    request *r = arg;
    hf_value in = hf_json(d, "{'pays': %d}", r->number % 2 == 0);

    status_take(d, r, made(in) ? hf_start(d, r->type, in, .id = r->id) : HF_NOMEM);
}

static void call_signal(hf_engine *d, void *arg)
{
    request *r = arg;
    hf_value in = hf_json(d, "{'n': %lld}", (long long)r->number);

    status_take(d, r, made(in) ? hf_signal_dedup(d, r->id, r->signal, in, r->key) : HF_NOMEM);
}

static void call_cancel(hf_engine *d, void *arg)
{
    request *r = arg;

    status_take(d, r, hf_cancel(d, r->id, "not wanted"));
}

static void call_result(hf_engine *d, void *arg)
{
    request *r = arg;
    hf_value out = NULL;
    const hf_error *error = NULL;
    hf_status st = hf_result(d, r->id, w.calm ? 20000 : 500, &out, &error);
    const char *text = st == HF_OK ? hf_show(d, out) : "";

    (void)snprintf(r->result, sizeof(r->result), "%s", text ? text : "");
    status_take(d, r, text ? st : HF_NOMEM);
}

static void call_working(hf_engine *d, void *arg)
{
    request *r = arg;

    r->stopped = hf_working(d) == HF_STOPPED;
    (void)snprintf(r->why, sizeof(r->why), "%s", r->stopped ? hf_errmsg(d) : "");
}

/* For people: why the run does not move, and what it did. */
static void call_tell(hf_engine *d, void *arg)
{
    request *r = arg;
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;

    if (!hf_why(d, r->id, mem, &out))
        (void)fprintf(stderr, "%s: %s: %s\n", r->id, hf_str(out, "code", ""),
                      hf_str(out, "text", ""));
    if (!hf_history(d, mem, &out, r->id))
        for (size_t i = 0; i < hf_len(hf_get(out, "events")); i++)
            (void)fprintf(stderr, "  %s\n", hf_text(mem, hf_at(hf_get(out, "events"), i)));
    hf_mem_free(mem);
}

/* ---- clients */

static void run_start(const char *type, const char *id, int number)
{
    request r = {.type = type, .number = number};
    bool again;

    (void)snprintf(r.id, sizeof(r.id), "%s", id);
    again = ask(call_start, &r);
    if (r.status == HF_EXISTS && again)
        mark_hit(MARK_START_AGAIN);
    else if (r.status)
        seed_fail("start of %s: %s", id, r.why);
}

/* False: the run is over. */
static bool run_signal(const char *id, const char *name, int number)
{
    request r = {.signal = name, .number = number};

    (void)snprintf(r.id, sizeof(r.id), "%s", id);
    (void)snprintf(r.key, sizeof(r.key), "%s-%d", name, number);
    if (ask(call_signal, &r))
        mark_hit(MARK_SIGNAL_AGAIN);
    if (r.status && r.status != HF_REJECTED)
        seed_fail("signal %d of %s: %s", number, id, r.why);
    return !r.status;
}

/* Waits for the end of the run. */
static void run_end(const char *id, bool cancelled, const char *wanted)
{
    request r = {0};
    char *awaited = w.awaited[id[1] - '0'];

    (void)snprintf(r.id, sizeof(r.id), "%s", id);
    (void)snprintf(awaited, ID_SIZE, "%s", id);
    (void)ask(call_result, &r);
    *awaited = '\0';
    if (cancelled && r.status == HF_CANCELLED) {
        mark_hit(MARK_CANCELLED);
        return;
    }
    if (r.status)
        seed_fail("%s ended with %s: %s", id, hf_strstatus(r.status), r.why);
    if (wanted && strcmp(r.result, wanted) != 0)
        (void)hf_simnode_call(w.node, call_tell, &r);
    if (wanted && strcmp(r.result, wanted) != 0)
        seed_fail("%s ended with %s, not with %s", id, r.result, wanted);
}

static void order_play(const char *id, int round)
{
    char wanted[64] = "";
    request r = {0};
    bool cancels = chance(w.cancel);
    int64_t cancel_at = cancels ? below(SIGNALS + 1) : -1;
    bool open = true;

    run_start("order", id, round);
    (void)snprintf(wanted, sizeof(wanted), "[0,1,2,3]");
    for (int i = 0; i <= SIGNALS && open; i++) {
        if (i == cancel_at) {
            (void)snprintf(r.id, sizeof(r.id), "%s", id);
            (void)ask(call_cancel, &r);
        }
        if (i == SIGNALS)
            break;
        open = run_signal(id, "n", i);
        if (!open && !cancels)
            seed_fail("%s refuses signal %d", id, i);
        hf_simsched_sleep(w.sim, below(300 * MS));
    }
    run_end(id, cancels, wanted);
}

static void tells_play(const char *id)
{
    char target[ID_SIZE];

    (void)snprintf(target, sizeof(target), "%s-box", id);
    run_start("box", target, 0);
    run_start("tells", id, 0);
    run_end(id, false, NULL);
    if (!run_signal(target, "look", 0))
        seed_fail("%s refuses a signal", target);
    run_end(target, false, "1");
}

static void client_run(void *ctx)
{
    const int *number = ctx;

    for (int round = 0; round < ROUNDS; round++) {
        char id[ID_SIZE - 8];
        int64_t kind = below(4);

        (void)snprintf(id, sizeof(id), "c%d-%d", *number, round);
        if (kind <= 1) {
            order_play(id, round);
        } else if (kind == 2) {
            run_start("fan", id, round);
            run_end(id, false, NULL);
        } else {
            tells_play(id);
        }
        hf_simsched_sleep(w.sim, below(400 * MS));
    }
    w.clients_left--;
    hf_simsched_wake(w.sim, &w.clients_left);
}

/* ---- workers */

/* A poll of a worker; what its callback writes outlives the worker's interest. */
typedef struct slot {
    char worker[16];
    unsigned kinds;
    bool called;
    bool gone; /* nobody is there any more */
    bool has;
    bool workflow;
    char task[32];
    char id[ID_SIZE];
    char run_id[48];
    char type[16];
    int64_t attempt;
    int64_t last_seq;
    hf_ms lease;
    hf_poll *poll;
    hf_status status;
    bool ended; /* hf_poll_end said that nothing came */
    bool sends; /* the answer at hand sends the message */
    char why[256];
} slot;

static void text_take(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from ? from : "");
}

/* Which tasks were handed out, to see that none is twice. */
static void handed_note(const slot *s)
{
    int life = s->workflow ? hf_simnode_life(w.node) : 0;

    for (int i = 0; i < w.handed_count; i++)
        if (strcmp(w.handed[i].task, s->task) == 0 && w.handed[i].attempt == s->attempt &&
            w.handed[i].life == life)
            seed_fail("attempt %lld of task %s was handed out twice", (long long)s->attempt,
                      s->task);
    if (s->attempt > 1)
        mark_hit(MARK_SECOND_ATTEMPT);
    if (w.handed_count == HANDED_MAX)
        seed_fail("more than %d tasks", HANDED_MAX);
    w.handed[w.handed_count] = (handed){.attempt = s->attempt, .life = life};
    text_take(w.handed[w.handed_count++].task, sizeof(s->task), s->task);
}

/* Called by the engine: a task or nothing. */
static bool slot_got(void *arg, hf_value task)
{
    slot *s = arg;

    hf_simsched_step(w.sim);
    s->called = true;
    if (task && !s->gone) {
        s->has = true;
        s->workflow = strcmp(hf_str(task, "kind", ""), "workflow") == 0;
        text_take(s->task, sizeof(s->task), hf_str(task, "task_id", ""));
        text_take(s->id, sizeof(s->id), hf_str(task, "workflow_id", ""));
        text_take(s->run_id, sizeof(s->run_id), hf_str(task, "run_id", ""));
        text_take(s->type, sizeof(s->type),
                  hf_str(task, s->workflow ? "workflow_type" : "activity_type", ""));
        s->attempt = hf_int(task, s->workflow ? "workflow_task_attempt" : "attempt_number", 0);
        s->last_seq = hf_int(task, "last_history_sequence", 0);
        handed_note(s);
    } else if (task) {
        mark_hit(MARK_POLL_REFUSED);
    }
    hf_simsched_step(w.sim);
    hf_simsched_wake(w.sim, s);
    return !s->gone;
}

static void call_poll(hf_engine *d, void *arg)
{
    slot *s = arg;
    hf_poll_opts opts = {.size_ = sizeof(opts),
                         .queue = "default",
                         .worker = s->worker,
                         .lease = s->lease,
                         .got = slot_got,
                         .arg = s};

    opts.kind = s->kinds & 1 ? HF_TASK_WORKFLOW : HF_TASK_ACTIVITY;
    opts.also = s->kinds;
    s->status = hf_poll_begin(d, &opts, &s->poll);
}

static void call_leave(hf_engine *d, void *arg)
{
    slot *s = arg;

    (void)d;
    (void)hf_poll_leave(s->poll);
}

static void call_end(hf_engine *d, void *arg)
{
    slot *s = arg;

    (void)d;
    s->ended = hf_poll_end(s->poll);
}

static int events_of(hf_value events, const char *type, int64_t upto)
{
    int count = 0;

    for (size_t i = 0; i < hf_len(events); i++)
        count += hf_int(hf_at(events, i), "sequence", 0) <= upto &&
                 strcmp(hf_str(hf_at(events, i), "event_type", ""), type) == 0;
    return count;
}

/* What the worker's code decides from what it sees. */
static hf_status fan_decide(hf_engine *d, hf_mem *mem, const hf_task_claim *claim, int scheduled)
{
    hf_status st;
    char text[WIDTH * 320 + 64] = "[";
    size_t len = 1;
    hf_value commands;
    hf_value errors = NULL;

    for (int i = 0; !scheduled && i < WIDTH; i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "%s{\"type\": \"schedule_activity\", \"activity_type\": \"pay\","
            " \"retry_policy\": {\"max_attempts\": 100,"
            " \"backoff_seconds\": [1]},"
            " \"parallel_group_id\": \"parallel-activities:1:%d\", \"parallel_group_kind\":"
            " \"activity\", \"parallel_group_base_sequence\": 1,"
            " \"parallel_group_size\": %d, \"parallel_group_index\": %d}",
            i ? ", " : "", WIDTH, WIDTH, i);
    (void)snprintf(text + len, sizeof(text) - len, "%s]",
                   scheduled ? "{\"type\": \"complete_workflow\"}" : "");
    commands = hf_parse_(mem, text, strlen(text));
    st = made(commands) ? hf_task_answer(d, claim, commands, mem, &errors) : HF_NOMEM;
    if (st == HF_INVALID && errors)
        (void)fprintf(stderr, "%s\n", hf_text(mem, errors));
    return st;
}

static hf_status decisions_send(hf_engine *d, hf_mem *mem, const hf_task_claim *claim,
                                const char *text)
{
    hf_buf list = {0};
    hf_value decisions = NULL;

    hf_buf_add_format(&list, "[%s]", text);
    if (hf_buf_ok(&list))
        decisions = hf_parse_(mem, list.ptr, list.len);
    hf_buf_fini(&list);
    return made(decisions) ? hf_task_decide(d, claim, decisions, false, mem) : HF_NOMEM;
}

static bool *sent_of(const slot *s)
{
    int client = 0;
    int round = 0;

    HF_ASSERT(sscanf(s->id, "c%d-%d", &client, &round) == 2);
    return &w.sent[client][round];
}

/* Two activities; after the first of them a message to the box, as the only thing that the turn
   decides unless the second one has ended, too. As in our own worker, what is known to be sent is
   not sent again, and what is sent again carries the same number. */
static hf_status tells_decide(hf_engine *d, hf_mem *mem, const hf_task_claim *claim, slot *s,
                              int scheduled, int completed)
{
    char text[512] = "";

    s->sends = completed > 0 && !*sent_of(s);
    if (!scheduled)
        (void)snprintf(text, sizeof(text),
                       "{\"kind\": \"schedule_activity\", \"step\": 1, \"name\": \"pay\","
                       " \"max_attempts\": -1},"
                       " {\"kind\": \"schedule_activity\", \"step\": 2, \"name\": \"pay\","
                       " \"max_attempts\": -1}");
    if (s->sends)
        (void)snprintf(text, sizeof(text),
                       "{\"kind\": \"send_message\", \"name\": \"mail\", \"value\": \"ref\","
                       " \"instance\": \"%s-box\", \"ordinal\": 1}%s",
                       s->id, completed == 2 ? ", " : "");
    if (completed == 2)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "{\"kind\": \"complete_workflow\"}");
    return decisions_send(d, mem, claim, text);
}

static void call_report(hf_engine *d, void *arg)
{
    slot *s = arg;
    const hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = s->task, .worker = s->worker, .attempt = s->attempt};
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;
    hf_status st = mem ? HF_OK : HF_NOMEM;

    if (!st && s->workflow) {
        hf_value events;
        int scheduled;

        st = hf_history(d, mem, &out, s->id, .run_id = s->run_id);
        events = hf_get(out, "events");
        scheduled = events_of(events, "ActivityScheduled", s->last_seq);
        if (!st && strcmp(s->type, "fan") == 0)
            st = fan_decide(d, mem, &claim, scheduled);
        else if (!st)
            st = tells_decide(d, mem, &claim, s, scheduled,
                              events_of(events, "ActivityCompleted", s->last_seq));
    } else if (!st) {
        hf_value one = hf_json_(mem, "1");

        st = made(one) ? hf_task_result(d, &claim, one) : HF_NOMEM;
    }
    s->status = st;
    text_take(s->why, sizeof(s->why), st ? hf_errmsg(d) : "");
    hf_mem_free(mem);
}

static void accepted_note(const slot *s, int life)
{
    for (int i = 0; i < w.handed_count; i++) {
        handed *h = &w.handed[i];

        if (strcmp(h->task, s->task) != 0 || h->attempt != s->attempt ||
            h->life != (s->workflow ? life : 0))
            continue;
        if (s->sends) {
            *sent_of(s) = true;
            mark_hit(MARK_SENT);
        }
        for (int later = i + 1; !s->workflow && later < w.handed_count; later++)
            if (strcmp(w.handed[later].task, s->task) == 0)
                seed_fail("attempt %lld of task %s was accepted after attempt %lld was handed out",
                          (long long)s->attempt, s->task, (long long)w.handed[later].attempt);
        if (h->accepted)
            seed_fail("attempt %lld of task %s was accepted twice", (long long)s->attempt, s->task);
        h->accepted = true;
    }
}

/* Reports until there is an answer, or it has had enough. */
static void slot_report(slot *s)
{
    int life = hf_simnode_life(w.node);

    for (int tries = 0; tries < 10; tries++) {
        bool answered = hf_simnode_call(w.node, call_report, s);

        if (answered && !comes_again(s->status)) {
            if (s->status == HF_OK)
                accepted_note(s, life);
            else if (s->status == HF_REJECTED)
                mark_hit(MARK_REPORT_LATE);
            else if (s->status != HF_NOTFOUND)
                seed_fail("report on %s (%s %s): %s: %s", s->task, s->type, s->id,
                          hf_strstatus(s->status), s->why);
            return;
        }
        hf_simsched_sleep(w.sim, 5 * MS + below(200 * MS));
    }
}

static slot *slot_new(const char *worker)
{
    slot *s = calloc(1, sizeof(*s)); /* it stays: a callback may come late */

    text_take(s->worker, sizeof(s->worker), worker);
    s->kinds = 1U + (unsigned)below(3);
    s->lease = 500 + below(3000);
    return s;
}

static void worker_turn(const char *name)
{
    slot *s = slot_new(name);
    int life = hf_simnode_life(w.node);
    bool left;
    int64_t until_us = hf_simsched_now_us(w.sim) +
                       (chance(w.leave) ? below(3 * MS) : (w.calm ? 30000 : 1000) * MS);

    if (!life || !hf_simnode_call(w.node, call_poll, s) || s->status) {
        hf_simsched_sleep(w.sim, 20 * MS + below(100 * MS));
        return;
    }
    s->gone = chance(w.refuse);
    while (!s->called && hf_simnode_life(w.node) == life && hf_simsched_await(w.sim, s, until_us))
        ;
    left = !s->called;
    if (left)
        mark_hit(MARK_POLL_LEFT_EARLY);
    if (hf_simsched_one_in(w.sim, 2))
        (void)hf_simnode_call(w.node, call_leave, s);
    if (hf_simnode_life(w.node) != life || !hf_simnode_call(w.node, call_end, s))
        return; /* the task, if there was one, has gone with the node */
    if (!s->has)
        return;
    if (left)
        mark_hit(MARK_POLL_LEFT_WITH_TASK);
    if (s->ended)
        seed_fail("a poll that ended without a task had one");
    if (chance(w.vanish)) {
        mark_hit(MARK_WORKER_VANISHED);
        return;
    }
    if (chance(w.stall)) {
        mark_hit(MARK_WORKER_STALLED);
        hf_simsched_sleep(w.sim, s->lease * MS + below(3000 * MS));
    } else {
        hf_simsched_sleep(w.sim, below(80 * MS));
    }
    slot_report(s);
    if (chance(w.twice)) {
        mark_hit(MARK_REPORT_TWICE);
        slot_report(s);
    }
}

static void worker_run(void *ctx)
{
    const int *number = ctx;
    char name[16];

    (void)snprintf(name, sizeof(name), "w%d", *number);
    while (!w.ending)
        worker_turn(name);
}

/* ---- who keeps the node up, and who does not */

static void supervisor_run(void *ctx)
{
    (void)ctx;
    while (!w.ending) {
        request r = {0};

        if (!hf_simnode_life(w.node) && !hf_simnode_boot(w.node)) {
            mark_hit(MARK_BOOT_FAILED);
            if (w.calm && hf_simnode_why(w.node)[0])
                seed_fail("the node does not begin: %s", hf_simnode_why(w.node));
        }
        hf_simsched_sleep(w.sim, (w.calm ? 5000 : 50) * MS);
        if (hf_simnode_call(w.node, call_working, &r) && r.stopped) {
            if (w.calm)
                seed_fail("the engine stopped: %s", r.why);
            hf_simnode_kill(w.node, false);
        }
    }
}

static void fault_make(void)
{
    if (chance(w.alloc))
        hf_fault_arm(HF_FAULT_ALLOC, 1 + below(3000), false);
    if (chance(w.kill)) {
        mark_hit(hf_simnode_life(w.node) ? MARK_KILLED : MARK_BOOT_KILLED);
        hf_simnode_kill(w.node, false);
    } else if (chance(w.power)) {
        mark_hit(MARK_POWER_LOST);
        hf_simnode_kill(w.node, true);
    }
}

static uint32_t fault_choose(hf_rng *rng, uint32_t one_in)
{
    return hf_rng_below(rng, 2) ? one_in : 0;
}

static void world_play(uint64_t seed)
{
    int numbers[] = {0, 1, 2};
    hf_thread clients[CLIENTS] = {0};
    hf_thread workers[WORKERS] = {0};
    hf_thread supervisor = {0};
    hf_simsched_options options = {.seed = seed, .stuck = world_stuck};
    hf_simnode_options node = {.app = &app};
    hf_complaint complaint;
    hf_rng rng;
    hf_err err;

    hf_rng_init_seeded(&rng, seed ^ 0x5EED);
    options.switch_one_in = 1U << hf_rng_below(&rng, 6);
    options.slow_one_in = fault_choose(&rng, 4);
    options.spurious_one_in = fault_choose(&rng, 50);
    node.slow_sync_one_in = fault_choose(&rng, 5);
    node.slow_sync_us = 200 * MS;
    w.vanish = fault_choose(&rng, 10);
    w.stall = fault_choose(&rng, 8);
    w.twice = fault_choose(&rng, 4);
    w.leave = fault_choose(&rng, 2);
    w.refuse = fault_choose(&rng, 8);
    w.cancel = fault_choose(&rng, 2);
    w.kill = fault_choose(&rng, 3);
    w.power = fault_choose(&rng, 5);
    w.alloc = fault_choose(&rng, 2);
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
        hf_simsched_sleep(w.sim, below(400 * MS));
        fault_make();
    }
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_simsched_calm(w.sim);
    hf_simnode_calm(w.node);
    hf_simsched_sleep(w.sim, 1000 * MS); /* what stopped of the faults is begun again */
    w.calm = true;
    while (w.clients_left && hf_simsched_await(w.sim, &w.clients_left, SAFETY_US + LIVENESS_US))
        ;
    for (int i = 0; i < CLIENTS; i++) {
        request r = {0};

        (void)snprintf(r.id, sizeof(r.id), "%s", w.awaited[i]);
        if (r.id[0])
            (void)hf_simnode_call(w.node, call_tell, &r);
    }
    if (w.clients_left)
        seed_fail("%d clients still wait, %lld s after the faults", w.clients_left,
                  (long long)LIVENESS_US / 1000000);
    w.ending = true;
    for (int i = 0; i < CLIENTS; i++)
        hf_thread_join(&clients[i]);
    for (int i = 0; i < WORKERS; i++)
        hf_thread_join(&workers[i]);
    hf_thread_join(&supervisor);
    hf_simnode_stop(w.node);
    hf_simseed_close(w.sim);
    w.sim = NULL;
    if (!hf_recovery_verify(hf_simnode_address(), hf_simnode_vfs(w.node), &complaint))
        seed_fail("the store: %s", complaint.text);
    hf_simnode_free(w.node);
}

/* ---- the campaign */

static const hf_simseed_plan plan = {.play = world_play,
                                     .marks = mark_names,
                                     .mark_count = MARK_COUNT,
                                     .again = "make sim WORLD=world SEED="};

START_TEST(a_node_in_a_hostile_world)
{
    hf_simseed_campaign(&plan);
}
END_TEST

START_TEST(a_seed_is_the_same_twice)
{
    hf_simseed_twice(&plan);
}
END_TEST

/* Each bug that is planted is found within the seeds of `make test`. */
START_TEST(planted_bugs_are_found)
{
    static const hf_plant plants[] = {HF_PLANT_STALE_CLAIM, HF_PLANT_FREED_OFFER,
                                      HF_PLANT_BARE_UNIT, HF_PLANT_EARLY_ANSWER};

    for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
        hf_simseed_hunt(&plan, plants[i]);
}
END_TEST

HF_SUITE_MAIN("sim/world", {a_node_in_a_hostile_world, 36000}, {a_seed_is_the_same_twice, 600},
              {planted_bugs_are_found, 1800})
