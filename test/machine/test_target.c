/* Whom a signal reaches: ids, correlation keys and their scopes, dedup keys, and targets that are
   gone, through holdfast.h on both databases. */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"
#include "lib/script.h"

static const hf_app app = {.name = "target", .machines = hf_script_machines};

#define PARK(names) "{\"do\":\"park\",\"names\":[" names "]}"
#define NEXT        "{\"do\":\"next\"}"
#define DONE        "{\"do\":\"done\"}"
#define STOP        "{\"do\":\"stop\"}"

static void deliver(hf_engine *d, const char *id, const char *name, int n, const char *key)
{
    hf_kit_ok(d, hf_signal_dedup(d, id, name, hf_json(d, "%d", n), key));
    hf_kit_ok(d, hf_test_drain(d));
}

static int64_t signals(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND status = 1");
}

/* ---- dedup keys */

/* The same key twice stores one signal, and both calls are told that it is there. */
HF_EVERY_WAY(sm26_sm27_sm28_dedup_keys)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_script_play(d, "i", "[" PARK("\"a\"") "," DONE "]");
    hf_script_play(d, "j", "[" PARK("\"a\"") "," DONE "]");
    deliver(d, "i", "b", 1, "evt-7");
    deliver(d, "i", "b", 2, "evt-7");
    deliver(d, "j", "b", 3, "evt-7"); /* another instance knows nothing of it */
    deliver(d, "i", "c", 4, NULL);
    deliver(d, "i", "c", 5, NULL); /* no key, no duplicate */
    ck_assert_int_eq(signals(d), 4);
    deliver(d, "i", "a", 6, NULL);
    ck_assert_str_eq(hf_kit_result(d, "i"), "[\"aw= all= t=1\",\"aw=a6 all=b1,c4,c5,a6 t=1\"]");
    hf_kit_close(d);
}

/* A key protects for the life of the instance: after its signal was used up, and after the end. */
HF_EVERY_WAY(sm29_a_key_protects_after_it_was_used_up)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_script_play(d, "i", "[" PARK("\"a\"") "," NEXT "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i", "a", 1, "evt-7");
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    hf_test_crash(d);
    deliver(d, "i", "a", 2, "evt-7");
    ck_assert_str_eq(hf_test_status(d, "i"), "waiting signal:a");
    ck_assert_int_eq(signals(d), 1);
    deliver(d, "i", "a", 3, "evt-8");
    ck_assert_str_eq(hf_test_status(d, "i"), "completed");
    deliver(d, "i", "a", 4, "evt-7"); /* acknowledged as what it is: a repetition */
    ck_assert_int_eq(signals(d), 2);
    hf_kit_close(d);
}

/* A repetition does not wake a parked machine that was handed the first one. */
HF_EVERY_WAY(sm30_a_repetition_does_not_wake)
{
    hf_engine *d = hf_kit_open(kind, &app);
    int runs;

    hf_script_play(d, "i30", "[" PARK("\"a\"") "," PARK("\"a\"") "," DONE "]");
    deliver(d, "i30", "a", 1, "evt-7");
    runs = hf_script_runs("i30");
    deliver(d, "i30", "a", 1, "evt-7");
    ck_assert_int_eq(hf_script_runs("i30"), runs);
    ck_assert_str_eq(hf_test_status(d, "i30"), "waiting signal:a");
    hf_kit_close(d);
}

enum { SENDERS = 100 };

static void sender(void *arg)
{
    hf_engine *d = arg;

    ck_assert_int_eq(hf_signal_dedup(d, "i31", "a", NULL, "evt-7"), HF_OK);
}

/* A hundred threads with the same key store one signal and wake once. */
HF_BOTH_ENGINES(sm31_concurrent_repetitions)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_thread threads[SENDERS] = {0};
    hf_engine *d = NULL;
    hf_value out = NULL;
    hf_err err;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    hf_kit_ok(d, hf_start(d, "script",
                          hf_script_plan(d, "[" PARK("\"a\"") "," PARK("\"a\"") "," DONE "]"),
                          .id = "i31"));
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "sender", sender, d, &err), HF_OK);
    for (int i = 0; i < SENDERS; i++)
        hf_thread_join(&threads[i]);
    for (int i = 0; hf_script_runs("i31") < 2 && i < 1000; i++) /* it is handed the first one */
        hf_kit_ok(d, hf_await(d, "i31", 100, true, &(hf_settled){0}));
    hf_kit_ok(d, hf_signal(d, "i31", "a", hf_json(d, "2"))); /* the second of two, not of 101 */
    hf_kit_ok(d, hf_result(d, "i31", hf_minutes(1), &out, NULL));
    ck_assert_uint_eq(hf_len(out), 3);
    ck_assert_str_eq(hf_str(out, "2", ""), "aw=a,a2 all=a,a2 t=1");
    hf_close(d);
    hf_test_place_free(place);
}

/* ---- targets */

/* An unknown id or key and a machine that has ended are no targets: nothing is stored for the
   first, a rejected command for the second. */
HF_EVERY_WAY(sm40_no_target)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_command_result result;

    hf_script_play(d, "i", "[" DONE "]");
    ck_assert_int_eq(hf_signal(d, "nobody", "a", NULL), HF_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "no_target"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2"), 0);
    ck_assert_int_eq(hf_signal(d, "i", "a", NULL), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "no_target"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM command WHERE type = 2 AND status = 2"),
                     1);
    ck_assert_int_eq(hf_test_count(d, "i", "SignalReceived"), 0);
    hf_kit_ok(d, hf_command(d, "signal", hf_json(d, "{'workflow_id': 'i', 'name': 'a'}"),
                            hf_mem_of_engine(d), &result));
    ck_assert(!result.accepted);
    ck_assert_str_eq(result.reason, "no_target");
    hf_kit_close(d);
}

/* A correlation key reaches whoever has it, is taken while it is open, and free afterwards. */
HF_EVERY_WAY(sm41_sm42_a_key_and_its_occupant)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *text = "[" PARK("\"a\"") "," DONE "]";

    hf_kit_ok(
        d, hf_start(d, "script", hf_script_plan(d, text), .id = "i", .correlation_key = "order-7"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(
        hf_start(d, "script", hf_script_plan(d, text), .id = "j", .correlation_key = "order-7"),
        HF_EXISTS);
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, text), .id = "j",
                          .correlation_key = "order-7", .duplicate = HF_DUP_RETURN_EXISTING));
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    hf_test_crash(d);
    ck_assert_int_eq(hf_result(d, "order-7", 0, NULL, NULL), HF_TIMEOUT); /* it is open */
    deliver(d, "order-7", "a", 1, NULL);
    ck_assert_str_eq(hf_test_status(d, "i"), "completed");
    ck_assert_int_eq(hf_result(d, "order-7", 0, NULL, NULL), HF_NOTFOUND);
    ck_assert_int_eq(hf_signal(d, "order-7", "a", NULL), HF_NOTFOUND);
    hf_kit_ok(
        d, hf_start(d, "script", hf_script_plan(d, text), .id = "j", .correlation_key = "order-7"));
    deliver(d, "order-7", "a", 2, NULL);
    ck_assert_str_eq(hf_test_status(d, "j"), "completed");
    hf_kit_close(d);
}

/* A start with a signal takes whoever has the key, as it takes whoever has the id; a key that
   somebody keeps who has ended is refused. */
HF_EVERY_WAY(sm41_a_start_with_a_signal_by_key)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const hf_start_opts o = {.size_ = sizeof(o),
                             .in = hf_script_plan(d, "[" PARK("\"a\"") "," DONE "]"),
                             .id = "j",
                             .correlation_key = "k"};

    hf_kit_ok(d, hf_start(d, "script", o.in, .id = "i", .correlation_key = "k",
                          .correlation_scope = "done"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_signal_with_start(d, "script", &o, "a", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "i"), "completed");
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    ck_assert_int_eq(hf_signal_with_start(d, "script", &o, "a", NULL), HF_EXISTS);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "correlation key k is taken by the instance i"));
    ck_assert_str_eq(hf_test_status(d, "j"), "not found");
    hf_kit_close(d);
}

/* A scope keeps the key taken after such an end and after no other; the key leads to nobody. */
HF_EVERY_WAY(sm43_a_scope_keeps_the_key)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "done",
                          .correlation_key = "k1", .correlation_scope = "done"));
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" STOP "]"), .id = "stop",
                          .correlation_key = "k2", .correlation_scope = "done"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(
        hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .correlation_key = "k1"), HF_EXISTS);
    ck_assert_int_eq(hf_signal(d, "k1", "a", NULL), HF_REJECTED);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "no_target"));
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "next",
                          .correlation_key = "k2"));
    ck_assert_int_eq(hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .correlation_key = "k3",
                              .correlation_scope = "sometimes"),
                     HF_INVALID);
    hf_kit_close(d);
}

/* Scope none allows duplicates and leads nowhere, and so does no key at all. */
HF_EVERY_WAY(sm44_no_scope_no_uniqueness)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *text = "[" PARK("\"a\"") "," DONE "]";

    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, text), .id = "i", .correlation_key = "k",
                          .correlation_scope = "none"));
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, text), .id = "j", .correlation_key = "k",
                          .correlation_scope = "none"));
    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, text), .id = "l"));
    ck_assert_int_eq(hf_signal(d, "k", "a", NULL), HF_NOTFOUND);
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_close(d);
}

/* A signal that comes in while the last step runs was accepted, and is cleared with the inbox; one
   behind the end is refused. Neither is left for anybody. */
HF_EVERY_WAY(sm46_a_signal_before_and_behind_the_end)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_script_engine = d;
    hf_script_play(d, "i", "[{\"do\":\"done\",\"send\":\"a\"}]");
    ck_assert_str_eq(hf_test_status(d, "i"), "completed");
    ck_assert_int_eq(hf_test_count(d, "i", "SignalReceived"), 1);
    ck_assert_int_eq(signals(d), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT sum(open_signals) FROM run"), 0);
    ck_assert_int_eq(hf_kit_rows(d, "inbox"), 0);
    ck_assert_int_eq(hf_signal(d, "i", "a", NULL), HF_REJECTED);
    ck_assert_int_eq(hf_test_count(d, "i", "SignalReceived"), 1);
    ck_assert_int_eq(signals(d), 1);
    hf_kit_close(d);
}

/* A signal that races the end is cleared with the inbox or refused, never acknowledged and left. */
HF_BOTH_ENGINES(sm46_a_signal_races_the_end)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_engine *d = NULL;

    ck_assert_int_eq(hf_open(hf_test_place_address(place), &app, &d), HF_OK);
    for (int i = 0; i < 200; i++) {
        char id[16];
        hf_value out = NULL;
        hf_status st;

        (void)snprintf(id, sizeof(id), "i%d", i);
        hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = id));
        st = hf_signal(d, id, "a", NULL);
        ck_assert_msg(st == HF_OK || st == HF_REJECTED, "%s", hf_errmsg(d));
        hf_kit_ok(d, hf_result(d, id, hf_minutes(1), &out, NULL));
    }
    hf_close(d);
    hf_test_place_free(place); /* verify: every accepted signal has its event before the end */
}

/* A delayed start begins when its time has come, also after a crash. */
HF_EVERY_WAY(a_delayed_start)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "i", .delay = 5000));
    ck_assert_int_eq(hf_start(d, "script", hf_script_plan(d, "[" DONE "]"), .id = "j", .delay = -1),
                     HF_INVALID);
    hf_kit_ok(d, hf_test_advance(d, 4999));
    ck_assert_str_eq(hf_test_status(d, "i"), "pending");
    hf_test_crash(d);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "i"), "pending");
    hf_kit_ok(d, hf_test_advance(d, 1));
    ck_assert_str_eq(hf_test_status(d, "i"), "completed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("machine/target", HF_WAYS(sm26_sm27_sm28_dedup_keys),
                 HF_WAYS(sm29_a_key_protects_after_it_was_used_up),
                 HF_WAYS(sm30_a_repetition_does_not_wake),
                 HF_BOTH_SLOW(sm31_concurrent_repetitions, 120), HF_WAYS(sm40_no_target),
                 HF_WAYS(sm41_sm42_a_key_and_its_occupant),
                 HF_WAYS(sm41_a_start_with_a_signal_by_key), HF_WAYS(sm43_a_scope_keeps_the_key),
                 HF_WAYS(sm44_no_scope_no_uniqueness),
                 HF_WAYS(sm46_a_signal_before_and_behind_the_end),
                 HF_BOTH_SLOW(sm46_a_signal_races_the_end, 120), HF_WAYS(a_delayed_start))
