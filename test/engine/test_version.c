/* Change points, patches and side effects: runs that were begun by one program and go on in
   another, on both databases. */
#include <stdio.h>
#include <string.h>

#include "engine/command.h"
#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- programs of different ages; each has the one workflow "order" */

static hf_value before(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_receive(w, "go");
    return hf_json(w, "'before'");
}

static hf_value after(hf_ctx *w, hf_value in)
{
    int version;

    (void)in;
    hf_receive(w, "go");
    version = hf_version(w, "tax", HF_VERSION_DEFAULT, 2);
    hf_receive(w, "done");
    return hf_json(w, "%d", version);
}

static hf_value marked(hf_ctx *w, hf_value in)
{
    int version = hf_version(w, "tax", HF_VERSION_DEFAULT, (int)hf_int(in, "max", 2));

    hf_receive(w, "go");
    return hf_json(w, "%d", version);
}

static hf_value marked_later(hf_ctx *w, hf_value in)
{
    int version = hf_version(w, "tax", HF_VERSION_DEFAULT, 7);

    (void)in;
    hf_receive(w, "go");
    return hf_json(w, "%d", version);
}

static hf_value marked_other(hf_ctx *w, hf_value in)
{
    int version = hf_version(w, "freight", HF_VERSION_DEFAULT, 2);

    (void)in;
    hf_receive(w, "go");
    return hf_json(w, "%d", version);
}

static hf_value marked_gone(hf_ctx *w, hf_value in)
{
    int version = hf_version(w, "tax", 3, 4);

    (void)in;
    hf_receive(w, "go");
    return hf_json(w, "%d", version);
}

static hf_value patched(hf_ctx *w, hf_value in)
{
    bool new_way;

    (void)in;
    hf_receive(w, "go");
    new_way = hf_patched(w, "rounding");
    hf_receive(w, "done");
    return hf_json(w, "%s", new_way ? "new" : "old");
}

static hf_value deprecated(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_receive(w, "go");
    hf_deprecate_patch(w, "rounding");
    hf_receive(w, "done");
    return hf_json(w, "'new alone'");
}

static int rolls;

static hf_value roll(hf_mem *m, void *arg)
{
    (void)arg;
    return hf_json_(m, "%d", ++rolls);
}

static hf_value lucky(hf_ctx *w, hf_value in)
{
    int64_t first = hf_int(hf_side_effect(w, "dice", roll, NULL), "", 0);
    int64_t second;

    (void)in;
    hf_receive(w, "go");
    second = hf_int(hf_side_effect(w, "dice", roll, NULL), "", 0);
    return hf_json(w, "[%lld, %lld]", (long long)first, (long long)second);
}

static const hf_signal_def signals[] = {{"go", NULL}, {"done", NULL}, {0}};

#define PROGRAM(program, body, revised, build)                                                     \
    static const hf_workflow_def program##_workflows[] = {                                         \
        {.type = "order", .run = (body), .revision = (revised), .signals = signals}, {0}};         \
    static const hf_app program = {                                                                \
        .name = "test", .build_id = (build), .workflows = program##_workflows}

PROGRAM(app_before, before, NULL, NULL);
PROGRAM(app_after, after, NULL, NULL);
PROGRAM(app_after_revised, after, "2", NULL);
PROGRAM(app_before_built, before, NULL, "build-1");
PROGRAM(app_after_built, after, NULL, "build-2");
PROGRAM(app_after_same_build, after, NULL, "build-1");
PROGRAM(app_marked, marked, NULL, NULL);
PROGRAM(app_marked_later, marked_later, NULL, NULL);
PROGRAM(app_marked_other, marked_other, NULL, NULL);
PROGRAM(app_marked_gone, marked_gone, NULL, NULL);
PROGRAM(app_patched, patched, NULL, NULL);
PROGRAM(app_patched_revised, patched, "2", NULL);
PROGRAM(app_deprecated, deprecated, NULL, NULL);
PROGRAM(app_lucky, lucky, NULL, NULL);

static const hf_app app_empty = {.name = "test"};

static void tell(hf_engine *d, const char *signal)
{
    hf_kit_ok(d, hf_signal(d, "o", signal, NULL));
    hf_kit_settle(d);
}

/* A run keeps the version it met, whatever the program knows later. */
HF_EVERY_WAY(b166_marker_is_recorded_and_reused)
{
    hf_engine *d = hf_kit_open(kind, &app_marked);

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "o", "VersionMarkerRecorded", 0, HF_KEY_CHANGE_ID), "tax");
    ck_assert_str_eq(hf_kit_said(d, "o", "VersionMarkerRecorded", 0, HF_KEY_VERSION), "2");
    ck_assert_str_eq(hf_kit_said(d, "o", "VersionMarkerRecorded", 0, HF_KEY_MIN_SUPPORTED), "-1");
    ck_assert_str_eq(hf_kit_said(d, "o", "VersionMarkerRecorded", 0, HF_KEY_MAX_SUPPORTED), "2");
    d = hf_kit_reopen(d, &app_marked_later);
    tell(d, "go");
    ck_assert_str_eq(hf_kit_result(d, "o"), "2");
    ck_assert_int_eq(hf_test_count(d, "o", "VersionMarkerRecorded"), 1);
    hf_kit_close(d);
}

/* Another change at the place of a marker blocks the run; a version the program has no code for
   fails it. */
HF_EVERY_WAY(b167_wrong_change_and_unsupported_version)
{
    hf_engine *d = hf_kit_open(kind, &app_marked);
    const hf_error *e = NULL;
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_marked_other);
    tell(d, "go");
    ck_assert_int_eq(hf_kit_number(d, "SELECT blocked FROM run"), 1);
    ck_assert_int_eq(hf_test_count(d, "o", "WorkflowFailed"), 0);
    hf_kit_close(d);
    d = hf_kit_open(kind, &app_marked);
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_marked_gone);
    tell(d, "go");
    ck_assert_int_eq(hf_result(d, "o", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "version_not_supported");
    hf_kit_close(d);
}

/* A run of an older definition takes the old branch: no marker, no step. */
HF_EVERY_WAY(b168_older_fingerprint_stays_on_default)
{
    hf_engine *d = hf_kit_open(kind, &app_before);

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_after_revised);
    tell(d, "go");
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "-1");
    ck_assert_int_eq(hf_test_count(d, "o", "VersionMarkerRecorded"), 0);
    ck_assert_int_eq(hf_kit_event(d, "o", "SignalWaitOpened", 1)->step, 2);
    hf_kit_close(d);
    d = hf_kit_open(kind, &app_before); /* the same definition: the change is new to it */
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_after);
    tell(d, "go");
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "2");
    ck_assert_int_eq(hf_kit_event(d, "o", "SignalWaitOpened", 1)->step, 3);
    hf_kit_close(d);
}

/* A run of another build takes the old branch too; one of the same build does not. */
HF_EVERY_WAY(b169_other_compatibility_stays_on_default)
{
    hf_engine *d = hf_kit_open(kind, &app_before_built);

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "o", "WorkflowStarted", 0, HF_KEY_COMPATIBILITY), "build-1");
    d = hf_kit_reopen(d, &app_after_built);
    tell(d, "go");
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "-1");
    hf_kit_close(d);
    d = hf_kit_open(kind, &app_before_built);
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_after_same_build);
    tell(d, "go");
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "2");
    hf_kit_close(d);
}

/* A run that recorded no fingerprint takes the old branch. */
HF_EVERY_WAY(b170_no_fingerprint_stays_on_default)
{
    hf_engine *d = hf_kit_open(kind, &app_empty);

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o")); /* its code is not known here */
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_marked);
    hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "o"), "waiting signal:go");
    ck_assert_int_eq(hf_test_count(d, "o", "VersionMarkerRecorded"), 0);
    hf_kit_ok(d, hf_cancel(d, "o", NULL));
    hf_kit_close(d);
}

/* A patch is a change with two versions; deprecating it keeps the step of runs that met it. */
HF_EVERY_WAY(b171_patched_and_deprecated)
{
    hf_engine *d = hf_kit_open(kind, &app_before);

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_patched_revised);
    tell(d, "go");
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "\"old\"");
    hf_kit_close(d);
    d = hf_kit_open(kind, &app_patched);
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    tell(d, "go");
    ck_assert_str_eq(hf_kit_said(d, "o", "VersionMarkerRecorded", 0, HF_KEY_VERSION), "1");
    d = hf_kit_reopen(d, &app_deprecated);
    tell(d, "done");
    ck_assert_str_eq(hf_kit_result(d, "o"), "\"new alone\"");
    hf_kit_close(d);
}

/* A side effect runs once, and every replay is handed what it gave. */
HF_EVERY_WAY(b172_side_effect_runs_once)
{
    hf_engine *d = hf_kit_open(kind, &app_lucky);

    rolls = 40;
    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o"));
    hf_kit_settle(d);
    hf_kit_settle(d);
    ck_assert_int_eq(rolls, 41);
    tell(d, "go");
    ck_assert_str_eq(hf_kit_result(d, "o"), "[41,42]");
    ck_assert_int_eq(rolls, 42);
    ck_assert_int_eq(hf_test_count(d, "o", "SideEffectRecorded"), 2);
    hf_kit_close(d);
}

/* ---- failures whose details were written by an older program */

static hf_value decline(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "card_declined", "no");
}

static hf_value payer(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    (void)hf_activity(w, "decline", in, .err = &e);
    hf_receive(w, "go");
    return hf_json(w, "{'type': %s, 'limit': %lld}", e->type,
                   (long long)hf_int(e->details, "limit", -1));
}

/* Older failures said nothing; the code of today wants a limit. */
static hf_value decode(hf_mem *mem, const hf_error *recorded)
{
    return recorded->details ? recorded->details : hf_json(mem, "{'limit': 100}");
}

static hf_value decode_not(hf_mem *mem, const hf_error *recorded)
{
    (void)mem;
    (void)recorded;
    return NULL;
}

static const hf_activity_def decliners[] = {{"decline", .run = decline}, {0}};
#define PAYER(app, ...)                                                                            \
    static const hf_failure_def app##_failures[] = {__VA_ARGS__{0}};                               \
    static const hf_workflow_def app##_workflows[] = {                                             \
        {.type = "payer", .run = payer, .signals = payer_signals, .failures = app##_failures},     \
        {0}};                                                                                      \
    static const hf_app app = {                                                                    \
        .name = "test", .activities = decliners, .workflows = app##_workflows}

static const hf_signal_def payer_signals[] = {{.name = "go"}, {0}};
PAYER(app_plain, );
PAYER(app_gone, {.type = "card_declined"}, );
PAYER(app_unable, {.type = "card_declined", .decode = decode_not}, );
PAYER(app_decodes, {.type = "other"}, {.type = "card_declined", .decode = decode}, );
PAYER(app_renames, {.type = "refused", .decode = decode, .aliases = "no_money, card_declined"}, );

static void repair(hf_engine *d)
{
    const hf_request request = {.type = HF_COMMAND_TYPE_REPAIR, .id = HF_SLICE("o")};
    hf_reply reply = {0};
    hf_err err = {0};

    hf_test_ok(hf_engine_command(d, &request, hf_mem_of_engine(d), &reply, &err), &err, "repair");
}

/* A failure that was recorded under a name of old reaches the code under that of today. */
HF_EVERY_WAY(b089_failures_are_restored_by_alias)
{
    hf_engine *d = hf_kit_open(kind, &app_plain);

    hf_kit_ok(d, hf_start(d, "payer", NULL, .id = "o"));
    hf_kit_settle(d);
    d = hf_kit_reopen(d, &app_renames);
    hf_kit_ok(d, hf_signal(d, "o", "go", NULL));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "o"), "{\"type\":\"refused\",\"limit\":100}");
    hf_kit_close(d);
}

/* A failure type that is declared without a decoder, or whose decoder gives up, blocks the run with
   its reason and writes nothing; a program that can decode it goes on after a repair. */
HF_EVERY_WAY(b089_failures_block_until_they_can_be_decoded)
{
    const hf_app *const wrong[] = {&app_gone, &app_unable};
    hf_engine *d = hf_kit_open(kind, &app_plain);
    int64_t events;

    hf_kit_ok(d, hf_start(d, "payer", NULL, .id = "o"));
    hf_kit_settle(d);
    events = hf_kit_number(d, "SELECT last_seq FROM run");
    for (int i = 0; i < 2; i++) {
        hf_value why = NULL;
        hf_value task;

        d = hf_kit_reopen(d, wrong[i]);
        if (i)
            repair(d);
        else
            hf_kit_ok(d, hf_signal(d, "o", "go", NULL));
        hf_kit_settle(d);
        ck_assert_int_eq(hf_kit_number(d, "SELECT blocked FROM run"), 1);
        ck_assert_int_eq(hf_test_count(d, "o", "SignalApplied"), 0);
        hf_kit_ok(d, hf_why(d, "o", hf_mem_of_engine(d), &why));
        ck_assert_str_eq(hf_str(why, "code", ""), "replay_blocked_failure");
        ck_assert_msg(strstr(hf_show(d, why), "card_declined"), "%s", hf_show(d, why));
        task = hf_get(hf_at(hf_get(hf_kit_bundle(d, "o"), "tasks"), 0), "payload");
        ck_assert_str_eq(hf_str(task, "replay_blocked_reason", ""), "failure_resolution");
        ck_assert_str_eq(hf_str(task, "replay_blocked_exception_type", ""), "card_declined");
        ck_assert_str_eq(hf_str(task, "replay_blocked_exception_class", ""), "card_declined");
        ck_assert_str_eq(hf_str(task, "replay_blocked_resolution_source", ""),
                         i ? "unrestorable" : "unresolved");
        ck_assert_ptr_nonnull(strstr(hf_str(task, "replay_blocked_resolution_error", ""),
                                     i ? "cannot decode" : "without a decoder"));
        ck_assert_ptr_nonnull(strstr(hf_str(task, "source_line", ""), "test_version.c:"));
    }
    ck_assert_int_le(events, hf_kit_number(d, "SELECT last_seq FROM run"));
    d = hf_kit_reopen(d, &app_decodes);
    repair(d);
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "o"), "{\"type\":\"card_declined\",\"limit\":100}");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/version", HF_WAYS(b166_marker_is_recorded_and_reused),
                 HF_WAYS(b167_wrong_change_and_unsupported_version),
                 HF_WAYS(b168_older_fingerprint_stays_on_default),
                 HF_WAYS(b169_other_compatibility_stays_on_default),
                 HF_WAYS(b170_no_fingerprint_stays_on_default),
                 HF_WAYS(b171_patched_and_deprecated), HF_WAYS(b172_side_effect_runs_once),
                 HF_WAYS(b089_failures_are_restored_by_alias),
                 HF_WAYS(b089_failures_block_until_they_can_be_decoded))
