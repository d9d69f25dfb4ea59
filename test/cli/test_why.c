/* holdfast why and holdfast doctor, as a script calls them, on a store that an engine left. */
#include <time.h>

#include "holdfast/holdfast.h"
/* after what declares a parameter `mem` */
#include "cli/program.h"
#include "lib/handlers.h"

static hf_value call_nobody(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "nobody", in);
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {
    {.type = "waiter", .run = hf_wait_go, .signals = signals},
    {.type = "caller", .run = call_nobody},
    {0}};
static const hf_app app = {.name = "test", .workflows = workflows};

/* A store with a run that waits for a signal and one that nobody serves. */
static const char *store_make(void)
{
    static char path[96];
    hf_engine *d = NULL;
    const hf_error *e = NULL;
    hf_value out = NULL;

    (void)snprintf(path, sizeof(path), "%s/runs.db", scratch);
    ck_assert_int_eq(hf_open(path, &app, &d), HF_OK);
    ck_assert_int_eq(hf_start(d, "waiter", NULL, .id = "a"), HF_OK);
    ck_assert_int_eq(hf_result(d, "a", 200, &out, &e), HF_TIMEOUT);
    hf_close(d);
    return path;
}

/* A healthy run is exit 0; the table has the sentence, json the whole answer. */
START_TEST(why_says_what_a_run_waits_for)
{
    const char *path;
    hf_value list;

    begin();
    path = store_make();
    ck_assert_int_eq(RUN("why", "a", "--store", path), 0);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&last.out), "a: Waiting for signal go (step 1)"));
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&last.out), "next   holdfast signal a go --store "));
    ck_assert_int_eq(RUN("why", "a", "a", "--store", path, "--json"), 0);
    list = hf_parse_(mem, hf_buf_text(&last.out), last.out.len);
    ck_assert_uint_eq(hf_len(list), 2);
    ck_assert_str_eq(hf_str(hf_at(list, 1), "code", ""), "waiting_for_signal");
    ck_assert_str_eq(hf_str(hf_at(list, 0), "liveness.liveness_state", ""), "waiting_for_signal");
    ck_assert_int_eq(RUN("doctor", path), 0);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&last.out), "1 open runs, 0 need a person"));
    end();
}
END_TEST

/* An instance or a store that is not there, and no store at all. */
START_TEST(why_refuses_what_is_not_there)
{
    const char *path;

    begin();
    path = store_make();
    ck_assert_int_eq(RUN("why", "nobody", "--store", path), 5);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&last.err), "holdfast ls --store"));
    ck_assert_int_eq(RUN("why", "a", "--url", "http://127.0.0.1:1"), 3);
    ck_assert_int_eq(RUN("why", "--store", path), 2);
    ck_assert_int_eq(RUN("doctor", "/nowhere/x.db"), 5);
    end();
}
END_TEST

/* A task that nobody takes for longer than the redispatch period: a person must start a worker, and
 * both commands say so with exit 1. */
START_TEST(doctor_names_runs_that_need_a_person)
{
    static char path[96];
    hf_engine *d = NULL;
    hf_value answer;

    begin();
    (void)snprintf(path, sizeof(path), "%s/late.db", scratch);
    ck_assert_int_eq(hf_open(path, &app, &d), HF_OK);
    ck_assert_int_eq(hf_start(d, "elsewhere", NULL, .id = "b"), HF_OK);
    hf_close(d);
    (void)nanosleep(&(struct timespec){.tv_sec = 3, .tv_nsec = 200000000}, NULL);
    ck_assert_int_eq(RUN("why", "b", "--store", path), 1);
    ck_assert_ptr_nonnull(strstr(hf_buf_text(&last.out), "queued_no_worker"));
    ck_assert_int_eq(RUN("doctor", path, "--json"), 1);
    answer = hf_parse_(mem, hf_buf_text(&last.out), last.out.len);
    ck_assert_int_eq(hf_int(answer, "report.attention", 0), 1);
    ck_assert_str_eq(hf_str(answer, "runs.0.instance_id", ""), "b");
    end();
}
END_TEST

HF_SUITE_MAIN("cli/why", {why_says_what_a_run_waits_for, 0}, {why_refuses_what_is_not_there, 0},
              {doctor_names_runs_that_need_a_person, 0})
