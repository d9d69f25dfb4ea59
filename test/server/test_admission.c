/* test_admission.c: who is turned away when more is asked than can be done: the moving bound by
   itself, with times that the case makes up, and the classes over real HTTP, filled with requests
   that are held. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "engine/engine_impl.h"
#include "lib/nap.h"
#include "lib/site.h"
#include "server/admission.h"

enum { MS = 1000 };

static const hf_app app = {.name = "nothing-here"};

#define WORKER "\"worker_id\":\"w1\",\"task_queue\":\"far\""

static size_t limit_of(hf_admission *admission, hf_class class)
{
    hf_admission_state state;

    hf_admission_look(admission, class, &state);
    return state.limit;
}

static size_t bound_of(hf_admission *admission, hf_class class)
{
    hf_admission_state state;

    hf_admission_look(admission, class, &state);
    return state.bound;
}

static bool entered(hf_admission *admission, hf_class class, int64_t now_us)
{
    bool flood = false;

    return hf_admission_enter(admission, class, now_us, &flood);
}

static hf_admission *admission_make(const hf_admission_limits *limits)
{
    hf_admission *admission = NULL;
    hf_err err = {0};

    hf_test_ok(hf_admission_open(limits, &admission, &err), &err, "open an admission");
    return admission;
}

/* A class is full at its bound and no sooner, and one that leaves makes room for one. */
START_TEST(classes_are_bounded)
{
    hf_admission *admission = admission_make(
        &(hf_admission_limits){.most = {[HF_CLASS_REPORT] = 2, [HF_CLASS_COMMAND] = 1}});
    hf_admission_state state;

    ck_assert(entered(admission, HF_CLASS_COMMAND, 0));
    ck_assert(!entered(admission, HF_CLASS_COMMAND, 0));
    ck_assert(entered(admission, HF_CLASS_REPORT, 0)); /* another class has room */
    ck_assert(entered(admission, HF_CLASS_REPORT, 0));
    ck_assert(!entered(admission, HF_CLASS_REPORT, 0));
    hf_admission_leave(admission, HF_CLASS_COMMAND);
    ck_assert(entered(admission, HF_CLASS_COMMAND, 0));
    hf_admission_look(admission, HF_CLASS_COMMAND, &state);
    ck_assert_uint_eq(state.in_work, 1);
    ck_assert_uint_eq(state.refused, 1);
    for (int i = 0; i < 100000; i++) /* probes have no bound */
        ck_assert(entered(admission, HF_CLASS_OPEN, 0));
    hf_admission_close(admission);
}
END_TEST

/* The bound shrinks to what fits when the requests of a window waited too long on average, at once
   and not below its least; it stays in between, and grows when they hardly waited, back to where it
   began. */
START_TEST(the_bound_follows_the_wait)
{
    hf_admission *admission =
        admission_make(&(hf_admission_limits){.most = {[HF_CLASS_READ] = 200}, .least = 10});
    int64_t now_us = 1;

    hf_admission_waited(admission, HF_CLASS_READ, 5 * MS, now_us);
    hf_admission_waited(admission, HF_CLASS_READ, 19 * MS, now_us + 99 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 200); /* the window is not over */
    hf_admission_waited(admission, HF_CLASS_READ, 90 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 50); /* 3 ms of 12 */
    hf_admission_waited(admission, HF_CLASS_READ, 2 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 10); /* its least */
    hf_admission_waited(admission, HF_CLASS_READ, 1 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 10); /* 2 ms are neither long nor short */
    hf_admission_waited(admission, HF_CLASS_READ, 0, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 13);
    for (int i = 0; i < 100; i++)
        hf_admission_waited(admission, HF_CLASS_READ, 0, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_READ), 200);
    hf_admission_waited(admission, HF_CLASS_REPORT, 90 * MS, now_us += 100 * MS);
    hf_admission_waited(admission, HF_CLASS_REPORT, 90 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(limit_of(admission, HF_CLASS_REPORT), 1024); /* reports are never shed */
    hf_admission_close(admission);
}
END_TEST

/* In a flood, when more are turned away than get a thread, nobody has to wait inside: the bound
   follows a shorter wait, and lower. It is as before when nobody was turned away for a second. */
START_TEST(a_flood_leaves_no_queue)
{
    hf_admission *admission =
        admission_make(&(hf_admission_limits){.most = {[HF_CLASS_COMMAND] = 40}});
    int64_t now_us = 1;

    for (int i = 0; i < 40; i++)
        ck_assert(entered(admission, HF_CLASS_COMMAND, now_us));
    hf_admission_waited(admission, HF_CLASS_COMMAND, 2 * MS, now_us);
    ck_assert(!entered(admission, HF_CLASS_COMMAND, now_us));
    hf_admission_waited(admission, HF_CLASS_COMMAND, 2 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 40); /* one of two is no flood */
    ck_assert(!entered(admission, HF_CLASS_COMMAND, now_us));
    ck_assert(!entered(admission, HF_CLASS_COMMAND, now_us));
    hf_admission_waited(admission, HF_CLASS_COMMAND, 60 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 20); /* 1 ms of 2 */
    ck_assert(!entered(admission, HF_CLASS_COMMAND, now_us));
    hf_admission_waited(admission, HF_CLASS_COMMAND, 2 * MS, now_us += 100 * MS);
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 12); /* the least in a flood */
    for (int i = 0; i < 30; i++)
        hf_admission_leave(admission, HF_CLASS_COMMAND);
    ck_assert(entered(admission, HF_CLASS_COMMAND, now_us += 700 * MS));
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 12);
    ck_assert(entered(admission, HF_CLASS_COMMAND, now_us += 300 * MS));
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 40); /* it is over */
    hf_admission_close(admission);
}
END_TEST

/* A burst is let in up to the bound of its class, however long those before it waited; only waits
   that stay long for most of a second are a flood, and one after a pause is a burst again. */
START_TEST(n25_a_burst_waits_inside)
{
    hf_admission *admission =
        admission_make(&(hf_admission_limits){.most = {[HF_CLASS_COMMAND] = 200}});
    int64_t now_us = 1;

    for (int burst = 0; burst < 3; burst++) {
        for (int i = 0; i < 200; i++)
            ck_assert(entered(admission, HF_CLASS_COMMAND, now_us));
        for (int i = 0; i < 200; i++) { /* half a second for all of them */
            hf_admission_waited(admission, HF_CLASS_COMMAND, i * 2500, now_us += 2500);
            hf_admission_leave(admission, HF_CLASS_COMMAND);
        }
        ck_assert_uint_eq(limit_of(admission, HF_CLASS_COMMAND), 16);
        ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 200);
        now_us += 5000 * MS;
    }
    for (int i = 0; i < 400; i++) { /* and a second: that is no burst */
        ck_assert(entered(admission, HF_CLASS_COMMAND, now_us));
        hf_admission_waited(admission, HF_CLASS_COMMAND, 500 * MS, now_us += 2500);
        hf_admission_leave(admission, HF_CLASS_COMMAND);
    }
    ck_assert_uint_eq(bound_of(admission, HF_CLASS_COMMAND), 12);
    hf_admission_close(admission);
}
END_TEST

/* Every route has a class: probes are open, reports are not commands, and what waits is known. */
START_TEST(routes_have_classes)
{
    const hf_route *route;

    for (size_t i = 0; (route = hf_route_at(i)); i++) {
        hf_class class = hf_class_of(route);

        ck_assert_str_ne(hf_class_text(class), "");
        ck_assert((route->plane == HF_PLANE_OPEN) <= (class == HF_CLASS_OPEN));
        ck_assert((class == HF_CLASS_WAIT) == (route->where == HF_WHERE_WAIT));
        ck_assert((class == HF_CLASS_REPORT) ==
                  (route->plane == HF_PLANE_WORKER && route->where == HF_WHERE_POOL));
        ck_assert((class == HF_CLASS_READ) <= (route->method == HF_HTTP_GET));
    }
}
END_TEST

/* T23: a namespace has at most three quarters of a class while there are others, and so many
   requests in a second, which come back with time; those of another are its own. */
START_TEST(t23_namespaces_have_shares)
{
    hf_admission *admission =
        admission_make(&(hf_admission_limits){.most = {[HF_CLASS_COMMAND] = 8}, .rate = 10});
    int64_t now_us = 1;

    for (int i = 0; i < 6; i++)
        ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(!hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("b"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), true, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_READ, HF_SLICE("a"), false, now_us));
    for (int i = 0; i < 7; i++)
        hf_admission_unshare(admission, HF_CLASS_COMMAND, HF_SLICE("a"));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    /* ten in this second */
    ck_assert(!hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_REPORT, HF_SLICE("a"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("b"), false, now_us));
    now_us += 200 * MS;
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    ck_assert(!hf_admission_share(admission, HF_CLASS_COMMAND, HF_SLICE("a"), false, now_us));
    hf_admission_close(admission);
}
END_TEST

/* Memory may run out at every step of opening. */
START_TEST(memory_may_run_out)
{
    for (int64_t nth = 1;; nth++) {
        hf_admission *admission = NULL;
        hf_err err = {0};
        hf_status st;
        bool reached;

        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_admission_open(&(hf_admission_limits){0}, &admission, &err);
        reached = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(st, reached ? HF_NOMEM : HF_OK);
        for (int64_t at = 1; admission && at < 8; at++) { /* who cannot be counted is not let in */
            hf_fault_arm(HF_FAULT_ALLOC, at, false);
            if (hf_admission_share(admission, HF_CLASS_READ, HF_SLICE("a"), false, 1))
                hf_admission_unshare(admission, HF_CLASS_READ, HF_SLICE("a"));
            hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        }
        hf_admission_close(admission);
        if (!reached)
            break;
    }
}
END_TEST

/* ---- over HTTP */

static int status_read(int fd)
{
    hf_wire_reply reply = {0};
    int status;

    ck_assert_msg(hf_wire_read_reply(fd, &reply), "no answer");
    status = reply.status;
    hf_wire_reply_fini(&reply);
    (void)close(fd);
    return status;
}

/* Until so many of a class are in work. */
static void in_work_await(hf_site *site, const char *class, int count)
{
    hf_site_await(site, "holdfast_http_in_work{class=\"%s\"} %d", class, count);
}

/* Turned away: 429 in the form of every refusal of its plane, with the time to wait. */
static void turned_away(hf_site_answer answer, bool worker)
{
    hf_slice version =
        hf_wire_field(&answer.raw, worker ? "X-Durable-Workflow-Protocol-Version"
                                          : "X-Durable-Workflow-Control-Plane-Version");

    ck_assert_uint_gt(version.len, 0);
    ck_assert_int_eq(hf_get(answer.body, "server_capabilities") != NULL, worker);
    ck_assert_msg(answer.status == 429, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "overloaded");
    ck_assert_str_ne(hf_str(answer.body, "message", ""), "");
    ck_assert_str_ne(hf_str(answer.body, "remediation", ""), "");
    ck_assert(hf_slice_equal(hf_wire_field(&answer.raw, "Retry-After"), HF_SLICE("1")));
}

/* Reads that cannot go on fill their class: the next one is turned away, while workers report and
   probes are answered. Afterwards there is room again. */
HF_BOTH_ENGINES(held_reads_leave_room_for_reports)
{
    hf_server_options options = {.threads = 2,
                                 .admission = {.most = {[HF_CLASS_READ] = 3}, .least = 3}};
    hf_site site;
    int fds[3];

    hf_site_open(&site, kind, &app, options);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/worker/register", NULL,
                                 "{" WORKER ",\"supported_workflow_types\":[\"remote\"]}")
                         .status,
                     200);
    (void)hf_engine_read_begin(site.engine); /* whoever reads from now on is held */
    for (int i = 0; i < 3; i++)
        fds[i] = hf_site_send(&site, "GET", "/api/workflows/nobody", NULL);
    in_work_await(&site, "read", 3);
    turned_away(hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL), false);
    ck_assert_int_eq(/* it needs a thread, and nothing from the store */
                     hf_site_ask(&site, "POST", "/api/worker/heartbeat", NULL,
                                 "{\"worker_id\":\"w2\"}")
                         .status,
                     404);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/health", NULL, NULL).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/ready", NULL, NULL).status, 200);
    ck_assert_ptr_nonnull(strstr(hf_site_ask(&site, "GET", "/metrics", NULL, NULL).text,
                                 "holdfast_http_turned_away_total{class=\"read\"} 1\n"));
    hf_engine_read_end(site.engine);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(status_read(fds[i]), 404);
    in_work_await(&site, "read", 0);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL).status, 404);
    hf_site_close(&site);
}

/* Until the bound of reads is this. */
static void read_limit_await(hf_site *site, int limit)
{
    hf_site_await(site, "holdfast_http_in_work_limit{class=\"read\"} %d", limit);
}

/* Reads that take up their class and wait so long for each other while others are turned away. */
static void reads_hold(hf_site *site, hf_clock *clock, int turned_away_count, int64_t us)
{
    int fds[8];

    (void)hf_engine_read_begin(site->engine);
    for (int i = 0; i < 8; i++)
        fds[i] = hf_site_send(site, "GET", "/api/workflows/nobody", NULL);
    in_work_await(site, "read", 8);
    for (int i = 0; i < turned_away_count; i++)
        turned_away(hf_site_ask(site, "GET", "/api/workflows/nobody", NULL, NULL), false);
    hf_clock_advance(clock, us);
    hf_engine_read_end(site->engine);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(status_read(fds[i]), 404);
    in_work_await(site, "read", 0);
}

/* A flood that makes those wait who are accepted: fewer are accepted, until it is over. */
HF_BOTH_ENGINES(a_flood_is_met_with_a_lower_bound)
{
    hf_clock *clock = hf_clock_new_virtual(0);
    hf_server_options options = {
        .threads = 2, .admission = {.most = {[HF_CLASS_READ] = 8}, .least = 4}, .clock = clock};
    hf_site site;

    ck_assert_ptr_nonnull(clock);
    hf_site_open(&site, kind, &app, options);
    ck_assert_int_eq(/* the engine runs from here on */
                     hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL).status, 404);
    reads_hold(&site, clock, 0, 50 * MS);
    reads_hold(&site, clock, 20, 100 * MS);
    read_limit_await(&site, 4);
    hf_clock_advance(clock, 1100 * MS);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL).status, 404);
    read_limit_await(&site, 8);
    hf_site_close(&site);
    hf_clock_free_virtual(clock);
}

/* Commands have a bound of their own, whatever reads do. */
HF_BOTH_ENGINES(held_commands_are_turned_away)
{
    static const char start[] = "{\"workflow_type\":\"remote\",\"task_queue\":\"far\"}";
    hf_server_options options = {.threads = 2,
                                 .admission = {.most = {[HF_CLASS_COMMAND] = 2}, .least = 2}};
    hf_site site;
    int fds[2];

    hf_site_open(&site, kind, &app, options);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL, start).status, 201);
    (void)hf_engine_read_begin(site.engine);
    for (int i = 0; i < 2; i++)
        fds[i] = hf_site_send(&site, "POST", "/api/workflows/nobody/cancel", "{}");
    in_work_await(&site, "command", 2);
    turned_away(hf_site_ask(&site, "POST", "/api/workflows", NULL, start), false);
    hf_engine_read_end(site.engine);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_read(fds[i]), 404);
    in_work_await(&site, "command", 0);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL, start).status, 201);
    hf_site_close(&site);
}

/* Polls that wait have a bound; one that ends makes room. A task is handed out all the same. */
HF_BOTH_ENGINES(parked_polls_are_bounded)
{
    static const char ask[] = "{" WORKER ",\"timeout_seconds\":60}";
    hf_site site;
    int fds[2];

    hf_site_open(&site, kind, &app,
                 (hf_server_options){.admission = {.most = {[HF_CLASS_HELD] = 2}}});
    for (int i = 0; i < 2; i++)
        fds[i] = hf_site_send(&site, "POST", "/api/worker/activity-tasks/poll", ask);
    in_work_await(&site, "held", 2);
    turned_away(hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL, ask), true);
    (void)close(fds[0]);
    in_work_await(&site, "held", 1);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL,
                                 "{\"workflow_type\":\"remote\",\"task_queue\":\"far\"}")
                         .status,
                     201);
    ck_assert_ptr_nonnull(
        hf_get(hf_site_ask(&site, "POST", "/api/worker/workflow-tasks/poll", NULL, ask).body,
               "task.task_id"));
    (void)close(fds[1]);
    in_work_await(&site, "held", 0);
    hf_site_close(&site);
}

/* T23, over HTTP: reads of one namespace leave room for those of another. */
HF_BOTH_ENGINES(t23_one_tenant_leaves_room)
{
    hf_server_options options = {.threads = 2,
                                 .admission = {.most = {[HF_CLASS_READ] = 4}, .least = 4}};
    hf_site site;
    int fds[4];

    hf_site_open(&site, kind, &app, options);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/namespaces", NULL, "{\"name\":\"b\"}").status,
                     201);
    (void)hf_engine_read_begin(site.engine); /* whoever reads from now on is held */
    for (int i = 0; i < 3; i++)
        fds[i] = hf_site_send(&site, "GET", "/api/workflows/nobody", NULL);
    in_work_await(&site, "read", 3);
    turned_away(hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL), false);
    fds[3] = hf_site_send(&site, "GET", "/api/workflows/nobody?namespace=b", NULL);
    in_work_await(&site, "read", 4);
    hf_engine_read_end(site.engine);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(status_read(fds[i]), 404);
    in_work_await(&site, "read", 0);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/workflows/nobody", NULL, NULL).status, 404);
    hf_site_close(&site);
}

/* Bursts of starts with a pause between them: each start waits for its turn and is carried out. */
HF_BOTH_ENGINES(n25_bursts_of_starts_are_carried_out)
{
    enum { BURSTS = 3, STARTS = 200 };
    static const char start[] = "{\"workflow_type\":\"remote\",\"task_queue\":\"far\"}";
    hf_site site;
    int fds[STARTS];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (int burst = 0; burst < BURSTS; burst++) {
        for (int i = 0; i < STARTS; i++)
            fds[i] = hf_site_send(&site, "POST", "/api/workflows", start);
        for (int i = 0; i < STARTS; i++) {
            int status = status_read(fds[i]);

            ck_assert_msg(status == 201, "start %d of burst %d: %d", i, burst, status);
        }
        hf_nap_ms(1200);
    }
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/admission", {n25_a_burst_waits_inside, 0},
                 HF_BOTH(n25_bursts_of_starts_are_carried_out), {classes_are_bounded, 0},
                 {the_bound_follows_the_wait, 0}, {a_flood_leaves_no_queue, 0},
                 HF_BOTH(a_flood_is_met_with_a_lower_bound), {routes_have_classes, 0},
                 {t23_namespaces_have_shares, 0}, {memory_may_run_out, 0},
                 HF_BOTH(t23_one_tenant_leaves_room), HF_BOTH(held_reads_leave_room_for_reports),
                 HF_BOTH(held_commands_are_turned_away), HF_BOTH(parked_polls_are_bounded))
