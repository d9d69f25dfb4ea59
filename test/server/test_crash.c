/* test_crash.c: processes of workers behind a server that die of the code they run, and of nothing
   that they run. */
#include <stdio.h>
#include <string.h>

#include "lib/mortal.h"
#include "lib/nap.h"
#include "lib/site.h"

static const hf_app nothing = {.name = "crash"};

/* A server, and a worker behind it that runs "a". */
static void worker_begin(hf_site *site, hf_engine_kind kind, const hf_mortal *mortal)
{
    char address[64];

    hf_site_open(site, kind, &nothing, (hf_server_options){0});
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%d", hf_server_port(site->server));
    hf_mortal_begin(mortal, hf_test_place_folder(site->place), address, "a");
}

static void run_await(hf_site *site, const char *path, const char *member, const char *wanted)
{
    hf_site_answer answer = {0};

    for (int i = 0; i < 600; i++) {
        answer = hf_site_ask(site, "GET", path, NULL, NULL);
        if (answer.status == 200 && strcmp(hf_str(answer.body, member, ""), wanted) == 0)
            return;
        hf_nap_ms(100);
    }
    ck_abort_msg("%s of %s was never %s: %s", member, path, wanted, answer.text);
}

/* An activity that ends its process is quarantined after five crashes, which do not use up its
   attempts: as in an embedded engine, and not without end. */
HF_BOTH_ENGINES(n04_an_activity_that_kills_its_worker_is_quarantined)
{
    hf_site site;
    const hf_error *e = NULL;
    hf_value out = NULL;
    const hf_mortal mortal = hf_mortal_new("calls");

    worker_begin(&site, kind, &mortal);
    run_await(&site, "/api/workflows/a", "status", "failed");
    ck_assert_int_ne(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->type, "quarantined");
    ck_assert_int_eq(hf_mortal_end(&mortal), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityStarted"), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "ActivityRetryScheduled"), 0);
    hf_site_close(&site);
}

/* Code that kills the process of its worker is put aside after five crashes, as in an embedded
   engine: everybody is told so, the worker goes on with other runs, and whoever has mended the code
   has the run go on. */
static void quarantine_and_repair(hf_engine_kind kind, const char *type, const char *result)
{
    hf_site site;
    hf_value out = NULL;
    const hf_error *e = NULL;
    const hf_mortal mortal = hf_mortal_new(type);

    worker_begin(&site, kind, &mortal);
    run_await(&site, "/console/api/runs/a/why", "why.code", "quarantined");
    ck_assert_int_eq(hf_start(site.engine, "lives", NULL, .id = "b"), HF_OK);
    ck_assert_int_eq(hf_result(site.engine, "b", hf_seconds(60), &out, &e), HF_OK);
    run_await(&site, "/console/api/runs/a/why", "why.code", "quarantined");
    run_await(&site, "/console/api/attention", "groups.0.code", "quarantined");
    hf_mortal_mend(hf_test_place_folder(site.place));
    ck_assert_str_eq(
        hf_str(hf_site_expect(&site, "POST", "/api/workflows/a/repair", "{}", 200).body, "outcome",
               ""),
        "repair_dispatched");
    ck_assert_int_eq(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_str_eq(hf_text(site.mem, out), result);
    ck_assert_int_eq(hf_mortal_end(&mortal), HF_MORTAL_LIMIT);
    ck_assert_int_eq(hf_test_count(site.engine, "a", "RunQuarantined"), 1);
    hf_site_close(&site);
}

HF_BOTH_ENGINES(n04_a_workflow_that_kills_its_worker_is_quarantined)
{
    quarantine_and_repair(kind, "dies", "\"mended\"");
}

HF_BOTH_ENGINES(n04_a_step_that_kills_its_worker_is_quarantined)
{
    quarantine_and_repair(kind, "machine", "1");
}

/* A process that is killed while no code of the run is under way proves nothing against it. */
HF_BOTH_ENGINES(n04_a_worker_that_is_killed_while_it_waits_blames_nobody)
{
    hf_site site;
    const hf_mortal mortal = hf_mortal_new("waits");

    worker_begin(&site, kind, &mortal);
    ck_assert_int_eq(hf_mortal_end(&mortal), HF_MORTAL_GIVEN_UP);
    run_await(&site, "/console/api/runs/a/why", "why.code", "waiting_for_signal");
    ck_assert_int_eq(hf_test_count(site.engine, "a", "RunQuarantined"), 0);
    hf_site_close(&site);
}

/* A step whose worker was lost is at another attempt with the next one, although nobody knows if
   the step was what killed it. */
HF_BOTH_ENGINES(n22_a_step_counts_the_workers_that_were_lost_with_it)
{
    hf_site site;
    hf_value out = NULL;
    const hf_error *e = NULL;
    const hf_mortal mortal = hf_mortal_new("strays");

    worker_begin(&site, kind, &mortal);
    run_await(&site, "/api/workflows/a", "status", "completed");
    ck_assert_int_eq(hf_result(site.engine, "a", hf_seconds(60), &out, &e), HF_OK);
    ck_assert_int_eq(hf_int(out, "", 0), 2);
    ck_assert_int_eq(hf_mortal_end(&mortal), 1);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/crash",
                 HF_BOTH_SLOW(n04_an_activity_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_workflow_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_step_that_kills_its_worker_is_quarantined, 120),
                 HF_BOTH_SLOW(n04_a_worker_that_is_killed_while_it_waits_blames_nobody, 120),
                 HF_BOTH_SLOW(n22_a_step_counts_the_workers_that_were_lost_with_it, 120))
