/* Retention: closed runs whose time is over leave the store whole, and only those that nothing
   needs; through host.h on both databases. Every store is verified when a case closes it. */
#include <stdio.h>
#include <string.h>

#include "holdfast/host.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "lib/script.h"

#define PARK(names) "{\"do\":\"park\",\"names\":[" names "]}"
#define NEXT        "{\"do\":\"next\"}"
#define DONE        "{\"do\":\"done\"}"
#define FAN(plans)  "{\"do\":\"fan\",\"plans\":[" plans "]}"

/* The second attempt fails for good. */
static hf_value flaky(hf_act *a, hf_value in)
{
    if (hf_attempt(a) == 1)
        return hf_retry(a, "busy", "once more");
    (void)in;
    return hf_reject(a, "broken", "for good");
}

static hf_value leaf(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_json(w, "'leaf'");
}

/* A life with a row in every table: activity and attempts, timer, child, payload of its own, label,
   attribute, failure, signal. */
static hf_value busy(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    hf_search_attributes(w, hf_json(w, "{'city': 'Bern'}"));
    (void)hf_activity(w, "flaky", NULL, .err = &failed);
    hf_messages_send(w, hf_workflow_id(w), "mail", "a letter");
    hf_messages_send(w, "stays", "mail", "another");
    hf_sleep(w, hf_seconds(5));
    (void)hf_child(w, "leaf", NULL);
    (void)hf_receive(w, "go");
    return in;
}

/* Goes on as a new run with each signal; "end" ends it. */
static hf_value chain(hf_ctx *w, hf_value in)
{
    hf_value said = hf_receive(w, "go");

    if (hf_int(said, "last", 0))
        return in;
    hf_continue_as_new(w, hf_json(w, "{'n': %d}", (int)hf_int(in, "n", 0) + 1));
}

/* Leaves a child behind that goes on without it. */
static hf_value leaver(hf_ctx *w, hf_value in)
{
    (void)hf_spawn_child(w, "waits", in, .id = "left", .on_parent_close = HF_CLOSE_ABANDON);
    return NULL;
}

static const hf_signal_def go[] = {{.name = "go", .params = "last:int?=0"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "busy", .run = busy, .signals = go},
                                            {.type = "leaf", .run = leaf},
                                            {.type = "chain", .run = chain, .signals = go},
                                            {.type = "waits", .run = hf_wait_go, .signals = go},
                                            {.type = "leaver", .run = leaver},
                                            {0}};
static const hf_activity_def activities[] = {{.name = "flaky", .run = flaky}, {0}};
static hf_machine_def machines[3];
static hf_app app = {
    .name = "retention", .workflows = workflows, .activities = activities, .machines = machines};

static hf_engine *open_kit(hf_engine_kind kind)
{
    machines[0] = hf_script_machines[0];
    machines[1] = hf_script_machines[1];
    return hf_kit_open(kind, &app);
}

/* One pass over everything; what it counted under a name. */
static int64_t pass(hf_engine *d, const char *name)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_retention_pass(d, NULL, hf_mem_of_engine(d), &out));
    return hf_int(out, name, -1);
}

static hf_status keep(hf_engine *d, int64_t days)
{
    return hf_namespace_set(
        d, "default",
        &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts), .retention_days = days});
}

/* The days go by without the engine noticing, so that a pass has everything to do. */
static void days_pass(hf_engine *d, int days)
{
    hf_kit_skip(d, hf_days(days));
}

/* ---- what goes */

static const char *const tables[] = {
    "run",         "instance", "history",     "payload",        "command",          "dedup",
    "correlation", "inbox",    "task",        "timer",          "activity",         "link",
    "run_label",   "failure",  "run_summary", "run_projection", "search_attribute", "message"};

/* A closed run leaves nothing behind in any table, once its time is over and not before. */
HF_BOTH_ENGINES(b_every_row_of_a_run_goes_with_it)
{
    hf_engine *d = open_kit(kind);
    char text[3000];
    hf_status st;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_kit_ok(d, hf_start(d, "busy", hf_json(d, "{'text': %s}", text), .id = "b",
                          .request_id = "r1", .labels = "{\"tier\":\"gold\"}"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    hf_kit_ok(d, hf_signal_dedup(d, "b", "go", NULL, "k1"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    for (const char *const *table =
             (const char *const[]){"history", "payload", "command", "dedup", "link", "run_label",
                                   "failure", "search_attribute", "run_projection", "message",
                                   NULL};
         *table; table++)
        ck_assert_msg(hf_kit_rows(d, *table) > 0, "nothing in %s", *table);
    days_pass(d, 29);
    ck_assert_int_eq(pass(d, "runs"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "run"), 2);
    days_pass(d, 2);
    ck_assert_int_eq(pass(d, "runs"), 2); /* the child goes after its parent */
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        ck_assert_msg(hf_kit_rows(d, tables[i]) == 0, "%s is not empty", tables[i]);
    st = hf_signal(d, "b", "go", NULL);
    ck_assert_int_eq(st, HF_NOTFOUND);
    hf_kit_ok(d, hf_start(d, "leaf", NULL, .id = "b")); /* the id is free */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "b"), "completed");
    hf_kit_close(d);
}

/* Messages go with the instance whose stream they are in; the other side keeps its own. */
HF_BOTH_ENGINES(streams_go_with_their_instance)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "stays"));
    hf_kit_ok(d, hf_start(d, "busy", NULL, .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(5)));
    hf_kit_ok(d, hf_signal(d, "b", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_rows(d, "message"), 4);
    days_pass(d, 31);
    ck_assert_int_eq(pass(d, "runs"), 2);
    ck_assert_int_eq(hf_kit_rows(d, "message"), 1);
    hf_kit_close(d);
}

/* A key that stays reserved after the end is free when retention removed who had it. */
HF_BOTH_ENGINES(sm43_a_reserved_key_is_free_after_retention)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "one",
                          .correlation_key = "k", .correlation_scope = "done"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(
        hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "two", .correlation_key = "k"),
        HF_EXISTS);
    ck_assert_int_ne(hf_signal(d, "k", "a", NULL), HF_OK);
    days_pass(d, 31);
    ck_assert_int_eq(pass(d, "instances"), 1);
    ck_assert_int_eq(hf_signal(d, "k", "a", NULL), HF_NOTFOUND);
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "two",
                          .correlation_key = "k"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* ---- what stays */

/* A child that has ended stays as long as the run that started it is open, and goes after it. */
HF_BOTH_ENGINES(sm60_children_of_live_parents_stay)
{
    hf_engine *d = open_kit(kind);

    hf_script_play(d, "p", "[" FAN("[" DONE "],[" DONE "]") "," PARK("\"a\"") "," DONE "]");
    ck_assert_str_eq(hf_test_status(d, "p"), "waiting signal:a");
    ck_assert_int_eq(hf_kit_rows(d, "run"), 3);
    days_pass(d, 40);
    ck_assert_int_eq(pass(d, "runs"), 0);
    ck_assert_int_eq(pass(d, "held"), 2);
    hf_kit_ok(d, hf_signal(d, "p", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "p"), "completed");
    ck_assert_int_eq(pass(d, "runs"), 0); /* the parent is young: its children stay with it */
    days_pass(d, 31);
    ck_assert_int_eq(pass(d, "runs"), 3);
    ck_assert_int_eq(hf_kit_rows(d, "link"), 0);
    hf_kit_close(d);
}

/* The parent of a child that is still open stays, so that the child can tell where it came from. */
HF_BOTH_ENGINES(b_parents_of_open_children_stay)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "leaver", NULL, .id = "p"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "p"), "completed");
    days_pass(d, 100);
    ck_assert_int_eq(pass(d, "held"), 1);
    hf_kit_ok(d, hf_signal(d, "left", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(pass(d, "runs"), 1); /* the parent; the child has just closed */
    days_pass(d, 31);
    ck_assert_int_eq(pass(d, "runs"), 1);
    ck_assert_int_eq(hf_kit_rows(d, "instance"), 0);
    hf_kit_close(d);
}

/* Of an instance that goes on and on, old runs go from the oldest on; its messages still add up,
   and a dedup key of a run that is gone still protects. */
HF_BOTH_ENGINES(b_old_runs_of_an_open_chain_go)
{
    hf_engine *d = open_kit(kind);

    hf_kit_ok(d, hf_start(d, "chain", hf_json(d, "{'n': 0}"), .id = "c"));
    hf_kit_ok(d, hf_test_drain(d));
    for (int i = 0; i < 6; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%d", i);
        hf_kit_ok(d, hf_signal_dedup(d, "c", "go", NULL, i % 2 ? key : NULL));
        hf_kit_ok(d, hf_test_drain(d));
        if (i == 3)
            days_pass(d, 20);
    }
    ck_assert_int_eq(hf_kit_rows(d, "run"), 7);
    days_pass(d, 11);
    ck_assert_int_eq(pass(d, "runs"), 4);
    ck_assert_int_eq(hf_kit_rows(d, "run"), 3);
    ck_assert_int_eq(hf_kit_number(d, "SELECT retired_messages FROM instance"), 2);
    hf_kit_ok(d, hf_signal_dedup(d, "c", "go", NULL, "k1")); /* a repetition */
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 3);
    d = hf_kit_reopen(d, NULL);
    hf_kit_ok(d, hf_signal(d, "c", "go", hf_json(d, "[1]")));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "c"), "completed");
    days_pass(d, 31);
    ck_assert_int_eq(pass(d, "runs"), 3);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        ck_assert_msg(hf_kit_rows(d, tables[i]) == 0, "%s is not empty", tables[i]);
    hf_kit_close(d);
}

/* Open runs stay however old they are, and so does everything where nothing is to go. */
HF_BOTH_ENGINES(b_open_runs_and_namespaces_without_end_stay)
{
    hf_engine *d = open_kit(kind);

    hf_script_play(d, "open", "[" PARK("\"a\"") "," DONE "]");
    hf_script_play(d, "shut", "[" DONE "]");
    hf_kit_ok(d, keep(d, HF_NAMESPACE_FOR_EVER));
    days_pass(d, 4000);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
    ck_assert_int_eq(pass(d, "runs"), 0);
    hf_kit_ok(d, keep(d, 1));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(1))); /* by itself now */
    ck_assert_int_eq(hf_kit_rows(d, "run"), 1);
    hf_kit_ok(d, hf_signal(d, "open", "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "open"), "completed");
    hf_kit_close(d);
}

/* ---- how it goes */

/* Without being asked, the engine removes runs on the day they are over, families too. */
HF_BOTH_ENGINES(b_the_engine_does_it_by_itself)
{
    hf_engine *d = open_kit(kind);

    hf_script_play(d, "p", "[" FAN("[" FAN("[" DONE "]") "," DONE "],[" DONE "]") "," DONE "]");
    hf_script_play(d, "q", "[" DONE "]");
    ck_assert_int_eq(hf_kit_rows(d, "run"), 5);
    hf_kit_skip(d, hf_days(30) - hf_minutes(5));
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(2)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 5);
    hf_kit_ok(d, hf_test_advance(d, hf_minutes(4)));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "history"), 0);
    hf_kit_close(d);
}

/* A pass removes a bounded number of runs in one transaction, and as many as it was told to. */
HF_BOTH_ENGINES(b_batches_are_bounded)
{
    hf_engine *d = open_kit(kind);
    hf_value out = NULL;

    for (int i = 0; i < 100; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "i%d", i);
        hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = id));
    }
    hf_kit_ok(d, hf_test_drain(d));
    days_pass(d, 31);
    hf_kit_ok(d, hf_retention_pass(d,
                                   &(hf_retention_opts){.size_ = sizeof(hf_retention_opts),
                                                        .name = "default",
                                                        .most = 40},
                                   hf_mem_of_engine(d), &out));
    ck_assert_int_eq(hf_int(out, "runs", 0), 40);
    ck_assert_int_eq(hf_int(out, "instances", 0), 40);
    ck_assert(hf_bool(out, "more", false));
    ck_assert_int_eq(hf_kit_rows(d, "run"), 60);
    hf_kit_ok(d, hf_retention_pass(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_int_eq(hf_int(out, "runs", 0), 60);
    ck_assert(!hf_bool(out, "more", true));
    hf_kit_close(d);
}

/* A crash after any commit of a removal leaves runs whole or gone, and the next start goes on. */
HF_BOTH_ENGINES(b_a_crash_leaves_runs_whole_or_gone)
{
    for (int at = 1; at <= 3; at++) {
        hf_engine *d = open_kit(kind);

        hf_script_play(d, "p", "[" FAN("[" FAN("[" DONE "]") "," DONE "]") "," DONE "]");
        for (int i = 0; i < 40; i++) {
            char id[16];

            (void)snprintf(id, sizeof(id), "i%d", i);
            hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = id));
        }
        hf_kit_ok(d, hf_test_drain(d));
        days_pass(d, 31);
        hf_kit_crash_after(d, at);
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_test_advance(d, hf_minutes(1)));
        ck_assert_int_eq(hf_kit_rows(d, "run"), 0);
        ck_assert_int_eq(hf_kit_rows(d, "history"), 0);
        hf_kit_close(d);
    }
}

/* A definition that no run has and that is not the newest of its type goes, on a store that is ours
   alone. */
START_TEST(b_definitions_that_nobody_uses_go)
{
    hf_engine *d = open_kit(HF_ENGINE_SQLITE);
    int64_t before = hf_kit_rows(d, "definition");

    hf_kit_sql(d, "INSERT INTO definition (key, fingerprint, type, body) VALUES "
                  "(90001, 'old', 'far', x'7b7d'), (90002, 'new', 'far', x'7b7d')");
    ck_assert_int_eq(hf_kit_rows(d, "definition"), before + 2);
    ck_assert_int_eq(pass(d, "definitions"), 1);
    ck_assert_int_eq(hf_kit_rows(d, "definition"), before + 1); /* the newest of the type stays */
    hf_kit_close(d);
}
END_TEST

/* Days below zero or beyond a century, namespaces that do not exist and negative numbers are
   refused with a word. */
HF_BOTH_ENGINES(b_bad_input_is_refused)
{
    hf_engine *d = open_kit(kind);
    hf_value out = NULL;

    ck_assert_int_eq(keep(d, -2), HF_INVALID);
    ck_assert_int_eq(keep(d, 36501), HF_INVALID);
    ck_assert_int_eq(hf_retention_pass(d,
                                       &(hf_retention_opts){.size_ = sizeof(hf_retention_opts),
                                                            .name = "nowhere"},
                                       hf_mem_of_engine(d), &out),
                     HF_NOTFOUND);
    ck_assert_int_eq(
        hf_retention_pass(d, &(hf_retention_opts){.size_ = sizeof(hf_retention_opts), .most = -1},
                          hf_mem_of_engine(d), &out),
        HF_INVALID);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/retention", HF_BOTH(b_every_row_of_a_run_goes_with_it),
                 HF_BOTH(streams_go_with_their_instance),
                 HF_BOTH(sm43_a_reserved_key_is_free_after_retention),
                 HF_BOTH(sm60_children_of_live_parents_stay),
                 HF_BOTH(b_parents_of_open_children_stay), HF_BOTH(b_old_runs_of_an_open_chain_go),
                 HF_BOTH(b_open_runs_and_namespaces_without_end_stay),
                 HF_BOTH(b_the_engine_does_it_by_itself), HF_BOTH(b_batches_are_bounded),
                 HF_BOTH(b_a_crash_leaves_runs_whole_or_gone),
                 {b_definitions_that_nobody_uses_go, 0}, HF_BOTH(b_bad_input_is_refused))
