/* Activities whose time is over and that have not timed out: what a pass finds, and what it makes
   of them, on both databases. */
#include <stdio.h>
#include <string.h>

#include "engine/core_impl.h"
#include "engine/engine_impl.h"
#include "holdfast/host.h"
#include "lib/kit.h"

/* Nobody here knows the activity: it waits for a worker, and for its timeout. */
static hf_value waits(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_activity(w, "far", NULL, .schedule_to_start = 5000, .max_attempts = 1);
}

static hf_value waits_twice(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_activity(w, "far", NULL, .schedule_to_start = 5000, .max_attempts = 2);
}

static const hf_app app = {
    .name = "overdue",
    .workflows = (const hf_workflow_def[]){
        {.type = "waits", .run = waits}, {.type = "waits_twice", .run = waits_twice}, {0}}};

static hf_value pass(hf_engine *d, const char *const *ids)
{
    hf_value out = NULL;

    hf_kit_ok(d,
              hf_overdue_pass(d, &(hf_overdue_opts){.size_ = sizeof(hf_overdue_opts), .ids = ids},
                              hf_mem_of_engine(d), &out));
    return out;
}

/* The alarm of the run's activity is lost, as by a bug; its time passes, and nothing happens. */
static void miss_alarm(hf_engine *d)
{
    hf_kit_ok(d, hf_test_drain(d));
    hf_core_disarm(d->core, hf_kit_number(d, "SELECT key FROM activity"));
    hf_kit_ok(d, hf_test_advance(d, 6000));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM activity WHERE closed_us IS NULL"), 1);
}

/* One that was missed is found and enforced: its timeout is on the record, and the run goes on. */
HF_BOTH_ENGINES(a_missed_timeout_is_enforced)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    char id[64];

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    miss_alarm(d);
    hf_kit_ok(d, hf_overdue(d, NULL, hf_mem_of_engine(d), &out));
    ck_assert_uint_eq(hf_len(out), 1);
    (void)snprintf(id, sizeof(id), "%s", hf_str(hf_at(out, 0), "", ""));
    out = pass(d, NULL);
    ck_assert_int_eq(hf_int(out, "processed", 0), 1);
    ck_assert_int_eq(hf_int(out, "enforced", 0), 1);
    ck_assert_str_eq(hf_str(out, "results.0.outcome", ""), "enforced");
    ck_assert_str_eq(hf_str(out, "results.0.execution_id", ""), id);
    ck_assert(!hf_bool(out, "results.0.has_retry", true));
    ck_assert_int_eq(hf_test_count(d, "w", "ActivityTimedOut"), 1);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "w"), "failed");
    out = pass(d, (const char *const[]){id, NULL});
    ck_assert_str_eq(hf_str(out, "results.0.reason", ""), "not_found");
    hf_kit_close(d);
}

/* One that may be tried again says so; a second pass finds nothing to enforce. */
HF_BOTH_ENGINES(what_is_tried_again_says_so)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out;

    hf_kit_ok(d, hf_start(d, "waits_twice", NULL, .id = "w"));
    miss_alarm(d);
    out = pass(d, NULL);
    ck_assert_int_eq(hf_int(out, "enforced", 0), 1);
    ck_assert(hf_bool(out, "results.0.has_retry", false));
    out = pass(d, NULL);
    ck_assert_int_eq(hf_int(out, "processed", 9), 0);
    hf_kit_close(d);
}

/* Those that are not late, not there, or another namespace's are left alone. */
HF_BOTH_ENGINES(what_is_not_late_is_skipped)
{
    static const char *const none[] = {"01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense", NULL};
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    out = pass(d, NULL);
    ck_assert_int_eq(hf_int(out, "processed", 9), 0);
    out = pass(d, none);
    ck_assert_int_eq(hf_int(out, "skipped", 0), 2);
    ck_assert_str_eq(hf_str(out, "results.1.reason", ""), "not_found");
    miss_alarm(d);
    hf_kit_ok(d, hf_namespace_create(d, "shop",
                                     &(hf_namespace_opts){.size_ = sizeof(hf_namespace_opts)}));
    hf_kit_ok(d, hf_namespace_use(d, "shop"));
    out = pass(d, NULL);
    ck_assert_int_eq(hf_int(out, "processed", 9), 0);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    ck_assert_int_eq(hf_overdue(d, &(hf_overdue_opts){.size_ = sizeof(hf_overdue_opts), .most = -1},
                                hf_mem_of_engine(d), &out),
                     HF_INVALID);
    hf_kit_close(d);
}

/* A row that says so is not believed when the clock of the attempt says otherwise. */
HF_BOTH_ENGINES(the_core_judges)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out;

    hf_kit_ok(d, hf_start(d, "waits", NULL, .id = "w"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "UPDATE activity SET deadline_us = 1");
    out = pass(d, NULL);
    ck_assert_str_eq(hf_str(out, "results.0.reason", ""), "not_expired");
    ck_assert_int_eq(hf_test_count(d, "w", "ActivityTimedOut"), 0);
    hf_kit_ok(d, hf_test_advance(d, 6000));
    ck_assert_str_eq(hf_test_status(d, "w"), "failed");
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/overdue", HF_BOTH(a_missed_timeout_is_enforced),
                 HF_BOTH(what_is_tried_again_says_so), HF_BOTH(what_is_not_late_is_skipped),
                 HF_BOTH(the_core_judges))
